"""Discriminants in figures: three boundaries of two known classes, rows on two directions, losses from QDA to LDA."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayes_engine.decision.two_gaussians import Boundaries, Quadric, TwoGaussians
from bayes_engine.models.projection import PlaneProjection
from bayes_engine.workbench.figures.figure import Figure
from bayes_engine.workbench.figures.theme import (
    EXTRA_COLOURS,
    GROUND,
    INK,
    MUTED,
    colour_of,
    ellipse,
    sized,
    spot,
)

REACH = 5.5
"""The plane of the known classes is drawn this far to each side of the origin across."""
STEPS = 121
MOST_ROWS = 600
"""Marks in one figure of rows: three of them stand beside each other, and each mark is an element of the page."""
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "pentagon", "star")
WIDTHS = (("bayes", 11.0, "solid", 0.30), ("lda", 4.0, "solid", 1.0), ("fisher", 2.5, "dot", 1.0))
"""From the lowest: where two rules are one, each line is seen inside the other."""


def three_boundaries(classes: TwoGaussians, rules: Boundaries, labels: dict[str, str], *, dark: bool = False) -> Figure:
    """The classes as ellipses of one and two standard deviations, and the boundaries of the three rules. `labels`, for
    "first", "second", "fisher", "lda" and "bayes", are already escaped."""
    across, up = np.linspace(-REACH, REACH, STEPS), np.linspace(-1.5 * REACH, 1.5 * REACH, STEPS)
    figure = Figure()
    for c, name in enumerate(("first", "second")):
        colour = colour_of(c, dark)
        for deviations, opacity in ((2.0, 0.13), (1.0, 0.2)):
            x, y = ellipse(classes.means[c], classes.covariances[c], deviations, 121)
            figure.add_scatter(
                x=x, y=y, fill="toself", fillcolor=colour, opacity=opacity, mode="lines", line={"width": 0},
                hoverinfo="skip", showlegend=False,
            )  # fmt: skip
        figure.add_scatter(
            x=[classes.means[c, 0]], y=[classes.means[c, 1]], mode="markers", name=labels[name],
            marker={"color": colour, "size": 12, "symbol": ("circle", "square")[c]}, hoverinfo="name",
        )  # fmt: skip
    inks = {"bayes": INK[dark], "lda": EXTRA_COLOURS[1][dark], "fisher": MUTED["cost"]}
    for name, width, dash, opacity in WIDTHS:
        rule, style = getattr(rules, name).quadric, {"color": inks[name], "width": width, "dash": dash}
        if rule.A.any():
            value = rule.at(np.stack(np.meshgrid(across, up), axis=-1)).astype(np.float32)
            figure.add_contour(
                x=across, y=up, z=value, contours={"start": 0, "end": 0, "size": 1, "coloring": "none"}, line=style,
                opacity=opacity, hoverinfo="skip", name=labels[name], showlegend=True, showscale=False,
            )  # fmt: skip
        else:
            (x1, y1), (x2, y2) = _line(rule)
            figure.add_scatter(
                x=[x1, x2], y=[y1, y2], mode="lines", line=style, opacity=opacity, hoverinfo="skip", name=labels[name]
            )
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": -0.1, "yanchor": "top"})
    figure.update_xaxes(range=[-REACH, REACH], constrain="range", zeroline=False)
    figure.update_yaxes(range=[-0.5, 0.5], scaleanchor="x", constrain="range", zeroline=False)  # as high as fits
    return sized(figure, 440, bottom=56)


def _line(rule: Quadric) -> list[list[float]]:
    """Two points of bᵀx + c = 0, outside the frame."""
    b = rule.b
    foot, way = -rule.c * b / (b @ b), np.array([-b[1], b[0]]) / np.sqrt(b @ b)
    return [(foot - 3 * REACH * way).tolist(), (foot + 3 * REACH * way).tolist()]


def on_two_directions(
    screen: PlaneProjection,
    truth: Sequence[int],
    classes: Sequence[tuple[str, int]],
    *,
    axes: tuple[str, str],
    dark: bool = False,
) -> Figure:
    """Rows on two directions with their class means, equal units on both. `truth` are positions among the `classes`,
    each an escaped label with the place of its colour; `axes` are escaped titles. Of more than MOST_ROWS rows a sample
    is drawn."""
    figure = Figure()
    n = len(truth)
    drawn = np.arange(n) if n <= MOST_ROWS else np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))
    of = np.asarray(truth)[drawn]
    y = screen.points[:, 1] if screen.points.shape[1] > 1 else np.zeros(len(truth))
    for c, (label, place) in enumerate(classes):
        own = drawn[of == c]
        symbol = SYMBOLS[place % len(SYMBOLS)]
        figure.add_scatter(
            x=screen.points[own, 0], y=y[own], mode="markers", name=label,
            marker={"color": colour_of(place, dark), "size": 6 if n <= 300 else 4, "opacity": 0.65, "symbol": symbol},
            hovertemplate=f"{label}<br>%{{x:.3f}}, %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=screen.means[:, 0], y=screen.means[:, 1], mode="markers", showlegend=False, hoverinfo="skip",
        marker={
            "color": [colour_of(place, dark) for _label, place in classes],
            "symbol": [SYMBOLS[place % len(SYMBOLS)] for _label, place in classes],
            "size": 14, "line": {"color": GROUND[dark], "width": 2.5},
        },
    )  # fmt: skip
    figure.update_layout(showlegend=False)
    figure.update_xaxes(title=axes[0], zeroline=False)
    figure.update_yaxes(title=axes[1], zeroline=False, scaleanchor="x", scaleratio=1)
    return sized(figure, 270)


def losses_along_pooling(
    values: Sequence[float], losses: Sequence[float], here: tuple[float, float], *, title: str, dark: bool = False
) -> Figure:
    """Held-out losses as they are shown over the share of pooling, and the present one. `title` names them, escaped."""
    figure = Figure()
    figure.add_scatter(
        x=list(values), y=list(losses), mode="lines+markers", line={"color": INK[dark], "width": 2},
        marker={"size": 5}, hovertemplate="ρ = %{x:.2f}: %{y:.4f}<extra></extra>",
    )  # fmt: skip
    spot(figure, here, 13, MUTED["cost"], dark, "circle")
    figure.update_layout(showlegend=False)
    figure.update_xaxes(
        range=[-0.03, 1.03], tickvals=[0, 0.25, 0.5, 0.75, 1], ticktext=["0 QDA", "¼", "½", "¾", "1 LDA"]
    )
    figure.update_yaxes(title=title, nticks=5)
    return sized(figure, 210, right=12, top=10)
