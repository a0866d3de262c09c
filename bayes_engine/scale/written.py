"""Answers written batch by batch, under their name when they are whole and not before."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from typing import Any, Protocol

import pandas as pd

from bayes_engine.errors import StoreError
from bayes_engine.scale.arrow import arrow
from bayes_engine.scale.stream import Piece
from bayes_engine.table.write import write_csv


def csv_lines(columns: Mapping[str, Any]) -> bytes:
    """A batch as CSV, with the line of its names."""
    frame = pd.DataFrame({name: array.to_pandas(integer_object_nulls=True) for name, array in columns.items()})
    out = BytesIO()
    write_csv(out, [frame])
    return out.getvalue()


def unwritten(place: Path, error: OSError, piece: Piece | None = None) -> StoreError:
    """What is said where an answer cannot be written, at the rows of a batch."""
    reason = error.strerror or str(error)
    if piece is None:
        return StoreError("'{path}' cannot be written: {reason}", path=str(place), reason=reason)
    return StoreError(
        "'{path}' cannot be written: {reason}, at the rows of '{file}', row group or block {number}; what was written "
        "is removed",
        path=str(place),
        reason=reason,
        file=piece.block.file,
        number=piece.block.number,
    )


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
                self.file.close()
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


WRITERS: Mapping[str, Callable[[Path, Any], Any]] = {".parquet": _ParquetAnswer, ".csv": _CsvAnswer}
"""The formats by their endings."""


def part_name(place: tuple[int, int]) -> str:
    """The file of a row group's answers: in the order of the rows.

    >>> part_name((3, 12))
    'part-00003-00012.parquet'
    """
    return f"part-{place[0]:05}-{place[1]:05}.parquet"


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
                read = arrow("pyarrow.parquet").read_metadata
                for name, rows in self.rows.items():
                    if read(self.folder / name).num_rows != rows:
                        raise StoreError("'{path}' does not hold the rows that were written", path=name)
                for path in list(self.folder.iterdir()):
                    if path.name.startswith("."):
                        path.unlink()  # what a worker had begun that was lost
                self.folder.rename(self.place)
        except OSError as failed:
            raise unwritten(self.place, failed) from failed
        finally:
            rmtree(self.folder, ignore_errors=True)
