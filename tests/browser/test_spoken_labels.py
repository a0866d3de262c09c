"""What is read out is words, the labels too that our own scripts write (`tests/apptest/test_spoken_labels.py` has
those that the server sends)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import State, encode
from tests.apptest.test_spoken_labels import NO_WORDS
from tests.browser.looking import settled, soon
from tests.conftest import App

READ_OUT = """() => {
  const read = []
  const walk = root => {
    for (const element of root.querySelectorAll("*")) {
      for (const name of ["aria-label", "aria-description", "aria-valuetext", "alt", "title"]) {
        const text = element.getAttribute(name)
        if (text) read.push(text)
      }
      if (element.shadowRoot) walk(element.shadowRoot)
    }
  }
  walk(document)
  return read
}"""
DRAWN = {  # a page whose drawing is ours, and that drawing
    "decisions": ('[data-testid="plane"]', State(table="watermelon3")),
    "case": ("canvas", State(table="digits", row=3)),
    "data": (".head", State(table="watermelon3")),
    "model": ("table", State(table="watermelon3")),
    "network": ("svg.graph, .graph svg", State()),
    "hidden": ("canvas", State()),
    "projection": ("svg", State()),
    "laboratory": ("canvas", State()),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_labels_of_drawings_are_words(app: App, new_page: Callable[..., Page], name: str) -> None:
    drawing, state = DRAWN[name]
    page = new_page()
    page.goto(f"{app.url}/{name}?s={encode(state)}")
    page.wait_for_selector(drawing)
    settled(page)
    labels = soon(page, lambda: page.evaluate(READ_OUT), lambda read: len(read) > 10)
    assert not [label for label in labels if NO_WORDS.search(label) or "undefined" in label or "[object" in label]


@pytest.mark.slow
def test_the_menu_says_which_page_is_shown_before_and_after_a_link_is_followed(page: Page, app: App) -> None:
    current = page.locator('[data-testid="stSidebar"] a[aria-current="page"]')
    page.goto(f"{app.url}/?s={encode(State(language='en'))}")
    expect(current).to_have_accessible_name("Start")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Decisions").click()
    expect(current).to_have_accessible_name("Decisions")
