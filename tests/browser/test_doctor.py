"""What only a browser shows of the doctor: heads reached by keys, a head chosen, a mend, and Back that undoes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import becomes, settled, state_of


@pytest.mark.slow
def test_a_column_is_chosen_by_keys_mended_and_back_undoes_it(page: Page, app, tmp_path: Path) -> None:
    rows = [f"{i % 7},{-999 if i % 25 == 0 else 160 + i * 37 % 23},{'ab'[i % 3 == 0]}" for i in range(200)]
    file = tmp_path / "heights.csv"
    file.write_text("\n".join(["visits,height,label", *rows]) + "\n")
    page.goto(f"{app.url}/data")
    settled(page)
    page.locator("input[type=file]").first.set_input_files(file)
    heads = page.get_by_test_id("heads").locator("button.head")
    expect(heads).to_have_count(3)
    settled(page)
    expect(heads.nth(1).locator(".mark.warning")).to_be_visible()
    heads.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(heads.nth(1)).to_have_attribute("aria-pressed", "true")
    settled(page)
    page.get_by_role("button", name="-999 in 'height' means missing").click()
    chip = page.get_by_role("button", name="mended:")
    expect(chip).to_be_visible()
    becomes(page, lambda: state_of(page).repairs, (("value-missing", 1, -999.0),))
    settled(page)
    expect(heads.nth(1).locator(".mark.warning")).to_have_count(0)
    page.go_back()
    expect(chip).to_be_hidden()
    expect(heads.nth(1).locator(".mark.warning")).to_be_visible()
