"""Why a chain is stuck: the islands of states that zeros leave, and the bridges that blocks build."""

from __future__ import annotations

import math

import streamlit as st

from bayes_engine.inference.gibbs import Island, Moves
from bayes_engine.language import _
from bayes_engine.numerals import number
from bayes_engine.workbench.derivation.walking import Archipelago
from pages.components.graph import Edge, Node, graph
from pages.runtime.escape import clean, md
from pages.views.network.gibbs_question import Question

APART = 2.4
"""Node units between the middles of two islands that are one state each; larger ones take more."""
LISTED = 4
"""So many islands are told one by one."""


def islands(asked: Question, found: Moves, sea: Archipelago | None, mended: Moves) -> None:
    """The reason in words, the states as islands, and what n_q / T tends to on each; `mended` are the moves of the
    improved form."""
    tied = [asked.network.position[name] for name in found.tied]
    st.subheader(_("Why one chain is stuck"))
    names = md(_(", ").join(asked.name(j) for j in tied), 200)
    reason = _(
        "**{a}** and **{b}** are both possible, but they cannot be reached from each other by changing one node at a "
        "time: every state on the way has probability 0."
    ).format(**{k: md(_said(asked, island), 160) for k, island in zip("ab", found.islands, strict=False)})
    if not mended.ergodic:
        onward = _("Draw the tied nodes together (below), and bridges join the islands.")
    elif sea is None:
        onward = _("The many chains draw such nodes together: with these blocks every state can be reached.")
    else:
        onward = _("The dashed bridges are draws of a block of nodes together: with them every state can be reached.")
    if sea is None:
        st.markdown(
            _(
                "Zeros in the tables part the possible states of {nodes} into **{n} islands**: no draw of a single "
                "node leads from one to another, so each chain stays on the island where it began."
            ).format(nodes=names, n=len(found.islands))
        )
        st.markdown(reason)
        st.caption(onward)
        return
    left, right = st.columns(2, gap="large")
    with right:
        st.markdown(reason)
        ends = list(zip(sea.weight.tolist(), sea.answer.tolist(), strict=True))
        line = (
            _("Island {n} holds {weight} of the posterior; from a start there $n_q/T$ tends to **{answer}**.")
            if sea.alone
            else _("Island {n} holds {weight} of the posterior; on it P(Q = q | e) is {answer}.")
        )
        lines = [
            line.format(n=i + 1, weight=md(f"{weight:.2%}"), answer=md(number(answer)))
            for i, (weight, answer) in enumerate(ends[:LISTED])
        ]
        if len(ends) > LISTED:
            lines.append(_("… and {n} islands more.").format(n=len(ends) - LISTED))
        total = float(sea.weight @ sea.answer)
        sums = " + ".join(f"{w:.4f} · {a:.4f}" for w, a in ends)
        lines.append(
            _("The exact answer is their mean: {sum} = **{p}**.").format(sum=md(sums, 400), p=md(number(total)))
        )
        st.markdown("\n".join(f"- {line}" for line in lines))
        st.caption(onward)
    with left:
        nodes = _placed(asked, sea)
        graph(
            nodes,
            [
                *(Edge(str(a), str(b), "", 0.35, False) for a, b in sea.single),
                *(Edge(str(a), str(b), "", 0.0, False, "married") for a, b in _bridges(sea)),
            ],
            key="net_g_islands",
            label=_("Possible states of {nodes}, joined where one draw leads between them").format(
                nodes=_(", ").join(asked.name(j) for j in tied)
            ),
        )
        st.caption(
            _("A state of {nodes}, in this order; below it P(state | e). A line: one draw of one node.").format(
                nodes=names
            )
        )


def _bridges(sea: Archipelago) -> list[tuple[int, int]]:
    """Those between islands."""
    return [(a, b) for a, b in sea.joined if sea.island[a] != sea.island[b]]


def _said(asked: Question, island: Island) -> str:
    """One state of an island, its nodes called as on screen; data, to be escaped."""
    network = asked.network
    levels = [(network.position[n], network[n].variable.levels.index(v)) for n, v in island.example.items()]
    return asked.said(tuple(levels))


def _placed(asked: Question, sea: Archipelago) -> list[Node]:
    """Every island a ring, the islands in a row."""
    position, found, left = asked.network.position, [], 0.0
    for i in range(len(sea.weight)):
        mine = [k for k in range(len(sea.states)) if sea.island[k] == i]
        radius = 0.0 if len(mine) == 1 else 0.55 if len(mine) == 2 else 0.5 / math.sin(math.pi / len(mine))
        left += radius
        for at, k in enumerate(mine):
            angle = 2 * math.pi * at / len(mine)
            levels = [asked.level(position[n], int(v)) for n, v in zip(sea.nodes, sea.states[k], strict=True)]
            found.append(
                Node(
                    str(k),
                    clean(" · ".join(levels), 60),
                    left - radius * math.cos(angle),
                    1.0 - radius * math.sin(angle),
                    _("island {n} · {p}").format(n=i + 1, p=number(float(sea.p[k]))),
                    tone="evidence" if i % 2 else "",
                )
            )
        left += radius + APART / 2
    return found
