"""What a fitted naive Bayes model believes of a column that is neither a table nor a Gaussian: the curve of a kernel
density, a Poisson rate, the words of a text, the shares of columns that are one multinomial; and which likelihoods a
column can have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd

from bayes_engine.errors import BayesEngineError, ParameterError, listen
from bayes_engine.factors.joint_multinomial import ComplementCountsLeaf, JointMultinomialLeaf
from bayes_engine.factors.kernel import KernelLeaf, log_kernel_density
from bayes_engine.factors.leaf import Leaf
from bayes_engine.factors.likelihoods import ValuesLeaf
from bayes_engine.factors.poisson import PoissonLeaf
from bayes_engine.factors.sources import Fraction, fraction_of
from bayes_engine.factors.text import TextLeaf
from bayes_engine.language import Message
from bayes_engine.logspace import Array, exp, log_sum
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.complement import ComplementLeaf
from bayes_engine.models.likelihoods import Likelihood, possible
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.naive_bayes_wrapper import NaiveBayesWrapper
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.workbench.derivation.derive import class_order

REACH = 4.0
"""A kernel density is drawn so many bandwidths beyond its last bumps."""
NODES = 257


@dataclass(frozen=True)
class ClassConditionals:
    """What a model believes of a column, `classes` in the order wanted; `missing` (C,) is the weight of the cells left
    out as unknown."""

    variable: Variable
    target: str
    classes: tuple[Any, ...]
    missing: tuple[float, ...]


@dataclass(frozen=True)
class Curves(ClassConditionals):
    """p(x | class) by a kernel density: `values` (C, m) at the ascending `x` (m,), and for each class in the order of
    `classes` its `bandwidth` and the training values it stands on with their weights. `precision` is
    that of "kernel-range", None of Silverman's."""

    x: Array
    values: Array
    bandwidth: tuple[float, ...]
    points: tuple[tuple[Array, Array], ...]
    precision: float | None
    replaced: tuple[bool, ...]
    given: ClassVar[tuple[Any, ...]] = ()

    def n(self, k: int) -> float:
        """The weight of the values that the k-th class's bumps stand on."""
        return float(self.points[k][1].sum())

    def spread(self, k: int) -> float:
        """What the bandwidth h of the k-th class was taken from: of Silverman's h = s (4/(3n))^(1/5) the standard
        deviation s, of h = max(range/√n, p/6) the range."""
        if self.precision is None:
            return float(self.bandwidth[k] / (4.0 / (3.0 * self.n(k))) ** 0.2)
        values = self.points[k][0]
        return float(values[-1] - values[0])

    def bumps(self, k: int, most: int) -> tuple[tuple[Array, Array], ...]:
        """x and height of the bumps of the k-th class, each as it adds to the density; of many values `most`, evenly by
        rank."""
        values, weight = self.points[k]
        chosen = np.unique(np.linspace(0, len(values) - 1, min(len(values), most)).round().astype(int))
        h, half = self.bandwidth[k], 0.0 if self.precision is None else self.precision / 2
        away = np.linspace(-half - 3.5 * h, half + 3.5 * h, 61)
        bumps = []
        for i in chosen:
            x = values[i] + away
            log_p = log_kernel_density(x, values[i : i + 1], np.ones(1), h, self.precision)
            bumps.append((x, exp(log_p) * weight[i] / weight.sum()))
        return tuple(bumps)


@dataclass(frozen=True)
class CountConditionals(ClassConditionals):
    """P(x | class) of a count: `values` (C, m) at the counts `x` = 0, 1, … (m,), beside the shares `observed` (C, m) of
    the `n` rows with a known cell."""

    x: Array
    values: Array
    observed: Array
    n: tuple[float, ...]
    given: ClassVar[tuple[Any, ...]] = ()


@dataclass(frozen=True)
class Rates(CountConditionals):
    """A Poisson: of each class the rate, the sum it came from, and what smoothing added: (total + added · mean)/(n +
    added)."""

    rate: tuple[float, ...]
    total: tuple[float, ...]
    added: tuple[float, ...]
    mean: float
    mark: ClassVar[str] = "μ"

    def mean_of(self, k: int) -> float:
        """The mean of the k-th class."""
        return self.rate[k]


@dataclass(frozen=True)
class Distributions(CountConditionals):
    """A registered likelihood: of each class the `parameters` by symbol."""

    parameters: Mapping[str, tuple[float, ...]]
    mark: ClassVar[str] = "E x"

    def mean_of(self, k: int) -> float:
        """The mean of the k-th class, of the counts at `x`."""
        return float(self.x @ self.values[k])


@dataclass(frozen=True)
class WordTable(ClassConditionals):
    """P(term | class) of a text: (C, V) `counts`, how often each term stands in the texts of the class, `log_p`, and
    (C,) the `total` of all terms. Of a Bernoulli, in how many texts it stands, `log_absent` of those without it, and
    the `total` of all texts. Of complement naive Bayes all of it is of the other classes' texts."""

    terms: tuple[str, ...]
    counts: Array
    log_p: Array
    total: tuple[float, ...]
    log_absent: Array | None
    added: Array
    complement: bool = False
    given: ClassVar[tuple[Any, ...]] = ()

    @property
    def presence(self) -> bool:
        """Whether it asks of each term if it is there, not how often."""
        return self.log_absent is not None

    def source(self, k: int, v: int) -> Fraction:
        """Where the probability of the v-th term in the k-th class was counted: among its terms, or its texts."""
        width = 2 if self.presence else len(self.terms)
        added = np.broadcast_to(self.added[k][v] if self.presence else self.added[k], (width,))
        return fraction_of(float(self.counts[k, v]), self.total[k], added, 1 if self.presence else v)

    def discriminating(self, n: int = 20) -> pd.DataFrame:
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


@dataclass(frozen=True)
class ShareTable(WordTable):
    """P(column | class) of columns that are one multinomial, which are its `terms`; `variable` is the one looked at."""


Other = Curves | Rates | Distributions | WordTable


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
    >>> likelihood(model, "text").discriminating(3)["term"].tolist()
    ['at', 'lunch', 'noon']
    """
    own = model.target_.levels
    order = class_order(own, classes)
    leaf = column_factors(model).get(column)
    form = None if leaf is None else _FORMS.get(leaf.form)
    if form is None:
        raise ParameterError("column '{column}' has no kernel density, Poisson rate or words here", column=column)
    return form(model, leaf, tuple(own[k] for k in order), order)


def _words(model: GenerativeClassifier, leaf: TextLeaf, named: tuple[Any, ...], order: list[int]) -> WordTable:
    total = leaf.counts.weight if leaf.presence else leaf.counts.sums.sum(axis=1)
    absent = None if leaf.terms.absent is None else leaf.terms.absent[order]
    shape = (*leaf.counts.sums.shape, *leaf.added.shape[2:])
    missing = in_class(model.stats_.class_weight - model.stats_.texts.columns[leaf.variable.name].weight, order)
    return WordTable(leaf.variable, leaf.target, named, missing, leaf.counts.names, leaf.counts.sums[order],
                     leaf.terms.present[order], tuple(total[order].tolist()), absent,
                     np.broadcast_to(leaf.added, shape)[order], isinstance(leaf, ComplementLeaf))  # fmt: skip


def _shares(
    model: GenerativeClassifier, leaf: JointMultinomialLeaf, named: tuple[Any, ...], order: list[int]
) -> ShareTable:
    counts, nothing = leaf.counts, tuple(0.0 for _class in order)
    return ShareTable(leaf.variable, leaf.target, named, nothing, counts.columns, counts.sums[order],
                      counts.log_share[order], tuple(counts.sums.sum(axis=1)[order].tolist()), None,
                      counts.added[order], isinstance(leaf, ComplementCountsLeaf))  # fmt: skip


def _curves(model: GenerativeClassifier, factor: KernelLeaf, named: tuple[Any, ...], order: list[int]) -> Curves:
    widest = float(factor.bandwidth.max()) * REACH
    ends = np.linspace(factor.points[0] - widest, factor.points[-1] + widest, NODES)
    x = np.union1d(ends, factor.points if len(factor.points) <= NODES else ends)
    points = tuple((factor.points[w > 0], w[w > 0]) for w in factor.weight[order])
    return Curves(factor.variable, factor.target, named, _missing(model, factor.variable.name, order), x,
                  exp(factor.at(x).T[order]), tuple(factor.bandwidth[order].tolist()), points, factor.precision,
                  tuple(factor.replaced[k] for k in order))  # fmt: skip


def _counts(
    model: GenerativeClassifier, leaf: Leaf, named: tuple[Any, ...], order: list[int]
) -> tuple[Variable, str, tuple[Any, ...], tuple[float, ...], Array, Array, Array, tuple[float, ...]]:
    """What `CountConditionals` has."""
    column = model.stats_.values.columns[leaf.variable.name]
    x = np.arange(column.points[-1] + 2.0) if column.points[-1] < NODES else column.points
    total = column.total[order]
    observed = np.zeros((len(order), len(x)))
    observed[:, np.searchsorted(x, column.points)] = column.weight[order] / np.where(total > 0, total, 1.0)[:, None]
    missing, values = _missing(model, leaf.variable.name, order), exp(cast(ValuesLeaf, leaf).at(x).T[order])
    return leaf.variable, leaf.target, named, missing, x, values, observed, tuple(total.tolist())


def _rates(model: GenerativeClassifier, leaf: PoissonLeaf, named: tuple[Any, ...], order: list[int]) -> Rates:
    rate, sums, added = (tuple(a[order].tolist()) for a in (leaf.rate, leaf.total, leaf.added))
    return Rates(*_counts(model, leaf, named, order), rate, sums, added, leaf.mean)


def _parametric(model: GenerativeClassifier, leaf: Leaf, named: tuple[Any, ...], order: list[int]) -> Distributions:
    parameters = {name: tuple(np.asarray(v, dtype=float)[order].tolist()) for name, v in leaf.estimated_parameters}
    return Distributions(*_counts(model, leaf, named, order), parameters)


_FORMS: Mapping[str, Callable[..., Other]] = {
    "kernel": _curves,
    "rate": _rates,
    "text": _words,
    "share": _shares,
    "parametric": _parametric,
}
"""By the form of a leaf, what there is to see of it."""


def _missing(model: GenerativeClassifier, name: str, order: list[int]) -> tuple[float, ...]:
    known = model.stats_.values.columns[name].total
    return in_class(model.stats_.class_weight - known, order)


def in_class(weight: Array, order: list[int]) -> tuple[float, ...]:
    """Weights of the classes in this order, without what subtraction left below 0."""
    return tuple(np.maximum(weight, 0.0)[order].tolist())


def column_factors(model: GenerativeClassifier) -> dict[str, Any]:
    """The factor of each column of a naive Bayes model by name, before any weight or choice of columns; of another
    model those of its columns that have one of their own.

    >>> from bayes_engine import SelectiveNaiveBayes
    >>> X = pd.DataFrame({"noise": list("xyyxxyyx"), "sound": list("ddddcccc")})
    >>> model = SelectiveNaiveBayes().fit(X, list("yyyynnnn"))
    >>> [row.name for row, _term in model.explain(X).rows], list(column_factors(model))
    (['class', 'sound'], ['noise', 'sound'])
    """
    if isinstance(model, NaiveBayesWrapper):
        with listen():
            return dict(model._factors(model.stats_)[1])
    parts = getattr(model.factor_, "parts", ())
    return {f.variable.name: f for f in parts if getattr(f, "variable", None) is not None}


# which likelihoods a column can have ----------------------------------------------------------------------------


def suits(variable: Variable, x: pd.Series, y: pd.Series) -> dict[str, Message | None]:
    """The likelihoods that a column of its kind can have, each with None, or with what its values say against it: what
    a fit to this column alone raises.

    >>> against = suits(Variable("mass", "continuous"), pd.Series([0.5, 2.0], name="mass"), pd.Series(["a", "b"]))
    >>> against["kernel"], str(against["poisson"])[:43]
    (None, "column 'mass' holds 0.5 in row 1, which is ")
    """
    return {name: _against(cast(Likelihood, name), variable, x, y) for name in possible(variable)}


def _against(likelihood: Likelihood, variable: Variable, x: pd.Series, y: pd.Series) -> Message | None:
    model = NaiveBayes(likelihoods={variable.name: likelihood}, schema=Schema((variable,)))
    try:
        with listen():
            model.fit(x.to_frame(variable.name), y)
    except BayesEngineError as error:
        return error.message
    return None


# the rows behind ------------------------------------------------------------------------------------------------


def rows_of_class(conditional: Other, frame: pd.DataFrame, label: Any, term: str | None = None) -> pd.DataFrame:
    """The rows of `frame` (features and target) behind the numbers of class `label`: those with a known cell; of a text
    those in which `term` stands, where one is said, with how often it does in a column of that name; of columns that
    are one multinomial those that count some of the column `term`; of complement naive Bayes the rows of all other
    classes."""
    name = conditional.variable.name
    others = isinstance(conditional, WordTable) and conditional.complement
    rows: pd.DataFrame = frame.loc[((frame[conditional.target] == label) != others) & frame[name].notna()]
    if isinstance(conditional, ShareTable) and term is not None:
        return rows.loc[frame[term] > 0]
    if not isinstance(conditional, WordTable) or term is None or conditional.variable.text is None:
        return rows
    read = conditional.variable.text.vectorizer().build_analyzer()
    times = [sum(t == term for t in read(str(text))) for text in rows[name]]
    there: pd.DataFrame = rows.assign(**{"×": times})
    return there[there["×"] > 0]


def _part(log_p: Array) -> Array:
    """(V,) Σ_c p_c log(p_c/p̄)/K of log probabilities (C, V), 0 log 0 = 0."""
    p = exp(log_p)
    middle = log_sum(log_p, axis=0) - np.log(len(log_p))
    with np.errstate(invalid="ignore"):
        return np.where(p > 0, p * (log_p - middle), 0.0).sum(axis=0) / len(log_p)  # type: ignore[no-any-return]
