"""The settings of the models on the shelf: what a model is, and what of a link is none of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any

from bayes_engine.errors import ParameterError
from bayes_engine.factors.joint_multinomial import JOINT_MULTINOMIAL
from bayes_engine.models.aode import AODE, AVERAGING
from bayes_engine.models.base import GenerativeClassifier
from bayes_engine.models.calibrated import METHODS as CALIBRATORS
from bayes_engine.models.complement import ComplementNaiveBayes
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.k_dependence import KDependence
from bayes_engine.models.likelihoods import possible
from bayes_engine.models.naive_bayes import CHOICES, PRESETS, NaiveBayes
from bayes_engine.models.network_classifier import FIXED, SEARCHED, BayesianNetworkClassifier
from bayes_engine.models.selective import DIRECTIONS, SelectiveNaiveBayes
from bayes_engine.models.spode import SPODE
from bayes_engine.models.tan import TAN
from bayes_engine.models.weighted import OBJECTIVES, WeightedNaiveBayes
from bayes_engine.priors import PRIORS
from bayes_engine.structure.graph import DAG
from bayes_engine.structure.scores import SCORES
from bayes_engine.table.discretize import METHODS
from bayes_engine.table.text import TextRule
from pages.active.tables import FittableTable
from pages.runtime.state import Spec, current
from pages.runtime.view_keys import is_pair, is_place

FAMILIES: Mapping[str, type[GenerativeClassifier]] = MappingProxyType({
    "naive-bayes": NaiveBayes,
    "weighted": WeightedNaiveBayes,
    "selective": SelectiveNaiveBayes,
    "complement": ComplementNaiveBayes,
    "spode": SPODE,
    "tan": TAN,
    "aode": AODE,
    "k-db": KDependence,
    "network": BayesianNetworkClassifier,
    "lda": LinearDiscriminantAnalysis,
    "qda": QuadraticDiscriminantAnalysis,
})  # fmt: skip
"""The families of models, from the simplest on."""
NAIVE: Mapping[str, Mapping[str, Any]] = MappingProxyType({
    "naive-bayes": {},
    "weighted": {"objective": "cll", "largest": 1.0, "leave_one_out": True},
    "selective": {"criterion": "accuracy", "direction": "forward"},
})  # fmt: skip
"""The families on naive Bayes's factors, each with the parameters that it has besides naive Bayes's own."""
DENSITIES = ("kernel", "kernel-range")
"""What stands for the Gaussian of all numbers, where none of them is cut."""
TOGETHER = JOINT_MULTINOMIAL
"""What stands for the Gaussian of all counts: one multinomial, in naive Bayes alone."""
TERMS: Mapping[str, TextRule] = MappingProxyType({
    "words": TextRule(),
    "pairs": TextRule(ngrams=(1, 2)),
    "characters": TextRule(analyzer="char", ngrams=(1, 3)),
})  # fmt: skip
"""What the terms of a text are."""
COUNTING = ("counts", "once", "bernoulli")
"""How a text's terms count: as often as they stand there (multinomial), once, or absent ones too (Bernoulli)."""
COLUMN_PARAMETERS = {"super_parent": "loo", "root": None}
"""The parameters that are a column, with the word for «the model chooses»."""
AS_IT_IS = "none"
"""The calibration of a model whose probabilities are left as they are."""
CALIBRATIONS = (AS_IT_IS, *CALIBRATORS)
OF_SCORES = "platt"
"""The calibration of scores at first: they have no unit, which its slope gives them, and no class prior, which its
shift learns; a temperature has no shift, and an isotonic map needs many rows."""
UNCALIBRATED = ("calibration", AS_IT_IS)
STRUCTURES = (*SEARCHED, *FIXED)
"""The structures of a network that have a name; another one is its arcs."""
EXACT = 15
"""The exact optimum is offered up to so many columns, the class apart."""


def shelf_of(table: FittableTable) -> tuple[Spec, ...]:
    """The models on the shelf; at first one, with the preset and the parameters that the table opens with."""
    opening = Spec(table.info.preset, tuple(sorted(table.info.parameters.items()))) if table.info else Spec("laplace")
    return tuple(_usable(spec, opening, table) for spec in current().shelf) or (opening,)


def setting(spec: Spec, parameter: str) -> Any:
    """The value of a parameter: the model's own, else the preset's, else the library's default."""
    return settings(spec)[parameter]


def settings(spec: Spec) -> dict[str, Any]:
    """All parameters of a model with their values; of a column its position, −1 where the model chooses."""
    naive = spec.family in NAIVE
    defaults = dict(_defaults("naive-bayes" if naive else spec.family))
    defaults["priors"] = defaults["priors"] or "empirical"  # scikit-learn's None
    preset = PRESETS[spec.preset] if naive else {}
    if naive:
        defaults |= {**NAIVE[spec.family], "likelihoods": (), "terms": "words", "counting": "counts"}
    calibration = AS_IT_IS
    if spec.family == "complement":
        defaults |= {"terms": "words", "counting": "counts"}
        calibration = OF_SCORES
    columns: dict[str, Any] = {name: -1 for name in COLUMN_PARAMETERS if name in defaults}
    columns |= {"alphas": ()} if "alpha" in defaults else {}
    own = {**defaults, "calibration": calibration, **columns, **preset, **dict(spec.parameters)}
    return {k: v for k, v in own.items() if k not in ("schema", "text")}


@cache
def _defaults(family: str) -> Mapping[str, Any]:
    """Scikit-learn looks at the signature of a model each time that it is asked for its parameters."""
    parameters: dict[str, Any] = FAMILIES[family]().get_params(deep=False)
    return parameters


def likelihood_of(table: FittableTable, spec: Spec, position: int, *, own: bool = True) -> str:
    """The likelihood that a feature has in a model: its own where one was chosen (and `own` ones count), else that of
    its kind."""
    values, variable = settings(spec), table.features.variables[position]
    chosen = dict(values.get("likelihoods", ())).get(position) if own else None
    if chosen:
        return str(chosen)
    if variable.textual:
        return "bernoulli" if values.get("counting") == "bernoulli" else "multinomial"
    every = str(values.get("discretize") or "gaussian")
    if every == TOGETHER and variable.kind != "count":
        every = "gaussian"
    return "categorical" if variable.discrete else every


def may_be_together(table: FittableTable, family: str) -> bool:
    """Whether the columns of counts can be one multinomial: two at least, in plain naive Bayes."""
    return family == "naive-bayes" and sum(v.kind == "count" and v.numeric for v in table.features) > 1


def uncalibrated(spec: Spec) -> Spec:
    """The model before its calibration; of scores only this is one, and none that the shelf holds."""
    rest = tuple(parameter for parameter in spec.parameters if parameter[0] != "calibration")
    plain = replace(spec, parameters=rest)
    return plain if setting(plain, "calibration") == AS_IT_IS else replace(spec, parameters=(*rest, UNCALIBRATED))


def calibrations(family: str) -> tuple[str, ...]:
    """The calibrations that a family can have: scores have no probabilities without one."""
    return CALIBRATORS if family == "complement" else CALIBRATIONS


def countings(family: str) -> tuple[str, ...]:
    """How the terms of a text count in a family."""
    return COUNTING[:2] if family == "complement" else COUNTING


def _usable(spec: Spec, opening: Spec, table: FittableTable) -> Spec:
    """The model as it stands, without what a forged link, or one made for another target, holds besides."""

    def number(v: Any, low: float, top: float) -> bool:
        return isinstance(v, int | float) and not isinstance(v, bool) and low <= v <= top

    def prior(v: tuple[Any, ...]) -> bool:
        return len(v) == len(table.classes) and all(number(p, 0.0, 1.0) for p in v) and abs(sum(v) - 1.0) < 1e-9

    def column(v: Any) -> bool:
        return type(v) is int and -1 <= v < len(table.features)

    def rows(v: Any) -> bool:
        if not isinstance(v, tuple):
            return number(v, 0.0, 1e9)
        if len(v) == 2:
            return v[0] == "ess" and number(v[1], 0.0, 1e9)
        bases = ("uniform",) if spec.family == "aode" else ("uniform", "marginal")
        return len(v) == 3 and v[0] == "m" and number(v[1], 0.0, 1e9) and v[2] in bases

    def by_column(v: Any) -> bool:
        pairs = isinstance(v, tuple) and all(is_pair(p, lambda place: column(place) and place >= 0, rows) for p in v)
        return pairs and len({place for place, _rows in v}) == len(v)

    fits: Mapping[str, Callable[[Any], bool]] = {
        "alpha": rows,
        "alphas": by_column,
        "priors": lambda v: prior(v) if isinstance(v, tuple) else v in PRIORS,
        "tied_variance": lambda v: isinstance(v, bool),
        "var_floor": lambda v: number(v, 1e-300, 0.5),
        "discretize": lambda v: (
            v is None
            or v in METHODS
            or (v in DENSITIES and spec.family in NAIVE)
            or (v == TOGETHER and may_be_together(table, spec.family))
        ),
        "likelihoods": lambda v: isinstance(v, tuple),
        "terms": TERMS.__contains__,
        "counting": countings(spec.family).__contains__,
        "objective": OBJECTIVES.__contains__,
        "largest": lambda v: v is None or number(v, 1e-3, 1e3),
        "leave_one_out": lambda v: isinstance(v, bool),
        "direction": DIRECTIONS.__contains__,
        "bins": lambda v: type(v) is int and 2 <= v <= 100,
        "k": lambda v: type(v) is int and 0 <= v <= 3,
        "structure": lambda v: v in STRUCTURES if isinstance(v, str) else _acyclic(v, len(table.features)),
        "criterion": SCORES.__contains__,
        "max_parents": lambda v: type(v) is int and 1 <= v <= 8,
        "min_frequency": lambda v: number(v, 0.0, 1e9),
        "calibration": calibrations(spec.family).__contains__,
        "shrinkage": lambda v: v in (None, "auto", "oas") or number(v, 0.0, 1.0),
        **dict.fromkeys(COLUMN_PARAMETERS, column),
        **{name: words.__contains__ for name, words in CHOICES.items()},
    }
    if spec.preset not in PRESETS or spec.family not in FAMILIES:
        return opening
    if spec.family == "aode":
        fits = {**fits, "smoothing": AVERAGING.__contains__}
    if spec.family == "selective":
        fits = {**fits, "criterion": lambda v: v in ("accuracy", "log_loss") or _priced(v, table)}
    whole = ("bins", "k", "max_parents", *COLUMN_PARAMETERS)
    known = settings(Spec(spec.preset, (), spec.family))
    kept: dict[str, Any] = {
        k: float(v) if type(v) is int and k not in whole else v
        for k, v in spec.parameters
        if k in fits and k in known and fits[k](v)
    }
    if fitting := _fitting(kept.pop("likelihoods", ()), table, spec.family):
        kept["likelihoods"] = fitting
    arcs = kept.get("structure", ())
    if isinstance(arcs, tuple) and any(child == len(table.features) for _parent, child in arcs):
        kept.pop("priors", None)  # P(class | parents) is estimated, there is no prior to state
    if kept.get("structure") == "exact" and len(table.features) > EXACT:
        del kept["structure"]
    return replace(spec, parameters=tuple(sorted(kept.items(), key=lambda item: item[0])))


def _fitting(pairs: tuple[Any, ...], table: FittableTable, family: str) -> tuple[tuple[int, str], ...]:
    """Of (feature position, likelihood) pairs those whose column can have it by its kind, in this family."""
    known = (p for p in pairs if is_pair(p, is_place) and p[0] < len(table.features))
    fitting = {place: own for place, own in known if own in possible(table.features.variables[place])
               and (own != TOGETHER or family == "naive-bayes")}  # fmt: skip
    return tuple(sorted(fitting.items()))


def _priced(v: Any, table: FittableTable) -> bool:
    """Whether it is ("risk", losses): as the state keeps them, decisions by row, classes in the table's order."""
    rows = v[1] if isinstance(v, tuple) and len(v) == 2 and v[0] == "risk" else None
    k = len(table.classes)
    return isinstance(rows, tuple) and len(rows) in (k, k + 1) and all(
        isinstance(row, tuple) and len(row) == k and all(type(x) in (int, float) and abs(x) <= 1e9 for x in row)
        for row in rows
    )  # fmt: skip


def _acyclic(arcs: Any, d: int) -> bool:
    """Whether these are arcs of a graph over `d` features and the class, which stands after them."""
    if not isinstance(arcs, tuple) or not all(is_pair(arc, is_place, is_place) and max(arc) <= d for arc in arcs):
        return False
    try:
        DAG([str(i) for i in range(d + 1)], [(str(a), str(b)) for a, b in arcs])
    except ParameterError:
        return False
    return True
