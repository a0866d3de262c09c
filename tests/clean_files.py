"""A file that is proved to be clean gives what the rules make of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayes_engine.table import clean_csv, read
from bayes_engine.table.clean_csv import read_clean
from bayes_engine.table.read import Reading, read_table


def assert_alike(data: bytes, by_rules: Reading | None = None, name: str = "") -> bool:
    """However short it is, the typed reader gives of a file that is proved to be clean the table and the report that
    the rules alone make of it (`by_rules` where it was read by them already); whether it was proved. Any other file is
    read by the rules."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clean_csv, "LEAST", 0)
        clean = read_clean(data)
        if clean is None:
            return False
        if by_rules is None:
            patch.setattr(read, "read_clean", lambda _: None)
            by_rules = read_table(data, name=name)
        patch.setattr(read, "read_clean", lambda _: clean)
        typed = read_table(data, name=name)
    pd.testing.assert_frame_equal(typed.frame, by_rules.frame, check_exact=True)
    assert not any(np.signbit(x[x == 0]).any() for _, x in typed.frame.select_dtypes("float").items())
    assert (typed.schema, typed.report, typed.recipe) == (by_rules.schema, by_rules.report, by_rules.recipe)
    return True
