"""Quantities of dependence: mutual information, TAN's tree, and what naive Bayes counts twice."""

from __future__ import annotations

from typing import cast

from bayes_engine.errors import BayesEngineError
from bayes_engine.models.semi_naive import SemiNaive
from bayes_engine.table.kinds import Level
from bayes_engine.workbench.derivation.contingency import Contingency, contingency
from bayes_engine.workbench.derivation.double_counting import double_counting
from bayes_engine.workbench.derivation.tree_growth import edges_of_case, grow
from bayes_engine.workbench.lessons.in_use import InUse
from bayes_engine.workbench.lessons.quantities.registry import among, quantity


@quantity
def information(used: InUse, a: str, b: str) -> float:
    """I(x_a; x_b | y) in nats, or without the class, as the page Dependence is set."""
    return _contingency(used, a, b).information


@quantity
def information_of_case(used: InUse, a: str, b: str, class_: Level) -> float:
    """log P(a, b|c)/(P(a|c) P(b|c)) of the values that the case has, in nats, or without the class, as the page
    Dependence is set: what the case adds to the mean that I is."""
    cells = _contingency(used, a, b)
    k = 0 if cells.classes == (None,) else cells.classes.index(among(class_, cells.classes))
    return float(cells.of_case(used.case)[k])


def _contingency(used: InUse, a: str, b: str) -> Contingency:
    model = cast(SemiNaive, used.pairs)
    names = [v.name for v in model.schema_ if v.discrete]
    one = among(a, names)
    other = among(b, [name for name in names if name != one])
    return contingency(model, one, other, overall=used.setting("dependence_of") == "overall")


@quantity
def tree_of_case(used: InUse, class_: Level) -> float:
    """What the edges of the tree that are taken up to the step shown add to log P(x|c) of the case, in nats."""
    model, step = used.pairs, used.setting("tree_step")
    grown = grow(model)
    edges = [one.edge for one in grown.taken(len(grown.steps) if step < 0 else step)]
    classes = model.classes_.tolist()
    return float(edges_of_case(model, edges, used.case)[classes.index(among(class_, classes))])


@quantity
def tree_weight(used: InUse) -> float:
    """The weight of the maximum spanning tree after the step that is shown, in nats."""
    grown, step = grow(used.pairs), used.setting("tree_step")
    return grown.total if step < 0 else grown.total_after(step)


@quantity
def twice_counted(used: InUse) -> float:
    """What naive Bayes counts twice of the case, by the light of the tree, in nats."""
    counted = double_counting(*used.families, used.case, prior_of_use=used.prior)
    if counted is None:
        raise BayesEngineError("this case has no posterior")
    return counted.nats
