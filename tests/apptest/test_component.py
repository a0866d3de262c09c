"""The numbered edits of all drawings: what is believed of what a browser sends, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from pages.components import component as under_test
from pages.components.component import component, last_message, read_message, read_position
from tests.conftest import ROOT


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A session in which the drawing of the key "d" can say things."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    return state


def where(edit: Mapping[str, Any]) -> int | None:
    return read_position(edit.get("at"), 3)


def test_an_edit_is_read_and_its_number_remembered(session: dict[str, Any]) -> None:
    assert last_message("d") == 0
    session["d"] = {"moved": {"at": 2, "n": 7}}
    assert read_message("d", "moved", where) == 2
    assert last_message("d") == 7
    assert last_message("e") == 0


def test_an_edit_that_is_refused_is_answered_all_the_same(session: dict[str, Any]) -> None:
    session["d"] = {"moved": {"at": 3, "n": 8}}
    assert read_message("d", "moved", where) is None
    assert last_message("d") == 8  # so the browser shows what the server holds


@pytest.mark.parametrize("value", [
    None, 2, "2", [], [2, 7], {}, {"at": 2}, {"at": 2, "n": "7"}, {"at": 2, "n": 7.0}, {"at": 2, "n": True},
    {"at": 2, "n": None}, {"at": 2, "n": 0}, {"at": 2, "n": -1}, {"at": 2, "n": 2**53}, {"at": 2, "n": [7]},
])  # fmt: skip
def test_what_has_no_number_is_forged(session: dict[str, Any], value: object) -> None:
    session["d"] = {"moved": value}
    assert read_message("d", "moved", where) is None
    assert last_message("d") == 0


def test_a_drawing_that_is_no_longer_there_says_nothing(session: dict[str, Any]) -> None:
    assert read_message("d", "moved", where) is None
    session["d"] = {}
    assert read_message("d", "moved", where) is None
    assert session == {"d": {}}


def test_what_is_left_out_of_a_script_is_no_part_of_a_text() -> None:
    """Comments and indents are not sent: no text may hold what looks like a comment, or go over the end of a line."""
    scripts = sorted((ROOT / "pages").rglob("*.js"))
    assert scripts
    torn = []
    for file in scripts:
        for at, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            left = under_test.COMMENT.sub("", line)
            if left.count("`") % 2 or left.count('"') % 2:
                torn.append(f"{file.name}:{at}: {line}")
    assert not torn


def test_a_drawing_is_sent_the_scripts_it_names_and_no_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for kind, text in (("js", "// words\n\n  export default 1\n"), ("css", ".own {}")):
        (tmp_path / f"x.{kind}").write_text(text, encoding="utf-8")
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(under_test.st.components.v2, "component", lambda name, **parts: made.append(parts))
    for uses in ((), ("decide",), ("decide", "stage")):
        component(str(tmp_path / "x.py"), "x", "<p></p>", uses=uses)
    plain, some, both = (parts["js"] for parts in made)
    assert [("class Losses" in js, "function stage(" in js) for js in (plain, some, both)] == [
        (False, False),
        (True, False),
        (True, True),
    ]
    assert all(js.endswith("export default 1") and "const make =" in js for js in (plain, some, both))
    assert not any("\n//" in js or "\n " in js for js in (plain, some, both))
    assert all(parts["css"].splitlines() == [".own {}", under_test.PRINTED] for parts in made)
