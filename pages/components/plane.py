"""The drawing surface: decision regions over one or two features, the rows on it, and a case one can drag.

Two elements stand behind one call. The *scene* (drawing code, posterior grid and points, as bytes) reaches the browser
once and stays in Streamlit's message cache while it does not change. The *live* part (losses, shift of the prior, case)
is small and goes with every run. The browser computes argmin_i Σ_j λ_ij P(c_j|x) itself, so a new λ only repaints.
The editor of the losses (losses.js) repaints it without the server:

    window.dispatchEvent(new CustomEvent("bayes-loss", {detail: {key, table, by, shift, edit}}))

`edit` is the number of that edit; what comes from the server is shown again once the server has answered it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, NamedTuple

import streamlit as st

from bayes_engine.decision.regions import costlier
from bayes_engine.errors import ParameterError
from bayes_engine.language import _
from bayes_engine.logspace import Array
from bayes_engine.workbench.figures.decisions import NATS, log_steps
from bayes_engine.workbench.figures.theme import EXTRA_COLOURS, colour_of
from pages.components.component import component, follower, is_number, last_message, packed, read_message
from pages.runtime.escape import clean

_scene = component(__file__, "bayes_plane_scene", uses=("decide", "stage", "paper", "plane_regions"))
_live = follower(
    __file__, "bayes_plane", '<div class="plane" data-testid="plane"></div>', draws="bayesPlane", event="bayes-scene"
)


@dataclass(frozen=True)
class Side:
    """One side of the plane: a number from `low` to `high`, or one equal band for each of `levels` (their labels).

    On a side with levels a position is the level's number, from 0; a band reaches half a unit to either side of it.
    """

    label: str
    low: float = 0.0
    high: float = 1.0
    unit: str = ""
    levels: tuple[str, ...] = ()

    def clip(self, value: float) -> float:
        """The nearest position on this side.

        >>> Side("texture", levels=("clear", "blurry")).clip(3.2), Side("density", 0.2, 0.8).clip(0.9)
        (1.0, 0.8)
        """
        if self.levels:
            return float(min(max(round(value), 0), len(self.levels) - 1))
        return min(max(value, self.low), self.high)


class Ink(NamedTuple):
    """A class or an action on screen: its label, its colour on light and on dark ground. `of` is the class an action
    decides for; an action of its own (refuse, ask) has none and is hatched."""

    label: str
    light: str
    dark: str
    of: int | None = None


def class_inks(labels: Sequence[str]) -> tuple[Ink, ...]:
    """The classes in their own colours.

    >>> class_inks(["bad", "good"])[1].light
    '#926500'
    """
    return tuple(Ink(label, colour_of(k), colour_of(k, dark=True), k) for k, label in enumerate(labels))


def action_inks(labels: Sequence[str], of: Sequence[int | None]) -> tuple[Ink, ...]:
    """The actions: in the colour of the class they decide for (`of`), else in a muted one.

    >>> [ink.light for ink in action_inks(["good", "ask"], [1, None])]
    ['#926500', '#6B6F76']
    """
    extra = cycle(EXTRA_COLOURS)
    return tuple(
        Ink(label, *(next(extra) if k is None else (colour_of(k), colour_of(k, dark=True))), k)
        for label, k in zip(labels, of, strict=True)
    )


@dataclass(frozen=True, eq=False)
class Points:
    """n rows on the plane: positions (n,), on a side with levels already spread inside its band; `truth` and `decided`
    (n,) positions among classes and actions (−1: not known); `row` (n,) numbers that a click reports; `text` (n,) what
    hovering shows, its first line as the heading; `posterior` (n, K), where given, at the prior without `shift`, lets
    the browser judge the rows anew under other losses (an empty list: none), each at its own `amount` (n,) where given.
    A row without a finite place is not drawn. `faded` (a list of positions): drawn pale.
    """

    x: Sequence[float]
    y: Sequence[float]
    truth: Sequence[int]
    decided: Sequence[int]
    row: Sequence[int]
    text: Sequence[str]
    posterior: Sequence[Sequence[float]] = ()
    amount: Sequence[float] = ()
    faded: Sequence[int] = ()


@dataclass(frozen=True)
class Case:
    """The draggable case. Where the engine's own `posterior` (K,) is given, it is shown until the case is moved."""

    x: float
    y: float
    label: str
    posterior: tuple[float, ...] = ()


@dataclass(frozen=True)
class Others:
    """What is true of the features that are not on the axes, in words: `held` stands on the picture, `ring` and `faded`
    in the legend; `alone`, where the regions go by the axes alone: how their posterior is read beside the case's."""

    held: str = ""
    ring: str = ""
    faded: str = ""
    alone: str = ""


@dataclass(frozen=True, eq=False)
class PlaneView:
    """What is drawn.

    `posterior` (H, W, K): P(c|x) at the middle of each of H×W equal cells, y upwards; one cell for each level on a side
    with levels; H = 1 without a `y` side. All zeros, or False in `possible` (H, W), where there is no posterior. `loss`
    (A, K), rows are actions. `shift` (K,) nats: log π_use − log π_model, added in the browser. `label` names the
    drawing for screen readers. `order` (A,): the actions as they win ties (`LossMatrix.by_name`). The regions are those
    at the case's `amount`, which multiplies the cells `by_amount` (A, K) of the losses, or all of them (None).
    """

    x: Side
    y: Side | None
    classes: tuple[Ink, ...]
    actions: tuple[Ink, ...]
    posterior: Array
    loss: Array
    possible: Any = None
    shift: Sequence[float] | Array = ()
    points: Points | None = None
    case: Case | None = None
    label: str = ""
    order: Sequence[int] = ()
    amount: float = 1.0
    by_amount: Any = None
    others: Others = Others()


def plane(
    view: PlaneView,
    *,
    key: str,
    height: int = 480,
    edit: int = 0,
    scene: tuple[str, bytes] | None = None,
    on_moved: Callable[[float, float], object] | None = None,
    on_picked: Callable[[int], object] | None = None,
) -> None:
    """Draw `view`, `height` pixels high without its legend; its losses and prior answer the edit of this number. Where
    its `scene` is kept (`scene_bytes`), the texts of its points are not asked for.

    `on_moved(x, y)` is called while the case is dragged (every 150 ms) and when it is let go; `on_picked(row)` when a
    point is clicked. Both before the script runs again, so the page can put them into its state.
    """

    def moved() -> None:
        place = read_message(key, "moved", lambda edit: read_moved(edit, view.x, view.y))
        if place is not None and on_moved is not None:
            on_moved(*place)

    def picked() -> None:
        rows = () if view.points is None else view.points.row
        row = read_message(key, "picked", lambda edit: read_picked(edit.get("row"), frozenset(map(int, rows))))
        if row is not None and on_picked is not None:
            on_picked(row)

    digest, body = scene_bytes(view, key) if scene is None else scene
    with st.container(gap=None):
        _live(
            key=key,
            data=live_part(view, key, digest, height=height, seen=last_message(key), edit=edit),
            on_moved_change=moved,
            on_picked_change=picked,
        )
        _scene(key=f"{key}-scene", data=body, height=1)


def scene_bytes(view: PlaneView, key: str) -> tuple[str, bytes]:
    """The digest of the heavy part, and it: behind its head the grid as `figures.decisions.log_steps` packs it, y
    upwards."""
    _check(view)
    body = log_steps(view.posterior, view.possible)
    return packed({"key": key, "shape": view.posterior.shape, "nats": NATS, "points": _points(view.points)}, body)


def live_part(view: PlaneView, key: str, scene: str, *, height: int, seen: int, edit: int = 0) -> dict[str, Any]:
    """The small part, as JSON: everything that may change without the scene (given by its digest). `seen` is the number
    of the last move the server has answered: an older answer must not pull the case back while it is dragged; `edit`
    that of the last edit of losses and prior, for the same reason."""
    return {
        "key": key,
        "scene": scene,
        "height": int(height),
        "label": clean(view.label, 200),
        "x": _side(view.x),
        "y": None if view.y is None else _side(view.y),
        "classes": [_ink(ink) for ink in view.classes],
        "actions": [_ink(ink) for ink in view.actions],
        "order": list(view.order) or _by_name(view.actions),
        "loss": view.loss.tolist(),
        "by": None if view.by_amount is None else view.by_amount.tolist(),
        "amount": float(view.amount),
        "shift": [min(max(float(v), -700.0), 700.0) for v in view.shift],
        "wrong": [] if view.points is None else _costlier(view.points, view),
        "faded": [] if view.points is None else [int(i) for i in view.points.faded],
        "held": clean(view.others.held, 200),
        "alone": clean(view.others.alone, 200),
        "case": None
        if view.case is None
        else {
            "x": view.x.clip(view.case.x),
            "y": 0.0 if view.y is None else view.y.clip(view.case.y),
            "label": clean(view.case.label),
            "posterior": [float(p) for p in view.case.posterior],
        },
        "seen": seen,
        "edit": edit,
        "words": _words(view.others),
    }


def read_moved(edit: Mapping[str, Any], x: Side, y: Side | None) -> tuple[float, float] | None:
    """(x, y) from what a browser sent, moved onto the sides; None if it is anything else.

    >>> read_moved({"x": 7, "y": 0.25}, Side("density", 0, 1), Side("sugar", 0, 1))
    (1, 0.25)
    """
    across, up = edit.get("x"), edit.get("y")
    if not is_number(across) or not is_number(up):
        return None
    return x.clip(across), 0.0 if y is None else y.clip(up)


def read_picked(value: object, rows: frozenset[int]) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value in rows else None


def _check(view: PlaneView) -> None:
    grid, loss = view.posterior.shape, view.loss.shape
    sides = (("",) if view.y is None else view.y.levels, view.x.levels)
    fits = len(grid) == 3 and all(not levels or n == len(levels) for n, levels in zip(grid, sides, strict=False))
    if not fits or grid[2] != len(view.classes) or loss != (len(view.actions), len(view.classes)):
        raise ParameterError(
            "a posterior grid of shape {grid} and losses of shape {loss} do not fit {a} actions, {k} classes and the "
            "levels of the two sides",
            grid=str(grid), loss=str(loss), a=len(view.actions), k=len(view.classes),
        )  # fmt: skip


def _by_name(actions: Sequence[Ink]) -> list[int]:
    """The classes in their order, then the other actions by the alphabet."""
    return sorted(range(len(actions)), key=lambda i: (actions[i].of is None, actions[i].of or 0, actions[i].label))


def _side(side: Side) -> dict[str, Any]:
    title = clean(side.label) + (f" ({clean(side.unit, 20)})" if side.unit else "")
    return {"label": title, "low": side.low, "high": side.high, "levels": [clean(v, 40) for v in side.levels]}


def _ink(ink: Ink) -> dict[str, Any]:
    return {"label": clean(ink.label, 60), "light": ink.light, "dark": ink.dark, "of": ink.of}


def _points(points: Points | None) -> dict[str, list[Any]] | None:
    if points is None:
        return None
    return {
        "x": [_place(v) for v in points.x],
        "y": [_place(v) for v in points.y],
        "truth": [int(k) for k in points.truth],
        "row": [int(r) for r in points.row],
        "posterior": [list(p) for p in points.posterior],
        "amount": [float(v) for v in points.amount],
        "text": ["\n".join(clean(line, 120) for line in text.split("\n")) for text in points.text],
    }


def _place(value: float) -> float | None:
    return float(f"{value:.9g}") if math.isfinite(value) else None


def _costlier(points: Points, view: PlaneView) -> list[int]:
    return costlier(points.decided, points.truth, view.loss, view.by_amount, points.amount)


def _words(others: Others) -> dict[str, str]:
    return {
        "readout": _("P({class}) = {p} → {action}"),
        "nowhere": _("impossible under this model"),
        "decision": _("decision"),
        "truth": _("truth"),
        "unknown": _("not known"),
        "wrong": clean(others.ring, 200) or _("its decision costs more than the best would"),
        "faded": clean(others.faded, 200),
        "case": _("draggable case; arrow keys move it, Shift for larger steps"),
        "points": _("{n} rows as points; arrow keys go from one to the next, Enter opens it"),
    }
