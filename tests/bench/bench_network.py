"""Exact inference beside pyAgrum, as ratios of CPU time in one run: `python -m tests.bench.bench_network`.

Alarm (37 nodes), five findings at random places and of positive probability; one thread. pyAgrum is asked as one asks
it: an engine, its evidence, `makeInference`, the posteriors; also with one engine for all queries. Needs pyagrum in
the same Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from bayes_engine import BayesianNetwork
from bayes_engine.exchange import read_bif
from bayes_engine.factors.network import HIDDEN
from bayes_engine.inference.junction_tree import JunctionTree
from tests.bench.goals import Ratio, cpu

ALARM = Path(__file__).parent / "alarm.bif"
QUERIES, FINDINGS, TARGET = 1000, 5, "HISTORY"
SINGLE = 100
"""So many queries are asked one by one in a turn; of five turns each is begun with one that is not measured."""


def turns(ask: Callable[[Any], object], evidence: Sequence[Any]) -> Callable[[], None]:
    """Asks with other evidence at each turn and keeps no answer: many kept objects cost time of their own."""
    begins = iter(range(0, len(evidence), SINGLE))

    def turn() -> None:
        begin = next(begins)
        for given in evidence[begin : begin + SINGLE]:
            ask(given)

    return turn


def ratios() -> list[Ratio]:
    peer = pytest.importorskip("pyagrum")
    peer.setNumberOfThreads(1)
    theirs = peer.loadBN(str(ALARM))
    network = read_bif(ALARM)
    tree = JunctionTree(network)
    rng = np.random.default_rng(0)
    places = np.full((3 * QUERIES, len(network.cpts)), HIDDEN)
    for row in places:
        seen = rng.choice(len(row), FINDINGS, replace=False)
        row[seen] = rng.integers(0, np.array(network.sizes)[seen])
    places = places[np.isfinite(tree.log_evidence(places))][:QUERIES]
    evidence = [{network.names[j]: int(row[j]) for j in np.flatnonzero(row != HIDDEN)} for row in places]

    def ask(engine: Any, given: dict[str, int], targets: tuple[str, ...]) -> None:
        engine.setEvidence(given)
        engine.makeInference()
        for name in targets:
            engine.posterior(name)

    def one_target(given: dict[str, int]) -> None:
        engine = peer.LazyPropagation(theirs)
        engine.addTarget(TARGET)
        ask(engine, given, (TARGET,))

    reused = peer.LazyPropagation(theirs)
    reused_target = peer.LazyPropagation(theirs)
    reused_target.addTarget(TARGET)
    batch, target, target_again = cpu(
        lambda: tree.marginals(places),
        lambda: [one_target(given) for given in evidence],
        lambda: [ask(reused_target, given, (TARGET,)) for given in evidence],
    )
    single, fresh, again = cpu(
        lambda: [tree.marginals(places[i : i + 1]) for i in range(SINGLE)],
        lambda: [ask(peer.LazyPropagation(theirs), given, network.names) for given in evidence[:SINGLE]],
        lambda: [ask(reused, given, network.names) for given in evidence[:SINGLE]],
    )
    model = BayesianNetwork.of(network)
    levels = {cpt.name: cpt.variable.levels for cpt in network.cpts}
    named = [{name: levels[name][place] for name, place in given.items()} for given in evidence]
    query, theirs_query, marginals, theirs_marginals = cpu(
        turns(lambda given: model.query(TARGET, given), named),
        turns(lambda given: ask(reused_target, given, (TARGET,)), evidence),
        turns(model.marginals, named),
        turns(lambda given: ask(reused, given, network.names), evidence),
    )
    return [
        Ratio(f"{SINGLE} times `query` of one node / one target, one engine", query, theirs_query, 0.30),
        Ratio(f"{SINGLE} times `marginals` / the same, one engine", marginals, theirs_marginals, 0.30),
        Ratio(f"{QUERIES} queries at once, all marginals / one target, an engine each", batch, target, 0.10),
        Ratio(f"{QUERIES} queries at once, all marginals / one target, one engine", batch, target_again, 0.10),
        Ratio(f"{SINGLE} single queries, all marginals / the same, an engine each", single, fresh, 0.40),
        Ratio(f"{SINGLE} single queries, all marginals / the same, one engine", single, again, 0.40),
    ]


@pytest.mark.bench
def test_exact_inference() -> None:
    with threadpool_limits(1):
        for ratio in ratios():
            assert ratio.value <= ratio.bound, f"{ratio.what}: {ratio.value:.2f}, wanted {ratio.bound:.2f} at most"


if __name__ == "__main__":
    with threadpool_limits(1):
        print(f"{'ratio':>6} {'bound':>6} {'ours/ms':>9} {'peer/ms':>9}")  # noqa: T201
        for ratio in ratios():
            times = f"{ratio.ours * 1e3:9.2f} {ratio.peer * 1e3:9.2f}"
            print(f"{ratio.value:6.3f} {ratio.bound:6.2f} {times}  {ratio.what}")  # noqa: T201
