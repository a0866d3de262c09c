"""What is said while a table is read: notes of what was inferred or changed, with the ways to have it otherwise.

First the forms in which all that reads a file speaks; then what there is to say of a column of text: how its numbers
and dates are read, what a float64 loses of them, why it stays text, what is taken as missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.language import Listing, Message
from bayes_engine.table.dates import (
    DATE,
    DAY_NAME,
    FIRST_COUNTED,
    MOMENT_NAME,
    Dates,
    are_months,
    compact_days,
    counted_days,
    is_day_of_year,
)
from bayes_engine.table.numbers import (
    CODE,
    MONTH_NUMBER,
    PHONE,
    PLAIN_CHARACTERS,
    Mark,
    ParsedNumbers,
    is_limit,
    is_number,
    known_unit,
    mark_in_doubt,
    means_missing,
    numbers_among,
    pointed,
    precision_loss,
    scaled,
    unflagged,
    units_of,
    usual_unit,
    version_among,
)
from bayes_engine.table.sentinels import among_others, sentinels, surely_unknown
from bayes_engine.table.spellings import INVISIBLE, LOOK_ALIKE, MARKS, spelling

Severity = Literal["info", "warning"]

_NAMED = 5
"""How many columns a note about the whole table names."""
_YES_NO = frozenset((
    "yes", "no", "true", "false", "y", "n", "t", "f", "1", "0", "on", "off", "ja", "nein", "j", "wahr", "falsch", "oui",
    "non", "vrai", "faux", "sí", "si", "s", "verdadero", "falso", "sim", "não", "да", "нет", "是", "否", "对", "错",
    "真", "假",
))  # fmt: skip


class Offer(NamedTuple):
    """Another way to read: a keyword of `read_table` with its value, and what a button says. A value of `types` speaks
    of one column and joins what is said of the others."""

    keyword: Literal["encoding", "delimiter", "quote", "decimal", "header", "sheet", "missing", "types", "trim"]
    value: Any
    label: Message


def offer(template: str, keyword: Any, value: Any, /, **params: object) -> Offer:
    """An Offer from its words."""
    return Offer(keyword, value, Message(template, params))


@dataclass(frozen=True)
class Note:
    """One thing that was inferred or changed while reading, and how to have it otherwise."""

    message: Message
    severity: Severity = "info"
    column: str | None = None
    line: int | None = None
    offers: tuple[Offer, ...] = ()

    def offering(self, *offers: Offer) -> Note:
        """This note with ways to have it otherwise."""
        return replace(self, offers=offers)


def note(template: str, severity: Severity = "info", line: int | None = None, /, **params: object) -> Note:
    """A Note on this `line`, whose column is the parameter `column`, where there is one."""
    column = params.get("column")
    return Note(Message(template, params), severity, None if column is None else str(column), line)


def listed(values: Sequence[str], most: int = 6) -> Listing:
    """Quoted, cut to the first few and each to 40 characters."""
    shown = [Message("'{name}'", {"name": v if len(v) <= 40 else v[:39] + "…"}) for v in values[:most]]
    return Listing([*shown, *(["…"] if len(values) > most else [])])


def lines_of(lines: Sequence[int] | NDArray[np.intp]) -> Listing:
    """The first five line numbers."""
    return Listing([*(str(int(line)) for line in lines[:5]), *(["…"] if len(lines) > 5 else [])])


KEEP: Offer = offer("Keep these lines as rows", "trim", False)
"""To leave every line below the header a row."""


def as_text(position: int) -> Offer:
    """To leave the column at this position as it is written."""
    return offer("Keep as text", "types", ((position, "text"),))


def as_numbers(position: int) -> Offer:
    """To read the column at this position as numbers; what is none is missing."""
    return offer("Read as numbers", "types", ((position, "number"),))


def by_rule(position: int) -> Offer:
    """To take back what was chosen for the column at this position."""
    return offer("Read it by rule again", "types", ((position, "auto"),))


def number_notes(name: str, numbers: ParsedNumbers, decimal: Mark | None, position: int) -> list[Note]:
    """How a column's numbers are read, where they are not written as a program writes them.

    >>> notes = number_notes("x", ParsedNumbers(np.array([1.5]), False, ",", "1,5", 1.5), None, position=0)
    >>> [str(n.message) for n in notes]
    ["column 'x': the decimal mark is a comma ('1,5' is read as 1.5)"]
    """
    notes = []
    written, value = numbers.example, f"{numbers.reads:.15g}"
    if numbers.mark == "," or decimal == ",":
        if "," in written or "." in written:
            notes.append(note("column '{column}': the decimal mark is a comma ('{example}' is read as {value})",
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
    elif known_unit(written) == numbers.unit != "":
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
        notes.append(note("column '{column}': '{example}' is read as {value}", column=name, example=written,
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
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)
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
    found = sentinels(values.astype(float), surely=True)
    if not found:
        return []
    among = np.isin(values, found)
    rest = values[~among & ~np.isnan(values)]
    words = [f"{value:.15g}" for value in found]
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
                .offering(*_as_months(position), as_text(position))]  # fmt: skip
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


def spelling_notes(name: str, spelled: list[str], bare: list[str], kept: Mapping[str, int], position: int
                   ) -> list[Note]:  # fmt: skip
    """What the distinct spellings of a text column suggest: half a number, half a date, yes and no, two spellings of
    one. `bare` are the spellings without the spaces around them, `kept` those of them that do not mean missing, and
    how many cells have each.

    >>> cells = ["12 cm", "13 cm"]
    >>> [str(n.message) for n in spelling_notes("x", cells, cells, dict.fromkeys(cells, 1), position=0)]
    ["column 'x' holds numbers with the unit 'cm' ('12 cm'), and stays text"]
    """
    if {k.casefold() for k in kept} <= _YES_NO and len(kept) > 2:
        words = [k for k in kept if not k.isdigit()]
        few = 10 * sum(kept[k] for k in words) <= sum(kept.values())  # a slip among numbers
        return [note("column '{column}' spells yes and no in {n} ways ({values}); they are kept as different values",
                     "warning", column=name, n=len(kept), values=listed(list(kept)))
                .offering(*_as_missing(words if few else []))]  # fmt: skip
    cells = list(kept)
    half = (_days_of_year(name, cells) or _half_numbers(name, kept, position) or _half_dates(name, cells)
            or _patterned(name, kept, position))  # fmt: skip
    return [*half, *_alike(name, spelled, bare, kept)]


def _half_numbers(name: str, kept: Mapping[str, int], position: int) -> list[Note]:
    """That a column of text may be numbers: with a unit or a suffix, but for a few cells, or written in two ways."""
    if _parts_of_codes(list(kept)):
        return []
    taken_apart = {k: own for k in kept if (own := scaled(k))[0] != k}
    multiplied = [k for k, (_bare, by) in taken_apart.items() if by != 1.0]
    inexact = [k for k in taken_apart if k not in multiplied]
    unit = usual_unit([k for k in kept if k not in taken_apart])
    bear = [k for k in kept if unit and k not in taken_apart and is_number(k.removesuffix(unit)) and not is_number(k)]
    plain = [k for k in kept if is_number(k)]
    read = {*taken_apart, *bear, *plain}
    strange = [k for k in kept if k not in read]
    if not taken_apart and (flagged := _flagged(kept)):
        return [note("column '{column}' holds numbers of which some have a mark behind them ({values}), as footnotes "
                     "and flags are written, and stays text", "warning", column=name, values=listed(flagged))
                .offering(offer("Read as numbers, without the marks", "types", ((position, "number"),)))]  # fmt: skip
    most = sum(map(kept.__getitem__, read)) >= 0.8 * sum(kept.values())
    if not read or len(kept) < 2 or not (most or 2 * len(read) >= len(kept)):
        return []
    offers = [as_numbers(position)]
    if multiplied and (plain or bear or len(multiplied) > 1):
        return [note("column '{column}' holds numbers with suffixes ('{example}' may be {value}), and stays text",
                     "warning", column=name, example=multiplied[0], value=_value_of(multiplied[0]))
                .offering(*_as_missing(strange), *offers)]  # fmt: skip
    if inexact:
        return [note("column '{column}' holds numbers that are approximate or bear an error ('{example}' may be "
                     "{value}), and stays text", "warning", column=name, example=inexact[0],
                     value=_value_of(inexact[0])).offering(*_as_missing(strange), *offers)]  # fmt: skip
    others = units_of(strange)
    if bear and not plain and not others and (not strange or most):
        parts = {"column": name, "unit": unit, "example": bear[0]}
        if strange:
            return [note("column '{column}' holds numbers with the unit '{unit}' ('{example}') and text ({values}), "
                         "and stays text", "warning", **parts, values=listed(strange))
                    .offering(*_as_missing(strange), *offers)]  # fmt: skip
        return [note("column '{column}' holds numbers with the unit '{unit}' ('{example}'), and stays text", "warning",
                     **parts).offering(*offers)]  # fmt: skip
    if len({own for _, own in others.values()} | {unit} - {""}) > 1 and 2 * (len(bear) + len(others)) >= len(kept):
        return [note("column '{column}' holds numbers with different units ('{example}', '{other}'), and stays text",
                     "warning", column=name, example=(bear or [*others])[0],
                     other=next(k for k, (_, own) in others.items() if own != unit))]  # fmt: skip
    strange += bear
    if not strange:
        doubtful = [k for k in kept if mark_in_doubt(k)]
        if doubtful:
            return [note("column '{column}' writes its numbers in different ways ({values}), so it stays text; in {n} "
                         "cells, such as '{example}', the mark may be the decimal mark or separate thousands",
                         "warning", column=name, values=listed(list(kept)), example=doubtful[0],
                         n=sum(map(kept.__getitem__, doubtful))).offering(*offers)]  # fmt: skip
        return [note("column '{column}' writes its numbers in different ways ({values}), so it stays text", "warning",
                     column=name, values=listed(list(kept))).offering(*offers)]  # fmt: skip
    if limit := next(filter(is_limit, strange), None):
        return [note("column '{column}' holds numbers and text ({values}), so it stays text; '{example}' is a limit: "
                     "the number lies beyond it, and is not missing", "warning", column=name, values=listed(strange),
                     example=limit).offering(*offers)]  # fmt: skip
    if _as_missing(strange):
        return [note("column '{column}' holds numbers and text ({values}), so it stays text; if these mean missing, "
                     "add them to the missing tokens", "warning", column=name, values=listed(strange))
                .offering(*_as_missing(strange), *offers)]  # fmt: skip
    return [note("column '{column}' holds numbers and text ({values}), so it stays text", "warning", column=name,
                 values=listed(strange)).offering(*offers)]  # fmt: skip


_FLAGS = 6
"""Different marks behind the numbers of a column at most."""


def _flagged(kept: Mapping[str, int]) -> list[str]:
    """The cells of a column of numbers that have the mark of a footnote or a flag behind them, one for each mark; none
    where any other cell is no number, or where most have a letter."""
    flags = dict[str, list[str]]()
    plain = 0
    for cell, n in kept.items():
        if is_number(cell):
            plain += n
            continue
        bare, mark = unflagged(cell)
        if mark and is_number(bare):
            flags.setdefault(mark, []).append(cell)
        elif not means_missing(bare):
            return []
    lettered = sum(kept[cell] for mark, cells in flags.items() if mark.isalpha() for cell in cells)
    few = 0 < len(flags) <= _FLAGS and lettered <= plain
    return [cells[0] for cells in flags.values()] if few else []


def _parts_of_codes(cells: Sequence[str]) -> bool:
    """Whether numbers of as many digits stand before different capital letters, as many too: 1234 AB, as a code has
    it and no unit.

    >>> _parts_of_codes(["1234 AB", "2511 CV"]), _parts_of_codes(["12 KG", "5 KG"]), _parts_of_codes(["5 kg", "7 lb"])
    (True, False, False)
    """
    apart = list(units_of(cells).values()) if units_of(cells[:1]) else []
    if not 0 < len(apart) == len(cells) or len({unit for _, unit in apart}) < 2:
        return False
    return len({(len(digits), len(unit)) for digits, unit in apart}) == 1 and all(
        digits.isdecimal() and unit.isupper() and len(unit) > 1 for digits, unit in apart
    )


def _as_months(position: int) -> list[Offer]:
    return [offer("Read as dates, the first of each month", "types", ((position, "date"),))]


def _value_of(cell: str) -> str:
    return f"{numbers_among([cell], None)[0][0]:.15g}"


def _patterned(name: str, kept: Mapping[str, int], position: int) -> list[Note]:
    """That a column of text holds months, or numbers in a pattern: times, ranges, ratios, versions."""
    cells = list(kept)
    if len(cells) > 2 and are_months(cells):
        return [note("column '{column}' holds months ('{example}'), which are no days, and stays text", "warning",
                     column=name, example=cells[0])
                .offering(*_as_months(position))]  # fmt: skip
    shape_of = {k: _DIGITS.sub("0", k) for k in cells if len(k) <= _SHORT}
    shapes = Counter(shape_of.values())
    alike = {shape for shape, n in shapes.items() if n > 2 and _PATTERN.fullmatch(shape)}
    own = [k for k, shape in shape_of.items() if shape in alike]
    if not own or len(alike) > 3 or sum(map(kept.__getitem__, own)) < 0.8 * sum(kept.values()):
        return []
    if 2 * sum(DATE.fullmatch(k) is not None for k in own) > len(own):
        return []
    return [note("column '{column}' holds several numbers a cell, or other signs beside one ('{example}'), and stays "
                 "text", column=name, example=own[0])]  # fmt: skip


def _days_of_year(name: str, cells: Sequence[str]) -> list[Note]:
    """That a column's values are days of a year, or that a few look so, as a spreadsheet makes of MARCH1 or of 3-4."""
    days = [cell for cell in cells if is_day_of_year(cell)]
    if len(days) == len(cells) > 1 and not are_months(cells):
        return [note("column '{column}' holds days without a year ('{example}'), and stays text", "warning",
                     column=name, example=cells[0])]  # fmt: skip
    if not days or 2 * len(days) > len(cells):
        return []
    return [note("column '{column}': {values} look like dates without a year among values that do not; a spreadsheet "
                 "makes them of names such as MARCH1 and of ranges such as 3-4", "warning", column=name,
                 values=listed(days))]  # fmt: skip


_SHORT = 40
"""Characters of such a cell."""
_DIGITS = re.compile(r"\d++")
_PATTERN = re.compile(r"[^\w\s]{0,2}0(?:[\W_]{0,3}(?:(?<![^\W\d_])[^\W\d_]{1,3}(?![^\W\d_]))?[\W_]{0,3}0?)*+")
"""Cells of numbers between signs and short words, their digits as one 0."""


def _as_missing(words: Sequence[str]) -> list[Offer]:
    """To take a few words as missing."""
    return [offer("These mean missing", "missing", tuple(words))] if 0 < len(words) <= 6 else []


def _half_dates(name: str, kept: list[str]) -> list[Note]:
    """That a column of text is dates but for some cells."""
    strange = [k for k in kept if not DATE.fullmatch(k)]
    if len(strange) in (0, len(kept)) or 2 * len(strange) > len(kept):
        return []
    return [note("column '{column}' holds dates and text ({values}), so it stays text", "warning", column=name,
                 values=listed(strange)).offering(*_as_missing(strange[:6]))]  # fmt: skip


def _alike(name: str, spelled: list[str], bare: list[str], kept: Mapping[str, int]) -> list[Note]:
    """That values differ only in what is hardly seen, or in letters of another script; and that one mixes scripts."""
    folded: dict[str, list[str]] = {}
    for s, b in zip(spelled, bare, strict=True):
        if b in kept:
            folded.setdefault(spelling(INVISIBLE.sub("", b)), []).append(s)
    notes = []
    alike = [group for group in folded.values() if len(group) > 1]
    if alike and len(folded) < len(bare):
        notes.append(note("column '{column}': {values} differ only in case, spaces, width or invisible "
                          "characters; they are kept as different values", "warning", column=name,
                          values=listed(alike[0])))  # fmt: skip
    marked: dict[str, list[str]] = {}
    for word, group in folded.items():
        marked.setdefault(word.translate(MARKS), []).append(group[0])
    if close := next((group for group in marked.values() if len(group) > 1), None):
        notes.append(note("column '{column}': {values} differ only in a dash, in an apostrophe or in a digit that "
                          "looks like a letter (0, 1); they are kept as different values", "warning", column=name,
                          values=listed(close)))  # fmt: skip
    if all(map(str.isascii, folded)):
        return notes
    shapes: dict[str, list[str]] = {}
    for word, group in folded.items():
        shapes.setdefault(word.translate(LOOK_ALIKE), []).append(group[0])
    same = [group for group in shapes.values() if len(group) > 1]
    if same:
        notes.append(note("column '{column}': {values} look the same, but are written with letters of different "
                          "scripts; they are kept as different values", "warning", column=name,
                          values=listed(same[0])))  # fmt: skip
    elif (mixed := next((group[0] for word, group in folded.items() if _mixed(word)), None)) is not None:
        notes.append(note("column '{column}': '{value}' is written with Cyrillic letters among Latin ones that look "
                          "the same", "warning", column=name, value=mixed))  # fmt: skip
    return notes


def _mixed(word: str) -> bool:
    """Whether a run of letters holds Latin ones and Cyrillic ones of the same look, and no others.

    >>> _mixed("м\u043eney"), _mixed("mоney"), _mixed("tnfα"), _mixed("мир или peace")
    (True, True, False, False)
    """
    runs = (run for run in re.findall(r"[^\W\d_]+", word) if not run.isascii())
    return any(re.search("[a-z]", run) and re.search("[а-ӿԁ-ԝ]", run) and run.translate(LOOK_ALIKE).isascii()
               for run in runs)  # fmt: skip


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
