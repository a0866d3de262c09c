"""The Python half of the drawing surface: what is sent, and what is believed of what comes back."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from bayes_engine.decision.loss import LossMatrix, decide
from bayes_engine.errors import ParameterError
from pages.components import regions
from pages.components.plane import (  # fmt: skip
    Case,
    PlaneView,
    Points,
    Side,
    action_inks,
    class_inks,
    live_part,
    read_moved,
    read_picked,
    scene_bytes,
)
from pages.runtime.state import State
from tests.apptest.opened import opened, sent_to

DENSITY, SUGAR = Side("density", 0.2, 0.8), Side("sugar", 0.0, 0.5)
TEXTURE = Side("texture", levels=("clear", "blurry"))


def view(posterior: np.ndarray, **changes: object) -> PlaneView:
    classes = [f"c{k}" for k in range(posterior.shape[2])]
    actions = action_inks([f"judge {c}" for c in classes], range(len(classes)))
    return PlaneView(DENSITY, SUGAR, class_inks(classes), actions, posterior, 1.0 - np.eye(len(classes)), **changes)


def unpacked(scene: bytes) -> tuple[dict, np.ndarray, np.ndarray]:
    """(head, posterior, gone) as the browser reads them."""
    end = 4 + int.from_bytes(scene[:4], "little")
    assert end % 2 == 0  # a Uint16Array must begin on an even byte
    head = json.loads(scene[4:end], parse_constant=pytest.fail)
    rows, columns, classes = head["shape"]
    steps = np.frombuffer(scene, "<u2", rows * columns * classes, end).reshape(rows, columns, classes)
    gone = np.frombuffer(scene, np.uint8, offset=end + steps.nbytes).reshape(rows, columns)
    return head, np.exp(-head["nats"] / 65535 * steps.astype(float)), gone


def random_posterior(seed: int, shape: tuple[int, int, int] = (6, 7, 3)) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(shape[2], 0.2), shape[:2])


@given(st.integers(0, 10**6))
def test_the_browser_gets_every_posterior_to_a_few_parts_in_ten_thousand(seed: int) -> None:
    posterior = random_posterior(seed)
    sent = unpacked(scene_bytes(view(posterior), "k")[1])[1]
    likely = posterior > 1e-12
    assert np.allclose(sent[likely], posterior[likely], rtol=3e-4, atol=0)
    assert sent[~likely].max(initial=0.0) < 2e-12


@given(st.integers(0, 10**6), st.floats(0.01, 1000.0))
def test_what_is_sent_decides_as_the_engine_does(seed: int, dear: float) -> None:
    posterior = random_posterior(seed).reshape(-1, 3)
    loss = LossMatrix.zero_one(("a", "b", "c"))
    table = loss.table.copy()
    table[0, 1] = dear
    loss = LossMatrix(loss.actions, loss.classes, table)
    engine = decide(posterior, loss)
    sent = unpacked(scene_bytes(view(posterior.reshape(6, 7, 3)), "k")[1])[1].reshape(-1, 3)
    clear = engine.gap > 1e-3 * engine.risk
    assert (loss.risk(sent).argmin(axis=1) == engine.position)[clear].all()


def test_cells_without_a_posterior_are_marked() -> None:
    posterior = random_posterior(0)
    posterior[0, 0] = 0.0
    possible = np.ones((6, 7), dtype=bool)
    possible[5, 6] = False
    gone = unpacked(scene_bytes(view(posterior, possible=possible), "k")[1])[2]
    assert [tuple(cell) for cell in np.argwhere(gone)] == [(0, 0), (5, 6)]


def test_a_new_loss_or_case_leaves_the_scene_alone_and_a_new_grid_does_not() -> None:
    first = view(random_posterior(1))
    same = replace(first, loss=first.loss * 3, case=Case(0.5, 0.2, "case"), shift=(0.1, 0.0, 0.0))
    assert scene_bytes(first, "k") == scene_bytes(same, "k")
    assert scene_bytes(first, "k")[0] != scene_bytes(replace(first, posterior=random_posterior(2)), "k")[0]


def test_the_scene_of_a_200_by_200_grid_with_5_classes_is_small() -> None:
    assert len(scene_bytes(view(random_posterior(0, (200, 200, 5))), "k")[1]) < 450_000


def live(shown: PlaneView) -> dict:
    return json.loads(json.dumps(live_part(shown, "k", "digest", height=400, seen=0), allow_nan=False))


def test_a_decision_that_costs_more_than_the_best_is_ringed() -> None:
    """Judged for another class, or refused at a price; not a row whose class is not known."""
    actions = action_inks(["judge bad", "judge good", "refuse"], [0, 1, None])
    points = Points([0.3] * 5, [0.1] * 5, [0, 0, 1, 1, -1], [0, 1, 2, -1, 0], range(5), ["row"] * 5)
    shown = PlaneView(DENSITY, SUGAR, class_inks(["bad", "good"]), actions, random_posterior(0, (4, 4, 2)),
                      np.array([[0, 1], [1, 0], [0.2, 0.2]]), points=points)  # fmt: skip
    assert live(shown)["wrong"] == [1, 2]
    free = replace(shown, loss=np.array([[0, 1], [1, 0], [0, 0]]))
    assert live(free)["wrong"] == [1]


def test_ties_go_to_classes_first_and_by_their_order() -> None:
    actions = action_inks(["ask", "second", "first", "abstain"], [None, 1, 0, None])
    shown = PlaneView(DENSITY, SUGAR, class_inks(["a", "b"]), actions, random_posterior(0, (4, 4, 2)), np.zeros((4, 2)))
    assert live(shown)["order"] == [2, 1, 3, 0]


def test_infinite_shifts_and_missing_places_are_still_json() -> None:
    points = Points([float("nan"), 0.3], [0.1, float("inf")], [0, 1], [0, 1], [4, 5], ["a", "b"])
    shown = view(random_posterior(0), shift=np.array([-np.inf, 0.0, 1.0]), points=points)
    assert live(shown)["shift"] == [-700.0, 0.0, 1.0]
    head = unpacked(scene_bytes(shown, "k")[1])[0]
    assert (head["points"]["x"], head["points"]["y"]) == ([None, 0.3], [0.1, None])


def test_text_from_data_is_cleaned_but_keeps_its_lines() -> None:
    points = Points([0.3], [0.1], [0], [0], [0], ["row 1\nwas\u202eevil <b>"])
    inks = class_inks(["a\u202eb", "c", "d"])
    shown = replace(view(random_posterior(0)), points=points, classes=inks, label="x\x00y")
    assert unpacked(scene_bytes(shown, "k")[1])[0]["points"]["text"] == ["row 1\nwas evil <b>"]
    assert live(shown)["classes"][0]["label"] == "a b"
    assert live(shown)["label"] == "x y"


def test_the_case_is_put_onto_the_sides() -> None:
    shown = replace(view(random_posterior(0)), case=Case(7.0, -1.0, "case"))
    assert (live(shown)["case"]["x"], live(shown)["case"]["y"]) == (0.8, 0.0)


@pytest.mark.parametrize("changes", [
    {"loss": np.zeros((2, 2))}, {"posterior": random_posterior(0, (6, 7, 2))}, {"posterior": random_posterior(0)[0]},
    {"x": TEXTURE}, {"y": None},
])  # fmt: skip
def test_shapes_that_do_not_fit_are_refused(changes: dict) -> None:
    with pytest.raises(ParameterError, match="do not fit 3 actions, 3 classes"):
        scene_bytes(replace(view(random_posterior(0)), **changes), "k")


@pytest.mark.parametrize("value", [
    {}, {"x": 0.5}, {"x": "0.5", "y": 0.1}, {"x": float("nan"), "y": 0.1}, {"x": 0.5, "y": True},
    {"x": 0.5, "y": float("inf")}, {"x": [0.5], "y": 0.1},
])  # fmt: skip
def test_a_move_that_is_none_is_ignored(value: dict[str, object]) -> None:
    assert read_moved(value, DENSITY, SUGAR) is None


def test_a_move_ends_on_the_sides() -> None:
    assert read_moved({"x": 9, "y": -9}, DENSITY, SUGAR) == (0.8, 0.0)
    assert read_moved({"x": 5.4, "y": 0.3}, TEXTURE, None) == (1.0, 0.0)


@pytest.mark.parametrize(("value", "row"), [(3, 3), (4, None), (True, None), ("3", None), (None, None), ([3], None)])
def test_only_a_row_that_was_drawn_can_be_picked(value: object, row: int | None) -> None:
    assert read_picked(value, frozenset({1, 3})) == row


def _page() -> None:
    import numpy as np

    from pages.components.plane import Case, PlaneView, Side, action_inks, class_inks, plane

    sides = Side("density", 0.2, 0.8), Side("sugar", 0.0, 0.5)
    inks = class_inks(["bad", "good"]), action_inks(["bad", "good"], [0, 1])
    shown = PlaneView(*sides, *inks, np.full((4, 5, 2), 0.5), 1 - np.eye(2), case=Case(0.5, 0.2, "case"))
    plane(shown, key="regions")


def test_it_stands_on_a_page() -> None:
    page = AppTest.from_function(_page).run()
    assert not page.exception
    assert sent_to(page, "bayes_plane")["case"] == {"x": 0.5, "y": 0.2, "label": "case", "posterior": []}


@pytest.mark.slow
def test_a_loss_or_a_prior_packs_no_scene_anew_and_another_language_does(monkeypatch: pytest.MonkeyPatch) -> None:
    packed: list[str] = []

    def counted(view: PlaneView, key: str) -> tuple[str, bytes]:
        assert view.points is not None
        packed.append(view.points.text[0])
        return scene_bytes(view, key)

    monkeypatch.setattr(regions, "scene_bytes", counted)
    state = State(table="play-tennis", language="en", case=(1, 2, 1, 1))
    first = sent_to(opened("decisions", state), "bayes_plane")
    del packed[:]
    dear = sent_to(opened("decisions", replace(state, losses=((0, 9), (1, 0)), prior=(0.5, 0.5))), "bayes_plane")
    assert packed == [] and dear["scene"] == first["scene"] and dear["wrong"] != first["wrong"]
    chinese = sent_to(opened("decisions", replace(state, language="zh")), "bayes_plane")
    named = sent_to(opened("decisions", replace(state, language="zh", labels="file")), "bayes_plane")
    assert len({first["scene"], chinese["scene"], named["scene"]}) == 3 and len(set(packed)) == 2
