"""The page Model's view Ways of use: costs by hand, posteriors equal to the last digit shown, the file that checks
itself, and rows that go and come back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import NaiveBayes, load_dataset
from bayes_engine.progress import watched
from bayes_engine.workbench.derivation.modes_of_use import agreement
from pages.runtime.state import Spec, State
from pages.views.model.modes_of_use import comparison
from tests.apptest.opened import opened, seen, showing, uploaded
from tests.conftest import every_other

MELONS = showing(State(table="watermelon3", language="en", labels="file"), model_view="ways")
N, D, K = 17, 8, 2
ENTRIES = K + K * sum(s + 2 for s in (3, 3, 3, 3, 3, 2)) + 3 * K * 2  # six columns of levels, two Gaussians
P_GOOD = "0.998692320936"


def frame(app: AppTest, number: int) -> Any:
    return app.dataframe[number].value


def said(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.caption])


def fitted_without(rows: list[int]) -> list[float]:
    """(是, 否) of the first melon, by a NaiveBayes that never saw the rows."""
    melons = load_dataset("watermelon3")
    X, y = melons.frame[list(melons.schema.features.names)], melons.frame["好瓜"]
    model = NaiveBayes(schema=melons.schema, smoothing="none", variance="unbiased")
    keep = [i for i in range(len(X)) if i not in rows]
    model.fit(X.iloc[keep], y.iloc[keep])
    p = dict(zip(model.classes_, model.predict_proba(X.iloc[[0]])[0], strict=True))
    return [p["是"], p["否"]]


def test_the_bill_of_the_three_ways_is_the_one_by_hand() -> None:
    app = opened("model", MELONS)
    assert app.title[0].value == "When is the counting done?"
    bill = next(m.value for m in app.markdown if m.value.startswith("|"))
    everything, one = N * (D + 1), D + 1
    assert ENTRIES == 72
    assert f"| **all 17 rows come** | {everything} cells read, 72 entries estimated | nothing |" in bill
    assert f"| {everything + one} cells read, 72 entries estimated | {one} cells stored | {one} cells read, 72 " in bill
    assert (
        f"| **one prediction** | {D} look-ups, {K * D} additions | {everything} cells read, 72 entries estimated, "
        f"{K * D} additions | {D} look-ups, {K * D} additions |" in bill
    )
    assert "µs" not in bill
    app.button(key="ways_time").click().run()
    timed = next(m.value for m in app.markdown if m.value.startswith("|"))
    assert timed.count("µs**") + timed.count("ms**") == 9
    assert seen(app.session_state["state"], "timed") == 1


def test_three_ways_give_one_posterior() -> None:
    app = opened("model", MELONS)
    assert frame(app, 0).to_numpy().tolist() == [
        ["Look-up table", P_GOOD, "0.001307679064"],
        ["Lazy learning", P_GOOD, "0.001307679064"],
        ["Incremental learning", P_GOOD, "0.001307679064"],
    ]
    line = next(c.value for c in app.caption if "largest difference" in c.value)
    assert float(line.split("**")[1]) < 1e-12
    assert "have no posterior" not in line


def test_rows_without_a_posterior_are_told_of() -> None:
    """No melon is bad beforehand: one that no good melon is like is impossible, in all three ways."""
    shelf = (Spec("textbook", (("priors", (1.0, 0.0)),)),)
    impossible = (0, 0, 2, 0, 0, 0, 0.5, 0.3)  # 敲声 = 清脆, which no good melon has
    app = opened("model", replace(MELONS, shelf=shelf, case=impossible))
    melons = load_dataset("watermelon3")
    good = melons.frame[melons.frame["好瓜"] == "是"]
    discrete = [v.name for v in melons.schema.features if v.discrete]
    never = ~np.all([melons.frame[name].isin(good[name]) for name in discrete], axis=0)
    assert never.sum() > 0
    assert f"{never.sum()} rows have no posterior" in said(app)
    assert frame(app, 0)[["c0", "c1"]].to_numpy().tolist() == [["–", "–"]] * 3


def test_the_compiled_table_filters_by_column_and_the_file_checks_itself() -> None:
    app = opened("model", MELONS)
    whole = frame(app, 1)
    assert len(whole) == ENTRIES - 12  # the Gaussians stand apart
    assert len(frame(app, 2)) == 4
    assert whole[whole["value"] == "prior"]["P"].tolist() == ["0.5294", "0.4706"]
    app.selectbox(key="ways_column").set_value(0).run()
    colour = frame(app, 1)
    assert set(colour["column"]) == {"色泽"}
    green = colour[colour["value"] == "青绿"]
    assert dict(zip(green["class"], green["P"], strict=True)) == {"是": "0.3750", "否": "0.3333"}
    app.selectbox(key="ways_column").set_value(6).run()
    density = frame(app, 1).set_index("class")
    assert (density.loc["是", "mean"], density.loc["是", "σ"]) == ("0.57375", "0.129211")
    made: dict[str, Any] = {}
    exec(app.code[0].value, made)  # noqa: S102
    assert len(made["CASES"]) > 5
    assert made["check"]() <= 1e-12
    melon = load_dataset("watermelon3").frame.drop(columns="好瓜").iloc[0].to_dict()
    assert f"{made['posterior'](melon)['是']:.12f}" == P_GOOD


@pytest.mark.slow
def test_a_row_goes_and_comes_back() -> None:
    app = opened("model", MELONS)
    assert frame(app, 4)["c0"].tolist() == [P_GOOD]
    app.number_input(key="away_row").set_value(4).run()
    app.button(key="away_take").click().run()
    assert seen(app.session_state["state"], "away") == (3,)
    expected = [f"{p:.12f}" for p in fitted_without([3])]
    shown = frame(app, 4)[["c0", "c1"]].to_numpy().tolist()
    assert shown[1:4] == [expected] * 3  # less, left, anew
    assert shown[0] == shown[4] == [P_GOOD, "0.001307679064"]  # the old table knows nothing of it
    assert expected[0] != P_GOOD
    moved = frame(app, 5).set_index(["column", "what is counted"])
    assert set(moved["class"]) == {"是"}
    assert tuple(moved.loc[("好瓜", "rows"), ["before", "after"]]) == ("8", "7")
    assert tuple(moved.loc[("色泽", "青绿"), ["before", "after"]]) == ("3", "2")
    assert tuple(moved.loc[("密度", "rows with a number"), ["before", "after"]]) == ("8", "7")
    without = load_dataset("watermelon3").frame.drop(index=3).query("好瓜 == '是'")["密度"]
    assert float(moved.loc[("密度", "mean"), "after"]) == pytest.approx(without.mean(), rel=1e-5)
    assert float(moved.loc[("密度", "sum of squares about it"), "after"]) == pytest.approx(
        float(((without - without.mean()) ** 2).sum()), rel=1e-5
    )
    app.button(key="away_back").click().run()
    assert seen(app.session_state["state"], "away") == ()
    assert frame(app, 4)["c0"].tolist() == [P_GOOD]


def test_several_rows_are_away_at_once_and_a_forged_link_takes_none() -> None:
    app = opened("model", showing(MELONS, away=(0, 3)))
    assert frame(app, 4)["c0"].tolist()[1] == f"{fitted_without([0, 3])[0]:.12f}"
    assert app.button(key="away_take").disabled
    forged = opened("model", showing(MELONS, away=(99, -1, "x"), ways_column=99, timed=-5))
    assert frame(forged, 4)["c0"].tolist() == [P_GOOD]


@pytest.mark.parametrize("family", every_other(["spode", "tan", "aode", "k-db", "network"]))
def test_other_families_say_what_there_is_and_forget_rows_too(family: str) -> None:
    shelf = (Spec("laplace", (), family),)
    app = opened("model", showing(State(table="watermelon3", language="en", shelf=shelf), model_view="ways", away=(3,)))
    assert "there for naive Bayes only" in app.info[0].value
    assert not app.code
    shown = frame(app, 1)["c0"].tolist()
    assert len(shown) == 2
    assert shown[0] != shown[1]


@pytest.mark.slow
def test_levels_of_weighted_rows_and_gaps() -> None:
    """A file with weights, a missing cell and a Gaussian whose class has one row."""
    text = "sky,warm,n,out\nsun,20,3,yes\nrain,,1,no\nsun,21,2,yes\nrain,9,1,no\n,12,4,no\n"
    app = uploaded(text.encode(), page="model", model_view="ways", away=(1,))
    assert "largest difference" in said(app)
    same = frame(app, 0)[["c0", "c1"]].to_numpy().astype(float)
    np.testing.assert_allclose(same, same[:1].repeat(3, axis=0), atol=1e-12)


@pytest.mark.slow
def test_the_ways_are_compared_in_a_job_that_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def noted(*given: Any) -> Any:
        seen.append(watched())
        return agreement(*given)

    monkeypatch.setattr(comparison, "agreement", noted)
    opened("model", replace(MELONS, shelf=(Spec("laplace", (("alpha", 2.4375),)),)))  # which nobody else has asked for
    assert seen == [True]
