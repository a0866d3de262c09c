"""The server is killed (SIGKILL) and started again: the tab that was open says so, and one click brings all of it back.

These tests have a server and browser contexts of their own: a killed server puts errors on the console. The server is
one for all but a classroom, and each finds nothing saved.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from bayes_engine.workbench.launch import CLASSROOM
from pages.runtime import own_computer
from pages.runtime.state import State, encode
from pages.shell.workspace import disk
from tests.browser.looking import becomes, place_of, settled
from tests.conftest import PATIENCE, ROOT

LETTERS = "x,y,letter\n" + "\n".join(f"{i * 37 % 11},{i % 5},{chr(97 + i % 26)}" for i in range(130))
PAGES = frozenset({"start", "data", "model", "decisions", "case", "classify", "network"})


class Server:
    """The app on one port, with a data directory of its own, to be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data" / "workspaces"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, **environment: str) -> None:
        told = {**os.environ, own_computer.WHETHER: "1", disk.WHERE: str(self.folder / "data"), **environment}
        told.pop(CLASSROOM, None) if CLASSROOM not in environment else None
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless", "true",
                 "--server.port", str(self.port)], cwd=self.folder, env=told, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2):
                    return
            except OSError:
                time.sleep(0.1)
        pytest.fail((self.folder / "log").read_text(encoding="utf-8", errors="replace"))

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(10)

    def saved(self, page: str = "decisions") -> list[disk.Saved]:
        """The saved workspaces, as soon as the latest was left on this page."""
        end = time.monotonic() + PATIENCE
        while not (found := disk.saved(self.data)) or disk.load(found[0].session, self.data, PAGES).page != page:
            assert time.monotonic() < end
            time.sleep(0.1)
        return found


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("workspace"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def server(running: Server) -> Server:
    """The server, with nothing saved; the tabs of the test before are closed."""
    if disk.saved(running.data):
        time.sleep(2 * disk.EVERY)  # what was under way is saved as well
        shutil.rmtree(running.data)
    return running


@pytest.fixture
def classroom(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start(**{CLASSROOM: "1"})
    yield server
    server.kill()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(locale="en-GB", viewport={"width": 1440, "height": 900})
    context.set_default_timeout(1000 * PATIENCE)
    yield context
    context.close()


def uploaded(server: Server, context: BrowserContext) -> Page:
    """A tab with an uploaded table, on the page Decisions."""
    page = context.new_page()
    page.goto(f"{server.url}/data")
    drop = page.locator(".st-key-upload_file input[type=file]")
    drop.set_input_files({"name": "letters 字.csv", "mimeType": "text/csv", "buffer": LETTERS.encode()})
    expect(page.get_by_role("heading", name="letters 字.csv")).to_be_visible()
    page.get_by_role("link", name="Decisions").first.click()
    expect(page.get_by_text("what a decision costs").first).to_be_visible()
    settled(page)
    return page


def opened(page: Page, inside: Locator) -> None:
    """The chip *Workspace*, pressed until it shows this: a press while the page is still being drawn may be lost."""
    end = time.monotonic() + PATIENCE
    while not inside.count():
        assert time.monotonic() < end
        settled(page)
        page.locator(".st-key-chip_workspace_open button").first.click()
        with suppress(AssertionError):
            expect(inside).to_be_attached(timeout=5_000)


@pytest.mark.slow
def test_a_browser_that_came_through_a_proxy_is_not_saved(server: Server, browser: Browser) -> None:
    context = browser.new_context(locale="en-GB", extra_http_headers={"X-Forwarded-For": "203.0.113.7"})
    try:
        uploaded(server, context).wait_for_timeout(int(2000 * disk.EVERY))
        assert disk.saved(server.data) == []
    finally:
        context.close()


@pytest.mark.slow
def test_the_file_that_is_saved_opens_in_another_session(
    server: Server, context: BrowserContext, tmp_path: Path
) -> None:
    page = uploaded(server, context)
    save = page.get_by_role("button", name="Save workspace")
    opened(page, save)
    with page.expect_download() as download:
        save.click()
    assert download.value.suggested_filename == "letters-字.workspace.bayes"
    download.value.save_as(tmp_path / "saved.bayes")
    server.saved()
    forget = page.get_by_role("button", name="Forget what was saved")
    opened(page, forget)  # what is saved is said when the chip opens; it may be open from before
    forget.click()
    expect(page.get_by_text("is saved by itself when you change it")).to_be_visible()
    becomes(page, lambda: disk.saved(server.data), [])
    other = context.new_page()
    other.goto(server.url)
    drop = other.locator("[class*=st-key-workspace_file] input[type=file]")
    opened(other, drop)
    drop.set_input_files(tmp_path / "saved.bayes")
    expect(other.get_by_role("heading", name="What should we decide when errors cost differently?")).to_be_visible()
    expect(other.get_by_text("letters 字.csv").first).to_be_visible()
    settled(other)
    becomes(other, lambda: other.url.startswith(f"{server.url}/decisions?s=1."), True)
    server.saved()


@pytest.mark.slow
def test_after_a_kill_the_open_tab_says_so_and_one_click_reopens_everything(
    server: Server, context: BrowserContext
) -> None:
    page = uploaded(server, context)
    judged = page.get_by_text("Judged", exact=False).first
    expect(judged).to_be_visible()
    before = judged.text_content() or ""
    server.saved()
    server.kill()
    server.start()
    expect(page.get_by_text("The server was restarted.")).to_be_visible()
    expect(page.get_by_text("letters 字.csv, was saved at")).to_be_visible()
    expect(page.get_by_text("refers to a file that was uploaded elsewhere")).to_be_visible()
    page.get_by_role("button", name="Reopen").click()
    expect(page.get_by_text("letters 字.csv").first).to_be_visible()
    expect(page.get_by_text("refers to a file that was uploaded elsewhere")).to_have_count(0)
    expect(page.get_by_text("The server was restarted.")).to_have_count(0)
    settled(page)
    expect(page.get_by_text("Judged", exact=False).first).to_have_text(before)


@pytest.mark.slow
def test_a_fresh_start_offers_the_last_workspace_once_it_is_closed_and_never_over_what_an_address_says(
    server: Server, context: BrowserContext
) -> None:
    page = uploaded(server, context)
    server.saved()
    other = context.new_page()
    other.goto(server.url)
    expect(other.get_by_text("Is this melon good?").first).to_be_visible()
    settled(other)
    expect(other.get_by_role("button", name="Reopen")).to_have_count(0)  # it is open there
    other.close()
    page.close()
    server.kill()
    server.start()
    linked = context.new_page()
    address = f"{server.url}/decisions?s={encode(State(table='iris', language='en'))}"
    linked.goto(address)
    expect(linked.get_by_text("Judged", exact=False).first).to_be_visible()
    settled(linked)
    assert linked.url == address
    expect(linked.get_by_role("button", name="Reopen")).to_have_count(0)
    linked.goto(server.url)
    settled(linked)
    title, dismiss = linked.locator("h1"), linked.locator(".st-key-workspace_dismiss button").first
    expect(dismiss).to_be_visible()
    offered = place_of(linked, title)
    dismiss.click()
    expect(linked.get_by_role("button", name="Reopen")).to_have_count(0)
    assert place_of(linked, title) == offered  # the offer lies over the page, and moves nothing
    assert len(disk.saved(server.data)) == 1  # to look is no work to be kept
    fresh = context.new_page()
    fresh.goto(server.url)
    expect(fresh.get_by_text("letters 字.csv, was saved at")).to_be_visible()
    expect(fresh.get_by_text("The server was restarted.")).to_have_count(0)
    fresh.get_by_role("button", name="Reopen").click()
    expect(fresh.get_by_role("heading", name="What should we decide when errors cost differently?")).to_be_visible()
    expect(fresh.get_by_text("letters 字.csv").first).to_be_visible()


@pytest.mark.slow
def test_a_classroom_saves_nothing_and_still_says_that_it_was_restarted(
    classroom: Server, context: BrowserContext
) -> None:
    page = uploaded(classroom, context)
    page.wait_for_timeout(int(2000 * disk.EVERY))
    assert disk.saved(classroom.data) == []
    classroom.kill()
    classroom.start(**{CLASSROOM: "1"})
    expect(page.get_by_text("The server was restarted.")).to_be_visible()
    expect(page.get_by_role("button", name="Reopen")).to_have_count(0)
