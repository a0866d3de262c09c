"""Errors and sentences: English in `str()`, the parameters kept, the language of the context elsewhere."""

from __future__ import annotations

import pickle

import pytest

import bayes_engine.errors as errors
from bayes_engine import BayesEngineError, EstimationWarning, UndefinedPosterior
from bayes_engine.language import Message, current_language, preferred, set_language


def test_every_error_is_a_value_error() -> None:
    public = [k for name, k in vars(errors).items() if not name.startswith("_")]
    kinds = [k for k in public if isinstance(k, type) and issubclass(k, Exception)]
    assert len(kinds) > 8
    assert all(issubclass(k, BayesEngineError) for k in kinds if not issubclass(k, Warning))
    assert issubclass(BayesEngineError, ValueError) and issubclass(EstimationWarning, UserWarning)


def test_an_error_keeps_its_sentence_and_its_parameters() -> None:
    error = BayesEngineError("column '{column}' is empty", column="e")
    assert str(error) == "column 'e' is empty" and error.message == Message(
        "column '{column}' is empty", {"column": "e"}
    )


def test_undefined_posterior_names_ten_rows_and_keeps_all() -> None:
    error = UndefinedPosterior("no posterior for {n} row(s): {rows}", tuple(range(5, 30)))
    assert str(error) == "no posterior for 25 rows: 5, 6, 7, 8, 9, 10, 11, 12, 13, 14" and len(error.rows) == 25


@pytest.mark.parametrize(
    "error",
    [
        BayesEngineError("column '{column}' is empty", column="{n}"),
        EstimationWarning("{names} floored", names="x"),
        UndefinedPosterior("no posterior for {n} row(s): {rows}", (1, 2)),
    ],
)
def test_errors_cross_process_borders(error: BayesEngineError) -> None:
    """joblib sends a fold's error back by pickle."""
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert str(again) == str(error) and again.message == error.message
    assert getattr(again, "rows", None) == getattr(error, "rows", None)


def test_values_in_a_sentence_are_never_read_as_a_template() -> None:
    assert str(BayesEngineError("column '{column}' is empty", column="{n}")) == "column '{n}' is empty"
    assert Message("{a}", {"a": "*b*"}).local(lambda s: s.replace("*", "\\*")) == "\\*b\\*"


def test_the_language_of_the_context() -> None:
    try:
        set_language("zh")
        assert current_language() == "zh"
        set_language("xx")
        assert current_language() == "en"
    finally:
        set_language("en")


@pytest.mark.parametrize(
    ("accepted", "code"),
    [("zh-CN,zh;q=0.9", "zh"), ("zh_TW", "zh"), ("fr-FR,en;q=0.5", "en"), ("", "en"), (None, "en"), ("de", "en")],
)
def test_the_preferred_language(accepted: str | None, code: str) -> None:
    assert preferred(accepted) == code
