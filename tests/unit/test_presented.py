"""Presenter mode's registry: every page has an entry, and what it names is drawn under that name."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

from pages.runtime import view_keys as keys
from pages.runtime.state import State
from pages.shell.frame import places
from pages.shell.presented import PRESENTED

VIEWS = (keys.MODEL_VIEW, keys.CASE_VIEW, keys.DEPENDENCE_TAB, keys.NET_TAB, keys.LAB_TAB)
"""The settings that choose what a page shows."""


def test_every_page_with_a_line_in_the_menu_declares_what_is_presented_of_it() -> None:
    lines = re.findall(r'Place\("pages/(\w+)\.py"', Path("pages/shell/frame.py").read_text(encoding="utf-8"))
    assert set(PRESENTED) == set(lines) <= {Path(place.file).stem for place in places()}


def test_what_is_presented_is_drawn_under_that_name() -> None:
    sources = "".join(p.read_text(encoding="utf-8") for p in Path("pages").rglob("*.py") if p.stem != "presented")
    drawn = set(re.findall(r'key = "(\w+)"|"(\w+)"', sources))
    names = {name for pair in drawn for name in pair if name}
    for page, key in product(PRESENTED, VIEWS):
        for option in key.options:
            shown = PRESENTED[page](State().showing(key.to(option)))
            assert shown.figure and {shown.sentence, *shown.controls} <= names, page
            assert {name for name in shown.figure if not name.startswith("example_")} <= names, page
