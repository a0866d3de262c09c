"""Sheets on naive Bayes, SPODE and AODE: every factor of a made-up case counted from a few drawn rows, the joint of
each class and the posterior (Zhou, eq. 7.15, 7.21, 7.23–7.25)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
import pandas as pd

from bayes_engine.errors import TableError
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.models.aode import AODE
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.spode import SPODE
from bayes_engine.table.roles import Parts
from bayes_engine.workbench.derivation.aode import Mean, as_misprinted, average, derive_member
from bayes_engine.workbench.derivation.derive import Working, by_hand, derive
from bayes_engine.workbench.derivation.exercise import Exercise, draw
from bayes_engine.workbench.derivation.factor_names import name_of
from bayes_engine.workbench.derivation.misprints import WorkingPlace
from bayes_engine.workbench.derivation.mistakes import OF_POSTERIOR, FilledIn
from bayes_engine.workbench.exercises.sheet import Blank, Drawn, ExerciseSheet, Part, checked, on_screen

CLASSES = 3
"""At most so many classes."""
PARENTS_ONLY = Message("That is the plain sum over the super-parents. Divide by their number.")
MULTIPLIED = Message("That is the product over the super-parents. AODE takes their mean.")
OWN_INCLUDED = Message(
    "That is what the formula gives as misprinted, with j = i in the product: leave out the super-parent's own factor."
)
OLDER = Message(
    "That is what the older printings' denominator |D| + Nᵢ gives. A joint of class and value has K · Nᵢ levels."
)
OF_MEAN = Message("Add up the joints under each super-parent and divide by their number.")


def naive_bayes(drawn: Drawn) -> ExerciseSheet:
    """A case of four columns, with Laplace's correction."""
    exercise = _exercise(drawn, NaiveBayes(priors="laplace"), 4)
    return _of_product(
        drawn, exercise, Message("Decide the case by naive Bayes with Laplace's correction, the prior's too.")
    )


def spode(drawn: Drawn) -> ExerciseSheet:
    """A case of three columns under a drawn super-parent."""
    columns = _columns(drawn, 3)
    exercise = _exercise(drawn, SPODE(super_parent=columns[0], alpha=1.0, priors="laplace"), 3, columns)
    words = {"name": drawn.names.column(columns[0])}
    task = Message(
        "Decide the case by SPODE with {name} as super-parent and Laplace's correction, the prior's too.", words
    )
    return _of_product(drawn, exercise, task)


def aode(drawn: Drawn) -> ExerciseSheet:
    """A case of two columns: the joint under each as super-parent, and their mean."""
    exercise = _exercise(drawn, AODE(), 2)
    case, model = pd.DataFrame([exercise.case]), exercise.model
    assert isinstance(model, AODE)
    mean = average(model, case)
    parts = []
    for i, parent in enumerate(mean.active):
        working = derive_member(model, case, parent.name)
        words = {"name": drawn.names.column(parent.name)}
        asked = [*_factors(drawn, working, model, case, f"{i}f"), *_sums(drawn, working, model, case, f"{i}j", "joint")]
        parts.append(Part(Message("Under the super-parent {name}", words), tuple(asked)))
    parts.append(Part(Message("The mean, and the posterior"), tuple(_of_mean(drawn, model, case, mean))))
    return ExerciseSheet(
        Message("Decide the case by AODE with Laplace's correction."), _tables(drawn, exercise), tuple(parts)
    )


# drawing --------------------------------------------------------------------------------------------------------------


def _exercise(drawn: Drawn, model: GenerativeClassifier, most: int, columns: Sequence[str] | None = None) -> Exercise:
    return draw(_narrowed(drawn.parts, columns or _columns(drawn, most)), model, drawn.seed)


def _columns(drawn: Drawn, most: int) -> list[str]:
    """The names of so many discrete columns, in the table's order but for the first, which is any."""
    discrete = [v.name for v in drawn.parts.schema.features if v.discrete and drawn.parts.X[v.name].notna().any()]
    if len(discrete) < 2:
        raise TableError("this exercise needs two columns of levels: take play tennis or the watermelons")
    return [discrete[j] for j in drawn.rng().permutation(len(discrete))[:most]]


def _narrowed(parts: Parts, columns: Sequence[str]) -> Parts:
    """These columns alone, of the largest classes."""
    schema = parts.schema
    for variable in schema.features:
        if variable.name not in columns:
            schema = schema.with_variable(replace(variable, role="ignore"))
    classes = parts.y.value_counts().index[:CLASSES]
    kept = np.flatnonzero(parts.y.isin(classes) & parts.X[list(columns)].notna().all(axis=1))
    if not len(kept):
        raise TableError("this exercise needs rows whose cells are all known")
    X = parts.X.iloc[kept][[name for name in parts.X.columns if name in columns]]
    return replace(
        parts, schema=schema, X=X, y=parts.y.iloc[kept], weight=None, groups=None, amount=None, rows=parts.rows[kept]
    )


def _tables(drawn: Drawn, exercise: Exercise) -> tuple[tuple[Message, pd.DataFrame], ...]:
    parts, case = exercise.parts, pd.DataFrame([exercise.case])
    rows = pd.concat([parts.X, parts.y.to_frame(parts.target.name)], axis=1)
    rows.index = pd.RangeIndex(1, len(rows) + 1)
    case.index = pd.Index(["x"])
    return (Message("The rows"), on_screen(rows, drawn.names)), (Message("The case"), on_screen(case, drawn.names))


# what is asked --------------------------------------------------------------------------------------------------------


def _of_product(drawn: Drawn, exercise: Exercise, task: Message) -> ExerciseSheet:
    case, model = pd.DataFrame([exercise.case]), exercise.model
    working = derive(model, case)
    factors = Part(Message("The factors"), tuple(_factors(drawn, working, model, case, "f")))
    sums = chain.from_iterable(_sums(drawn, working, model, case, part[0], part) for part in ("joint", "posterior"))
    return ExerciseSheet(task, _tables(drawn, exercise), (factors, Part(Message("Joint and posterior"), tuple(sums))))


def _factors(drawn: Drawn, working: Working, model: GenerativeClassifier, case: pd.DataFrame, key: str) -> list[Blank]:
    sheet = FilledIn(working, model, case)
    return [
        Blank(
            f"{key}{i}_{k}",
            Message("{name}", {"name": name_of(step, label, working.target, drawn.names)}),
            step.factors[k],
            partial(sheet.checked, place=WorkingPlace(i, k, "factor"), names=drawn.names),
        )
        for i, step in enumerate(working.steps)
        for k, label in enumerate(working.classes)
    ]


def _sums(
    drawn: Drawn, working: Working, model: GenerativeClassifier, case: pd.DataFrame, key: str, part: str
) -> list[Blank]:
    sheet = FilledIn(working, model, case)
    numbers = working.joint if part == "joint" else working.posterior
    return [
        Blank(
            f"{key}_{k}",
            _sum_name(drawn, part, working.target, label),
            numbers[k],
            partial(sheet.checked, place=WorkingPlace(None, k, part), names=drawn.names),
        )
        for k, label in enumerate(working.classes)
    ]


def _sum_name(drawn: Drawn, part: str, target: str, label: object) -> Message:
    words = {"name": drawn.names.level(target, label)}
    return Message("P({name}, x)", words) if part == "joint" else Message("P({name} | x)", words)


def _of_mean(drawn: Drawn, model: AODE, case: pd.DataFrame, mean: Mean) -> list[Blank]:
    joints = np.array([parent.joint for parent in mean.active])
    printed = as_misprinted(model, case)
    assert printed is not None  # a made-up case has values that occur
    own, older = np.array(printed.own_included), np.array(printed.older_denominator)
    right = np.array(mean.joint)
    wrong = ((joints.sum(axis=0), PARENTS_ONLY), (joints.prod(axis=0), MULTIPLIED), (own, OWN_INCLUDED), (older, OLDER))
    early = np.vectorize(by_hand, otypes=[float])(joints).mean(axis=0)
    target = model.stats_.target.name
    made = []
    for part, advice in (("joint", OF_MEAN), ("posterior", OF_POSTERIOR)):
        of: Callable[[Array], Array] = (lambda v: v) if part == "joint" else (lambda v: v / v.sum())
        for k, label in enumerate(mean.classes):
            mistakes = [(float(of(numbers)[k]), name) for numbers, name in wrong]
            check = partial(checked, float(of(right)[k]), (float(of(early)[k]),), mistakes, advice)
            made.append(Blank(f"m{part[0]}_{k}", _sum_name(drawn, part, target, label), float(of(right)[k]), check))
    return made
