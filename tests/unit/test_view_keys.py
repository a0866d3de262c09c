"""The registry of what pages keep in the address: every key once, and nothing forged gets past its check."""

from __future__ import annotations

import ast
from itertools import product

import pytest

from pages.runtime import view_keys
from pages.runtime.state import State, decode, encode
from pages.runtime.view_keys import KEYS, ViewKey, _place
from tests.catalogue import sources


def pages() -> dict[str, ast.Module]:
    registry = "pages/runtime/view_keys.py"
    return {path: tree for path, tree in sources().items() if path.startswith("pages/") and path != registry}


FORGED = (
    None,
    True,
    3,
    -7,
    2**53,
    0.5,
    -1e308,
    "",
    "x",
    (),
    (1,),
    ("x",),
    ((),),
    ((1, 2),),
    ({},),
    {"a": 1},
    ((1, "x"), 2),
)
"""A value of each type that JSON has, and some nested ones."""


def test_a_default_and_every_option_pass_their_own_check() -> None:
    for key in KEYS.values():
        for value in (key.default, *key.options, *(v for v in key.limits if v not in (float("inf"), -float("inf")))):
            state = decode(encode(State(table="iris").showing(key.to(value))))
            assert state is not None and state.seen(key) == value, key.name


def test_a_forged_value_reads_as_the_default_or_as_one_that_the_key_may_have() -> None:
    for key, value in product(KEYS.values(), FORGED):
        read = State(view=((key.name, value),)).seen(key)
        assert read == key.default or key.read(read) == read, key.name
        if not isinstance(value, type(key.default) | int) and key.default is not None and key.name != "look":
            assert read == key.default, key.name
        if isinstance(value, bool) and not isinstance(key.default, bool | None):
            assert read == key.default, f"{key.name}: True is no 1"
    assert all(State().seen(key) == key.default for key in KEYS.values())


def test_a_key_is_declared_once() -> None:
    assert {key.name for key in KEYS.values()} == set(KEYS)
    with pytest.raises(ValueError, match="'pair' is declared twice"):
        _place("pair")


def test_a_number_beyond_its_limits_counts_as_the_limit_and_is_kept_to_its_digits() -> None:
    pooling = KEYS["pooling"]
    assert [State(view=(("pooling", v),)).seen(pooling) for v in (-2, 1e9, 0.25)] == [0.0, 1.0, 0.25]
    assert pooling.to(0.12345) == ("pooling", 0.123)


def test_entries_are_judged_alone_and_positions_together() -> None:
    forged = ((0, 1), (2, "x"), 5, (3, 4))
    assert State(view=(("net_arcs", forged),)).seen(KEYS["net_arcs"]) == ((0, 1), (3, 4))
    assert State(view=(("cell", (1, "x")),)).seen(KEYS["cell"]) == ()


def verb_of(call: ast.Call) -> str:
    """What is called, without what it belongs to; a component has a `seen` of its own."""
    match call.func:
        case ast.Attribute(attr=name):
            return name
        case ast.Name(id=name) if name != "seen":
            return name
    return ""


def test_no_page_names_a_setting_by_a_string() -> None:
    named, widgets = [], {key.widget for key in KEYS.values()}
    for path, tree in pages().items():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            verb = verb_of(call)
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant):
                told = verb in ("seen", "seen_among", "bound_to") or (verb == "control" and first.value in widgets)
            else:
                told = verb == "showing" and (call.keywords or any(isinstance(a, ast.Tuple) for a in call.args))
            if told:
                named.append(f"{path}:{call.lineno}")
    assert not named


def test_every_key_is_used_and_stands_in_the_registry_under_one_name() -> None:
    used = {node.attr for tree in pages().values() for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    named = {name: value for name, value in vars(view_keys).items() if isinstance(value, ViewKey)}
    assert not set(named) - used
    assert "DEMO" in used
    assert {key.name for key in (*named.values(), *view_keys.DEMO.values())} == set(KEYS)
    assert len(named) + len(view_keys.DEMO) == len(KEYS)
