"""Where rows come from: Parquet files by row groups, CSV files by blocks, any iterator of batches.

What can be known before a row is counted is compared then: that every file can be opened, and that all have the same
columns of the same sorts.
"""

from __future__ import annotations

import atexit
import os
import re
from codecs import lookup
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayes_engine.errors import ParameterError, ReadError, TableError
from bayes_engine.scale.arrow import NOTHING, WORDS, CountPlan, arrow, sort_of_type
from bayes_engine.scale.block import Block, End, Reached, one_line
from bayes_engine.scale.plan import Found, compared
from bayes_engine.scale.scan import BATCH, batch_rows, texts_as_columns
from bayes_engine.stats.partial import MergeTree, PartialSource
from bayes_engine.table.dataframes import refuse_double

BUFFER = 2**16
"""Bytes of a column that are read ahead in a Parquet file: the head of a page; its body, 1 MB, is read past these."""

PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
"""Endings of compressed CSV, with what Arrow calls their codecs."""

CSV_BLOCK = 2**23
"""Bytes of a block of CSV."""

END_OF_CSV = "the end of the rows"
"""What begins the line that is read after the last of a CSV file, and has a cell more than the columns: Arrow refuses
it, unless it lies within a quote that is open."""

STILL = 0.1
"""Seconds after which the thread that reads CSV ahead is taken to wait, where it has not met the end."""

DIGITS = 38
"""Those of the longest whole number that Arrow reads from CSV."""

MAGIC = b"PAR1"
"""What a Parquet file begins with."""


class Parquet:
    """Parquet files by row groups. Raises ReadError where a file is none."""

    sampled = False
    """Whether the types come from the first rows alone."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = paths
        self.metadata: list[Any] = []
        self.found: list[dict[str, Any]] = []
        self.indices: set[str] = set()
        self._stamps = [stamp_of(path) for path in paths]
        pq = arrow("pyarrow.parquet")
        for path, name in zip(paths, names_of(paths), strict=True):
            try:
                with pq.ParquetFile(path) as file:
                    self.metadata.append(file.metadata)
                    schema = file.schema_arrow
            except Exception as error:
                raise ReadError(
                    "'{file}' cannot be read as Parquet: {reason}; if it was cut off or is still being written, write "
                    "it again",
                    file=name,
                    reason=one_line(error),
                ) from error
            _refuse_two_columns(schema.names, name)
            self.found.append(dict(zip(schema.names, schema.types, strict=True)))
            described = (schema.pandas_metadata or {}).get("index_columns", ())
            self.indices |= {name for name in described if isinstance(name, str)}
        self.names = names_of(paths)
        self.rows: int | None = sum(m.num_rows for m in self.metadata)
        self.sources = tuple(map(source_of, paths))

    def share(self, rows: int) -> float | None:
        """The share of all rows."""
        return rows / self.rows if self.rows else None

    def blocks(self, plan: CountPlan, tree: MergeTree | Reached, *, apart: bool = False) -> Iterator[Block | End]:
        """A block for each row group; with `apart` it can be read in another process, which opens the file itself."""
        for i, (path, metadata, types) in enumerate(zip(self.paths, self.metadata, self.found, strict=True)):
            before, groups = 0, metadata.num_row_groups
            declared = {name for name in plan.read if arrow().types.is_dictionary(types[name])}
            texts = {v.name for v in plan.schema if v.textual}
            strings = [n for n in plan.read if sort_of_type(types[n]) == "strings" and n not in declared | texts]
            wide = texts_as_columns(plan)
            for group in range(groups):
                rows = metadata.row_group(group).num_rows
                if (i, group) not in tree:
                    if apart:
                        read = partial(_found_again, path.absolute(), self.sources[i], group, plan.read, strings, wide)
                    else:
                        read = partial(_row_group, path, metadata, group, plan.read, strings, self._stamps[i], wide)
                    yield Block((i, group), self.names[i], group + 1, groups, before, declared, read, rows)
                before += rows
            yield End(i, groups)


def _row_group(
    path: Path, metadata: Any, group: int, columns: Sequence[str], strings: list[str], then: Stamp, wide: int = 0
) -> Iterator[Any]:
    """The batches of one row group, read piece by piece, its strings as dictionaries; it is as `wide` as so many more
    columns. Raises ReadError where the file is no longer as it was `then`, or a page is not what its checksum says."""
    with arrow("pyarrow.parquet").ParquetFile(
        path,
        metadata=metadata,
        read_dictionary=strings,
        buffer_size=BUFFER,
        pre_buffer=False,
        page_checksum_verification=True,
    ) as file:
        rows, most = 0, min(BATCH, batch_rows(len(columns) + wide))
        batches = file.iter_batches(most, row_groups=[group], columns=list(columns), use_threads=False)
        while True:
            try:
                batch = next(batches, None)
            except Exception as error:
                _refuse_changed(path, then)
                raise _of_column(file, group, columns, error) from error
            if batch is None:
                break
            rows += batch.num_rows
            yield batch
        _refuse_changed(path, then)
        if rows != metadata.row_group(group).num_rows:
            raise ReadError(
                "the row group ends after {rows} rows, and {said} are stated; write the file again",
                rows=rows,
                said=metadata.row_group(group).num_rows,
            )


def _refuse_changed(path: Path, then: Stamp) -> None:
    if stamp_of(path) != then:
        raise ReadError("the file has changed since it was opened; begin again")


def _of_column(file: Any, group: int, columns: Sequence[str], error: Exception) -> Exception:
    """The error, with the first column of the row group that cannot be read by itself."""
    for name in columns:
        try:
            for _batch in file.iter_batches(BATCH, row_groups=[group], columns=[name], use_threads=False):
                pass
        except Exception as own:  # noqa: BLE001 - whatever Arrow raises on damaged bytes
            return ReadError("column '{column}' cannot be read: {reason}", column=name, reason=one_line(own))
    return error


def _found_again(
    path: Path, then: PartialSource, group: int, columns: Sequence[str], strings: list[str], wide: int = 0
) -> Any:
    """As `_row_group`, in a process that has not opened the file: it must be the one that was looked at."""
    if not path.is_file() or source_of(path) != then:
        raise ReadError(
            "on this worker it is not there, or of another size or time, at '{path}'; every worker must see the files "
            "under the same paths",
            path=str(path),
        )
    now = stamp_of(path)
    return _row_group(path, arrow("pyarrow.parquet").read_metadata(path), group, columns, strings, now, wide)


def _refuse_two_columns(names: list[str], file: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReadError("'{file}' has two columns '{column}'; rename one of them", file=file, column=twice)


class Csv:
    """CSV files by blocks, with the types that their first blocks show: numbers are floats, unless levels."""

    sampled = True

    def __init__(
        self, paths: Sequence[Path], delimiter: str, encoding: str, whole: Collection[str], *, cells: bool = False
    ) -> None:
        """`whole` names the columns whose whole numbers stay such: levels and classes. With `cells` all are strings, as
        they are written, and none is missing."""
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
            with self._opened(path, {}, ())[0] as reader:
                read = _fields_of(reader, path)
                large = () if cells else _large(reader, [n for n, kind in read if n in whole and kind == pa.float64()])
                _refuse_two_columns([name for name, _ in read], path.name)
                types = {name: pa.string() if cells else _csv_type(pa, kind, name in whole) for name, kind in read}
            self.found.append(types | (self._whole_types(path, large) if large else {}))

    def _whole_types(self, path: Path, columns: Sequence[str]) -> dict[str, Any]:
        """The types of those of these columns that hold whole numbers alone as far as the first block shows: floats,
        which Arrow takes beyond 64 bits, would make one level of several."""
        pa, types = arrow(), {}
        with self._opened(path, dict.fromkeys(columns, pa.string()), ())[0] as reader:
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
                with _EndOfRows(self.delimiter, len(types)) as end:
                    reader, file = self._opened(path, {name: types[name] for name in plan.read}, list(types), end)
                    with reader:
                        while (batch := _next(reader, path, index + 1, list(types))) is not None:
                            ahead = file.tell()  # Arrow reads many blocks ahead
                            self._read = done + (ahead if packed else min(ahead, (index + 1) * CSV_BLOCK))
                            if (i, index) not in tree:
                                yield Block((i, index), self.names[i], index + 1, 0, before, (), partial(_parts, batch))
                            before += batch.num_rows
                            index += 1
                self._refuse_changed(i)
                if not end.seen:
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

    def _opened(
        self, path: Path, types: Found, columns: Sequence[str], end: _EndOfRows | None = None
    ) -> tuple[Any, Any]:
        """A reader of the columns of these types, of all where there are none, and the file that it reads, with its
        `columns` as far as they are known; with `end` it tells whether the last row ends."""
        pa, csv = arrow(), arrow("pyarrow.csv")
        try:
            file = pa.OSFile(str(path))
            codec = PACKED.get(path.suffix)
            stream = pa.CompressedInputStream(file, codec) if codec else file
            if not _is_utf8(self.encoding):
                stream = pa.transcoding_input_stream(stream, self.encoding, "utf8")
            reader = csv.open_csv(
                stream if end is None else end.after(stream),
                csv.ReadOptions(block_size=CSV_BLOCK, use_threads=False),
                csv.ParseOptions(
                    delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=end and end.refused
                ),
                csv.ConvertOptions(
                    column_types=dict(types), include_columns=list(types), null_values=list(NOTHING),
                    strings_can_be_null=not self.cells, true_values=list(WORDS[True]),
                    false_values=list(WORDS[False]),
                ),
            )  # fmt: skip
        except Exception as error:
            raise _unreadable(path, 1, error, columns) from error
        return reader, file


def _fields_of(reader: Any, path: Path) -> list[tuple[str, Any]]:
    """The names and types of a file's columns."""
    try:
        return [(field.name, field.type) for field in reader.schema]
    except UnicodeDecodeError as error:
        raise _unreadable(path, 1, error, ()) from error


def _is_utf8(encoding: str) -> bool:
    """Whether it is what Arrow reads as it stands; raises LookupError where there is no such encoding."""
    return lookup(encoding).name == "utf-8"


class _EndOfRows:
    """A file that Arrow reads: the bytes of a stream, and after its last row a line of a cell more than there are
    `columns`. Arrow's parser has `seen` it as a line, or it lies within a quote that is open.

    Arrow reads ahead on a thread of its own, which must not call Python while the interpreter ends: on leaving, and at
    exit, the file has no more bytes. An empty file stays empty.
    """

    closed = False

    def __init__(self, delimiter: str, columns: int) -> None:
        self._line = END_OF_CSV + delimiter * columns
        self._stream: Any = None
        self._next: Any = b""
        self._lock, self._over = Lock(), Event()
        self.seen = False

    def after(self, stream: Any) -> _EndOfRows:
        """This line after the bytes of a stream."""
        self._stream, self._next = stream, stream.read_buffer(CSV_BLOCK)
        return self

    def read(self, size: int) -> Any:
        """As of a file, a buffer; the last one is longer than `size` where that many bytes are left."""
        with self._lock:
            data = self._next
            if len(data):
                self._next = self._stream.read_buffer(size)
                return data if len(self._next) else data.to_pybytes() + f"\n{self._line}".encode()
            self._over.set()
            return b""

    def refused(self, row: Any) -> str:
        """What the parser is to do with a row of more or fewer cells than columns."""
        if row.text != self._line:
            return "error"
        self.seen = True
        return "skip"

    def close(self) -> None:
        """The stream ends with its reader."""

    def __enter__(self) -> _EndOfRows:
        atexit.register(self.__exit__)
        return self

    def __exit__(self, *raised: object) -> None:
        atexit.unregister(self.__exit__)
        with self._lock:
            self._next = b""
        if self._stream is not None:
            self._over.wait(STILL)  # until Arrow's thread has met the end; it waits where it is far enough ahead


def _csv_type(pa: Any, kind: Any, whole: bool) -> Any:
    """The type a column is read as, from the one that its first block shows."""
    if pa.types.is_integer(kind) and not whole:
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


class Batches:
    """What an iterator yields: Arrow batches and tables, or frames of any library; each is a block."""

    sampled = True
    paths: tuple[Path, ...] = ()

    def __init__(self, batches: Iterable[Any]) -> None:
        self._rest: Iterator[Any] = iter(batches)
        self._first = next(self._rest, None)
        self.rows: int | None = None
        self.sources: tuple[PartialSource, ...] = ()
        self.indices: set[str] = set()
        self.names = ["batch 1"]
        if self._first is None:
            raise TableError("there are no rows to count: the iterator yields nothing")
        self._first = as_table(self._first, 1)
        self.found = [dict(zip(self._first.schema.names, self._first.schema.types, strict=True))]

    def share(self, rows: int) -> float | None:
        """Not known before the end."""
        return None

    def blocks(self, plan: CountPlan, tree: MergeTree | Reached, *, apart: bool = False) -> Iterator[Block | End]:
        """A block for each that is yielded."""
        refuse_apart(apart)
        index = 0
        table = self._first
        while table is not None:
            name = f"batch {index + 1}"
            types = dict(zip(table.schema.names, table.schema.types, strict=True))
            new = [n for n in types if n not in self.found[0]] if plan.every else []
            compared([*plan.read, *new], [*self.names, name], [*self.found, types], plan.given)
            declared = {n for n in plan.read if arrow().types.is_dictionary(types[n])}
            table = table.select(list(plan.read)).unify_dictionaries()
            wide = texts_as_columns(plan)
            if (0, index) not in tree:
                yield Block((0, index), name, index + 1, 0, 0, declared, partial(_parts, table, wide))
            index += 1
            following = next(self._rest, None)
            table = None if following is None else as_table(following, index + 1)


def as_table(batch: Any, number: int) -> Any:
    """A batch as an Arrow table. Raises TableError where it is none, or has two columns of one name."""
    pa = arrow()
    if isinstance(batch, pd.DataFrame):
        batch = batch.set_axis([str(name) for name in batch.columns], axis=1)
        refuse_double(batch.columns.tolist())
    try:
        if isinstance(batch, pa.RecordBatch):
            table = pa.Table.from_batches([batch])
        elif isinstance(batch, pd.DataFrame):
            table = pa.Table.from_pandas(batch, preserve_index=False)
        else:
            table = batch if isinstance(batch, pa.Table) else pa.table(batch)
    except Exception as error:
        raise TableError(
            "batch {number} is a {kind} that cannot be read: {reason}; give Arrow batches or frames with one sort of "
            "cells in each column",
            number=number,
            kind=type(batch).__name__,
            reason=one_line(error),
        ) from error
    refuse_double(table.schema.names)
    return table


def _parts(table: Any, wide: int = 0) -> Iterator[Any]:
    """At most BATCH rows at a time, fewer of what is as `wide` as so many more columns."""
    most = min(BATCH, batch_rows(len(table.schema.names) + wide)) if wide else BATCH
    pieces = table.to_batches(max_chunksize=most) if hasattr(table, "to_batches") else [table]
    for piece in pieces:
        yield from (piece.slice(start, most) for start in range(0, piece.num_rows, most))


def paths_of(path_or_paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], suffix: str) -> list[Path]:
    """The files: one, several in the order given, or those of a folder that end in `suffix`, by name.

    Raises ReadError where there is none, ParameterError where two are one, by whatever paths.
    """
    given = [path_or_paths] if isinstance(path_or_paths, str | os.PathLike) else list(path_or_paths)
    paths: list[Path] = []
    for path in map(Path, given):
        paths += sorted(p for p in path.rglob("*") if _is_data(p, suffix)) if path.is_dir() else [path]
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


def _is_data(path: Path, suffix: str) -> bool:
    """Whether a file in a folder is one of the table's: named so, compressed or not, and not as hidden files are."""
    ends = (suffix, *(f"{suffix}{packed}" for packed in PACKED)) if suffix == ".csv" else (suffix,)
    return path.name.endswith(ends) and not path.name.startswith((".", "_")) and path.is_file()


def opened(
    path_or_paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    whole: Collection[str] = (),
    cells: bool = False,
) -> Parquet | Csv:
    """The files as Parquet, or as CSV where the first does not begin as Parquet does; of a folder those of one kind,
    Parquet before CSV. `whole` as in `Csv`; with `cells` those of CSV are strings, as they are written.

    Raises ReadError where there is none, or pyarrow is not there.
    """
    given = [path_or_paths] if isinstance(path_or_paths, str | os.PathLike) else list(path_or_paths)
    folders = [path for path in map(Path, given) if path.is_dir()]
    parquet = not folders or any(_is_data(p, ".parquet") for folder in folders for p in folder.rglob("*"))
    paths = paths_of(given, ".parquet" if parquet else ".csv")
    with paths[0].open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC or paths[0].suffix == ".parquet":
            return Parquet(paths)
    return Csv(paths, delimiter, encoding, whole, cells=cells)


Source = Parquet | Csv | Batches
"""Where rows come from."""


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
