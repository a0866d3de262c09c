"""Class-conditionals as figures: grouped bars, density curves over the values behind them, and the class prior.

Labels come in escaped for Plotly, in the order of the result's classes; a class's place there is its colour.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.sources import Fraction
from bayes_engine.language import _
from bayes_engine.logspace import Array, exp
from bayes_engine.numerals import near, number
from bayes_engine.workbench.derivation.column_values import curve, histogram, thinned
from bayes_engine.workbench.derivation.conditionals import GaussianConditionals, LevelConditionals
from bayes_engine.workbench.derivation.derive import WorkingStep
from bayes_engine.workbench.derivation.likelihoods import Curves, Distributions, Rates
from bayes_engine.workbench.derivation.render import fraction
from bayes_engine.workbench.figures.figure import Figure, subplots
from bayes_engine.workbench.figures.theme import INK, colour_of, named_rows, rug, sized

WIDTH = 400
"""At least so many pixels of a figure are left for its bars: decides which text finds room over one."""
STRIP = 250
"""At most this many values of a class are drawn beneath the curves."""
HISTOGRAM_FROM = 40
"""From this many values in a class on, a histogram stands behind the curves."""
BUMPS = 40
"""Up to so many bumps of a class are drawn beneath its kernel density."""
SEEN = 0.18
"""The highest bump is drawn at least so high, as a share of the curve."""
SEPARATE = 30
"""Up to so many counts the shares of each class stand beside each other."""
LEGEND = {"showlegend": True, "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}}


def level_bars(
    table: LevelConditionals, *, levels: Sequence[str], classes: Sequence[str], dark: bool = False
) -> Figure:
    """P(level | class) as grouped bars; where smoothing acts, the bare fraction of counts stands behind each, wide and
    pale."""
    figure = Figure()
    places = list(range(len(levels)))
    plain = [[table.plain(s)[k] or 0.0 for s in places] for k in range(len(classes))]
    written = _texts(table, len(levels) * (len(classes) + 0.5))
    tallest = max([p for step in table.steps for p in step.factors] + [p for row in plain for p in row])
    wide = 0.74 / len(classes)
    centres = [[s + wide * (k - (len(classes) - 1) / 2) for s in places] for k in range(len(classes))]
    for k in range(len(classes)) if table.smoothed else ():
        figure.add_bar(
            x=centres[k],
            y=plain[k],
            width=0.97 * wide,
            opacity=0.3,
            hoverinfo="skip",
            name=_("counted, without smoothing"),
            legendgroup="plain",
            legendrank=2000,
            showlegend=k == 0,
            marker={"color": colour_of(k, dark), "line": {"width": 0}},
        )
    for k, name in enumerate(classes):
        heights = [step.factors[k] for step in table.steps]
        figure.add_bar(
            x=centres[k],
            y=heights,
            width=(0.62 if table.smoothed else 0.94) * wide,
            name=name,
            marker={"color": colour_of(k, dark), "line": {"width": 0}},
            legendgroup=str(k),
            hovertext=[_bar_hover(table, s, k, levels[s], name) for s in places],
            hovertemplate="%{hovertext}<extra></extra>",
        )
        figure.add_scatter(
            x=centres[k],
            y=[
                (max(p, bare) if table.smoothed else p) + 0.012 * tallest
                for p, bare in zip(heights, plain[k], strict=True)
            ],
            text=written[k],
            mode="text",
            textposition="top center",
            cliponaxis=False,
            hoverinfo="skip",
            legendgroup=str(k),
            showlegend=False,
        )
    figure.update_layout(barmode="overlay", **LEGEND)
    figure.update_xaxes(tickvals=places, ticktext=list(levels), showgrid=False, automargin=True)
    title = _("P(class, level)") if table.joint else _("P(level | class)")
    figure.update_yaxes(title=title, range=[0.0, tallest * 1.18], nticks=6)
    return sized(figure, 360 if table.variable.cuts is None else 270, top=34)  # the values that were cut stand above


def _bar_hover(table: LevelConditionals, s: int, k: int, level: str, name: str) -> str:
    step, source = table.steps[s], table.fractions(s)[k]
    asked = f"{name}, {level}" if table.joint else f"{level} | {name}" + (", …" if table.given else "")
    lines = [f"P({asked}) = {fraction(source)} = {number(step.factors[k])}"]
    plain = table.plain(s)[k]
    if source.added and plain is not None:
        bare = Fraction(source.count, source.total, 0.0, source.levels)
        lines.append(_("without smoothing {fraction} = {value}").format(fraction=fraction(bare), value=number(plain)))
    return "<br>".join(lines)


def _texts(table: LevelConditionals, bars: float) -> list[list[str]]:
    """(class, level) what can stand over a bar without touching its neighbour: the fraction, the number, or nothing."""
    k_classes = range(len(table.classes))
    fractions = [[fraction(step.sources[k]).replace(")/(", ")/<br>(") for step in table.steps] for k in k_classes]
    wide = WIDTH / bars
    if wide >= 7.0 * max(len(line) for row in fractions for text in row for line in text.split("<br>")):
        return fractions
    plain = [[number(step.factors[k], 3) for step in table.steps] for k in k_classes]
    return [[text if wide >= 7.0 * len(text) else "" for text in row] for row in plain]


def density_curves(
    table: GaussianConditionals, values: Sequence[Array], *, classes: Sequence[str], name: str, dark: bool = False
) -> Figure:
    """p(x | class) of each class with its mean and, between the points of inflection, mean ± sd; the known values of
    each class beneath, and behind the curves as a histogram where there are many. `name` is the column's."""
    ends = [d.mean + side * 3.2 * d.sd for d in table.densities for side in (-1, 1)]
    ends += [float(v[i]) for v in values if len(v) for i in (0, -1)]
    span = min(ends), max(ends)
    figure = _around_values(values, span, _ceiling([d.value for d in table.densities]), classes, name, dark)
    for k, density in enumerate(table.densities):
        _curve(figure, density, span, {"name": classes[k], "legendgroup": str(k)}, colour_of(k, dark))
    return figure


def kernel_curves(
    density: Curves, values: Sequence[Array], *, classes: Sequence[str], name: str, dark: bool = False
) -> Figure:
    """p(x | class) of each class as a kernel density, with the bumps it is the sum of, `magnified` times as high where
    they would be too low to see; values and histograms as in `density_curves`."""
    ceiling = _ceiling(density.values.max(axis=1).tolist())
    figure = _around_values(values, (float(density.x[0]), float(density.x[-1])), ceiling, classes, name, dark)
    times = magnified(density)
    for k, label in enumerate(classes):
        colour = colour_of(k, dark)
        x: list[float | None] = []
        y: list[float | None] = []
        for x_of_bump, height in density.bumps(k, BUMPS):
            x += [*x_of_bump.tolist(), None]
            y += [*(times * height).tolist(), None]
        figure.add_scatter(x=x, y=y, mode="lines", opacity=0.45, hoverinfo="skip", showlegend=False,
                           line={"color": colour, "width": 0.9}, legendgroup=str(k), row=1, col=1)  # fmt: skip
        figure.add_scatter(x=density.x.tolist(), y=density.values[k].tolist(), mode="lines", name=label,
                           legendgroup=str(k), line={"color": colour, "width": 2.4}, row=1, col=1,
                           hovertemplate="x = %{x}<br>p = %{y:.5g}<extra>" + label + "</extra>")  # fmt: skip
    return figure


def magnified(density: Curves) -> int:
    """How many times as high as they are the bumps are drawn: a whole number, 1 where they can be seen as they are."""
    tallest = max(float(h.max()) for k in range(len(density.classes)) for _x, h in density.bumps(k, BUMPS))
    return max(1, round(SEEN * float(density.values.max(axis=1).min()) / tallest))


def rate_bars(rates: Rates | Distributions, *, classes: Sequence[str], name: str, dark: bool = False) -> Figure:
    """P(x | class) of a count by its distribution, full, over the shares of the rows, pale; of many counts the former
    is a line. A mark stands at the mean. `name` is the column's."""
    figure = Figure()
    apart = len(rates.x) <= SEPARATE
    wide = 0.74 / len(classes) if apart else 1.0
    for k, label in enumerate(classes):
        colour = colour_of(k, dark)
        places = rates.x + (wide * (k - (len(classes) - 1) / 2) if apart else 0.0)
        hover = [f"P({name} = {x:g} | {label}) = {number(p)}<br>" + _("share of the rows {p}").format(p=number(o))
                 for x, p, o in zip(rates.x, rates.values[k], rates.observed[k], strict=True)]  # fmt: skip
        figure.add_bar(x=places, y=rates.observed[k], width=0.97 * wide, opacity=0.3, hoverinfo="skip",
                       name=_("share of the rows"), legendgroup="seen", legendrank=2000, showlegend=k == 0,
                       marker={"color": colour, "line": {"width": 0}})  # fmt: skip
        drawn = {"name": label, "legendgroup": str(k), "hovertext": hover,
                 "hovertemplate": "%{hovertext}<extra></extra>"}  # fmt: skip
        if apart:
            marker = {"color": colour, "line": {"width": 0}}
            figure.add_bar(x=places, y=rates.values[k], width=0.55 * wide, marker=marker, **drawn)
        else:
            figure.add_scatter(x=places, y=rates.values[k], mode="lines", line={"color": colour, "width": 2.2}, **drawn)
        mean = rates.mean_of(k)
        figure.add_scatter(x=[mean], y=[0.0], mode="markers", showlegend=False, legendgroup=str(k),
                           cliponaxis=False, marker={"symbol": "triangle-up", "size": 11, "color": colour},
                           hovertemplate=f"{rates.mark} = {number(mean)}<extra>{label}</extra>")  # fmt: skip
    figure.update_layout(barmode="overlay", hovermode="closest", **LEGEND)
    figure.update_xaxes(title=name, showgrid=False, nticks=16)
    figure.update_yaxes(title=_("P(x | class)"), rangemode="tozero", nticks=6)
    return sized(figure, 340, top=34)


def _around_values(
    values: Sequence[Array], span: tuple[float, float], ceiling: float, classes: Sequence[str], name: str, dark: bool
) -> Figure:
    """Room for curves up to the `ceiling`: behind them a histogram of each class where there are many values, beneath
    them the very values."""
    figure = subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.03, row_heights=[0.8, 0.2])
    if max(map(len, values)) >= HISTOGRAM_FROM:
        edges, heights = histogram(values, *span)
        middle, wide = ((edges[1:] + edges[:-1]) / 2).tolist(), float(edges[1] - edges[0])
        for k, bars in enumerate(heights):
            figure.add_bar(
                x=middle,
                y=bars.tolist(),
                width=wide,
                marker={"color": colour_of(k, dark), "line": {"width": 0}},
                opacity=0.2,
                hoverinfo="skip",
                showlegend=False,
                legendgroup=str(k),
                row=1,
                col=1,
            )
        ceiling = max(ceiling, min(max(float(h.max()) for h in heights), 1.6 * ceiling))
    for k, there in enumerate(values):
        rug(figure, thinned(there, STRIP), -k, colour_of(k, dark), classes[k], group=str(k), row=2)
    figure.update_layout(barmode="overlay", hovermode="closest", **LEGEND)
    figure.update_xaxes(range=list(span), showgrid=False, nticks=7)
    figure.update_xaxes(title=name, row=2, col=1)
    figure.update_yaxes(title=_("density p(x | class)"), range=[0.0, ceiling], nticks=6, row=1, col=1)
    figure.update_yaxes(visible=False, range=[0.7 - len(classes), 0.7], row=2, col=1)
    return sized(figure, 360 + 12 * max(len(classes) - 3, 0), top=34)


def cut_histogram(
    table: LevelConditionals, values: Sequence[Array], *, classes: Sequence[str], name: str, dark: bool = False
) -> Figure:
    """The values that a column of numbers was cut from, with a line at every cut point: a histogram of each class (its
    area is 1), or where there are few the very values. `name` is the column's."""
    figure = Figure()
    known, cuts = [v for v in values if len(v)], table.variable.cuts or ()
    ends = [*cuts, *(float(v[i]) for v in known for i in (0, -1))]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    edges, heights = histogram(values, low, high if high > low else low + 1.0)
    few = max(map(len, values)) < HISTOGRAM_FROM
    for k, (bars, there) in enumerate(zip(heights, values, strict=True)):
        colour = colour_of(k, dark)
        if few:
            rug(figure, there, -k, colour, classes[k], legend=True)
            continue
        figure.add_bar(
            x=((edges[1:] + edges[:-1]) / 2).tolist(),
            y=bars.tolist(),
            width=float(edges[1] - edges[0]),
            name=classes[k],
            opacity=0.5,
            marker={"color": colour, "line": {"width": 0}},
            customdata=np.histogram(there, edges)[0].tolist(),
            hovertemplate="%{x:.4g} · n = %{customdata}<extra>" + classes[k] + "</extra>",
        )
    for cut in cuts:
        figure.add_vline(x=cut, line={"color": INK[dark], "width": 1.3, "dash": "dash"})
    alone = not cuts  # no bars of intervals below, which would say whose colour is whose
    height = 80 + 24 * len(classes) + 30 * alone if few else 300 if alone else 150
    figure.update_layout(**LEGEND | {"barmode": "overlay", "bargap": 0, "showlegend": alone})
    figure.update_xaxes(title=name, showgrid=False, nticks=9)
    figure.update_yaxes(title=None if few else _("density"), showticklabels=False, showgrid=False, zeroline=not few)
    if few:
        figure.update_yaxes(range=[0.7 - len(classes), 0.7])
    return sized(figure, height, top=34 if alone else 6)


def _curve(figure: Figure, density: Density, span: tuple[float, float], named: dict[str, str], colour: str) -> None:
    """The curve of one class, a dotted line at its mean and a bar from mean − sd to mean + sd."""
    x, p = curve(density, *span)
    figure.add_scatter(
        x=x.tolist(),
        y=p.tolist(),
        mode="lines",
        line={"color": colour, "width": 2.4},
        hovertemplate="x = %{x}<br>p = %{y:.5g}<extra>" + named["name"] + "</extra>",
        row=1,
        col=1,
        **named,
    )
    mean, sd, peak = density.mean, density.sd, density.value
    about = f"x̄ = {near(mean, sd)} ± {number(sd)}<extra>{named['name']}</extra>"
    figure.add_scatter(
        x=[mean, mean],
        y=[0.0, peak],
        mode="lines",
        line={"color": colour, "width": 1.2, "dash": "dot"},
        hovertemplate=about,
        showlegend=False,
        legendgroup=named["legendgroup"],
        row=1,
        col=1,
    )
    waist = peak * float(exp(-0.5))  # a Gaussian's height one sd from its mean
    figure.add_scatter(
        x=[mean - sd, mean, mean + sd],
        y=[waist] * 3,
        mode="lines+markers",
        line={"color": colour, "width": 1.2},
        marker={"symbol": ["line-ns-open", "circle", "line-ns-open"], "size": [9, 6, 9], "color": colour},
        hovertemplate=about,
        showlegend=False,
        legendgroup=named["legendgroup"],
        row=1,
        col=1,
    )


def _ceiling(peaks: Sequence[float]) -> float:
    """Above the highest peak; but a class without spread, a hundred times higher than the lowest, is to be cut off."""
    return 1.1 * max(p for p in peaks if p <= 100.0 * min(peaks))


def prior_bars(prior: WorkingStep, *, classes: Sequence[str], dark: bool = False) -> Figure:
    """P(class) as one bar each, with the fraction it is."""
    figure = Figure().add_bar(
        x=list(prior.factors),
        y=list(range(len(classes))),
        orientation="h",
        cliponaxis=False,
        textposition="outside",  # no ink is legible on the colours of all classes
        textangle=0,
        marker={"color": [colour_of(k, dark) for k in range(len(classes))], "line": {"width": 0}},
        text=[f"{fraction(s)} = {number(p)}" for s, p in zip(prior.sources, prior.factors, strict=True)],
        hovertemplate="%{text}<extra></extra>",
    )
    figure.update_layout(bargap=0.35, showlegend=False)
    named_rows(figure, classes)
    figure.update_xaxes(range=[0.0, 2.2 * max(prior.factors)], showticklabels=False, showgrid=False, ticks="")
    return sized(figure, 40 + 30 * len(classes), top=4)
