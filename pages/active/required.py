"""What a page cannot do without: a table that models can be fitted to, and a model.

Where it is not there, the page says why and what to do, and ends."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.ledger import prior_shift
from pages import active
from pages.runtime.escape import md
from pages.runtime.state import end_page, on_click, page_link


def fittable(table: active.TableInUse) -> active.FittableTable:
    """The table, where models can be fitted to it; else the page says why not and ends here."""
    if isinstance(table, active.UnfittableTable):
        unfittable(table)
        end_page()
    return table


def unfittable(table: active.UnfittableTable) -> None:
    """Why nothing can be fitted to this table, and where to mend it."""
    why_unfittable(table)
    page_link("pages/data.py", _("Repair it on the page Data"), ":material/table:")


def columns_refused(error: BayesEngineError) -> None:
    """Why these columns will not do, and where to change them."""
    st.error(error.message.local(md))
    change_columns()


def change_columns() -> None:
    """The way to the page on which columns are changed."""
    page_link("pages/data.py", _("Change the columns on the page Data"), ":material/table:")


def why_unfittable(table: active.UnfittableTable) -> None:
    st.error(_("No model can be fitted yet: {why}.").format(why=table.problem.message.local(md)))


def model(table: active.FittableTable, *, asked: bool = False) -> active.Fitted:
    """The active model, fitted to the table; where there can be none, or none that answers for the case that is `asked`
    (it may refuse missing cells), the page says so and ends here."""
    try:
        fitted = active.active_model(table)
    except BayesEngineError as error:
        st.error(error.message.local(md))
        page_link("pages/model.py", _("Change it on the page Model"), ":material/tune:")
        end_page()
    try:
        use = active.prior_of_use(table) or fitted.prior
        prior_shift([fitted.prior[c] for c in table.classes], [use[c] for c in table.classes])
    except BayesEngineError as error:
        st.error(error.message.local(md))
        st.button(_("Prior of use: as in the model"), **on_click(lambda s: replace(s, prior=())))
        end_page()
    try:
        if asked:
            active.explained(table, fitted)
    except BayesEngineError as error:
        st.error(error.message.local(md))
        page_link("pages/case.py", _("Change the case"), ":material/search:")
        page_link("pages/model.py", _("Change it on the page Model"), ":material/tune:")
        end_page()
    return fitted
