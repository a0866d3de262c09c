"""One chain, many chains and likelihood weighting, against the exact answer: settings, figure, numbers, verdict."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from bayes_engine.inference.gibbs import GibbsRun, GibbsSettings
from bayes_engine.inference.gibbs_kernel import Blocks
from bayes_engine.language import Message, _
from bayes_engine.numerals import number
from bayes_engine.workbench.derivation.gibbs_walk import SamplerComparison, compare_samplers, event_of
from bayes_engine.workbench.figures.gibbs import estimates, memory, traces
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md
from pages.runtime.job_queue import in_worker
from pages.runtime.state import current, dark
from pages.runtime.widgets import bound_to, sets
from pages.views.network.gibbs_question import Question

SEEDS = 10_000
T, MANY, T_OF_MANY = 1000, 20, 200
"""So many sweeps at first; in a network of more than `MANY` nodes that are drawn fewer, as each takes longer."""


class Settings(NamedTuple):
    """The `settings` of the improved form, and the `seed` of both; which nodes are drawn together, as was chosen, and
    those of an `own` block."""

    settings: GibbsSettings
    blocks: str
    own: tuple[int, ...]
    seed: int


def settings(asked: Question) -> Settings:
    """As the state has them; forged ones count as not set."""
    state, hidden = current(), _hidden(asked)
    chosen = state.seen(keys.NET_G_BLOCKS)
    own = tuple(sorted({j for j in state.seen(keys.NET_G_OWN) if j in hidden}))
    blocks: Blocks = "tied" if chosen == "tied" else None
    if chosen == "own" and len(own) > 1:
        blocks = (tuple(asked.network.names[j] for j in own),)
    settings = GibbsSettings(
        sweeps=state.seen(keys.NET_G_SWEEPS) or (T if len(hidden) <= MANY else T_OF_MANY),
        chains=state.seen(keys.NET_G_CHAINS),
        burn_in=state.seen(keys.NET_G_BURN),
        scan=state.seen(keys.NET_G_SCAN),
        begin=state.seen(keys.NET_G_START),
        blocks=blocks,
    )
    return Settings(settings, chosen, own, state.seen(keys.NET_G_SEED) % SEEDS)


def _hidden(asked: Question) -> list[int]:
    given = dict(asked.given)
    return [j for j in range(len(asked.network.cpts)) if j not in given]


@cached(max_entries=48, activity=Message("running the chains"))
def results(asked: Question, exact: float | None, with_: Settings) -> SamplerComparison:
    network, evidence, event = asked.network, asked.evidence, asked.event
    return in_worker(compare_samplers, network, evidence, event, exact, settings=with_.settings, seed=with_.seed)


def controls(asked: Question, now: Settings) -> None:
    """The parameters of the improved form; T and the seed are those of all three."""
    scans = {"sequential": _("all nodes in turn"), "textbook": _("in the order of the file"), "random": _("at random")}
    starts = {
        "weighted": _("weighted resamples"),
        "forward": _("from the roots down"),
        "consistent": _("random, consistent"),
    }
    blocks = {"tied": _("nodes tied by zeros"), "none": _("single nodes"), "own": _("my own block")}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        choices: tuple[tuple[str, keys.ViewKey[Any], Any], ...] = (
            (_("Sweeps T"), keys.NET_G_SWEEPS, str),
            (_("Chains"), keys.NET_G_CHAINS, str),
            (_("Burn-in"), keys.NET_G_BURN, str),
            (_("Order in a sweep"), keys.NET_G_SCAN, scans.get),
            (_("Chains begin"), keys.NET_G_START, starts.get),
            (_("Drawn together"), keys.NET_G_BLOCKS, blocks.get),
        )
        for label, key, words in choices:
            shown = now.settings.sweeps if key is keys.NET_G_SWEEPS else None
            width = 96 if words is str else 172
            st.selectbox(label, key.options, format_func=words, width=width, **bound_to(key, shown))
        st.button(
            _("Another seed"),
            icon=":material/casino:",
            key="net_g_another",
            help=_("Seed {n}").format(n=now.seed),
            **sets(keys.NET_G_SEED.to((now.seed + 1) % SEEDS), keys.NET_G_STEP.to(0)),
        )
    if now.blocks == "own":
        st.multiselect(
            _("Nodes drawn together"),
            _hidden(asked),
            format_func=lambda j: clean(asked.name(j), 40),
            placeholder=_("two nodes or more"),
            **bound_to(keys.NET_G_OWN, now.own),
        )


def comparison(asked: Question, by_sampler: SamplerComparison) -> None:
    """The lines, the numbers and what may be concluded from them."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart(
            estimates(by_sampler, dark=dark()),
            key="net_g_estimates",
            alt=_("Estimates of one chain, of many chains and of likelihood weighting against the exact answer"),
        )
    with right:
        verdict(asked, by_sampler.textbook, _("One chain"))
        verdict(asked, by_sampler.improved, _("Many chains"))
        _weighting(by_sampler)
    _numbers(table(by_sampler), words=1, key="net_g_table")
    st.caption(
        _about(asked, by_sampler.improved)
        + " "
        + _("The stationary distribution of a chain that can reach every state is P(all that is not given | e).")
        + " "
        + _(
            "Bands: ± 2 Monte-Carlo standard errors. Where all draws agree a band has no width, which is no evidence "
            "about states that were never reached."
        )
    )


def _about(asked: Question, run: GibbsRun) -> str:
    """The two forms in words, with the blocks that are drawn together."""
    sentence = _(
        "One chain: the textbook's, from a random start, every sweep counted. Many: {chains} chains in step, their "
        "first {burn_in} sweeps not counted."
    ).format(chains=run.chains, burn_in=run.burn_in)
    blocks = [unit.members for unit in run.kernel.units if len(unit.members) > 1]
    if blocks:
        named = _("; ").join(" + ".join(asked.name(j) for j in block) for block in blocks)
        sentence += " " + _("Drawn together: {blocks}.").format(blocks=md(named, 300))
    return sentence


def table(by_sampler: SamplerComparison) -> pd.DataFrame:
    """Each method's estimate beside the exact answer."""
    one, many, w = event_of(by_sampler.textbook), event_of(by_sampler.improved), by_sampler.weighted
    truth, states = by_sampler.exact, by_sampler.improved.sweeps * by_sampler.improved.chains

    def off(estimate: float | None) -> float | None:
        return None if truth is None or estimate is None else abs(estimate - truth)

    rows = [
        (_("exact"), truth, None, None, None, None, None),
        (_("one chain"), one.estimate, one.mc_error, off(one.estimate), one.rhat, one.ess, by_sampler.textbook.sweeps),
        (_("many chains"), many.estimate, many.mc_error, off(many.estimate), many.rhat, many.ess, states),
        (_("likelihood weighting"), w.estimate, w.error, off(w.estimate), None, w.ess, w.n),
    ]
    decimals = (5, 5, 5, 3, 0, 0)
    return pd.DataFrame(
        [[name, *map(_shown, numbers, decimals)] for name, *numbers in rows],
        columns=[_("method"), "P(Q = q | e)", _("± error"), _("off by"), "R̂", "ESS", _("states")],
    )


def _shown(value: float | None, decimals: int) -> str:
    if value is None:
        return ""
    if math.isnan(value):
        return "–"
    return "∞" if math.isinf(value) else f"{value:.{decimals}f}"


def verdict(asked: Question, run: GibbsRun, name: str) -> None:
    """What the run's own status says, never more."""
    words = {
        "converged": _("converged"),
        "not yet": _("not shown to have converged"),
        "cannot be ergodic": _("cannot converge"),
        "not shown ergodic": _("not known whether it can converge"),
    }[run.status]
    box, icon = {
        "converged": (st.success, ":material/check_circle:"),
        "not yet": (st.info, ":material/hourglass_empty:"),
    }.get(run.status, (st.warning, ":material/warning:"))
    box(f"**{name}{_(': ')}{words}** · {_named(asked, run.message).local(lambda text: md(text, 300))}", icon=icon)


def _named(asked: Question, message: Message) -> Message:
    """The message with the nodes called as everywhere on screen."""
    nodes = message.params.get("nodes")
    if not isinstance(nodes, str):
        return message
    nodes = nodes.replace("', '", f"'{_(', ')}'")
    for j, name in enumerate(asked.network.names):
        nodes = nodes.replace(f"'{name}'", asked.name(j))
    return replace(message, params={**message.params, "nodes": nodes})


def _weighting(by_sampler: SamplerComparison) -> None:
    w = by_sampler.weighted
    if w.ess == 0:
        st.warning(_("Likelihood weighting: every row has weight 0; the findings are too rare for it."))
        return
    st.caption(
        _(
            "Likelihood weighting: {n} rows from the roots down, the findings clamped; they are worth {ess} rows of "
            "equal weight. The rarer the findings, the fewer carry all the weight."
        ).format(n=md(f"{w.n:,}"), ess=md(f"{w.ess:,.0f}"))
    )


def diagnostics(asked: Question, by_sampler: SamplerComparison) -> None:
    """Memory and trace, and beneath every node with its own R̂ and ESS."""
    left, right = st.columns(2, gap="large")
    one, many = event_of(by_sampler.textbook), event_of(by_sampler.improved)
    with left:
        st.subheader(_("How long a chain remembers"))
        chart(
            memory(by_sampler.textbook, by_sampler.improved, dark=dark()),
            key="net_g_memory",
            alt=_("Autocorrelation of the indicator of Q = q by lag"),
        )
        still = [
            name
            for run, name in ((one, _("one chain")), (many, _("many chains")))
            if run.draws.all() or not run.draws.any()
        ]
        sentence = _("Slow to fall: the chain moves little from sweep to sweep, and T draws are worth far fewer.")
        if still:
            sentence += " " + _("No line for {names}: there Q = q never changed.").format(names=_(", ").join(still))
        st.caption(sentence)
    with right:
        st.subheader(_("What the chains sampled"))
        chart(
            traces(by_sampler.textbook, by_sampler.improved, dark=dark()),
            key="net_g_traces",
            alt=_("Share of Q = q by spans of sweeps, a row for each chain"),
        )
        st.caption(_("Rows of one plain colour are chains that stand still; alike and mottled is what R̂ near 1 means."))
    with st.expander(_("Every node: estimate, error, R̂ and ESS of the many chains")):
        _numbers(nodes(asked, by_sampler.improved), words=2, key="net_g_nodes")


def _numbers(frame: pd.DataFrame, *, words: int, key: str) -> None:
    """A table whose columns after the first `words` are numbers, written out."""
    right = {name: st.column_config.TextColumn(alignment="right") for name in frame.columns[words:]}
    st.dataframe(frame, hide_index=True, width="stretch", key=key, column_config=right)


def nodes(asked: Question, run: GibbsRun) -> pd.DataFrame:
    """The marginals of a run: a row for each level of each hidden node."""
    rows = [
        (asked.name(j), asked.level(j, k), p, error, float(run.rhat[j]), float(run.ess[j]))
        for j in _hidden(asked)
        for k, (p, error) in enumerate(zip(run.marginals[j].tolist(), run.mc_error[j].tolist(), strict=True))
    ]
    return pd.DataFrame(
        [(a, b, number(p), number(e), _shown(r, 4), _shown(s, 0)) for a, b, p, e, r, s in rows],
        columns=[_("node"), _("level"), "P(x | e)", _("± error"), "R̂", "ESS"],
    )
