"""The views of the app, and how one looks on a phone and at a projector: nothing is wider than its room, no word is
cut, and what a page shows stands above what it is changed with."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial

from playwright.sync_api import Page

from pages.runtime.state import Spec, State
from tests.apptest.opened import showing
from tests.browser.looking import soon

PHONE, PROJECTOR = (390, 844), (1024, 768)
MELONS = State(table="watermelon3")
SHELF = (Spec(), Spec(family="aode", preset="laplace"), Spec(family="tan", preset="laplace"))
VIEWS: dict[str, tuple[str, State]] = {
    "hidden": ("hidden", State()),
    "start": ("", State()),
    "data": ("data", State(table="breast-cancer")),
    "numbers": ("model", State()),
    "levels": ("model", MELONS),
    "ways": ("model", showing(MELONS, model_view="ways")),
    "compare": ("model", showing(State(table="iris", shelf=SHELF), model_view="compare")),
    "decisions": ("decisions", State(table="penguins")),
    "case": ("case", MELONS),
    "ask": ("case", showing(MELONS, case_view="ask")),
    "nomogram": ("case", showing(MELONS, case_view="nomogram")),
    "exercise": ("case", showing(MELONS, exercise=1)),
    "classify": ("classify", State(table="german-credit")),
    "map": ("dependence", State(table="watermelon2")),
    "examples": ("dependence", showing(State(table="watermelon2"), dependence_tab="examples")),
    "tree": ("dependence", showing(State(table="watermelon2"), dependence_view="tree")),
    "learn": ("network", showing(State(table="watermelon2"), net_tab="learn")),
    "by hand": ("network", showing(State(table="watermelon2"), net_tab="learn", learn_view="hand")),
    "findings": ("network", showing(State(), net_tab="ask")),
    "gibbs": ("network", showing(State(), net_tab="gibbs")),
    "projection": ("projection", State(table="wine")),
    "some labels": ("hidden", showing(State(), em_part="some")),
    "no label": ("hidden", showing(State(), em_part="none")),
    "a cell": ("hidden", showing(State(), em_part="cell")),
    "densities": ("laboratory", State()),
    "rates": ("laboratory", showing(State(), lab_tab="rates")),
    "likelihood": ("laboratory", showing(State(), lab_tab="likelihood")),
    "underflow": ("laboratory", showing(State(), lab_tab="underflow")),
    "many nodes": ("network", showing(State(table="mushroom"), net="table")),
}
"""A view by its name: its page, and a state."""


EVERY_LOOK = os.environ.get("BAYES_EVERY_LOOK") == "1"
"""Whether each view is looked at in every way."""


def every_other(views: Iterable[str], printed: bool) -> list[str]:
    """The views to be printed, or those to be presented: of `VIEWS` one half each, and what else is shown so; with
    `BAYES_EVERY_LOOK=1` all of them for both."""
    other = [] if EVERY_LOOK else list(VIEWS)[printed::2]
    return [view for view in views if view not in other]


def in_turn(views: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Each view in one of the two languages, in turn; with `BAYES_EVERY_LOOK=1` in both."""
    return [(view, ("zh", "en") if EVERY_LOOK else (("zh", "en")[i % 2],)) for i, view in enumerate(views)]


PICTURE_FIRST = set(VIEWS) - {"data", "ways", "ask", "classify", "findings", "gibbs", "many nodes", "examples"}
"""Views with a picture above, or at a projector beside, all that is chosen but the network."""

TOO_WIDE = """() => {
  const found = [], roots = [document.querySelector("[data-testid='stMain']")]
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page")
  for (let i = 0; i < roots.length; i++)
    for (const e of [...i ? [] : [roots[0]], ...roots[i].querySelectorAll("*")]) {
      if (e.shadowRoot) roots.push(e.shadowRoot)
      const seen = e.clientWidth > 1 && e.checkVisibility({ visibilityProperty: true })
      if (!seen || e.scrollWidth <= e.clientWidth + 1) continue
      const { overflowX, textOverflow } = getComputedStyle(e)
      const cut = overflowX !== "visible" && textOverflow === "ellipsis"
      if (cut || e === roots[0] || e.matches("[role=radiogroup], .katex-display"))
        found.push(`${e.tagName} ${e.className}: ${e.scrollWidth} > ${e.clientWidth}, ${e.textContent.slice(0, 40)}`)
    }
  return found
}"""
"""The page, rows of buttons and formulas that are wider than their room, and words that end in dots."""
SMALL = """() => {
  const found = [], roots = [document.querySelector("[data-testid='stMain']")]
  for (let i = 0; i < roots.length; i++)
    for (const e of roots[i].querySelectorAll("*")) {
      if (e.shadowRoot) roots.push(e.shadowRoot)
      if (!e.matches("text, tspan") || !e.textContent.trim()) continue
      const { c, d } = e.getScreenCTM(), size = parseFloat(getComputedStyle(e).fontSize) * Math.hypot(c, d)
      if (size < 12.95) found.push(`${size}px ${e.textContent.slice(0, 40)}`)
    }
  return found
}"""
"""What is written in drawings, scaled as they are, smaller than 13 pixels but for rounding."""
TOPS = """() => {
  const top = query => Math.min(...[...document.querySelectorAll(`[data-testid='stMain'] :is(${query})`)].map(e => {
    const { top, height } = e.getBoundingClientRect()
    return height > 150 || !query.includes("Plotly") ? top : Infinity
  }))
  const named = names => names.map(name => `[data-testid='st${name}']`).join(", ")
  return [top(named(["PlotlyChart", "BidiComponentRegular", "BidiComponentIsolated"])),
    top(named(["Slider", "Selectbox", "NumberInput", "TextInput"]))]
}"""
"""How far down the first picture is, and the first thing to choose from."""


BENEATH_TITLE = """() => {
  const text = document.createRange(), title = document.querySelector("[data-testid='stMain'] h1")
  text.selectNodeContents(title)
  const bottom = Math.max(...[...text.getClientRects()].map(r => r.bottom))
  const below = [...document.querySelectorAll("[data-testid='stMain'] :is(button, label, p, [data-testid^='stBidi'])")]
  return Math.min(...below.filter(e => !title.contains(e) && e.checkVisibility())
    .map(e => e.getBoundingClientRect()).filter(r => r.height && r.bottom > bottom).map(r => r.top - bottom))
}"""
"""Pixels between the title's letters and what comes next."""


def fits_and_shows_before_it_asks(page: Page, view: str) -> None:
    """On a phone and at a projector; the page is open and has settled."""
    for (width, height), high in ((PHONE, PHONE[1]), (PROJECTOR, 550)):
        page.set_viewport_size({"width": width, "height": height})
        soon(page, partial(page.evaluate, TOO_WIDE), lambda found: not found)
        soon(page, partial(page.evaluate, SMALL), lambda found: not found)
        soon(page, partial(page.evaluate, BENEATH_TITLE), lambda gap: gap >= 8)
        if view in PICTURE_FIRST:
            soon(page, partial(page.evaluate, TOPS), partial(_first, high))


def _first(high: float, tops: list[float]) -> bool:
    picture, parameter = tops
    return picture < (min(high, parameter) if high == PHONE[1] else high)
