"""The names of the library: all there, and those that were renamed still import, with a warning."""

import pytest

import bayes_engine


def test_every_public_name_is_there_and_sorted_once() -> None:
    assert len(set(bayes_engine.__all__)) == len(bayes_engine.__all__)
    assert all(hasattr(bayes_engine, name) for name in bayes_engine.__all__)


def test_a_renamed_name_imports_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="bayes_engine.Stand is called FlipMargin now"):
        from bayes_engine import Stand
    assert Stand is bayes_engine.FlipMargin
    assert "Stand" not in bayes_engine.__all__


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        bayes_engine.Nothing  # noqa: B018
