"""Predict first: before a person commits, the answer of a lesson stands nowhere on its page; then its distance does."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.workbench.lessons.built_in import lessons
from bayes_engine.workbench.lessons.predictions import PREDICTIONS, asked_of
from pages.active import lesson_in_use, predicting
from pages.runtime import view_keys as keys
from pages.runtime.state import State
from tests.apptest.opened import opened
from tests.conftest import slowly


def by_default(*names: str) -> list[Any]:
    """All lessons, of which the others run apart."""
    return [name if name in names else slowly(name) for name in lessons()]


FRACTION = re.compile(r"(?<![\w./])(\d+)/(\d+)(?![\w/])")
NUMBER = re.compile(r"(?<![\w.])[-−]?\d*\.?\d+(?:e[-+]?\d+)?")


def elements(app: AppTest) -> Iterator[Any]:
    """The protobuf of everything that was sent, also of what AppTest has no class for."""

    def under(node: Any) -> Iterator[Any]:
        children = getattr(node, "children", None)
        if children:
            for child in children.values():
                yield from under(child)
        if (proto := getattr(node, "proto", None)) is not None:
            yield proto

    yield from under(app._tree)


def texts(app: AppTest) -> str:
    """All words and arguments on the page but for scripts, numbers in packed arrays written out."""
    parts = []
    for proto in elements(app):
        text = proto if isinstance(proto, str) else str(_without_script(proto))
        parts.append(text.encode().decode("unicode_escape", errors="replace") if "\\" in text else text)
        for field in ("spec", "json"):
            if isinstance(packed := getattr(proto, field, None), str) and "bdata" in packed:
                parts.extend(_unpacked(json.loads(packed)))
    parts.extend(frame.value.to_string(float_format=lambda v: f"{v:.6g}") for frame in app.dataframe)
    return "\n".join(parts)


def _without_script(proto: Any) -> Any:
    for name in ("js_content", "css_content"):
        if any(field.name == name for field in proto.DESCRIPTOR.fields):
            copied = type(proto)()
            copied.CopyFrom(proto)
            copied.ClearField(name)
            proto = copied
    return proto


def _unpacked(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "bdata" in value:
            array = np.frombuffer(base64.b64decode(value["bdata"]), np.dtype(value["dtype"]))
            yield " ".join(f"{v:.6g}" for v in array)
        for inner in value.values():
            yield from _unpacked(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _unpacked(inner)


def written(text: str, right: float, *, share: bool) -> list[str]:
    """The numbers of a text that are the answer to three digits or more; of a probability also 1 − P, and both in %."""
    found = []
    plain = text.replace("−", "-").replace("\u2060", "").replace("\\", "")
    for at in NUMBER.finditer(plain):
        number = at[0]
        digits = re.sub(r"e.*|[-.]", "", number).lstrip("0")
        if len(digits) < 3 or (value := float(number)) in (0, 1, 100):  # which are ends of sliders
            continue
        times = 100 if plain[at.end() : at.end() + 2].strip().startswith("%") else 1
        decimals = len(number.partition("e")[0].partition(".")[2])
        for one in [times * right, *([times * (1 - right)] if share else [])]:
            rounded = round(one, decimals) if "e" not in number else float(f"{one:.{decimals}e}")
            if value == rounded and abs(value - one) <= 6e-3 * abs(one):
                found.append(plain[max(at.start() - 60, 0) : at.end() + 10])
    for at in FRACTION.finditer(plain):
        value = float(at[1]) / float(at[2]) if float(at[2]) else 0.0
        if abs(value - right) <= 5e-4 * abs(right) and value not in (0, 1):
            found.append(plain[max(at.start() - 60, 0) : at.end() + 10])
    return found


def asks(name: str, language: str = "en") -> State:
    return lesson_in_use.begun(name, State(language=language)).showing(keys.LESSON_PREDICTS.to(True))


@pytest.mark.parametrize("name", by_default("bayes-decision-rule", "exercise-7-7"))
def test_the_answer_is_nowhere_before_a_person_commits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = lessons()[name]
    asked = asked_of(lesson)
    before = opened(lesson.page, asks(name))
    assert not before.error
    assert before.button(key="lesson_commit")
    kind = PREDICTIONS[asked.quantity].kind
    after = opened(lesson.page, asks(name).showing(keys.LESSON_COMMITTED.to("0")))
    assert len(list(elements(before))) < len(list(elements(after)))  # something was held back
    if kind == "choice":
        return
    monkeypatch.setattr("streamlit.session_state", {"state": asks(name)})
    question = predicting.question_in_use()
    assert question is not None
    right = predicting.answer(question)
    monkeypatch.undo()
    shown = written(texts(before), right, share=kind == "probability")
    assert not shown, (right, shown)
    if len(f"{right:g}".replace(".", "").lstrip("-0")) >= 3:  # the test can see it where it is shown
        assert written(texts(after), right, share=kind == "probability")


def said(app: AppTest) -> str:
    return "\n".join(e.value for e in app.markdown).replace("\\", "").replace("\u2060", "").replace("**", "")


@pytest.mark.parametrize("name", by_default("maximum-likelihood", "exercise-7-10", "conditional-mutual-information"))
def test_no_drawing_holds_packed_numbers_before_a_person_commits(name: str) -> None:
    app = opened(lessons()[name].page, asks(name, "zh"))
    assert not [proto for proto in elements(app) if getattr(proto, "bytes", b"") and hasattr(proto, "component_name")]


@pytest.mark.slow
def test_a_probability_is_slid_or_typed_and_its_distance_is_in_percentage_points() -> None:
    app = opened("case", asks("naive-bayes"))
    assert app.slider(key="lesson_slider").value == 50
    app.slider(key="lesson_slider").set_value(70).run()
    assert app.text_input(key="lesson_answer").value == "70 %"
    app.text_input(key="lesson_answer").set_value("0.9").run()
    assert app.slider(key="lesson_slider").value == 90
    app.button(key="lesson_commit").click().run()
    assert "You said 90 %; it is 99.87 %: 9.87 percentage points apart." in said(app)
    assert "0.9987" in said(app)  # the page's own sentence is there
    app.button(key="lesson_guess_again").click().run()
    assert app.button(key="lesson_commit") and "0.9987" not in said(app)


@pytest.mark.slow
def test_what_is_no_number_is_not_counted_as_wrong() -> None:
    app = opened("laboratory", asks("bayes-theorem"))
    app.text_input(key="lesson_answer").set_value("rather unlikely").run()
    assert "Write a number" in said(app) and app.button(key="lesson_commit").disabled
    app.text_input(key="lesson_answer").set_value("1/11").run()
    app.button(key="lesson_commit").click().run()
    assert "You said 9.091 %; it is 9.174 %: 0.0834 percentage points apart." in said(app)


@pytest.mark.slow
def test_a_choice_is_right_or_says_what_was_right() -> None:
    app = opened("case", asks("bayes-decision-rule"))
    assert app.button(key="lesson_commit").disabled
    app.segmented_control(key="lesson_choice").set_value(1).run()
    app.button(key="lesson_commit").click().run()
    assert "You chose decide bad; it is decide good." in said(app)
    app = opened("dependence", asks("conditional-mutual-information", "zh"))
    app.selectbox(key="lesson_choice").set_value(8).run()
    app.button(key="lesson_commit").click().run()
    assert "正确：根蒂 – 脐部" in said(app) or "根蒂 – 脐部" in said(app)


@pytest.mark.slow
def test_other_pages_are_held_back_and_a_step_goes_on_predicting() -> None:
    app = opened("decisions", asks("naive-bayes"))
    assert "could give the answer away" in app.info[0].value and not app.get("plotly_chart")
    app.button(key="lesson_to_question").click().run()
    assert app.session_state["page"] == "case"
    app.button(key="lesson_next").click().run()
    assert app.button(key="lesson_commit") and app.session_state["state"].seen(keys.LESSON) == "laplace-correction"
    app.button(key="lesson_no_prediction").click().run()
    assert app.button(key="lesson_show")
    app.button(key="lesson_predict").click().run()
    app.button(key="lesson_leave").click().run()
    assert "0.0000" in said(app) or "P(" in said(app)


@pytest.mark.slow
def test_a_state_that_has_no_answer_says_so() -> None:
    state = lesson_in_use.begun("laplace-correction", State(language="en")).on_table("iris")
    app = opened("case", state.showing(keys.LESSON_PREDICTS.to(True)))
    app.button(key="lesson_commit").click().run()
    assert "there is no '是' here" in said(app)
