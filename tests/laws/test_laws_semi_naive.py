"""Laws of the semi-naive models: for any table, any structure and any parameters, not for an example."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

from bayes_engine import AODE, SPODE, TAN, KDependence, NaiveBayes, Schema, Status
from bayes_engine.logspace import log_normalize
from bayes_engine.models import k_dependence
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.priors import Dirichlet
from bayes_engine.stats.collect import SufficientStatistics
from tests.conftest import examples, left_out, refusable

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
laws = examples(15)
CLASSES = ["a", "b", "c"]
ALPHAS = [0, 0.5, 1.0, Dirichlet.m_estimate(2.0), Dirichlet.equivalent_sample_size(3.0)]


class Case(NamedTuple):
    X: pd.DataFrame
    y: pd.Series
    weight: np.ndarray


@st.composite
def cases(draw: st.DrawFn, missing: bool = True, numbers: bool = True) -> Case:
    """A small mixed table whose columns hang together: three text columns, one with a rare level, two of numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(12, 26))
    y = pd.Series(rng.choice(CLASSES, n), name="class")
    y.iloc[:3] = CLASSES
    sound = np.where(rng.random(n) < 0.7, np.where(y == "a", "dull", "crisp"), rng.choice(["dull", "crisp"], n))
    X = pd.DataFrame({"colour": rng.choice(["green", "dark", "pale"], n, p=[0.6, 0.35, 0.05]), "sound": sound})
    X["navel"] = np.where(rng.random(n) < 0.6, X["colour"].str[:1] + X["sound"].str[:1], "flat")
    if numbers:
        X["sugar"] = np.round(rng.normal(0.0, 0.5, n) + 3.0 * (y == "a"), 1)  # MDLP finds a cut
        X["mass"] = rng.normal(1000.0, 3.0, n)  # and none here
    X = X.mask(rng.random(X.shape) < (draw(st.sampled_from([0.0, 0.2])) if missing else 0.0))
    return Case(X, y, rng.integers(0, 4, n) + (np.arange(n) < 3))


@st.composite
def models(draw: st.DrawFn, kinds: Collection[type[SemiNaive]] = (SPODE, TAN, AODE, KDependence), **fixed: Any) -> Any:
    """One of the four under any parameters."""
    kind = draw(st.sampled_from(sorted(kinds, key=lambda k: k.__name__)))
    words: dict[str, list[Any]] = {
        "alpha": [0, 0.5, 1.0],
        "priors": ["empirical", "laplace", "uniform", {"a": 0.5, "b": 0.3, "c": 0.2}],
        "discretize": [None, "mdlp"],
        "variance": ["mle", "unbiased"],
        "missing": ["marginalize", "category"],
        "unseen": ["ignore", "smooth"],
    }
    own: dict[type[SemiNaive], dict[str, list[Any]]] = {
        SPODE: {"super_parent": ["loo", "sound"], "alpha": ALPHAS},
        TAN: {"root": [None, "navel"], "alpha": ALPHAS},
        AODE: {"min_frequency": [0, 1, 4, 1000], "smoothing": ["factored", "joint"]},
        KDependence: {"k": [0, 1, 2, 3], "alpha": ALPHAS},
    }
    chosen = {name: draw(st.sampled_from(values)) for name, values in (words | own[kind]).items() if name not in fixed}
    return kind(**chosen, **fixed)


def refit(model: Any, X: pd.DataFrame, y: pd.Series, weight: Any = None, schema: Schema | None = None) -> Any:
    """Counted anew from these rows, under the schema and the structure of `model`."""
    graph = structure(model)
    fresh = clone(model).set_params(schema=schema or model.schema_)
    if isinstance(model, SPODE):
        fresh.set_params(super_parent=model.super_parent_)
    fixed = patch.object(type(model), "_structure", lambda *_: graph)
    with fixed, patch.object(k_dependence, "k_parents", lambda *_: graph):
        return fresh.partial_fit(X, y, CLASSES, weight)


def structure(model: Any) -> dict[str, tuple[str, ...]]:
    """The parents of each column as they were counted for, also of one that is set aside."""
    if isinstance(model, KDependence):
        return dict(model.parents_)
    if isinstance(model, AODE):
        return {}
    return {f.variable.name: tuple(d.variable.name for d in f.parents) for f in model.factor_.families}


def close(a: Any, b: Any, tolerance: float = 1e-9) -> None:
    """Equal, −inf included, to a share of the size of the log terms."""
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def joint(model: Any, X: pd.DataFrame) -> np.ndarray:
    found: np.ndarray = model.predict_joint_log_proba(X)
    return found


def canonical(stats: SufficientStatistics) -> list[np.ndarray]:
    """All numbers of the statistics of pairs and cells, levels sorted and offsets from 0."""
    order = tuple(replace(v, levels=tuple(sorted(v.levels)), pivot=0.0) for v in stats.schema)
    same = stats.under(Schema(order), stats.target)
    moments = same.families.moments
    cells = [(np.where(m.weight > 0, m.mean, 0.0), m.weight, m.m2) for _, m in sorted(moments.items())]
    return [table for _, table in sorted(same.families.tables.items())] + [a for cell in cells for a in cell]


# the monoid -----------------------------------------------------------------------------------------------------------


@laws
@given(cases(), st.integers(3, 5), st.integers(3, 5))
def test_plus_is_commutative_and_associative_and_of_a_concatenation(case: Case, i: int, j: int) -> None:
    def stats(rows: slice) -> SufficientStatistics:
        X = case.X.iloc[rows]
        schema = Schema.from_dtypes(case.X)  # kinds, not levels
        return TAN(discretize=None, schema=schema).partial_fit(X, case.y.iloc[rows], CLASSES).stats_  # its own pivots

    a, b, c, all_ = (stats(r) for r in (slice(0, i), slice(i, i + j), slice(i + j, None), slice(None)))
    with refusable():
        rest = all_ - c
    for left, right in ((a + b, b + a), ((a + b) + c, a + (b + c)), ((a + b) + c, all_), (rest, a + b)):
        wide = all_.schema, all_.target
        for x, y in zip(canonical(left.under(*wide)), canonical(right.under(*wide)), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-6)


@laws
@given(cases(), models())
def test_merge_is_batch_also_with_levels_of_the_second_half_only(case: Case, model: Any) -> None:
    order = np.argsort(case.X["colour"].eq("pale"), kind="stable").to_numpy()
    X, y = case.X.iloc[order].reset_index(drop=True), case.y.iloc[order].reset_index(drop=True)
    half = len(y) // 2
    whole = clone(model).partial_fit(X, y, CLASSES)
    schema = Schema(tuple(v if v.declared else replace(v, levels=()) for v in whole.schema_))  # but for the cuts
    first, second = (refit(whole, X.iloc[r], y.iloc[r], None, schema) for r in (slice(0, half), slice(half, None)))
    with patch.object(type(model), "_structure", lambda *_: structure(whole)):
        close(joint(first.merge(second), X), joint(whole, X))
        close(joint(second.merge(first), X), joint(whole, X))


@laws
@given(cases(), st.integers(3, 9), models())
def test_partial_fit_is_fit(case: Case, i: int, model: Any) -> None:
    rows = clone(model).partial_fit(case.X[:i], case.y[:i], CLASSES).partial_fit(case.X[i:], case.y[i:])
    close(joint(rows, case.X), joint(refit(rows, case.X, case.y), case.X))


@laws
@given(cases(), st.integers(1, 6), models())
def test_forget_is_never_seen(case: Case, i: int, model: Any) -> None:
    with refusable():
        kept = clone(model).fit(case.X, case.y).forget(case.X[:i], case.y[:i])
    close(joint(kept, case.X), joint(refit(kept, case.X[i:], case.y[i:]), case.X), 1e-7)


@laws
@given(cases(), models())
def test_weights_are_duplicates(case: Case, model: Any) -> None:
    weighed = clone(model).fit(case.X, case.y, case.weight)
    again = np.repeat(np.arange(len(case.y)), case.weight)
    X, y = case.X.iloc[again].reset_index(drop=True), case.y.iloc[again].reset_index(drop=True)
    close(joint(weighed, case.X), joint(refit(weighed, X, y), case.X))
    doubled = clone(model).set_params(schema=weighed.schema_).partial_fit(X, y, CLASSES)  # chooses for itself
    close(joint(weighed, case.X), joint(doubled, case.X))


# no recount, no refit -------------------------------------------------------------------------------------------------


@laws
@given(cases(), st.sampled_from([SPODE, TAN, AODE, KDependence]), st.data())
def test_with_params_is_a_refit(case: Case, kind: type[SemiNaive], data: st.DataObject) -> None:
    before = data.draw(models([kind]))
    counting = {k: v for k, v in before.get_params().items() if k not in kind.estimation_parameters}
    wanted = data.draw(models([kind], **counting))
    assume(getattr(before, "super_parent", "") == "loo" or getattr(wanted, "super_parent", "") != "loo")
    moved = before.fit(case.X, case.y).with_params(**{k: getattr(wanted, k) for k in kind.estimation_parameters})
    np.testing.assert_array_equal(joint(moved, case.X), joint(refit(moved, case.X, case.y), case.X))


@laws
@given(cases(), models(), st.booleans())
def test_leave_one_out_is_a_refit_without_the_row_under_schema_and_structure(
    case: Case, model: Any, weighed: bool
) -> None:
    weight = case.weight + 0.5 if weighed else None
    model.fit(case.X, case.y, weight)
    fast = model.leave_one_out_log_proba(case.X, case.y, weight)
    for i in left_out(len(case.y)):
        rest = np.arange(len(case.y)) != i
        slow = refit(model, case.X[rest], case.y[rest], None if weight is None else weight[rest])
        close(fast[i], log_normalize(joint(slow, case.X.iloc[[i]]))[0], 1e-7)


@examples(4, usually=2)
@given(cases(), models([SPODE], super_parent="loo"), st.booleans())
def test_candidate_scores_are_those_of_refits(case: Case, model: SPODE, weighed: bool) -> None:
    weight = case.weight if weighed else np.ones(len(case.y))
    model.fit(case.X, case.y, weight)
    for name in model.candidate_scores_.index:
        fixed = clone(model).set_params(super_parent=name, schema=model.schema_)
        right, loss = 0.0, 0.0
        for i, own in enumerate(case.y.map(CLASSES.index)):
            if weight[i]:  # of a row that counts several times, one is left out
                less = weight - (np.arange(len(weight)) == i)
                at = clone(fixed).partial_fit(case.X, case.y, CLASSES, less)
                log_posterior = log_normalize(joint(at, case.X.iloc[[i]]))[0]
                near = log_posterior >= log_posterior.max() - 1e-9  # a tie goes to the first, up to rounding
                assume(near.sum() == 1 or not np.isfinite(log_posterior).any())
                right += weight[i] * (near[own] and bool(np.isfinite(log_posterior[own])))
                loss -= weight[i] * log_posterior[own]
        found = model.candidate_scores_.loc[name]
        close([found["accuracy"], found["log_loss"]], np.array([right, loss]) / weight.sum(), 1e-7)
    best = model.candidate_scores_.sort_values(["accuracy", "log_loss"], ascending=[False, True])
    assert model.candidate_scores_["accuracy"].is_monotonic_decreasing
    top = model.candidate_scores_.loc[model.super_parent_]
    close(top.to_list(), best.iloc[0].to_list())


@laws
@given(cases(), models([TAN]))
def test_tan_learns_its_tree_anew_from_the_statistics_alone(case: Case, model: TAN) -> None:
    grown = clone(model).partial_fit(case.X[:8], case.y[:8], CLASSES).partial_fit(case.X[8:], case.y[8:])
    batch = clone(model).set_params(schema=grown.schema_).partial_fit(case.X, case.y, CLASSES)
    with refusable():
        less = clone(batch).fit(case.X, case.y).forget(case.X[8:], case.y[8:])
    small = clone(batch).partial_fit(case.X[:8], case.y[:8], CLASSES)
    for a, b in ((grown, batch), (less, small)):
        assert (set(a.tree_), a.root_) == (set(b.tree_), b.root_)
        close(joint(a, case.X), joint(b, case.X), 1e-7)


# the ledger and the posterior -----------------------------------------------------------------------------------------


@laws
@given(cases(), models(), st.sampled_from([None, ["sound", "mass"], ["navel", "sugar"]]))
def test_ledger_rows_sum_to_the_joint_whatever_is_hidden(case: Case, model: Any, known: list[str] | None) -> None:
    model.fit(case.X, case.y)
    asked = case.X.copy()
    asked.loc[asked.index[::3], "colour"] = "a colour never seen"
    ledger = model.explain(asked, given=known)
    total = sum(term for _, term in ledger.rows)
    if known is None:
        close(total, joint(model, asked))
    close(ledger.by_variable().joint(), total)
    assert all(not np.isnan(term).any() and term.shape == (len(asked), 3) for _, term in ledger.rows)
    p = ledger.posterior()
    np.testing.assert_allclose(p.sum(axis=1), ledger.status == Status.OK, atol=1e-12)
    hidden = [term for row, term in ledger.rows if row.kind == "entropy"]
    for entropy in hidden:  # a zero joint with hidden cells: one row says so
        said = np.sum([np.isneginf(term) for _, term in ledger.rows], axis=0)
        assert (said[np.isneginf(entropy) & ~np.isneginf(ledger.rows[0][1])] == 1).all()


# symmetries -----------------------------------------------------------------------------------------------------------


@laws
@given(cases(), models(), st.integers(0, 2**16))
def test_order_of_rows_columns_and_levels(case: Case, model: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = ["green", "dark", "pale"]
    X = case.X.astype({"colour": pd.CategoricalDtype(levels)})
    rows, columns = rng.permutation(len(X)), rng.permutation(X.columns)
    turned = X[columns].astype({"colour": pd.CategoricalDtype(rng.permutation(levels))})
    other = clone(model).fit(turned.iloc[rows], case.y.iloc[rows])
    model.fit(X, case.y)
    close(joint(other, turned), joint(model, X))


@laws
@given(cases(), models())
def test_relabelling_the_classes(case: Case, model: Any) -> None:
    names = {"a": "z", "b": "m", "c": "k"}
    other = clone(model)
    if isinstance(model.priors, dict):
        other.set_params(priors={names[c]: p for c, p in model.priors.items()})
    other.fit(case.X, case.y.map(names))
    model.fit(case.X, case.y)
    if isinstance(model, SPODE):  # accuracy breaks ties of the posterior by the order of the classes
        assume(model.super_parent_ == other.super_parent_)
    columns = [other.classes_.tolist().index(names[c]) for c in model.classes_.tolist()]
    close(joint(other, case.X)[:, columns], joint(model, case.X))


# one model is another -------------------------------------------------------------------------------------------------


@laws
@given(cases(), models([KDependence], k=0))
def test_no_parents_is_naive_bayes(case: Case, model: KDependence) -> None:
    shared = {k: v for k, v in model.get_params().items() if k != "k"}
    naive = NaiveBayes(**shared).fit(case.X, case.y)
    model.fit(case.X, case.y)
    asked = case.X.assign(colour=case.X["colour"].where(np.arange(len(case.X)) % 4 > 0, "never seen"))
    close(joint(model, asked), joint(naive, asked))
    close(model.leave_one_out_log_proba(case.X, case.y), naive.leave_one_out_log_proba(case.X, case.y), 1e-7)


@laws
@given(cases(missing=False, numbers=False), models([TAN], alpha=0, priors="empirical", root=None))
def test_any_root_gives_the_same_joint_without_smoothing_on_complete_data(case: Case, model: TAN) -> None:
    model.fit(case.X, case.y)
    for root in case.X.columns:
        other = model.with_params(root=root)
        assert other.root_ == root
        assert {frozenset(e) for e in other.tree_} == {frozenset(e) for e in model.tree_}
        close(joint(other, case.X), joint(model, case.X))


@laws
@given(cases(), models([AODE]), st.sampled_from(["colour", "sound", "navel"]))
def test_a_spode_of_aode_is_that_spode_fitted(case: Case, model: AODE, name: str) -> None:
    shared = {k: v for k, v in model.get_params().items() if k not in ("min_frequency", "smoothing")}
    alone = SPODE(name, **shared).fit(case.X, case.y)
    np.testing.assert_array_equal(joint(model.fit(case.X, case.y).spode(name), case.X), joint(alone, case.X))


@laws
@given(cases(missing=False), models([AODE], priors="empirical", smoothing="factored", missing="marginalize"), st.data())
def test_one_super_parent_above_the_threshold_is_its_spode(case: Case, model: AODE, data: st.DataObject) -> None:
    """With its own P(c, x_i) = (n + α)/(N + α K S_i) where SPODE has P(c) P(x_i|c)."""
    model.fit(case.X, case.y)
    row = case.X.iloc[[data.draw(st.integers(0, len(case.X) - 1))]]
    weight = {m.name: float(m.frequency[m.domain.places(model._encode(row))[0]]) for m in model.factor_.members}
    assume(weight)
    first, *others = sorted(weight, key=lambda n: -weight[n])
    assume(all(weight[n] < weight[first] for n in others))
    alone = model.with_params(min_frequency=weight[first])
    spode, counts = model.spode(first), next(m.counts for m in model.factor_.members if m.name == first)
    place = next(m for m in model.factor_.members if m.name == first).domain.places(model._encode(row))[0]
    a, terms = float(model.alpha), {r.name: t[0] for r, t in spode.explain(row).rows}
    with np.errstate(divide="ignore"):
        own = np.log(counts[:, place] + a) - np.log(counts.sum() + a * counts.size)
    want = own + sum(t for n, t in terms.items() if n not in (first, spode.target_.name))
    close(joint(alone, row)[0], want)
    shared = {k: v for k, v in model.get_params().items() if k not in ("min_frequency", "smoothing")}
    nobody = model.with_params(min_frequency=weight[first] + 1)  # none left
    naive = NaiveBayes(**shared).fit(case.X, case.y)
    prior = (naive.stats_.class_weight + a) / (naive.stats_.class_weight.sum() + a * len(naive.classes_))
    own = np.log(naive.class_prior_)
    close(joint(nobody, row), joint(naive, row) - own + np.log(prior))


@laws
@given(cases(), models([AODE]))
def test_aode_from_the_statistics_of_tan(case: Case, model: AODE) -> None:
    counting = {k: getattr(model, k) for k in ("discretize", "missing")}
    tan = TAN(**counting).fit(case.X, case.y)
    np.testing.assert_array_equal(
        joint(clone(model).fit_stats(tan.stats_), case.X), joint(model.fit(case.X, case.y), case.X)
    )


@laws
@given(
    cases(), st.sampled_from([TAN(), KDependence(k=1), SPODE("sound")]), st.sampled_from(["marginalize", "category"])
)
def test_fit_stats_is_fit(case: Case, model: Any, missing: str) -> None:
    other = clone(model).set_params(missing=missing)
    model = clone(other).fit(case.X, case.y)
    np.testing.assert_array_equal(joint(other.fit_stats(model.stats_), case.X), joint(model, case.X))


@laws
@given(cases(), models([AODE]))
def test_responsibilities_are_those_of_the_members(case: Case, model: AODE) -> None:
    """p(c, x) = 1/m Σ_i p_i, and q_i is its share."""
    factor = model.fit(case.X, case.y).factor_
    q, active = factor.responsibilities(model._encode(case.X))
    some = active.any(axis=0)[:, None] & np.isfinite(joint(model, case.X))
    np.testing.assert_allclose(q.sum(axis=0), some.astype(float), atol=1e-9)
