"""A person's own working, checked: the number as typed, its judgement to three digits, a hint where it is wrong."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import replace
from typing import Any, Literal

from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.kernel import KernelEstimate
from bayes_engine.factors.poisson import Rate
from bayes_engine.factors.sources import Fraction, Parametric, Power
from bayes_engine.factors.text import Words
from bayes_engine.language import Message
from bayes_engine.workbench.derivation.derive import Working
from bayes_engine.workbench.derivation.render import AS_IN_FILE, DisplayNames, cell_of, given_of, shown, where

Mark = Literal["blank", "right", "wrong", "unreadable"]

_DECIMAL = r"(?:\d++(?:\.\d*+)?|\.\d++)"
_TERM = rf"[-+]?{_DECIMAL}(?:e[-+]?\d++)?"
_SUM = re.compile(rf"{_TERM}(?:[+-]{_DECIMAL})*+")
_POWER = re.compile(r"[*x×·](?:10)(?:\^|\*\*)?([-+]?\d+)")
LONGEST = 40
"""A longer text is no number."""
OF_JOINT = Message("Multiply all factors of this column, the class prior among them.")
OF_POSTERIOR = Message("Divide this column's joint by the sum of the joints of all classes.")
"""What to do for a joint, and for a posterior."""


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


def hint(working: Working, i: int, k: int, text: str, names: DisplayNames = AS_IN_FILE) -> Message:
    """What to look at when the factor of step i and class k is wrong: the slip it looks like, else what to count."""
    step, source = working.steps[i], working.steps[i].sources[k]
    target, value = names.column(working.target), read_number(text)
    params: dict[str, Any] = {
        "target": target,
        "label": where(step, names.level(working.target, working.classes[k]), names),
        "column": names.column(step.row.child) if step.variable is not None else "",  # a prior is of no column
        "value": shown(step, names),
    }
    if value is None:
        return Message("Write a number: 0.375, a fraction such as 3/8 or (3+1)/(8+3), or 6.9e-5.")
    if isinstance(source, Power):
        return Message(
            "Take the factor as it would be without a weight; then to the power of the column's weight, {weight}.",
            {"weight": f"{source.weight:.6g}"},
        )
    if isinstance(source, Fraction):
        extra = {"added": f"{source.added:g}", "extra": f"{source.pseudo_total:g}", "levels": source.levels}
        if step.alike or (step.row.kind == "prior" and step.given):
            cells = ", ".join(r.spaced for r in given_of(step, names))
            all_of = Message("the rows of every class with {cells}", {"cells": cells}) if cells else Message("all rows")
            cell = f"{target} = {names.level(working.target, working.classes[k])}"
            own = {"among": all_of, "cell": cell_of(step, names).spaced if step.alike else cell}
            return Message(
                "Take {among}; count those with {cell} and add {added}; divide by their number plus {extra}.",
                own | extra,
            )
        if step.joint and source.pseudo_total and source.total and same(value, source.count / source.total):
            return Message(
                "That is the plain share. Here {added} is added to the count, and {extra} ({levels} pairs of a class "
                "and a value) to the total.",
                extra,
            )
        if source.pseudo_total and source.total and same(value, source.count / source.total):
            return Message(
                "That is the plain share. Here {added} is added to the count, and {extra} ({levels} levels) to the "
                "total.",
                extra,
            )
        if step.joint:
            return Message(
                "Count the rows with {target} = {label} and {column} = {value}, and add {added}; divide by the number "
                "of rows where {column} is known plus {extra}.",
                params | extra,
            )
        if not step.row.parents:
            return Message("Count the rows with {target} = {label}; divide by all rows.", params)
        other_way = sum(s.count for s in step.sources if isinstance(s, Fraction))
        if other_way and not step.given and same(value, source.count / other_way):
            return Message(
                "That is the share of {label} among the rows with {value}. Turn it round: among the rows with "
                "{target} = {label}, the share that has {column} = {value}.",
                params,
            )
        if source.pseudo_total:
            return Message(
                "Take the rows with {target} = {label}; count those with {column} = {value} and add {added}; divide by "
                "their number plus {extra}.",
                params | extra,
            )
        return Message(
            "Take the rows with {target} = {label}; of these, count the ones with {column} = {value}; divide.", params
        )
    if isinstance(source, Density):
        other_ddof = 1 - source.ddof
        if source.pseudo_counts is not None:
            return Message(
                "Take the values of {column} in the rows with {target} = {label}, and {added} pseudo-observations with "
                "the mean and the variance of the whole class: their mean and variance, its root; then the normal "
                "density at {value}.",
                params | {"added": f"{source.pseudo_counts.rows:g}"},
            )
        if source.stands_in:
            params["label"] = names.level(working.target, working.classes[k])
        if source.n > max(source.ddof, other_ddof) and not source.replaced:
            swapped = replace(source, ddof=other_ddof, variance=source.m2 / (source.n - other_ddof))
            if same(value, swapped.value) and not same(source.value, swapped.value):
                return Message(
                    "That is the density with the squared deviations divided by {wrong}. Here they are divided by "
                    "{right}.",
                    {"wrong": "n" if other_ddof == 0 else "n−1", "right": "n" if source.ddof == 0 else "n−1"},
                )
        return Message(
            "Take the values of {column} in the rows with {target} = {label}: their mean, the sum of the squared "
            "deviations divided by {degrees}, its root; then the normal density at {value}.",
            params | {"degrees": "n" if source.ddof == 0 else "n−1"},
        )
    if isinstance(source, Rate):
        return Message(
            "Take the rows with {target} = {label}: the sum of their values of {column} plus {extra}, divided by their "
            "number plus {added}, is the rate λ; then λ^x e^−λ/x! at x = {value}.",
            params | {"added": f"{source.added:g}", "extra": f"{source.added * source.mean:g}"},
        )
    if isinstance(source, Parametric):
        return Message(
            "Take the values of {column} in the rows with {target} = {label} and estimate {parameters} from them; then "
            "the probability of {value}.",
            params | {"parameters": ", ".join(q.symbol for q in source.estimated)},
        )
    if isinstance(source, KernelEstimate):
        return Message(
            "Take the values of {column} in the rows with {target} = {label}: at {value}, the mean of the normal "
            "densities about each of them, with the standard deviation h = {bandwidth}.",
            params | {"bandwidth": f"{source.bandwidth:.6g}"},
        )
    if isinstance(source, Words):
        return Message(
            "Multiply, over the words of {column}, the probability of each in the rows with {target} = {label}; for "
            "words that are asked only if they are there, those that are absent count too.",
            params,
        )
    return Message("This number was set, not counted: look at the model's settings.")
