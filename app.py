from pages.shell.router import run_app

if __name__ == "__main__":  # not where another process imports it
    run_app()
