"""Tables written a block of rows at a time, so that any program reads the cells back: CSV, xlsx, Parquet."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import IO, Any, Protocol

import pandas as pd

from bayes_engine.errors import TableError
from bayes_engine.table.dataframes import as_strings
from bayes_engine.table.guard import guarded
from bayes_engine.table.sheet import SheetWriter


def write_csv(out: IO[bytes], blocks: Iterable[pd.DataFrame]) -> None:
    """UTF-8 with a byte-order mark, so that Excel reads 中文; text that a spreadsheet would run as a formula gets a
    leading apostrophe (see `guarded`); numbers are written to their last digit. Lines end as RFC 4180 has it, or a
    carriage return within a cell would not be quoted.

    >>> import io
    >>> out = io.BytesIO()
    >>> write_csv(out, [pd.DataFrame({"city": ["=Oslo", "Rome"], "size": [1.5, -2.0]})])
    >>> out.getvalue().decode("utf-8-sig").split()
    ['city,size', "'=Oslo,1.5", 'Rome,-2.0']
    """
    out.write(b"\xef\xbb\xbf")
    for k, block in enumerate(blocks):
        text = io.StringIO(newline="")
        lines = csv.writer(text, lineterminator="\r\n")
        if k == 0:
            lines.writerow(guarded(pd.Series(block.columns.map(str), dtype="str")))
        safe = (column if _numeric(column) else guarded(as_strings(column)) for _, column in block.items())
        # the writer takes Python's own objects; pandas' way to it costs a third more
        lines.writerows(zip(*(column.to_numpy(dtype=object, na_value="").tolist() for column in safe), strict=True))
        out.write(text.getvalue().encode())


def _csv(out: IO[bytes], blocks: Iterable[pd.DataFrame], rows: int, *, packed: bool = False) -> int:
    if packed:
        with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as file:
            write_csv(file, blocks)  # type: ignore[arg-type]  # it can be written to
    else:
        write_csv(out, blocks)
    return 0


def _xlsx(out: IO[bytes], blocks: Iterable[pd.DataFrame], rows: int, *, packed: bool = False) -> int:
    """One sheet; texts stay texts whatever they look like. Those longer than a cell's 32,767 characters are cut.

    Raises TableError, before anything is written, where these `rows` do not fit a sheet.
    """
    first, blocks = _first(blocks)
    with SheetWriter(out, [str(name) for name in first.columns], rows) as sheet:
        for block in blocks:
            sheet.add(block)
    return sheet.cut


def _parquet(out: IO[bytes], blocks: Iterable[pd.DataFrame], rows: int, *, packed: bool = False) -> int:
    """A row group a block; texts as strings, numbers as doubles, empty where they are NaN.

    Raises TableError where pyarrow is not there.
    """
    try:
        arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise TableError("writing Parquet needs pyarrow: pip install pyarrow, or take CSV") from None
    first, blocks = _first(blocks)
    kinds = [arrow.float64() if _numeric(column) else arrow.string() for _, column in first.items()]
    schema = arrow.schema([(str(name), kind) for name, kind in zip(first.columns, kinds, strict=True)])
    with parquet.ParquetWriter(out, schema) as writer:
        for block in blocks:
            columns = [arrow.array(column if kind == arrow.float64() else as_strings(column), type=kind,
                                   from_pandas=True)
                       for (_, column), kind in zip(block.items(), kinds, strict=True)]  # fmt: skip
            writer.write_table(arrow.table(columns, schema=schema))
    return 0


def free_names(wanted: list[str], taken: set[str]) -> list[str]:
    """`wanted`, each with _2, _3, … appended where it is taken.

    >>> free_names(["decision", "risk"], {"decision", "decision_2"})
    ['decision_3', 'risk']
    """
    names, taken = [], set(taken)
    for name in wanted:
        free, k = name, 2
        while free in taken:
            free, k = f"{name}_{k}", k + 1
        taken.add(free)
        names.append(free)
    return names


class BlockWriter(Protocol):
    """Writes blocks of `rows` rows; how many texts had to be cut. Where `packed`, a text format is gzipped."""

    def __call__(self, out: IO[bytes], blocks: Iterable[pd.DataFrame], rows: int, *, packed: bool = False) -> int: ...


WRITERS: Mapping[str, BlockWriter] = {"csv": _csv, "xlsx": _xlsx, "parquet": _parquet}
"""The formats by name."""


def _first(blocks: Iterable[pd.DataFrame]) -> tuple[pd.DataFrame, Iterator[pd.DataFrame]]:
    """The first block, and all of them."""
    rest = iter(blocks)
    first = next(rest)
    return first, chain([first], rest)


def _numeric(column: Any) -> bool:
    return pd.api.types.is_numeric_dtype(column.dtype)
