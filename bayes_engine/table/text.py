"""Texts as counts of terms: words, or runs of characters, under a vocabulary that the schema keeps.

scikit-learn's CountVectorizer reads and counts. A word is a run of letters, digits and underscores; a Chinese character
or kana is a word of its own, so that Chinese needs no segmenter: its pairs and triples are n-grams of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from bayes_engine.errors import NoTerms
from bayes_engine.progress import steps

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
WORD = rf"[^\W{HAN}]+|[{HAN}]"
"""What a word is, as a regular expression."""
Analyzer = Literal["word", "char", "char_wb"]


@dataclass(frozen=True)
class TextRule:
    """How a text becomes terms.

    `analyzer`: "word" | "char" (any run of characters) | "char_wb" (only within words); `ngrams`: the least and the
    greatest number of them in a term; `lowercase`: whether A is a. `min_df`: a term of the vocabulary stands in so many
    of the first fit's texts; `max_features`: only so many of the most frequent ones. With either the vocabulary is
    closed; otherwise it grows with the rows, as levels do. `presence`: a term counts once in a text.

    >>> TextRule(ngrams=(1, 2)).vectorizer().build_analyzer()("Free 免费 call")
    ['free', '免', '费', 'call', 'free 免', '免 费', '费 call']
    """

    analyzer: Analyzer = "word"
    ngrams: tuple[int, int] = (1, 1)
    lowercase: bool = True
    min_df: int = 1
    max_features: int | None = None
    presence: bool = False

    @property
    def closed(self) -> bool:
        """Whether the first fit chooses among the terms."""
        return self.min_df > 1 or self.max_features is not None

    def vectorizer(self, **more: Any) -> CountVectorizer:
        """scikit-learn's reader of texts under this rule; it counts in floats, which do not wrap."""
        from sklearn.feature_extraction.text import CountVectorizer

        word = {"token_pattern": WORD} if self.analyzer == "word" else {}
        return CountVectorizer(analyzer=self.analyzer, ngram_range=self.ngrams, lowercase=self.lowercase,
                               binary=self.presence, dtype=np.float64, **word, **more)  # fmt: skip


@dataclass(frozen=True)
class TermColumn:
    """n texts as `counts` (n, V) of terms, CSR; `missing` (n,) marks the cells without a text, whose counts are 0."""

    counts: Any
    missing: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.missing)

    def __getitem__(self, rows: Any) -> TermColumn:
        return TermColumn(self.counts[rows], self.missing[rows])

    def hidden(self) -> TermColumn:
        """The same number of texts, all missing."""
        return TermColumn(sparse.csr_array(self.counts.shape), np.ones(len(self), dtype=bool))


def read_terms(column: pd.Series, rule: TextRule, terms: tuple[Any, ...]) -> TermColumn:
    """The texts of a column under a vocabulary; terms outside it are passed over.

    >>> read_terms(pd.Series(["to be or not to be", None]), TextRule(), ("be", "not", "to")).counts.toarray().tolist()
    [[2.0, 1.0, 2.0], [0.0, 0.0, 0.0]]
    """
    texts, missing = _texts(column)
    if not terms:
        return TermColumn(sparse.csr_array((len(texts), 0)), missing)
    return TermColumn(sparse.csr_array(_reader(rule, terms).transform(steps(texts))), missing)


def learn_terms(column: pd.Series, rule: TextRule, known: tuple[Any, ...]) -> tuple[tuple[str, ...], TermColumn]:
    """The vocabulary, `known` terms first and new ones behind in sorted order, and the texts under it.

    Raises NoTerms where the texts hold no term, or too rare ones.

    >>> terms, column = learn_terms(pd.Series(["to be", "be not"]), TextRule(), ("to",))
    >>> terms, column.counts.toarray().tolist()
    (('to', 'be', 'not'), [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    """
    texts, missing = _texts(column)
    chosen = {} if known else {"min_df": rule.min_df, "max_features": rule.max_features}
    reader = rule.vectorizer(**chosen)
    try:
        counts = sparse.csr_array(reader.fit_transform(steps(texts)))
    except ValueError:  # "empty vocabulary", or none is left after the choice
        if known:
            return known, TermColumn(sparse.csr_array((len(texts), len(known))), missing)
        raise no_terms(str(column.name), rule) from None
    terms_met = reader.get_feature_names_out().tolist()
    if not known:
        return tuple(terms_met), TermColumn(counts, missing)
    old = set(known)
    terms = (*known, *(t for t in terms_met if t not in old))
    place = {t: v for v, t in enumerate(terms)}
    wide = counts.tocoo()
    columns = np.array([place[t] for t in terms_met], dtype=np.intp)[wide.col]
    return terms, TermColumn(sparse.csr_array((wide.data, (wide.row, columns)), (len(texts), len(terms))), missing)


def no_terms(column: str, rule: TextRule) -> NoTerms:
    """The error of a column whose texts hold no term, or too rare ones."""
    return NoTerms(
        "the texts of column '{column}' hold no term that stands in {min_df} of them; lower min_df, or set the "
        "column aside",
        column=column,
        min_df=rule.min_df,
    )


def as_presence(column: TermColumn) -> TermColumn:
    """1 for every term that stands in a text."""
    counts = column.counts.copy()
    counts.data = np.ones_like(counts.data)
    return replace(column, counts=counts)


def _texts(column: pd.Series) -> tuple[Sequence[str], NDArray[np.bool_]]:
    missing = column.isna().to_numpy(dtype=bool)
    return ["" if gone else str(cell) for cell, gone in zip(column, missing, strict=True)], missing


@lru_cache(maxsize=8)
def _reader(rule: TextRule, terms: tuple[str, ...]) -> CountVectorizer:
    """A reader with its vocabulary, made once."""
    return rule.vectorizer(vocabulary=terms)


class TermPlace(NamedTuple):
    """A term where it stands in a text: its characters from `start` up to `end`."""

    term: str
    start: int
    end: int


def term_places(rule: TextRule, text: str) -> list[TermPlace]:
    """Every term of a text as often as it stands there, in scikit-learn's order: shorter runs first.

    >>> [tuple(place) for place in term_places(TextRule(ngrams=(1, 2)), "Win  it")]
    [('win', 0, 3), ('it', 5, 7), ('win it', 0, 7)]
    """
    marks = _characters(text, rule.lowercase)
    read = "".join(mark.term for mark in marks)
    least, most = rule.ngrams
    if rule.analyzer == "char_wb":
        return [place for word in re.finditer(r"\S+", read)
                for place in _within(marks, word.start(), word.end(), least, most)]  # fmt: skip
    if rule.analyzer == "word":
        units = [TermPlace(m[0], marks[m.start()].start, marks[m.end() - 1].end) for m in re.finditer(WORD, read)]
        glue = " "
    else:
        units, glue = _blanks_as_one(marks, read), ""
    sizes = range(least, min(most, len(units)) + 1)
    return [_run(units[i : i + n], glue) for n in sizes for i in range(len(units) - n + 1)]


def _characters(text: str, lowercase: bool) -> list[TermPlace]:
    """The characters as they are read; lowercase may make two of one."""
    if not lowercase:
        return [TermPlace(c, i, i + 1) for i, c in enumerate(text)]
    places = [i for i, c in enumerate(text) for _one in c.lower()]
    return [TermPlace(c, i, i + 1) for i, c in zip(places, text.lower(), strict=True)]


def _blanks_as_one(marks: list[TermPlace], read: str) -> list[TermPlace]:
    """The characters with every run of blanks as a single one."""
    runs = (marks[m.start() : m.end()] for m in re.finditer(r"\s{2,}|[\s\S]", read))
    return [run[0] if len(run) == 1 else TermPlace(" ", run[0].start, run[-1].end) for run in runs]


def _run(units: list[TermPlace], glue: str) -> TermPlace:
    return TermPlace(glue.join(u.term for u in units), units[0].start, units[-1].end)


def _within(marks: list[TermPlace], start: int, end: int, least: int, most: int) -> Iterator[TermPlace]:
    """The runs of characters of one word with a blank on either side; a word shorter than a run counts once, whole."""
    first, last = marks[start].start, marks[end - 1].end
    padded = [TermPlace(" ", first, first), *marks[start:end], TermPlace(" ", last, last)]
    for n in range(least, most + 1):
        for i in range(max(len(padded) - n, 0) + 1):
            yield _run(padded[i : i + n], "")
        if n >= len(padded):
            return
