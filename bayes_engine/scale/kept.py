"""What a pass has found so far, in a file, so that it goes on from there where it was called off or broken off."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.errors import StoreError
from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.scale.block import Reached
from bayes_engine.stats.collect import SufficientStatistics
from bayes_engine.stats.partial import PartialSource
from bayes_engine.store import save_model
from bayes_engine.store.statistics import load_passes, packed_passes, save_passes

SAVED_EACH = 2.0
"""Seconds between two savings, at the least."""
COST = 20.0
"""So many times what the last saving took passes before the next: they are a twentieth of the work at the most."""


class Pace:
    """When it is time to save again: after `each` seconds, and more where saving takes long."""

    def __init__(self, each: float | None = None) -> None:
        self.each = SAVED_EACH if each is None else each
        self._due = monotonic() + self.each

    @property
    def is_due(self) -> bool:
        return monotonic() >= self._due

    def saved(self, save: Callable[[], object]) -> None:
        """Save now."""
        began = monotonic()
        save()
        now = monotonic()
        self._due = now + max(self.each, COST * (now - began))


class At(NamedTuple):
    """How far a count is, in words: so many `rows`, up to a row group or block (None: the end) of a `file`."""

    rows: int
    file: str
    number: int | None

    @property
    def said(self) -> Message:
        """As a part of a sentence."""
        values = {"rows": f"{self.rows:,}", "file": self.file}
        if self.number is None:
            return Message("after {rows} rows, at the end of '{file}'", values)
        return Message("after {rows} rows, at '{file}', row group or block {number}", {**values, "number": self.number})


def refused_to_keep(place: Path, error: StoreError, here: Message, *, passes: bool = False) -> StoreError:
    """What is said where what is counted cannot be kept at `place`, having come as far as `here`; what was kept before,
    of this pass or of `passes`, stays."""
    before = (
        Message("what the passes before it found is kept, and the same again goes on from there")
        if passes
        else Message("what was kept before stays, and the same again goes on from there")
    )
    nothing = Message("nothing is kept yet: make room, or keep it elsewhere")
    return StoreError(
        "'{path}' cannot be written: {reason}, {here}; {before}",
        path=str(place),
        reason=error.message.params.get("reason", error.message),
        here=here,
        before=before if place.exists() else nothing,
    )


class SumSoFar(NamedTuple):
    """How far a sum is (`Reached`), and its parts as bytes: of the whole files and of the whole blocks of the file
    under way, by levels, each with how many are in it; and of the batches of the block under way."""

    reached: Reached
    files: tuple[tuple[int, bytes | None], ...]
    blocks: tuple[tuple[int, bytes | None], ...]
    block: bytes | None


class KeptSum:
    """The file of the sum of one pass. `asked` is what is summed up, as «name=value», and `sources` the files.

    Raises StoreError where there is no such folder, and where the file holds another sum, or one of other files.
    """

    def __init__(self, place: Path, asked: Sequence[str], sources: tuple[PartialSource, ...]) -> None:
        self.place, self.asked, self.sources = place, tuple(asked), sources
        self.pace = Pace()

    def taken_up(self) -> SumSoFar | None:
        """What a run before this one kept; None of nothing."""
        passes = taken_up(self.place, self.asked)
        if passes is None:
            return None
        try:
            reached, files, blocks, (block,) = passes.parts
            so_far = SumSoFar(Reached.of(reached), _read(files), _read(blocks), _bytes(block))
        except (TypeError, ValueError) as error:
            raise StoreError("'{path}' holds no unfinished count", path=str(self.place)) from error
        if not passes.is_of(so_far.reached, self.sources):
            raise StoreError(
                "'{path}' holds a count of files that have changed since, or of others; begin a new file",
                path=str(self.place),
            )
        return so_far

    def save(self, so_far: SumSoFar) -> None:
        """Keep it, whole or not at all."""
        levels = [tuple(x for n, part in level for x in (n, _array(part))) for level in (so_far.files, so_far.blocks)]
        parts = [tuple(so_far.reached), *levels, (_array(so_far.block),)]
        try:
            save_passes(self.asked, 0, self.sources, parts, self.place)
        except StoreError as error:
            reached, last = so_far.reached, len(self.sources) - 1
            name = self.sources[min(reached.file, last)].name if self.sources else ""
            number = reached.block + 1 if reached.file <= last else None
            raise refused_to_keep(self.place, error, At(reached.total, name, number).said) from error


class Found(NamedTuple):
    """What a file holds: its parts, and of which files they are."""

    parts: tuple[Any, ...]
    sources: tuple[PartialSource, ...]
    seed: int

    def is_of(self, reached: Reached, now: Sequence[PartialSource]) -> bool:
        """Whether the files that were read, or begun, are as they were. Others may have come."""
        of = min(reached.file + bool(reached.block or reached.rows), len(self.sources))
        return tuple(self.sources[:of]) == tuple(now[:of])


def taken_up(place: Path, asked: tuple[str, ...]) -> Found | None:
    """What the file at `place` holds; None where there is none. Raises StoreError where it holds what was asked
    otherwise."""
    if not place.parent.is_dir():
        raise StoreError("there is no folder '{path}' to write to", path=str(place.parent))
    if not place.exists():
        return None
    then, seed, sources, parts = load_passes(place)
    if then != asked:
        other = next((b for a, b in zip(then, asked, strict=False) if a != b), "question=")
        raise StoreError(
            "'{path}' holds a count with another {what}; ask as then, or begin a new file",
            path=str(place),
            what=other.split("=")[0],
        )
    return Found(parts, sources, seed)


def digest_of(*models: Any) -> str:
    """What stands for fitted models: the SHA-256 of their files."""
    whole = hashlib.sha256()
    for model in models:
        whole.update(hashlib.sha256(save_model(model) or b"").digest())
    return whole.hexdigest()


def digest_of_statistics(parts: Sequence[SufficientStatistics]) -> str:
    """What stands for statistics: the SHA-256 of their file."""
    return hashlib.sha256(packed_passes((), 0, (), (tuple(parts),))).hexdigest()


def _array(part: bytes | None) -> Array | None:
    return None if part is None else np.frombuffer(part, dtype=np.uint8)


def _bytes(part: Any) -> bytes | None:
    return None if part is None else bytes(part.astype(np.uint8, casting="no").tobytes())


def _read(level: tuple[Any, ...]) -> tuple[tuple[int, bytes | None], ...]:
    return tuple((int(n), _bytes(part)) for n, part in zip(level[::2], level[1::2], strict=True))
