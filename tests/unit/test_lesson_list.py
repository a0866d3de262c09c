"""Lists of lessons: what is written is read again, what is wrong in one lesson is said with its line and leaves the
others, and nothing that a stranger writes breaks the reader."""

from __future__ import annotations

import random
from dataclasses import fields

import pytest

from bayes_engine.datasets import datasets_folder
from bayes_engine.errors import BayesEngineError
from bayes_engine.workbench.lessons.built_in import lessons
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity, Lesson, LessonList
from bayes_engine.workbench.lessons.lesson_list import MOST, MOST_BYTES, read_list, write_list
from pages.active import files, own_lessons
from pages.active.files import File
from pages.runtime.state import State, decode, encode, state_from_values
from tests.fixtures.addresses import ADDRESSES

CHAPTER = LessonList("The chapter", tuple(lessons().values()))


def test_the_lessons_of_the_chapter_are_a_list_and_each_file_of_theirs_is_one() -> None:
    written = write_list(CHAPTER)
    read = read_list(written.encode(), "mine.toml")
    assert write_list(read.lessons) == written and not read.problems
    assert len(read.lessons.lessons) == len(lessons())
    one = datasets_folder() / "chapter" / "lessons" / "laplace-correction.toml"
    assert read_list(one.read_bytes(), one.name).lessons.lessons == (lessons()["laplace-correction"],)


def test_a_lesson_of_the_chapter_has_all_that_a_lesson_can_have() -> None:
    may_be_empty = {"predict", "formula", "equation", "concepts", "open_questions", "derivations"}
    for name, lesson in lessons().items():
        empty = {f.name for f in fields(Lesson) if f.name != "state" and not getattr(lesson, f.name)}
        assert empty <= may_be_empty, name


def test_every_state_that_an_address_can_hold_comes_back_from_a_list() -> None:
    for address in ADDRESSES:
        state = state_from_values({**address.state, "view": dict(address.state.get("view", ()))})
        assert state is not None
        step = Lesson(title="x", page=address.page, state=own_lessons.values_of(state))
        (again,) = read_list(write_list(LessonList("", (step,))).encode(), "m").lessons.lessons
        wanted = state.__class__(
            **{f.name: getattr(state, f.name) for f in fields(State)} | {"language": "", "labels": ""}
        )
        assert state_from_values(again.state) == wanted


BROKEN = """title = "Mine"

[[lesson]]
title = "One"
page = "case"
state = { table = "iris" }

[[lesson]]
title = "Two"
page = "case
state = {}

[[lesson]]
title = "Three"
page = "nowhere"
state = {}

[[lesson]]
title = "Four"
page = "model"
[lesson.state]
losses = [[1e10]]

[[lesson]]
title = "Five"
page = "model"
[lesson.state]
table = "loan"
[lesson.answer]
quantity = "posterior"
arguments = { klass = "x" }

[[lesson]]
title = "Six"
page = "start"
state = {}
question = "Why?"
"""


def test_a_broken_lesson_is_said_with_its_line_and_the_others_open() -> None:
    read = files.read_lessons(File.of("mine.toml", BROKEN.encode()))
    assert [one.title for one in read.lessons.lessons] == ["One"] and read.lessons.title == "Mine"
    said = [str(problem) for problem in read.problems]
    assert len(said) == 5
    for beginning, why in (
        ("'mine.toml:10' is not valid TOML", "line 10"),
        ("'mine.toml:29': key 'lesson.answer'", "has the arguments class, not klass"),
        ("'mine.toml:37': key 'lesson.question'", "a question has an answer"),
        ("'mine.toml:13': the lesson 'Three'", "a page that is not here"),
        ("'mine.toml:18': the lesson 'Four'", "a state that no page makes"),
    ):
        assert any(one.startswith(beginning) and why in one for one in said), (beginning, said)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff\xfe\x00", "'x:1' is no text in UTF-8"),
        (b"a = 1\nb = '\xe9'", "'x:2' is no text in UTF-8"),
        (b"#" * (MOST_BYTES + 1), "is longer than"),
    ],
)
def test_what_is_no_text_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(BayesEngineError, match=why):
        read_list(content, "x")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"cells": []}', "'x:1' is not valid TOML"),
        ("", "'x:1': key 'title' is missing"),
        ("name = 1\n[[lesson]]\n", "'x:1': before the first"),
        ("[[lesson]]\n[other]\na = 1", "'x:1': \\[other\\] belongs to no lesson"),
        ("[[lesson]]\ntitle = '''\n", "'x:2' is not valid TOML"),
        ("[[lesson]]\ntitle = ' '\npage = 'case'\nstate = {}", "'x:2': key 'lesson.title': a lesson has a title"),
        ("[[lesson]]\n" + "#" * 20_001, "'x:1': a lesson has at most 20000"),
    ],
)
def test_a_foreign_file_says_what_is_wrong_in_which_line(text: str, why: str) -> None:
    read = read_list(text.encode(), "x")
    assert read.lessons.lessons == ()
    with pytest.raises(BayesEngineError, match=why):
        raise BayesEngineError("{problem}", problem=read.problems[0])


def test_a_list_is_bounded() -> None:
    step = Lesson(title="x", page="case", state={})
    text = write_list(LessonList("", (step,) * MOST))
    read = read_list((text + "\n[[lesson]]\ntitle = 'y'\npage = 'case'\nstate = {}\n").encode(), "x")
    assert len(read.lessons.lessons) == MOST and "the first are read" in str(read.problems[0])
    with pytest.raises(BayesEngineError, match="at most 60 lessons"):
        write_list(LessonList("", (step,) * (MOST + 1)))
    with pytest.raises(BayesEngineError, match="at most 20000 characters"):
        write_list(LessonList("", (Lesson(title="x" * 20_001, page="case", state={}),)))


def test_texts_of_any_kind_come_back() -> None:
    odd = '"\\\x00\x7f\u2028\u202e[[lesson]]\n[[lesson]]\r\t{x} <b> $y$ 青'
    step = Lesson(title=odd, page="case", state={"view": {odd: [odd, [1, 0.5, -1e-9, True]], "": ""}},
                  question=odd, answer=AskedQuantity("posterior", {"class": odd}))  # fmt: skip
    assert read_list(write_list(LessonList(odd[:60], (step,))).encode(), "x").lessons == LessonList(odd[:60], (step,))


@pytest.mark.slow
def test_no_file_breaks_the_reader() -> None:
    rng, whole = random.Random(223), write_list(LessonList("x", CHAPTER.lessons[:6])).encode()
    pieces = (b"", b"[[lesson]]\n", b"[lesson.state]\n", b"=", b"{" * 2000, b"[" * 2000, b'"', b"'''", b"\xff", b"\x00",
              b"nan", b"9" * 5000, b"state = 1", b"view = { own_given = 'x' }", b"1e999", b"2026-11-26")  # fmt: skip
    for _n in range(750):
        content = whole
        for _change in range(rng.randint(1, 5)):
            i, j = sorted(rng.randrange(len(content)) for _end in range(2))
            content = (
                content[:i] + rng.choice((content[i : i + 40], *pieces)) + content[min(j, i + rng.randrange(90)) :]
            )
        try:
            read = files.read_lessons(File.of("x", content))
        except BayesEngineError:  # no text
            continue
        assert all(str(problem) and problem.local() for problem in read.problems)
        again = read_list(write_list(read.lessons).encode(), "x")
        assert write_list(again.lessons) == write_list(read.lessons) and not again.problems
        for one in read.lessons.lessons:
            state = state_from_values(one.state)
            assert state is not None and decode(encode(state)) == state
