"""Weighted and selective naive Bayes on the shelf: what they found, in the working, on every page."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import NaiveBayes, SelectiveNaiveBayes, WeightedNaiveBayes
from bayes_engine.datasets import load_dataset
from bayes_engine.models.naive_bayes import PRESETS
from pages.runtime.state import Spec, State
from tests.apptest.opened import listed, opened, showing
from tests.conftest import crossed, slowly

MELONS = State(table="watermelon3", language="en", labels="file")
WEIGHTED = replace(MELONS, shelf=(Spec("laplace", (), "weighted"),))
SELECTIVE = replace(MELONS, shelf=(Spec("laplace", (), "selective"),))


def said(app: AppTest) -> str:
    return "\n".join(e.value for e in [*app.markdown, *app.caption, *app.info, *app.warning, *app.error])


def weighted(**parameters: object) -> WeightedNaiveBayes:
    melons = load_dataset("watermelon3")
    model = WeightedNaiveBayes(NaiveBayes(schema=melons.schema, **PRESETS["laplace"]), **parameters)  # type: ignore[arg-type]
    return model.fit(melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"])


@pytest.mark.slow
def test_the_weights_are_the_engines_and_what_they_gain_is_said() -> None:
    app = opened("model", WEIGHTED)
    model = weighted()
    told = said(app)
    first, last = (loss / math.log(2) for loss in (model.trace_[0], model.trace_[-1]))
    assert f"falls from **{first:.4f}** (w = 1) to **{last:.4f}** bits" in told
    gone = [name for name, w in model.weights_.items() if w == 0]
    assert f"Without influence ({len(gone)})" in told
    assert "is a score, not a probability" in told
    assert "Weights: 8 more, one a column" in told


@pytest.mark.slow
def test_its_parameters_are_its_own_and_naive_bayess() -> None:
    app = opened("model", showing(WEIGHTED, knobs=True))
    app.selectbox(key="parameter_objective").set_value("mse").run()
    model = weighted(objective="mse")
    assert f"to **{model.trace_[-1]:.4f}**" in said(app)
    app.selectbox(key="parameter_largest").set_value("").run()
    assert dict(app.session_state["state"].shelf[0].parameters) == {"objective": "mse", "largest": None}
    app.selectbox(key="parameter_discretize").set_value("mdlp").run()
    assert dict(app.session_state["state"].shelf[0].parameters)["discretize"] == "mdlp"
    app.segmented_control(key="preset").set_value("scikit-learn").run()
    assert app.session_state["state"].shelf[0] == Spec(
        "scikit-learn", (("largest", None), ("objective", "mse")), "weighted"
    )


@pytest.mark.slow
def test_the_working_of_a_weighted_model_adds_up_to_its_prediction() -> None:
    app = opened("case", WEIGHTED)
    model, melons = weighted(), load_dataset("watermelon3")
    X = melons.frame[list(melons.schema.features.names)]
    w = model.weights_["脐部"]
    label = app.button(key="factor_5_0").label
    assert label.startswith(f"((5+1)/(8+3))^{w:.6g}")
    assert float(label.split(" = ")[-1]) == pytest.approx((6 / 11) ** w, abs=5e-5)
    product = np.prod([float(app.button(key=f"factor_{i}_0").label.split(" = ")[-1]) for i in range(9)])
    scores = next(m.value for m in app.markdown if m.value.startswith("**0.") and len(m.value) < 16)
    assert float(scores.strip("*")) == pytest.approx(product, rel=1e-3)
    posterior = model.predict_proba(X.iloc[[0]])[0][list(model.classes_).index("是")]
    assert any(m.value == f"**{posterior:.6f}**" for m in app.markdown)
    assert any(m.value == "**score**" for m in app.markdown)
    assert "Each bar is wⱼ" in said(app).replace("w_j", "wⱼ")


def test_a_zero_is_refused_with_the_way_out_and_can_be_turned_back() -> None:
    app = opened("model", showing(replace(MELONS, shelf=(Spec("textbook", (), "weighted"),)), knobs=True))
    assert any("0 to the power of any weight" in e.value for e in app.error)
    app.segmented_control(key="preset").set_value("laplace").run()
    assert not app.error


@pytest.mark.slow
def test_the_steps_of_a_selection_and_the_column_left_out() -> None:
    app = opened("model", showing(SELECTIVE, column=0))
    melons = load_dataset("watermelon3")
    model = SelectiveNaiveBayes(NaiveBayes(schema=melons.schema, **PRESETS["laplace"]))
    model.fit(melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"])
    steps = next(d.value for d in app.dataframe if "step" in d.value.columns)
    assert steps["score"].tolist() == [f"{step.score:.4f}" for step in model.selection_.trace]
    assert steps["step"].tolist() == ["none", *(f"+ {s.column}" for s in model.selection_.trace[1:])]
    told = said(app)
    assert f"Kept {len(model.kept_)} of 8 columns" in told
    assert "The selection left this column out" in told
    columns = listed(app, "column_list")
    assert dict(zip(columns["column"], columns["kept"], strict=True))["色泽"] == "–"
    assert (columns["kept"] == "✓").sum() == len(model.kept_)


def test_backward_by_log_loss_and_by_risk_under_the_losses_of_then() -> None:
    app = opened("model", showing(replace(SELECTIVE, losses=((0.0, 1.0), (5.0, 0.0))), knobs=True))
    app.selectbox(key="parameter_direction").set_value("backward").run()
    app.selectbox(key="parameter_selected_by").set_value("log_loss").run()
    assert dict(app.session_state["state"].shelf[0].parameters) == {"criterion": "log_loss", "direction": "backward"}
    app.selectbox(key="parameter_selected_by").set_value("risk").run()
    assert not app.exception
    assert dict(app.session_state["state"].shelf[0].parameters)["criterion"] == ("risk", ((0.0, 1.0), (5.0, 0.0)))
    assert any("risk, left out" in d.value.columns or "score" in d.value.columns for d in app.dataframe)


@pytest.mark.slow
def test_left_out_columns_say_so_in_the_working() -> None:
    app = opened("case", SELECTIVE)
    melons = load_dataset("watermelon3")
    model = SelectiveNaiveBayes(NaiveBayes(schema=melons.schema, **PRESETS["laplace"]))
    model.fit(melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"])
    gone = 8 - len(model.kept_)
    assert sum(c.value == "left out by the selection: it has no factor" for c in app.caption) == gone > 0


@pytest.mark.parametrize(
    ("page", "state"), crossed(["start", "case", "decisions", "classify", "dependence"], [WEIGHTED, SELECTIVE])
)
@pytest.mark.slow
def test_every_page_takes_them(page: str, state: State) -> None:
    app = opened(page, state)
    assert not app.error


@pytest.mark.parametrize("view", ["ways", slowly("compare")])
def test_they_are_compared_and_learn_and_forget(view: str) -> None:
    state = replace(MELONS, shelf=(Spec("laplace"), Spec("laplace", (), "weighted"), Spec("laplace", (), "selective")))
    app = opened("model", showing(replace(state, active=1), model_view=view))
    assert not app.error


@pytest.mark.parametrize(
    ("state", "view"),
    crossed([WEIGHTED, SELECTIVE], [{"exercise": 3}, {"fill": True}, {"digits": "hand"}, {"case_view": "ask"}]),
)
def test_they_are_exercised_filled_in_and_asked(state: State, view: dict[str, object]) -> None:
    assert not opened("case", showing(state, **view)).error
