"""What is asked on the tab *Gibbs*: Q = q of one node or several, given e; and the noise that softens zeros."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bayes_engine.factors.network import Network
from bayes_engine.inference.forward_sampling import Places
from bayes_engine.language import _
from bayes_engine.workbench.derivation.gibbs_walk import has_zeros, row_of, softened
from pages.active import network_source as sources
from pages.active.network_source import Source
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean
from pages.runtime.state import current
from pages.runtime.widgets import bound_to, control
from pages.views.network.beliefs import observe_story, target_of

STORY_LEVEL = {"stuck": 1}
"""Of whose target a story asks another level than the first."""


@dataclass(frozen=True)
class Question:
    """P(Q = q | e) of a network, which is the source's unless zeros were softened; `key` stands for all of it."""

    source: Source
    network: Network
    noise: float
    given: keys.Pairs
    asked: keys.Pairs

    @property
    def key(self) -> str:
        return f"{self.source.key}|{self.noise}|{self.given}|{self.asked}"

    @property
    def evidence(self) -> Places:
        return row_of(self.network, self.given)

    @property
    def event(self) -> Places:
        return row_of(self.network, self.asked)

    def in_words(self, pairs: keys.Pairs) -> str:
        """ "node = level" of the pairs; data, to be escaped."""
        return _(", ").join(f"{self.name(j)} = {self.level(j, k)}" for j, k in pairs)

    def name(self, j: int) -> str:
        return clean(self.source.name(self.network.names[j]), 40)

    def level(self, j: int, k: int) -> str:
        cpt = self.network.cpts[j]
        return clean(self.source.level(cpt.name, cpt.variable.levels[k]), 40)

    def whole(self) -> str:
        """P(…) in full; data, to be escaped."""
        given = f" | {self.in_words(self.given)}" if self.given else ""
        return f"P({self.in_words(self.asked)}{given})"


def question(source: Source) -> Question:
    """The question the state holds, and the widgets that change it."""
    network = source.network
    findings = sources.evidence(source).items()
    given = tuple((source.place(n), network[n].variable.levels.index(v)) for n, v in findings)
    asked = _asked(source, given)
    zeros = has_zeros(network)
    noise = current().seen(keys.NET_G_NOISE) if zeros else 0.0
    asked_now = Question(source, _softened(source, noise), noise, given, asked)
    options = [f"{j}:{k}" for j, cpt in enumerate(network.cpts) for k in range(len(cpt.variable.levels))]

    def words(option: str) -> str:
        j, k = map(int, option.split(":"))
        return f"{asked_now.name(j)} = {asked_now.level(j, k)}"

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.multiselect(
            _("Asked: Q = q"),
            options,
            format_func=words,
            placeholder=_("one node or several"),
            help=_("Several nodes ask for their joint probability."),
            width=330,
            **control(
                keys.NET_G_QUERY.widget,
                _options(asked),
                lambda s, chosen: s.showing(keys.NET_G_QUERY.to(_pairs(chosen))),
            ),
        )
        st.multiselect(
            _("Given: E = e"),
            options,
            format_func=words,
            placeholder=_("nothing is observed"),
            width=330,
            **control(
                "net_g_given", _options(given), lambda s, chosen: s.showing(keys.NET_EVIDENCE.to(_pairs(chosen)))
            ),
        )
        if zeros:
            st.select_slider(
                _("Zeros become"),
                keys.NET_G_NOISE.options,
                format_func=lambda v: f"{v:g}",
                help=_(
                    "Zeros of a row share this probability: 0 leaves “never” as it is; a little of it makes “hardly "
                    "ever”, which a chain can pass, but slowly."
                ),
                width=220,
                **bound_to(keys.NET_G_NOISE),
            )
        if not given:
            observe_story(source, "net_g_try", keys.NET_G_QUERY.to(()))
    return asked_now


def _asked(source: Source, given: keys.Pairs) -> keys.Pairs:
    """The event as the state has it, forged parts left out; else the node that is asked about on the page."""
    sizes = source.network.sizes
    levels = {j: k for j, k in current().seen(keys.NET_G_QUERY) if j < len(sizes) and k < sizes[j]}
    if levels:
        return tuple(sorted(levels.items()))
    place = source.place(target_of(source))
    if place in dict(given):
        place = next((j for j in range(len(sizes)) if j not in dict(given)), place)
    return ((place, min(STORY_LEVEL.get(source.id, 0), sizes[place] - 1)),)


def _options(pairs: keys.Pairs) -> list[str]:
    return [f"{j}:{k}" for j, k in pairs]


def _pairs(options: list[str]) -> keys.Pairs:
    """Of a node that was chosen twice the later level."""
    return tuple(sorted({int(o.split(":")[0]): int(o.split(":")[1]) for o in options}.items()))


@cached(max_entries=32)
def _softened(source: Source, noise: float) -> Network:
    """One object for one content: the junction tree is kept by the object."""
    return softened(source.network, noise)
