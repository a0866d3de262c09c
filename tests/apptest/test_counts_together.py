"""Columns of counts multinomial together: on Model, One case, Compare, Classify, in links; complement of counts."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import pandas as pd
import pytest
from scipy.stats import beta
from sklearn.naive_bayes import MultinomialNB

from bayes_engine.numerals import certain, number
from pages.runtime.state import Spec, State, decode, encode
from tests.apptest.opened import listed, opened, shelf_in, showing, uploaded

TOGETHER = Spec("scikit-learn", (("discretize", "joint-multinomial"),))
DIGITS = State(table="digits", language="en", shelf=(TOGETHER,))
BASKETS = "bread,milk,beer,shop\n" + "\n".join(
    ["3,2,0,corner", "1,0,4,night", "2,2,1,corner", "0,1,5,night", "4,0,0,corner", "0,0,2,night", "1,3,0,corner"] * 4
)


def said(app: object) -> str:
    return "\n".join(e.value for e in [*app.markdown, *app.caption, *app.info, *app.warning, *app.error])  # type: ignore[attr-defined]


def with_shelf(*specs: Spec) -> State:
    return State(language="en", shelf=specs)


@pytest.mark.slow
def test_model_shows_each_columns_share_with_its_fraction_and_rows() -> None:
    app = uploaded(BASKETS.encode(), page="model", state=with_shelf(TOGETHER), column=2, knobs=True)
    shares = listed(app, "shares").set_index("column")
    assert shares.loc["beer", "θ(corner)"] == "(4+1)/(72+3) = 0.0667"
    assert shares.loc["beer", "θ(night)"] == "(44+1)/(52+3) = 0.8182"
    assert "3 columns of counts, one multinomial" in said(app) and "beer > 0" in said(app)
    assert app.selectbox(key="parameter_discretize").value == "joint-multinomial"
    assert app.selectbox(key="column_likelihood").value == "joint-multinomial"


@pytest.mark.slow
def test_the_choice_of_settings_travels_and_is_passed_over_where_there_are_no_counts() -> None:
    state = State(table="digits", language="en", shelf=(TOGETHER,))
    assert decode(encode(state)).shelf == shelf_in(state) == (TOGETHER,)  # type: ignore[union-attr]
    assert shelf_in(replace(state, table="iris")) == (Spec("scikit-learn"),)
    assert shelf_in(replace(state, shelf=(replace(TOGETHER, family="weighted"),)))[0].parameters == ()


@pytest.mark.slow
def test_one_case_is_scikit_learns_posterior_and_opens_into_the_share() -> None:
    frame = pd.read_csv(StringIO(BASKETS))
    app = uploaded(BASKETS.encode(), page="case", state=with_shelf(TOGETHER), factor=1, of=0)
    state: State = app.session_state["state"]
    case = frame.iloc[[0]][["bread", "milk", "beer"]]
    own = MultinomialNB().fit(frame[["bread", "milk", "beer"]], frame["shop"]).predict_proba(case)[0]
    assert state.shelf == (TOGETHER,)
    assert certain(own[0]) in said(app)
    assert "One multinomial of 3 columns: of all that they count in the rows of this class" in said(app)


def test_a_share_opens_into_its_rows_and_the_posterior_has_a_band() -> None:
    app = uploaded(BASKETS.encode(), page="case", state=with_shelf(TOGETHER), factor=1, of=0)
    frame = pd.read_csv(StringIO(BASKETS))
    corner = frame.loc[frame["shop"] == "corner"]
    rows = next(one.value for one in app.dataframe if "bread" in one.value and len(one.value) == len(corner))
    assert sorted(rows["bread"]) == sorted(corner["bread"]) and rows["bread"].is_monotonic_decreasing
    assert rows["counted in all 3 columns"].sum() == corner[["bread", "milk", "beer"]].to_numpy().sum()
    assert f"{4 * 10} of 72 counted, in 16 rows." in said(app)
    assert "there is no band" not in said(app) and "The log-odds of" in said(app)
    model = uploaded(BASKETS.encode(), page="model", state=with_shelf(TOGETHER), column=2)
    sure = listed(model, "estimates_table").set_index("beer")
    assert sure.loc["beer | night", "ML"] == "0.8462" and sure.loc["beer | night", "in use"] == "0.8182"
    low, high = beta.ppf([0.025, 0.975], 45, 10)
    assert sure.loc["beer | night", "95% credible"] == f"{number(low)} – {number(high)}"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["decisions", "classify", "dependence", "start", "laboratory", "hidden", "chapter"])
def test_every_page_opens_with_it(page: str) -> None:
    app = uploaded(BASKETS.encode(), page=page, state=with_shelf(TOGETHER))
    assert not app.exception


@pytest.mark.slow
@pytest.mark.parametrize(
    "view", [{"case_view": "nomogram"}, {"case_view": "ask"}, {"case_view": "decision", "margins": True}]
)
def test_every_view_of_one_case_opens_with_it(view: dict[str, object]) -> None:
    app = uploaded(BASKETS.encode(), page="case", state=with_shelf(TOGETHER), **view)
    assert not app.exception
    if view.get("case_view") == "ask":
        assert "are one multinomial: no question" in said(app)


@pytest.mark.slow
def test_complement_takes_counts_and_shows_its_weights() -> None:
    app = uploaded(BASKETS.encode(), page="model", state=with_shelf(Spec("laplace", (), "complement")))
    weights = listed(app, "shares").set_index("column")
    assert weights.loc["beer", "weight for corner"].startswith("−log₂ (44+1)/(52+3) = ")
    case = uploaded(BASKETS.encode(), page="case", state=with_shelf(Spec("laplace", (), "complement")), factor=1, of=0)
    assert "A score: minus the logarithm of the share of bread" in said(case)
    compare = uploaded(BASKETS.encode(), page="model", model_view="compare",
                       state=with_shelf(TOGETHER, Spec("laplace", (), "complement")))  # fmt: skip
    assert not compare.exception


@pytest.mark.slow
def test_the_digits_are_one_multinomial_of_pixels() -> None:
    app = opened("model", showing(DIGITS, column=20))
    assert not app.exception
    case = opened("case", DIGITS)
    assert not case.exception
