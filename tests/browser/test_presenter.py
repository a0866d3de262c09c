"""Presenter mode: on every page one figure and one sentence, in type that a room can read, nothing cut, by keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import State, encode
from pages.shell.presented import PRESENTED
from tests.apptest.opened import showing
from tests.browser.looking import settled, soon, view_of
from tests.browser.test_widths import TOO_WIDE, VIEWS
from tests.conftest import App

pytestmark = pytest.mark.slow
LEAST_TYPE, LEAST_CONTRAST = 20.0, 4.5
SHOWN = dict(VIEWS) | {"chapter": ("chapter", State())}
"""Of each of the twelve pages every view that has a figure."""
MEASURED = (Path(__file__).parent / "measured.js").read_text(encoding="utf-8")
"""What is written where, on screen: its size in pixels, zoomed and scaled as it is, and its contrast."""


def presented(page: Page, app: App, path: str, state: State) -> None:
    page.goto(f"{app.url}/{path}?s={encode(showing(state, presenting=True))}")
    page.wait_for_selector(".st-key-presenter_bar")
    settled(page)


def faults(page: Page, *, type_: bool) -> list[str]:
    """What is written too small or too pale, or beyond the window."""
    found = []
    for one in page.evaluate(MEASURED):
        if type_ and one["size"] < LEAST_TYPE:
            found.append(f"{one['size']} px: {one['text']}")
        if one["ratio"] < LEAST_CONTRAST:
            found.append(f"{one['ratio']} : 1: {one['text']}")
        if one["right"] > one["wide"] + 1 or one["left"] < -1:
            found.append(f"beyond the window: {one['text']}")
    return found


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("view", SHOWN)
def test_a_view_is_presented(app: App, new_page: Callable[..., Page], view: str, mode: str) -> None:
    path, state = SHOWN[view]
    language = "en" if mode == "light" else "zh"
    page = new_page(viewport={"width": 1024, "height": 768}, color_scheme=mode)
    presented(page, app, path, replace(state, language=language))
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    shown = PRESENTED[path or "start"](state)
    for keys in ((shown.sentence,), shown.figure):
        expect(page.locator(", ".join(f".st-key-{key}" for key in keys)).first).to_be_visible()
    soon(page, lambda: faults(page, type_=True), lambda found: not found)
    soon(page, partial(page.evaluate, TOO_WIDE), lambda found: not found)
    page.set_viewport_size({"width": 683, "height": 512})  # the same window at a zoom of 150 %
    soon(page, lambda: faults(page, type_=False), lambda found: not found)
    soon(page, partial(page.evaluate, TOO_WIDE), lambda found: not found)


def test_keys_begin_step_and_end_it(app: App, new_page: Callable[..., Page]) -> None:
    page = new_page(viewport={"width": 1024, "height": 768})
    state = showing(State(language="en", table="watermelon3"), lesson="laplace-correction")
    page.goto(f"{app.url}/case?s={encode(state)}")
    settled(page)

    def seen(name: str) -> Any:
        return view_of(page).get(name)

    page.locator(".st-key-lesson_bar input").fill("p")  # who types presents nothing
    expect(page.locator(".st-key-presenter_bar")).to_have_count(0)
    page.locator(".st-key-lesson_bar input").fill("")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("p")
    expect(page.locator(".st-key-presenter_bar")).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    settled(page)
    page.keyboard.press("ArrowRight")
    soon(page, lambda: seen("lesson"), lambda name: name == "where-to-smooth")
    settled(page)
    page.keyboard.press("PageUp")
    soon(page, lambda: seen("lesson"), lambda name: name == "laplace-correction")
    settled(page)
    page.get_by_role("button", name="Smoothing").click()
    expect(page.get_by_text("repair zeros only").last).to_be_visible()
    page.get_by_text("repair zeros only").last.click()
    expect(page.locator(".st-key-case_sentence")).to_contain_text("0.99")
    settled(page)
    page.keyboard.press("Escape")
    expect(page.locator(".st-key-presenter_bar")).to_have_count(0)
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    assert not seen("presenting") and seen("lesson") == "laplace-correction"
