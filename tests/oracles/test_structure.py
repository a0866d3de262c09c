"""Scores of families as pyAgrum has them, and the optima that every exact search finds on two published samples.

pyAgrum's AIC and BDeu are left out: its AIC takes a bit for a free number, not a nat, and its BDeu is not log P(D|B)
of the published formula (the brute-force tests are).
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.exact_search import exact
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.hill_climbing import ClimbSettings, hill_climb
from bayes_engine.structure.scores import SCORES, Scorer, decomposed_score

PEER: dict[str, Any] = json.loads((Path(__file__).parent / "structure.json").read_text(encoding="utf-8"))
SAMPLES = ("asia", "learning.test")
TWO_CLIMBS = ClimbSettings(perturbations=0)


def counted(name: str, columns: list[str] | None = None, renamed: dict[str, str] | None = None) -> FamilyCounts:
    """The sample as weighted distinct rows, its columns in some order and under some names."""
    sample = PEER[name]
    frame = pd.DataFrame(sample["rows"], columns=[*sample["columns"], "weight"])
    cells = frame[columns or sample["columns"]].rename(columns=renamed or {})
    return FamilyCounts.of(cells, frame["weight"])


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("score", ["log-likelihood", "bic", "k2"])
def test_families_score_as_in_pyagrum(name: str, score: str) -> None:
    scorer = Scorer(counted(name), score)  # type: ignore[arg-type]
    for child, parents, expected in PEER[name]["families"]:
        assert scorer.family(child, parents).score == pytest.approx(expected[score], abs=3e-5), (child, parents)


def test_the_scores_that_bnlearn_prints_for_learning_test() -> None:
    counts = counted("learning.test")
    graph = DAG(counts.names, [("A", "B"), ("A", "D"), ("C", "D"), ("B", "E"), ("F", "E")])
    printed = {"log-likelihood": -23832.13, "aic": -23873.13, "bic": -24006.73, "k2": -23958.70, "bdeu": -24028.09}
    assert {name: round(decomposed_score(counts, graph, name).score, 2) for name in SCORES if name != "mdl"} == printed


@pytest.mark.parametrize("name", SAMPLES)
def test_the_exact_optimum_and_hill_climbing_reaches_it_in_every_order_of_the_columns(name: str) -> None:
    best = PEER[name]["optimum_bic"]
    assert exact(counted(name), "bic").score == pytest.approx(best, abs=1e-4)
    assert exact(counted(name), "mdl").status == "optimum"
    found = set()
    for seed in range(20):
        columns = random.Random(seed).sample(PEER[name]["columns"], len(PEER[name]["columns"]))
        climbed = hill_climb(counted(name, columns), settings=TWO_CLIMBS)
        assert climbed.score == pytest.approx(best, abs=1e-4)
        found.add(frozenset(climbed.graph.arcs))
    assert len(found) == 1


@pytest.mark.parametrize("name", SAMPLES)
def test_names_do_not_decide_how_far_it_climbs(name: str) -> None:
    names = PEER[name]["columns"]
    for seed in range(20):
        renamed = dict(zip(names, random.Random(seed).sample(names, len(names)), strict=True))
        climbed = hill_climb(counted(name, None, renamed), settings=TWO_CLIMBS)
        assert climbed.score == pytest.approx(PEER[name]["optimum_bic"], abs=1e-4)
