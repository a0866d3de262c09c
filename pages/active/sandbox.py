"""The densities that are known in the sandbox, read from the state and checked: the scene, priors, losses, rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.workbench.laboratory.truth import Truth, from_drawn, from_ellipses, table_of
from pages.runtime import view_keys as keys
from pages.runtime.state import current

Part = tuple[int, float, float, float, float, float, float]
"""A Gaussian: its class, its weight within the class, its mean, its standard deviations along its own two axes, and by
how many degrees the first of them is turned."""

NAMES = ("A", "B", "C")
CELLS = 8
"""Combinations of three binary columns."""
MOST_POINTS = 60
WIDEST = 6.0
"""Means stay this far from the origin at most, across; `TALLEST` up."""
TALLEST = 4.5
REFUSE = "refuse"


@dataclass(frozen=True)
class Scene:
    """A preset: what it is called is `words`; `parts` or `points` or `cells`, and the priors."""

    kind: str
    priors: tuple[float, ...]
    parts: tuple[Part, ...] = ()
    points: tuple[tuple[int, float, float], ...] = ()
    cells: tuple[float, ...] = ()


_MOONS = tuple(
    [(0, round(-1 + 2.2 * math.cos(t / 11 * math.pi), 2), round(-0.9 + 2.4 * math.sin(t / 11 * math.pi), 2))
     for t in range(12)]
    + [(1, round(1 - 2.2 * math.cos(t / 11 * math.pi), 2), round(0.9 - 2.4 * math.sin(t / 11 * math.pi), 2))
       for t in range(12)]
)  # fmt: skip

SCENES = {
    "equal": Scene("gauss", (0.5, 0.5), ((0, 1, -1.2, -0.4, 1.5, 0.8, 40), (1, 1, 1.2, 0.4, 1.5, 0.8, 40))),
    "stretched": Scene("gauss", (0.5, 0.5), ((0, 1, -1.2, 0, 0.7, 0.7, 0), (1, 1, 1.0, 0.4, 2.2, 1.1, 55))),
    "xor": Scene(
        "gauss",
        (0.5, 0.5),
        ((0, 0.6, -2.0, -1.4, 0.8, 0.8, 0), (0, 0.4, 1.6, 1.5, 0.8, 0.8, 0),
         (1, 0.6, -1.6, 1.5, 0.8, 0.8, 0), (1, 0.4, 2.0, -1.4, 0.8, 0.8, 0)),
    ),
    "overlapping": Scene("gauss", (0.6, 0.4), ((0, 1, -0.4, 0, 1.4, 1.2, 0), (1, 1, 0.6, 0.3, 1.4, 1.2, 30))),
    "three": Scene(
        "gauss",
        (0.4, 0.3, 0.3),
        ((0, 1, -2.0, -0.8, 1.3, 0.7, 20), (1, 1, 1.8, -1.0, 1.0, 0.9, 0), (2, 1, 0.2, 1.7, 1.6, 0.6, -15)),
    ),
    "table": Scene("table", (0.5, 0.5), cells=(6, 4, 1, 1, 1, 1, 6, 4, 1, 1, 3, 6, 3, 6, 1, 2)),
    "drawn": Scene("drawn", (0.5, 0.5), points=_MOONS),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Setup(Scene):
    """The sandbox as the state has it: all that a computed answer depends on."""

    scene: str
    losses: tuple[tuple[float, ...], ...]
    width: float
    n: int
    seed: int

    @property
    def classes(self) -> tuple[str, ...]:
        return NAMES[: len(self.priors)]

    @property
    def loss(self) -> LossMatrix:
        refusing = (REFUSE,) if len(self.losses) > len(self.priors) else ()
        return LossMatrix((*self.classes, *refusing), self.classes, self.losses)

    @property
    def zero_one(self) -> bool:
        """Whether risk is the share of wrong decisions."""
        return self.loss == LossMatrix.zero_one(self.classes)

    def truth(self) -> Truth:
        if self.kind == "table":
            return table_of(self.cells, self.priors, self.classes)
        if self.kind == "drawn":
            return from_drawn(self.points, self.width, self.priors, self.classes)
        return from_ellipses(self.parts, self.priors, self.classes)

    def shown_parts(self) -> tuple[Part, ...]:
        """The Gaussians that the browser sums."""
        if self.kind != "drawn":
            return self.parts
        counts = [sum(k == c for k, _x, _y in self.points) for c in range(len(self.priors))]
        return tuple((k, 1.0 / counts[k], x, y, self.width, self.width, 0.0) for k, x, y in self.points)


def in_use() -> Setup:
    """The state's sandbox; what a forged link gets wrong falls back to the preset's."""
    state = current()
    name = state.seen(keys.LAB_SCENE)
    scene = SCENES[name]
    k = len(scene.priors)
    return Setup(
        scene=name,
        kind=scene.kind,
        priors=_priors(state.seen(keys.LAB_PRIORS), scene.priors),
        losses=_losses(state.seen(keys.LAB_LOSSES), k),
        parts=parts if (parts := read_parts(state.seen(keys.LAB_PARTS), scene.parts)) is not None else scene.parts,
        points=points if (points := read_points(state.seen(keys.LAB_POINTS), k)) is not None else scene.points,
        width=state.seen(keys.LAB_WIDTH),
        cells=_cells(state.seen(keys.LAB_CELLS), scene.cells),
        n=state.seen(keys.LAB_N),
        seed=state.seen(keys.LAB_SEED),
    )


def _number(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def read_parts(value: Any, like: tuple[Part, ...]) -> tuple[Part, ...] | None:
    """The Gaussians that a link or a browser sent, of the same classes and weights as `like`; None if they are not."""
    if not isinstance(value, list | tuple) or len(value) != len(like):
        return None
    parts = []
    limits = ((-WIDEST, WIDEST), (-TALLEST, TALLEST), (0.2, 4.0), (0.2, 4.0), (-360, 360))
    for part, (k, w, *_rest) in zip(value, like, strict=True):
        if not isinstance(part, list | tuple) or len(part) != 5:
            return None
        if not all(_number(v, low, high) for v, (low, high) in zip(part, limits, strict=True)):
            return None
        x, y, s1, s2, angle = (float(v) for v in part)
        parts.append((k, w, round(x, 2), round(y, 2), round(s1, 2), round(s2, 2), round(angle) % 180))
    return tuple(parts)


def read_points(value: Any, k: int) -> tuple[tuple[int, float, float], ...] | None:
    """Drawn points, at least one of each class; None if they are not."""
    if not isinstance(value, tuple) or not len(value) <= MOST_POINTS:
        return None
    for point in value:
        if not isinstance(point, tuple) or len(point) != 3 or type(point[0]) is not int or not 0 <= point[0] < k:
            return None
        if not (_number(point[1], -WIDEST, WIDEST) and _number(point[2], -TALLEST - 2, TALLEST + 2)):
            return None
    return value if {point[0] for point in value} == set(range(k)) else None


def _priors(value: tuple[Any, ...], own: tuple[float, ...]) -> tuple[float, ...]:
    if len(value) != len(own) or not all(_number(v, 0.01, 0.99) for v in value):
        return own
    total = sum(value)
    return tuple(v / total for v in value)


def _losses(value: tuple[Any, ...], k: int) -> tuple[tuple[float, ...], ...]:
    right = len(value) in (k, k + 1) and all(
        isinstance(row, tuple) and len(row) == k and all(_number(v, -1e6, 1e6) for v in row) for row in value
    )
    return value if right else tuple(tuple(float(i != j) for j in range(k)) for i in range(k))


def _cells(value: tuple[Any, ...], own: tuple[float, ...]) -> tuple[float, ...]:
    right = len(value) == 2 * CELLS and all(_number(v, 0, 1e6) for v in value)
    return value if right and sum(value[:CELLS]) > 0 and sum(value[CELLS:]) > 0 else own
