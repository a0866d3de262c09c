"""A figure as plain dictionaries, built by the names of plotly.js and sent as it is.

Plotly's own figures check every number of every property one by one and are copied before they are drawn: of a page
with three charts that was most of its time. Here nothing is checked while a page is drawn. `checked` has Plotly check
all of it, and tests call it for every figure.
"""

from __future__ import annotations

import itertools
import json
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure
from plotly.subplots import make_subplots

Properties = dict[str, Any]
Axes = tuple[str, str]
"""The axes of a panel as a trace names them: "x2", "y"."""
OF_TITLE = "text"
"""Where plotly.js keeps the words of a title, which may be given as they are."""
SENT_AS_IT_IS = frozenset({str, int, float, bool})
"""Types of most of what a figure holds, which JSON holds as well."""


class Figure(BaseFigure):  # type: ignore[misc]
    """Traces and a layout. Where a figure has panels (`subplots`), `row` and `col` say which one is meant, from 1 on.

    It is one of Plotly's figures only for `st.plotly_chart`, which takes the `to_dict` of such a one unchecked. The
    `**properties` of its methods are plotly.js's own names, hundreds of them, passed on as they are: none is read here
    but the panel's.
    """

    _panels: Mapping[tuple[int, int], Axes]

    def __init__(self) -> None:
        self._traces: list[Properties] = []
        self._drawn: Properties = {}  # the layout
        self._panels = {}

    def add_trace(self, kind: str, properties: Properties) -> Figure:
        """One more trace of a kind that plotly.js knows."""
        across, up = self._panel(properties)
        self._traces.append({"type": kind, **properties, "xaxis": across, "yaxis": up})
        return self

    def add_scatter(self, **properties: Any) -> Figure:
        return self.add_trace("scatter", properties)

    def add_bar(self, **properties: Any) -> Figure:
        return self.add_trace("bar", properties)

    def add_heatmap(self, **properties: Any) -> Figure:
        return self.add_trace("heatmap", properties)

    def add_contour(self, **properties: Any) -> Figure:
        return self.add_trace("contour", properties)

    def add_image(self, **properties: Any) -> Figure:
        return self.add_trace("image", properties)

    def add_shape(self, **properties: Any) -> Figure:
        return self._add("shapes", properties)

    def add_annotation(self, **properties: Any) -> Figure:
        return self._add("annotations", properties)

    def add_vline(self, *, x: float, line: Properties, **panel: int) -> Figure:
        """A line from below to above, in one panel where there are several."""
        across, up = self._panel(panel)
        return self.add_shape(
            type="line", line=line, x0=x, x1=x, xref=across or "x", y0=0, y1=1, yref=f"{up or 'y'} domain"
        )

    def add_hline(self, *, y: float, line: Properties) -> Figure:
        """A line from the left to the right."""
        return self.add_shape(type="line", line=line, x0=0, x1=1, xref="x domain", y0=y, y1=y, yref="y")

    def update_layout(self, **properties: Any) -> Figure:
        """Properties of the layout; of a dictionary those that are not named stay."""
        _update(self._drawn, properties)
        return self

    def update_xaxes(self, **properties: Any) -> Figure:
        """Properties of all horizontal axes, or of one panel's."""
        return self._update_axes(0, properties)

    def update_yaxes(self, **properties: Any) -> Figure:
        """Properties of all vertical axes, or of one panel's."""
        return self._update_axes(1, properties)

    def update_annotations(self, **properties: Any) -> Figure:
        """Properties of all annotations, the titles of panels among them."""
        for note in self._drawn.get("annotations", ()):
            _update(note, properties)
        return self

    def _panel(self, properties: Properties) -> tuple[str | None, str | None]:
        """The axes of the panel that is meant, and `row` and `col` taken out of the properties."""
        row, col = properties.pop("row", 0), properties.pop("col", 0)
        return self._panels[row, col] if row else (None, None)

    def _add(self, what: str, properties: Properties) -> Figure:
        across, up = self._panel(properties)
        self._drawn.setdefault(what, []).append({"xref": across, "yref": up, **properties})
        return self

    def _update_axes(self, side: int, properties: Properties) -> Figure:
        one = self._panel(properties)[side]
        names = [one] if one else [*(panel[side] for panel in self._panels.values()), "xy"[side]]
        for name in dict.fromkeys(names):
            _update(self._drawn.setdefault(f"{name[0]}axis{name[1:]}", {}), properties)
        return self

    def to_dict(self) -> Properties:
        """What plotly.js draws, ready for JSON."""
        return {"data": [_sent(trace) for trace in self._traces], "layout": _sent(self._drawn)}

    def checked(self) -> go.Figure:
        """The same as Plotly's figure, which raises ValueError where it knows a property or its value not."""
        return go.Figure({"data": self._traces, "layout": self._drawn})

    @property
    def traces(self) -> list[Properties]:
        """The traces themselves."""
        return self._traces

    @property
    def data(self) -> Any:
        """The traces, to look at."""
        return self.checked().data

    @property
    def layout(self) -> Any:
        """The layout, to look at."""
        return self.checked().layout


def subplots(**grid: Any) -> Figure:
    """A figure of panels; `grid` as of Plotly's `make_subplots`.

    >>> subplots(cols=2, column_titles=["a", "b"]).add_bar(x=[1], row=1, col=2).to_dict()["data"]
    [{'type': 'bar', 'x': [1], 'xaxis': 'x2', 'yaxis': 'y2'}]
    """
    figure = Figure()
    layout, figure._panels = _grid(json.dumps(grid))
    figure._drawn = json.loads(layout)
    return figure


@lru_cache(maxsize=256)
def _grid(grid: str) -> tuple[str, dict[tuple[int, int], Axes]]:
    """The layout of such panels, as JSON, and the axes of each."""
    made = make_subplots(**json.loads(grid))
    layout = made.to_dict()["layout"]
    layout.pop("template", None)
    options = json.loads(grid)
    places = itertools.product(range(1, options.get("rows", 1) + 1), range(1, options.get("cols", 1) + 1))
    panels = {place: panel for place in places if (panel := made.get_subplot(*place)) is not None}
    names = {place: tuple(axis.plotly_name.replace("axis", "") for axis in panel) for place, panel in panels.items()}
    return json.dumps(layout), names


def _update(old: Properties, new: Mapping[str, Any]) -> None:
    for name, value in new.items():
        if name == "title" and isinstance(value, str):
            value = {OF_TITLE: value}
        if isinstance(value, Mapping):
            if not isinstance(old.get(name), dict):
                old[name] = {}
            _update(old[name], value)
        else:
            old[name] = value


def _sent(value: Any) -> Any:
    """As JSON can hold it: what is None left out, numbers of an array as their bytes."""
    if type(value) in SENT_AS_IT_IS:
        return value
    if isinstance(value, Mapping):
        return {name: _sent(part) for name, part in value.items() if part is not None}
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict | list | tuple | np.ndarray):
        return [_sent(part) for part in value]
    return value


def _array(values: np.ndarray[Any, Any]) -> Any:
    """Numbers as plotly.js reads them fastest: the bytes, and of which type they are."""
    if values.dtype not in (np.float64, np.float32) or not values.size:
        return values.tolist()
    sent: Properties = {
        "dtype": f"f{values.itemsize}",
        "bdata": b64encode(values.tobytes()).decode("ascii"),
    }
    return sent if values.ndim == 1 else {**sent, "shape": ", ".join(map(str, values.shape))}
