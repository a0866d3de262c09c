"""Runs of a mixture shown whole, labels hidden on purpose, and their figures."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import mixture
from sklearn.datasets import load_iris

from bayes_engine.errors import TableError
from bayes_engine.models import em_runs
from bayes_engine.models.em_runs import (
    at_step,
    ends_of_runs,
    hidden_rows,
    information_criteria,
    nearest_rows,
    one_hot,
    run_em,
    run_with_hidden_labels,
    supervised_step,
)
from bayes_engine.models.labelled_curve import LabelledCurve
from bayes_engine.models.mixture import GaussianMixture
from bayes_engine.models.mixture_components import FORMS, Form
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.workbench.figures.labelled_curve import labelled_curve
from bayes_engine.workbench.figures.mixture import (
    ComponentEllipses,
    EndState,
    axis_range,
    criteria_by_components,
    drawn_rows,
    end_state,
    ends,
    filled,
    only,
    responsibility_bands,
)
from tests.conftest import crossed

IRIS, SPECIES = load_iris(return_X_y=True)


def test_a_climb_is_the_run_of_the_mixture_itself() -> None:
    run = run_em(IRIS, 3, "kmeans", tol=1e-9, max_iter=500)
    assert run.trace.last.objective == pytest.approx(-180.18548, abs=1e-5)
    assert run.collapse is None
    [end] = ends_of_runs(IRIS, 3, [("kmeans", 0)], tol=1e-9, max_iter=500)
    assert end is not None
    assert end.objective == run.trace.last.objective
    for ours, theirs in zip(end.parameters[:3], run.trace.last.parameters[:3], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    assert np.allclose(end.way, [step.parameters.means[:, :2] for step in run.trace.steps])
    again = GaussianMixture(3, init=run.trace.steps[0].parameters, tol=1e-9).fit(IRIS)
    assert again.trace_.last.log_likelihood == pytest.approx(run.trace.last.objective, abs=1e-9)


@pytest.mark.parametrize(("form", "way"), crossed(FORMS, [
    (0.0, {}),
    (0.2, {"stop": "q"}),
    (0.0, {"hard": True, "prior": "inverse-wishart"}),
    (0.2, {"prior": "inverse-wishart", "stop": "parameters", "tol": 1e-4}),
    (0.0, {"reg_covar": 1e-3}),
]))  # fmt: skip
def test_runs_side_by_side_end_where_each_ends_alone(form: str, way: tuple[float, dict[str, object]]) -> None:
    share, further = way
    X = IRIS[::3, 1:3].copy()
    X[np.random.default_rng(0).random(X.shape) < share] = np.nan
    starts = [("random", seed) for seed in range(3)]
    common: dict[str, Any] = {"covariance": form, "max_iter": 12, **further}
    ends = ends_of_runs(X, 3, starts, **common)
    alone = [run_em(X, 3, start, seed=seed, **common) for start, seed in starts]
    assert [end is None for end in ends] == [run.collapse is not None for run in alone]
    for end, run in zip(ends, alone, strict=True):
        assert end is None or end.objective == pytest.approx(run.trace.last.objective, rel=1e-9)


@pytest.mark.parametrize(("form", "theirs"), [("full", "full"), ("diagonal", "diag"), ("tied", "tied")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_runs_side_by_side_end_where_scikit_learn_ends(form: Form, theirs: str) -> None:
    starts = [("random", seed) for seed in range(3)]
    ends = ends_of_runs(IRIS, 2, starts, covariance=form, tol=1e-12, max_iter=20)
    for (start, seed), end in zip(starts, ends, strict=True):
        begin = GaussianMixture(2, covariance=form, init=start, random_state=seed, max_iter=0).fit(IRIS)
        peer = mixture.GaussianMixture(
            2, covariance_type=theirs, weights_init=begin.weights_, means_init=begin.means_,
            precisions_init=begin.precisions_, reg_covar=0.0, tol=0.0, max_iter=20,
        ).fit(IRIS)  # fmt: skip
        assert end is not None
        assert end.objective == pytest.approx(len(IRIS) * peer.score(IRIS), rel=1e-9)
        np.testing.assert_allclose(end.parameters.means, peer.means_, rtol=1e-6)


def test_runs_side_by_side_lose_only_those_that_collapse(monkeypatch: pytest.MonkeyPatch) -> None:
    X = IRIS[:, 2:]
    starts = [("random", seed) for seed in range(5)]
    together = ends_of_runs(X, 7, starts, max_iter=100)
    monkeypatch.setattr(em_runs, "SIDE_BY_SIDE", 1)
    alone = ends_of_runs(X, 7, starts, max_iter=100)
    lost = [end is None for end in alone]
    assert any(lost)
    assert not all(lost)
    assert [end is None for end in together] == lost
    for end, own in zip(together, alone, strict=True):
        assert end is None or own is None or end.objective == pytest.approx(own.objective, rel=1e-7)


def test_a_collapse_is_followed_to_the_step_before_it() -> None:
    X = IRIS[:, 2:]
    run = run_em(X, 8, "random", seed=3)
    assert "has collapsed on" in str(run.collapse)
    assert ends_of_runs(X, 8, [("random", 3), ("random", 3)]) == [None, None]
    assert run.trace.n_iter == 15
    values = [step.objective for step in run.trace.steps]
    assert all(later >= before - 1e-9 for before, later in pairwise(values))
    begin = run.trace.steps[0].parameters
    assert run_em(X, 8, begin, max_iter=15).collapse is None
    assert run_em(X, 8, begin, max_iter=16).collapse is not None


def test_responsibilities_of_a_step_are_those_of_the_trace_also_hard_and_with_missing_cells() -> None:
    X = IRIS.copy()
    X[::7, 1] = np.nan
    for hard in (False, True):
        run = run_em(X, 3, "random", seed=1, hard=hard, max_iter=5)
        for step in run.trace.steps:
            assert np.allclose(at_step(run.model, step.parameters, X), step.responsibilities, atol=1e-9)


@pytest.mark.parametrize("form", ["full", "tied", "diagonal"])
def test_labels_seen_the_m_step_is_the_classifier(form: str) -> None:
    X = IRIS.copy()
    X[0, 0] = np.nan
    found = supervised_step(X, SPECIES, 3, form)
    assert found.difference < 1e-12
    assert found.alike == len(found.rows) == 149
    shares = GaussianMixture(3, covariance=form, init=one_hot(SPECIES, 3), max_iter=0).fit(IRIS).weights_
    assert shares.tolist() == pytest.approx([1 / 3] * 3)


def test_a_class_without_a_complete_row_is_refused() -> None:
    X = IRIS.copy()
    X[SPECIES == 1, 2] = np.nan
    with pytest.raises(TableError, match="class 2 has no complete row"):
        supervised_step(X, SPECIES, 3, "full")
    with pytest.raises(TableError, match="no row is complete"):
        nearest_rows(np.array([[np.nan, 1.0]]), [(0.0, 0.0)])


def test_bills_end_where_there_are_too_few_rows() -> None:
    found = information_criteria(np.array([[0.0], [0.1], [0.3], [5.0], [5.2]]), 8, prior="inverse-wishart")
    assert found.table.index.tolist() == [1, 2, 3, 4, 5]


def test_the_supervised_fit_speaks_of_columns_and_classes_by_their_names() -> None:
    X, codes = np.array([[1.5, 2.5], [2.25, 1.25], [3.1, 9.75]]), np.array([0, 1, 0])
    with pytest.raises(TableError, match=r"class 'a' .* columns <b>x</b>, \$y\$"):
        supervised_step(X, codes, 2, "full", columns=["<b>x</b>", "$y$"], classes=["z", "a"])
    with pytest.raises(TableError, match="class a has no complete row"):
        supervised_step(X[:1], codes[:1], 2, "full", columns=["x", "y"], classes=["z", "a"])


@pytest.mark.parametrize("form", ["full", "tied", "diagonal"])
def test_classes_not_in_sorted_order_change_nothing(form: str) -> None:
    found = supervised_step(IRIS, SPECIES, 3, form, columns=list("abcd"), classes=["z", "m", "a"])
    plain = supervised_step(IRIS, SPECIES, 3, form)
    assert found.difference < 1e-12
    assert found.alike == plain.alike == 150


def test_hiding_every_label_is_a_mixture_and_hiding_none_the_supervised_fit() -> None:
    X = pd.DataFrame(IRIS, columns=list("abcd"))
    y = pd.Series(pd.Categorical.from_codes(SPECIES, ["x", "y", "z"]))
    seen = run_with_hidden_labels(X, y, hidden_rows(150, 0.0, 0), NaiveBayes())
    plain = NaiveBayes().fit(X, y)
    assert np.allclose(seen.model.predict_joint_log_proba(X), plain.predict_joint_log_proba(X), atol=1e-12)
    assert len(seen.shares) == 1
    mean, variance = seen.normal(0, "c") or ((), ())
    lengths = IRIS[:, 2].reshape(3, 50)  # fifty of each species, one after the other
    assert mean == pytest.approx(lengths.mean(axis=1))
    assert variance == pytest.approx(lengths.var(axis=1))
    blind = run_with_hidden_labels(
        X, y, hidden_rows(150, 1.0, 0), NaiveBayes(alpha=0.0, smoothing="none"), random_state=0
    )
    assert not blind.named
    diagonal = GaussianMixture(3, covariance="diagonal", init=blind.shares[-1]).fit(IRIS)
    assert diagonal.trace_.last.log_likelihood == pytest.approx(blind.trace.last.log_likelihood, abs=1e-3)


def test_a_sample_for_drawing_is_no_sample_for_hiding() -> None:
    drawn, hidden = drawn_rows(8124, 30, 2), hidden_rows(8124, 0.4, 0)
    assert 0.3 < hidden[drawn].mean() < 0.5


def test_figures_hold_the_numbers_they_are_given() -> None:
    run = run_em(IRIS[:, 2:], 3, "kmeans")
    x = IRIS[:, 2:]
    theta, sides = run.trace.last.parameters, (axis_range(x[:, 0]), axis_range(x[:, 1]))
    way = np.stack([step.parameters.means for step in run.trace.steps])
    drawn = end_state(EndState(x[:, 0], x[:, 1], sides, run.model.predict_proba(x), theta.full(), way))
    assert len(drawn.data) == 1 + 3 * 4
    outer = np.stack([drawn.data[1].x, drawn.data[1].y], axis=1) - theta.means[0]
    square = np.einsum("ni,ij,nj->n", outer, np.linalg.inv(theta.full()[0]), outer)
    assert np.allclose(square, 4.0)  # two standard deviations
    assert ends([-3.0, None, -1.0], ["k", "0", "1"], 2).data[0].y == (-2.0, 0.0)
    assert ends([-3.0, None, -1.0], ["k", "0", "1"], 2, bits=True).data[0].y == pytest.approx((-2.0 / np.log(2), 0.0))
    table = information_criteria(x, 3).table
    assert list(criteria_by_components(table, 2).data[0].y) == table["bic"].tolist()
    picture = responsibility_bands([np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])], [1], ["row"]).data[0].z
    assert picture[0][0][:3] == pytest.approx((0, 114, 178))
    assert tuple(picture[0][-1][:3]) == pytest.approx((146, 101, 0))


def test_a_filled_cell_integrates_to_one() -> None:
    row = [5.0, np.nan, np.nan, 1.0]
    found = only(GaussianMixture(3, random_state=0).fit(IRIS).conditional(row), "x2")
    figure = filled(found, IRIS[:, 2], [("mean", 3.0, "dot"), ("em", 2.0, "solid")], ["a", "b", "c"])
    whole = next(trace for trace in figure.data if trace.name == "Σ")
    assert np.trapezoid(whole.y, whole.x) == pytest.approx(1.0, abs=1e-3)


def test_a_shape_is_a_margin() -> None:
    trace = GaussianMixture(2, covariance="tied", random_state=0).fit(IRIS).trace_
    shape = ComponentEllipses.of(trace, (3, 1))
    full = trace.last.parameters.full()
    assert np.array_equal(shape.covariances[-1], full[:, [3, 1]][:, :, [3, 1]])


def test_the_curve_by_labels_shows_means_and_their_standard_errors() -> None:
    """Three splits, of which one lost a class with few labels: the error is s/√n of the splits that are left."""
    alone = np.array([[0.5, 0.8], [0.7, 0.9], [np.nan, 0.7]])
    figure = labelled_curve(
        LabelledCurve((4, 1600), 2000, 600, alone, alone + 0.1), "alone", "EM", "labels", "accuracy"
    )
    sent = figure.to_plotly_json()
    first, second = sent["data"]
    assert (first["name"], second["name"]) == ("alone", "EM") and list(first["x"]) == [4, 1600]
    assert first["y"] == pytest.approx([0.6, 0.8]) and second["y"] == pytest.approx([0.7, 0.9])
    assert first["error_y"]["array"] == pytest.approx([0.1, np.std([0.8, 0.9, 0.7], ddof=1) / 3**0.5])
    assert sent["layout"]["xaxis"]["type"] == "log" and list(sent["layout"]["xaxis"]["ticktext"]) == ["4", "1,600"]
