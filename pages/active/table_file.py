"""The table that a person uploads."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from bayes_engine.table.read import Reading, read_table
from pages.active.files import Overrides, Role, in_use
from pages.runtime import view_keys as keys
from pages.runtime.state import State

UPLOADED = "upload:"
"""Before the digest of a table that was uploaded."""


def look(name: str, content: bytes, wanted: Overrides = ()) -> Reading:
    """The table in a file, read under these overrides. Raises ReadError where there is none."""
    return with_codes(read_table(content, name=name, **dict(wanted)))


def with_codes(reading: Reading) -> Reading:
    """The reading with each column of named levels held as codes: a byte a cell rather than its text anew."""
    frame = reading.frame.copy(deep=False)
    for v in reading.schema:
        named = v.discrete and v.levels and all(isinstance(level, str) for level in v.levels)
        if named and not isinstance(frame[v.name].dtype, pd.CategoricalDtype):
            frame[v.name] = pd.Categorical(frame[v.name], categories=list(v.levels))
    return replace(reading, frame=frame)


def named(state: State) -> str:
    """The digest of the uploaded table that the state names; "" where it names none."""
    return state.table.removeprefix(UPLOADED) if state.table.startswith(UPLOADED) else ""


def upload_in(state: State) -> Reading | None:
    """The uploaded table that the state names, if this session has its file, read under the state's overrides."""
    upload = in_use(TABLE, state)
    return None if upload is None else upload.reading


TABLE = Role("table", 3, named, look, overrides=keys.READ)
