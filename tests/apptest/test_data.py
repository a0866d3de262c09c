"""The page Data: gallery, upload, roles and kinds; what cannot stand is said, and what was on screen stays."""

import json
from dataclasses import replace
from io import BytesIO

import pytest
from openpyxl import Workbook
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from bayes_engine import load_dataset
from bayes_engine.errors import TableError
from pages import active
from pages.active.files import TABLE
from pages.runtime.state import State
from pages.views.data import columns
from tests.apptest.opened import APP, give, opened, seen, sent_to, uploaded
from tests.conftest import PATIENCE

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"
HEIGHTS = "height,city,job,tall\n" + "".join(
    f"{150 + 1.5 * i},{('Oslo', 'Rome', 'Lima')[i % 3]},cook,{'yes' if i > 10 else 'no'}\n" for i in range(24)
)


@pytest.fixture
def page() -> AppTest:
    return opened("data")


def upload(at: AppTest, name: str, content: bytes) -> AppTest:
    at.file_uploader(key="upload_file").set_value((name, content, "text/csv")).run()
    assert not at.exception
    return at


def edit_columns(at: AppTest, **edits: dict[str, str]) -> AppTest:
    """Edit cells of the table of columns, {column: {cell: value}}, as the browser would."""
    editor = at.data_editor[0]
    rows = {list(editor.value["column"]).index(name): cells for name, cells in edits.items()}
    states = at._tree.get_widget_states()
    states.widgets.append(WidgetState(id=editor.proto.id, string_value=json.dumps(
        {"edited_rows": rows, "added_rows": [], "deleted_rows": []})))  # fmt: skip
    at._run(states)
    assert not at.exception
    return at


def shown(at: AppTest, cell: str) -> dict[str, str]:
    """A column of the table of columns by the columns' names."""
    frame = at.data_editor[0].value
    return dict(zip(frame["column"], frame[cell], strict=True))


def heads(at: AppTest) -> dict[str, dict]:
    """The columns of the table of rows, by name."""
    return {column["name"]: column for column in sent_to(at, "bayes_heads")["columns"]}


def cells(at: AppTest, name: str) -> list[str | None]:
    """What the rows show in a column."""
    column = heads(at)[name]
    if "codes" in column:
        return [None if code < 0 else column["levels"][code] for code in column["codes"]]
    return column["texts"]


def class_rows(at: AppTest) -> list[int]:
    return next(frame.value for frame in at.dataframe if "rows" in frame.value)["rows"].tolist()


def test_a_data_set_is_chosen_with_its_summaries_and_counts(page: AppTest):
    page.button(key="use_wine").click().run()
    assert not page.exception
    assert page.session_state["state"].table == "wine"
    alcohol = load_dataset("wine").frame["alcohol"]
    want = f"{alcohol.min():.6g} to {alcohol.max():.6g}, mean {alcohol.mean():.6g}"
    assert shown(page, "holds")["alcohol"] == want
    assert class_rows(page) == [59, 71, 48]


def test_every_data_set_is_in_the_gallery(page: AppTest):
    offered = {b.key.removeprefix("use_") for b in page.button if b.key.startswith("use_")}
    assert {"watermelon3", "loan", "mushroom", "penguins", "sms-spam", "sms-spam-zh"} <= offered


@pytest.mark.slow
def test_the_gallery_is_drawn_only_while_it_is_open() -> None:
    """Open on the first visit; beside a chosen table it is closed, and costs nothing until it is opened."""
    app = opened("data", State(table="iris"))
    assert not [b for b in app.button if str(b.key).startswith("use_")]
    app.session_state["worked_examples_False"] = True  # a person opens the box
    app.run()
    app.button(key="use_loan").click().run()
    assert not app.exception and app.session_state["state"].table == "loan"


def test_a_gb18030_file_with_chinese_headers(page: AppTest):
    cities = ("北京", "上海", "广州")
    lines = [f"张伟,{cities[i % 3]},{3000 + 150 * i},{'高' if i > 8 else '低'}" for i in range(20)]
    upload(page, "表.csv", "\n".join(["姓名,城市,收入,类别", *lines]).encode("gb18030"))
    assert page.session_state["state"].table.startswith("upload:")
    assert list(heads(page)) == ["姓名", "城市", "收入", "类别"]
    assert cells(page, "城市")[0] == "北京"
    assert page.selectbox(key="read_encoding").value == "gb18030"
    assert any("encoding guessed: gb18030" in m.value for m in page.markdown)
    page.selectbox(key="read_encoding").select("cp1252").run()
    assert seen(page.session_state["state"], "read") == (("encoding", "cp1252"),)
    assert "城市" not in heads(page)
    page.selectbox(key="read_encoding").select("gb18030").run()
    assert cells(page, "城市")[0] == "北京"


def test_a_way_of_reading_that_does_not_fit_leaves_the_table(page: AppTest):
    upload(page, "t.csv", "名,y\n甲,a\n乙,b\n".encode() * 1)
    page.selectbox(key="read_encoding").select("utf-16").run()
    assert any("That does not work" in e.value for e in page.error)
    assert list(heads(page)) == ["名", "y"]
    assert page.selectbox(key="read_encoding").value == "utf-8"


@pytest.mark.slow
def test_header_and_missing_tokens_are_overridden(page: AppTest):
    upload(page, "t.csv", b"a,b,y\n1,NA,u\n2,NA,v\n3,NO,u\n4,DE,v\n")
    assert shown(page, "missing")["b"] == 0.0
    page.multiselect(key="read_missing").set_value(["NA"]).run()
    assert shown(page, "missing")["b"] == 0.5
    page.selectbox(key="read_header").select(0).run()
    assert list(heads(page)) == ["column_1", "column_2", "column_3"]


@pytest.mark.parametrize(
    ("content", "says"), [(PNG, "PNG image"), (b"", "empty"), (b"<!doctype html><p>sign in", "web page")]
)
def test_a_file_that_is_no_table_is_said_and_the_table_stays(page: AppTest, content: bytes, says: str):
    page.button(key="use_iris").click().run()
    upload(page, "x.csv", content)
    assert says in page.error[0].value
    assert page.session_state["state"].table == "iris"
    assert len(cells(page, "species")) == 150


@pytest.mark.slow
def test_a_target_with_one_class_is_refused_and_the_old_one_stays(page: AppTest):
    upload(page, "h.csv", HEIGHTS.encode())
    names = list(heads(page))
    page.selectbox(key="target").select(names.index("job")).run()
    assert "a classifier needs two" in page.error[0].value
    assert page.session_state["state"].columns == ()
    assert page.selectbox(key="target").value == names.index("tall")
    assert shown(page, "role")["tall"] == "target"


@pytest.mark.slow
def test_a_constant_target_is_refused_where_it_is_chosen(page: AppTest):
    """It was said in a closed list of columns, and the choice seemed to jump back by itself."""
    upload(page, "t.csv", HEIGHTS.encode())
    page.selectbox(key="target").select_index(2).run()
    assert "the target 'job' holds 1 class in the rows with a value" in page.error[0].value.replace("\\", "")
    assert not any(e.error for e in page.expander) and page.selectbox(key="target").value == 3
    page.selectbox(key="target").select_index(1).run()
    assert not page.error and page.selectbox(key="target").value == 1


@pytest.mark.parametrize(("cell", "why"), [("cook", "holds 1 class"), ("", "holds empty values")])
@pytest.mark.slow
def test_a_constant_class_is_no_reason_to_foretell_another_column(cell: str, why: str):
    at = opened("data", State(language="en"))
    rows = "".join(f"{i % 7 + 0.5},{'FM'[i % 2]},{cell}\n" for i in range(40))
    upload(at, "t.csv", f"age,sex,class\n{rows}".encode())
    assert at.selectbox(key="target").value == 2
    assert "No model can be fitted yet" in at.error[0].value and why in at.error[0].value
    at.switch_page("pages/model.py").run()
    assert why in at.error[0].value and not at.metric
    at.switch_page("pages/data.py").run()
    at.selectbox(key="target").select_index(1).run()
    assert not at.exception and not at.error


def test_a_table_without_a_target_says_what_to_do(page: AppTest):
    lines = "".join(f"{i % 3},{i}.5,{i * 2}.25\n" for i in range(60))
    upload(page, "n.csv", ("z,x,y\n" + lines).encode())
    assert "choose the column that holds the classes" in page.error[0].value
    page.selectbox(key="target").select(1).run()
    assert "holds 60 different numbers, too many to be classes" in page.error[-1].value
    assert page.session_state["state"].columns == ()
    page.selectbox(key="target").select(0).run()
    assert not page.error
    assert class_rows(page) == [20, 20, 20]


@pytest.mark.slow
def test_missing_labels_are_counted(page: AppTest):
    upload(page, "h.csv", (HEIGHTS + "170,Oslo,cook,\n").encode())
    assert any("1 row without a value in 'tall' is left out" in c.value.replace("\\", "") for c in page.caption)


@pytest.mark.slow
def test_roles_change_and_are_in_the_state(page: AppTest):
    upload(page, "h.csv", HEIGHTS.encode())
    edit_columns(page, city={"role": "ignore"})
    assert page.session_state["state"].columns == ((1, "ignore", "", ()),)
    edit_columns(page, city={"role": "feature"})
    assert page.session_state["state"].columns == ()


@pytest.mark.slow
def test_another_target_makes_the_old_one_a_feature(page: AppTest):
    upload(page, "h.csv", HEIGHTS.encode())
    page.selectbox(key="target").select(1).run()
    assert shown(page, "role") == {"height": "feature", "city": "target", "job": "ignore", "tall": "feature"}
    edit_columns(page, tall={"role": "target"})
    assert shown(page, "role")["city"] == "feature"
    assert page.session_state["state"].columns == ()


def test_changes_that_cannot_stand_are_refused(page: AppTest):
    upload(page, "h.csv", HEIGHTS.encode())
    for name, cells, says in (
        ("tall", {"role": "ignore"}, "one column must be the target"),
        ("city", {"kind": "continuous"}, "row 1 holds 'Oslo', which is no number"),
        ("city", {"kind": "binary"}, "it holds 3 different values"),
        ("city", {"role": "weight"}, "not a number of 0 and more"),
        ("job", {"role": "feature"}, "change its kind first"),
    ):
        edit_columns(page, **{name: cells})
        assert says in page.error[0].value.replace("\\", ""), name
        assert page.session_state["state"].columns == ()
        assert shown(page, "role") == {"height": "feature", "city": "feature", "job": "ignore", "tall": "target"}


def test_a_weight_is_taken_and_another_refused(page: AppTest):
    upload(page, "h.csv", HEIGHTS.replace("\n", ",2\n").replace("tall,2", "tall,n").encode())
    edit_columns(page, height={"role": "weight"})
    edit_columns(page, n={"role": "weight"})
    assert "'height' has the role weight already" in page.error[0].value.replace("\\", "")


@pytest.mark.slow
def test_levels_are_reordered_and_added_and_losses_follow(page: AppTest):
    page.button(key="use_watermelon3").click().run()
    losses = ((0.0, 5.0), (1.0, 0.0))
    page.session_state["state"] = replace(page.session_state["state"], losses=losses, prior=(0.9, 0.1))
    page.button(key="level_1").click().run()
    state = page.session_state["state"]
    assert state.columns == ((8, "", "", (1, 0)),)
    assert state.losses == ((0.0, 1.0), (5.0, 0.0))
    assert state.prior == (0.1, 0.9)
    page.selectbox(key="levels_of").select(0).run()
    page.text_input(key="new_level").set_value("yellow").run()
    assert page.session_state["state"].columns[0] == (0, "", "", (0, 1, 2, "yellow"))
    assert page.selectbox(key="level_at").options == ["1 · green", "2 · dark", "3 · pale", "4 · yellow"]


@pytest.mark.slow
def test_the_same_file_again_restores_what_the_state_says_of_it(page: AppTest):
    upload(page, "h.csv", HEIGHTS.encode())
    edit_columns(page, city={"role": "ignore"})
    state = page.session_state["state"]
    other = AppTest.from_file(APP, default_timeout=PATIENCE)
    other.switch_page("pages/data.py")
    other.query_params["s"] = page.query_params["s"]
    other.run()
    assert any("Upload the same file" in w.value for w in other.warning)
    upload(other, "again.csv", HEIGHTS.encode())
    assert other.session_state["state"] == state
    assert shown(other, "role")["city"] == "ignore"


@pytest.mark.slow
def test_hostile_names_are_shown_as_they_are(page: AppTest):
    name = "![x](http://127.0.0.1:9/p.png)"
    upload(page, "h.csv", f'"{name}",y\n<b>a</b>,u\n$x$,v\n<b>a</b>,v\n'.encode())
    assert shown(page, "role")[name] == "feature"
    assert not any("](http:" in m.value for m in (*page.markdown, *page.caption, *page.error))


@pytest.mark.slow
def test_the_other_sheet_of_a_workbook_is_one_choice_away(page: AppTest) -> None:
    book, content = Workbook(), BytesIO()
    book.remove(book.active)
    for title, n in (("first", 12), ("second", 20)):
        sheet = book.create_sheet(title)
        sheet.append(["size", "kind"])
        for i in range(n):
            sheet.append([i * 0.5, "abab"[i % 4]])
    book.save(content)
    upload(page, "both.xlsx", content.getvalue())
    assert len(cells(page, "size")) == 12
    page.selectbox(key="read_sheet").select("second").run()
    assert not page.exception
    assert len(cells(page, "size")) == 20


def test_the_words_that_streamlit_writes_itself_are_put_into_the_language_by_a_style() -> None:
    def style(language: str) -> str:
        return "".join(str(e.proto.body) for e in opened("data", State(language=language)).get("html"))

    assert "stFileUploaderDropzone" not in style("en"), "English says what it says"
    chinese = style("zh")
    for what in ("stFileUploaderDropzone", "stFileUploaderDropzoneInstructions", "InputInstructions"):
        assert f'[data-testid="{what}"]' in chinese
    assert " 50 MB" in chinese


@pytest.mark.slow
@pytest.mark.parametrize("heads", ["age,risk,job", "job,old,age"])
def test_words_that_a_browser_held_before_a_file_came_are_no_edit(heads: str) -> None:
    """What it asks for meanwhile says how all widgets stood: a column, which the file has not, or has elsewhere."""
    cells = b"1,a,2\n2,b,1\n3,a,2\n4,b,1\n" * 9
    app = uploaded(b"x,y,job\n" + cells, page="data")
    held = app._tree.get_widget_states()
    assert "job" in [w.string_value for w in held.widgets]
    mark = give(app, TABLE, "t.csv", f"{heads}\n".encode() + cells)
    state = State(table=f"upload:{mark}", language="en", columns=((1, "target", "", ()),))
    app.session_state["state"] = state  # it came during a run
    app.run()
    for _look in range(2):
        app._run(held)
        assert not app.exception
        assert app.session_state["state"] == state
        assert app.selectbox(key="target").value == 1
    app.selectbox(key="target").set_value(0).run()
    assert (0, "target", "categorical", ()) in app.session_state["state"].columns


def test_what_no_column_can_be_is_refused_in_words_and_all_is_taken_back() -> None:
    start = State(table="watermelon3", language="en")
    places = active.in_use(start).schema.position
    target = places[active.in_use(start).schema.target.name]
    both = columns.with_roles(start, {1: "ignore", 2: "ignore"})
    assert [entry[:2] for entry in both.columns] == [(1, "ignore"), (2, "ignore")]
    assert columns.all_as_inferred(both).columns == ()
    for wrong in (
        lambda: columns.with_roles(start, {1: "ignore", target: "ignore"}),
        lambda: columns.with_kind(start, 1, "constant"),
        lambda: columns.with_levels(start, 1, ("a", " ")),
    ):
        with pytest.raises(TableError):
            wrong()
    with pytest.raises(TableError, match="cannot be made constant"):
        columns.with_kind(start, 1, "constant")
    case = columns.with_roles(replace(start, case=(0,) * 8), {1: "ignore", 2: "ignore"}).case
    assert len(case) == 6
