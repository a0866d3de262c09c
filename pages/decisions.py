from pages.shared.router import boot

boot()

import streamlit as st

from bayes_engine.decision.evaluate import estimated_risk
from bayes_engine.decision.loss import LossMatrix, judge
from bayes_engine.errors import BayesEngineError
from bayes_engine.figures.decisions import action_colours, action_risks, confusion
from bayes_engine.language import _
from pages.shared import data, words
from pages.shared.chart import chart
from pages.shared.escape import md, plotly_text
from pages.shared.losses import loss_editor, prior_editor
from pages.shared.ready import ready
from pages.shared.regions import region_controls, region_plane, slice_control
from pages.shared.router import go
from pages.shared.state import dark, finish


def _change(difference: float, form: str) -> str | None:
    """A difference as a metric shows it; nothing where there is none."""
    return f"{difference:{form}}" if abs(difference) > 1e-12 else None


table = data.table_in_use()
st.title(_("What should be decided, given what errors cost?"))
fitted = ready(table, asked=True)
loss, use = data.losses(table), data.prior_of_use(table)

plane, knobs = st.columns([3, 2], gap="medium")
with knobs:
    loss_editor(table)
    prior_editor(table, fitted)
with plane:
    axes = region_controls(table)
    region_plane(table, fitted, axes, key="decisions_plane", height=430)
    slice_control(table, axes)

# the chosen case: R(a|x) for every action
ledger = fitted.model.explain(data.case_frame(table, data.case_values(table))).at_prior(fitted.prior, use)
verdict = judge(ledger, loss)
decisions = [words.deciding(table, a, plotly_text) for a in loss.actions]
case, risks = st.columns([2, 3], gap="medium")
with case:
    st.subheader(
        _("The case"),
        help=_(
            "R(c_i|x) = Σ_j λ_ij P(c_j|x): the conditional risk of each decision; the least wins. All "
            "features of the case count here, also those that the plane integrates out."
        ),
    )
    if verdict.position[0] < 0:
        st.warning(_("No posterior: {why}.").format(why=words.status(int(ledger.status[0]))))
    else:
        st.markdown(words.verdict(table, ledger, verdict))
        figure = action_risks(
            decisions,
            loss.for_classes(ledger.classes).risk(ledger.posterior())[0].tolist(),
            action_colours(loss.actions, table.classes, dark=dark()),
        )
        chart(figure, key="case_risks", alt=_("conditional risk of each decision"))
        go("pages/case.py", _("See the working"), ":material/search:")

# the whole table: risk on rows the model has not seen
with risks:
    st.subheader(_("All rows, held out"))
    try:
        held = data.held_out_rows(table, fitted)
        amount = table.parts.amount
        ours = estimated_risk(held, loss, prior_of_use=use, amount=amount)
        plain = LossMatrix.zero_one(held.classes)
        naive = estimated_risk(held, loss, prior_of_use=use, amount=amount, decide_by=plain)
    except BayesEngineError as error:
        st.warning(error.message.local(md))
        finish()
    one, two, three = st.columns(3)
    one.metric(_("Estimated risk"), f"{ours.risk:.4g}", help=_("Mean loss per row of the decisions under your losses."))
    two.metric(
        _("with 0-1 decisions"),
        f"{naive.risk:.4g}",
        _change(ours.risk - naive.risk, "+.3g"),
        delta_color="inverse",
        help=_("What the same losses would cost if the most probable class were always decided."),
    )
    three.metric(_("Accuracy"), f"{ours.accuracy:.1%}", _change(ours.accuracy - naive.accuracy, "+.1%"))
    low, high = ours.interval
    st.caption(
        _("{scheme}; 95 % interval of the risk {low} to {high} (bootstrap).").format(
            scheme=held.scheme.local(), low=f"{low:.4g}", high=f"{high:.4g}"
        )
        + (" " + _("Rows weighted to the prior of use.") if use else "")
        + (" " + _("{n} rows have no posterior and are left out.").format(n=ours.undecided) if ours.undecided else "")
    )
    truths = [plotly_text(_("truth is {name}").format(name=table.class_(c))) for c in held.classes]
    chart(confusion(ours, decisions, truths), key="confusion", alt=_("confusion of held-out rows"))
    st.caption(_("Big: held-out rows decided so. Small: what the cell adds to the risk; the shade follows it."))
