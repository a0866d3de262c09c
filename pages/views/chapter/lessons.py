"""The lessons of a section, one below the other; the words of the field, the slips of the sources, their examples."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from bayes_engine.dataset_format import Erratum
from bayes_engine.datasets import dataset_info, dataset_names
from bayes_engine.language import _, current_language
from bayes_engine.workbench.lessons.built_in import contents, lessons, of_section
from pages.active import lesson_in_use
from pages.components.lesson_words import formula, lesson_markdown
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import goes_to
from pages.runtime.widgets import choose

_STYLE = private.style("""
[class*="st-key-lesson_card_"] .katex-display { overflow-x: auto; overflow-y: hidden; }
""")


def section() -> None:
    """The choice of a section, and its lessons."""
    st.html(_STYLE)
    language = current_language()
    named = {one.name: md(one.text("title", language), 60) for one in contents().sections}
    chosen = choose(_("Section"), keys.CHAPTER_SECTION, named, titled=False)
    names = of_section(chosen)
    st.caption(
        _(
            "{n} steps. While a lesson runs, ← and → go to the step before and the next one, q goes to the answer. "
            "«Predict first» hides the answer until you have committed to one. p presents one figure and one sentence, "
            "large, and Escape ends that."
        ).format(n=len(names))
    )
    for i, name in enumerate(names, 1):
        _card(i, name)


def _card(i: int, name: str) -> None:
    lesson, language = lessons()[name], current_language()
    with st.container(border=True, key=f"lesson_card_{name}"):
        words, way = st.columns([5, 1], gap="medium")
        with words:
            st.markdown(f"**{i} · {md(lesson.text('title', language), 80)}**")
            st.markdown(lesson_markdown(lesson.text("words", language), 1000))
            formula(lesson)
            st.markdown(f"**{_('Try')}**{_(': ')}{lesson_markdown(lesson.text('task', language), 400)}")
            st.markdown(f"**{_('Question')}**{_(': ')}{lesson_markdown(lesson.text('question', language), 300)}")
        with way:
            _opens(name, _("Open"), f"lesson_{name}")


def _opens(name: str, label: str, key: str) -> None:
    st.button(
        label,
        key=key,
        icon=":material/play_circle:",
        width="stretch",
        **goes_to(lessons()[name].page, lambda s: lesson_in_use.begun(name, s)),
    )


def terms(pages: Mapping[str, str]) -> None:
    """The words of the field in both languages, each with where it is alive; `pages` says what each page is called."""
    st.caption(_("Each word of the field in both languages, with the lesson or the page on which it stands."))
    with st.container(key="chapter_terms", gap="xsmall"):
        for i, term in enumerate(contents().terms):
            en, zh, way = st.columns([3, 3, 3], vertical_alignment="center", wrap=False, gap="small")
            en.markdown(md(term.en, 80))
            zh.markdown(md(term.zh, 80))
            with way:
                if term.lesson:
                    _opens(term.lesson, md(lessons()[term.lesson].text("title", current_language()), 60), f"term_{i}")
                else:
                    st.button(
                        pages[term.page],
                        key=f"term_{i}",
                        icon=":material/trending_flat:",
                        width="stretch",
                        **goes_to(term.page, lambda s, term=term: lesson_in_use.opened_by(term.state, s)),
                    )


def errata() -> None:
    """The slips of the lecture notes: first those on a table's numbers, which stand beside them in the working too."""
    st.caption(
        _("What the sources print, and what is right. Those of a table's numbers stand beside them in the working too.")
    )
    for name in dataset_names():
        for i, erratum in enumerate(dataset_info(name).errata):
            _of_table(name, i, erratum)
    language = current_language()
    for i, one in enumerate(contents().corrections):
        text, way = st.columns([4, 1], vertical_alignment="center", gap="small")
        where, printed, right = (
            lesson_markdown(one.text(name, language), 400) for name in ("where", "printed", "right")
        )
        text.markdown(f"**{where}** · {_('printed')}{_(': ')}{printed} → {right}")
        with way:
            _opens(one.lesson, _("Show it"), f"correction_{i}")


def _of_table(name: str, i: int, erratum: Erratum) -> None:
    info, language = dataset_info(name), current_language()
    where, note = (info.named(words, language) for words in (erratum.where, erratum.text("note", language)))
    text, way = st.columns([4, 1], vertical_alignment="center", gap="small")
    text.markdown(
        f"**{md(info.text('title', language), 60)}: {md(where, 120)}** · {_('printed')}{_(': ')}"
        f"{md(erratum.printed, 120)} → {md(erratum.right, 120)}. {md(note, 400)}"
    )
    way.button(
        _("Show it"),
        key=f"erratum_{name}_{i}",
        icon=":material/play_circle:",
        width="stretch",
        **goes_to("case", lambda s: lesson_in_use.opened_by({"table": name}, s)),
    )


def examples() -> None:
    """The worked examples of the sources, each one click away."""
    language = current_language()
    for i, one in enumerate(contents().examples):
        st.button(
            md(one.text("title", language), 160),
            key=f"example_{i}",
            icon=":material/calculate:",
            **goes_to(one.page, lambda s, one=one: lesson_in_use.opened_by(one.state, s)),
        )
