"""What a class answers to the question that its teacher asks: in this process, and nowhere else.

One question is open at a time. A visitor's last answer before the reveal counts; kept is a number for each, under a
digest of the session that nobody can turn back, and the next question, or the end of the process, takes it away.
"""

from __future__ import annotations

import math
import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from hmac import compare_digest
from typing import NamedTuple

from bayes_engine.workbench.lessons.lesson_format import Lesson

MOST = 500
"""Answers to a question at most: a large lecture, and no more however many sessions somebody opens."""
BINS = 10
"""Bars of a histogram of numbers."""
SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Of a key: none of them looks like another one."""


@dataclass(frozen=True)
class ClassQuestion:
    """A question that is open to the class: the lesson and the state that ask it, the text of the list that the lesson
    is of ("": the chapter's), how many options it has (0: a number), the limits of the numbers, whether its histogram
    is on the teacher's screen, and whether the answer is `revealed`."""

    serial: int
    lesson: Lesson
    token: str
    lessons: str
    options: int
    limits: tuple[float, float]
    shown: bool = False
    revealed: bool = False


class AnswerBin(NamedTuple):
    """How many answers are from `low` to `high`; the first and the last hold those beyond as well."""

    low: float
    high: float
    n: int


class ClassAnswers:
    """The open question and its answers; callable from any thread."""

    def __init__(self) -> None:
        self._lock, self._salt = threading.Lock(), secrets.token_bytes(16)
        self._serial = 0
        self._question: ClassQuestion | None = None
        self._answers: dict[bytes, float] = {}
        self._key = b""

    def new_key(self) -> str:
        """A new key of the teacher: what opens the teacher's controls from now on.

        >>> answers = ClassAnswers()
        >>> answers.is_key(""), answers.is_key(answers.new_key())
        (False, True)
        """
        key = "-".join("".join(secrets.choice(SIGNS) for _sign in range(4)) for _group in range(3))
        self._key = self._digest(_plain(key))
        return key

    def is_key(self, text: str) -> bool:
        """Whether this is the teacher's key, however it is spaced; in a time that does not tell how near it came."""
        return compare_digest(self._digest(_plain(text[:100])), self._key) and bool(self._key)

    @property
    def question(self) -> ClassQuestion | None:
        """The open question."""
        return self._question

    def ask(self, lesson: Lesson, token: str, lessons: str, options: int, limits: tuple[float, float]) -> None:
        """Open a question; the answers to the one before are gone."""
        with self._lock:
            self._serial += 1
            self._question = ClassQuestion(self._serial, lesson, token, lessons, options, limits)
            self._answers = {}

    def ask_anew(self) -> None:
        """The same question once more, without the answers that it has."""
        if (open_ := self._question) is not None:
            self.ask(open_.lesson, open_.token, open_.lessons, open_.options, open_.limits)

    def end(self) -> None:
        """No question is open, and no answer kept."""
        with self._lock:
            self._question, self._answers = None, {}

    def show(self, shown: bool) -> None:
        """Show the histogram on the teacher's screen, or hide it."""
        with self._lock:
            if self._question is not None:
                self._question = replace(self._question, shown=shown)

    def reveal(self) -> None:
        """The answer is there for all, and no more answers are taken."""
        with self._lock:
            if self._question is not None:
                self._question = replace(self._question, revealed=True)

    def answer(self, serial: int, session: str, value: float) -> bool:
        """Take a visitor's answer to this question, in place of an earlier one; whether it was taken."""
        with self._lock:
            open_ = self._question
            if open_ is None or open_.serial != serial or open_.revealed or not math.isfinite(value):
                return False
            if open_.options and value not in range(open_.options):
                return False
            visitor = self._visitor(session)
            if visitor not in self._answers and len(self._answers) >= MOST:
                return False
            self._answers[visitor] = float(value)
            return True

    def given(self, session: str) -> float | None:
        """What this visitor has answered to the open question."""
        return self._answers.get(self._visitor(session))

    def count(self) -> int:
        """How many have answered."""
        return len(self._answers)

    def histogram(self) -> tuple[AnswerBin, ...]:
        """How often each option, or each range of numbers, was answered; () where no question is open."""
        with self._lock:
            open_, answers = self._question, list(self._answers.values())
        if open_ is None:
            return ()
        if open_.options:
            return tuple(AnswerBin(i, i, answers.count(i)) for i in range(open_.options))
        return histogram(answers, open_.limits)

    def _visitor(self, session: str) -> bytes:
        return self._digest(session)

    def _digest(self, text: str) -> bytes:
        return blake2b(text.encode(errors="replace"), key=self._salt, digest_size=16).digest()


CLASS = ClassAnswers()
"""Of this process: a classroom is one."""


def histogram(values: Sequence[float], limits: tuple[float, float], bins: int = BINS) -> tuple[AnswerBin, ...]:
    """How many of the values are in each of some ranges of equal width between two limits; an edge belongs to the range
    above it, and values beyond the limits to the first and the last.

    >>> [b.n for b in histogram([0.0, 0.1, 0.55, 1.0, 7.0], (0.0, 1.0), 4)]
    [2, 0, 1, 2]
    """
    low, high = limits
    width = (high - low) / bins
    counts = [0] * bins
    for value in values:
        counts[bin_of(value, limits, bins)] += 1
    return tuple(AnswerBin(low + i * width, low + (i + 1) * width, n) for i, n in enumerate(counts))


def bin_of(value: float, limits: tuple[float, float], bins: int = BINS) -> int:
    """The range that holds a value.

    >>> [bin_of(v, (0.0, 1.0)) for v in (-1.0, 0.0, 0.3, 0.95, 1.0, 1e300)]
    [0, 0, 3, 9, 9, 9]
    """
    low, high = limits
    place = (min(max(value, low), high) - low) / (high - low) * bins if high > low else 0.0
    return min(math.floor(place + 1e-9), bins - 1)


def shares(bins: Sequence[AnswerBin]) -> list[float]:
    """The height of each bar, of the highest.

    >>> shares([AnswerBin(0, 0, 1), AnswerBin(1, 1, 4)]), shares([AnswerBin(0, 0, 0)])
    ([0.25, 1.0], [0.0])
    """
    most = max((b.n for b in bins), default=0)
    return [b.n / most if most else 0.0 for b in bins]


def _plain(key: str) -> str:
    return "".join(key.upper().replace("-", " ").split())
