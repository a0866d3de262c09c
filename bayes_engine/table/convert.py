"""Columns of text → typed columns, with a note for everything that was read into them.

A column is converted through its distinct spellings (`factorize`), so a rule may be slow per spelling and the whole
still fast per cell. A number is a number only where every cell that is not a missing token is one; otherwise the text
stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.progress import steps
from bayes_engine.table.annotations import annotated_numbers, numbers_among
from bayes_engine.table.arrow_numbers import numbers_by_arrow
from bayes_engine.table.column_notes import (
    also_missing,
    altered,
    annotation_notes,
    code_notes,
    date_notes,
    day_notes,
    holds_nan,
    invisible_note,
    missing_notes,
    mixed_note,
    no_dates_note,
    number_notes,
    point_note,
    signs_notes,
    suffix_notes,
)
from bayes_engine.table.dataframes import as_strings
from bayes_engine.table.date_forms import no_day
from bayes_engine.table.dates import Dates, dates
from bayes_engine.table.notes import Note, as_numbers, as_text, by_rule, listed, note, offer
from bayes_engine.table.numbers import (
    ALWAYS_MISSING,
    CODE,
    MISSING_AMONG_NUMBERS,
    MISSING_AS_TEXT,
    SIGNS,
    Mark,
    are_letters,
    dressed_numbers,
    identifier_among,
    is_number,
    means_missing,
    plain_numbers,
    pointed,
    points_part_thousands,
    telephone_among,
)
from bayes_engine.table.spelled_cells import (
    Frequencies,
    Spellings,
    absent_among,
    per_row,
    spellings_of,
    spread,
    without_spaces,
)
from bayes_engine.table.spellings import INVISIBLE
from bayes_engine.table.text_notes import spelling_notes
from bayes_engine.table.units import numbers_with_unit

ReadAs = Literal["text", "number", "date", "date_month_first", "auto"]
"""What the cells of a column are to be read as; "auto" is by rule, as where nothing is said."""

_DOUBTFUL = ("NA", "N/A", "n/a", "None", "null", *sorted(SIGNS))
_OF_PYTHON = frozenset(("nan", "NaT", "<NA>"))
_TRUTH = ({"TRUE", "FALSE"}, {"True", "False"}, {"true", "false"})
_LONG = 5000
"""Rows from which on a column is first looked at as a whole, by Arrow."""


class ConvertedColumn(NamedTuple):
    """A converted column. `absent`: how many cells each token that was taken as missing stood in ('' the empty cell);
    `mark`: the decimal mark the column shows beyond doubt; `doubtful`: it shows one that may be either; `distinct`: the
    different values of a column of text."""

    values: pd.Series
    notes: tuple[Note, ...]
    absent: Mapping[str, int]
    mark: Mark | None = None
    doubtful: bool = False
    distinct: list[str] | None = None


class ConvertedTable(NamedTuple):
    """The typed columns, what there is to say of them, the decimal mark, the `distinct` values of those of text, and
    the columns one by one."""

    frame: pd.DataFrame
    notes: list[Note]
    mark: Mark
    distinct: dict[str, list[str]]
    columns: dict[str, pd.Series]


def convert(
    cells: pd.DataFrame | dict[str, pd.Series],
    decimal: Mark | None,
    missing: Sequence[str] | None,
    types: Mapping[int, ReadAs] | None = None,
    *,
    points_in_doubt: bool = False,
    spellings: dict[str, Spellings] | None = None,
    frame: pd.DataFrame | None = None,
) -> ConvertedTable:
    """Every column of text in `cells` typed: int64, float64, bool, datetime64 or text ('' is an empty cell), and the
    decimal mark.

    `decimal`, `missing` and `types` (by position) override the guesses. A column that shows its decimal mark beyond
    doubt (12,5) decides for those that do not (1,234). `points_in_doubt`: the file may come from where the point
    separates thousands (its cells are separated by semicolons), so that 1.234 is told. `spellings` are those of
    columns, where they are known; a `frame` of the same columns is returned itself where all of them stay as they are.
    Both dicts are emptied on the way, so that the table is never held twice.

    >>> table = convert(pd.DataFrame({"x": ["1,5", "2,25"], "well": ["1E5", "4D2"]}), None, None)
    >>> table.frame["x"].tolist(), table.frame["well"].tolist(), len(table.notes), table.mark
    ([1.5, 2.25], ['1E5', '4D2'], 2, ',')
    """  # fmt: skip
    texts = cells if isinstance(cells, dict) else {str(name): text for name, text in cells.items()}
    columns, waiting = dict[str, ConvertedColumn](), dict[str, pd.Series]()
    given = {} if frame is None else dict(texts)
    types, spellings = types or {}, spellings or {}
    for position, name in enumerate(steps(list(texts))):
        text = texts.pop(name)
        columns[name] = convert_column(
            text, decimal, missing, types.get(position, "auto"), position, both=True, texts=spellings.pop(name, None)
        )
        if columns[name].doubtful:
            waiting[name] = text
    marks = {column.mark for column in columns.values()}
    place = {name: position for position, name in enumerate(columns)}
    if decimal is None and "," in marks and "." not in marks:  # the doubtful columns follow the certain ones
        comma = {name: convert_column(text, ",", missing, types.get(place[name], "auto"), place[name])
                 for name, text in waiting.items()}  # fmt: skip
        columns |= {name: c for name, c in comma.items() if pd.api.types.is_numeric_dtype(c.values.dtype)}
    if missing is None:
        columns |= _words_without_signs(columns, types)
    notes = [n for column in columns.values() for n in column.notes]
    if points_in_doubt and decimal is None and not marks & {",", "."}:
        known = {name: text[columns[name].values.notna()] for name, text in waiting.items()
                 if pd.api.types.is_numeric_dtype(columns[name].values.dtype)}  # fmt: skip
        notes += [point_note(name, text, place[name]) for name, text in known.items()
                  if not text.str.contains(",").any() and text.str.contains(r"\.\d").any()]  # fmt: skip
    absent = {name: column.absent for name, column in columns.items()}
    taken = sorted({token for counts in absent.values() for token in counts if token})
    notes = [also_missing(n, taken) for n in notes] + missing_notes(absent)
    if frame is None or not all(column.values is given[name] for name, column in columns.items()):
        index = next((column.values.index for column in columns.values()), None)
        arrays = {name: column.values.array for name, column in columns.items()}  # of one length: none is looked up
        frame = pd.DataFrame(arrays, index=index, copy=False)
    distinct = {name: column.distinct for name, column in columns.items() if column.distinct is not None}
    values = {name: column.values for name, column in columns.items()}
    return ConvertedTable(frame, notes, decimal or ("," if "," in marks else "."), distinct, values)


def convert_column(
    column: pd.Series, decimal: Mark | None = None, missing: Sequence[str] | None = None, read_as: ReadAs = "auto",
    position: int = 0, *, both: bool = False, texts: Spellings | None = None,
) -> ConvertedColumn:  # fmt: skip
    """One column of text, typed; the offers speak of its `position`; where `both` decimal marks may stand in it, each
    number is read with its own. See `convert`."""
    name = str(column.name)
    if column.dtype.kind in "if":  # proved by `read_clean` to be nothing else
        empty = int(column.isna().sum()) if holds_nan(column.to_numpy()) else 0
        return ConvertedColumn(
            column, tuple(day_notes(name, column.to_numpy(), position)), {"": empty} if empty else {}
        )
    wanted = missing is not None and any(map(is_number, missing))
    if (
        read_as == "auto"
        and decimal != ","
        and not wanted
        and texts is None
        and len(column) >= _LONG
        and (fast := numbers_by_arrow(column)) is not None
    ):
        notes = tuple(day_notes(name, fast.values, position))
        return ConvertedColumn(pd.Series(fast.values, column.index), notes, fast.absent, fast.mark)
    texts = texts or spellings_of(column)
    spelled, bare = texts.spelled, texts.bare
    if read_as != "text" and any(not s.isascii() and INVISIBLE.search(s) for s in spelled):
        plain = pd.Series(
            np.array([INVISIBLE.sub("", s) for s in spelled], dtype=object)[texts.codes], column.index, name=name
        )
        converted = convert_column(plain, decimal, missing, read_as, position, both=both)
        if converted.values.dtype.kind in "ifM":
            return converted._replace(notes=(*converted.notes, invisible_note(column, position)))
    if read_as == "text":
        kept = _text(texts, (), position, plainly=True)
        return kept._replace(notes=(note("column '{column}' is kept as text, as chosen", column=name)
                                    .offering(by_rule(position)),))  # fmt: skip
    gone = means_missing if missing is None else ("", *missing).__contains__
    known = [not gone(b) for b in bare]
    if missing is None and read_as != "number" and any(map(no_day, bare)):
        known = [k and not no_day(b) for b, k in zip(bare, known, strict=True)]
    rest = [b for b, k in zip(bare, known, strict=True) if k]
    absent = absent_among(texts, known)
    words = {b for b in bare if b not in ALWAYS_MISSING} if missing is None and not rest else set()
    if len(words) > 1 or any(re.search(r"[^\W_]", word) for word in words - MISSING_AMONG_NUMBERS):
        return _text(texts, missing, position)  # None and NA side by side are names of something
    if not rest:
        return _empty(column, bare, position)
    if read_as == "number":
        return _chosen_numbers(texts, known, decimal, absent, position)
    if read_as == "auto" and are_letters(rest):
        return _text(texts, missing, position)
    identifier = identifier_among(rest)
    signed = identifier is None and any(cell.startswith("+") for cell in rest)
    phone = telephone_among(rest, texts.counts[known]) if signed else None
    numbers = None
    if identifier is None and phone is None and read_as == "auto":
        numbers = plain_numbers(rest) if decimal != "," else None
        numbers = (
            numbers
            or dressed_numbers(rest, decimal, both=both)
            or numbers_with_unit(rest, decimal, both=both, alone=not both)
        )
    if numbers is not None and decimal is None and numbers.mark is None and points_part_thousands(rest):
        numbers = dressed_numbers(rest, ",")
    codes_alone = numbers is not None and len(rest) > 1 and all(map(CODE.fullmatch, rest))
    if codes_alone:  # no program writes all numbers of a column as 1E5
        numbers = None
    if numbers is None:
        rows = spread(texts.codes, known) if any(map(str.isdigit, rest[0])) else None  # no date is without a digit
        when = dates(rest, None if read_as == "auto" else read_as == "date_month_first", rows)
        if isinstance(when, Dates):
            times = pd.Series(per_row(when.values, known, texts.codes), index=column.index)
            return ConvertedColumn(times, tuple(date_notes(name, when, position)), absent)
        if read_as != "auto":
            text = _text(texts, missing, position, plainly=True)
            return text._replace(notes=(no_dates_note(name, rest, when, by_rule(position)),))
        free = identifier is None and phone is None and not codes_alone and when is None
        cells = Frequencies(rest, texts)
        beside = annotated_numbers(cells, decimal, words=both and missing is None) if free else None
        if beside is not None and (missing is None or not any(map(is_number, missing))):
            known = [k and b not in beside.gone for b, k in zip(bare, known, strict=True)]
            absent = absent_among(texts, known)
            values = per_row(beside.numbers.values, known, texts.codes) + 0.0
            notes = (*annotation_notes(name, beside, position), *number_notes(name, beside.numbers, decimal, position),
                     *day_notes(name, values, position))  # fmt: skip
            whole = beside.numbers.whole and not absent
            return ConvertedColumn(
                pd.Series(values.astype(np.int64) if whole else values, index=column.index), notes, absent,
                beside.numbers.mark, beside.doubtful,
            )  # fmt: skip
        text = _text(
            texts, missing, position, identifier=identifier, phone=phone, code=rest[0] if codes_alone else None
        )
        return text if when is None else text._replace(notes=(no_dates_note(name, rest, when), *text.notes))

    values = per_row(numbers.values, known, texts.codes) + 0.0  # −0.0 becomes 0.0: one value, not two
    for token, n in _absent_by_value(values, missing or ()).items():
        absent[token] = absent.get(token, 0) + n
    if numbers.whole and not absent:
        values = values.astype(np.int64)
    joined = "".join(rest)
    doubtful = numbers.mark is None and re.search("[.,]", joined) is not None
    extreme = "e" in joined or "E" in joined or max(map(len, rest)) > 15  # else it is a float64 to the last digit
    if numbers.commas:
        with_comma = np.zeros(len(rest), dtype=bool)
        with_comma[list(numbers.commas)] = True
        n = int(with_comma[spread(texts.codes, known)].sum())
        own_notes = [mixed_note(name, rest, numbers.commas, n, position)]
    else:
        own_notes = number_notes(name, numbers, decimal, position)
    notes = (
        *own_notes,
        *code_notes(name, rest, position),
        *day_notes(name, values, position),
        *(altered(column, values, position) if extreme else ()),
    )
    return ConvertedColumn(pd.Series(values, index=column.index), notes, absent, numbers.mark, doubtful)


def _absent_by_value(values: NDArray[np.float64], tokens: Sequence[str]) -> dict[str, int]:
    """How many numbers are equal to one of the tokens, however they are written; they are made missing."""
    absent: dict[str, int] = {}
    for token in tokens:
        if is_number(token) and (same := values == pointed(token)).any():
            absent[token] = int(same.sum())
            values[same] = np.nan
    return absent


def _chosen_numbers(
    texts: Spellings, known: list[bool], decimal: Mark | None, absent: dict[str, int], position: int
) -> ConvertedColumn:
    """A column of which a person said that it holds numbers: what is none is missing, and told."""
    column = texts.column
    name = str(column.name)
    rest = [b for b, k in zip(texts.bare, known, strict=True) if k]
    read, mark, left = numbers_among(rest, decimal)
    values = per_row(read, known, texts.codes) + 0.0
    lost = [cell for cell, value in zip(rest, read, strict=True) if np.isnan(value)]
    if lost:
        n = int(np.isnan(values).sum()) - sum(absent.values())
        main_note = note("column '{column}' is read as numbers, as chosen; cells that are none and so are missing: {n} "
                    "({values})", "warning", column=name, n=n, values=listed(lost))  # fmt: skip
    else:
        main_note = note("column '{column}' is read as numbers, as chosen", column=name)
    notes = (main_note.offering(by_rule(position)), *signs_notes(name, left), *suffix_notes(name, rest, read),
             *altered(column, values, position))  # fmt: skip
    return ConvertedColumn(pd.Series(values, index=column.index), notes, absent,
                  mark if decimal is None and "," in "".join(rest) else None)  # fmt: skip


def _text(
    texts: Spellings,
    missing: Sequence[str] | None,
    position: int,
    *,
    identifier: str | None = None,
    phone: str | None = None,
    code: str | None = None,
    plainly: bool = False,
) -> ConvertedColumn:
    """A column that stays text (or, unless it is to be text `plainly`, truth values): only tokens that mean missing
    anywhere are taken out."""
    name, notes = str(texts.column.name), list[Note]()
    written = not isinstance(texts.column.dtype, pd.CategoricalDtype)  # whether the column holds what is spelled
    if not plainly and (stripped := without_spaces(texts)) is not None:
        padded = np.array([s != b for s, b in zip(texts.spelled, texts.bare, strict=True)])
        n, one = int(texts.counts[padded].sum()), texts.spelled[int(padded.argmax())]
        notes.append(note("column '{column}': the spaces around {n} cells are left out: '{example}' is '{value}'",
                          "warning", column=name, n=n, example=one[:40], value=one.strip()[:40])
                     .offering(as_text(position)))  # fmt: skip
        texts, written = stripped, False
    column, spelled, bare = texts.column, texts.spelled, texts.bare
    by_rule = MISSING_AS_TEXT if plainly else ALWAYS_MISSING
    tokens = by_rule if missing is None else frozenset(("", *missing))
    absent = absent_among(texts, [b not in tokens for b in bare])
    kept = sorted({b for b in bare if b not in tokens})
    if kept and not plainly and all(s != b for s, b in zip(spelled, bare, strict=True) if b not in tokens):
        spelled, written = bare, False  # the cells are padded, as between the bars of a drawn table
        notes.append(note("column '{column}': the spaces around every cell are left out", column=name)
                     .offering(as_text(position)))  # fmt: skip
    truth = None if plainly else next((pair for pair in _TRUTH if set(kept) == pair), None)
    if truth is not None:
        lookup = np.array([np.nan if b in tokens else b.lower() == "true" for b in bare], dtype=object)
        truths = lookup[texts.codes]
        values = pd.Series(truths if absent else truths.astype(bool), index=column.index)
        notes.append(note("column '{column}': {values} are read as truth values", column=name, values=listed(kept))
                     .offering(as_text(position)))  # fmt: skip
        return ConvertedColumn(values, tuple(notes), absent)

    lookup = np.array([np.nan if b in tokens else s for s, b in zip(spelled, bare, strict=True)], dtype=object)
    if absent or not written:
        values = pd.Series(as_strings(pd.Series(lookup)).array.take(texts.codes), column.index)
    else:
        values = as_strings(column)
    doubtful = [t for t in kept if t in _DOUBTFUL]
    if len(doubtful) > 1 and missing is None:
        notes.append(note("column '{column}': {tokens} are kept as values; if they mean missing, add them to the "
                          "missing tokens", "warning", column=name, tokens=listed(doubtful))
                     .offering(offer("These mean missing", "missing", tuple(doubtful))))  # fmt: skip
    elif doubtful and missing is None:
        notes.append(note("column '{column}': {tokens} is kept as a value; if it means missing, add it to the missing "
                          "tokens", "warning", column=name, tokens=listed(doubtful))
                     .offering(offer("It means missing", "missing", tuple(doubtful))))  # fmt: skip
    if identifier is not None:
        notes.append(note("column '{column}' stays text, because '{example}' as a number would lose digits", "warning",
                          column=name, example=identifier).offering(as_numbers(position)))  # fmt: skip
    elif phone is not None:
        notes.append(note("column '{column}' stays text, because '{example}' and the like are telephone numbers",
                          "warning", column=name, example=phone).offering(as_numbers(position)))  # fmt: skip
    elif code is not None:
        notes.append(note("column '{column}' stays text, because '{example}' and the like may be codes; as a number it "
                          "is {value}", "warning", column=name, example=code, value=f"{float(code):.15g}")
                     .offering(as_numbers(position)))  # fmt: skip
    else:
        notes += spelling_notes(name, spelled, bare, Frequencies(kept, texts), position)
    distinct = list(dict.fromkeys(s for s, b in zip(spelled, bare, strict=True) if b not in tokens))
    return ConvertedColumn(values, tuple(notes), absent, distinct=distinct)


def _words_without_signs(columns: Mapping[str, ConvertedColumn], types: Mapping[int, ReadAs]
                         ) -> dict[str, ConvertedColumn]:  # fmt: skip
    """The columns of words in which a sign stands for nothing that means missing among the numbers or dates of the same
    table: it means so there too, beside two words and more, none of which is a sign (+ and − are a pair). So does None
    where Python has written nan or NaT among the others."""
    taken = {token for column in columns.values() if column.distinct is None for token in column.absent}
    signs = (SIGNS & taken) | ({"None"} if taken & _OF_PYTHON else set())
    converted = dict[str, ConvertedColumn]()
    for position, (name, column) in enumerate(columns.items()):
        marks = [cell for cell in column.distinct or () if cell.strip() in signs]
        words = [cell for cell in column.distinct or () if cell not in marks]
        worded = len(words) > 1 and all(any(map(str.isalnum, cell)) for cell in words)
        if not (marks and worded and types.get(position, "auto") == "auto"):
            continue
        texts = pd.Series(column.values.to_numpy(dtype=object, na_value=""), column.values.index, name=name)
        gone = Counter(texts[texts.isin(marks)].str.strip())
        again = convert_column(texts.mask(texts.isin(marks), ""), position=position)
        converted[name] = again._replace(absent={**column.absent, **gone})
    return converted


def _empty(column: pd.Series, bare: list[str], position: int) -> ConvertedColumn:
    name = str(column.name)
    tokens = [b for b in bare if b]
    if tokens:
        empty_note = note("column '{column}' holds nothing but {tokens}, read as missing", "warning", column=name,
                    tokens=listed(tokens)).offering(as_text(position))  # fmt: skip
    else:
        empty_note = note("column '{column}' is empty: every cell is missing", "warning", column=name)
    return ConvertedColumn(pd.Series(np.nan, index=column.index, dtype=float), (empty_note,), {})
