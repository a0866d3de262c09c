"""Numbers of equations and pages are cited only where they were confirmed against the source itself or a commentary."""

from __future__ import annotations

import re

from tests.conftest import ROOT

CONFIRMED = {
    *(f"7.{i}" for i in range(1, 38)), *(f"3.{i}" for i in range(32, 46)), "9.29",  # Zhou Zhihua, Machine Learning
    "23",  # Chen, Wiesel, Eldar & Hero 2010: scikit-learn's documentation of OAS names it
    "76", "84", "151", "152",  # Zhou: tables 4.1 and 4.3, the worked example of section 7.3
}  # fmt: skip
CITED = re.compile(r"(?:\beqs?\.|\bpp?\.(?= \d\d)|式|第(?= ?\d+ ?页))\s*[（(]?(\d+(?:\.\d+)?)(?:[-–](\d+(?:\.\d+)?))?")
PLACES = ("bayes_engine/**/*.py", "bayes_engine/**/*.po", "pages/**/*.py", "datasets/**/*.toml", "README.md",
          ".github/*.md")  # fmt: skip


def test_every_cited_number_is_confirmed() -> None:
    texts = {path: path.read_text(encoding="utf-8") for place in PLACES for path in ROOT.glob(place)}
    cited = {(path.name, number) for path, text in texts.items() for pair in CITED.findall(text) for number in pair}
    numbers = {(name, number) for name, number in cited if number}
    assert len(numbers) > 40
    assert not {(name, number) for name, number in numbers if number not in CONFIRMED}


def test_what_is_independent_with_the_child_unseen_is_equation_7_27() -> None:
    story = (ROOT / "datasets" / "networks" / "watermelon.toml").read_text(encoding="utf-8")
    assert "unseen, they do not (eq. 7.27)" in story and "没看到时相互独立（式 7.27）" in story
