"""Columns of counts that are one multinomial, on the page Model: how far one more count of each moves the odds, and the
share of each column in each class."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _
from bayes_engine.numerals import number
from bayes_engine.workbench.derivation.likelihoods import ShareTable
from bayes_engine.workbench.derivation.render import fraction
from bayes_engine.workbench.derivation.texts import discriminating_terms, weights_of_evidence
from bayes_engine.workbench.figures.discriminating_words import discriminating_words
from pages import active
from pages.active import units
from pages.components import tables
from pages.components.chart import chart
from pages.components.tables import Head
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import change, dark
from pages.views.model.column_choice import LIST

OF_TWO, OF_MORE, DRAWN = 12, 8, 12
"""So many columns are drawn for each of two classes, for each of more, and so many classes."""
SHARE = r"$\theta_{cj}=(N_{cj}+\alpha)/(N_c+\alpha d)$"
OTHERS = r"$w_{cj}=-\log\,(N_{\tilde cj}+\alpha)/(N_{\tilde c}+\alpha d)$"


def share_chart(table: active.FittableTable, shares: ShareTable) -> None:
    """How far one more count of a column moves the odds of each class, of those that do most."""
    if shares.complement:  # its weights are drawn as evidence of the class's own counts
        return
    classes = [plotly_text(table.class_(c), 24) for c in shares.classes][:DRAWN]
    chosen = discriminating_terms(shares, OF_TWO if len(shares.classes) == 2 else OF_MORE)[:DRAWN]
    asked = shares.terms.index(shares.variable.name)
    drawn = {v for of_class in chosen for v in of_class} | {asked}
    labels = {v: plotly_text(table.column(shares.terms[v]), 24) for v in drawn}
    hover = {v: _hover(table, shares, v) for v in drawn}
    figure = discriminating_words(
        weights_of_evidence(shares), chosen, labels, hover, classes, asked=asked, bits=units.in_bits(), dark=dark()
    )
    chart(figure, key="telling", alt=_("the columns of counts that tell the classes apart"))
    one = _("log θ of {name} / θ of {other}") if len(shares.classes) == 2 else _("log θ over the mean of the others")
    names = [md(table.class_(c), 24) for c in shares.classes]
    st.caption(
        _(
            "Each bar is what one more count of a column adds to the log-odds, {one}, in {unit}; a count of 0 adds "
            "nothing. Drawn are the columns that add most over the rows of their class, and the one looked at."
        ).format(one=one.format(name=names[0], other=names[-1]), unit=units.evidence_unit())
    )


def _hover(table: active.FittableTable, shares: ShareTable, v: int) -> str:
    lines = [f"<b>{plotly_text(table.column(shares.terms[v]), 40)}</b>"]
    for k, c in enumerate(shares.classes[:DRAWN]):
        source = shares.source(k, v)
        lines.append(
            f"θ({plotly_text(table.class_(c), 24)}) = {plotly_text(fraction(source), 60)} = {number(source.value)}"
        )
    return "<br>".join(lines)


def share_list(table: active.FittableTable, shares: ShareTable, chosen: tuple[int, int]) -> None:
    """The share of each column in each class with the fraction that it is; a cell can be chosen."""
    order = [shares.terms.index(term) for term in shares.discriminating(len(shares.terms))["term"]]
    row, k = chosen
    lines = [
        [clean(table.column(shares.terms[v]), 40), *(_cell(shares, j, v) for j in range(len(shares.classes)))]
        for v in order
    ]

    def look_at(index: int, column: int) -> None:
        change(lambda s: s.showing(keys.CELL.to((order[index], column - 1 if column else k))))

    heading = _("weight for {name}") if shares.complement else "θ({name})"
    tables.word_table(
        [
            Head(_("column")),
            *(Head(heading.format(name=clean(table.class_(c), 30)), right=True) for c in shares.classes),
        ],
        lines,
        key="shares",
        label=_("the share of each column in each class"),
        height=LIST,
        choice=tables.Choice(by="cell", chosen=(order.index(row), k + 1), on_choice=look_at),
    )
    if shares.complement:
        about = _("The weight of a column for a class is minus the logarithm of its share of all that is counted in "
                  "the rows of the other classes, {rule}; the column with the greater weight for a class speaks for "
                  "it.")  # fmt: skip
    else:
        about = _("Of all that is counted in the rows of the class, what share is of each column, {rule}; the shares "
                  "of a class sum to 1. A count of x adds x log θ, and neither a 0 nor the total of a row is "
                  "evidence.")  # fmt: skip
    st.caption(about.format(rule=OTHERS if shares.complement else SHARE))


def _cell(shares: ShareTable, k: int, v: int) -> str:
    source = shares.source(k, v)
    if shares.complement:
        log = "log₂" if units.in_bits() else "ln"
        return f"−{log} {fraction(source)} = {number(units.evidence(-float(shares.log_p[k, v])))}"
    return f"{fraction(source)} = {number(source.value)}"
