"""What only a browser shows of the tab *Gibbs*: the chain stepped, played and rewound."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.runtime.state import State, encode
from tests.apptest.opened import showing
from tests.browser.looking import becomes, settled, view_of

COINS = showing(State(language="en"), net_tab="gibbs", net="stuck", net_evidence=((2, 1),), net_g_sweeps=50)


def places_of(walk: Locator) -> list[list[str]]:
    """Where every node stands, and how wide it is."""
    nodes = walk.locator(".node")
    places: list[list[str]] = nodes.evaluate_all(
        "nodes => nodes.map(n => [n.style.transform, n.querySelector('.box').getAttribute('width')])"
    )
    return places


@pytest.mark.slow
def test_the_chain_is_stepped_played_and_rewound(page: Page, app) -> None:
    page.goto(f"{app.url}/network?s={encode(COINS)}")
    settled(page)
    walk = page.get_by_test_id("walk")
    expect(walk).to_have_attribute("data-step", "0")
    walk.get_by_role("button", name="One update forward").click()
    expect(walk.get_by_text("P(first coin | all others)")).to_be_visible()
    expect(walk.get_by_text("It can only stay")).to_be_visible()
    expect(walk).to_have_attribute("data-lit", "0")
    first = walk.locator(".node.lit")
    expect(first).to_have_attribute("data-id", "0")
    expect(first.get_by_role("img")).to_have_accessible_name(re.compile("^first coin, (heads|tails)$"))
    expect(walk.locator(".node.evidence")).to_have_text("alikeyes")
    expect(walk.locator(".edge.near")).to_have_count(2)  # into their common child
    places = places_of(walk)
    becomes(page, lambda: view_of(page).get("net_g_step"), 1)
    walk.get_by_role("button", name="To the end of the sweep").click()
    expect(walk).to_have_attribute("data-sweep", "1")
    walk.get_by_role("button", name="Play").click()
    expect(walk).to_have_attribute("data-step", "100")  # two coins, 50 sweeps
    assert walk.get_attribute("data-hits") in ("0", "50")  # it never left its island
    assert places_of(walk) == places  # nothing is laid out anew
    walk.get_by_role("button", name="Back to the start").click()
    expect(walk).to_have_attribute("data-step", "0")
