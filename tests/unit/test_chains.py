"""Derivations with the numbers of a case: every line holds, follows the table and the model, and agrees with what was
not written here (SciPy, scikit-learn, finite differences, draws).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import eigh
from scipy.stats import dirichlet, multivariate_normal, ortho_group
from sklearn.covariance import EmpiricalCovariance
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from bayes_engine.datasets import load_dataset, load_network
from bayes_engine.errors import TableError
from bayes_engine.factors.network import CPT, Network
from bayes_engine.factors.sources import Fraction, Given
from bayes_engine.models.em_runs import run_em
from bayes_engine.models.projection import NumericRows, numeric_rows
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.graph import DAG
from bayes_engine.table.roles import take_apart
from bayes_engine.workbench.derivation.chains.chain import Chain
from bayes_engine.workbench.derivation.chains.discriminant import boundary_chain, fisher_lda_chain, two_classes
from bayes_engine.workbench.derivation.chains.em_bound import em_chain
from bayes_engine.workbench.derivation.chains.estimates import class_prior_chain, gaussian_chain, laplace_chain
from bayes_engine.workbench.derivation.chains.gibbs_stationary import gibbs_chain
from bayes_engine.workbench.derivation.chains.mdl import mdl_chain
from bayes_engine.workbench.derivation.chains.scatter import ratio_trace_chain, scatter_chain, trace_ratio_chain
from bayes_engine.workbench.derivation.gibbs_walk import row_of, softened

OF_ROWS = {
    "gaussian": gaussian_chain,
    "scatter": scatter_chain,
    "ratio-trace": ratio_trace_chain,
    "trace-ratio": trace_ratio_chain,
}


def rows(table: str, columns: int = 2) -> NumericRows:
    dataset = load_dataset(table)
    parts = take_apart(dataset.frame, dataset.schema)
    return numeric_rows(parts, [v.name for v in parts.schema.features if v.numeric][:columns])


def derived(name: str, data: NumericRows) -> Chain:
    return OF_ROWS[name](data, list(data.names), [str(c) for c in data.classes])


def without_row(data: NumericRows, i: int) -> NumericRows:
    kept = np.arange(len(data.y)) != i
    return replace(data, X=data.X[kept], y=data.y[kept], weight=data.weight[kept], rows=data.rows[kept])


def sound(chain: Chain) -> None:
    """Every line holds, and says something."""
    assert len(chain.lines) >= 6
    for i, line in enumerate(chain.lines, 1):
        assert line.check.holds, f"{chain.name}, line {i}: {line.check.difference} of {line.check.scale}"
        assert line.symbols and line.numbers and line.reason.local()


def written(chain: Chain) -> list[tuple[str, ...]]:
    return [line.numbers for line in chain.lines]


@pytest.mark.parametrize("name", OF_ROWS)
def test_every_line_about_rows_holds_and_follows_them(name: str) -> None:
    for data in (rows("watermelon3a"), rows("iris", 4)):
        chain = derived(name, data)
        sound(chain)
        fewer = derived(name, without_row(data, 3))
        sound(fewer)
        assert written(fewer) != written(chain)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_ROWS)
@pytest.mark.parametrize("table", ["wine", "breast-cancer", "penguins", "loan", "watermelon3"])
@pytest.mark.parametrize("columns", [2, 3])
def test_every_line_about_rows_holds_on_other_tables(name: str, table: str, columns: int) -> None:
    data = rows(table, columns)
    sound(derived(name, data))
    weighted = replace(data, weight=np.random.default_rng(0).uniform(0.2, 3.0, len(data.y)))
    sound(derived(name, weighted))
    far = replace(data, X=data.X * 1e3 + 1e5)
    sound(derived(name, far))


def test_columns_whose_scatter_cannot_be_inverted_are_refused() -> None:
    data = rows("iris")
    twice = replace(data, X=np.column_stack([data.X[:, 0], 2.0 * data.X[:, 0]]))
    for name in OF_ROWS.keys() - {"scatter"}:
        with pytest.raises(TableError, match="cannot be inverted"):
            derived(name, twice)


def test_the_class_prior_is_a_maximum_by_finite_differences() -> None:
    counts, used = [5.0, 3.0, 2.5], [Given(1 / 3)] * 3
    chain = class_prior_chain(counts, ["a", "b", "c"], used)
    sound(chain)
    best = chain.lines[5].check.left

    def likelihood(pi: np.ndarray) -> float:
        return float(np.dot(counts, np.log(pi)))

    gradient = [
        (likelihood(best + h) - likelihood(best - h)) / 2e-6 for h in 1e-6 * np.eye(3)
    ]  # without the constraint: the multiplier
    np.testing.assert_allclose(gradient, chain.lines[2].check.left, rtol=1e-8)
    drawn = np.random.default_rng(1).dirichlet([1.0, 1.0, 1.0], 500)
    assert max(map(likelihood, drawn)) <= likelihood(best)


def test_the_smoothed_prior_follows_alpha_and_a_class_without_rows_is_borne() -> None:
    chains = {}
    for alpha in (0.0, 1.0, 2.5):
        used = [Fraction(count, 8, alpha, 3) for count in (6, 2, 0)]
        chains[alpha] = class_prior_chain([6, 2, 0], ["a", "b", "c"], used)
        sound(chains[alpha])
    assert len(chains[0.0].lines) == 6
    assert chains[2.5].lines[-1].check.left[2] == pytest.approx(2.5 / 15.5)
    assert written(chains[1.0])[-1] != written(chains[2.5])[-1]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 3.0])
def test_laplace_is_the_mean_of_the_dirichlet_posterior(alpha: float) -> None:
    counts = np.array([5.0, 3.0, 0.0])
    fractions = [Fraction(c, 8.0, alpha, 3) for c in counts]
    for s in range(3):
        chain = laplace_chain(fractions, s, ["x", "y", "z"], "column", "class", model=fractions[s].value)
        sound(chain)
        mean = dirichlet.mean(counts + (alpha or 1.0))
        assert chain.lines[5].check.left == pytest.approx(mean[s], rel=1e-12)
    levels = laplace_chain(
        [Fraction(2.25, 4.75, 0.5, 2), Fraction(2.5, 4.75, 0.5, 2)], 0, ["x", "y"], "c", "k", model=0.0
    )
    assert all(line.check.holds for i, line in enumerate(levels.lines) if i != 5)
    assert not levels.lines[5].check.holds  # a model that has another number is found out


@pytest.mark.slow
def test_the_covariance_is_that_of_scikit_learn_and_a_maximum_by_finite_differences() -> None:
    data = rows("iris", 2)
    chain = derived("gaussian", data)
    peer = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(data.X, data.y)
    np.testing.assert_allclose(chain.lines[5].check.left, peer.covariance_, rtol=1e-10)
    means = chain.lines[2].check.left
    np.testing.assert_allclose(means, peer.means_, rtol=1e-12)

    def likelihood(mu: np.ndarray, sigma: np.ndarray) -> float:
        model = EmpiricalCovariance(assume_centered=True).fit(data.X)
        model.location_ = np.zeros(2)
        precision = np.linalg.inv(sigma)
        away = data.X - mu[data.y]
        return float(-0.5 * (len(away) * np.linalg.slogdet(sigma)[1] + np.einsum("ni,ij,nj->", away, precision, away)))

    sigma = chain.lines[5].check.left
    for i in range(2):
        step = 1e-5 * np.eye(3, 2, -i)
        assert abs(likelihood(means + step, sigma) - likelihood(means - step, sigma)) / 2e-5 < 1e-4
    for e in ([[1, 0], [0, 0]], [[0, 1], [1, 0]], [[0, 0], [0, 1]]):
        step = 1e-6 * np.array(e, dtype=float)
        assert abs(likelihood(means, sigma + step) - likelihood(means, sigma - step)) / 2e-6 < 1e-2


@pytest.mark.slow
def test_ratio_trace_has_the_eigenvalues_of_scipy() -> None:
    data = rows("iris", 4)
    lines = derived("ratio-trace", data).lines
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    means = np.array([Z[data.y == c].mean(axis=0) for c in range(3)])
    within = sum(np.cov(Z[data.y == c].T, ddof=0) * 50 for c in range(3))
    between = 50 * (means.T @ means)
    J = eigh(between, within, eigvals_only=True)[::-1][:2]
    np.testing.assert_allclose(np.diagonal(lines[5].check.left[1]), J, rtol=1e-9)
    assert float(lines[6].check.left[0]) == pytest.approx((1.0 / J).sum(), rel=1e-9)
    ratio = derived("trace-ratio", data).lines[-1].check.right
    for W in ortho_group.rvs(4, 2000, random_state=0)[:, :, :2]:
        assert np.trace(W.T @ between @ W) / np.trace(W.T @ within @ W) <= ratio


# two classes ----------------------------------------------------------------------------------------------------------

ZERO_ONE, COSTLY = ((0.0, 1.0), (1.0, 0.0)), ((0.0, 5.0), (1.0, 0.0))


def pair_of(table: str, first: int = 0, second: int = 1) -> NumericRows:
    return two_classes(rows(table), first, second)


def shares(data: NumericRows) -> list[float]:
    return [float(data.weight[data.y == k].sum() / data.weight.sum()) for k in range(2)]


def fisher(data: NumericRows, prior: Sequence[float]) -> Chain:
    return fisher_lda_chain(data, list(data.names), [str(c) for c in data.classes], prior)


def boundary(data: NumericRows, prior: Sequence[float], losses: object, x: object = None) -> Chain:
    return boundary_chain(data, list(data.names), [str(c) for c in data.classes], prior, losses, x)


def test_fishers_direction_and_the_boundary_are_those_of_scikit_learn() -> None:
    data = pair_of("watermelon3a")
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(data.X, data.y)  # other priors would weigh its covariance
    own = shares(data)
    for prior in (own, [0.5, 0.5], [0.9, 0.1]):
        moved = np.log(prior[1] / prior[0]) - np.log(own[1] / own[0])
        chain = fisher(data, prior)
        sound(chain)
        np.testing.assert_allclose(chain.lines[4].check.left, peer.coef_[0], rtol=1e-9)
        x = data.X[4]
        for losses in (ZERO_ONE, COSTLY):
            decided = boundary(data, prior, losses, x)
            sound(decided)
            shift = np.log(losses[0][1] / losses[1][0])
            assert decided.lines[5].check.left == pytest.approx(
                peer.decision_function(x[None])[0] + moved + shift, rel=1e-9
            )


def test_the_line_and_the_boundary_follow_prior_losses_rows_and_case() -> None:
    data = pair_of("watermelon3a")
    base, even = boundary(data, shares(data), ZERO_ONE, data.X[0]), [0.5, 0.5]
    others = [
        boundary(data, shares(data), COSTLY, data.X[0]),
        boundary(data, even, ZERO_ONE, data.X[0]),
        boundary(without_row(data, 5), shares(data), ZERO_ONE, data.X[0]),
        boundary(data, shares(data), ZERO_ONE),
    ]
    for other in others:
        sound(other)
        assert written(other) != written(base)
    assert written(fisher(data, even)) != written(fisher(data, shares(data)))
    assert fisher(data, even).lines[6].check.right == 0.0  # one line
    with pytest.raises(TableError, match="there is no boundary"):
        boundary(data, even, ((1.0, 1.0), (1.0, 0.0)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "first", "second"), [("iris", 1, 2), ("wine", 0, 2), ("penguins", 0, 1), ("loan", 0, 1)]
)
def test_the_line_and_the_boundary_hold_on_other_tables(table: str, first: int, second: int) -> None:
    data = rows(table)
    data = two_classes(data, first, second)
    for prior in (shares(data), [0.02, 0.98]):
        if len(data.names) > 1:
            sound(fisher(data, prior))
        sound(boundary(data, prior, ((0.5, 7.0), (2.0, 0.25)), data.X[1]))


# EM -------------------------------------------------------------------------------------------------------------------


def petals() -> np.ndarray:
    return load_dataset("iris").frame.iloc[:, 2:4].to_numpy(dtype=float).copy()


def test_the_bound_of_hard_em_leaves_a_gap_and_rises() -> None:
    X = petals()[::5]
    run = run_em(X, 2, "kmeans", seed=0, hard=True, max_iter=2, tol=0.0)
    chain = em_chain(run.trace, X, ["length", "width"], 0)
    assert all(line.check.holds for line in chain.lines) and len(chain.lines) == 6
    theta = run.trace.steps[0].parameters
    each = np.array([w * multivariate_normal(m, c).pdf(X)
                     for w, m, c in zip(theta.weights, theta.means, theta.full(), strict=True)])  # fmt: skip
    # log p − F is what the best component leaves open: −Σ ln of its share
    assert chain.lines[3].check.left == pytest.approx(-np.log((each / each.sum(axis=0)).max(axis=0)).sum(), abs=1e-8)
    with pytest.raises(TableError, match="no step"):
        em_chain(run.trace, X, ["length", "width"], len(run.trace.steps) - 1)


@pytest.mark.slow
def test_ems_bound_touches_and_rises() -> None:
    X = petals()
    run = run_em(X, 3, "kmeans", seed=0)
    for t in (0, 3):
        chain = em_chain(run.trace, X, ["length", "width"], t)
        sound(chain)
        theta = run.trace.steps[t].parameters
        each = np.array([
            w * multivariate_normal(m, c).pdf(X)
            for w, m, c in zip(theta.weights, theta.means, theta.full(), strict=True)
        ])  # fmt: skip
        assert chain.lines[0].check.left == pytest.approx(np.log(each.sum(axis=0)).sum(), rel=1e-10)
    assert written(em_chain(run.trace, X, ["length", "width"], 1)) != written(chain)
    with pytest.raises(TableError, match="no step"):
        em_chain(run.trace, X, ["length", "width"], run.trace.n_iter)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [{}, {"hard": True}, {"prior": "inverse-wishart"}, {"covariance": "tied"}, {"covariance": "spherical"}]
)
@pytest.mark.parametrize("gaps", [False, True])
def test_the_bound_holds_at_every_step_of_every_kind(kind: dict[str, object], gaps: bool) -> None:
    X = petals()
    if gaps:
        X[3, 0] = X[40, 1] = np.nan
        X[10] = np.nan
    run = run_em(X, 3, "random", seed=2, **kind)
    for t in range(run.trace.n_iter):
        chain = em_chain(run.trace, X, ["length", "width"], t)
        assert all(line.check.holds for line in chain.lines), [line.check.difference for line in chain.lines]
    assert bool(kind.get("hard")) == (float(chain.lines[3].check.left) > 1e-6 and len(chain.lines) == 6)


@pytest.mark.slow
def test_where_the_bound_touches_it_has_the_slope_of_the_log_likelihood() -> None:
    X = petals()
    theta = run_em(X, 3, "kmeans", seed=0).trace.steps[0].parameters

    def joint(means: np.ndarray) -> np.ndarray:
        each = zip(theta.weights, means, theta.full(), strict=True)
        return np.log([w * multivariate_normal(m, c).pdf(X) for w, m, c in each])

    here = np.exp(joint(theta.means))
    q = here / here.sum(axis=0)
    for k, j in product(range(3), range(2)):
        step = np.zeros((3, 2))
        step[k, j] = 1e-5
        up, down = joint(theta.means + step), joint(theta.means - step)
        bound = (q * (up - down)).sum() / 2e-5
        likelihood = (np.log(np.exp(up).sum(axis=0)) - np.log(np.exp(down).sum(axis=0))).sum() / 2e-5
        assert bound == pytest.approx(likelihood, rel=1e-5, abs=1e-4)


# Gibbs ----------------------------------------------------------------------------------------------------------------


def gibbs(network: Network, evidence: Sequence[tuple[int, int]]) -> Chain:
    given = row_of(network, evidence)
    return gibbs_chain(network, given, lambda j: network.names[j], lambda j, k: str(network.cpts[j].variable.levels[k]))


def enumerated(network: Network, evidence: dict[int, int]) -> dict[tuple[int, ...], float]:
    """P(state | e) by a loop over all states."""
    p = {}
    for state in product(*(range(size) for size in network.sizes)):
        if all(state[j] == k for j, k in evidence.items()):
            p[state] = 1.0
            for cpt in network.cpts:
                p[state] *= float(cpt.p[tuple(state[network.position[name]] for name in cpt.scope)])
    total = sum(p.values())
    return {state: mass / total for state, mass in p.items() if mass > 0}


@pytest.mark.slow
def test_gibbs_keeps_what_enumeration_gives_and_its_matrix_is_that_of_single_draws() -> None:
    network = load_network("sprinkler").network
    chain = gibbs(network, [(3, 0)])
    sound(chain)
    pi = enumerated(network, {3: 0})
    states = list(pi)
    sweep = np.eye(len(states))
    for j in range(3):
        step = np.zeros((len(states), len(states)))
        for a, x in enumerate(states):
            rest = {b: pi[y] for b, y in enumerate(states) if all(x[i] == y[i] for i in range(4) if i != j)}
            for b, mass in rest.items():
                step[a, b] = mass / sum(rest.values())
        sweep = sweep @ step
    np.testing.assert_allclose(chain.lines[4].check.right, list(pi.values()), rtol=1e-12)
    np.testing.assert_allclose(chain.lines[5].check.left, np.array(list(pi.values()))[:, None] * sweep, atol=1e-15)
    flow = chain.lines[5].check.left
    assert np.abs(flow - flow.T).max() > 0.01  # a sweep is not reversible
    assert written(gibbs(network, [(3, 1)])) != written(chain)
    edited = network.with_cpt(CPT(network.cpts[0].variable, (), [0.2, 0.8]))
    assert written(gibbs(edited, [(3, 0)])) != written(chain)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["asia", "burglary", "stuck", "watermelon"])
def test_gibbs_keeps_what_it_samples_in_every_network(name: str) -> None:
    network = load_network(name).network
    for evidence in ([], [(0, 0)]):
        sound(gibbs(network, evidence))
    stuck, freed = gibbs(network, []), gibbs(softened(network, 0.05), [])
    sound(freed)
    classes = stuck.lines[-1].check.right[0]
    assert (classes > 1) == (name in ("asia", "stuck")) and freed.lines[-1].check.right[0] == 1


def test_too_many_states_and_none_are_said() -> None:
    network = load_network("sprinkler").network
    with pytest.raises(TableError, match="nothing to draw"):
        gibbs(network, [(0, 0), (1, 1), (2, 0), (3, 0)])


# MDL ------------------------------------------------------------------------------------------------------------------


def melons() -> pd.DataFrame:
    dataset = load_dataset("watermelon2")
    return dataset.frame[[v.name for v in dataset.schema if v.role in ("feature", "target")]].astype("category")


@pytest.mark.slow
@pytest.mark.parametrize("score", ["mdl", "aic", "log-likelihood", "k2"])
def test_the_two_lengths_are_those_of_the_rows_one_by_one(score: str) -> None:
    frame = melons()
    arcs = [("好瓜", "纹理"), ("纹理", "根蒂"), ("纹理", "脐部"), ("好瓜", "脐部")]
    chain = mdl_chain(FamilyCounts.of(frame), DAG(list(frame.columns), arcs), str, score)
    sound(chain)
    assert len(chain.lines) == (8 if score in ("aic", "log-likelihood") else 7)
    length = free = 0.0
    for column in frame.columns:
        above = [a for a, b in arcs if b == column]
        alike = frame.groupby([*above, column], observed=True)[column].transform("size")
        within = frame.groupby(above, observed=True)[column].transform("size") if above else len(frame)
        length -= float(np.log(alike / within).sum())
        free += (frame[column].cat.categories.size - 1) * np.prod([frame[a].cat.categories.size for a in above])
    assert chain.lines[1].check.left == pytest.approx(length, rel=1e-12)
    assert chain.lines[4].check.left == pytest.approx(0.5 * np.log(len(frame)) * free + length, rel=1e-12)
    fewer = FamilyCounts.of(frame.iloc[1:])
    assert written(mdl_chain(fewer, DAG(list(frame.columns), arcs), str, score)) != written(chain)
    plain = mdl_chain(FamilyCounts.of(frame), DAG(list(frame.columns), []), str, score)
    sound(plain)
    assert plain.lines[6].check.left == pytest.approx(0.0, abs=1e-9)
