"""The player: a run of EM as a film, with the climb and the numbers of every step beside it.

As with the drawing surface, two elements stand behind one call. The *film* (bytes) reaches the browser once and stays
in Streamlit's message cache while it does not change; the *live* part is small and goes with every run. Playing,
stepping and scrubbing need no server: the browser reports a step that a person chose, once it has stood for a moment.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.workbench.figures.mixture import Film
from bayes_engine.workbench.figures.theme import colour_of
from pages.components.component import component, follower
from pages.runtime.escape import clean
from pages.runtime.state import said_by

_film = component(__file__, "bayes_player_film")
_live = follower(
    __file__,
    "bayes_player",
    '<div class="player" data-testid="player"></div>',
    draws="bayesPlayer",
    told="bayes-film",
    every=True,
)


@dataclass(frozen=True, eq=False)
class Seen:
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
    seen: Seen,
    *,
    key: str,
    step: int,
    on_step: Callable[[int], object],
    on_moved: Callable[[int, float, float], object] | None = None,
    on_picked: Callable[[int], object] | None = None,
) -> None:
    """Show the film at `step` (−1: the end). The callbacks run before the script does: `on_step(step)` for a step that
    was chosen, `on_moved(k, x, y)` for a start point that was dragged, `on_picked(row)` for a row that was clicked."""
    counted = f"{key}-seen"
    digest, body = film_bytes(seen.film, key)
    rows = frozenset(int(r) for r in seen.rows)
    k = seen.film.shares[0].shape[1]

    def heard(name: str) -> dict[str, Any]:
        value = said_by(key, name)
        value = value if isinstance(value, dict) else {}
        if isinstance(value.get("n"), int):
            st.session_state[counted] = value["n"]
        return value

    def stepped() -> None:
        chosen = heard("stepped").get("step")
        if type(chosen) is int and -1 <= chosen < len(seen.film.shares):
            on_step(chosen)

    def moved() -> None:
        value = heard("moved")
        which, x, y = (value.get(name) for name in ("k", "x", "y"))
        if on_moved is not None and type(which) is int and 0 <= which < k and _number(x) and _number(y):
            on_moved(which, float(x), float(y))

    def picked() -> None:
        row = heard("picked").get("row")
        if on_picked is not None and type(row) is int and row in rows:
            on_picked(row)

    with st.container(gap=None):
        _live(
            key=key,
            data=live_part(seen, key, digest, step=step, counted=st.session_state.get(counted, 0)),
            on_stepped_change=stepped,
            on_moved_change=moved,
            on_picked_change=picked,
        )
        _film(key=f"{key}-film", data=body, height=1)


def film_bytes(film: Film, key: str) -> tuple[str, bytes]:
    """The heavy part and its digest: head length (little-endian uint32), JSON head padded to a multiple of four, then
    the film's body."""
    head, body = {"key": key, **film.head()}, film.body()
    digest = hashlib.blake2b(json.dumps(head).encode() + body, digest_size=8).hexdigest()
    text = json.dumps({**head, "id": digest}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return digest, len(text).to_bytes(4, "little") + text + body


def live_part(seen: Seen, key: str, film: str, *, step: int, counted: int) -> dict[str, Any]:
    """The small part, as JSON. `counted` is the number of the last event that the server has answered: an older answer
    must not pull the film back."""
    sides = seen.film.sides
    return {
        "key": key,
        "film": film,
        "height": 500,
        "step": step,
        "seen": counted,
        "sides": None
        if sides is None or seen.axes is None
        else [
            {"label": clean(name, 60), "low": s.low, "high": s.high} for name, s in zip(seen.axes, sides, strict=True)
        ],
        "inks": [
            {"label": clean(name, 40), "light": colour_of(i), "dark": colour_of(i, dark=True)}
            for i, name in enumerate(seen.components)
        ],
        "rows": [int(r) for r in seen.rows],
        "truths": [clean(name, 40) for name in seen.classes],
        "truth": None if seen.truth is None else [int(c) for c in seen.truth],
        "glyphs": seen.truth is not None,
        "same": seen.same,
        "seen_labels": None if seen.labelled is None else [bool(v) for v in seen.labelled],
        "right": None if seen.right is None else [int(v) for v in seen.right],
        "right_of": seen.right_of,
        "starts": seen.draggable,
        "pick": seen.pickable,
        "words": _words(seen.film),
    }


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


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
        "rewind": _("Back to the start"),
        "back": _("One iteration back"),
        "play": _("Play"),
        "pause": _("Pause"),
        "forward": _("One iteration forward"),
        "end": _("To the end"),
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
