"""Presenter mode: on every page one figure and one sentence, in type that a room can read, nothing cut, by keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from bayes_engine.workbench.lessons.built_in import lessons
from pages.active import lesson_in_use
from pages.runtime.state import State, encode
from pages.shell.presented import PRESENTED
from tests.apptest.opened import showing
from tests.browser.looking import settled, soon, view_of
from tests.browser.views import MELONS, TOO_WIDE, VIEWS, every_other
from tests.conftest import App

pytestmark = pytest.mark.slow
LEAST_TYPE, LEAST_CONTRAST = 20.0, 4.5
WATERMELONS = State(table="watermelon2")
SHOWN = dict(VIEWS) | {
    "chapter": ("chapter", State()),
    "smoothing": ("laboratory", showing(MELONS, lab_tab="smoothing")),
    "fitted": ("laboratory", showing(MELONS, lab_tab="fitted")),
    "hidden node": ("network", showing(WATERMELONS, net_tab="hidden")),
    "super-parents": ("dependence", showing(WATERMELONS, dependence_tab="super-parents")),
    "dial": ("dependence", showing(WATERMELONS, dependence_tab="dial")),
    "twice": ("dependence", showing(WATERMELONS, dependence_tab="twice")),
    "doubled": ("dependence", showing(WATERMELONS, dependence_tab="doubled")),
    "planes": ("projection", showing(State(table="iris"), section="planes")),
    "pooling": ("projection", showing(State(table="iris"), section="dial")),
    "digits": ("case", State(table="digits")),
    "message": ("case", State(table="sms-spam")),
    "message in Chinese": ("case", State(table="sms-spam-zh")),
}
"""Of each of the twelve pages every view that has a figure."""
THEMES, LANGUAGES = ("light", "dark"), ("en", "zh")
SIZES = ((1024, 768), (683, 512))
"""A projector's window, and the same one at a browser zoom of 150 %."""
MEASURED = (Path(__file__).parent / "measured.js").read_text(encoding="utf-8")
"""What is written where, on screen: its size in pixels, zoomed and scaled as it is, and its contrast."""

CUT = """() => [...document.querySelectorAll(".js-plotly-plot .main-svg")].flatMap(e => {
  if (!e.checkVisibility()) return []
  const { bottom } = e.getBoundingClientRect(), found = []
  for (let p = e.parentElement; p && !p.matches("[data-testid='stMainBlockContainer']"); p = p.parentElement)
    if (getComputedStyle(p).overflowY !== "visible" && bottom > p.getBoundingClientRect().bottom + 2)
      found.push(`a chart is cut by ${p.dataset.testid}`)
  return found
})"""
"""Charts that are higher than a box that holds them."""


def in_turn(names: Iterable[str]) -> list[tuple[str, str, str]]:
    """Each of the four pairs of theme and language with one name in four; with `BAYES_EVERY_LOOK=1` with each."""
    looks = list(product(THEMES, LANGUAGES))
    if os.environ.get("BAYES_EVERY_LOOK") == "1":
        return [(name, *look) for name in names for look in looks]
    return [(name, *looks[i % len(looks)]) for i, name in enumerate(names)]


def figure_of(path: str, state: State) -> tuple[str, ...]:
    """A page with the keys of its sentence and its figure."""
    shown = PRESENTED[path or "start"](state)
    return path, shown.sentence, *shown.figure


def of_each_figure(names: Iterable[str], but: Collection[tuple[str, ...]] = ()) -> list[str]:
    """The first of the lessons that show one figure with one sentence, on the page of their table, but for these
    figures; with `BAYES_EVERY_LOOK=1` all lessons."""
    if os.environ.get("BAYES_EVERY_LOOK") == "1":
        return list(names)
    first: dict[tuple[str, ...], str] = {}
    for name in names:
        first.setdefault(figure_of(lessons()[name].page, lesson_in_use.begun(name, State(language="en"))), name)
    return [name for figure, name in first.items() if figure not in but]


OF_LESSONS_ALONE = of_each_figure(lessons(), [figure_of(*view) for view in SHOWN.values()])
"""Lessons whose figures none of the views shows."""


def presented(page: Page, app: App, path: str, state: State) -> None:
    page.goto(f"{app.url}/{path}?s={encode(showing(state, presenting=True))}")
    page.wait_for_selector(".st-key-presenter_bar")
    settled(page)


def faults(page: Page, zoom: float) -> list[str]:
    """What is written too small or too pale, or beyond the window, seen at this zoom of the browser."""
    found = []
    for one in page.evaluate(MEASURED):
        if one["size"] * zoom < LEAST_TYPE:
            found.append(f"{one['size']} px: {one['text']}")
        if one["ratio"] < LEAST_CONTRAST:
            found.append(f"{one['ratio']} : 1: {one['text']}")
        if one["right"] > one["wide"] + 1 or one["left"] < -1:
            found.append(f"beyond the window: {one['text']}")
    return found


def legible_and_whole(page: Page, app: App, path: str, state: State) -> None:
    """At both sizes the figure and the sentence are there, nothing is small, pale or cut; the second is zoomed to, as
    a person does it."""
    page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
    presented(page, app, path, state)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        settled(page)
        expect(page.get_by_test_id("stSidebar")).to_be_hidden()
        shown = PRESENTED[path or "start"](state)
        for keys in ((shown.sentence,), shown.figure):
            expect(page.locator(", ".join(f".st-key-{key}" for key in keys)).first).to_be_visible()
        soon(page, partial(faults, page, SIZES[0][0] / width), lambda found: not found)
        soon(page, partial(page.evaluate, TOO_WIDE), lambda found: not found)
        soon(page, partial(page.evaluate, CUT), lambda found: not found)


@pytest.mark.parametrize(("view", "mode", "language"), in_turn(every_other(SHOWN, printed=False)))
def test_a_view_is_presented(app: App, new_page: Callable[..., Page], view: str, mode: str, language: str) -> None:
    path, state = SHOWN[view]
    legible_and_whole(new_page(color_scheme=mode), app, path, replace(state, language=language))


@pytest.mark.parametrize(("name", "mode", "language"), in_turn(OF_LESSONS_ALONE))
def test_the_figure_of_a_lesson_is_presented(
    app: App, new_page: Callable[..., Page], name: str, mode: str, language: str
) -> None:
    state = lesson_in_use.begun(name, State(language=language))
    legible_and_whole(new_page(color_scheme=mode), app, lessons()[name].page, state)


def test_a_telephone_keeps_its_type_and_is_told_so(app: App, new_page: Callable[..., Page]) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{app.url}/case?s={encode(replace(MELONS, language='en'))}")
    settled(page)
    soon(page, lambda: page.locator(".st-key-present").count(), lambda n: n == 1)
    presented(page, app, "case", replace(MELONS, language="en"))
    sizes = soon(page, lambda: [one["size"] for one in page.evaluate(MEASURED)], bool)
    assert 13 <= min(sizes) < LEAST_TYPE
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
    soon(page, lambda: seen("presenting"), lambda presenting: not presenting)  # the address follows the page
    assert seen("lesson") == "laplace-correction"
