"""The page Classify a file: what it shows is what the model decides, and one bad row costs itself only."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine import LossMatrix, NaiveBayes, load_dataset
from bayes_engine.language import _, set_language
from bayes_engine.models.naive_bayes import PRESETS
from pages.runtime.state import State
from tests.apptest.opened import APP, opened, showing
from tests.conftest import PATIENCE

ROOT = Path(__file__).parents[2]
MELONS = "含糖率,密度,名,好瓜\n0.46,0.697,一,是\n0.09,0.24,二,否\n甜,0.5,三,是\n,0.36,四,TRUE\n"


@pytest.fixture
def page() -> AppTest:
    return opened("classify")


def drop(at: AppTest, content: bytes, name: str = "rows.csv") -> AppTest:
    at.file_uploader(key="second_file").set_value((name, content, "text/csv")).run()
    assert not at.exception
    return at


def model() -> NaiveBayes:
    melons = load_dataset("watermelon3a")
    textbook = NaiveBayes(schema=melons.schema, **PRESETS["textbook"])
    return textbook.fit(melons.frame[["密度", "含糖率"]], melons.frame["好瓜"])


def metrics(at: AppTest) -> dict[str, str]:
    return {m.label: m.value for m in at.metric}


@pytest.mark.slow
def test_the_rows_are_decided_as_the_model_decides(page: AppTest):
    drop(page, MELONS.encode())
    shown = page.dataframe[0].value
    X = pd.DataFrame({"密度": [0.697, 0.24, 0.36], "含糖率": [0.46, 0.09, None]})
    want = model().decide(X)
    fine = [0, 1, 3]
    assert shown["decision"].iloc[fine].tolist() == [{"是": "good", "否": "bad"}[a] for a in want.action]
    assert shown["risk"].iloc[fine].tolist() == want.risk.tolist()
    posterior = model().predict_proba(X)
    assert shown["P(是)"].iloc[fine].tolist() == posterior[:, 1 if model().classes_[1] == "是" else 0].tolist()
    assert shown["decision"].iloc[2] == ""
    assert shown["reason"].iloc[2] == "含糖率 = 甜 (no number)"
    assert shown["含糖率"].tolist() == ["0.46", "0.09", "甜", ""]
    assert shown["名"].tolist() == ["一", "二", "三", "四"]


def test_the_summary_counts_decisions_and_right_ones(page: AppTest):
    drop(page, MELONS.encode())
    want = model().decide(pd.DataFrame({"密度": [0.697, 0.24, 0.36], "含糖率": [0.46, 0.09, None]})).action.tolist()
    assert metrics(page) == {
        "rows": "4", "decide good": str(want.count("是")), "decide bad": str(want.count("否")), "not decided": "1",
        "decided rightly": "2 / 2", "mean loss": "0",
    }  # fmt: skip
    notes = "\n".join(m.value for m in page.markdown).replace("\\", "").replace("\u2060", "")
    assert "'TRUE' (1)" in notes
    assert "column '含糖率': missing cells: 1" in notes


@pytest.mark.slow
@pytest.mark.parametrize(("cost", "digits"), [(1.0, "%.6f"), (5000.0, "%.2f")])
def test_amounts_of_money_have_two_decimals(cost: float, digits: str):
    at = drop(opened("classify", State(language="en", losses=((0.0, cost), (cost, 0.0)))), MELONS.encode())
    config = json.loads(at.dataframe[0].proto.columns)
    assert [config[name]["type_config"]["format"] for name in ("risk", "gap")] == [digits, digits]


@pytest.mark.slow
def test_losses_redecide_without_a_new_file(page: AppTest):
    drop(page, MELONS.encode())
    before = page.dataframe[0].value["P(是)"].tolist()
    page.session_state["state"] = replace(page.session_state["state"], losses=((0.0, 5.0), (1.0, 0.0)))
    page.run()
    shown = page.dataframe[0].value
    assert shown["P(是)"].tolist()[:2] == before[:2]
    story = LossMatrix(("是", "否"), ("是", "否"), [[0, 5], [1, 0]])
    X = pd.DataFrame({"密度": [0.697, 0.24], "含糖率": [0.46, 0.09]})
    assert shown["risk"].tolist()[:2] == model().decide(X, story).risk.tolist()


@pytest.mark.slow
def test_the_results_are_there_after_another_page(page: AppTest):
    drop(page, MELONS.encode())
    page.switch_page("pages/data.py").run()
    page.switch_page("pages/classify.py").run()
    assert len(page.dataframe[0].value) == 4


def test_a_second_file_that_is_no_table_leaves_the_results(page: AppTest):
    drop(page, MELONS.encode())
    drop(page, b"\x89PNG\r\n\x1a\n")
    assert "PNG image" in page.error[0].value
    assert len(page.dataframe[0].value) == 4


def test_a_file_with_other_columns_is_told_what_the_model_needs(page: AppTest):
    drop(page, b"a,b\n1,2\n3,4\n")
    assert "needs '密度 (density)', '含糖率 (sugar)'" in page.error[0].value.replace("\\", "").replace("\u2060", "")


@pytest.mark.slow
def test_the_data_sets_own_file_is_read_with_its_units(page: AppTest):
    page.session_state["state"] = page.session_state["state"].on_table("loan")
    page.run()
    drop(page, (ROOT / "datasets" / "loan.csv").read_bytes())
    assert metrics(page)["rows"] == "10"
    assert "not decided" not in metrics(page)
    shown = page.dataframe[0].value
    loan = load_dataset("loan")
    X = loan.frame[["Gender", "Married", "Income"]]
    want = NaiveBayes(schema=loan.schema, **PRESETS["textbook"]).fit(X, loan.frame["Defaulted"]).decide(X)
    assert shown["decision"].tolist() == want.action.tolist()


def test_a_link_to_a_second_file_asks_for_it(page: AppTest):
    drop(page, MELONS.encode())
    other = AppTest.from_file(APP, default_timeout=PATIENCE)
    other.switch_page("pages/classify.py")
    other.query_params["s"] = page.query_params["s"]
    other.run()
    assert "drop the same file here again" in other.info[0].value


@pytest.mark.slow
def test_a_name_alike_is_taken_by_one_click(page: AppTest):
    melons = load_dataset("watermelon3a").frame[["密度", "含糖率"]].head(3).set_axis(["密度", " 含 糖率"], axis=1)
    drop(page, melons.to_csv(index=False).encode())
    before = page.dataframe[0].value["P(是)"].tolist()
    assert "could be '含糖率'" in "\n".join(m.value for m in page.markdown)
    page.button(key="alike").click().run()
    assert not page.exception
    want = model().predict_proba(load_dataset("watermelon3a").frame[["密度", "含糖率"]].head(3))
    yes = model().classes_.tolist().index("是")
    after = page.dataframe[0].value["P(是)"].tolist()
    assert after == want[:, yes].tolist() and after != before
    page.button(key="alike").click().run()
    assert page.dataframe[0].value["P(是)"].tolist() == before


def test_decisions_stand_against_the_classes_of_the_file(page: AppTest):
    drop(page, MELONS.encode())
    told = next(d.value for d in page.dataframe if "truth is good" in d.value.columns)
    assert told.to_numpy().sum() == 2 and told.loc["decide good", "truth is good"] == 1
    assert any("no class of the model, counted neither as right nor as wrong: 1" in c.value for c in page.caption)


@pytest.mark.slow
def test_a_long_file_is_written_before_it_is_handed_over(page: AppTest):
    for kind in ("csv", "xlsx", "parquet"):
        page.session_state["state"] = showing(page.session_state["state"], results_as=kind)
        page.run()
        drop(page, MELONS.encode() + b"0.1,0.2,x,\n" * 20_000)
        assert not page.exception and metrics(page)["rows"] == "20,004"
        page.button(key="write_results").click().run(timeout=60)
        for _look in range(40):  # a job may take longer than its grace
            if "second_written" in page.session_state and page.session_state["second_written"][0][-1] == kind:
                break
            page.run()
        key, file = page.session_state["second_written"]
        head = file.read()[:4]
        assert (key[-1], file.cut) == (kind, 0)
        assert head == {"csv": b"\xef\xbb\xbf\xe5", "xlsx": b"PK\x03\x04", "parquet": b"PAR1"}[kind]


def test_what_a_spreadsheet_cannot_hold_is_said_before_it_is_downloaded(page: AppTest):
    page.session_state["state"] = showing(page.session_state["state"], results_as="xlsx")
    drop(page.run(), MELONS.encode() + b"0.1,0.2," + b"x" * 32_768 + b",\n")
    assert any("a spreadsheet's cell holds, which are cut there: 1." in c.value for c in page.caption)
    page.session_state["state"] = showing(page.session_state["state"], results_as="csv")
    assert not any("32,767" in c.value for c in page.run().caption)


def test_a_spreadsheet_of_too_many_rows_is_refused_with_a_way_out(page: AppTest, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bayes_engine.table.sheet.MAX_ROWS", 20_000)
    page.session_state["state"] = showing(page.session_state["state"], results_as="xlsx")
    page.run()
    drop(page, MELONS.encode() + b"0.1,0.2,x,\n" * 20_000)
    page.button(key="write_results").click().run(timeout=60)
    assert "take CSV or Parquet" in page.error[0].value


@pytest.mark.slow
def test_the_second_file_is_read_otherwise_by_one_click(page: AppTest):
    text = "密度;含糖率;好瓜\n1,234;0,46;是\n0,24;0,09;否\n\nQuelle: Markt\n"
    drop(page, text.encode())
    assert metrics(page)["rows"] == "2"
    next(b for b in page.button if b.label == "Keep these lines as rows").click().run()
    assert metrics(page)["rows"] == "3"
    page.checkbox(key="read_second_trim").check().run()
    assert metrics(page)["rows"] == "2"
    next(b for b in page.button if b.label == "The decimal mark is a point").click().run()
    assert not page.exception
    assert page.selectbox(key="read_second_decimal").value == "."
    posterior = page.dataframe[0].value["P(是)"].iloc[0]
    assert posterior != pytest.approx(model().predict_proba(pd.DataFrame({"密度": [1.234], "含糖率": [0.46]}))[0, 1])
    page.selectbox(key="read_second_decimal").set_value("").run()
    X = pd.DataFrame({"密度": [1.234], "含糖率": [0.46]})
    good = list(model().classes_).index("是")
    assert page.dataframe[0].value["P(是)"].iloc[0] == pytest.approx(model().predict_proba(X)[0, good])


def test_what_is_not_decided_has_blank_numbers(page: AppTest):
    drop(page, MELONS.encode())
    shown = page.dataframe[0]
    assert shown.proto.placeholder == "" and shown.proto.HasField("placeholder")
    assert shown.value["P(是)"].isna().tolist() == [False, False, True, False]


def test_reasons_are_in_the_language_of_the_page_in_the_file_too(page: AppTest, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pages.views.classify.results.AT_ONCE", 1)
    page.session_state["state"] = replace(page.session_state["state"], language="zh")
    drop(page, MELONS.encode() + ",,五,\n".encode())
    page.button(key="write_results").click().run(timeout=60)
    set_language("zh")
    bad, silent = _("no number"), _("no column supports it: the prior or the losses decide")
    set_language("en")
    _key, file = page.session_state["second_written"]
    written = pd.read_csv(io.BytesIO(file.read()))["reason"].tolist()
    assert written[2] == page.dataframe[0].value["reason"].iloc[2] == f"含糖率 = 甜 ({bad})"
    assert written[0].count(" 比特)") == 2 and page.dataframe[0].value["reason"].iloc[0] == written[0]
    assert written[4] == silent == "没有哪一列支持它：由先验或误判损失决定"


# which column is which ----------------------------------------------------------------------------------------------

RENAMED = "density,sugar,note\n0.697,0.46,a\n0.24,0.09,b\n0.36,0.1,c\n"


def warned(at: AppTest) -> str:
    return "\n".join(w.value for w in at.warning).replace("\\", "").replace("\u2060", "")


def posterior(at: AppTest) -> list[float]:
    return at.dataframe[0].value["P(是)"].tolist()


@pytest.mark.slow
def test_a_renamed_column_is_said_before_the_results_and_chosen(page: AppTest):
    content = RENAMED.replace("density", "密度").encode()
    drop(page, content)
    assert "column '含糖率 (sugar)' is not in this file: it counts as missing in every row" in warned(page)
    drawn = [type(element).__name__ for element in page.main]
    assert drawn.index("Warning") < drawn.index("Dataframe"), drawn
    assert not any("is not in this file" in m.value for m in page.markdown)  # said once
    guess = posterior(page)
    choice = page.selectbox(key="second_as_1")
    assert choice.options == ["none: missing in every row", "sugar", "note"] and choice.value == -1
    choice.select(1).run()
    X = pd.DataFrame({"密度": [0.697, 0.24, 0.36], "含糖率": [0.46, 0.09, 0.1]})
    told = model().predict_proba(X)[:, model().classes_.tolist().index("是")].tolist()
    assert posterior(page) == told != guess and not page.warning
    other = opened("classify", page.session_state["state"])  # a link has the choice, by places and not by names
    assert "sugar" not in str(other.session_state["state"])
    drop(other, content)
    assert posterior(other) == told


@pytest.mark.slow
def test_a_file_of_other_names_is_classified_once_they_are_chosen(page: AppTest):
    drop(page, RENAMED.encode())
    assert "none of the model's columns is in this file" in page.error[0].value and not page.warning
    page.selectbox(key="second_as_0").select(0).run()
    assert not page.error and "含糖率" in warned(page)
    page.selectbox(key="second_as_1").select(1).run()
    assert not page.exception and not page.error and not page.warning
    assert page.selectbox(key="second_as_0").options == ["none: missing in every row", "density", "note"]
    page.selectbox(key="second_as_1").select(2).run()  # words: of another kind
    assert "is of another kind here: 3 of its 3 cells are no such numbers, as 'a'" in warned(page)
    page.selectbox(key="second_as_1").select(-1).run()
    assert "column '含糖率 (sugar)' is not in this file" in warned(page)
    drop(page, MELONS.encode())
    assert not page.warning  # another file: nothing is chosen for it


def test_a_column_of_another_kind_gives_way_to_the_one_that_is_meant(page: AppTest):
    drop(page, "密度,含糖率,sugar\n0.697,high,0.46\n0.24,low,0.09\n".encode())
    assert "column '含糖率 (sugar)' is of another kind here: 2 of its 2 cells" in warned(page)
    page.selectbox(key="second_as_1").select(2).run()
    assert not page.warning and metrics(page)["rows"] == "2" and "not decided" not in metrics(page)
    drop(page, "密度,含糖率\n0.697,\n0.24,\n".encode())
    assert "column '含糖率 (sugar)' is empty in this file: it counts as missing in every row" in warned(page)


@pytest.mark.slow
def test_values_that_the_table_has_not_are_said_before_the_results():
    at = opened("classify", State(table="loan", language="en"))
    drop(at, b"Gender,Married,Income\nm,0,10K\nf,1,20K\n")
    assert "column 'Gender' is of another kind here: 2 of its 2 cells hold values that the table has not" in warned(at)


def test_an_empty_page_names_columns_in_both_ways_and_offers_an_example(page: AppTest):
    assert any("**密度** (density)" in text.value for text in page.markdown)
    page.button(key="example").click().run()
    assert not page.exception
    assert metrics(page)["rows"] == "17"
    melons = load_dataset("watermelon3a").frame
    right = (model().predict(melons[["密度", "含糖率"]]) == melons["好瓜"].to_numpy()).sum()
    assert metrics(page)["decided rightly"] == f"{right} / 17"
    link = page.session_state["state"]
    assert metrics(opened("classify", link))["rows"] == "17"  # in a session that was never given it
