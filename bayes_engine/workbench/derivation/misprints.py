"""Misprints of a source, matched to the very numbers of a working: a note appears where its right number stands."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from bayes_engine.dataset_format import Erratum
from bayes_engine.factors.gaussian import Density
from bayes_engine.workbench.derivation.derive import Working

_NUMBER = re.compile(r"\d+(?:\.(\d+))?(?:[eE]([-+]?\d+))?")


class WorkingPlace(NamedTuple):
    """A number of a working: of class `k`, in step `step` its "factor" or the "mean" in it, without one (None) the
    "joint" or the "posterior"."""

    step: int | None
    k: int
    part: str


def misprints(working: Working, errata: Iterable[Erratum]) -> list[tuple[WorkingPlace, Erratum]]:
    """The errata that speak of a number of this working: same column, level and class, and the number is the right one.

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> from bayes_engine.workbench.derivation.derive import derive
    >>> X, y = pd.DataFrame({"navel": ["hollow", "hollow", "flat"]}), ["good", "bad", "bad"]
    >>> working = derive(NaiveBayes(smoothing="none").fit(X, y), X.iloc[[0]])
    >>> slip = Erratum("p. 1", "1/3", "1/2 = 0.5", "", "", column="navel", level="hollow", class_="bad")
    >>> [place for place, _slip in misprints(working, [slip])]
    [WorkingPlace(step=1, k=0, part='factor')]
    """
    numbers = _numbers(working)
    return [
        (place, m)
        for m in errata
        for place, value in numbers
        if _anchored(working, place, m) and agrees(value, m.right)
    ]


def agrees(value: float, right: str) -> bool:
    """Whether `value`, rounded as the last number of `right` is, is that number.

    >>> agrees(0.0523787, "0.052"), agrees(0.0628545, "0.052"), agrees(1.95899, "0.57375, 0.12921 → 1.959")
    (True, False, True)
    """
    numbers = list(_NUMBER.finditer(right))
    if not numbers:
        return False
    last = numbers[-1]
    digits, form = len(last[1] or ""), "f" if last[2] is None else "e"
    return float(f"{value:.{digits}{form}}") == last_number(right)


def last_number(text: str) -> float:
    """The last number of an erratum's text, NaN where it has none: 0.75 of «6/8 = 0.750»."""
    numbers = [m[0] for m in _NUMBER.finditer(text)]
    return float(numbers[-1]) if numbers else math.nan


def _numbers(working: Working) -> list[tuple[WorkingPlace, float]]:
    numbers: list[tuple[WorkingPlace, float]] = []
    for i, step in enumerate(working.steps):
        for k, (factor, source) in enumerate(zip(step.factors, step.sources, strict=True)):
            numbers.append((WorkingPlace(i, k, "factor"), factor))
            if isinstance(source, Density):
                numbers.append((WorkingPlace(i, k, "mean"), source.mean))
    return numbers + [(WorkingPlace(None, k, "joint"), joint) for k, joint in enumerate(working.joint)]


def _anchored(working: Working, place: WorkingPlace, misprint: Erratum) -> bool:
    """Whether the erratum names this place; a level it does not name may be any."""
    part = {"": "factor", "density": "factor"}.get(misprint.step, misprint.step)
    if part != place.part or misprint.class_ not in ("", working.classes[place.k]):
        return False
    if place.step is None:
        return misprint.column == ""
    step = working.steps[place.step]
    if step.given or step.joint:  # the sources' misprints are of naive Bayes
        return False
    named = step.row.child if step.row.parents else ""
    return misprint.column == named and misprint.level in ("", step.value)
