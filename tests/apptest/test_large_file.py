"""A large file on one's own computer: opened by a click, shown by a sample that is said to be one on every page."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from bayes_engine import LossMatrix, NaiveBayes, fit_files, held_out_risk
from bayes_engine.progress import Cancelled, steps
from bayes_engine.scale import csv_blocks, scan, sources
from bayes_engine.scale import written as written_answers
from bayes_engine.store import container
from bayes_engine.workbench import kept_files
from bayes_engine.workbench.incoming import large_file
from pages.active import large_files
from pages.active.files import TABLE
from pages.runtime import job_queue, own_computer
from pages.runtime.state import Spec, State, encode
from pages.shell.workspace import widgets
from tests.apptest.opened import APP, opened, step_to, written
from tests.conftest import PATIENCE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    good = rng.random(6_000) < 0.4
    frame = pd.DataFrame({
        "sugar": rng.normal(good.astype(float)),
        "sound": np.where(rng.random(6_000) < 0.3 + 0.4 * good, "dull", "crisp"),
        "good": np.where(good, "yes", "no"),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "melons.parquet", row_group_size=1_500)
    monkeypatch.setattr(own_computer, "is_served_alone", lambda: True)
    monkeypatch.setattr(widgets, "saves_by_itself", lambda: False)
    monkeypatch.setattr(kept_files, "folder", lambda: tmp_path / "cache")
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
    app = opened("data", State(language="en"))
    app.session_state["large_file"] = True  # a person opens the box
    app = with_large("/etc/passwd", app)
    [error] = [e.value for e in app.error]
    assert error.startswith("Not opened: ") and "in none of the folders" in error
    assert app.session_state["large_file"]  # it stays open, with the error in it
    assert app.session_state["state"].table == State().table and "large_files" not in app.session_state
    app = with_large("melons.parquet", app)
    assert not app.error and not app.session_state["large_file"]
    [line] = said(app)
    assert "5,000 of 6,000 rows of melons.parquet" in line.replace("\u2060", "") and "seed 0" in line
    state = app.session_state["state"]
    digest = TABLE.named(state)
    assert app.session_state["large_files"][digest].rows.paths == (folder / "melons.parquet",)
    assert any("melons.parquet [5,000/6,000]" in h.value.replace("\\", "") for h in app.subheader)
    assert str(folder) not in encode(state) and "melons" not in encode(state)


def test_a_path_with_a_name_that_is_too_long_is_refused_in_a_sentence(folder: Path) -> None:
    app = with_large("x" * 300)
    [error] = [e.value for e in app.error]
    assert error.startswith("Not opened: ") and "File name too long" in error


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
    assert any(large_files.FOLDERS in m.value for m in app.markdown)
    assert "large_path" not in app.session_state


@pytest.mark.slow
def test_where_others_are_served_there_is_no_door(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_computer, "is_served_alone", lambda: False)
    app = opened("data", State(language="en"))
    assert not any("large file" in e.label for e in app.expander)
    assert large_files.folders() == ()


# all rows ---------------------------------------------------------------------------------------------------------


def all_rows(app: AppTest, *clicks: str) -> pd.DataFrame:
    """The table of what is known of all rows, after these buttons of the page Model."""
    app.switch_page("pages/model.py").run()
    for key in clicks:
        app.button(key=key).click().run()
        assert not app.exception and not app.error
    return written(app, "model")


def test_the_active_model_is_fitted_to_all_rows_and_judged_on_them(folder: Path) -> None:
    """Against a fit to the whole frame, and the library's own risk of files."""
    app = with_large("melons.parquet")
    shown = all_rows(app, "all_rows_fit", "all_rows_judge")
    assert shown["fitted to rows"].tolist() == ["6,000"]
    [model] = [m for m in app.session_state["all_rows"].values() if hasattr(m, "predict_proba")]
    frame = pd.read_parquet(folder / "melons.parquet")
    X = frame[["sugar", "sound"]]
    own = NaiveBayes(**{**model.get_params(deep=False), "schema": None}).fit(X, frame["good"])
    np.testing.assert_allclose(model.predict_proba(X), own.predict_proba(X), rtol=1e-9)
    loss = LossMatrix.zero_one(("no", "yes"))
    risk = held_out_risk(own, folder / "melons.parquet", target="good", loss=loss, columns=["sugar", "sound"])
    assert shown["held-out risk, 95 % interval"][0].startswith(f"{risk.risk:.4f} [")
    [kept] = (folder / "cache" / "counts").iterdir()
    assert kept.name.endswith(".model.bayes")  # the model itself, and no count
    assert app.download_button(key="all_rows_save")
    assert not any(b.key in ("all_rows_fit", "all_rows_judge") for b in app.button)


@pytest.mark.slow
def test_each_model_of_the_shelf_has_a_line_of_its_own_and_one_that_cannot_is_refused(folder: Path) -> None:
    app = with_large("melons.parquet")
    all_rows(app, "all_rows_fit")
    state = app.session_state["state"]
    shelf = (Spec("laplace"), Spec("laplace", family="tan"), Spec("laplace", family="selective"))
    app.query_params["s"] = encode(State(table=state.table, shelf=shelf, active=1, language="en"))
    step_to(app, app.query_params["s"])
    app.run()
    assert all_rows(app, "all_rows_fit")["fitted to rows"].tolist() == ["6,000", "6,000"]
    step_to(app, encode(State(table=state.table, shelf=shelf, active=2, language="en")))
    app.run()
    app.button(key="all_rows_fit").click().run()
    [error] = [e.value for e in app.error]
    assert error.startswith("Not all rows: ") and "needs all rows at once" in error


@pytest.mark.slow
def test_a_file_that_changed_since_is_not_taken_for_the_one_that_was_opened(folder: Path) -> None:
    app = with_large("melons.parquet").switch_page("pages/model.py").run()
    pd.read_parquet(folder / "melons.parquet").iloc[:-1].to_parquet(folder / "melons.parquet")
    app.button(key="all_rows_fit").click().run()
    assert "has changed since it was opened" in app.error[0].value


@pytest.mark.slow
def test_what_was_counted_before_is_gone_on_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row group that cannot be read ends the fit; once it can, three of four are not counted again."""
    app = with_large("melons.parquet").switch_page("pages/model.py").run()
    assert app.button(key="all_rows_fit").label == "Fit to all rows"
    counted: list[int] = []
    fails = [True]
    own = scan.counted

    def some(block: scan.Block, *rest: Any) -> Any:
        if fails[0] and block.number == 3:
            raise OSError("the disk does not answer")
        counted.append(block.number)
        return own(block, *rest)

    monkeypatch.setattr(scan, "counted", some)
    app.button(key="all_rows_fit").click().run()
    assert "row group 3 of 4" in app.error[0].value
    assert app.button(key="all_rows_fit").label == "Go on fitting to all rows"
    fails[0] = False
    before = len(counted)
    app.button(key="all_rows_fit").click().run()
    assert not app.error and 3 in counted[before:] and len(counted) == 4 and sorted(counted) == [1, 2, 3, 4]


def button(app: AppTest, name: str) -> list[Button]:
    return [one for one in app.button if (one.key or "").startswith(f"job_{name}_")]


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(("page", "name", "click"), [
    ("model", "fit_all", "all_rows_fit"), ("model", "judge_all", "all_rows_judge"),
    ("classify", "classify_all", "large_second_go"),
])  # fmt: skip
def test_what_was_cancelled_goes_on_by_its_button_once_it_is_kept(
    page: str, name: str, click: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No button begins it from its start while it still keeps what it has counted."""
    monkeypatch.setattr(own_computer, "may_save", lambda: True)
    monkeypatch.setattr(job_queue, "GRACE", 0.2)
    saves = Event()

    def work(*given: Any) -> None:
        try:
            for _step in steps(range(10**6)):
                time.sleep(0.001)
        except Cancelled:
            assert saves.wait(PATIENCE)
            given[-1].parent.mkdir(exist_ok=True)
            given[-1].write_bytes(b"so far")
            raise

    app = with_large("melons.parquet").switch_page(f"pages/{page}.py").run()
    monkeypatch.setattr(large_file, name, work)
    if page == "classify":
        app.text_input(key="large_second_path").set_value("melons.parquet")
    app.button(key=click).click().run()
    until(lambda: button(app.run(), "cancel"))
    button(app, "cancel")[0].click().run()
    assert not app.exception and "Cancelled: " in app.warning[0].value and not button(app, "again")
    saves.set()
    until(lambda: button(app.run(), "again"))
    assert [one.label for one in button(app, "again")] == ["Go on"]
    button(app, "again")[0].click().run()
    until(lambda: button(app.run(), "cancel"))
    button(app, "cancel")[0].click().run()
    until(lambda: button(app.run(), "again"))
    assert not app.exception and [one.label for one in button(app, "again")] == ["Go on"]


def broken_off(folder: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    """A session clicks, what it asked for ends at the third row group, and the session is gone."""
    app = with_large("melons.parquet").switch_page("pages/model.py").run()
    step_to(app, encode(replace(app.session_state["state"], losses=((0.0, 5.0), (1.0, 0.0)))))
    app.run()

    def row_group(path: Path, metadata: Any, group: int, *rest: Any) -> Any:
        if group == 2:
            raise OSError("the disk does not answer")
        return own_group(path, metadata, group, *rest)

    own_group = sources._row_group
    with monkeypatch.context() as patched:
        patched.setattr(sources, "_row_group", row_group)
        app.button(key=key).click().run()
    assert "row group 3 of 4" in app.error[0].value


@pytest.mark.parametrize("what", ["fit", "judge"])
def test_what_ended_in_the_middle_is_offered_and_goes_on(
    what: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another session, as after a restart: the table, the model and the losses of then, and the result of one run."""
    monkeypatch.setattr(own_computer, "may_save", lambda: True)
    broken_off(folder, monkeypatch, f"all_rows_{what}")
    app = with_large("melons.parquet").switch_page("pages/model.py").run()
    step_to(app, encode(replace(app.session_state["state"], losses=((0.0, 5.0), (1.0, 0.0)))))
    app.run()  # the notice offers it, and the box of all rows does not again
    assert not any(b.key == f"all_rows_{what}" for b in app.button)
    app = opened("start", State(language="en"))
    [said] = [m.value for m in app.markdown if "**Unfinished**" in m.value]
    counted = ("3,000", "4,500") if what == "fit" else ("3,000",)  # whose row groups end in any order
    assert any(f"{n} of 6,000 rows are counted" in said for n in counted) and "melons.parquet" in said.replace(
        "\u2060", ""
    )
    [go] = [b for b in app.button if b.key.startswith("unfinished_go_")]
    go.click().run()
    app.switch_page("pages/model.py").run()  # where the click leads
    app.run()
    assert not app.exception and not app.error
    assert app.session_state["state"].losses == ((0.0, 5.0), (1.0, 0.0))
    [found] = app.session_state["all_rows"].values()
    path = folder / "melons.parquet"
    asked: dict[str, Any] = {"target": "good", "columns": ["sugar", "sound"]}
    if what == "fit":
        own = fit_files(NaiveBayes(**{**found.get_params(deep=False), "schema": None}), path, **asked)
        X = pd.read_parquet(path)[["sugar", "sound"]]
        assert (found.predict_joint_log_proba(X) == own.predict_joint_log_proba(X)).all()
    else:
        assert found.rows == 6_000 and found.passes == 2
    assert not any("**Unfinished**" in m.value for m in app.markdown)
    again = opened("start", State(language="en"))
    assert not any("**Unfinished**" in m.value for m in again.markdown)


def test_what_is_not_wanted_goes_and_a_file_that_changed_is_begun_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken_off(folder, monkeypatch, "all_rows_fit")
    path = folder / "melons.parquet"
    pd.read_parquet(path).iloc[:-1].to_parquet(path)
    app = opened("data", State(language="en"))
    [said] = [m.value for m in app.markdown if "**Unfinished**" in m.value]
    assert "has changed since" in said and not any(b.key.startswith("unfinished_go_") for b in app.button)
    [no] = [b for b in app.button if b.key.startswith("unfinished_not_")]
    no.click().run()
    assert not any("**Unfinished**" in m.value for m in app.markdown)
    assert not list((folder / "cache" / "counts").iterdir())


@pytest.mark.slow
def test_a_model_of_all_rows_is_there_again_in_another_session(folder: Path) -> None:
    all_rows(with_large("melons.parquet"), "all_rows_fit")
    app = with_large("melons.parquet").switch_page("pages/model.py").run()
    assert written(app, "model")["fitted to rows"].tolist() == ["6,000"]
    assert not any(b.key == "all_rows_fit" for b in app.button)


def test_classifying_goes_on_where_it_was_broken_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = with_large("melons.parquet")
    all_rows(app, "all_rows_fit")
    own = sources._row_group

    def row_group(path: Path, metadata: Any, group: int, *rest: Any) -> Any:
        if group == 2:
            raise OSError("the disk does not answer")
        return own(path, metadata, group, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(sources, "_row_group", row_group)
        classified(app, "melons.parquet")
    assert "row group 3 of 4" in app.error[0].value.replace("\u2060", "")
    assert not (folder / "melons.classified.parquet").exists() and len(list(folder.glob(".*.part"))) == 1
    app = opened("start", State(language="en"))
    [said] = [m.value for m in app.markdown if "**Unfinished**" in m.value]
    assert "3,000 of 6,000 rows are written" in said
    next(b for b in app.button if b.key.startswith("unfinished_go_")).click().run()
    app.switch_page("pages/classify.py").run()
    assert not app.exception and not app.error
    assert any("are classified, in" in m.value for m in app.markdown)
    answer, frame = pd.read_parquet(folder / "melons.classified.parquet"), pd.read_parquet(folder / "melons.parquet")
    assert answer["sugar"].tolist() == frame["sugar"].tolist() and not list(folder.glob(".*.part"))


@pytest.mark.slow
def test_a_sample_that_came_by_a_workspace_asks_for_its_file(folder: Path) -> None:
    app = with_large("melons.parquet")
    app.session_state["large_files"] = {}
    app.switch_page("pages/model.py").run()
    assert any("open the file again" in c.value for c in app.caption)
    assert not any(b.key == "all_rows_fit" for b in app.button)


@pytest.mark.slow
def test_mended_cells_of_the_sample_are_no_cells_of_the_file(folder: Path) -> None:
    app = with_large("melons.parquet")
    state = app.session_state["state"]
    step_to(app, encode(replace(state, repairs=(("drop-duplicates", -1, 0.0),))))
    app.switch_page("pages/model.py").run()
    assert any("as they are: mend the file" in c.value for c in app.caption)


# classified beside the file ---------------------------------------------------------------------------------------


def classified(app: AppTest, path: str, ending: str = ".parquet") -> AppTest:
    app.switch_page("pages/classify.py").run()
    app.text_input(key="large_second_path").set_value(path)
    app.selectbox(key="large_second_as").set_value(ending)
    app.button(key="large_second_go").click().run()
    assert not app.exception
    return app


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_large_file_is_classified_beside_itself_by_the_model_in_use(folder: Path, ending: str) -> None:
    """Against the library's own decisions of all rows."""
    app = with_large("melons.parquet")
    all_rows(app, "all_rows_fit")
    [model] = app.session_state["all_rows"].values()
    app = classified(app, "melons.parquet", ending)
    place = folder / f"melons.classified{ending}"
    written_ = pd.read_parquet(place) if ending == ".parquet" else pd.read_csv(place)
    frame = pd.read_parquet(folder / "melons.parquet")
    X = frame[["sugar", "sound"]]
    assert written_["decision"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(written_["P(yes)"], model.predict_proba(X)[:, 1], rtol=1e-9)
    assert written_["sugar"].tolist() == frame["sugar"].tolist()
    shown = written(app, "decision")
    assert shown["rows"].str.replace(",", "").astype(int).sum() == 6_000
    assert any("fitted to *all rows*" in c.value for c in app.caption)
    classified(app, "melons.parquet", ending)
    assert (folder / f"melons.classified-2{ending}").exists()  # nothing is written over
    assert not list(folder.glob(".*.part"))


def test_by_the_sample_s_model_it_is_said_to_be_so_and_other_losses_take_the_answer_away(folder: Path) -> None:
    app = classified(with_large("melons.parquet"), "melons.parquet")
    assert any("fitted to the table in use" in c.value for c in app.caption)
    assert any("5,000 rows of the table in use" in c.value for c in app.caption)
    state = app.session_state["state"]
    step_to(app, encode(replace(state, losses=((0.0, 5.0), (1.0, 0.0)))))
    app.run()
    assert not app.exception and not any("are classified, in" in m.value for m in app.markdown)


@pytest.mark.slow
def test_a_file_that_is_given_after_a_large_one_is_shown(folder: Path) -> None:
    app = classified(with_large("melons.parquet"), "melons.parquet")
    assert any("are classified, in" in m.value for m in app.markdown)
    app.session_state["large_second"] = True
    rows = pd.read_parquet(folder / "melons.parquet").head(30).to_csv(index=False)
    app.file_uploader(key="second_file").set_value(("new.csv", rows.encode(), "text/csv")).run()
    assert not app.exception and "new.csv" in [h.value for h in app.subheader]
    assert not app.session_state["large_second"]
    assert not any("are classified, in" in m.value for m in app.markdown)
    app.button(key="large_second_go").click().run()  # what is asked for last is shown
    assert any("are classified, in" in m.value for m in app.markdown)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "why"), [
    ("", "no path is given"), ("/etc/passwd", "in none of the folders"), ("absent.csv", "there is no file"),
    (".", "give one of the files"), ("x" * 300, "File name too long"),
    ("other.parquet", "there is no column 'sound' in 'other"), ("short.parquet", "cannot be read as Parquet"),
])  # fmt: skip
def test_what_cannot_be_classified_is_said_in_a_sentence(folder: Path, path: str, why: str) -> None:
    app = with_large("melons.parquet")
    whole = (folder / "melons.parquet").read_bytes()
    if path == "other.parquet":
        pd.DataFrame({"sugar": [1.0]}).to_parquet(folder / path)
    if path == "short.parquet":
        (folder / path).write_bytes(whole[: len(whole) // 2])
    if path == ".":
        (folder / "more.parquet").write_bytes(whole)
    before = {*folder.iterdir()}
    classified(app, path)
    [error] = [e.value.replace("\\", "").replace("\u2060", "") for e in app.error]
    assert error.startswith("Not classified: ") and why in error
    assert {*folder.iterdir()} - {folder / "cache"} == before - {folder / "cache"}


# two types of a column, and a full disk --------------------------------------------------------------------------


def errors(app: AppTest) -> list[str]:
    return [e.value.replace("\\", "").replace("\u2060", "") for e in app.error]


@pytest.mark.slow
def test_two_types_of_a_column_are_one_sentence_with_their_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At *Open a large file* nothing is opened, at *Classify* nothing has the name of the answers."""
    frame = pd.DataFrame({"size": np.arange(120) % 3, "good": np.where(np.arange(120) % 2, "yes", "no")})
    (folder / "parts").mkdir()
    frame.to_parquet(folder / "parts" / "a.parquet", row_group_size=40)
    frame.astype({"size": str}).to_parquet(folder / "parts" / "b.parquet", row_group_size=40)
    frame.astype({"size": str}).assign(size=lambda f: f["size"].where(f.index != 80, "many")).to_csv(
        folder / "mixed.csv", index=False
    )
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", 300)
    files = "column 'size' holds numbers in 'a.parquet' and strings in 'b.parquet', which do not merge"
    app = None
    for path, why in (("parts", files), ("mixed.csv", "'mixed.csv', block 2: column 'size' holds 'many'")):
        app = with_large(path, app)
        [error] = errors(app)
        assert error.startswith(f"Not opened: {why}") and "large_files" not in app.session_state
    app = with_large("parts/a.parquet", app)
    for path, why in (
        ("parts", files),
        ("mixed.csv", "'mixed.csv', block 2: column 'size' should hold numbers, but row 81 holds 'many'"),
        ("parts/b.parquet", "column 'size' holds strings in 'b.parquet', and the model was fitted to numbers"),
    ):
        [error] = errors(classified(app, path))
        assert error.startswith(f"Not classified: {why}") and error.count(". ") == 0
    assert not [path for path in folder.rglob("*.classified*") if not path.name.startswith(".")]


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_what_was_done_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk takes nothing at the end of a count, and no row group of answers but the first two."""
    monkeypatch.setattr(own_computer, "may_save", lambda: True)

    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    app = with_large("melons.parquet").switch_page("pages/model.py").run()
    with monkeypatch.context() as patched:
        patched.setattr(container.os, "fsync", full)
        app.button(key="all_rows_fit").click().run()
    [error] = errors(app)
    assert error.startswith("Not all rows: '") and not app.exception
    assert "cannot be written: No space left on device, after 6,000 rows, at the end of 'melons.parquet'" in error
    assert error.endswith("; nothing is kept yet: make room, or keep it elsewhere.")
    assert not [*(folder / "cache" / "counts").iterdir()]
    app.button(key="all_rows_fit").click().run()  # there is room again
    assert not app.error and written(app, "model")["fitted to rows"].tolist() == ["6,000"]
    kind, left = written_answers.WRITERS[".csv"], iter(range(2))
    own = kind.add  # type: ignore[attr-defined]

    def add(self: Any, batch: Any) -> None:
        return full() if next(left, None) is None else own(self, batch)

    monkeypatch.setattr(written_answers, "KEPT_EACH", 0.0)
    with monkeypatch.context() as patched:
        patched.setattr(kind, "add", add)
        [error] = errors(classified(app, "melons.parquet", ".csv"))
    assert error.startswith("Not classified: '") and error.endswith(
        "cannot be written: No space left on device, at the rows of 'melons.parquet', row group or block 3; what was "
        "written before is kept, and the same again goes on from there."
    )
    answer = folder / "melons.classified.csv"
    assert not answer.exists() and len([*folder.glob(".*.part")]) == 1
    app.button(key="large_second_go").click().run()
    assert not app.exception and not app.error and len(pd.read_csv(answer)) == 6_000
    assert not [*folder.glob(".*.part")]


# whose computer ---------------------------------------------------------------------------------------------------

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
