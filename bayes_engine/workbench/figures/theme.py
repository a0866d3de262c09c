"""Colours and the Plotly template: one look for every figure, on light and on dark ground.

The class colours follow Okabe and Ito's palette for all kinds of colour vision (2008), with its yellow and its palest
tones darkened until a small mark stands out from the page at 3:1; the dark variants are the same hues, lifted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from plotly.colors import hex_to_rgb

from bayes_engine.logspace import Array
from bayes_engine.workbench.figures.figure import Figure, Properties

CLASS_COLOURS: tuple[tuple[str, str], ...] = (
    ("#0072B2", "#56B4E9"),
    ("#926500", "#F0BE45"),
    ("#00855F", "#3CCB9F"),
    ("#B5478F", "#EA94C8"),
    ("#D55E00", "#FF8F57"),
    ("#3D8FC4", "#A9CDFF"),
    ("#7F5A3C", "#CBA583"),
    ("#6F7D00", "#C9D44F"),
    ("#A8123F", "#FF8AA8"),
    ("#6547B5", "#B59CFF"),
    ("#586672", "#B4BFC9"),
)
"""(on light, on dark) for the classes, in their order: of two none is red, which would sound an alarm by its place."""

EXTRA_COLOURS: tuple[tuple[str, str], ...] = (("#6B6F76", "#A7ACB4"), ("#7A5FA8", "#B9A3E3"), ("#4F7F7A", "#8FC4BD"))
"""(on light, on dark) for actions that are no class: refuse, ask an expert."""

MUTED = {"other": EXTRA_COLOURS[0][0], "cost": "#C8553D"}
"""Tones that mean no class and hold on both grounds."""

INK = ("#1F2430", "#ECEEF2")
GROUND = ("#FFFFFF", "#171614")
FONT = '"Source Sans", "Source Sans 3", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif'


def colour_of(index: int, dark: bool = False) -> str:
    """The colour of the class at this position; from the twelfth on the colours repeat (marks then differ in shape).

    >>> colour_of(0), colour_of(11) == colour_of(0)
    ('#0072B2', True)
    """
    return CLASS_COLOURS[index % len(CLASS_COLOURS)][dark]


def faded(colour: str, alpha: float) -> str:
    """The colour with this opacity.

    >>> faded("#0072B2", 0.5)
    'rgba(0,114,178,0.5)'
    """
    return "rgba({},{},{},{})".format(*hex_to_rgb(colour), alpha)


SHADE = (0.6, 0.45)
"""(on light, on dark) How opaque a colour may be at most, so that the ink is legible on it."""


def template(dark: bool = False) -> Properties:
    """Font, grid and colours of every Plotly figure here: clear ground, hairline grid, no frame.

    >>> template(dark=True)["layout"]["font"]["color"]
    '#ECEEF2'
    """
    ink = INK[dark]
    hairline = "rgba(255,255,255,0.12)" if dark else "rgba(31,36,48,0.10)"
    side = {
        "gridcolor": hairline,
        "linecolor": hairline,
        "zerolinecolor": "rgba(255,255,255,0.35)" if dark else "rgba(31,36,48,0.35)",
        "zerolinewidth": 1,
        "ticks": "outside",
        "tickcolor": hairline,
        "ticklen": 4,
        "automargin": True,
        "title": {"font": {"size": 14, "color": ink}, "standoff": 8},
    }
    return {
        "data": {
            "scatter": [{"cliponaxis": False}],  # no marker is cut at the edge
            "heatmap": [{"textfont": {"size": 13, "color": ink}}],  # Plotly would write as small as a cell is narrow
        },
        "layout": {
            "font": {"family": FONT, "size": 13, "color": ink},
            "colorway": [pair[dark] for pair in CLASS_COLOURS],
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "xaxis": side,
            "yaxis": side,
            "margin": {"l": 12, "r": 12, "t": 28, "b": 12},
            "hoverlabel": {"font": {"family": FONT, "color": ink}, "bgcolor": GROUND[dark], "bordercolor": hairline},
            "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        },
    }


def sized(
    figure: Figure, height: float, *, left: float = 8, right: float = 8, top: float = 8, bottom: float = 8
) -> Figure:
    """The figure in this height and with these margins, in pixels."""
    return figure.update_layout(height=height, margin={"l": left, "r": right, "t": top, "b": bottom})


def named_rows(figure: Figure, names: Sequence[str], *, chosen: int = -1, air: float = 0.4) -> None:
    """Rows from the top down, named at the left, the `chosen` one in bold; below the last `air` rows are free."""
    figure.update_yaxes(range=[len(names) - air, air - 1.0], showgrid=False, zeroline=False, ticks="")
    marked = [f"<b>{name}</b>" if i == chosen else name for i, name in enumerate(names)]
    figure.update_layout(yaxis={"tickvals": list(range(len(names))), "ticktext": marked, "ticklabelstandoff": 6})


def straight(figure: Figure, low: float, colour: str, width: float) -> None:
    """The dotted diagonal from `low` to 1."""
    figure.add_scatter(
        x=[low, 1], y=[low, 1], mode="lines", line={"dash": "dot", "width": width, "color": colour},
        hoverinfo="skip", showlegend=False,
    )  # fmt: skip


def spot(figure: Figure, place: tuple[float, float], size: float, colour: str, dark: bool, symbol: str) -> None:
    """A mark with a rim of the ground's colour."""
    figure.add_scatter(
        x=[place[0]], y=[place[1]], mode="markers", hoverinfo="skip",
        marker={"size": size, "color": colour, "symbol": symbol, "line": {"color": GROUND[dark], "width": 2}},
    )  # fmt: skip


def rug(
    figure: Figure, values: Array, y: float, colour: str, name: str, *,
    legend: bool = False, group: str | None = None, row: int = 0,
) -> None:  # fmt: skip
    """A stroke for every value, at this height; `name` is escaped. The legend's group and the row of panels, where
    there are such."""
    figure.add_scatter(
        x=values, y=[y] * len(values), mode="markers", name=name, legendgroup=group, row=row, col=1,
        marker={"symbol": "line-ns-open", "size": 11, "color": colour, "line": {"width": 1.3}},
        hovertemplate="%{x}<extra>" + name + "</extra>", showlegend=legend,
    )  # fmt: skip


def ellipse(mean: Array, covariance: Array, deviations: float, points: int) -> Array:
    """(2, points) so many standard deviations around the mean of a Gaussian in the plane."""
    angle = np.linspace(0.0, 2.0 * np.pi, points)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    return np.asarray(mean[:, None] + deviations * np.linalg.cholesky(covariance) @ circle)
