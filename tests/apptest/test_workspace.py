"""A workspace that is saved and opened in another session: the same state, page, files and numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bayes_engine import load_model, save_model
from bayes_engine.datasets import load_network
from bayes_engine.exchange import write_bif
from bayes_engine.store import pack
from pages import active
from pages.active.files import digest
from pages.active.model_settings import CALIBRATIONS, FAMILIES
from pages.runtime import private
from pages.runtime.addresses import Addresses
from pages.runtime.state import START, Spec, State, encode
from pages.shell.workspace import disk, session, widgets
from pages.shell.workspace.form import ROLES, GivenFile, Workspace, read, without_data, write
from tests.apptest.opened import APP, give, opened
from tests.cache_contents import forget
from tests.conftest import PATIENCE, slowly

FIRST = {("complement", "none"), ("lda", "none")}
"""Models whose file is loaded by default; the others, all alike, run apart."""

PAGES = frozenset({"start", "data", "model", "decisions", "case", "classify", "network"})
ROWS = "\n".join(f"{('青绿', '乌黑', '浅白')[i % 3]};{i % 7},{i % 4};{('是', '否')[i % 5 // 3]}" for i in range(30))
CSV = f"颜色;重量;好瓜\n{ROWS}\n".encode("gb18030")
MARK = digest(CSV)
NEW = "重量,颜色,名\n1.5,青绿,一\n,乌黑,二\n3.5,浅白,三\n".encode()
NEW_MARK = digest(NEW)
BIF = write_bif(load_network("asia").network).encode()
BIF_MARK = digest(BIF)
LETTERS = "\n".join(f"{i * 37 % 11},{i % 5},{chr(97 + i % 26)}" for i in range(130))
LETTERS_CSV = f"x,y,letter\n{LETTERS}\n".encode()
SIX = tuple(
    Spec("laplace", (("alpha", 0.1 + 0.2 * i),), family)
    for i, family in enumerate(("naive-bayes", "tan", "aode", "k-db", "spode", "network"))
)
UPLOADED = State(
    table=f"upload:{MARK}", language="zh", columns=((0, "", "", (2, 0, 1)),), shelf=SIX[:3], active=1,
    case=(1, 2.5), row=-1, prior=(0.25, 0.75), losses=((0.0, 7.25), (1.0, 0.0), (0.5, 0.5)), extra="请示",
    view=(("read", (("encoding", "gb18030"),)), ("second", NEW_MARK)),
)  # fmt: skip
DEAR = tuple(tuple(0.0 if i == j else 1 / 3 + (i * 26 + j) / 7 for j in range(26)) for i in range(26))


def session_of(page: str, state: State, **files: tuple[str, bytes]) -> AppTest:
    """A session on this page in this state, which was given these files."""
    at = AppTest.from_file(APP, default_timeout=PATIENCE)
    at.session_state["state"] = state
    at.session_state["addresses"] = Addresses("")
    for role, (name, content) in files.items():
        give(at, ROLES[role], name, content)
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception
    return at


def workspace_of(at: AppTest) -> Workspace:
    held = ("state", "page", "files", "files_asked")
    shown = {name: at.session_state[name] for name in held if name in at.session_state}
    with mock.patch.object(st, "session_state", shown):
        return session.current_workspace()


def opening(content: bytes, at: AppTest | None = None) -> AppTest:
    """A session (a fresh one) in which this file was dropped on «Open workspace»."""
    at = at or opened("start")
    at.session_state["chip_workspace_open"] = True
    at.run()
    uploader = at.file_uploader(key=f"workspace_file_{at.session_state['workspace_turn']}")
    uploader.set_value(("w.bayes", content, "application/octet-stream")).run()
    assert not at.exception
    return at


def screen(at: AppTest) -> list[Any]:
    """The words and numbers of the page, not of the sidebar."""
    tables = [frame.value.to_csv(float_format="%.17g") for frame in at.dataframe]
    shown = [[part.value for part in parts] for parts in (at.title, at.main.markdown, at.metric, at.main.caption)]
    return [*shown, tables]


SESSIONS: dict[str, tuple[str, State, dict[str, tuple[str, bytes]]]] = {
    "an embedded table": ("decisions", State(table="iris", losses=((0.0, 1.0, 2.5), (1.0, 0.0, 1.0), (1.0, 1.0, 0.0))),
                          {}),
    "an upload, 中文, a second file": ("classify", UPLOADED, {"table": ("瓜.csv", CSV), "second": ("新.csv", NEW)}),
    "a shelf of six": ("model", State(table="watermelon3", shelf=SIX, active=3, labels="file"), {}),
    "26 classes": ("decisions", State(table=f"upload:{digest(LETTERS_CSV)}", losses=DEAR, language="en"),
                   {"table": ("letters.csv", LETTERS_CSV)}),
    "a network drawn by hand": (
        "network",
        State(table="watermelon2", view=(("net", "table"), ("net_arcs", ((6, 0), (6, 1), (0, 1))),
                                         ("net_drawn", True))), {}),
    "tables edited": ("network", State(view=(("net", "cancer"), ("net_cpts", ((0, (0.3, 0.7)),)))), {}),
    "a network from a file": ("network", State(view=(("net", f"file:{BIF_MARK}"),)), {"network": ("亚洲.bif", BIF)}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind if SESSIONS[kind][2] else slowly(kind) for kind in SESSIONS])
def test_another_session_shows_the_same(kind: str):
    page, state, files = SESSIONS[kind]
    before = session_of(page, state, **files)
    saved = workspace_of(before)
    assert (saved.page, saved.state, set(saved.files)) == (page, state, set(files))
    forget()  # what was fitted is fitted again
    after = opening(write(saved))
    assert workspace_of(after) == saved
    assert after.session_state["page"] == ("" if page == "start" else page)
    assert screen(after) == screen(before)
    assert len("".join(screen(after)[1])) > 100 and not after.error
    assert not after.session_state["chip_workspace_open"]


@pytest.mark.slow
def test_posteriors_are_the_same_to_the_last_bit():
    before = session_of("classify", UPLOADED, table=("瓜.csv", CSV), second=("新.csv", NEW))
    forget()
    after = opening(write(workspace_of(before)))
    frames = [at.dataframe[0].value.select_dtypes("number") for at in (before, after)]
    assert frames[0].size >= 9
    assert frames[0].to_numpy().tobytes() == frames[1].to_numpy().tobytes()


@pytest.mark.slow
def test_losses_that_no_link_holds_come_with_the_button_that_saves_them():
    state = SESSIONS["26 classes"][1]
    at = session_of("decisions", state, table=("letters.csv", LETTERS_CSV))
    assert len(encode(state)) > 1500
    assert "Save the workspace to keep it" in at.info[0].value
    assert "workspace_save_long" in {b.key for b in at.main.get("download_button")}


def test_without_data_the_file_is_asked_for_by_its_name_and_then_all_is_as_it_was():
    full = workspace_of(session_of("decisions", replace(UPLOADED, language="en"), table=("瓜_*.csv", CSV)))
    data_only = write(without_data(full))
    assert CSV[20:60] not in data_only
    at = opening(data_only)
    assert "Upload '瓜\\_\\*\\.csv' on the page Data" in at.warning[0].value
    assert at.session_state["state"] == full.state
    assert workspace_of(at).files == {"table": GivenFile("瓜_*.csv", MARK, None)}  # saved again it still knows the name
    at.switch_page("pages/data.py").run()
    at.file_uploader(key="upload_file").set_value(("other name.csv", CSV, "text/csv")).run()
    assert not at.exception and not at.warning
    assert at.session_state["state"] == full.state


@pytest.mark.parametrize("content", [
    write(Workspace("start", State(table="iris"), {}))[:-1],
    *map(slowly, (b"", b"PK\x03\x04", pack("model", {}, {}), pack("workspace", {"form": 2}, {}))),
    slowly(write(Workspace("no such page", State(), {}))),
    slowly(write(Workspace("start", State(table=f"upload:{digest(b'')}"),
                           {"table": GivenFile("x", digest(b""), b"")}))),
    write(Workspace("start", State(view=(("net", f"file:{NEW_MARK}"),)), {"network": GivenFile("x", NEW_MARK, NEW)})),
])  # fmt: skip
def test_a_hostile_file_is_refused_with_a_reason_and_changes_nothing(content: bytes):
    state = State(table="iris", row=7, language="en")
    at = opening(content, opened("model", state))
    assert at.session_state["state"] == state
    assert at.session_state["page"] == "model"
    said = [e.value for e in at.error if e.value.startswith("Not opened: ")]
    assert len(said) == 1 and said[0].endswith("Nothing was changed.")
    assert "files" not in at.session_state
    again = opening(write(Workspace("data", State(table="loan", language="en"), {})), at)
    assert again.session_state["state"].table == "loan"
    assert not again.error


@pytest.mark.slow
def test_names_are_shown_character_for_character():
    name = "![a](http://b.c) $x$ :red[y].csv"
    content = b"a,b\n" + b"1,x\n2,y\n" * 8
    state = State(table=f"upload:{digest(content)}", language="en")
    at = opening(write(without_data(Workspace("start", state, {"table": GivenFile(name, digest(content), content)}))))
    assert "\\!\\[a\\]\\(http" in at.warning[0].value and "\\$x\\$" in at.warning[0].value


def test_a_workspace_of_another_version_says_so():
    at = opening(write(Workspace("start", State(table="iris", language="en"), {}, "9.9.9")))
    assert "version 9.9.9" in at.main.markdown[0].value
    at.button(key="workspace_version_seen").click().run()
    assert not any("version 9" in m.value for m in at.main.markdown)


def test_a_served_session_saves_nothing_by_itself():
    """There is no server in these tests, and no browser that calls it by the computer's own name."""
    at = opened("start", State(table="iris"))
    assert at.session_state["workspace_local"] is False


def test_on_ones_own_computer_it_is_saved_by_itself_and_the_way_back_is_offered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before, here = "0a" * 16, "1b" * 16
    taken: list[tuple[str, Workspace]] = []
    monkeypatch.setenv(disk.WHERE, str(tmp_path))
    monkeypatch.setattr(widgets, "saves_by_itself", lambda: True)
    monkeypatch.setattr(private, "session_id", lambda: here)
    monkeypatch.setattr(private, "connected", lambda _session: False)
    monkeypatch.setattr(disk.Saver, "take", lambda _saver, *what: taken.append(what))
    disk.save(before, Workspace("data", State(table="iris", language="en"), {}), disk.folder())
    at = opened("start", State(language="en"))
    assert not taken  # nobody has done anything yet
    [said] = [m.value for m in at.markdown if m.value.startswith(":material/history:")]
    assert "Your last workspace, on Iris" in said.replace("\\", "").replace("\u2060", "")
    at.session_state["workspace_lost"] = before
    at.session_state["chip_workspace_open"] = True
    at.run()
    assert any("The server was restarted." in m.value for m in at.markdown)
    assert any("is saved by itself; last at" in c.value for c in at.caption)
    at.button(key="workspace_reopen").click().run()
    assert not at.exception and at.session_state["state"].table == "iris" and at.session_state["page"] == "data"
    assert taken[-1][0] == here and taken[-1][1].state.table == "iris"
    at.session_state["chip_workspace_open"] = True
    at.run()
    at.button(key="workspace_forget").click().run()
    assert not disk.saved(disk.folder()) and at.session_state["workspace_dismissed"]
    assert any("saved by itself when you change it" in c.value for c in at.caption)


def test_what_is_read_is_what_the_sidebar_saves(monkeypatch: pytest.MonkeyPatch):
    """The button's own content, from the popover."""
    made: list[Any] = []
    monkeypatch.setattr(widgets, "partial", lambda f, *args: made.append((f, args)) or (lambda: b""))
    at = session_of("model", replace(UPLOADED, language="en"), table=("瓜.csv", CSV), second=("新.csv", NEW))
    at.session_state["chip_workspace_open"] = True
    at.run()
    assert read(made[-1][0](*made[-1][1]), PAGES) == workspace_of(at)
    at.toggle(key="workspace_bare").set_value(True).run()
    assert read(made[-1][0](*made[-1][1]), PAGES) == without_data(workspace_of(at))


@pytest.mark.slow
def test_the_start_is_a_workspace_too():
    at = opening(write(Workspace("start", START, {})), opened("model", State(table="iris")))
    assert at.session_state["state"] == START
    assert at.session_state["page"] == ""


def test_the_model_of_the_shelf_is_offered_as_a_file():
    at = opened("model", State(table="watermelon3", shelf=SIX, active=2))
    assert "model_save" in {b.key for b in at.get("download_button")}
    assert not at.code  # what colours it is loaded by those who open it
    at = opened("model", State(table="watermelon3", shelf=SIX, active=2, view=(("save", True),)))
    assert 'load_model("aode.model.bayes")' in "".join(c.value for c in at.code)


@pytest.mark.parametrize(
    ("family", "calibration"),
    [(pytest.param if pair in FIRST else slowly)(*pair) for pair in product(FAMILIES, CALIBRATIONS)],
)
def test_every_model_of_the_shelf_is_loaded_as_it_was_saved(family: str, calibration: str):
    table = active.in_use(State(table="sms-spam-zh" if family == "complement" else "iris"))
    fitted = active.fit(table, Spec("laplace", (("calibration", calibration),), family))
    assert table.parts is not None
    loaded = load_model(save_model(fitted.judging) or b"")
    assert loaded.predict_proba(table.parts.X).tobytes() == fitted.judging.predict_proba(table.parts.X).tobytes()
