"""What is wrong with cells of a column: numbers that no model takes or that stand for something else, levels written in
several ways, numbers and dates read as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from bayes_engine.language import Listing, Message
from bayes_engine.progress import steps
from bayes_engine.table.date_forms import DATE
from bayes_engine.table.dates import EachDate, compact_days, read_each
from bayes_engine.table.schema import Variable
from bayes_engine.table.sentinels import FEW, robust, sentinel
from bayes_engine.table.spellings import codes_beside, look, spelling
from bayes_engine.workbench.doctor.examined_table import TOO_LARGE, ExaminedTable, as_numbers, first_rows
from bayes_engine.workbench.doctor.finding import (
    DAY_FIRST,
    MONTH_FIRST,
    Finding,
    Mend,
    Repair,
    SetLikelihood,
    SetRole,
    Severity,
)
from bayes_engine.workbench.doctor.outliers import FAR, all_outlying, outlying

SLIP = 0.2
"""A spelling this frequent beside another is likelier meant than a slip."""


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


def spellings(examined: ExaminedTable) -> Iterator[Finding]:
    """Levels that a person reads as one: they differ in case, in blanks, or in the width of letters."""
    for v, alike, counts in _alike(examined, same_spelling):
        message = Message("{n} level(s) of '{column}' differ from others only in case, blanks or the width of letters, "
                          "such as '{level}' and '{other_level}'.", _facts(v, alike))  # fmt: skip
        shown = tuple((Message("'{level}'", {"level": level}), counts[level]) for g in alike for level in g)
        yield Finding("spellings", _slip(alike, counts), (v.name,), message, shown,
                      (Repair("merge-spellings", v.name),))  # fmt: skip


def look_alikes(examined: ExaminedTable) -> Iterator[Finding]:
    """Levels that look like others, but have accents, characters that nobody sees, other dashes or apostrophes, digits
    for letters, or letters of another script."""
    for v, alike, counts in _alike(examined, same_look):
        message = Message("{n} level(s) of '{column}' look like others, such as '{level}' and '{other_level}', but "
                          "differ in accents, in invisible characters, in dashes or apostrophes, in digits that look "
                          "like letters (0, 1) or in letters of another script.",
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
