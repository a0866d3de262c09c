"""What is said of a column that is read: how its numbers and dates are, what a float64 loses of them, what they may be
instead, and what is taken as missing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.language import Listing, Message
from bayes_engine.table.annotations import Annotated
from bayes_engine.table.date_forms import DATE, DAY_NAME, MOMENT_NAME
from bayes_engine.table.dates import FIRST_COUNTED, Dates, compact_days, counted_days
from bayes_engine.table.notes import Note, Offer, Severity, as_months, as_text, listed, note, offer
from bayes_engine.table.numbers import (
    CODE,
    MONTH_NUMBER,
    PHONE,
    PLAIN_CHARACTERS,
    Mark,
    ParsedNumbers,
    is_number,
    pointed,
    precision_loss,
    version_among,
)
from bayes_engine.table.sentinels import among_others, sentinels, surely_unknown
from bayes_engine.table.spellings import INVISIBLE
from bayes_engine.table.units import known_unit, scaled, word_behind

_NAMED = 5
"""How many columns a note about the whole table names."""


def number_notes(name: str, numbers: ParsedNumbers, decimal: Mark | None, position: int) -> list[Note]:
    """How a column's numbers are read, where they are not written as a program writes them.

    >>> notes = number_notes("x", ParsedNumbers(np.array([1.5]), False, ",", "1,5", 1.5), None, position=0)
    >>> [str(n.message) for n in notes]
    ["column 'x': the decimal mark is a comma ('1,5' is read as 1.5)"]
    """
    notes = []
    written, value = numbers.example, f"{numbers.reads:.15g}"
    if numbers.mark == "," or decimal == ",":
        pointed_alone = "," not in written and decimal is None
        if pointed_alone and "." in written:
            notes.append(note("column '{column}': points separate thousands ('{example}' is read as {value})",
                              "info" if written.count(".") > 1 else "warning", column=name, example=written,
                              value=value)
                         .offering(offer("The decimal mark is a point", "decimal", "."),
                                   as_text(position)))  # fmt: skip
        elif "," in written or "." in written:
            grouped = re.search(r"\.\d{3},", written) is not None
            notes.append(note("column '{column}': the decimal mark is a comma ('{example}' is read as {value}), and "
                              "points separate thousands" if grouped else
                              "column '{column}': the decimal mark is a comma ('{example}' is read as {value})",
                              column=name, example=written, value=value)
                         .offering(offer("The decimal mark is a point", "decimal", "."),
                                   as_text(position)))  # fmt: skip
    elif "," in written and numbers.mark == ".":
        notes.append(note("column '{column}': commas are thousands separators ('{example}' is read as {value})",
                          column=name, example=written, value=value).offering(as_text(position)))  # fmt: skip
    elif "," in written:
        doubt: Severity = "info" if decimal == "." else "warning"
        notes.append(note("column '{column}': commas are thousands separators ('{example}' is read as {value}); if "
                          "they are decimal commas, choose decimal=','", doubt, column=name, example=written,
                          value=value)
                     .offering(offer("The decimal mark is a comma", "decimal", ","), as_text(position)))  # fmt: skip
    if numbers.unit == "%":
        share = f"{numbers.reads / 100:.15g}"
        notes.append(note("column '{column}' is in percent: '{example}' is read as {value}, not as {share}",
                          column=name, example=written, value=value, share=share)
                     .offering(as_text(position)))  # fmt: skip
    elif numbers.unit and numbers.unit in (known_unit(written), word_behind(written)):
        notes.append(note("column '{column}': the unit '{left}' is left out, the numbers are kept", column=name,
                          left=numbers.unit).offering(as_text(position)))  # fmt: skip
    elif numbers.unit:
        notes.append(note("column '{column}': the currency sign '{sign}' is left out, the numbers are kept",
                          column=name, sign=numbers.unit).offering(as_text(position)))  # fmt: skip
    if not np.isfinite(numbers.values).all():
        notes.append(infinite_note(name, position))
    if numbers.behind and all(n.message.params.get("example") != numbers.behind[0] for n in notes):
        notes.append(note("column '{column}': '{example}' is read as {value}", column=name, example=numbers.behind[0],
                          value=f"{numbers.behind[1]:.15g}").offering(as_text(position)))  # fmt: skip
    if not notes and not PLAIN_CHARACTERS.issuperset(written):
        grouped = re.search(r"\d[ \u00a0\u202f\u2009'’]\d{3}(?!\d)", written) is not None
        notes.append(note("column '{column}': '{example}' is read as {value}; its thousands are separated" if grouped
                          else "column '{column}': '{example}' is read as {value}", column=name, example=written,
                          value=value).offering(as_text(position)))  # fmt: skip
    return notes


def signs_notes(name: str, signs: Sequence[str]) -> list[Note]:
    """What stood beside a column's numbers."""
    remark = note("column '{column}': left out beside the numbers: {signs}", column=name, signs=listed(signs))
    return [remark] if signs else []


def unit_left_out(own: Note) -> str:
    """The unit that a column's numbers were written with, where this note says so; "" where it says anything else.

    >>> [unit_left_out(remark) for remark in signs_notes("x", ["$", "cm"])]
    ['cm']
    """
    if left := own.message.params.get("left"):
        return str(left)
    signs = own.message.params.get("signs")
    named = signs.parts if isinstance(signs, Listing) else ()
    shown = (str(part.params["name"]) for part in named if isinstance(part, Message))
    return next((sign for sign in shown if not is_number(f"1{sign}")), "")


def suffix_notes(name: str, cells: Sequence[str], values: NDArray[np.float64]) -> list[Note]:
    """How the first number is read that has a suffix."""
    of_suffix = ((cell, value) for cell, value in zip(cells, values.tolist(), strict=True) if scaled(cell)[1] != 1.0)
    return [note("column '{column}': numbers are multiplied by their suffixes ('{example}' is read as {value})",
                 column=name, example=cell, value=f"{value:.15g}") for cell, value in islice(of_suffix, 1)]  # fmt: skip


def annotation_notes(name: str, read: Annotated, position: int) -> list[Note]:
    """What stood beside a column's numbers and is no part of them now; of words among them `missing_notes` tells.

    >>> from bayes_engine.table.annotations import annotated_numbers
    >>> [str(n.message) for n in annotation_notes("x", annotated_numbers({"5*": 1, "6": 1}), 0)]
    ["column 'x': marks behind its numbers, as footnotes and flags have them, are left out ('*'): '5*' is read as 5"]
    """
    params = {"column": name, "example": read.example[:40], "value": f"{read.reads:.15g}"}
    if read.beside == "words":
        return []
    if read.beside == "multiplier":
        remark = note("column '{column}': numbers are multiplied by their suffixes ('{example}' is read as {value})",
                      "warning", **params)  # fmt: skip
    elif read.beside == "error":
        remark = note("column '{column}': the errors behind ± are left out ('{example}' is read as {value})", "warning",
                      **params)  # fmt: skip
    elif read.beside == "shared":
        remark = note("column '{column}': '{left}' stands behind every number, and is left out ('{example}' is read as "
                      "{value})", "warning", left=read.left[0], **params)  # fmt: skip
    else:
        remark = note("column '{column}': marks behind its numbers, as footnotes and flags have them, are left out "
                      "({marks}): '{example}' is read as {value}", "warning", marks=listed(read.left),
                      **params)  # fmt: skip
    return [remark.offering(as_text(position))]


def infinite_note(name: str, position: int) -> Note:
    """That a column, at this position, holds infinite numbers."""
    return note("column '{column}' holds infinite numbers; rows with one cannot be classified", "warning",
                column=name).offering(as_text(position))  # fmt: skip


def mixed_note(name: str, cells: Sequence[str], commas: Sequence[int], n: int, position: int) -> Note:
    """That of a column's numbers some (those at `commas`, in `n` cells) have a decimal comma and others a point."""
    comma = cells[commas[0]]
    others = [cell for i, cell in enumerate(cells) if i not in set(commas)]
    point = next((cell for cell in others if not cell.isalnum()), others[0])  # 1,234,567 too shows a point
    return note("column '{column}' writes its decimal mark in two ways ('{example}', '{other}'); each number is read "
                "with its own, with a comma in {n} cells", "warning", column=name, example=point, other=comma, n=n
                ).offering(as_text(position))  # fmt: skip


def holds_nan(values: NDArray[Any]) -> bool:
    """Whether a number is NaN: of that the least is NaN, and it is found without a mark for every number.

    >>> holds_nan(np.array([1.0, np.nan])), holds_nan(np.array([1, 2])), holds_nan(np.array([]))
    (True, False, False)
    """
    return values.dtype.kind == "f" and len(values) > 0 and bool(np.isnan(values.min()))


def ends_of(values: NDArray[Any]) -> tuple[Any, Any]:
    """The least and the greatest number that is not NaN, NaN where all are: in two quick passes where none is.

    >>> [float(end) for end in ends_of(np.array([2.0, np.nan, 1.0]))]
    [1.0, 2.0]
    """
    low, high = values.min(), values.max()
    return (low, high) if low == low else (np.fmin.reduce(values), np.fmax.reduce(values))


def day_notes(name: str, values: NDArray[Any], position: int) -> list[Note]:
    """That numbers may be days: YYYYMMDD, where every one of three and more is a day of the calendar; or, in a column
    named so, the days a spreadsheet counts or the seconds that programs do. And that the least or the greatest may
    stand for no number.

    >>> len(day_notes("x", np.array([20240229, 20240301, 20231224]), 0))
    1
    >>> len(day_notes("x", np.array([20240229, 20240301, 20240230]), 0))
    0
    >>> [str(n.message) for n in day_notes("Start date", np.array([45000, 45117]), 0)]
    ["column 'Start date': '45000' is read as a number; as a date it is 2023-03-15"]
    """
    low, high = ends_of(values)
    as_dates = offer("Read as dates", "types", ((position, "date"),))
    if 1900_01_01 <= low <= 2100_12_31 and compact_days(np.unique(values[~np.isnan(values)]).astype(float)) is not None:
        return [note("column '{column}': '{example}' is read as a number; such numbers may be dates", "warning",
                     column=name, example=f"{low:.0f}").offering(as_dates)]  # fmt: skip
    named = DAY_NAME if high < 1e9 else MOMENT_NAME  # times run from 20,000 too, but days counted are days
    if low >= FIRST_COUNTED and named.search(name) and (days := counted_days(np.array([low, high]))) is not None:
        return [note("column '{column}': '{example}' is read as a number; as a date it is {value}", "warning",
                     column=name, example=f"{low:.15g}", value=str(days[0])[:10]).offering(as_dates)]  # fmt: skip
    return _sentinel_notes(name, values, (float(low), float(high)))


def _sentinel_notes(name: str, values: NDArray[Any], ends: tuple[float, float]) -> list[Note]:
    """That one of the `ends` of a column's numbers is one that people write for "not known", comes back, and stands
    apart from all others."""
    if not any(surely_unknown(end) and not among_others(values, end) for end in ends):
        return []
    unknown = sentinels(values.astype(float), surely=True)
    if not unknown:
        return []
    among = np.isin(values, unknown)
    rest = values[~among & ~np.isnan(values)]
    words = [f"{value:.15g}" for value in unknown]
    return [note("column '{column}': {n} cells hold {values}, apart from all others ({low} to {high}); if it means "
                 "that the number is not known, take it as missing", "warning", column=name, values=listed(words),
                 n=int(among.sum()), low=f"{rest.min():.6g}", high=f"{rest.max():.6g}")
            .offering(offer("It means missing", "missing", tuple(words)))]  # fmt: skip


def code_notes(name: str, rest: list[str], position: int) -> list[Note]:
    """That a number is read from what may be a code, or a telephone number where no cell gives a reason for signs."""
    if (code := next(filter(CODE.fullmatch, rest), None) or version_among(rest)) is not None:
        return [note("column '{column}': '{example}' is read as {value}; if it is a code, keep the column as text",
                     "warning", column=name, example=code, value=f"{float(code):.15g}")
                .offering(as_text(position))]  # fmt: skip
    if all(map(MONTH_NUMBER.fullmatch, rest)):
        return [note("column '{column}': '{example}' is read as {value}; such numbers may be months", "warning",
                     column=name, example=rest[0], value=f"{float(rest[0]):.15g}")
                .offering(*as_months(position), as_text(position))]  # fmt: skip
    phone = next((cell for cell in rest if cell[0] == "+" and PHONE.fullmatch(cell)), None)
    if phone is None or any(cell[0] in "-−(" for cell in rest):
        return []
    return [note("column '{column}': '{example}' is read as a number, without its plus sign; if it is a telephone "
                 "number, keep the column as text", "warning", column=name, example=phone)
            .offering(as_text(position))]  # fmt: skip


def point_note(name: str, text: pd.Series, position: int) -> Note:
    """What a point was taken for that may as well separate thousands."""
    cells = text.str.replace(INVISIBLE, "", regex=True).str.strip()
    written, value = next((cell, x) for cell in cells if re.search(r"\.\d", cell) and (x := pointed(cell)) is not None)
    return note("column '{column}': the point is the decimal mark ('{example}' is read as {value}); if it separates "
                "thousands, choose decimal=','", "warning", column=name, example=written,
                value=f"{value:.15g}"
                ).offering(offer("The decimal mark is a comma", "decimal", ","), as_text(position))  # fmt: skip


def invisible_note(column: pd.Series, position: int) -> Note:
    """That numbers or dates are read from cells that hold characters nobody sees."""
    rows = np.flatnonzero(column.str.contains(INVISIBLE))
    return note("column '{column}': cells with invisible characters, which are left out: {n}, the first in row {row}",
                column=str(column.name), n=len(rows), row=int(rows[0]) + 1).offering(as_text(position))  # fmt: skip


def altered(column: pd.Series, values: NDArray[Any], position: int = 0) -> list[Note]:
    """What is said of cells whose numbers are no float64: too near to 0, too large, or of more digits than it keeps.

    >>> [str(n.message) for n in altered(pd.Series(["1", "1e-400"], name="x"), np.array([1.0, 0.0]))]
    ["column 'x': numbers too near to 0 to be kept, read as 0: 1, the first in row 2 ('1e-400')"]
    """
    rows = np.flatnonzero((values == 0) | (np.abs(values) >= 2.0**53))
    if not rows.size:
        return []
    codes, cells = pd.factorize(column.iloc[rows])
    firsts = rows[np.unique(codes, return_index=True)[1]]
    kinds = np.array(
        [precision_loss(str(cell), float(values[i])) for cell, i in zip(cells, firsts.tolist(), strict=True)]
    )

    def where(kind: str) -> dict[str, Any]:
        affected = rows[(kinds == kind)[codes]]
        first = int(affected[0])
        return {"column": str(column.name), "n": len(affected), "row": first + 1,
                "value": str(column.iloc[first]).strip()[:40], "read": f"{values[first]:.17g}"}  # fmt: skip

    notes = []
    if "flat" in kinds:
        notes.append(note("column '{column}': numbers too near to 0 to be kept, read as 0: {n}, the first in row {row} "
                          "('{value}')", "warning", **where("flat")))  # fmt: skip
    if "infinite" in kinds:
        notes.append(note("column '{column}': numbers too large to be kept, read as infinite: {n}, the first in row "
                          "{row} ('{value}')", "warning", **where("infinite")))  # fmt: skip
    if "rounded" in kinds:
        notes.append(note("column '{column}': numbers of more digits than can be kept, rounded: {n}, the first in row "
                          "{row} ('{value}' is read as {read})", "warning", **where("rounded")))  # fmt: skip
    return [remark.offering(as_text(position)) for remark in notes]


def date_notes(name: str, when: Dates, position: int) -> list[Note]:
    """How a column's dates are read."""
    params = {"column": name, "example": when.example, "value": when.reads}
    if when.order == "day":
        order_note = note("column '{column}': dates, read as day, month, year ('{example}' is {value})", **params)
    elif when.order == "month":
        order_note = note("column '{column}': dates, read as month, day, year ('{example}' is {value})", **params)
    else:
        order_note = note("column '{column}': dates ('{example}' is {value})", **params)
    if when.other:
        order_note = note("column '{column}' writes its dates in several ways ('{example}', '{other}'); each shows "
                          "what is its day ('{example}' is {value})", "warning", other=when.other,
                          **params)  # fmt: skip
    offers = [as_text(position)]
    if when.doubtful:
        order_note = replace(order_note, severity="warning")
        if when.order == "day":
            offers.insert(0, offer("The month stands first", "types", ((position, "date_month_first"),)))
        else:
            offers.insert(0, offer("The day stands first", "types", ((position, "date"),)))
    notes = [order_note.offering(*offers)]
    if when.zone:
        notes.append(note("column '{column}': times of other zones are counted back to UTC", column=name))
    if when.kept:
        notes.append(note("column '{column}': all times are of the zone {zone}; they stay as they are written",
                          column=name, zone=when.kept))  # fmt: skip
    if when.era:
        notes.append(note("column '{column}': the years are those of the Buddhist era, 543 ahead", "warning",
                          column=name).offering(as_text(position)))  # fmt: skip
    return notes


def no_dates_note(name: str, rest: list[str], why: str | None, *offers: Offer) -> Note:
    """Why a column whose cells look like dates, or that is to be dates, is none (see `dates`)."""
    if why == "":
        reason = note("column '{column}' writes its dates in different ways, so it stays text", "warning", column=name)
    elif why is None:
        strange = next((cell for cell in rest if not DATE.fullmatch(cell)), rest[0])
        reason = note("column '{column}' holds '{value}', which is no date, so it stays text", "warning",
                    column=name, value=strange)  # fmt: skip
    else:
        reason = note("column '{column}' looks like dates, but '{value}' is none, so it stays text", "warning",
                    column=name, value=why).offering(offer("It means missing", "missing", (why,)))  # fmt: skip
    return reason.offering(*reason.offers, *offers)


def also_missing(kept_note: Note, taken: Sequence[str]) -> Note:
    """A note that a word was kept as a value, offering to take it as missing besides all that is taken so."""
    offers = tuple(o._replace(value=tuple(sorted({*taken, *o.value}))) if o.keyword == "missing" else o
                   for o in kept_note.offers)  # fmt: skip
    return replace(kept_note, offers=offers)


def missing_notes(absent: Mapping[str, Mapping[str, int]]) -> list[Note]:
    """What was read as missing, from each column's `ConvertedColumn.absent`. Words are told by column, or by word
    where more than five columns hold any; empty cells are told once for the table.

    >>> [str(n.message) for n in missing_notes({"a": {"": 2}, "b": {"": 3, "NA": 1}})]
    ["column 'b': cells read as missing: 1 ('NA')", "empty cells, read as missing: 5, in 2 columns: 'b' (3), 'a' (2)"]
    """
    words = {name: {t: n for t, n in counts.items() if t} for name, counts in absent.items()}
    words = {name: counts for name, counts in words.items() if counts}
    if len(words) <= _NAMED:
        place = {name: position for position, name in enumerate(absent)}
        notes = [note("column '{column}': cells read as missing: {n} ({tokens})", "warning", column=name,
                      n=sum(counts.values()), tokens=listed(list(counts)))
                 .offering(offer("It is a value here: keep the column as text", "types", ((place[name], "text"),)))
                 for name, counts in words.items()]  # fmt: skip
    else:
        notes = []
        taken = list(dict.fromkeys(t for counts in words.values() for t in counts))
        for token in taken:
            cells = {name: counts[token] for name, counts in words.items() if token in counts}
            others = tuple(t for t in taken if t != token)
            notes.append(note("cells with '{token}', read as missing: {n}; by column: {columns}", "warning",
                              token=token, n=sum(cells.values()), columns=_counts(cells))
                         .offering(offer("It is a value", "missing", others)))  # fmt: skip
    empty = {name: counts[""] for name, counts in absent.items() if "" in counts}
    if len(empty) == 1:
        notes += [note("column '{column}': empty cells, read as missing: {n}", column=c, n=n) for c, n in empty.items()]
    elif empty:
        notes.append(note("empty cells, read as missing: {n}, in {k} columns: {columns}", n=sum(empty.values()),
                          k=len(empty), columns=_counts(empty)))  # fmt: skip
    return notes


def _counts(cells: Mapping[str, int]) -> Listing:
    """The columns with most such cells, and how many."""
    most = sorted(cells.items(), key=lambda item: -item[1])[:_NAMED]
    shown = [Message("{name} ({n})", {"name": listed([name]), "n": n}) for name, n in most]
    return Listing([*shown, *(["…"] if len(cells) > _NAMED else [])])
