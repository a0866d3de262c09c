"""What a number is: cells as programs and people write them → float64, and what only looks like a number. pandas reads
one decimal mark that it is told; it guesses none and says nothing of lost digits.

Decimal marks, thousands separators, signs, per cent and currencies are read by rules that do not depend on the
machine's locale. Where a cell may be read in two ways (1,234) the other cells of its column decide; what nothing
decides, what looks like an identifier and what a float64 loses is found out here, and said by others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.table.dates import is_month_name
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

PLAIN_CHARACTERS = frozenset("0123456789+-.eE")
"""All that a program needs to write a number."""
LONGEST = 1_200
"""Characters of the longest cell that is a number: the least float64, written out, has 1,077."""
_PLAIN = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_PLAIN_LINES = re.compile(rf"{_PLAIN.pattern}(?:\n{_PLAIN.pattern})*+")
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
_MONEY = (
    r"(?:R|US|A|C|HK|NT|S)?\$|[€£¥￥₹₽₩₺₫฿₴₪₦₱₲₡₸₾]|USD|EUR|GBP|CHF|CNY|RMB|JPY|NOK|SEK|DKK|INR|BRL|CAD|AUD|PLN|CZK|"
    r"TRY|KRW|HKD|TWD|SGD|NZD|MXN|ZAR|RUB|HUF|RON|BGN|RSD|UAH|ILS|AED|SAR|EGP|THB|IDR|MYR|PHP|VND|COP|CLP|ARS|"
    r"[kK]r\.?|zł|Kč|Ft|lei|S?Fr\.|R[sp]\.?|руб\.?|грн|лв\.?|円|원"
)
_DRESSED = re.compile(
    rf"(?P<open>\()?\s*+(?P<sign>[+-])?\s*+(?P<before>{_MONEY})?\s*+(?P<sign2>[+-])?\s*+(?P<open2>\()?\s*+"
    rf"(?P<body>[\d.,]++(?:[eE+'’ \u00a0\u202f\u2009-]++[\d.,]++)*+)\s*+(?P<sign3>-)?\s*+"
    rf"(?P<after>[%％元]|{_MONEY})?\s*+(?P<close>\))?"
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
_TAIL = re.compile(r"[^\W\d_]{1,8}\.?\Z")
_SUFFIXES = {
    **dict.fromkeys(("k", "K", "Tsd", "tsd", "тыс", "千", "thousand"), 1e3), **dict.fromkeys(("万", "萬"), 1e4),
    **dict.fromkeys(("M", "mn", "mln", "Mio", "mio", "млн", "million"), 1e6), **dict.fromkeys(("亿", "億"), 1e8),
    **dict.fromkeys(("B", "bn", "Mrd", "mrd", "млрд", "billion"), 1e9), "lakh": 1e5, "crore": 1e7,
}  # fmt: skip
"""What people write behind a number that it is to be multiplied by."""
_LIMITS = frozenset("<>≤≥＜＞")
_INEXACT = re.compile(r"(?:[~≈∼±]|\+/-|ca\.?|approx\.?|about) ?([^±~]++)|([^±+]++)(?:±|\+/-)[^±]++", re.IGNORECASE)
"""A number that is about so much, or that an error follows; or the error alone."""
UNITS = frozenset((
    "nm", "µm", "μm", "um", "mm", "cm", "dm", "km", "in", "ft", "yd", "mi", "mm²", "cm²", "m²", "km²", "mm2", "cm2",
    "m2", "km2", "㎡", "ha", "sqm", "sqft", "ft²", "ft2", "mm³", "cm³", "dm³", "m³", "mm3", "cm3", "dm3", "m3", "cc",
    "µl", "μl", "µL", "μL", "ml", "mL", "cl", "cL", "dl", "dL", "hl", "gal", "ng", "µg", "μg", "ug", "mg", "kg", "lb",
    "lbs", "oz", "ns", "µs", "μs", "ms", "sec", "min", "hr", "hrs", "°", "°C", "°F", "℃", "℉", "º", "ºC", "km/h",
    "kmh", "kph", "mph", "m/s", "kn", "kt", "kN", "Nm", "Pa", "hPa", "kPa", "MPa", "bar", "mbar", "psi", "mmHg", "kJ",
    "MJ", "kcal", "cal", "Wh", "kWh", "MWh", "GWh", "mW", "kW", "MW", "GW", "hp", "PS", "mV", "kV", "mA", "mAh", "Ah",
    "Ω", "kΩ", "MΩ", "Hz", "kHz", "MHz", "GHz", "rpm", "bpm", "dB", "dBA", "dBm", "lx", "lux", "lm", "cd", "kB", "KB",
    "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "Mbps", "Gbps", "Mbit/s", "Gbit/s", "dpi", "px", "g/l", "g/L",
    "g/dl", "g/dL", "mg/l", "mg/L", "mg/dl", "mg/dL", "µg/l", "µg/L", "μg/l", "μg/L", "ug/L", "ng/ml", "ng/mL",
    "pg/ml", "pg/mL", "mg/kg", "µg/kg", "mol", "mmol", "mol/l", "mol/L", "mmol/l", "mmol/L", "µmol/l", "µmol/L",
    "μmol/L", "mEq/L", "U/l", "U/L", "IU/l", "IU/L", "mIU/L", "ppm", "ppb", "‰", "µg/m³", "μg/m³", "µg/m3", "ug/m3",
    "mg/m³", "mg/m3", "kg/m²", "kg/m2", "kg/m³", "kg/m3", "g/cm³", "g/cm3", "g/km", "kWh/m²", "mpg", "l/100km",
    "L/100km", "公斤", "千克", "克", "斤", "吨", "毫米", "厘米", "米", "公里", "千米", "平方米", "平米", "毫升", "升",
    "岁", "分钟", "小时", "摄氏度",
))  # fmt: skip
"""The units that are known, as they are written behind a number."""
_APART = frozenset(["m", "g", "t", "l", "L", "s", "h", "d", "V", "J"])
"""Units that are known behind a blank alone: 12m, 5s and 320d may be names."""
_FLAG = re.compile(
    r"[ \u00a0]?+(?:[*†‡§¶#^]{1,3}|\((?:[A-Za-z]{1,3}|[0-9]{1,2}|\*)\)|\[(?:[A-Za-z]{1,3}|[0-9]{1,2})\]"
    r"|[¹²³⁴⁵⁶⁷⁸⁹]{1,2})\Z|(?:[ \u00a0]|(?<=[.,][0-9])|(?<=[.,][0-9]{2}))[A-Za-z]{1,2}\Z"
)
"""A mark behind a number: of a footnote, or a letter that flags it (7.7 L, 12.1 p)."""
_WITH_UNIT = re.compile(r"[+-]?\d[\d.,]*+[ \u00a0]?([^\W\d_][^\d,;:]{0,9}|[°‰][^\d,;:]{0,9})")


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


def are_plain(cells: Sequence[str]) -> bool:
    """Whether all are numbers as a program writes them, and there are any: of many at once, in a small part of the time
    that `is_number` takes of each.

    >>> are_plain(["5", "-0.25", "1e5"]), are_plain(["5", " 6"]), are_plain([])
    (True, False, False)
    """
    text = "\n".join(cells)
    return (
        len(text) <= LONGEST * len(cells)
        and _PLAIN_LINES.fullmatch(text) is not None
        and text.count("\n") == len(cells) - 1
        and max(map(len, cells)) <= LONGEST
    )


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


def known_unit(cell: str) -> str:
    """The known unit behind the last digit of a cell; "" where there is none.

    >>> [known_unit(cell) for cell in ("1,5 kg", "163cm", "5 m", "12m", "12A", "kg", "3 m²", "17 m2", "5 km/h")]
    ['kg', 'cm', 'm', '', '', '', 'm²', 'm2', 'km/h']
    """
    tail = _BEHIND.search(cell[-16:])
    if tail is None:
        return ""
    unit = tail[2]
    return unit if unit in UNITS or (unit in _APART and tail[1]) else ""


def word_behind(cell: str) -> str:
    """The word that stands apart behind a number, as one that counts or a unit does; "" where there is none, or one
    that multiplies it, or names a month or half a day.

    >>> [word_behind(cell) for cell in ("3 rooms", "31,9 psu", "5 Mio.", "3 May", "9 am", "3rd", "12 B", "of 3 rooms")]
    ['rooms', 'psu', '', '', '', '', '', '']
    """
    tail = _WORD_BEHIND.search(cell[-24:])
    if tail is None or is_number(cell) or scaled(cell)[1] != 1.0 or is_month_name(tail[1].rstrip(".")):
        return ""
    bare = cell[: -len(tail[0])]
    return tail[1] if is_number(bare) and not tail[1].casefold().startswith(("am", "pm")) else ""


_WORD_BEHIND = re.compile(r"(?<=[0-9.,])[ \u00a0\u2009\u202f]([^\W\d_]{2,14}\.?(?:/[^\W\d_]{1,8})?)\Z")
_BEHIND = re.compile(r"(?<=[0-9])[.,]?+([ \u00a0\u2009\u202f]?+)([^\s0-9.,][^\s0-9]{0,7}(?:[23]|(?:/(?:100)?km))?)\Z")


def numbers_with_unit(
    cells: list[str], decimal: Mark | None, *, both: bool = False, alone: bool = False
) -> ParsedNumbers | None:
    """Numbers that all have the same known unit behind them, or the same word apart. None where not every cell is one.
    One number throughout with a word behind it is a level, but where the column is known to hold numbers (`alone`).

    >>> read = numbers_with_unit(["1,5 kg", "12 kg"], None)
    >>> read.values.tolist(), read.mark, read.unit, numbers_with_unit(["5 kg", "3 lb"], None)
    ([1.5, 12.0], ',', 'kg', None)
    >>> numbers_with_unit(["3 rooms", "12 rooms"], None).values.tolist(), numbers_with_unit(["3 May", "12 May"], None)
    ([3.0, 12.0], None)
    """
    unit = known_unit(cells[0])
    if not unit or not all(known_unit(cell) == unit for cell in cells):
        unit = word_behind(cells[0]) if alone or len(cells) > 1 else ""
        if not unit or not all(word_behind(cell) == unit for cell in cells):
            return None
    bare = [cell.removesuffix(unit).rstrip() for cell in cells]
    if identifier_among(bare) is not None:
        return None
    read = plain_numbers(bare) if decimal != "," else None
    read = read or dressed_numbers(bare, decimal, both=both)
    return None if read is None or read.unit else read._replace(unit=unit, example=cells[bare.index(read.example)])


def unflagged(cell: str) -> tuple[str, str]:
    """A cell without the mark of a footnote or the flag behind it, and that; nothing where it is no such mark.

    >>> [unflagged(cell) for cell in ("27.9*", "47.5 (a)", "12.1 p", ": c", "12A", "5 kg")]
    [('27.9', '*'), ('47.5', '(a)'), ('12.1', 'p'), (':', 'c'), ('12A', ''), ('5 kg', '')]
    """
    mark = _FLAG.search(cell[-9:])
    if mark is None or mark[0].strip() in UNITS:
        return cell, ""
    return cell[: -len(mark[0])].strip(), mark[0].strip()


def _mark_of(match: re.Match[str] | None) -> Mark | None:
    """The decimal mark that a number shows by itself, or a point where it has none; None where it may be either."""
    fitting: list[Mark] = [s for s in (".", ",") if match is None or _STYLE[s].fullmatch(match["body"])]
    if len(fitting) == 2 and match is not None and _value(match, ".") != _value(match, ","):
        return None
    return fitting[0] if fitting else None


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
    matches = [_undressed(bare.removesuffix(unit).strip()) for bare, _ in parts]
    flags = [("", "") if match else unflagged(bare) for match, (bare, _) in zip(matches, parts, strict=True)]
    matches = [match or _undressed(bare) for match, (bare, _) in zip(matches, flags, strict=True)]
    styles: tuple[Mark, ...] = (".", ",") if decimal is None else (decimal,)
    mark = max(styles, key=lambda s: sum(m is not None and _STYLE[s].fullmatch(m["body"]) is not None for m in matches))
    values = np.array([_value(m, mark) * by if m and _STYLE[mark].fullmatch(m["body"]) else np.nan
                       for m, (_, by) in zip(matches, parts, strict=True)])  # fmt: skip
    flagged = {flag for (_, flag), x in zip(flags, values.tolist(), strict=True) if x == x}
    left = sorted({unit, *flagged, *(m[side] or "" for m in matches if m for side in ("before", "after"))} - {""})
    return values, mark, left


def scaled(cell: str) -> tuple[str, float]:
    """A number without the suffix that multiplies it, and by what, or without what says that it is not exact; any other
    cell as it is. A letter behind a blank is a unit: 300 K.

    >>> scaled("5k"), scaled("1,2 Mio."), scaled("300 K"), scaled("thousand")
    (('5', 1000.0), ('1,2', 1000000.0), ('300 K', 1.0), ('thousand', 1.0))
    >>> scaled("~5"), scaled("3.2 ± 0.1"), scaled("± 0.5")
    (('5', 1.0), ('3.2', 1.0), ('0.5', 1.0))
    """
    if inexact := _INEXACT.fullmatch(cell):
        bare = (inexact[1] or inexact[2]).strip()
        return (bare, 1.0) if is_number(bare) else (cell, 1.0)
    tail = _TAIL.search(cell[-9:])
    by = _SUFFIXES.get(tail[0].rstrip("."), 1.0) if tail else 1.0
    if tail is None or by == 1.0:
        return cell, 1.0
    bare = cell[: -len(tail[0])]
    apart = tail[0].isascii() and len(tail[0]) == 1 and bare[-1:].isspace()
    return (cell, 1.0) if apart or not is_number(bare) else (bare.strip(), by)


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


def version_among(cells: Sequence[str]) -> str | None:
    """The first of few distinct cells that ends in a 0 as no program writes a number, beside others with fewer
    decimals: 1.10 after 1.9 may be the tenth of something.

    >>> version_among(["1.9", "1.10"]), version_among(["1.90", "1.10"]), version_among(["1.9", "1.1"])
    ('1.10', None, None)
    """
    if len(cells) > FEW_VERSIONS or not all(map(_VERSION.fullmatch, cells)):
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


def units_of(cells: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The cells that are a number with something behind it, taken apart.

    >>> units_of(["12 cm", "13", "1.2 kg", "of 5 kg"])
    {'12 cm': ('12', 'cm'), '1.2 kg': ('1.2', 'kg')}
    """
    apart = {cell: match[1] for cell in cells if (match := _WITH_UNIT.fullmatch(cell)) and not is_number(cell)}
    bare = {cell: cell.removesuffix(unit).strip() for cell, unit in apart.items()}
    return {cell: (bare[cell], unit) for cell, unit in apart.items() if is_number(bare[cell])}


def usual_unit(cells: Sequence[str]) -> str:
    """What stands behind most of the numbers that have something behind them.

    >>> usual_unit(["12 cm", "13", "unknown", "5 cm", "5 kg"])
    'cm'
    """
    units = Counter(match[1] for cell in cells if (match := _WITH_UNIT.fullmatch(cell)))
    return units.most_common(1)[0][0] if units else ""


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
