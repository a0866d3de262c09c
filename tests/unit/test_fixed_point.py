"""The largest class by fixed point: equal to the exact sum wherever it does not pass the row on; the posterior."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn import naive_bayes as peers

import bayes_engine
from bayes_engine.factors.fixed_point import LinearInFixedPoint
from bayes_engine.logspace import normalize
from bayes_engine.table.matrix import Matrix


def words(n: int = 400, terms: int = 300, most: int = 6, seed: int = 0) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    return sparse.csr_array(rng.integers(0, most, (n, terms)) * (rng.random((n, terms)) < 0.1))


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint16])
def test_the_largest_is_the_exact_one(classes: int, kind: type) -> None:
    X = words().astype(kind)
    rng = np.random.default_rng(classes)
    weight, bias = rng.normal(size=(300, classes)), rng.normal(size=classes)
    found = LinearInFixedPoint(weight.T, bias).argmax(Matrix.of(X))
    assert found is not None
    exact = (X.astype(float) @ weight + bias).argmax(axis=1)
    assert (found.largest == exact)[~found.close].all()
    assert found.close.mean() < 0.05


def test_few_small_counts_have_all_the_bits() -> None:
    X = words(400, 5, 2)
    weight = np.random.default_rng(0).normal(size=(5, 4))
    found = LinearInFixedPoint(weight.T, np.zeros(4)).argmax(Matrix.of(X))
    assert found is not None
    assert (found.largest == (X @ weight).argmax(axis=1))[~found.close].all()
    assert (found.close == (np.diff(X.indptr) == 0)).all()  # without a term all classes are equal


@pytest.mark.parametrize("above", [0.0, 2.0])
def test_a_term_that_is_there_or_not(above: float) -> None:
    X = words().astype(float) * 1.5
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=(300, 3)), rng.normal(size=3)
    found = LinearInFixedPoint(weight.T, bias).argmax(Matrix.of(X, above))
    assert found is not None
    exact = ((X.toarray() > above) @ weight + bias).argmax(axis=1)
    assert (found.largest == exact)[~found.close].all()


def test_what_rounding_could_decide_is_passed_on() -> None:
    """Two classes that differ by less than the last bit, and two that are equal."""
    weight = np.zeros((300, 3))
    weight[:, 1] = 1e-12
    weight[:, 2] = -1.0
    found = LinearInFixedPoint(weight.T, np.zeros(3)).argmax(Matrix.of(words()))
    assert found is not None
    assert found.close.all()


@pytest.mark.parametrize(
    "X",
    [
        words().astype(float),  # fractions are possible
        words().toarray(),  # dense
        sparse.csr_array((3, 300), dtype=np.int64),  # nothing is stored
        words(20),  # fewer cells than weights: the tables cost more than the sums
        words().astype(np.uint64),  # beyond a signed word
        words() * 10**12,  # too large for half a word
        words() * -(10**12),
    ],
    ids=["floats", "dense", "empty", "few", "uint64", "huge", "hugely negative"],
)
@pytest.mark.parametrize("way", [LinearInFixedPoint.argmax, LinearInFixedPoint.posterior])
def test_where_this_is_no_way(X, way) -> None:
    linear = LinearInFixedPoint(np.random.default_rng(0).normal(size=(3, 300)), np.zeros(3))
    assert way(linear, Matrix.of(X)) is None


def test_many_classes_and_infinite_weights_take_the_other_way() -> None:
    assert LinearInFixedPoint(np.zeros((6, 300)), np.zeros(6)).argmax(Matrix.of(words())) is None
    weight = np.zeros((300, 2))
    weight[7, 1] = -np.inf
    assert LinearInFixedPoint(weight.T, np.zeros(2)).argmax(Matrix.of(words())) is None
    assert LinearInFixedPoint(weight.T, np.zeros(2)).posterior(Matrix.of(words())) is None


def test_a_class_of_prior_zero_is_never_the_largest() -> None:
    found = LinearInFixedPoint(np.zeros((3, 300)), np.array([-np.inf, 0.5, -np.inf])).argmax(Matrix.of(words()))
    assert found is not None
    assert (found.largest == 1).all()
    assert not found.close.any()


@pytest.mark.parametrize("above", [None, 0.0, 2.0])
@pytest.mark.parametrize("spread", [0.05, 1.0, 30.0], ids=["near", "apart", "odds beyond 200"])
def test_the_posterior_is_that_of_the_sums(above: float | None, spread: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several blocks, of which a later one has larger counts and takes fewer bits."""
    monkeypatch.setattr("bayes_engine.table.matrix.SPARSE_CELLS", 4000)
    X = words()
    X.data[-9000:] *= 3
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=(4, 300)) * spread, np.array([0.3, -np.inf, 0.0, -1.0])
    found = LinearInFixedPoint(weight, bias).posterior(Matrix.of(X, above))
    assert found is not None
    there = X.toarray() if above is None else X.toarray() > above
    joint = there.astype(float) @ weight.T + bias
    np.testing.assert_allclose(found, normalize(joint), rtol=1e-9, atol=1e-300)
    assert (found[:, 1] == 0.0).all()


def test_what_is_kept_of_rows_before_changes_nothing() -> None:
    """Large counts between two askings for small ones: each takes the bits that it would have taken alone."""
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=(4, 300)), rng.normal(size=4)
    used, small, large = LinearInFixedPoint(weight, bias), Matrix.of(words()), Matrix.of(words() * 20)
    for rows in (small, large, small):
        alone = LinearInFixedPoint(weight, bias)
        kept, fresh = used.posterior(rows), alone.posterior(rows)
        assert kept is not None
        assert fresh is not None
        assert (kept == fresh).all()
        decided, expected = used.argmax(rows), alone.argmax(rows)
        assert decided is not None
        assert expected is not None
        assert (decided.close == expected.close).all()


def test_sums_so_large_that_floats_are_closer_are_left_to_them() -> None:
    """A row of thousands of words beside short ones; which class is the largest is still known."""
    X = words()
    X.data[:3] = 5_000
    linear = LinearInFixedPoint(np.random.default_rng(0).normal(size=(3, 300)), np.zeros(3))
    assert linear.posterior(Matrix.of(X)) is None
    assert linear.argmax(Matrix.of(X)) is not None
    assert linear.posterior(Matrix.of(X[1:])) is not None


def test_no_posterior_against_a_first_class_that_is_impossible() -> None:
    assert LinearInFixedPoint(np.zeros((3, 300)), np.array([-np.inf, 0.5, 0.0])).posterior(Matrix.of(words())) is None


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
@pytest.mark.parametrize("classes", [2, 3, 5, 7])
def test_predictions_are_scikit_learns(name: str, classes: int) -> None:
    """Ties, too: equal rows in every class."""
    X, y = words(600), np.random.default_rng(1).integers(0, classes, 600)
    X = sparse.vstack([X, sparse.csr_array((5, 300), dtype=X.dtype)]).tocsr()
    y = np.append(y, np.zeros(5, dtype=int))
    ours, peer = getattr(bayes_engine, name)().fit(X, y), getattr(peers, name)().fit(X, y)
    assert (ours.predict(X) == peer.predict(X)).all()
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-9)
    joint = ours.predict_joint_log_proba(X)
    assert (ours.predict(X) == ours.classes_[joint.argmax(axis=1)]).all()
