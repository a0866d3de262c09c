"""One's own lesson: its steps in their order, opened from a file and saved as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _, current_language
from bayes_engine.workbench.lessons.built_in import contents, lessons, of_section
from bayes_engine.workbench.lessons.lesson_format import Lesson, LessonList
from bayes_engine.workbench.lessons.lesson_list import LONGEST_TITLE, MOST, MOST_BYTES, MOST_PROBLEMS, write_list
from pages.active import lesson_in_use, own_lessons
from pages.active.files import File
from pages.components.component import component, last_message, read_message, read_position
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import State, change, current, goes_to, on_click
from pages.runtime.widgets import control

KEY = "own_steps"
_STYLE = """
[class*="st-key-own_file_"] [st=FileUploaderDropzoneInstructions] span {{ font-size: 0 !important; }}
[class*="st-key-own_file_"] [st=FileUploaderDropzoneInstructions] span::after {{
  content: "{text}" !important; font-size: .85rem;
}}
"""
"""What Streamlit itself writes of the size is in whole megabytes."""
_steps = component(__file__, "bayes_own_list", '<div data-testid="own_list"></div>', draws="createOwnList")


def show(pages: Mapping[str, str]) -> None:
    """The list in hand, and how one comes to have one; `pages` says what each page is called."""
    read = own_lessons.read_in_hand(current())
    if own_lessons.is_missing(current()):
        st.warning(_("This link names a lesson that is not here. Open its file, or the link to the lesson itself."))
    if read is not None and read.problems:
        _warn(read.problems, len(read.lessons.lessons))
    own = LessonList() if read is None else read.lessons
    if own.lessons:
        _list(own, pages)
    else:
        st.markdown(
            _(
                "Go to any page, set it up as you want to show it, and press **Add this view** at the foot of the "
                "menu. The views stand here in the order in which you show them."
            )
        )
    _open(own)


def _list(own: LessonList, pages: Mapping[str, str]) -> None:
    st.text_input(
        _("Title of the lesson"),
        placeholder=_("Title of the lesson"),
        label_visibility="collapsed",
        max_chars=LONGEST_TITLE,
        **control("own_title", own.title, lambda s, title: own_lessons.titled(s, title or "")),
    )
    with st.container(horizontal=True, gap="small"):
        st.button(
            _("Begin the lesson"),
            key="own_begin",
            type="primary",
            icon=":material/play_circle:",
            **goes_to(own.lessons[0].page, lambda s: lesson_in_use.begun_own(0, s)),
        )
        st.download_button(
            _("Save the lesson"),
            lambda: write_list(own).encode(),
            f"{_stem(own.title)}.lesson.toml",
            "application/toml",
            key="own_save",
            icon=":material/download:",
            on_click="ignore",
        )
    _steps(key=KEY, data=_sent(own, pages), on_edited_change=_edited)
    st.caption(
        _(
            "Drag a step by its handle, or move it with the arrow keys or the buttons; a caption is changed where it "
            "stands. Share gives the lesson as a link and a QR code; a workspace keeps it; Back undoes. Key p presents."
        )
    )


def _stem(title: str) -> str:
    kept = "".join(c if c.isalnum() or c in "-_" else "-" for c in title)[:60].strip("-")
    return kept or "lesson"


def _sent(own: LessonList, pages: Mapping[str, str]) -> dict[str, Any]:
    steps = [
        {
            "title": clean(one.title, own_lessons.LONGEST_CAPTION),
            "where": pages[one.page] + (" · ?" if one.answer else ""),
        }
        for one in own.lessons
    ]
    words = {
        "handle": _("Drag, or move with the arrow keys"),
        "caption": _("Caption"),
        "open": _("Open this step"),
        "up": _("Move up"),
        "down": _("Move down"),
        "remove": _("Remove"),
    }
    seen, of = last_message(KEY), current().seen(keys.OWN_LIST)
    return {"steps": steps, "words": words, "most": own_lessons.LONGEST_CAPTION, "of": of, "seen": seen}


# what a person does in the list ---------------------------------------------------------------------------------------


def _edited() -> None:
    own = own_lessons.in_hand(current()).lessons
    edit = read_message(KEY, "edited", lambda sent: read_edit(sent, current().seen(keys.OWN_LIST), len(own)))
    if edit is None:
        return
    act, i, more = edit
    if act == "open":
        change(lambda s: lesson_in_use.begun_own(i, s))
        st.session_state["page_wanted"] = own[i].page
    else:
        change(lambda s: own_lessons.edited(s, lambda lessons: _do(lessons, act, i, more)))


def read_edit(sent: Mapping[str, Any], of: str, n: int) -> tuple[str, int, Any] | None:
    """What was done to which step of the list `of` with `n` steps, and with what; None for anything else.

    >>> read_edit({"act": "move", "i": 0, "to": 2, "of": "a"}, "a", 3)
    ('move', 0, 2)
    >>> read_edit({"act": "open", "i": 3, "of": "a"}, "a", 3)
    """
    act, i = sent.get("act"), read_position(sent.get("i"), n)
    if sent.get("of") != of or i is None:
        return None
    if act in ("open", "remove"):
        return act, i, None
    if act == "move" and (to := read_position(sent.get("to"), n)) is not None:
        return act, i, to
    title = sent.get("title")
    if act == "title" and isinstance(title, str) and title.strip():
        return act, i, title.strip()[: own_lessons.LONGEST_CAPTION].encode("utf-8", "replace").decode()
    return None


def _do(lessons: list[Lesson], act: str, i: int, more: Any) -> None:
    one = lessons.pop(i)
    if act == "move":
        lessons.insert(more, one)
    elif act == "title":
        lessons.insert(i, replace(one, title=more, title_zh=""))


# opening --------------------------------------------------------------------------------------------------------------


def _open(own: LessonList) -> None:
    session = st.session_state
    key = f"own_file_{session.setdefault('own_turn', 0)}"
    left, right = st.columns(2, gap="medium")
    st.html(private.style(_STYLE.format(text=_("at most {n} kB").format(n=MOST_BYTES // 1000))))
    left.file_uploader(_("Open a lesson from a file"), key=key, on_change=_dropped, args=(key,), max_upload_size=1)
    if (why := session.get("own_refused")) is not None:
        left.error(_("Not opened: {why}. Nothing was changed.").format(why=why.local(_quoted)))
    with right:
        st.caption(_("Or take a section of the chapter, and change it:"))
        with st.container(horizontal=True, gap="small"):
            for section in contents().sections:
                st.button(
                    md(section.text("title", current_language()), 60),
                    key=f"own_take_{section.name}",
                    disabled=len(own.lessons) + len(of_section(section.name)) > MOST,
                    **on_click(lambda s, name=section.name: _with_section(s, name)),
                )


def _with_section(state: State, section: str) -> State:
    """The state with the lessons of a section at the end of the list in hand."""
    return own_lessons.edited(state, lambda own: own.extend(lessons()[name] for name in of_section(section)))


def _dropped(key: str) -> None:
    """The file that was dropped becomes the list in hand; what is wrong with it is said. Either way the uploader lets
    go of it."""
    session = st.session_state
    given = session.get(key)
    session["own_refused"] = None
    if given is None:
        return
    session["own_turn"] += 1
    try:
        upload = own_lessons.taken(File.of(given.name, given.getvalue()))
    except BayesEngineError as error:
        session["own_refused"] = error.message
        return
    change(lambda s: s.showing(keys.OWN_LIST.to(upload.file.digest)))


def _warn(problems: tuple[Message, ...], n: int) -> None:
    listed = "\n".join(f"- {problem.local(_quoted)}" for problem in problems[:MOST_PROBLEMS])
    more = len(problems) - MOST_PROBLEMS
    if more > 0:
        listed += "\n- " + _("and {n} more").format(n=more)
    opened = Message("{n} lesson(s) were opened. Not opened, and left out at the next change:", {"n": n}).local(_quoted)
    st.warning(f"{opened}\n\n{listed}")


def _quoted(text: str) -> str:
    return md(clean(text, 300), 300)
