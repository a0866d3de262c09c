"""The sufficient statistics of naive Bayes: one pure function of a table, and the monoid it returns."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import SchemaMismatch
from bayes_engine.logspace import Array
from bayes_engine.stats.counts import Counts, count, less, widen
from bayes_engine.stats.families import Families, margins
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.moments import Moments, moments
from bayes_engine.stats.scatter import Scatter
from bayes_engine.stats.terms import TermCounts, TextTerms, text_terms
from bayes_engine.stats.values import Values, values
from bayes_engine.table.encode import Table
from bayes_engine.table.levels import sort_levels
from bayes_engine.table.schema import Schema, Variable

Operation = Callable[[Any, Any], Any]
PARTS = ("counts", "moments", "families", "scatter", "terms", "values", "texts")
"""The fields of `SufficientStatistics` that are added and taken away by themselves."""


@dataclass(frozen=True)
class SufficientStatistics:
    """The sufficient statistics of a table: class weights (C,), counts and moments, under `schema` with the classes in
    `target.levels`.

    `collect(A ⧺ B) == collect(A) + collect(B)`: + is associative and commutative, − takes rows away again. Domains
    travel along: an open one is united on merge, a declared one must be the same on both sides.
    """

    schema: Schema
    target: Variable
    class_weight: Array
    counts: Counts
    moments: Moments
    families: Families = field(default_factory=Families)
    scatter: Scatter | None = None
    terms: TermCounts | None = None
    values: Values = field(default_factory=Values)
    texts: TextTerms = field(default_factory=TextTerms)

    def __add__(self, other: SufficientStatistics) -> SufficientStatistics:
        return self._with(other, operator.add, operator.add)

    def __sub__(self, other: SufficientStatistics) -> SufficientStatistics:
        return self._with(other, operator.sub, less)

    def _with(self, other: SufficientStatistics, operation: Operation, of_weights: Operation) -> SufficientStatistics:
        """Part by part."""
        a, b = _aligned(self, other)
        weight = of_weights(a.class_weight, b.class_weight)
        parts: dict[str, Any] = {part: _both(getattr(a, part), getattr(b, part), operation) for part in PARTS}
        return SufficientStatistics(a.schema, a.target, weight, **parts)

    def scaled(self, weight: float) -> SufficientStatistics:
        """Every row counted `weight` times."""
        there = {name: part for name in PARTS if (part := getattr(self, name)) is not None}
        parts: dict[str, Any] = {name: part.scaled(weight) for name, part in there.items()}
        return replace(self, class_weight=self.class_weight * weight, **parts)

    def under(self, schema: Schema, target: Variable) -> SufficientStatistics:
        """The same statistics under wider domains: new levels and classes come in with zero counts."""
        if schema == self.schema and target == self.target:
            return self
        classes = _positions(self.target, target)
        codes = {v.name: (_positions(self.schema[v.name], v, shift=1), 1 + len(v.levels)) for v in schema if v.discrete}
        to = (classes, len(target.levels))
        pivot = np.array([v.pivot for v in schema if v.numeric], dtype=float)
        return SufficientStatistics(
            schema,
            target,
            widen(self.class_weight, to),
            Counts({name: widen(self.counts.tables[name], to, code) for name, code in codes.items()}),
            self.moments.rebased(pivot).among(to),
            Families(
                {n: widen(t, to, *(codes[name] for name in n)) for n, t in self.families.tables.items()},
                {n: m.rebased(pivot).among(to, *(codes[name] for name in n)) for n, m in self.families.moments.items()},
            ),
            None if self.scatter is None else self.scatter.rebased(pivot).among(to),
            None if self.terms is None else self.terms.among(*to),
            self.values.among(*to),
            TextTerms(
                {
                    name: terms.among(*to).over(tuple(str(t) for t in schema[name].levels))
                    for name, terms in self.texts.columns.items()
                }
            ),
        )


def collect(table: Table, labels: Labels, target: Variable, families: Families | None = None) -> SufficientStatistics:
    """The statistics of an encoded table with its class memberships; `target.levels` names the classes in order. Those
    of its `families` are taken in, where they are counted; with tables of all pairs, single columns are their margins.

    Raises TableError on an infinite cell.

    >>> import pandas as pd
    >>> from bayes_engine.table.encode import encode
    >>> table = pd.DataFrame({"sound": ["dull", "crisp", "dull"]})
    >>> encoded = encode(table, Schema((Variable("sound", "categorical", ("dull", "crisp")),)))
    >>> stats = collect(encoded, Labels(2, np.array([0, 1, 1])), Variable("good", "binary", ("no", "yes")))
    >>> stats.class_weight.tolist(), (stats + stats).counts.tables["sound"].tolist()  # slot 0: missing
    ([1.0, 2.0], [[0.0, 2.0, 0.0], [0.0, 2.0, 2.0]])
    """
    families = families or Families()
    return SufficientStatistics(
        table.schema,
        target,
        labels.by_class,
        Counts(single) if (single := margins(table.schema, families.tables)) else count(table, labels),
        moments(table, labels),
        families,
        values=values(table, labels),
        texts=text_terms(table, labels),
    )


def unite(a: Variable, b: Variable, *, ordered: bool = False) -> Variable:
    """One variable for two tables. Raises SchemaMismatch where kinds differ, or declared domains do."""
    if a.name != b.name or a.discrete != b.discrete:
        raise SchemaMismatch(
            "column '{a}' ({kind_a}) does not match column '{b}' ({kind_b}); statistics merge only under one schema",
            a=a.name,
            kind_a=a.kind,
            b=b.name,
            kind_b=b.kind,
        )
    if a.cuts != b.cuts:
        raise SchemaMismatch("column '{column}' has other cut points on the two sides", column=a.name)
    if (a.likelihood, a.text) != (b.likelihood, b.text):
        raise SchemaMismatch(
            "column '{column}' has another likelihood on the two sides, or is read in another way; statistics merge "
            "only under one",
            column=a.name,
        )
    if a.declared and b.declared and set(a.levels) != set(b.levels):
        raise SchemaMismatch("column '{column}' has other declared levels on the two sides", column=a.name)
    if b.declared and not a.declared:
        return unite(b, a, ordered=ordered)
    grown = a.observing(b.levels)
    return replace(grown, levels=sort_levels(grown.levels)) if ordered else grown


def _aligned(a: SufficientStatistics, b: SufficientStatistics) -> tuple[SufficientStatistics, SufficientStatistics]:
    if a.schema == b.schema and a.target == b.target:
        return a, b
    if a.schema.names != b.schema.names:
        raise SchemaMismatch("statistics of the columns {a} and {b} do not merge", a=a.schema.names, b=b.schema.names)
    schema = Schema(tuple(unite(u, v) for u, v in zip(a.schema, b.schema, strict=True)))
    target = unite(a.target, replace(b.target, name=a.target.name), ordered=True)
    return a.under(schema, target), b.under(schema, target)


def _positions(old: Variable, new: Variable, shift: int = 0) -> NDArray[np.intp]:
    """Where each of the old levels stands among the new ones (`shift=1`: with the missing slot in front)."""
    place = {level: i + shift for i, level in enumerate(new.levels)}
    where = [place[level] for level in old.levels]
    return np.array([0, *where] if shift else where, dtype=np.intp)


def _both(a: Any, b: Any, operation: Operation) -> Any:
    if a is None and b is None:
        return None
    if a is None or b is None:
        raise SchemaMismatch("statistics counted for two kinds of models do not merge; fit both with one model")
    return operation(a, b)
