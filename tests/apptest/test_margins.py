"""One case: flip margins under the verdict, and what would make it another decision, read off the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import LossMatrix, NaiveBayes, load_dataset
from bayes_engine.decision.margins import flip_margins, implied_losses
from bayes_engine.table.roles import take_apart
from pages.runtime.state import State, encode
from tests.apptest.opened import seen
from tests.conftest import PATIENCE, slowly

ROOT = Path(__file__).parents[2]
REFUSING = {"losses": ((0.0, 5.0), (1.0, 0.0), (0.5, 0.5)), "extra": "refuse"}


def page(**changes: Any) -> AppTest:
    at = AppTest.from_file(ROOT / "app.py", default_timeout=PATIENCE).run()
    at.session_state["state"] = State(language="en", **changes)
    at.switch_page("pages/case.py").run()
    assert not at.exception
    return at


def state(at: AppTest) -> State:
    found: State = at.session_state["state"]
    return found


def said(at: AppTest) -> str:
    return "\n".join(str(e.value) for e in at.main.markdown).replace("\\", "").replace("−", "-")


def frame(at: AppTest, column: str) -> pd.DataFrame:
    (found,) = [f.value for f in at.dataframe if column in f.value.columns]
    return found


def melon(loss: LossMatrix) -> Any:
    """The first melon of 3.0α as the page judges it: sample variances, no smoothing, the model's own prior."""
    data = load_dataset("watermelon3a")
    parts = take_apart(data.frame, data.schema)
    model = NaiveBayes(alpha=0.0, smoothing="none", variance="unbiased", schema=parts.schema).fit(parts.X, parts.y)
    posterior = model.predict_proba(parts.X.iloc[[0]])[0]
    ordered = [posterior[list(model.classes_).index(c)] for c in loss.classes]
    return ordered, model.prior_by_class


@pytest.mark.slow
def test_the_nearest_margins_are_the_engines() -> None:
    loss = LossMatrix.zero_one(("是", "否"))
    posterior, prior = melon(loss)
    margins = flip_margins(posterior, loss, prior)
    text = said(page())
    (bad,) = re.findall(
        r"flips to \*\*decide bad\*\* when λ\(decide bad, truth is good\) falls below \*\*([\d.]+)\*\* \(now 1\)", text
    )
    assert float(bad) == pytest.approx(margins.losses["否", "是"].low, abs=5e-5)
    (good,) = re.findall(
        r"flips to \*\*decide bad\*\* when λ\(decide good, truth is bad\) passes \*\*([\d.]+)\*\* \(now 1\)", text
    )
    assert float(good) == pytest.approx(margins.losses["是", "否"].high, abs=5e-3)
    (share,) = re.findall(
        r"flips to \*\*decide bad\*\* when the prior of good falls below \*\*([\d.]+)\*\* \(now 0.4706\)", text
    )
    assert float(share) == pytest.approx(margins.priors["是"].low, abs=5e-5)


@pytest.mark.slow
def test_the_decision_flips_when_a_margin_is_passed() -> None:
    loss = LossMatrix.zero_one(("是", "否"))
    posterior, prior = melon(loss)
    high = flip_margins(posterior, loss, prior).losses["是", "否"].high
    short, past = round(high - 0.01, 2), round(high + 0.01, 2)
    assert "Judged **good**" in said(page(losses=((0.0, short), (1.0, 0.0))))
    at = page(losses=((0.0, past), (1.0, 0.0)))
    assert "Judged **bad** although" in said(at)
    (back,) = re.findall(
        rf"λ\(decide good, truth is bad\) falls below \*\*([\d.]+)\*\* yuan \(now {past:g}\)", said(at)
    )
    assert float(back) == pytest.approx(high, abs=1e-4 * (past - high))


@pytest.mark.slow
def test_all_margins_stand_in_a_table_that_a_link_opens() -> None:
    at = page()
    assert not any("then" in f.value.columns for f in at.dataframe)
    at.toggle(key="margins_all").set_value(True).run()
    assert seen(state(at), "margins") is True
    assert encode(state(at))
    loss = LossMatrix(("是", "否", "refuse"), ("是", "否"), REFUSING["losses"])
    margins = flip_margins(melon(loss)[0], loss, melon(loss)[1])
    table = frame(page(view=(("margins", True),), **REFUSING), "then").set_index(["decision", "truth"])
    assert len(table) == 3 * 2 + 2
    assert table.loc[("decide good", "bad"), "then"] == "refuse"
    for what, value in [
        (("decide good", "bad"), margins.losses["是", "否"].high),
        (("refuse", "good"), margins.losses["refuse", "是"].low),
        (("prior of use", "bad"), margins.priors["否"].high),
    ]:
        sign, shown = table.loc[what, "stands"].split(" ")
        assert float(shown.replace("−", "-")) == pytest.approx(value, rel=1e-3)
        assert sign == ("≥" if what[0] == "refuse" else "≤")


@pytest.mark.slow
def test_of_a_case_that_is_all_but_certain_no_loss_is_said_to_turn_it() -> None:
    at = page(table="sms-spam")  # P(ham | x) = 3.2e-07: λ would have to fall to that, or rise to its inverse
    assert "No loss turns this decision within a millionfold of what it is now" in said(at)
    assert "This decision flips" not in said(at)
    at = page(table="sms-spam", losses=((0.0, 1.0), (1000.0, 0.0)))  # 1000 · 3.2e-07 is within reach of 1
    assert "This decision flips" in said(at) and "No loss turns" not in said(at)


@pytest.mark.slow
def test_what_would_make_it_another_decision_may_be_tried() -> None:
    at = page(**REFUSING)
    assert "Judged **good**" in said(at)
    at.selectbox(key="margins_wish").set_value(2).run()
    assert seen(state(at), "wish") == 2
    loss = LossMatrix(("是", "否", "refuse"), ("是", "否"), REFUSING["losses"])
    implied = implied_losses(melon(loss)[0], "refuse", loss, melon(loss)[1])
    first = implied.nearest(1)[0]
    (shown,) = re.findall(r"λ\(refuse, truth is good\) of at most \*\*([-\d.]+)\*\* \(now 0.5\)", said(at))
    assert float(shown) == pytest.approx(first.at, rel=1e-3)
    least = frame(at, "truth is good")
    then = float(least["truth is good"].tolist()[2].split(" → ")[1])
    assert then == pytest.approx(implied.least.cell("refuse", "是"), abs=5e-4)
    at.button(key="margins_try_0").click().run()
    assert not at.exception
    assert state(at).losses[2][0] == implied.losses["refuse", "是"].short_within(0.5)
    assert "Judged **refuse**" in said(at)
    assert at.selectbox(key="margins_wish").value == -1  # it is so now


def test_a_prior_that_makes_it_another_decision_may_be_tried() -> None:
    at = page(view=(("wish", 1),))
    place = len([b for b in at.button if b.key and b.key.startswith("margins_try_")]) - 1
    at.button(key=f"margins_try_{place}").click().run()
    assert sum(state(at).prior) == pytest.approx(1.0)
    assert state(at).prior[0] < 0.0491
    assert "Judged **bad**" in said(at)


@pytest.mark.slow
def test_an_action_no_single_loss_of_another_or_prior_can_bring_about() -> None:
    at = page(losses=((0.0, 1.0), (1.0, 0.0), (2.0, 2.0)), extra="refuse", view=(("wish", 2),))
    assert "no prior within reach" in said(at)
    assert len([b for b in at.button if b.key and b.key.startswith("margins_try_")]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("view", [(("wish", 99),), (("margins", 1), ("wish", "x"))])
def test_forged_links_do_no_harm(view: Any) -> None:
    assert page(view=view).selectbox(key="margins_wish").value == -1


def test_filling_in_gives_no_margin_away() -> None:
    assert "Flip margins" not in said(page(view=(("fill", True),)))


@pytest.mark.parametrize("table", ["penguins", *map(slowly, ("iris", "wine", "mushroom"))])
def test_margins_on_other_tables(table: str) -> None:
    text = said(page(table=table, view=(("margins", True), ("wish", 1))))
    assert "Flip margins" in text
