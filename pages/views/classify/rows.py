"""What was decided: how often each action, the rows on screen with their reasons, and the cells that forbid it."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.ledger import Status
from bayes_engine.workbench.incoming.classified_file import results
from bayes_engine.workbench.incoming.second_table import Incoming
from pages import active
from pages.active import words
from pages.runtime.escape import clean, md
from pages.runtime.state import State, change, keep_out_of_links, page_link
from pages.runtime.widgets import selected
from pages.views.classify.judged import Judged, cell_problems, reasons

SHOWN = 1000
"""How many rows are on screen; the download has all."""
COLUMNS = 60
"""How many of the file's own columns are on screen, the model's before the others."""
MONEY = 100.0
"""From such risks on they are amounts, and two decimals tell enough; below, probabilities times small losses."""


def counts(judged: Judged) -> None:
    """How many rows each action was decided for, and how the decisions did where the file says what is true."""
    count = judged.tally
    st.metric(_("rows"), f"{len(judged.rows):,}", width="content")
    for action, n in count.actions.items():
        st.metric(words.decision_name(judged.table, action, md), f"{n:,}", width="content")
    if count.undecided:
        st.metric(_("not decided"), f"{count.undecided:,}", width="content")
    if count.known:
        st.metric(_("decided rightly"), f"{count.right:,} / {count.known:,}", width="content")
        st.metric(
            _("mean loss"),
            f"{count.mean_loss:.5g}",
            width="content",
            help=_("λ of the decision and the class the file names, over the rows that have both."),
        )


def row_table(judged: Judged) -> None:
    """The first rows: decision, posterior and reason, then the file's own cells; a chosen row becomes the case, with
    its own amount where it has one."""
    table, fitted, rows = judged.table, judged.fitted, judged.rows
    first = rows.head(min(SHOWN, len(rows)))
    n = len(first)
    own = judged.scored.of(slice(0, n))
    decision = own.decide(judged.loss, judged.prior_of_use, amount=first.amount)
    here = pd.RangeIndex(n).to_numpy()
    answer = results(fitted.judging, first, own, decision, own.posterior(judged.prior_of_use), table.classes, here,
                     reasons())  # fmt: skip
    decided, risk, gap, *posterior, status, reason = answer.columns
    called = {a: clean(table.action(a)) for a in decision.action if a is not None}
    answer[decided] = [called.get(a, "") for a in decision.action]
    answer[status] = [words.status(s) for s in decision.status]
    known = [c for c in first.names if c in set(first.called.values())]
    columns = [*known, *(c for c in first.names if c not in set(known))][:COLUMNS]
    columns = [c for c in first.names if c in set(columns)]
    cells = first.cells[columns].reset_index(drop=True)
    shown = pd.concat([answer, cells], axis=1).set_axis(range(1, n + 1), axis=0)
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    dear = pd.concat([answer[risk], answer[gap]]).abs().max() >= MONEY
    fine = "%.2f" if dear else "%.6f"
    config = {
        decided: text(_("decision"), pinned=True),
        **{name: number(f"P({clean(table.class_(c), 18)})", format="%.6f", width=96)
           for name, c in zip(posterior, table.classes, strict=True)},
        risk: number(_("risk"), format=fine, width=90, help=_("R(a|x), the conditional risk of the decision")),
        gap: number(_("gap"), format=fine, width=90, help=_("by how much the second-best decision costs more")),
        status: text(_("status"), width=150),
        reason: text(_("reason"), width=380, help=_("the columns that contribute most to the class decided against "
                                                    "its strongest rival, and what they add to the log-odds")),
        **{name: text(clean(name)) for name in cells.columns},
    }  # fmt: skip
    unclear = [status] if (decision.status != Status.OK).any() else []

    def choose() -> None:
        if chosen := selected("results", "rows"):
            change(lambda state: _case_of(state, table, first, chosen[0]))

    picked = st.dataframe(
        shown, key="results", on_select=choose, selection_mode="single-row", column_config=config, hide_index=False,
        column_order=[decided, *unclear, *posterior, reason, risk, gap, *cells.columns],
        height=min(38 + 35 * len(shown), 458), placeholder="",
        alt=_("the rows of the file with decision, posterior, reason and risk"),
    )  # fmt: skip
    if picked.selection.rows:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_("Row {n} is now the case.").format(n=picked.selection.rows[0] + 1))
            page_link("pages/case.py", _("Open it in One case"), ":material/search:")
    else:
        st.caption(_("Choose a row to open it in One case: the working, number by number."))
    if len(rows) > SHOWN:
        st.caption(_("The first {n} of {all} rows; the download has them all.").format(
            n=f"{SHOWN:,}", all=f"{len(rows):,}"))  # fmt: skip
    if len(first.names) > len(columns):
        st.caption(_("{n} of the file's {all} columns; the download has them all.").format(
            n=len(columns), all=f"{len(first.names):,}"))  # fmt: skip


def _case_of(state: State, table: active.FittableTable, rows: Incoming, i: int) -> State:
    """The state with row i of the file as its case; what the model cannot read there is missing."""
    cells = rows.frame.iloc[i]
    values = {str(k): None if pd.isna(v) or v in (float("inf"), float("-inf")) else v for k, v in cells.items()}
    keep_out_of_links(str(values[v.name]) for v in table.features if v.textual and values.get(v.name) is not None)
    own = -1.0 if rows.amount is None or not rows.amount[i] >= 0 else float(rows.amount[i])
    return replace(state, case=active.case_codes(table, values), row=-1, amount=own)


def against_truth(judged: Judged) -> None:
    """How often each action was decided where the file says what is true; labels of no class counted apart."""
    table, count = judged.table, judged.tally
    if not count.known and not count.strange:
        return
    with st.expander(_("Decisions against the classes in the file"), icon=":material/fact_check:"):
        if count.known:
            confusion = pd.DataFrame(
                count.confusion,
                index=[words.decision_name(table, action, clean) for action in judged.loss.actions],
                columns=[_("truth is {label}").format(label=clean(table.class_(c), 40)) for c in table.classes],
            )
            localized = {name: st.column_config.NumberColumn(format="localized") for name in confusion.columns}
            st.dataframe(confusion, width="content", alt=_("decisions by true class"), column_config=localized)
        if count.strange:
            st.caption(
                _("Rows whose label is no class of the model, counted neither as right nor as wrong: {n}.").format(
                    n=f"{count.strange:,}"
                )
            )


def bad_cells(judged: Judged) -> None:
    """The cells for which rows are not decided, one by one."""
    rows, n = judged.rows, judged.tally.undecided
    if not rows.bad:
        return
    why = cell_problems()
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
