"""What all formats share: a table filled from a file part by part, its faults named with the line they stand in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bayes_engine.errors import ParameterError, ReadError
from bayes_engine.factors.network import CPT, Network
from bayes_engine.table.decode import load
from bayes_engine.table.schema import Variable

MAX_BYTES = 20_000_000
"""A file that is larger, packed or unpacked, is refused."""
MOST_TABLE = 5_000_000
"""Cells that the table of one node may have."""


def text_of(source: bytes | str | Path, mark: str, max_bytes: int) -> str:
    """The text of a file, gzipped or not, or `source` itself where it is text: a `str` that holds `mark`.

    Raises ReadError where it is no UTF-8, or more than `max_bytes`.

    >>> text_of("node,level,p\\n", "\\n", MAX_BYTES)
    'node,level,p\\n'
    """
    if isinstance(source, str) and mark in source:
        source = source.encode("utf-8", "surrogatepass")
    data = load(source, max_bytes)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError("the file is not UTF-8 text (byte {at}); save it in that encoding", at=error.start) from None


def words(variable: Variable) -> tuple[str, ...]:
    """The levels as a file holds them. Raises ParameterError where two are the same word, as 1 and '1' are.

    >>> words(Variable("rain", "categorical", (False, True)))
    ('False', 'True')
    """
    texts = tuple(map(str, variable.levels))
    if len(set(texts)) < len(texts):
        raise ParameterError(
            "two levels of '{name}' are the same word in a file ({levels}); rename one",
            name=variable.name,
            levels=", ".join(texts),
        )
    return texts


def probability(word: str, line: int) -> float:
    """A number of a table. Raises ReadError, naming the line, where it is none of 0 and more."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not 0.0 <= value < math.inf:
        raise ReadError("line {line}: '{word}' is no probability", line=line, word=word)
    return value


class Draft:
    """The table of one node as a file gives it, in parts."""

    def __init__(self, name: str, parents: tuple[str, ...], levels: Mapping[str, tuple[str, ...]], line: int) -> None:
        self.name, self.parents, self.levels, self.line = name, parents, levels, line
        self.shape = tuple(len(levels[v]) for v in (*parents, name))
        cells = math.prod(self.shape)
        if cells > MOST_TABLE:
            raise ReadError(
                "line {line}: the table of '{name}' would have {cells} cells; {most} are allowed",
                line=line,
                name=name,
                cells=cells,
                most=MOST_TABLE,
            )
        if len({name, *parents}) <= len(parents):
            raise ReadError("line {line}: a name stands twice over the table of '{name}'", line=line, name=name)
        self.p = np.full(self.shape, np.nan)
        self.lines = np.full(self.shape[:-1], line)  # where each row stands
        self.other: np.ndarray | None = None

    def table(self, values: Sequence[float], line: int, *, node_first: bool) -> None:
        """All numbers at once, the last axis fastest; `node_first`: the node's own axis is the slowest."""
        self._count(values, self.p.size, line)
        self._new(bool(np.isnan(self.p).all()), line)
        given = np.array(values)
        self.p = np.moveaxis(given.reshape(self.shape[-1:] + self.shape[:-1]), 0, -1) if node_first else given
        self.p = self.p.reshape(self.shape)
        self.lines = np.full(self.shape[:-1], line)

    def row(self, given: Sequence[str], values: Sequence[float], line: int) -> None:
        """The distribution for one combination of the parents' levels, in their order."""
        if len(given) != len(self.parents):
            raise ReadError(
                "line {line}: the row of '{name}' gives {found} levels for {wanted} parents",
                line=line,
                name=self.name,
                found=len(given),
                wanted=len(self.parents),
            )
        for parent, level in zip(self.parents, given, strict=True):
            if level not in self.levels[parent]:
                raise ReadError(
                    "line {line}: '{level}' is no level of '{name}'; its levels are {known}",
                    line=line,
                    level=level,
                    name=parent,
                    known=", ".join(f"'{v}'" for v in self.levels[parent]),
                )
        self._count(values, self.shape[-1], line)
        configuration = tuple(
            self.levels[parent].index(level) for parent, level in zip(self.parents, given, strict=True)
        )
        self._new(bool(np.isnan(self.p[configuration]).all()), line)
        self.p[configuration] = values
        self.lines[configuration] = line

    def default(self, values: Sequence[float], line: int) -> None:
        """The distribution of all rows that are not given."""
        self._count(values, self.shape[-1], line)
        self._new(self.other is None, line)
        self.other = np.array(values)

    def cpt(self) -> CPT:
        """Raises ReadError where a row is missing or is no distribution."""
        missing = np.isnan(self.p[..., 0])
        if missing.any() and self.other is None:
            raise ReadError(
                "line {line}: the table of '{name}' lacks {k} row(s), the first {row}",
                line=self.line,
                name=self.name,
                k=int(missing.sum()),
                row=self._row(missing),
            )
        self.p[missing] = self.other
        off = np.abs(self.p.sum(axis=-1) - 1.0) > 0.01
        if off.any():
            configuration = tuple(int(i) for i in np.argwhere(off)[0])
            raise ReadError(
                "line {line}: {row} sums to {total:.9g}, not 1",
                line=int(self.lines[configuration]),
                row=self._row(off),
                total=float(self.p[configuration].sum()),
            )
        variable, *parents = (
            Variable(v, "categorical", self.levels[v], declared=True) for v in (self.name, *self.parents)
        )
        return CPT.normalized(variable, parents, self.p)

    def _row(self, where: np.ndarray) -> str:
        """The first row that is true, in words."""
        configuration = np.argwhere(where)[0]
        given = ", ".join(f"{v} = {self.levels[v][i]}" for v, i in zip(self.parents, configuration, strict=True))
        return f"P({self.name} | {given})" if given else f"P({self.name})"

    def _count(self, values: Sequence[float], wanted: int, line: int) -> None:
        if len(values) != wanted:
            raise ReadError(
                "line {line}: the table of '{name}' needs {wanted} numbers here and has {found}",
                line=line,
                name=self.name,
                wanted=wanted,
                found=len(values),
            )

    def _new(self, fresh: bool, line: int) -> None:
        if not fresh:
            raise ReadError("line {line}: numbers of '{name}' that were given before", line=line, name=self.name)


def assemble(levels: Mapping[str, tuple[str, ...]], drafts: Mapping[str, Draft]) -> Network:
    """The network of the variables in their order. Raises ReadError where one has no table, or arcs close a cycle."""
    if not levels:
        raise ReadError("the file declares no variable")
    without = [name for name in levels if name not in drafts]
    if without:
        raise ReadError("the variable '{name}' has no table; add its probabilities", name=without[0])
    cpts = [drafts[name].cpt() for name in levels]
    try:
        return Network(cpts)
    except ParameterError as error:  # a cycle
        raise ReadError("the file holds no network: {reason}", reason=error.message) from None
