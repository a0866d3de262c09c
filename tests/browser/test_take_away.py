"""A live picture taken along: its file, opened by a double click without a network, shows the numbers of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from operator import ne
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect

from pages.active.files import digest
from pages.runtime import view_keys as keys
from pages.runtime.state import Spec, State, encode
from tests.apptest import hostile
from tests.apptest.opened import showing
from tests.browser.looking import agreed, becomes, settled, soon
from tests.browser.test_surfaces import MADE, SHOWN
from tests.browser.views import EVERY_LOOK
from tests.conftest import App

pytestmark = pytest.mark.slow
MOST = 300_000
NUMBERS = {
    "plane": ("posterior", "decision", "case", "wrong"),
    "consequences": ("risk", "confusion", "chosen", "risks", "cuts", "areas"),
    "nomogram": ("total", "posterior", "decision"),
    "smoothing": ("n", "posterior", "estimate"),
    "fitted": ("place", "sum"),
}
"""What each drawing says of itself, whatever its width."""


def numbers(page: Page, drawing: str) -> list[str | None]:
    shown = page.get_by_test_id(drawing).first
    return [shown.get_attribute(f"data-{name}") for name in NUMBERS[drawing]]


@pytest.fixture(scope="module")
def without_network(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    yield context
    context.close()


@pytest.fixture
def offline(without_network: BrowserContext) -> Iterator[Callable[[Path], Page]]:
    """Opens a file without a network; whatever it asks for, and every error, is a fault."""
    faults: list[str] = []
    opened = []

    def open_file(path: Path) -> Page:
        page = without_network.new_page()
        opened.append(page)
        page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda sent: None if sent.url == path.as_uri() else faults.append(sent.url))
        page.goto(path.as_uri())
        return page

    yield open_file
    for page in opened:
        page.close()
    assert not faults


def taken(page: Page, app: App, path: str, state: State, folder: Path, name: str) -> Path:
    """The file of the picture of this name on a page."""
    page.goto(f"{app.url}/{path}?s={encode(state)}")
    settled(page)
    return saved_file(page, folder, name)


def saved_file(page: Page, folder: Path, name: str) -> Path:
    share = page.locator(".st-key-share button").first
    button = page.locator('[class*="st-key-take_away_"] button').filter(has_text=name)

    def opened() -> bool:
        """Where the page is drawn anew after a job, what was opened before may be closed again."""
        if not button.is_visible():
            share.click()
            with suppress(Error):
                button.wait_for(timeout=10_000)
        return button.is_visible()

    soon(page, opened, bool)
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
    app: App, new_page: Callable[..., Page], offline: Callable[[Path], Page], tmp_path: Path, path: str
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
    after = agreed(live, saved, lambda page: numbers(page, "plane"), lambda seen: seen != before)
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
    app: App, new_page: Callable[..., Page], offline: Callable[[Path], Page], tmp_path: Path, table: str
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
    agreed(live, saved, lambda page: numbers(page, "consequences"), lambda seen: seen[0] != before[0])


@pytest.mark.parametrize("beside", ["smoothing", *([""] if EVERY_LOOK else [])])
def test_the_nomogram_shows_and_moves_the_same_numbers(
    app: App, new_page: Callable[..., Page], offline: Callable[[Path], Page], tmp_path: Path, beside: str
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
    agreed(live, saved, shown, lambda seen: "" not in seen[0] and all(map(ne, seen, before)))


def test_the_nomograms_decision_follows_the_losses_and_the_prior_of_its_file(
    app: App, new_page: Callable[..., Page], offline: Callable[[Path], Page], tmp_path: Path
) -> None:
    live = new_page()
    melon = State(table="watermelon3", language="en", row=3, shelf=(Spec("laplace"),))
    state = melon.showing(keys.CASE_VIEW.to("nomogram"))
    saved = offline(taken(live, app, "case", state, tmp_path, "The nomogram"))
    becomes(saved, lambda: numbers(saved, "nomogram"), numbers(live, "nomogram"))
    decisions = set()
    for losses, prior in (
        (((0.0, 1.0), (1.0, 0.0)), 0.31), (((0.0, 90.0), (0.25, 0.0)), 0.31), (((0.0, 0.01), (64.0, 0.0)), 0.85),
    ):  # fmt: skip
        then = replace(state, losses=losses, prior=(prior, round(1 - prior, 2)))
        live.goto(f"{app.url}/case?s={encode(then)}")
        settled(live)
        live.wait_for_selector('[data-testid="nomogram"][data-total]')
        for i in (0, 1):
            for j in (0, 1):
                saved.get_by_test_id(f"loss-{i}-{j}").fill(str(losses[i][j]))
                saved.get_by_test_id(f"loss-{i}-{j}").press("Enter")
        saved.get_by_test_id("prior-0").fill(str(prior))
        saved.get_by_test_id("prior-0").press("Enter")
        becomes(saved, lambda: numbers(saved, "nomogram"), numbers(live, "nomogram"))
        decisions.add(numbers(saved, "nomogram")[2])
    assert len(decisions) == 2
    # where the decision turns is said of the case as it was moved
    saved.get_by_test_id("nomogram").get_by_role("slider", name="sugar", exact=True).press("ArrowLeft")
    saved.get_by_test_id("loss-0-1").focus()
    flip = saved.locator(".flip").filter(has_text="flips")
    p = [float(v) for v in (numbers(saved, "nomogram")[1] or "").split(",")]
    order = [0, 1]  # both the editor's and the drawing's
    turns = 64.0 * p[order[0]] / p[order[1]]
    soon(saved, flip.inner_text, lambda said: abs(float(said.split()[-1]) - turns) < 5e-3 * turns)


@pytest.mark.parametrize(
    ("view", "drawing", "name", "moves"),
    [
        ({"lab_tab": "smoothing"}, "smoothing", "The case under four", ["ArrowRight", "ArrowRight", "PageUp"]),
        ({"lab_tab": "fitted"}, "fitted", "Maximum likelihood", ["ArrowLeft", "ArrowLeft", "ArrowUp"]),
        ({"lab_tab": "fitted", "lab_fitted_column": 0}, "fitted", "Maximum likelihood", ["ArrowRight", "ArrowUp"]),
    ],
)
def test_the_laboratorys_pictures_show_and_move_the_same_numbers(
    app: App, new_page: Callable[..., Page], offline: Callable[[Path], Page], tmp_path: Path,
    view: dict[str, Any], drawing: str, name: str, moves: list[str],
) -> None:  # fmt: skip
    live = new_page()
    state = showing(State(table="watermelon3", language="en"), **view)
    saved = offline(taken(live, app, "laboratory", state, tmp_path, name))
    becomes(saved, lambda: numbers(saved, drawing), numbers(live, drawing))
    before = numbers(saved, drawing)
    for page in (live, saved):
        handle = page.get_by_test_id(drawing).get_by_role("slider").first
        for key in moves:
            handle.press(key)
        settled(live)
    agreed(live, saved, lambda page: numbers(page, drawing), lambda seen: seen[0] != before[0])


def test_the_plane_of_densities_follows_the_losses_of_its_file(
    app: App, new_page: Callable[..., Page], offline: Callable[[Path], Page], tmp_path: Path
) -> None:
    live, state = new_page(), State(language="en")
    saved = offline(taken(live, app, "laboratory", state, tmp_path, "Known densities"))

    def risk(page: Page) -> str:
        return page.get_by_test_id("laboratory-risk").inner_text()

    assert soon(saved, lambda: risk(saved), lambda said: said != "") == risk(live)
    saved.get_by_test_id("loss-0-1").fill("7")
    saved.get_by_test_id("loss-0-1").press("Enter")
    saved.get_by_test_id("prior-0").fill("0.8")
    saved.get_by_test_id("prior-0").press("Enter")
    approximate = soon(saved, lambda: risk(saved), lambda said: "≈" in said)
    then = showing(state, lab_losses=((0.0, 7.0), (1.0, 0.0)), lab_priors=(0.8, 0.2))
    live.goto(f"{app.url}/laboratory?s={encode(then)}")
    settled(live)
    exact = soon(live, lambda: risk(live), lambda said: "=" in said)
    assert abs(float(approximate.split()[-1]) - float(exact.split()[-1])) < 2e-3
    mean = saved.get_by_test_id("laboratory-handle-0")
    was = saved.get_by_test_id("laboratory").locator(".stage").get_attribute("data-parts")
    mean.press("ArrowUp")
    soon(saved, lambda: saved.get_by_test_id("laboratory").locator(".stage").get_attribute("data-parts"),
         lambda seen: seen != was)  # fmt: skip


def test_a_line_and_a_climb_are_taken_along(
    app: App, new_page: Callable[..., Page], offline: Callable[[Path], Page], tmp_path: Path
) -> None:
    live = new_page()
    saved = offline(taken(live, app, "projection", State(table="iris", language="en"), tmp_path, "The line"))
    shown = saved.get_by_test_id("projection-numbers")
    expect(shown).to_have_text(live.get_by_test_id("projection-numbers").inner_text().replace("\n", ""))
    for page in (live, saved):
        for _step in range(3):
            page.get_by_test_id("projection-handle").press("ArrowLeft")
    settled(live)
    becomes(saved, shown.text_content, live.get_by_test_id("projection-numbers").text_content())
    saved = offline(taken(live, app, "hidden", State(language="en"), tmp_path, "EM, iteration"))
    both = (live.locator(".player .numbers"), saved.locator(".player .numbers"))
    becomes(saved, both[1].text_content, both[0].text_content())
    before = both[0].text_content()
    for page in (live, saved):
        page.locator(".player").get_by_role("slider", name="Iteration").fill("2")
    soon(saved, lambda: [one.text_content() for one in both], lambda seen: seen[0] == seen[1] != before)


@pytest.mark.parametrize("network", ["asia", "watermelon", *(["burglary"] if EVERY_LOOK else [])])
def test_the_network_answers_every_click_as_the_page(
    app: App, new_page: Callable[..., Page], offline: Callable[[Path], Page], tmp_path: Path, network: str
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
    app: App, new_page: Callable[..., Page], offline: Callable[[Path], Page], tmp_path: Path
) -> None:
    live, content = new_page(), hostile.scripted()
    state = State(table=f"upload:{digest(content)}", language="en", shelf=(Spec(preset="laplace"),))
    state = showing(state, case_view="nomogram", net_tab="ask", net="table", lab_tab="smoothing")
    live.goto(f"{app.url}/data?s={encode(state)}")
    settled(live)
    live.locator('input[type="file"]').first.set_input_files(
        {"name": hostile.FILE, "mimeType": "text/csv", "buffer": content}
    )
    settled(live)
    for where, path, drawn, name in (
        ("Decisions", "decisions", '[data-testid="plane"][data-regions]', "The plane"),
        ("Decisions", "decisions", '[data-testid="consequences"]', "The simplex"),
        ("One case", "case", '[data-testid="nomogram"][data-total]', "The nomogram"),
        ("Network", "network", '[data-testid="graph"] .node', "The network"),
        ("Laboratory", "laboratory", '[data-testid="smoothing"][data-n]', "The case under"),
    ):
        live.get_by_test_id("stSidebar").get_by_role("link", name=where, exact=True).click()
        live.wait_for_url(lambda url, path=path: path in url)
        live.wait_for_selector(drawn)
        settled(live)
        saved = offline(saved_file(live, tmp_path, name))
        saved.wait_for_function("document.querySelector('#piece-0').shadowRoot.textContent.length > 20")
        soon(saved, lambda saved=saved: saved.evaluate(SHOWN), lambda shown: "</script" in shown)  # as a text
        assert saved.evaluate(MADE) == [], name
        assert saved.evaluate("document.scripts.length") == 2, name  # the data's and ours
        assert saved.evaluate("window.__pwned") is None
