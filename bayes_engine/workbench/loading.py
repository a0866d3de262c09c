"""Modules that take long to import, each imported once, in one thread, for which all others wait.

Two threads that import parts of one package at once may each wait for the other (Python then breaks off one of the
imports), and neither is sooner done.
"""

from __future__ import annotations

import gc
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

PAGES = "pages.shell.run"
"""What the pages need beside their frame, and with it the engine; a name, for the library does not import the pages."""
UNUSED = ("scipy.stats", "numpy.f2py")
"""What scikit-learn and SciPy import, and the first page uses nothing of: a third of the time."""
OTHERS = (
    "scipy.stats",
    "scipy.optimize",
    "scipy.cluster.hierarchy",
    "sklearn.model_selection",
    "sklearn.linear_model",
    "sklearn.pipeline",
    "pages.active.quantity_choices",
)
"""What engine and pages import where it is used, which on the app's first page is nowhere."""
TURN = 0.001
"""Seconds after which the import lets another thread in, which answers a browser meanwhile; Python's own 5 ms are felt
in an answer of many parts."""
_thread = ThreadPoolExecutor(1, "import")


@cache
def imported(*names: str) -> Future[ModuleType]:
    """The last of the modules, once they are imported; begun with the first call, and after what was asked for before.
    Where an import fails its error is the result."""
    sys.setswitchinterval(TURN)
    return _thread.submit(_load, names)


def _load(names: tuple[str, ...]) -> ModuleType:
    """Import without collections: each goes through all that was imported so far, and finds next to nothing (a fifth of
    the time). Nor need a later one go through it."""
    gc.disable()
    try:
        for name in UNUSED:
            if name not in sys.modules:
                _stand_in(name)
        modules = [import_module(name) for name in names]
        return [module.whole() if isinstance(module, Unused) else module for module in modules][-1]
    finally:
        gc.freeze()
        gc.enable()


class Unused(ModuleType):
    """Stands in for a module that is imported, but not used yet: it is loaded when a name of it is asked for.

    `importlib.util.LazyLoader` does the same, but before Python 3.12 it shows a second thread a module without names.
    """

    _one = threading.Lock()

    def whole(self) -> ModuleType:
        """The module, loaded."""
        with self._one:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        return import_module(self.__name__)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # who looks through all modules asks for __file__
            raise AttributeError(name)
        return getattr(self.whole(), name)


def _stand_in(name: str) -> None:
    package, _, own = name.rpartition(".")
    sys.modules[name] = module = Unused(name)
    setattr(import_module(package), own, module)
