"""Laws of statistics and of the models over them: for any table, not for an example."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from sklearn.base import clone

from bayes_engine import NaiveBayes, Schema, Status
from bayes_engine.errors import PrecisionLost
from bayes_engine.factors.gaussian import GaussianLeaf
from bayes_engine.logspace import log_normalize
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.naive_bayes import PRESETS
from bayes_engine.models.target import encode_target
from bayes_engine.priors import Dirichlet
from bayes_engine.stats.collect import SufficientStatistics, collect
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import encode, observe
from bayes_engine.table.levels import sort_levels
from tests.conftest import examples, left_out, refusable

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
laws = examples(25)

MODELS: dict[str, GenerativeClassifier] = {
    **{name: NaiveBayes(**parameters) for name, parameters in PRESETS.items()},
    "tied": NaiveBayes(tied_variance=True, variance="unbiased", priors="uniform"),
    "missing is a level": NaiveBayes(missing="category", smoothing="zero-only", alpha=0.5),
    "smooth unseen": NaiveBayes(unseen="smooth", alpha=2.0, priors="laplace"),
    "m-estimate": NaiveBayes(alpha=Dirichlet.m_estimate(2.0)),
    "equivalent sample size": NaiveBayes(alpha=Dirichlet.equivalent_sample_size(5.0), unseen="smooth"),
}
model_names = st.sampled_from(sorted(MODELS))


def model_of(name: str, **parameters: Any) -> GenerativeClassifier:
    """A fresh one of the models, with some parameters set."""
    return clone(MODELS[name]).set_params(**parameters)


class Case(NamedTuple):
    X: pd.DataFrame
    y: pd.Series
    weight: np.ndarray


@st.composite
def cases(draw: st.DrawFn, missing: bool = True, classes: int = 3) -> Case:
    """A small mixed table: two or three text columns, one of them with a rare level, and one or two numeric ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(8, 24))
    hole = draw(st.sampled_from([0.0, 0.2])) if missing else 0.0
    X = pd.DataFrame(
        {
            "colour": rng.choice(["green", "dark", "pale"], n, p=[0.6, 0.35, 0.05]),
            "sound": rng.choice(["dull", "crisp"], n),
            "density": np.round(rng.normal(0.6, 0.1, n), draw(st.sampled_from([1, 3]))),
            "mass": rng.normal(1000.0, 3.0, n),
        }
    )
    X = X.mask(rng.random(X.shape) < hole)
    X["mass"] = X["mass"].fillna(1000.0)  # one complete column
    y = pd.Series(rng.choice(["a", "b", "c"][:classes], n), name="class")
    y.iloc[:classes] = ["a", "b", "c"][:classes]
    return Case(X, y, rng.integers(0, 4, n) + (np.arange(n) < classes))


def close(a: Any, b: Any, tolerance: float = 1e-11) -> None:
    """Equal, −inf included, to a share of the size of the log terms."""
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def joint(model: GenerativeClassifier, X: pd.DataFrame) -> np.ndarray:
    return model.predict_joint_log_proba(X)


def stats_of(case: Case, rows: slice = slice(None)) -> SufficientStatistics:
    """Statistics of some rows, with the domains of those rows only."""
    X = case.X.iloc[rows]
    schema = observe(X, Schema.from_dtypes(X))
    y = case.y.iloc[rows]
    target, codes = encode_target(y, None, len(y))
    return collect(encode(X, schema), Labels(len(target.levels), codes), target)


def canonical(stats: SufficientStatistics) -> list[np.ndarray]:
    """All numbers of the statistics, levels sorted and offsets from 0."""
    schema = Schema(tuple(replace(v, levels=sort_levels(v.levels), pivot=0.0) for v in stats.schema))
    same = stats.under(schema, stats.target)
    tables = [same.counts.tables[v.name] for v in schema if v.discrete]
    known = same.moments.weight > 0
    return [same.class_weight, *tables, same.moments.weight, np.where(known, same.moments.mean, 0.0), same.moments.m2]


# the monoid ---------------------------------------------------------------------------------------------------------


@laws
@given(cases(), st.integers(1, 4), st.integers(1, 3))
def test_plus_is_commutative_and_associative(case: Case, i: int, j: int) -> None:
    a, b, c = (stats_of(case, rows) for rows in (slice(0, i), slice(i, i + j), slice(i + j, None)))
    for left, right in ((a + b, b + a), ((a + b) + c, a + (b + c))):
        for x, y in zip(canonical(left), canonical(right), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-9)


@laws
@given(cases(), st.integers(3, 6))
def test_statistics_of_a_concatenation_are_the_sum(case: Case, i: int) -> None:
    both = stats_of(case, slice(0, i)) + stats_of(case, slice(i, None))
    for x, y in zip(canonical(both), canonical(stats_of(case)), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-9)


@laws
@given(cases())
def test_counts_are_whole(case: Case) -> None:
    stats = stats_of(case)
    for table in (stats.class_weight, *stats.counts.tables.values()):
        assert (table == np.round(table)).all()
    assert stats.class_weight.sum() == len(case.y)


@laws
@given(cases(), model_names)
def test_merge_is_batch_with_levels_and_classes_of_the_second_half_only(case: Case, name: str) -> None:
    order = np.argsort(case.y.eq("c") | case.X["colour"].eq("pale"), kind="stable").to_numpy()
    X, y = case.X.iloc[order].reset_index(drop=True), case.y.iloc[order].reset_index(drop=True)
    half = max(4, len(y) // 2)
    if y.iloc[:half].nunique() < 2 or y.iloc[half:].nunique() < 2:
        return
    first, second = (model_of(name).fit(X.iloc[r], y.iloc[r]) for r in (slice(0, half), slice(half, None)))
    batch = model_of(name).fit(X, y)
    merged = first.merge(second)
    assert merged.classes_.tolist() == batch.classes_.tolist()
    close(joint(merged, X), joint(batch, X), 1e-9)
    close(joint(second.merge(first), X), joint(batch, X), 1e-9)


@laws
@given(cases(), st.integers(3, 7), model_names)
def test_partial_fit_is_fit(case: Case, i: int, name: str) -> None:
    batch = model_of(name).fit(case.X, case.y)
    rows = model_of(name).partial_fit(case.X[:i], case.y[:i], classes=["a", "b", "c"])
    rows.partial_fit(case.X[i:], case.y[i:])
    close(joint(rows, case.X), joint(batch, case.X), 1e-9)
    for x, y in zip(canonical(rows.stats_), canonical(batch.stats_), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12 * 1000**2)


@laws
@given(cases(), st.integers(1, 5), model_names)
def test_forget_is_never_seen(case: Case, i: int, name: str) -> None:
    kept = model_of(name).fit(case.X, case.y)
    schema, classes = kept.schema_, ["a", "b", "c"]
    never = model_of(name, schema=schema).partial_fit(case.X[i:], case.y[i:], classes=classes)
    with refusable():
        kept.forget(case.X[:i], case.y[:i])
    close(joint(kept, case.X), joint(never, case.X), 1e-7)  # one subtraction of sums of squares


@laws
@given(cases(), model_names)
def test_NF61_weights_are_duplicates(case: Case, name: str) -> None:
    schema = NaiveBayes().fit(case.X, case.y).schema_
    classes = ["a", "b", "c"]
    weighed = model_of(name, schema=schema).partial_fit(case.X, case.y, classes, case.weight)
    again = np.repeat(np.arange(len(case.y)), case.weight)
    doubled = model_of(name, schema=schema).partial_fit(case.X.iloc[again], case.y.iloc[again], classes)
    close(joint(weighed, case.X), joint(doubled, case.X))


@laws
@given(cases(), st.sampled_from([1e-6, 0.03, 7.0]))
def test_weights_have_no_unit_under_maximum_likelihood(case: Case, unit: float) -> None:
    one = NaiveBayes(smoothing="none", alpha=0.0).fit(case.X, case.y, np.full(len(case.y), 2.0))
    other = NaiveBayes(smoothing="none", alpha=0.0).fit(case.X, case.y, np.full(len(case.y), 2.0 * unit))
    floored = [f.replaced for f in one.factor_.parts if isinstance(f, GaussianLeaf)]  # «one member» is about weight 1
    spread = ~np.any(floored, axis=0)
    close(joint(one, case.X)[:, spread], joint(other, case.X)[:, spread])


# the ledger and the posterior -----------------------------------------------------------------------------------------


@laws
@given(cases(), model_names)
def test_ledger_rows_sum_to_the_joint(case: Case, name: str) -> None:
    model = model_of(name).fit(case.X, case.y)
    ledger = model.explain(case.X)
    close(sum(term for _, term in ledger.rows), joint(model, case.X))
    close(ledger.by_variable().joint(), joint(model, case.X))
    assert all(term.shape == (len(case.y), 3) for _, term in ledger.rows)


@laws
@given(cases(), model_names)
def test_posterior_is_on_the_simplex_or_flagged(case: Case, name: str) -> None:
    ledger = model_of(name).fit(case.X, case.y).explain(case.X)
    p = ledger.posterior()
    assert np.isfinite(p).all() and (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), ledger.status == Status.OK, atol=1e-12)


@laws
@given(cases(), model_names)
def test_contributions_add_up_to_the_log_odds(case: Case, name: str) -> None:
    ledger = model_of(name).fit(case.X, case.y).explain(case.X)
    a, b, _ = ledger.joint().T
    finite = np.isfinite(a) & np.isfinite(b)
    terms = ledger.contributions("a", "b").to_numpy()[finite]
    size = 1.0 + np.abs(a[finite]) + np.abs(b[finite])
    np.testing.assert_allclose(terms.sum(axis=1) / size, (a[finite] - b[finite]) / size, rtol=0, atol=1e-12)


# symmetries -----------------------------------------------------------------------------------------------------------


@laws
@given(cases(), model_names, st.integers(0, 2**16))
def test_NF60_order_of_rows_columns_and_levels(case: Case, name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = case.X.astype({"colour": pd.CategoricalDtype(["green", "dark", "pale"])})
    model = model_of(name).fit(X, case.y)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.columns)
    turned = X[columns].astype({"colour": pd.CategoricalDtype(rng.permutation(["green", "dark", "pale"]))})
    other = model_of(name).fit(turned.iloc[rows], case.y.iloc[rows])
    close(joint(other, turned), joint(model, X))


@laws
@given(cases(), model_names)
def test_NF60_relabelling_the_classes(case: Case, name: str) -> None:
    names = {"a": "z", "b": "m", "c": "k"}
    model = model_of(name).fit(case.X, case.y)
    other = model_of(name).fit(case.X, case.y.map(names))
    columns = [other.classes_.tolist().index(names[c]) for c in model.classes_.tolist()]
    close(joint(other, case.X)[:, columns], joint(model, case.X), 1e-12)


@laws
@given(cases(), model_names, st.sampled_from([2.0**30, 2.0**-30]))
def test_NF10_units_by_a_power_of_two_are_exact(case: Case, name: str, factor: float) -> None:
    scaled = case.X.assign(density=case.X["density"] * factor, mass=case.X["mass"] / factor)
    model, other = (model_of(name).fit(X, case.y) for X in (case.X, scaled))
    by = np.array([factor, 1 / factor])
    np.testing.assert_array_equal(other.stats_.moments.mean, model.stats_.moments.mean * by)
    np.testing.assert_array_equal(other.stats_.moments.m2, model.stats_.moments.m2 * by**2)
    for f, g in zip(model.factor_.parts, other.factor_.parts, strict=True):
        if isinstance(f, GaussianLeaf):
            np.testing.assert_array_equal(g.variance, f.variance * by[["density", "mass"].index(f.variable.name)] ** 2)
    close(other.explain(scaled).posterior(), model.explain(case.X).posterior(), 1e-9)


@laws
@given(cases(), model_names, st.sampled_from([1e9, 1e-9]))
def test_NF10_units_by_a_billion(case: Case, name: str, factor: float) -> None:
    scaled = case.X.assign(density=case.X["density"] * factor, mass=case.X["mass"] / factor)
    model, other = (model_of(name).fit(X, case.y) for X in (case.X, scaled))
    # densities differ by one constant for all classes: differences of classes are compared, to a share of their size
    a, b = joint(model, case.X), joint(other, scaled)
    np.testing.assert_array_equal(np.isneginf(a), np.isneginf(b))
    a, b = (j[np.isfinite(j).all(axis=1)] for j in (a, b))
    size = 1.0 + np.abs(a).max(axis=1, keepdims=True)
    np.testing.assert_allclose((a - a[:, :1]) / size, (b - b[:, :1]) / size, rtol=0, atol=1e-9)


# no recount, no refit -------------------------------------------------------------------------------------------------


@laws
@given(cases(), model_names, model_names)
def test_with_params_is_a_refit(case: Case, before: str, after: str) -> None:
    wanted = MODELS[after]
    estimation = {k: v for k, v in wanted.get_params().items() if k in wanted.estimation_parameters}
    counting = {k: v for k, v in wanted.get_params().items() if k not in wanted.estimation_parameters}
    assume(type(MODELS[before]) is type(wanted))
    model = model_of(before, **counting).fit(case.X, case.y).with_params(**estimation)
    refit = model_of(after).fit(case.X, case.y)
    np.testing.assert_array_equal(joint(model, case.X), joint(refit, case.X))


@laws
@given(cases(), model_names, st.booleans())
def test_leave_one_out_is_a_refit_without_the_row(case: Case, name: str, weighed: bool) -> None:
    weight = case.weight + 0.5 if weighed else None
    model = model_of(name).fit(case.X, case.y, weight)
    fast = model.leave_one_out_log_proba(case.X, case.y, weight)
    for i in left_out(len(case.y)):
        rest = np.arange(len(case.y)) != i
        refit = model_of(name, schema=model.schema_)
        refit.partial_fit(case.X[rest], case.y[rest], ["a", "b", "c"], None if weight is None else weight[rest])
        close(fast[i], log_normalize(joint(refit, case.X.iloc[[i]]))[0], 1e-8)


@laws
@given(cases(), model_names, st.integers(1, 6))
def test_leave_one_out_of_some_rows_is_some_of_leave_one_out(case: Case, name: str, k: int) -> None:
    model = model_of(name).fit(case.X, case.y)
    try:
        some = model.leave_one_out_log_proba(case.X[:k], case.y[:k])
    except PrecisionLost:  # one row has nearly all squares of its class, and the rest are not there to be summed anew
        reject()
    close(some, model.leave_one_out_log_proba(case.X, case.y)[:k], 1e-6)


@laws
@given(
    cases(),
    st.sampled_from([n for n in sorted(MODELS) if n != "missing is a level"]),
    st.sampled_from(["colour", "sound", "density", "mass"]),
)
def test_NF30_missing_cell_at_predict_is_a_refit_without_the_column(case: Case, name: str, column: str) -> None:
    model = model_of(name).fit(case.X, case.y)
    without = model_of(name).fit(case.X.drop(columns=column), case.y)
    some = case.X.copy()
    some.loc[some.index[::2], column] = np.nan  # every second row: the others keep the column in the batch
    close(joint(model, some)[::2], joint(without, case.X.drop(columns=column))[::2], 1e-12)
    close(joint(model, some)[1::2], joint(model, case.X)[1::2], 1e-12)
