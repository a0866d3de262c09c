"""The lessons of the built-in chapter: `datasets/chapter/lessons/<name>.toml`, and `chapter.toml` beside them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from bayes_engine.datasets import datasets_folder
from bayes_engine.workbench.lessons.lesson_format import ChapterContents, Lesson
from bayes_engine.workbench.lessons.lesson_toml import parse_contents, parse_lesson


@cache
def lessons() -> Mapping[str, Lesson]:
    """All lessons by name, in the order of the chapter.

    >>> next(iter(lessons()))
    'bayes-decision-rule'
    """
    files = (datasets_folder() / "chapter" / "lessons").glob("*.toml")
    read = {file.stem: parse_lesson(file.read_text(encoding="utf-8"), file.name) for file in files}
    order = [section.name for section in contents().sections]
    return MappingProxyType(dict(sorted(read.items(), key=lambda item: (order.index(item[1].section), item[1].place))))


@cache
def contents() -> ChapterContents:
    """The sections of the chapter, its words, errata and worked examples."""
    file = datasets_folder() / "chapter" / "chapter.toml"
    return parse_contents(file.read_text(encoding="utf-8"), file.name)


def of_section(section: str) -> tuple[str, ...]:
    """The names of the lessons of a section, in their order."""
    return tuple(name for name, lesson in lessons().items() if lesson.section == section)
