"""A likelihood that is registered from tests/negative_binomial.py alone has all that one of the library's own has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, nbinom
from sklearn.base import clone

from bayes_engine import TAN, NaiveBayes, SemiSupervisedNB, ask, credible, load_model, plausible, save_model
from bayes_engine.decision.description_length import mdl
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.uncertainty.plausible import log_odds
from bayes_engine.workbench.derivation.conditionals import conditional, information
from bayes_engine.workbench.derivation.derive import derive
from bayes_engine.workbench.derivation.latex import latex_behind
from bayes_engine.workbench.derivation.likelihoods import Distributions
from bayes_engine.workbench.derivation.parameter_count import model_size
from bayes_engine.workbench.derivation.render import to_text
from tests.negative_binomial import NAME, BetaPosterior, R, registered

CHOSEN = {"calls": NAME}


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with registered():
        yield


@pytest.fixture
def case() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(5)
    y = pd.Series(np.repeat(["busy", "idle"], 30), name="line")
    X = pd.DataFrame({"calls": rng.negative_binomial(R, np.where(y == "busy", 0.3, 0.7)).astype(float),
                      "kind": rng.choice(["a", "b"], 60)})  # fmt: skip
    X.loc[3, "calls"] = np.nan
    return X, y


def test_the_estimate_is_the_formula(case: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = case
    model = NaiveBayes(likelihoods=CHOSEN).fit(X, y)
    x = X.loc[y == "busy", "calls"].dropna()
    p = R * (len(x) + 1) / (R * (len(x) + 1) + x.sum() + X["calls"].mean())
    rows = {row.name: term for row, term in model.explain(X).rows}
    known = X["calls"].notna().to_numpy()
    np.testing.assert_allclose(rows["calls"][known, 0], nbinom.logpmf(X["calls"][known], R, p), rtol=1e-12)
    assert (rows["calls"][~known] == 0).all()


@pytest.mark.parametrize("smoothing", ["all", "zero-only", "none"])
def test_the_laws(case: tuple[pd.DataFrame, pd.Series], smoothing: str) -> None:
    X, y = case
    model = NaiveBayes(likelihoods=CHOSEN, smoothing=smoothing)
    whole = clone(model).fit(X, y)
    joint = whole.predict_joint_log_proba(X)
    np.testing.assert_allclose(whole.explain(X).joint(), joint, rtol=1e-12)
    schema = whole.schema_
    parts = [clone(model).set_params(schema=schema).partial_fit(X[i::2], y[i::2], ["busy", "idle"]) for i in (0, 1)]
    np.testing.assert_allclose(parts[0].merge(parts[1]).predict_joint_log_proba(X), joint, rtol=1e-12)
    left = whole.leave_one_out_log_proba(X, y)
    for i in (0, 3, 40):
        rest = clone(model).set_params(schema=schema).partial_fit(X.drop(i), y.drop(i), ["busy", "idle"])
        np.testing.assert_allclose(left[i], rest.predict_log_proba(X.iloc[[i]])[0], rtol=1e-9)
    weights = np.where(np.arange(60) % 3 == 0, 2, 1)
    twice = clone(model).fit(X.loc[X.index.repeat(weights)], y.loc[y.index.repeat(weights)])
    np.testing.assert_allclose(
        clone(model).fit(X, y, weights).predict_joint_log_proba(X), twice.predict_joint_log_proba(X), rtol=1e-12
    )


def test_it_is_stored(case: tuple[pd.DataFrame, pd.Series], tmp_path: Path) -> None:
    X, y = case
    model = NaiveBayes(likelihoods=CHOSEN).fit(X, y)
    save_model(model, tmp_path / "model.bayes")
    again = load_model(tmp_path / "model.bayes")
    assert (again.predict_joint_log_proba(X) == model.predict_joint_log_proba(X)).all()


def test_labels_may_be_hidden(case: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = case
    hidden = y.astype(object).where(np.arange(60) % 3 == 0)
    model = SemiSupervisedNB(NaiveBayes(likelihoods=CHOSEN), max_iter=200).fit(X, hidden)
    climbed = [step.objective for step in model.trace_.steps]
    assert (np.diff(climbed) >= -1e-9 * np.abs(climbed[:-1])).all()
    assert (model.predict(X) == y).mean() > 0.6


def test_its_parameter_has_a_posterior(case: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = case
    model = NaiveBayes(likelihoods=CHOSEN).fit(X, y)
    found = credible(model).columns["calls"]
    assert isinstance(found, BetaPosterior)
    x = X.loc[y == "busy", "calls"].dropna()
    a, b = R * (len(x) + 1), x.sum() + X["calls"].mean()
    assert found.interval().low[0] == pytest.approx(beta.ppf(0.025, a, b))
    drawn, exact = plausible(model, X.iloc[[0]], n=20_000), log_odds(model, X.iloc[[0]], "busy", "idle")
    odds = np.log(drawn.p[:, 0] / drawn.p[:, 1])
    assert exact is not None
    assert odds.mean() == pytest.approx(exact.mean, abs=5 * exact.sd / 20_000**0.5)
    assert odds.std() == pytest.approx(exact.sd, rel=0.05)


def test_its_working_opens_with_its_numbers(case: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = case
    model = NaiveBayes(likelihoods=CHOSEN).fit(X, y)
    working = derive(model, X.iloc[[0]])
    x = X.loc[y == "busy", "calls"].dropna()
    up, mean = f"{R * len(x):.0f}+2", f"{X['calls'].mean():.6g}"[:6]
    told = to_text(working)
    assert f"p = ({up})/({up}+{x.sum():.0f}+{mean}" in told
    assert f"{NAME}({X['calls'][0]:.0f}; r = 2, p = " in told
    assert rf"p &= \frac{{{up}}}" in latex_behind(working, working.steps[1], 0)[0]
    assert working.steps[1].sources[0].value == pytest.approx(working.steps[1].factors[0], rel=1e-12)


def test_it_is_asked_counted_and_seen(case: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = case
    model = NaiveBayes(likelihoods=CHOSEN).fit(X, y)
    nothing = pd.DataFrame({"calls": [np.nan], "kind": [None]})
    questions = {q.feature: q.gain for q in ask(model, nothing).questions}
    p = np.array([values for symbol, values in model.factor_.part_of("calls")[0].estimated_parameters if symbol == "p"])
    prior = np.array([model.prior_by_class[c] for c in model.classes_])
    mass = nbinom.pmf(np.arange(400)[:, None], R, p[0]) * prior
    assert questions["calls"] == pytest.approx(mass.max(axis=1).sum() - prior.max(), abs=1e-12)
    told = (
        mass * np.log(mass / prior / mass.sum(axis=1, keepdims=True), where=mass > 0, out=np.zeros_like(mass))
    ).sum()
    assert information(model)["calls"] == pytest.approx(told, rel=1e-9)
    bill = mdl(model)
    assert bill is not None and bill.parameters == 1 + 2 + 2
    assert model_size(model).parameters == 2
    found = conditional(model, "calls", ["idle", "busy"])
    assert isinstance(found, Distributions)
    np.testing.assert_allclose(found.values[1], nbinom.pmf(found.x, R, p[0][0]), rtol=1e-9)
    assert found.missing == (0.0, 1.0) and found.parameters["r"] == (R, R)


def test_what_does_not_fit_is_refused_by_name(case: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = case
    with pytest.raises(TableError, match=r"holds 0\.5 in row 1, which is no count"):
        NaiveBayes(likelihoods=CHOSEN).fit(X.assign(calls=[0.5, *X["calls"][1:]]), y)
    schema = Schema((Variable("calls", "count", likelihood=NAME), Variable("kind", "categorical", ("a", "b"))))
    with pytest.raises(ParameterError, match=rf"'calls' has the likelihood '{NAME}', .* parents than the class"):
        TAN(schema=schema, discretize=None).fit(X, y)
