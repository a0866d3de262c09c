"""Quantities of EM where labels are hidden: the mixture of Gaussians, and naive Bayes."""

from __future__ import annotations

from bayes_engine.errors import BayesEngineError
from bayes_engine.models.em_runs import at_step
from bayes_engine.table.kinds import Level
from bayes_engine.workbench.lessons.in_use import InUse
from bayes_engine.workbench.lessons.quantities.registry import among, quantity


@quantity
def mixture_objective(used: InUse) -> float:
    """What EM maximizes, after the step that is shown, in nats."""
    steps = used.mixture.trace.steps
    shown = used.setting("em_step")
    return steps[shown if 0 <= shown < len(steps) else -1].objective


@quantity
def largest_responsibility(used: InUse) -> float:
    """The responsibility for the case of the component that has the largest, after the step that is shown."""
    run, shown = used.mixture, used.setting("em_step")
    steps = run.trace.steps
    now = steps[shown if 0 <= shown < len(steps) else -1]
    return float(at_step(run.model, now.parameters, used.mixture_case)[0].max())


@quantity
def mixture_steps(used: InUse) -> float:
    """The M steps that EM took until it stopped."""
    return float(used.mixture.trace.n_iter)


@quantity
def hidden_right(used: InUse) -> float:
    """How many hidden rows naive Bayes by EM has right at the end."""
    run = used.hidden_labels
    return float(run.right(len(run.trace.steps) - 1))


@quantity
def posterior_by_em(used: InUse, class_: Level) -> float:
    """P(c|x) of the case by the naive Bayes that EM ended with."""
    run = used.hidden_labels
    if not run.named:
        raise BayesEngineError("without a label the classes have no names")
    classes = run.model.classes_.tolist()
    return float(run.model.predict_proba(used.case)[0, classes.index(among(class_, classes))])
