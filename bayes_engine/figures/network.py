"""Figures of a Bayesian network: the joint of two nodes as a table of shaded cells."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from bayes_engine.figures.theme import CLASS_COLOURS, GROUND, template
from bayes_engine.inference.answer import Together
from bayes_engine.numerals import certain

ROW = 44
"""Height of a row of cells, in pixels."""
BELIEF, SEEN = ("#5F86A6", "#7FA9CC"), ("#1F5F96", "#8CC4F2")
"""(on light, on dark) of the bars of a node that is not asked about, and of one that is observed."""


def joint_table(
    found: Together, levels: Sequence[Sequence[str]], names: Sequence[str], *, dark: bool = False
) -> go.Figure:
    """P(a, b | e), shaded by probability; beneath each number, in brackets, the product of the margins where it is
    another. `levels` and `names` of a and of b are shown as they come.

    >>> import numpy as np
    >>> p = np.array([[0.72, 0.08], [0.04, 0.16]])
    >>> pair = Together("rain", "wet", p, p.sum(axis=1), p.sum(axis=0), 0.2)
    >>> joint_table(pair, [["no", "yes"], ["dry", "wet"]], ["rain", "grass"]).data[0].text[0][0]
    '0.7200<br>(0.6080)'
    """
    product = found.of_a[:, None] * found.of_b[None, :]

    def text(p: float, alone: float) -> str:
        return certain(p) + ("" if found.independent else f"<br>({certain(alone)})")

    rows = zip(found.p.tolist(), product.tolist(), strict=True)
    texts = [[text(*pair) for pair in zip(*row, strict=True)] for row in rows]
    figure = go.Figure(
        go.Heatmap(
            z=found.p,
            x=[f"{v}<br>{certain(float(p))}" for v, p in zip(levels[1], found.of_b, strict=True)],
            y=[f"{v}  {certain(float(p))}" for v, p in zip(levels[0], found.of_a, strict=True)],
            text=texts if found.p.size <= 48 else None,
            texttemplate="%{text}" if found.p.size <= 48 else None,
            colorscale=[[0.0, GROUND[dark]], [1.0, CLASS_COLOURS[0][dark]]],
            zmin=0.0,
            zmax=1.0,
            xgap=2,
            ygap=2,
            showscale=False,
            hovertemplate="%{y}, %{x}: %{z:.6g}<extra></extra>",
        )
    )
    side = {"showgrid": False, "ticks": "", "type": "category"}
    figure.update_layout(
        template=template(dark),
        height=90 + max(ROW * len(levels[0]), 100),
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis={**side, "title": {"text": names[1]}, "side": "top"},
        yaxis={**side, "title": {"text": names[0]}, "autorange": "reversed"},
    )
    return figure
