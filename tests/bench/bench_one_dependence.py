"""AODE, SPODE and TAN beside Weka and pyAgrum, as ratios of CPU time: `python -m tests.bench.bench_one_dependence`.

One thread, same rows, one run. The peers are not ours to install: WEKA_JAR names the jar of a Weka that has AODE (3.6,
with a JDK of 11 and more in the path), PYAGRUM_PYTHON a Python that has pyAgrum, often another than this one. Without
them their lines are left out. Weka's times are of its steady state, after three warm-ups, and begin with instances that
are coded; ours begin with categoricals, which are, or with an array of int64, which is read first.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bayes_engine import Schema, Variable
from bayes_engine.models.aode import AODE
from bayes_engine.models.k_dependence import KDependence
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.spode import SPODE
from bayes_engine.models.tan import TAN
from bayes_engine.stats.families import all_pairs, count_families
from bayes_engine.stats.labels import Labels
from bayes_engine.structure.dependence import dependences
from bayes_engine.table.encode import encode
from tests.bench.goals import Ratio, cpu

ROWS, COLUMNS, LEVELS, CLASSES = 100_000, 20, 5, 3
MANY_ROWS, MANY_COLUMNS = 1_000_000, 30
PEER_ROWS = 5_000  # what pyAgrum predicts one by one, its time per row does not depend on how many

WEKA = """
import java.io.*; import java.lang.management.*; import weka.core.*; import weka.classifiers.bayes.AODE;
public class Time {
  public static void main(String[] a) throws Exception {
    Instances d = new Instances(new BufferedReader(new FileReader(a[0])));
    d.setClassIndex(d.numAttributes() - 1);
    ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    double fit = 1e9, predict = 1e9, sink = 0;
    for (int r = -3; r < 5; r++) {
      AODE m = new AODE();
      long t0 = clock.getCurrentThreadCpuTime();
      m.buildClassifier(d);
      long t1 = clock.getCurrentThreadCpuTime();
      for (int i = 0; i < d.numInstances(); i++) sink += m.distributionForInstance(d.instance(i))[0];
      long t2 = clock.getCurrentThreadCpuTime();
      if (r >= 0) { fit = Math.min(fit, (t1 - t0) * 1e-9); predict = Math.min(predict, (t2 - t1) * 1e-9); }
    }
    System.out.println(fit + " " + predict);
  }
}
"""
AGRUM_INFORMATION = """
import sys, time, itertools, numpy as np, pandas as pd, pyagrum as gum
gum.setNumberOfThreads(1)
X, y = (np.load(sys.argv[1])[k] for k in "Xy")
frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(c=y)
learner = gum.BNLearner(frame)
start = time.process_time()
for i, j in itertools.combinations(range(X.shape[1]), 2):
    learner.mutualInformation(f"x{i}", f"x{j}", ["c"])
print(time.process_time() - start)
"""
AGRUM_TAN = """
import sys, time, numpy as np, pandas as pd, pyagrum as gum, pyagrum.skbn as skbn
from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
gum.setNumberOfThreads(1)
X, y = (np.load(sys.argv[1])[k].astype(int) for k in "Xy")
frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
model = skbn.BNClassifier(
    type_processor=DiscreteTypeProcessor(), learningMethod="TAN", prior="Smoothing", priorWeight=1
).fit(frame, pd.Series(y, name="c"))
start = time.process_time()
model.predict(frame[: int(sys.argv[2])])
print(time.process_time() - start)
"""


def rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray, Schema]:
    """Columns that depend on the class and on their left neighbour."""
    rng = np.random.default_rng(4)
    y, X = rng.integers(0, CLASSES, n), rng.integers(0, LEVELS, (n, d))
    for j in range(1, d):
        same = rng.random(n) < 0.3
        X[same, j] = (X[same, j - 1] + y[same]) % LEVELS
    levels = tuple(range(LEVELS))
    return X, y, Schema(tuple(Variable(f"x{j}", "categorical", levels, declared=True) for j in range(d)))


def weka(X: np.ndarray, y: np.ndarray) -> list[float]:
    """Seconds of Weka's AODE: fit and predict."""
    jar = os.environ.get("WEKA_JAR")
    if jar is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        table, program = Path(folder, "table.arff"), Path(folder, "Time.java")
        values = ",".join(map(str, range(LEVELS)))
        names = [f"@attribute x{j} {{{values}}}" for j in range(X.shape[1])]
        classes = ",".join(map(str, range(CLASSES)))
        lines = [",".join(map(str, row)) for row in np.column_stack([X, y]).tolist()]
        table.write_text("\n".join(["@relation t", *names, f"@attribute c {{{classes}}}", "@data", *lines, ""]))
        program.write_text(WEKA)
        java = ["java", "-Xmx2g", "-XX:+UseSerialGC", "-Djava.awt.headless=true", "-cp", jar, str(program), str(table)]
        return _seconds(java)


def agrum(code: str, X: np.ndarray, y: np.ndarray, *more: str) -> list[float]:
    """Seconds of a program for pyAgrum on these rows."""
    python = os.environ.get("PYAGRUM_PYTHON")
    if python is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "rows.npz")
        np.savez(data, X=X.astype(np.uint8), y=y.astype(np.uint8))
        return _seconds([python, "-c", code, str(data), *more])


def _seconds(command: list[str]) -> list[float]:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.splitlines()[-1].split()]


def averaged() -> list[Ratio]:
    X, y, schema = rows(ROWS, COLUMNS)
    model, spode = AODE(schema=schema).fit(X, y), SPODE("loo", schema=schema).fit(X, y)
    table, labels = encode(model._frame(X, reset=False), model.schema_), Labels(CLASSES, y)
    coded = pd.DataFrame({v.name: pd.Categorical(x, v.levels) for v, x in zip(schema, X.T, strict=True)})
    classes = pd.Categorical(y)
    fit, fit_coded, predict, predict_coded, left_out = cpu(
        lambda: AODE(schema=schema).fit(X, y),
        lambda: AODE().fit(coded, classes),
        lambda: model.predict_proba(X),
        lambda: model.predict_proba(coded),
        lambda: spode.left_out_sums(table, labels),
        repeats=7,
    )
    what = f"{ROWS:,} x {COLUMNS}, {LEVELS} levels, {CLASSES} classes"
    found = [Ratio(f"leave-one-out of {COLUMNS} SPODEs, {what} / one AODE predict_proba", left_out, predict, 1.5)]
    if peer := weka(X, y):
        for ours, given in ((fit_coded, "categoricals, coded like Weka's instances"), (fit, "an array of int64")):
            found.append(Ratio(f"AODE fit, {what}, from {given} / Weka", ours, peer[0], 0.6))
        for ours, given in ((predict_coded, "categoricals"), (predict, "an array of int64")):
            found.append(Ratio(f"AODE predict_proba, {what}, from {given} / Weka", ours, peer[1], 0.5))
    return found


def informations() -> list[Ratio]:
    X, y, schema = rows(MANY_ROWS, MANY_COLUMNS)
    peer = agrum(AGRUM_INFORMATION, X, y)
    if not peer:
        return []
    model = TAN(schema=schema).fit(X[:1000], y[:1000])
    table, labels = encode(model._frame(X, reset=False), model.schema_), Labels(CLASSES, y)
    stats = model._count(table, labels, model.target_)

    def all_of_them() -> object:
        count_families(table, labels, all_pairs(schema))
        return dependences(stats, False, 1e-9)

    (ours,) = cpu(all_of_them, repeats=3)
    pairs = len(list(itertools.combinations(schema.names, 2)))
    return [Ratio(f"information of {pairs} pairs given the class, {MANY_ROWS:,} rows / pyAgrum", ours, peer[0], 0.05)]


def tree() -> list[Ratio]:
    X, y, schema = rows(ROWS, COLUMNS)
    peer = agrum(AGRUM_TAN, X, y, str(PEER_ROWS))
    if not peer:
        return []
    model = TAN(schema=schema).fit(X, y)
    (ours,) = cpu(lambda: model.predict(X), repeats=5)
    theirs = peer[0] * ROWS / PEER_ROWS
    return [Ratio(f"TAN predict, {ROWS:,} x {COLUMNS} / pyAgrum's BNClassifier", ours, theirs, 0.02)]


def left_out(n: int = 2_000, d: int = 10) -> list[Ratio]:
    """Leave-one-out of every family beside its own prediction; the goal is 2 for AODE. The others' predictions take so
    little that the target, which they need not read, is felt."""
    X, y, _ = rows(n, d)
    rng = np.random.default_rng(0)
    levels, counts = pd.DataFrame(X).astype(str), pd.DataFrame(rng.poisson(3.0 + X)).astype(float)
    numbers = counts + rng.normal(size=(n, d))
    families = {
        "tables": (NaiveBayes(), levels),
        "Gaussians": (NaiveBayes(), numbers),
        "rates": (NaiveBayes(likelihoods="poisson"), counts),
        "kernels": (NaiveBayes(likelihoods="kernel"), numbers),
        "kernels by range": (NaiveBayes(likelihoods="kernel-range"), numbers),
        "SPODE": (SPODE("0"), levels),
        "TAN": (TAN(), levels),
        "k-DB": (KDependence(2), levels),
        "AODE": (AODE(), levels),
    }
    found = []
    for name, (model, frame) in families.items():
        model.fit(frame, y)
        ours, one = cpu(
            lambda model=model, frame=frame: model.leave_one_out_log_proba(frame, y),
            lambda model=model, frame=frame: model.predict_proba(frame),
            repeats=1 if "kernel" in name else 3,
        )
        found.append(
            Ratio(f"leave-one-out of {name}, {n:,} x {d} / predict_proba", ours, one, 2.0 if name == "AODE" else 3.0)
        )
    return found


@pytest.mark.bench
@pytest.mark.parametrize("measure", [left_out, averaged, informations, tree])
def test_ratios(measure: Callable[[], list[Ratio]]) -> None:
    ratios = measure()
    if not ratios:
        pytest.skip("no peer: set PYAGRUM_PYTHON")
    for ratio in ratios:
        assert ratio.value <= ratio.bound, f"{ratio.what}: {ratio.value:.3f}, wanted {ratio.bound:.3f} at most"


if __name__ == "__main__":
    with threadpool_limits(1):
        print(*(f"{pool['internal_api']}: {pool['num_threads']} thread" for pool in threadpool_info()), sep=", ")  # noqa: T201
        print(f"{'ratio':>6} {'bound':>6} {'ours/ms':>9} {'peer/ms':>9}")  # noqa: T201
        for measure in (left_out, averaged, informations, tree):
            for ratio in measure():
                times = f"{ratio.ours * 1e3:9.2f} {ratio.peer * 1e3:9.2f}"
                print(f"{ratio.value:6.3f} {ratio.bound:6.2f} {times}  {ratio.what}")  # noqa: T201
        for name, peer in {"WEKA_JAR": "Weka", "PYAGRUM_PYTHON": "pyAgrum"}.items():
            if name not in os.environ:
                print(f"left out: {peer}, {name} is not set", file=sys.stderr)  # noqa: T201
