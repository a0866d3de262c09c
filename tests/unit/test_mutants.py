"""The mutants that `python -m tests.mutants` draws from."""

from __future__ import annotations

import ast
import gc
import random

from bayes_engine.stats import counts
from tests.mutants import ROOT, drawn, functions_by_file, mutants

SOURCE = """
LIMIT = 3

def f(a, b):
    if a < LIMIT:
        return max(a - 1, b)
    return -b
"""


def test_every_kind_of_change_is_offered_and_undone() -> None:
    tree = ast.parse(SOURCE)
    before, found = ast.unparse(tree), list(mutants(ROOT / "some.py", tree))
    assert sorted(m.what for m in found) == [
        "1 becomes 2",
        "Lt becomes LtE in a < LIMIT",
        "Sub becomes Add in a - 1",
        "if a < LIMIT becomes if False",
        "if a < LIMIT becomes if True",
        "return -b becomes return None",
        "return max(a - 1, b) becomes return None",
        "the first two arguments change places in max(a - 1, b)",
        "the sign goes in -b",
    ]
    changed = set()
    for mutant in found:
        with mutant.applied():
            changed.add(ast.unparse(tree))
        assert ast.unparse(tree) == before
    assert len(changed - {before}) == len(found)


def test_a_sample_is_drawn_in_proportion_and_from_its_seed_alone() -> None:
    tree = ast.parse(SOURCE)
    met = {ROOT / f"{k}.py": list(mutants(ROOT / f"{k}.py", tree)) for k in range(4)}
    sample = drawn(met, 12, random.Random(1))
    assert sample == drawn(met, 12, random.Random(1)) != drawn(met, 12, random.Random(2))
    assert {sum(m.path.name == f"{k}.py" for m in sample) for k in range(4)} == {3}


def test_functions_that_were_frozen_are_found() -> None:
    """The collector does not list what tests/conftest.py freezes: every mutant would survive."""
    gc.freeze()
    try:
        assert counts.refuse_tables in functions_by_file()[counts.__file__]
    finally:
        gc.freeze()
