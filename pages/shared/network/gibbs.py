"""The tab *Gibbs*."""

from __future__ import annotations

from pages.shared.network.source import Source


def gibbs(source: Source) -> None:
    """Not written yet."""
