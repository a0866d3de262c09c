"""A text of the case, typed and judged while it is typed: each of its words with what it says for one class against
another, the words that are absent, and the sum."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.numerals import count, number, signed
from bayes_engine.workbench.derivation.derive import Working
from bayes_engine.workbench.derivation.log_odds import log_odds_terms
from bayes_engine.workbench.derivation.render import fraction
from bayes_engine.workbench.derivation.texts import TermEvidence, TextRead, absent_terms, read_text, text_steps
from pages import active
from pages.active.text_terms import quoted, shown, times, visible
from pages.active.units import evidence, evidence_unit, signed_evidence
from pages.components import tables
from pages.components.component import component, ink, last_message, read_message
from pages.runtime.escape import clean, md
from pages.runtime.state import TYPED, State, change
from pages.views.case import verdict
from pages.views.case.editor import CaseInUse, with_cells

MOST = 20_000
"""So many characters can be typed."""
MARKED = 1500
"""So many words of a text are marked; what the others say is told in one sum."""
LISTED = 6
"""So many terms are told of one place."""
ABSENT = 12
"""So many absent words are listed."""
_component = component(__file__, "bayes_message", '<div class="message" data-testid="message"></div>', uses=("stage",))


def typed_case(one: CaseInUse, working: Working | None) -> None:
    """The texts of the case, to be typed on; `working` is None where there is none. Of more than two classes the two
    that are weighed are chosen here."""
    sides = (0, 1) if working is None else verdict.choose_sides(one, working)
    reads = {} if working is None else {r.column: r for r in reads_of(working, sides).values()}
    names = active.text_columns(one.table)
    for name in names:
        _one_text(one, name, reads.get(name), sides)
        if working is not None:
            last = name == names[-1]
            reading_in_words = _summary(reads.get(name), known=one.values.get(name) is not None)
            st.caption(reading_in_words + (" " + _odds(one, working, [*reads.values()], sides) if last else ""))
            if (read := reads.get(name)) is not None and read.absent is not None:
                _absent(one, working, read, sides)


def reads_of(working: Working, sides: tuple[int, int]) -> dict[int, TextRead]:
    """The texts of a working, word by word, by the places of their steps."""
    return {j: read_text(working.steps[j], *sides) for j in text_steps(working.steps)}


def _one_text(one: CaseInUse, name: str, read: TextRead | None, sides: tuple[int, int]) -> None:
    key = f"case_text_{one.table.features.position[name]}"

    def typed() -> None:
        edit = read_message(key, "typed", read_typed)
        if edit is not None:
            change(lambda state: with_text(state, one.table, name, edit[0]))

    _component(
        key=key,
        data=text_part(one, name, read, sides) | {"seen": last_message(key)},
        on_typed_change=typed,
    )


def with_text(state: State, table: active.FittableTable, name: str, text: str | None) -> State:
    """The state after a text was typed."""
    codes = active.case_codes(table, {**active.case_values(table), name: text})
    return with_cells(state, table, {name: codes[table.features.position[name]]})


def read_typed(edit: Mapping[str, Any]) -> tuple[str | None] | None:
    """(The text,) from what a browser sent, (None,) for one that is missing; None if it is anything else.

    >>> read_typed({"text": "hi"}), read_typed({"text": None}), read_typed({"text": 7}), read_typed({})
    (('hi',), (None,), None, None)
    """
    match edit.get("text", 0):
        case None:
            return (None,)
        case str(text) if len(text) <= 2 * MOST:
            return (text.encode("utf-8", "replace").decode(),)
    return None


def text_part(one: CaseInUse, name: str, read: TextRead | None, sides: tuple[int, int]) -> dict[str, Any]:
    """What the browser gets of a text, as JSON."""
    table, value = one.table, one.values.get(name)
    for_, against = (ink(clean(table.class_(table.classes[k]), 24), k) for k in sides)
    text = None if value is None else str(value)
    units = () if read is None else read.units
    reach = 1.0 if read is None else read.reach
    spoken = _("{column}, word by word: {name} against {other}; arrow keys move")
    return {
        "label": clean(table.column(name), 40),
        "text": text,
        "most": max(MOST, len(text or "")),
        "editable": not one.seed,
        "pieces": [] if read is None else _pieces(read),
        "beyond": _beyond(read),
        "terms": []
        if read is None
        else [_term(t, for_["label"], against["label"], complement=read.complement) for t in _shown_terms(read)],
        "words_apart": any(u.end - u.start > 1 for u in units),
        "listed": LISTED,
        "reach": reach,
        "low": signed(-reach),
        "high": signed(reach),
        "for": for_,
        "against": against,
        "spoken": spoken.format(column=clean(table.column(name), 40), name=for_["label"], other=against["label"]),
        "words": {
            "missing": _("Missing"),
            "missingHelp": _("A text that is not known: its factor is left out."),
            "gone": _("missing: it has no factor"),
            "empty": _("Type a text"),
            "unseen": _("not seen in training: no evidence"),
            "silent": _("Not seen in training: no evidence."),
            "again": _("It stood there before and counts once."),
            "more": _("and {n} more"),
            "hint": _("Point at a word to see its counts."),
        },
    }


def _pieces(read: TextRead) -> list[Any]:
    """The text cut into its words and what stands between them."""
    pieces: list[Any] = []
    end = 0
    for unit in read.units[:MARKED]:
        if unit.start > end:
            pieces.append(visible(read.text[end : unit.start]))
        nats = unit.nats if math.isfinite(unit.nats) else "inf" if unit.nats > 0 else "-inf"
        word = visible(read.text[unit.start : unit.end])
        pieces.append({"text": word, "nats": nats, "terms": list(unit.terms), "again": unit.again})
        end = unit.end
    if len(read.units) <= MARKED:
        pieces += [visible(read.text[end:])] if read.text[end:] else []
    return pieces


def _beyond(read: TextRead | None) -> str:
    rest = () if read is None else read.units[MARKED:]
    if not rest:
        return ""
    template = _(" … and {n} more words: {nats}")
    return template.format(n=f"{len(rest):,}", nats=signed_evidence(float(sum(u.nats for u in rest))))


def _shown_terms(read: TextRead) -> tuple[TermEvidence, ...]:
    """The terms that the marked words speak of: they come first."""
    last = max((t for u in read.units[:MARKED] for t in u.terms), default=-1)
    return read.terms[: last + 1]


def _term(term: TermEvidence, name: str, other: str, *, complement: bool) -> dict[str, Any]:
    """A term in words: what it adds, and the fraction behind it in either class."""
    nats = signed_evidence(term.nats, 3)
    if term.never:
        nats = _("never seen in {name}").format(name=(name, other)[term.never[0]])
    elif term.nats:
        nats += " · " + _("supports {name}").format(name=name if term.nats > 0 else other)
    of = _("P(w | not {label})") if complement else "P(w | {label})"
    lines = [
        f"{of.format(label=label)} = {fraction(source)} = {number(source.value)}"
        for label, source in zip((name, other), term.sources, strict=True)
    ]
    return {"term": quoted(shown(term.term)) + times(term), "nats": nats, "lines": lines}


def _summary(read: TextRead | None, *, known: bool) -> str:
    """How many words a text has, and what they come to."""
    if read is None:
        return _("The model left this column out.") if known else _("No text is known: the column has no factor.")
    if not read.units:
        none = _("A text without a word is no evidence: the prior and the other columns decide.")
        if read.absent is not None:
            none = _("A text without a word: every word the model knows is absent, and that is evidence, {nats}.")
        return none.format(nats=signed_evidence(read.absent or 0.0, 3))
    unseen, words = sum(not unit.known for unit in read.units), any(u.end - u.start > 1 for u in read.units)
    if unseen:
        counted = (_("{n} words, {unseen} of them not seen in training") if words
                   else _("{n} characters, {unseen} of them not seen in training"))  # fmt: skip
    else:
        counted = _("{n} words, all seen in training") if words else _("{n} characters, all seen in training")
    nats = signed_evidence(float(sum(t.nats for t in read.terms)), 3)
    come_to = _("together {nats}").format(nats=nats)
    if read.absent is not None:
        come_to = _("together {nats}, the absent words {absent}").format(
            nats=nats, absent=signed_evidence(read.absent, 3))  # fmt: skip
    counts = counted.format(n=f"{len(read.units):,}", unseen=f"{unseen:,}")
    return _("{counts}; {together}.").format(counts=counts, together=come_to)


def _odds(one: CaseInUse, working: Working, reads: Sequence[TextRead], sides: tuple[int, int]) -> str:
    """The sum: with the prior and the other columns the log-odds; and what goes into the address."""
    label, other = (md(one.table.class_(working.classes[k]), 24) for k in sides)
    balance = log_odds_terms(working.ledger, *(working.classes[k] for k in sides))
    total, rest = balance.total, float(sum(w.nats for w in balance.weights)) - sum(r.nats for r in reads)
    sentences = [_("Log-odds of {name} against {other}: {total}.").format(
        name=label, other=other, total="–" if total is None else signed_evidence(total, 3))]  # fmt: skip
    if total is not None and math.isfinite(total):
        others = {s.row.child for s in working.steps if s.variable is not None} - {r.column for r in reads}
        part = _("With the prior and all else, {rest}: log-odds of {name} against {other} {total}.") if (
            others or len(working.steps) > len(reads) + 1) else (
            _("With the prior, {rest}: log-odds of {name} against {other} {total}."))  # fmt: skip
        if working.complement:
            part = _("With the prior and the calibration, {rest}: log-odds of {name} against {other} {total}.")
        sentences = [
            part.format(rest=signed_evidence(rest, 3), name=label, other=other, total=signed_evidence(total, 3))
        ]
    if one.table.dataset is None and not one.seed:
        sentences.append(_("What you type on a file of your own is not put into the address."))
    elif any(len(read.text) > TYPED for read in reads) and not one.seed:
        sentences.append(_("A typed text of more than {n} characters does not go into a link.").format(n=TYPED))
    return " ".join(sentences)


def _absent(one: CaseInUse, working: Working, read: TextRead, sides: tuple[int, int]) -> None:
    """The absent words that say most by not being there."""
    for_, against = (working.classes[k] for k in sides)
    names = [clean(one.table.class_(c), 24) for c in (for_, against)]
    label = _("Contribution of the absent words: {nats}").format(nats=signed_evidence(read.absent or 0.0, 3))
    with st.expander(label, icon=":material/visibility_off:"):
        listed = absent_terms(one.model, read, for_, against, ABSENT)
        rows = [
            {"term": shown(t.term), "nats": evidence(t.nats), **{f"c{k}": f"{count(s.count)}/{count(s.total)}"
             for k, s in enumerate(t.sources)}} for t in listed
        ]  # fmt: skip
        st.dataframe(
            pd.DataFrame(rows), key=f"absent_{one.table.features.position[read.column]}", hide_index=True,
            height=tables.table_height(len(rows), 460), alt=_("absent words"), column_config={
                "term": st.column_config.TextColumn(_("absent word")),
                "nats": st.column_config.NumberColumn(evidence_unit(), format="%+.4f"),
                **{f"c{k}": st.column_config.TextColumn(_("texts with it, {name}").format(name=name))
                   for k, name in enumerate(names)},
            })  # fmt: skip
        absent = len(one.model.schema_[read.column].levels) - len(read.terms)
        st.caption(_("The {n} most informative of {all}. The absence of a word that is common in a class is "
                     "evidence against that class.").format(n=len(rows), all=f"{absent:,}"))  # fmt: skip
