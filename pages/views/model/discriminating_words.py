"""The words of a text column on the page Model: those that tell the classes apart, any other looked up, and what
smoothing makes of a rare one."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bayes_engine.errors import ParameterError
from bayes_engine.language import _
from bayes_engine.numerals import number
from bayes_engine.table.roles import put
from bayes_engine.workbench.derivation.likelihoods import WordTable
from bayes_engine.workbench.derivation.render import fraction
from bayes_engine.workbench.derivation.texts import LookedUp, discriminating_terms, look_up, weights_of_evidence
from bayes_engine.workbench.figures.discriminating_words import discriminating_words
from pages import active
from pages.active import units
from pages.active.text_terms import quoted, shown
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.escape import md, plotly_text
from pages.runtime.state import State, current, dark
from pages.runtime.widgets import control

OF_TWO = 12
"""So many words are drawn for each of two classes,"""
OF_MORE = 8
"""and for each of more."""
DRAWN = 12
"""So many classes are drawn."""
TYPED = 60
"""So many characters can be looked up."""


def word_chart(table: active.FittableTable, word_table: WordTable) -> None:
    """The words that tell most for each class, with the one looked up among them."""
    classes = [plotly_text(table.class_(c), 24) for c in word_table.classes][:DRAWN]
    chosen = discriminating_terms(word_table, OF_TWO if len(word_table.classes) == 2 else OF_MORE)[:DRAWN]
    asked = word_looked_up(table, word_table)
    place = -1 if asked is None else asked.place
    drawn = {v for of_class in chosen for v in of_class} | ({place} if place >= 0 else set())
    labels = {v: plotly_text(shown(word_table.terms[v]), 24) for v in drawn}
    hover = {v: _hover(table, word_table, v) for v in drawn}
    if drawn:
        made = discriminating_words(
            weights_of_evidence(word_table),
            chosen,
            labels,
            hover,
            classes,
            asked=place,
            bits=units.in_bits(),
            dark=dark(),
        )
        chart(made, key="telling", alt=_("the words that tell the classes apart"))
    one = _("log P(w | {other}) / P(w | {name})") if len(word_table.classes) == 2 else (
        _("log P(w | class) over the mean of the other classes"))  # fmt: skip
    names = [md(table.class_(c), 24) for c in word_table.classes]
    note = _("Each bar is the contribution of a word each time it occurs in a text, {one}, in {unit}. Drawn are those "
             "that add most over the texts of their class: frequent words that favour it.")  # fmt: skip
    one = one.format(name=names[0], other=names[-1])
    st.caption(note.format(one=one, unit=units.evidence_unit()) + " " + _rare(table, word_table))


def _hover(table: active.FittableTable, word_table: WordTable, v: int) -> str:
    lines = [f"<b>{quoted(plotly_text(shown(word_table.terms[v])))}</b>"]
    for k, c in enumerate(word_table.classes[:DRAWN]):
        source = word_table.source(k, v)
        lines.append(f"P(w | {plotly_text(table.class_(c), 24)}) = {fraction(source)} = {number(source.value)}")
    return "<br>".join(lines)


def _rare(table: active.FittableTable, word_table: WordTable) -> str:
    """How large the vocabulary is, and what a word that never stood in a class gets there."""
    once = int((word_table.counts.sum(axis=0) == 1).sum())
    fewest = word_table.counts.argmin(axis=1).tolist()  # of each class
    lines = [_("{n} terms in all, {once} of them only once in the whole table.").format(
        n=f"{len(word_table.terms):,}", once=f"{once:,}")]  # fmt: skip
    given = [
        (k, word_table.source(k, v))
        for k, v in enumerate(fewest)
        if not word_table.counts[k, v] and word_table.total[k]
    ][:3]
    if not given:
        return lines[0]
    if all(source.value > 0 for _k, source in given):
        names = (f"{fraction(s)} = {number(s.value)} ({md(table.class_(word_table.classes[k]), 24)})" for k, s in given)
        lines.append(_("A term that never occurred in a class gets {shares} there by smoothing.").format(
            shares=_(", ").join(names)))  # fmt: skip
    else:
        lines.append(_("Without smoothing a term that never occurred in a class gets 0 there, and one such word "
                       "in a text makes the class impossible, whatever the other words."))  # fmt: skip
    return " ".join(lines)


# a word looked up -------------------------------------------------------------------------------------------------


def word_search(table: active.FittableTable, word_table: WordTable) -> None:
    """A field for any word, and what the model has counted of it."""
    asked = word_looked_up(table, word_table)
    typed = current().seen(keys.LOOK) if asked is None or asked.place < 0 else asked.term

    def take(state: State, entered: str) -> State:
        return state.showing(keys.LOOK.to(_kept(table, word_table, entered[:TYPED])), keys.CELL.to(()))

    st.text_input(_("Look up a word"), max_chars=TYPED, placeholder=_("any word"), icon=":material/search:",
                  help=_("Read as the texts are read: of several words the longest run that is a term."),
                  **control("look_up", typed if isinstance(typed, str) else "", take))  # fmt: skip
    if asked is not None:
        st.markdown(_word_in_words(table, word_table, asked))
    elif isinstance(typed, str) and typed.strip():
        st.markdown(_("There is no word in what you typed."))


def _kept(table: active.FittableTable, word_table: WordTable, typed: str) -> str | tuple[int, int]:
    """What is looked up, as the state keeps it: on a file of one's own a word of it by its place in the vocabulary, for
    no cell of a file gets into a link."""
    if table.dataset is not None or not typed.strip():
        return typed
    try:
        place = look_up(word_table, _frame(table), typed).place
    except ParameterError:
        return typed
    return (place, len(word_table.terms)) if place >= 0 else typed


def word_looked_up(table: active.FittableTable, word_table: WordTable) -> LookedUp | None:
    """The word that the state asks for; None where there is none."""
    asked = current().seen(keys.LOOK)
    if word_table.complement:  # it has no field to look one up
        return None
    if isinstance(asked, tuple):
        place, terms = asked
        if terms != len(word_table.terms) or place >= terms:
            return None
        looked_up = look_up(word_table, _frame(table), word_table.terms[place])
        return LookedUp(word_table.terms[place], place, looked_up.texts, looked_up.of)
    if not asked.strip():
        return None
    try:
        return look_up(word_table, _frame(table), asked[:TYPED])
    except ParameterError:
        return None


def _frame(table: active.FittableTable) -> pd.DataFrame:
    """Features and class of the rows counted."""
    return put(table.parts.X, {table.target.name: table.parts.y})


def _word_in_words(table: active.FittableTable, word_table: WordTable, asked: LookedUp) -> str:
    """In how many texts of each class a word stands, and its probability there."""
    word = f"**{quoted(md(shown(asked.term)))}**"
    if asked.place < 0:
        return _("{word} occurs in no training text: it is not in the vocabulary, and in a message it "
                 "adds no evidence, whatever the smoothing.").format(word=word)  # fmt: skip
    lines = []
    for k, c in enumerate(word_table.classes):
        source = word_table.source(k, asked.place)
        lines.append(_("in {n} of the {of} {name} texts, P(w | {name}) = {share}").format(
            n=asked.texts[k], of=asked.of[k], name=md(table.class_(c), 24),
            share=f"{md(fraction(source), 60)} = {number(source.value)}"))  # fmt: skip
    weight = weights_of_evidence(word_table)[:, asked.place]
    k = int(weight.argmax())
    strength = _("each occurrence supports {name} with {weight}").format(
        name=md(table.class_(word_table.classes[k]), 24),
        weight=units.signed_evidence(float(weight[k]), 3))  # fmt: skip
    even = _("it supports no class")
    return f"{word}: " + "; ".join(lines[:DRAWN]) + "; " + (strength if weight[k] > 0 else even) + "."
