"""The TOML of a lesson, checked: what is wrong in it is said with its line, for people write lessons of their own, and
open those of others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

from bayes_engine.dataset_toml import check, document, record
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message
from bayes_engine.workbench.lessons.lesson_format import MOST_CHARACTERS, MOST_WORDS, ChapterContents, Lesson

T = TypeVar("T")
LONGEST = 20_000
"""A lesson has at most so many characters."""
PAGE = re.compile(r"[a-z]{1,20}")
"""What a page is called."""
_TABLE, _KEY = re.compile(r"\s*\[+\s*([\w.-]+)\s*\]+"), re.compile(r"""\s*["']?([\w-]+)["']?\s*=""")


def parse_lesson(text: str, file: str) -> Lesson:
    """The TOML `text` as a `Lesson`; anything wrong in it raises BayesEngineError, naming `file`, the line and the key.

    >>> parse_lesson('title = "Risk"\\nplace = "first"', "risk.toml")
    Traceback (most recent call last):
    bayes_engine.errors.BayesEngineError: 'risk.toml:1': key 'page' is missing
    >>> parse_lesson('title = "Risk"\\ntitel = 1', "risk.toml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bayes_engine.errors.BayesEngineError: 'risk.toml:2': key 'titel' is not known here; known keys: title, title_zh, ...
    """
    if len(text) > LONGEST:
        raise BayesEngineError("'{file}' is longer than {n} characters", file=file, n=LONGEST)
    return with_line(lesson_of, document(text, file), text, file)


def with_line(
    read: Callable[[dict[str, Any], str], T], values: dict[str, Any], text: str, file: str, before: int = 0
) -> T:
    """What `read` makes of the values of a text that stands in a file after so many lines; what is wrong names the line
    of its key."""
    try:
        return read(values, file)
    except BayesEngineError as error:
        key = error.message.params.get("key")
        if not isinstance(key, str):
            raise
        return read(values, f"{file}:{before + line_of(text, key)}")  # raises the same once more, with the line


def parse_contents(text: str, file: str) -> ChapterContents:
    """`chapter.toml`; anything wrong in it raises, naming `file` and the key."""
    contents: ChapterContents = record(ChapterContents, document(text, file), file, "")
    return contents


def line_of(text: str, key: str) -> int:
    """The line of a TOML on which a key stands, from 1: of a key inside a table `answer.arguments` the nearest that is
    written out; 1 where nothing is.

    >>> text = 'title = "Risk"\\n[answer]\\nquantity = "risk"\\narguments = { decide = 1 }'
    >>> [line_of(text, key) for key in ("title", "answer", "answer.quantity", "answer.arguments.decide", "place")]
    [1, 2, 3, 4, 1]
    """
    written: dict[str, int] = {}
    table, quoted = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        if not quoted:
            if head := _TABLE.match(line):
                table = head[1]
                written.setdefault(table, number)
            elif name := _KEY.match(line):
                written.setdefault(f"{table}.{name[1]}" if table else name[1], number)
        for marks in ('"""', "'''"):
            if line.count(marks) % 2 and quoted in ("", marks):
                quoted = "" if quoted else marks
    parts = re.sub(r"\[\d+\]", "", key).split(".")
    return next((written[".".join(parts[:n])] for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in written), 1)


def lesson_of(values: dict[str, Any], file: str, where: str = "") -> Lesson:
    """The table `where` of a file as a `Lesson`; anything wrong in it raises BayesEngineError, naming `file` and the
    key."""
    from bayes_engine.workbench.derivation.chains.chain import TITLES  # which needs the whole library
    from bayes_engine.workbench.lessons.choices import problem_of_question
    from bayes_engine.workbench.lessons.quantities.registry import problem_of

    lesson: Lesson = record(Lesson, values, file, where)
    prefix = f"{where}." if where else ""

    def holds(sound: bool, key: str, problem: str | Message) -> None:
        check(file, sound, prefix + key, problem)

    words, characters = len(lesson.words.split()), sum("\u4e00" <= sign <= "\u9fff" for sign in lesson.words_zh)
    holds(
        words <= MOST_WORDS,
        "words",
        Message("{n} words are too many; at most {most}", {"n": words, "most": MOST_WORDS}),
    )
    long = Message("{n} characters are too many; at most {most}", {"n": characters, "most": MOST_CHARACTERS})
    holds(characters <= MOST_CHARACTERS, "words_zh", long)
    ends = any(sign in lesson.formula for sign in "$`\n")
    holds(not ends, "formula", Message("a formula stands on one line, without dollar signs and backticks"))
    pages, states = [("page", lesson.page)], [("state", lesson.state), ("change", lesson.change)]
    if lesson.deeper is not None:
        pages.append(("deeper.page", lesson.deeper.page))
        states.append(("deeper.state", lesson.deeper.state))
    for key, page in pages:
        holds(PAGE.fullmatch(page) is not None, key, Message("there is no such page"))
    for key, state in states:
        holds(_is_json(state), key, Message("a state holds no date and no time"))
    for name, state in lesson.derivations.items():
        key = f"derivations.{name}"
        holds(
            name in TITLES, key, Message("there is no such derivation; there are {names}", {"names": ", ".join(TITLES)})
        )
        holds(_is_json(state), key, Message("a state holds no date and no time"))
    holds(bool(lesson.title.strip()), "title", Message("a lesson has a title"))
    if lesson.answer is None:
        holds(not lesson.question, "question", Message("a question has an answer: the name of a quantity"))
    elif (problem := problem_of(lesson.answer)) is not None:
        holds(False, "answer", problem)
    else:
        holds(bool(lesson.question), "answer", Message("an answer has a question"))
    if lesson.predict is not None and (problem := problem_of_question(lesson.predict.answer)) is not None:
        holds(False, "predict.answer", problem)
    return lesson


def _is_json(state: Any) -> bool:
    try:
        json.dumps(state)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
