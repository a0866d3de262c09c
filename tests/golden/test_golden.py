"""The textbook's worked examples, to the printed digits: every factor, mean, variance, joint and posterior."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import NaiveBayes, load_dataset
from bayes_engine.factors import GaussianFactor
from bayes_engine.models.naive_bayes import PRESETS

EXAMPLES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in Path(__file__).parent.glob("*.toml")}


@pytest.fixture(params=sorted(EXAMPLES))
def example(request: pytest.FixtureRequest) -> dict[str, Any]:
    return EXAMPLES[request.param]


def fitted(example: dict[str, Any]) -> NaiveBayes:
    data = load_dataset(example["dataset"])
    target, features = example["target"], data.schema.features
    X, y = data.frame[list(features.names)], data.frame[target]
    return NaiveBayes(**example["parameters"], schema=features).fit(X, y)


def query(example: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({name: [value] for name, value in example["query"].items()})


def by_class(model: NaiveBayes, texts: dict[str, str]) -> list[str]:
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


def test_every_factor_as_printed(example: dict[str, Any]) -> None:
    model = fitted(example)
    ledger = model.explain(query(example))
    assert [row.name for row, _ in ledger.rows] == [f["row"] for f in example["factors"]]
    for (row, term), factor in zip(ledger.rows, example["factors"], strict=True):
        for value, printed in zip(np.exp(term[0]), by_class(model, factor), strict=True):
            assert agrees(value, printed), f"{row.name}: {value} is not {printed}"


def test_joint_and_posterior_as_printed(example: dict[str, Any]) -> None:
    model = fitted(example)
    joint = np.exp(model.predict_joint_log_proba(query(example)))[0]
    posterior = model.predict_proba(query(example))[0]
    for value, printed in zip(joint, by_class(model, example["joint"]), strict=True):
        assert agrees(value, printed), f"joint {value} is not {printed}"
    for value, printed in zip(posterior, by_class(model, example["posterior"]), strict=True):
        assert agrees(value, printed), f"posterior {value} is not {printed}"
    assert model.predict(query(example)).tolist() == [example["decision"]]


def test_moments_as_printed(example: dict[str, Any]) -> None:
    model = fitted(example)
    gaussians = {f.variable.name: f for f in model.factor_.parts if isinstance(f, GaussianFactor)}
    assert set(gaussians) == {m["column"] for m in example.get("moments", [])}
    for m in example.get("moments", []):
        factor = gaussians[m["column"]]
        for value, printed in zip(factor.moments.mean, by_class(model, m["mean"]), strict=True):
            assert agrees(value, printed), f"mean {value} is not {printed}"
        for value, printed in zip(factor.variance, by_class(model, m["variance"]), strict=True):
            assert agrees(value, printed), f"variance {value} is not {printed}"


def test_parameters_are_the_preset(example: dict[str, Any]) -> None:
    if "preset" in example:
        assert example["parameters"] == dict(PRESETS[example["preset"]])


def test_inline_table_is_the_embedded_one(example: dict[str, Any]) -> None:
    if "table" in example:
        embedded = load_dataset(example["dataset"]).frame.astype(int)
        pd.testing.assert_frame_equal(embedded, pd.DataFrame(example["table"]), check_dtype=False)


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
