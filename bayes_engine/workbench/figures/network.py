"""Figures of a Bayesian network: the joint of two nodes as a table of shaded cells, and the score of a graph as its
search goes on. Labels come in escaped for Plotly."""

from __future__ import annotations

from collections.abc import Sequence

from bayes_engine.inference.beliefs import JointBelief
from bayes_engine.language import _
from bayes_engine.numerals import certain
from bayes_engine.structure.search_trace import SearchTrace
from bayes_engine.workbench.figures.contributions import BIT
from bayes_engine.workbench.figures.figure import Figure
from bayes_engine.workbench.figures.theme import CLASS_COLOURS, EXTRA_COLOURS, INK, SHADE, faded, sized

MARKED = 60
"""Up to so many steps of a search every one has its mark."""
ROW, PLAIN = 44, 20
"""Height of a row of cells, in pixels: with numbers in them, and without."""
WRITTEN, ABREAST = 48, 3
"""So many cells, and on a phone so many in a row, have room for their numbers; of more the darkest is the most
probable, not probability 1."""
BELIEF, SEEN = ("#5F86A6", "#7FA9CC"), ("#1F5F96", "#8CC4F2")
"""(on light, on dark) of the bars of a node that is not asked about, and of one that is observed."""


def joint_table(
    together: JointBelief, levels: Sequence[Sequence[str]], names: Sequence[str], *, dark: bool = False
) -> Figure:
    """P(a, b | e), shaded by probability; beneath each number, in brackets, the product of the margins where it is
    another. `levels` and `names` of a and of b are shown as they come; the node with more levels is read downwards."""
    if len(levels[1]) > len(levels[0]):
        together = JointBelief(together.b, together.a, together.p.T, together.of_b, together.of_a, together.information)
        levels, names = levels[::-1], names[::-1]
    product = together.of_a[:, None] * together.of_b[None, :]

    def text(p: float, alone: float) -> str:
        return certain(p) + ("" if together.independent else f"<br>({certain(alone)})")

    rows = zip(together.p.tolist(), product.tolist(), strict=True)
    texts = [[text(*pair) for pair in zip(*row, strict=True)] for row in rows]
    written = together.p.size <= WRITTEN and len(levels[1]) <= ABREAST
    across, down = (
        {
            "tickvals": list(range(len(own))),
            "ticktext": [f"{v}{gap}{certain(float(p))}" for v, p in zip(own, of, strict=True)],
        }
        for own, of, gap in ((levels[1], together.of_b, "<br>"), (levels[0], together.of_a, "  "))
    )  # by position: two long names may look the same
    tone = CLASS_COLOURS[0][dark]
    figure = Figure().add_heatmap(
        z=together.p,
        text=texts if written else None,
        texttemplate="%{text}" if written else None,
        colorscale=[[0.0, faded(tone, 0.0)], [1.0, faded(tone, SHADE[dark])]],
        zmin=0.0,
        zmax=1.0 if written else float(together.p.max()),
        xgap=2,
        ygap=2,
        showscale=False,
        customdata=[[f"{a}, {b}" for b in levels[1]] for a in levels[0]],
        hovertemplate="%{customdata}: %{z:.6g}<extra></extra>",
    )
    side = {"showgrid": False, "zeroline": False, "ticks": "", "tickmode": "array"}
    figure.update_layout(
        xaxis={**side, **across, "title": {"text": names[1]}, "side": "top"},
        yaxis={**side, **down, "title": {"text": names[0]}, "autorange": "reversed"},
    )
    return sized(figure, 90 + max((ROW if written else PLAIN) * len(levels[0]), 100))


def score_curve(
    trace: SearchTrace,
    labels: Sequence[str],
    *,
    step: int,
    best: float | None = None,
    bits: bool = False,
    dark: bool = False,
) -> Figure:
    """The score after every step in nats, or in `bits`, each with its label, the step looked at marked; `best` is the
    optimum, where it is known. A point's customdata is its step."""
    scale = 1 / BIT if bits else 1.0
    scores = [scale * score for score in (trace.start_score, *(s.score for s in trace.steps))]
    steps = list(range(len(scores)))
    colour = EXTRA_COLOURS[1][dark]  # no class has it
    figure = Figure()
    if best is not None:
        figure.add_hline(y=scale * best, line={"color": INK[dark], "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=0, xref="x domain", xanchor="left", y=scale * best, yref="y", yanchor="top", showarrow=False,
            text=_("optimum"), font={"size": 13},
        )  # fmt: skip
    figure.add_scatter(
        x=steps,
        y=scores,
        mode="lines+markers" if len(steps) <= MARKED else "lines",
        line={"color": colour, "width": 2, "shape": "hv"},
        marker={"size": 5, "color": colour},
        customdata=[[k] for k in steps],
        text=[_("the start"), *labels],
        hovertemplate="%{x}: %{text}<br>%{y:.4f}<extra></extra>",
        showlegend=False,
    )
    figure.add_scatter(
        x=[step],
        y=[scores[step]],
        mode="markers",
        marker={"size": 13, "color": colour, "line": {"width": 2, "color": INK[dark]}},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.update_xaxes(title=_("step"), rangemode="tozero", dtick=1 if len(steps) <= 14 else None)
    figure.update_yaxes(
        title=_("score, {unit}").format(unit=_("bits") if bits else _("nats")), tickformat="~f", nticks=6
    )
    return sized(figure, 230, top=14)
