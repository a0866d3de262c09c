"""The one place that knows the pages. Works whether Streamlit enters through app.py or straight through a page file.

Until a process has executed `st.navigation` once, a deep link such as /decisions runs that page without app.py;
`boot()`, the first line of every page, repairs it on the spot.
"""

from __future__ import annotations

import contextvars
import gc
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from bayes_engine.language import _
from pages.runtime import addresses, cache, jobs, logs, private, sessions
from pages.runtime import view_keys as keys
from pages.runtime.state import PageEnded, State, current, query_params, read_url, write_url
from pages.shell import chips, classroom, workspace

_ROUTED = contextvars.ContextVar("routed", default=False)


@dataclass(frozen=True)
class Place:
    """A page: its file, its name on screen, its icon, the group it stands in, and which of the sidebar's chips it
    uses."""

    file: str
    title: str
    icon: str
    group: str = ""
    uses: Callable[[State], Collection[str]] = lambda _state: chips.NAMES


def places() -> list[Place]:
    use, understand = _("Use"), _("Understand")
    return [
        Place("pages/start.py", _("Start"), ":material/home:"),
        Place("pages/data.py", _("Data"), ":material/table:", use, _table),
        Place("pages/model.py", _("Model"), ":material/tune:", use),
        Place("pages/decisions.py", _("Decisions"), ":material/balance:", use),
        Place("pages/case.py", _("One case"), ":material/search:", use),
        Place("pages/classify.py", _("Classify a file"), ":material/upload_file:", use, _all_but_case),
        Place("pages/dependence.py", _("Dependence"), ":material/device_hub:", understand),
        Place("pages/network.py", _("Network"), ":material/account_tree:", understand, _table_if_learned),
        Place("pages/projection.py", _("Projection"), ":material/flip:", understand, _table),
        Place("pages/hidden.py", _("Hidden labels"), ":material/visibility_off:", understand, _table),
        Place("pages/laboratory.py", _("Laboratory"), ":material/science:", understand, _nothing),
    ]


def _table(_state: State) -> Collection[str]:
    return ("table",)


def _all_but_case(_state: State) -> Collection[str]:
    return ("table", "model", "losses")


def _table_if_learned(state: State) -> Collection[str]:
    learned = state.seen(keys.NET_TAB) == "learn" or state.seen(keys.NET) == "table"
    return ("table",) if learned else ()


def _nothing(_state: State) -> Collection[str]:
    return ()


@st.cache_resource(show_spinner=False)
def _process_start() -> None:
    """Load what is heavy, once, and keep the collector off it: a full collection costs more than a whole run. Keep the
    log clean, and free the sessions that were left."""
    import bayes_engine.decision.evaluate
    import bayes_engine.workbench.figures.decisions  # noqa: F401

    if (runtime := private.running()) is not None:
        logs.install()
        sessions.start()
        private.share_widget_states()
        private.at_each_step(runtime, addresses.note_step)
        jobs.share_the_machine()
    gc.collect()
    gc.freeze()


def run_app() -> None:
    """One run: state from the URL, the frame around the page, the page, state to the URL."""
    _process_start()
    st.set_page_config(
        page_title="Bayes Workbench",
        page_icon=Path(__file__).parent / "icon.png",
        layout="wide",
        initial_sidebar_state="auto",
    )
    listed = {place.file: st.Page(place.file, default=place.file == "pages/start.py") for place in places()}
    page = st.navigation(list(listed.values()), position="hidden")
    read_url(page.url_path)
    pages = {Path(file).stem: there for file, there in listed.items()}
    here = page.url_path or "start"
    token = _ROUTED.set(True)
    try:
        with jobs.showing_progress(), cache.drawing():
            under_way = jobs.run_callback_job()
            if (asked := st.session_state.pop("workspace_page", here)) != here:  # a workspace was opened
                st.switch_page(pages[asked], query_params=query_params())
            with st.sidebar:
                chips.heading()
                workspace.begin()
                there = places()  # in the language that the address has just set
                chips.state_chips(next(place.uses(current()) for place in there if Path(place.file).stem == here))
                workspace.chip(frozenset(pages))
                _menu(there, listed, here)
                chips.language()
                classroom.share()
            if under_way is not None:
                jobs.progress_box(under_way)
            workspace.notice(here, frozenset(pages))
            chips.warnings()
            page.run()
    except PageEnded:
        pass
    finally:
        _ROUTED.reset(token)
        write_url()
        workspace.save_if_changed()


def boot() -> None:
    if not _ROUTED.get():
        run_app()
        st.stop()


def _menu(there: list[Place], listed: dict[str, st.Page], here: str) -> None:
    group = ""
    for place in there:
        if place.group != group:
            group = place.group
            st.caption(group)
        with st.container(key="menu_here") if Path(place.file).stem == here else nullcontext():
            st.page_link(
                listed[place.file], label=place.title, icon=place.icon, width="stretch", query_params=query_params()
            )
