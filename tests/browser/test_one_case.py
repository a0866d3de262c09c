"""One case in a real browser: the working close beneath the decision, and whole on a phone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import State, encode
from tests.browser.looking import settled, soon
from tests.conftest import App

PLACES = """() => {
  const box = query => document.querySelector(query).getBoundingClientRect()
  const heading = [...document.querySelectorAll("h2")].find(h => h.textContent.startsWith("The working"))
  return [box(".st-key-waterfall_controls").bottom, heading.getBoundingClientRect().top, box(".st-key-margins").top]
}"""
CUT = """() => [...document.querySelectorAll(".st-key-factors, .st-key-factors *, .st-key-case_editor *")].filter(e => {
  const { width, right } = e.getBoundingClientRect()
  return width && (right > innerWidth || (getComputedStyle(e).overflowX === "auto" && e.scrollWidth > e.clientWidth))
}).map(e => e.dataset.testid ?? e.textContent)"""
"""What of the working, or of the case's fields, ends beyond the window's edge or has to be scrolled on its own."""


@pytest.mark.slow
def test_the_working_follows_the_decision_and_fits_a_phone(app: App, new_page: Callable[..., Page]) -> None:
    page = new_page(viewport={"width": 1024, "height": 768})
    page.goto(f"{app.url}/case?s={encode(State(table='german-credit', language='en'))}")
    expect(page.locator(".st-key-margins")).to_be_visible()
    settled(page)
    soon(page, lambda: page.evaluate(PLACES), lambda y: y[0] < y[1] < y[0] + 300 and y[1] < y[2])
    soon(page, lambda: page.evaluate(CUT), lambda cut: not cut)
    page.set_viewport_size({"width": 390, "height": 800})
    soon(page, lambda: page.evaluate(CUT), lambda cut: not cut)
    page.get_by_text("Let me fill in").click()
    expect(page.get_by_text("of 44 steps right")).to_be_visible()
    expect(page.get_by_label("P telephone none credit risk good")).to_be_visible()
    soon(page, lambda: page.evaluate(CUT), lambda cut: not cut)


GAPS = """() => [
  ...document.querySelectorAll("[class*=st-key-factor_grid_] > * > [data-testid=stHorizontalBlock]")
].map(cell => {
  const boxes = [...cell.children].map(part => part.getBoundingClientRect())
  return Math.max(0, ...boxes.slice(1).map((box, i) => box.top - boxes[i].bottom))
})"""
"""Pixels between the lines of each cell that a misprint stands in."""


@pytest.mark.slow
def test_a_misprint_stands_close_beneath_its_number(app: App, new_page: Callable[..., Page]) -> None:
    page = new_page(viewport={"width": 390, "height": 800})
    page.goto(f"{app.url}/case?s={encode(State(table='watermelon3', row=3, language='en'))}")
    expect(page.locator(".st-key-factors").get_by_text("posterior")).to_be_visible()
    settled(page)
    soon(page, lambda: page.evaluate(GAPS), lambda gaps: len(gaps) > 1 and max(gaps) < 4)
