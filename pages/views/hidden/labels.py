"""Some labels hidden: naive Bayes by EM, on any table. No label hidden: the supervised fit."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from bayes_engine.errors import BayesEngineError
from bayes_engine.language import _
from bayes_engine.models.em_runs import HiddenLabelRun, SupervisedStep, crossed
from bayes_engine.numerals import certain, number
from bayes_engine.workbench.figures.mixture import Film, responsibility_bands
from pages import active
from pages.active import em_fits as fits
from pages.active.em_fits import HiddenLabels
from pages.components.chart import chart
from pages.runtime import view_keys as keys
from pages.runtime.escape import clean, md, plotly_text
from pages.runtime.jobs import UnderWay
from pages.runtime.state import change, current, dark, end_page
from pages.runtime.widgets import bound_to, sets, within_limits
from pages.views.hidden import controls, labelled_texts
from pages.views.hidden.player import Scene, player

BANDS = 30
"""Hidden rows whose labels are followed."""


def some_labels_hidden(table: active.FittableTable) -> None:
    plane = len(fits.numeric_features(table)) >= 2
    labels = fits.labels_in_use(table)
    picture, beneath = st.container(), st.container()
    try:
        study = fits.fit_hidden_labels(table, labels)
        film, rows = fits.hiding_film(table, labels)
    except BayesEngineError as error:
        with beneath:  # the controls stay where a run fails, or is under way
            _controls(table, labels, plane)
        controls.engine_message(error.message)
        st.caption(_("Show one more label, share the variances between the classes, or take another seed."))
        end_page()
    except UnderWay:
        with beneath:
            _controls(table, labels, plane)
        raise
    steps, total = range(len(study.trace.steps)), int(study.hidden.sum())
    classes = controls.classes(table)
    with picture:
        player(
            Scene(
                film,
                classes if study.named else controls.component_names(len(classes)),
                controls.plane_names(table) if plane else None,
                rows,
                classes,
                truth=fits.true_classes(table)[rows],
                labelled=(~study.hidden)[rows].tolist(),
                right=[study.right(t) for t in steps] if study.named and total else None,
                right_of=total,
                same=study.named,
                pickable=True,
            ),
            key="em_labels_film",
            on_picked=lambda row: change(lambda s: s.showing(*_flipped(_turned(labels.flipped, row)))),
        )
        st.caption(
            _("Shape: the true class. Colour: what EM believes. Ringed: label seen. Click a row to hide or show its "
              "label.")
            + ("" if plane else " " + _("This table has no two numeric features to make a plane: one mark a row."))
        )  # fmt: skip
    with beneath:
        _controls(table, labels, plane)
    controls.caption_if_sampled(table, len(rows))
    for note in study.notes:
        controls.engine_message(note)
    if study.named:
        _case_in_words(table, study)
    _came_out(table, labels, study, total)
    labelled_texts.words_of_classes(table, labels, study)
    labelled_texts.learning_curve(table, labels)


def _case_in_words(table: active.FittableTable, study: HiddenLabelRun) -> None:
    """What the model that EM ended with says of the case in use."""
    case = active.case_frame(table, active.case_values(table))
    shares = dict(zip(study.model.classes_.tolist(), study.model.predict_proba(case)[0].tolist(), strict=True))
    listed = _(", ").join(f"{md(table.class_(c), 24)} **{certain(shares[c])}**" for c in table.classes)
    st.markdown(_("The case in use, as EM ends: P(c | x) is {shares}.").format(shares=listed))


def _controls(table: active.FittableTable, labels: HiddenLabels, plane: bool) -> None:
    columns = st.columns([3, 3, 5, 3, 3] if plane else [5, 3, 3], vertical_alignment="bottom")
    if plane:
        controls.choose_plane(table, columns)
    share, hard, more = columns[2:] if plane else columns
    share.slider(
        _("Share of labels hidden, %"),
        step=5,
        help=_("Semi-supervised learning: EM estimates the model from the rows with a label and from those without."),
        **within_limits(keys.EM_SHARE, also=(keys.EM_FLIP.to(()), *controls.AT_END)),
    )
    controls.choose_hard(hard)
    opened = more.popover(_("More"), icon=":material/tune:", width="stretch", key="em_labels_more", on_change="rerun")
    if opened.open:
        with opened:
            _more(table, labels)


def _more(table: active.FittableTable, labels: HiddenLabels) -> None:
    st.number_input(
        _("Seed"),
        step=1,
        **within_limits(keys.EM_HIDE_SEED, also=(keys.EM_FLIP.to(()), *controls.AT_END)),
    )
    st.slider(
        _("Weight of the unlabelled rows"),
        step=0.05,
        help=_("1: as much as a row with one. 0: only rows with a label are learnt from."),
        **within_limits(keys.EM_WEIGHT, also=controls.AT_END),
    )
    st.toggle(_("One variance for all classes"), **bound_to(keys.EM_TIED, also=controls.AT_END))
    n = min(current().seen(keys.EM_TURN), len(table.parts.X))
    st.number_input(_("Row"), 1, len(table.parts.X), step=1, **bound_to(keys.EM_TURN, n))
    st.button(
        _("Hide or show its label"),
        key="em_turn_over",
        **sets(*_flipped(_turned(labels.flipped, n - 1))),
    )
    if labels.flipped:
        st.button(
            _("Undo {n} clicks").format(n=len(labels.flipped)),
            key="em_unflip",
            **sets(*_flipped(())),
        )


def _turned(flipped: tuple[int, ...], row: int) -> tuple[int, ...]:
    return tuple(sorted(set(flipped) ^ {row}))


def _flipped(rows: tuple[int, ...]) -> tuple[keys.Setting, ...]:
    return keys.EM_FLIP.to(rows), *controls.AT_END


def _came_out(table: active.FittableTable, labels: HiddenLabels, study: HiddenLabelRun, total: int) -> None:
    if not total:
        st.info(_("No label is hidden: one M step, and it is the supervised naive Bayes."))
        return
    left, right = st.columns([4, 5], gap="large")
    with left:
        if study.named:
            _right(table, labels, study, total)
        else:
            _nameless(table, study)
        objective(study, labels)
    with right:
        _follow(study)


def _right(table: active.FittableTable, labels: HiddenLabels, study: HiddenLabelRun, total: int) -> None:
    st.markdown(_("**Hidden labels right**, of {n}").format(n=total))
    first, last = study.right(0), study.right(-1)
    figures = st.columns(3)
    figures[0].metric(_("seen only"), first, help=_("Naive Bayes on the rows with a label alone: where EM starts."))
    figures[1].metric(_("with EM"), last, delta=last - first or None)
    right = fits.right_if_all_seen(table, replace(labels, weight=1.0, hard=False))
    figures[2].metric(_("all seen"), right, help=_("The same naive Bayes, given every label."))
    if last < first:
        st.caption(
            _(
                "EM made the labels worse here: it increases the likelihood of the columns, and the grouping that this "
                "favours need not be the classes."
            )
        )


def _nameless(table: active.FittableTable, study: HiddenLabelRun) -> None:
    st.markdown(_("**Rows by their likeliest component, and the truth**"))
    controls.crosstab(table, crossed(study.shares[-1], study.truth, len(table.classes)))
    st.caption(
        _("With every label hidden this is a mixture too: components have no names, and start at random.")
        + " "
        + _("Of texts it is the mixture of unigrams, one component a text. It is not PLSA, as lecture notes have it, "
            "whose texts mix components word by word.")
    )  # fmt: skip


def objective(study: HiddenLabelRun, labels: HiddenLabels) -> None:
    """What EM reached, and what it is that it climbs."""
    trace = study.trace
    prior = any(step.log_prior for step in trace.steps)  # counts have one, Gaussian columns have none
    name = controls.objective_name(hard=labels.hard, prior=prior)
    st.markdown(
        _("{name} **{value}** after {n} iterations.").format(
            name=name[:1].upper() + name[1:], value=controls.exact(trace.last.objective), n=trace.n_iter
        )
    )
    st.caption(
        _("That is what is maximized, so it never falls; stopped when it changes by less than 10⁻⁶ per row, or after "
          "{n} iterations.").format(n=fits.MAX_HIDDEN)
        + (" " + _("The prior is Laplace's correction (α = 1).") if prior else "")
    )  # fmt: skip


def _follow(study: HiddenLabelRun) -> None:
    rows = study.most_moved(BANDS)
    shares = [r[rows] for r in study.shares]
    st.markdown(_("**How the hidden labels move**, iteration by iteration; ✓ the truth"))
    chart(
        responsibility_bands(
            shares,
            study.truth[rows].tolist(),
            [plotly_text(_("Row {n}").format(n=row + 1)) for row in rows.tolist()],
            dark=dark(),
        ),
        key="em_minds",
        alt=_("Responsibilities of hidden rows in every iteration, as colours"),
    )
    if len(rows) < int(study.hidden.sum()):
        st.caption(_("The {n} rows that moved most.").format(n=len(rows)))


# no label hidden ----------------------------------------------------------------------------------------------------


def no_label_hidden(table: active.FittableTable) -> None:
    """The part with every label seen: the mixture's M step is a classifier that has a name."""
    if len(fits.numeric_features(table)) < 2:
        film, rows = fits.hiding_film(table, HiddenLabels(share=0.0))
        _still(table, film, rows, None)
        st.markdown(_("With no label hidden EM has nothing to do: its one M step is the supervised **naive Bayes**."))
        return
    drawn = st.container()
    columns = st.columns([3, 3, 3, 4], vertical_alignment="bottom")
    names = controls.choose_plane(table, columns)
    controls.choose_form(table, columns[2])
    run = fits.run_in_use(table)
    fit = fits.supervised_fit(table, run.columns, run.form)
    film, rows = fits.supervised_film(table, run)
    columns[3].button(
        _("Hide them all and run EM"),
        key="em_hide_all",
        icon=":material/visibility_off:",
        width="stretch",
        **sets(keys.EM_PART.to("all"), keys.EM_START.to("labels"), *controls.AT_END),
    )
    figure, words = drawn.columns([1, 1], gap="large")
    with figure:
        _still(table, film, rows, names)
    with words:
        _same(table, fit, run.form, names)


def _still(table: active.FittableTable, film: Film, rows: list[int], names: tuple[str, str] | None) -> None:
    classes = controls.classes(table)
    player(
        Scene(film, classes, names, rows, classes, truth=fits.true_classes(table)[rows], same=True),
        key="em_none_film",
    )


def _same(table: active.FittableTable, fit: SupervisedStep, form: str, names: tuple[str, str]) -> None:
    if fit.peer:
        called = {"full": _("QDA"), "tied": _("LDA"), "diagonal": _("Gaussian naive Bayes")}[form]
        st.markdown(
            _("A Gaussian mixture is **{peer}** with the labels hidden. Here they are seen, and one M step gives the "
              "very same classifier.").format(peer=called)
        )  # fmt: skip
        apart, alike = st.columns(2)
        apart.metric(
            _("Largest difference"),
            f"{fit.difference:.1e}",
            help=_("Of any weight, mean or covariance, in standard deviations, between the M step and the classifier's "
                   "own fit."),
        )  # fmt: skip
        alike.metric(_("Rows decided alike"), _("{n} of {total}").format(n=fit.alike, total=len(fit.rows)))
    else:
        st.markdown(_("Spherical components, labels seen, are Gaussian naive Bayes with one variance for all columns."))
    st.dataframe(_parameters(table, fit, names))
    dropped = len(table.parts.X) - len(fit.rows)
    if dropped:
        st.caption(_("{n} rows with a missing cell are left out here; EM would keep them.").format(n=dropped))


def _parameters(table: active.FittableTable, fit: SupervisedStep, names: tuple[str, str]) -> pd.DataFrame:
    """Θ of the classes, a column each."""
    theta = fit.climb.trace.last.parameters
    x, y = (clean(n, 24) for n in names)
    full = theta.full()
    lines = {
        "π": theta.weights,
        f"μ {x}": theta.means[:, 0],
        f"μ {y}": theta.means[:, 1],
        f"σ² {x}": full[:, 0, 0],
        f"σ² {y}": full[:, 1, 1],
        _("covariance"): full[:, 0, 1],
    }
    classes = [clean(c, 40) for c in controls.classes(table)]
    return pd.DataFrame([[number(v) for v in values] for values in lines.values()], index=list(lines), columns=classes)
