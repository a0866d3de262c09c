"""Multinomial, Bernoulli or categorical: one message under the three, and what the table at hand holds."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.numerals import number, signed
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.likelihood_choice import ASKED, MESSAGES, LikelihoodComparison, Share, compared
from pages import active
from pages.active import units
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.state import current
from pages.runtime.widgets import bound_to

LONGEST = 80
"""Characters of a message that is tried out."""


_compared = cached(max_entries=64)(compared)


def likelihood_choice(table: active.FittableTable) -> None:
    """The whole section, folded away until it is asked for."""
    title = _("Multinomial, Bernoulli or categorical: which is mine?")
    with st.expander(title, icon=":material/help:", **bound_to(keys.WHICH_OPEN)):
        st.markdown(
            "- "
            + _("**Multinomial**: a row is a bag of things drawn. Each one drawn is evidence, one drawn twice counts "
                "twice, what was not drawn is no evidence. For the words of a text, purchases, counts of one total.")
            + "\n- "
            + _("**Bernoulli**: a row is a list of yes and no. Occurring twice counts no more than once, and each no "
                "is evidence as well. For features that are present or absent; for short texts.")
            + "\n- "
            + _("**Categorical**: each column is a question with its own answers, which have no order. For colour, "
                "shape, yes/no; what lecture notes call “multinomial” is mostly this. Bernoulli is its case of two "
                "answers, and P(x|y), which they call a posterior, is the class-conditional.")
        )  # fmt: skip
        if not current().seen(keys.WHICH_OPEN):
            return
        taught, right = st.columns([2, 3], gap="medium")
        with taught:
            _taught()
        message = (current().seen(keys.WHICH_MESSAGE).strip() or ASKED)[:LONGEST]
        comparison = _compared(message)
        with right:
            _evidence(comparison)
        _why(comparison)
        _here(table)


def _taught() -> None:
    st.markdown(_("Five messages teach all three, with α = 1:"))
    st.dataframe(
        pd.DataFrame(MESSAGES, columns=[_("message"), _("class")]),
        hide_index=True,
        height="content",
        alt=_("the training messages"),
    )
    st.text_input(
        _("A message to judge"),
        placeholder=ASKED,
        max_chars=LONGEST,
        **bound_to(keys.WHICH_MESSAGE),
    )


def _names() -> tuple[str, str, str]:
    return _("multinomial"), "Bernoulli", _("categorical")


def _evidence(comparison: LikelihoodComparison) -> None:
    """What each word says under the three: log-odds, and what they come to."""
    first, second = (md(str(c)) for c in comparison.classes)
    asked = _("What each contributes for *{for_}* against *{against}*, in {unit}:")
    st.markdown(asked.format(for_=first, against=second, unit=units.evidence_unit()))
    rows: list[tuple[str, str, Sequence[float]]] = [(_("class prior"), "", comparison.prior)]
    rows += [(line.word, f"× {line.times}", line.nats) for line in comparison.lines]
    rows.append((_("the words not in it"), "", comparison.absent))
    sums = [
        comparison.prior[k] + sum(line.nats[k] for line in comparison.lines) + comparison.absent[k] for k in range(3)
    ]
    rows.append((_("sum"), "", sums))
    named = _names()
    shown = pd.DataFrame(
        [
            (clean(what, 24), times, *(signed(units.evidence(v)) if v else "0" for v in values))
            for what, times, values in rows
        ],
        columns=["what", "times", *named],
    )
    st.dataframe(
        shown,
        hide_index=True,
        height="content",
        alt=_("log-odds of each word under the three models"),
        column_config={
            "what": st.column_config.TextColumn(_("word"), width=112),
            "times": st.column_config.TextColumn(_("times"), width=44),
            **{name: st.column_config.TextColumn(name, width=78, alignment="right") for name in named},
        },
    )
    evidence = " · ".join(
        f"{name}: **{md(str(comparison.decided(k)))}** ({number(max(comparison.posterior[k]))})"
        for k, name in enumerate(named)
    )
    st.markdown(evidence)
    if comparison.unknown:
        unknown = _(", ").join(md(word, 20) for word in comparison.unknown)
        st.caption(_("In none of the five messages, so passed over: {words}.").format(words=unknown))


def _why(comparison: LikelihoodComparison) -> None:
    """The fractions behind the word on which the three differ most."""
    if not comparison.lines:
        return
    line = max(comparison.lines, key=lambda line: max(line.nats) - min(line.nats))
    first, second = (md(str(c)) for c in comparison.classes)
    word = md(line.word, 20)
    asked = (f"P({word} | {{c}})", f"P({word} | {{c}})", f"P({word} = {line.times} | {{c}})")
    for name, what, pair in zip(_names(), asked, line.shares, strict=True):
        st.caption(
            name
            + _(": ")
            + _(", ").join(f"{what.format(c=c)} = {_fraction(s)}" for c, s in zip((first, second), pair, strict=True))
        )
    st.caption(
        _("Numerator: how often the word was drawn; how many messages had it; how many had it just so often. "
          "Denominator: all words drawn, or all messages, and a pseudo-count of one for each kind.")
    )  # fmt: skip


def _fraction(share: Share) -> str:
    return f"({share.n:g} + 1)/({share.total:g} + {share.s}) = {number(share.p)}"


def _here(table: active.FittableTable) -> None:
    """The same question of the table in use."""

    def named(columns: list[Variable]) -> str:
        shown = [md(table.column(v.name), 30) for v in columns[:6]]
        return _(", ").join(shown) + (" …" if len(columns) > 6 else "")

    features = list(table.features)
    texts = [v for v in features if v.kind == "text"]
    counts = [v for v in features if v.kind == "count"]
    levels = [v for v in features if v.discrete]
    lines = [_("In this table:")]
    if texts:
        lines.append(_("{columns}: text, so multinomial over its words, or Bernoulli if they are few.").format(
            columns=named(texts)))  # fmt: skip
    if levels:
        lines.append(_("{columns}: answers to separate questions, so categorical (with two answers Bernoulli is the "
                      "same thing).").format(columns=named(levels)))  # fmt: skip
    if counts:
        lines.append(_("{columns}: counts of separate things, so each a Poisson, a Gaussian or intervals of its "
    "own; multinomial only if together they are one bag of words or items (Settings, Numbers).").format(
        columns=named(counts)))  # fmt: skip
    numbers = [v for v in features if v.kind == "continuous"]
    if numbers:
        lines.append(_("{columns}: measurements, so none of the three: a density or intervals.").format(
            columns=named(numbers)))  # fmt: skip
    st.markdown(" ".join(lines))
