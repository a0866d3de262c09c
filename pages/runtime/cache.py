"""What is computed once: results kept for everybody, bounded in number and in bytes, and freed with their upload.

    @cached(max_entries=64)
    def _explained(fitted: Fitted, case: Mapping[str, Any], _table: FittableTable) -> Ledger:
        return fitted.judging.explain(case_frame(_table, case))

Against `st.cache_resource` it adds what many users need: one budget of bytes for all functions together (`BUDGET`), a
share for each uploaded file, and an end: when the last session that held a file is gone (`hold`), all that was computed
from it goes too. What the page of a session asks for is spared until the page was whole once (`drawing`): else a page
that needs more than its share would compute without an end.
"""

from __future__ import annotations

import hashlib
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from itertools import count
from typing import Any, NamedTuple, ParamSpec, TypeVar

import pandas as pd

from bayes_engine.language import Message
from pages.runtime import jobs
from pages.runtime.private import connected, session_id
from pages.runtime.state import PageEnded

P = ParamSpec("P")
R = TypeVar("R")
Place = tuple[int, Hashable]
"""The number of a function, and the key of one of its results."""

BUDGET = 512_000_000
"""Bytes that all kept results may take together."""
AT_LEAST = 16_000_000
"""Bytes that the results of an uploaded file may take, however small the file: what the hungriest page needs. A larger
one's as much as itself."""
SMALL = 0.1
"""Of the bytes that may be taken; a result of a smaller share is dropped where there is no larger one."""
NODES = 20_000
"""Objects that are looked at to measure a result."""
PLAIN = frozenset({type(None), bool, int, float, str, bytes})
"""Types whose `repr` says all of a value."""
NO_SIZE = (bool, int, float, type)
"""What takes nothing that counts."""
HEAD = 64
"""Bytes that an object takes besides its content, roughly."""


class Entry(NamedTuple):
    value: Any
    size: int
    owner: str  # the digest of the file it was computed from; "" = an embedded table's, or nobody's


@dataclass
class _Page:
    """What the page of a session is drawn from: `asked` by the run under way or last, and by the one `before` it, until
    the run ends; `whole` once a run has come to the end of the page."""

    asked: set[Place] = field(default_factory=set)
    before: set[Place] = field(default_factory=set)
    whole: bool = False


_lock = threading.RLock()
_numbers = count()
_entries: OrderedDict[Place, Entry] = OrderedDict()  # of all functions, the least recently used first
_gates: dict[Place, _Gate] = {}  # what is being computed: whoever asks for it too, waits
_holders: dict[str, int] = {}  # digest → how many live files
_shares: dict[str, int] = {}  # digest → bytes its results may take
_gone: deque[str] = deque()  # digests of files that died; a finalizer may run anywhere, so it only notes them here
_taken: dict[str, int] = {"": 0}  # owner → bytes; under "" those of all
_pages: dict[str, _Page] = {}  # session → its page
_asked: ContextVar[set[Place] | None] = ContextVar("asked", default=None)  # by the run of the script on this thread


def cached(*, max_entries: int, activity: Message | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep the results of a function, at most `max_entries` of them. An argument that has a `key`, as a table in use
    or a fitted model, counts by that, a mapping by its content; one whose name begins with an underscore hangs on the
    others and does not count. What may take long is a job with an `activity` (`jobs.run`)."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        names = signature(function)
        keyed = [i for i, name in enumerate(names.parameters) if not name.startswith("_")]
        fixed = all(p.default is Parameter.empty for p in names.parameters.values())
        number = next(_numbers)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given: tuple[Any, ...] = args
            if kwargs or not fixed:
                bound = names.bind(*args, **kwargs)
                bound.apply_defaults()
                given = tuple(bound.arguments.values())
            key = tuple(_key_of(given[i]) for i in keyed)
            if (asked := _asked.get()) is not None:
                with _lock:
                    asked.add((number, key))
            entry = _look((number, key))
            if entry is None:
                with _gate((number, key)):
                    entry = _look((number, key))  # whoever came first has it
                    if entry is None:
                        owner = _owner(key)

                        def work() -> Entry:
                            value = function(*args, **kwargs)
                            made = Entry(value, extra_bytes(value, args), owner)
                            _put((number, key), made, max_entries)
                            return made

                        job = (function.__module__, function.__qualname__, *key)
                        entry = work() if activity is None else jobs.run(job, work, activity, kept=True)
            result: R = entry.value
            return result

        return call

    return wrap


def _key_of(argument: Any) -> Hashable:
    key: Hashable = getattr(argument, "key", argument)
    return content_key(key) if isinstance(key, Mapping) else key


def content_key(*values: Any) -> str:
    """What stands for values in a key: the SHA-256 of their types and contents. (Unequal values may have one `hash`,
    as −1 and −2 have, and the `repr` of an array is shortened.) Raises TypeError for a type whose content it does not
    know.

    >>> content_key(-1) == content_key(-2), content_key(("a", 1)) == content_key(("a", 1))
    (False, True)
    """
    return hashlib.sha256(_content(values).encode("utf-8", "surrogatepass")).hexdigest()


def _content(value: Any) -> str:
    if type(value) in PLAIN:
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{{_content(tuple(value.items()))}}}"
    if isinstance(value, tuple | list):
        plain = type(value) is tuple and PLAIN.issuperset(map(type, value))
        return repr(value) if plain else f"({','.join(map(_content, value))})"
    if is_dataclass(value):
        compared = [getattr(value, field.name) for field in fields(value) if field.compare]
        return f"{type(value).__qualname__}{_content(compared)}"
    if hasattr(value, "dtype"):
        return f"{value.dtype}{value.shape}{_content(value.tolist())}"
    raise TypeError(f"no content of {type(value)} is known, which a key could hold")


@contextmanager
def drawing() -> Iterator[None]:
    """A run of the script that draws the page of this session: what it asks for is not dropped before the page was
    whole once, and as long as the page stands there only for want of room for all (`BUDGET`)."""
    with _lock:
        page = _pages.setdefault(session_id(), _Page())
        page.before |= page.asked
        page.asked, page.whole = set(), False
        token = _asked.set(page.asked)
    ended = whole = False
    try:
        yield
        ended = whole = True
    except jobs.UnderWay:
        ended = True
        raise
    except PageEnded:
        ended = whole = True
        raise
    finally:
        _asked.reset(token)
        if ended:  # one that a click has broken off had more to ask for
            with _lock:
                page.whole = whole
                page.before.clear()


def hold(digest: str, holder: object, size: int) -> None:
    """Say that `holder` is the file `digest` of `size` bytes, in some session: what is computed from the file is kept
    as long as one such object lives."""
    with _lock:
        _holders[digest] = _holders.get(digest, 0) + 1
        _shares[digest] = max(size, AT_LEAST)
    weakref.finalize(holder, _gone.append, digest).atexit = False


def release() -> int:
    """Drop what was computed from files that nobody holds any more; how many files those were."""
    released = 0
    with _lock:
        while _gone:
            digest = _gone.popleft()
            _holders[digest] -= 1
            if _holders[digest]:
                continue
            del _holders[digest], _shares[digest]
            for place in _places_of(digest):
                _drop(place)
            _taken.pop(digest, None)
            released += 1
    return released


# one result -----------------------------------------------------------------------------------------------------


def _look(place: Place) -> Entry | None:
    with _lock:
        entry = _entries.get(place)
        if entry is not None:
            _entries.move_to_end(place)
        return entry


class _Gate:
    """One at a time computes a key, the others wait for it. Where that one has failed or was put off (a long job goes
    on elsewhere), those who waited go in together: a queue of them would wait one after the other."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.lock = threading.Lock()
        self.open = False

    def __enter__(self) -> None:
        self.lock.acquire()
        if self.open:
            self.lock.release()

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        with _lock:
            if _gates.get(self.place) is self:
                del _gates[self.place]
        if not self.open:
            self.open = error is not None
            self.lock.release()


def _gate(place: Place) -> _Gate:
    with _lock:
        return _gates.setdefault(place, _Gate(place))


def _put(place: Place, entry: Entry, most: int) -> None:
    release()
    with _lock:
        if entry.owner and entry.owner not in _holders:
            return  # the file has gone while a job was at work
        if place in _entries:
            _drop(place)
        _entries[place] = entry
        for owner in {"", entry.owner}:
            _taken[owner] = _taken.get(owner, 0) + entry.size
        spared = _on_screen(under_way=True)
        for old in [other for other in _entries if other[0] == place[0]][:-most]:
            if old not in spared:
                _drop(old)
        if entry.owner:
            _shrink(entry.owner, _shares.get(entry.owner, AT_LEAST))
        _shrink("", BUDGET)


def _places_of(owner: str) -> list[Place]:
    return [place for place, entry in _entries.items() if owner in ("", entry.owner)]


def _shrink(owner: str, limit: int) -> None:
    """Drop the least recently used results, of one file or of all, until they keep the limit; small ones, which make
    little room, go last. The newest stays: where it alone is more than the limit, an eighth of it is left to others. A
    file's limit spares what stands on a page, that of all only what a page under way needs; the rest of a page goes
    last."""
    if _taken.get(owner, 0) <= limit:
        return
    mine = _places_of(owner)
    sizes = {place: _entries[place].size for place in mine}
    limit = max(limit, sizes[mine[-1]] + limit // 8) if mine else limit
    shown, spared = _on_screen(), _on_screen(under_way=not owner)
    droppable = [place for place in mine[:-1] if place not in spared]
    for place in sorted(droppable, key=lambda place: (place in shown, sizes[place] < SMALL * limit)):
        if _taken.get(owner, 0) <= limit:
            return
        _drop(place)


def _on_screen(*, under_way: bool = False) -> set[Place]:
    """What the pages of the sessions that are there are drawn from; of those `under_way` alone."""
    for session in [session for session in _pages if not connected(session)]:
        del _pages[session]
    pages = [page for page in _pages.values() if not (under_way and page.whole)]
    return set().union(*(page.asked | page.before for page in pages))


def _drop(place: Place) -> None:
    entry = _entries.pop(place)
    for owner in {"", entry.owner}:
        _taken[owner] -= entry.size


def _owner(key: tuple[Any, ...]) -> str:
    """The file that a key speaks of; the digests are long enough to stand in no other key by chance."""
    with _lock:
        return next((digest for digest in _holders if _names(key, digest)), "")


def _names(key: Any, digest: str) -> bool:
    """Whether a text in a key, or in a key inside it, holds the digest."""
    return digest in key if isinstance(key, str) else type(key) is tuple and any(_names(part, digest) for part in key)


# measuring ------------------------------------------------------------------------------------------------------


def extra_bytes(value: Any, besides: Iterable[Any] = ()) -> int:
    """The bytes of arrays, frames and texts that `value` holds and `besides` does not: what it takes to keep it.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [1.0] * 1000})
    >>> extra_bytes(frame) >= 8000, extra_bytes([frame["x"]], [frame]) < 1000
    (True, True)
    """
    large = dict[int, tuple[int, Any]]()
    total = _walk(value, {}, large)
    small = total - sum(size for size, _thing in large.values())
    if small <= _SMALL:  # then it hardly matters who else holds that
        others = [_large_parts(other) for other in besides] if large else []
        return total - sum(
            size for address, (size, _thing) in large.items() if any(address in other for other in others)
        )
    seen: dict[int, Any] = {}  # by identity; the objects too, for a freed one's identity may come back
    for other in besides:
        _walk(other, seen)
    return _walk(value, seen)


_LARGE, _SMALL = 1 << 12, 1 << 15
"""Bytes from which on an array or a text is told apart, and which all the others of a value take that are few."""
_parts: dict[int, tuple[weakref.ref[Any], dict[int, tuple[int, Any]]]] = {}
"""By the identity of an argument, as long as it lives: its large arrays and texts. Tables and models never change."""


def _large_parts(thing: Any) -> Mapping[int, tuple[int, Any]]:
    """The large arrays and texts that a thing holds, by their identity, with their sizes. An array of objects, which
    might hold the thing itself, is not among them."""
    key = id(thing)
    known = _parts.get(key)
    if known is not None and known[0]() is thing:
        return known[1]
    large = dict[int, tuple[int, Any]]()
    _walk(thing, {}, large)
    large = {
        address: one for address, one in large.items() if getattr(getattr(one[1], "dtype", None), "kind", "") != "O"
    }
    with suppress(TypeError):  # a tuple, a number
        forget = _parts.pop  # at the end of Python its module is emptied first
        _parts[key] = weakref.ref(thing, lambda _: forget(key, None)), large
    return large


def _walk(start: Any, seen: dict[int, Any], large: dict[int, tuple[int, Any]] | None = None) -> int:
    """Bytes below `start` outside `seen`, which grows by what was met; as do the `large` arrays and texts."""

    def taken(size: int, address: int, held: Any) -> int:
        if large is not None and size >= _LARGE:
            large[address] = size, held
        return size

    total, todo = 0, [start]
    for _ in range(NODES):
        if not todo:
            break
        thing = todo.pop()
        if id(thing) in seen or thing is None or isinstance(thing, NO_SIZE):
            continue
        seen[id(thing)] = thing
        total += HEAD
        if isinstance(thing, str | bytes):
            total += taken(len(thing), id(thing), thing)
        elif isinstance(thing, Mapping):
            todo += [*thing.keys(), *thing.values()]
        elif isinstance(thing, list | tuple | set | frozenset | deque):
            todo += thing
        elif isinstance(thing, pd.DataFrame):
            todo += [column.array for _name, column in thing.items()]
        elif isinstance(thing, pd.RangeIndex):
            pass  # its array would be made for the asking, and stay
        elif isinstance(thing, pd.Series | pd.Index):
            todo.append(thing.array)
        elif hasattr(type(thing), "__array_interface__"):  # of the array itself it would be made for the asking
            whole = thing
            while getattr(whole, "base", None) is not None:  # a view keeps all of what it is a view of
                whole = whole.base
            if whole is thing or id(whole) not in seen:
                seen[id(whole)] = whole
                total += taken(int(getattr(whole, "nbytes", 0)), id(whole), whole)
        elif isinstance(thing, pd.api.extensions.ExtensionArray):
            total += _extension(thing, seen, todo, taken)
        else:
            todo += vars(thing).values() if hasattr(thing, "__dict__") else []
            todo += [getattr(thing, name, None) for name in getattr(type(thing), "__slots__", ())]
    return total


def _extension(array: Any, seen: dict[int, Any], todo: list[Any], taken: Callable[[int, int, Any], int]) -> int:
    """The bytes of a pandas array that has no plain one: Arrow's buffers, by their address."""
    inner = getattr(array, "_ndarray", None)
    if inner is None:
        inner = getattr(array, "_codes", None)
    if inner is not None:
        todo += [inner, getattr(array, "categories", None)]
        return 0
    total = 0
    for chunk in getattr(getattr(array, "_pa_array", None), "chunks", ()):
        for buffer in chunk.buffers():
            if buffer is not None and buffer.address not in seen:
                seen[buffer.address] = buffer
                total += taken(buffer.size, buffer.address, buffer)
    return total
