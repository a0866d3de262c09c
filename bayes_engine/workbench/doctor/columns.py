"""What is wrong with a column by itself: no class is asked but where a sentence says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

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
from bayes_engine.table.dates import DATE, EachDate, read_each
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.spellings import codes_beside, look, spelling
from bayes_engine.workbench.doctor.examined_table import (
    SAMPLE,
    TOO_LARGE,
    ExaminedTable,
    as_numbers,
    contingency,
    first_rows,
)
from bayes_engine.workbench.doctor.finding import (
    DAY_FIRST,
    MONTH_FIRST,
    AddModel,
    Finding,
    Mend,
    Nats,
    ReadText,
    Repair,
    SetKind,
    SetKnob,
    SetLikelihood,
    SetRole,
    Severity,
)
from bayes_engine.workbench.doctor.outliers import FAR, FEW, all_outlying, outlying, robust, sentinel

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
SLIP = 0.2
"""A spelling this frequent beside another is likelier meant than a slip."""
MISSING = 0.5
"""A column that is missing in half of the rows and more speaks for the minority of them."""
LEVEL, TELLS = 0.01, 0.1
"""Holm-adjusted level of tests, and least Cramér V of missing cells with the class: 0.1 is the usual "small" effect."""


def infinite(examined: ExaminedTable) -> Iterator[Finding]:
    """Cells that are ±∞, or too large to be squared: no likelihood has a density there, so that no model is fitted."""
    for v in steps(examined.features):
        if v.numeric:
            column = examined.whole[v.name]
            cells = column if column.dtype.kind in "fiu" else column.astype(object)  # a text may say "inf"
            x = pd.to_numeric(cells, errors="coerce").to_numpy(float, na_value=np.nan)
            bad, large = np.abs(x) >= TOO_LARGE, np.isfinite(x) & (np.abs(x) >= TOO_LARGE)
            if bad.any():
                facts = {"n": int(bad.sum()), "column": v.name}
                message = Message("{n} cell(s) of '{column}' are infinite: no model can be fitted to them.", facts)
                evidence = [(Message("infinite cells"), int((bad & ~large).sum()))]
                if large.any():
                    message = Message("{n} cell(s) of '{column}' are too large to be squared, such as {value:g}: no "
                                      "model can be fitted. Take a larger unit, or mend the column.",
                                      facts | {"value": float(x[large][0])})  # fmt: skip
                    evidence.append((Message("cells too large to be squared"), int(large.sum())))
                some = () if bad.sum() == (~np.isnan(x)).sum() else (Repair("infinite-missing", v.name),)
                yield Finding("infinite", "serious", (v.name,), message, tuple(evidence),
                              (*some, SetRole(v.name, "ignore")),
                              tuple(int(i) for i in np.flatnonzero(bad)[:20]))  # fmt: skip


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


def spellings(examined: ExaminedTable) -> Iterator[Finding]:
    """Levels that a person reads as one: they differ in case, in blanks, or in the width of letters."""
    for v, alike, counts in _alike(examined, same_spelling):
        message = Message("{n} level(s) of '{column}' differ from others only in case, blanks or the width of letters, "
                          "such as '{level}' and '{other_level}'.", _facts(v, alike))  # fmt: skip
        shown = tuple((Message("'{level}'", {"level": level}), counts[level]) for g in alike for level in g)
        yield Finding("spellings", _slip(alike, counts), (v.name,), message, shown,
                      (Repair("merge-spellings", v.name),))  # fmt: skip


def look_alikes(examined: ExaminedTable) -> Iterator[Finding]:
    """Levels that look like others, but have accents, characters that nobody sees, or letters of another script."""
    for v, alike, counts in _alike(examined, same_look):
        message = Message("{n} level(s) of '{column}' look like others, such as '{level}' and '{other_level}', but "
                          "differ in accents, in invisible characters or in letters of another script.",
                          _facts(v, alike))  # fmt: skip
        shown = tuple((_with_codes(level, "".join(set.intersection(*map(set, g)))), counts[level])
                      for g in alike for level in g)  # fmt: skip
        yield Finding("look-alikes", _slip(alike, counts), (v.name,), message, shown,
                      (Repair("merge-look-alikes", v.name),))  # fmt: skip


def _alike(
    examined: ExaminedTable, grouped: Callable[[tuple[Any, ...]], dict[str, list[str]]]
) -> Iterator[tuple[Variable, list[list[str]], dict[str, int]]]:
    """The columns in which several levels that occur are one by what they are `grouped` by, these levels, and in how
    many rows each stands."""
    for v in steps(examined.schema):
        if v.discrete and v.cuts is None and v.role in ("feature", "target"):
            met = examined.whole[v.name].value_counts()
            counts: dict[Any, int] = {level: int(met.get(level, 0)) for level in v.levels}
            if alike := [g for g in grouped(v.levels).values() if sum(counts[level] > 0 for level in g) > 1]:
                yield v, alike, counts


def _facts(v: Variable, alike: list[list[str]]) -> dict[str, Any]:
    one, *others = alike[0]
    other = next((level for level in others if spelling(level) != spelling(one)), others[0])
    return {"n": sum(len(g) - 1 for g in alike), "column": v.name, "level": one, "other_level": other}


def _slip(alike: list[list[str]], counts: dict[str, int]) -> Severity:
    """How serious it is that levels are written in several ways: less where each way is frequent."""
    rarest = min(min(counts[level] for level in g) / max(counts[level] for level in g) for g in alike)
    return "note" if rarest >= SLIP else "warning"


def _with_codes(level: str, common: str) -> Message:
    """A level with the codes of those of its characters that not all of the others have."""
    own = codes_beside(level, common)
    if not own:
        return Message("'{level}'", {"level": level})
    return Message("'{level}', with {characters}", {"level": level, "characters": Listing(own)})


def same_spelling(levels: tuple[Any, ...]) -> dict[str, list[str]]:
    """The levels that are text, by what is left of them without case, width and superfluous blanks.

    >>> same_spelling(("yes", " Yes", "no"))
    {'yes': ['yes', ' Yes'], 'no': ['no']}
    """
    spellings: dict[str, list[str]] = {}
    for level in levels:
        if isinstance(level, str):
            spellings.setdefault(spelling(level), []).append(level)
    return spellings


def same_look(levels: tuple[Any, ...]) -> dict[str, list[str]]:
    """The levels that look like others whose spelling is not theirs, by how they look.

    >>> same_look(("Malmo", "Malmö", "Oslo", "oslo"))
    {'malmo': ['Malmo', 'Malmö']}
    """
    looks: dict[str, list[str]] = {}
    for level in levels:
        if isinstance(level, str):
            looks.setdefault(look(level), []).append(level)
    return {shape: group for shape, group in looks.items() if len(set(map(spelling, group))) > 1}


def mixed_types(examined: ExaminedTable) -> Iterator[Finding]:
    """Columns of numbers that are read as text because of a few cells."""
    for v in steps(examined.schema):
        column = examined.frame[v.name]
        if v.role != "feature" or v.numeric or v.kind == "date" or v.cuts is not None or column.dtype.kind in "biufM":
            continue
        known = column.notna().to_numpy(dtype=bool)
        first = column[known].iloc[: 20 * FEW]
        if not len(first) or np.isnan(as_numbers(first)).mean() > 0.5:  # words, and no need to try them all
            continue
        numbers = as_numbers(column)
        readable = ~np.isnan(numbers)
        if (
            readable.sum() >= 0.8 * known.sum()
            and (known & ~readable).any()
            and len(np.unique(numbers[readable])) >= FEW
        ):
            column = examined.whole[v.name]
            readable = ~np.isnan(as_numbers(column))
            odd_rows = column.notna().to_numpy(dtype=bool) & ~readable
            odd = column[odd_rows].astype(str)
            yield Finding(
                "mixed-types", "warning", (v.name,),
                Message("'{column}' holds numbers except in {n} cell(s), such as '{level}', because of which it is "
                        "read as text.", {"column": v.name, "n": len(odd), "level": str(odd.iloc[0])}),
                ((Message("numbers"), int(readable.sum())), (Message("cells that are none"), len(odd))),
                (Repair("text-missing", v.name), SetRole(v.name, "ignore")), first_rows(odd_rows),
            )  # fmt: skip


def dates(examined: ExaminedTable) -> Iterator[Finding]:
    """Dates: no model here reads them, and as levels each would be its own."""
    for v in steps(examined.schema):
        if v.role not in ("feature", "ignore") or v.cuts is not None or v.textual:
            continue
        cells: pd.Series = examined.frame[v.name]
        days: pd.Series | None = None
        if v.kind == "date":
            cells = days = pd.to_datetime(examined.whole[v.name], errors="coerce", utc=True)
            message = Message("'{column}' holds dates, which no model uses; counted in days since the first, they "
                              "would be numbers.", {"column": v.name})  # fmt: skip
        elif v.role == "ignore":
            continue
        elif v.numeric:
            days = compact_days(as_numbers(cells)) if v.kind == "count" else None
            if days is None:
                continue
            message = Message("'{column}' holds dates written as whole numbers, such as {value:.0f}: as an amount, "
                              "from one day to the next it is now 1, now 70, now 8,870.",
                              {"column": v.name, "value": float(cells.dropna().iloc[0])})  # fmt: skip
        else:
            some = cells.dropna().drop_duplicates().astype(str).iloc[:200]
            if len(some) >= 3 and sum(DATE.fullmatch(s.strip()) is not None for s in some) >= 0.9 * len(some):
                yield _written_dates(v.name, examined.whole[v.name])
            continue
        read = v.kind == "date"
        evidence: list[tuple[Message, Any]] = [(Message("different values"), int(cells.nunique()))]
        ends = Listing(f"{d:%Y-%m-%d}" for d in (days.min(), days.max()))
        evidence.append((Message("the first and the last"), ends))
        mends = (Repair("days", v.name), *(() if read else (SetRole(v.name, "ignore"),)))
        yield Finding("date", "note" if read else "warning", (v.name,), message, tuple(evidence), mends)


def _written_dates(name: str, column: pd.Series) -> Finding:
    """Dates as text: how many cells are written in which way, and where two readings are possible the choice."""
    cells, read = each_date(column, None)
    count = {way: int(cells[read.ways == way].sum()) for way in ("plain", "day", "month", "either", "")}
    if read.order:
        count[read.order] += count.pop("either")
    either, none = count.get("either", 0), count[""]
    odd = set(cells.index[(read.ways == "") | ((read.ways == "either") & (not read.order))])
    facts: dict[str, Any] = {"column": name, "level": str(cells.index[0])}
    if none:
        facts |= {"no_dates": none, "other_level": str(cells.index[read.ways == ""][0])}
    if either:
        facts |= {"n": either, "level": str(cells.index[read.ways == "either"][0])}
    if either and none:
        message = Message("'{column}' holds dates as text. In {n} cell(s), such as '{level}', day and month could "
                          "change places: choose which stands first, or leave it. Cells that are no date, such as "
                          "'{other_level}', would be missing: {no_dates}.", facts)  # fmt: skip
    elif either:
        message = Message("'{column}' holds dates as text. In {n} cell(s), such as '{level}', day and month could "
                          "change places: choose which stands first, or leave it.", facts)  # fmt: skip
    elif none:
        message = Message("'{column}' holds dates as text, such as '{level}': each would be a level of its own. "
                          "Counted in days, cells that are no date, such as '{other_level}', would be missing: "
                          "{no_dates}.", facts)  # fmt: skip
    else:
        message = Message("'{column}' holds dates as text, such as '{level}': each would be a level of its own.",
                          facts)  # fmt: skip
    evidence = [(Message("different values"), len(cells))] + [
        (label, count[way])
        for way, label in (
            ("plain", Message("cells with the year first, or the month by name")),
            ("day", Message("cells with the day first")),
            ("month", Message("cells with the month first")),
            ("either", Message("cells with the day or the month first")),
            ("", Message("cells that are no date")),
        )
        if count.get(way)
    ]
    if 0 < read.zoned < len(cells):
        evidence.append((Message("different values with a time zone; all others are taken as UTC"), read.zoned))
    mends: tuple[Mend, ...] = (Repair("days", name),)
    if either:
        mends = (Repair("days", name, DAY_FIRST), Repair("days", name, MONTH_FIRST))
        mends = mends[::-1] if count["month"] > count["day"] else mends
    known = int(cells.sum())
    return Finding(
        "date", "warning", (name,), message, tuple(evidence),
        (*(mends if known - none >= known / 2 else ()), SetRole(name, "ignore")),
        first_rows(as_written(column).isin(odd).to_numpy(dtype=bool)),
    )  # fmt: skip


def each_date(column: pd.Series, month_first: bool | None) -> tuple[pd.Series, EachDate]:
    """How often each different text of a column stands in it, the most frequent first, and each as a date."""
    counts = as_written(column).value_counts()
    return counts, read_each(counts.index.tolist(), month_first)


def as_written(column: pd.Series) -> pd.Series:
    """The known cells as text, without the blanks around them; None where missing."""
    return column.astype(object).map(lambda cell: str(cell).strip(), na_action="ignore")


def compact_days(x: Array) -> pd.Series | None:
    """(n,) days written as whole numbers, YYYYMMDD; None where they are not: every number must be a day of the calendar
    from 1900 to 2100, which of such numbers by lot one in 27 is.

    >>> compact_days(np.array([20240229.0, 20240301.0, 20231224.0])).dt.day.tolist()
    [29, 1, 24]
    >>> compact_days(np.array([20240229.0, 20240301.0, 20240230.0]))
    """
    known = x[~np.isnan(x)]
    if len(np.unique(known)) < 3 or known.min() < 1900_01_01 or known.max() > 2100_12_31 or (known % 1).any():
        return None
    written = pd.Series(x).map(lambda v: "" if np.isnan(v) else f"{v:.0f}")
    days = pd.to_datetime(written, format="%Y%m%d", errors="coerce", utc=True)
    return days if int(days.notna().sum()) == len(known) else None


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
        mends: tuple[Mend, ...] = (SetKnob("missing", "category") if v.discrete else cut,)
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


def sentinels(examined: ExaminedTable) -> Iterator[Finding]:
    """Numbers such as −1, 0 or 999 that stand apart from all others and come back: they mean "not known"."""
    for name, x in steps(examined.numbers.items()):
        value = sentinel(x)
        if value is not None and sentinel(x := as_numbers(examined.whole[name])) == value:  # a repair concerns all rows
            n = int((x == value).sum())
            rest = x[(x != value) & ~np.isnan(x)]
            yield Finding(
                "sentinel", "warning", (name,),
                Message("{n} cell(s) of '{column}' hold {value:.12g}, apart from all others ({low:g} to {high:g}): it "
                        "may mean that the value is not known.",
                        {"n": n, "column": name, "value": value, "low": float(rest.min()), "high": float(rest.max())}),
                ((Message("cells with this value"), n), (Message("median of the others"), float(np.median(rest)))),
                (Repair("value-missing", name, value), SetLikelihood((name,), "mdlp")), first_rows(x == value),
            )  # fmt: skip


def outliers(examined: ExaminedTable) -> Iterator[Finding]:
    """Single cells far from all others, on the scale of the numbers and of their logarithms."""
    for name, x in steps(examined.numbers.items()):
        if sentinel(x) is not None:
            continue
        if outlying(x).any() and (far := all_outlying(x := as_numbers(examined.whole[name]))).any():
            cells = x[far]
            yield Finding(
                "outliers", "warning", (name,),
                Message("{n} cell(s) of '{column}' lie more than {times:g} robust standard deviations from the median, "
                        "such as {value:g} (median {middle:g}).",
                        {"n": len(cells), "column": name, "times": FAR, "value": float(cells[0]),
                         "middle": float(np.nanmedian(x))}),
                ((Message("cells"), len(cells)), (Message("median"), float(np.nanmedian(x))),
                 (Message("robust standard deviation"), float(f"{robust(x[~np.isnan(x)]):.4g}"))),
                (Repair("outliers-missing", name), SetLikelihood((name,), "mdlp")), first_rows(far),
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
