"""Progress and cancelling: what the loops tell, and that nobody pays for it who does not watch."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from bayes_engine import AODE, SPODE, TAN, BayesianNetwork, GaussianMixture, NaiveBayes, SemiSupervisedNB, progress
from bayes_engine.decision.held_out import held_out
from bayes_engine.errors import EstimationWarning, listen, report
from bayes_engine.inference.gibbs import GibbsSettings, gibbs
from bayes_engine.models.discriminative import discriminative_counterpart
from bayes_engine.models.selective import SelectiveNaiveBayes
from bayes_engine.models.weighted import WeightedNaiveBayes
from bayes_engine.progress import Cancelled, steps, tick, watched, watching
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.derivation.dependence import all_tested
from tests.conftest import PATIENCE, at_least

Told = list[tuple[float, int]]


@pytest.fixture
def at_every_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PACE", 0.0)


def heard(work: Callable[[], object]) -> Told:
    """All that `work` tells."""
    told: Told = []
    with watching(lambda: False, lambda done, total: told.append((done, total))):
        work()
    return told


@pytest.mark.usefixtures("at_every_tick")
def test_an_inner_loop_fills_its_part_of_the_outer_step() -> None:
    def nested() -> None:
        for _ in steps(range(2)):
            for _ in steps("abcd"):
                tick(1, 2)

    told = heard(nested)
    assert {total for _done, total in told} == {2}
    done = [done for done, _total in told]
    assert done == sorted(done)
    assert done[:4] == [0.0, 0.0, 0.125, 0.25]  # the outer step; a, half of a; b
    assert done[-1] == 1 + 3 / 4 + 1 / 8


@pytest.mark.usefixtures("at_every_tick")
def test_loops_one_after_the_other_fill_their_parts_and_none_stands_at_the_end() -> None:
    def table() -> None:
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({f"x{j}": rng.choice(list("abcd"), 60) for j in range(9)})
        all_tested(TAN().fit(frame, rng.integers(0, 2, 60)))

    done = [done / total for done, total in heard(table) if total == 3]
    assert done == sorted(done) and done[0] < 0.1 and 0.95 < done[-1] < 1
    assert sum(2 / 6 < share < 4 / 6 for share in done) > 20  # in the midst of the tests given the class


@pytest.mark.usefixtures("at_every_tick")
def test_of_a_loop_of_unknown_length_no_share_is_told() -> None:
    assert heard(tick) == [(0.0, 0)]
    assert heard(lambda: list(steps(iter("abc")))) == [(0.0, 0)] * 3
    assert heard(lambda: [list(steps(iter("ab"))) for _ in steps("xy")])[-1] == (1.0, 2)


@pytest.mark.usefixtures("at_every_tick")
def test_it_is_cancelled_at_the_next_step_and_what_watches_is_let_go() -> None:
    seen: list[int] = []
    with pytest.raises(Cancelled), watching(lambda: len(seen) == 3):
        seen.extend(steps(range(10)))
    assert seen == [0, 1, 2] and not watched()


def test_cancelled_is_no_exception_that_anything_mends() -> None:
    assert not issubclass(Cancelled, Exception)


def test_a_broken_off_loop_leaves_no_trace_in_the_next() -> None:
    def broken() -> None:
        for _ in steps(range(5)):
            break
        list(steps("ab"))

    assert all(total == 2 for _done, total in heard(broken)[1:])


def test_each_thread_is_watched_by_itself() -> None:
    inside: list[bool] = []
    with watching(lambda: False):
        thread = threading.Thread(target=lambda: inside.append(watched()))
        thread.start()
        thread.join()
        assert watched()
    assert inside == [False]


def test_it_is_asked_at_a_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    now, asked = 0.0, []
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    with watching(lambda: asked.append(now) is not None, pace=0.05):
        for i in range(100):
            now = i / 100
            tick(i, 100)
    assert asked[0] == 0.0 and 18 <= len(asked) <= 20
    assert min(later - earlier for earlier, later in pairwise(asked)) >= 0.05 - 1e-12


def test_it_costs_nothing_where_nobody_watches() -> None:
    """A look at a context variable: nothing of Python is called but `tick` itself, and a loop is what it was."""
    called: list[str] = []
    sys.setprofile(lambda frame, event, _arg: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        tick(1, 2)
        walked = steps([1, 2])
    finally:
        sys.setprofile(None)
    assert called == ["tick", "steps"] and type(walked) is type(iter([]))


def table(n: int = 3000) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame({f"c{j}": rng.choice(["low", "mid", "high"], n) for j in range(4)})
    return X.assign(**{f"x{j}": rng.normal(y, 1.0) for j in range(3)}), y


X, Y = table()
LEVELS = X.filter(like="c")
LONG: dict[str, Callable[[], object]] = {
    "counting": lambda: NaiveBayes().fit(X, Y),
    "cutting by MDLP": lambda: NaiveBayes(discretize="mdlp").fit(X, Y),
    "AODE": lambda: AODE().fit(X, Y),
    "super-parent": lambda: SPODE().fit(X, Y),
    "a tree": lambda: TAN().fit(X, Y),
    "folds": lambda: held_out(NaiveBayes().fit(X, Y), X, Y),
    "leave-one-out": lambda: NaiveBayes().fit(X, Y).leave_one_out_log_proba(X, Y),
    "kernel densities": lambda: NaiveBayes(likelihoods="kernel").fit(X, Y).predict_proba(X[:5]),
    "a mixture": lambda: GaussianMixture(2, random_state=0).fit(X[["x0", "x1"]]),
    "hidden labels": lambda: SemiSupervisedNB().fit(LEVELS, np.where(np.arange(len(Y)) % 2, Y, np.nan)),
    "weights": lambda: WeightedNaiveBayes(leave_one_out=False).fit(LEVELS[:200], Y[:200]),
    "a choice of columns": lambda: SelectiveNaiveBayes().fit(LEVELS[:200], Y[:200]),
    "a search": lambda: BayesianNetwork().learn(LEVELS),
}


@pytest.mark.usefixtures("at_every_tick")
@pytest.mark.parametrize("work", LONG.values(), ids=LONG)
@pytest.mark.filterwarnings("ignore")
def test_what_takes_long_can_be_called_off(work: Callable[[], object]) -> None:
    calls = 0

    def later() -> bool:
        nonlocal calls
        calls += 1
        return calls > 3

    with pytest.raises(Cancelled), watching(later):
        work()


@pytest.mark.slow
@pytest.mark.skipif(not at_least("scikit-learn", 1, 9), reason="scikit-learn tells its iterations since 1.9")
def test_logistic_regression_of_a_large_table_is_called_off_in_its_midst() -> None:
    """50,000 rows of 100 indicators and twenty classes side by side on a line: hundreds of iterations, a quarter of a
    minute."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 10, (50_000, 10))
    rows = pd.DataFrame({f"c{j}": np.array(list("abcdefghij"))[codes[:, j]] for j in range(10)})
    classes = pd.qcut(codes @ np.arange(1, 11), 20, labels=False)
    model = discriminative_counterpart(Schema.from_dtypes(rows)).set_params(logistic__C=1e12)
    stop, seen, ended = threading.Event(), threading.Semaphore(0), threading.Event()

    def asked() -> bool:
        seen.release()
        return stop.is_set()

    def fit() -> None:
        with suppress(Cancelled), watching(asked, pace=0.0):
            model.fit(rows, classes)
            return
        ended.set()

    thread = threading.Thread(target=fit)
    thread.start()
    for _ in range(40):  # reading takes ten, a column each
        assert seen.acquire(timeout=PATIENCE)
    stop.set()
    assert ended.wait(PATIENCE)
    assert not hasattr(model[-1], "coef_")


@pytest.mark.usefixtures("at_every_tick")
def test_folds_tell_how_many_are_done_whatever_happens_in_them() -> None:
    model = NaiveBayes().fit(X, Y)
    told = heard(lambda: held_out(model, X, Y))
    folds = [done for done, total in told if total == 5]
    assert folds == sorted(folds) and {int(done) for done in folds} == {0, 1, 2, 3, 4}


@pytest.mark.usefixtures("at_every_tick")
def test_a_gibbs_chain_tells_its_sweeps() -> None:
    network = BayesianNetwork().fit(LEVELS).network_
    rng = np.random.default_rng(0)
    told = heard(
        lambda: gibbs(network, network.places({}), rng=rng, settings=GibbsSettings(chains=10, sweeps=20, burn_in=0))
    )
    assert (19.0, 20) in told


def test_hearing_is_of_one_thread_and_leaves_the_filters_alone() -> None:
    before = list(warnings.filters)
    with listen() as notes:
        report(EstimationWarning("column '{column}' is set aside", column="a"))
        assert list(warnings.filters) == before
    assert [str(note) for note in notes] == ["column 'a' is set aside"]
    with pytest.warns(EstimationWarning, match="set aside"):
        report(EstimationWarning("column '{column}' is set aside", column="a"))
