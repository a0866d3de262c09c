"""Four stories in which errors cost differently: each opens its table with its losses, unit and prior of use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from bayes_engine.dataset_format import DatasetInfo
from bayes_engine.datasets import dataset_info, dataset_names, load_dataset
from bayes_engine.language import _, current_language
from bayes_engine.table.schema import Variable
from pages import active
from pages.active.case_and_losses import losses_of_story
from pages.active.own_table import come_back, instead, own
from pages.components.losses import shares_of
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.state import State, current, on_click
from pages.runtime.widgets import control

STORIES = {"hospital": "breast-cancer", "loan": "german-credit", "spam": "spam-words", "watermelon": "watermelon3a"}
"""The data set of each story."""
CASES = {"hospital": 39, "loan": 5, "spam": 13}
"""The row whose decision shows the story best, where it is not the case that the table opens with."""


def stories(table: active.TableInUse) -> None:
    """The choice of a story, and what the one in use tells: in one place, or what stands below it would be drawn anew
    with the first edit of a loss, and lose the field that has the focus."""
    with st.container(gap="small"):
        _stories(table)


def _stories(table: active.TableInUse) -> None:
    known = dataset_names()
    offered = [name for name, dataset in STORIES.items() if dataset in known]
    story = next((name for name in offered if table.dataset and table.dataset.name == STORIES[name]), None)
    names = {
        "hospital": _("Hospital"),
        "loan": _("Loan"),
        "spam": _("Spam"),
        "watermelon": _("Watermelon"),
    }
    here = story if story and _in_use(table) else None
    asked = current().seen(keys.STORY) if own(current()) else ""
    st.pills(
        _("Stories"),
        offered,
        format_func=names.__getitem__,
        label_visibility="collapsed",
        **control("story", asked or here, _picked),
    )
    if asked:
        _ask(asked, names[asked])
    come_back("story_back")
    if here:
        info = dataset_info(STORIES[here])
        prior = info.prior_of_use
        texts = [info.loss.text("story", current_language())]
        texts += [prior.text("note", current_language())] if prior else []
        st.caption(md(" ".join(texts), 900))


def _picked(state: State, name: str | None) -> State:
    """The story; over a person's own table it is asked for first."""
    if name and own(state) and state.table != STORIES[name]:
        return state.showing(keys.STORY.to(name))
    return with_story(state, name) if name else state


def _ask(name: str, word: str) -> None:
    """Whether the story's table may take the place of one's own."""
    with st.container(border=True):
        st.markdown(
            _("The story **{story}** has a table of its own, {table}, which would take the place of yours.").format(
                story=word, table=md(dataset_info(STORIES[name]).text("title", current_language()))
            )
        )
        with st.container(horizontal=True, gap="small"):
            st.button(
                _("Open the story"), icon=":material/open_in_new:", key="story_open",
                **on_click(lambda s: instead(s, with_story(s.showing(keys.STORY.to("")), name))),
            )  # fmt: skip
            st.button(_("Keep my table"), key="story_keep", **on_click(lambda s: s.showing(keys.STORY.to(""))))


def with_story(state: State, story: str) -> State:
    """The data set of a story with its losses, where it names one its prior of use, and a case worth judging."""
    name = STORIES[story]
    fresh = state if state.table == name else state.on_table(name)
    if story in CASES:
        dataset = load_dataset(name)
        cells = dataset.frame.iloc[CASES[story]]
        case = tuple(_code(v, cells[v.name]) for v in dataset.schema.features)
        fresh = replace(fresh, row=CASES[story], case=case, amount=-1.0)
    return replace(fresh, **_story_losses(dataset_info(name)))


def _code(variable: Variable, value: Any) -> Any:
    """A cell as the state keeps it."""
    if pd.isna(value):
        return None
    return variable.levels.index(value) if variable.discrete else float(value)


def _story_losses(info: DatasetInfo) -> dict[str, Any]:
    """Losses, further action and prior as the state keeps them: classes in the table's order."""
    classes, prior = info.column(info.target).levels, info.prior_of_use
    losses, extra = losses_of_story(info, classes)
    shares = shares_of([prior.priors[str(c)] for c in classes]) if prior else ()
    return {"losses": losses, "extra": extra, "fixed": (), "prior": shares}


def _in_use(table: active.TableInUse) -> bool:
    info, state = table.info_of_target, current()
    return info is not None and all(getattr(state, name) == value for name, value in _story_losses(info).items())
