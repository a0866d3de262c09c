"""Dates as people write them → datetime64. pandas and dateutil guess cell by cell, so that one column may be read in
two orders.

Numbers, signs and the months of fifteen languages are read, by rules that do not depend on the machine's locale. Where
day and month may be either, the whole column decides; where it cannot, the day stands first and that is in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.table.date_forms import (
    BUDDHIST,
    COMPACT,
    COUNTED,
    CTIME,
    DATE,
    ELSEWHERE,
    ERA,
    ERAS,
    FINER,
    FORMS,
    ISO,
    MONTH,
    MONTHS,
    NAMED,
    YEAR_LAST,
    full_year,
    is_time,
    iso_of,
    minutes_ahead,
    month_name,
    month_number,
)
from bayes_engine.table.spellings import ascii_digits


class Dates(NamedTuple):
    """`values` in the order of the cells; `order` "day" or "month" where that stands first, "" where no order was to be
    found out, `doubtful` where nothing in the cells decides it; `example`, and what it `reads` as; whether times were
    counted back to UTC from another `zone`; `other` a cell of another form than the example, if any; `kept` the one
    zone of all times, which stay as they are written; `era` whether the years are those of the Buddhist era."""

    values: NDArray[np.datetime64]
    order: Literal["day", "month", ""]
    doubtful: bool
    example: str
    reads: str
    zone: bool = False
    other: str = ""
    kept: str = ""
    era: bool = False


def dates(
    cells: Sequence[str], month_first: bool | None = None, rows: NDArray[np.intp] | None = None
) -> Dates | str | None:
    """Distinct cells as dates; None where not all look like dates, "" where they are written in different ways, the
    first cell that is no day of the calendar where there is one.

    `month_first` where a person says that these are dates; `rows` (the position of every row's cell) helps where the
    order is in doubt: a column in order of time is read so.

    >>> read = dates(["3/4/2024", "13/4/2024"])
    >>> read.values[0], read.order, read.doubtful
    (np.datetime64('2024-04-03T00:00:00.000000'), 'day', False)
    >>> dates(["30.02.2024"]), dates(["2024-02-03", "03/02/2024"]), dates(["Rome"])
    ('30.02.2024', '', None)
    """
    plain = cells if all(map(str.isascii, cells)) else [ascii_digits(cell) for cell in cells]
    if plain and CTIME.fullmatch(plain[0]) and all(ordered := [CTIME.fullmatch(cell) for cell in plain]):
        usual = [f"{m['d']} {m['name']} {m['y']} {m['time']}" for m in ordered if m]
        read = dates(usual, month_first, rows)
        return read._replace(example=cells[usual.index(read.example)]) if isinstance(read, Dates) else read
    if plain and ERA.match(plain[0]):
        western = [ERA.sub(_year_of_era, cell) for cell in plain]
        read = dates(western, month_first, rows)
        return read._replace(example=cells[western.index(read.example)]) if isinstance(read, Dates) else read
    if plain and BUDDHIST.search(plain[0]) and (western := _western(plain)):
        read = dates(western, month_first, rows)
        return read._replace(example=cells[western.index(read.example)], era=True) if isinstance(read, Dates) else read
    if month_first is not None and plain and all(map(COMPACT.fullmatch, plain)):
        return _made(cells, [iso_of(m, False) for m in map(COMPACT.fullmatch, plain) if m], "", False)
    if month_first is not None and plain and all(map(COUNTED.fullmatch, plain)):
        times = counted_days(np.array(plain, dtype=float))
        if times is not None:
            return _made(cells, np.datetime_as_string(times).tolist(), "", False)
    if month_first is not None and (months := _months(plain)):
        return _made(cells, months, "", False)
    if not (plain and DATE.fullmatch(plain[0]) and all(map(DATE.fullmatch, plain))):
        return None
    if all(map(ISO.fullmatch, plain)):
        return _made(cells, list(plain), "", False)
    form = next(f for f in FORMS if f.fullmatch(plain[0]))
    matches = [form.fullmatch(cell) for cell in plain]
    parts = [m for m in matches if m is not None]
    if len(parts) < len(cells):
        return _in_several_forms(cells) if month_first is None else ""
    if len({m["zone"] is None for m in parts}) > 1:
        return ""
    zone = parts[0]["zone"] or ""
    if any(m["zone"] != parts[0]["zone"] for m in parts) or not minutes_ahead(zone):
        return _of_one_form(cells, form, parts, month_first, rows)
    read = _of_one_form(cells, form, parts, month_first, rows)
    if not isinstance(read, Dates):
        return read
    values = read.values + np.timedelta64(minutes_ahead(zone), "m")  # one zone throughout: what the clock there showed
    return read._replace(values=values, reads=_shown(values[cells.index(read.example)]), zone=False, kept=zone)


def _year_of_era(match: re.Match[str]) -> str:
    return str(ERAS[match[1]] + (1 if match[2] == "元" else int(match[2])))


def _western(cells: Sequence[str]) -> list[str]:
    """Dates with the common year for that of the Buddhist era, where each cell has one such; nothing where not."""
    years = [BUDDHIST.findall(cell) for cell in cells]
    if any(len(candidates) != 1 for candidates in years):
        return []
    return [BUDDHIST.sub(str(int(year) - 543), cell) for cell, (year,) in zip(cells, years, strict=True)]


def _of_one_form(
    cells: Sequence[str],
    form: re.Pattern[str],
    parts: Sequence[re.Match[str]],
    month_first: bool | None,
    rows: NDArray[np.intp] | None,
) -> Dates | str | None:
    """`dates` of cells that all have this form."""
    if form is NAMED:
        named = {month_name(m) for m in parts}
        spoken = [months for months in MONTHS if all(month_number(*name, months) for name in named)]
        if spoken:
            return _made(cells, [iso_of(m, False, spoken[0]) for m in parts], "", False)
        known = {name for name, first in named if any(month_number(name, first, months) for months in MONTHS)}
        strange = (cell for cell, m in zip(cells, parts, strict=True) if month_name(m)[0] not in known)
        return next(strange, "") if known else None
    if form is not YEAR_LAST:
        return _made(cells, [iso_of(m, False) for m in parts], "", False)
    day_first = any(int(m["a"]) > 12 for m in parts)
    month = any(int(m["b"]) > 12 for m in parts)
    if day_first and month:
        return ""
    shown = {_format(m) for m in parts if max(int(m["a"]), int(m["b"])) > 12}  # one format says nothing of another
    doubtful = any(m["mark"][0] != "." and m["a"] != m["b"] and _format(m) not in shown for m in parts)
    if month_first is None and doubtful and rows is not None and not day_first and not month:
        month = not _in_order(parts, rows, False) and _in_order(parts, rows, True)
    chosen = month if month_first is None else month_first
    return _made(cells, [iso_of(m, chosen) for m in parts], "month" if chosen else "day", doubtful)


def _in_several_forms(cells: Sequence[str]) -> Dates | str:
    """Dates of several forms, each of which shows what is its day; "" where one does not."""
    read = read_each(cells)
    if (read.ways == "").any() or (read.ways == "either").any() or 0 < read.zoned < len(cells):
        return ""
    if {"day", "month"} <= set(read.ways.tolist()):
        return ""
    made = _made(cells, np.datetime_as_string(read.values).tolist(), "", False)
    first = next(f for f in FORMS if f.fullmatch(ascii_digits(cells[0])))
    other = next(cell for cell in cells if not first.fullmatch(ascii_digits(cell)))
    return made._replace(example=cells[0], reads=_shown(read.values[0]), other=other) if isinstance(made, Dates) else ""


def are_months(cells: Sequence[str]) -> bool:
    """Whether every cell is a month of a year.

    >>> are_months(["Jan 2024", "Okt 2024"]), are_months(["2024-01", "2024-13"]), are_months(["May 24", "Bond 07"])
    (True, False, False)
    >>> are_months(["Jan 2024", "Mar 2024"]), are_months(["2024-01", "2024-12"]), are_months(["01/2024"])
    (True, True, True)
    """
    return bool(_months(cells))


def _months(cells: Sequence[str]) -> list[str]:
    """The first day of the months that the cells are; nothing where they are none, or named in several languages."""
    parts = [MONTH.fullmatch(cell) for cell in cells] if cells and MONTH.fullmatch(cells[0]) else []
    matches = [m for m in parts if m is not None]
    names = {m["name"] for m in matches if m["name"]}
    spoken = next((own for own in MONTHS if all(month_number(name, False, own) for name in names)), None)
    if len(matches) < len(cells) or spoken is None:
        return []
    return [f"{full_year(m['y'] or m['y2'] or m['y3'])}-"
            f"{int(m['m'] or m['m2'] or month_number(m['name'], False, spoken)):02}-01" for m in matches]  # fmt: skip


def _made(cells: Sequence[str], iso: list[str], order: Literal["day", "month", ""], doubtful: bool) -> Dates | str:
    try:
        values = np.array(iso, dtype="datetime64[us]")
    except ValueError:
        return next(cell for cell, text in zip(cells, iso, strict=True) if not is_time(text))
    zones = [k for k, cell in enumerate(cells) if ELSEWHERE.search(cell)]
    k = zones[0] if zones else next((k for k, cell in enumerate(cells) if FINER.search(cell)), 0)
    return Dates(values, order, doubtful, cells[k], _shown(values[k]), bool(zones))


def _shown(time: np.datetime64) -> str:
    return str(time).replace("T", " ").removesuffix(".000000").removesuffix(" 00:00:00")


FIRST_COUNTED = 20_000.0
"""The least number that is taken for a day so counted: a day of 1954."""


def counted_days(values: NDArray[np.float64]) -> NDArray[np.datetime64] | None:
    """Numbers as times: days since 1899-12-30, as spreadsheets count (of 1954 to 2119), or seconds or milliseconds
    since 1970 (of 2001 to 2033), as Unix does; None where they are neither throughout.

    >>> [str(counted_days(np.array([x]))[0]) for x in (45000.5, 1_700_000_000)]
    ['2023-03-15T12:00:00.000000', '2023-11-14T22:13:20.000000']
    """
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    for least, most, seconds, since in (
        (FIRST_COUNTED, 80_000.0, 86_400.0, "1899-12-30"),
        (1e9, 2e9, 1.0, "1970-01-01"),
        (1e12, 2e12, 1e-3, "1970-01-01"),
    ):
        if least <= low and high <= most:
            micros = np.round(values * seconds * 1e6).astype("timedelta64[us]")
            return np.asarray(np.datetime64(since, "us") + micros)
    return None


class EachDate(NamedTuple):
    """Cells read one by one. `ways` says of each how it is written: "plain" where year or name tell the month from the
    day (or both are the same number), "day" and "month" where only that can stand first, "either" where both could, ""
    where it is no day of the calendar. `order` is what stands first in a column of one format in which some cells show
    it, "" elsewhere; `zoned` cells name a time zone."""

    values: NDArray[np.datetime64]
    ways: NDArray[np.str_]
    order: Literal["day", "month", ""]
    zoned: int


def read_each(cells: Sequence[str], month_first: bool | None = None) -> EachDate:
    """Every cell as the date it can be, NaT where it is none. Where day and month could change places `month_first`
    decides; without it the column's own `order` does, and where there is none the value is NaT.

    >>> read = read_each(["2024-02-03", "3 Feb 2024", "13/02/2024", "02/13/2024", "03/02/2024", "30.02.2024"])
    >>> read.ways.tolist(), read.order
    (['plain', 'plain', 'day', 'month', 'either', ''], '')
    >>> read_each(["13/02/2024", "03/02/2024"]).values.astype("datetime64[D]").tolist()[1]
    datetime.date(2024, 2, 3)
    """
    plain = [ascii_digits(cell) for cell in cells]
    matches = [next((m for f in (*FORMS, COMPACT) if (m := f.fullmatch(cell))), None) for cell in plain]
    named = {month_name(m) for m in matches if m is not None and m.re is NAMED}
    months = {name: [months for months in MONTHS if month_number(*name, months)] for name in named}
    spoken = next((own for own in MONTHS if all(own in known for known in months.values())), None)
    parts, iso, swapped = list[str](), list[str](), list[str]()
    dotted = any(m is not None and m.re is YEAR_LAST and m["mark"][0] == "." and int(m["b"]) > 12 for m in matches)
    formats = set[tuple[str, int]]()
    for m in matches:
        way, text, other = "", "NaT", "NaT"
        if m is not None and m.re is YEAR_LAST:
            a, b, mark = int(m["a"]), int(m["b"]), m["mark"][0]
            formats.add(_format(m))
            way = "day" if a > 12 else "month" if b > 12 else "plain" if a == b else "either"
            way = "day" if way == "either" and mark == "." and not dotted else way  # so only the day stands first
            text, other = iso_of(m, way == "month"), iso_of(m, True) if way == "either" else "NaT"
        elif m is not None and (m.re is not NAMED or months[month_name(m)]):
            formats.add((m.re.pattern, 0))
            way, text = "plain", iso_of(m, False, () if m.re is not NAMED else spoken or months[month_name(m)][0])
        parts.append(way)
        iso.append(text)
        swapped.append(other)
    values, other_way = _as_times(iso), _as_times(swapped)
    ways = np.where(np.isnat(values), "", np.array(parts, dtype="U6"))
    shown = {way for way in ("day", "month") if (ways == way).any()}
    order: Literal["day", "month", ""] = ""
    if len(formats) == 1 and len(shown) == 1:
        order = "month" if "month" in shown else "day"
    first = order == "month" if month_first is None and order else month_first
    either = ways == "either"
    if first is not False:
        values[either] = other_way[either] if first else np.datetime64("NaT")
    return EachDate(values, ways, order, sum(m is not None and bool(m["zone"]) for m in matches))


def _format(match: re.Match[str]) -> tuple[str, int]:
    """What sets one way to write day, month and year apart from another: the mark, and how long the year is."""
    return match["mark"][0], len(match["y"])


def _as_times(iso: list[str]) -> NDArray[np.datetime64]:
    """NaT where a text is no time of the calendar."""
    try:
        return np.array(iso, dtype="datetime64[us]")
    except ValueError:
        return np.array([text if is_time(text) else "NaT" for text in iso], dtype="datetime64[us]")


def compact_days(x: NDArray[np.float64]) -> pd.Series | None:
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


def _in_order(parts: Sequence[re.Match[str]], rows: NDArray[np.intp], month_first: bool) -> bool:
    """Whether the rows, read so, come in order of time."""
    try:
        values = np.array([iso_of(m, month_first) for m in parts], dtype="datetime64[us]")[rows]
    except ValueError:
        return False
    return len(parts) > 2 and bool((values[1:] >= values[:-1]).all() or (values[1:] <= values[:-1]).all())
