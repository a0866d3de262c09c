"""Class memberships: hard, weighted or soft, behind the two sums that every sufficient statistic is made of.

Mathematically R is (n, C), r_ic = weight of row i in class c. Hard labels keep it as codes and weights, because a
one-hot matrix over a million rows would cost more than the counting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.logspace import Array

MAX_WEIGHT = 2.0**53
"""The largest total weight: beyond it a float no longer counts in ones."""


@dataclass(frozen=True)
class Labels:
    """Either `codes` (n,) with optional `weight` (n,), or a soft matrix `soft` (n, C)."""

    n_classes: int
    codes: NDArray[np.intp] | None = None
    weight: Array | None = None
    soft: Array | None = None

    def tally(self, codes: NDArray[Any], size: int) -> Array:
        """(C, size) Σ_i r_ic [code_i = s]: the contingency table of the class and a column of codes < `size`."""
        if self.soft is not None:
            return np.stack([np.bincount(codes, r, minlength=size) for r in self.soft.T])
        assert self.codes is not None
        joint = (self.codes * size + codes).astype(np.intp, copy=False)  # what bincount would do, but slowly
        flat = np.bincount(joint, self.weight, minlength=self.n_classes * size)
        return flat.reshape(self.n_classes, size).astype(float)

    @property
    def by_row(self) -> Array:
        """(n,) the weight of each row of hard labels."""
        assert self.codes is not None
        return np.ones(len(self.codes)) if self.weight is None else self.weight

    @cached_property
    def by_class(self) -> Array:
        """(C,) Σ_i r_ic: the weight of each class."""
        if self.soft is not None:
            return self.total(np.ones(len(self.soft)))
        assert self.codes is not None
        return np.bincount(self.codes, self.weight, minlength=self.n_classes).astype(float)

    def total(self, values: Array) -> Array:
        """(C,) Σ_i r_ic v_i."""
        if self.soft is not None:
            return np.asarray(values @ self.soft, dtype=float)
        weighted = values if self.weight is None else values * self.weight
        assert self.codes is not None
        return np.bincount(self.codes, weighted, minlength=self.n_classes).astype(float)

    def spread(self, per_class: Array) -> Array:
        """(n,) the class's value for every row of hard labels."""
        assert self.codes is not None
        return np.asarray(per_class[self.codes])

    @cached_property
    def _identity(self) -> Array:
        """(C, C) the one-hot row of each class."""
        return np.eye(self.n_classes)

    def matrix(self, rows: slice = slice(None), *, by_row: bool = False) -> Array:
        """(C, n) r_ic of all rows or some; hard ones lie in memory class after class, or row after row."""
        if self.soft is not None:
            return np.asarray(self.soft[rows].T)
        assert self.codes is not None
        if by_row:
            one_hot = self._identity.take(self.codes[rows], axis=0).T
        else:
            narrow = np.uint8 if self.n_classes <= 256 else self.codes.dtype  # bytes are told apart faster
            codes = self.codes[rows].astype(narrow, copy=False)
            one_hot = (np.arange(self.n_classes, dtype=narrow)[:, None] == codes).astype(float)
        return one_hot if self.weight is None else np.asarray(one_hot * self.weight[rows])

    def members(self) -> Iterator[tuple[int, NDArray[np.intp], Array | None]]:
        """For each class with any weight: its number, the rows in it, and their weights (None where each counts 1)."""
        for c in range(self.n_classes):
            if self.soft is not None:
                rows = np.flatnonzero(self.soft[:, c])
                weight: Array | None = self.soft[rows, c]
            else:
                rows = np.flatnonzero(self.codes == c)
                weight = None if self.weight is None else self.weight[rows]
            if len(rows):
                yield c, rows, weight

    def split(self, codes: NDArray[Any], size: int) -> Labels:
        """Every class cut into `size` cells by the rows' codes: the cell (c, s) is number c·size + s."""
        if self.soft is None:
            assert self.codes is not None
            return Labels(self.n_classes * size, self.codes * size + codes, self.weight)
        wide = np.zeros((len(codes), self.n_classes, size))
        wide[np.arange(len(codes)), :, codes] = self.soft
        return Labels(self.n_classes * size, soft=wide.reshape(len(codes), -1))

    def take(self, rows: Any) -> Labels:
        """The memberships of the selected rows."""
        codes, weight, soft = (None if a is None else a[rows] for a in (self.codes, self.weight, self.soft))
        return Labels(self.n_classes, codes, weight, soft)


def checked_weights(sample_weight: Any, n: int, *, some: bool = True) -> Array | None:
    """Weights as (n,) float, or None; `some` of them must be above zero.

    Raises ParameterError on a negative or NaN weight or a text, a total of zero, or one of 2^53 and more.
    """
    if sample_weight is None:
        return None
    try:
        weight = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError("sample_weight holds what is no number; weights are numbers of 0 and more") from None
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.ndim > 1:
        raise ParameterError("Sample weights must be 1D array or scalar, got {ndim} dimensions", ndim=weight.ndim)
    if weight.shape != (n,):
        raise ParameterError(
            "sample_weight.shape == {shape}, expected {expected}: one weight for each row",
            shape=str(weight.shape),
            expected=str((n,)),
        )
    if np.isnan(weight).any() or (weight < 0).any():
        row = int((np.isnan(weight) | (weight < 0)).argmax())
        raise ParameterError(
            "sample_weight is {value} in row {row}; weights are numbers of 0 and more",
            value=str(weight[row]),
            row=row + 1,
        )
    with np.errstate(over="ignore"):
        total = weight.sum()
    if some and total == 0:
        raise ParameterError("sample_weight is zero in every row; at least one row must count")
    if total >= MAX_WEIGHT:
        raise ParameterError("sample_weight sums to {total:.3g}, 2^53 or more; divide the weights", total=float(total))
    return weight
