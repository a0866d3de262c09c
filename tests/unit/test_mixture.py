"""GaussianMixture: the textbook optima, monotony, collapse, order of the components, missing cells, and its errors."""

from __future__ import annotations

import pickle
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

from bayes_engine.em import Collapse
from bayes_engine.errors import EstimationWarning, ParameterError, TableError, UndefinedPosterior
from bayes_engine.models import mixture_em_steps
from bayes_engine.models.mixture import GaussianMixture, mixture_table
from bayes_engine.models.mixture_components import (
    FORMS,
    Components,
    MixtureParameters,
    default_prior,
    standardized,
    starting_parameters,
    to_standard,
)
from bayes_engine.models.mixture_em_steps import FullCovarianceSteps, em_steps
from tests.conftest import crossed

FAITHFUL = Path(__file__).with_name("old_faithful.csv")
"""Eruptions of the Old Faithful geyser, minutes of eruption and of waiting (Härdle 1991; R's `faithful`)."""


@pytest.fixture
def faithful() -> pd.DataFrame:
    return pd.read_csv(FAITHFUL)


@pytest.fixture
def iris() -> Any:
    return load_iris().data


def holes(X: Any, share: float, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return np.where(rng.random(X.shape) < share, np.nan, X)


def test_fit_predict_is_fit_then_predict(iris: Any) -> None:
    fitted = GaussianMixture(3, random_state=0)
    np.testing.assert_array_equal(fitted.fit_predict(iris), GaussianMixture(3, random_state=0).fit(iris).predict(iris))


# golden --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("init", ["kmeans", "random"])
def test_old_faithful(faithful: pd.DataFrame, seed: int, init: str) -> None:
    model = GaussianMixture(2, tol=1e-12, init=init, random_state=seed).fit(faithful)
    assert round(model.trace_.last.log_likelihood, 5) == -1130.26396
    np.testing.assert_allclose(model.means_, [[2.036388, 54.478516], [4.289662, 79.968115]], atol=1e-5)
    np.testing.assert_allclose(model.weights_, [0.355873, 0.644127], atol=1e-6)
    assert model.converged_ and model.prior_ is None
    assert model.score(faithful) * 272 == pytest.approx(model.trace_.last.log_likelihood, rel=1e-12)


def test_iris(iris: Any) -> None:
    model = GaussianMixture(3, tol=1e-12, random_state=0).fit(iris)
    assert round(model.trace_.last.log_likelihood, 5) == -180.18548


@pytest.mark.parametrize("form", FORMS)
def test_one_component_is_the_gaussian(iris: Any, form: Any) -> None:
    model = GaussianMixture(1, covariance=form).fit(iris)
    np.testing.assert_allclose(model.means_[0], iris.mean(axis=0), rtol=1e-12)
    S = np.cov(iris.T, ddof=0)
    wanted = {"full": S, "tied": S, "diagonal": np.diag(np.diag(S)), "spherical": np.eye(4) * np.trace(S) / 4}[form]
    np.testing.assert_allclose(model.parameters_.full()[0], wanted, rtol=1e-10, atol=1e-14)


# the steps -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "hard", "prior", "share"), crossed(FORMS, [False, True], [None, "inverse-wishart"], [0.15, 0.0])
)
def test_NF44_every_step_climbs(iris: Any, form: Any, hard: bool, prior: Any, share: float) -> None:
    X = holes(iris, share)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)
        model = GaussianMixture(
            3, covariance=form, hard=hard, prior=prior, tol=0.0, max_iter=40, init="random", random_state=1
        ).fit(X)
    table = model.trace_.table()
    name = "classification likelihood" if hard else "log-likelihood"
    assert model.trace_.objective == (name if model.prior_ is None else f"{name} + log prior")
    size = 1e-9 * table["objective"].abs().max()
    assert table["change"][1:].min() >= -size
    if not hard:
        np.testing.assert_allclose(table["q"] + table["entropy"], table["log_likelihood"], rtol=1e-12)
        assert (table["lower_bound"][1:] <= table["log_likelihood"][1:] + size).all()
    without_prior = table["lower_bound"][1:].to_numpy() + table["log_prior"][1:].to_numpy()
    assert (without_prior >= table["objective"][:-1].to_numpy() - size).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_q_from_the_statistics_is_q_from_the_rows(iris: Any, form: Any, share: float) -> None:
    rows = standardized(holes(iris, share))
    work: Any = em_steps(rows, form, np.zeros(4))
    theta = starting_parameters(work, "random", 3, np.random.default_rng(0))
    found = work.expect(theta)
    np.testing.assert_allclose(work.complete(found.stats, theta), found.q, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_tight_components_take_the_careful_way_to_the_same_numbers(
    iris: Any, form: Any, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = standardized(holes(iris, share))
    work: Any = em_steps(rows, form, np.zeros(4))
    theta = starting_parameters(work, "random", 3, np.random.default_rng(0))
    quick = work.expect(theta)
    monkeypatch.setattr(mixture_em_steps, "TIGHT", 1e9)
    careful = work.expect(theta)
    np.testing.assert_allclose(quick.responsibilities, careful.responsibilities, rtol=1e-9, atol=1e-12)
    for a, b in zip(work.estimate(quick.stats), work.estimate(careful.stats), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert quick.log_likelihood == pytest.approx(careful.log_likelihood, rel=1e-12)


def rounding_per_square(*thetas: Components) -> float:
    """How far two orders of summing may take log p(x, k) apart, in nats, for a row with |z|² = 1 in standard units: its
    1 + d + d(d+1)/2 terms are at most 1/λ each, λ the smallest eigenvalue of any component's covariance."""
    d = thetas[0].means.shape[1]
    smallest = min(t.spread.min() if t.spread.ndim == 2 else np.linalg.eigvalsh(t.spread).min() for t in thetas)
    return float((1 + d + d * (d + 1) // 2) * np.finfo(float).eps / smallest)


@pytest.mark.parametrize(("form", "share", "prior"), crossed(FORMS, [0.0, 0.2], [None, "inverse-wishart"]))
def test_weights_are_repeats(iris: Any, form: Any, share: float, prior: Any) -> None:
    """A row of weight w is w rows, one of weight 0 is none at all: from the same Θ the next step is the same.

    The repeated rows take every fourth step of the weighted fit, from the Θ it was taken from. Of the two fits from one
    start only the beginning and the end are compared: between them EM multiplies what earlier steps have rounded, where
    it leaves a plateau a thousandfold and more.
    """
    X = holes(iris, share)
    weight = np.arange(len(X)) % 4
    start = np.random.default_rng(1).dirichlet(np.ones(3), len(X))
    common: dict[str, Any] = {"covariance": form, "prior": prior}
    weighted = GaussianMixture(3, init=start, tol=1e-9, **common).fit(X, sample_weight=weight)
    repeats = np.repeat(X, weight, axis=0)
    repeated = GaussianMixture(3, init=np.repeat(start, weight, axis=0), tol=1e-9, **common).fit(repeats)
    rows = standardized(repeats)
    work: Any = em_steps(rows, form, np.zeros(4), default_prior(rows, 3, form) if prior else None)
    d, n = rows.z.shape  # the mean of |z|² is d at most

    def close(ours: Components, theirs: Components, rounding: float) -> None:
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=d**2 * rounding)

    thetas = [to_standard(step.parameters, rows.center, rows.scale) for step in weighted.trace_.steps]
    first = to_standard(repeated.trace_.steps[0].parameters, rows.center, rows.scale)
    close(thetas[0], first, rounding_per_square(thetas[0]))
    steps = list(pairwise(zip(thetas, weighted.trace_.steps, strict=True)))
    for (before, step), (after, climbed) in steps[::4]:
        found = work.expect(before)
        rounding = rounding_per_square(before, after)
        close(after, work.estimate(found.stats), rounding)
        ours = (step.objective, climbed.lower_bound)
        theirs = (found.log_likelihood + work.log_prior(before), work.complete(found.stats, after) + found.entropy)
        assert ours == pytest.approx(theirs, rel=0, abs=n * d * rounding)
    assert weighted.n_iter_ == repeated.n_iter_
    assert weighted.lower_bound_ == pytest.approx(repeated.lower_bound_, rel=1e-11)
    for a, b in zip(weighted.parameters_[:3], repeated.parameters_[:3], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_the_starts_know_the_weights(faithful: pd.DataFrame) -> None:
    apart = np.array([[0.0], [0.2], [0.4], [9.0], [9.2], [9.6]])
    found = GaussianMixture(2, max_iter=0, random_state=0).fit(apart, sample_weight=[2, 1, 1, 6, 3, 3])
    np.testing.assert_allclose(found.weights_, [0.25, 0.75])
    np.testing.assert_allclose(found.means_, [[0.15], [9.2]])
    lonely = np.zeros(len(faithful))
    lonely[:2] = 1.0
    with pytest.raises(TableError, match=r"n_samples = 2, with 2 distinct rows"):
        GaussianMixture(3).fit(faithful, sample_weight=lonely)


def test_far_from_the_origin_no_digit_is_lost(faithful: pd.DataFrame) -> None:
    near = GaussianMixture(2, tol=1e-12, random_state=0).fit(faithful)
    far = GaussianMixture(2, tol=1e-12, random_state=0).fit(faithful + 2.0**30)
    np.testing.assert_allclose(far.means_ - 2.0**30, near.means_, rtol=1e-6)
    assert far.trace_.last.log_likelihood == pytest.approx(near.trace_.last.log_likelihood, abs=1e-4)


@pytest.mark.parametrize("prior", [None, "inverse-wishart"])
@pytest.mark.parametrize("form", ["full", "tied", "diagonal"])
def test_units_do_not_matter(faithful: pd.DataFrame, form: Any, prior: Any) -> None:
    unit = np.array([2.0**-20, 2.0**20])
    a = GaussianMixture(2, covariance=form, prior=prior, random_state=0).fit(faithful)
    b = GaussianMixture(2, covariance=form, prior=prior, random_state=0).fit(faithful * unit)
    np.testing.assert_allclose(b.means_ / unit, a.means_, rtol=1e-12)
    np.testing.assert_allclose(b.predict_proba(faithful * unit), a.predict_proba(faithful), atol=1e-12)


# NF41–NF43 -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def with_a_speck() -> Any:
    """Two clouds, and a speck of rows that lie on one another."""
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(6, 1, (60, 2)), np.tile([[3.0, -4.0]], (6, 1))])


@pytest.mark.parametrize("hard", [False, True])
def test_NF41_a_collapse_is_caught_and_said(with_a_speck: Any, hard: bool) -> None:
    start = np.array([[0.0, 0.0], [6.0, 6.0], [3.0, -4.0]])
    with pytest.warns(EstimationWarning, match="every run collapsed .component 3 has collapsed on .* inverse-Wishart"):
        model = GaussianMixture(3, init=start, hard=hard).fit(with_a_speck)
    assert model.prior_ == "inverse-wishart" and model.prior is None and "log prior" in model.trace_.objective
    assert np.isfinite(model.trace_.last.log_likelihood) and np.linalg.cond(model.covariances_).max() < 1e3
    assert model.converged_


def test_NF41_with_the_prior_nothing_collapses(with_a_speck: Any) -> None:
    model = GaussianMixture(3, prior="inverse-wishart", random_state=0).fit(with_a_speck)
    assert model.converged_ and model.runs_.collapsed == ()


def test_NF41_reg_covar_is_a_floor_and_what_rests_on_it_is_named(with_a_speck: Any) -> None:
    start = np.array([[0.0, 0.0], [6.0, 6.0], [3.0, -4.0]])
    with pytest.warns(EstimationWarning, match=r"component\(s\) 3 have no more variance than reg_covar=1e-06"):
        GaussianMixture(3, init=start, reg_covar=1e-6).fit(with_a_speck)


@pytest.mark.slow
def test_NF41_other_starts_go_on_without_the_run_that_collapsed(with_a_speck: Any) -> None:
    with pytest.warns(EstimationWarning, match=r"runs collapsed and were dropped: component \d has collapsed"):
        model = GaussianMixture(3, init="random", n_init=6, random_state=0).fit(with_a_speck)
    assert model.prior_ is None and 1 <= len(model.runs_.traces) < 6


def test_a_ridge_may_cost_likelihood_but_no_more_than_it_weighs(iris: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EstimationWarning)
        trace = GaussianMixture(3, reg_covar=0.05, tol=0.0, max_iter=30, random_state=0).fit(iris).trace_
    assert trace.table()["change"].min() < -1e-3  # it does fall, and em allows it


def test_NF42_more_components_than_distinct_rows() -> None:
    X = np.tile([[1.0, 2.0], [3.0, 1.0], [0.0, 5.0]], (50, 1))
    with pytest.raises(TableError, match=r"n_components=4, but n_samples = 150, with 3 distinct rows"):
        GaussianMixture(4, covariance="diagonal").fit(X)


@pytest.mark.slow
def test_NF43_components_are_ordered_by_a_fixed_rule(iris: Any) -> None:
    models = [GaussianMixture(3, tol=1e-13, random_state=seed).fit(iris) for seed in range(8)]
    best = max(m.trace_.last.log_likelihood for m in models)
    same = [m for m in models if abs(m.trace_.last.log_likelihood - best) < 1e-7]
    assert len(same) >= 3
    for model in same:
        assert (np.diff(model.means_[:, 0]) > 0).all()
        np.testing.assert_allclose(model.means_, same[0].means_, rtol=1e-5)
        np.testing.assert_array_equal(model.predict(iris), same[0].predict(iris))


def test_the_trace_has_the_order_of_the_result(faithful: pd.DataFrame) -> None:
    model = GaussianMixture(2, random_state=2).fit(faithful)
    last = model.trace_.last
    np.testing.assert_allclose(last.responsibilities, model.predict_proba(faithful), atol=1e-9)
    np.testing.assert_array_equal(last.parameters.means, model.means_)


def test_a_given_start_keeps_its_order(faithful: pd.DataFrame) -> None:
    model = GaussianMixture(2, init=[[4.3, 80.0], [2.0, 54.0]]).fit(faithful)
    assert model.means_[0, 0] > model.means_[1, 0]
    np.testing.assert_allclose(model.trace_.steps[0].parameters.means, [[4.3, 80.0], [2.0, 54.0]])


def test_a_bad_start_ends_in_a_poorer_optimum() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal([at, 0.0], 1.0, (80, 2)) for at in (0.0, 12.0, 24.0)])
    good = GaussianMixture(3, covariance="spherical", random_state=0).fit(X)
    stuck = MixtureParameters(
        np.ones(3) / 3, np.array([[-1.0, 0], [1.0, 0], [18.0, 0]]), np.array([1.0, 1, 40]), "spherical"
    )
    bad = GaussianMixture(3, covariance="spherical", init=stuck).fit(X)
    assert bad.converged_ and bad.trace_.last.log_likelihood < good.trace_.last.log_likelihood - 100
    np.testing.assert_allclose(good.means_[:, 0], [0, 12, 24], atol=0.5)


def test_responsibilities_as_a_start_are_a_first_m_step(faithful: pd.DataFrame) -> None:
    r = np.eye(2)[(faithful["waiting"] > 68).to_numpy().astype(int)]
    theta = GaussianMixture(2, init=r, max_iter=0).fit(faithful).parameters_
    for c in range(2):
        own = faithful[r[:, c] == 1]
        np.testing.assert_allclose(theta.means[c], own.mean(), rtol=1e-12)
        np.testing.assert_allclose(theta.covariances[c], np.cov(own.T, ddof=0), rtol=1e-10)


# missing cells -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_density_with_missing_cells_is_the_marginal(iris: Any, form: Any) -> None:
    model = GaussianMixture(2, covariance=form, random_state=0).fit(iris)
    X = holes(iris[:20], 0.4)
    by_hand = []
    for row in X:
        seen = ~np.isnan(row)
        parts = [
            w * (multivariate_normal(m[seen], S[np.ix_(seen, seen)]).pdf(row[seen]) if seen.any() else 1.0)
            for w, m, S in zip(model.weights_, model.means_, model.parameters_.full(), strict=True)
        ]
        by_hand.append(np.log(sum(parts)))
    np.testing.assert_allclose(model.score_samples(X), by_hand, rtol=1e-10, atol=1e-10)


def test_one_gaussian_with_missing_cells_reaches_the_closed_form() -> None:
    """y missing in some rows, x never: the maximum factorizes as p(x) p(y|x) (Anderson 1957)."""
    rng = np.random.default_rng(2)
    x = rng.normal(3, 2, 300)
    y = 1 + 0.7 * x + rng.normal(0, 1, 300)
    y[rng.random(300) < 1 / (1 + x**2 / 20)] = np.nan
    model = GaussianMixture(1, tol=1e-15, max_iter=2000).fit(np.column_stack([x, y]))
    there = ~np.isnan(y)
    slope, at_0 = np.polyfit(x[there], y[there], 1)
    np.testing.assert_allclose(model.means_[0], [x.mean(), at_0 + slope * x.mean()], rtol=1e-6)
    rest = ((y[there] - at_0 - slope * x[there]) ** 2).mean()
    S = np.array([[x.var(), slope * x.var()], [slope * x.var(), rest + slope**2 * x.var()]])
    np.testing.assert_allclose(model.covariances_[0], S, rtol=1e-6)


def test_nothing_is_made_up_where_a_component_is_sure(faithful: pd.DataFrame) -> None:
    X = faithful.copy()
    X.loc[::5, "waiting"] = np.nan
    model, whole = (GaussianMixture(2, tol=1e-10, random_state=0).fit(t) for t in (X, faithful))
    np.testing.assert_allclose(model.means_, whole.means_, rtol=0.02)


def test_the_conditional_of_a_missing_cell(faithful: pd.DataFrame) -> None:
    model = GaussianMixture(2, random_state=0).fit(faithful)
    filled = model.conditional(pd.DataFrame({"eruptions": [3.0], "waiting": [np.nan]}))
    assert filled.columns == ("waiting",) and filled.weights.sum() == pytest.approx(1.0)
    grid = np.linspace(20, 120, 4001)
    density = filled.density("waiting", grid)
    joint = np.array([np.full(4001, 3.0), grid]).T
    components = zip(model.weights_, model.means_, model.covariances_, strict=True)
    ratio = np.sum([w * multivariate_normal(m, S).pdf(joint) for w, m, S in components], axis=0)
    step = grid[1] - grid[0]
    np.testing.assert_allclose(density, ratio / (ratio.sum() * step), rtol=1e-6)
    assert filled.mean[0] == pytest.approx((grid * density).sum() * step, rel=1e-6)
    assert filled.sd[0] ** 2 == pytest.approx(((grid - filled.mean[0]) ** 2 * density).sum() * step, rel=1e-6)


def test_a_whole_row_has_nothing_to_fill(faithful: pd.DataFrame) -> None:
    with pytest.raises(TableError, match="no cell of the row is missing; set the one in question to NaN"):
        GaussianMixture(1).fit(faithful).conditional(faithful.iloc[[0]])


# the rest ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_table_over_k_finds_two_components(faithful: pd.DataFrame) -> None:
    table = mixture_table(faithful, range(1, 5), prior="inverse-wishart", random_state=0)
    assert table["parameters"].tolist() == [5, 11, 17, 23] and table["converged"].all()
    assert table["bic"].idxmin() == 2 and table["icl"].idxmin() == 2
    assert (table["icl"] >= table["bic"] - 1e-9).all() and (table["aic"] <= table["bic"]).all()
    two = table.loc[2]
    assert two["bic"] == pytest.approx(-2 * two["log_likelihood"] + 11 * np.log(272), rel=1e-10)


def test_samples_come_from_the_mixture(faithful: pd.DataFrame) -> None:
    model = GaussianMixture(2, random_state=0).fit(faithful)
    X, component = model.sample(20_000, random_state=1)
    np.testing.assert_allclose(np.bincount(component) / 20_000, model.weights_, atol=0.01)
    np.testing.assert_allclose(np.cov(X[component == 1].T), model.covariances_[1], rtol=0.1)
    with pytest.raises(ParameterError, match="n_samples=0; it must be a whole number of 1 and more"):
        model.sample(0)


def test_too_far_out_for_any_density(faithful: pd.DataFrame) -> None:
    model = GaussianMixture(2, random_state=0).fit(faithful)
    with pytest.raises(UndefinedPosterior, match=r"no component for 1 row: 1. They are so far"):
        model.predict(pd.DataFrame({"eruptions": [2.0, 1e200], "waiting": [60.0, 60.0]}))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[1.0, 2.0], [1.0, 3.0], [1.0, 5.0]], "column 'x0' has the same value in every row"),
        (
            [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [7.0, 14.0]],
            "column 'x1' is a linear function of the columns before",
        ),
        ([[1.0, 2.0], [np.inf, 4.0], [3.0, 6.0]], "column 'x0' holds infinity in row 2: Input X contains infinity"),
        ([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan]], "column 'x1' is missing in every row"),
    ],
)
def test_tables_that_have_no_mixture(X: Any, words: str) -> None:
    with pytest.raises(TableError, match=words):
        GaussianMixture(1).fit(X)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"covariance": "diag"}, "covariance='diag' is none of 'full', 'tied', 'diagonal', 'spherical'"),
        ({"prior": "wishart"}, "prior='wishart' is none of None, 'inverse-wishart'"),
        ({"n_components": 0}, "n_components=0; it must be a whole number of 1 and more"),
        ({"tol": -1.0}, "tol=-1.0; it must be a number of 0 and more"),
        ({"init": "best"}, "init='best' is none of 'kmeans', 'random'"),
        ({"init": np.zeros((7, 7))}, r"init has the shape \(7, 7\); a start is \(2, 2\) for means"),
        (
            {"init": MixtureParameters(np.ones(2) / 2, np.zeros((2, 2)), np.ones(2), "spherical")},
            "init has spherical covariances and the shapes .* wanted are full ones",
        ),
    ],
)
def test_parameters_that_cannot_be_meant(faithful: pd.DataFrame, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        GaussianMixture(**{"n_components": 2, **parameters}).fit(faithful)


def test_running_out_of_iterations_is_said(faithful: pd.DataFrame) -> None:
    with pytest.warns(EstimationWarning, match="EM has not converged after 2 iterations"):
        GaussianMixture(2, max_iter=2, tol=1e-12, random_state=0).fit(faithful)


def test_a_seed_gives_the_same_model_and_leaves_numpy_s_own_alone(faithful: pd.DataFrame) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state is what is looked at
    a, b = (GaussianMixture(3, prior="inverse-wishart", random_state=7).fit(faithful) for _ in range(2))
    assert (a.means_ == b.means_).all() and (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_a_fitted_mixture_pickles_with_its_trace(faithful: pd.DataFrame) -> None:
    model = GaussianMixture(2, random_state=0).fit(faithful)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    assert again.trace_.n_iter == model.n_iter_ and (again.predict(faithful) == model.predict(faithful)).all()


def test_the_prior_is_the_data_s_own(faithful: pd.DataFrame) -> None:
    rows = standardized(faithful.to_numpy(float))
    prior = default_prior(rows, 4, "full")
    assert prior.freedom == 4
    np.testing.assert_allclose(prior.matrix, np.corrcoef(faithful.T) / 4, rtol=1e-12)
    work = FullCovarianceSteps(rows, "full", np.zeros(2), prior)
    theta = work.estimate(work.gathered(np.full((272, 4), 0.25)))
    np.testing.assert_allclose(theta.spread[0], (68 * rows.covariance + prior.matrix) / (68 + 4 + 2 + 1), rtol=1e-12)


def test_an_empty_component_has_collapsed(faithful: pd.DataFrame) -> None:
    work = FullCovarianceSteps(standardized(faithful.to_numpy(float)), "full", np.zeros(2))
    with pytest.raises(Collapse, match="component 2 has no row left"):
        work.estimate(work.gathered(np.eye(2)[np.zeros(272, dtype=int)]))
