"""The app started for a classroom, on an address of the loopback range."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import PATIENCE, ROOT, App, ended

LAUNCH = """
import faulthandler, signal
from bayes_engine.workbench.launch import main
if hasattr(signal, "SIGUSR1"):
    faulthandler.register(signal.SIGUSR1)
main()
"""
COMMAND = [sys.executable, "-c", LAUNCH]
"""What `bayes-workbench` runs; asked by a signal, it writes what each of its threads does."""


@contextmanager
def classroom(folder: Path, address: str, port: int = 0, **environment: str) -> Iterator[App]:
    """`bayes-workbench --classroom ADDRESS` in a process of its own, stopped at the end."""
    log = folder / "classroom.log"
    flags = ["--classroom", address, "--server.headless", "true", "--server.port", str(port)]
    own = {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "HOME": str(folder), "LANG": "C.UTF-8", "LC_ALL": ""}
    with (
        log.open("wb") as out,
        subprocess.Popen(
            [*COMMAND, *flags],
            cwd=folder,
            env={**os.environ, **own, **environment},
            stdout=out,
            stderr=subprocess.STDOUT,
        ) as process,
        ended(process),
    ):
        yield App(_opened(process, log), log, process.pid)


def _opened(process: subprocess.Popen[bytes], log: Path) -> str:
    """The address that the terminal names, once it answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        urls = [line.strip() for line in log.read_text(encoding="utf-8").splitlines() if "http://" in line]
        if urls:
            try:
                with urllib.request.urlopen(f"{urls[0]}/_stcore/health", timeout=2):
                    return urls[0]
            except OSError:
                pass
        time.sleep(0.1)
    raise RuntimeError(f"no classroom:\n{log.read_text(encoding='utf-8', errors='replace')}")
