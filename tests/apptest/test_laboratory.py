"""The page Laboratory: risks against the engine and closed forms, and what each tab says."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.models.discriminative import of_numbers
from bayes_engine.numerals import number
from bayes_engine.workbench.derivation.demonstrations import climb, levels_drawn, numbers_drawn
from bayes_engine.workbench.laboratory.excess_risk import fitted_once
from bayes_engine.workbench.laboratory.rare_class import rare_class
from bayes_engine.workbench.laboratory.truth import bayes_risk
from pages.active.sandbox import SCENES, Setup, read_parts
from pages.runtime.state import START, Spec, State
from pages.views.laboratory import canvas, study
from pages.views.laboratory import setup as lab
from tests.apptest.opened import opened, showing, written
from tests.conftest import every_other, slowly
from tests.known_truths import gaussians

ROUND = ((-1.0, 0.0, 1.0, 1.0, 0.0), (1.0, 0.0, 1.0, 1.0, 0.0))
"""Two unit circles two apart: Φ(−1) under equal priors."""
SCENE = Setup(**vars(SCENES["equal"]), scene="equal", losses=((0.0, 1.0), (1.0, 0.0)), width=1.0, n=10, seed=0)


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer samples behind the bars and the curve than the page draws, which takes nearly all its time."""
    monkeypatch.setattr(study, "REPLICATES", 3)
    monkeypatch.setattr(study, "CURVE", 2)


def at(**view: Any) -> AppTest:
    return opened("laboratory", showing(State(language="en"), **view))


def said(app: AppTest) -> str:
    return "\n".join(str(m.value) for m in (*app.main.markdown, *app.main.caption))


def view(app: AppTest) -> dict[str, Any]:
    return dict(app.session_state["state"].view)


def drawn(app: AppTest) -> dict[str, Any]:
    """What the browser is sent for the plane."""
    (sent,) = [
        json.loads(e.proto.json) for e in app.main.get("bidi_component") if e.proto.component_name == "bayes_laboratory"
    ]
    return sent


# known densities ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_unit_circles_have_the_textbook_s_bayes_risk() -> None:
    app = at(lab_parts=ROUND)
    text = said(app)
    assert f"R\\* = {number(float(stats.norm.cdf(-1)))}" in text
    assert "in closed form" in text
    assert "1 − R\\* = 84.13%" in text
    assert drawn(app)["risk"] == "0.1587"


@pytest.mark.slow
def test_every_risk_of_the_sample_is_the_engine_s() -> None:
    app = at(lab_parts=ROUND, lab_n=100, lab_seed=3)
    truth = gaussians([[-1.0, 0.0], [1.0, 0.0]], [np.eye(2)] * 2, classes=["A", "B"])
    found = fitted_once(truth, of_numbers(), LossMatrix.zero_one(truth.classes), 100, 3)
    table = written(app, "classifier")
    assert table["risk of the sample shown"].tolist() == [number(r) for r in found.risks.values()]
    misfit = [float(v) for v in table["misfit R(h∞) − R*"]]
    assert max(misfit) < 1e-4  # circles: all four become the truth
    sent = drawn(app)
    assert [p[2] for p in sent["points"]] == [float(c == "B") for c in found.y]
    assert {line["label"] for line in sent["lines"]} == {"naive Bayes", "LDA", "QDA", "logistic regression"}


@pytest.mark.slow
def test_draw_again_changes_the_sample_and_neither_bayes_nor_the_mean() -> None:
    app = at(lab_parts=ROUND)
    points, table = drawn(app)["points"], written(app, "classifier")
    app.button(key="lab_again").click().run()
    assert view(app)["lab_seed"] == 1
    assert drawn(app)["points"] != points
    again = written(app, "classifier")
    assert again["mean risk"].tolist() == table["mean risk"].tolist()
    assert again["risk of the sample shown"].tolist() != table["risk of the sample shown"].tolist()


@pytest.mark.slow
def test_a_prior_and_a_loss_move_the_bayes_risk_as_the_formula_says() -> None:
    app = at(lab_parts=ROUND)
    app.slider(key="lab_prior").set_value(0.8).run()
    app.number_input(key="lab_loss_0_1").set_value(5.0).run()
    truth = gaussians([[-1.0, 0.0], [1.0, 0.0]], [np.eye(2)] * 2, [0.8, 0.2], ["A", "B"])
    loss = LossMatrix(("A", "B"), ("A", "B"), [[0, 5], [1, 0]])
    text = said(app)
    assert f"R\\* = {number(bayes_risk(truth, loss).value)}" in text
    assert "1 − R\\* is no accuracy" in text
    assert "right more often" not in text
    assert drawn(app)["loss"] == [[0.0, 5.0], [1.0, 0.0]]
    app.button(key="lab_refuse_on").click().run()
    assert view(app)["lab_losses"][2] == (0.33, 0.33)  # refusing pays below 5/6
    assert len(drawn(app)["actions"]) == 3
    app.button(key="lab_zero_one").click().run()
    assert "right more often" in said(app)


@pytest.mark.parametrize(
    "scene", [scene if scene in ("equal", "xor", "table") else slowly(scene) for scene in lab.SCENES]
)
@pytest.mark.slow
def test_every_preset_opens_and_states_how_r_star_was_found(scene: str) -> None:
    app = at(lab_scene=scene)
    text = said(app)
    assert lab.scene_lesson(scene) in text
    how = {"equal": "in closed form", "table": "summed exactly over the cells"}.get(scene, "error below")
    assert how in text
    assert len(written(app, "classifier")) == 4


@pytest.mark.slow
def test_naive_bayes_fails_where_the_presets_say() -> None:
    table = written(at(lab_scene="xor"), "classifier").set_index("classifier")["misfit R(h∞) − R*"].astype(float)
    assert table["naive Bayes"] > 0.25
    assert table["QDA"] < 0.02
    cells = written(at(lab_scene="table"), "classifier").set_index("classifier")["misfit R(h∞) − R*"].astype(float)
    assert cells["naive Bayes"] > 0.05
    assert cells["TAN"] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.slow
def test_another_scene_forgets_what_was_moved() -> None:
    app = at(lab_parts=ROUND, lab_priors=(0.9, 0.1))
    app.selectbox(key="lab_scene").set_value("three").run()
    assert view(app)["lab_parts"] == ()
    assert drawn(app)["priors"] == [0.4, 0.3, 0.3]
    app.number_input(key="lab_prior_0").set_value(0.7).run()
    assert drawn(app)["priors"] == pytest.approx([0.7, 0.15, 0.15])


@pytest.mark.slow
def test_models_are_taken_off_the_picture() -> None:
    app = at(lab_models=("qda",))
    assert [line["label"] for line in drawn(app)["lines"]] == ["QDA"]


def test_a_cell_of_the_table_is_edited() -> None:
    app = at(lab_scene="table")
    before = said(app)
    app.number_input(key="lab_cell_0_7").set_value(40.0).run()
    assert view(app)["lab_cells"][7] == 40.0
    assert said(app) != before


def test_the_learning_curve_is_drawn() -> None:
    app = at(lab_beneath="curve", lab_parts=ROUND)
    assert "infinitely many rows" in said(app)


@pytest.mark.slow
def test_points_are_drawn_and_undone_but_never_the_last_of_a_class() -> None:
    points = ((0, -1.0, 0.0), (1, 1.0, 0.0), (1, 2.0, 1.0))
    app = at(lab_scene="drawn", lab_points=points, lab_width=1.0)
    assert drawn(app)["parts"][0][2:6] == [-1.0, 0.0, 1.0, 1.0]
    app.button(key="lab_undo").click().run()
    assert view(app)["lab_points"] == points[:2]
    assert f"R\\* = {number(float(stats.norm.cdf(-1)))}" in said(app)
    assert app.button(key="lab_undo").disabled


@pytest.mark.parametrize(
    "forged",
    every_other(
        [
            {"lab_parts": ((1e9, 0.0, 1.0, 1.0, 0.0),) * 2},
            {"lab_parts": ((0.0, 0.0, 0.0, 1.0, 0.0),) * 2},
            {"lab_parts": (("x", 0.0, 1.0, 1.0, 0.0),) * 2},
            {"lab_priors": (0.0, 1.0)},
            {"lab_priors": ("a", True)},
            {"lab_losses": ((0.0,), (1.0,))},
            {"lab_losses": ((0.0, "1"), (1.0, 0.0))},
            {"lab_scene": "moon", "lab_n": 7, "lab_seed": -4},
            {"lab_scene": "drawn", "lab_points": ((0, 0.0, 0.0),)},
            {"lab_scene": "drawn", "lab_points": ((5, 0.0, 0.0), (1, 1.0, 1.0)), "lab_width": 0.0},
            {"lab_scene": "table", "lab_cells": (0.0,) * 16},
            {"lab_tab": "kitchen"},
            {"lab_tab": "rates", "lab_base": 1.0, "lab_sens": 0.0, "lab_times": 99},
            {"lab_tab": "likelihood", "lab_sd": 0.0, "lab_rows": 0},
            {"lab_tab": "likelihood", "lab_family": "multinomial", "lab_theta_a": 0.96, "lab_theta_b": 0.96},
            {"lab_tab": "underflow", "lab_d": 3, "lab_p": 0.0},
        ]
    ),
)
def test_a_forged_link_opens_a_whole_page(forged: dict[str, Any]) -> None:
    assert not at(**forged).exception


def test_what_a_browser_sends_is_checked() -> None:
    like = lab.SCENES["equal"].parts
    good = [[0.123, 0.0, 1.0, 2.0, 190], [1.0, 1.0, 0.5, 0.5, 10]]
    assert read_parts(good, like) == ((0, 1, 0.12, 0.0, 1.0, 2.0, 10), (1, 1, 1.0, 1.0, 0.5, 0.5, 10))
    for bad in (None, [], good[:1], [[True, 0, 1, 1, 0]] * 2, [[0, 0, float("nan"), 1, 0]] * 2, [[0, 0, 9, 1, 0]] * 2):
        assert read_parts(bad, like) is None


# the other tabs -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_in_a_hundred_and_a_good_test_is_still_one_in_eleven() -> None:
    app = at(lab_tab="rates")
    text = said(app)
    assert "P(ill | +) = 0.0917" in text
    assert "0.9000 × 0.0100 + 0.0900 × 0.9900 = **0.0981**" in text
    assert "98 are positive, and **9** of these are ill" in text
    legend = [trace["name"] for trace in json.loads(app.get("plotly_chart")[0].proto.spec)["data"]]
    assert legend[0].endswith(": 9")
    chinese = opened("laboratory", showing(State(language="zh"), lab_tab="rates"))
    assert json.loads(chinese.get("plotly_chart")[0].proto.spec)["data"][0]["name"].endswith("：9")
    app.button(key="lab_story_clinic").click().run()
    assert "P(ill | +) = 0.8108" in said(app)
    app.number_input(key="lab_times").set_value(2).run()
    assert "P(ill | ++) = 0.9772" in said(app)


def test_the_likelihood_says_the_closed_form_and_climbs_there() -> None:
    app = at(lab_tab="likelihood", lab_rows=10)
    rows = numbers_drawn(10, 0)
    found = climb(rows, 2.0, 1.2)
    text = said(app)
    assert f"{np.mean(rows):.4f}" in text
    assert f"{np.var(rows):.4f}" in text
    assert f"{np.var(rows, ddof=1):.4f}" in text
    assert f"log L = {found.value:.3f}".replace("-", "−") in text
    app.button(key="lab_top").click().run()
    assert view(app)["lab_mean"] == pytest.approx(np.mean(rows), abs=0.026)
    assert view(app)["lab_sd"] == pytest.approx(np.std(rows), abs=0.026)


def test_the_multinomial_s_top_is_the_share_of_the_rows() -> None:
    app = at(lab_tab="likelihood", lab_family="multinomial", lab_rows=20)
    app.button(key="lab_top").click().run()
    text = said(app)
    assert "**log L" in text
    assert "L is 100.0% of its maximum" in text
    app.slider(key="lab_theta_a").set_value(0.9).run()
    assert view(app)["lab_theta_b"] <= 0.08
    assert not app.exception


def test_a_level_without_rows_has_its_maximum_at_the_boundary_and_the_star_is_still_explained() -> None:
    assert levels_drawn(8, 29) == (6, 2, 0)
    text = said(at(lab_tab="likelihood", lab_family="multinomial", lab_rows=8, lab_row_seed=29))
    assert "n_s/θ_s − n is 10.18, −1.94, −8.00." in text  # 6/0.33 − 8, 2/0.33 − 8, 0/0.34 − 8
    assert "≤ 0 at the boundary" in text and "★ is the top along this line" in text


def test_products_vanish_and_logs_do_not() -> None:
    app = at(lab_tab="underflow")
    text = said(app)
    assert "float32 holds 0 from d = 87, float64 from d = 619" in text
    assert "no answer" in text
    assert "P(A | x) = 0.731059" in text
    app.select_slider(key="lab_d").set_value(10000).run()
    assert "P(A | x) = 0.999955" in said(app)
    app.select_slider(key="lab_d").set_value(50).run()
    assert "both still hold" in said(app)
    assert "By products: P(A | x) = 0.512497" in said(app)


def test_the_page_speaks_without_a_table() -> None:
    assert opened("laboratory", START).title[0].value


@pytest.mark.slow
def test_one_step_goes_uphill() -> None:
    app = at(lab_tab="likelihood", lab_rows=10)
    rows = numbers_drawn(10, 0)
    heights = [climb(rows, 2.0, 1.2).value]
    for _step in range(3):
        app.button(key="lab_step").click().run()
        heights.append(climb(rows, view(app)["lab_mean"], view(app)["lab_sd"]).value)
    assert heights == sorted(heights)
    assert heights[-1] > heights[0]


# smoothing ------------------------------------------------------------------------------------------------------------

CRISP = State(table="watermelon3", language="en", case=(0, 0, 2, 0, 0, 0, 0.697, 0.46))


def smoothed(app: AppTest) -> dict[str, Any]:
    """What the browser is sent for the four smoothings."""
    (sent,) = [
        json.loads(e.proto.json) for e in app.main.get("bidi_component") if e.proto.component_name == "bayes_smoothing"
    ]
    return sent


def of_rules(sent: dict[str, Any], what: str, n: float) -> list[Any]:
    return [rule[what][sent["sizes"].index(n)] for rule in sent["rules"]]


@pytest.mark.slow
def test_four_smoothings_stand_side_by_side_and_their_factors_add_up() -> None:
    app = opened("laboratory", showing(State(table="watermelon3", language="en"), lab_tab="smoothing"))
    sent = smoothed(app)
    odds = np.array(of_rules(sent, "odds", 17.0))
    assert (1 / (1 + np.exp(-odds)))[:3] == pytest.approx([0.998692, 0.997568, 0.996996], abs=1e-6)
    assert {sent["actions"][a]["label"] for a in of_rules(sent, "decision", 17.0)} == {"good"}
    table = written(app, "factor").set_index("factor")
    assert table.loc["product"].tolist()[1:4] == ["0.0524", "0.0281", "0.0256"]
    assert table.loc["stalk = curled"].tolist()[:4] == ["5/8", "0.6250", "**0.5455**", "**0.5455**"]
    assert "4 of 12 pairs: stalk | good, knock | good, texture | good, navel | good" in said(app)
    app.button(key="lab_try_zero").click().run()
    assert app.session_state["state"].case[1] == 2  # stalk = stiff
    assert smoothed(app)["rules"][0]["odds"][0] == "-"
    assert "0 of the 8 rows of good have stalk = stiff" in said(app)


@pytest.mark.slow
def test_a_link_holds_the_size_and_losses_decide_each_rule_for_itself() -> None:
    costly = replace(CRISP, losses=((0.0, 200.0), (1.0, 0.0)))  # a bad melon called good
    app = opened("laboratory", showing(costly, lab_tab="smoothing", lab_smoothed_n=100.0, lab_m=4.0))
    sent = smoothed(app)
    assert sent["n"] == 100.0
    assert of_rules(sent, "odds", 100.0)[0] == "-"
    assert of_rules(sent, "value", 100.0)[1] == pytest.approx(1 / (800 / 17 + 3))
    assert [sent["actions"][a]["label"] for a in of_rules(sent, "decision", 100.0)] == ["bad"] * 4
    assert "at n = 100 good has 47.06 rows" in said(app)
    assert "0/47.06" in written(app, "factor")["frequency"].tolist()
    app.button(key="lab_own_n").click().run()
    assert view(app)["lab_smoothed_n"] == 0.0


@pytest.mark.parametrize(
    "state",
    [
        slowly(State(table="iris")),
        slowly(State(table="three-attributes")),
        slowly(State(table="mushroom")),
        slowly(State(table="digits")),
        slowly(State(table="sms-spam")),
        State(table="watermelon2", shelf=(Spec("laplace", (), "tan"),)),
        slowly(State(table="watermelon3", shelf=(Spec("laplace", (("discretize", "mdlp"),)),), case=(None,) * 8)),
        slowly(
            State(table="watermelon3", prior=(0.9, 0.1), extra="refuse", losses=((0.0, 1.0), (1.0, 0.0), (0.1, 0.1)))
        ),
    ],
    ids=lambda state: f"{state.table}-{len(state.shelf)}{len(state.prior)}",
)
def test_the_smoothings_work_on_any_table(state: State) -> None:
    app = opened("laboratory", showing(replace(state, language="en"), lab_tab="smoothing"))
    assert len(smoothed(app)["rules"]) == 4 and not app.main.error
    assert len(written(app, "factor")) >= 2


@pytest.mark.parametrize(
    "forged",
    [
        {"lab_smoothed_n": 1e300, "lab_m": -4.0},
        slowly({"lab_smoothed_n": 1e-9, "lab_m_base": "x"}),
        slowly({"lab_smoothed_class": 99, "lab_smoothed_column": 6}),
        slowly({"lab_smoothed_class": True, "lab_smoothed_column": 10**9, "lab_m": 1000.0}),
    ],
)
def test_forged_smoothings_open_a_whole_page(forged: dict[str, Any]) -> None:
    app = opened("laboratory", showing(CRISP, lab_tab="smoothing", **forged))
    assert len(smoothed(app)["rules"]) == 4


# likelihood of a column -----------------------------------------------------------------------------------------------


def fitted(app: AppTest) -> dict[str, Any]:
    """What the browser is sent for the column."""
    (sent,) = [
        json.loads(e.proto.json) for e in app.main.get("bidi_component") if e.proto.component_name == "bayes_fitted"
    ]
    return sent


@pytest.mark.slow
def test_the_good_melons_are_stems_and_both_divisors_stand_side_by_side() -> None:
    app = opened("laboratory", showing(State(table="watermelon3", language="en"), lab_tab="fitted"))
    sent = fitted(app)
    assert len(sent["values"]) == 8 and sent["words"]["title"] == "p(density | good)"
    assert [place["at"][1] for place in sent["places"]] == pytest.approx([0.120865, 0.129211], abs=1e-6)
    assert sent["places"][1]["name"] == "divided by n − 1 (active model)"
    assert sent["asked"] == 0.697
    assert "0.9665 as likely, and σ is 6.90% larger" in said(app)
    link = showing(
        State(table="watermelon3", language="en"), lab_tab="fitted", lab_fitted_at=(6, 1, 0.5, 0.2), lab_fitted_class=1
    )
    assert fitted(opened("laboratory", link))["here"] == [0.5, 0.2]
    other = showing(link, lab_fitted_class=0)  # the place was the other class's
    assert fitted(opened("laboratory", other))["here"] != [0.5, 0.2]


@pytest.mark.slow
def test_a_level_never_seen_puts_the_top_of_the_simplex_on_the_boundary() -> None:
    link = showing(State(table="watermelon3", language="en"), lab_tab="fitted", lab_fitted_column=2)
    app = opened("laboratory", link)
    sent = fitted(app)
    assert sent["counts"] == [6, 2, 0] and sent["places"][0]["at"] == [0.75, 0.25]
    text = said(app)
    assert "The maximum lies on the boundary:** no row has crisp" in text and "Karush" in text
    app.segmented_control(key="lab_rows_from").set_value("likelihood").run()
    assert view(app)["lab_tab"] == "likelihood" and "μ = 5, σ = 2" in said(app)


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        slowly(State(table="iris"), "gaussian"),
        slowly(State(table="loan"), "gaussian"),
        (State(table="mushroom"), "simplex"),
        slowly(State(table="german-credit"), "gaussian"),
        slowly(State(table="three-attributes"), "simplex"),
        slowly(State(table="watermelon3", shelf=(Spec("laplace", (), "tan"),), case=(None,) * 8), "gaussian"),
    ],
    ids=lambda value: value.table if isinstance(value, State) else "",
)
def test_the_likelihood_works_on_any_table(state: State, kind: str) -> None:
    app = opened("laboratory", showing(replace(state, language="en"), lab_tab="fitted"))
    assert fitted(app)["kind"] == kind and not app.main.error
    if state.table == "mushroom":
        assert "others" in fitted(app)["levels"][2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "forged",
    [
        {"lab_fitted_column": 99, "lab_fitted_class": 99},
        {"lab_fitted_at": (6, 1, float(10**12), 1.0), "lab_fitted_levels": (7, 7)},
        {"lab_fitted_at": (6, 1, 0.5, 0.0)},
        {"lab_fitted_at": ("x", None, True), "lab_fitted_class": True},
        {"lab_fitted_column": 2, "lab_fitted_at": (2, 1, 0.9, 0.9)},
    ],
)
def test_a_forged_place_is_none(forged: dict[str, Any]) -> None:
    app = opened("laboratory", showing(State(table="watermelon3", language="en"), lab_tab="fitted", **forged))
    sent = fitted(app)
    assert 0 <= sent["here"][0] <= 1 and 0 < sent["here"][1] <= 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("of", "language"), [("sms-spam", "en"), ("digits", "zh"), ("sms-spam-zh", "en")])
def test_a_rare_class_is_shown_under_both_models(of: str, language: str) -> None:
    app = opened("laboratory", showing(State(language=language), lab_tab="rare", lab_rare_of=of, lab_rare_n=11))
    study = rare_class(of)  # type: ignore[arg-type]
    recall = study.recall[:, :, study.place(11)].mean(axis=1)
    said = "\n".join(m.value for m in app.markdown)
    assert f"**{recall[0]:.3f}**" in said and f"**{recall[1]:.3f}**" in said


def test_a_click_of_the_pen_adds_a_point_or_takes_one_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canvas, "pen", lambda _now: 1)
    points = ((0, 0.0, 0.0), (1, 1.0, 1.0))
    now = replace(SCENE, kind="drawn", points=points)
    for sent, then in (
        ({"x": 0.126, "y": 2}, (*points, (1, 0.13, 2.0))), ({"x": 0, "y": 0, "remove": 0}, None),
        ({"x": 0, "y": 0, "remove": 7}, (*points, (1, 0.0, 0.0))), ({"x": "0", "y": 0}, None),
        ({"x": 1e9, "y": 0}, None),
    ):  # fmt: skip
        assert canvas._with_click(now, sent) == then, sent
    assert canvas._with_click(replace(now, points=(*points, (1, 2.0, 2.0))), {"x": 0, "y": 0, "remove": 1}) == (
        (0, 0.0, 0.0), (1, 2.0, 2.0),
    )  # fmt: skip


def test_what_the_plane_takes_along_is_its_losses_and_shares() -> None:
    whole = canvas._editor(replace(SCENE, losses=((0.0, 5.0), (1.0, 0.0), (0.4, 0.4))), "plane")
    assert [one["own"] for one in whole["decisions"]] == [False, False, True]
    assert whole["loss"] == [[0.0, 5.0], [1.0, 0.0], [0.4, 0.4]] and whole["own"] == [0.5, 0.5]
    assert len(canvas._editor(SCENE, "plane")["decisions"]) == 2


def test_a_prior_or_a_loss_of_the_truth_is_set() -> None:
    three = replace(SCENE, priors=(0.5, 0.3, 0.2))
    assert dict(lab._with_prior(three, 0, START, 0.75).view)["lab_priors"] == (0.75, 0.15, 0.1)
    assert dict(lab._with_loss(SCENE, 1, 0, START, 3.5).view)["lab_losses"] == ((0.0, 1.0), (3.5, 0.0))
    assert dict(lab._with_loss(SCENE, 0, 1, START, None).view)["lab_losses"] == ((0.0, 0.0), (1.0, 0.0))
