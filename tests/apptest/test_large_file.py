"""A large file on one's own computer: opened by a click, shown by a sample that is said to be one on every page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.active import large_files
from pages.active.files import TABLE
from pages.runtime import own_computer
from pages.runtime.state import State, encode
from tests.apptest.opened import APP, opened
from tests.conftest import PATIENCE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    good = rng.random(6_000) < 0.4
    frame = pd.DataFrame({
        "sugar": rng.normal(good.astype(float)), "good": np.where(good, "yes", "no"),
        "sound": np.where(rng.random(6_000) < 0.3 + 0.4 * good, "dull", "crisp"),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "melons.parquet", row_group_size=1_500)
    monkeypatch.setattr(own_computer, "is_served_alone", lambda: True)
    monkeypatch.setenv(large_files.FOLDERS, str(tmp_path))
    return tmp_path


def with_large(path: str, app: AppTest | None = None) -> AppTest:
    app = app or opened("data", State(language="en"))
    app.text_input(key="large_path").set_value(path)
    app.selectbox(key="large_rows").set_value(5_000)
    app.button(key="large_open").click().run()
    assert not app.exception
    return app


def said(app: AppTest) -> list[str]:
    return [c.value for c in app.caption if "**Sample**" in c.value]


def test_a_large_file_is_opened_as_a_sample_that_is_said_to_be_one(folder: Path) -> None:
    app = with_large("/etc/passwd")
    [error] = [e.value for e in app.error]
    assert error.startswith("Not opened: ") and "in none of the folders" in error
    assert app.session_state["state"].table == State().table and "large_files" not in app.session_state
    app = with_large("melons.parquet", app)
    assert not app.error
    [line] = said(app)
    assert "5,000 of 6,000 rows of melons.parquet" in line.replace("\u2060", "") and "seed 0" in line
    state = app.session_state["state"]
    digest = TABLE.named(state)
    assert app.session_state["large_files"][digest].paths == (folder / "melons.parquet",)
    assert any("melons.parquet [5,000/6,000]" in h.value.replace("\\", "") for h in app.subheader)
    assert str(folder) not in encode(state) and "melons" not in encode(state)


@pytest.mark.slow
def test_a_link_opens_no_file(folder: Path) -> None:
    """The digest of a sample in another session: nothing is read, and the page says what to do."""
    there = with_large("melons.parquet").session_state["state"]
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    app.query_params["s"] = encode(there)
    app.switch_page("pages/data.py").run()
    assert "large_files" not in app.session_state and not said(app)
    assert any("uploaded elsewhere" in w.value for w in app.warning)


@pytest.mark.slow
def test_the_same_file_and_seed_find_a_link_s_table_again(folder: Path) -> None:
    one, two = (with_large("melons.parquet").session_state["state"].table for _ in range(2))
    assert one == two


@pytest.mark.slow
def test_a_page_without_the_table_says_nothing_of_it(folder: Path) -> None:
    app = with_large("melons.parquet")
    assert said(app.switch_page("pages/decisions.py").run())
    assert not said(app.switch_page("pages/chapter.py").run())


@pytest.mark.slow
def test_where_no_folder_is_named_it_is_said_how(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(large_files.FOLDERS)
    app = opened("data", State(language="en"))
    assert any(large_files.FOLDERS in c.value for c in app.code)
    assert "large_path" not in app.session_state


@pytest.mark.slow
def test_where_others_are_served_there_is_no_door(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_computer, "is_served_alone", lambda: False)
    app = opened("data", State(language="en"))
    assert not any("large file" in e.label for e in app.expander)
    assert large_files.folders() == ()


ALONE = {"address": "127.0.0.1", "hosts": ["localhost"], "headers": {"Host": "localhost:8501"}, "room": ""}


@pytest.mark.parametrize(("other", "alone"), [
    ({}, True), ({"address": "0.0.0.0"}, False), ({"hosts": ["bayes.example.org"]}, False), ({"room": "1"}, False),
    ({"headers": {"Host": "bayes.example.org"}}, False), ({"headers": {"Host": "localhost", "Via": "1.1 x"}}, False),
    ({"headers": {"Host": "localhost", "Origin": "http://[x"}}, False),
])  # fmt: skip
def test_a_session_is_served_alone_on_ones_own_computer_only(
    other: dict, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {**ALONE, **other}
    options = {"server.address": asked["address"], "server.allowedHosts": asked["hosts"]}
    headers = {"Origin": "http://localhost:8501", **asked["headers"]}
    monkeypatch.setenv(own_computer.CLASSROOM, asked["room"])
    monkeypatch.setattr(own_computer.st, "get_option", options.get)
    monkeypatch.setattr(type(own_computer.st.context), "headers", property(lambda _self: headers))
    assert own_computer._alone() is alone
