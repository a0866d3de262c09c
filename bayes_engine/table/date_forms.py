"""How dates are written: numbers, signs and the months of fifteen languages, by rules that do not depend on the
machine's locale; and a date that is so written as ISO 8601 has it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

MONTHS = tuple(months.split() for months in (
    "january february march april may june july august september october november december",
    "januar februar marz april mai juni juli august september oktober november dezember",
    "janner feber maerz april mai juni juli august september oktober november dezember",
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "januar februar marts april maj juni juli august september oktober november december",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "ledna unora brezna dubna kvetna cervna cervence srpna zari rijna listopadu prosince",
    "januar februar marcius aprilis majus junius julius augusztus szeptember oktober november december",
    "ocak subat mart nisan mayıs haziran temmuz agustos eylul ekim kasım aralık",
    "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "январь февраль март апрель маи июнь июль август сентябрь октябрь ноябрь декабрь",
))  # fmt: skip
"""The months, without accents, of each way to name them; a name may be cut to three letters and more."""
_LETTERS = r"[A-Za-zÀ-žА-я\u0300-\u0308]{3,12}"
_TIME = (
    r"(?:(?:[T ] ?|:(?=\d\d:)|-(?=\d\d\.\d\d\.))(?P<noon>[上下]午)?(?P<hour>\d{1,2})[:.](?P<minute>\d{2})"
    r"(?:[:.](?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"(?: ?(?P<zone>Z|[+-]\d{2}(?::?\d{2})?|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?))?)?"
)
_DAY_OF_WEEK = (
    r"(?:(?i:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim|mié|jue|vie|sáb|dom|gio|"
    r"ma|wo|vr|za|zo|seg|ter|qua|qui|sex)[A-Za-zÀ-ÿ]{0,9}\.?,? )?"
)
YEAR_FIRST = re.compile(
    _DAY_OF_WEEK + r"(?P<y>\d{4})(?P<mark>[-/年]|\. ?)(?P<m>\d{1,2})(?:[-/月]|\. ?)(?P<d>\d{1,2})(?:日|\.)?" + _TIME
)
YEAR_LAST = re.compile(
    _DAY_OF_WEEK + r"(?P<a>\d{1,2})(?P<mark>[-/]|\. ?)(?P<b>\d{1,2})(?P=mark)"
    r"(?P<y>\d{4}|(?:(?<=/)|(?<=\d\d[-.]\d\d[-.]))\d{2})\.?" + _TIME
)
NAMED = re.compile(
    _DAY_OF_WEEK + rf"(?:(?P<d>\d{{1,2}})(?:[- .]{{1,2}}|(?:st|nd|rd|th|er|º|°)? (?:de )?)(?P<name>{_LETTERS})"
    rf"(?:[- .,]{{1,2}}| de )(?P<y>\d{{4}}|\d{{2}})"
    rf"|(?P<name2>{_LETTERS})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y2>\d{{4}})"
    r"|(?P<d3>\d{1,2})(?P<name3>[A-Za-z]{3})(?P<y3>\d{4}|\d{2})(?=:|$)"
    rf"|(?P<y4>\d{{4}})(?:\. ?|[- ])(?P<name4>{_LETTERS})(?:\. ?|[- ])(?P<d4>\d{{1,2}})\.?)" + _TIME
)
_BASIC = re.compile(
    r"(?P<y>(?:19|20)\d{2})(?P<m>\d{2})(?P<d>\d{2})T(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?"
    r"(?P<zone>Z|[+-]\d{2}:?\d{2})?"
)
CTIME = re.compile(
    r"(?:[A-Z][a-z]{2} )?(?P<name>[A-Z][a-z]{2}) {1,2}(?P<d>\d{1,2}) (?P<time>\d{2}:\d{2}:\d{2}(?: (?:UTC|GMT))?)"
    r" (?P<y>\d{4})"
)
"""A time as C and Unix write it, the year last: Fri Mar  1 10:20:30 2024."""
FORMS = (YEAR_FIRST, YEAR_LAST, NAMED, _BASIC)
ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "民國": 1911, "民国": 1911, "中華民國": 1911}
"""The year before the first of each era in which Japan and Taiwan count."""
ERA = re.compile(rf"({'|'.join(ERAS)})(元|\d{{1,3}})(?=年\d{{1,2}}月\d{{1,2}}日)")
DATE = re.compile("|".join((
    *(re.sub(r"\?P<\w+>", "?:", form.pattern).replace("(?P=mark)", r"(?:[-/]|\. ?)") for form in (*FORMS, CTIME)),
    rf"(?:{'|'.join(ERAS)})(?:元|\d{{1,3}})年\d{{1,2}}月\d{{1,2}}日",
)))  # fmt: skip
"""What looks like a date."""
COMPACT = re.compile(r"(?P<y>(?:19|20)\d{2})(?P<m>\d{2})(?P<d>\d{2})" + _TIME)
"""A date only where a person says so: 20240105 may be a number."""
MONTH = re.compile(
    r"(?P<y>(?:19|20)\d{2})(?:[-/]|年)(?P<m>0?[1-9]|1[0-2])月?|(?P<m2>0?[1-9]|1[0-2])[-/.](?P<y2>(?:19|20)\d{2})"
    rf"|(?P<name>{_LETTERS})\.?[- ,]{{1,2}}(?P<y3>(?:19|20)?\d{{2}})"
)
"""What looks like a month of a year: a date only where a person says so, the first of the month."""
_DAY_OF_YEAR = re.compile(
    rf"(?:0?[1-9]|[12]\d|3[01])(?:-|\. ?)(?P<name>{_LETTERS})|(?P<name2>{_LETTERS})-(?:0?[1-9]|[12]\d|3[01])"
)
COUNTED = re.compile(r"\d{5,13}(?:\.\d{1,12})?")
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-]?)(\d{1,2})?:?(\d{2})?")
"""A time zone by its distance from UTC."""
_NO_DAY = re.compile(r"0{1,4}([-/.])0{1,2}\1 ?0{1,4}\.?(?:[T ]00:00(?::00(?:\.0{1,9})?)?)?")
ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?")

ELSEWHERE = re.compile(r"(?::\d\d|T\d{4,6}|[T ]\d{1,2}\.\d\d).*[+-](?!0{1,2}(?::?00)?$)\d{1,2}(?::?\d\d)?$")
"""A time of a zone other than UTC."""
FINER = re.compile(r"[.,]\d{6}\d*[1-9]")
"""A time below the microsecond, which is cut off."""


BUDDHIST = re.compile(r"(?<![0-9])2(?:4[5-9]|5[0-9]|6[0-2])[0-9](?![0-9])")
"""A year of 1907 to 2086 in the Buddhist era, as Thailand counts, 543 years ahead."""


def full_year(year: str) -> str:
    """A year of four digits; as POSIX and Excel have it, 69 to 99 are of the last century."""
    return year if len(year) > 2 else f"{'19' if year >= '69' else '20'}{year}"


_DAYS = r"date|datum|dato|data|fecha|datetime|tag|jour|tarih|dátum|päivä|päivämäärä|дата|ημερομηνία|تاريخ"
DAY_NAME = re.compile(rf"(?<![^\W_])(?:{_DAYS})(?![^\W_])|日期|日付|年月日|날짜", re.IGNORECASE)
MOMENT_NAME = re.compile(
    rf"(?<![^\W_])(?:{_DAYS}|timestamp|time|ts|created|updated)(?![^\W_])|日期|时间|時間", re.IGNORECASE
)
"""What a column of days, or one of points in time, is called, among other words."""


def is_month_name(word: str) -> bool:
    """Whether a word is the name of a month, whole or cut to three letters and more, in one of fifteen languages.

    >>> is_month_name("May"), is_month_name("févr"), is_month_name("rooms")
    (True, True, False)
    """
    return any(month_number(word, False, months) for months in MONTHS) if len(word) > 2 else False


def is_day_of_year(cell: str) -> bool:
    """Whether a cell looks like a day of a month without its year: 1-Mar, Sep-02, 3. Mai.

    >>> [is_day_of_year(cell) for cell in ("1-Mar", "Sep-02", "3. Mai", "MARCH1", "12-Nov-2024", "3-Oslo")]
    [True, True, True, False, False, False]
    """
    match = _DAY_OF_YEAR.fullmatch(cell)
    name = match and (match["name"] or match["name2"])
    return bool(name) and any(month_number(str(name), False, months) for months in MONTHS)


def no_day(cell: str) -> bool:
    """Whether a cell has zeros for year, month and day, as programs write it for no date.

    >>> no_day("00.00.0000"), no_day("0000-00-00 00:00:00"), no_day("2000-00-00")
    (True, True, False)
    """
    return cell[:1] == "0" and _NO_DAY.fullmatch(cell) is not None


def month_name(match: re.Match[str]) -> tuple[str, bool]:
    """The name of the month, and whether it stands first."""
    return match["name"] or match["name2"] or match["name3"] or match["name4"], match["name2"] is not None


def is_time(text: str) -> bool:
    """Whether a text of ISO 8601 is a time of the calendar."""
    try:
        np.datetime64(text, "us")
    except ValueError:
        return False
    return True


def month_number(name: str, first: bool, months: Sequence[str]) -> int:
    """The number of the month so named, 0 where it is none of these; only in English it may stand `first`."""
    if first and months is not MONTHS[0]:
        return 0
    plain = "".join(c for c in unicodedata.normalize("NFKD", name.lower()) if not unicodedata.combining(c))
    plain = {"mrz": "marz", "maerz": "marz", "mrt": "maart"}.get(plain, plain)
    matching = [k for k, full in enumerate(months, 1) if full.startswith(plain)]
    return matching[0] if len(matching) == 1 else 0


def iso_of(match: re.Match[str], month_first: bool, months: Sequence[str] = ()) -> str:
    """A date as ISO 8601 has it, without a time zone (one that is told is counted back to UTC)."""
    part = match.groupdict()
    if "a" in part:
        month, day = (part["a"], part["b"]) if month_first else (part["b"], part["a"])
    elif "m" in part:
        month, day = part["m"], part["d"]
    else:
        month = str(month_number(*month_name(match), months))
        day = part["d"] or part["d2"] or part["d3"] or part["d4"]
    year = full_year(next(filter(None, (part.get(y) for y in ("y", "y2", "y3", "y4"))), ""))
    text = f"{year}-{int(month):02}-{int(day):02}"
    if part["hour"] is None:
        return text
    hour = int(part["hour"])
    if half := part.get("noon") or part.get("half"):
        hour = hour % 12 + 12 * (half in ("P", "p", "下午")) if 1 <= hour <= 12 else 99
    text += f"T{hour:02}:{part['minute']}:{part['second'] or '00'}.{(part.get('part') or '0')[:6]:<06}"
    ahead = minutes_ahead(part["zone"] or "")
    return str(np.datetime64(text, "us") - np.timedelta64(ahead, "m")) if ahead and is_time(text) else text


def minutes_ahead(zone: str) -> int:
    """By how many minutes a time zone is ahead of UTC."""
    offset = _OFFSET.fullmatch(zone)
    sign, hours, digits = offset.groups("") if offset else ("", "", "")
    minutes = int(hours or 0) * 60 + int(digits or 0)
    return -minutes if sign == "-" else minutes
