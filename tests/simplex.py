"""Decision regions on the probability simplex: which posteriors lead to which action.

Each risk is linear in the posterior, so an action has the least risk on a convex polytope: a segment for two classes, a
polygon for three. On its faces actions are tied, and the rule of ties (see `decide`) says which is taken; of two
actions with the same losses throughout only the first by that rule has a region.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayes_engine.decision.loss import TIE, LossMatrix
from bayes_engine.errors import LossError
from bayes_engine.logspace import Array


class Cut(NamedTuple):
    """Two classes: `action` is decided where P(`loss.classes[0]` | x) lies between `low` and `high`."""

    low: float
    high: float
    action: Any


class Region(NamedTuple):
    """Three classes: `action` is decided inside the convex polygon with these `corners` (m, 3), posteriors in the order
    of `loss.classes`, turning as the corners (1, 0, 0), (0, 1, 0), (0, 0, 1) do; `share` of the triangle's area."""

    action: Any
    corners: Array
    share: float


def cuts(loss: LossMatrix) -> list[Cut]:
    """The segments of [0, 1], from P(first class) = 0 upwards, in which each action has the least risk: the lower
    envelope of the lines λ_a1 t + λ_a2 (1 − t).

    Raises LossError where the classes are not two.

    >>> cuts(LossMatrix(("ill", "well", "refer"), ("ill", "well"), [[0, 1], [5, 0], [0.5, 0.5]]))
    [Cut(low=0.0, high=0.1, action='well'), Cut(low=0.1, high=0.5, action='refer'),
     Cut(low=0.5, high=1.0, action='ill')]
    """
    found = [(corners, action) for action, corners in _polytopes(loss, 2)]
    ends = [(float(corners[:, 0].min()), float(corners[:, 0].max()), action) for corners, action in found]
    return sorted(Cut(*end) for end in ends if end[1] - end[0] > TIE)


def regions(loss: LossMatrix) -> list[Region]:
    """The polygons of the triangle in which each action has the least risk, in the order of the actions; an action that
    is never the only one of least risk has none.

    Raises LossError where the classes are not three.

    >>> for region in regions(LossMatrix.zero_one("abc").with_refusal(0.5)):
    ...     print(region.action, round(region.share, 4), region.corners.tolist()[0])
    a 0.25 [1.0, 0.0, 0.0]
    b 0.25 [0.5, 0.5, 0.0]
    c 0.25 [0.0, 0.5, 0.5]
    refuse 0.25 [0.5, 0.5, 0.0]
    """
    found = [(action, corners, _area(corners)) for action, corners in _polytopes(loss, 3)]
    return [Region(action, corners, area) for action, corners, area in found if area > TIE]


def _polytopes(loss: LossMatrix, k: int) -> list[tuple[Any, Array]]:
    """Each action with the corners (m, K) of its region: the simplex, cut by one half-space for each other action."""
    if len(loss.classes) != k:
        raise LossError("these regions are drawn for {k} classes; the losses have {n}", k=k, n=len(loss.classes))
    order = loss.by_name.tolist()
    found = []
    for a, action in enumerate(loss.actions):
        corners = np.eye(k)
        for b in order:
            differ = loss.table[a] - loss.table[b]  # a has no more risk where differ · p ≤ 0
            size = TIE * (np.abs(loss.table[a]) + np.abs(loss.table[b]))
            same = bool((np.abs(differ) <= size).all())
            if same and order.index(b) < order.index(a):
                corners = corners[:0]
            elif not same:
                corners = _clipped(corners, differ, corners @ size)
        found.append((action, corners))
    return [(action, corners) for action, corners in found if len(corners)]


def _clipped(corners: Array, normal: Array, tolerance: Array) -> Array:
    """The part of a convex polygon, or segment, with normal · p ≤ 0 (Sutherland and Hodgman 1974)."""
    height = corners @ normal
    height = np.where(np.abs(height) <= tolerance, 0.0, height)
    kept = []
    for p, q, hp, hq in zip(corners, np.roll(corners, -1, axis=0), height, np.roll(height, -1), strict=True):
        if hp <= 0:
            kept.append(p)
        if hp * hq < 0:
            kept.append((hq * p - hp * q) / (hq - hp))
    return np.array(kept).reshape(-1, corners.shape[1])


def _area(corners: Array) -> float:
    """The share of the triangle that a polygon in it covers, by the shoelace formula on its first two coordinates."""
    x, y = corners[:, 0], corners[:, 1]
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
