"""Answers written batch by batch, under their name when they are whole and not before."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from shutil import copyfileobj, rmtree
from threading import current_thread, main_thread
from typing import Any, Protocol

import numpy as np
import pandas as pd

from bayes_engine.errors import StoreError
from bayes_engine.progress import tick
from bayes_engine.scale.arrow import arrow
from bayes_engine.scale.block import START, Reached
from bayes_engine.scale.kept import Pace, taken_up
from bayes_engine.scale.stream import Piece
from bayes_engine.stats.partial import PartialSource
from bayes_engine.store.statistics import save_passes
from bayes_engine.table.write import write_csv

LINES = 2**13
"""Rows that are written as text at a time: each cell is an object then."""


def csv_lines(columns: Mapping[str, Any]) -> bytes:
    """A batch as CSV, with the line of its names."""
    rows = len(next(iter(columns.values())))
    parts = (
        {name: array.slice(start, LINES).to_pandas(integer_object_nulls=True) for name, array in columns.items()}
        for start in range(0, max(rows, 1), LINES)
    )
    out = BytesIO()
    write_csv(out, map(pd.DataFrame, parts))
    return out.getvalue()


def unwritten(
    place: Path, error: OSError | StoreError, piece: Piece | None = None, *, kept: bool = False
) -> StoreError:
    """What is said where an answer cannot be written, at the rows of a batch; and that what was before is `kept`."""
    reason = _reason(error)
    if piece is None:
        return StoreError("'{path}' cannot be written: {reason}", path=str(place), reason=reason)
    if kept:
        return StoreError(
            "'{path}' cannot be written: {reason}, at the rows of '{file}', row group or block {number}; what was "
            "written before is kept, and the same again goes on from there",
            path=str(place),
            reason=reason,
            file=piece.block.file,
            number=piece.block.number,
        )
    return StoreError(
        "'{path}' cannot be written: {reason}, at the rows of '{file}', row group or block {number}; what was written "
        "is removed",
        path=str(place),
        reason=reason,
        file=piece.block.file,
        number=piece.block.number,
    )


def _reason(error: OSError | StoreError) -> object:
    if isinstance(error, StoreError):
        return error.message.params.get("reason", error.message)
    return error.strerror or str(error)


class AnswerWriter(Protocol):
    """Writes batches under another name, and takes the right one when all are there."""

    def __enter__(self) -> AnswerWriter: ...
    def __exit__(self, kind: object, error: object, trace: object) -> None: ...
    def add(self, rows: Any) -> None: ...


class _Beside:
    """A file that has its name when it is whole. Raises StoreError where it cannot be written."""

    def __init__(self, place: Path, schema: Any) -> None:
        self.place, self.schema = place, schema
        self.part = place.with_name(f".{place.name}.{token_hex(4)}.part")

    def __enter__(self) -> Any:
        try:
            self.file = self.part.open("xb")
            self.begin()
        except OSError as error:
            raise unwritten(self.place, error) from error
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            try:
                self.end(kind is None)
                if kind is None:
                    self.file.flush()
                    os.fsync(self.file.fileno())
                    self.file.close()
                    self.part.replace(self.place)
            finally:
                try:
                    self.file.close()  # on a full disk what it still holds cannot be written either
                finally:
                    self.part.unlink(missing_ok=True)
        except OSError as failed:
            if kind is None:
                raise unwritten(self.place, failed) from failed

    def begin(self) -> None:
        """Nothing stands before the first row."""

    def end(self, whole: bool) -> None:
        """Nothing stands after the last."""


class _ParquetAnswer(_Beside):
    """A row group for each batch."""

    def begin(self) -> None:
        self.writer = arrow("pyarrow.parquet").ParquetWriter(self.file, self.schema)

    def add(self, rows: Mapping[str, Any]) -> None:
        """A batch more."""
        pa = arrow()
        columns = [rows[f.name] if rows[f.name].type == f.type else rows[f.name].cast(f.type) for f in self.schema]
        self.writer.write_table(pa.table(columns, schema=self.schema))

    def take_in(self, file: Path) -> None:
        """The batches of a file that is whole."""
        with arrow("pyarrow.parquet").ParquetFile(file) as read:
            for group in range(read.num_row_groups):
                table = read.read_row_group(group).combine_chunks()
                self.add({name: table.column(name) for name in table.column_names})

    def end(self, whole: bool) -> None:
        try:
            self.writer.close()
        except OSError:
            self.writer.is_open = False  # or it tries again when it is collected
            if whole:
                raise


class _CsvAnswer(_Beside):
    """Its line of names once, and then the rows."""

    def begin(self) -> None:
        empty = {f.name: arrow().array([], f.type) for f in self.schema}
        self.head = csv_lines(empty)
        self.file.write(self.head)

    def add(self, rows: bytes) -> None:
        """A batch more."""
        self.file.write(memoryview(rows)[len(self.head) :])

    def take_in(self, file: Path) -> None:
        """The lines of a file that is whole."""
        with file.open("rb") as read:
            read.seek(len(self.head))
            copyfileobj(read, self.file, 2**20)


WRITERS: Mapping[str, Callable[[Path, Any], Any]] = {".parquet": _ParquetAnswer, ".csv": _CsvAnswer}
"""The formats by their endings."""


def part_name(place: tuple[int, int]) -> str:
    """The file of a row group's answers: in the order of the rows.

    >>> part_name((3, 12))
    'part-000003-00000012.parquet'
    """
    return f"part-{place[0]:06}-{place[1]:08}.parquet"


KEPT_EACH = 30.0
"""Seconds of answers that are lost at the most where a run is broken off without a word."""


class KeptAnswers:
    """A `folder` for answers until they are whole: files of them, in their order, and what says how far they go. What
    was written is kept whatever ends the run, and gone on from by the next; the file `place` then comes of all, as if
    one run had written it. `asked` is what is answered, as «name=value», by how many `actions`.

    Raises StoreError where the folder holds answers to another question, or of files that have changed since, or files
    that are no answers, and where it, or the file, cannot be written.
    """

    def __init__(
        self, folder: Path, place: Path, schema: Any, actions: int, asked: Sequence[str],
        sources: tuple[PartialSource, ...],
    ) -> None:  # fmt: skip
        self.folder, self.place, self.schema = folder, place, schema
        self.asked, self.sources = tuple(asked), sources
        self.state = folder / "state"
        self.reached, self.counts = START, np.zeros(actions + 1, dtype=np.int64)
        self.names: list[str] = []
        self._writer: Any = None
        self._is_whole, self._pace = True, Pace(KEPT_EACH)

    def __enter__(self) -> KeptAnswers:
        if not self.folder.parent.is_dir():
            raise StoreError("there is no folder '{path}' to write to", path=str(self.folder.parent))
        try:
            self.folder.mkdir(exist_ok=True)
            self._take_up()
            ours, others = self._found()
            if others:
                raise StoreError(
                    "'{path}' holds other files, such as '{file}'; give a folder of its own to what is not whole yet",
                    path=str(self.folder),
                    file=others[0].name,
                )
            for path in ours:
                if path.name not in self.names:
                    path.unlink()  # what was under way when a run was broken off
        except OSError as error:
            raise unwritten(self.folder, error) from error
        return self

    def _found(self) -> tuple[list[Path], list[Path]]:
        """The files of answers in the folder, whole or under way, and what else there is beside the state."""
        beside = sorted(path for path in self.folder.iterdir() if path != self.state)
        ours = [path for path in beside if NAME.fullmatch(path.name) and path.is_file()]
        return ours, [path for path in beside if path not in ours]

    def _take_up(self) -> None:
        passes = taken_up(self.state, self.asked)
        if passes is None:
            return
        try:
            here, (counts,), names = passes.parts
            reached = Reached.of(here)
            if counts.shape != self.counts.shape or not all(NAME.fullmatch(n) and n[0] != "." for n in names):
                raise ValueError
        except (TypeError, ValueError, AttributeError) as error:
            raise StoreError("'{path}' holds no unfinished answers", path=str(self.folder)) from error
        if not passes.is_of(reached, self.sources):
            raise StoreError(
                "'{path}' holds answers of files that have changed since, or of others; begin in a new folder",
                path=str(self.folder),
            )
        if all((self.folder / name).is_file() for name in names):
            self.reached, self.counts, self.names = reached, counts.astype(np.int64), list(names)

    def begin(self) -> None:
        """A file more, unless one is under way."""
        if self._writer is None:
            name = f"{len(self.names):06}{self.place.suffix}"
            self._writer = WRITERS[self.place.suffix](self.folder / name, self.schema).__enter__()

    def add(self, rows: Any, counts: Any, here: Reached) -> None:
        """A batch more, how many of its rows have each decision, and how far its block then is."""
        with uninterrupted():
            self._is_whole = False
            self.begin()
            self._writer.add(rows)
            self.counts = self.counts + counts
            self.reached = here._replace(total=self.reached.total + here.total)
            self._is_whole = True
        if self._pace.is_due:
            self._pace.saved(self._keep)

    def _keep(self) -> None:
        """The file under way is whole, and noted."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.__exit__(None, None, None)
            self.names.append(writer.place.name)
            save_passes(
                self.asked, 0, self.sources, [tuple(self.reached), (self.counts,), tuple(self.names)], self.state
            )

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if kind is None:
            try:
                self._keep()
                self._together()
            except (OSError, StoreError) as failed:
                if not self.state.exists():
                    raise unwritten(self.place, failed) from failed
                raise StoreError(
                    "'{path}' cannot be written: {reason}, at its end; what was written before is kept, and the same "
                    "again goes on from there",
                    path=str(self.place),
                    reason=_reason(failed),
                ) from failed
            with suppress(OSError):
                for path in (self.state, *self._found()[0]):
                    path.unlink(missing_ok=True)
        elif self._writer is not None and (not self._is_whole or issubclass(kind, StoreError)):
            self._writer.__exit__(kind, error, trace)
        else:
            with suppress(StoreError):
                self._keep()
        with suppress(OSError):
            self.folder.rmdir()  # where nothing was kept

    def _together(self) -> None:
        """One file of all."""
        files = [self.folder / name for name in self.names]
        if len(files) == 1 and self.folder.stat().st_dev == self.place.parent.stat().st_dev:
            files[0].replace(self.place)
            return
        total = self.reached.total
        with WRITERS[self.place.suffix](self.place, self.schema) as writer:
            for done, file in enumerate(files):
                tick(total * done // len(files), total)
                try:
                    writer.take_in(file)
                except OSError as failed:
                    raise unwritten(self.place, failed) from failed


NAME = re.compile(r"\d{6}\.(parquet|csv)|\.(\d{6}\.(parquet|csv)|state)\.[0-9a-f]{8}\.part")
"""What files of answers that are not whole are called, and one that is being written."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl+C within it comes at its end."""
    if current_thread() is not main_thread() or (handler := signal.getsignal(signal.SIGINT)) is None:
        yield  # only the main thread is interrupted
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pressed:
            signal.raise_signal(signal.SIGINT)


def _rows_of(path: Path) -> int | None:
    """How many rows a Parquet file holds; None of one that is damaged."""
    try:
        return int(arrow("pyarrow.parquet").read_metadata(path).num_rows)
    except ValueError:
        return None


class PartsBeside:
    """A `folder` for files of answers that has its name when all are there, each with as many `rows` as are said to be
    in it. Raises StoreError where it cannot be made, or where a file is another than the one that was to be written."""

    def __init__(self, place: Path) -> None:
        self.place, self.rows = place, dict[str, int]()
        self.folder = place.with_name(f".{place.name}.{token_hex(4)}.part")

    def __enter__(self) -> PartsBeside:
        try:
            self.folder.mkdir()
        except OSError as error:
            raise unwritten(self.place, error) from error
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if kind is None:
                for name, rows in self.rows.items():
                    if _rows_of(self.folder / name) != rows:
                        raise StoreError("'{path}' does not hold the rows that were written", path=name)
                for path in list(self.folder.iterdir()):
                    if path.name.startswith("."):
                        path.unlink()  # what a worker had begun that was lost
                self.folder.rename(self.place)
        except OSError as failed:
            raise unwritten(self.place, failed) from failed
        finally:
            gone = self.folder.with_suffix(".gone")  # where a worker that is still at it writes nothing any more
            with suppress(OSError):
                self.folder.rename(gone)
            for folder in (gone, self.folder):
                rmtree(folder, ignore_errors=True)
