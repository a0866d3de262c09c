"""A sheet on EM: one E step and one M step of a mixture of two normal distributions (Zhou, §7.6; Bishop, §9.2.2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from bayes_engine.language import Message
from bayes_engine.logspace import Array, exp
from bayes_engine.workbench.exercises.sheet import Drawn, ExerciseSheet, Part, Short, blanks

ROWS = 5
"""Values of the column that are drawn."""
TRIES = 200
NO_WEIGHT = Message("That is what the densities alone give: multiply each by its component's weight π.")
HARD = Message("That is hard EM: each value belongs to one component whole. Here it is shared by γ.")
BY_N_LESS_1 = Message("That is what dividing by N₁ − 1 gives. The M step divides by N₁.")
OLD_MEAN = Message("That is the spread about the old mean: take the deviations from the new μ₁.")
VARIANCE = Message("σ is the standard deviation: the variance is its square.")
SHARE = Message("For each component π · p(x | μ, σ); γ₁ is the first's share of the sum of the two.")
TOTAL = Message("Add up γ₁ over all values.")
WEIGHT = Message("Divide N₁ by the number of values.")
MEAN = Message("Add up γ₁ · x over all values and divide by N₁.")
SPREAD = Message("Add up γ₁ · (x − μ₁)² with the new μ₁, and divide by N₁.")


def em_step(drawn: Drawn) -> ExerciseSheet:
    """The sheet with this number: values of a numeric column of the table, or small whole numbers where it has none."""
    rng = drawn.rng()
    column, x = _values(drawn, rng)
    weights = np.array([w := float(rng.choice([0.3, 0.4, 0.6, 0.7])), 1 - w])
    means = _short([x[: ROWS // 2 + 1].mean(), x[ROWS // 2 :].mean()])
    deviations = np.full(2, _short([x.std() / 1.5])[0])

    def solve(short: Short, slip: str) -> Mapping[str, float]:
        spread = deviations**2 if slip == "variance" else deviations
        density = exp(-0.5 * ((x[:, None] - means) / spread) ** 2) / (np.sqrt(2 * np.pi) * spread)
        joint = _each(short, density if slip == "weight" else density * weights)
        gamma = _each(short, joint[:, 0] / joint.sum(axis=1))
        numbers = {f"g{i}": float(g) for i, g in enumerate(gamma)}
        if slip == "hard":
            gamma = (gamma > 0.5).astype(float)
        total = short(float(gamma.sum()))
        mean = short(float(gamma @ x) / total) if total else float("nan")
        about = means[0] if slip == "old mean" else mean
        size = total - 1 if slip == "n−1" else total
        variance = float(gamma @ (x - about) ** 2) / size if size else float("nan")
        return numbers | {"n": total, "pi": total / ROWS, "mu": mean, "s2": variance}

    slips = [
        ("weight", NO_WEIGHT),
        ("hard", HARD),
        ("n−1", BY_N_LESS_1),
        ("old mean", OLD_MEAN),
        ("variance", VARIANCE),
    ]
    shares = {f"g{i}": (Message("γ₁({x})", {"x": f"{value:g}"}), SHARE) for i, value in enumerate(x)}
    estimates = {
        "n": (Message("N₁, the expected number of values of component 1"), TOTAL),
        "pi": (Message("new π₁"), WEIGHT),
        "mu": (Message("new μ₁"), MEAN),
        "s2": (Message("new variance σ₁²"), SPREAD),
    }
    start = pd.DataFrame({"π": weights, "μ": means, "σ": deviations}, index=pd.Index([1, 2], name="k"))
    values = pd.DataFrame([x], columns=[f"x{i}" for i in range(1, ROWS + 1)], index=[column])
    return ExerciseSheet(
        Message("Do one step of EM by hand: a mixture of two normal distributions, begun as the table says."),
        ((Message("The values"), values), (Message("Starting values"), start)),
        (
            Part(
                Message("E step: what share of each value component 1 has"),
                blanks(solve, shares, slips[:1] + slips[4:]),
            ),
            Part(Message("M step: the estimates of component 1"), blanks(solve, estimates, slips)),
        ),
    )


def _values(drawn: Drawn, rng: np.random.Generator) -> tuple[str, Array]:
    """The name of a column and ROWS different values of it, sorted, of three digits."""
    X = drawn.parts.X
    numeric = [v.name for v in drawn.parts.schema.features if v.numeric]
    for _attempt in range(TRIES if numeric else 0):
        name = numeric[rng.integers(len(numeric))]
        known = X[name].dropna().to_numpy(dtype=float)
        if len(known) >= ROWS:
            x = np.sort(_short(rng.choice(known, size=ROWS, replace=False)))
            if len(set(x)) == ROWS:
                return drawn.names.column(name), x
    return "x", np.sort(rng.choice(np.arange(1.0, 13.0), size=ROWS, replace=False))


def _short(values: list[float] | Array) -> Array:
    """Of three significant digits."""
    return np.array([float(f"{value:.3g}") for value in values])


def _each(short: Short, values: Array) -> Array:
    return np.array([short(float(value)) for value in values.ravel()]).reshape(values.shape)
