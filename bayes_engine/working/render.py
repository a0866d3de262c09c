"""The working as LaTeX, Markdown or plain text, in the language of the context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from bayes_engine.language import _
from bayes_engine.working.derive import Density, Fraction, Given, Source, Step, Working


def number(value: float, digits: int = 4) -> str:
    """A number as a textbook prints it: fixed digits, or a power of ten where that would show only zeros.

    >>> number(0.052379), number(6.8584e-05), number(0.0)
    ('0.0524', '6.858e-05', '0')
    """
    if value == 0:
        return "0"
    return f"{value:.{digits}f}" if 1e-3 <= abs(value) < 1e6 else f"{value:.{max(digits - 1, 1)}e}"


def count(value: float) -> str:
    """A count without a needless decimal point: 3, 2.5."""
    return f"{value:g}"


def fraction(source: Source) -> str:
    """How a factor was counted, in plain text: 3/8, (3+1)/(8+3), N(0.697; 0.5738, 0.1292²)."""
    if isinstance(source, Fraction):
        if source.added == 0:
            return f"{count(source.count)}/{count(source.total)}"
        up = f"({count(source.count)}+{count(source.added)})"
        extra = source.added * source.levels
        return f"{up}/({count(source.total)}+{count(extra)})"
    if isinstance(source, Density):
        return f"N({count(source.x)}; {number(source.mean)}, {number(source.sd)}²)"
    return _("as set")


def name_of(step: Step, label: Any, target: str) -> str:
    """P(colour=green | good=yes), p(density=0.697 | good=yes) or P(good=yes)."""
    if step.row.kind == "prior":
        return f"P({target}={label})"
    letter = "p" if step.row.kind == "log-density" else "P"
    value = _("missing") if pd.isna(step.value) else step.value
    return f"{letter}({step.row.child}={value} | {target}={label})"


def to_text(working: Working) -> str:
    """The derivation in lines of plain text."""
    lines = []
    for k, label in enumerate(working.classes):
        lines.append(f"{working.target} = {label}")
        for step in working.steps:
            shown = f"{fraction(step.sources[k])} = {number(step.factors[k])}"
            lines.append(f"  {name_of(step, label, working.target)} = {shown}")
        lines.append(f"  {_('joint')} = {number(working.joint[k], 6)}")
    lines.append(f"{_('evidence')} P(x) = {number(working.evidence, 6)}")
    lines += [f"P({c} | x) = {number(p, 6)}" for c, p in zip(working.classes, working.posterior, strict=True)]
    return "\n".join(lines)


def to_markdown(working: Working) -> str:
    """The derivation as one Markdown table: a row a factor, a column a class."""
    head = [_("factor"), *(f"{working.target} = {c}" for c in working.classes)]
    lines = [_row(head), _row(["---"] * len(head))]
    for step in working.steps:
        title = name_of(step, "c", working.target) if step.row.kind != "prior" else f"P({working.target})"
        lines.append(_row([title, *(f"{fraction(s)} = {number(f)}"
                                    for s, f in zip(step.sources, step.factors, strict=True))]))  # fmt: skip
    lines.append(_row([_("joint"), *(number(j, 6) for j in working.joint)]))
    lines.append(_row([_("posterior"), *(number(p, 6) for p in working.posterior)]))
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


def to_latex(working: Working) -> str:
    """The derivation as an `align*` block, ready for a document with amsmath (and CJK fonts where labels need them)."""
    lines = []
    for k, label in enumerate(working.classes):
        for step in working.steps:
            lines.append(f"{_latex_name(step, label, working.target)} &= {_latex_source(step.sources[k])}"
                         f" = {_latex_number(step.factors[k])} \\\\")  # fmt: skip
        product = r" \times ".join(_latex_number(step.factors[k]) for step in working.steps)
        lines.append(f"P({_tex(label)}, \\boldsymbol{{x}}) &= {product} = {_latex_number(working.joint[k], 6)} \\\\")
    total = " + ".join(_latex_number(j, 6) for j in working.joint)
    lines.append(f"P(\\boldsymbol{{x}}) &= {total} = {_latex_number(working.evidence, 6)} \\\\")
    for label, joint, p in zip(working.classes, working.joint, working.posterior, strict=True):
        ratio = f"\\frac{{{_latex_number(joint, 6)}}}{{{_latex_number(working.evidence, 6)}}}"
        lines.append(f"P({_tex(label)} \\mid \\boldsymbol{{x}}) &= {ratio} = {_latex_number(p, 6)} \\\\")
    return "\\begin{align*}\n" + "\n".join(lines) + "\n\\end{align*}"


def _latex_name(step: Step, label: Any, target: str) -> str:
    if step.row.kind == "prior":
        return f"P({_tex(target)}={_tex(label)})"
    letter = "p" if step.row.kind == "log-density" else "P"
    value = _("missing") if pd.isna(step.value) else step.value
    return f"{letter}({_tex(step.row.child)}={_tex(value)} \\mid {_tex(target)}={_tex(label)})"


def _latex_source(source: Source) -> str:
    if isinstance(source, Fraction):
        up, down = count(source.count), count(source.total)
        if source.added:
            up, down = f"{up}+{count(source.added)}", f"{down}+{count(source.added * source.levels)}"
        return f"\\frac{{{up}}}{{{down}}}"
    if isinstance(source, Density):
        mean, sd = number(source.mean), number(source.sd)
        return (
            f"\\frac{{1}}{{\\sqrt{{2\\pi}}\\times {sd}}}"
            f"\\exp\\left(-\\frac{{({count(source.x)}-{mean})^2}}{{2\\times {sd}^2}}\\right)"
        )
    assert isinstance(source, Given)
    return f"\\text{{{_tex(_('as set'))}}}"


def _latex_number(value: float, digits: int = 4) -> str:
    text = number(value, digits)
    if "e" not in text:
        return text
    mantissa, power = text.split("e")
    return f"{mantissa} \\times 10^{{{int(power)}}}"


_TEX: dict[str, str] = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "^": r"\^{}",
    "_": r"\_", "~": r"\~{}", "%": r"\%",
}  # fmt: skip


def _tex(text: Any) -> str:
    escape: Callable[[str], str] = lambda c: _TEX.get(c, c)  # noqa: E731
    return "\\text{" + "".join(map(escape, str(text))) + "}"
