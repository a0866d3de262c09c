"""One class against another: the terms of the log-odds, in nats, and where the losses draw the line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import ParameterError
from bayes_engine.ledger import Ledger
from bayes_engine.logspace import log


class EvidenceWeight(NamedTuple):
    """log p(x_j|for)/p(x_j|against) of one ledger row, by its `position` there (−1: `folded` rows together).

    `never` are those of the two classes whose factor is 0: the weight is ±inf, or 0 where it is both.
    """

    position: int
    nats: float
    never: tuple[Any, ...] = ()
    folded: int = 0


@dataclass(frozen=True)
class LogOddsTerms:
    """log P(for_|x)/P(against|x) as a sum of weights; `total` is None where both classes are impossible."""

    for_: Any
    against: Any
    weights: tuple[EvidenceWeight, ...]

    @property
    def total(self) -> float | None:
        never = {label for weight in self.weights for label in weight.never}
        if {self.for_, self.against} <= never:
            return None
        return float(sum(weight.nats for weight in self.weights))

    def by_size(self) -> LogOddsTerms:
        """Largest first."""
        return replace(self, weights=tuple(sorted(self.weights, key=lambda w: -abs(w.nats) - len(w.never))))

    def folded(self, most: int) -> LogOddsTerms:
        """At most `most` weights: the smallest become one, at the end; a weight of a class never seen stays."""
        if len(self.weights) <= most:
            return self
        largest = sorted(self.weights, key=lambda w: (not w.never, -abs(w.nats)))[: most - 1]
        kept = [w for w in self.weights if w in largest]
        rest = [w for w in self.weights if w not in largest]
        never = tuple({label: None for w in rest for label in w.never})
        return replace(self, weights=(*kept, EvidenceWeight(-1, float(sum(w.nats for w in rest)), never, len(rest))))


def log_odds_terms(ledger: Ledger, for_: Any, against: Any) -> LogOddsTerms:
    """The first row of the ledger as a balance of two of its classes. Raises ParameterError on an unknown class.

    >>> from bayes_engine.factors import Row
    >>> terms = (
    ...     (Row("play", "play", (), "prior"), log([[0.6, 0.4]])),
    ...     (Row("wind", "wind", ("play",), "log-probability"), log([[0.0, 0.75]])),
    ... )
    >>> balance = log_odds_terms(Ledger(terms, ("no", "yes"), np.zeros(1, dtype=np.int8)), "yes", "no")
    >>> [(round(w.nats, 4), w.never) for w in balance.weights], balance.total
    ([(-0.4055, ()), (inf, ('no',))], inf)
    """
    nats = ledger.differences(for_, against)[0].tolist()
    sides = [(label, ledger.classes.index(label)) for label in (for_, against)]
    never = [tuple(label for label, k in sides if np.isneginf(term[0, k])) for _row, term in ledger.rows]
    return LogOddsTerms(
        for_, against, tuple(EvidenceWeight(j, n, c) for j, (n, c) in enumerate(zip(nats, never, strict=True)))
    )


def odds_needed(loss: LossMatrix, for_: Any, against: Any) -> float | None:
    """log[(λ_ab − λ_bb)/(λ_ba − λ_aa)], a deciding `for_` and b `against`: the log-odds (nats) above which a is the
    cheaper of the two. None where there is no such line: one is never dearer than the other, or is no action. Raises
    ParameterError where the losses have no such class."""
    for label in (for_, against):
        if label not in loss.classes:
            raise ParameterError("there is no class '{label}' in the losses", label=str(label))
        if label not in loss.actions:
            return None
    rows = [loss.actions.index(c) for c in (for_, against)]
    (aa, ab), (ba, bb) = (loss.table[i, [loss.classes.index(c) for c in (for_, against)]].tolist() for i in rows)
    return float(log((ab - bb) / (ba - aa))) if ab > bb and ba > aa else None
