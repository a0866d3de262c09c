"""Figures of a Bayesian network: the joint of two nodes as a table of shaded cells."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from bayes_engine.inference.beliefs import JointBelief
from bayes_engine.numerals import certain
from bayes_engine.workbench.figures.theme import CLASS_COLOURS, GROUND, sized, template

ROW, PLAIN = 44, 20
"""Height of a row of cells, in pixels: with numbers in them, and without."""
WRITTEN = 48
"""So many cells have room for their numbers; of more the darkest is the most probable, not probability 1."""
BELIEF, SEEN = ("#5F86A6", "#7FA9CC"), ("#1F5F96", "#8CC4F2")
"""(on light, on dark) of the bars of a node that is not asked about, and of one that is observed."""


def joint_table(
    together: JointBelief, levels: Sequence[Sequence[str]], names: Sequence[str], *, dark: bool = False
) -> go.Figure:
    """P(a, b | e), shaded by probability; beneath each number, in brackets, the product of the margins where it is
    another. `levels` and `names` of a and of b are shown as they come.

    >>> import numpy as np
    >>> p = np.array([[0.72, 0.08], [0.04, 0.16]])
    >>> pair = JointBelief("rain", "wet", p, p.sum(axis=1), p.sum(axis=0), 0.2)
    >>> joint_table(pair, [["no", "yes"], ["dry", "wet"]], ["rain", "grass"]).data[0].text[0][0]
    '0.7200<br>(0.6080)'
    """
    product = together.of_a[:, None] * together.of_b[None, :]

    def text(p: float, alone: float) -> str:
        return certain(p) + ("" if together.independent else f"<br>({certain(alone)})")

    rows = zip(together.p.tolist(), product.tolist(), strict=True)
    texts = [[text(*pair) for pair in zip(*row, strict=True)] for row in rows]
    written = together.p.size <= WRITTEN
    across, down = (
        {
            "tickvals": list(range(len(own))),
            "ticktext": [f"{v}{gap}{certain(float(p))}" for v, p in zip(own, of, strict=True)],
        }
        for own, of, gap in ((levels[1], together.of_b, "<br>"), (levels[0], together.of_a, "  "))
    )  # by position: two long names may look the same
    figure = go.Figure(
        go.Heatmap(
            z=together.p,
            text=texts if written else None,
            texttemplate="%{text}" if written else None,
            colorscale=[[0.0, GROUND[dark]], [1.0, CLASS_COLOURS[0][dark]]],
            zmin=0.0,
            zmax=1.0 if written else float(together.p.max()),
            xgap=2,
            ygap=2,
            showscale=False,
            customdata=[[f"{a}, {b}" for b in levels[1]] for a in levels[0]],
            hovertemplate="%{customdata}: %{z:.6g}<extra></extra>",
        )
    )
    side = {"showgrid": False, "zeroline": False, "ticks": "", "tickmode": "array"}
    figure.update_layout(
        template=template(dark),
        xaxis={**side, **across, "title": {"text": names[1]}, "side": "top"},
        yaxis={**side, **down, "title": {"text": names[0]}, "autorange": "reversed"},
    )
    return sized(figure, 90 + max((ROW if written else PLAIN) * len(levels[0]), 100))
