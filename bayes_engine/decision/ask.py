"""What to ask next: by how much the answer to a question is expected to lower the risk, less what asking costs.

V_j = min_a R(a | x) − E_{x_j | x}[min_a R(a | x, x_j)] − cost_j, with R(a | x) = Σ_c λ_ac P(c | x) (Howard 1966,
Information value theory). x is what is known of the case; all other cells are integrated out. The rule is myopic: it
prices one question at a time, so two questions that pay only together are not found.

The answers are weighed by the model's own P(c, x_j | x), and what is believed before the question is their sum over
x_j. That is P(c | x) where a model is one distribution; AODE, which takes in a super-parent with each answer, is not
quite one, and so no question is ever worth less than nothing but its cost.

A text is no question, for nobody can list the answers: where it is not known it stays so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from bayes_engine.decision.answer_distributions import LevelAnswers, Outcome, shares
from bayes_engine.decision.case import Case, Model, case_of, ledger_of, never_asked
from bayes_engine.decision.loss import TIE, Decision, LossMatrix, decide_ledger
from bayes_engine.errors import ParameterError
from bayes_engine.ledger import Status
from bayes_engine.logspace import Array
from bayes_engine.table.dataframes import as_frame

MOST_CASES = 2_000
"""Up to this many joint answers to all questions are enumerated."""


class Question(NamedTuple):
    """A feature that is not known: `gain`, by how much its answer is expected to lower the risk; what asking `cost`s;
    `information`, by how many nats it is expected to lower the entropy of the class; `error`, up to which the gain is
    known: 0 where it is exact."""

    feature: str
    gain: float
    cost: float
    information: float
    error: float = 0.0

    @property
    def value(self) -> float:
        """V_j, the gain less the cost."""
        return self.gain - self.cost


@dataclass(frozen=True)
class Inquiry:
    """A case that is known in part: what would be decided now, and every open question, the most valuable first.

    `posterior` (C,) in the order of `classes`; `perfect` is what knowing the true class would be worth, more than any
    questions can be; `tolerance` is the difference of values that counts as a tie, which goes by name.

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = pd.DataFrame({"spots": ["yes", "yes", "no", "no"], "age": ["old", "new", "old", "new"]})
    >>> model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"])
    >>> inquiry = ask(model, pd.DataFrame({"spots": [None], "age": [None]}))
    >>> inquiry.risk, inquiry.best.feature, inquiry.perfect
    (0.5, 'spots', 0.5)
    """

    classes: tuple[Any, ...]
    posterior: Array
    decision: Decision
    questions: tuple[Question, ...]
    perfect: float
    tolerance: float

    @property
    def risk(self) -> float:
        """min_a R(a | x)."""
        return float(self.decision.risk[0])

    @property
    def defined(self) -> bool:
        """Whether there is a posterior at all."""
        return bool(self.decision.status[0] == Status.OK)

    @property
    def best(self) -> Question | None:
        """The next question; None where no question pays, max_j V_j ≤ 0: decide."""
        first = self.questions[0] if self.questions else None
        return first if first is not None and first.value > self.tolerance else None


class AskedQuestion(NamedTuple):
    """A question that was asked of a full row, and its answer."""

    question: Question
    answer: Any


@dataclass(frozen=True)
class Interview:
    """The questions that were asked before none paid any more, and how the case stood then."""

    steps: tuple[AskedQuestion, ...]
    end: Inquiry

    @property
    def paid(self) -> float:
        """What the questions cost together."""
        return math.fsum(step.question.cost for step in self.steps)


def ask(
    model: Model,
    X: Any,
    loss: Any = None,
    *,
    costs: float | Mapping[str, float] = 0.0,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: float | None = None,
) -> Inquiry:
    """The value of every open question for X, one row whose missing cells are what may be asked.

    `loss` is as `LossMatrix.from_any` takes it, refusal rows included; `amount` is the case's own, where amounts
    multiply losses (`LossMatrix.at_amount`); `costs`, in their units, are one number or a number a feature, 0 for the
    rest. Gains are exact for discrete features, for Gaussian ones and for kernel densities; for counts they are sums
    over 0, 1, 2, … that leave out less than 10⁻¹⁹ of the probability; else by quadrature with its `error`. A text is
    never asked.

    Raises ParameterError where X is not one row, a cost is no finite number, or the model counts terms; LossError where
    the loss speaks of other classes, or the amount is negative or no number.

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = pd.DataFrame({"spots": ["yes", "yes", "no", "no"], "age": ["old", "new", "old", "new"]})
    >>> model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"])
    >>> found = ask(model, pd.DataFrame({"spots": [None], "age": [None]}), costs=0.1)
    >>> [(q.feature, round(q.gain, 4), round(q.value, 4)) for q in found.questions]
    [('spots', 0.25, 0.15), ('age', 0.0, -0.1)]
    """
    return _inquiry(case_of(model, X, prior_of_use), _losses(model, loss, amount), costs)


def outcomes(
    model: Model,
    X: Any,
    feature: str,
    loss: Any = None,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: float | None = None,
) -> tuple[Outcome, ...]:
    """What each answer to one question would lead to: every level of a discrete feature, and the intervals between the
    numbers at which the decision changes. Raises what `ask` raises, and ParameterError on a feature that is known."""
    case, losses = case_of(model, X, prior_of_use), _losses(model, loss, amount)
    if feature not in case.open:
        raise ParameterError("'{column}' cannot be asked: it is known already, or no feature", column=feature)
    answers = dict(case.answers([feature]))[feature]
    return tuple(answers.outcomes(losses))


def interview(
    model: Model,
    X: Any,
    loss: Any = None,
    *,
    costs: float | Mapping[str, float] = 0.0,
    prior_of_use: Mapping[Any, float] | None = None,
    most: int | None = None,
    amount: float | None = None,
) -> Interview:
    """Ask a full row X, from nothing known but what is never asked (texts, columns of one multinomial), the best
    question each time until none pays (or `most` were asked). A cell that is missing in X cannot be answered and is
    passed over. Raises what `ask` raises.

    >>> import pandas as pd
    >>> from bayes_engine.models.naive_bayes import NaiveBayes
    >>> X = pd.DataFrame({"spots": ["yes", "yes", "no", "no"], "age": ["old", "new", "old", "new"]})
    >>> model = NaiveBayes().fit(X, ["ill", "ill", "well", "well"])
    >>> talk = interview(model, X.iloc[[2]], costs=0.1)
    >>> [(s.question.feature, s.answer) for s in talk.steps], talk.end.decision.action[0], talk.paid
    ([('spots', 'no')], 'well', 0.1)
    """
    full, losses = case_of(model, X, prior_of_use), _losses(model, loss, amount)
    known = [name for name in full.known if never_asked(full.schema[name])]
    steps: list[AskedQuestion] = []
    while True:
        inquiry = _inquiry(replace(full, known=frozenset(known)), losses, costs)
        inquiry = replace(inquiry, questions=tuple(q for q in inquiry.questions if q.feature in full.known))
        best = inquiry.best
        if best is None or len(steps) == most:
            return Interview(tuple(steps), inquiry)
        steps.append(AskedQuestion(best, full.row[best.feature].iloc[0]))
        known.append(best.feature)


def decision_now(
    model: Model,
    X: Any,
    loss: Any = None,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: float | None = None,
) -> Decision:
    """What would be decided of each of the rows X (n, d) as it stands, with every missing cell integrated out, also by
    a model that reads a missing cell as a level of its own or refuses it. Raises LossError as `ask`."""
    frame, losses = as_frame(X), _losses(model, loss, amount)
    known = [frozenset(frame.columns[there]) for there in frame.notna().to_numpy()]
    return decide_ledger(ledger_of(model, frame, known, prior_of_use), losses)


def value_of_everything(
    model: Model,
    X: Any,
    loss: Any = None,
    *,
    prior_of_use: Mapping[Any, float] | None = None,
    amount: float | None = None,
) -> float | None:
    """What the answers to all open questions together are expected to lower the risk by, by enumeration; None where an
    open question is a number, or there are more than 2,000 joint answers. Raises what `ask` raises."""
    case, losses = case_of(model, X, prior_of_use), _losses(model, loss, amount)
    sizes = [len(model.schema_[name].levels) for name in case.open]
    if any(model.schema_[name].numeric for name in case.open) or math.prod(sizes) > MOST_CASES:
        return None
    cells = [dict(zip(case.open, places, strict=True)) for places in product(*map(range, sizes))]
    joint = case.ledger(cells).joint()
    return max(LevelAnswers(shares(joint), tuple(range(len(cells)))).gain(losses.table)[0], 0.0)


def _losses(model: Model, loss: Any, amount: float | None) -> LossMatrix:
    """The losses of the case: for its amount, where it has one."""
    losses = LossMatrix.from_any(loss, model.classes_.tolist())
    return losses if amount is None else losses.at_amount(amount)


def _inquiry(case: Case, losses: LossMatrix, costs: float | Mapping[str, float]) -> Inquiry:
    ledger = case.ledger([{}])
    decision = decide_ledger(ledger, losses)
    posterior = ledger.posterior()[0]
    perfect = tolerance = 0.0
    questions: list[Question] = []
    if decision.position[0] >= 0:
        # what a risk is a sum of, before an answer and (at most, since it is no dearer) after it
        gains = float(posterior @ np.maximum(-losses.table.min(axis=0), 0.0))
        tolerance = 2.0 * TIE * (float(losses.magnitude(posterior)[decision.position[0]]) + gains)
        perfect = max(float(decision.risk[0] - posterior @ losses.table.min(axis=0)), 0.0)
        for name, answers in case.answers(case.open):
            gain, error = answers.gain(losses.table)
            questions.append(Question(name, max(gain, 0.0), _cost(costs, name), max(answers.information(), 0.0), error))
    return Inquiry(ledger.classes, posterior, decision, _ranked(questions, tolerance), perfect, tolerance)


def _cost(costs: float | Mapping[str, float], name: str) -> float:
    cost = float(costs.get(name, 0.0) if isinstance(costs, Mapping) else costs)
    if not math.isfinite(cost):
        raise ParameterError("asking '{column}' costs {cost}, which is no finite number", column=name, cost=str(cost))
    return cost


def _ranked(questions: list[Question], tolerance: float) -> tuple[Question, ...]:
    """The most valuable first; those within the tolerance of the first of them by name."""
    left, ranked = sorted(questions, key=lambda q: -q.value), []
    while left:
        tied = [q for q in left if q.value >= left[0].value - tolerance]
        ranked += sorted(tied, key=lambda q: q.feature)
        left = left[len(tied) :]
    return tuple(ranked)
