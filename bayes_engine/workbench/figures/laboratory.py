"""The Laboratory in figures: excess risk in two parts, learning curves, tables, base rates, likelihoods, underflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayes_engine.language import _
from bayes_engine.logspace import Array
from bayes_engine.workbench.derivation.demonstrations import BaseRate, Climbed, Underflow
from bayes_engine.workbench.figures.figure import Figure
from bayes_engine.workbench.figures.theme import (
    EXTRA_COLOURS,
    GROUND,
    INK,
    MUTED,
    colour_of,
    sized,
    spot,
    straight,
)
from bayes_engine.workbench.laboratory.excess_risk import LearningCurve
from bayes_engine.workbench.laboratory.truth import TableTruth


class Ink(NamedTuple):
    """A model's line: its colours, its dash on a canvas and in Plotly, its width."""

    light: str
    dark: str
    strokes: tuple[int, ...]
    dash: str
    width: float


INKS = {
    "naive-bayes": Ink("#8A4FBF", "#C9A3F0", (9, 5), "dash", 3.0),
    "lda": Ink("#0F7F7A", "#6FD0C8", (), "solid", 2.6),
    "qda": Ink("#C2185B", "#FF7FAE", (2, 5), "dot", 3.2),
    "logistic": Ink("#6B6F00", "#D6DB4A", (12, 4, 2, 4), "dashdot", 2.6),
    "tan": Ink("#0F7F7A", "#6FD0C8", (), "solid", 2.6),
    "aode": Ink("#C2185B", "#FF7FAE", (2, 5), "dot", 3.2),
}
"""No class has these colours; the dashes tell them apart without colour."""
RULE_INKS = {
    "none": Ink("#5C636B", "#AEB6BF", (), "solid", 5.0),
    "zero-only": Ink("#C2185B", "#FF7FAE", (2, 5), "dot", 3.2),
    "laplace": Ink("#0F7F7A", "#6FD0C8", (), "solid", 2.4),
    "m-estimate": Ink("#8A4FBF", "#C9A3F0", (9, 5), "dash", 2.6),
}
"""The same of the smoothings that stand side by side; the widest is drawn first, beneath the others."""


def _ink(name: str, dark: bool) -> str:
    return INKS[name].dark if dark else INKS[name].light


def excess_bars(
    curve: LearningCurve,
    names: Sequence[str],
    words: tuple[str, str, str],
    shown: Sequence[float],
    *,
    dark: bool = False,
) -> Figure:
    """Of each model the misfit (full) and what n rows cost on top (pale, with its standard error); a diamond is the
    sample that is shown. `words` name the three, `names` the models, both escaped; `shown` are its excess risks."""
    colours = [_ink(name, dark) for name in curve.names]
    misfit, finite = curve.misfit, curve.finite[:, 0]
    figure = Figure()
    figure.add_bar(
        y=list(names), x=misfit.tolist(), orientation="h", name=words[0], marker={"color": colours},
        hovertemplate="%{y}: %{x:.4f}<extra>" + words[0] + "</extra>",
    )  # fmt: skip
    figure.add_bar(
        y=list(names), x=finite.tolist(), base=misfit.tolist(), orientation="h", name=words[1],
        marker={"color": colours, "opacity": 0.38},
        error_x={"array": np.nan_to_num(curve.error[:, 0]).tolist(), "color": INK[dark], "thickness": 1.5, "width": 5},
        customdata=finite.tolist(), hovertemplate="%{y}: %{customdata:+.4f}<extra>" + words[1] + "</extra>",
    )  # fmt: skip
    figure.add_scatter(
        y=list(names), x=list(shown), mode="markers", name=words[2],
        marker={"symbol": "diamond", "size": 11, "color": GROUND[dark], "line": {"color": INK[dark], "width": 2}},
        hovertemplate="%{y}: %{x:.4f}<extra>" + words[2] + "</extra>",
    )  # fmt: skip
    figure.update_layout(barmode="overlay", bargap=0.42, showlegend=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="", ticksuffix=" ")
    ends = [*misfit, *(misfit + finite + np.nan_to_num(curve.error[:, 0])), *shown]
    top, low = float(np.nanmax([*ends, 1e-4])), float(np.nanmin([*(finite + misfit), *shown, 0.0]))
    figure.update_xaxes(nticks=6, zeroline=True, tickformat="~g", range=[low - 0.04 * top, 1.06 * top])
    return sized(figure, 70 + 46 * len(names), right=14)


def growth(curve: LearningCurve, names: Sequence[str], n: int, *, dark: bool = False) -> Figure:
    """The mean true risk of each model over n, with its standard error; dashed where endless rows lead; the Bayes risk
    beneath all. `names` are escaped."""
    figure = Figure()
    sizes = list(curve.sizes)
    for m, (name, label) in enumerate(zip(curve.names, names, strict=True)):
        colour = _ink(name, dark)
        figure.add_scatter(
            x=sizes, y=curve.mean[m].tolist(), mode="lines+markers", name=label,
            line={"color": colour, "width": 2.4, "dash": INKS[name].dash}, marker={"size": 6},
            error_y={"array": np.nan_to_num(curve.error[m]).tolist(), "thickness": 1, "width": 3, "color": colour},
            hovertemplate="n = %{x}: %{y:.4f}<extra>" + label + "</extra>",
        )  # fmt: skip
        end = float(curve.limit[m])
        figure.add_scatter(
            x=[sizes[-1], sizes[-1] * 2.2], y=[end, end], mode="lines+markers", showlegend=False,
            line={"color": colour, "width": 2, "dash": "dot"}, marker={"size": [0, 9], "symbol": "line-ns-open"},
            hovertemplate="n → ∞: %{y:.4f}<extra>" + label + "</extra>",
        )  # fmt: skip
    figure.add_hline(y=curve.bayes.value, line={"color": INK[dark], "width": 3})
    figure.add_annotation(
        x=0.0, xref="paper", xanchor="left", y=curve.bayes.value, yanchor="top", showarrow=False,
        text=f"R* = {curve.bayes.value:.4f}", font={"size": 14},
    )  # fmt: skip
    figure.add_vline(x=n, line={"color": EXTRA_COLOURS[0][dark], "width": 1, "dash": "dot"})
    figure.update_xaxes(
        type="log", title="n", tickvals=[*sizes, sizes[-1] * 2.2], ticktext=[*map(str, sizes), "∞"], showgrid=False
    )
    figure.update_yaxes(nticks=6, title="R(h)")
    return sized(figure, 360, right=14, top=40)


def cells(
    truth: TableTruth, decided: Sequence[tuple[str, Sequence[int]]], actions: Sequence[str], *, dark: bool = False
) -> Figure:
    """P(c) P(x|c) of every cell, and beneath it what is decided there: a row for each rule of `decided` (its name,
    escaped, and the action in each cell), the first Bayes's own."""
    joint = truth.joint
    names = ["".join(row) for row in truth.cells.astype(str).to_numpy()]
    figure = Figure()
    for k, label in enumerate(truth.classes):
        figure.add_bar(
            x=names, y=joint[:, k].tolist(), name=str(label), marker={"color": colour_of(k, dark)},
            hovertemplate="%{x}: %{y:.4f}<extra>" + str(label) + "</extra>",
        )  # fmt: skip
    best, top = decided[0][1], float(joint.max())
    k_all = len(truth.classes)
    for r, (label, chosen) in enumerate(decided):
        y = -top * (0.13 + 0.12 * r)
        figure.add_scatter(
            x=names, y=[y] * len(names), mode="markers+text", showlegend=False,
            marker={
                "symbol": "square", "size": 24, "line": {"width": 0},
                "color": [colour_of(a, dark) if a < k_all else EXTRA_COLOURS[0][dark] for a in chosen],
                "opacity": [1.0 if a == b else 0.9 for a, b in zip(chosen, best, strict=True)],
            },
            text=[actions[a] + ("" if a == b else " ✗") for a, b in zip(chosen, best, strict=True)],
            textfont={"color": GROUND[dark], "size": 13}, hovertemplate="%{x}: %{text}<extra>" + label + "</extra>",
        )  # fmt: skip
        figure.add_annotation(
            xref="paper", x=0.0, xanchor="right", y=y, text=label + "  ", showarrow=False, font={"size": 13}
        )
    figure.update_layout(barmode="group", bargap=0.3)
    figure.update_xaxes(type="category", showgrid=False, title="x₁x₂x₃")
    ticks = [v for v in np.linspace(0, top, 4).round(2).tolist() if v >= 0]
    figure.update_yaxes(range=[-top * (0.2 + 0.12 * (len(decided) - 0.6)), top * 1.06], tickvals=ticks, zeroline=True)
    return sized(figure, 430, left=130, top=34)


# base rates -----------------------------------------------------------------------------------------------------------


def people(rate: BaseRate, names: tuple[str, str, str, str], *, dark: bool = False) -> Figure:
    """A thousand people as dots, 40 columns of 25: ill and found, ill and missed, well and alarmed, well and calm."""
    counts = rate.of_thousand
    kinds = [k for k, count in enumerate(counts) for _person in range(count)]
    sick, well = colour_of(1, dark), colour_of(0, dark)
    looks = ((sick, "circle", 1.0), (sick, "circle-open", 1.0), (well, "circle", 1.0), (well, "circle", 0.22))
    figure = Figure()
    for k, (colour, symbol, opacity) in enumerate(looks):
        own = [i for i, kind in enumerate(kinds) if kind == k]
        figure.add_scatter(
            x=[i // 25 for i in own], y=[-(i % 25) for i in own], mode="markers",
            name=f"{names[k]}{_(': ')}{counts[k]}", hoverinfo="name",
            marker={"color": colour, "symbol": symbol, "size": 9, "opacity": opacity, "line": {"width": 2}
                    if symbol.endswith("open") else {"width": 0}},
        )  # fmt: skip
    legend = {"orientation": "h", "x": 0, "y": -0.03, "yanchor": "top", "itemsizing": "constant"}
    figure.update_layout(legend=legend)
    figure.update_xaxes(visible=False, range=[-1, 40])
    figure.update_yaxes(visible=False, range=[-24.8, 0.8])
    return sized(figure, 450, left=4, right=4, top=4, bottom=4)


def posterior_by_prior(
    priors: Array, posterior: Array, here: tuple[float, float], titles: tuple[str, str], *, dark: bool = False
) -> Figure:
    """P(ill | positive) over P(ill), and where one stands."""
    figure = Figure()
    figure.add_scatter(
        x=priors.tolist(), y=posterior.tolist(), mode="lines", line={"color": colour_of(1, dark), "width": 3},
        hovertemplate="%{x:.3%} → %{y:.2%}<extra></extra>",
    )  # fmt: skip
    straight(figure, 0, EXTRA_COLOURS[0][dark], 1)
    figure.add_scatter(
        x=[here[0], here[0], 0], y=[0, here[1], here[1]], mode="lines", hoverinfo="skip",
        line={"color": INK[dark], "width": 1.2, "dash": "dash"},
    )  # fmt: skip
    spot(figure, here, 14, MUTED["cost"], dark, "circle")
    figure.update_layout(showlegend=False)
    figure.update_xaxes(range=[0, 1], tickformat=".0%", title=titles[0], nticks=6)
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%", title=titles[1], nticks=6)
    return sized(figure, 300, right=12)


# the likelihood -------------------------------------------------------------------------------------------------------


def surface(climb: Climbed, here: tuple[float, float], titles: tuple[str, str], *, dark: bool = False) -> Figure:
    """log p(x | μ, σ) as contours, nats below the maximum; the way up from here by its gradient, and the maximum."""
    means, sds, below = climb.means, climb.sds, climb.below
    figure = Figure()
    levels = [-100, -50, -20, -10, -5, -2, -1, -0.5, -0.1]
    hue = "86,180,233" if dark else "0,114,178"
    figure.add_heatmap(
        x=means, y=sds, z=np.maximum(below, -50).astype(np.float32), showscale=False, zsmooth="best",
        colorscale=[[0, f"rgba({hue},0)"], [0.6, f"rgba({hue},0.10)"], [0.9, f"rgba({hue},0.34)"],
                    [1, f"rgba({hue},0.62)"]],
        customdata=below, hovertemplate="μ = %{x:.2f}, σ = %{y:.2f}: %{customdata:.2f}<extra></extra>",
    )  # fmt: skip
    for level in levels:
        figure.add_contour(
            x=means, y=sds, z=below.astype(np.float32), showscale=False, hoverinfo="skip",
            contours={"start": level, "end": level, "size": 1, "coloring": "none"},
            line={"width": 1, "color": EXTRA_COLOURS[0][dark]},
        )  # fmt: skip
    figure.add_scatter(
        x=climb.path[:, 0].tolist(), y=climb.path[:, 1].tolist(), mode="lines+markers", hoverinfo="skip",
        line={"color": MUTED["cost"], "width": 2.5}, marker={"size": 6},
    )  # fmt: skip
    _best_and_here(figure, climb.best, here, dark)
    figure.update_layout(showlegend=False)
    figure.update_xaxes(title=titles[0], range=[means[0], means[-1]], showgrid=False, zeroline=False)
    figure.update_yaxes(title=titles[1], range=[sds[0], sds[-1]], showgrid=False, zeroline=False)
    return sized(figure, 400, top=10)


def _best_and_here(figure: Figure, best: tuple[float, float], here: tuple[float, float], dark: bool) -> None:
    """A star at the maximum and a dot where one is."""
    spot(figure, best, 17, INK[dark], dark, "star")
    spot(figure, here, 15, colour_of(0, dark), dark, "circle")


def curve_of_share(
    shares: Array, log_likelihood: Array, here: tuple[float, float], best: tuple[float, float],
    titles: tuple[str, str], *, dark: bool = False,
) -> Figure:  # fmt: skip
    """The log-likelihood over the share of one level, the others keeping their proportions."""
    figure = Figure()
    figure.add_scatter(
        x=shares.tolist(), y=log_likelihood.tolist(), mode="lines", line={"color": colour_of(0, dark), "width": 3},
        hovertemplate="θ = %{x:.3f}: %{y:.3f}<extra></extra>",
    )  # fmt: skip
    _best_and_here(figure, best, here, dark)
    figure.update_layout(showlegend=False)
    figure.update_xaxes(title=titles[0], range=[0, 1])
    top = best[1]
    floor = min(here[1], top - 8.0)
    figure.update_yaxes(title=titles[1], nticks=6, range=[floor - 0.06 * (top - floor), top + 0.1 * (top - floor)])
    return sized(figure, 320, top=10)


def shares_bars(
    counts: Sequence[int], theta: Sequence[float], names: Sequence[str], words: tuple[str, str], *, dark: bool = False
) -> Figure:
    """θ_s beside the rows' own shares n_s/n."""
    total = max(sum(counts), 1)
    figure = Figure()
    figure.add_bar(x=list(names), y=list(theta), name=words[0], marker={"color": colour_of(0, dark)},
                   text=[f"{t:.3f}" for t in theta], textposition="outside", cliponaxis=False)  # fmt: skip
    figure.add_bar(x=list(names), y=[c / total for c in counts], name=words[1],
                   marker={"color": EXTRA_COLOURS[1][dark], "opacity": 0.55},
                   text=[f"{c}/{total}" for c in counts], textposition="outside", cliponaxis=False)  # fmt: skip
    figure.update_layout(barmode="group")
    figure.update_yaxes(range=[0, 1.08], nticks=5)
    figure.update_xaxes(type="category", showgrid=False)
    return sized(figure, 300, top=40)


# underflow ------------------------------------------------------------------------------------------------------------


def underflow_lines(products: Underflow, names: tuple[str, str, str], *, dark: bool = False) -> Figure:
    """log₁₀ of the product over the number of columns: as a sum of logs, and as float64 and float32 hold the product,
    until it is 0."""
    figure = Figure()
    d = products.steps.tolist()
    figure.add_scatter(
        x=d, y=products.log10.tolist(), mode="lines", name=names[0], line={"color": INK[dark], "width": 3},
        hovertemplate="d = %{x}: 10^%{y:.1f}<extra></extra>",
    )  # fmt: skip
    for label, values, place, width in ((names[1], products.double, 1, 7), (names[2], products.single, 0, 11)):
        colour = colour_of(place, dark)
        alive = np.isfinite(values)
        figure.add_scatter(
            x=products.steps[alive].tolist(), y=values[alive].tolist(), mode="lines", name=label, opacity=0.55,
            line={"color": colour, "width": width}, hoverinfo="skip",
        )  # fmt: skip
        if not alive.all():
            end = int(np.argmin(alive))
            figure.add_scatter(
                x=[int(products.steps[end])], y=[float(products.log10[end])], mode="markers", showlegend=False,
                marker={"symbol": "x", "size": 14, "color": colour}, hovertemplate="d = %{x}: 0<extra></extra>",
            )  # fmt: skip
    figure.update_xaxes(title="d", rangemode="tozero")
    figure.update_yaxes(tickprefix="10^", nticks=7)
    return sized(figure, 360, right=12, top=40)
