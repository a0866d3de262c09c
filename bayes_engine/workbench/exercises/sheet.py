"""A sheet of exercises: what is given, what is to be filled in or chosen, and the judgement of each answer.

A kind of exercise says how its numbers are computed, once: `solve(short, slip)` gives every number by its key, where
`short` is what is done to each number on the way, and `slip` names a mistake that is made. What rounding too early and
each known mistake would give is so computed from the same lines as what is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from bayes_engine.language import Message
from bayes_engine.table.roles import Parts
from bayes_engine.workbench.derivation.check import Checked
from bayes_engine.workbench.derivation.derive import by_hand
from bayes_engine.workbench.derivation.factor_names import DisplayNames
from bayes_engine.workbench.derivation.mistakes import EARLY, TWO_ON_THE_WAY, judge, known_mistake

Short = Callable[[float], float]
"""What is done to a number before it is used further: nothing, or rounding."""
Solve = Callable[[Short, str], Mapping[str, float]]
"""Every number of a sheet by its key, shortened on the way, and with the mistake of this name ("" for none)."""


@dataclass(frozen=True)
class Blank:
    """A number to be filled in: its `key` on the sheet, what is asked, the `right` number, the judgement of a text."""

    key: str
    prompt: Message
    right: float
    check: Callable[[str], Checked]


@dataclass(frozen=True)
class Choice:
    """One of some `options` to be chosen, by position; `slips` names what a wrong one comes of, `advice` else."""

    key: str
    prompt: Message
    options: tuple[str, ...]
    right: int
    advice: Message
    slips: Mapping[int, Message]

    def check(self, text: str) -> Checked:
        """The judgement of an option's position, written as a number; "" is none chosen."""
        if not text.isdecimal() or int(text) >= len(self.options):
            return Checked("blank")
        chosen = int(text)
        return Checked("right") if chosen == self.right else Checked("wrong", self.slips.get(chosen, self.advice))


Asked = Blank | Choice


@dataclass(frozen=True)
class Drawn:
    """What a sheet is drawn from: a table taken apart, with its names on screen, and the number of the sheet."""

    parts: Parts
    names: DisplayNames
    seed: int

    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes that have rows, in the schema's order."""
        there = set(self.parts.y)
        levels = [level for level in self.parts.target.levels if level in there] or sorted(there, key=str)
        return tuple(self.names.level(self.parts.target.name, level) for level in levels)


@dataclass(frozen=True)
class Part:
    """Some steps that belong together, under a title (Markdown with formulas)."""

    title: Message
    asked: tuple[Asked, ...]


@dataclass(frozen=True)
class ExerciseSheet:
    """The task, the tables it is worked out from, each under its title, and its parts in order."""

    task: Message
    tables: tuple[tuple[Message, pd.DataFrame], ...]
    parts: tuple[Part, ...]

    @property
    def asked(self) -> tuple[Asked, ...]:
        return tuple(step for part in self.parts for step in part.asked)


def on_screen(rows: pd.DataFrame, names: DisplayNames) -> pd.DataFrame:
    """The rows with their columns and levels as they are called on screen."""
    cells = [[names.level(name, value) for value in rows[name]] for name in rows.columns]
    return pd.DataFrame(dict(enumerate(cells)), index=rows.index).set_axis(
        [names.column(name) for name in rows.columns], axis="columns"
    )


def blanks(
    solve: Solve, asked: Mapping[str, tuple[Message, Message]], slips: Sequence[tuple[str, Message]]
) -> tuple[Blank, ...]:
    """A blank for each key of `asked`, which gives its prompt and the advice where it is wrong; `slips` are the known
    mistakes that `solve` can make, with the sentence that names each.

    >>> def halves(short, slip):
    ...     third = short(1 / 3)
    ...     return {"third": third, "half": third * (3 if slip == "doubled" else 1.5)}
    >>> ask = Message("?")
    >>> half = blanks(halves, {"half": (ask, ask)}, [("doubled", Message("Halve it."))])[0]
    >>> [half.check(text).mark for text in ("0.5", "1/2", "1", "")], str(half.check("1").note)
    (['right', 'right', 'wrong', 'blank'], 'Halve it.')
    """
    right = solve(float, "")
    early, four, coarse = (solve(partial(by_hand, digits=digits), "") for digits in (3, 4, 2))
    wrong = [(solve(float, slip), name) for slip, name in slips]
    made = []
    for key, (prompt, advice) in asked.items():
        mistakes = [(numbers[key], name) for numbers, name in wrong if math.isfinite(numbers[key])]
        mistakes.append((coarse[key], TWO_ON_THE_WAY))
        made.append(
            Blank(key, prompt, right[key], partial(checked, right[key], (early[key], four[key]), mistakes, advice))
        )
    return tuple(made)


def checked(
    right: float, early: Sequence[float], mistakes: Sequence[tuple[float, Message]], advice: Message, text: str
) -> Checked:
    """The judgement of a text: `early` comes of rounding on the way, `mistakes` are numbers with what each comes of."""
    return judge(
        text,
        right,
        early,
        mistake=lambda value: known_mistake(text, value, right, mistakes),
        advice=lambda: advice,
        early_name=lambda: EARLY,
    )
