"""What is set up in the sandbox, read from the state and checked: densities, priors, losses, how many rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.language import _
from bayes_engine.priors import with_share
from bayes_engine.workbench.laboratory.truth import Truth, from_drawn, from_ellipses, table_of
from pages.runtime import view_keys as keys
from pages.runtime.state import State, bound_to, control, current, sets

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


def scene_name(scene: str) -> str:
    return {
        "equal": _("Equal covariances"),
        "stretched": _("One class stretched"),
        "xor": _("XOR: two clusters a class"),
        "overlapping": _("Heavy overlap"),
        "three": _("Three classes"),
        "table": _("Discrete tables"),
        "drawn": _("Points you draw"),
    }[scene]


def scene_lesson(scene: str) -> str:
    """What one should see."""
    return {
        "equal": _(
            "With equal covariances the best boundary is a straight line: LDA and logistic regression turn to it as n "
            "grows. Naive Bayes keeps a misfit, for it ignores the correlation within the classes."
        ),
        "stretched": _(
            "With unequal covariances the best boundary is curved. Only QDA can become it; a line keeps its misfit "
            "however many rows come, but with few rows it may still win."
        ),
        "xor": _(
            "No line separates crossed clusters, and each column alone carries next to no information: naive Bayes, "
            "LDA and logistic regression stay near guessing. QDA sees the correlation that differs between the "
            "classes."
        ),
        "overlapping": _(
            "Where classes overlap, most of the risk is the Bayes risk, and no classifier and no number of rows "
            "removes it."
        ),
        "three": _(
            "Three regions meet in a point. Raise the losses of one decision, and its region shrinks on all its sides."
        ),
        "table": _(
            "Three binary columns, so the truth is two small tables. The first two agree in class A and differ in "
            "class B, which no column shows alone: naive Bayes and logistic regression keep a misfit, TAN and AODE "
            "follow the dependence and pay for it with few rows."
        ),
        "drawn": _(
            "Click to add a point, click a point to remove it. Each point becomes a small Gaussian, their sum is the "
            "true density: whatever shape you draw, its best boundary is known."
        ),
    }[scene]


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


# what is chosen -------------------------------------------------------------------------------------------------------


def choose(setup: Setup) -> None:
    """The row of controls beneath the picture."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            _("The truth"),
            list(SCENES),
            format_func=scene_name,
            width=230,
            **control(keys.LAB_SCENE.widget, setup.scene, _to_scene),
        )
        st.select_slider(_("Rows in a sample, n"), keys.LAB_N.options, width=210, **bound_to(keys.LAB_N))
        st.button(
            _("Draw again"),
            icon=":material/casino:",
            key="lab_again",
            help=_("Another sample of n rows. Sample {seed} is shown; the link keeps it.").format(seed=setup.seed + 1),
            **sets(keys.LAB_SEED.to(setup.seed + 1)),
        )
        with st.container(horizontal=True, vertical_alignment="bottom", width="content"):  # they wrap together
            _choose_priors(setup)
            with st.popover(
                _("Losses: 0-1") if setup.zero_one else _("Losses: yours"), icon=":material/balance:", width="content"
            ):
                _choose_losses(setup)


def _to_scene(state: State, name: str) -> State:
    """Another truth: what was moved in the old one is gone; losses stay where there are as many classes."""
    k = len(SCENES[name].priors)
    old = state.seen(keys.LAB_LOSSES)
    return state.showing(
        keys.LAB_SCENE.to(name),
        keys.LAB_PARTS.to(()),
        keys.LAB_PRIORS.to(()),
        keys.LAB_LOSSES.to(old if old and len(old[0]) == k else ()),
    )


def _choose_priors(setup: Setup) -> None:
    if len(setup.priors) == 2:
        st.slider(
            "P(A)",
            0.01,
            0.99,
            step=0.01,
            width=180,
            **control(
                "lab_prior",
                round(setup.priors[0], 2),
                lambda s, p: s.showing(keys.LAB_PRIORS.to((round(p, 2), round(1 - p, 2)))),
            ),
        )
        return
    for k, prior in enumerate(setup.priors):
        st.number_input(
            f"P({NAMES[k]})",
            0.01,
            0.98,
            step=0.05,
            format="%.2f",
            width=112,
            **control(f"lab_prior_{k}", round(prior, 2), partial(_with_prior, setup, k)),
        )


def _with_prior(setup: Setup, k: int, state: State, value: float | None) -> State:
    shares = with_share(list(setup.priors), k, float(value or 0.01))
    return state.showing(keys.LAB_PRIORS.to(tuple(round(max(v, 0.01), 4) for v in shares)))


def _choose_losses(setup: Setup) -> None:
    st.markdown(_("Rows: the decision. Columns: the true class."))
    actions = [_("decide {name}").format(name=name) for name in setup.classes]
    if len(setup.losses) > len(setup.priors):
        actions.append(_("refuse"))
    widths = [1.3, *[1] * len(setup.classes)]
    for head, cell in zip(("", *setup.classes), st.columns(widths, wrap=False), strict=True):
        cell.caption(_("truth is {name}").format(name=head) if head else "λ")
    for i, action in enumerate(actions):
        cells = st.columns(widths, vertical_alignment="center", wrap=False)
        cells[0].markdown(action)
        for j, cell in enumerate(cells[1:]):
            cell.number_input(
                f"λ · {action} · {setup.classes[j]}",
                value=None,
                step=1.0,
                format="%g",
                min_value=-1e6,
                max_value=1e6,
                label_visibility="collapsed",
                **control(f"lab_loss_{i}_{j}", float(setup.losses[i][j]), partial(_with_loss, setup, i, j)),
            )
    k = len(setup.priors)
    with st.container(horizontal=True):
        st.button(_("0-1 loss"), key="lab_zero_one", disabled=setup.zero_one, **sets(keys.LAB_LOSSES.to(())))
        if len(setup.losses) > k:
            st.button(_("Without refusing"), key="lab_refuse_off", **sets(keys.LAB_LOSSES.to(setup.losses[:k])))
        else:
            refusal = (LossMatrix(NAMES[:k], NAMES[:k], setup.losses).refusal_that_pays() or 0.0,) * k
            st.button(_("Allow refusing"), key="lab_refuse_on", **sets(keys.LAB_LOSSES.to((*setup.losses, refusal))))


def _with_loss(setup: Setup, i: int, j: int, state: State, value: float | None) -> State:
    rows = [list(row) for row in setup.losses]
    rows[i][j] = 0.0 if value is None else float(value)
    return state.showing(keys.LAB_LOSSES.to(tuple(map(tuple, rows))))
