"""The main job in a real browser: upload, fit, edit a loss, see everything follow, share, classify, re-read."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from bayes_engine import LossMatrix, NaiveBayes
from bayes_engine.models.naive_bayes import PRESETS
from tests.browser.looking import becomes, place_of, settled, soon, state_of, still


def regions(page: Page) -> str:
    """Pixels of each decision on the plane."""
    return page.get_by_test_id("plane").get_attribute("data-regions") or ""


def cell(page: Page, i: int, j: int):
    """The field of λ_ij."""
    return page.get_by_test_id(f"loss-{i}-{j}")


def risk(page: Page) -> str:
    """The estimated risk as shown."""
    return page.get_by_test_id("risk").inner_text()


def set_cell(page: Page, i: int, j: int, value: str) -> None:
    cell(page, i, j).fill(value)
    cell(page, i, j).press("Enter")


@pytest.fixture
def clinic() -> pd.DataFrame:
    """A table nobody has seen: two numbers, a category with a gap, a class with Chinese names."""
    rng = np.random.default_rng(7)
    ill = rng.random(120) < 0.4
    frame = pd.DataFrame({
        "体温": np.where(ill, 38.2, 36.7) + rng.normal(0, 0.6, 120).round(2),
        "脉搏": np.where(ill, 92, 74) + rng.normal(0, 9, 120).round(1),
        "咳嗽": np.where(rng.random(120) < np.where(ill, 0.7, 0.25), "有", "无"),
        "诊断": np.where(ill, "病", "健康"),
    })  # fmt: skip
    frame.loc[3, "咳嗽"] = None
    return frame


@pytest.mark.slow
def test_a_loss_moves_decision_regions_and_risk_and_back_undoes_it(page: Page, app) -> None:
    page.goto(app.url + "/decisions")
    settled(page)
    expect(page.get_by_test_id("plane")).to_have_attribute("data-regions", re.compile(r"\d"))
    before, price = still(page, lambda: (regions(page), risk(page)))
    expect(page.get_by_test_id("plane")).to_have_attribute("data-decision", "good")

    set_cell(page, 0, 1, "30")
    expect(page.get_by_test_id("plane")).to_have_attribute("data-decision", "bad")
    soon(page, lambda: (regions(page), risk(page)), lambda now: now[0] != before and now[1] != price)
    settled(page)
    expect(page.get_by_text("Judged bad although")).to_be_visible()
    page.wait_for_url("**s=**")

    page.get_by_role("link", name="Model", exact=True).click()
    page.wait_for_url("**/model**")
    settled(page)
    page.get_by_role("link", name="Decisions", exact=True).click()
    page.wait_for_url("**/decisions**")
    settled(page)
    expect(cell(page, 0, 1)).to_have_value("30")

    page.go_back()  # one at a time: pressed faster than a page opens, Streamlit itself rewrites the history
    expect(page.get_by_role("heading", name="What does the model believe")).to_be_visible()
    settled(page)
    page.go_back()
    expect(cell(page, 0, 1)).to_have_value("30")
    settled(page)
    page.go_back()
    expect(cell(page, 0, 1)).to_have_value("1")
    expect(page.get_by_test_id("plane")).to_have_attribute("data-regions", before)
    becomes(page, lambda: risk(page), price)
    settled(page)
    page.go_forward()
    expect(cell(page, 0, 1)).to_have_value("30")


@pytest.mark.slow
def test_a_link_opens_in_another_context_and_in_the_other_language(new_page: Callable[..., Page], app) -> None:
    page = new_page()
    page.goto(app.url + "/decisions")
    settled(page)
    set_cell(page, 1, 0, "9")
    becomes(page, lambda: state_of(page).losses, ((0.0, 1.0), (9.0, 0.0)))
    settled(page)
    link = page.url
    theirs = new_page(locale="zh-CN")
    theirs.goto(link)
    settled(theirs)
    expect(cell(theirs, 1, 0)).to_have_value("9")
    expect(theirs.get_by_role("link", name="决策", exact=True)).to_be_visible()
    expect(theirs.get_by_test_id("plane")).to_have_attribute("data-regions", still(page, lambda: regions(page)))


@pytest.mark.slow
def test_no_edit_is_lost_when_typing_quickly(page: Page, app) -> None:
    page.goto(app.url + "/decisions?s=")
    settled(page)
    for i, j, value in ((0, 0, "2"), (0, 1, "7"), (1, 0, "8"), (1, 1, "3")):
        cell(page, i, j).fill(value)
        cell(page, i, j).press("Tab")
    settled(page)
    for i, j, value in ((0, 0, "2"), (0, 1, "7"), (1, 0, "8"), (1, 1, "3")):
        expect(cell(page, i, j)).to_have_value(value)


@pytest.mark.slow
def test_the_case_is_dragged_and_moved_by_keys_on_start(page: Page, app) -> None:
    page.goto(app.url)
    settled(page)
    plane = page.get_by_test_id("plane")
    expect(plane).to_have_attribute("data-case", "0.697,0.46")
    expect(page.get_by_text("Judged good")).to_be_visible()
    case = page.get_by_test_id("plane-case")
    handle, box = place_of(page, case), place_of(page, plane.locator("canvas").first)
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.75, steps=12)
    page.mouse.up()
    expect(plane).to_have_attribute("data-decision", "bad")
    expect(page.get_by_text("Judged bad")).to_be_visible()
    page.wait_for_url("**s=**")
    case.focus()
    for _ in range(15):
        page.keyboard.press("Shift+ArrowUp")
    expect(page.get_by_text("Judged good")).to_be_visible()


def test_upload_fit_classify_and_read_the_predictions_again(
    page: Page, app, clinic: pd.DataFrame, tmp_path: Path
) -> None:
    page.goto(app.url + "/data")
    settled(page)
    table = tmp_path / "门诊.csv"
    table.write_bytes(clinic.to_csv(index=False).encode("gb18030"))
    page.locator('input[type="file"]').first.set_input_files(table)
    expect(page.get_by_role("button", name=re.compile("Table.*门诊"))).to_be_visible()
    settled(page)
    page.get_by_role("link", name="Decisions", exact=True).click()
    page.wait_for_url("**/decisions**")
    settled(page)
    set_cell(page, 1, 0, "4")
    becomes(page, lambda: state_of(page).losses, ((0.0, 1.0), (4.0, 0.0)))
    settled(page)

    page.get_by_role("link", name="Classify a file", exact=True).click()
    page.wait_for_url("**/classify**")
    settled(page)
    rows = clinic.drop(columns="诊断").head(20)
    second = tmp_path / "new.csv"
    second.write_text(rows.to_csv(index=False), encoding="utf-8")
    page.locator('input[type="file"]').first.set_input_files(second)
    button = page.locator(".st-key-predictions button").first
    expect(button).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        button.click()
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    written = list(csv.DictReader(io.StringIO(text)))

    model = NaiveBayes(**PRESETS["laplace"]).fit(clinic.drop(columns="诊断"), clinic["诊断"])
    loss = LossMatrix(["健康", "病"], ["健康", "病"], [[0, 1], [4, 0]])
    classes = sorted(["健康", "病"])
    assert len(written) == 20
    theirs = model.decide(rows, loss)
    shown = next(row for row in written[0] if "decision" in row)
    assert [row[shown] for row in written] == theirs.action.tolist()
    posterior = model.predict_proba(rows)
    for k, label in enumerate(classes):
        column = next(name for name in written[0] if name.startswith("P(") and label in name)
        assert np.allclose([float(row[column]) for row in written], posterior[:, k], atol=1e-6)
