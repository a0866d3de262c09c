"""A run of the script once the engine is there: the frame around the page, the page, the state to the address."""

from __future__ import annotations

import gc
from contextlib import suppress
from pathlib import Path

import streamlit as st

import bayes_engine.decision.evaluate
import bayes_engine.workbench.figures.decisions  # noqa: F401 - heavy, and every page needs it
from pages.active import large_files, own_lessons
from pages.components import component
from pages.runtime import addresses, cache, jobs, logs, private, progress_box, sessions, wake
from pages.runtime import view_keys as keys
from pages.runtime.state import PageEnded, current, query_params, write_url
from pages.shell import (
    add_view,
    chips,
    class_question,
    classroom,
    frame,
    lesson_bar,
    presenter,
    printed,
    unfinished,
    workspace,
)


@st.cache_resource(show_spinner=False)
def _process_start() -> None:
    """Once: keep the collector off what is loaded (a full collection costs more than a whole run), keep the log clean,
    and free the sessions that were left."""
    if (runtime := private.running()) is not None:
        logs.install()
        sessions.start()
        private.share_session_lock()
        private.name_callers()
        private.look_values_up()
        private.notify_loop_together()
        private.ask_options_once()
        private.at_each_ask(runtime, addresses.note)
        jobs.share_the_machine()
    gc.freeze()


def run(begun: frame.Run) -> None:
    """Draw the sidebar and the page."""
    _process_start()
    wake.begin()
    pages = {Path(file).stem: there for file, there in begun.listed.items()}
    try:
        with progress_box.showing_progress(), cache.drawing():
            own_lessons.take_from_link()
            under_way = jobs.run_callback_job()
            if (asked := st.session_state.pop("page_wanted", begun.here)) != begun.here:
                st.switch_page(pages[asked], query_params=query_params())
            component.begin_drawing(begun.here)
            with st.sidebar:
                frame.heading(chips.of_streamlit())
                workspace.begin()
                chips.state_chips(frame.place_of(begun.here).uses(current()))
                workspace.chip(frozenset(pages))
                frame.menu(begun)
                chips.language()
                with st.container(horizontal=True, gap="small", key="sidebar_foot"):
                    classroom.share()
                    printed.button()
                    add_view.button(begun.here)
                    presenter.button()
                class_question.menu()
            if under_way is not None:
                progress_box.progress_box(under_way)
            workspace.notice(begun.here, frozenset(pages))
            unfinished.notice(begun.here)
            chips.warnings()
            if "table" in frame.place_of(begun.here).uses(current()):
                on_model = begun.here == "model" and current().seen(keys.MODEL_VIEW) == "conditionals"
                large_files.sample_notice(there=on_model)
            class_question.line()
            lesson_bar.lesson_bar(begun.here)
            presenter.bar(begun.here)
            if not lesson_bar.held_back(begun.here):
                with suppress(PageEnded):
                    begun.page.run()
            component.end_drawing()
            printed.sheet(begun.here)
    except PageEnded:
        pass
    finally:
        write_url()
        workspace.save_if_changed()
