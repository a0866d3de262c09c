"""One server, one Chromium and one profile for all browser tests: the app's scripts are fetched and compiled once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, expect, sync_playwright

from tests.conftest import CHROMIUM_FLAGS, PATIENCE, App

PROBES = ("/_stcore/health", "/_stcore/host-config")
"""On a deep link Streamlit's front end asks below the page's own path first, and takes a 404 for «one level up»."""
OWN_HOSTS = {"localhost", "127.0.0.1"}
ONE_PROCESS = "--process-per-site"
"""The tabs of a context share a process: a new one finds the scripts compiled there, which halves what a page costs."""
DESK: dict[str, Any] = {"locale": "en-GB", "viewport": {"width": 1440, "height": 900}}
SAYS = 3000
"""Characters of a page, and of the server's log, that a test which fails says."""
SHOWN = """() => {
  const app = document.querySelector("[data-testid=stApp]"), main = document.querySelector("[data-testid=stMain]")
  const waiting = performance.getEntriesByType("resource").filter(entry => !entry.responseEnd).map(entry => entry.name)
  const empty = [...document.querySelectorAll("[data-testid=stBidiComponentRegular] > *")].filter(e => !e.offsetHeight)
  return `${app?.dataset.testScriptState} ${app?.dataset.testConnectionState} waits for [${waiting}] ` +
    `${empty.length} drawings without height: ${(main ?? document.body).innerText}`
}"""
expect.set_options(timeout=1000 * PATIENCE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails says what its pages showed then, and what the server has written last and does. In few lines:
    of a long report the middle is cut out."""
    report = yield
    if report.failed and call.when == "call":
        given = getattr(item, "funcargs", {})
        contexts = given["browser"].contexts if "browser" in given else []
        for page in [page for context in contexts for page in context.pages[1:]]:
            with suppress(Error):
                shown = page.evaluate(SHOWN)
                report.sections.append((f"on {page.url[:200]}", " · ".join(shown.splitlines())[:SAYS]))
        if "app" in given:
            report.sections.append(("the server's log", given["app"].log.read_text("utf-8", "replace")[-SAYS:]))
            report.sections.append(("the server's threads", "\n".join(given["app"].threads())))
    return report


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium; where there is none, tests that need it skip, or fail if BAYES_REQUIRE_BROWSER=1."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        missing = "Chromium not found: install Debian's packages chromium and fonts-noto-cjk"
        if os.environ.get("BAYES_REQUIRE_BROWSER") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=[*CHROMIUM_FLAGS, ONE_PROCESS])
        yield running
        running.close()


@pytest.fixture(scope="session")
def app(browser: Browser, room: App) -> App:
    """The app; without a browser it is not even started."""
    return room


@pytest.fixture(scope="session")
def context_of(browser: Browser, app: App) -> Iterator[Callable[..., BrowserContext]]:
    """The browser context with these options. A tab of it stays open, so that its process does: the next page finds the
    scripts compiled there."""
    made: list[tuple[dict[str, Any], BrowserContext]] = []

    def find(**options: Any) -> BrowserContext:
        for known, context in made:
            if known == options:
                return context
        context = browser.new_context(**options)
        context.set_default_timeout(1000 * PATIENCE)
        context.new_page().goto(f"{app.url}/_stcore/health")
        made.append((options, context))
        return context

    yield find
    for _options, context in made:
        context.close()


@pytest.fixture
def new_page(context_of: Callable[..., BrowserContext], app: App) -> Iterator[Callable[..., Page]]:
    """Opens pages: `new_page(locale="zh-CN", color_scheme="dark")`. What a test has stored in the browser goes with it,
    but for the cache. Size and colours are the page's own, so that they need no context with an empty cache.

    At the end of the test nothing may stand against them: no error on the console or in the server's log, no request
    to another host.
    """
    contexts: list[BrowserContext] = []
    faults: list[str] = []
    read = app.log.stat().st_size

    def request(url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname not in OWN_HOSTS:
            faults.append(f"a request to a foreign host: {url}")

    def console(said: ConsoleMessage) -> None:
        probing = urlsplit(said.location.get("url", "")).path.endswith(PROBES)
        if said.type == "error" and not probing:
            faults.append(f"console: {said.text}")

    def watch(page: Page) -> None:
        page.on("console", console)
        page.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        page.on("request", lambda sent: request(sent.url))
        page.on("websocket", lambda opened: request(opened.url))

    def open_page(**options: Any) -> Page:
        own = (
            {}
            if options.get("is_mobile")
            else {k: options.pop(k) for k in ("viewport", "color_scheme") & options.keys()}
        )
        context = context_of(**DESK | options)
        if context not in contexts:
            context.on("page", watch)
            contexts.append(context)
        page = context.new_page()
        if "viewport" in own:
            page.set_viewport_size(own["viewport"])
        if "color_scheme" in own:
            page.emulate_media(color_scheme=own["color_scheme"])
        return page

    yield open_page
    for context in contexts:
        for page in context.pages[1:]:
            if page.url.startswith("http"):
                page.evaluate("localStorage.clear()")
            page.close()
        context.clear_cookies()
        context.remove_listener("page", watch)
    log = app.log.read_bytes()[read:].decode("utf-8", "replace")
    if "Traceback" in log:
        faults.append(f"the server's log:\n{log}")
    assert not faults, "\n".join(faults)


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """An empty page in English, light, 1440 × 900."""
    return new_page()
