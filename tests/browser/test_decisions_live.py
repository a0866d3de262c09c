"""The page Decisions while a loss is dragged: everything moves at once, no server between; what is let go stays."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from bayes_engine import LossMatrix
from pages.runtime.state import State, encode
from pages.views.decisions.stories import with_story as story_state
from tests.browser import looking
from tests.browser.looking import becomes, place_of, soon, state_of, still
from tests.conftest import slowly
from tests.simplex import cuts, regions


def settled(page: Page) -> None:
    """Wait until no script is running and the server's numbers stand."""
    looking.settled(page)
    expect(page.get_by_test_id("consequences")).to_have_attribute("data-live", "")


def opened(page: Page, url: str, state: State) -> None:
    page.goto(f"{url}/decisions?s={encode(state)}")
    expect(page.get_by_test_id("loss-0-1")).to_be_visible()
    settled(page)
    expect(page.get_by_test_id("plane")).to_have_attribute("data-regions", re.compile(r"\d"))


def cell(page: Page, i: int, j: int) -> Locator:
    return page.get_by_test_id(f"loss-{i}-{j}")


def seen(page: Page) -> dict[str, str | None]:
    """What the drawings show."""
    panel, plane = page.get_by_test_id("consequences"), page.get_by_test_id("plane")
    told = {k: panel.get_attribute(f"data-{k}") for k in ("risk", "confusion", "chosen", "risks", "cuts", "areas")}
    return told | {k: plane.get_attribute(f"data-{k}") for k in ("regions", "decision")}


def grab(page: Page, field: Locator, dx: int) -> None:
    """Press the mouse on a number and drag it sideways, without letting go."""
    box = place_of(page, field)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx, y, steps=8)
    expect(page.get_by_test_id("consequences")).to_have_attribute("data-live", "1")


MELONS = State(table="watermelon3a", language="en")


def test_a_drag_moves_everything_without_the_server_which_then_agrees(page: Page, app) -> None:
    opened(page, app.url, MELONS)
    before, address = still(page, lambda: seen(page)), page.url
    grab(page, cell(page, 0, 1), 700)
    during = still(page, lambda: seen(page))
    assert page.url == address  # nothing has reached the server yet
    for name in ("risk", "confusion", "risks", "cuts", "regions"):
        assert during[name] != before[name], name
    assert float(cell(page, 0, 1).input_value()) > 5
    page.mouse.up()
    page.wait_for_url(lambda url: url != address)
    settled(page)
    becomes(page, lambda: seen(page), during)  # the engine's numbers, to the last digit, where the browser's stood


@pytest.mark.slow
def test_rows_that_would_be_judged_wrongly_are_ringed_at_once(page: Page, app) -> None:
    opened(page, app.url, MELONS)
    expect(page.get_by_text("its decision costs more than the best would")).to_be_visible()
    address = page.url
    plane = page.get_by_test_id("plane")
    before = plane.get_attribute("data-wrong")
    grab(page, cell(page, 0, 1), 120)
    expect(plane).not_to_have_attribute("data-wrong", before or "")
    during = still(page, lambda: plane.get_attribute("data-wrong") or "")
    assert page.url == address
    page.mouse.up()
    page.wait_for_url(lambda url: url != address)
    settled(page)
    expect(plane).to_have_attribute("data-wrong", during)


@pytest.mark.slow
def test_one_drag_is_one_step_of_back(page: Page, app) -> None:
    opened(page, app.url, MELONS)
    before = still(page, lambda: seen(page))
    for dx in (40, 60):
        address, once = page.url, cell(page, 1, 0).input_value()
        grab(page, cell(page, 1, 0), dx)
        page.mouse.up()
        page.wait_for_url(lambda url, address=address: url != address)
        settled(page)
    page.go_back()
    expect(cell(page, 1, 0)).to_have_value(once)
    settled(page)
    page.go_back()
    expect(cell(page, 1, 0)).to_have_value("1")
    becomes(page, lambda: seen(page), before)


@pytest.mark.slow
def test_three_classes_and_the_prior_of_use_move_together(page: Page, app) -> None:
    opened(page, app.url, State(table="penguins", language="en"))
    before = still(page, lambda: seen(page))
    address = page.url
    grab(page, cell(page, 0, 2), 60)
    during = still(page, lambda: seen(page))
    assert during["areas"] != before["areas"]
    page.mouse.up()
    page.wait_for_url(lambda url: url != address)
    settled(page)
    becomes(page, lambda: seen(page), during)
    slider = page.get_by_test_id("prior-slider-1")
    slider.focus()
    for _ in range(6):
        slider.press("PageUp")
    soon(page, lambda: seen(page)["confusion"], lambda now: now != during["confusion"])
    soon(page, lambda: float(page.get_by_test_id("prior-1").input_value()), lambda prior: prior > 0.5)


@pytest.mark.slow
def test_the_simplex_in_the_browser_is_the_engines(page: Page, app) -> None:
    opened(page, app.url, replace(MELONS, losses=((0.0, 5.0), (1.0, 0.0), (0.4, 0.6)), extra="refuse"))
    loss = LossMatrix(("good", "bad", "refuse"), ("good", "bad"), [[0, 5], [1, 0], [0.4, 0.6]])
    ends = [cut.low for cut in cuts(loss)][1:]
    panel = page.get_by_test_id("consequences")
    shown = soon(page, lambda: panel.get_attribute("data-cuts") or "", bool).split(",")
    assert [float(v) for v in shown] == pytest.approx(ends, abs=1e-6)

    three = ((0.0, 1.0, 4.0), (2.0, 0.0, 1.0), (1.0, 3.0, 0.0))
    opened(page, app.url, State(table="iris", language="en", losses=three))
    whole = LossMatrix(tuple("abc"), tuple("abc"), three)
    areas = [abs(np.linalg.det(r.corners[[0, k, k + 1]])) for r in regions(whole) for k in range(1, len(r.corners) - 1)]
    names = [r.action for r in regions(whole) for _ in range(1, len(r.corners) - 1)]
    engine = sorted(100 * sum(v for v, n in zip(areas, names, strict=True) if n == name) for name in set(names))
    said = soon(page, lambda: panel.get_attribute("data-areas") or "", bool)
    assert sorted(float(v) for v in re.findall(r"([\d.]+)%", said)) == pytest.approx(engine, abs=0.051)


@pytest.mark.slow
def test_no_key_is_lost_when_typing_from_cell_to_cell(page: Page, app) -> None:
    opened(page, app.url, MELONS)
    cell(page, 0, 0).focus()
    for text in ("2", "17", "8.25", "3"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    settled(page)
    for (i, j), value in zip(((0, 0), (0, 1), (1, 0), (1, 1)), ("2", "17", "8.25", "3"), strict=True):
        expect(cell(page, i, j)).to_have_value(value)


@pytest.mark.slow
def test_keys_step_and_escape_takes_back(page: Page, app) -> None:
    opened(page, app.url, MELONS)
    field = cell(page, 0, 1)
    field.focus()
    field.press("Shift+ArrowUp")
    expect(field).to_have_value("2")
    becomes(page, lambda: state_of(page).losses, ((0.0, 2.0), (1.0, 0.0)))
    settled(page)
    field.fill("44")
    expect(page.get_by_test_id("plane")).to_have_attribute("data-decision", "bad")  # while it is typed
    field.press("Escape")
    expect(field).to_have_value("2")
    expect(page.get_by_test_id("plane")).to_have_attribute("data-decision", "good")
    assert field.get_attribute("aria-label") == "loss of deciding good when the truth is bad"


@pytest.mark.slow
def test_what_is_no_number_is_refused_by_the_cells_name(page: Page, app) -> None:
    opened(page, app.url, MELONS)
    for text, said in (("", "is blank"), ("much", "«much» is no number")):
        cell(page, 0, 1).fill(text)
        cell(page, 0, 1).press("Tab")
        expect(page.get_by_text(re.compile(f"The loss of deciding good when the truth is bad.*{said}"))).to_be_visible()
        expect(cell(page, 0, 1)).to_have_value("1")


PASTE = """(text) => {
  let field
  const in_ = host => host.shadowRoot?.querySelector('[data-testid="loss-0-0"]')
  for (const host of document.querySelectorAll('*')) field ??= in_(host)
  const data = new DataTransfer()
  data.setData('text/plain', text)
  field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
}"""


@pytest.mark.slow
def test_a_block_is_pasted_by_its_labels_or_refused_by_its_cell(page: Page, app) -> None:
    opened(page, app.url, MELONS)
    page.evaluate(PASTE, "\tbad\tgood\nbad\t0\t1,5\ngood\t7\t0\n")
    expect(cell(page, 0, 1)).to_have_value("7")
    expect(cell(page, 1, 0)).to_have_value("1.5")
    page.evaluate(PASTE, "0\t3\n\t0\n")
    expect(page.get_by_text("the loss of deciding 'bad' when the truth is 'good' is blank")).to_be_visible()
    expect(cell(page, 0, 1)).to_have_value("7")


@pytest.mark.slow
def test_a_phone_holds_the_page(new_page: Callable[..., Page], app) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, locale="en-US")
    opened(page, app.url, MELONS)
    main = page.get_by_test_id("stMain")
    soon(page, lambda: main.evaluate("m => m.scrollWidth - m.clientWidth"), lambda over: over <= 1)
    cell(page, 0, 1).scroll_into_view_if_needed()
    grip = place_of(page, cell(page, 0, 1))
    assert grip["height"] >= 36
    assert 0 <= grip["x"] < grip["x"] + grip["width"] <= 390


MOVED = ("risk", "confusion", "risks", "regions", "cuts", "wrong")
CREDITS = story_state(State(language="en"), "loan")


@pytest.mark.slow
def test_a_cell_taken_off_the_amount_moves_everything_and_the_server_agrees(page: Page, app) -> None:
    """Regions at the case's amount, held-out rows and rings each at its own: in the browser as in the engine."""
    opened(page, app.url, replace(CREDITS, losses=((0.0, 0.6), (500.0, 0.0))))
    plane, times = page.get_by_test_id("plane"), page.get_by_test_id("times-1-0")
    expect(times).to_have_text("× credit amount")

    def whole() -> dict[str, str | None]:
        return seen(page) | {"wrong": plane.get_attribute("data-wrong")}

    before = still(page, whole)
    times.focus()
    times.press("Space")
    expect(times).to_have_attribute("aria-pressed", "false")
    expect(times).to_have_text("a fixed sum")
    page.wait_for_url(lambda url: "?s=" in url and url.split("?s=")[1] != encode(CREDITS))
    settled(page)
    soon(page, whole, lambda now: all(now[k] != before[k] for k in MOVED))
    after = still(page, whole)
    grab(page, cell(page, 1, 0), 90)  # now while it is dragged, and then by the engine
    during = still(page, whole)
    assert during["risk"] != after["risk"]
    assert during["wrong"] != after["wrong"]
    address = page.url
    page.mouse.up()
    page.wait_for_url(lambda url: url != address)
    settled(page)
    becomes(page, whole, during)


@pytest.mark.parametrize("answered", [True, slowly(False)])
def test_typing_on_after_a_cell_that_has_an_amount_reaches_the_next_number(page: Page, app, answered: bool) -> None:
    """Also where the server has answered meanwhile: then the story is no longer in use, and its words go."""
    opened(page, app.url, CREDITS)
    cell(page, 0, 1).focus()
    page.keyboard.type("0.7")
    page.keyboard.press("Tab")
    if answered:
        soon(page, lambda: state_of(page).losses, lambda losses: losses[0][1] == 0.7)
        settled(page)
    page.keyboard.type("0.2")
    page.keyboard.press("Tab")
    settled(page)
    expect(cell(page, 0, 1)).to_have_value("0.7")
    expect(cell(page, 1, 0)).to_have_value("0.2")


@pytest.mark.slow
def test_what_flips_a_cell_is_said_in_its_own_unit(page: Page, app) -> None:
    opened(page, app.url, CREDITS)
    cell(page, 0, 1).focus()
    expect(page.get_by_text("flips at 0.282")).to_be_visible()  # 0.7011 · 0.12 / 0.2989, whatever the sum
    opened(page, app.url, replace(CREDITS, losses=((0.0, 0.6), (500.0, 0.0)), fixed=((1, 0),)))
    cell(page, 0, 1).focus()
    expect(page.get_by_text("flips at 0.13")).to_be_visible()  # 0.7011 · 500 / (0.2989 · 9055)


@pytest.mark.slow
def test_the_sidebar_leaves_a_phone_the_page(new_page: Callable[..., Page], app) -> None:
    for width, shown in ((390, False), (1440, True)):
        page = new_page(viewport={"width": width, "height": 900}, locale="en-US")
        opened(page, app.url, MELONS)
        sidebar = page.get_by_test_id("stSidebar")
        expect(sidebar).to_be_in_viewport() if shown else expect(sidebar).not_to_be_in_viewport()


@pytest.mark.slow
@pytest.mark.parametrize("path", ["decisions", slowly("start")])
def test_the_case_follows_the_hand_where_the_page_moves_in_mid_drag(page: Page, app, path: str) -> None:
    page.goto(f"{app.url}/{'' if path == 'start' else path}?s={encode(MELONS)}")
    plane = page.get_by_test_id("plane")
    expect(plane).to_have_attribute("data-regions", re.compile(r"\d"))
    looking.settled(page)
    case = page.get_by_test_id("plane-case")
    box = place_of(page, case)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def place() -> tuple[float, ...]:
        return tuple(map(float, (plane.get_attribute("data-case") or "nan").split(",")))

    first = still(page, place)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y, steps=4)
    soon(page, place, lambda now: now[0] < first[0])
    once = still(page, place)
    plane.locator(".stage").evaluate("stage => stage.style.marginTop = '80px'")  # something comes in above
    page.mouse.move(x - 80, y, steps=4)
    soon(page, place, lambda now: now[0] < once[0])
    last = still(page, place)
    assert last == pytest.approx((2 * once[0] - first[0], first[1]), abs=1e-3)  # as far again, and no higher
    page.mouse.up()
    becomes(page, lambda: tuple(state_of(page).case[:2]), last)
    looking.settled(page)
    becomes(page, place, last)
