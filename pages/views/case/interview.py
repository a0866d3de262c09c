"""How far an interview about a case has come: what was known before, what was asked and answered, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from bayes_engine.decision.ask import Inquiry, ask, decision_now
from bayes_engine.decision.loss import Decision, LossMatrix
from bayes_engine.table.schema import Variable
from pages import active
from pages.runtime import view_keys as keys
from pages.runtime.state import State, current
from pages.views.case.editor import CaseInUse

Answers = tuple[tuple[int, Any], ...]
"""The answers, in order: the feature's position, and a level's position, a number, or None for «don't know»."""


@dataclass(frozen=True)
class Interview:
    """How far the interview has come: `given` are the cells known before the first question, `answers` those since."""

    one: CaseInUse
    loss: LossMatrix
    costs: Mapping[str, float]
    given: Mapping[str, Any]
    answers: Answers

    @property
    def features(self) -> tuple[Variable, ...]:
        """What can be asked."""
        return self.one.table.features.variables

    def known(self, steps: int) -> dict[str, Any]:
        """The cells after so many answers; None for what is not known."""
        answers = {self.features[j].name: value_of_code(self.features[j], code) for j, code in self.answers[:steps]}
        return {v.name: None for v in self.features} | dict(self.given) | answers

    def inquiry(self, steps: int) -> Inquiry:
        """The value of every question after so many answers; what someone did not know is not asked again."""
        prior = active.prior_of_use(self.one.table)
        case = active.case_frame(self.one.table, self.known(steps))
        ranked = ask(self.one.model, case, self.loss, costs=self.costs, prior_of_use=prior)
        asked = {self.features[j].name for j, _code in self.answers[:steps]}
        return replace(ranked, questions=tuple(q for q in ranked.questions if q.feature not in asked))

    def decisions(self) -> Decision:
        """What would be decided after each of the answers."""
        table, steps = self.one.table, range(1, len(self.answers) + 1)
        cases = pd.concat([active.case_frame(table, self.known(k)) for k in steps], ignore_index=True)
        return decision_now(self.one.model, cases, self.loss, prior_of_use=active.prior_of_use(table))

    @property
    def paid(self) -> float:
        """What the questions have cost so far."""
        return math.fsum(self.costs[self.features[j].name] for j, _code in self.answers)


def interview_in_use(one: CaseInUse) -> Interview:
    """What the state says of the interview; an answer that this table does not have is left out (a forged link)."""
    state, features = current(), one.table.features.variables
    answers = {j: code for j, code in state.seen(keys.TOLD) if j < len(features) and _is_answer(features[j], code)}
    given = {name: value for name, value in one.values.items() if state.seen(keys.ASK_FROM) == "case"}
    asked = {features[j].name for j in answers}
    given = {name: value for name, value in given.items() if value is not None and name not in asked}
    return Interview(one, active.case_losses(one.table), _costs(state, features), given, tuple(answers.items()))


def _is_answer(feature: Variable, code: Any) -> bool:
    if feature.discrete:
        return code is None or (type(code) is int and 0 <= code < len(feature.levels))
    return code is None or type(code) in (int, float)


def value_of_code(variable: Variable, code: Any) -> Any:
    """The cell that an answer stands for: a level, a number, or None."""
    return code if code is None or not variable.discrete else variable.levels[code]


def _costs(state: State, features: Sequence[Variable]) -> dict[str, float]:
    """What each question costs: its own price, else the one for all."""
    costs, usual = state.seen(keys.ASK_COSTS), state.seen(keys.ASK_COST)
    own = dict(costs)
    return {v.name: float(own.get(j, usual)) for j, v in enumerate(features)}


def answering(j: int, code: Any) -> Callable[[State], State]:
    """The edit of the state that answers the question of feature `j`."""
    return lambda state: with_answers(state, (*state.seen(keys.TOLD), (j, code)))


def with_answers(state: State, answers: tuple[Any, ...]) -> State:
    """Other answers; the next question is the best one again."""
    return state.showing(keys.TOLD.to(answers), keys.ASK_ABOUT.to(-1))


def answered_by_row(state: State, talk: Interview, n: int, most: int) -> State:
    """The state after up to `most` of the best questions were put to row `n`."""
    cells = active.case_codes(talk.one.table, active.row_values(talk.one.table, n), n)
    names = [v.name for v in talk.features]
    for _k in range(most):
        best = talk.inquiry(len(talk.answers)).best
        if best is None:
            break
        j = names.index(best.feature)
        talk = replace(talk, answers=(*talk.answers, (j, cells[j])))
    return with_answers(state, talk.answers)
