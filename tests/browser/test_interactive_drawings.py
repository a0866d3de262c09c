"""What only a browser shows of the pages that explain: a line turned by hand, EM played, an edge clicked."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from pages.runtime.state import State, encode
from tests.apptest.opened import showing
from tests.browser.looking import becomes, place_of, settled, soon, view_of


@pytest.mark.slow
def test_an_edge_of_the_tree_opens_its_table(page: Page, app) -> None:
    tree = showing(State(table="watermelon2"), dependence_view="tree", unit="nats")
    page.goto(f"{app.url}/dependence?s={encode(tree)}")
    settled(page)
    expect(page.get_by_role("heading", name="stalk – navel: 0.5975 nats")).to_be_visible()
    edge = page.get_by_role("button", name=re.compile("texture.*touch"))
    edge.first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="texture – touch: 0.3204 nats")).to_be_visible()
    settled(page)
    page.go_back()
    expect(page.get_by_role("heading", name="stalk – navel: 0.5975 nats")).to_be_visible()


def test_the_line_is_turned_by_keys_and_its_angle_is_in_the_address(page: Page, app) -> None:
    page.goto(app.url + "/projection")
    settled(page)
    expect(page.get_by_text("12 of 17")).to_be_visible()
    handle = page.get_by_test_id("projection-handle")
    handle.click()  # taken and let go where it stands: the line is still Fisher's
    settled(page)
    assert "line" not in view_of(page)
    handle.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    soon(page, lambda: view_of(page).get("angle", 0.0), lambda angle: abs(abs(angle - 78.8) - 3) < 0.2)
    assert view_of(page)["line"] == "free"


@pytest.mark.slow
def test_em_is_stepped_and_the_step_is_in_the_address(page: Page, app) -> None:
    page.goto(f"{app.url}/hidden?s={encode(State(table='iris'))}")
    settled(page)
    expect(page.get_by_text("after 17 iterations")).to_be_visible()
    page.get_by_role("button", name="Back to the start").click()
    expect(page.get_by_text("iteration 0 of 17")).to_be_visible()
    page.get_by_role("button", name="One iteration forward").click()
    expect(page.get_by_text("iteration 1 of 17")).to_be_visible()
    becomes(page, lambda: view_of(page).get("em_step"), 1)


@pytest.mark.slow
def test_start_points_are_sliders_that_say_where_they_stand(page: Page, app) -> None:
    hand = showing(State(table="watermelon3a"), em_start="hand", em_points=((0.6, 0.05), (0.7, 0.4)))
    page.goto(f"{app.url}/hidden?s={encode(hand)}")
    start = page.get_by_role("slider", name="Start point 2")

    def said() -> list[float]:
        return [float(start.get_attribute(f"aria-value{name}") or "nan") for name in ("min", "now", "max")]

    low, now, high = soon(page, said, lambda values: values[1] == 0.7)
    assert low < now < high
    start.press("ArrowRight")
    soon(page, said, lambda values: values[1] > 0.7)


@pytest.mark.slow
def test_a_page_that_is_left_hears_of_no_more_films(page: Page, app) -> None:
    page.add_init_script("""
      window.hearing = 0
      for (const [name, by] of [["addEventListener", 1], ["removeEventListener", -1]]) {
        const own = window[name]
        window[name] = function (type, ...rest) {
          if (type === "bayes-film") window.hearing += by
          return own.call(this, type, ...rest)
        }
      }
    """)
    page.goto(f"{app.url}/hidden?s={encode(State(table='iris', language='en'))}")
    settled(page)
    expect(page.get_by_text("after 17 iterations")).to_be_visible()
    for way in ("hard", "soft"):
        settled(page)  # a click while the page is being drawn may be lost
        page.get_by_role("radio", name=way, exact=True).click()
        becomes(page, lambda: view_of(page).get("em_hard"), way == "hard")
        settled(page)
    becomes(page, lambda: page.evaluate("hearing"), 1)
    page.get_by_role("link", name="Projection").click()
    expect(page.get_by_text("12 of 17").or_(page.get_by_test_id("projection-handle")).first).to_be_visible()
    becomes(page, lambda: page.evaluate("hearing"), 0)


@pytest.mark.slow
def test_a_column_and_a_cell_are_chosen_by_hand_and_by_keys(page: Page, app) -> None:
    page.goto(f"{app.url}/model?s={encode(State(table='watermelon3', language='en'))}")
    settled(page)
    columns, fractions = (page.get_by_role("grid", name=name) for name in ("columns", "P(level | class)"))
    expect(columns.get_by_role("row", selected=True)).to_contain_text("texture")
    columns.get_by_text("knock").click()
    expect(page.get_by_text("P(knock | good melon)")).to_be_visible()
    expect(columns.get_by_role("row", selected=True)).to_contain_text("knock")
    expect(fractions.get_by_role("gridcell", selected=True)).to_have_text("6/8 = 0.7500")
    fractions.get_by_text("5/9 = 0.5556").or_(fractions.get_by_text("4/9 = 0.4444")).first.click()
    becomes(page, lambda: view_of(page).get("cell"), (0, 1))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    becomes(page, lambda: view_of(page).get("cell"), (1, 1))
    expect(page.get_by_text("knock = dull · good melon = bad")).to_be_visible()
    expect(fractions.get_by_role("gridcell", selected=True)).to_have_text("3/9 = 0.3333")


@pytest.mark.slow
def test_of_a_long_list_only_what_is_in_sight_is_drawn_and_a_name_can_be_looked_for(page: Page, app) -> None:
    page.goto(f"{app.url}/model?s={encode(showing(State(table='digits', language='en'), columns_by='table'))}")
    settled(page)
    columns = page.get_by_role("grid", name="columns")
    expect(columns).to_have_attribute("aria-rowcount", "65")
    columns.get_by_role("row", selected=True).wait_for()
    soon(page, columns.get_by_role("row").count, lambda drawn: 1 < drawn < 40)
    page.get_by_role("searchbox", name="Find").first.fill("p7")
    expect(columns.get_by_role("row")).to_have_count(9)
    columns.get_by_text("p75").click()
    expect(columns.get_by_role("row", selected=True)).to_contain_text("p75")
    becomes(page, lambda: view_of(page).get("column"), 61)


@pytest.mark.slow
def test_a_click_on_a_head_sorts_up_down_and_not(page: Page, app) -> None:
    melons = showing(State(table="watermelon2", language="en"), unit="nats")
    page.goto(f"{app.url}/dependence?s={encode(melons)}")
    settled(page)
    pairs = page.get_by_role("grid", name="all pairs with their tests")
    nats = pairs.get_by_role("row").nth(1).get_by_role("gridcell").nth(1)
    expect(nats).to_have_text("0.5975")
    for first in ("0.0308", "0.5975"):
        pairs.get_by_role("button", name="nats").click()
        expect(nats).to_have_text(first)
    expect(pairs.get_by_role("columnheader", name="nats")).to_have_attribute("aria-sort", "descending")
    pairs.get_by_role("button", name="pair").click()
    expect(pairs.get_by_role("row").nth(1)).to_contain_text("colour – knock")
    pairs.get_by_text("colour – stalk").click()
    expect(page.get_by_role("heading", name="colour – stalk: 0.1590 nats")).to_be_visible()
    expect(pairs.get_by_role("row", selected=True)).to_contain_text("colour – stalk")


@pytest.mark.slow
def test_the_list_of_pairs_stands_without_scrolling(new_page: Callable[..., Page], app) -> None:
    heads = ["pair", "bits", "by chance", "p, Holm", "tree", "G", "df", "p"]
    for table, width, room in (("watermelon2", 1024, 4), ("watermelon2", 1440, 7), ("mushroom", 1024, 4)):
        page = new_page(viewport={"width": width, "height": 900}, locale="en-US")
        page.goto(f"{app.url}/dependence?s={encode(State(table=table, language='en'))}")
        settled(page)
        pairs = page.get_by_role("grid", name="all pairs with their tests")
        expect(pairs.get_by_role("columnheader")).to_have_text(heads[:room])
        expect(pairs.get_by_role("row").nth(1).locator("td")).to_have_count(room)
        becomes(page, lambda: pairs.evaluate("grid => grid.scrollWidth <= grid.clientWidth"), True)  # noqa: B023
        page.close()


@pytest.mark.slow
def test_fractions_are_sorted_by_what_they_equal_and_gaps_come_last(page: Page, app) -> None:
    page.goto(f"{app.url}/model?s={encode(showing(State(table='german-credit', language='en'), columns_by='table'))}")
    settled(page)
    page.get_by_role("grid", name="columns").get_by_text("purpose", exact=True).click()
    fractions = page.get_by_role("grid", name="P(level | class)")
    expect(fractions.get_by_role("columnheader").first).to_have_text("purpose")

    def values() -> list[float]:
        said = fractions.locator("tr > td:nth-child(2)").all_inner_texts()
        return [float(text.split("= ")[-1]) for text in said]

    assert soon(page, values, lambda now: len(now) > 4) != sorted(values())
    fractions.get_by_role("button").nth(1).click()
    becomes(page, lambda: values() == sorted(values()), True)
    expect(fractions.get_by_role("row").nth(1)).to_have_attribute("aria-rowindex", "2")
    fractions.get_by_role("button").nth(1).click()
    becomes(page, lambda: values() == sorted(values(), reverse=True), True)


@pytest.mark.slow
def test_what_was_looked_for_is_chosen_by_keys(page: Page, app) -> None:
    asked = showing(State(table="digits", language="en"), columns_by="table", column=61)
    page.goto(f"{app.url}/model?s={encode(asked)}")
    settled(page)
    columns = page.get_by_role("grid", name="columns")
    expect(columns.get_by_role("row", selected=True)).to_contain_text("p75")  # the 62nd of 64
    soon(page, lambda: columns.evaluate("grid => grid.scrollTop"), lambda top: top > 1000)
    find = page.get_by_role("searchbox", name="Find").first
    find.fill("nowhere")
    expect(columns.get_by_role("status")).to_have_text("Nothing found")
    find.fill("p1")
    find.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # the second of those found, not one out of sight
    becomes(page, lambda: view_of(page).get("column"), 9)
    expect(find).to_have_value("p1")
    expect(columns.get_by_role("row", selected=True)).to_contain_text("p11")


@pytest.mark.slow
def test_the_first_column_stays_while_the_classes_pass_by(new_page: Callable[..., Page], app) -> None:
    page = new_page(viewport={"width": 1024, "height": 900}, locale="en-US")
    asked = showing(State(table="digits", language="en"), columns_by="table", column=20, cell=(2, 9))
    page.goto(f"{app.url}/model?s={encode(asked)}")
    settled(page)
    fractions = page.get_by_role("grid").nth(1)
    chosen, head = fractions.get_by_role("gridcell", selected=True), fractions.get_by_role("rowheader").first
    expect(chosen).to_be_visible()
    left = soon(page, lambda: fractions.evaluate("grid => grid.scrollLeft"), lambda now: now > 0)  # into sight at once
    for _press in range(9):
        fractions.press("ArrowLeft")
    soon(page, lambda: fractions.evaluate("grid => grid.scrollLeft"), lambda now: now < left)
    assert place_of(page, head)["x"] == pytest.approx(place_of(page, fractions)["x"] + 1, abs=1)
