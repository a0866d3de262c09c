"""What a fitted naive Bayes model believes of a column that is neither a table nor a Gaussian: the curve of a kernel
density, a Poisson rate, the words of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from bayes_engine.errors import ParameterError
from bayes_engine.factors.kernel import KernelFactor
from bayes_engine.factors.poisson import PoissonFactor
from bayes_engine.factors.text import TextFactor
from bayes_engine.logspace import Array, exp, log_sum
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.table.schema import Variable

REACH = 4.0
"""A kernel density is drawn so many bandwidths beyond its last bumps."""
NODES = 257


@dataclass(frozen=True)
class Curves:
    """p(x | class) by a kernel density: `values` (C, m) at the ascending `x` (m,), and for each class in the order of
    `classes` its `bandwidth`, the training values it stands on with their weights, and the weight of its missing cells.
    `precision` is Weka's, None of Silverman's."""

    variable: Variable
    target: str
    classes: tuple[Any, ...]
    x: Array
    values: Array
    bandwidth: tuple[float, ...]
    points: tuple[tuple[Array, Array], ...]
    missing: tuple[float, ...]
    precision: float | None


@dataclass(frozen=True)
class Rates:
    """P(x | class) of a count: `values` (C, m) at the counts `x` = 0, 1, … (m,), beside the shares `observed` (C, m) of
    the rows; of each class the rate, the rows and the sum it came from, and what smoothing added: (total + added ·
    mean)/(n + added)."""

    variable: Variable
    target: str
    classes: tuple[Any, ...]
    x: Array
    values: Array
    observed: Array
    rate: tuple[float, ...]
    n: tuple[float, ...]
    total: tuple[float, ...]
    added: tuple[float, ...]
    mean: float
    missing: tuple[float, ...]


@dataclass(frozen=True)
class WordTable:
    """P(term | class) of a text: (C, V) `counts`, how often each term stands in the texts of the class, `log_p`, and
    (C,) the `total` of all terms. Of a Bernoulli, in how many texts it stands, `log_absent` of those without it, and
    the `total` of all texts."""

    variable: Variable
    target: str
    classes: tuple[Any, ...]
    terms: tuple[str, ...]
    counts: Array
    log_p: Array
    total: tuple[float, ...]
    log_absent: Array | None

    def telling(self, n: int = 20) -> pd.DataFrame:
        """The n terms that say most of the class, one a row: counts by class, log p by class, `nats`.

        `nats` is I(class; term) with classes alike in weight: of a multinomial the term's part of what one word says,
        Σ_c θ_cw log(θ_cw/θ̄_w)/K; of a Bernoulli what its presence or absence says.
        """
        nats = _part(self.log_p)
        if self.log_absent is not None:
            nats = nats + _part(self.log_absent)
        first = np.lexsort((np.array(self.terms), -nats))[:n]
        columns: dict[Any, Any] = {"term": [self.terms[v] for v in first]}
        for c, label in enumerate(self.classes):
            columns[f"n {label}"] = self.counts[c, first]
            columns[f"log p {label}"] = self.log_p[c, first]
        return pd.DataFrame({**columns, "nats": nats[first]})


Other = Curves | Rates | WordTable


def likelihood(model: GenerativeClassifier, column: str, classes: Sequence[Any] | None = None) -> Other:
    """The class-conditionals of a column with a kernel density, a Poisson rate or a text's terms, with the classes in
    the order wanted. Raises ParameterError for any other column.

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> mails = pd.DataFrame({"text": ["win a prize", "lunch at noon", "a prize for you"], "links": [4, 0, 3]})
    >>> kinds = {"text": "multinomial", "links": "poisson"}
    >>> model = NaiveBayes(likelihoods=kinds).fit(mails, ["spam", "ham", "spam"])
    >>> likelihood(model, "links", ["spam", "ham"]).rate
    (3.111111111111111, 1.1666666666666667)
    >>> likelihood(model, "text").telling(3)["term"].tolist()
    ['at', 'lunch', 'noon']
    """
    own = list(model.target_.levels)
    order = [own.index(c) for c in (own if classes is None else classes)]
    parts = getattr(model.factor_, "parts", ())
    factor = next((f for f in parts if getattr(f, "variable", None) and f.variable.name == column), None)
    named, target = tuple(own[k] for k in order), model.target_.name
    if isinstance(factor, KernelFactor):
        return _curves(model, factor, named, order)
    if isinstance(factor, PoissonFactor):
        return _rates(model, factor, named, order)
    if isinstance(factor, TextFactor):
        total = factor.counts.weight if factor.presence else factor.counts.sums.sum(axis=1)
        absent = None if factor.terms.absent is None else factor.terms.absent[order]
        return WordTable(factor.variable, target, named, factor.counts.names, factor.counts.sums[order],
                         factor.terms.present[order], tuple(total[order].tolist()), absent)  # fmt: skip
    raise ParameterError("column '{column}' has no kernel density, Poisson rate or words here", column=column)


def _curves(model: GenerativeClassifier, factor: KernelFactor, named: tuple[Any, ...], order: list[int]) -> Curves:
    widest = float(factor.bandwidth.max()) * REACH
    ends = np.linspace(factor.points[0] - widest, factor.points[-1] + widest, NODES)
    x = np.union1d(ends, factor.points if len(factor.points) <= NODES else ends)
    points = tuple((factor.points[w > 0], w[w > 0]) for w in factor.weight[order])
    return Curves(factor.variable, factor.target, named, x, exp(factor.at(x).T[order]),
                  tuple(factor.bandwidth[order].tolist()), points, _missing(model, factor.variable.name, order),
                  factor.precision)  # fmt: skip


def _rates(model: GenerativeClassifier, factor: PoissonFactor, named: tuple[Any, ...], order: list[int]) -> Rates:
    column = model.stats_.values.columns[factor.variable.name]
    x = np.arange(column.points[-1] + 2.0) if column.points[-1] < NODES else column.points
    total = column.total[order]
    observed = np.zeros((len(order), len(x)))
    observed[:, np.searchsorted(x, column.points)] = column.weight[order] / np.where(total > 0, total, 1.0)[:, None]
    rate, n, sums, added = (tuple(a[order].tolist()) for a in (factor.rate, factor.n, factor.total, factor.added))
    return Rates(factor.variable, factor.target, named, x, exp(factor.at(x).T[order]), observed, rate, n, sums, added,
                 factor.mean, _missing(model, factor.variable.name, order))  # fmt: skip


def _missing(model: GenerativeClassifier, name: str, order: list[int]) -> tuple[float, ...]:
    known = model.stats_.values.columns[name].total
    return tuple(np.maximum(model.stats_.class_weight - known, 0.0)[order].tolist())


def _part(log_p: Array) -> Array:
    """(V,) Σ_c p_c log(p_c/p̄)/K of log probabilities (C, V), 0 log 0 = 0."""
    p = exp(log_p)
    middle = log_sum(log_p, axis=0) - np.log(len(log_p))
    with np.errstate(invalid="ignore"):
        return np.where(p > 0, p * (log_p - middle), 0.0).sum(axis=0) / len(log_p)  # type: ignore[no-any-return]
