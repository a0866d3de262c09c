"""What is decided for a case beside the case itself; and beneath the working how firm and how sure that is."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import Message, _
from bayes_engine.workbench.derivation.derive import Working
from pages import active
from pages.components import pixels
from pages.components.held_back import held_back
from pages.runtime.escape import md
from pages.runtime.state import end_page
from pages.views.case import pixel_case, text_message
from pages.views.case.editor import CaseInUse, case_editor, case_listed, own_row
from pages.views.case.flip_margins import flip_margins
from pages.views.case.posterior_band import posterior_band
from pages.views.case.verdict import contributions, decision_and_risks


def decision(one: CaseInUse, exact: Working | Message | None) -> None:
    """The sentence and what spoke for it, beside the case; the case alone while that is to be predicted (None); or
    where there is no working, the case to be changed and why, and the page ends here."""
    image = None if one.seed else pixels.picture(one.table)
    texts = active.text_columns(one.table)
    large = bool(image or texts)  # the case itself takes the wide column, and the sentence stands beside it
    main, side = st.columns([3, 2], gap="large")
    with side:
        if large and isinstance(exact, Working):
            decision_and_risks(one, exact, narrow=True)
        if one.seed:
            case_listed(one)
        else:
            with st.container(key="case_editor"):
                case_editor(one.table, one.values, drawn=image.names if image else texts)
            if exact is not None:
                own_row(one)
    with main:
        if image:
            pixel_case.pixel_case(one, image, exact if isinstance(exact, Working) else None)
        elif texts:
            text_message.typed_case(one, exact if isinstance(exact, Working) else None)
        if isinstance(exact, Message):
            st.warning(exact.local(md))
            end_page()
        if exact is None:
            held_back(one.table)
            return
        if not large:
            decision_and_risks(one, exact)
        contributions(one, exact, drawn=large)


def firmness(one: CaseInUse, exact: Working) -> None:
    """How far the decision is from another one, and how sure the posterior is."""
    if exact.position < 0:
        return
    st.header(_("How firm is this decision?"))
    margins, band = st.columns(2, gap="medium")
    with margins:
        flip_margins(one, exact)
    with band:
        posterior_band(one, exact)  # last, for it takes longest
