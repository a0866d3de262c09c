"""How the factors of a working are called: P(colour=green | good=yes), "class prior", "score"; in the language of the
context and with the labels of the screen."""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple, Protocol

import pandas as pd

from bayes_engine.factors import Row
from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.kernel import KernelEstimate
from bayes_engine.factors.sources import Power
from bayes_engine.inference.averaged import AVERAGE, SUPER_PARENT
from bayes_engine.inference.directed import HIDDEN_CELLS
from bayes_engine.language import _
from bayes_engine.numerals import plain
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.derive import Working, WorkingStep, bare


class DisplayNames(Protocol):
    """How columns, values and actions are called on screen."""

    def column(self, name: str) -> str: ...
    def level(self, column: str, value: Any) -> str: ...
    def action(self, action: Any) -> str: ...


class _AsInFile:
    def column(self, name: str) -> str:
        return name

    def level(self, column: str, value: Any) -> str:
        return str(value)

    def action(self, action: Any) -> str:
        return str(action)


AS_IN_FILE: DisplayNames = _AsInFile()
MOST_OF_TEXT = 80
"""So many characters of a text stand in the name of its factor."""


def shown(step: WorkingStep, names: DisplayNames = AS_IN_FILE) -> str:
    """The case's cell: a level by its name, a number without needless zeros, or the word for missing; of a column of
    intervals the number and the interval it lies in."""
    if step.value is None or pd.isna(step.value):
        return _("missing")
    if step.variable is not None and step.variable.cuts is not None:
        interval = step.value if len(step.variable.levels) > 1 else "∈ ℝ"
        return interval if step.raw is None else f"{_number(step.raw)} ({interval})"
    if step.row.kind == "log-density" or (step.variable is not None and step.variable.numeric):
        return _number(step.value)
    text = one_line(names.level(step.row.child, step.value))
    return _beginning(text) if step.variable is not None and step.variable.kind == "text" else text


def _beginning(text: str) -> str:
    return text if len(text) <= MOST_OF_TEXT else text[: MOST_OF_TEXT - 1] + "…"


def _number(value: Any) -> str:
    return f"{float(value):.10g}"


class Relation(NamedTuple):
    """A cell as it stands in a formula, colour = green or 0.38 < density ≤ 0.57, in parts."""

    before: str
    column: str
    sign: str
    after: str

    @property
    def text(self) -> str:
        return f"{self.column}={self.after}" if self.sign == "=" else self.spaced

    @property
    def spaced(self) -> str:
        """With room about the sign."""
        relation = f"{self.column} {self.sign} {self.after}" if self.sign else self.column
        return f"{self.before} < {relation}" if self.before else relation


def relation(variable: Variable, value: Any, names: DisplayNames, *, hidden: bool = False) -> Relation:
    """A cell of the case in a formula; of a column of intervals (a, b] the interval; `hidden` when summed over."""
    column = names.column(variable.name)
    if value is None or pd.isna(value):
        return Relation("", column, *(("", "") if hidden else ("=", _("missing"))))
    if variable.cuts is None:
        written = _number(value) if variable.numeric else one_line(names.level(variable.name, value))
        return Relation("", column, "=", _beginning(written) if variable.kind == "text" else written)
    place, last = variable.levels.index(value), len(variable.levels) - 1
    if last == 0:
        return Relation("", column, "∈", "ℝ")
    if place == 0:
        return Relation("", column, "≤", str(value).removeprefix("≤ "))
    if place == last:
        return Relation("", column, ">", str(value).removeprefix("> "))
    low, _dash, high = str(value).partition(" – ")
    return Relation(low, column, "≤", high)


def cell_of(step: WorkingStep, names: DisplayNames = AS_IN_FILE) -> Relation:
    """The case's own cell that a step speaks of."""
    variable = step.variable
    if variable is None:
        numeric = step.row.kind == "log-density"
        variable = Variable(step.row.child, "continuous" if numeric else "categorical")
    return relation(variable, step.value, names, hidden=step.row.kind == "expected")


def given_of(step: WorkingStep, names: DisplayNames = AS_IN_FILE) -> list[Relation]:
    """The cells of a step's parents besides the class."""
    return [relation(c.variable, c.value, names, hidden=step.row.kind == "expected") for c in step.given]


def name_of(step: WorkingStep, label: Any, target: str, names: DisplayNames = AS_IN_FILE) -> str:
    """P(colour=green | good=yes, root=curled), p(density=0.697 | good=yes), P(good=yes), P(good=yes, colour=green); of
    a class with parents P(good=yes | root=curled), of a column that the class is no parent of P(colour=green | …); the
    shift to the prior of use, or what a log term is."""
    of = f"{names.column(target)}{'≠' if step.complement else '='}{names.level(target, label)}"
    beyond = [r.text for r in given_of(step, names)]
    if step.row.kind == "prior" or step.alike:
        own = of if step.row.kind == "prior" else cell_of(step, names).text
        return f"P({own} | {', '.join(beyond)})" if beyond else f"P({own})"
    if step.joint:
        return f"P({of}, {cell_of(step, names).text})"
    word = row_word(step.row)
    if word:
        return f"{word} ({of})" if step.row.parents else word
    if step.row.kind == "expected":
        beyond += [_("super-parent")] if SUPER_PARENT in step.row.parents else []
        own = of if step.row.child == target else cell_of(step, names).text
        beyond = [*([of] if target in step.row.parents else []), *beyond]
        return f"E log P({own} | {', '.join(beyond)})" if beyond else f"E log P({own})"
    if not step.counted:
        return _("term of {cell} | {given}").format(cell=cell_of(step, names).text, given=", ".join([of, *beyond]))
    return f"{letter_of(step)}({cell_of(step, names).text} | {', '.join([of, *beyond])}){weight_mark(step)}"


def weight_mark(step: WorkingStep) -> str:
    """^0.5 after the name of a factor that is weighted."""
    source = step.sources[0]
    return f"^{plain(source.weight)}" if isinstance(source, Power) and not step.complement else ""


def joint_word(working: Working) -> str:
    """What the product of the factors is called: the joint, or with weights a score, which is the probability of
    nothing."""
    if working.complement:
        return _("e to the power of it")
    return _("score") if working.scores else _("joint")


def log_joint_word(working: Working) -> str:
    """What the sum of log terms is called."""
    if working.complement:
        return _("total score (nats)")
    return _("log score (nats)") if working.scores else _("log joint (nats)")


def evidence_word(working: Working) -> str:
    """What the sum over the classes is called: P(x), which a sum of scores is not."""
    if working.complement:
        return _("the sum of these")
    return _("sum of the scores") if working.scores else "P(x)"


def function_of(working: Working, step: WorkingStep) -> str:
    """What the number of a step is of its name: the log where terms add up, exp of an expectation that multiplies."""
    if working.additive:
        return "−log " if step.complement else "log " if step.counted else ""
    return "exp " if step.row.kind == "expected" else ""


def heading(working: Working, step: WorkingStep, k: int, names: DisplayNames = AS_IN_FILE) -> str:
    """The name of a factor of class k, or of its log where terms add up."""
    return function_of(working, step) + name_of(step, working.classes[k], working.target, names)


def title_of(step: WorkingStep, names: DisplayNames = AS_IN_FILE) -> str:
    """A factor whatever the class: colour = green, density = 0.4 (≤ 0.57), class prior, prior of use; of what no column
    has alone its word."""
    return row_word(step.row) or f"{names.column(step.row.child)} = {shown(step, names)}"


def given_title(step: WorkingStep, names: DisplayNames = AS_IN_FILE) -> str:
    """The title with what it is conditioned on besides the class: colour = green | root = curled."""
    beyond = ", ".join(r.spaced for r in given_of(step, names))
    return f"{title_of(step, names)} | {beyond}" if beyond else title_of(step, names)


def row_word(row: Row) -> str:
    """What a row of the ledger that is of no single column is called; "" for a column's."""
    if row.kind == "prior":
        return _("class prior")
    if row.child == row.name and row.kind not in ("constant", "entropy"):
        return ""
    words = {
        "prior of use": _("prior of use"),
        "calibration": _("calibration"),
        HIDDEN_CELLS: _("cells not known"),
        SUPER_PARENT: _("which super-parent"),
        AVERAGE: _("average"),
        "−½ (x−x̄)ᵀΣ⁻¹(x−x̄)": _("distance from the overall mean"),
        "−½ (x−μ)ᵀΣ⁻¹(x−μ)": _("distance from the class mean"),
        "−½ log det Σ": _("spread of the class"),
        "−½ log det Σ − (d/2) log 2π": _("constant term"),
        "−(d/2) log 2π": _("constant term"),
    }
    return words.get(row.name, "")


def where(step: WorkingStep, label: str, names: DisplayNames = AS_IN_FILE) -> str:
    """The class and the parents' cells, to follow `good = ` in a sentence: yes, root = curled."""
    return ", ".join([label, *(r.spaced for r in given_of(step, names))])


def one_line(text: Any) -> str:
    """Control, direction and zero-width characters become a space."""
    return "".join(" " if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} else c for c in str(text))


def letter_of(step: WorkingStep) -> str:
    dense = any(isinstance(s, Density | KernelEstimate) for s in bare(step).sources)
    return "p" if dense or step.row.kind == "log-density" else "P"
