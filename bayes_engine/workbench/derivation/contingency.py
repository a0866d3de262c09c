"""The contingency table of two columns in each class, with the sum behind their mutual information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array, log
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.stats.families import in_order
from bayes_engine.structure.chow_liu import TIE, terms_of
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.derive import Cell

SPARSE = 5.0
"""Where so few rows are expected in a cell, χ² is no good approximation of G (Cochran 1954)."""


@dataclass(frozen=True)
class Contingency:
    """The rows by the levels of two columns, for each class: `counts` (C, S_a, S_b) weight of the known cells.

    `levels_a`, `levels_b` are the columns' levels, None being the missing cell where it is a level. Without a class
    (`classes` holds None alone) it is one table of all rows.
    """

    a: Variable
    b: Variable
    target: str
    classes: tuple[Any, ...]
    levels_a: tuple[Any, ...]
    levels_b: tuple[Any, ...]
    counts: Array

    @property
    def n(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def expected(self) -> Array:
        """(C, S_a, S_b) n_a n_b / n in each class: what independence would give."""
        n = self.counts.sum(axis=(1, 2), keepdims=True)
        product = self.counts.sum(axis=2, keepdims=True) * self.counts.sum(axis=1, keepdims=True)
        return np.asarray(product / np.where(n > 0, n, 1.0))

    @cached_property
    def terms(self) -> Array:
        """(C, S_a, S_b) P(a, b, c) log [P(a, b|c) / (P(a|c) P(b|c))] in nats; their sum is the information."""
        return terms_of(self.counts)

    @property
    def by_class(self) -> Array:
        """(C,) what each class adds."""
        return np.asarray(self.terms.sum(axis=(1, 2)))

    @property
    def information(self) -> float:
        return max(float(self.terms.sum()), 0.0)

    @property
    def without_class_prior(self) -> float:
        """Σ P(a, b|c) log [P(a, b|c) / (P(a|c) P(b|c))]: eq. 7.22 as the lecture notes print it, its weight without the
        factor P(c). A class without rows adds nothing."""
        of_class = self.counts.sum(axis=(1, 2))
        held = of_class > 0
        return float((self.by_class[held] * self.n / of_class[held]).sum())

    @property
    def sparse(self) -> tuple[int, int]:
        """How many of the cells that can hold a row expect fewer than SPARSE of them, and how many those are."""
        possible = self.expected > 0
        return int((possible & (self.expected < SPARSE)).sum()), int(possible.sum())

    @property
    def weightiest(self) -> tuple[int, int, int]:
        """The cell with the largest term; among equals the first."""
        place = int(np.flatnonzero(self.terms.ravel() >= self.terms.max() - TIE)[0])
        k, i, j = np.unravel_index(place, self.terms.shape)
        return int(k), int(i), int(j)

    def factors(self, k: int, i: int, j: int) -> tuple[float, float, float, float]:
        """The counts that a cell's term is made of: of the cell, of the class, of a and of b in the class."""
        own = self.counts[k]
        return float(own[i, j]), float(own.sum()), float(own[i].sum()), float(own[:, j].sum())

    def of_case(self, case: pd.DataFrame) -> Array:
        """(C,) log [P(a, b|c) / (P(a|c) P(b|c))] of the cell that a case (a frame of one row) is in, in nats: its mean
        over the rows is the information. −∞ where no row of a class is in the cell, NaN where none has a or b.

        Raises BayesEngineError where the case has no value in one of the columns, or one that no row has.
        """
        i, j = self._places(case)
        own, expected = self.counts[:, i, j], self.expected[:, i, j]
        ratio = np.where(expected > 0, own / np.where(expected > 0, expected, 1.0), np.nan)
        return np.asarray(log(ratio))

    def levels_of(self, case: pd.DataFrame) -> tuple[Any, Any]:
        """The levels of the two columns that a case has. Raises as `of_case`."""
        i, j = self._places(case)
        return self.levels_a[i], self.levels_b[j]

    def _places(self, case: pd.DataFrame) -> tuple[int, int]:
        return place_of(self.a, self.levels_a, case), place_of(self.b, self.levels_b, case)

    def rows(self, frame: pd.DataFrame, k: int, i: int, j: int) -> pd.DataFrame:
        """The rows of a frame of features and target that a cell counts."""
        there = Cell(self.a, self.levels_a[i]).held_by(frame[self.a.name])
        there &= Cell(self.b, self.levels_b[j]).held_by(frame[self.b.name])
        if self.classes[k] is not None:
            there &= frame[self.target] == self.classes[k]
        return frame[there]


def place_of(variable: Variable, levels: Sequence[Any], case: pd.DataFrame) -> int:
    """Which of a column's levels a case (a frame of one row) has. Raises ParameterError where it is none of them."""
    for place, level in enumerate(levels):
        if bool(Cell(variable, level).held_by(case[variable.name]).iloc[0]):
            return place
    raise ParameterError("the case has no value in '{name}' that the rows have", name=variable.name)


def contingency(
    model: SemiNaive, a: str, b: str, classes: Sequence[Any] | None = None, *, overall: bool = False
) -> Contingency:
    """The contingency table of two discrete columns in each class, in the order wanted, or `overall`: one for all."""
    stats, schema = model.stats_, model.schema_
    edge = in_order(schema, (a, b))
    first = 0 if model.missing == "category" else 1
    counts = stats.families.tables[edge][:, first:, first:]
    counts = counts if edge == (a, b) else counts.transpose(0, 2, 1)
    own = list(stats.target.levels)
    named = tuple(own if classes is None else classes)
    counts = counts[[own.index(c) for c in named]]
    if overall:
        named, counts = (None,), counts.sum(axis=0, keepdims=True)
    missing: tuple[None, ...] = () if first else (None,)
    levels_a, levels_b = ((*missing, *schema[name].levels) for name in (a, b))
    return Contingency(schema[a], schema[b], stats.target.name, named, levels_a, levels_b, counts)
