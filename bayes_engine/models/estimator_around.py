"""What classifiers around another classifier share: calibration, decisions of least risk, EM over hidden labels."""

from __future__ import annotations

from typing import Any

from sklearn.base import MetaEstimatorMixin

from bayes_engine.models.naive_bayes import NaiveBayes


class EstimatorAround(MetaEstimatorMixin):  # type: ignore[misc]
    """A classifier around its `estimator`, NaiveBayes() if None: it reads the rows that the estimator reads."""

    estimator: Any

    @property
    def _stated(self) -> Any:
        return NaiveBayes() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self._stated.__sklearn_tags__()
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags


def take_columns(model: Any, inner: Any) -> None:
    """`n_features_in_` and `feature_names_in_` of the model are those of the fitted classifier inside it."""
    for name in ("n_features_in_", "feature_names_in_"):
        model.__dict__.pop(name, None)
        if hasattr(inner, name):
            setattr(model, name, getattr(inner, name))
