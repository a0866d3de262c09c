"""The compiled table, to be read column by column, and as a Python file that needs nothing but Python."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.models.look_up import LookUp
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.numerals import near, number_of_log, plain
from pages import active
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.widgets import select

ALL, PRIOR = -2, -1
"""In place of a column: all of them; the class prior."""
HIGH = 420
"""Height of table and file in pixels."""


@cached(max_entries=16)
def _compiled(fitted: active.Fitted) -> LookUp:
    assert isinstance(fitted.model, NaiveBayes)
    return LookUp.of(fitted.model)


def table_and_file(table: active.FittableTable, fitted: active.Fitted) -> None:
    """What is looked up, and the function that does it. Raises ParameterError where a likelihood has no table."""
    made = _compiled(fitted)
    st.subheader(_("The compiled table"))
    entries, file = st.columns([3, 2], gap="medium")
    with entries:
        _entries(table, made)
    with file:
        _file(made)


def _file(made: LookUp) -> None:
    """The Python file, to be read and taken along."""
    try:
        source = made.source()
    except BayesEngineError as error:  # a label that no file of plain Python holds
        st.warning(error.message.local(md))
        return
    st.download_button(
        _("Download the Python file"),
        source,
        "naive_bayes.py",
        "text/x-python",
        key="ways_file",
        icon=":material/download:",
        on_click="ignore",
    )
    st.caption(
        _(
            "It imports `math` and nothing else, holds no row of your table, and carries {n} test vectors: run it, "
            "and it checks itself against this model."
        ).format(n=len(made.cases))
    )
    st.code(source, language="python", height=HIGH)


def _entries(table: active.FittableTable, made: LookUp) -> None:
    """Every entry, or those of one column."""
    features = table.features
    shown = {i: _column(table, i) for i in (ALL, PRIOR, *range(len(features)))}
    here = select(_("Column"), keys.WAYS_COLUMN, shown)
    named = {PRIOR: table.target.name, **dict(enumerate(features.names))}.get(here)
    logs, normal = made.frame(), made.coefficients()
    if here == PRIOR:
        logs, normal = logs[logs["entry"] == "prior"], normal[:0]
    elif named is not None:
        logs = logs[(logs["column"] == named) & (logs["entry"] != "prior")]
        normal = normal[normal["column"] == named]
    if len(logs):
        _logs(table, logs)
    if len(normal):
        _normal(table, normal)
    if not len(logs) and not len(normal):
        st.caption(_("Nothing is looked up here: the column carries no information about the class."))


def _column(table: active.FittableTable, place: int) -> str:
    if place == ALL:
        return _("all columns")
    if place == PRIOR:
        return _("the class prior")
    return clean(table.column(table.features.names[place]), 40)


def _logs(table: active.FittableTable, logs: pd.DataFrame) -> None:
    names = {"prior": _("prior"), "missing": _("missing"), "unseen": _("any other value")}
    cut = {v.name for v in table.features if v.numeric}
    shown = pd.DataFrame(
        {
            _("column"): [clean(table.column(name), 40) for name in logs["column"]],
            _("value"): [
                names.get(entry, "") if entry != "level"
                else clean(str(level) if name in cut else table.level(name, level), 40)
                for name, entry, level in zip(logs["column"], logs["entry"], logs["level"], strict=True)
            ],
            _("class"): [clean(table.class_(c), 40) for c in logs["class"]],
            "ln P": [_log(v) for v in logs["log_p"]],
            "P": [number_of_log(v) for v in logs["log_p"]],
        }
    )  # fmt: skip
    st.dataframe(
        shown,
        key="ways_logs",
        hide_index=True,
        height=min(38 + 35 * len(shown), HIGH),
        alt=_("the entries that are looked up"),
    )


def _log(value: float) -> str:
    """A log-probability; −∞ where the table says never."""
    return f"{value:.6f}".replace("-", "−") if value > float("-inf") else "−∞"


def _normal(table: active.FittableTable, normal: pd.DataFrame) -> None:
    """The numbers of the Gaussians, which no table of values can hold."""
    shown = pd.DataFrame(
        {
            _("column"): [clean(table.column(name), 40) for name in normal["column"]],
            _("class"): [clean(table.class_(c), 40) for c in normal["class"]],
            _("mean"): [near(m, s) for m, s in zip(normal["mean"], normal["sd"], strict=True)],
            "σ": [plain(s) for s in normal["sd"]],
            _("pivot"): [plain(v) for v in normal["pivot"]],
            "b": [plain(v) for v in normal["b"]],
            "η₁": [plain(v) for v in normal["eta1"]],
            "η₂": [plain(v) for v in normal["eta2"]],
        }
    )
    st.caption(_("Numbers cannot be looked up value by value: their Gaussians are stored as coefficients, ln p = b + "
                 "η₁z + η₂z² with z = x − pivot."))  # fmt: skip
    st.dataframe(
        shown,
        key="ways_normal",
        hide_index=True,
        height=min(38 + 35 * len(shown), HIGH),
        alt=_("the coefficients of the Gaussians"),
    )
