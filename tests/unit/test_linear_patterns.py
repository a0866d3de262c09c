"""What meets a text that a person typed or uploaded takes no longer than in proportion to it: the worst strings at two
lengths, in a process of their own that is killed after 60 s of CPU."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pandas as pd
import pytest

from bayes_engine.errors import LossError, ReadError
from bayes_engine.exchange import bif
from bayes_engine.table import (
    annotations,
    convert,
    date_forms,
    dates,
    decode,
    dialect,
    encodings,
    guard,
    no_table,
    numbers,
    other_notations,
    parquet_arff,
    read,
    text_notes,
    tokenize,
    totals,
    units,
    xlsx_parts,
)
from bayes_engine.workbench.derivation import check
from bayes_engine.workbench.incoming import pasted_losses

CPU = 60
MOST = 8.0
"""How many times as long a text of four times the length may take: a quadratic pattern takes sixteen times as long."""
SHORT = 0.04
"""Seconds below which a time tells nothing: at these lengths a quadratic pattern takes far longer."""
N = 3_000


def every(pattern: Any) -> Callable[[Any], object]:
    """All that a pattern finds in a text."""
    return lambda text: (pattern.fullmatch(text), sum(1 for _ in pattern.finditer(text)))


def column(text: str) -> object:
    return convert.convert(dict.fromkeys("a", pd.Series([text, "1", "2"])), None, None)


WORST: dict[str, tuple[Callable[[Any], object], Callable[[int], Any]]] = {
    "rule of Markdown": (every(dialect._RULE), lambda n: b"::::|" * (n // 5) + b"x"),
    "rule of SQL": (every(dialect._RULE), lambda n: b"+---" * (n // 4) + b" " * n + b"x"),
    "rule of dashes": (every(dialect._PLAIN_RULE), lambda n: b"---- " * (n // 5) + b"x"),
    "many rules": (lambda data: dialect._without_rules(data, []), lambda n: b"a|b\n---|---\n" * n),
    "rules that tell columns": (lambda data: dialect._without_rules(data, []), lambda n: b"---- " * n + b"\na b\n" * n),
    "rows of LaTeX": (lambda data: dialect._of_latex(data, []),
                      lambda n: b"\\begin{tabular}\n" + b"\\\\[" * n + b"\n$" * n),
    "titles lined up": (lambda text: tokenize.aligned_at([text]), lambda n: "a  b\n\n" * n),
    "what a row calls itself": (totals.label_of, lambda n: "(" * n + " :" * n),
    "names between double bars": (every(other_notations._DOUBLE_BARS), lambda n: b"||a" * (n // 3) + b"\n|" * n),
    "cells between blanks": (other_notations._BETWEEN_BLANKS.fullmatch, lambda n: b'"a b"\t ' * n + b'"' + b" " * n),
    "quoted cells or not": (every(other_notations._QUOTED_OR_NOT), lambda n: b'"a' * (n // 2) + b" " * n),
    "blanks around cells": (lambda data: other_notations._of_blanks(data, []), lambda n: b'1  "a b"\n' * n + b'"' * n),
    "marks of mail": (lambda data: other_notations._without_marks_of_mail(data, []), lambda n: b"> " * n + b"\n>" * n),
    "sparse rows": (lambda text: other_notations._of_sparse(text, []), lambda n: "1 2:3\n" * n + "1" + " 1:1" * n),
    "a sparse line": (every(other_notations._SPARSE_LINE), lambda n: "1" * n + " " * n + "1:" * n),
    "the first sparse lines": (other_notations._SPARSE.match, lambda n: b"1 1:" + b"1" * n + b"e" + b"1 " * n),
    "a word behind a number": (every(units._WORD_BEHIND), lambda n: "1 " + "a" * n + "/" * n),
    "years of the Buddhist era": (every(date_forms.BUDDHIST), lambda n: "2566" * n),
    "a time of C": (every(date_forms.CTIME), lambda n: "Fri Mar " + " " * n + "1" * n),
    "what begins as another program's": (lambda text: [p.match(text) for p, _ in no_table._FOREIGN],
                                         lambda n: "-- a\n \n" * n + "#\n " * n + "select " + "a" * n),
    "sides of a conflict": (every(no_table._CONFLICT), lambda n: b"<<<<<<" * n + b"\n<<<<<<< " * n),
    "rows behind a blank": (other_notations._INDENTED.match, lambda n: b"#a\n\r" * n + b" "),
    "lines behind a blank": (other_notations._flush_left, lambda n: b" 1\n" * n + b"#" * n + b"\n1"),
    "kinds in a box of polars": (every(other_notations._KINDS), lambda n: "│ --- ".encode() * n + b"\n" * n),
    "bytes of Shift JIS": (every(encodings._JIS), lambda n: b"\x81" * n),
    "open parenthesis and blanks": (numbers._DRESSED.fullmatch, lambda n: "(" + " " * n + "x"),
    "digits and blanks": (numbers._DRESSED.fullmatch, lambda n: "1 " * (n // 2) + " " * n + "x"),
    "signed blanks": (numbers._DRESSED.fullmatch, lambda n: "-" + " " * n + "$" + " " * n + "-"),
    "plain digits": (numbers._PLAIN.fullmatch, lambda n: "1" * n + "x"),
    "digits with a point": (numbers._STYLE["."].fullmatch, lambda n: "1" * n + "x"),
    "digits with a comma": (numbers._STYLE[","].fullmatch, lambda n: "1" * n + "x"),
    "groups of two": (numbers._STYLE["."].fullmatch, lambda n: "1" + ",12" * (n // 3)),
    "groups of three": (numbers._STYLE[","].fullmatch, lambda n: "1" + ".123" * (n // 4) + "x"),
    "is it a number": (numbers.is_number, lambda n: "1" * n + "x"),
    "a telephone number": (numbers.PHONE.fullmatch, lambda n: "+1" + "(" * n),
    "a unit": (units.usual_unit, lambda n: ["1" * n + "," * n]),
    "a known unit": (units.known_unit, lambda n: "1" * n + " " * n + "k" * n),
    "a flag": (annotations.unflagged, lambda n: "1." + "1" * n + "*" * n),
    "suffixes that may be names": (
        lambda cells: text_notes._half_numbers("x", cells, 0), lambda n: {f"{i}B": 1 for i in range(n // 2)}
    ),
    "a word among numbers": (
        annotations.annotated_numbers, lambda n: {"spilt": 1} | {f"{i}.5": 1 for i in range(n // 2)}
    ),
    "an error behind": (annotations._WITH_ERROR.fullmatch, lambda n: "1" * n + "±" + "1" * n),
    "out of the most": (annotations._OUT_OF.fullmatch, lambda n: "1" * n + " " * n + "/" + "5" * n),
    "a mark of a footnote": (annotations.bare_number, lambda n: "1" * n + "[" * n + "1]"),
    "money behind a suffix": (units.scaled, lambda n: "1" * n + " " * n + "Mio. €"),
    "points of thousands": (numbers._BY_POINT.fullmatch, lambda n: "1" + ".123" * (n // 4) + "x"),
    "a year of an era": (date_forms.ERA.match, lambda n: "令和" + "1" * n),
    "a suffix": (units.scaled, lambda n: "1" * n + "k" * n),
    "a power of ten": (numbers._POWER.search, lambda n: "1 x 10^" + "1 x 10" * (n // 6)),
    "a dash of a thousand dashes": (numbers._NOTHING.fullmatch, lambda n: "(" + "-" * n + "x"),
    "a number of Fortran": (numbers._FORTRAN.search, lambda n: "1." * n + "D+"),
    "an error of a spreadsheet": (numbers._NOTHING.fullmatch, lambda n: "#" + "A" * n + "/" + "A" * n),
    "numbers with units": (units.units_of, lambda n: ["1" * n + "," * n + "x"]),
    "no day at all": (date_forms._NO_DAY.fullmatch, lambda n: "0000-00-00 00:00:00." + "0" * n),
    "a day of a year": (date_forms._DAY_OF_YEAR.fullmatch, lambda n: "1. " + "a" * n),
    "a name of days": (every(date_forms.MOMENT_NAME), lambda n: "date" * n + "_" * n),
    "about a number": (units.scaled, lambda n: "~" * n + "1" + "±" * n),
    "numbers in a pattern": (text_notes._PATTERN.fullmatch, lambda n: "0" + "-ab-0" * (n // 5) + "abcd"),
    "a month": (dates.are_months, lambda n: ["Mo" + "n" * n]),
    "letters of two scripts": (text_notes._mixed, lambda n: "a\u0431" * n),
    "identifiers": (numbers.identifier_among, lambda n: ["0" * n + "x", "1" * n]),
    "lost digits": (lambda text: numbers.precision_loss(text, 1e300), lambda n: "0" * n + "e"),
    "a date": (lambda text: dates.dates([text]), lambda n: "1/" * n),
    "a column of digits": (column, lambda n: "1" * n),
    "a column of blanks": (column, lambda n: "(" + " " * n + "x"),
    "blank lines, lined up": (lambda text: list(tokenize.aligned(text, ())), lambda n: " " * n + "\n1 2"),
    "quotes within a cell": (lambda text: list(tokenize.records(text, tokenize.Dialect())), lambda n: ',"a' * (n // 3)),
    "quotes never closed": (lambda text: list(tokenize.records(text, tokenize.Dialect())),
                            lambda n: '"a,""' * (n // 5)),
    "a backslash between": (lambda text: list(tokenize.records(text, dialect.sniff(text, "\\"))),
                            lambda n: '\\"a' * (n // 3)),
    "curly quotes in one line": (lambda data: dialect._prepared(data, None, None, []),
                                 lambda n: ",".join(["“a”"] * n).encode()),
    "many relations": (parquet_arff.is_arff, lambda n: "@relation\n" * n),
    "blanks in a cell of ARFF": (parquet_arff._arff_cells, lambda n: "a" + " " * n + "b"),
    "blanks in a pair of ARFF": (lambda text: parquet_arff._sparse(text, ["0"], 1), lambda n: "{0 a" + " " * n + "b}"),
    "a remark of ARFF": (parquet_arff._REMARKED.search, lambda n: "a " * n + "'"),
    "open cells of xlsx": (every(xlsx_parts._ERROR), lambda n: b"<c " * n),
    "number formats of xlsx": (every(xlsx_parts._ZEROS), lambda n: b"<numFmt " + b' numFmtId="1" formatCode="' * n),
    "styles of xlsx": (every(xlsx_parts._STYLE_OF), lambda n: b"<xf " + b' numFmtId="' * n),
    "cells of xlsx": (every(xlsx_parts._CELL_TAG), lambda n: b"<c " * n + b"<c" + b" /" * n),
    "attributes of xlsx": (every(xlsx_parts._ATTRIBUTE), lambda n: b' r="' * n + b"A" * n),
    "links of xlsx": (every(xlsx_parts._LINKED), lambda n: b"<Relationship " + b' Id="a" Target="' * n),
    "open rows of xlsx": (every(xlsx_parts._ROW), lambda n: b"<row " * n),
    "hidden rows of xlsx": (every(xlsx_parts._HIDDEN_ROW), lambda n: b"<row" + b' hidden="1"' * n),
    "hidden columns of xlsx": (every(xlsx_parts._COLUMNS), lambda n: b"<col" + b' hidden="1"' * n),
    "open merges of xlsx": (every(xlsx_parts._MERGED), lambda n: b"<mergeCell " * n),
    "open sheets of xlsx": (every(xlsx_parts._BEGIN), lambda n: b"<sheetData " * n),
    "formulas of xlsx": (every(xlsx_parts._NO_RESULT), lambda n: b"</f>" + b" " * n),
    "pairs of keys": (lambda data: other_notations.as_delimited(data, []),
                      lambda n: b"a=1 b=2\n" * 3 + b"a=1 " * n + b"="),
    "a box never closed": (every(other_notations._BOXED), lambda n: b"1. |" + b"| " * n),
    "records of JSON": (lambda data: other_notations.as_delimited(data, []), lambda n: b'{"a":1}' * n),
    "HZ": (lambda data: decode.recode(data, None, []), lambda n: b"~{" + b"!!" * n),
    "an open tag": (lambda data: decode.recode(data, None, []), lambda n: b"<a" * n),
    "apostrophes": (guard.runs, lambda n: "'" * n),
    "names of results": (lambda name: guard.written_here([name]), lambda n: "decision" + "\nP()" * n),
    "a pasted loss": (lambda cell: pasted_losses.read_block(cell, ["a"], ["a"]), lambda n: "1" * n + "x"),
    "pasted groups": (pasted_losses._GROUPED.fullmatch, lambda n: "1" + ",111" * n + "x"),
    "a typed number": (check.read_number, lambda n: "1" * n),
    "a typed sum": (check._SUM.fullmatch, lambda n: "1" * n + "x"),
    "a property of BIF": (bif._PROPERTY.match, lambda n: '"' * n + ";"),
    "a property that quotes": (bif._PROPERTY.match, lambda n: 'x"y;" ' * (n // 6)),
    "properties never ended": (bif._PROPERTY.match, lambda n: "a" * n + '"'),
    "properties of BIF": (bif.read_bif, lambda n: 'network a { property ";' + 'property x"y";' * (n // 14) + "}"),
    "properties that pair": (bif.read_bif, lambda n: "network a {" + 'property ";' * (n // 11) + '"}'),
    "a name in BIF": (bif._TOKEN.match, lambda n: '"' + "\\" * n),
    "remarks of BIF": (bif._TOKEN.match, lambda n: "/*" * n),
    "a file": (read.read_table, lambda n: b"a|b|c\n---|---|---\n" + b"::::|" * (n // 99) + b"x\n" + b"1|2|3\n" * 40),
    "mixed delimiters": (read.read_table, lambda n: b"a,12;x y\t3.5|b:c^d~e 'f\"g\n" * (n // 30)),
    "many columns": (read.read_table,
                     lambda n: b",".join(b"c%d" % i for i in range(n // 60)) + (b"\n" + b"1,x," * (n // 120)) * 5),
    "a file of digits": (read.read_table, lambda n: b"a,b\n" + (b"1" * n + b",x\n") * 20),
}  # fmt: skip


def seconds(call: Callable[[Any], object], text: Any) -> float:
    start = time.process_time()
    with suppress(LossError, ReadError):
        call(text)
    return time.process_time() - start


def grows(one: float, two: float) -> bool:
    return two > max(MOST * one, SHORT)


def shortest(name: str) -> tuple[float, float]:
    """The shortest times of two rounds, of ten where these look as if the time grew faster than the text: what else
    happens on a machine lengthens some rounds, never all of them."""
    call, worst = WORST[name]
    texts = worst(N), worst(4 * N)
    one = two = float("inf")
    for rounds in range(10):
        one, two = min(one, seconds(call, texts[0])), min(two, seconds(call, texts[1]))
        if rounds and not grows(one, two):
            break
    return one, two


def measured(names: list[str], found: Any) -> None:
    """Sends each name before its strings are tried, and the two times after."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    for name in names:
        found.send((name, None))
        found.send((name, shortest(name)))
    found.send(("", None))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.slow
def test_the_worst_strings_take_time_in_proportion_to_their_length() -> None:
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("a process that is killed after some time of CPU is one of Unix")
    apart = multiprocessing.get_context("fork")
    here, there = apart.Pipe(duplex=False)
    process = apart.Process(target=measured, args=(list(WORST), there))
    process.start()
    there.close()
    times, last = {}, "nothing"
    with suppress(EOFError):
        while (said := here.recv())[0]:
            last = said[0]
            if said[1] is not None:
                times[last] = said[1]
    process.join()
    assert set(times) == set(WORST), f"{last} takes over {CPU} s of CPU"
    assert not {name: pair for name, pair in times.items() if grows(*pair)}
