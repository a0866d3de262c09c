"""Blanks to be filled in on a page: a field with the mark of its answer, and the answers as the state keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.workbench.derivation.check import LONGEST
from pages.runtime import private
from pages.runtime.state import State, current
from pages.runtime.view_keys import ViewKey
from pages.runtime.widgets import control

Answers = ViewKey[tuple[Any, ...]]
"""A key that holds pairs of a blank's key and what was filled in."""
ICONS = {"right": ":material/check_circle:", "wrong": ":material/cancel:", "unreadable": ":material/help:"}
_INK = {"right": "#1a9850", "wrong": "#d7301f", "unreadable": "#d7301f"}


def answers(key: Answers) -> dict[str, str]:
    """What was filled in, by the key of the blank."""
    return _given(current(), key)


def _given(state: State, key: Answers) -> dict[str, str]:
    pairs: tuple[tuple[str, str], ...] = state.seen(key)
    return dict(pairs)


def blank(place: Any, kept: Answers, key: str, label: str, text: str, mark: str, *, named: bool = False) -> None:
    """A field for a number at a place of the page; with `named` its label (Markdown) stands above it."""
    place.text_input(
        label,
        label_visibility="visible" if named else "collapsed",
        placeholder="?",
        icon=ICONS.get(mark),
        max_chars=LONGEST,
        **control(f"fill_{key}", text, partial(entered, kept=kept, key=key)),
    )


def entered(state: State, value: str | None, kept: Answers, key: str) -> State:
    """The state with this answer; an empty one is none."""
    now = _given(state, kept) | {key: value or ""}
    return state.showing(kept.to(tuple(sorted((k, v) for k, v in now.items() if v))))


def colour_marks(marks: Mapping[str, str]) -> None:
    """Colour the icons of the blanks by their marks."""
    rules = [
        f".st-key-fill_{key} [st=IconMaterial] {{ color: {_INK[mark]}; }}"
        for key, mark in marks.items()
        if mark in _INK
    ]
    st.html(private.style(" ".join(rules)))


def progress(marks: Mapping[str, str], when_done: str) -> None:
    """How many steps are right, and a sentence when all are."""
    done = list(marks.values()).count("right")
    st.progress(done / len(marks), text=_("{done} of {n} steps right").format(done=done, n=len(marks)))
    if done == len(marks):
        st.success(when_done, icon=":material/check_circle:")
