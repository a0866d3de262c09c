"""The textbook's worked examples, to the printed digits: every factor, mean, variance, joint and posterior."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import AODE, TAN, NaiveBayes, load_dataset
from bayes_engine.factors.gaussian import GaussianLeaf
from bayes_engine.models.naive_bayes import PRESETS

EXAMPLES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in Path(__file__).parent.glob("*.toml")}


MODELS: dict[str, Any] = {"NaiveBayes": NaiveBayes, "TAN": TAN, "AODE": AODE}


def stating(key: str) -> pytest.MarkDecorator:
    """For each example that states this."""
    names = sorted(name for name, example in EXAMPLES.items() if key in example)
    return pytest.mark.parametrize("example", [EXAMPLES[name] for name in names], ids=names)


def fitted(example: dict[str, Any]) -> Any:
    data = load_dataset(example["dataset"])
    target, features = example["target"], data.schema.features
    X, y = data.frame[list(features.names)], data.frame[target]
    return MODELS[example.get("model", "NaiveBayes")](**example["parameters"], schema=features).fit(X, y)


def query(example: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({name: [value] for name, value in example["query"].items()})


def by_class(model: Any, texts: dict[str, str]) -> list[str]:
    """The printed texts in the order of `classes_`; TOML keys are text even where a label is a number."""
    return [texts[str(label)] for label in model.classes_.tolist()]


def agrees(value: float, printed: str) -> bool:
    """Whether `value` is what "3/8 = 0.375" says: the fraction to 1e-12 and the decimal to its last printed digit."""
    *fractions, decimal = printed.split(" = ")
    exact = all(abs(value - Fraction(f)) <= 1e-12 * Fraction(f) for f in fractions)
    if decimal == "0":
        return exact and value == 0.0
    mantissa = decimal.split("e")[0]
    digits = len(mantissa.partition(".")[2])
    return exact and f"{value:.{digits}{'e' if 'e' in decimal else 'f'}}" == decimal


@stating("factors")
def test_every_factor_as_printed(example: dict[str, Any]) -> None:
    model = fitted(example)
    ledger = model.explain(query(example))
    assert [row.name for row, _ in ledger.rows] == [f["row"] for f in example["factors"]]
    for (row, term), factor in zip(ledger.rows, example["factors"], strict=True):
        for value, printed in zip(np.exp(term[0]), by_class(model, factor), strict=True):
            assert agrees(value, printed), f"{row.name}: {value} is not {printed}"


@stating("joint")
def test_joint_and_posterior_as_printed(example: dict[str, Any]) -> None:
    model = fitted(example)
    joint = np.exp(model.predict_joint_log_proba(query(example)))[0]
    posterior = model.predict_proba(query(example))[0]
    for value, printed in zip(joint, by_class(model, example["joint"]), strict=True):
        assert agrees(value, printed), f"joint {value} is not {printed}"
    for value, printed in zip(posterior, by_class(model, example["posterior"]), strict=True):
        assert agrees(value, printed), f"posterior {value} is not {printed}"
    assert model.predict(query(example)).tolist() == [example["decision"]]


@stating("factors")
def test_moments_as_printed(example: dict[str, Any]) -> None:
    model = fitted(example)
    gaussians = {f.variable.name: f for f in model.factor_.parts if isinstance(f, GaussianLeaf)}
    assert set(gaussians) == {m["column"] for m in example.get("moments", [])}
    for m in example.get("moments", []):
        factor = gaussians[m["column"]]
        for value, printed in zip(factor.moments.mean, by_class(model, m["mean"]), strict=True):
            assert agrees(value, printed), f"mean {value} is not {printed}"
        for value, printed in zip(factor.variance, by_class(model, m["variance"]), strict=True):
            assert agrees(value, printed), f"variance {value} is not {printed}"


@stating("preset")
def test_parameters_are_the_preset(example: dict[str, Any]) -> None:
    assert example["parameters"] == dict(PRESETS[example["preset"]])


@stating("table")
def test_inline_table_is_the_embedded_one(example: dict[str, Any]) -> None:
    embedded = load_dataset(example["dataset"]).frame.astype(int)
    pd.testing.assert_frame_equal(embedded, pd.DataFrame(example["table"]), check_dtype=False)


@stating("tree")
def test_tree_as_printed(example: dict[str, Any]) -> None:
    model = fitted(example)
    taken = [step for step in model.trace_ if step.taken]
    for step, printed in zip(taken, example["tree"]["edges"], strict=True):
        assert set(step.edge) == set(printed["between"])
        assert agrees(step.weight, printed["information"]), f"{step.edge}: {step.weight}"
    assert agrees(sum(step.weight for step in taken), example["tree"]["total"])
    assert {frozenset(arc) for arc in model.tree_} == {frozenset(step.edge) for step in taken}


@stating("super_parents")
def test_super_parents_as_printed(example: dict[str, Any]) -> None:
    """P(c, x_i): AODE of that column alone; P(x_j | c, x_i): the row of x_j under that super-parent."""
    model, asked = fitted(example), query(example)
    data = load_dataset(example["dataset"]).frame
    for stated in example["super_parents"]:
        column = stated["column"]
        alone = AODE(**example["parameters"]).fit(data[[column]], data[example["target"]])
        first = np.exp(alone.predict_joint_log_proba(asked[[column]]))[0]
        terms = {row.name: np.exp(term[0]) for row, term in model.spode(column).explain(asked).rows}
        for values, key in ((first, "joint"), (terms[stated["child"]], "conditional")):
            for value, printed in zip(values, by_class(model, stated[key]), strict=True):
                assert agrees(value, printed), f"{column}, {key}: {value} is not {printed}"


@stating("printed")
@pytest.mark.parametrize("reading", ["every_j", "rows_and_levels", "corrected"])
def test_the_misprints_of_aode_give_what_is_said_of_them(example: dict[str, Any], reading: str) -> None:
    """Their product over all j, j = i included; the older printings' |D| + N_i below; neither of the two."""
    data, query = load_dataset(example["dataset"]).frame, example["query"]
    rows, columns = data.to_dict("records"), list(query)
    levels = {name: data[name].nunique() for name in columns}
    stated = example["joint"] if reading == "corrected" else example["printed"][reading]
    for c, printed in stated.items():
        total = Fraction(0)
        for i in columns:
            cell = [r for r in rows if r[example["target"]] == c and r[i] == query[i]]
            p = Fraction(len(cell) + 1, len(rows) + (levels[i] if reading == "rows_and_levels" else 2 * levels[i]))
            for j in columns:
                if j != i or reading == "every_j":
                    p *= Fraction(sum(r[j] == query[j] for r in cell) + 1, len(cell) + levels[j])
            total += p / len(columns)
        assert agrees(float(total), printed), f"{c}: {float(total)} is not {printed}"


@pytest.mark.parametrize(
    ("printed", "value", "right"),
    [
        ("3/8 = 0.375", 0.375, True),
        ("3/8 = 0.375", 0.3751, False),
        ("6.8584e-05", 6.85842e-5, True),
        ("6.8584e-05", 6.86e-5, False),
        ("0", 0.0, True),
        ("0", 1e-9, False),
        ("0.052379", 0.0523787, True),
    ],
)
def test_the_comparison_itself_can_fail(printed: str, value: float, right: bool) -> None:
    assert agrees(value, printed) is right
