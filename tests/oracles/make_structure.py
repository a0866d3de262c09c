"""Make `structure.json`: `python tests/oracles/make_structure.py` writes it anew, `--check` compares with what stands.

Made with pyAgrum 3.3.1 and pandas; any Python that has both will do, this project is not needed. The distinct rows of
bnlearn's samples asia and learning.test, with their counts, are data, and the families asked were drawn at random once:
both are read from the file. Every score is `BNLearner.score` of one family times log 2, for pyAgrum's are in bits. The
optimum is the best DAG by these BIC scores, found by dynamic programming over sets of columns (Silander & Myllymäki,
UAI 2006), for pyAgrum has no exact search.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyagrum as gum

STORED = Path(__file__).parent / "structure.json"
SAMPLES = ("asia", "learning.test")
SCORES = {"log-likelihood": "useScoreLog2Likelihood", "bic": "useScoreBIC", "k2": "useScoreK2"}


def learners(sample: dict[str, Any]) -> dict[str, gum.BNLearner]:
    """One learner a score, on the rows of the sample, each as often as it was counted."""
    frame = pd.DataFrame(sample["rows"], columns=[*sample["columns"], "count"])
    rows = frame.loc[frame.index.repeat(frame["count"]), sample["columns"]].reset_index(drop=True)
    made = {}
    for name, use in SCORES.items():
        made[name] = gum.BNLearner(rows)
        made[name].useNoPrior()
        getattr(made[name], use)()
    return made


def optimum(learner: gum.BNLearner, columns: list[str]) -> float:
    """The best sum of family scores over all DAGs, in nats: of every set the best network, by its last column."""
    every = range(len(columns))
    best: dict[frozenset[int], float] = {frozenset(): 0.0}
    of_family = {
        (j, frozenset(up)): learner.score(columns[j], [columns[i] for i in up])
        for j in every
        for size in every
        for up in itertools.combinations([i for i in every if i != j], size)
    }
    for size in range(1, len(columns) + 1):
        for group in map(frozenset, itertools.combinations(every, size)):
            best[group] = max(
                best[group - {j}]
                + max(
                    of_family[j, frozenset(up)]
                    for n in range(size)
                    for up in itertools.combinations(sorted(group - {j}), n)
                )
                for j in group
            )
    return best[frozenset(every)] * math.log(2.0)


def answers(sample: dict[str, Any]) -> dict[str, Any]:
    """The sample with the scores of its families and the best BIC."""
    by_score = learners(sample)
    families = [
        [child, up, {name: round(by_score[name].score(child, up) * math.log(2.0), 6) for name in SCORES}]
        for child, up, _ in sample["families"]
    ]
    return {**sample, "optimum_bic": round(optimum(by_score["bic"], sample["columns"]), 4), "families": families}


def written(source: str, made: dict[str, dict[str, Any]]) -> str:
    """The file, one row or family a line."""
    parts = [f'{{\n"source": {json.dumps(source)}']
    for name, sample in made.items():
        rows, families = (",\n".join(map(json.dumps, sample[key])) for key in ("rows", "families"))
        head = f'"optimum_bic": {sample["optimum_bic"]}, "columns": {json.dumps(sample["columns"])}'
        parts.append(f'{json.dumps(name)}: {{{head},\n"rows": [{rows}],\n"families": [{families}]}}')
    return ",\n".join(parts) + "\n}\n"


def main(check: bool) -> None:
    """Write the file, or say by how much it differs from what is computed now."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    made = {name: answers(stored[name]) for name in SAMPLES}
    if not check:
        STORED.write_text(written(stored["source"], made), encoding="utf-8")
        return
    for name, sample in made.items():
        pairs = zip(sample["families"], stored[name]["families"], strict=True)
        apart = max(abs(one[2][k] - other[2][k]) for one, other in pairs for k in SCORES)
        best = abs(sample["optimum_bic"] - stored[name]["optimum_bic"])
        print(f"{name}: {len(sample['families'])} families differ by {apart:.1e} at most, the optimum by {best:.1e}")  # noqa: T201


if __name__ == "__main__":
    main("--check" in sys.argv)
