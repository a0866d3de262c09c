"""One door for every table: the same columns give the same model, whichever library holds them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import cross_val_score

from bayes_engine import (
    TAN,
    BayesianNetwork,
    CalibratedClassifier,
    EstimationWarning,
    GaussianMixture,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MDLPDiscretizer,
    NaiveBayes,
    Schema,
    SelectiveNaiveBayes,
    SemiSupervisedNB,
    Variable,
    held_out,
    read_table,
)
from bayes_engine.errors import CellTypeError, TableError, listen
from bayes_engine.table.dataframes import as_frame, to_pandas
from tests.conftest import at_least, every_other

N = 60
rng = np.random.default_rng(19)
CLASS = np.where(rng.random(N) < 0.5, "good", "bad")
TABLE = pd.DataFrame(
    {
        "mass": rng.normal(size=N) + 3 * (CLASS == "good"),
        "seeds": rng.integers(0, 9, N),
        "colour": pd.Series(np.where(rng.random(N) < 0.3, "green", "dark")).mask(rng.random(N) < 0.1),
        "ripe": rng.random(N) < 0.4,
        "size": pd.Categorical(rng.choice(["small", "large"], N), ["small", "large", "huge"]),
    }
)
TABLE.loc[3, "mass"] = np.nan


def polars(frame: Any) -> Any:
    pl = pytest.importorskip("polars")
    columns = {str(name): column.astype(object).where(column.notna(), None).tolist() for name, column in frame.items()}
    kinds = {"mass": pl.Float64, "size": pl.Enum(["small", "large", "huge"])}
    return pl.DataFrame(columns, schema_overrides={k: v for k, v in kinds.items() if k in columns})


def arrow(frame: pd.DataFrame) -> Any:
    return pa.Table.from_pandas(frame, preserve_index=False)


def arrow_batch(frame: pd.DataFrame) -> Any:
    return pa.RecordBatch.from_pandas(frame, preserve_index=False)


def objects(frame: pd.DataFrame) -> Any:
    return frame.astype(object)


def narwhals(frame: pd.DataFrame) -> Any:
    return nw.from_native(arrow(frame))


MODELS = [NaiveBayes(), TAN(discretize="quantile", bins=3), CalibratedClassifier()]
HOLDERS = [polars, arrow, arrow_batch, narwhals]


@pytest.mark.parametrize("held", HOLDERS)
def test_the_schema_is_the_same_whichever_library_holds_the_table(held: Any) -> None:
    expected = Schema.from_dtypes(TABLE)
    assert Schema.from_dtypes(as_frame(held(TABLE))) == expected
    assert Schema.infer(held(TABLE)) == Schema.infer(TABLE)
    assert [v.name for v in expected if v.numeric] == ["mass", "seeds"]
    assert expected["size"].levels == ("small", "large", "huge") and expected["size"].declared


@pytest.mark.slow
@pytest.mark.parametrize("held", HOLDERS)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_the_posterior_is_the_same_whichever_library_holds_the_table(held: Any, model: Any) -> None:
    expected = model.fit(TABLE, CLASS).predict_proba(TABLE)
    X, y = held(TABLE), to_pandas(held(pd.DataFrame({"class": CLASS})))["class"]
    found = model.fit(X, y)
    assert list(found.feature_names_in_) == list(TABLE)
    np.testing.assert_array_equal(found.predict_proba(X), expected)


@pytest.mark.parametrize("held", [polars, arrow])
def test_labels_keep_their_name_and_their_declared_classes(held: Any) -> None:
    X, labels = held(TABLE), held(pd.DataFrame({"verdict": CLASS}))["verdict"]
    model = NaiveBayes().fit(X, labels)
    assert model.classes_.tolist() == ["bad", "good"]
    assert model.target_.name == ("verdict" if held is polars else "class")  # an Arrow column has no name
    assert SemiSupervisedNB().fit(X, labels).classes_.tolist() == ["bad", "good"]


def test_an_enum_declares_the_classes() -> None:
    pl = pytest.importorskip("polars")
    labels = pl.Series("verdict", CLASS.tolist(), dtype=pl.Enum(["good", "bad", "rotten"]))
    with listen():  # of a class without rows
        model = NaiveBayes(priors="laplace").fit(TABLE, labels)
    assert model.classes_.tolist() == ["bad", "good", "rotten"]


def test_a_polars_categorical_has_the_levels_that_it_holds() -> None:
    pl = pytest.importorskip("polars")
    pl.Series(["elsewhere"], dtype=pl.Categorical)
    frame = pl.DataFrame({"colour": pl.Series(["green", None, "dark"], dtype=pl.Categorical)})
    assert Schema.from_dtypes(as_frame(frame))["colour"].levels == ("dark", "green")


@pytest.mark.slow
@pytest.mark.parametrize("held", every_other(HOLDERS))
def test_every_reader_of_numbers_takes_it(held: Any) -> None:
    part = TABLE[["mass", "seeds"]].fillna(0.0)
    X = held(part)
    for model in (GaussianNB(), LinearDiscriminantAnalysis()):
        expected = model.fit(part, CLASS).predict_proba(part)
        np.testing.assert_array_equal(model.fit(X, CLASS).predict_proba(X), expected)
        assert list(model.feature_names_in_) == ["mass", "seeds"]
    mixture = GaussianMixture(2, random_state=0)
    np.testing.assert_array_equal(mixture.fit(X).predict_proba(X), mixture.fit(part).predict_proba(part))
    cuts = MDLPDiscretizer("quantile", bins=3, encode="interval")
    pd.testing.assert_frame_equal(cuts.fit(X).transform(X), cuts.fit(part).transform(part))
    kept = SelectiveNaiveBayes().fit(X, CLASS)
    assert list(kept.transform(X)) == list(kept.get_feature_names_out())
    network = BayesianNetwork([("mass", "seeds")]).fit(X)
    assert network.schema_ == BayesianNetwork([("mass", "seeds")]).fit(part).schema_


@pytest.mark.slow
@pytest.mark.parametrize("held", HOLDERS)
def test_held_out_rows_are_taken_from_any_frame(held: Any) -> None:
    groups = np.arange(N) % 6
    expected = held_out(NaiveBayes().fit(TABLE, CLASS), TABLE, CLASS, refit=True, groups=groups)
    found = held_out(NaiveBayes().fit(held(TABLE), CLASS), held(TABLE), CLASS, refit=True, groups=groups)
    np.testing.assert_array_equal(found.log_posterior, expected.log_posterior)


@pytest.mark.slow
def test_cross_validation_and_bagging_see_numbers_in_objects() -> None:
    """They were levels: 0.45 instead of 0.7 and more."""
    X, y = TABLE[["mass", "seeds"]].fillna(0.0), CLASS
    expected = cross_val_score(NaiveBayes(), X, y, cv=3)
    others = [X.astype(object), X.to_numpy(dtype=object)]
    if at_least("scikit-learn", 1, 8):  # it takes rows of Arrow's tables since then
        others.append(arrow(X))
    for other in others:
        np.testing.assert_array_equal(cross_val_score(NaiveBayes(), other, y, cv=3), expected)
    bagged = BaggingClassifier(NaiveBayes(), 3, random_state=0)
    np.testing.assert_array_equal(
        bagged.fit(X.to_numpy(dtype=object), y).predict_proba(X.to_numpy(dtype=object)),
        bagged.fit(X.to_numpy(), y).predict_proba(X.to_numpy()),
    )


def test_a_lazy_frame_is_refused() -> None:
    pl = pytest.importorskip("polars")
    with pytest.raises(TableError, match=r"lazy frame \(LazyFrame\), which holds no rows; call its collect\(\)"):
        NaiveBayes().fit(pl.LazyFrame({"a": [1, 2]}), [0, 1])


# columns of objects ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([1, "a", None, 2], "row 1 holds 1, row 2 holds 'a'"),
        (["1", None, 1, "a"], "row 1 holds '1', row 3 holds 1"),
        ([1, True, 2, 0], "row 1 holds 1, row 2 holds True"),
        ([True, "yes", None, "no"], "row 1 holds True, row 2 holds 'yes'"),
    ],
)
def test_a_column_that_mixes_is_refused_by_name(cells: list[Any], told: str) -> None:
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "state": pd.Series(cells, dtype=object)})
    for table, name in ((X, "state"), (X.to_numpy(dtype=object), "x1")):
        with pytest.raises(TableError, match=f"column '{name}' mixes strings, numbers or truth values: {told}"):
            NaiveBayes().fit(table, [0, 1, 0, 1])
    schema = Schema((Variable("size", "continuous"), Variable("state", "categorical")))
    assert len(NaiveBayes(schema=schema).fit(X, [0, 1, 0, 1]).schema_["state"].levels) >= 2


@pytest.mark.parametrize("cell", [b"a", [1], (1, 2), {"a": 1}, 1j, pd.Timestamp("2020-01-01"), pd.Interval(0, 1)])
def test_a_cell_that_is_no_level_is_refused_by_name(cell: Any) -> None:
    column = pd.Series(["a", "b", None, "c"], dtype=object)
    column.iat[3] = cell
    for model in (NaiveBayes(), TAN()):
        with pytest.raises(CellTypeError, match=r"column 'state' holds .*, in row 4: .* a string or a number"):
            model.fit(pd.DataFrame({"state": column}), [0, 1, 0, 1])


def test_exact_numbers_are_numbers() -> None:
    X = pd.DataFrame({"price": [Decimal("1.5"), Decimal("2.5"), None, Decimal("2.25"), Decimal(9)]}, dtype=object)
    plain = X.astype(float)
    expected = NaiveBayes().fit(plain, list("aabbb")).predict_proba(plain)
    np.testing.assert_array_equal(NaiveBayes().fit(X, list("aabbb")).predict_proba(X), expected)
    np.testing.assert_array_equal(NaiveBayes().fit(pa.table(X), list("aabbb")).predict_proba(pa.table(X)), expected)


# where a guess would be another ---------------------------------------------------------------------------------------


def test_numbers_written_as_strings_are_told_and_inferred() -> None:
    X = pd.DataFrame({"size": ["1.5", "2", "-3e2", None, "2.5"], "code": ["007", "1", "2", "3", "4"]})
    y = [0, 1, 0, 0, 1]
    with pytest.warns(EstimationWarning, match=r"column\(s\) size hold numbers written as strings"):
        NaiveBayes().fit(X, y)
    schema = Schema.infer(X, target=False)
    assert (schema["size"].kind, schema["code"].kind) == ("continuous", "categorical")
    as_numbers = X.assign(size=X["size"].astype(float))
    expected = NaiveBayes().fit(as_numbers, y).predict_proba(as_numbers)
    np.testing.assert_array_equal(NaiveBayes(schema=schema).fit(X, y).predict_proba(X), expected)
    NaiveBayes(likelihoods={"size": "categorical"}).fit(X, y)  # stated: nothing to tell


def test_identifiers_of_hundreds_of_levels_are_told() -> None:
    X = pd.DataFrame({"customer": [f"c{i:03}" for i in range(150)], "size": ["s", "m", "l"] * 50})
    with pytest.warns(EstimationWarning, match=r"column\(s\) customer look like identifiers or texts"):
        NaiveBayes().fit(X, [0, 1] * 75)
    NaiveBayes(schema=Schema.infer(X, target=False)).fit(X, [0, 1] * 75)


def test_the_schema_of_features_alone_has_no_target() -> None:
    assert Schema.infer(TABLE, target=False).target is None
    assert Schema.infer(TABLE).target is not None


def test_what_infer_reads_of_a_frame_is_what_the_app_reads_of_its_file() -> None:
    """A column of 0 and 1 is binary there, and continuous by its dtype."""
    frame = pd.DataFrame({"paid": [0, 1, 1, 0] * 5, "age": np.arange(20) * 1.5, "risk": ["low", "high"] * 10})
    reading = read_table(frame.to_csv(index=False).encode())
    schema = Schema.infer(frame)
    assert [(v.name, v.kind, v.role, v.levels) for v in schema] == [
        (v.name, v.kind, v.role, v.levels) for v in reading.schema
    ]
    assert schema["paid"].kind == "binary" and Schema.from_dtypes(frame)["paid"].kind == "continuous"
    X, y = frame[["paid", "age"]], frame["risk"]
    mine, apps = (NaiveBayes(schema=s.features).fit(X, y).predict_proba(X) for s in (schema, reading.schema))
    np.testing.assert_array_equal(mine, apps)


@pytest.mark.parametrize("order", ["C", "F"])
def test_whole_numbers_of_an_array_stand_in_few_bytes_column_after_column(order: Literal["C", "F"]) -> None:
    rows = 20_000  # more than are turned into columns together
    for least, most, kind in ((0, 200, np.uint8), (-3, 200, np.int16), (0, 2**40, np.uint64), (-1, 2**62, np.int64)):
        array = np.asarray(np.resize(np.array([least, 1, 2, 3, most]), (rows, 3)), order=order)
        held = as_frame(array).to_numpy()
        assert held.flags.f_contiguous and held.dtype == kind
        np.testing.assert_array_equal(held, array)
    odd = np.array([[2**64 - 1, 0]], dtype=np.uint64)
    np.testing.assert_array_equal(as_frame(odd).to_numpy(), odd)


def test_frames_of_arrays_do_not_share_what_may_be_changed() -> None:
    frame = as_frame(np.zeros((2, 3)))
    frame.columns.name = frame.index.name = "mine"
    assert as_frame(np.zeros((2, 3))).columns.names == as_frame(np.zeros((2, 3))).index.names == [None]


@pytest.mark.parametrize("kind", [">i2", ">u8", ">f8"])
@pytest.mark.parametrize(
    "model",
    [NaiveBayes(), NaiveBayes(likelihoods="categorical"), GaussianNB(), TAN(discretize="quantile")],
    ids=repr,
)
def test_numbers_in_another_byte_order_are_the_same_numbers(kind: str, model: Any) -> None:
    cells, y = np.array([[10, 500], [500, 10], [500, 500], [10, 10]] * 3), np.array([10, 500, 700] * 4)
    plain = model.fit(cells.astype(kind[1:]), y).predict_proba(cells)
    for X in (cells.astype(kind), pd.DataFrame(cells.astype(kind), columns=["x0", "x1"])):
        for labels in (y.astype(kind), pd.Series(y.astype(kind))):
            again = model.fit(X, labels)
            assert again.classes_.tolist() == [10, 500, 700]
            assert (again.predict_proba(X) == plain).all()
