"""Hill climbing beside pyAgrum, by CPU time and by the scores reached: `python -m tests.bench.bench_search`.

One thread, same rows, BIC: 10,000 drawn from the alarm network. PYAGRUM_PYTHON names a Python that has pyAgrum. Both
sides read the rows from one CSV file, or take them from one frame in memory; ours climbs with its defaults. The scores
are compared over 20 orders of the columns, every graph of theirs scored by us. BN_SAMPLES names a folder with bnlearn's
samples (bn-alarm5000.csv, bn-insurance3000.csv and the two small ones), where R bnlearn's hill climbing reached what is
written here; ours must be no worse at the median over 20 orders of the columns and over 20 permutations of their names.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bayes_engine.exchange.bif import read_bif
from bayes_engine.inference.forward_sampling import sample
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.hill_climbing import hill_climb
from bayes_engine.structure.scores import decomposed_score
from tests.bench.bench_naive_bayes import Ratio, cpu

ALARM = Path(__file__).parent / "alarm.bif"
ROWS, ORDERS, SLACK = 10_000, 20, 0.01
BNLEARN = {
    "bn-asia": -11107.2933,
    "bn-learning.test": -24006.7342,
    "bn-alarm5000": -56013.15,
    "bn-insurance3000": -41499.12,
}
AGRUM = """
import sys, time, json, pandas as pd, pyagrum as gum
gum.setNumberOfThreads(1)
def learned(source):
    start = time.process_time()
    learner = gum.BNLearner(source)
    learner.useScoreBIC()
    learner.useGreedyHillClimbing()
    arcs = learner.learnDAG().arcs()
    taken = time.process_time() - start
    names = learner.names()
    return taken, [(names[a], names[b]) for a, b in arcs]
orders = []
for path in sys.argv[1:]:
    orders.append(learned(path)[1])
frame = pd.read_csv(sys.argv[1], dtype="category")
from_file, from_frame = (min(learned(source)[0] for _ in range(5)) for source in (sys.argv[1], frame))
print(json.dumps({"file": from_file, "frame": from_frame, "arcs": orders}))
"""


def counted(frame: pd.DataFrame) -> FamilyCounts:
    return FamilyCounts.of(frame)


def alarm() -> pd.DataFrame:
    """10,000 rows of the alarm network."""
    network = read_bif(ALARM)
    places = sample(network, ROWS, np.random.default_rng(0))
    levels = {cpt.name: np.array(cpt.variable.levels, dtype=object) for cpt in network.cpts}
    return pd.DataFrame({name: levels[name][places[:, j]] for j, name in enumerate(network.names)})


def shuffled(names: Sequence[str]) -> list[list[str]]:
    return [random.Random(seed).sample(list(names), len(names)) for seed in range(ORDERS)]


def climbing() -> tuple[list[Ratio], dict[str, list[float]]]:
    """Times, and the scores that both reach in every order of the columns."""
    python, frame = os.environ.get("PYAGRUM_PYTHON"), alarm()
    if python is None:
        return [], {}
    orders = shuffled(frame.columns)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{k}.csv") for k in range(ORDERS)]
        for order, path in zip(orders, paths, strict=True):
            frame[order].to_csv(path, index=False)
        done = subprocess.run([python, "-c", AGRUM, *map(str, paths)], check=True, capture_output=True, text=True)
        peer = json.loads(done.stdout.splitlines()[-1])
        categories = pd.read_csv(paths[0], dtype="category")
        from_file, from_frame = cpu(
            lambda: hill_climb(counted(pd.read_csv(paths[0], dtype="category"))),
            lambda: hill_climb(counted(categories)),
            repeats=5,
        )
    counts = counted(frame)
    scores = {
        "ours": [hill_climb(counted(frame[order])).score for order in orders],
        "pyAgrum": [decomposed_score(counts, DAG(counts.names, map(tuple, arcs))).score for arcs in peer["arcs"]],
    }
    what = f"hill climbing with BIC, alarm, {ROWS:,} rows"
    return [
        Ratio(f"{what}, from a CSV file / pyAgrum", from_file, peer["file"], 0.7),
        Ratio(f"{what}, from a frame / pyAgrum", from_frame, peer["frame"], 0.7),
    ], scores


def samples() -> list[tuple[str, list[float], float]]:
    """What ours reaches on bnlearn's samples: over orders of the columns, then over names; and bnlearn's score."""
    folder = os.environ.get("BN_SAMPLES")
    if folder is None:
        return []
    found = []
    for name, goal in BNLEARN.items():
        frame = pd.read_csv(Path(folder, f"{name}.csv"), dtype=str, keep_default_na=False)
        orders = shuffled(frame.columns)
        renamed = (frame.rename(columns=dict(zip(frame.columns, order, strict=True))) for order in orders)
        found.append((f"{name}, columns in {ORDERS} orders", reached(frame[order] for order in orders), goal))
        found.append((f"{name}, names in {ORDERS} permutations", reached(renamed), goal))
    return found


def reached(frames: object) -> list[float]:
    return [hill_climb(counted(frame)).score for frame in frames]  # type: ignore[attr-defined]


@pytest.mark.bench
def test_ratios_and_scores_against_pyagrum() -> None:
    ratios, scores = climbing()
    if not ratios:
        pytest.skip("no peer: set PYAGRUM_PYTHON")
    for ratio in ratios:
        assert ratio.value <= ratio.bound, f"{ratio.what}: {ratio.value:.3f}, wanted {ratio.bound:.3f} at most"
    assert statistics.median(scores["ours"]) >= statistics.median(scores["pyAgrum"])


@pytest.mark.bench
def test_scores_against_bnlearn() -> None:
    found = samples()
    if not found:
        pytest.skip("no samples: set BN_SAMPLES")
    for what, scores, goal in found:
        assert statistics.median(scores) >= goal - SLACK, what


def _main(report: Callable[[str], object]) -> None:
    with threadpool_limits(1):
        report(", ".join(f"{pool['internal_api']}: {pool['num_threads']} thread" for pool in threadpool_info()))
        ratios, scores = climbing()
        report(f"{'ratio':>6} {'bound':>6} {'ours/ms':>9} {'peer/ms':>9}")
        for ratio in ratios:
            times = f"{ratio.ours * 1e3:9.2f} {ratio.peer * 1e3:9.2f}"
            report(f"{ratio.value:6.3f} {ratio.bound:6.2f} {times}  {ratio.what}")
        report(f"{'worst':>11} {'median':>11} {'best':>11} {'bnlearn':>11}")
        for what, found in scores.items():
            report(f"{min(found):11.2f} {statistics.median(found):11.2f} {max(found):11.2f} {'':11}  alarm, {what}")
        for what, found, goal in samples():
            report(f"{min(found):11.2f} {statistics.median(found):11.2f} {max(found):11.2f} {goal:11.2f}  {what}")


if __name__ == "__main__":
    for name in ("PYAGRUM_PYTHON", "BN_SAMPLES"):
        if name not in os.environ:
            print(f"{name} is not set: what needs it is left out", file=sys.stderr)  # noqa: T201
    _main(print)
