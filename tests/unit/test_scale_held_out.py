"""Risk on rows of files held out is that of a table in memory on the same folds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    FisherDiscriminant,
    GaussianMixture,
    KDependence,
    LinearDiscriminantAnalysis,
    LossMatrix,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Schema,
    SemiSupervisedNB,
    Variable,
    evaluate_files,
    fit_files,
    held_out_risk,
    save_model,
)
from bayes_engine.decision.compare import score
from bayes_engine.decision.curves import calibration
from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.held_out import HeldOut, held_out
from bayes_engine.errors import ParameterError, ReadError, SchemaMismatch, StoreError, TableError, listen
from bayes_engine.progress import Cancelled, watching
from bayes_engine.scale import Progress, RiskInFiles, csv_blocks, sources
from bayes_engine.scale import score as score_sums
from bayes_engine.scale.folds import folds_of
from bayes_engine.scale.held_out import Division
from bayes_engine.scale.plan import CountRequest, planned
from bayes_engine.scale.sources import opened
from bayes_engine.scale.stream import pieces
from tests.conftest import ROOT, slowly

CLASSES = ("no", "perhaps", "yes")
LOSS = LossMatrix((*CLASSES, "ask"), CLASSES, [[0, 2, 9], [1, 0, 4], [5, 1, 0], [1.5, 1.5, 1.5]])


def rows(n: int, seed: int = 0) -> pd.DataFrame:
    """Levels, numbers, truth values and missing cells that say something of the class; groups and weights."""
    rng = np.random.default_rng(seed)
    good = rng.choice(CLASSES, n, p=[0.5, 0.2, 0.3])
    at = np.array([CLASSES.index(c) for c in good])
    frame = pd.DataFrame({
        "sound": np.where(rng.random(n) < 0.6, np.array(["dull", "crisp", "浊响"])[at], "dull"),
        "ripe": rng.random(n) < 0.2 + 0.3 * at,
        "mass": rng.normal(at, 1.0).round(2) + 100,
        "size": rng.normal(at * 0.7, 1.0).round(2),
        "good": good,
        "times": rng.integers(0, 4, n),
        "farm": rng.integers(0, max(n // 8, 3), n),
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "sound"] = None
    frame.loc[rng.random(n) < 0.1, "mass"] = np.nan
    return frame


def written(frame: pd.DataFrame, folder: Path, group: int = 90) -> list[Path]:
    made = []
    for i, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        made.append(folder / f"part{i}.parquet")
        frame.iloc[part].to_parquet(made[-1], row_group_size=group)
    return made


def fold_by_row(made: Any, groups: str | None = None, folds: int = 5, seed: int = 0) -> np.ndarray:
    source = opened(made)
    plan = planned(source, CountRequest("good", None, ["ripe"], None, "columns", () if groups is None else (groups,)))
    division = Division(folds, groups, seed)
    return np.concatenate([folds_of(division.hashes(piece), folds) for piece in pieces(source, plan)])


def in_memory(model: Any, frame: pd.DataFrame, names: list[str], fold: Any, weight: Any, groups: Any) -> HeldOut:
    fitted = model.fit(frame[names], frame["good"], **({} if weight is None else {"sample_weight": weight}))
    return held_out(fitted, frame[names], frame["good"], folds=fold, groups=groups, sample_weight=weight)


def assert_alike(found: RiskInFiles, held: HeldOut, loss: Any = LOSS, use: Any = None) -> None:
    """Every number of the sums is that of the rows."""
    report = estimated_risk(held, loss, prior_of_use=use)
    for name in ("risk", "cost", "confusion", "accuracy", "undecided_cost"):
        np.testing.assert_allclose(getattr(found, name), getattr(report, name), rtol=1e-10, atol=1e-12, err_msg=name)
    assert found.undecided == report.undecided
    drawn_alike = held.groups is None or use is None  # else sums of a group differ in their last bit, and so do draws
    np.testing.assert_allclose(found.interval, report.interval, rtol=1e-9 if drawn_alike else 0.02)
    scores = score(held, use)
    assert found.log_loss == pytest.approx(scores["log_loss"], rel=1e-10)
    assert found.brier == pytest.approx(scores["brier"], rel=1e-10)
    assert found.ece == pytest.approx(scores["ece"], rel=1e-9)
    for label in (None, *held.classes):
        theirs = calibration(held, label, equal="width", bins=10, prior_of_use=use)
        np.testing.assert_allclose(found.calibration(label), theirs, rtol=1e-9, atol=1e-12)


def test_risk_by_folds_of_a_file_is_that_of_the_table_on_the_same_folds(tmp_path: Path) -> None:
    frame = rows(240)
    made = written(frame, tmp_path)
    names = ["sound", "ripe", "mass"]
    found = held_out_risk(NaiveBayes(), made, target="good", loss=LOSS, columns=names, weight="times", folds=3)
    fold = fold_by_row(made, folds=3)
    assert found.fold_rows == tuple(np.bincount(fold)) and found.passes == 2
    assert_alike(found, in_memory(NaiveBayes(), frame, names, fold, frame["times"].to_numpy(float), None))


@pytest.mark.parametrize("model", [KDependence(2), SPODE("loo")], ids=["k-DB", "SPODE"])
def test_the_structure_of_each_fold_is_that_of_the_others(model: Any, tmp_path: Path) -> None:
    frame = rows(201)
    frame["size"] = pd.cut(frame["size"], 3, labels=["low", "mid", "high"]).astype(str)
    made, names = written(frame, tmp_path), ["sound", "ripe", "size"]
    found = held_out_risk(model, made, target="good", loss=LOSS, columns=names, folds=2, threads=1)
    fold = fold_by_row(made, folds=2)
    assert_alike(found, in_memory(model, frame, names, fold, None, None))


def test_what_gives_no_probability_or_has_no_row_is_not_judged(tmp_path: Path) -> None:
    frame = rows(60)
    made = written(frame, tmp_path)
    with pytest.raises(ParameterError, match="gives no probabilities, so its decisions have no risk"):
        held_out_risk(FisherDiscriminant(), made, target="good", columns=["size"])
    with pytest.raises(ParameterError, match="LogisticRegression does not say which columns it reads"):
        evaluate_files(LogisticRegression().fit(frame[["size"]], frame["good"]), made, target="good")
    model = NaiveBayes().fit(frame[ALL], frame["good"])
    frame.iloc[:0].to_parquet(tmp_path / "none.parquet")
    with pytest.raises(TableError, match="there are no rows to count: the files are empty"):
        evaluate_files(model, tmp_path / "none.parquet", target="good")


ALL = ["sound", "ripe", "mass", "size"]
USE = {"no": 0.7, "perhaps": 0.1, "yes": 0.2}
KINDS: list[tuple[Any, list[str], Any, str | None]] = [
    (NaiveBayes(alpha=0.5, missing="category"), ALL, USE, None),
    (NaiveBayes(discretize="mdlp"), ALL, None, "farm"),
    (TAN(), ALL, USE, None),
    (TAN(discretize=None), ALL, None, "farm"),
    (TAN(discretize="quantile", bins=4), ALL, None, None),
    (AODE(), ALL, None, None),
    (SPODE("sound"), ALL, None, None),
    (SPODE(), ALL, None, None),
    (KDependence(1), ALL, None, "farm"),
    (LinearDiscriminantAnalysis(), ["size", "ripe2"], None, None),
    (QuadraticDiscriminantAnalysis(), ["size", "ripe2"], USE, "farm"),
    (LinearDiscriminantAnalysis(shrinkage="auto"), ["size", "ripe2"], None, "farm"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "names", "use", "groups", "weighted"),
    [(*kind, i % 2 == 0) for i, kind in enumerate(KINDS)],
    ids=lambda v: type(v).__name__,
)
def test_every_model_is_judged_as_in_memory(
    model: Any, names: list[str], use: Any, groups: str | None, weighted: bool, tmp_path: Path
) -> None:
    """Structure and cut points anew in each fold; groups together; a prior of use; weights of 0 too."""
    frame = rows(1500, seed=3)
    frame["ripe2"] = frame["ripe"] * 1.0 + frame["size"].abs()
    made = written(frame, tmp_path)
    weighted = weighted and not isinstance(model, LinearDiscriminantAnalysis)
    weight = frame["times"].to_numpy(dtype=float) if weighted else None
    seen: list[Progress] = []
    found = held_out_risk(
        model, made, target="good", loss=LOSS, columns=names, weight="times" if weighted else None, groups=groups,
        prior_of_use=use, progress=seen.append, threads=2,
    )  # fmt: skip
    held = in_memory(
        type(model)(**model.get_params()), frame, names, fold_by_row(made, groups), weight,
        None if groups is None else frame[groups],
    )  # fmt: skip
    assert_alike(found, held, use=use)
    more = (getattr(model, "discretize", None) is not None) + (getattr(model, "super_parent", None) == "loo")
    more += getattr(model, "shrinkage", None) == "auto"
    assert found.passes == 2 + more == seen[-1].steps == seen[-1].step and seen[-1].share == 1.0
    again = held_out_risk(
        model, made, target="good", loss=LOSS, columns=names, weight="times" if weighted else None, groups=groups,
        prior_of_use=use, threads=1,
    )  # fmt: skip
    assert (again.risk, again.log_loss, again.interval) == (found.risk, found.log_loss, found.interval)


@pytest.mark.slow
def test_copies_of_a_row_do_not_share_a_fold_and_rows_of_a_group_do(tmp_path: Path) -> None:
    frame = pd.concat([rows(40)] * 30, ignore_index=True)
    made = written(frame, tmp_path)
    fold = fold_by_row(made)
    assert all(len(np.unique(fold[i::40])) > 1 for i in range(40))
    for groups in ("farm", "sound"):
        fold = fold_by_row(made, groups)
        assert (frame.assign(fold=fold).groupby(groups, dropna=False)["fold"].nunique() == 1).all()
    assert np.bincount(fold_by_row(made, folds=4)).min() > 200
    assert (fold_by_row(made) != fold_by_row(made, seed=1)).any()
    parts = [fold_by_row(path) for path in made]
    np.testing.assert_array_equal(np.concatenate(parts), fold_by_row(made))  # whatever files stand beside it
    (tmp_path / "one").mkdir()
    for i, cells in enumerate(([3, 1], [1.0, 3.0], [1, None])):
        pd.DataFrame({"farm": cells, "ripe": True, "good": "no"}).to_parquet(tmp_path / "one" / f"{i}.parquet")
    a, b, c, d, e, none = fold_by_row(tmp_path / "one", "farm", folds=997)
    assert (a, b) == (d, c) and e == b and none not in (a, b)


@pytest.mark.slow
def test_csv_has_the_folds_of_its_rows_whatever_the_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    frame = rows(3000)
    path = tmp_path / "melons.csv"
    frame.to_csv(path, index=False)
    found = held_out_risk(TAN(), path, target="good", columns=ALL, loss=LOSS)
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", 4096)
    again = held_out_risk(TAN(), path, target="good", columns=ALL, loss=LOSS)
    assert found.fold_rows == again.fold_rows
    assert again.risk == pytest.approx(found.risk, rel=1e-12)
    held = in_memory(TAN(), pd.read_csv(path), ALL, fold_by_row(path), None, None)
    assert_alike(found, held)


@pytest.mark.slow
def test_an_interval_of_too_many_weights_is_by_variance(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    frame = rows(4000)
    frame["times"] = np.random.default_rng(2).random(len(frame))
    made = written(frame, tmp_path, group=500)
    found = held_out_risk(NaiveBayes(), made, target="good", loss=LOSS, columns=ALL, weight="times")
    held = in_memory(NaiveBayes(), frame, ALL, fold_by_row(made), frame["times"].to_numpy(), None)
    report = estimated_risk(held, LOSS)
    assert found.risk == pytest.approx(report.risk, rel=1e-9)
    np.testing.assert_allclose(found.interval, report.interval, rtol=0.01)
    monkeypatch.setattr(score_sums, "MOST_GROUPS", 20)
    with pytest.raises(TableError, match="more than 20 groups"):
        held_out_risk(NaiveBayes(), made, target="good", columns=ALL, groups="farm")


@pytest.mark.slow
def test_a_level_of_one_fold_alone_is_in_every_models_domain(tmp_path: Path) -> None:
    frame = rows(400)
    frame.loc[7, "sound"] = "never again"
    frame.loc[9, "good"] = "once"
    made = written(frame, tmp_path)
    with listen() as notes:  # a fold's model has no row of a class
        found = held_out_risk(NaiveBayes(priors="laplace"), made, target="good", columns=["sound", "ripe"])
    assert any("once have no row" in str(note) for note in notes) or any("once has no row" in str(n) for n in notes)
    fitted = NaiveBayes(priors="laplace").fit(frame[["sound", "ripe"]], frame["good"])
    with listen():
        held = held_out(fitted, frame[["sound", "ripe"]], frame["good"], folds=fold_by_row(made))
    assert found.classes == ("no", "once", "perhaps", "yes")
    assert_alike(found, held, LossMatrix.zero_one(found.classes))


def test_a_fitted_model_is_judged_on_other_rows(tmp_path: Path) -> None:
    old, new = rows(1000), rows(900, seed=9)
    (tmp_path / "new").mkdir()
    made = written(new, tmp_path / "new")
    new.to_csv(tmp_path / "new.csv", index=False)
    for model in (NaiveBayes(), TAN(), SPODE("sound")):
        model.fit(old[ALL], old["good"])
        log_p = model.predict_log_proba(new[ALL])
        truth = np.array([CLASSES.index(c) for c in new["good"]])
        prior = np.array([[model.prior_by_class[c] for c in CLASSES]])
        held = HeldOut(CLASSES, log_p, prior, truth, new["times"].to_numpy(float), None, None, np.zeros(900, dtype=int))
        for path in (made, tmp_path / "new.csv"):
            found = evaluate_files(model, path, loss=LOSS, prior_of_use=USE, weight="times", target="good")
            assert_alike(found, held, use=USE)
    strange = new.assign(good=new["good"].replace("yes", "indeed"))
    with pytest.raises(ReadError, match=r"'part0.parquet', row group 1 of 4: .*without the class 'indeed' of row"):
        evaluate_files(model, written(strange, tmp_path), target="good")


@pytest.mark.parametrize("model", [NaiveBayes(), *map(slowly, (TAN(), AODE(discretize="equal-width"), SPODE("sound")))])
def test_fit_files_is_the_fit_of_the_rows(model: Any, tmp_path: Path) -> None:
    frame = rows(1200)
    made = written(frame, tmp_path)
    schema = Schema((Variable("farm", "categorical"),))
    seen: list[Progress] = []
    ours = fit_files(model, made, target="good", columns=[*ALL], weight="times", progress=seen.append,
                     resume=tmp_path / "part")  # fmt: skip
    theirs = type(model)(**model.get_params()).fit(frame[ALL], frame["good"], frame["times"])
    np.testing.assert_allclose(ours.predict_joint_log_proba(frame[ALL]), theirs.predict_joint_log_proba(frame[ALL]),
                               rtol=1e-11, atol=1e-11)  # fmt: skip
    assert not hasattr(model, "stats_") and {p.steps for p in seen} == {1 + (model.discretize is not None)}
    again = fit_files(model, made, target="good", columns=[*ALL], weight="times", resume=tmp_path / "part")
    assert save_model(again) == save_model(ours)
    assert fit_files(NaiveBayes(), made, target="good", schema=schema).schema_.names == ("farm",)
    frame.to_csv(tmp_path / "a.csv", index=False)
    read = pd.read_csv(tmp_path / "a.csv")
    of_csv = fit_files(model, tmp_path / "a.csv", target="good", columns=ALL)
    in_memory_too = type(model)(**model.get_params()).fit(read[ALL], read["good"])
    assert (of_csv.predict(read[ALL]) == in_memory_too.predict(read[ALL])).all()


@pytest.mark.parametrize("likelihood", ["poisson", "kernel", "kernel-range", "joint-multinomial", "gaussian"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_files_have_the_likelihoods_that_the_model_chooses(likelihood: str, ending: str, tmp_path: Path) -> None:
    frame = rows(300).assign(more=np.arange(300) % 11)
    of_both = {"times": likelihood, "more": likelihood}
    names = ["sound", "mass", "times", "more"]
    frame.to_csv(tmp_path / "a.csv", index=False)
    made = written(frame, tmp_path) if ending == "parquet" else tmp_path / "a.csv"
    model: Any = NaiveBayes(likelihoods=of_both)
    ours, theirs = fit_files(model, made, target="good", columns=names), model.fit(frame[names], frame["good"])
    np.testing.assert_allclose(ours.predict_log_proba(frame[names]), theirs.predict_log_proba(frame[names]), rtol=1e-9)
    if ending == "parquet":
        found = held_out_risk(model, made, target="good", columns=names, loss=LOSS)
        assert_alike(found, in_memory(model, frame, names, fold_by_row(made), None, None))
    if likelihood == "poisson":
        hidden = fit_files(
            SemiSupervisedNB(NaiveBayes(likelihoods=of_both), max_iter=2), made, target="good", columns=names
        )
        assert {v.name: v.likelihood for v in hidden.schema_} == {v.name: v.likelihood for v in theirs.schema_}


@pytest.mark.parametrize("likelihoods", [{"times": "categorical"}, {"times": "bernoulli"}, "categorical"], ids=str)
def test_that_numbers_are_levels_is_said_by_the_schema_before_a_row_is_read(likelihoods: Any, tmp_path: Path) -> None:
    made, seen = written(rows(90), tmp_path), []
    with pytest.raises(ParameterError, match=r"column 'times' holds numbers.*say that it holds levels by schema="):
        fit_files(NaiveBayes(likelihoods=likelihoods), made, target="good", columns=["sound", "times"],
                  progress=seen.append)  # fmt: skip
    with pytest.raises(ParameterError, match="'nowhere'"):
        fit_files(NaiveBayes(likelihoods={"nowhere": "poisson"}), made, target="good", progress=seen.append)
    assert not seen
    schema = Schema((Variable("times", "categorical"),))
    fitted = fit_files(NaiveBayes(likelihoods={"times": "categorical"}, schema=schema), made, target="good")
    assert fitted.schema_["times"].levels == (0, 1, 2, 3)


def test_numbers_are_not_read_as_strings_where_a_fitted_model_is_judged(tmp_path: Path) -> None:
    model = NaiveBayes().fit(pd.DataFrame({"c": ["1", "2"] * 50}), ["u", "v"] * 50)
    for cells, sort in (([1, 2], "numbers"), ([True, False], "truth values")):
        pd.DataFrame({"c": cells * 50, "y": ["u", "v"] * 50}).to_parquet(tmp_path / "f.parquet")
        with pytest.raises(SchemaMismatch, match=f"column 'c' holds {sort} in 'f.parquet', and the model was fitted"):
            evaluate_files(model, tmp_path, target="y")


@pytest.mark.parametrize("model", [NaiveBayes(), TAN(), LinearDiscriminantAnalysis()], ids=repr)
def test_rows_of_which_none_counts_are_refused(model: Any, tmp_path: Path) -> None:
    made = written(rows(90).assign(times=0), tmp_path)
    asked: Any = {"target": "good", "columns": ["size"], "weight": "times"}
    for ask in (fit_files, held_out_risk):
        with pytest.raises(TableError, match="the weight 'times' is 0 in every row"):
            ask(model, made, **asked)
    if isinstance(model, NaiveBayes):
        fitted = model.fit(rows(90)[["size"]], rows(90)["good"])
        with pytest.raises(TableError, match="the weight 'times' is 0 in every row"):
            evaluate_files(fitted, made, target="good", weight="times")


def test_what_cannot_be_judged_is_refused_in_words(tmp_path: Path) -> None:
    frame = rows(300)
    made = written(frame, tmp_path)
    for model, said in ((GaussianMixture(), "is not repeated for each fold"), ({}, "dict is not")):
        with pytest.raises(ParameterError, match=said):
            held_out_risk(model, made, target="good")
    for ask in ({"folds": 1}, {"folds": True}, {"folds": 2.5}):
        with pytest.raises(ParameterError, match="a whole number of 2 or more"):
            held_out_risk(NaiveBayes(), made, target="good", **ask)  # type: ignore[arg-type]
    with pytest.raises(TableError, match="of 50 folds"):
        held_out_risk(NaiveBayes(), made, target="good", groups="farm", folds=50)
    with pytest.raises(TableError, match="no column 'orchard'"):
        held_out_risk(NaiveBayes(), made, target="good", groups="orchard")
    frame.assign(farm=frame["farm"].astype(str)).to_parquet(made[1])
    with pytest.raises(SchemaMismatch, match=r"'farm' holds numbers in 'part0.parquet' and strings in 'part1.parquet'"):
        held_out_risk(NaiveBayes(), made, target="good", columns=["ripe"], groups="farm")
    with pytest.raises(ParameterError, match="folds= holds 3 numbers of 3 folds for 300 rows"):
        held_out(NaiveBayes().fit(frame[ALL], frame["good"]), frame[ALL], frame["good"], folds=[0, 1, 2])


@pytest.mark.slow
def test_it_is_called_off_and_a_file_that_changes_between_passes_is_named(tmp_path: Path) -> None:
    made = written(rows(900), tmp_path)
    asked = iter([False, False, True])
    with pytest.raises(Cancelled), watching(lambda: next(asked, True), pace=0.0):
        held_out_risk(NaiveBayes(), made, target="good", threads=1)

    def change(far: Progress) -> None:
        if far.step == 1 and far.share == 1.0:
            rows(50).to_parquet(made[2])

    with pytest.raises(ReadError, match=r"'part2.parquet' has changed since it was opened"):
        held_out_risk(NaiveBayes(), made, target="good", progress=change)


# broken off, and gone on with ---------------------------------------------------------------------------------------


class Ended(BaseException):
    """A run is ended."""


def ended_after(batches: int) -> Any:
    """A `progress` that ends the run once so many batches are done."""
    left, at = iter(range(batches)), [(0, -1)]

    def told(far: Progress) -> None:
        if far.rows_now and (far.step, far.rows) > at[0]:  # it is told while the first is waited for, too
            at[0] = far.step, far.rows
            if next(left, None) is None:
                raise Ended

    return told


def assert_same(one: RiskInFiles, two: RiskInFiles) -> None:
    """To the last bit."""
    for name in (
        "risk",
        "interval",
        "accuracy",
        "undecided",
        "undecided_cost",
        "log_loss",
        "brier",
        "fold_rows",
        "ece",
    ):
        assert getattr(one, name) == getattr(two, name), name
    for name in ("confusion", "cost"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    pd.testing.assert_frame_equal(one.calibration(), two.calibration(), check_exact=True)


@pytest.mark.parametrize(("model", "groups"), [
    (NaiveBayes(), None), slowly(NaiveBayes(discretize="mdlp"), "farm"), slowly(KDependence(2), None),
    slowly(LinearDiscriminantAnalysis(), None), slowly(TAN(), "farm"),
])  # fmt: skip
def test_what_is_broken_off_goes_on_to_the_same_risk(model: Any, groups: str | None, tmp_path: Path) -> None:
    """Ended in each of the passes, again and again."""
    discriminant = isinstance(model, LinearDiscriminantAnalysis)
    made = written(rows(300), tmp_path, group=25)
    asked: dict[str, Any] = {"target": "good", "loss": LOSS, "groups": groups, "weight": "times", "threads": 1,
                             "columns": ["size"] if discriminant else ALL, "prior_of_use": USE}  # fmt: skip
    whole = held_out_risk(model, made, **asked)
    far: list[Progress] = []
    for batches in (0, 1, 3, 2, 4):
        with pytest.raises(Ended):
            held_out_risk(model, made, resume=tmp_path / "part", progress=ended_after(batches), **asked)
    found = held_out_risk(model, made, resume=tmp_path / "part", progress=far.append, **asked)
    assert_same(found, whole)
    assert far[0].rows_now < far[0].rows or far[0].step > 1
    again: list[Progress] = []
    assert_same(held_out_risk(model, made, resume=tmp_path / "part", progress=again.append, **asked), whole)
    assert not again  # all passes are kept
    with pytest.raises(StoreError, match="with another folds"):
        held_out_risk(model, made, resume=tmp_path / "part", **asked | {"folds": 4})


@pytest.mark.slow
@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(shrinkage="auto"), SPODE("loo")], ids=str)
def test_the_pass_between_counting_and_scoring_goes_on_in_its_middle(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shrinkage, and a super-parent by leave-one-out: row groups that it has done are not read again."""
    made = written(rows(120), tmp_path, group=10)
    columns = ["size", "times"] if isinstance(model, LinearDiscriminantAnalysis) else ["sound", "ripe"]
    asked: dict[str, Any] = {"target": "good", "columns": columns, "folds": 2, "threads": 1}
    whole = held_out_risk(model, made, **asked)
    read: list[tuple[str, int]] = []
    own = sources._row_group

    def row_group(path: Path, metadata: Any, group: int, *rest: Any) -> Any:
        read.append((path.name, group))
        return own(path, metadata, group, *rest)

    monkeypatch.setattr(sources, "_row_group", row_group)
    told: list[Progress] = []

    def stop(far: Progress) -> None:
        if far.step == 2 and far.rows >= 60:
            raise Ended

    with pytest.raises(Ended):
        held_out_risk(model, made, resume=tmp_path / "part", progress=stop, **asked)
    done = [*read]
    read.clear()
    assert_same(held_out_risk(model, made, resume=tmp_path / "part", progress=told.append, **asked), whole)
    first = next(far for far in told if far.step == 2 and far.rows_now)
    assert told[0].step == 2 and first.rows_now == 10 and first.rows == 70
    groups = sum(pq.ParquetFile(path).num_row_groups for path in made)
    assert len(read) == 2 * groups - 6 and set(read[: groups - 6]).isdisjoint(done[groups : groups + 6])
    other = clone(model).set_params(priors="laplace")
    with pytest.raises(StoreError, match="with another model"):
        held_out_risk(other, made, resume=tmp_path / "part", **asked)


KILLED = """
import os, signal, sys
from pathlib import Path
from bayes_engine import TAN, held_out_risk
from bayes_engine.scale import csv_blocks, kept

kept.SAVED_EACH = kept.COST = 0.0
batches = set()


def told(far):
    batches.add((far.step, far.rows))
    if len(batches) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)


folder = Path(sys.argv[1])
held_out_risk(TAN(), sorted(folder.glob("part*.parquet")), target="good", columns=sys.argv[3:], progress=told,
              resume=folder / "kept", threads=1)
"""


@pytest.mark.slow
def test_a_process_that_is_killed_goes_on_to_the_same_risk(tmp_path: Path) -> None:
    """SIGKILL: nothing can be kept at the end, only before."""
    made = written(rows(1200), tmp_path)
    whole = held_out_risk(TAN(), made, target="good", columns=ALL)
    for at in (3, 14):
        command = [sys.executable, "-c", KILLED, str(tmp_path), str(at), *ALL]
        assert subprocess.run(command, cwd=ROOT, check=False).returncode == -9
    far: list[Progress] = []
    found = held_out_risk(TAN(), made, target="good", columns=ALL, resume=tmp_path / "kept", progress=far.append)
    assert far[0].step > 1 or far[0].rows_now < far[0].rows
    assert_same(found, whole)


def test_a_fitted_model_s_risk_on_new_rows_goes_on_too(tmp_path: Path) -> None:
    old = rows(600)
    model = NaiveBayes().fit(old[ALL], old["good"])
    made = written(rows(500, seed=3), tmp_path)
    asked: dict[str, Any] = {"target": "good", "loss": LOSS, "groups": "farm", "threads": 1}
    whole = evaluate_files(model, made, **asked)
    for batches in (2, 3, 4):
        with pytest.raises(Ended):
            evaluate_files(model, made, resume=tmp_path / "part", progress=ended_after(batches), **asked)
    assert_same(evaluate_files(model, made, resume=tmp_path / "part", **asked), whole)
    other = NaiveBayes(priors="laplace").fit(old[ALL], old["good"])
    with pytest.raises(StoreError, match="with another model"):
        evaluate_files(other, made, resume=tmp_path / "part", **asked)
    rows(9).to_parquet(made[0])
    with pytest.raises(StoreError, match="files that have changed since"):
        evaluate_files(model, made, resume=tmp_path / "part", **asked)


def test_rows_of_a_group_are_drawn_together_where_other_files_are_judged(tmp_path: Path) -> None:
    """Groups that the model does not read, and groups that it does; each way the risk is that of the rows."""
    frame = rows(60)
    model = NaiveBayes().fit(frame[["sound"]], frame["good"])
    path = written(frame.assign(place=np.arange(60) // 6), tmp_path)
    alone = evaluate_files(model, path, target="good")
    for groups in ("place", "sound"):
        found = evaluate_files(model, path, target="good", groups=groups)
        assert found.risk == alone.risk and found.interval != alone.interval
