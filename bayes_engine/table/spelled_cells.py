"""The distinct spellings of a column of text, and its cells by their codes: what is found out of a spelling once is
spread over all cells that have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_AT_ONCE = 1 << 15
"""So many cells are looked at together, where an array for all of them would be eight times as large as their codes."""


class Spellings:
    """A column of text and what its cells spell, in the order in which they come. (n,) the codes of the cells, and how
    many have each, are only found out where they are asked for."""

    def __init__(self, column: pd.Series, spelled: list[str], codes: NDArray[np.integer] | None = None) -> None:
        self.column, self.spelled, self._codes = column, spelled, codes

    @cached_property
    def bare(self) -> list[str]:
        """The spellings without spaces around."""
        return [s.strip() for s in self.spelled]

    @property
    def codes(self) -> NDArray[np.integer]:
        if self._codes is None:
            self._codes = _coded(self.column)[0]
        return self._codes

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        return counts_of(self.codes, len(self.spelled))


class Frequencies(Mapping[str, int]):
    """How many cells have each of these spellings without spaces around, counted where one is first asked for.

    >>> frequencies = Frequencies(["a", "b"], spellings_of(pd.Series(["b", "a ", "a", "c"])))
    >>> dict(frequencies)
    {'a': 2, 'b': 1}
    """

    def __init__(self, cells: Iterable[str], texts: Spellings) -> None:
        self._cells, self._texts = dict.fromkeys(cells, 0), texts

    @cached_property
    def _counted(self) -> dict[str, int]:
        counted = self._cells.copy()
        for b, n in zip(self._texts.bare, self._texts.counts.tolist(), strict=True):
            if b in counted:
                counted[b] += n
        return counted

    def __getitem__(self, cell: str) -> int:
        return self._counted[cell]

    def __contains__(self, cell: object) -> bool:
        return cell in self._cells

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)


def spellings_of(column: pd.Series) -> Spellings:
    """The spellings of the cells of a column, with the codes, which are found out at the same time."""
    codes, spelled = _coded(column)
    return Spellings(column, spelled, codes)


def distinct_spellings(column: pd.Series) -> Spellings:
    """The spellings of the cells of a column of which the codes may not be needed."""
    if isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow":
        held = column.array.__arrow_array__()
        if not held.null_count:
            return Spellings(column, held.unique().to_pylist())
    return spellings_of(column)


def _coded(column: pd.Series) -> tuple[NDArray[np.integer], list[str]]:
    """(n,) the codes of the cells of a column, and what they spell."""
    if isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow":
        held = column.array.__arrow_array__()
        if not held.null_count:
            encoded = held.dictionary_encode().combine_chunks()
            return encoded.indices.to_numpy(), encoded.dictionary.to_pylist()
    own = np.asarray(column.array.codes) if isinstance(column.dtype, pd.CategoricalDtype) else None
    if own is None or not len(own) or own.min() < 0:
        codes, levels = pd.factorize(column)
        return codes, np.asarray(levels, dtype=object).tolist()
    spelled = column.cat.categories.tolist()
    n = len(own)
    first = _first(own, len(spelled))
    order = np.argsort(first, kind="stable")[: int((first < n).sum())]
    place = np.zeros(len(spelled), dtype=own.dtype)
    place[order] = np.arange(len(order))
    return mapped(place, own), [spelled[i] for i in order.tolist()]


def _first(codes: NDArray[np.integer], n_codes: int) -> NDArray[np.intp]:
    """(n_codes,) where each code comes first, or how many there are where it does not."""
    n = len(codes)
    if codes.dtype == np.int8:  # a byte each, which is found at once
        by_byte = codes.tobytes()
        places = np.array([by_byte.find(code) for code in range(n_codes)], dtype=np.intp)
        return np.where(places < 0, n, places)
    first = np.full(n_codes, n)
    for start in range(0, n, _AT_ONCE):
        block = codes[start : start + _AT_ONCE]
        met = np.full(n_codes, n)
        met[block[::-1]] = np.arange(start + len(block) - 1, start - 1, -1)  # the last that is assigned stays
        np.minimum(first, met, out=first)
        if first.max() < n:
            break
    return first


def mapped(table: NDArray[np.integer], codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """(n,) table[codes]."""
    if codes.dtype == np.int8 == table.dtype:
        by_byte = bytes(table.tolist()).ljust(256, b"\0")
        return np.frombuffer(codes.tobytes().translate(by_byte), dtype=np.int8)
    out = np.empty(len(codes), dtype=table.dtype)
    for start in range(0, len(codes), _AT_ONCE):
        out[start : start + _AT_ONCE] = table[codes[start : start + _AT_ONCE]]
    return out


def counts_of(codes: NDArray[np.integer], n: int) -> NDArray[np.intp]:
    """(n,) how many cells have each code."""
    counts = np.zeros(n, dtype=np.intp)
    for start in range(0, len(codes), max(_AT_ONCE, n)):
        counts += np.bincount(codes[start : start + max(_AT_ONCE, n)], minlength=n)
    return counts


def per_row(values: NDArray[Any], known: list[bool], codes: NDArray[np.integer]) -> NDArray[Any]:
    """Values of the known spellings → one for every cell, NaN (or NaT) where it is missing."""
    per_level = np.full(len(known), "NaT" if values.dtype.kind == "M" else np.nan, dtype=values.dtype)
    per_level[np.array(known)] = values
    per_row: NDArray[Any] = per_level[codes]
    return per_row


def spread(codes: NDArray[np.integer], known: list[bool]) -> NDArray[np.intp]:
    """For every cell that is not missing, the position of its spelling among the known ones."""
    place: NDArray[np.intp] = np.cumsum(known) - 1
    return np.asarray(place[codes[np.array(known)[codes]]])


def absent_among(texts: Spellings, known: list[bool]) -> dict[str, int]:
    """How many cells hold each of the spellings that are not known, but mean missing."""
    matches = [(i, b) for i, (b, there) in enumerate(zip(texts.bare, known, strict=True)) if not there]
    counts = texts.counts if matches else ()
    absent: dict[str, int] = {}
    for i, token in matches:
        absent[token] = absent.get(token, 0) + int(counts[i])
    return absent


def without_spaces(texts: Spellings) -> Spellings | None:
    """The same without the spaces around cells, where levels differ in nothing else; None where none do, or where
    hardly a cell comes twice, as in texts."""
    different = len(set(texts.bare))
    if different == len(texts.spelled) or 2 * different > len(texts.codes):
        return None
    place = {b: i for i, b in enumerate(dict.fromkeys(texts.bare))}
    codes = mapped(np.array([place[b] for b in texts.bare], dtype=texts.codes.dtype), texts.codes)
    return Spellings(texts.column, list(place), codes)
