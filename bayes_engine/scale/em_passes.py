"""Passes over files whose number is not known before, kept as they end, so that what they are for goes on where it was
broken off: EM, one an E step, and structure search, one for what it asks to be counted.

Both are deterministic once their starts are, so a file needs to hold no more than what each pass found: taken up again,
what lies between is computed anew, and the first pass that is not in the file reads the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from secrets import randbits
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.em import generator
from bayes_engine.errors import ParameterError, StoreError, TableError
from bayes_engine.language import Message
from bayes_engine.models.gaussian_discriminant import one_thread
from bayes_engine.scale.arrow import CountPlan
from bayes_engine.scale.kept import KeptSum, refused_to_keep, taken_up
from bayes_engine.scale.memory import at_a_time, release
from bayes_engine.scale.sources import Source
from bayes_engine.scale.stream import Packing, Piece, Workers, added_up
from bayes_engine.store.statistics import load_passes, packed_passes, save_passes

Found = tuple[Any, ...]


def _packed(sums: Found) -> bytes:
    return packed_passes((), 0, (), (sums,))


def _unpacked(data: bytes) -> Found:
    return load_passes(data)[3][0]  # type: ignore[no-any-return]


PACKING = Packing(_packed, _unpacked)
"""Between processes the sums of a pass travel as the file of one pass."""


class Steps(NamedTuple):
    """How many passes there are at `most` from one start, after `before` others and before `after`."""

    most: int
    before: int = 0
    after: int = 0

    def at(self, now: int) -> tuple[int, int]:
        """Which pass of how many the one of this number is, from 1.

        >>> Steps(1, before=2, after=1).at(3)
        (5, 6)
        """
        return self.before + now, self.before + max(self.most, now) + self.after


class KeptPasses:
    """The passes that learning a `model` takes over files, as many as `steps` says. `resume` is the file that keeps
    what they found; what was `asked` besides is compared with what it holds. Where there is one pass alone, the
    `sum_of_pass` keeps it as far as it is. Raises StoreError where a file holds passes of another question, or of other
    files."""

    def __init__(
        self,
        model: Any,
        source: Source,
        plan: CountPlan,
        *,
        steps: Steps,
        workers: Workers,
        resume: Path | None,
        asked: tuple[str, ...] = (),
        sum_of_pass: KeptSum | None = None,
    ) -> None:
        self._packing = PACKING._replace(kept=sum_of_pass)
        self.source, self.plan, self.steps = source, plan, steps
        self.workers, self.resume = workers, resume
        self.done = 0
        self.asked = (*asked_of(model, plan), *asked)
        self.seed, self._found = randbits(62), list[Found]()
        if resume is not None:
            self._take_up(resume)

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs of it."""
        return {"plan": self.plan}

    def _take_up(self, place: Path) -> None:
        passes = taken_up(place, self.asked)
        if passes is None:
            return
        if passes.sources != self.source.sources:
            raise StoreError(
                "'{path}' holds a count of files that have changed since, or of others; begin a new file",
                path=str(place),
            )
        self.seed, self._found = passes.seed, list(passes.parts)

    def generator(self, random_state: Any) -> np.random.Generator:
        """Where the random starts come from: that of a fit in memory, or, where this one would not be the same when it
        is taken up again, one by the seed in the file."""
        fixed = isinstance(random_state, int | np.integer)
        return generator(random_state) if fixed or self.resume is None else np.random.default_rng(self.seed)

    @property
    def kept(self) -> bool:
        """Whether what the next pass finds is in the file."""
        return self.done < len(self._found)

    def run(
        self,
        work: Callable[..., Found],
        add: Callable[[Found, Found], Found],
        draw: Callable[[Piece], Any] | None = None,
        made: Callable[[Found], Found] | None = None,
        counts: float = 0.0,
    ) -> Found:
        """What the next pass finds: what `work` makes of each batch, summed by `add` in the order that files, row
        groups and batches alone fix, and what is `made` of it and kept. What is found of a batch has `counts`
        bytes. Raises TableError where the files have no row."""
        if not self.kept:
            step, packing = self.steps.at(self.done + 1), self._packing
            workers = self.workers._replace(threads=at_a_time(self.workers.threads, self.plan, counts))
            release()
            with one_thread():
                total = added_up(self.source, self.plan, work, add, workers, step=step, packing=packing, draw=draw)
            if total is None:
                raise TableError("there are no rows to count: the files are empty")
            release()
            self._found.append(total if made is None else made(total))
            if self.resume is not None:
                try:
                    save_passes(self.asked, self.seed, self.source.sources, self._found, self.resume)
                except StoreError as error:
                    ended = {"number": self.done + 1, "file": self.source.names[-1]}
                    here = Message("after pass {number}, at the end of '{file}'", ended)
                    raise refused_to_keep(self.resume, error, here, passes=True) from error
        sums = self._found[self.done]
        if self.resume is None:
            self._found[self.done] = ()
        self.done += 1
        return sums


def asked_of(model: Any, plan: CountPlan) -> tuple[str, ...]:
    """What a file of passes was made for: the model with its parameters, and the columns with their kinds."""
    parameters = {**model.get_params(deep=True), "schema": None}
    listed = ", ".join(f"{name}={_said(value)}" for name, value in sorted(parameters.items()))
    return (
        f"model={type(model).__name__}({listed})",
        f"target={plan.target}",
        f"weight={plan.weight}",
        f"schema={plan.schema!r}",
    )


def _said(value: Any) -> str:
    """A parameter by what it holds; arrays in full, generators by their kind."""
    if isinstance(value, np.ndarray):
        return repr(value.tolist())
    if isinstance(value, np.random.Generator | np.random.RandomState) or hasattr(value, "get_params"):
        return type(value).__name__
    return repr(value)


def refuse_cuts(columns: list[str]) -> None:
    """Raises ParameterError where EM would have to find cut points in files first."""
    if columns:
        raise ParameterError(
            "column '{column}' would be cut into intervals, and EM over files does not find the cut points: give them "
            "by schema= (cut_schema finds them in a pass of its own)",
            column=columns[0],
        )
