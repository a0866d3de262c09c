"""The known mistakes of a working done by hand, each named where its number is filled in: numbers rounded too early,
a misprint of the source, smoothing that was not asked for (or left out), the other variance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from bayes_engine.dataset_format import Erratum
from bayes_engine.errors import listen
from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.sources import Fraction, Source
from bayes_engine.language import Message, current_language
from bayes_engine.logspace import Array, exp, log, normalize
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.workbench.derivation.check import Checked, hint, mark, other_variance, read_number, same
from bayes_engine.workbench.derivation.derive import Working, WorkingStep, by_hand, derive, rounded
from bayes_engine.workbench.derivation.factor_names import AS_IN_FILE, DisplayNames
from bayes_engine.workbench.derivation.misprints import WorkingPlace, agrees, last_number, misprints

EARLY = Message("Early rounding: right, if every number on the way is rounded to three digits as well.")
TOO_FEW = Message("The right number, rounded to two digits: give three.")
TWO_ON_THE_WAY = Message("Early rounding: that is what two digits on the way give. Keep three at least.")
LAPLACE = Message(
    "That is what adding 1 to every count gives, the class prior's too (Laplace's correction). Not so here."
)
LAPLACE_BUT_PRIOR = Message("That is what adding 1 to every count but the class prior's gives. Not so here.")
ZERO_ONLY = Message(
    "That is what adding 1 gives where a class has no row with some value of the column, and only there. Not so here."
)
PLAIN = Message("That is what the plain shares give. Here pseudo-counts are added.")
BY_N = Message("That is what squared deviations divided by n give. Here they are divided by n−1.")
BY_N_LESS_1 = Message("That is what squared deviations divided by n−1 give. Here they are divided by n.")
OF_JOINT = Message("Multiply all factors of this column, the class prior among them.")
OF_POSTERIOR = Message("Divide this column's joint by the sum of the joints of all classes.")


def judge(
    text: str,
    right: float,
    early: Sequence[float],
    *,
    mistake: Callable[[float], Message | None],
    advice: Callable[[], Message],
    early_name: Callable[[], Message],
) -> Checked:
    """The judgement of a text against the `right` number. One of the `early`, which come of rounding to three digits on
    the way, is right as well, and said to be so; a wrong number is named by its `mistake`, or gets `advice`."""
    value, judgement = read_number(text), mark(text, right, *early)
    if value is None:
        return Checked(judgement, None if judgement == "blank" else advice())
    if judgement == "wrong":
        return Checked(judgement, mistake(value) or advice())
    typed = repr(value)
    rounded_early = not agrees(right, typed) and any(agrees(number, typed) for number in early)
    return Checked(judgement, early_name() if rounded_early or not same(value, right) else None)


def known_mistake(text: str, value: float, right: float, mistakes: Iterable[tuple[float, Message]]) -> Message | None:
    """The name of the mistake that gives a wrong number: of those that do, the one whose number is nearest."""
    if "/" not in text and value == by_hand(value, 2) and same(value, right, 2):
        return TOO_FEW
    alike = [(abs(number - value), name) for number, name in mistakes if same(value, number)]
    return min(alike, key=lambda mistake: mistake[0])[1] if alike else None


@dataclass(frozen=True)
class FilledIn:
    """A working of a model's case that a person fills in; `errata` are the misprints of its source.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import PRESETS
    >>> melons = load_dataset("watermelon3")
    >>> X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    >>> model = NaiveBayes(**PRESETS["textbook"]).fit(X, y)
    >>> working = derive(model, X.iloc[[0]], classes=["是", "否"])
    >>> sheet = FilledIn(working, model, X.iloc[[0]], melons.info.errata)
    >>> good = WorkingPlace(None, 0, "joint")
    >>> for text in ("0.0524", "0.063", "0.0256"):
    ...     print(*sheet.checked(text, good))
    right None
    wrong A misprint of the source: 0.063. It follows from 5/8; the printed 0.063 comes back if 0.750 is used for the \
navel. The decision is the same.
    wrong That is what adding 1 to every count gives, the class prior's too (Laplace's correction). Not so here.
    """

    working: Working
    model: GenerativeClassifier
    case: pd.DataFrame
    errata: tuple[Erratum, ...] = ()

    def checked(self, text: str, place: WorkingPlace, names: DisplayNames = AS_IN_FILE) -> Checked:
        """The judgement of the text at a place of the working: a "factor", or (without a step) a "joint" or a
        "posterior". A number that comes of rounding to three digits on the way is right, and said to be so."""
        return judge(
            text,
            _number(self.working, place),
            self._rounded(place, 3),
            mistake=lambda value: self._mistake(text, value, place),
            advice=lambda: self._advice(text, place, names),
            early_name=lambda: self._early(place),
        )

    def _advice(self, text: str, place: WorkingPlace, names: DisplayNames) -> Message:
        if place.step is not None:
            return hint(self.working, place.step, place.k, text, names)
        return OF_JOINT if place.part == "joint" else OF_POSTERIOR

    def _mistake(self, text: str, value: float, place: WorkingPlace) -> Message | None:
        """The name of a wrong number's mistake, if it is a known one."""
        if misprint := self._misprint(value, place):
            return misprint
        mistakes = [] if place.step is not None else [(_of_joint(logs, place), name) for name, logs in self._joints()]
        mistakes += [(number, TWO_ON_THE_WAY) for number in self._rounded(place, 2)]
        return known_mistake(text, value, _number(self.working, place), mistakes)

    def _rounded(self, place: WorkingPlace, digits: int) -> list[float]:
        """What comes of rounding on the way: every factor, mean and standard deviation; the factors only."""
        numbers = [_number(rounded(self.working, digits), place)]
        if place.step is None:
            factors = [[by_hand(f, digits) for f in step.factors] for step in self.working.steps]
            numbers.append(_of_joint(log(np.array(factors)).sum(axis=0), place))
        return numbers

    def _misprint(self, value: float, place: WorkingPlace) -> Message | None:
        """A number that the source misprints here, or of a density one that comes of its misprinted mean."""
        for there, erratum in self._misprints:
            if there == place and agrees(value, erratum.printed):
                return Message("A misprint of the source: {printed}. {note}", _printed(erratum))
            if there == place._replace(part="mean") and same(value, float(exp(self._misprinted(there, erratum)))):
                return _followed(erratum)
        return None

    def _early(self, place: WorkingPlace) -> Message:
        for there, erratum in misprints(self.working, self.errata):
            if there == place and erratum.rounded:
                return Message("Early rounding. {note}", _printed(erratum))
        return EARLY

    @cached_property
    def _misprints(self) -> list[tuple[WorkingPlace, Erratum]]:
        return [(place, e) for place, e in misprints(self.working, self.errata) if not e.rounded]

    def _misprinted(self, place: WorkingPlace, erratum: Erratum) -> float:
        """The log factor with the number as printed."""
        printed = last_number(erratum.printed)
        source = self.working.steps[place.step or 0].sources[place.k]
        if place.part == "mean" and isinstance(source, Density):
            return replace(source, mean=printed).log_value
        return float(log(printed))

    def _joints(self) -> Iterator[tuple[Message, Array]]:
        """What the log joints (C,) would be with each mistake on the way that makes a difference."""
        steps = self.working.steps
        logs = np.array([step.log_factors for step in steps])
        for place, erratum in self._misprints:
            if place.step is not None:
                wrong = logs.copy()
                wrong[place.step, place.k] = self._misprinted(place, erratum)
                yield _followed(erratum), wrong.sum(axis=0)
        for name, change in _CHANGES:
            sources = [[change(step, source) for source in step.sources] for step in steps]
            wrong = np.array(
                [
                    [own if s is None else float(log(s.value)) for own, s in zip(row, changed, strict=True)]
                    for row, changed in zip(logs, sources, strict=True)
                ]
            )
            yield name, wrong.sum(axis=0)
        if isinstance(self.model, NaiveBayes) and self.model.smoothing != "zero-only":
            priors = "empirical" if self.model.priors == "laplace" else self.model.priors
            with listen():
                repaired = self.model.with_params(smoothing="zero-only", alpha=1.0, priors=priors)
                own = derive(repaired, self.case, classes=self.working.classes)
            logs[: len(own.steps)] = [step.log_factors for step in own.steps]  # the last may be the prior of use
            yield ZERO_ONLY, logs.sum(axis=0)


def _number(working: Working, place: WorkingPlace) -> float:
    if place.step is not None:
        return working.steps[place.step].factors[place.k]
    return (working.joint if place.part == "joint" else working.posterior)[place.k]


def _of_joint(log_joint: Array, place: WorkingPlace) -> float:
    """A joint, or a posterior, from the log joints (C,)."""
    numbers = exp(log_joint) if place.part == "joint" else normalize(log_joint[None])[0]
    return float(numbers[place.k])


def _printed(erratum: Erratum) -> dict[str, str]:
    return {
        "where": erratum.where,
        "printed": erratum.printed,
        "note": erratum.text("note", current_language()),
    }


def _followed(erratum: Erratum) -> Message:
    return Message("That is what a misprint of the source gives, {printed} for {where}. {note}", _printed(erratum))


def _with_added(added: float, *, prior: bool) -> Callable[[WorkingStep, Source], Source | None]:
    """So much added to every count, the class prior's too if `prior`."""

    def change(step: WorkingStep, source: Source) -> Source | None:
        if isinstance(source, Fraction) and source.total > 0 and (prior or step.row.parents):
            return replace(source, added=added, uneven=None)
        return None

    return change


def _with_variance(ddof: int) -> Callable[[WorkingStep, Source], Source | None]:
    """The squared deviations divided by n − ddof."""
    return lambda _step, source: other_variance(source) if isinstance(source, Density) and source.ddof != ddof else None


_CHANGES = (
    (LAPLACE, _with_added(1.0, prior=True)),
    (LAPLACE_BUT_PRIOR, _with_added(1.0, prior=False)),
    (PLAIN, _with_added(0.0, prior=True)),
    (BY_N, _with_variance(0)),
    (BY_N_LESS_1, _with_variance(1)),
)
"""A mistake on the way, and the source of a number that it puts in place of the right one (None: it stays)."""
