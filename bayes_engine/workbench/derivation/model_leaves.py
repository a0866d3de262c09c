"""The class prior of a fitted model and what it believes of each column: a leaf a column, of every family of models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Product
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.discriminant import Discriminant
from bayes_engine.factors.gaussian import GaussianLeaf, GaussianRule
from bayes_engine.factors.leaf import Leaf
from bayes_engine.factors.table import TableLeaf, TableRule
from bayes_engine.inference.averaged import AveragedFactor, JointLeaf
from bayes_engine.inference.directed import DirectedFactor
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes_wrapper import NaiveBayesWrapper
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.stats.moments import ColumnMoments
from bayes_engine.workbench.derivation.likelihoods import column_factors


def prior_and_leaves(model: GenerativeClassifier) -> tuple[Any, ...]:
    """The class prior and a factor a column: the model's own; of a semi-naive one those of naive Bayes; of Gaussian
    classes their marginals."""
    factor = model.factor_
    if isinstance(model, SemiNaive):
        naive = factor.naive if isinstance(factor, AveragedFactor) else SemiNaive._directed(model, model.stats_, {})
        return (naive.prior, *naive.families)
    assert isinstance(factor, Product)
    if isinstance(model, NaiveBayesWrapper):
        return (factor.parts[0], *column_factors(model).values())
    return (factor.parts[0], *_marginals(model, factor)) if isinstance(factor, Discriminant) else tuple(factor.leaves())


def _marginals(model: GenerativeClassifier, factor: Discriminant) -> Iterator[GaussianLeaf]:
    """N(x_j; μ_cj, Σ_jj) of every column that the discriminant uses."""
    gaussian = factor.gaussian
    tied = gaussian.covariance.ndim == 2
    k, ddof = len(model.target_.levels), 1 if getattr(model, "variance", "mle") == "unbiased" else 0
    variances = np.broadcast_to(np.diagonal(gaussian.covariance, axis1=-2, axis2=-1), (k, len(gaussian.names)))
    for j, name in enumerate(gaussian.names):
        m = model.stats_.moments.column(name)
        offset = gaussian.centre[j] + gaussian.apart[:, j] - m.pivot
        degrees = (m.weight - ddof).sum(keepdims=True) if tied else m.weight - ddof
        own = (m.m2.sum(keepdims=True) if tied else m.m2) / np.where(degrees > 0, degrees, 1.0)
        moments = ColumnMoments(m.weight, offset, m.m2, m.pivot)
        replaced = ~np.isclose(variances[:, j], own, rtol=1e-9, atol=0.0)
        rule, target = GaussianRule(ddof, tied), model.target_.name
        yield GaussianLeaf(model.schema_[name], target, moments, variances[:, j], replaced, rule)


def prior_of(model: GenerativeClassifier) -> ClassPrior:
    """The class prior of any model."""
    factor = model.factor_
    if isinstance(factor, DirectedFactor | AveragedFactor):
        return factor.prior
    return cast(ClassPrior, prior_and_leaves(model)[0])


def leaf_of(model: GenerativeClassifier, column: str, super_parent: str | None) -> Leaf:
    """What the model believes of a column: a leaf of its factor; of a super-parent of AODE P(c, x_i)."""
    for leaf in _leaves(model, super_parent):
        if leaf.variable.name == column:
            return leaf
    raise ParameterError("the model has no factor for column '{column}': it is constant, or no feature", column=column)


def _leaves(model: GenerativeClassifier, super_parent: str | None) -> tuple[Leaf, ...]:
    factor = model.factor_
    if isinstance(factor, DirectedFactor):
        return factor.families
    if not isinstance(factor, AveragedFactor) or not factor.members:
        return prior_and_leaves(model)[1:]
    member = next((m for m in factor.members if m.name == super_parent), factor.members[0])
    # under a class prior that is not the rows' own P(c, x_i) is P(c) P(x_i | c)
    given = TableLeaf(member.domain, factor.prior.target, member.counts, TableRule(member.alpha))
    return (given if member.given else JointLeaf(member, factor.prior), *member.families)
