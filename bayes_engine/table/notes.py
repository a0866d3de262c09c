"""The forms in which all that reads a file speaks: notes of what was inferred or changed, with the ways to have it
otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_engine.language import Listing, Message

Severity = Literal["info", "warning"]


class Offer(NamedTuple):
    """Another way to read: a keyword of `read_table` with its value, and what a button says. A value of `types` speaks
    of one column and joins what is said of the others."""

    keyword: Literal["encoding", "delimiter", "quote", "decimal", "header", "sheet", "missing", "types", "trim"]
    value: Any
    label: Message


def offer(template: str, keyword: Any, value: Any, /, **params: object) -> Offer:
    """An Offer from its words."""
    return Offer(keyword, value, Message(template, params))


@dataclass(frozen=True)
class Note:
    """One thing that was inferred or changed while reading, and how to have it otherwise."""

    message: Message
    severity: Severity = "info"
    column: str | None = None
    line: int | None = None
    offers: tuple[Offer, ...] = ()

    def offering(self, *offers: Offer) -> Note:
        """This note with ways to have it otherwise."""
        return replace(self, offers=offers)


def note(template: str, severity: Severity = "info", line: int | None = None, /, **params: object) -> Note:
    """A Note on this `line`, whose column is the parameter `column`, where there is one."""
    column = params.get("column")
    return Note(Message(template, params), severity, None if column is None else str(column), line)


def listed(values: Sequence[str], most: int = 6) -> Listing:
    """Quoted, cut to the first few and each to 40 characters."""
    shown = [Message("'{name}'", {"name": v if len(v) <= 40 else v[:39] + "…"}) for v in values[:most]]
    return Listing([*shown, *(["…"] if len(values) > most else [])])


def lines_of(lines: Sequence[int] | NDArray[np.intp]) -> Listing:
    """The first five line numbers."""
    return Listing([*(str(int(line)) for line in lines[:5]), *(["…"] if len(lines) > 5 else [])])


KEEP: Offer = offer("Keep these lines as rows", "trim", False)
"""To leave every line below the header a row."""


def as_text(position: int) -> Offer:
    """To leave the column at this position as it is written."""
    return offer("Keep as text", "types", ((position, "text"),))


def as_numbers(position: int) -> Offer:
    """To read the column at this position as numbers; what is none is missing."""
    return offer("Read as numbers", "types", ((position, "number"),))


def by_rule(position: int) -> Offer:
    """To take back what was chosen for the column at this position."""
    return offer("Read it by rule again", "types", ((position, "auto"),))


def as_months(position: int) -> list[Offer]:
    """To read the column at this position as months."""
    return [offer("Read as dates, the first of each month", "types", ((position, "date"),))]


def as_missing(words: Sequence[str]) -> list[Offer]:
    """To take a few words as missing."""
    return [offer("These mean missing", "missing", tuple(words))] if 0 < len(words) <= 6 else []
