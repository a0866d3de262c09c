"""What is set up in the sandbox: what its scenes are called, and the controls of densities, priors and losses."""

from __future__ import annotations

from functools import partial

import streamlit as st

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.language import _
from bayes_engine.priors import with_share
from pages.active.sandbox import NAMES, SCENES, Setup
from pages.runtime import view_keys as keys
from pages.runtime.state import State
from pages.runtime.widgets import bound_to, control, sets


def scene_name(scene: str) -> str:
    return {
        "equal": _("Equal covariances"),
        "stretched": _("One class stretched"),
        "xor": _("XOR: two clusters a class"),
        "overlapping": _("Heavy overlap"),
        "three": _("Three classes"),
        "table": _("Discrete tables"),
        "drawn": _("Points you draw"),
    }[scene]


def scene_lesson(scene: str) -> str:
    """What one should see."""
    return {
        "equal": _(
            "With equal covariances the best boundary is a straight line: LDA and logistic regression turn to it as n "
            "grows. Naive Bayes keeps a misfit, for it ignores the correlation within the classes."
        ),
        "stretched": _(
            "With unequal covariances the best boundary is curved. Only QDA can become it; a line keeps its misfit "
            "however many rows come, but with few rows it may still win."
        ),
        "xor": _(
            "No line separates crossed clusters, and each column alone carries next to no information: naive Bayes, "
            "LDA and logistic regression stay near guessing. QDA sees the correlation that differs between the "
            "classes."
        ),
        "overlapping": _(
            "Where classes overlap, most of the risk is the Bayes risk, and no classifier and no number of rows "
            "removes it."
        ),
        "three": _(
            "Three regions meet in a point. Raise the losses of one decision, and its region shrinks on all its sides."
        ),
        "table": _(
            "Three binary columns, so the truth is two small tables. The first two agree in class A and differ in "
            "class B, which no column shows alone: naive Bayes and logistic regression keep a misfit, TAN and AODE "
            "follow the dependence and pay for it with few rows."
        ),
        "drawn": _(
            "Click to add a point, click a point to remove it. Each point becomes a small Gaussian, their sum is the "
            "true density: whatever shape you draw, its best boundary is known."
        ),
    }[scene]


# what is chosen -------------------------------------------------------------------------------------------------------


def choose(setup: Setup) -> None:
    """The row of controls beneath the picture."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            _("The truth"),
            list(SCENES),
            format_func=scene_name,
            width=230,
            **control(keys.LAB_SCENE.widget, setup.scene, _to_scene),
        )
        st.select_slider(_("Rows in a sample, n"), keys.LAB_N.options, width=210, **bound_to(keys.LAB_N))
        st.button(
            _("Draw again"),
            icon=":material/casino:",
            key="lab_again",
            help=_("Another sample of n rows. Sample {seed} is shown; the link keeps it.").format(seed=setup.seed + 1),
            **sets(keys.LAB_SEED.to(setup.seed + 1)),
        )
        with st.container(horizontal=True, vertical_alignment="bottom", width="content"):  # they wrap together
            _choose_priors(setup)
            with st.container(key="lab_losses", width="content"):
                opened = st.popover(
                    _("Losses: 0-1") if setup.zero_one else _("Losses: yours"),
                    icon=":material/balance:",
                    width="content",
                )
                with opened:
                    _choose_losses(setup)


def _to_scene(state: State, name: str) -> State:
    """Another truth: what was moved in the old one is gone; losses stay where there are as many classes."""
    k = len(SCENES[name].priors)
    old = state.seen(keys.LAB_LOSSES)
    return state.showing(
        keys.LAB_SCENE.to(name),
        keys.LAB_PARTS.to(()),
        keys.LAB_PRIORS.to(()),
        keys.LAB_LOSSES.to(old if old and len(old[0]) == k else ()),
    )


def _choose_priors(setup: Setup) -> None:
    if len(setup.priors) == 2:
        st.slider(
            "P(A)",
            0.01,
            0.99,
            step=0.01,
            width=180,
            **control(
                "lab_prior",
                round(setup.priors[0], 2),
                lambda s, p: s.showing(keys.LAB_PRIORS.to((round(p, 2), round(1 - p, 2)))),
            ),
        )
        return
    for k, prior in enumerate(setup.priors):
        st.number_input(
            f"P({NAMES[k]})",
            0.01,
            0.98,
            step=0.05,
            format="%.2f",
            width=112,
            **control(f"lab_prior_{k}", round(prior, 2), partial(_with_prior, setup, k)),
        )


def _with_prior(setup: Setup, k: int, state: State, value: float | None) -> State:
    shares = with_share(list(setup.priors), k, float(value or 0.01))
    return state.showing(keys.LAB_PRIORS.to(tuple(round(max(v, 0.01), 4) for v in shares)))


def _choose_losses(setup: Setup) -> None:
    st.markdown(_("Rows: the decision. Columns: the true class."))
    actions = [_("decide {name}").format(name=name) for name in setup.classes]
    if len(setup.losses) > len(setup.priors):
        actions.append(_("refuse"))
    widths = [1.3, *[1] * len(setup.classes)]
    for head, cell in zip(("", *setup.classes), st.columns(widths, wrap=False), strict=True):
        cell.caption(_("truth is {name}").format(name=head) if head else "λ")
    for i, action in enumerate(actions):
        cells = st.columns(widths, vertical_alignment="center", wrap=False)
        cells[0].markdown(action)
        for j, cell in enumerate(cells[1:]):
            cell.number_input(
                f"λ · {action} · {setup.classes[j]}",
                value=None,
                step=1.0,
                format="%g",
                min_value=-1e6,
                max_value=1e6,
                label_visibility="collapsed",
                **control(f"lab_loss_{i}_{j}", float(setup.losses[i][j]), partial(_with_loss, setup, i, j)),
            )
    k = len(setup.priors)
    with st.container(horizontal=True):
        st.button(_("0-1 loss"), key="lab_zero_one", disabled=setup.zero_one, **sets(keys.LAB_LOSSES.to(())))
        if len(setup.losses) > k:
            st.button(_("Without refusing"), key="lab_refuse_off", **sets(keys.LAB_LOSSES.to(setup.losses[:k])))
        else:
            refusal = (LossMatrix(NAMES[:k], NAMES[:k], setup.losses).refusal_that_pays() or 0.0,) * k
            st.button(_("Allow refusing"), key="lab_refuse_on", **sets(keys.LAB_LOSSES.to((*setup.losses, refusal))))


def _with_loss(setup: Setup, i: int, j: int, state: State, value: float | None) -> State:
    rows = [list(row) for row in setup.losses]
    rows[i][j] = 0.0 if value is None else float(value)
    return state.showing(keys.LAB_LOSSES.to(tuple(map(tuple, rows))))
