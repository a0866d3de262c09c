"""The README's picture, taken from the running app: `python -m tests.screenshots` writes .github/start.png."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.looking import settled
from tests.conftest import CHROMIUM_FLAGS, ROOT, running_app


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("Chromium not found: install Debian's packages chromium and fonts-noto-cjk")
    with tempfile.TemporaryDirectory() as folder, running_app(Path(folder)) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, locale="en-GB", device_scale_factor=1.5)
        page.goto(app.url)
        page.wait_for_selector('[data-testid="plane"][data-regions]')
        settled(page)
        page.get_by_role("button", name="The story's losses").click()
        page.get_by_text("The stall earns").wait_for()
        page.wait_for_timeout(500)
        page.screenshot(path=ROOT / ".github" / "start.png")
        browser.close()


if __name__ == "__main__":
    main()
