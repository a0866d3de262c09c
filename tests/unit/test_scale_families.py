"""Families of columns that a pass before has chosen, and pairs in blocks: the model of files is that of the rows."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    ComplementNaiveBayes,
    FisherDiscriminant,
    KDependence,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    StoreError,
    collect_parquet,
    fit_batches,
    fit_files,
    held_out_risk,
    load_model,
    save_model,
)
from bayes_engine.errors import ParameterError, SchemaMismatch
from bayes_engine.scale import Progress, pairs
from bayes_engine.scale.arrow import arrow
from bayes_engine.scale.folds import folds_of, group_hashes
from bayes_engine.workbench import command_line
from tests.conftest import slowly
from tests.unit.test_scale_cluster import NearBy
from tests.unit.test_scale_em import Stop, stopping, written


def rows(n: int, columns: int = 5, seed: int = 0) -> pd.DataFrame:
    """Levels that lean on each other and on the class, a column of numbers, missing cells."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    data: dict[str, Any] = {}
    for j in range(columns):
        before = data[f"c{j - 1}"] if j else y
        data[f"c{j}"] = np.where(rng.random(n) < 0.6, (before + y * (j % 2)) % 3, rng.integers(0, 3, n))
    frame = pd.DataFrame(data).map(lambda c: "abc"[int(c)]).mask(rng.random((n, columns)) < 0.05)
    frame["x"] = rng.normal(3 * y + (frame["c0"] == "a"), 1.0)
    frame["good"] = np.array(["no", "yes"])[y]
    return frame


def fitted(model: Any, frame: pd.DataFrame) -> Any:
    return type(model)(**model.get_params()).fit(frame.drop(columns="good"), frame["good"])


def assert_same(ours: Any, theirs: Any, frame: pd.DataFrame) -> None:
    X = frame.drop(columns="good")
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-10)
    for name, table in ours.stats_.families.tables.items():
        np.testing.assert_array_equal(table, theirs.stats_.families.tables[name])


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (TAN(discretize="halves"), "'halves' is no way to discretize"),
        (TAN(bins=1), "bins=1"),
        (NaiveBayes(alpha=-1), "alpha=-1"),
        (NaiveBayes(alpha={"c9": 1}), "alpha names a column 'c9'"),
        (NaiveBayes(priors="equal"), "priors='equal'"),
        (NaiveBayes(missing="drop"), "missing='drop'"),
        (TAN(var_floor=-1.0), "var_floor"),
        (AODE(smoothing="none"), "smoothing='none'"),
        (AODE(min_frequency="few"), "min_frequency"),
        (KDependence(k=-1), "k=-1"),
        (LinearDiscriminantAnalysis(shrinkage=7), "shrinkage=7"),
        (QuadraticDiscriminantAnalysis(pooling=3), "pooling=3"),
        (ComplementNaiveBayes(alpha=-1), "alpha=-1"),
        (FisherDiscriminant(objective="none"), "objective='none'"),
    ],
    ids=repr,
)
def test_parameters_that_fit_no_rows_are_refused_before_one_is_counted(model: Any, said: str, tmp_path: Path) -> None:
    frame = rows(60)[["x", "good"]] if "Discriminant" in type(model).__name__ else rows(60)
    made, told = written(frame, tmp_path), list[Progress]()
    without_risk = isinstance(model, ComplementNaiveBayes | FisherDiscriminant)
    for call in (fit_files,) if without_risk else (fit_files, held_out_risk):
        with pytest.raises(ParameterError, match=said):
            call(model, made, target="good", progress=told.append)
    assert not told


def test_k_dependence_takes_its_parents_from_a_first_pass(tmp_path: Path) -> None:
    frame, told = rows(120), list[Progress]()
    ours = fit_files(KDependence(2, discretize=None), written(frame, tmp_path), target="good", progress=told.append)
    theirs = fitted(KDependence(2, discretize=None), frame)
    assert ours.parents_ == theirs.parents_ and {len(up) for up in ours.parents_.values()} == {0, 1, 2}
    assert ours.stats_.families.tables.keys() == theirs.stats_.families.tables.keys()
    assert {(far.step, far.steps) for far in told} == {(1, 2), (2, 2)}
    assert_same(ours, theirs, frame)


def test_wide_families_are_counted_in_several_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where their tables do not fit into memory together, by one thread; the model is that of the rows."""
    monkeypatch.setattr(pairs, "FAMILY_BYTES", 8 * 9 * 2 * 64)  # one table of two classes and 4 × 4 × 4 cells
    frame, told = rows(120).drop(columns="x"), list[Progress]()
    made, ask = written(frame, tmp_path), {"target": "good", "threads": 2}
    ours = fit_files(KDependence(2), made, progress=told.append, resume=tmp_path / "kept", **ask)
    theirs = fitted(KDependence(2), frame)
    assert ours.parents_ == theirs.parents_
    assert_same(ours, theirs, frame)
    wider = sum(len(up) > 1 for up in ours.parents_.values())
    assert told[-1].step == told[-1].steps == 1 + wider > 2 and (tmp_path / "kept.families2").exists()
    again = fit_files(KDependence(2), made, resume=tmp_path / "kept", **ask)
    assert save_model(again) == save_model(ours)


@pytest.mark.slow
@pytest.mark.parametrize("model", [KDependence(2), KDependence(3, missing="category"), KDependence(2, discretize=None)])
def test_k_dependence_of_files_goes_on_and_is_saved(model: KDependence, tmp_path: Path) -> None:
    frame, (folder, kept) = rows(400), (tmp_path / "rows", tmp_path / "kept")
    folder.mkdir()
    written(frame, folder)
    last = 2 + (model.discretize is not None)
    with pytest.raises(Stop):
        fit_files(model, folder, target="good", resume=kept, progress=stopping(last))
    told: list[Progress] = []
    ours = fit_files(model, folder, target="good", resume=kept, progress=told.append)
    assert told[-1].step == last
    theirs = fitted(model, frame)
    assert ours.parents_ == theirs.parents_
    assert_same(ours, theirs, frame)
    save_model(ours, tmp_path / "model.bayes")
    X = frame.drop(columns="good")
    np.testing.assert_array_equal(load_model(tmp_path / "model.bayes").predict_proba(X), ours.predict_proba(X))
    again = ours.partial_fit(X, frame["good"])
    np.testing.assert_array_equal(again.stats_.class_weight, 2 * theirs.stats_.class_weight)
    with pytest.raises(StoreError, match="other families"):
        fit_files(KDependence(4, discretize=model.discretize), folder, target="good", resume=kept)


@pytest.mark.slow
@pytest.mark.parametrize("model", [KDependence(2), KDependence(2, discretize=None)])
def test_held_out_risk_of_k_dependence_is_that_of_its_folds(model: KDependence, tmp_path: Path) -> None:
    """Each fold's model is that of a fit to the other folds' rows."""
    frame = rows(600)
    frame["group"] = np.arange(600) % 4
    found = held_out_risk(model, written(frame, tmp_path), target="good", groups="group", folds=2)
    assert found.passes == 3 + (model.discretize is not None)
    fold = folds_of(group_hashes(arrow().array(frame["group"]), 0), 2)
    X, y = frame.drop(columns=["good", "group"]), frame["good"]
    wrong = 0
    for i in range(2):
        one = type(model)(**model.get_params()).fit(X[fold != i], y[fold != i])
        wrong += int((one.predict(X[fold == i]) != y[fold == i]).sum())
    assert found.risk == pytest.approx(wrong / 600)


def test_a_tree_of_pairs_in_blocks_is_that_of_all_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "WIDE", 3)
    monkeypatch.setattr(pairs, "PAIR_BYTES", 8 * 9 * 2 * 16 * 4)  # four pairs of two classes and 3 × 3 levels + missing
    frame, told = rows(120).drop(columns="x"), list[Progress]()
    ours = fit_files(TAN(), written(frame, tmp_path), target="good", progress=told.append, threads=1)
    theirs = fitted(TAN(), frame)
    assert told[-1].step == told[-1].steps == 5 and len(ours.stats_.families.tables) == 4
    assert ours.tree_ == theirs.tree_
    assert_same(ours, theirs, frame)


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["marginalize", "category"])
def test_blocks_of_pairs_with_cut_points_and_columns_that_say_nothing(
    missing: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "WIDE", 3)
    frame = rows(500, 8).assign(same="a")
    one = fit_files(TAN(missing=missing), written(frame, tmp_path), target="good")
    assert len(one.stats_.families.tables) == 45
    monkeypatch.setattr(pairs, "PAIR_BYTES", 1.0)
    folder = written(frame, tmp_path)
    ours = fit_files(TAN(missing=missing), folder, target="good", resume=tmp_path / "kept")
    theirs = fitted(TAN(missing=missing), frame)
    assert ours.tree_ == theirs.tree_ and ours.schema_["x"].cuts == theirs.schema_["x"].cuts
    assert len(ours.stats_.families.tables) == 9
    assert_same(ours, theirs, frame)
    assert_same(ours.with_params(alpha=2.0), theirs.with_params(alpha=2.0), frame)
    save_model(ours, tmp_path / "model.bayes")
    X = frame.drop(columns="good")
    np.testing.assert_array_equal(load_model(tmp_path / "model.bayes").predict_proba(X), ours.predict_proba(X))
    with pytest.raises(SchemaMismatch, match="different families"):
        ours.partial_fit(X, frame["good"])
    uncut = fit_files(TAN(missing=missing, discretize=None), folder, target="good")
    assert uncut.tree_ == fitted(TAN(missing=missing, discretize=None), frame).tree_
    with pytest.raises(ParameterError, match="no tables of pairs"):
        TAN(discretize=None).fit_stats(collect_parquet(folder, target="good"))


def assert_same_super_parent(ours: SPODE, theirs: SPODE, frame: pd.DataFrame) -> None:
    assert ours.super_parent_ == theirs.super_parent_
    pd.testing.assert_frame_equal(ours.candidate_scores_, theirs.candidate_scores_, rtol=1e-9)
    assert_same(ours, theirs, frame)


def test_a_super_parent_is_chosen_by_a_further_pass(tmp_path: Path) -> None:
    frame, told = rows(100, 3).drop(columns="x"), list[Progress]()
    ours = fit_files(SPODE(), written(frame, tmp_path), target="good", progress=told.append, threads=1)
    assert_same_super_parent(ours, fitted(SPODE(), frame), frame)
    assert {(far.step, far.steps) for far in told} == {(1, 2), (2, 2)}


@pytest.mark.slow
@pytest.mark.parametrize("model", [SPODE(), SPODE(missing="category", alpha=0.5), SPODE(discretize=None)])
def test_super_parents_with_cut_points_weights_and_a_cluster(model: SPODE, tmp_path: Path) -> None:
    frame = rows(300, 4).assign(w=np.arange(300) % 3 + 1.0)
    folder = written(frame, tmp_path)
    ours = fit_files(model, folder, target="good", weight="w", resume=tmp_path / "kept", client=NearBy())
    X, y = frame.drop(columns=["good", "w"]), frame["good"]
    theirs = SPODE(**model.get_params()).fit(X, y, sample_weight=frame["w"])
    assert_same_super_parent(ours, theirs, frame.drop(columns="w"))
    again = fit_files(model, folder, target="good", weight="w", resume=tmp_path / "kept")
    pd.testing.assert_frame_equal(again.candidate_scores_, ours.candidate_scores_)
    save_model(ours, tmp_path / "model.bayes")
    np.testing.assert_array_equal(load_model(tmp_path / "model.bayes").predict_proba(X), ours.predict_proba(X))


def numbers(n: int, d: int = 4) -> pd.DataFrame:
    """Columns that lean on each other, one of a large mean, weights, three classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.4) + y[:, None] * np.linspace(0, 1, d)
    frame = pd.DataFrame(X, columns=[f"m{j}" for j in range(d)])
    frame["m1"] = 1e3 + frame["m1"]
    return frame.assign(w=rng.integers(0, 3, n).astype(float), good=np.array(["a", "b", "c"])[y])


def assert_same_amounts(ours: Any, theirs: Any, X: pd.DataFrame) -> None:
    """Ledoit and Wolf's, by class."""
    assert ours.shrinkage_.keys() == theirs.shrinkage_.keys() and all(0 < a < 1 for a in theirs.shrinkage_.values())
    np.testing.assert_allclose([*ours.shrinkage_.values()], [*theirs.shrinkage_.values()], rtol=1e-12)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-9)


def test_ledoit_and_wolf_s_shrinkage_takes_a_pass_more(tmp_path: Path) -> None:
    frame, told = numbers(150), list[Progress]()
    model = LinearDiscriminantAnalysis(shrinkage="auto")
    made = written(frame.drop(columns="w"), tmp_path)
    ours = fit_files(model, made, target="good", progress=told.append, resume=tmp_path / "kept", threads=1)
    X = frame.drop(columns=["w", "good"])
    assert_same_amounts(ours, model.fit(X, frame["good"]), X)
    assert {(far.step, far.steps) for far in told} == {(1, 2), (2, 2)} and (tmp_path / "kept.powers").exists()
    judged = held_out_risk(model, made, target="good", folds=3, threads=1)
    assert judged.passes == 3 and 0 < judged.risk < 1  # against folds in memory: test_scale_held_out


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(shrinkage="auto"), slowly(SPODE(discretize=None))])
def test_a_pass_over_the_rows_again_goes_on_in_its_middle(model: Any, tmp_path: Path) -> None:
    """Where it was broken off, to the same numbers; what was summed up under other statistics is refused."""
    lda = isinstance(model, LinearDiscriminantAnalysis)
    frame = numbers(100).drop(columns="w") if lda else rows(100, 3).drop(columns="x")
    (tmp_path / "rows").mkdir()
    made, kept, told = written(frame, tmp_path / "rows"), tmp_path / "kept", list[Progress]()
    ask: dict[str, Any] = {"target": "good", "threads": 1}
    whole = fit_files(model, made, **ask)

    def stop(far: Progress) -> None:
        if far.step == 2 and far.rows >= 50:
            raise Stop

    with pytest.raises(Stop):
        fit_files(model, made, resume=kept, progress=stop, **ask)
    ours = fit_files(model, made, resume=kept, progress=told.append, **ask)
    first = next(far for far in told if far.step == 2)
    assert first.rows - first.rows_now >= 50
    assert save_model(ours) == save_model(whole)

    judge: dict[str, Any] = {"resume": tmp_path / "risk", "folds": 2, **ask}
    with pytest.raises(Stop):
        held_out_risk(model, made, progress=stop, **judge)
    frame[:40].to_parquet(tmp_path / "rows" / "part9.parquet")
    for again in (partial(fit_files, resume=kept, **ask), partial(held_out_risk, **judge)):
        with pytest.raises(StoreError, match="with another statistics"):
            again(model, made)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, FisherDiscriminant])
def test_shrinkage_with_weights_of_batches_csv_and_on_a_cluster(kind: Any, tmp_path: Path) -> None:
    frame = numbers(1200)
    made, X = written(frame, tmp_path), frame.drop(columns=["w", "good"])
    ask: dict[str, Any] = {"target": "good", "weight": "w"}
    theirs = kind(shrinkage="auto").fit(X, frame["good"], frame["w"])
    ours = fit_files(kind(shrinkage="auto"), made, **ask)
    assert_same_amounts(ours, theirs, X)
    again = fit_files(kind(shrinkage="auto"), made, **ask, client=NearBy())
    assert again.shrinkage_ == ours.shrinkage_
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert_same_amounts(fit_files(kind(shrinkage="auto"), tmp_path / "a.csv", **ask), theirs, X)
    batches = fit_batches(kind(shrinkage="auto"), lambda: (frame[i : i + 100] for i in range(0, 1200, 100)), **ask)
    assert_same_amounts(batches, theirs, X)
    with pytest.raises(ParameterError, match="of files by fit_files, in a pass more"):
        kind(shrinkage="auto").fit_stats(collect_parquet(made, **ask, want="scatter"))
    if kind is not FisherDiscriminant:
        saved = load_model(save_model(ours))
        assert saved.shrinkage_ == ours.shrinkage_


@pytest.mark.slow
def test_shrinkage_goes_on_in_its_last_pass_and_from_the_command_line(tmp_path: Path) -> None:
    frame = numbers(600).drop(columns="w")
    made, kept = written(frame, tmp_path), tmp_path / "kept"
    model = QuadraticDiscriminantAnalysis(shrinkage="auto")
    with pytest.raises(Stop):
        fit_files(model, made, target="good", resume=kept, threads=1, progress=stopping(2))
    ours = fit_files(model, made, target="good", resume=kept, threads=1)
    assert ours.shrinkage_ == fit_files(model, made, target="good").shrinkage_
    saved = tmp_path / "m.bayes"
    asked = ("fit", made, "--target", "good", "--model", "qda", "--set", "shrinkage=auto", "--out", saved)
    assert command_line.run([str(word) for word in asked]) == 0
    assert load_model(saved).shrinkage_ == ours.shrinkage_
