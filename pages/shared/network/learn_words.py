"""What the tab *learn* says: methods, scores, moves, why a search ended; the bill as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bayes_engine.language import _
from bayes_engine.numerals import signed
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import Bill, FamilyChange, FamilyScore, Move
from bayes_engine.structure.search import Search
from pages.shared.escape import clean, md
from pages.shared.network.learn_search import Ground, Task, scorer


def method(name: str) -> str:
    """A way to a structure on screen."""
    return {
        "hill-climb": _("hill climbing"),
        "k2": _("K2, along an order"),
        "exact": _("the exact optimum"),
        "tree": _("Chow and Liu's tree"),
        "naive": _("naive Bayes"),
        "tan": "TAN",
    }[name]


def method_help(name: str) -> str:
    """What it does, in a sentence."""
    return {
        "hill-climb": _(
            "From a graph without arcs, the one arc is added, deleted or turned round that gains most, until nothing "
            "gains; from there it walks on a little, to see whether a slope begins again."
        ),
        "k2": _("Every column takes parents from those before it in the order, the best one each time, while it pays."),
        "exact": _(
            "The best of all graphs, by dynamic programming over sets of columns; up to about 15 of them can be done."
        ),
        "tree": _("The spanning tree of most mutual information: every column has at most one parent (Chow & Liu)."),
        "naive": _("The class above every column, and nothing else: what the page Model calls naive Bayes."),
        "tan": _("The class above every column, and these a tree by $I(x_i;x_j\\mid y)$ (eq. 7.22)."),
    }[name]


def score(name: str) -> str:
    """A score on screen."""
    return {
        "mdl": "MDL = −BIC",
        "aic": "AIC",
        "k2": "K2",
        "bdeu": "BDeu",
        "log-likelihood": _("log-likelihood"),
    }[name]


def in_short(name: str) -> str:
    """The score as a word beside a number; more is better."""
    return {"mdl": "BIC", "aic": "AIC", "k2": "K2", "bdeu": "BDeu", "log-likelihood": "LL"}[name]


def formula(here: Ground, asked: Task) -> str:
    """What the score is, with its price on this table. Markdown."""
    price = scorer(here, asked).price
    if asked.score in ("k2", "bdeu"):
        rule = (
            _("K2: every table has the uniform Dirichlet prior.")
            if asked.score == "k2"
            else _("BDeu: an equivalent sample of {n:g} rows, spread evenly over each table.").format(n=asked.sample)
        )
        return " ".join(
            [
                _(
                    "$\\log P(D\\mid B)$, the tables integrated out, in nats: more is better. The penalty is what "
                    "integrating costs against the best table."
                ),
                rule,
            ]
        )
    said = _(
        "The book makes the description length small, $S(B\\mid D)=f(\\theta)\\,|B|-\\mathrm{{LL}}(B\\mid D)$ "
        "(eq. 7.28); shown is its negative, $\\mathrm{{LL}}-f(\\theta)\\,|B|$ in nats: more is better. Each of the "
        "$|B|$ free numbers costs $f(\\theta)={price}$."
    )
    m = f"{here.counts.n:g}"
    return said.format(
        price={
            "mdl": f"\\tfrac12\\ln {m}={price:.4f}",
            "aic": "1",
            "log-likelihood": "0",
        }[asked.score]
    )


def moved(here: Ground, move: Move) -> str:
    """A move in words; data, to be escaped."""
    a, b = here.table.column(move.parent), here.table.column(move.child)
    said = {
        "add": _("{a} → {b} is added"),
        "delete": _("{a} → {b} is deleted"),
        "reverse": _("{a} → {b} is turned round"),
    }
    return said[move.operation].format(a=a, b=b)


def ended(here: Ground, result: Search) -> str:
    """Why the search ended, in a sentence."""
    return {
        "optimum": _("Proven: no graph that the constraints allow scores higher."),
        "local optimum": _("No single arc added, deleted or turned round gains any more: a local optimum."),
        "steps": _("The search was stopped after its number of steps."),
        "time": _("The time was up: this is the best graph found until then. Give it more seconds to go on."),
        "cancelled": _("The search was cancelled: this is the best graph found until then."),
        "given": _("Nothing was searched for: the method fixes the arcs."),
    }[result.status]


def nats(value: float) -> str:
    """A score to four decimals, with a true minus sign."""
    return f"{value:,.4f}".replace("-", "−") if math.isfinite(value) else "–"


def family(here: Ground, line: FamilyScore) -> str:
    """«P(wet | rain)», for a literal surface."""
    child = clean(here.table.column(line.child), 28)
    above = _(", ").join(clean(here.table.column(p), 28) for p in line.parents)
    return f"{child} | {above}" if above else child


def changed(here: Ground, families: Sequence[FamilyChange], *, key: str) -> None:
    """The bill of a move: each family before and after it."""
    lines = []
    for n, change in enumerate(families):
        for when, line in ((_("before"), change.before), (_("after"), change.after)):
            lines.append({
                "family": family(here, line),
                "when": when,
                "ll": line.log_likelihood,
                "free": line.free,
                "penalty": line.penalty,
                "score": line.score,
                "delta": signed(change.delta, 4) if when == _("after") else "",
                "n": n,
            })  # fmt: skip
    _table(pd.DataFrame(lines).drop(columns="n"), key=key, alt=_("the bill of the step, family by family"))


def whole(here: Ground, yours: Bill, theirs: Bill, *, key: str) -> None:
    """Two graphs' bills side by side, the families that differ first."""
    lines = []
    for line in yours.families:
        other = theirs.by_child[line.child]
        lines.append({
            "family": family(here, line),
            "ll": line.log_likelihood,
            "free": line.free,
            "penalty": line.penalty,
            "score": line.score,
            "theirs": family(here, other) if other.parents != line.parents else "=",
            "their_score": other.score,
            "delta": line.score - other.score,
        })  # fmt: skip
    frame = pd.DataFrame(lines)
    order = frame["delta"].abs().sort_values(ascending=False, kind="stable").index
    frame = frame.loc[order].assign(delta=[signed(v, 4) if abs(v) > 5e-5 else "0" for v in frame.loc[order, "delta"]])
    _table(frame, key=key, alt=_("your families and the search's"))


def one(here: Ground, bill: Bill, *, key: str) -> None:
    """The bill of a graph."""
    lines = [
        {
            "family": family(here, line),
            "ll": line.log_likelihood,
            "free": line.free,
            "penalty": line.penalty,
            "score": line.score,
        }
        for line in bill.families
    ]
    total = {
        "family": _("all"),
        "ll": bill.log_likelihood,
        "free": bill.free,
        "penalty": bill.penalty,
        "score": bill.score,
    }
    _table(pd.DataFrame([*lines, total]), key=key, alt=_("the bill of the graph, family by family"))


def _table(frame: pd.DataFrame, *, key: str, alt: str) -> None:
    number = st.column_config.NumberColumn
    heads = {
        "family": st.column_config.TextColumn(_("family"), width=150),
        "when": st.column_config.TextColumn("", width=55),
        "ll": number("LL", format="%.4f", help=_("The log-likelihood of the family's best table, in nats.")),
        "free": number(_("free"), format="%d", width=45, help=_("The free numbers of its table: q(r − 1).")),
        "penalty": number(_("penalty"), format="%.4f", width=75),
        "score": number(_("score"), format="%.4f", help=_("LL less the penalty.")),
        "theirs": st.column_config.TextColumn(_("the search's family"), width=140),
        "their_score": number(_("its score"), format="%.4f"),
        "delta": st.column_config.TextColumn(_("gain"), width=80),
    }
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        height=min(38 + 35 * max(len(frame), 1), 388),
        alt=alt,
        column_config={name: heads[name] for name in frame.columns},
    )


def arcs_of(here: Ground, graph: DAG, most: int = 12) -> str:
    """The arcs of a graph in a line, in Markdown."""
    shown = [f"{md(here.table.column(a), 24)} → {md(here.table.column(b), 24)}" for a, b in graph.arcs]
    more = _(" and {n} more").format(n=len(shown) - most) if len(shown) > most else ""
    return _(", ").join(shown[:most]) + more
