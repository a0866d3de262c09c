"""The second file, whose rows are classified: its bytes, and its cells as they are read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from bayes_engine.errors import BayesEngineError
from bayes_engine.workbench.incoming.pieces import Cells, FileForm, open_cells
from pages import active
from pages.active import reading
from pages.runtime import jobs
from pages.runtime.cache import hold


@dataclass
class SecondFile:
    """The second file: its bytes, and as its `reading` the cells, which are read a block at a time. What the pages ask
    of an upload it answers."""

    name: str
    content: bytes
    overrides: active.Overrides
    reading: Cells

    def __post_init__(self) -> None:
        hold(active.digest(self.content), self, len(self.content))

    def look(self, wanted: active.Overrides) -> Cells:
        """The file as it reads under these overrides. Raises ReadError where they do not fit it."""
        return self.reading if _form(wanted) == _form(self.overrides) else look(self.name, self.content, wanted)

    def take(self, wanted: active.Overrides, reading: Cells) -> None:
        """Have it read like this, which are these overrides."""
        self.overrides, self.reading = wanted, reading

    def read_as(self, wanted: active.Overrides) -> None:
        """Have it read under these overrides, unless it is; a link's that do not fit are passed over."""
        if self.overrides != wanted:
            key = ("second file", self.name, active.digest(self.content), wanted)
            with suppress(BayesEngineError):
                self.reading = jobs.run(key, partial(self.look, wanted), reading.READING)
            self.overrides = wanted


def look(name: str, content: bytes, wanted: active.Overrides = ()) -> Cells:
    """The cells of a file, read under these overrides. Raises ReadError where it is no table."""
    return open_cells(content, _form(wanted), name=name)


def _form(wanted: active.Overrides) -> FileForm:
    """Those overrides that say how a file is taken apart: all but the decimal mark, and its types are the model's."""
    return FileForm(**{name: value for name, value in wanted if name in FileForm.__dataclass_fields__})
