"""Results that are kept: once computed, bounded in number and bytes, gone with the file they were computed from."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayes_engine import LossMatrix
from bayes_engine.language import Message
from bayes_engine.priors import Dirichlet
from bayes_engine.table.schema import Schema, Variable
from pages.runtime import cache, jobs
from tests.cache_contents import bytes_kept, forget
from tests.conftest import PATIENCE, ROOT

DIGEST = "0123456789abcdef"


class File:
    """Stands for an upload."""


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is kept, and no file of an earlier test is known, which may die at any moment."""
    forget()
    for name, nothing in (("_holders", {}), ("_shares", {}), ("_gone", deque()), ("_taken", {"": 0})):
        monkeypatch.setattr(cache, name, nothing)
    monkeypatch.setattr(cache, "AT_LEAST", 1_000_000)
    yield
    forget()


def test_a_result_is_computed_once_for_its_key() -> None:
    calls = []

    @cache.cached(max_entries=2)
    def square(key: str, n: int, _given: Any = None, *, power: int = 2) -> int:
        """The docstring stays."""
        calls.append((key, n, power))
        return int(n**power)

    assert square("a", 3) == square("a", 3, object()) == square(key="a", n=3) == 9
    assert square("a", 3, power=3) == 27
    assert calls == [("a", 3, 2), ("a", 3, 3)]
    assert square.__doc__ == "The docstring stays."


def test_an_argument_with_a_key_counts_by_it() -> None:
    calls = []

    @cache.cached(max_entries=2)
    def size(table: Any) -> int:
        calls.append(table.key)
        return len(table.rows)

    tables = [SimpleNamespace(key=key, rows=[0] * n) for key, n in (("a", 1), ("a", 2), ("b", 3))]
    assert [size(table) for table in tables] == [1, 1, 3]
    assert calls == ["a", "b"]


def test_the_key_of_a_content_tells_what_hash_and_repr_do_not() -> None:
    def loss(*cells: float) -> LossMatrix:
        return LossMatrix(("a", "b"), ("a", "b"), [[0, cells[0]], [cells[1], 0]])

    classes = tuple(range(40))
    large = np.ones((40, 40))
    larger = large.copy()
    larger[20, 20] = 2.0
    unlike = [
        -1, -2, 1, 1.0, True, "1", b"1", None, (), "", "a,b", ("a", "b"), (("a",), "b"), ("a", ("b",)), 0.0, -0.0,
        {"a": 1}, {"a": 2}, loss(1.0, 2.0), loss(1.0 + 1e-12, 2.0), loss(-1.0, 2.0), loss(-2.0, 2.0), "\ud800",
        LossMatrix(classes, classes, large), LossMatrix(classes, classes, larger), large, larger, Dirichlet(1.0),
        Dirichlet(2.0), *(Schema((Variable("a", "categorical", (low, 0)),)) for low in (-1, -2)),
    ]  # fmt: skip
    assert len({cache.content_key(value) for value in unlike}) == len(unlike)
    assert cache.content_key(loss(1.0, 2.0)) == cache.content_key(loss(1.0, 2.0))
    assert cache.content_key("ab", "c") != cache.content_key("a", "bc")
    with pytest.raises(TypeError, match="object"):
        cache.content_key(object())


def test_the_least_recently_used_goes_first() -> None:
    calls = []

    @cache.cached(max_entries=2)
    def same(key: str) -> str:
        calls.append(key)
        return key

    for key in ("a", "b", "a", "c", "a", "b"):
        same(key)
    assert calls == ["a", "b", "c", "b"]


def test_all_together_keep_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    @cache.cached(max_entries=100)
    def one(key: int) -> Any:
        return np.zeros(100_000)

    @cache.cached(max_entries=100)
    def other(key: int) -> Any:
        return np.ones(100_000)

    monkeypatch.setattr(cache, "BUDGET", 4_000_000)
    for key in range(10):
        one(key), other(key)
    assert 3_000_000 < bytes_kept() <= 4_000_000
    assert one(9) is one(9)


def test_what_a_file_gave_goes_with_the_last_session_that_holds_it() -> None:
    @cache.cached(max_entries=100)
    def fit(key: str, n: int) -> Any:
        return np.zeros(n)

    first, second = File(), File()
    cache.hold(DIGEST, first, 3_000_000)
    cache.hold(DIGEST, second, 3_000_000)
    mine = f"upload:{DIGEST}|2f"
    whole = fit(mine, 1000)
    fit("iris", 1000)
    del first
    assert cache.release() == 0 and fit(mine, 1000) is whole
    assert bytes_kept(DIGEST) >= 8000
    del second
    assert cache.release() == 1
    assert bytes_kept(DIGEST) == 0 and 8000 <= bytes_kept() < 16000  # iris stays


def test_a_model_counts_by_its_key_and_goes_with_the_file_that_this_speaks_of() -> None:
    """The key of a fitted model holds that of its table, which holds the file's."""
    calls = []

    @cache.cached(max_entries=4)
    def explained(fitted: SimpleNamespace, case: Mapping[str, float], _table: object) -> Any:
        calls.append(dict(case))
        return np.zeros(1000)

    def fitted(digest: str) -> SimpleNamespace:
        return SimpleNamespace(key=((f"upload:{digest}|2f", None), "laplace"))

    file = File()
    cache.hold(DIGEST, file, 3_000_000)
    for _rerun in range(2):
        explained(fitted(DIGEST), {"x": -1.0}, object())
        explained(fitted(DIGEST), {"x": -2.0}, object())  # hash(-1.0) == hash(-2.0)
        explained(fitted("another"), {"x": -1.0}, object())
    assert calls == [{"x": -1.0}, {"x": -2.0}, {"x": -1.0}]
    assert bytes_kept(DIGEST) >= 16_000
    del file
    assert cache.release() == 1 and bytes_kept(DIGEST) == 0 and bytes_kept() >= 8000


def test_the_results_of_a_file_take_no_more_than_the_file() -> None:
    @cache.cached(max_entries=100)
    def fit(key: str, n: int) -> Any:
        return np.zeros(100_000)

    file = File()
    cache.hold(DIGEST, file, 3_000_000)
    for n in range(20):
        fit(f"upload:{DIGEST}|a", n)
        fit("iris", n)
    assert 2_000_000 < bytes_kept(DIGEST) <= 3_000_000
    assert bytes_kept() > 16_000_000  # the embedded table's are left alone


def test_those_who_ask_at_once_wait_for_one_answer() -> None:
    calls = []

    @cache.cached(max_entries=4)
    def slow(key: str) -> int:
        calls.append(key)
        time.sleep(0.2)
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(slow, ["a"] * 8)) == [1] * 8
    assert calls == ["a"]


def test_those_who_waited_for_a_failure_do_not_wait_for_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    tries, ready, at_the_gate, gate_of = [], threading.Barrier(7), threading.Semaphore(0), cache._gate

    def gate(place: Any) -> Any:
        there = gate_of(place)
        at_the_gate.release()
        return there

    monkeypatch.setattr(cache, "_gate", gate)

    @cache.cached(max_entries=4)
    def put_off(key: str) -> int:
        tries.append(key)
        if len(tries) == 1:
            assert all(at_the_gate.acquire(timeout=PATIENCE) for _ in range(8))
        else:
            ready.wait(PATIENCE)  # only passed if the seven others are here together
        raise KeyError(key)

    def attempt(_: int) -> str:
        with pytest.raises(KeyError):
            put_off("a")
        return "failed"

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(attempt, range(8))) == ["failed"] * 8
    assert len(tries) == 8 and not cache._gates


def test_a_failure_is_not_kept() -> None:
    outcomes = iter([KeyError("first"), 5])

    @cache.cached(max_entries=4)
    def fickle(key: str) -> Any:
        if isinstance(found := next(outcomes), Exception):
            raise found
        return found

    with pytest.raises(KeyError):
        fickle("a")
    assert fickle("a") == 5


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        (np.zeros(1000), 8000, 8200),
        ([np.zeros(1000)] * 5, 8000, 8300),  # one array, however often it is named
        (np.zeros((100, 1000))[:, 0], 800_000, 800_300),  # a view keeps the whole
        (SimpleNamespace(a={"b": (np.zeros(1000), "x" * 1000)}), 9000, 10_000),
        (pd.DataFrame({"x": np.zeros(1000), "y": ["word"] * 1000}), 8000 + 4000, 25_000),
        (pd.DataFrame({"y": pd.Categorical(["word"] * 1000)}), 1000, 2000),
        (None, 0, 0),
    ],
)
def test_the_measure_of_a_result(value: Any, least: int, most: int) -> None:
    assert least <= cache.extra_bytes(value) <= most


def test_what_was_there_before_does_not_count() -> None:
    frame = pd.DataFrame({"x": np.zeros(100_000), "y": np.ones(100_000)})
    assert cache.extra_bytes({"X": frame[["x"]], "n": 3}, [frame]) < 1500
    assert cache.extra_bytes(np.zeros(1000), [frame]) >= 8000


def test_a_result_that_names_itself_is_measured() -> None:
    around: list[Any] = [np.zeros(10)]
    around.append(around)
    assert 80 <= cache.extra_bytes(around) < 400


def test_pages_keep_results_here_and_nowhere_else() -> None:
    """Streamlit's own caches know no budget of bytes and no file that is gone; the start-up alone is kept there."""
    lines = [
        f"{path.name}: {line}"
        for path in (ROOT / "pages").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert [line for line in lines if ": @st.cache" in line] == ["run.py: @st.cache_resource(show_spinner=False)"]


def test_a_result_larger_than_its_share_leaves_the_small_ones() -> None:
    calls = []

    @cache.cached(max_entries=100)
    def fit(key: str, n: int) -> Any:
        calls.append(n)
        return np.zeros(n)

    file = File()
    cache.hold(DIGEST, file, 2_000_000)
    mine = f"upload:{DIGEST}|a"
    for _edit in range(3):
        for n in (1000, 2000, 300_000):  # bytes are eight times that: one alone is more than the file
            fit(mine, n)
    assert calls == [1000, 2000, 300_000]
    fit(mine, 200_000)
    assert calls[3:] == [200_000] and bytes_kept(DIGEST) < 2_000_000
    fit(mine, 1000)
    assert calls[4:] == [], "the large one made room, the small one stayed"
    for n in range(20_000, 20_100):  # many small ones keep the share too
        fit(mine, n)
    assert bytes_kept(DIGEST) <= 2_000_000


class Pages:
    """Pages of several sessions, each drawn from eight results of an uploaded file, which has room for two of them: a
    run computes one that is missing, and ends there."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, int]] = []
        self.session = "one"
        self.there = {"one", "two"}
        patch.setattr(cache, "_pages", {})
        patch.setattr(cache, "connected", lambda session: session in self.there)
        patch.setattr(cache, "session_id", lambda: self.session)

        @cache.cached(max_entries=100)
        def result(key: str, n: int) -> Any:
            self.calls.append((key, n))
            return np.zeros(50_000)

        self.result = result

    def run(self, key: str, session: str = "one", error: type[BaseException] | None = None) -> bool:
        """Whether the page is whole now."""
        self.session = session
        with suppress(jobs.UnderWay, KeyboardInterrupt), cache.drawing():
            for n in range(8):
                before = len(self.calls)
                self.result(key, n)
                if error is not None:
                    raise error
                if len(self.calls) > before:
                    raise jobs.UnderWay(n, Message("computing"), None)
            return True
        return False


def test_a_page_that_needs_more_than_its_share_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    file, pages = File(), Pages(monkeypatch)
    cache.hold(DIGEST, file, 1)
    mine, other = f"upload:{DIGEST}|a", f"upload:{DIGEST}|b"
    runs = [pages.run(mine) for _run in range(9)]
    assert runs == [False] * 8 + [True] and pages.calls == [(mine, n) for n in range(8)]
    assert pages.run(mine) and len(pages.calls) == 8, "what stands on the page is there for the next click"
    pages.run(mine, error=KeyboardInterrupt)  # a click that breaks a run off
    assert pages.run(mine) and len(pages.calls) == 8
    assert [pages.run(other) for _run in range(9)] == [False] * 8 + [True], "another page"
    assert len(pages.calls) == 16
    pages.result("", 0)
    pages.result(f"upload:{DIGEST}|c", 0)
    assert len([place for place in cache._entries if mine in place[1]]) == 0, "the page that was left makes room"


def test_pages_that_are_whole_make_room_where_there_is_none_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = Pages(monkeypatch)
    monkeypatch.setattr(cache, "BUDGET", 5_000_000)  # room for twelve results
    assert [pages.run("a", "one") for _run in range(9)][-1]
    assert [pages.run("b", "two") for _run in range(9)] == [False] * 8 + [True]
    assert bytes_kept() <= 5_000_000 and len(pages.calls) == 16
    assert not pages.run("a", "one"), "some of it had to go"
    pages.there = set()
    pages.result("c", 0)
    assert not cache._pages, "sessions that have left need nothing"


def test_the_numbers_of_rows_take_nothing() -> None:
    rows = pd.RangeIndex(1_000_000)
    assert cache.extra_bytes(rows) < 200 and "_data" not in rows._cache


def test_what_an_argument_holds_is_not_counted_and_forgotten_with_it() -> None:
    table: Any = File()
    table.x, table.words, table.cells = np.zeros(10_000), "word " * 2000, pd.Series(["one", "two"] * 2000)
    view, own = table.x[10:], np.ones(5000)
    value = [view, table.words, table.cells.array, own]
    assert 0 <= cache.extra_bytes(value, [table, 5, "text"]) - own.nbytes < 1000
    assert cache.extra_bytes(value) > own.nbytes + table.x.nbytes + len(table.words)
    known = len(cache._parts)
    del table, value, view
    assert len(cache._parts) == known - 1


def test_a_value_of_many_small_parts_is_counted_part_by_part() -> None:
    levels = [f"level {i}" for i in range(2000)]
    table = SimpleNamespace(levels=levels)
    assert cache.extra_bytes([levels], [table]) < 1000 < 100_000 < cache.extra_bytes([levels])
