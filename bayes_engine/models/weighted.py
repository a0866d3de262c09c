"""Naive Bayes with a weight for each attribute, P(c|x) ∝ P(c) Π_j P(x_j|c)^{w_j} (Zaidi, Cerquides, Carman & Webb,
Alleviating Naive Bayes Attribute Independence Assumption by Attribute Weighting, JMLR 14, 2013: WANBIA).

A column that repeats what others say is counted twice; a weight below 1 corrects that. The weights are not read
off what a column tells by itself but fitted to the posterior, all of them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Factor, Product, Row
from bayes_engine.factors.sources import Power, Source
from bayes_engine.language import Listing
from bayes_engine.logspace import Array, log_normalize, normalize
from bayes_engine.models.fit_warnings import warn
from bayes_engine.models.look_up_tables import times
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.naive_bayes_wrapper import LeftOutTerms, NaiveBayesWrapper, left_out_terms
from bayes_engine.models.table_reader import refuse_unknown_columns
from bayes_engine.priors import checked_number, checked_whole, checked_word
from bayes_engine.progress import tick
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Variable

OBJECTIVES = ("cll", "mse")
"""Conditional log-likelihood; squared error of the posterior."""


@dataclass(frozen=True)
class WeightedFactor(Factor):
    """w_j log P(x_j|c): the rows of a column's factor times its weight, with 0·(−∞) = 0; a score."""

    part: Factor
    weight: float

    def rows(self, X: Table) -> Iterator[tuple[Row, Array]]:
        for row, term in self.part.rows(X):
            yield row._replace(kind="score"), times(self.weight, term)

    def part_of(self, column: str) -> tuple[Factor, float] | None:
        own = self.part.part_of(column)
        return None if own is None else (own[0], self.weight)

    def gathers(self, column: str) -> bool | None:
        return self.part.gathers(column)

    def origins(self, X: Table) -> Iterator[tuple[Source, ...]]:
        for (_row, term), sources in zip(self.rows(X), self.part.origins(X), strict=True):
            behind = zip(term[0].tolist(), sources, strict=True)
            yield tuple(Power(value, base, self.weight) for value, base in behind)

    def posterior(self, target: Variable) -> None:
        raise ParameterError(
            "there is no band for weights: they are fitted to the posterior of the rows, not estimated under a prior; "
            "the conditional probabilities have theirs"
        )


class Objective(NamedTuple):
    """What a vector of weights costs a row, and the gradient (d,) of that."""

    value: float
    gradient: Array


def conditional_log_loss(w: Array, log_prior: Array, terms: Array, truth: Any, share: Array) -> Objective:
    """−Σ_i s_i log P(c_i|x_i; w), in nats, for terms (d, n, C) and shares (n,) that sum to 1. Convex in w.

    ∂/∂w_j = Σ_i s_i (Σ_c P(c|x_i) t_jic − t_ji,c_i) (JMLR 14, 2013).
    """
    rows = np.arange(len(truth))
    log_p = log_normalize(log_prior + np.tensordot(w, terms, axes=1))
    p = normalize(log_p)
    expected = np.einsum("jic,ic->ji", terms, p)
    return Objective(-float(share @ log_p[rows, truth]), (expected - terms[:, rows, truth]) @ share)


def squared_error(w: Array, log_prior: Array, terms: Array, truth: Any, share: Array) -> Objective:
    """½ Σ_i s_i Σ_c (1[c = c_i] − P(c|x_i; w))², arrays as in `conditional_log_loss`. Not convex.

    ∂/∂w_j = Σ_i s_i Σ_c (P_ic − 1[c = c_i]) P_ic (t_jic − Σ_k P_ik t_jik) (JMLR 14, 2013).
    """
    p = normalize(log_prior + np.tensordot(w, terms, axes=1))
    error = p.copy()
    error[np.arange(len(truth)), truth] -= 1.0
    pull = error * p
    gradient = np.einsum("jic,ic->ji", terms, pull - p * pull.sum(axis=1, keepdims=True))
    return Objective(0.5 * float(share @ (error**2).sum(axis=1)), gradient @ share)


COSTS: dict[str, Callable[..., Objective]] = {"cll": conditional_log_loss, "mse": squared_error}


@dataclass(eq=False, repr=False)
class WeightedNaiveBayes(NaiveBayesWrapper):
    """P(c|x) ∝ P(c) Π_j P(x_j|c)^{w_j} with w fitted to the posterior of the rows (WANBIA); w = 1 is naive Bayes.

    Its ledger has the class prior and w_j log P(x_j|c) of every column. These are scores, log-probabilities of nothing,
    and yet their softmax is a posterior, unlike complement naive Bayes's: what was fitted is that posterior, by its own
    likelihood or squared error. So `risk` and `decide` stand; P(x) does not.

    The first fit finds the weights from its rows; as rows come and go afterwards counts change and weights stay, and
    `leave_one_out_log_proba` is given the weights.

    Parameters
    ----------
    estimator : a NaiveBayes, which estimates P(c) and P(x_j|c); NaiveBayes() if None.
    objective : "cll", the conditional log-likelihood, which has one maximum | "mse", the posterior's squared error.
    leave_one_out : the terms of row i are estimated without row i, exactly; False is the paper's, on the rows as they
        are, where a column with a level for each row looks perfect.
    largest : the largest weight, the paper's 1; None for no bound. The smallest is 0.
    weights : {column: weight}, stated rather than fitted; a column not named has 1.
    max_iter : the most iterations of L-BFGS-B.

    Attributes: `weights_` by column name; `trace_`, the mean cost of a row (nats, or half a squared error) at w = 1 and
    after every iteration, empty where the weights are stated; `n_iter_`; those of `GenerativeClassifier`.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"skin": list("ddddcccd"), "sound": list("ddcddccc")})
    >>> X["again"] = X["skin"]  # the same column twice
    >>> model = WeightedNaiveBayes().fit(X, list("yyyynnnn"))
    >>> w = model.weights_
    >>> round(w["skin"], 6) == round(w["again"], 6), model.trace_[-1] < model.trace_[0]
    (True, True)
    """

    estimation_parameters: ClassVar[frozenset[str]] = frozenset({"weights"})
    structural: ClassVar[tuple[str, ...]] = ("learnt_", "trace_")
    learnt_: dict[str, float] = field(init=False)
    trace_: tuple[float, ...] = field(init=False)

    estimator: NaiveBayes | None = None
    _: KW_ONLY
    objective: Literal["cll", "mse"] = "cll"
    leave_one_out: bool = True
    largest: float | None = 1.0
    weights: Mapping[str, float] | None = None
    max_iter: int = 200

    def _choose(self, X: Table, labels: Labels, stats: SufficientStatistics) -> SufficientStatistics:
        checked_word("objective", self.objective, OBJECTIVES)
        checked_whole("max_iter", self.max_iter, 1)
        if self.largest is not None:
            checked_number("largest", self.largest)
        self.trace_ = ()
        if self.weights is None:
            model = self._settled(stats)
            left = left_out_terms(model, X, labels) if self.leave_one_out else _terms(model, X)
            self._fit_weights(left, labels)
        return stats

    def _estimate(self, stats: SufficientStatistics) -> Factor:
        prior, columns = self._factors(stats)
        weights = self._weights(stats.schema.names)
        return Product((prior, *(WeightedFactor(part, weights[name]) for name, part in columns.items())))

    def _weights(self, names: tuple[str, ...]) -> dict[str, float]:
        if self.weights is None:
            if not hasattr(self, "learnt_"):
                raise ParameterError("the weights need the rows: call fit; or state them, weights={{column: weight}}")
            return self.learnt_
        refuse_unknown_columns("weights", self.weights, names)
        for name, w in self.weights.items():
            checked_number(f"weights['{name}']", w)
        return {name: float(self.weights.get(name, 1.0)) for name in names}

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each column by name: stated, or fitted to the rows."""
        return self._weights(self.schema_.names)

    @property
    def n_iter_(self) -> int:
        """The iterations it took, 1 where none was needed."""
        return max(1, len(self.trace_) - 1)

    def _fit_weights(self, left: LeftOutTerms, labels: Labels) -> None:
        """L-BFGS-B from w = 1 within 0 … `largest`; a row alone of its class, which no weight makes right, is passed
        over."""
        left, truth, weight = left.judged(labels)
        names = list(left.terms)
        start = np.full(len(names), 1.0 if self.largest is None else min(1.0, float(self.largest)))
        self.learnt_, self.trace_ = dict(zip(names, start.tolist(), strict=True)), ()
        if not len(truth) or not names:
            return
        terms = np.stack([left.terms[name] for name in names])
        never = [name for name, term in zip(names, terms, strict=True) if not np.isfinite(term).all()]
        if never:
            raise ParameterError(
                "column(s) {names}: a conditional probability is 0, and 0 to the power of any weight but 0 stays 0; "
                "smooth the model (alpha > 0)",
                names=Listing(never),
            )
        cost = COSTS[self.objective]
        rest = (left.log_prior, terms, truth, weight / weight.sum())
        trace = [cost(start, *rest).value]

        def priced(w: Array) -> tuple[Any, ...]:
            tick()
            return tuple(cost(w, *rest))

        from scipy.optimize import minimize

        optimum = minimize(
            priced,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, self.largest)] * len(names),
            callback=lambda intermediate_result: trace.append(float(intermediate_result.fun)),
            options={"maxiter": self.max_iter, "ftol": 1e-14, "gtol": 1e-9, "maxcor": 20},
        )
        if optimum.nit >= self.max_iter:
            warn("the weights had not settled after {n} iterations; raise max_iter", n=self.max_iter)
        self.learnt_, self.trace_ = dict(zip(names, optimum.x.tolist(), strict=True)), tuple(trace)


def _terms(model: NaiveBayes, X: Table) -> LeftOutTerms:
    """The rows' terms with themselves counted in."""
    shape = (X.n, len(model.classes_))
    terms = {v.name: np.zeros(shape) for v in X.schema}
    (_, log_prior), *columns = model.factor_.rows(X)
    for row, term in columns:
        terms[row.child] = terms[row.child] + term
    return LeftOutTerms(np.asarray(log_prior), terms)
