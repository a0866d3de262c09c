"""The QR code of an address as SVG, which every printed page carries: the very code that segno makes, in a tenth of its
time, because what depends on the size alone is kept. The checks are a product with a matrix over GF(256), the modules
are placed by one index (ISO/IEC 18004:2015, 7.4 to 7.7)."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, cycle, islice, product
from typing import Any, NamedTuple

import numpy as np
import segno
from numpy.typing import NDArray
from segno import consts

Bytes = NDArray[np.uint8]
_BLOCKS: dict[int, dict[int, tuple[Any, ...]]] = consts.ECC  # type: ignore[assignment]
LEVELS = {"l": consts.ERROR_LEVEL_L, "m": consts.ERROR_LEVEL_M, "q": consts.ERROR_LEVEL_Q, "h": consts.ERROR_LEVEL_H}
MASK, RIM = 3, 3
"""One mask is taken and no other tried: a screen and paper are read as well."""


def _products() -> Bytes:
    """(256, 256) of all elements of GF(2)[x] / (x⁸ + x⁴ + x³ + x² + 1)."""
    power, log = np.zeros(510, dtype=np.uint8), np.zeros(256, dtype=np.intp)
    value = 1
    for i in range(255):
        power[i] = power[i + 255] = value
        log[value] = i
        value = value << 1 ^ (0x11D if value & 128 else 0)
    table: Bytes = power[log[:, None] + log]
    table[0] = table[:, 0] = 0
    return table


_PRODUCT = _products()


class _Size(NamedTuple):
    """A version and a level of correction: how many data words each block has, (most, c) the check words of a 1 at each
    place of the longest, (n, n) the modules that are in every code, and (bits,) where the others are, and which of
    these the mask inverts."""

    data: tuple[int, ...]
    checks: Bytes
    modules: Bytes
    places: NDArray[np.intp]
    inverted: Bytes


def _free(n: int) -> NDArray[np.bool_]:
    """(n, n) which modules are no pattern and tell neither format nor version."""
    free, version = np.ones((n, n), dtype=bool), (n - 17) // 4
    free[:9, :9] = free[:9, -8:] = free[-8:, :9] = free[6] = free[:, 6] = False
    centres: tuple[int, ...] = consts.ALIGNMENT_POS[version - 2] if version > 1 else ()
    for i, j in product(centres, repeat=2):
        if sorted((i, j)) not in ([6, 6], [6, n - 7]):  # where there are no finder patterns
            free[i - 2 : i + 3, j - 2 : j + 3] = False
    if version > 6:
        free[:6, -11:-8] = free[-11:-8, :6] = False
    return free


@lru_cache(maxsize=16)
def _size(version: int, level: str) -> _Size:
    blocks = _BLOCKS[version][LEVELS[level]]
    data = tuple(block.num_data for block in blocks for _ in range(block.num_blocks))
    generator = np.array([1], dtype=np.uint8)  # ∏ (x − 2ⁱ), the highest power first
    root = 1
    for _ in range(blocks[0].num_total - blocks[0].num_data):
        generator = np.append(generator, np.uint8(0)) ^ np.append(np.uint8(0), _PRODUCT[generator, root])
        root = int(_PRODUCT[root, 2])
    rest = [generator[1:]]
    for _ in range(max(data) - 1):  # of one power of x more
        rest.append(np.append(rest[-1][1:], np.uint8(0)) ^ _PRODUCT[rest[-1][0], generator[1:]])
    some = segno.make("a", version=version, error=level, mask=MASK, micro=False, boost_error=False)
    modules = np.array([list(line) for line in some.matrix], dtype=np.uint8)
    n, free, places = len(modules), _free(len(modules)), list[tuple[int, int]]()
    for turn, right in enumerate((*range(n - 1, 6, -2), 5, 3, 1)):  # pairs of columns, upwards and downwards
        for i in range(n - 1, -1, -1) if turn % 2 == 0 else range(n):
            places += [(i, j) for j in (right, right - 1) if free[i, j]]
    row, column = np.array(places).T
    inverted = ((row + column) % 3 == 0).astype(np.uint8)
    return _Size(data, np.array(rest[::-1]), modules, row * n + column, inverted)


def _fitting(n: int) -> tuple[int, str, int] | None:
    """The smallest version that holds so many bytes, its strongest level that does, and the bits of their number."""
    for version in range(1, 41):
        bits = 8 if version < 10 else 16
        for level in reversed(LEVELS):
            held = sum(block.num_blocks * block.num_data for block in _BLOCKS[version][LEVELS[level]])
            if 4 + bits + 8 * n <= 8 * held:
                return version, level, bits
    return None


def modules(address: str) -> Bytes | None:
    """(n, n) the modules of the code of an address in UTF-8, dark ones 1; None where it is too long for one.

    >>> modules("http://localhost:8501/decisions").shape
    (25, 25)
    """
    text = address.encode()
    if (fitting := _fitting(len(text))) is None:
        return None
    version, level, bits = fitting
    size = _size(version, level)
    words = bytes.fromhex(f"4{len(text):0{bits // 4}x}{text.hex()}0")  # bytes are of kind 4; four bits end them
    words += bytes(islice(chain(b"\0", cycle(b"\xec\x11")), sum(size.data) - len(words)))  # the zeros are segno's way
    most, start = max(size.data), 0
    data, checks = np.zeros((len(size.data), most), np.uint8), []
    for k, n in enumerate(size.data):
        data[k, :n] = block = np.frombuffer(words, np.uint8, n, start)
        checks.append(np.bitwise_xor.reduce(_PRODUCT[block[:, None], size.checks[-n:]], axis=0))
        start += n
    there = np.arange(most) < np.array(size.data)[:, None]
    stream = np.concatenate(
        [data.T[there.T], np.array(checks).T.ravel()]
    )  # the first words of all blocks, the second …
    filled, bit = size.modules.copy(), np.zeros(len(size.places), np.uint8)
    bit[: 8 * len(stream)] = np.unpackbits(stream)
    filled.ravel()[size.places] = bit ^ size.inverted
    return filled


@lru_cache(maxsize=64)
def qr_drawn(address: str) -> str:
    """The QR code of an address as SVG, black on white with its rim; "" where it is too long for one."""
    if (dark := modules(address)) is None:
        return ""
    edges = np.diff(np.pad(dark, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    row, begin = np.nonzero(edges == 1)
    end = np.nonzero(edges == -1)[1]
    right, down = np.diff(begin, prepend=0), np.diff(row, prepend=0)
    right[1:] -= (end - begin)[:-1]  # from where the last line ended
    lines = "m".join(
        f"{x} {y}h{n}" for x, y, n in zip(right.tolist(), down.tolist(), (end - begin).tolist(), strict=True)
    )
    side = len(dark) + 2 * RIM
    path = f"M{RIM} {RIM}.5m{lines}".replace(f"M{RIM} {RIM}.5m0 0h", f"M{RIM} {RIM}.5h", 1)
    return f'<svg viewBox="0 0 {side} {side}" class="segno"><path class="qrline" stroke="#000" d="{path}"/></svg>'
