"""The files of a pass: which they are, what they are called, and whether one is still as it was."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.scale.memory import BATCH, batch_rows
from bayes_engine.stats.partial import PartialSource

PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
"""Endings of compressed CSV, with what Arrow calls their codecs."""


def paths_of(path_or_paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], suffix: str) -> list[Path]:
    """The files: one, several in the order given, or those of a folder that end in `suffix`, by name.

    Raises ReadError where there is none, ParameterError where two are one, by whatever paths.
    """
    given = [path_or_paths] if isinstance(path_or_paths, str | os.PathLike) else list(path_or_paths)
    paths: list[Path] = []
    for path in map(Path, given):
        paths += sorted(p for p in path.rglob("*") if is_data(p, suffix)) if path.is_dir() else [path]
    for path in paths:
        if not path.is_file():
            raise ReadError("there is no file '{file}'", file=str(path))
    if not paths:
        raise ReadError("there is no file to read; name one, or a folder that holds some")
    named: dict[Path, Path] = {}
    for path in paths:
        if (one := path.resolve()) in named:
            raise ParameterError(
                "a file is named twice, as '{file}' and as '{other}': its rows would count twice; give it weights if "
                "they should",
                file=str(named[one]),
                other=str(path),
            )
        named[one] = path
    return paths


def is_data(path: Path, suffix: str) -> bool:
    """Whether a file in a folder is one of the table's: named so, compressed or not, and not as hidden files are."""
    ends = (suffix, *(f"{suffix}{packed}" for packed in PACKED)) if suffix == ".csv" else (suffix,)
    return path.name.endswith(ends) and not path.name.startswith((".", "_")) and path.is_file()


def names_of(paths: Sequence[Path]) -> list[str]:
    """What files are called in a sentence: by their names, or, where two have one, by their paths."""
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


class Stamp(NamedTuple):
    """What is another where a file is written anew or replaced: its size, the time of its last change and its inode."""

    size: int
    changed: int
    inode: int


def stamp_of(path: Path) -> Stamp:
    """Of a file as it is now."""
    status = path.stat()
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ino)


def source_of(path: Path) -> PartialSource:
    """A file as it is now."""
    status = path.stat()
    return PartialSource(path.name, status.st_size, status.st_mtime_ns)


def refuse_two_columns(names: list[str], file: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReadError("'{file}' has two columns '{column}'; rename one of them", file=file, column=twice)


def parts_of(table: Any, wide: int = 0) -> Iterator[Any]:
    """At most BATCH rows at a time, fewer of what is as `wide` as so many more columns."""
    most = min(BATCH, batch_rows(len(table.schema.names) + wide)) if wide else BATCH
    pieces = table.to_batches(max_chunksize=most) if hasattr(table, "to_batches") else [table]
    for piece in pieces:
        yield from (piece.slice(start, most) for start in range(0, piece.num_rows, most))
