"""Three models that fit the table, because …: taken by a click, or compared."""

from __future__ import annotations

from functools import partial

import streamlit as st

from bayes_engine.language import _
from bayes_engine.workbench.doctor.finding import Suggestion
from pages import active
from pages.active import shelf
from pages.runtime import view_keys as keys
from pages.runtime.listed_buttons import listed
from pages.runtime.state import Spec, change
from pages.views.data.attempts import edited_or_refused
from pages.views.data.doctor import edits, wording
from pages.views.data.doctor.report import Examined


def suggested_models(table: active.TableInUse, examination: Examined) -> None:
    """The models, each with its reason."""
    suggestions = examination.report.suggestions
    if not suggestions or isinstance(table, active.UnfittableTable) or examination.left:
        return
    st.subheader(_("These {n} models fit your table, because …").format(n=len(suggestions)))
    chosen = active.shelf_of(table)[shelf.active_place(table)]
    for place, (cell, suggestion) in enumerate(
        zip(st.columns(len(suggestions), gap="small"), suggestions, strict=True)
    ):
        with cell.container(border=True, height="stretch", vertical_alignment="distribute", key=f"fits_{place}"):
            _model_card(table, suggestion, place, taken=edits.spec_of(suggestion.model) == chosen)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        specs = tuple(edits.spec_of(s.model) for s in suggestions)
        if len(suggestions) > 1:
            st.button(
                _("Compare them"),
                key="compare_three",
                icon=":material/balance:",
                on_click=_compare_on_shelf,
                args=(specs,),
            )
        if any(s.error is not None for s in suggestions):
            st.caption(
                _("Errors leave out one row at a time; they flatter models whose cut points, tree or shrinkage were "
                  "chosen on all rows, and the best of several. Compare holds rows out of everything.")
            )  # fmt: skip


def _model_card(table: active.FittableTable, suggestion: Suggestion, place: int, *, taken: bool) -> None:
    """One model, why, and how often it errs."""
    spec = edits.spec_of(suggestion.model)
    reason = wording.sentence(table, suggestion.reason)
    st.markdown(f"**{wording.model(suggestion.model)}**\n\n" + _("… {reason}.").format(reason=reason))
    with st.container(gap="xsmall"):
        if suggestion.error is not None:
            rows = int(table.parts.y.notna().sum())
            st.caption(
                _("{share} of the rows decided wrongly ({n} of {all}), each left out").format(
                    share=f"{suggestion.error:.1%}", n=f"{round(suggestion.error * rows):,}", all=f"{rows:,}"
                )
            )
        st.button(
            _("In use") if taken else _("Take this model"),
            icon=":material/check:" if taken else ":material/add:",
            disabled=taken,
            **listed(
                f"take_{place}",
                spec,
                partial(edited_or_refused, edit=partial(edits.with_model, spec=spec), where="mend"),
            ),
        )


def _compare_on_shelf(specs: tuple[Spec, ...]) -> None:
    """All of them on the shelf, and over to the page that compares."""
    change(lambda state: edits.with_models(state, specs).showing(keys.MODEL_VIEW.to("compare")))
    st.session_state["page_wanted"] = "model"
