"""What the next question is worth: for each open one the expected fall of the risk beside its cost, and that of the
entropy."""

from __future__ import annotations

from collections.abc import Sequence

from bayes_engine.decision.ask import Question
from bayes_engine.language import _
from bayes_engine.numerals import number, signed
from bayes_engine.workbench.figures.contributions import BIT
from bayes_engine.workbench.figures.figure import Figure, subplots
from bayes_engine.workbench.figures.theme import CLASS_COLOURS, INK, MUTED, named_rows, sized


def questions(
    ranked: Sequence[Question], labels: Sequence[str], *, chosen: int = 0, bits: bool = True, dark: bool = False
) -> Figure:  # fmt: skip
    """One row a question, in the order given: the bar is the gain, the upright mark the cost, beside them the value;
    bars that pass their mark pay and are full. On the right the fall of the entropy, in bits or nats. `labels` are
    already escaped; the `chosen` one is bold (−1: none)."""
    figure = subplots(
        cols=2,
        shared_yaxes=True,
        horizontal_spacing=0.03,
        column_widths=[0.72, 0.28],
        column_titles=[_("expected fall of the risk"), _("bits") if bits else _("nats")],
    )
    information = [q.information / BIT if bits else q.information for q in ranked]
    rows = list(range(len(ranked)))
    tone = CLASS_COLOURS[2][dark]
    pays = [q.value > 0 for q in ranked]
    figure.add_bar(
        x=[q.gain for q in ranked],
        y=rows,
        orientation="h",
        marker={"color": [tone if p else MUTED["other"] for p in pays], "opacity": [1.0 if p else 0.45 for p in pays]},
        hovertext=[
            _("fall of the risk {gain}, cost {cost}, value {value}").format(
                gain=number(q.gain), cost=number(q.cost), value=signed(q.value, 4)
            )
            for q in ranked
        ],
        hovertemplate="%{hovertext}<extra></extra>",
        row=1,
        col=1,
    )
    figure.add_scatter(
        x=[q.cost for q in ranked],
        y=rows,
        mode="markers",
        marker={"symbol": "line-ns", "size": 15, "line": {"width": 2, "color": MUTED["cost"]}},
        hoverinfo="skip",
        row=1,
        col=1,
    )
    ends = [max(q.gain, q.cost, 0.0) for q in ranked]
    figure.add_scatter(
        x=ends,
        y=rows,
        mode="text",
        text=[f"  {signed(q.value, 4)}" for q in ranked],
        textposition="middle right",
        textfont={"color": INK[dark]},
        cliponaxis=False,
        hoverinfo="skip",
        row=1,
        col=1,
    )
    figure.add_bar(
        x=information,
        y=rows,
        orientation="h",
        marker={"color": MUTED["other"], "opacity": 0.6},
        text=[number(value, 3) if value >= 5e-4 else "0" for value in information],
        textposition="outside",
        cliponaxis=False,
        hoverinfo="skip",
        row=1,
        col=2,
    )
    least = min(0.0, *(q.cost for q in ranked))
    reach = max(*ends, 0.0) or 1.0
    figure.update_xaxes(range=[1.3 * least, 1.3 * reach], showgrid=False, ticks="", showticklabels=False, row=1, col=1)
    figure.update_xaxes(
        range=[0, 1.8 * (max(information) or 1.0)], showgrid=False, ticks="", showticklabels=False, row=1, col=2
    )
    named_rows(figure, labels, chosen=chosen)
    figure.update_annotations(font={"size": 13, "color": INK[dark]}, yshift=2)
    figure.update_layout(showlegend=False, bargap=0.3)
    return sized(figure, 48 + 24 * len(rows), left=4, right=4, top=28, bottom=4)
