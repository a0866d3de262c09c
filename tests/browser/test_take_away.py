"""A live picture taken along: its file, opened by a double click without a network, shows the numbers of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from pages.active.files import digest
from pages.runtime import view_keys as keys
from pages.runtime.state import State, encode
from tests.apptest import hostile
from tests.browser.looking import becomes, settled, soon
from tests.browser.test_surfaces import MADE, SHOWN
from tests.conftest import App

pytestmark = pytest.mark.slow
MOST = 300_000
NUMBERS = {
    "plane": ("posterior", "decision", "case", "wrong"),
    "consequences": ("risk", "confusion", "chosen", "risks", "cuts", "areas"),
    "nomogram": ("total", "posterior", "decision"),
}
"""What each drawing says of itself, whatever its width."""


def numbers(page: Page, drawing: str) -> list[str | None]:
    shown = page.get_by_test_id(drawing).first
    return [shown.get_attribute(f"data-{name}") for name in NUMBERS[drawing]]


@pytest.fixture
def offline(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a file without a network; whatever it asks for, and every error, is a fault."""
    faults: list[str] = []
    contexts = []

    def open_file(path: Path, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "offline": True} | options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda sent: None if sent.url == path.as_uri() else faults.append(sent.url))
        page.goto(path.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert not faults


def taken(page: Page, app: App, path: str, state: State, folder: Path, name: str) -> Path:
    """The file of the picture of this name on a page."""
    page.goto(f"{app.url}/{path}?s={encode(state)}")
    settled(page)
    return saved_file(page, folder, name)


def saved_file(page: Page, folder: Path, name: str) -> Path:
    page.locator(".st-key-share button").first.click()
    button = page.locator('[class*="st-key-take_away_"] button').filter(has_text=name)
    with page.expect_download() as download:
        button.click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    page.keyboard.press("Escape")
    settled(page)
    assert file.stat().st_size <= MOST
    return file


@pytest.mark.parametrize("path", ["decisions", ""])
def test_the_plane_shows_and_moves_the_same_numbers(
    app: App, new_page: Callable[..., Page], offline: Callable[..., Page], tmp_path: Path, path: str
) -> None:
    live = new_page()
    file = taken(
        live, app, path, State(table="watermelon3a", language="en"), tmp_path, "The plane with losses λ and prior"
    )
    saved = offline(file)
    assert saved.locator("canvas").count() >= 2
    becomes(saved, lambda: numbers(saved, "plane"), numbers(live, "plane"))
    expect(saved.get_by_test_id("plane-readout")).to_have_text(
        live.get_by_test_id("plane-readout").text_content() or "?"
    )
    before = numbers(saved, "plane")
    for page in (live, saved):
        for cell, loss in (("loss-0-1", "37.5"), ("loss-1-0", "0.25")):
            page.get_by_test_id(cell).fill(loss)
            page.get_by_test_id(cell).press("Enter")
            settled(live)
        page.get_by_test_id("prior-0").fill("0.31")
        page.get_by_test_id("prior-0").press("Enter")
        settled(live)
    after = soon(live, lambda: numbers(live, "plane"), lambda seen: seen != before)
    becomes(saved, lambda: numbers(saved, "plane"), after)
    assert after[1] != before[1]  # another decision
    saved.get_by_test_id("loss-0-1").focus()
    live.get_by_test_id("loss-0-1").focus()
    expect(saved.locator(".flip").filter(has_text="flips")).to_have_text(
        live.locator(".flip").filter(has_text="flips").inner_text()
    )
    at = saved.get_by_test_id("plane").get_attribute("data-case")
    saved.get_by_test_id("plane-case").press("ArrowRight")
    soon(saved, lambda: saved.get_by_test_id("plane").get_attribute("data-case"), lambda seen: seen != at)


@pytest.mark.parametrize("table", ["watermelon3a", "iris"])
def test_the_simplex_shows_and_moves_the_same_numbers(
    app: App, new_page: Callable[..., Page], offline: Callable[..., Page], tmp_path: Path, table: str
) -> None:
    live = new_page()
    file = taken(live, app, "decisions", State(table=table, language="en"), tmp_path, "The simplex")
    saved = offline(file)
    becomes(saved, lambda: numbers(saved, "consequences"), numbers(live, "consequences"))
    before = numbers(saved, "consequences")
    for page in (live, saved):
        page.get_by_test_id("loss-1-0").fill("7.25")
        page.get_by_test_id("loss-1-0").press("Enter")
        settled(live)
        page.get_by_test_id("prior-0").fill("0.2")
        page.get_by_test_id("prior-0").press("Enter")
        settled(live)
    expect(live.get_by_test_id("consequences")).to_have_attribute("data-live", "")
    after = soon(live, lambda: numbers(live, "consequences"), lambda seen: seen[0] != before[0])
    becomes(saved, lambda: numbers(saved, "consequences"), after)


@pytest.mark.parametrize("beside", ["", "smoothing"])
def test_the_nomogram_shows_and_moves_the_same_numbers(
    app: App, new_page: Callable[..., Page], offline: Callable[..., Page], tmp_path: Path, beside: str
) -> None:
    live, melon = new_page(), State(table="watermelon3", language="en")
    state = melon.showing(keys.CASE_VIEW.to("nomogram"), keys.NOMOGRAM_BESIDE.to(beside))
    saved = offline(taken(live, app, "case", state, tmp_path, "The nomogram"))

    def shown(page: Page) -> list[list[str | None]]:
        drawn = page.get_by_test_id("nomogram").all()
        return [[one.get_attribute(f"data-{name}") for name in NUMBERS["nomogram"]] for one in drawn]

    becomes(saved, lambda: shown(saved), shown(live))
    before = shown(saved)
    assert len(before) == (2 if beside else 1)
    for name in ("texture", "sugar"):
        for page in (live, saved):
            point = page.get_by_test_id("nomogram").first.get_by_role("slider", name=name, exact=True)
            for _step in range(2):
                point.press("ArrowLeft")
            settled(live)
    after = soon(live, lambda: shown(live), lambda seen: "" not in seen[0] and seen[0] != before[0])
    becomes(saved, lambda: shown(saved), after)


@pytest.mark.parametrize("network", ["asia", "watermelon", "burglary"])
def test_the_network_answers_every_click_as_the_page(
    app: App, new_page: Callable[..., Page], offline: Callable[..., Page], tmp_path: Path, network: str
) -> None:
    live = new_page()
    state = State(language="en").showing(keys.NET_TAB.to("ask"), keys.NET.to(network))
    saved = offline(taken(live, app, "network", state, tmp_path, "The network"))

    def shown(page: Page) -> list[str | None]:
        """What is said of every state, and which nodes are marked."""
        graph = page.get_by_test_id("graph")
        bars = [f"{b.get_attribute('aria-label')} {b.get_attribute('class')}" for b in graph.locator(".state").all()]
        return bars + [node.get_attribute("class") for node in graph.locator(".node").all()]

    becomes(saved, lambda: shown(saved), shown(live))
    first = shown(live)
    for place in (0, 3, 5, 3):  # findings, and one taken back
        before = shown(live)
        for page in (live, saved):
            page.get_by_test_id("graph").locator(".state").nth(place).click()
        soon(live, lambda: shown(live), lambda seen, before=before: seen != before)
        soon(live, lambda: [shown(page) for page in (live, saved)], lambda both: both[0] == both[1])
    p = live.get_by_test_id("stMetricValue").first.inner_text()
    expect(saved.locator("#told")).to_contain_text(f"P(e) = {p}:")
    assert shown(live) != first


def test_markup_in_a_table_is_text_in_a_file(
    app: App, new_page: Callable[..., Page], offline: Callable[..., Page], tmp_path: Path
) -> None:
    live, content = new_page(), hostile.table()
    state = State(table=f"upload:{digest(content)}", language="en")
    live.goto(f"{app.url}/data?s={encode(state)}")
    settled(live)
    live.locator('input[type="file"]').first.set_input_files(
        {"name": hostile.FILE, "mimeType": "text/csv", "buffer": content}
    )
    settled(live)
    for where, name in (("Decisions", "The plane"), ("Decisions", "The simplex")):
        live.get_by_test_id("stSidebar").get_by_role("link", name=where).click()
        live.wait_for_url(lambda url: "decisions" in url)
        live.wait_for_selector('[data-testid="plane"][data-regions]')
        settled(live)
        saved = offline(saved_file(live, tmp_path, name))
        saved.wait_for_function("document.querySelector('#piece-0').shadowRoot.textContent.length > 20")
        assert saved.evaluate(MADE) == []
        assert hostile.CLASSES[1] in saved.evaluate(SHOWN)
