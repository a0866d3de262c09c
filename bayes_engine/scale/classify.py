"""Files of more rows than memory holds, classified: read block by block, answered, and written in their order.

The answer stands beside its name until it is whole, so nothing half written is ever found under it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bayes_engine.decision.decision_boundaries import log_proba
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import Decision, LossMatrix, decide
from bayes_engine.errors import ParameterError, SchemaMismatch, StoreError, TableError
from bayes_engine.language import Message
from bayes_engine.ledger import STATUS_NAMES, Status
from bayes_engine.logspace import Array
from bayes_engine.scale.arrow import (
    CountPlan,
    arrow,
    as_read,
    cells_frame,
    frame_of,
    rows_before,
)
from bayes_engine.scale.block import Block, Reached
from bayes_engine.scale.collect import PathLike
from bayes_engine.scale.csv_blocks import Csv
from bayes_engine.scale.held_out import judging
from bayes_engine.scale.kept import digest_of
from bayes_engine.scale.memory import threads_of
from bayes_engine.scale.plan import refuse_other_sorts
from bayes_engine.scale.scan import Progress
from bayes_engine.scale.sources import Parquet, opened
from bayes_engine.scale.stream import Piece, Workers, in_turn, pieces_of, spread_out
from bayes_engine.scale.written import WRITERS, KeptAnswers, PartsBeside, csv_lines, part_name, unwritten
from bayes_engine.stats.partial import MergeTree
from bayes_engine.table.schema import Schema
from bayes_engine.table.write import free_names

FIRST = ("decision", "risk", "gap")
"""The columns of an answer before the posteriors."""


@dataclass(frozen=True)
class ClassifiedFiles:
    """What became of the rows: the `path` written, how many `rows` it has, how many of each decision in `actions`, and
    how many are `undecided`, for want of a posterior."""

    path: Path
    rows: int
    actions: Mapping[Any, int]
    undecided: int


def classify_files(
    model: Any,
    path_or_paths: PathLike | Iterable[PathLike],
    output: PathLike,
    *,
    loss: Any = None,
    prior_of_use: Mapping[Any, float] | None = None,
    keep: Sequence[str] | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8",
    progress: Callable[[Progress], object] | None = None,
    resume: PathLike | None = None,
    threads: int | None = None,
    client: Any = None,
) -> ClassifiedFiles:
    """The decisions of a fitted model on all rows of Parquet or CSV files, written to `output` (.parquet or .csv)
    beside what the rows hold: every row once, in the order of the files, in memory that does not grow with them.

    The columns of the answer are those of the app, under names that no column has: `decision`, `risk`, `gap` (by how
    much the runner-up costs more), `P(class)` for each class, `status`. A row without a posterior has no numbers, and
    its status says why. Cells of CSV are kept as they are written; in CSV that is written, text that a spreadsheet
    would run as a formula gets a leading apostrophe, as in the app.

    Parameters
    ----------
    loss : losses by decision and truth, as `LossMatrix.from_any` takes them; None is 0-1.
    prior_of_use : class frequencies where the rows come from, if they are not those of the model.
    keep : which columns of the files are written again; None keeps all, [] none.
    delimiter, encoding : of CSV that is read.
    progress, threads : as in `collect_parquet`.
    resume : a folder, made if it is not there, that keeps the answers until they are whole, each half minute and
        whatever ends the run; the same again goes on from there, and `output` is then, to the last bit, what one run
        writes. It goes when `output` is whole. Where a run was broken off, and where it took longer than half a minute,
        the answers are written once more as one file at the end.
    client : as in `collect_parquet`: the workers of its cluster answer the row groups of Parquet files, and `output` is
        a folder with a file for each, named so that their order is that of the rows. They must see the files, and where
        the folder will be, under the same absolute paths. Each file has its name when it is whole, and the folder when
        all are there, so a row group that is answered again, after a worker was lost, is written once.

    Raises, before a row is read, TableError or SchemaMismatch, naming the files, where one lacks a column of the model
    or holds another sort of cells in it; ReadError, naming file and row group, where a row group is damaged or a cell
    cannot be read; StoreError where the answer cannot be written. There is no file `output` then, or the one that was
    there before.

    >>> import pandas as pd, pathlib, tempfile
    >>> from bayes_engine import NaiveBayes, classify_files
    >>> model = NaiveBayes().fit(pd.DataFrame({"sound": ["dull", "crisp", "dull"]}), ["good", "bad", "good"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "melons.csv")
    ...     _ = file.write_text("no,sound\\n007,crisp\\n008,dull\\n")
    ...     done = classify_files(model, file, file.with_name("answers.csv"))
    ...     pd.read_csv(done.path, dtype=str)[["no", "decision", "status"]].values.tolist()
    [['007', 'bad', 'ok'], ['008', 'good', 'ok']]
    """
    check_is_fitted(model)
    learnt = judging(model)
    place = Path(output)
    if place.suffix not in WRITERS:
        raise ParameterError("'{path}' is to end in .parquet or .csv: so it is written", path=str(place))
    if not place.parent.is_dir():
        raise StoreError("there is no folder '{path}' to write to", path=str(place.parent))
    threads_of(threads, client)
    if client is not None and place.suffix != ".parquet":
        raise ParameterError(
            "'{path}' is to end in .parquet: with client= a folder of such files is written", path=str(place)
        )
    if client is not None and resume is not None:
        raise ParameterError("resume= is of this machine: with client= each file of the answers is written at once")
    if client is not None and place.exists():
        raise StoreError("there is a '{path}' already; name another folder for the answers", path=str(place))
    source = opened(path_or_paths, delimiter=delimiter, encoding=encoding, cells=True)
    if place.exists() and any(path.samefile(place) for path in source.paths):
        raise ParameterError("'{path}' is one of the files that are read; name another for the answer", path=str(place))
    classes = tuple(model.classes_.tolist())
    rule = LossMatrix.from_any(loss, classes)
    rule.units(None)
    schema = as_read(learnt.schema_)
    refuse_other_sorts(source, schema)
    kept = _kept(source, keep)
    every = tuple(dict.fromkeys((*kept, *schema.names)))
    plan = CountPlan(Schema(()), "", None, "columns", also=every)
    answer = BatchAnswer(
        model, schema, classes, rule, prior_of_use, kept, isinstance(source, Csv), place.suffix == ".csv"
    )
    if client is not None:
        work = AnswerApart(answer, _written_schema(source, answer))
        counts = _answered_apart(client, source, plan, work, place, progress)
        return _classified(place, rule, counts)
    workers = Workers(threads_of(threads, plan=plan, made=len(answer.names)), None, progress)
    if resume is not None:
        asked = (
            *(f"model={digest_of(model)}", f"loss={(rule.actions, rule.classes, rule.table.tolist())!r}"),
            f"prior of use={None if prior_of_use is None else [*prior_of_use.items()]!r}",
            *(f"columns={kept!r}", f"ending={place.suffix}", f"delimiter={delimiter}", f"encoding={encoding}"),
        )
        folder = Path(resume)
        with KeptAnswers(
            folder, place, _written_schema(source, answer), len(rule.actions), asked, source.sources
        ) as answers:

            def keep_too(part: AnsweredBatch) -> None:
                rows, piece = part.piece.batch.num_rows, part.piece
                try:
                    answers.add(part.rows, part.counts, Reached(*piece.block.place, piece.before + rows, rows))
                except (OSError, StoreError) as error:
                    where = place if folder.parent == place.parent else folder
                    raise unwritten(where, error, piece, kept=answers.state.exists()) from error

            in_turn(source, plan, answer.of, keep_too, workers, after=answers.reached)
            if not answers.names:
                answers.begin()
        return _classified(place, rule, answers.counts)
    counts = np.zeros(len(rule.actions) + 1, dtype=np.int64)
    with WRITERS[place.suffix](place, _written_schema(source, answer)) as writer:

        def take(part: AnsweredBatch) -> None:
            nonlocal counts
            counts = counts + part.counts
            try:
                writer.add(part.rows)
            except OSError as error:
                raise unwritten(place, error, part.piece) from error

        in_turn(source, plan, answer.of, take, workers)
    return _classified(place, rule, counts)


def _classified(place: Path, rule: LossMatrix, counts: NDArray[np.int64]) -> ClassifiedFiles:
    actions = dict(zip(rule.actions, counts.tolist(), strict=False))
    return ClassifiedFiles(place, int(counts.sum()), actions, int(counts[-1]))


def _answered_apart(
    client: Any,
    source: Parquet | Csv,
    plan: CountPlan,
    work: AnswerApart,
    place: Path,
    progress: Callable[[Progress], object] | None,
) -> NDArray[np.int64]:
    """How many rows have each decision, the rows being answered by the workers of a cluster."""
    blocks = [b for b in source.blocks(plan, MergeTree(), apart=True) if isinstance(b, Block) and b.rows]
    with PartsBeside(place.absolute()) as parts:
        counts = spread_out(client, source, blocks, partial(work, parts.folder), _sum_of_counts, progress, (1, 1))
        if counts is None:
            counts = np.zeros(len(work.answer.loss.actions) + 1, dtype=np.int64)
            with WRITERS[".parquet"](parts.folder / part_name((0, 0)), work.schema):
                pass
        parts.rows.update((part_name(block.place), block.rows) for block in blocks)
    return np.asarray(counts, dtype=np.int64)


def _sum_of_counts(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.asarray(np.sum(parts, axis=0), dtype=np.int64)


@dataclass(frozen=True)
class AnswerApart:
    """What a worker of a cluster does: answers a block by `answer`, in a file of its own of this Arrow `schema`."""

    answer: BatchAnswer
    schema: Any

    def __call__(self, folder: Path, block: Block) -> NDArray[np.int64]:
        counts = np.zeros(len(self.answer.loss.actions) + 1, dtype=np.int64)
        place = folder / part_name(block.place)
        with WRITERS[".parquet"](place, self.schema) as writer:
            for piece in pieces_of(block):
                part = self.answer.of(piece)
                counts = counts + part.counts
                try:
                    writer.add(part.rows)
                except OSError as error:
                    raise unwritten(place, error) from error
        return counts


def _kept(source: Parquet | Csv, keep: Sequence[str] | None) -> tuple[str, ...]:
    """The columns that are written again. Raises TableError where a file lacks one, SchemaMismatch where two files have
    another type in it."""
    kept = tuple(source.found[0]) if keep is None else tuple(dict.fromkeys(keep))
    for name in kept:
        first = next(((n, f[name]) for n, f in zip(source.names, source.found, strict=True) if name in f), None)
        for file, types in zip(source.names, source.found, strict=True):
            if first is None or name not in types:
                raise TableError(
                    "there is no column '{column}' in '{file}', and it is to be kept; keep others (keep=)",
                    column=name,
                    file=file,
                )
            if types[name] != first[1]:
                raise SchemaMismatch(
                    "column '{column}' is {one} in '{here}' and {two} in '{there}', and one file is written of both; "
                    "leave it out (keep=), or write each file by itself",
                    column=name,
                    one=str(first[1]),
                    here=first[0],
                    two=str(types[name]),
                    there=file,
                )
    return kept


class AnsweredBatch(NamedTuple):
    """A batch with its answers as it is to be written, how many rows have each decision, and the batch."""

    rows: Any
    counts: Any
    piece: Piece


@dataclass(frozen=True)
class BatchAnswer:
    """How a batch is answered: by which model, with which columns and `classes`, under which losses; which columns are
    `kept`; whether `cells` are read as they are written, and written as lines of CSV."""

    model: Any
    schema: Schema
    classes: tuple[Any, ...]
    loss: LossMatrix
    prior_of_use: Mapping[Any, float] | None
    kept: tuple[str, ...]
    cells: bool
    lines: bool

    @property
    def names(self) -> list[str]:
        """Of the columns of the answer."""
        return free_names([*FIRST, *(f"P({c})" for c in self.classes), "status"], set(self.kept))

    def of(self, piece: Piece) -> AnsweredBatch:
        """The rows and their answers."""
        pa = arrow()
        read = cells_frame if self.cells else frame_of
        frame = read(piece.batch, self.schema, piece.row)
        with rows_before(piece.row):
            decision, posterior = self._decided(frame)
        fine = decision.position >= 0
        actions = [str(a) for a in self.loss.actions]
        named = pa.DictionaryArray.from_arrays(
            pa.array(np.where(fine, decision.position, 0).astype(np.int32), mask=~fine), pa.array(actions, pa.string())
        )
        numbers = [decision.risk, decision.gap, *posterior.T]
        status = pa.DictionaryArray.from_arrays(
            pa.array(decision.status.astype(np.int32)), pa.array([STATUS_NAMES[s] for s in sorted(STATUS_NAMES)])
        )
        answers = [named.cast(pa.string()), *(pa.array(x, pa.float64(), mask=~fine) for x in numbers)]
        columns = {name: piece.batch.column(name) for name in self.kept}
        columns |= dict(zip(self.names, [*answers, status.cast(pa.string())], strict=True))
        counts = np.bincount(np.where(fine, decision.position, len(actions)), minlength=len(actions) + 1)
        return AnsweredBatch(csv_lines(columns) if self.lines else columns, counts, piece)

    def _decided(self, frame: pd.DataFrame) -> tuple[Decision, Array]:
        """The decisions, and (n, K) posteriors."""
        log_p = log_proba(self.model, frame)
        prior = np.array([[judging(self.model).prior_by_class[c] for c in self.classes]])
        n = len(frame)
        held = HeldOut(
            self.classes, log_p, prior, np.zeros(n, dtype=np.intp), np.ones(n), Message(""), None, np.zeros(n, np.intp)
        )
        posterior, status = held.posterior(self.prior_of_use)
        if (nowhere := np.flatnonzero(status != Status.OK)).size:
            status[nowhere] = _why(self.model, frame.iloc[nowhere])
        return decide(posterior, self.loss, status), posterior


def _why(model: Any, frame: pd.DataFrame) -> NDArray[np.int8]:
    """(n,) why rows have no posterior."""
    status = np.full(len(frame), Status.IMPOSSIBLE, dtype=np.int8)
    if hasattr(model, "explain"):
        explained = model.explain(frame).status
        status = np.where(explained == Status.OK, status, explained).astype(np.int8)
    return status


def _written_schema(source: Parquet | Csv, answer: BatchAnswer) -> Any:
    """The Arrow schema of the answer: kept columns of the type that they have in the files."""
    pa = arrow()
    fields = [(name, source.found[0][name]) for name in answer.kept]
    *numbers, status = answer.names[1:]
    fields += [(answer.names[0], pa.string()), *((n, pa.float64()) for n in numbers), (status, pa.string())]
    return pa.schema(fields)
