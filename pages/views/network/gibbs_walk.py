"""The textbook's chain walking: every update with its node, the probabilities given all others, and what was drawn.

The film goes to the browser with every run; playing, stepping and scrubbing need no server. The browser reports a step
that a person chose, once it has stood for a moment.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from bayes_engine.factors.network import Network
from bayes_engine.language import _
from bayes_engine.workbench.derivation.gibbs_walk import Walk
from bayes_engine.workbench.figures.theme import CLASS_COLOURS
from pages.components.component import component, last_message, read_message
from pages.components.film import bar_words, read_step
from pages.components.graph import Edge, Node, drawing
from pages.runtime import view_keys as keys
from pages.runtime.state import change, current
from pages.views.network.draw import layout_of
from pages.views.network.gibbs_question import Question

_PLACE = '<div class="walk" data-testid="walk"></div>'
_walk = component(__file__, "bayes_gibbs_walk", _PLACE, uses=("stage", "paper", "film", "graph"))


def player(asked: Question, film: Walk, exact: float | None) -> None:
    """Show the walk after so many updates as were chosen (0: the start)."""
    last, key = len(film.updates), "net_g_walk"

    def stepped() -> None:
        chosen = read_message(key, "stepped", lambda edit: read_step(edit, last))
        if chosen is not None:
            change(lambda s: s.showing(keys.NET_G_STEP.to(chosen if chosen >= 0 else last)))

    step = min(current().seen(keys.NET_G_STEP), last)
    data = film_of(asked, film, exact) | {"step": step, "seen": last_message(key)}
    _walk(key=key, data=data, on_stepped_change=stepped)


def film_of(asked: Question, film: Walk, exact: float | None) -> dict[str, Any]:
    """What the browser gets, as JSON: `id` stands for the walk, `look` for the words around it."""
    network = film.network
    walk = {
        "hidden": list(film.hidden),
        "start": film.start.tolist(),
        "drawn": [u.after for u in film.updates],
        "p": [[round(v, 6) for v in u.p.tolist()] for u in film.updates],
        "hits": film.hits.astype(int).tolist(),
        "exact": exact,
    }
    look = {
        "graph": _drawing(asked, network),
        "evidence": [j for j, _level in asked.given],
        "asked": [j for j, _level in asked.asked],
        "inks": [list(pair) for pair in CLASS_COLOURS],
        "algorithm": _algorithm(),
        "words": _words(),
    }
    return walk | look | {"id": _digest(walk | {"asked": asked.key}), "look": _digest(look)}


def _digest(part: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(part).encode(), digest_size=8).hexdigest()


def _drawing(asked: Question, network: Network) -> dict[str, Any]:
    """The network, every node with room for any of its levels."""
    places = layout_of(asked.source)
    nodes = [
        Node(str(j), asked.name(j), *places[name], subs=tuple(asked.level(j, k) for k in range(network.sizes[j])))
        for j, name in enumerate(network.names)
    ]
    edges = [Edge(str(network.position[a]), str(network.position[b])) for a, b in network.graph.arcs]
    zoom = {1: 1.45, 2: 1.45, 3: 1.2}.get(len({node.y for node in nodes}), 1.0)  # the fewer rows, the larger
    return drawing(nodes, edges, zoom=zoom, label=_("The network with the state the chain is in"))


def _algorithm() -> list[list[Any]]:
    """The lines of the algorithm and how deep each stands; gibbs_walk.js lights them by their place."""
    return [
        [0, _("n_q ← 0; q⁰: random hidden values that agree with e")],
        [0, _("for t = 1, 2, …, T:")],
        [1, _("for each hidden node X_i in turn:")],
        [2, _("compute P(X_i | all others as they stand, e)")],
        [2, _("draw the new value of X_i from it")],
        [1, _("if q holds in the state qᵗ: n_q ← n_q + 1")],
        [0, _("P(Q = q | E = e) ≈ n_q / T")],
    ]


def _words() -> dict[str, str]:
    return {
        **bar_words(),
        "back": _("One update back"),
        "forward": _("One update forward"),
        "chapter": _("To the end of the sweep"),
        "scrub": _("Update"),
        "running": _("n_q / t after each sweep; the dashed line is the exact answer, the strip marks when q held"),
        "time": _("sweep t"),
        "counter": _("sweep {t} of {T}, node {i} of {n}"),
        "outset": _("start, {T} sweeps ahead"),
        "count": _("n_q / t = {n} / {t} = {p}"),
        "none": _("n_q / t: no sweep is whole yet"),
        "exact": _("exact: {p}"),
        "unknown": _("the exact answer is out of reach"),
        "begin": _("The start"),
        "beginning": _("Random values that agree with e and are possible together. Press play, or step."),
        "others": _("all others"),
        "given": _("Its blanket: "),
        "alone": _("Its blanket is empty: it depends on no other hidden or observed node."),
        "moved": _("Drawn: {before} → {after}"),
        "stayed": _("Drawn: {after}, as before"),
        "forced": _("It can only stay {after}: the others leave it no choice"),
    }
