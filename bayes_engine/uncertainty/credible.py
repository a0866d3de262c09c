"""How sure the numbers of a model are: the posterior of every conditional probability, mean and variance.

A row of a table is Dir(n + a), so that each probability alone is a Beta, and so are the shares of counts that are one
multinomial; a Poisson rate is a Gamma; mean and variance
of a Gaussian are normal–inverse-χ² under p(μ, σ²) ∝ 1/σ² (Gelman et al., Bayesian Data Analysis, 3rd ed., §2.6,
§3.2–3.4), so that the mean is a Student t and the variance an inverse χ². Rows count by their weight; cut points,
vocabulary and structure are taken as given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Factor
from bayes_engine.factors.class_prior import ClassPosterior
from bayes_engine.factors.normal_posterior import NormalPosterior
from bayes_engine.factors.posterior import Posterior
from bayes_engine.language import Message
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.priors import Dirichlet


@dataclass(frozen=True)
class Credible:
    """What is believed of a model's parameters: of the class (None where its prior is stated, not estimated) and of
    each column, classes in the model's own order; and what there is to say of it."""

    prior: ClassPosterior | None
    columns: Mapping[str, Posterior]
    notes: tuple[Message, ...]


def credible(model: GenerativeClassifier, column: str | None = None) -> Credible:
    """The posterior of a fitted model's parameters under the very prior that smoothed them; where that is none (α = 0),
    under Jeffreys', and the notes say so. Of one `column` alone it does not matter whether the others have one.

    Raises ParameterError, saying why, where there is none: zero-only smoothing, AODE, other likelihoods.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> melons = load_dataset("watermelon3")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> sound = credible(NaiveBayes(priors="laplace").fit(X, y)).columns["敲声"]
    >>> [row.round(3).tolist() for row in sound.interval()]  # 否, 是 × 浊响, 沉闷, 清脆
    [[[0.167, 0.109, 0.06], [0.348, 0.067, 0.003]], [[0.692, 0.61, 0.518], [0.878, 0.556, 0.308]]]
    """
    if not isinstance(model, GenerativeClassifier) or not hasattr(model, "factor_"):
        raise ParameterError(
            "there is no band for {name}: only a fitted model that estimates class-conditional distributions has one",
            name=type(model).__name__,
        )
    if getattr(model, "smoothing", None) == "zero-only":
        raise ParameterError(
            "there is no band under zero-only smoothing: it mends single counts and is no prior; take smoothing='all'"
        )
    rule = model._prior_rule
    estimated = rule is None or isinstance(rule, Dirichlet) or (isinstance(rule, str) and rule != "uniform")
    prior: ClassPosterior | None = None
    columns: dict[str, Posterior] = {}
    notes: list[Message] = []
    bare = False
    for k, leaf in enumerate(model.factor_.leaves()):
        name = getattr(getattr(leaf, "variable", None), "name", None)
        if k and column is not None and name not in (column, None):
            continue
        posterior = leaf.posterior(model.target_)
        if posterior is None:
            raise ParameterError(
                "there is no band for '{what}' ({kind}): tables, Gaussians, Poisson rates, counts together and texts "
                "have one, in naive Bayes, SPODE, TAN, k-DB and networks",
                what=type(model).__name__ if name is None else name,
                kind=type(leaf).__name__,
            )
        if not k:
            prior, notes = cast(ClassPosterior, posterior), _of_class(leaf, estimated)
        elif not leaf.vacant:
            columns[posterior.variable.name] = posterior
            bare |= leaf.unsmoothed
    return Credible(prior if estimated else None, columns, (*notes, *_of_columns(columns, bare)))


def _of_class(factor: Factor, estimated: bool) -> list[Message]:
    """What there is to say of the class's own probabilities."""
    if not estimated:
        return [Message("The class prior is stated, not estimated: it is the same in every plausible model.")]
    if not factor.unsmoothed:
        return []
    return [Message("The class prior is the plain frequency: its band takes Jeffreys' prior, ½ a class.")]


def _of_columns(columns: Mapping[str, Posterior], bare: bool) -> list[Message]:
    """What there is to say of the columns' parameters."""
    notes = []
    if bare:
        notes.append(
            Message(
                "Nothing is added to the counts (α = 0), so a count of 0 would be certain: the band takes Jeffreys' "
                "prior, ½ a level."
            )
        )
    numeric = {name: b for name, b in columns.items() if isinstance(b, NormalPosterior)}
    if numeric:
        notes.append(Message("Means and variances have the reference prior p(μ, σ²) ∝ 1/σ²."))
    few = [name for name, b in numeric.items() if (b.degrees == 0).any()]
    if few:
        notes.append(
            Message(
                "Column(s) {names}: where a class has too few rows, or no spread, its variance has no band; it stays "
                "as estimated.",
                {"names": ", ".join(few)},
            )
        )
    return notes
