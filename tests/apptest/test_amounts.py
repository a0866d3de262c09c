"""Losses per unit of a row's amount on the pages: the German credits, whose sums multiply what an error costs."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import LossMatrix, NaiveBayes, estimated_risk, held_out, load_dataset
from bayes_engine.decision.ask import ask
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.numerals import number
from bayes_engine.table.roles import Parts, take_apart
from pages import active
from pages.components.losses import read_edit, with_edit
from pages.runtime.state import State, decode, encode
from pages.views.data.columns import _with_classes
from pages.views.decisions.stories import with_story as story_state
from tests.apptest.opened import edited, listed, opened, sent_to, showing

LOAN = story_state(State(language="en"), "loan")
FIXED = replace(LOAN, losses=((0.0, 0.6), (500.0, 0.0)), fixed=((1, 0),))
"""Refusing a good credit loses 500 DM whatever the sum."""
GOODS = ("good", "bad")
HERE = LossMatrix(GOODS, GOODS, [[0, 0.6], [500, 0]]).with_amount([("good", "bad"), ("good", "good"), ("bad", "bad")])


@pytest.fixture(scope="module")
def german() -> tuple[NaiveBayes, Parts]:
    dataset = load_dataset("german-credit")
    parts = take_apart(dataset.frame, dataset.schema)
    return NaiveBayes(schema=parts.schema, **PRESETS["laplace"]).fit(parts.X, parts.y), parts


def said(app: AppTest) -> str:
    texts = [str(e.value) for e in (*app.main.markdown, *app.main.caption)]
    return "\n".join(texts).replace("\\", "").replace("−", "-")


@pytest.mark.slow
def test_the_story_prices_each_credit_by_its_sum(german) -> None:
    app = opened("decisions", LOAN)
    model, parts = german
    sent = sent_to(app, "bayes_consequences")
    posterior = model.predict_proba(parts.X.iloc[[5]])[0]
    assert sent["amount"] == parts.amount.iloc[5] == 9055
    assert sent["by"] is None
    assert app.number_input(key="case_amount").value == 9055
    told = re.search(r"risk (\d+), the next decision (\d+) more", said(app))
    assert told is not None
    grant, refuse = posterior[0] * 0.6 * 9055, posterior[1] * 0.12 * 9055
    assert [float(v) for v in told.groups()] == pytest.approx([refuse, grant - refuse], abs=0.5)
    loss = LossMatrix(GOODS, GOODS, [[0, 0.6], [0.12, 0]])
    report = estimated_risk(held_out(model, parts.X, parts.y), loss, amount=parts.amount)
    assert sent["report"]["risk"] == pytest.approx(report.risk)


@pytest.mark.slow
def test_a_cell_may_be_a_fixed_sum_and_a_link_keeps_it(german) -> None:
    app = opened("decisions", FIXED)
    model, parts = german
    sent, held = sent_to(app, "bayes_consequences"), held_out(model, parts.X, parts.y).in_order(GOODS)
    assert sent["by"] == sent_to(app, "bayes_losses")["by"] == [[True, True], [False, True]]
    report = estimated_risk(held, HERE, amount=parts.amount)
    assert sent["report"]["risk"] == pytest.approx(report.risk)
    assert sent["report"]["confusion"] == report.confusion.tolist()
    other = estimated_risk(held, LossMatrix(GOODS, GOODS, HERE.table), amount=parts.amount)
    assert report.risk != pytest.approx(other.risk)
    assert "Regions at the case's amount, 9055 DM; each ring at its row's own." in said(app)
    assert decode(encode(FIXED)) == FIXED


@pytest.mark.parametrize(
    "forged", [((0,),), ((0, -1),), ((0.0, 1.0),), ((True, 0),), ("01",), (((0, 1),),), ((10**9, 0),)]
)
def test_forged_cells_are_not_believed(forged) -> None:
    assert decode(encode(replace(LOAN, fixed=forged))) is None


@pytest.mark.slow
def test_cells_of_another_shape_are_passed_over() -> None:
    app = opened("decisions", replace(FIXED, fixed=((7, 7), (1, 0))))
    assert sent_to(app, "bayes_consequences")["by"] == [[True, True], [False, True]]
    app = opened("decisions", State(table="iris", language="en", fixed=((0, 1),), amount=5.0))
    sent = sent_to(app, "bayes_losses")
    assert (sent["by"], sent["amount"], sent["words"]["times"]) == (None, 1.0, "")
    assert all(e.key != "case_amount" for e in app.number_input)


@pytest.mark.parametrize("amount", [-3.0, 1e16, float("1e300")])
def test_a_forged_amount_is_not_believed(amount: float) -> None:
    assert decode(encode(replace(LOAN, amount=amount))) is None


@pytest.mark.slow
def test_an_edit_brings_its_marks() -> None:
    app = edited(opened("decisions", LOAN), ((0.0, 0.6), (500.0, 0.0)), by=((True, True), (False, True)))
    assert app.session_state["state"] == FIXED
    for marks in ([[True]], [[True, 1], [True, True]], "all", None):
        edit = read_edit({"table": [[0, 1], [1, 0]], "prior": None, "name": None, "by": marks}, 2, 2)
        assert edit is not None and edit.fixed == ()
    melons = State(table="watermelon3a")
    edit = read_edit({"table": [[0, 2], [1, 0]], "prior": None, "name": None, "by": [[True, False]] * 2}, 2, 2)
    assert edit is not None and with_edit(melons, active.in_use(melons), edit).fixed == ()


@pytest.mark.slow
def test_the_margins_are_of_the_cell_as_entered(german) -> None:
    model, parts = german
    posterior = model.predict_proba(parts.X.iloc[[5]])[0][[1, 0]]
    margins = HERE.flip_margins(posterior, amount=9055.0)
    text = said(opened("decisions", FIXED))
    (sum_,) = re.findall(r"λ\(decide bad, truth is good\) passes \*\*([\d.]+)\*\* DM \(now 500\)", text)
    assert float(sum_) == pytest.approx(margins.losses["bad", "good"].high, rel=1e-3)
    (share,) = re.findall(r"λ\(decide good, truth is bad\) falls below \*\*([\d.]+)\*\* × credit amount", text)
    assert float(share) == pytest.approx(margins.losses["good", "bad"].low, rel=1e-3)
    assert "Where credit amount multiplies it, it is a loss per unit; here the amount is 9055 DM." in text
    assert f"passes **{sum_}** DM" in said(opened("case", FIXED))  # one voice


@pytest.mark.slow
def test_another_amount_turns_the_case() -> None:
    app = opened("decisions", FIXED)
    assert "Judged **bad** although" in said(app)
    app.number_input(key="case_amount").set_value(400.0).run()
    assert app.session_state["state"].amount == 400.0
    assert "Judged **good**" in said(app)
    app.number_input(key="case_amount").set_value(None).run()
    assert app.number_input(key="case_amount").value == 9055  # its row's own again


@pytest.mark.slow
def test_the_amount_goes_with_the_case() -> None:
    app = opened("case", FIXED)
    assert app.number_input(key="case_amount").value == 9055
    app.number_input(key="case_row").set_value(1).run()
    assert app.number_input(key="case_amount").value == 1169
    app.number_input(key="case_1").set_value(60.0).run()  # typed now, but no other sum
    state = app.session_state["state"]
    assert (state.row, state.amount) == (-1, 1169.0)
    app = opened("case", State(table="german-credit", language="en"))  # the first worked case
    assert app.number_input(key="case_amount").value == 5951
    blank = (None,) * 19
    app = opened("case", State(table="german-credit", language="en", case=blank))
    assert app.number_input(key="case_amount").value == load_dataset("german-credit").frame["credit_amount"].median()


def test_an_amount_of_zero_puts_nothing_at_stake() -> None:
    app = opened("decisions", replace(LOAN, amount=0.0))
    assert "a tie settled by name" in said(app)
    assert not opened("case", showing(replace(FIXED, amount=0.0), margins=True, wish=1)).exception


def test_one_case_and_its_questions_are_priced_at_its_amount(german) -> None:
    model, parts = german
    row = parts.X.iloc[[5]].copy()
    row.loc[:, "checking_status"] = None
    case = list(FIXED.case)
    case[0] = None
    state = showing(replace(FIXED, case=tuple(case), row=-1, amount=700.0), case_view="ask", ask_from="case")
    found = ask(model, row, HERE, amount=700.0)
    text = said(opened("case", state))
    assert found.best is not None
    assert "checking account" in text
    assert f"{found.best.gain:.3g}"[:3] in text


def test_refusing_where_some_cells_are_multiplied_is_a_sum() -> None:
    app = opened("decisions", FIXED)
    app.button(key="refuse_on").click().run()
    state = app.session_state["state"]
    pays_below = 0.6 * 9055 * 500 / (0.6 * 9055 + 500)
    assert state.losses[2] == pytest.approx((0.4 * pays_below,) * 2, rel=0.02)
    assert set(state.fixed) == {(1, 0), (2, 0), (2, 1)}
    app.button(key="refuse_off").click().run()
    assert app.session_state["state"].fixed == ((1, 0),)
    app.button(key="preset_story").click().run()
    assert app.session_state["state"] == LOAN


@pytest.mark.slow
def test_compare_judges_every_row_at_its_own_amount(german) -> None:
    model, parts = german
    app = opened("model", showing(FIXED, model_view="compare", compare_curve="roc"))
    report = estimated_risk(held_out(model, parts.X, parts.y), HERE, amount=parts.amount)
    low, high = (number(v, 3) for v in report.interval)
    assert listed(app, "compare_numbers")["risk [95%]"][0] == f"{number(report.risk, 3)} [{low}, {high}]"
    assert "each row decided and priced at its own amount" in said(app)
    assert "The weight of a row is the factor by which its amount multiplies its losses." in said(app)
    app = opened("model", showing(FIXED, model_view="compare", compare_curve="threshold"))
    assert "each row has a threshold of its own" in said(app)


def test_classes_in_another_order_keep_their_marks() -> None:
    before = active.in_use(FIXED)
    position = list(before.schema.names).index("class")
    turned = replace(FIXED, columns=((position, "", "", ("bad", "good")),))
    after = active.in_use(turned)
    assert after.classes == ("bad", "good")
    assert _with_classes(before, after, turned).fixed == ((0, 1),)


def test_the_regions_are_those_of_the_cases_amount() -> None:
    sent = sent_to(opened("decisions", FIXED), "bayes_plane")
    assert (sent["amount"], sent["loss"]) == (9055.0, [[0.0, 0.6], [500.0, 0.0]])
    assert sent["by"] == [[True, True], [False, True]]
    assert sent["wrong"]


def test_a_ring_is_a_row_decided_wrongly_at_its_own_amount(german) -> None:
    model, parts = german
    decision = model.decide(parts.X, HERE, amount=parts.amount)
    wrong = [i for i, (a, c) in enumerate(zip(decision.action, parts.y, strict=True)) if a != c]
    state = showing(FIXED, x=1, y=11)
    assert sent_to(opened("decisions", state), "bayes_plane")["wrong"] == wrong


# a file of rows -----------------------------------------------------------------------------------------------------


def classified(state: State, content: str) -> AppTest:
    app = opened("classify", state)
    app.file_uploader(key="second_file").set_value(("new.csv", content.encode(), "text/csv")).run()
    assert not app.exception
    return app


def applicants(*sums: str) -> str:
    """The sixth applicant of the table, asking for these sums; he paid back."""
    row = load_dataset("german-credit").frame.iloc[5].drop("credit_amount").astype(str)
    lines = [",".join([*row, f'"{s}"']) for s in sums]
    return "\n".join([",".join([*row.index, "credit_amount"]), *lines])


@pytest.mark.slow
def test_a_file_is_classified_at_each_rows_own_amount(german) -> None:
    model, parts = german
    app = classified(FIXED, applicants("400", "9055 DM", "", "-7"))
    shown = app.dataframe[0].value
    assert shown["decision"].tolist() == ["good", "bad", "", ""]
    p = model.predict_proba(parts.X.iloc[[5]])[0]
    assert shown["risk"].iloc[:2].tolist() == pytest.approx([p[0] * 0.6 * 400, p[1] * 500])
    assert shown["reason"].iloc[3] == "credit_amount = -7 (negative)"
    found = {m.label: m.value for m in app.metric}
    assert (found["not decided"], found["decided rightly"], found["mean loss"]) == ("2", "1 / 2", "250")
    assert "some of each row's losses: a row is decided at its own" in said(app)


def test_a_file_without_amounts_is_refused_only_where_they_decide() -> None:
    content = "\n".join(line.rsplit(",", 1)[0] for line in applicants("400").splitlines())
    app = classified(FIXED, content)
    assert "no column 'credit_amount (credit amount)', whose amounts multiply losses" in app.error[0].value.replace(
        "\\", ""
    )
    assert not app.warning
    app = classified(LOAN, content)  # every cell per mark: what is decided does not hang on the sum
    assert app.dataframe[0].value["decision"].tolist() == ["bad"]
    assert "without it they are taken per unit" in said(app)
    assert "is not in this file: losses are counted per unit" in app.warning[0].value
    assert [w.label for w in app.selectbox if w.key.startswith("second_as_")] == ["credit_amount (credit amount)"]


@pytest.mark.slow
def test_an_amount_of_another_name_is_chosen() -> None:
    content = applicants("400", "9055 DM").replace(",credit_amount", ",Summe,town").replace('"\n', '",Ulm\n') + ",Ulm"
    app = classified(FIXED, content)
    choice = next(w for w in app.selectbox if w.key.startswith("second_as_"))
    assert choice.options[0] == "none: no row is decided" and "Summe" in choice.options
    choice.select(content.split("\n")[0].split(",").index("Summe")).run()
    assert not app.exception and not app.error and not app.warning
    assert app.dataframe[0].value["decision"].tolist() == ["good", "bad"]
    choice = next(w for w in app.selectbox if w.key.startswith("second_as_"))
    choice.select(content.split("\n")[0].split(",").index("town")).run()
    assert "is of another kind here: 2 of its 2 cells are no such numbers, as 'Ulm'" in app.warning[0].value
