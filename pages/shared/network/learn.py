"""The tab *learn*."""

from __future__ import annotations

from pages.shared.network.source import Source


def learn(source: Source) -> None:
    """Not written yet."""
