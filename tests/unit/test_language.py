"""Sentences as data: English for logs, the context's language for people, our own words translated, data escaped."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator

import pytest

from bayes_engine.language import Listing, Message, Word, current_language, preferred, set_language


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    set_language("en")


def test_str_is_english_in_every_language() -> None:
    set_language("zh")
    assert str(Message("column '{column}' is empty", {"column": "e"})) == "column 'e' is empty"


def test_local_escapes_data_and_translates_our_words() -> None:
    message = Message("{kind} {column}", {"kind": Word("count"), "column": "count"})
    set_language("zh")
    assert message.local(lambda text: f"<{text}>") == "计数 <count>"


def test_an_unknown_language_is_english() -> None:
    set_language("xx")
    assert current_language() == "en"
    assert preferred("de-DE,zh-TW;q=0.5") == "zh"


def test_a_sentence_inside_a_sentence_is_put_into_the_language_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayes_engine.language._", {"dropped: {reason}": "去掉：{reason}", "no {x}": "没有{x}"}.get)
    outer = Message("dropped: {reason}", {"reason": Message("no {x}", {"x": "a*b"})})
    assert outer.local(lambda text: text.replace("*", "\\*")) == "去掉：没有a\\*b"
    assert str(outer) == "dropped: no a*b"


def test_a_list_is_joined_as_the_language_does_and_each_of_its_parts_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"{names} are left out": "不用{names}", "'{name}'": "“{name}”", ", ": "、"}
    monkeypatch.setattr("bayes_engine.language._", words.get)
    names = Listing(["a, b", Message("'{name}'", {"name": "c*"})])
    message = Message("{names} are left out", {"names": names})
    for same in (message, pickle.loads(pickle.dumps(message)), copy.deepcopy(message)):  # noqa: S301 - our own
        assert same.local(lambda text: text.replace("*", "\\*")) == "不用a, b、“c\\*”"
        assert str(same) == "a, b, 'c*' are left out"
    assert names == "a, b, 'c*'"


@pytest.mark.parametrize(
    ("n", "sentence"),
    [(0, "0 cells of 'a(s)' are infinite"), (1, "1 cell of 'a(s)' is infinite"), (2, "2 cells of 'a(s)' are infinite"),
     (1.0, "1.0 cell of 'a(s)' is infinite"), ("21", "21 cells of 'a(s)' are infinite")],
)  # fmt: skip
def test_a_counted_noun_and_its_verb_follow_the_count(n: object, sentence: str) -> None:
    message = Message("{n} cell(s) of '{column}' are infinite", {"n": n, "column": "a(s)"})
    assert str(message) == message.local() == sentence


def test_a_noun_that_nothing_counts_stays() -> None:
    assert str(Message("column(s) {names} are empty", {"names": "x"})) == "column(s) x are empty"
