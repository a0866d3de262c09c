"""What a fitted model believes of one column: its class-conditionals, how much they say of the class, what they cost.

A column's belief is the working of every value it may take, so that a bar and a slip cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.factors import ClassPrior, Factor, GaussianFactor, TableFactor, normal_log_density
from bayes_engine.logspace import Array, exp, log, log_sum
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.table.encode import MISSING, Table, code_dtype
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.working.derive import Density, Fraction, Step, in_order, rows_behind, sources

REACH = 8.0
"""A Gaussian is followed this many standard deviations to either side: 1e-15 of its mass lies beyond."""
NODES = 385
"""In so many steps: the integral is then good to 1e-4 nats."""


@dataclass(frozen=True)
class LevelTable:
    """P(level | class) of a discrete column: one step of the working for each level, classes in the order of `classes`.

    `missing` (C,) weight of the cells left out as unknown. A step whose value is None is the missing cell itself, read
    as a level.
    """

    variable: Variable
    target: str
    classes: tuple[Any, ...]
    steps: tuple[Step, ...]
    missing: tuple[float, ...]

    @property
    def smoothed(self) -> bool:
        """Whether anything was added to a count here."""
        return any(f.added > 0 for f in self.fractions(0))

    def fractions(self, s: int) -> tuple[Fraction, ...]:
        """Where P(level s | class) was counted, for each class."""
        found = tuple(f for f in self.steps[s].sources if isinstance(f, Fraction))
        assert len(found) == len(self.classes)
        return found

    def plain(self, s: int) -> tuple[float | None, ...]:
        """count/total without smoothing, for each class; None for a class without a known cell."""
        return tuple(f.count / f.total if f.total > 0 else None for f in self.fractions(s))


@dataclass(frozen=True)
class Gaussians:
    """p(x | class) of a numeric column: a Gaussian for each class in the order of `classes`.

    `step` is the working at the column's pivot; `missing` (C,) weight of the cells left out; `tied` says that the
    classes share one variance.
    """

    variable: Variable
    target: str
    classes: tuple[Any, ...]
    step: Step
    missing: tuple[float, ...]
    tied: bool

    @property
    def densities(self) -> tuple[Density, ...]:
        """Each class's Gaussian, taken at its mean: `value` is the peak."""
        return tuple(replace(d, x=d.mean) for d in self.step.sources if isinstance(d, Density))


Conditional = LevelTable | Gaussians


def conditional(model: GenerativeClassifier, column: str, classes: Sequence[Any] | None = None) -> Conditional:
    """The class-conditionals of `column` (its discrete or numeric factor), with the classes in the order wanted.

    Raises ParameterError where the model has no factor for the column: it is constant, or no feature.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes, PRESETS
    >>> melons = load_dataset("watermelon3")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> sound = conditional(NaiveBayes(**PRESETS["laplace"]).fit(X, y), "敲声", classes=["是", "否"])
    >>> [(step.value, step.sources[0].count, round(step.factors[0], 4)) for step in sound.steps]
    [('浊响', 6.0, 0.6364), ('沉闷', 2.0, 0.2727), ('清脆', 0.0, 0.0909)]
    """
    order = _order(model, classes)
    named = tuple(model.target_.levels[k] for k in order)
    for factor in _parts(model):
        if isinstance(factor, ClassPrior) or factor.variable.name != column:
            continue
        variable = factor.variable
        if isinstance(factor, GaussianFactor):
            steps = _steps(factor, [variable.pivot], [None], order)
            left_out = model.stats_.class_weight - factor.moments.weight
            return Gaussians(variable, model.target_.name, named, steps[0], in_order(left_out, order), factor.tied)
        values: list[Any] = [*variable.levels, *([None] if factor.missing_is_level else [])]
        codes = [MISSING if v is None else s for s, v in enumerate(values, start=1)]
        steps = _steps(factor, codes, values, order)
        absent = model.stats_.counts.tables[column][:, MISSING]
        left_out = np.zeros_like(absent) if factor.missing_is_level else absent
        return LevelTable(variable, model.target_.name, named, steps, in_order(left_out, order))
    raise ParameterError("the model has no factor for column '{column}': it is constant, or no feature", column=column)


def prior_step(model: GenerativeClassifier, classes: Sequence[Any] | None = None) -> Step:
    """The class prior as a step of the working, with the classes in the order wanted.

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> model = NaiveBayes(priors="laplace").fit(pd.DataFrame({"x": ["a", "b", "b"]}), ["no", "yes", "yes"])
    >>> [(f.count, f.added, f.total) for f in prior_step(model, ["yes", "no"]).sources]
    [(2.0, 1.0, 3.0), (1.0, 1.0, 3.0)]
    """
    order = _order(model, classes)
    prior = next(f for f in _parts(model) if isinstance(f, ClassPrior))
    nothing = Table(Schema(()), (), 1)
    ((row, term),) = prior.rows(nothing)
    found = sources(prior, nothing)
    return Step(row, None, in_order(exp(term[0]), order), tuple(found[k] for k in order))


def information(model: GenerativeClassifier) -> dict[str, float]:
    """I(x_j; c) in nats for each column with a factor, under the fitted model (prior and smoothing included).

    I = Σ_c P(c) E[log p(x|c)/p(x)], p(x) = Σ_c P(c) p(x|c): the evidence a known cell is expected to give for the true
    class; 0 where the class-conditionals are alike, at most the entropy of the prior. A sum over levels, or an integral
    by the trapezoid rule.

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = pd.DataFrame({"tells all": ["a", "b"] * 2, "tells nothing": ["a", "a", "b", "b"]})
    >>> model = NaiveBayes(smoothing="none").fit(X, ["no", "yes"] * 2)
    >>> {name: round(nats, 4) for name, nats in information(model).items()}
    {'tells all': 0.6931, 'tells nothing': 0.0}
    """
    parts = _parts(model)
    log_prior = log(next(f.p for f in parts if isinstance(f, ClassPrior)))
    found = {}
    for factor in parts:
        if isinstance(factor, TableFactor):
            found[factor.variable.name] = _of_table(factor.log_cpt, log_prior)
        elif isinstance(factor, GaussianFactor):
            found[factor.variable.name] = _of_gaussians(factor.moments.offset, factor.variance, log_prior)
    return found


def class_entropy(model: GenerativeClassifier) -> float:
    """H(c) = −Σ_c P(c) log P(c) of the model's prior in nats: what there is to know of the class before any column.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> round(class_entropy(NaiveBayes().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])), 4)
    0.6931
    """
    p = next(f.p for f in _parts(model) if isinstance(f, ClassPrior))
    return float(-(p * np.where(p > 0, log(p), 0.0)).sum())


def _of_table(log_cpt: Array, log_prior: Array) -> float:
    """Σ_c Σ_s P(c) P(s|c) log P(s|c)/P(s)."""
    joint = exp(log_prior[:, None] + log_cpt)
    ratio = np.subtract(log_cpt, log(joint.sum(axis=0)), out=np.zeros_like(joint), where=joint > 0)
    return max(float((joint * ratio).sum()), 0.0)


def _of_gaussians(mean: Array, variance: Array, log_prior: Array) -> float:
    """∫ Σ_c P(c) N(x; μ_c, σ_c²) log N(x; μ_c, σ_c²)/p(x) dx, on nodes that follow every class at its own scale."""
    present = np.isfinite(log_prior)
    mean, variance, log_prior = mean[present, None], variance[present, None], log_prior[present, None]
    x = np.sort((mean + np.sqrt(variance) * np.linspace(-REACH, REACH, NODES)).ravel())
    terms = normal_log_density(x, mean, variance)  # (C, nodes)
    excess = terms - log_sum(terms + log_prior, axis=0)
    return max(float(np.trapezoid((exp(terms + log_prior) * excess).sum(axis=0), x)), 0.0)


# how many numbers -----------------------------------------------------------------------------------------------


class Size(NamedTuple):
    """How many numbers the discrete columns cost, as one joint table and as factors. Cells are what a table holds;
    free parameters are what is left to choose when each distribution must sum to 1 (the class prior included)."""

    joint_cells: int
    factor_cells: int
    joint_free: int
    factor_free: int


def size(levels: Sequence[int], classes: int) -> Size:
    """K·ΠS_j and K·ΣS_j cells; K·ΠS_j − 1 and (K − 1) + K·Σ(S_j − 1) free parameters, of S_j `levels` and K `classes`.

    Watermelon 2.0: five columns of three levels, one of two, two classes.

    >>> size([3, 3, 3, 3, 3, 2], 2)
    Size(joint_cells=972, factor_cells=34, joint_free=971, factor_free=23)
    """
    joint = classes * prod(levels)
    return Size(joint, classes * sum(levels), joint - 1, classes - 1 + classes * (sum(levels) - len(levels)))


def model_size(model: GenerativeClassifier) -> tuple[Size, int]:
    """The size of the discrete part of a fitted model, and the free parameters of its numeric part: a mean and a
    variance for each class and column (one variance a column where it is shared).

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = [[0.0, 1.0], [1.0, 5.0], [2.0, 4.0], [2.5, 4.5]]
    >>> model_size(NaiveBayes().fit(X, ["a", "a", "b", "b"]))[1]
    8
    """
    tables = [f.counts.shape[1] for f in _parts(model) if isinstance(f, TableFactor)]
    k = len(model.target_.levels)
    return size(tables, k), sum(k + 1 if f.tied else 2 * k for f in _parts(model) if isinstance(f, GaussianFactor))


# the values behind ----------------------------------------------------------------------------------------------


def rows_of(table: Conditional, frame: pd.DataFrame, step: Step, label: Any) -> pd.DataFrame:
    """The rows of `frame` (features and target) that `step` of class `label` was counted from; for a Gaussian with the
    deviations from the mean it uses, which is the weighted one where rows have weights."""
    rows = rows_behind(frame, table.target, step, label)
    source = step.sources[table.classes.index(label)]
    if not isinstance(source, Density):
        return rows
    deviation = rows[step.row.child].astype(float) - source.mean
    mark = "′" if "x − x̄" in rows or "(x − x̄)²" in rows else ""  # a table may have columns of that name
    return rows.assign(**{f"x − x̄{mark}": deviation, f"(x − x̄)²{mark}": deviation**2})


def values_of(table: Gaussians, X: pd.DataFrame, y: pd.Series) -> tuple[Array, ...]:
    """The known values behind each class's Gaussian, sorted."""
    x = X[table.variable.name].to_numpy(dtype=float, na_value=np.nan)
    labels = y.to_numpy()
    return tuple(np.sort(x[(labels == c) & ~np.isnan(x)]) for c in table.classes)


def curve(density: Density, low: float, high: float, points: int = 161) -> tuple[Array, Array]:
    """x and p(x|class) of one Gaussian from `low` to `high`, with most points near its mean so that a narrow one keeps
    its peak.

    >>> x, p = curve(Density(0.0, 9, 0.0, 9.0, 0, 1.0, False), -1.0, 4.0)
    >>> float(x[0]), float(x[-1]), round(float(p.max()), 4)
    (-1.0, 4.0, 0.3989)
    """
    near = density.mean + density.sd * np.linspace(-4.5, 4.5, points)
    x = np.unique(np.concatenate([[low, high], near[(near > low) & (near < high)]]))
    return x, exp(normal_log_density(x, np.array(density.mean), np.array(density.variance)))


def histogram(values: Sequence[Array], low: float, high: float) -> tuple[Array, tuple[Array, ...]]:
    """Edges of common bins from `low` to `high`, and each class's relative frequency per unit (its area is 1).

    As many bins as the square root of the number of values, at most 40.

    >>> edges, (heights,) = histogram([np.array([0.0, 1.0, 1.5, 4.0])], 0.0, 4.0)
    >>> edges.tolist(), heights.tolist()
    ([0.0, 2.0, 4.0], [0.375, 0.125])
    """
    bins = min(max(int(np.sqrt(sum(map(len, values)))), 1), 40)
    edges = np.linspace(low, high, bins + 1)
    counts = [np.histogram(v, edges)[0] for v in values]
    return edges, tuple(c / (max(c.sum(), 1) * np.diff(edges)) for c in counts)


def thinned(values: Array, most: int) -> Array:
    """At most `most` of sorted `values`, evenly by rank: the ends and the shape stay.

    >>> thinned(np.arange(9.0), 3).tolist()
    [0.0, 4.0, 8.0]
    """
    if len(values) <= most:
        return values
    return np.asarray(values[np.linspace(0, len(values) - 1, most).round().astype(int)])


def _parts(model: GenerativeClassifier) -> tuple[Any, ...]:
    parts: tuple[Factor, ...] = model.factor_.parts  # type: ignore[attr-defined]
    return parts


def _order(model: GenerativeClassifier, classes: Sequence[Any] | None) -> list[int]:
    own = list(model.target_.levels)
    return [own.index(c) for c in (own if classes is None else classes)]


def _steps(
    factor: TableFactor | GaussianFactor, cells: Sequence[Any], values: Sequence[Any], order: Sequence[int]
) -> tuple[Step, ...]:
    """The working of each of `cells` (codes or numbers), shown as `values`."""
    dtype: Any = code_dtype(len(factor.variable.levels)) if factor.variable.discrete else float
    column: NDArray[Any] = np.array(cells, dtype=dtype)
    table = Table(Schema((factor.variable,)), (column,), len(column))
    return tuple(_each(factor, table, values, order))


def _each(
    factor: TableFactor | GaussianFactor, table: Table, values: Sequence[Any], order: Sequence[int]
) -> Iterator[Step]:
    ((row, term),) = factor.rows(table)
    for i, value in enumerate(values):
        found = sources(factor, table.take(slice(i, i + 1)))
        yield Step(row, value, in_order(exp(term[i]), order), tuple(found[k] for k in order))
