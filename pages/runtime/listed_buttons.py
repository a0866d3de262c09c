"""Buttons of a list whose entries change with the table: mends, what undoes them, ways to read a file. And choices that
stand in such a place: the role and the kind of a column.

A browser knows a button by its key alone, and shows it until it has drawn the next run. So a click may come when the
list holds another entry in the same place, as the second one of a double click does, or when another table is in use.
The key of such a button holds what the button does and the table beside which it stands; a click on one that is gone
does nothing once that table has changed. The same holds of a choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pages.runtime.cache import content_key
from pages.runtime.state import State, current, on_click
from pages.runtime.widgets import control

CHARACTERS = 12
"""So many characters of a content are enough to tell the buttons of one place apart."""


def table_of(state: State) -> tuple[Any, ...]:
    """The table in use as it was mended."""
    return state.table, state.columns, state.repairs


def columns_of(state: State) -> tuple[Any, ...]:
    """What says which column stands at a position: the table and its repairs, but not how a column is read."""
    return state.table, state.repairs


def listed(
    key: str, what: Any, edit: Callable[[State], State], of: Callable[[State], Any] = table_of
) -> dict[str, Any]:
    """Keyword arguments of a button that edits the state, in a list beside what `of` says of it: the key, with `what`
    the button does, and the click.

    `st.button(_("Undo"), **listed(f"undo_{place}", entry, lambda state: …))`
    """
    drawn = of(current())
    marked = f"{key}_{content_key(drawn, what)[:CHARACTERS]}"
    return {"key": marked, **on_click(lambda state: edit(state) if of(state) == drawn else state)}


def listed_choice(
    key: str, value: Any, edit: Callable[[State, Any], State], of: Callable[[State], Any] = table_of
) -> dict[str, Any]:
    """Keyword arguments of a widget that is a view of the state, as `control` gives them, beside what `of` says of it.

    `st.selectbox(_("Role"), ROLES, **listed_choice(f"role_{position}", role, lambda state, v: …, columns_of))`
    """
    drawn = of(current())
    marked = f"{key}_{content_key(drawn)[:CHARACTERS]}"
    return control(marked, value, lambda state, entered: edit(state, entered) if of(state) == drawn else state)
