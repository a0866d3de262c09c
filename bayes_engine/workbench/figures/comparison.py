"""Models beside each other: measures of each model, how far to trust a confidence, what naive Bayes counts twice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from bayes_engine.language import _
from bayes_engine.workbench.derivation.double_counting import DoubleCounting, Example
from bayes_engine.workbench.figures.contributions import ClassStyle, waterfall
from bayes_engine.workbench.figures.figure import Figure, subplots
from bayes_engine.workbench.figures.theme import (
    CLASS_COLOURS,
    EXTRA_COLOURS,
    GROUND,
    INK,
    SHADE,
    faded,
    named_rows,
    sized,
    straight,
)


class MeasurePanel(NamedTuple):
    """One quantity of all models: its `title`, a value for each (NaN: there is none) with the words beside it, the
    ends of its interval where it has one, and whether `more` is better."""

    title: str
    values: Sequence[float]
    words: Sequence[str]
    intervals: Sequence[tuple[float, float]] = ()
    more: bool = False


def measure_panels(
    models: Sequence[str], readings: Sequence[MeasurePanel], *, active: int = -1, dark: bool = False
) -> Figure:
    """The readings of all models, one panel each, one line a model; the best of a panel is drawn full and the `active`
    model's line is shaded. `models` (already escaped) go from the simplest down."""
    figure = subplots(
        cols=len(readings), shared_yaxes=True, horizontal_spacing=0.022, column_titles=[r.title for r in readings]
    )
    rows = list(range(len(models)))
    tone, ink = CLASS_COLOURS[0][dark], INK[dark]
    for col, reading in enumerate(readings, start=1):
        known = [v for v in reading.values if math.isfinite(v)]
        best = (max(known) if reading.more else min(known)) if known else math.nan
        ends = [v for pair in reading.intervals for v in pair if math.isfinite(v)]
        low, high = (min([*known, *ends]), max([*known, *ends])) if known else (0.0, 1.0)
        reach = (high - low) or abs(high) or 1.0
        figure.add_scatter(
            x=[v for pair in reading.intervals for v in (*pair, None)],
            y=[v for row in range(len(reading.intervals)) for v in (row, row, None)],
            mode="lines", line={"width": 1.5, "color": EXTRA_COLOURS[0][dark]}, opacity=0.55, hoverinfo="skip",
            row=1, col=col,
        )  # fmt: skip
        near = [math.isfinite(v) and abs(v - best) <= 1e-9 * max(abs(best), 1.0) for v in reading.values]
        figure.add_scatter(
            x=[v if math.isfinite(v) else None for v in reading.values],
            y=rows,
            mode="markers",
            unselected={"marker": {"opacity": 1}},
            marker={
                "size": 11,
                "color": [tone if n else GROUND[dark] for n in near],
                "line": {"width": 2, "color": tone},
            },
            hovertext=[f"{m}<br>{reading.title}: {w}" for m, w in zip(models, reading.words, strict=True)],
            hovertemplate="%{hovertext}<extra></extra>",
            row=1,
            col=col,
        )
        # the numbers stand in a column of their own at the right: one trace, for an annotation each is slow to build
        right = low + 2.05 * reach
        figure.add_scatter(
            x=[right] * len(rows),
            y=rows,
            mode="text",
            text=[f"<b>{w}</b>" if n else w for n, w in zip(near, reading.words, strict=True)],
            textposition="middle left",
            textfont={"size": 13, "color": ink},
            hoverinfo="skip",
            row=1,
            col=col,
        )
        figure.update_xaxes(range=[low - 0.12 * reach, right], row=1, col=col, showticklabels=False, ticks="")
    if active >= 0:
        shade = "rgba(255,255,255,0.08)" if dark else "rgba(31,36,48,0.06)"
        figure.add_shape(
            type="rect", xref="paper", x0=0, x1=1, yref="y", y0=active - 0.68, y1=active + 0.3, fillcolor=shade,
            line={"width": 0}, layer="below",
        )  # fmt: skip
    figure.update_xaxes(showgrid=False, zeroline=False)
    named_rows(figure, models, chosen=active)
    figure.update_yaxes(range=[len(models) - 0.68, -0.7], fixedrange=True)
    above = [row - 0.42 for row in rows]  # a name has a line of its own: beside the panels a phone has no room
    figure.update_layout(yaxis={
        "tickvals": above, "ticklabelposition": "inside", "ticklabelstandoff": 0,
        "tickfont": {"color": ink},  # inside a plot plotly.js would write dark on what it takes for white
    })  # fmt: skip
    figure.update_annotations(font={"size": 13, "color": ink}, yshift=4)
    figure.update_layout(showlegend=False, dragmode=False, clickmode="event+select")
    return sized(figure, 52 + 44 * len(models), left=4, right=4, top=34)


def reliability(curves: Sequence[tuple[str, pd.DataFrame]], *, dark: bool = False) -> Figure:
    """For each model the share that is right against the confidence, a point a bin, as large as the bin's share;
    on the diagonal a confidence means what it says. `curves`: escaped names, and frames of `curves.calibration`."""
    figure = Figure()
    low = min([0.5, *(float(f["said"].min()) for _name, f in curves)])
    straight(figure, low, INK[dark], 1.5)
    for i, (name, frame) in enumerate(curves):
        colour = EXTRA_COLOURS[0][dark] if i == 0 else CLASS_COLOURS[0][dark]
        figure.add_scatter(
            x=frame["said"].tolist(),
            y=frame["true"].tolist(),
            mode="lines+markers",
            name=name,
            line={"width": 1.5, "color": colour},
            marker={
                "size": [6 + 16 * math.sqrt(s) for s in frame["share"]],
                "color": colour,
                "opacity": 0.9,
                "symbol": "circle" if i else "diamond",
            },
            customdata=frame["share"].tolist(),
            hovertemplate=f"{name}<br>" + _("confidence") + " %{x:.3f}<br>" + _("share that is right") + " %{y:.3f}<br>"
            + _("share of the rows") + " %{customdata:.3f}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title=_("confidence: largest posterior"), range=[low - 0.03, 1.04])
    figure.update_yaxes(title=_("share that is right"), range=[-0.04, 1.08])
    return sized(figure, 260, left=4, top=34, bottom=4)


def recount(
    counted: DoubleCounting,
    labels: Sequence[str],
    sides: tuple[ClassStyle, ClassStyle],
    *,
    needed: float | None = None,
    bits: bool = False,
    dark: bool = False,
) -> Figure:
    """From naive Bayes's log-odds, less what each edge shares, to the tree's. `labels` (already escaped): naive Bayes,
    each edge, the rest, the tree."""
    balance = counted.balance()
    figure = waterfall(balance, labels[: len(balance.weights)], sides, bits=bits, needed=needed, dark=dark)
    bars = [trace for trace in figure.traces if trace["type"] == "bar"]
    low, high = figure.to_dict()["layout"]["xaxis"]["range"]  # the totals are long, and so are their numbers
    figure.update_xaxes(range=[low - 0.08 * (high - low), high + 0.08 * (high - low)])
    bars[0]["width"], bars[0]["marker"]["line"] = bars[-1]["width"], bars[-1]["marker"]["line"]  # a total, as it is
    return figure.update_yaxes(ticktext=[*labels[: len(balance.weights)], f"<b>{labels[-1]}</b>"])


def example(
    shown: Example, attributes: tuple[tuple[str, str], tuple[str, str]], classes: tuple[str, str], *, dark: bool = False
) -> Figure:
    """The exact tables of an example, overall and within each class, and what naive Bayes says of each cell beside the
    truth. `attributes` name the levels (no, yes) of x₁ and x₂, `classes` the classes no and yes; all escaped."""
    first, second = attributes
    titles = [_("overall"), classes[1], classes[0], _("P({name} | x)").format(name=classes[1])]
    figure = subplots(
        rows=2,
        cols=3,
        horizontal_spacing=0.025,
        vertical_spacing=0.3,
        specs=[[{}, {}, {}], [{"colspan": 3}, None, None]],
        subplot_titles=titles,
    )
    parts = (shown.joint.sum(axis=0), shown.joint[1], shown.joint[0])
    tones = (EXTRA_COLOURS[0][dark], CLASS_COLOURS[0][dark], CLASS_COLOURS[1][dark])
    for col, (part, tone) in enumerate(zip(parts, tones, strict=True), start=1):
        share = part / part.sum()
        figure.add_heatmap(
            z=share.tolist(), x=list(second), y=list(first), zmin=0.0, zmax=0.75, showscale=False, xgap=3, ygap=3,
            colorscale=[[0.0, "rgba(128,128,128,0.08)"], [1.0, faded(tone, SHADE[dark])]],
            text=[[f"{v:.3f}" for v in row] for row in share.tolist()], texttemplate="%{text}",
            hovertemplate="%{y}, %{x}: %{z:.4f}<extra></extra>", row=1, col=col,
        )  # fmt: skip
        figure.update_yaxes(showticklabels=col == 1, row=1, col=col)
    cells = [(i, j) for i in (1, 0) for j in (1, 0)]
    ys = list(range(4))
    exact, naive = ([float(table[c]) for c in cells] for table in (shown.exact, shown.naive))
    figure.add_scatter(
        x=[v for e, n in zip(exact, naive, strict=True) for v in (e, n, None)],
        y=[v for y in ys for v in (y, y, None)],
        mode="lines",
        line={"width": 2, "color": EXTRA_COLOURS[0][dark]},
        hoverinfo="skip",
        showlegend=False,
        row=2,
        col=1,
    )
    ring = {"size": 13, "symbol": "circle-open", "color": INK[dark], "line": {"width": 2.5, "color": INK[dark]}}
    for name, values, marker in (
        (_("true value"), exact, {"size": 13, "color": CLASS_COLOURS[0][dark]}),
        (_("naive Bayes"), naive, ring),
    ):
        figure.add_scatter(
            x=values, y=ys, mode="markers", name=name, marker=marker, hovertemplate=f"{name} %{{x:.4f}}<extra></extra>",
            row=2, col=1,
        )  # fmt: skip
    figure.update_yaxes(showgrid=False, zeroline=False, ticks="")
    figure.update_xaxes(showgrid=False, zeroline=False, ticks="")
    figure.update_xaxes(range=[-0.04, 1.04], showgrid=True, row=2, col=1)
    figure.update_yaxes(
        tickvals=ys, ticktext=[_(", ").join((first[i], second[j])) for i, j in cells], range=[3.5, -0.5], row=2, col=1
    )
    figure.update_annotations(font={"size": 13, "color": INK[dark]}, yshift=2)
    figure.update_layout(legend={"x": 1, "xanchor": "right", "y": -0.08, "yanchor": "top"})
    return sized(figure, 440, left=4, top=30, bottom=52)


class CopiesCurve(NamedTuple):
    """A model over the number of copies: its escaped name, and for each panel its points (copies, value)."""

    name: str
    panels: Sequence[Sequence[tuple[int, float]]]


def copies(lines: Sequence[CopiesCurve], titles: Sequence[str], *, chosen: int = 0, dark: bool = False) -> Figure:
    """What happens to each model when one column stands there again and again; a line marks the number
    `chosen`. The second and the third panel, confidence and accuracy, have one scale."""
    figure = subplots(cols=len(titles), horizontal_spacing=0.05, column_titles=list(titles))
    for line, (place, symbol) in zip(lines, ((1, "circle"), (0, "square"), (2, "diamond")), strict=False):
        for col, points in enumerate(line.panels, start=1):
            shown = [(k, v) for k, v in points if math.isfinite(v)]
            figure.add_scatter(
                x=[k for k, _v in shown],
                y=[v for _k, v in shown],
                mode="lines+markers",
                name=line.name,
                legendgroup=line.name,
                showlegend=col == 1,
                line={"width": 2, "color": CLASS_COLOURS[place][dark]},
                marker={"size": 6, "symbol": symbol},
                hovertemplate=f"{line.name}<br>%{{x}}: %{{y:.5g}}<extra></extra>",
                row=1,
                col=col,
            )
    for col in range(1, len(titles) + 1):
        figure.add_vline(x=chosen, line={"dash": "dot", "width": 1.5, "color": INK[dark]}, row=1, col=col)
    shared = [v for line in lines for points in line.panels[1:3] for _k, v in points]
    room = 0.05 * (1.0 - min(shared)) + 1e-3
    for col in (2, 3):
        figure.update_yaxes(range=[min(shared) - room, 1.0 + room], row=1, col=col)
    figure.update_xaxes(range=[-0.4, 10.4], dtick=2, title={"text": _("copies"), "font": {"size": 13}})
    figure.update_annotations(font={"size": 13, "color": INK[dark]}, yshift=2)
    figure.update_layout(legend={"x": 0, "y": -0.3, "yanchor": "top"})
    return sized(figure, 300, left=4, top=30, bottom=4)
