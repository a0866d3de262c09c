"""A file too large for an upload, classified from where it lies on one's own computer, and answered beside it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message, _
from bayes_engine.scale.classify import ClassifiedFiles
from bayes_engine.workbench.incoming import large_file
from bayes_engine.workbench.incoming.large_file import AllRows
from bayes_engine.workbench.incoming.unfinished import Unfinished, answers_in
from pages import active
from pages.active import all_rows, large_files, unfinished, words
from pages.components.tables import markdown_table
from pages.runtime import jobs
from pages.runtime.escape import md
from pages.runtime.job_queue import in_worker
from pages.runtime.progress_box import progress_box
from pages.runtime.state import current, end_page

CLASSIFYING = Message("classifying all rows of the file")
ENDINGS = {".parquet": "Parquet", ".csv": "CSV"}


class Judge(NamedTuple):
    """The model that decides, whether it was fitted to all rows of a large file, and what stands for it in a key."""

    model: Any
    of_all: bool
    key: Hashable


def _judge(table: active.FittableTable, fitted: active.Fitted) -> Judge:
    large = large_files.opened(current())
    if large is not None and (known := all_rows.known(large, table, fitted)).model is not None:
        return Judge(known.model, True, all_rows.key_of(large, table, fitted))
    return Judge(fitted.judging, False, fitted.key)


class Asked(NamedTuple):
    """What was asked for: the rows, where their answers go, what stands for both with model, losses and prior, and the
    number of the click: one that was cancelled may be asked for again."""

    rows: AllRows
    place: Path
    key: Hashable
    number: int

    @property
    def file(self) -> str:
        """What the rows are called."""
        paths = self.rows.paths
        return paths[0].name if len(paths) == 1 else paths[0].parent.name

    @property
    def total(self) -> int:
        """How many rows there are; 0 where that is not known before they are read."""
        return large_file.rows_of(self.rows)


def classify_large_file(table: active.FittableTable, fitted: active.Fitted) -> None:
    """Where the path of a large file is given, and what became of its rows, with which the page ends; nothing where
    others are served, or no folder is named."""
    within = large_files.folders()
    if not within:
        return
    _go_on(table, fitted)
    shown = st.container(key="large_answers")
    with st.expander(_("Classify a large file"), icon=":material/database:", key="large_second", on_change="rerun"):
        _path_given(table, fitted, within)
    with shown:
        answered = _answers(table, fitted)
    if answered:
        end_page()


def make_room() -> None:
    """For a callback: what was written of a large file is shown no longer, since another file was given."""
    st.session_state["large_second"] = False
    asked: Asked | None = st.session_state.get("large_second_asked")
    if asked is not None and asked.key in st.session_state.get("large_answers_done", {}):
        st.session_state["large_second_asked"] = None


def _path_given(table: active.FittableTable, fitted: active.Fitted, within: Sequence[Path]) -> None:
    session, judge = st.session_state, _judge(table, fitted)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input(
            _("Path on this computer"), placeholder=str(within[0] / "rows.parquet"), key="large_second_path", width=360,
        )  # fmt: skip
        st.selectbox(
            _("Answers as"), list(ENDINGS), format_func=ENDINGS.__getitem__, key="large_second_as", width=130,
            help=_("They are written beside the file, under a name that no file has, once all rows are there. Broken "
                   "off or cancelled, the same again goes on with what was written."),
        )  # fmt: skip
        st.button(
            _("Classify all rows"), icon=":material/play_arrow:", key="large_second_go", type="primary",
            disabled=bool(table.repairs), on_click=_ask, args=(table, fitted),
        )  # fmt: skip
    if table.repairs:
        text = _("Cells of the table were mended, and those of a large file are taken as they are: undo the mends on "
                 "the page Data.")  # fmt: skip
    elif judge.of_all:
        text = _("By the model that was fitted to *all rows*, under the losses and the prior of use that stand.")
    else:
        text = _("By the active model, which is fitted to the {n} rows of the table in use, under the losses and the "
                 "prior of use that stand.").format(n=f"{len(table.parts.y):,}")  # fmt: skip
    st.caption(text)
    if table.amount_column:
        st.caption(_("Losses are taken per unit of {column}.").format(column=md(table.amount_column, 40)))
    if why := session.get("large_second_said"):
        st.error(_("Not classified: {why}.").format(why=why.local(md)))


def _ask(table: active.FittableTable, fitted: active.Fitted) -> None:
    session = st.session_state
    session["large_second_asked"] = session["large_second_said"] = None
    try:
        rows = large_files.all_rows_at(str(session.get("large_second_path") or ""))
        place = large_file.answer_beside(rows.paths, session["large_second_as"], large_files.folders())
    except BayesEngineError as error:
        session["large_second_said"] = error.message
    else:
        session["large_second_clicks"] = number = session.get("large_second_clicks", 0) + 1
        session["large_second_asked"] = Asked(rows, place, key := _key(rows, place, table, fitted), number)
        unfinished.asked_here(key)


def _key(rows: AllRows, place: Path, table: active.FittableTable, fitted: active.Fitted) -> Hashable:
    prior = active.prior_of_use(table)
    use = None if prior is None else tuple(prior.items())
    return rows.stamp, str(place), _judge(table, fitted).key, active.losses(table), use


def _go_on(table: active.FittableTable, fitted: active.Fitted) -> None:
    """What was broken off and is gone on with, is asked for as it was."""
    session = st.session_state
    work: Unfinished | None = session.get("go_on")
    if work is None or work.what != "classify":
        return
    try:
        rows = large_files.all_rows_at([path for path, _size, _when in work.stamp])
    except BayesEngineError as error:
        session["large_second_said"] = error.message
        return
    place = Path(work.answer)
    if place.exists():
        session["large_second_said"] = Message("there is a '{file}' by now", {"file": place.name})
    elif unfinished.wanted("classify", key := _key(rows, place, table, fitted)) is None:
        session["large_second_said"] = Message("the model, the losses or the prior of use are others by now")
    else:
        session["large_second_clicks"] = number = session.get("large_second_clicks", 0) + 1
        session["large_second_asked"] = Asked(rows, place, key, number)
    session.pop("go_on", None)


def _answers(table: active.FittableTable, fitted: active.Fitted) -> bool:
    """What became of the rows, or how far it is; whether there is anything to show."""
    session = st.session_state
    asked: Asked | None = session.get("large_second_asked")
    if asked is None or asked.key != _key(asked.rows, asked.place, table, fitted):
        return False  # nothing, or by another model, under other losses
    done: dict[Hashable, ClassifiedFiles] = session.setdefault("large_answers_done", {})
    judge, loss, prior = _judge(table, fitted), active.losses(table), active.prior_of_use(table)

    if asked.key not in done:
        noted = unfinished.of("classify", asked.key, asked.rows, asked.file, asked.total, str(asked.place))

        def work() -> ClassifiedFiles:
            with unfinished.under_way(noted):
                folder = None if noted is None else answers_in(noted.answer, noted.name)
                return in_worker(large_file.classify_all, judge.model, asked.rows, asked.place, loss, prior, folder)

        try:
            done[asked.key] = jobs.run(("large answers", asked.number, asked.key), work, CLASSIFYING)
        except jobs.UnderWay as there:
            progress_box(there, goes_on=lambda: noted is not None and answers_in(noted.answer, noted.name).exists())
            return True
        except BayesEngineError as error:
            session["large_second_said"], session["large_second_asked"] = error.message, None
            st.rerun()
    _report(table, done[asked.key], judge)
    return True


def _report(table: active.FittableTable, done: ClassifiedFiles, judge: Judge) -> None:
    st.markdown(
        ":material/check_circle: "
        + _("**{n} rows** are classified, in {path}.").format(n=f"{done.rows:,}", path=md(str(done.path), 200))
    )
    counts = [(words.decision_name(table, action, md), n) for action, n in done.actions.items()]
    if done.undecided:
        counts.append((_("no posterior"), done.undecided))
    markdown_table([
        (_("decision"), _("rows"), _("share")),
        *((name, f"{n:,}", f"{n / max(done.rows, 1):.2%}") for name, n in counts),
    ])  # fmt: skip
    of = (
        _("Of *all rows* of the file, by the model that was fitted to *all rows*.")
        if judge.of_all
        else _("Of *all rows* of the file, by the model that is fitted to the table in use.")
    )
    beside = _("Beside each row stand the decision, its risk, the gap to the runner-up, the posterior and the status.")
    st.caption(f"{of} {beside}")
