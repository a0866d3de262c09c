"""Which fold a row is in: by a hash of where it stands, or of its group; never of its content, or copies of a row would
share a fold."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.scale.arrow import arrow
from bayes_engine.scale.stream import Piece

Hashes = NDArray[np.uint64]


def mixed(values: Hashes) -> Hashes:
    """(n,) 64 bits in which every bit of the values has a say: the finalizer of SplitMix64 (Steele, Lea & Flood 2014).

    >>> mixed(np.array([0, 1], dtype=np.uint64)).tolist()
    [16294208416658607535, 10451216379200822465]
    """
    with np.errstate(over="ignore"):
        z = values + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def text_hash(text: str) -> int:
    """64 bits of a text, alike in every run and on every machine."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def place_hashes(piece: Piece, seed: int) -> Hashes:
    """(n,) of each row's file by name, its row group and its place there."""
    block = piece.block
    file = text_hash(f"{seed}\0{block.file}\0{block.number if block.of else 0}")
    first = piece.before if block.of else piece.row  # blocks of CSV are of our making: there it is the row of the file
    rows = np.arange(first, first + piece.batch.num_rows, dtype=np.uint64)
    return mixed(mixed(rows) ^ np.uint64(file))


def group_hashes(array: Any, seed: int) -> Hashes:
    """(n,) of each row's group, an Arrow column: 1 and 1.0 are one group, as are all cells without a value.

    >>> a, b = (group_hashes(arrow().array(cells), 0) for cells in ([1, 2, None], [2.0, 1.0, None]))
    >>> bool((a == b[[1, 0, 2]]).all()), len(set(a.tolist()))
    (True, 3)
    """
    pa = arrow()
    held = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    places = held.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    kind = held.dictionary.type
    if pa.types.is_integer(kind) and kind != pa.uint64():
        bits = held.dictionary.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)
        hashes = mixed(bits)
    else:
        hashes = np.array([_group_hash(v) for v in held.dictionary.to_pylist()], dtype=np.uint64)
    if held.dictionary.null_count:
        hashes[~held.dictionary.is_valid().to_numpy(zero_copy_only=False)] = _NO_GROUP
    every = np.append(hashes, np.uint64(_NO_GROUP))  # the last: of place −1
    return np.asarray(mixed(mixed(every) ^ np.uint64(text_hash(str(seed))))[places], dtype=np.uint64)


_NO_GROUP = np.uint64(text_hash("no group"))


def _group_hash(value: Any) -> int:
    if value is None or value != value:
        return int(_NO_GROUP)
    if isinstance(value, str):
        return text_hash(value)
    whole = not isinstance(value, bool) and -(2**63) <= value < 2**63 and value == int(value)
    if whole:
        return int(mixed(np.array([int(value)], dtype=np.int64).view(np.uint64))[0])
    return text_hash(repr(value))


def folds_of(hashes: Hashes, folds: int) -> NDArray[np.intp]:
    """(n,) the fold of each row, by its hash."""
    return (hashes % np.uint64(folds)).astype(np.intp)


def checked_folds(folds: object) -> int:
    """Raises ParameterError on less than two, or no whole number."""
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise ParameterError("folds={value}: take a whole number of 2 or more", value=repr(folds))
    return folds


class GroupSums:
    """Sums of weights and losses by group: what is drawn again, whole groups at a time, for the interval of a risk."""

    def __init__(self, hashes: Hashes, weight: Array, lost: Array) -> None:
        self.hashes, of = np.unique(hashes, return_inverse=True)
        self.weight: Array = np.bincount(of, weight, minlength=len(self.hashes)).astype(float)
        self.lost: Array = np.bincount(of, lost, minlength=len(self.hashes)).astype(float)

    def __add__(self, other: GroupSums) -> GroupSums:
        """Those of both."""
        pairs = zip((self.hashes, self.weight, self.lost), (other.hashes, other.weight, other.lost), strict=True)
        return GroupSums(*map(np.concatenate, pairs))  # type: ignore[arg-type]


class Division(NamedTuple):
    """How rows are divided: into how many `folds`, by the column of their `groups` or by where they stand, and the
    `seed` of the hash."""

    folds: int
    groups: str | None
    seed: int

    def hashes(self, piece: Piece) -> Hashes:
        """(n,) of the rows of a batch."""
        if self.groups is None:
            return place_hashes(piece, self.seed)
        return group_hashes(piece.batch.column(self.groups), self.seed)

    @property
    def scheme(self) -> Message:
        """What is done, in words."""
        if self.groups is None:
            return Message("{k} folds by a hash of file, row group and place", {"k": self.folds})
        return Message("{k} folds by a hash of '{column}'", {"k": self.folds, "column": self.groups})
