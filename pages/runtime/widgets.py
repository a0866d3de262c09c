"""Widgets as views of the state: each shows a part of it, and what a person does in it is an edit of the state."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import streamlit as st

from bayes_engine.language import current_language
from pages.runtime import private
from pages.runtime.state import State, change, current, on_click
from pages.runtime.view_keys import Setting, ViewKey

T = TypeVar("T")
UNHEARD = 2.0
"""Seconds within which a browser may not yet have heard of the value that a widget was told."""
TOLD_AGAIN = 5.0
"""Seconds within which a value is told in every run, unless a person has changed it: a slow browser draws only the last
of two runs, and may never see the one that told it."""
_NOT_DRAWN = object()
"""For the value of a widget that the session has none of."""


def widget_message(key: str, part: str) -> Any:
    """What a widget of this key has said under a name, for its callback; None where the last run drew no such widget:
    in a slow browser an older one can still be used."""
    reported = st.session_state.get(key)
    return None if reported is None else reported.get(part)


def selected(key: str, part: str) -> list[Any]:
    """The `rows`, `cells` or `points` that are selected in a table or chart of this key, for its callback."""
    return list((widget_message(key, "selection") or {}).get(part, ()))


def control(key: str, value: Any, edit: Callable[[State, Any], State], *, new_words: bool = False) -> dict[str, Any]:
    """Keyword arguments that make a widget a view of the state: it shows `value`, and a change of it edits the state.

    `st.slider(_("α"), 0.0, 5.0, **control("alpha", spec.alpha, lambda s, v: …))`

    A browser holds an option by its words, and says with whatever it asks for how all widgets stand. Where a run has
    just drawn other options (another table, another language), it may send words of before: they are no edit, neither
    where they name no option any more, unless a person may give `new_words`, nor where they name another one.
    """
    state, mounted, sent_at = current(), private.kept_dict("mounted"), private.kept_dict("sent_at")
    unheard: list[tuple[Any, float]] = private.kept_dict("unheard").setdefault(key, [])
    # another page's widget of the same key is a new one, which must be told its value; and one whose words may have
    # changed must be told anew
    table = (state.table, state.columns, state.repairs)
    drawn = (private.kept_value("visit"), current_language(), state.labels, *table)
    shown = st.session_state.get(key, _NOT_DRAWN)
    if mounted.get(key) != drawn or shown is _NOT_DRAWN or shown != value:
        if shown is not _NOT_DRAWN:
            words = private.words_of(key, shown)
            unheard[:] = [*filter(_recent, unheard), (words, time.monotonic())]
        st.session_state[key] = value  # only then: writing what is there already would swallow a key being typed
        sent_at[key] = time.monotonic()
    elif time.monotonic() - sent_at.get(key, -math.inf) < TOLD_AGAIN:
        st.session_state[key] = value
    mounted[key] = drawn

    def changed() -> None:
        sent_at.pop(key, None)  # the browser has it
        entered = st.session_state.get(key, value)
        words = private.words_of(key, entered)
        old = words != private.words_of(key, value) and any(was == words for was, _when in filter(_recent, unheard))
        if not old and (new_words or private.is_offered(key, entered)):
            change(lambda state: edit(state, entered))

    return {"key": key, "on_change": changed}


def bound_to(key: ViewKey[T], value: T | None = None, *, also: Sequence[Setting] = ()) -> dict[str, Any]:
    """Keyword arguments that make a widget a view of a page's setting; a change of it sets `also` as well.

    It shows `value`, or what the state has. `st.toggle(_("Digits"), **bound_to(keys.DIGITS))`
    """
    shown = current().seen(key) if value is None else value

    def edit(state: State, entered: Any) -> State:
        return state.showing(key.to(key.default if entered is None else entered), *also)

    return control(key.widget, list(shown) if isinstance(shown, tuple) else shown, edit)


def within_limits(key: ViewKey[T], *, also: Sequence[Setting] = ()) -> dict[str, Any]:
    """`bound_to`, for a slider or a number, which goes from one limit of its key to the other.

    `st.slider(_("Smoothing"), step=0.1, **within_limits(keys.DIAL_ALPHA))`
    """
    low, high = key.limits
    return {"min_value": low, "max_value": high, **bound_to(key, also=also)}


def sets(*settings: Setting) -> dict[str, Any]:
    """Keyword arguments that make a button set settings of a page.

    `st.button(_("Draw again"), key="lab_again", **sets(keys.LAB_SEED.to(seed + 1)))`
    """
    return on_click(lambda state: state.showing(*settings))


def choose(
    label: str,
    key: ViewKey[T],
    options: Mapping[T, str],
    *,
    otherwise: T | None = None,
    also: Sequence[Setting] = (),
    titled: bool = True,
    about: str | None = None,
) -> T:
    """Draw the choice of a page's setting among options with their words; returns the one that stands, which is
    `otherwise` or the first where the state has none of them."""
    chosen, shown = _among(key, options, otherwise, also, titled)
    st.segmented_control(label, list(options), required=True, help=about, **shown)
    return chosen


def select(
    label: str,
    key: ViewKey[T],
    options: Mapping[T, str],
    *,
    otherwise: T | None = None,
    also: Sequence[Setting] = (),
    titled: bool = True,
    about: str | None = None,
    width: int | Literal["stretch"] = "stretch",
) -> T:
    """`choose`, from a list that opens."""
    chosen, shown = _among(key, options, otherwise, also, titled)
    st.selectbox(label, list(options), help=about, width=width, **shown)
    return chosen


def _among(
    key: ViewKey[T], options: Mapping[T, str], otherwise: T | None, also: Sequence[Setting], titled: bool
) -> tuple[T, dict[str, Any]]:
    """The option that stands, and keyword arguments of a widget that shows it."""
    chosen = current().seen_among(key, options, otherwise)
    visibility = "visible" if titled else "collapsed"
    bound = bound_to(key, chosen, also=also)
    return chosen, {"format_func": options.__getitem__, "label_visibility": visibility, **bound}


def _recent(was: tuple[Any, float]) -> bool:
    """Whether a widget may still send the value that it had until it was told another: that is no edit of a person."""
    return time.monotonic() - was[1] < UNHEARD
