"""The rows of the second file as the model sees them, what is decided for each, and the reasons in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bayes_engine.decision.loss import Decision, LossMatrix
from bayes_engine.language import Message, _
from bayes_engine.table.column_notes import unit_left_out
from bayes_engine.table.notes import Note, listed, note
from bayes_engine.workbench.doctor.finding import Repair
from bayes_engine.workbench.incoming.bad_cells import Why
from bayes_engine.workbench.incoming.classified_file import (
    NOWHERE,
    SILENT,
    DecisionCounts,
    ScoredRows,
    Wording,
    decision_counts,
    score_file,
)
from bayes_engine.workbench.incoming.columns import MatchedColumns, match_columns
from bayes_engine.workbench.incoming.file_blocks import CellBlocks
from bayes_engine.workbench.incoming.second_table import CellRules, IncomingFile, Reception, Treatment, no_amounts
from pages import active
from pages.active import units, words
from pages.active.files import Upload
from pages.active.tables import treatments_in_use
from pages.runtime import jobs
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached, content_key
from pages.runtime.state import current

Taken = tuple[bool, tuple[tuple[str, int], ...]]
"""Whether names alike are taken, and (column, place in the file) where a person says so."""


@dataclass(frozen=True)
class Judged:
    """The `rows` of a file and their joints under a model, and what is decided for each under losses and a prior of
    use."""

    table: active.FittableTable
    fitted: active.Fitted
    upload: Upload[CellBlocks]
    rows: IncomingFile
    scored: ScoredRows
    loss: LossMatrix
    prior_of_use: Mapping[Any, float] | None
    decision: Decision

    @cached_property
    def tally(self) -> DecisionCounts:
        """How often each action was decided, and how it did where the file says what is true."""
        return decision_counts(self.rows, self.decision, self.loss, self.table.classes, amount=self.rows.amount)


def judge(table: active.FittableTable, fitted: active.Fitted, upload: Upload[CellBlocks]) -> Judged:
    """The file under the losses and the prior of use that stand. Raises SchemaMismatch where the file has none of the
    model's columns, or no amounts where the losses need them."""
    loss, prior_of_use = active.losses(table), active.prior_of_use(table)
    rows, scored = _scored_rows(table, fitted, upload, loss)
    decision = scored.decide(loss, prior_of_use, amount=rows.amount)
    return Judged(table, fitted, upload, rows, scored, loss, prior_of_use, decision)


def _scored_rows(
    table: active.FittableTable, fitted: active.Fitted, upload: Upload[CellBlocks], loss: LossMatrix
) -> tuple[IncomingFile, ScoredRows]:
    """The rows as the model sees them and their joints; computed once for a file and a model, whatever the losses."""
    called = matched(table, fitted, upload).called
    if loss.by_amount is not None and table.amount_column and table.amount_column not in called:
        raise no_amounts(table.amount_column)
    return _scored(file_key(upload), fitted, chosen(table), table, upload)


def chosen(table: active.FittableTable) -> Taken:
    """Which columns of the file are taken for the model's otherwise than by their names, as the state has it."""
    places = {position: place for position, place in current().seen(keys.SECOND_AS) if position < len(table.schema)}
    stated = tuple((table.schema.names[position], place - 1) for position, place in sorted(places.items()))
    return current().seen(keys.SECOND_ALIKE), stated


def wanted_columns(table: active.FittableTable, fitted: active.Fitted) -> tuple[str, ...]:
    """What is looked for in a file: the model's columns, the class and the amount."""
    amount = (table.amount_column,) if table.amount_column else ()
    return (*fitted.model.schema_.names, table.target.name, *amount)


def matched(table: active.FittableTable, fitted: active.Fitted, upload: Upload[CellBlocks]) -> MatchedColumns:
    """Which columns of the file are the model's."""
    alike, stated = chosen(table)
    return match_columns(upload.reading.names, wanted_columns(table, fitted), alike=alike, chosen=dict(stated))


def file_key(upload: Upload[CellBlocks]) -> str:
    """The file, and how it is read."""
    decimal = dict(upload.overrides).get("decimal", "")
    return f"{upload.file.digest}|{content_key(upload.name, upload.reading.recipe, decimal)}"


@cached(max_entries=4)
def _scored(
    mark: str, fitted: active.Fitted, taken: Taken, _table: active.FittableTable, _upload: Upload[CellBlocks]
) -> tuple[IncomingFile, ScoredRows]:
    model, table = fitted.model, _table
    units = {c.name: c.unit for c in table.info.columns if c.unit} if table.info else {}
    for own in table.reading.report if table.reading else ():
        units |= {own.column: unit} if own.column and (unit := unit_left_out(own)) else {}
    tokens = table.reading.recipe.missing if table.reading else table.info.missing if table.info else None

    treated, left = treatments_in_use(table)

    def work() -> tuple[IncomingFile, ScoredRows]:
        rules = CellRules(
            unseen=model.unseen, missing=model.missing, units=units, tokens=tokens or None, treated=treated,
            decimal=dict(_upload.overrides).get("decimal") or None,
        )  # fmt: skip
        reception = Reception(
            _upload.reading, model.schema_, table.target, rules, amount=table.amount_column, alike=taken[0],
            chosen=dict(taken[1]),
        )  # fmt: skip
        rows, scored = score_file(fitted.judging, reception)
        return replace(rows, notes=(*_mended(treated, left), *rows.notes)), scored

    return jobs.run(("classify", mark, fitted.key, taken), work, Message("classifying the rows of the file"))


def _mended(treated: Mapping[str, Treatment], left: Sequence[Repair]) -> Iterator[Note]:
    """What was done to the cells because it was done to the table's, and what was not."""
    if treated:
        yield note("cells are mended as the table's were, in columns: {names}", names=listed(tuple(treated), 12))
    for name, treatment in treated.items():
        if treatment.first == "day":
            yield note("column '{column}': the day stands first (3/4/2024 is the third of April); what only the other "
                       "order can read is no date", column=name)  # fmt: skip
        elif treatment.first:
            yield note("column '{column}': the month stands first (3/4/2024 is the fourth of March); what only the "
                       "other order can read is no date", column=name)  # fmt: skip
    far = [repair.column for repair in left if repair.what == "outliers-missing"]
    if far:
        yield note("cells far from all others were made missing in the table, and are taken as they are here, in "
                   "columns: {names}", "warning", names=listed(far, 12))  # fmt: skip


# the reasons, in the language of whoever reads them ------------------------------------------------------------------


def cell_problems() -> dict[Why, str]:
    """What is said of a cell for which its row is not decided."""
    return {"no number": _("no number"), "no count": _("no count: 0, 1, 2, …"), "infinite": _("infinite"),
            "missing": _("missing"), "not seen in training": _("not seen in training"),
            "negative": _("negative")}  # fmt: skip


def reasons() -> Wording:
    """How reasons are written: in which unit, and what stands there besides columns."""
    sentences = {SILENT: _("no column supports it: the prior or the losses decide"), **cell_problems(),
                 **{sentence: words.status(code) for code, sentence in NOWHERE.items()}}  # fmt: skip
    return Wording({**sentences, "bits": _("bits"), "nats": _("nats")}, bits=units.in_bits())
