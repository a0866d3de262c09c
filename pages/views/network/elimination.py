"""Variable elimination, factor by factor: what is multiplied, what is summed out, what is left, and what an order
costs.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bayes_engine.errors import TooLarge
from bayes_engine.inference.elimination import EliminationTrace, TracedFactor, elimination_trace
from bayes_engine.language import Message, _
from bayes_engine.numerals import certain, number, number_of_log
from bayes_engine.structure.graph import Arc
from pages.active import network_source as sources
from pages.active.network_source import Source
from pages.components.graph import EdgeTone, NodeTone
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.state import current
from pages.runtime.widgets import bound_to, sets
from pages.views.network.beliefs import target_of
from pages.views.network.draw import Marks, beside_drawing, choose_node, draw

FOLLOWED = 100
"""So many nodes are summed out before the eyes of a person."""
ROWS = 32
"""A table of more rows is shown from its beginning."""
BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class Film(NamedTuple):
    """An elimination with what is needed to show it: the names of the factors before each step and at the end, and each
    factor by its name."""

    trace: EliminationTrace
    live: tuple[tuple[str, ...], ...]
    factors: Mapping[str, TracedFactor]


def elimination(source: Source) -> None:
    """The question and the order, the graph at a step, and the tables of that step."""
    evidence = sources.evidence(source)
    target = _asked(source, evidence)
    figure, side = beside_drawing(source, [3, 2])
    with side:
        order = _order(source, evidence, target)
        film = _film(source, tuple(evidence.items()), target, order)
        step = _player(len(film.trace.steps))
        _account(source, film, step, evidence)
    with figure:
        _drawing(source, film, step, evidence)
    _tables(source, film, step)


def _asked(source: Source, evidence: Mapping[str, Any]) -> str:
    """The node asked for: no node that is observed."""
    target = target_of(source)
    free = [n for n in source.network.names if n not in evidence]
    if target in evidence and free:
        target = free[0]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choose_node(_("Query node"), source, keys.NET_TARGET, target, among=free, width=260)
        findings = _(", ").join(source.finding(n, v) for n, v in evidence.items())
        st.markdown(
            _("given {findings}").format(findings=findings)
            if findings
            else _("given nothing; findings are set in the part *Findings*")
        )
    return target


# the order --------------------------------------------------------------------------------------------------------


def _order(source: Source, evidence: Mapping[str, Any], target: str) -> tuple[str, ...] | None:
    """The order in which variables are summed out; None: the smallest table first."""
    hidden = _hidden(source, evidence, target)
    orders: dict[str, tuple[str, tuple[str, ...] | None]] = {
        "smallest": (_("smallest table first"), None),
        "up": (_("children before parents"), tuple(reversed(hidden))),
        "down": (_("parents before children"), tuple(hidden)),
        "own": (_("my own order"), None),
    }
    chosen = current().seen(keys.NET_ORDER)
    st.selectbox(
        _("Order"),
        list(orders),
        format_func=lambda w: orders[w][0],
        **bound_to(keys.NET_ORDER, also=(keys.NET_STEP.to(0),)),
    )
    if chosen == "own":
        names = source.network.names
        wanted = [names[j] for j in current().seen(keys.NET_OWN_ORDER) if j < len(names)]
        first = [n for n in wanted if n in hidden]
        orders["own"] = (orders["own"][0], (*first, *(n for n in hidden if n not in first)))
        st.multiselect(
            _("Sum out first"),
            [source.place(n) for n in hidden],
            format_func=lambda j: clean(source.name(names[j]), 30),
            **bound_to(keys.NET_OWN_ORDER, tuple(source.place(n) for n in first), also=(keys.NET_STEP.to(0),)),
        )
    _costs(source, evidence, target, orders, chosen)
    return orders[chosen][1]


def _hidden(source: Source, evidence: Mapping[str, Any], target: str) -> list[str]:
    """The nodes that are summed out: others are not needed. Raises TooLarge where nobody could follow."""
    graph = source.network.graph
    above = graph.ancestors([target, *evidence])
    hidden = [n for n in graph.order if n in above and n != target and n not in evidence]
    if len(hidden) > FOLLOWED:
        raise TooLarge(
            "{n} nodes would have to be summed out one by one, too many to follow; ask about a node with at most "
            "{most} nodes above it and above the findings",
            n=len(hidden),
            most=FOLLOWED,
        )
    return hidden


def _costs(
    source: Source,
    evidence: Mapping[str, Any],
    target: str,
    orders: Mapping[str, tuple[str, tuple[str, ...] | None]],
    chosen: str,
) -> None:
    """What each order needs: its largest table, and all of them together."""
    rows = []
    for name, (words, order) in orders.items():
        if name == "own" and chosen != "own":
            continue
        try:
            steps = _film(source, tuple(evidence.items()), target, order).trace.steps
            cells = [step.cells for step in steps]
            largest, total = str(max(cells, default=0)), str(sum(cells))
        except TooLarge:
            largest = total = _("too large")
        rows.append([("● " if name == chosen else "") + words, largest, total])
    st.dataframe(
        pd.DataFrame(rows, columns=[_("order"), _("largest table"), _("cells in all")]),
        hide_index=True,
        key="net_costs",
    )


@cached(max_entries=64)
def _film(source: Source, evidence: tuple[tuple[str, Any], ...], target: str, order: tuple[str, ...] | None) -> Film:
    trace = elimination_trace(source.network, target, dict(evidence), order)
    live = [tuple(f.name for f in trace.factors)]
    for step in trace.steps:
        live.append((*(n for n in live[-1] if n not in step.factors), step.result.name))
    every = [*trace.factors, *(s.result for s in trace.steps)]
    return Film(trace, tuple(live), {f.name: f for f in every})


# the film ---------------------------------------------------------------------------------------------------------


def _player(steps: int) -> int:
    """The step that is shown: 0 the tables with the findings entered, then each sum, last the product of the rest."""
    last = steps + 1
    step = min(current().seen(keys.NET_STEP), last)

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            _("Back"),
            icon=":material/chevron_left:",
            key="net_step_back",
            disabled=step == 0,
            **sets(keys.NET_STEP.to(step - 1)),
        )
        st.button(
            _("Next"),
            icon=":material/chevron_right:",
            key="net_step_next",
            disabled=step == last,
            type="primary",
            **sets(keys.NET_STEP.to(step + 1)),
        )
        st.slider(_("Step"), 0, last, label_visibility="collapsed", **bound_to(keys.NET_STEP, step))
    return step


def _account(source: Source, film: Film, step: int, evidence: Mapping[str, Any]) -> None:
    trace = film.trace
    if step == 0:
        st.markdown(
            _("**The tables.** {n} factors; the findings are entered, so observed nodes are gone from them.").format(
                n=len(trace.factors)
            )
            if evidence
            else _("**The tables.** {n} factors, one for each node that matters.").format(n=len(trace.factors))
        )
        if trace.barren:
            st.caption(
                _(
                    "Left out at once: {nodes}. Nothing asked or observed is below them, so their tables sum to 1."
                ).format(nodes=_(", ").join(md(source.name(n), 24) for n in trace.barren))
            )
    elif step <= len(trace.steps):
        s = trace.steps[step - 1]
        st.markdown(
            Message(
                "**Sum out {variable}.** {k} factor(s) hold it: {factors}. Their product has {cells} cells; summed, it "
                "is {result}.",
                {
                    "variable": clean(source.name(s.variable), 30),
                    "k": len(s.factors),
                    "factors": _(", ").join(clean(_named(source, film, n), 80) for n in s.factors),
                    "cells": s.cells,
                    "result": clean(_named(source, film, s.result.name), 80),
                },
            ).local(md)
        )
    else:
        joint = [float(v) for v in trace.joint]
        levels = source.levels(trace.target)
        st.markdown(
            _("**Multiply what is left:** {factors}. The sum is $P(e)$ = {evidence}; divided by it:").format(
                factors=" · ".join(md(_named(source, film, n), 80) for n in trace.last),
                evidence=number_of_log(trace.log_evidence),
            )
        )
        rows = [
            [clean(level, 40), number(p), certain(float(q))]
            for level, p, q in zip(levels, joint, trace.posterior, strict=True)
        ]
        columns = [clean(source.name(trace.target), 40), "P(q, e)", "P(q | e)"]
        st.dataframe(pd.DataFrame(rows, columns=columns), hide_index=True, key="net_answer")


def _named(source: Source, film: Film, name: str) -> str:
    """A factor as it is spoken of on screen: P(dysp = yes | bronc) with the screen's names, or τ₁(…); plain text."""
    factor = film.factors[name]
    if name.startswith("τ"):
        scope = ", ".join(clean(source.name(n), 24) for n in factor.scope)
        return f"{name.partition('(')[0].translate(BELOW)}({scope})"
    position = [f.name for f in film.trace.factors].index(name)
    cpts = [c for c in source.network.cpts if c.name not in film.trace.barren]
    seen = sources.evidence(source)
    descriptions = [
        clean(source.name(n), 24) + (f" = {clean(source.level(n, seen[n]), 20)}" if n in seen else "")
        for n in cpts[position].scope
    ]
    return f"P({descriptions[-1]}" + (f" | {', '.join(descriptions[:-1])})" if descriptions[:-1] else ")")


def _drawing(source: Source, film: Film, step: int, evidence: Mapping[str, Any]) -> None:
    """The graph whose edges join variables that share a factor, as it is before the step; what the step adds is new."""
    trace, graph = film.trace, source.network.graph
    shown = film.live[min(max(step - 1, 0), len(film.live) - 1)]
    if step > len(trace.steps):
        shown = trace.last
    joined = {pair for name in shown for pair in _pairs(source, film.factors[name].scope)}
    gone = {s.variable for s in trace.steps[: max(step - 1, 0)]}
    tones: dict[str, NodeTone] = dict.fromkeys((*trace.barren, *gone), "faint")
    tones |= dict.fromkeys(evidence, "evidence")
    subs = dict.fromkeys(trace.barren, _("not needed")) | dict.fromkeys(gone, _("summed out"))
    tones[trace.target] = "class"
    arcs: dict[Arc, EdgeTone] = dict.fromkeys(joined, "")
    if 1 <= step <= len(trace.steps):
        s = trace.steps[step - 1]
        arcs |= {pair: "lit" for pair in joined if {*pair} <= {*s.scope}}
        new = {pair for pair in _pairs(source, s.result.scope) if pair not in joined}
        arcs |= dict.fromkeys(new, "married")
        joined |= new
        tones[s.variable] = "lit"
        subs[s.variable] = _("to be summed out")
    draw(
        source,
        marks=Marks(nodes=tones, subs=subs, arcs=arcs, extra=sorted(joined), hidden=graph.arcs),
        label=_("The variables that are left; an edge joins two that share a factor"),
    )
    st.caption(_("An edge joins two variables that share a factor. Dashed: the sum will join them."))


def _pairs(source: Source, scope: tuple[str, ...]) -> set[Arc]:
    ordered = sorted(scope, key=source.network.position.__getitem__)
    return set(itertools.combinations(ordered, 2))


def _tables(source: Source, film: Film, step: int) -> None:
    """The tables of the step: what is multiplied, and what comes of it."""
    trace = film.trace
    if step == 0:
        names, result = list(film.live[0]), None
    elif step <= len(trace.steps):
        names, result = list(trace.steps[step - 1].factors), trace.steps[step - 1].result
    else:
        names, result = list(trace.last), None
    with st.container(horizontal=True, gap="medium", vertical_alignment="top"):
        for k, name in enumerate(names):
            _one(source, film, film.factors[name], ("· " if k else ""), f"net_factor_{k}")
        if result is not None:
            _one(source, film, result, "→ ", "net_factor_sum")


def _one(source: Source, film: Film, factor: TracedFactor, before: str, key: str) -> None:
    with st.container(width="content"):
        st.caption(before + md(_named(source, film, factor.name), 80))
        values = factor.table.ravel().tolist()
        levels = [source.levels(n) for n in factor.scope]
        rows = [
            [*(clean(v, 30) for v in row), number(p)]
            for row, p in itertools.islice(zip(itertools.product(*levels), values, strict=True), ROWS)
        ]
        columns = [f"{j}" for j in range(len(levels))] + ["p"]
        config: dict[str, Any] = {
            f"{j}": st.column_config.TextColumn(clean(source.name(n), 30)) for j, n in enumerate(factor.scope)
        }
        config["p"] = st.column_config.TextColumn("φ")
        st.dataframe(
            pd.DataFrame(rows, columns=columns), column_config=config, hide_index=True, key=key, width="content"
        )
        if len(values) > ROWS:
            st.caption(_("… {n} rows in all").format(n=len(values)))
