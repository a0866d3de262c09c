"""Saving and opening a workspace, in the sidebar; and what is said when a session was lost."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import streamlit as st

from bayes_engine import __version__
from bayes_engine.datasets import dataset_cover, dataset_names
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _, current_language
from pages.active import unfinished
from pages.active.files import TABLE, Upload, held
from pages.runtime import jobs, own_computer, private
from pages.runtime.escape import clean, md
from pages.runtime.state import START, State, current
from pages.shell.workspace import disk
from pages.shell.workspace.form import Workspace, data_of, names_only, read, size, without_data, write
from pages.shell.workspace.session import current_workspace, file_name, read_files, reopen

WIDE = 330
"""Pixels, so that captions in the popover make a column and no line across the page."""
MIME = "application/octet-stream"
OPENING = Message("opening the workspace")
HEADER = 2**20
"""Bytes that a workspace takes besides its files, at the most that is reckoned with."""
REMEMBERED = 10_000
"""So many sessions of this process are known by name."""
NEVER = 86_400.0
"""Seconds after which the empty fragment runs; only that there is one matters."""
_here: OrderedDict[str, None] = OrderedDict()


def saves_by_itself() -> bool:
    """Whether this session is on one's own computer, and saved by itself."""
    known: bool | None = st.session_state.get("workspace_local")
    if known is None:
        known = st.session_state["workspace_local"] = own_computer.may_save() and own_computer.is_served_alone()
    return known


# every run ------------------------------------------------------------------------------------------------------


def begin() -> None:
    """Start of a run. A session that stands in for one that is gone remembers which.

    A browser whose connection came back runs the page again only where something on it runs by itself; so there is an
    empty fragment that would.
    """
    _stand_by()
    if "workspace_lost" not in st.session_state:
        st.session_state["workspace_lost"] = lost = _claimed()
        st.session_state["workspace_restarted"] = lost not in _here
    _here[private.session_id()] = None
    while len(_here) > REMEMBERED:
        _here.popitem(last=False)


@st.fragment(run_every=NEVER)
def _stand_by() -> None:
    pass


def _claimed() -> str:
    """The session that the browser asks for with its connection, where it is not this one; else ""."""
    asked = st.context.headers.get("Sec-Websocket-Protocol", "").split(",")
    name = asked[-1].strip() if len(asked) > 2 else ""
    return name if name != private.session_id() and re.fullmatch(r"[0-9a-f-]{36}", name) else ""


def save_if_changed() -> None:
    """End of a run: on one's own computer, have the workspace saved if anything in it was changed."""
    if not saves_by_itself():
        return
    session, now = st.session_state, current_workspace()
    if now.state == replace(session.get("opened", START), language=now.state.language) and (
        "workspace_noted" not in session
    ):
        return  # nobody has done anything yet: what the address says is no work to be kept
    seen = (now.page, now.state, tuple(names_only(now.files).items()))
    if session.get("workspace_noted") != seen:
        session["workspace_noted"] = seen
        disk.saver(disk.folder()).take(private.session_id(), now)


# the sidebar ----------------------------------------------------------------------------------------------------


def chip(pages: frozenset[str]) -> None:
    """The fifth chip: save the workspace, open one, and what is saved by itself."""
    failed = saves_by_itself() and disk.saver(disk.folder()).problem is not None
    icon = ":material/warning:" if failed else ":material/save:"
    opened = st.popover(
        f"**{_('Workspace')}**", icon=icon, width="stretch", key="chip_workspace_open", on_change="rerun"
    )
    if opened.open:
        with opened, st.container(width=WIDE, gap="small"):
            _save()
            _open(pages)
            if saves_by_itself():
                _by_itself()


def _save() -> None:
    workspace = current_workspace()
    has_files = any(given.content is not None for given in data_of(workspace).values())
    bare_only = False
    if has_files:
        fits = _fits(workspace)
        bare_only = st.toggle(_("Without my data"), value=not fits, disabled=not fits, key="workspace_bare")
        if not fits:
            st.caption(_("The files are too large to be opened here again in one workspace: it names them only."))
        elif not bare_only:
            st.caption(_("Your files are in it as they are: whoever has the workspace can read them."))
        if bare_only:
            st.caption(_("It names your files only; they are asked for when it is opened."))
    save_button("workspace_save", bare_only=bare_only)
    if not has_files:
        st.caption(_("Table, columns, models, case, losses, prior of use and what the pages show, in one file."))


def _fits(workspace: Workspace) -> bool:
    return size(workspace) + HEADER <= _limit()


def _limit() -> int:
    return int(st.get_option("server.maxUploadSize")) * 2**20


def save_button(key: str, *, bare_only: bool = False, width: Literal["stretch", "content"] = "stretch") -> None:
    """A button that downloads the workspace; its files go with it unless they are not wanted or too large."""
    workspace = current_workspace()
    if bare_only or not _fits(workspace):
        workspace = without_data(workspace)
    st.download_button(
        _("Save workspace"), partial(write, workspace), file_name(workspace), MIME, key=key,
        icon=":material/download:", on_click="ignore", width=width,
    )  # fmt: skip


def _open(pages: frozenset[str]) -> None:
    session = st.session_state
    key = f"workspace_file_{session.setdefault('workspace_turn', 0)}"
    st.file_uploader(_("Open workspace"), key=key, on_change=_take, args=(key, pages))
    if (why := session.get("workspace_refused")) is not None:
        st.error(_("Not opened: {why}. Nothing was changed.").format(why=why.local(_quoted)))


def _take(key: str, pages: frozenset[str]) -> None:
    """The file that was dropped becomes the workspace; what is wrong with it is said, and nothing changes. Either way
    the uploader lets go of it."""
    session = st.session_state
    given = session.get(key)
    session["workspace_refused"] = None
    if given is None:
        return
    session["workspace_turn"] += 1
    _open_up(lambda: read(given.getvalue(), pages, limit=_limit()), "workspace_refused")


def _open_up(read_workspace: Callable[[], Workspace], refused: str) -> None:
    """Have the files of a workspace read, and the session put into it; what is wrong with it is said under `refused`,
    and nothing changes."""
    try:
        workspace = read_workspace()
    except BayesEngineError as error:
        _refused(refused, error)
        return
    key = ("workspace", workspace.page, workspace.state, *(given.digest for given in workspace.files.values()))

    def reopened(uploads: tuple[Upload[Any], ...]) -> None:
        reopen(workspace, uploads)
        st.session_state["chip_workspace_open"] = False
        _dismiss()

    jobs.run_after_callback(key, partial(read_files, workspace), OPENING, reopened, partial(_refused, refused),
                size=size(workspace))  # fmt: skip


def _refused(key: str, error: BayesEngineError) -> None:
    st.session_state[key] = error.message


def _by_itself() -> None:
    saver = disk.saver(disk.folder())
    if saver.problem is not None:
        st.warning(_("It could not be saved by itself: {why}.").format(why=saver.problem.message.local(_quoted)))
    kept = disk.saved(saver.within)
    if not kept:
        st.caption(_("On this computer a workspace is saved by itself when you change it."))
        return
    st.caption(
        _("On this computer a workspace is saved by itself; last at {time}, in {folder}.").format(
            time=_time(kept[0].when), folder=md(saver.within, 200)
        )
    )
    st.button(
        _("Forget what was saved"), key="workspace_forget", icon=":material/delete:", type="tertiary", on_click=_forget
    )


def _forget() -> None:
    disk.saver(disk.folder()).forget()
    unfinished.forget_all()
    _dismiss()


# what is said above the page --------------------------------------------------------------------------------------


def notice(page: str, pages: frozenset[str]) -> None:
    """That a session was lost, and the way back; on a fresh Start the way back to the last workspace."""
    _other_version()
    session, state = st.session_state, current()
    lost: str = session.get("workspace_lost", "")
    fresh = page == "start" and replace(state, language="") == START
    way_back = None
    if saves_by_itself() and not session.get("workspace_dismissed") and (lost or fresh or _missing(state)):
        way_back = _way_back(lost, state, pages)
    if not lost and way_back is None:
        return
    sentence = _what_was_lost(lost, way_back, pages)
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", gap="small", key="workspace_notice",
    ):  # fmt: skip
        icon = "sync_problem" if lost else "history"
        st.markdown(f":material/{icon}: {sentence}", width="stretch")
        if way_back is not None:
            st.button(
                _("Reopen"), key="workspace_reopen", icon=":material/history:", on_click=_reopen,
                type="primary" if lost else "secondary", args=(way_back.session, pages),
            )  # fmt: skip
        st.button(
            "", key="workspace_dismiss", icon=":material/close:", type="tertiary", help=_("Dismiss"), on_click=_dismiss
        )
    if (why := session.get("workspace_not_reopened")) is not None:
        st.error(_("Not opened: {why}. Nothing was changed.").format(why=why.local(_quoted)))


def _way_back(lost: str, state: State, pages: frozenset[str]) -> disk.Saved | None:
    """The saved workspace of the session that is gone; else the latest that no open tab shows, and where the state
    speaks of a table that is missing the latest that has it."""
    kept = disk.saved(disk.folder())
    for one in kept:
        if lost and one.session == lost:
            return one
    mark = TABLE.named(state) if _missing(state) else ""
    if lost and not mark and replace(state, language="") != START:
        return None
    for one in kept:
        glanced = disk.load_summary(one, disk.folder(), pages)
        if glanced and not private.connected(one.session) and mark in ("", TABLE.named(glanced.state)):
            return one
    return None


def _other_version() -> None:
    program = st.session_state.get("workspace_program", __version__)
    if program == __version__:
        return
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", gap="small", key="workspace_version",
    ):  # fmt: skip
        st.markdown(
            ":material/info: "
            + _(
                "This workspace was saved by version {saved} of the program, and this is {here}: the models are fitted "
                "anew, and numbers may differ in their last digits."
            ).format(saved=md(program), here=md(__version__)),
            width="stretch",
        )
        st.button(
            "", key="workspace_version_seen", icon=":material/close:", type="tertiary", help=_("Dismiss"),
            on_click=lambda: st.session_state.update(workspace_program=__version__),
        )  # fmt: skip


def _what_was_lost(lost: str, way_back: disk.Saved | None, pages: frozenset[str]) -> str:
    glanced = way_back and disk.load_summary(way_back, disk.folder(), pages)
    saved = ""
    if way_back is not None:
        table = _table(glanced) if glanced else ""
        if table:
            saved = _("Your last workspace, on {table}, was saved at {time}.").format(
                table=md(table, 60), time=_time(way_back.when)
            )
        else:
            saved = _("Your last workspace was saved at {time}.").format(time=_time(way_back.when))
    if not lost:
        return saved
    what = (
        _("The server was restarted.")
        if st.session_state.get("workspace_restarted")
        else _("The connection was away for too long, and the session has ended.")
    )
    return f"{what} {saved or _('You see what the address says; a file that was uploaded has to be given again.')}"


def _table(workspace: Workspace) -> str:
    """What the table of a workspace is called; data, to be escaped."""
    if given := workspace.files.get("table"):
        return given.name
    name = workspace.state.table
    return dataset_cover(name).text("title", current_language()) if name in dataset_names() else ""


def _missing(state: State) -> bool:
    """Whether the state speaks of a table that this session was not given."""
    digest = TABLE.named(state)
    return bool(digest) and digest not in held(TABLE)


def _reopen(session: str, pages: frozenset[str]) -> None:
    st.session_state["workspace_not_reopened"] = None
    _open_up(lambda: disk.load(session, disk.folder(), pages), "workspace_not_reopened")


def _dismiss() -> None:
    st.session_state.update(workspace_lost="", workspace_dismissed=True, workspace_not_reopened=None)


def _time(when: float) -> str:
    """The hour of a moment today, else its day too."""
    then = time.localtime(when)
    today = then[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if today else "%Y-%m-%d %H:%M", then)


def _quoted(text: str) -> str:
    return md(clean(text, 300), 300)
