"""A file that is proved to be clean gives what the rules make of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayes_engine.table import clean_csv, clean_form, read
from bayes_engine.table.clean_csv import read_clean
from bayes_engine.table.convert import ConvertedTable
from bayes_engine.table.read import Reading, read_table


def assert_alike(data: bytes, name: str = "") -> bool:
    """However short it is, the typed reader gives of a file that is proved to be clean the table and the report that
    the rules alone make of it, at once and as it reads a long file in parts; whether it was proved. Any other file is
    read by the rules."""
    if _proved(data) is None:
        return False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "read_clean", lambda _: None)
        by_rules = read_table(data, name=name)
    proved = [_as_by_rules(clean, data, by_rules, name) for clean in (_proved(data), _proved(data, at_once=0)) if clean]
    return any(proved)


def _proved(data: bytes, at_once: int = clean_csv._AT_ONCE) -> tuple[ConvertedTable, str] | None:
    """What the typed reader makes of a file however short, where it takes no more than `at_once` bytes at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clean_form, "LEAST", 0)
        patch.setattr(clean_csv, "_AT_ONCE", at_once)
        return read_clean(data)


def _as_by_rules(clean: tuple[ConvertedTable, str], data: bytes, by_rules: Reading, name: str) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "read_clean", lambda _: clean)
        typed = read_table(data, name=name)
    pd.testing.assert_frame_equal(typed.frame, by_rules.frame, check_exact=True)
    assert not any(np.signbit(x[x == 0]).any() for _, x in typed.frame.select_dtypes("float").items())
    assert (typed.schema, typed.report, typed.recipe) == (by_rules.schema, by_rules.report, by_rules.recipe)
    return True
