"""A derivation as data: lines of symbols, the same lines with the numbers of the present case, a sentence of reason,
and two numbers that each line says are equal; and how numbers, vectors and matrices are written in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from bayes_engine.language import Message
from bayes_engine.logspace import Array
from bayes_engine.numerals import count, number
from bayes_engine.workbench.derivation.latex import power, tex

ROUNDING = 1e-12
"""Two sides that differ by less than this share of what they are computed from are equal."""
MOST_TERMS = 4
"""So many terms of a sum are written; three dots stand for further ones."""
MOST_NAME = 10
"""So many characters of a label stand in a formula."""

TITLES: Mapping[str, Message] = MappingProxyType({
    "prior": Message("Class prior by Lagrange"),
    "gaussian": Message("Mean and covariance"),
    "laplace": Message("Laplace as a posterior mean"),
    "scatter": Message("Total scatter = within + between"),
    "ratio-trace": Message("Ratio-trace"),
    "trace-ratio": Message("Trace-ratio by iteration"),
    "fisher-lda": Message("Fisher = LDA"),
    "boundary": Message("The boundary wᵀx + b"),
    "em": Message("EM's bound"),
    "gibbs": Message("Why Gibbs keeps P(·|e)"),
    "mdl": Message("MDL: two code lengths"),
})  # fmt: skip
"""Every derivation by the name that an address has for it, in the order of the chapter, and how it is called."""


@dataclass(frozen=True, eq=False)
class Check:
    """What a line claims of the present case: `left` = `right`, or `left` ≤ `right`, arrays of one shape. `scale` is
    the size of what they are computed from, times the condition of what was inverted on the way.

    >>> Check(np.array([0.1 + 0.2]), np.array([0.3])).holds, Check(np.array([1.0]), np.array([2.0])).holds
    (True, False)
    """

    left: Array
    right: Array
    scale: float = 1.0
    at_most: bool = False

    @property
    def difference(self) -> float:
        """By how much the claim fails at most; NaN where a side is no number."""
        apart = np.subtract(self.left, self.right)
        return float((np.maximum(apart, 0.0) if self.at_most else np.abs(apart)).max(initial=0.0))

    @property
    def holds(self) -> bool:
        """Whether it holds, but for rounding."""
        return self.difference <= ROUNDING * max(self.scale, 1e-300)


@dataclass(frozen=True, eq=False)
class Line:
    """One line: formulas in `symbols`, the same with `numbers`, each on a row of its own, in LaTeX; why it follows from
    the lines before; and what is checked of it."""

    symbols: tuple[str, ...]
    numbers: tuple[str, ...]
    reason: Message
    check: Check


@dataclass(frozen=True, eq=False)
class Chain:
    """A derivation of the present case: its `name` in TITLES, what the `subject` is, the `lines`, and the number of its
    result in Zhou's book where that is certain."""

    name: str
    subject: Message
    lines: tuple[Line, ...]
    equation: str = ""


def checked(left: Any, right: Any, scale: Any = 1.0, *, at_most: bool = False) -> Check:
    """A check of numbers or arrays; `scale` may be numbers of which the largest counts."""
    size = float(np.abs(np.asarray(scale, dtype=float)).max(initial=0.0))
    return Check(np.asarray(left, dtype=float), np.asarray(right, dtype=float), size, at_most)


# how it is written ----------------------------------------------------------------------------------------------------


def value(v: Any, of: float = 0.0) -> str:
    """A number; one that is only rounding, beside numbers of the size `of`, is 0.

    >>> value(0.375), value(-6.8584e-05), value(1e-17, of=1.0)
    ('0.3750', '-6.858 \\\\times 10^{-5}', '0')
    """
    v = float(v)
    return power(number(0.0 if abs(v) <= ROUNDING * of else v)).replace("–", r"\text{–}")


def counted(v: Any) -> str:
    """A count, or a weight of rows, without needless zeros."""
    v = float(v)
    return count(v) if v == round(v) or abs(v) < 1e-4 else f"{v:.6g}"


def fraction(above: float, below: float) -> str:
    """Two numbers as a fraction."""
    return rf"\frac{{{value(above)}}}{{{value(below)}}}"


def vector(v: Any, of: float = 0.0) -> str:
    """A column of numbers."""
    return r"\begin{pmatrix}" + r"\\".join(value(x, of) for x in np.ravel(v)) + r"\end{pmatrix}"


def matrix(m: Any, of: float = 0.0) -> str:
    """A matrix of numbers; what is rounding beside its largest entry, or beside `of`, is 0.

    >>> matrix([[1.0, 1e-17], [0.0, 2.0]])
    '\\\\begin{pmatrix}1.0000&0\\\\\\\\0&2.0000\\\\end{pmatrix}'
    """
    rows = np.atleast_2d(np.asarray(m, dtype=float))
    of = max(of, float(np.abs(rows).max(initial=0.0)))
    return r"\begin{pmatrix}" + r"\\".join("&".join(value(x, of) for x in row) for row in rows) + r"\end{pmatrix}"


def plus(terms: Iterable[str], most: int = MOST_TERMS) -> str:
    """A sum, a minus sign taking the place of its plus; of many terms the first ones.

    >>> plus(["1", "-2", "3"]), plus("abcdefg", most=2)
    ('1-2+3', 'a+b+\\\\cdots')
    """
    kept = list(terms)
    kept = [*kept[:most], r"\cdots"] if len(kept) > most + 1 else kept
    return "+".join(kept).replace("+-", "-")


def listed(formulas: Sequence[str], most: int = MOST_TERMS) -> tuple[str, ...]:
    """Formulas of one kind on rows of their own; of many the first ones."""
    return (*formulas[:most], r"\vdots") if len(formulas) > most + 1 else tuple(formulas)


def label(text: Any) -> str:
    """A label of the data in a formula, cut where it is long."""
    name = str(text)
    return tex(name if len(name) <= MOST_NAME else name[: MOST_NAME - 1] + "…")
