"""A file on this computer that is larger than an upload may be: where it may lie, how its CSV is written, and a sample
of its rows as a file of its own, which says what it was drawn from; and models of all its rows.

What takes long tells whoever watches (`bayes_engine.progress`) how far all its passes are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError, ReadError
from bayes_engine.progress import tick, watching
from bayes_engine.scale.arrow import arrow
from bayes_engine.scale.classify import ClassifiedFiles, classify_files
from bayes_engine.scale.files import PACKED
from bayes_engine.scale.fit import fit_files
from bayes_engine.scale.held_out import held_out_risk
from bayes_engine.scale.sample import sample_files
from bayes_engine.scale.scan import Progress
from bayes_engine.scale.score import RiskInFiles
from bayes_engine.scale.sources import opened
from bayes_engine.table.read import read_table
from bayes_engine.table.schema import Schema

HEAD = 2**18
"""Bytes at the beginning of a CSV from which is read how it is written."""
MOST_CELLS = 4_000_000
"""Cells that a sample has at most."""
MARK = b"bayes_workbench.sample"
"""The key under which a Parquet file says that it is a sample."""
STEM = 200
"""Bytes of a file's name that the name of its answers begins with: file systems take 255."""
LONGEST = 300


class CsvForm(NamedTuple):
    """How a CSV is written; of Parquet nothing is said."""

    delimiter: str = ","
    encoding: str = "utf-8"


class SampleOf(NamedTuple):
    """What a sample was drawn from: the `file` by name, its `rows`, how many were `drawn`, and the seed."""

    file: str
    rows: int
    drawn: int
    seed: int

    @property
    def is_whole(self) -> bool:
        """Whether all rows are in it."""
        return self.drawn == self.rows


class DrawnFile(NamedTuple):
    """A sample as the bytes of a Parquet file, what it is of, and how the file it was drawn from is written."""

    content: bytes
    of: SampleOf
    form: CsvForm


def folders(setting: str) -> tuple[Path, ...]:
    """The folders that a setting names, apart as in PATH: those that are there, without links."""
    named = (Path(part).expanduser() for part in setting.split(os.pathsep) if part.strip())
    return tuple(dict.fromkeys(path.resolve() for path in named if path.is_absolute() and path.is_dir()))


def files_at(path: str, within: Sequence[Path]) -> list[Path]:
    """The file of this path, or the data files of this folder, with all links followed. A relative path is looked for
    in each of the folders `within`.

    Raises ReadError where the path, or a file it leads to, is in none of them, and where there is no file, or the
    system does not say. Of what lies outside is not said whether it is there.
    """
    if not path.strip():
        raise ReadError(
            "no path is given; name a file, or a folder of files, in {folders}", folders=", ".join(map(str, within))
        )
    inside = [place for place in _places(path, within) if _is_within(place, within)]
    if not inside:
        raise _is_outside(path, within)
    place = next((one for one in inside if stamp_of([one])), inside[0])
    try:
        return _files_of(place, within)
    except OSError as error:  # as of a name that is too long, or of a folder that may not be read
        raise ReadError(
            "'{file}' cannot be read: {reason}", file=str(place)[:LONGEST], reason=error.strerror or str(error)
        ) from error


def _places(path: str, within: Sequence[Path]) -> list[Path]:
    """Where this path may lead to, with all links followed."""
    places = []
    with suppress(OSError, ValueError, RuntimeError):  # as of a user who is not there
        asked = Path(path.strip()).expanduser()
        for each in [asked] if asked.is_absolute() else [folder / asked for folder in within]:
            with suppress(OSError, ValueError, RuntimeError):  # as of links that lead to themselves
                places.append(each.resolve())
    return places


def _files_of(place: Path, within: Sequence[Path]) -> list[Path]:
    if not place.is_dir():
        if not place.is_file():
            raise ReadError("there is no file '{file}'", file=str(place))
        return [place]
    files = [file.resolve() for file in opened(place).paths]
    if not all(_is_within(file, within) for file in files):
        raise _is_outside(str(place), within)
    return files


def _is_outside(path: str, within: Sequence[Path]) -> ReadError:
    return ReadError(
        "'{path}' is in none of the folders from which files may be opened: {folders}",
        path=path[:LONGEST],
        folders=", ".join(map(str, within)),
    )


def _is_within(place: Path, within: Iterable[Path]) -> bool:
    return any(place.is_relative_to(folder) for folder in within)


def csv_form(path: Path) -> CsvForm:
    """How a CSV is written, by its beginning; of Parquet nothing. Raises ReadError where it is none that can be read in
    blocks."""
    pa = arrow()
    try:
        with pa.OSFile(str(path)) as file:
            codec = PACKED.get(path.suffix)
            head = (pa.CompressedInputStream(file, codec) if codec else file).read(HEAD)
    except OSError as error:
        raise ReadError("'{file}' cannot be read: {reason}", file=path.name, reason=str(error)[:LONGEST]) from error
    if head[:4] == b"PAR1" or path.suffix == ".parquet":
        return CsvForm()
    if len(head) == HEAD:
        head = head[: head.rfind(b"\n") + 1] or head
    recipe = read_table(head, name=path.name).recipe
    if recipe.format != "text" or len(recipe.delimiter) != 1:
        raise ReadError("'{file}' is neither Parquet nor CSV, which alone are read in blocks", file=path.name)
    if recipe.header != 1 or recipe.decimal != "." or recipe.quote not in ('"', ""):
        raise ReadError(
            "'{file}' is read in blocks only with the names of the columns in its first line, points as decimal marks "
            "and cells quoted with double quotes; write it so, or as Parquet",
            file=path.name,
        )
    return CsvForm(recipe.delimiter, recipe.encoding)


def draw(paths: Sequence[Path], n: int, seed: int) -> DrawnFile:
    """About `n` rows of these files at random (`sample_files`), fewer where there are very many columns."""
    form = csv_form(paths[0])
    source = opened(paths, delimiter=form.delimiter, encoding=form.encoding)
    n = max(min(n, MOST_CELLS // max(len(source.found[0]), 1)), 1)
    drawn = sample_files(paths, n, seed=seed, delimiter=form.delimiter, encoding=form.encoding)
    name = paths[0].name if len(paths) == 1 else paths[0].parent.name
    of = SampleOf(name, drawn.rows, drawn.table.num_rows, seed)
    out = BytesIO()
    description = {MARK: json.dumps(of._asdict()).encode()}
    arrow("pyarrow.parquet").write_table(drawn.table.replace_schema_metadata(description), out)
    return DrawnFile(out.getvalue(), of, form)


def sample_of(content: bytes) -> SampleOf | None:
    """What the file of these bytes says that it is a sample of; None where it says nothing, or what cannot be.

    >>> sample_of(b"a,b") is None
    True
    """
    if content[:4] != b"PAR1":
        return None
    try:
        metadata: Any = arrow("pyarrow.parquet").read_schema(BytesIO(content)).metadata
        description = json.loads((metadata or {}).get(MARK, b"null"))
        of = SampleOf(**description)
    except Exception:  # noqa: BLE001 - a forged file may hold anything
        return None
    whole = all(type(x) is int and 0 <= x < 2**63 for x in of[1:])
    return of if isinstance(of.file, str) and len(of.file) <= LONGEST and whole and of.drawn <= of.rows else None


# all rows ---------------------------------------------------------------------------------------------------------

PARTS = 1_000
"""Into so many parts what is to be read is divided for whoever watches."""
Stamp = tuple[tuple[str, int, int], ...]
"""What stands for the content of files: each path with the size and the time of its last change."""


class AllRows(NamedTuple):
    """Files with all their rows: the `paths`, how CSV is written, and the `stamp` that they had as they were opened."""

    paths: tuple[Path, ...]
    form: CsvForm
    stamp: Stamp

    @classmethod
    def of(cls, paths: Sequence[Path], form: CsvForm) -> AllRows:
        return cls(tuple(paths), form, stamp_of(paths))

    def check(self) -> None:
        """Raises ReadError where a file has changed since."""
        if (now := stamp_of(self.paths)) != self.stamp:
            there = {entry[0]: entry for entry in now}
            changed = next(path for path in self.paths if there.get(str(path)) not in self.stamp)
            raise ReadError("'{file}' has changed since it was opened; begin again", file=changed.name)

    @property
    def as_read(self) -> dict[str, Any]:
        """The arguments of `bayes_engine.scale` that say how they are written, and that tell of the progress."""
        return {"delimiter": self.form.delimiter, "encoding": self.form.encoding, "progress": _reporter()}


def rows_of(rows: AllRows) -> int:
    """How many rows Parquet files have; 0 of CSV, where that is not known before all is read, and of what is gone."""
    try:
        with_rows = opened(rows.paths, delimiter=rows.form.delimiter, encoding=rows.form.encoding)
    except BayesEngineError:
        return 0
    return with_rows.rows or 0


def stamp_of(paths: Iterable[Path]) -> Stamp:
    """The stamp of those files that are there, as far as the system says."""
    stamp = []
    for path in paths:
        with suppress(OSError, ValueError):
            status = path.stat()
            stamp.append((str(path), status.st_size, status.st_mtime_ns))
    return tuple(stamp)


class Columns(NamedTuple):
    """What of files a model learns from: the `target`, the features with kinds and levels, and the names of the columns
    of weights and of groups."""

    target: str
    schema: Schema
    weight: str | None = None
    groups: str | None = None


def fit_all(model: Any, rows: AllRows, columns: Columns, resume: Path | None) -> Any:
    """A model like this one, fitted to all rows (`fit_files`), taken up again where `resume` has a part of them. The
    parts stay: the caller, who keeps the model, takes them away."""
    rows.check()
    with_ticks = rows.as_read
    with _unwatched():
        return fit_files(
            model, rows.paths, target=columns.target, schema=columns.schema, weight=columns.weight, resume=resume,
            **with_ticks,
        )  # fmt: skip


def judge_all(
    model: Any, rows: AllRows, columns: Columns, loss: LossMatrix, prior_of_use: Mapping[Any, float] | None,
    resume: Path | None = None,
) -> RiskInFiles:  # fmt: skip
    """The risk of such a model's decisions on all rows, each held out (`held_out_risk`), taken up again where `resume`
    has a part of it."""
    rows.check()
    with_ticks = rows.as_read
    with _unwatched():
        return held_out_risk(
            model, rows.paths, target=columns.target, loss=loss, prior_of_use=prior_of_use, groups=columns.groups,
            schema=columns.schema, weight=columns.weight, resume=resume, **with_ticks,
        )  # fmt: skip


def classify_all(
    model: Any, rows: AllRows, answer: Path, loss: LossMatrix, prior_of_use: Mapping[Any, float] | None,
    resume: Path | None = None,
) -> ClassifiedFiles:  # fmt: skip
    """The decisions of a model for all rows, written to `answer` (`classify_files`), taken up again where the folder
    `resume` has some."""
    rows.check()
    with_ticks = rows.as_read
    with _unwatched():
        return classify_files(
            model, rows.paths, answer, loss=loss, prior_of_use=prior_of_use, resume=resume, **with_ticks
        )


def answer_beside(paths: Sequence[Path], ending: str, within: Sequence[Path]) -> Path:
    """A name for the answers, beside the file or the folder that is read, which no file has.

    Raises ReadError where that lies in none of the folders `within`.
    """
    read = paths[0] if len(paths) == 1 else Path(os.path.commonpath([path.parent for path in paths]))
    stem = read.name
    for last in (*PACKED, ".csv", ".parquet"):
        stem = stem.removesuffix(last)
    stem = stem.encode()[:STEM].decode(errors="ignore")
    names = (read.with_name(f"{stem}.classified{n}{ending}") for n in ("", *(f"-{i}" for i in range(2, 10_000))))
    place = next(name for name in names if not name.exists())
    if not _is_within(place, within):
        raise ReadError(
            "the answers would be written to '{path}', which is in none of the folders that may be used; give one of "
            "the files",
            path=str(place),
        )
    return place


def _unwatched() -> Any:
    """Each pass would tell how far it is by itself."""
    return watching(lambda: False)


def _reporter() -> Callable[[Progress], object]:
    """Reports to whoever watches now how far all passes together are; and asks whether to stop."""
    watched = copy_context()

    def report(far: Progress) -> None:
        share = (far.step - 1 + (far.share or 0.0)) / far.steps
        watched.run(tick, int(PARTS * share), PARTS)

    return report


KEPT = 8
"""Parts of counts that are kept at most; the oldest go."""


def place_of_part(name: str, within: Path) -> Path | None:
    """Where the count of this name is kept until it is whole, for who takes it up again; None where nothing can be
    written."""
    try:
        within.mkdir(mode=0o700, parents=True, exist_ok=True)
        parts = sorted(within.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in [file for file in parts if not file.name.startswith(name)][2 * KEPT :]:
            old.unlink(missing_ok=True)
    except OSError:
        return None
    return within / name
