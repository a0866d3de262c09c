"""The file of a workspace, and the folder where workspaces are saved by themselves."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bayes_engine import NaiveBayes, StoreError, save_model
from bayes_engine.store import pack
from pages.active.files import digest
from pages.runtime import own_computer
from pages.runtime.state import Spec, State
from pages.shell.workspace import disk
from pages.shell.workspace.form import FORM, ROLES, GivenFile, Workspace, read, without_data, write
from tests.conftest import PATIENCE

PAGES = frozenset({"start", "model", "network"})
CSV = "颜色,重量,好瓜\n青绿,1.5,是\n乌黑,2.5,否\n".encode()
MARK = digest(CSV)
STATE = State(
    language="zh", table=f"upload:{MARK}", columns=((1, "ignore", "count", (2, "new")),),
    shelf=tuple(Spec("laplace", (("alpha", 0.1 + 0.2 * i),)) for i in range(6)), active=5, case=(1, None, 1e300, -0.5),
    losses=tuple(tuple(float(i != j) / 3 for j in range(26)) for i in range(27)), extra="请示",
    prior=(0.25, 0.75), fixed=((0, 1),), view=(("net_cpts", ((0, (0.1, 0.9)),)), ("second", MARK)),
)  # fmt: skip
FILES = {"table": GivenFile("瓜 <b>&.csv", MARK, CSV), "second": GivenFile("二.csv", MARK, CSV)}
FULL = Workspace("model", STATE, FILES)


def content(**other: Any) -> dict[str, Any]:
    return {"form": FORM, "program": "1.0", "page": "model", "state": {"table": "iris"}, "files": {}, **other}


def test_a_workspace_comes_back_as_it_was():
    assert read(write(FULL), PAGES) == FULL
    assert read(write(Workspace("start", State(), {})), PAGES).state == State()


def test_without_data_not_a_byte_of_them_is_in_the_file():
    texts = FULL._replace(state=State(table=f"upload:{MARK}", case=("secret message", 1), row=3),
                          files={"table": FILES["table"]})  # fmt: skip
    data = write(without_data(texts))
    assert "青绿".encode() not in data and b"secret" not in data
    found = read(data, PAGES)
    assert found.files == {"table": GivenFile("瓜 <b>&.csv", MARK, None)}
    assert found.state == State(table=f"upload:{MARK}")


def test_codes_of_a_case_stay_without_data():
    assert without_data(FULL).state == STATE


@pytest.mark.parametrize(("state", "role", "mark"), [
    (STATE, "table", MARK), (STATE, "second", MARK), (STATE, "network", ""), (State(), "table", ""),
    (State(view=(("net", "file:0123"),)), "network", "0123"), (State(view=(("second", 5),)), "second", ""),
])  # fmt: skip
def test_which_file_a_state_speaks_of(state: State, role: str, mark: str):
    assert ROLES[role].named(state) == mark


HOSTILE: dict[str, tuple[Any, dict[str, bytes], str]] = {
    "no object": ([], {}, "does not consist"),
    "no form": ({}, {}, "does not consist"),
    "a newer form": (content(form=FORM + 1), {}, f"form {FORM + 1}"),
    "an older form": (content(form=0), {}, "form 0"),
    "a part too many": (content(more=1), {}, "does not consist"),
    "a page elsewhere": (content(page="../../etc/passwd"), {}, "page"),
    "a page that is none": (content(page=["start"]), {}, "page"),
    "no version": (content(program="<b>"), {}, "version"),
    "state: a list": (content(state=[]), {}, "no state"),
    "state: a newer field": (content(state={"__class__": 1}), {}, "'__class__'"),
    "state: a number too large": (content(state={"row": 10**20}), {}, "no page makes"),
    "state: no whole float": (content(state={"case": [2**60]}), {}, "no page makes"),
    "state: seven models": (content(state={"shelf": [["laplace", []]] * 7}), {}, "no page makes"),
    "state: losses in texts": (content(state={"losses": [["x"]]}), {}, "no page makes"),
    "state: half a character": (content(state={"extra": "\ud800"}), {}, "no page makes"),
    "state: true for a row": (content(state={"row": True}), {}, "no page makes"),
    "files: a list": (content(files=[]), {}, "does not consist"),
    "files: another role": (content(files={"code": {"name": "a", "digest": MARK}}), {}, "does not consist"),
    "files: a path for a digest": (content(files={"table": {"name": "a", "digest": "../../../etc/x"}}), {}, "consist"),
    "files: no name": (content(files={"table": {"digest": MARK}}), {}, "does not consist"),
    "files: not spoken of": (content(files={"table": {"name": "a", "digest": MARK}}), {"table": CSV}, "not use"),
    "files: not announced": (content(), {"table": CSV}, "does not consist"),
    "files: another content": (
        content(state={"table": f"upload:{MARK}"}, files={"table": {"name": "a", "digest": MARK}}),
        {"table": b"a,b\n1,2\n"}, "not the one"),
}  # fmt: skip


@pytest.mark.parametrize("said", HOSTILE)
def test_what_is_no_workspace_is_refused_with_a_reason(said: str):
    held, blobs, reason = HOSTILE[said]
    with pytest.raises(StoreError, match=reason):
        read(pack("workspace", held, blobs), PAGES)


def test_an_endless_number_is_refused():
    """JSON reads 1e999 as infinity; the file is made by hand, its digest right."""
    data = pack("workspace", content(state={"case": [1.5e11]}), {})
    body = data[:-32].replace(b"150000000000.0", b"1.5e999       ")
    assert body != data[:-32]
    with pytest.raises(StoreError, match="no page makes"):
        read(body + hashlib.sha256(body).digest(), PAGES)


@pytest.mark.parametrize(("data", "reason"), [
    (b"", "not recognized"), (b"PK\x03\x04", "not recognized"), (write(FULL)[:-1], "damaged"),
    (write(FULL)[:40], "cut off"), (write(FULL)[:8] + b"\x09" + write(FULL)[9:], "version 9"),
])  # fmt: skip
def test_damaged_files_are_refused(data: bytes, reason: str):
    with pytest.raises(StoreError, match=reason):
        read(data, PAGES)


def test_a_model_is_no_workspace():
    model = save_model(NaiveBayes().fit([["a"], ["b"]], ["x", "y"]))
    with pytest.raises(StoreError, match="no workspace; a model is loaded where models are"):
        read(model or b"", PAGES)


def test_an_array_where_a_file_should_be():
    import numpy as np

    held = content(state={"table": f"upload:{MARK}"}, files={"table": {"name": "a", "digest": MARK}})
    with pytest.raises(StoreError, match="does not consist"):
        read(pack("workspace", held, {"table": np.ones(3)}), PAGES)


# on the disk ----------------------------------------------------------------------------------------------------

ONE, TWO = "11111111-aaaa", "22222222-bbbb"


def test_a_saved_workspace_is_loaded_whole_and_is_the_users_own(tmp_path: Path):
    disk.save(ONE, FULL, tmp_path / "w")
    assert disk.load(ONE, tmp_path / "w", PAGES) == FULL
    place = tmp_path / "w" / ONE
    assert sorted(p.name for p in place.iterdir()) == sorted([MARK, disk.FILE])
    if os.name == "posix":
        assert [oct(p.stat().st_mode & 0o777) for p in (tmp_path / "w", place)] == ["0o700"] * 2
        assert {oct(p.stat().st_mode & 0o777) for p in place.iterdir()} == {"0o600"}


def test_a_file_is_written_once_and_goes_with_the_table(tmp_path: Path):
    disk.save(ONE, FULL, tmp_path)
    written = (tmp_path / ONE / MARK).stat().st_mtime_ns
    disk.save(ONE, FULL._replace(page="start"), tmp_path)
    assert (tmp_path / ONE / MARK).stat().st_mtime_ns == written
    disk.save(ONE, Workspace("start", State(table="iris"), {}), tmp_path)
    assert [p.name for p in (tmp_path / ONE).iterdir()] == [disk.FILE]


def test_the_folder_is_bounded_in_number_and_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def put(n: int) -> None:
        disk.save(f"{n:08d}", FULL, tmp_path)
        os.utime(tmp_path / f"{n:08d}" / disk.FILE, (1e9 + n, 1e9 + n))

    for n in range(disk.MOST + 4):
        put(n)
    newest = [f"{n:08d}" for n in range(disk.MOST + 3, 3, -1)]
    assert [s.session for s in disk.saved(tmp_path)] == newest
    monkeypatch.setattr(disk, "MOST_KEPT", 1)
    disk.save(ONE, FULL, tmp_path)
    assert [s.session for s in disk.saved(tmp_path)] == [ONE]


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "workspaces", "a" * 41, "x" * 8, "..-..-..-"])
def test_no_name_leads_out_of_the_folder(name: str, tmp_path: Path):
    (tmp_path / "x").mkdir()
    with pytest.raises(StoreError, match="no saved workspace"):
        disk.load(name, tmp_path / "w", PAGES)
    with pytest.raises(StoreError, match="no saved workspace"):
        disk.save(name, FULL, tmp_path / "w")


def test_a_file_that_was_changed_on_the_disk_is_refused(tmp_path: Path):
    disk.save(ONE, FULL, tmp_path)
    (tmp_path / ONE / MARK).write_bytes(b"a,b\n1,2\n")
    with pytest.raises(StoreError, match="not the one it was saved with"):
        disk.load(ONE, tmp_path, PAGES)
    (tmp_path / ONE / disk.FILE).write_bytes(b"bayes")
    with pytest.raises(StoreError):
        disk.load(ONE, tmp_path, PAGES)
    assert disk.load_summary(disk.saved(tmp_path)[0], tmp_path, PAGES) is None
    with pytest.raises(StoreError):
        disk.load(TWO, tmp_path, PAGES)


def test_what_cannot_be_written_is_said_and_what_was_there_stays(tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("x", encoding="ascii")
    with pytest.raises(StoreError, match="cannot be written") as error:
        disk.save(ONE, FULL, blocked)
    assert isinstance(error.value.__cause__, OSError)  # the log, which fills in no field, has the reason from it
    saver = disk.Saver(blocked, every=0.01)
    saver.take(ONE, FULL)
    _until(lambda: saver.problem is not None)
    assert blocked.read_text(encoding="ascii") == "x"


def test_the_saver_writes_the_last_of_many_and_not_in_the_callers_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    threads, plain_save = [], disk.save

    def counted(*args: Any) -> None:
        threads.append(threading.current_thread())
        plain_save(*args)

    monkeypatch.setattr(disk, "save", counted)
    saver = disk.Saver(tmp_path, every=0.2)
    for n in range(50):
        saver.take(ONE, Workspace("start", State(row=n), {}))
    saver.take(TWO, FULL)
    _until(lambda: len(threads) == 2)
    assert disk.load(ONE, tmp_path, PAGES).state.row == 49
    assert threading.current_thread() not in threads
    _until(lambda: not saver._running)
    saver.take(ONE, FULL)  # a new thread, after the first has ended
    _until(lambda: len(threads) == 3)


def test_what_is_forgotten_does_not_come_back(tmp_path: Path):
    disk.save(ONE, FULL, tmp_path)
    (tmp_path / "somebody-elses").mkdir()
    saver = disk.Saver(tmp_path, every=0.05)
    saver.take(TWO, FULL)
    saver.forget()
    time.sleep(0.15)
    assert disk.saved(tmp_path) == []
    assert [p.name for p in tmp_path.iterdir()] == ["somebody-elses"]


@pytest.mark.parametrize(("variables", "allowed"), [
    ({}, True), ({own_computer.WHETHER: "0"}, False), ({own_computer.WHETHER: "1"}, True),
])  # fmt: skip
def test_the_environment_can_turn_it_off(variables: dict[str, str], allowed: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(own_computer.WHETHER, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert own_computer.may_save() == allowed


def test_the_folder_is_where_the_system_has_a_users_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(disk.WHERE, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(disk.sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", "/data/x")
    assert disk.folder() == Path("/data/x/bayes-workbench/workspaces")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert disk.folder() == tmp_path / ".local/share/bayes-workbench/workspaces"
    monkeypatch.setattr(disk.sys, "platform", "darwin")
    assert disk.folder() == tmp_path / "Library/Application Support/bayes-workbench/workspaces"
    monkeypatch.setenv(disk.WHERE, str(tmp_path / "own"))
    assert disk.folder() == tmp_path / "own" / "workspaces"


def _until(done: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)
