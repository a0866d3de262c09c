from pages.shared.router import boot

boot()
