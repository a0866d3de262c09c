"""The score of a graph as its search goes on. Labels come in escaped for Plotly."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from bayes_engine.language import _
from bayes_engine.structure.search_trace import SearchTrace
from bayes_engine.workbench.figures.theme import EXTRA_COLOURS, INK, sized, template

MARKED = 60
"""Up to so many steps every one has its mark."""


def score_curve(
    trace: SearchTrace, labels: Sequence[str], *, step: int, best: float | None = None, dark: bool = False
) -> go.Figure:
    """The score (nats) after every step, each with its label, the step looked at marked; `best` is the optimum, where
    it is known. A point's customdata is its step."""
    scores = [trace.start_score, *(s.score for s in trace.steps)]
    steps = list(range(len(scores)))
    colour = EXTRA_COLOURS[1][dark]  # no class has it
    figure = go.Figure(layout={"template": template(dark)})
    if best is not None:
        figure.add_hline(
            best,
            line={"color": INK[dark], "width": 1, "dash": "dot"},
            annotation={"text": _("optimum"), "font": {"size": 12}},
            annotation_position="bottom left",
        )
    figure.add_scatter(
        x=steps,
        y=scores,
        mode="lines+markers" if len(steps) <= MARKED else "lines",
        line={"color": colour, "width": 2, "shape": "hv"},
        marker={"size": 5, "color": colour},
        customdata=[[k] for k in steps],
        text=[_("the start"), *labels],
        hovertemplate="%{x}: %{text}<br>%{y:.4f}<extra></extra>",
        showlegend=False,
    )
    figure.add_scatter(
        x=[step],
        y=[scores[step]],
        mode="markers",
        marker={"size": 13, "color": colour, "line": {"width": 2, "color": INK[dark]}},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.update_xaxes(title_text=_("step"), rangemode="tozero", dtick=1 if len(steps) <= 14 else None)
    figure.update_yaxes(title_text=_("score, nats"), tickformat="~f", nticks=6)
    return sized(figure, 230, top=14)
