"""Sessions that were left are freed without another visitor."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from pages.runtime import cache, private, sessions
from tests.cache_contents import bytes_kept
from tests.conftest import PATIENCE, ROOT


class Left:
    """Stands for a session whose browser is gone."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.down = False

    def shutdown(self) -> None:
        self.down = True


class Clock:
    """Seconds that pass when told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def server(clock: Clock) -> tuple[Any, MemorySessionStorage]:
    """A runtime with Streamlit's own session manager, as far as the sweeper looks into it; it parks for 90 s."""
    storage = MemorySessionStorage(ttl_seconds=90)
    storage._cache._timer = clock  # type: ignore[attr-defined]
    manager = WebsocketSessionManager(storage, None, None, None)  # type: ignore[arg-type]
    return SimpleNamespace(_session_mgr=manager), storage


def park(storage: MemorySessionStorage, name: str) -> Left:
    session = Left(name)
    storage.save(SessionInfo(client=None, session=session, script_run_count=1))  # type: ignore[arg-type]
    return session


@pytest.fixture(autouse=True)
def collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was asked of the collector: in a process of many tests a collection takes seconds."""
    asked: list[str] = []
    steps = {name: partial(asked.append, name) for name in ("unfreeze", "collect", "freeze")}
    monkeypatch.setattr(sessions, "gc", SimpleNamespace(**steps))
    yield asked
    given_back()


def given_back() -> None:
    """Wait until nothing is being given back."""
    for thread in threading.enumerate():
        if thread.name == "give-back":
            thread.join(PATIENCE)


def test_what_has_expired_is_shut_down_and_what_has_not_is_left() -> None:
    runtime, storage = server(clock := Clock())
    sweep = sessions.sweeper(runtime)
    old = park(storage, "old")
    sweep()
    assert not old.down and storage.get("old")  # a reload still finds it
    clock.now = 91
    young = park(storage, "young")
    sweep()
    assert not young.down and [info.session.id for info in storage.list()] == ["young"]


def test_a_quiet_evening() -> None:
    """Nobody comes, nobody leaves: the look alone frees it."""
    runtime, storage = server(clock := Clock())
    sweep = sessions.sweeper(runtime)
    session = park(storage, "last")
    clock.now = 91
    assert not session.down
    sweep()
    assert session.down and not storage._cache._data  # type: ignore[attr-defined]


def test_what_was_computed_from_its_file_goes_too(collected: list[str]) -> None:
    @cache.cached(max_entries=3)
    def fit(key: str) -> bytes:
        return bytes(100_000)

    runtime, storage = server(clock := Clock())
    sweep = sessions.sweeper(runtime)
    session: Any = park(storage, "one")
    session.upload = Left("its file")
    cache.hold("fedcba9876543210", session.upload, 1)
    fit("upload:fedcba9876543210|1")
    assert bytes_kept("fedcba9876543210") > 100_000
    del session
    clock.now = 91
    sweep()
    given_back()
    assert bytes_kept("fedcba9876543210") == 0
    assert collected == ["unfreeze", "collect", "freeze"]


def test_one_look_that_fails_does_not_end_all(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(sessions._log, "error", lambda text, **_: said.append(text))
    runtime, storage = server(clock := Clock())
    broken: Any = park(storage, "broken")
    broken.shutdown = lambda: 1 / 0
    clock.now = 91
    sessions.sweeper(runtime)()
    assert said == ["a look for sessions that were left has failed"]


def test_where_streamlit_has_changed_it_says_so_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    monkeypatch.setattr(private, "running", lambda: SimpleNamespace(_session_mgr=SimpleNamespace()))
    monkeypatch.setattr(sessions, "_started", threading.Lock())
    monkeypatch.setattr(sessions._log, "error", lambda text, **_: said.append(text))
    sessions.start()
    assert said == ["sessions are freed at the next visit only: Streamlit's session manager has changed"]
    assert not [thread for thread in threading.enumerate() if thread.name == "session-sweeper"]


def test_without_a_server_everybody_is_there() -> None:
    assert private.connected("nobody")
    sessions.start()  # does nothing
    assert not [thread for thread in threading.enumerate() if thread.name == "session-sweeper"]


HOLES = """
import mmap
import threading
from pathlib import Path
import numpy as np
from bayes_engine.workbench import launch

def taken():
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

def work():
    arrays = [np.ones(60_000) for _ in range(80)]  # 0.5 MB each
    kept.append(arrays[::8])

{apart}
np.ones(3_000_000)  # freed, it teaches glibc that such arrays come and go
kept, before = [], taken()
for _ in range(4):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print((taken() - before) / sum(array.nbytes for arrays in kept for array in arrays))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="of glibc alone")
@pytest.mark.slow
def test_what_a_thread_has_freed_is_the_systems_again() -> None:
    """A session's runs are threads: of a table that was read, typed and fitted it holds what it keeps."""

    def taken(apart: str) -> float:
        code = HOLES.format(apart=apart)
        ran = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=plain, capture_output=True, check=True, text=True
        )
        return float(ran.stdout)

    # A cluster of Dask sets glibc's trim threshold in the environment of its process, and leaves it there.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    assert sessions.memory_taken() > 10_000_000
    assert taken("launch.one_heap()") < 1.5
    assert taken("") > 2.0  # or there is no need for it any more


@pytest.mark.parametrize(
    ("asked", "given_back", "more", "time_to"),
    [
        (49.0, 30.0, 7_000_000, False),  # pages are at work, and it is little
        (49.0, 30.0, 9_000_000, True),
        (44.0, 46.0, 0, True),  # the last page may have ended after the last look
        (44.0, 49.5, 7_000_000, False),  # nobody has come since
        (44.0, 49.5, 9_000_000, True),
    ],
)
def test_memory_is_given_back_where_it_has_grown_and_once_it_is_quiet(
    asked: float, given_back: float, more: int, time_to: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(sessions.time, "monotonic", clock)
    monkeypatch.setattr(sessions, "_after", [100_000_000])
    monkeypatch.setattr(sessions, "_asked", [0.0])
    monkeypatch.setattr(sessions, "_began", [given_back])
    monkeypatch.setattr(sessions, "memory_taken", lambda: 100_000_000 + more)
    clock.now = asked
    sessions._note()
    clock.now = 50.0
    assert sessions.memory_has_grown() == time_to
