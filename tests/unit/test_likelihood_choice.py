"""One message under multinomial, Bernoulli and categorical, against arithmetic by hand."""

from __future__ import annotations

from fractions import Fraction as F
from math import log

import pytest

from bayes_engine.errors import TableError
from bayes_engine.workbench.derivation.likelihood_choice import MESSAGES, NAMES, compared


def test_the_fractions_are_those_behind_the_nats() -> None:
    """Under the first two models every word; the categorical's answer counts rows that gave just it."""
    found = compared()
    for line in found.lines:
        for pair, nats in zip(line.shares, line.nats, strict=True):
            times = line.times if pair is line.shares[0] else 1
            assert times * (log(pair[0].p) - log(pair[1].p)) == pytest.approx(nats, abs=1e-12)


def test_by_hand() -> None:
    """win a prize now · free prize free call | lunch at noon · call me at lunch · free lunch: 10 words."""
    found = compared("free free call")
    call, free = found.lines
    assert [(s.n, s.total, s.s) for s in free.shares[0]] == [(2, 8, 10), (1, 9, 10)]
    assert [(s.n, s.total, s.s) for s in free.shares[1]] == [(1, 2, 2), (1, 3, 2)]
    assert [(s.n, s.total, s.s) for s in free.shares[2]] == [(1, 2, 3), (0, 3, 3)]  # 0, 1 or 2 times
    assert (call.times, free.times) == (1, 2)
    spam = F(2, 5) * F(3, 18) ** 2 * F(2, 18)
    ham = F(3, 5) * F(2, 19) ** 2 * F(2, 19)
    assert found.posterior[0][0] == pytest.approx(float(spam / (spam + ham)), abs=1e-12)


@pytest.mark.slow
def test_the_sums_give_the_posterior() -> None:
    for message in ("free free call", "lunch now", "win", "", "zebra"):
        found = compared(message)
        for k in range(len(NAMES)):
            total = found.prior[k] + sum(line.nats[k] for line in found.lines) + found.absent[k]
            assert log(found.posterior[k][0] / found.posterior[k][1]) == pytest.approx(total, abs=1e-9)


def test_said_twice_and_not_said() -> None:
    """Twice is twice to the multinomial, once to the Bernoulli; what is not said speaks to the latter only."""
    once, twice = compared("free").lines[0], compared("free free").lines[0]
    assert twice.nats[0] == pytest.approx(2 * once.nats[0])
    assert twice.nats[1] == once.nats[1]
    assert compared("free").absent[0] == 0.0
    assert compared("free").absent[1] != 0.0


def test_an_answer_nobody_gave_is_passed_over() -> None:
    free = compared("free free free").lines[0]
    assert free.nats[2] == 0.0
    assert compared("zebra crossing").unknown == ("crossing", "zebra")


def test_two_classes_are_compared() -> None:
    with pytest.raises(TableError, match="the messages have 3"):
        compared("free", (*MESSAGES, ("bread", "news")))
