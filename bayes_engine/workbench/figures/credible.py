"""How sure the numbers are, drawn: estimates with credible intervals, Gaussians that few rows leave plausible, and
P(c|x) over all plausible models. Labels come in escaped for Plotly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bayes_engine.language import _
from bayes_engine.logspace import Array, exp
from bayes_engine.numerals import certain, number
from bayes_engine.uncertainty.plausible import Plausible
from bayes_engine.workbench.derivation.column_values import thinned
from bayes_engine.workbench.derivation.demonstrations import log_gaussian
from bayes_engine.workbench.derivation.estimates import Estimate, Estimates
from bayes_engine.workbench.figures.conditionals import LEGEND, STRIP
from bayes_engine.workbench.figures.figure import Figure
from bayes_engine.workbench.figures.theme import GROUND, INK, MUTED, colour_of, named_rows, rug, sized

POINTS = 121
"""So many points make a curve."""


def estimate_marks(
    estimates: Estimates, *, levels: Sequence[str], classes: Sequence[str], dark: bool = False
) -> Figure:
    """Each level of each class on a line of its own: the plain share as a ring, Laplace's estimate as a diamond, the
    estimate under the prior in use as a dot on its credible interval."""
    figure = Figure()
    n, prior = len(classes), _("Jeffreys") if estimates.bare else _("prior in use")
    marks = (
        (estimates.likely, "circle-open", 11, _("maximum likelihood"), ""),
        (estimates.laplace, "diamond-open", 8, _("Laplace"), ""),
        (estimates.used, "circle", 7, prior, _(", with its 95% interval")),
    )
    for k, name in enumerate(classes):
        rows = [s + 0.8 * (k + 0.5) / n - 0.4 for s in range(len(levels))]
        colour = colour_of(k, dark)
        _bars(figure, estimates.used, k, rows, colour)
        for estimate, symbol, size, what, _more in marks:
            figure.add_scatter(
                x=estimate.value[k].tolist(),
                y=rows,
                mode="markers",
                name=name,
                showlegend=False,
                cliponaxis=False,
                marker={"symbol": symbol, "size": size, "color": colour, "line": {"width": 1.6, "color": colour}},
                hovertext=[_hover(estimate, k, s, f"P({level} | {name})", what) for s, level in enumerate(levels)],
                hovertemplate="%{hovertext}<extra></extra>",
            )
    for _estimate, symbol, size, what, more in marks:
        mark = {"symbol": symbol, "size": size, "color": INK[dark], "line": {"width": 1.6, "color": INK[dark]}}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=mark, name=what + more)
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"})
    figure.update_xaxes(range=[-0.01, 1.01], nticks=6)
    named_rows(figure, levels, air=0.5)
    for between in range(1, len(levels)):
        figure.add_hline(y=between - 0.5, line={"width": 1, "color": "rgba(128,128,128,0.25)"})
    return sized(figure, 70 + max(22 * len(levels) * n, 90), right=12, top=30)


def _bars(figure: Figure, estimate: Estimate, k: int, rows: Sequence[float], colour: str) -> None:
    """The credible intervals of a class."""
    assert estimate.interval is not None
    ends = zip(*(side[k].tolist() for side in estimate.interval), strict=True)
    x = [v for low, high in ends for v in (low, high, None)]
    y = [v for row in rows for v in (row, row, None)]
    line = {"width": 3, "color": colour}
    figure.add_scatter(x=x, y=y, mode="lines", line=line, opacity=0.45, hoverinfo="skip", showlegend=False)


def _hover(estimate: Estimate, k: int, s: int, name: str, what: str) -> str:
    text = f"{name} = {number(float(estimate.value[k, s]))}<br>{what}"
    if estimate.interval is None:
        return text
    low, high = (number(float(end[k, s])) for end in estimate.interval)
    return f"{text}, {low} – {high}"


def gaussian_fans(
    drawn: Sequence[tuple[Array, Array]],
    fitted: Sequence[tuple[float, float]],
    values: Sequence[Array],
    *,
    classes: Sequence[str],
    name: str,
    dark: bool = False,
) -> Figure:
    """Of each class the fitted Gaussian (mean, sd) and, faint behind it, those drawn from its posterior; beneath, the
    values that all of this is known from. `name` is the column's."""
    figure = Figure()
    spans = [(m - 3.4 * s, m + 3.4 * s) for m, s in fitted]
    low, high = min(a for a, _b in spans), max(b for _a, b in spans)
    x = np.linspace(low, high, POINTS)
    top = 1.9 * max(1.0 / s for _m, s in fitted) / np.sqrt(2 * np.pi)
    for k, (means, sds) in enumerate(drawn):
        curves = exp(log_gaussian(x, means[:, None], sds[:, None]))
        figure.add_scatter(
            x=_apart(np.broadcast_to(x, curves.shape)),
            y=_apart(curves),
            mode="lines",
            line={"width": 1, "color": colour_of(k, dark)},
            opacity=0.16,
            hoverinfo="skip",
            showlegend=False,
        )
    for k, (mean, sd) in enumerate(fitted):
        colour = colour_of(k, dark)
        curve = {"mode": "lines", "line": {"width": 2.6, "color": colour}, "name": classes[k]}
        figure.add_scatter(x=x.tolist(), y=exp(log_gaussian(x, mean, sd)).tolist(), hoverinfo="skip", **curve)
        rug(figure, thinned(values[k], STRIP), -(k + 1) * 0.055 * top, colour, classes[k])
    figure.update_layout(**LEGEND)
    figure.update_xaxes(title=name, range=[low, high], showgrid=False, nticks=7)
    floor = -(len(classes) + 0.8) * 0.055 * top
    figure.update_yaxes(title=_("density p(x | class)"), range=[floor, top], nticks=5)
    return sized(figure, 320 + 12 * max(len(classes) - 3, 0), top=34)


def _apart(curves: Array) -> Array:
    """Rows of numbers one after the other, with a gap behind each; with 32 bits where that is finer than any screen.

    >>> _apart(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 1.,  2., nan,  3.,  4., nan], dtype=float32)
    """
    line = np.pad(curves, ((0, 0), (0, 1)), constant_values=np.nan).ravel()
    fine = float(np.ptp(curves)) > 1e-3 * float(np.abs(curves).max())
    return line.astype(np.float32) if fine else line


def bands(
    plausible: Plausible, order: Sequence[int], *, classes: Sequence[str], colours: Sequence[str], dark: bool = False
) -> Figure:
    """P(c|x) of each class: 95 % of the plausible models as a bar, their median as a stroke, the model's own as a dot.
    `order` are the classes' positions in `plausible`."""
    figure = Figure()
    low, middle, high = plausible.band()
    for row, (k, colour) in enumerate(zip(order, colours, strict=True)):
        text = _("95% from {low} to {high}, median {median}, the model's own {own}")
        places = {"low": low, "high": high, "median": middle, "own": plausible.own}
        label = f"P({classes[row]} | x)<br>" + text.format(**{n: number(float(v[k])) for n, v in places.items()})
        hover = {"hovertext": label, "hovertemplate": "%{hovertext}<extra></extra>", "showlegend": False}
        ends = [float(low[k]), float(high[k])]
        figure.add_scatter(
            x=ends, y=[row, row], mode="lines", line={"width": 9, "color": colour}, opacity=0.35, **hover
        )
        stroke = {"symbol": "line-ns-open", "size": 15, "line": {"width": 2}, "color": colour}
        figure.add_scatter(x=[float(middle[k])], y=[row], mode="markers", marker=stroke, cliponaxis=False, **hover)
        dot = {"size": 9, "color": colour, "line": {"width": 1.5, "color": GROUND[dark]}}
        figure.add_scatter(x=[float(plausible.own[k])], y=[row], mode="markers", marker=dot, cliponaxis=False, **hover)
    figure.update_layout(showlegend=False)
    figure.update_xaxes(range=[-0.01, 1.01], nticks=6)
    named_rows(figure, classes, air=0.5)
    return sized(figure, 44 + 34 * len(order), right=14, top=6)


def histogram_of(
    plausible: Plausible, label: object, *, name: str, colour: str, needed: float | None = None, dark: bool = False
) -> Figure:
    """P(label|x) over all plausible models: their share in each twentieth, the middle 95 % in full colour; the model's
    own value, and dotted where the decision turns, at `needed` nats of log-odds. `name` is the class's."""
    shares, edges = plausible.histogram(label)
    k = plausible.classes.index(label)
    low, _median, high = (float(v) for v in plausible.band()[:, k])
    middle, wide = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
    inside = [a < high and b > low for a, b in pairwise(edges)]
    figure = Figure().add_bar(
        x=middle.tolist(),
        y=shares.tolist(),
        width=wide * 0.94,
        marker={"color": colour, "opacity": [0.75 if there else 0.28 for there in inside], "line": {"width": 0}},
        customdata=[[f"{a:.2f}", f"{b:.2f}", f"{s:.1%}"] for (a, b), s in zip(pairwise(edges), shares, strict=True)],
        hovertemplate="%{customdata[0]} – %{customdata[1]}: %{customdata[2]}<extra></extra>",
    )
    own = float(plausible.own[k])
    figure.add_vline(x=own, line={"width": 2, "color": INK[dark]})
    figure.add_annotation(
        x=own,
        y=1.0,
        yref="paper",
        yanchor="bottom",
        showarrow=False,
        text=_("this model {p}").format(p=certain(own, 3)),
        xanchor="right" if own > 0.85 else "left" if own < 0.15 else "center",
    )
    if needed is not None:
        figure.add_vline(
            x=1.0 / (1.0 + float(exp(-needed))), line={"width": 1.5, "color": MUTED["cost"], "dash": "dot"}
        )
    figure.update_layout(showlegend=False, bargap=0)
    figure.update_xaxes(title=f"P({name} | x)", range=[-0.01, 1.01], nticks=6, showgrid=False)
    figure.update_yaxes(title=_("share of models"), tickformat=".0%", nticks=4)
    return sized(figure, 170, right=12, top=24)
