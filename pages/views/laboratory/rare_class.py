"""Complement against multinomial naive Bayes as one class becomes rare (Rennie et al. 2003): one slider moves both."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from bayes_engine.datasets import dataset_info
from bayes_engine.language import Message, _, current_language
from bayes_engine.numerals import number
from bayes_engine.workbench.figures.rare_class import rare_class_lines
from bayes_engine.workbench.laboratory.rare_class import RareClass, rare_class
from pages.active import predicting
from pages.components.chart import chart
from pages.components.held_back import held_back
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.job_queue import in_worker
from pages.runtime.state import current, dark
from pages.runtime.widgets import bound_to, within_limits

MOST = 10
"""So many classes have a line in the table."""


@cached(max_entries=16, activity=Message("training on fewer and fewer documents"))
def _study(table: str, seed: int, alpha: float, fit_prior: bool) -> RareClass:
    return in_worker(rare_class, table, seed, alpha=alpha, fit_prior=fit_prior)


def show() -> None:
    if not predicting.shows("laboratory/rare"):
        held_back()
        return
    state, named = current(), (_("multinomial"), _("complement"))
    of, alpha = state.seen(keys.LAB_RARE_OF), state.seen(keys.LAB_RARE_ALPHA)
    study = _study(of, state.seen(keys.LAB_RARE_SEED), alpha, state.seen(keys.LAB_RARE_PRIOR))
    place = study.place(state.seen(keys.LAB_RARE_N))
    _picture(study, place, named)
    columns = st.columns([3, 4, 2, 2], vertical_alignment="bottom")
    columns[0].selectbox(
        _("Documents"),
        keys.LAB_RARE_OF.options,
        format_func=lambda name: clean(dataset_info(name).text("title", current_language()), 40),
        **bound_to(keys.LAB_RARE_OF, also=(keys.LAB_RARE_N.to(11),)),
    )
    columns[1].select_slider(
        _("Training documents of the rare class"), study.sizes, **bound_to(keys.LAB_RARE_N, study.sizes[place])
    )
    columns[2].number_input("α", step=0.5, format="%g", **within_limits(keys.LAB_RARE_ALPHA))
    columns[3].number_input(_("Seed"), step=1, **within_limits(keys.LAB_RARE_SEED))
    st.toggle(
        _("Multinomial with its class prior"),
        help=_("As scikit-learn has it. Without, P(c) is uniform, and what is left is the difference of the weights; "
               "complement naive Bayes has no prior."),
        **bound_to(keys.LAB_RARE_PRIOR),
    )  # fmt: skip
    _classes(study, place, named)
    st.caption(_why(study, place, alpha))


def _picture(study: RareClass, place: int, named: tuple[str, str]) -> None:
    name = clean(str(study.classes[study.rare]), 24)
    recall, accuracy = study.recall[:, :, place].mean(axis=1), study.accuracy[:, :, place].mean(axis=1)
    st.container(key="lab_sentence").markdown(
        _("With **{n}** training documents of **{name}**: recall {a} by the multinomial and {b} by the complement; "
          "accuracy {c} and {d}.").format(
              n=study.sizes[place], name=md(name), a=f"**{recall[0]:.3f}**", b=f"**{recall[1]:.3f}**",
              c=f"{accuracy[0]:.3f}", d=f"{accuracy[1]:.3f}")
    )  # fmt: skip
    figure = rare_class_lines(
        study,
        place,
        [plotly_text(one) for one in named],
        [
            plotly_text(_("recall")),
            plotly_text(_("accuracy")),
            plotly_text(_("‖w‖ / mean ‖w‖")),
        ],
        plotly_text(_("documents of {name}").format(name=name)),
        dark=dark(),
    )
    chart(
        figure, key="lab_rare", alt=_("Recall, accuracy and size of the weights over the documents of the rare class")
    )


def _classes(study: RareClass, place: int, named: tuple[str, str]) -> None:
    """Documents and weights of each class."""
    first = [study.rare, *(c for c in range(len(study.classes)) if c != study.rare)][:MOST]
    trained = [study.sizes[place] if c == study.rare else study.documents[c] for c in first]
    st.dataframe(
        pd.DataFrame(
            {
                _("class"): [clean(str(study.classes[c]), 40) for c in first],
                _("documents, training"): trained,
                _("held out"): [study.held_out[c] for c in first],
                **{
                    _("‖w‖, {model}").format(model=model): [number(study.norm[m, c, place]) for c in first]
                    for m, model in enumerate(named)
                },
            }
        ),
        hide_index=True,
        height="content",
        alt=_("documents and weights of each class"),
    )


def _why(study: RareClass, place: int, alpha: float) -> str:
    text = _("Both with α = {alpha} on the same documents, means over {draws} draws by the seed. ‖w‖ sums |log θ| over "
             "the {v} terms. The multinomial estimates a rare class from few words: smoothing pulls its θ towards 1/V "
             "and its weights become smaller than with more documents, which biases the decision (Rennie et al. 2003). "
             "The complement estimates each class from all others, so the weights of the rare one rest on many "
             "documents. On the right, ‖w‖ of the rare class over the mean of all.").format(
                 alpha=f"{alpha:g}", draws=study.recall.shape[1], v=f"{study.terms:,}")  # fmt: skip
    if len(study.classes) == 2:
        return text + " " + _("Of two classes the complement of one is the other: the weights change places, and both "
                              "decide alike but for the class prior. Switch it off and the lines meet; take the digits "
                              "for a difference between many classes.")  # fmt: skip
    recall = study.recall[:, :, place].mean(axis=1)
    if recall[0] > recall[1]:
        return text + " " + _("It is no remedy for everything: here the multinomial finds the rare class more often. A "
                              "weight by the complement says how unlike the other classes together a term is, and "
                              "these are unlike each other.")  # fmt: skip
    return text + " " + _("Here the complement finds the rare class as often as the multinomial, or more often.")
