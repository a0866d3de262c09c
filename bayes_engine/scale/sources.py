"""Where rows come from: Parquet files by row groups, CSV files by blocks, any iterator of batches.

What can be known before a row is counted is compared then: that every file can be opened, and that all have the same
columns of the same sorts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from bayes_engine.errors import ReadError, TableError
from bayes_engine.scale.arrow import CountPlan, arrow, sort_of_type
from bayes_engine.scale.block import Block, End, Reached, one_line
from bayes_engine.scale.csv_blocks import Csv, DeclaredLevels, refuse_apart
from bayes_engine.scale.files import (
    Stamp,
    is_data,
    names_of,
    parts_of,
    paths_of,
    refuse_two_columns,
    source_of,
    stamp_of,
)
from bayes_engine.scale.memory import BATCH, batch_rows, texts_as_columns
from bayes_engine.scale.plan import compared
from bayes_engine.stats.partial import MergeTree, PartialSource
from bayes_engine.table.dataframes import refuse_double

BUFFER = 2**16
"""Bytes of a column that are read ahead in a Parquet file: the head of a page; its body, 1 MB, is read past these."""


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
            refuse_two_columns(schema.names, name)
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
                yield Block((0, index), name, index + 1, 0, 0, declared, partial(parts_of, table, wide))
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


def opened(
    path_or_paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    levels: DeclaredLevels | None = None,
    cells: bool = False,
) -> Parquet | Csv:
    """The files as Parquet, or as CSV where the first does not begin as Parquet does; of a folder those of one kind,
    Parquet before CSV. `levels` as in `Csv`; with `cells` those of CSV are strings, as they are written.

    Raises ReadError where there is none, or pyarrow is not there.
    """
    given = [path_or_paths] if isinstance(path_or_paths, str | os.PathLike) else list(path_or_paths)
    folders = [path for path in map(Path, given) if path.is_dir()]
    parquet = not folders or any(is_data(p, ".parquet") for folder in folders for p in folder.rglob("*"))
    paths = paths_of(given, ".parquet" if parquet else ".csv")
    with paths[0].open("rb") as file:
        if file.read(len(MAGIC)) == MAGIC or paths[0].suffix == ".parquet":
            return Parquet(paths)
    return Csv(paths, delimiter, encoding, levels or {}, cells=cells)


Source = Parquet | Csv | Batches
"""Where rows come from."""
