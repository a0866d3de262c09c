"""Pages that are drawn anew, or sent something anew, because of what another session did: nobody asks again and again.

A session that runs its script at that moment is looked at again shortly after; one without a browser is let go, since
a browser that comes back has its page drawn anyway.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from typing import NamedTuple

from pages.runtime import private
from pages.runtime.private import running, session_id

AGAIN = 0.1
"""Seconds after which a busy session is looked at again, and between two times that a page is sent anew."""


class _Watched(NamedTuple):
    drawn: private.Drawn
    update: Callable[[private.Elements], None]
    context: Context  # its language is the page's


_lock = threading.Lock()
_present: dict[str, None] = {}  # the sessions that may be woken
_watching: dict[str, _Watched] = {}
_due: set[str] = set()  # to be drawn anew
_stale: set[str] = set()  # to be sent anew what they watch
_waiting = [False]  # a look is on its way


def begin() -> None:
    """A run of the script begins, which shows what is so now; its session may be woken later on."""
    with _lock:
        _present[session_id()] = None
        _due.discard(session_id())
        _stale.discard(session_id())
        _watching.pop(session_id(), None)


@contextmanager
def watching(update: Callable[[private.Elements], None]) -> Iterator[None]:
    """What the page draws inside is given to `update` at each `update_watchers`, by kinds; what it changes is sent."""
    with private.recorded() as drawn:
        yield
    with _lock:
        _watching[session_id()] = _Watched(drawn, update, copy_context())


def update_watchers() -> None:
    """What pages watch has changed."""
    with _lock:
        _stale.update(_watching)
    _look_soon()


def wake_others() -> None:
    """Have the page of every other session drawn anew."""
    with _lock:
        _due.update(who for who in _present if who != session_id())
    _look_soon(0.0)


def _look_soon(seconds: float = AGAIN) -> None:
    """One look for all that came meanwhile."""
    if (runtime := running()) is None:
        return
    with _lock:
        if _waiting[0] or not (_due or _stale):
            return
        _waiting[0] = True

    def look() -> None:
        with suppress(RuntimeError):  # the loop is closed: the server stops
            private.on_event_loop(runtime)(_look)

    timer = threading.Timer(seconds, look)
    timer.daemon = True
    timer.start()


def _look() -> None:
    """On the event loop."""
    runtime = running()
    with _lock:
        _waiting[0] = False
        due, stale = set(_due), _stale - _due
    if runtime is None:
        return
    for who in due | stale:
        if not runtime.is_active_session(who):
            _let_go(who, left=private.has_left(runtime, who))
        elif (session := private.idle_session(runtime, who)) is None:
            continue
        elif who in due:
            _let_go(who)
            private.run_again(runtime, session)
        elif watched := _watching.get(who):
            with _lock:
                _stale.discard(who)
            watched.context.run(watched.drawn.send_anew, session, watched.update)
        else:
            _let_go(who)
    _look_soon()


def _let_go(who: str, *, left: bool = False) -> None:
    with _lock:
        _due.discard(who)
        _stale.discard(who)
        if left:
            _present.pop(who, None)
            _watching.pop(who, None)
