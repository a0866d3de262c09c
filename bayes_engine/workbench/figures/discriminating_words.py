"""The words that tell classes apart, as bars: how far each moves the odds of a class against the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bayes_engine.language import _
from bayes_engine.logspace import Array
from bayes_engine.numerals import signed
from bayes_engine.workbench.figures.contributions import BIT
from bayes_engine.workbench.figures.figure import Figure, subplots
from bayes_engine.workbench.figures.theme import INK, MUTED, colour_of, sized

ROW = 21
"""Height of a bar in pixels."""
ACROSS = 3
"""So many classes stand beside each other."""


class Bar(NamedTuple):
    """A word: its place in the vocabulary, the class it is drawn for, and whether it is the one looked up."""

    place: int
    k: int
    asked: bool = False


def discriminating_words(
    weight: Array,
    chosen: Sequence[Sequence[int]],
    labels: Mapping[int, str],
    hover: Mapping[int, str],
    classes: Sequence[str],
    *,
    asked: int = -1,
    bits: bool = False,
    dark: bool = False,
) -> Figure:
    """`weight` (C, V) as of `texts.weights_of_evidence`, `chosen` the places of the words of each class;
    `labels` and `hover` (by place) and `classes` are escaped already. Two classes share one axis, the first to the
    left; of more each has its own. The word `asked` for is drawn, too, with an edge. Weights come in nats and are shown
    in `bits` if so."""
    weight = weight / BIT if bits else weight
    if len(classes) == 2:
        bars = [Bar(v, k) for k in (0, 1) for v in chosen[k]]
        bars = [bar._replace(asked=bar.place == asked) for bar in bars]
        if asked >= 0 and all(bar.place != asked for bar in bars):
            bars.append(Bar(asked, int(weight[1, asked] >= 0), asked=True))
        bars.sort(key=lambda bar: float(weight[1, bar.place]))
        figure = Figure()
        values = [float(weight[1, bar.place]) for bar in bars]
        _bars(figure, bars, values, labels, hover, dark)
        towards = f"← {classes[0]}   {_('bits') if bits else _('nats')}   {classes[1]} →"
        figure.update_xaxes(title={"text": towards, "font": {"size": 13}})
        high = 64 + ROW * len(bars)
    else:
        rows = math.ceil(len(classes) / ACROSS)
        figure = subplots(rows=rows, cols=min(ACROSS, len(classes)), subplot_titles=list(classes),
                               horizontal_spacing=0.06, vertical_spacing=0.5 / rows**1.4)  # fmt: skip
        most = 1
        for k, of_class in enumerate(chosen):
            bars = [Bar(v, k, asked=v == asked) for v in of_class]
            if asked >= 0 and asked not in of_class:
                bars.append(Bar(asked, k, asked=True))
            bars.sort(key=lambda bar: -float(weight[k, bar.place]))
            most = max(most, len(bars))
            panel = (k // ACROSS + 1, k % ACROSS + 1)
            _bars(figure, bars, [float(weight[k, bar.place]) for bar in bars], labels, hover, dark, panel)
        high = rows * (52 + ROW * most) + 20
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, ticks="")
    figure.update_layout(showlegend=False, bargap=0.24, barmode="overlay")
    return sized(figure, high, left=4, right=4, top=26 if len(classes) > 2 else 4, bottom=40)


def _bars(
    figure: Figure,
    bars: Sequence[Bar],
    values: Sequence[float],
    labels: Mapping[int, str],
    hover: Mapping[int, str],
    dark: bool,
    panel: tuple[int, int] | None = None,
) -> None:
    """Bars from 0 with the word on the other side of 0 and the weight at the end; one without end is hatched."""
    where = {} if panel is None else {"row": panel[0], "col": panel[1]}
    reach = max([abs(v) for v in values if math.isfinite(v)], default=0.0) or 1.0
    drawn = [v if math.isfinite(v) else math.copysign(1.15 * reach, v) for v in values]
    colours = [colour_of(bar.k, dark) if v else MUTED["other"] for bar, v in zip(bars, values, strict=True)]
    shapes = ["" if math.isfinite(v) else "/" for v in values]
    figure.add_bar(
        x=drawn, y=list(range(len(bars))), orientation="h", hovertext=[hover[bar.place] for bar in bars],
        hovertemplate="%{hovertext}<extra></extra>",
        marker={"color": colours, "pattern": {"shape": shapes, "size": 6},
                "line": {"color": INK[dark], "width": [2 if bar.asked else 0 for bar in bars]}},
        **where,
    )  # fmt: skip
    two_sided = any(v < 0 for v in drawn)
    for i, (bar, value, end) in enumerate(zip(bars, values, drawn, strict=True)):
        left = end < 0
        name = f"<b>{labels[bar.place]}</b>" if bar.asked else labels[bar.place]
        figure.add_annotation(x=0, y=i, text=name, showarrow=False, xanchor="left" if left else "right",
                              xshift=5 if left else -5, font={"size": 13}, **where)  # fmt: skip
        figure.add_annotation(x=end, y=i, text=signed(value), showarrow=False, xanchor="right" if left else "left",
                              xshift=-4 if left else 4, font={"size": 13}, opacity=0.8, **where)  # fmt: skip
    widest = max(map(abs, drawn), default=1.0)  # room for the words on the other side, and for the numbers
    room = 1.25 if panel is None else 1.5
    low = min(room * min([*drawn, 0.0]), -0.6 * widest)
    high = max(room * max([*drawn, 0.0]), 0.6 * widest if two_sided else 0.0)
    figure.update_xaxes(range=[low, high], nticks=7, zeroline=True, **where)
    figure.update_yaxes(range=[len(bars) - 0.4, -0.6], **where)
