"""The working as Markdown or plain text, in the language of the context and with the labels of the screen.

`digits` asks for so many significant digits of a factor; a joint and a posterior get two more. A working rounded by
hand (`Working.digits`) is printed as it was rounded.
"""

from __future__ import annotations

from math import inf
from sys import float_info

from bayes_engine.factors.gaussian import Density
from bayes_engine.factors.joint_multinomial import CountShare
from bayes_engine.factors.kernel import Bump, KernelEstimate
from bayes_engine.factors.poisson import Rate
from bayes_engine.factors.sources import (
    Estimated,
    Fraction,
    Given,
    Linear,
    Parametric,
    Power,
    Quotient,
    Shift,
    Source,
    Summed,
    Term,
)
from bayes_engine.factors.text import Words, WordTerm
from bayes_engine.language import _
from bayes_engine.numerals import DIGITS, certain, count, number, number_of_log, plain, signed
from bayes_engine.workbench.derivation.derive import Working, WorkingStep, bare, by_hand, variance_from
from bayes_engine.workbench.derivation.factor_names import (
    AS_IN_FILE,
    DisplayNames,
    evidence_word,
    given_title,
    heading,
    joint_word,
    log_joint_word,
    name_of,
    one_line,
)

SMALLEST = float_info.min
"""Of smaller factors a float has not all digits."""
MOST_OPENED = 12
"""So many words or training values are written out beneath a number."""

# numbers --------------------------------------------------------------------------------------------------------


def hand(value: float, digits: int) -> str:
    """A number as `by_hand` rounds it.

    >>> hand(0.375, 3), hand(1.21518e-09, 3), hand(0.0, 3)
    ('0.375', '1.22e-09', '0')
    """
    if value == 0:
        return "0"
    return f"{by_hand(value, digits):.{digits}f}" if abs(value) >= 0.01 else f"{value:.{digits - 1}e}"


def factor(working: Working, step: WorkingStep, k: int, digits: int = DIGITS) -> str:
    """The value of a factor of class k; where the steps are log terms that add up, its log in nats, signed."""
    if working.additive:
        return signed(step.log_factor(k), digits if working.digits is None else working.digits)
    if working.digits is not None:
        return hand(step.factors[k], working.digits)
    value = step.factors[k]
    return number(value, digits) if SMALLEST <= value < inf else number_of_log(step.log_factor(k), digits)


def joint(working: Working, k: int, digits: int = DIGITS) -> str:
    """p(c, x) of class k."""
    return number_of_log(working.log_joint[k], digits + 2)


def log_joint(working: Working, k: int, digits: int = DIGITS) -> str:
    """log p(c, x) of class k in nats."""
    return signed(working.log_joint[k], digits)


def evidence(working: Working, digits: int = DIGITS) -> str:
    """P(x)."""
    return number_of_log(working.log_evidence, digits + 2)


def posterior(working: Working, k: int, digits: int = DIGITS) -> str:
    """P(c|x) of class k, never rounded to a certainty that it is not; a dash where there is none."""
    if working.position < 0:
        return "–"
    return certain(working.posterior[k], digits + 2)


def moment_of(working: Working, value: float) -> str:
    return plain(value if working.digits is None else by_hand(value, working.digits))


def fraction(source: Source, digits: int | None = None) -> str:
    """Where a factor came from, in plain text: 3/8, (3+1)/(8+3), N(0.697; 0.57375, 0.129211²), 0.3/0.4706.

    >>> fraction(Fraction(3.0, 8.0, 1.0, 3)), fraction(Fraction(3.0, 8.0, 0.0, 3)), fraction(Shift(0.3, 8 / 17))
    ('(3+1)/(8+3)', '3/8', '0.3/0.470588')
    """

    def short(value: float) -> str:
        return plain(value if digits is None else by_hand(value, digits))

    if isinstance(source, Fraction):
        if source.pseudo_total == 0:
            return f"{count(source.count)}/{count(source.total)}"
        up = f"({count(source.count)}+{pseudo_count(source.added)})"
        return f"{up}/({count(source.total)}+{pseudo_count(source.pseudo_total)})"
    if isinstance(source, Density):
        return f"N({count(source.x)}; {short(source.mean)}, {short(source.sd)}²)"
    if isinstance(source, Shift):
        return f"{short(source.use)}/{short(source.model)}"
    if isinstance(source, Linear):
        return f"{short(source.weight)} × ({count(source.x)} − {short(source.middle)})".replace("− -", "+ ")
    if isinstance(source, Power):
        inner = fraction(source.base, digits)
        inner = f"({inner})" if isinstance(source.base, Fraction | Words | CountShare) else inner
        return f"{inner}^{plain(source.weight)}"
    if isinstance(source, CountShare):
        return f"({fraction(source.share)})^{count(source.x)}"
    if isinstance(source, Rate):
        return f"Poisson({count(source.x)}; {short(source.rate)})"
    if isinstance(source, Parametric):
        parameters = ", ".join(f"{name} = {short(v)}" for name, v in source.parameters)
        return f"{source.name}({count(source.x)}; {parameters})"
    if isinstance(source, KernelEstimate):
        return f"K({count(source.x)}; n = {count(source.n)}, h = {short(source.bandwidth)})"
    if isinstance(source, Term):
        return f"e^{signed(source.log_value, DIGITS if digits is None else digits).removeprefix('+')}"
    return _("summed") if isinstance(source, Summed) else _("as set")


def _origin(working: Working, step: WorkingStep, k: int) -> str:
    """What stands before a number: `3/8 = `, where terms add up `log 8/17 = `, nothing before a number that was set."""
    source = step.sources[k]
    if isinstance(source, Linear) and working.additive:
        return f"{fraction(source, working.digits)} = "
    if isinstance(source, Given) or (working.additive and isinstance(source, Term)):
        return ""
    return f"{'log ' if working.additive else ''}{fraction(source, working.digits)} = "


# plain text -----------------------------------------------------------------------------------------------------


def to_text(
    working: Working, names: DisplayNames = AS_IN_FILE, digits: int = DIGITS, final: Working | None = None
) -> str:
    """The derivation in lines of plain text: factors and joint of each class, then evidence, posterior, risk; the
    latter of `final` where the factors are those of one model among several that are averaged."""
    lines = []
    for k, label in enumerate(working.classes):
        lines.append(f"{names.column(working.target)} = {names.level(working.target, label)}")
        for step in working.steps:
            number = _origin(working, step, k) + factor(working, step, k, digits)
            lines.append(f"  {heading(working, step, k, names)} = {number}")
            lines += ["    " + line for line in behind(working, step, k)]
        if working.additive:
            lines.append(f"  {log_joint_word(working)} = {log_joint(working, k, digits)}")
        lines.append(f"  {joint_word(working)} = {joint(working, k, digits)}")
    lines += _omissions(working, names)
    working = final or working
    if working.position < 0:
        return "\n".join([*lines, _("no posterior")])
    joints = " + ".join(joint(working, k, digits) for k in range(len(working.classes)))
    lines.append(f"{evidence_word(working)} = {joints} = {evidence(working, digits)}")
    for k, label in enumerate(working.classes):
        ratio = f"{joint(working, k, digits)} / {evidence(working, digits)}"
        lines.append(f"P({names.level(working.target, label)} | x) = {ratio} = {posterior(working, k, digits)}")
    lines += [f"R({names.action(a)} | x) = {risk_sum(working, i, digits)}" for i, a in enumerate(working.loss.actions)]
    lines.append(_("decision") + _(": ") + names.action(working.action))
    return "\n".join(lines)


def moments(working: Working, step: WorkingStep, k: int) -> str:
    """How a Gaussian was fitted, in a line: n, mean, variance, standard deviation."""
    d = step.sources[k]
    assert isinstance(d, Density)

    def show(value: float) -> str:
        return moment_of(working, value)

    over = f" = {plain(d.m2)}/{degrees_of(d)}" if variance_from(step, k) == "own" else ""
    if d.pseudo_counts is not None:
        more = f" + {count(d.pseudo_counts.rows)}"
        return (f"n = {count(d.n)}{more}, x̄ = {show(d.pseudo_counts.mean)} → {show(d.mean)}, s² = {show(d.variance)}, "
                f"s = {show(d.sd)}")  # fmt: skip
    return f"n = {count(d.n)}, x̄ = {show(d.mean)}, s²{over} = {show(d.variance)}, s = {show(d.sd)}"


def behind(working: Working, step: WorkingStep, k: int) -> list[str]:
    """What the number of a step was made of, in lines: of a Gaussian its moments; of a Poisson its rate; of a kernel
    density the training values that add most; of a text its terms, those that move the posterior most first. Up to
    MOST_OPENED of these; of a weighted factor, of what the weight acts on."""
    sign = -1.0 if step.complement else 1.0
    step = bare(step)
    source = step.sources[k]
    if isinstance(source, Density):
        return [moments(working, step, k)]
    if isinstance(source, Rate):
        return [f"μ = {_rate(source)} = {moment_of(working, source.rate)}"]
    if isinstance(source, Parametric):
        return [f"{q.symbol} = {quotient(q)} = {moment_of(working, q.value)}" for q in source.estimated]
    if isinstance(source, KernelEstimate):
        shares = [(f"{plain(b.value)} ({b.share:.1%})", b.share) for b in largest_bumps(source)[:MOST_OPENED]]
        rest = 1.0 - sum(share for _formula, share in shares)
        more = [_("all others ({share})").format(share=f"{rest:.1%}")] if shares and rest >= 0.0005 else []
        return ["x_i" + _(": ") + ", ".join([*(formula for formula, _share in shares), *more])] if shares else []
    if isinstance(source, Words):
        lines = [f"{one_line(t.term)}{_times(t)}{_(': ')}{'−' if sign < 0 else ''}{_log_of(t.source, t.times)}"
                 f" = {signed(sign * t.log_value, DIGITS)}"
                 for t in (source.terms[v] for v in most_discriminating(step)[:MOST_OPENED])]  # fmt: skip
        rest = sign * sum(source.terms[v].log_value for v in most_discriminating(step)[MOST_OPENED:])
        if len(source.terms) > MOST_OPENED:
            others = len(source.terms) - MOST_OPENED
            lines.append(_("{n} other terms: {nats}").format(n=others, nats=signed(rest, DIGITS)))
        if source.absent:
            lines.append(_("all terms that do not stand in it: {nats}").format(nats=signed(source.absent, DIGITS)))
        return lines
    return []


def largest_bumps(source: KernelEstimate) -> list[Bump]:
    """The training values that add most to a kernel density, the first of them first; what adds next to nothing is left
    out.

    >>> bumps = Bump(0.0, 1.0, 0.3), Bump(1.0, 2.0, 0.7)
    >>> largest_bumps(KernelEstimate(-0.9, 0.5, 3.0, 1.0, None, bumps, False))[0].value
    1.0
    """
    return sorted((b for b in source.bumps if b.share >= 0.0005), key=lambda b: -b.share)


def most_discriminating(step: WorkingStep) -> list[int]:
    """The places of the terms of a text, those first whose contributions differ most between the classes; of equals in
    their order.

    >>> from bayes_engine.factors import Row
    >>> hi, free = (WordTerm(t, 1.0, v, Fraction(1.0, 2.0, 0.0, 2)) for t, v in (("hi", -0.7), ("free", -0.7)))
    >>> texts = (Words(-1.4, (hi, free)), Words(-3.0, (hi, free._replace(log_value=-2.3))))
    >>> row = Row("note", "note", ("kind",), "log-probability")
    >>> most_discriminating(WorkingStep(row, "hi free", (0.2, 0.05), texts))
    [1, 0]
    """
    each = [s.terms for s in step.sources if isinstance(s, Words)]
    spread = [max(t.log_value for t in of) - min(t.log_value for t in of) for of in zip(*each, strict=True)]
    return sorted(range(len(spread)), key=lambda v: -spread[v] if spread[v] == spread[v] else inf)  # −∞ in all of them


def _times(term: WordTerm) -> str:
    return f" × {count(term.times)}" if term.times != 1 else ""


def _log_of(source: Fraction, times: float) -> str:
    return f"{count(times)} log {fraction(source)}" if times != 1 else f"log {fraction(source)}"


def _rate(source: Rate) -> str:
    """(total + a · mean)/(n + a) with its numbers."""
    if not source.added:
        return f"{count(source.total)}/{count(source.n)}"
    up = f"({count(source.total)}+{pseudo_count(source.added)}×{plain(source.mean)})"
    return f"{up}/({count(source.n)}+{pseudo_count(source.added)})"


def quotient(of: Quotient) -> str:
    """(a+b)/(c+d) with its numbers.

    >>> quotient(Quotient("p", (6.0, 1.0), (10.0, 2.0)))
    '(6+1)/(10+2)'
    """
    return "/".join(
        f"({'+'.join(map(count, side))})" if len(side) > 1 else count(side[0]) for side in (of.above, of.below)
    )


def risk_sum(working: Working, i: int, digits: int = DIGITS) -> str:
    """Σ_j λ_ij P(c_j|x) of action i with the numbers filled in: 0 × 0.998692 + 5 × 0.001308 = 0.006541."""
    losses = working.loss.table[i].tolist()
    terms = " + ".join(f"{bracketed(v)} × {posterior(working, k, digits)}" for k, v in enumerate(losses))
    return f"{terms} = {certain(working.risk[i], digits + 2)}"


def bracketed(loss: float) -> str:
    return count(loss) if loss >= 0 else f"({count(loss)})"


def degrees_of(d: Density) -> str:
    return f"({count(d.n)}−{d.ddof})" if d.ddof else count(d.n)


def _omissions(working: Working, names: DisplayNames) -> list[str]:
    reasons = {
        "missing": _("missing, no factor"),
        "constant": _("one value in every row, no factor"),
        "not kept": _("left out by the selection, no factor"),
    }
    return [names.column(o.name) + _(": ") + reasons[o.reason] for o in working.omitted]


# Markdown -------------------------------------------------------------------------------------------------------


def to_markdown(
    working: Working, names: DisplayNames = AS_IN_FILE, digits: int = DIGITS, final: Working | None = None
) -> str:
    """The derivation as Markdown: a table with a row for each factor and a column for each class, and the risks; with
    `final` as in `to_text`."""
    target = names.column(working.target)
    head = [_("factor"), *(f"{target} = {names.level(working.target, c)}" for c in working.classes)]
    lines = [_row(head), _row(["---"] * len(head))]
    for step in working.steps:
        cells = [_origin(working, step, k) + factor(working, step, k, digits) for k in range(len(step.sources))]
        lines.append(_row([given_title(step, names), *cells]))
    span = range(len(working.classes))
    if working.additive:
        lines.append(_row([log_joint_word(working), *(log_joint(working, k, digits) for k in span)]))
    lines.append(_row([joint_word(working), *(joint(working, k, digits) for k in span)]))
    if working.position >= 0 and final is None:
        lines.append(_row([_("posterior"), *(posterior(working, k, digits) for k in span)]))
    if opened := _opened(working, names):
        lines += ["", *(f"- {escaped(line)}" for line in opened)]
    lines += ["", *(f"- {escaped(line)}" for line in _omissions(working, names))] if working.omitted else []
    working = final or working
    if working.position < 0:
        return "\n".join([*lines, "", _("no posterior")])
    lines += ["", f"{evidence_word(working)} = {evidence(working, digits)}", ""]
    if final is not None:
        labels = [escaped(names.level(working.target, c)) for c in working.classes]
        lines += [f"- P({label} \\| x) = {posterior(working, k, digits)}" for k, label in enumerate(labels)]
    for i, action in enumerate(working.loss.actions):
        lines.append(f"- R({escaped(names.action(action))} \\| x) = {risk_sum(working, i, digits)}")
    return "\n".join([*lines, "", f"{_('decision')}{_(': ')}**{escaped(names.action(working.action))}**"])


def _opened(working: Working, names: DisplayNames) -> list[str]:
    """What the rates, the kernel densities and the texts among the factors were made of."""
    return [
        f"{name_of(step, working.classes[k], working.target, names)}{_(': ')}{_('; ').join(lines)}"
        for step in working.steps
        for k, source in enumerate(bare(step).sources)
        if isinstance(source, Estimated) and (lines := behind(working, step, k))
    ]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"


def markdown_table(rows: list[list[str]]) -> str:
    """Rows of text as a Markdown table, the first its head."""
    head, *rest = rows
    return "\n".join([_row(head), _row(["---"] * len(head)), *map(_row, rest)])


def escaped(text: str) -> str:
    """A name that Markdown takes literally, on one line."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#$~" else c for c in one_line(text))


def pseudo_count(rows: float) -> str:
    """What is added to a count: as it was set, or where it is a share of that, to four digits."""
    exact = count(rows)
    return exact if len(exact) <= 8 else f"{rows:.4g}"
