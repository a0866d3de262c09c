from pages.shell.router import run_app

run_app()
