"""What makes naive Bayes better and keeps it naive: the weight of each column, and the steps of a selection.

Labels come in escaped for Plotly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayes_engine.language import _
from bayes_engine.numerals import number
from bayes_engine.workbench.figures.figure import Figure
from bayes_engine.workbench.figures.theme import EXTRA_COLOURS, INK, sized


def weight_bars(weights: Mapping[str, float], *, largest: float | None, dark: bool = False) -> Figure:
    """The weight of each column by its label, the heaviest on top; a line at 1, where it counts as in naive Bayes."""
    ordered = sorted(weights.items(), key=lambda item: item[1])
    places = list(range(len(ordered)))
    figure = Figure().add_bar(
        x=[w for _name, w in ordered],
        y=places,
        orientation="h",
        text=[number(w, 3) for _name, w in ordered],
        textposition="outside",
        cliponaxis=False,
        marker={"color": EXTRA_COLOURS[1][dark], "line": {"width": 0}},
        hovertemplate="%{customdata}: w = %{x:.6g}<extra></extra>",
        customdata=[name for name, _w in ordered],
    )
    reach = max([1.0, largest or 0.0, *(w for _name, w in ordered)])
    figure.add_vline(x=1.0, line={"color": INK[dark], "width": 1, "dash": "dot"})
    figure.update_layout(bargap=0.35, showlegend=False)
    figure.update_xaxes(title=_("weight w"), range=[0.0, 1.12 * reach], nticks=6)
    figure.update_yaxes(tickvals=places, ticktext=[name for name, _w in ordered], automargin=True, showgrid=False,
                        ticksuffix="  ")  # fmt: skip
    return sized(figure, max(150, 46 + 24 * len(ordered)), top=6)


def selection_steps(
    labels: Sequence[str], scores: Sequence[float], refused: float | None, *, title: str, dark: bool = False
) -> Figure:
    """The score after each step of the search, by the label of what came in or went out; hollow the next one, which was
    not taken."""
    figure = Figure()
    places, colour = list(range(len(scores))), EXTRA_COLOURS[1][dark]
    figure.add_scatter(x=places, y=list(scores), mode="lines+markers", line={"color": colour, "width": 2},
                       marker={"size": 9, "color": colour}, showlegend=False,
                       hovertemplate="%{y:.6g}<extra></extra>")  # fmt: skip
    if refused is not None:
        hollow = {"size": 9, "color": EXTRA_COLOURS[0][dark], "symbol": "circle-open", "line": {"width": 2}}
        figure.add_scatter(x=[len(scores)], y=[refused], mode="markers", showlegend=False, marker=hollow,
                           hovertemplate="%{y:.6g}<extra></extra>")  # fmt: skip
    ticks = [*places, *([len(scores)] if refused is not None else [])]
    figure.update_xaxes(tickvals=ticks, ticktext=list(labels), showgrid=False, range=[-0.4, len(ticks) - 0.6],
                        automargin=True)  # fmt: skip
    figure.update_yaxes(title=title, nticks=5)
    return sized(figure, 240, top=6)
