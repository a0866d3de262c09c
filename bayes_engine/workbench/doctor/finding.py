"""What the doctor says of a table, and what can be done about it, as data: a page makes one button of each mend."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bayes_engine.language import Listing, Message, Word
from bayes_engine.table.kinds import Kind, Role

Severity = Literal["serious", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")
"""From what makes answers wrong, over what makes them worse, to what is good to know."""
FLOOR = 1e-4
"""The least floor of a variance, as a share of the column's own, that answers a tiny one: a hundredth of its sd."""
Code = Literal[
    "infinite", "identifier", "leak", "copy-of-target", "single-row-class", "rare-class", "imbalance",
    "constant", "nearly-constant", "duplicate-column", "duplicate-rows", "spellings", "look-alikes", "mixed-types",
    "date", "text", "high-cardinality", "codes", "missing", "missing-tells", "sentinel", "outliers", "zero-cells",
    "tiny-variance", "collinear", "skew", "heavy-tails", "not-normal", "covariances", "dependence",
]  # fmt: skip


class Nats(float):
    """Evidence among a finding's numbers, in nats: a page shows it in the unit that is chosen, `str()` in bits;
    with a format of its own (`.3f`) it is a number as others.

    >>> str(Message("{shared} a row", {"shared": Nats(0.5)}))
    '0.72 bits a row'
    """

    def __str__(self) -> str:
        return f"{self / math.log(2.0):.2f} bits"


# mends ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SetRole:
    """Give a column another role."""

    column: str
    role: Role


@dataclass(frozen=True)
class SetKind:
    """Read a column as another kind."""

    column: str
    kind: Kind


@dataclass(frozen=True)
class SetLikelihood:
    """Give some columns of the active model another likelihood (its parameter `likelihoods`); where its family has none
    such, of a naive Bayes model that is added."""

    columns: tuple[str, ...]
    likelihood: Literal["kernel", "mdlp", "categorical"]


@dataclass(frozen=True)
class SetParameter:
    """Set a parameter of the active model; where its family lacks it, of a naive Bayes model that is added."""

    name: Literal["smoothing", "var_floor", "tied_variance", "missing"]
    value: Any


@dataclass(frozen=True)
class AddModel:
    """Put a further model on the shelf and make it active: a family, for naive Bayes an estimation preset, and the
    parameters that differ."""

    family: str
    preset: str = "laplace"
    parameters: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class BalanceLosses:
    """Losses inverse to the class frequencies: λ(decision, truth) = n/(K n_truth) off the diagonal, as `cost` says for
    each class in the target's order; such losses decide as 0-1 losses do among equally frequent classes."""

    cost: tuple[tuple[Any, float], ...]


@dataclass(frozen=True)
class ReadText:
    """Read a column of texts by its words: role feature, likelihood "multinomial"."""

    column: str


Mended = Literal[
    "drop-duplicates", "drop-rare", "merge-spellings", "merge-look-alikes", "infinite-missing", "value-missing",
    "outliers-missing", "text-missing", "days",
]  # fmt: skip
"""What a `Repair` can do."""
OTHER_KIND: tuple[Mended, ...] = ("days", "text-missing")
"""What makes a column of numbers of what was none."""
DAY_FIRST, MONTH_FIRST = 1.0, 2.0
"""The `value` of "days" where a person says what stands first in dates whose day and month could change places."""


@dataclass(frozen=True)
class Repair:
    """A change of cells or rows, done by `bayes_engine.workbench.doctor.repair.repaired`. It holds no cell of the table
    but, for "value-missing", the number itself, and can travel in a link; for "days" `value` says what stands first,
    0.0 where the column itself shows it.

    `what`: "drop-duplicates" (of equal rows the first stays), "drop-rare" (rows of classes with too few rows lose their
    class and so are left out), "merge-spellings" (levels that differ only in case, blanks and width become the most
    frequent of them), "merge-look-alikes" (so do those that differ in accents, in letters of another script that look
    the same, or in invisible characters), "infinite-missing", "value-missing" (the number `value`), "outliers-missing",
    "text-missing" (what is no number, in a column of numbers), "days" (a date becomes the days since the first).
    """

    what: Mended
    column: str = ""
    value: float = 0.0


Mend = SetRole | SetKind | SetLikelihood | SetParameter | AddModel | BalanceLosses | ReadText | Repair


def label(mend: Mend) -> Message:
    """What a button says that does it."""
    match mend:
        case SetRole(column, "ignore"):
            return Message("Leave out '{column}'", {"column": column})
        case SetRole(column, role):
            return Message("Make '{column}' {role}", {"column": column, "role": Word(role)})
        case SetKind(column, kind):
            return Message("Read '{column}' as {kind}", {"column": column, "kind": Word(kind)})
        case SetLikelihood(columns, "kernel"):
            return Message("Kernel density for {names}", {"names": Listing(columns)})
        case SetLikelihood(columns, "mdlp"):
            return Message("Cut {names} by MDLP", {"names": Listing(columns)})
        case SetLikelihood(columns):
            return Message("Count the values of {names}", {"names": Listing(columns)})
        case SetParameter("smoothing", "zero-only"):
            return Message("Repair the zeros only")
        case SetParameter("smoothing"):
            return Message("Smooth everywhere")
        case SetParameter("var_floor", value):
            return Message("Set the variance floor to {value:g}", {"value": value})
        case SetParameter("tied_variance"):
            return Message("One variance for all classes")
        case SetParameter():
            return Message("Count missing as a level of its own")
        case AddModel():
            return Message("Add {model}", {"model": model_name(mend)})
        case BalanceLosses():
            return Message("Make an error costlier the rarer its class")
        case ReadText(column):
            return Message("Count the words of '{column}'", {"column": column})
        case Repair("drop-duplicates"):
            return Message("Keep one of equal rows")
        case Repair("drop-rare"):
            return Message("Leave out the rows of these classes")
        case Repair("merge-spellings", column):
            return Message("Make one level of the spellings in '{column}'", {"column": column})
        case Repair("merge-look-alikes", column):
            return Message("Make one level of what looks alike in '{column}'", {"column": column})
        case Repair("value-missing", column, value):
            return Message("{value:.12g} in '{column}' means missing", {"column": column, "value": value})
        case Repair("days", column, value) if value == DAY_FIRST:
            return Message("Count '{column}' in days, the day first", {"column": column})
        case Repair("days", column, value) if value == MONTH_FIRST:
            return Message("Count '{column}' in days, the month first", {"column": column})
        case Repair("days", column):
            return Message("Count '{column}' in days", {"column": column})
        case Repair(_, column):
            return Message("Make these cells of '{column}' missing", {"column": column})


def model_name(model: AddModel) -> Message:
    """What a model is called that is added."""
    names = {
        "naive-bayes": Word("naive Bayes"),
        "tan": Word("TAN"),
        "aode": Word("AODE"),
        "lda": Word("LDA"),
        "qda": Word("QDA"),
    }
    family, parameters = {"family": names.get(model.family, Word(model.family))}, dict(model.parameters)
    likelihoods = dict(parameters.get("likelihoods", ())).values()
    if parameters.get("discretize") is not None and parameters.get("missing") == "category":
        return Message("{family}, numbers cut by MDLP, missing cells counted", family)
    if parameters.get("discretize") is not None:
        return Message("{family}, numbers cut by MDLP", family)
    if parameters.get("shrinkage") is not None:
        return Message("{family} with shrinkage", family)
    if "kernel" in likelihoods:
        return Message("{family} with kernel densities", family)
    if "bernoulli" in likelihoods:
        return Message("{family} of words that are there or not", family)
    if parameters.get("priors") == "uniform":
        return Message("{family} with a uniform prior", family)
    if model.preset == "zero-only":
        return Message("{family}, zeros repaired only", family)
    return Message("{family}", family)


# findings -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """One thing found: `columns` in whose heads it stands (the target for the classes, none for the whole table),
    `message` in a sentence, the numbers of it as `evidence` (label, value), the first `rows` it is seen in (positions
    in the frame, from 0), and `mends`, the best first.

    In the parameters of `message` and of the labels, `column`, `other` and `names` (joined by ", ") are columns,
    `level` is a value of `column`, `label` and `other_label` are classes. `settled`: the column's role takes care of it
    already, so that there is nothing to mend.
    """

    code: Code
    severity: Severity
    columns: tuple[str, ...]
    message: Message
    evidence: tuple[tuple[Message, Any], ...] = ()
    mends: tuple[Mend, ...] = ()
    rows: tuple[int, ...] = ()
    settled: bool = False


@dataclass(frozen=True)
class Suggestion:
    """A model that fits the table, why, and the rate of errors leaving out one row at a time, where that was cheap."""

    model: AddModel
    reason: Message
    error: float | None = None


@dataclass(frozen=True)
class ModelInUse:
    """What the findings need to know of a model: its `family`, and `settings`, all parameters with their values (of
    `likelihoods` pairs of a feature's position and a name)."""

    family: str = "naive-bayes"
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """All findings, the worst first, and three models that fit. `rows` the table has, `looked_at` of them were looked
    at: where there are fewer, `sampled` says so. `features` are the names of the columns that models read."""

    findings: tuple[Finding, ...]
    suggestions: tuple[Suggestion, ...]
    rows: int
    looked_at: int
    features: tuple[str, ...] = ()

    @property
    def sampled(self) -> Message | None:
        """That only some rows were looked at; None where all were."""
        if self.looked_at == self.rows:
            return None
        return Message(
            "The table has {n:,} rows; cells were looked at in {some:,} of them, chosen at random with a fixed seed.",
            {"n": self.rows, "some": self.looked_at},
        )

    def open(self, model: ModelInUse | None = None, losses_stated: bool = False) -> tuple[Finding, ...]:
        """The findings that are left: without those that a column's role takes care of already, and under the active
        model and the losses without those that these answer: smoothing answers zero cells, a kernel a
        column that is not normal, TAN a dependence, losses of one's own an imbalance."""
        return tuple(f for f in self.findings if not self._answered(f, model, losses_stated))

    def settled(self, model: ModelInUse | None = None, losses_stated: bool = False) -> tuple[Finding, ...]:
        """The findings that the columns' roles, the active model or the losses answer already."""
        return tuple(f for f in self.findings if self._answered(f, model, losses_stated))

    def _answered(self, finding: Finding, model: ModelInUse | None, losses_stated: bool) -> bool:
        if finding.settled:
            return True
        if finding.code == "imbalance":
            return losses_stated
        if model is None:
            return False
        settings, family = model.settings, model.family
        gaussian = any(self._is_gaussian(name, model) for name in finding.columns)
        if finding.code == "zero-cells":
            return settings.get("smoothing", "all") != "none" and settings.get("alpha", 1.0) not in (0, 0.0)
        if finding.code == "tiny-variance":
            floor = float(settings.get("var_floor", 0.0)) >= FLOOR
            return not gaussian or floor or family == "lda" or bool(settings.get("tied_variance"))
        if finding.code in ("skew", "heavy-tails", "not-normal", "outliers", "sentinel", "codes"):
            return not gaussian
        if finding.code == "covariances":
            return not gaussian or family == "qda"
        if finding.code == "collinear":
            return settings.get("shrinkage") is not None
        if finding.code == "missing-tells":
            # a number: only its interval has levels
            cut = not any(isinstance(mend, SetParameter) for mend in finding.mends)
            return bool(settings.get("missing") == "category") and not (cut and gaussian)
        if finding.code == "dependence":
            return any(_is(model, mend, gaussian) for mend in finding.mends if isinstance(mend, AddModel))
        return False

    def _is_gaussian(self, name: str, model: ModelInUse) -> bool:
        """Whether a column of numbers is a Gaussian to the model."""
        if model.family in ("lda", "qda"):
            return True
        likelihoods = dict(model.settings.get("likelihoods") or ())
        usual = "gaussian" if model.settings.get("discretize") is None else "mdlp"
        return bool(likelihoods.get(self.features.index(name) if name in self.features else -1, usual) == "gaussian")


def _is(model: ModelInUse, mend: AddModel, gaussian: bool) -> bool:
    """Whether the model is one like that of the mend; where this one cuts numbers, so must the model."""
    joined = model.family in ("tan", "aode", "spode", "k-db", "network") and mend.family in ("tan", "aode")
    cut = not gaussian or dict(mend.parameters).get("discretize") is None
    return (joined or model.family == mend.family) and cut
