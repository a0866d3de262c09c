"""One pair opened: its contingency table for each class, the sum behind the number, the rows behind a count."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.numerals import count, number, p_value, signed
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.contingency import SPARSE, Contingency, contingency
from bayes_engine.workbench.derivation.dependence import Pair, PairTest
from bayes_engine.workbench.figures.dependence import tint
from pages import active
from pages.active import units
from pages.components.tables import Choice, Head, Tint, rows_behind, word_table
from pages.components.tables import rows as rows_of
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import change, current, dark
from pages.runtime.widgets import control
from pages.views.dependence.dependences import Dependences, column_name, edge_name, is_overall

MOST = 8
"""What up to so many classes add is written out as a sum."""
CLASSES = 3
"""The tables of up to so many classes stand beneath each other."""


def contingency_tables(table: active.FittableTable, dependences: Dependences, chosen: Pair) -> None:
    """The contingency table of a pair for each class, the sum behind the number, the rows behind a count."""
    overall = is_overall()
    tested = chosen.of(overall)
    cells = contingency(dependences.model, *chosen.edge, table.classes, overall=overall)
    st.subheader(
        _("{pair}: {amount}, by chance {chance}").format(
            pair=edge_name(table, chosen.edge),
            amount=units.evidence_text(tested.dependence.information),
            chance=units.evidence_text(tested.chance),
        )
    )
    about = _("Left: counts, in brackets what independence would give. Right: the term of each cell, in {unit}.")
    st.caption(f"{_verdict(cells, tested)} {about.format(unit=units.evidence_unit())}")
    k, i, j = _cell(cells)
    shown = list(range(len(cells.classes)))
    if len(shown) > CLASSES:
        shown = [_which_class(table, cells, k)]
    for c in shown:
        _table_of(table, cells, c, (k, i, j))
    _sum(cells, (k, i, j), overall)
    _of_case(table, cells)
    _rows(table, cells, (k, i, j))


def _verdict(cells: Contingency, tested: PairTest) -> str:
    few, possible = cells.sparse
    dependence = tested.dependence
    sentence = _("G = 2·{n}·{nats} nats = {g}, df = {df}, p {p}, after Holm's correction {holm}.").format(
        n=count(dependence.n),
        nats=number(dependence.information),
        g=f"{dependence.statistic:.3f}",
        df=dependence.degrees,
        p=p_value(tested.p, is_bound=tested.is_bound, equals="= "),
        holm=p_value(tested.holm, is_bound=tested.is_bound),
    )
    how = {
        "chi2": "",
        "exact": _(
            "Fewer than {least} rows are expected in {few} of {all} cells, so p is exact, over all tables with these "
            "margins; by χ² it would be {rough}."
        ),
        "bound": _(
            "Fewer than {least} rows are expected in {few} of {all} cells, so p is a bound: (number of tables with "
            "these margins) × (the largest probability of one with such a G); by χ² it would be {rough}."
        ),
        "drawn": _(
            "Fewer than {least} rows are expected in {few} of {all} cells, so p is from {draws} tables drawn with "
            "these margins; by χ² it would be {rough}."
        ),
        "too large": _(
            "Fewer than {least} rows are expected in {few} of {all} cells, so p, by χ², is rough; to draw tables of "
            "all such pairs would take minutes."
        ),
        "weighted": _(
            "Fewer than {least} rows are expected in {few} of {all} cells, so p, by χ², is rough; tables can be drawn "
            "only where rows weigh whole numbers."
        ),
    }[tested.method]
    if how:
        draws = f"{tested.draws:,}"
        how = " " + how.format(
            least=count(SPARSE), few=few, all=possible, draws=draws, rough=p_value(dependence.p_value)
        )
    return sentence + how


def _cell(cells: Contingency) -> tuple[int, int, int]:
    """The cell that is looked at: the one chosen, or the weightiest."""
    c, row, column = cell = current().seen(keys.PAIR_CELL) or cells.weightiest
    fits = all(v < most for v, most in zip(cell, cells.counts.shape, strict=True))
    return (c, row, column) if fits else cells.weightiest


def _which_class(table: active.FittableTable, cells: Contingency, k: int) -> int:
    adds = [signed(units.evidence(float(v)), 4) for v in cells.by_class]
    named_by = dict(enumerate(f"{clean(table.class_(c), 40)} · {v}" for c, v in zip(cells.classes, adds, strict=True)))
    chosen: int = st.selectbox(
        _("Class"),
        list(named_by),
        format_func=named_by.__getitem__,
        width=320,
        **control("pair_class", k, lambda s, c: s.showing(keys.PAIR_CELL.to((c, *_cell(cells)[1:])))),
    )
    return chosen


def _table_of(table: active.FittableTable, cells: Contingency, c: int, cell: tuple[int, int, int]) -> None:
    """Counts with what independence expects, and each cell's term, of one class."""
    label = cells.classes[c]
    whose = _("all rows") if label is None else f"{column_name(table, cells.target)} = {md(table.class_(label), 40)}"
    total, adds = count(float(cells.counts[c].sum())), units.evidence_text(float(cells.by_class[c]))
    left, right = st.columns(2, gap="small")
    left.markdown(f"**{whose}** · " + _("{n} rows").format(n=total))
    right.markdown("**" + _("adds {amount}").format(amount=adds) + "**")
    corner = f"{clean(table.column(cells.a.name), 24)} ╲ {clean(table.column(cells.b.name), 24)}"
    heads = [Head(corner), *(Head(clean(table.value(cells.b, v), 40), right=True) for v in cells.levels_b)]
    own = [table.value(cells.a, v) for v in cells.levels_a]
    counts = [
        [f"{count(n)}  ({e:.2f})" for n, e in zip(row, expected, strict=True)]
        for row, expected in zip(cells.counts[c].tolist(), cells.expected[c].tolist(), strict=True)
    ]

    def choose(row: int, column: int) -> None:
        change(lambda s: s.showing(keys.PAIR_CELL.to((c, row, column - 1 if column else cell[2]))))

    with left:
        word_table(
            heads,
            [[level, *row] for level, row in zip(own, counts, strict=True)],
            key=f"pair_counts_{c}",
            label=_("counts, and in brackets what independence would give"),
            height=388,
            choice=Choice(by="cell", chosen=(cell[1], cell[2] + 1) if cell[0] == c else None, on_choice=choose),
            narrow=True,
        )
    with right:
        word_table(
            heads,
            [[level, *row] for level, row in zip(own, _terms(cells, c), strict=True)],
            key=f"pair_terms_{c}",
            label=_("each cell's term of the sum"),
            height=388,
            narrow=True,
        )


def _terms(cells: Contingency, c: int) -> list[list[Tint]]:
    """The terms of a class, tinted by their size."""
    most, on_dark, unit = float(abs(cells.terms).max()) or 1.0, dark(), units.evidence(1.0)
    return [
        [Tint(signed(v * unit, 4) if v else "0", tint(v / most, dark=on_dark)) for v in row]
        for row in cells.terms[c].tolist()
    ]


def _holds(table: active.FittableTable, variable: Variable, value: Any) -> str:
    """«knock = muffled», «sugar ≤ 0.2», in Markdown."""
    shown = table.value(variable, value)
    equals = "" if variable.cuts is not None and shown[:1] in "≤>" else "= "
    return f"{column_name(table, variable.name)} {equals}{md(shown, 40)}"


def _sum(cells: Contingency, cell: tuple[int, int, int], overall: bool) -> None:
    """The formula, the sum over classes, and the term of the chosen cell."""
    parts, log = [number(units.evidence(float(v))) for v in cells.by_class], r"\log_2" if units.in_bits() else r"\ln"
    if overall:
        formula = rf"I(x_i;x_j)&=\sum_{{a,b}} P(a,b)\,{log}\frac{{P(a,b)}}{{P(a)\,P(b)}}"
    else:
        ratio = r"\frac{P(a,b\mid c)}{P(a\mid c)\,P(b\mid c)}"
        formula = rf"I(x_i;x_j\mid y)&=\sum_{{c,a,b}} P(a,b,c)\,{log}{ratio}"
    if 1 < len(parts) <= MOST:
        formula += rf"\\&={' + '.join(parts)}"
    total, unit = number(units.evidence(cells.information)), units.evidence_unit()
    st.latex(rf"\begin{{aligned}}{formula}={total}\ \text{{{unit}}}\end{{aligned}}", width="content")
    n, of_class, of_a, of_b = map(count, cells.factors(*cell))
    term = units.evidence(float(cells.terms[cell]))
    own = rf"\frac{{{n}}}{{{count(cells.n)}}}\,{log}\frac{{{n}/{of_class}}}{{({of_a}/{of_class})({of_b}/{of_class})}}"
    st.latex(own + f"={signed(term, 4)}" if float(cells.counts[cell]) else r"0\cdot\log 0=0", width="content")
    note = _("Last line: the cell that is chosen; a cell without rows adds nothing.")
    if not overall:
        note += " " + _(
            "The lecture notes print $P(x_i,x_j\\mid c)$ before the logarithm, without the factor $P(c)$; that would "
            "give {amount} here, and is no expectation. One of them writes $y_j$ for $x_j$."
        ).format(amount=units.evidence_text(cells.without_class_prior))
    st.caption(note)


def _of_case(table: active.FittableTable, cells: Contingency) -> None:
    """What the case in use adds to the mean that the information is."""
    case = active.case_frame(table, active.case_values(table))
    try:
        adds = cells.of_case(case).tolist()
    except BayesEngineError as error:
        st.caption(error.message.local(md))
        return
    held = [_holds(table, v, level) for v, level in zip((cells.a, cells.b), cells.levels_of(case), strict=True)]
    values = [signed(units.evidence(v), 4) if v == v else "–" for v in adds]  # – where no row has the one or the other
    if cells.classes[0] is None:
        ratio, shown = "P(a,b)}{P(a)\\,P(b)", values[0]
    else:
        names = (md(table.class_(c), 24) for c in cells.classes)
        ratio = "P(a,b\\mid c)}{P(a\\mid c)\\,P(b\\mid c)"
        shown = _(", ").join(f"{name} **{value}**" for name, value in zip(names, values, strict=True))
    sentence = _(
        "The case in use, {held}, adds ${ratio}$, in {unit}: {values}. The mean over the rows is the sum above."
    )
    fields = {"held": _(", ").join(held), "ratio": f"\\log\\frac{{{ratio}}}", "unit": units.evidence_unit()}
    st.markdown(sentence.format(values=shown, **fields))


def _rows(table: active.FittableTable, cells: Contingency, cell: tuple[int, int, int]) -> None:
    """The very rows that a count has counted."""
    k, i, j = cell
    values = ((cells.a, cells.levels_a[i]), (cells.b, cells.levels_b[j]))
    of = (*((v.name, v.cuts, value) for v, value in values), cells.target, cells.classes[k])
    behind = rows_behind(table, of, lambda whole: cells.rows(whole, *cell))
    held = [_holds(table, cells.a, cells.levels_a[i]), _holds(table, cells.b, cells.levels_b[j])]
    if cells.classes[k] is not None:
        held.append(f"{column_name(table, cells.target)} = {md(table.class_(cells.classes[k]), 40)}")
    st.markdown(f"**{' · '.join(held)}** · " + _("{n} rows").format(n=behind.n))
    first = [cells.a.name, cells.b.name, cells.target]
    rows_of(table, behind, first, of=(*first, cell), height=320)
