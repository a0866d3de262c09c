"""Derivations with the numbers of a case: every line holds, follows the table and the model, and agrees with what was
not written here (SciPy, scikit-learn, finite differences, draws).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.stats import dirichlet, ortho_group
from sklearn.covariance import EmpiricalCovariance
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from bayes_engine.datasets import load_dataset
from bayes_engine.errors import TableError
from bayes_engine.factors.sources import Fraction, Given
from bayes_engine.models.projection import NumericRows, numeric_rows
from bayes_engine.table.roles import take_apart
from bayes_engine.workbench.derivation.chains.chain import Chain
from bayes_engine.workbench.derivation.chains.estimates import class_prior_chain, gaussian_chain, laplace_chain
from bayes_engine.workbench.derivation.chains.scatter import ratio_trace_chain, scatter_chain, trace_ratio_chain

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
