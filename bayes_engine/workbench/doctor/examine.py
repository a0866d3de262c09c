"""The doctor: what is wrong with a table, how badly, what mends it, and which models fit it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

import pandas as pd

from bayes_engine.errors import EstimationWarning
from bayes_engine.progress import steps
from bayes_engine.table.roles import Parts
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.doctor import cells, classes, columns, duplicates, leaks, normality, pairs
from bayes_engine.workbench.doctor.examined_table import ExaminedTable, examined_table
from bayes_engine.workbench.doctor.finding import SEVERITIES, Code, Finding, Mend, Report, SetLikelihood
from bayes_engine.workbench.doctor.suggest import suggest

CHECKS: tuple[Callable[[ExaminedTable], Iterator[Finding]], ...] = (
    cells.infinite,
    columns.identifiers,
    leaks.leaks,
    classes.sizes,
    cells.mixed_types,
    cells.spellings,
    cells.look_alikes,
    cells.dates,
    columns.texts,
    columns.constants,
    duplicates.duplicate_columns,
    columns.cardinality,
    columns.missing,
    cells.sentinels,
    cells.outliers,
    classes.zero_cells,
    normality.forms,
    pairs.collinear,
    pairs.dependent,
    pairs.indicators,
    normality.unequal_covariances,
    columns.codes,
    duplicates.duplicate_rows,
)
"""What is looked for; within a severity the findings stand in this order."""


def examine(
    table: Parts | pd.DataFrame, schema: Schema | None = None, seed: int = 0, most: int | None = None
) -> Report:
    """What is to be said of a table before anything is learnt from it. Of a frame all columns are looked at, of `Parts`
    those that a fit takes; of more than `most` the first of them, but rows are equal where all of their cells are.
    Without `schema` the dtypes say what the columns are.

    Thresholds stand, with their reasons, at the head of the modules. Where many columns or pairs are tested, p-values
    are Holm's, and a small p-value alone is no finding: what was tested must be large as well. A finding takes others'
    place where it explains them: of an identifier nothing else is said. Of more than 20,000 rows a sample is looked at,
    drawn with `seed`.

    >>> table = pd.DataFrame({"x": [1.0, 2.0, 4.0, 5.0] * 5, "unit": ["cm"] * 20, "y": ["a", "a", "b", "b"] * 5})
    >>> report = examine(table, Schema.from_dtypes(table).with_role("y", "target"))
    >>> [(f.code, f.columns) for f in report.findings if f.severity != "note"][:1]
    [('leak', ('x',))]
    """
    seen = examined_table(table, schema, seed, most)
    collected: list[Finding] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)
        for check in steps(CHECKS):
            collected += check(_without(seen, collected, ASIDE.get(check, ())))
        findings = tuple(sorted(_without_explained(collected), key=lambda f: SEVERITIES.index(f.severity)))
        suggestions = suggest(seen, findings)
    rows = int(seen.class_rows.sum()) if seen.target else len(seen.whole)
    return Report(findings, suggestions, rows, seen.n, seen.features.names)


ASIDE: dict[Callable[[ExaminedTable], Iterator[Finding]], tuple[Code, ...]] = {
    classes.zero_cells: ("identifier", "mixed-types"),
    pairs.collinear: ("duplicate-column",),
    pairs.dependent: ("duplicate-column",),
}
"""Columns of which these were found are set aside for a check: what it would say of them is said already."""


def _without(seen: ExaminedTable, findings: list[Finding], codes: tuple[Code, ...]) -> ExaminedTable:
    """The table without the columns that one of these was found of."""
    schema = seen.schema
    names = sorted({f.columns[0] for f in findings if f.code in codes and schema[f.columns[0]].role == "feature"})
    for name in names:
        schema = schema.with_role(name, "ignore")
    return seen.once(f"without {names}", lambda: replace(seen, schema=schema)) if names else seen


SHAPES = ("skew", "heavy-tails", "not-normal")
SILENCED = ("leak", "high-cardinality", "outliers", "tiny-variance", "text", "codes", *SHAPES)
"""What needs not be said of a column that names the row or is constant, or holds dates or numbers read as text."""


def _without_explained(findings: list[Finding]) -> list[Finding]:
    """The findings without those that another one explains: the shape of an identifier, the skew of a sentinel."""
    named = {f.columns[0] for f in findings if f.code in ("identifier", "constant", "nearly-constant")}
    misread = {f.columns[0] for f in findings if f.code in ("mixed-types", "date")}
    marked = {f.columns[0] for f in findings if f.code in ("sentinel", "outliers")}
    informatively_missing = {f.columns[0] for f in findings if f.code == "missing-tells"}
    copied = {f.columns[0] for f in findings if f.code == "copy-of-target"}
    kept = []
    for f in findings:
        first = f.columns[0] if f.columns else ""
        if f.code in SILENCED and first in named:
            continue
        if first in misread and f.code in (*SILENCED, "identifier"):
            continue
        if first in marked and f.code in ("tiny-variance", *SHAPES):
            continue
        if first in copied and f.code in ("tiny-variance", "codes", *SHAPES):
            continue
        if first in informatively_missing and f.code in ("constant", "missing"):
            continue
        kept.append(f)
    odd = {f.columns[0] for f in kept if f.code in SHAPES}
    return [replace(f, mends=tuple(_of_these(f.mends, odd))) if f.columns[:1] and f.columns[0] in odd else f
            for f in kept]  # fmt: skip


def _of_these(mends: tuple[Mend, ...], odd: set[str]) -> Iterator[Mend]:
    """The mends, what one of them does to several columns done to those alone of which it is still said."""
    for mend in mends:
        if isinstance(mend, SetLikelihood) and len(mend.columns) > 1:
            left = tuple(name for name in mend.columns if name in odd)
            if len(left) > 1:
                yield replace(mend, columns=left)
        else:
            yield mend
