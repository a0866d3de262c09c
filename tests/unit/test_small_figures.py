"""Figures by hand of functions whose mutants survived the other tests (`python -m tests.mutants`)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from bayes_engine import NaiveBayes
from bayes_engine.decision.ask import ask
from bayes_engine.decision.case import _column
from bayes_engine.decision.curves import brier_parts
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.factors.class_prior import ClassPrior
from bayes_engine.factors.leaf import Domain
from bayes_engine.factors.sources import Fraction
from bayes_engine.factors.table import TableLeaf, TableRule
from bayes_engine.inference.gibbs import gelman_rubin
from bayes_engine.language import Message
from bayes_engine.priors import with_share
from bayes_engine.table.encode import Table
from bayes_engine.table.schema import Schema, Variable

WIND = Domain(Variable("wind", "categorical", ("weak", "strong")))
RAIN = Domain(Variable("rain", "categorical", ("no", "yes")))


def leaf(counts: list[object], amount: float, *parents: Domain) -> TableLeaf:
    return TableLeaf(RAIN, "play", np.array(counts, dtype=float), TableRule(amount), parents)


def test_the_information_of_a_table() -> None:
    """Two classes of two levels that they share out 3 : 1 and 1 : 3: 1 bit less the entropy of 1/4."""
    own = leaf([[3, 1], [1, 3]], 0.0).information(np.log([0.5, 0.5]))
    assert own == pytest.approx(math.log(2) + 0.75 * math.log(0.75) + 0.25 * math.log(0.25))


def test_the_prior_density_of_a_table_and_whether_it_is_smoothed() -> None:
    assert leaf([[3, 1], [1, 3]], 0.0).log_prior_density() == 0.0
    assert leaf([[3, 1], [1, 3]], 2.0).log_prior_density() == pytest.approx(2 * 2 * (math.log(5 / 8) + math.log(3 / 8)))
    assert leaf([[3, 1], [1, 3]], 0.0).unsmoothed and not leaf([[3, 1], [1, 3]], 1.0).unsmoothed
    assert leaf([[[3, 1], [1, 3]], [[2, 2], [4, 0]]], 0.0, WIND).unsmoothed
    assert not leaf([[[3, 1], [1, 3]], [[2, 2], [4, 0]]], 0.5, WIND).unsmoothed
    # a distribution without a row is uniform and counts as smoothed, those beside it are not
    assert leaf([[[0, 0], [1, 3]], [[4, 0], [0, 0]]], 0.0, WIND).unsmoothed


def test_a_posterior_is_drawn_for_each_value_of_a_hidden_parent() -> None:
    row = Table(Schema((WIND.variable, RAIN.variable)), (np.array([1]), np.array([2])), 1)
    posterior = leaf([[[30, 10], [1, 3]], [[2, 2], [4, 1]]], 1.0, WIND).posterior(Variable("play", "categorical"))
    assert posterior.draw(row, ("wind",), 5, np.random.default_rng(0)).shape == (5, 2, 2)
    assert posterior.draw(row, (), 5, np.random.default_rng(0)).shape == (5, 2)


def test_a_class_prior_counts_a_whole_weight_of_one() -> None:
    share = np.array([0.25, 0.75])
    found = ClassPrior("play", share, share, 0.0).sources(None)  # type: ignore[arg-type]
    assert [type(source) for source in found] == [Fraction, Fraction]


def test_a_prior_that_leaves_the_others_nothing_shares_evenly() -> None:
    assert with_share((1.0, 0.0, 0.0), 0, 0.5) == (0.5, 0.25, 0.25)


def test_the_parts_of_a_brier_score() -> None:
    """Of p = .2, .4, .6, .8 with y = 0, 1, 0, 1 the isotonic p are 0, ½, ½, 1; both classes alike."""
    p = np.array([0.2, 0.4, 0.6, 0.8])
    log_p = np.log(np.stack([1.0 - p, p], axis=1))
    held = HeldOut(("no", "yes"), log_p, np.full((4, 2), 0.5), np.array([0, 1, 0, 1]), np.ones(4), Message(""))
    assert brier_parts(held) == pytest.approx((0.4, 0.15, 0.25, 0.5))


def test_gelman_and_rubins_ratio() -> None:
    found = gelman_rubin(np.array([0.0, 2.0]), np.array([1.0, 3.0]), 10.0)
    assert float(found) == pytest.approx(math.sqrt(0.9 + 2.0 / 2.0))


def test_what_perfect_knowledge_is_worth_counts_gains() -> None:
    """Actions that gain where they are right: what is known without an error gains 3, or 1."""
    X = pd.DataFrame({"test": ["+"] * 3 + ["-"] + ["+"] + ["-"] * 3})
    model = NaiveBayes(smoothing="none").fit(X, ["ill"] * 4 + ["well"] * 4)
    loss = {"treat": {"ill": -3, "well": 2}, "wait": {"ill": 0, "well": -1}}
    found = ask(model, [[None]], loss)
    assert found.risk == pytest.approx(-0.5)
    assert found.perfect == pytest.approx(-0.5 + 0.5 * 3 + 0.5 * 1)


def test_each_interval_of_a_question_holds_the_number_that_is_tried() -> None:
    cut = Variable("x", "interval", ("low", "middle", "high"), cuts=(1.0, 2.0))
    tried = _column(cut, [0, 1, 2, None]).tolist()
    assert tried[:2] == [1.0, 2.0] and math.isnan(tried[3])
    assert tried[2] > 2.0 and tried[2] - 2.0 < 1e-12
    assert all(a < b for a, b in pairwise(tried[:3]))
