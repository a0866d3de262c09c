"""The case beside what is decided for it: the sentence, what spoke for it, how firm and how sure it is."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import Message
from bayes_engine.workbench.derivation.derive import Working
from pages import active
from pages.components import pixels
from pages.runtime.escape import md
from pages.runtime.state import finish
from pages.views.case import drawn_case, text_message
from pages.views.case.editor import Study, case_editor, case_listed, own_row
from pages.views.case.margins import how_firm
from pages.views.case.plausible import how_sure
from pages.views.case.verdict import contributions, pronounce


def decision(one: Study, exact: Working | Message) -> None:
    """The case and its working; or where there is none, the case to be changed and why, and the page ends here."""
    image = None if one.seed else pixels.picture(one.table)
    texts = active.text_columns(one.table)
    large = bool(image or texts)  # the case itself takes the wide column, and the sentence stands beside it
    main, side = st.columns([3, 2], gap="large")
    with side:
        if large and isinstance(exact, Working):
            pronounce(one, exact, narrow=True)
        if one.seed:
            case_listed(one)
        else:
            case_editor(one.table, one.values, drawn=image.names if image else texts)
            own_row(one)
    with main:
        if image:
            drawn_case.drawn_case(one, image, exact if isinstance(exact, Working) else None)
        elif texts:
            text_message.typed_case(one, exact if isinstance(exact, Working) else None)
        if isinstance(exact, Message):
            st.warning(exact.local(md))
            finish()
        if large:
            contributions(one, exact, drawn=True)
        else:
            pronounce(one, exact)
        how_firm(one, exact)
        if not large:
            contributions(one, exact)
    with side:
        how_sure(one, exact)  # last, for it takes longest
