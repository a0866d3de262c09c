"""One's own list of lessons. It is a file of the session, which the state names by its digest: a change of the list
makes another file and another state, so that Back undoes it, and a workspace holds it. In a link to the list its text
is in the state, until the list is taken from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bayes_engine.errors import BayesEngineError
from bayes_engine.workbench.lessons.lesson_format import AskedQuantity, Lesson, LessonList
from bayes_engine.workbench.lessons.lesson_list import LONGEST_TITLE, MOST, ReadList, write_list
from pages.active.files import LESSONS, File, Upload, held, keep, read_lessons
from pages.runtime import view_keys as keys
from pages.runtime.state import State, changed_fields, current, encode, shareable, stands_for

NAME = "lesson.toml"
"""What the file of a list is called that was made here."""
LONGEST_LINK = 7_000
"""Characters of a token in a link to a list: what servers, and those between, take for certain."""
LONGEST_CAPTION = 200
"""Characters of a caption and of a question."""
HELD = (keys.OWN_LIST, keys.OWN_STEP, keys.OWN_GIVEN, keys.PRESENTING)
_NOT_IN_A_STEP = frozenset(
    key.name for key in (*HELD, keys.LESSON, keys.LESSON_ANSWER, keys.LESSON_SHOWN, keys.CHAPTER_PART)
)


def in_hand(state: State) -> LessonList:
    """The list that the state names; an empty one where it names none, or the session does not hold it."""
    read = read_in_hand(state)
    return LessonList() if read is None else read.lessons


def read_in_hand(state: State) -> ReadList | None:
    """That list with what was wrong in its file; None where there is none."""
    upload = held(LESSONS).get(state.seen(keys.OWN_LIST))
    return None if upload is None else upload.reading


def is_missing(state: State) -> bool:
    """Whether the state names a list that this session does not hold."""
    return bool(named := state.seen(keys.OWN_LIST)) and named not in held(LESSONS)


def taken(file: File) -> Upload[ReadList]:
    """A file of lessons, read and kept. Raises BayesEngineError where it is no text, or no lesson in it can be opened:
    then with what is wrong first."""
    upload = Upload(LESSONS, file, (), read_lessons(file))
    if not upload.reading.lessons.lessons and upload.reading.problems:
        raise BayesEngineError("{problem}", problem=upload.reading.problems[0])
    keep(upload)
    return upload


def with_list(state: State, changed: LessonList) -> State:
    """The state with this list in hand. Raises BayesEngineError where it is too large to be kept."""
    content = write_list(changed).encode()
    if not content:
        return replace(state, view=tuple(s for s in state.view if s[0] != keys.OWN_LIST.name))
    file = File.of(NAME, content)
    keep(Upload(LESSONS, file, (), read_lessons(file)))
    return state.showing(keys.OWN_LIST.to(file.digest))


def with_list_of(state: State, other: State) -> State:
    """Another state, with the list in hand that this one has, and in presenter mode where this one is."""
    bare = replace(other, view=tuple(s for s in other.view if s[0] not in {key.name for key in HELD}))
    return bare.showing(*state.settings(keys.OWN_LIST, keys.PRESENTING))


def edited(state: State, edit: Callable[[list[Lesson]], object]) -> State:
    """The state with the list in hand after `edit` of its lessons, which it changes in place."""
    old = in_hand(state)
    lessons = list(old.lessons)
    edit(lessons)
    return with_list(state, replace(old, lessons=tuple(lessons[:MOST])))


def titled(state: State, title: str) -> State:
    return with_list(state, replace(in_hand(state), title=title[:LONGEST_TITLE]))


def lesson_of(page: str, caption: str, question: str = "", answer: AskedQuantity | None = None) -> Lesson:
    """What is on screen on a page, as a lesson: its caption, and a question with its answer where there is one."""
    return Lesson(
        title=caption.strip()[:LONGEST_CAPTION],
        page=page,
        state=values_of(current()),
        question=question.strip()[:LONGEST_CAPTION] if answer else "",
        answer=answer if question.strip() else None,
    )


def values_of(state: State) -> Mapping[str, Any]:
    """A state as a lesson has it: what a link to it would hold, without language and lesson."""
    bare = replace(shareable(state), language="", labels="")
    values = changed_fields(replace(bare, view=tuple(s for s in bare.view if s[0] not in _NOT_IN_A_STEP)))
    return {**values, "view": dict(values["view"])} if "view" in values else values


# in a link ------------------------------------------------------------------------------------------------------------


def link_to_list(state: State) -> str:
    """The token of a link that opens the list in hand on the page Chapter, however long it is."""
    text = write_list(in_hand(state))
    return encode(State(language=state.language).showing(keys.CHAPTER_PART.to("own"), keys.OWN_GIVEN.to(text)))


def take_from_link() -> None:
    """Where a link brought a list, the session takes it; what is wrong in it is said where the list is shown."""
    state = current()
    if not (text := state.seen(keys.OWN_GIVEN)):
        return
    file = File.of(NAME, text.encode("utf-8", "replace"))
    bare = with_list_of(State(), state)
    try:
        keep(Upload(LESSONS, file, (), read_lessons(file)))
        stands_for(bare.showing(keys.OWN_LIST.to(file.digest)))
    except BayesEngineError:
        stands_for(bare)
