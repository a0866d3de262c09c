"""`bayes-workbench fit`, `classify` and `evaluate`: the numbers of the library, the files of the app, one sentence and
an exit code for whatever goes wrong. Mostly in the process of the tests, some of it by the real command."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from bayes_engine import (
    TAN,
    BayesianNetworkClassifier,
    EstimationWarning,
    GaussianMixture,
    KDependence,
    LossMatrix,
    NaiveBayes,
    SemiSupervisedNB,
    fit_files,
    held_out_risk,
    load_model,
    save_model,
)
from bayes_engine.errors import StoreError
from bayes_engine.language import current_language, set_language
from bayes_engine.scale import Progress, csv_blocks, scan
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.workbench import command_checks, command_line, launch
from tests.conftest import ROOT

LOSSES = ",yes,no\nask,0.4,0.4\nno,5,0\nyes,0,1\n"
LOSS = LossMatrix(("no", "yes", "ask"), ("no", "yes"), [[0, 5], [1, 0], [0.4, 0.4]])
NAMES = ["sound", "mass", "code"]


def command(*arguments: object, language: str = "C", cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    code = "import sys; sys.argv[0] = 'bayes-workbench'; from bayes_engine.workbench.launch import main; main()"
    environment = {**os.environ, "LC_ALL": "", "LC_MESSAGES": language, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], cwd=cwd, env=environment,
                          capture_output=True, text=True, encoding="utf-8", check=False)  # fmt: skip


def rows(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    good = rng.random(n) < 0.4
    return pd.DataFrame({
        "sound": np.where(rng.random(n) < 0.7, np.where(good, "浊响", "dull"), "crisp"),
        "mass": rng.normal(good * 1.0, 1.0).round(3),
        "code": rng.integers(0, 4, n) + good,
        "farm": rng.integers(0, 60, n),
        "good": np.where(good, "yes", "no"),
    })  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows(3000).to_csv(tmp_path / "a.csv", index=False)
    rows(900, seed=4).to_parquet(tmp_path / "new.parquet", row_group_size=200)
    (tmp_path / "loss.csv").write_text(LOSSES, encoding="utf-8-sig")
    return tmp_path


def here(*arguments: object) -> int:
    """The command in this process."""
    return command_line.run([str(word) for word in arguments])


def test_fit_evaluate_and_classify_follow_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = rows(200)
    frame.to_csv(a := tmp_path / "a.csv", index=False)
    (tmp_path / "loss.csv").write_text(LOSSES, encoding="utf-8-sig")
    by = ("--loss", tmp_path / "loss.csv", "--prior", "no=0.8", "yes=0.2")
    saved, answered = tmp_path / "m.bayes", tmp_path / "answer.csv"
    assert here("fit", a, "--target", "good", "--columns", *NAMES, "--levels", "code", "--out", saved) == 0
    assert "NaiveBayes is fitted to rows of the weight 200" in capsys.readouterr().out
    read = frame.astype({"code": "category"})
    model = NaiveBayes().fit(read[NAMES], read["good"])
    assert here("classify", saved, a, *by, "--out", answered) == 0
    decision = model.with_params(priors={"no": 0.8, "yes": 0.2}).decide(read[NAMES], LOSS)
    assert pd.read_csv(answered)["decision"].tolist() == decision.action.tolist()
    assert here("evaluate", a, "--target", "good", "--model", saved, "--new", *by) == 0
    assert "rows that the model was not fitted to:" in capsys.readouterr().out
    assert here("evaluate", a, "--target", "good", "--columns", *NAMES, "--groups", "farm", "--json") == 0
    found = held_out_risk(NaiveBayes(), a, target="good", columns=NAMES, groups="farm")
    assert json.loads(capsys.readouterr().out)["risk"] == pytest.approx(found.risk, rel=1e-12)
    for wrong, said in (
        (("fit", a, "--target", "nothing", "--out", saved), "no column 'nothing'"),
        (("fit", a, "--target", "good", "--set", "beta=1", "--out", saved), "no parameter of NaiveBayes"),
        (("evaluate", a, "--target", "good", "--prior", "no=2"), "is not CLASS=NUMBER"),
        (("classify", a, a, "--out", answered), "the format is not recognized"),
    ):
        assert here(*wrong) == 1
        assert said in capsys.readouterr().err


def test_a_network_is_searched_for_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = rows(90)[["sound", "code", "good"]]
    frame.to_csv(a := tmp_path / "a.csv", index=False)
    asked = ("fit", a, "--target", "good", "--levels", "code", "--out", tmp_path / "m.bayes", "--model", "network",
             "--set", "structure=exact", "--set", "criterion=bdeu", "--set")  # fmt: skip
    assert here(*asked, "max_parents=1") == 0
    theirs = BayesianNetworkClassifier("exact", "bdeu", max_parents=1)
    theirs.fit(frame.astype({"code": "category"})[["sound", "code"]], frame["good"])
    said = capsys.readouterr().out
    assert theirs.search_ is not None and f"by bdeu, which is {theirs.search_.score:,.10g} nats." in said
    assert all(f"{one} → {other}" in said for one, other in theirs.graph_.arcs)
    for wrong, told in (("criterion=best", "criterion='best' is none of"), ("max_parents=two", "max_parents='two'")):
        assert here(*asked, wrong) == 1
        assert told in capsys.readouterr().err


@pytest.mark.slow
def test_a_network_s_risk_is_that_of_the_library(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each fold's own search; priors given forbid the class parents; a structure that is given is not searched for."""
    new = folder / "new.parquet"
    asked = (new, "--target", "good", "--columns", "sound", "code", "--levels", "code", "--model", "network")
    assert here("evaluate", *asked, "--set", "criterion=k2", "--set", 'priors={"no": 0.7, "yes": 0.3}', "--json") == 0
    told = json.loads(capsys.readouterr().out)
    model = BayesianNetworkClassifier(criterion="k2", priors={"no": 0.7, "yes": 0.3})
    schema = Schema((Variable("code", "categorical"),))
    found = held_out_risk(model, new, target="good", columns=["sound", "code"], schema=schema)
    assert (told["risk"], told["log_loss"], told["passes"]) == (found.risk, found.log_loss, found.passes)
    assert here("fit", *asked, "--out", folder / "m.bayes") == 0
    frame = pd.read_parquet(new)
    theirs = BayesianNetworkClassifier().fit(frame.astype({"code": "category"})[["sound", "code"]], frame["good"])
    assert here("classify", folder / "m.bayes", new, "--out", folder / "answer.csv") == 0
    decided = pd.read_csv(folder / "answer.csv")["decision"].tolist()
    assert decided == theirs.predict(frame[["sound", "code"]]).tolist()
    capsys.readouterr()
    assert here("fit", *asked, "--set", "structure=naive", "--out", folder / "m.bayes") == 0
    said = capsys.readouterr().out
    assert "Arcs (2): good → sound, good → code." in said and "searched" not in said
    assert here("evaluate", new, "--target", "good", "--model", folder / "m.bayes", "--new") == 0


@pytest.mark.slow
def test_the_models_by_em_and_of_more_parents_are_those_of_the_library(folder: Path) -> None:
    """Against the library's own fits; what has no classes is refused in words where classes are asked for."""
    new, saved = folder / "new.parquet", folder / "m.bayes"
    assert here("fit", new, "--target", "good", "--model", "k-db", "--set", "k=2", "--columns", *NAMES,
                "--out", saved) == 0  # fmt: skip
    frame = pd.read_parquet(new)
    features = frame[NAMES]
    theirs = KDependence(2).fit(features, frame["good"])
    np.testing.assert_allclose(load_model(saved).predict_proba(features), theirs.predict_proba(features), rtol=1e-11)
    mixture = ("fit", new, "--model", "mixture", "--columns", "mass", "farm", "--set", "n_components=2")
    assert (
        here(*mixture, "--set", "random_state=0", "--set", "max_iter=9", "--out", saved, "--resume", folder / "p") == 0
    )
    numbers = frame[["mass", "farm"]]
    with pytest.warns(EstimationWarning, match="not converged after 9"):
        of_library = fit_files(GaussianMixture(2, random_state=0, max_iter=9), new, columns=["mass", "farm"])
    np.testing.assert_array_equal(load_model(saved).predict_proba(numbers), of_library.predict_proba(numbers))
    hidden = frame.assign(good=frame["good"].where(np.arange(len(frame)) % 3 == 0))
    hidden.to_parquet(folder / "hidden.parquet")
    assert here("fit", folder / "hidden.parquet", "--target", "good", "--columns", "sound", "mass", "--model",
                "hidden-labels", "--set", "estimator__alpha=0.5", "--out", saved) == 0  # fmt: skip
    X = frame[["sound", "mass"]]
    own = SemiSupervisedNB(NaiveBayes(alpha=0.5)).fit(X, hidden["good"])
    np.testing.assert_allclose(load_model(saved).predict_proba(X), own.predict_proba(X), rtol=1e-6)
    assert here("classify", saved, new, "--out", folder / "answer.csv", "--resume", folder / "kept") == 0
    assert pd.read_csv(folder / "answer.csv")["decision"].tolist() == load_model(saved).predict(X).tolist()


@pytest.mark.slow
def test_a_mixture_classifies_no_rows_and_is_not_judged_by_folds(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new, saved = folder / "new.parquet", folder / "m.bayes"
    assert here("fit", new, "--model", "mixture", "--columns", "mass", "--out", saved) == 0
    assert "GaussianMixture is fitted by EM in" in capsys.readouterr().out
    assert here("classify", saved, new, "--out", folder / "answer.csv") == 1
    assert "does not say which columns it reads" in capsys.readouterr().err
    assert here("evaluate", new, "--target", "good", "--model", "mixture") == 1
    assert "fitted to files by EM" in capsys.readouterr().err


@pytest.mark.slow
def test_evaluate_goes_on_where_it_was_called_off(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [
        "evaluate",
        str(folder / "new.parquet"),
        "--target",
        "good",
        "--columns",
        *NAMES,
        "--json",
        "--threads",
        "1",
    ]
    assert command_line.run(asked) == 0
    whole = capsys.readouterr().out

    def pressed(self: Any, far: Progress) -> None:
        if far.step == 2 and far.rows >= 400:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(command_line._ProgressLine, "__call__", pressed)
        assert command_line.run([*asked, "--resume", str(folder / "part")]) == 130
    assert "is kept in" in capsys.readouterr().err and (folder / "part.scores").exists()
    assert command_line.run([*asked, "--resume", str(folder / "part")]) == 0
    assert capsys.readouterr().out == whole


@pytest.mark.slow
def test_a_model_is_fitted_saved_and_classifies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = command("fit", folder / "a.csv", "--target", "good", "--columns", *NAMES, "--levels", "code",
                  "--model", "tan", "--set", "alpha=0.5", "--out", folder / "m.model.bayes")  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "TAN is fitted to rows of the weight 3,000: 3 columns, and 'good' with the classes no, yes." in ran.stdout
    read = pd.read_csv(folder / "a.csv").astype({"code": "category"})
    expected = TAN(alpha=0.5).fit(read[NAMES], read["good"])
    model = load_model(folder / "m.model.bayes")
    new = pd.read_parquet(folder / "new.parquet")
    np.testing.assert_allclose(model.predict_proba(new[NAMES]), expected.predict_proba(new[NAMES]), rtol=1e-11)
    assert here("classify", folder / "m.model.bayes", folder / "new.parquet", "--loss", folder / "loss.csv",
                "--prior", "no=0.8", "yes=0.2", "--keep", "farm", "--out", folder / "answer.csv") == 0  # fmt: skip
    said = capsys.readouterr()
    assert said.err == ""
    answer = pd.read_csv(folder / "answer.csv")
    decision = model.with_params(priors={"no": 0.8, "yes": 0.2}).decide(new[NAMES], LOSS)
    assert answer["decision"].tolist() == decision.action.tolist() and answer["farm"].tolist() == new["farm"].tolist()
    np.testing.assert_allclose(answer["risk"], decision.risk, rtol=1e-9, atol=1e-12)
    assert said.out.splitlines()[0] == f"900 rows are classified, in '{folder / 'answer.csv'}':"
    counted = dict(line.split() for line in said.out.splitlines()[1:4])
    assert counted == {a: f"{int((answer['decision'] == a).sum()):,}" for a in ("no", "yes", "ask")}


@pytest.mark.slow
def test_risk_is_that_of_the_library(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("evaluate", folder / "a.csv", "--target", "good", "--columns", *NAMES, "--loss", folder / "loss.csv",
             "--groups", "farm", "--folds", "4", "--seed", "3")  # fmt: skip
    assert here(*asked, "--json") == 0
    said = capsys.readouterr()
    assert said.err == ""
    told = json.loads(said.out)
    found = held_out_risk(NaiveBayes(), folder / "a.csv", target="good", columns=NAMES, loss=LOSS, groups="farm",
                          folds=4, seed=3)  # fmt: skip
    for name in ("risk", "accuracy", "log_loss", "brier", "ece", "rows"):
        assert told[name] == pytest.approx(getattr(found, name), rel=1e-12), name
    assert told["scheme"] == "4 folds by a hash of 'farm'" and told["calibration"]["said"]
    ran = command(*asked, language="zh_CN.UTF-8")
    assert "3,000 行，4 折，按“farm”的散列值划分：" in ran.stdout and f"{found.risk:.6g}" in ran.stdout
    frame = rows(3000)
    save_model(NaiveBayes().fit(frame[NAMES], frame["good"]), folder / "m.bayes")
    assert here("evaluate", folder / "new.parquet", "--model", folder / "m.bayes", "--new", "--target", "good") == 0
    assert "900 rows, rows that the model was not fitted to:" in capsys.readouterr().out


@pytest.mark.slow
def test_help_says_how_in_both_languages(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    ran = command("--help")
    assert "bayes-workbench fit | classify | evaluate" in ran.stdout
    monkeypatch.setattr(launch, "one_heap", lambda: None)  # this process has threads already
    monkeypatch.setenv("LC_ALL", "")
    for language, name, usage, files in (
        ("C", "fit", "usage: bayes-workbench fit", "Parquet or CSV files"),
        ("zh_CN.UTF-8", "classify", "用法：bayes-workbench classify", "Parquet 或 CSV 文件"),
    ):
        monkeypatch.setenv("LC_MESSAGES", language)
        monkeypatch.setattr(sys, "argv", ["bayes-workbench", name, "--help"])
        with pytest.raises(SystemExit, match="0"):
            launch.main()
        said = capsys.readouterr().out
        assert said.startswith(usage) and files in said


WRONG = [
    ("fit {a} --target nothing --out {f}/m.bayes", 1, "there is no column 'nothing' in 'a.csv'"),
    ("fit {f}/none.csv --target good --out {f}/m.bayes", 1, "there is no file"),
    ("fit {a} --out {f}/m.bayes", 2, "the following arguments are required: --target"),
    ("fit {a} --target good --model forest --out {f}/m.bayes", 1, "'forest' is no model and no file"),
    ("fit {a} --target good --set beta=1 --out {f}/m.bayes", 1, "--set beta=1 names no parameter of NaiveBayes"),
    ("fit {a} --target good --out {f}/none/m.bayes", 1, "there is no folder"),
    ("fit {a} --target good --columns mass --levels code --out {f}/m", 1, "--levels names 'code'"),
    ("fit {a} --target good --levels nothing --out {f}/m", 1, "--levels names 'nothing'"),
    ("fit {a} --target good --set discretize=widely --out {f}/m", 1, "widely"),
    ("classify {a} {a} --out {f}/b.csv", 1, "the format is not recognized"),
    ("classify {f}/none.bayes {a} --out {f}/b.csv", 1, "none.bayes"),
    ("evaluate {a} --target good --new", 1, "--new scores a saved model"),
    ("evaluate {a} --target good --loss {f}/wrong.csv", 1, "perhaps"),
    ("evaluate {a} --target good --loss {f}/none.csv", 1, "No such file"),
    ("evaluate {a} --target good --loss {f}/latin.csv", 1, "is no text in UTF-8"),
    ("evaluate {a} --target good --loss {f}/large.csv", 1, "is too large for a matrix of losses"),
    ("evaluate {a} --target good --prior no=2", 1, "--prior no=2 is not CLASS=NUMBER"),
    ("evaluate {a} --target good --prior no=half", 1, "--prior no=half is not CLASS=NUMBER"),
    ("evaluate {a} --target good --folds many", 2, "invalid int value"),
    ("evaluate {a} --target good --columns mass farm --groups none", 1, "no column 'none'"),
    ("evaluate {a} --target good --delimiter ab", 2, "argument --delimiter: 'ab' is not one character"),
    ("evaluate {a} --target good --delimiter ；", 2, "'；' is not one character, such as ; or \\t for a tab"),
    ("evaluate {a}", 2, "the following arguments are required: --target"),
    ("fit {a} --target good --columns mass mass --out {f}/m", 1, "--columns names a column twice"),
    ("evaluate {a} --target good --model hidden-labels", 1, "fit it by fit, and judge"),
    ("evaluate {a} --target good --columns mass good", 1, "--columns names 'good' as a feature, and --target names it"),
    ("fit {a} --target good --columns mass code --weight code --out {f}/m", 1, "and --weight names it, too"),
    ("evaluate {f}/none.csv --target good --prior no=0.5", 1, "--prior sums to 0.5, not 1; name all classes"),
    ("evaluate {f}/none.csv --target good --prior no=0.5 no=0.5", 1, "--prior names the class 'no' twice"),
    ("evaluate {a} --target good --prior no=1", 1, "--prior names the classes no, and those of the target are no, yes"),
    ("fit {a} {f}/b.parquet --target good --out {f}/m", 1, "b.parquet' is Parquet and '"),
    ("fit {a} --target good --out {f}/m --resume {f}/wrong.csv", 1, "wrong.csv' holds no unfinished count: "),
    ("evaluate {a} --target good --resume {f}/wrong.csv", 1, "wrong.csv' holds no unfinished count: "),
]


def told_wrong(folder: Path, arguments: str) -> list[str]:
    (folder / "wrong.csv").write_text(",no,perhaps\nno,0,1\nperhaps,1,0\n", encoding="utf-8")
    (folder / "latin.csv").write_text(",no,yes\nno,0,é\n", encoding="latin-1")
    (folder / "large.csv").write_bytes(b"0" * (command_line.LARGEST_LOSSES + 1))
    (folder / "b.parquet").write_bytes(b"PAR1")
    return [word.format(a=folder / "a.csv", f=folder) for word in arguments.split()]


@pytest.mark.slow
def test_what_goes_wrong_is_one_sentence_and_a_code(folder: Path) -> None:
    """By the real command; the others in this process (`test_each_of_it_is_said_in_one_sentence`)."""
    arguments, code, said = WRONG[0]
    asked = told_wrong(folder, arguments)
    before = sorted(folder.iterdir())
    ran = command(*asked)
    assert ran.returncode == code and ran.stdout == ""
    [line] = ran.stderr.splitlines()
    assert said in line
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_what_is_wrong_with_files_is_said_with_file_column_and_row_group(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged row group, a lost column, two types of a column, a file that was cut off; nothing is left of it."""
    parts = folder / "parts"
    parts.mkdir()
    frame = rows(900)
    for i in range(3):
        frame[300 * i : 300 * i + 300].to_parquet(parts / f"part{i}.parquet", row_group_size=100)
    saved, answer, first = folder / "m.bayes", folder / "answer.csv", parts / "part1.parquet"
    assert here("fit", parts, "--target", "good", "--out", saved) == 0
    whole = bytearray(first.read_bytes())
    column = pq.ParquetFile(first).metadata.row_group(1).column(1)
    start = column.dictionary_page_offset or column.data_page_offset
    damaged = whole[:start] + b"\xff" * 60 + whole[start + 60 :]
    strings = io.BytesIO()
    frame[300:600].assign(code=lambda f: f["code"].astype(str)).to_parquet(strings)
    less = io.BytesIO()
    frame[300:600].drop(columns="code").to_parquet(less)
    capsys.readouterr()
    for content, said in (
        (damaged, "'part1.parquet', row group 2 of 3: column 'mass' cannot be read"),
        (strings.getvalue(), "column 'code' holds numbers in 'part0.parquet' and strings in 'part1.parquet'"),
        (less.getvalue(), "column 'code' is not in 'part1.parquet'"),
        (whole[:-90], "'part1.parquet' cannot be read as Parquet"),
    ):
        first.write_bytes(content)
        before = sorted(folder.rglob("*"))
        commands: tuple[tuple[object, ...], ...] = (
            ("fit", parts, "--target", "good", "--out", folder / "n.bayes"),
            ("classify", saved, parts, "--out", answer),
            ("evaluate", parts, "--target", "good"),
        )
        for asked in commands:
            assert here(*asked) == 1
            told = capsys.readouterr()
            assert said in told.err and told.out == "" and told.err.count("\n") == 1, told.err
            assert sorted(folder.rglob("*")) == before


@pytest.mark.slow
def test_on_a_full_disk_it_is_said_where_and_goes_on_once_there_is_room(folder: Path) -> None:
    """A process that may write no file beyond 60 kB."""
    parts, saved, answer = folder / "parts", folder / "m.bayes", folder / "answer.csv"
    parts.mkdir()
    rows(9000).to_parquet(parts / "part0.parquet", row_group_size=300)
    assert here("fit", parts, "--target", "good", "--out", saved) == 0
    full = ("import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
            "resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000)); "
            "from bayes_engine.scale import written; written.KEPT_EACH = 0.0; "
            "from bayes_engine.workbench.command_line import run; "
            "assert run(sys.argv[1:]) == 1; sys.exit(run([*sys.argv[1:], '--resume', 'kept']))")  # fmt: skip
    asked = ["classify", saved, parts, "--out", answer]
    ran = subprocess.run([sys.executable, "-c", full, *map(str, asked)], cwd=folder, capture_output=True, text=True,
                         env={**os.environ, "LC_ALL": "C"}, check=False)  # fmt: skip
    assert ran.returncode == 1 and not answer.exists()
    without, resumable = ran.stderr.splitlines()
    assert "cannot be written: File too large" in without and "'part0.parquet', row group or block" in without
    assert "cannot be written: File too large" in resumable
    assert list((folder / "kept").glob("*.csv"))
    assert here("classify", saved, parts, "--out", answer, "--resume", folder / "kept") == 0
    assert here("classify", saved, parts, "--out", folder / "whole.csv") == 0
    assert answer.read_bytes() == (folder / "whole.csv").read_bytes() and not (folder / "kept").exists()


def test_a_full_disk_and_two_types_of_a_column_are_said_with_their_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was kept before stays and is gone on with; a cell of another type is named with column and block."""
    frame = rows(90)[["sound", "code", "good"]]
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=30)
    frame.assign(code=frame["code"].astype(str).where(np.arange(90) != 80, "many")).to_csv(
        tmp_path / "b.csv", index=False
    )
    asked = ("fit", tmp_path / "a.parquet", "--target", "good", "--threads", 1, "--resume", kept := tmp_path / "kept")
    full = StoreError("'{path}' cannot be written: {reason}", path="kept", reason="No space left on device")

    def refuse(*_words: object) -> None:
        raise full

    for before in ("nothing is kept yet: make room", "what was kept before stays, and the same again goes on"):
        with monkeypatch.context() as patched:
            patched.setattr(scan, "save_partial", refuse)
            assert here(*asked, "--out", tmp_path / "m.bayes") == 1
        said = capsys.readouterr().err
        assert f"'{kept}' cannot be written: No space left on device, after 90 rows, at the end of 'a.parquet'" in said
        assert before in said and said.count("\n") == 1 and not (tmp_path / "m.bayes").exists()
        if not kept.exists():
            assert here(*asked, "--out", tmp_path / "none" / "m.bayes") == 1  # not begun
            with monkeypatch.context() as patched:
                patched.setattr(command_line, "save_model", refuse)
                assert here(*asked, "--out", tmp_path / "m.bayes") == 1
            assert f"what was counted is kept in '{kept}': the same command goes on" in capsys.readouterr().err
    assert here(*asked, "--out", tmp_path / "m.bayes") == 0
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", 500)
    assert here("fit", tmp_path / "b.csv", "--target", "good", "--out", tmp_path / "n.bayes") == 1
    assert "column 'code' holds 'many', which is not of the type that the first block" in capsys.readouterr().err


def test_each_of_it_is_said_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of it, in this process and on few rows."""
    rows(60).to_csv(tmp_path / "a.csv", index=False)
    for arguments, code, said in WRONG:
        asked = told_wrong(tmp_path, arguments)
        before = sorted(tmp_path.iterdir())
        if code == command_checks.WRONG:
            with pytest.raises(SystemExit, match="2"):
                here(*asked)
        else:
            assert here(*asked) == code
        told = capsys.readouterr()
        assert said in told.err and told.err.count("\n") == 1 and not told.out, arguments
        assert sorted(tmp_path.iterdir()) == before


def test_no_file_that_is_read_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Named anew, by a link of either sort, or in a folder; nor is what is counted the place of the model."""
    (tmp_path / "data").mkdir()
    rows(60).to_csv(a := tmp_path / "data" / "a.csv", index=False)
    (by_name := tmp_path / "soft.csv").symlink_to(a)
    (by_content := tmp_path / "hard.csv").hardlink_to(a)
    (losses := tmp_path / "loss.csv").write_text(LOSSES, encoding="utf-8")
    saved, part = tmp_path / "m.bayes", tmp_path / "part"
    assert here("fit", a, "--target", "good", "--out", saved) == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    capsys.readouterr()
    for asked, said in (
        (("fit", a, "--target", "good", "--out", a), f"--out '{a}' is one of the files that are read"),
        (("fit", a, "--target", "good", "--out", by_name), f"--out '{by_name}' is one of the files"),
        (("fit", a.parent, "--target", "good", "--out", by_content), f"--out '{by_content}' is one of the files"),
        (("fit", a, "--target", "good", "--out", part, "--resume", part), "--out and --resume are one file"),
        (("fit", a, "--target", "good", "--out", part, "--resume", a), f"--resume '{a}' is one of the files"),
        (("evaluate", a, "--target", "good", "--resume", by_name), f"--resume '{by_name}' is one of the files"),
        (("evaluate", a, "--new", "--model", saved, "--resume", saved), f"--resume '{saved}' is one of the files"),
        (("classify", saved, a, "--loss", losses, "--out", losses), f"--out '{losses}' is one of the files"),
    ):
        assert here(*asked) == 1
        assert said in capsys.readouterr().err
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert here("fit", a, "--target", "good", "--model", saved, "--out", saved) == 0  # a model fitted anew


def test_losses_of_classes_that_are_numbers_have_their_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line of names alone, that of pandas, and a blank line are the matrix with both, and no row of losses."""
    rows(60).assign(good=lambda f: (f["good"] == "yes").astype(int)).to_csv(a := tmp_path / "a.csv", index=False)
    told = []
    for text in (",0,1\n0,0,5\n1,1,0\n", "0,1\n0,5\n1,0\n", "decision,0,1\n\n0,0,5\n1,1,0\n"):
        (tmp_path / "loss.csv").write_text(text, encoding="utf-8")
        assert here("evaluate", a, "--target", "good", "--loss", tmp_path / "loss.csv", "--json") == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0]["actions"] == ["0", "1"] and told[0] == told[1] == told[2]


def test_what_a_saved_model_is_not_asked_is_refused_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows(60).to_csv(a := tmp_path / "a.csv", index=False)
    save_model(NaiveBayes().fit(rows(60)[["mass"]], rows(60)["good"]), tmp_path / "m.bayes")
    asked = ("evaluate", a, "--target", "good", "--model", tmp_path / "m.bayes", "--new")
    for option, value in (("set", "nonsense=5"), ("columns", "zzz"), ("levels", "code"), ("folds", -7), ("seed", 0)):
        assert here(*asked, f"--{option}", value) == 1
        assert f"--{option} has no meaning with --new" in capsys.readouterr().err
    assert here(*asked, "--groups", "farm") == 0


def test_the_help_offers_what_is_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model by EM is fitted, and not judged by folds; a mixture classifies nothing."""
    for name, offered in (("fit", True), ("evaluate", False)):
        with pytest.raises(SystemExit, match="0"):
            here(name, "--help")
        told = capsys.readouterr().out
        assert "network" in told and ("mixture" in told, "hidden-labels" in told) == (offered, offered)
    assert here("evaluate", tmp_path, "--target", "good", "--model", "forest") == 1
    assert "mixture" not in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        here("classify", "--help")
    assert "not a mixture" in " ".join(capsys.readouterr().out.split())


def test_the_same_command_draws_the_same_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By a seed that the help names, of a saved model without one, too; another one is taken where it is given."""
    (frame := rows(60)).to_csv(a := tmp_path / "a.csv", index=False)
    saved, without = tmp_path / "m.bayes", tmp_path / "without.bayes"
    save_model(GaussianMixture(2, init="random").fit(frame[["mass", "farm"]]), without)
    asked = ("fit", a, "--columns", "mass", "farm", "--set", "max_iter=2", "--out", saved, "--model")
    for model, seed, more in (("mixture", 0, ()), (without, 0, ()), (without, 7, ("--set", "random_state=7"))):
        assert here(*asked, model, *more) == 0
        assert load_model(saved).random_state == seed
    capsys.readouterr()
    with pytest.raises(SystemExit, match="0"):
        here("fit", "--help")
    assert "random_state=1 draws the random starts of EM anew (0)" in capsys.readouterr().out


def test_a_tab_may_be_written_out(tmp_path: Path) -> None:
    rows(60).to_csv(a := tmp_path / "a.csv", index=False, sep="\t")
    assert here("fit", a, "--target", "good", "--delimiter", "\\t", "--out", tmp_path / "m.bayes") == 0
    assert load_model(tmp_path / "m.bayes").schema_.names == ("sound", "mass", "code", "farm")


def test_a_command_that_is_written_wrongly_is_told_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    """What argparse says, too."""
    before = current_language()
    set_language("zh")
    try:
        for asked, said in (
            (("evaluate", "a.csv", "--forest"), "无法识别的参数：--forest"),
            (("fit",), "缺少必需的参数：FILE, --out"),
            (("evaluate", "a.csv", "--target"), "参数 --target：须有一个值"),
            (("evaluate", "a.csv", "--columns"), "参数 --columns：至少须有一个值"),
            (("evaluate", "a.csv", "--folds", "many"), "参数 --folds：'many' 不是整数"),
            (("evaluate", "a.csv", "--json=1"), "参数 --json：不接受值 '1'"),
            (("evaluate", "a.csv", "--delimiter", "ab"), "参数 --delimiter：“ab”不是单个字符"),
        ):
            with pytest.raises(SystemExit, match="2"):
                here(*asked)
            assert said in capsys.readouterr().err
    finally:
        set_language(before)


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., bool]]:
    """Whether the command in this process ends as it is to where nobody reads this stream of it."""
    made = []

    def ends(name: str, *asked: object) -> bool:
        reading, writing = os.pipe()
        os.close(reading)
        made.append(stream := os.fdopen(writing, "w", encoding="utf-8"))
        monkeypatch.setattr(sys, name, stream)
        return launch.unless_unread(lambda: here(*asked)) == launch.UNREAD

    yield ends
    for stream in made:
        stream.close()  # raises where what it holds back has found no place


def test_a_pipe_that_is_closed_ends_it_without_a_word(
    tmp_path: Path, unread: Callable[..., bool], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `| head` closes it, at the help, and `2>&1 | head` at the progress; what was counted then is kept."""
    assert unread("stdout", "evaluate", "--help")
    assert capsys.readouterr() == ("", "")
    rows(60).to_csv(a := tmp_path / "a.csv", index=False)
    monkeypatch.setattr(command_line, "EACH", 0.0)
    fit = ("fit", a, "--target", "good", "--columns", "sound", "--out", tmp_path / "m.bayes")
    assert unread("stderr", *fit, "--resume", tmp_path / "kept")
    assert (tmp_path / "kept").exists() and not (tmp_path / "m.bayes").exists()


@pytest.mark.slow
def test_what_is_asked_for_is_done_before_its_answer_finds_no_reader(
    folder: Path, unread: Callable[..., bool], capsys: pytest.CaptureFixture[str]
) -> None:
    a, saved = folder / "a.csv", folder / "m.bayes"
    learnt = (a, "--target", "good", "--columns", *NAMES)
    assert unread("stdout", "fit", *learnt, "--out", saved)
    assert unread("stdout", "classify", saved, a, "--out", folder / "b.csv")
    assert unread("stdout", "evaluate", *learnt, "--json")
    assert len(pd.read_csv(folder / "b.csv")) == 3000 and capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["--help", "evaluate {a} --target good"])
def test_a_command_whose_reader_has_gone_says_nothing(asked: str, folder: Path) -> None:
    """The real command at a real pipe that is closed before it begins."""
    code = "import sys; sys.argv[0] = 'bayes-workbench'; from bayes_engine.workbench.launch import main; main()"
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run([sys.executable, "-c", code, *asked.format(a=folder / "a.csv").split()], cwd=ROOT,
                         stdout=writing, stderr=subprocess.PIPE, check=False)  # fmt: skip
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_progress_goes_to_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    monkeypatch.setattr(command_line, "EACH", 0.0)
    say = command_line._ProgressLine(False)
    say(Progress(500, 1000, 0.5, 2.0, 500, 0.5, 1, 3))
    say(Progress(500, None, None, 2.0, 500, 0.0))
    command_line._ProgressLine(True)(Progress(500, 1000, 0.5, 2.0, 500, 0.5))
    assert told.getvalue().splitlines() == [
        "pass 1 of 3: 500 rows, 250 a second, 50 % done, 2 s left",
        "pass 1 of 1: 500 rows, 250 a second",
    ]


@pytest.mark.slow
def test_it_is_called_off_and_taken_up_again(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Ctrl+C in the second of two passes."""

    def pressed(self: Any, far: Progress) -> None:
        if far.step == 2 and far.rows:
            raise KeyboardInterrupt

    asked = ["fit", str(folder / "new.parquet"), "--target", "good", "--model", "tan", "--out", str(folder / "m.bayes"),
             "--resume", str(folder / "part"), "--columns", *NAMES]  # fmt: skip
    with monkeypatch.context() as patched:
        patched.setattr(command_line._ProgressLine, "__call__", pressed)
        assert command_line.run([*asked, "--threads", "1"]) == 130
    said = capsys.readouterr().err
    assert said == f"Called off. What was done is kept in '{folder / 'part'}': the same command goes on from there.\n"
    assert not (folder / "m.bayes").exists() and (folder / "part").exists() and (folder / "part.cuts").exists()
    wants, counted = list[str](), scan.counted

    def seen(block: Any, plan: Any, stop: Any) -> Any:
        wants.append(plan.want)
        return counted(block, plan, stop)

    monkeypatch.setattr(scan, "counted", seen)
    assert command_line.run(asked) == 0
    assert set(wants) == {"pairs"}, "the first pass is read again"
    frame = pd.read_parquet(folder / "new.parquet")
    expected = TAN().fit(frame[NAMES], frame["good"])
    ours = load_model(folder / "m.bayes").predict_proba(frame[NAMES])
    np.testing.assert_allclose(ours, expected.predict_proba(frame[NAMES]), rtol=1e-11)
