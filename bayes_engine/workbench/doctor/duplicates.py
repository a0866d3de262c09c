"""Columns that are one, and rows that stand twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.language import Message
from bayes_engine.logspace import Array, exp, log
from bayes_engine.progress import steps
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.doctor.examined_table import ExaminedTable, first_rows
from bayes_engine.workbench.doctor.finding import Finding, Repair, SetRole
from bayes_engine.workbench.doctor.pairs import BLOCK, BY_CHANCE, pair_correlations

LINEAR = 1e-4
"""1 − r² of two columns that are one in other units: what rounding to a hundredth of the standard deviation leaves."""
NEARLY_LINEAR = 0.05
"""1 − r² beyond which, around the means of all their cells, two columns with gaps are not looked at again."""
DUPLICATED, BEYOND_CHANCE = 0.01, 10.0
"""A share of rows that stand a second time, and how many times more such pairs there are than the columns make by
themselves: rounded measurements meet by chance."""


def duplicate_columns(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns that are equal, equal up to the names of their levels, or equal up to units."""
    partitions: dict[bytes, list[str]] = {}
    pairs = max(len(examined.features) * (len(examined.features) - 1) / 2, 1.0)
    for v in steps(examined.features):
        if not v.discrete and not v.numeric:
            continue
        codes = pd.factorize(examined.frame[v.name])[0]
        counts = np.bincount(codes[codes >= 0])
        if len(counts) < 2 or len(counts) > examined.n / 2:
            continue
        share = counts / counts.sum()
        if -float(share @ log(share)) * examined.n >= log(pairs) + BY_CHANCE:
            partitions.setdefault(codes.astype(np.int32).tobytes(), []).append(v.name)
    reported: set[str] = set()
    for names in partitions.values():
        for other in names[1:]:
            one, two = examined.frame[names[0]], examined.frame[other]
            same = bool(((one.astype(object) == two.astype(object)) | (one.isna() & two.isna())).all())
            reported.add(other)
            yield _duplicate(examined, names[0], other, same)
    numeric = [name for name in examined.numbers if name not in reported]
    if len(numeric) >= 2 and examined.n >= 10:
        Z, M = _standardized([examined.numbers[name] for name in numeric])
        for i, j in _nearly_linear(Z, M):
            a, b = numeric[i], numeric[j]
            shared = (M[:, i] * M[:, j]) > 0  # where one of them has gaps, the rest must agree as well
            x, z = examined.numbers[a][shared], examined.numbers[b][shared]
            if a in reported or b in reported or shared.sum() < 10 or x.std() == 0.0 or z.std() == 0.0:
                continue
            r = float(np.corrcoef(x, z)[0, 1])
            if 1.0 - r**2 < LINEAR:
                if M[:, i].sum() < M[:, j].sum():  # the one with more gaps is the one to do without
                    a, b = b, a
                reported.add(b)
                yield _duplicate(examined, a, b, bool((x == z).all()), r)


def _duplicate(examined: ExaminedTable, a: str, b: str, same: bool, r: float | None = None) -> Finding:
    known = (examined.frame[a].notna() & examined.frame[b].notna()).to_numpy(dtype=bool)
    n = int(known.sum())
    gaps = bool((examined.frame[a].isna() != examined.frame[b].isna()).any())
    facts = {"column": b, "other": a, "r": r, "n": n}
    message = Message("'{column}' and '{other}' "
                      "are one column with its values renamed: its evidence is counted twice.", facts)  # fmt: skip
    if same and gaps:
        message = Message("'{column}' is the same as '{other}' in all {n:,} rows where both are known: its evidence "
                          "is counted twice.", facts)  # fmt: skip
    elif same:
        message = Message("'{column}' is the same as '{other}' in every row: its evidence is counted twice.", facts)
    elif r is not None:
        message = Message("'{column}' is '{other}' in other units (r = {r:.6f}): its evidence is counted twice.", facts)
    evidence: tuple[tuple[Message, object], ...] = (
        (Message("rows in which both are known"), n),
        (Message("different values"), int(examined.frame[a][known].nunique())),
    )
    if r is not None:
        evidence = (*evidence, (Message("correlation"), r))
    return Finding(
        "duplicate-column", "warning", (b, a), message, evidence, (SetRole(b, "ignore"), SetRole(a, "ignore"))
    )


def duplicate_rows(examined: ExaminedTable) -> Iterator[Finding]:
    """Rows that stand twice, where the columns' own shares do not make as many pairs."""
    names = [name for name in read_names(examined.schema) if examined.target is None or name != examined.target.name]
    if not len(examined.features) or examined.n < 10:
        return
    codes = np.stack([pd.factorize(examined.frame[name])[0] for name in steps(names)] + [examined.y])
    group = pd.factorize(pd.util.hash_pandas_object(pd.DataFrame(codes.T), index=False))[0]
    sizes = np.bincount(group)
    again = examined.n - len(sizes)  # in a sample fewer than in the table
    met = float((sizes * (sizes - 1)).sum()) / 2.0
    y, k = (examined.y, examined.k) if examined.k else (np.zeros_like(examined.y), 1)
    rows = np.bincount(y, minlength=k).astype(float)
    pairs, alike = rows * (rows - 1.0), np.zeros(k)
    for column in steps(codes[:-1]):
        cells, counts = np.unique(column * k + y, return_counts=True)  # a missing cell is -1, and -1 // k of its class
        met_in = np.bincount(cells % k, counts * (counts - 1.0), minlength=k)
        alike += log(met_in / np.maximum(pairs, 1.0))
    by_chance = float(pairs @ exp(alike)) / 2.0
    if again >= DUPLICATED * examined.n and met >= BEYOND_CHANCE * max(by_chance, 0.1):
        second = second_rows(examined.whole, examined.every)  # in all columns, be they looked at or not
        n = int(second.sum())
        if not n:
            return
        rows_of_class = int(examined.class_rows.sum()) if examined.target else len(second)
        counted = [
            (Message("pairs of equal rows"), int(met)),
            (Message("pairs expected by chance"), round(by_chance, 2)),
        ]
        counted = counted if len(examined.every) == len(examined.schema) else []
        yield Finding(
            "duplicate-rows", "note", (),
            Message("{n} rows stand a second time, class and all ({share:.1%}); a row held out may have been seen.",
                    {"n": n, "share": n / rows_of_class}),
            ((Message("rows that stand a second time"), n), *counted),
            (Repair("drop-duplicates"),), first_rows(second),
        )  # fmt: skip


def read_names(schema: Schema) -> list[str]:
    """The columns that a fit reads in any role."""
    return [v.name for v in schema if v.role in ("feature", "target", "group", "weight", "amount")]


def second_rows(frame: pd.DataFrame, schema: Schema) -> NDArray[np.bool_]:
    """(n,) rows with a class that are equal in all that is read of them to one before."""
    again: NDArray[np.bool_] = frame.duplicated(read_names(schema)).to_numpy(dtype=bool)
    return again & frame[schema.target.name].notna().to_numpy(dtype=bool) if schema.target else again


def _standardized(columns: Sequence[Array]) -> tuple[Array, Array]:
    """(n, d) the columns in units of their sd around their mean, 0 where missing; and (n, d) 1 where known."""
    X = np.stack(columns, axis=1)
    known = ~np.isnan(X)
    count = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, X, 0.0)
    centred = np.where(known, X - centred.sum(axis=0) / count, 0.0)
    sd = np.sqrt((centred**2).sum(axis=0) / count)
    return np.divide(centred, sd, out=np.zeros_like(centred), where=sd > 0), known.astype(float)


def _nearly_linear(Z: Array, M: Array) -> Iterator[tuple[int, int]]:
    """The pairs of columns, known in half of the rows and more, one of which is nearly the other in other units."""
    (n, d), complete = Z.shape, bool(M.all())
    for start in steps(range(0, d, BLOCK)):
        own, known = Z[:, start : start + BLOCK], M[:, start : start + BLOCK]
        r = own.T @ Z / n if complete else pair_correlations(own.T @ Z, (own**2).T @ M, known.T @ Z**2)
        near = np.triu((1.0 - r**2 < NEARLY_LINEAR) & (complete or n / 2.0 <= known.T @ M), start + 1)
        yield from ((int(i) + start, int(j)) for i, j in zip(*np.nonzero(near), strict=True))
