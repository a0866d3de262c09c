"""Leave-one-out by tables that a class's rows share, and by the moments of a row's own class alone, beside what
estimates every row anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import NaiveBayes
from bayes_engine.errors import NotASubset
from bayes_engine.factors.gaussian import GaussianLeaf
from bayes_engine.factors.leaf import LeftOutRows
from bayes_engine.inference.averaged import AveragedFactor
from bayes_engine.logspace import Array, log_normalize
from bayes_engine.models import naive_bayes
from bayes_engine.models.aode import AODE
from bayes_engine.priors import Dirichlet
from bayes_engine.table.encode import Table

ROWS = 240


def table(seed: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Columns of levels, a rare one among them, with missing cells."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, ROWS)
    X = pd.DataFrame({
        "a": np.array(list("uvw"))[(rng.integers(0, 3, ROWS) + y * (rng.random(ROWS) < 0.4)).astype(int) % 3],
        "b": np.where(rng.random(ROWS) < 0.02, "rare", np.array(list("xy"))[rng.integers(0, 2, ROWS)]),
        "c": np.array(list("pqr"))[rng.integers(0, 3, ROWS)],
    })  # fmt: skip
    return X.mask(rng.random(X.shape) < 0.05), np.array(["k", "l", "m"])[y]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"min_frequency": 90},
        {"alpha": 0.0},
        {"smoothing": "joint"},
        {"priors": "uniform"},
        {"priors": {"k": 0.7, "l": 0.2, "m": 0.1}, "alpha": 0.0},
        {"missing": "category", "min_frequency": 3},
    ],
    ids=str,
)
def test_aode_leaves_rows_out_by_shared_tables_as_by_a_refit(how: dict[str, Any], monkeypatch: Any) -> None:
    X, y = table(3)
    model = AODE(**how).fit(X, y)
    shared: list[bool] = []
    packed = AveragedFactor._packed

    def noted(self: AveragedFactor, *given: Any) -> Any:
        shared.append(not np.isnan(done := packed(self, *given)).any())
        return done

    monkeypatch.setattr(AveragedFactor, "_packed", noted)
    left_out = model.leave_one_out_log_proba(X, y)
    assert shared == [True]
    monkeypatch.setattr(AveragedFactor, "_packed", lambda self, X, *_: np.full((X.n, 3), np.nan))
    np.testing.assert_allclose(left_out, model.leave_one_out_log_proba(X, y), rtol=0, atol=1e-11)
    for i in (0, 17, 101, ROWS - 1):
        rest = np.arange(ROWS) != i
        anew = AODE(**how, schema=model.schema_).partial_fit(X[rest], y[rest], model.classes_)
        wanted = anew.predict_joint_log_proba(X.iloc[[i]])[0]
        if np.isneginf(wanted).all():
            assert np.isneginf(left_out[i]).all()
        else:
            np.testing.assert_allclose(left_out[i], wanted - np.logaddexp.reduce(wanted), rtol=0, atol=1e-11)


@pytest.mark.parametrize("smoothing", ["factored", "joint"])
def test_aode_of_one_column_leaves_rows_out_as_by_a_refit(smoothing: Any) -> None:
    X, y = pd.DataFrame({"a": list("xxyyxxyy")}), np.array(list("nynynyny"))
    left_out = AODE(smoothing=smoothing).fit(X, y).leave_one_out_log_proba(X, y)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        anew = AODE(smoothing=smoothing).fit(X[rest], y[rest]).predict_log_proba(X.iloc[[i]])[0]
        np.testing.assert_allclose(left_out[i], anew, rtol=0, atol=1e-12)


def test_a_row_that_aode_never_counted_is_refused() -> None:
    X, y = table(4)
    model = AODE().fit(X, y)
    of_rare = np.flatnonzero((X["b"] == "rare") & (y == "k"))
    without = np.delete(np.arange(ROWS), of_rare)
    foreign = X.iloc[without].copy()
    foreign.iloc[5, 1] = "rare"
    labels = y[without].copy()
    labels[5] = "k"
    part = AODE(schema=model.schema_).partial_fit(X.iloc[without], y[without], model.classes_)
    with pytest.raises(NotASubset):
        part.leave_one_out_log_proba(foreign, labels)


@pytest.mark.parametrize("weight", [1.0, 0.5])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"smoothing": "zero-only", "alpha": 0.3},
        {"smoothing": "none"},
        {"alpha": 0.0},
        {"alpha": Dirichlet.m_estimate(2.0, base="uniform")},
        {"alpha": Dirichlet.m_estimate(2.0)},
        {"missing": "category", "priors": "laplace"},
    ],
    ids=str,
)
def test_tables_leave_rows_out_by_class_as_row_by_row_and_as_a_refit(
    how: dict[str, Any], weight: float, monkeypatch: Any
) -> None:
    X, y = table(5)
    y[X["b"] == "rare"] = "k"  # so that zeros are in some classes only
    y[np.flatnonzero(X["b"] == "rare")[:1]] = "l"  # and one comes when a row goes
    X.loc[(y == "m") & (X["c"] == "p"), "c"] = "q"
    every = np.full(ROWS, weight)
    model = NaiveBayes(**how).fit(X, y, every)
    left_out = model.leave_one_out_log_proba(X, y, every)
    for i in (*np.flatnonzero(X["b"] == "rare"), *range(0, ROWS, 12)):
        rest = np.arange(ROWS) != i
        anew = NaiveBayes(**how, schema=model.schema_).partial_fit(X[rest], y[rest], model.classes_, every[rest])
        wanted = anew.predict_joint_log_proba(X.iloc[[i]])[0]
        np.testing.assert_allclose(left_out[i], log_normalize(wanted[None])[0], rtol=0, atol=1e-11)
    monkeypatch.setattr(LeftOutRows, "one_weight", None)
    np.testing.assert_allclose(left_out, model.leave_one_out_log_proba(X, y, every), rtol=0, atol=1e-12)


def test_a_row_that_naive_bayes_never_counted_is_refused() -> None:
    X, y = table(4)
    there = ((X["b"] != "rare") | (y != "k")).to_numpy()
    model = NaiveBayes().fit(X[there], y[there])
    foreign = X[there].iloc[:40].copy()
    foreign.iloc[5, 1] = "rare"
    labels = y[there][:40].copy()
    labels[5] = "k"
    with pytest.raises(NotASubset, match="column 'b': a row to leave out was never counted"):
        model.leave_one_out_log_proba(foreign, labels)


def numbers(kind: str) -> tuple[pd.DataFrame, np.ndarray[Any, Any], np.ndarray[Any, Any] | None]:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 90)
    x = rng.normal(size=90) + y
    weight = None
    if kind == "an outlier":
        x[4] = 40.0
    elif kind == "a class of two rows":
        y[y == 2] = 1
        y[:2] = 2
    elif kind == "a class of one value":
        x[y == 1] = 0.5
    elif kind == "one other value":
        x[:] = 3.0
        x[7] = 3.5
    elif kind == "far from zero":
        x += 1e9
    elif kind == "weights":
        weight = rng.uniform(0.3, 4.0, 90)
    X = pd.DataFrame({"x": x, "z": rng.normal(size=90)})
    return X.mask(rng.random(X.shape) < 0.04), y, weight


def all_anew(leaves: Sequence[GaussianLeaf], X: Table, left: LeftOutRows) -> Iterator[Array]:
    """`known_terms_without`, where every class is estimated anew for every row."""
    for leaf in leaves:
        rows, terms = np.flatnonzero(leaf.known(X)), np.zeros((X.n, len(leaf.variance)))
        terms[rows] = leaf.estimated_without(X.take(rows), (), left.take(rows))
        yield terms


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")  # of classes without a spread
@pytest.mark.parametrize("how", [{}, {"variance": "unbiased"}, {"tied_variance": True}, {"var_floor": 0.4}], ids=str)
@pytest.mark.parametrize(
    "kind",
    [
        "plain",
        "an outlier",
        "a class of two rows",
        "a class of one value",
        "one other value",
        "far from zero",
        "weights",
    ],
)
def test_gaussians_leave_a_row_out_of_its_own_class_as_of_all(kind: str, how: dict[str, Any], monkeypatch: Any) -> None:
    X, y, weight = numbers(kind)
    model = NaiveBayes(**how).fit(X, y, weight)
    left_out = model.leave_one_out_log_proba(X, y, weight)
    slow: list[int] = []
    anew = GaussianLeaf.estimated_without

    def noted(self: GaussianLeaf, X: Any, *given: Any) -> Any:
        slow.append(X.n)
        return anew(self, X, *given)

    monkeypatch.setattr(GaussianLeaf, "estimated_without", noted)
    model.leave_one_out_log_proba(X, y, weight)
    if kind in ("plain", "weights", "far from zero") and not how.keys() & {"tied_variance", "var_floor"}:
        assert sum(slow) < 0.1 * X.size
    monkeypatch.setattr(naive_bayes, "known_terms_without", all_anew)
    np.testing.assert_allclose(left_out, model.leave_one_out_log_proba(X, y, weight), rtol=1e-12, atol=1e-13)
