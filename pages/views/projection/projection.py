"""The line onto which two columns are projected, with a draggable angle: what comes before and after it on the page.

The browser turns the line, its histograms and J by itself; the angle comes back when it is let go.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.models.projection import NumericRows, Projection
from bayes_engine.numerals import count, number
from bayes_engine.table.schema import Variable
from pages import active
from pages.active.projected import Line, along, columns_in_use
from pages.components.axes import choose_axes
from pages.components.component import component, ink, is_number, last_message, read_message
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.state import change, current
from pages.runtime.widgets import bound_to, control

MOST_POINTS = 1500
"""More rows than this are drawn as a sample."""
ALIKE = 0.3
"""Degrees within which two directions are one line with both names."""

_component = component(
    __file__, "bayes_projection", '<div class="projection" data-testid="projection"></div>', uses=("stage", "paper")
)


def choose_columns(table: active.FittableTable, columns: list[Variable]) -> tuple[str, str]:
    """The choice of the two columns."""
    x, y = columns_in_use(columns)
    options = {i: table.column(v.name) for i, v in enumerate(columns)}
    choose_axes((st, st), {keys.LINE_X: _("x axis"), keys.LINE_Y: _("y axis")}, (x, y), options, width=170)
    return columns[x].name, columns[y].name


# the line -------------------------------------------------------------------------------------------------------------


def choose_direction(line: Line) -> None:
    """The directions by name, and the units of the drawing."""
    named = {"fisher": _("Fisher projection"), "pca": _("PCA"), "lda": _("Gaussian LDA")}
    st.segmented_control(
        _("Turn the line to"),
        list(named),
        format_func=named.__getitem__,
        help=_(
            "Fisher: the largest J. PCA: the largest spread of all rows, whatever their class. LDA: "
            "$\\Sigma^{-1}(\\mu_i - \\mu_j)$, with more than two classes for the two that are hardest to tell apart."
        ),
        **control(keys.LINE.widget, line.direction or None, lambda s, d: s.showing(keys.LINE.to(d)) if d else s),
    )
    scaled = bool((line.projection.scale != 1).any())
    st.toggle(
        _("standardized"),
        help=_(
            "Divides each column by its standard deviation. J, Fisher and LDA stay the same; PCA's axis and the angles "
            "do not."
        ),
        **bound_to(keys.LINE_UNITS, scaled),
    )


def read_angle(value: object) -> float | None:
    """An angle from 0 to 180 that a browser sent; None if it is anything else.

    >>> read_angle(190), read_angle(True), read_angle("12"), read_angle(float("nan"))
    (10.0, None, None, None)
    """
    return float(value) % 180.0 if is_number(value) else None


def draw_line(table: active.FittableTable, names: tuple[str, str], line: Line) -> None:
    """The plane, the line, the histograms on it and J."""
    key, projection = "projection", line.projection

    def turned() -> None:
        angle = read_message(key, "turned", lambda edit: read_angle(edit.get("angle")))
        if angle is not None:
            change(lambda s: s.showing(keys.LINE.to("free"), keys.ANGLE.to(angle)))

    _component(key=key, data=_drawn(table, names, line) | {"seen": last_message(key)}, on_turned_change=turned)
    if len(projection.points) > MOST_POINTS:
        st.caption(
            _("{k} of {n} rows are drawn, chosen at random; J is that of all.").format(
                k=MOST_POINTS, n=len(projection.points)
            )
        )


def _drawn(table: active.FittableTable, names: tuple[str, str], line: Line) -> dict[str, Any]:
    projection, rows = line.projection, line.projection.numbers
    places = [table.classes.index(c) for c in rows.classes]
    x, y = (clean(table.column(n), 40) + (f" ({clean(u, 20)})" if (u := table.unit(n)) else "") for n in names)
    return _geometry(table, names, current().seen(keys.LINE_UNITS), projection) | {
        "x": x,
        "y": y,
        "classes": [
            ink(clean(table.class_(c), 40), k) | {"glyph": k} for c, k in zip(rows.classes, places, strict=True)
        ],
        "directions": _directions(projection),
        "angle": line.angle,
        "words": _words(),
    }


@cached(max_entries=16)
def _geometry(
    table: active.FittableTable, names: tuple[str, str], standardized: bool | None, _projection: Projection
) -> dict[str, Any]:
    """What the drawing is sent of the rows and of J, which no angle changes."""
    rows, n = _projection.numbers, len(_projection.points)
    drawn = range(n) if n <= MOST_POINTS else sorted(random.Random(0).sample(range(n), MOST_POINTS))
    points = _projection.points[list(drawn)].tolist()
    low, high = _projection.points.min(axis=0).tolist(), _projection.points.max(axis=0).tolist()
    margins = [0.05 * (b - a) for a, b in zip(low, high, strict=True)]
    return {
        "mean": _projection.mean.tolist(),
        "scale": _projection.scale.tolist(),
        "range": [[a - m, b + m] for a, b, m in zip(low, high, margins, strict=True)],
        "points": [
            [float(f"{a:.5g}"), float(f"{b:.5g}"), int(rows.y[i])] for (a, b), i in zip(points, drawn, strict=True)
        ],
        "means": _projection.means.tolist(),
        "within": _projection.within.tolist(),
        "between": _projection.between.tolist(),
        "best": _projection.fisher,
    }


def _directions(projection: Projection) -> list[dict[str, Any]]:
    """The lines to compare with, in few words; those that are one line share a label."""
    lines: list[dict[str, Any]] = []
    for label, angle in (
        (_("Fisher direction"), projection.fisher),
        (_("LDA direction"), projection.lda),
        (_("PCA"), projection.pca),
    ):
        alike = next((one for one in lines if abs((one["angle"] - angle + 90.0) % 180.0 - 90.0) < ALIKE), None)
        if alike:
            alike["label"] += f" = {label}"
        else:
            lines.append({"label": label, "angle": angle})
    return lines


def _words() -> dict[str, str]:
    return {
        "angle": _("angle"),
        "J": "J(w)",
        "within": _("within"),
        "between": _("between"),
        "best": _("largest at {angle}°: {J}"),
        "shadow": _("The classes on the line"),
        "curve": _("J = between / within"),
        "ellipseWithin": _("S_w/n, spread within the classes"),
        "ellipseBetween": _("S_b/n, spread of the class means"),
        "handle": _("angle of the projection line; arrow keys turn it by 1°, with Shift by 10°"),
    }


def line_in_words(table: active.FittableTable, names: tuple[str, str], line: Line) -> None:
    """What Fisher's line and the present one are worth, in words."""
    projection = line.projection
    units = current().seen(keys.LINE_UNITS)
    best, here = (along(table, names, units, angle, projection) for angle in (projection.fisher, line.angle))
    with st.container(key="line_sentence"):
        _of_fisher(table, names, line, best, here)
    _of_case(table, line)
    classes = projection.numbers.classes
    st.caption(
        _("Drag the ring to turn the line, or use the arrow keys.")
        + " "
        + _(
            "$J(w) = w^{\\top} S_b w / w^{\\top} S_w w$, a generalized Rayleigh quotient. The bars along the line are "
            "the projections of the two ellipses, $\\sqrt{w^{\\top} S w / n}$ to either side. Lecture notes swap the "
            "two words in one sentence: $S_w$ is within, $S_b$ between."
        )
        + " "
        + (
            _("With two classes $S_b$ has rank 1: its ellipse is a segment.")
            if len(classes) == 2
            else _("LDA's line is that of {first} against {second}, the two that are hardest to tell apart.").format(
                first=md(table.class_(classes[projection.pair[0]]), 24),
                second=md(table.class_(classes[projection.pair[1]]), 24),
            )
        )
    )
    rows_left_out(projection.numbers)


def _of_fisher(table: active.FittableTable, names: tuple[str, str], line: Line, best: Any, here: Any) -> None:
    projection = line.projection
    total = float(projection.numbers.weight.sum())
    w = ", ".join(f"{v:.8f}".replace("-", "−") for v in _readable(projection.w.tolist()))
    st.markdown(
        _(
            "**Fisher's direction** is w ∝ ({w}) for ({columns}), J = {J}. The nearest projected mean is right on "
            "**{right} of {n}** rows ({share})."
        ).format(
            w=w,
            columns=_(", ").join(md(table.column(name), 30) for name in names),
            J=number(best.J),
            right=count(best.right),
            n=count(total),
            share=f"{best.accuracy:.1%}",
        )
        + " "
        + _("At {angle}°: J = {J}, right on {right} of {n}.").format(
            angle=f"{line.angle:.1f}", J=number(here.J), right=count(here.right), n=count(total)
        )
        * (line.direction != "fisher")
    )


def _of_case(table: active.FittableTable, line: Line) -> None:
    """Where the case in use falls, and to which class it goes."""
    case = active.case_values(table)
    x = [case[name] for name in line.projection.numbers.names]
    if None in x:
        return
    classes = line.projection.numbers.classes
    away = line.projection.distances([float(v) for v in x], line.angle).tolist()
    nearest = min(range(len(away)), key=away.__getitem__)
    listed = _(", ").join(f"{md(table.class_(c), 24)} **{number(d)}**" for c, d in zip(classes, away, strict=True))
    sentence = _(
        "The case in use lies so many standard deviations within the classes from each projected mean: {distances}. It "
        "goes to {class}."
    )
    st.markdown(sentence.format(distances=listed, **{"class": md(table.class_(classes[nearest]), 24)}))


def rows_left_out(rows: NumericRows) -> None:
    """A word on the rows with a missing cell."""
    if rows.left_out:
        left = Message("{n} row(s) with a missing cell in these columns are left out here.", {"n": rows.left_out})
        st.caption(left.local(md))


def _readable(w: list[float]) -> list[float]:
    """As it is, unless eight decimals would hide most of it."""
    most = max(map(abs, w))
    return w if 1e-3 <= most < 1e4 else [v / most for v in w]


def or_explain(act: Callable[[], Any]) -> Any:
    """What `act` returns; where the table does not allow it, None, and the page says why."""
    try:
        return act()
    except BayesEngineError as error:
        st.info(error.message.local(md))
        return None
