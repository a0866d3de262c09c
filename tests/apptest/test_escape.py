"""What a file holds comes out as the characters it holds, whatever renders it."""

from __future__ import annotations

import html
import re

import pytest

from pages.shared.escape import clean, md, plotly_text

HOSTILE = [
    "![x](http://evil.test/a.png)", "[a](javascript:alert(1))", "<script>alert(1)</script>", "$x^2$", ":red[x] :smile:",
    "`code`", "**bold** _it_ ~~no~~", "# title", "1. one", "| a | b |", "https://evil.test", "www.evil.test",
    "a@evil.test", "&lt;", "^up^", "==mark==", "{x}", "back\\slash", "根蒂=蜷缩",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_no_markdown_character_stands_without_its_backslash(text: str) -> None:
    shown = md(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_{}\[\]()#+\-.!|~<>$:&^=@/]", shown)
    assert re.sub(r"\\(.)", r"\1", shown).replace("\u2060", "") == text


@pytest.mark.parametrize(
    "text", ["https://evil.test", "http://evil.test", "www.evil.test", "a@evil.test", "HTTPS://x.y"]
)
def test_no_bare_address_becomes_a_link(text: str) -> None:
    assert not re.search(r"(?i)https?:/|www\.|[\w.+-]@", md(text).replace("\\", ""))


@pytest.mark.parametrize("text", HOSTILE)
def test_plotly_reads_no_markup_and_loses_nothing(text: str) -> None:
    shown = plotly_text(text)
    assert not set("<>$") & set(shown)
    assert html.unescape(shown) == text


def test_plotly_templates_do_not_expand() -> None:
    assert "%{" not in plotly_text("%{x} and %{customdata}")


CODES = "00 0A 1B 7F 9B AD 200B 200E 202E 2028 2066 FEFF E0041"


@pytest.mark.parametrize("code", CODES.split())
def test_control_bidi_and_invisible_characters_go(code: str) -> None:
    assert clean(f"a{chr(int(code, 16))}b") == "a b"


def test_a_lone_surrogate_can_be_encoded_afterwards() -> None:
    assert clean("a\ud800b").encode() == b"a b"


@pytest.mark.parametrize("limit", [1, 5, 80])
def test_long_text_is_cut_to_the_limit(limit: int) -> None:
    assert clean("x" * 200, limit) == "x" * (limit - 1) + "…"
    assert clean("x" * limit, limit) == "x" * limit
