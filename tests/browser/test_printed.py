"""Every page on paper: no sidebar, nothing to click on, the QR code of its state in the corner, figures as vectors; and
every view on a phone and at a projector, as the page is open already."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import State, encode
from tests.apptest.opened import showing
from tests.browser.looking import becomes, settled, soon
from tests.browser.views import VIEWS, every_other, fits_and_shows_before_it_asks, in_turn
from tests.conftest import App

pytestmark = pytest.mark.slow
SHOWN = dict(VIEWS) | {
    "chapter": ("chapter", State()),
    "exercises": ("chapter", showing(State(table="watermelon3"), chapter_part="exercises", sheet_number=3)),
    "text message": ("case", State(table="sms-spam")),
    "digits": ("case", State(table="digits")),
    "levels on the simplex": ("laboratory", showing(State(table="watermelon3"), lab_tab="fitted", lab_fitted_column=0)),
    "refused": ("decisions", State(table="iris", losses=((0, 1, 1), (1, 0, 1), (1, 1, 0), (0.2, 0.2, 0.2)))),
    "elimination": ("network", showing(State(), net_tab="ask", net="asia")),
}
CONTROLS = """() => {
  const found = [], roots = [document.body]
  for (let i = 0; i < roots.length; i++)
    for (const e of roots[i].querySelectorAll("*")) {
      if (e.shadowRoot) roots.push(e.shadowRoot)
      const control = e.matches("button, [role=button]:not(g), select, input[type=range], input[type=file], [role=tab]")
      if (!control || e.closest(".st-key-factors, .st-key-super_parents, thead, .set")) continue   // numbers, and names
      if (e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && e.getClientRects().length)
        found.push(`${e.tagName} ${e.className} ${e.textContent.slice(0, 40)}`)
    }
  return found
}"""
"""What could be clicked."""
PIXELS = """() => {
  const found = [], roots = [document.body]
  for (let i = 0; i < roots.length; i++)
    for (const e of roots[i].querySelectorAll("*")) {
      if (e.shadowRoot) roots.push(e.shadowRoot)
      if (!e.matches("canvas, image, img, video") || e.closest("svg") && !e.matches("image")) continue
      if (e.tagName === "IMG" && e.src.startsWith("data:image/svg+xml")) continue   // the QR code
      const seen = e.checkVisibility({ visibilityProperty: true, opacityProperty: true })
      if (seen && e.getBoundingClientRect().width > 1) found.push(`${e.tagName} ${e.className?.baseVal ?? e.className}`)
    }
  return found
}"""
"""What is drawn as pixels."""
DRAWN = """() => [...document.querySelectorAll("[data-testid='stDataFrame']")]
  .every(e => !e.checkVisibility() || e.clientWidth < 60 || e.querySelector("canvas table"))"""
"""Whether all tables of the page are there: one prints what one sees."""
UNEVEN = """() => [...document.querySelectorAll("[class*=st-key-factor_grid_]")].flatMap(grid => {
  const cells = [...grid.children].map(cell => cell.checkVisibility() ? cell : cell.firstElementChild)
  const lines = Map.groupBy(cells, cell => Math.round(cell.getBoundingClientRect().top))
  return [...lines.values()].filter(line => {
    const bottoms = line.map(cell => cell.getBoundingClientRect().bottom)
    return innerWidth > 640 && Math.max(...bottoms) - Math.min(...bottoms) > 1
  }).map(line => line.map(cell => cell.textContent).join(" "))
})"""
"""Lines of a table of factors whose cells end at different heights."""
CANVASES = ("decisions", "projection", "no label", "densities", "gibbs")
"""Views with a canvas: they are looked at in the dark, and printed in ink."""
MOST = 2_000_000
"""Bytes of a printed page."""


def on_paper(page: Page, app: App, path: str, state: State) -> None:
    page.goto(f"{app.url}/{path}?s={encode(state)}")
    page.wait_for_selector("h1")
    settled(page)
    soon(page, lambda: page.evaluate(DRAWN), lambda whole: whole)
    page.emulate_media(media="print")


def printed_whole(page: Page) -> None:
    """The page is on paper, and its file is printed."""
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    soon(page, lambda: page.evaluate(CONTROLS), lambda found: not found)
    soon(page, lambda: page.evaluate(PIXELS), lambda found: not found)
    becomes(page, lambda: page.evaluate(UNEVEN), [])
    page.wait_for_timeout(300)  # a heat map is traced
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert len(printed) < MOST and b"/Subtype /Image" not in printed
    corner = page.locator(".print_corner img")
    expect(corner).to_be_visible()
    box = corner.bounding_box()
    assert box is not None and box["y"] < 60, json.dumps(box)
    across = page.locator('[data-testid="stMainBlockContainer"]').bounding_box()
    assert across is not None and abs(box["x"] + box["width"] - across["x"] - across["width"]) < 60


def in_vectors(page: Page) -> None:
    """On paper, what a canvas shows."""
    soon(page, lambda: page.locator("svg.on-paper path").count(), lambda n: n > 2)
    soon(page, lambda: page.locator("svg.on-paper text").count(), lambda n: n > 2)
    inks = page.locator("svg.on-paper text").evaluate_all("all => all.map(e => getComputedStyle(e).fill)")
    assert all(sum(map(int, re.findall(r"\d+", ink)[:3])) < 3 * 200 for ink in inks)  # ink, though the page is dark


def in_pixels(page: Page) -> None:
    """Back on screen."""
    page.emulate_media(media="screen")
    expect(page.locator("canvas").first).to_be_visible()
    soon(page, lambda: page.locator("svg.on-paper").count(), lambda n: n == 0)


PRINTED = every_other(SHOWN, printed=True)


@pytest.mark.parametrize(("view", "languages"), in_turn(PRINTED))
def test_a_view_is_printed_and_fits_narrow_screens(
    app: App, new_page: Callable[..., Page], view: str, languages: tuple[str, ...]
) -> None:
    """One load of a page is looked at in all these ways: that costs most."""
    path, state = SHOWN[view]
    for language in languages:
        page = new_page(has_touch=True, color_scheme="dark" if view in CANVASES else "light")
        on_paper(page, app, path, replace(state, language=language))
        if view in CANVASES:
            in_vectors(page)
        printed_whole(page)
        if view in CANVASES:
            in_pixels(page)
        if view in VIEWS:
            page.emulate_media(media="screen")
            fits_and_shows_before_it_asks(page, view)


def test_an_exercise_keeps_its_blanks_in_ink_on_white(app: App, new_page: Callable[..., Page]) -> None:
    page = new_page(color_scheme="dark")
    view = {"chapter_part": "exercises", "sheet": "losses", "sheet_answers": (("p0", "1"),)}
    on_paper(page, app, "chapter", showing(State(language="en", table="watermelon3"), **view))
    body = page.locator(".st-key-sheet_body")
    for blank in ("stTextInput", "stSelectbox"):
        expect(body.get_by_test_id(blank).first).to_be_visible()
        grounds = body.get_by_test_id(blank).locator("div").evaluate_all(
            "all => [...new Set(all.map(e => getComputedStyle(e).backgroundColor))]"
        )  # fmt: skip
        assert grounds == ["rgb(255, 255, 255)"]
    inks = body.locator("input").evaluate_all("all => all.map(e => getComputedStyle(e).color)")
    assert inks and set(inks) == {"rgb(28, 27, 26)"}


@pytest.mark.parametrize("view", [view for view in CANVASES if view not in PRINTED])
def test_canvases_are_vectors_on_paper(app: App, new_page: Callable[..., Page], view: str) -> None:
    """Those of the other views are looked at where these are printed."""
    path, state = SHOWN[view]
    page = new_page(color_scheme="dark")
    page.goto(f"{app.url}/{path}?s={encode(replace(state, language='zh'))}")
    settled(page)
    expect(page.locator("canvas").first).to_be_visible()
    assert page.locator("svg.on-paper").count() == 0
    page.emulate_media(media="print")
    in_vectors(page)
    in_pixels(page)
