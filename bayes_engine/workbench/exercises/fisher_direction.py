"""A sheet on Fisher's discriminant: means, within-class scatter, direction and threshold of two classes in the plane
(Zhou, eq. 3.32–3.39; Bishop, §4.1.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from bayes_engine.errors import TableError
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.workbench.exercises.sheet import Drawn, ExerciseSheet, Part, Short, blanks

ROWS = 4
"""Rows of each class that are drawn."""
TRIES = 200
ONE_CLASS = Message("That is the scatter of the first class alone: S_w adds up both classes.")
COVARIANCE = Message("That is divided by the number of rows. S_w is the sum; the direction would be the same.")
TOTAL = Message(
    "That is the scatter about the common mean, S_t = S_w + S_b. Take each class's deviations from its own mean."
)
NO_INVERSE = Message("That is the direction from mean to mean. S_w⁻¹ turns it.")
SIGN = Message("A sign in the inverse: off the diagonal of S_w⁻¹ stands −s₁₂.")
TURNED = Message("That is w₁ for w₂ = 1. Asked is w₂ for w₁ = 1.")
MEAN = Message("Add up the column over the rows of the class; divide by their number.")
SCATTER = Message("For each row the product of its two deviations from its own class's mean; add up over both classes.")
DIRECTION = Message("w = S_w⁻¹ (mean of class 1 − mean of class 2); then divide both parts by w₁.")
MIDDLE = Message("Project the two means on w, with w₁ = 1, and take the middle.")


def fisher_direction(drawn: Drawn) -> ExerciseSheet:
    """The sheet with this number: rows of two numeric columns and two classes of the table, or small whole numbers
    where it has none. Raises TableError where the table has one class alone."""
    if len(drawn.classes) < 2:
        raise TableError("an exercise on Fisher's discriminant needs a target with two classes or more")
    columns, classes, X = _points(drawn, drawn.rng())
    (a, b), (first, second) = columns, classes

    def solve(short: Short, slip: str) -> Mapping[str, float]:
        means = np.array([[short(float(v)) for v in points.mean(axis=0)] for points in X])
        centres = np.array([X.mean(axis=(0, 1))] * 2) if slip == "total" else means
        used = X[:1] if slip == "one class" else X
        away = (used - centres[: len(used), None]).reshape(-1, 2)
        S = np.vectorize(short, otypes=[float])(away.T @ away / (2 * ROWS if slip == "covariance" else 1))
        inverse = np.array([[S[1, 1], -S[0, 1]], [-S[0, 1], S[0, 0]]])
        if slip == "sign":
            inverse[0, 1] = inverse[1, 0] = S[0, 1]
        difference = means[0] - means[1]
        w = difference if slip == "no inverse" else inverse @ difference
        up, down = (w[0], w[1]) if slip == "turned" else (w[1], w[0])
        slope = short(float(up / down)) if down else math.inf
        numbers = {f"m{k}{j}": float(means[k, j]) for k in (0, 1) for j in (0, 1)}
        numbers |= {"s11": S[0, 0], "s12": S[0, 1], "s22": S[1, 1], "w": slope}
        return numbers | {"t": float(means.mean(axis=0) @ [1.0, slope])}

    slips = [
        ("one class", ONE_CLASS), ("covariance", COVARIANCE), ("total", TOTAL),
        ("no inverse", NO_INVERSE), ("sign", SIGN), ("turned", TURNED),
    ]  # fmt: skip
    means = {
        f"m{k}{j}": (Message("mean of {column}, {name}", {"column": column, "name": name}), MEAN)
        for k, name in enumerate(classes)
        for j, column in enumerate(columns)
    }
    scatter = {
        "s11": (Message("s₁₁, of {a} with itself", {"a": a}), SCATTER),
        "s12": (Message("s₁₂, of {a} with {b}", {"a": a, "b": b}), SCATTER),
        "s22": (Message("s₂₂, of {b} with itself", {"b": b}), SCATTER),
    }
    direction = {
        "w": (Message("w₂ for w₁ = 1"), DIRECTION),
        "t": (Message("the threshold halfway between the projected means"), MIDDLE),
    }
    rows = pd.DataFrame(X.reshape(-1, 2), columns=[a, b])
    rows.insert(0, "c" if "c" not in (a, b) else "c′", [first] * ROWS + [second] * ROWS)
    rows.index = pd.RangeIndex(1, 2 * ROWS + 1)
    return ExerciseSheet(
        Message("Find Fisher's direction by hand: w maximizes the distance of the projected means over their scatter."),
        ((Message("The rows"), rows),),
        (
            Part(Message("Means"), blanks(solve, means, [])),
            Part(Message("Within-class scatter S_w"), blanks(solve, scatter, slips[:3])),
            Part(Message("Direction and threshold"), blanks(solve, direction, [s for s in slips if s[0] != "total"])),
        ),
    )


def _points(drawn: Drawn, rng: np.random.Generator) -> tuple[tuple[str, str], tuple[str, str], Array]:
    """Two columns, two classes, and (2, ROWS, 2) numbers of three digits with a scatter that can be inverted."""
    parts, target = drawn.parts, drawn.parts.target.name
    numeric = [v.name for v in parts.schema.features if v.numeric]
    sizes = parts.y.value_counts()
    enough = [level for level in parts.target.levels if sizes.get(level, 0) >= ROWS]
    for _attempt in range(TRIES if len(numeric) >= 2 and len(enough) >= 2 else 0):
        pair = [numeric[j] for j in np.sort(rng.permutation(len(numeric))[:2])]
        two = [enough[k] for k in np.sort(rng.permutation(len(enough))[:2])]
        known = parts.X[pair].notna().all(axis=1).to_numpy()
        of = [parts.X[pair][known & (parts.y == level).to_numpy()].to_numpy(dtype=float) for level in two]
        if min(map(len, of)) >= ROWS:
            X = np.array([points[rng.choice(len(points), size=ROWS, replace=False)] for points in of])
            X = np.vectorize(lambda v: float(f"{v:.3g}"), otypes=[float])(X)
            if _fine(X):
                names = (drawn.names.column(pair[0]), drawn.names.column(pair[1]))
                return names, (drawn.names.level(target, two[0]), drawn.names.level(target, two[1])), X
    while True:
        X = rng.integers(1, 10, size=(2, ROWS, 2)).astype(float)
        if _fine(X):
            return ("x₁", "x₂"), (drawn.classes[0], drawn.classes[1]), X


def _fine(X: Array) -> bool:
    """Whether S_w is well conditioned and both parts of w are far from 0."""
    away = (X - X.mean(axis=1, keepdims=True)).reshape(-1, 2)
    S = away.T @ away
    scale = np.sqrt(np.diag(S))
    if not scale.all() or abs(S[0, 1] / scale.prod()) > 0.95:
        return False
    w = np.linalg.solve(S, X[0].mean(axis=0) - X[1].mean(axis=0)) * scale
    return bool(np.abs(w).min() > 0.1 * np.abs(w).max())
