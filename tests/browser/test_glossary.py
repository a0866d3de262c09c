"""The words of the field: each link of the glossary opens a screen on which its word can be read, in both languages."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from bayes_engine.workbench.lessons.built_in import contents, lessons
from bayes_engine.workbench.lessons.lesson_format import GlossaryTerm
from pages.active import lesson_in_use
from pages.runtime.state import State, encode
from tests.browser.looking import settled, soon
from tests.conftest import App

pytestmark = pytest.mark.slow
READ = """() => {
  const said = [], roots = [document.querySelector("[data-testid='stMain']")]
  for (let i = 0; i < roots.length; i++)
    for (const e of roots[i].querySelectorAll("*")) {
      if (e.shadowRoot) roots.push(e.shadowRoot)
      if (e.matches("style, script") || !e.checkVisibility()) continue
      const own = [...e.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent).join("").trim()
      const box = e.getBoundingClientRect()
      if (own && box.width > 2 && box.height > 2) said.push(own)
    }
  return said.join(" \\n ").replace(/\\u2060/g, "")
}"""
"""All that is written on the page, with the bar of a lesson; what has yet to be opened is not among it."""
SIGNS = re.compile(r"\s*(λ_ij|P\(x\)|[(（].*[)）]|\bobserved )")
"""What a word has beside it in the glossary: its symbol, another name, what sets it apart."""


def where(term: GlossaryTerm, language: str) -> tuple[str, State]:
    state = State(language=language)
    if term.lesson:
        return lessons()[term.lesson].page, lesson_in_use.begun(term.lesson, state)
    return term.page, lesson_in_use.opened_by(term.state, state)


def stands(word: str, text: str) -> bool:
    """Whether a word is in a text, however it is inflected: Laplace('s) correction, decide(d), V 型/V型."""
    plain = SIGNS.sub("", word).casefold()
    loose = re.escape(plain).replace(r"\ ", r"(?:'s)?\s*").replace(r"\-", r"[-\s]")
    return re.search(loose, text.casefold()) is not None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_link_opens_a_screen_with_its_word(app: App, new_page: Callable[..., Page], language: str) -> None:
    page = new_page()
    left: dict[tuple[str, str], list[GlossaryTerm]] = {}
    for term in contents().terms:
        path, state = where(term, language)
        left.setdefault((path, encode(state)), []).append(term)
    missing = []
    every, turn = os.environ.get("BAYES_EVERY_LOOK") == "1", language == "zh"
    for i, ((path, token), terms) in enumerate(left.items()):
        if i % 2 != turn and not every:  # each screen in one of the languages, in turn
            continue
        page.goto(f"{app.url}/{path}?s={token}")
        page.wait_for_selector("h1")
        settled(page)
        words = [str(getattr(term, language)) for term in terms]
        try:
            soon(page, lambda: page.evaluate(READ), lambda text, words=words: all(stands(w, text) for w in words))
        except AssertionError:
            text = page.evaluate(READ)
            missing += [f"{w} on {path}" for w in words if not stands(w, text)]
    assert not missing
