"""Terms of a text on screen: character for character, with what cannot be seen written out."""

from __future__ import annotations

import unicodedata

from bayes_engine.language import _
from bayes_engine.numerals import count
from bayes_engine.workbench.derivation.texts import TermEvidence
from pages.runtime.escape import clean

_TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def times(term: TermEvidence) -> str:
    """« × 2» where a term counts more than once."""
    return f" × {count(term.times)}" if term.times > 1 else ""


def shown(term: str, limit: int = 40) -> str:
    """A term on screen: a blank at its beginning or end can be seen.

    >>> shown("to "), shown("free call")
    ('to␣', 'free call')
    """
    bare = term.strip(" ")
    left = len(term) - len(term.lstrip(" "))
    marked = "␣" * left + bare + "␣" * (len(term) - len(bare) - left)
    return clean(visible(marked), limit)


def quoted(term: str) -> str:
    """A term between the quotes of the language."""
    return _("«{term}»").format(term=term)


def visible(text: str) -> str:
    """A text with what would turn or hide its characters written out; all others are as they are.

    >>> visible("pay\\u202e now\\x00")
    'pay[U+202E] now[U+0000]'
    """
    hidden = (c in _TURNING or (unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t") for c in text)
    return "".join(f"[U+{ord(c):04X}]" if out else c for c, out in zip(text, hidden, strict=True))
