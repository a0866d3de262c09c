"""The strip on Start that leads into the sections of the chapter."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _, current_language
from bayes_engine.workbench.lessons.built_in import contents
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import goes_to


def chapter_strip() -> None:
    """A button for each section."""
    st.subheader(_("The chapter in lessons"))
    with st.container(horizontal=True, gap="small", key="start_chapter"):
        for section in contents().sections:
            to = (keys.CHAPTER_PART.to("lessons"), keys.CHAPTER_SECTION.to(section.name))
            st.button(
                md(section.text("title", current_language()), 60),
                key=f"start_section_{section.name}",
                **goes_to("chapter", lambda s, to=to: s.showing(*to)),
            )
