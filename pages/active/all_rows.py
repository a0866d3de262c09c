"""Models of the shelf on all rows of the file whose sample is the table in use: what is asked, and what is known."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message
from bayes_engine.scale.score import RiskInFiles
from bayes_engine.store import load_model, save_model
from bayes_engine.table.schema import Schema
from bayes_engine.workbench.incoming import large_file
from bayes_engine.workbench.incoming.large_file import Columns
from bayes_engine.workbench.incoming.unfinished import KEPT_MODEL, parts_of
from pages.active import unfinished
from pages.active.case_and_losses import losses, prior_of_use
from pages.active.large_files import LargeFile
from pages.active.model_settings import uncalibrated
from pages.active.models import Fitted
from pages.active.tables import FittableTable
from pages.runtime import jobs
from pages.runtime.cache import content_key
from pages.runtime.job_queue import in_worker
from pages.runtime.state import Spec

Asked = Literal["fit", "judge"]
FITTING = Message("fitting to all rows")
JUDGING = Message("judging on all rows held out")


class OfAllRows(NamedTuple):
    """What is known of a model of the shelf on all rows: the fitted model, and its risk."""

    model: Any = None
    risk: RiskInFiles | None = None


def key_of(large: LargeFile, table: FittableTable, fitted: Fitted) -> Hashable:
    """What stands for a model of the shelf on all rows of a file."""
    return _key(large, table, fitted.spec)


def _key(large: LargeFile, table: FittableTable, spec: Spec) -> tuple[Hashable, ...]:
    return large.rows.stamp, table.key, replace(uncalibrated(spec), name="")


def judged_key(large: LargeFile, table: FittableTable, fitted: Fitted) -> Hashable:
    """The same with the losses and the prior of use, which its risk depends on."""
    return _judged(large, table, fitted.spec)


def _judged(large: LargeFile, table: FittableTable, spec: Spec) -> tuple[Hashable, ...]:
    prior = prior_of_use(table)
    return *_key(large, table, spec), losses(table), None if prior is None else tuple(prior.items())


def known(large: LargeFile, table: FittableTable, fitted: Fitted) -> OfAllRows:
    """What was computed of it in this session, or is kept of one before."""
    return known_of(large, table, fitted.spec)


def known_of(large: LargeFile, table: FittableTable, spec: Spec) -> OfAllRows:
    """What was computed in this session of a model of the shelf, or is kept of one before."""
    there = st.session_state.setdefault("all_rows", {})
    fit_key = _key(large, table, spec)
    if fit_key not in there and (model := _kept_model(fit_key)) is not None:
        there[fit_key] = model
    return OfAllRows(there.get(fit_key), there.get(_judged(large, table, spec)))


def _kept_model(key: Hashable) -> Any:
    """The model that a session before this one fitted to all rows, where it is kept."""
    there = unfinished.folder()
    if there is None or not (place := there / f"{content_key(key)}{KEPT_MODEL}").is_file():
        return None
    with suppress(BayesEngineError):
        return load_model(place)
    return None


def ask(what: Asked, key: Hashable) -> None:
    """For a callback: have it computed as the page is drawn."""
    st.session_state["all_rows_asked"] = (what, key)
    unfinished.asked_here(key)
    st.session_state["all_rows_said"] = None


def asked() -> str:
    """What was asked for last, and is not there yet; "" where nothing is."""
    what, _key = st.session_state.get("all_rows_asked") or ("", None)
    return str(what)


def compute_if_asked(large: LargeFile, table: FittableTable, fitted: Fitted) -> BayesEngineError | None:
    """Compute what was asked for of this model; while that takes, raises UnderWay. Returns why it cannot be done."""
    columns, model = columns_of(table, fitted), fitted.uncalibrated.model
    loss, prior = losses(table), prior_of_use(table)
    fit_key, judge_key = key_of(large, table, fitted), judged_key(large, table, fitted)
    both: tuple[tuple[Asked, Hashable], ...] = (("fit", fit_key), ("judge", judge_key))
    for what, key in both:
        if unfinished.wanted(what, key) is not None:
            ask(what, key)
    fitting, judging = (unfinished.of(w, k, large.rows, large.of.file, large.of.rows) for w, k in both)

    def fit() -> Any:
        part = part_of(fit_key)
        with unfinished.under_way(fitting):
            learnt = in_worker(large_file.fit_all, model, large.rows, columns, part)
            if part is not None:
                with suppress(BayesEngineError):  # it has no place in a file, or there is no room
                    save_model(learnt, part.with_name(f"{part.name}{KEPT_MODEL}"))
        return learnt

    def judge() -> RiskInFiles:
        with unfinished.under_way(judging):
            return in_worker(large_file.judge_all, model, large.rows, columns, loss, prior, part_of(judge_key))

    _compute("fit", fit_key, fit)
    _compute("judge", judge_key, judge)
    problem = st.session_state.get("all_rows_said")
    return problem[1] if problem is not None and problem[0] in (fit_key, judge_key) else None


def _compute(what: Asked, key: Hashable, work: Callable[[], Any]) -> None:
    session = st.session_state
    if session.get("all_rows_asked") != (what, key):
        return
    try:
        result = jobs.run(("all rows", what, key), work, FITTING if what == "fit" else JUDGING)
    except BayesEngineError as error:
        session["all_rows_said"] = (key, error)
    else:
        session.setdefault("all_rows", {})[key] = result
    session["all_rows_asked"] = None
    st.rerun()


def part_of(key: Hashable) -> Path | None:
    """Where what is counted so far is kept, in case the app ends; None where nothing is to be saved."""
    there = unfinished.folder()
    return None if there is None else large_file.place_of_part(content_key(key), there)


def is_begun(key: Hashable) -> bool:
    """Whether a part of it was counted before."""
    part = part_of(key)
    return part is not None and bool(parts_of(part))


def columns_of(table: FittableTable, fitted: Fitted) -> Columns:
    """The columns of the files as the model reads those of the sample. Cut points are found anew, and levels that the
    sample has not met may come."""
    own = table.parts.schema
    read = [own[v.name] if v.cuts is not None and own[v.name].cuts is None else v for v in fitted.model.schema_]
    roles = {v.role: v.name for v in table.schema if v.role in ("weight", "group")}
    schema = Schema(tuple(replace(v, declared=False) if v.cuts is None else v for v in read))
    return Columns(table.target.name, schema, roles.get("weight"), roles.get("group"))
