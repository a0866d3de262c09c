"""What the page Dependence speaks of: the dependences of the table, computed once; how numbers are cut, by MDLP, or
into quarters of the rows where that leaves no pair; and what is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from bayes_engine.language import Message, _
from bayes_engine.models.tan import TAN
from bayes_engine.workbench.derivation.dependence import Pair, all_tested, varying
from bayes_engine.workbench.derivation.tree_growth import Growth, grow
from pages import active
from pages.active.dependence_models import cut_method, spec_of, uncut
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import md
from pages.runtime.job_queue import in_worker
from pages.runtime.state import State, current
from pages.runtime.widgets import choose, sets

NAMED = 8
"""So many columns that are left out are named."""


@dataclass(frozen=True)
class Dependences:
    """The dependences of a table: the tree that was fitted to it, every pair, how the tree grew; `names` are the
    columns with two values or more, `silent` those with one, after any cutting."""

    fitted: active.Fitted
    model: TAN
    pairs: tuple[Pair, ...]
    growth: Growth
    names: tuple[str, ...]
    silent: tuple[str, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        """What stands for it in a key."""
        return self.fitted.key


def dependences_of(table: active.FittableTable) -> Dependences:
    """All that the page shows of the table, computed once."""
    return _study(active.fit(table, spec_of(table, "tan")))


@cached(max_entries=16, activity=Message("measuring the dependences"))
def _study(fitted: active.Fitted) -> Dependences:
    model = fitted.model
    assert isinstance(model, TAN)
    names = varying(model)
    silent = tuple(v.name for v in model.schema_ if v.name not in names)
    return Dependences(fitted, model, in_worker(all_tested, model), in_worker(grow, model), names, silent)


def column_name(table: active.FittableTable, name: str) -> str:
    return md(table.column(name), 40)


def edge_name(table: active.FittableTable, edge: Sequence[str]) -> str:
    return " – ".join(column_name(table, name) for name in edge)


# how numbers are cut --------------------------------------------------------------------------------------------------


def choose_cut_method(table: active.FittableTable) -> None:
    choose(
        _("Numbers"),
        keys.DEPENDENCE_CUT,
        {"mdlp": _("cut by MDLP"), "quantile": _("quarters")},
        otherwise=cut_method(table),
        also=(keys.PAIR_CELL.to(()),),
        about=_("A column of numbers is cut into intervals: where the classes change, or into quarters of its rows."),
    )


# what is looked at ----------------------------------------------------------------------------------------------------


def is_overall() -> bool:
    return current().seen(keys.DEPENDENCE_OF) == "overall" and not is_tree()


def is_tree() -> bool:
    return current().seen(keys.DEPENDENCE_VIEW) == "tree"


def chosen_pair(table: active.FittableTable, ordered: Sequence[Pair]) -> Pair:
    """The pair that is looked at: the one chosen, at first the strongest."""
    names = table.features.names
    edge = tuple(names[i] for i in current().seen(keys.PAIR) if i < len(names))
    return next((p for p in ordered if p.edge == edge), ordered[0])


def with_pair(table: active.FittableTable, edge: Sequence[str]) -> Callable[[State], State]:
    a, b = sorted(table.features.names.index(name) for name in edge)
    return lambda s: s.showing(keys.PAIR.to((a, b)), keys.PAIR_CELL.to(()))


def why_no_pair(table: active.FittableTable, tested: Dependences) -> None:
    """Why there is no pair, and what would make one."""
    if cut_method(table) == "mdlp" and (whole := uncut(table)):
        st.info(
            _(
                "There is no pair to look at: MDLP cuts numbers where the classes change, and finds no place in "
                "{columns} where that pays, so that all rows fall into one interval."
            ).format(columns=first_names(table, whole)),
            icon=":material/info:",
        )
        quarters = (keys.DEPENDENCE_CUT.to("quantile"), keys.PAIR_CELL.to(()))
        st.button(_("Cut into quarters"), key="into_quarters", type="primary", **sets(*quarters))
        return
    st.info(_("There is no pair to look at: two columns with two values or more are needed."), icon=":material/info:")
    columns_left_out(table, tested)


def first_names(table: active.FittableTable, names: Sequence[str]) -> str:
    """The first of these columns by name."""
    return _(", ").join(column_name(table, n) for n in names[:NAMED]) + (" …" if len(names) > NAMED else "")


def columns_left_out(table: active.FittableTable, tested: Dependences) -> None:
    if tested.silent:
        sentence = _("Left out, for all rows have one value: {columns}.")
        if any(table.features[n].numeric for n in tested.silent):
            sentence = _("Left out, for no cut point was found (MDLP) or all rows have one value: {columns}.")
            if cut_method(table) == "quantile":
                sentence = _("Left out, for all rows have one value, or fall into one interval: {columns}.")
        st.caption(sentence.format(columns=first_names(table, tested.silent)))
