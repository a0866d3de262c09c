"""Networks as one CSV for a spreadsheet: a line for each number of each table, `node, level, p`, then each parent
and its level. The arcs follow from it; `edges_csv` lists them by themselves.
"""

from __future__ import annotations

import csv
import io
import itertools
from pathlib import Path

from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.exchange.tables import MAX_BYTES, Draft, assemble, probability, text_of, words
from bayes_engine.factors.network import Network

_HEAD = ("node", "level", "p")


def edges_csv(network: Network) -> str:
    """The arcs, `parent, child`.

    >>> from bayes_engine.exchange.bif import read_bif
    >>> print(edges_csv(read_bif("variable rain { type discrete [ 1 ] { no }; } probability ( rain ) { table 1; }")))
    parent,child
    <BLANKLINE>
    """
    return _text([("parent", "child"), *network.graph.arcs])


def write_csv(network: Network) -> str:
    """All tables; `read_csv` gives the network back, its levels as words.

    Raises ParameterError for a name that comes back as another, or where two levels of a node are the same word.

    >>> from bayes_engine.exchange.bif import read_bif
    >>> rain = read_bif("variable rain { type discrete [ 2 ] { no, yes }; } probability ( rain ) { table 0.8 0.2; }")
    >>> print(write_csv(rain))
    node,level,p
    rain,no,0.8
    rain,yes,0.2
    <BLANKLINE>
    """
    most = max((len(cpt.parents) for cpt in network.cpts), default=0)
    rows: list[tuple[object, ...]] = [(*_HEAD, *(f"{w} {k + 1}" for k in range(most) for w in ("parent", "its level")))]
    for cpt in network.cpts:
        for name in (cpt.name, *words(cpt.variable)):
            if name != name.strip() or not name or "\r" in name:
                raise ParameterError(
                    "a CSV file cannot hold the name '{name}': nothing, blanks at its ends or a carriage return; write "
                    "BIF instead",
                    name=name,
                )
        for indices in itertools.product(*(range(s) for s in cpt.p.shape)):
            given = [x for v, k in zip(cpt.parents, indices, strict=False) for x in (v.name, v.levels[k])]
            rows.append((cpt.name, cpt.variable.levels[indices[-1]], repr(float(cpt.p[indices])), *given))
    return _text(rows)


def read_csv(source: bytes | str | Path, *, max_bytes: int = MAX_BYTES) -> Network:
    """The network in a file that `write_csv` wrote: bytes, a path, or the text itself (a `str` with a line break).

    Raises ReadError, naming the line, where a number is missing or stands twice, or a row does not sum to 1.

    >>> read_csv("node,level,p\\nrain,no,0.8\\nrain,yes,0.2\\n")["rain"].p.tolist()
    [0.8, 0.2]
    """
    reader = csv.reader(io.StringIO(text_of(source, "\n", max_bytes)))
    try:
        lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise ReadError("line {line}: this is no CSV ({reason})", line=reader.line_num, reason=str(error)) from None
    if not lines or tuple(lines[0][1][:3]) != _HEAD:
        raise ReadError("the first line must name the columns node, level, p, and then the parents")
    levels: dict[str, dict[str, None]] = {}
    parents: dict[str, tuple[str, ...]] = {}
    first: dict[str, int] = {}
    numbers: dict[str, dict[tuple[str, ...], dict[str, tuple[float, int]]]] = {}
    for line, row in lines[1:]:
        if not any(row):
            continue
        name, level, p, *rest = [*row, "", "", ""][: max(len(row), 3)]
        while rest and not rest[-1]:
            rest.pop()
        above, given = tuple(rest[::2]), tuple(rest[1::2])
        if not name or not level or len(above) != len(given) or not all((*above, *given)):
            raise ReadError("line {line}: a node, a level, or the level of a parent is missing", line=line)
        if parents.setdefault(name, above) != above:
            raise ReadError(
                "line {line}: '{name}' has other parents here than in line {first}",
                line=line,
                name=name,
                first=first[name],
            )
        first.setdefault(name, line)
        levels.setdefault(name, {})[level] = None
        cells = numbers.setdefault(name, {}).setdefault(given, {})
        if level in cells:
            raise ReadError("line {line}: this number of '{name}' was given before", line=line, name=name)
        cells[level] = (probability(p, line), line)
    known = {name: tuple(level_names) for name, level_names in levels.items()}
    drafts = {}
    for name, above in parents.items():
        for parent in above:
            if parent not in known:
                raise ReadError(
                    "line {line}: the parent '{name}' has no table of its own", line=first[name], name=parent
                )
        drafts[name] = Draft(name, above, known, first[name])
        for given, cells in numbers[name].items():
            line = next(iter(cells.values()))[1]
            drafts[name].row(given, [cells[v][0] for v in known[name] if v in cells], line)
    return assemble(known, drafts)


def _text(rows: list[tuple[object, ...]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
