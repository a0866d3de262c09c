"""Files classified block by block: every row once, in order, as in memory and in the app; nothing half written."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayes_engine import AODE, TAN, LinearDiscriminantAnalysis, LossMatrix, NaiveBayes, classify_files, save_model
from bayes_engine.decision.loss import decide_ledger
from bayes_engine.errors import BayesEngineError, ParameterError, ReadError, SchemaMismatch, StoreError, TableError
from bayes_engine.progress import Cancelled, watching
from bayes_engine.scale import Progress, csv_blocks
from bayes_engine.scale import written as written_answers
from bayes_engine.scale.block import Reached
from bayes_engine.scale.written import WRITERS, KeptAnswers, PartsBeside, _ParquetAnswer, csv_lines
from bayes_engine.stats.partial import PartialSource
from bayes_engine.table import guard
from bayes_engine.workbench.incoming.classified_file import answers, score_file
from bayes_engine.workbench.incoming.file_blocks import open_cells
from bayes_engine.workbench.incoming.second_table import Reception
from tests.conftest import PATIENCE, ROOT, slowly

CLASSES = ("no", "yes")
LOSS = LossMatrix((*CLASSES, "ask"), CLASSES, [[0, 5], [1, 0], [0.4, 0.4]])
USE = {"no": 0.8, "yes": 0.2}
NAMES = ["sound", "ripe", "mass", "seeds"]


def rows(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    good = rng.random(n) < 0.4
    frame = pd.DataFrame({
        "id": [f"{i:05d}" for i in range(n)],
        "sound": np.where(rng.random(n) < 0.7, np.where(good, "浊响", "dull"), "crisp"),
        "ripe": rng.random(n) < 0.3 + 0.4 * good,
        "mass": rng.normal(good * 1.0, 1.0).round(3),
        "seeds": rng.integers(0, 9, n) + good,
        "good": np.where(good, "yes", "no"),
        "day": pd.date_range("2026-01-01", periods=n, freq="h"),
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "sound"] = None
    frame.loc[rng.random(n) < 0.1, "mass"] = np.nan
    return frame


def fitted(model: Any = None, n: int = 400) -> Any:
    frame = rows(n, seed=5)
    return (NaiveBayes() if model is None else model).fit(frame[NAMES], frame["good"])


def written(frame: pd.DataFrame, folder: Path, group: int = 70) -> list[Path]:
    made = []
    for i, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        made.append(folder / f"part{i}.parquet")
        frame.iloc[part].to_parquet(made[-1], row_group_size=group, index=False)
    return made


def assert_answered(answer: pd.DataFrame, frame: pd.DataFrame, model: Any, use: Any = None) -> None:
    ledger = model.explain(frame[NAMES]).at_prior(model.prior_by_class, use)
    p, decision = ledger.posterior(), decide_ledger(ledger, LOSS)
    assert answer["decision"].tolist() == decision.action.tolist()
    np.testing.assert_allclose(answer[["P(no)", "P(yes)"]], p, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(answer["risk"], decision.risk, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(answer["gap"], decision.gap, rtol=1e-9, atol=1e-9)
    assert set(answer["status"]) == {"ok"}


def test_every_row_is_answered_once_and_in_order(tmp_path: Path) -> None:
    frame, model = rows(300), fitted()
    made = written(frame, tmp_path)
    done = classify_files(model, made, tmp_path / "answer.parquet", loss=LOSS, threads=2)
    answer = pd.read_parquet(done.path)
    pd.testing.assert_frame_equal(answer[list(frame.columns)], frame, check_dtype=False)
    assert_answered(answer, frame, model)
    assert done.rows == 300 and sum(done.actions.values()) == 300 and done.undecided == 0
    assert done.actions == {a: int((answer["decision"] == a).sum()) for a in LOSS.actions}


@pytest.mark.slow
@pytest.mark.parametrize("model", [NaiveBayes(discretize="mdlp"), NaiveBayes(likelihoods={"seeds": "poisson"}), TAN(),
                                   AODE()], ids=lambda m: type(m).__name__)  # fmt: skip
@pytest.mark.parametrize("use", [None, USE])
def test_the_answers_are_those_of_the_model_in_memory(model: Any, use: Any, tmp_path: Path) -> None:
    frame = rows(2000)
    model = fitted(model)
    made = written(frame, tmp_path, group=150)
    seen: list[Progress] = []
    done = classify_files(model, made, tmp_path / "a.parquet", loss=LOSS, prior_of_use=use, progress=seen.append)
    assert_answered(pd.read_parquet(done.path), frame, model, use)
    assert seen[-1].share == 1.0 and seen[-1].rows == 2000
    assert pa.types.is_timestamp(pq.read_schema(done.path).field("day").type)
    for suffix in ("csv", "parquet"):
        done = classify_files(model, made, tmp_path / f"b.{suffix}", loss=LOSS, prior_of_use=use, keep=["id"])
        read = pd.read_parquet(done.path) if suffix == "parquet" else pd.read_csv(done.path, dtype={"id": str})
        assert list(read.columns) == ["id", "decision", "risk", "gap", "P(no)", "P(yes)", "status"]
        assert read["id"].tolist() == frame["id"].tolist()
        assert_answered(read, frame, model, use)


@pytest.mark.slow
@pytest.mark.parametrize("block", [2**23, 4096])
def test_csv_is_answered_as_the_app_answers_it(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells stay as they are written; decisions, risks and posteriors are the app's."""
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", block)
    frame = rows(900)
    frame["mass"] = [f"{v:+.3e}" if v == v else "NA" for v in frame["mass"]]
    frame.loc[3, "id"] = '=1+1, "so"\nit is'
    frame["seeds"] = frame["seeds"].astype(object)
    frame.loc[11, "seeds"] = ""
    frame.to_csv(tmp_path / "melons.csv", index=False)
    model = fitted()
    done = classify_files(model, tmp_path / "melons.csv", tmp_path / "answer.csv", loss=LOSS, prior_of_use=USE)
    received, scored = score_file(
        model, Reception(open_cells((tmp_path / "melons.csv").read_bytes()), model.schema_, model.target_)
    )
    theirs = pd.concat(answers(model, received, scored, LOSS, CLASSES, USE), ignore_index=True)
    ours = pd.read_csv(done.path, dtype=str, keep_default_na=False)
    assert ours["id"][3] == "'" + frame["id"][3] and ours["mass"].tolist() == theirs["mass"].map(guarded).tolist()
    assert ours["decision"].tolist() == theirs["decision"].tolist()
    numbers = ["risk", "gap", "P(no)", "P(yes)"]
    np.testing.assert_allclose(ours[numbers].astype(float), theirs[numbers], rtol=1e-9, atol=1e-12)
    assert ours["status"].tolist() == theirs["status"].tolist()
    assert done.path.read_bytes().startswith(b"\xef\xbb\xbfid,sound")


def guarded(cell: str) -> str:
    """As the app's CSV guards a cell from being run as a formula."""
    return str(guard.guarded(pd.Series([cell]))[0])


@pytest.mark.slow
def test_levels_that_are_numbers_and_truth_values_are_read_from_csv(tmp_path: Path) -> None:
    frame = rows(500)
    frame["seeds"] = pd.Categorical(frame["seeds"])
    model = NaiveBayes().fit(frame[["seeds", "ripe"]], frame["good"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    done = classify_files(model, tmp_path / "a.csv", tmp_path / "b.parquet", keep=[])
    p = model.predict_proba(frame[["seeds", "ripe"]])
    np.testing.assert_allclose(pd.read_parquet(done.path)[["P(no)", "P(yes)"]], p, rtol=1e-12)


def test_rows_without_a_posterior_say_why_and_names_that_are_taken_are_left(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sound": ["dull", "crisp", "dull", "crisp"] * 3, "mass": [1.0, 2.0, 1.5, 2.5] * 3})
    model = NaiveBayes(alpha=0).fit(frame, ["good", "bad"] * 6)
    new = pd.DataFrame({
        "sound": ["dull", "never", "dull", None],
        "mass": [1.0, np.inf, 1e200, np.nan],
        "decision": ["mine"] * 4,
    })  # fmt: skip
    new.to_parquet(tmp_path / "new.parquet")
    done = classify_files(model, tmp_path / "new.parquet", tmp_path / "a.parquet")
    answer = pd.read_parquet(done.path)
    expected = model.explain(new[["sound", "mass"]]).status.tolist()
    named = {0: "ok", 1: "impossible", 2: "out of range", 3: "infinite cell"}
    assert answer["status"].tolist() == [named[s] for s in expected] and "infinite cell" in set(answer["status"])
    assert answer["decision"].tolist() == ["mine"] * 4
    bad = answer["status"] != "ok"
    assert answer.loc[bad, ["decision_2", "risk", "gap", "P(good)"]].isna().all(axis=None)
    assert done.undecided == bad.sum() and done.rows == 4


@pytest.mark.slow
def test_discriminants_answer_too(tmp_path: Path) -> None:
    frame = rows(300)
    frame["mass"] = frame["mass"].fillna(0.0)
    model = LinearDiscriminantAnalysis().fit(frame[["mass", "seeds"]], frame["good"])
    done = classify_files(model, written(frame, tmp_path), tmp_path / "a.parquet", keep=["id"])
    p = model.predict_proba(frame[["mass", "seeds"]])
    np.testing.assert_allclose(pd.read_parquet(done.path)[["P(no)", "P(yes)"]], p, rtol=1e-9)


# broken off, and gone on with ---------------------------------------------------------------------------------------


class Ended(BaseException):
    """A run is ended."""


def ended_after(batches: int) -> Any:
    """A `progress` that ends the run once so many batches are done."""
    left = iter(range(batches))
    at = [-1]

    def told(far: Progress) -> None:
        if far.rows_now and far.rows > at[0]:  # it is told while the first is waited for, too
            at[0] = far.rows
            if next(left, None) is None:
                raise Ended

    return told


@pytest.mark.parametrize("suffix", ["parquet", slowly("csv")])
@pytest.mark.parametrize("each", [0.0, slowly(1e9)])
def test_what_is_broken_off_goes_on_to_the_same_file(
    suffix: str, each: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended again and again, whether each batch is a file of its own until then or one is kept at each end."""
    frame, model = rows(300), fitted()
    frame["kind"] = pd.Categorical(frame["sound"].fillna("?"), ["?", "dull", "unseen", "crisp", "浊响"])
    made = written(frame, tmp_path, group=25)
    whole = classify_files(model, made, tmp_path / f"whole.{suffix}", loss=LOSS)
    monkeypatch.setattr(written_answers, "KEPT_EACH", each)
    out, part = tmp_path / f"out.{suffix}", tmp_path / "part"
    asked: dict[str, Any] = {"loss": LOSS, "resume": part, "threads": 1}
    for batches in (0, 1, 3):
        with pytest.raises(Ended):
            classify_files(model, made, out, progress=ended_after(batches), **asked)
        assert not out.exists() and (part / "state").exists()
    (part / "000009.parquet").write_bytes(b"half written")
    seen: list[Progress] = []
    done = classify_files(model, made, out, progress=seen.append, **asked)
    first = next(far for far in seen if far.rows_now)  # it is told while the first is waited for, too
    assert first.rows == 200 and first.rows_now == 25  # the others are not answered again
    assert out.read_bytes() == whole.path.read_bytes()
    assert (done.rows, done.actions, done.undecided) == (whole.rows, whole.actions, whole.undecided)
    assert not part.exists() and not [p for p in tmp_path.iterdir() if p.name.endswith(".part")]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_a_process_that_is_killed_at_any_place_leaves_what_the_next_goes_on_from(suffix: str, tmp_path: Path) -> None:
    """SIGKILL, while batches are written and while the file is put together; the processes are forks of one, which has
    loaded the library."""
    made, model = written(rows(2000), tmp_path, group=100), fitted()
    made[1].replace(tmp_path / "kept")
    pq.write_table(pq.read_table(tmp_path / "kept"), made[1])  # one row group of many batches
    save_model(model, tmp_path / "m.bayes")
    whole = classify_files(model, made, tmp_path / f"whole.{suffix}")
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom bayes_engine import classify_files, load_model\n"
        "from bayes_engine.scale import sources, written\nwritten.KEPT_EACH = 0.0\n"
        "folder, calls = Path(sys.argv[1]), [0]\n"
        "def kill(own):\n    def killed(*a):\n        calls[0] += 1\n        if calls[0] == at:\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n        return own(*a)\n    return killed\n"
        "for kind in written.WRITERS.values():\n    kind.add = kill(kind.add)\n    kind.take_in = kill(kind.take_in)\n"
        "model, made = load_model(folder / 'm.bayes'), sorted(folder.glob('part*.parquet'))\n"
        f"out = folder / 'out.{suffix}'\n"
        "for at in map(int, sys.argv[2:]):\n    child = os.fork()\n    if not child:\n"
        "        classify_files(model, made, out, resume=folder / 'unfinished', threads=1)\n        os._exit(0)\n"
        "    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL and not out.exists()"
    )
    places = ("1", "8", "11") if suffix == "parquet" else ("3", "2")
    subprocess.run([sys.executable, "-c", code, str(tmp_path), *places], cwd=ROOT, check=True, timeout=PATIENCE)
    done = classify_files(model, made, tmp_path / f"out.{suffix}", resume=tmp_path / "unfinished")
    assert done.path.read_bytes() == whole.path.read_bytes()
    assert not (tmp_path / "unfinished").exists()


@pytest.mark.slow
def test_answers_to_another_question_are_not_gone_on_from(tmp_path: Path) -> None:
    made, model, part = written(rows(300), tmp_path), fitted(), tmp_path / "part"
    out = tmp_path / "a.parquet"
    with pytest.raises(Ended):
        classify_files(model, made, out, resume=part, progress=ended_after(4), threads=1)
    others: dict[str, dict[str, Any]] = {
        "loss": {"loss": LOSS},
        "columns": {"keep": []},
        "prior": {"prior_of_use": USE},
    }
    for what, ask in {"model": {}, **others}.items():
        with pytest.raises(StoreError, match=f"with another {what}"):
            classify_files(fitted(n=200) if what == "model" else model, made, out, resume=part, **ask)
    with pytest.raises(StoreError, match="there is no folder"):
        classify_files(model, made, out, resume=tmp_path / "none" / "part")
    kept = made[2].read_bytes()
    rows(300, seed=8).to_parquet(made[2])
    rows(50, seed=8).to_parquet(made[0])
    with pytest.raises(StoreError, match="files that have changed since"):
        classify_files(model, made, out, resume=part)
    made[2].write_bytes(kept)
    (part / "state").write_bytes(b"no state")
    with pytest.raises(StoreError):
        classify_files(model, made, out, resume=part)


# what goes wrong ----------------------------------------------------------------------------------------------------


def refused(error: type[BayesEngineError], model: Any, path: Any, out: Path, **ask: Any) -> str:
    """The sentence; nothing of the answer is there, and what was there before is."""
    out.write_bytes(b"before")
    with pytest.raises(error) as raised:
        classify_files(model, path, out, **ask)
    assert out.read_bytes() == b"before"
    assert not [p for p in out.parent.iterdir() if p.name.endswith(".part")]
    return str(raised.value)


def test_a_schema_that_drifts_is_named_with_its_file_before_a_row_is_read(tmp_path: Path) -> None:
    frame, model, out = rows(300), fitted(), tmp_path / "a.parquet"
    made = written(frame, tmp_path)
    frame.drop(columns="mass").to_parquet(made[1])
    said = refused(TableError, model, made, out)
    assert "column 'mass' is not in 'part1.parquet', and 'part0.parquet' has it" in said
    frame.assign(seeds=frame["seeds"].astype(str)).to_parquet(made[1])
    said = refused(SchemaMismatch, model, made, out)
    assert "'seeds' holds numbers in 'part0.parquet' and strings in 'part1.parquet'" in said
    said = refused(SchemaMismatch, model, made[1], out)
    assert "'seeds' holds strings in 'part1.parquet', and the model was fitted to numbers" in said
    frame.assign(sound=7).to_parquet(made[1])
    assert "'sound' holds numbers in 'part1.parquet', and the model was fitted to strings" in refused(
        SchemaMismatch, model, made[1], out
    )
    frame.assign(id=range(300)).to_parquet(made[1])
    assert "'id' is string in 'part0.parquet' and int64 in 'part1.parquet'" in refused(
        SchemaMismatch, model, made[:2], out
    ).replace("large_string", "string")
    frame.drop(columns="id").to_parquet(made[1])
    assert "no column 'id' in 'part1.parquet'" in refused(TableError, model, made[:2], out)
    assert classify_files(model, made[:2], out, keep=["day"]).rows == 400


def test_a_damaged_row_group_and_a_bad_cell_are_named_with_their_place(tmp_path: Path) -> None:
    frame, model = rows(600), fitted()
    made = written(frame, tmp_path)
    group = pq.ParquetFile(made[1]).metadata.row_group(1)
    data = bytearray(made[1].read_bytes())
    start = group.column(0).dictionary_page_offset or group.column(0).data_page_offset
    data[start : start + 200] = b"\xff" * 200
    made[1].write_bytes(bytes(data))
    said = refused(ReadError, model, made, tmp_path / "a.parquet")
    assert "'part1.parquet', row group 2 of 3: column 'id' cannot be read: " in said
    made[2].write_bytes(made[2].read_bytes()[:-50])
    assert "'part2.parquet' cannot be read as Parquet" in refused(ReadError, model, made, tmp_path / "a.csv")
    frame["mass"] = frame["mass"].astype(object)
    frame.loc[417, "mass"] = "heavy"
    frame.to_csv(tmp_path / "a.csv", index=False)
    said = refused(ReadError, model, tmp_path / "a.csv", tmp_path / "b.csv")
    assert "'a.csv', block 1: column 'mass' should hold numbers, but row 418 holds 'heavy'" in said
    for ask, part in ((tmp_path / "b.xlsx", "is to end in .parquet or .csv"), (made[0], "is one of the files")):
        with pytest.raises(ParameterError, match=part):
            classify_files(model, made[0], ask)
    with pytest.raises(StoreError, match="there is no folder"):
        classify_files(model, made[0], tmp_path / "none" / "a.csv")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_full_disk_leaves_nothing_half_written(suffix: str, tmp_path: Path) -> None:
    """A process that may not write more than 200 kB."""
    written(rows(30000), tmp_path, group=2000)
    save_model(fitted(), tmp_path / "m.bayes")
    code = (
        "import resource, signal, sys\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from bayes_engine import classify_files, load_model\nmodel = load_model(sys.argv[1] + '/m.bayes')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        f"classify_files(model, sys.argv[1], sys.argv[1] + '/a.{suffix}')"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True,
                         text=True, check=False)  # fmt: skip
    last = ran.stderr.strip().splitlines()[-1]
    assert "StoreError" in last and "cannot be written: File too large" in last and "part0.parquet" in last
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.bayes", "part0.parquet", "part1.parquet", "part2.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_disk_that_was_full_and_has_room_again_goes_on(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, model = written(rows(900), tmp_path), fitted()
    whole = classify_files(model, made, tmp_path / f"whole.{suffix}")
    monkeypatch.setattr(written_answers, "KEPT_EACH", 0.0)
    kind, full = written_answers.WRITERS[f".{suffix}"], iter([False] * 5 + [True])
    own = kind.add  # type: ignore[attr-defined]

    def add(self: Any, batch: Any) -> None:
        if next(full, False):
            raise OSError(28, "No space left on device")
        own(self, batch)

    monkeypatch.setattr(kind, "add", add)
    out, part = tmp_path / f"a.{suffix}", tmp_path / "part"
    with pytest.raises(StoreError, match=r"No space left on device, at the rows of 'part\d.parquet', row group or "
                       r"block \d; what was written before is kept"):  # fmt: skip
        classify_files(model, made, out, resume=part, threads=1)
    assert not out.exists()
    classify_files(model, made, out, resume=part)
    assert out.read_bytes() == whole.path.read_bytes()


@pytest.mark.slow
def test_what_is_called_off_or_fails_at_the_end_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, model = written(rows(900), tmp_path), fitted()
    asked = iter([False, False, True])
    with pytest.raises(Cancelled), watching(lambda: next(asked, True), pace=0.0):
        classify_files(model, made, tmp_path / "a.parquet", threads=1)

    def full(self: Any, whole: bool) -> None:
        self.writer.close()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_ParquetAnswer, "end", full)
    with pytest.raises(StoreError, match=r"a.parquet' cannot be written: No space left on device"):
        classify_files(model, made, tmp_path / "a.parquet")
    assert sorted(p.name for p in tmp_path.iterdir()) == [p.name for p in made]


def test_where_an_answer_cannot_be_written_it_is_said_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = pa.schema([("n", pa.int64())])
    for writer in (WRITERS[".csv"], WRITERS[".parquet"]):
        with pytest.raises(StoreError, match="cannot be written: No such file"), writer(tmp_path / "no" / "a", schema):
            pass
    parts = PartsBeside(tmp_path / "parts")
    parts.__enter__()
    (parts.folder / ".begun").touch()  # of a worker that was lost
    monkeypatch.setattr(Path, "rename", _full)
    with pytest.raises(StoreError, match="cannot be written: File exists"):
        parts.__exit__(None, None, None)
    monkeypatch.undo()
    parts = PartsBeside(tmp_path / "parts")
    parts.__enter__()
    pq.write_table(pa.table({"n": [1, 2]}), parts.folder / "part.parquet")
    parts.rows["part.parquet"] = 3
    with pytest.raises(StoreError, match="does not hold the rows that were written"):
        parts.__exit__(None, None, None)
    with pytest.raises(StoreError, match="cannot be written: No such file"), PartsBeside(tmp_path / "no" / "parts"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_named_with_its_rows_and_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, model = rows(90), fitted(n=90)
    made, out, part = written(frame, tmp_path, group=15), tmp_path / "a.csv", tmp_path / "part"
    monkeypatch.setattr(written_answers, "KEPT_EACH", 0.0)
    kind: Any = WRITERS[".csv"]
    own, full = kind.add, iter([False, False, True])

    def add(self: Any, batch: Any) -> None:
        if next(full, False):
            raise OSError(28, "No space left on device")
        own(self, batch)

    monkeypatch.setattr(kind, "add", add)
    with pytest.raises(StoreError, match=r"No space left on device, at the rows of 'part1.parquet', row group or block "
                       r"1; what was written before is kept"):  # fmt: skip
        classify_files(model, made, out, resume=part, loss=LOSS, threads=1)
    assert not out.exists()
    with pytest.raises(StoreError, match="with another columns"):
        classify_files(model, made, out, resume=part, loss=LOSS, keep=["id"])
    with pytest.raises(StoreError, match="there is no folder"):
        classify_files(model, made, out, resume=tmp_path / "none" / "part")
    classify_files(model, made, out, resume=part, loss=LOSS, threads=1)
    full = iter([True])
    with pytest.raises(StoreError, match=r"at the rows of 'part0.parquet', row group or block 1; what was written is"):
        classify_files(model, made, tmp_path / "b.csv", threads=1)
    assert_answered(pd.read_csv(out), frame, model)


def test_a_folder_of_something_else_is_left_as_it_is(tmp_path: Path) -> None:
    made, model, part = written(rows(60), tmp_path), fitted(), tmp_path / "mine"
    part.mkdir()
    (part / "important.txt").write_text("x")
    for folder in (part, tmp_path):
        with pytest.raises(StoreError, match=f"'{folder}' holds other files, such as '[a-z0-9.]+'; give a folder of"):
            classify_files(model, made, tmp_path / "out.csv", resume=folder)
    assert (part / "important.txt").read_text() == "x" and all(path.exists() for path in made)
    for name in (".000000.csv.0123abcd.part", ".state.0123abcd.part"):  # a process was killed before its first state
        (tmp_path / "killed").mkdir(exist_ok=True)
        (tmp_path / "killed" / name).touch()
    assert classify_files(model, made, tmp_path / "out.csv", resume=tmp_path / "killed").rows == 60
    assert not (tmp_path / "killed").exists()


def test_ctrl_c_in_the_middle_of_a_batch_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, model, part = written(rows(60), tmp_path, group=10), fitted(), tmp_path / "part"
    writer = written_answers.WRITERS[".csv"]
    add = writer.add

    def pressed(self: Any, rows: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        add(self, rows)

    monkeypatch.setattr(writer, "add", pressed)
    with pytest.raises(KeyboardInterrupt):
        classify_files(model, made, tmp_path / "out.csv", resume=part, threads=1)
    monkeypatch.undo()
    seen: list[Progress] = []
    done = classify_files(model, made, tmp_path / "out.csv", resume=part, threads=1, progress=seen.append)
    assert done.rows == 60 and seen[-1].rows_now == 50
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_rows_that_are_written_as_text_a_few_at_a_time_are_the_same_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers and truth values that have a missing cell among some of the rows stay such."""
    cells = {"n": [1, 2, 3, None, 5], "t": [True, None, False, True, True], "x": [0.1, None, 1e-300, 2.0, 3.0],
             "s": ["=a", "b", None, "c,d", ""],
             "l": pa.array(["u", "v", "u", None, "u"]).dictionary_encode()}  # fmt: skip
    columns = {name: pa.array(c) if isinstance(c, list) else c for name, c in cells.items()}
    whole = csv_lines(columns)
    monkeypatch.setattr(written_answers, "LINES", 2)
    assert csv_lines(columns) == whole and whole.count(b"\r\n") == 6


def test_answers_that_are_kept_are_refused_where_they_are_of_something_else(tmp_path: Path) -> None:
    schema, made = pa.schema([("n", pa.int64())]), (PartialSource("a.csv", 9, 1),)
    folder, out = tmp_path / "kept", tmp_path / "a.csv"
    head = csv_lines({"n": pa.array([], pa.int64())})

    def kept(sources: Any = made, actions: int = 2, place: Path = folder, asked: str = "loss=0-1") -> KeptAnswers:
        return KeptAnswers(place, out, schema, actions, [asked], sources)

    answers = kept().__enter__()
    answers.add(head + b"1\n2\n", np.array([1, 1, 0]), Reached(0, 1, 2, 2))
    answers.__exit__(Ended, Ended(), None)
    other = (PartialSource("a.csv", 9, 2),)
    for found, said in ((kept(other), "of files that have changed since"), (kept(actions=3), "no unfinished answers"),
                        (kept(place=tmp_path / "none" / "kept"), "there is no folder"),
                        (kept(place=folder / "state"), "cannot be written"),
                        (kept(asked="loss=own"), "with another loss")):  # fmt: skip
        with pytest.raises(StoreError, match=said):
            found.__enter__()
    answers = kept().__enter__()
    answers.add(head + b"3\n", np.array([0, 1, 0]), Reached(0, 2, 1, 1))
    (folder / "000000.csv").unlink()
    with pytest.raises(StoreError, match=r"a.csv' cannot be written: No such file"):
        answers.__exit__(None, None, None)
    assert not out.exists()
    with kept() as answers:  # a part is gone: begun again
        for n, line in enumerate((b"1\n2\n", b"3\n")):
            answers.add(head + line, np.array([1, 1, 0]), Reached(0, n + 1, 2 - n, 2 - n))
            answers._keep()
    assert out.read_bytes() == head + b"1\n2\n3\n" and answers.counts.tolist() == [2, 2, 0] and not folder.exists()


@pytest.mark.parametrize("kept", [True, False])
def test_answers_that_find_no_room_at_their_end_are_said_to_be_kept(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema, place = pa.schema([("n", pa.int64())]), tmp_path / "a.parquet"
    answers = KeptAnswers(tmp_path / "kept", place, schema, 1, ("model=x",), ())

    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    why = r"a\.parquet' cannot be written: No space left on device" + (
        ", at its end; what was written" if kept else "$"
    )
    monkeypatch.setattr(answers, "_together", full)
    if not kept:
        monkeypatch.setattr(written_answers, "save_passes", full)

    def write() -> None:
        with answers:
            answers.add({"n": pa.array([1, 2])}, np.array([2, 0]), Reached(0, 0, 2, 2))

    with pytest.raises(StoreError, match=why):
        write()
    assert not place.exists() and (tmp_path / "kept" / "state").exists() == kept


def _full(*_given: object) -> None:
    raise FileExistsError(17, "File exists")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_nothing_is_left_of_an_answer_whose_last_bytes_find_no_room(suffix: str, tmp_path: Path) -> None:
    """On a full disk what the file holds back cannot be written when it is closed, either."""

    class Full:
        def close(self) -> None:
            raise OSError(28, "No space left on device")

    writer: Any = WRITERS[suffix](tmp_path / f"a{suffix}", pa.schema({"x": pa.float64()})).__enter__()
    assert len(list(tmp_path.iterdir())) == 1
    writer.end(False)
    writer.file.close()
    writer.file, writer.end = Full(), lambda whole: None
    writer.__exit__(OSError, OSError(28), None)
    assert not list(tmp_path.iterdir())
