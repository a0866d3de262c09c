"""What scikit-learn's five naive Bayes classifiers share: rows are a numeric matrix, predicted block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayes_engine.errors import TableError
from bayes_engine.logspace import Array, log_normalize, normalize
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.numeric_input import numeric_input
from bayes_engine.stats.labels import Labels
from bayes_engine.table.encode import Table
from bayes_engine.table.matrix import UNNAMED, Matrix, slices
from bayes_engine.table.schema import Schema

ROWS_AT_ONCE = 2**15
"""Rows whose posteriors are computed together."""


class MatrixClassifier(GenerativeClassifier):
    """A classifier of numeric matrices in scikit-learn's manner: one dtype, no missing cell, columns by position.

    Hooks beside those of `GenerativeClassifier`: `takes_sparse`, `not_negative`, `_validated`, which checks of
    scikit-learn's there are, `_posterior_of` rows, and `_largest`, the most probable class of every row, which need not
    go over all classes.
    """

    missing = "error"
    unseen = "error"
    schema = None
    factor_: Any
    numeric: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = False
    """Whether CSR matrices are taken too."""
    not_negative: ClassVar[bool] = False

    # rows: from a matrix, not from a frame ------------------------------------------------------------------------

    def _frame(self, X: Any, *, reset: bool) -> Any:
        frame = Matrix.of(self._validated(X, reset=reset))
        if reset and self.not_negative:
            self._refuse_negative(frame.least)
        return frame

    def _validated(self, X: Any, *, reset: bool) -> Any:
        return numeric_input(self, X, reset=reset, accept_sparse="csr" if self.takes_sparse else False)

    def _refuse_negative(self, least: float) -> None:
        if least < 0:
            raise TableError(
                "Negative values in data passed to {model}: it counts, and counts are 0 and more",
                model=type(self).__name__,
            )

    def _observed(self, frame: Matrix, labels: Labels, known: Schema | None) -> Schema:
        return UNNAMED  # a model of terms keeps their names itself

    def _table(self, frame: Matrix, schema: Schema, *, unseen: str, missing: str = "error") -> Table:
        return frame if schema is frame.schema else replace(frame, schema=schema)

    # predicting: a block of rows at a time ------------------------------------------------------------------------

    def predict_joint_log_proba(self, X: Any) -> Array:
        return self._by_block(self._encode(X), lambda joint, top, out: np.copyto(out, joint), defined=False)

    def predict_log_proba(self, X: Any) -> Array:
        return self._by_block(self._encode(X), lambda joint, top, out: np.copyto(out, log_normalize(joint)))

    def predict_proba(self, X: Any) -> Array:
        return self._posterior_of(self._encode(X))

    def predict(self, X: Any) -> NDArray[Any]:
        best = self._largest(self._encode(X))
        return np.asarray(self.classes_[best])

    def _posterior_of(self, table: Table) -> Array:
        """(n, C) P(c|x)."""
        return self._by_block(table, normalize)

    def _largest(self, table: Table) -> NDArray[np.intp]:
        """(n,) the position of the class with the largest joint, the first of several."""
        return self._by_block(
            table, lambda joint, top, out: joint.argmax(axis=1, out=out[:, 0]), columns=1, kind=np.intp
        )[:, 0]

    def _by_block(
        self,
        table: Table,
        write: Callable[[Array, Array, NDArray[Any]], object],
        *,
        columns: int | None = None,
        kind: type = float,
        defined: bool = True,
    ) -> NDArray[Any]:
        """(n, columns) what `write` puts in its place, given the joint of a block and its largest (n, 1). Beyond input
        and output, no more than a block is held."""
        written: NDArray[Any] = np.empty((columns or len(self.classes_), table.n), dtype=kind)
        for rows in slices(table.n, ROWS_AT_ONCE):
            joint = self.factor_.log(table.take(rows))
            top = joint.max(axis=1, keepdims=True)
            if defined and np.isneginf(top).any():
                self._defined(table, self.factor_.log(table))  # which names the rows
            write(joint, top, written[:, rows].T)
        return written.T

    def _names(self) -> tuple[str, ...]:
        names = getattr(self, "feature_names_in_", None)
        return numbered_names(self.n_features_in_) if names is None else tuple(names.tolist())

    @property
    def class_count_(self) -> Array:
        """(C,) the weight of each class."""
        return self.stats_.class_weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.takes_sparse
        tags.input_tags.positive_only = self.not_negative
        tags.classifier_tags.poor_score = self.takes_sparse
        return tags


@cache
def numbered_names(d: int) -> tuple[str, ...]:
    """The names of columns without names; a vocabulary of them is made once."""
    return tuple(f"x{j}" for j in range(d))
