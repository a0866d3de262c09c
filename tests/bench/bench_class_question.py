"""A question to a class on one computer: 60 phones answer it within 5 s, and the teacher's histogram is right.

    python tests/bench/bench_class_question.py

Starts `bayes-workbench --classroom` on an address of the loopback range. The teacher gives the key that the terminal
printed, opens a lesson and asks the class; 60 phones, which have the app open, are led to the question. Then each types
its answer and sends it, all at once; the time ends when the teacher's page, which asks for nothing, has heard of the
last. Goals: that within 5 s, each answer counted once and in its place, no error, and the key in no line of the log but
the one that prints it.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from bayes_engine.workbench.lessons.class_answers import histogram
from pages.active import lesson_in_use
from pages.runtime.state import State, encode
from tests.bench.visitor import Visitor
from tests.classrooms import classroom

PHONES = 60
WITHIN = 5.0
KEY = re.compile(r"\b[A-Z2-9]{4}-[A-Z2-9]{4}-[A-Z2-9]{4}\b")


class Lesson(NamedTuple):
    """What came of it: seconds from the first answer until the teacher's page had the last, the heights of the bars on
    the teacher's page before and after the reveal, and the errors of all pages."""

    seconds: float
    bars: list[int]
    revealed: str
    errors: list[str]


async def told(visitor: Visitor, words: str) -> str:
    """Wait until the server sends the teacher's histogram with these words in it; the histogram."""
    assert visitor.socket is not None
    while True:
        said = ForwardMsg.FromString(await asyncio.wait_for(visitor.socket.recv(), 120))  # type: ignore[arg-type]
        if said.WhichOneof("type") == "delta" and said.delta.new_element.WhichOneof("type") == "html":
            body = said.delta.new_element.html.body
            if words in body and "class_count" in body:
                return str(body)


async def lesson(url: str, key: str, answers: list[float]) -> Lesson:
    """Ask «What is P(good | x) of this melon?» and have a phone give each of these answers."""
    errors: list[str] = []
    teacher, phones = Visitor(url), [Visitor(url) for _answer in answers]
    asked = lesson_in_use.begun("naive-bayes", State(language="en"))
    try:
        errors += (await teacher.open("case", s=encode(asked))).errors
        errors += (await teacher.click("teacher")).errors
        errors += (await teacher.set("teacher_key", key)).errors
        teacher.states.clear()  # the field is gone
        for drawn in await asyncio.gather(*(phone.open("") for phone in phones)):
            errors += drawn.errors
        errors += (await teacher.click("class_ask")).errors
        errors += (await teacher.click("class_show")).errors

        async def led(phone: Visitor) -> None:
            errors.extend((await phone.read()).errors)  # woken, for the class is asked
            errors.extend((await phone.click("class_answer")).errors)
            phone.page = "case"

        await asyncio.gather(*map(led, phones))
        began = time.perf_counter()

        async def answer(phone: Visitor, value: float) -> None:
            errors.extend((await phone.set("lesson_answer", f"{100 * value:g} %")).errors)
            errors.extend((await phone.click("lesson_commit")).errors)

        seen = asyncio.create_task(told(teacher, f">{len(answers)} answers<"))
        await asyncio.gather(*map(answer, phones, answers))
        bars = [int(n) for n in re.findall(r'class="many">(\d+)<', await seen)]
        seconds = time.perf_counter() - began

        async def hears(phone: Visitor) -> None:
            errors.extend((await phone.read()).errors)
            if any(name.endswith("-lesson_commit") for name in phone.widgets):
                errors.append("a phone can still answer after the reveal")

        heard = asyncio.gather(*map(hears, phones))
        errors += (await teacher.click("class_reveal")).errors
        revealed = "".join(teacher.html)
        await heard
    finally:
        await asyncio.gather(teacher.close(), *(phone.close() for phone in phones))
    return Lesson(seconds, bars, revealed, errors)


def answers_of(n: int) -> list[float]:
    """Answers all over, more of them high."""
    return [round(1 - ((i * 37 % n) / n) ** 1.7, 2) for i in range(n)]


def expected(answers: list[float]) -> list[int]:
    """How many of them belong to each bar."""
    return [one.n for one in histogram(answers, (0.0, 1.0))]


def main() -> int:
    """Print the figures and the goals; the number of goals missed."""
    answers = answers_of(PHONES)
    with tempfile.TemporaryDirectory() as folder, classroom(Path(folder), "127.0.0.2") as room:
        key = KEY.findall(room.log.read_text(encoding="utf-8"))[0]
        found = asyncio.run(lesson(room.url, key, answers))
        log = room.log.read_text(encoding="utf-8", errors="replace")
    load = f"load of the machine {os.getloadavg()[0]:.1f}"
    print(f"{PHONES} answers in {found.seconds:.2f} s; {load}", *found.errors[:5])  # noqa: T201
    goals = {
        f"{PHONES} answers on the teacher's page within {WITHIN:.0f} s: {found.seconds:.1f}": found.seconds <= WITHIN,
        "the histogram is right": found.bars == expected(answers),
        "no error": not found.errors and "Traceback" not in log,
        "the key in one line of the log": log.count(key) == 1,
    }
    for what, holds in goals.items():
        print("holds " if holds else "MISSED", what)  # noqa: T201
    return sum(not holds for holds in goals.values())


if __name__ == "__main__":
    sys.exit(main())
