"""The kinds of exercises that are drawn, by the names that stand in links."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bayes_engine.workbench.exercises.em_step import em_step
from bayes_engine.workbench.exercises.expected_losses import expected_losses
from bayes_engine.workbench.exercises.factor_products import aode, naive_bayes, spode
from bayes_engine.workbench.exercises.fisher_direction import fisher_direction
from bayes_engine.workbench.exercises.gibbs_update import gibbs_update
from bayes_engine.workbench.exercises.least_rows import least_rows
from bayes_engine.workbench.exercises.sheet import Drawn, ExerciseSheet
from bayes_engine.workbench.exercises.spanning_tree import spanning_tree

KINDS: Mapping[str, Callable[[Drawn], ExerciseSheet]] = {
    "naive-bayes": naive_bayes,
    "spode": spode,
    "aode": aode,
    "tree": spanning_tree,
    "losses": expected_losses,
    "em": em_step,
    "gibbs": gibbs_update,
    "fisher": fisher_direction,
    "rows": least_rows,
}
