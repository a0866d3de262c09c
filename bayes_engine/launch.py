"""The console command `bayes-workbench`: `streamlit run` on the app, from a checkout or from an installed wheel."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

from bayes_engine.language import _


def app_file() -> Path:
    """`app.py`: in the wheel under `_app`, in a checkout beside the package."""
    package = Path(__file__).parent
    installed = package / "_app" / "app.py"
    return installed if installed.exists() else package.parent / "app.py"


def main() -> None:
    """Open the app; arguments go to Streamlit (`bayes-workbench --server.port 8600`)."""
    if find_spec("streamlit") is None:
        sys.exit(_("The app needs its own packages: install them with  pip install 'bayes-engine[app]'"))
    sys.argv[:] = ["streamlit", "run", str(app_file()), *sys.argv[1:]]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
