"""Laws of scatter and of Gaussian discriminant analysis: for any table, not for an example."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from bayes_engine.ledger import Status
from bayes_engine.logspace import log_normalize
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.discriminant_directions import trace_ratio
from bayes_engine.models.fisher import FisherDiscriminant
from bayes_engine.models.gaussian_discriminant import GaussianDiscriminant
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.scatter import Scatter, scatter
from tests.conftest import examples, refusable
from tests.textbook import scatter_matrices

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
laws = examples(20)
CLASSES = ["a", "b", "c"]

MODELS: dict[str, GaussianDiscriminant] = {
    "lda": LinearDiscriminantAnalysis(),
    "lda, unbiased, uniform": LinearDiscriminantAnalysis(variance="unbiased", priors="uniform"),
    "lda, a number": LinearDiscriminantAnalysis(shrinkage=0.3, priors="laplace"),
    "lda, oas": LinearDiscriminantAnalysis(shrinkage="oas"),
    "lda, diagonal": LinearDiscriminantAnalysis(covariance="diagonal"),
    "qda": QuadraticDiscriminantAnalysis(),
    "qda, unbiased": QuadraticDiscriminantAnalysis(variance="unbiased", priors={"a": 0.2, "b": 0.5, "c": 0.3}),
    "qda, Friedman": QuadraticDiscriminantAnalysis(pooling=0.4, shrinkage=0.2),
    "qda, oas": QuadraticDiscriminantAnalysis(shrinkage="oas"),
}
names = st.sampled_from(sorted(MODELS))
plain = st.sampled_from(["lda", "lda, unbiased, uniform", "qda", "qda, unbiased"])


class Case(NamedTuple):
    X: pd.DataFrame
    y: pd.Series
    weight: np.ndarray


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Three correlated classes in four columns of unlike units, seven rows of each at least."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(24, 60)), 4
    y = np.array(CLASSES)[np.concatenate([np.repeat([0, 1, 2], 7), rng.integers(0, 3, n - 21)])]
    mix = rng.normal(size=(3, d, d))
    X = np.stack([mix["abc".index(c)] @ rng.normal(size=d) + rng.normal(size=d) for c in y])
    X += 2.0 * rng.normal(size=(3, d))[["abc".index(c) for c in y]]
    X = X * [1.0, 0.01, 100.0, 3.0] + [0.0, 1.0, 5000.0, -20.0]
    order = rng.permutation(n)
    frame = pd.DataFrame(X[order], columns=["p", "q", "r", "s"])
    return Case(frame, pd.Series(y[order], name="class"), rng.integers(1, 4, n))


def model_of(name: str, **parameters: Any) -> GaussianDiscriminant:
    return clone(MODELS[name]).set_params(**parameters)


def joint(model: GaussianDiscriminant, X: Any) -> np.ndarray:
    return model.predict_joint_log_proba(X)


def close(a: Any, b: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# scatter --------------------------------------------------------------------------------------------------------------


def counted(case: Case, rows: Any = slice(None), pivot: float = 0.0) -> Scatter:
    codes = case.y.map("abc".index).to_numpy()[rows]
    return scatter(tuple(case.X.columns), np.full(4, pivot), case.X.to_numpy()[rows], Labels(3, codes))


def same(a: Scatter, b: Scatter, tolerance: float = 1e-10) -> None:
    a = a.rebased(b.pivot)
    size = np.sqrt(np.abs(np.diagonal(b.m2, axis1=1, axis2=2)))
    close(a.weight, b.weight)
    close(a.mean, b.mean, tolerance)
    per = np.where(size > 0, size, 1.0)
    np.testing.assert_allclose(a.m2 / per[:, :, None] / per[:, None, :], b.m2 / per[:, :, None] / per[:, None, :],
                               atol=tolerance)  # fmt: skip


@laws
@given(cases(), st.integers(1, 20))
def test_scatter_is_a_monoid(case: Case, i: int) -> None:
    a, b, whole = counted(case, slice(0, i), 3.0), counted(case, slice(i, None)), counted(case)
    same(a + b, whole)
    same(b + a, whole)
    same(whole + whole, whole.scaled(2.0))
    with refusable():
        rest = (a + b) - a
    same(rest, b, 1e-7)


@laws
@given(cases())
def test_scatter_is_its_definition_and_s_t_is_s_w_plus_s_b(case: Case) -> None:
    s = counted(case, pivot=1.0)
    for c, label in enumerate(CLASSES):
        rows = case.X[case.y == label].to_numpy()
        close(s.m2[c], (rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)), 1e-8)
    within, between, total = scatter_matrices(case.X, case.y)
    close(s.within, within, 1e-8)
    close(s.between, between, 1e-7)
    close(within + between, total, 1e-8)


@laws
@given(cases())
def test_soft_labels_that_are_hard_count_alike(case: Case) -> None:
    codes = case.y.map("abc".index).to_numpy()
    soft = scatter(tuple("pqrs"), np.zeros(4), case.X.to_numpy(), Labels(3, soft=np.eye(3)[codes]))
    same(soft, counted(case), 1e-9)


# the models -----------------------------------------------------------------------------------------------------------


@laws
@given(cases(), names)
def test_ledger_rows_sum_to_the_joint(case: Case, name: str) -> None:
    model = model_of(name).fit(case.X, case.y)
    rng = np.random.default_rng(0)
    for X in (case.X, case.X.mask(rng.random(case.X.shape) < 0.3)):
        ledger = model.explain(X)
        close(ledger.joint(), joint(model, X))
        close(ledger.posterior(), model.predict_proba(X))
        np.testing.assert_array_equal(model.classes_[ledger.posterior().argmax(axis=1)], model.predict(X))


@laws
@given(cases(), names, st.permutations(["p", "q", "r", "s"]))
def test_the_chain_rule_sums_to_the_joint_in_any_order(case: Case, name: str, order: list[str]) -> None:
    model = model_of(name).fit(case.X, case.y)
    if isinstance(model, QuadraticDiscriminantAnalysis):
        holes = case.X.mask(np.random.default_rng(1).random(case.X.shape) < 0.3)
        for X in (case.X, holes):
            ledger = model.explain(X, order=order)
            assert [row.name for row, _ in ledger.rows] == ["class", *order]
            close(ledger.joint(), joint(model, X), 1e-8)


@laws
@given(cases(), names, st.integers(8, 15))
def test_partial_fit_forget_and_merge(case: Case, name: str, i: int) -> None:
    batch = model_of(name).fit(case.X, case.y)
    first, rest = slice(0, len(case.y) - i), slice(len(case.y) - i, None)
    if case.y[first].nunique() < 3:
        return
    try:
        rows = model_of(name).partial_fit(case.X[first], case.y[first], classes=CLASSES)
    except ValueError:  # a class of the first half alone has no covariance of its own
        return
    rows.partial_fit(case.X[rest], case.y[rest])
    close(joint(rows, case.X), joint(batch, case.X), 1e-7)
    with refusable():
        less = model_of(name).partial_fit(case.X, case.y, classes=CLASSES).forget(case.X[rest], case.y[rest])
    never = model_of(name).partial_fit(case.X[first], case.y[first], classes=CLASSES)
    close(joint(less, case.X), joint(never, case.X), 1e-5)


@laws
@given(cases(), names)
def test_merge_is_batch_and_weights_are_repeats(case: Case, name: str) -> None:
    again = np.repeat(np.arange(len(case.y)), case.weight)
    model = model_of(name).fit(case.X, case.y)
    close(joint(model.merge(model), case.X), joint(model_of(name).fit(*(pd.concat([a, a]) for a in case[:2])), case.X))
    weighed = model_of(name).fit(case.X, case.y, case.weight)
    repeated = model_of(name).fit(case.X.iloc[again], case.y.iloc[again])
    close(joint(weighed, case.X), joint(repeated, case.X), 1e-8)


@laws
@given(cases())
def test_ledoit_wolf_takes_weights_for_repeats(case: Case) -> None:
    again = np.repeat(np.arange(len(case.y)), case.weight)
    weighed = LinearDiscriminantAnalysis(shrinkage="auto").fit(case.X, case.y, case.weight)
    repeated = LinearDiscriminantAnalysis(shrinkage="auto").fit(case.X.iloc[again], case.y.iloc[again])
    close(list(weighed.shrinkage_.values()), list(repeated.shrinkage_.values()))


@laws
@given(cases(), names, names)
def test_with_params_is_a_refit(case: Case, before: str, after: str) -> None:
    wanted = MODELS[after]
    if type(wanted) is not type(MODELS[before]):
        return
    parameters = {k: v for k, v in wanted.get_params().items() if k in wanted.estimation_parameters}
    moved = model_of(before).fit(case.X, case.y).with_params(**parameters)
    np.testing.assert_array_equal(joint(moved, case.X), joint(model_of(after).fit(case.X, case.y), case.X))


@laws
@given(cases(), names, st.booleans())
def test_leave_one_out_is_a_refit_without_the_row(case: Case, name: str, weighed: bool) -> None:
    weight = case.weight + 0.5 if weighed else None
    model = model_of(name).fit(case.X, case.y, weight)
    fast = model.leave_one_out_log_proba(case.X, case.y, weight)
    for i in range(0, len(case.y), 5):
        rest = np.arange(len(case.y)) != i
        refit = model_of(name).partial_fit(
            case.X[rest], case.y[rest], CLASSES, None if weight is None else weight[rest]
        )
        close(fast[i], log_normalize(joint(refit, case.X.iloc[[i]]))[0], 1e-6)


@laws
@given(cases(), plain, st.sampled_from(["p", "q", "r", "s"]))
def test_NF30_missing_at_predict_is_a_refit_without_the_column(case: Case, name: str, column: str) -> None:
    model, without = model_of(name).fit(case.X, case.y), model_of(name).fit(case.X.drop(columns=column), case.y)
    some = case.X.copy()
    some.loc[some.index[::2], column] = np.nan
    close(model.predict_log_proba(some)[::2], without.predict_log_proba(case.X.drop(columns=column))[::2], 1e-8)
    close(model.predict_log_proba(some)[1::2], model.predict_log_proba(case.X)[1::2])
    given_ = [c for c in case.X if c != column]
    close(model.explain(case.X, given=given_).posterior(), without.predict_proba(case.X.drop(columns=column)), 1e-8)


# special case = general case ------------------------------------------------------------------------------------------


@laws
@given(cases(), st.sampled_from(["mle", "unbiased"]))
def test_tied_gaussian_naive_bayes_is_lda_with_a_diagonal(case: Case, variance: str) -> None:
    naive = NaiveBayes(tied_variance=True, variance=variance).fit(case.X, case.y)
    lda = LinearDiscriminantAnalysis(covariance="diagonal", variance=variance).fit(case.X, case.y)
    holes = case.X.mask(np.random.default_rng(2).random(case.X.shape) < 0.2)
    for X in (case.X, holes):
        close(joint(lda, X), joint(naive, X))
        ours, theirs = (m.explain(X).contributions("a", "b") for m in (lda, naive))
        close(ours[["class", "p", "q", "r", "s"]], theirs[["class", "p", "q", "r", "s"]])


@laws
@given(cases(), st.sampled_from([None, 0.3, "oas", "auto"]))
def test_lda_is_qda_at_the_end_of_friedman_s_path(case: Case, shrinkage: Any) -> None:
    lda = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(case.X, case.y)
    qda = QuadraticDiscriminantAnalysis(shrinkage=shrinkage, pooling=1.0).fit(case.X, case.y)
    close(joint(lda, case.X), joint(qda, case.X), 1e-8)


@laws
@given(cases(), st.sampled_from([None, "auto"]), st.sampled_from([2.0**30, 2.0**-30, 1e9, 1e-9]))
def test_NF10_units_change_no_posterior(case: Case, shrinkage: Any, factor: float) -> None:
    X = case.X.sub(case.X.mean())  # |mean|/sd within what is promised
    scaled = X * [factor, 1.0, 1.0 / factor, 1.0]
    for cls in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        a, b = cls(shrinkage=shrinkage).fit(X, case.y), cls(shrinkage=shrinkage).fit(scaled, case.y)
        close(a.predict_log_proba(X), b.predict_log_proba(scaled), 1e-8)


@laws
@given(cases(), names, st.integers(0, 2**16))
def test_NF60_order_of_rows_columns_and_labels(case: Case, name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = {"a": "z", "b": "m", "c": "k"}
    model = model_of(name).fit(case.X, case.y)
    rows, columns = rng.permutation(len(case.X)), rng.permutation(case.X.columns)
    priors = model.priors
    other = model_of(name, priors={names[k]: v for k, v in priors.items()} if isinstance(priors, dict) else priors)
    other.fit(case.X[columns].iloc[rows], case.y.map(names).iloc[rows])
    place = [other.classes_.tolist().index(names[c]) for c in model.classes_.tolist()]
    close(joint(other, case.X[columns])[:, place], joint(model, case.X), 1e-8)


@laws
@given(cases(), st.sampled_from([None, 0.2, "auto"]))
def test_fisher_is_lda_with_equal_priors(case: Case, shrinkage: Any) -> None:
    lda = LinearDiscriminantAnalysis(priors="uniform", shrinkage=shrinkage).fit(case.X, case.y)
    fisher = FisherDiscriminant(shrinkage=shrinkage).fit(case.X, case.y)
    np.testing.assert_array_equal(fisher.predict(case.X), lda.predict(case.X))
    np.testing.assert_allclose(fisher.scalings_, lda.scalings_)
    two = case.y != "c"
    fisher, lda = (m.fit(case.X[two], case.y[two]) for m in (fisher, lda))
    for theirs, ours in zip(lda.discriminant("a", "b"), fisher.discriminant("a", "b"), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)
    close(fisher.scalings_.T @ lda.covariance_ @ fisher.scalings_, np.eye(1))


@laws
@given(cases(), st.integers(1, 3))
def test_trace_ratio_never_falls_and_is_the_best_of_many(case: Case, k: int) -> None:
    X = (case.X - case.X.mean()) / case.X.std()
    within, between, _ = scatter_matrices(X, case.y)
    W, trace = trace_ratio(within, between, k)
    assert all(b >= a * (1.0 - 1e-9) for a, b in pairwise(trace))
    close(W.T @ W, np.eye(k))
    close(trace[-1], np.trace(W.T @ between @ W) / np.trace(W.T @ within @ W))
    for seed in range(10):
        V = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, k)))[0]
        assert np.trace(V.T @ between @ V) / np.trace(V.T @ within @ V) <= trace[-1] * (1.0 + 1e-9)


@laws
@given(cases(), names)
def test_no_row_breaks_the_others(case: Case, name: str) -> None:
    model = model_of(name).fit(case.X, case.y)
    X = case.X[:6].copy()
    X.iloc[1, 0], X.iloc[2, 3], X.iloc[3] = np.inf, 1e250, np.nan
    ledger, decision = model.explain(X), model.decide(X)
    expected = [Status.OK, Status.REFUSED, Status.OUT_OF_RANGE, Status.OK, Status.OK, Status.OK]
    assert ledger.status.tolist() == decision.status.tolist() == expected
    assert not np.isnan(ledger.joint()).any() and not np.isnan(joint(model, X)).any()
    close(ledger.posterior()[[0, 4, 5]], model.predict_proba(X.iloc[[0, 4, 5]]))
    close(ledger.posterior()[3], model.priors_)
