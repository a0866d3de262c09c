"""The page Model's view Compare: the shelf on the same held-out rows, logistic regression beside it."""

from pages.shared.compare.sections import compare

__all__ = ["compare"]
