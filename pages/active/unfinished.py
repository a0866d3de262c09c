"""Work on all rows of a large file that was ended in the middle: what is under way is noted on one's own computer, and
what a program before this one left is offered, with what it had counted or written."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import streamlit as st

from bayes_engine.errors import BayesEngineError, ReadError
from bayes_engine.table.read import Reading
from bayes_engine.workbench import kept_files
from bayes_engine.workbench.incoming import unfinished
from bayes_engine.workbench.incoming.large_file import AllRows, stamp_of
from bayes_engine.workbench.incoming.unfinished import Unfinished
from pages.active import files, large_files, own_table
from pages.active.files import TABLE, Upload
from pages.runtime import own_computer
from pages.runtime.cache import content_key
from pages.runtime.state import change, current, decode, encode

MOST = 3
"""So much of it is offered at a time."""
_live: set[str] = set()
"""The names of what this process is at work on."""


def folder() -> Path | None:
    """Where notes and counts are kept; None where nothing is to be saved."""
    if not own_computer.may_save():
        return None
    try:
        return kept_files.folder() / "counts"
    except RuntimeError:  # the user has no home
        return None


def of(what: str, key: Hashable, rows: AllRows, file: str, total: int, answer: str = "") -> Unfinished | None:
    """What is begun on these rows by what this session shows; None where nothing is to be saved."""
    if folder() is None:
        return None
    large, state = large_files.opened(current()), current()
    sampled, drawn, seed = ((), 0, 0) if large is None else (large.rows.stamp, large.of.drawn, large.of.seed)
    asked = (file, total, rows.stamp, sampled, drawn, seed, encode(replace(state, language="")), answer)
    return Unfinished(content_key(key), what, *asked)


@contextmanager
def under_way(work: Unfinished | None) -> Iterator[None]:
    """Inside it is worked on; what ends that before its end leaves the note, with what was counted."""
    there = folder()
    if work is None or there is None:
        yield
        return
    unfinished.remember(work, there)
    _live.add(work.name)
    try:
        yield
    finally:
        _live.discard(work.name)
    unfinished.forget(work.name, there)


def offered() -> list[tuple[Unfinished, int]]:
    """What another session, or a program before this one, left unfinished of files that may be opened here: the latest
    `MOST`, and how many rows each had counted or written."""
    there, within = folder(), large_files.folders()
    if there is None or not within:
        return []
    own: set[str] = st.session_state.get("unfinished_own", set())  # which it shows itself
    left = [work for work in unfinished.notes(there) if work.name not in _live | own]
    return [(work, _rows(work, there)) for work in filter(_is_open, left)][:MOST]


def is_offered(key: Hashable) -> bool:
    """Whether it stands among what is offered: then nothing else on the page offers it."""
    name = content_key(key)
    return any(work.name == name for work, _n in offered())


def _is_open(work: Unfinished) -> bool:
    """Whether all its files may be opened here."""
    try:
        for path, _size, _when in (*work.stamp, *work.sampled):
            if stamp_of([Path(path)]):
                large_files.files_at(path)
    except BayesEngineError:
        return False
    return True


def _rows(work: Unfinished, there: Path) -> int:
    known: dict[str, int] = st.session_state.setdefault("unfinished_rows", {})
    if work.name not in known:
        known[work.name] = unfinished.rows_kept(work, there)
    return known[work.name]


def needs_table(work: Unfinished) -> bool:
    """Whether its table is a file that this session does not have, and that is no sample to be drawn again."""
    state = decode(work.state)
    named = "" if state is None else TABLE.named(state)
    return bool(named) and not work.sampled and named not in files.held(TABLE)


def go_on(work: Unfinished) -> None:
    """For a callback: the table, the models and the losses as they were, and the work goes on."""
    st.session_state["unfinished_said"] = None
    state = decode(work.state)
    if state is None or not work.is_as_it_was:
        _refused(ReadError("'{file}' has changed since it was opened; begin again", file=work.file))
        return

    def into(upload: Upload[Reading] | None) -> None:
        if upload is not None:
            files.keep(upload)
        change(lambda now: own_table.instead(now, replace(state, language=now.language)))
        st.session_state.update(page_wanted="classify" if work.what == "classify" else "model", go_on=work)

    if work.sampled and large_files.opened(state) is None:
        paths = [path for path, _size, _when in work.sampled]
        large_files.open_sample(paths, work.drawn, work.seed, into, _refused)
    else:
        into(None)


def _refused(error: BayesEngineError) -> None:
    st.session_state["unfinished_said"] = error.message


def wanted(what: str, key: Hashable) -> Unfinished | None:
    """What a person has asked to go on with, if this is it: once."""
    work: Unfinished | None = st.session_state.get("go_on")
    if work is None or work.what != what or work.name != content_key(key):
        return None
    del st.session_state["go_on"]
    asked_here(key)
    return work


def asked_here(key: Hashable) -> None:
    """This session has asked for it, and shows itself how far it is."""
    st.session_state.setdefault("unfinished_own", set()).add(content_key(key))


def discard(work: Unfinished) -> None:
    """For a callback: it is not wanted any more, and goes with what was counted or written."""
    if (there := folder()) is not None:
        unfinished.forget(work.name, there)
    if work.what == "classify":
        unfinished.forget_answers(work)


def forget_all() -> None:
    """Notes, counts and models of all rows go, but for what is under way."""
    there = folder()
    for work in [] if there is None else unfinished.notes(there):
        if work.name not in _live:
            discard(work)
    for model in [] if there is None else there.glob(f"*{unfinished.KEPT_MODEL}"):
        model.unlink(missing_ok=True)
