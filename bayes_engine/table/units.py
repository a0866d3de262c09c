"""Units of measurement and multipliers behind numbers: 5 kg, 3 rooms, 1,2 Mio. €. What is known to be a unit is left
out; a number is multiplied by what people write behind it for that."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite

from bayes_engine.table.date_forms import is_month_name
from bayes_engine.table.numbers import (
    MONEY,
    Mark,
    ParsedNumbers,
    dressed_numbers,
    identifier_among,
    is_number,
    plain_numbers,
)

_TAIL = re.compile(r"[^\W\d_]{1,8}\.?\Z")
_SUFFIXES = {
    **dict.fromkeys(("k", "K", "Tsd", "tsd", "тыс", "千", "thousand"), 1e3), **dict.fromkeys(("万", "萬"), 1e4),
    **dict.fromkeys(("M", "mn", "mln", "Mio", "mio", "млн", "million"), 1e6), **dict.fromkeys(("亿", "億"), 1e8),
    **dict.fromkeys(("B", "bn", "Mrd", "mrd", "млрд", "billion"), 1e9), "lakh": 1e5, "crore": 1e7,
}  # fmt: skip
"""What people write behind a number that it is to be multiplied by."""
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
_WITH_UNIT = re.compile(r"[+-]?\d[\d.,]*+[ \u00a0]?([^\W\d_][^\d,;:]{0,9}|[°‰][^\d,;:]{0,9})")


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


def scaled(cell: str) -> tuple[str, float]:
    """A number without the suffix that multiplies it (and a currency behind that), and by what, or without what says
    that it is not exact; any other cell as it is. A letter behind a blank is a unit: 300 K.

    >>> scaled("5k"), scaled("1,2 Mio. €"), scaled("300 K"), scaled("thousand")
    (('5', 1000.0), ('1,2', 1000000.0), ('300 K', 1.0), ('thousand', 1.0))
    >>> scaled("~5"), scaled("3.2 ± 0.1"), scaled("± 0.5")
    (('5', 1.0), ('3.2', 1.0), ('0.5', 1.0))
    """
    if inexact := _INEXACT.fullmatch(cell):
        bare = (inexact[1] or inexact[2]).strip()
        return (bare, 1.0) if is_number(bare) else (cell, 1.0)
    money = _MONEY_BEHIND.search(cell[-6:])
    cut = cell if money is None else cell[: -len(money[0])]
    tail = _TAIL.search(cut[-9:])
    by = _SUFFIXES.get(tail[0].rstrip("."), 1.0) if tail else 1.0
    if tail is None or by == 1.0:
        return cell, 1.0
    bare = cut[: -len(tail[0])]
    apart = tail[0].isascii() and len(tail[0]) == 1 and bare[-1:].isspace()
    return (cell, 1.0) if apart or not is_number(bare) else (bare.strip(), by)


_MONEY_BEHIND = re.compile(rf"[ \u00a0]?+(?:元|{MONEY})\Z")


def multiplied(value: float, by: float) -> float:
    """A number times the power of ten of its suffix, as it would be read if it were written out.

    >>> 1.001 * 1e3, multiplied(1.001, 1e3)
    (1000.9999999999999, 1001.0)
    """
    return value if by == 1.0 or not isfinite(value) else float(Decimal(repr(float(value))) * Decimal(by))
