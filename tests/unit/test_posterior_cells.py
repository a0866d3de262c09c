"""Held-out rows counted in cells cost exactly what they cost one by one."""

from __future__ import annotations

import numpy as np
import pytest

from bayes_engine.decision import posterior_cells
from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import LossMatrix
from bayes_engine.decision.posterior_cells import PosteriorCells
from bayes_engine.language import Message
from tests.conftest import slowly

FIELDS = ("risk", "interval", "confusion", "cost", "accuracy", "undecided", "undecided_cost")


def some_rows(n: int, classes: int, rng: np.random.Generator, *, alike: bool = False) -> HeldOut:
    truth, logs = rng.integers(0, classes, n), rng.normal(size=(n, classes))
    logs[np.arange(n), truth] += 1.5
    if alike:  # few different rows, on whose posteriors losses may be tied
        logs = np.log(rng.integers(1, 4, (n, classes)))
    logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
    logs[:3] = -np.inf
    names, fold = tuple(f"c{k}" for k in range(classes)), rng.integers(0, 2, n)
    prior = rng.dirichlet(np.full(classes, 5.0), 2)
    return HeldOut(names, logs, prior, truth, rng.choice([1.0, 2.0], n), Message("some rows"), fold=fold)


def losses(names: tuple[str, ...], rng: np.random.Generator, *, whole: bool = False) -> LossMatrix:
    table = rng.uniform(-2, 20, (len(names), len(names))) * (1 - np.eye(len(names)))
    loss = LossMatrix(names, names, table.round() if whole else table)
    return loss.with_refusal(1.0) if rng.random() < 0.5 else loss


@pytest.mark.parametrize(("n", "classes"), [(400, 3), slowly(1, 2), slowly(4, 3), slowly(5000, 2), slowly(20_000, 3)])
@pytest.mark.parametrize("alike", [False, slowly(True)])
def test_rows_in_cells_cost_what_they_cost_one_by_one(
    n: int, classes: int, alike: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posterior_cells, "ROWS", 8)
    rng = np.random.default_rng(n)
    held = some_rows(n + 3, classes, rng, alike=alike)
    shares = np.bincount(held.truth[3:], minlength=classes) > 0
    use = dict(zip(held.classes, (shares / shares.sum()).tolist(), strict=True))
    for prior in (None, use):
        cells = PosteriorCells.of(held, prior)
        assert cells is not None
        for _ in range(5):
            loss, plain = losses(held.classes, rng, whole=alike), LossMatrix.zero_one(held.classes)
            for rule in (None, plain):
                counted = estimated_risk(held, loss, prior_of_use=prior, decide_by=rule, cells=cells)
                one_by_one = estimated_risk(held, loss, prior_of_use=prior, decide_by=rule)
                for name in FIELDS:
                    assert np.array_equal(getattr(counted, name), getattr(one_by_one, name)), name


@pytest.mark.slow
def test_most_cells_are_decided_as_one() -> None:
    held = some_rows(50_000, 3, np.random.default_rng(0))
    cells = PosteriorCells.of(held)
    assert cells is not None
    action, clear = cells._clear(losses(held.classes, np.random.default_rng(1)))
    assert clear.mean() > 0.8
    assert len(set(action.tolist())) > 1


@pytest.mark.slow
def test_what_cannot_be_counted_has_no_cells() -> None:
    rng = np.random.default_rng(0)
    held = some_rows(50, 3, rng)
    assert PosteriorCells.of(HeldOut(**{**vars(held), "groups": np.arange(50)})) is None
    assert PosteriorCells.of(some_rows(50, 4, rng)) is None
    assert PosteriorCells.of(HeldOut(**{**vars(held), "weight": rng.uniform(1, 2, 50)})) is not None
    many = some_rows(3000, 3, rng)
    assert PosteriorCells.of(HeldOut(**{**vars(many), "weight": rng.uniform(1, 2, 3000)})) is None
    few = PosteriorCells.of(some_rows(5, 3, rng))
    assert few is not None
    assert few.kinds(losses(held.classes, rng)) is None
    cells, loss = PosteriorCells.of(held), losses(held.classes, rng)
    with_amount, alone = (estimated_risk(held, loss, amount=np.arange(50.0), cells=c) for c in (cells, None))
    assert all(np.array_equal(getattr(with_amount, name), getattr(alone, name)) for name in FIELDS)
