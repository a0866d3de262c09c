"""A list of lessons as one TOML: a title, and a table `[[lesson]]` each, whose keys are those of a lesson's own file. A
file of one lesson is a list too.

People write such files, cut them and send them to each other. So every lesson is read by itself: what is wrong in one
is said with its line, and the others open.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from bayes_engine.dataset_toml import document
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message
from bayes_engine.workbench.lessons.lesson_format import Lesson, LessonList
from bayes_engine.workbench.lessons.lesson_toml import LONGEST, lesson_of, with_line

MOST_BYTES = 400_000
"""A file of lessons has at most so many bytes."""
MOST = 60
"""A list has at most so many lessons."""
MOST_PROBLEMS = 20
"""Of so many problems is said what they are."""
MOST_BROKEN = 200
"""After so many lessons that cannot be read no more are looked at."""
LONGEST_TITLE = 120
"""The title of a list has at most so many characters."""
_BEGINS = re.compile(r"[ \t]*\[\[[ \t]*lesson[ \t]*\]\][ \t]*(#.*)?\r?")
"""The line with which a lesson begins, wherever it stands."""
_AT = re.compile(r"at line (\d+)")


class ReadList(NamedTuple):
    """The lessons that a file has, at what line each begins, and what is wrong with the others."""

    lessons: LessonList
    lines: tuple[int, ...] = ()
    problems: tuple[Message, ...] = ()


def read_list(content: bytes, file: str) -> ReadList:
    """The lessons in a file. Raises BayesEngineError where it is no text at all.

    >>> one, other = 'title = "One"\\npage = "case"\\nstate = {}', 'titel = "Two"'
    >>> text = f'title = "Melons"\\n[[lesson]]\\n{one}\\n[[lesson]]\\n{other}\\n'
    >>> read = read_list(text.encode(), "melons.toml")
    >>> read.lessons.title, [lesson.title for lesson in read.lessons.lessons], read.lines
    ('Melons', ['One'], (2,))
    >>> print(str(read.problems[0])[:53])
    'melons.toml:7': key 'lesson.titel' is not known here
    """
    if len(content) > MOST_BYTES:
        raise BayesEngineError("'{file}' is longer than {n} bytes", file=file, n=MOST_BYTES)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BayesEngineError("'{file}' is no text in UTF-8", file=f"{file}:{line}") from error
    lines = text.split("\n")
    begins = [i for i, line in enumerate(lines) if _BEGINS.fullmatch(line)]
    if not begins:
        return _one(text, file)
    title, problems = "", []
    try:
        title = _title("\n".join(lines[: begins[0]]), file)
    except BayesEngineError as error:
        problems.append(error.message)
    read: list[Lesson] = []
    places: list[int] = []
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        if len(read) == MOST:
            problems.append(
                Message(
                    "'{file}': of more than {n} lessons the first are read", {"file": f"{file}:{begin + 1}", "n": MOST}
                )
            )
            break
        if len(problems) >= MOST_BROKEN:
            where = {"file": f"{file}:{begin + 1}", "n": MOST_BROKEN}
            problems.append(Message("'{file}': {n} lessons above are broken; from here on none is read", where))
            break
        try:
            read.append(_in_list("\n".join(lines[begin:end]), begin, file))
            places.append(begin + 1)
        except BayesEngineError as error:
            problems.append(error.message)
    return ReadList(LessonList(title, tuple(read)), tuple(places), tuple(problems))


def _one(text: str, file: str) -> ReadList:
    """A file of one lesson."""
    try:
        lesson = with_line(lesson_of, _document(text, 0, file), text, file)
    except BayesEngineError as error:
        return ReadList(LessonList(), (), (error.message,))
    return ReadList(LessonList("", (lesson,)), (1,))


def _in_list(text: str, begin: int, file: str) -> Lesson:
    """The lesson that begins with the line after `begin` others."""
    values = _document(text, begin, file)
    lesson = values.pop("lesson")[0]
    if values:
        raise BayesEngineError(
            "'{file}': [{key}] belongs to no lesson; a part of one is called [lesson.{key}]",
            file=f"{file}:{begin + 1}",
            key=next(iter(values)),
        )

    def read(_values: dict[str, Any], where: str) -> Lesson:
        return lesson_of(lesson, where, "lesson")

    return with_line(read, lesson, text, file, begin)


def _title(text: str, file: str) -> str:
    values = _document(text, 0, file)
    title = values.pop("title", "")
    if values or not isinstance(title, str):
        raise BayesEngineError(
            "'{file}': before the first [[lesson]] stands nothing but the title of the list, a text", file=f"{file}:1"
        )
    return title[:LONGEST_TITLE]


def _document(text: str, before: int, file: str) -> dict[str, Any]:
    """Text that stands in a file after so many lines, read as TOML; what is wrong names the line in the file."""
    if len(text) > LONGEST:
        raise BayesEngineError("'{file}': a lesson has at most {n} characters", file=f"{file}:{before + 1}", n=LONGEST)
    try:
        return document(text, file)
    except BayesEngineError as error:
        reason, own = error.message.params.get("reason", ""), error.message.params.get("line")
        position = _AT.search(str(reason))
        line = before + (int(str(own)) if own else int(position[1]) if position else text.rstrip().count("\n") + 1)
        if position is not None and not own:
            reason = f"{str(reason)[: position.start()]}at line {line}{str(reason)[position.end() :]}"
        raise BayesEngineError("'{file}' is not valid TOML: {reason}", file=f"{file}:{line}", reason=reason) from error


# writing --------------------------------------------------------------------------------------------------------------


def write_list(given: LessonList) -> str:
    """The TOML of a list. Raises BayesEngineError where it would be more than can be read again.

    >>> lesson = Lesson(title="One", page="case", state={"case": [0, None], "view": {"unit": "nats"}})
    >>> text = write_list(LessonList("Melons", (lesson,)))
    >>> print(text)
    title = "Melons"
    <BLANKLINE>
    [[lesson]]
    title = "One"
    page = "case"
    state = { case = [0, nan], view = { unit = "nats" } }
    <BLANKLINE>
    """
    parts = [f"title = {_toml(given.title)}\n" if given.title else ""]
    for lesson in given.lessons:
        lines = "".join(f"{key} = {_toml(value)}\n" for key, value in _entries(lesson))
        parts.append(f"[[lesson]]\n{lines}")
        if len(parts[-1]) > LONGEST:
            raise BayesEngineError("a lesson has at most {n} characters", n=LONGEST)
    text = "\n".join(filter(None, parts))
    if len(given.lessons) > MOST or len(text.encode()) > MOST_BYTES:
        raise BayesEngineError("a list has at most {n} lessons and {most} bytes", n=MOST, most=MOST_BYTES)
    return text


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """What of a dataclass differs from its defaults, and what has none."""
    for declared in fields(value):
        held = getattr(value, declared.name)
        default = declared.default_factory() if callable(declared.default_factory) else declared.default
        if held != default:
            yield declared.name.removesuffix("_"), held


def _toml(value: Any) -> str:
    """A value as TOML writes it on one line; None as `nan`, which stands for a missing cell."""
    match value:
        case bool():
            return "true" if value else "false"
        case None:
            return "nan"
        case float():
            return "nan" if math.isnan(value) else repr(value)
        case int():
            return str(value)
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
    pairs = value.items() if isinstance(value, Mapping) else _entries(value) if is_dataclass(value) else None
    if pairs is None:
        raise TypeError(f"a lesson holds no {type(value).__name__}")
    inside = ", ".join(f"{_key(name)} = {_toml(held)}" for name, held in pairs)
    return f"{{ {inside} }}" if inside else "{}"


def _key(name: object) -> str:
    return str(name) if re.fullmatch(r"[A-Za-z0-9_-]+", str(name)) else _toml(str(name))
