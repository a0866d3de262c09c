"""Which column of a second file is which of the model's: by its name, by a name alike, or as a person says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bayes_engine.table.guard import unguarded, written_here
from bayes_engine.table.notes import Note, note
from bayes_engine.table.schema import Schema
from bayes_engine.table.spellings import spelling

MISSING_HERE = -1
"""The place of a column that a person says the file has not."""


@dataclass(frozen=True)
class MatchedColumns:
    """The columns of a file, `names`, and what the model's are called there: `called`; `near` has for one that is not
    there under its name the column whose name differs from it in case, spaces or width alone. `ours` tells a file of
    results, whose texts are guarded."""

    names: tuple[str, ...]
    ours: bool
    called: Mapping[str, str]
    near: Mapping[str, str]

    def absent(self, schema: Schema, amount: str = "") -> Iterator[Note]:
        """What to say of the features, and of the column that multiplies losses, that the file does not have."""
        for name in schema.names:
            if name in self.called:
                continue
            if (other := self.near.get(name)) is None:
                yield note("column '{column}' is not in this file: it counts as missing in every row",
                           "warning", column=name)  # fmt: skip
            else:
                yield note("column '{column}' is not in this file and counts as missing; if '{other}' is "
                           "meant, rename it there", "warning", column=name, other=other)  # fmt: skip
        if amount and amount not in self.called:
            yield note("column '{column}', whose amounts multiply losses, is not in this file: losses are counted per "
                       "unit", "warning", column=amount)  # fmt: skip


def match_columns(
    names: Sequence[str], wanted: Sequence[str], *, alike: bool = False, chosen: Mapping[str, int] | None = None
) -> MatchedColumns:
    """The columns of a file beside those that are `wanted`: of the same name; where `alike` says so, of a name that
    differs in case, spaces or width alone; and before all that those `chosen`, by their places (MISSING_HERE: none). A
    column that is chosen for one is no other's.

    >>> match_columns(("Size", "Town"), ("size", "city"), alike=True, chosen={"city": 1}).called
    {'size': 'Size', 'city': 'Town'}
    """
    ours = written_here(names)
    plain = tuple(
        bare if ours or bare in wanted else name for name, bare in ((name, unguarded(name)) for name in names)
    )
    near = names_alike(plain, wanted)
    matches = {name: name for name in wanted if name in set(plain)} | (near if alike else {})
    stated = {name: place for name, place in (chosen or {}).items() if name in wanted and place < len(plain)}
    taken = {name: plain[place] for name, place in stated.items() if place > MISSING_HERE}
    matches = {
        name: other for name, other in matches.items() if name not in stated and other not in taken.values()
    } | taken
    return MatchedColumns(plain, ours, {name: matches[name] for name in wanted if name in matches}, near)


def names_alike(names: Iterable[str], wanted: Iterable[str]) -> dict[str, str]:
    """Of the `wanted` names that are not among `names` the one that differs in case, spaces or width (or in the form of
    its letters) alone, where there is just one.

    >>> names_alike(("Ｈｅｉｇｈｔ ", "city", "City"), ("height", "CITY", "weight"))
    {'height': 'Ｈｅｉｇｈｔ '}
    """
    wanted = tuple(wanted)
    near: dict[str, list[str]] = {}
    present = set(names := tuple(names))
    for name in names:
        if name not in wanted:
            near.setdefault(_folded(name), []).append(name)
    folds = Counter(map(_folded, wanted))
    candidates = {name: near.get(_folded(name), []) for name in wanted if name not in present}
    return {name: others[0] for name, others in candidates.items() if len(others) == 1 and folds[_folded(name)] == 1}


def _folded(name: str) -> str:
    return spelling(name).replace(" ", "")
