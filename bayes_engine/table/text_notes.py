"""What is said of a column that stays text: that it may be numbers, dates, or yes and no; which values look alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from bayes_engine.table.annotations import is_limit, numbers_among, unflagged
from bayes_engine.table.date_forms import DATE, is_day_of_year
from bayes_engine.table.dates import are_months
from bayes_engine.table.notes import Note, as_missing, as_months, as_numbers, listed, note, offer
from bayes_engine.table.numbers import are_letters, is_number, mark_in_doubt, means_missing
from bayes_engine.table.spellings import INVISIBLE, LOOK_ALIKE, MARKS, spelling
from bayes_engine.table.units import scaled, units_of, usual_unit

_YES_NO = frozenset((
    "yes", "no", "true", "false", "y", "n", "t", "f", "1", "0", "on", "off", "ja", "nein", "j", "wahr", "falsch", "oui",
    "non", "vrai", "faux", "sí", "si", "s", "verdadero", "falso", "sim", "não", "да", "нет", "是", "否", "对", "错",
    "真", "假",
))  # fmt: skip


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
                .offering(*as_missing(words if few else []))]  # fmt: skip
    half = [] if are_letters(list(kept)) else _half(name, kept, position)
    return [*half, *_alike(name, spelled, bare, kept)]


def _half(name: str, kept: Mapping[str, int], position: int) -> list[Note]:
    """That a column of text may be numbers or dates, or holds patterns of them."""
    cells = list(kept)
    return (_days_of_year(name, cells) or _half_numbers(name, kept, position) or _half_dates(name, cells)
            or _patterned(name, kept, position))  # fmt: skip


def _half_numbers(name: str, kept: Mapping[str, int], position: int) -> list[Note]:
    """That a column of text may be numbers: with a unit or a suffix, but for a few cells, or written in two ways."""
    if _parts_of_codes(list(kept)):
        return []
    taken_apart = {k: own for k in kept if (own := scaled(k))[0] != k}
    multiplied = [k for k, (_bare, by) in taken_apart.items() if by != 1.0]
    inexact = [k for k, (_bare, by) in taken_apart.items() if by == 1.0]
    unit = usual_unit([k for k in kept if k not in taken_apart])
    bear = [k for k in kept if unit and k not in taken_apart and is_number(k.removesuffix(unit)) and not is_number(k)]
    plain = [k for k in kept if is_number(k)]
    read = {*taken_apart, *bear, *plain}
    strange = [k for k in kept if k not in read]
    if not taken_apart and (flagged := _flagged(kept)):
        return [note("column '{column}' holds numbers of which some have a mark behind them ({values}), as footnotes "
                     "and flags are written, and stays text", "warning", column=name, values=listed(flagged))
                .offering(offer("Read as numbers, without the marks", "types", ((position, "number"),)))]  # fmt: skip
    if not read or len(kept) < 2:
        return []
    most = sum(map(kept.__getitem__, read)) >= 0.8 * sum(kept.values())
    if not (most or 2 * len(read) >= len(kept)):
        return []
    offers = [as_numbers(position)]
    if multiplied and (plain or bear or len(multiplied) > 1):
        return [note("column '{column}' holds numbers with suffixes ('{example}' may be {value}), and stays text",
                     "warning", column=name, example=multiplied[0], value=_value_of(multiplied[0]))
                .offering(*as_missing(strange), *offers)]  # fmt: skip
    if inexact:
        return [note("column '{column}' holds numbers that are approximate or bear an error ('{example}' may be "
                     "{value}), and stays text", "warning", column=name, example=inexact[0],
                     value=_value_of(inexact[0])).offering(*as_missing(strange), *offers)]  # fmt: skip
    others = units_of(strange)
    if bear and not plain and not others and (not strange or most):
        parts = {"column": name, "unit": unit, "example": bear[0]}
        if strange:
            return [note("column '{column}' holds numbers with the unit '{unit}' ('{example}') and text ({values}), "
                         "and stays text", "warning", **parts, values=listed(strange))
                    .offering(*as_missing(strange), *offers)]  # fmt: skip
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
    if as_missing(strange):
        return [note("column '{column}' holds numbers and text ({values}), so it stays text; if these mean missing, "
                     "add them to the missing tokens", "warning", column=name, values=listed(strange))
                .offering(*as_missing(strange), *offers)]  # fmt: skip
    return [note("column '{column}' holds numbers and text ({values}), so it stays text", "warning", column=name,
                 values=listed(strange)).offering(*offers)]  # fmt: skip


_FLAGS = 6
"""Different marks behind the numbers of a column at most."""


def _flagged(kept: Mapping[str, int]) -> list[str]:
    """The cells of a column of numbers that have the mark of a footnote or a flag behind them, one for each mark; none
    where any other cell is no number, or where most have a letter."""
    flags = dict[str, list[str]]()
    plain = 0
    for cell in kept:
        if is_number(cell):
            plain += kept[cell]
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


def _value_of(cell: str) -> str:
    return f"{numbers_among([cell], None)[0][0]:.15g}"


def _patterned(name: str, kept: Mapping[str, int], position: int) -> list[Note]:
    """That a column of text holds months, or numbers in a pattern: times, ranges, ratios, versions."""
    cells = list(kept)
    if len(cells) > 2 and are_months(cells):
        return [note("column '{column}' holds months ('{example}'), which are no days, and stays text", "warning",
                     column=name, example=cells[0])
                .offering(*as_months(position))]  # fmt: skip
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


def _half_dates(name: str, kept: list[str]) -> list[Note]:
    """That a column of text is dates but for some cells."""
    strange = [k for k in kept if not DATE.fullmatch(k)]
    if len(strange) in (0, len(kept)) or 2 * len(strange) > len(kept):
        return []
    return [note("column '{column}' holds dates and text ({values}), so it stays text", "warning", column=name,
                 values=listed(strange)).offering(*as_missing(strange[:6]))]  # fmt: skip


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
