"""The error classes. An error is a `Message`: what, where, what to do; `str()` is English, `.message.local()` not."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copyreg import __newobj__  # type: ignore[attr-defined]
from typing import Any

from bayes_engine.language import Message


class _Said(Exception):
    """An exception whose text is a Message: `template` with its named `params`."""

    def __init__(self, template: str, **params: object) -> None:
        self.message = Message(template, params)
        super().__init__(str(self.message))

    def __reduce__(self) -> Any:
        return __newobj__, (type(self), str(self)), self.__dict__  # as it stands: joblib sends it by pickle


class BayesEngineError(_Said, ValueError):
    """Base of every error raised on purpose here. A ValueError, so scikit-learn's callers already handle it.

    >>> error = TableError("column '{column}' is empty", column="density")
    >>> str(error), error.message.params
    ("column 'density' is empty", {'column': 'density'})
    """


class TableError(BayesEngineError):
    """A table, a column or a cell cannot be used as it stands."""


class CellTypeError(TableError, TypeError):
    """A cell that is neither string, number nor truth value; a TypeError too, as scikit-learn's callers expect."""


class ReadError(TableError):
    """Bytes that cannot be read as a table."""


class NoTerms(TableError):
    """The texts of a column hold no term, or too rare ones."""


class UnseenLevel(TableError):
    """A categorical value outside the column's levels, where the policy is to refuse it."""


class SchemaMismatch(TableError):
    """Two tables or statistics do not speak of the same columns."""


class NotASubset(BayesEngineError):
    """Statistics are subtracted that were never added."""


class PrecisionLost(BayesEngineError):
    """Statistics are subtracted, and what is left would have too few digits: it must be counted from its rows."""


class ParameterError(BayesEngineError):
    """An estimator's parameter has a value that cannot be meant."""


class LossError(BayesEngineError):
    """A loss matrix with a wrong label, a missing cell or a value that is no number."""


class StoreError(BayesEngineError):
    """A file that cannot be what it was saved as, or something that has no place in one."""


class EstimationWarning(_Said, UserWarning):
    """An estimate had to be replaced or a column set aside; the message names which."""


_listener: ContextVar[list[Message] | None] = ContextVar("bayes_engine_heard", default=None)


@contextmanager
def listen() -> Iterator[list[Message]]:
    """What estimates inside warn of comes into the list, and nobody is warned.

    `warnings.catch_warnings` would change the filters of the whole process, those of every other thread too.

    >>> with listen() as notes:
    ...     report(EstimationWarning("column '{column}' is set aside", column="size"))
    >>> str(notes[0])
    "column 'size' is set aside"
    """
    notes: list[Message] = []
    token = _listener.set(notes)
    try:
        yield notes
    finally:
        _listener.reset(token)


def is_listened() -> bool:
    """Whether somebody listens to what estimates warn of.

    >>> with listen():
    ...     inside = is_listened()
    >>> inside, is_listened()
    (True, False)
    """
    return _listener.get() is not None


def hear(notes: Iterable[Message]) -> None:
    """What estimates warned of elsewhere, in another process, comes to whoever listens here.

    >>> with listen() as notes:
    ...     hear([Message("one class has no row")])
    >>> len(notes)
    1
    """
    if (heard := _listener.get()) is not None:
        heard.extend(notes)


def report(warning: EstimationWarning, stacklevel: int = 1) -> None:
    """Warn, or where somebody `listen`s, tell them instead.

    >>> with listen() as notes:
    ...     report(EstimationWarning("one class has no row"))
    >>> len(notes)
    1
    """
    notes = _listener.get()
    if notes is None:
        warnings.warn(warning, stacklevel=stacklevel + 1)
    else:
        notes.append(warning.message)


class UndefinedPosterior(BayesEngineError):
    """Rows for which P(c|x) is 0/0 or outside what the model can say. `.rows` are their positions.

    >>> UndefinedPosterior("no posterior for {n} row(s): {rows}", (3, 5)).rows
    (3, 5)
    """

    def __init__(self, template: str, rows: tuple[int, ...] = (), **params: object) -> None:
        self.rows = rows
        super().__init__(template, rows=", ".join(map(str, rows[:10])), n=len(rows), **params)


class TooLarge(BayesEngineError):
    """Exact inference would need tables that nobody can hold; the message says how large, and what to do instead."""


class ImpossibleEvidence(BayesEngineError):
    """Findings that no case can have together: P(e) = 0. `.rows` are the positions of such rows, and `.findings` a
    smallest set of (node, level) of the first that is impossible by itself."""

    def __init__(
        self, template: str, rows: tuple[int, ...] = (), findings: tuple[tuple[str, object], ...] = (), **params: object
    ) -> None:
        self.rows = rows
        self.findings = findings
        evidence = ", ".join(f"{name} = {level}" for name, level in findings)
        super().__init__(template, findings=evidence, row=rows[0] if rows else 0, n=len(rows), **params)
