"""Complement against multinomial as a class becomes rare: the numbers are scikit-learn's on the same documents."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import ComplementNB, MultinomialNB

from bayes_engine.workbench.laboratory.rare_class import HELD_OUT, documents_of, rare_class, training_rows


@pytest.mark.slow
@pytest.mark.parametrize("table", ["sms-spam", "digits"])
@pytest.mark.parametrize(("fit_prior", "alpha"), [(True, 1.0), (False, 1.0), (True, 0.1)])
def test_recall_accuracy_and_weights_are_scikit_learns(table: str, fit_prior: bool, alpha: float) -> None:
    study = rare_class(table, 4, alpha=alpha, fit_prior=fit_prior, draws=2)  # type: ignore[arg-type]
    counts, codes, _classes = documents_of(table)  # type: ignore[arg-type]
    rng, k = np.random.default_rng(4), len(study.classes)
    held = np.array([round(HELD_OUT * n) for n in np.bincount(codes)])
    norms = np.zeros_like(study.norm)
    for i in range(2):
        order = [rng.permutation(np.flatnonzero(codes == c)) for c in range(k)]
        test = np.concatenate([rows[:n] for rows, n in zip(order, held, strict=True)])
        for j, size in enumerate(study.sizes):
            train = training_rows(order, held, study.rare, size)
            assert (codes[train] == study.rare).sum() == size and not set(train) & set(test)
            for m, model in enumerate((MultinomialNB(alpha=alpha, fit_prior=fit_prior), ComplementNB(alpha=alpha))):
                right = model.fit(counts[train], codes[train]).predict(counts[test]) == codes[test]
                assert study.accuracy[m, i, j] == pytest.approx(right.mean(), abs=1e-12)
                assert study.recall[m, i, j] == pytest.approx(right[codes[test] == study.rare].mean(), abs=1e-12)
                norms[m, :, j] += np.abs(model.feature_log_prob_).sum(axis=1) / 2
    np.testing.assert_allclose(study.norm, norms, rtol=1e-12)


@pytest.mark.slow
def test_of_two_classes_only_the_prior_tells_the_models_apart() -> None:
    even = rare_class("sms-spam", fit_prior=False)
    np.testing.assert_array_equal(even.recall[0], even.recall[1])
    np.testing.assert_allclose(even.norm[0], even.norm[1, ::-1], rtol=1e-12)  # the weights change places
    assert (rare_class("sms-spam").recall[0] <= even.recall[0]).all()  # its prior is against the rare class


def test_weights_of_a_rarer_class_are_smaller() -> None:
    study = rare_class("sms-spam-zh", draws=1)
    assert np.all(np.diff(study.norm[0, study.rare]) > 0) and np.ptp(study.norm[1, study.rare]) < 1e-9
