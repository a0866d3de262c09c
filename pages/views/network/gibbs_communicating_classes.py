"""Why a chain is stuck: the communicating classes that zeros leave, and the draws of blocks that join them."""

from __future__ import annotations

import math

import streamlit as st

from bayes_engine.inference.irreducibility import CommunicatingClass, Irreducibility
from bayes_engine.language import _
from bayes_engine.numerals import number
from bayes_engine.workbench.derivation.gibbs_walk import CommunicatingClasses
from pages.components.graph import Edge, Node, graph
from pages.runtime.escape import clean, md
from pages.views.network.gibbs_question import Question

APART = 2.4
"""Node units between the middles of two communicating classes of one state each; larger ones take more."""
LISTED = 4
"""So many communicating classes are told one by one."""


def communicating_classes(
    asked: Question, irreducibility: Irreducibility, classes: CommunicatingClasses | None, mended: Irreducibility
) -> None:
    """The reason in words, the states by communicating class, and what n_q / T tends to in each; `mended` is of the
    improved form."""
    tied = [asked.network.position[name] for name in irreducibility.tied]
    st.subheader(_("Why one chain is stuck"))
    names = md(_(", ").join(asked.name(j) for j in tied), 200)
    examples = [md(_class_in_words(asked, one), 160) for one in irreducibility.communicating_classes]
    reason = _(
        "**{a}** and **{b}** are both possible, but they cannot be reached from each other by changing one node at a "
        "time: every state on the way has probability 0."
    ).format(**dict(zip("ab", examples, strict=False)))
    if not mended.ergodic:
        onward = _("Draw the tied nodes together (below), and the classes communicate.")
    elif classes is None:
        onward = _("The many chains draw such nodes together: with these blocks every state can be reached.")
    else:
        onward = _("The dashed bridges are draws of a block of nodes together: with them every state can be reached.")
    if classes is None:
        st.markdown(
            _(
                "Zeros in the tables divide the possible states of {nodes} into **{n} communicating "
                "classes**: no draw of a single node leads from one to another, so each chain stays in "
                "the class where it began."
            ).format(nodes=names, n=len(irreducibility.communicating_classes))
        )
        st.markdown(reason)
        st.caption(onward)
        return
    left, right = st.columns(2, gap="large")
    with right:
        st.markdown(reason)
        ends = list(zip(classes.weight.tolist(), classes.answer.tolist(), strict=True))
        line = (
            _(
                "Communicating class {n} holds {weight} of the posterior; from a start there $n_q/T$ tends to "
                "**{answer}**."
            )
            if classes.alone
            else _("Communicating class {n} holds {weight} of the posterior; within it P(Q = q | e) is {answer}.")
        )
        lines = [
            line.format(n=i + 1, weight=md(f"{weight:.2%}"), answer=md(number(answer)))
            for i, (weight, answer) in enumerate(ends[:LISTED])
        ]
        if len(ends) > LISTED:
            lines.append(_("… and {n} classes more.").format(n=len(ends) - LISTED))
        total = float(classes.weight @ classes.answer)
        sums = " + ".join(f"{w:.4f} · {a:.4f}" for w, a in ends)
        lines.append(
            _("The exact answer is their mean: {sum} = **{p}**.").format(sum=md(sums, 400), p=md(number(total)))
        )
        st.markdown("\n".join(f"- {line}" for line in lines))
        st.caption(onward)
    with left:
        bridges = [(a, b) for a, b in classes.joined if classes.class_of[a] != classes.class_of[b]]
        graph(
            _placed(asked, classes),
            [
                *(Edge(str(a), str(b), "", 0.35, False) for a, b in classes.single),
                *(Edge(str(a), str(b), "", 0.0, False, "married") for a, b in bridges),
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


def _class_in_words(asked: Question, one: CommunicatingClass) -> str:
    """One state of a communicating class, its nodes called as on screen; data, to be escaped."""
    network = asked.network
    levels = [(network.position[n], network[n].variable.levels.index(v)) for n, v in one.example.items()]
    return asked.in_words(tuple(levels))


def _placed(asked: Question, classes: CommunicatingClasses) -> list[Node]:
    """Every communicating class a ring, the rings in a row."""
    position, nodes, left = asked.network.position, [], 0.0
    for i in range(len(classes.weight)):
        mine = [k for k in range(len(classes.states)) if classes.class_of[k] == i]
        radius = 0.0 if len(mine) == 1 else 0.55 if len(mine) == 2 else 0.5 / math.sin(math.pi / len(mine))
        left += radius
        for turn, k in enumerate(mine):
            angle = 2 * math.pi * turn / len(mine)
            levels = [asked.level(position[n], int(v)) for n, v in zip(classes.nodes, classes.states[k], strict=True)]
            nodes.append(
                Node(
                    str(k),
                    clean(" · ".join(levels), 60),
                    left - radius * math.cos(angle),
                    1.0 - radius * math.sin(angle),
                    _("class {n} · {p}").format(n=i + 1, p=number(float(classes.p[k]))),
                    tone="evidence" if i % 2 else "",
                )
            )
        left += radius + APART / 2
    return nodes
