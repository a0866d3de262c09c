"""Texts that a person reads as one: what is left of them without case, width and blanks; and how they look."""

from __future__ import annotations

import re
import unicodedata

INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
"""Characters that nobody sees and that mean nothing in any script."""
LOOK_ALIKE = str.maketrans("асеіјорѕухԁһԛԝνορυικαтвмнк", "aceijopsyxdhqwvopuikatbmhk")
"""Small Cyrillic and Greek letters that look like Latin ones."""
MARKS = str.maketrans("‐‑‒–—−’‘ʼ`´01", 6 * "-" + 5 * "'" + "ol")
"""Dashes, apostrophes and digits as the hyphen, apostrophe and small letters that they look like."""
_ACCENTS = re.compile("(?<=[a-zα-ω])[\u0300-\u036f]+")


def spelling(text: str) -> str:
    """A text without case, width and superfluous blanks.

    >>> spelling(" Ｙes"), spelling("New  York")
    ('yes', 'new york')
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def ascii_digits(text: str) -> str:
    """A text with the digits 0 to 9 for those of every script.

    >>> ascii_digits("٣ of ５"), ascii_digits("x²")
    ('3 of 5', 'x²')
    """
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def look(text: str) -> str:
    """A text as it looks: its spelling without invisible characters, with Latin letters for those of other scripts that
    look the same, one dash and one apostrophe for all, letters for the digits 0 and 1, and without the accents of Latin
    and Greek letters (й is no и, nor が a か).

    >>> look("B\\u0435rlin") == look("berlin"), look("Zürich"), look("мой") == look("мои"), look("A1O") == look("A10")
    (True, 'zurich', False, True)
    """
    plain = unicodedata.normalize("NFKD", spelling(INVISIBLE.sub("", text))).translate(LOOK_ALIKE).translate(MARKS)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", plain))


def codes_beside(text: str, other: str) -> list[str]:
    """The codes of the characters of a text that ASCII has not, nor the other text: what sets it apart unseen.

    >>> codes_beside("B\u0435rlin", "Berlin"), codes_beside("Berlin", "B\u0435rlin")
    (['U+0435'], [])
    """
    return [f"U+{ord(c):04X}" for c in dict.fromkeys(text) if c not in other and not c.isascii()]
