"""A person's own working: the number as typed, its judgement to three digits, what to count where it is wrong."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.joint_multinomial import CountShare
from bayes_engine.factors.kernel import KernelEstimate
from bayes_engine.factors.poisson import Rate
from bayes_engine.factors.sources import Fraction, Parametric, Power, Source
from bayes_engine.factors.text import Words
from bayes_engine.language import Message
from bayes_engine.workbench.derivation.derive import Working, WorkingStep
from bayes_engine.workbench.derivation.factor_names import (
    AS_IN_FILE,
    DisplayNames,
    cell_of,
    given_of,
    shown,
    where,
)
from bayes_engine.workbench.derivation.render import fraction

Mark = Literal["blank", "right", "wrong", "unreadable"]

_DECIMAL = r"(?:\d++(?:\.\d*+)?|\.\d++)"
_TERM = rf"[-+]?{_DECIMAL}(?:e[-+]?\d++)?"
_SUM = re.compile(rf"{_TERM}(?:[+-]{_DECIMAL})*+")
_POWER = re.compile(r"[*x×·](?:10)(?:\^|\*\*)?([-+]?\d+)")
LONGEST = 40
"""A longer text is no number."""


def read_number(text: str) -> float | None:
    """The number a person typed: a decimal, a fraction, a fraction of sums, a percentage, a power of ten.

    >>> [read_number(t) for t in ("3/8", "(3+1)/(8+3)", "37.5 %", "6.8e-5", "6.8×10^-5", "3,14", "three", "1/0")]
    [0.375, 0.36363636363636365, 0.375, 6.8e-05, 6.8e-05, 3.14, None, None]
    """
    plain = unicodedata.normalize("NFKC", text).replace("−", "-").replace("–", "-").lower()
    plain = re.sub(r"\s", "", plain).replace(",", ".")
    if len(plain) > LONGEST:
        return None
    share, plain = plain.endswith("%"), _POWER.sub(r"e\1", plain.removesuffix("%"))
    up, slash, down = plain.partition("/")
    above, below = _sum(up), _sum(down) if slash else 1.0
    if above is None or not below:
        return None
    value = above / below / (100.0 if share else 1.0)
    return value if math.isfinite(value) else None


def _sum(text: str) -> float | None:
    inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    if not _SUM.fullmatch(inner):
        return None
    return float(sum(float(term) for term in re.findall(_TERM, inner)))


def same(value: float, right: float, digits: int = 3) -> bool:
    """Whether `value` is `right` within rounding to `digits` decimals or significant digits; below 0.01 only the latter
    counts.

    >>> same(0.066, 0.06622), same(0.07, 0.06622), same(0.0, 1e-9), same(6.86e-05, 6.8584e-05)
    (True, False, False, True)
    """
    if right == 0:
        return value == 0
    place = math.floor(math.log10(abs(right)))
    unit = 10.0 ** (place - digits + 1)
    if abs(right) >= 0.01:
        unit = max(unit, 10.0**-digits)
    return abs(value - right) <= 0.5 * unit * (1 + 1e-9)


def mark(text: str, *right: float) -> Mark:
    """The judgement of a text against the right number, or one of several (unrounded, and as done by hand).

    >>> mark("", 0.375), mark("3/8", 0.375), mark("0.38", 0.375), mark("?", 0.375)
    ('blank', 'right', 'wrong', 'unreadable')
    """
    if not text.strip():
        return "blank"
    value = read_number(text)
    if value is None:
        return "unreadable"
    return "right" if any(same(value, r) for r in right) else "wrong"


class Checked(NamedTuple):
    """The judgement of what was filled in, and the mistake's name, or what to do."""

    mark: Mark
    note: Message | None = None


def hint(working: Working, i: int, k: int, text: str, names: DisplayNames = AS_IN_FILE) -> Message:
    """What to look at when the factor of step i and class k is wrong: the mistake it looks like, else what to count."""
    value = read_number(text)
    if value is None:
        return Message("Write a number: 0.375, a fraction such as 3/8 or (3+1)/(8+3), or 6.9e-5.")
    asked = _Asked(working, working.steps[i], k, value, names)
    match asked.source:
        case Power(weight=weight):
            return Message(
                "Take the factor as it would be without a weight; then to the power of the column's weight, {weight}.",
                {"weight": f"{weight:.6g}"},
            )
        case Fraction() as source:
            return _share_mistaken(asked, source) or _count(asked, source)
        case Density() as source:
            return _density(asked, source)
        case Rate() as source:
            return Message(
                "Take the rows with {target} = {label}: the sum of their values of {column} plus {extra}, divided by "
                "their number plus {added}, is the rate μ; then μ^x e^−μ/x! at x = {value}.",
                asked.words | {"added": f"{source.added:g}", "extra": f"{source.added * source.mean:g}"},
            )
        case CountShare():
            return Message(
                "Take the rows with {target} = {label}: the sum of {column}, over the sum of all columns of the "
                "multinomial (both smoothed where the model smooths), is the share θ; then θ to the power of {value}.",
                asked.words,
            )
        case Parametric() as source:
            return Message(
                "Take the values of {column} in the rows with {target} = {label} and estimate {parameters} from them; "
                "then the probability of {value}.",
                asked.words | {"parameters": ", ".join(q.symbol for q in source.estimated)},
            )
        case KernelEstimate(bandwidth=bandwidth):
            return Message(
                "Take the values of {column} in the rows with {target} = {label}: at {value}, the mean of the normal "
                "densities about each of them, with the standard deviation h = {bandwidth}.",
                asked.words | {"bandwidth": f"{bandwidth:.6g}"},
            )
        case Words():
            return Message(
                "Multiply, over the words of {column}, the probability of each in the rows with {target} = {label}; "
                "for words that are asked only if they are there, those that are absent count too.",
                asked.words,
            )
    return Message("This number was set, not counted: look at the model's settings.")


@dataclass(frozen=True)
class _Asked:
    """The factor of a step and a class that was filled in with a `value`."""

    working: Working
    step: WorkingStep
    k: int
    value: float
    names: DisplayNames

    @property
    def source(self) -> Source:
        return self.step.sources[self.k]

    @property
    def class_name(self) -> str:
        return self.names.level(self.working.target, self.working.classes[self.k])

    @property
    def words(self) -> dict[str, Any]:
        """What the sentences name."""
        step = self.step
        return {
            "target": self.names.column(self.working.target),
            "label": where(step, self.class_name, self.names),
            "column": self.names.column(step.row.child) if step.variable is not None else "",  # a prior is of no column
            "value": shown(step, self.names),
        }


def _share_mistaken(asked: _Asked, source: Fraction) -> Message | None:
    """What a wrong share looks like: smoothed where it is not, not smoothed where it is, or turned round."""
    step, value, total = asked.step, asked.value, source.total
    if not source.pseudo_total and same(value, (laplace := replace(source, added=1.0, uneven=None)).value):
        return Message(
            "That is {fraction}, with Laplace's correction. Here nothing is added.", {"fraction": fraction(laplace)}
        )
    if source.pseudo_total and total and same(value, source.count / total):
        extra = _added(source)
        if step.joint:
            return Message(
                "That is the plain share. Here {added} is added to the count, and {extra} ({levels} pairs of a class "
                "and a value) to the total.",
                extra,
            )
        return Message(
            "That is the plain share. Here {added} is added to the count, and {extra} ({levels} levels) to the total.",
            extra,
        )
    other_way = sum(s.count for s in step.sources if isinstance(s, Fraction))
    turned = step.row.parents and not (step.joint or step.alike or step.given or step.row.kind == "prior")
    if turned and other_way and same(value, source.count / other_way):
        return Message(
            "That is the share of {label} among the rows with {value}. Turn it round: among the rows with "
            "{target} = {label}, the share that has {column} = {value}.",
            asked.words,
        )
    return None


def _added(source: Fraction) -> dict[str, Any]:
    return {"added": f"{source.added:g}", "extra": f"{source.pseudo_total:g}", "levels": source.levels}


def _count(asked: _Asked, source: Fraction) -> Message:
    """What to count for a share."""
    step, names, words, extra = asked.step, asked.names, asked.words, _added(source)
    if step.alike or (step.row.kind == "prior" and step.given):
        cells = ", ".join(r.spaced for r in given_of(step, names))
        all_of = Message("the rows of every class with {cells}", {"cells": cells}) if cells else Message("all rows")
        cell = cell_of(step, names).spaced if step.alike else f"{words['target']} = {asked.class_name}"
        return Message(
            "Take {among}; count those with {cell} and add {added}; divide by their number plus {extra}.",
            {"among": all_of, "cell": cell, **extra},
        )
    if step.joint:
        return Message(
            "Count the rows with {target} = {label} and {column} = {value}, and add {added}; divide by the number "
            "of rows where {column} is known plus {extra}.",
            words | extra,
        )
    if not step.row.parents:
        return Message("Count the rows with {target} = {label}; divide by all rows.", words)
    if source.pseudo_total:
        return Message(
            "Take the rows with {target} = {label}; count those with {column} = {value} and add {added}; divide by "
            "their number plus {extra}.",
            words | extra,
        )
    return Message(
        "Take the rows with {target} = {label}; of these, count the ones with {column} = {value}; divide.", words
    )


def _density(asked: _Asked, source: Density) -> Message:
    """What to look at in a normal density, or that n and n−1 were confused."""
    words = asked.words
    if source.pseudo_counts is not None:
        return Message(
            "Take the values of {column} in the rows with {target} = {label}, and {added} pseudo-observations with "
            "the mean and the variance of the whole class: their mean and variance, its root; then the normal "
            "density at {value}.",
            words | {"added": f"{source.pseudo_counts.rows:g}"},
        )
    if source.stands_in:
        words["label"] = asked.class_name
    swapped = other_variance(source)
    if swapped and same(asked.value, swapped.value) and not same(source.value, swapped.value):
        return Message(
            "That is the density with the squared deviations divided by {wrong}. Here they are divided by {right}.",
            {"wrong": _DEGREES[swapped.ddof], "right": _DEGREES[source.ddof]},
        )
    return Message(
        "Take the values of {column} in the rows with {target} = {label}: their mean, the sum of the squared "
        "deviations divided by {degrees}, its root; then the normal density at {value}.",
        words | {"degrees": _DEGREES[source.ddof]},
    )


_DEGREES = {0: "n", 1: "n−1"}
"""What squared deviations are divided by."""


def other_variance(source: Density) -> Density | None:
    """The density with its squared deviations divided by n where they are by n−1, and the other way round; None where
    its variance is no such quotient."""
    ddof = 1 - source.ddof
    if source.n <= 1 or source.replaced or source.pseudo_counts is not None:
        return None
    return replace(source, ddof=ddof, variance=source.m2 / (source.n - ddof))
