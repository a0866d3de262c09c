"""Modules that take long to import, each imported once, in one thread, for which all others wait.

Two threads that import parts of one package at once may each wait for the other (Python then breaks off one of the
imports), and neither is sooner done.
"""

from __future__ import annotations

import gc
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib import import_module
from types import ModuleType

PAGES = "pages.shell.run"
"""What the pages need beside their frame, and with it the engine; a name, for the library does not import the pages."""
TURN = 0.001
"""Seconds after which the import lets another thread in, which answers a browser meanwhile; Python's own 5 ms are felt
in an answer of many parts."""
_thread = ThreadPoolExecutor(1, "import")


@cache
def imported(name: str) -> Future[ModuleType]:
    """The module, once it is imported; begun with the first call. Where the import fails its error is the result."""
    sys.setswitchinterval(TURN)
    return _thread.submit(_load, name)


def _load(name: str) -> ModuleType:
    """Import without collections: each goes through all that was imported so far, and finds next to nothing (a fifth of
    the time). Nor need a later one go through it."""
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()
