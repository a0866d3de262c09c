"""How much every two attributes say of each other, as a map; and how each does as super-parent of all others.

Labels come in escaped for Plotly.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
from plotly.colors import hex_to_rgb

from bayes_engine.language import _
from bayes_engine.logspace import Array
from bayes_engine.workbench.derivation.dependence import DependenceMap
from bayes_engine.workbench.figures.comparison import MeasurePanel
from bayes_engine.workbench.figures.contributions import BIT
from bayes_engine.workbench.figures.figure import Figure, subplots
from bayes_engine.workbench.figures.theme import INK, MUTED, sized

SCALE = (("#ECE8F4", "#B7A6D6", "#7A5FA8", "#3F2A73"), ("#262231", "#4E4170", "#8A72BE", "#D8CCF6"))
"""Nothing to much, on (light, dark) ground; no class has this violet."""
EDGES = (-0.5, -0.47, -0.4, 0.4, 0.47, 0.5)
"""Of a cell: the gap, the rim, the hole, the rim, the gap."""
WIDTH = 540
"""About so many pixels stand for the cells."""
ROOMY = 9
"""Up to so many columns a cell has room for what it comes to by chance."""


def dependence_map(
    dependences: DependenceMap,
    labels: Sequence[str],
    *,
    chosen: tuple[int, int] | None,
    bits: bool = False,
    dark: bool,
) -> Figure:
    """The lower triangle of the map, the columns' names on its stairs; a cell that is not significant is hollow, and
    has what it comes to by chance in brackets where there is room. The (row, column) `chosen` is framed. A point's
    customdata are its row and column."""
    unit, name = (BIT, _("bits")) if bits else (1.0, _("nats"))
    d = len(labels)
    cell = min(max(WIDTH / d, 17.0), 62.0)
    figure = Figure()
    edges = np.concatenate([i + np.array(EDGES[:-1]) for i in range(d)] + [np.array([d - 0.5])])
    figure.add_heatmap(
        x=edges,
        y=edges,
        z=_rims(dependences) / unit,
        zmin=0.0,
        zmax=max(dependences.most, 1e-9) / unit,
        colorscale=[(k / (len(SCALE[dark]) - 1), colour) for k, colour in enumerate(SCALE[dark])],
        hoverinfo="skip",
        showscale=d > 5,
        colorbar={
            "title": {"text": name, "side": "top", "font": {"size": 13}},
            "x": 1.0,
            "xanchor": "right",
            "xref": "container",
            "y": 1.0,
            "yanchor": "top",
            "len": 0.4,
            "thickness": 10,
            "outlinewidth": 0,
            "nticks": 4,
        },
    )
    figure.add_scatter(
        x=[i - 0.45 for i in range(d)],
        y=list(range(d)),
        text=labels,
        mode="text",
        textposition="middle right",
        textfont={"size": 13, "color": INK[dark]},
        cliponaxis=False,
        hoverinfo="skip",
    )
    places = [(i, j) for i in range(d) for j in range(i) if not np.isnan(dependences.nats[i, j])]
    shown, chance = ([float(of[p]) / unit for p in places] for of in (dependences.nats, dependences.chance))
    by_chance = [_("by chance {value}").format(value=f"{v:.4f} {name}") for v in chance]
    figure.add_scatter(
        x=[j for _i, j in places],
        y=[i for i, _j in places],
        customdata=places,
        mode="markers+text" if cell >= 34 else "markers",
        marker={"symbol": "square", "size": cell - 4, "color": "rgba(0,0,0,0)"},
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        text=[
            f"{v:.3f}<br>({c:.2f})" if d <= ROOMY else f"{v:.3f}" if cell >= 48 else f"{v:.2f}"
            for v, c in zip(shown, chance, strict=True)
        ],
        textfont={"size": 13, "color": [_ink(dependences, p, dark) for p in places]},
        hovertext=[
            f"{labels[j]} – {labels[i]}<br>{v:.4f} {name}<br>{c}"
            for (i, j), v, c in zip(places, shown, by_chance, strict=True)
        ],
        hovertemplate="%{hovertext}<extra></extra>",
    )
    if chosen is not None:
        i, j = chosen
        frame = {"x0": j - 0.5, "x1": j + 0.5, "y0": i - 0.5, "y1": i + 0.5}
        figure.add_shape(type="rect", line={"color": INK[dark], "width": 2.5}, **frame)
    room = max(wide(label) - (d - 1 - i) * cell for i, label in enumerate(labels))
    figure.update_layout(showlegend=False, dragmode=False, hovermode="closest")
    figure.update_xaxes(visible=False, fixedrange=True, range=[-0.55, d - 0.45])
    figure.update_yaxes(visible=False, fixedrange=True, range=[d - 0.45, -0.55])
    return sized(figure, round(cell * d) + 16, left=4, right=round(min(max(room - cell / 2, 8), 170)))


def super_parent_scores(scores: pd.DataFrame, labels: Sequence[str], losses: MeasurePanel, *, dark: bool) -> Figure:
    """Leave-one-out accuracy and log-loss of each candidate, in the order of `scores` (`SPODE.candidate_scores_`), as
    two columns of dots, the first, which is the best, filled. `losses` are the log-losses as they are shown."""
    figure = subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.06)
    places = list(range(len(labels)))
    strong, quiet = SCALE[dark][2], MUTED["other"]
    shown = (
        (scores["accuracy"].to_list(), [f"{v:.2%}" for v in scores["accuracy"]]),
        (list(losses.values), list(losses.words)),
    )
    for col, (values, texts) in enumerate(shown, start=1):
        finite = [v for v in values if np.isfinite(v)]
        least, most = min(finite, default=0.0), max(finite, default=1.0)
        spread = (most - least) or max(abs(most), 0.1) * 0.1
        figure.add_scatter(
            x=[v if np.isfinite(v) else most + 0.25 * spread for v in values],
            y=places,
            mode="markers+text",
            text=texts,
            textposition="middle right",
            textfont={"size": 13, "color": INK[dark]},
            cliponaxis=False,
            marker={
                "opacity": 1,
                "size": [12 if i == 0 else 9 for i in places],
                "color": [strong if i == 0 else "rgba(0,0,0,0)" for i in places],
                "line": {"width": 1.6, "color": [strong if i == 0 else quiet for i in places]},
            },
            hovertext=[f"{label}<br>{text}" for label, text in zip(labels, texts, strict=True)],
            hovertemplate="%{hovertext}<extra></extra>",
            row=1,
            col=col,
        )
        figure.update_xaxes(range=[least - 0.12 * spread, most + 0.3 * spread], nticks=5, row=1, col=col)
    figure.update_xaxes(title=_("right, leaving each row out"), tickformat=".1~%", row=1, col=1)
    figure.update_xaxes(title=losses.title, row=1, col=2)
    figure.update_yaxes(
        tickvals=places,
        ticktext=[f"<b>{label}</b>" if i == 0 else label for i, label in enumerate(labels)],
        range=[len(places) - 0.5, -0.5],
        ticksuffix="  ",
        ticks="",
        zeroline=False,
        showgrid=False,
        fixedrange=True,
    )
    figure.update_xaxes(fixedrange=True)
    figure.update_layout(showlegend=False)
    return sized(figure, 64 + 26 * len(places))


def _rims(dependences: DependenceMap) -> Array:
    """(5d, 5d) every cell as 5 × 5: empty gaps, the rim, and the hole, which is filled only where it is significant."""
    d = len(dependences.names)
    rim = np.zeros((5, 5), dtype=bool)
    rim[1:4, 1:4] = True
    full = rim.copy()
    rim[2, 2] = False
    shape = np.where(dependences.significant[:, :, None, None], full, rim)
    fine = np.where(shape, dependences.nats[:, :, None, None], np.nan)
    return fine.transpose(0, 2, 1, 3).reshape(5 * d, 5 * d)


def _ink(dependences: DependenceMap, place: tuple[int, int], dark: bool) -> str:
    """What is legible on the cell: on a strong one the ink of the other ground."""
    strong = dependences.significant[place] and dependences.nats[place] > 0.5 * dependences.most
    return INK[not dark] if strong else INK[dark]


_rgb = cache(hex_to_rgb)


def tint(share: float, *, dark: bool) -> str:
    """A ground for a number, from −1 (rust) over 0 (nothing) to 1 (violet).

    >>> tint(0.5, dark=False), tint(0.0, dark=False)
    ('rgba(122,95,168,0.225)', 'rgba(122,95,168,0.000)')
    """
    red, green, blue = _rgb(SCALE[dark][2] if share >= 0 else MUTED["cost"])
    return f"rgba({red},{green},{blue},{0.45 * min(abs(share), 1.0):.3f})"


def wide(text: str) -> float:
    """About how many pixels a label takes.

    >>> wide("ab") < wide("纹理")
    True
    """
    return sum(13.5 if unicodedata.east_asian_width(c) in "WF" else 7.2 for c in text)
