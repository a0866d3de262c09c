"""How many numbers a fitted model consists of: cells of its tables, and free parameters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any, NamedTuple, cast

import pandas as pd

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Product
from bayes_engine.factors.discriminant import Discriminant
from bayes_engine.factors.leaf import Leaf, Numbers
from bayes_engine.factors.sources import Fraction
from bayes_engine.factors.table import TableLeaf
from bayes_engine.inference.averaged import AveragedFactor, Member
from bayes_engine.inference.directed import DirectedFactor
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.selective import SelectiveNaiveBayes
from bayes_engine.models.weighted import WeightedNaiveBayes
from bayes_engine.workbench.derivation.derive import derive
from bayes_engine.workbench.derivation.model_leaves import prior_and_leaves


class Size(NamedTuple):
    """How many numbers a model costs. Of the discrete columns, as one joint table, as factors of this model, as naive
    Bayes: cells are what a table holds; free parameters are what is left to choose when each distribution must sum to 1
    (the class prior included). AODE's tables share their pairs of columns: without smoothing and missing cells no more
    than `distinct_free` of its parameters can be chosen; None of other models. Of the numeric columns, means, variances
    and covariances: of this model and of naive Bayes. Of counts the `rates`; of texts the free probabilities of their
    `terms`; of kernel densities the training `values` that they keep: as many as there are known rows; of the columns
    the `weights`, where they have any. `vocabulary` counts the terms of the texts, `left_out` the columns that were
    not selected, `parameters` those of registered likelihoods."""

    joint_cells: int
    factor_cells: int
    joint_free: int
    factor_free: int
    naive_cells: int
    naive_free: int
    gaussian: int = 0
    naive_gaussian: int = 0
    rates: int = 0
    terms: int = 0
    values: int = 0
    weights: int = 0
    vocabulary: int = 0
    left_out: int = 0
    parameters: int = 0
    distinct_free: int | None = None


def size(levels: Sequence[int], classes: int) -> Size:
    """K·ΠS_j and K·ΣS_j cells; K·ΠS_j − 1 and (K − 1) + K·Σ(S_j − 1) free parameters, of S_j `levels` and K `classes`.

    Watermelon 2.0: five columns of three levels, one of two, two classes.

    >>> size([3, 3, 3, 3, 3, 2], 2)[:4]
    (972, 34, 971, 23)
    """
    joint, cells = classes * prod(levels), classes * sum(levels)
    free = classes - 1 + cells - classes * len(levels)
    return Size(joint, cells, joint - 1, free, cells, free)


def model_size(model: GenerativeClassifier) -> Size:
    """The size of a fitted model.

    Under parents a discrete column has K·ΠS_parents·S_j cells and K·ΠS_parents·(S_j − 1) free parameters, a numeric one
    a mean and a variance in each of K·ΠS_parents cells. A variance that the classes share is one; a full covariance of
    d columns has d(d + 1)/2 entries. A count has K rates; a text of V terms has K·(V − 1) free probabilities as a
    multinomial and K·V as a Bernoulli; a kernel density is the training rows themselves.
    """
    k, factor, stats = len(model.target_.levels), model.factor_, model.stats_
    every = list(prior_and_leaves(model)[1:])
    kept = [f for f in every if f.variable.name in model.kept_] if isinstance(model, SelectiveNaiveBayes) else every

    def total(numbers: Numbers) -> int:
        held = (f.size(stats) for f in kept if f.numbers == numbers)
        return round(float(sum(held)))

    def cells(leaves: Sequence[Leaf]) -> Size:
        return size([int(cast(TableLeaf, f).counts.shape[-1]) for f in leaves if f.variable.discrete], k)

    n_gaussian = sum(f.numbers == "gaussian" for f in kept)
    naive = cells(kept)._replace(
        naive_gaussian=2 * k * n_gaussian,
        rates=total("rates"),
        terms=total("terms"),
        values=total("values"),
        parameters=total("parameters"),
        weights=len(model.weights_) if isinstance(model, WeightedNaiveBayes) else 0,
        vocabulary=sum(len(f.variable.levels) for f in kept if f.variable.textual),
        left_out=len(model.schema_) - len(model.kept_) if isinstance(model, SelectiveNaiveBayes) else 0,
    )
    if isinstance(factor, Discriminant):
        d, spreads = n_gaussian, factor.gaussian.covariance.size // n_gaussian**2
        entries = d if getattr(model, "covariance", "full") == "diagonal" else d * (d + 1) // 2
        return naive._replace(gaussian=k * d + spreads * entries)
    if isinstance(factor, Product):
        joint = cells(every)  # a selection leaves columns out, but the table has them
        return naive._replace(joint_cells=joint.joint_cells, joint_free=joint.joint_free, gaussian=total("gaussian"))
    members = factor.members if isinstance(factor, AveragedFactor) else ()
    own: Sequence[Leaf] = factor.families if isinstance(factor, DirectedFactor) else every
    above = factor.above if isinstance(factor, DirectedFactor) else None
    own = [f for m in members for f in m.families] if members else own
    tables = [cast(TableLeaf, f) for f in own if f.variable.discrete]
    of_class = sum(m.counts.size - 1 for m in members) or (k - 1 if above is None else above.free)
    return naive._replace(
        factor_cells=k * sum(m.domain.size for m in members)
        + sum(f.counts.size for f in tables)
        + (above.counts.size if above is not None else 0),
        factor_free=of_class + sum(f.free for f in tables),
        gaussian=sum(f.free or 0 for f in own if f.numbers == "gaussian"),
        distinct_free=_distinct_free(k, members) if members else None,
    )


class FewestRows(NamedTuple):
    """The factor of a case that the fewest rows of its class were counted for: its column, the class, the rows."""

    column: str
    label: Any
    rows: float


def fewest_rows(model: GenerativeClassifier, case: pd.DataFrame) -> FewestRows:
    """Of the factors P(x_j | c, parents) that a case (a frame of one row) needs, in all classes, the one with the
    fewest rows counted, pseudo-counts apart; among equals the first.

    Raises ParameterError where none of them was counted.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> melons = load_dataset("watermelon2")
    >>> X = melons.frame[list(melons.schema.features.names)]
    >>> fewest_rows(NaiveBayes(schema=melons.schema).fit(X, melons.frame["好瓜"]), X[:1])
    FewestRows(column='纹理', label='否', rows=2.0)
    """
    worked = derive(model, case)
    counted = [
        FewestRows(step.row.child, label, source.count)
        for step in worked.steps
        if step.row.kind != "prior"
        for label, source in zip(worked.classes, step.sources, strict=True)
        if isinstance(source, Fraction)
    ]
    if not counted:
        raise ParameterError("no factor of this case was counted from rows")
    return min(counted, key=lambda one: one.rows)


def _distinct_free(k: int, members: Sequence[Member]) -> int:
    """K − 1 + K·Σ_i (S_i − 1) + K·Σ_{i<j} (S_i − 1)(S_j − 1), over the discrete columns and over the pairs of which one
    is a super-parent: free parameters of the joint tables of the class and a pair, which agree on what they share."""
    more = {m.name: m.domain.size - 1 for m in members}
    more |= {f.variable.name: cast(TableLeaf, f).counts.shape[-1] - 1
             for m in members for f in m.families if f.variable.discrete}  # fmt: skip
    above = {m.name for m in members}
    pairs = sum(more[a] * more[b] for a, b in combinations(more, 2) if a in above or b in above)
    return k - 1 + k * sum(more.values()) + k * pairs
