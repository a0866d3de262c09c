"""Networks as XMLBIF 0.3, which Weka, SamIam and JavaBayes read (Cozman 1998).

A table runs over the `GIVEN` nodes in their order and the node itself last, fastest. The parser never opens another
file, and refuses declared entities, with which a small file could grow to fill the memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape

from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.exchange.tables import MAX_BYTES, Draft, assemble, probability, words
from bayes_engine.factors.network import Network
from bayes_engine.table.decode import load

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
"""
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Element(NamedTuple):
    """A VARIABLE or DEFINITION: the texts of what stands in it, by tag, each with its line."""

    line: int
    texts: dict[str, list[tuple[str, int]]]

    def all(self, tag: str) -> list[str]:
        return [text for text, _ in self.texts.get(tag, [])]


def read_xmlbif(source: bytes | str | Path, *, max_bytes: int = MAX_BYTES) -> Network:
    """The network in an XMLBIF file: bytes, a path, or the text itself (a `str` with a tag in it).

    Of declared encodings those of one byte a character are read, UTF-8, and UTF-16. Raises ReadError, naming the line,
    where the text is no XMLBIF or a table is not whole.

    >>> network = read_xmlbif('''<BIF VERSION="0.3"><NETWORK>
    ... <VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
    ... <DEFINITION><FOR>rain</FOR><TABLE>0.8 0.2</TABLE></DEFINITION>
    ... </NETWORK></BIF>''')
    >>> network["rain"].p.tolist()
    [0.8, 0.2]
    """
    text = isinstance(source, str) and "<" in source
    data = load(source.encode("utf-8", "surrogatepass") if text and isinstance(source, str) else source, max_bytes)
    levels: dict[str, tuple[str, ...]] = {}
    elements = _elements(data)
    for element in elements["VARIABLE"]:
        name, outcomes = _one(element, "NAME"), tuple(element.all("OUTCOME"))
        if name in levels or not outcomes or len(set(outcomes)) < len(outcomes):
            raise ReadError(
                "line {line}: the variable '{name}' needs a name and levels that are all different",
                line=element.line,
                name=name,
            )
        levels[name] = outcomes
    drafts: dict[str, Draft] = {}
    for element in elements["DEFINITION"]:
        name, parents = _one(element, "FOR"), tuple(element.all("GIVEN"))
        for word in (name, *parents):
            if word not in levels:
                raise ReadError(
                    "line {line}: the variable '{name}' is not declared; add a VARIABLE for it",
                    line=element.line,
                    name=word,
                )
        if name in drafts:
            raise ReadError("line {line}: '{name}' has two tables; keep one", line=element.line, name=name)
        drafts[name] = Draft(name, parents, levels, element.line)
        table = _one(element, "TABLE").split()
        line = element.texts["TABLE"][0][1]
        drafts[name].table([probability(word, line) for word in table], line, node_first=False)
    return assemble(levels, drafts)


def write_xmlbif(network: Network, name: str = "network") -> str:
    """The network as XMLBIF text; `read_xmlbif` gives it back, its levels as words.

    Raises ParameterError for a name that XML cannot hold, or where two levels of a node are the same word.

    >>> from bayes_engine.exchange.bif import read_bif
    >>> rain = read_bif("variable rain { type discrete [ 2 ] { no, yes }; } probability ( rain ) { table 0.8 0.2; }")
    >>> read_xmlbif(write_xmlbif(rain))["rain"].p.tolist()
    [0.8, 0.2]
    """
    lines = [f"<NAME>{_written(name)}</NAME>"]
    for cpt in network.cpts:
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{_written(cpt.name)}</NAME>"]
        lines += [f"  <OUTCOME>{_written(level)}</OUTCOME>" for level in words(cpt.variable)]
        lines.append("</VARIABLE>")
    for cpt in network.cpts:
        lines += ["<DEFINITION>", f"  <FOR>{_written(cpt.name)}</FOR>"]
        lines += [f"  <GIVEN>{_written(v.name)}</GIVEN>" for v in cpt.parents]
        rows = [" ".join(map(repr, row)) for row in cpt.p.reshape(-1, cpt.p.shape[-1]).tolist()]
        lines += ["  <TABLE>", *(f"    {row}" for row in rows), "  </TABLE>", "</DEFINITION>"]
    return _HEAD + "\n".join(lines) + "\n</NETWORK>\n</BIF>\n"


def _written(name: str) -> str:
    if name != name.strip() or not name or _NOT_XML.search(name):
        raise ParameterError(
            "XMLBIF cannot hold the name '{name}': blanks at its ends or characters outside XML; write BIF instead",
            name=name,
        )
    return escape(name)


def _elements(data: bytes) -> dict[str, list[_Element]]:
    """The VARIABLE and DEFINITION elements of a file, without building a tree."""
    elements: dict[str, list[_Element]] = {"VARIABLE": [], "DEFINITION": []}
    path: list[str] = []
    text: list[str] = []
    declared: list[str | None] = []
    parser = expat.ParserCreate()

    def entity(*_: object) -> None:
        raise ReadError(
            "line {line}: the file declares an entity, which no network needs; delete the declaration",
            line=parser.CurrentLineNumber,
        )

    def start(tag: str, _: Mapping[str, str]) -> None:
        path.append(tag.upper())
        text.clear()
        if path[-1] in elements:
            elements[path[-1]].append(_Element(parser.CurrentLineNumber, {}))

    def end(_: str) -> None:
        tag = path.pop()
        if path and path[-1] in elements:
            texts = elements[path[-1]][-1].texts.setdefault(tag, [])
            texts.append(("".join(text).strip(), parser.CurrentLineNumber))
        text.clear()

    parser.XmlDeclHandler = lambda _version, encoding, _standalone: declared.append(encoding)
    parser.EntityDeclHandler = entity
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text.append
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ReadError(
            "line {line}: this is no XML ({reason})", line=error.lineno, reason=expat.ErrorString(error.code)
        ) from None
    except ReadError:
        raise
    except (LookupError, ValueError):  # Python has no such encoding of text, or it takes several bytes a character
        raise ReadError(
            "line 1: the file declares the encoding '{encoding}', which is not read here; save it as UTF-8",
            encoding=str(declared[0])[:40] if declared else "",
        ) from None
    return elements


def _one(element: _Element, tag: str) -> str:
    texts = element.all(tag)
    if len(texts) != 1 or not texts[0]:
        raise ReadError("line {line}: one <{tag}> is due in this element", line=element.line, tag=tag)
    return texts[0]
