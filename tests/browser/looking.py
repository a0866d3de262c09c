"""How every browser test looks at a page. Nothing is looked at once and asserted: a shared machine may be slow, so what
is wanted is waited for, and what is wrong stays wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, TypeVar

from playwright.sync_api import FloatRect, Locator, Page

from pages.runtime.state import State, decode
from tests.conftest import PATIENCE

Seen = TypeVar("Seen")


def settled(page: Page) -> None:
    """Wait until no script is running, the browser has fetched the code of all that is drawn (until then, a grey bar
    stands for a field, which takes no key) and the fonts are there: before, a formula is wider. What a person has just
    done may not have reached the server yet: say what it must lead to with `expect` or `soon`."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    page.wait_for_selector('[data-testid="stSkeleton"]', state="detached")
    page.evaluate("async () => { document.body.scrollWidth; await document.fonts.ready }")


def state_of(page: Page) -> State:
    """What the address holds."""
    found = re.search(r"[?&]s=([^&]+)", page.url)
    state = decode(found[1] if found else "")
    assert state is not None
    return state


def view_of(page: Page) -> dict[str, Any]:
    """What the address holds of how the page is looked at."""
    return dict(state_of(page).view)


def soon(page: Page, look: Callable[[], Seen], holds: Callable[[Seen], bool]) -> Seen:
    """What is seen as soon as it holds; where it never does, the test fails with what was seen last."""
    end = time.monotonic() + PATIENCE
    while not holds(seen := look()):
        assert time.monotonic() < end, f"last seen: {seen!r}"
        page.wait_for_timeout(50)  # the page goes on meanwhile
    return seen


def becomes(page: Page, look: Callable[[], Seen], wanted: Seen) -> None:
    """Wait until just this is seen."""
    soon(page, look, lambda seen: seen == wanted)


def agreed(one: Page, other: Page, look: Callable[[Page], Seen], moved: Callable[[Seen], bool]) -> Seen:
    """What both pages show, once it is the same and has moved: one of them may still wait for its server."""

    def both() -> tuple[Seen, Seen]:
        return look(one), look(other)

    return soon(one, both, lambda seen: seen[0] == seen[1] and moved(seen[0]))[0]


def still(page: Page, look: Callable[[], Seen]) -> Seen:
    """What is seen once it no longer moves: the same at two looks, 300 ms apart."""

    def rests(now: Seen) -> bool:
        page.wait_for_timeout(300)
        return look() == now

    return soon(page, look, rests)


def place_of(page: Page, what: Locator) -> FloatRect:
    """Where this stands in the window, in pixels, once it no longer moves: what comes in above it pushes it on."""
    soon(page, what.bounding_box, lambda box: box is not None)
    box = still(page, what.bounding_box)
    assert box is not None
    return box
