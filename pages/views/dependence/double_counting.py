"""What naive Bayes counts twice: of one case, in two live examples, and of a column that is copied again and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from bayes_engine.decision.compare import score
from bayes_engine.decision.held_out import HeldOut
from bayes_engine.decision.loss import decide_ledger
from bayes_engine.errors import listen
from bayes_engine.language import Message, _
from bayes_engine.ledger import Ledger
from bayes_engine.numerals import certain, p_value, signed
from bayes_engine.workbench.derivation.dependence import LEVEL
from bayes_engine.workbench.derivation.double_counting import (
    DoubleCounting,
    DoubleCountingByChance,
    Example,
    TrainingRows,
    double_counting_by_chance,
    held_out_alone,
    held_out_with_copies,
    most_double_counting,
    posterior_with_copies,
    refit_with_copies,
    two_switches,
    weight_lifters,
)
from bayes_engine.workbench.derivation.double_counting import double_counting as recounted
from bayes_engine.workbench.derivation.log_odds import odds_needed
from bayes_engine.workbench.figures.comparison import CopiesCurve, copies, example, recount
from bayes_engine.workbench.figures.contributions import ClassStyle
from bayes_engine.workbench.figures.theme import colour_of
from pages import active
from pages.active import units, words
from pages.active.dependence_models import family_models
from pages.components.chart import chart
from pages.components.tables import column, grid
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.job_queue import in_worker
from pages.runtime.jobs import of_model, run
from pages.runtime.state import Spec, current, dark, on_click
from pages.runtime.widgets import bound_to, within_limits
from pages.views.dependence.families import shared_settings

MOST_PAIRS = 8
"""As many pairs are listed."""
MOST_EDGES = 14
"""As many edges are drawn one by one."""
MOST_COPIES = keys.COPIES.limits[1]
REFITTED = (0, 1, 2, 5, 10)
"""The numbers of copies at which TAN and AODE are learnt anew."""
LIGHT = 5_000
"""Up to this many cells TAN and AODE stand beside naive Bayes unasked."""


# one case -------------------------------------------------------------------------------------------------------------


def double_counting_of_case(table: active.FittableTable) -> None:
    """For the case in use: how much naive Bayes counts twice, and for which pair most."""
    specs = family_models(table)
    values, use = active.case_values(table), active.prior_of_use(table)
    case, fitted = active.case_frame(table, values), active.fit(table, specs["tan"])
    naive, tree, mean = (active.fit(table, specs[p]).model for p in ("naive-bayes", "tan", "aode"))
    counts = recounted(naive, tree, mean, case, prior_of_use=use)
    if counts is None:
        st.warning(_("This case has no posterior, or a class is impossible for it: there is nothing to compare."))
        return
    st.markdown("#### " + _sentence(table, counts))
    by_chance = st.container()  # filled last: it takes the longest
    figure, beside = st.columns([3, 2], gap="medium")
    with figure:
        _waterfall(table, counts)
        _worst(table, specs)
        st.caption(
            _("Naive Bayes takes $P(x_j\\mid c)$ where the tree takes $P(x_j\\mid c,x_p)$. A bar is the log of their "
              "ratio for one class minus that for the other; together the bars are the whole difference.")
            + " " + shared_settings(table)
        )  # fmt: skip
    with beside:
        _both(table, [m.explain(case).at_prior(m.prior_by_class, use) for m in (naive, tree)])
        _pairs(table, counts)
    with by_chance:
        _chance(table, fitted, values, counts)


def _sentence(table: active.FittableTable, counts: DoubleCounting) -> str:
    name, other = (md(table.class_(c), 24) for c in (counts.for_, counts.against))
    if abs(counts.nats) < 0.005 or counts.largest_pair is None:
        return _("Of this case naive Bayes counts nothing twice.")
    text = (
        _("Of this case naive Bayes counts {amount} twice, for {name} against {other}, most of all because it takes "
          "{one} and {two} for independent ({share} of them).")
        if counts.nats > 0
        else _("Of this case naive Bayes overlooks {amount} for {name} against {other}, most of all because it takes "
               "{one} and {two} for independent ({share} of them).")
    )  # fmt: skip
    one, two = (md(table.column(n), 24) for n in (counts.largest_pair.parent, counts.largest_pair.child))
    share, amount = (abs(units.evidence(nats)) for nats in (counts.largest_pair.nats, counts.nats))
    return text.format(
        amount=f"{amount:.2f} {units.evidence_unit()}", name=name, other=other, one=one, two=two, share=f"{share:.2f}"
    )


def _chance(
    table: active.FittableTable, fitted: active.Fitted, case: Mapping[str, Any], counts: DoubleCounting
) -> None:
    """What the same case is counted twice by chance."""
    chance = _by_chance(fitted, case, (counts.for_, counts.against), counts, table)
    if chance is None:
        st.caption(
            _("What chance alone would count twice is known for columns with levels, in rows that count whole times.")
        )
        return
    sentence = _(
        "By chance alone it would be {chance} on average, in either direction: {share} of {n} tables whose columns are "
        "shuffled within each class, so that they are independent given the class, give as much (p {p})."
    )
    judged = _("So this is beyond chance.") if chance.p < LEVEL else _("So this may be chance.")
    amount = f"{units.evidence(chance.nats):.2f} {units.evidence_unit()}"
    share = f"{(chance.p * (chance.draws + 1) - 1) / chance.draws:.1%}"
    st.markdown(
        sentence.format(
            chance=f"**{amount}**",
            share=share,
            n=f"{chance.draws:,}",
            p=p_value(chance.p, is_bound=chance.p <= 1 / (1 + chance.draws), equals="= "),
        )
        + f" {judged}"
    )


@cached(max_entries=64, activity=Message("growing trees on shuffled tables"))
def _by_chance(
    fitted: active.Fitted,
    case: Mapping[str, Any],
    between: tuple[Any, Any],
    _counts: DoubleCounting,
    _table: active.FittableTable,
) -> DoubleCountingByChance | None:
    return in_worker(double_counting_by_chance, fitted.model, active.case_frame(_table, case), _counts)


def _waterfall(table: active.FittableTable, counts: DoubleCounting) -> None:
    edges = counts.edges
    if len(edges) > MOST_EDGES:  # the smallest become one with what is left
        small = sum(e.nats for e in edges[MOST_EDGES:])
        counts = replace(counts, edges=edges[:MOST_EDGES], rest=counts.rest + small)
    pairs = [
        f"{plotly_text(table.column(e.parent), 13)} · {plotly_text(table.column(e.child), 13)}" for e in counts.edges
    ]
    rest = [_("all others")] if len(counts.balance().weights) > 1 + len(counts.edges) else []
    position = {c: k for k, c in enumerate(table.classes)}
    left, right = (
        ClassStyle(plotly_text(table.class_(c), 24), colour_of(position[c], dark()))
        for c in (counts.for_, counts.against)
    )
    figure = recount(
        counts,
        [words.family("naive-bayes"), *pairs, *rest, "TAN"],
        (left, right),
        needed=odds_needed(active.case_losses(table), counts.for_, counts.against),
        bits=units.in_bits(),
        dark=dark(),
    )
    chart(figure, key="twice_waterfall", alt=_("from the log-odds of naive Bayes to those of the tree"))


def _both(table: active.FittableTable, ledgers: list[Ledger]) -> None:
    loss = active.case_losses(table)
    decided = [decide_ledger(ledger, loss) for ledger in ledgers]
    naive, tree = (dict(zip(ledger.classes, ledger.posterior()[0].tolist(), strict=True)) for ledger in ledgers)
    listed = sorted(table.classes, key=lambda c: -naive[c])[:6]
    grid(
        {
            "class": column("P(c|x)", [clean(table.class_(c), 30) for c in listed]),
            "naive": column(words.family("naive-bayes"), [certain(naive[c], 6) for c in listed]),
            "tree": column("TAN", [certain(tree[c], 6) for c in listed]),
        },
        key="twice_posterior",
        alt=_("posterior of each class by both"),
        whole=True,
    )
    first, second = (md(table.action(d.action[0]), 24) for d in decided)
    if decided[0].action[0] == decided[1].action[0]:
        st.markdown(_("The decision under your losses is the same: **{name}**.").format(name=first))
    else:
        st.markdown(
            _("Under your losses naive Bayes decides **{first}**, TAN **{second}**.").format(first=first, second=second)
        )


def _pairs(table: active.FittableTable, counts: DoubleCounting) -> None:
    """All pairs, the most misjudged first."""
    listed = counts.pairs[:MOST_PAIRS]
    shared, edges = [signed(units.evidence(p.nats), 3) for p in listed], [p.edge for p in listed]
    pairs = [f"{clean(table.column(p.parent), 24)} · {clean(table.column(p.child), 24)}" for p in listed]
    overlap = _("Each pair of columns by itself; pairs with a column in common overlap in what they count.")
    grid(
        {
            "nats": column(units.evidence_unit(), shared, _("What is counted twice; below 0: overlooked."), width=76),
            "edge": column(_("tree"), edges, _("The pair is an edge of the tree."), width=52),
            "pair": column(_("pair"), pairs, overlap),
        },
        key="twice_pairs",
        alt=_("what naive Bayes counts twice of each pair"),
        whole=True,
    )


def _worst(table: active.FittableTable, specs: Mapping[str, Spec]) -> None:
    """A way to the row that naive Bayes misjudges most."""
    worst = _most(table, specs["naive-bayes"], specs["tan"])
    if worst is None or worst[1] < 0.005:
        return
    row, nats = worst
    codes = active.case_codes(table, active.row_values(table, row), row)
    st.button(
        _("Take row {n}: {amount} counted twice, the most of all rows").format(
            n=int(table.parts.rows[row]) + 1, amount=f"{units.evidence(nats):.2f} {units.evidence_unit()}"
        ),
        icon=":material/search:",
        key="twice_worst",
        **on_click(lambda s: replace(s, case=codes, row=row, amount=-1.0)),
    )


@cached(max_entries=32)
def _most(table: active.FittableTable, naive: Spec, tree: Spec) -> tuple[int, float] | None:
    both = active.fit(table, naive).model, active.fit(table, tree).model
    message = Message("looking for the row that is counted twice most")
    return run(
        ("most counted twice", table.key, naive, tree), lambda: most_double_counting(*both, table.parts.X), message
    )


# two live examples ----------------------------------------------------------------------------------------------------


def live_examples() -> None:
    """Dependent overall but less, or not, within the class; and the reverse. Exact tables, no samples."""
    _example(
        keys.LIFTERS,
        _("The weight-lifter: dependent overall, less so within the class"),
        _("d: how far men and women differ among the others"),
        weight_lifters,
        ((_("woman"), _("man")), (_("not 100 kg"), _("100 kg"))),
        (_("not a lifter"), _("lifter")),
        _("The lecture notes' example: x₁ is a person's sex, x₂ whether they can lift 100 kg, y "
          "whether they are a weight-lifter. I(x₁; x₂) = {overall} {unit}, I(x₁; x₂ | y) = "
          "{given}: among the lifters sex adds no information about x₂, among the others it does. "
          "At d = 0 all the dependence is due to the class, and naive Bayes is exactly right. The "
          "notes give no numbers; these are made up: half are lifters, 0.8 of them men, 0.5 of the "
          "others; 0.9 of the lifters can, of the others 0.2 (1 + d) of the men and 0.2 (1 − d) of "
          "the women."),
    )  # fmt: skip
    _example(
        keys.SWITCHES,
        _("Two switches of one lamp: independent overall, dependent within the class"),
        _("how reliably the lamp follows its switches"),
        two_switches,
        ((_("1 down"), _("1 up")), (_("2 down"), _("2 up"))),
        (_("lamp dark"), _("lamp lit")),
        _("The switches are independent of each other: I(x₁; x₂) = {overall} {unit}, but I(x₁; x₂ "
          "| y) = {given} once the lamp is known. Naive Bayes looks at each switch alone and gives "
          "½ everywhere."),
    )  # fmt: skip
    st.caption(
        _(
            "What naive Bayes needs is that all attributes are jointly independent within each class (one of the "
            "lecture notes says “independent”, another “pairwise independent”); the table as a whole proves nothing "
            "either way."
        )
    )


def _example(
    key: keys.ViewKey[float],
    title: str,
    parameter: str,
    made: Any,
    attributes: tuple[tuple[str, str], tuple[str, str]],
    classes: tuple[str, str],
    sentence: str,
) -> None:
    st.markdown(f"**{title}**")
    text, control = st.columns([3, 2], gap="medium", vertical_alignment="center")
    control.slider(parameter, step=0.05, **within_limits(key))
    shown: Example = made(current().seen(key))
    overall, given = (f"**{units.evidence(nats):.4f}**" for nats in (shown.overall, shown.given_class))
    text.markdown(sentence.format(overall=overall, given=given, unit=units.evidence_unit()))
    chart(example(shown, attributes, classes, dark=dark()), key=f"example_{key.name}", alt=title)


# one column, again and again ------------------------------------------------------------------------------------------


def duplicates(table: active.FittableTable) -> None:
    """One column copied again and again: what becomes of confidence and accuracy."""
    specs, use, values = family_models(table), active.prior_of_use(table), active.case_values(table)
    case, fitted = active.case_frame(table, values), active.fit(table, specs["naive-bayes"])
    ledger = fitted.model.explain(case).at_prior(fitted.model.prior_by_class, use)
    if ledger.status[0]:
        st.warning(_("No posterior: {why}.").format(why=words.status(int(ledger.status[0]))))
        return
    column, times, beside = _controls(table, ledger)
    held = active.held_out_rows(table, fitted)
    naive = _naive_scores(fitted, column, use, held, table)
    others = {}
    for place in ("tan", "aode") if beside else ():
        with of_model(words.family(place)):
            alone = active.fit(table, specs[place])
            others[place] = [_refit(alone, column, k, values, table) for k in REFITTED]
    classes = ledger.classes
    best = classes[int(ledger.posterior()[0].argmax())]
    of_case = [
        posterior_with_copies(fitted.model, case, column, k, prior_of_use=use)[classes.index(best)]
        for k in range(MOST_COPIES + 1)
    ]
    measures: dict[str, Callable[[float], float]] = {
        "confidence": float, "accuracy": float, "log_loss": units.loss_shown
    }  # fmt: skip
    lines = [
        CopiesCurve(
            words.family("naive-bayes"),
            [list(enumerate(of_case)), *(list(enumerate(map(shown, naive[m]))) for m, shown in measures.items())],
        )
    ]
    for place, scored in others.items():
        scores = [score(held, use) for _ledger, held in scored]
        own = active.fit(table, specs[place]).model.prior_by_class  # copies leave it alone
        at_use = [one.at_prior(own, use) for one, _held in scored]
        at_best = [float(one.posterior()[0, one.classes.index(best)]) for one in at_use]
        first = list(zip(REFITTED, at_best, strict=True))
        rest = [[(k, shown(s[m])) for k, s in zip(REFITTED, scores, strict=True)] for m, shown in measures.items()]
        lines.append(CopiesCurve(words.family(place), [first, *rest]))
    titles = [
        _("P({name} | case)").format(name=plotly_text(table.class_(best), 18)),
        _("mean confidence"),
        _("accuracy"),
        units.loss_measure(),
    ]
    st.markdown(
        _("With {k} copies of {column} naive Bayes gives {name} **{p}** (without: {p0}) with a "
          "mean confidence of **{confidence}** ({confidence0}); its accuracy is **{accuracy}** "
          "({accuracy0}).").format(
            column=md(table.column(column), 24), k=times, name=md(table.class_(best), 24), p=certain(of_case[times], 6),
            p0=certain(of_case[0], 6), confidence=certain(naive["confidence"][times]),
            confidence0=certain(naive["confidence"][0]), accuracy=f"{naive['accuracy'][times]:.1%}",
            accuracy0=f"{naive['accuracy'][0]:.1%}",
        )
    )  # fmt: skip
    chart(
        copies(lines, titles, chosen=times, dark=dark()),
        key="copies_figure",
        alt=_("confidence and accuracy over the copies"),
    )
    sentences = [
        _("Naive Bayes counts each copy as new evidence; the copies add no information."),
        _(
            "Exact without a refit: its term stands there k + 1 times, on held-out rows ({scheme}) as for the case."
        ).format(scheme=held.scheme.local(md)),
    ]
    if beside:
        sentences.append(
            _(
                "TAN and AODE, refitted with {counts} copies, tell a copy from new evidence; what still grows there "
                "is smoothing, k times over."
            ).format(counts=_(", ").join(map(str, REFITTED)))
        )
    st.caption(" ".join([*sentences, shared_settings(table)]))


def _controls(table: active.FittableTable, ledger: Ledger) -> tuple[str, int, bool]:
    """The column, how many copies, and whether TAN and AODE are asked too."""
    names = table.features.names
    copied = current().seen_among(keys.COPIED, range(len(names)), names.index(_strongest_columns(ledger, names)))
    beside = current().seen(keys.COPIES_BESIDE)
    if beside is None:
        beside = table.parts.X.size <= LIGHT
    one, two, three = st.columns([2, 3, 2], gap="medium", vertical_alignment="bottom")
    one.selectbox(
        _("Copy the column"),
        range(len(names)),
        format_func=lambda i: clean(table.column(names[i]), 40),
        **bound_to(keys.COPIED, copied),
    )
    two.slider(_("copies"), **within_limits(keys.COPIES))
    three.toggle(
        _("with TAN and AODE"),
        help=_("They are refitted with the copies; on a large table that takes a while."),
        **bound_to(keys.COPIES_BESIDE, beside),
    )
    return names[copied], current().seen(keys.COPIES), beside


def _strongest_columns(ledger: Ledger, names: tuple[str, ...]) -> str:
    """The column that speaks most for the likeliest class of the case, against the next."""
    order = sorted(range(len(ledger.classes)), key=lambda k: -ledger.posterior()[0][k])
    nats = ledger.contributions(*(ledger.classes[k] for k in order[:2])).iloc[0]
    known = {str(n): v for n, v in nats.items() if str(n) in names and math.isfinite(v)}
    return max(known, key=lambda n: known[n]) if known else names[0]


@cached(max_entries=32, activity=Message("judging the model on rows held out"))
def _naive_scores(
    fitted: active.Fitted,
    column: str,
    use: Mapping[Any, float] | None,
    _held: HeldOut,
    _table: active.FittableTable,
) -> dict[str, list[float]]:
    """Naive Bayes's scores at every number of copies."""
    with listen():  # what an estimate replaces is said where the model is shown
        alone = in_worker(held_out_alone, fitted.model, _rows(_table), column).in_order(_held.classes)
    scores = [score(held_out_with_copies(_held, alone, k), use) for k in range(MOST_COPIES + 1)]
    return {name: [one[name] for one in scores] for name in scores[0]}


@cached(max_entries=128, activity=Message("judging the model on rows held out"))
def _refit(
    fitted: active.Fitted, column: str, times: int, case: Mapping[str, Any], _table: active.FittableTable
) -> tuple[Ledger, HeldOut]:
    """A model learnt with copies: what it says of the case and of rows held out."""
    with listen():
        asked = active.case_frame(_table, case)
        ledger, held = in_worker(refit_with_copies, fitted.model, _rows(_table), asked, column, times)
    return ledger, held.in_order(_table.classes)


def _rows(table: active.FittableTable) -> TrainingRows:
    parts = table.parts
    return TrainingRows(parts.X, parts.y, parts.groups, parts.weight)
