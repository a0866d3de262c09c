"""The chapter in a real browser: the whole of section 7.3 is given by keys alone, every step with its question, every
fourth one (with `BAYES_EVERY_LOOK=1` each) with its thing to try and what that changes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from bayes_engine.workbench.lessons.built_in import of_section
from pages.runtime.state import State, encode
from tests.browser.looking import settled, soon, state_of, view_of
from tests.browser.views import EVERY_LOOK
from tests.conftest import App

ANSWERS = {
    "0.9987": "0.99870", "1/11": "2/22", "0.997568": "0.9975680", "0.487": "0.4870", "0.002495": "0.0024950",
    "0.802": "0.8020", "0.534": "0.5340",
}  # fmt: skip
"""Of the lessons of 7.3, in their order, and the same in other words: those that were just taken away a slow browser
may say once more, so that for two seconds they are no answer."""
FOCUSED = "() => document.activeElement.textContent"


def tab_to(page: Page, wanted: Callable[[], bool], key: str = "Tab") -> None:
    """Press Tab until the focus is there, or Shift+Tab where one sees it above."""
    for _press in range(120):
        page.keyboard.press(key)
        if wanted():
            return
    raise AssertionError(f"the focus never came there; last: {page.evaluate(FOCUSED)!r}")


def on(page: Page, key: str) -> Callable[[], bool]:
    """Whether the focus is on what has this key."""
    return lambda: bool(page.evaluate(f"() => !!document.activeElement.closest('.st-key-{key}')"))


def present(page: Page, bar: Locator) -> None:
    """One figure and one sentence, and back."""
    page.keyboard.press("p")
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(bar.get_by_text("Right:")).to_be_visible()
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    settled(page)


def tries(page: Page, bar: Locator, answer: str) -> None:
    """The lesson's words are read, the thing to try is done, its answer is another one, and the step begins again. What
    is pressed stands in the bar above the answer."""
    tab_to(page, lambda: page.evaluate(FOCUSED).startswith(("Read and try", "menu_book")), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Do it for me")).to_be_visible()
    expect(page.get_by_test_id("stPopoverBody").get_by_text("Try", exact=True)).to_be_visible()
    tab_to(page, on(page, "lesson_try"), "Shift+Tab")  # what has opened stands last on the page
    begun = page.url
    page.keyboard.press("Enter")
    soon(page, lambda: page.url, lambda url: url != begun)
    expect(bar.get_by_role("textbox")).to_have_value("")  # the state is another one
    settled(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Do it for me")).to_be_hidden()
    settled(page)
    page.keyboard.press("q")
    expect(bar.get_by_role("textbox")).to_be_focused()
    page.keyboard.type(answer)
    page.keyboard.press("Enter")
    expect(bar.get_by_text("Not in this state")).to_be_visible()
    page.keyboard.press("Escape")
    tab_to(page, on(page, "lesson_again"), "Shift+Tab")
    page.keyboard.press("Enter")
    expect(bar.get_by_text("Not in this state")).to_be_hidden()
    soon(page, lambda: page.locator(".st-key-lesson_again button[disabled]").count(), bool)
    settled(page)
    page.evaluate("document.activeElement.blur()")


@pytest.mark.slow
def test_a_section_is_given_by_keys_alone(app: App, new_page: Callable[..., Page]) -> None:
    page = new_page(viewport={"width": 1024, "height": 768})
    page.goto(f"{app.url}/chapter?s={encode(State(language='en'))}")
    expect(page.get_by_text("Decide what costs least")).to_be_visible()
    settled(page)
    tab_to(page, lambda: page.evaluate(FOCUSED).startswith("7.1 Decision"))
    for _section in range(2):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_text("One product for attributes of all kinds")).to_be_visible()
    settled(page)
    tab_to(page, lambda: bool(page.evaluate("() => !!document.activeElement.closest('.st-key-lesson_naive-bayes')")))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/case\?"))
    bar = page.locator(".st-key-lesson_bar")
    assert len(ANSWERS) == len(of_section("7.3"))
    for i, answer in enumerate(ANSWERS, 1):
        expect(bar.get_by_text(f"step {i} of {len(ANSWERS)}")).to_be_visible()
        settled(page)
        field = bar.get_by_role("textbox")
        page.keyboard.press("q")
        expect(field).to_be_focused()
        page.keyboard.type(answer)
        page.keyboard.press("ArrowLeft")  # moves in the field
        page.keyboard.press("Enter")
        expect(bar.get_by_text("Right:")).to_be_visible()
        settled(page)
        page.keyboard.press("Escape")
        expect(field).not_to_be_focused()
        if i == 1:
            present(page, bar)
        if i % 4 == 2 or EVERY_LOOK:
            tries(page, bar, ANSWERS[answer])
        page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"/chapter\?"))
    expect(bar).to_be_hidden()
    expect(page.get_by_text("One product for attributes of all kinds")).to_be_visible()
    soon(page, lambda: view_of(page), lambda view: "lesson" not in view and view["chapter_section"] == "7.3")


@pytest.mark.slow
def test_a_wrong_answer_becomes_right_by_what_is_tried_and_leaving_keeps_the_state(
    app: App, new_page: Callable[..., Page]
) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    view = (("lesson", "laplace-correction"), ("lesson_answer", "1/11"))
    melons = State(language="en", table="watermelon3", case=(0, 0, 2, 0, 0, 0, 0.697, 0.46), view=view)
    page.goto(f"{app.url}/case?s={encode(melons)}")
    bar = page.locator(".st-key-lesson_bar")
    expect(bar.get_by_text("Not in this state")).to_be_visible()  # without smoothing it is 0
    bar.get_by_text("Read and try").click()
    page.get_by_text("Do it for me").click()
    soon(page, lambda: state_of(page).shelf, lambda shelf: bool(shelf) and shelf[0].parameters == (("alpha", 2.0),))
    page.keyboard.press("Escape")
    field = bar.get_by_role("textbox")
    expect(field).to_have_value("")  # what was answered before is gone
    settled(page)
    field.fill("1/7")
    field.press("Enter")
    expect(bar.get_by_text("Right:")).to_be_visible()
    field.press("Escape")
    bar.get_by_role("button", name="Leave the lesson").click()
    expect(bar).to_be_hidden()
    left = soon(page, lambda: state_of(page), lambda state: not state.view)
    assert left.shelf[0].parameters == (("alpha", 2.0),) and left.table == "watermelon3"


BESIDE = """() => {
  const body = document.querySelector(".st-key-sheet_body")
  const boxes = query => [...body.querySelectorAll(query)].map(e => e.getBoundingClientRect())
  const blanks = boxes("[data-testid='stTextInput']")
  return blanks.length > 0 && boxes("table").every(table => blanks.every(({ left, right, top, bottom }) =>
    left >= table.right || right <= table.left || top >= table.bottom || bottom <= table.top))
}"""
"""Whether no blank lies on the rows."""


@pytest.mark.slow
def test_the_rows_of_a_sheet_lie_under_no_blank(app: App, new_page: Callable[..., Page]) -> None:
    page = new_page()
    view = (("chapter_part", "exercises"), ("sheet_number", 2))
    page.goto(f"{app.url}/chapter?s={encode(State(language='en', table='watermelon3', view=view))}")
    expect(page.locator(".st-key-sheet_tables table").first).to_be_visible()
    settled(page)
    named = page.locator(".st-key-sheet_named")
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(media="screen")
        expect(named).to_be_hidden()
        soon(page, lambda: page.evaluate(BESIDE), lambda apart: apart)
        page.emulate_media(media="print")
        expect(named).to_contain_text("Naive Bayes · sheet 2")
        soon(page, lambda: page.evaluate(BESIDE), lambda apart: apart)
