"""How sure the sure is: the posterior of the parameters carried to a band on P(c|x), and to how often a decision flips.

A plausible model is a draw of all parameters from their posterior (`credible`); of one case only the cells that it
touches are drawn. Under the prior that smoothed the model, its own joint p(c, x) is the mean of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.errors import ParameterError, UndefinedPosterior
from bayes_engine.factors.leaf import Leaf
from bayes_engine.inference.directed import DirectedFactor
from bayes_engine.inference.elimination import Potential, Scope, log_partition
from bayes_engine.language import Message
from bayes_engine.ledger import Ledger, class_position, prior_shift
from bayes_engine.logspace import Array, log, normalize
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.priors import checked_whole, given_prior
from bayes_engine.table.encode import Table
from bayes_engine.uncertainty.credible import Credible, credible


class Flips(NamedTuple):
    """How often a decision differs: the model's own `action`, the `share` of plausible models that take another, its
    Monte-Carlo error `se`, and the share of each action under all of them, most frequent first."""

    action: Any
    share: float
    se: float
    actions: Mapping[Any, float]


class LogOdds(NamedTuple):
    """log P(a|x)/P(b|x) over all plausible models, exact: mean and standard deviation, in nats."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Plausible:
    """One case under n plausible models: `p` (n, C) their posteriors, beside the model's `own` (C,), which is all zeros
    where the model itself has none; `notes` say which prior the parameters had."""

    classes: tuple[Any, ...]
    p: Array
    own: Array
    notes: tuple[Message, ...]
    ledger: Ledger = field(repr=False)
    joint: Array = field(repr=False)
    log_prior: Array = field(repr=False)
    prior: Mapping[Any, float] = field(repr=False)
    _bands: dict[float, Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def n(self) -> int:
        return len(self.p)

    @property
    def mean(self) -> Array:
        """(C,) the mean of the posteriors."""
        return np.asarray(self.p.mean(axis=0))

    def band(self, level: float = 0.95) -> Array:
        """(3, C) lower end, median and upper end of each class's posterior: central, `level` of the models inside."""
        if level not in self._bands:
            band = np.asarray(np.quantile(self.p, [(1 - level) / 2, 0.5, (1 + level) / 2], axis=0))
            band.setflags(write=False)
            self._bands[level] = band
        return self._bands[level]

    def histogram(self, label: Any, bins: int = 20) -> tuple[Array, Array]:
        """(bins,) the share of models with P(label|x) in each of the bins between 0 and 1, and the edges."""
        counts, edges = np.histogram(self.p[:, class_position(label, self.classes)], bins, (0.0, 1.0))
        return counts / self.n, edges

    def flips(
        self, loss: Any = None, prior_of_use: Mapping[Any, float] | None = None, amount: float | None = None
    ) -> Flips:
        """How many plausible models decide otherwise than the model itself, under a loss as `LossMatrix.from_any` takes
        it, a prior of use, and the case's amount where the loss is per unit of one. The error is the standard deviation
        of Beta(k + ½, n − k + ½), k the models that do.

        Raises UndefinedPosterior where the model has no posterior, so that it does not decide.
        """
        if prior_of_use is not None:
            return self.at_prior(prior_of_use).flips(loss, amount=amount)
        if not self.own.any():
            raise UndefinedPosterior("the model itself has no posterior here, so there is no decision that could flip")
        matrix = LossMatrix.from_any(loss, self.classes)
        matrix = matrix if amount is None else matrix.at_amount(amount)
        mine = int(decide(self.own[None, :], matrix).position[0])
        position = decide(self.p, matrix).position
        shares = np.bincount(position, minlength=len(matrix.actions)) / self.n
        order = sorted(np.flatnonzero(shares), key=lambda a: -shares[a])
        others = int((position != mine).sum())
        a, b = others + 0.5, self.n - others + 0.5
        se = float(np.sqrt(a * b / (a + b + 1)) / (a + b))
        return Flips(matrix.actions[mine], others / self.n, se, {matrix.actions[i]: float(shares[i]) for i in order})

    def at_prior(self, use: Mapping[Any, float]) -> Plausible:
        """The same models under a prior of use: then their own class priors play no part.

        Raises ParameterError where `use` is no prior, or wants a class that the model's prior excludes.
        """
        moved = self.ledger.at_prior(self.prior, use)
        log_use = np.broadcast_to(log(given_prior(use, self.classes)), self.joint.shape)
        excluded = np.isneginf(self.log_prior)
        joint = np.where(excluded, -np.inf, self.joint - np.where(excluded, 0.0, self.log_prior) + log_use)
        return replace(self, p=normalize(joint), own=moved.posterior()[0], ledger=moved, joint=joint,
                       log_prior=log_use, prior=dict(use))  # fmt: skip


def plausible(
    model: GenerativeClassifier,
    case: Any,
    *,
    n: int = 1000,
    rng: int | np.random.Generator = 0,
    prior_of_use: Mapping[Any, float] | None = None,
) -> Plausible:
    """One case (a frame of one row) under n draws of the model's parameters; cells not known are summed out in each.

    Raises ParameterError where the model has no band (see `credible`) or n is below 1, UndefinedPosterior where a cell
    is infinite or no plausible model has a posterior.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> melons = load_dataset("watermelon3")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> found = plausible(NaiveBayes().fit(X, y), X.iloc[[7]], n=4000)
    >>> found.own.round(3).tolist(), found.band().round(1).tolist()
    ([0.139, 0.861], [[0.0, 0.3], [0.1, 0.9], [0.7, 1.0]])
    >>> flips = found.flips()
    >>> flips.action, round(flips.share, 2)
    ('是', 0.09)
    """
    n = checked_whole("n", n, 1)
    believed, table = credible(model), _one_row(model, case)
    generator = np.random.default_rng(rng)
    own, own_prior = model.explain(case), model.prior_by_class
    log_prior = np.broadcast_to(log(np.array([own_prior[c] for c in own.classes])), (n, len(own.classes)))
    scopes = _scopes(model, believed, table)
    of_class = believed.prior
    if of_class is not None and not of_class.parents:
        log_prior = of_class.draw(table, (), n, generator)
    if of_class is None or not of_class.parents:
        potentials = [Potential((), log_prior)]
    else:
        scope = scopes[of_class.variable.name]
        potentials = [Potential(scope, of_class.draw(table, scope, n, generator))]
    potentials += [
        Potential(scope, believed.columns[name].draw(table, scope, n, generator))
        for name, scope in scopes.items()
        if name in believed.columns
    ]
    sizes = getattr(model.factor_, "sizes", {})
    joint = np.asarray(log_partition(potentials, sizes))
    if np.isneginf(joint).all(axis=1).any():
        raise UndefinedPosterior("no posterior: the case has the probability 0 in every class of a plausible model")
    draws = Plausible(
        own.classes, normalize(joint), own.posterior()[0], believed.notes, own, joint, log_prior, own_prior
    )
    return draws if prior_of_use is None else draws.at_prior(prior_of_use)


def log_odds(
    model: GenerativeClassifier, case: Any, for_: Any, against: Any, prior_of_use: Mapping[Any, float] | None = None
) -> LogOdds | None:
    """Mean and standard deviation of the log-odds of two classes over all plausible models, exact: the terms of a
    product are independent, so both add up. None where a hidden cell is summed out, which is no product.

    Raises what `plausible` raises.

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = pd.DataFrame({"sound": list("ddcc"), "mass": [4.0, 5.0, 1.0, 2.5]})
    >>> model = NaiveBayes().fit(X, list("ggbb"))
    >>> exact = log_odds(model, X[:1], "g", "b")
    >>> drawn = np.diff(log(plausible(model, X[:1], n=20_000).p), axis=1)
    >>> bool(abs(exact.mean - drawn.mean()) < 5 * exact.sd / 20_000**0.5)
    True
    """
    believed, table = credible(model), _one_row(model, case)
    scopes = _scopes(model, believed, table)
    if any(scopes.values()):
        return None
    ledger, own = model.explain(case), model.prior_by_class
    i, j = (class_position(label, ledger.classes) for label in (for_, against))
    prior = [own[c] for c in ledger.classes]
    if believed.prior is None or (prior_of_use is not None and not believed.prior.parents):
        terms = [(float(log(prior[i]) - log(prior[j])), 0.0)]
    else:
        terms = [believed.prior.log_ratio(table, i, j)]
    if prior_of_use is not None:
        shift = prior_shift(prior, given_prior(prior_of_use, ledger.classes))
        terms.append((float(shift[i] - shift[j]), 0.0))
    terms += [believed.columns[name].log_ratio(table, i, j) for name in scopes if name in believed.columns]
    mean, variance = (float(sum(t[k] for t in terms)) for k in (0, 1))
    if np.isnan(mean):
        raise UndefinedPosterior("no posterior: the case has the probability 0 in both classes of every model")
    return LogOdds(mean, float(np.sqrt(variance)))


def _one_row(model: GenerativeClassifier, case: Any) -> Table:
    table = model._encode(case)
    if table.n != 1:
        raise ParameterError("the band is of one case; this table has {n} rows", n=table.n)
    if table.infinite().any():
        raise UndefinedPosterior("no posterior: a cell of the case is infinite")
    return table


def _scopes(model: GenerativeClassifier, believed: Credible, table: Table) -> dict[str, Scope]:
    """The columns that have a term, each with those of its cells that are not known and summed out."""
    factor = model.factor_
    if isinstance(factor, DirectedFactor):
        return {name: p.scope for _, _, terms in factor._pieces(table, None) for name, p in terms}
    leaves = (leaf for leaf in factor.leaves() if isinstance(leaf, Leaf) and leaf.variable.name in believed.columns)
    return {leaf.variable.name: () for leaf in leaves if leaf.known(table)[0]}
