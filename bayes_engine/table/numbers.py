"""Cells written as text → typed columns, with a note for everything that was read into them.

A column is converted through its distinct spellings (`factorize`), so a rule may be slow per spelling and the whole
still fast per cell. A number is a number only where every cell that is not a missing token is one; otherwise the text
stays as it is.
"""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.language import Listing, Message
from bayes_engine.table.dates import DATE, Dates, dates

Severity = Literal["info", "warning"]
Mark = Literal[".", ","]
ReadAs = Literal["text", "number", "date", "date_month_first", "auto"]
"""What the cells of a column are to be read as; "auto" is by rule, as where nothing is said."""


class Offer(NamedTuple):
    """Another way to read: a keyword of `read_table` with its value, and what a button says. A value of `types` speaks
    of one column and joins what is said of the others."""

    keyword: Literal["encoding", "delimiter", "quote", "decimal", "header", "sheet", "missing", "types", "trim"]
    value: Any
    said: Message


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


def note(template: str, severity: Severity = "info", at: int | None = None, /, **params: object) -> Note:
    """A Note on line `at`, whose column is the parameter `column`, where there is one."""
    column = params.get("column")
    return Note(Message(template, params), severity, None if column is None else str(column), at)


def listed(values: Sequence[str], most: int = 6) -> Listing:
    """Quoted, cut to the first few and each to 40 characters."""
    shown = [Message("'{name}'", {"name": v if len(v) <= 40 else v[:39] + "…"}) for v in values[:most]]
    return Listing([*shown, *(["…"] if len(values) > most else [])])


def lines_of(lines: Sequence[int] | NDArray[np.intp]) -> Listing:
    """The first five line numbers."""
    return Listing([*(str(int(line)) for line in lines[:5]), *(["…"] if len(lines) > 5 else [])])


ALWAYS_MISSING = ("", "?", "NaN", "nan", "<NA>", "#N/A", "\\N")
"""Tokens that mean missing in a column of any kind: nobody calls a class or a place so."""
MISSING_AMONG_NUMBERS = (
    *ALWAYS_MISSING, "NA", "N/A", "n/a", "na", "None", "none", "NULL", "null", "-", "--", "—", ".", "*",
    "#NA", "#NULL!", "#VALUE!", "#DIV/0!", "#REF!", "#NUM!", "missing", "缺失", "n.a.", "N.A.", "–",
    "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "NaT",
)  # fmt: skip
"""Tokens that mean missing where everything else in the column is a number; in text they are values (NA is Namibia)."""

_NAMED = 5
"""How many columns a note about the whole table names."""
_DOUBTFUL = ("NA", "N/A", "n/a", "None", "NULL", "null", "-", "--", "—")

_PLAIN_CHARACTERS = frozenset("0123456789+-.eE")
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
INFINITE = re.compile(r"[-+−]?(?:inf(?:inity)?|∞|1\.#INF)", re.IGNORECASE)
"""How programs write infinity."""
_GROUP = r"['’ \u00a0\u202f\u2009]"
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_STYLE: dict[Mark, re.Pattern[str]] = {
    ".": re.compile(
        rf"[1-9]\d{{0,2}}(?:(?:,\d{{2,3}})*,\d{{3}}|(?:{_GROUP}\d{{3}})+)(?:\.\d*)?|(?:\d+\.?\d*|\.\d+){_EXPONENT}"
    ),
    ",": re.compile(rf"[1-9]\d{{0,2}}(?:(?:\.\d{{3}})+|(?:{_GROUP}\d{{3}})+)(?:,\d*)?|(?:\d+,?\d*|,\d+){_EXPONENT}"),
}
_MONEY = (
    r"(?:R|US|A|C|HK|NT|S)?\$|[€£¥￥₹₽₩₺₫฿₴₪]|USD|EUR|GBP|CHF|CNY|RMB|JPY|NOK|SEK|DKK|INR|BRL|CAD|AUD|PLN|CZK|"
    r"TRY|KRW|HKD|TWD|SGD|NZD|MXN|ZAR|RUB|kr|zł|Kč"
)
_DRESSED = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+-])?\s*(?P<before>{_MONEY})?\s*(?P<sign2>[+-])?\s*"
    rf"(?P<body>[\d.,](?:[\d.,eE+'’ \u00a0\u202f\u2009-]*[\d.,])?)\s*(?P<sign3>-)?\s*"
    rf"(?P<after>[%％元]|{_MONEY})?\s*(?P<close>\))?"
)
_UNIFORM = str.maketrans("０１２３４５６７８９−﹣－–‐‑．，", "0123456789------.,")
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
"""Characters that nobody sees and that mean nothing in any script."""
_TRUTH = ({"TRUE", "FALSE"}, {"True", "False"}, {"true", "false"})
_YES_NO = frozenset((
    "yes", "no", "true", "false", "y", "n", "t", "f", "1", "0", "on", "off", "ja", "nein", "j", "wahr", "falsch", "oui",
    "non", "vrai", "faux", "sí", "si", "s", "verdadero", "falso", "sim", "não", "да", "нет", "是", "否", "对", "错",
    "真", "假",
))  # fmt: skip


class Column(NamedTuple):
    """A converted column. `absent`: how many cells each token that was taken as missing stood in ('' the empty cell);
    `mark`: the decimal mark the column shows beyond doubt; `doubtful`: it shows one that may be either."""

    values: pd.Series
    notes: tuple[Note, ...]
    absent: Mapping[str, int]
    mark: Mark | None = None
    doubtful: bool = False


class _Numbers(NamedTuple):
    """`values` in the order of the spellings; `example` is the one that most needs explaining, `reads` its value."""

    values: NDArray[np.float64]
    whole: bool
    mark: Mark | None = None
    example: str = ""
    reads: float = 0.0
    unit: str = ""
    behind: tuple[str, float] | None = None  # a number whose minus stands behind it, or is written as parentheses


def is_number(cell: str) -> bool:
    """True where a cell reads as a number by itself, in either decimal style, with % or a currency sign.

    >>> [is_number(c) for c in ("1.234,56", "12 %", "$5", "-0", "1e5", "4D2", "")]
    [True, True, True, True, True, False, False]
    """
    bare = cell.strip()
    if _PLAIN.fullmatch(bare):
        return True  # most are: no need to undress it
    dressed = _DRESSED.fullmatch(bare.translate(_UNIFORM))
    if dressed is None or not _signed_once(dressed):
        return False
    return any(style.fullmatch(dressed["body"]) for style in _STYLE.values())


def convert(
    cells: pd.DataFrame | dict[str, pd.Series],
    decimal: Mark | None,
    missing: Sequence[str] | None,
    types: Mapping[int, ReadAs] | None = None,
    *,
    points_in_doubt: bool = False,
) -> tuple[pd.DataFrame, list[Note], Mark]:
    """Every column of text in `cells` typed: int64, float64, bool, datetime64 or text ('' is an empty cell), and the
    decimal mark.

    `decimal`, `missing` and `types` (by position) override the guesses. A column that shows its decimal mark beyond
    doubt (12,5) decides for those that do not (1,234). `points_in_doubt`: the file may come from where the point
    separates thousands (its cells are separated by semicolons), so that 1.234 is told. A dict is emptied on the way,
    so that the table is never held twice.

    >>> frame, notes, mark = convert(pd.DataFrame({"x": ["1,5", "2,25"], "well": ["1E5", "4D2"]}), None, None)
    >>> frame["x"].tolist(), frame["well"].tolist(), len(notes), mark
    ([1.5, 2.25], ['1E5', '4D2'], 2, ',')
    """  # fmt: skip
    texts = cells if isinstance(cells, dict) else {str(name): text for name, text in cells.items()}
    columns, waiting = dict[str, Column](), dict[str, pd.Series]()
    types = types or {}
    for at, name in enumerate(list(texts)):
        text = texts.pop(name)
        columns[name] = convert_column(text, decimal, missing, types.get(at, "auto"), at)
        if columns[name].doubtful:
            waiting[name] = text
    marks = {column.mark for column in columns.values()}
    if decimal is None and "," in marks and "." not in marks:  # the doubtful columns follow the certain ones
        place = {name: at for at, name in enumerate(columns)}
        comma = {name: convert_column(text, ",", missing, types.get(place[name], "auto"), place[name])
                 for name, text in waiting.items()}  # fmt: skip
        columns |= {name: c for name, c in comma.items() if pd.api.types.is_numeric_dtype(c.values.dtype)}
    notes = [n for column in columns.values() for n in column.notes]
    if points_in_doubt and decimal is None and not marks & {",", "."}:
        place = {name: at for at, name in enumerate(columns)}
        notes += [_point_note(name, text, place[name]) for name, text in waiting.items()
                  if pd.api.types.is_numeric_dtype(columns[name].values.dtype)
                  and not text.str.contains(",").any() and text.str.contains(r"\.\d").any()]  # fmt: skip
    absent = {name: column.absent for name, column in columns.items()}
    taken = sorted({token for found in absent.values() for token in found if token})
    notes = [_also_missing(n, taken) for n in notes] + missing_notes(absent)
    frame = pd.DataFrame({name: column.values for name, column in columns.items()})
    return frame, notes, decimal or ("," if "," in marks else ".")


def convert_column(
    column: pd.Series, decimal: Mark | None = None, missing: Sequence[str] | None = None, read_as: ReadAs = "auto",
    at: int = 0,
) -> Column:  # fmt: skip
    """One column of text, typed; `at` is its position, of which the offers speak. See `convert`."""
    name = str(column.name)
    if read_as == "auto" and decimal != "," and len(column) >= _LONG and (swift := _swift(column)) is not None:
        return swift
    codes, levels = pd.factorize(column)
    spelled: list[str] = np.asarray(levels, dtype=object).tolist()
    if read_as != "text" and any(not s.isascii() and INVISIBLE.search(s) for s in spelled):
        plain = pd.Series(
            np.array([INVISIBLE.sub("", s) for s in spelled], dtype=object)[codes], column.index, name=name
        )
        found = convert_column(plain, decimal, missing, read_as, at)
        if found.values.dtype.kind in "ifM":
            return found._replace(notes=(*found.notes, _invisible_note(column, at)))
    bare = [s.strip() for s in spelled]
    if read_as == "text":
        kept = _text(column, codes, spelled, bare, (), None, at, plainly=True)
        return kept._replace(notes=(note("column '{column}' is kept as text, as chosen", column=name)
                                    .offering(_by_rule(at)),))  # fmt: skip
    tokens = MISSING_AMONG_NUMBERS if missing is None else ("", *missing)
    known = [b not in tokens for b in bare]
    rest = [b for b, k in zip(bare, known, strict=True) if k]
    absent = _absent(bare, tokens, codes)
    if not rest and missing is None and len({b for b in bare if b not in ALWAYS_MISSING}) > 1:
        return _text(column, codes, spelled, bare, missing, None, at)  # None and NA side by side are names of something
    if not rest:
        return _empty(column, bare, at)
    if read_as == "number":
        return _as_numbers(column, codes, bare, known, decimal, absent, at)
    identifier = _identifier(rest)
    phone = None if identifier else _telephone(rest, np.bincount(codes, minlength=len(bare))[known])
    numbers = None
    if identifier is None and phone is None and read_as == "auto":
        numbers = _plain(rest) if decimal != "," else None
        numbers = numbers or _dressed(rest, decimal)
    if numbers is None:
        when = dates(rest, None if read_as == "auto" else read_as == "date_month_first", _spread(codes, known))
        if isinstance(when, Dates):
            return _as_dates(column, codes, known, when, absent, at)
        if read_as != "auto":
            text = _text(column, codes, spelled, bare, missing, None, at, plainly=True)
            return text._replace(notes=(_no_dates(name, rest, when, read_as, at),))
        text = _text(column, codes, spelled, bare, missing, identifier, at, phone=phone)
        return text if when is None else text._replace(notes=(_no_dates(name, rest, when, read_as, at), *text.notes))

    values = _per_row(numbers.values, known, codes) + 0.0  # −0.0 becomes 0.0: one value, not two
    if numbers.whole and not absent:
        values = values.astype(np.int64)
    joined = "".join(rest)
    doubtful = numbers.mark is None and re.search("[.,]", joined) is not None
    extreme = "e" in joined or "E" in joined or max(map(len, rest)) > 15  # else it is a float64 to the last digit
    notes = (
        *_number_notes(name, numbers, decimal, at),
        *_code_notes(name, rest, at),
        *(altered(column, values, at) if extreme else ()),
    )
    return Column(pd.Series(values, index=column.index), notes, absent, numbers.mark, doubtful)


_LONG = 5000
"""Rows from which on a column is first looked at as a whole, by Arrow."""


def _swift(column: pd.Series) -> Column | None:
    """A long column of nothing but numbers as a program writes them and empty cells: as the rules below would have it
    (tested equal), without a look at every spelling. None where they must decide."""
    try:
        arrow, compute = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.compute")
        text = arrow.array(column.array)
    except (ImportError, TypeError):
        return None

    def any_of(pattern: str) -> bool:
        return bool(compute.any(compute.match_substring_regex(text, pattern)).as_py())

    empty = compute.equal(text, "")
    plain = compute.match_substring_regex(text, r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
    if not compute.all(compute.or_(empty, plain)).as_py() or any_of(r"^[+-]?(0\d+$|\d{16})|^\+\d{8}|^\d+[eE]\d"):
        return None
    dotted = any_of(r"\.")
    if dotted and not any_of(r"\.(\d{0,2}|\d{4,})$|^[+-]?(0|\d{4,})\.|[eE]"):
        return None  # 1.234 may be a thousand
    values = compute.cast(compute.if_else(empty, None, text), arrow.float64()).to_numpy(zero_copy_only=False) + 0.0
    missing = np.isnan(values)
    if (
        missing.all()
        or not np.isfinite(values[~missing]).all()
        or ((values == 0).any() and any_of(r"[eE]-\d{3}|0{300}"))
    ):
        return None
    whole = not dotted and not missing.any() and not any_of("[eE]") and bool((np.abs(values) < 2.0**53).all())
    return Column(pd.Series(values.astype(np.int64) if whole else values, index=column.index), (),
                  {"": int(missing.sum())} if missing.any() else {}, "." if dotted else None)  # fmt: skip


def _per_row(values: NDArray[Any], known: list[bool], codes: NDArray[np.intp]) -> NDArray[Any]:
    """Values of the known spellings → one for every cell, NaN (or NaT) where it is missing."""
    per_level = np.full(len(known), "NaT" if values.dtype.kind == "M" else np.nan, dtype=values.dtype)
    per_level[np.array(known)] = values
    return per_level[codes]


def _spread(codes: NDArray[np.intp], known: list[bool]) -> NDArray[np.intp]:
    """For every cell that is not missing, the position of its spelling among the known ones."""
    place: NDArray[np.intp] = np.cumsum(known) - 1
    return np.asarray(place[codes[np.array(known)[codes]]])


def _by_rule(at: int) -> Offer:
    return offer("Read it by rule again", "types", ((at, "auto"),))


def _keep_text(at: int) -> Offer:
    return offer("Keep as text", "types", ((at, "text"),))


def _as_numbers(column: pd.Series, codes: NDArray[np.intp], bare: list[str], known: list[bool], decimal: Mark | None,
                absent: dict[str, int], at: int) -> Column:  # fmt: skip
    """A column of which a person said that it holds numbers: what is none is missing, and told."""
    name = str(column.name)
    rest = [b for b, k in zip(bare, known, strict=True) if k]
    unit = _unit(rest)
    found = [_DRESSED.fullmatch(cell.removesuffix(unit).strip().translate(_UNIFORM)) for cell in rest]
    styles: tuple[Mark, ...] = (".", ",") if decimal is None else (decimal,)
    mark = max(styles, key=lambda s: sum(m is not None and _STYLE[s].fullmatch(m["body"]) is not None for m in found))
    read = np.array([_value(m, mark) if m and _STYLE[mark].fullmatch(m["body"]) else np.nan for m in found])
    values = _per_row(read, known, codes) + 0.0
    lost = [cell for cell, value in zip(rest, read, strict=True) if np.isnan(value)]
    if lost:
        n = int(np.isnan(values).sum()) - sum(absent.values())
        told = note("column '{column}' is read as numbers, as chosen; cells that are none and so are missing: {n} "
                    "({values})", "warning", column=name, n=n, values=listed(lost))  # fmt: skip
    else:
        told = note("column '{column}' is read as numbers, as chosen", column=name)
    left = sorted({unit, *(m[side] or "" for m in found if m for side in ("before", "after"))} - {""})
    signs = note("column '{column}': left out beside the numbers: {signs}", column=name, signs=listed(left))
    notes = (told.offering(_by_rule(at)), *((signs,) if left else ()), *altered(column, values, at))
    return Column(pd.Series(values, index=column.index), notes, absent,
                  mark if decimal is None and "," in "".join(rest) else None)  # fmt: skip


def _as_dates(column: pd.Series, codes: NDArray[np.intp], known: list[bool], when: Dates, absent: dict[str, int],
              at: int) -> Column:  # fmt: skip
    name = str(column.name)
    params = {"column": name, "example": when.example, "value": when.reads}
    if when.order == "day":
        told = note("column '{column}': dates, read as day, month, year ('{example}' is {value})", **params)
    elif when.order == "month":
        told = note("column '{column}': dates, read as month, day, year ('{example}' is {value})", **params)
    else:
        told = note("column '{column}': dates ('{example}' is {value})", **params)
    offers = [_keep_text(at)]
    if when.doubtful:
        told = replace(told, severity="warning")
        if when.order == "day":
            offers.insert(0, offer("The month stands first", "types", ((at, "date_month_first"),)))
        else:
            offers.insert(0, offer("The day stands first", "types", ((at, "date"),)))
    values = pd.Series(_per_row(when.values, known, codes), index=column.index)
    notes = [told.offering(*offers)]
    if when.zone:
        notes.append(note("column '{column}': times of other zones are counted back to UTC", column=name))
    return Column(values, tuple(notes), absent)


def _no_dates(name: str, rest: list[str], why: str | None, read_as: ReadAs, at: int) -> Note:
    """Why a column whose cells look like dates, or that is to be dates, is none (see `dates`)."""
    if why == "":
        said = note("column '{column}' writes its dates in different ways, so it stays text", "warning", column=name)
    elif why is None:
        strange = next((cell for cell in rest if not DATE.fullmatch(cell)), rest[0])
        said = note("column '{column}' holds '{value}', which is no date, so it stays text", "warning",
                    column=name, value=strange)  # fmt: skip
    else:
        said = note("column '{column}' looks like dates, but '{value}' is none, so it stays text", "warning",
                    column=name, value=why).offering(offer("It means missing", "missing", (why,)))  # fmt: skip
    return said if read_as == "auto" else said.offering(*said.offers, _by_rule(at))


def _also_missing(said: Note, taken: Sequence[str]) -> Note:
    """A note that a word was kept as a value, offering to take it as missing besides all that is taken so."""
    offers = tuple(o._replace(value=tuple(sorted({*taken, *o.value}))) if o.keyword == "missing" else o
                   for o in said.offers)  # fmt: skip
    return replace(said, offers=offers)


def _empty(column: pd.Series, bare: list[str], at: int) -> Column:
    name = str(column.name)
    told = [b for b in bare if b]
    if told:
        said = note("column '{column}' holds nothing but {tokens}, read as missing", "warning", column=name,
                    tokens=listed(told)).offering(_keep_text(at))  # fmt: skip
    else:
        said = note("column '{column}' is empty: every cell is missing", "warning", column=name)
    return Column(pd.Series(np.nan, index=column.index, dtype=float), (said,), {})


def _identifier(rest: list[str]) -> str | None:
    """The first cell that is digits but no quantity: a leading zero (007) or more than 15 digits, provided that all
    cells are whole numbers written plainly."""
    joined = "\n".join(rest)
    found = re.search(r"^[+-]?(?:0\d+|\d{16,})$", joined, re.MULTILINE)
    plain = found is not None and re.search(r"[^\d+\-\n]", joined) is None
    return found.group() if found is not None and plain else None


_PHONE = re.compile(r"\+\(?\d(?:[ \u00a0\u2009\u202f()/\-‐‑–]*\d){7,14}")
"""A telephone number with its country (E.164: at most 15 digits), or a large number that shows its sign."""


def _telephone(rest: list[str], times: NDArray[np.intp]) -> str | None:
    """The first cell that is a telephone number, where nine cells of ten are (`times` counts each spelling), or where
    the others too are positive and have seven digits and more: a column of signed numbers has short or negative ones.

    >>> ones = np.ones(2, dtype=np.intp)
    >>> _telephone(["+15551234567", "+49 30 123456"], ones), _telephone(["+15551234567", "-3"], ones)
    ('+15551234567', None)
    """
    if not any(cell.startswith("+") for cell in rest):
        return None
    found = np.array([_PHONE.fullmatch(cell) is not None for cell in rest])
    if not found.any() or any(cell[0] in "-−(" and is_number(cell) for cell in rest):
        return None
    long = all(len(re.sub(r"\D", "", cell)) >= 7 and not re.search(r"[.,%eE]", cell) for cell in rest)
    return rest[int(found.argmax())] if long or times[found].sum() >= 0.9 * times.sum() else None


def _plain(rest: list[str]) -> _Numbers | None:
    """Numbers as a program writes them: 5, -0.25, 1e5."""
    characters = set().union(*(set(r) for r in rest)) if len(rest) < 64 else set("".join(rest))
    if not characters <= _PLAIN_CHARACTERS:
        return None
    try:
        values = np.array(rest, dtype=object).astype(np.float64)  # Python's float: exact to the last digit
    except ValueError:
        return None
    whole = not characters & set(".eE") and bool((np.abs(values) < 2.0**53).all())
    doubtful = "." not in characters or all(_STYLE[","].fullmatch(r.lstrip("+-")) for r in rest)
    return _Numbers(values, whole, None if doubtful else ".", rest[0], float(values[0]))


def _dressed(rest: list[str], decimal: Mark | None) -> _Numbers | None:
    """Numbers as people write them: 1.234,56, 1,100,000, 12 %, $5, (3), −4, inf."""
    matches = []
    for cell in rest:
        found = _DRESSED.fullmatch(cell.translate(_UNIFORM))
        infinite = None if found else INFINITE.fullmatch(cell)
        if not (found or infinite) or (found and not _signed_once(found)):
            return None
        matches.append(found)
    dressed = [m for m in matches if m is not None]
    units = {((m["before"] or "") + (m["after"] or "")).replace("％", "%").replace("￥", "¥") for m in dressed}
    if not dressed or len(units) > 1:
        return None
    styles: tuple[Mark, ...] = (".", ",") if decimal is None else (decimal,)
    fitting = [s for s in styles if all(_STYLE[s].fullmatch(m["body"]) for m in dressed)]
    if not fitting:
        return None
    mark = fitting[0]
    values = np.array([_value(m, mark) if m else -np.inf if cell[0] in "-−" else np.inf
                       for m, cell in zip(matches, rest, strict=True)])  # fmt: skip
    plain = not any(c in m["body"] for m in dressed for c in ".eE,")
    example = next((r for r in rest if "," in r), None) or max(rest, key=lambda r: not _PLAIN_CHARACTERS.issuperset(r))
    certain = mark if len(fitting) == 1 and not plain else None
    behind = next(((r, float(v)) for r, m, v in zip(rest, matches, values, strict=True)
                   if m and (m["open"] or m["sign3"])), None)  # fmt: skip
    finite_whole = bool((np.isfinite(values) & (values == np.round(values)) & (np.abs(values) < 2.0**53)).all())
    return _Numbers(values, finite_whole and not any(c in m["body"] for m in dressed for c in (mark, "e", "E")),
                    certain, example, float(values[rest.index(example)]), units.pop(), behind)  # fmt: skip


def _signed_once(match: re.Match[str]) -> bool:
    """Whether parentheses close, and at most one sign or pair of parentheses says that a number is negative."""
    signs = [match["sign"], match["sign2"], match["sign3"], match["open"]]
    return bool(match["open"]) == bool(match["close"]) and sum(s is not None for s in signs) <= 1


def _value(match: re.Match[str], mark: Mark) -> float:
    body = re.sub(rf"{_GROUP}|[{'.' if mark == ',' else ','}]", "", match["body"]).replace(",", ".")
    negative = "-" in (match["sign"], match["sign2"], match["sign3"]) or bool(match["open"])
    return -float(body) if negative else float(body)


def _point_note(name: str, text: pd.Series, at: int) -> Note:
    """What a point was taken for that may as well separate thousands."""
    cells = text.str.replace(INVISIBLE, "", regex=True).str.strip()
    written, found = next((cell, m) for cell in cells if re.search(r"\.\d", cell)
                          and (m := _DRESSED.fullmatch(cell.translate(_UNIFORM))))  # fmt: skip
    return note("column '{column}': the point is the decimal mark ('{example}' is read as {value}); if it separates "
                "thousands, choose decimal=','", "warning", column=name, example=written,
                value=f"{_value(found, '.'):.15g}"
                ).offering(offer("The decimal mark is a comma", "decimal", ","), _keep_text(at))  # fmt: skip


def _invisible_note(column: pd.Series, at: int) -> Note:
    """That numbers or dates are read from cells that hold characters nobody sees."""
    rows = np.flatnonzero(column.str.contains(INVISIBLE))
    return note("column '{column}': cells with invisible characters, which are left out: {n}, the first in row {row}",
                column=str(column.name), n=len(rows), row=int(rows[0]) + 1).offering(_keep_text(at))  # fmt: skip


def _number_notes(name: str, numbers: _Numbers, decimal: Mark | None, at: int) -> list[Note]:
    notes = []
    written, value = numbers.example, f"{numbers.reads:.15g}"
    if numbers.mark == "," or decimal == ",":
        if "," in written or "." in written:
            notes.append(note("column '{column}': the decimal mark is a comma ('{example}' is read as {value})",
                              column=name, example=written, value=value)
                         .offering(offer("The decimal mark is a point", "decimal", "."), _keep_text(at)))  # fmt: skip
    elif "," in written and numbers.mark == ".":
        notes.append(note("column '{column}': commas are thousands separators ('{example}' is read as {value})",
                          column=name, example=written, value=value).offering(_keep_text(at)))  # fmt: skip
    elif "," in written:
        doubt: Severity = "info" if decimal == "." else "warning"
        notes.append(note("column '{column}': commas are thousands separators ('{example}' is read as {value}); if "
                          "they are decimal commas, choose decimal=','", doubt, column=name, example=written,
                          value=value)
                     .offering(offer("The decimal mark is a comma", "decimal", ","), _keep_text(at)))  # fmt: skip
    if numbers.unit == "%":
        share = f"{numbers.reads / 100:.15g}"
        notes.append(note("column '{column}' is in percent: '{example}' is read as {value}, not as {share}",
                          column=name, example=written, value=value, share=share).offering(_keep_text(at)))  # fmt: skip
    elif numbers.unit:
        notes.append(note("column '{column}': the currency sign '{sign}' is left out, the numbers are kept",
                          column=name, sign=numbers.unit).offering(_keep_text(at)))  # fmt: skip
    if not np.isfinite(numbers.values).all():
        notes.append(infinite_note(name, at))
    if numbers.behind and all(n.message.params.get("example") != numbers.behind[0] for n in notes):
        notes.append(note("column '{column}': '{example}' is read as {value}", column=name, example=numbers.behind[0],
                          value=f"{numbers.behind[1]:.15g}").offering(_keep_text(at)))  # fmt: skip
    if not notes and not _PLAIN_CHARACTERS.issuperset(written):
        notes.append(note("column '{column}': '{example}' is read as {value}", column=name, example=written,
                          value=value).offering(_keep_text(at)))  # fmt: skip
    return notes


_CODE = re.compile(r"\d+[eE]\d{1,2}")
"""A number as hardly any program writes it (1e+05, 1.0e5 it would), but as wells and parts are called."""


def _code_notes(name: str, rest: list[str], at: int) -> list[Note]:
    """That a number is read from what may be a code, or a telephone number where no cell gives a reason for signs."""
    if (code := next(filter(_CODE.fullmatch, rest), None)) is not None:
        return [note("column '{column}': '{example}' is read as {value}; if it is a code, keep the column as text",
                     "warning", column=name, example=code, value=f"{float(code):.15g}")
                .offering(_keep_text(at))]  # fmt: skip
    phone = next((cell for cell in rest if cell[0] == "+" and _PHONE.fullmatch(cell)), None)
    if phone is None or any(cell[0] in "-−(" for cell in rest):
        return []
    return [note("column '{column}': '{example}' is read as a number, without its plus sign; if it is a telephone "
                 "number, keep the column as text", "warning", column=name, example=phone)
            .offering(_keep_text(at))]  # fmt: skip


def infinite_note(name: str, at: int) -> Note:
    """That a column, at this position, holds infinite numbers."""
    return note("column '{column}' holds infinite numbers; rows with one cannot be classified", "warning",
                column=name).offering(_keep_text(at))  # fmt: skip


def altered(column: pd.Series, values: NDArray[Any], at: int = 0) -> list[Note]:
    """What is said of cells whose numbers are no float64: too near to 0, too large, or of more digits than it keeps.

    >>> [str(n.message) for n in altered(pd.Series(["1", "1e-400"], name="x"), np.array([1.0, 0.0]))]
    ["column 'x': numbers too near to 0 to be kept, read as 0: 1, the first in row 2 ('1e-400')"]
    """
    rows = np.flatnonzero((values == 0) | (np.abs(values) >= 2.0**53))
    if not rows.size:
        return []
    codes, cells = pd.factorize(column.iloc[rows])
    firsts = rows[np.unique(codes, return_index=True)[1]]
    kinds = np.array([_loss(str(cell), float(values[i])) for cell, i in zip(cells, firsts.tolist(), strict=True)])

    def where(kind: str) -> dict[str, Any]:
        found = rows[(kinds == kind)[codes]]
        first = int(found[0])
        return {"column": str(column.name), "n": len(found), "row": first + 1,
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
    return [told.offering(_keep_text(at)) for told in notes]


def _loss(cell: str, value: float) -> Literal["", "flat", "infinite", "rounded"]:
    """What became of a cell's number that is read as 0 or as 2**53 and more."""
    mantissa, *power = re.split("[eE]", cell.translate(_UNIFORM), maxsplit=1)
    digits = re.sub(r"\D", "", mantissa).strip("0")
    if not digits:
        return ""
    if not value:
        return "flat"
    if np.isinf(value):
        return "infinite"
    return "rounded" if not power and digits != str(abs(int(value))).strip("0") else ""


def _text(
    column: pd.Series, codes: NDArray[np.intp], spelled: list[str], bare: list[str], missing: Sequence[str] | None,
    identifier: str | None, at: int, *, phone: str | None = None, plainly: bool = False,
) -> Column:  # fmt: skip
    """A column that stays text (or, unless it is to be text `plainly`, truth values): only tokens that mean missing
    anywhere are taken out."""
    name = str(column.name)
    tokens = ALWAYS_MISSING if missing is None else ("", *missing)
    absent = _absent(bare, tokens, codes)
    kept = sorted({b for b in bare if b not in tokens})
    notes: list[Note] = []
    if kept and not plainly and all(s != b for s, b in zip(spelled, bare, strict=True) if b not in tokens):
        spelled = bare  # the cells are padded, as between the bars of a drawn table
        column = pd.Series(np.array(bare, dtype=object)[codes], index=column.index, name=column.name)
        notes.append(note("column '{column}': the spaces around every cell are left out", column=name)
                     .offering(_keep_text(at)))  # fmt: skip
    truth = None if plainly else next((pair for pair in _TRUTH if set(kept) == pair), None)
    if truth is not None:
        lookup = np.array([np.nan if b in tokens else b.lower() == "true" for b in bare], dtype=object)
        values = pd.Series(lookup[codes] if absent else lookup[codes].astype(bool), index=column.index)
        notes.append(note("column '{column}': {values} are read as truth values", column=name, values=listed(kept))
                     .offering(_keep_text(at)))  # fmt: skip
        return Column(values, tuple(notes), absent)

    lookup = np.array([np.nan if b in tokens else s for s, b in zip(spelled, bare, strict=True)], dtype=object)
    values = pd.Series(lookup[codes], index=column.index).astype("str") if absent else column.astype("str")
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
                          column=name, example=identifier).offering(_read_numbers(at)))  # fmt: skip
    elif phone is not None:
        notes.append(note("column '{column}' stays text, because '{example}' and the like are telephone numbers",
                          "warning", column=name, example=phone).offering(_read_numbers(at)))  # fmt: skip
    else:
        notes += _spelling_notes(name, spelled, bare, kept, at)
    return Column(values, tuple(notes), absent)


_WITH_UNIT = re.compile(r"[+-]?\d[\d.,]*[ \u00a0]?([^\W\d_][^\d,;:]{0,9}|[°‰][^\d,;:]{0,9})")


def _unit(cells: Sequence[str]) -> str:
    """What stands behind the number in every one of the cells, "" where that is not so.

    >>> _unit(["12 cm", "13.5 cm"]), _unit(["12 cm", "5 kg"]), _unit(["4D2", "5D2"])
    ('cm', '', '')
    """
    units = {match[1] if (match := _WITH_UNIT.fullmatch(cell)) else "" for cell in cells}
    return units.pop() if len(units) == 1 else ""


def _read_numbers(at: int) -> Offer:
    return offer("Read as numbers", "types", ((at, "number"),))


def _spelling_notes(name: str, spelled: list[str], bare: list[str], kept: list[str], at: int) -> list[Note]:
    """What the distinct spellings of a text column suggest: half a number, half a date, yes and no, two spellings of
    one."""
    if {k.casefold() for k in kept} <= _YES_NO and len(kept) > 2:
        return [note("column '{column}' spells yes and no in {n} ways ({values}); they are kept as different values",
                     "warning", column=name, n=len(kept), values=listed(kept))]  # fmt: skip
    notes = []
    if len(kept) > 1 and (unit := _unit(kept)):
        return [note("column '{column}' holds numbers with the unit '{unit}' ('{example}'), and stays text", "warning",
                     column=name, unit=unit, example=kept[0]).offering(_read_numbers(at))]  # fmt: skip
    numbers = [is_number(k) for k in kept]
    if any(numbers) and 2 * sum(numbers) >= len(kept):
        strange = [k for k, number in zip(kept, numbers, strict=True) if not number]
        if strange:
            notes.append(note("column '{column}' holds numbers and text ({values}), so it stays text; if these mean "
                              "missing, add them to the missing tokens", "warning", column=name,
                              values=listed(strange))
                         .offering(offer("These mean missing", "missing", tuple(strange)), _read_numbers(at))
                         if len(strange) <= 6 else
                         note("column '{column}' holds numbers and text ({values}), so it stays text", "warning",
                              column=name, values=listed(strange)).offering(_read_numbers(at)))  # fmt: skip
        else:
            notes.append(note("column '{column}' writes its numbers in different ways ({values}), so it stays text",
                              "warning", column=name, values=listed(kept)).offering(_read_numbers(at)))  # fmt: skip
    elif any(map(DATE.fullmatch, kept)):
        strange = [k for k in kept if not DATE.fullmatch(k)]
        if strange and 2 * len(strange) <= len(kept):
            notes.append(note("column '{column}' holds dates and text ({values}), so it stays text", "warning",
                              column=name, values=listed(strange))
                         .offering(offer("These mean missing", "missing", tuple(strange[:6]))))  # fmt: skip
    folded: dict[str, list[str]] = {}
    values = set(kept)
    for s, b in zip(spelled, bare, strict=True):
        if b in values:
            folded.setdefault(unicodedata.normalize("NFKC", INVISIBLE.sub("", b)).strip().casefold(), []).append(s)
    alike = [group for group in folded.values() if len(group) > 1]
    if alike and len(folded) < len(bare):
        notes.append(note("column '{column}': {values} differ only in case, spaces, width or invisible "
                          "characters; they are kept as different values", "warning", column=name,
                          values=listed(alike[0])))  # fmt: skip
    return notes


def _absent(bare: list[str], tokens: Sequence[str], codes: NDArray[np.intp]) -> dict[str, int]:
    """How many cells hold each of the tokens that mean missing."""
    found = [(i, b) for i, b in enumerate(bare) if b in tokens]
    counts = np.bincount(codes, minlength=len(bare)) if found else ()
    absent: dict[str, int] = {}
    for i, token in found:
        absent[token] = absent.get(token, 0) + int(counts[i])
    return absent


def missing_notes(absent: Mapping[str, Mapping[str, int]]) -> list[Note]:
    """What was read as missing, from each column's `Column.absent`. Words are told by column, or by word where more
    than five columns hold any; empty cells are told once for the table.

    >>> [str(n.message) for n in missing_notes({"a": {"": 2}, "b": {"": 3, "NA": 1}})]
    ["column 'b': cells read as missing: 1 ('NA')", "empty cells, read as missing: 5, in 2 columns: 'b' (3), 'a' (2)"]
    """
    words = {name: {t: n for t, n in found.items() if t} for name, found in absent.items()}
    words = {name: found for name, found in words.items() if found}
    if len(words) <= _NAMED:
        place = {name: at for at, name in enumerate(absent)}
        notes = [note("column '{column}': cells read as missing: {n} ({tokens})", "warning", column=name,
                      n=sum(found.values()), tokens=listed(list(found)))
                 .offering(offer("It is a value here: keep the column as text", "types", ((place[name], "text"),)))
                 for name, found in words.items()]  # fmt: skip
    else:
        notes = []
        taken = list(dict.fromkeys(t for found in words.values() for t in found))
        for token in taken:
            cells = {name: found[token] for name, found in words.items() if token in found}
            others = tuple(t for t in taken if t != token)
            notes.append(note("cells with '{token}', read as missing: {n}; by column: {columns}", "warning",
                              token=token, n=sum(cells.values()), columns=_counts(cells))
                         .offering(offer("It is a value", "missing", others)))  # fmt: skip
    empty = {name: found[""] for name, found in absent.items() if "" in found}
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
