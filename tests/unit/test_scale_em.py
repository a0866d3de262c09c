"""EM by passes over files is EM in memory: the same trace but for rounding, and the same bits when it is taken up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    BayesianNetworkClassifier,
    GaussianMixture,
    KDependence,
    MultinomialNB,
    NaiveBayes,
    SemiSupervisedNB,
    StoreError,
    fit_batches,
    fit_files,
    held_out_risk,
    load_model,
    save_model,
)
from bayes_engine.em import EMTrace
from bayes_engine.errors import BayesEngineError, ParameterError, ReadError, TableError
from bayes_engine.models.mixture_components import MixtureParameters
from bayes_engine.scale import Progress, em_passes, mixture
from bayes_engine.scale import sources as scale_sources


def numbers(n: int, *, missing: float = 0.0, seed: int = 0) -> pd.DataFrame:
    """Three groups in two correlated columns of other units, far from 0."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    x = rng.normal(group * 4.0, 1.0) + 1e4
    frame = pd.DataFrame({"x": x, "y": 0.01 * (x - 1e4) * (group - 1) + rng.normal(group == 2, 0.02), "w": 1.0 + group})
    cells = rng.random((n, 2)) < missing
    frame[["x", "y"]] = frame[["x", "y"]].mask(cells)
    return frame


def labelled(n: int, *, hidden: float = 0.7, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    c = rng.integers(0, 2, n)
    frame = pd.DataFrame({
        "sound": np.where(rng.random(n) < 0.8, np.array(["dull", "crisp"])[c], "none"),
        "mass": rng.normal(c * 3.0, 1.0) + 100.0,
        "good": np.array(["no", "yes"])[c].astype(object),
        "w": rng.integers(1, 4, n).astype(float),
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "sound"] = None
    frame.loc[rng.random(n) < 0.1, "mass"] = np.nan
    frame.loc[rng.random(n) < hidden, "good"] = None
    return frame


def written(frame: pd.DataFrame, folder: Path, group: int = 40) -> Path:
    """Two files in row groups."""
    for i, part in enumerate(np.array_split(np.arange(len(frame)), 2)):
        frame.iloc[part].to_parquet(folder / f"part{i}.parquet", row_group_size=group)
    return folder


def assert_same_trace(ours: EMTrace[Any], theirs: EMTrace[Any]) -> None:
    assert ours.n_iter == theirs.n_iter and ours.converged == theirs.converged
    a, b = ours.table(), theirs.table()
    for name in ("log_likelihood", "q", "entropy", "log_prior", "objective"):
        np.testing.assert_allclose(a[name], b[name], rtol=1e-10, atol=1e-8)
    bounds = (table["lower_bound"][1:].astype(float) for table in (a, b))
    np.testing.assert_allclose(*bounds, rtol=1e-10, atol=1e-8)  # a sum of terms of hundreds may be near 0


def as_in_memory(model: GaussianMixture, frame: pd.DataFrame, folder: Path, **ask: Any) -> GaussianMixture:
    found = fit_files(model, written(frame, folder), columns=["x", "y"], **ask)
    weight = frame["w"] if "weight" in ask else None
    fitted = GaussianMixture(**model.get_params()).fit(frame[["x", "y"]], sample_weight=weight)
    assert_same_trace(found.trace_, fitted.trace_)
    np.testing.assert_allclose(found.means_, fitted.means_, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.covariances_, fitted.covariances_, rtol=1e-8, atol=1e-10)
    assert found.predict(frame[["x", "y"]]).tolist() == fitted.predict(frame[["x", "y"]]).tolist()
    return found


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_a_mixture_of_files_takes_the_steps_of_one_in_memory(tmp_path: Path) -> None:
    told: list[Progress] = []
    model = GaussianMixture(2, max_iter=3, random_state=0, tol=0.0)
    found = as_in_memory(model, numbers(120), tmp_path, progress=told.append, threads=1)
    assert {far.step for far in told} == set(range(1, 7)) and {far.steps for far in told} == {6}
    assert found.trace_.last.responsibilities is None


MEANS = np.array([[1e4, 0.0], [1.0001e4, 0.1], [1.0008e4, 0.1]])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
@pytest.mark.parametrize(
    ("covariance", "missing", "more"),
    [
        ("full", 0.0, {"init": "random", "n_init": 3}),
        ("full", 0.15, {"hard": True}),
        ("full", 0.15, {"init": MEANS}),
        ("tied", 0.15, {"prior": "inverse-wishart"}),
        ("tied", 0.0, {"reg_covar": 1e-3}),
        ("diagonal", 0.15, {"init": "random", "n_init": 2}),
        ("diagonal", 0.0, {"init": MEANS, "stop": "parameters"}),
        ("spherical", 0.15, {"prior": "inverse-wishart"}),
        ("spherical", 0.0, {"hard": True}),
    ],
    ids=str,
)
def test_every_form_of_a_mixture(covariance: Any, missing: float, more: dict[str, Any], tmp_path: Path) -> None:
    model = GaussianMixture(3, covariance=covariance, random_state=1, max_iter=60, tol=1e-4, **more)
    frame = numbers(400, missing=missing)
    if missing:
        frame = frame[~frame[["x", "y"]].isna().all(axis=1)]
    as_in_memory(model, frame, tmp_path, weight="w")


@pytest.mark.slow
def test_a_mixture_of_more_rows_than_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start is of the sample, every step after it of all rows: the same start in memory gives the same steps."""
    monkeypatch.setattr(mixture, "SAMPLE", 64)
    frame = numbers(600, missing=0.05)
    folder = written(frame, tmp_path)
    a = fit_files(GaussianMixture(3, random_state=0), folder, columns=["x", "y"], threads=1)
    monkeypatch.setattr(scale_sources, "BATCH", 7)
    b = fit_files(GaussianMixture(3, random_state=0), folder, columns=["x", "y"], threads=2)
    start = a.trace_.steps[0].parameters
    assert isinstance(start, MixtureParameters)
    fitted = GaussianMixture(3, init=start).fit(frame[["x", "y"]])
    assert_same_trace(a.trace_, fitted.trace_)
    assert_same_trace(b.trace_, fitted.trace_)


def bits(trace: EMTrace[Any]) -> bytes:
    return trace.table().to_numpy(dtype=float).tobytes()


class Stop(Exception):
    pass


def stopping(step: int) -> Any:
    def told(far: Progress) -> None:
        if far.step == step:
            raise Stop

    return told


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, 2, 5, 9])
@pytest.mark.parametrize("seed", [0, None])
def test_em_goes_on_after_the_last_pass_to_the_same_bits(step: int, seed: int | None, tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    folder, kept = written(numbers(300), tmp_path / "rows"), tmp_path / "kept"
    model = GaussianMixture(3, init="random", n_init=2, tol=1e-3, random_state=seed)
    with pytest.raises(Stop):
        fit_files(model, folder, columns=["x", "y"], resume=kept, progress=stopping(step))
    assert kept.exists() == (step > 1)
    told: list[Progress] = []
    again = fit_files(model, folder, columns=["x", "y"], resume=kept, progress=told.append)
    assert told[0].step == step
    whole = fit_files(model, folder, columns=["x", "y"], resume=kept, threads=2)
    assert bits(whole.trace_) == bits(again.trace_)
    if seed is not None:
        assert bits(fit_files(model, folder, columns=["x", "y"], threads=1).trace_) == bits(again.trace_)


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_hidden_labels_in_files_are_found_by_the_steps_in_memory(tmp_path: Path) -> None:
    frame = labelled(120)
    model = SemiSupervisedNB(NaiveBayes(), max_iter=3)
    X = frame[["sound", "mass"]]
    found = fit_files(model, written(frame, tmp_path), target="good", columns=list(X), threads=1)
    fitted = model.fit(X, frame["good"])
    assert_same_trace(found.trace_, fitted.trace_)
    np.testing.assert_allclose(found.predict_proba(X), fitted.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert not hasattr(found, "responsibilities_")
    save_model(found, tmp_path / "saved.bayes")
    np.testing.assert_array_equal(load_model(tmp_path / "saved.bayes").predict_proba(X), found.predict_proba(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"init": "random", "random_state": 3},
        {"init": "random", "random_state": 3, "n_init": 3},
        {"unlabeled_weight": 0.3},
        {"hard": True},
        {"hidden": "no", "classes": ["no", "yes"], "random_state": 1},
        {"estimator": NaiveBayes(tied_variance=True, smoothing="none", missing="category")},
        {"classes": ["maybe", "no", "yes"], "random_state": 2},
    ],
    ids=str,
)
def test_every_form_of_hidden_labels(parameters: dict[str, Any], tmp_path: Path) -> None:
    frame = labelled(500, seed=4)
    X = frame[["sound", "mass"]]
    model = SemiSupervisedNB(**parameters)
    found = fit_files(model, written(frame, tmp_path), target="good", columns=list(X), weight="w")
    fitted = model.fit(X, frame["good"], frame["w"])
    assert found.classes_.tolist() == fitted.classes_.tolist()
    assert_same_trace(found.trace_, fitted.trace_)
    np.testing.assert_allclose(found.predict_proba(X), fitted.predict_proba(X), rtol=1e-8, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("target", [None, "good"])
def test_labels_that_are_all_hidden(target: str | None, tmp_path: Path) -> None:
    frame = labelled(300, hidden=1.1)
    X = frame[["sound", "mass"]]
    model = SemiSupervisedNB(classes=2, random_state=5, n_init=2)
    (tmp_path / "rows").mkdir()
    folder, kept = written(frame, tmp_path / "rows"), tmp_path / "kept"
    found = fit_files(model, folder, target=target, columns=list(X), resume=kept)
    again = fit_files(model, folder, target=target, columns=list(X), resume=kept)
    fitted = SemiSupervisedNB(classes=2, random_state=5, n_init=2).fit(X)
    assert_same_trace(found.trace_, fitted.trace_)
    assert bits(found.trace_) == bits(again.trace_)
    np.testing.assert_allclose(found.predict_proba(X), fitted.predict_proba(X), rtol=1e-8, atol=1e-10)


@pytest.mark.slow
def test_labels_that_are_all_there_are_a_supervised_fit(tmp_path: Path) -> None:
    frame = labelled(200, hidden=0.0)
    X = frame[["sound", "mass"]]
    found = fit_files(SemiSupervisedNB(), written(frame, tmp_path), target="good", columns=list(X))
    fitted = NaiveBayes().fit(X, frame["good"])
    np.testing.assert_allclose(found.predict_proba(X), fitted.predict_proba(X), rtol=1e-9)
    assert found.trace_.n_iter == 0


def refused(error: type[BayesEngineError], model: Any, path: Any, **ask: Any) -> str:
    with pytest.raises(error) as raised:
        fit_files(model, path, **ask)
    return str(raised.value)


def test_what_em_over_files_refuses(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    frame = labelled(100).assign(one=1.0, x=np.arange(100.0))
    folder = written(frame, tmp_path / "rows")
    said = refused(TableError, GaussianMixture(2), folder, columns=["mass", "sound"])
    assert said.startswith("column 'sound' in 'part0.parquet' holds levels")
    assert "'one' has the same value" in refused(TableError, GaussianMixture(2), folder, columns=["mass", "one"])
    assert "responsibilities" in refused(ParameterError, GaussianMixture(2, init=np.ones((100, 2)) / 2), folder,
                                         columns=["mass", "x"])  # fmt: skip
    both = {"target": "good", "columns": ["sound", "mass"]}
    assert "responsibilities" in refused(ParameterError, SemiSupervisedNB(init=np.ones((100, 2)) / 2), folder, **both)
    assert "MultinomialNB is of a matrix" in refused(ParameterError, SemiSupervisedNB(MultinomialNB()), folder, **both)
    cutting = SemiSupervisedNB(NaiveBayes(discretize="quantile"))
    assert "cut_schema" in refused(ParameterError, cutting, folder, **both)
    assert "classes=2" in refused(TableError, SemiSupervisedNB(), folder, columns=["sound", "mass"])
    assert "GaussianMixture, SemiSupervisedNB" in refused(ParameterError, object(), folder, target="good")
    with pytest.raises(ParameterError, match="not repeated for each fold"):
        held_out_risk(SemiSupervisedNB(), folder, target="good")
    frame.loc[70, "mass"] = np.inf
    spoilt = written(frame, folder)
    said = refused(ReadError, GaussianMixture(2), spoilt, columns=["mass", "x"])
    assert said.startswith("'part1.parquet', row group 1 of 2: column 'mass' holds infinity") and "row 21" in said


def test_a_file_of_passes_is_taken_up_for_the_same_question_alone(tmp_path: Path) -> None:
    (tmp_path / "rows").mkdir()
    folder, kept = written(numbers(100), tmp_path / "rows"), tmp_path / "kept"
    ask: dict[str, Any] = {"columns": ["x", "y"], "resume": kept}
    fit_files(GaussianMixture(1), folder, **ask)
    assert "another model" in refused(StoreError, GaussianMixture(2), folder, **ask)
    assert "another weight" in refused(StoreError, GaussianMixture(1), folder, weight="w", **ask)
    assert "no folder" in refused(StoreError, GaussianMixture(1), folder, columns=["x"], resume=tmp_path / "no" / "k")
    written(numbers(90), folder)
    assert "have changed" in refused(StoreError, GaussianMixture(1), folder, **ask)
    kept.write_bytes(b"nothing of the kind")
    refused(StoreError, GaussianMixture(1), folder, **ask)
    kept.unlink()
    fit_files(AODE(), written(labelled(100, hidden=0.0), folder), target="good", columns=["sound"], resume=kept)
    assert "parts do not go together" in refused(StoreError, GaussianMixture(1), folder, columns=["mass"], resume=kept)


@pytest.mark.slow
def test_em_of_csv(tmp_path: Path) -> None:
    frame = labelled(300, seed=2)
    frame["sound"] = frame["sound"].replace("none", "nothing")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    X = frame[["sound", "mass"]]
    found = fit_files(SemiSupervisedNB(), tmp_path / "rows.csv", target="good", columns=list(X))
    fitted = SemiSupervisedNB().fit(X, frame["good"])
    assert_same_trace(found.trace_, fitted.trace_)


class Batched:
    """Row groups of files, given anew at each call; how often is counted."""

    def __init__(self, file: Path) -> None:
        self.file, self.calls = file, 0

    def __call__(self) -> Iterator[Any]:
        self.calls += 1
        with pq.ParquetFile(self.file) as opened:
            yield from (opened.read_row_group(i) for i in range(opened.num_row_groups))


@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
def test_em_over_batches_takes_the_steps_over_their_file(tmp_path: Path) -> None:
    numbers(120).to_parquet(tmp_path / "rows.parquet", row_group_size=40)
    batches, told = Batched(tmp_path / "rows.parquet"), list[Progress]()
    model = GaussianMixture(2, max_iter=2, random_state=0, tol=0.0)
    ours = fit_batches(model, batches, columns=["x", "y"], progress=told.append, threads=1)
    theirs = fit_files(model, batches.file, columns=["x", "y"], threads=1)
    assert bits(ours.trace_) == bits(theirs.trace_)
    assert batches.calls == told[-1].step == told[-1].steps == 5
    assert told[-1].share == 1.0 and told[0].share is None


def test_what_batches_for_every_pass_are_not() -> None:
    frame = numbers(30)[["x", "y"]]
    once = iter([frame[:15], frame[15:]])
    with pytest.raises(ParameterError, match="exhausted after one pass; give a function"):
        fit_batches(GaussianMixture(1), once)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="pass 2 was given the iterator of the pass before, which is exhausted"):
        fit_batches(GaussianMixture(1), lambda: once)
    again = iter([frame[:15], frame[15:]])
    with pytest.raises(TableError, match="pass 2 yields 0 rows, and the first yielded 30"):
        fit_batches(GaussianMixture(1), lambda: (batch for batch in again))
    with pytest.raises(TableError, match="the iterator yields nothing"):
        fit_batches(GaussianMixture(1), lambda: iter(()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        GaussianMixture(3, random_state=1, init="random", n_init=2),
        SemiSupervisedNB(),
        SemiSupervisedNB(init="random", random_state=3, n_init=2),
        TAN(),
        KDependence(2),
        SPODE(super_parent="loo", discretize="mdlp"),
        BayesianNetworkClassifier(),
    ],
    ids=str,
)
def test_every_model_of_batches_is_that_of_their_file(model: Any, tmp_path: Path) -> None:
    mixes, hides = isinstance(model, GaussianMixture), isinstance(model, SemiSupervisedNB)
    frame = numbers(300) if mixes else labelled(300, hidden=0.6 if hides else 0.0)
    frame = frame.dropna() if not (mixes or hides) else frame
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    ask: dict[str, Any] = {"columns": ["x", "y"]} if mixes else {"target": "good", "columns": ["sound", "mass"]}
    batches, kept = Batched(tmp_path / "rows.parquet"), tmp_path / "kept"
    theirs = fit_files(model, batches.file, weight="w", **ask)
    ours = fit_batches(model, batches, weight="w", resume=kept, **ask)
    again = fit_batches(model, batches, weight="w", resume=kept, **ask)
    X = frame[ask["columns"]]
    if mixes or hides:
        assert bits(ours.trace_) == bits(theirs.trace_) == bits(again.trace_)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(again.predict_proba(X), theirs.predict_proba(X))


@pytest.mark.slow
def test_em_over_batches_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    numbers(200).to_parquet(tmp_path / "rows.parquet", row_group_size=40)
    batches, kept = Batched(tmp_path / "rows.parquet"), tmp_path / "kept"
    model = GaussianMixture(2, random_state=0, tol=1e-3)
    ask: dict[str, Any] = {"columns": ["x", "y"], "resume": kept}
    with pytest.raises(Stop):
        fit_batches(model, batches, progress=stopping(4), **ask)
    told: list[Progress] = []
    ours = fit_batches(model, batches, progress=told.append, **ask)
    assert told[0].step == 4
    assert bits(ours.trace_) == bits(fit_files(model, batches.file, columns=["x", "y"]).trace_)


def test_a_pass_that_finds_no_room_is_said_with_its_file_and_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rows").mkdir()
    folder, kept = written(numbers(60), tmp_path / "rows"), tmp_path / "kept"
    ask: dict[str, Any] = {"columns": ["x", "y"], "resume": kept, "threads": 1}
    own = em_passes.save_passes
    for room, after, before in (
        (0, 1, "nothing is kept yet: make room, or keep it elsewhere"),
        (2, 3, "what the passes before it found is kept, and the same again goes on from there"),
    ):
        left = iter(range(room))

        def save(*given: Any, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise StoreError("'{path}' cannot be written: {reason}", path="kept", reason="No space left on device")
            own(*given)

        monkeypatch.setattr(em_passes, "save_passes", save)
        said = refused(StoreError, GaussianMixture(1), folder, **ask)
        assert said == (
            f"'{kept}' cannot be written: No space left on device, after pass {after}, at the end of "
            f"'part1.parquet'; {before}"
        )
    monkeypatch.undo()
    told: list[Progress] = []
    fit_files(GaussianMixture(1), folder, progress=told.append, **ask)
    assert told[0].step == 3
