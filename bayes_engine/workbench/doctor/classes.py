"""What is wrong with the classes: too few rows, sizes far apart, values that never occur with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.decision.held_out import TINY
from bayes_engine.language import Listing, Message
from bayes_engine.progress import steps
from bayes_engine.workbench.doctor.cells import same_spelling
from bayes_engine.workbench.doctor.examined_table import ExaminedTable
from bayes_engine.workbench.doctor.finding import (
    BalanceLosses,
    Finding,
    Repair,
    SetParameter,
)

FOLDS = 5
"""Cross-validation here makes so many folds: a class with fewer rows is not in all of them."""
UNEVEN = 9.0
"""Rows of the largest class to one of the smallest from which on deciding for the largest is hard to beat: 90 : 10."""
LOPSIDED = 99.0
"""And from which on the errors of that are hard to see: one row in a hundred."""


def sizes(examined: ExaminedTable) -> Iterator[Finding]:
    """Classes with too few rows, and classes of very different size."""
    if examined.target is None:
        return
    name, rows, labels = examined.target.name, examined.class_rows, examined.target.levels
    n, there = int(rows.sum()), rows > 0
    alone = there & ~_misspelt(labels, rows)  # of a slip of the pen `spellings` speaks
    need = rows_needed(n)
    rare = np.flatnonzero(rare_classes(labels, rows))
    if rare.size:
        shown = Listing(f"{labels[c]} ({rows[c]})" for c in rare[:6])
        least = int(rows[rare].min())
        evidence = tuple((Message("rows of '{label}'", {"label": str(labels[c])}), int(rows[c])) for c in rare[:6])
        facts = {"n": int(rare.size), "folds": FOLDS, "classes": shown, "least": least}
        message = Message("{n} class(es) have fewer than {folds} rows: {classes}. Every class can be in {least} folds "
                          "at most, and what is learnt of these rests on a handful of rows.", facts)  # fmt: skip
        if least < 2:
            message = Message("{n} class(es) have too few rows to be held out and learnt from at once: {classes}. One "
                              "that has a single row can never be recognized when this row is held out.",
                              facts)  # fmt: skip
        yield Finding(
            "single-row-class" if least < 2 else "rare-class", "serious" if least < 2 and n > TINY else "warning",
            (name,), message, ((Message("folds in which every class can be"), least), *evidence),
            (Repair("drop-rare", name),), examined.shown(np.isin(examined.y, rare)),
        )  # fmt: skip
    held = alone & (rows >= need)  # of the others that was said already, and no loss makes up for it
    held = held if held.sum() > 1 else alone
    if held.sum() < 2:
        return
    most, least_at = int(rows.argmax()), int(np.where(held, rows, n + 1).argmin())
    ratio = float(rows[most] / rows[least_at])
    if ratio >= UNEVEN:
        cost = tuple(
            (label, n / (int(there.sum()) * r) if r else 0.0) for label, r in zip(labels, rows.tolist(), strict=True)
        )
        yield Finding(
            "imbalance", "warning" if ratio >= LOPSIDED else "note", (name,),
            Message("'{label}' has {ratio:.0f} times as many rows as '{other_label}': always deciding for it is right "
                    "in {share:.1%}. If the rare class is the one that matters, say so in the losses.",
                    {"label": str(labels[most]), "ratio": ratio, "other_label": str(labels[least_at]),
                     "share": float(rows[most] / n)}),
            tuple((Message("rows of '{label}'", {"label": str(labels[c])}), int(rows[c]))
                  for c in np.argsort(-rows, kind="stable")[:8] if rows[c]),
            (BalanceLosses(cost),),
        )  # fmt: skip


def rows_needed(n: int) -> int:
    """How many rows a class needs in a table of n."""
    return 2 if n <= TINY else FOLDS


def rare_classes(labels: tuple[Any, ...], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(K,) whether a class has rows, too few to be held out and learnt from, and is no slip of the pen."""
    return (rows > 0) & (rows < rows_needed(int(rows.sum()))) & ~_misspelt(labels, rows)


def _misspelt(labels: tuple[Any, ...], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """(K,) whether a class is a rarer spelling of another."""
    size = dict(zip(labels, rows.tolist(), strict=True))
    slips = {s for g in same_spelling(labels).values() for s in sorted(g, key=lambda label: -size[label])[1:]}
    return np.array([label in slips for label in labels], dtype=bool)


def zero_cells(examined: ExaminedTable) -> Iterator[Finding]:
    """Values that never occur with a class: without smoothing each is a veto."""
    if examined.target is None or examined.k < 2:
        return
    empty: dict[str, int] = {}
    some: list[tuple[str, int, int]] = []  # of millions, a few are kept
    pairs, alone = 0, np.zeros(examined.n, dtype=bool)
    there = np.bincount(examined.y, minlength=examined.k) > 0
    for name, codes in steps(examined.codes.items()):
        table = examined.table(name)
        met = table.sum(axis=1) > 0
        zero = (table == 0) & met[:, None] & there[None, :]
        if zero.any():
            empty[name] = int(zero.sum())
            some += [(name, *divmod(int(cell), examined.k)) for cell in np.flatnonzero(zero)[: 6 - len(some)]]
        pairs += int(met.sum() * there.sum())
        alone |= (codes >= 0) & (table[codes, examined.y] == 1)
    if not empty:
        return
    (name, s, c), levels, n = some[0], examined.target.levels, sum(empty.values())
    size = int(examined.table(name)[s].sum())
    yield Finding(
        "zero-cells", "warning", tuple(empty),
        Message("{n} of {all} pairs of a value and a class never occur together, such as {column} = '{level}' "
                "({size} row(s)) and '{label}': without smoothing such a value rules the class out, whatever else is "
                "known.",
                {"n": n, "all": pairs, "column": name, "level": str(examined.schema[name].levels[s]), "size": size,
                 "label": str(levels[c])}),
        ((Message("pairs that never occur"), n),
         (Message("rows that would rule out their own class if left out"), int(alone.sum())),
         *((Message("{column} = '{level}' with '{label}'",
                    {"column": name, "level": str(examined.schema[name].levels[s]), "label": str(levels[c])}), 0)
           for name, s, c in some)),
        (SetParameter("smoothing", "all"), SetParameter("smoothing", "zero-only")), examined.shown(alone),
    )  # fmt: skip
