"""What `pages/runtime/cache.py` keeps, looked at and emptied: no page asks for either."""

from __future__ import annotations

from pages.runtime import cache


def bytes_kept(digest: str = "") -> int:
    """Bytes that all results take, or those of one file."""
    cache.release()
    return cache._taken.get(digest, 0)


def forget() -> None:
    """Drop every result."""
    with cache._lock:
        for place in list(cache._entries):
            cache._drop(place)
