"""Where prior knowledge enters: pseudo-counts for a conditional table, and the class prior."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array, log

Smoothing = Literal["all", "zero-only", "none"]
SMOOTHING: tuple[Smoothing, ...] = ("all", "zero-only", "none")
PRIORS = ("empirical", "laplace", "uniform")
"""The rules for a class prior; the other way is to state it."""


def checked_alpha(alpha: Any, n: float) -> float:
    """α as a float. Raises ParameterError where it is negative, no number, or above a million times the rows."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not np.isfinite(alpha) or alpha < 0:
        raise ParameterError("alpha={value}; smoothing needs a number of 0 and more", value=repr(alpha))
    if alpha > 1e6 * max(n, 1.0):
        raise ParameterError(
            "alpha={value:.3g} outweighs the {n:.0f} rows: every conditional would be uniform; take a smaller one",
            value=float(alpha),
            n=n,
        )
    return float(alpha)


def checked_word(name: str, value: Any, allowed: Sequence[str]) -> None:
    """Raises ParameterError where a parameter that is a word is none of the `allowed`."""
    if value not in allowed:
        raise ParameterError(
            "{name}={value} is none of {allowed}", name=name, value=repr(value), allowed=", ".join(map(repr, allowed))
        )


Per = Literal["level", "distribution", "table"]
Base = Literal["uniform", "marginal"]


@dataclass(frozen=True)
class Dirichlet:
    """The Dirichlet prior of a conditional table, as pseudo-counts: P(s|·) = (n_s + a_s)/(N + Σ_t a_t), the posterior
    mean under Dir(a).

    `amount` is the pseudo-count `per` "level" of each distribution (Lidstone's α: 1 is Laplace's correction, Zhou,
    eq. 7.20; ½ is Jeffreys' prior), per "distribution", shared out among its levels (the m-estimate, Cestnik 1990), or
    for the whole "table", every cell of its parents alike (the equivalent sample size of BDeu: Heckerman, Geiger &
    Chickering 1995). `base` is how the levels share: "uniform", or as the column's own "marginal", rows of all classes
    and parents together (then a level that no row has stays at 0).

    Raises ParameterError where the amount is negative or no number, or a word is none of these.

    >>> counts = np.array([[3.0, 5.0], [1.0, 1.0]])
    >>> for prior in (Dirichlet.jeffreys(), Dirichlet.m_estimate(2), Dirichlet.equivalent_sample_size(2)):
    ...     print(prior.pseudo_counts(counts).tolist())
    [[0.5], [0.5]]
    [[0.8, 1.2], [0.8, 1.2]]
    [[0.5], [0.5]]
    """

    amount: float
    per: Per = "level"
    base: Base = "uniform"

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", checked_alpha(self.amount, np.inf))
        checked_word("per", self.per, ("level", "distribution", "table"))
        checked_word("base", self.base, ("uniform", "marginal"))

    @classmethod
    def none(cls) -> Dirichlet:
        """No pseudo-counts: maximum likelihood (eq. 7.17)."""
        return cls(0.0)

    @classmethod
    def laplace(cls) -> Dirichlet:
        """One row per level (eq. 7.20): the flat Dirichlet."""
        return cls(1.0)

    @classmethod
    def lidstone(cls, alpha: float) -> Dirichlet:
        """α rows per level."""
        return cls(alpha)

    @classmethod
    def jeffreys(cls) -> Dirichlet:
        """Half a row per level: the prior that does not depend on how the distribution is written."""
        return cls(0.5)

    @classmethod
    def m_estimate(cls, m: float, base: Base = "marginal") -> Dirichlet:
        """m rows per distribution: (n + m p)/(N + m), p the share of the value in the column, or 1/S."""
        return cls(m, "distribution", base)

    @classmethod
    def equivalent_sample_size(cls, n: float) -> Dirichlet:
        """n rows for the whole table, spread evenly: n/(q S) per level of each of its q distributions."""
        return cls(n, "table")

    @property
    def may_be_zero(self) -> bool:
        """Whether a level without a row may have the probability 0."""
        return self.amount == 0 or self.base == "marginal"

    def per_level(self, shape: tuple[int, ...]) -> float:
        """The rows per level, on average, of a table of this shape (…, S)."""
        if self.per == "level":
            return self.amount
        return self.amount / max(shape[-1] if self.per == "distribution" else math.prod(shape), 1)

    def per_cell(self, cells: int) -> float:
        """The rows that a number's Gaussian is given in each of its cells: a cell is smoothed as one level is."""
        return self.amount / max(cells, 1) if self.per == "table" else self.amount

    def pseudo_counts(self, counts: Array) -> Array:
        """(…, 1) or (…, S): what is added to the `counts` (…, S) of a whole table."""
        even = self.per_level(counts.shape)
        if self.base == "uniform":
            return np.full((*counts.shape[:-1], 1), even)
        return np.broadcast_to(even * tilt(counts.sum(axis=tuple(range(counts.ndim - 1)))), counts.shape).copy()


Alpha = float | str | Dirichlet | Mapping[str, float | str | Dirichlet]
"""What a parameter called alpha takes: a number (Lidstone's α), a word, a Dirichlet, or one of these by column, "*"
being all others (1 where it is not given)."""
ClassPriors = Literal["empirical", "laplace", "uniform"] | Dirichlet | Mapping[Any, float] | Sequence[float] | Array
"""What a parameter called priors takes; numbers without labels stand in the order of `classes_`."""
WORDS: Mapping[str, Dirichlet] = MappingProxyType(
    {"none": Dirichlet.none(), "laplace": Dirichlet.laplace(), "jeffreys": Dirichlet.jeffreys()}
)
"""The Dirichlet priors that have a name and no number."""
OTHERS = "*"
"""The key that stands for all columns not named."""


def dirichlet(alpha: Any, column: str | None = None) -> Dirichlet:
    """The prior that `alpha` means for a column, or, by None, for what is no column. Raises ParameterError.

    >>> dirichlet({"colour": "jeffreys", "*": 2}, "colour").amount, dirichlet({"colour": "jeffreys", "*": 2}).amount
    (0.5, 2.0)
    """
    if isinstance(alpha, Mapping):
        alpha = alpha[column] if column is not None and column in alpha else alpha.get(OTHERS, 1.0)
    if isinstance(alpha, Dirichlet):
        return alpha
    if isinstance(alpha, str):
        checked_word("alpha", alpha, tuple(WORDS))
        return WORDS[alpha]
    return Dirichlet(alpha)


def checked_alphas(alpha: Any, columns: Collection[str], n: float) -> None:
    """Raises ParameterError where `alpha` is none of `Alpha`, names no column, or drowns the n rows."""
    if isinstance(alpha, Mapping):
        for name in alpha:
            if name != OTHERS and name not in columns:
                raise ParameterError(
                    "alpha names a column '{column}' that is not in the table; the columns are {known}, and '*' is all "
                    "others",
                    column=str(name),
                    known=", ".join(f"'{c}'" for c in columns),
                )
    for column in (*(columns if isinstance(alpha, Mapping) else ()), None):
        checked_alpha(dirichlet(alpha, column).amount, n)


def smoothed(n: Any, total: Any, a: Any, size: Any) -> Any:
    """(n + a)/(N + aS): the posterior mean of a level's probability, N the `total` of S levels, each with a
    pseudo-counts more (Zhou, eq. 7.19-7.20).

    >>> smoothed(3, 8, 1, 3)
    0.36363636363636365
    """
    return (n + a) / (total + a * size)


def log_smoothed(n: Any, total: Any, a: Any, size: Any, share: Any = 1.0) -> Array:
    """log (n + a t)/(N + aS) in nats, of arrays: where the levels share the pseudo-counts unevenly, t is a level's
    `share`; those of all levels have the mean 1.

    >>> round(float(log_smoothed(np.array(3.0), np.array(8.0), 1.0, 3)), 4)
    -1.0116
    """
    return log(n + a * share) - log(total + a * size)


def normalized(counts: Array) -> Array:
    """(…, S) each of the counts over their sum; 1/S where that is 0.

    >>> normalized(np.array([[3.0, 1.0], [0.0, 0.0]])).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    total = counts.sum(axis=-1, keepdims=True)
    even = np.full(counts.shape, 1.0 / counts.shape[-1])
    return np.asarray(np.divide(counts, total, out=even, where=total > 0))


def log_normalized(counts: Array) -> Array:
    """(…, S) log n_s/Σ_t n_t in nats, of counts that are not all 0."""
    return log(counts) - log(counts.sum(axis=-1, keepdims=True))


def tilt(marginal: Array) -> Array:
    """(S,) how much more than its even share each level gets: S p_s for the column's counts (S,); 1 without a row."""
    total = marginal.sum(axis=-1, keepdims=True)
    even = np.ones(marginal.shape)
    return np.asarray(np.divide(marginal.shape[-1] * marginal, total, out=even, where=total > 0))


def pseudo_counts(counts: Array, alpha: float | Dirichlet, smoothing: Smoothing) -> Array:
    """(…, 1), or (…, S) where they differ: what is added to the levels of each (attribute, class) pair of `counts`
    (…, S), a number being the same everywhere.

    "all": the prior everywhere (Zhou, eq. 7.20 with α = 1). "zero-only": for the whole pair that contains a zero,
    nothing elsewhere. "none": nothing (eq. 7.17). A pair without a single count is uniform in every case: it gets 1
    where it would get 0.

    >>> pseudo_counts(np.array([[3.0, 5.0, 0.0], [3.0, 3.0, 3.0]]), 1.0, "zero-only").tolist()
    [[1.0], [0.0]]
    """
    prior = alpha if isinstance(alpha, Dirichlet) else Dirichlet(alpha)
    return where_smoothed(counts, prior.pseudo_counts(counts), smoothing)


def where_smoothed(counts: Array, added: Array, smoothing: Smoothing) -> Array:
    """What is `added` to `counts` (…, S), (…, 1) or (…, S), in the pairs that `smoothing` smooths; see
    `pseudo_counts`."""
    if smoothing == "none":
        added = np.zeros((*counts.shape[:-1], 1))
    elif smoothing == "zero-only":
        added = np.where((counts == 0).any(axis=-1, keepdims=True), added, 0.0)
    nothing = (counts.sum(axis=-1, keepdims=True) == 0) & (added.sum(axis=-1, keepdims=True) == 0)
    return np.where(nothing, 1.0, added)


def class_prior(priors: Any, weight: Array, classes: Sequence[Any]) -> Array:
    """P(c) (..., C) from class weights (..., C).

    "empirical" |D_c|/|D| (eq. 7.16; without a single row uniform), "laplace" (|D_c|+1)/(|D|+K) (eq. 7.19), a
    Dirichlet, "uniform" 1/K, {label: p}, or one number for each class, as `class_prior_` of another model.
    Raises ParameterError for a word that is none of these, a label that is no class, a missing one, more or fewer
    numbers than classes, a p outside [0, 1], a sum that is not 1, or a Dirichlet of more than a million times the rows.

    >>> class_prior("laplace", np.array([8.0, 9.0]), ["no", "yes"]).round(4).tolist()
    [0.4737, 0.5263]
    """
    k = weight.shape[-1]
    if isinstance(priors, Mapping | list | tuple | np.ndarray):
        return np.broadcast_to(given_prior(priors, classes), weight.shape)
    if isinstance(priors, Dirichlet) or (isinstance(priors, str) and priors in ("empirical", "laplace")):
        if isinstance(priors, Dirichlet) and priors.amount > 1e6 * max(n := float(weight.sum(axis=-1).max()), 1.0):
            raise ParameterError(
                "priors={value} outweighs the {n:.0f} rows: all classes would be alike; take 'uniform', "
                "or a smaller one",
                value=repr(priors),
                n=n,
            )
        return normalized(weight + added_to_class(priors, k))
    if isinstance(priors, str) and priors == "uniform":
        return np.full(weight.shape, 1.0 / k)
    raise ParameterError(
        "priors={value} is none of 'empirical', 'laplace', 'uniform', a mapping from class label to probability, or "
        "one number for each class",
        value=repr(priors),
    )


def added_to_class(priors: Any, k: int) -> float:
    """What a rule for the class prior adds to the weight of each of k classes.

    >>> [added_to_class(rule, 3) for rule in ("laplace", Dirichlet.equivalent_sample_size(3), "uniform")]
    [1.0, 1.0, 0.0]
    """
    prior = WORDS["laplace"] if isinstance(priors, str) and priors == "laplace" else priors
    return prior.per_level((k,)) if isinstance(prior, Dirichlet) else 0.0


def given_prior(priors: Any, classes: Sequence[Any]) -> Array:
    """(C,) a stated prior in the order of `classes`: a mapping is matched by label, of anything else each number stands
    for the class in its place. Raises ParameterError as `class_prior` does.

    >>> [given_prior(p, ["no", "yes"]).tolist() for p in ({"yes": 0.25, "no": 0.75}, [0.75, 0.25])]
    [[0.75, 0.25], [0.75, 0.25]]
    """
    known = list(classes)
    if not isinstance(priors, Mapping):
        if len(priors) != len(known):
            raise ParameterError(
                "Number of priors must match number of classes: {n} priors, {k} classes", n=len(priors), k=len(known)
            )
        priors = dict(zip(known, priors, strict=True))
    for label in priors:
        if label not in known:
            raise ParameterError(
                "priors name a class '{label}' that is not in the target; the classes are {classes}",
                label=str(label),
                classes=", ".join(map(str, known)),
            )
    values = []
    for label in known:
        if label not in priors:
            raise ParameterError("priors give no probability for class '{label}'", label=str(label))
        try:
            p = float(priors[label])
        except (TypeError, ValueError):
            p = float("nan")
        if not 0.0 <= p <= 1.0:
            raise ParameterError(
                "the prior of class '{label}' is {value}; it must be a number from 0 to 1",
                label=str(label),
                value=str(priors[label]),
            )
        values.append(p)
    if abs(sum(values) - 1.0) > 1e-9:
        raise ParameterError("priors sum to {total:.12g}, not 1", total=sum(values))
    return np.array(values)


def with_share(prior: Sequence[float], k: int, p: float) -> tuple[float, ...]:
    """(C,) a prior with its k-th class at `p`; the others keep their proportions, and all sum to 1.

    >>> [round(v, 4) for v in with_share((0.5, 0.3, 0.2), 0, 0.75)], with_share((1.0, 0.0), 0, 0.5)
    ([0.75, 0.15, 0.1], (0.5, 0.5))
    """
    rest = sum(prior) - prior[k]
    even = 1.0 / (len(prior) - 1)
    return tuple(p if i == k else (1.0 - p) * (v / rest if rest > 0 else even) for i, v in enumerate(prior))


def checked_share(name: str, value: Any) -> float:
    """A parameter that is a share as a float. Raises ParameterError where it is not between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 < value < 1.0:
        raise ParameterError("{name}={value} is no share between 0 and 1", name=name, value=repr(value))
    return float(value)


def checked_number(name: str, value: Any) -> float:
    """A parameter that is a number as a float. Raises ParameterError where it is not finite, or below 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
        raise ParameterError("{name}={value}; it must be a number of 0 and more", name=name, value=repr(value))
    return float(value)


def checked_whole(name: str, value: Any, least: int) -> int:
    """A parameter that is a whole number. Raises ParameterError where it is none, or below `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(
            "{name}={value}; it must be a whole number of {least} and more", name=name, value=repr(value), least=least
        )
    return int(value)
