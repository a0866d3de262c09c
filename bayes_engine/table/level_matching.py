"""Which level of a column a cell of a second file means; how its numbers are written is in `styles`.

A cell is a level as it stands there, or by its value (1.0 for 1), or but for the spaces around it; what means missing
is missing; and what another program writes otherwise (yes for true) is the level that it means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.table.encode import MISSING
from bayes_engine.table.guard import unguarded
from bayes_engine.table.numbers import ALWAYS_MISSING, SIGNS, means_missing
from bayes_engine.table.schema import Variable
from bayes_engine.table.styles import Style, read_mixed

_TRUTH = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1", "1.0", "是", "真"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0", "0.0", "否", "假"), False),
}
_WHOLE = re.compile(r"(-?\d+)(?:[.,]00?)?")
"""A whole number; three zeros may be thousands."""


class Matched(NamedTuple):
    """(n,) codes: 0 missing, 1…S the levels, beyond them the values that are none, which are listed; how many cells are
    a level but for spaces around it; and how many mean one that is written otherwise, by their texts."""

    codes: NDArray[np.intp]
    strange: list[str]
    padded: int
    otherwise: dict[str, int]


def match(column: pd.Series, variable: Variable, tokens: Sequence[str] | None, mark: str) -> Matched:
    """Which level of the `variable` every cell means; `tokens` as in `read_table`, `mark` the file's decimal mark.

    >>> match(pd.Series(["x", "7.0", "", "z"]), Variable("a", "categorical", ("7", "x")), None, ".").codes.tolist()
    [2, 1, 0, 3]
    """
    spellings, levels = pd.factorize(column)
    texts = [str(text) for text in levels]
    known = {str(level): code for code, level in enumerate(variable.levels, start=1)}
    by_value = _by_value(texts, variable, mark)
    worded = any(isinstance(level, str) for level in variable.levels)
    by_rule = (ALWAYS_MISSING | SIGNS).__contains__ if worded else means_missing  # NA is Namibia, but no number
    gone = by_rule if tokens is None else ("", *tokens).__contains__
    strange: list[str] = []
    codes = np.zeros(len(texts), dtype=np.intp)
    padded, otherwise = list[int](), list[int]()
    for i, text in enumerate(texts):
        code = known.get(text) or known.get(unguarded(text)) or by_value.get(text)
        if code is None and (code := known.get(text.strip())):
            padded.append(i)
        if code is None and gone(text.strip()):
            code = MISSING
        if code is None and (code := _otherwise(text.strip(), variable, known)):
            otherwise.append(i)
        if code is None:
            strange.append(text)
            code = len(variable.levels) + len(strange)
        codes[i] = code
    times = np.bincount(spellings[spellings >= 0], minlength=len(texts)).tolist()
    return Matched(codes[spellings], strange, sum(times[i] for i in padded), {texts[i]: times[i] for i in otherwise})


def _otherwise(text: str, variable: Variable, known: Mapping[str, int]) -> int | None:
    """The code of the level that a text means, which is written otherwise there: yes for true, 1.0 for the text 1.

    >>> _otherwise("Yes", Variable("a", "binary", (False, True)), {"False": 1, "True": 2})
    2
    >>> _otherwise("7.0", Variable("a", "categorical", ("7", "x")), {"7": 1, "x": 2})
    1
    """
    if all(not isinstance(level, str) and level in (0, 1) for level in variable.levels):
        truth = _TRUTH.get(text.lower())
        return next((code for code, level in enumerate(variable.levels, start=1) if level == truth), None)
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        return None
    return known.get(whole[1]) or known.get(f"{whole[1]}.0")


def _by_value(texts: list[str], variable: Variable, mark: str) -> dict[str, int]:
    """Codes of the texts that spell a level another way: TRUE for true, 1.0 for 1."""
    levels = {level: code for code, level in enumerate(variable.levels, start=1)}
    if all(isinstance(level, bool) for level in levels):
        truth = {"true": True, "false": False}
        return {t: levels[truth[t.strip().lower()]] for t in texts if truth.get(t.strip().lower()) in levels}
    if any(isinstance(level, str | bool) for level in levels) or not texts:
        return {}
    style = Style("," if mark == "," else "", suffixes=False)
    values, unreadable, _notes = read_mixed(pd.Series(texts, dtype=object), style, None)
    return {t: levels[v] for t, v, no in zip(texts, values.tolist(), unreadable, strict=True) if not no and v in levels}
