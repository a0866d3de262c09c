"""Files larger than an upload that this session has opened on one's own computer, each by the digest of its sample,
which is the table in use.

A path comes from a person's click alone, is followed into the folders of the setting alone, and lives in its session:
a link and a saved workspace hold the digest of the sample, and open nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.table.read import Reading
from bayes_engine.workbench.incoming import large_file
from bayes_engine.workbench.incoming.large_file import AllRows, DrawnFile, SampleOf
from pages.active import files
from pages.active.files import TABLE, File, Upload
from pages.runtime import jobs, own_computer
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.job_queue import in_worker
from pages.runtime.state import State, current, goes_to

FOLDERS = "BAYES_WORKBENCH_FOLDERS"
"""The environment variable that names the folders from which files may be opened, apart as in PATH."""
HOW = f"`{FOLDERS}={{folder}} bayes-workbench`"
"""How it is said at a terminal, as Markdown."""
SIZES = (5_000, 20_000, 100_000)
"""How many rows a sample may have."""
SEEDS = 1_000
DRAWING = Message("drawing a sample of the rows")


@dataclass(frozen=True)
class LargeFile:
    """A file that was opened, with all its rows, and what was drawn from it."""

    rows: AllRows
    of: SampleOf


def folders() -> tuple[Path, ...]:
    """The folders from which this session may open files: none wherever others could be served."""
    return large_file.folders(os.environ.get(FOLDERS, "")) if own_computer.is_served_alone() else ()


def files_at(path: str) -> tuple[Path, ...]:
    """The files of a path that a person gave. Raises ReadError where they may not be opened, or are not there."""
    return tuple(large_file.files_at(path, folders()))


def _files_at(path: str | Sequence[str]) -> tuple[Path, ...]:
    return files_at(path) if isinstance(path, str) else tuple(file for each in path for file in files_at(each))


def all_rows_at(path: str | Sequence[str]) -> AllRows:
    """The files of a path that a person gave, or of several, with all their rows. Raises ReadError as `files_at` does,
    and where they are neither Parquet nor CSV."""
    paths = _files_at(path)
    return AllRows.of(paths, large_file.csv_form(paths[0]))


def open_sample(
    path: str | Sequence[str], n: int, seed: int, then: Callable[[Upload[Reading]], None],
    refused: Callable[[BayesEngineError], None],
) -> None:  # fmt: skip
    """For a callback: draw n rows of the file of this path, or of these files, and call `then` with them as an
    upload."""
    try:
        paths = _files_at(path)
    except BayesEngineError as error:
        jobs.cancel_callback_job()
        refused(error)
        return
    stamp = large_file.stamp_of(paths)

    def work() -> tuple[DrawnFile, Upload[Reading]]:
        drawn = in_worker(large_file.draw, paths, n, seed)
        file = File.of(clean(_name(drawn.of)), drawn.content)
        return drawn, Upload(TABLE, file, (), TABLE.read(file, ()))

    def done(made: tuple[DrawnFile, Upload[Reading]]) -> None:
        drawn, upload = made
        st.session_state.setdefault("large_files", {})[upload.file.digest] = LargeFile(
            AllRows(paths, drawn.form, stamp), drawn.of
        )
        then(upload)

    size = sum(size for _path, size, _changed in stamp)
    jobs.run_after_callback(("draw", stamp, n, seed), work, DRAWING, done, refused, size=size)


def _name(of: SampleOf) -> str:
    """What a sample is called, the same in every language: wherever the table is named stands that it is one."""
    return of.file if of.is_whole else f"{of.file} [{of.drawn:,}/{of.rows:,}]"


def opened(state: State) -> LargeFile | None:
    """The file whose sample the state's table is, if this session has opened it."""
    large: LargeFile | None = st.session_state.get("large_files", {}).get(TABLE.named(state))
    return large


def sample_in_use() -> SampleOf | None:
    """What the table in use is a sample of; None where it is none, or holds all rows."""
    upload = files.in_use(TABLE, current())
    if upload is None or upload.reading.recipe.format != "parquet":
        return None
    of = _sample_of(upload.file.digest, upload.file.content)
    return None if of is None or of.is_whole else of


@cached(max_entries=16)
def _sample_of(digest: str, _content: bytes) -> SampleOf | None:
    return large_file.sample_of(_content)


def sample_notice(there: bool) -> None:
    """On every page with the table: that its numbers are of a sample, of how many rows and of which file; and the way
    to all rows, unless the page is `there`."""
    of = sample_in_use()
    if of is None:
        return
    with st.container(key="sample_line", gap=None):
        st.caption(
            ":material/filter_alt: "
            + _(
                "**Sample**: {n} of {all} rows of {file}, each as likely as any other (seed {seed}). Numbers and "
                "figures are of these {n}, unless they say *all rows*."
            ).format(n=f"{of.drawn:,}", all=f"{of.rows:,}", file=md(of.file, 60), seed=of.seed)
        )
        if not there:
            st.button(
                _("Fit and judge on all rows"), key="sample_all_rows", icon=":material/database:",
                type="tertiary", **goes_to("model", lambda state: state.showing(keys.MODEL_VIEW.to("conditionals"))),
            )  # fmt: skip
