"""BayesianNetworkClassifier: the posterior is the network's own, whatever the class's place in it; and the hazards."""

from __future__ import annotations

import itertools
import pickle
import warnings
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from bayes_engine import TAN, BayesianNetworkClassifier, NaiveBayes, load_dataset
from bayes_engine.decision.held_out import held_out
from bayes_engine.errors import EstimationWarning, ParameterError
from bayes_engine.factors.network import Network
from bayes_engine.stats.family_counts import FamilyCounts
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.search import SearchOptions, search
from bayes_engine.table.roles import Parts, take_apart
from bayes_engine.workbench.derivation.check import hint
from bayes_engine.workbench.derivation.conditionals import (
    LevelConditionals,
    class_steps,
    conditional,
    information,
    prior_step,
)
from bayes_engine.workbench.derivation.derive import derive, rows_behind
from bayes_engine.workbench.derivation.latex import to_latex
from bayes_engine.workbench.derivation.parameter_count import model_size
from bayes_engine.workbench.derivation.render import to_text
from tests.conftest import crossed, every_other

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
MELON_ARCS = [
    ("纹理", "好瓜"), ("触感", "好瓜"), ("好瓜", "脐部"), ("色泽", "脐部"), ("脐部", "根蒂"), ("敲声", "触感"),
]  # fmt: skip


def parts(name: str) -> Parts:
    dataset = load_dataset(name)
    return take_apart(dataset.frame, dataset.schema)


def fitted(name: str, **parameters: Any) -> tuple[BayesianNetworkClassifier, Parts]:
    table = parts(name)
    return BayesianNetworkClassifier(schema=table.schema, **parameters).fit(table.X, table.y), table


def enumerated(network: Network, target: str, cells: dict[str, Any]) -> np.ndarray:
    """P(target | cells) by summing the joint over all that is not in `cells`."""
    sizes = [range(len(cpt.variable.levels)) for cpt in network.cpts]
    names = list(network.names)
    total = np.zeros(len(network[target].variable.levels))
    for places in itertools.product(*sizes):
        at = dict(zip(names, places, strict=True))
        if any(network[n].variable.levels[at[n]] != v for n, v in cells.items()):
            continue
        p = 1.0
        for cpt in network.cpts:
            p *= float(cpt.p[(*(at[v.name] for v in cpt.parents), at[cpt.variable.name])])
        total[at[target]] += p
    return total / total.sum()


# the posterior ----------------------------------------------------------------------------------------------------


def test_the_posterior_is_the_networks_by_enumeration_complete_and_with_hidden_cells() -> None:
    model, table = fitted("watermelon2", structure=MELON_ARCS)
    rng = np.random.default_rng(3)
    X = table.X.astype(object).copy()
    hidden = rng.random(X.shape) < 0.4
    hidden[:5] = False
    X = X.mask(hidden)
    got = model.predict_proba(X)
    for i in range(len(X)):
        cells = {n: v for n, v in X.iloc[i].items() if not pd.isna(v)}
        np.testing.assert_allclose(got[i], enumerated(model.network_, "好瓜", cells), atol=1e-12)


def test_a_complete_row_hangs_on_the_markov_blanket_alone() -> None:
    model, table = fitted("watermelon2", structure=MELON_ARCS)
    assert set(model.blanket_) == {"纹理", "触感", "脐部", "色泽"}
    other = table.X.assign(根蒂="硬挺", 敲声="清脆")
    np.testing.assert_allclose(model.predict_proba(table.X), model.predict_proba(other), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["watermelon2", "play-tennis", "iris"])
def test_naive_and_tan_are_the_models_of_that_name(name: str) -> None:
    table = parts(name)
    cut = {"discretize": "mdlp"}
    naive, _ = fitted(name, structure="naive")
    tan, _ = fitted(name, structure="tan")
    alone = NaiveBayes(schema=table.schema, **cut).fit(table.X, table.y)
    tree = TAN(schema=table.schema, **cut).fit(table.X, table.y)
    np.testing.assert_allclose(naive.predict_proba(table.X), alone.predict_proba(table.X), atol=1e-12)
    np.testing.assert_allclose(tan.predict_proba(table.X), tree.predict_proba(table.X), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("structure", "criterion"), crossed(["hill-climb", "exact"], ["mdl", "aic", "k2", "bdeu"]))
def test_a_searched_structure_is_the_searchs_own(structure: Any, criterion: Any) -> None:
    model, table = fitted("watermelon2", structure=structure, criterion=criterion)
    whole = table.X.assign(好瓜=table.y.astype(object))[["好瓜", *table.X.columns]]
    counts = FamilyCounts.of(whole)
    want = search(counts, criterion, method=structure, options=SearchOptions(max_parents=3))
    assert model.search_ is not None
    assert model.search_.score == pytest.approx(want.score, abs=1e-9)
    assert all(len(up) <= 3 for up in model.graph_.parents.values())


def test_leave_one_out_is_the_refit_without_the_row() -> None:
    model, table = fitted("watermelon2", structure=MELON_ARCS)
    got = np.exp(model.leave_one_out_log_proba(table.X, table.y))
    for i in (0, 7, 16):
        keep = np.arange(len(table.X)) != i
        again = BayesianNetworkClassifier(MELON_ARCS, schema=table.schema).fit(table.X[keep], table.y[keep])
        np.testing.assert_allclose(got[i], again.predict_proba(table.X.iloc[[i]])[0], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), crossed(
    ["watermelon2", "penguins", "iris", "play-tennis"],
    [{}, {"criterion": "aic"}, {"missing": "category", "unseen": "smooth"}],
))  # fmt: skip
def test_the_ledger_adds_up_to_the_prediction(name: str, parameters: dict[str, Any]) -> None:
    model, table = fitted(name, **parameters)
    rows = table.X.head(12)
    np.testing.assert_allclose(model.explain(rows).posterior(), model.predict_proba(rows), atol=1e-10)


def test_given_some_cells_only_the_others_are_summed_out() -> None:
    model, table = fitted("watermelon2", structure=MELON_ARCS)
    one = table.X.iloc[[0]]
    got = model.explain(one, given=["纹理", "脐部"]).posterior()[0]
    cells = {n: one[n].iloc[0] for n in ("纹理", "脐部")}
    np.testing.assert_allclose(got, enumerated(model.network_, "好瓜", cells), atol=1e-12)


def test_the_prior_of_a_class_with_parents_is_its_marginal() -> None:
    model, _ = fitted("watermelon2", structure=MELON_ARCS)
    want = enumerated(model.network_, "好瓜", {})
    assert list(model.prior_by_class.values()) == pytest.approx(want.tolist(), abs=1e-12)
    assert model.class_prior_.tolist() == list(model.prior_by_class.values())
    assert prior_step(model).factors == pytest.approx(want.tolist(), abs=1e-12)


# the working ------------------------------------------------------------------------------------------------------


def test_the_working_multiplies_to_the_joint_and_its_rows_are_the_counts() -> None:
    model, table = fitted("watermelon2", structure=MELON_ARCS)
    working = derive(model, table.X.iloc[[3]])
    assert not working.omitted
    whole = table.X.assign(好瓜=table.y)
    for k, label in enumerate(working.classes):
        assert np.prod([s.factors[k] for s in working.steps]) == pytest.approx(working.joint[k], rel=1e-12)
        for step in working.steps:
            assert len(rows_behind(whole, "好瓜", step, label)) == step.sources[k].count  # type: ignore[union-attr]
    alike = [s for s in working.steps if s.alike]
    assert {s.row.child for s in alike} == {"色泽", "纹理", "触感", "敲声", "根蒂"}
    assert all(s.factors[0] == s.factors[1] for s in alike)
    text = to_text(working)
    assert "P(好瓜=是 | 纹理=" in text
    assert "P(纹理=清晰) = (9+1)/(17+3)" in text
    assert r"P(\text{纹理}=\text{清晰}) &=" in to_latex(working)


def test_hints_count_rows_of_every_class_where_the_class_is_no_parent() -> None:
    model, table = fitted("watermelon2", structure=MELON_ARCS)
    working = derive(model, table.X.iloc[[3]])
    at = {step.row.child: i for i, step in enumerate(working.steps)}
    root = str(hint(working, at["根蒂"], 0, "0.123"))
    assert "the rows of every class with 脐部 = 凹陷" in root
    assert "根蒂 = 蜷缩" in root
    assert "all rows" in str(hint(working, at["纹理"], 0, "0.123"))
    own = str(hint(working, at["好瓜"], 1, "0.123"))
    assert f"count those with 好瓜 = {working.classes[1]}" in own


def test_hidden_cells_in_the_working_name_the_class_only_where_it_belongs() -> None:
    model, table = fitted("watermelon2", structure=MELON_ARCS)
    X = table.X.iloc[[3]].copy()
    X["触感"] = pd.Categorical([None], categories=table.X["触感"].cat.categories) if hasattr(X["触感"], "cat") else None
    text = to_text(derive(model, X))
    assert "E log P(好瓜=是 | 纹理=清晰, 触感)" in text
    assert "E log P(触感 | 敲声=" in text


def test_conditionals_of_a_column_that_the_class_is_no_parent_of() -> None:
    model, _ = fitted("watermelon2", structure=MELON_ARCS)
    root = conditional(model, "根蒂", given={"脐部": "凹陷"})
    assert isinstance(root, LevelConditionals)
    assert root.alike
    cpt = model.network_["根蒂"]
    place = list(cpt.parents[0].levels).index("凹陷")
    for k in range(2):
        assert [s.factors[k] for s in root.steps] == pytest.approx(cpt.p[place].tolist())
    navel = conditional(model, "脐部", given={"色泽": "青绿"})
    assert isinstance(navel, LevelConditionals)
    assert not navel.alike


def test_the_class_with_parents_as_steps() -> None:
    model, _ = fitted("watermelon2", structure=MELON_ARCS)
    steps = class_steps(model)
    cpt = model.network_["好瓜"]
    assert len(steps) == cpt.p.size // 2
    got = {tuple(c.value for c in s.given): s.factors for s in steps}
    for a, texture in enumerate(cpt.parents[0].levels):
        for b, touch in enumerate(cpt.parents[1].levels):
            assert got[texture, touch] == pytest.approx(cpt.p[a, b].tolist())
    assert class_steps(fitted("watermelon2", structure="tan")[0]) == ()


def test_size_counts_the_networks_numbers_and_information_is_naive() -> None:
    model, table = fitted("watermelon2", structure=MELON_ARCS)
    found = model_size(model)
    assert found.factor_cells == sum(cpt.p.size for cpt in model.network_.cpts)
    free = sum(cpt.p.size // cpt.p.shape[-1] * (cpt.p.shape[-1] - 1) for cpt in model.network_.cpts)
    assert found.factor_free == free
    naive = NaiveBayes(schema=table.schema).fit(table.X, table.y)
    assert information(model) == pytest.approx(information(naive))


# hazards ----------------------------------------------------------------------------------------------------------


def test_a_class_that_nothing_joins_is_its_prior() -> None:
    X, y = pd.DataFrame({"a": list("xyxy") * 9, "b": list("xxyy") * 9}), pd.Series(list("nnny") * 9, name="c")
    with pytest.warns(EstimationWarning, match="the class prior alone decides"):
        model = BayesianNetworkClassifier([("a", "b")]).fit(X, y)
    assert model.blanket_ == ()
    np.testing.assert_allclose(model.predict_proba(X), np.tile([0.75, 0.25], (36, 1)))
    np.testing.assert_allclose(model.explain(X.head(3)).posterior(), np.tile([0.75, 0.25], (3, 1)))
    assert derive(model, X.head(1)).posterior == pytest.approx((0.75, 0.25))


def test_a_target_called_like_a_column_is_refused_with_what_to_do() -> None:
    X = pd.DataFrame({"a": list("xyxy"), "b": list("xxyy")})
    with pytest.raises(ParameterError, match="the target and a column are both called 'a'"):
        BayesianNetworkClassifier().fit(X, pd.Series(list("nnyy"), name="a"))


@pytest.mark.slow
def test_an_unnamed_target_and_a_numeric_one() -> None:
    X = pd.DataFrame({"a": list("xyxy") * 9, "b": list("xxyy") * 9})
    for y in (list("nyny") * 9, np.array([0, 1, 0, 1] * 9), np.array([1.5, 2.5, 1.5, 2.5] * 9) > 2):
        model = BayesianNetworkClassifier().fit(X, y)
        assert model.blanket_ == ("a",)
        assert (model.predict(X) == np.asarray(y)).all()
        assert model.graph_.nodes[0] == model.target_.name


@pytest.mark.parametrize(
    ("arcs", "said"),
    [
        ([("纹理", "好瓜"), ("纹理", "好瓜")], "纹理 → 好瓜 stands twice"),
        ([("纹理", "好瓜", "色泽")], "is no arc"),
        (["纹理"], "is no arc"),
        (iter([("纹理", "好瓜")]), "no list of arcs"),
        (None, "structure=None is no list of arcs"),
    ],
)
def test_arcs_are_a_list_of_different_pairs(arcs: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        fitted("watermelon2", structure=arcs)


def test_the_declared_classes_keep_the_targets_name() -> None:
    X, y = pd.DataFrame({"a": list("xyxy")}), pd.Series(list("nnyy"), name="kind")
    model = BayesianNetworkClassifier([("kind", "a")]).partial_fit(X[:2], y[:2], ["n", "y"]).partial_fit(X[2:], y[2:])
    assert model.target_.name == "kind" and model.classes_.tolist() == ["n", "y"]


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"in_folds": True}])
def test_rows_are_held_out_under_the_targets_own_name(parameters: dict[str, Any]) -> None:
    table = parts("watermelon2")
    arcs = [(table.target.name, name) for name in table.X]
    models = (BayesianNetworkClassifier(arcs), NaiveBayes())
    network, naive = (held_out(m.fit(table.X, table.y), table.X, table.y, **parameters) for m in models)
    np.testing.assert_allclose(network.log_posterior, naive.log_posterior, rtol=1e-9)


def test_a_cycle_or_an_unknown_node_is_named() -> None:
    with pytest.raises(ParameterError, match="纹理"):
        fitted("watermelon2", structure=[("纹理", "好瓜"), ("好瓜", "纹理")])
    with pytest.raises(ParameterError, match="形状"):
        fitted("watermelon2", structure=[("形状", "好瓜")])


def test_a_column_without_a_value_takes_no_part() -> None:
    X = pd.DataFrame({"a": list("xyxy") * 9, "empty": pd.Series([None] * 36, dtype=object)})
    y = pd.Series(list("nyny") * 9, name="c")
    for structure in ("hill-climb", "exact", "naive", "tan", [("c", "a"), ("empty", "c")]):
        model = BayesianNetworkClassifier(structure).fit(X, y)
        assert (model.predict(X) == y).all(), structure


@pytest.mark.parametrize(
    ("structure", "missing", "unseen"),
    crossed(["hill-climb", "naive", "tan", "arcs"], ["marginalize", "category"], ["ignore", "smooth"]),
)
def test_unseen_values_and_missing_cells_have_a_posterior(missing: Any, unseen: Any, structure: Any) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.choice(list("uvw"), (120, 4)), columns=list("abcd"))
    y = pd.Series(np.where((X["a"] == "u") | (X["b"] == "v"), "yes", "no"), name="t")
    X = X.mask(rng.random(X.shape) < 0.15)
    arcs: Any = [("a", "t"), ("t", "b"), ("b", "c"), ("c", "d"), ("t", "d")] if structure == "arcs" else structure
    model = BayesianNetworkClassifier(arcs, missing=missing, unseen=unseen).fit(X, y)
    new = X.head(20).copy()
    new.iloc[:10, 0] = "never seen"
    new.iloc[5:15, 3] = "nor this"
    p = model.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(model.explain(new).posterior(), p, atol=1e-10)
    for i in range(0, 20, 4):
        assert derive(model, new.iloc[[i]]).posterior == pytest.approx(tuple(p[i]), abs=1e-9)


def test_a_prior_that_is_stated_keeps_the_class_a_root() -> None:
    model, table = fitted("watermelon2", criterion="aic", priors="uniform")
    assert model.graph_.parents["好瓜"] == ()
    with pytest.raises(ParameterError, match="the class has parents here"):
        BayesianNetworkClassifier(MELON_ARCS, priors="uniform", schema=table.schema).fit(table.X, table.y)


def test_numbers_as_gaussian_leaves_have_no_children() -> None:
    model, table = fitted("iris", discretize=None)
    alone = NaiveBayes(schema=table.schema).fit(table.X, table.y)
    np.testing.assert_allclose(model.predict_proba(table.X), alone.predict_proba(table.X), atol=1e-9)
    with pytest.raises(ParameterError, match="can have no children"):
        fitted("iris", discretize=None, structure=[("sepal length", "sepal width")])


# scikit-learn -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_clone_parameters_output_pickle_and_a_grid() -> None:
    X, y = pd.DataFrame({"a": list("xyxy") * 9, "b": list("xxyy") * 9}), pd.Series(list("nnyn") * 9, name="c")
    model = BayesianNetworkClassifier(DAG(("c", "a", "b"), [("c", "a")]), "aic", max_parents=2, alpha=0.5)
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert clone(BayesianNetworkClassifier(MELON_ARCS)).structure == MELON_ARCS
    assert again.set_params(structure="tan").structure == "tan"
    model.fit(X, y)
    back = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    found = GridSearchCV(
        BayesianNetworkClassifier(),
        {"structure": ["naive", "tan", "hill-climb", [("a", "c"), ("b", "c")]], "alpha": [0.5, 1.0]},
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert found.best_score_ == 1.0
    assert len(found.cv_results_["params"]) == 8


@pytest.mark.slow
def test_another_estimate_keeps_the_structure_and_merging_is_the_fit_of_all_rows() -> None:
    model, table = fitted("watermelon2", criterion="aic")
    harder = model.with_params(alpha=3.0)
    assert harder.graph_ == model.graph_
    again = BayesianNetworkClassifier(model.graph_, alpha=3.0, schema=table.schema).fit(table.X, table.y)
    np.testing.assert_allclose(harder.predict_proba(table.X), again.predict_proba(table.X), atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = BayesianNetworkClassifier(MELON_ARCS, schema=table.schema).fit(table.X[::2], table.y[::2])
        second = BayesianNetworkClassifier(MELON_ARCS, schema=table.schema).fit(table.X[1::2], table.y[1::2])
    whole, _ = fitted("watermelon2", structure=MELON_ARCS)
    both = first.merge(second)
    np.testing.assert_allclose(both.predict_proba(table.X), whole.predict_proba(table.X), atol=1e-12)


@pytest.mark.parametrize(
    "parameters", every_other([{}, {"alpha": 0}, {"discretize": None}, {"unseen": "smooth"}, {"structure": "tan"}])
)
def test_many_rows_with_cells_missing_have_the_posterior_that_the_ledger_says(parameters: dict[str, Any]) -> None:
    """The junction tree, the class's blanket and the ledger are three ways to one number; unseen values among them."""
    data = load_dataset("penguins")
    y, X = data.frame["species"], data.frame.drop(columns="species")
    model = BayesianNetworkClassifier(**parameters).fit(X, y)
    hidden = X.mask(np.random.default_rng(0).random(X.shape) < 0.3)
    hidden["island"] = hidden["island"].astype(object).where(hidden.index % 9 != 0, "Atlantis")
    tree = BayesianNetworkClassifier._inferred
    with patch.object(BayesianNetworkClassifier, "_inferred", autospec=True, side_effect=tree) as asked:
        found = model.predict_proba(hidden)
    assert asked.called
    np.testing.assert_allclose(found, model.explain(hidden).posterior(), rtol=1e-9, atol=1e-12)


def test_only_features_can_be_given() -> None:
    model, table = fitted("watermelon2")
    for name in ("好瓜", "形状"):
        with pytest.raises(ParameterError, match=f"'{name}' is no feature of this model"):
            model.explain(table.X.head(1), given=[name])
