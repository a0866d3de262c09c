"""A sheet on TAN: the conditional mutual information of each pair of three columns, and the tree they give (Zhou,
eq. 7.22; Friedman, Geiger & Goldszmidt 1997)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from bayes_engine.errors import TableError
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.structure.chow_liu import terms_of
from bayes_engine.workbench.exercises.sheet import Choice, Drawn, ExerciseSheet, Part, Short, blanks, on_screen

ROWS, COLUMNS, LEVELS, CLASSES = 14, 3, 3, 3
"""So many rows are drawn of three columns, each of at most so many levels, and of at most so many classes."""
TRIES = 200
CLEAR = 0.02
"""Bits by which the two lightest pairs differ at least, so that rounding does not change the tree."""
NO_CLASS_WEIGHT = Message(
    "That is the plain sum over the classes, as some printings have eq. 7.22: weigh each class's sum by P(c)."
)
OVERALL = Message("That is the mutual information without the class: count within each class, then weigh by P(c).")
IN_NATS = Message("That is in nats: take logarithms to base 2.")
SMOOTHED = Message("That is what adding 1 to every count gives. Not so here.")
WITHIN = Message(
    "Take the rows of the class. For each pair of values that occurs: its share, times log₂ of that share over the "
    "product of the two values' own shares; add up."
)
WEIGHED = Message("Multiply each class's sum by the class's share of all rows; add up.")
LIGHTEST = Message("The maximum spanning tree keeps the two heaviest pairs.")
HEAVIEST = Message("That is the heaviest pair. The maximum spanning tree leaves out the lightest.")
AWAY = Message("Each edge points away from the root: follow the tree from there.")


def spanning_tree(drawn: Drawn) -> ExerciseSheet:
    """The sheet with this number. Raises TableError where the table has no three columns of two or three levels."""
    columns, counts, rows = _drawn(drawn)
    names = {name: drawn.names.column(name) for name in columns}
    target = drawn.parts.target.name
    classes = [drawn.names.level(target, c) for c in pd.unique(rows[target])]
    pairs = list(combinations(range(COLUMNS), 2))
    shares = next(iter(counts.values())).sum(axis=(1, 2)) / ROWS

    def solve(short: Short, slip: str) -> Mapping[str, float]:
        numbers: dict[str, float] = {}
        unit = 1.0 if slip == "nats" else np.log(2.0)
        for i, pair in enumerate(pairs):
            table = counts[pair] + (slip == "smoothed")
            within = [short(_information(of_class) / unit) for of_class in table]
            weights = np.ones(len(within)) if slip == "unweighted" else table.sum(axis=(1, 2)) / table.sum()
            numbers |= {f"i{i}_{k}": value for k, value in enumerate(within)}
            numbers[f"i{i}"] = float(weights @ within)
            if slip == "overall":
                numbers[f"i{i}"] = _information(table.sum(axis=0)) / unit
        return numbers

    slips = [("unweighted", NO_CLASS_WEIGHT), ("overall", OVERALL), ("nats", IN_NATS), ("smoothed", SMOOTHED)]
    parts, labels = [], []
    for i, pair in enumerate(pairs):
        a, b = (names[columns[j]] for j in pair)
        labels.append(f"{a} – {b}")
        asked = {
            f"i{i}_{k}": (Message("Within {name}, in bits", {"name": name}), WITHIN) for k, name in enumerate(classes)
        }
        asked[f"i{i}"] = (Message("I({a}; {b} | class), in bits", {"a": a, "b": b}), WEIGHED)
        parts.append(Part(Message("The pair {a}, {b}", {"a": a, "b": b}), blanks(solve, asked, slips)))
    weights = [solve(float, "")[f"i{i}"] for i in range(len(pairs))]
    out = int(np.argmin(weights))
    left_out = Choice(
        "out", Message("Which pair is left out of the tree?"), tuple(labels), out, LIGHTEST,
        {int(np.argmax(weights)): HEAVIEST},
    )  # fmt: skip
    tree = Part(Message("The maximum spanning tree"), (left_out, *_parents(pairs, out, [names[c] for c in columns])))
    task = Message(
        "Learn a TAN tree from these {n} rows: how much the columns say of each other within the classes, and which "
        "pairs become edges. P(c) of the classes: {shares}.",
        {
            "n": ROWS,
            "shares": ", ".join(
                f"{name} {share * ROWS:.0f}/{ROWS}" for name, share in zip(classes, shares, strict=True)
            ),
        },
    )
    return ExerciseSheet(task, ((Message("The rows"), on_screen(rows, drawn.names)),), (*parts, tree))


def _information(table: Array) -> float:
    """I(a; b) in nats of a table of counts (S_a, S_b)."""
    return max(float(terms_of(table[None]).sum()), 0.0)


def _parents(pairs: list[tuple[int, int]], out: int, names: list[str]) -> list[Choice]:
    """With the first column as the root: which parent besides the class the two others have."""
    edges = [pair for i, pair in enumerate(pairs) if i != out]
    neighbours = {j: [a + b - j for a, b in edges if j in (a, b)] for j in range(COLUMNS)}
    made = []
    for j in (1, 2):
        parent = 0 if 0 in neighbours[j] else neighbours[j][0]
        options = [k for k in range(COLUMNS) if k != j]
        prompt = Message(
            "The root is {root}: which parent besides the class has {name}?", {"root": names[0], "name": names[j]}
        )
        made.append(Choice(f"parent{j}", prompt, tuple(names[k] for k in options), options.index(parent), AWAY, {}))
    return made


def _drawn(drawn: Drawn) -> tuple[list[str], dict[tuple[int, int], Array], pd.DataFrame]:
    """Three columns, the counts (C, S_a, S_b) of each pair, and the rows as on screen."""
    parts, rng, target = drawn.parts, drawn.rng(), drawn.parts.target.name
    few = [v.name for v in parts.schema.features if v.discrete and 2 <= parts.X[v.name].nunique() <= LEVELS]
    there = parts.X[few].notna().all(axis=1) if few else pd.Series(dtype=bool)
    classes = parts.y[there].value_counts().index[:CLASSES] if few else pd.Index([])
    there &= parts.y.isin(classes)
    if len(few) < COLUMNS or len(classes) < 2:
        raise TableError(
            "an exercise on the tree needs three columns of two or three levels and rows of two classes: this table "
            "has none; take play tennis or the watermelons"
        )
    usable = np.flatnonzero(there.to_numpy())
    for _attempt in range(TRIES):
        columns = [few[j] for j in np.sort(rng.permutation(len(few))[:COLUMNS])]
        chosen = np.sort(rng.choice(usable, size=ROWS))
        y = parts.y.iloc[chosen]
        if y.value_counts().min() < 4 or y.nunique() < 2:
            continue
        codes = {name: pd.factorize(parts.X[name].iloc[chosen], sort=False)[0] for name in columns}
        counts = _counts(pd.factorize(y)[0], [codes[name] for name in columns])
        weights = sorted(
            sum(float(t.sum()) / ROWS * _information(t) for t in table) / np.log(2.0) for table in counts.values()
        )
        if weights[1] - weights[0] >= CLEAR and weights[0] > 0:
            rows = pd.concat([parts.X[columns].iloc[chosen], y.to_frame(target)], axis=1)
            return columns, counts, rows.set_axis(pd.RangeIndex(1, ROWS + 1))
    raise TableError("no exercise on the tree could be drawn from this table; take one with more rows of each class")


def _counts(y: np.typing.NDArray[np.intp], codes: list[np.typing.NDArray[np.intp]]) -> dict[tuple[int, int], Array]:
    tables = {}
    for i, j in combinations(range(len(codes)), 2):
        table = np.zeros((y.max() + 1, codes[i].max() + 1, codes[j].max() + 1))
        np.add.at(table, (y, codes[i], codes[j]), 1.0)
        tables[i, j] = table
    return tables
