"""Variables and schemas: kinds from dtypes, guesses from values, roles."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import Schema, Variable
from bayes_engine.errors import SchemaMismatch, TableError
from bayes_engine.table import schema as schema_module
from bayes_engine.table.levels import sort_levels
from bayes_engine.table.roles import take_apart
from bayes_engine.table.schema import recast


@pytest.mark.parametrize(
    ("values", "kind", "levels", "declared"),
    [
        pytest.param([1.0, 2.0], "continuous", (), False, id="float"),
        pytest.param([1, 2], "continuous", (), False, id="int"),
        pytest.param(["b", "a"], "categorical", ("a", "b"), False, id="text"),
        pytest.param([True, True], "categorical", (False, True), True, id="bool"),
        pytest.param(pd.Categorical(["b"], ["c", "b", "a"]), "categorical", ("c", "b", "a"), True, id="categorical"),
        pytest.param(pd.array([1, None], dtype="Int64"), "continuous", (), False, id="nullable"),
        pytest.param(np.array([2, None, 1.5], dtype=object), "continuous", (), False, id="objects, numbers"),
        pytest.param([Decimal("2.5"), Fraction(1, 2)], "continuous", (), False, id="objects, exact numbers"),
        pytest.param(np.array(["b", None, "a"], dtype=object), "categorical", ("a", "b"), False, id="objects, text"),
        pytest.param([True, None, False], "categorical", (False, True), True, id="objects, truth values"),
        pytest.param(np.array([None, None], dtype=object), "categorical", (), False, id="objects, none"),
    ],
)
def test_kind_from_dtype(values: Any, kind: str, levels: tuple[Any, ...], declared: bool) -> None:
    variable = Schema.from_dtypes(pd.DataFrame({"x": values}))["x"]
    assert (variable.kind, variable.levels, variable.declared) == (kind, levels, declared)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        pytest.param(
            pd.to_datetime(["2024-01-01"]),
            "column 'x' holds datetime64.*, for which there is no likelihood; turn it",
            id="date",
        ),
        pytest.param([1 + 2j], "Complex data not supported: column 'x'", id="complex"),
    ],
)
def test_dtypes_refused(values: Any, text: str) -> None:
    with pytest.raises(TableError, match=text):
        Schema.from_dtypes(pd.DataFrame({"x": values}))


def test_two_variables_of_one_name_are_refused() -> None:
    with pytest.raises(TableError, match="the column name 'x' stands twice; rename one of the columns"):
        Schema((Variable("x", "continuous"), Variable("x", "categorical", ("a",))))


def test_an_open_domain_grows_at_its_end_and_a_declared_one_does_not() -> None:
    variable = Variable("x", "categorical", ("b", "a"))
    assert variable.observing(["d", "c", "a"]).levels == ("b", "a", "c", "d")
    with pytest.raises(
        SchemaMismatch, match="column 'x' holds 'c', which is not among its declared levels; add the level"
    ):
        Variable("x", "categorical", ("b", "a"), declared=True).observing(["c"])


def test_levels_are_sorted_numbers_first_whatever_the_order_of_rows() -> None:
    assert sort_levels(["b", 10, "a", 2, "10"]) == (2, 10, "10", "a", "b")


def test_an_unknown_column_is_named_with_the_known_ones() -> None:
    schema = Schema((Variable("x", "continuous"), Variable("y", "continuous")))
    with pytest.raises(SchemaMismatch, match="there is no column 'z'; the columns are 'x', 'y'"):
        schema["z"]


def test_features_leave_out_roles_and_kinds_without_information() -> None:
    schema = Schema(
        (
            Variable("x", "continuous"),
            Variable("id", "identifier"),
            Variable("note", "text"),
            Variable("w", "continuous", role="weight"),
            Variable("y", "binary", ("a", "b"), role="target"),
        )
    )
    assert schema.features.names == ("x",)
    assert schema.target is not None and schema.target.name == "y"


@pytest.mark.parametrize(
    ("values", "kind", "role"),
    [
        pytest.param([None, None], "empty", "ignore", id="empty"),
        pytest.param(["a", "a"], "constant", "ignore", id="constant"),
        pytest.param([0, 1, 1, 0], "binary", "target", id="binary"),
        pytest.param([0.5, 1.5, 2.0], "continuous", "feature", id="continuous"),
        pytest.param([3, 1, 1, 7], "count", "feature", id="count"),
        pytest.param(list(range(100, 120)), "identifier", "id", id="consecutive"),
        pytest.param([f"今天的球赛改到下午{i}点，还在老地方" for i in range(12)], "text", "ignore", id="Chinese text"),
        pytest.param([f"学号{i}" for i in range(12)], "identifier", "id", id="Chinese identifiers"),
        pytest.param(
            ["现有贷款至今都能如期偿还", "活期账户余额低于零马克", "从未贷过款"] * 5,
            "categorical",
            "target",
            id="long Chinese levels",
        ),
        pytest.param(
            ["a long sentence of several words here", "and another one of the same kind too", None],
            "binary",
            "target",
            id="two texts",
        ),
        pytest.param(
            [f"a sentence of more than five words, number {i}" for i in range(4)], "text", "ignore", id="text"
        ),
    ],
)
def test_guesses_from_values(values: Any, kind: str, role: str) -> None:
    variable = Schema.infer(pd.DataFrame({"x": values}))["x"]
    assert (variable.kind, variable.role) == (kind, role)


TABLE = {"sex": list("fm") * 15, "old": [0, 1, 1] * 10, "age": [20.5, 31.0, 44.0] * 10}


@pytest.mark.parametrize(
    ("columns", "target"),
    [
        pytest.param({"digit_class": list(range(10)) * 3, **TABLE}, "digit_class", id="called the class, in numbers"),
        pytest.param({"Label": list("abc") * 10, **TABLE, "size": list("LS") * 15}, "Label", id="called the class"),
        pytest.param({**TABLE, "rings": [3, 1, 2] * 10}, "sex", id="words before numbers"),
        pytest.param({"old": TABLE["old"], "rings": [3, 1, 2] * 10}, "rings", id="the last, in few whole numbers"),
        pytest.param({"old": TABLE["old"], "rings": [*range(29), 0]}, "old", id="too many to be codes"),
        pytest.param({"old": TABLE["old"], "mass": [0.5, 1.5, 2.5] * 10}, "old", id="not whole"),
        pytest.param({"class": [0.5, 1.5, 2.5] * 10, "price": [7.25, 1.5, 2.5] * 10}, None, id="none"),
    ],
)
def test_the_target_is_guessed(columns: dict[str, Any], target: str | None) -> None:
    schema = Schema.infer(pd.DataFrame(columns))
    found = schema.target
    assert (found.name if found else None) == target
    assert found is None or (found.discrete and set(found.levels) == set(columns[found.name]))


@pytest.mark.parametrize(("names", "target"), [
    ("churn,Ort", "churn"), ("Diagnose,Ort", "Diagnose"), ("是否违约,城市", "是否违约"),
    ("是否已婚,是否流失,城市", "是否流失"),
    ("是否已婚,城市", "是否已婚"), ("违约次数,城市", "城市"), ("isFraud,region", "isFraud"), ("Churn?,plan", "Churn?"),
    ("Attrition_Flag,gender", "Attrition_Flag"), ("Survived,Sex,Embarked", "Survived"),
    ("species,island,sex", "species"),
    ("loan_status,grade,home", "loan_status"), ("marital_status,town", "town"), ("diagnóstico,ciudad", "diagnóstico"),
    ("résultat,ville", "résultat"), ("Kreditausfall,Ort", "Kreditausfall"), ("gekündigt,Ort", "gekündigt"),
    ("Zielgröße,Ort", "Zielgröße"), ("impago,ciudad", "impago"), ("Class (e/p),odor", "Class (e/p)"),
    ("default,class", "class"), ("label,churn", "label"), ("诊断结果,医院", "诊断结果"), ("TARGET,town", "TARGET"),
])  # fmt: skip
def test_usual_names_of_targets_are_known(names: str, target: str) -> None:
    guessed = Schema.infer(pd.DataFrame({name: ["yes", "no"] * 10 for name in names.split(",")})).target
    assert guessed is not None and guessed.name == target


@pytest.mark.parametrize(("names", "target"), [
    ("class=,sex", "class"), ("sex,churn=", "churn"), ("class=,churn", "class"), ("class=,label", "label"),
    ("label,class=", "label"), ("class,churn=", "class"), ("是否已婚=,城市", "城市"), ("town=,sex", "sex"),
])  # fmt: skip
def test_a_constant_column_that_is_called_the_class_is_the_target(names: str, target: str) -> None:
    """No other takes its place unsaid, unless it is called so too; `=` marks the constant ones."""
    for cell in ("no", None):
        columns = {name.strip("="): [cell] * 20 if "=" in name else ["yes", "no"] * 10 for name in names.split(",")}
        schema = Schema.infer(pd.DataFrame(columns))
        assert schema.target is not None and schema.target.name == target
        if f"{target}=" in names.split(","):
            with pytest.raises(TableError, match=r"holds (1 class|empty values)"):
                take_apart(pd.DataFrame(columns), schema)


def test_recasting_text_to_numbers_names_the_row() -> None:
    column = pd.Series(["1.5", "2", "n/a"], name="x")
    with pytest.raises(TableError, match="column 'x' cannot be continuous: row 3 holds 'n/a', which is no number"):
        recast(Variable("x", "categorical", ("1.5", "2", "n/a")), column, "continuous")
    numeric = recast(Variable("x", "categorical"), column[:2], "continuous")
    assert (numeric.kind, numeric.levels, numeric.pivot) == ("continuous", (), 1.75)
    assert recast(numeric, pd.Series([1.0, 2.0, 1.0]), "categorical").levels == (1.0, 2.0)


@pytest.mark.parametrize("values", [[1e9 + 0.5, 1e9 - 0.5], [1.0, np.nan, 3.0]])
def test_the_pivot_lies_among_the_values(values: list[float]) -> None:
    pivot = Schema.from_dtypes(pd.DataFrame({"x": values}))["x"].pivot
    assert pivot == np.nanmean(values)


def test_the_pivot_of_extreme_values_is_finite() -> None:
    for values in ([1.7e308, -1.7e308], [np.inf, 5.0], [np.inf, np.nan]):
        assert np.isfinite(Schema.from_dtypes(pd.DataFrame({"x": values}))["x"].pivot)


def test_the_levels_alone_say_whether_strings_are_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit asks it of every column of strings: rows that say the same again cost nothing."""
    turned: list[int] = []
    convert = schema_module.numbers
    monkeypatch.setattr(schema_module, "numbers", lambda column, v: turned.append(len(column)) or convert(column, v))
    frame = pd.DataFrame(
        {
            "grade": ["1", "2", "3"] * 200,
            "grade or none": ["1", "2", None] * 199 + ["3"] * 3,
            "code": ["01", "02", "03"] * 200,
            "number of a row": [str(i) for i in range(600)],
            "reading": [str(i / 4) for i in range(300)] * 2,
        }
    )
    guesses = Schema.from_dtypes(frame).otherwise(frame)
    assert {v.name: v.kind for v in guesses} == {
        "grade": "count", "grade or none": "count", "number of a row": "identifier", "reading": "continuous"
    }  # fmt: skip
    assert sorted(turned) == [6, 6, 600, 600]  # each level twice, but for the column in which none stands twice
