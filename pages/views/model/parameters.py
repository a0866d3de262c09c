"""A widget for each parameter of a model: the options that it has here, and the help beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from bayes_engine.language import _
from bayes_engine.models.aode import AVERAGING
from bayes_engine.models.naive_bayes import CHOICES
from bayes_engine.models.network_classifier import SEARCHED
from bayes_engine.models.selective import DIRECTIONS
from bayes_engine.models.weighted import OBJECTIVES
from bayes_engine.priors import PRIORS, with_share
from bayes_engine.table.discretize import METHODS
from pages import active
from pages.active import prior_choice, words
from pages.active.model_settings import (
    DENSITIES,
    EXACT,
    STRUCTURES,
    TERMS,
    TOGETHER,
    calibrations,
    countings,
    may_be_together,
)
from pages.active.shelf import (
    edit_active_model,
    prior_kind,
    pseudo_count,
    with_parameter,
    with_prior,
    with_prior_strength,
)
from pages.runtime.escape import clean, md
from pages.runtime.state import Spec, State, on_click
from pages.runtime.widgets import control

BINNED = ("equal-width", "quantile")
"""The ways to cut numbers that are told how many intervals."""


@dataclass(frozen=True)
class Acting:
    """What a model's parameters can act on: `counted` columns, whose estimate α smooths; `numbers`, and whether
    any of them is `gaussian` to this model."""

    counted: bool
    numbers: bool
    gaussian: bool


def acting(table: active.FittableTable, spec: Spec) -> Acting:
    """What the model's parameters act on here."""
    discrete, numbers = any(v.discrete for v in table.features), any(v.numeric for v in table.features)
    if spec.family == "complement":
        return Acting(counted=True, numbers=False, gaussian=False)
    if spec.family not in active.NAIVE:
        cut = active.settings(spec).get("discretize") is not None
        return Acting(discrete or (numbers and cut), numbers, numbers and not cut)
    has = {active.likelihood_of(table, spec, index) for index in range(len(table.features))}
    return Acting(bool(has - {"gaussian", *DENSITIES}), numbers, "gaussian" in has)


def parameter_widgets(table: active.FittableTable, spec: Spec, prior: tuple[float, ...]) -> list[Callable[[], None]]:
    """The widgets of the parameters that the model has, in their order; those for numbers where there are any."""
    values, on = active.settings(spec), acting(table, spec)

    def rows(state: State, value: Any) -> State:
        return edit_active_model(table, lambda old: with_prior_strength(old, value))(state)

    def choice(name: str, *, off: bool = False) -> Callable[[], None]:
        return lambda: _choice(table, spec, name, off=off)

    made: dict[str, Callable[[], None]] = {
        "objective": choice("objective"),
        "largest": lambda: _largest(table, spec),
        "direction": choice("direction"),
        "selected_by": lambda: _selected_by(table, spec),
        "super_parent": lambda: _column(table, spec, "super_parent", _("The column that all others depend on.")),
        "root": lambda: _column(table, spec, "root", _("The column that the tree is directed away from.")),
        "k": lambda: _k(table, spec),
        "structure": lambda: _structure(table, spec),
        "criterion": choice("criterion", off=values.get("structure") not in SEARCHED),
        "max_parents": lambda: _most_parents(table, spec),
        "alpha_kind": lambda: _prior_kind(table, spec, off=not on.counted),
        "smoothing": choice("smoothing", off=not on.counted),
        "alpha": lambda: prior_choice.strength_slider("parameter_alpha", pseudo_count(spec), rows, off=not on.counted),
        "alpha_exact": lambda: _alpha_exact(table, spec, rows, off=not on.counted),
        "priors": lambda: _prior_rule(table, spec, prior),
        "shrinkage": lambda: _shrinkage(table, spec),
        "min_frequency": lambda: _threshold(table, spec),
        "discretize": choice("discretize"),
        "bins": lambda: _bins(table, spec),
        "likelihoods": lambda: _own_likelihoods(table, spec),
        "terms": choice("terms"),
        "counting": choice("counting"),
        "variance": lambda: _variance(table, spec, off=not on.gaussian),
        "var_floor": lambda: _floor(table, spec, off=not on.gaussian),
        "missing": choice("missing"),
        "unseen": choice("unseen", off=not on.counted),
        "calibration": choice("calibration"),
    }
    hidden = {"variance"} if spec.family in ("lda", "qda") else set()
    hidden |= set() if on.numbers else {"discretize", "bins", "variance", "var_floor"}
    hidden |= set() if spec.family == "aode" else {"smoothing"}
    hidden |= set() if any(v.textual for v in table.features) else {"terms", "counting"}
    hidden |= {"criterion"} if spec.family == "selective" else {"selected_by"}
    hidden |= set() if values.get("likelihoods") else {"likelihoods"}
    parameter = {"alpha_kind": "alpha", "alpha_exact": "alpha", "selected_by": "criterion"}
    return [draw for name, draw in made.items() if parameter.get(name, name) in values and name not in hidden]


def _choice_help(name: str, *, naive: bool) -> str:
    return {
        "objective": _("What the weights minimize on the rows: the log-loss has one minimum, squared error several."),
        "direction": _(
            "Forward begins with no column and adds the best while that makes the score better; backward begins "
            "with all and takes off the one missed least while that makes it no worse."
        ),
        "criterion": _(
            "What the search maximizes: more is better. MDL is the book's (eq. 7.28), each free number costs ½ ln m."
        ),
        "smoothing": _(
            "Each by itself: α on every cell (eq. 7.24–7.25). One joint table: α rows a class, so that margins agree."
        ),
        "discretize": _(
            "Of all numbers that have no likelihood of their own: a Gaussian in each class, a kernel density, or "
            "intervals: MDLP (Fayyad & Irani) cuts where the classes change, the others do not look at them. Columns "
            "of counts may be multinomial together, as the words of a text are: choose that where a row's counts are "
            "of one bag of things; numbers that are no counts stay Gaussian."
        )
        if naive
        else _(
            "A Gaussian in each class; or intervals: MDLP (Fayyad & Irani) cuts where the classes change, the "
            "others do not look at them. Only a column of intervals can be another's parent."
        ),
        "terms": _(
            "A Chinese character is a word by itself, so that no segmenter is needed; pairs are two words that "
            "follow each other."
        ),
        "counting": _(
            "As often, or once: the multinomial, for which absent terms do not count. Present or absent: the "
            "Bernoulli, for which they do."
        ),
        "variance": _("n−1 is the sample variance of the worked examples; n is maximum likelihood."),
        "missing": _(
            "Marginalize: a missing cell has no factor, and the row's other cells count. A level of "
            "its own is for discrete columns. A level of its own is better where it says something "
            "of the class that a cell is missing; worse otherwise."
        ),
        "unseen": _("How prediction treats a value that no row of the table had."),
        "calibration": _(
            "Last of all, learnt from rows held out: temperature divides all log posteriors by one T, Platt fits a "
            "line in the log-odds of each class against the rest, isotonic an increasing step function. Decisions, "
            "One case and Classify a file then use the calibrated posterior."
        ),
    }[name]


def _turned(
    table: active.FittableTable, name: str, value: Any, read: Callable[[Any], Any] = lambda v: v, widget: str = ""
) -> dict[str, Any]:
    """Keyword arguments that make a widget a view of one parameter of the active model."""

    def turn(state: State, entered: Any) -> State:
        return edit_active_model(table, lambda old: with_parameter(old, name, read(entered)))(state)

    return control(f"parameter_{widget or name}", value, turn)


def _select(
    table: active.FittableTable,
    name: str,
    options: Mapping[Any, str],
    stands: Any,
    *,
    about: str,
    off: bool = False,
    read: Callable[[Any], Any] = lambda v: v,
    widget: str = "",
) -> None:
    """A parameter that is one of some options with their words."""
    st.selectbox(
        words.parameter_name(name),
        list(options),
        format_func=options.__getitem__,
        help=about,
        disabled=off,
        **_turned(table, name, stands, read, widget),
    )


def _choice(table: active.FittableTable, spec: Spec, name: str, *, off: bool = False) -> None:
    """A parameter that is a word; "" stands for None, which a selectbox takes for «nothing chosen»."""
    naive = spec.family in active.NAIVE
    together = (TOGETHER,) if may_be_together(table, spec.family) else ()
    among: dict[str, Sequence[str]] = {
        **CHOICES,
        "objective": OBJECTIVES,
        "direction": DIRECTIONS,
        "smoothing": AVERAGING,
        "criterion": ("mdl", "aic", "k2", "bdeu", "log-likelihood"),
        "discretize": ("", *(DENSITIES if naive else ()), *together, *METHODS),
        "terms": tuple(TERMS),
        "counting": countings(spec.family),
        "calibration": calibrations(spec.family),
    }
    options, stands = {o: words.option(name, o or None) for o in among[name]}, active.setting(spec, name) or ""
    about = _choice_help(name, naive=naive)
    _select(table, name, options, stands, about=about, off=off, read=lambda v: v or None)


def _prior_kind(table: active.FittableTable, spec: Spec, *, off: bool) -> None:
    """Which kind of Dirichlet prior all columns have; naive Bayes may mend zeros only."""
    zeros = spec.family in active.NAIVE
    prior_choice.choose_kind(
        "parameter_kind",
        prior_kind(spec),
        (*prior_choice.KINDS, "zero-only") if zeros else prior_choice.KINDS,
        lambda state, kind: edit_active_model(table, lambda old: with_prior(old, kind))(state),
        off=off,
        about=prior_choice.kinds_help(zeros=zeros),
    )


def _alpha_exact(table: active.FittableTable, spec: Spec, edit: prior_choice.Edit, *, off: bool) -> None:
    bases = ("uniform",) if spec.family == "aode" else prior_choice.BASES
    prior_choice.strength_input(
        "parameter_alpha", pseudo_count(spec), edit, top=1e6 * len(table.parts.X), off=off, bases=bases
    )


def _column(table: active.FittableTable, spec: Spec, name: str, about: str) -> None:
    """A parameter that is a discrete column of this model, or its own choice."""
    stands, cut = active.setting(spec, name), active.setting(spec, "discretize") is not None
    can = [-1, *(i for i, v in enumerate(table.features) if v.discrete or cut or i == stands)]
    _select(table, name, {i: words.option(name, i, table) for i in can}, stands, about=about)


def _k(table: active.FittableTable, spec: Spec) -> None:
    st.segmented_control(
        _("Parents besides the class"),
        [0, 1, 2, 3],
        format_func=lambda k: f"0 · {words.family('naive-bayes')}" if k == 0 else str(k),
        required=True,
        **_turned(table, "k", active.setting(spec, "k")),
    )


def _structure(table: active.FittableTable, spec: Spec) -> None:
    """How a network comes by its arcs; arcs that were drawn are kept as long as nothing else is chosen."""
    stands = active.setting(spec, "structure")
    named = [s for s in STRUCTURES if s != "exact" or len(table.features) <= EXACT or s == stands]
    offered: list[Any] = [*named, *([stands] if isinstance(stands, tuple) else [])]
    about = _("A search sees all discrete columns and the class; arcs by hand come from the page Network.")
    options = {i: words.option("structure", arcs) for i, arcs in enumerate(offered)}
    _select(table, "structure", options, offered.index(stands), about=about, read=lambda i: offered[i])


def _most_parents(table: active.FittableTable, spec: Spec) -> None:
    st.number_input(
        words.parameter_name("max_parents"),
        1,
        8,
        step=1,
        disabled=active.setting(spec, "structure") not in SEARCHED,
        help=_("How many a node may have, the class counted."),
        **_turned(table, "max_parents", int(active.setting(spec, "max_parents")), lambda v: int(v or 3)),
    )


def _threshold(table: active.FittableTable, spec: Spec) -> None:
    st.number_input(
        _("Threshold m′"),
        0,
        max(len(table.parts.X), 1),
        step=1,
        help=_("A value takes part as super-parent if at least so many rows have it."),
        **_turned(table, "min_frequency", int(active.setting(spec, "min_frequency")), lambda v: float(v or 0)),
    )


def _own_likelihoods(table: active.FittableTable, spec: Spec) -> None:
    """The columns with a likelihood of their own; one that is taken off has that of its kind again."""
    own = dict(active.setting(spec, "likelihoods"))
    name_of = {index: clean(table.column(table.features.names[index]), 24) for index in own}
    shown = {index: name_of[index] + _(": ") + words.likelihood(own[index]) for index in own}
    st.multiselect(
        _("Likelihoods of their own"),
        list(shown),
        format_func=shown.__getitem__,
        help=_("Chosen beside the column's class-conditionals below."),
        **_turned(
            table,
            "likelihoods",
            list(shown),
            lambda places: tuple((index, name) for index, name in sorted(own.items()) if index in places),
        ),
    )


def _largest(table: active.FittableTable, spec: Spec) -> None:
    """The largest weight a column may have, or none."""
    largest = active.setting(spec, "largest")
    _select(
        table,
        "largest",
        {o: words.option("largest", float(o) if o else None) for o in ("1", "2", "")},
        "" if largest is None else "2" if largest > 1 else "1",
        about=_(
            "At 1 a column can only lose weight; without a bound it may also count more than its probabilities warrant."
        ),
        read=lambda o: float(o) if o else None,
    )
    st.toggle(
        words.option("leave_one_out", True),
        help=_("Each row is judged by counts without it. Otherwise, as in the paper, a column with a level for each "
               "row looks perfect."),
        **_turned(table, "leave_one_out", bool(active.setting(spec, "leave_one_out")), bool),
    )  # fmt: skip


def _selected_by(table: active.FittableTable, spec: Spec) -> None:
    """The score of a selection. Losses are taken as they stand when they are chosen: another λ does not refit."""
    stands = active.setting(spec, "criterion")

    def score(name: str) -> Any:
        return ("risk", tuple(map(tuple, active.losses(table).table.tolist()))) if name == "risk" else name

    _select(
        table,
        "criterion",
        {name: words.option("criterion", name) for name in ("accuracy", "log_loss", "risk")},
        "risk" if isinstance(stands, tuple) else stands,
        about=_("Risk takes the losses as they are when you choose it; after a change of λ choose it again."),
        read=score,
        widget="selected_by",
    )
    if isinstance(stands, tuple) and score("risk") != stands:
        anew = edit_active_model(table, lambda old: with_parameter(old, "criterion", score("risk")))
        st.button(_("Select anew under the present losses"), key="parameter_reselect", **on_click(anew),
                  help=_("The losses have changed since."))  # fmt: skip


def _bins(table: active.FittableTable, spec: Spec) -> None:
    st.number_input(
        words.parameter_name("bins"),
        2,
        100,
        step=1,
        disabled=active.setting(spec, "discretize") not in BINNED,
        help=_("How many, at equal width or by quantiles; MDLP finds the number itself."),
        **_turned(table, "bins", int(active.setting(spec, "bins")), lambda v: int(v or 10)),
    )


def _variance(table: active.FittableTable, spec: Spec, *, off: bool) -> None:
    _choice(table, spec, "variance", off=off)
    if "tied_variance" in active.settings(spec):
        st.toggle(
            _("shared"),
            disabled=off,
            help=_(
                "One variance for all classes: Gaussian discriminant analysis with a diagonal Σ; the classes differ in "
                "their means only."
            ),
            **_turned(table, "tied_variance", bool(active.setting(spec, "tied_variance"))),
        )


def _floor(table: active.FittableTable, spec: Spec, *, off: bool) -> None:
    floor = float(active.setting(spec, "var_floor"))
    st.number_input(
        _("Variance floor, power of ten"),
        -300,
        -1,
        step=1,
        disabled=off,
        help=_("No variance falls below this share of the column's own."),
        **_turned(table, "var_floor", int(f"{floor:e}".split("e")[1]), lambda v: float(f"1e{v or -9}")),
    )


def _shrinkage(table: active.FittableTable, spec: Spec) -> None:
    """How far Σ is drawn towards a multiple of the identity or its diagonal: by rule, or γ by hand."""
    stands = active.setting(spec, "shrinkage")
    by_hand = isinstance(stands, float)
    _select(
        table,
        "shrinkage",
        {rule: words.option("shrinkage", rule or None) for rule in ("", "auto", "oas", "by hand")},
        "by hand" if by_hand else stands or "",
        about=_(
            "By hand: (1−γ)Σ + γ(tr Σ/d)I. Ledoit–Wolf and OAS draw each class towards its own diagonal, by an amount "
            "from the data."
        ),
        read=lambda rule: 0.1 if rule == "by hand" else rule or None,
    )
    if by_hand:
        st.slider("γ", 0.0, 1.0, step=0.01, **_turned(table, "shrinkage", stands, lambda g: round(g, 4), "gamma"))


def _prior_rule(table: active.FittableTable, spec: Spec, own: tuple[float, ...]) -> None:
    """The class prior by rule, or by hand, which starts from `own`."""
    stands = active.setting(spec, "priors")
    _select(
        table,
        "priors",
        {rule: words.option("priors", rule) for rule in (*PRIORS, "by hand")},
        "by hand" if isinstance(stands, tuple) else stands,
        about=_("What the model is built with. Where you will use it other frequencies may hold: see Losses."),
        read=lambda rule: own if rule == "by hand" else rule,
    )


def prior_by_hand(table: active.FittableTable, stands: tuple[float, ...]) -> None:
    """P(class) for each class by its label; the others keep their proportions."""

    def moved(k: int, p: float | None) -> tuple[float, ...]:
        return with_share(stands, k, min(max(float(p or 0.0), 0.0), 1.0))

    for start in range(0, len(table.classes), 4):
        for k, cell in zip(range(start, len(table.classes)), st.columns(4, gap="medium"), strict=False):
            name = f"P({md(table.class_(table.classes[k]), 24)})"
            turned = _turned(table, "priors", round(stands[k], 6), partial(moved, k), f"prior_{k}")
            cell.number_input(name, 0.0, 1.0, step=0.01, format="%.4f", **turned)
