"""What the TOML of a lesson says, of a list of lessons, and what `chapter.toml` says of the built-in chapter. As with
data sets the dataclasses *are* the format: a field is a key; words come twice (`title`, `title_zh`).

A lesson is data: a state to open, and a question whose answer is a named quantity (`quantities`) of the state that is
on screen. It holds no number that is an answer, and nothing in it is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bayes_engine.dataset_format import Bilingual
from bayes_engine.table.kinds import Level

MOST_WORDS, MOST_CHARACTERS = 80, 130
"""The words of a lesson at most: in English, and in Chinese characters."""


@dataclass(frozen=True)
class AskedQuantity:
    """The quantity that is asked, by its name in `QUANTITIES`, and its arguments by name."""

    quantity: str
    arguments: Mapping[str, Level] = field(default_factory=dict)


@dataclass(frozen=True)
class Further(Bilingual):
    """Where one goes on from a lesson: a page, and what of the lesson's state is another there."""

    words: str
    words_zh: str
    page: str
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Predicted(Bilingual):
    """What is asked before the answer is seen, where that is another question than the lesson's own: which class, which
    pair, which arc (`choices.CHOICES`), or a quantity."""

    question: str
    question_zh: str
    answer: AskedQuantity


@dataclass(frozen=True, kw_only=True)
class Lesson(Bilingual):
    """One lesson: a `title`, the `page` and the `state` that it opens, and what more there is. `state` holds the fields
    of the app's state that differ from its start, `view` among them as a table; a missing cell of a case is `nan`.
    `task` is one thing to try, `change` what it changes of the state, and with it the answer. A `formula` is LaTeX,
    `equation` its number in Zhou's book where it has one. `concepts` and `open_questions` number those of the chapter
    that the lesson is about; `section` and `place` say where it stands there. The lessons of the built-in chapter have
    all of it; of others a title, a page and a state are enough. `derivations` go deeper, by their names in
    `chains.chain.TITLES`, each with what of the lesson's state is another there.
    `predict` is asked in place of the question where the answer is to be predicted."""

    title: str
    title_zh: str = ""
    page: str
    state: Mapping[str, Any]
    section: str = ""
    place: int = 0
    words: str = ""
    words_zh: str = ""
    task: str = ""
    task_zh: str = ""
    question: str = ""
    question_zh: str = ""
    answer: AskedQuantity | None = None
    change: Mapping[str, Any] = field(default_factory=dict)
    deeper: Further | None = None
    formula: str = ""
    equation: str = ""
    concepts: tuple[int, ...] = ()
    open_questions: tuple[int, ...] = ()
    derivations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    predict: Predicted | None = None


@dataclass(frozen=True)
class LessonList:
    """Lessons in the order in which they are given, and what the list is called."""

    title: str = ""
    lessons: tuple[Lesson, ...] = ()


@dataclass(frozen=True)
class ChapterSection(Bilingual):
    """A section of the chapter, by the name that lessons have for it."""

    name: str
    title: str
    title_zh: str


@dataclass(frozen=True)
class GlossaryTerm:
    """A word of the field in both languages, and where it is alive: in a lesson, or on another page in this state."""

    en: str
    zh: str
    lesson: str = ""
    page: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Correction(Bilingual):
    """A slip of the lecture notes: what is printed, what is right, and the lesson that shows it."""

    where: str
    where_zh: str
    printed: str
    printed_zh: str
    right: str
    right_zh: str
    lesson: str


@dataclass(frozen=True)
class WorkedExample(Bilingual):
    """A worked example of the sources: its page and state, as lessons have them."""

    title: str
    title_zh: str
    page: str
    state: Mapping[str, Any]


@dataclass(frozen=True)
class ChapterContents:
    """What `chapter.toml` says: the sections in their order, the words of the field, the slips of the sources, and
    their worked examples."""

    sections: tuple[ChapterSection, ...]
    terms: tuple[GlossaryTerm, ...]
    corrections: tuple[Correction, ...]
    examples: tuple[WorkedExample, ...]
