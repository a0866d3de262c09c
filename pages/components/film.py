"""The bar of a film (film.js): its words, and the step that a person chose in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayes_engine.language import _


def read_step(edit: Mapping[str, Any], last: int) -> int | None:
    """The step that a bar sent, from 0, of a film whose last is this; −1 for the last, None for anything else.

    >>> [read_step({"step": step}, 3) for step in (0, 2, 3, -1, 4, -2, True, "1")]
    [0, 2, -1, -1, None, None, None, None]
    """
    step = edit.get("step")
    if type(step) is not int or not -1 <= step <= last:
        return None
    return -1 if step == last else step


def bar_words() -> dict[str, str]:
    """What is said of every bar."""
    return {"rewind": _("Back to the start"), "play": _("Play"), "pause": _("Pause"), "end": _("To the end")}
