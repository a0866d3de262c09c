"""Predict first, as a browser draws it: before a person commits, the answer stands nowhere in the page, neither as text
nor as an attribute, whatever scripts have made of what they were sent."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
import streamlit as st
from playwright.sync_api import Page, expect

from bayes_engine.workbench.lessons.built_in import lessons
from bayes_engine.workbench.lessons.predictions import PREDICTIONS
from pages.active import lesson_in_use, predicting
from pages.runtime import view_keys as keys
from pages.runtime.state import State, encode
from tests.apptest.test_predict_first import asks, written
from tests.browser.looking import settled, soon, still
from tests.browser.test_presenter import of_each_figure
from tests.conftest import App

pytestmark = pytest.mark.slow
WHOLE = """() => {
  const said = [], roots = [document.querySelector("[data-testid='stApp']")]
  for (let i = 0; i < roots.length; i++)
    for (const e of roots[i].querySelectorAll("*")) {
      if (e.shadowRoot) roots.push(e.shadowRoot)
      if (e.matches("style, script")) continue
      const own = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent).join("")
      const bar = e.closest(".st-key-lesson_choice, [data-testid='stSelectboxVirtualDropdown']") ? "choice" : "page"
      const marks = [...e.attributes]
        .filter(a => /^(aria-(label|valuetext|valuenow|description)|title|alt|data-)/.test(a.name))
        .filter(a => !/^data-(testid|baseweb|st|test)/.test(a.name)).map(a => a.value)
      for (const text of [own, ...marks]) if (text.trim()) said.push([bar, text])
    }
  return said
}"""
"""All texts and spoken or stored attributes of the page, hidden ones too, and whether they are the control's."""
LINES = """e => {
  const text = document.createRange()
  text.selectNodeContents(e)
  return new Set([...text.getClientRects()].map(b => Math.round(b.bottom))).size
}"""
"""In how many lines a text stands."""


@pytest.fixture
def question(monkeypatch: pytest.MonkeyPatch) -> Callable[[State], tuple[float, list[str], str]]:
    """The answer, the options in words and the kind of what a state asks."""

    def ask(state: State) -> tuple[float, list[str], str]:
        with monkeypatch.context() as patch:
            patch.setattr(st, "session_state", {"state": state})
            asked = predicting.question_in_use()
            assert asked is not None
            return predicting.answer(asked), predicting.options(asked), PREDICTIONS[asked.asked.quantity].kind

    return ask


@pytest.mark.parametrize("name", of_each_figure(lessons()))  # what each shows: tests/apptest
def test_the_answer_stands_nowhere_in_the_page(
    app: App, new_page: Callable[..., Page], question: Callable[[State], tuple[float, list[str], str]], name: str
) -> None:
    state = asks(name)
    right, options, kind = question(state)
    page = new_page()
    page.goto(f"{app.url}/{lessons()[name].page}?s={encode(state)}")
    expect(page.locator(".st-key-lesson_commit")).to_be_visible()
    settled(page)
    said = still(page, lambda: page.evaluate(WHOLE))  # with what a script draws later
    text = "\n".join(words for _where, words in said)
    if kind != "choice":
        assert not written(text, right, share=kind == "probability")
        page.locator(".st-key-lesson_commit button").click()  # to where the slider stands
    else:  # every option is on the control; on the page the right one stands out by nothing
        alone = [re.compile(rf"(?<!\w){re.escape(option)}(?!\w)") for option in options]  # no "yes" of "Bayes"
        times = [sum(bool(option.search(words)) for where, words in said if where == "page") for option in alone]
        assert times[int(right)] <= max(n for i, n in enumerate(times) if i != int(right)), (options, times)
        page.goto(f"{app.url}/{lessons()[name].page}?s={encode(state.showing(keys.LESSON_COMMITTED.to('0')))}")
    soon(page, lambda: page.locator(".st-key-lesson_guess_again").count(), bool)
    soon(page, lambda: len(page.evaluate(WHOLE)), lambda n: n != len(said))


def test_the_button_stands_in_one_line(app: App, new_page: Callable[..., Page]) -> None:
    page = new_page()
    for language, widths in (("en", (1199, 1024, 800, 390)), ("zh", (1024,))):
        state = lesson_in_use.begun("laplace-correction", State(language=language))
        page.goto(f"{app.url}/case?s={encode(state)}")
        for width in widths:
            page.set_viewport_size({"width": width, "height": 768})
            button = page.locator(".st-key-lesson_predict p >> visible=true").first
            expect(button).to_be_visible()
            settled(page)
            soon(page, partial(button.evaluate, LINES), lambda n: n == 1)
            soon(page, partial(button.evaluate, "e => e.getBoundingClientRect().right <= innerWidth"), bool)
