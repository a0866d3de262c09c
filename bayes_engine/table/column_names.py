"""Column names as they are kept: without what nobody sees, none empty, none twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from bayes_engine.table.notes import Note, listed, note
from bayes_engine.table.spellings import INVISIBLE, LOOK_ALIKE

MAX_NAME = 200
"""Longest column name, in characters; longer ones are cut."""


def unique_names(names: Sequence[str], notes: list[Note], header: bool = True) -> list[str]:
    """Column names without invisible characters, in one Unicode form, none empty, none twice.

    >>> unique_names(["a", "", "a", "e\\u0301"], []) == ["a", "column_2", "a_2", "\\u00e9"]
    True
    """
    trimmed = [name.strip() for name in names if name.strip() != name and name.strip()]
    if trimmed:
        notes.append(note("spaces around column names that are left out: {columns}", columns=listed(trimmed)))
    taken: set[str] = set()
    given = set(names)
    following: dict[str, int] = {}  # the number to try next: n equal names take n steps, not n²
    result: list[str] = []
    for j, original in enumerate(names, start=1):
        plain = original.strip()
        seen = INVISIBLE.sub("", plain)
        if seen.isascii() is False and re.sub("[\u200c\u200d]", "", seen).isascii():
            seen = re.sub("[\u200c\u200d]", "", seen)  # joiners mean something in Persian or Hindi, not in ASCII
        seen = unicodedata.normalize("NFC", seen.replace("\u00a0", " ")).strip()
        if seen != plain:
            notes.append(note("the name of column {number}, '{column}', held invisible characters or unusual forms of "
                              "letters; they are replaced, so that other files match", "warning", number=j,
                              column=seen))  # fmt: skip
        if len(seen) > MAX_NAME:
            seen = seen[:MAX_NAME]
            notes.append(note("the name of column {number} is longer than {most} characters and was cut: '{column}'",
                              "warning", number=j, most=MAX_NAME, column=seen))  # fmt: skip
        unique = seen or f"column_{j}"
        if unique in taken:
            base = seen or "column"
            k = following.get(base, 2)
            while (unique := f"{base}_{k}") in taken or unique in given:
                k += 1
            following[base] = k + 1
        if header and not seen:
            notes.append(note("column {number} has no name: it is called '{column}'", "warning", number=j,
                              column=unique))  # fmt: skip
        elif unique != seen and seen:
            notes.append(note("two columns have the same name '{name}' (or one that looks the same); column {number} "
                              "is called '{column}'", "warning", name=seen, number=j, column=unique))  # fmt: skip
        taken.add(unique)
        result.append(unique)
    alike: dict[str, list[str]] = {}
    for name in result:
        alike.setdefault(unicodedata.normalize("NFKC", name).casefold(), []).append(name)
    notes += [note("the column names {columns} differ only in case or width; they are different columns", "warning",
                   columns=listed(group)) for group in alike.values() if len(group) > 1]  # fmt: skip
    shapes: dict[str, list[str]] = {}
    for name in alike:
        shapes.setdefault(name.translate(LOOK_ALIKE), []).append(alike[name][0])
    notes += [note("the column names {columns} look the same, but are written with letters of different scripts; they "
                   "are different columns", "warning", columns=listed(group))
              for group in shapes.values() if len(group) > 1]  # fmt: skip
    return result
