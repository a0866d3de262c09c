"""Gibbs sampling in figures: estimates that grow beside the exact line, memory, and what the chains saw.

The textbook's chain, the improved form and likelihood weighting have a colour and a dash each, everywhere.
"""

from __future__ import annotations

import numpy as np

from bayes_engine.inference.gibbs import GibbsRun
from bayes_engine.language import _
from bayes_engine.logspace import Array
from bayes_engine.workbench.derivation.gibbs_walk import RunningEstimate, SamplerComparison, event_of, line_of, shares
from bayes_engine.workbench.figures.figure import Figure
from bayes_engine.workbench.figures.theme import GROUND, INK, colour_of, faded

TEXTBOOK, IMPROVED, WEIGHTED = 1, 0, 2
"""Their colours."""
BAND = 2.0
"""The bands are as many standard errors wide, to either side."""
SETTLED = 30.0
"""From so many states on the lines shall be in the picture."""
LAGS = 40


def estimates(both: SamplerComparison, *, dark: bool = False) -> Figure:
    """n_q / T of one chain and of many, and likelihood weighting, against the states counted (on a logarithmic axis),
    each with a band of BAND standard errors; the exact answer is a dashed line."""
    figure = Figure()
    lines = (
        (both.weighted.line, WEIGHTED, "dot", _("likelihood weighting")),
        (line_of(both.textbook), TEXTBOOK, "solid", _("one chain")),
        (line_of(both.improved), IMPROVED, "solid", _("many chains")),
    )
    for line, ink, dash, name in lines:
        colour = colour_of(ink, dark)
        kept = np.isfinite(line.estimate)
        x, y = line.states[kept], line.estimate[kept]
        half = BAND * np.nan_to_num(line.error[kept])
        figure.add_scatter(
            x=[*x, *x[::-1]], y=[*np.minimum(y + half, 1.0), *np.maximum(y - half, 0.0)[::-1]], fill="toself",
            fillcolor=faded(colour, 0.17), line={"width": 0}, hoverinfo="skip", showlegend=False, legendgroup=name,
        )  # fmt: skip
        figure.add_scatter(
            x=x, y=y, mode="lines", name=name, legendgroup=name, line={"color": colour, "width": 2.2, "dash": dash},
            customdata=half / BAND, hovertemplate="%{x:.0f}: %{y:.4f} ± %{customdata:.4f}<extra>" + name + "</extra>",
        )  # fmt: skip
    if both.exact is not None:
        figure.add_hline(y=both.exact, line={"color": INK[dark], "width": 1.6, "dash": "dash"})
        figure.add_annotation(
            x=0.0, xref="paper", y=both.exact, text=_("exact {p}").format(p=f"{both.exact:.4f}"), showarrow=False,
            xanchor="left", yanchor="bottom", bgcolor=faded(GROUND[dark], 0.75), font={"size": 14},
        )  # fmt: skip
    title = _("states counted (rows weighed), logarithmic")
    figure.update_xaxes(type="log", title=title, dtick=1, exponentformat="none")
    figure.update_yaxes(title=_("estimate"), range=_window([line for line, *_rest in lines], both.exact))
    figure.update_layout(height=360, hovermode="closest")
    return figure


def _window(lines: list[RunningEstimate], exact: float | None) -> list[float]:
    """What of 0 … 1 the lines need once they have settled."""
    seen = [] if exact is None else [exact]
    for line in lines:
        late = (line.states >= min(SETTLED, line.states[-1])) & np.isfinite(line.estimate)
        half = np.minimum(BAND * np.nan_to_num(line.error[late]), 0.5)
        seen += [*(line.estimate[late] + half), *(line.estimate[late] - half)]
    low, high = max(min(seen, default=0.0), 0.0), min(max(seen, default=1.0), 1.0)
    air = max(0.08 * (high - low), 0.01)
    return [low - air, high + air]


def memory(textbook: GibbsRun, improved: GibbsRun, *, dark: bool = False) -> Figure:
    """The autocorrelation of 1[Q = q], sweep by sweep; a run that saw only one value has none, one whose chains stand
    still, each elsewhere, stays at 1."""
    figure = Figure()
    for run, ink, name in ((textbook, TEXTBOOK, _("one chain")), (improved, IMPROVED, _("many chains"))):
        lags = event_of(run).autocorrelation[: LAGS + 1]
        if np.isnan(lags).all():
            continue
        figure.add_scatter(
            x=list(range(len(lags))), y=lags, mode="lines+markers", name=name,
            line={"color": colour_of(ink, dark), "width": 2}, marker={"size": 5},
            hovertemplate="%{x}: %{y:.3f}<extra>" + name + "</extra>",
        )  # fmt: skip
    figure.update_xaxes(title=_("sweeps apart"))
    figure.update_yaxes(title=_("autocorrelation"), range=[-0.25, 1.06])
    figure.update_layout(height=300, showlegend=True)
    return figure


def traces(textbook: GibbsRun, improved: GibbsRun, *, dark: bool = False) -> Figure:
    """How often Q = q held, by spans of time: the one chain on top, the first of the many beneath, a row each."""
    rows: list[Array] = [*shares(event_of(textbook).draws), *shares(event_of(improved).draws)]
    width = max(len(row) for row in rows)
    step = textbook.sweeps / width
    names = [_("one chain"), *(_("chain {n}").format(n=k + 1) for k in range(len(rows) - 1))]
    figure = Figure()
    figure.add_heatmap(
        z=[row.tolist() for row in rows], x0=step / 2, dx=step, y=names, zmin=0, zmax=1, ygap=3,
        colorscale=[[0, "#E9ECF1" if not dark else "#2B2A28"], [1, colour_of(IMPROVED, dark)]],
        colorbar={"title": {"text": _("share"), "side": "right"}, "thickness": 10, "tickvals": [0, 0.5, 1]},
        hovertemplate="%{y}, %{x:.0f}: %{z:.2f}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(title=_("sweep"), showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="")
    figure.update_layout(height=300)
    return figure
