"""Counted twice: an exact account along the tree, copies of a column against real refits, two exact examples."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine.datasets import load_dataset
from bayes_engine.decision.compare import score
from bayes_engine.decision.held_out import held_out
from bayes_engine.ledger import Status
from bayes_engine.models.aode import AODE
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.tan import TAN
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.derivation.double_counting import (
    DoubleCounting,
    Example,
    TrainingRows,
    copied,
    double_counting,
    double_counting_by_chance,
    held_out_alone,
    held_out_with_copies,
    most_double_counting,
    posterior_with_copies,
    refit_with_copies,
    two_switches,
    weight_lifters,
)
from tests.conftest import crossed, slowly

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")


def table(name: str) -> tuple[pd.DataFrame, pd.Series, Schema]:
    data = load_dataset(name)
    target = data.schema.target
    assert target is not None
    known = data.frame[target.name].notna()
    return data.frame.loc[known, list(data.schema.features.names)], data.frame.loc[known, target.name], data.schema


class Study:
    """Naive Bayes, a tree and a mean of the same rows with the same smoothing."""

    def __init__(self, name: str, alpha: float = 1.0, discretize: Any = "mdlp") -> None:
        self.X, self.y, schema = table(name)
        shared: dict[str, Any] = {"alpha": alpha, "discretize": discretize, "schema": schema}
        self.naive = NaiveBayes(**shared).fit(self.X, self.y)
        self.tree = TAN(**shared).fit(self.X, self.y)
        self.mean = AODE(**shared).fit(self.X, self.y)

    def of(self, case: pd.DataFrame, **use: Any) -> DoubleCounting:
        found = double_counting(self.naive, self.tree, self.mean, case, **use)
        assert found is not None
        return found


# one case -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "alpha", "discretize"),
    [
        ("watermelon3", 0.5, None),
        ("penguins", 1.0, None),
        slowly("watermelon2", 1.0, "mdlp"),
        slowly("penguins", 1.0, "mdlp"),
    ],
)
def test_edges_and_rest_are_the_whole_difference(name: str, alpha: float, discretize: str | None) -> None:
    study = Study(name, alpha, discretize)
    for i in range(0, len(study.X), max(1, len(study.X) // 17)):
        case = study.X.iloc[[i]]
        found = study.of(case)
        best, other = (study.naive.classes_.tolist().index(c) for c in (found.for_, found.against))
        odds = [
            float(j[best] - j[other]) for j in (m.predict_joint_log_proba(case)[0] for m in (study.naive, study.tree))
        ]
        assert (found.naive, found.tree) == pytest.approx(tuple(odds))
        assert found.naive > 0
        assert sum(e.nats for e in found.edges) + found.rest == pytest.approx(found.nats, abs=1e-10)
        assert found.balance().total == pytest.approx(found.tree, abs=1e-9)
        if case.notna().all(axis=None):
            assert found.rest == pytest.approx(0.0, abs=1e-10)
            assert {(e.parent, e.child) for e in found.edges} == set(study.tree.tree_)


def test_an_edge_is_the_ratio_of_two_fractions() -> None:
    """The first melon, 根蒂=蜷缩 under its parent 脐部=凹陷, counted by hand and smoothed by 1."""
    study = Study("watermelon2")
    X, y = study.X, study.y
    case = X.iloc[[0]]
    found = study.of(case)
    assert found.for_ == "是"
    for edge in found.edges:
        nats = {}
        for label in ("是", "否"):
            own = X[edge.child][y == label] == case[edge.child].iloc[0]
            above = X[edge.parent][y == label] == case[edge.parent].iloc[0]
            levels = X[edge.child].nunique()
            given = (int((own & above).sum()) + 1) / (int(above.sum()) + levels)
            alone = (int(own.sum()) + 1) / (len(own) + levels)
            nats[label] = math.log(given / alone)
        assert edge.nats == pytest.approx(-(nats["是"] - nats["否"]))


def test_every_pair_of_known_columns_is_listed_once_and_edges_among_them() -> None:
    study = Study("watermelon2")
    case = study.X.iloc[[0]].assign(色泽=None)
    found = study.of(case)
    known = [c for c in study.X if c != "色泽"]
    assert {frozenset((p.parent, p.child)) for p in found.pairs} == set(
        map(frozenset, itertools.combinations(known, 2))
    )
    assert len(found.pairs) == 10
    assert [p for p in found.pairs if p.edge] == list(found.edges)
    assert [abs(p.nats) for p in found.pairs] == sorted((abs(p.nats) for p in found.pairs), reverse=True)
    pair = next(p for p in found.pairs if not p.edge)
    models = (study.naive, study.mean.spode(pair.parent))
    naive, given = (float(m.explain(case).contributions("是", "否")[pair.child].iloc[0]) for m in models)
    assert pair.nats == pytest.approx(naive - given)


def test_a_copied_column_is_counted_twice_to_the_nat() -> None:
    """Without smoothing the tree gives a copy the probability 1, so its edge is the column's own contribution."""
    X, y, _schema = table("watermelon2")
    longer, _ = copied(X, Schema.from_dtypes(X), "纹理", 1)
    naive, tree, mean = (m.fit(longer, y) for m in (NaiveBayes(alpha=1e-9), TAN(alpha=1e-9), AODE(alpha=1e-9)))
    case = longer.iloc[[7]]
    found = double_counting(naive, tree, mean, case)
    assert found is not None
    edge = next(e for e in found.edges if {e.parent, e.child} == {"纹理", "纹理 2"})
    own = naive.explain(case).contributions(found.for_, found.against)["纹理"].iloc[0]
    assert edge.nats == pytest.approx(float(own), abs=1e-6)


def test_a_prior_of_use_moves_both_and_not_what_lies_between() -> None:
    study = Study("watermelon2")
    case = study.X.iloc[[0]]
    plain, shifted = study.of(case), study.of(case, prior_of_use={"是": 0.7, "否": 0.3})
    assert plain.for_ == shifted.for_
    assert shifted.nats == pytest.approx(plain.nats)
    assert shifted.naive - plain.naive == pytest.approx(math.log(0.7 / 0.3) - math.log(8 / 9))


@pytest.mark.slow
def test_the_pair_pulls_where_the_sum_goes() -> None:
    study = Study("watermelon2")
    for i in range(17):
        found = study.of(study.X.iloc[[i]])
        largest = found.largest_pair
        assert largest is not None and largest.nats * found.nats > 0
        assert all(abs(e.nats) <= abs(largest.nats) for e in found.edges if e.nats * found.nats > 0)
    row, nats = most_double_counting(study.naive, study.tree, study.X) or (-1, 0.0)
    assert nats == pytest.approx(max(study.of(study.X.iloc[[i]]).nats for i in range(17)))
    assert nats == pytest.approx(study.of(study.X.iloc[[row]]).nats)


def test_no_account_where_a_class_is_impossible() -> None:
    X, y, _schema = table("watermelon2")
    naive, tree, mean = (m.fit(X, y) for m in (NaiveBayes(alpha=0.0), TAN(alpha=0.0), AODE(alpha=0.0)))
    impossible = X.iloc[[7]].assign(敲声="清脆")
    assert double_counting(naive, tree, mean, impossible) is None


# one column, again and again ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("copied_column", "discretize"),
    crossed([("watermelon3", "纹理"), ("watermelon3", "密度"), ("penguins", "island")], [None, "mdlp"]),
)
@pytest.mark.slow
def test_copies_of_a_column_without_a_refit_are_those_of_a_refit(
    copied_column: tuple[str, str], discretize: str | None
) -> None:
    name, column = copied_column
    X, y, schema = table(name)
    naive = NaiveBayes(discretize=discretize, schema=schema).fit(X, y)
    rows = TrainingRows(X, y)
    held, alone = held_out(naive, X, y), held_out_alone(naive, rows, column)
    for k in (0, 1, 4):
        longer, longer_schema = copied(X, schema.features, column, k)
        refit = NaiveBayes(discretize=discretize, schema=longer_schema).fit(longer, y)
        np.testing.assert_allclose(
            posterior_with_copies(naive, X.iloc[[1]], column, k), refit.predict_proba(longer.iloc[[1]])[0], atol=1e-12
        )
        found = held_out_with_copies(held, alone, k)
        again = held_out(refit, longer, y)
        np.testing.assert_allclose(np.exp(found.log_posterior), np.exp(again.log_posterior), atol=1e-9)
        same = refit_with_copies(naive, rows, X.iloc[[1]], column, k)
        np.testing.assert_allclose(same[1].log_posterior, again.log_posterior, atol=1e-12)
        np.testing.assert_allclose(same[0].posterior(), refit.predict_proba(longer.iloc[[1]]), atol=1e-12)


def test_groups_and_weights_travel_with_the_copies() -> None:
    X, y, schema = table("penguins")
    groups, weight = pd.Series(np.arange(len(X)) // 7), pd.Series(1.0 + np.arange(len(X)) % 2)
    rows = TrainingRows(X, y, groups, weight)
    naive = NaiveBayes(schema=schema).fit(X, y, weight)
    held = held_out(naive, X, y, groups=groups, sample_weight=weight)
    alone = held_out_alone(naive, rows, "island")
    again = refit_with_copies(naive, rows, X.iloc[[0]], "island", 3)[1]
    assert str(again.scheme) == str(held.scheme) == "5 folds, groups kept together"
    found = held_out_with_copies(held, alone, 3)
    np.testing.assert_allclose(np.exp(found.log_posterior), np.exp(again.log_posterior), atol=1e-9)


@pytest.mark.slow
def test_copies_mislead_naive_bayes_and_not_a_tree() -> None:
    """The island tells two species from the third; asked ten times more it outshouts all else."""
    X, y, schema = table("penguins")
    losses = {}
    for model in (NaiveBayes(schema=schema, discretize="mdlp"), TAN(schema=schema)):
        found = [refit_with_copies(model.fit(X, y), TrainingRows(X, y), X.iloc[[0]], "island", k)[1] for k in (0, 10)]
        losses[type(model)] = [score(held)["log_loss"] for held in found]
    naive, tree = losses[NaiveBayes], losses[TAN]
    assert naive[1] > naive[0] + 1.0
    assert tree[1] < tree[0] + 0.02


def test_copies_have_names_of_their_own() -> None:
    X = pd.DataFrame({"a": ["x", "y"], "a 2": ["u", "v"]})
    longer, schema = copied(X, Schema.from_dtypes(X), "a", 2)
    assert len(set(longer.columns)) == 4
    assert longer.columns.tolist() == list(schema.names)
    assert longer.iloc[:, 2].tolist() == ["x", "y"]
    assert copied(X, Schema.from_dtypes(X), "a", 0)[0].equals(X)


@pytest.mark.slow
def test_a_class_without_a_row_in_a_fold_stays_impossible() -> None:
    X, y, schema = table("penguins")
    naive = NaiveBayes(schema=schema).fit(X, y)
    held, alone = held_out(naive, X, y), held_out_alone(naive, TrainingRows(X, y), "island")
    held, alone = (replace(one, prior=one.prior_by_row.copy(), fold=None) for one in (held, alone))
    for one in (held, alone):
        one.prior[:5, 0] = 0.0
        one.log_posterior[:5, 0] = -np.inf
    found = held_out_with_copies(held, alone, 5)
    assert np.isneginf(found.log_posterior[:5, 0]).all()
    assert not np.isnan(found.log_posterior).any()
    assert (found.posterior()[1] == Status.OK).all()


# two live examples ----------------------------------------------------------------------------------------------------


def information(joint: Any) -> float:
    """I(a; b) by its definition."""
    total = 0.0
    for i, j in itertools.product(range(2), range(2)):
        if joint[i, j]:
            total += joint[i, j] * math.log(joint[i, j] / (joint[i].sum() * joint[:, j].sum()))
    return total


@pytest.mark.parametrize("effect", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("made", [weight_lifters, two_switches])
def test_the_examples_say_what_their_tables_say(made: Any, effect: float) -> None:
    example: Example = made(effect)
    joint = example.joint
    assert joint.sum() == pytest.approx(1.0)
    assert example.overall == pytest.approx(information(joint.sum(axis=0)), abs=1e-12)
    given = sum(joint[c].sum() * information(joint[c] / joint[c].sum()) for c in (0, 1))
    assert example.given_class == pytest.approx(given, abs=1e-12)
    for i, j in itertools.product((0, 1), (0, 1)):
        p = [
            joint[c].sum() * (joint[c, i].sum() / joint[c].sum()) * (joint[c, :, j].sum() / joint[c].sum())
            for c in (0, 1)
        ]
        assert example.naive[i, j] == pytest.approx(p[1] / sum(p) if sum(p) else 0.5)
        both = joint[:, i, j].sum()
        assert example.exact[i, j] == pytest.approx(joint[1, i, j] / both if both else 0.5)


def test_the_one_is_dependent_overall_and_the_other_within_the_class() -> None:
    alike, lifters, switches = weight_lifters(0.0), weight_lifters(0.8), two_switches(0.8)
    assert alike.overall > 0.02 and alike.given_class < 1e-12
    np.testing.assert_allclose(alike.naive, alike.exact)
    of_lifters = lifters.joint[1] / lifters.joint[1].sum()
    assert lifters.overall > lifters.given_class > 0.04 and information(of_lifters) < 1e-12
    assert lifters.exact[0, 1] == pytest.approx(0.2 * 0.9 / (0.2 * 0.9 + 0.5 * 0.04))
    assert switches.overall < 1e-12 and switches.given_class > 0.3
    np.testing.assert_allclose(switches.exact, [[0.1, 0.9], [0.9, 0.1]])
    np.testing.assert_allclose(switches.naive, 0.5)


# by chance ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_counted_twice_by_chance_is_about_a_nat_at_17_rows_and_half_of_one_at_1000() -> None:
    study = Study("watermelon2")
    sizes = []
    for i in (0, 4, 8, 12, 16):
        case = study.X.iloc[[i]]
        chance = double_counting_by_chance(study.tree, case, study.of(case))
        assert chance is not None
        sizes.append(chance.nats)
    assert np.mean(sizes) == pytest.approx(1.0, abs=0.15)
    credit = Study("german-credit")
    case = credit.X.iloc[[0]]
    chance = double_counting_by_chance(credit.tree, case, credit.of(case))
    assert chance is not None and 0.45 < chance.nats < 0.65


@pytest.mark.slow
def test_what_chance_counts_twice_is_what_trees_of_shuffled_frames_count() -> None:
    study = Study("watermelon2")
    case = study.X.iloc[[12]]
    chance = double_counting_by_chance(study.tree, case, study.of(case))
    rng, sizes = np.random.default_rng(0), []
    for _draw in range(30):
        X = study.X.copy()
        for label in study.y.unique():
            rows = np.flatnonzero(study.y == label)
            for j in range(X.shape[1]):
                X.iloc[rows, j] = X.iloc[rng.permutation(rows), j].to_numpy()
        tree = TAN(schema=study.tree.schema).fit(X, study.y)
        joints = [m.predict_joint_log_proba(case)[0] for m in (study.naive, tree)]
        sizes.append(abs(np.subtract(*[j[0] - j[1] for j in joints])))
    assert chance is not None
    assert chance.nats == pytest.approx(np.mean(sizes), abs=4 * np.std(sizes) / math.sqrt(len(sizes)))


def test_columns_of_numbers_are_not_shuffled() -> None:
    study = Study("watermelon3", 0.5, None)
    case = study.X.iloc[[0]]
    assert double_counting_by_chance(study.tree, case, study.of(case)) is None
