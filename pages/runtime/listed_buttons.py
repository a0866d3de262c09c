"""Buttons of a list whose entries change with the table: mends, what undoes them, ways to read a file.

A browser knows a button by its key alone, and shows it until it has drawn the next run. So a click may come when the
list holds another entry in the same place, as the second one of a double click does, or when another table is in use.
The key of such a button holds what the button does and the table beside which it stands; a click on one that is gone
does nothing once that table has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pages.runtime.cache import content_key
from pages.runtime.state import State, current, on_click

CHARACTERS = 12
"""So many characters of a content are enough to tell the buttons of one place apart."""


def table_of(state: State) -> tuple[Any, ...]:
    """The table in use as it was mended."""
    return state.table, state.columns, state.repairs


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
