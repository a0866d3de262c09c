"""The fast ways of AODE and of SPODE's choice are the slow ways, number for number."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_engine.factors.leaf import Domain, LeftOutRows
from bayes_engine.inference import packed_tables
from bayes_engine.inference.averaged import Member
from bayes_engine.logspace import log
from bayes_engine.models.aode import AODE
from bayes_engine.models.spode import SPODE
from bayes_engine.stats.labels import Labels
from bayes_engine.structure.chow_liu import TIE, conditional_information, conditional_informations, ranked
from bayes_engine.table.encode import Table, encode
from bayes_engine.table.schema import Schema, Variable
from tests.conftest import examples

LEVELS = {"a": "uvw", "b": "xy", "c": "pqrs", "d": "mn", "e": "o"}
TARGET = {2: ["no", "yes"], 3: ["bad", "fair", "good"], 4: ["e", "n", "s", "w"]}


@st.composite
def tables(draw: st.DrawFn, strange: bool = True) -> Any:
    """Rows with a structure, some cells missing and, to predict, some unseen; and a target of two to four classes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(30, 80)), draw(st.sampled_from(sorted(TARGET)))
    y = rng.permutation(np.resize(TARGET[k], n))
    X = pd.DataFrame({name: rng.choice(list(levels), n) for name, levels in LEVELS.items()})
    X["b"] = np.where((X["a"] == "u") & (y == TARGET[k][0]), "x", X["b"])
    gaps = draw(st.sampled_from([0.0, 0.1]))
    X = X.mask(rng.random(X.shape) < gaps)
    new = X.copy()
    if strange:
        new = new.mask(rng.random(X.shape) < 0.05, "never")
    return X, y, new, draw(st.sampled_from([0.0, 0.5, 1.0]))


@examples(60)
@given(
    tables(),
    st.sampled_from(["marginalize", "category"]),
    st.sampled_from(["ignore", "smooth"]),
    st.sampled_from(["factored", "joint"]),
    st.sampled_from(["empirical", "uniform"]),
    st.sampled_from([0, 1, 12, 1000]),
)
def test_the_packed_sum_is_the_sum_of_the_terms_and_of_the_ledger(
    case: Any, missing: Any, unseen: Any, smoothing: Any, priors: Any, least: int
) -> None:
    X, y, new, alpha = case
    model = AODE(
        alpha=alpha, min_frequency=least, smoothing=smoothing, priors=priors, missing=missing, unseen=unseen
    ).fit(X, y)
    table = encode(new, model.schema_, unseen=unseen, missing=missing)
    factor = model.factor_
    fast = factor._packed(table, factor._own_prior(table.n), None)
    slow = factor.over(table, np.broadcast_to(log(factor.prior.p), fast.shape), None)
    np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(factor.log(table), fast)
    np.testing.assert_allclose(model.explain(new).joint(), fast, rtol=1e-12, atol=1e-12)


def test_an_unseen_value_of_a_column_of_many_levels_is_smoothed() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(list("pqrst"), 40), "b": rng.choice(list("uvwxyz"), 40)})
    model = AODE(unseen="smooth").fit(X, rng.choice(["no", "no", "yes"], 40))
    new = X.assign(b=np.where(X["b"] == "u", "never", X["b"]))  # a has no unseen value
    table = encode(new, model.schema_, unseen="smooth")
    fast, prior = model.factor_._packed(table, model.factor_._own_prior(table.n), None), log(model.factor_.prior.p)
    slow = model.factor_.over(table, np.broadcast_to(prior, fast.shape), None)
    np.testing.assert_allclose(fast, slow, rtol=1e-12)


def test_a_class_without_rows_has_each_value_alike_where_its_prior_is_given() -> None:
    domain = Domain(Variable("a", "categorical", ("u", "v", "w")))
    member = Member(domain, np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), 0.0, True, ())
    rows = encode(pd.DataFrame({"a": ["u"]}), Schema((domain.variable,)))
    joint, total = member.first(rows, np.log([[0.25, 0.75]]), None)
    np.testing.assert_allclose(np.exp(joint), [[0.25 * 3 / 4, 0.75 / 3]], rtol=1e-12)
    assert total.tolist() == [3.0]
    never = replace(member, counts=np.zeros((2, 3)), given=False)  # a column that no row knows
    assert never.first(rows, np.zeros((1, 2)), None)[0].tolist() == [[-np.inf, -np.inf]]


def test_few_rows_or_numbers_go_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    X = pd.DataFrame({"a": list("uvwuvw") * 3, "b": list("xyyxxy") * 3, "z": np.arange(18.0)})
    y = list("nyynny") * 3
    discrete, mixed = AODE().fit(X[["a", "b"]], y), AODE(discretize=None).fit(X, y)
    called: list[int] = []
    monkeypatch.setattr(type(discrete.factor_), "_packed", lambda self, X, *_: called.append(X.n) or np.zeros((X.n, 2)))
    for model, rows in ((discrete, X[["a", "b"]]), (mixed, X)):
        model.predict_joint_log_proba(rows)
        model.predict_joint_log_proba(rows[:8])
    assert called == [18]


@pytest.mark.slow
@examples(25)
@given(
    tables(strange=False), st.sampled_from(["marginalize", "category"]), st.sampled_from(["empirical", "laplace"]),
    st.booleans(),
)  # fmt: skip
def test_super_parents_left_out_at_once_and_one_by_one(case: Any, missing: Any, priors: Any, weighted: bool) -> None:
    X, y, _, alpha = case
    rng = np.random.default_rng(len(X))
    weight = rng.choice([0.0, 0.5, 1.0, 1.0, 2.0, 2.5], len(X)) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SPODE(alpha=alpha, missing=missing, priors=priors).fit(X, y, sample_weight=weight)
    table = encode(X, model.schema_, missing=missing)
    labels = Labels(len(model.classes_), np.searchsorted(model.classes_, y), weight)
    fast = model._scores(model.left_out_sums(table, labels))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SPODE, "_all_at_once", lambda self, X, left: np.zeros(X.n, dtype=bool))
        slow = model._scores(model.left_out_sums(table, labels))
    np.testing.assert_allclose(fast.loc[slow.index], slow, rtol=1e-12, atol=1e-12)
    assert labels.codes is not None
    assert model._all_at_once(table, LeftOutRows.of(table, labels)).any()


def test_columns_are_packed_while_their_table_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums are the same however the columns fall into groups and the rows into blocks."""
    rng = np.random.default_rng(0)
    domains = [Domain(Variable(n, "categorical", tuple(range(s)))) for n, s in zip("abcd", (3, 2, 5, 4), strict=True)]
    schema = Schema(tuple(d.variable for d in domains))
    X = Table(schema, tuple(rng.integers(1, d.size + 1, 100).astype(np.uint8) for d in domains), 100)
    terms = [[rng.normal(size=(a.size, b.size, 3)) for b in domains] for a in domains]
    want = np.zeros((4, 100, 3))
    for i, a in enumerate(domains):
        for j, b in enumerate(domains):
            want[i] += terms[i][j][a.places(X), b.places(X)]
    for cells, groups in ((1, 4), (60, 3), (10**6, 1)):
        monkeypatch.setattr(packed_tables, "PACKED_CELLS", cells)
        monkeypatch.setattr(packed_tables, "BLOCK", 30)
        rows = packed_tables.pack(X, domains)
        assert len(rows.groups) == groups
        found = [part.copy() for _, part in rows.sums([rows.tables(t) for t in terms], 0, 100)]
        assert [part.shape[1] for part in found] == [30, 30, 30, 10]
        np.testing.assert_allclose(np.concatenate(found, axis=1), want, rtol=1e-13, atol=1e-13)


def test_many_tables_at_once_are_each_by_itself() -> None:
    rng = np.random.default_rng(1)
    tables = rng.integers(0, 4, (20, 3, 4, 2)).astype(float)
    tables[0] = 0
    tables[1, 1:] = 0
    for one, found in zip(tables, conditional_informations(tables), strict=True):
        assert found == pytest.approx(conditional_information(one), rel=1e-13)
    assert conditional_informations(tables)[0] == (0.0, 0.0, 0, 1.0, 0.0)


@given(
    st.dictionaries(st.text("abc", max_size=3), st.sampled_from([-1.0, 0.0, 1e-18, 1.0, 1 + 8e-10, 1 + 1.6e-9, 2.0]))
)
def test_ranking_is_to_take_the_first_of_the_largest_again_and_again(weights: dict[str, float]) -> None:
    left, order = sorted(weights), []
    while left:
        top = max(weights[k] for k in left)
        order.append(next(k for k in left if weights[k] >= top - TIE * max(abs(top), TIE)))
        left.remove(order[-1])
    assert ranked(weights) == order
