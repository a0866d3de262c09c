"""The page Model's view Compare: the shelf on the same held-out rows, logistic regression beside it."""
