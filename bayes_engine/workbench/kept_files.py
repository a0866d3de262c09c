"""What a start makes and the next would make again, kept in the user's cache directory.

A file is named by the digest of all that its content was made from, and begins with the digest of that content. So what
is found is right, or it is not found: a file that is missing, cut off or changed, and a directory that cannot be read
or written, cost the time of making it anew, and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

MOST = 500
"""Files that are kept at most; the oldest go."""
_DIGEST = 32


def folder() -> Path:
    """The directory that the system has for what a user's programs can make again.

    Raises RuntimeError where the user has no home.
    """
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        xdg = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(xdg) if xdg.startswith("/") else Path.home() / ".cache"  # a relative one is to be ignored
    return base / "bayes-workbench"


@cache
def version_of(package: str) -> bytes:
    """The package and its version, where it is installed."""
    try:
        return f"{package} {version(package)}".encode()
    except PackageNotFoundError:
        return b""


def name_of(sources: Iterable[bytes]) -> str:
    """The name of the file that is made from these.

    >>> name_of([b"a", b"b"]) == name_of([b"a", b"b"]) != name_of([b"ab", b""])
    True
    """
    whole = hashlib.sha256()
    for source in sources:
        whole.update(b"%d:" % len(source))
        whole.update(source)
    return whole.hexdigest()


def find(name: str) -> bytes | None:
    """The content of the file, None where it is not there as it was written."""
    try:
        stored = (folder() / name).read_bytes()
    except (OSError, RuntimeError):
        return None
    content = stored[_DIGEST:]
    return content if stored[:_DIGEST] == _digest(name, content) else None


def keep(name: str, content: bytes) -> None:
    """Keep a content for the next start, if that can be done. Who reads meanwhile finds all of it or nothing."""
    with suppress(OSError, RuntimeError):
        there = folder()
        there.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=there)
        try:
            with open(handle, "wb") as file:  # noqa: PTH123 - it is open already
                file.write(_digest(name, content) + content)
            os.replace(unfinished, there / name)  # noqa: PTH105
        except OSError:
            Path(unfinished).unlink()
        for old in sorted(filter(Path.is_file, there.iterdir()), key=lambda file: file.stat().st_mtime)[:-MOST]:
            old.unlink(missing_ok=True)


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """What was kept, or is now made and kept."""
    content = find(name)
    if content is None:
        keep(name, content := make())
    return content


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + content).digest()
