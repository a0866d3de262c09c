"""The classifiers that are set against each other where the truth is known: none of them fitted."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from bayes_engine.models.gaussian import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.one_dependence import AODE, TAN
from bayes_engine.progress import ticking


def of_numbers() -> dict[str, Any]:
    """By name, for columns of numbers: three generative classifiers and the discriminative one.

    >>> list(of_numbers())
    ['naive-bayes', 'lda', 'qda', 'logistic']
    """
    return {
        "naive-bayes": NaiveBayes(),
        "lda": LinearDiscriminantAnalysis(),
        "qda": QuadraticDiscriminantAnalysis(),
        "logistic": ticking(LogisticRegression()),
    }


def of_levels() -> dict[str, Any]:
    """By name, for discrete columns."""
    one_hot = make_pipeline(OneHotEncoder(handle_unknown="ignore"), ticking(LogisticRegression()))
    return {"naive-bayes": NaiveBayes(), "tan": TAN(), "aode": AODE(), "logistic": one_hot}
