"""The second file, whose rows are classified: its bytes, and its cells as they are read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from bayes_engine.errors import BayesEngineError
from bayes_engine.workbench.incoming.pieces import Cells, open_cells
from pages import active
from pages.active import reading
from pages.runtime import jobs
from pages.runtime.cache import hold

HOW = ("encoding", "delimiter", "quote", "header", "sheet", "trim")
"""What can be said of how the file is to be read, besides the decimal mark; its types are the model's."""


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
        return self.reading if _told(wanted) == _told(self.overrides) else look(self.name, self.content, wanted)

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
    return open_cells(content, name=name, **_told(wanted))


def _told(wanted: active.Overrides) -> dict[str, Any]:
    """Those overrides that say how a file is taken apart."""
    return {name: value for name, value in wanted if name in HOW}
