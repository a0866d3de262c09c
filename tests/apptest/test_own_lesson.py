"""One's own lesson: views are added to it, it is stepped through, saved, shared and opened again."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.datasets import load_dataset, load_network
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import TableError
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity, Lesson, LessonList
from bayes_engine.workbench.lessons.lesson_list import read_list, write_list
from pages import active
from pages.active import lesson_in_use, own_lessons, quantity_choices
from pages.active.files import LESSONS, digest
from pages.runtime.state import State, encode
from pages.shell import add_view
from pages.shell.workspace.form import GivenFile, Workspace, read, without_data, write
from pages.views.chapter import own
from tests.apptest.opened import APP, give, opened, seen, showing, step_to
from tests.conftest import PATIENCE

STEPS = LessonList(
    "Melons",
    (
        Lesson(title="One melon", page="case", state={"table": "watermelon3"}),
        Lesson(
            title="Its risk",
            page="decisions",
            state={"table": "watermelon3a", "losses": [[0, 5], [1, 0]]},
            question="What does it cost?",
            answer=AskedQuantity("least_risk"),
        ),
        Lesson(title="The tree", page="dependence", state={"table": "watermelon3"}),
    ),
)
TEXT = write_list(STEPS)


def with_steps(page: str, content: bytes = TEXT.encode(), **view: object) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    mark = give(app, LESSONS, "melons.toml", content)
    app.query_params["s"] = encode(showing(State(language="en"), own_list=mark, **view))
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def steps_of(app: AppTest) -> list[str]:
    digest = seen(app.session_state["state"], "own_list")
    files = app.session_state["files"]["lesson"]
    return [one.title for one in files[digest].reading.lessons.lessons] if digest else []


@pytest.mark.slow
def test_the_bar_steps_through_it_asks_and_ends_in_the_list() -> None:
    app = with_steps("chapter", chapter_part="own")
    app.button(key="own_begin").click().run()
    assert app.session_state["page"] == "case" and app.session_state["state"].table == "watermelon3"
    app.button(key="lesson_next").click().run()
    assert app.session_state["page"] == "decisions"
    app.text_input(key="lesson_answer").set_value("a melon").run()
    assert any("Write a number" in said.value for said in app.markdown)
    app.button(key="lesson_next").click().run()
    assert app.session_state["page"] == "dependence"
    app.button(key="lesson_next").click().run()
    state = app.session_state["state"]
    assert app.session_state["page"] == "chapter" and seen(state, "chapter_part") == "own"
    assert (
        lesson_in_use.OWN and seen(state, "own_step") == -1 and steps_of(app) == ["One melon", "Its risk", "The tree"]
    )


def test_what_the_list_sends_moves_renames_and_removes(monkeypatch: pytest.MonkeyPatch) -> None:
    app = with_steps("chapter", chapter_part="own")
    for sent, wanted in (
        ({"act": "move", "i": 2, "to": 0}, ["The tree", "One melon", "Its risk"]),
        ({"act": "title", "i": 1, "title": " x\ud800 "}, ["The tree", "x?", "Its risk"]),
        ({"act": "remove", "i": 2}, ["The tree", "x?"]),
        ({"act": "remove", "i": 5}, ["The tree", "x?"]),
        ({"act": "remove", "i": 0, "of": "another"}, ["The tree", "x?"]),
    ):
        state = app.session_state["state"]
        of = seen(state, "own_list")
        edit = own.read_edit({"of": of, **sent}, of, len(steps_of(app)))
        if edit is not None:
            monkeypatch.setattr(own_lessons, "held", lambda role: app.session_state["files"][role.name])
            monkeypatch.setattr(
                own_lessons, "keep", lambda up: app.session_state["files"]["lesson"].update({up.file.digest: up})
            )
            app.session_state["state"] = own_lessons.edited(state, lambda lessons, e=edit: own._do(lessons, *e))
        app.run()
        assert not app.exception and steps_of(app) == wanted


def test_a_broken_file_says_what_is_wrong_and_opens_the_rest() -> None:
    app = with_steps("chapter", TEXT.replace('page = "case"', "page = case").encode(), chapter_part="own")
    assert steps_of(app) == ["Its risk", "The tree"]
    (said,) = [one.value.replace("\\", "").replace("\u2060", "") for one in app.warning]
    assert "2 lessons were opened" in said and "'melons.toml:5' is not valid TOML" in said


def test_a_link_brings_the_lesson_and_its_address_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    given = State(language="en").showing(("chapter_part", "own"), ("own_given", TEXT))
    token = encode(given)
    assert len(token) < 1000
    app = opened("chapter", given)
    assert steps_of(app) == ["One melon", "Its risk", "The tree"]
    assert app.query_params["s"] == token and not seen(app.session_state["state"], "own_given")
    app.button(key="own_begin").click().run()
    assert len(app.query_params["s"]) < 200
    step_to(app, token)
    app.run()
    assert app.query_params["s"] == token and steps_of(app) == ["One melon", "Its risk", "The tree"]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x", "[[lesson]]", "[" * 3000, "\x00", '[[lesson]]\ntitle="a"\npage="b"\nstate={}'])
def test_a_forged_link_says_what_is_wrong(text: str) -> None:
    app = opened("chapter", State(language="en").showing(("chapter_part", "own"), ("own_given", text)))
    assert "0 lessons were opened" in app.warning[0].value


@pytest.mark.slow
def test_a_lesson_that_is_not_here_is_said() -> None:
    app = opened("chapter", showing(State(language="en"), chapter_part="own", own_list="0" * 16, own_step=3))
    assert "names a lesson that is not here" in app.warning[0].value


def test_share_offers_the_lesson_and_says_where_it_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAYES_WORKBENCH_CLASSROOM", "1")
    app = with_steps("case")
    app.session_state["share_what"] = "lesson"
    app.button(key="share").click().run()
    address = app.code[0].value
    assert "/chapter?s=1." in address and len(address) < 1000
    monkeypatch.setattr(own_lessons, "LONGEST_LINK", 100)
    app.session_state["share_what"] = "lesson"
    app.button(key="share").click().run()
    assert "too long for a link" in app.warning[0].value


@pytest.mark.slow
def test_a_workspace_keeps_the_lesson_also_without_data() -> None:
    content = TEXT.encode()
    state = showing(State(language="en"), own_list=digest(content))
    left = Workspace("case", state, {"lesson": GivenFile("melons.toml", digest(content), content)})
    for workspace in (left, without_data(left)):
        again = read(write(workspace), {"case"})
        kept = again.files["lesson"].content
        assert kept is not None and read_list(bytes(kept), "x").lessons == STEPS


CSV = b"a,b,y\n" + b"1,x,p\n2,z,q\n3,x,p\n4,z,q\n" * 5
FILES = LessonList(
    "Files",
    (
        Lesson(title="Mine", page="data", state={"table": f"upload:{digest(CSV)}"}),
        Lesson(title="A network", page="network", state={"view": {"net": "file:" + "0" * 16, "net_tab": "ask"}}),
        Lesson(title="Rows", page="classify", state={"table": "iris", "view": {"second": "1" * 16}}),
        Lesson(title="None", page="case", state={"table": "iris"}),
    ),
)


def told(app: AppTest) -> str:
    return "\n".join(e.value for e in app.markdown).replace("\u2060", "").replace("\\", "")


def test_a_step_that_stands_on_a_file_that_is_not_here_says_so_and_takes_it() -> None:
    app = with_steps("chapter", write_list(FILES).encode(), chapter_part="own")
    app.button(key="own_begin").click().run()
    assert "The table of this step is a file that is not here" in told(app)
    uploader = next(f for f in app.get("file_uploader") if f.key == "lesson_file_table")
    uploader.upload("other.csv", b"a,y\n1,p\n2,q\n").run()
    assert "That is another file" in told(app) and not app.session_state["files"].get("table")
    uploader = next(f for f in app.get("file_uploader") if f.key == "lesson_file_table")
    uploader.set_value(("mine.csv", CSV, "text/csv")).run()
    assert not app.exception and "not here" not in told(app)
    assert [one.name for one in app.session_state["files"]["table"].values()] == ["mine.csv"]
    app.button(key="lesson_next").click().run()
    assert "The network of this step is a file that is not here" in told(app)
    app.button(key="lesson_next").click().run()
    assert "The file that this step classifies is not here" in told(app)
    app.button(key="lesson_next").click().run()
    assert not [f for f in app.get("file_uploader") if (f.key or "").startswith("lesson_file")]


def test_what_is_on_screen_becomes_a_step_with_its_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """The dialog is drawn in a run in which its button is clicked; what was filled in stays from there on."""
    app = with_steps("decisions", own_step=1)
    app.button(key="add_view").click().run()
    assert not app.exception
    assert (app.text_input(key="add_caption").value, app.text_input(key="add_question").value) == (
        "Its risk", "What does it cost?",
    )  # fmt: skip
    assert app.selectbox(key="add_quantity").value == "least_risk"
    monkeypatch.setattr(add_view, "_fill_in", lambda _here: None)
    app.text_input(key="add_caption").set_value("")
    app.button(key="add_view").click().run()
    assert app.button(key="add_take").disabled
    app.text_input(key="add_caption").set_value("Its posterior")
    app.selectbox(key="add_quantity").set_value("posterior")
    app.button(key="add_view").click().run()
    assert any("It is 0." in one.value for one in app.caption)
    app.button(key="add_take").click()
    app.button(key="add_view").click().run()
    assert not app.exception and steps_of(app) == ["One melon", "Its risk", "The tree", "Its posterior"]
    added = app.session_state["files"]["lesson"][seen(app.session_state["state"], "own_list")].reading.lessons.lessons[
        3
    ]
    assert added.page == "decisions" and added.answer is not None and added.answer.quantity == "posterior"


def test_an_argument_of_a_quantity_is_chosen_among_what_the_page_has(monkeypatch: pytest.MonkeyPatch) -> None:
    melons = load_dataset("watermelon3")
    schema = melons.schema.features
    network = load_network("asia").network
    table = active.in_use(State(table="watermelon3", language="en"))
    here = SimpleNamespace(
        table=table, network=network, loss=LossMatrix.zero_one(("no", "yes")), model=SimpleNamespace(schema_=schema)
    )
    monkeypatch.setattr(quantity_choices, "OnScreen", lambda: here)
    choices, shown = quantity_choices.choices, quantity_choices.shown
    assert quantity_choices.arguments("contribution") == ("column", "for", "against")
    assert choices("risk", "decide", {}) == ["no", "yes"] and choices("posterior", "class", {}) == list(table.classes)
    assert choices("mean", "column", {}) == [v.name for v in schema if v.numeric]
    assert (
        choices("cpt_cell", "column", {}) == choices("information", "a", {}) == [v.name for v in schema if v.discrete]
    )
    column = schema.names[0]
    assert choices("cpt_cell", "level", {"column": column}) == list(schema[column].levels)
    assert choices("cpt_cell", "level", {}) == [] == choices("belief", "level", {"node": "nothing"})
    assert choices("belief", "node", {}) == list(network.names)
    assert choices("belief", "level", {"node": "tub"}) == list(network["tub"].variable.levels)
    assert shown("cpt_cell", "level", {"column": column}, schema[column].levels[0]) == table.level(
        column, schema[column].levels[0]
    )
    assert shown("posterior", "class", {}, table.classes[0]) == table.class_(table.classes[0])
    assert quantity_choices.argument_name("node") == "node" and shown("belief", "node", {}, "tub") == "tub"

    def nothing() -> None:
        raise TableError("there is no table here")

    monkeypatch.setattr(quantity_choices, "OnScreen", nothing)
    assert choices("posterior", "class", {}) == [] and shown("posterior", "class", {}, "yes") == "yes"
