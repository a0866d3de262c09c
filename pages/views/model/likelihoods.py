"""Which likelihood a column has, chosen beside its class-conditionals; and the class-conditionals that are neither a
table nor a Gaussian, with the rows behind them: kernel densities, Poisson rates, the words of a text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import streamlit as st

from bayes_engine.language import Message, _
from bayes_engine.logspace import Array
from bayes_engine.models.likelihoods import possible
from bayes_engine.numerals import count, number, plain
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.column_values import values_of
from bayes_engine.workbench.derivation.conditionals import Conditional, GaussianConditionals
from bayes_engine.workbench.derivation.likelihoods import (
    Curves,
    Distributions,
    Other,
    Rates,
    ShareTable,
    WordTable,
    rows_of_class,
    suits,
)
from bayes_engine.workbench.derivation.render import fraction
from bayes_engine.workbench.derivation.texts import LookedUp
from bayes_engine.workbench.figures.conditionals import BUMPS, STRIP, kernel_curves, magnified, rate_bars
from pages import active
from pages.active import shelf, units, words
from pages.active.model_settings import TOGETHER, may_be_together
from pages.active.text_terms import shown
from pages.components import tables
from pages.components.chart import chart
from pages.components.tables import Head
from pages.runtime import view_keys as keys
from pages.runtime.cache import cached
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.state import State, change, current, dark
from pages.runtime.widgets import control
from pages.views.model import counts_together, discriminating_words

WORDS = 20
"""So many words of a text are listed."""
TALLEST = 388
"""Height of a table in pixels."""
SILVERMAN = r"$h_c=s_c\,(4/(3n_c))^{1/5}$"
RANGE = r"$h_c=\max\{(\max-\min)/\sqrt{n_c},\,p/6\}$"
COMPLEMENT = r"$w_{cv}=-\log\,(N_{\tilde cv}+\alpha)/(N_{\tilde c}+\alpha V)$"
MULTINOMIAL = r"$P(w\mid c)=(N_{cw}+\alpha)/(N_c+\alpha V)$"
BERNOULLI = r"$P(w\mid c)=(n_{cw}+\alpha)/(n_c+2\alpha)$"


# the choice -----------------------------------------------------------------------------------------------------------


@cached(max_entries=256)
def _suits(table: active.FittableTable, column: str) -> dict[str, Message | None]:
    """The likelihoods that a column can have, each with what its values say against it."""
    parts = table.parts
    return suits(parts.schema.features[column], parts.X[column], parts.y)


def choose_likelihood(table: active.FittableTable, fitted: active.Fitted, column: Variable) -> None:
    """The likelihood of this column, of those that its kind and its values allow."""
    spec = fitted.spec
    if spec.family not in active.NAIVE or len(possible(column)) < 2:
        return
    against = _suits(table, column.name)
    if not may_be_together(table, spec.family):
        against = {name: why for name, why in against.items() if name != TOGETHER}
    position = table.features.position[column.name]
    stands = active.likelihood_of(table, spec, position)
    offered = [name for name, why in against.items() if why is None or name == stands]
    refused = {name: why for name, why in against.items() if why is not None}

    def take(state: State, name: str) -> State:
        edit = shelf.edit_active_model(table, lambda old: shelf.with_likelihood(table, old, position, name))
        return edit(state).showing(keys.CELL.to(()))

    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            _("Likelihood of this column"),
            offered,
            format_func=words.likelihood,
            width=330,
            help=words.likelihood_help(stands),
            **control("column_likelihood", stands, take),
        )
        if refused:
            names = _(", ").join(words.likelihood(name) for name in refused)
            st.caption(
                _("Not applicable here: {names}").format(names=names),
                help="\n\n".join(why.local(md) for why in refused.values()),
                width="content",
            )


# the class-conditionals -----------------------------------------------------------------------------------------------


def values_behind(table: active.FittableTable, estimates: Conditional | Curves) -> tuple[Array, ...]:
    """The known values behind each class's estimate, sorted; kept, for a table may be long."""
    classes = range(len(estimates.classes))
    borrowed = tuple(isinstance(estimates, GaussianConditionals) and estimates.borrowed(k) for k in classes)
    given = tuple((cell.variable.name, cell.value, cell.raw) for cell in estimates.given)
    return _values_behind(table, estimates.variable.name, estimates.classes, given, borrowed, estimates)


@cached(max_entries=32)
def _values_behind(
    table: active.FittableTable,
    column: str,
    classes: tuple[Any, ...],
    given: tuple[Any, ...],
    borrowed: tuple[bool, ...],
    _estimates: Conditional | Curves,
) -> tuple[Array, ...]:
    return values_of(_estimates, table.parts.X, table.parts.y)


def draw_likelihood(table: active.FittableTable, estimates: Other) -> None:
    """Curves with their bumps, bars of a rate beside the rows' shares, or the words that tell most."""
    classes = [plotly_text(table.given_class(c)) for c in estimates.classes]
    name = plotly_text(table.column(estimates.variable.name))
    if isinstance(estimates, Curves):
        values = values_behind(table, estimates)
        chart(kernel_curves(estimates, values, classes=classes, name=name, dark=dark()), key="conditionals",
              alt=_("p(x | class), kernel densities and their bumps"))  # fmt: skip
        st.caption(_about_curves(estimates))
    elif isinstance(estimates, Rates):
        chart(rate_bars(estimates, classes=classes, name=name, dark=dark()), key="conditionals",
              alt=_("P(x | class) by the Poisson rate, beside the shares of the rows"))  # fmt: skip
        st.caption(_("Solid: μˣe^−μ/x! with the class's rate μ (the mark on the axis). Pale: the share of the class's "
                     "rows. A Poisson distribution has one parameter, so its variance is its mean: where the pale "
                     "bars spread wider, the column is not Poisson."))  # fmt: skip
    elif isinstance(estimates, Distributions):
        chart(rate_bars(estimates, classes=classes, name=name, dark=dark()), key="conditionals",
              alt=_("P(x | class) by the distribution, beside the shares of the rows"))  # fmt: skip
        st.caption(_("Solid: the distribution, with its mean (the mark on the axis). Pale: the share of the class's "
                     "rows."))  # fmt: skip
    elif isinstance(estimates, ShareTable):
        counts_together.share_chart(table, estimates)
        counts_together.share_list(table, estimates, chosen_share(estimates))
    else:
        _words(table, estimates)


def _about_curves(curves: Curves) -> str:
    """What a bump is, and how wide: the rule with its number."""
    times = magnified(curves)
    sentences = [_("The curve is the mean of the bumps beneath it, one on each training value.")]
    if times > 1:
        sentences.append(_("The bumps are drawn {n} times as high as they are.").format(n=times))
    if max(len(values) for values, _weight in curves.points) > BUMPS:
        sentences.append(_("Of a class with more than {n} values so many bumps are drawn.").format(n=BUMPS))
    if curves.precision is None:
        sentences.append(_("Bandwidth by Silverman's rule, {rule}: {all}.").format(rule=SILVERMAN, all=_widths(curves)))
    else:
        sentences.append(
            _("Bandwidth by the range of the values, {rule}, where $p$ = {p} is the mean gap of the column's distinct "
              "values, to multiples of which they are rounded: {all}.").format(
                  rule=RANGE, p=plain(curves.precision), all=_widths(curves))
        )  # fmt: skip
    if max(sum(weight) for _values, weight in curves.points) > STRIP:
        sentences.append(_("Of a class with more than {n} values so many are drawn, evenly by rank.").format(n=STRIP))
    return " ".join(sentences)


def _widths(curves: Curves) -> str:
    """h of each class; of many the range."""
    if len(curves.classes) > 4:
        return _("h from {low} to {high}").format(low=number(min(curves.bandwidth)), high=number(max(curves.bandwidth)))
    return _(", ").join(f"$h$ = {number(h)}" for h in curves.bandwidth)


def _words(table: active.FittableTable, word_table: WordTable) -> None:
    """The terms that say most of the class, with the fraction that each probability is; a cell can be chosen, any other
    word looked up."""
    if not word_table.complement:  # its weights are drawn as evidence of the class's own words
        discriminating_words.word_chart(table, word_table)
        discriminating_words.word_search(table, word_table)
    terms = listed_terms(word_table)
    place = {term: v for v, term in enumerate(word_table.terms)}
    nats = word_table.discriminating(WORDS)["nats"].tolist()
    row, k = chosen_cell(len(terms), len(word_table.classes))
    lines, log, first = [], "log₂" if units.in_bits() else "ln", 1 if word_table.complement else 2
    for term, information in zip(terms, nats, strict=True):
        sources = [word_table.source(j, place[term]) for j in _span(word_table)]
        if word_table.complement:
            weights = -word_table.log_p[:, place[term]]
            pairs = zip(sources, weights.tolist(), strict=True)
            lines.append([shown(term), *(f"−{log} {fraction(s)} = {number(units.evidence(w))}" for s, w in pairs)])
            continue
        lines.append(
            [
                shown(term),
                f"{units.evidence(information):.4f}",
                *(f"{fraction(s)} = {number(s.value)}" for s in sources),
            ]
        )

    def choose(index: int, column: int) -> None:
        change(lambda s: s.showing(keys.CELL.to((index, column - first if column >= first else k)), keys.LOOK.to("")))

    informative = Head(
        "I(x; c)",
        _("How informative the term is about the class on average, in {unit}.").format(unit=units.evidence_unit()),
        right=True,
    )
    heading = _("weight for {name}") if word_table.complement else "P(w | {name})"
    names = [clean(table.class_(c), 30) for c in word_table.classes]
    tables.word_table(
        [
            Head(_("term")),
            *([] if word_table.complement else [informative]),
            *(Head(heading.format(name=name), right=True) for name in names),
        ],
        lines,
        key="telling_words",
        label=_("the most informative terms"),
        height=TALLEST,
        choice=tables.Choice(
            by="cell",
            chosen=None if discriminating_words.word_looked_up(table, word_table) else (row, k + first),
            on_choice=choose,
        ),
    )
    listed = (
        _("The {n} terms that tell the classes apart most.")
        if word_table.complement
        else _("The {n} terms most informative about the class.")
    )
    st.caption(listed.format(n=len(terms)) + " " + _about_words(word_table))
    if not (word_table.presence or word_table.complement):
        st.caption(
            _(
                "Complement naive Bayes counts the words of all other classes instead (Settings, Family; for tables "
                "whose columns are all texts). It gives scores; calibrated, they are probabilities."
            )
        )


def listed_terms(word_table: WordTable) -> list[str]:
    """The terms that say most of the class."""
    return [str(term) for term in word_table.discriminating(WORDS)["term"]]


def _span(estimates: Other) -> range:
    return range(len(estimates.classes))


def _about_words(word_table: WordTable) -> str:
    """How the probabilities of the terms are counted."""
    n = f"{len(word_table.terms):,}"
    if word_table.complement:
        return _("The weight of a word for a class is minus the logarithm of its share among the words of all other "
                 "classes, {rule}, one of {n} terms. A text's score adds up the weights of its words, as often as they "
                 "stand there; a word with a greater weight for one class than for the others speaks for it.").format(
                     n=n, rule=COMPLEMENT)  # fmt: skip
    if word_table.presence:
        return _("Bernoulli: of each of the {n} terms, in what share of the class's texts it stands, {rule}. A term "
                 "that is absent counts too, with 1 − P(w | c).").format(n=n, rule=BERNOULLI)  # fmt: skip
    return _("Multinomial: of all terms in the class's texts, what share each of the {n} is, {rule}. A term counts as "
             "often as it stands in a text; absent ones do not count.").format(n=n, rule=MULTINOMIAL)  # fmt: skip


# the rows behind ------------------------------------------------------------------------------------------------------


def rows_behind(table: active.FittableTable, fitted: active.Fitted, estimates: Other) -> None:
    """What the numbers of each class were made of, and the very rows of the class or the cell that is chosen."""
    if isinstance(estimates, ShareTable):
        row, k = chosen_share(estimates)
        _rows(table, fitted, estimates, k, estimates.terms[row])
        return
    if isinstance(estimates, WordTable):
        if asked := discriminating_words.word_looked_up(table, estimates):
            _rows_looked_up(table, fitted, estimates, asked)
            return
        row, k = chosen_cell(len(listed_terms(estimates)), len(estimates.classes))
        _rows(table, fitted, estimates, k, listed_terms(estimates)[row])
        return
    st.caption(_("Choose a class; its rows stand below."))
    k = chosen_cell(1, len(estimates.classes))[1]
    if isinstance(estimates, Distributions):
        parameters = {name: [f"{v:.6g}" for v in values] for name, values in estimates.parameters.items()}
        class_table(table, estimates, k, {"n": [count(n) for n in estimates.n], **parameters})
    elif isinstance(estimates, Curves):
        _curve_table(table, estimates, k)
    else:
        _rate_table(table, estimates, k)
    _rows(table, fitted, estimates, k)


def chosen_share(shares: ShareTable) -> tuple[int, int]:
    """The (column, class) of a multinomial whose rows are shown; at first the column that is looked at."""
    own = shares.terms.index(shares.variable.name)
    return chosen_cell(len(shares.terms), len(shares.classes), otherwise=(own, 0))


def _rows_looked_up(table: active.FittableTable, fitted: active.Fitted, word_table: WordTable, asked: LookedUp) -> None:
    """The rows of a class whose text holds the word that was looked up."""
    if asked.place < 0:
        st.caption(_("No row holds it."))
        return
    most = max(_span(word_table), key=lambda k: asked.texts[k] / max(asked.of[k], 1))
    k = current().seen_among(keys.LOOK_CLASS, _span(word_table), most)
    names = {j: f"{md(table.class_(c), 30)} · {asked.texts[j]}/{asked.of[j]}" for j, c in enumerate(word_table.classes)}
    chosen = control(keys.LOOK_CLASS.widget, k, lambda s, j: s.showing(keys.LOOK_CLASS.to(k if j is None else j)))
    st.pills(_("Class"), list(names), format_func=names.__getitem__, wrap=True, label_visibility="collapsed", **chosen)
    _rows(table, fitted, word_table, k, asked.term)


def chosen_cell(rows: int, classes: int, otherwise: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """The (row, class) whose rows are shown: the one that the state names, where there is such a one."""
    row, k = current().seen(keys.CELL) or otherwise
    return (row, k) if row < rows and k < classes else otherwise


def class_table(
    table: active.FittableTable,
    estimates: Conditional | Other,
    k: int,
    columns: dict[str, list[str]],
    *,
    marks: Sequence[str] = (),
    key: str = "by_class",
    label: str = "",
) -> None:
    """A table with a row for each class, of which one can be chosen; of each column its head and cells. `marks` stand
    behind the names of the classes."""
    if any(estimates.missing):
        columns = {**columns, _("missing"): [count(n) for n in estimates.missing]}
    names = [table.class_(c) + mark for c, mark in zip_longest(estimates.classes, marks, fillvalue="")]
    tables.word_table(
        [Head(table.column(table.target.name)), *(Head(head, right=True) for head in columns)],
        list(zip(names, *columns.values(), strict=True)),
        key=key,
        label=label or _("what each class has"),
        height=TALLEST,
        choice=tables.Choice(
            by="row",
            chosen=(k, 0),
            on_choice=lambda chosen, _column: change(lambda s: s.showing(keys.CELL.to((0, chosen)))),
        ),
    )


def _curve_table(table: active.FittableTable, curves: Curves, k: int) -> None:
    """n, spread and bandwidth of each class; the rule with its numbers for the one chosen."""
    spread = _("sd s") if curves.precision is None else "max − min"
    columns = {
        "n": [count(curves.n(j)) for j in _span(curves)],
        _("kernel centres"): [str(len(values)) for values, _weight in curves.points],
        spread: [f"{curves.spread(j):.6g}" + (" †" if curves.replaced[j] else "") for j in _span(curves)],
        _("bandwidth h"): [f"{h:.6g}" for h in curves.bandwidth],
    }
    class_table(table, curves, k, columns)
    n, spread_, h = count(curves.n(k)), f"{curves.spread(k):.6g}", f"{curves.bandwidth[k]:.6g}"
    if curves.precision is None:
        st.markdown(rf"$\displaystyle h=s\left(\frac{{4}}{{3n}}\right)^{{1/5}}={spread_}"
                    rf"\left(\frac{{4}}{{3\times {n}}}\right)^{{1/5}}={h}$")  # fmt: skip
    else:
        rule, p = r"\frac{\max-\min}{\sqrt n},\ \frac p6", f"{curves.precision:.6g}"
        numbers = rf"\frac{{{spread_}}}{{\sqrt{{{n}}}}},\ \frac{{{p}}}{{6}}"
        st.markdown(rf"$\displaystyle h=\max\left\{{{rule}\right\}}=\max\left\{{{numbers}\right\}}={h}$")
    if any(curves.replaced):
        st.caption(_("† too few values, or no spread, in this class: the pooled spread, or the least allowed, stands "
                     "in."))  # fmt: skip


def _rate_table(table: active.FittableTable, rates: Rates, k: int) -> None:
    """n, sum and rate of each class; the rate of the one chosen with its numbers."""
    columns = {
        "n": [count(n) for n in rates.n],
        "Σx": [count(total) for total in rates.total],
        _("pseudo-observations α"): [count(added) for added in rates.added],
        _("rate μ"): [f"{rate:.6g}" for rate in rates.rate],
        _("variance of the rows"): [_variance(rates, j) for j in _span(rates)],
    }
    class_table(table, rates, k, columns)
    n, total, a = count(rates.n[k]), count(rates.total[k]), count(rates.added[k])
    if rates.added[k]:
        st.markdown(rf"$\displaystyle\mu=\frac{{\sum x+\alpha\bar x}}{{n+\alpha}}"
                    rf"=\frac{{{total}+{a}\times {rates.mean:.6g}}}{{{n}+{a}}}={rates.rate[k]:.6g}$")  # fmt: skip
        st.caption(_("Smoothed by α pseudo-observations that have the mean of the whole column, x̄."))
    else:
        st.markdown(rf"$\displaystyle\mu=\frac{{\sum x}}{{n}}=\frac{{{total}}}{{{n}}}={rates.rate[k]:.6g}$")


def _variance(rates: Rates, k: int) -> str:
    """The mean square deviation of the class's rows from their mean, to hold against μ."""
    mean = float(rates.x @ rates.observed[k])
    return f"{float((rates.x - mean) ** 2 @ rates.observed[k]):.6g}"


def _rows(
    table: active.FittableTable, fitted: active.Fitted, estimates: Other, k: int, term: str | None = None
) -> None:
    """The very rows of the table behind a class's numbers; of a text those with the term that is chosen."""
    parts, label, column = table.parts, estimates.classes[k], estimates.variable.name
    of = (fitted.key, column, label, term)
    behind = tables.rows_behind(table, of, lambda whole: rows_of_class(estimates, whole, label, term))
    of_class = tables.rows_in_class(table, label)
    with_term = _("with «{term}»").format(term=md(shown(term), 40)) if term else ""
    if isinstance(estimates, ShareTable) and term:
        column, with_term = term, f"{md(table.column(term), 40)} > 0"
    heading = [md(table.given_class(label)), *([with_term] if term else [])]
    share = _("{n} of the {all} rows of this class").format(n=behind.n, all=of_class)
    if isinstance(estimates, WordTable) and estimates.complement:
        heading[0] = f"{md(table.column(parts.target.name), 40)} ≠ {md(table.class_(label), 40)}"
        share = _("{n} of the {all} rows of all other classes").format(n=behind.n, all=len(parts.y) - of_class)
    st.markdown(f"**{' · '.join(heading)}** · {share}")
    first = [*(["×"] if "×" in behind.frame else []), column, parts.target.name]
    tables.rows(table, behind, first, of=(column, str(label), term), height=TALLEST)
