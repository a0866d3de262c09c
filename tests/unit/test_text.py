"""Texts as counts of terms: what a word is, what grows and what is chosen, what is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayes_engine.errors import TableError
from bayes_engine.stats.labels import Labels
from bayes_engine.stats.terms import text_terms
from bayes_engine.table.encode import Table, encode
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.text import TextRule, as_presence, learn_terms, read_terms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I won £5, don't I?", ["i", "won", "5", "don", "t", "i"]),
        ("Ünïcode naïve ОТВЕТ", ["ünïcode", "naïve", "ответ"]),
        ("免费领取iPhone 12", ["免", "费", "领", "取", "iphone", "12"]),
        ("ひらがな and カナ 𠀀", ["ひ", "ら", "が", "な", "and", "カ", "ナ", "𠀀"]),
        ("", []),
    ],
)
def test_what_a_word_is(text: str, words: list[str]) -> None:
    assert TextRule().vectorizer().build_analyzer()(text) == words


def test_case_and_presence_are_kept_where_wanted() -> None:
    terms, column = learn_terms(pd.Series(["Free free FREE"]), TextRule(lowercase=False), ())
    assert terms == ("FREE", "Free", "free")
    terms, column = learn_terms(pd.Series(["free free now"]), TextRule(presence=True), ())
    assert column.counts.toarray().tolist() == [[1.0, 1.0]]


def test_missing_and_numeric_cells() -> None:
    column = read_terms(pd.Series(["a b a", None, np.nan, 5, ""]), TextRule(), ("a", "5"))
    assert column.missing.tolist() == [False, True, True, False, False]
    assert column.counts.toarray().tolist() == [[2, 0], [0, 0], [0, 0], [0, 1], [0, 0]]
    assert as_presence(column).counts.toarray()[0].tolist() == [1, 0]
    assert column[1:3].missing.all() and len(column[np.array([0, 4])]) == 2
    assert column.hidden().missing.all() and column.hidden().counts.nnz == 0


def test_new_terms_stand_behind_the_old_ones() -> None:
    terms, column = learn_terms(pd.Series(["z b", "a b b"]), TextRule(), ("b", "c"))
    assert terms == ("b", "c", "a", "z")
    assert column.counts.toarray().tolist() == [[1, 0, 0, 1], [2, 0, 1, 0]]
    assert learn_terms(pd.Series(["", None]), TextRule(), ("b",))[0] == ("b",)


def test_no_term_at_all_is_refused() -> None:
    with pytest.raises(TableError, match="texts of column 'note' hold no term that stands in 1 of them; lower min_df"):
        learn_terms(pd.Series(["?!", None], name="note"), TextRule(), ())


def test_a_table_of_texts_can_be_taken_hidden_and_counted() -> None:
    schema = Schema((Variable("note", "text", ("a", "b"), likelihood="multinomial", text=TextRule()),))
    table = encode(pd.DataFrame({"note": ["a b a", None, "b"]}), schema)
    assert isinstance(table, Table) and table.missing("note").tolist() == [False, True, False]
    counts = text_terms(table, Labels(2, np.array([0, 0, 1]), np.array([2.0, 5.0, 1.0]))).columns["note"]
    assert counts.sums.tolist() == [[4, 2], [0, 1]] and counts.weight.tolist() == [2, 1]
    assert table.take(slice(1, 3)).missing("note").tolist() == [True, False]
    assert table.hiding(()).missing("note").all() and not table.infinite().any()
    wider = counts.over(("b", "new", "a"))
    assert wider.sums.tolist() == [[2, 0, 4], [1, 0, 0]]
