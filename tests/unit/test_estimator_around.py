"""Classifiers around a classifier: their columns are those that it was fitted to last."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import (
    CalibratedClassifier,
    FisherDiscriminant,
    MinimumRiskClassifier,
    NaiveBayes,
    SemiSupervisedNB,
)


@pytest.mark.parametrize(
    "model", [CalibratedClassifier(), MinimumRiskClassifier(), SemiSupervisedNB(), FisherDiscriminant()]
)
def test_a_fit_to_an_array_forgets_the_names_of_a_frame(model: Any) -> None:
    X, y = pd.DataFrame({"mass": [1.0, 2.0, 2.2, 2.1, 4.0, 5.0]}), list("aababb")
    assert model.fit(X, y).feature_names_in_.tolist() == ["mass"]
    wide = np.column_stack([X, X**2])
    assert not hasattr(model.fit(wide, y), "feature_names_in_") and model.n_features_in_ == 2
    model.predict(wide)


@pytest.mark.parametrize("around", [CalibratedClassifier, MinimumRiskClassifier, SemiSupervisedNB])
def test_it_takes_the_cells_that_its_estimator_takes(around: Any) -> None:
    tags = around().__sklearn_tags__()
    assert tags.input_tags == NaiveBayes().__sklearn_tags__().input_tags and tags.input_tags.string
