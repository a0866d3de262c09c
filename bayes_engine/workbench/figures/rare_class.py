"""Multinomial and complement naive Bayes as one class becomes rare: recall and accuracy over its training documents,
and how large the weights of the classes are."""

from __future__ import annotations

from collections.abc import Sequence

from bayes_engine.workbench.figures.figure import Figure, subplots
from bayes_engine.workbench.figures.theme import INK, colour_of, sized
from bayes_engine.workbench.laboratory.rare_class import RareClass

MODELS = ("solid", "dash")
"""The lines of multinomial and complement naive Bayes."""


def rare_class_lines(
    study: RareClass, place: int, models: Sequence[str], titles: Sequence[str], across: str, *, dark: bool = False
) -> Figure:
    """Recall of the rare class, accuracy, and the share of the rare class's weights in those of all, ‖w_r‖/mean ‖w_c‖,
    over its training documents; the size at `place` is marked. All words are escaped already."""
    figure = subplots(rows=1, cols=3, subplot_titles=list(titles), horizontal_spacing=0.11)
    relative = study.norm[:, study.rare] / study.norm.mean(axis=1)
    panels = (study.recall.mean(axis=1), study.accuracy.mean(axis=1), relative)
    for column, values in enumerate(panels, start=1):
        for m, name in enumerate(models):
            colour = colour_of(m, dark)
            figure.add_scatter(
                x=list(study.sizes), y=values[m].tolist(), name=name, mode="lines+markers", showlegend=column == 1,
                line={"color": colour, "width": 2.4, "dash": MODELS[m]},
                marker={"color": colour, "symbol": "square" if m else "circle",
                        "size": [13 if j == place else 6 for j in range(len(study.sizes))]},
                hovertemplate=f"{name}<br>%{{x}}: %{{y:.4f}}<extra></extra>", row=1, col=column,
            )  # fmt: skip
        figure.add_vline(x=study.sizes[place], line={"color": INK[dark], "width": 1, "dash": "dot"}, row=1, col=column)
        ticks = list(study.sizes[:: 3 if len(study.sizes) > 6 else 1])
        title = {"text": across if column == 2 else ""}  # one for all three: on a phone they would meet
        figure.update_xaxes(
            type="log", tickvals=ticks, ticktext=[str(n) for n in ticks], title=title, row=1, col=column
        )
        figure.update_yaxes(nticks=6, row=1, col=column)
    figure.update_layout(legend={"orientation": "h", "y": -0.26, "x": 0})
    return sized(figure, 380, left=44, right=12, top=34, bottom=88)
