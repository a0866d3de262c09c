"""The page Chapter, and the bar of a lesson on the pages that lessons open."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest

from bayes_engine.language import set_language
from bayes_engine.workbench.exercises.kinds import KINDS
from bayes_engine.workbench.exercises.sheet import Blank, Drawn
from bayes_engine.workbench.lessons.built_in import contents, lessons, of_section
from pages.active import lesson_in_use, tables
from pages.runtime.state import START, State
from pages.views.chapter import lessons as lessons_view
from tests.apptest.opened import opened, seen, showing
from tests.conftest import slowly

FIRST = {"maximum-likelihood", "rare-class"}
"""Lessons that are opened by default: their pages are drawn by no other test."""


def said(app) -> str:
    """All words on the page, indices as they are typed and not as formulas."""
    words = "\n".join(e.value for e in (*app.markdown, *app.caption)).replace("\\", "").replace("\u2060", "")
    return re.sub(r"\$(\w_)\{(\w+)\}\$", r"\1\2", words)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_part_of_the_chapter_shows_all_that_it_has(language: str) -> None:
    state, chapter = State(language=language), contents()
    for section in chapter.sections:
        app = opened("chapter", showing(state, chapter_section=section.name))
        for name in of_section(section.name):
            assert lessons()[name].text("title", language) in said(app)
            assert app.button(key=f"lesson_{name}")
    app = opened("chapter", showing(state, chapter_part="words"))
    assert all(term.en in said(app) and term.zh in said(app) for term in chapter.terms)
    app = opened("chapter", showing(state, chapter_part="errata"))
    assert all(one.text("right", language) in said(app) for one in chapter.corrections)
    app = opened("chapter", showing(state, chapter_part="examples"))
    assert len([b for b in app.button if (b.key or "").startswith("example_")]) == len(chapter.examples)


@pytest.mark.parametrize("part", ["lessons", "words", "errata", "examples"])
def test_a_part_of_the_chapter_shows_the_first_of_what_it_has(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chapter = contents()
    few = replace(chapter, **{f.name: getattr(chapter, f.name)[:2] for f in fields(chapter) if f.name != "sections"})
    monkeypatch.setattr(lessons_view, "contents", lambda: few)
    monkeypatch.setattr(lessons_view, "of_section", lambda name: of_section(name)[:2])
    monkeypatch.setattr(lessons_view, "dataset_names", lambda: ["watermelon3"])
    app = opened("chapter", showing(State(language="en"), chapter_part=part))
    keys = [b.key for b in app.button if b.key]
    first = of_section(chapter.sections[0].name)[0]
    shown, wanted = {
        "lessons": ([lessons()[first].text("title", "en")], [f"lesson_{first}"]),
        "words": ([term.zh for term in few.terms], ["term_0", "term_1"]),
        "errata": ([one.text("right", "en") for one in few.corrections], ["correction_1", "erratum_watermelon3_0"]),
        "examples": ([], ["example_0", "example_1"]),
    }[part]
    assert {*wanted} <= {*keys} and not {"term_2", "correction_2", "example_2"} & {*keys}
    assert all(one in said(app) for one in shown)


@pytest.mark.slow
def test_an_example_opens_on_its_page() -> None:
    app = opened("chapter", showing(State(language="en"), chapter_part="examples"))
    app.button(key="example_1").click().run()
    assert not app.exception
    assert app.session_state["page"] == "case" and app.session_state["state"].shelf[0].preset == "laplace"
    assert "0.9970" in said(app)


@pytest.mark.slow
def test_start_leads_to_a_section() -> None:
    app = opened("start", State(language="en"))
    app.button(key="start_section_7.3").click().run()
    assert app.session_state["page"] == "chapter" and seen(app.session_state["state"], "chapter_section") == "7.3"


@pytest.mark.slow
def test_the_bar_steps_tries_shows_and_begins_again() -> None:
    app = opened("case", lesson_in_use.begun("laplace-correction", State(language="en")))
    assert "step 2 of 7" in said(app)
    app.text_input(key="lesson_answer").set_value("three").run()
    assert "Write a number" in said(app)
    app.text_input(key="lesson_answer").set_value("0.0909").run()
    assert "Right: 0.0909" in said(app)
    app.button(key="lesson_try").click().run()
    assert app.session_state["state"].shelf[0].parameters == (("alpha", 2.0),)
    app.button(key="lesson_show").click().run()
    assert "It is 0.1429" in said(app).replace("**", "")
    app.button(key="lesson_again").click().run()
    assert app.session_state["state"] == lesson_in_use.begun("laplace-correction", State(language="en"))
    app.button(key="lesson_next").click().run()
    assert seen(app.session_state["state"], "lesson") == "where-to-smooth"
    app.button(key="lesson_leave").click().run()
    assert "step" not in said(app).split("\n")[1] and app.session_state["state"].shelf[0].preset == "zero-only"


@pytest.mark.slow
def test_a_question_on_another_table_says_that_it_has_no_answer_there() -> None:
    state = lesson_in_use.begun("laplace-correction", State(language="en")).on_table("iris")
    app = opened("case", showing(state, lesson_answer="1/11"))
    assert "there is no '是' here" in said(app)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "table", "words"), [
    ("fisher-and-pca", "play-tennis", "no two columns of numbers"),
    ("project-first", "loan", "no two columns of numbers"),
    ("em-mixture", "watermelon2", "no two columns of numbers"),
    ("conditional-mutual-information", "iris", "there is no '根蒂' here"),
])  # fmt: skip
def test_a_question_of_what_another_table_has_not_is_answered_in_words(name: str, table: str, words: str) -> None:
    state = lesson_in_use.begun(name, State(language="en")).on_table(table)
    app = opened("chapter", showing(state, lesson_answer="1", lesson_shown=True))
    assert words in said(app)


@pytest.mark.slow
def test_a_link_with_a_lesson_that_is_not_there_opens_its_page() -> None:
    app = opened("case", State(language="en", view=(("lesson", "../iris"),)))
    assert not [b for b in app.button if b.key == "lesson_leave"]


@pytest.mark.parametrize("name", [name if name in FIRST else slowly(name) for name in lessons()])
def test_every_lesson_opens_its_page_and_the_page_further_on(name: str) -> None:
    lesson = lessons()[name]
    app = opened(lesson.page, showing(lesson_in_use.begun(name, START), lesson_shown=True))
    assert not app.error and not app.warning, [e.value for e in (*app.error, *app.warning)]
    further = opened(lesson.deeper.page, lesson_in_use.with_values(name, lesson.deeper.state, START))
    assert not further.error


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ["naive-bayes", "spode", "aode", "tree", "losses", "em", "gibbs", "fisher", "rows"])
def test_a_sheet_is_checked_step_by_step_and_shows_its_key(kind: str, language: str) -> None:
    state = showing(State(language=language, table="watermelon3"), chapter_part="exercises", sheet=kind, sheet_number=2)
    app = opened("chapter", state)
    assert not app.exception
    table = tables.in_use(state)
    assert isinstance(table, tables.FittableTable)
    set_language(language)
    try:
        sheet = KINDS[kind](Drawn(table.parts, table, 2))
    finally:
        set_language("en")
    for step in sheet.asked:
        if isinstance(step, Blank):
            app.text_input(key=f"fill_{step.key}").set_value(f"{step.right:.5g}").run()
        else:
            app.selectbox(key=f"fill_{step.key}").select_index(step.right).run()
    assert not app.exception and app.success
    app.toggle(key="sheet_key").set_value(True).run()
    assert len([c for c in app.caption if c.value.startswith(("Key", "答案"))]) == len(sheet.asked)
    app.button(key="sheet_another").click().run()
    assert seen(app.session_state["state"], "sheet_number") == 3 and not app.success


def test_a_sheet_that_the_table_cannot_give_offers_another_table() -> None:
    app = opened("chapter", showing(State(language="en", table="iris"), chapter_part="exercises", sheet="tree"))
    assert "three columns" in app.info[0].value
    app.button(key="sheet_table").click().run()
    assert app.session_state["state"].table == "play-tennis" and app.text_input(key="fill_i0")
