"""Known densities: Bayes risks against closed forms, enumeration, another quadrature and simulation."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, stats
from sklearn.linear_model import LogisticRegression

from bayes_engine.decision.decision_boundaries import boundary_segments, decision_changes, log_posterior
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.decision.two_gaussians import TwoGaussians, boundaries
from bayes_engine.errors import LossError, ParameterError
from bayes_engine.models.discriminative import of_levels, of_numbers
from bayes_engine.models.gaussian_naive_bayes import GaussianNB
from bayes_engine.workbench.laboratory.excess_risk import fitted_to_population, learning_curve
from bayes_engine.workbench.laboratory.truth import (
    SIZE,
    GaussianTruth,
    MultivariateMixture,
    Risk,
    TableTruth,
    Truth,
    bayes_risk,
    from_drawn,
    from_ellipses,
)
from tests.conftest import examples, slowly
from tests.known_truths import gaussians

RNG = np.random.default_rng(7)
EYE = np.eye(2)
STRETCHED = np.array([[[1.0, 0.5], [0.5, 1.0]], [[2.0, -0.8], [-0.8, 1.5]]])
MEANS = np.array([[-1.0, 0.0], [1.0, 0.5]])


def true_risk(truth: Truth, model: Any, loss: LossMatrix) -> Risk:
    """The risk, under the true density, of what a fitted classifier decides by these losses."""
    return truth.measure(SIZE).risk(loss, log_posterior(model, truth.classes))


def zero_one(truth: Any) -> LossMatrix:
    return LossMatrix.zero_one(truth.classes)


def xor(spread: float = 0.6) -> GaussianTruth:
    places = ([[-1.5, -1.5], [1.5, 1.5]], [[-1.5, 1.5], [1.5, -1.5]])
    parts = [MultivariateMixture(np.full(2, 0.5), np.array(p), np.stack([EYE * spread] * 2)) for p in places]
    return GaussianTruth(("1", "2"), np.full(2, 0.5), tuple(parts))


def simulated(truth: GaussianTruth, loss: LossMatrix, n: int = 400_000) -> tuple[float, float]:
    """min_a R(a|x) averaged over rows drawn from the truth, densities by scipy: the mean and its standard error."""
    X, _y = truth.sample(n, 3)
    joint = np.stack(
        [
            prior * sum(w * stats.multivariate_normal(m, s).pdf(X) for w, m, s in zip(*part, strict=True))
            for prior, part in zip(truth.priors, truth.densities, strict=True)
        ],
        axis=1,
    )
    risks = ((joint / joint.sum(axis=1, keepdims=True)) @ loss.table.T).min(axis=1)
    return float(risks.mean()), float(risks.std() / n**0.5)


# the Bayes risk -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [0.5, 2.0, 4.0])
def test_equal_covariances_and_priors_give_the_textbook_s_formula(distance: float) -> None:
    shared = np.array([[2.0, 0.6], [0.6, 0.5]])
    direction = np.array([1.0, -0.4])
    apart = direction * distance / np.sqrt(direction @ np.linalg.solve(shared, direction))
    truth = gaussians([np.zeros(2), apart], [shared, shared])
    risk = bayes_risk(truth, zero_one(truth))
    assert risk.how == "closed form"
    assert risk.value == pytest.approx(stats.norm.cdf(-distance / 2), rel=1e-12)


@pytest.mark.slow
@examples(25)
@given(
    st.floats(0.05, 0.95),
    st.floats(0.3, 4.0),
    st.lists(st.floats(-3, 6), min_size=6, max_size=6),
)
def test_the_closed_form_is_the_quadrature_under_any_losses(prior: float, distance: float, cells: list[float]) -> None:
    truth = gaussians([[0.0], [distance]], [[[1.0]], [[1.0]]], [1 - prior, prior])
    loss = LossMatrix(("1", "2", "ask"), truth.classes, np.array(cells).reshape(3, 2))
    known = truth.closed_form(loss)

    grid = np.linspace(-9, distance + 9, 40001)
    joint = np.stack([(1 - prior) * stats.norm.pdf(grid), prior * stats.norm.pdf(grid, distance)])
    assert known == pytest.approx(integrate.trapezoid((loss.table @ joint).min(axis=0), grid), abs=2e-6)
    found = truth.measure(240).risk(loss, truth.log_joint)
    assert found.value == pytest.approx(known, abs=max(5 * found.error, 2e-6))


@pytest.mark.slow
def test_two_gaussians_in_the_plane_agree_with_the_polar_quadrature() -> None:
    for prior in (0.2, 0.5, 0.7):
        truth = gaussians(MEANS, STRETCHED, [1 - prior, prior])
        exact = boundaries(TwoGaussians(MEANS, STRETCHED, prior)).bayes.error
        found = bayes_risk(truth, zero_one(truth))
        assert found.how == "quadrature"
        assert abs(found.value - exact) <= max(2 * found.error, 1e-7)
        assert found.error < 1e-5


@pytest.mark.parametrize("angle", [*map(slowly, (0.0, 0.3)), 0.55, slowly(1.1)])
def test_the_stated_error_holds_whichever_way_the_boundary_runs(angle: float) -> None:
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    flat = xor()
    truth = GaussianTruth(
        flat.classes,
        flat.priors,
        tuple(MultivariateMixture(p.weights, p.means @ turn.T, p.covariances) for p in flat.densities),
    )
    wrong = 2 * stats.norm.sf(1.5 / 0.6**0.5) * stats.norm.cdf(1.5 / 0.6**0.5)  # one sign wrong, the other right
    found = bayes_risk(truth, zero_one(truth))
    assert abs(found.value - wrong) <= max(2 * found.error, 2e-7)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.slow
def test_the_stated_error_holds_for_any_truth_loss_and_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 4))
    parts = [
        (c, 0.5, rng.uniform(-4, 4), rng.uniform(-3, 3), rng.uniform(0.2, 3), rng.uniform(0.2, 3), rng.uniform(0, 180))
        for c in range(k)
        for _part in range(2)
    ]
    truth = from_ellipses(parts, rng.dirichlet(np.ones(k) * 4), "ABC"[:k])
    loss = LossMatrix(truth.classes, truth.classes, rng.uniform(0.5, 3, (k, k)) * (1 - np.eye(k))).with_refusal(0.4)
    fitted = log_posterior(of_numbers()["naive-bayes"].fit(*truth.sample(100, seed)), truth.classes)
    for rule in (truth.log_joint, fitted):
        found, finer = (truth.measure(size).risk(loss, rule) for size in (120, 500))
        assert abs(found.value - finer.value) <= found.error


def test_the_quadrature_converges_and_its_error_shrinks() -> None:
    truth = gaussians(MEANS, STRETCHED, [0.3, 0.7])
    errors = [truth.measure(size).risk(zero_one(truth), truth.log_joint).error for size in (24, 96, 384)]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.slow
def test_three_classes_with_refusal_agree_with_scipy_and_with_simulation() -> None:
    truth = gaussians([[0.0, 0.0], [2.0, 0.0], [0.5, 2.0]], [EYE, EYE * 0.5, STRETCHED[0]], [0.5, 0.3, 0.2])
    loss = LossMatrix(("1", "2", "3"), truth.classes, [[0, 2, 1], [1, 0, 3], [5, 1, 0]]).with_refusal(0.4)
    found = bayes_risk(truth, loss)
    mean, error = simulated(truth, loss)
    assert abs(found.value - mean) < 4 * error
    side_x, side_y = np.linspace(-7, 8, 1501), np.linspace(-7, 8, 1501)
    grid = np.stack(np.meshgrid(side_x, side_y), axis=-1)
    joint = np.stack(
        [p * stats.multivariate_normal(d.means[0], d.covariances[0]).pdf(grid)
         for p, d in zip(truth.priors, truth.densities, strict=True)], axis=-1,
    )  # fmt: skip
    again = integrate.simpson(integrate.simpson((joint @ loss.table.T).min(axis=-1), x=side_x), x=side_y)
    assert abs(found.value - again) < 2e-6


@pytest.mark.slow
def test_one_dimension_agrees_with_scipy() -> None:
    truth = gaussians([[0.0], [1.0]], [[[1.0]], [[9.0]]], [0.6, 0.4])
    cuts = [-20.0, -6.0, 0.0, 1.0, 5.0, 20.0]
    exact = sum(
        integrate.quad(lambda x: min(0.6 * stats.norm.pdf(x), 0.4 * stats.norm.pdf(x, 1, 3)), a, b, limit=200)[0]
        for a, b in pairwise(cuts)
    )
    found = bayes_risk(truth, zero_one(truth))
    assert abs(found.value - exact) <= max(found.error, 1e-8)


def test_more_dimensions_are_simulated_within_the_stated_error() -> None:
    truth = gaussians([[0.0] * 3, [1.0, 1.0, 0.0]], [np.eye(3)] * 2, [0.4, 0.6])
    known = truth.closed_form(zero_one(truth))
    found = truth.measure(1).risk(zero_one(truth), truth.log_joint)
    assert found.how == "simulation"
    assert abs(found.value - known) < found.error < 0.01


def test_a_dominated_action_leaves_nothing_to_the_data() -> None:
    truth = gaussians(MEANS, [EYE, EYE], [0.3, 0.7])
    loss = LossMatrix(("1", "2"), truth.classes, [[0.0, 1.0], [2.0, 3.0]])
    assert bayes_risk(truth, loss).value == pytest.approx(0.7)
    same = gaussians([[0.0], [0.0]], [[[1.0]], [[1.0]]], [0.3, 0.7])
    assert bayes_risk(same, zero_one(same)).value == pytest.approx(0.3)


def test_a_constant_for_a_truth_moves_the_risk_and_no_decision() -> None:
    truth = gaussians(MEANS, STRETCHED, [0.3, 0.7])
    loss = LossMatrix(("1", "2"), truth.classes, [[0.0, 4.0], [1.0, 0.0]])
    moved = LossMatrix(("1", "2"), truth.classes, loss.table + np.array([2.0, -3.0]))
    apart = bayes_risk(truth, moved).value - bayes_risk(truth, loss).value
    assert apart == pytest.approx(2.0 * 0.3 - 3.0 * 0.7, abs=1e-7)


# tables ---------------------------------------------------------------------------------------------------------------


def table_truth(seed: int = 0, shape: tuple[int, ...] = (2, 3, 2), k: int = 3) -> TableTruth:
    rng = np.random.default_rng(seed)
    tables = rng.dirichlet(np.ones(int(np.prod(shape))), k).reshape(k, *shape)
    return TableTruth(tuple("abcd"[:k]), rng.dirichlet(np.ones(k) * 5), tables)


@pytest.mark.parametrize("seed", range(4))
def test_the_sum_over_cells_is_what_enumeration_gives(seed: int) -> None:
    truth = table_truth(seed)
    table = np.random.default_rng(seed).uniform(-1, 4, (4, 3))
    loss = LossMatrix((*truth.classes, "ask"), truth.classes, table)
    exact = 0.0
    for cell in product(*map(range, truth.tables.shape[1:])):
        joint = [truth.priors[k] * truth.tables[(k, *cell)] for k in range(3)]
        exact += min(sum(loss.table[a][k] * joint[k] for k in range(3)) for a in range(4))
    risk = bayes_risk(truth, loss)
    assert (risk.error, risk.how) == (0.0, "exact sum")
    assert risk.value == pytest.approx(exact, abs=1e-12)


def test_a_fitted_table_model_is_judged_cell_by_cell() -> None:
    truth = table_truth(1)
    loss = LossMatrix(truth.classes, truth.classes, [[0, 2, 1], [1, 0, 3], [5, 1, 0]])
    model = of_levels()["naive-bayes"].fit(*truth.sample(60, 4))
    risks = model.predict_proba(truth.cells) @ loss.for_classes(model.classes_).table.T
    exact = (truth.joint * loss.table[risks.argmin(axis=1)]).sum()
    assert true_risk(truth, model, loss).value == pytest.approx(exact, abs=1e-12)


def test_samples_follow_the_tables_and_the_seed() -> None:
    truth = table_truth(2)
    X, y = truth.sample(200_000, 5)
    first = (X["x1"].astype(str) == "0") & (X["x2"].astype(str) == "2") & (X["x3"].astype(str) == "1")
    for k, label in enumerate(truth.classes):
        p = truth.priors[k] * truth.tables[k, 0, 2, 1]
        assert abs(float((first & (y == label)).mean()) - p) < 5 * (p / 200_000) ** 0.5
    assert (truth.sample(50, 5)[1] == truth.sample(50, 5)[1]).all()
    assert not (truth.sample(50, 5)[1] == truth.sample(50, 6)[1]).all()


# drawn points ---------------------------------------------------------------------------------------------------------


def test_drawn_points_are_smoothed_as_scipy_does() -> None:
    points = [RNG.normal(size=(9, 2)), RNG.normal(size=(6, 2)) + 2]
    truth = from_drawn([(k, *row) for k, own in enumerate(points) for row in own], None, [0.3, 0.7], "12")
    X = RNG.normal(size=(20, 2))
    for k, own in enumerate(points):
        expected = np.log(truth.priors[k] * stats.gaussian_kde(own.T)(X.T))
        assert np.allclose(truth.log_joint(X)[:, k], expected, atol=1e-10)
    mean, error = simulated(truth, zero_one(truth), 40_000)
    found = bayes_risk(truth, zero_one(truth))
    assert abs(found.value - mean) < 4 * error + found.error


# fitted classifiers ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_true_risk_of_a_fitted_classifier_is_what_fresh_rows_cost() -> None:
    truth = gaussians(MEANS, STRETCHED, [0.3, 0.7])
    loss = LossMatrix(("1", "2"), truth.classes, [[0.0, 4.0], [1.0, 0.0]])
    X, y = truth.sample(200_000, 11)
    for model in of_numbers().values():
        model.fit(*truth.sample(40, 2))
        position = (model.predict_proba(X) @ loss.for_classes(model.classes_).table.T).argmin(axis=1)
        cost = loss.table[position, (y == "2").astype(int)]
        found = true_risk(truth, model, loss)
        assert abs(found.value - cost.mean()) < 4 * cost.std() / len(cost) ** 0.5 + found.error


def test_endless_rows_fit_the_truth_s_own_moments() -> None:
    truth = gaussians(MEANS, STRETCHED, [0.3, 0.7])
    model = fitted_to_population(truth, GaussianNB())
    assert np.allclose(model.theta_, MEANS, atol=1e-9)
    assert np.allclose(model.var_, np.diagonal(STRETCHED, axis1=1, axis2=2), atol=1e-7)
    assert np.allclose(model.class_prior_, [0.3, 0.7])


def test_without_weights_a_large_sample_stands_for_the_population() -> None:
    class Unweighted(LogisticRegression):
        def fit(self, X: Any, y: Any) -> Any:
            return super().fit(X, y)

    truth = gaussians(MEANS, [EYE, EYE])
    weighted, sampled = (fitted_to_population(truth, m) for m in (LogisticRegression(), Unweighted()))
    assert np.allclose(weighted.coef_, sampled.coef_, atol=0.05)
    assert np.allclose(weighted.coef_, [[2.0, 0.5]], atol=5e-3)  # Σ⁻¹(μ₂ − μ₁)


@pytest.mark.slow
def test_misfit_is_nought_where_the_model_is_the_truth_and_not_elsewhere() -> None:
    truth = gaussians(MEANS, STRETCHED, [0.3, 0.7])
    curve = learning_curve(truth, of_numbers(), zero_one(truth), [20, 400], replicates=6)
    excess = dict(zip(curve.names, curve.misfit, strict=True))
    assert abs(excess["qda"]) < 1e-6
    assert min(excess["lda"], excess["logistic"], excess["naive-bayes"]) > 0.005
    lda = boundaries(TwoGaussians(MEANS, STRETCHED, 0.7)).lda.error
    assert curve.limit[curve.names.index("lda")] == pytest.approx(lda, abs=1e-6)
    assert (curve.finite[:, 0] > curve.finite[:, 1]).all()
    assert np.allclose(curve.bayes.value + curve.misfit[:, None] + curve.finite, curve.mean)


def test_on_equal_covariances_lda_and_logistic_regression_reach_the_bayes_risk() -> None:
    truth = gaussians(MEANS, [STRETCHED[0]] * 2, [0.3, 0.7])
    curve = learning_curve(truth, of_numbers(), zero_one(truth), [50], replicates=2)
    excess = dict(zip(curve.names, curve.misfit, strict=True))
    assert max(abs(excess[name]) for name in ("lda", "qda", "logistic")) < 1e-6
    assert excess["naive-bayes"] > 1e-4  # the columns are correlated given the class


def test_naive_bayes_and_lines_fail_on_xor_whatever_n() -> None:
    truth = xor()
    curve = learning_curve(truth, of_numbers(), zero_one(truth), [50], replicates=2)
    wrong = dict(zip(curve.names, curve.limit, strict=True))
    assert wrong["naive-bayes"] == wrong["lda"] == pytest.approx(0.5, abs=1e-6)
    assert wrong["qda"] == pytest.approx(curve.bayes.value, abs=1e-3)


@pytest.mark.slow
def test_dependence_given_the_class_costs_naive_bayes_but_not_tan() -> None:
    copied = np.array([[0.4, 0.1], [0.1, 0.4]])
    tables = np.stack([copied[..., None] * [0.7, 0.3], copied[::-1][..., None] * [0.3, 0.7]])
    truth = TableTruth(("1", "2"), np.array([0.5, 0.5]), tables)
    curve = learning_curve(truth, of_levels(), zero_one(truth), [200], replicates=3)
    excess = dict(zip(curve.names, curve.misfit, strict=True))
    assert excess["tan"] == pytest.approx(0.0, abs=1e-9)
    assert excess["naive-bayes"] > 0.05


def test_replicates_that_cannot_be_fitted_are_counted_and_left_out() -> None:
    truth = gaussians(MEANS, STRETCHED, [0.9, 0.1])
    curve = learning_curve(truth, {"qda": of_numbers()["qda"]}, zero_one(truth), [8], replicates=20)
    assert 0 < curve.failed[0, 0] < 20
    assert np.isfinite(curve.mean[0, 0])


# boundaries -----------------------------------------------------------------------------------------------------------


def on_frontier(truth: GaussianTruth, pieces: NDArray[Any], loss: LossMatrix) -> NDArray[Any]:
    """The gap between the two least risks at the ends of every piece, as shares of the largest λ."""
    joint = np.exp(truth.log_joint(pieces.reshape(-1, 2)))
    risks = np.sort((joint / joint.sum(axis=1, keepdims=True)) @ loss.table.T, axis=1)
    return np.asarray(risks[:, 1] - risks[:, 0])


def test_the_frontier_lies_where_two_decisions_cost_the_same() -> None:
    truth = gaussians(MEANS, STRETCHED, [0.3, 0.7])
    loss = LossMatrix(("1", "2"), truth.classes, [[0.0, 4.0], [1.0, 0.0]])
    pieces = boundary_segments(truth.log_joint, loss, (-4, 4), (-4, 4))
    assert len(pieces) > 60
    assert on_frontier(truth, pieces, loss).max() < 0.01
    line = gaussians([[-1.0, 0.0], [1.0, 0.0]], [EYE, EYE])
    straight = boundary_segments(line.log_joint, zero_one(line), (-3, 3), (-2, 2), size=33)
    assert np.allclose(straight[:, [0, 2]], 0.0, atol=1e-6)
    assert np.hypot(*(straight[:, 2:] - straight[:, :2]).T).sum() == pytest.approx(4.0)


def test_a_truth_that_leaves_nothing_to_decide_has_no_frontier() -> None:
    truth = gaussians([[0.0, 0.0], [0.0, 0.0]], [EYE, EYE], [0.9, 0.1])
    assert boundary_segments(truth.log_joint, zero_one(truth), (-1, 1), (-1, 1)).shape == (0, 4)


def test_a_sliver_of_refusal_between_two_nodes_is_found() -> None:
    loss = LossMatrix.zero_one(("1", "2")).with_refusal(0.45)
    before, after, t, _of = decision_changes(np.log([[0.9, 0.1]]), np.log([[0.1, 0.9]]), loss.table, pieces=16)
    assert (before.tolist(), after.tolist()) == ([0, 2], [2, 1])
    odds = np.log(0.55 / 0.45)
    assert t == pytest.approx([0.5 - odds / (4 * np.log(3)), 0.5 + odds / (4 * np.log(3))], abs=1e-6)


# refusals -------------------------------------------------------------------------------------------------------------


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(ParameterError, match="sum to 1"):
        gaussians(MEANS, [EYE, EYE], [0.5, 0.6])
    with pytest.raises(ParameterError, match="eigenvalues"):
        gaussians(MEANS, [EYE, [[1.0, 2.0], [2.0, 1.0]]])
    with pytest.raises(ParameterError, match="draw at least one"):
        from_drawn([(0, 0.0, 0.0)], 0.5, [0.5, 0.5], "12")
    with pytest.raises(ParameterError, match="bandwidth"):
        from_drawn([(0, 0.0, 0.0), (1, 1.0, 1.0)], None, [0.5, 0.5], "12")
    with pytest.raises(ParameterError, match="sum to 1"):
        TableTruth(("a", "b"), np.array([0.5, 0.5]), np.full((2, 2), 0.4))
    with pytest.raises(LossError, match="no column for the class"):
        bayes_risk(gaussians(MEANS, [EYE, EYE]), LossMatrix.zero_one(("a", "b")))


def test_a_class_the_rows_never_showed_has_no_probability() -> None:
    truth = gaussians([[0.0], [1.0], [2.0]], [[[1.0]]] * 3)
    X, y = truth.sample(50, 1)
    model = GaussianNB().fit(X[y != "2"], y[y != "2"])
    logs = log_posterior(model, truth.classes)(X)
    assert np.isneginf(logs[:, 1]).all()
    assert np.isfinite(logs[:, [0, 2]]).all()
    assert true_risk(truth, model, zero_one(truth)).value > bayes_risk(truth, zero_one(truth)).value
