"""Files a session was given. A digest never opens data: an upload lives in its session, and only there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, get_args

import pandas as pd
import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.table.convert import ReadAs
from bayes_engine.table.decode import DOUBLE_ENCODED
from bayes_engine.table.read import Reading, read_table
from pages.runtime.cache import hold
from pages.runtime.state import State

UPLOADS = 3
"""How many uploaded tables a session keeps."""
ENCODINGS = ("utf-8", "gb18030", "big5", "cp1252", "cp1251", "shift_jis", "euc_kr", "utf-16", "utf-16-le", "utf-16-be",
             "latin-1", "mac_roman")  # fmt: skip
"""The encodings a person may choose."""


def digest(content: bytes) -> str:
    """A short name for the content of a file."""
    return hashlib.sha256(content).hexdigest()[:16]


Overrides = tuple[tuple[str, Any], ...]
"""How a file is to be read where that differs from the guess: pairs of a keyword of `read_table` and its value."""


@dataclass
class Upload:
    """A file this session was given, and the table in it as read last, under which overrides."""

    name: str
    content: bytes
    overrides: Overrides
    reading: Reading

    def __post_init__(self) -> None:
        hold(digest(self.content), self, len(self.content))
        self.reading = with_codes(self.reading)

    def look(self, wanted: Overrides) -> Reading:
        """The file as it reads under these overrides. Raises ReadError where they do not fit it."""
        return look(self.name, self.content, wanted)

    def take(self, wanted: Overrides, reading: Reading) -> None:
        """Have it read like this, which are these overrides."""
        self.overrides, self.reading = wanted, reading

    def read_as(self, wanted: Overrides) -> None:
        """Have it read under these overrides, unless it is; a link's that do not fit are passed over."""
        if self.overrides != wanted:
            with suppress(BayesEngineError):
                self.reading = self.look(wanted)
            self.overrides = wanted


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


def keep_upload(given: Upload) -> str:
    """Keep a file for the session, under the digest of its content; the digest."""
    mark = digest(given.content)
    uploads = st.session_state.setdefault("uploads", {})
    uploads.pop(mark, None)
    uploads[mark] = given
    for old in list(uploads)[:-UPLOADS]:
        del uploads[old]
    return mark


def upload_in(state: State) -> Reading | None:
    """The uploaded table that the state names, if this session has its file, read under the state's overrides."""
    kept: Upload | None = st.session_state.get("uploads", {}).get(state.table.removeprefix("upload:"))
    if kept is None:
        return None
    kept.read_as(overrides(state))
    return kept.reading


def uploaded(state: State) -> bool:
    """Whether the table in use is a file of this session's."""
    mark = state.table.removeprefix("upload:")
    return mark != state.table and mark in st.session_state.get("uploads", {})


def overrides(state: State, key: str = "read") -> Overrides:
    """How the state wants a file read where that differs from the guess: pairs of a keyword of `read_table` and its
    value. What a forged link may hold besides counts as not said."""
    fits: Mapping[str, Callable[[Any], bool]] = {
        "encoding": lambda v: v in (*ENCODINGS, DOUBLE_ENCODED) or (isinstance(v, str) and _known(v)),
        "delimiter": lambda v: isinstance(v, str) and (len(v) <= 1 or v == "aligned"),
        "quote": lambda v: isinstance(v, str) and len(v) <= 1,
        "decimal": lambda v: v in (".", ","),
        "header": lambda v: v is False or (isinstance(v, int) and v > 0),
        "sheet": lambda v: isinstance(v, str),
        "missing": lambda v: isinstance(v, tuple) and all(isinstance(t, str) for t in v),
        "types": lambda v: isinstance(v, tuple) and all(
            isinstance(p, tuple) and len(p) == 2 and type(p[0]) is int and p[1] in get_args(ReadAs) for p in v),
        "trim": lambda v: isinstance(v, bool),
    }  # fmt: skip
    wanted = [p for p in state.seen(key, ()) if isinstance(p, tuple) and len(p) == 2]
    return tuple((name, value) for name, value in wanted if name in fits and fits[name](value))


def _known(encoding: str) -> bool:
    """Whether this is the name of an encoding of text."""
    try:
        return len(encoding) < 40 and bool("".encode(encoding) is not None)
    except (LookupError, ValueError):
        return False
