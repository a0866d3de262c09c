"""Laws of the Bayesian network, as a distribution and as a classifier: for any table, any graph, any parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

from bayes_engine import BayesianNetwork, BayesianNetworkClassifier, NaiveBayes, Status
from bayes_engine.priors import Dirichlet
from bayes_engine.structure.graph import DAG, Arc
from tests.conftest import examples, refusable

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
laws = examples(15)
CLASSES, COLUMNS = ["a", "b", "c"], ["colour", "sound", "navel", "root"]
ALPHAS = [0, 0.5, 1.0, Dirichlet.equivalent_sample_size(3.0), {"sound": 2.0, "*": 0.5}]


class Case(NamedTuple):
    """Rows, their classes and whole weights, and arcs without a cycle over columns and class."""

    X: pd.DataFrame
    y: pd.Series
    weight: np.ndarray
    arcs: list[Arc]

    @property
    def rows(self) -> pd.DataFrame:
        """The class as one more column."""
        return self.X.assign(kind=pd.Categorical(self.y, CLASSES))

    def take(self, rows: Any) -> Case:
        X, y = (t.iloc[rows].reset_index(drop=True) for t in (self.X, self.y))
        return Case(X, y, self.weight[rows], self.arcs)


@st.composite
def cases(draw: st.DrawFn, hidden: tuple[float, ...] = (0.0, 0.2)) -> Case:
    """A small table of columns that hang together, levels declared and one of them never seen, under any graph."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(10, 24))
    y = pd.Series(rng.choice(CLASSES, n), name="kind")
    y.iloc[:3] = CLASSES
    sound = np.where(rng.random(n) < 0.7, np.where(y == "a", "dull", "crisp"), rng.choice(["dull", "crisp"], n))
    X = pd.DataFrame({"colour": rng.choice(["green", "dark", "pale"], n, p=[0.6, 0.35, 0.05]), "sound": sound})
    X["navel"] = np.where(rng.random(n) < 0.6, X["colour"].str[:1] + X["sound"].str[:1], "flat")
    X["root"] = rng.choice(["curled", "stiff"], n)
    X = X.mask(rng.random(X.shape) < draw(st.sampled_from(hidden)))
    X = X.astype({"root": pd.CategoricalDtype(["stiff", "curled", "straight"])})
    order = rng.permutation([*COLUMNS, "kind"]).tolist()
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    arcs = [pair for pair in pairs if rng.random() < 0.45]
    return Case(X, y, rng.integers(0, 4, n) + (np.arange(n) < 3), arcs)


def network(case: Case, **parameters: Any) -> BayesianNetwork:
    return BayesianNetwork(case.arcs, **({"missing": "known"} | parameters))


def classifier(case: Case, **parameters: Any) -> BayesianNetworkClassifier:
    return BayesianNetworkClassifier(case.arcs, **parameters)


def refit(model: Any, X: Any, y: Any, weight: Any = None) -> Any:
    """Counted anew from these rows, under the schema and the graph of `model`."""
    fresh = clone(model).set_params(structure=model.graph_, schema=model.schema_)
    return fresh.partial_fit(X, y, CLASSES, weight)


def tables(model: BayesianNetwork) -> list[np.ndarray]:
    return [cpt.p for cpt in model.network_.cpts]


def close(a: Any, b: Any) -> None:
    """Equal, −inf included."""
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def same(a: BayesianNetwork, b: BayesianNetwork) -> None:
    for p, q in zip(tables(a), tables(b), strict=True):
        close(p, q)


# the distribution -----------------------------------------------------------------------------------------------------


@laws
@given(cases(), st.sampled_from(ALPHAS), st.sampled_from(["lidstone", "bdeu"]), st.integers(2, 4), st.integers(2, 4))
def test_merge_is_a_batch_and_associative(case: Case, alpha: Any, smoothing: str, i: int, j: int) -> None:
    whole = network(case, alpha=alpha, smoothing=smoothing).fit(case.rows)
    parts = [
        clone(whole).set_params(schema=whole.schema_).fit(case.rows.iloc[s])
        for s in (slice(0, i), slice(i, i + j), slice(i + j, None))
    ]
    a, b, c = parts
    for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)):
        same(merged, whole)
    same(a.with_params(alpha=2.0), clone(a).set_params(alpha=2.0).fit(case.rows.iloc[:i]))


@laws
@given(cases(), st.sampled_from(["known", "em"]))
def test_weights_are_repeats_and_nothing_weighs_nothing(case: Case, missing: str) -> None:
    model = network(case, missing=missing, tol=1e-12).fit(case.rows, sample_weight=case.weight)
    repeated = case.rows.iloc[np.repeat(np.arange(len(case.y)), case.weight)]
    again = clone(model).set_params(schema=model.schema_).fit(repeated)
    for p, q in zip(tables(model), tables(again), strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-4 if missing == "em" else 1e-12, atol=1e-6)


@laws
@given(cases(), st.sampled_from([0, 1.0]))
def test_the_rows_of_all_tables_are_distributions_and_marginals_those_of_the_joint(case: Case, alpha: float) -> None:
    model = network(case, alpha=alpha).fit(case.rows)
    for p in tables(model):
        close(p.sum(axis=-1), 1.0)
    whole = model.query(model.network_.names)
    assert whole.sum() == pytest.approx(1.0)
    for name, p in model.marginals().items():
        close(whole.groupby(level=name, observed=False).sum().reindex(p.index), p)
    if len(complete := case.rows.dropna()):
        close(model.score_samples(complete), np.log(whole.loc[list(complete.itertuples(index=False, name=None))]))


@laws
@given(cases())
def test_the_order_of_rows_columns_and_names_is_never_felt(case: Case) -> None:
    rng = np.random.default_rng(len(case.y))
    model = network(case).fit(case.rows)
    shuffled = case.rows.iloc[rng.permutation(len(case.y)), rng.permutation(len(COLUMNS) + 1)]
    again = network(case).fit(shuffled)
    for name, p in model.marginals().items():
        close(again.marginals()[name], p)
    close(again.score_samples(case.rows), model.score_samples(case.rows))
    to = {name: f"{name} 2" for name in [*COLUMNS, "kind"]}
    renamed = BayesianNetwork([(to[a], to[b]) for a, b in case.arcs], missing="known").fit(case.rows.rename(columns=to))
    close(renamed.score_samples(case.rows.rename(columns=to)), model.score_samples(case.rows))


@laws
@given(cases(hidden=(0.2,)), st.sampled_from([0, 1.0]))
def test_em_never_falls_and_keeps_to_what_complete_rows_say(case: Case, alpha: float) -> None:
    model = network(case, alpha=alpha, missing="em").fit(case.rows)
    if model.trace_ is not None:
        climb = model.trace_.table()["objective"].to_numpy()
        assert (np.diff(climb) >= -1e-9 * np.abs(climb[1:])).all()
    complete = case.rows.dropna()
    assume(len(complete))
    known = clone(model).set_params(schema=model.schema_)
    same(known.fit(complete), clone(known).set_params(missing="known").fit(complete))


# the classifier -------------------------------------------------------------------------------------------------------


@laws
@given(cases(), st.sampled_from(ALPHAS), st.sampled_from(["marginalize", "category"]))
def test_merging_parts_is_the_fit_of_all_rows_and_forgetting_undoes_it(case: Case, alpha: Any, missing: Any) -> None:
    whole = classifier(case, alpha=alpha, missing=missing).fit(case.X, case.y)
    cut = len(case.y) // 2
    first, second = (
        refit(whole, part.X, part.y) for part in (case.take(np.arange(cut)), case.take(np.arange(cut, len(case.y))))
    )
    for merged in (first.merge(second), second.merge(first)):
        close(merged.predict_joint_log_proba(case.X), whole.predict_joint_log_proba(case.X))
    with refusable():
        left = whole.forget(case.X.iloc[cut:], case.y.iloc[cut:])
    close(left.predict_joint_log_proba(case.X), first.predict_joint_log_proba(case.X))


@laws
@given(cases())
def test_weights_are_repeats_for_the_classifier(case: Case) -> None:
    model = classifier(case).fit(case.X, case.y, sample_weight=case.weight)
    at = np.repeat(np.arange(len(case.y)), case.weight)
    again = refit(model, case.X.iloc[at], case.y.iloc[at])
    close(model.predict_joint_log_proba(case.X), again.predict_joint_log_proba(case.X))


@laws
@given(cases(), st.sampled_from(ALPHAS), st.data())
def test_leaving_one_out_is_the_refit_without_the_row(case: Case, alpha: Any, data: st.DataObject) -> None:
    """The class a parent or a child, the row's cells known or not."""
    model = classifier(case, alpha=alpha).fit(case.X, case.y, sample_weight=case.weight)
    i = data.draw(st.integers(3, len(case.y) - 1))
    assume(case.weight[i] > 0)
    left_out = model.leave_one_out_log_proba(case.X, case.y, sample_weight=case.weight)[i]
    rest = np.arange(len(case.y)) != i
    without = refit(model, case.X[rest], case.y[rest], case.weight[rest])
    ledger = without.explain(case.X.iloc[[i]])
    assume(ledger.status[0] == Status.OK)  # without smoothing the row may be impossible without itself
    close(np.exp(left_out), ledger.posterior()[0])


@laws
@given(cases(), st.sampled_from(ALPHAS), st.sampled_from(["ignore", "smooth"]))
def test_the_rows_of_the_ledger_add_up_to_the_joint_of_the_network(case: Case, alpha: Any, unseen: Any) -> None:
    model = classifier(case, alpha=alpha, unseen=unseen).fit(case.X, case.y)
    ledger = model.explain(case.X)
    joint = model.predict_joint_log_proba(case.X)
    close(ledger.joint(), joint)
    target = model.target_.name
    rows = pd.concat([case.X.assign(**{target: c}) for c in model.classes_])
    asked = BayesianNetwork.of(model.network_).score_samples(rows).reshape(len(model.classes_), -1).T
    barren = [name for name in COLUMNS if case.X[name].isna().all()]
    if not barren:
        close(joint, asked)


@laws
@given(cases())
def test_other_names_for_classes_and_another_order_of_columns_say_the_same(case: Case) -> None:
    model = classifier(case).fit(case.X, case.y)
    turned = classifier(case).fit(case.X[COLUMNS[::-1]], case.y)
    close(turned.predict_proba(case.X[COLUMNS[::-1]]), model.predict_proba(case.X))
    to = {"a": "z", "b": "y", "c": "x"}
    renamed = classifier(case).fit(case.X, case.y.map(to))
    close(renamed.predict_proba(case.X)[:, ::-1], model.predict_proba(case.X))


@laws
@given(cases())
def test_the_class_above_every_column_and_nothing_else_is_naive_bayes(case: Case) -> None:
    star = DAG(("kind", *COLUMNS), [("kind", name) for name in COLUMNS])
    model = BayesianNetworkClassifier(star).fit(case.X, case.y)
    close(model.predict_proba(case.X), NaiveBayes().fit(case.X, case.y).predict_proba(case.X))


@laws
@given(cases(hidden=(0.0,)), st.sampled_from([0.5, 1.0]))
def test_as_a_distribution_and_as_a_classifier_the_graph_has_the_same_tables(case: Case, alpha: float) -> None:
    model = classifier(case, alpha=alpha).fit(case.X, case.y)
    whole = network(case, alpha=alpha).fit(case.rows)
    root = not model.graph_.parents["kind"]  # then the classifier's own rule makes the prior, without smoothing
    if not root:
        close(model.predict_proba(case.X), whole.posterior(case.rows, "kind"))
    for cpt in model.network_.cpts[root:]:
        other = whole.network_[cpt.name]
        to = [cpt.scope.index(name) for name in other.scope]
        close(cpt.p.transpose(to), other.p)
