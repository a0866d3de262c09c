"""Make `weka.json`: `WEKA_JAR=… python -m tests.oracles.make_weka` writes it anew, `--check` compares with what stands.

Made with Weka 3.6.14 (Debian's package weka, /usr/share/java/weka.jar), the last line of versions whose jar holds AODE,
on OpenJDK 17; Java 11 and more runs the program below from its source. The tables are those that ship, the folds those
of `test_weka.py`. Numbers are cut by Weka's supervised MDLP inside each training fold (`FilteredClassifier`), and Weka
is told every level that a column may have.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayes_engine import load_dataset
from tests.oracles.test_weka import folds

STORED = Path(__file__).parent / "weka.json"
TABLES = ("iris", "wine", "breast-cancer", "penguins", "mushroom", "watermelon2")
SHOWN = 15
"""Posteriors are stored of every n/15-th row, 12 digits each."""

PROGRAM = """
import java.io.*; import weka.core.*; import weka.classifiers.*; import weka.classifiers.bayes.*;
import weka.classifiers.bayes.net.estimate.SimpleEstimator; import weka.classifiers.bayes.net.search.local.TAN;
import weka.classifiers.meta.FilteredClassifier; import weka.filters.supervised.attribute.Discretize;
public class Posteriors {
  static Instances read(String name) throws Exception {
    Instances rows = new Instances(new BufferedReader(new InputStreamReader(new FileInputStream(name), "UTF-8")));
    rows.setClassIndex(rows.numAttributes() - 1);
    return rows;
  }
  static Classifier tree() {
    BayesNet net = new BayesNet();
    net.setSearchAlgorithm(new TAN());
    net.setEstimator(new SimpleEstimator());
    return net;
  }
  public static void main(String[] a) throws Exception {
    Instances train = read(a[0]), test = read(a[1]);
    for (Classifier own : new Classifier[] {new AODE(), tree()}) {
      FilteredClassifier model = new FilteredClassifier();
      model.setFilter(new Discretize());
      model.setClassifier(own);
      model.buildClassifier(train);
      for (int i = 0; i < test.numInstances(); i++) {
        StringBuilder line = new StringBuilder();
        for (double p : model.distributionForInstance(test.instance(i))) line.append(p).append(' ');
        System.out.println(line);
      }
    }
  }
}
"""


def arff(X: pd.DataFrame, y: pd.Series, levels: dict[str, tuple[Any, ...]], classes: list[str]) -> str:
    """The rows as an ARFF; a column without `levels` holds numbers."""

    def quoted(value: Any) -> str:
        return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"

    def domain(values: Any) -> str:
        return "{" + ",".join(map(quoted, values)) + "}"

    head = [f"@attribute {quoted(n)} {domain(levels[n]) if n in levels else 'numeric'}" for n in X]
    cells = [
        ["?" if pd.isna(v) else quoted(v) if name in levels else repr(float(v)) for v in X[name]] for name in X
    ] + [[quoted(c) for c in y]]
    rows = [",".join(row) for row in zip(*cells, strict=True)]
    return "\n".join(["@relation t", *head, f"@attribute 'the class' {domain(classes)}", "@data", *rows, ""])


def answers(name: str, jar: str) -> dict[str, Any]:
    """What Weka says of one table."""
    shipped = load_dataset(name)
    target, features = shipped.schema.target.name, shipped.schema.features
    frame = shipped.frame[shipped.frame[target].notna()].reset_index(drop=True)
    X, y = frame[list(features.names)], frame[target].astype(str)
    levels, classes = {v.name: v.levels for v in features if v.discrete}, sorted(y.unique())
    posterior = np.empty((2, len(y), len(classes)))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "Posteriors.java")
        program.write_text(PROGRAM, encoding="utf-8")
        for k in range(5):
            test = folds(len(y)) == k
            files = [Path(folder, part) for part in ("train.arff", "test.arff")]
            for file, rows in zip(files, (~test, test), strict=True):
                file.write_text(arff(X[rows], y[rows], levels, classes), encoding="utf-8")
            java = ["java", "-Djava.awt.headless=true", "-cp", jar, str(program), *map(str, files)]
            said = subprocess.run(java, check=True, capture_output=True, text=True).stdout
            posterior[:, test] = np.array([line.split() for line in said.splitlines()], float).reshape(
                2, test.sum(), len(classes)
            )
    truth = np.searchsorted(classes, y)
    aode, tan = ((p.argmax(axis=1) == truth).sum() for p in posterior)
    step = max(1, len(y) // SHOWN)
    shown = {str(i): [float(f"{p:.12g}") for p in posterior[0, i]] for i in range(0, len(y), step)}
    return {"rows": len(y), "aode_right": int(aode), "tan_right": int(tan), "aode": shown}


def main(check: bool) -> None:
    """Write the file, or say by how much it differs from what is made now."""
    made = {name: answers(name, os.environ["WEKA_JAR"]) for name in TABLES}
    if not check:
        STORED.write_text(json.dumps(made, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    for name in TABLES:
        one, other = made[name], stored[name]
        assert {k: v for k, v in one.items() if k != "aode"} == {k: v for k, v in other.items() if k != "aode"}, name
        assert one["aode"].keys() == other["aode"].keys(), name
        apart = max(np.abs(np.subtract(p, other["aode"][i])).max() for i, p in one["aode"].items())
        print(f"{name}: the same counts; posteriors differ by {apart:.1e} at most")  # noqa: T201


if __name__ == "__main__":
    main("--check" in sys.argv)
