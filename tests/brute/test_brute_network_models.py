"""A network as a model, against every completion enumerated: the classifier wherever its class stands, and EM."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import TAN, BayesianNetwork, BayesianNetworkClassifier, NaiveBayes
from bayes_engine.errors import EstimationWarning
from bayes_engine.factors.network import HIDDEN, Network
from bayes_engine.models import network_query
from bayes_engine.structure.graph import DAG
from tests.conftest import every_other

NAMES = ("a", "b", "c", "d", "kind")
LEVELS = {"a": "uv", "b": "uvw", "c": "uv", "d": "uvw", "kind": "xyz"}


def rows(seed: int, n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.choice(list(LEVELS[name]), n) for name in NAMES})
    frame.loc[rng.random(n) < 0.5, "b"] = frame["a"]  # something to depend on
    frame.loc[rng.random(n) < 0.5, "kind"] = frame["c"].map({"u": "x", "v": "y"})
    return frame


def graph(seed: int) -> DAG:
    rng = np.random.default_rng(seed)
    order = list(rng.permutation(NAMES))
    arcs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :] if rng.random() < 0.5]
    return DAG(NAMES, arcs)


def columns(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    return frame[list("abcd")], frame["kind"]


def enumerated(network: Network, target: str, row: dict[str, Any]) -> np.ndarray:
    """(S,) P(target, row) by summing every completion."""
    levels = [cpt.variable.levels for cpt in network.cpts]
    total = np.zeros(len(network[target].variable.levels))
    for whole in product(*(range(len(v)) for v in levels)):
        named = {cpt.name: cpt.variable.levels[i] for cpt, i in zip(network.cpts, whole, strict=True)}
        if all(pd.isna(v) or named[k] == v for k, v in row.items()):
            at = network[target].variable.levels.index(named[target])
            total[at] += np.exp(network.log_joint(np.array([whole]))[0])
    return total


@pytest.mark.parametrize("seed", range(8))
def test_the_classifier_is_its_network_also_with_cells_missing(seed: int) -> None:
    X, y = columns(rows(seed))
    model = BayesianNetworkClassifier(graph(seed)).fit(X, y)
    rng = np.random.default_rng(seed)
    asked = X.head(12).mask(rng.random((12, 4)) < 0.35)
    joint = np.stack([enumerated(model.network_, "kind", row) for row in asked.to_dict("records")])
    assert np.exp(model.predict_joint_log_proba(asked)) == pytest.approx(joint, abs=1e-12)
    assert model.predict_proba(asked) == pytest.approx(joint / joint.sum(axis=1, keepdims=True), abs=1e-12)
    ledger = model.explain(asked)
    assert np.exp(ledger.joint()) == pytest.approx(joint, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_blanket_alone_gives_the_posterior_of_a_complete_row(seed: int) -> None:
    X, y = columns(rows(seed))
    model = BayesianNetworkClassifier(graph(seed)).fit(X, y)
    outside = [name for name in X if name not in model.blanket_]
    assert model.predict_proba(X.assign(**dict.fromkeys(outside, np.nan))) == pytest.approx(
        model.predict_proba(X), abs=1e-12
    )
    joint = model.predict_joint_log_proba(X)
    whole = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    assert model.predict_proba(X) == pytest.approx(whole, abs=1e-12)


def told_of_a_class_without_rows(y: pd.Series) -> AbstractContextManager[Any]:
    missing = set("xyz") - set(y)
    return pytest.warns(EstimationWarning, match="are never predicted") if missing else nullcontext()


@pytest.mark.parametrize("seed", every_other(range(4)))
def test_leave_one_out_is_a_refit_and_merge_is_a_batch(seed: int) -> None:
    frame = rows(seed, n=24)
    frame.loc[3, "a"] = frame.loc[5, "c"] = np.nan
    X, y = columns(frame)
    shape, schema = graph(seed), BayesianNetworkClassifier("naive").fit(X, y).schema_
    model = BayesianNetworkClassifier(shape, schema=schema).fit(X, y)
    left = model.leave_one_out_log_proba(X, y)
    for i in range(len(X)):
        rest_y = pd.Series(pd.Categorical(y.drop(i), list("xyz")), name="kind")
        with told_of_a_class_without_rows(rest_y):
            rest = BayesianNetworkClassifier(shape, schema=schema).fit(X.drop(i).reset_index(drop=True), rest_y)
        assert left[i] == pytest.approx(rest.predict_log_proba(X.iloc[[i]])[0], abs=1e-9)
    half = BayesianNetworkClassifier(shape, schema=schema).fit(X[:12], y[:12])
    other = BayesianNetworkClassifier(shape, schema=schema).fit(X[12:], y[12:])
    assert half.merge(other).predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-12)


def test_naive_and_tan_are_the_models_of_that_name() -> None:
    X, y = columns(rows(0))
    assert BayesianNetworkClassifier("naive").fit(X, y).predict_proba(X) == pytest.approx(
        NaiveBayes().fit(X, y).predict_proba(X), abs=1e-12
    )
    assert BayesianNetworkClassifier("tan").fit(X, y).predict_proba(X) == pytest.approx(
        TAN().fit(X, y).predict_proba(X), abs=1e-12
    )


def test_em_reaches_what_a_climb_by_hand_reaches() -> None:
    """Two nodes, the parent's cell missing in some rows: the observed likelihood is maximized by brute force."""
    from scipy.optimize import minimize

    frame = pd.DataFrame({"h": list("uuvvuv") + [None] * 6, "x": list("xyxyxx") + list("xxyxyy")})
    model = BayesianNetwork([("h", "x")], alpha=0.0, tol=1e-14).fit(frame)

    def loss(t: np.ndarray) -> float:
        p, a, b = 1 / (1 + np.exp(-t))
        joint = {("u", "x"): p * a, ("u", "y"): p * (1 - a), ("v", "x"): (1 - p) * b, ("v", "y"): (1 - p) * (1 - b)}
        cells = zip(frame["h"], frame["x"], strict=True)
        seen = [joint["u", x] + joint["v", x] if pd.isna(h) else joint[h, x] for h, x in cells]
        return -float(np.log(seen).sum())

    options = {"fatol": 1e-12, "xatol": 1e-9}
    found = [minimize(loss, start, method="Nelder-Mead", options=options) for start in ([0, 0, 0], [1, -1, 1])]
    best = min(found, key=lambda r: r.fun)
    assert model.score_samples(frame).sum() == pytest.approx(-best.fun, abs=1e-7)
    climbed = model.trace_.table()["objective"].diff().dropna()
    assert (climbed >= -1e-9).all()


def test_a_hidden_node_is_found() -> None:
    """Two classes of rows that no column names: the hidden node makes its children independent."""
    rng = np.random.default_rng(3)
    z = rng.random(600) < 0.4
    frame = pd.DataFrame({f"x{j}": np.where(rng.random(600) < np.where(z, 0.9, 0.1), "y", "n") for j in range(4)})
    model = BayesianNetwork([("z", f"x{j}") for j in range(4)], hidden={"z": 2}, random_state=0).fit(frame)
    share = model.query("z")
    assert sorted(share) == pytest.approx([0.4, 0.6], abs=0.05)
    found = model.posterior(frame, "z").argmax(axis=1)
    assert max(np.mean(found == z), np.mean(found != z)) > 0.93
    alone = BayesianNetwork(alpha=1.0).fit(frame)
    assert model.score(frame) > alone.score(frame) + 0.1


def test_rows_with_missing_cells_are_not_dropped() -> None:
    frame = rows(1)
    frame.loc[::3, "a"] = np.nan
    model = BayesianNetwork([("a", "b"), ("b", "c")]).fit(frame[["a", "b", "c"]])
    assert float(model.stats_.counts.tables["c"].sum()) == pytest.approx(len(frame))
    assert model.trace_ is not None and model.trace_.converged
    places = network_query.places_of(model.network_, model.schema_, (), frame[["a", "b", "c"]])
    assert (places == HIDDEN).any()


def test_numbers_are_gaussian_leaves_below_the_class_and_their_parents() -> None:
    frame = rows(2)
    rng = np.random.default_rng(2)
    frame["size"] = rng.normal(size=len(frame)) + (frame["kind"] == "x") + 2.0 * (frame["a"] == "u")
    X, y = frame[["a", "b", "size"]], frame["kind"]
    naive = BayesianNetworkClassifier("naive", discretize=None).fit(X, y)
    assert naive.predict_proba(X) == pytest.approx(NaiveBayes().fit(X, y).predict_proba(X), abs=1e-12)
    below = BayesianNetworkClassifier([("kind", "a"), ("kind", "b"), ("a", "size")], discretize=None, alpha=0.0).fit(
        X, y
    )
    joint = np.zeros((len(X), 3))
    for k, label in enumerate("xyz"):
        mine = frame[y == label]
        for i, row in enumerate(X.itertuples(index=False)):
            cell = mine.loc[mine["a"] == row.a, "size"]
            density = np.exp(-0.5 * (row.size - cell.mean()) ** 2 / cell.var(ddof=0)) / np.sqrt(
                2 * np.pi * cell.var(ddof=0)
            )
            share = (mine["a"] == row.a).mean() * (mine["b"] == row.b).mean() * len(mine) / len(frame)
            joint[i, k] = share * density
    assert np.exp(below.predict_joint_log_proba(X)) == pytest.approx(joint, rel=1e-9)
    with pytest.raises(ValueError, match="can have no children"):
        BayesianNetworkClassifier([("size", "a")], discretize=None).fit(X, y)
