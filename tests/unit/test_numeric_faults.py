"""The numerical faults (NF01 … NF62) that have no test beside what they concern; and that each of them has one.

A fault's number stands in the name of its test, or in the id of its case, wherever that is in tests/.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from bayes_engine import BayesianNetwork, NaiveBayes
from bayes_engine.decision.compare import rows_held_impossible, score
from bayes_engine.decision.held_out import held_out
from bayes_engine.errors import ParameterError, TableError
from bayes_engine.factors.network import CPT, Network
from bayes_engine.factors.normal_posterior import NormalPosterior
from bayes_engine.inference.junction_tree import JunctionTree
from bayes_engine.structure.graph import DAG
from bayes_engine.table.schema import Variable
from bayes_engine.uncertainty.credible import credible

FAULTS = 62


def test_every_fault_has_a_test() -> None:
    found: set[int] = set()
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        found |= {int(n) for n in re.findall(r"def test_\w*?NF(\d\d)|[\"']NF(\d\d)", text) for n in n if n}
    assert not set(range(1, FAULTS + 1)) - found


def yes_no(name: str) -> Variable:
    return Variable(name, "binary", ("yes", "no"))


# graphs and their tables ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arcs", "said"),
    [
        ([("a", "a")], "a → a"),
        ([("a", "z")], "names 'z', which is no node"),
        ([("a", "b"), ("b", "c"), ("c", "a")], "cycle: a → b → c → a"),
    ],
    ids=["NF46-itself", "NF46-deleted", "NF45-cycle"],
)
def test_an_arc_that_cannot_be(arcs: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        DAG("abc", arcs)


def test_NF46_an_arc_twice() -> None:
    with pytest.raises(ParameterError, match="the arc a → b stands twice"):
        BayesianNetwork([("a", "b"), ("a", "b")]).fit(pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}))


@pytest.mark.parametrize(
    ("p", "said"),
    [
        ([0.5, -0.5], "no probability"),
        ([np.nan, 1.0], "no probability|no number"),
        ([[0.5, 0.5], [0.5, 0.5]], "shape|2 × 2|axes|cells"),
        ([0.2, 0.3, 0.5], "shape|axes|cells|levels|3"),
    ],
    ids=["NF48-negative", "NF48-nan", "NF48-too many axes", "NF48-too many levels"],
)
def test_a_table_that_is_none(p: list[float], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        CPT(yes_no("rain"), (), p)


def test_NF48_a_table_is_never_spread_over_a_new_parent() -> None:
    rain, wet = yes_no("rain"), yes_no("wet")
    model = BayesianNetwork.of(Network([CPT(rain, (), [0.3, 0.7]), CPT(wet, (rain,), [[0.9, 0.1], [0.2, 0.8]])]))
    with pytest.raises(ParameterError):
        model.with_cpt("wet", [0.9, 0.1])
    with pytest.raises(ParameterError):
        model.with_cpt("rain", [[0.3, 0.7], [0.3, 0.7]])


@pytest.mark.slow
def test_NF50_evidence_of_a_denormal_probability() -> None:
    """P(e) = 1e-320 and less, against exact arithmetic in logarithms."""
    n = 400
    cause = yes_no("cause")
    signs = [CPT(yes_no(f"s{i}"), (cause,), [[0.1, 0.9], [0.05, 0.95]]) for i in range(n)]
    network = Network([CPT(cause, (), [0.5, 0.5]), *signs])
    found = JunctionTree(network).marginals(network.places({f"s{i}": "yes" for i in range(n)})[None])
    log_odds = n * np.log(2.0)  # 0.1 / 0.05 each
    assert found.log_evidence[0] == pytest.approx(
        np.log(0.5) + n * np.log(0.1) + np.log1p(np.exp(-log_odds)), rel=1e-12
    )
    assert found.log_evidence[0] < np.log(5e-324)
    assert found.p["cause"][0, 1] == pytest.approx(np.exp(-log_odds), rel=1e-9)


def test_NF51_a_node_with_twenty_parents_is_refused_before_its_table_is_made() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"p{i:02d}": rng.choice(list("abcd"), 50) for i in range(20)})
    frame["child"] = rng.choice(["u", "v"], 50)
    with pytest.raises(ParameterError, match=r"2\.2e\+12 cells|would hold|cells"):
        BayesianNetwork([(name, "child") for name in frame.columns[:20]]).fit(frame)


# functions at their ends -------------------------------------------------------------------------------------------


def test_NF53_a_dirichlet_of_tiny_alpha_draws_no_nan() -> None:
    X, y = pd.DataFrame({"a": ["x", "y", "x", "y"]}), ["u", "v", "u", "v"]
    model = NaiveBayes(alpha=1e-300).fit(X, y)
    table = credible(model, "a").columns["a"]
    drawn = table.draw(model._encode(X[:1]), (), 500, np.random.default_rng(0))
    assert not np.isnan(drawn).any()
    assert (drawn <= 0).all()


@pytest.mark.parametrize("criterion", ["k2", "bdeu"])
def test_NF54_scores_of_extreme_counts_are_finite(criterion: str) -> None:
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": ["u", "v", "v"]})
    found = BayesianNetwork().learn(frame, criterion, sample_weight=np.array([1e15, 1e-300, 3.0]))
    assert all(np.isfinite(cpt.p).all() for cpt in found.network_.cpts)


def normal(n: float, m2: float) -> NormalPosterior:
    """A class of `n` rows, under the noninformative prior."""
    one = [np.array([v]) for v in (0.0, n, n - 1.0, m2, m2 / max(n - 1.0, 1.0))]
    return NormalPosterior(Variable("x", "continuous"), (), *one)


def test_NF55_students_t_with_few_and_with_countless_degrees() -> None:
    low, high = (float(v[0]) for v in normal(2.0, 1.0).mean_interval())
    assert (low, high) == pytest.approx(tuple(stats.t(1, scale=np.sqrt(0.5)).interval(0.95)), rel=1e-12)
    low, high = (float(v[0]) for v in normal(1e300, 1e300).mean_interval())
    assert high == pytest.approx(special.ndtri(0.975) * 1e-150, rel=1e-12)
    low, high = (float(v[0]) for v in normal(1.0, 0.0).variance_interval())
    assert (low, high) == (0.0, np.inf)  # one row says nothing of a spread: infinite, and shown as such


def test_NF56_a_true_class_held_impossible_is_infinite_and_its_row_named() -> None:
    """Of the last two rows, each is the only one of its class with z: left out, z speaks for the other class alone."""
    frame, y = pd.DataFrame({"a": list("xxxxyyyyzz")}), pd.Series(list("ppppqqqqqp"))
    held = held_out(NaiveBayes(smoothing="none").fit(frame, y), frame, y)
    assert rows_held_impossible(held).tolist() == [8, 9]
    assert score(held)["log_loss"] == np.inf
    assert not rows_held_impossible(held_out(NaiveBayes().fit(frame, y), frame, y)).size


def test_NF57_one_class_is_no_curve() -> None:
    with pytest.raises(TableError, match="two classes"):
        NaiveBayes().fit(pd.DataFrame({"a": ["x", "y"]}), ["u", "u"])
