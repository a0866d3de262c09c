"""What a number is: cells as programs and people write them → float64, and what only looks like a number. pandas reads
one decimal mark that it is told; it guesses none and says nothing of lost digits.

Decimal marks, thousands separators, signs, per cent and currencies are read by rules that do not depend on the
machine's locale; what else stands beside a number is read in `units` and `annotations`. Where a cell may be read in two
ways (1,234) the other cells of its column decide; what nothing decides, what looks like an identifier and what a
float64 loses is found out here, and said by others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.table.spellings import ascii_digits

Mark = Literal[".", ","]

MISSING_AS_TEXT = frozenset(("", "?", "NaN", "nan", "<NA>", "#N/A", "\\N"))
"""Tokens that mean missing in a column of any kind: nobody calls a class or a place so."""
ALWAYS_MISSING = MISSING_AS_TEXT | {
    "NULL", "<NULL>", "(null)", "[NULL]", "[null]", "<null>", "&nbsp;",
    "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NV",
}  # fmt: skip
"""The same in a column that nobody said to be text: with what databases and web pages write for an empty cell."""
MISSING_AMONG_NUMBERS = ALWAYS_MISSING | {
    "NA", "N/A", "n/a", "na", "None", "none", "null", "-", "--", "—", ".", "*", "#NA", "missing", "缺失", "n.a.",
    "N.A.", "–", "NaT",
}  # fmt: skip
"""The usual tokens that mean missing among numbers; in text they are values (NA is Namibia)."""
_NOTHING = re.compile(
    r"[(\[]?[-–—−‐‑―－.…‥⋯·•:：/／\\_*＊#]++[)\]]?"  # signs alone: a dash, …, /, *** of a number too long for its field
    r"|\.[A-Za-z]"  # Stata and SAS number their reasons: .a, .b
    r"|\#¡?[A-ZÄÖÜ]{1,8}(?:/[A-Z0]{1,5})?[!?]?|Err:\d{3}"  # an error of a spreadsheet in any language
    r"|[-+]nan(?:\([a-z]{1,5}\))?|-?1\.\#(?:IND|QNAN|SNAN)0*+"  # no number, as compilers write it
    r"|&(?:[mn]dash|hellip|\#160|\#xa0);",
    re.IGNORECASE,
)
"""What means missing among numbers and dates by its form: it says neither a number nor a word."""
_SAID_MISSING = frozenset((
    "na", "n/a", "n.a.", "n.a", "nan", "nan(ind)", "nan(snan)", "nanq",
    "nd", "n/d", "n.d.", "n.d", "k.a.", "k.a", "k/a", "o.a.", "s.d.", "s/d",
    "n.b.", "b.d.", "b.d.l.", "bdl", "n.v.t.", "null", "nil", "none", "missing", "nodata", "notavailable", "n.disp.",
    "keineangabe", "keineangaben", "ohneangabe", "nichterhoben", "nichtangegeben", "noanswer", "noresponse",
    "notanswered", "notrecorded", "notmeasured", "notdetected", "skip", "skipped", "(skip)", "(skipped)", "sansréponse",
    "nonrenseigné", "nonrenseignée", "sinrespuesta", "sindatos", "semresposta", "semdados", "nãoinformado",
    "nessunarisposta", "geenantwoord", "geenopgave", "brakdanych", "brakodpowiedzi", "intesvar", "нетданных",
    "нетответа", "н/д", "н.д.", "нд", "缺失", "缺失值", "无数据", "無資料", "未填", "未填写", "未填寫", "未作答",
    "未回答", "无回答", "無回答", "未記入", "データなし", "無応答", "무응답", "응답없음",
    "<lod", "<loq", "<mdl", "<dl", "<ld", "<lq",
    "unknown", "notknown", "dontknow", "don'tknow", "don’tknow", "refused", "pending", "notdone", "nottested", "tbd",
    "unbekannt", "weißnicht", "inconnu", "inconnue", "desconocido", "desconocida", "desconhecido", "desconhecida",
    "sconosciuto", "onbekend", "okänt", "ukjent", "ukendt", "nieznane", "neznámé", "неизвестно", "невідомо", "άγνωστο",
    "bilinmiyor", "未知", "不明", "不详", "不詳", "未检测", "待定", "未測定", "미상", "모름", "np", "n.p.",
))  # fmt: skip
"""What says in a few letters that a number is missing or not known, without case and blanks."""
SIGNS = frozenset(("-", "--", "---", "—", "–", "."))
"""Such signs as are no word either: where they mean missing among a table's numbers they do among its words."""
_MACHINES = ("1.#", "Err:")
_LONGEST_MARK = 40
"""Characters of such a cell at most."""

_PLAIN_BYTES = b"0123456789+-.eE"
PLAIN_CHARACTERS = frozenset(_PLAIN_BYTES.decode())
"""All that a program needs to write a number."""
LONGEST = 1_200
"""Characters of the longest cell that is a number: the least float64, written out, has 1,077."""
_PLAIN = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
INFINITE = re.compile(r"[-+−]?(?:inf(?:inity)?|∞|1\.#INF)", re.IGNORECASE)
"""How programs write infinity."""
_GROUP = r"['’ \u00a0\u202f\u2009]"
_EXPONENT = r"(?:[eE][+-]?\d++)?"
_STYLE: dict[Mark, re.Pattern[str]] = {
    ".": re.compile(
        rf"[1-9]\d{{0,2}}(?:(?:,\d{{2,3}})*,\d{{3}}|(?:{_GROUP}\d{{3}})++)(?:\.\d*+)?|(?:\d++(?:\.\d*+)?|\.\d++){_EXPONENT}"
    ),
    ",": re.compile(
        rf"[1-9]\d{{0,2}}(?:(?:\.\d{{3}})++|(?:{_GROUP}\d{{3}})++)(?:,\d*+)?|(?:\d++(?:,\d*+)?|,\d++){_EXPONENT}"
    ),
}
MONEY = (
    r"(?:R|US|A|C|HK|NT|S)?\$|[€£¥￥₹₽₩₺₫฿₴₪₦₱₲₡₸₾]|USD|EUR|GBP|CHF|CNY|RMB|JPY|NOK|SEK|DKK|INR|BRL|CAD|AUD|PLN|CZK|"
    r"TRY|KRW|HKD|TWD|SGD|NZD|MXN|ZAR|RUB|HUF|RON|BGN|RSD|UAH|ILS|AED|SAR|EGP|THB|IDR|MYR|PHP|VND|COP|CLP|ARS|"
    r"[kK]r\.?|zł|Kč|Ft|lei|S?Fr\.|R[sp]\.?|руб\.?|грн|лв\.?|円|원"
)
"""Currencies, as they stand before or behind a number."""
_DRESSED = re.compile(
    rf"(?P<open>\()?\s*+(?P<sign>[+-])?\s*+(?P<before>{MONEY})?\s*+(?P<sign2>[+-])?\s*+(?P<open2>\()?\s*+"
    rf"(?P<body>[\d.,]++(?:[eE+'’ \u00a0\u202f\u2009-]++[\d.,]++)*+)\s*+(?P<sign3>-)?\s*+"
    rf"(?P<after>[%％元]|{MONEY})?\s*+(?P<close>\))?"
)
_UNIFORM = str.maketrans("−﹣－–‐‑．，٫٬٪", "------.,.,%")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_POWER = re.compile(r"([0-9]) ?[x×*·] ?10(?:\^([+-]?[0-9]{1,3})|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))\Z")
_FORTRAN = re.compile(r"(\d\.\d*+|\.\d++)[dDqQ]([+-]?\d{1,3})\Z")
"""A number of double precision as Fortran writes it: 1.5D+02."""
_NO_CENTS = re.compile(r"(?<=[0-9][.,])-{1,2}(?![0-9.,])")
CODE = re.compile(r"\d+[eE]\d{1,2}")
"""A number as hardly any program writes it (1e+05, 1.0e5 it would), but as wells and parts are called."""
MONTH_NUMBER = re.compile(r"(?:0?[1-9]|1[0-2])\.(?:19|20)[0-9]{2}")
"""A number as the months of a year are written: 03.2024."""
PHONE = re.compile(r"\+\(?\d(?:[ \u00a0\u2009\u202f()/\-‐‑–]*\d){7,14}")
"""A telephone number with its country (E.164: at most 15 digits), or a large number that shows its sign."""


def means_missing(cell: str) -> bool:
    """Whether a cell without blanks around it means missing where all others of its column are numbers or dates.

    >>> [means_missing(c) for c in ("NA", "k. A.", "…", "/", ".b", "********", "#NV", "unknown", "+", "<0.5", "lost")]
    [True, True, True, True, True, True, True, True, False, False, False]
    """
    if cell in MISSING_AMONG_NUMBERS:
        return True
    if len(cell) > _LONGEST_MARK or cell[0].isdecimal() or (cell[0].isalpha() and cell[-1].isdecimal()):
        return cell.startswith(_MACHINES) and _NOTHING.fullmatch(cell) is not None
    if not cell[0].isalpha() and _NOTHING.fullmatch(cell):
        return True
    return "".join(cell.casefold().split()) in _SAID_MISSING


class ParsedNumbers(NamedTuple):
    """`values` in the order of the cells; `mark`: the decimal mark that they show beyond doubt; `example` is the cell
    that most needs explaining, `reads` its value; `unit`: the % or currency sign that all of them bear."""

    values: NDArray[np.float64]
    whole: bool
    mark: Mark | None
    example: str
    reads: float
    unit: str = ""
    behind: tuple[str, float] | None = None  # one with a dash behind it, or its minus as parentheses
    commas: tuple[int, ...] = ()  # the cells with a decimal comma where the others have a point


def is_number(cell: str) -> bool:
    """True where a cell reads as a number by itself, in either decimal style, with % or a currency sign.

    >>> [is_number(c) for c in ("1.234,56", "12 %", "$5", "-0", "1e5", "4D2", "")]
    [True, True, True, True, True, False, False]
    """
    bare = cell.strip()
    if len(bare) <= LONGEST and _PLAIN.fullmatch(bare):
        return True  # most are: no need to undress it
    if bare.isalpha():
        return False  # so are most others
    dressed = _undressed(bare)
    if dressed is None or not _signed_once(dressed):
        return False
    return any(style.fullmatch(dressed["body"]) for style in _STYLE.values())


def are_letters(cells: Sequence[str]) -> bool:
    """Whether all cells are letters of ASCII alone, as no number, no date and none of their patterns is written.

    >>> are_letters(["Oslo", "may"]), are_letters(["type 2"]), are_letters(["三"])
    (True, False, False)
    """
    joined = "".join(cells)
    return joined.isascii() and joined.isalpha()


def are_plain(cells: Sequence[str]) -> bool:
    """Whether all are numbers as a program writes them, and there are any: of many at once, in a small part of the time
    that `is_number` takes of each.

    >>> are_plain(["5", "-0.25", "1e5"]), are_plain(["5", " 6"]), are_plain([])
    (True, False, False)
    """
    others = "".join(cells).encode(errors="replace").translate(None, _PLAIN_BYTES)
    if others or max(map(len, cells), default=0) > LONGEST:
        return False
    try:
        return len(list(map(float, cells))) > 0
    except ValueError:
        return False


def is_dressed(cell: str) -> bool:
    """Whether a cell is digits with at most signs and a currency beside them, whatever its marks say.

    >>> is_dressed("$1.234,5.6"), is_dressed("5 kg")
    (True, False)
    """
    return _undressed(cell) is not None


def _undressed(cell: str) -> re.Match[str] | None:
    """A number taken apart into signs, currency and digits; None of what is none."""
    return _DRESSED.fullmatch(_uniform(cell)) if len(cell) <= LONGEST else None


def _uniform(cell: str) -> str:
    """A cell with plain digits and signs, a power of ten as a program writes it (1.5×10⁻³ is 1.5e-3), and without the
    dash that stands for no cents (5,-)."""
    plain = cell.translate(_UNIFORM)
    plain = plain if plain.isascii() else ascii_digits(plain)
    if ",-" in plain or ".-" in plain:
        plain = _NO_CENTS.sub("", plain)
    if "*^" in plain:
        plain = plain.replace("*^", "e")  # as Mathematica writes powers of ten
    if "." in plain and (match := _FORTRAN.search(plain)):
        return f"{plain[: match.start()]}{match[1]}e{match[2]}"
    return _POWER.sub(_as_power, plain) if "10" in plain else plain


def _as_power(match: re.Match[str]) -> str:
    return f"{match[1]}e{match[2] or match[3].translate(_RAISED)}"


def plain_numbers(cells: list[str]) -> ParsedNumbers | None:
    """Numbers as a program writes them: 5, -0.25, 1e5. None where not every cell is one.

    >>> read = plain_numbers(["5", "-0.25", "1e5"])
    >>> read.values.tolist(), read.mark, plain_numbers(["5", "12 %"])
    ([5.0, -0.25, 100000.0], '.', None)
    """
    characters = set().union(*(set(c) for c in cells)) if len(cells) < 64 else set("".join(cells))
    if not characters <= PLAIN_CHARACTERS or max(map(len, cells)) > LONGEST:
        return None
    try:
        values = np.array(cells, dtype=object).astype(np.float64)  # Python's float: exact to the last digit
    except ValueError:
        return None
    whole = not characters & set(".eE") and bool((np.abs(values) < 2.0**53).all())
    doubtful = "." not in characters or all(_STYLE[","].fullmatch(c.lstrip("+-")) for c in cells)
    return ParsedNumbers(values, whole, None if doubtful else ".", cells[0], float(values[0]))


def dressed_numbers(cells: list[str], decimal: Mark | None, *, both: bool = False) -> ParsedNumbers | None:
    """Numbers as people write them: 1.234,56, 1,100,000, 12 %, $5, (3), −4, inf. None where not every cell is one, or
    no one style fits them all; where `both` marks may stand in a column, unless each cell shows which is its own.

    >>> read = dressed_numbers(["1.234,56 €", "(3 €)"], None)
    >>> read.values.tolist(), read.mark, read.unit, dressed_numbers(["1,5", "2.5.1"], None)
    ([1234.56, -3.0], ',', '€', None)
    >>> dressed_numbers(["3,5", "3.7"], None, both=True).values.tolist(), dressed_numbers(["3,5", "3.7"], None)
    ([3.5, 3.7], None)
    """
    matches = []
    for cell in cells:
        match = _undressed(cell)
        infinite = None if match else INFINITE.fullmatch(cell)
        if not (match or infinite) or (match and not _signed_once(match)):
            return None
        matches.append(match)
    dressed = [m for m in matches if m is not None]
    units = {((m["before"] or "") + (m["after"] or "")).replace("％", "%").replace("￥", "¥") for m in dressed}
    if not dressed or len({unit.rstrip(".").casefold() for unit in units}) > 1:  # Kr. and kr are one
        return None
    styles: tuple[Mark, ...] = (".", ",") if decimal is None else (decimal,)
    fitting = [s for s in styles if all(_STYLE[s].fullmatch(m["body"]) for m in dressed)]
    marks = [fitting[0] for _ in matches] if fitting else [_mark_of(m) for m in matches] if both else []
    if not all(marks) or not marks or (decimal and not fitting):
        return None
    mark = marks[0] or "."
    values = np.array([_value(m, own or ".") if m else -np.inf if cell[0] in "-−" else np.inf
                       for m, cell, own in zip(matches, cells, marks, strict=True)])  # fmt: skip
    plain = not any(c in m["body"] for m in dressed for c in ".eE,")
    example = next((c for c in cells if "," in c), None)
    example = example or max(cells, key=lambda c: not PLAIN_CHARACTERS.issuperset(c))
    certain = mark if len(fitting) == 1 and not plain else None
    behind = next(((c, float(v)) for c, m, v in zip(cells, matches, values, strict=True)
                   if m and (m["open"] or m["open2"] or m["sign3"] or len(m.string) < len(c))), None)  # fmt: skip
    finite_whole = bool((np.isfinite(values) & (values == np.round(values)) & (np.abs(values) < 2.0**53)).all())
    return ParsedNumbers(values, finite_whole and not any(c in m["body"] for m in dressed for c in (mark, "e", "E")),
                   certain, example, float(values[cells.index(example)]), max(units), behind,
                         () if fitting else tuple(i for i, own in enumerate(marks) if own == ","))  # fmt: skip


def _mark_of(match: re.Match[str] | None) -> Mark | None:
    """The decimal mark that a number shows by itself, or a point where it has none; None where it may be either."""
    fitting: list[Mark] = [s for s in (".", ",") if match is None or _STYLE[s].fullmatch(match["body"])]
    if len(fitting) == 2 and match is not None and _value(match, ".") != _value(match, ","):
        return None
    return fitting[0] if fitting else None


def points_part_thousands(cells: Sequence[str]) -> bool:
    """Whether among numbers whose points may separate thousands (5.736, 8.310) whole ones show that they do: these are
    larger than all others would be with decimals, and the others end in zeros, which a program that drops ".000" would
    drop too.

    >>> points_part_thousands(["5.736", "8.310", "835"]), points_part_thousands(["5.736", "8.310", "6"])
    (True, False)
    >>> points_part_thousands(["5.736", "8.315", "835"]), points_part_thousands(["5.73", "8.310", "835"])
    (False, False)
    """
    bare = [cell.lstrip("+-") for cell in cells]
    if not all(map(_BY_POINT.fullmatch, bare)):
        return False
    pointed_ones = [cell for cell in bare if cell.count(".") == 1]
    whole = [int(cell) for cell in bare if "." not in cell and cell != "0"]
    if not pointed_ones or not whole or not any(cell.endswith("0") for cell in pointed_ones):
        return False
    uneven = any(not cell.endswith("000") for cell in pointed_ones)
    return uneven and min(whole) > max(map(float, pointed_ones))


_BY_POINT = re.compile(r"0|[1-9]\d{0,2}(?:\.\d{3})*+")


def mark_in_doubt(cell: str) -> bool:
    """Whether the point or comma of a number may be its decimal mark or separate thousands.

    >>> [mark_in_doubt(cell) for cell in ("1,234", "1.234", "12,5", "0.125", "7")]
    [True, True, False, False, False]
    """
    match = _undressed(cell)
    return (
        match is not None
        and all(style.fullmatch(match["body"]) for style in _STYLE.values())
        and (_value(match, ".") != _value(match, ","))
    )


def in_style(cells: Sequence[str], mark: Mark) -> NDArray[np.float64]:
    """Cells as numbers with this decimal mark, NaN for what is none.

    >>> in_style(["1.5", "1,5 €", "many"], ",").tolist()
    [nan, 1.5, nan]
    """
    matches = [_undressed(cell) for cell in cells]
    return np.array([_value(m, mark) if m and _STYLE[mark].fullmatch(m["body"]) else np.nan for m in matches])


def signs_beside(cell: str) -> list[str]:
    """The % and currency signs beside a number.

    >>> signs_beside("$5"), signs_beside("5 %"), signs_beside("5")
    (['$'], ['%'], [])
    """
    match = _undressed(cell)
    return [sign for side in ("before", "after") if match and (sign := match[side])]


def pointed(cell: str) -> float | None:
    """What a cell reads as whose point is the decimal mark; None where it is no number.

    >>> pointed("1.234"), pointed("$1.5"), pointed("no. 5")
    (1.234, 1.5, None)
    """
    match = _undressed(cell)
    return _value(match, ".") if match else None


def _signed_once(match: re.Match[str]) -> bool:
    """Whether parentheses close, and at most one sign or pair of parentheses says that a number is negative."""
    signs = [match["sign"], match["sign2"], match["sign3"], match["open"], match["open2"]]
    opened = bool(match["open"] or match["open2"])
    return opened == bool(match["close"]) and sum(s is not None for s in signs) <= 1


def _value(match: re.Match[str], mark: Mark) -> float:
    body = re.sub(rf"{_GROUP}|[{'.' if mark == ',' else ','}]", "", match["body"]).replace(",", ".")
    negative = "-" in (match["sign"], match["sign2"], match["sign3"]) or bool(match["open"] or match["open2"])
    return -float(body) if negative else float(body)


def identifier_among(cells: list[str]) -> str | None:
    """The first cell that is digits but no quantity: a leading zero (007) or more than 15 digits, provided that all
    cells are whole numbers written plainly.

    >>> identifier_among(["12", "007"]), identifier_among(["1.5", "007"])
    ('007', None)
    """
    joined = "\n".join(cells)
    identifier = re.search(r"^[+-]?(?:0\d+|\d{16,})$", joined, re.MULTILINE)
    plain = identifier is not None and re.search(r"[^\d+\-\n]", joined) is None
    return identifier.group() if identifier is not None and plain else None


FEW_VERSIONS = 30
"""More numbers than this are hardly versions."""
_VERSION = re.compile(r"\d{1,3}\.\d{1,3}")


def may_be_versions(cells: Collection[str]) -> bool:
    """Whether all of few distinct cells are written as versions are, without a sign and with decimals."""
    return len(cells) <= FEW_VERSIONS and all(map(_VERSION.fullmatch, cells))


def version_among(cells: Collection[str]) -> str | None:
    """The first of few distinct cells that ends in a 0 as no program writes a number, beside others with fewer
    decimals: 1.10 after 1.9 may be the tenth of something.

    >>> version_among(["1.9", "1.10"]), version_among(["1.90", "1.10"]), version_among(["1.9", "1.1"])
    ('1.10', None, None)
    """
    if not may_be_versions(cells):
        return None
    decimals = [len(cell.partition(".")[2]) for cell in cells]
    ends = (c for c, n in zip(cells, decimals, strict=True) if c.endswith("0") and n == max(decimals) > min(decimals))
    return next(ends, None)


def telephone_among(cells: list[str], times: NDArray[np.intp]) -> str | None:
    """The first cell that is a telephone number, where nine cells of ten are (`times` counts each spelling), or where
    the others too are positive and have seven digits and more: a column of signed numbers has short or negative ones.

    >>> ones = np.ones(2, dtype=np.intp)
    >>> telephone_among(["+15551234567", "+49 30 123456"], ones), telephone_among(["+15551234567", "-3"], ones)
    ('+15551234567', None)
    """
    if not any(cell.startswith("+") for cell in cells):
        return None
    is_phone = np.array([PHONE.fullmatch(cell) is not None for cell in cells])
    if not is_phone.any() or any(cell[0] in "-−(" and is_number(cell) for cell in cells):
        return None
    long = all(len(re.sub(r"\D", "", cell)) >= 7 and not re.search(r"[.,%eE]", cell) for cell in cells)
    return cells[int(is_phone.argmax())] if long or times[is_phone].sum() >= 0.9 * times.sum() else None


def precision_loss(cell: str, value: float) -> Literal["", "flat", "infinite", "rounded"]:
    """What became of a cell's number that is read as 0 or as 2**53 and more.

    >>> cells = (("1e-400", 0.0), ("1e400", np.inf), ("9007199254740993", 2.0**53), ("0.00", 0.0))
    >>> tuple(precision_loss(cell, value) for cell, value in cells)
    ('flat', 'infinite', 'rounded', '')
    """
    mantissa, *power = re.split("[eE]", _uniform(cell), maxsplit=1)
    digits = re.sub(r"\D", "", mantissa).strip("0")
    if not digits:
        return ""
    if not value:
        return "flat"
    if np.isinf(value):
        return "infinite"
    return "rounded" if not power and digits != str(abs(int(value))).strip("0") else ""
