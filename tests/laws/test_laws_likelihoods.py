"""The laws of statistics and models for every likelihood a column can be given: values, levels, counts, words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from bayes_engine import NaiveBayes, Status
from bayes_engine.logspace import log_normalize
from tests.conftest import examples, left_out, refusable

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
laws = examples(20)
CLASSES = ["a", "b", "c"]
WORDS = ["win", "a", "prize", "lunch", "免费", "领取", "noon", "call", "me", "now"]
ALL = {"calls": "poisson", "flag": "bernoulli", "code": "categorical", "note": "multinomial", "mass": "kernel"}

NOTE = {"columns": ["note"]}

PRESENCE = {**ALL, "note": "bernoulli"}
MODELS = {
    "each its own": NaiveBayes(likelihoods=ALL),
    "weka, presence": NaiveBayes(likelihoods={**ALL, "mass": "kernel-range", "note": "bernoulli"}, text=NOTE),
    "unsmoothed": NaiveBayes(likelihoods=ALL, smoothing="none"),
    "zero-only": NaiveBayes(likelihoods=PRESENCE, text=NOTE, smoothing="zero-only", priors="laplace"),
    "by column": NaiveBayes(likelihoods=ALL, alpha={"note": 0.1, "calls": 2.0, "*": "jeffreys"}),
    "bigrams": NaiveBayes(likelihoods=ALL, text={"ngrams": (1, 2), "presence": True}),
    "characters": NaiveBayes(likelihoods=PRESENCE, text={**NOTE, "analyzer": "char", "ngrams": (2, 2)}),
    "all kernels": NaiveBayes(likelihoods={**dict.fromkeys(ALL, "kernel"), "note": "multinomial"}),
}
names = st.sampled_from(sorted(MODELS))


class Case(NamedTuple):
    X: pd.DataFrame
    y: pd.Series
    weight: np.ndarray


@st.composite
def cases(draw: st.DrawFn, missing: bool = True) -> Case:
    """Counts with zeros, a 0-1 column, numbers that are names, short texts (some empty), and a real number."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(9, 20))
    X = pd.DataFrame(
        {
            "calls": rng.poisson(1.5, n).astype(float),
            "flag": (rng.random(n) < 0.4).astype(float),
            "code": rng.choice([3.0, 7.0, 11.0], n),
            "note": [" ".join(rng.choice(WORDS, rng.integers(0, 5))) for _ in range(n)],
            "mass": np.round(rng.normal(1000.0, 3.0, n), draw(st.sampled_from([0, 3]))),
        }
    )
    if missing:
        X = X.mask(rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2])))
    X.loc[:2, "note"] = ["win a prize", "lunch at noon", "call me now"]
    X.loc[:2, "mass"] = [1000.0, 1001.5, 998.0]
    y = pd.Series(rng.choice(CLASSES, n), name="class")
    y.iloc[:3] = CLASSES
    return Case(X, y, rng.integers(0, 4, n) + (np.arange(n) < 3))


def model_of(name: str, **parameters: Any) -> NaiveBayes:
    return clone(MODELS[name]).set_params(**parameters)


def close(a: Any, b: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def joint(model: NaiveBayes, X: pd.DataFrame) -> np.ndarray:
    return model.predict_joint_log_proba(X)


@laws
@given(cases(), names)
def test_rows_sum_to_the_joint_opened_or_not(case: Case, name: str) -> None:
    model = model_of(name).fit(case.X, case.y)
    whole, opened = model.explain(case.X), model.explain(case.X, opened=["note"])
    close(whole.joint(), joint(model, case.X), 1e-11)
    close(opened.joint(), joint(model, case.X), 1e-11)
    texts = [row for row, _ in opened.rows if row.child == "note"]
    assert all(row.name.startswith("note: ") or row.name == "note" for row in texts)
    close(opened.by_variable().joint(), whole.joint(), 1e-11)


@laws
@given(cases(), names)
def test_posterior_is_on_the_simplex_or_flagged(case: Case, name: str) -> None:
    ledger = model_of(name).fit(case.X, case.y).explain(case.X)
    p = ledger.posterior()
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), ledger.status == Status.OK, atol=1e-12)


@laws
@given(cases(), names, st.integers(3, 6))
def test_merge_and_partial_fit_are_batch(case: Case, name: str, i: int) -> None:
    batch = model_of(name).fit(case.X, case.y)
    parts = model_of(name).partial_fit(case.X[:i], case.y[:i], CLASSES).partial_fit(case.X[i:], case.y[i:])
    close(joint(parts, case.X), joint(batch, case.X))
    first, second = (model_of(name, schema=batch.schema_).partial_fit(case.X[r], case.y[r], CLASSES)
                     for r in (slice(0, i), slice(i, None)))  # fmt: skip
    close(joint(first.merge(second), case.X), joint(batch, case.X))
    close(joint(second.merge(first), case.X), joint(batch, case.X))


@laws
@given(cases(), names, st.integers(1, 5))
def test_forget_is_never_seen(case: Case, name: str, i: int) -> None:
    kept = model_of(name).fit(case.X, case.y)
    never = model_of(name, schema=kept.schema_).partial_fit(case.X[i:], case.y[i:], CLASSES)
    with refusable():
        kept.forget(case.X[:i], case.y[:i])
    close(joint(kept, case.X), joint(never, case.X))


@laws
@given(cases(), names)
def test_NF61_weights_are_duplicates(case: Case, name: str) -> None:
    schema = model_of(name).fit(case.X, case.y).schema_
    weighed = model_of(name, schema=schema).partial_fit(case.X, case.y, CLASSES, case.weight)
    again = np.repeat(np.arange(len(case.y)), case.weight)
    doubled = model_of(name, schema=schema).partial_fit(case.X.iloc[again], case.y.iloc[again], CLASSES)
    close(joint(weighed, case.X), joint(doubled, case.X))


@examples(10)
@given(cases(), names, st.booleans())
def test_leave_one_out_is_a_refit_without_the_row(case: Case, name: str, weighed: bool) -> None:
    weight = case.weight + 0.5 if weighed else None
    model = model_of(name).fit(case.X, case.y, weight)
    fast = model.leave_one_out_log_proba(case.X, case.y, weight)
    for i in left_out(len(case.y)):
        rest = np.arange(len(case.y)) != i
        refit = model_of(name, schema=model.schema_)
        refit.partial_fit(case.X[rest], case.y[rest], CLASSES, None if weight is None else weight[rest])
        close(fast[i], log_normalize(joint(refit, case.X.iloc[[i]]))[0], 1e-8)


@laws
@given(cases(), names, st.sampled_from(sorted(ALL)))
def test_NF30_missing_cell_at_predict_is_a_refit_without_the_column(case: Case, name: str, column: str) -> None:
    model = model_of(name).fit(case.X, case.y)
    fewer = {k: v for k, v in MODELS[name].likelihoods.items() if k != column}
    alpha = MODELS[name].alpha
    if isinstance(alpha, dict):
        alpha = {k: v for k, v in alpha.items() if k != column}
    text = MODELS[name].text if column != "note" else None
    without = model_of(name, likelihoods=fewer, alpha=alpha, text=text).fit(case.X.drop(columns=column), case.y)
    some = case.X.copy()
    some.loc[some.index[::2], column] = np.nan if column != "note" else None
    close(joint(model, some)[::2], joint(without, case.X.drop(columns=column))[::2], 1e-12)
    close(joint(model, some)[1::2], joint(model, case.X)[1::2], 1e-12)


@laws
@given(cases(), names)
def test_explaining_by_some_columns_only_is_hiding_the_others(case: Case, name: str) -> None:
    model = model_of(name).fit(case.X, case.y)
    hidden = case.X.assign(note=pd.Series([None] * len(case.X), dtype=object), calls=np.nan)
    close(model.explain(case.X, given=["flag", "code", "mass"]).joint(), joint(model, hidden), 1e-12)


@laws
@given(cases(), names, st.integers(0, 2**16))
def test_NF60_order_of_rows_columns_and_classes(case: Case, name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    relabelled = {"a": "z", "b": "m", "c": "k"}
    rows, columns = rng.permutation(len(case.X)), rng.permutation(case.X.columns)
    model = model_of(name).fit(case.X, case.y)
    other = model_of(name).fit(case.X[columns].iloc[rows], case.y.iloc[rows].map(relabelled))
    order = [other.classes_.tolist().index(relabelled[c]) for c in model.classes_.tolist()]
    close(joint(other, case.X[columns])[:, order], joint(model, case.X), 1e-11)


@laws
@given(cases(), st.sampled_from(["kernel", "kernel-range", "gaussian"]), st.sampled_from([1e9, 1e-9, 2.0**40]))
def test_NF10_kernels_do_not_feel_the_unit(case: Case, likelihood: str, unit: float) -> None:
    scaled = case.X.assign(mass=case.X["mass"] * unit)
    model, other = (NaiveBayes(likelihoods={**ALL, "mass": likelihood}).fit(X, case.y) for X in (case.X, scaled))
    close(other.explain(scaled).posterior(), model.explain(case.X).posterior(), 1e-8)


@laws
@given(cases(), names)
def test_NF31_an_infinite_cell_refuses_its_row_alone(case: Case, name: str) -> None:
    model = model_of(name).fit(case.X, case.y)
    for column in ("calls", "flag", "code", "mass"):
        some = case.X.copy()
        some.loc[1, column] = np.inf
        ledger = model.explain(some)
        assert ledger.status[1] == Status.REFUSED
        assert np.isfinite(ledger.posterior()).all()
        close(ledger.posterior()[2:], model.explain(case.X).posterior()[2:], 1e-12)
