"""Maximum likelihood on the rows of one class: μ and σ of a column of numbers, or θ of a column of levels, dragged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.logspace import Array
from bayes_engine.numerals import number_of_log, plain
from bayes_engine.table.levels import sort_levels
from bayes_engine.table.schema import Variable
from bayes_engine.workbench.derivation.column_values import thinned
from bayes_engine.workbench.laboratory import fitted_column as lab
from pages import active
from pages.active import predicting, required
from pages.components.component import component, ink, is_number, last_message, read_message
from pages.components.held_back import held_back
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md
from pages.runtime.state import change, current
from pages.runtime.widgets import bound_to, control

_component = component(
    __file__,
    "bayes_fitted",
    '<div class="drawing fitted" data-testid="fitted"></div>',
    uses=("drawing", "stage", "paper"),
)
STEMS = 400
"""So many rows have a stem, or are listed to be predicted from."""
LISTED = 24
"""Up to so many are listed."""


@dataclass(frozen=True)
class Rows:
    """Whose likelihood is drawn: `of` names them (another name: another place), the column and the class in words, and
    the class's position, for its colour."""

    of: str
    column: str
    label: str
    k: int


def show() -> None:
    """A column and a class of the table in use."""
    table = required.fittable(active.table_in_use())
    columns = [j for j, v in enumerate(table.features.variables) if v.kind != "text"]
    if not columns:
        st.info(_("This table has only texts: there is no column of numbers or of levels."))
        return
    state, classes = current(), sort_levels(table.classes)
    numbers = [j for j in columns if not table.features.variables[j].discrete]
    index = state.seen_among(keys.LAB_FITTED_COLUMN, columns, (numbers or columns)[0])
    k = state.seen_among(keys.LAB_FITTED_CLASS, range(len(classes)), classes.index(table.classes[0]))
    variable = table.features.variables[index]
    place, beneath = st.container(), st.container()
    one, two = st.columns(2)
    one.selectbox(
        _("Attribute"), columns, format_func=lambda j: clean(table.column(table.features.names[j]), 40),
        **bound_to(keys.LAB_FITTED_COLUMN, index, also=[keys.LAB_FITTED_LEVELS.to(())]),
    )  # fmt: skip
    two.selectbox(
        _("Class"), range(len(classes)), format_func=lambda c: clean(table.class_(classes[c]), 40),
        **bound_to(keys.LAB_FITTED_CLASS, k),
    )  # fmt: skip
    rows = Rows(
        f"{index} {k}", clean(table.column(variable.name), 24), clean(table.class_(classes[k]), 24),
        table.classes.index(classes[k]),
    )  # fmt: skip
    with place:
        if not predicting.shows("laboratory/likelihood"):
            _rows_alone(table, variable, classes[k])
        elif variable.discrete:
            _levels(table, variable, index, k, rows, beneath)
        else:
            _numbers(table, variable, index, k, rows, beneath)


def _rows_alone(table: active.FittableTable, variable: Variable, label: Any) -> None:
    """The rows of the class, of which something is to be predicted."""
    cells = table.parts.X[variable.name][(table.parts.y == label).to_numpy()].dropna().tolist()
    shown = [md(table.level(variable.name, v), 24) if variable.discrete else plain(float(v)) for v in cells[:STEMS]]
    _list(shown)
    if len(cells) > STEMS:
        st.caption(_("These are the first {shown} of {n} rows of the class.").format(shown=STEMS, n=len(cells)))
    held_back()


def _list(shown: Sequence[str]) -> None:
    st.markdown(_("The rows: {rows}").format(rows=_(", ").join(shown).replace("-", "−")))


def _kept(index: int, k: int, size: int) -> tuple[float, ...] | None:
    """The place that was dragged to, of this column and class; None where there is none."""
    value = current().seen(keys.LAB_FITTED_AT)
    if len(value) != 4 or not all(map(is_number, value)) or value[:2] != (index, k):
        return None
    return tuple(map(float, value[2:]))[:size]


# a column of numbers --------------------------------------------------------------------------------------------------


def _numbers(table: active.FittableTable, variable: Variable, index: int, k: int, rows: Rows, beneath: Any) -> None:
    parts, label = table.parts, sort_levels(table.classes)[k]
    try:
        values = lab.class_values(parts.X[variable.name], parts.y, label, parts.weight)
    except BayesEngineError as error:
        st.info(error.message.local(md))
        return
    best = lab.likeliest(values)
    step = step_of(best.sd)
    low, high = (best.mean - 4.2 * best.sd, best.mean + 4.2 * best.sd)
    low, high = min(low, float(values.values[0])), max(high, float(values.values[-1]))
    limits = (low, high, max(best.sd / 12, step), 4.0 * best.sd, step)
    kept = _kept(index, k, 2)
    here = (best.mean + 0.8 * best.sd, 1.4 * best.sd)
    if kept is not None and low <= kept[0] <= high and 0 < kept[1] <= 4.0 * best.sd:
        here = (kept[0], kept[1])
    asked = active.case_values(table).get(variable.name)

    def moved(mean: float, sd: float) -> None:
        if low <= mean <= high and 0 < sd <= 4.0 * best.sd:
            change(lambda s: s.showing(keys.LAB_FITTED_AT.to((index, k, mean, sd))))

    draw_gaussian(
        rows, values, here, moved=moved, limits=limits, asked=None if asked is None else float(asked),
        used=_variance_in_use(table, index),
    )  # fmt: skip
    with beneath:
        _n_and_one_less(values, rows)


def step_of(sd: float) -> float:
    """The step of a place that is dragged: a hundredth of the power of ten below σ̂.

    >>> [step_of(v) for v in (0.121, 54.0)]
    [0.001, 0.1]
    """
    return float(10.0 ** (math.floor(math.log10(sd)) - 2))


def _variance_in_use(table: active.FittableTable, index: int) -> str:
    """How the active model divides the squares of this column, "" where it has no Gaussian of its own for a class."""
    shelf = active.shelf_of(table)
    spec = shelf[min(current().active, len(shelf) - 1)]
    if spec.family != "naive-bayes" or active.likelihood_of(table, spec, index) != "gaussian":
        return ""
    return "" if active.setting(spec, "tied_variance") else str(active.setting(spec, "variance"))


def _n_and_one_less(values: lab.ClassValues, rows: Rows) -> None:
    if len(values.values) <= LISTED:
        _list(list(map(plain, values.values.tolist())))
    if len(values.values) > STEMS:
        st.caption(
            _(
                "Of {n} rows {shown} have a stem, spread evenly from the smallest value to the largest; μ̂, σ̂ and log L "
                "are those of all."
            ).format(n=len(values.values), shown=STEMS)
        )
    n, best, unbiased = values.n, lab.likeliest(values), lab.likeliest(values, 1)
    st.markdown(
        f"${{\\hat\\mu=\\tfrac1n\\sum_i x_i={plain(best.mean)}}}$  \u2003"
        f"${{\\hat\\sigma=\\sqrt{{\\tfrac1n\\sum(x_i-\\hat\\mu)^2}}={plain(best.sd)}}}$  \u2003"
        f"${{s=\\sqrt{{\\tfrac1{{n-1}}\\sum(x_i-\\hat\\mu)^2}}={plain(unbiased.sd)}}}$"
    )
    st.caption(
        _(
            "Drag μ at the peak and σ on the flank, or use the arrow keys: every row of {class} is a stem as high as "
            "the curve over it, and falls as the curve leaves it. A density may be above 1, so a logarithm above 0."
        ).format(**{"class": md(rows.label, 24)})
    )
    st.caption(
        _(
            "The sum of the logarithms has its maximum at the mean and at the squares divided by n = {n}. Divided by "
            "n − 1 the variance is right on average over many samples; these rows are then {share} as likely, and σ is "
            "{more} larger. With more rows both meet."
        ).format(
            n=plain(n),
            share=number_of_log(unbiased.log_likelihood - best.log_likelihood),
            more=f"{unbiased.sd / best.sd - 1:.2%}",
        )
    )


def draw_gaussian(
    rows: Rows,
    values: lab.ClassValues,
    here: tuple[float, float],
    *,
    moved: Callable[[float, float], None],
    limits: tuple[float, float, float, float, float],
    asked: float | None = None,
    used: str = "",
) -> None:
    """The stems of the rows under the curve of `here` (μ, σ); `limits` are those of μ, those of σ, and the step."""
    low, high, least, most, step = limits
    best, unbiased = lab.likeliest(values), lab.likeliest(values, 1)
    names = {"mle": (_("divided by n: the likeliest"), "n"), "unbiased": (_("divided by n − 1"), "n − 1")}
    places = []
    for rule, one in (("mle", best), ("unbiased", unbiased)):
        name, short = names[rule]
        name = name + _(" (active model)") if rule == used else name
        places.append({"name": name, "short": short, "at": [one.mean, one.sd], "value": one.log_likelihood})
    _send(
        rows,
        {
            "kind": "gaussian", "here": [float(v) for v in here], "n": values.n, "mean": values.mean,
            "squares": values.squares, "values": thinned(values.values, STEMS).tolist(), "low": low, "high": high,
            "least": least, "most": most, "step": step, "places": places, "asked": asked,
            "words": {
                "title": f"p({rows.column} | {rows.label})" if rows.label else f"p({rows.column})",
                "bar": "log L = Σ log p(xᵢ)", "mean": _("mean μ"), "sd": _("standard deviation σ"),
                "own": "" if asked is None else f"p({plain(asked)})", "theta": "",
            },
        },
        lambda place: moved(float(place[0]), float(place[1])),
    )  # fmt: skip


# a column of levels ---------------------------------------------------------------------------------------------------


def _levels(table: active.FittableTable, variable: Variable, index: int, k: int, rows: Rows, beneath: Any) -> None:
    parts, label = table.parts, sort_levels(table.classes)[k]
    counts = lab.class_counts(parts.X[variable.name], parts.y, label, variable.levels, parts.weight)
    if not counts.sum() > 0 or len(counts) < 2:
        st.info(_("No row of this class has a known value here, or there is one value only."))
        return
    names = [clean(table.level(variable.name, level), 24) for level in variable.levels]
    if len(counts) > 3:
        pair = _pair(counts, names, beneath)
        rest = _("the {n} others").format(n=len(counts) - 2)
        counts, names = lab.merged(counts, pair), [names[pair[0]], names[pair[1]], rest]
        rows = Rows(f"{rows.of} {pair[0]} {pair[1]}", rows.column, rows.label, rows.k)
    size = len(counts)
    kept = _kept(index, k, 2)
    here = (round(1 / size, 3),) * 2 if size == 3 else (0.5, 0.5)
    if kept is not None and min(kept) >= 0 and sum(kept) <= 1 + 1e-9:
        here = (kept[0], kept[1])

    def moved(a: float, b: float) -> None:
        if min(a, b) >= 0 and a + b <= 1 + 1e-9:
            change(lambda s: s.showing(keys.LAB_FITTED_AT.to((index, k, a, b))))

    draw_shares(rows, counts, names, here, moved)
    with beneath:
        _at_the_top(counts, names, here)


def _pair(counts: Array, names: Sequence[str], beneath: Any) -> tuple[int, int]:
    """The two levels that have a corner of their own: the commonest and the rarest, unless others were chosen."""
    chosen = current().seen(keys.LAB_FITTED_LEVELS)
    order = sorted(range(len(counts)), key=lambda s: -counts[s])
    pair = (
        chosen if len(chosen) == 2 and max(chosen) < len(counts) and chosen[0] != chosen[1] else (order[0], order[-1])
    )
    with beneath:
        for i, cell in enumerate(st.columns(2)):
            options = [s for s in range(len(counts)) if s != pair[1 - i]]
            cell.selectbox(
                _("Level") + f" {i + 1}", options, format_func=lambda s: names[s],
                **_level_bound(pair, i),
            )  # fmt: skip
    return pair


def _level_bound(pair: tuple[int, int], i: int) -> dict[str, Any]:
    def edit(state: Any, level: int) -> Any:
        both = (level, pair[1]) if i == 0 else (pair[0], level)
        return state.showing(keys.LAB_FITTED_LEVELS.to(both), keys.LAB_FITTED_AT.to(()))

    return control(f"lab_fitted_level_{i}", pair[i], edit)


def draw_shares(
    rows: Rows, counts: Array, names: Sequence[str], here: tuple[float, float], moved: Callable[[float, float], None]
) -> None:
    """The simplex of two or three levels, with the likelihood of the counts (S,), and the place `here` (θ₁, θ₂)."""
    words = {
        "frequency": (_("frequencies: the likeliest"), "★"),
        "laplace": (_("Laplace's correction"), _("Laplace")),
        "uniform": (_("all alike"), "1/S"),
    }
    places = [
        {"name": words[rule][0], "short": words[rule][1], "at": list(one.theta[:2]), "value": one.log_likelihood}
        for rule, one in lab.shares_places(counts).items()
    ]
    n = float(counts.sum())
    _send(
        rows,
        {
            "kind": "simplex", "here": list(here), "counts": counts.tolist(), "step": 0.001, "places": places,
            "levels": [f"{name} · {plain(c)}/{plain(n)}" for name, c in zip(names, counts.tolist(), strict=True)],
            "asked": None,
            "words": {
                "title": _("log L as θ of {level} goes from 0 to 1").format(level=names[0]), "mean": "", "sd": "",
                "own": "", "bar": "log L = Σ nₛ log θₛ", "theta": f"θ: {rows.column} | {rows.label}",
            },
        },
        lambda place: moved(float(place[0]), float(place[1])),
    )  # fmt: skip


def _at_the_top(counts: Array, names: Sequence[str], here: tuple[float, float]) -> None:
    n = float(counts.sum())
    best = ",\\quad ".join(f"\\tfrac{{{plain(c)}}}{{{plain(n)}}}" for c in counts.tolist())
    st.markdown(
        f"${{\\log L=\\sum_s n_s\\log\\theta_s}}$  \u2003${{\\hat\\theta_s=\\tfrac{{n_s}}{{n}}:\\quad {best}}}$"
    )
    theta = [*here, 1 - sum(here)][: len(counts)]
    inside = all(t > 0 for t in theta)
    if inside:
        gradient = _(", ").join(
            f"{c / t - n:.2f}".replace("-", "−") for c, t in zip(counts.tolist(), theta, strict=True)
        )
        st.caption(
            _(
                "With a Lagrange multiplier ν for Σθ = 1 the derivatives are n_s/θ_s − ν. At the maximum "
                "they are 0 wherever θ_s > 0: n_s = νθ_s, and summed over s, n = ν. Here n_s/θ_s − n is "
                "{gradient}."
            ).format(gradient=gradient)
        )
    never = [md(name, 24) for name, c in zip(names, counts.tolist(), strict=True) if c == 0]
    if never:
        st.markdown(_("**The maximum lies on the boundary:** no row has {levels}.").format(levels=_(", ").join(never)))
        st.caption(
            _(
                "A level that was never observed gets θ = 0 at the maximum, where its derivative is −n, not 0 "
                "(Karush–Kuhn–Tucker: ≤ 0 at the boundary): every row that has it is then impossible. That is what the "
                "Laplace correction repairs."
            )
        )


# both -----------------------------------------------------------------------------------------------------------------


def _send(rows: Rows, drawn: dict[str, Any], moved: Callable[[Sequence[float]], None]) -> None:
    key = "fitted"

    def heard() -> None:
        place = read_message(key, "moved", lambda edit: edit.get("at") if edit.get("of") == rows.of else None)
        if isinstance(place, list) and len(place) in (2, 3) and all(map(is_number, place)):
            moved(place)

    shared = {
        "label": _("The rows under the parameters that were chosen, and how likely they make them"),
        "here": _("here"), "sum": "log L", "share": _("of the maximum"), "top": _("maximum"),
        "take": _("Go there"),
    }  # fmt: skip
    words = {**drawn["words"], **shared}
    _component(
        key=key,
        data={**drawn, "of": rows.of, "ink": ink(rows.label, rows.k), "words": words, "seen": last_message(key)},
        on_moved_change=heard,
    )
