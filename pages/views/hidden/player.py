"""The player: a run of EM as a film, with the climb and the numbers of every step beside it.

As with the drawing surface, two elements stand behind one call. The *film* (bytes) reaches the browser once and stays
in Streamlit's message cache while it does not change; the *live* part is small and goes with every run. Playing,
stepping and scrubbing need no server: the browser reports a step that a person chose, once it has stood for a moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.workbench.figures.mixture import Film
from pages.components.component import (
    component,
    follower,
    ink,
    is_number,
    last_message,
    packed,
    read_message,
    read_position,
)
from pages.components.film import bar_words, read_step
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean
from pages.runtime.state import change, current

_film = component(__file__, "bayes_player_film", uses=("stage", "paper", "film"))
_live = follower(
    __file__,
    "bayes_player",
    '<div class="player" data-testid="player"></div>',
    draws="bayesPlayer",
    event="bayes-film",
    every=True,
    uses=("film",),
)


@dataclass(frozen=True, eq=False)
class Scene:
    """What stands around a film: the names of the components and, in a plane, of its two axes; `rows` (n,) the numbers
    of the rows drawn, `truth` (n,) their classes among `classes`, `labelled` (n,) whether EM knows them; `right` (T,)
    hidden rows that are right, of `right_of`. `same`: a component is a class. `draggable`: the start points."""

    film: Film
    components: Sequence[str]
    axes: tuple[str, str] | None
    rows: Sequence[int]
    classes: Sequence[str]
    truth: Sequence[int] | None = None
    labelled: Sequence[bool] | None = None
    right: Sequence[int] | None = None
    right_of: int = 0
    same: bool = False
    draggable: bool = False
    pickable: bool = False


def player(
    scene: Scene,
    *,
    key: str,
    on_moved: Callable[[int, float, float], object] | None = None,
    on_picked: Callable[[int], object] | None = None,
) -> None:
    """Show the film at the step in use. The callbacks run before the script does: `on_moved(k, x, y)` for a start point
    that was dragged, `on_picked(row)` for a row that was clicked."""
    digest, body = film_bytes(scene.film, key)
    rows = frozenset(int(r) for r in scene.rows)
    last, k = len(scene.film.shares) - 1, scene.film.shares[0].shape[1]

    def stepped() -> None:
        chosen = read_message(key, "stepped", lambda edit: read_step(edit, last))
        if chosen is not None:
            change(lambda s: s.showing(keys.EM_STEP.to(chosen)))

    def moved() -> None:
        start = read_message(key, "moved", lambda edit: read_start(edit, k))
        if start is not None and on_moved is not None:
            on_moved(*start)

    def picked() -> None:
        row = read_message(key, "picked", lambda edit: read_position(edit.get("row"), max(rows, default=-1) + 1))
        if row in rows and on_picked is not None:
            on_picked(row)

    with st.container(gap=None):
        _live(
            key=key,
            data=live_part(scene, key, digest) | {"seen": last_message(key)},
            on_stepped_change=stepped,
            on_moved_change=moved,
            on_picked_change=picked,
        )
        _film(key=f"{key}-film", data=body, height=1)


def film_bytes(film: Film, key: str) -> tuple[str, bytes]:
    """The digest of the heavy part, and it: behind its head the film's body."""
    return packed({"key": key, **film.head}, film.body)


def read_start(edit: Mapping[str, Any], k: int) -> tuple[int, float, float] | None:
    """(component, x, y) of a start point, of k, that a browser says was dragged; None if it is anything else.

    >>> read_start({"k": 1, "x": 2, "y": 0.5}, 2), read_start({"k": 2, "x": 2, "y": 0.5}, 2)
    ((1, 2.0, 0.5), None)
    """
    which, x, y = read_position(edit.get("k"), k), edit.get("x"), edit.get("y")
    return (which, float(x), float(y)) if which is not None and is_number(x) and is_number(y) else None


def live_part(scene: Scene, key: str, film: str) -> dict[str, Any]:
    sides = scene.film.sides
    return {
        "key": key,
        "film": film,
        "step": current().seen(keys.EM_STEP),
        "sides": None
        if sides is None or scene.axes is None
        else [
            {"label": clean(name, 60), "low": s.low, "high": s.high} for name, s in zip(scene.axes, sides, strict=True)
        ],
        "inks": [ink(clean(name, 40), i) for i, name in enumerate(scene.components)],
        "rows": [int(r) for r in scene.rows],
        "truths": [clean(name, 40) for name in scene.classes],
        "truth": None if scene.truth is None else [int(c) for c in scene.truth],
        "same": scene.same,
        "seen_labels": None if scene.labelled is None else [bool(v) for v in scene.labelled],
        "right": None if scene.right is None else [int(v) for v in scene.right],
        "right_of": scene.right_of,
        "starts": scene.draggable,
        "pick": scene.pickable,
        "words": _words(scene.film),
    }


def _words(film: Film) -> dict[str, str]:
    prior = any(step.log_prior for step in film.trace.steps)
    objective = ("log p(X, Z | Θ)" if film.trace.hard else "log p(X | Θ)") + (" + log p(Θ)" if prior else "")
    if film.trace.hard:
        whole = (
            _("Classification likelihood + log prior, all iterations")
            if prior
            else _("Classification likelihood, all iterations")
        )
    else:
        whole = _("Log-likelihood + log prior, all iterations") if prior else _("Log-likelihood, all iterations")
    return {
        "counter": _("iteration {t} of {T}"),
        **bar_words(),
        "back": _("One iteration back"),
        "forward": _("One iteration forward"),
        "scrub": _("Iteration"),
        "whole": whole,
        "near": _("Around this step: M climbs to the bound (○), E closes the gap (●)"),
        "objective": objective,
        "m_step": _("M step raised the bound by"),
        "e_step": _("E step added"),
        "moved": _("Parameters moved by"),
        "right": _("Hidden labels right"),
        "start": _("Start point {k}"),
        "row": _("Row {n}"),
        "truth": _("truth: {label}"),
        "seen": _("label seen"),
        "click_hide": _("label seen; click hides it"),
        "click_show": _("label hidden; click shows it"),
    }
