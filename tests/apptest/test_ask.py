"""One case, What to ask next: values as the engine has them, answers that move the belief, a rule that stops."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import LossMatrix, NaiveBayes, load_dataset, numerals
from bayes_engine.decision.ask import Inquiry, ask, interview
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.table.roles import take_apart
from pages.runtime.state import Spec, State, decode, encode
from tests.apptest.opened import opened, seen, showing
from tests.conftest import slowly

ASKING = {"case_view": "ask"}


def page(table: str = "watermelon3", losses: tuple[Any, ...] = (), **view: Any) -> AppTest:
    return opened("case", showing(State(table=table, losses=losses, language="en"), **ASKING, **view))


def state(at: AppTest) -> State:
    found: State = at.session_state["state"]
    assert decode(encode(found)) == found  # whatever is on screen has a link
    return found


def click(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    assert not at.exception
    return at


@cache
def melons() -> tuple[NaiveBayes, Any, Any]:
    data = load_dataset("watermelon3")
    parts = take_apart(data.frame, data.schema)
    return NaiveBayes(schema=parts.schema, **PRESETS["textbook"]).fit(parts.X, parts.y), parts.X, parts.y


def known(X: Any, *names: str, row: int = 0) -> Any:
    blank = X.iloc[[row]].copy()
    for name in X.columns:
        if name not in names:
            blank[name] = blank[name].where(blank[name].isna() & False)
    return blank


def headline(at: AppTest) -> str:
    return next(m.value for m in at.main.markdown if m.value.startswith("####")).replace("\\", "")


def values(at: AppTest) -> list[str]:
    """The questions as they are offered, best first."""
    return list(at.selectbox(key="ask_about").options)


def offered(found: Inquiry) -> list[str]:
    data = load_dataset("watermelon3")
    return [f"{data.label(q.feature, 'en')}  {numerals.signed(q.value, 4)}" for q in found.questions]


@pytest.mark.slow
def test_the_views() -> None:
    at = opened("case", State(table="watermelon3", language="en"))
    assert list(at.segmented_control(key="case_view").options) == ["The decision", "Nomogram", "What to ask next"]
    assert not any(b.key == "ask_step" for b in at.button)
    at.segmented_control(key="case_view").set_value("ask").run()
    assert seen(state(at), "case_view") == "ask"
    assert headline(at).startswith("#### Ask **texture**")


def test_values_are_the_engines() -> None:
    model, X, _ = melons()
    at = page(ask_cost=0.02)
    assert values(at) == offered(ask(model, known(X), costs=0.02))
    assert headline(at) == "#### Ask **texture**: worth 0.2741."


@pytest.mark.slow
def test_losses_change_the_question() -> None:
    """Under the losses of the user, not under 0-1."""
    model, X, _ = melons()
    data = load_dataset("watermelon3")
    classes = data.schema.target.levels
    dear = ((0.0, 9.0), (1.0, 0.0))
    at = page(losses=dear, ask_cost=0.02)
    assert values(at) == offered(ask(model, known(X), LossMatrix(classes, classes, dear), costs=0.02))
    assert values(at) != offered(ask(model, known(X), costs=0.02))


@pytest.mark.slow
def test_an_answer_moves_the_belief_and_is_taken_back() -> None:
    model, X, _ = melons()
    at = click(page(ask_cost=0.02), "answer_0")  # texture = clear, the first melon's
    assert seen(state(at), "told") == ((3, 0),)
    now = ask(model, known(X, "纹理"), costs=0.02)
    assert values(at) == offered(now)
    table = at.dataframe[0].value
    assert table.iloc[0].tolist() == ["texture = clear", "good", numerals.number(now.risk)]
    back = click(at, "ask_back")
    assert seen(state(back), "told") == ()
    assert headline(back).startswith("#### Ask **texture**")


@pytest.mark.slow
def test_dont_know_leaves_it_open_and_asks_another() -> None:
    at = click(page(ask_cost=0.02), "answer_unknown")
    assert seen(state(at), "told") == ((3, None),)
    assert not any(o.startswith("texture") for o in values(at))
    assert at.dataframe[0].value.iloc[0].iloc[0] == "texture = don't know"


@pytest.mark.slow
def test_a_number_is_typed_and_another_question_may_be_asked() -> None:
    model, X, _ = melons()
    at = page()
    at.selectbox(key="ask_about").set_value(7).run()  # sugar
    at.number_input(key="answer").set_value(0.46).run()
    assert not at.exception
    assert seen(state(at), "told") == ((7, 0.46),)
    row = known(X, "含糖率").assign(含糖率=[0.46])
    assert values(at) == offered(ask(model, row))
    assert at.number_input(key="ask_row").value == 1


@pytest.mark.slow
def test_a_row_plays_the_interview_until_no_question_pays() -> None:
    model, X, y = melons()
    talk = interview(model, X.iloc[[9]], costs=0.02)
    at = click(page(ask_cost=0.02, ask_row=9), "ask_step")
    assert len(seen(state(at), "told")) == 1
    at = click(at, "ask_play")
    told = seen(state(at), "told")
    assert [X.columns[j] for j, _code in told] == [s.question.feature for s in talk.steps]
    decided = {"是": "decide good", "否": "decide bad"}[talk.end.decision.action[0]]
    assert headline(at) == f"#### No question pays: **{decided}**."
    assert at.button(key="ask_step").disabled
    paid = numerals.number(talk.paid)
    assert any(f"{len(told)} asked, {paid} paid." in c.value for c in at.caption)
    assert any(("bad" if y.iloc[9] == "否" else "good") in c.value and "Row 10" in c.value for c in at.caption)
    assert seen(state(click(at, "ask_restart")), "told") == ()


@pytest.mark.slow
def test_a_dear_question_is_not_asked() -> None:
    model, X, _ = melons()
    at = page(ask_cost=0.02, ask_costs=((3, 0.5),))
    prices = dict.fromkeys(X.columns, 0.02) | {"纹理": 0.5}
    assert values(at) == offered(ask(model, known(X), costs=prices))
    assert not headline(at).startswith("#### Ask **texture**")


@pytest.mark.slow
def test_from_the_case() -> None:
    """What the case knows is given; what it lacks is asked; and the answers become the case."""
    codes = (0, None, 0, 0, None, 0, 0.697, None)
    at = opened("case", showing(State(table="watermelon3", language="en", case=codes), **ASKING, ask_from="case"))
    assert {o.split("  ")[0] for o in values(at)} == {"stalk", "navel", "sugar"}
    at = click(at, "answer_0")
    j, code = seen(state(at), "told")[0]
    opened_case = state(click(at, "ask_open"))
    assert opened_case.case == tuple(code if i == j else c for i, c in enumerate(codes))
    assert seen(opened_case, "case_view") == "decision"


@pytest.mark.parametrize("told", [((99, 0), (0, 99), (0, "x"), ("a",), (0, 0), (0, 1)), 3])
def test_forged_answers_do_no_harm(told: Any) -> None:
    assert headline(page(told=told))


@pytest.mark.parametrize("family", ["tan", "lda", *map(slowly, ("spode", "aode", "k-db", "qda"))])
def test_every_family_answers(family: str) -> None:
    shelf = (Spec("laplace", (), family),)
    table = "iris" if family in ("lda", "qda") else "watermelon3"
    at = opened("case", showing(State(table=table, shelf=shelf, language="en"), **ASKING, ask_cost=0.005))
    at = click(at, "ask_play")
    assert headline(at).startswith(("#### No question pays", "#### Nothing is left"))
    assert seen(state(at), "told")


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["category", "error"])
def test_a_cell_not_asked_is_integrated_out_whatever_missing_means(missing: str) -> None:
    data = load_dataset("penguins")
    parts = take_apart(data.frame, data.schema)
    model = NaiveBayes(schema=parts.schema, **{**PRESETS["laplace"], "missing": "category"}).fit(parts.X, parts.y)
    shelf = (Spec("laplace", (("missing", missing),)),)
    table = "penguins" if missing == "category" else "watermelon3"
    at = opened("case", showing(State(table=table, shelf=shelf, language="en"), **ASKING, told=((0, 1),)))
    if missing == "category":
        risk = 1 - model.explain(parts.X.iloc[[0]].assign(island=["Dream"]), given={"island"}).posterior().max()
        assert at.dataframe[0].value.iloc[0].tolist()[-1] == numerals.number(risk)
    assert headline(at).startswith("#### Ask")


@pytest.mark.slow
@pytest.mark.parametrize("view", [{"ask_cost": 1e12}, {"ask_cost": -1.0, "ask_costs": ((0, -3.0), (99, 1.0), 7)}])
def test_forged_costs_do_no_harm(view: Any) -> None:
    assert headline(page(**view))


@pytest.mark.slow
def test_intervals_of_a_number_end_where_the_decision_changes() -> None:
    """Loans, income: No has the mean 110 and the variance 2975, Yes 90 and 25; in between Yes is decided."""
    at = page("loan")
    at.selectbox(key="ask_about").set_value(2).run()
    texts = [m.value.replace("\\", "") for m in at.main.markdown]
    assert {"up to 80.82", "80.82 to 98.84", "above 98.84"} <= set(texts)
    middle = texts[texts.index("80.82 to 98.84") + 1]
    assert "decide default" in middle or "decide Yes" in middle


@pytest.mark.slow
@pytest.mark.parametrize("table", ["penguins", *map(slowly, ("mushroom", "loan", "iris", "breast-cancer"))])
def test_every_table_answers(table: str) -> None:
    at = click(page(table, ask_cost=0.001), "ask_play")
    assert headline(at).startswith(("#### No question pays", "#### Nothing is left"))


def test_in_chinese() -> None:
    at = opened("case", showing(State(table="watermelon3", language="zh"), **ASKING))
    assert any("纹理" in o for o in at.selectbox(key="ask_about").options)
