"""What a model believes before any column, its class prior; and how many numbers all of it takes."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from bayes_engine.figures.conditionals import prior_bars
from bayes_engine.language import _
from bayes_engine.working.conditionals import model_size, prior_step
from pages.shared import data
from pages.shared.chart import chart
from pages.shared.escape import md, plotly_text
from pages.shared.state import dark


def prior(table: data.InUse, fitted: data.Fitted) -> None:
    """P(class), each with its fraction."""
    st.subheader(f"{_('Class prior')} P({md(table.column(table.target.name), 40)})")
    names = [plotly_text(table.class_(c), 30) for c in table.classes]
    figure = prior_bars(prior_step(fitted.model, table.classes), classes=names, dark=dark())
    chart(figure, key="prior", alt=_("P(class)"))


def how_many(table: data.InUse, fitted: data.Fitted) -> None:
    """What the independence assumption saves."""
    discrete, gaussian = model_size(fitted.model)
    st.subheader(_("How many numbers"))
    if discrete.factor_cells:
        lines = [
            ("", _("full joint table"), _("this model")),
            (":--", "--:", "--:"),
            (_("table cells"), f"${_big(discrete.joint_cells)}$", f"${_big(discrete.factor_cells)}$"),
            (_("free parameters"), f"${_big(discrete.joint_free)}$", f"${_big(discrete.factor_free)}$"),
        ]
        st.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))
        st.caption(
            _("Discrete columns, $K$ classes and $S_j$ levels: $K\\prod_j S_j$ cells against $K\\sum_j S_j$.")
            + " "
            + _("A cell holds a probability; free is what is left to choose when every distribution sums to 1.")
        )
    if gaussian:
        tied = bool(data.setting(fitted.spec, "tied_variance"))
        said = (
            _("Numeric columns: {n} parameters more, a mean for each class and one variance a column.")
            if tied
            else _("Numeric columns: {n} parameters more, a mean and a variance for each class and column.")
        )
        alone = (
            _("The class prior: {n} free.").format(n=len(table.classes) - 1) + " " if not discrete.factor_cells else ""
        )
        st.caption(alone + said.format(n=gaussian))


def _big(n: int) -> str:
    """A whole number to the unit, from a million million on as a power of ten; in LaTeX."""
    if n < 10**12:
        return f"{n:,}".replace(",", "{,}")
    mantissa, power = f"{Decimal(n):.3e}".split("e")
    return rf"{mantissa}\times10^{{{int(power)}}}"
