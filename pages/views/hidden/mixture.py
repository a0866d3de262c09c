"""All labels hidden: the mixture of Gaussians, played; beneath it other starts, other K, the truth, the numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.models.em_runs import GaussianMixtureRun, RunEnd, crossed
from bayes_engine.numerals import certain, signed
from bayes_engine.workbench.figures.mixture import criteria_by_components, end_state, ends
from pages import active
from pages.active import em_fits as fits
from pages.active.em_fits import MixtureRun
from pages.active.units import choose_evidence_unit, evidence, evidence_unit, in_bits
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.escape import md
from pages.runtime.jobs import UnderWay
from pages.runtime.state import State, change, current, dark
from pages.runtime.widgets import bound_to, choose, control, sets, within_limits
from pages.views.hidden import controls
from pages.views.hidden.player import Scene, player


def show(table: active.FittableTable) -> None:
    many = len(fits.numeric_features(table)) > 2
    names, run = controls.plane_names(table), fits.run_in_use(table)
    picture, beneath = st.container(), st.container()
    try:
        climbed = fits.mixture(table, run)
        film, rows = fits.mixture_film(table, run)
    except (BayesEngineError, UnderWay):
        with beneath:  # the controls stay where a run fails, or is under way
            _controls(table, run, names, many=many)
        raise
    known = current().seen(keys.EM_TRUTH)
    with picture:
        player(
            Scene(
                film,
                controls.component_names(run.k),
                names,
                rows,
                controls.classes(table),
                truth=fits.true_classes(table)[rows] if known else None,
                draggable=run.start != "labels",
            ),
            key="em_film",
            on_moved=lambda k, x, y: _moved(table, k, x, y),
        )
    with beneath:
        _controls(table, run, names, many=many)
    _case_in_words(table, run)
    _end_in_words(table, run, climbed)
    controls.caption_if_sampled(table, len(rows))
    _beneath(table, run, climbed)


def _controls(table: active.FittableTable, run: MixtureRun, names: tuple[str, str], *, many: bool) -> None:
    columns = st.columns([3, 3, 3, 2, 3] if many else [3, 3, 2, 3], vertical_alignment="bottom")
    controls.choose_plane(table, columns)
    if many:
        _fitted_to(table, columns[2])
    controls.choose_components(table, columns[-2])
    controls.choose_form(table, columns[-1])
    _begin(table, run, names)


# where it begins ----------------------------------------------------------------------------------------------------


def _begin(table: active.FittableTable, run: MixtureRun, names: tuple[str, str]) -> None:
    start, seed, hard, more = st.columns([3, 3, 3, 3], vertical_alignment="bottom")
    words = {
        "kmeans": _("k-means"),
        "random": _("random rows"),
        "hand": _("set by hand"),
        "labels": _("the true labels"),
    }
    start.selectbox(
        _("Start from"),
        keys.EM_START.options,
        format_func=words.__getitem__,
        help=_("Drag a numbered ring in the figure, or click beside the rows, to set the start yourself."),
        **bound_to(keys.EM_START, also=controls.AT_END),
    )
    seed.number_input(
        _("Seed"),
        step=1,
        disabled=run.start in ("hand", "labels"),
        **within_limits(keys.EM_SEED, also=controls.AT_END),
    )
    controls.choose_hard(hard)
    opened = more.popover(_("More"), icon=":material/tune:", width="stretch", key="em_more", on_change="rerun")
    if opened.open:
        with opened:
            _more(table, run, names)


def _fitted_to(table: active.FittableTable, place: Any) -> None:
    n = len(fits.numeric_features(table))
    place.selectbox(
        _("Fitted to"),
        (False, True),
        format_func=lambda every: _("all {n} numbers").format(n=n) if every else _("the two axes"),
        help=_(
            "Fitted to more columns than the axes show, the ellipses are exact margins of the components, and rows "
            "that overlap here may be told apart by a column that is not drawn."
        ),
        **bound_to(keys.EM_ALL, also=controls.AT_END),
    )


def _more(table: active.FittableTable, run: MixtureRun, names: tuple[str, str]) -> None:
    st.toggle(_("True classes as shapes"), **bound_to(keys.EM_TRUTH))
    st.toggle(_("Prior against collapse (inverse Wishart)"), **bound_to(keys.EM_PRIOR, also=controls.AT_END))
    st.selectbox(
        _("Stop when this changes by less than ε"),
        keys.EM_STOP.options,
        format_func={
            "objective": _("the objective, per row"),
            "q": _("Q, per row"),
            "parameters": _("the parameters, in standard deviations"),
        }.__getitem__,
        **bound_to(keys.EM_STOP, also=controls.AT_END),
    )
    st.select_slider(
        "ε",
        keys.EM_TOL.options,
        format_func=controls.power_of_ten,
        **bound_to(keys.EM_TOL, also=controls.AT_END),
    )
    if run.start == "labels":
        return
    st.markdown(_("**Start points**"))
    points = run.points or fits.start_points(table, run)
    for k, point in enumerate(points):
        for axis, column in enumerate(st.columns(2)):
            column.number_input(
                f"{k + 1} · {md(names[axis], 20)}",
                step=fits.axis_step(table, axis),
                format="%g",
                **control(f"em_point_{k}_{axis}", float(point[axis]), partial(_with_point, points, k, axis)),
            )


def _with_point(points: tuple[tuple[float, float], ...], k: int, axis: int, state: State, value: float) -> State:
    """A start point's number on an axis, set by hand."""
    x, y = points[k]
    return _by_hand(points, k, (value, y) if axis == 0 else (x, value), state)


def _by_hand(points: tuple[tuple[float, float], ...], k: int, place: tuple[float, float], state: State) -> State:
    moved = (*points[:k], place, *points[k + 1 :])
    return state.showing(keys.EM_START.to("hand"), keys.EM_POINTS.to(moved), *controls.AT_END)


def _moved(table: active.FittableTable, k: int, x: float, y: float) -> None:
    run = fits.run_in_use(table)
    points = run.points or fits.start_points(table, run)
    place = (fits.rounded_place(table, 0, x), fits.rounded_place(table, 1, y))
    change(partial(_by_hand, points, k, place))


# what came of it ----------------------------------------------------------------------------------------------------


def _case_in_words(table: active.FittableTable, run: MixtureRun) -> None:
    """Which components have the case in use."""
    step, shares = fits.shares_of_case(table, run)
    names = controls.component_names(run.k)
    listed = _(", ").join(f"{name} **{certain(p)}**" for name, p in zip(names, shares.tolist(), strict=True))
    st.markdown(_("Responsibilities for the case in use, at iteration {n}: {shares}.").format(n=step, shares=listed))


def _end_in_words(table: active.FittableTable, run: MixtureRun, climbed: GaussianMixtureRun) -> None:
    trace, last = climbed.trace, climbed.trace.last
    name = controls.objective_name(hard=run.hard, prior=run.prior)
    unit = {
        "objective": _("the objective per row"),
        "q": _("Q per row"),
        "parameters": _("every parameter, in standard deviations,"),
    }[run.stop]
    if climbed.collapse:
        controls.engine_message(climbed.collapse.message)
        st.caption(
            _("The animation ends at iteration {n}, the last before the collapse: the likelihood would "
              "rise without bound.")
            .format(n=trace.n_iter)
        )  # fmt: skip
        st.button(
            _("Give the covariances a prior"),
            key="em_mend",
            **sets(keys.EM_PRIOR.to(True), *controls.AT_END),
        )
        return
    head = _("{name} **{value}** after {n} iterations").format(
        name=name[:1].upper() + name[1:], value=controls.exact(last.objective), n=trace.n_iter
    )
    why = (
        _("stopped, for {what} changed by less than ε = {tol}")
        if trace.converged
        else _("not converged: {what} still changes by more than ε = {tol}")
    ).format(what=unit, tol=controls.power_of_ten(run.tol))
    st.markdown(_("{head} · {why}.").format(head=head, why=why))
    for note in climbed.notes if trace.converged else ():
        st.caption(":material/info: " + controls.whole_message(note))
    st.caption(
        _("What is maximized is the {name}; it never falls.").format(name=name)
        + " "
        + (
            _("With hard labels H = 0, so Q itself is climbed.")
            if run.hard
            else _("At every E step Q + H equals log p(X | Θ): the bound touches it; the M step then raises the bound.")
        )
        + " "
        + _("Ellipses: 1 and 2 standard deviations.")
        + " "
        + (
            _("Spherical components see the columns in their own units.")
            if run.form == "spherical"
            else _("Columns are standardized inside, so units change nothing.")
        )
        + (" " + _("Row weights are not used here.") if table.parts and table.parts.weight is not None else "")
    )
    st.caption(
        ":material/history_edu: "
        + _(
            "The source text writes LL(Θ|X, Z) with a sum over Z: that is LL(Θ|X). And «the closer Z is to the truth, "
            "the better Θ» is no property of EM: what never falls is the objective."
        )
    )


# beneath ------------------------------------------------------------------------------------------------------------


def _beneath(table: active.FittableTable, run: MixtureRun, climbed: GaussianMixtureRun) -> None:
    words = {
        "starts": _("Good and bad starts"),
        "k": _("How many components?"),
        "truth": _("Against the true labels"),
        "numbers": _("Every iteration"),
    }
    shown = choose(_("Beneath"), keys.EM_BENEATH, words, titled=False)
    try:
        {"starts": _starts, "k": _how_many, "truth": _truth, "numbers": _numbers}[shown](table, run, climbed)
    except BayesEngineError as error:
        controls.engine_message(error.message)


def _starts(table: active.FittableTable, run: MixtureRun, climbed: GaussianMixtureRun) -> None:
    tried = fits.other_starts(run)
    reached = fits.ends_of_starts(table, tried[0])
    alive = {start: end.objective for start, end in enumerate(reached) if end is not None}
    if not alive:
        st.info(_("Every one of {n} random starts collapsed: fewer components, or a prior.").format(n=fits.STARTS))
        return
    best, worst = max(alive, key=lambda start: alive[start]), min(alive, key=lambda start: alive[start])
    bad, good, dots = st.columns([3, 3, 3], gap="medium")
    lost = len(reached) - len(alive)
    if len(alive) == 1:
        bad.markdown("**" + _("{n} of {total} starts collapse").format(n=lost, total=len(reached)) + "**")
        bad.markdown(_("Fewer components, another form of covariance, or a prior (under More) keeps them apart."))
    elif alive[best] - alive[worst] < 1e-3 * max(1.0, abs(alive[best])):
        bad.markdown(_("**The start does not matter here**"))
        bad.markdown(
            _("All {n} starts that did not collapse end within {gap} {unit}.").format(
                n=len(alive), gap=f"{evidence(alive[best] - alive[worst]):.2g}", unit=evidence_unit()
            )
        )
    else:
        with bad:
            _end(table, run, tried[worst], reached[worst], _("A bad start"))
    with good:
        _end(table, run, tried[best], reached[best], _("The best of {n} starts").format(n=len(reached)))
    with dots:
        below = _("{unit} below the best").format(unit=evidence_unit())
        st.markdown(f"**{_('Where each start ends')}**  \n{below}")
        choose_evidence_unit()
        playing = tried.index(run) if run in tried else -1
        names = [_("k-means"), *(str(other.seed) for other in tried[1:])]
        chart(
            ends([alive.get(start) for start in range(len(tried))], names, playing, bits=in_bits(), dark=dark()),
            key="em_ends",
            alt=_("What every start reached, below the best one"),
        )
        st.caption(
            _(
                "Green: ends at the highest maximum found; the others end lower. Ringed: the one that is played. Where "
                "EM climbs to depends on its start."
            )
            + (" " + _("{n} collapsed.").format(n=lost) if lost else "")
        )


def _end(table: active.FittableTable, run: MixtureRun, other: MixtureRun, end: RunEnd | None, title: str) -> None:
    """Where the run that is played would end from another start."""
    assert end is not None
    words = controls.objective_name(hard=run.hard, prior=run.prior) + _(": ") + controls.exact(end.objective)
    st.markdown(f"**{title}**  \n{words}")  # two lines whatever the width: figures and buttons stand level
    figure = end_state(fits.end_state(table, run, end), dark=dark())
    chart(figure, key=f"em_end_{other.start}_{other.seed}", alt=title + _(": ") + words)
    st.button(
        _("Play k-means") if other.start == "kmeans" else _("Play random seed {seed}").format(seed=other.seed),
        key=f"em_play_{other.start}_{other.seed}",
        icon=":material/play_arrow:",
        **sets(keys.EM_START.to(other.start), keys.EM_SEED.to(other.seed), *controls.AT_END),
    )


def _how_many(table: active.FittableTable, run: MixtureRun, climbed: GaussianMixtureRun) -> None:
    criteria = fits.criteria_by_components(table, run.columns, run.form, run.prior)
    figure, numbers = st.columns([3, 3], gap="medium")
    with figure:
        chart(
            criteria_by_components(criteria.table, run.k, dark=dark()),
            key="em_bill",
            alt=_("BIC, AIC and ICL over the number of components"),
        )
    with numbers:
        st.dataframe(
            criteria.table.drop(columns="converged"),
            column_config={
                "k": st.column_config.NumberColumn("K"),
                "log_likelihood": st.column_config.NumberColumn(_("log-likelihood"), format="%.4f"),
                "parameters": st.column_config.NumberColumn(_("parameters"), format="%d"),
                **{c: st.column_config.NumberColumn(c.upper(), format="%.3f") for c in ("bic", "aic", "icl")},
            },
        )
    least = [
        _("{name}: K = {k}").format(name=c.upper(), k=int(criteria.table.index.to_numpy()[criteria.table[c].argmin()]))
        for c in ("bic", "icl", "aic")
    ]
    st.caption(
        _("Smaller is better. Least: {list}.").format(list=" · ".join(least))
        + " "
        + _(
            "BIC charges ½ log n for each parameter, AIC 1; ICL adds the entropy of the responsibilities, so overlap "
            "is penalized."
        )
        + " "
        + _("Soft EM, two k-means starts for each K.")
    )
    if criteria.notes:
        st.caption(
            ":material/info: K = "
            + _(", ").join(str(k) for k in dict.fromkeys(k for k, _note in criteria.notes))
            + _(": ")
            + controls.whole_message(criteria.notes[0][1])
        )


def _truth(table: active.FittableTable, run: MixtureRun, climbed: GaussianMixtureRun) -> None:
    shares = climbed.trace.last.responsibilities
    if shares is None:
        return
    controls.crosstab(table, crossed(shares, fits.true_classes(table), len(table.classes)))
    st.caption(
        _("Rows by their likeliest component at the end. EM never saw these labels; it groups what is alike, and need "
          "not find the classes.")
    )  # fmt: skip


def _numbers(table: active.FittableTable, run: MixtureRun, climbed: GaussianMixtureRun) -> None:
    frame = climbed.trace.table()
    frame["lower_bound"] += frame["log_prior"]
    named = {
        "log_likelihood": "log p(X | Θ)",
        "lower_bound": _("lower bound"),
        "q": "Q",
        "entropy": "H",
        "log_prior": "log p(Θ)",
        "objective": _("objective"),
        "change": _("change"),
        "q_change": _("change of Q"),
        "parameter_change": _("change of Θ"),
    }
    shown = [c for c in named if c != "log_prior" or run.prior]
    st.dataframe(
        frame[shown],
        column_config={
            "iteration": st.column_config.NumberColumn(_("iteration")),
            **{c: st.column_config.NumberColumn(named[c], format="%.6f") for c in shown},
        },
    )
    last = climbed.trace.last
    line = f"Q + H = {controls.exact(last.q)} {signed(last.entropy, 5)} = {controls.exact(last.q + last.entropy)}"
    st.caption(
        line + ". " + _("The lower bound of a row stands between the objectives of the row above and of its own.")
    )
