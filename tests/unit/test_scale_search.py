"""Structure search over files is that over the rows in memory: the same moves, scores and counts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import (
    BayesianNetwork,
    BayesianNetworkClassifier,
    Schema,
    StoreError,
    fit_files,
    held_out_risk,
    learn_files,
    load_model,
    save_model,
)
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.scale import Progress, em_passes, memory, search
from bayes_engine.scale.arrow import arrow
from bayes_engine.scale.folds import folds_of, group_hashes
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure import requests, scores
from bayes_engine.structure.constraints import Constraints
from bayes_engine.structure.scores import ScoreName, Scorer
from bayes_engine.structure.search import SearchResult
from bayes_engine.table.schema import Variable
from tests.conftest import ROOT
from tests.unit.test_scale_cluster import NearBy
from tests.unit.test_scale_em import Stop, stopping, written
from tests.unit.test_scale_families import rows

FEW: Mapping[str, Any] = {"restarts": 0, "perturbations": 0}


def assert_same_search(ours: SearchResult | None, theirs: SearchResult | None) -> None:
    """Move for move, with the scores of each."""
    assert ours is not None and theirs is not None
    assert ours.graph.arcs == theirs.graph.arcs and ours.status == theirs.status
    assert [step.move for step in ours.trace.steps] == [step.move for step in theirs.trace.steps]
    assert [step.ties for step in ours.trace.steps] == [step.ties for step in theirs.trace.steps]
    a, b = ours.trace.table(), theirs.trace.table()
    np.testing.assert_allclose(a[["delta", "score"]], b[["delta", "score"]], rtol=1e-11, atol=1e-8)
    np.testing.assert_allclose(ours.climbs, theirs.climbs, rtol=1e-12)
    for mine, other in zip(ours.decomposed_score.families, theirs.decomposed_score.families, strict=True):
        assert mine[:2] == other[:2] and mine.free == other.free
        np.testing.assert_allclose(mine[2:4], other[2:4], rtol=1e-10, atol=1e-8)


def assert_same_counts(ours: Any, theirs: Any) -> None:
    assert ours.stats_.families.tables.keys() == theirs.stats_.families.tables.keys()
    for name, table in theirs.stats_.families.tables.items():
        np.testing.assert_array_equal(ours.stats_.families.tables[name], table)
    for name, table in theirs.stats_.counts.tables.items():
        np.testing.assert_array_equal(ours.stats_.counts.tables[name], table)


def test_a_search_of_files_takes_the_moves_of_one_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SAMPLE", 40)
    frame, told = rows(120, 3).drop(columns="x").dropna(), list[Progress]()
    ours = learn_files(BayesianNetwork(), written(frame, tmp_path), progress=told.append, threads=1, **FEW)
    theirs = BayesianNetwork().learn(frame, **FEW)
    assert_same_search(ours.search_, theirs.search_)
    assert_same_counts(ours, theirs)
    assert ours.score(frame) == theirs.score(frame) and told[-1].step >= 4


def test_a_classifier_is_searched_for_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SAMPLE", 1)
    monkeypatch.setattr(requests, "MOST_CELLS", 60)
    monkeypatch.setattr(requests, "SPARSE_CELLS", 20)
    frame = rows(60, 2).drop(columns="x")
    model = BayesianNetworkClassifier("exact", max_parents=2, criterion="k2")
    ours = fit_files(model, written(frame, tmp_path), target="good", threads=1)
    theirs = BayesianNetworkClassifier("exact", max_parents=2, criterion="k2").fit(
        frame.drop(columns="good"), frame["good"]
    )
    assert_same_search(ours.search_, theirs.search_)
    assert_same_counts(ours, theirs)


def test_large_tables_are_counted_by_fewer_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many batches at a time as their tables fit into memory: the first pass, of small ones, by all threads."""
    monkeypatch.setattr(search, "SAMPLE", 40)
    monkeypatch.setattr(memory, "held_by_thread", lambda plan, made=0: 1.0)
    monkeypatch.setattr(memory, "MOST_THREAD_BYTES", 6000.0)
    added_up, threads = em_passes.added_up, list[int]()

    def watched(source: Any, plan: Any, work: Any, add: Any, workers: Any, **rest: Any) -> Any:
        threads.append(workers.threads)
        return added_up(source, plan, work, add, workers, **rest)

    monkeypatch.setattr(em_passes, "added_up", watched)
    frame = rows(120, 3).drop(columns="x").dropna()
    learn_files(BayesianNetwork(), written(frame, tmp_path), threads=4, **FEW)
    assert threads[0] == 4 and 1 <= min(threads[1:]) < 4


def test_what_files_are_not_searched_for_is_said(tmp_path: Path) -> None:
    frame = rows(30, 2).drop(columns="x")
    folder = written(frame, tmp_path)
    for ask, said in (
        ({"method": "tree"}, "method='tree'"),
        ({"time_budget": 1.0}, "time_budget= is of a search in memory"),
        ({"cancel": lambda: True}, "cancel= is of a search in memory"),
    ):
        with pytest.raises(ParameterError, match=said):
            learn_files(BayesianNetwork(), folder, **ask)
    with pytest.raises(TableError, match="'c0' has missing cells, which missing='em'"):
        learn_files(BayesianNetwork(), folder)
    with pytest.raises(ParameterError, match="a hidden node is EM's affair"):
        fit_files(BayesianNetwork(hidden={"h": 2}), folder)
    with pytest.raises(ParameterError, match="has no target"):
        fit_files(BayesianNetwork(), folder, target="good")
    frame.assign(c0=None, c1="a").iloc[:0].to_parquet(tmp_path / "part0.parquet")
    halves = pd.DataFrame({"a": ["x", None, "y", None], "b": [None, "u", None, "v"]})
    halves.to_parquet(tmp_path / "half.parquet")
    with pytest.raises(TableError, match="no row shows all columns"):
        learn_files(BayesianNetwork(missing="known"), tmp_path / "half.parquet")


def test_large_tables_of_files_are_kept_by_the_combinations_that_occur(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many levels, with weights of 0: the moves, the counts and the score of the rows in memory."""
    for module, name, value in ((search, "SAMPLE", 30), (requests, "MOST_CELLS", 400), (requests, "SPARSE_CELLS", 30)):
        monkeypatch.setattr(module, name, value)
    frame = data("levels", 60).drop(columns="id").assign(w=np.arange(60) % 3.0)
    folder, ask = written(frame, tmp_path), {"score": "aic", "max_parents": 2, **FEW}
    ours = learn_files(BayesianNetwork(), folder, weight="w", threads=1, **ask)
    theirs = BayesianNetwork().learn(frame.drop(columns="w"), sample_weight=frame["w"], **ask)
    assert_same_search(ours.search_, theirs.search_)
    assert_same_counts(ours, theirs)
    monkeypatch.setattr(requests, "MOST_PARTS", 1)
    with pytest.raises(TableError, match="hold more than 15 combinations of levels"):
        learn_files(BayesianNetwork(), folder, weight="w", threads=1, **ask)


@pytest.mark.parametrize("score", ["mdl", "bdeu"])
def test_large_tables_of_files_are_counted_in_parts(
    score: ScoreName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where more cells occur than one part may hold."""
    for module, name, value in ((search, "SAMPLE", 30), (requests, "MOST_CELLS", 400), (requests, "SPARSE_CELLS", 24)):
        monkeypatch.setattr(module, name, value)
    counted = list[requests.Request]()
    monkeypatch.setattr(search, "_table_of", lambda *given, of=search._table_of: counted.append(given[1]) or of(*given))
    frame = data("levels", 90).drop(columns="id")
    ask = {"score": score, "max_parents": 2, **FEW}
    ours = learn_files(BayesianNetwork(), written(frame, tmp_path), threads=1, **ask)
    assert_same_search(ours.search_, BayesianNetwork().learn(frame, **ask).search_)
    assert max(request.parts for request in counted) > 1


def test_parents_that_can_only_lose_are_no_candidates_in_files_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scores, "LARGE", 8)
    monkeypatch.setattr(search, "SAMPLE", 40)
    frame, ask = rows(120, 3).drop(columns="x").dropna(), {"perturbations": 2, "restarts": 0}
    ours = learn_files(BayesianNetwork(), written(frame, tmp_path), threads=1, **ask)
    assert_same_search(ours.search_, BayesianNetwork().learn(frame, **ask).search_)


def test_a_search_is_refused_only_if_it_hangs_on_a_table_that_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for one that was asked ahead, by a guess."""
    monkeypatch.setattr(requests, "MOST_CELLS", 100)
    monkeypatch.setattr(requests, "MOST_PARTS", 0)
    counts = FamilyCounts.of(data("chain", 60))
    asked = requests.AskedCounts(Schema(counts.variables), 1e6, 10**6)
    scorer = requests.AskingScorer(asked, "mdl", 1.0, Scorer(counts, "mdl"), 64)
    for request in requests.first_requests(asked.levels):
        scorer.take(request, scorer.read(request, counts.with_all(counts.every(request.columns)).ravel()))
    scorer.value(0, 0b111110)
    with pytest.raises(TableError, match="c0, c1, c2, c3, c4, c5 hold more than 0 combinations"):
        scorer.refuse_beyond()
    scorer.again().refuse_beyond()
    scorer.value(0, 0b111110)
    with pytest.raises(TableError, match="more than 0"):
        scorer.refuse_beyond()


def left_out(
    model: BayesianNetworkClassifier, frame: pd.DataFrame, folds: int
) -> tuple[list[BayesianNetworkClassifier], int, list[int]]:
    """The models fitted in memory to the rows of the other folds, how many rows they get wrong, and those of each."""
    fold = folds_of(group_hashes(arrow().array(frame["group"]), 0), folds)
    X, y = frame.drop(columns=["good", "group"]), frame["good"]
    models = [BayesianNetworkClassifier(**model.get_params()).fit(X[fold != i], y[fold != i]) for i in range(folds)]
    wrong = sum(int((one.predict(X[fold == i]) != y[fold == i]).sum()) for i, one in enumerate(models))
    return models, wrong, np.bincount(fold).tolist()


def test_each_fold_has_the_graph_of_the_others(tmp_path: Path) -> None:
    """As fits to the rows of the other folds, one by one."""
    frame = rows(90, 3).drop(columns="x").fillna("b").assign(group=np.arange(90) % 9)
    model = BayesianNetworkClassifier("exact", max_parents=3, criterion="log-likelihood")
    found = held_out_risk(model, written(frame, tmp_path), target="good", groups="group", folds=2, threads=1)
    models, wrong, fold_rows = left_out(model, frame, 2)
    assert max(map(len, models[-1].graph_.parents.values())) == 2  # the counts of pairs do not do
    assert found.risk == pytest.approx(wrong / 90) and found.fold_rows == tuple(fold_rows)


DATA = ("chain", "levels", "ties", "numbers")


def data(name: str, n: int = 900) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    if name == "chain":
        return rows(n, 7, seed=1).drop(columns="x").dropna()
    if name == "numbers":
        return rows(n, 4, seed=2).assign(z=rng.normal(size=n).round(1)).dropna()
    if name == "levels":  # many levels, of one column very many
        a = rng.integers(0, 12, n)
        frame = pd.DataFrame({"a": a, "b": (a + rng.integers(0, 3, n)) % 12, "id": rng.integers(0, 300, n)})
        return frame.assign(c=a % 5).map(lambda level: f"v{level}")
    a, b = rng.integers(0, 2, (2, n))  # exclusive or: no pair says anything, and copies tie
    return pd.DataFrame({"a": a, "b": b, "c": a ^ b, "copy": a, "d": rng.integers(0, 2, n)}).astype(bool)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "score", "cells"),
    [
        (name, score, (4000, 300)[(i + j) % 2])  # each pair of two of the three is met
        for i, name in enumerate(DATA)
        for j, score in enumerate(["mdl", "aic", "k2", "bdeu", "log-likelihood"])
    ],
)
def test_searches_of_files_are_those_in_memory(
    name: str, score: ScoreName, cells: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SAMPLE", 100)
    monkeypatch.setattr(requests, "MOST_CELLS", cells)
    monkeypatch.setattr(requests, "SPARSE_CELLS", cells // 4)
    frame = data(name)
    most = 2 if score == "log-likelihood" or name == "levels" else None
    ask: dict[str, Any] = {"score": score, "perturbations": 2, "max_parents": most, "sample_size": 4.0}
    ours = learn_files(BayesianNetwork(bins=3), written(frame, tmp_path, group=200), **ask)
    theirs = BayesianNetwork(bins=3).learn(frame, **ask)
    assert_same_search(ours.search_, theirs.search_)
    assert_same_counts(ours, theirs)
    assert [(v.levels, v.cuts) for v in ours.schema_] == [(v.levels, v.cuts) for v in theirs.schema_]
    assert ours.score(frame) == theirs.score(frame)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["exact", "k2"])
def test_other_methods_of_files(method: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SAMPLE", 100)
    frame = data("chain")
    rules = Constraints(forbidden=(("c0", "c1"),), required=(("c1", "c2"),))
    ask: dict[str, Any] = {"method": method, "constraints": rules}
    ask |= {"order": sorted(frame)} if method == "k2" else {}
    if method == "k2":
        ask["constraints"] = Constraints(max_parents=2)
    ours = learn_files(BayesianNetwork(), written(frame, tmp_path), **ask)
    theirs = BayesianNetwork().learn(frame, **ask)
    assert_same_search(ours.search_, theirs.search_)
    assert_same_counts(ours, theirs)


@pytest.mark.slow
def test_all_climbs_of_a_search_with_weights_and_missing_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget by default, on rows with missing cells and whole weights, some of them 0; and CSV."""
    monkeypatch.setattr(search, "SAMPLE", 200)
    frame = rows(1500, 6).drop(columns="x").assign(w=np.arange(1500) % 3.0)
    told: list[Progress] = []
    model = BayesianNetwork(missing="known")
    ours = learn_files(model, written(frame, tmp_path, group=300), weight="w", progress=told.append)
    theirs = BayesianNetwork(missing="known").learn(frame.drop(columns="w"), sample_weight=frame["w"])
    assert_same_search(ours.search_, theirs.search_)
    assert_same_counts(ours, theirs)
    assert len(ours.search_.climbs) == 32 and told[-1].step < 40  # type: ignore[union-attr]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    of_csv = learn_files(model, tmp_path / "rows.csv", weight="w")
    assert_same_search(of_csv.search_, theirs.search_)
    save_model(ours, tmp_path / "model.bayes")
    assert load_model(tmp_path / "model.bayes").score(frame.drop(columns="w")) == theirs.score(frame.drop(columns="w"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        BayesianNetworkClassifier(missing="category"),
        BayesianNetworkClassifier(discretize=None, criterion="bdeu"),
        BayesianNetworkClassifier("exact", priors="uniform"),
        BayesianNetworkClassifier("tan"),
        BayesianNetworkClassifier("naive"),
        BayesianNetworkClassifier([("good", "c0"), ("c0", "c1"), ("good", "c1"), ("c2", "c1")]),
    ],
    ids=str,
)
def test_classifiers_of_files(
    model: BayesianNetworkClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SAMPLE", 100)
    frame = rows(700, 4)
    ours = fit_files(model, written(frame, tmp_path), target="good", resume=tmp_path / "kept")
    X, y = frame.drop(columns="good"), frame["good"]
    theirs = BayesianNetworkClassifier(**model.get_params()).fit(X, y)
    assert ours.graph_.arcs == theirs.graph_.arcs and ours.blanket_ == theirs.blanket_
    if theirs.search_ is not None:
        assert_same_search(ours.search_, theirs.search_)
    assert_same_counts(ours, theirs)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-10)
    save_model(ours, tmp_path / "model.bayes")
    again = load_model(tmp_path / "model.bayes")
    np.testing.assert_array_equal(again.predict_proba(X), ours.predict_proba(X))
    more = again.partial_fit(X, y)
    np.testing.assert_array_equal(more.stats_.class_weight, 2 * theirs.stats_.class_weight)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [BayesianNetworkClassifier(bins=3), BayesianNetworkClassifier(discretize=None, missing="category")]
)
def test_each_fold_searches_the_others(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fold's graph is that of a fit to the other folds' rows."""
    monkeypatch.setattr(search, "SAMPLE", 100)
    frame = rows(900, 4).assign(group=np.arange(900) % 9)
    found = held_out_risk(model, written(frame, tmp_path), target="good", groups="group", folds=3)
    assert found.passes >= 4
    _models, wrong, _rows = left_out(model, frame, 3)
    assert found.risk == pytest.approx(wrong / 900)


@pytest.mark.slow
def test_a_search_goes_on_where_it_was_broken_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SAMPLE", 50)
    frame, (folder, kept) = data("chain"), (tmp_path / "rows", tmp_path / "kept")
    folder.mkdir()
    written(frame, folder)
    whole: list[Progress] = []
    theirs = learn_files(BayesianNetwork(), folder, progress=whole.append)
    last = whole[-1].step
    with pytest.raises(Stop):
        learn_files(BayesianNetwork(), folder, resume=kept, progress=stopping(last - 1))
    told: list[Progress] = []
    ours = learn_files(BayesianNetwork(), folder, resume=kept, progress=told.append)
    assert min(far.step for far in told if far.rows_now) == last - 1 and told[-1].step == last
    assert_same_search(ours.search_, theirs.search_)
    with pytest.raises(StoreError, match="another search"):
        learn_files(BayesianNetwork(), folder, "k2", resume=kept)
    near = NearBy()
    there = learn_files(BayesianNetwork(), folder, client=near)
    assert_same_search(there.search_, theirs.search_)
    assert_same_counts(there, theirs)


@pytest.mark.slow
def test_a_given_structure_and_numbered_levels(tmp_path: Path) -> None:
    frame = data("chain").assign(size=lambda f: np.arange(len(f)) % 3)
    schema = Schema((*(Variable(n, "categorical") for n in frame),))
    arcs = [("good", "c0"), ("c0", "c1"), ("size", "c1")]
    ours = fit_files(BayesianNetwork(arcs), written(frame, tmp_path), schema=schema)
    theirs = BayesianNetwork(arcs, schema=schema).fit(frame)
    assert_same_counts(ours, theirs)
    assert ours.score(frame) == theirs.score(frame)
    with pytest.raises(TableError, match=r"holds numbers, and every node"):
        fit_files(BayesianNetwork(arcs, discretize=None), tmp_path)


@pytest.mark.slow
def test_combinations_beyond_the_bound_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in ((search, "SAMPLE", 50), (requests, "MOST_CELLS", 600), (requests, "SPARSE_CELLS", 100)):
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(requests, "MOST_PARTS", 1)
    with pytest.raises(TableError, match="hold more than 50 combinations of levels"):
        learn_files(BayesianNetwork(), written(data("levels"), tmp_path), "log-likelihood")


LEFT_OVER = """
import sys
import numpy as np
from bayes_engine.scale.memory import release

def resident():
    with open("/proc/self/statm") as status:
        return int(status.read().split()[1]) * 4096 / 2**20

first = np.ones(2**22 - 2**16)  # almost 32 MB: what is smaller, glibc takes from its heap once this is freed
del first
release()
kept = [np.ones(2**20) for _ in range(10)]
before = resident()
del kept[:-1:2]
print(before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="of glibc")
@pytest.mark.slow
def test_large_arrays_go_back_to_the_system_as_they_are_freed() -> None:
    ran = subprocess.run([sys.executable, "-c", LEFT_OVER], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(ran.stdout) > 35.0  # five arrays of 8 MB, each between two that stay


def test_the_tables_of_a_pass_are_added_in_place() -> None:
    mine, cells = np.array([1.0, 2.0]), (np.array([3, 5]), np.array([1.0, 1.0]))
    other = np.array([4.0, 0.0]), (np.array([5, 7]), np.array([2.0, 6.0]))
    whole, (codes, weights) = search._both((mine, cells), other)
    assert whole is mine and whole.tolist() == [5.0, 2.0]
    mine.flags.writeable = False  # as what a worker of a cluster sent
    assert search._both((mine,), (mine,))[0].tolist() == [10.0, 4.0]
    assert codes.tolist() == [3, 5, 7] and weights.tolist() == [1.0, 3.0, 6.0]


def test_what_a_pass_lets_go_of_is_given_back_before_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = list[str]()
    monkeypatch.setattr(em_passes, "release", lambda: steps.append("release"))
    added_up = em_passes.added_up

    def counted(*given: Any, **more: Any) -> Any:
        steps.append("pass")
        return added_up(*given, **more)

    monkeypatch.setattr(em_passes, "added_up", counted)
    monkeypatch.setattr(search, "SAMPLE", 64)
    learn_files(BayesianNetwork(), written(rows(400).dropna(), tmp_path), **FEW)
    assert len(steps) >= 6 and steps == ["release", "pass", "release"] * (len(steps) // 3)
