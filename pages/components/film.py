"""The bar of a film (film.js): its words, the step that a person chose in it; and a bar by itself, of a film that the
server draws step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from bayes_engine.language import _
from pages.components.component import component, last_message, read_message
from pages.runtime.state import change, current, use_session_language
from pages.runtime.view_keys import ViewKey

_film = component(__file__, "bayes_film", '<div data-testid="film"></div>', uses=("stage",), draws="createFilm")


def film_frame(draw: Callable[[], object], plays: ViewKey[bool], over: Callable[[], bool] = lambda: False) -> None:
    """Draw a frame of a film that the server draws. Where the page's setting says that it plays, the steps that follow
    run no more than that, until it plays no longer or is `over`."""
    if not current().seen(plays):
        draw()
        return

    @st.fragment
    def playing() -> None:
        use_session_language()
        if not current().seen(plays) or over():
            st.rerun()
        draw()

    playing()


def step_shown(step_key: ViewKey[int], last: int) -> int:
    """The step looked at; at first the last."""
    step = current().seen(step_key)
    return step if 0 <= step <= last else last


def film_bar(step: int, last: int, *, key: str, step_key: ViewKey[int], plays: ViewKey[bool], pace: float) -> None:
    """The bar of a film at this step of 0 to `last`. The step that is chosen, −1 for the last, goes into the setting
    of `step_key`, and whether it plays into that of `plays`; then a step takes `pace` seconds once it is drawn."""

    def stepped() -> None:
        chosen = read_message(key, "stepped", lambda edit: read_play(edit, last))
        if chosen is not None:
            change(lambda s: s.showing(step_key.to(chosen[0]), plays.to(chosen[1])))

    words = bar_words() | {
        "rewind": _("To the beginning"),
        "back": _("A step back"),
        "forward": _("A step further"),
        "scrub": _("Step"),
    }
    data = {
        "step": step,
        "last": last,
        "plays": current().seen(plays),
        "pace": 1000.0 * pace,
        "words": words,
        "seen": last_message(key),
    }
    _film(key=key, data=data, on_stepped_change=stepped)


def read_step(edit: Mapping[str, Any], last: int) -> int | None:
    """The step that a bar sent, from 0, of a film whose last is this; −1 for the last, None for anything else.

    >>> [read_step({"step": step}, 3) for step in (0, 2, 3, -1, 4, -2, True, "1")]
    [0, 2, -1, -1, None, None, None, None]
    """
    step = edit.get("step")
    if type(step) is not int or not -1 <= step <= last:
        return None
    return -1 if step == last else step


def read_play(edit: Mapping[str, Any], last: int) -> tuple[int, bool] | None:
    """The step that a bar sent, and whether it goes on from there, which it cannot at its end.

    >>> read_play({"step": 2, "plays": True}, 3), read_play({"step": 3, "plays": True}, 3), read_play({"step": 2}, 3)
    ((2, True), (-1, False), None)
    """
    step, plays = read_step(edit, last), edit.get("plays")
    return None if step is None or not isinstance(plays, bool) else (step, plays and step >= 0)


def bar_words() -> dict[str, str]:
    return {"rewind": _("Back to the start"), "play": _("Play"), "pause": _("Pause"), "end": _("To the end")}
