"""Text for a link: what a state holds, as short text of letters that an address takes as they are."""

from __future__ import annotations

import base64
import zlib

VERSION = "1"
LONGEST = 30_000
"""Characters of a token that are read."""
MOST = 100_000
"""Bytes of text that are unpacked."""


def packed(text: str) -> str:
    """A token of `text`: its version, a point, and the compressed text.

    >>> unpacked(packed("a" * 1000)) == b"a" * 1000
    True
    """
    return f"{VERSION}.{base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip('=')}"


def unpacked(token: str) -> bytes:
    """The text of a token. Raises ValueError where it is not one of ours: another version, cut off, forged.

    >>> unpacked("2.eNo")
    Traceback (most recent call last):
    ...
    ValueError: no token of version 1
    """
    version, _, body = token.partition(".")
    if version != VERSION or len(token) > LONGEST:
        raise ValueError(f"no token of version {VERSION}")
    try:
        return zlib.decompressobj().decompress(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)), MOST)
    except zlib.error as error:
        raise ValueError("no compressed text") from error
