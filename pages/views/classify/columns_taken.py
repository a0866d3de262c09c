"""Which column of the second file stands for which of the model's: what is missing or of another kind there, said
before the results, and the choice of another one."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import streamlit as st

from bayes_engine.language import _
from bayes_engine.table.notes import Note
from bayes_engine.workbench.incoming.columns import MISSING_HERE
from bayes_engine.workbench.incoming.file_blocks import CellBlocks
from pages import active
from pages.active.files import Upload, unmatched
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State
from pages.runtime.widgets import control
from pages.views.classify.file_given import here_too, in_words
from pages.views.classify.judged import chosen, matched

MOST = 24
"""How many columns have a choice on screen; a file that lacks more of them is another table."""
SHORT = 6
"""How many columns are named one by one."""


def absent(table: active.FittableTable, fitted: active.Fitted, upload: Upload[CellBlocks]) -> tuple[Note, ...]:
    """What there is to say of the columns that the file does not have, from its header alone."""
    amount = table.amount_column if active.losses(table).by_amount is None else ""  # else it is an error, said so
    matches = matched(table, fitted, upload)
    if not matches.called.keys() & set(fitted.model.schema_.names):
        return ()  # the file is refused, which says so
    return tuple(matches.absent(fitted.model.schema_, amount))


def doubtful_columns(table: active.FittableTable, doubts: Iterable[Note]) -> None:
    """The columns that are missing in the file, or of another kind than the table's, before anything that follows."""
    lines = [in_words(table, doubt.message) for doubt in doubts]
    if lines:
        more = [_("and {n} more of the same kinds").format(n=len(lines) - SHORT)] if len(lines) > SHORT else []
        st.warning("  \n".join([*lines[:SHORT], *more]), icon=":material/warning:")


def choose(
    table: active.FittableTable,
    fitted: active.Fitted,
    upload: Upload[CellBlocks],
    doubts: Iterable[Note],
    *,
    open_: bool,
) -> None:
    """For each of the model's columns that is in doubt, or was chosen before, which column of the file it is."""
    matches, stated = matched(table, fitted, upload), dict(chosen(table)[1])
    doubted = {doubt.column for doubt in doubts}
    here, per_unit = table.schema.position, active.losses(table).by_amount is None
    wanted = [*fitted.model.schema_.names, *([table.amount_column] if table.amount_column else [])]
    asked = [name for name in wanted if matches.called.get(name) != name or name in doubted or name in stated]
    if not asked:
        return
    with st.expander(_("Which column of the file is which"), icon=":material/compare_arrows:", expanded=open_):
        cells = st.columns(3)
        for k, name in enumerate(asked[:MOST]):
            own = matches.called.get(name)
            if name != table.amount_column:
                none = _("none: missing in every row")
            else:
                none = _("none: losses per unit") if per_unit else _("none: no row is decided")
            free = [j for j, other in enumerate(matches.names) if other == own or other not in matches.called.values()]
            options = {MISSING_HERE: none, **{j: clean(matches.names[j], 60) for j in free}}
            cells[k % 3].selectbox(
                md(name, 60) + here_too(table, name),
                list(options),
                format_func=options.__getitem__,
                **control(
                    f"second_as_{here[name]}",
                    MISSING_HERE if own is None else matches.names.index(own),
                    partial(_taken, position=here[name]),
                ),
            )
        if asked[MOST:]:
            st.caption(_("and {n} more; give them the model's names in the file").format(n=len(asked) - MOST))


def _taken(state: State, place: int, position: int) -> State:
    """The state in which the table's column at a place is a column of the file; places count from 1 there, 0: none."""
    rest = {column: other for column, other in state.seen(keys.SECOND_AS) if column != position}
    return state.showing(keys.SECOND_AS.to(tuple(sorted({**rest, position: place + 1}.items()))))


def kept_where_the_names_are(state: State, before: CellBlocks, after: CellBlocks) -> State:
    """The state after the file was read otherwise: choices speak of columns by their places."""
    return state if before.names == after.names else unmatched(state)
