"""How a calibrator makes a probability of each class's score, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_engine.ledger import CALIBRATION, Ledger
from bayes_engine.logspace import exp, log_normalize
from bayes_engine.models.calibrated import CalibratedClassifier, Platt, Temperature, against_rest


@dataclass(frozen=True)
class MapStep:
    """One class: how far it is `ahead` of the rest before calibration, in nats, and the probability `q` that the map
    gives it alone; of Platt's line the `slope` and the `shift`."""

    label: Any
    ahead: float
    q: float
    slope: float | None = None
    shift: float | None = None


def map_steps(model: CalibratedClassifier, ledger: Ledger) -> tuple[MapStep, ...]:
    """The steps of the first row of a calibrated model's ledger: of two classes that of the second, of more one each
    before they are divided by their sum; none under a temperature, which is one division.

    >>> from bayes_engine import NaiveBayes
    >>> model = CalibratedClassifier(NaiveBayes(), method="platt").fit([[1.0], [2.0], [2.2], [2.1], [4.0], [5.0]],
    ...                                                              list("aababb"))
    >>> (step,) = map_steps(model, model.explain([[3.0]]))
    >>> bool(np.isclose(step.q, model.predict_proba([[3.0]])[0, 1]))
    True
    """
    made = model.calibrator_
    if isinstance(made, Temperature):
        return ()
    place = next(i for i, (row, _term) in enumerate(ledger.rows) if row == CALIBRATION)
    scores = np.sum([term[:1] for _row, term in ledger.rows[:place]], axis=0)
    ahead, q = against_rest(scores)[0], exp(made.alone(log_normalize(scores)))[0]
    labels = ledger.classes[1:] if len(ledger.classes) == 2 else ledger.classes
    lines = zip(made.slope.tolist(), made.shift.tolist(), strict=True) if isinstance(made, Platt) else None
    of = list(lines) if lines is not None else [(None, None)] * len(labels)
    return tuple(
        MapStep(label, float(a), float(p), *line) for label, a, p, line in zip(labels, ahead, q, of, strict=True)
    )
