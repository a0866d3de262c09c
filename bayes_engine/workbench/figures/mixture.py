"""EM to be looked at: the film of a run for the player's canvas, and the figures beneath it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from plotly.colors import hex_to_rgb

from bayes_engine.em import EMTrace
from bayes_engine.language import _
from bayes_engine.logspace import Array
from bayes_engine.models.mixture_components import Conditional
from bayes_engine.workbench.figures.contributions import BIT
from bayes_engine.workbench.figures.figure import Figure
from bayes_engine.workbench.figures.theme import EXTRA_COLOURS, INK, colour_of, ellipse, faded, sized

DRAWN = 600
"""Rows drawn at most; a larger table is sampled, for drawing only."""
SHARES = 1_000_000
"""Responsibilities a film holds at most, one byte each; a long run of many components shows fewer rows."""
SAMPLE = 2_000_003
"""Seed of that sample: none that hides labels."""
MARGIN = 0.07
"""Of a side's length, left free around the rows."""


# the film -------------------------------------------------------------------------------------------------------------


class AxisRange(NamedTuple):
    """What an axis shows."""

    low: float
    high: float


def axis_range(values: Array) -> AxisRange:
    """The range of a column with some air around it.

    >>> axis_range(np.array([0.0, 10.0, np.nan]))
    AxisRange(low=-0.7, high=10.7)
    """
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    air = MARGIN * (high - low) or max(abs(low) * MARGIN, 0.5)
    return AxisRange(round(low - air, 12), round(high + air, 12))


def drawn_rows(n: int, steps: int, k: int) -> NDArray[np.intp]:
    """The rows a film shows: all, or a sample that is the same for every run of that length.

    >>> len(drawn_rows(150, 40, 3)), len(drawn_rows(8000, 40, 3)), len(drawn_rows(8000, 300, 8))
    (150, 600, 416)
    """
    room = max(min(DRAWN, SHARES // max(steps * k, 1)), 50)
    if n <= room:
        return np.arange(n)
    return np.sort(np.random.default_rng(SAMPLE).permutation(n)[:room])


@dataclass(frozen=True, eq=False)
class ComponentEllipses:
    """The components in the plane, of every step: `means` (T, K, 2) and `covariances` (T, K, 2, 2)."""

    means: Array
    covariances: Array

    @classmethod
    def of(cls, trace: EMTrace[Any], axes: Sequence[int]) -> ComponentEllipses:
        """The mixture's components in two of its columns: of a Gaussian that is again one, the others integrated out.

        `trace` has MixtureParameters.
        """
        plane = np.ix_(axes, axes)
        thetas = [step.parameters for step in trace.steps]
        return cls(
            np.stack([t.means[:, list(axes)] for t in thetas]),
            np.stack([[c[plane] for c in t.full()] for t in thetas]),
        )


@dataclass(frozen=True, eq=False)
class Film:
    """What the player shows: the numbers of a `trace`, `shares` (T of (n, K)) of the rows drawn, `weights` (T, K), and
    where the rows stand. In a plane: `x`, `y` (n,), the two `sides` and the components' `shape`. Without one, in a
    grid, one cell a row."""

    trace: EMTrace[Any]
    shares: Sequence[Array]
    weights: Array
    x: Array | None = None
    y: Array | None = None
    sides: tuple[AxisRange, AxisRange] | None = None
    shape: ComponentEllipses | None = None

    @classmethod
    def of_mixture(
        cls, trace: EMTrace[Any], shares: Sequence[Array], x: Array, sides: tuple[AxisRange, AxisRange]
    ) -> Film:
        """A mixture's run in the plane of its first two columns; `x` (n, 2 or more) are the rows drawn."""
        weights = np.stack([step.parameters.weights for step in trace.steps])
        return cls(trace, shares, weights, x[:, 0], x[:, 1], sides, ComponentEllipses.of(trace, (0, 1)))

    @cached_property
    def head(self) -> dict[str, Any]:
        """The numbers of every step, as JSON takes them (what is not finite, or not there, is null)."""
        n, k = self.shares[0].shape
        numbers = {
            name: [_finite(getattr(step, name)) for step in self.trace.steps]
            for name in (
                "log_likelihood", "lower_bound", "q", "entropy", "log_prior", "objective", "change", "parameter_change"
            )
        }  # fmt: skip
        columns = 0 if self.x is not None else math.ceil(math.sqrt(2.0 * n))  # about twice as wide as high
        return {"T": len(self.shares), "n": n, "k": k, "grid": columns, "numbers": numbers, "hard": self.trace.hard}

    @cached_property
    def body(self) -> bytes:
        """Little-endian float32: x, y (n each; fractions of the sides from the lower left, NaN where a row has no
        place), then for every step and component π, mean x, y and the root (a, b, c) of its covariance
        [[a, 0], [b, c]], as fractions too; then a byte for each responsibility, (T, n, K)."""
        if self.x is None or self.y is None or self.sides is None or self.shape is None:
            places = np.zeros((2, len(self.shares[0])))
            forms = np.zeros((*self.weights.shape, 6))
        else:
            low = np.array([s.low for s in self.sides])
            length = np.array([s.high - s.low for s in self.sides])
            places = (np.stack([self.x, self.y]) - low[:, None]) / length[:, None]
            root = np.linalg.cholesky(self.shape.covariances / np.outer(length, length))
            means = (self.shape.means - low) / length
            forms = np.concatenate(
                [
                    np.zeros((*self.weights.shape, 1)),
                    means,
                    np.stack([root[..., 0, 0], root[..., 1, 0], root[..., 1, 1]], axis=-1),
                ],
                axis=-1,
            )
        forms[..., 0] = self.weights
        shares = np.rint(np.stack(list(self.shares)) * 255.0).astype(np.uint8)
        return places.astype("<f4").tobytes() + forms.astype("<f4").tobytes() + shares.tobytes()


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


# the figures ----------------------------------------------------------------------------------------------------------


def ends(
    reached: Sequence[float | None], names: Sequence[str], shown: int, *, bits: bool = False, dark: bool = False
) -> Figure:
    """Where each start ended, in nats or bits below the best: one mark for each of `reached` (None: it collapsed), the
    first, which is no random one, a little apart; `shown` is the position of the one that is played, −1 for none."""
    places = [run + 3.0 if run else 0.0 for run in range(len(names))]
    alive = [(run, value) for run, value in enumerate(reached) if value is not None]
    best, unit = max(value for _run, value in alive), BIT if bits else 1.0
    top = [best - value < 1e-3 * max(1.0, abs(best)) for _run, value in alive]
    figure = Figure().add_scatter(
        x=[places[run] for run, _value in alive],
        y=[(value - best) / unit for _run, value in alive],
        mode="markers",
        marker={
            "size": [15 if run == shown else 10 for run, _value in alive],
            "color": [colour_of(2 if reached_top else 1, dark) for reached_top in top],
            "line": {"width": [2.5 if run == shown else 0 for run, _value in alive], "color": INK[dark]},
            "opacity": 1,
        },
        text=[f"{names[run]}{_(': ')}{value:.5f}" for run, value in alive],
        hovertemplate="%{text}<extra></extra>",
    )
    deepest = max((best - min(value for _run, value in alive)) / unit, 1e-3)
    figure.update_layout(showlegend=False)
    figure.update_xaxes(
        tickvals=places,
        ticktext=[name if run % 2 or not run else "" for run, name in enumerate(names)],
        tickangle=0,
        showgrid=False,
        zeroline=False,
        range=[-1.6, places[-1] + 0.7],
    )
    figure.update_yaxes(nticks=5, zeroline=False, range=[-1.12 * deepest, 0.12 * deepest])
    return sized(figure, 250, left=6, right=6, top=6, bottom=6)


@dataclass(frozen=True, eq=False)
class EndState:
    """The end of a run in the plane: the rows drawn, `x`, `y` (n,), between the two `sides`, and their `shares` (n, K);
    the components' `covariances` (K, 2, 2), and the `way` (T, K, 2) of their means from the start."""

    x: Array
    y: Array
    sides: tuple[AxisRange, AxisRange]
    shares: Array
    covariances: Array
    way: Array


def end_state(end: EndState, *, dark: bool = False) -> Figure:
    """The last step of a run in the plane, small: rows by responsibility, every component at 1 and 2 standard
    deviations, and the way of its mean from the start (a ring)."""
    inks = _inks(end.shares.shape[1], dark)
    figure = Figure().add_scatter(
        x=end.x, y=end.y, mode="markers", hoverinfo="skip",
        marker={"size": 5, "color": _css(_mixed(end.shares, inks))},
    )  # fmt: skip
    for k, covariance in enumerate(end.covariances):
        colour, way = colour_of(k, dark), end.way[:, k]
        for sds, width in ((2, 1.0), (1, 2.0)):
            x, y = ellipse(way[-1], covariance, sds, 60)
            figure.add_scatter(x=x, y=y, mode="lines", line={"color": colour, "width": width}, hoverinfo="skip")
        line = {"color": colour, "width": 1.5}
        figure.add_scatter(x=way[:, 0], y=way[:, 1], mode="lines", line=line, hoverinfo="skip")
        ring = {"symbol": "circle-open", "size": 9, "color": colour, "line": {"width": 2}}
        figure.add_scatter(x=way[:1, 0], y=way[:1, 1], mode="markers", marker=ring, hoverinfo="skip")
    figure.update_layout(showlegend=False)
    figure.update_xaxes(range=list(end.sides[0]), nticks=5, zeroline=False)
    figure.update_yaxes(range=list(end.sides[1]), nticks=5, zeroline=False)
    return sized(figure, 250, left=6, right=6, top=6, bottom=6)


def criteria_by_components(table: pd.DataFrame, chosen: int, *, dark: bool = False) -> Figure:
    """BIC, AIC and ICL over K, the least of each with a full mark; `chosen` is the K in use."""
    figure = Figure()
    for i, name in enumerate(("bic", "icl", "aic")):
        values = table[name].tolist()
        least = min(values)
        colour = colour_of((0, 3, 4)[i], dark)
        figure.add_scatter(
            x=table.index.tolist(),
            y=values,
            name=name.upper(),
            mode="lines+markers",
            line={"color": colour, "width": 2, "dash": ("solid", "dash", "dot")[i]},
            marker={"size": [13 if v == least else 6 for v in values], "color": colour},
            hovertemplate="K=%{x}: %{y:.2f}<extra>" + name.upper() + "</extra>",
        )
    figure.add_vline(x=chosen, line={"width": 1, "dash": "dot", "color": INK[dark]})
    figure.update_xaxes(dtick=1, title="K", showgrid=False)
    figure.update_yaxes(nticks=6, tickformat="~r")
    return sized(figure, 300, left=10, right=10, top=34)


def held_out_by_components(table: pd.DataFrame, chosen: int, up: str, *, dark: bool = False) -> Figure:
    """The mean log p(x) of rows held out over K, with its standard error, the largest with a full mark; `chosen` is the
    K in use, `up` the axis in words."""
    values, colour = table["held_out"].tolist(), colour_of(2, dark)
    most = table["held_out"].max()
    figure = Figure().add_scatter(
        x=table.index.tolist(), y=values, mode="lines+markers", line={"color": colour, "width": 2},
        marker={"size": [13 if v == most else 6 for v in values], "color": colour},
        error_y={"array": table["held_out_error"].tolist(), "thickness": 1, "width": 3, "color": colour},
        hovertemplate="K=%{x}: %{y:.4f}<extra></extra>",
    )  # fmt: skip
    figure.add_vline(x=chosen, line={"width": 1, "dash": "dot", "color": INK[dark]})
    figure.update_xaxes(dtick=1, title="K", showgrid=False)
    figure.update_yaxes(nticks=6, title={"text": up})
    return sized(figure, 300, left=10, right=10, top=34)


def responsibility_bands(
    shares: Sequence[Array], truth: Sequence[int], names: Sequence[str], *, dark: bool = False
) -> Figure:
    """Rows whose label is hidden, a band each: their responsibilities from the start (left) to the end, as a mixture of
    the classes' colours, and behind a gap the true class. `shares` are (rows, C) of every step."""
    inks = _inks(shares[0].shape[1], dark)
    mixed = [_mixed(r, inks) for r in shares]
    wide = max(1, round(24 / len(mixed)))  # of a short run every step is several columns wide
    gap = np.full((len(truth), max(1, len(mixed) * wide // 28), 4), 0.0)
    true = np.repeat(inks[list(truth)][:, None], max(1, len(mixed) * wide // 14), axis=1)
    body = np.repeat(np.stack(mixed, axis=1), wide, axis=1)
    picture = np.concatenate([_opaque(body), gap, _opaque(true)], axis=1)
    figure = Figure().add_image(z=picture, colormodel="rgba", x0=0.0, dx=1.0 / wide, y0=0, dy=1, hoverinfo="skip")
    figure.update_yaxes(
        tickvals=list(range(len(truth))), ticktext=list(names), showgrid=False, scaleanchor=False, ticks=""
    )
    last = len(mixed) - 1
    every = max(1, math.ceil(last / 8))
    steps = [*range(0, last - every // 2, every), last] if last else [0]
    figure.update_xaxes(
        tickvals=[*(s + 0.5 - 0.5 / wide for s in steps), (picture.shape[1] - true.shape[1] / 2 - 0.5) / wide],
        ticktext=[*map(str, steps), "✓"],
        showgrid=False,
        zeroline=False,
        constrain="domain",
        ticks="",
    )
    return sized(figure, 46 + max(14 * len(truth), 90), left=10, right=10)


def only(given: Conditional, column: str) -> Conditional:
    """Of the missing cells one alone."""
    j = given.columns.index(column)
    return Conditional((column,), given.weights, given.means[:, j : j + 1], given.covariances[:, j : j + 1, j : j + 1])


def filled(
    given: Conditional, own: Array, marks: Sequence[tuple[str, float, str]], names: Sequence[str], *, dark: bool = False
) -> Figure:
    """The density of the one missing cell given the others, and its components (`names`); `own` are the column's known
    values, which set the range; `marks` are (words, value, dash) of values worth comparing."""
    column = given.columns[0]
    mean, sd = float(given.mean[0]), float(given.sd[0])
    known = own[np.isfinite(own)]
    places = [*known, mean - 4 * sd, mean + 4 * sd, *(value for _words, value, _dash in marks)]
    low, high = min(places), max(places)
    near = [m + s * np.linspace(-4, 4, 80) for m, s in zip(given.means[:, 0], given.sds[:, 0], strict=True)]
    grid = np.unique(np.concatenate([np.linspace(low, high, 300), *near]))
    grid = grid[(grid >= low) & (grid <= high)]
    whole = given.density(column, grid)
    top = float(whole.max())
    figure = Figure()
    for k, weight in enumerate(given.weights):
        if weight < 0.0005:
            continue
        part = Conditional((column,), np.ones(1), given.means[k : k + 1], given.covariances[k : k + 1])
        colour = colour_of(k, dark)
        figure.add_scatter(
            x=grid,
            y=weight * part.density(column, grid),
            mode="lines",
            name=f"{names[k]}{_(': ')}{weight:.3f}",
            line={"color": colour, "width": 1},
            fill="tozeroy",
            fillcolor=faded(colour, 0.18),
            hoverinfo="skip",
        )
    ink = {"color": INK[dark], "width": 2.5}
    figure.add_scatter(
        x=grid, y=whole, mode="lines", name="Σ", line=ink, hovertemplate="%{x:.4g}: %{y:.4g}<extra></extra>"
    )
    rug = {"symbol": "line-ns-open", "size": 9, "color": EXTRA_COLOURS[0][dark], "line": {"width": 1}}
    figure.add_scatter(
        x=known, y=np.full(len(known), -0.05 * top), mode="markers", marker=rug, showlegend=False, hoverinfo="skip"
    )
    ordered = sorted(marks, key=lambda mark: mark[1])  # the leftmost is named to its left; of the others that farther
    for i, (words, value, dash) in enumerate(ordered):  # left is higher, so that no line crosses a name
        height = top * (1.08 if i == 0 else 1.08 + 0.1 * (len(ordered) - i))
        figure.add_scatter(x=[value, value], y=[0, height], mode="lines", showlegend=False, hoverinfo="skip",
                           line={"color": INK[dark], "width": 1.6, "dash": dash})  # fmt: skip
        left = i == 0 and len(ordered) > 1
        figure.add_annotation(
            x=value,
            y=height,
            text=words,
            showarrow=False,
            xanchor="right" if left else "left",
            xshift=-5 if left else 5,
            yanchor="top",
            font={"size": 13, "color": INK[dark]},
        )
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": -0.14, "yanchor": "top"})
    air = 0.04 * (high - low)
    figure.update_xaxes(range=[low - air, high + air], zeroline=False)
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=True, ticks="")
    return sized(figure, 400, left=10, right=10, top=10)


def _inks(k: int, dark: bool) -> Array:
    """(k, 3) the classes' colours as red, green and blue, from 0 to 255."""
    return np.array([hex_to_rgb(colour_of(c, dark)) for c in range(k)], dtype=float)


def _mixed(shares: Array, inks: Array) -> Array:
    """(n, 3) colours mixed as light is, by responsibility (n, K): what the player paints too."""
    return np.asarray(np.sqrt(shares @ inks**2))


def _css(colours: Array) -> list[str]:
    """Colours (n, 3) as Plotly takes them.

    >>> _css(np.array([[0.0, 127.4, 255.0]]))
    ['rgb(0,127,255)']
    """
    return [f"rgb({r},{g},{b})" for r, g, b in np.rint(colours).astype(int).tolist()]


def _opaque(rgb: Array) -> Array:
    return np.concatenate([rgb, np.full((*rgb.shape[:2], 1), 255.0)], axis=2)
