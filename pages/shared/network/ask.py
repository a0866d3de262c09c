"""The tab *ask*."""

from __future__ import annotations

from pages.shared.network.source import Source


def ask(source: Source) -> None:
    """Not written yet."""
