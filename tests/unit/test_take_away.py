"""A picture's file: nothing from data ends a script or a text in it, and its bytes come back as they were."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from bayes_engine.workbench.figures.decisions import grid_residuals, log_steps
from pages.components import plane  # noqa: F401 - it brings its drawing
from pages.components.component import DrawnRun, Sent
from pages.components.live_pictures import Picture, Piece, pictures
from pages.components.take_away import MOST, About, as_json, take
from pages.runtime.state import START

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


LOSSES = {"words": {"label": "losses"}, "name": "refuse"}


def drawn(besides: dict | None = None, **sent: Sent) -> list[Picture]:
    return pictures(DrawnRun("case", START, sent, {key: lambda of=of: of for key, of in (besides or {}).items()}))


def test_a_nomogram_goes_with_its_rows_and_the_editor_of_its_losses() -> None:
    """A model that moves with its calibration is fixed in the file, where nothing fits it anew."""
    data = {"fixed": False, "moves": False, "label": "nomogram"}
    besides = {"n": {"losses": LOSSES, "shares": [0.5, 0.5]}}
    for moves, said in ((False, "Points can be dragged"), (True, "No point can be moved here")):
        [one] = drawn(
            besides, n=Sent("bayes_nomogram", data | {"moves": moves}), **{"n-scene": Sent("bayes_scene", {})}
        )
        assert [piece.key for piece in one.pieces] == ["n", "n-scene", "n_losses"] and one.pieces[1].hidden
        assert one.pieces[0].data["fixed"] is moves and one.pieces[0].data["editor"] == {
            "shares": [0.5, 0.5],
            "bus": "n",
        }
        assert one.pieces[2].data["name"] is None and one.moves[0].startswith(said)


def test_a_network_goes_where_a_click_is_answered_without_the_app() -> None:
    graph = Sent("bayes_graph", {"label": "network", "clicks": ["node"]})
    assert not drawn(g=graph)  # a drawing without bars
    for tables, clicks, said in (({"rain": [0.2]}, ["node"], "A click on a state"), (None, [], "The bars stay")):
        [one] = drawn({"g": {"tables": tables, "of": "Asia", "data": "Lauritzen"}}, g=graph)
        assert one.pieces[0].data["clicks"] == clicks and one.moves[0].startswith(said)
        assert (one.name, one.of, one.data) == ("network", "Asia", "Lauritzen")


def test_known_densities_simplex_and_em_go_with_what_can_be_moved_in_a_file() -> None:
    words = {"words": {"label": "plane", "line": "line", "triangle": "triangle", "whole": "EM"}}
    for draggable, said in ((True, "The densities can be dragged"), (False, "The points are as they were saved")):
        [one] = drawn({"p": {"losses": LOSSES}}, p=Sent("bayes_laboratory", words | {"draggable": draggable}))
        assert one.moves[0].startswith(said) and one.pieces[0].data["bus"] == "p" and one.beside
    for truths, label in ((["a", "b"], "line"), (["a", "b", "c"], "triangle")):
        [one] = drawn(c=Sent("bayes_consequences", words | {"key": "k", "truths": truths}), k_losses=Sent("x", LOSSES))
        assert one.label == label and [piece.key for piece in one.pieces] == ["k_losses", "c"] and len(one.moves) == 3
    [one] = drawn(e=Sent("bayes_player", words | {"starts": True, "pick": True}), **{"e-film": Sent("bayes_film", {})})
    assert one.label == "EM" and one.pieces[0].data["starts"] is one.pieces[0].data["pick"] is False
    [one] = drawn(a=Sent("bayes_plane", {"case": {}, "alone": True, "label": "plane"}))
    assert "posterior from the axes alone" in one.moves[0] and not one.beside
