"""A missing cell filled by its distribution, beside the column's mean."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _
from bayes_engine.numerals import number
from bayes_engine.workbench.figures.mixture import filled, only
from pages import active
from pages.active import em_fits as fits
from pages.active.em_fits import FilledCell
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.escape import md, plotly_text
from pages.runtime.state import current, dark
from pages.runtime.widgets import bound_to, control
from pages.views.hidden import controls


def show(table: active.FittableTable) -> None:
    names = fits.numeric_features(table)
    first = fits.first_missing_cell(table)
    row = current().seen_among(keys.EM_ROW, range(len(table.parts.X)), first[0])
    column = current().seen_among(keys.EM_COLUMN, range(len(names)), first[1])
    drawn = st.container()
    columns = st.columns([2, 3, 2, 3], vertical_alignment="bottom")
    columns[0].number_input(
        _("Row"),
        1,
        len(table.parts.X),
        step=1,
        **control(keys.EM_ROW.widget, row + 1, lambda s, n: s.showing(keys.EM_ROW.to(n - 1))),
    )
    columns[1].selectbox(
        _("Cell taken as missing"),
        range(len(names)),
        format_func=lambda j: table.column(names[j]),
        **bound_to(keys.EM_COLUMN, column),
    )
    controls.choose_components(table, columns[2])
    controls.choose_form(table, columns[3])
    run = fits.run_in_use(table)
    cell = fits.fill_cell(table, row, column, run.k, run.form)
    with drawn:
        _draw(table, cell, row, column)


def _draw(table: active.FittableTable, cell: FilledCell, row: int, column: int) -> None:
    names = fits.numeric_features(table)
    distribution = only(cell.distribution, names[column])
    mean, sd = float(distribution.mean[0]), float(distribution.sd[0])
    marks = [(_("EM fills in {v}").format(v=number(mean)), mean, "solid")]
    marks.append((_("column mean {v}").format(v=number(cell.mean)), cell.mean, "dot"))
    if cell.true is not None:
        marks.append((_("in the table {v}").format(v=number(cell.true)), cell.true, "dash"))
    shown = [(plotly_text(words), value, dash) for words, value, dash in marks]
    name = table.column(names[column])
    figure, words = st.columns([5, 2], gap="large")
    with figure:
        st.markdown(
            "**" + _("{column} of row {n}, given its other cells").format(column=md(name, 40), n=row + 1) + "**"
        )
        chart(
            filled(
                distribution,
                fits.numbers_of(table, [column])[:, 0],
                shown,
                controls.component_names(len(distribution.weights)),
                dark=dark(),
            ),
            key="em_filled",
            alt=_("Density of the missing cell given the others, EM's value beside the column mean"),
        )
    with words:
        st.metric(_("By EM: mean ± sd"), f"{number(mean)} ± {number(sd)}")
        st.metric(_("By the column: mean ± sd"), f"{number(cell.mean)} ± {number(cell.sd)}")
        if cell.true is not None:
            st.metric(_("In the table"), number(cell.true))
            st.caption(
                _("EM is off by {em}, the column mean by {mean}.").format(
                    em=number(abs(mean - cell.true)), mean=number(abs(cell.mean - cell.true))
                )
            )
    others = [
        f"{md(table.column(n), 30)} = " + ("–" if v != v else number(float(v)))
        for n, v in zip(names, fits.numbers_of(table, range(len(names)))[row], strict=True)
        if n != names[column]
    ]
    st.caption(
        _("Given: {cells}.").format(cells=_(", ").join(others[:8]) + (" …" if len(others) > 8 else ""))
        + " "
        + _("The mixture is fitted to all {d} numeric columns with this cell missing; Σ sums the components by "
            "responsibility. The mean alone would hide how unsure it is.").format(d=len(names))
    )  # fmt: skip
    for note in cell.notes:
        st.caption(":material/info: " + controls.whole_message(note))
