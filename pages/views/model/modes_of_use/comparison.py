"""The three modes of use beside one another: when each does its work, how much that is, and that they say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import Message, _
from bayes_engine.models.costs import MODES_OF_USE, Cost, ModeOfUse, Moment, costs
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.workbench.derivation.modes_of_use import Agreement, agreement, work
from bayes_engine.workbench.figures.modes_of_use import work_lines
from pages import active
from pages.components.chart import chart
from pages.components.tables import markdown_table
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, plotly_text
from pages.runtime.state import current, dark, on_click

RATIOS = tuple(10 ** (k / 10) for k in range(-20, 31))
"""Predictions for each row that comes, from one in a hundred to a thousand."""
DIGITS = 12
"""A posterior is shown to so many decimals, where it shall be seen that three are the same."""


def mode_name(mode: ModeOfUse) -> str:
    return {
        "look-up": _("Look-up table"),
        "lazy": _("Lazy learning"),
        "incremental": _("Incremental learning"),
    }[mode]


def _mode_in_words(mode: ModeOfUse) -> str:
    """What a mode does, and when it is the one to take."""
    return {
        "look-up": _(
            "All logarithms are taken beforehand; a prediction looks up and adds. Where predictions must be fast and "
            "the table stands still."
        ),
        "lazy": _(
            "Nothing is done before a query comes; then the rows are counted. Where rows change often and queries are "
            "few."
        ),
        "incremental": _(
            "The counts are kept; adding or removing a row changes those of its own values only. For "
            "tables that grow while predictions are made."
        ),
    }[mode]


def side_by_side(table: active.FittableTable, fitted: active.Fitted) -> None:
    """What each mode does and when, what it costs, and that all three say the same. Raises ParameterError where a
    column's likelihood has no table, and what the model raises for the case."""
    timed = current().seen(keys.TIMED)
    bill = _costs(fitted, timed, table)
    for mode, cell in zip(MODES_OF_USE, st.columns(3, gap="medium"), strict=True):
        with cell:
            st.markdown(f"**{mode_name(mode)}**")
            st.caption(_mode_in_words(mode))
    _bill(table, bill)
    st.button(
        _("Measure again") if timed else _("Measure the time"),
        icon=":material/timer:",
        key="ways_time",
        help=_("Each is done five times on these rows, and the median is shown; reading cells is not timed."),
        **on_click(lambda s: s.showing(keys.TIMED.to(timed + 1))),
    )
    figure, same = st.columns([5, 6], gap="medium")
    with figure:
        _figure(bill)
    with same:
        _same(table, fitted)


@cached(max_entries=32)
def _costs(fitted: active.Fitted, timed: int, _table: active.FittableTable) -> tuple[Cost, ...]:
    parts = _table.parts
    assert isinstance(fitted.model, NaiveBayes)
    return costs(fitted.model, parts.X, parts.y, sample_weight=parts.weight, measure=bool(timed))


def _bill(table: active.FittableTable, bill: Sequence[Cost]) -> None:
    """What is read, estimated and added, by moment and mode."""
    by_moment = {(cost.mode, cost.moment): cost for cost in bill}
    moments: dict[Moment, str] = {
        "fit": _("all {n} rows come").format(n=len(table.parts.X)),
        "update": _("one row more"),
        "predict": _("one prediction"),
    }
    lines = [["", *map(mode_name, MODES_OF_USE)]]
    for moment, named in moments.items():
        lines.append([f"**{named}**", *(_done(by_moment[mode, moment]) for mode in MODES_OF_USE)])
    lines.append([f"**{_('kept')}**", *(_kept(by_moment[mode, "predict"].bytes, mode) for mode in MODES_OF_USE)])
    markdown_table(lines, left=len(lines[0]))
    st.caption(
        _(
            "A row's cells are its columns and its class; an entry is one logarithm, or one of a Gaussian's three "
            "numbers; an addition is one log term for one class."
        )
    )


def _done(cost: Cost) -> str:
    """What is done at one moment in one mode, and how long it took."""
    read = {
        ("lazy", "update"): _("{n} cells stored"),
        ("look-up", "predict"): _("{n} look-ups"),
        ("incremental", "predict"): _("{n} look-ups"),
    }.get((cost.mode, cost.moment), _("{n} cells read"))
    parts = [
        *([read.format(n=cost.read)] if cost.read else []),
        *([_("{n} entries estimated").format(n=cost.entries)] if cost.entries else []),
        *([_("{n} additions").format(n=cost.additions)] if cost.additions else []),
    ]
    time = "" if cost.seconds is None else f" · **{_time(cost.seconds)}**"
    return (_(", ").join(parts) or _("nothing")) + time


def _kept(n: int, mode: ModeOfUse) -> str:
    what = {"look-up": _("the table"), "lazy": _("the rows"), "incremental": _("table and counts")}[mode]
    return f"{what}, {_size(n)}"


def _size(n: int) -> str:
    """Bytes with a unit.

    >>> _size(608), _size(15_300), _size(2_400_000)
    ('608 B', '15.3 kB', '2.4 MB')
    """
    return f"{n} B" if n < 1000 else f"{n / 1e3:.1f} kB" if n < 1e6 else f"{n / 1e6:.1f} MB"


def _time(seconds: float) -> str:
    """A time with a unit.

    >>> _time(3.4e-05), _time(0.00125), _time(2.0)
    ('34\xa0µs', '1.25\xa0ms', '2\xa0s')
    """
    unit, scale = ("µs", 1e6) if seconds < 1e-3 else ("ms", 1e3) if seconds < 1 else ("s", 1.0)
    return f"{seconds * scale:.3g}\u00a0{unit}"


def _figure(bill: Sequence[Cost]) -> None:
    """The work against how often questions come for each row."""
    unit, lines = work(bill, RATIOS)
    names = {mode: plotly_text(mode_name(mode)) for mode in MODES_OF_USE}
    st.subheader(_("How often is it asked?"))
    figure = work_lines(RATIOS, lines, names=names, measured=unit == "s", dark=dark())
    chart(figure, key="ways_work", alt=_("the work of each way against the number of predictions for each new row"))
    st.caption(
        _(
            "The work of one row more and of the predictions until the next. Counting at prediction "
            "time pays while predictions are rare, keeping counts as soon as they are not. A table "
            "compiled anew for every row saves no step: it is for data that do not change, and can "
            "be passed on without them."
        )
    )


# that they agree --------------------------------------------------------------------------------------------------


@cached(max_entries=32, activity=Message("comparing the models"))
def _agreement(fitted: active.Fitted, case: Mapping[str, Any], _table: active.FittableTable) -> Agreement:
    assert isinstance(fitted.model, NaiveBayes)
    parts = _table.parts
    return agreement(fitted.model, parts.X, parts.y, active.case_frame(_table, case), parts.weight)


def _same(table: active.FittableTable, fitted: active.Fitted) -> None:
    """The posterior of the case in each mode, and the largest difference over the table."""
    st.subheader(_("Three ways, one posterior"))
    agreeing = _agreement(fitted, active.case_values(table), table)
    posteriors(table, fitted, [(mode_name(mode), agreeing.of_case[mode]) for mode in MODES_OF_USE], key="ways_same")
    sentence = _(
        "The case of the page One case, under the model's own class prior, to {digits} digits. Over all {n} rows of "
        "the table the largest difference between any two ways is **{difference}**; for incremental learning every "
        "other row was taken away and put back."
    ).format(digits=DIGITS, n=agreeing.rows, difference=f"{agreeing.difference:.1e}")
    without = (
        _("{n} rows have no posterior in any of the three.").format(n=agreeing.without) if agreeing.without else ""
    )
    st.caption(f"{sentence} {without}".strip())


def posteriors(
    table: active.FittableTable,
    fitted: active.Fitted,
    rows: Sequence[tuple[str, Sequence[float] | None]],
    *,
    key: str,
    wide: int = 128,
) -> None:
    """P(class|case) by line, to the digits in which they are the same; the classes in the table's order."""
    order = [fitted.model.classes_.tolist().index(c) for c in table.classes]
    listed = [[name, *("–" if p is None else f"{p[k]:.{DIGITS}f}" for k in order)] for name, p in rows]
    heads = [f"c{k}" for k in range(len(order))]
    named = [f"P({clean(table.class_(c), 24)})" for c in table.classes]
    st.dataframe(
        pd.DataFrame(listed, columns=["mode", *heads]),
        hide_index=True,
        height="content",
        key=key,
        alt=_("the posterior of the case"),
        column_config={
            "mode": st.column_config.TextColumn("", width=wide),
            **{h: st.column_config.TextColumn(name, width=116) for h, name in zip(heads, named, strict=True)},
        },
    )
