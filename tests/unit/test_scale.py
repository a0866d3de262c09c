"""Statistics counted block by block are those of a fit on all rows, and nothing that goes wrong is half counted."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayes_engine import (
    AODE,
    SPODE,
    TAN,
    FisherDiscriminant,
    KDependence,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Schema,
    StoreError,
    Variable,
    collect_batches,
    collect_csv,
    collect_parquet,
    cut_schema,
    evaluate_files,
    held_out_risk,
)
from bayes_engine.errors import (
    BayesEngineError,
    EstimationWarning,
    ParameterError,
    ReadError,
    SchemaMismatch,
    TableError,
)
from bayes_engine.progress import Cancelled, watching
from bayes_engine.scale import Progress, csv_blocks, memory, scan
from bayes_engine.scale.arrow import CountPlan
from bayes_engine.scale.plan import CountRequest, planned
from bayes_engine.scale.sample import sample_files
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.counts import widen
from bayes_engine.stats.partial import MergeTree, PartialNode, PartialStatistics
from bayes_engine.store.statistics import load_partial, load_passes, packed_partial, packed_passes
from tests.conftest import ROOT


def rows(n: int, seed: int = 0) -> pd.DataFrame:
    """Levels, a declared domain, truth values, numbers far from 0, whole numbers, missing cells, classes, weights."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "sound": rng.choice(["dull", "crisp", "浊响"], n),
        "touch": pd.Categorical(rng.choice(["hard", "soft"], n), categories=["soft", "hard", "none"]),
        "ripe": rng.random(n) < 0.4,
        "mass": rng.normal(1e6, 1.0, n),
        "seeds": rng.integers(0, 40, n),
        "good": rng.choice(["no", "yes", "perhaps"], n, p=[0.6, 0.3, 0.1]),
        "times": rng.integers(0, 4, n),
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "sound"] = None
    frame.loc[rng.random(n) < 0.1, "mass"] = np.nan
    frame.loc[rng.random(n) < 0.1, "touch"] = None
    return frame


def features(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns=["good", "times"])


def files(frame: pd.DataFrame, folder: Path, *, group: int = 70) -> list[Path]:
    """Three files in row groups."""
    made = []
    for i, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        made.append(folder / f"part{i}.parquet")
        frame.iloc[part].to_parquet(made[-1], row_group_size=group)
    return made


def assert_as_fitted(stats: SufficientStatistics, fitted: SufficientStatistics) -> None:
    """Domains and counts are the same, moments to 1e-12."""
    assert [(v.name, v.kind, v.levels, v.declared) for v in stats.schema] == [
        (v.name, v.kind, v.levels, v.declared) for v in fitted.schema
    ]
    assert stats.target == fitted.target
    np.testing.assert_array_equal(stats.class_weight, fitted.class_weight)
    assert stats.counts.tables.keys() == fitted.counts.tables.keys()
    for name, table in fitted.counts.tables.items():
        np.testing.assert_array_equal(stats.counts.tables[name], table)
    for name in fitted.moments.names:
        ours, theirs = stats.moments.column(name), fitted.moments.column(name)
        np.testing.assert_array_equal(ours.weight, theirs.weight)
        np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-12)
        np.testing.assert_allclose(ours.m2, theirs.m2, rtol=1e-12)


def bits(stats: SufficientStatistics) -> list[bytes]:
    """Every number of the statistics, to the last bit."""
    arrays = [stats.class_weight, *stats.counts.tables.values(), *stats.families.tables.values()]
    arrays += [stats.moments.pivot, stats.moments.weight, stats.moments.mean, stats.moments.m2]
    return [repr(stats.schema).encode(), *(a.tobytes() for a in arrays)]


def test_what_blocks_count_is_what_a_fit_counts(tmp_path: Path) -> None:
    """Weighted; missing cells keep their slot, and a resumed or threaded run gives the same bits."""
    frame = rows(400)
    made = files(frame, tmp_path)
    stats = collect_parquet(made, target="good", weight="times", threads=2)
    model = NaiveBayes().fit(features(frame), frame["good"], frame["times"])
    assert_as_fitted(stats, model.stats_)
    lost = frame["times"][frame["sound"].isna()].sum()
    assert stats.counts.tables["sound"][:, 0].sum() == lost > 0
    assert bits(collect_parquet(made, target="good", weight="times", threads=1)) == bits(stats)
    ours = NaiveBayes().fit_stats(stats).predict_proba(features(frame))
    np.testing.assert_allclose(ours, model.predict_proba(features(frame)), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_the_tree_is_the_same_in_whatever_order_blocks_come(seed: int) -> None:
    """Moments too, of fractional weights too."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    frames = [rows(50, seed=i) for i in range(n)]
    leaves = [collect_batches([f.assign(times=f["times"] / 3 + 0.1)], target="good", weight="times") for f in frames]
    nodes = [PartialNode(0, 0, i, i + 1, 50, stats) for i, stats in enumerate(leaves)]
    in_turn, shuffled = MergeTree(), MergeTree()
    for node in nodes:
        in_turn.add(node)
    for i in rng.permutation(n):
        shuffled.add(nodes[i])
    a, b = in_turn.total(), shuffled.total()
    assert a is not None and b is not None and bits(a) == bits(b)
    assert [(n.start, n.stop) for n in in_turn.nodes] == [(n.start, n.stop) for n in shuffled.nodes]
    assert len(in_turn.nodes) == n.bit_count()


@pytest.mark.slow
def test_frames_batches_and_csv_count_the_same(tmp_path: Path) -> None:
    frame = rows(1000)
    fitted = NaiveBayes().fit(features(frame), frame["good"], frame["times"]).stats_
    pieces = [frame[i : i + 130].reset_index(drop=True) for i in range(0, 1000, 130)]
    tables = [pa.Table.from_pandas(p, preserve_index=False) for p in pieces]
    batches = pa.Table.from_pandas(frame, preserve_index=False).to_batches(90)
    for yielded in (pieces, tables, batches):
        assert_as_fitted(collect_batches(iter(yielded), target="good", weight="times"), fitted)
    plain = frame.astype({"touch": object})
    fitted = NaiveBayes().fit(features(plain), plain["good"], plain["times"]).stats_
    of_polars = (pl.from_pandas(plain[i : i + 200]) for i in range(0, 1000, 200))
    assert_as_fitted(collect_batches(of_polars, target="good", weight="times"), fitted)
    for suffix in ("csv", "csv.gz"):
        frame.to_csv(tmp_path / f"a.{suffix}", index=False)
        read = pd.read_csv(tmp_path / f"a.{suffix}")
        fitted = NaiveBayes().fit(features(read), read["good"], read["times"]).stats_
        assert_as_fitted(collect_csv(tmp_path / f"a.{suffix}", target="good", weight="times"), fitted)


@pytest.mark.slow
def test_csv_in_several_blocks_breaks_no_quoted_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", 4096)
    frame = rows(3000)
    frame.loc[::7, "sound"] = 'dull,\n"very"'
    frame.to_csv(tmp_path / "a.csv", index=False)
    read = pd.read_csv(tmp_path / "a.csv")
    seen: list[Progress] = []
    stats = collect_csv(tmp_path / "a.csv", target="good", weight="times", progress=seen.append)
    assert_as_fitted(stats, NaiveBayes().fit(features(read), read["good"], read["times"]).stats_)
    assert seen[-1].rows == 3000 and seen[-1].share == 1.0 and len(seen) > 5


MODELS: list[tuple[Any, str]] = [
    (NaiveBayes(), "columns"),
    (NaiveBayes(alpha=0.5, missing="category", priors="laplace"), "columns"),
    (SPODE("sound", discretize=None), "pairs"),
    (TAN(discretize=None), "pairs"),
    (AODE(discretize=None), "pairs"),
    (KDependence(1, discretize=None), "pairs"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "want"), MODELS, ids=lambda v: type(v).__name__)
def test_a_model_of_the_statistics_is_the_model_of_the_rows(model: Any, want: str, tmp_path: Path) -> None:
    frame = rows(1200)
    stats = collect_parquet(files(frame, tmp_path), target="good", weight="times", want=want)
    ours = type(model)(**model.get_params()).fit_stats(stats)
    theirs = model.fit(features(frame), frame["good"], frame["times"])
    if want == "pairs":
        for name, table in theirs.stats_.families.tables.items():
            np.testing.assert_array_equal(stats.families.tables[name], table)
    if isinstance(model, TAN):
        assert ours.tree_ == theirs.tree_
    log_p = ours.predict_joint_log_proba(features(frame))
    np.testing.assert_allclose(log_p, theirs.predict_joint_log_proba(features(frame)), rtol=1e-11, atol=1e-11)
    assert (ours.predict(features(frame)) == theirs.predict(features(frame))).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis(), FisherDiscriminant(),
     LinearDiscriminantAnalysis(shrinkage="oas")],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_discriminants_of_scatter_matrices_are_those_of_the_rows(model: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(50, 3, (900, 3)), columns=["a", "b", "c"])
    frame["good"] = np.where(frame["a"] + rng.normal(0, 3, 900) > 50, "yes", "no")
    stats = collect_parquet(files(frame, tmp_path), target="good", want="scatter")
    X = frame[["a", "b", "c"]]
    ours = type(model)(**model.get_params()).fit_stats(stats)
    theirs = model.fit(X, frame["good"])
    assert (ours.predict(X) == theirs.predict(X)).all()
    if hasattr(ours, "scalings_"):
        np.testing.assert_allclose(ours.scalings_, theirs.scalings_, rtol=1e-11, atol=1e-12)
    if hasattr(ours, "covariance_"):
        np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_a_schema_says_levels_intervals_and_whole_numbers(tmp_path: Path) -> None:
    frame = rows(900)
    cut = Variable("mass", "continuous", ("low", "high"), declared=True, cuts=(1e6,))
    schema = Schema(
        (
            Variable("seeds", "categorical", (5, 3)),
            cut,
            Variable("ripe", "binary", (False, True)),
            Variable("good", "categorical", role="target"),
        )
    )
    stats = collect_parquet(files(frame, tmp_path), schema=schema)
    fitted = NaiveBayes(schema=schema).fit(features(frame), frame["good"]).stats_
    assert_as_fitted(stats, fitted)
    assert stats.schema["seeds"].levels[:2] == (5, 3)
    counted = Schema((Variable("seeds", "count", likelihood="poisson"),))
    stats = collect_parquet(tmp_path, target="good", schema=counted)
    fitted = NaiveBayes(likelihoods={"seeds": "poisson"}).fit(frame[["seeds"]], frame["good"]).stats_
    np.testing.assert_array_equal(stats.values.columns["seeds"].weight, fitted.values.columns["seeds"].weight)


@pytest.mark.slow
@pytest.mark.parametrize("model", [NaiveBayes(discretize="mdlp"), SPODE("sound"), TAN(), AODE(), KDependence(1),
                                   TAN(discretize="quantile", bins=4), TAN(discretize="equal-width")])  # fmt: skip
def test_cut_points_take_a_pass_of_their_own_and_are_those_of_the_rows(model: Any, tmp_path: Path) -> None:
    frame = rows(1200)
    frame["mass"] = (frame["mass"] + (frame["good"] == "yes") * 2).round(2)
    frame["seeds"] = frame["seeds"] + (frame["good"] == "no") * 15
    made = files(frame, tmp_path)
    values = collect_parquet(made, target="good", weight="times", want="values")
    schema = cut_schema(values, method=model.discretize, bins=model.bins)
    want = "columns" if isinstance(model, NaiveBayes) else "pairs"
    stats = collect_parquet(made, target="good", weight="times", schema=schema, want=want)
    theirs = model.fit(features(frame), frame["good"], frame["times"])
    assert [v.cuts for v in schema] == [v.cuts for v in theirs.schema_]
    assert any(v.cuts for v in schema)
    assert_as_fitted(stats, theirs.stats_)
    for name, table in theirs.stats_.families.tables.items():
        np.testing.assert_array_equal(stats.families.tables[name], table)
    ours = type(model)(**model.get_params()).fit_stats(stats)
    np.testing.assert_array_equal(
        ours.predict_joint_log_proba(features(frame)), theirs.predict_joint_log_proba(features(frame))
    )


@pytest.mark.slow
def test_more_values_than_points_stand_on_one_grid_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "MOST_POINTS", 300)
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.normal(0, 1, 2000), rng.normal(4, 1, 2000), [-0.0, 1e-300, -7e5]])
    frame = pd.DataFrame({"x": x, "good": np.where(x > 2, "yes", "no")}).sample(frac=1, random_state=0)

    def counted(order: Any, size: int) -> Any:
        pieces = (frame.iloc[order[i : i + size]] for i in range(0, len(frame), size))
        return collect_batches(pieces, target="good", want="values")

    one = counted(np.arange(len(frame)), 4100).values.columns["x"]
    assert 150 < len(one.points) <= 300 and 30 < one.dropped < 50
    for size in (37, 400):
        other = counted(rng.permutation(len(frame)), size).values.columns["x"]
        assert other.dropped == one.dropped
        np.testing.assert_array_equal(other.points, one.points)
        np.testing.assert_array_equal(other.weight, one.weight)
    stats = counted(np.arange(len(frame)), 500)
    with pytest.warns(EstimationWarning, match="more than 300 distinct values.*as fine as one part in"):
        schema = cut_schema(stats)
    [cut] = schema["x"].cuts or ()
    assert abs(cut - 2) < 2 * 2.0 ** (one.dropped - 52)
    again = collect_batches([frame], target="good", schema=schema)
    below = float((frame["x"] <= cut).sum())
    assert again.counts.tables["x"].sum(axis=0).tolist() == [0.0, below, len(frame) - below]
    with pytest.raises(ParameterError, match="count with want='values'"):
        cut_schema(collect_batches([frame], target="good"))


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 1e3])
def test_moments_keep_their_digits_far_from_zero(share: float, tmp_path: Path) -> None:
    """N(1e9, 1) by blocks whose means wander by so many standard deviations, beside sums of whole numbers."""
    from fractions import Fraction

    rng = np.random.default_rng(3)
    x = np.round(rng.normal(0, 1, 600) * 2**20) / 2**20 + np.repeat(rng.normal(0, share, 6), 100).round() + 1e9
    frame = pd.DataFrame({"x": x, "good": np.tile(["a", "b"], 300)})
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    got = collect_parquet(tmp_path / "a.parquet", target="good").moments.column("x")
    for c in range(2):
        exact = [Fraction(float(v)) for v in x[c::2]]
        mean = sum(exact) / len(exact)
        m2 = float(sum((v - mean) ** 2 for v in exact))
        assert got.m2[c] == pytest.approx(m2, rel=1e-12)
        assert got.mean[c] == pytest.approx(float(mean), rel=1e-12)


# broken off and taken up again --------------------------------------------------------------------------------------


class Enough(Exception):
    pass


def after(n: int) -> Any:
    """Stops the pass when so many rows are counted."""

    def look(far: Progress) -> None:
        if far.rows >= n:
            raise Enough

    return look


@pytest.mark.slow
@pytest.mark.parametrize("want", ["columns", "pairs"])
def test_a_pass_that_is_broken_off_goes_on_to_the_same_bits(want: str, tmp_path: Path) -> None:
    made = files(rows(1500), tmp_path, group=60)
    whole = collect_parquet(made, target="good", weight="times", want=want)
    kept = tmp_path / "part.bayes"
    for n in (100, 700):
        with pytest.raises(Enough):
            collect_parquet(made, target="good", weight="times", want=want, resume=kept, progress=after(n), threads=2)
        assert n <= sum(node.rows for node in load_partial(kept).nodes) < 1500
    far: list[Progress] = []
    again = collect_parquet(made, target="good", weight="times", want=want, resume=kept, progress=far.append)
    assert bits(again) == bits(whole)
    assert far[0].rows > 700 and far[-1].rows == 1500 and far[-1].rows_now < 800 and far[-1].left == 0.0
    rows(200, seed=9).to_parquet(tmp_path / "part3.parquet")  # a file more: the others are not counted again
    more = [*made, tmp_path / "part3.parquet"]
    assert bits(collect_parquet(more, target="good", weight="times", want=want, resume=kept)) == bits(
        collect_parquet(more, target="good", weight="times", want=want)
    )


@pytest.mark.slow
def test_a_watcher_calls_it_off_and_what_was_counted_is_kept(tmp_path: Path) -> None:
    made = files(rows(1500), tmp_path, group=60)
    kept, far = tmp_path / "part.bayes", list[float]()
    with pytest.raises(Cancelled), watching(lambda: bool(far and far[-1] > 200), lambda d, t: far.append(d), pace=0.0):
        collect_parquet(made, target="good", resume=kept)
    assert 200 < sum(node.rows for node in load_partial(kept).nodes) < 1500
    assert bits(collect_parquet(made, target="good", resume=kept)) == bits(collect_parquet(made, target="good"))


@pytest.mark.slow
def test_a_killed_process_leaves_what_it_saved(tmp_path: Path) -> None:
    made = files(rows(3000), tmp_path, group=20)
    kept = tmp_path / "part.bayes"
    code = (
        "import sys, time\nfrom bayes_engine import collect_parquet\nfrom bayes_engine.scale import kept\n"
        "kept.SAVED_EACH = kept.COST = 0.0\n"
        "collect_parquet(sys.argv[2:], target='good', resume=sys.argv[1], progress=lambda far: time.sleep(0.05))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(kept), *map(str, made)], cwd=ROOT)
    while not kept.exists():
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < sum(node.rows for node in load_partial(kept).nodes) < 3000
    assert bits(collect_parquet(made, target="good", resume=kept)) == bits(collect_parquet(made, target="good"))


@pytest.mark.slow
def test_csv_and_batches_are_taken_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", 4096)
    frame = rows(3000)
    frame.to_csv(tmp_path / "a.csv", index=False)
    pieces = [frame[i : i + 100] for i in range(0, 3000, 100)]
    kept = tmp_path / "part.bayes"
    with pytest.raises(Enough):
        collect_csv(tmp_path / "a.csv", target="good", resume=kept, progress=after(800), threads=1)
    assert bits(collect_csv(tmp_path / "a.csv", target="good", resume=kept)) == bits(
        collect_csv(tmp_path / "a.csv", target="good")
    )
    kept.unlink()
    with pytest.raises(Enough):
        collect_batches(pieces, target="good", resume=kept, progress=after(800), threads=1)
    assert bits(collect_batches(pieces, target="good", resume=kept)) == bits(collect_batches(pieces, target="good"))
    frame[:1000].to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(StoreError, match="changed since"):
        collect_csv(tmp_path / "a.csv", target="good", resume=kept)


def test_a_count_of_another_question_is_refused_and_one_of_changed_files_counted_anew(tmp_path: Path) -> None:
    frame = rows(900)
    made = files(frame, tmp_path)
    kept = tmp_path / "part.bayes"
    collect_parquet(made, target="good", resume=kept)
    for ask in ({"weight": "times"}, {"want": "pairs"}, {"columns": ["sound"]}):
        with pytest.raises(StoreError, match="holds a count with another"):
            collect_parquet(made, target="good", resume=kept, **ask)  # type: ignore[arg-type]
    changed = frame[600:].assign(seeds=7)
    changed.to_parquet(made[2], row_group_size=70)
    assert bits(collect_parquet(made, target="good", resume=kept)) == bits(collect_parquet(made, target="good"))
    for path in made:
        os.utime(path, ns=(0, 0))
    with pytest.raises(StoreError, match="files that have changed since"):
        collect_parquet(made, target="good", resume=kept)
    (tmp_path / "other").write_bytes(NaiveBayes().fit(features(frame), frame["good"]) and b"bayes")
    with pytest.raises(StoreError):
        collect_parquet(made, target="good", resume=tmp_path / "other")
    assert (tmp_path / "other").read_bytes() == b"bayes"
    with pytest.raises(StoreError, match="there is no folder"):
        collect_parquet(made, target="good", resume=tmp_path / "nowhere" / "part.bayes")


@pytest.mark.slow
def test_nothing_half_written_stays_where_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = files(rows(900), tmp_path)
    kept = tmp_path / "part.bayes"
    with pytest.raises(Enough):
        collect_parquet(made, target="good", resume=kept, progress=after(100), threads=1)
    before = kept.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bayes_engine.store.container.os.fsync", full)
    with pytest.raises(StoreError, match=r"part\.bayes' cannot be written: .*No space left"):
        collect_parquet(made, target="good", resume=kept)
    assert kept.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["part.bayes", *(p.name for p in made)]


# what is refused, and how it is said --------------------------------------------------------------------------------


def refused(error: type[BaseException], path: Any, **ask: Any) -> str:
    with pytest.raises(error) as caught:
        collect_parquet(path, target="good", **ask)
    assert isinstance(caught.value, BayesEngineError)
    return str(caught.value)


def test_two_types_for_one_level_are_named_with_both_files(tmp_path: Path) -> None:
    a, b = tmp_path / "a.parquet", tmp_path / "b.parquet"
    pd.DataFrame({"size": [1, 2], "good": ["y", "n"]}).to_parquet(a)
    pd.DataFrame({"size": ["1", "2"], "good": ["y", "n"]}).to_parquet(b)
    text = refused(SchemaMismatch, [a, b])
    assert "'size' holds numbers in 'a.parquet' and strings in 'b.parquet'" in text
    pd.DataFrame({"size": [1, 2], "good": [1, 0]}).to_parquet(b)
    assert "'good' holds strings in 'a.parquet' and numbers in 'b.parquet'" in refused(SchemaMismatch, [a, b])
    frames = iter([pd.DataFrame({"s": ["1", "2"], "good": [0, 1]}), pd.DataFrame({"s": [1, 2], "good": [0, 1]})])
    with pytest.raises(SchemaMismatch, match="strings in 'batch 1' and numbers in 'batch 2'"):
        collect_batches(frames, target="good")
    with pytest.raises(TableError, match="batch 1 is a DataFrame that cannot be read"):
        collect_batches([pd.DataFrame({"s": [1, "1"], "good": [0, 1]})], target="good")
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("size,good\n1,y\n2,n\n")
    b.write_text("size,good\nsmall,y\n2,n\n")
    with pytest.raises(SchemaMismatch, match=r"numbers in 'a\.csv' and strings in 'b\.csv'"):
        collect_csv([a, b], target="good")


@pytest.mark.slow
def test_a_column_that_one_file_lacks_is_named(tmp_path: Path) -> None:
    made = files(rows(300), tmp_path)
    rows(300).drop(columns="mass").to_parquet(made[1])
    assert "'mass' is not in 'part1.parquet', and 'part0.parquet' has it" in refused(TableError, made)
    rows(300).assign(more=1).to_parquet(made[1])
    assert "'more' is not in 'part0.parquet', and 'part1.parquet' has it" in refused(TableError, made)
    assert collect_parquet(made, target="good", columns=["sound", "mass"]).schema.names == ("sound", "mass")
    assert "there is no column 'nothing'" in refused(TableError, made, columns=["nothing"])
    pd.DataFrame({"day": pd.to_datetime(["2026-01-01"]), "good": ["y"]}).to_parquet(tmp_path / "d.parquet")
    assert "'day' in 'd.parquet' is of the type timestamp" in refused(TableError, tmp_path / "d.parquet")


def test_a_column_that_only_later_batches_have_is_named() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0], "good": ["a", "b"]})
    batches = [frame, frame, frame.assign(new=["k", "l"])]
    with pytest.raises(TableError, match="column 'new' is not in 'batch 1', and 'batch 3' has it"):
        collect_batches(batches, target="good")
    schema = Schema((Variable("x", "continuous"),))
    for chosen in ({"columns": ["x"]}, {"schema": schema}):
        assert collect_batches(batches, target="good", **chosen).schema.names == ("x",)  # type: ignore[arg-type]


def test_two_columns_of_one_name_are_refused_as_in_a_frame(tmp_path: Path) -> None:
    table = pa.table([pa.array([1.0, 2.0]), pa.array([3.0, 4.0]), pa.array(["a", "b"])], names=["x", "x", "good"])
    frame = pd.DataFrame([[1.0, 2.0, "a"], [3.0, 4.0, "b"]], columns=["x", "x", "good"])
    for batches in ([table], table.to_batches(), [table.select([0, 2]), table], [frame]):
        with pytest.raises(TableError, match="the column name 'x' stands twice; rename one of the columns"):
            collect_batches(batches, target="good")
    pq.write_table(table, tmp_path / "a.parquet")
    assert "'a.parquet' has two columns 'x'; rename one of them" in refused(ReadError, tmp_path / "a.parquet")


@pytest.mark.slow
def test_files_in_folders_are_told_apart_and_hidden_ones_left_alone(tmp_path: Path) -> None:
    frame = rows(200)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    pa_table = pa.Table.from_pandas(frame[:100], preserve_index=False)
    strings = pa_table.schema.get_field_index("sound")
    large = pa_table.set_column(strings, "sound", pa_table["sound"].cast(pa.large_string()))
    pq.write_table(large, tmp_path / "a" / "part.parquet")
    frame[100:].to_parquet(tmp_path / "b" / "part.parquet")
    (tmp_path / "b" / ".part.parquet.crc").write_bytes(b"crc")
    (tmp_path / "_temporary.parquet").write_bytes(b"")
    fitted = NaiveBayes().fit(features(frame), frame["good"], frame["times"]).stats_
    assert_as_fitted(collect_parquet(tmp_path, target="good", weight="times"), fitted)
    frame[100:].assign(sound=1).to_parquet(tmp_path / "b" / "part.parquet")
    text = refused(SchemaMismatch, tmp_path)
    assert str(tmp_path / "a" / "part.parquet") in text and str(tmp_path / "b" / "part.parquet") in text


@pytest.mark.slow
@pytest.mark.parametrize("likelihood", ["kernel", "poisson", "categorical", "joint-multinomial"])
def test_other_likelihoods_are_counted_by_a_schema_that_names_them(
    likelihood: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = rows(600).assign(more=np.arange(600) % 11)
    chosen: Any = {"seeds": likelihood, "more": likelihood}
    model = NaiveBayes(likelihoods=chosen).fit(features(frame), frame["good"])
    made = files(frame, tmp_path)
    stats = collect_parquet(made, target="good", schema=model.schema_)
    ours = NaiveBayes(likelihoods=chosen).fit_stats(stats).predict_proba(features(frame))
    np.testing.assert_allclose(ours, model.predict_proba(features(frame)), rtol=1e-9)
    if likelihood in ("kernel", "poisson"):
        monkeypatch.setattr(scan, "MOST_VALUES", 20)
        text = refused(ReadError, made, schema=model.schema_)
        assert "column 'seeds' has more than 20 distinct values, and its likelihood keeps each" in text


@pytest.mark.slow
def test_numbers_are_no_classes(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [0.5, 1.5]})
    with pytest.raises(ReadError, match=r"the target 'y' holds 0\.5, a number and no class"):
        collect_batches([frame], target="y")
    whole = collect_batches([frame.assign(y=[0.0, 1.0])], target="y")
    assert whole.target.levels == (0.0, 1.0)


@pytest.mark.slow
def test_numbers_of_two_widths_levels_of_two_dictionaries_and_empty_columns_merge(tmp_path: Path) -> None:
    a = pd.DataFrame({"x": np.array([1, 2, 3, 5], dtype=np.int8), "t": pd.Categorical(["u", "v", "u", "v"]),
                      "e": pd.Series([None] * 4, dtype=object), "good": ["y", "n", "y", "n"]})  # fmt: skip
    b = pd.DataFrame({"x": [0.5, np.nan, 2.0, 3.0], "t": pd.Categorical(["w", "v", None, "w"]),
                      "e": ["p", None, "q", "p"], "good": ["y", "n", "m", "m"]})  # fmt: skip
    a.to_parquet(tmp_path / "a.parquet")
    b.to_parquet(tmp_path / "b.parquet")
    whole = pd.concat([a, b], ignore_index=True)
    fitted = NaiveBayes().fit(whole.drop(columns="good"), whole["good"]).stats_
    assert_as_fitted(collect_parquet(tmp_path, target="good"), fitted)


@pytest.mark.slow
def test_a_truncated_file_is_named_before_a_row_is_counted(tmp_path: Path) -> None:
    made = files(rows(300), tmp_path)
    made[1].write_bytes(made[1].read_bytes()[:-200])
    kept = tmp_path / "part.bayes"
    assert "'part1.parquet' cannot be read as Parquet" in refused(ReadError, made, resume=kept)
    assert not kept.exists()


def spoil(path: Path, group: int) -> None:
    """Overwrites the first page of a column in one row group."""
    column = pq.ParquetFile(path).metadata.row_group(group).column(3)
    start = column.dictionary_page_offset or column.data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 40] = b"\xff" * 40
    path.write_bytes(bytes(data))


@pytest.mark.slow
def test_a_damaged_row_group_is_named_and_what_was_counted_goes_on(tmp_path: Path) -> None:
    frame = rows(900)
    made = files(frame, tmp_path, group=100)
    sound = made[1].read_bytes()
    spoil(made[1], 1)
    kept = tmp_path / "part.bayes"
    assert "'part1.parquet', row group 2 of 3: " in refused(ReadError, made, resume=kept, threads=1)
    nodes = load_partial(kept).nodes
    assert sum(node.rows for node in nodes) >= 300 and (1, 1) not in MergeTree(nodes)
    made[1].write_bytes(sound)
    far: list[Progress] = []
    stats = collect_parquet(made, target="good", resume=kept, progress=far.append)
    assert bits(stats) == bits(collect_parquet(made, target="good")) and far[-1].rows_now <= 600


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("mass", np.inf, "column 'mass' holds infinity or a value too large to be squared in row 251"),
        ("good", None, "the target 'good' has no value in row 251"),
        ("times", -1, "the weight 'times' is missing, below 0 or too large in row 251"),
        ("times", None, "the weight 'times' is missing, below 0 or too large in row 251"),
    ],
)
def test_a_cell_that_a_fit_refuses_is_named_by_file_row_group_and_row(
    column: str, value: Any, said: str, tmp_path: Path
) -> None:
    frame = rows(400).astype({"times": float})
    frame.loc[250, column] = value
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=100)
    text = refused(ReadError, tmp_path / "a.parquet", weight="times", resume=tmp_path / "part.bayes", threads=1)
    assert text.startswith(f"'a.parquet', row group 3 of 4: {said}")
    assert next((n.start, n.stop) for n in load_partial(tmp_path / "part.bayes").nodes) == (0, 2)


def test_what_needs_the_rows_is_refused_in_words(tmp_path: Path) -> None:
    made = files(rows(300), tmp_path)
    pairs = collect_parquet(made, target="good", want="pairs")
    plain = collect_parquet(made, target="good")
    for model, stats, said in (
        (SPODE(discretize=None), pairs, "needs the rows"),
        (KDependence(2, discretize=None), pairs, "needs the rows"),
        (TAN(), pairs, "discretize='mdlp' needs the rows, and column 'mass' is counted as numbers"),
        (NaiveBayes(discretize="quantile"), plain, "discretize='quantile' needs the rows"),
        (TAN(discretize=None), plain, "no tables of pairs"),
        (LinearDiscriminantAnalysis(), plain, "no scatter matrices"),
    ):
        with pytest.raises(ParameterError, match=said):
            model.fit_stats(stats)
    with pytest.raises(TableError, match="column 'sound' has missing cells"):
        NaiveBayes(missing="error").fit_stats(plain)
    with pytest.raises(TableError, match="1 class"):
        NaiveBayes().fit_stats(collect_batches([rows(50).assign(good="y")], target="good"))
    assert "discriminant analysis needs numbers" in refused(
        BayesEngineError, made, want="scatter", columns=["seeds", "sound"]
    )
    assert "'mass' has no value in row" in refused(ReadError, made, want="scatter", columns=["mass"])
    for ask, said in (({"want": "all"}, "want"), ({"threads": 0}, "threads=0"), ({"columns": ["a", "a"]}, "twice")):
        assert said in refused(ParameterError, made, **ask)  # type: ignore[arg-type]
    assert "named twice" in refused(ParameterError, [*made, made[0]])
    assert "there is no file" in refused(ReadError, tmp_path / "nothing.parquet")


@pytest.mark.slow
def test_without_pyarrow_the_library_imports_and_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\nimport bayes_engine as b\n"
        "b.NaiveBayes().fit([['a'], ['b']], [0, 1])\n"
        "try: b.collect_parquet(sys.argv[1], target='y')\nexcept b.BayesEngineError as e: print(e)"
    )
    (tmp_path / "a.parquet").write_bytes(b"")
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "pip install 'bayes-engine[scale]'" in ran.stdout


@pytest.mark.slow
def test_an_iterator_that_fails_leaves_what_was_counted(tmp_path: Path) -> None:
    def broken() -> Iterator[pd.DataFrame]:
        yield from (rows(50, seed=i) for i in range(4))
        raise OSError("the line is cut")

    kept = tmp_path / "part.bayes"
    with pytest.raises(OSError, match="the line is cut"):
        collect_batches(broken(), target="good", resume=kept)
    assert sum(node.rows for node in load_partial(kept).nodes) == 200
    again = collect_batches((rows(50, seed=i) for i in range(6)), target="good", resume=kept)
    assert bits(again) == bits(collect_batches((rows(50, seed=i) for i in range(6)), target="good"))


@pytest.mark.slow
def test_batches_of_a_row_group_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts to the last bit, whatever the size of what is decoded at a time."""
    made = files(rows(900), tmp_path, group=300)
    whole = collect_parquet(made, target="good")
    monkeypatch.setattr("bayes_engine.scale.sources.BATCH", 37)
    assert_as_fitted(collect_parquet(made, target="good"), whole)
    assert memory.BATCH == 2**16


def test_threads_are_no_more_than_memory_is_meant_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen columns on many cores; of a wide table batches are short."""
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    schema = Schema(tuple(Variable(f"x{j}", "continuous") for j in range(5)))
    levels = Schema(tuple(Variable(f"c{j}", "categorical") for j in range(10)))
    plan = CountPlan(Schema((*schema, *levels)), "y", None, "pairs")
    assert memory.threads_of(None) == 8
    assert memory.threads_of(None, plan=plan) == 3
    assert memory.threads_of(None, plan=replace(plan, want="values")) == 2
    assert [memory.threads_of(n, plan=plan) for n in (2, 6, 8)] == [2, 4, 4]
    small = NaiveBayes().fit(pd.DataFrame({"c0": ["a", "b"]}), ["no", "yes"]).stats_
    large = replace(small, counts=replace(small.counts, tables={"c0": np.zeros((2, 2**20))}))
    nodes = [PartialNode(0, 0, 0, 1, 9, stats) for stats in (None, small, large)]
    assert [memory.at_a_time(4, plan, memory.bytes_of(node)) for node in nodes] == [4, 4, 2]
    assert [memory.at_a_time(4, plan, 1e6, kept) for kept in (0.0, 9e7, 2e8, 9e9)] == [4, 2, 1, 1]
    assert memory.batch_rows(16) == memory.BATCH and memory.batch_rows(1000) == 1048


def test_what_waits_to_be_merged_leaves_room_for_fewer_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of seven row groups up to three nodes of the tree are held at a time, with the values they have."""
    made, kept = files(rows(2100), tmp_path, group=100), list[float]()
    at_a_time = memory.at_a_time

    def seen(threads: int, plan: CountPlan, counts: float, held: float = 0.0) -> int:
        kept.append(held / counts)
        return at_a_time(threads, plan, counts, held)

    monkeypatch.setattr(scan, "at_a_time", seen)
    collect_parquet(made, target="good", threads=1)
    assert max(kept) > 2.0
    plain, kept[:] = max(kept), []
    collect_parquet(made, target="good", want="values", threads=1)
    assert max(kept) > 2.0 * plain


ROW_GROUP = """
import sys
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pathlib import Path
from bayes_engine.scale.plan import CountRequest, planned
from bayes_engine.scale.memory import held_by_thread
from bayes_engine.scale.sources import Parquet
from bayes_engine.stats.partial import MergeTree

rng, n = np.random.default_rng(0), 300_000
levels = pa.array([f"level {k}" for k in range(100)])
columns = {f"x{j}": rng.normal(size=n) for j in range(8)}
columns |= {name: levels.take(pa.array(rng.integers(0, 100, n))) for name in (*"abcdefg", "y")}
pq.write_table(pa.table(columns), sys.argv[1])
del columns
source = Parquet([Path(sys.argv[1])])
plan = planned(source, CountRequest("y", None, None, None, "columns"))
block, before = next(iter(source.blocks(plan, MergeTree()))), pa.total_allocated_bytes()
print(max(pa.total_allocated_bytes() - before for batch in block.batches()) / held_by_thread(plan))
"""


@pytest.mark.slow
def test_a_row_group_is_read_in_less_than_a_thread_is_expected_to_hold(tmp_path: Path) -> None:
    """Eight columns of numbers and eight of strings: the rest is for the batch as it is encoded and counted."""
    asked = [sys.executable, "-c", ROW_GROUP, str(tmp_path / "one.parquet")]
    ran = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(ran.stdout) < 0.65


def test_what_a_thread_lets_go_of_is_given_back_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the pass, and by the thread that counts, whose part of Arrow's pool no other thread gives back."""
    by, made = list[str](), files(rows(700), tmp_path, group=100)
    for room in (scan, memory):
        monkeypatch.setattr(room, "release", lambda: by.append(threading.current_thread().name.partition("_")[0]))
    monkeypatch.setattr(memory, "TIDY_CELLS", 200 * len(rows(1).columns))
    collect_parquet(made, target="good", threads=1)
    assert by == ["MainThread", "scale", "scale", "scale"]


def test_a_table_that_no_longer_grows_is_not_copied() -> None:
    table, stays = np.ones((2, 3)), (np.arange(2), 2)
    assert widen(table, stays) is table and widen(table, stays, (np.arange(3), 3)) is table
    assert widen(table, (np.array([1, 0]), 2)) is not table
    assert widen(table, (np.arange(2), 3)).tolist() == [[1.0] * 3, [1.0] * 3, [0.0] * 3]


def test_what_no_count_can_be_made_of_is_refused_in_words(tmp_path: Path) -> None:
    whole, none = tmp_path / "a.parquet", tmp_path / "none.parquet"
    frame = rows(40)
    frame.to_parquet(whole)
    frame.iloc[:0].to_parquet(none)
    assert "the files are empty" in refused(TableError, none, columns=["seeds"])
    assert "there is no column to count" in refused(ParameterError, whole, columns=["good"])
    assert "the weight 'sound' holds strings" in refused(TableError, whole, columns=["mass"], weight="sound")
    assert "sum to 1.2e+17" in refused(TableError, _weighing(frame, tmp_path, 3e15), columns=["mass"], weight="times")
    assert "too large in row 1" in refused(
        TableError, _weighing(frame, tmp_path, -1.0), columns=["mass"], weight="times"
    )
    cut = Schema((Variable("mass", "continuous", ("low", "high"), cuts=(1e6,)),))
    frame.assign(mass=[np.inf, *[1.0] * 39]).to_parquet(none)
    assert "'mass' holds infinity in row 1" in refused(TableError, none, schema=cut)
    (tmp_path / "empty").mkdir()
    assert "there is no file to read" in refused(ReadError, tmp_path / "empty")
    with pytest.raises(ParameterError, match="target= names no column"):
        collect_parquet(whole, target=None)  # type: ignore[arg-type]
    with pytest.raises(TableError, match="the iterator yields nothing"):
        collect_batches([], target="good")
    text = tmp_path / "a.csv"
    for lines, error, said in (
        ("good,x,x\ny,1,2\n", ReadError, "has two columns 'x'"),
        ("good,x\ny,1,2\nn\n", ReadError, "block 1 cannot be read"),
        ("good,x\ny,\nn,\n", TableError, "'x' has no value in 'a.csv' as far as it is read"),
    ):
        text.write_text(lines)
        with pytest.raises(error, match=said):
            collect_csv(text, target="good")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_quote_that_is_never_closed_is_refused_and_one_within_a_cell_is_none(encoding: str, tmp_path: Path) -> None:
    text = tmp_path / "a.csv"
    head = "good,x\n" + "u,a\nv,b\n" * 50
    for tail in ('u,"a\n' + "v,b\n" * 50, 'u,5" pipe\nv,"b', 'u,"a""\n'):
        text.write_text(head + tail, encoding=encoding)
        with pytest.raises(ReadError, match=r"'a\.csv': a quote is opened and never closed"):
            collect_csv(text, target="good", encoding=encoding)
    for tail, level in (('u,5" pipe', '5" pipe'), ('u,"a ""big"" one"\n', 'a "big" one'), ('u,"a\nb"', "a\nb")):
        text.write_text(head + tail, encoding=encoding)
        stats = collect_csv(text, target="good", encoding=encoding)
        assert sorted(stats.schema["x"].levels) == sorted(("a", "b", level))
        assert stats.class_weight.tolist() == [51, 50]


def test_a_quote_that_stays_open_over_blocks_is_no_long_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", 4096)
    (tmp_path / "a.csv").write_text("good,x\n" + "u,a\nv,b\n" * 2000 + 'u,"a\n' + "v,b\n" * 9000)
    with pytest.raises(ReadError, match=r"'a\.csv', block \d+: a row is longer than a block of .* never closed"):
        collect_csv(tmp_path / "a.csv", target="good")


def test_a_page_that_is_not_what_its_checksum_says_is_refused(tmp_path: Path) -> None:
    """One bit of a number, which can be read as another number."""
    place = tmp_path / "a.parquet"
    table = pa.table({"x": np.arange(100.0), "good": ["n", "p"] * 50})
    pq.write_table(table, place, row_group_size=50, compression="none", use_dictionary=False, write_page_checksum=True)
    data = bytearray(place.read_bytes())
    data[data.index(np.float64(75.0).tobytes())] ^= 1
    place.write_bytes(data)
    assert pq.read_table(place)["x"][75].as_py() != 75.0
    assert "'a.parquet', row group 2 of 2: column 'x' cannot be read: " in refused(ReadError, place)


def test_a_cell_that_is_no_number_is_named_with_its_own_column(tmp_path: Path) -> None:
    """The target stands first in the file and last in what is read."""
    text = tmp_path / "a.csv"
    text.write_text("good,a,b,c\nu,0x1A,1,5\nv,0x1B,2,6\n")
    with pytest.raises(ReadError, match=r"'a\.csv', block 1: column 'a' holds '0x1A'"):
        collect_csv(text, target="good")


def test_a_file_of_another_encoding_is_named_with_its_column_and_what_to_say(tmp_path: Path) -> None:
    text = tmp_path / "a.csv"
    for lines, encoding, said in (
        ("good,a,x\nu,1,ä\nv,2,b\n", "utf-8", "'a.csv', block 1: column 'x' is no text in UTF-8; say by encoding="),
        ("good,ä\nu,1\nv,2\n", "utf-8", "'a.csv', block 1 cannot be read: .*; say by encoding="),
        ("good,x\nu,ä\nv,b\n", "ascii", "'a.csv', block 1 cannot be read: .*; say by encoding="),
        ("good,x\nu,ä\nv,b\n", "none", "'a.csv', block 1 cannot be read: unknown encoding: none; say by encoding="),
    ):
        text.write_bytes(lines.encode("latin-1"))
        with pytest.raises(ReadError, match=said):
            collect_csv(text, target="good", encoding=encoding)


@pytest.mark.slow
def test_a_pass_over_csv_that_fails_lets_the_process_end(tmp_path: Path) -> None:
    """Arrow reads ahead on a thread while the interpreter ends."""
    (tmp_path / "a.csv").write_text("good,x\n" + "u,a\nv,b\n" * 20_000)
    code = """
import sys, time
from bayes_engine import collect_csv
from bayes_engine.scale import csv_blocks, sources

class Slow:
    def __init__(self, stream): self.stream = stream
    def read_buffer(self, size): time.sleep(0.05); return self.stream.read_buffer(size)

of = csv_blocks._Bytes.of
csv_blocks._Bytes.of = lambda self, file, stream: of(self, file, Slow(stream))
csv_blocks.CSV_BLOCK = 4096
def stop(far): raise KeyError("stop")
collect_csv(sys.argv[1], target="good", progress=stop)
"""
    run = [sys.executable, "-c", code, str(tmp_path / "a.csv")]
    ended = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and ended.stderr.rstrip().endswith("KeyError: 'stop'")


def test_cells_of_csv_are_strings_where_the_declared_levels_are(tmp_path: Path) -> None:
    """Also those that look like numbers or truth values; classes likewise where the model has met strings."""
    text = tmp_path / "a.csv"
    text.write_text("good,code,flag\n" + "1,07,true\n0,08,false\n" * 20)
    schema = Schema((Variable("code", "categorical", ("07", "08")), Variable("flag", "categorical", ("true", "false"))))
    read = pd.read_csv(text, dtype=str)
    model = NaiveBayes(schema=schema).fit(read[["code", "flag"]], read["good"])
    stats = collect_csv(text, target="good", schema=schema)
    for name in ("code", "flag"):
        assert stats.schema[name] == model.stats_.schema[name]
        assert stats.counts.tables[name].tolist() == model.stats_.counts.tables[name].tolist()
    assert evaluate_files(model, text, target="good").risk == 0.0
    assert held_out_risk(NaiveBayes(schema=schema), text, target="good", folds=2).risk == 0.0


def test_csv_is_read_a_few_blocks_ahead_and_past_those_without_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrow would read 32 ahead, 256 MB; of blocks without rows it needs as many as come."""
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", 2**10)
    reads, own = list[int](), csv_blocks._Bytes.read

    def read(self: Any, size: int) -> Any:
        reads.append(size)
        return own(self, size)

    monkeypatch.setattr(csv_blocks._Bytes, "read", read)
    text = tmp_path / "a.csv"
    text.write_text("good,k\n" + "u,1\nv,2\n" * 10_000)
    source = csv_blocks.Csv([text], ",", "utf-8", {"good": ()})
    blocks = source.blocks(planned(source, CountRequest("good", None, None, None, "columns")), MergeTree())
    reads.clear()
    for number in range(1, 9):
        next(iter(blocks))
        time.sleep(0.05)
        assert number < len(reads) <= number + csv_blocks.AHEAD + 2  # the last of them waits
    assert len(list(blocks)) > 70
    monkeypatch.setattr(csv_blocks, "NO_ROWS", 0.001)
    text.write_text("good,k\n" + "u,1\n" + "\n" * 20_000 + "v,2\n")
    assert collect_csv(text, target="good").class_weight.tolist() == [1, 1]


def test_the_share_of_csv_is_that_of_the_blocks_that_came_not_of_what_is_read_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", 2**10)
    text, far = tmp_path / "a.csv", list[Progress]()
    text.write_text("good,k\n" + "u,1\nv,2\n" * 5000)
    collect_csv(text, target="good", threads=1, progress=far.append)
    told = [(one.rows / 10_000, one.share) for one in far if one.rows and one.share is not None]
    assert len(told) > 9 and told[-1] == (1.0, 1.0)  # of forty blocks some may end together
    assert all(abs(rows - share) < 0.1 for rows, share in told)


@pytest.mark.parametrize(
    ("low", "high"),
    [(2**63 + 1, 2**63 + 2), (2**70, 2**70 + 1), (-(2**63) - 2, -(2**63) - 1), (1e19, 2e19), (1.5, 2**63 + 2)],
)
def test_whole_numbers_of_more_than_63_bits_keep_their_digits(low: float, high: float, tmp_path: Path) -> None:
    """Floats that are written as such are floats, as in pandas 3; pandas 2 makes strings of what has more bits."""
    text = tmp_path / "a.csv"
    text.write_text("good,k,x\n" + f"u,{low},1\nv,{high},2\n" * 20)
    cells = pd.Series([low, high] * 20, dtype=object if isinstance(low, int) else float)
    read = pd.DataFrame({"good": ["u", "v"] * 20, "k": cells})
    schema = Schema((Variable("k", "categorical"),))
    fitted = NaiveBayes(schema=schema).fit(read[["k"]], read["good"]).stats_
    stats = collect_csv(text, target="good", schema=schema)
    assert_as_fitted(stats, fitted)
    assert [*map(type, stats.schema["k"].levels)] == [*map(type, fitted.schema["k"].levels)]
    assert held_out_risk(NaiveBayes(schema=schema), text, target="good", folds=2).risk == 0.0
    if low != 1.5:
        assert collect_csv(text, target="k", columns=["x"]).target.levels == (low, high)
    with text.open("a") as file:
        file.write(f"u,,{2**70}\n")
    counted = collect_csv(text, target="good", schema=schema)
    assert counted.schema["k"] == stats.schema["k"]
    assert counted.counts.tables["k"].tolist() == [[1, 20, 0], [0, 0, 20]]


def test_a_whole_number_of_more_digits_than_arrow_reads_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"good,k\nu,{10**38}\nv,1\n")
    with pytest.raises(ReadError, match=r"column 'k' in 'a\.csv' holds a whole number of more than 38 digits"):
        collect_csv(tmp_path / "a.csv", target="good", schema=Schema((Variable("k", "categorical"),)))
    assert sample_files(tmp_path / "a.csv", 2).rows == 2


def test_decimals_that_are_whole_keep_their_digits(tmp_path: Path) -> None:
    place = tmp_path / "a.parquet"
    values = [2**53, 2**53 + 1, None] * 10
    table = pa.table({"k": pa.array(values, pa.decimal128(38, 0)), "good": ["u", "v", "v"] * 10})
    pq.write_table(table, place)
    schema = Schema((Variable("k", "categorical"),))
    assert collect_parquet(place, target="good", schema=schema).schema["k"].levels == (2**53, 2**53 + 1)
    assert held_out_risk(NaiveBayes(schema=schema), place, target="good", folds=2).risk == 0.0
    pq.write_table(table.filter(table["k"].is_valid()).append_column("x", [np.arange(20.0)]), place)
    assert collect_parquet(place, target="k", columns=["x"]).target.levels == (2**53, 2**53 + 1)


def test_a_file_that_is_named_by_two_paths_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    place, link = tmp_path / "a.parquet", tmp_path / "link.parquet"
    rows(40).to_parquet(place)
    assert f"as '{place}' and as 'a.parquet'" in refused(ParameterError, [place, "a.parquet"])
    assert "named twice" in refused(ParameterError, [place, place])
    link.symlink_to(place)
    assert f"as '{place}' and as '{link}'" in refused(ParameterError, [place, link])
    assert "named twice" in refused(ParameterError, tmp_path)


@pytest.mark.parametrize(
    ("lines", "ask"),
    [
        (b"", {}),
        (b"good,x\nu,1,2\n", {}),
        (b"good,x\nu,1\n", {"encoding": "none"}),
        (gzip.compress(b"good,x\n" + b"u,1\n" * 5000)[:-10], {}),
    ],
)
def test_types_are_spoken_of_only_where_a_cell_does_not_fit_its_own(
    lines: bytes, ask: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / ("a.csv.gz" if lines[:1] == b"\x1f" else "a.csv")
    place.write_bytes(lines)
    said = r"block 1 cannot be read: .*; (see that the file is whole|say by encoding=)"
    with pytest.raises(ReadError, match=said) as error:
        collect_csv(place, target="good", **ask)  # type: ignore[arg-type]
    assert "type" not in str(error.value)


@pytest.mark.parametrize("cell", ["1.5", "a", "1" * 50])
def test_a_cell_that_is_no_long_whole_number_is_named_with_its_column(
    cell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", 4096)
    (tmp_path / "a.csv").write_text("good,k\n" + f"u,{2**70}\n" * 500 + f"v,{cell}\n")
    with pytest.raises(ReadError, match=r"'a\.csv', block \d: column 'k' holds a cell that is not of the type"):
        collect_csv(tmp_path / "a.csv", target="good", schema=Schema((Variable("k", "categorical"),)))


def half_way(change: Callable[[], object]) -> Callable[[Progress], None]:
    """A watcher that changes something once, when half of 1,000 rows are counted."""
    done: list[object] = []

    def watch(far: Progress) -> None:
        if far.rows >= 500 and not done:
            done.append(change())

    return watch


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_that_is_replaced_during_its_pass_is_refused(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_blocks, "CSV_BLOCK", 512)
    place, aside = tmp_path / f"a.{ending}", tmp_path / "aside"
    frame = pd.DataFrame({"x": ["a"] * 1000, "good": ["n", "p"] * 500})

    def replaced() -> None:
        """By a file of the same size and time."""
        status = place.stat()
        written(frame.assign(x="b"), aside)
        os.utime(aside, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert aside.stat().st_size == status.st_size
        aside.replace(place)

    def written(table: pd.DataFrame, to: Path) -> None:
        if ending == "csv":
            table.to_csv(to, index=False)
        else:
            table.to_parquet(to, row_group_size=100, index=False)

    collect = collect_csv if ending == "csv" else collect_parquet
    for change in (lambda: written(frame.assign(x="b"), place), replaced):
        written(frame, place)
        said = rf"'a\.{ending}'(, row group \d+ of 10: the file)? has changed since it was opened"
        with pytest.raises(ReadError, match=said):
            collect(place, target="good", threads=1, progress=half_way(change))


def _weighing(frame: pd.DataFrame, folder: Path, weight: float) -> Path:
    frame.assign(times=weight).to_parquet(place := folder / "weighing.parquet")
    return place


def test_arrow_in_every_form_is_counted_as_pandas_does() -> None:
    """Decimals, a column without a value, batches, tables and mappings, against pandas' own mean and counts."""
    frame = pd.DataFrame({"price": [1.25, 2.5, 0.0, 4.0], "code": [7, 7, 8, 8], "good": ["y", "n", "y", "n"]})
    decimals = pa.array(frame["price"], pa.float64()).cast(pa.decimal128(6, 2))
    table = pa.table({
        "price": decimals, "code": pa.array(frame["code"]).cast(pa.decimal128(19, 0)), "good": frame["good"].tolist(),
    })  # fmt: skip
    without = {"price": pa.nulls(2), "code": pa.nulls(2), "good": ["y", "n"]}
    schema = Schema((Variable("price", "continuous"), Variable("code", "categorical", (7, 8))))
    for batches in ([*table.to_batches(), without], [table, pa.table(without)]):
        stats = collect_batches(batches, target="good", schema=schema)
        price = stats.moments.column("price")
        assert price.weight.tolist() == [2, 2]
        np.testing.assert_allclose(price.mean, frame.groupby("good")["price"].mean(), rtol=1e-12)
        assert stats.counts.tables["code"].tolist() == [[1, 1, 1], [1, 1, 1]]


def test_a_count_that_was_kept_is_checked_when_it_is_taken_up() -> None:
    """Nodes of blocks that no node has, of other columns, or of the same blocks twice; and what is no count at all."""
    stats = NaiveBayes().fit(pd.DataFrame({"x": ["a", "b"]}), ["u", "v"]).stats_
    node = PartialNode(0, 0, 0, 1, 2, stats)
    whole = PartialStatistics("good", ("x",), None, "columns", None, (), (node,))
    assert load_partial(packed_partial(whole)).nodes[0].rows == 2
    for nodes, said in (
        ((replace(node, stop=3),), "of blocks that no node has"),
        ((replace(node, start=1, stop=3),), "of blocks that no node has"),
        ((replace(node, files=1),), "of blocks that no node has"),
        ((node, node), "of the same blocks"),
        ((replace(node, file=1), node), "of the same blocks"),
        ((replace(node, stats=replace(stats, class_weight=-stats.class_weight)),), "below 0"),
    ):
        with pytest.raises(StoreError, match=said):
            load_partial(packed_partial(replace(whole, nodes=nodes)))
    with pytest.raises(StoreError, match="of other columns"):
        load_partial(packed_partial(replace(whole, columns=("y",))))
    with pytest.raises(StoreError, match="holds no partial statistics, but a tuple"):
        load_partial(packed_passes(("asked",), 7, (), ()))
    for asked, said in (
        (packed_passes((), -1, (), ()), "no passes of EM"),
        (packed_partial(whole), "do not go together"),
    ):
        with pytest.raises(StoreError, match=said):
            load_passes(asked)
