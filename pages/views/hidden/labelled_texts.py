"""What EM made of the words of a text, and whether rows without a label help as more and more labels are seen."""

from __future__ import annotations

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.em_runs import HiddenLabelRun
from bayes_engine.numerals import number
from bayes_engine.workbench.derivation.likelihoods import WordTable
from bayes_engine.workbench.derivation.texts import discriminating_terms, weights_of_evidence
from bayes_engine.workbench.figures.discriminating_words import discriminating_words
from bayes_engine.workbench.figures.labelled_curve import labelled_curve
from pages import active
from pages.active import em_fits as fits
from pages.active import units
from pages.active.em_fits import HiddenLabels
from pages.active.text_terms import shown
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.escape import md, plotly_text
from pages.runtime.state import current, dark
from pages.runtime.widgets import bound_to
from pages.views.hidden import controls

OF_EACH, DRAWN = 10, 12
"""So many words are drawn for each class, and so many classes."""


def words_of_classes(table: active.FittableTable, labels: HiddenLabels, study: HiddenLabelRun) -> None:
    """The words that tell most for each class, or each component, by the model that EM ended with."""
    classes = controls.classes(table)
    names = (classes if study.named else controls.component_names(len(study.levels)))[:DRAWN]
    for words in fits.words_of(table, labels):
        heading = _("**The words of {column} that tell most**, by expected counts").format(
            column=md(table.column(words.variable.name), 40))  # fmt: skip
        st.markdown(heading)
        chosen = discriminating_terms(words, OF_EACH)[:DRAWN]
        drawn = {v for of_class in chosen for v in of_class}
        if not drawn:
            st.caption(_("No word favours one class over another: this start has not moved."))
            continue
        figure = discriminating_words(
            weights_of_evidence(words),
            chosen,
            {v: plotly_text(shown(words.terms[v]), 24) for v in drawn},
            {v: _hover(words, v, names) for v in drawn},
            [plotly_text(name, 24) for name in names],
            bits=units.in_bits(),
            dark=dark(),
        )
        chart(figure, key="em_words", alt=_("the words that tell the classes apart, as EM ended"))
        st.caption(
            _("Each bar is what a word adds to the log-odds each time it occurs, in {unit}. The M step counts a word "
              "of an unlabelled text for every class, by its responsibility.").format(unit=units.evidence_unit())
            + (" " + _("Without a single label this is the mixture of unigrams: components are found by which words go "
                       "together, and need not be the classes.") if not study.named else "")
        )  # fmt: skip


def _hover(words: WordTable, v: int, names: list[str]) -> str:
    lines = [f"<b>{plotly_text(shown(words.terms[v]), 40)}</b>"]
    for k, name in enumerate(names):
        source = words.source(k, v)
        lines.append(f"P(w | {plotly_text(name, 24)}) = {number(source.value)}")
    return "<br>".join(lines)


def learning_curve(table: active.FittableTable, labels: HiddenLabels) -> None:
    """Accuracy on rows held out as more and more labels are seen; asked for, since it fits sixty models."""
    with st.expander(_("Do the unlabelled rows help? Accuracy as more labels are seen"), icon=":material/show_chart:",
                     **bound_to(keys.EM_CURVE)):  # fmt: skip
        if not current().seen(keys.EM_CURVE):
            return
        curve = fits.labelled_curve(table, labels)
        figure = labelled_curve(
            curve,
            plotly_text(_("labelled rows alone")),
            plotly_text(_("EM, with the unlabelled rows")),
            plotly_text(_("rows with a label, of {n}").format(n=f"{curve.rows:,}")),
            plotly_text(_("accuracy on rows held out")),
            dark=dark(),
        )
        chart(figure, key="em_labelled_curve", alt=_("Accuracy on rows held out against the number of labels seen"))
        st.caption(
            _(
                "Mean of {splits} divisions of the table by the seed, ± one standard error; {held} rows are held out "
                "each time and never seen, the vocabulary is that of the other rows. Weight of the unlabelled rows "
                "{w}: at 0, and where every row has its label, both are the supervised naive Bayes but for words that "
                "only unlabelled rows have. Where the second falls below the first, the words do not group as the "
                "classes do; a smaller weight helps (Nigam et al. 2000)."
            ).format(splits=len(curve.em), held=f"{curve.held_out:,}", w=f"{labels.weight:g}")
        )
