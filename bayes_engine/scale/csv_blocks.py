"""CSV files by blocks, as Arrow reads them: the types of their columns, where their rows end, and what is wrong with
them."""

from __future__ import annotations

import atexit
import re
from codecs import lookup
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Condition, Event
from typing import Any

import numpy as np

from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.scale.arrow import NOTHING, WORDS, CountPlan, arrow, sort_of_type
from bayes_engine.scale.block import Block, End, Reached, one_line
from bayes_engine.scale.files import (
    PACKED,
    names_of,
    parts_of,
    refuse_two_columns,
    source_of,
    stamp_of,
)
from bayes_engine.scale.plan import Found
from bayes_engine.stats.partial import MergeTree
from bayes_engine.table.schema import Schema

CSV_BLOCK = 2**23
"""Bytes of a block of CSV."""


END_OF_CSV = "the end of the rows"
"""What begins the line that is read after the last of a CSV file, and has a cell more than the columns: Arrow refuses
it, unless it lies within a quote that is open."""


AHEAD = 2
"""Blocks that are read beyond the one that is asked for: Arrow itself would read 32."""


STILL = 0.1
"""Seconds after which the thread that reads CSV ahead is taken to wait, where it has not met the end."""


NO_ROWS = 1.0
"""Seconds after which Arrow is taken to wait for blocks that have rows, and may read on."""


DIGITS = 38
"""Those of the longest whole number that Arrow reads from CSV."""


DeclaredLevels = Mapping[str, Sequence[object]]
"""The columns of CSV that hold levels or classes, each with those that are declared, if any."""


def levels_of(schema: Schema | None, target: str | None = None) -> dict[str, Sequence[object]]:
    """Those of a schema, and the target.

    >>> from bayes_engine.table.schema import Variable
    >>> levels_of(Schema((Variable("code", "categorical", ("7", "8")), Variable("sugar", "continuous"))), "good")
    {'good': (), 'code': ('7', '8')}
    """
    of_target: dict[str, Sequence[object]] = {target: ()} if target else {}
    return of_target | {v.name: v.levels for v in schema or () if v.discrete and v.cuts is None}


class Csv:
    """CSV files by blocks, with the types that their first blocks show: numbers are floats, unless levels."""

    sampled = True

    def __init__(
        self, paths: Sequence[Path], delimiter: str, encoding: str, levels: DeclaredLevels, *, cells: bool = False
    ) -> None:
        """Of columns of levels whole numbers stay such, and where the declared levels are strings all cells are. With
        `cells` all columns are strings, as they are written, and no cell is missing."""
        self.paths, self.delimiter, self.encoding, self.cells = paths, delimiter, encoding, cells
        self.names = names_of(paths)
        self.rows: int | None = None
        self.sources = tuple(map(source_of, paths))
        self.indices: set[str] = set()
        self._stamps = [stamp_of(path) for path in paths]
        self._bytes, self._read = sum(s.size for s in self.sources) or 1, 0
        pa = arrow()
        self.found = []
        for path in paths:
            with self._opened(path, {}) as (reader, _):
                read = _fields_of(reader, path)
                refuse_two_columns([name for name, _ in read], path.name)
                types = {name: pa.string() if cells else _csv_type(pa, kind, levels.get(name)) for name, kind in read}
                large = _large(reader, [name for name in levels if types.get(name) == pa.float64()])
            self.found.append(types | (self._whole_types(path, large) if large else {}))

    def _whole_types(self, path: Path, columns: Sequence[str]) -> dict[str, Any]:
        """The types of those of these columns that hold whole numbers alone as far as the first block shows: floats,
        which Arrow takes beyond 64 bits, would make one level of several."""
        pa, types = arrow(), {}
        with self._opened(path, dict.fromkeys(columns, pa.string())) as (reader, _):
            batch = _next(reader, path, 1, ())
        for name in columns:
            cells = [text.strip() for text in batch.column(name).unique().to_pylist() if text is not None]
            if not all(re.fullmatch(r"-?[0-9]+", cell) for cell in cells):
                continue
            if any(len(cell.lstrip("-")) > DIGITS for cell in cells):
                raise ReadError(
                    "column '{column}' in '{file}' holds a whole number of more than {n} digits; write its cells with "
                    "a letter before them, so that they are strings, or leave it out by columns=",
                    column=name,
                    file=path.name,
                    n=DIGITS,
                )
            within = all(0 <= int(cell) < 2**64 for cell in cells)
            types[name] = pa.uint64() if within else pa.decimal128(DIGITS, 0)
        return types

    def share(self, rows: int) -> float | None:
        """The share of all bytes that is read."""
        return min(self._read / self._bytes, 1.0)

    def blocks(self, plan: CountPlan, tree: MergeTree | Reached, *, apart: bool = False) -> Iterator[Block | End]:
        """The blocks as they are read, one after the other; a file that is counted whole is not read."""
        refuse_apart(apart)
        done = 0
        for i, (path, types) in enumerate(zip(self.paths, self.found, strict=True)):
            before = index = 0
            packed = path.suffix in PACKED
            if not tree.has_file(i):
                self._refuse_changed(i)
                with self._opened(path, {name: types[name] for name in plan.read}, list(types)) as (reader, read):
                    while (batch := read.asked(partial(_next, reader, path, index + 1, list(types)))) is not None:
                        ahead = read.place
                        self._read = done + (ahead if packed else min(ahead, (index + 1) * CSV_BLOCK))
                        if (i, index) not in tree:
                            yield Block((i, index), self.names[i], index + 1, 0, before, (), partial(parts_of, batch))
                        before += batch.num_rows
                        index += 1
                self._refuse_changed(i)
                if not read.ended:
                    raise ReadError(
                        "'{file}': a quote is opened and never closed, so that the lines after it are one cell; close "
                        "it, or take it out",
                        file=self.names[i],
                    )
                yield End(i, index)
            done += self.sources[i].size
            self._read = done

    def _refuse_changed(self, file: int) -> None:
        if stamp_of(self.paths[file]) != self._stamps[file]:
            raise ReadError("'{file}' has changed since it was opened; begin again", file=self.names[file])

    @contextmanager
    def _opened(self, path: Path, types: Found, columns: Sequence[str] = ()) -> Iterator[tuple[Any, _Bytes]]:
        """A reader of the columns of these types, of all where there are none, and what it reads of the file; where
        its `columns` are known, that tells whether the last row ends."""
        pa, csv = arrow(), arrow("pyarrow.csv")
        with _Bytes(END_OF_CSV + self.delimiter * len(columns) if columns else "") as read:
            try:
                file = pa.OSFile(str(path))
                codec = PACKED.get(path.suffix)
                stream = pa.CompressedInputStream(file, codec) if codec else file
                if not _is_utf8(self.encoding):
                    stream = pa.transcoding_input_stream(stream, self.encoding, "utf8")
                reader = csv.open_csv(
                    read.of(file, stream),
                    csv.ReadOptions(block_size=CSV_BLOCK, use_threads=False),
                    csv.ParseOptions(
                        delimiter=self.delimiter, newlines_in_values=True,
                        invalid_row_handler=read.refused if columns else None,
                    ),
                    csv.ConvertOptions(
                        column_types=dict(types), include_columns=list(types), null_values=list(NOTHING),
                        strings_can_be_null=not self.cells, true_values=list(WORDS[True]),
                        false_values=list(WORDS[False]),
                    ),
                )  # fmt: skip
            except Exception as error:
                raise _unreadable(path, 1, error, columns) from error
            with reader:
                yield reader, read


def _fields_of(reader: Any, path: Path) -> list[tuple[str, Any]]:
    """The names and types of a file's columns."""
    try:
        return [(field.name, field.type) for field in reader.schema]
    except UnicodeDecodeError as error:
        raise _unreadable(path, 1, error, ()) from error


def _is_utf8(encoding: str) -> bool:
    """Whether it is what Arrow reads as it stands; raises LookupError where there is no such encoding."""
    return lookup(encoding).name == "utf-8"


class _Bytes:
    """What Arrow reads of a file: the bytes of a stream, no more than AHEAD blocks beyond the one that is asked for,
    and after its last row a line of a cell more than there are columns. It has `ended` where Arrow's parser has seen
    that as a line; else it lies within a quote that is open.

    Arrow reads on a thread of its own, which must not call Python while the interpreter ends: on leaving, and at exit,
    there are no more bytes. An empty file stays empty.
    """

    closed = False

    def __init__(self, line: str) -> None:
        self._line = line
        self._file: Any = None
        self._stream: Any = None
        self._next: Any = b""
        self._blocks = self._asked = 0
        self._awaited = True
        self._turn, self._over = Condition(), Event()
        self.ended = False

    def of(self, file: Any, stream: Any) -> _Bytes:
        """Those of a stream, which is of a file."""
        self._file, self._stream, self._next = file, stream, stream.read_buffer(CSV_BLOCK)
        return self

    @property
    def place(self) -> int:
        """Bytes of the file that are read."""
        return int(self._file.tell())

    def asked(self, batch: Callable[[], Any]) -> Any:
        """Arrow's next batch, for which it may read."""
        with self._turn:
            self._asked, self._awaited = self._asked + 1, True
            self._turn.notify()
        try:
            return batch()
        finally:
            self._awaited = False

    def read(self, size: int) -> Any:
        """As of a file, a buffer; the last one is longer than `size` where that many bytes are left."""
        with self._turn:
            while len(self._next) and self._blocks > self._asked + AHEAD:
                if not self._turn.wait(NO_ROWS) and self._awaited:
                    break
            data = self._next
            if not len(data):
                self._over.set()
                return b""
            self._blocks += 1
            self._next = self._stream.read_buffer(size)
            return data if len(self._next) else data.to_pybytes() + f"\n{self._line}".encode()

    def refused(self, row: Any) -> str:
        """What the parser is to do with a row of more or fewer cells than columns."""
        if row.text != self._line:
            return "error"
        self.ended = True
        return "skip"

    def close(self) -> None:
        """The stream ends with its reader."""

    def __enter__(self) -> _Bytes:
        atexit.register(self.__exit__)
        return self

    def __exit__(self, *raised: object) -> None:
        atexit.unregister(self.__exit__)
        with self._turn:
            self._next = b""
            self._turn.notify()
        if self._stream is not None:
            self._over.wait(STILL)  # until Arrow's thread has met the end; it waits where it is far enough ahead


def _csv_type(pa: Any, kind: Any, levels: Sequence[object] | None) -> Any:
    """The type a column is read as, from the one that its first block shows; `levels` where it has some."""
    if levels and all(isinstance(level, str) for level in levels):
        return pa.string()
    if pa.types.is_integer(kind) and levels is None:
        return pa.float64()
    return pa.string() if sort_of_type(kind) is None else kind  # a date is a text, as pandas reads it


def _large(reader: Any, columns: Sequence[str]) -> list[str]:
    """Those of these columns of floats that hold one of more than 63 bits in the first block, as it is next."""
    batch = next(iter(reader), None) if columns else None
    return [n for n in columns if batch is not None and (np.abs(batch.column(n).to_numpy(False)) >= 2.0**63).any()]


def _next(reader: Any, path: Path, number: int, columns: Sequence[str]) -> Any:
    """The next batch; None at the end."""
    try:
        return reader.read_next_batch()
    except StopIteration:
        return None
    except Exception as error:
        raise _unreadable(path, number, error, columns) from error


def _unreadable(path: Path, number: int, error: Exception, columns: Sequence[str]) -> ReadError:
    reason = one_line(error)
    place = re.search(r"In CSV column #(\d+): (?:Row #\d+: )?(.*)", reason) if columns else None
    if place is not None:
        return _of_cell(path, number, columns[int(place[1])], place[2])
    if "straddles two block boundaries" in reason:
        return ReadError(
            "'{file}', block {number}: a row is longer than a block of {size:.3g} MB, as where a quote is opened and "
            "never closed; close it, or take it out",
            file=path.name,
            number=number,
            size=CSV_BLOCK / 2**20,
        )
    if isinstance(error, UnicodeError | LookupError):
        return ReadError(
            "'{file}', block {number} cannot be read: {reason}; say by encoding= how the file is written (--encoding "
            "at the terminal)",
            file=path.name,
            number=number,
            reason=reason,
        )
    return ReadError(
        "'{file}', block {number} cannot be read: {reason}; see that the file is whole, and that delimiter= is what "
        "stands between its cells",
        file=path.name,
        number=number,
        reason=reason,
    )


def _of_cell(path: Path, number: int, column: str, reason: str) -> ReadError:
    """The error of a cell that does not fit the type of its column."""
    if reason.endswith("invalid UTF8 data"):
        return ReadError(
            "'{file}', block {number}: column '{column}' is no text in UTF-8; say by encoding= how the file is written "
            "(--encoding at the terminal)",
            file=path.name,
            number=number,
            column=column,
        )
    if (held := re.search("invalid value '(.*?)'?$", reason)) is not None:
        return ReadError(
            "'{file}', block {number}: column '{column}' holds '{value}', which is not of the type that the first "
            "block shows; mend the cell or, if the column holds levels, say so by schema= (--levels at the terminal)",
            file=path.name,
            number=number,
            column=column,
            value=held[1],
        )
    return ReadError(
        "'{file}', block {number}: column '{column}' holds a cell that is not of the type that the first block shows "
        "({reason}); mend the cell or, if the column holds levels, say so by schema= (--levels at the terminal)",
        file=path.name,
        number=number,
        column=column,
        reason=reason,
    )


def refuse_apart(apart: bool) -> None:
    """Raises ParameterError where blocks are asked for that another process reads: those of Parquet alone can be."""
    if apart:
        raise ParameterError(
            "client= needs Parquet, whose row groups are read each by itself; CSV is read from its beginning, on this "
            "machine"
        )
