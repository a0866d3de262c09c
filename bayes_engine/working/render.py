"""The working as LaTeX, Markdown or plain text, in the language of the context and with the labels of the screen.

`digits` asks for so many significant digits of a factor; a joint and a posterior get two more. A working rounded by
hand (`Working.digits`) is printed as it was rounded.
"""

from __future__ import annotations

import unicodedata
from typing import Any, Protocol

import pandas as pd

from bayes_engine.language import _
from bayes_engine.numerals import DIGITS, certain, count, number_of_log, plain
from bayes_engine.working.derive import Density, Fraction, Given, Shift, Source, Step, Working, by_hand, variance_from


class Names(Protocol):
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


AS_IN_FILE: Names = _AsInFile()

# numbers --------------------------------------------------------------------------------------------------------


def hand(value: float, digits: int) -> str:
    """A number as `by_hand` rounds it.

    >>> hand(0.375, 3), hand(1.21518e-09, 3), hand(0.0, 3)
    ('0.375', '1.22e-09', '0')
    """
    if value == 0:
        return "0"
    return f"{by_hand(value, digits):.{digits}f}" if abs(value) >= 0.01 else f"{value:.{digits - 1}e}"


def factor(working: Working, step: Step, k: int, digits: int = DIGITS) -> str:
    """The value of a factor of class k."""
    if working.digits is not None:
        return hand(step.factors[k], working.digits)
    return number_of_log(step.log_factors[k], digits)


def joint(working: Working, k: int, digits: int = DIGITS) -> str:
    """p(c, x) of class k."""
    return number_of_log(working.log_joint[k], digits + 2)


def evidence(working: Working, digits: int = DIGITS) -> str:
    """P(x)."""
    return number_of_log(working.log_evidence, digits + 2)


def posterior(working: Working, k: int, digits: int = DIGITS) -> str:
    """P(c|x) of class k, never rounded to a certainty that it is not; a dash where there is none."""
    if working.position < 0:
        return "–"
    return certain(working.posterior[k], digits + 2)


def _moment(working: Working, value: float) -> str:
    return plain(value if working.digits is None else by_hand(value, working.digits))


# names ----------------------------------------------------------------------------------------------------------


def shown(step: Step, names: Names = AS_IN_FILE) -> str:
    """The case's cell: a level by its name, a number without needless zeros, or the word for missing."""
    if step.value is None or pd.isna(step.value):
        return _("missing")
    if step.row.kind == "log-density":
        return f"{float(step.value):.10g}"
    return names.level(step.row.child, step.value)


def name_of(step: Step, label: Any, target: str, names: Names = AS_IN_FILE) -> str:
    """P(colour=green | good=yes), p(density=0.697 | good=yes), P(good=yes), or the shift to the prior of use."""
    given = f"{names.column(target)}={names.level(target, label)}"
    if step.row.kind == "prior":
        return f"P({given})"
    if not step.row.parents:
        return _("prior of use")
    return f"{_letter(step)}({names.column(step.row.child)}={shown(step, names)} | {given})"


def title_of(step: Step, names: Names = AS_IN_FILE) -> str:
    """A factor whatever the class: colour = green, class prior, prior of use."""
    if step.row.kind == "prior":
        return _("class prior")
    if not step.row.parents:
        return _("prior of use")
    return f"{names.column(step.row.child)} = {shown(step, names)}"


def fraction(source: Source, digits: int | None = None) -> str:
    """Where a factor came from, in plain text: 3/8, (3+1)/(8+3), N(0.697; 0.57375, 0.129211²), 0.3/0.4706.

    >>> fraction(Fraction(3.0, 8.0, 1.0, 3)), fraction(Fraction(3.0, 8.0, 0.0, 3)), fraction(Shift(0.3, 8 / 17))
    ('(3+1)/(8+3)', '3/8', '0.3/0.470588')
    """
    if isinstance(source, Fraction):
        if source.added == 0:
            return f"{count(source.count)}/{count(source.total)}"
        up = f"({count(source.count)}+{count(source.added)})"
        return f"{up}/({count(source.total)}+{count(source.added * source.levels)})"
    if isinstance(source, Density | Shift):
        pair = (source.mean, source.sd) if isinstance(source, Density) else (source.use, source.model)
        first, second = (plain(v if digits is None else by_hand(v, digits)) for v in pair)
        return f"N({count(source.x)}; {first}, {second}²)" if isinstance(source, Density) else f"{first}/{second}"
    return _("as set")


# plain text -----------------------------------------------------------------------------------------------------


def to_text(working: Working, names: Names = AS_IN_FILE, digits: int = DIGITS) -> str:
    """The derivation in lines of plain text: factors and joint of each class, then evidence, posterior, risk."""
    lines = []
    for k, label in enumerate(working.classes):
        lines.append(f"{names.column(working.target)} = {names.level(working.target, label)}")
        for step in working.steps:
            source = step.sources[k]
            of = "" if isinstance(source, Given) else f"{fraction(source, working.digits)} = "
            lines.append(f"  {name_of(step, label, working.target, names)} = {of}{factor(working, step, k, digits)}")
            if isinstance(source, Density):
                lines.append("    " + moments(working, step, k))
        lines.append(f"  {_('joint')} = {joint(working, k, digits)}")
    lines += _omissions(working, names)
    if working.position < 0:
        return "\n".join([*lines, _("no posterior")])
    joints = " + ".join(joint(working, k, digits) for k in range(len(working.classes)))
    lines.append(f"P(x) = {joints} = {evidence(working, digits)}")
    for k, label in enumerate(working.classes):
        ratio = f"{joint(working, k, digits)} / {evidence(working, digits)}"
        lines.append(f"P({names.level(working.target, label)} | x) = {ratio} = {posterior(working, k, digits)}")
    lines += [f"R({names.action(a)} | x) = {risk_sum(working, i, digits)}" for i, a in enumerate(working.loss.actions)]
    lines.append(f"{_('decision')}: {names.action(working.action)}")
    return "\n".join(lines)


def moments(working: Working, step: Step, k: int) -> str:
    """How a Gaussian was fitted, in a line: n, mean, variance, standard deviation."""
    d = step.sources[k]
    assert isinstance(d, Density)

    def show(value: float) -> str:
        return _moment(working, value)

    over = f" = {plain(d.m2)}/{_degrees(d)}" if variance_from(step, k) == "own" else ""
    return f"n = {count(d.n)}, x̄ = {show(d.mean)}, s²{over} = {show(d.variance)}, s = {show(d.sd)}"


def risk_sum(working: Working, i: int, digits: int = DIGITS) -> str:
    """Σ_j λ_ij P(c_j|x) of action i with the numbers filled in: 0 × 0.998692 + 5 × 0.001308 = 0.006541."""
    losses = working.loss.table[i].tolist()
    terms = " + ".join(f"{_signed(v)} × {posterior(working, k, digits)}" for k, v in enumerate(losses))
    return f"{terms} = {certain(working.risk[i], digits + 2)}"


def _signed(loss: float) -> str:
    return count(loss) if loss >= 0 else f"({count(loss)})"


def _degrees(d: Density) -> str:
    return f"({count(d.n)}−{d.ddof})" if d.ddof else count(d.n)


def _omissions(working: Working, names: Names) -> list[str]:
    reasons = {"missing": _("missing, no factor"), "constant": _("one value in every row, no factor")}
    return [f"{names.column(o.name)}: {reasons[o.reason]}" for o in working.omitted]


# Markdown -------------------------------------------------------------------------------------------------------


def to_markdown(working: Working, names: Names = AS_IN_FILE, digits: int = DIGITS) -> str:
    """The derivation as Markdown: a table with a row for each factor and a column for each class, and the risks."""
    target = names.column(working.target)
    head = [_("factor"), *(f"{target} = {names.level(working.target, c)}" for c in working.classes)]
    lines = [_row(head), _row(["---"] * len(head))]
    for step in working.steps:
        cells = []
        for k, source in enumerate(step.sources):
            of = "" if isinstance(source, Given) else f"{fraction(source, working.digits)} = "
            cells.append(of + factor(working, step, k, digits))
        lines.append(_row([title_of(step, names), *cells]))
    span = range(len(working.classes))
    lines.append(_row([_("joint"), *(joint(working, k, digits) for k in span)]))
    if working.position >= 0:
        lines.append(_row([_("posterior"), *(posterior(working, k, digits) for k in span)]))
    lines += ["", *(f"- {_escaped(line)}" for line in _omissions(working, names))] if working.omitted else []
    if working.position < 0:
        return "\n".join([*lines, "", _("no posterior")])
    lines += ["", f"P(x) = {evidence(working, digits)}", ""]
    for i, action in enumerate(working.loss.actions):
        lines.append(f"- R({_escaped(names.action(action))} \\| x) = {risk_sum(working, i, digits)}")
    return "\n".join([*lines, "", f"{_('decision')}: **{_escaped(names.action(working.action))}**"])


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    """A name that Markdown takes literally, on one line."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#$~" else c for c in one_line(text))


def one_line(text: Any) -> str:
    """Control, direction and zero-width characters become a space."""
    return "".join(" " if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} else c for c in str(text))


# LaTeX ----------------------------------------------------------------------------------------------------------


def to_latex(working: Working, names: Names = AS_IN_FILE, digits: int = DIGITS) -> str:
    """The derivation as `align*` blocks, ready for a document with amsmath (and CJK fonts where labels need them)."""
    blocks = []
    for k in range(len(working.classes)):
        lines = [latex_factor(working, step, k, names, digits) for step in working.steps]
        blocks.append([*lines, latex_product(working, k, names, digits)])
    if working.position >= 0:
        blocks += [latex_posterior(working, names, digits), latex_risk(working, names, digits)]
    return "\n\n".join("\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}" for lines in blocks)


def latex_factor(working: Working, step: Step, k: int, names: Names = AS_IN_FILE, digits: int = DIGITS) -> str:
    """One factor by its full name: P(good=yes) &= 8/17 = 0.4706."""
    return _latex_name(working, step, k, names) + latex_value(working, step, k, digits).removeprefix(_letter(step))


def latex_value(working: Working, step: Step, k: int, digits: int = DIGITS) -> str:
    """One factor by its letter: P &= 3/8 = 0.3750."""
    value = _power(factor(working, step, k, digits))
    return f"{_letter(step)} &= {_latex_source(working, step.sources[k])} = {value}"


def _letter(step: Step) -> str:
    return "p" if step.row.kind == "log-density" else "P"


def latex_moments(working: Working, step: Step, k: int) -> list[str]:
    """How the Gaussian of a factor was fitted: mean, variance and standard deviation with their numbers."""
    d = step.sources[k]
    assert isinstance(d, Density)

    def show(value: float) -> str:
        return _power(_moment(working, value))

    own = variance_from(step, k)
    over = rf"\frac{{\sum (x-\bar x)^2}}{{{'n-1' if d.ddof else 'n'}}}"
    total = rf"\frac{{{_power(plain(d.mean * d.n))}}}{{{count(d.n)}}}"
    lines = [rf"\bar x &= \frac{{\sum x}}{{n}} = {total} = {show(d.mean)}"]
    if own == "own":
        filled = rf"\frac{{{_power(plain(d.m2))}}}{{{_degrees(d).strip('()').replace('−', '-')}}}"
        lines.append(rf"s^2 &= {over} = {filled} = {show(d.variance)}")
    elif own == "pooled":
        all_of = [s for s in step.sources if isinstance(s, Density) and s.n > 0]
        up = " + ".join(_power(plain(s.m2)) for s in all_of)
        down = count(sum(s.n for s in all_of)) + (f"-{len(all_of)}" if d.ddof else "")
        lines.append(rf"s^2 &= \frac{{{up}}}{{{down}}} = {show(d.variance)}")
    else:
        lines.append(rf"s^2 &= {show(d.variance)}")
    return [*lines, rf"s &= {show(d.sd)}"]


def latex_product(working: Working, k: int, names: Names = AS_IN_FILE, digits: int = DIGITS) -> str:
    """P(c, x) = the factors multiplied out."""
    label = tex(names.level(working.target, working.classes[k]))
    product = r" \times ".join(_power(factor(working, step, k, digits)) for step in working.steps)
    return rf"P({label}, \boldsymbol{{x}}) &= {product} = {_power(joint(working, k, digits))}"


def latex_posterior(working: Working, names: Names = AS_IN_FILE, digits: int = DIGITS) -> list[str]:
    """Evidence and posterior with the numbers filled in."""
    joints = [_power(joint(working, k, digits)) for k in range(len(working.classes))]
    total = _power(evidence(working, digits))
    lines = [rf"P(\boldsymbol{{x}}) &= {' + '.join(joints)} = {total}"]
    for k, label in enumerate(working.classes):
        of = tex(names.level(working.target, label))
        value = _power(posterior(working, k, digits))
        lines.append(rf"P({of} \mid \boldsymbol{{x}}) &= \frac{{{joints[k]}}}{{{total}}} = {value}")
    return lines


def latex_risk(working: Working, names: Names = AS_IN_FILE, digits: int = DIGITS) -> list[str]:
    """R(c_i|x) = Σ_j λ_ij P(c_j|x) with the numbers filled in, and the decision."""
    lines = []
    for i, action in enumerate(working.loss.actions):
        losses = working.loss.table[i].tolist()
        terms = " + ".join(
            rf"{_signed(v)} \times {_power(posterior(working, k, digits))}" for k, v in enumerate(losses)
        )
        value = _power(certain(working.risk[i], digits + 2))
        lines.append(rf"R({tex(names.action(action))} \mid \boldsymbol{{x}}) &= {terms} = {value}")
    least = r"h^*(\boldsymbol{x}) &= \arg\min_i R(c_i \mid \boldsymbol{x})"
    return [*lines, f"{least} = {tex(names.action(working.action))}"]


def _latex_name(working: Working, step: Step, k: int, names: Names) -> str:
    given = f"{tex(names.column(working.target))}={tex(names.level(working.target, working.classes[k]))}"
    if step.row.kind == "prior":
        return f"P({given})"
    if not step.row.parents:
        return rf"\frac{{\pi_{{\text{{{_('use')}}}}}}}{{\pi_{{\text{{{_('model')}}}}}}}"
    return rf"{_letter(step)}({tex(names.column(step.row.child))}={tex(shown(step, names))} \mid {given})"


def _latex_source(working: Working, source: Source) -> str:
    if isinstance(source, Fraction):
        up, down = count(source.count), count(source.total)
        if source.added:
            up, down = f"{up}+{count(source.added)}", f"{down}+{count(source.added * source.levels)}"
        return rf"\frac{{{up}}}{{{down}}}"
    if isinstance(source, Density):
        mean, sd = _power(_moment(working, source.mean)), _power(_moment(working, source.sd))
        minus = f"{count(source.x)}-{mean}" if source.mean >= 0 else f"{count(source.x)}+{mean.removeprefix('-')}"
        return (
            rf"\frac{{1}}{{\sqrt{{2\pi}}\times {sd}}}"
            rf"\exp\left(-\frac{{({minus})^2}}{{2\times ({sd})^2}}\right)"
        )
    if isinstance(source, Shift):
        return rf"\frac{{{_power(_moment(working, source.use))}}}{{{_power(_moment(working, source.model))}}}"
    return tex(_("as set"))


def _power(text: str) -> str:
    """6.858e-05 as 6.858 × 10⁻⁵."""
    mantissa, e, power = text.partition("e")
    return rf"{mantissa} \times 10^{{{int(power)}}}" if e else mantissa.replace("−", "-").replace("∞", r"\infty")


_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\textdollar{}", "&": r"\&", "#": r"\#", "%": r"\%",
    "^": r"\textasciicircum{}", "_": r"\_", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}",
}  # fmt: skip


def tex(text: Any) -> str:
    r"""Any text as literal text in a formula.

    >>> tex("50% & more")
    '\\text{50\\% \\& more}'
    """
    return "\\text{" + "".join(_TEX.get(c, c) for c in one_line(text)) + "}"
