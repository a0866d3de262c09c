"""What a fitted model believes of one column: its class-conditionals, and how much they say of the class.

A column's belief is the working of every value it may take, so that a bar and a slip cannot disagree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Row
from bayes_engine.factors.gaussian import Density, GaussianLeaf
from bayes_engine.factors.leaf import Domain, Leaf
from bayes_engine.factors.sources import Fraction, Source, Summed
from bayes_engine.inference.averaged import AveragedFactor, JointLeaf
from bayes_engine.inference.directed import DirectedFactor
from bayes_engine.logspace import Array, exp, log
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.stats import families
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.table.discretize import Split, mdlp_trace
from bayes_engine.table.encode import MISSING, Table, code_dtype
from bayes_engine.table.schema import Schema, Variable, numbers
from bayes_engine.workbench.derivation.derive import Cell, WorkingStep, class_order, in_order
from bayes_engine.workbench.derivation.likelihoods import ClassConditionals, Other, likelihood
from bayes_engine.workbench.derivation.model_leaves import leaf_of, prior_and_leaves, prior_of


@dataclass(frozen=True)
class LevelConditionals(ClassConditionals):
    """P(level | class) of a discrete column: one step of the working for each level, classes in the order of `classes`.

    A step whose value is None is the missing cell itself, read
    as a level. `given` are the cells of the column's other parents that all of it is conditioned on; `joint` says that
    it is P(class, level), as AODE has of a super-parent.
    """

    steps: tuple[WorkingStep, ...]
    given: tuple[Cell, ...] = ()
    joint: bool = False

    @property
    def alike(self) -> bool:
        """Whether the class is no parent of the column: P(level | parents), the same for every class."""
        return self.steps[0].alike

    @property
    def smoothed(self) -> bool:
        """Whether anything was added to a count here."""
        return any(f.pseudo_total > 0 for f in self.fractions(0))

    def fractions(self, s: int) -> tuple[Fraction, ...]:
        """Where P(level s | class) was counted, for each class."""
        fractions = tuple(f for f in self.steps[s].sources if isinstance(f, Fraction))
        assert len(fractions) == len(self.classes)
        return fractions

    def plain(self, s: int) -> tuple[float | None, ...]:
        """count/total without smoothing, for each class; None for a class without a known cell."""
        return tuple(f.count / f.total if f.total > 0 else None for f in self.fractions(s))


class Smoothed(NamedTuple):
    """A class's Gaussian in a cell of the parents: the `mean` of the rows there alone, and the Gaussian of the `whole`
    class, which the pseudo-count `alpha` has; `borrowed` where that one stands in, as the cell has too few rows."""

    mean: float
    whole: Density
    alpha: float
    borrowed: bool


@dataclass(frozen=True)
class GaussianConditionals(ClassConditionals):
    """p(x | class) of a numeric column: a Gaussian for each class in the order of `classes`.

    `step` is the working at the column's pivot; `tied` says that the
    classes share one variance. `given` are the cells of the column's other parents; of each class `smoothed` then says
    what the rows there alone have, and what they are smoothed towards.
    """

    step: WorkingStep
    tied: bool
    given: tuple[Cell, ...] = ()
    smoothed: tuple[Smoothed, ...] = ()

    def borrowed(self, k: int) -> bool:
        """Whether the Gaussian of the whole k-th class stands in, as the parents' cell has too few of its rows."""
        return bool(self.smoothed) and self.smoothed[k].borrowed

    @property
    def densities(self) -> tuple[Density, ...]:
        """Each class's Gaussian, taken at its mean: `value` is the peak."""
        return tuple(replace(d, x=d.mean) for d in self.step.sources if isinstance(d, Density))

    @property
    def means(self) -> tuple[float, ...]:
        """The mean of each class's own rows, before any smoothing."""
        alone = [None if s.borrowed else s.mean for s in self.smoothed] or [None] * len(self.classes)
        return tuple(d.mean if m is None else m for m, d in zip(alone, self.densities, strict=True))


Conditional = LevelConditionals | GaussianConditionals
"""What has its own form of class-conditional otherwise is a `likelihoods.Other`."""


def conditional(
    model: GenerativeClassifier,
    column: str,
    classes: Sequence[Any] | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    super_parent: str | None = None,
) -> Conditional | Other:
    """The class-conditionals of `column`, with the classes in the order wanted: before any weight of the column, and of
    a column too that a selection left out.

    Where the column has other parents it is P(column | class, parents) at the parents' levels in `given` (None is the
    missing cell), of a parent that is not there at the most frequent one. Of AODE, the model of `super_parent` (by
    default the first), and for the super-parent itself P(class, column).

    Raises ParameterError where the model has no factor for the column: it is constant, or no feature.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes, PRESETS
    >>> melons = load_dataset("watermelon3")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> sound = conditional(NaiveBayes(**PRESETS["laplace"]).fit(X, y), "敲声", classes=["是", "否"])
    >>> [(step.value, step.sources[0].count, round(step.factors[0], 4)) for step in sound.steps]
    [('浊响', 6.0, 0.6364), ('沉闷', 2.0, 0.2727), ('清脆', 0.0, 0.0909)]
    """
    order = class_order(model.target_.levels, classes)
    named = tuple(model.target_.levels[k] for k in order)
    leaf: Any = leaf_of(model, column, super_parent)
    if leaf.form not in ("table", "gaussian"):
        return likelihood(model, column, classes)
    held = tuple(Cell(d.variable, _standing(model.stats_, d, given or {})) for d in leaf.parents)
    if leaf.form == "gaussian":
        return _gaussians(model, leaf, named, order, held)
    variable, missing_is_level = leaf.variable, leaf.domain.missing_is_level
    values: list[Any] = [*variable.levels, *([None] if missing_is_level else [])]
    absent = np.zeros(len(order)) if missing_is_level else _left_out(model.stats_, column, held)
    if not leaf.of_class:
        absent = np.full(len(order), absent.sum())
    joint = isinstance(leaf, JointLeaf)
    steps = _steps(model, leaf, [_code(variable, v) for v in values], values, order, held)
    return LevelConditionals(variable, model.target_.name, named, in_order(absent, order), steps, held, joint)


def _gaussians(
    model: GenerativeClassifier,
    leaf: GaussianLeaf,
    classes: tuple[Any, ...],
    order: Sequence[int],
    held: tuple[Cell, ...],
) -> GaussianConditionals:
    variable, stats, target = leaf.variable, model.stats_, model.target_.name
    (step,) = _steps(model, leaf, [variable.pivot], [None], order, held)
    if leaf.cells is None:
        left_out = stats.class_weight[list(order)] - np.array([cast(Density, d).n for d in step.sources])
        return GaussianConditionals(variable, target, classes, tuple(left_out.tolist()), step, leaf.rule.tied)
    (plain,) = _steps(model, leaf.alone, [variable.pivot], [None], order, ())
    of_class = [_as_its_own(d) for d in plain.sources]
    smoothed = tuple(_smoothed(leaf, leaf.cells, held, k, d) for k, d in zip(order, of_class, strict=True))
    densities = [s.whole if s.borrowed else _as_its_own(d) for s, d in zip(smoothed, step.sources, strict=True)]
    absent = in_order(_left_out(stats, variable.name, held), order)
    return GaussianConditionals(
        variable, target, classes, absent, replace(step, sources=tuple(densities)), False, held, smoothed
    )


def _smoothed(leaf: GaussianLeaf, cells: ColumnMoments, held: tuple[Cell, ...], k: int, whole: Density) -> Smoothed:
    """How the k-th class's Gaussian at the parents' cells came about."""
    places = [choices(d).index(cell.value) for d, cell in zip(leaf.parents, held, strict=True)]
    i = np.ravel_multi_index((k, *places), (len(leaf.variance), *(d.size for d in leaf.parents)))
    outside: Any = (k, *(d.size for d in leaf.parents))  # an unseen value's place: the class's own
    here: Any = (k, *places)
    borrowed = all(a[here] == a[outside] for a in leaf.gaussians) and cells.weight[i] < whole.n
    mean = float(cells.offset[i]) + leaf.variable.pivot
    return Smoothed(mean, whole, leaf.rule.rows, borrowed)


def _as_its_own(source: Source) -> Density:
    """The density, `replaced` unless its variance is that of the rows it speaks of, whichever rows those are."""
    source = cast(Density, source)
    left = source.n - source.ddof
    own = left > 0 and math.isclose(source.variance, source.m2 / left, rel_tol=1e-9)
    return replace(source, replaced=not own)


def super_parents(model: GenerativeClassifier) -> tuple[str, ...]:
    """The columns that AODE averages over, most informative of the class first; none for another model."""
    factor = model.factor_
    if not isinstance(factor, AveragedFactor):
        return ()
    nats = information(model)
    return tuple(sorted((m.name for m in factor.members), key=lambda name: -nats[name]))


def parents(model: GenerativeClassifier, column: str, super_parent: str | None = None) -> tuple[Domain, ...]:
    """What a column depends on besides the class; nothing for a column without a factor.

    >>> from bayes_engine import TAN
    >>> X = pd.DataFrame({"a": list("xxyyxxyy"), "b": list("xyyxxyyx")})
    >>> [d.variable.name for d in parents(TAN(root="a").fit(X, list("nynynyny")), "b")]
    ['a']
    """
    try:
        return leaf_of(model, column, super_parent).parents
    except ParameterError:
        return ()


def choices(domain: Domain) -> tuple[Any, ...]:
    """The values of a parent: its levels, and None for the missing cell where that is one."""
    return (*domain.variable.levels, *([None] if domain.missing_is_level else []))


def levels_of(model: GenerativeClassifier, case: pd.DataFrame) -> dict[str, Any]:
    """The level of each discrete column that a case (a frame of one row) is in, of a column of intervals the interval;
    without the cells that are not known."""
    table = model._encode(case, "marginalize")
    codes = {v.name: int(table[v.name][0]) for v in table.schema if v.discrete}
    return {n: table.schema[n].levels[c - 1] for n, c in codes.items() if 1 <= c <= len(table.schema[n].levels)}


def best_cut(variable: Variable, x: pd.Series, y: pd.Series, weight: Any = None) -> Split | None:
    """The best cut of a whole column of numbers by the criterion of Fayyad & Irani, made or not; None where there is
    nothing to cut.

    >>> best_cut(Variable("x", "continuous"), pd.Series([1.0, 2.0, 3.0, 4.0]), pd.Series(list("abab"))).accepted
    False
    """
    codes, classes = pd.factorize(y)
    trace = mdlp_trace(numbers(x, variable), codes, len(classes), weight)
    return trace[0] if trace else None


def prior_step(model: GenerativeClassifier, classes: Sequence[Any] | None = None) -> WorkingStep:
    """The class prior as a step of the working, with the classes in the order wanted; where the class has parents in a
    network its marginal there, which is not counted but summed."""
    order = class_order(model.target_.levels, classes)
    prior = prior_of(model)
    if isinstance(model.factor_, DirectedFactor) and model.factor_.above is not None:
        p = tuple(model.prior_by_class[model.target_.levels[k]] for k in order)
        return WorkingStep(Row(model.target_.name, model.target_.name, (), "prior"), None, p, tuple(map(Summed, p)))
    nothing = Table(Schema(()), (), 1)
    ((row, term),) = prior.rows(nothing)
    sources = prior.sources(nothing)
    return WorkingStep(row, None, in_order(exp(term[0]), order), tuple(sources[k] for k in order))


def information(model: GenerativeClassifier) -> dict[str, float]:
    """I(x_j; c) in nats for each column with a factor, under the fitted model (prior and smoothing included); of a
    semi-naive model under naive Bayes of the same counts and estimate, which is what each column says alone, and so of
    a column with a weight or one that was not selected.

    I = Σ_c P(c) E[log p(x|c)/p(x)], p(x) = Σ_c P(c) p(x|c): the evidence a known cell is expected to give for the true
    class; 0 where the class-conditionals are alike, at most the entropy of the prior. A sum over levels, or an integral
    by the trapezoid rule. A text is left out: its terms say each their own (`likelihoods.WordTable`).
    """
    prior, *leaves = prior_and_leaves(model)
    log_prior = log(prior.p)
    informations = ((leaf.variable.name, leaf.information(log_prior)) for leaf in leaves)
    return {name: nats for name, nats in informations if nats is not None}


def class_steps(model: GenerativeClassifier, classes: Sequence[Any] | None = None) -> tuple[WorkingStep, ...]:
    """P(c | pa(c)) of a network's class with parents: a step for each of the parents' configurations, the last parent
    running fastest; nothing where the class has none."""
    above = model.factor_.above if isinstance(model.factor_, DirectedFactor) else None
    if above is None:
        return ()
    order, steps = class_order(model.target_.levels, classes), []
    row = Row(model.target_.name, model.target_.name, tuple(d.variable.name for d in above.parents), "prior")
    for values in product(*(choices(d) for d in above.parents)):
        held = tuple(Cell(d.variable, v) for d, v in zip(above.parents, values, strict=True))
        codes = [np.array([_code(c.variable, c.value)], dtype=code_dtype(len(c.variable.levels))) for c in held]
        table = Table(Schema(tuple(c.variable for c in held)), tuple(codes), 1)
        own, p = above.sources(table), exp(above.term(table)[0])
        steps.append(WorkingStep(row, None, in_order(p, order), tuple(own[k] for k in order), held))
    return tuple(steps)


def class_entropy(model: GenerativeClassifier) -> float:
    """H(c) = −Σ_c P(c) log P(c) of the model's prior in nats: what there is to know of the class before any column.

    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> round(class_entropy(NaiveBayes().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])), 4)
    0.6931
    """
    p = prior_of(model).p
    return float(-(p * np.where(p > 0, log(p), 0.0)).sum())


def _standing(stats: SufficientStatistics, domain: Domain, given: Mapping[str, Any]) -> Any:
    """The value a parent is held at: the one given, if it is one, otherwise the most frequent."""
    name, values = domain.variable.name, choices(domain)
    if name in given and given[name] in values:
        return given[name]
    often = domain.counted(stats.counts.tables[name], 1).sum(axis=0)
    return values[int(often.argmax())]


def _code(variable: Variable, value: Any) -> int:
    return MISSING if value is None else 1 + variable.levels.index(value)


def _left_out(stats: SufficientStatistics, column: str, held: tuple[Cell, ...]) -> Array:
    """(C,) the weight of the rows whose cell is missing, where the parents have these values; none where that was not
    counted (a number under three parents)."""
    variable = stats.schema[column]
    codes = {cell.variable.name: _code(cell.variable, cell.value) for cell in held}
    if variable.discrete:
        return _tallied(stats, {**codes, column: MISSING})
    name = families.in_order(stats.schema, tuple(codes))
    everything = _tallied(stats, codes)
    if not held:
        return everything - stats.moments.column(column).weight
    shape = (len(everything), *(1 + len(stats.schema[n].levels) for n in name))
    known = stats.families.moments[name].column(column).weight.reshape(shape)
    return np.maximum(everything - _at(known, [codes[n] for n in name]), 0.0)


def _tallied(stats: SufficientStatistics, codes: Mapping[str, int]) -> Array:
    """(C,) the weight of each class with these codes."""
    name = families.in_order(stats.schema, tuple(codes))
    if not name:
        return stats.class_weight
    table = stats.counts.tables[name[0]] if len(name) == 1 else stats.families.tables.get(name)
    return np.zeros_like(stats.class_weight) if table is None else _at(table, [codes[n] for n in name])


def _at(table: Array, codes: Sequence[int]) -> Array:
    """(C,) the cells of `table` (C, …) at these codes."""
    where: Any = (slice(None), *codes)
    return np.asarray(table[where])


def _steps(
    model: GenerativeClassifier,
    leaf: Leaf,
    cells: Sequence[Any],
    values: Sequence[Any],
    order: Sequence[int],
    held: tuple[Cell, ...],
) -> tuple[WorkingStep, ...]:
    """The working of each of `cells` (codes or numbers), shown as `values`, with the parents' cells as held."""
    variable = leaf.variable
    dtype: Any = code_dtype(len(variable.levels)) if variable.discrete else float
    column: NDArray[Any] = np.array(cells, dtype=dtype)
    above = [np.full(len(column), _code(c.variable, c.value), dtype=code_dtype(len(c.variable.levels))) for c in held]
    table = Table(Schema((*(c.variable for c in held), variable)), (*above, column), len(column))
    row, term = leaf.row, np.broadcast_to(leaf.term(table), (len(column), len(model.target_.levels)))

    def step(i: int) -> WorkingStep:
        sources = leaf.sources(table.take(slice(i, i + 1)))
        sources *= len(order) // len(sources)  # of a column that the class is no parent of: one for all
        return WorkingStep(
            row, values[i], in_order(exp(term[i]), order), tuple(sources[k] for k in order), held, variable
        )

    return tuple(step(i) for i in range(len(column)))
