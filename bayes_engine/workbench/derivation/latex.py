"""The working as LaTeX, each formula with its numbers filled in, in the language of the context and with the labels of
the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayes_engine.factors.gaussian import Density, PseudoCounts
from bayes_engine.factors.joint_multinomial import CountShare
from bayes_engine.factors.kernel import KernelEstimate
from bayes_engine.factors.poisson import Rate
from bayes_engine.factors.sources import Complement, Fraction, Given, Linear, Parametric, Power, Shift, Source, Term
from bayes_engine.factors.text import Words
from bayes_engine.inference.averaged import SUPER_PARENT
from bayes_engine.language import _
from bayes_engine.numerals import DIGITS, certain, count, plain, signed
from bayes_engine.workbench.derivation.derive import Working, WorkingStep, bare, variance_from
from bayes_engine.workbench.derivation.factor_names import (
    AS_IN_FILE,
    DisplayNames,
    Relation,
    cell_of,
    function_of,
    given_of,
    letter_of,
    one_line,
    row_word,
    weight_mark,
)
from bayes_engine.workbench.derivation.render import (
    bracketed,
    degrees_of,
    evidence,
    factor,
    joint,
    log_joint,
    moment_of,
    posterior,
    pseudo_count,
)

MOST_TYPESET = 6
"""So many words of a text are factors of their own in a formula."""


def to_latex(
    working: Working, names: DisplayNames = AS_IN_FILE, digits: int = DIGITS, final: Working | None = None
) -> str:
    """The derivation as `align*` blocks, ready for a document with amsmath (and CJK fonts where labels need them); with
    `final` as in `to_text`."""
    blocks = []
    for k in range(len(working.classes)):
        lines = [latex_factor(working, step, k, names, digits) for step in working.steps]
        blocks.append([*lines, latex_product(working, k, names, digits)])
    working = final or working
    if working.position >= 0:
        blocks += [latex_posterior(working, names, digits), latex_risk(working, names, digits)]
    return "\n\n".join("\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}" for lines in blocks)


def latex_factor(
    working: Working, step: WorkingStep, k: int, names: DisplayNames = AS_IN_FILE, digits: int = DIGITS
) -> str:
    """One factor by its full name: P(good=yes) &= 8/17 = 0.4706."""
    log = {"log ": r"\log ", "−log ": r"-\log ", "exp ": r"\exp\,"}.get(function_of(working, step), "")
    value = latex_value(working, step, k, digits).partition(" &= ")[2]
    return f"{log}{_latex_name(working, step, k, names)} &= {value}"


def latex_value(working: Working, step: WorkingStep, k: int, digits: int = DIGITS) -> str:
    """One factor by its letter: P &= 3/8 = 0.3750; of a log term that is added its value alone."""
    value, source = power(factor(working, step, k, digits)), step.sources[k]
    if working.additive:
        if isinstance(source, Linear):
            weight, middle = (power(moment_of(working, v)) for v in (source.weight, source.middle))
            apart = f"({count(source.x)}-{middle})".replace("--", "+")
            return rf"\ell &= {weight}\times {apart} = {value}"
        if isinstance(source, Complement):
            return rf"s &= -\log\left({_latex_source(working, source.base)}\right) = {value}"
        if isinstance(source, Term):
            return rf"\ell &= {value}"
        from_ = "" if isinstance(source, Given) else rf"\log {_latex_source(working, source)} = "
        return rf"\log {letter_of(step)} &= {from_}{value}"
    weight = f"^{{{power(plain(source.weight))}}}" if isinstance(source, Power) else ""
    return f"{letter_of(step)}{weight} &= {_latex_source(working, source)} = {value}"


def latex_behind(working: Working, step: WorkingStep, k: int) -> list[str]:
    """How the parameters of a factor came about: the moments of a Gaussian, the rate of a Poisson, the bandwidth of a
    kernel density."""
    source = bare(step).sources[k]
    if isinstance(source, Density):
        return latex_moments(working, step, k)
    if isinstance(source, Rate):
        up, down = count(source.total), count(source.n)
        if source.added:
            added = pseudo_count(source.added)
            up, down = rf"{up}+{added}\times {power(moment_of(working, source.mean))}", f"{down}+{added}"
        return [rf"\mu &= \frac{{{up}}}{{{down}}} = {power(moment_of(working, source.rate))}"]
    if isinstance(source, Parametric):
        lines = []
        for q in source.estimated:
            up, down = ("+".join(power(count(v)) for v in side) for side in (q.above, q.below))
            lines.append(rf"{q.symbol} &= \frac{{{up}}}{{{down}}} = {power(moment_of(working, q.value))}")
        return lines
    if isinstance(source, KernelEstimate) and source.precision is None:
        n, width = count(source.n), power(moment_of(working, source.bandwidth))
        spread = power(moment_of(working, source.bandwidth / (4.0 / (3.0 * source.n)) ** 0.2))
        rule = r"s\left(\tfrac{4}{3n}\right)^{1/5}"
        return [rf"h &= {rule} = {spread}\left(\tfrac{{4}}{{3\times {n}}}\right)^{{1/5}} = {width}"]
    return []


def latex_moments(working: Working, step: WorkingStep, k: int) -> list[str]:
    """How the Gaussian of a factor was fitted: mean, variance and standard deviation with their numbers."""
    step = bare(step)
    d = step.sources[k]
    assert isinstance(d, Density)

    def show(value: float) -> str:
        return power(moment_of(working, value))

    own = variance_from(step, k)
    if d.pseudo_counts is not None:
        return _latex_pseudo_counts(d, d.pseudo_counts, show)
    over = rf"\frac{{\sum (x-\bar x)^2}}{{{'n-1' if d.ddof else 'n'}}}"
    total = rf"\frac{{{power(plain(d.mean * d.n))}}}{{{count(d.n)}}}"
    lines = [rf"\bar x &= \frac{{\sum x}}{{n}} = {total} = {show(d.mean)}"]
    if own == "own":
        filled = rf"\frac{{{power(plain(d.m2))}}}{{{degrees_of(d).strip('()').replace('−', '-')}}}"
        lines.append(rf"s^2 &= {over} = {filled} = {show(d.variance)}")
    elif own == "pooled":
        all_of = [s for s in step.sources if isinstance(s, Density) and s.n > 0]
        up = " + ".join(power(plain(s.m2)) for s in all_of)
        down = count(sum(s.n for s in all_of)) + (f"-{len(all_of)}" if d.ddof else "")
        lines.append(rf"s^2 &= \frac{{{up}}}{{{down}}} = {show(d.variance)}")
    else:
        lines.append(rf"s^2 &= {show(d.variance)}")
    return [*lines, rf"s &= {show(d.sd)}"]


def _latex_pseudo_counts(d: Density, added: PseudoCounts, show: Callable[[float], str]) -> list[str]:
    """The mean and the variance of a cell smoothed by pseudo-counts."""
    n, a, own = count(d.n), count(added.rows), show(added.mean)
    apart = f"({own}-{show(added.class_mean)})^2".replace("--", "+")
    up = rf"{power(plain(d.m2))} + {a}\times {show(added.class_variance)} + \frac{{{n}\times {a}}}{{{n}+{a}}}{apart}"
    down = f"{n}{'-1' if d.ddof else ''}+{a}"
    return [
        rf"\mu &= \frac{{{n}\times {own} + {a}\times {show(added.class_mean)}}}{{{n}+{a}}} = {show(d.mean)}",
        rf"s^2 &= \frac{{{up}}}{{{down}}} = {show(d.variance)}",
        rf"s &= {show(d.sd)}",
    ]


def latex_product(working: Working, k: int, names: DisplayNames = AS_IN_FILE, digits: int = DIGITS) -> str:
    """P(c, x) = the factors multiplied out, or log P(c, x) = the terms added up."""
    label = tex(names.level(working.target, working.classes[k]))
    letter = "s" if working.scores else "P"
    if working.additive:
        total = "".join(power(factor(working, step, k, digits)) for step in working.steps).removeprefix("+")
        value = power(log_joint(working, k, digits))
        log = "" if working.complement else r"\log "
        return rf"{log}{letter}({label}, \boldsymbol{{x}}) &= {total} = {value}"
    product = r" \times ".join(power(factor(working, step, k, digits)) for step in working.steps)
    return rf"{letter}({label}, \boldsymbol{{x}}) &= {product} = {power(joint(working, k, digits))}"


def latex_posterior(working: Working, names: DisplayNames = AS_IN_FILE, digits: int = DIGITS) -> list[str]:
    """Evidence and posterior with the numbers filled in."""
    joints = [power(joint(working, k, digits)) for k in range(len(working.classes))]
    total = power(evidence(working, digits))
    left = r"\sum_c s(c, \boldsymbol{x})" if working.scores else r"P(\boldsymbol{x})"
    left = r"\sum_c e^{s(c, \boldsymbol{x})}" if working.complement else left
    lines = [rf"{left} &= {' + '.join(joints)} = {total}"]
    for k, label in enumerate(working.classes):
        of = tex(names.level(working.target, label))
        value = power(posterior(working, k, digits))
        lines.append(rf"P({of} \mid \boldsymbol{{x}}) &= \frac{{{joints[k]}}}{{{total}}} = {value}")
    return lines


def latex_risk(working: Working, names: DisplayNames = AS_IN_FILE, digits: int = DIGITS) -> list[str]:
    """R(c_i|x) = Σ_j λ_ij P(c_j|x) with the numbers filled in, and the decision."""
    lines = []
    for i, action in enumerate(working.loss.actions):
        losses = working.loss.table[i].tolist()
        terms = " + ".join(
            rf"{bracketed(v)} \times {power(posterior(working, k, digits))}" for k, v in enumerate(losses)
        )
        value = power(certain(working.risk[i], digits + 2))
        lines.append(rf"R({tex(names.action(action))} \mid \boldsymbol{{x}}) &= {terms} = {value}")
    least = r"h^*(\boldsymbol{x}) &= \arg\min_i R(c_i \mid \boldsymbol{x})"
    return [*lines, f"{least} = {tex(names.action(working.action))}"]


def typeset(cell: Relation) -> str:
    """A cell as it stands in a formula."""
    sign = {"≤": r"\le ", "∈": r"\in "}.get(cell.sign, cell.sign)
    relation = tex(cell.column) + sign + (r"\mathbb{R}" if cell.after == "ℝ" else tex(cell.after) if sign else "")
    return f"{tex(cell.before)}<{relation}" if cell.before else relation


def _latex_name(working: Working, step: WorkingStep, k: int, names: DisplayNames) -> str:
    sign = r"\ne " if step.complement else "="
    of = f"{tex(names.column(working.target))}{sign}{tex(names.level(working.target, working.classes[k]))}"
    if step.row.kind == "prior" or step.alike:
        own = of if step.row.kind == "prior" else typeset(cell_of(step, names))
        beyond = ", ".join(typeset(r) for r in given_of(step, names))
        return rf"P({own} \mid {beyond})" if beyond else f"P({own})"
    if step.joint:
        return f"P({of}, {typeset(cell_of(step, names))})"
    if step.row.name == "prior of use" and not step.row.parents:
        return rf"\frac{{\pi_{{\text{{{_('use')}}}}}}}{{\pi_{{\text{{{_('model')}}}}}}}"
    given = ", ".join([of, *(typeset(r) for r in given_of(step, names))])
    if step.row.kind == "expected":
        given += f", {tex(_('super-parent'))}" if SUPER_PARENT in step.row.parents else ""
        own = of if step.row.child == working.target else typeset(cell_of(step, names))
        if working.target not in step.row.parents:
            given = ", ".join(typeset(r) for r in given_of(step, names))
        return rf"\mathbb{{E}}\log P({own} \mid {given})" if given else rf"\mathbb{{E}}\log P({own})"
    if word := row_word(step.row):
        return tex(word) + (f"({of})" if step.row.parents else "")
    if not step.counted:
        return rf"\ell({typeset(cell_of(step, names))} \mid {given})"
    weight = f"^{{{weight_mark(step).removeprefix('^')}}}" if weight_mark(step) else ""
    return rf"{letter_of(step)}({typeset(cell_of(step, names))} \mid {given}){weight}"


def _latex_fraction(source: Fraction) -> str:
    up, down = count(source.count), count(source.total)
    if source.pseudo_total:
        up, down = f"{up}+{pseudo_count(source.added)}", f"{down}+{pseudo_count(source.pseudo_total)}"
    return rf"\frac{{{up}}}{{{down}}}"


def _latex_source(working: Working, source: Source) -> str:
    if isinstance(source, Fraction):
        return _latex_fraction(source)
    if isinstance(source, Density):
        mean, sd = power(moment_of(working, source.mean)), power(moment_of(working, source.sd))
        minus = f"{count(source.x)}-{mean}" if source.mean >= 0 else f"{count(source.x)}+{mean.removeprefix('-')}"
        return (
            rf"\frac{{1}}{{\sqrt{{2\pi}}\times {sd}}}"
            rf"\exp\left(-\frac{{({minus})^2}}{{2\times ({sd})^2}}\right)"
        )
    if isinstance(source, Power):
        return rf"\left({_latex_source(working, source.base)}\right)^{{{power(plain(source.weight))}}}"
    if isinstance(source, Shift):
        return rf"\frac{{{power(moment_of(working, source.use))}}}{{{power(moment_of(working, source.model))}}}"
    if isinstance(source, CountShare):
        return rf"\left({_latex_fraction(source.share)}\right)^{{{count(source.x)}}}"
    if isinstance(source, Rate):
        rate, x = power(moment_of(working, source.rate)), count(source.x)
        return rf"\frac{{{rate}^{{{x}}}}}{{{x}!}}e^{{-{rate}}}"
    if isinstance(source, KernelEstimate):
        width = power(moment_of(working, source.bandwidth))
        if source.precision is not None:
            half = power(moment_of(working, source.precision / 2))
            ends = (rf"\Phi\left(\frac{{{count(source.x)}-x_i{sign}{half}}}{{{width}}}\right)" for sign in "+-")
            over = rf"{count(source.n)}\times {power(moment_of(working, source.precision))}"
            return rf"\frac{{1}}{{{over}}}\sum_i\left[{'-'.join(ends)}\right]"
        bump = rf"K\left(\frac{{{count(source.x)}-x_i}}{{{width}}}\right)"
        return rf"\frac{{1}}{{{count(source.n)}\times {width}}}\sum_i {bump}"
    if isinstance(source, Parametric):
        parameters = ", ".join(f"{name}={power(moment_of(working, v))}" for name, v in source.parameters)
        return rf"{tex(source.name)}\left({count(source.x)};\,{parameters}\right)"
    if isinstance(source, Words):
        return _latex_words(source)
    if isinstance(source, Term):
        return _power_of_e(source.log_value, DIGITS if working.digits is None else working.digits)
    return tex(_("as set"))


def _latex_words(source: Words) -> str:
    """The product over the words of a text; the last of many, and the absent ones, as e to the power of their nats."""
    terms = [
        rf"\underset{{{tex(t.term)}}}{{\left({_latex_fraction(t.source)}\right)}}"
        + (f"^{{{count(t.times)}}}" if t.times != 1 else "")
        for t in source.terms[:MOST_TYPESET]
    ]
    more = len(source.terms) - MOST_TYPESET
    if more > 0:
        rest = sum(t.log_value for t in source.terms[MOST_TYPESET:])
        terms.append(rf"\underset{{{tex(_('… {n} more terms').format(n=more))}}}{{{_power_of_e(rest)}}}")
    if source.absent:
        terms.append(rf"\underset{{{tex(_('absent terms'))}}}{{{_power_of_e(source.absent)}}}")
    return r"\times ".join(terms or [_power_of_e(0.0)])


def _power_of_e(nats: float, digits: int = DIGITS) -> str:
    return f"e^{{{power(signed(nats, digits).removeprefix('+'))}}}"


def power(text: str) -> str:
    """6.858e-05 as 6.858 × 10⁻⁵."""
    mantissa, e, exponent = text.replace("−", "-").replace("∞", r"\infty").partition("e")
    return rf"{mantissa} \times 10^{{{int(exponent)}}}" if e else mantissa


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
