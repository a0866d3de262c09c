"""Accuracy on rows held out as more and more labels are seen: by the labelled rows alone, and by EM on all."""

from __future__ import annotations

import numpy as np

from bayes_engine.models.labelled_curve import LabelledCurve
from bayes_engine.workbench.figures.figure import Figure
from bayes_engine.workbench.figures.theme import colour_of, sized


def labelled_curve(curve: LabelledCurve, alone: str, em: str, across: str, up: str, *, dark: bool = False) -> Figure:
    """Means over the splits with their standard errors, the number of labels on a logarithmic axis; the four words are
    escaped already."""
    figure = Figure()
    for k, (name, values) in enumerate(((alone, curve.supervised), (em, curve.em))):
        colour = colour_of(k, dark)
        known = np.maximum((~np.isnan(values)).sum(axis=0), 1)
        mean = np.nansum(values, axis=0) / known
        spread = np.sqrt(np.nansum((values - mean) ** 2, axis=0) / np.maximum(known - 1, 1) / known)
        figure.add_scatter(
            x=list(curve.labels), y=mean.tolist(), name=name, mode="lines+markers",
            line={"color": colour, "width": 2, "dash": "solid" if k else "dot"},
            marker={"size": 8, "symbol": "circle" if k else "square", "color": colour},
            error_y={"array": spread.tolist(), "thickness": 1, "width": 3, "color": colour},
            hovertemplate=f"{name}<br>%{{x}}: %{{y:.4f}}<extra></extra>",
        )  # fmt: skip
    ticks = list(curve.labels)
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{n:,}" for n in ticks], title={"text": across})
    figure.update_yaxes(title={"text": up}, tickformat=".2f")
    figure.update_layout(legend={"orientation": "h", "y": 1.12, "x": 0})
    return sized(figure, 340, left=60, right=12, top=34, bottom=56)
