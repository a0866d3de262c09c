"""A classroom: how much a first visit loads, a phone of 390 pixels, and the code that hands the screen on."""

from __future__ import annotations

import io
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from pages.runtime.state import State, encode
from tests.browser import looking
from tests.conftest import App, slowly

FIRST_LOAD = 2_500_000
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True,
                         "device_scale_factor": 2}  # fmt: skip
THUMB = 40


def visit(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.get_by_test_id("loss-0-1")).to_be_visible()
    settled(page)


def settled(page: Page) -> None:
    looking.settled(page)
    expect(page.get_by_test_id("plane")).to_have_attribute("data-regions", re.compile(r"\d"))


# what is loaded -------------------------------------------------------------------------------------------------------


class Wire:
    """A line to the server that counts the bytes that come back over it, websockets as they are packed. A `near`
    browser is on the server's own computer and takes brotli, as over https; others take gzip alone."""

    def __init__(self, url: str, near: bool) -> None:
        there = urlsplit(url)
        self.bytes, self.near, self.server = 0, near, (there.hostname or "", there.port or 0)
        self.door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.door.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):  # closed: the test is over
            while True:
                browser, server = self.door.accept()[0], socket.create_connection(self.server)
                threading.Thread(target=self._ask, args=(browser, server), daemon=True).start()
                threading.Thread(target=self._answer, args=(server, browser), daemon=True).start()

    def _ask(self, browser: socket.socket, server: socket.socket) -> None:
        with browser, suppress(OSError):
            while data := browser.recv(2**16):
                server.sendall(data if self.near else data.replace(b", br, zstd", b", --, ----"))
            server.shutdown(socket.SHUT_WR)

    def _answer(self, server: socket.socket, browser: socket.socket) -> None:
        with server, suppress(OSError):
            while data := server.recv(2**16):
                self.bytes += len(data)
                browser.sendall(data)
            browser.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize(
    ("path", "near", "most"),
    [
        ("", False, FIRST_LOAD / 2),
        slowly("decisions", False, FIRST_LOAD / 2),
        slowly("model", False, FIRST_LOAD),
        slowly("", True, FIRST_LOAD / 2),
        slowly("decisions", True, FIRST_LOAD / 2),
        slowly("case", False, FIRST_LOAD),
        slowly("network", False, FIRST_LOAD),
        slowly("hidden", False, FIRST_LOAD),
        slowly("data", False, FIRST_LOAD),
    ],
)
@pytest.mark.slow
def test_a_first_visit_loads_less_than_two_and_a_half_megabytes(
    page: Page, app: App, path: str, near: bool, most: float
) -> None:
    """To the byte, headers included, with an empty cache."""
    wire = Wire(app.url, near)
    loaded: list[tuple[int, str]] = []
    page.on("requestfinished", lambda r: loaded.append((r.sizes()["responseBodySize"], r.url.rpartition("/")[2])))
    page.goto(f"{wire.url}/{path}")
    if charts := path not in ("", "decisions", "data", "classify"):
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
    elif path in ("", "decisions"):
        expect(page.get_by_test_id("loss-0-1")).to_be_visible()
        settled(page)
    else:
        page.get_by_test_id("stMain").get_by_role("heading").first.wait_for()
    looking.settled(page)
    page.wait_for_load_state("networkidle")
    looking.still(page, lambda: wire.bytes)
    wire.door.close()
    assert wire.bytes > (1_500_000 if charts else 500_000)
    assert wire.bytes < most, sorted(loaded, reverse=True)[:12]


# a phone --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def phone(new_page: Callable[..., Page]) -> Page:
    return new_page(**PHONE)


@pytest.mark.slow
@pytest.mark.parametrize(("locale", "scheme"), [("en-GB", "light"), ("zh-CN", "dark")])
@pytest.mark.parametrize("path", ["", "decisions"])
def test_nothing_stands_over_the_edge_of_a_phone(
    new_page: Callable[..., Page], app: App, path: str, locale: str, scheme: str
) -> None:
    phone = new_page(**PHONE, locale=locale, color_scheme=scheme)
    visit(phone, f"{app.url}/{path}")
    nothing_stands_over_the_edge(phone)


@pytest.mark.parametrize("path", ["decisions", slowly("")])
@pytest.mark.slow
def test_a_phone_holds_the_page_and_fingers_work_it(phone: Page, app: App, path: str) -> None:
    """One visit: what stands there, then a case dragged, then a loss typed."""
    visit(phone, f"{app.url}/{path}")
    nothing_stands_over_the_edge(phone)
    if path == "decisions":
        what_thumbs_press_is_large_enough(phone)
    the_verdict_stays_in_sight_while_losses_are_edited(phone)
    a_finger_drags_the_case(phone)
    settled(phone)
    a_loss_typed_with_thumbs_changes_the_decision(phone)


def nothing_stands_over_the_edge(phone: Page) -> None:
    widths = (
        "['stMain', 'stMainBlockContainer'].map(id => document.querySelector(`[data-testid=${id}]`))"
        ".concat(document.scrollingElement).map(e => e.scrollWidth)"
    )
    looking.soon(phone, lambda: phone.evaluate(widths), lambda now: max(now) <= 390)
    expect(phone.get_by_test_id("stSidebar")).not_to_be_in_viewport()


@pytest.mark.slow
def test_a_table_makes_no_page_wider_than_a_phone(phone: Page, app: App) -> None:
    phone.goto(f"{app.url}/laboratory")
    phone.locator("table").wait_for()
    looking.settled(phone)
    main = phone.locator("[data-testid=stMain]:has(table)")
    looking.soon(phone, lambda: main.evaluate("e => e.scrollWidth - e.clientWidth"), lambda over: over <= 0)


def the_verdict_stays_in_sight_while_losses_are_edited(phone: Page) -> None:
    verdict = phone.locator(".st-key-settles_verdict")
    expect(verdict).to_be_in_viewport()
    phone.get_by_test_id("loss-0-1").evaluate("e => e.scrollIntoView({ block: 'center' })")
    expect(phone.get_by_test_id("loss-0-1")).to_be_in_viewport()
    expect(verdict).to_be_in_viewport(ratio=0.9)
    on_top = (
        "e => { const b = e.getBoundingClientRect();"
        " return e.contains(document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2)) }"
    )
    looking.becomes(phone, lambda: verdict.evaluate(on_top), True)


def a_finger_drags_the_case(phone: Page) -> None:
    plane, handle = phone.get_by_test_id("plane"), phone.get_by_test_id("plane-case")
    plane.evaluate("e => e.scrollIntoView({ block: 'center' })")
    looking.place_of(phone, handle)
    decided, place = plane.get_attribute("data-decision") or "", plane.get_attribute("data-case") or ""
    top = phone.evaluate("document.querySelector('[data-testid=stMain]').scrollTop")
    drag(phone, handle, -150, 280)
    expect(plane).not_to_have_attribute("data-case", place)
    expect(plane).not_to_have_attribute("data-decision", decided)
    assert phone.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == top  # the page stays
    phone.wait_for_url("**?s=*")


@pytest.mark.slow
def test_a_finger_beside_the_case_scrolls_the_page(phone: Page, app: App) -> None:
    visit(phone, app.url)
    plane = phone.get_by_test_id("plane")
    place = plane.get_attribute("data-case") or ""
    box = looking.place_of(phone, plane)
    swipe(phone, box["x"] + 90, box["y"] + box["height"] - 150, 0, -200)
    phone.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop > 100")
    expect(plane).to_have_attribute("data-case", place)


def a_loss_typed_with_thumbs_changes_the_decision(phone: Page) -> None:
    plane = phone.get_by_test_id("plane")
    decided, said = plane.get_attribute("data-decision") or "", phone.locator(".st-key-settles_verdict").inner_text()
    cell = phone.get_by_test_id("loss-0-1" if decided == "good" else "loss-1-0")
    assert cell.get_attribute("inputmode") == "decimal"
    cell.tap()
    phone.keyboard.type("50")
    phone.keyboard.press("Enter")
    expect(plane).not_to_have_attribute("data-decision", decided)
    expect(phone.locator(".st-key-settles_verdict")).not_to_have_text(said)
    phone.wait_for_url("**?s=*")


def what_thumbs_press_is_large_enough(phone: Page) -> None:
    """But for the signs of help, and the arrow of a list, which opens wherever it is pressed. The page's own style may
    come after what it dresses, so it is waited for."""
    sizes = """() => {
      const found = [], walk = root => {
        for (const e of root.querySelectorAll("*")) {
          if (e.shadowRoot) walk(e.shadowRoot)
          const inside = root !== document || e.closest("[data-testid=stMain]")
          if (!inside || !e.matches("button, .number, .slider, .handle, [data-testid=stPageLink] a")) continue
          if (e.closest("[data-testid=stTooltipHoverTarget], [data-testid=stSelectbox]")) continue
          const { width, height } = e.getBoundingClientRect()
          if (width) found.push([e.outerHTML.slice(0, 120), Math.round(width), Math.round(height)])
        }
      }
      walk(document)
      return found
    }"""
    assert len(phone.evaluate(sizes)) > 8
    looking.becomes(phone, lambda: [entry for entry in phone.evaluate(sizes) if min(entry[1:]) < THUMB], [])


@pytest.mark.slow
def test_the_chips_are_two_taps_away_and_a_link_puts_them_away(phone: Page, app: App) -> None:
    visit(phone, app.url)
    phone.get_by_test_id("stExpandSidebarButton").tap()
    sidebar = phone.get_by_test_id("stSidebar")
    expect(sidebar.locator(".st-key-chip_table_open")).to_be_in_viewport()
    expect(sidebar.locator(".st-key-share")).to_be_attached()
    sidebar.locator('[data-testid="stPageLink"] a[href*="decisions"]').tap()
    phone.wait_for_url("**/decisions*")
    expect(sidebar).not_to_be_in_viewport()
    settled(phone)


def drag(page: Page, handle: Locator, dx: float, dy: float) -> None:
    box = handle.bounding_box()
    assert box is not None
    swipe(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, dx, dy)


def swipe(page: Page, x: float, y: float, dx: float, dy: float, steps: int = 10) -> None:
    """A finger put down, moved and lifted."""
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", x, y)
    for step in range(1, steps + 1):
        touch("touchMove", x + dx * step / steps, y + dy * step / steps)
    touch("touchEnd")


# the code -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_code_on_screen_opens_what_is_on_screen(new_page: Callable[..., Page], app: App) -> None:
    teacher = new_page()
    state = State(table="watermelon3a", language="en", losses=((0.0, 7.0), (1.0, 0.0)))
    visit(teacher, f"{app.url.replace('127.0.0.1', 'localhost')}/decisions?s={encode(state)}")
    teacher.get_by_role("button", name="Share").click()
    dialog = teacher.get_by_role("dialog")
    picture = dialog.get_by_role("img", name="QR code of the address")
    expect(picture).to_be_visible()
    assert looking.place_of(teacher, picture)["width"] > 500  # for a projector
    teacher.wait_for_function("[...document.querySelectorAll('.st-key-share_code img')].every(i => i.complete)")
    read = zxingcpp.read_barcodes(Image.open(io.BytesIO(teacher.screenshot())))[0].text
    assert read == f"{app.url}/decisions?s={encode(state)}"  # the address others understand, not localhost
    expect(dialog.get_by_text(read)).to_be_visible()
    expect(dialog.get_by_text("never a cell of an uploaded file")).to_be_visible()
    student = new_page(**PHONE)
    visit(student, read)
    expect(student.get_by_test_id("loss-0-1")).to_have_value("7")


@pytest.mark.slow
def test_a_large_state_offers_page_and_table_only(new_page: Callable[..., Page], app: App) -> None:
    page = new_page()
    large = State(table="iris", language="en", view=tuple((f"note{i}", round(0.1234567 * (i + 3) ** 3 % 1, 7))
                                                          for i in range(95)))  # fmt: skip
    visit(page, f"{app.url}/decisions?s={encode(large)}")
    page.get_by_role("button", name="Share").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("This state makes a dense code")).to_be_visible()
    dialog.get_by_role("radio", name="Page and table only").click()
    expect(dialog.get_by_text("This state makes a dense code")).to_be_hidden()
    expect(dialog.get_by_text(f"{app.url}/decisions?s={encode(State(table='iris'))}")).to_be_visible()
