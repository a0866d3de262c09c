"""Dirichlet priors under one name: against hand calculations, in every model that smooths a table."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import CategoricalNB as TheirCategoricalNB

from bayes_engine import AODE, SPODE, TAN, BayesianNetwork, BayesianNetworkClassifier, KDependence, NaiveBayes
from bayes_engine.errors import ParameterError
from bayes_engine.factors.sources import Fraction
from bayes_engine.factors.table import TableLeaf
from bayes_engine.logspace import exp, log_sum
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from bayes_engine.priors import Dirichlet, checked_alphas, dirichlet, pseudo_counts
from bayes_engine.workbench.derivation.derive import derive
from bayes_engine.workbench.derivation.render import fraction

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")

X = pd.DataFrame({"colour": list("ggdddpgd"), "sound": list("ababbbaa")})
Y = list("yyyynnnn")
# colour: y: d 2, g 2, p 0; n: d 2, g 1, p 1; together d 4, g 3, p 1. sound: y: a 2, b 2; n: a 2, b 2
ROW = pd.DataFrame({"colour": ["g"], "sound": ["a"]})

HAND = {  # P(colour = d, g, p | y), by hand
    "none": (0.0, [2 / 4, 2 / 4, 0]),
    "laplace": ("laplace", [3 / 7, 3 / 7, 1 / 7]),
    "jeffreys": ("jeffreys", [2.5 / 5.5, 2.5 / 5.5, 0.5 / 5.5]),
    "lidstone": (0.2, [2.2 / 4.6, 2.2 / 4.6, 0.2 / 4.6]),
    "m-estimate": (Dirichlet.m_estimate(2), [(2 + 2 * 4 / 8) / 6, (2 + 2 * 3 / 8) / 6, (2 * 1 / 8) / 6]),
    "m-estimate, even": (Dirichlet.m_estimate(2, "uniform"), [(2 + 2 / 3) / 6, (2 + 2 / 3) / 6, (2 / 3) / 6]),
    "equivalent sample size": (Dirichlet.equivalent_sample_size(12), [4 / 10, 4 / 10, 2 / 10]),
    "by column": ({"colour": "jeffreys", "sound": 3.0}, [2.5 / 5.5, 2.5 / 5.5, 0.5 / 5.5]),
}


@pytest.mark.parametrize("name", HAND)
def test_naive_bayes_by_hand(name: str) -> None:
    alpha, expected = HAND[name]
    model = NaiveBayes(alpha=alpha).fit(X, Y)
    colour = model.factor_.parts[1]
    assert colour.variable.levels == ("g", "d", "p") or colour.variable.levels == ("d", "g", "p")
    by_level = dict(zip(colour.variable.levels, exp(colour.log_cpt)[1], strict=True))
    assert [by_level[v] for v in "dgp"] == pytest.approx(expected, abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("name", HAND)
def test_with_params_is_a_fit(name: str) -> None:
    alpha = HAND[name][0]
    fitted = NaiveBayes(alpha=alpha).fit(X, Y)
    changed = NaiveBayes(alpha=7.0).fit(X, Y).with_params(alpha=alpha)
    assert changed.stats_ is not fitted.stats_
    np.testing.assert_array_equal(changed.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.2, 3.0])
def test_lidstone_is_scikit_learns(alpha: float) -> None:
    codes = X.apply(lambda c: c.astype("category").cat.codes)
    theirs = TheirCategoricalNB(alpha=alpha).fit(codes, Y).predict_proba(codes)
    named = {1.0: "laplace", 0.5: "jeffreys"}.get(alpha, alpha)
    np.testing.assert_allclose(NaiveBayes(alpha=named).fit(X, Y).predict_proba(X), theirs, atol=1e-12)
    shared_out = Dirichlet.m_estimate(2 * alpha, "uniform")  # of two levels
    np.testing.assert_allclose(
        NaiveBayes(alpha=shared_out).fit(X[["sound"]], Y).predict_proba(X[["sound"]]),
        TheirCategoricalNB(alpha=alpha).fit(codes[["sound"]], Y).predict_proba(codes[["sound"]]),
        atol=1e-12,
    )


def test_others_are_the_star_and_one_by_default() -> None:
    assert dirichlet({"colour": 2.0, "*": 0.5}, "sound") == Dirichlet(0.5)
    assert dirichlet({"colour": 2.0}, "sound") == Dirichlet(1.0)
    mixed = NaiveBayes(alpha={"colour": 2.0, "*": 0.5}).fit(X, Y).predict_proba(ROW)
    parts = [
        NaiveBayes(alpha=a).fit(X[[c]], Y).predict_proba(ROW[[c]])[0] for c, a in (("colour", 2.0), ("sound", 0.5))
    ]
    product = parts[0] * parts[1]  # the classes are equally frequent
    np.testing.assert_allclose(mixed[0], product / product.sum(), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", HAND)
def test_leave_one_out_is_a_refit(name: str) -> None:
    alpha = HAND[name][0]
    model = NaiveBayes(alpha=alpha).fit(X, Y)
    left = exp(model.leave_one_out_log_proba(X, Y))
    for i in range(len(X)):
        rest = [k for k in range(len(X)) if k != i]
        again = NaiveBayes(alpha=alpha, schema=model.schema_).fit(X.iloc[rest], [Y[k] for k in rest])
        np.testing.assert_allclose(left[i], again.explain(X.iloc[[i]]).posterior()[0], atol=1e-12)


def test_zero_only_repairs_the_pair_with_the_zero_by_any_prior() -> None:
    counts = np.array([[2.0, 2.0, 0.0], [2.0, 1.0, 1.0]])
    added = pseudo_counts(counts, Dirichlet.m_estimate(2), "zero-only")
    assert added.tolist() == [[1.0, 0.75, 0.25], [0.0, 0.0, 0.0]]


def test_a_pair_without_a_row_is_the_base_or_uniform() -> None:
    counts = np.array([[0.0, 0.0], [3.0, 1.0]])
    smoothed = counts + pseudo_counts(counts, Dirichlet.m_estimate(2), "all")
    assert (smoothed[0] / smoothed[0].sum()).tolist() == [0.75, 0.25]
    assert pseudo_counts(np.zeros((2, 2)), Dirichlet.m_estimate(0), "all").tolist() == [[1.0, 1.0]] * 2
    assert pseudo_counts(np.zeros((2, 2)), Dirichlet.m_estimate(2), "all").tolist() == [[1.0, 1.0]] * 2


# the other models -----------------------------------------------------------------------------------------------------


def test_a_family_by_hand() -> None:
    """P(sound | class, colour) with m = 2: of y and g two rows, both a; a stands in 4 of the 8 rows."""
    model = SPODE("colour", alpha=Dirichlet.m_estimate(2), discretize=None).fit(X, Y)
    sound = next(f for f in model.factor_.families if f.variable.name == "sound")
    assert isinstance(sound, TableLeaf)
    g, a = (v.levels.index(name) for v, name in zip((sound.parents[0].variable, sound.variable), "ga", strict=True))
    rows = (X["colour"] == "g") & (pd.Series(Y) == "y")
    n, with_a = int(rows.sum()), int((X["sound"][rows] == "a").sum())
    assert float(exp(sound.log_cpt)[1, g, a]) == pytest.approx((with_a + 2 * 4 / 8) / (n + 2), abs=1e-15)


def test_equivalent_sample_size_is_spread_over_the_whole_table() -> None:
    model = TAN(root="colour", alpha=Dirichlet.equivalent_sample_size(12), discretize=None).fit(X, Y)
    by_name = {f.variable.name: f for f in model.factor_.families}
    assert by_name["colour"].rule.amount == 12 / (2 * 3)
    assert by_name["sound"].rule.amount == 12 / (2 * 3 * 2)  # class × colour × sound


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SPODE, TAN, KDependence, BayesianNetworkClassifier, AODE])
def test_one_spelling_everywhere(kind: Any) -> None:
    plain = kind(alpha=0.5, discretize=None).fit(X, pd.Series(Y, name="c"))
    named = kind(alpha="jeffreys", discretize=None).fit(X, pd.Series(Y, name="c"))
    by_column = kind(alpha={"colour": 0.5, "*": "jeffreys"}, discretize=None).fit(X, pd.Series(Y, name="c"))
    np.testing.assert_array_equal(named.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(by_column.predict_proba(X), plain.predict_proba(X))
    assert clone(by_column).get_params()["alpha"] == {"colour": 0.5, "*": "jeffreys"}


def test_super_parent_by_leave_one_out_sees_each_columns_prior() -> None:
    r = np.random.default_rng(3)
    table = pd.DataFrame({n: r.choice(list("uvw"), 40) for n in "pqr"})
    y = r.choice(list("ab"), 40)
    alpha = {"p": 0.2, "q": 3.0, "r": "jeffreys"}
    scores = SPODE(alpha=alpha).fit(table, y).candidate_scores_
    for name in "pqr":
        own = SPODE(name, alpha=alpha).fit(table, y)
        log_loss = -own.leave_one_out_log_proba(table, y)[range(40), (y == "b").astype(int)].mean()
        assert scores.loc[name, "log_loss"] == pytest.approx(log_loss, abs=1e-12)


@pytest.mark.slow
def test_a_row_left_out_leaves_the_marginal_too() -> None:
    r = np.random.default_rng(4)
    table = pd.DataFrame({n: r.choice(list("uvw"), 30) for n in "pqr"})
    y = pd.Series(r.choice(list("ab"), 30), name="c")
    arcs = [("p", "c"), ("c", "q"), ("p", "q"), ("p", "r")]  # of r the class is no parent
    for alpha in (
        Dirichlet.m_estimate(3.0),
        {"q": Dirichlet.m_estimate(3.0), "*": Dirichlet.equivalent_sample_size(4)},
    ):
        model = BayesianNetworkClassifier(arcs, alpha=alpha).fit(table, y)
        left = exp(model.leave_one_out_log_proba(table, y))
        for i in (0, 7, 20):
            again = clone(model).set_params(schema=model.schema_).fit(table.drop(i), y.drop(i))
            np.testing.assert_allclose(left[i], again.predict_proba(table.iloc[[i]])[0], atol=1e-12)
            joint = again.predict_joint_log_proba(table.iloc[[i]])
            np.testing.assert_allclose(left[i], exp(joint - log_sum(joint)[:, None])[0], atol=1e-12)


def test_a_network_takes_all_of_them_and_keeps_its_own_words() -> None:
    arcs = [("colour", "sound")]
    bdeu = BayesianNetwork(arcs, alpha=6.0, smoothing="bdeu").fit(X)
    named = BayesianNetwork(arcs, alpha=Dirichlet.equivalent_sample_size(6.0)).fit(X)
    for one, other in zip(bdeu.network_.cpts, named.network_.cpts, strict=True):
        np.testing.assert_array_equal(one.p, other.p)
    smoothed = BayesianNetwork(arcs, alpha={"sound": Dirichlet.m_estimate(2), "*": 1.0}).fit(X)
    d = smoothed.network_["sound"].parents[0].levels.index("d")
    with_d = X["sound"][X["colour"] == "d"]
    a = smoothed.network_["sound"].variable.levels.index("a")
    assert smoothed.network_["sound"].p[d, a] == pytest.approx(((with_d == "a").sum() + 2 * 4 / 8) / (len(with_d) + 2))
    assert smoothed.with_params(alpha="laplace").network_["sound"].p[d, a] == pytest.approx(
        ((with_d == "a").sum() + 1) / (len(with_d) + 2)
    )


def test_em_climbs_under_a_prior_by_column() -> None:
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
    alpha = {"colour": 0.5, "*": Dirichlet.m_estimate(1.0, "uniform")}
    trace = BayesianNetwork([("colour", "sound")], alpha=alpha).fit(holes).trace_
    steps = [s.objective for s in trace.steps]
    assert all(b >= a - 1e-9 for a, b in pairwise(steps))
    with pytest.raises(ParameterError, match="there is no one objective to climb"):
        BayesianNetwork([("colour", "sound")], alpha=Dirichlet.m_estimate(1.0)).fit(holes)
    labels = pd.Series(["y", "y", None, None, "n", "n", None, None])
    model = SemiSupervisedNB(NaiveBayes(alpha={"colour": 2.0, "*": Dirichlet.m_estimate(1.0)})).fit(X, labels)
    steps = [s.objective for s in model.trace_.steps]
    assert all(b >= a - 1e-9 for a, b in pairwise(steps))


# what it says ---------------------------------------------------------------------------------------------------------


def test_the_working_shows_what_was_added_to_count_and_total() -> None:
    model = NaiveBayes(alpha=Dirichlet.m_estimate(2)).fit(X, Y)
    source = derive(model, ROW, classes=["y", "n"]).steps[1].sources[0]
    assert isinstance(source, Fraction)
    assert (source.count, source.total, source.added, source.pseudo_total) == (2.0, 4.0, 0.75, 2.0)
    assert fraction(source) == "(2+0.75)/(4+2)"
    tree = derive(TAN(alpha=Dirichlet.m_estimate(2), discretize=None).fit(X, Y), ROW, classes=["y", "n"])
    for step in tree.steps:
        assert [s.value for s in step.sources] == pytest.approx(step.factors, abs=1e-12)


@pytest.mark.parametrize(
    ("alpha", "text"),
    [
        ("flat", "alpha='flat' is none of 'none', 'laplace', 'jeffreys'"),
        (-1, "alpha=-1; smoothing needs a number of 0 and more"),
        ({"weight": 1.0}, "alpha names a column 'weight' that is not in the table; the columns are 'colour', 'sound'"),
        ({"colour": None}, "alpha=None; smoothing needs"),
        (1e12, "outweighs the 8 rows"),
        (Dirichlet.equivalent_sample_size(1e12), "outweighs the 8 rows"),
    ],
)
def test_refused(alpha: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        NaiveBayes(alpha=alpha).fit(X, Y)


def test_a_dirichlet_is_checked_where_it_is_made() -> None:
    for make in (
        lambda: Dirichlet(float("nan")),
        lambda: Dirichlet(1.0, "cell"),  # type: ignore[arg-type]
        lambda: Dirichlet(1.0, base="flat"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ParameterError):
            make()
    checked_alphas({"a": 1, "*": "none"}, ["a", "b"], 4)


def test_aode_has_no_marginal_to_lean_on() -> None:
    for parameters in (
        {"alpha": Dirichlet.m_estimate(1)},
        {"alpha": Dirichlet.m_estimate(1, "uniform"), "smoothing": "joint"},
    ):
        with pytest.raises(ParameterError, match="AODE smooths joint tables"):
            AODE(**parameters).fit(X, Y)
    even = AODE(alpha=Dirichlet.equivalent_sample_size(6)).fit(X, Y)  # 3 a class, as smoothing="joint" spreads them
    joint = AODE(alpha=3, smoothing="joint").fit(X, Y)
    np.testing.assert_allclose(even.predict_proba(X), joint.predict_proba(X), atol=1e-12)


# the class prior ------------------------------------------------------------------------------------------------------


def test_a_dirichlet_smooths_the_class_prior_too() -> None:
    y = list("yyyyyynn")
    for rule, expected in (
        (Dirichlet.laplace(), 7 / 10),
        (Dirichlet.jeffreys(), 6.5 / 9),
        (Dirichlet.equivalent_sample_size(4), 8 / 12),
        (Dirichlet.none(), 6 / 8),
    ):
        model = NaiveBayes(priors=rule).fit(X, y)
        assert model.prior_by_class["y"] == pytest.approx(expected, abs=1e-15)
        assert model.factor_.parts[0].added == rule.per_level((2,))
        assert TAN(priors=rule).fit(X, y).prior_by_class["y"] == pytest.approx(expected, abs=1e-15)
        left = exp(model.leave_one_out_log_proba(X, y))
        again = NaiveBayes(priors=rule, schema=model.schema_).fit(X[1:], y[1:])
        np.testing.assert_allclose(left[0], again.predict_proba(X[:1])[0], atol=1e-12)
    np.testing.assert_array_equal(
        NaiveBayes(priors="laplace").fit(X, y).predict_proba(X),
        NaiveBayes(priors=Dirichlet.laplace()).fit(X, y).predict_proba(X),
    )
