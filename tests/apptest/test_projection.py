"""The page Projection: the textbook's direction, the angle that comes back, and what stands below the line."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import load_dataset
from bayes_engine.decision.two_gaussians import boundaries, two_gaussians
from bayes_engine.models.projection import numeric_rows, pooled_analysis, project
from bayes_engine.models.transformed_naive_bayes import transformed_naive_bayes
from bayes_engine.numerals import number
from bayes_engine.progress import watched
from bayes_engine.table.roles import take_apart
from pages.active.projected import classes_in_use
from pages.runtime import view_keys as keys
from pages.runtime.state import State
from pages.views.projection import discriminants
from pages.views.projection.equivalence import SCENES
from pages.views.projection.projection import read_angle
from tests.apptest.opened import opened
from tests.conftest import slowly

MELONS, IRIS = State(table="watermelon3a", language="en"), State(table="iris", language="en")


def shown(state: State, **view: Any) -> State:
    return replace(state, view=tuple(sorted(view.items())))


def said(app: AppTest) -> str:
    return "\n".join(str(m.value) for m in (*app.main.markdown, *app.main.caption))


def view(app: AppTest) -> dict[str, Any]:
    return dict(app.session_state["state"].view)


def drawn(app: AppTest) -> dict[str, Any]:
    """What the browser is sent for the line."""
    elements = [e.proto for e in app.main.get("bidi_component")]
    (sent,) = [json.loads(e.json) for e in elements if e.component_name == "bayes_projection"]
    return sent


def rows(name: str, *columns: str) -> Any:
    data = load_dataset(name)
    parts = take_apart(data.frame, data.schema)
    return numeric_rows(parts, columns or [v.name for v in parts.schema.features if v.numeric])


# the line -------------------------------------------------------------------------------------------------------------


def test_the_melons_stand_on_the_textbook_s_line() -> None:
    app = opened("projection", MELONS)
    text = said(app)
    assert "w ∝ (−0.14650982, −0.73871557)" in text and "right on **12 of 17** rows (70.6%)" in text
    assert "J = 0.4378" in text and "rank 1" in text and "S_w$ is within" in text
    assert app.segmented_control(key="line").value == "fisher"


@pytest.mark.slow
def test_the_browser_gets_what_it_turns() -> None:
    found, sent = project(rows("watermelon3a")), drawn(opened("projection", MELONS))
    assert len(sent["points"]) == 17 and [c["label"] for c in sent["classes"]] == ["good", "bad"]
    assert sent["angle"] == sent["best"] == pytest.approx(found.fisher)
    assert sent["within"] == found.within.tolist() and sent["between"] == found.between.tolist()
    assert [d["label"] for d in sent["directions"]] == ["Fisher direction = LDA direction", "PCA"]
    flowers = drawn(opened("projection", shown(IRIS, line="free", angle=41.5)))
    assert len(flowers["directions"]) == 3 and flowers["angle"] == 41.5
    units = drawn(opened("projection", shown(IRIS, line_units=True)))
    assert units["scale"] == pytest.approx(
        project(rows("iris", "sepal length", "sepal width"), standardized=True).scale
    )


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["pca", "lda"])
def test_a_direction_by_name_turns_the_line(direction: str) -> None:
    app = opened("projection", MELONS)
    app.segmented_control(key="line").set_value(direction).run()
    assert not app.exception and view(app)["line"] == direction
    found = project(rows("watermelon3a"))
    here = found.along(getattr(found, direction))
    assert f"At {getattr(found, direction):.1f}°: J = {here.J:.4f}, right on {here.right:g} of 17." in said(app)


def test_a_link_holds_any_angle_and_a_forged_one_does_no_harm() -> None:
    app = opened("projection", shown(MELONS, line="free", angle=30.0))
    here = project(rows("watermelon3a")).along(30.0)
    assert f"At 30.0°: J = {here.J:.4f}, right on {here.right:g} of 17." in said(app)
    assert app.segmented_control(key="line").value is None
    forged = opened("projection", shown(MELONS, line="sideways", angle="steep", line_x=99, line_y=0, section=7))
    assert "At 0.0°" in said(forged)


def test_what_a_browser_may_send_as_an_angle() -> None:
    assert [read_angle(v) for v in (12.5, 180, -10, None, True, "1", float("inf"), [1])] == [12.5, 0, 170] + [None] * 5


def test_columns_of_the_line_change_places() -> None:
    app = opened("projection", IRIS)
    app.selectbox(key="line_x").set_value(1).run()  # what y shows
    assert not app.exception and (view(app)["line_x"], view(app)["line_y"]) == (1, 0)
    app.selectbox(key="line_y").set_value(3).run()
    found = project(rows("iris", "sepal width", "petal width"))
    assert f"J = {number(found.along(found.fisher).J)}." in said(app)


@pytest.mark.slow
def test_rows_with_a_missing_cell_are_left_out_and_it_is_said() -> None:
    assert "2 rows with a missing cell in these columns are left out here" in said(
        opened("projection", State(table="penguins", language="en"))
    )


@pytest.mark.parametrize(("table", "n"), [("loan", 1), ("mushroom", 0)])
def test_a_table_without_two_numbers_still_has_the_known_classes(table: str, n: int) -> None:
    app = opened("projection", State(table=table, language="en"))
    assert f"this table has {n}" in app.info[0].value and len(app.metric) == 3


# the known classes ----------------------------------------------------------------------------------------------------


def errors(app: AppTest) -> list[str]:
    return [m.value for m in app.metric]


def test_one_line_then_the_prior_splits_two_then_a_stretched_class_all() -> None:
    app = opened("projection", MELONS)
    assert len(set(errors(app))) == 1 and "the three rules are one line" in said(app)
    app.button(key="scene_prior").click().run()
    rules = boundaries(two_gaussians(2.0, (1.0, 0.5), (1.0, 0.5), SCENES["prior"]["prior"]))
    assert errors(app) == [f"{rule.error:.4%}" for rule in rules]
    assert errors(app)[0] != errors(app)[1] == errors(app)[2] and "stays optimal" in said(app)
    app.button(key="scene_stretch").click().run()
    assert errors(app)[0] == errors(app)[1] != errors(app)[2] and "still one line" in said(app)
    app.slider(key="demo_prior").set_value(0.8).run()
    assert not app.exception and len(set(errors(app))) == 3 and "three boundaries" in said(app)
    app.toggle(key="demo_unequal").set_value(False).run()
    assert errors(app)[1] == errors(app)[2]


def test_sliders_outside_their_limits_are_brought_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.active.projected.current", lambda: State(view=(("demo_lean", 5.0), ("demo_prior", 0.0))))
    classes = classes_in_use()
    assert classes.prior == 0.02 and classes.covariances[0, 0, 1] == 0.9 and set(SCENES["one"]) <= set(keys.DEMO)


# below the line -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_three_classes_on_two_directions() -> None:
    app = opened("projection", shown(IRIS, section="planes"))
    assert "**Fisher projection**  \n98.0% right" in said(app) and "**PCA**  \n86.0% right" in said(app)
    assert "show the same plane" in said(app)
    app.segmented_control(key="objective").set_value("trace-ratio").run()
    assert not app.exception and "It never falls." in said(app) and "**Fisher projection**  \n96.7% right" in said(app)
    assert "planes" not in opened("projection", MELONS).segmented_control(key="section").options


@pytest.mark.slow
@pytest.mark.parametrize("pooling", [0.35, slowly(0.0), slowly(1.0)])
def test_the_dial_from_qda_to_lda(pooling: float) -> None:
    app = opened("projection", shown(State(table="penguins", language="en"), section="dial", loss_unit="nats"))
    app.slider(key="pooling").set_value(pooling).run()
    two = pooled_analysis(rows("penguins", "bill_length_mm", "bill_depth_mm"), pooling)
    assert not app.exception
    assert [m.value for m in app.metric] == [f"{two.accuracy:.1%}", number(two.log_loss, 4)]
    app.segmented_control(key="dial_columns").set_value("all").run()
    every = pooled_analysis(rows("penguins"), pooling)
    assert [m.value for m in app.metric] == [f"{every.accuracy:.1%}", number(every.log_loss, 4)]
    app.segmented_control(key="loss_unit").set_value("percent").run()
    assert app.metric[1].label == "P(truth)" and app.metric[1].value == f"{math.exp(-every.log_loss):.1%}"
    assert "integrated out" in said(app)


def test_the_path_of_the_dial_is_computed_in_a_job_that_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def noted(*given: Any) -> Any:
        seen.append(watched())
        return pooled_analysis(*given)

    monkeypatch.setattr(discriminants, "pooled_analysis", noted)
    opened("projection", shown(State(table="penguins", language="en"), section="dial", gamma=0.137))
    assert sum(seen) == len(discriminants.PATH) and len(seen) == sum(seen) + 1  # and the one that is looked at


@pytest.mark.slow
def test_assumptions_are_tested_in_words() -> None:
    app = opened("projection", shown(IRIS, section="dial", dial_columns="all"))
    table = app.dataframe[0].value
    assert table["statistic"][0] == "χ²(20) = 140.94" and table["p"][0] == "< 0.0001"
    assert table["reading"][0] == "covariances differ: move ρ towards QDA" and table["n"].tolist() == [150] + [
        50
    ] * 6 + [150]
    melons = opened("projection", shown(MELONS, section="dial")).dataframe[0].value
    assert melons["p"][0] == "0.0608" and melons["reading"][0] == "no sign against it: LDA is enough"


def test_steps_before_naive_bayes() -> None:
    app = opened("projection", shown(State(table="wine", language="en"), section="naive", loss_unit="nats"))
    steps, _scheme = transformed_naive_bayes(rows("wine"))
    table = app.dataframe[0].value
    assert table["log_loss"].tolist() == pytest.approx([one.log_loss for one in steps.values()])
    assert table["columns"].tolist() == [13, 13, 2]
    assert "projected onto LDA's directions" in said(app) and "log-loss, nats: 0.0258 instead of 0.1008" in said(app)
