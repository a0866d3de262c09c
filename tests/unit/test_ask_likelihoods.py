"""The value of the next question where a column has a kernel density, a Poisson rate, or words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, poisson

from bayes_engine import LossMatrix, NaiveBayes
from bayes_engine.decision.ask import ask, decision_now, interview, outcomes, value_of_everything
from bayes_engine.models.lazy import LazyNaiveBayes
from bayes_engine.models.weighted import WeightedNaiveBayes
from tests.conftest import examples

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
NOTHING = pd.DataFrame({"calls": [np.nan], "mass": [np.nan], "note": pd.Series([None], dtype=object)})


def table(seed: int = 3, n: int = 40, rate: float = 1.0) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    y = pd.Series(rng.choice(["a", "b", "c"], n), name="class")
    k = y.map({"a": 0, "b": 1, "c": 2}).to_numpy()
    X = pd.DataFrame(
        {
            "calls": rng.poisson(rate * (1 + 2 * k)).astype(float),
            "mass": np.round(rng.normal(10.0 + 2.0 * (k == 1), 0.3 + k, n), 2),
            "note": np.where(k == 0, "win a prize", "lunch at noon"),
        }
    )
    return X, y


def fitted(mass: str = "kernel", kind: Any = NaiveBayes, **of: Any) -> Any:
    X, y = table(**of)
    return kind(likelihoods={"calls": "poisson", "mass": mass, "note": "multinomial"}).fit(X, y)


def refusing(model: Any) -> LossMatrix:
    """Dear mistakes of one kind, and a refusal."""
    classes = model.classes_.tolist()
    table = 1.0 - np.eye(len(classes))
    table[0, -1] = 4.0
    return LossMatrix(classes, classes, table).with_refusal(0.3)


def question(model: Any, row: pd.DataFrame, name: str, loss: Any = None) -> Any:
    return next(q for q in ask(model, row, loss).questions if q.feature == name)


def masses(model: Any, row: pd.DataFrame, name: str, x: np.ndarray) -> np.ndarray:
    """(n, C) P(c, x_j | x) by the model's own joint."""
    frame = row.iloc[np.zeros(len(x), dtype=int)].reset_index(drop=True).assign(**{name: x})
    return np.exp(model.predict_joint_log_proba(frame)) / np.exp(model.predict_joint_log_proba(row)).sum()


def test_a_text_is_no_question() -> None:
    model = fitted()
    assert {q.feature for q in ask(model, NOTHING).questions} == {"calls", "mass"}
    assert value_of_everything(model, NOTHING) is None
    words = NaiveBayes(text={"columns": ["note"]}).fit(table()[0][["note"]], table()[1])
    assert ask(words, NOTHING[["note"]]).questions == () and value_of_everything(words, NOTHING[["note"]]) == 0.0


def test_a_text_that_is_known_is_heard() -> None:
    model, row = fitted(), NOTHING.assign(note=["win a prize"])
    np.testing.assert_allclose(ask(model, row).posterior, model.predict_proba(row)[0])
    talk = interview(model, row.assign(calls=0.0, mass=10.0), costs=10.0)
    assert talk.steps == ()
    np.testing.assert_allclose(talk.end.posterior, model.predict_proba(row)[0])
    assert decision_now(model, row).action[0] == "a"


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.3, 1.0, 40.0, 1e5])
def test_a_count_is_summed_over_whole_numbers(rate: float) -> None:
    """Against SciPy's Poisson probabilities of every count there is."""
    model = fitted(rate=rate)
    loss, row = refusing(model), NOTHING.assign(mass=10.5)
    own = next(p for p in model.factor_.parts if getattr(p, "variable", None) and p.variable.name == "calls").rate
    k = np.arange(own.max() + 40 * math.sqrt(own.max()) + 60)
    share = model.predict_proba(row)[0] * poisson.pmf(k[:, None], own)
    expected = (share @ loss.table.T).sum(axis=0).min() - (share @ loss.table.T).min(axis=1).sum()
    found = question(model, row, "calls", loss)
    assert found.gain == pytest.approx(expected, abs=1e-9) and found.error == 0.0
    ratio = np.divide(share, share.sum(axis=1, keepdims=True), out=np.ones_like(share), where=share > 0)
    with np.errstate(divide="ignore"):
        told = np.where(share > 0, share * (np.log(ratio) - np.log(model.predict_proba(row)[0])), 0.0).sum()
    assert found.information == pytest.approx(told, abs=1e-8)


def test_answers_to_a_count_are_runs_of_whole_numbers() -> None:
    model = fitted()
    loss, row = refusing(model), NOTHING.assign(mass=10.5)
    told = outcomes(model, row, "calls", loss)
    assert told[0].low == -math.inf and told[-1].high == math.inf
    assert [o.high for o in told[:-1]] == [o.low for o in told[1:]] and all(o.high % 1 == 0 for o in told[:-1])
    assert math.fsum(o.probability for o in told) == pytest.approx(1.0, abs=1e-12)
    k = np.arange(200.0)
    best = (masses(model, row, "calls", k) @ loss.table.T).argmin(axis=1)
    for o in told:
        inside = (k > o.low) & (k <= o.high)
        assert {loss.actions[a] for a in best[inside & (k < 40)]} <= {o.action}
        assert o.probability == pytest.approx(masses(model, row, "calls", k)[inside].sum(), abs=1e-12)


@pytest.mark.slow
def test_a_rate_of_zero_and_very_large_ones() -> None:
    few, many = (pd.DataFrame({"n": v}) for v in ([0.0, 0, 3, 5], [1e12, 1e12 + 2e6, 1e12 + 4e6, 1e12 + 7e6]))
    none = NaiveBayes(likelihoods="poisson", smoothing="none").fit(few, list("aabb"))
    assert question(none, few[:1] * np.nan, "n").gain == pytest.approx(0.5 * (1 - math.exp(-4.0)), abs=1e-15)
    huge = NaiveBayes(likelihoods="poisson").fit(many, list("aabb"))  # three standard deviations apart
    assert question(huge, many[:1] * np.nan, "n").gain == pytest.approx(0.5 - norm.cdf(-1.5), abs=1e-3)


@pytest.mark.parametrize("kind", ["kernel", "kernel-range"])
@pytest.mark.parametrize("n", [12, 300])  # a point of the line for each bump, and common points of many
def test_a_kernel_density_by_scipys_quad(kind: str, n: int) -> None:
    model = fitted(kind, n=n)
    loss, row = refusing(model), NOTHING.assign(calls=2.0)
    found, told = question(model, row, "mass", loss), outcomes(model, row, "mass", loss)
    assert found.error == 0.0 and math.fsum(o.probability for o in told) == pytest.approx(1.0, abs=1e-12)
    bounds = [o.low for o in told[1:]]
    ends = np.unique([*np.linspace(-15.0, 40.0, 1200), *bounds])
    nodes, weights = np.polynomial.legendre.leggauss(10)
    half = np.diff(ends)[:, None] / 2
    share = (
        masses(model, row, "mass", (ends[:-1, None] + half * (1 + nodes)).ravel()) * (half * weights).ravel()[:, None]
    )
    risks = share @ loss.table.T
    assert found.gain == pytest.approx(risks.sum(axis=0).min() - risks.min(axis=1).sum(), abs=1e-8)
    p = model.predict_proba(row)[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = np.nansum(share * (np.log(share) - np.log(share.sum(axis=1, keepdims=True)) - np.log(p)))
    assert found.information == pytest.approx(nats, abs=1e-6)
    for bound in bounds:  # two decisions are alike there
        first, second = np.sort(masses(model, row, "mass", np.array([bound])) @ loss.table.T, axis=1)[0, :2]
        assert first == pytest.approx(second, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["kernel", "kernel-range"])
def test_masses_of_bumps_by_quadrature(kind: str) -> None:
    model, row = fitted(kind, n=25), NOTHING.assign(calls=2.0)
    nodes, weights = np.polynomial.legendre.leggauss(10)
    for o in outcomes(model, row, "mass", refusing(model)):
        ends = np.linspace(max(o.low, -15.0), min(o.high, 40.0), 400)
        half = np.diff(ends)[:, None] / 2
        share = masses(model, row, "mass", (ends[:-1, None] + half * (1 + nodes)).ravel())
        area = (half * weights).ravel() @ share
        np.testing.assert_allclose(np.array(o.posterior) * o.probability, area, atol=1e-9)


def test_a_lazy_model_answers_as_the_one_it_puts_off() -> None:
    X, y = table()
    X, row = X[["calls", "mass"]], pd.DataFrame({"calls": [np.nan], "mass": [np.nan]})
    chosen = {"calls": "poisson", "mass": "kernel"}
    lazy, eager = (kind(likelihoods=chosen).fit(X, y) for kind in (LazyNaiveBayes, NaiveBayes))
    assert ask(lazy, row).questions == ask(eager, row).questions


def test_a_weighted_count_and_one_of_no_weight() -> None:
    X, y = table()
    row = pd.DataFrame({"calls": [np.nan], "mass": [10.5]})
    inner = NaiveBayes(likelihoods={"calls": "poisson"})
    model = WeightedNaiveBayes(inner, weights={"calls": 0.4}).fit(X[["calls", "mass"]], y)
    loss, k = refusing(model), np.arange(600.0)
    share = masses(model, row, "calls", k)
    risks = share / share.sum() @ loss.table.T
    expected = risks.sum(axis=0).min() - risks.min(axis=1).sum()
    assert question(model, row, "calls", loss).gain == pytest.approx(expected, abs=1e-10)
    without = WeightedNaiveBayes(inner, weights={"calls": 0.0}).fit(X[["calls", "mass"]], y)
    assert question(without, row, "calls").gain == 0.0
    one = X[["calls", "mass"]].assign(calls=2.0)  # set aside: it is one value in training
    assert question(WeightedNaiveBayes(inner, weights={}).fit(one, y), row, "calls").gain == 0.0
    assert question(inner.fit(one, y), row, "calls").gain == 0.0


@pytest.mark.slow
@examples(15)
@given(st.integers(0, 10**6), st.sampled_from(["kernel", "kernel-range", "gaussian"]))
def test_no_question_is_worth_less_than_nothing_nor_more_than_the_truth(seed: int, mass: str) -> None:
    model = fitted(mass, seed=seed, n=25)
    inquiry = ask(model, NOTHING, refusing(model))
    for q in inquiry.questions:
        assert 0.0 <= q.gain <= inquiry.perfect + 1e-9 and q.information >= 0.0


@pytest.mark.slow
def test_a_weighted_density_says_as_much_in_any_unit() -> None:
    X, y = table()
    row = pd.DataFrame({"calls": [2.0], "mass": [np.nan]})
    found = []
    for unit in (1.0, 1e-6, 1e6):
        own = X[["calls", "mass"]].assign(mass=X["mass"] * unit)
        model = WeightedNaiveBayes(NaiveBayes(likelihoods={"calls": "poisson"}), weights={"mass": 0.4}).fit(own, y)
        found.append(question(model, row, "mass"))
    assert found[0].gain > 1e-3 and max(q.error for q in found) < 1e-6
    assert [q.gain for q in found] == pytest.approx([found[0].gain] * 3, abs=1e-6)
    assert [q.information for q in found] == pytest.approx([found[0].information] * 3, rel=1e-6)
