"""What only a browser shows of the tab *learn*: two nodes clicked and joined, Back, the search played and stopped."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import State, encode
from tests.apptest.opened import showing
from tests.browser.looking import becomes, settled, view_of

MELONS = showing(State(language="en", table="watermelon2"), net_tab="learn", unit="nats")
NAVEL, STALK = 4, 1  # their places among the columns


@pytest.mark.slow
def test_two_nodes_are_clicked_and_joined_and_back_undoes_it(page: Page, app) -> None:
    page.goto(f"{app.url}/network?s={encode(showing(MELONS, learn_view='hand'))}")
    settled(page)
    drawing = page.get_by_test_id("graph")
    arc = drawing.get_by_role("button", name="navel → stalk", exact=True)
    expect(arc).to_have_count(0)
    opened = page.url
    drawing.get_by_role("button", name="navel", exact=True).click()
    page.wait_for_url(lambda url: url != opened)  # the run that draws the choice has ended
    settled(page)
    stalk = drawing.get_by_role("button", name="stalk", exact=True)  # the second by keys
    stalk.focus()
    page.keyboard.press("Enter")
    add = page.get_by_role("button", name="Add navel → stalk")
    expect(add).to_be_visible()
    becomes(page, lambda: view_of(page).get("learn_pair"), (NAVEL, STALK))
    settled(page)
    add.click()
    expect(arc).to_be_visible()
    expect(page.get_by_test_id("stMetric").first).to_contain_text("−123.9979")
    becomes(page, lambda: view_of(page).get("learn_arcs"), ((NAVEL, STALK),))
    settled(page)
    page.go_back()
    expect(page.get_by_test_id("stMetric").first).to_contain_text("−125.1891")
    expect(page.get_by_role("button", name="Add navel → stalk")).to_be_visible()


@pytest.mark.slow
def test_the_search_is_played_and_stepped(page: Page, app) -> None:
    page.goto(f"{app.url}/network?s={encode(showing(MELONS, learn_step=0))}")
    settled(page)
    drawn = page.get_by_test_id("graph").locator(".edge:not(.rejected)")
    expect(drawn).to_have_count(0)
    film = page.get_by_test_id("film")
    film.get_by_role("button", name="A step further").click()
    expect(page.get_by_text(re.compile("^Step 1 of 6:"))).to_be_visible()
    expect(drawn).to_have_count(1)
    film.get_by_role("button", name="Play").click()
    expect(page.get_by_text(re.compile("^Step 6 of 6:"))).to_be_visible()
    expect(drawn).to_have_count(6)
    expect(film).to_have_attribute("data-playing", "no")
    becomes(page, lambda: view_of(page).get("learn_plays"), False)
    film.get_by_role("button", name="To the beginning").click()
    expect(page.get_by_text(re.compile("^The start: 0 arcs"))).to_be_visible()
    film.get_by_role("slider").press("ArrowRight")
    expect(page.get_by_text(re.compile("^Step 1 of 6:"))).to_be_visible()
    becomes(page, lambda: view_of(page).get("learn_step"), 1)


@pytest.mark.slow
def test_a_long_search_says_how_far_it_is_and_is_stopped(page: Page, app) -> None:
    view = {"net_tab": "learn", "net_score": "log-likelihood", "net_parents": 8, "learn_restarts": 50, "net_bins": 8}
    state = showing(State(language="en", table="breast-cancer"), **view, learn_seconds=60.0)
    page.goto(f"{app.url}/network?s={encode(state)}")
    stop = page.get_by_role("button", name="Stop and show the best so far")
    expect(stop).to_be_visible()
    expect(page.get_by_text(re.compile("best so far: −"))).to_be_visible()
    stop.click()
    expect(page.get_by_text("The search was cancelled: this is the best graph found until then.")).to_be_visible()
    expect(page.get_by_test_id("graph")).to_be_visible()
    page.get_by_role("button", name="Search again").click()
    expect(stop).to_be_visible()
    page.get_by_role("radio", name="Ask").click()  # and it may be left alone
    expect(page.get_by_role("heading", name="What does a finding change elsewhere?")).to_be_visible()
