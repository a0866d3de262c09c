"""How far a job is, on the page that waits for it: a bar, seconds, and a button that stops it or begins it again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import streamlit as st

from bayes_engine.language import _, ngettext
from pages.runtime import job_queue, jobs, private
from pages.runtime.escape import md
from pages.runtime.job_queue import Job


@contextmanager
def showing_progress() -> Iterator[None]:
    """A run of the script: where it cannot go on for a job, how far that is."""
    with jobs.page_run():
        try:
            with job_queue.computing(1):
                yield
            st.session_state.pop("progress", None)
        except jobs.UnderWay as there:
            progress_box(there)


def progress_box(there: jobs.UnderWay, *, goes_on: Callable[[], bool] | None = None) -> None:
    """In place of the rest of the page: what is being done, how far it is, and a button that stops it. A page may show
    several, each once: the buttons go by the number of the job. What was cancelled starts again, or `goes_on` from what
    is kept of it, which is asked once it has ended."""
    if not jobs.shown_first(there.key):
        return
    if there.job is None:
        _cancelled(there, goes_on)
        return
    job = there.job
    box = _ProgressBox(job, there, _page_progress(there.part, job.begun))
    with jobs.following(job, box.update), st.container(border=True, width=640):
        box.draw()


def _cancelled(there: jobs.UnderWay, goes_on: Callable[[], bool] | None) -> None:
    """That it was cancelled, and the button that begins it again: where something may be kept, once it has ended."""
    job = jobs.ending(there.key) if goes_on is not None else None
    if job is not None and jobs.wait(job, time.monotonic() + job_queue.GRACE):
        job = None
    with nullcontext() if job is None else jobs.following(job, lambda _elements: None):
        st.warning(_("Cancelled: {what}.").format(what=_what(there)), icon=":material/stop_circle:")
    if job is not None:
        return
    key = f"job_again_{jobs.declined().get(there.key, 0)}"
    label = _("Go on") if goes_on is not None and goes_on() else _("Start again")
    st.button(label, icon=":material/play_arrow:", key=key, on_click=jobs.start_again, args=(there.key,))


def _what(there: jobs.UnderWay) -> str:
    """What is being done, and for which model where the page shows several."""
    return there.activity.local(md) + (f"{_(': ')}{md(there.model)}" if there.model else "")


@dataclass
class PageProgress:
    """How far a whole page is: no less than was shown before; and since when."""

    part: jobs.Part
    begun: float
    most: float = 0.0

    def share(self, share: float) -> float:
        """The share of all that the page computes where this one of its part is done."""
        self.most = max(self.most, self.part.begin + (self.part.end - self.part.begin) * share)
        return self.most


def _page_progress(part: jobs.Part | None, begun: float) -> PageProgress | None:
    if part is None:
        return None
    kept: PageProgress | None = st.session_state.get("progress")
    if kept is None or kept.part.page != part.page:
        kept = st.session_state["progress"] = PageProgress(part, begun)
    kept.part = part
    return kept


@dataclass(frozen=True)
class _ProgressBox:
    job: Job
    there: jobs.UnderWay
    page: PageProgress | None

    def draw(self) -> None:
        job = self.job
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(self._heading())
            cancel = f"job_cancel_{job.number}"
            st.button(_("Cancel"), icon=":material/stop_circle:", key=cancel, on_click=jobs.decline, args=(job,))
        share = self._share()
        st.progress(share, self._share_in_words(share))

    def update(self, elements: private.Elements) -> None:
        share = self._share()
        elements["markdown"].markdown.body = self._heading()
        elements["progress"].progress.value = int(100 * share)
        elements["progress"].progress.text = self._share_in_words(share)

    def _heading(self) -> str:
        seconds = f"{time.monotonic() - (self.job if self.page is None else self.page).begun:.0f}"
        head = _("{what} …").format(what=_what(self.there))
        return f"{head[:1].upper()}{head[1:]} {_('{n} s').format(n=seconds)}"

    def _share(self) -> float:
        share = job_queue.share(*self.job.progress)
        return share if self.page is None else self.page.share(share)

    def _share_in_words(self, share: float) -> str:
        if n := self.job.ahead():
            return ngettext("{n} computation is before this one.", "{n} computations are before this one.", n).format(
                n=n
            )
        if self.page is not None:
            return _("{share} of all that this page computes").format(share=f"{share:.0%}")
        return f"{share:.0%}" if self.job.progress[1] else _("under way")
