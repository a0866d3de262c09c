"""The ledger: every log term of a prediction, by name. Posterior, contributions and the working are read from it.

Where something is hidden (a missing parent, AODE's super-parent, the component of a mixture) it is summed out exactly,
and the terms are expectations over it and one entropy, which still add up to log p(c, x):

    log p(c, x) = Σ_f E_{h|x,c}[log φ_f] + H(h | x, c)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayes_engine.errors import ParameterError
from bayes_engine.factors import Row
from bayes_engine.logspace import Array, log, log_sum, normalize
from bayes_engine.priors import given_prior

JOINT = Row("joint", "joint", (), "log-probability")
"""The row that stands for all the others together."""
CALIBRATION = Row("calibration", "calibration", (), "constant")
"""The last row of a calibrated model's ledger: log q_c − log p_c."""


class Status(IntEnum):
    """Whether a row has a posterior: OK; IMPOSSIBLE (likelihood 0 in every class); OUT_OF_RANGE (so far out that every
    density underflows); REFUSED (an infinite cell); UNREADABLE (a cell of a file that cannot be used)."""

    OK = 0
    IMPOSSIBLE = 1
    OUT_OF_RANGE = 2
    REFUSED = 3
    UNREADABLE = 4


STATUS_NAMES: Mapping[int, str] = {
    Status.OK: "ok",
    Status.IMPOSSIBLE: "impossible",
    Status.OUT_OF_RANGE: "out of range",
    Status.REFUSED: "infinite cell",
    Status.UNREADABLE: "unusable cell",
}
"""What the status column of the results says."""


@dataclass(frozen=True)
class Ledger:
    """Named log terms (n, C) whose sum is log p(c, x), in nats. `rows` is in order: prior first, last what was added.

    >>> terms = (
    ...     (Row("play", "play", (), "prior"), np.log([[0.6, 0.4]])),
    ...     (Row("wind", "wind", ("play",), "log-probability"), np.log([[0.25, 0.75]])),
    ... )
    >>> ledger = Ledger(terms, ("no", "yes"), np.zeros(1, dtype=np.int8))
    >>> ledger.posterior().round(4).tolist()
    [[0.3333, 0.6667]]
    >>> ledger.contributions("yes", "no").round(4).to_dict("records")
    [{'play': -0.4055, 'wind': 1.0986}]
    """

    rows: tuple[tuple[Row, Array], ...]
    classes: tuple[Any, ...]
    status: NDArray[np.int8]

    def joint(self) -> Array:
        """(n, C) log p(c, x): the sum of all rows."""
        with np.errstate(over="ignore"):
            return _total([term for _, term in self.rows])

    def log_evidence(self) -> Array:
        """(n,) log P(x) = log Σ_c p(c, x)."""
        return log_sum(self.joint(), axis=1)

    def apart(self) -> Array:
        """(n, C) log p(c, x) without the constants that all classes share: far from the data one may be so large that
        in the sum it would drown all else."""
        terms = [term for row, term in self.rows if row.kind != "constant" or (term != term[:, :1]).any()]
        with np.errstate(over="ignore"):
            return _total(terms)

    def posterior(self) -> Array:
        """(n, C) P(c|x). A row whose status is not OK has no posterior and is all zeros."""
        return np.where((self.status == Status.OK)[:, None], normalize(self.apart()), 0.0)

    def contributions(self, for_: Any, against: Any) -> pd.DataFrame:
        """(n, rows) log p(x_j|for)/p(x_j|against) by row name: they add up to the log-odds. ±inf where one side is
        impossible, 0 where both are."""
        return pd.DataFrame(self.differences(for_, against), columns=[row.name for row, _ in self.rows])

    def differences(self, for_: Any, against: Any) -> Array:
        """(n, rows) the numbers of `contributions`, in the order of the rows.

        >>> Ledger(((JOINT, np.log([[0.3, 0.1]])),), ("ill", "well"), np.zeros(1)).differences("ill", "well").round(4)
        array([[1.0986]])
        """
        i, j = (class_position(label, self.classes) for label in (for_, against))
        with np.errstate(invalid="ignore"):
            terms = np.stack([term[:, i] - term[:, j] for _, term in self.rows], axis=1)
        return np.nan_to_num(terms, nan=0.0, posinf=np.inf, neginf=-np.inf)

    def by_variable(self) -> Ledger:
        """The same ledger with one row for each child variable."""
        merged: dict[tuple[str, bool, bool], tuple[Row, Array]] = {}
        for row, term in self.rows:
            key = (row.child, row.kind == "prior", row == CALIBRATION)
            merged[key] = (merged[key][0], merged[key][1] + term) if key in merged else (row, term)
        return replace(self, rows=tuple(merged.values()))

    def summed(self) -> Ledger:
        """The same posteriors from one row, the joint but for what all classes share: what is kept of many cases."""
        return replace(self, rows=((JOINT, self.apart()),))

    def at_prior(self, model: Mapping[Any, float] | Array, use: Mapping[Any, float] | None) -> Ledger:
        """The ledger with one more row, log π_use(c) − log π_model(c): the prior of use. None is the model's own.
        `model` is by label, or (C,).

        Raises ParameterError where the model's prior of a class is 0 and the prior of use is not, or `use` is no prior.

        >>> ledger = Ledger(((JOINT, np.log([[0.3, 0.1]])),), ("ill", "well"), np.zeros(1, dtype=np.int8))
        >>> ledger.at_prior({"ill": 0.5, "well": 0.5}, {"ill": 0.1, "well": 0.9}).posterior().round(4).tolist()
        [[0.25, 0.75]]
        """
        if use is None:
            return self
        own = model if isinstance(model, np.ndarray) else [model[c] for c in self.classes]
        shift = prior_shift(own, given_prior(use, self.classes))
        row = Row("prior of use", "prior of use", (), "constant")
        moved = replace(self, rows=(*self.rows, (row, np.broadcast_to(shift, self.rows[0][1].shape))))
        nowhere = (self.status == Status.OK) & np.isneginf(moved.joint()).all(axis=1)
        return replace(moved, status=np.where(nowhere, Status.IMPOSSIBLE, self.status).astype(np.int8))


def _total(terms: Sequence[Array]) -> Array:
    """(n, C) their sum, one after the other, class by class in memory as they are."""
    total = np.array(terms[0], order="K")
    for term in terms[1:]:
        total += term
    return total


def class_position(label: Any, classes: Sequence[Any]) -> int:
    """Where a class stands. Raises ParameterError where there is none of that label."""
    if label not in classes:
        raise ParameterError(
            "there is no class '{label}'; the classes are {classes}",
            label=str(label),
            classes=", ".join(map(str, classes)),
        )
    return classes.index(label)


def prior_shift(model: Any, use: Any) -> Array:
    """(C,) log π_use − log π_model, in nats. Raises ParameterError where a class the model excludes is wanted.

    >>> prior_shift([0.5, 0.5], [0.2, 0.8]).round(4).tolist()
    [-0.9163, 0.47]
    """
    model, use = np.asarray(model, dtype=float), np.asarray(use, dtype=float)
    if ((model == 0) & (use > 0)).any():
        raise ParameterError("the model gives a class the prior 0; no prior of use can bring it back")
    return np.where(model > 0, log(use) - log(np.where(model > 0, model, 1.0)), 0.0)
