"""Rows that are none of a table's own, because they sum up others: totals and means, above or below the rows, and
subtotals between them. A word tells them, in the languages of `WORDS`, and the arithmetic: a row is left out where
what it holds is the sum, the mean or another statistic of the rows, or where it leaves cells empty that they fill.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.table.annotations import numbers_among
from bayes_engine.table.grid import Records, row_at
from bayes_engine.table.notes import KEEP, Note, lines_of, note
from bayes_engine.table.numbers import MISSING_AMONG_NUMBERS, Mark, is_number

Meaning = Literal["sum", "part", "mean", "median", "spread", "least", "most"]

WORDS: dict[str, dict[Meaning, tuple[str, ...]]] = {
    "en": {
        "sum": ("total", "totals", "grand total", "sum", "overall", "overall total", "all"),
        "part": ("subtotal", "sub-total", "sub total", "subtotals"),
        "mean": ("average", "avg", "mean"), "median": ("median",),
        "spread": ("sd", "s.d", "std", "std dev", "std. dev", "stddev", "standard deviation"),
        "least": ("minimum", "min"), "most": ("maximum", "max"),
    },
    "de": {
        "sum": ("summe", "gesamt", "gesamtsumme", "insgesamt", "gesamtergebnis", "endsumme", "total"),
        "part": ("zwischensumme", "teilsumme", "teilergebnis", "zwischenergebnis", "ergebnis"),
        "mean": ("mittelwert", "durchschnitt", "mittel"), "spread": ("standardabweichung",),
    },
    "fr": {
        "sum": ("total général", "ensemble", "somme", "totaux"), "part": ("sous-total", "sous total"),
        "mean": ("moyenne",), "median": ("médiane",), "spread": ("écart-type",),
    },
    "es, pt, ca": {
        "sum": ("suma", "suma total", "total general", "totales", "soma", "total geral"),
        "part": ("subtotales", "subtotais"), "mean": ("media", "promedio", "média", "mitjana"),
        "median": ("mediana",), "spread": ("desviación estándar", "desvio padrão"),
    },
    "it, ro": {
        "sum": ("totale", "totale generale", "totale complessivo", "somma", "totali"),
        "part": ("subtotale", "totale parziale"), "mean": ("medie",), "spread": ("deviazione standard",),
    },
    "nl": {"sum": ("totaal", "eindtotaal", "som"), "part": ("subtotaal",), "mean": ("gemiddelde", "gemiddeld")},
    "da, no, sv": {
        "sum": ("i alt", "totalt", "ialt", "summa", "sum i alt", "totalsum"), "part": ("delsum", "delsumma"),
        "mean": ("gennemsnit", "gjennomsnitt", "medelvärde", "genomsnitt"),
    },
    "fi, et": {"sum": ("yhteensä", "kaikki yhteensä", "kokku"), "part": ("välisumma", "vahesumma"),
               "mean": ("keskiarvo", "keskmine")},
    "pl, cs, sk": {
        "sum": ("razem", "ogółem", "łącznie", "celkem", "celkový součet", "součet", "spolu", "úhrnem", "suma końcowa"),
        "part": ("suma częściowa", "mezisoučet", "medzisúčet"), "mean": ("średnia", "průměr", "priemer"),
    },
    "hu": {"sum": ("összesen", "mindösszesen", "végösszeg"), "part": ("részösszeg",), "mean": ("átlag",)},
    "hr, sl, sr": {"sum": ("ukupno", "sveukupno", "skupaj", "укупно"), "mean": ("prosjek", "povprečje", "просек")},
    "ru, uk, bg": {
        "sum": ("итого", "всего", "общий итог", "итог", "разом", "усього", "всього", "общо", "сума", "сумма"),
        "part": ("промежуточный итог", "подытог", "підсумок"), "mean": ("среднее", "в среднем", "средно", "середнє"),
    },
    "el": {"sum": ("σύνολο", "γενικό σύνολο", "άθροισμα"), "part": ("μερικό σύνολο", "υποσύνολο"),
           "mean": ("μέσος όρος",)},
    "tr": {"sum": ("toplam", "genel toplam"), "part": ("ara toplam",), "mean": ("ortalama",)},
    "ar, fa, he": {
        "sum": ("المجموع", "الإجمالي", "اجمالي", "مجموع", "جمع", "جمع کل", 'סה"כ', "סה״כ", "סך הכל", "סהכ"),
        "part": ("المجموع الفرعي", "סכום ביניים"), "mean": ("المتوسط", "میانگین", "ממוצע"),
    },
    "hi": {"sum": ("कुल", "योग", "कुल योग")},
    "id, vi, th": {"sum": ("jumlah", "tổng cộng", "tổng", "รวม", "รวมทั้งหมด"), "mean": ("rata-rata", "trung bình")},
    "zh": {
        "sum": ("合计", "总计", "共计", "总和", "總計", "合計", "總和"), "part": ("小计", "小計"),
        "mean": ("平均值", "平均", "均值", "平均数"), "spread": ("标准差",), "least": ("最小值",), "most": ("最大值",),
    },
    "ja": {"sum": ("総計", "計", "総数"), "spread": ("標準偏差",)},
    "ko": {"sum": ("합계", "총계", "계", "총합계"), "part": ("소계",), "mean": ("평균",)},
}  # fmt: skip
"""What a row calls itself that sums up others, by language, and what it then holds of them."""

ADDED_UP = 20_000
"""Among so many rows subtotals are looked for, and so many are added up to see whether one is their sum."""
_BESIDE = 60
"""Characters of the longest cell that is looked at for such a word with another beside it: Total Europe."""


def _plain(text: str) -> str:
    """A text without case, accents, and the marks around it."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(c for c in letters if not unicodedata.combining(c)).strip(" \t\u00a0:.*=#-–—∑Σ")
    return re.sub(r"[ _\u00a0]++", " ", bare)


_MEANINGS = {_plain(word): meaning for words in WORDS.values() for meaning, some in words.items() for word in some}
_LETTER = re.compile("[A-Za-z]")
_OTHER_SENSES = frozenset(
    ("all", "ensemble", "media", "计", "計", "계", "som", "mittel", "ergebnis", "max", "min", "spolu")
)
"""Words that may as well be a name or a level: such a row sums up others only where the numbers say so."""
_BEGIN_OR_END = frozenset(
    word
    for word, meaning in _MEANINGS.items()
    if meaning in ("sum", "part", "mean") and word not in _OTHER_SENSES - {"ergebnis"}
)


class Label(NamedTuple):
    """What a cell calls its row: the `meaning` of its word, whether the word stands alone, and whether it means
    nothing else."""

    meaning: Meaning
    alone: bool
    sure: bool = True


def label_of(cell: str) -> Label | None:
    """What a row is called that sums up others; None for any other cell.

    >>> label_of("Insgesamt:"), label_of("Sous-total Bretagne"), label_of("Totalgaz")
    (Label(meaning='sum', alone=True, sure=True), Label(meaning='part', alone=False, sure=True), None)
    """
    if len(cell) > _BESIDE or (cell.isascii() and not _LETTER.search(cell)) or not (plain := _plain(cell)):
        return None
    plain = re.sub(r" ?\([^()]*\)\Z", "", plain)
    if plain in _MEANINGS:
        return Label(_MEANINGS[plain], True, plain not in _OTHER_SENSES)
    words = plain.split(" ")
    ends = (some for n in (1, 2) if len(words) > n for some in (words[:n], words[-n:]))
    beside = next((word for some in ends if (word := " ".join(some)) in _BEGIN_OR_END), None)
    return None if beside is None else Label(_MEANINGS[beside], False)


def labelled(first: pd.Series) -> NDArray[np.bool_]:
    """Which cells of a column call their rows so."""
    codes, cells = pd.factorize(first)
    return np.array([label_of(str(cell)) is not None for cell in cells], dtype=bool)[codes]


def without_totals(
    grid: Records, first: int, last: int, usual: int, notes: list[Note]
) -> tuple[int, int, NDArray[np.intp]]:
    """From where to where the rows go without those that sum them up, above and below, and which of them are subtotals
    between the rows. Left out is a row that calls itself so and leaves a cell empty or agrees with the rows, or one
    without a name that holds nothing but their sums. A full row of other numbers stays one, and is told; so are
    subtotals whose numbers are not the sums."""
    if usual < 2 or last - first < 3:
        return first, last, np.zeros(0, dtype=np.intp)
    short = last - first <= ADDED_UP
    own = labelled(grid.first.iloc[first:last]) if short else np.zeros(last - first, dtype=bool)
    begin, end = _below(grid, first, last, usual, own, notes)
    if short and end - first >= 3 and (above := _label(row_at(grid, first))) and above.meaning == "sum" and above.alone:
        begin = first + 1
        kept = np.flatnonzero(~own[begin - first : end - first]) + begin
        if _agrees(row_at(grid, first), grid, kept, above):
            line = int(grid.lines[first])
            notes.append(note("line {line} ('{text}') sums up the rows below it: it is left out", "warning", line,
                              line=line, text=shown(grid, first)).offering(KEEP))  # fmt: skip
        else:
            begin = first
    else:
        begin = first
    among = np.flatnonzero(own[begin - first : end - first]) + begin if short else np.zeros(0, dtype=np.intp)
    return begin, end, _subtotals(grid, begin, end, among, notes)


def _label(row: Sequence[str]) -> Label | None:
    """What a row calls itself in its first cell that is filled."""
    return label_of(next((cell for cell in row if cell.strip()), ""))


def _below(
    grid: Records, first: int, last: int, usual: int, own: NDArray[np.bool_], notes: list[Note]
) -> tuple[int, int]:
    """Where the rows end above those that sum them up."""
    begin = last
    while begin > max(first + 3, last - 7) and (label := _label(row_at(grid, begin - 1))) and label.alone:
        begin -= 1
    among = np.flatnonzero(own[: begin - first]) + first
    rows = np.setdiff1d(np.arange(first, begin), among)
    inner = among[among > first]  # the first row may sum up those below it
    named = len(inner) > 0 and not _mostly_sums(grid, first, inner)
    end = last
    for i in range(begin, last) if not named else ():
        row = [cell.strip() for cell in row_at(grid, i)]
        label = _label(row)
        filled = next((j for j, cell in enumerate(row) if cell), 0)
        gaps = usual >= 3 and (len(row) < usual or not all(row[filled:]))
        assert label is not None
        if (gaps and label.sure) or _agrees(row, grid, rows, label):
            end = i
            break
        if row[0] and label.sure:
            line = int(grid.lines[i])
            notes.append(note("line {line} ('{text}') may sum up the rows above it; it is kept as a row", "warning",
                              line, line=line, text=shown(grid, i)))  # fmt: skip
    if end == last == begin and _nameless_sum(grid, first, last, rows):
        return first, last - 1
    return first, end


def _nameless_sum(grid: Records, first: int, last: int, rows: NDArray[np.intp]) -> bool:
    """Whether the last row has, in the first column alone or with a word beside another, no name of its own, and holds
    nothing but the sums of the others."""
    row = row_at(grid, last - 1)
    above = rows[rows < last - 1]
    label = _label(row)
    texts = [cell for cell in row if cell.strip() and not is_number(cell)]
    if label is None and (texts or row[0].strip() or grid.first.iloc[first : last - 1].str.strip().eq("").any()):
        return False
    if len(above) < 4 or not _agrees(row, grid, above, Label("sum" if label is None else label.meaning, False)):
        return False
    return label is not None or _largest(row, grid.rows(first, last - 1))


def _largest(row: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether a number of a row is larger than all in its column, as a sum of more than one is."""
    for j, cell in enumerate(row):
        column = [r[j] for r in rows if j < len(r) and is_number(r[j])]
        if is_number(cell) and column:
            values = numbers_among([cell, *column], None)[0]
            if (values[0] > values[1:]).all():
                return True
    return False


_TRIED = 5
"""So many rows that call themselves subtotals are added up."""


def _mostly_sums(grid: Records, first: int, among: NDArray[np.intp]) -> bool:
    """Whether most of these rows, which call themselves so, are the sums or means of those since the one before, or of
    all that do not; the first of them tell."""
    agree, before, some = 0, first, among[:_TRIED].tolist()
    for i in some:
        row = row_at(grid, i)
        label = _label(row) or Label("sum", False)
        proper = np.setdiff1d(np.arange(first, i), among)
        agree += _agrees(row, grid, np.arange(before, i), label) or _agrees(row, grid, proper, label)
        before = i + 1
    return 2 * agree > len(some)


def _subtotals(grid: Records, first: int, last: int, among: NDArray[np.intp], notes: list[Note]) -> NDArray[np.intp]:
    """Says which of the rows sum up others, and gives those that are to be left out: all, where each calls itself
    nothing but that, and is the sum of the rows since the one before it or of all above it."""
    none = np.zeros(0, dtype=np.intp)
    if not len(among) or 3 * len(among) > last - first:
        return none
    line, params = int(grid.lines[among[0]]), {"n": len(among), "lines": lines_of(grid.lines[among]),
                                             "text": shown(grid, int(among[0]))}  # fmt: skip
    if len(among) <= _SUMMED and _all_sums(grid, first, among):
        notes.append(note("rows that sum up others between the rows: {n} (line {lines}, '{text}'); they are left out",
                          "warning", line, **params).offering(KEEP))  # fmt: skip
        return among
    labels = [label_of(str(cell)) for cell in grid.first.iloc[among[:100]]]
    parts = sum(label is not None and label.alone and label.meaning == "part" for label in labels)
    if 2 * parts > len(labels) or _mostly_sums(grid, first, among):
        notes.append(note("rows that sum up others between the rows: {n} (line {lines}, '{text}'); they are kept as "
                          "rows, so that what they sum up counts twice", "warning", line, **params))  # fmt: skip
    return none


_SUMMED = 100
"""So many subtotals are added up to see whether all of them are to be left out."""


def _all_sums(grid: Records, first: int, among: NDArray[np.intp]) -> bool:
    """Whether each of these rows calls itself a sum by a word that means nothing else and stands alone, and is one in
    every column."""
    before = first
    for i in among.tolist():
        label, row = _label(row_at(grid, i)), row_at(grid, i)
        if label is None or not (label.alone and label.sure and label.meaning in ("sum", "part")):
            return False
        exact = label._replace(meaning="part", alone=False)
        proper = np.setdiff1d(np.arange(first, i), among)
        if not (_agrees(row, grid, np.arange(before, i), exact) or _agrees(row, grid, proper, exact)):
            return False
        before = i + 1
    return True


_STATISTICS: dict[Meaning, tuple[Callable[[NDArray[np.float64]], float], ...]] = {
    "sum": (np.sum, np.mean), "part": (np.sum,), "mean": (np.mean,), "median": (np.median,), "least": (np.min,),
    "most": (np.max,), "spread": (lambda x: float(np.std(x, ddof=1)), np.std),
}  # fmt: skip
_FEW = 2


def _agrees(row: Sequence[str], grid: Records, rows: NDArray[np.intp], label: Label) -> bool:
    """Whether the numbers of a row are what its name says of those of other rows: in every column, or, where the word
    stands alone, in most of them, as far as sums of rounded numbers agree."""
    if len(rows) < _FEW or len(rows) > ADDED_UP:
        return False
    begin = int(rows[0])
    block = grid.rows(begin, int(rows[-1]) + 1)
    cells = [block[i - begin] for i in rows.tolist()]
    statistics = _STATISTICS[label.meaning]
    if label.alone:
        return _agree(row, cells, statistics, loose=True)
    return any(_agree(row, cells, (statistic,), loose=False) for statistic in statistics)


_Statistic = Callable[[NDArray[np.float64]], float]


def _agree(row: Sequence[str], rows: Sequence[Sequence[str]], statistics: Sequence[_Statistic], loose: bool) -> bool:
    compared = agreed = 0
    for j, cell in enumerate(row):
        if not is_number(cell):
            continue
        column = [r[j] for r in rows if j < len(r) and r[j].strip() not in _MISSING]
        if len(column) < _FEW or 2 * len(column) < len(rows):
            continue
        readings = [_near(cell, column, mark, statistics, loose) for mark in _MARKS]
        compared += any(near is not None for near in readings)
        agreed += any(near is True for near in readings)
    return bool(agreed) and (2 * agreed > compared if loose else agreed == compared)


_MARKS: tuple[Mark, ...] = (".", ",")
_MISSING = frozenset(MISSING_AMONG_NUMBERS)


def _numbers(cells: list[str], mark: Mark) -> NDArray[np.float64]:
    """Cells as numbers, NaN for what is none: as a program writes them, or as people do."""
    try:
        plain = np.array(cells, dtype=str).astype(float)
    except ValueError:
        return numbers_among(cells, mark)[0] if is_number(cells[0]) else np.full(len(cells), np.nan)
    grouped = mark == "," and any("." in cell for cell in cells)
    return numbers_among(cells, mark)[0] if grouped and all(map(_THOUSANDS.fullmatch, cells)) else plain


_THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(?:\.\d{3})*\s*")
"""A number in which every point may separate thousands."""


def _near(cell: str, column: list[str], mark: Mark, statistics: Sequence[_Statistic], loose: bool) -> bool | None:
    """Whether a number is one of the statistics of others, read with this decimal mark; None where they cannot be, or
    where all of them are 0."""
    values, own = _numbers(column, mark), _numbers([cell], mark)[0]
    if not np.isfinite(values).all() or not np.isfinite(own) or not values.any():
        return None
    unit = 0.51 * 10.0 ** -len(re.sub(r"\D", "", cell.partition(mark)[2]))
    near = max(unit, 1e-9 * abs(own))
    apart = min(abs(float(statistic(values)) - own) for statistic in statistics)
    return bool(apart <= near or (loose and apart <= unit * (1 + len(values) ** 0.5) < 0.02 * abs(own)))


def shown(grid: Records, i: int) -> str:
    """A record in a note."""
    text = " ".join(cell for cell in row_at(grid, i) if cell)
    return text if len(text) <= 60 else text[:59] + "…"
