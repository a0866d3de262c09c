"""What the tab *learn* says: methods, scores, moves, why a search ended; the score by families as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bayes_engine.language import _
from bayes_engine.numerals import count
from bayes_engine.structure.scores import DecomposedScore, FamilyChange, FamilyScore, Move
from bayes_engine.structure.search import SearchResult
from pages.active import units
from pages.components.tables import Head, markdown_table, word_table
from pages.runtime.escape import clean, md
from pages.views.network.learn_search import LearningData, SearchTask, scorer


def method(name: str) -> str:
    return {
        "hill-climb": _("hill climbing"),
        "k2": _("K2, along an order"),
        "exact": _("the exact optimum"),
        "tree": _("Chow and Liu's tree"),
        "naive": _("naive Bayes"),
        "tan": "TAN",
    }[name]


def method_help(name: str) -> str:
    return {
        "hill-climb": _(
            "From a graph without arcs, the one arc is added, deleted or reversed that gains most, until nothing "
            "gains; then it takes a few steps more, to see whether the score rises again."
        ),
        "k2": _(
            "Every column takes parents from those before it in the order, the best one each time, while the "
            "score improves."
        ),
        "exact": _(
            "The best of all graphs, by dynamic programming over sets of columns; up to about 15 of them can be done."
        ),
        "tree": _("The spanning tree of most mutual information: every column has at most one parent (Chow & Liu)."),
        "naive": _("The class above every column, and nothing else: what the page Model calls naive Bayes."),
        "tan": _("The class above every column, and these a tree by $I(x_i;x_j\\mid y)$ (eq. 7.22)."),
    }[name]


def score(name: str) -> str:
    return {
        "mdl": "MDL = −BIC",
        "aic": "AIC",
        "k2": "K2",
        "bdeu": "BDeu",
        "log-likelihood": _("log-likelihood"),
    }[name]


def score_short_name(name: str) -> str:
    """The score as a word beside a number; more is better."""
    return {"mdl": "BIC", "aic": "AIC", "k2": "K2", "bdeu": "BDeu", "log-likelihood": "LL"}[name]


def formula(here: LearningData, asked: SearchTask) -> str:
    """What the score is, with its price on this table. Markdown."""
    price = scorer(here, asked).price
    if asked.score in ("k2", "bdeu"):
        rule = (
            _("K2: every table has the uniform Dirichlet prior.")
            if asked.score == "k2"
            else _("BDeu: an equivalent sample size of {n:g}, spread evenly over each table.").format(n=asked.sample)
        )
        return " ".join(
            [
                _(
                    "The log marginal likelihood $\\log P(D\\mid B)$, the tables integrated out: more is better. The "
                    "penalty is what integrating costs against the best table."
                ),
                rule,
            ]
        )
    sentence = _(
        "The book makes the description length small, $S(B\\mid D)=f(\\theta)\\,|B|-\\mathrm{{LL}}(B\\mid D)$ "
        "(eq. 7.28); shown is its negative, $\\mathrm{{LL}}-f(\\theta)\\,|B|$: more is better. Each of the $|B|$ free "
        "numbers costs $f(\\theta)={price}$ {unit}."
    )
    half_log = f"\\tfrac12\\{'log_2' if units.in_bits() else 'ln'} {count(here.counts.n)}={units.evidence(price):.4f}"
    shown = {"mdl": half_log, "aic": f"{units.evidence(price):.5g}", "log-likelihood": "0"}
    return sentence.format(price=shown[asked.score], unit=units.evidence_unit())


def move_text(here: LearningData, move: Move) -> str:
    """A move in words; data, to be escaped."""
    a, b = here.table.column(move.parent), here.table.column(move.child)
    sentences = {
        "add": _("{a} → {b} is added"),
        "delete": _("{a} → {b} is deleted"),
        "reverse": _("{a} → {b} is reversed"),
    }
    return sentences[move.operation].format(a=a, b=b)


def why_ended(result: SearchResult) -> str:
    if result.method == "k2" and result.status == "local optimum":
        return _("Along this order no further parent improves the score of any column.")
    return {
        "optimum": _("Proven: no graph that the constraints allow scores higher."),
        "local optimum": _("No single arc added, deleted or reversed improves the score: a local optimum."),
        "steps": _("The search was stopped at its limit of steps."),
        "time": _("The time was up: this is the best graph found until then. Give it more seconds to go on."),
        "cancelled": _("The search was cancelled: this is the best graph found until then."),
        "given": _("Nothing was searched for: the method fixes the arcs."),
    }[result.status]


def score_value(nats: float) -> str:
    """A score to four decimals in the unit chosen, with a true minus sign."""
    return f"{units.evidence(nats):,.4f}".replace("-", "−") if math.isfinite(nats) else "–"


def gain(nats: float) -> str:
    """A difference of scores with its sign, in the unit chosen; what is rounding alone is 0."""
    return "0" if abs(nats) < 5e-5 else f"{units.evidence(nats):+,.4f}".replace("-", "−")


def gain_with_unit(nats: float) -> str:
    """«+1.5000 bits»."""
    return f"{gain(nats)} {units.evidence_unit()}"


def family(here: LearningData, line: FamilyScore) -> str:
    """«P(wet | rain)», for a literal surface."""
    child = clean(here.table.column(line.child), 28)
    above = _(", ").join(clean(here.table.column(p), 28) for p in line.parents)
    return f"{child} | {above}" if above else child


def change_table(here: LearningData, families: Sequence[FamilyChange]) -> None:
    """A move by families: each before and after it, and what that makes."""
    for before, after in families:
        heads = ["", *(md(family(here, line), 120) for line in (before, after)), _("change")]
        rows = [
            ("LL", before.log_likelihood, after.log_likelihood),
            (_("penalty"), before.penalty, after.penalty),
            (_("score"), before.score, after.score),
        ]
        lines = [(name, score_value(old), score_value(new), gain(new - old)) for name, old, new in rows]
        more = f"{after.free - before.free:+d}".replace("-", "−")
        lines.insert(1, (_("free"), str(before.free), str(after.free), more))
        cells = [[f":small[{cell}]" if cell else "" for cell in line] for line in (heads, *lines)]
        cells[-1] = [f"**{cell}**" for cell in cells[-1]]
        markdown_table(cells)


def families_compared(here: LearningData, yours: DecomposedScore, theirs: DecomposedScore) -> None:
    """Two graphs side by side by families, the families that differ most first."""
    ordered = sorted(yours.families, key=lambda line: -abs(line.score - theirs.by_child[line.child].score))
    lines = []
    for line in ordered:
        other = theirs.by_child[line.child]
        named = family(here, other) if other.parents != line.parents else "="
        lines.append(
            [family(here, line), *_parts(line), named, score_value(other.score), gain(line.score - other.score)]
        )
    heads = [Head(_("the search's family")), Head(_("its score"), right=True), Head(_("gain"), right=True)]
    _table(lines, *heads, key="learn_families", label=_("your families and the search's"))


def family_table(here: LearningData, scored: DecomposedScore) -> None:
    lines = [[family(here, line), *_parts(line)] for line in scored.families]
    _table([*lines, [_("all"), *_parts(scored)]], key="learn_bill_start", label=_("the score, family by family"))


def _parts(of: FamilyScore | DecomposedScore) -> list[str]:
    return [score_value(of.log_likelihood), str(of.free), score_value(of.penalty), score_value(of.score)]


def _table(lines: list[list[str]], *more: Head, key: str, label: str) -> None:
    heads = [
        Head(_("family")),
        Head("LL", _("The log-likelihood of the family's best table."), right=True),
        Head(_("free"), _("The free numbers of its table: q(r − 1)."), right=True),
        Head(_("penalty"), right=True),
        Head(_("score"), _("LL less the penalty."), right=True),
        *more,
    ]
    word_table(heads, lines, key=key, label=label, height=388, narrow=True)
