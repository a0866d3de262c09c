"""A sheet on decision: the posterior from priors and densities, the expected loss of each action, the decision, and the
loss at which it changes (Zhou, eq. 7.1–7.6; MISSION's λ_ij is the loss of action i where class j is true)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import TableError
from bayes_engine.language import Message, _
from bayes_engine.logspace import Array
from bayes_engine.workbench.exercises.sheet import Asked, Choice, Drawn, ExerciseSheet, Part, Short, blanks

CLASSES = 3
"""At most so many classes: as many as one works out by hand."""
TRIES = 200
NO_PRIOR = Message("That is what the densities alone give: multiply each by its class's prior.")
NOT_NORMALIZED = Message("That is what the joints give: divide them by their sum first, they are no posterior yet.")
INVERTED = Message("λ is read the other way round: λᵢⱼ is the loss of action i (row) where class j (column) is true.")
POSTERIOR = Message("Multiply each class's prior by its density; divide by the sum of these products over the classes.")
RISK = Message("Multiply each loss λ in the action's row by the posterior of its column; add up.")
LEAST = Message("Take the action with the least expected loss.")
MOST_PROBABLE = Message("That is the most probable class. The decision is the action with the least expected loss.")
FLIP = Message(
    "Let this λ be unknown: the expected loss of the decided action grows with it along a straight line. Solve for "
    "where it reaches the least expected loss of the other actions."
)


def expected_losses(drawn: Drawn) -> ExerciseSheet:
    """The sheet with this number. Raises TableError where the table has one class alone."""
    classes = drawn.classes[:CLASSES]
    if len(classes) < 2:
        raise TableError("an exercise on decisions needs a target with two classes or more")
    rng, refuse = drawn.rng(), _("refuse")
    while refuse in classes:
        refuse += "′"
    for attempt in range(TRIES + 1):
        prior, density, loss = (_numbers if attempt < TRIES else _surely)(rng, classes, refuse)
        posterior = prior * density / (prior @ density)
        decided = int(loss.risk(posterior[None])[0].argmin())
        truth = _flipping(loss, posterior, decided)
        if truth is not None:
            break
    assert truth is not None  # every other draw has a flip margin, and the last one has it by construction

    def solve(short: Short, slip: str) -> Mapping[str, float]:
        joint = np.array([short(float(p)) for p in (density if slip == "prior" else prior * density)])
        total = short(float(joint.sum()))
        shares = np.array([short(float(p / total)) for p in joint])
        weights = joint if slip == "normalized" else shares
        table = loss.table.copy()
        if slip == "inverted":
            table[: len(classes)] = table[: len(classes)].T
        risks = [short(float(row @ weights)) for row in table]
        rest = min(risk for i, risk in enumerate(risks) if i != decided)
        without = float(np.delete(table[decided], truth) @ np.delete(weights, truth))
        numbers = {f"p{k}": float(share) for k, share in enumerate(shares)}
        numbers |= {f"r{i}": risk for i, risk in enumerate(risks)}
        return numbers | {"flip": (rest - without) / float(weights[truth])}

    slips = [("prior", NO_PRIOR), ("normalized", NOT_NORMALIZED), ("inverted", INVERTED)]
    posteriors = {f"p{k}": (Message("P({name} | x)", {"name": name}), POSTERIOR) for k, name in enumerate(classes)}
    risks = {f"r{i}": (Message("R({name} | x)", {"name": name}), RISK) for i, name in enumerate(loss.actions)}
    wrong = {int(posterior.argmax()): MOST_PROBABLE}
    decision = Choice("decision", Message("Decision"), tuple(map(str, loss.actions)), decided, LEAST, wrong)
    words = {"action": classes[decided] if decided < len(classes) else refuse, "truth": classes[truth]}
    flip = {"flip": (Message("λ({action}, {truth}) at which the decision changes", words), FLIP)}
    given = pd.DataFrame({"P(c)": prior, "p(x | c)": density}, index=pd.Index(classes, name="c"))
    losses = pd.DataFrame(loss.table.astype(int), index=pd.Index(loss.actions), columns=list(classes))
    asked: tuple[Asked, ...] = (*blanks(solve, risks, slips), decision)
    return ExerciseSheet(
        Message("Decide case x: posterior, expected loss of each action, decision, and how far λ is from changing it."),
        (
            (Message("Prior and density of each class at x"), given),
            (Message("Loss λ: rows decide, columns are true"), losses),
        ),
        (
            Part(Message("Posterior"), blanks(solve, posteriors, slips[:1])),
            Part(Message("Expected loss and decision"), asked),
            Part(Message("Flip margin"), blanks(solve, flip, slips)),
        ),
    )


def _numbers(rng: np.random.Generator, classes: tuple[str, ...], refuse: str) -> tuple[Array, Array, LossMatrix]:
    """Priors in hundredths that sum to 1, densities of two digits, and whole losses with a refusal."""
    k = len(classes)
    hundredths = rng.multinomial(100 - 10 * k, np.full(k, 1 / k)) + 10
    density = rng.integers(5, 95, size=k) / 100
    losses = rng.integers(1, 13, size=(k, k)).astype(float)
    np.fill_diagonal(losses, 0.0)
    return (
        hundredths / 100,
        density,
        LossMatrix(classes, classes, losses).with_refusal(float(rng.integers(1, 6)), refuse),
    )


def _surely(rng: np.random.Generator, classes: tuple[str, ...], refuse: str) -> tuple[Array, Array, LossMatrix]:
    """Numbers of the same kind that always have a flip margin below 60. The most probable class a, P(a | x) ≥ 1/3, is
    decided: its losses are 1, so its risk is below 2/3, that of a refusal 1, and that of another action at least
    4 P(a | x) > 1. With densities from 0.3 to 0.9 and priors of 0.1 or more the second class has P ≥ 0.03: its loss
    reaches a refusal's by 1 / 0.03."""
    prior, _density, drawn = _numbers(rng, classes, refuse)
    density = rng.integers(30, 91, size=len(classes)) / 100
    likeliest = int((prior * density).argmax())
    losses = drawn.table[: len(classes)].copy()
    losses[:, likeliest] = np.maximum(losses[:, likeliest], 4.0)
    losses[likeliest] = 1.0
    np.fill_diagonal(losses, 0.0)
    return prior, density, LossMatrix(classes, classes, losses).with_refusal(1.0, refuse)


def _flipping(loss: LossMatrix, posterior: Array, decided: int) -> int | None:
    """The true class whose loss under the decided action has a margin above it; None where the decision is tied, or a
    refusal, or no one loss changes it soon."""
    if decided >= len(loss.classes):
        return None
    margins = loss.flip_margins(posterior)
    action = loss.actions[decided]
    ends = {k: margins.losses[action, c].high for k, c in enumerate(loss.classes) if c != action}
    soon = {k: end for k, end in ends.items() if np.isfinite(end) and end < 60}
    return None if margins.tied or not soon else min(soon, key=lambda k: soon[k])
