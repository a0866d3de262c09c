"""Work on all rows of a large file that is not at its end: what was asked is noted beside what it has counted or
written, so that a program that was ended in the middle offers to go on with it when it is started again.

A note is a small file of JSON in the user's own cache; what it says is checked as if a stranger had written it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from bayes_engine.errors import BayesEngineError
from bayes_engine.scale.block import Reached
from bayes_engine.store.container import write_file
from bayes_engine.store.statistics import load_partial, load_passes
from bayes_engine.workbench.incoming.large_file import Stamp, stamp_of

ENDING = ".work.json"
WHAT = ("fit", "judge", "classify")
LONGEST = 100_000
"""Bytes of a note."""


class Unfinished(NamedTuple):
    """What was asked: to fit, judge or classify (`what`) all `rows` of the files of a `stamp`, called `file`, by the
    model and the losses of a `state` (as a link has it) on the table that is the sample of `drawn` rows with this
    `seed` of the files of `sampled`; where the `answer` goes, if any; and the `name` of the note."""

    name: str
    what: str
    file: str
    rows: int
    stamp: Stamp
    sampled: Stamp
    drawn: int
    seed: int
    state: str
    answer: str = ""

    @property
    def is_as_it_was(self) -> bool:
        """Whether all files are still as they were."""
        each = (*self.stamp, *self.sampled)
        return stamp_of([Path(path) for path, _size, _when in each]) == each


def remember(work: Unfinished, within: Path) -> None:
    """Note what is begun; where nothing can be written it is not."""
    with suppress(BayesEngineError, OSError):
        within.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(within / f"{work.name}{ENDING}", json.dumps(work._asdict()).encode())


def notes(within: Path) -> list[Unfinished]:
    """What is noted, the latest first; what is no note of ours is passed over."""
    try:
        entries = sorted(within.glob(f"*{ENDING}"), key=lambda file: -file.stat().st_mtime_ns)
    except OSError:
        return []
    return [work for file in entries if (work := _read(file)) is not None]


def _read(file: Path) -> Unfinished | None:
    try:
        if file.stat().st_size > LONGEST:
            return None
        values = json.loads(file.read_bytes())
        values["stamp"], values["sampled"] = (_stamp(values[name]) for name in ("stamp", "sampled"))
        work = Unfinished(**values)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    texts = (work.what, work.file, work.state, work.answer)
    numbers = (work.rows, work.drawn, work.seed)
    sound = all(type(t) is str for t in texts) and all(type(n) is int and 0 <= n < 2**63 for n in numbers)
    return work if sound and work.what in WHAT and f"{work.name}{ENDING}" == file.name and work.stamp else None


def _stamp(values: Sequence[tuple[str, int, int]]) -> Stamp:
    entries = tuple((path, size, changed) for path, size, changed in values)
    if not all(type(p) is str and type(s) is int and type(c) is int for p, s, c in entries):
        raise ValueError
    return entries


def forget(name: str, within: Path) -> None:
    """It is done, or not wanted any more: the note goes, and what was counted, also what a program that was killed had
    written of it by half."""
    with suppress(OSError):
        (within / f"{name}{ENDING}").unlink(missing_ok=True)
        for part in (*parts_of(within / name), *within.glob(f".{name}*.part")):
            part.unlink(missing_ok=True)


def parts_of(part: Path) -> list[Path]:
    """The files of the passes of one count, the latest last."""
    with suppress(OSError):
        entries = [file for file in part.parent.glob(f"{part.name}*") if not file.name.endswith((ENDING, KEPT_MODEL))]
        return sorted(entries, key=lambda file: file.stat().st_mtime_ns)
    return []


KEPT_MODEL = ".model.bayes"
"""The ending of a model of all rows that is kept."""


def answers_in(place: str, name: str) -> Path:
    """The folder of answers that are not whole, beside the file that they become."""
    whole = Path(place)
    return whole.with_name(f".{whole.name}.{name[:8]}.part")


def forget_answers(work: Unfinished) -> None:
    """What was written of them goes."""
    rmtree(answers_in(work.answer, work.name), ignore_errors=True)


def rows_kept(work: Unfinished, within: Path) -> int:
    """How many rows the pass under way has counted, or how many answers are written; 0 where that cannot be read."""
    files = [answers_in(work.answer, work.name) / "state"] if work.what == "classify" else parts_of(within / work.name)
    for file in reversed(files[-1:]):
        with suppress(BayesEngineError, OSError):
            return sum(node.rows for node in load_partial(file).nodes)
        with suppress(BayesEngineError, OSError, ValueError, TypeError, IndexError):
            return Reached.of(load_passes(file)[3][0]).total
    return 0
