"""Figures as plain dictionaries: what they send is what Plotly's own figures would, and Plotly can check it."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from bayes_engine.workbench.figures.figure import Figure, subplots
from bayes_engine.workbench.figures.theme import template

GRIDS: tuple[dict[str, Any], ...] = (
    {"cols": 3, "shared_yaxes": True, "horizontal_spacing": 0.02, "column_titles": ["a", "b", "c"]},
    {"rows": 2, "cols": 1, "shared_xaxes": True, "vertical_spacing": 0.03, "row_heights": [0.8, 0.2]},
    {"cols": 3, "column_widths": [0.2, 0.3, 0.5], "specs": [[{}, None, {}]]},
)


def drawn(figure: Any) -> Any:
    """What is sent to the browser, but for Plotly's own template."""
    sent = json.loads(json.dumps(figure.to_dict(), default=lambda array: array.tolist()))
    sent["layout"].pop("template", None)
    return sent


def built(figure: Any, panel: dict[str, int]) -> Any:
    """The same figure by ours and by Plotly's methods."""
    figure.add_scatter(x=np.array([1.0, 2.0]), y=[3, None], name=None, line={"width": 2, "color": "red"}, **panel)
    figure.add_bar(x=[1], y=[2.5], error_y={"array": np.array([0.5])}, **panel)
    figure.add_vline(x=1.5, line={"width": 1}, **panel)
    figure.add_annotation(x=1, y=2, text="a", **panel)
    figure.update_annotations(font={"size": 13})
    figure.update_xaxes(title={"text": "x"}, nticks=5)
    figure.update_yaxes(range=[0, 1], **panel)
    figure.update_layout(showlegend=False, legend={"x": 0, "y": 1}, title="all")
    figure.update_layout(legend={"y": 2})
    return figure


@pytest.mark.parametrize("grid", GRIDS)
def test_a_figure_of_panels_is_sent_as_plotlys_is(grid: dict[str, Any]) -> None:
    panel = {"row": grid.get("rows", 1), "col": grid.get("cols", 1)}
    ours, theirs = built(subplots(**grid), panel), built(make_subplots(**grid), panel)
    assert drawn(ours) == drawn(theirs) == drawn(ours.checked())


def test_a_figure_of_one_panel_is_sent_as_plotlys_is() -> None:
    ours, theirs = (built(figure, {}).add_hline(y=0.5, line={"dash": "dot"}) for figure in (Figure(), go.Figure()))
    assert drawn(ours) == drawn(theirs) == drawn(ours.checked())


def test_numbers_of_an_array_are_sent_to_the_last_digit() -> None:
    table = np.random.default_rng(0).normal(size=(3, 4))
    sent = Figure().add_heatmap(z=table.T, customdata=[[1, 2]]).to_dict()["data"][0]
    assert sent["z"]["shape"] == "4, 3" and sent["customdata"] == [[1, 2]]
    assert np.array_equal(np.frombuffer(b64decode(sent["z"]["bdata"])).reshape(4, 3), table.T)
    assert Figure().add_bar(x=np.arange(2), y=np.array([])).to_dict()["data"] == [{"type": "bar", "x": [0, 1], "y": []}]


@pytest.mark.parametrize("wrong", [{"widht": 2}, {"opacity": 3}, {"mode": "points"}])
def test_plotly_refuses_what_it_does_not_know(wrong: dict[str, Any]) -> None:
    figure = Figure().add_scatter(x=[1], y=[1], **wrong)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        figure.checked()


@pytest.mark.parametrize("dark", [False, True])
def test_the_template_is_one_that_plotly_knows(dark: bool) -> None:
    known = Figure().update_layout(template=template(dark)).checked().layout.template
    assert known.layout.font.size == 13
    assert known.data.scatter[0].cliponaxis is False  # a marker at the edge is whole
    assert known.data.heatmap[0].textfont.size == 13  # however narrow its cell
