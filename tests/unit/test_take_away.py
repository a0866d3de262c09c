"""A picture's file: nothing from data ends a script or a text in it, and its bytes come back as they were."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from bayes_engine.workbench.figures.decisions import grid_residuals, log_steps
from pages.components import plane  # noqa: F401 - it brings its drawing
from pages.components.live_pictures import Picture, Piece
from pages.components.take_away import MOST, About, as_json, take

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!--",
    "\u2028",
    "\ud800",
    "\u202eabc",
    "'",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_from_data_ends_nothing(text: str) -> None:
    assert json.loads(as_json([text])) == [text]
    piece = Piece("p", "bayes_plane", {"label": text})
    about = About(text, text, text, text, "", text, text)
    page = take(Picture("plane", text, text, (piece,), (text,)), about, "en").content.decode()
    body = re.sub(r"<script>.*?</script>|<style>.*?</style>", "", page, flags=re.DOTALL)
    assert len(re.findall(r"<script", body)) == len(re.findall(r"</script", body)) == 1  # that of the data
    assert "<img" not in body and "<!--" not in body
    assert json.loads(re.search(r'id="taken">(.*?)</script>', body)[1])["pieces"][0]["data"]["label"] == text  # type: ignore[index]


def test_residuals_are_of_the_same_length_and_undone_give_the_grid() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet([0.2, 1.0, 3.0], size=(7, 5))
    body = log_steps(p)
    sent = grid_residuals(body, (7, 5, 3))
    assert len(sent) == len(body)
    n = 7 * 5 * 3
    small = np.frombuffer(sent[:n], np.uint8).astype(int) * 256 + np.frombuffer(sent[n : 2 * n], np.uint8)
    residual = np.where(small % 2, -(small + 1) // 2, small // 2).reshape(3, 7, 5)
    steps = np.cumsum(np.cumsum(residual, axis=1), axis=2) & 0xFFFF
    assert np.array_equal(np.moveaxis(steps, 0, 2).ravel(), np.frombuffer(body[: 2 * n], "<u2"))


def test_rows_are_left_out_where_they_do_not_fit() -> None:
    texts = [np.random.default_rng(i).bytes(150).hex() for i in range(3000)]
    scene = json.dumps({"shape": [1, 1, 1], "points": texts, "id": "x"}).encode()
    body = len(scene).to_bytes(4, "little") + scene + bytes(3)
    pieces = (
        Piece("p", "bayes_plane", {"wrong": [1], "faded": []}),
        Piece("s", "bayes_plane_scene", body, hidden=True),
    )
    taken = take(Picture("plane", "", "", pieces, ()), About("", "", "", "", "", "", ""), "en")
    assert taken.without_rows and len(taken.content) <= MOST
    assert "The rows are left out" in taken.content.decode()
