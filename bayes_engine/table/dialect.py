"""Text → grid of cells. The standard library's `csv.Sniffer` and pandas' own guess read 6 of 20 messy files rightly.

`cut` is both steps: `sniff` guesses delimiter and quote from the shape and the types of the cells they would give, and
`tokenize` cuts the whole text.
"""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from bayes_engine.errors import ReadError
from bayes_engine.table.date_forms import DATE
from bayes_engine.table.grid import Grid, R
from bayes_engine.table.notes import Note, lines_of, note, offer
from bayes_engine.table.numbers import MISSING_AMONG_NUMBERS, is_number
from bayes_engine.table.tokenize import ALIGNED, Cuts, Dialect, aligned, aligned_at, records, stretches, tokenize
from bayes_engine.table.torn_lines import with_cells_joined, with_one_delimiter, with_sentences, without_backslashes

DELIMITERS = (",", "\t", ";", "|", " ", ":", "::", "^", "~", "\x01", "\x1f", "，", "；", "、", "§", "│", ALIGNED)
SAMPLE = 1 << 16
"""How much of a text its dialect is guessed from."""
SCORED = 400
"""Of how many of its records the cells are looked at."""


def cut(text: str, delimiter: str | None, quote: str | None, notes: list[Note]) -> tuple[Grid, Dialect]:
    r"""The grid of a text and its dialect, of which None is to be found out.

    >>> grid, dialect = cut("size|city\n1|'Oslo'\n2|'Rome'\n", None, None, [])
    >>> grid.cells[1].tolist(), dialect.delimiter, dialect.quote
    (['city', 'Oslo', 'Rome'], '|', "'")
    """
    return cut_by(lambda data, dialect: tokenize(data.decode(), dialect), text.encode(), delimiter, quote, notes)


_HEAD = 1 << 22
"""Bytes that hold the characters which tell a dialect."""


def cut_by(
    tokenizer: Callable[[bytes, Dialect], R], data: bytes, delimiter: str | None, quote: str | None, notes: list[Note]
) -> tuple[R, Dialect]:
    """`cut` of a text in UTF-8, by whatever cuts one of a known dialect."""
    data, given, cuts = _prepared(data, delimiter, quote, notes)
    dialect = sniff(head(data), given, quote, cuts)
    records = tokenizer(data, dialect)
    if dialect.delimiter == "" and given is None and _whole_lines(data, len(records.widths)) and not records.odd:
        inner = "".join(f"{cell}\n" for cell in records.first).encode()
        again = sniff(head(inner), None, quote)
        if again.delimiter:
            data, dialect, records = inner, again, tokenizer(inner, again)
            notes.append(note("every line is quoted as a whole: these quotes are left out", "warning"))
    for mend in (with_one_delimiter, without_backslashes, with_sentences, with_cells_joined):
        if (mended := mend(data, dialect, records.widths, records.lines, notes)) is not data:
            data, records = mended, tokenizer(mended, dialect)
    notes += _dialect_notes(dialect, records.odd, given, quote)
    return records, dialect


def head(data: bytes) -> str:
    """As much of a text in UTF-8 as tells its dialect, or that it is ARFF."""
    return data[:_HEAD].decode(errors="ignore")


def _prepared(
    data: bytes, delimiter: str | None, quote: str | None, notes: list[Note]
) -> tuple[bytes, str | None, Cuts]:
    r"""A text in UTF-8 as it is to be cut, the delimiter that is told: by whom it may be, or by the text itself; and
    where a line that is drawn below the names says that its columns begin and end.

    >>> _prepared(b"sep=;\na;b\n", None, None, [])
    (b'\na;b\n', ';', ())
    """
    if quote and (len(quote) > 1 or quote in ("\n", "\r", delimiter)):
        raise ReadError("'{quote}' cannot be the quote: it is one character other than the delimiter, or '' for none",
                        quote=quote)  # fmt: skip
    if delimiter and set(delimiter) & {"\n", "\r"}:
        raise ReadError("the end of a line cannot be the delimiter; choose the mark that stands between two cells")
    data = data.rstrip(b"\x1a\x00\x0c")
    declaration = re.match(r'"?sep=(.)"?[ \t]*(?:\r\n|\n|\r)', data[:200].decode(errors="ignore"))
    if declaration:  # Excel's way of naming the delimiter; the line stays, blank, so that line numbers hold
        data = data[len(declaration.string[: declaration.end(1)].encode()) :].lstrip(b'" \t')
        if delimiter is None and declaration[1].encode() in data:
            delimiter = declaration[1]
        elif delimiter is None:
            notes.append(note("the first line says that the delimiter is '{delimiter}', which stands nowhere below; "
                              "another was guessed", "warning", 1, delimiter=declaration[1]))  # fmt: skip
    if delimiter is None and (tabular := _of_latex(data, notes)) is not None:
        return tabular, "&", ()
    data, cuts = _without_rules(data, notes)
    return _plainly_quoted(data, notes) if quote is None else data, delimiter, cuts


def _dialect_notes(dialect: Dialect, odd: Sequence[int], delimiter: str | None, quote: str | None) -> list[Note]:
    """What there is to say of a dialect, where `delimiter` and `quote` were told or None, and of odd quotes."""
    notes = []
    if odd:
        notes.append(note("a quote is never closed, or closes within a cell, on line {lines}: it is kept as a "
                          "character", "warning", odd[0], lines=lines_of(odd)))  # fmt: skip
    if dialect.delimiter == ALIGNED:
        notes.append(note("no delimiter was found: the columns are cut where the spaces line up")
                     .offering(offer("It is one column", "delimiter", "")))  # fmt: skip
    elif dialect.delimiter == "" and delimiter is None:
        notes.append(note("no delimiter was found: the file is read as one column", "warning"))
    elif dialect.delimiter not in (",", "\t", ";", "|") and delimiter is None:
        notes.append(note("the delimiter was guessed: '{delimiter}'", "warning", delimiter=dialect.delimiter)
                     .offering(offer("It is one column", "delimiter", "")))  # fmt: skip
    if dialect.escape:
        notes.append(note("a backslash before a quote is read as part of the notation, not of the cell"))
    if dialect.quote == "'" and quote is None:
        notes.append(note("cells are quoted with apostrophes; these are left out")
                     .offering(offer("They are part of the cells", "quote", "")))  # fmt: skip
    return notes


_STRETCH = 1 << 20


_DASHES = rb"(?:[:=-]{3,}+|(?:\xe2[\x94\x95][\x80-\xbf])++)"
_RULE = re.compile(
    rb"^(?=[^+|\xe2\r\n]*+[+|\xe2])[ \t]*+[+|]?[ \t]*+"
    + _DASHES
    + rb"(?:[ \t]*+[+|][ \t]*+"
    + _DASHES
    + rb")*+[ \t]*+[+|]?[ \t]*+(?=\r?$)",
    re.MULTILINE,
)
"""A line drawn between rows, as SQL clients and Markdown write it."""
_PLAIN_RULE = re.compile(rb"^[ \t]*+[-=_]{2,}+(?:[ \t]++[-=_]++)*+[ \t]*+(?=\r?$)", re.MULTILINE)
"""A line of dashes or equals signs alone, as reports and SQL clients write it, where it holds one of `_LONG`."""
_LONG = (b"----", b"===", b"____")


_MOST_DRAWN = 300
"""Columns, at most, that a drawn line tells."""


def _without_rules(data: bytes, notes: list[Note]) -> tuple[bytes, Cuts]:
    """The text with the lines that are drawn between its rows left blank, so that the numbers of the lines hold, and
    where the parts of the first begin and end. Lines of dashes or equals signs alone are drawn between rows of several
    cells; a text of one column may have such rows."""
    first = data[:SAMPLE]
    if not any(mark in first for mark in (b"---", b"===", b"___", "─".encode(), "═".encode(), "━".encode())):
        return data, ()
    cuts: Cuts = ()
    without, drawn = _left_blank(data, _RULE)
    if any(mark in first for mark in _LONG):
        more, plain = _left_blank(without, _PLAIN_RULE)
        parts = [match.start() for match in re.finditer(r"\S+", plain[0][1])] if plain else []
        if 1 < len(parts) <= _MOST_DRAWN:  # what is longer than its column ends before the next, or is cut off
            ends = (*(begin - 1 for begin in parts[1:]), sys.maxsize)
            cuts = tuple(zip((0, *parts[1:]), ends, strict=True))
        if plain and sniff(head(more), cuts=cuts).delimiter in ("|", " ", ALIGNED):  # else they are records
            without, drawn = more, sorted(drawn + plain)
        else:
            cuts = ()
    if drawn:
        line, text = drawn[0]
        notes.append(note("lines drawn with '{text}' that are left out: {n}", "info", line, n=len(drawn),
                          text=text.strip()[:12]))  # fmt: skip
    return without, cuts


def _left_blank(data: bytes, rule: re.Pattern[bytes]) -> tuple[bytes, list[tuple[int, str]]]:
    """The text with the lines left blank that are this pattern, and these with their numbers."""
    drawn = list[tuple[int, str]]()
    line, seen, out = 1, 0, io.BytesIO()

    def blank(match: re.Match[bytes]) -> bytes:
        nonlocal line, seen
        if rule is _PLAIN_RULE and not any(mark in match[0] for mark in _LONG):
            return match[0]
        line, seen = line + match.string.count(b"\n", seen, match.start()), match.start()
        drawn.append((line, match[0].decode()))
        return b""

    for stretch in stretches(data, _STRETCH):
        seen = 0
        out.write(rule.sub(blank, stretch))
        line += stretch.count(b"\n", seen)
    return (out.getvalue(), drawn) if drawn else (data, drawn)


_LATEX = re.compile(rb"\\begin\{(?:tabular|longtable|tabularx|tabulary|array)\*?\}")
_COMMAND_LINE = re.compile(
    rb"[ \t]*+(?:\\(?:begin|end|hline|toprule|midrule|bottomrule|cmidrule|cline|caption|label|centering|small|endhead|"
    rb"endfirsthead|endfoot|endlastfoot|footnotesize)\b[^\r\n&]*+)?+"
)


def _of_latex(data: bytes, notes: list[Note]) -> bytes | None:
    """The rows of a tabular of LaTeX, between its commands, with quotes where a cell holds the sign between cells; None
    where the text is none. The lines stay where they are, blank where they hold no row."""
    if not _LATEX.search(data[:SAMPLE]):
        return None
    out = list[bytes]()
    for line in data.splitlines(keepends=True):
        row = line.rstrip(b"\r\n")
        end = line[len(row) :]
        row = re.sub(rb"\\(?:hline|toprule|midrule|bottomrule)\b", b"", row)
        row = re.sub(rb"\\\\(?:\[[^\][\r\n]{0,20}+\])?[ \t]*+\Z", b"", row)
        if _COMMAND_LINE.fullmatch(row) or row.lstrip().startswith(b"%"):
            out.append(end)
            continue
        cells = [cell.strip() for cell in re.split(rb"(?<!\\)&", row)]
        cells = [re.sub(rb"\\([&%$#_{}])", rb"\1", re.sub(rb"\A\$([^$]*+)\$\Z", rb"\1", cell)) for cell in cells]
        out.append(b"&".join(b'"%b"' % cell.replace(b'"', b'""') if b"&" in cell else cell for cell in cells) + end)
    notes.append(note("the file is LaTeX: the rows of its table are read, its commands are left out", "warning"))
    return b"".join(out)


_TYPOGRAPHIC = ("“”", "„“", "„”", "«»", "‘’", "‚‘", "‹›")
"""Marks that stand before and behind what is quoted."""


def _plainly_quoted(data: bytes, notes: list[Note]) -> bytes:
    """The text with quotes for the typographic ones, where these enclose cells as quotes do, and for what Excel is
    handed so that it keeps a text (="007")."""
    if b'="' in data[:SAMPLE]:
        data = _with_quotes(data, rb'="([^"\r\n]*)"', b'="', '="…"', notes)
    for pair in _TYPOGRAPHIC:
        opening, closing = pair[0], pair[1]
        if opening.encode() in data[:SAMPLE]:
            a, b = opening.encode(), closing.encode()
            mended = _with_quotes(data, a + rb"((?:(?!" + a + b"|" + b + rb')[^\r\n"])*)' + b, a,
                                  f"{opening} {closing}", notes)  # fmt: skip
            if mended is not data:
                return mended
    return data


def _with_quotes(data: bytes, pattern: bytes, opening: bytes, shown: str, notes: list[Note]) -> bytes:
    """The text with quotes around every cell that is this pattern, where nearly every opening mark opens such a cell;
    the same object where not."""
    cell = re.compile(rb"(?:(?<=[,;\t|\r\n])|\A)" + pattern + rb"(?=[,;\t|\r\n]|\Z)")
    n, seen, quotes, out = 0, 0, 0, io.BytesIO()

    def mended(match: re.Match[bytes]) -> bytes:
        nonlocal n, seen, quotes
        between = match.string[seen : match.start()]
        line = between.rfind(b"\n")
        quotes = between.count(b'"', line + 1) + (quotes if line < 0 else 0)  # in its line
        seen = match.start()
        if quotes % 2:  # it stands within a cell
            return match[0]
        n += 1
        return b'"%b"' % match[1]

    for stretch in stretches(data, _STRETCH):
        seen = quotes = 0
        out.write(cell.sub(mended, stretch))
    if 10 * n < 9 * data.count(opening):
        return data
    notes.append(note("cells are quoted with {marks}; these are left out", marks=shown)
                 .offering(offer("They are part of the cells", "quote", "")))  # fmt: skip
    return out.getvalue()


def _whole_lines(data: bytes, n: int) -> bool:
    """Whether the text is `n` lines, more than one, and each is one quoted cell."""
    lines = 0
    for lines, line in enumerate(re.finditer(rb"[^\r\n]+", data), 1):  # noqa: B007 (how many there were)
        if not line[0].startswith(b'"') or not line[0].endswith(b'"'):
            return False
    return lines == n > 1


# ---- guessing --------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[^,;\t|│\"]{1,80}")


def _plausible(cell: str) -> float:
    """How much a cell looks like one cell: 1 for a typed value, little for one that holds another delimiter."""
    bare = cell.strip()
    if not bare:
        return 0.6
    if bare in MISSING_AMONG_NUMBERS or is_number(bare) or DATE.fullmatch(bare):
        return 1.0
    if len(bare) > 1 and (bare[0] in "\"'" or bare[-1] in "\"'") and not bare[0].isdecimal():
        return 0.2  # a cell in quotes, or half of one
    if _WORD.fullmatch(bare):
        return 0.8 if " " in bare else 0.9
    return 0.6 if re.fullmatch(r"(?:[^,;\t|│\"]|[,;] )+", bare) else 0.1


def _score(rows: Sequence[Sequence[str]], dialect: Dialect, whole: bool) -> float:
    if not rows:
        return 0.0
    width, common = Counter(map(len, rows)).most_common(1)[0]
    cells = [cell for row in rows if len(row) == width for cell in row]
    shape = _ONE_COLUMN if width == 1 else (width - 1) / width * common / len(rows)
    habit = {":": 0.5, "::": 0.5, "~": 0.8, "^": 0.8}.get(dialect.delimiter, 1.0)
    if dialect.delimiter in (" ", ALIGNED):  # words of one text are as regular as columns; numbers are a sign
        habit = 0.85 if any(map(is_number, cells)) else 0.6
    if width == 1 and dialect.delimiter:
        return 0.0
    plausible = {cell: _plausible(cell) for cell in set(cells)}
    return shape * habit * sum(map(plausible.__getitem__, cells)) / len(cells) * (1.0 if whole else 0.9)


def _all_regular(parsed: Sequence[tuple[int, list[str], bool]]) -> bool:
    return all(fine for _, _, fine in parsed)


def sniff(text: str, delimiter: str | None = None, quote: str | None = None, cuts: Cuts = ()) -> Dialect:
    r"""The dialect whose cells are most regular and most like values; `delimiter` and `quote` where they are told, and
    the `cuts` of columns that may be lined up.

    >>> sniff("size;city\n1,5;Oslo, NO\n2,5;Rome, IT\n").delimiter, sniff("label\nyes\nno\n").delimiter
    (';', '')
    """
    sample = text[:SAMPLE]
    if len(text) > SAMPLE:
        cut = max(sample.rfind("\n"), sample.rfind("\r"))
        sample = sample[: cut + 1] if cut > 0 else text[: 16 * SAMPLE]
    sample = re.sub(r"\A(?:[#%][^\r\n]*[\r\n]+)+(?=.)", "", sample, flags=re.DOTALL) or sample
    if cuts and delimiter in (None, ALIGNED):
        fitting = [len(cells) == len(cuts) for _, cells, _ in aligned(sample, cuts)]
        if sum(fitting) >= 0.9 * len(fitting):
            return Dialect(ALIGNED, '"', cuts=cuts)
    lined_up = re.search(r"\S  +\S", sample) is not None

    def tries(d: str) -> Iterator[tuple[Dialect, float]]:
        """The dialects that have this delimiter, and how well each fits."""
        single = re.search(rf"(?:^|{re.escape(d)})'[^'\r\n]*'", sample, re.MULTILINE)
        for q in (quote,) if quote is not None else ('"', "'") if single else ('"',):
            after = rf" *(?:{re.escape(d) or '$'}|[\r\n]|\Z|{re.escape(q)})"
            escaped = q and d != "\\" and re.search(rf"\\{re.escape(q)}(?!{after})", sample)
            dialect = Dialect(d, q, "\\" if escaped else "")
            parsed = list(aligned(sample, aligned_at([sample])) if d == ALIGNED else records(sample, dialect))
            if f"\\{q}" in sample and not (escaped or d in ("\\", ALIGNED) or _all_regular(parsed)):
                with_escape = replace(dialect, escape="\\")  # \"" ends a cell that ends in a quote
                if _all_regular(again := list(records(sample, with_escape))):
                    dialect, parsed = with_escape, again
            rows = [cells for _, cells, _ in parsed][:SCORED]
            inner = [cell for row in rows for cell in row[1:]]
            spaced = sum(c[:1] == " " for c in inner) + (sample.count(f"{d} {q}") if q else 0)
            if d not in ("", " ", "\t", ALIGNED) and inner and spaced >= 0.9 * len(inner):
                dialect = replace(dialect, skip_space=True)
                rows = [cells for _, cells, _ in records(sample, dialect)][:SCORED]
            score = _score(rows, dialect, _all_regular(parsed))
            if d == " " and quote is None and _steady(sample):
                score *= 0.6  # another mark stands in every line as often: blanks are within its cells
            if d == " " and lined_up and sum(map(len, rows)) < 2 * sum(row.count("") for row in rows):
                score *= 0.6  # most of its cells would be empty: the blanks fill up columns
            yield dialect, score

    candidates = [d for d in DELIMITERS if (lined_up if d == ALIGNED else d in sample)]
    fits = [fit for d in (candidates if delimiter is None else (delimiter,)) for fit in tries(d)]
    if delimiter is None and all(score <= 1.03 * _ONE_COLUMN for _, score in fits):
        fits = [*tries(""), *fits]  # which, before any that fits better than one column ever does, would make no change
    best, most = Dialect(""), -1.0
    for dialect, score in fits:
        if score > most * 1.001:
            best, most = dialect, score
    return best


_ONE_COLUMN = 0.35
"""How well a text fits as one column, at most."""


def _steady(text: str) -> bool:
    """Whether a mark that delimits stands in every line as often, of more than two."""
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    return len(lines) > 2 and any(
        len(counts) == 1 and counts != {0} for counts in ({c.count(d) for c in lines} for d in ";\t|,")
    )
