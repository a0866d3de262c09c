"""Where every derivation stands, and an example that it can always be followed on."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from pages.active.lesson_in_use import opened_by
from pages.runtime import view_keys as keys
from pages.runtime.state import State
from pages.runtime.view_keys import Setting


class Standing(NamedTuple):
    """The page of a derivation with the `settings` that lead to it there, and the state of an example, as lessons have
    it."""

    page: str
    settings: tuple[Setting, ...]
    example: Mapping[str, Any]


_CATEGORICAL = {"table": "watermelon3", "shelf": [["laplace", []]], "view": {"column": 2}}
_NUMERIC, _THREE = {"table": "watermelon3a"}, {"table": "iris"}
_SPRINKLER = {"view": {"net": "sprinkler", "net_tab": "gibbs", "net_evidence": [[3, 0]]}}
_LEARNED = {"table": "watermelon2", "view": {"net": "table", "net_tab": "learn"}}
STANDINGS: Mapping[str, Standing] = MappingProxyType({
    "prior": Standing("model", (), _CATEGORICAL),
    "gaussian": Standing("model", (), _NUMERIC),
    "laplace": Standing("model", (), _CATEGORICAL),
    "scatter": Standing("projection", (), _NUMERIC),
    "ratio-trace": Standing("projection", (), _THREE),
    "trace-ratio": Standing("projection", (), _THREE),
    "fisher-lda": Standing("projection", (), _NUMERIC),
    "boundary": Standing("projection", (), _NUMERIC),
    "em": Standing("hidden", (keys.EM_PART.to("all"),), _THREE),
    "gibbs": Standing("network", (keys.NET_TAB.to("gibbs"),), _SPRINKLER),
    "mdl": Standing("network", (keys.NET_TAB.to("learn"),), _LEARNED),
})  # fmt: skip
"""By the names of `chains.chain.TITLES`."""


def opening(name: str) -> tuple[Setting, ...]:
    """The settings that open a derivation at its first line; "" closes it."""
    return keys.DERIVED.to(name), keys.DERIVED_LINE.to(1), keys.DERIVED_PLAYS.to(False)


def opened(name: str, state: State) -> State:
    """The state with a derivation opened where it stands."""
    return state.showing(*STANDINGS[name].settings, *opening(name))


def on_example(name: str, state: State) -> State:
    """The state of the example with the derivation opened; the lesson that runs stays."""
    running = tuple(setting for setting in state.view if setting[0] == keys.LESSON.name)
    return opened(name, opened_by(STANDINGS[name].example, state).showing(*running))
