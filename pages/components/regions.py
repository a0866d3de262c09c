"""Decision regions of the active model in the plane of two features; Start and Decisions show the same view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bayes_engine.decision.loss import decide_ledger
from bayes_engine.decision.regions import Axis, Plane, axis_of, differing, posterior_plane, posteriors_in, scatter
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _, current_language
from bayes_engine.ledger import Ledger, Status, prior_shift
from bayes_engine.models.aode import AODE
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.calibrated import CalibratedClassifier
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.incoming.classified_file import summed
from pages import active
from pages.active import words
from pages.active.axes import discriminating
from pages.components.axes import choose_axes
from pages.components.losses import last_edit
from pages.components.plane import (
    Case,
    Others,
    PlaneView,
    Points,
    Side,
    action_inks,
    class_inks,
    plane,
    scene_bytes,
)
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import md
from pages.runtime.job_queue import in_worker
from pages.runtime.state import State, change, current, page_link
from pages.runtime.widgets import choose

MOST_POINTS = 1500
"""More rows than this are drawn as a sample; the browser stays quick and the plane legible."""
PRESENTED = 290
"""Pixels that the plane is high at most where one presents."""


@dataclass(frozen=True)
class Axes:
    """What the plane shows: one or two features, and whether the others are held at the case's values. `alone` where
    there are others and they are not."""

    x: Variable
    y: Variable | None
    sliced: bool
    alone: bool

    @property
    def names(self) -> tuple[str, ...]:
        return (self.x.name,) if self.y is None else (self.x.name, self.y.name)


def axes_in_use(table: active.FittableTable) -> Axes | None:
    """The axes the state names; at first the two numeric features that tell the classes apart best, where the state
    says so, or those features that come first; of a picture two pixels at its middle (its rim is blank); never a text,
    and so none where all of them are texts."""
    features = table.features.variables
    best = _middle(table) or _best(table)
    numeric_first = sorted(
        _possible(features), key=lambda i: (not features[i].numeric, features[i].name not in best, i)
    )
    chosen = [current().seen(keys.AXIS_X), current().seen(keys.AXIS_Y)]
    free = iter(i for i in numeric_first if i not in chosen)
    x, y = (i if i in numeric_first else next(free, None) for i in chosen)
    x = y if x is None else x  # the only feature left is the one that stood on the other axis
    if x is None:
        return None
    up = None if y is None or y == x else features[y]
    others = len(features) > (1 if up is None else 2)
    sliced = current().seen(keys.SLICED)
    return Axes(features[x], up, others and sliced, others and not sliced)


def _best(table: active.FittableTable) -> tuple[str, ...]:
    """The numeric features whose regions show most of the classes, where axes at first are those."""
    if current().seen(keys.AXES_AT_FIRST) != "discriminating":
        return ()
    best = discriminating(table)
    return tuple(name for j, name in enumerate(v.name for v in table.features if v.numeric) if j in best)


def _middle(table: active.FittableTable) -> tuple[str, ...]:
    """The pixels left and right of the middle of a picture."""
    image = table.info.image if table.info else None
    if image is None:
        return ()
    row = image.rows // 2 * image.cols
    return image.names[row + image.cols // 4], image.names[row + 3 * image.cols // 4 - 1]


def no_axes() -> None:
    """Why there are no regions where every feature is a text, and where to look instead."""
    st.info(_("A text has no place on an axis, so there are no regions to draw: each text is judged by its words. The "
              "page One case shows what each of them contributes."), icon=":material/notes:")  # fmt: skip
    page_link("pages/case.py", _("See what each word contributes"), ":material/search:")


def region_controls(table: active.FittableTable, axes: Axes) -> None:
    features = table.features.variables
    axis_names = {keys.AXIS_X: _("x axis")} | ({} if axes.y is None else {keys.AXIS_Y: _("y axis")})
    shown = [features.index(v) for v in (axes.x, axes.y) if v is not None]
    choose_axes(st.columns(2), axis_names, shown, {i: table.column(features[i].name) for i in _possible(features)})


def _possible(features: tuple[Variable, ...]) -> list[int]:
    return [i for i, v in enumerate(features) if v.kind != "text"]


def slice_control(axes: Axes) -> None:
    if not (axes.sliced or axes.alone):
        return
    modes = {True: _("as in the case"), False: _("integrated out")}
    about = _(
        "As in the case: a slice at the values of the chosen case, so that the picture, the headline and the working "
        "show one posterior. Integrated out: the posterior given the axes alone, which is another question and has "
        "another answer; AODE answers it by Weka's rule: a super-parent whose value is not known drops out."
    )
    choose(_("The other features"), keys.SLICED, modes, about=about)


def region_plane(
    table: active.FittableTable, fitted: active.Fitted, axes: Axes, *, key: str, height: int = 480
) -> None:
    values = active.case_values(table)
    fixed = {n: v for n, v in values.items() if n not in axes.names} if axes.sliced else None
    model = _judging(fitted, axes)
    try:
        grid = _plane(fitted, axes, fixed, table)
    except BayesEngineError as error:  # too many columns to integrate out: hold them fixed instead
        st.info(error.message.local(md))
        return
    loss, use, own = active.losses(table), active.prior_of_use(table), model.prior_by_class
    amount = active.case_amount(table)
    shown = explain_case(table, fitted)
    drawn = _drawn_rows(table, axes, grid)
    of = [table.classes.index(a) if a in table.classes else None for a in loss.actions]
    view = PlaneView(
        x=_side(table, axes.x, grid.x),
        y=None if axes.y is None or grid.y is None else _side(table, axes.y, grid.y),
        classes=class_inks([table.class_(c) for c in table.classes]),
        actions=action_inks([table.action(a) for a in loss.actions], of),
        posterior=grid.posterior,
        loss=loss.table,
        possible=grid.status == Status.OK,
        shift=prior_shift([own[c] for c in table.classes], [use[c] for c in table.classes]) if use else (),
        points=_points(table, fitted, axes, drawn, values),
        case=_case(axes, grid, values, shown, [shown.classes.index(c) for c in table.classes]),
        order=loss.by_name.tolist(),
        amount=1.0 if amount is None else amount,
        by_amount=loss.by_amount,
        others=_others(table, model, axes),
        label=_("Decision regions of {model} over {features}").format(
            model=words.spec(fitted.spec), features=_(", ").join(table.column(n) for n in axes.names)
        ),
    )

    def moved(x: float, y: float) -> None:
        across, up = grid.x.nearest(x), y if grid.y is None else grid.y.nearest(y)
        change(lambda state: _moved(state, table, axes, grid, across, up))

    def picked(row: int) -> None:
        codes = active.case_codes(table, active.row_values(table, row), row)
        change(lambda state: replace(state, row=row, case=codes, amount=-1.0))

    scene = _scene(table, fitted, axes, fixed, key, (current_language(), current().labels), view, drawn)
    height = min(height, PRESENTED) if current().seen(keys.PRESENTING) else height
    plane(view, key=key, height=height, edit=last_edit(key), scene=scene, on_moved=moved, on_picked=picked)
    most_frequent(table, grid)
    if len(table.parts.X) > MOST_POINTS:
        st.caption(_("{k} of {n} rows are drawn, chosen at random.").format(k=MOST_POINTS, n=len(table.parts.X)))
    if loss.by_amount is not None and amount is not None:
        st.caption(
            _("Regions at the case's amount, {amount}; each ring at its row's own.").format(
                amount=md(table.amount_text(amount))
            )
        )
    if model is not fitted.judging:
        st.caption(
            _(
                "A calibrator is learnt from whole rows. Where columns are integrated out the plane shows the model's "
                "own probabilities; hold them fixed to see the calibrated ones."
            )
        )


def explain_case(table: active.FittableTable, fitted: active.Fitted) -> Ledger:
    """The whole case at the prior of use: what the headline, the handle and the working speak of."""
    return active.explained(table, fitted).at_prior(fitted.prior, active.prior_of_use(table))


def _others(table: active.FittableTable, model: Any, axes: Axes) -> Others:
    """What the picture and its legend say of the features that are not on the axes."""
    features = _(" and ").join(table.column(name) for name in axes.names)
    if axes.sliced:
        return Others(
            _("other features as in the case"),
            _("from all its features, its decision costs more than the best would"),
            _("differs from the case in the other features"),
        )
    if not axes.alone:
        return Others()
    held = _("from {features} alone").format(features=features)
    return Others(
        _("{alone}, by Weka's rule").format(alone=held) if isinstance(model, AODE) else held,
        _("from the axes alone, its decision costs more than the best would"),
        alone=held + ": {reading}",
    )


def most_frequent(table: active.FittableTable, grid: Plane) -> None:
    """Which levels are drawn, where not all of them are."""
    for axis in (grid.x, grid.y):
        if axis is not None and axis.of:
            st.caption(
                _(
                    "Of the {n} levels of {column} the {k} most frequent are drawn, and the rows and the case with one "
                    "of them."
                ).format(n=int(axis.of), column=md(table.column(axis.name)), k=len(axis.levels))
            )


def _judging(fitted: active.Fitted, axes: Axes) -> GenerativeClassifier | CalibratedClassifier:
    """What gives the posterior on the plane: a calibrator knows of whole rows only."""
    return fitted.model if axes.alone else fitted.judging


@cached(max_entries=24, activity=Message("computing the regions"))
def _plane(fitted: active.Fitted, axes: Axes, fixed: Mapping[str, Any] | None, _table: active.FittableTable) -> Plane:
    X, model = _table.parts.X, _judging(fitted, axes)
    y = None if axes.y is None else axis_of(axes.y, X[axes.y.name])
    grid = in_worker(posterior_plane, model, _table.features, axis_of(axes.x, X[axes.x.name]), y, fixed)
    order = [grid.classes.index(c) for c in _table.classes]
    return replace(grid, classes=_table.classes, posterior=grid.posterior[:, :, order])


@cached(max_entries=8)
def _scene(
    table: active.FittableTable, fitted: active.Fitted, axes: Axes, fixed: Mapping[str, Any] | None, key: str,
    language: tuple[str, str], _view: PlaneView, _drawn: DrawnRows,
) -> tuple[str, bytes]:  # fmt: skip
    """The heavy part of the drawing, which neither losses nor a prior of use change; in a `language`, with its names or
    the file's."""
    points = None if _view.points is None else replace(_view.points, text=_texts(table, axes, _drawn))
    return scene_bytes(replace(_view, points=points), key)


def _points(
    table: active.FittableTable, fitted: active.Fitted, axes: Axes, drawn: DrawnRows, case: Mapping[str, Any]
) -> Points | None:
    """The rows with their class and what the model, under the losses, decides for each: from all its features, those
    that differ from the case in the others faded; or from the axes alone. Without their texts, which are the scene's.
    None where no row has a place."""
    if not drawn.rows:
        return None
    joints, posteriors = _joints(fitted, axes, table, drawn)
    ledger = joints.at_prior(_judging(fitted, axes).prior_by_class, active.prior_of_use(table))
    loss, amounts = active.losses(table), None if table.parts.amount is None else table.parts.amount.iloc[drawn.rows]
    judged = decide_ledger(
        ledger, loss, amount=amounts if loss.by_amount is not None else None
    )  # else it changes no decision
    return Points(
        drawn.x,
        drawn.y,
        drawn.truth,
        judged.position.tolist(),
        drawn.rows,
        (),
        posteriors,
        [] if amounts is None else amounts.tolist(),
        _differing(table, axes, case, drawn) if axes.sliced else [],
    )


class DrawnRows(NamedTuple):
    """The rows that are drawn: their places, their positions in the table, those of their classes, and themselves."""

    x: list[float]
    y: list[float]
    rows: list[int]
    truth: list[int]
    X: pd.DataFrame


@cached(max_entries=24)
def _drawn_rows(table: active.FittableTable, axes: Axes, _grid: Plane) -> DrawnRows:
    x, y, rows = scatter(table.parts.X, _grid.x, _grid.y, most=MOST_POINTS)
    place = {c: k for k, c in enumerate(table.classes)}
    return DrawnRows(x, y, rows, [place[c] for c in table.parts.y.iloc[rows].to_list()], table.parts.X.iloc[rows])


@cached(max_entries=24, activity=Message("computing the regions"))
def _joints(
    fitted: active.Fitted, axes: Axes, _table: active.FittableTable, _drawn: DrawnRows
) -> tuple[Ledger, list[list[float]]]:
    """Of the rows that are drawn on these axes, of the whole rows or of the axes alone; and their posteriors, in the
    table's order of the classes."""
    joints = summed(_judging(fitted, axes), _drawn.X, axes.names if axes.alone else None)
    return joints, posteriors_in(joints, [joints.classes.index(c) for c in _table.classes])


@cached(max_entries=24)
def _differing(table: active.FittableTable, axes: Axes, case: Mapping[str, Any], _drawn: DrawnRows) -> list[int]:
    return differing(_drawn.X, axes.names, case)


def _texts(table: active.FittableTable, axes: Axes, drawn: DrawnRows) -> list[str]:
    """What hovering over a row shows: its number, its class and its two cells."""
    row, classes = _("row {n}"), [table.class_(c) for c in table.classes]
    lines = [
        [row.format(n=int(n) + 1) + f": {classes[k]}"]
        for n, k in zip(table.parts.rows[drawn.rows], drawn.truth, strict=True)
    ]
    for name in axes.names:
        cells, label = drawn.X[name].tolist(), table.column(name)
        shown = {value: table.level(name, value) for value in set(cells)}
        for line, value in zip(lines, cells, strict=True):
            line.append(f"{label} = {shown[value]}")
    return ["\n".join(line) for line in lines]


def _side(table: active.FittableTable, variable: Variable, axis: Axis) -> Side:
    unit = table.info.column(variable.name).unit if table.info else ""
    levels = tuple(table.level(variable.name, v) for v in axis.levels)
    return Side(table.column(variable.name), axis.low, axis.high, unit, levels)


def _case(axes: Axes, grid: Plane, values: Mapping[str, Any], ledger: Ledger, order: list[int]) -> Case | None:
    x = grid.x.position(values[axes.x.name])
    y = 0.0 if axes.y is None or grid.y is None else grid.y.position(values[axes.y.name])
    if x is None or y is None:
        return None
    posterior = tuple(ledger.posterior()[0, order].tolist()) if ledger.status[0] == Status.OK else ()
    return Case(x, y, _("the case"), posterior)


def _moved(state: State, table: active.FittableTable, axes: Axes, grid: Plane, x: float, y: float) -> State:
    values = dict(active.case_values(table))
    for axis, variable, place in ((grid.x, axes.x, x), (grid.y, axes.y, y)):
        if variable is not None and axis is not None:
            values[variable.name] = axis.levels[int(place)] if axis.levels else float(f"{place:.4g}")
    return replace(state, case=active.case_codes(table, values), row=-1, amount=active.same_amount(table))
