"""What the entries of a state may be: whether those of a forged link are of the kinds that pages make."""

from __future__ import annotations

from typing import Any, get_args

from bayes_engine.table.kinds import Role
from bayes_engine.workbench.doctor.finding import OTHER_KIND, Mended
from pages.runtime.view_keys import is_pair, is_place, is_text

KINDS = ("categorical", "binary", "continuous", "count", "identifier", "text")
"""The kinds of columns that a person may choose; the others are found, never chosen."""


def losses_and_prior(losses: Any, fixed: Any, prior: Any) -> bool:
    """Whether these are rows of numbers, cells of them, and probabilities."""
    number = (int, float)
    return (
        all(isinstance(v, number) and 0 <= v <= 1 for v in prior)
        and all(isinstance(r, tuple) and all(isinstance(v, number) and abs(v) <= 1e9 for v in r) for r in losses)
        and all(is_pair(cell, is_place, is_place) and max(cell) <= 1000 for cell in fixed)
    )


def column_entry(entry: Any) -> bool:
    """Whether an entry of `columns` is a position, a role, a kind, and levels by position or name."""
    if not isinstance(entry, tuple) or [type(v) for v in entry] != [int, str, str, tuple]:
        return False
    position, role, kind, levels = entry
    known = role in ("", *get_args(Role)) and kind in ("", *KINDS)
    return known and position >= 0 and all(type(level) in (int, str) for level in levels)


def repair_entry(entry: Any) -> bool:
    """Whether an entry of `repairs` is one that the doctor knows, a position, a number, and perhaps what was said of
    the column before, or what was reset as its classes changed."""
    if not isinstance(entry, tuple) or len(entry) not in (3, 4):
        return False
    what, position, value, *own = entry
    if own and not (
        isinstance(own[0], tuple) and (column_entry((0, *own[0])) if what in OTHER_KIND else _reset(own[0]))
    ):
        return False
    known = isinstance(what, str) and what in get_args(Mended)
    return known and type(position) is int and position >= -1 and type(value) in (int, float) and abs(value) <= 1e15


def _reset(kept: tuple[Any, ...]) -> bool:
    """Whether these are a key, losses, the name of a further action, cells, a prior, and models' parameters."""
    if [type(v) for v in kept] != [str, tuple, str, tuple, tuple, tuple]:
        return False
    _key, losses, _extra, fixed, prior, models = kept
    return losses_and_prior(losses, fixed, prior) and all(
        isinstance(own, tuple)
        and [type(v) for v in own] == [int, str, tuple]
        and own[0] >= 0
        and all(is_pair(parameter, is_text) for parameter in own[2])
        for own in models
    )
