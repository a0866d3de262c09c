"""What is wrong with a column as a whole: no class is asked but where a sentence says so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import chdtrc
from sklearn.linear_model import LogisticRegression

from bayes_engine.decision.decision_boundaries import log_proba
from bayes_engine.language import Listing, Message
from bayes_engine.logspace import Array, log
from bayes_engine.progress import steps
from bayes_engine.stats.multiple_tests import holm
from bayes_engine.structure.chow_liu import information
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.sentinels import FEW, sentinel
from bayes_engine.workbench.doctor.examined_table import SAMPLE, ExaminedTable, as_numbers, contingency
from bayes_engine.workbench.doctor.finding import (
    AddModel,
    Finding,
    Mend,
    Nats,
    ReadText,
    SetKind,
    SetLikelihood,
    SetParameter,
    SetRole,
)

UNIQUE = 0.95
"""A share of different values from which on a column of text names rows: what comes back is an exception."""
LONG_NUMBER = 100_000
"""Whole numbers of six digits and more, all different and all as long, are numbers of cases, not amounts; unless all
are round, as prices and incomes are."""
VERY_LONG, MOSTLY = 1e10, 0.8
"""So long numbers, nearly all with as many digits as the longest, were drawn by lot as keys: amounts spread wider."""
MANY = 30
"""So many whole numbers that rise from row to row are numbers of rows; a few may have been put in order by hand."""
ONE_WORD = 2.0
"""Cells of fewer words, on average, are no texts: long ones that differ are names, such as keys, mails and links."""
NEARLY = 0.99
"""One value in so many of the rows: at most one row in a hundred can learn from the column."""
CARDINALITY, ROWS_A_LEVEL = 10, 5.0
"""With more levels and fewer rows to each, P(level | class) rests on one or two rows a class, which is no estimate."""
LONG_TAIL = 50
"""Of so many levels and more it is said, too, if most have so few rows, however many the others have."""
WORDS = 5.0
"""Cells of so many words, on average, are texts."""
CODES, ROWS_A_CODE = 10, 10.0
"""So few different whole numbers, with so many rows each, can be names as well as amounts."""
ONE_VALUE = 0.75
"""A number that fills so much of a column is a count's zero rather than one name of several."""
CODES_GAIN = 0.01
"""Nats a row that whole numbers must tell of the class as names beyond what a line through them tells, after the price
of the parameters (BIC): a hundredth is what a weak column tells altogether."""
MISSING = 0.5
"""A column that is missing in half of the rows and more speaks for the minority of them."""
LEVEL, TELLS = 0.01, 0.1
"""Holm-adjusted level of tests, and least Cramér V of missing cells with the class: 0.1 is the usual "small" effect."""


def identifiers(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns that name the row: unique text, whole numbers that count or are long. They fit every row seen, and say
    nothing of the next."""
    for v in _looked_at(examined):
        settled = v.role != "feature"
        cells = examined.frame[v.name].dropna()
        n, distinct = len(cells), cells.nunique()
        if n < FEW or distinct < UNIQUE * n or v.kind == "date":
            continue
        if (v.kind == "text" and not _keys(v, cells)) or _wordy(cells) >= WORDS:
            continue
        if (v.numeric or cells.dtype.kind in "iuf") and not _counting(examined.whole[v.name]):
            continue
        if v.kind == "continuous" and v.role == "feature" and cells.min() == 0:  # whole, yet measured: days of a date
            continue
        yield Finding(
            "identifier", "note" if settled else "serious", (v.name,),
            Message("'{column}' identifies the row: {distinct:,} different values in {n:,} rows. A model that uses it "
                    "memorizes the rows.", {"column": v.name, "distinct": int(distinct), "n": n}),
            ((Message("different values"), int(distinct)), (Message("rows"), n),
             (Message("for example"), Listing(str(x) for x in cells.iloc[:3]))),
            () if settled else (SetRole(v.name, "id"), SetRole(v.name, "ignore")), settled=settled,
        )  # fmt: skip


def _keys(v: Variable, cells: pd.Series) -> bool:
    """Whether a column of long texts that no model reads holds keys: one word each, and hardly one twice."""
    return v.kind == "text" and not v.textual and _wordy(cells) < ONE_WORD and cells.nunique() >= UNIQUE * len(cells)


def _counting(column: pd.Series) -> bool:
    """Whether whole numbers count the rows, here and there one of them twice; or, all different, rise with the rows, or
    are as long as case numbers are.

    >>> [_counting(pd.Series(x)) for x in ([7, 3, 1, 4, 2, 6, 9, 8, 5, 10], [12, 15, 19, 20, 31, 44, 50, 62, 70, 71])]
    [True, False]
    """
    cells = column.dropna()
    x = as_numbers(cells)
    if len(x) < FEW or np.isnan(x).any() or not (x == np.round(x)).all():
        return False
    distinct = len(np.unique(x))
    if distinct < len(x):  # by lot, numbers of so small a range would come again far more often
        return distinct >= UNIQUE * len(x) and float(x.max() - x.min()) < distinct / UNIQUE
    guess = Schema.infer(pd.DataFrame({str(column.name): cells}), numerals=False)[str(column.name)]
    rising = bool((np.diff(x) > 0).all() or (np.diff(x) < 0).all())
    digits = np.array([len(str(int(v))) for v in x])
    long = digits == digits.max()
    as_long = (x.min() >= LONG_NUMBER and long.all()) or (x.max() >= VERY_LONG and long.mean() >= MOSTLY)
    return guess.role == "id" or (len(x) >= MANY and (rising or (as_long and (x % 10 != 0).any())))


def constants(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns of one value, and of one value in nearly all rows where the others say nothing of the class either."""
    for v in _looked_at(examined):
        settled = v.role != "feature"
        counts = examined.frame[v.name].value_counts()
        counts = counts[counts > 0]
        n = int(counts.sum())
        if len(counts) <= 1:
            if len(examined.whole) > examined.n and examined.whole[v.name].nunique() > 1:
                continue
            message = Message("'{column}' has no value at all: it carries no information.", {"column": v.name})
            gaps = examined.n - n
            if n and gaps:
                message = Message("'{column}' has one value, '{level}', and is missing in {gaps:,} of the {n:,} rows: "
                                  "where it is known, it carries no information about the class.",
                                  {"column": v.name, "level": str(counts.index[0]), "gaps": gaps,
                                   "n": examined.n})  # fmt: skip
            elif n:
                message = Message("'{column}' has the same value in every row: it carries no information about the "
                                  "class.",
                                  {"column": v.name})  # fmt: skip
            yield Finding("constant", "note" if settled else "warning", (v.name,), message,
                          ((Message("rows with a value"), n), (Message("missing cells"), gaps)),
                          () if settled else (SetRole(v.name, "ignore"),), settled=settled)  # fmt: skip
        elif not settled and counts.iloc[0] >= NEARLY * n and n >= 5 * FEW:
            usual = examined.frame[v.name].eq(counts.index[0]).fillna(False).to_numpy(dtype=bool)
            known = examined.frame[v.name].notna().to_numpy(dtype=bool)
            table = contingency(np.where(known, usual, -1).astype(np.intp), examined.y, 2, max(examined.k, 1))
            if examined.k and information(table).p_value < LEVEL:
                continue
            yield Finding(
                "nearly-constant", "note", (v.name,),
                Message("'{column}' has one value in {share:.1%} of the rows, and the others carry no information "
                        "about the class.",
                        {"column": v.name, "share": float(counts.iloc[0] / n)}),
                ((Message("rows with another value"), int(n - counts.iloc[0])), (Message("rows"), n)),
                (SetRole(v.name, "ignore"),), examined.shown(known & ~usual),
            )  # fmt: skip


def texts(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns of texts that no model reads yet, or reads as levels."""
    for v in steps(examined.schema):
        if v.role not in ("feature", "ignore") or v.numeric or v.textual or v.kind in ("date", "constant", "empty"):
            continue
        cells = examined.frame[v.name].dropna()
        as_levels = v.role == "feature" and v.kind != "text"
        if not len(cells) or not (v.kind == "text" or as_levels) or _keys(v, cells):
            continue
        words = _wordy(cells)
        if as_levels and (words < WORDS or cells.nunique() < len(cells) / 2):
            continue
        message = Message("'{column}' holds texts, of {words:.1f} words on average, which are left out.",
                          {"column": v.name, "words": words})  # fmt: skip
        if as_levels:
            message = Message("'{column}' holds texts, of {words:.1f} words on average: as levels, nearly every row "
                              "has its own.", {"column": v.name, "words": words})  # fmt: skip
        yield Finding(
            "text", "warning" if as_levels else "note", (v.name,), message,
            ((Message("words a cell"), round(words, 1)), (Message("different values"), int(cells.nunique()))),
            (ReadText(v.name), *((SetRole(v.name, "ignore"),) if as_levels else ())),
        )  # fmt: skip


def cardinality(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns of many levels with few rows each."""
    for name, codes in steps(examined.codes.items()):
        counts = np.bincount(codes[codes >= 0])
        levels, n = int((counts > 0).sum()), int(counts.sum())
        rare = int(((counts > 0) & (counts < ROWS_A_LEVEL)).sum())
        sparse = levels >= CARDINALITY and n < ROWS_A_LEVEL * levels
        if not (sparse or (levels >= LONG_TAIL and rare > levels / 2)) or levels >= UNIQUE * n:
            continue
        if _wordy(examined.frame[name].dropna()) >= WORDS:
            continue
        message = Message("{rare:,} of the {levels:,} levels of '{column}' have fewer than {least:.0f} rows: too few "
                          "to estimate anything by.",
                          {"column": name, "levels": levels, "rare": rare, "least": ROWS_A_LEVEL})  # fmt: skip
        if sparse:
            message = Message("'{column}' has {levels:,} levels in {n:,} rows, {rows:.1f} rows each: too few to "
                              "estimate anything from.",
                              {"column": name, "levels": levels, "n": n, "rows": n / levels})  # fmt: skip
        yield Finding(
            "high-cardinality", "warning" if sparse else "note", (name,), message,
            ((Message("levels"), levels), (Message("rows a level"), round(n / levels, 2)),
             (Message("levels in one row only"), int((counts == 1).sum()))),
            (SetRole(name, "ignore"),),
        )  # fmt: skip


def codes(examined: ExaminedTable) -> Iterator[Finding]:
    """Few different whole numbers that tell more of the class as names than as amounts."""
    for name, x in steps(examined.numbers.items()):
        known = ~np.isnan(x)
        values, value_index = np.unique(x[known], return_inverse=True)
        whole = bool((values == np.round(values)).all())
        if (
            not (3 <= len(values) <= CODES and whole and len(value_index) >= ROWS_A_CODE * len(values))
            or examined.k < 2
        ):
            continue
        if sentinel(x) is not None:  # of an answer that is none a line knows nothing
            continue
        if np.bincount(value_index).max() > ONE_VALUE * len(value_index):
            continue
        y = examined.y[known]
        table = contingency(value_index.astype(np.intp), y, len(values), examined.k)
        gain = _information_gain(table, values) - (len(values) - 2) * (examined.k - 1) / 2.0 * float(
            log(float(len(y)))
        ) / len(y)
        if gain >= CODES_GAIN:
            yield Finding(
                "codes", "note", (name,),
                Message("'{column}' holds {distinct} different whole numbers, {values}: they are more informative "
                        "about the class as names than as amounts.",
                        {"column": name, "distinct": len(values), "values": Listing(f"{v:g}" for v in values)}),
                ((Message("gained a row by counting them"), Nats(gain)),),
                (SetKind(name, "categorical"), SetLikelihood((name,), "categorical")),
            )  # fmt: skip


def _information_gain(table: Array, values: Array) -> float:
    """Nats a row by which log P(c|x) of counts (S, K) exceeds that of a logistic regression on x, on the rows
    themselves: what the numbers tell as names beyond what they tell as amounts."""
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return 0.0
    x = (values - values.mean()) / values.std()
    terms = np.repeat(x[:, None], table.shape[1], axis=0)
    classes = np.tile(np.arange(table.shape[1]), len(x))
    smooth = LogisticRegression(C=1e4, max_iter=200).fit(terms, classes, sample_weight=table.ravel())
    amounts = log_proba(smooth, x[:, None])
    names = log(table) - log(table.sum(axis=1, keepdims=True))
    met = table > 0
    return float(table[met] @ (names[met] - amounts[met]) / table.sum())


def missing(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns that are mostly missing, and columns whose gaps are not the same in all classes."""
    asked: list[tuple[Variable, Array, float, float]] = []
    aside = [
        v for v in examined.schema if v.kind == "constant" and v.role == "ignore"
    ]  # its gaps may be a second value
    for v in steps((*examined.features, *aside)):
        gaps = examined.frame[v.name].isna().to_numpy(dtype=bool)
        share = float(gaps.mean()) if examined.n else 0.0
        if v.role == "feature" and MISSING <= share < 1.0:
            yield Finding(
                "missing", "warning", (v.name,),
                Message("'{column}' is missing in {share:.0%} of the rows.", {"column": v.name, "share": share}),
                ((Message("missing cells"), int(gaps.sum())), (Message("rows"), examined.n)),
                (SetRole(v.name, "ignore"),), examined.shown(gaps),
            )  # fmt: skip
        if examined.k >= 2 and gaps.sum() >= ROWS_A_LEVEL and not v.textual:
            table = contingency(gaps.astype(np.intp), examined.y, 2, examined.k)
            expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / max(table.sum(), 1.0)
            chi2 = float(((table - expected) ** 2 / np.where(expected > 0, expected, 1.0)).sum())
            asked.append((v, table, chi2, float(chdtrc(max(information(table).degrees, 1), chi2))))
    adjusted = holm(np.array([p for *_rest, p in asked]))
    for (v, table, chi2, _p), p in zip(asked, adjusted, strict=True):
        cramer = float(np.sqrt(chi2 / max(table.sum(), 1.0)))
        if p >= LEVEL or cramer < TELLS:
            continue
        assert examined.target is not None
        rate = table[1] / np.maximum(table.sum(axis=0), 1.0)
        high, low = int(rate.argmax()), int(np.where(table.sum(axis=0) > 0, rate, 2.0).argmin())
        cut = AddModel("naive-bayes", "laplace", (("discretize", "mdlp"), ("missing", "category")))
        absent, share = int(table[1].sum()), float(table[1].sum() / table.sum())
        mostly = v.role == "feature" and share >= MISSING
        mends: tuple[Mend, ...] = (SetParameter("missing", "category") if v.discrete else cut,)
        if v.role == "ignore":
            mends = (SetKind(v.name, "categorical"),)
        elif mostly:  # one or the other: a column that is left out has no gaps to count
            mends = (*mends, SetRole(v.name, "ignore"))
        facts = {"column": v.name, "high": float(rate[high]), "label": str(examined.target.levels[high]),
                 "share": share, "low": float(rate[low]), "other_label": str(examined.target.levels[low])}  # fmt: skip
        message = Message("That '{column}' is missing is informative about the class: it is in {high:.0%} of "
                          "'{label}', in {low:.0%} of '{other_label}'.", facts)  # fmt: skip
        if mostly:
            message = Message("'{column}' is missing in {share:.0%} of the rows, and that is informative about the "
                              "class: it is missing in {high:.0%} of '{label}', in {low:.0%} of '{other_label}'. "
                              "Count missing as a level, or leave the column out.", facts)  # fmt: skip
        yield Finding(
            "missing-tells", "warning" if mostly else "note", (v.name,), message,
            ((Message("χ²"), round(chi2, 2)), (Message("p (Holm)"), float(p)),
             (Message("Cramér's V"), round(cramer, 3)), (Message("missing cells"), absent)),
            mends,
        )  # fmt: skip


def _looked_at(examined: ExaminedTable) -> Iterator[Variable]:
    """Features, and the columns that were set aside: a person shall see why."""
    return (v for v in steps(examined.schema) if v.role in ("feature", "id", "ignore"))


def _wordy(cells: pd.Series) -> float:
    """Words a cell, on average; Chinese characters count as half a word each."""
    if cells.dtype.kind in "biufM" or not len(cells):
        return 0.0
    some = cells.iloc[: min(len(cells), SAMPLE // 20)].astype(str)
    return float(np.mean([len(s.split()) + sum("\u4e00" <= ch <= "\u9fff" for ch in s) / 2 for s in some]))
