"""Rows drawn at random from files of more rows than memory holds: each row of all files as likely as any other.

Every row has a random key, and those with the smallest keys are drawn: a reservoir of fixed size (Efraimidis & Spirakis
2006, all weights equal). One pass, in which every row is read; so what is damaged is found, and rows are counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.errors import ParameterError, ReadError, TableError
from bayes_engine.logspace import Array
from bayes_engine.progress import tick
from bayes_engine.scale.arrow import CountPlan, arrow, sort_of_type
from bayes_engine.scale.collect import PathLike
from bayes_engine.scale.csv_blocks import Csv
from bayes_engine.scale.plan import compared
from bayes_engine.scale.sources import Parquet, opened
from bayes_engine.scale.stream import Piece, pieces
from bayes_engine.table.schema import Schema

OWN = int.from_bytes(b"sample")
"""Seeds with the `seed`: a column may itself be made of the numbers of `default_rng(seed)`, and the rows whose numbers
are smallest there would be drawn."""


class SampledRows(NamedTuple):
    """Rows drawn as an Arrow `table`, in the order of the files, and how many `rows` these have."""

    table: Any
    rows: int


def sample_files(
    path_or_paths: PathLike | Iterable[PathLike],
    n: int,
    *,
    seed: int = 0,
    delimiter: str = ",",
    encoding: str = "utf-8",
) -> SampledRows:
    """`n` rows of Parquet or CSV files, without replacement, every set of n rows as likely as any other; all rows where
    there are no more. The same files and the same `seed` give the same rows. Cells keep the types of the files; whole
    numbers of CSV stay such. Memory holds a batch and at most twice n rows.

    Raises TableError or SchemaMismatch, naming the files, where one lacks a column or holds another sort of cells in
    it; ReadError, naming file and row group, where a row group is damaged.

    >>> import pandas as pd, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"x": range(1000)}).to_parquet(pathlib.Path(folder, "numbers.parquet"))
    ...     drawn = sample_files(folder, 3)
    >>> drawn.rows, drawn.table.num_rows
    (1000, 3)
    """
    if n < 1:
        raise ParameterError("n={value}: take a whole number of 1 or more", value=repr(n))
    source = opened(path_or_paths, delimiter=delimiter, encoding=encoding)
    if isinstance(source, Parquet):
        return _drawn(source, n, seed)
    every = {name: () for types in source.found for name in types}
    try:
        return _drawn(Csv(source.paths, delimiter, encoding, every), n, seed)
    except ReadError:  # a column that begins with whole numbers may hold fractions later
        return _drawn(source, n, seed)


def _drawn(source: Parquet | Csv, n: int, seed: int) -> SampledRows:
    columns = [c for c in dict.fromkeys(c for types in source.found for c in types) if c not in source.indices]
    if not columns:
        raise TableError("there is no column in '{file}'", file=source.names[0])
    known = [c for c in columns if all(sort_of_type(types[c]) for types in source.found if c in types)]
    compared(known, source.names, source.found, ())
    columns = [c for c in columns if all(c in types for types in source.found)]
    plan = CountPlan(Schema(()), "", None, "columns", also=tuple(columns))
    rng = np.random.default_rng((seed, OWN))
    kept, bound, rows = _Drawn(np.empty(0), []), 1.0, 0
    for piece in pieces(source, plan):
        keys = rng.random(piece.batch.num_rows)
        lucky = np.flatnonzero(keys < bound)
        if len(lucky):
            kept = _Drawn(np.concatenate([kept.keys, keys[lucky]]), [*kept.tables, _rows(piece, lucky, columns)])
        if len(kept.keys) > 2 * n:
            kept = kept.least(n)
            bound = float(kept.keys.max())
        rows += len(keys)
        tick(int(1000 * (source.share(rows) or 0.0)), 1000)
    if not rows:
        raise TableError("there are no rows to draw from: the files are empty")
    return SampledRows(kept.least(n).tables[0], rows)


class _Drawn(NamedTuple):
    """Rows with their keys."""

    keys: Array
    tables: list[Any]

    def least(self, n: int) -> _Drawn:
        """Those with the n smallest keys, in their order."""
        table = arrow().concat_tables(self.tables, promote_options="permissive").unify_dictionaries()
        if len(self.keys) <= n:
            return _Drawn(self.keys, [table])
        order = np.sort(np.argpartition(self.keys, n - 1)[:n])
        return _Drawn(self.keys[order], [table.take(order)])


def _rows(piece: Piece, places: Any, columns: list[str]) -> Any:
    """Some rows of a batch. What is read as a dictionary for speed is strings again."""
    pa = arrow()
    taken = pa.Table.from_batches([piece.batch]).select(columns).take(places)
    for i, field in enumerate(taken.schema):
        if pa.types.is_dictionary(field.type) and field.name not in piece.block.declared:
            taken = taken.set_column(i, field.name, taken.column(i).cast(field.type.value_type))
    return taken
