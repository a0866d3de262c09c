"""What pages have done in worker processes can be sent there and back, and a page made of copies is the same page."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pages.runtime import cache, job_queue
from pages.runtime.state import Spec, State
from tests.apptest.opened import opened
from tests.conftest import every_other

HANDED = {
    "start": {"posterior_plane"},
    "data": {"examine"},
    "decisions": {"held_out"},
    "case": {"plausible"},
    "dependence": {"fit", "all_tested", "grow", "held_out"},
    "projection": set[str](),
    "hidden": {"run_em", "ends_of_runs"},
    "laboratory": {"learning_curve"},
    "model": set[str](),
}
"""What each page hands over as it opens."""


class Copies:
    """In place of worker processes: what goes there and comes back, as copies."""

    def __init__(self) -> None:
        self.handed: set[str] = set()

    def compute(self, work: Callable[[], Any], _asker: object) -> Any:
        self.handed.add(work.func.__name__)  # type: ignore[attr-defined]
        return copy(copy(work)())

    def ahead(self, _asker: object) -> int:
        return 0


def copy(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))  # noqa: S301


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> Iterator[Copies]:
    there = Copies()
    cache._entries.clear()
    monkeypatch.setattr(job_queue.pool, "pool", lambda: there)
    yield there
    cache._entries.clear()


def words(page: str, asked: State) -> list[str]:
    app = opened(page, asked)
    kinds = (app.markdown, app.metric, app.caption, app.dataframe)
    return [str(one.value) for kind in kinds for one in kind]  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", every_other(HANDED))
@pytest.mark.slow
def test_a_page_of_copies_is_the_same_page(page: str, copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = State(language="en", table="iris", shelf=(Spec("laplace", (("alpha", 1.8125),)),))
    there = words(page, asked)
    assert copies.handed >= HANDED[page]
    monkeypatch.setattr(job_queue.pool, "pool", lambda: None)
    cache._entries.clear()
    assert words(page, asked) == there
