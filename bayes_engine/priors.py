"""Where prior knowledge enters: pseudo-counts for a conditional table, and the class prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array

Smoothing = Literal["all", "zero-only", "none"]
SMOOTHING: tuple[Smoothing, ...] = ("all", "zero-only", "none")
PRIORS = ("empirical", "laplace", "uniform")
"""The rules for a class prior; the other way is to state it."""


def pseudo_counts(counts: Array, alpha: float, smoothing: Smoothing) -> Array:
    """(..., 1): what is added to every level of each (attribute, class) pair of `counts` (..., S).

    "all": α everywhere (Zhou, eq. 7.20 with α = 1). "zero-only": α for the whole pair that contains a zero, nothing
    elsewhere. "none": nothing (eq. 7.17). A pair without a single count is uniform in every case: it gets 1 where it
    would get 0.

    >>> pseudo_counts(np.array([[3.0, 5.0, 0.0], [3.0, 3.0, 3.0]]), 1.0, "zero-only").tolist()
    [[1.0], [0.0]]
    """
    if smoothing == "all":
        added = np.full((*counts.shape[:-1], 1), float(alpha))
    elif smoothing == "zero-only":
        added = np.where((counts == 0).any(axis=-1, keepdims=True), float(alpha), 0.0)
    else:
        added = np.zeros((*counts.shape[:-1], 1))
    return np.where((counts.sum(axis=-1, keepdims=True) == 0) & (added == 0), 1.0, added)


def class_prior(priors: Any, weight: Array, classes: Sequence[Any]) -> Array:
    """P(c) (..., C) from class weights (..., C).

    "empirical" |D_c|/|D| (eq. 7.16; without a single row uniform), "laplace" (|D_c|+1)/(|D|+K) (eq. 7.19), "uniform"
    1/K, or {label: p}.
    Raises ParameterError for a word that is none of these, a label that is no class, a missing one, a p outside [0, 1],
    or a sum that is not 1.

    >>> class_prior("laplace", np.array([8.0, 9.0]), ["no", "yes"]).round(4).tolist()
    [0.4737, 0.5263]
    """
    k = weight.shape[-1]
    if isinstance(priors, Mapping):
        return np.broadcast_to(given_prior(priors, classes), weight.shape)
    if isinstance(priors, str) and priors == "empirical":
        total = weight.sum(axis=-1, keepdims=True)
        return np.asarray(np.divide(weight, total, out=np.full(weight.shape, 1.0 / k), where=total > 0))
    if isinstance(priors, str) and priors == "laplace":
        return np.asarray((weight + 1.0) / (weight.sum(axis=-1, keepdims=True) + k))
    if isinstance(priors, str) and priors == "uniform":
        return np.full(weight.shape, 1.0 / k)
    raise ParameterError(
        "priors={value} is none of 'empirical', 'laplace', 'uniform' or a mapping from class label to probability",
        value=repr(priors),
    )


def given_prior(priors: Mapping[Any, Any], classes: Sequence[Any]) -> Array:
    """(C,) a stated prior in the order of `classes`, matched by label. Raises ParameterError as `class_prior` does."""
    known = list(classes)
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


def checked_alpha(alpha: Any, n: float) -> float:
    """α as a float. Raises ParameterError where it is negative, no number, or above a million times the rows."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not np.isfinite(alpha) or alpha < 0:
        raise ParameterError("alpha={value}; smoothing needs a number of 0 and more", value=repr(alpha))
    if alpha > 1e6 * max(n, 1.0):
        raise ParameterError(
            "alpha={value:.3g} drowns the {n:.0f} rows: every conditional would be uniform; take a smaller one",
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
