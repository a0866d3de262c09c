"""The log: complete in type, place and wording, and without a cell of anybody's table.

What a person uploads must not end in a file that others read, and a cell such as "ok\\n2026-01-01 ERROR …" must not
forge a line of it or colour a terminal. So a record is cleaned where it is made, for every logger and every handler,
Streamlit's own included: an exception is its type, its frames and, where it is one of ours, the sentence with its
fields unfilled; texts put into a message give way to their type and length; control characters are written out.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from streamlit.logger import get_logger

from bayes_engine.language import Message

SERVER = ("uvicorn", "websockets", "asyncio")
"""Loggers that speak of addresses and signals, never of a table: what they fill in stays readable."""
LONGEST = 2000
"""Characters of a message that are written."""
_log = get_logger("bayes_workbench")


def one_line(text: str) -> str:
    """`text` with everything written out that could break a line, move a cursor or turn the direction of reading.

    >>> one_line("ok\\n\\x1b[31mERROR\\u202e")
    'ok\\\\n\\\\x1b[31mERROR\\\\u202e'
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:LONGEST])
    return shown if len(text) <= LONGEST else f"{shown}…"


def type_and_template(error: BaseException) -> str:
    """What an error says, in type and template; what was filled in is data and stays out.

    >>> from bayes_engine.errors import TableError
    >>> type_and_template(TableError("column '{column}' is empty", column="salary of Ann"))
    "TableError: column '{column}' is empty"
    >>> type_and_template(KeyError("Ann"))
    'KeyError'
    """
    message = getattr(error, "message", None)
    if isinstance(message, Message):
        return f"{type(error).__name__}: {one_line(message.template)}"
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}: [Errno {error.errno}] {one_line(error.strerror)}"
    return type(error).__name__


def traceback_without_data(error: BaseException) -> str:
    """The whole traceback with its causes, as Python prints it, but with `type_and_template` for the errors."""
    return "\n".join(_lines_of(error, set()))


def _lines_of(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _lines_of(before, seen)
        yield "which caused:" if error.__cause__ else "while that was dealt with:"
    yield "Traceback (most recent call last):"
    for frame in traceback.format_tb(error.__traceback__):
        yield from map(one_line, frame.rstrip("\n").split("\n"))
    yield type_and_template(error)
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            if id(each) not in seen:
                yield from _lines_of(each, seen)


class CleanRecord(logging.LogRecord):
    """A record that can be written by any handler: one line for the message, and a traceback without data."""

    def __init__(self, name: str, level: int, pathname: str, lineno: int, msg: object, args: Any, exc_info: Any,
                 func: str | None = None, sinfo: str | None = None, **more: Any) -> None:  # fmt: skip
        super().__init__(name, level, pathname, lineno, msg, args, exc_info, func, sinfo, **more)
        if self.exc_info and self.exc_info[1] is not None:
            # handlers write this rather than the text of the exception
            self.exc_text = traceback_without_data(self.exc_info[1])

    def getMessage(self) -> str:
        """The message in one line, with numbers and names of types for what was put into it."""
        if isinstance(self.msg, BaseException):
            return type_and_template(self.msg)
        if isinstance(self.msg, Message):
            return one_line(self.msg.template)
        text, args = str(self.msg), self.args
        if args:
            own = self.name.split(".")[0] in SERVER
            try:
                if isinstance(args, Mapping):
                    text = text % {name: _shown(value, own) for name, value in args.items()}
                else:
                    text = text % tuple(_shown(value, own) for value in args)
            except (TypeError, ValueError, KeyError):  # a placeholder for a number that was no number
                text = f"{text} (…)"
        return one_line(text)


def _shown(value: Any, own: bool) -> Any:
    """What of an argument is written: numbers, types, and from the server texts too; else its type and length."""
    if isinstance(value, BaseException):
        return type_and_template(value)
    if isinstance(value, Message):
        return value.template
    if isinstance(value, type):
        return value.__name__
    if own or value is None or isinstance(value, bool | int | float):
        return value
    return f"<{type(value).__name__}{f' of {len(value)}' if isinstance(value, str | bytes) else ''}>"


def install() -> None:
    """Clean all that this process logs, from here on; what would go to the console past the log goes through it."""
    logging.setLogRecordFactory(CleanRecord)
    logging.raiseExceptions = False  # else a record that cannot be formatted is printed with all that was in it
    sys.excepthook = _uncaught
    threading.excepthook = lambda raised: _uncaught(raised.exc_type, raised.exc_value, raised.exc_traceback)
    sys.unraisablehook = lambda raised: _uncaught(raised.exc_type, raised.exc_value, raised.exc_traceback)
    warnings.showwarning = _warned


def _uncaught(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if error is None or isinstance(error, KeyboardInterrupt | SystemExit):
        return
    _log.error("uncaught outside a page", exc_info=(kind, error, trace))


def _warned(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
    """A warning's type and place; its words only where it speaks of code (a deprecation), never of rows."""
    about_code = issubclass(category, DeprecationWarning | FutureWarning | PendingDeprecationWarning | SyntaxWarning)
    words = type_and_template(message) if isinstance(message, Warning) else category.__name__
    _log.warning(f"{filename}:{lineno}: {words}{f': {message}' if about_code else ''}")
