"""A file on this computer that is larger than an upload may be: where it may lie, how its CSV is written, and a sample
of its rows as a file of its own, which says what it was drawn from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from bayes_engine.errors import ReadError
from bayes_engine.scale.arrow import arrow
from bayes_engine.scale.sample import sample_files
from bayes_engine.scale.sources import PACKED, opened
from bayes_engine.table.read import read_table

HEAD = 2**18
"""Bytes at the beginning of a CSV from which is read how it is written."""
MOST_CELLS = 4_000_000
"""Cells that a sample has at most."""
MARK = b"bayes_workbench.sample"
"""The key under which a Parquet file says that it is a sample."""
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

    Raises ReadError where the path, or a file it leads to, is in none of them, and where there is no file. Of what lies
    outside is not said whether it is there.
    """
    try:
        asked = Path(path.strip()).expanduser()
        places = [asked] if asked.is_absolute() else [folder / asked for folder in within]
        places = [place.resolve() for place in places]
    except (OSError, ValueError, RuntimeError):
        places = []
    inside = [place for place in places if _is_within(place, within)]
    if not path.strip() or not inside:
        raise ReadError(
            "'{path}' is in none of the folders from which files may be opened: {folders}",
            path=path[:LONGEST],
            folders=", ".join(map(str, within)),
        )
    place = next((one for one in inside if one.exists()), inside[0])
    if not place.is_dir():
        if not place.is_file():
            raise ReadError("there is no file '{file}'", file=str(place))
        return [place]
    found = [file.resolve() for file in opened(place).paths]
    for file in found:
        if not _is_within(file, within):
            raise ReadError(
                "'{path}' is in none of the folders from which files may be opened: {folders}",
                path=str(place)[:LONGEST],
                folders=", ".join(map(str, within)),
            )
    return found


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
    said = {MARK: json.dumps(of._asdict()).encode()}
    arrow("pyarrow.parquet").write_table(drawn.table.replace_schema_metadata(said), out)
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
        said = json.loads((metadata or {}).get(MARK, b"null"))
        of = SampleOf(**said)
    except Exception:  # noqa: BLE001 - a forged file may hold anything
        return None
    whole = all(type(x) is int and 0 <= x < 2**63 for x in of[1:])
    return of if isinstance(of.file, str) and len(of.file) <= LONGEST and whole and of.drawn <= of.rows else None
