"""How an upload was read: every note that can be otherwise has its button, and the choice is in the state."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.table.read import Reading
from pages.runtime.state import decode, encode
from tests.apptest.opened import seen, uploaded

MESSY = (
    "Export of 2024\n\nwhen;size;share;code;label\n"
    + "".join(f"0{1 + i % 9}/0{1 + i % 7}/2024;1{50 + i},5;{i} %;0{i};{['NA', 'mild'][i % 2]}\n" for i in range(24))
    + "\nSource: ward 5\n"
).encode()


@pytest.fixture
def at() -> AppTest:
    return uploaded(MESSY, page="data")


def click(at: AppTest, label: str) -> None:
    next(b for b in at.button if b.label == label).click().run()
    assert not at.exception


def reading(at: AppTest) -> Reading:
    [kept] = at.session_state["files"]["table"].values()
    return kept.reading


@pytest.mark.slow
def test_buttons_read_the_file_otherwise_and_the_link_says_so(at: AppTest) -> None:
    assert reading(at).schema["when"].kind == "date"
    click(at, "The month stands first")
    assert reading(at).recipe.types == ((0, "date_month_first"),)
    click(at, "Keep these lines as rows")
    assert len(reading(at).frame) == 25
    assert reading(at).recipe.types == ((0, "date_month_first"),)
    link = decode(encode(at.session_state["state"]))
    assert link is not None
    assert dict(seen(link, "read")) == {"trim": False, "types": ((0, "date_month_first"),)}


def test_a_column_is_read_as_something_else_and_back(at: AppTest) -> None:
    at.selectbox(key="read_column").set_value(3).run()
    at.selectbox(key="read_type").set_value("number").run()
    assert not at.exception
    assert reading(at).frame["code"].iloc[3] == 3
    at.selectbox(key="read_type").set_value("auto").run()
    assert reading(at).frame["code"].iloc[3] == "03"


def test_the_text_is_shown_beside_its_encoding(at: AppTest) -> None:
    assert "3  when;size;share;code;label" in at.code[0].value


@pytest.mark.slow
def test_one_click_takes_the_few_words_among_numbers_as_missing() -> None:
    few = dict.fromkeys((3, 5, 7, 8), ("often", "OVRFLW"))
    rows = (f"{i},{','.join(few.get(i, (str(i + 900), f'0.{i + 11}')))},{'ab'[i % 2]}" for i in range(60))
    at = uploaded(("row,visits,A450,label\n" + "\n".join(rows) + "\n").encode(), page="data")
    for name in ("visits", "A450"):
        [words] = [n for n in reading(at).report if n.column == name and "numbers and text" in str(n.message)]
        assert str(words.offers[0].label) == "These mean missing"
    for name in ("visits", "A450"):
        assert reading(at).frame[name].dtype.kind not in "if"
        click(at, "These mean missing")
        column = reading(at).frame[name]
        assert column.dtype.kind in "if" and column.isna().sum() == 4


@pytest.mark.slow
def test_one_click_leaves_out_the_marks_behind_numbers() -> None:
    rows = (f"{i}.5{' H' if i % 9 == 4 else '*' if i == 7 else ''},{'ab'[i % 2]}" for i in range(40))
    at = uploaded(("potassium,label\n" + "\n".join(rows) + "\n").encode(), page="data")
    assert reading(at).frame["potassium"].iloc[4] == "4.5 H"
    click(at, "Read as numbers, without the marks")
    assert reading(at).frame["potassium"].tolist() == [i + 0.5 for i in range(40)]
