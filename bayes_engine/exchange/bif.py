"""Networks as BIF text, the Bayesian Interchange Format 0.15 of JavaBayes and the published benchmark networks.
pyAgrum's reader refuses a level of the published network child (`Asy/Patch`), and reads numbers as float32.

Read: comments, quoted names, commas and bars as blanks, `table` (the last variable runs fastest, the node slowest),
rows `(level, …) p, …;` and `default`; properties are passed over. Rows that miss 1 by up to 1 % are divided by their
sum. Written: names that are no BIF word are quoted, numbers are as long as they must be to come back the same.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import NamedTuple, NoReturn

from bayes_engine.errors import ReadError
from bayes_engine.exchange.tables import MAX_BYTES, Draft, assemble, probability, text_of, words
from bayes_engine.factors.network import Network

_TOKEN = re.compile(
    r"""(?P<blank>[\s,|]+|//[^\n]*|/\*.*?\*/)|"(?P<quoted>(?:[^"\\]++|\\.)*+)"|(?P<mark>[{}()\[\];])"""
    r"""|(?P<word>(?:(?!//|/\*)[^\s,|{}()\[\];"])+)""",
    re.DOTALL,
)
_KEYWORDS = {"network", "variable", "probability", "property", "type", "discrete", "default", "table"}
_PLAIN = re.compile(r"[^\s,|{}()\[\];\"/\\]+")
_PROPERTY = re.compile(r'(?:[^;"]++|"[^"]*+")*+;|[^;]*+;')


class _Token(NamedTuple):
    text: str
    line: int
    quoted: bool = False


def read_bif(source: bytes | str | Path, *, max_bytes: int = MAX_BYTES) -> Network:
    """The network in a BIF file: bytes, a path, or the text itself (a `str` with a brace in it).

    Raises ReadError, naming the line, where the text is no BIF or a table is not whole.

    >>> network = read_bif('''
    ... network weather {}
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... variable wet { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }
    ... probability ( wet | rain ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }
    ... ''')
    >>> network["wet"].p.tolist()
    [[0.9, 0.1], [0.2, 0.8]]
    """
    return _Reader(text_of(source, "{", max_bytes)).network()


def write_bif(network: Network, name: str = "unknown") -> str:
    """The network as BIF text; `read_bif` gives it back, its levels as words: True comes back as 'True'.

    Raises ParameterError where two levels of a node are the same word.

    >>> network = read_bif("variable rain { type discrete [ 2 ] { no, yes }; } probability ( rain ) { table 0.8 0.2; }")
    >>> print(write_bif(network))
    network unknown {
    }
    variable rain {
      type discrete [ 2 ] { no, yes };
    }
    probability ( rain ) {
      table 0.8, 0.2;
    }
    <BLANKLINE>
    """
    lines = [f"network {_written(name)} {{", "}"]
    for cpt in network.cpts:
        levels = ", ".join(map(_written, words(cpt.variable)))
        size = len(cpt.variable.levels)
        lines += [f"variable {_written(cpt.name)} {{", f"  type discrete [ {size} ] {{ {levels} }};", "}"]
    for cpt in network.cpts:
        above = ", ".join(_written(v.name) for v in cpt.parents)
        lines.append(f"probability ( {_written(cpt.name)}{' | ' if above else ''}{above} ) {{")
        for configuration in itertools.product(*(range(len(v.levels)) for v in cpt.parents)):
            where = ", ".join(_written(str(v.levels[i])) for v, i in zip(cpt.parents, configuration, strict=True))
            row = ", ".join(map(repr, cpt.p[configuration].tolist()))
            lines.append(f"  ({where}) {row};" if above else f"  table {row};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _written(name: str) -> str:
    if _PLAIN.fullmatch(name) and name not in _KEYWORDS:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class _Reader:
    """Recursive descent with one token of look-ahead."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.line = 1
        self.levels: dict[str, tuple[str, ...]] = {}
        self.drafts: dict[str, Draft] = {}
        self.next = self._token()

    def network(self) -> Network:
        while self.next is not None:
            match self._keyword("network", "variable", "probability", "property"):
                case "network":
                    self._network()
                case "variable":
                    self._variable()
                case "probability":
                    self._probability()
                case _:
                    self._property()
        return assemble(self.levels, self.drafts)

    # ------------------------------------------------------------------ statements

    def _network(self) -> None:
        while self.next is not None and (self.next.text != "{" or self.next.quoted):
            self._take()
        self._mark("{")
        while not self._ends("}"):
            self._keyword("property")
            self._property()

    def _variable(self) -> None:
        name = self._name()
        if name.text in self.levels:
            _fail("line {line}: the variable '{name}' is declared twice; keep one", name.line, name=name.text)
        levels: tuple[str, ...] = ()
        self._mark("{")
        while not self._ends("}"):
            if self._keyword("type", "property") == "property":
                self._property()
                continue
            self._keyword("discrete")
            self._mark("[")
            size = self._name()
            self._mark("]")
            self._mark("{")
            outcomes = []
            while not self._ends("}"):
                outcomes.append(self._name().text)
            self._mark(";")
            levels = tuple(outcomes)
            if size.text != str(len(levels)) or not levels or len(set(levels)) < len(levels):
                _fail(
                    "line {line}: the variable '{name}' declares [{size}] levels and lists {k} different ones; they "
                    "must agree",
                    size.line,
                    name=name.text,
                    size=size.text,
                    k=len(set(levels)),
                )
        if not levels:
            _fail("line {line}: '{name}' has no levels; add a 'type discrete' line", name.line, name=name.text)
        self.levels[name.text] = levels

    def _probability(self) -> None:
        self._mark("(")
        head = []
        while not self._ends(")"):
            head.append(self._name())
        if not head:
            _fail("line {line}: 'probability ( )' names no variable", self.line)
        name, *parents = head
        for word in head:
            if word.text not in self.levels:
                _fail(
                    "line {line}: the variable '{name}' is not declared; variables come before their tables",
                    word.line,
                    name=word.text,
                )
        if name.text in self.drafts:
            _fail("line {line}: '{name}' has two tables; keep one", name.line, name=name.text)
        draft = Draft(name.text, tuple(p.text for p in parents), self.levels, name.line)
        self._mark("{")
        while not self._ends("}"):
            if self.next is not None and self.next.text == "(" and not self.next.quoted:
                line = self._take().line
                given = []
                while not self._ends(")"):
                    given.append(self._name().text)
                draft.row(given, self._numbers(), line)
                continue
            line = self.line
            match self._keyword("table", "default", "property"):
                case "table":
                    draft.table(self._numbers(), line, node_first=True)
                case "default":
                    draft.default(self._numbers(), line)
                case _:
                    self._property()
        self.drafts[name.text] = draft

    def _numbers(self) -> list[float]:
        numbers = []
        while not self._ends(";"):
            word = self._name()
            numbers.append(probability(word.text, word.line))
        return numbers

    # ------------------------------------------------------------------ tokens

    def _token(self) -> _Token | None:
        while self.position < len(self.text):
            match = _TOKEN.match(self.text, self.position)
            line = self.line
            if match is None:
                _fail("line {line}: a quotation mark or a comment is opened here and never closed", line)
            self.position = match.end()
            self.line += match[0].count("\n")
            if match["quoted"] is not None:
                return _Token(re.sub(r'\\(["\\])', r"\1", match["quoted"]), line, quoted=True)
            if match["blank"] is None:
                return _Token(match[0], line)
        return None

    def _take(self) -> _Token:
        token = self.next
        if token is None:
            _fail("line {line}: the file ends in the middle of a statement; is it cut off?", self.line)
        self.next = self._token()
        return token

    def _ends(self, mark: str) -> bool:
        if self.next is not None and (self.next.text != mark or self.next.quoted):
            return False
        self._mark(mark)
        return True

    def _mark(self, mark: str) -> None:
        token = self._take()
        if token.text != mark or token.quoted:
            _fail("line {line}: '{found}' stands where '{mark}' is due", token.line, found=token.text, mark=mark)

    def _name(self) -> _Token:
        token = self._take()
        if not token.quoted and token.text in "{}()[];":
            _fail("line {line}: '{found}' stands where a name or a number is due", token.line, found=token.text)
        return token

    def _keyword(self, *known: str) -> str:
        """One of these words, taken; before `property` nothing beyond the word is read, for its text is free."""
        token = self.next
        if token is None or token.quoted or token.text not in known:
            taken = self._take()
            _fail(
                "line {line}: '{found}' stands where one of these words is due: {known}",
                taken.line,
                found=taken.text,
                known=", ".join(known),
            )
        if token.text != "property":
            self._take()
        return token.text

    def _property(self) -> None:
        match = _PROPERTY.match(self.text, self.position)
        if match is None:
            _fail("line {line}: a property has no ';' at its end", self.line)
        self.position = match.end()
        self.line += match[0].count("\n")
        self.next = self._token()


def _fail(template: str, line: int, **params: object) -> NoReturn:
    raise ReadError(template, line=line, **params)
