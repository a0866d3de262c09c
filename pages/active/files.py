"""The files of a session: what each was given for (the table, the rows to classify, a network), its bytes under one
digest, and what was read in it.

A digest never opens data: a file lives in its session, and only there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Generic, NamedTuple, TypeVar, get_args

import pandas as pd
import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.exchange import read_bif, read_xmlbif
from bayes_engine.exchange.csv_tables import read_csv
from bayes_engine.factors.network import Network
from bayes_engine.language import Message
from bayes_engine.table.convert import ReadAs
from bayes_engine.table.encodings import DOUBLE_ENCODED
from bayes_engine.table.read import Reading, read_table
from bayes_engine.workbench.incoming.file_blocks import CellBlocks, FileForm, open_cells
from bayes_engine.workbench.lessons.lesson_format import LessonList
from bayes_engine.workbench.lessons.lesson_list import ReadList, read_list
from pages.runtime import jobs
from pages.runtime import view_keys as keys
from pages.runtime.cache import hold
from pages.runtime.escape import clean
from pages.runtime.job_queue import in_worker
from pages.runtime.state import State, state_from_values

ENCODINGS = ("utf-8", "gb18030", "big5", "cp1252", "cp1251", "shift_jis", "euc_kr", "utf-16", "utf-16-le", "utf-16-be",
             "latin-1", "mac_roman")  # fmt: skip
"""The encodings a person may choose."""
UPLOADED_TABLE, NETWORK_FILE = "upload:", "file:"
"""Before the digest of a table that was uploaded, and of a network that was read from a file."""
NETWORK_READERS: Mapping[str, Callable[[bytes], Network]] = {
    ".bif": read_bif,
    ".xml": read_xmlbif,
    ".xmlbif": read_xmlbif,
    ".csv": read_csv,
}
"""What reads a network, by the end of the file's name."""
READING = Message("reading the file")
PAGES = frozenset(file.stem for file in Path(__file__).parents[1].glob("*.py"))
"""The names of the pages."""
Overrides = tuple[tuple[str, Any], ...]
"""How a file is to be read where that differs from the guess: pairs of a keyword of the reader and its value."""
T = TypeVar("T")


def digest(content: bytes) -> str:
    """A short name for the content of a file."""
    return hashlib.sha256(content).hexdigest()[:16]


def _known(encoding: str) -> bool:
    """Whether this is the name of an encoding of text."""
    try:
        "".encode(encoding)
    except (LookupError, ValueError):
        return False
    return len(encoding) < 40


_FITS: Mapping[str, Callable[[Any], bool]] = {
    "encoding": lambda v: v in (*ENCODINGS, DOUBLE_ENCODED) or (isinstance(v, str) and _known(v)),
    "delimiter": lambda v: isinstance(v, str) and (len(v) <= 1 or v == "aligned"),
    "quote": lambda v: isinstance(v, str) and len(v) <= 1,
    "decimal": lambda v: v in (".", ","),
    "header": lambda v: v is False or (isinstance(v, int) and v > 0),
    "sheet": lambda v: isinstance(v, str),
    "missing": lambda v: isinstance(v, tuple) and all(isinstance(t, str) for t in v),
    "types": lambda v: isinstance(v, tuple) and all(
        keys.is_pair(p, lambda place: type(place) is int, get_args(ReadAs).__contains__) for p in v),
    "trim": lambda v: isinstance(v, bool),
}  # fmt: skip
"""What each keyword of `read_table` may be."""


class File(NamedTuple):
    """A file, and the digest of its content, which is computed once: where the bytes come in."""

    name: str
    content: bytes
    digest: str

    @classmethod
    def of(cls, name: str, content: bytes) -> File:
        return cls(name, content, digest(content))


@dataclass(frozen=True, eq=False)
class Role(Generic[T]):
    """What a file is given for: `name` in a saved workspace, `most` how many a session keeps of them.

    A state names such a file by its digest, which `named` finds in it ("" where there is none), and says under the key
    `overrides` of its view how it is to be read (None: there is one way only). `read` reads a file under
    overrides; raises BayesEngineError. Of the overrides its result depends on `form`. To read it again is a job `apart`
    where pages can wait for it. What is computed from the file is counted as its own, and freed with it, where it
    `owns` that.
    """

    name: str
    most: int
    named: Callable[[State], str]
    read: Callable[[File, Overrides], T]
    overrides: keys.ViewKey[Overrides] | None = None
    form: Callable[[Overrides], object] = tuple
    apart: bool = False
    owns: bool = True

    def wanted(self, state: State) -> Overrides:
        """How the state wants the file read; what a forged link may hold besides counts as not said."""
        overrides = () if self.overrides is None else state.seen(self.overrides)
        return tuple((name, value) for name, value in overrides if name in _FITS and _FITS[name](value))

    def wanting(self, state: State, wanted: Overrides) -> State:
        """The state that wants the file read under these overrides."""
        return state if self.overrides is None else state.showing(self.overrides.to(wanted))

    @property
    def widgets(self) -> str:
        """What the names of the widgets begin with that say how it is read."""
        return "" if self.overrides is None else self.overrides.name

    def job(self, file: File, wanted: Overrides) -> Hashable:
        """What the job is called that reads a file; whoever waits for the same waits for one job."""
        return "reading", self.name, file.name, file.digest, wanted


@dataclass(eq=False)
class Upload(Generic[T]):
    """A file this session was given, and what is in it as read last, under which overrides."""

    role: Role[T]
    file: File
    overrides: Overrides
    reading: T
    _form: object = field(init=False)

    def __post_init__(self) -> None:
        self._form = self.role.form(self.overrides)
        if self.role.owns:
            hold(self.file.digest, self, len(self.file.content))

    @property
    def name(self) -> str:
        return self.file.name

    def look(self, wanted: Overrides) -> T:
        """The file as it reads under these overrides. Raises BayesEngineError where they do not fit it."""
        return self.reading if self.role.form(wanted) == self._form else self.role.read(self.file, wanted)

    def take(self, wanted: Overrides, reading: T) -> None:
        self.overrides, self.reading, self._form = wanted, reading, self.role.form(wanted)

    def read_as(self, wanted: Overrides) -> None:
        """Have it read under these overrides, unless it is; a link's that do not fit are passed over."""
        if self.overrides != wanted:
            look = partial(self.look, wanted)
            with suppress(BayesEngineError):
                job = self.role.job(self.file, wanted)
                self.take(wanted, jobs.run(job, look, READING) if self.role.apart else look())
            self.overrides = wanted


# the store of a session -----------------------------------------------------------------------------------------


def keep(upload: Upload[T]) -> None:
    """Keep a file for the session; of those with its role the ones that were given first go."""
    alike = st.session_state.setdefault("files", {}).setdefault(upload.role.name, {})
    alike.pop(upload.file.digest, None)
    alike[upload.file.digest] = upload
    for old in list(alike)[: -upload.role.most]:
        del alike[old]


def held(role: Role[T]) -> Mapping[str, Upload[T]]:
    """The files of this role that this session was given, by digest."""
    alike: Mapping[str, Upload[T]] = st.session_state.get("files", {}).get(role.name, {})
    return alike


def in_use(role: Role[T], state: State) -> Upload[T] | None:
    """The file that the state names in this role, read as it wants; None where this session does not hold it."""
    upload = held(role).get(role.named(state))
    if upload is not None:
        upload.read_as(role.wanted(state))
    return upload


# what files are given for ---------------------------------------------------------------------------------------


def read_uploaded_table(file: File, wanted: Overrides = ()) -> Reading:
    """The table in a file; each column of named levels is held as codes: a byte a cell rather than its text anew."""
    reading = in_worker(read_table, file.content, name=file.name, **dict(wanted))
    frame = reading.frame.copy(deep=False)
    for v in reading.schema:
        named = v.discrete and v.levels and all(isinstance(level, str) for level in v.levels)
        if named and not isinstance(frame[v.name].dtype, pd.CategoricalDtype):
            frame[v.name] = pd.Categorical(frame[v.name], categories=list(v.levels))
    return replace(reading, frame=frame)


def _file_form(wanted: Overrides) -> FileForm:
    """Those overrides that say how a file is taken apart: all but the decimal mark, and its types are the model's."""
    return FileForm(**{name: value for name, value in wanted if name in FileForm.__dataclass_fields__})


def _open_cells(file: File, wanted: Overrides) -> CellBlocks:
    return open_cells(file.content, _file_form(wanted), name=file.name)


def _read_network(file: File, _wanted: Overrides) -> Network:
    return NETWORK_READERS.get(PurePath(file.name.lower()).suffix, read_bif)(file.content)


def read_lessons(file: File, _wanted: Overrides = ()) -> ReadList:
    """The lessons in a file. Those that open no page and no state of the app are refused, as links are; what is wrong
    with each is said with its line."""
    read = read_list(file.content, clean(file.name, 60))
    kept, problems = [], [*read.problems]
    for lesson, line in zip(read.lessons.lessons, read.lines, strict=True):
        further = lesson.deeper
        at_pages = {lesson.page} | ({further.page} if further else set())
        others = (lesson.change, *((further.state,) if further else ()), *lesson.derivations.values())
        at_states = (lesson.state, *({**lesson.state, **other} for other in others))
        where = {"file": f"{clean(file.name, 60)}:{line}", "title": clean(lesson.title, 60)}
        if not at_pages <= PAGES:
            problems.append(Message("'{file}': the lesson '{title}' is on a page that is not here", where))
        elif any(state_from_values(values) is None for values in at_states):
            problems.append(Message("'{file}': the lesson '{title}' opens a state that no page makes", where))
        else:
            kept.append((lesson, line))
    lessons, lines = tuple(lesson for lesson, _line in kept), tuple(line for _lesson, line in kept)
    return ReadList(LessonList(read.lessons.title, lessons), lines, tuple(problems))


def _behind(mark: str, source: str) -> str:
    return source.removeprefix(mark) if source.startswith(mark) else ""


TABLE = Role("table", 3, lambda state: _behind(UPLOADED_TABLE, state.table), read_uploaded_table, overrides=keys.READ)
"""The table in use."""
SECOND_FILE = Role(
    "second",
    1,
    lambda state: state.seen(keys.SECOND),
    _open_cells,
    overrides=keys.READ_SECOND,
    form=_file_form,
    apart=True,
)
"""The file whose rows are classified: its cells, which are read a block at a time."""
NETWORK = Role("network", 3, lambda state: _behind(NETWORK_FILE, state.seen(keys.NET)), _read_network, owns=False)
"""A network from a file."""
LESSONS = Role("lesson", 40, lambda state: state.seen(keys.OWN_LIST), read_lessons, owns=False)
"""A list of lessons. Every change of it is a file of its own, so that Back finds the one before."""


def unmatched(state: State) -> State:
    """The state without what was said of the second file's columns, by their places: other columns are read now."""
    return state.showing(keys.SECOND_AS.to(())) if state.seen(keys.SECOND_AS) else state
