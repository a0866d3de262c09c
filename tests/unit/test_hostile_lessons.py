"""Lesson files as nobody means them: whatever is in one, it ends in lessons, or in problems that name file and line."""

from __future__ import annotations

import multiprocessing
import random
import re
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from bayes_engine.datasets import datasets_folder
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message
from bayes_engine.workbench.lessons.built_in import lessons
from bayes_engine.workbench.lessons.lesson_format import LessonList
from bayes_engine.workbench.lessons.lesson_list import MOST_BROKEN, MOST_BYTES, read_list, write_list
from pages.active import files, lesson_in_use
from pages.active.files import File
from pages.runtime.state import START
from tests.fixtures.addresses import ADDRESSES

MUTATED = 3_200
CPU = 10
"""Seconds of CPU that one file may take; the process is killed beyond."""
HEAD = 'title = "A"\npage = "case"\n'
VALUES = [
    "true", "-1", "1e999", "nan", "-inf", "9" * 25, "9" * 5_000, "0x" + "f" * 18_000, "0b" + "1" * 900, "1979-05-27",
    "07:32:00", "1979-05-27T07:32:00Z", '"\\u0000"', '"\\u202e\\u0007"', '"\\ud800"', "'\t'", '"' + "x" * 9_000 + '"',
    "[]", "{}", "[[[]]]", "[1, 'a', {}]", "{ a = { b = [1] } }", "[" * 3_000, "[" * 300 + "]" * 300,
    "{a=" * 400 + "1" + "}" * 400, '""', "'''\n'''", '"""', "[nan, nan]", '["iris", -2, 1e308]',
]  # fmt: skip
FORGED = [
    "columns = [[0, '', 'date', []]]", "columns = [[1, 'ignore'], [1, 'feature']]", "losses = [[1e10, -1], [nan]]",
    "shelf = [['textbook', [['terms', {}]], 'naive-bayes']]", "active = 99", "case = [[]]",
    "view = { unit = ['nats'] }", "table = '../../etc/passwd'", "table = 'upload:" + "0" * 64 + "'",
    "priors = [0, 0]", "priors = ['a']", "view = 3",
    "__class__ = 'x'", "language = 7", "'' = 1", "mends = [[[[['missing']]]]]", "case = [nan, 'x', true, {}]",
]  # fmt: skip
RAW = [
    "\x00", "\x1b[2J", "\x7f", "\u2028", "\ufeff", "\r", "\r\n", "\n\n", "[[lesson]]\n", "[lesson.answer]\n",
    "[lesson]\n", "[[lesson.state]]\n", "#" * 500, "a" + ".a" * 3_000 + " = 1\n", '"a"' + '."a"' * 200 + " = 1\n",
    "= ", "'", '"""', "]",
]  # fmt: skip


def mutated(n: int, seed: int) -> Iterator[bytes]:
    """Lessons of the chapter, alone and in lists, and states of every address, with a few changes each."""
    rng = random.Random(seed)
    alone = [path.read_text() for path in sorted((datasets_folder() / "chapter" / "lessons").glob("*.toml"))]
    some = list(lessons().values())
    for k in range(n):
        if k % 3 == 0:
            text = rng.choice(alone)
        elif k % 3 == 1:
            text = write_list(LessonList("Mine", tuple(rng.sample(some, 3))))
        else:
            address = rng.choice(ADDRESSES)
            named = ", ".join(f"'{key}' = {rng.choice(VALUES)}" for key in rng.sample(sorted(address.state), 1))
            text = f"[[lesson]]\n{HEAD}state = {{ {named} }}\n[[lesson]]\n{HEAD}state = {{ {rng.choice(FORGED)} }}\n"
        for _change in range(rng.randint(1, 4)):
            text = CHANGES[rng.randrange(len(CHANGES))](rng, text)
        data = text.encode("utf-8", "surrogatepass")[: MOST_BYTES + 1]
        if rng.random() < 0.05:
            at = rng.randrange(len(data) + 1)
            data = data[:at] + rng.randbytes(rng.randint(1, 4)) + data[at:]
        yield data


def _line(rng: random.Random, text: str) -> tuple[list[str], int]:
    lines = text.split("\n")
    return lines, rng.randrange(len(lines))


def _value(rng: random.Random, text: str) -> str:
    lines, i = _line(rng, text)
    lines[i] = f"{lines[i].partition('=')[0]}= {rng.choice(VALUES)}"
    return "\n".join(lines)


def _forged(rng: random.Random, text: str) -> str:
    lines, i = _line(rng, text)
    lines.insert(
        i, rng.choice([rng.choice(FORGED), f"state = {{ {rng.choice(FORGED)} }}", f"[state]\n{rng.choice(FORGED)}"])
    )
    return "\n".join(lines)


def _raw(rng: random.Random, text: str) -> str:
    i = rng.randrange(len(text) + 1)
    return text[:i] + rng.choice(RAW) + text[i:]


def _cut(rng: random.Random, text: str) -> str:
    i, j = sorted(rng.randrange(len(text) + 1) for _end in range(2))
    return text[:i] + text[min(j, i + 60) :]


def _twice(rng: random.Random, text: str) -> str:
    lines, i = _line(rng, text)
    return "\n".join([*lines[:i], *lines[i : i + 5], *lines[i:]])


def _key(rng: random.Random, text: str) -> str:
    lines, i = _line(rng, text)
    lines[i] = re.sub(
        r"^\w+", rng.choice(["page", "state", "answer", "predict", "deeper", "derivations", "x" * 300]), lines[i]
    )
    return "\n".join(lines)


CHANGES: list[Callable[[random.Random, str], str]] = [_value, _value, _forged, _raw, _cut, _twice, _key]


def outcome(data: bytes) -> str:
    """What is wrong with how a file ends, "" where nothing is."""
    try:
        read = files.read_lessons(File.of("mine.toml", data))
    except BayesEngineError as error:
        return "" if str(error).startswith("'mine.toml") else str(error)
    except BaseException:  # noqa: BLE001 - whatever it is, it is what this is about
        return traceback.format_exc()
    if not (read.lessons.lessons or read.problems or not data.strip()):
        return "neither a lesson nor a problem"
    lines = data.decode("utf-8-sig").count("\n") + 1
    for problem in read.problems:
        said = re.match(r"'mine\.toml:(\d+)'", str(problem))
        if said is None or not 1 <= int(said[1]) <= lines or len(str(problem)) > 21_000:
            return f"no line: {str(problem)[:300]}"
        str(problem.local(str))
    for lesson in read.lessons.lessons:
        try:
            lesson_in_use.opened_by(lesson.state, START)
        except BaseException:  # noqa: BLE001 - as above
            return traceback.format_exc()
    return ""


def tried(some: Iterator[tuple[str, bytes]], found: Any) -> None:
    """Sends the name of every file before it is read, and what is wrong after."""
    import resource

    for name, data in some:
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + CPU, resource.RLIM_INFINITY))
        found.send((name, None))
        if wrong := outcome(data):
            found.send((name, wrong))
    found.send(("", None))


def wrong(some: Iterator[tuple[str, bytes]]) -> dict[str, str]:
    """The files that end in anything else, or take longer, read in a process that is killed then."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("a process that is killed after some time of CPU is one of Unix")
    apart = multiprocessing.get_context("fork")
    here, there = apart.Pipe(duplex=False)
    process = apart.Process(target=tried, args=(some, there))
    process.start()
    there.close()
    ended, last, failed = False, "", dict[str, str]()
    with suppress(EOFError):
        while (said := here.recv())[0]:
            last = said[0]
            if said[1] is not None:
                failed[last] = said[1]
        ended = True
    process.join()
    failed |= {} if ended else {last: f"takes over {CPU} s of CPU"}
    return dict(list(failed.items())[:5])


BOMBS = {
    "tens of thousands of lessons": b"[[lesson]]\n" * (MOST_BYTES // 11),
    "tens of thousands of lines above": b"\n" * 19_000 + b"[[lesson]]\n" + b"\n" * 300_000,
    "dotted keys": b"".join(b"[[lesson]]\n" + b"a." * 9_000 + b"a = 1\n" for _ in range(20)),
    "quoted keys": b"".join(b"[[lesson]]\n" + b'"a" . ' * 3_000 + b"a = 1\n" for _ in range(20)),
    "tables in tables": HEAD.encode() + b"[state" + b".a" * 9_000 + b"]\n",
    "tables of one name": HEAD.encode() + b"state = {}\n" + b"[[answer]]\n" * 1_700,
    "inline tables": HEAD.encode() + b"state = " + b"{a=" * 4_000 + b"1" + b"}" * 4_000,
    "lists": HEAD.encode() + b"state = { a = " + b"[" * 9_000 + b"]" * 9_000 + b" }",
    "a number": b"title = 0x" + b"f" * 19_000,
    "numbers": HEAD.encode() + b"state = { a = [" + b"1e308, 0x7fffffffffffffff, " * 600 + b"] }",
    "many keys": b"".join(b"k%d = 1\n" % i for i in range(2_000)),
    "quotes": b'title = """' + b'"' * 19_000,
    "nothing": b"", "a mark": b"\xef\xbb\xbf", "zeros": bytes(5_000), "another text": "title = 'é'".encode("utf-16"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_bomb_ends_soon_and_in_words() -> None:
    assert wrong(iter(BOMBS.items())) == {}


def test_what_is_wrong_with_a_bomb_names_its_line() -> None:
    for text, line, why in (
        ("[[lesson]]\n" * 900, MOST_BROKEN + 1, "from here on none is read"),
        (f"[[lesson]]\n{HEAD}state = {{ a = {'9' * 25} }}", 4, "a whole number of more than 64 bits"),
        (f"{HEAD}\n[state]\n{'a.' * 70}a = 1", 5, "keys of more than 64 parts"),
        (f"{HEAD}state = {{ a = {'[' * 70}{']' * 70} }}", 1, "nested more than 64 deep"),
        ("\n\n[[lesson]]\n\ntitle = \n", 5, "Invalid value (at line 5, column 9)"),
    ):
        said: Message = read_list(text.encode(), "x").problems[-1]
        assert str(said).startswith(f"'x:{line}'") and why in str(said), str(said)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_no_mutated_file_breaks_the_reader_of_lessons() -> None:
    assert wrong((f"file {k}", data) for k, data in enumerate(mutated(MUTATED, seed=19))) == {}
