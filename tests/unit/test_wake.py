"""Pages of other sessions drawn or sent anew: whose, once, and what becomes of the busy and of those who left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pages.runtime import private, wake


class Server:
    """Stands for the runtime: sessions that are idle, busy or away, and what was done to them. A look waits until
    `look` lets it come."""

    def __init__(self) -> None:
        self.is_: dict[str, str] = {}
        self.done: list[tuple[str, str]] = []
        self.looks: list[Callable[[], None]] = []

    def is_active_session(self, who: str) -> bool:
        return self.is_[who] in ("idle", "busy")

    def look(self) -> None:
        self.looks.pop(0)()


class Later:
    """A timer that waits for the test."""

    def __init__(self, server: Server, then: Callable[[], None]) -> None:
        self.server, self.then = server, then

    def start(self) -> None:
        self.server.looks.append(self.then)


class Drawn:
    """Stands for what a page has drawn; `send_anew` notes to whom it goes."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def send_anew(self, session: str, update: Callable[[Any], None]) -> None:
        self.server.done.append(("sent", session))
        update({})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    there = Server()
    for name, value in (("_present", {}), ("_watching", {}), ("_due", set()), ("_stale", set()), ("_waiting", [False])):
        monkeypatch.setattr(wake, name, value)
    monkeypatch.setattr(wake, "running", lambda: there)
    monkeypatch.setattr(wake.threading, "Timer", lambda _seconds, then: Later(there, then))

    @contextmanager
    def recorded() -> Iterator[Drawn]:
        yield Drawn(there)

    for name, does in (
        ("on_event_loop", lambda _runtime: lambda call: call()),
        ("has_left", lambda _runtime, who: there.is_[who] == "left"),
        ("idle_session", lambda _runtime, who: who if there.is_[who] == "idle" else None),
        ("run_again", lambda _runtime, who: there.done.append(("run", who))),
        ("recorded", recorded),
    ):
        monkeypatch.setattr(private, name, does)
    return there


def arrives(who: str, server: Server, monkeypatch: pytest.MonkeyPatch, is_: str = "idle") -> None:
    """A session runs its page to the end."""
    server.is_[who] = is_
    monkeypatch.setattr(wake, "session_id", lambda: who)
    wake.begin()


def test_every_other_session_is_drawn_anew_once_and_a_busy_one_later(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who, is_ in (("idle", "idle"), ("busy", "busy"), ("parked", "away"), ("gone", "left"), ("teacher", "idle")):
        arrives(who, server, monkeypatch, is_)
    wake.wake_others()
    wake.wake_others()
    assert len(server.looks) == 1
    server.look()
    assert server.done == [("run", "idle")] and list(wake._present) == ["idle", "busy", "parked", "teacher"]
    server.is_["busy"] = "idle"
    server.look()
    assert server.done == [("run", "idle"), ("run", "busy")] and not server.looks


def test_what_a_page_watches_is_sent_to_it_without_a_run(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    for who in ("first", "second"):
        arrives(who, server, monkeypatch)
        with wake.watching(lambda _elements, who=who: told.append(who)):  # type: ignore[misc]
            pass
    wake.update_watchers()
    server.look()
    assert sorted(server.done) == [("sent", "first"), ("sent", "second")] and sorted(told) == ["first", "second"]
    wake.update_watchers()
    arrives("second", server, monkeypatch)  # a run of its own has drawn it, and watches nothing now
    server.look()
    assert server.done[2:] == [("sent", "first")] and not server.looks


def test_a_server_that_stops_is_not_looked_at(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    arrives("one", server, monkeypatch)
    arrives("other", server, monkeypatch)
    wake.wake_others()
    monkeypatch.setattr(wake, "running", lambda: None)
    server.look()
    assert not server.done and not server.looks
    wake.update_watchers()
    assert not server.looks
