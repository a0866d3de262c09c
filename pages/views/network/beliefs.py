"""Findings: a click on a state sets or clears it, and every bar moves. P(e), what moved most, the most probable
explanation, and the joint of two nodes.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from bayes_engine.errors import TooLarge
from bayes_engine.inference.beliefs import BeliefChange, Beliefs, JointBelief, joint_belief, node_beliefs
from bayes_engine.inference.conflict import Conflict
from bayes_engine.language import Message, _, current_language
from bayes_engine.numerals import certain, number_of_log
from bayes_engine.workbench.figures.network import joint_table
from pages.active import network_source as sources
from pages.active import units
from pages.active.network_source import Source
from pages.components.chart import chart
from pages.components.component import needs_besides
from pages.components.graph import NodeTone
from pages.components.tables import markdown_table
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import change, current, dark, on_click
from pages.runtime.widgets import control, sets
from pages.views.network.draw import Marks, choose_node, draw, is_wide, shown_levels, taken_along

MOVED = 3
"""So many nodes are named as moved most."""
STILL = 4
"""So many as not moved."""
LEAST = 5e-4
"""What moves less did not move."""
ACROSS = 185
"""Height in pixels of what stands above a drawing that takes the whole width."""
CHIPS = 12
"""So many findings are listed one by one."""
LINES, TALLEST = 12, 440
"""A longer explanation is scrolled, in so many pixels."""


def beliefs(source: Source) -> None:
    """The drawing with its bars, the findings beside it, and beneath what follows from them."""
    evidence = sources.evidence(source)
    posteriors = beliefs_given(source, evidence)
    target = target_of(source)
    if posteriors.conflict is not None:
        _impossible(source, posteriors.conflict)
    if is_wide(source):
        _findings(source, posteriors, target, across=True)
        _drawing(source, posteriors, target)
    else:
        figure, side = st.columns([7, 3], gap="large")
        with figure:
            _drawing(source, posteriors, target)
        with side:
            _findings(source, posteriors, target, across=False)
    if posteriors.possible:
        left, right = st.columns(2, gap="large")
        with left:
            _explanation(source, posteriors)
        with right:
            _joint(source, evidence, target)
    _about(source)


def beliefs_given(source: Source, evidence: dict[str, Any]) -> Beliefs:
    """What the findings do to every node."""
    return _beliefs(source, tuple(evidence.items()))


def beliefs_or_none(source: Source, evidence: dict[str, Any]) -> Beliefs | None:
    """The same; None where exact inference is out of reach."""
    try:
        return beliefs_given(source, evidence)
    except TooLarge:
        return None


@cached(max_entries=256)
def _beliefs(source: Source, evidence: tuple[tuple[str, Any], ...]) -> Beliefs:
    return node_beliefs(source.network, dict(evidence))


def target_of(source: Source) -> str:
    """The node that is asked about: the one chosen, or the one its story is about."""
    names = source.network.names
    chosen = current().seen(keys.NET_TARGET)
    if 0 <= chosen < len(names):
        return names[chosen]
    if source.stored is not None:
        return source.stored.info.target
    if source.learned is not None:
        return source.learned.table.target.name
    return names[-1]


def node_in_use(source: Source) -> str:
    """The node that is looked at: the one chosen, or the target."""
    names = source.network.names
    chosen = current().seen(keys.NET_NODE)
    return names[chosen] if 0 <= chosen < len(names) else target_of(source)


def toggle(source: Source, node: str, level: int) -> None:
    """A click on a state; for callbacks."""
    place = source.place(node)
    change(lambda s: sources.toggled(s, place, level))


def _drawing(source: Source, posteriors: Beliefs, target: str) -> None:
    needs_besides("net_graph", lambda: taken_along(source, posteriors.evidence, target))
    tones: dict[str, NodeTone] = dict.fromkeys(posteriors.evidence, "evidence")
    if posteriors.conflict is not None:
        tones |= {name: "shut" for name, _level in posteriors.conflict.findings}
    if target not in tones:
        tones[target] = "class"
    draw(
        source,
        answer=posteriors,
        target=target,
        marks=Marks(nodes=tones),
        on_node=lambda name: change(lambda s: s.showing(keys.NET_TARGET.to(source.place(name)))),
        on_state=lambda name, level: toggle(source, name, level),
        label=_("Bayesian network: the nodes with the probabilities of their states"),
    )


# the findings -----------------------------------------------------------------------------------------------------


def _findings(source: Source, posteriors: Beliefs, target: str, *, across: bool) -> None:
    if across:  # of one height, so that the drawing beneath stays where it is when a state is clicked
        with st.container(height=ACROSS, border=False):
            left, middle, right = st.columns([3, 3, 2], gap="large")
    else:
        left = middle = right = st.container()
    with left:
        _evidence(source, posteriors)
    with middle:
        _moved(source, posteriors, target)
    with right:
        _target(source, posteriors, target)


def _target(source: Source, posteriors: Beliefs, target: str) -> None:
    about = _("Its bars have the colours of classes. A click on the head of a node asks about that node.")
    choose_node(_("Query node"), source, keys.NET_TARGET, target, about=about)
    levels = source.network[target].variable.levels
    if len(shown_levels(source, target, posteriors)) == len(levels):
        return
    place = source.place(target)
    seen = levels.index(posteriors.evidence[target]) if target in posteriors.evidence else -1
    st.selectbox(
        _("Its finding"),
        range(-1, len(levels)),
        format_func=lambda k: _("not observed") if k < 0 else clean(source.level(target, levels[k]), 40),
        **control("net_finding", seen, lambda s, k: sources.with_evidence(s, place, None if k < 0 else k)),
    )


def _evidence(source: Source, posteriors: Beliefs) -> None:
    """The findings, each with a button that clears it, and P(e)."""
    if not posteriors.evidence:
        st.markdown(_("Nothing is observed yet: the bars are $P(x_j)$. **Click a state** to observe it."))
        observe_story(source, "net_try", keys.NET_TARGET.to(-1))
        return
    with st.container(horizontal=True, gap="small"):
        for name, level in list(posteriors.evidence.items())[:CHIPS]:
            place = source.place(name)
            st.button(
                source.finding(name, level),
                icon=":material/close:",
                key=f"net_clear_{place}",
                help=_("Clear this finding"),
                **on_click(lambda s, j=place: sources.with_evidence(s, j, None)),
            )
        if len(posteriors.evidence) > 1:
            st.button(
                _("Clear all {n}").format(n=len(posteriors.evidence)),
                type="tertiary",
                key="net_clear",
                **sets(keys.NET_EVIDENCE.to(())),
            )
    st.metric(
        _("Findings together, $P(e)$"),
        number_of_log(posteriors.log_evidence),
        help=_("How often cases like this occur, according to the network."),
    )


def observe_story(source: Source, key: str, *also: keys.Setting) -> None:
    """The findings that an embedded network is known for, one click away, which sets `also` as well."""
    if source.stored is None or not source.stored.info.evidence:
        return
    story = source.stored.info.evidence
    pairs = tuple(sorted((source.place(n), source.network[n].variable.levels.index(v)) for n, v in story.items()))
    st.button(
        _("Observe {findings}").format(findings=_(", ").join(source.finding(n, v) for n, v in story.items())),
        icon=":material/play_arrow:",
        key=key,
        **sets(keys.NET_EVIDENCE.to(pairs), *also),
    )


def _moved(source: Source, posteriors: Beliefs, target: str) -> None:
    """What the findings did to the node asked about, and what they moved most, in words."""
    if not posteriors.evidence or not posteriors.possible:
        return
    ranked = sorted(posteriors.changes, key=lambda c: c.node != target)
    moved = [c for c in ranked if c.after - c.before >= LEAST]
    still = [c.node for c in posteriors.changes if c.after - c.before < LEAST]
    lines = [_change(source, c) for c in moved[:MOVED]]
    if not moved:
        lines = [_("No other node moved.")]
    elif still:
        named, more = _(", ").join(md(source.name(n), 24) for n in still[:STILL]), len(still) - STILL
        lines.append(
            _("Did not move: {nodes} and {n} more.").format(nodes=named, n=more)
            if more > 0
            else _("Did not move: {nodes}.").format(nodes=named)
        )
    st.markdown("\n".join(f"- {line}" for line in lines))
    st.caption(_("Dashed outlines are the probabilities before the findings, the observed evidence."))


def _change(source: Source, c: BeliefChange) -> str:
    level = source.network[c.node].variable.levels[c.level]
    return _("{finding}: {before} → **{after}**").format(
        finding=source.finding(c.node, level), before=certain(c.before), after=certain(c.after)
    )


def _impossible(source: Source, conflict: Conflict) -> None:
    findings = _(", ").join(source.finding(n, v) for n, v in conflict.findings)
    words = (
        _("No case can have these findings together: **{findings}** has probability 0 in this network.")
        if conflict.smallest
        else _("No case can have these findings together; **{findings}** exclude each other.")
    )
    with st.container(border=True):
        st.markdown(":material/block: " + words.format(findings=findings))
        if len(conflict.findings) > 1:
            st.caption(_("Leave out any one of them, and the others are possible. Clear one and the bars come back:"))
        with st.container(horizontal=True, gap="small"):
            for name, level in conflict.findings:
                place = source.place(name)
                st.button(
                    _("Clear {finding}").format(finding=source.finding(name, level)),
                    key=f"net_conflict_{place}",
                    icon=":material/close:",
                    type="primary",
                    **on_click(lambda s, j=place: sources.with_evidence(s, j, None)),
                )


# what follows -----------------------------------------------------------------------------------------------------


def _explanation(source: Source, posteriors: Beliefs) -> None:
    """The most probable values of all nodes together, beside the most probable one of each."""
    st.subheader(_("Most probable explanation"))
    lines, other = [[_("node"), _("in the explanation"), _("alone"), "p"]], 0
    for name in source.network.names:
        if name in posteriors.evidence:
            continue
        levels, p = source.network[name].variable.levels, posteriors.posterior[name]
        alone = levels[max(range(len(p)), key=lambda k: p[k])]
        best = posteriors.best[name]
        other += alone != best
        lines.append(
            [
                md(source.name(name), 40),
                md(source.level(name, best), 40),
                md(source.level(name, alone), 40) + ("" if alone == best else " **≠**"),
                certain(p[levels.index(alone)]),
            ]
        )
    st.markdown(
        _("$\\arg\\max_x P(x\\mid e)$, all nodes at once: $P(x\\mid e)$ = **{p}**.").format(
            p=number_of_log(posteriors.log_best)
        )
    )
    if len(lines) > 1:
        with st.container(height=TALLEST if len(lines) > LINES else "content", border=False, key="net_mpe"):
            markdown_table(lines, left=3)
    if other:
        st.caption(
            Message(
                "In {n} node(s) it differs (≠) from the node's own most probable state: the best whole is not made of "
                "the best parts.",
                {"n": other},
            ).local(md)
        )


def _joint(source: Source, evidence: dict[str, Any], target: str) -> None:
    """P(a, b | e) of two nodes as a table of areas."""
    st.subheader(_("Two nodes together"))
    free = [name for name in source.network.names if name not in evidence]
    if len(free) < 2:
        st.markdown(_("Two nodes without a finding are needed; clear one."))
        return
    a, b = joint_pair(source, free, target)
    with st.container(horizontal=True):
        choose_node(_("First node"), source, keys.NET_JOINT_A, a, among=[n for n in free if n != b])
        choose_node(_("Second node"), source, keys.NET_JOINT_B, b, among=[n for n in free if n != a])
    joint = _together(source, tuple(evidence.items()), a, b)
    chart(
        joint_table(
            joint,
            [[plotly_text(v, 24) for v in source.levels(n)] for n in (a, b)],
            [plotly_text(source.name(n), 30) for n in (a, b)],
            dark=dark(),
        ),
        key="net_joint",
        alt=_("The joint probabilities of {a} and {b}").format(a=clean(source.name(a)), b=clean(source.name(b))),
    )
    if joint.independent:
        words = (
            _("Independent given the findings: every cell is the product of its row's and its column's probability.")
            if evidence
            else _("Independent: every cell is the product of its row's and its column's probability.")
        )
    else:
        words = (
            _("Dependent given the findings: mutual information {amount}. In brackets the product of the margins.")
            if evidence
            else _("Dependent: mutual information {amount}. In brackets the product of the margins.")
        )
    st.caption(words.format(amount=units.evidence_text(joint.information)))


def joint_pair(source: Source, free: list[str], target: str) -> tuple[str, str]:
    """The two nodes that are shown together: those chosen, or the target and the node that follows it."""
    places = [current().seen(keys.NET_JOINT_A), current().seen(keys.NET_JOINT_B)]
    names = source.network.names
    a, b = (names[j] if 0 <= j < len(names) and names[j] in free else None for j in places)
    first = a or (target if target in free and target != b else next(n for n in free if n != b))
    near = [n for n in source.network.graph.neighbours[first] if n in free]
    second = b if b is not None and b != first else next(n for n in [*near, *free] if n != first)
    return first, second


@cached(max_entries=128)
def _together(source: Source, evidence: tuple[tuple[str, Any], ...], a: str, b: str) -> JointBelief:
    return joint_belief(source.network, a, b, dict(evidence))


def _about(source: Source) -> None:
    """Where the network is from."""
    network = source.network
    size = _("{n} nodes, {arcs} arcs, {free} free numbers").format(
        n=len(network.names), arcs=len(network.graph.arcs), free=network.free
    )
    if source.stored is not None:
        info = source.stored.info
        st.markdown(info.text("story", current_language()))
        st.caption(f"{size} · {md(info.source, 400)}")
        return
    st.caption(size)
    learned = source.learned
    if learned is None:
        return
    method, score, _parents, _sample, alpha, bins = sources.learning_settings()
    n = len(learned.rows.frame)
    lines = [
        _("Arcs from the tab Learn, tables from {n} rows with α = {alpha:g}.").format(n=n, alpha=alpha)
        if source.drawn
        else _("Learned from {n} rows: {method}, {score}; tables with α = {alpha:g}.").format(
            n=n, method=method_word(method), score=score_word(score), alpha=alpha
        )
    ]
    if learned.rows.cut:
        cut = _(", ").join(md(learned.table.column(n), 24) for n in learned.rows.cut)
        lines.append(
            _("Numbers are cut into {bins} intervals with equally many rows each: {columns}.").format(
                bins=bins, columns=cut
            )
        )
    if learned.model.trace_ is not None:
        lines.append(_("Cells not known are completed by EM."))
    for line in lines:
        st.caption(":material/info: " + line)


def method_word(name: str) -> str:
    return {"hill-climb": _("hill climbing"), "exact": _("the exact optimum"), "tree": _("the best tree")}[name]


def score_word(name: str) -> str:
    return {"log-likelihood": _("log-likelihood"), "k2": "K2", "bdeu": "BDeu"}.get(name, name.upper())
