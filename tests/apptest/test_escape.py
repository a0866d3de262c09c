"""What a file holds comes out as the characters it holds, whatever renders it."""

from __future__ import annotations

import html
import re

import pytest

from pages.runtime.escape import clean, md, plotly_text

HOSTILE = [
    "![x](http://evil.test/a.png)", "[a](javascript:alert(1))", "<script>alert(1)</script>", "$x^2$", ":red[x] :smile:",
    "`code`", "**bold** _it_ ~~no~~", "# title", "1. one", "| a | b |", "https://evil.test", "www.evil.test",
    "a@evil.test", "&lt;", "^up^", "==mark==", "{x}", "back\\slash", "根蒂=蜷缩",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_no_markdown_character_stands_without_its_backslash(text: str) -> None:
    shown = md(text)
    bare = re.sub(r"\\.", "", shown)
    assert not re.search(r"[`*{}\[\]#+!|~<>$:&^=@]", bare)
    assert not re.search(r"(?<!\\)(?:(?<![^\W_])[_.\-/]|[_.\-/](?![^\W_])|(?<=\])\()", shown)
    assert re.sub(r"\\(.)", r"\1", shown).replace("\u2060", "") == text


@pytest.mark.parametrize("text", ["credit_amount", "cap-shape", "petal length (cm)", "km/h", "V1.a", "色_泽"])
def test_a_name_without_markup_is_read_out_as_it_is(text: str) -> None:
    """Streamlit takes the label of a widget for its aria-label, backslashes included."""
    assert md(text).replace("\u2060", "") == text


@pytest.mark.parametrize("text", ["_x_", "a_ b", "a__b", "- x", "1. one", "1) one", "[a](b)"])
def test_where_a_sign_is_read_it_has_its_backslash(text: str) -> None:
    assert re.search(r"\\[_.)\-]|\\\]\\\(", md(text))


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


@pytest.mark.parametrize("text", ["->", "a -> b", "<- a", "a <-> b", "--", "a -- b", "<= 2", ">=", "~= 3"])
def test_lone_arrows_dashes_and_signs_are_not_drawn_as_others(text: str) -> None:
    """Streamlit replaces them in the text that Markdown has left, whatever the backslashes."""
    shown = md(text).replace("\\", "")
    assert not re.search(r"(?:^|\s)(?:<->|->|<-|--|>=|<=|~=)(?:\s|$)", shown)
    assert shown.replace("\u2060", "") == text


@pytest.mark.parametrize("text", [":streamlit:", ":smile:", "a:+1:b", ":material/home:", "12:100:00"])
def test_no_shortcode_becomes_a_picture(text: str) -> None:
    """They too are read from the text that Markdown has left."""
    assert not re.search(r":[\w+/-]+:", md(text).replace("\\", ""))


@pytest.mark.parametrize(("text", "shown"), [("    code", "    code"), ("a   b", "a   b"), ("a ", "a "), (" ", " ")])
def test_gaps_stay_as_wide_as_they_are(text: str, shown: str) -> None:
    """Four spaces in front would make a code block, and a browser draws a run of them as one."""
    drawn = md(text).replace("\u2060", "")
    assert drawn.replace("\u00a0", " ") == shown
    assert "  " not in drawn
    assert not drawn.startswith(" ")


@pytest.mark.parametrize("text", ["(y)", "-1", " a ", "50 %", "_x"])
def test_a_name_of_signs_can_stand_in_bold(text: str) -> None:
    """`**` closes beside a letter only where no sign and no space stands before it: the joiner is neither."""
    shown = md(text)
    assert all(edge == "\u2060" or edge.isalnum() for edge in (shown[0], shown[-1]))


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
