"""The second file, whose rows are classified: kept by the session, named in the state by its digest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.decision.batch import Scored, results, score
from bayes_engine.decision.loss import Decision
from bayes_engine.language import _
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array
from bayes_engine.table.incoming import Incoming, receive, with_amounts
from bayes_engine.table.read import MAX_BYTES
from pages.shared import data, reading, words
from pages.shared.escape import clean
from pages.shared.router import go
from pages.shared.state import State, change, current

SHOWN = 1000
"""How many rows are on screen; the download has all."""


def drop() -> None:
    """Where the file is given. One that is no table is said, and what was on screen stays."""
    st.file_uploader(_("A second file"), key="second_file", on_change=_take, max_upload_size=MAX_BYTES // 1_000_000)
    if why := reading.refused("second_file"):
        st.error(_("This file could not be read: {why}.").format(why=why))


def _take() -> None:
    upload = reading.taken("second_file", typed=False)
    if upload is None:
        return
    mark = data.digest(upload.content)
    st.session_state["second"] = (mark, upload)
    if current().seen("second", "") != mark:
        change(lambda state: state.showing(second=mark, read_second=()))


def given() -> data.Upload | None:
    """The second file the state names, if this session has it, read as the state wants."""
    mark, upload = st.session_state.get("second", ("", None))
    if upload is None or current().seen("second", "") != mark:
        return None
    upload.read_as(data.overrides(current(), "read_second"), typed=False)
    kept: data.Upload = upload
    return kept


def scored(table: data.InUse, fitted: data.Fitted, upload: data.Upload) -> tuple[Incoming, Scored]:
    """The rows as the model sees them and their joints; computed once for a file and a model, whatever the losses.

    Raises SchemaMismatch where the file has none of the model's columns.
    """
    mark = f"{st.session_state['second'][0]}|{hash(upload.reading.recipe):x}"
    units = {c.name: c.unit for c in table.info.columns if c.unit} if table.info else {}
    tokens = table.reading.recipe.missing if table.reading else table.info.missing if table.info else None
    return _scored(mark, table.key, fitted.spec, table, fitted, upload, units, tokens or None)


@st.cache_resource(max_entries=4, show_spinner=False)
def _scored(mark: str, key: str, spec: Any, _table: data.InUse, _fitted: data.Fitted, _upload: data.Upload,
            _units: Mapping[str, str], _tokens: tuple[str, ...] | None) -> tuple[Incoming, Scored]:  # fmt: skip
    model = _fitted.model
    rows = receive(_upload.reading.frame, model.schema_, _table.target, unseen=model.unseen, missing=model.missing,
                   units=_units, tokens=_tokens)  # fmt: skip
    return rows, score(_fitted.judging, rows)


def needed(table: data.InUse) -> pd.DataFrame:
    """The columns that a file has to have: the features, and the one that multiplies losses."""
    assert table.parts is not None
    amount = table.parts.amount
    return table.parts.X if amount is None else table.parts.X.assign(**{table.amount_column: amount})


def amounts(table: data.InUse, rows: Incoming, *, needed: bool) -> tuple[Incoming, Array | None]:
    """Each row's own amount, where a column of the table multiplies losses, and the rows with the cells there that are
    none among the bad ones. None where the file has no such column, which raises SchemaMismatch if it is `needed`."""
    column = table.amount_column
    if not column or (column not in rows.cells.columns and not needed):
        return rows, None
    unit = table.info.column(column).unit if table.info else ""
    tokens = table.reading.recipe.missing if table.reading else table.info.missing if table.info else None
    return with_amounts(rows, column, unit=unit, tokens=tokens or None)


def row_table(table: data.InUse, fitted: data.Fitted, rows: Incoming, found: Scored, decision: Decision,
              use: Mapping[Any, float] | None, amount: Array | None = None) -> None:  # fmt: skip
    """The first rows: decision, posterior and reason, then the file's own cells; a chosen row becomes the case, with
    its own `amount` (n,) where it has one."""
    at = pd.RangeIndex(min(SHOWN, len(rows))).to_numpy()
    answer = results(fitted.judging, rows, found, decision, found.posterior(use), table.classes, at,
                     silent=_("no column speaks for it: the prior or the losses decide"))  # fmt: skip
    decided, risk, gap, *posterior, status, reason = answer.columns
    called = {a: clean(table.action(a)) for a in decision.action[at] if a is not None}
    answer[decided] = [called.get(a, "") for a in decision.action[at]]
    answer[status] = [words.status(s) for s in decision.status[at]]
    cells = rows.cells.iloc[at].reset_index(drop=True)
    shown = pd.concat([answer, cells], axis=1).set_axis(range(1, len(at) + 1), axis=0)
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    config = {
        decided: text(_("decision"), pinned=True),
        **{name: number(f"P({clean(table.class_(c), 18)})", format="%.6f", width=96)
           for name, c in zip(posterior, table.classes, strict=True)},
        risk: number(_("risk"), format="%.6f", width=90, help=_("R(a|x), the conditional risk of the decision")),
        gap: number(_("gap"), format="%.6f", width=90, help=_("by how much the second-best decision costs more")),
        status: text(_("status")),
        reason: text(_("reason"), width=380, help=_("the columns that speak loudest for the class decided and against "
                                                    "its strongest rival: log-odds in nats")),
        **{name: text(clean(name)) for name in cells.columns},
    }  # fmt: skip
    unclear = [status] if (decision.status[at] != Status.OK).any() else []

    def choose() -> None:
        if chosen := st.session_state["results"].selection.rows:
            change(lambda state: _case_of(state, table, rows, chosen[0], amount))

    picked = st.dataframe(
        shown, key="results", on_select=choose, selection_mode="single-row", column_config=config, hide_index=False,
        column_order=[decided, *unclear, *posterior, reason, risk, gap, *cells.columns],
        height=min(38 + 35 * len(shown), 458), alt=_("the rows of the file with decision, posterior, reason and risk"),
    )  # fmt: skip
    if picked.selection.rows:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_("Row {n} is now the case.").format(n=picked.selection.rows[0] + 1))
            go("pages/case.py", _("Open it in One case"), ":material/search:")
    else:
        st.caption(_("Choose a row to open it in One case: the working, number by number."))
    if len(rows) > SHOWN:
        st.caption(_("The first {n} of {all} rows; the download has them all.").format(
            n=f"{SHOWN:,}", all=f"{len(rows):,}"))  # fmt: skip


def _case_of(state: State, table: data.InUse, rows: Incoming, i: int, amount: Array | None) -> State:
    """The state with row i of the file as its case; what the model cannot read there is missing."""
    cells = rows.frame.iloc[i]
    values = {k: None if pd.isna(v) or v in (float("inf"), float("-inf")) else v for k, v in cells.items()}
    own = -1.0 if amount is None or not amount[i] >= 0 else float(amount[i])
    return replace(state, case=data.case_codes(table, values), row=-1, amount=own)


def bad_cells(rows: Incoming, n: int) -> None:
    """The cells for which rows are not decided, one by one."""
    if not rows.bad:
        return
    why = {"no number": _("is no number"), "no count": _("is no count: 0, 1, 2, …"), "infinite": _("is infinite"),
           "missing": _("is missing"), "not seen in training": _("was not seen in training"),
           "negative": _("is negative")}  # fmt: skip
    listed = pd.DataFrame({
        "row": [cell.row + 1 for cell in rows.bad],
        "column": [clean(cell.column) for cell in rows.bad],
        "value": [clean(cell.value) for cell in rows.bad],
        "why": [why[cell.why] for cell in rows.bad],
    })  # fmt: skip
    with st.expander(_("Rows not decided: {n}; the cells that are why").format(n=f"{n:,}"), icon=":material/warning:"):
        st.dataframe(
            listed, hide_index=True, height=min(38 + 35 * len(listed), 283), alt=_("bad cells"),
            column_config={"row": _("row"), "column": _("column"), "value": _("value"), "why": _("why")},
        )  # fmt: skip
