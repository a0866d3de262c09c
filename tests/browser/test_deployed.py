"""Behind the proxy of .github/DEPLOY.md, with two processes: upload, download, and a restart in the middle."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bayes_engine.workbench.front import VISITOR
from tests.browser.looking import settled
from tests.conftest import CHROMIUM_FLAGS, PATIENCE
from tests.deployed import HOST, Proxy, proxied, proxy

TABLE = "temperature,cough,ill\n" + "".join(
    f"{36 + n % 7 / 2},{'yes' if n % 3 else 'no'},{'yes' if n % 7 > 3 else 'no'}\n" for n in range(60)
)


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Proxy]:
    with proxied(tmp_path) as running:
        yield running


@pytest.fixture
def visitor(browser: Browser, deployed: Proxy) -> Iterator[Page]:
    """A page of a browser that finds the proxy under its name."""
    flags = [flag for flag in CHROMIUM_FLAGS if not flag.startswith("--host-resolver-rules")]
    known = f"--host-resolver-rules=MAP {HOST} 127.0.0.1, EXCLUDE 127.0.0.1, MAP * ~NOTFOUND"
    own = browser.browser_type.launch(
        executable_path=shutil.which("chromium") or "chromium-browser", args=[*flags, known]
    )
    context = own.new_context(locale="en-GB", base_url=f"https://{HOST}:{deployed.port}", ignore_https_errors=True)
    context.set_default_timeout(1000 * PATIENCE)
    yield context.new_page()
    own.close()


@proxy
@pytest.mark.slow
def test_files_come_through_and_a_restart_is_survived(visitor: Page, deployed: Proxy, tmp_path: Path) -> None:
    page = visitor
    (tmp_path / "fever.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "new.csv").write_text("temperature,cough\n39,yes\n36,no\n", encoding="utf-8")

    def upload(name: str) -> None:
        page.locator('input[type="file"]').first.set_input_files(tmp_path / name)

    page.goto("/data")
    settled(page)
    assert [cookie["name"] for cookie in page.context.cookies() if cookie["name"] == VISITOR]
    upload("fever.csv")
    table = page.get_by_role("button", name=re.compile("Table.*fever"))
    expect(table).to_be_visible()
    settled(page)
    for process in deployed.processes:
        process.terminate()
        process.wait(PATIENCE)
    for which in range(2):
        deployed.restart(which)
    expect(page.get_by_text("The server was restarted.")).to_be_visible()
    expect(page.get_by_text("Upload the same file")).to_be_visible()
    upload("fever.csv")
    expect(table).to_be_visible()
    settled(page)
    page.get_by_role("link", name="Classify a file", exact=True).click()
    page.wait_for_url("**/classify**")
    settled(page)
    upload("new.csv")
    button = page.locator(".st-key-predictions button").first
    expect(button).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        button.click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig"))))
    assert [[row["temperature"], row["cough"]] for row in rows] == [["39", "yes"], ["36", "no"]]
    assert [row["decision"] for row in rows] == ["yes", "no"]
