"""Names that mean something to Python or pandas are names like any other."""

from __future__ import annotations

import pytest

from tests.apptest.opened import uploaded
from tests.conftest import slowly

NAMES = ("self", "index", "class", "name", "values", "T")
TABLE = "\n".join(
    [",".join(NAMES), *(f"{i % 7},{i * 3 % 5},{'ab'[i % 2]},{'xyz'[i % 3]},{i % 4},{i % 6 / 2}" for i in range(40))]
)


@pytest.mark.parametrize(
    "page", ["data", "case", "network", *map(slowly, ("model", "decisions", "dependence", "classify", "projection"))]
)
def test_every_page_takes_them(page: str) -> None:
    uploaded(TABLE.encode(), page=page)


@pytest.mark.slow
@pytest.mark.parametrize("view", ["ways", slowly("compare")])
def test_so_do_the_other_views_of_the_model(view: str) -> None:
    uploaded(TABLE.encode(), page="model", model_view=view)
