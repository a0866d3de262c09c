"""What the working says of a rate, a kernel density and words, in sentences."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import NaiveBayes
from bayes_engine.workbench.derivation.derive import derive
from pages.views.case.factor_sources import _origin_of_term

pytestmark = pytest.mark.filterwarnings("ignore::bayes_engine.errors.EstimationWarning")
ONE: Any = SimpleNamespace(table=SimpleNamespace(column=str, level=lambda _column, value: str(value)))


def said(likelihood: str) -> dict[str, str]:
    X = pd.DataFrame({"links": [0, 2, 1, 5], "hour": [1.0, 2.0, 9.0, 9.5],
                      "text": ["a *prize*", "free prize", "noon", "lunch at noon"]})  # fmt: skip
    chosen = {"links": "poisson", "hour": "kernel-range", "text": likelihood}
    model = NaiveBayes(likelihoods=chosen, text={"columns": ["text"]}).fit(X, list("ssnn"))
    working = derive(model, pd.DataFrame({"links": [3], "hour": [2.0], "text": ["prize prize, free"]}))
    return {step.row.child: _origin_of_term(ONE, step, step.sources[1]) for step in working.steps[1:]}  # type: ignore[arg-type]


def test_the_numbers_of_the_working_are_said() -> None:
    told = said("multinomial")
    assert "μ^x e^−μ/x! at x = 3, with the rate μ = 1.33333. The 2 values of links in this class sum" in told["links"]
    assert "pseudo-observations (α = 1) with the mean of the whole column, 2." in told["links"]
    assert "stands on each of the 2 values of hour in this class" in told["hour"] and "at 2." in told["hour"]
    assert "rounded to multiples of " + f"{8.5 / 3:.6g}" in told["hour"]
    assert "prize × 2 ((2+1)/(4+6)), free ((1+1)/(4+6))." in told["text"]


def test_absent_words_are_said_where_they_count() -> None:
    text = said("bernoulli")["text"]
    nats = np.log(1 - 2 / 4) + 3 * np.log(1 - 1 / 4)
    assert "prize ((2+1)/(2+2)), free ((1+1)/(2+2))" in text
    assert f"The absent ones add −{-nats:.4f} nats together." in text
