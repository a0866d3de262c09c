"""What holds of each byte of a text, as bits: 64 bytes in a word. A text of delimited cells is looked at by a few calls
for many bytes, and what is asked of neighbours costs an eighth of what it does of bytes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_NO_TEXT = 0xFF
"""A byte that UTF-8 has nowhere."""

Bits = NDArray[np.uint64]
"""(n / 64,) what holds of each of n bytes in a row, the first of a word in its lowest bit."""


class ByteBlock:
    """Some bytes in a row, and which of them are what is asked for; beyond their end there are bytes that no text
    has."""

    def __init__(self, most: int) -> None:
        self._padded, self._found = np.zeros(most, np.uint8), np.empty(most, bool)
        self._less = self._found.view(np.uint8)  # what is found of a byte may take its place
        self._block = self._padded

    def at(self, block: NDArray[np.uint8]) -> None:
        """Look at these bytes, which are as many as it looks at together, or the last."""
        self._block = block
        if len(block) < len(self._padded):
            self._padded[: len(block)], self._padded[len(block) :] = block, _NO_TEXT
            self._block = self._padded

    def over(self) -> Bits | None:
        """Where the bytes are over; None where they may not be."""
        return None if self._block is not self._padded else self.is_(_NO_TEXT)

    def _packed(self) -> Bits:
        return np.packbits(self._found, bitorder="little").view("<u8")

    def is_(self, byte: int) -> Bits:
        """Where this byte is."""
        np.equal(self._block, np.uint8(byte), out=self._found)
        return self._packed()

    def below(self, byte: int) -> Bits:
        """Where a byte is less than this."""
        np.less(self._block, np.uint8(byte), out=self._found)
        return self._packed()

    def digit(self) -> Bits:
        """Where a digit is."""
        np.less(np.subtract(self._block, np.uint8(ord("0")), out=self._less), np.uint8(10), out=self._found)
        return self._packed()

    def e(self) -> Bits:
        """Where an e or E is."""
        np.equal(np.bitwise_or(self._block, np.uint8(32), out=self._less), np.uint8(ord("e")), out=self._found)
        return self._packed()


def count(bits: Bits) -> int:
    """Of how many bytes it holds."""
    return int(np.bitwise_count(bits).sum(dtype=np.int64))


def holds_at(bits: Bits, place: int) -> bool:
    """Whether it holds of the byte at this place."""
    return bool(bits[place // 64] >> np.uint64(place % 64) & np.uint64(1))


def of_previous(bits: Bits, before: bool = False) -> Bits:
    """Whether it held of the byte before each; `before` of the one before all.

    >>> of_previous(np.array([1 << 63 | 2, 1], dtype=np.uint64)).tolist()
    [4, 3]
    """
    shifted = bits << np.uint64(1)
    shifted[1:] |= bits[:-1] >> np.uint64(63)
    shifted[0] |= np.uint64(before)
    return shifted


def of_next(bits: Bits, beyond: bool = False) -> Bits:
    """Whether it holds of the byte after each; `beyond` of the one after all.

    >>> of_next(np.array([4, 3], dtype=np.uint64)).tolist() == [1 << 63 | 2, 1]
    True
    """
    shifted = bits >> np.uint64(1)
    shifted[:-1] |= bits[1:] << np.uint64(63)
    shifted[-1] |= np.uint64(beyond) << np.uint64(63)
    return shifted


def rank(bits: Bits, places: NDArray[np.intp]) -> NDArray[np.int64]:
    """Of how many bytes before these it holds."""
    each = np.bitwise_count(bits).astype(np.int64)
    word, within = places // 64, (np.uint64(1) << (places % 64).astype(np.uint64)) - np.uint64(1)
    return (np.cumsum(each) - each)[word] + np.bitwise_count(bits[word] & within)


def within_quotes(quote: Bits, within: bool) -> Bits:
    """For every byte whether, after it, a quoted cell goes on; `within` one before the first: the parity of all quotes
    up to each byte.

    >>> [bin(w) for w in within_quotes(np.array([0b11010], dtype=np.uint64), False).tolist()][0][-5:]
    '10110'
    """
    bits = quote.copy()
    for n in (1, 2, 4, 8, 16, 32):
        bits ^= bits << np.uint64(n)
    odd = np.bitwise_xor.accumulate(np.append(np.uint64(within), bits[:-1] >> np.uint64(63)))
    return bits ^ (np.uint64(0) - odd)  # all bits, where an odd number of quotes was before


def quotes_regular(quote: Bits, inside: Bits, apart: Bits, over: Bits | None) -> bool:
    """Whether every quote begins a cell, ends one, or is one of two within it; and no quoted cell is empty. (`inside`
    is the state after each byte, `over` what lies beyond the end of the text; what begins in the last bytes is seen in
    the next block.)"""
    opening, free = quote & inside, apart & ~inside
    closing, after = quote & ~inside, apart | quote
    if over is not None:
        after |= over
    if (opening & ~of_previous(free | closing, before=True)).any() or (closing & ~of_next(after, beyond=True)).any():
        return False
    both = opening & of_next(closing)
    return not (both.any() and (of_previous(free) & both & of_next(of_next(after & ~quote))).any())
