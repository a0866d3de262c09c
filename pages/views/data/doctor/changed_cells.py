"""What a repair of the doctor's changed, as a list of cells: the row, what the cell held, and what it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from bayes_engine.language import _, ngettext
from bayes_engine.table.spellings import codes_beside, look
from bayes_engine.workbench.doctor.changes import CellChange, Changes
from bayes_engine.workbench.doctor.finding import Repair
from pages import active
from pages.components.tables import column, grid
from pages.runtime.escape import clean
from pages.views.data.doctor import wording


def changed_cells(table: active.TableInUse, repair: Repair, changes: Changes) -> None:
    """How much was changed, and the first of it cell by cell."""
    n, first = changes.n, changes.first
    if repair.column:
        counted = ngettext("{n} cell", "{n} cells", n)
    else:
        counted = ngettext("{n} row left out", "{n} rows left out", n)
    st.markdown(f"**{wording.repair_on_chip(table, repair)}**: {counted.format(n=f'{n:,}')}")
    if not first:
        return
    rows = column(_("row"), [cell.row + 1 for cell in first], right=True)
    key = f"changed_{repair.what}_{repair.column and table.schema.position[repair.column]}_{repair.value:g}"
    if repair.column:
        shown = _shown(table, repair.column)
        columns = {
            "row": rows,
            "column": column(_("column"), [clean(table.column(repair.column), 40)] * len(first)),
            "before": column(_("before"), [shown(cell.before) + _unseen(cell) for cell in first]),
            "after": column(_("after"), [shown(cell.after) for cell in first]),
        }
    else:
        columns = {"row": rows, "equal": column(_("equal to row"), [cell.after + 1 for cell in first], right=True)}
    grid(columns, key=key, alt=_("What changed"))
    if n > len(first):
        st.caption(_("and {n} more").format(n=f"{n - len(first):,}"))


def _unseen(cell: CellChange) -> str:
    """What sets a text apart from the one that takes its place, where both look alike."""
    before, after = cell.before, cell.after
    alike = isinstance(before, str) and isinstance(after, str) and look(before) == look(after)
    codes = codes_beside(before, after) if alike else []
    return f" ({_(', ').join(codes)})" if codes else ""


def _shown(table: active.TableInUse, name: str) -> Callable[[Any], str]:
    def shown(value: Any) -> str:
        if value is None:
            return _("missing")
        if isinstance(value, float):
            return f"{value:.15g}"
        if hasattr(value, "isoformat"):
            return str(value).removesuffix(" 00:00:00")
        return clean(table.level(name, value), 60)

    return shown
