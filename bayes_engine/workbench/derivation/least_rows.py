"""How many rows it takes until every P(c, x_i) of AODE rests on enough of them (Zhou, exercise 7.7)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pandas as pd

from bayes_engine.errors import ParameterError
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.workbench.derivation.contingency import place_of


class RowsNeeded(NamedTuple):
    """The rows needed in the best order and in the worst, where every row still helps some joint of class and value;
    `prior` those of naive Bayes' P(c) alone."""

    best: int
    worst: int
    prior: int

    def of(self, order: str) -> int:
        """The number for "best" or "worst"."""
        return self.best if order == "best" else self.worst


class RowsLacking(NamedTuple):
    """What a case still lacks: `counts` are, by class, the rows with each of its values; `best` and `worst` the rows to
    come until each of them has enough, where every row still helps some joint of class and value."""

    counts: dict[Any, tuple[float, ...]]
    best: int
    worst: int

    def of(self, order: str) -> int:
        """The number for "best" or "worst"."""
        return self.best if order == "best" else self.worst


def rows_lacking(model: GenerativeClassifier, case: pd.DataFrame, each: int) -> RowsLacking:
    """The rows still to come until each P(c, x_i) of a case (a frame of one row) rests on `each` of them, beside those
    with which the model was fitted. A row to come helps its class alone: at best all of the case's values that lack
    rows at once, at worst one of them.

    Raises BayesEngineError where the case has no value in a column of levels.

    >>> from bayes_engine.datasets import load_dataset
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> melons = load_dataset("watermelon2")
    >>> X = melons.frame[list(melons.schema.features.names)]
    >>> rows_lacking(NaiveBayes(schema=melons.schema).fit(X, melons.frame["好瓜"]), X[:1], 30)[1:]
    (55, 308)
    """
    counts: dict[Any, list[float]] = {c: [] for c in model.classes_.tolist()}
    for variable in model.schema_:
        if variable.name not in model.stats_.counts.tables:
            continue
        place = place_of(variable, variable.levels, case)
        column = model.stats_.counts.tables[variable.name][:, 1 + place]
        for c, n in zip(model.stats_.target.levels, column.tolist(), strict=True):
            counts[c].append(float(n))
    if not any(counts.values()):
        raise ParameterError("this table has no column of levels, so no P(c, x_i) is counted")
    lacks = [[max(math.ceil(each - n), 0) for n in own] for own in counts.values()]
    return RowsLacking({c: tuple(own) for c, own in counts.items()}, sum(map(max, lacks)), sum(map(sum, lacks)))


def rows_needed(each: int, columns: int, levels: int, classes: int) -> RowsNeeded:
    """The rows until each of the classes · columns · levels joints (c, x_i) has `each` rows.

    A row counts for one value of every column at once. At best all columns fill evenly: each · levels rows a class. At
    worst the rows of a class agree in all columns until one value of each is full, `each` rows; after that every row
    adds to one open joint alone, and (levels − 1) · columns are open.

    >>> rows_needed(30, 1, 2, 2), rows_needed(30, 6, 2, 2)
    (RowsNeeded(best=120, worst=120, prior=60), RowsNeeded(best=120, worst=420, prior=60))
    """
    worst = each * (1 + columns * (levels - 1))
    return RowsNeeded(classes * each * levels, classes * worst, classes * each)
