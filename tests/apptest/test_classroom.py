"""The button Share: what the dialog says where nobody else could open the address, and where somebody can."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from bayes_engine.language import _, set_language
from bayes_engine.workbench.launch import CLASSROOM
from pages.runtime.state import START, State, encode
from pages.shell import classroom
from tests.conftest import PATIENCE, ROOT


def shared(state: State, monkeypatch: pytest.MonkeyPatch, *, room: bool) -> AppTest:
    monkeypatch.setenv(CLASSROOM, "1" if room else "")
    real = classroom.st.get_option
    monkeypatch.setattr(
        classroom.st, "get_option", lambda name: "192.168.1.20" if name == "browser.serverAddress" else real(name)
    )
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    at.query_params["s"] = encode(state)
    at.run()
    at.button(key="share").click().run()
    assert not at.exception
    return at


def test_on_ones_own_computer_it_says_how_to_open_a_classroom(monkeypatch: pytest.MonkeyPatch) -> None:
    at = shared(State(losses=((0.0, 7.0), (1.0, 0.0))), monkeypatch, room=False)
    address, command = (block.value for block in at.code)
    assert address == f"http://localhost:8501/?s={encode(State(losses=((0.0, 7.0), (1.0, 0.0))))}"
    assert command == "bayes-workbench --classroom"
    assert any("never a cell of an uploaded file" in said.value for said in at.caption)


@pytest.mark.slow
def test_in_a_classroom_it_names_the_address_of_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    at = shared(START, monkeypatch, room=True)
    assert [block.value for block in at.code] == ["http://192.168.1.20:8501/"]
    assert any("nobody changes your screen" in said.value for said in at.markdown)


@pytest.mark.slow
def test_in_chinese_the_dialog_is_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    at = shared(State(language="zh"), monkeypatch, room=True)
    assert at.code[0].value == f"http://192.168.1.20:8501/?s={encode(State(language='zh'))}"
    set_language("zh")
    try:
        assert at.button(key="share").label == _("Share")
    finally:
        set_language("en")


def test_what_is_too_large_for_a_link_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = tuple((f"k{i}", round(0.1234567 * (i + 3) ** 3 % 1, 9)) for i in range(300))
    at = shared(State(view=noise), monkeypatch, room=True)
    assert any("too large for a link" in said.value for said in at.caption)
