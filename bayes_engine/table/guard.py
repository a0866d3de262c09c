"""Texts that a spreadsheet would run as a formula, made harmless in a file of results; and such a file known again.

An apostrophe before a text keeps it a text (OWASP, CSV Injection); it is taken off where such a file comes back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from bayes_engine.table.numbers import is_number

_FORMULA = re.compile("'*[ \u00a0\u3000]*[=+\\-@\t\r\n＝＋－＠]")
"""How a text begins that a spreadsheet would run as a formula, some of them after spaces too; with the apostrophes it
may have already, so that `guarded` can be undone. (The characters stand in the pattern themselves: Arrow's expressions
do not know \\u.)"""
_RESULTS = re.compile(
    r"(?:^|\n)decision(?:_\d+)?\nrisk(?:_\d+)?\ngap(?:_\d+)?\n(?:P\(.*\)(?:_\d+)?\n)+status(?:_\d+)?\nreason(?:_\d+)?\Z"
)
"""The last columns of a file of results, one a line."""


def guarded(column: pd.Series) -> pd.Series:
    """Text cells that a spreadsheet would run as a formula get a leading apostrophe; numbers stay as they are.

    >>> guarded(pd.Series(["=1+1", "-5", "-12 %", "-5 kg", "＝x", "plain"])).tolist()
    ["'=1+1", '-5', '-12 %', "'-5 kg", "'＝x", 'plain']
    """
    risky = column.str.match(_FORMULA.pattern, na=False).to_numpy(dtype=bool)
    if not risky.any():
        return column
    safe = column.astype(object)
    safe[risky] = [f"'{text}" if runs(text) else text for text in safe[risky]]
    return safe


def runs(text: str) -> bool:
    """Whether a spreadsheet would run a text as a formula, or would without the apostrophes before it."""
    return _FORMULA.match(text) is not None and not is_number(text.lstrip("'"))


def unguarded(text: str) -> str:
    """What `guarded` made of a text, as it was.

    >>> unguarded("'=1+1"), unguarded("''=1+1"), unguarded("'s-Gravenhage")
    ('=1+1', "'=1+1", "'s-Gravenhage")
    """
    return text[1:] if text[:1] == "'" and runs(text[1:]) else text


def written_here(names: Sequence[str]) -> bool:
    """Whether these are the columns of a file of results, whose texts are guarded.

    >>> written_here(("size", "decision", "risk", "gap", "P(a)", "P(b)", "status", "reason")), written_here(("reason",))
    (True, False)
    """
    return _RESULTS.search("\n".join(unguarded(name).replace("\n", " ") for name in names)) is not None
