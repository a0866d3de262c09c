"""The log says type, place and wording, and never a cell; no text of a user's can forge a line of it."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from io import StringIO

import pytest

from bayes_engine.errors import TableError
from bayes_engine.language import Message
from pages.runtime import logs
from tests.conftest import ROOT

CELL = "Ann\n2026-01-01 00:00:00 ERROR root: all is lost\x1b[31m\u202e"


@pytest.fixture
def written() -> Iterator[tuple[logging.Logger, StringIO]]:
    """A logger whose records are cleaned, and what its handler has written."""
    before, out = logging.getLogRecordFactory(), StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s %(filename)s:%(lineno)d: %(message)s"))
    logger = logging.getLogger("streamlit.test_logs")
    logger.propagate = False
    logger.addHandler(handler)
    logging.setLogRecordFactory(logs.CleanRecord)
    yield logger, out
    logging.setLogRecordFactory(before)
    logger.removeHandler(handler)


def fail(cell: str) -> None:
    try:
        int(cell)
    except ValueError as error:
        raise TableError("column '{column}' holds '{value}'", column="salary", value=cell) from error


def test_an_exception_is_told_whole_but_for_its_cells(written: tuple[logging.Logger, StringIO]) -> None:
    logger, out = written
    try:
        fail(CELL)
    except TableError:
        logger.exception("Uncaught app execution")
    said = out.getvalue()
    assert "Ann" not in said and "all is lost" not in said and "\x1b" not in said
    assert "TableError: column '{column}' holds '{value}'" in said  # the message id, its fields unfilled
    assert "ValueError\n" in said and said.index("ValueError") < said.index("TableError")  # the cause comes first
    assert "test_logs.py" in said and "in fail" in said and "raise TableError(" in said  # type, place, line of code


@pytest.mark.parametrize("error", [KeyError(CELL), ValueError(CELL), RuntimeError({"a": CELL}), UnicodeError(CELL)])
def test_other_errors_are_their_type(error: Exception) -> None:
    assert logs.type_and_template(error) == type(error).__name__


def test_groups_and_contexts_hide_nothing_and_show_no_cell() -> None:
    try:
        try:
            fail(CELL)
        except TableError:
            raise ExceptionGroup(CELL, [KeyError(CELL), OSError(2, "No such file", CELL)])  # noqa: B904
    except ExceptionGroup as group:
        said = logs.traceback_without_data(group)
    assert "Ann" not in said
    for kind in ("TableError", "ExceptionGroup", "KeyError", "FileNotFoundError: [Errno 2] No such file"):
        assert kind in said


def test_an_error_that_is_its_own_cause_ends() -> None:
    one, other = ValueError(CELL), KeyError(CELL)
    one.__cause__, other.__cause__ = other, one
    assert logs.traceback_without_data(one).count("ValueError") == 1


@pytest.mark.parametrize(
    ("message", "args", "shown"),
    [
        ("Cannot show %s", (CELL,), f"Cannot show <str of {len(CELL)}>"),
        ("%s of %d rows", (ValueError(CELL), 3), "ValueError of 3 rows"),
        ("took %.1f s", ("long",), "took %.1f s (…)"),
        ("got %(what)s", ({"what": CELL},), f"got <str of {len(CELL)}>"),
        ("a\r\nb\x00\u2028", (), "a\\r\\nb\\x00\\u2028"),
        (Message("row {row} of '{column}'", {"row": 3, "column": CELL}), (), "row {row} of '{column}'"),
        (KeyError(CELL), (), "KeyError"),
        ("颜色 λ — “ok”", (), "颜色 λ — “ok”"),
    ],
)  # fmt: skip
def test_messages_are_one_line_without_texts_put_in(
    written: tuple[logging.Logger, StringIO], message: object, args: tuple[object, ...], shown: str
) -> None:
    logger, out = written
    logger.error(message, *args)
    assert out.getvalue().split(": ", 1)[1] == f"{shown}\n"


def test_what_the_server_says_of_addresses_stays_readable() -> None:
    record = logs.CleanRecord("uvicorn.error", 20, "x.py", 1, "%s - %s", ("127.0.0.1", "a\nb"), None)
    assert record.getMessage() == "127.0.0.1 - a\\nb"


def test_a_long_message_is_cut() -> None:
    assert len(logs.one_line("x" * 10**6)) == logs.LONGEST + 1


def test_nothing_goes_past_the_log() -> None:
    """Uncaught errors of threads, warnings and broken records, in a process that has the log installed."""
    code = (
        "import logging, threading, warnings\n"
        "from pages.runtime import logs\n"
        "logs.install()\n"
        "def work(): raise ValueError('secret cell')\n"
        "one = threading.Thread(target=work); one.start(); one.join()\n"
        "warnings.warn('secret cell', UserWarning)\n"
        "warnings.warn('old name', DeprecationWarning)\n"
        "class Odd:\n"
        "    def __str__(self): raise KeyError('secret cell')\n"
        "logging.getLogger('x').error(Odd())\n"
        "class Dying:\n"
        "    def __del__(self): raise ValueError('secret cell')\n"
        "Dying()\n"
        "raise RuntimeError('secret cell')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "secret" not in re.sub(r"raise \w+\('secret cell'\)", "", ran.stderr)  # the lines of the code
    assert ran.stderr.count("ValueError") >= 2 and "RuntimeError" in ran.stderr and "UserWarning" in ran.stderr
    assert "DeprecationWarning: old name" in ran.stderr


def test_tests_and_scripts_keep_their_own_log() -> None:
    """Only the server cleans the log of its process; a library has no business in a user's."""
    from pages.runtime import private

    assert private.running() is None
    assert logging.getLogRecordFactory() is logging.LogRecord
    assert threading.excepthook is not logs._uncaught
