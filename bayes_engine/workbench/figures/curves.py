"""Curves of several models over one another: reliability, risk against threshold, ROC, precision–recall, cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from bayes_engine.decision.curves import CostCurve, ErrorCosts, RiskSteps, ThresholdSweep, best_point
from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.decision.regions import Axis, Plane
from bayes_engine.language import _
from bayes_engine.workbench.figures.figure import Figure, subplots
from bayes_engine.workbench.figures.theme import (
    CLASS_COLOURS,
    EXTRA_COLOURS,
    GROUND,
    INK,
    colour_of,
    sized,
    straight,
)

T = TypeVar("T")
HEIGHT = 430


class CurveStyle(NamedTuple):
    """How a model is drawn: its escaped `name`, its `place` among the models, whether it is the `active` one, and
    whether it stands apart from the others (`counterpart`, dashed)."""

    name: str
    place: int
    active: bool = False
    counterpart: bool = False


def _line(look: CurveStyle, dark: bool) -> dict[str, Any]:
    colour = INK[dark] if look.counterpart else colour_of(look.place, dark)
    dash = "dash" if look.counterpart else "dot" if look.place >= len(CLASS_COLOURS) else "solid"
    return {"color": colour, "width": 3.2 if look.active else 1.6, "dash": dash}


def _on_top(curves: Sequence[tuple[CurveStyle, T]]) -> list[tuple[CurveStyle, T]]:
    """The active model last: on top of the others."""
    return sorted(curves, key=lambda curve: curve[0].active)


def _framed(figure: Figure, height: int = HEIGHT) -> Figure:
    legend = {"x": 0, "y": 1.03, "yanchor": "bottom", "itemwidth": 32, "font": {"size": 13}}
    figure.update_layout(legend=legend, hovermode="closest")
    return sized(figure, height, left=4, right=12, top=40, bottom=4)


def calibration(
    curves: Sequence[tuple[CurveStyle, pd.DataFrame]], forecast: str, *, height: int = HEIGHT, dark: bool = False
) -> Figure:
    """The share that is so against what was `forecast` (the axis title), a point a bin of equal weight, for frames of
    `curves.calibration`; the active model's with its intervals. On the diagonal a probability means what it says."""
    figure = Figure()
    straight(figure, 0, EXTRA_COLOURS[0][dark], 1.5)
    for look, frame in _on_top(curves):
        line = _line(look, dark)
        up, down = frame["high"] - frame["true"], frame["true"] - frame["low"]
        figure.add_scatter(
            x=frame["said"].tolist(),
            y=frame["true"].tolist(),
            mode="lines+markers",
            name=look.name,
            legendrank=look.place,
            line=line,
            marker={"size": 9 if look.active else 6, "color": line["color"]},
            error_y={"type": "data", "symmetric": False, "array": up.tolist(), "arrayminus": down.tolist(),
                     "thickness": 1.3, "width": 3, "visible": look.active},
            customdata=frame[["rows", "least", "most", "low", "high"]].to_numpy().tolist(),
            hovertemplate=f"{look.name}<br>" + _("predicted")
            + " %{x:.4f} (%{customdata[1]:.3g}–%{customdata[2]:.3g})<br>"
            + _("true") + " %{y:.4f} [%{customdata[3]:.3f}, %{customdata[4]:.3f}]<br>"
            + _("rows") + " %{customdata[0]}<extra></extra>",
        )  # fmt: skip
    least = min(float(f["said"].min()) for _look, f in curves)
    lowest = min(float(f["low"].min() if look.active else f["true"].min()) for look, f in curves)
    left, foot = (v if v > 0.3 else 0.0 for v in (least, min(least, lowest)))  # a largest posterior is never small
    figure.update_xaxes(title=forecast, range=[left - 0.02, 1.02])
    figure.update_yaxes(title=_("observed share"), range=[foot - 0.03, 1.04])
    return _framed(figure, height)


def roc(
    curves: Sequence[tuple[CurveStyle, ThresholdSweep]], priced: ErrorCosts | None, *, dark: bool = False
) -> Figure:
    """ROC curves, exact; of the active model also the convex hull. Where the losses have two prices: its point of least
    risk, and lines along which the risk is the same, the one through that point full."""
    figure = Figure()
    straight(figure, 0, EXTRA_COLOURS[0][dark], 1.2)
    for look, swept in curves:
        if look.active and priced is not None and priced.miss > 0 and priced.false_alarm > 0:
            _iso_risk(figure, swept, priced, dark)
    for look, swept in _on_top(curves):
        line, corners = _line(look, dark), swept.corners
        if look.active:
            hull = swept.hull
            figure.add_scatter(
                x=swept.fpr[hull].tolist(), y=swept.tpr[hull].tolist(), mode="lines",
                line={"color": line["color"], "width": 1.2, "dash": "dash"}, name=_("convex hull"), legendrank=900,
                hoverinfo="skip",
            )  # fmt: skip
        figure.add_scatter(
            x=swept.fpr[corners].tolist(),
            y=swept.tpr[corners].tolist(),
            mode="lines",
            name=look.name,
            legendrank=look.place,
            line=line,
            customdata=swept.threshold[corners].tolist(),
            hovertemplate=f"{look.name}<br>P ≥ %{{customdata:.4g}}<br>FPR %{{x:.4f}} · TPR %{{y:.4f}}<extra></extra>",
        )
    figure.update_xaxes(title=_("false positives among the others (FPR)"), range=[-0.02, 1.02])
    figure.update_yaxes(title=_("found among the class (TPR)"), range=[-0.02, 1.04])
    return _framed(figure)


def _iso_risk(figure: Figure, swept: ThresholdSweep, priced: ErrorCosts, dark: bool) -> None:
    """The line of least risk through the best point, dearer ones below it, and the point."""
    slope, best = priced.slope(swept.share), best_point(swept, priced)
    x, y, risk = float(swept.fpr[best]), float(swept.tpr[best]), float(priced.risk(swept)[best])
    dearest = (1.0 - swept.share) * priced.false_alarm + swept.share * priced.miss
    grey = EXTRA_COLOURS[0][dark]
    for step in range(4):
        start = y - slope * x - step * 0.2 * dearest / (swept.share * priced.miss)
        ends = [(0.0, start), (1.0, start + slope)]
        if start + slope > 1.04 and slope > 0:
            ends[1] = ((1.04 - start) / slope, 1.04)
        if start < -0.02 and slope > 0:
            ends[0] = ((-0.02 - start) / slope, -0.02)
        shown = risk + step * 0.2 * dearest
        figure.add_scatter(
            x=[e[0] for e in ends], y=[e[1] for e in ends], mode="lines", showlegend=step == 0, legendrank=901,
            name=_("same risk"), line={"color": grey, "width": 0.9 if step else 1.6}, opacity=0.6 if step else 1,
            hovertemplate=_("risk {value} along this line").format(value=f"{shown:.4g}") + "<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=[x], y=[y], mode="markers", showlegend=False, cliponaxis=False,
        marker={"size": 12, "color": GROUND[dark], "line": {"width": 2.5, "color": INK[dark]}},
        hovertemplate=_("least risk {value}").format(value=f"{risk:.4g}")
        + f"<br>P ≥ {swept.threshold[best]:.4g}<extra></extra>",
    )  # fmt: skip


def precision_recall(curves: Sequence[tuple[CurveStyle, ThresholdSweep]], *, dark: bool = False) -> Figure:
    """Precision against recall, a step a threshold; the dotted line is what calling everybody positive has."""
    figure = Figure()
    base = curves[0][1].share
    figure.add_hline(y=base, line={"dash": "dot", "width": 1.2, "color": EXTRA_COLOURS[0][dark]})
    for look, swept in _on_top(curves):
        figure.add_scatter(
            x=swept.tpr[1:].tolist(),
            y=swept.precision[1:].tolist(),
            mode="lines",
            name=look.name,
            legendrank=look.place,
            line={**_line(look, dark), "shape": "vh"},
            customdata=swept.threshold[1:].tolist(),
            hovertemplate=f"{look.name}<br>P ≥ %{{customdata:.4g}}<br>" + _("recall") + " %{x:.4f} · "
            + _("precision") + " %{y:.4f}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title=_("found among the class (recall)"), range=[-0.02, 1.02])
    figure.update_yaxes(title=_("of those called so, that are (precision)"), range=[-0.02, 1.04])
    return _framed(figure)


def risk_steps(
    curves: Sequence[tuple[CurveStyle, RiskSteps]], threshold: float | None, *, dark: bool = False
) -> Figure:
    """Estimated risk against the threshold, exact steps; the line stands at the `threshold` that the losses ask for if
    probabilities are true. A mark on each curve is its lowest point."""
    figure, top = Figure(), 0.0
    if threshold is not None:
        figure.add_vline(x=threshold, line={"dash": "dot", "width": 1.5, "color": INK[dark]})
    for look, steps in _on_top(curves):
        line, few, (t, least) = _line(look, dark), steps.thinned(), steps.best()
        inside = [r for v, r in zip(few.threshold.tolist(), few.risk.tolist(), strict=True) if 0.01 < v < 0.99]
        top = max([top, steps.at(0.99), steps.at(0.01), *inside])  # the ends may stand far above all that matters
        figure.add_scatter(
            x=[min(v, 1.0) for v in few.threshold.tolist()] + [0.0],
            y=[*few.risk.tolist(), float(few.risk[-1])],
            mode="lines",
            name=look.name,
            legendrank=look.place,
            legendgroup=look.name,
            line={**line, "shape": "hv"},
            hovertemplate=f"{look.name}<br>P ≥ %{{x:.4g}}: " + _("risk") + " %{y:.4g}<extra></extra>",
        )
        figure.add_scatter(
            x=[t], y=[least], mode="markers", showlegend=False, legendgroup=look.name,
            marker={"size": 11 if look.active else 8, "color": GROUND[dark],
                    "line": {"width": 2, "color": line["color"]}},
            hovertemplate=f"{look.name}<br>" + _("lowest, in hindsight") + ": P ≥ %{x:.4g}, %{y:.4g}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title=_("threshold on the posterior"), range=[-0.02, 1.02])
    lowest = min([0.0, *(steps.best()[1] for _look, steps in curves)])
    room = 0.06 * (top - lowest) or 0.1
    figure.update_yaxes(title=_("estimated risk"), range=[lowest - room, top + room])
    return _framed(figure)


def cost_curves(curves: Sequence[tuple[CurveStyle, CostCurve]], now: float | None, *, dark: bool = False) -> Figure:
    """Normalized expected cost against PC₊ (Drummond & Holte). Full: deciding by the posteriors as they are; dotted, of
    the active model: the best threshold in hindsight. The grey tent is deciding one class always; the vertical line is
    where prior and losses stand `now`."""
    figure = Figure()
    figure.add_scatter(
        x=[0, 0.5, 1], y=[0, 0.5, 0], mode="lines", name=_("one class always"), legendrank=900,
        line={"width": 1.2, "color": EXTRA_COLOURS[0][dark]}, hoverinfo="skip",
    )  # fmt: skip
    if now is not None:
        figure.add_vline(x=now, line={"dash": "dot", "width": 1.5, "color": INK[dark]})
    for look, curve in _on_top(curves):
        line = _line(look, dark)
        hover = f"{look.name}<br>PC₊ %{{x:.3f}}: %{{y:.4f}}<extra></extra>"
        figure.add_scatter(
            x=curve.pc.tolist(), y=curve.own.tolist(), mode="lines", name=look.name, legendrank=look.place, line=line,
            hovertemplate=hover,
        )  # fmt: skip
        if look.active:
            figure.add_scatter(
                x=curve.pc.tolist(), y=curve.best.tolist(), mode="lines", name=_("best in hindsight"), legendrank=899,
                line={"color": line["color"], "width": 1.4, "dash": "dot"}, hovertemplate=hover,
            )  # fmt: skip
    top = max([0.1, *(float(c.own.max()) for _l, c in curves)])
    figure.update_xaxes(title=_("PC₊: the weight of the class, by prior and loss"), range=[-0.02, 1.02])
    figure.update_yaxes(title=_("normalized expected cost"), range=[-0.02 * top, min(max(1.06 * top, 0.2), 1.02)])
    return _framed(figure)


class Points(NamedTuple):
    """Rows on a plane: positions and the place of each row's class in the table."""

    x: Sequence[float]
    y: Sequence[float]
    classes: Sequence[int]


class PlaneLabels(NamedTuple):
    """What stands on a plane, escaped: the two axes, the classes in the order of the losses, the levels of each axis
    that has any."""

    x: str
    y: str
    classes: Sequence[str]
    x_levels: Sequence[str] = ()
    y_levels: Sequence[str] = ()


def decision_planes(
    drawn: Sequence[tuple[str, Plane]], loss: LossMatrix, points: Points, names: PlaneLabels, *, dark: bool = False
) -> Figure:
    """Decision regions of models side by side over the same two features, with the rows."""
    figure = subplots(cols=len(drawn), shared_yaxes=True, horizontal_spacing=0.03,
                           column_titles=[name for name, _p in drawn])  # fmt: skip
    place = {c: k for k, c in enumerate(loss.classes)}
    tones = [colour_of(place[a], dark) if a in place else EXTRA_COLOURS[0][dark] for a in loss.actions]
    steps = len(tones)
    scale = [[(i + e) / steps, tone] for i, tone in enumerate(tones) for e in (0, 1)]
    for col, (_name, plane) in enumerate(drawn, start=1):
        order = [plane.classes.index(c) for c in loss.classes]
        shape = plane.status.shape
        decided = decide(plane.posterior[:, :, order].reshape(-1, len(order)), loss, plane.status.ravel())
        z: Any = decided.position.reshape(shape).astype(float)
        z[z < 0] = float("nan")
        across, up = _ticks(plane.x, shape[1]), [0.0] if plane.y is None else _ticks(plane.y, shape[0])
        figure.add_heatmap(
            x=across, y=up, z=z, zmin=-0.5, zmax=steps - 0.5, colorscale=scale, showscale=False, opacity=0.3,
            hoverinfo="skip", row=1, col=col,
        )  # fmt: skip
        for k, label in enumerate(names.classes):
            rows = [i for i, c in enumerate(points.classes) if c == k]
            figure.add_scatter(
                x=[points.x[i] for i in rows], y=[points.y[i] for i in rows], mode="markers", name=label,
                legendgroup=label, showlegend=col == 1, hoverinfo="skip",
                marker={"size": 6, "color": colour_of(k, dark), "symbol": k % 8,
                        "line": {"width": 0.8, "color": GROUND[dark]}},
                row=1, col=col,
            )  # fmt: skip
        _sides(figure, plane, names, col)
    figure.update_annotations(font={"size": 13, "color": INK[dark]}, yshift=2)
    figure.update_layout(legend={"x": 0, "y": -0.2, "yanchor": "top"})
    return sized(figure, 360, left=4, top=30, bottom=4)


def _ticks(axis: Axis, n: int) -> list[float]:
    return list(map(float, range(len(axis.levels)))) if axis.levels else [float(v) for v in axis.ticks(n)]


def _sides(figure: Figure, plane: Plane, names: PlaneLabels, col: int) -> None:
    for axis, name, levels, update in (
        (plane.x, names.x, names.x_levels, figure.update_xaxes),
        (plane.y, names.y if col == 1 else None, names.y_levels, figure.update_yaxes),
    ):
        if axis is None:
            update(showticklabels=False, row=1, col=col)
            continue
        ends = [-0.5, len(axis.levels) - 0.5] if axis.levels else [axis.low, axis.high]
        marks = {"tickvals": list(range(len(levels))), "ticktext": list(levels)} if axis.levels else {}
        update(title=name, range=ends, showgrid=False, zeroline=False, row=1, col=col, **marks)
