"""The plane of decision regions: how large it may become, and that blocks of it are the whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from bayes_engine import (
    AODE,
    TAN,
    BayesianNetworkClassifier,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Schema,
    WeightedNaiveBayes,
)
from bayes_engine.datasets import load_dataset
from bayes_engine.decision import regions
from bayes_engine.decision.regions import MOST_LEVELS, axis_of, posterior_plane, scatter
from bayes_engine.table.read import read_table
from bayes_engine.workbench.lessons.in_use import case_as_row
from tests.conftest import slowly


def table(levels: int) -> tuple[pd.DataFrame, list[str]]:
    """Columns a and b of many levels, of which the later are the more frequent, and numbers."""
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.arange(levels), np.repeat(np.arange(levels - 5, levels), 3)])
    names = [f"v{k}" for k in range(levels)]
    columns = {name: pd.Categorical.from_codes(rng.permutation(codes), names) for name in "ab"}
    X = pd.DataFrame(columns).assign(x=rng.normal(size=len(codes)))
    return X, rng.choice(["n", "y"], len(codes)).tolist()


@pytest.mark.slow
def test_of_many_levels_the_most_frequent_are_drawn() -> None:
    X, y = table(3000)
    schema = Schema.from_dtypes(X)
    a, b = (axis_of(schema[name], X[name]) for name in "ab")
    assert (len(a.levels), a.of) == (MOST_LEVELS, 3000)
    assert a.levels == tuple(f"v{k}" for k in [*range(MOST_LEVELS - 5), *range(2995, 3000)])  # in the schema's order
    plane = posterior_plane(NaiveBayes().fit(X, y), schema, a, b)
    assert plane.posterior.shape == (MOST_LEVELS, MOST_LEVELS, 2)
    rows = scatter(X, a, b, most=10_000)[2]
    there = X["a"].isin(a.levels) & X["b"].isin(b.levels)
    assert rows == np.flatnonzero(there).tolist()
    few = (
        axis_of(schema["a"], X["a"]).of,
        axis_of(Schema.from_dtypes(X[:9].astype(str))["a"], X["a"][:9].astype(str)).of,
    )
    assert few == (3000, 0)


def test_a_column_may_be_called_self() -> None:
    """pandas' `assign` takes the names of columns as keywords, beside its own `self`."""
    X, y = table(4)
    X = X.rename(columns={"a": "self"})
    schema = Schema.from_dtypes(X)
    across = axis_of(schema["x"], X["x"])
    plane = posterior_plane(NaiveBayes().fit(X, y), schema, across, None, fixed=X.iloc[0].to_dict(), size=5)
    assert np.allclose(plane.posterior.sum(axis=-1), 1.0)
    assert case_as_row(X[:1], "self")["self"].isna().all()
    relation = b"@relation r\n@attribute self numeric\n@attribute c {no,yes}\n@data\n" + b"1,no\n2,yes\n" * 5
    assert read_table(relation, name="r.arff", types={"self": "text"}).frame["self"].tolist()[:2] == ["1", "2"]


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [None, {"b": "v1"}])
def test_a_plane_in_blocks_is_the_plane_at_once(fixed: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(12)
    schema, model = Schema.from_dtypes(X), TAN(discretize=None).fit(X, y)
    axes = axis_of(schema["x"], X["x"]), axis_of(schema["a"], X["a"])
    whole = posterior_plane(model, schema, *axes, fixed, 9)
    monkeypatch.setattr(regions, "MOST_NUMBERS", 2 * 9 * 9)
    parts = posterior_plane(model, schema, *axes, fixed, 9)
    np.testing.assert_array_equal(parts.posterior, whole.posterior)
    np.testing.assert_array_equal(parts.status, whole.status)
    assert posterior_plane(model, schema, *axes, fixed, 20).posterior.shape == (12, 9, 2)  # fewer steps


MODELS = {
    "textbook": NaiveBayes(smoothing="none"),
    "laplace": NaiveBayes(),
    "kernel": NaiveBayes(likelihoods={"密度": "kernel", "含糖率": "kernel"}),
    "cut": NaiveBayes(discretize="mdlp"),
    "weighted": WeightedNaiveBayes(),
    "tan": TAN(discretize="quantile", bins=3),
    "aode": AODE(discretize="quantile", bins=3),
    "network": BayesianNetworkClassifier(discretize="quantile", bins=3),
}
OF_NUMBERS = {"lda": LinearDiscriminantAnalysis(), "qda": QuadraticDiscriminantAnalysis()}


@pytest.mark.slow
@pytest.mark.parametrize("axes", [("密度", "含糖率"), ("色泽", "密度"), ("脐部", "纹理")])
@pytest.mark.parametrize("held", [True, slowly(False)])
@pytest.mark.parametrize("name", list(MODELS))
def test_every_cell_of_a_plane_is_what_the_model_says_of_it(name: str, held: bool, axes: tuple[str, str]) -> None:
    """Of naive Bayes a plane is made of two lines; bit for bit it is what every cell by itself gives."""
    dataset = load_dataset("watermelon3")
    features = dataset.schema.features
    X, y = dataset.frame[list(features.names)], dataset.frame["好瓜"]
    model = clone(MODELS[name]).set_params(**({} if name == "weighted" else {"schema": features})).fit(X, y)
    case = X.iloc[0].to_dict()
    sides = [axis_of(features[a], X[a]) for a in axes]
    plane = posterior_plane(model, features, *sides, case if held else None, 9)
    across, up = (side.ticks(9) for side in sides)
    cells = pd.DataFrame([case | {axes[0]: a, axes[1]: b} for b in up for a in across]).astype(X.dtypes.to_dict())
    ledger = model.explain(cells, None if held else list(axes))
    np.testing.assert_array_equal(plane.posterior.reshape(len(cells), -1), ledger.posterior())
    np.testing.assert_array_equal(plane.status.ravel(), ledger.status)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lines"), [("textbook", True), ("weighted", True), ("tan", False), ("aode", False)])
def test_a_plane_of_naive_bayes_is_explained_on_two_lines_alone(name: str, lines: bool) -> None:
    dataset = load_dataset("watermelon3a")
    X, y = dataset.frame[["密度", "含糖率"]], dataset.frame["好瓜"]
    X = X.assign(更密=X["密度"] > 0.5).astype({"更密": str}) if not lines else X
    model = clone(MODELS[name]).fit(X, y)
    asked: list[int] = []

    class Counting:
        def explain(self, cells: pd.DataFrame, given: object = None) -> object:
            asked.append(len(cells))
            return model.explain(cells, given)

    features = Schema.from_dtypes(X)
    posterior_plane(Counting(), features, *(axis_of(features[a], X[a]) for a in X.columns[:2]), {"更密": "True"}, 30)
    assert (max(asked) == 30) is lines


def test_what_is_integrated_out_of_a_plane_is_not_the_level_missing() -> None:
    X = pd.DataFrame({"a": list("uuvvuvuv"), "b": ["x", None, "y", None, "x", "y", None, "x"]})
    model = NaiveBayes(missing="category").fit(X, list("nnyynyyn"))
    plane = posterior_plane(model, model.schema_, axis_of(model.schema_["a"], X["a"]), None)
    alone = NaiveBayes().fit(X[["a"]], list("nnyynyyn"))
    expected = alone.predict_proba(pd.DataFrame({"a": plane.x.ticks(1)}))
    np.testing.assert_allclose(plane.posterior[0], expected, rtol=1e-12)


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("name", list(OF_NUMBERS))
def test_a_plane_of_discriminant_analysis_is_what_every_cell_by_itself_gives(name: str, held: bool) -> None:
    """Of LDA it is made of two lines: the distance from the mean is the same in all classes."""
    dataset = load_dataset("iris")
    features = dataset.schema.features
    X, y = dataset.frame[list(features.names)], dataset.frame[dataset.schema.target.name]
    model, axes = OF_NUMBERS[name].fit(X, y), [axis_of(v, X[v.name]) for v in features][1:3]
    case, asked = X.iloc[0].to_dict(), []

    class Counting:
        def explain(self, cells: pd.DataFrame, given: object = None) -> object:
            asked.append(len(cells))
            return model.explain(cells, given)

    plane = posterior_plane(Counting(), features, *axes, case if held else None, 9)
    across, up = (side.ticks(9) for side in axes)
    cells = pd.DataFrame([case | {axes[0].name: a, axes[1].name: b} for b in up for a in across])
    ledger = model.explain(cells, None if held else [side.name for side in axes])
    np.testing.assert_array_equal(plane.posterior.reshape(len(cells), -1), ledger.posterior())
    assert (max(asked) == 9) is (name == "lda")
