"""What is saved by itself: a folder a session, in the user's own data directory, readable by the user alone.

    workspaces/<session>/workspace.bayes    the workspace without its files, written anew at every save
    workspaces/<session>/<digest>           a file that was uploaded, written once

So a save takes a few thousand bytes, however large the table. Each file is written whole or not at all; the folders are
bounded in number and in bytes, the oldest going first.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Container
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from streamlit.logger import get_logger

from bayes_engine.errors import BayesEngineError, StoreError
from bayes_engine.store import MOST_BYTES, read_file, write_file
from pages.shell.workspace.form import Workspace, names_only, read, write

WHERE = "BAYES_WORKBENCH_DATA"
"""The environment variable that names another directory than the user's own."""
EVERY = 2.0
"""Seconds between two saves."""
MOST = 8
"""How many workspaces are kept."""
MOST_KEPT = 400_000_000
"""Bytes they may take together; the newest stays, whatever it takes."""
FILE = "workspace.bayes"
MOST_STATE = 2**24
"""Bytes of a workspace without its files."""
_log = get_logger("bayes_workbench")


class Saved(NamedTuple):
    """A saved workspace: the session it is of, and when it was saved, in seconds since 1970."""

    session: str
    when: float


def folder() -> Path:
    """Where the workspaces are: below the directory that `WHERE` names, or the one the system has for a user's data."""
    if own := os.environ.get(WHERE):
        return Path(own) / "workspaces"
    home = Path.home()
    if sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        xdg = os.environ.get("XDG_DATA_HOME", "")
        base = Path(xdg) if xdg.startswith("/") else home / ".local" / "share"  # a relative one is to be ignored
    return base / "bayes-workbench" / "workspaces"


def save(session: str, workspace: Workspace, within: Path) -> None:
    """Save the workspace of a session. Raises StoreError where that cannot be done; what was saved before stays then.

    The files come first: a workspace on the disk always finds them.
    """
    place = within / _safe(session)
    try:
        for made in (within, place):
            made.mkdir(mode=0o700, parents=True, exist_ok=True)
            made.chmod(0o700)
        held = {given.digest: given.content for given in workspace.files.values() if given.content is not None}
        for mark, content in held.items():
            if not (place / mark).exists():
                _write(place / mark, content)
        _write(place / FILE, write(workspace._replace(files=names_only(workspace.files))))
        for other in place.iterdir():
            if other.name != FILE and other.name not in held:
                other.unlink()
    except OSError as error:
        raise StoreError("'{path}' cannot be written: {reason}", path=str(place), reason=str(error)) from error
    _bound(within)


def _write(path: Path, content: bytes) -> None:
    write_file(path, content)
    path.chmod(0o600)  # the folder was closed to others before


def saved(within: Path) -> list[Saved]:
    folders = []
    with suppress(OSError):
        for place in within.iterdir():
            if _SESSION.fullmatch(place.name):
                with suppress(OSError):
                    folders.append(Saved(place.name, (place / FILE).stat().st_mtime))
    return sorted(folders, key=lambda s: s.when, reverse=True)


def load(session: str, within: Path, pages: Container[str]) -> Workspace:
    """The saved workspace of a session, with its files. Raises StoreError where there is none, or it is damaged."""
    place = within / _safe(session)
    workspace = read(read_file(place / FILE, MOST_STATE), pages)
    files = {}
    for role, given in workspace.files.items():
        if (place / given.digest).exists():
            given = given.with_content(read_file(place / given.digest, MOST_BYTES))
        files[role] = given
    return workspace._replace(files=files)


@lru_cache(maxsize=MOST)
def load_summary(entry: Saved, within: Path, pages: frozenset[str]) -> Workspace | None:
    """The saved workspace without its files; None where it cannot be read."""
    try:
        return read(read_file(within / _safe(entry.session) / FILE, MOST_STATE), pages)
    except BayesEngineError:
        return None


def forget(within: Path) -> None:
    for entry in saved(within):
        shutil.rmtree(within / entry.session, ignore_errors=True)


def _bound(within: Path) -> None:
    taken = 0
    for n, entry in enumerate(saved(within)):
        place = within / entry.session
        with suppress(OSError):
            taken += sum(file.stat().st_size for file in place.iterdir())
        if n >= MOST or (n and taken > MOST_KEPT):
            shutil.rmtree(place, ignore_errors=True)


_SESSION = re.compile(r"[0-9a-f-]{8,40}")


def _safe(session: str) -> str:
    """The name of a session, which is part of a path: letters and hyphens of a UUID, nothing else."""
    if not _SESSION.fullmatch(session):
        raise StoreError("there is no saved workspace of this name")
    return session


class Saver:
    """Saves what sessions show in a thread of its own, so that no run waits: at most once in `every` seconds each."""

    def __init__(self, within: Path, every: float = EVERY) -> None:
        self.within, self.every = within, every
        self.problem: BayesEngineError | None = None
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._due: dict[str, Workspace] = {}
        self._running = False

    def take(self, session: str, workspace: Workspace) -> None:
        """Have this saved soon; only the last of a session counts."""
        with self._lock:
            self._due[session] = workspace
            begin, self._running = not self._running, True
        if begin:
            threading.Thread(target=self._work, name="workspace-saver", daemon=True).start()

    def flush(self) -> None:
        with self._writing:
            with self._lock:
                due, self._due = self._due, {}
            for session, workspace in due.items():
                try:
                    save(session, workspace, self.within)
                    self.problem = None
                except BayesEngineError as error:
                    if self.problem is None:
                        _log.error("a workspace could not be saved", exc_info=error)
                    self.problem = error

    def forget(self) -> None:
        with self._writing:
            with self._lock:
                self._due.clear()
            forget(self.within)

    def _work(self) -> None:
        while True:
            time.sleep(self.every)
            self.flush()
            with self._lock:
                if not self._due:
                    self._running = False
                    return


@lru_cache(maxsize=4)
def saver(within: Path) -> Saver:
    """The saver of this process; what is due when it ends in order is still saved."""
    made = Saver(within)
    atexit.register(made.flush)
    return made
