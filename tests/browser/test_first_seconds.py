"""The first seconds of a visit, by frames: a skeleton in the reader's language, then the page, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Page

from bayes_engine.workbench.skeleton import with_skeleton
from pages.runtime.state import State, encode
from tests.browser.looking import settled, still

FILM = """
window.film = []
const seen = what => document.querySelector(what)?.checkVisibility({ visibilityProperty: true }) ?? false
const frame = () => {
  if (document.body) {
    const head = document.querySelector("h1"), { fontSize } = head ? getComputedStyle(head) : {}
    const { left, top } = head?.getBoundingClientRect() ?? {}
    film.push({ skeleton: seen("#skeleton") && document.querySelector("#skeleton").innerText, title: document.title,
      list: seen("[data-testid='stSidebarNav']"), head: head && [fontSize, left, top] })
  }
  requestAnimationFrame(frame)
}
requestAnimationFrame(frame)
"""


@pytest.mark.parametrize(
    ("locale", "state", "code", "words"),
    [
        pytest.param("en-GB", State(), "en", "Opening the page", marks=pytest.mark.slow),
        pytest.param("zh-CN", State(), "zh", "正在打开", marks=pytest.mark.slow),
        ("en-GB", State(language="zh"), "zh", "正在打开"),
    ],
)
def test_a_visit_begins_with_one_skeleton_and_no_stranger_s_menu(
    new_page: Callable[..., Page], app: Any, locale: str, state: State, code: str, words: str
) -> None:
    page = new_page(locale=locale)
    page.add_init_script(FILM)
    page.goto(f"{app.url}/decisions?s={encode(state)}", wait_until="commit")
    page.wait_for_selector("h1")
    settled(page)
    page.wait_for_selector("#skeleton", state="hidden")
    still(page, lambda: page.evaluate("film.at(-1)"))
    film: list[dict[str, Any]] = page.evaluate("film")
    assert words in film[0]["skeleton"], "the first frame is empty, or speaks another language"
    covered = [bool(frame["skeleton"]) for frame in film]
    assert covered == sorted(covered, reverse=True) and not covered[-1], "it comes once, and goes"
    assert not [frame for frame in film if frame["list"] or frame["title"] == "Streamlit"]
    uncovered = [frame["head"] for frame in film if not frame["skeleton"]]
    assert None not in uncovered and uncovered == uncovered[:1] * len(uncovered), "the heading stands where it will"
    assert page.locator("html").get_attribute("lang") == code


class Halting(BaseHTTPRequestHandler):
    """Sends a page of HTML up to the middle of its skeleton, and the rest half a second later."""

    def do_GET(self) -> None:
        page = with_skeleton('<html lang="en"><head></head><body><div id="root"></div></body></html>', "en").encode()
        middle = page.index(b"</aside>")
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(page)))
        self.end_headers()
        self.wfile.write(page[:middle])
        time.sleep(0.5)
        self.wfile.write(page[middle:])

    def log_message(self, *_said: object) -> None:
        """Not told."""


def test_no_frame_is_drawn_before_the_skeleton_is_there(new_page: Callable[..., Page]) -> None:
    page = new_page()
    page.add_init_script(FILM)
    with HTTPServer(("127.0.0.1", 0), Halting) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_function("film.length > 2")
        server.shutdown()
    assert all("Opening the page" in str(frame["skeleton"]) for frame in page.evaluate("film"))
