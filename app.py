from pages.shared.router import run_app

run_app()
