"""A table whose names are markup, in a real browser: shown as they are, no element made of them, nothing fetched.

Requests to another host fail the test by its page; the table's own pictures and links name a port of this host where
nobody listens, so that the console would complain of them too.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from pages.active.files import digest
from pages.runtime.state import Spec, State, encode
from tests.apptest.hostile import CLASSES, FILE, MARK, TARGET, table
from tests.apptest.opened import showing
from tests.browser.looking import settled

MADE = f"""() => {{
  const roots = [document], found = window.__pwned === undefined ? [] : ["a script of the table ran"]
  for (let i = 0; i < roots.length; i++)
    for (const e of roots[i].querySelectorAll("*")) {{
      if (e.shadowRoot) roots.push(e.shadowRoot)
      const address = String(e.getAttribute("src") ?? "") + String(e.getAttribute("href") ?? "")
      const marked = e.textContent.replaceAll("\\u2060", "").startsWith("{MARK}")
      if (/127\\.0\\.0\\.1:9|x\\.test/.test(address)) found.push(e.outerHTML)
      if (marked && e.matches("strong, b, em, i, del, code, a, h1, li")) found.push(e.outerHTML)
      if (e.matches(".katex-error, [data-testid='stException']")) found.push(e.textContent)
    }}
  return found
}}"""
"""Elements that only the table's own markup can have made."""
SHOWN = """() => {
  const roots = [document.body], found = []
  for (let i = 0; i < roots.length; i++) {
    found.push(roots[i].textContent)
    for (const e of roots[i].querySelectorAll("*")) if (e.shadowRoot) roots.push(e.shadowRoot)
  }
  return found.join(" ").replaceAll("\\u2060", "").replaceAll("\\u00a0", " ")
}"""
VIEW = showing(
    State(language="en", row=3, shelf=(Spec(), Spec(family="aode", preset="laplace"))),
    factor=1,
    net_tab="ask",
    net="table",
    model_view="conditionals",
    column=1,
)
PAGES = {  # a page of the menu: texts that stand there in the document, as the file has them
    "Data": [FILE.removesuffix(".csv")[:40]],
    "Model": [CLASSES[0][:20], f":red[{MARK}]", f":material/home:{MARK}"],
    "Decisions": [CLASSES[0][:20], CLASSES[1]],
    "One case": [CLASSES[1], f":red[{MARK}]", "__proto__"],
    "Classify a file": [TARGET, f":red[{MARK}]"],
    "Dependence": ["constructor"],
    "Network": [f"&copy;{MARK}", f"~~{MARK}~~"],
    "Hidden labels": [],
    "Projection": [f"# {MARK}", "__proto__"],
    "Start": [],
}
ADDRESSES = {"One case": "case", "Classify a file": "classify", "Hidden labels": "hidden", "Start": ""}


@pytest.mark.slow
def test_markup_in_a_table_is_text_on_every_page(page: Page, app) -> None:
    content = table()
    page.goto(f"{app.url}/data?s={encode(State(**{**VIEW.__dict__, 'table': f'upload:{digest(content)}'}))}")
    settled(page)
    expect(page.get_by_text("Upload the same file")).to_be_visible()
    page.locator('input[type="file"]').first.set_input_files({"name": FILE, "mimeType": "text/csv", "buffer": content})
    expect(page.get_by_text("Upload the same file")).to_be_hidden()
    for name, texts in PAGES.items():
        page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()
        page.wait_for_url(re.compile(rf"/{ADDRESSES.get(name, name.lower())}(\?|$)"))
        settled(page)
        for text in texts:
            page.wait_for_function(f"([text]) => ({SHOWN})().includes(text)", arg=[text])
        assert page.evaluate(MADE) == [], name
        if name == "Classify a file":
            drop = page.get_by_test_id("stMain").locator('input[type="file"]').first
            drop.set_input_files({"name": FILE, "mimeType": "text/csv", "buffer": table(20)})
            page.get_by_test_id("stDataFrame").first.wait_for()
            settled(page)
            assert page.evaluate(MADE) == [], "a second file"
