"""A teacher asks the class, visitors answer, and the answers come together: sessions of one process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.workbench.launch import CLASSROOM
from bayes_engine.workbench.lessons.class_answers import CLASS
from pages.active import lesson_in_use
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.state import START, State
from tests.apptest.opened import opened
from tests.apptest.test_own_lesson import with_steps


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A classroom, and the key of its teacher."""
    monkeypatch.setenv(CLASSROOM, "1")
    yield CLASS.new_key()
    CLASS.end()


def said(app: AppTest) -> str:
    return "\n".join(e.value for e in app.markdown).replace("\\", "").replace("\u2060", "").replace("**", "")


def counted(app: AppTest) -> str:
    return "".join(e.proto.body for e in app.get("html") if "class_count" in e.proto.body)


def teacher(key: str, lesson: str = "naive-bayes") -> AppTest:
    app = opened("case", lesson_in_use.begun(lesson, State(language="en")))
    app.button(key="teacher").click().run()
    app.text_input(key="teacher_key").set_value(key).run()
    return app


def has(app: AppTest, button: str) -> bool:
    return any(each.key == button for each in app.button)


def answers(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> AppTest:
    monkeypatch.setattr(private, "visitor", lambda: name)
    app = opened("start", State(language="en"))
    assert "Your class is asked: What is P(good | x) of this melon?" in said(app)
    app.button(key="class_answer").click().run()
    app.text_input(key="lesson_answer").set_value(text).run()
    if not app.button(key="lesson_commit").disabled:
        app.button(key="lesson_commit").click().run()
    return app


@pytest.mark.slow
def test_without_the_key_nobody_asks(key: str) -> None:
    app = teacher("AAAA-AAAA-AAAA")
    app.button(key="teacher").click().run()
    assert not has(app, "class_ask") and "not the key" in said(app)
    app.button(key="teacher").click().run()
    app.text_input(key="teacher_key").set_value(key).run()
    assert has(app, "class_ask") and app.session_state["state"] == lesson_in_use.begun("naive-bayes", State("en"))


@pytest.mark.slow
def test_a_class_answers_and_its_teacher_reveals(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = teacher(key)
    app.button(key="class_ask").click().run()
    assert "0 answers" in counted(app) and "0.9987" not in said(app)
    first = answers(monkeypatch, "ann", "97 %")
    assert "Sent: 97 %" in said(first) and "0.9987" not in said(first)
    answers(monkeypatch, "ben", "0.2")
    answers(monkeypatch, "ben", "25 %")  # the last one counts
    unreadable = answers(monkeypatch, "eve", "<b>very</b>")
    assert "Write a number" in said(unreadable)
    app.run()
    assert "2 answers" in counted(app) and "class_answers" not in counted(app)
    app.button(key="class_show").click().run()
    assert [b.n for b in CLASS.histogram()] == [0, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    assert "20–30 %" in counted(app) and "very" not in counted(app)
    app.button(key="class_reveal").click().run()
    assert "✓" in counted(app) and "0.9987" in said(app)
    monkeypatch.setattr(private, "visitor", lambda: "ann")
    first.run()
    assert "You said 97 %; it is 99.87 %: 2.87 percentage points apart." in said(first) and "0.9987" in said(first)
    app.button(key="class_again").click().run()
    assert "0 answers" in counted(app) and CLASS.given("ann") is None
    first.run()
    assert has(first, "lesson_commit") and "0.9987" not in said(first)
    app.button(key="class_end").click().run()
    assert CLASS.question is None and not has(app, "class_reveal")


@pytest.mark.slow
def test_a_visitor_cannot_look_past_the_question(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = teacher(key)
    app.button(key="class_ask").click().run()
    monkeypatch.setattr(private, "visitor", lambda: "eve")
    forged = lesson_in_use.begun("naive-bayes", START).showing(keys.LESSON_COMMITTED.to("0.5"))
    assert "0.9987" not in said(opened("case", forged))
    assert "class_ask" not in [b.key for b in opened("case", forged).button]


def test_a_step_of_ones_own_list_is_asked_too(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = with_steps("decisions", own_step=1)
    app.button(key="teacher").click().run()
    app.text_input(key="teacher_key").set_value(key).run()
    app.button(key="class_ask").click().run()
    assert CLASS.question is not None and not app.get("plotly_chart")
    monkeypatch.setattr(private, "visitor", lambda: "ann")
    one = opened("start", State(language="en"))
    assert "Your class is asked: What does it cost?" in said(one)
    one.button(key="class_answer").click().run()
    assert one.session_state["page"] == "decisions"
    one.switch_page("pages/decisions.py")
    one.text_input(key="lesson_answer").set_value("0.2").run()
    one.button(key="lesson_commit").click().run()
    assert "Sent: 0.2" in said(one) and "appears once you have committed" in said(one)
    assert CLASS.count() == 1
    app.button(key="class_reveal").click().run()
    one.run()
    assert "You said 0.2000; it is 0.0549" in said(one) and "appears once" not in said(one)


def test_a_class_chooses(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = teacher(key, "bayes-decision-rule")
    app.button(key="class_ask").click().run()
    monkeypatch.setattr(private, "visitor", lambda: "ann")
    one = opened("start", State(language="zh"))
    one.button(key="class_answer").click().run()
    one.segmented_control(key="lesson_choice").set_value(1).run()
    one.button(key="lesson_commit").click().run()
    app.button(key="class_show").click().run()
    assert [b.n for b in CLASS.histogram()] == [0, 1] and "decide bad" in counted(app)
    app.button(key="class_reveal").click().run()
    assert "decide good ✓" in counted(app)


@pytest.mark.slow
def test_who_leaves_the_question_does_not_see_its_answer_in_the_same_state(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = teacher(key)
    app.button(key="class_ask").click().run()
    monkeypatch.setattr(private, "visitor", lambda: "eve")
    one = answers(monkeypatch, "eve", "0.5")
    one.switch_page("pages/case.py").run()
    one.button(key="lesson_leave").click().run()
    assert not one.exception and "0.9987" not in said(one) and "asked about just this state" in said(one)
    assert has(one, "class_answer")  # the way back
    for page in ("decisions", "model", "start", "classify"):
        one.switch_page(f"pages/{page}.py").run()
        assert not one.exception and "question that your class is asked" in one.info[0].value, page
        assert not one.get("plotly_chart")
    lone = opened("case", State(language="zh", table="watermelon3", case=(0, 0, 0, 0, 0, 0, 0.697, 0.46)))
    assert "0.9987" not in said(lone)  # by another way, too
    lone = opened("case", State(language="en", table="watermelon3", case=(1, 1, 0, 0, 1, 1, 0.36, 0.37)))
    assert "P(" in said(lone)  # another case is another state
    other = lesson_in_use.begun("mean-and-spread", State(language="en")).showing(keys.LESSON_COMMITTED.to("1"))
    assert "0.9987" not in said(opened("case", other.showing(keys.LESSON_PREDICTS.to(True))))  # and another lesson
    app.button(key="lesson_leave").click().run()
    assert "0.9987" not in said(app) and has(app, "class_answer")  # the teacher's screen is the projector's
    app.button(key="class_answer").click().run()
    app.button(key="class_reveal").click().run()
    one.switch_page("pages/case.py").run()
    assert "0.9987" in said(one)


@pytest.mark.slow
def test_a_question_of_the_laboratory_holds_nothing_else_back(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened("laboratory", lesson_in_use.begun("bayes-theorem", State(language="en")))
    app.button(key="teacher").click().run()
    app.text_input(key="teacher_key").set_value(key).run()
    app.button(key="class_ask").click().run()
    monkeypatch.setattr(private, "visitor", lambda: "ann")
    assert opened("start", START).get("plotly_chart") or not opened("start", START).info
    rates = State(language="en").showing(*lesson_in_use.begun("bayes-theorem", START).view)
    rates = lesson_in_use.left(rates)
    assert "asked about just this state" in said(opened("laboratory", rates))
