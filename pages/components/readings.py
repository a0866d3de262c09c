"""The readings of several models side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.workbench.figures.comparison import MeasurePanel, measure_panels
from pages.components.chart import chart
from pages.runtime.state import dark

WIDTHS = (570, 430)
"""Pixels of the first three panels, and of the others, at most."""


def readings(
    models: Sequence[str],
    panels: Sequence[MeasurePanel],
    active: int,
    *,
    key: str,
    on_pick: Callable[[Mapping[str, Any]], object],
) -> None:
    """Draw the panels as two charts, a line a model, with the `active` one shaded (−1: none); `models` are escaped.
    `on_pick` as in `chart`."""
    with st.container(horizontal=True, gap="small"):  # on a phone one below the other: numbers would lie over dots
        for part, width in zip((panels[:3], panels[3:]), WIDTHS, strict=True):
            chart(
                measure_panels(models, part, active=active, dark=dark()),
                key=f"{key}_{len(part)}",
                alt=_(", ").join(panel.title for panel in part),
                on_pick=on_pick,
                width=width,
            )
