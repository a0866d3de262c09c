from pages.shell.router import boot

boot()

from pathlib import Path

import streamlit as st

from bayes_engine.language import _
from pages.runtime import view_keys as keys
from pages.runtime.widgets import choose
from pages.shell.frame import places, title
from pages.views.chapter import exercises, lessons, own

CALLED = {Path(place.file).stem: place.title for place in places()}
PARTS = {
    "lessons": (_("Lessons"), lessons.section),
    "exercises": (_("Exercises"), exercises.section),
    "words": (_("Words"), lambda: lessons.terms(CALLED)),
    "errata": (_("Errata"), lessons.errata),
    "examples": (_("Examples of the sources"), lessons.examples),
    "own": (_("My lesson"), lambda: own.show(CALLED)),
}
title()
part = choose(_("Part"), keys.CHAPTER_PART, {name: words for name, (words, _show) in PARTS.items()}, titled=False)
with st.container(key="chapter_drawn"):
    PARTS[part][1]()
