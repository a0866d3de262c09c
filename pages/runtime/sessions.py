"""Sessions that were left are freed, visitor or no visitor.

Streamlit parks a session whose browser went away, so that a reload within `server.disconnectedSessionTTL` finds it, and
frees the expired ones when the next browser connects or leaves: on a quiet evening never. The sweeper looks every
`EVERY` seconds. Streamlit's session manager has no public door (`private` holds the one used); where it has changed,
the log says so and all is left to Streamlit.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable
from typing import Any

from streamlit.logger import get_logger

from bayes_engine.workbench.workers.child import memory_taken
from pages.runtime import cache, private

EVERY = 10.0
"""Seconds between two looks. With `websocketPingInterval` twice (a client that vanished without a word) and
`disconnectedSessionTTL` it stays under the 150 s within which a session must be gone."""
GROWN = 8_000_000
"""So many bytes more and it is worth a collection to see whether they are needed, which every page feels."""
QUIET = 5.0
"""Seconds after which nobody feels it."""
_asked = [0.0]  # when a browser last asked for anything
_after = [0]  # bytes taken when all that was free had been given back
_began = [0.0]  # when that was begun
_log = get_logger("bayes_workbench")
_started = threading.Lock()


def start() -> None:
    runtime = private.running()
    if runtime is None or not _started.acquire(blocking=False):
        return
    try:
        private.at_each_message(runtime, _note)
        sweep, soon = sweeper(runtime), private.on_event_loop(runtime)
    except AttributeError as error:
        _log.error("sessions are freed at the next visit only: Streamlit's session manager has changed", exc_info=error)
        return
    threading.Thread(target=_watch, args=(soon, sweep), name="session-sweeper", daemon=True).start()


def _note() -> None:
    _asked[0] = time.monotonic()


def _watch(soon: Callable[[Callable[[], None]], object], sweep: Callable[[], None]) -> None:
    while True:
        time.sleep(EVERY)
        try:
            soon(sweep)
        except RuntimeError:  # the event loop is closed: the server stops
            return


def sweeper(runtime: Any) -> Callable[[], None]:
    """What one look does; to be called on the server's event loop, as all that touches sessions."""
    expired = private.expired_sessions(runtime)

    def sweep() -> None:
        try:
            left = expired()
            for session in left:
                session.shutdown()
            freed = bool(left)
            del left[:]
            if freed or cache.release() or memory_has_grown():
                threading.Thread(target=release_memory, name="give-back", daemon=True).start()
        except Exception as error:  # noqa: BLE001 - one look that fails must not end all
            _log.error("a look for sessions that were left has failed", exc_info=error)

    return sweep


def memory_has_grown() -> bool:
    """Whether it is time to give back what is free: the process has come to take `GROWN` more bytes than when it last
    did so (False where the system does not say), or it is quiet and pages were at work then."""
    quiet_since = _asked[0] + QUIET
    return _began[0] < quiet_since < time.monotonic() or memory_taken() > _after[0] + GROWN


def release_memory() -> None:
    """Return what is free to the operating system: Python, Arrow and C each keep what they once had."""
    _began[0] = time.monotonic()
    gc.unfreeze()  # the first session is among what the start-up froze
    gc.collect()
    cache.release()
    gc.freeze()
    try:
        import pyarrow as pa

        pa.default_memory_pool().release_unused()
        ctypes.CDLL(None).malloc_trim(0)
    except (ImportError, TypeError, AttributeError, OSError):  # not glibc
        pass
    _after[0] = memory_taken()
