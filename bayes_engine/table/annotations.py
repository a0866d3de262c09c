"""Numbers with something beside them that is no part of their value: marks of footnotes and flags (27.9*, 12.1 p), the
error of a measurement (2.7 ± 0.1), what all of a column share (4.5/5), a limit (<0.5), a word among them. No library
that is used here reads these.

Where one reading is plain for a whole column it is taken (`annotated_numbers`) and said; elsewhere the column stays
text, and what it may be is offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.table.numbers import (
    Mark,
    ParsedNumbers,
    dressed_numbers,
    identifier_among,
    in_style,
    is_dressed,
    is_number,
    means_missing,
    plain_numbers,
    signs_beside,
)
from bayes_engine.table.units import UNITS, multiplied, scaled, usual_unit

Beside = Literal["multiplier", "error", "marks", "shared", "words"]
"""What stands beside the numbers of a column."""

_LIMITS = frozenset("<>≤≥＜＞")
_FLAG = re.compile(
    r"[ \u00a0]?+(?:[*†‡§¶#^]{1,3}|\((?:[A-Za-z]{1,3}|[0-9]{1,2}|\*)\)|\[(?:[A-Za-z]{1,3}|[0-9]{1,2})\]"
    r"|[¹²³⁴⁵⁶⁷⁸⁹]{1,2})\Z|(?:[ \u00a0]|(?<=[.,][0-9])|(?<=[.,][0-9]{2}))[A-Za-z]{1,2}\Z"
)
"""A mark behind a number: of a footnote, or a letter that flags it (7.7 L, 12.1 p)."""
_PLAIN_FLAG = re.compile(r"[*†‡§¶#]{1,3}|\([A-Za-z*]\)|\[(?:[A-Za-z]|[0-9]{1,2})\]|[bcefinpruzEP]")
"""A mark that can be nothing else: a raised digit may be a power, a number in parentheses an error or a share, and of
the letters that stand apart others are units (7.7 L, 5 m, 8 w). The small ones are the flags of Eurostat and OECD."""
_FOOTNOTE = re.compile(r"\[[0-9]{1,2}\]\Z")
_WITH_ERROR = re.compile(r"([^±+]{1,40}+)(?:±|\+/-)([^±+]{1,40}+)")
_OUT_OF = re.compile(r"([0-9]{1,4}(?:[.,][0-9]{1,4})?) ?(/ ?[1-9][0-9]{0,3})")
_MARKS = 6
"""Different marks behind the numbers of a column at most; the numbers of footnotes are one."""
_FEW = 0.05
"""Share of the rows at most in which a word stands among numbers that is taken as missing, ..."""
_MEASURED = 10
"""... different numbers that there are beside it at least, ..."""
_WORDS = 3
"""... and different words at most."""
_MANY = 10
"""Different whole numbers before a k at least, for them to be amounts and no names."""


class Annotated(NamedTuple):
    """The `numbers` of the cells that are not `gone`, in their order; what stands `beside` them, and which marks or
    words (`left`); an `example`, as it is written, and what it `reads` as."""

    numbers: ParsedNumbers
    beside: Beside
    left: tuple[str, ...]
    example: str
    reads: float
    gone: frozenset[str] = frozenset()
    doubtful: bool = False  # whether a mark in them may be the decimal mark or separate thousands


class _Bare(NamedTuple):
    """The cells without what stands beside them (None: missing), by what to multiply each, and what is left out."""

    cells: list[str | None]
    left: tuple[str, ...]
    by: list[float] | None = None


def annotated_numbers(kept: Mapping[str, int], decimal: Mark | None = None, *, words: bool = True) -> Annotated | None:
    """The numbers of a column of which some have something beside them, where that can mean one thing; None where it
    may mean another, or a cell is anything else. `kept` says how many rows have each cell; whether a word among
    measured numbers may be missing is asked with `words`.

    >>> read = annotated_numbers({"1,2 Mio.": 1, "850": 1})
    >>> read.beside, read.numbers.values.tolist(), annotated_numbers({"1B": 3, "2B": 4})
    ('multiplier', [1200000.0, 850.0], None)
    >>> read = annotated_numbers({"27.9*": 1, "4.5": 2})
    >>> read.beside, read.left, read.numbers.values.tolist()
    ('marks', ('*',), [27.9, 4.5])
    """
    cells = list(kept)
    first = cells[:100]
    if 2 * sum(any(map(str.isdigit, cell)) for cell in first) < len(first):
        return None
    one = next((cell for cell in cells if not is_number(cell)), None)
    if one is None or not _explained(one):
        return None
    strange = [cell for cell in cells if not is_number(cell)]
    ways: tuple[tuple[Beside, Callable[[], _Bare | None]], ...] = (
        ("multiplier", lambda: _without_multipliers(cells, strange)),
        ("error", lambda: _without_errors(cells)),
        ("shared", lambda: _without_shared(cells)),
        ("marks", lambda: _without_marks(kept, strange)),
        ("words", lambda: _without_words(kept, strange) if words else None),
    )
    for beside, bare_of in ways:
        if (bare := bare_of()) is not None:
            return _read(beside, cells, bare, decimal)
    return None


def _explained(cell: str) -> bool:
    """Whether a cell that is no number may be one with something beside it, or a word: of a long column of names and
    codes one tells."""
    if not any(map(str.isdigit, cell)):
        return True
    mark = unflagged(cell)[1]
    return bool(
        scaled(cell)[1] != 1.0 or _WITH_ERROR.fullmatch(cell) or _OUT_OF.fullmatch(cell) or cell.endswith("+")
        or (mark and _PLAIN_FLAG.fullmatch(mark))
    )  # fmt: skip


def _read(beside: Beside, cells: list[str], bare: _Bare, decimal: Mark | None) -> Annotated | None:
    known = [own for own in bare.cells if own is not None]
    if not known or identifier_among(known) is not None:
        return None
    read = plain_numbers(known) if decimal != "," else None
    read = read or dressed_numbers(known, decimal)
    if read is None:
        return None
    if bare.by is not None:
        values = [multiplied(x, by) for x, by in zip(read.values.tolist(), bare.by, strict=True)]
        read = read._replace(values=np.array(values))
    written = [cell for cell, own in zip(cells, bare.cells, strict=True) if own is not None]
    k = next((k for k, (cell, own) in enumerate(zip(written, known, strict=True)) if cell != own), 0)
    gone = frozenset(cell for cell, own in zip(cells, bare.cells, strict=True) if own is None)
    doubtful = read.mark is None and any("." in own or "," in own for own in known)
    return Annotated(read, beside, bare.left, written[k], float(read.values[k]), gone, doubtful)


def _without_multipliers(cells: list[str], strange: list[str]) -> _Bare | None:
    """Where all that is no number is one with a multiplier. A word for it is beyond doubt (万, Mio.); a letter is where
    it stands behind a fraction or an amount of money, or a k behind many numbers: 5B and 3M may be names."""
    parts = {cell: scaled(cell) for cell in strange}
    if any(by == 1.0 for _, by in parts.values()):
        return None
    suffixes = {cell: cell[len(bare) :].strip() for cell, (bare, _) in parts.items()}
    words = any(len(suffix) > 1 or not suffix.isascii() for suffix in suffixes.values())
    money = any(signs_beside(bare) for bare, _ in parts.values())
    fraction = any("." in bare or "," in bare for bare, _ in parts.values())
    amounts = len(parts) >= _MANY and all(suffix in "kK" for suffix in suffixes.values())
    if not (words or money or fraction or amounts):
        return None
    own = [parts.get(cell, (cell, 1.0)) for cell in cells]
    return _Bare([bare for bare, _ in own], (), [by for _, by in own])


def _without_errors(cells: list[str]) -> _Bare | None:
    """Where every number has its error behind it."""
    matches = [_WITH_ERROR.fullmatch(cell) for cell in cells]
    parts = [(match[1].strip(), match[2].strip()) for match in matches if match]
    if len(parts) < len(cells) or not all(is_number(part) for pair in parts for part in pair):
        return None
    return _Bare([bare for bare, _ in parts], ())


def _without_shared(cells: list[str]) -> _Bare | None:
    """Where the same stands behind all numbers, so that nothing is lost with it: 1,000+; or 4.5/5, out of the most
    there can be, where that is no day of a month."""
    if len(cells) > 1 and all(cell.endswith("+") and is_number(cell[:-1]) for cell in cells):
        return _Bare([cell[:-1] for cell in cells], ("+",))
    matches = [_OUT_OF.fullmatch(cell) for cell in cells]
    parts = [(match[1], match[2]) for match in matches if match]
    if len(cells) < 2 or len(parts) < len(cells) or len({most for _, most in parts}) > 1:
        return None
    most = float(parts[0][1].lstrip("/ "))
    values = [float(bare.replace(",", ".")) for bare, _ in parts]
    if max(values) > most or (most <= 31 and all(value.is_integer() for value in values)):
        return None
    return _Bare([bare for bare, _ in parts], (parts[0][1],))


def _without_marks(kept: Mapping[str, int], strange: list[str]) -> _Bare | None:
    """Where all that is no number is one with a mark behind it that can be nothing else."""
    own, marks = dict[str, str | None](), dict[str, str]()
    for cell in strange:
        bare, mark = unflagged(cell)
        if not mark or not _PLAIN_FLAG.fullmatch(mark) or not (is_number(bare) or means_missing(bare)):
            return None
        if mark.isalpha() and cell[-2:-1] not in " \u00a0":
            return None  # 3.5b: it may be a part of the number
        own[cell] = bare if is_number(bare) else None
        marks.setdefault("[1]" if _FOOTNOTE.match(mark) else mark, mark)
    lettered = sum(kept[cell] for cell in strange if cell[-1].isalpha())
    if len(marks) > _MARKS or lettered > sum(n for cell, n in kept.items() if cell not in own):
        return None
    return _Bare([own.get(cell, cell) for cell in kept], tuple(marks.values()))


def _without_words(kept: Mapping[str, int], strange: list[str]) -> _Bare | None:
    """Where a few rows hold a word among measured numbers: most of these have a fraction, which codes and names have
    not, and they are many."""
    if len(strange) > _WORDS:
        return None
    others = [cell for cell in kept if cell not in strange]
    if sum(kept[cell] for cell in strange) > _FEW * sum(kept.values()) or len(others) < _MEASURED:
        return None
    if not all(any(map(str.isalpha, cell)) and not any(map(str.isdigit, cell)) for cell in strange):
        return None
    if 2 * sum("." in cell or "," in cell for cell in others) < len(others):
        return None
    return _Bare([None if cell in strange else cell for cell in kept], tuple(strange))


def bare_number(cell: str) -> tuple[str, float]:
    """A number without what can be left out beside it in any column (a mark that can be nothing else), or its suffix
    and by what that multiplies it; any other cell as it is.

    >>> bare_number("27.9*"), bare_number("5k"), bare_number("12²"), bare_number("wood")
    (('27.9', 1.0), ('5', 1000.0), ('12²', 1.0), ('wood', 1.0))
    """
    bare, by = scaled(cell)
    if bare != cell:
        return bare, by
    bare, mark = unflagged(cell)
    return (bare, 1.0) if mark and _PLAIN_FLAG.fullmatch(mark) and is_number(bare) else (cell, 1.0)


def unflagged(cell: str) -> tuple[str, str]:
    """A cell without the mark of a footnote or the flag behind it, and that; nothing where it is no such mark.

    >>> [unflagged(cell) for cell in ("27.9*", "47.5 (a)", "12.1 p", ": c", "12A", "5 kg")]
    [('27.9', '*'), ('47.5', '(a)'), ('12.1', 'p'), (':', 'c'), ('12A', ''), ('5 kg', '')]
    """
    mark = _FLAG.search(cell[-9:])
    if mark is None or mark[0].strip() in UNITS:
        return cell, ""
    return cell[: -len(mark[0])].strip(), mark[0].strip()


def is_limit(cell: str) -> bool:
    """Whether a cell says of a number that it lies below or above another.

    >>> [is_limit(cell) for cell in ("<0.5", "≥ 1,2", "> ", "5")]
    [True, True, False, False]
    """
    return cell[:1] in _LIMITS and is_number(cell[1:].removeprefix("="))


def numbers_among(cells: list[str], decimal: Mark | None) -> tuple[NDArray[np.float64], Mark, list[str]]:
    """The numbers among cells that are to be numbers, NaN for what is none, in the style that fits most of them; its
    decimal mark; and what is left out beside the numbers.

    >>> values, mark, left = numbers_among(["1,5 cm", "20 cm"], None)
    >>> values.tolist(), mark, left, numbers_among(["$3", "many", "5k"], ".")[0].tolist()
    ([1.5, 20.0], ',', ['cm'], [3.0, nan, 5000.0])
    """
    parts = [scaled(cell) for cell in cells]
    unit = usual_unit([bare for bare, _ in parts])
    bare = [own.removesuffix(unit).strip() for own, _ in parts]
    readings: dict[Mark, NDArray[np.float64]] = {}
    flags = ["" if is_dressed(own) else unflagged(whole)[1] for own, (whole, _) in zip(bare, parts, strict=True)]
    bare = [unflagged(whole)[0] if flag else own for own, flag, (whole, _) in zip(bare, flags, parts, strict=True)]
    for style in (".", ",") if decimal is None else (decimal,):
        readings[style] = in_style(bare, style)
    mark = max(readings, key=lambda style: int((~np.isnan(readings[style])).sum()))
    values = np.array([multiplied(x, by) for x, (_, by) in zip(readings[mark].tolist(), parts, strict=True)])
    flagged = {flag for flag, x in zip(flags, values.tolist(), strict=True) if x == x}
    left = sorted({unit, *flagged, *(sign for own in bare for sign in signs_beside(own))} - {""})
    return values, mark, left
