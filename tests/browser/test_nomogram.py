"""The nomogram in a real browser: a point that is dragged moves its total, its probability and the page's posterior."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.runtime import view_keys as keys
from pages.runtime.state import State, encode
from tests.browser.looking import place_of, settled, soon, state_of
from tests.conftest import App

MELON = State(table="watermelon3", language="en", losses=((0.0, 1.0), (10.0, 0.0))).showing(
    keys.CASE_VIEW.to("nomogram"), keys.UNIT.to("nats")
)


def opened(page: Page, app: App, state: State) -> None:
    page.goto(f"{app.url}/case?s={encode(state)}")
    expect(page.get_by_test_id("nomogram").first).to_have_attribute("data-total", re.compile(r"\d"))
    settled(page)


def told(page: Page) -> tuple[float, float, str]:
    """Its total in nats, the probability of the first class and the decision, as the drawing shows them."""
    drawing = page.get_by_test_id("nomogram").first
    total, posterior, decision = (drawing.get_attribute(f"data-{k}") for k in ("total", "posterior", "decision"))
    return float(total or "nan"), float((posterior or "nan").split(",")[0]), decision or ""


def point(page: Page, name: str) -> Locator:
    return page.get_by_test_id("nomogram").first.get_by_role("slider", name=name, exact=True)


def test_a_drag_moves_total_probability_and_the_posterior_of_the_page(page: Page, app: App) -> None:
    opened(page, app, MELON)
    before = told(page)
    assert math.isclose(before[1], 0.998692, abs_tol=1e-6) and before[2] == "good"
    place = place_of(page, point(page, "sugar"))
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 160, y, steps=6)
    during = soon(page, lambda: told(page), lambda seen: seen[0] < before[0] - 0.5)
    page.mouse.up()
    total, p, decision = during
    assert math.isclose(p, 1 / (1 + math.exp(-total)), abs_tol=1e-8)
    assert decision == ("good" if 1 - p < 10 * p else "bad")  # λ of a bad melon called good is 1, of the other 10
    soon(page, lambda: state_of(page).case, lambda case: bool(case) and case[-1] != 0.46)
    settled(page)
    p = soon(page, lambda: told(page), lambda seen: abs(seen[0] - total) < 1e-8)[1]
    expect(page.get_by_text(re.compile(r"P\((good|bad)\) = ")).first).to_contain_text(
        f"{max(p, 1 - p):.4f}" if max(p, 1 - p) < 0.99995 else "0.9999"
    )


@pytest.mark.slow
def test_a_value_never_seen_takes_the_total_to_infinity_by_keys_too(page: Page, app: App) -> None:
    opened(page, app, MELON)
    knock = point(page, "knock")
    knock.focus()
    for _step in range(2):
        knock.press("ArrowRight")
    soon(page, lambda: told(page), lambda seen: seen[0] == -math.inf and seen[1] == 0.0 and seen[2] == "bad")
    settled(page)
    expect(page.get_by_text("P(bad) = 1.0000").first).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("table", ["watermelon3", "german-credit"])
def test_it_is_printed_on_one_page_and_fits_a_phone(new_page: Callable[..., Page], app: App, table: str) -> None:
    page = new_page(viewport={"width": 390, "height": 800})
    opened(page, app, State(table=table, language="en").showing(keys.CASE_VIEW.to("nomogram")))
    beyond = "svg => [...svg.querySelectorAll('text')].filter(t => t.getBoundingClientRect().right > innerWidth).length"
    drawing = page.get_by_test_id("nomogram").locator("svg")
    soon(page, lambda: drawing.evaluate(beyond), lambda cut: cut == 0)
    page.set_viewport_size({"width": 1024, "height": 768})
    settled(page)
    soon(page, lambda: page.pdf(format="A4").count(b"/Type /Page\n"), lambda pages: pages == 1)
