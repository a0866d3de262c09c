"""What decisions cost: the risk of each action for one case, and the confusion of held-out rows with its costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import plotly.graph_objects as go

from bayes_engine.decision.evaluate import RiskReport
from bayes_engine.figures.theme import EXTRA_COLOURS, MUTED, colour_of


def action_risks(names: Sequence[str], risks: Sequence[float], colours: Sequence[str]) -> go.Figure:
    """R(a|x) as one bar for each action; the least is drawn full, the others pale. `names` are already escaped."""
    least = min(risks)
    bars = go.Bar(
        x=list(risks),
        y=list(names),
        orientation="h",
        marker={"color": list(colours), "opacity": [1.0 if r == least else 0.35 for r in risks]},
        text=[f"{r:.4g}" for r in risks],
        textposition="auto",
        hovertemplate="%{y}: %{x:.6g}<extra></extra>",
    )
    figure = go.Figure(bars)
    figure.update_layout(height=60 + 34 * len(names), margin={"l": 10, "r": 10, "t": 6, "b": 6}, showlegend=False)
    figure.update_yaxes(autorange="reversed", ticksuffix="  ")
    figure.update_xaxes(rangemode="tozero", nticks=5)
    return figure


def confusion(report: RiskReport, actions: Sequence[str], truths: Sequence[str]) -> go.Figure:
    """Decisions (rows) against truths (columns): how many held-out rows, and what each adds to the risk (shade)."""
    text = [
        [f"<b>{n:.4g}</b><br>{c:+.3g}" if c else f"<b>{n:.4g}</b>" for n, c in zip(counts, costs, strict=True)]
        for counts, costs in zip(report.confusion.tolist(), report.cost.tolist(), strict=True)
    ]
    shade = go.Heatmap(
        z=report.cost.tolist(),
        x=list(truths),
        y=list(actions),
        text=text,
        texttemplate="%{text}",
        colorscale=[[0.0, "rgba(128,128,128,0.06)"], [1.0, MUTED["cost"]]],
        zmin=0.0,
        showscale=False,
        xgap=3,
        ygap=3,
        hovertemplate="%{y}<br>%{x}<br>%{text}<extra></extra>",
    )
    figure = go.Figure(shade)
    figure.update_layout(height=90 + 52 * len(actions), margin={"l": 10, "r": 10, "t": 6, "b": 6})
    figure.update_xaxes(side="top", showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, ticksuffix="  ")
    return figure


def action_colours(actions: Sequence[object], classes: Sequence[object], *, dark: bool = False) -> list[str]:
    """A class's own colour for deciding it, a muted one for any other action; on light or on dark ground.

    >>> action_colours(["good", "ask"], ["bad", "good"])
    ['#D55E00', '#6B6F76']
    """
    extra = (pair[dark] for pair in cycle(EXTRA_COLOURS))
    return [colour_of(list(classes).index(a), dark) if a in classes else next(extra) for a in actions]
