"""What the app calls things, in one place: families, presets, parameters and their settings, kinds, roles, statuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bayes_engine.decision.loss import Decision
from bayes_engine.language import Message, _
from bayes_engine.ledger import Ledger, Status
from bayes_engine.numerals import certain, signed
from bayes_engine.workbench.derivation.factor_names import row_word
from pages.active import prior_choice, units
from pages.runtime.escape import clean, md
from pages.runtime.state import Spec

if TYPE_CHECKING:
    from pages.active import FittableTable


def family(name: str) -> str:
    return {
        "naive-bayes": _("naive Bayes"),
        "weighted": _("weighted"),
        "selective": _("selective"),
        "complement": _("complement, calibrated"),
        "spode": "SPODE",
        "tan": "TAN",
        "aode": "AODE",
        "k-db": "k-DB",
        "network": _("Bayesian network"),
        "lda": _("LDA"),
        "qda": "QDA",
    }[name]


def family_help(name: str) -> str:
    """What a family of models assumes, in a sentence with its formula."""
    return {
        "naive-bayes": _(
            "Attribute conditional independence, within a class: $P(c)\\prod_j P(x_j\\mid c)$ (eq. 7.14–7.15)."
        ),
        "weighted": _(
            "Naive Bayes with a weight for each column, $P(c)\\prod_j P(x_j\\mid c)^{w_j}$, fitted to the posterior of "
            "the rows, each left out in turn (WANBIA): a column that repeats another loses weight. The product is a "
            "score; its share of the sum is the posterior."
        ),
        "selective": _(
            "Naive Bayes with the columns that help it: they come in, or go out, one by one, judged on every row by "
            "the model without that row."
        ),
        "complement": _(
            "Each class is judged by the words (or the columns of counts) of all *other* classes (Rennie et al. 2003): "
            "the score "
            "$\\log P(c)-\\sum_w n_w\\log\\theta_{\\tilde cw}$, "
            "$\\theta_{\\tilde cw}=(N_{\\tilde cw}+\\alpha)/(N_{\\tilde c}+\\alpha V)$; the largest wins. (One of the "
            "lecture notes takes the argmax of $+\\sum_w n_w\\log\\theta_{\\tilde cw}$: it must be the argmin.) Scores "
            "are no probabilities: a calibration learnt from rows held out makes them so, and is part of the model."
        ),
        "spode": _(
            "Semi-naive Bayes, a one-dependence estimator: every column depends on the class and on one and the same "
            "super-parent $x_p$: "
            "$P(c)\\,P(x_p\\mid c)\\prod_{j\\neq p}P(x_j\\mid c,x_p)$ (eq. 7.21)."
        ),
        "tan": _(
            "Every column depends on the class and on one other, along the maximum spanning tree of conditional mutual "
            "information $I(x_i;x_j\\mid y)$ (eq. 7.22): $P(c)\\prod_j P(x_j\\mid c,x_{\\mathrm{pa}(j)})$."
        ),
        "aode": _(
            "The mean of all SPODEs whose super-parent has its value in at least $m'$ rows: "
            "$\\sum_i P(c,x_i)\\prod_{j\\neq i}P(x_j\\mid c,x_i)$ (eq. 7.23–7.25)."
        ),
        "k-db": _(
            "Every column depends on the class and on up to $k$ others, each of which is more informative about the "
            "class: $P(c)\\prod_j P(x_j\\mid c,x_{\\mathrm{pa}(j)})$ (Sahami 1996)."
        ),
        "network": _(
            "The class is a node among the columns, with parents and children as the arcs say (eq. 7.26): "
            "$P(c\\mid\\mathrm{pa}(c))\\prod_j P(x_j\\mid\\mathrm{pa}(x_j))$. Also called belief network (“brief "
            "network” in one of the lecture notes)."
        ),
        "lda": _(
            "Within a class the numbers are one Gaussian, with a covariance that all classes share, so that boundaries "
            "are planes: $P(c)\\,N(\\mathbf{x};\\boldsymbol\\mu_c,\\Sigma)$."
        ),
        "qda": _(
            "Within a class the numbers are one Gaussian with a covariance of its own, so that boundaries are "
            "quadrics: $P(c)\\,N(\\mathbf{x};\\boldsymbol\\mu_c,\\Sigma_c)$."
        ),
    }[name]


def preset(name: str) -> str:
    return {
        "textbook": _("textbook, as printed"),
        "laplace": _("Laplace correction"),
        "zero-only": _("repair zeros only"),
        "scikit-learn": _("scikit-learn's defaults"),
    }[name]


def preset_help(name: str) -> str:
    return {
        "textbook": _("No smoothing, empirical prior, sample variance (n−1): eq. 7.16–7.18."),
        "laplace": _("A pseudo-count of 1 for each class and each level (α=1), sample variance: eq. 7.19–7.20."),
        "zero-only": _(
            "Only an attribute–class pair with a zero is smoothed; the prior is left alone. (Lecture notes "
            "head this “prior probability 0”: what is 0 is a class-conditional.)"
        ),
        "scikit-learn": _("α=1 on the conditionals, empirical prior, maximum-likelihood variance (n)."),
    }[name]


REGISTERED: dict[str, tuple[str, str]] = {}
"""The words of a likelihood that is registered from outside: how it is called, and what it assumes in a sentence."""


def likelihood(name: str) -> str:
    if name in REGISTERED:
        return REGISTERED[name][0]
    return {
        "gaussian": _("Gaussian"),
        "kernel": _("kernel density, Silverman"),
        "kernel-range": _("kernel density, by the range"),
        "poisson": "Poisson",
        "categorical": _("categorical"),
        "bernoulli": "Bernoulli",
        "multinomial": _("multinomial"),
        "joint-multinomial": _("counts multinomial together"),
        "mdlp": _("cut by MDLP"),
        "equal-width": _("cut at equal width"),
        "quantile": _("cut by quantiles"),
    }[name]


def likelihood_help(name: str) -> str:
    if name in REGISTERED:
        return REGISTERED[name][1]
    return {
        "gaussian": _("A normal density for each class: mean and variance (eq. 7.18)."),
        "kernel": _("A small bump on every training value, $h_c=s_c(4/(3n_c))^{1/5}$ wide: no shape is assumed."),
        "kernel-range": _(
            "A small bump on every training value, rounded to the column's precision $p$, "
            "$h_c=\\max\\{(\\max-\\min)/\\sqrt{n_c},p/6\\}$ wide."
        ),
        "poisson": _("Counts 0, 1, 2, … that come at a constant rate μ in each class."),
        "categorical": _("A probability for every level (eq. 7.17); of a number every value is a level."),
        "bernoulli": _("Present or absent, and absent counts too: a probability for each class."),
        "multinomial": _("Each term of the text as often as it stands there; absent terms do not count."),
        "joint-multinomial": _(
            "All columns of counts that have it are one multinomial, as the words of a text are: what share of all "
            "that is counted is this column's. A 0 is no evidence, nor is the total of a row."
        ),
        "mdlp": _("Intervals, cut where the classes change as far as the description length pays for it."),
        "equal-width": _("Intervals of equal width; a probability for each (eq. 7.17)."),
        "quantile": _("Intervals with about as many rows each; a probability for each (eq. 7.17)."),
    }[name]


def spec(model: Spec) -> str:
    """A model of the shelf on screen: its family, of naive Bayes the preset, marked where a parameter differs."""
    named = preset(model.preset) if model.family == "naive-bayes" else family(model.family)
    if model.family in ("weighted", "selective"):
        named = _(", ").join((named, preset(model.preset)))
    return named + (" *" if model.parameters else "")


def parameter_name(name: str) -> str:
    return {
        "smoothing": _("Smoothing"),
        "alpha": "α",
        "alphas": _("by column"),
        "priors": _("Class prior"),
        "variance": _("Variance"),
        "tied_variance": _("Classes' variances"),
        "var_floor": _("Variance floor"),
        "missing": _("Missing cells"),
        "unseen": _("Unseen values"),
        "discretize": _("Numbers"),
        "likelihoods": _("likelihoods of their own"),
        "terms": _("Terms of a text"),
        "counting": _("Terms count"),
        "objective": _("Objective"),
        "largest": _("Largest weight"),
        "leave_one_out": _("Evaluation of the weights"),
        "direction": _("Direction"),
        "bins": _("Intervals"),
        "super_parent": _("Super-parent"),
        "root": _("Root"),
        "min_frequency": "m′",
        "k": "k",
        "structure": _("Structure"),
        "criterion": _("Criterion"),
        "max_parents": _("Parents at most"),
        "shrinkage": _("Shrinkage"),
        "calibration": _("Calibration"),
    }[name]


def option(name: str, value: Any, table: FittableTable | None = None) -> str:
    """A setting of a parameter on screen; a column by its name in `table`, or by its place."""
    if name in ("super_parent", "root"):
        if value < 0:
            return _("by leave-one-out") if name == "super_parent" else _("most informative")
        named = table.column(table.features.names[value]) if table else ""
        return clean(named, 30) or _("column {n}").format(n=value + 1)
    if name in ("likelihoods", "alphas"):
        word = likelihood if name == "likelihoods" else prior_choice.text
        return _(", ").join(
            f"{clean(table.column(table.features.names[j]), 20) if table else j + 1}{_(': ')}{word(own)}"
            for j, own in value
        )
    if name == "discretize" and value in (None, "kernel", "kernel-range", "joint-multinomial", "mdlp"):
        return likelihood(value or "gaussian")
    if name == "criterion" and isinstance(value, tuple):
        return _("risk under set losses")
    if name == "largest" and value is None:
        return _("no bound")
    if name == "structure" and isinstance(value, tuple):
        return _("{n} arcs by hand").format(n=len(value))
    if isinstance(value, tuple):
        return _("set by hand")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}"
    return {
        ("smoothing", "all"): _("everywhere"),
        ("smoothing", "zero-only"): _("zeros only"),
        ("smoothing", "none"): _("none"),
        ("smoothing", "factored"): _("each table by itself"),
        ("smoothing", "joint"): _("one joint table"),
        ("priors", "empirical"): _("empirical"),
        ("priors", "laplace"): _("Laplace"),
        ("priors", "uniform"): _("uniform"),
        ("priors", "by hand"): _("set by hand"),
        ("variance", "mle"): "n",
        ("variance", "unbiased"): "n−1",
        ("tied_variance", True): _("one for all"),
        ("tied_variance", False): _("one each"),
        ("unseen", "ignore"): _("leave out"),
        ("unseen", "smooth"): _("smooth"),
        ("unseen", "error"): _("refuse"),
        ("missing", "marginalize"): _("marginalize"),
        ("missing", "category"): _("a level of its own"),
        ("missing", "error"): _("refuse"),
        ("discretize", "equal-width"): _("equal width"),
        ("discretize", "quantile"): _("quantiles"),
        ("terms", "words"): _("words"),
        ("terms", "pairs"): _("words and pairs"),
        ("terms", "characters"): _("runs of 1 to 3 characters"),
        ("counting", "counts"): _("as often as they stand there"),
        ("counting", "once"): _("once"),
        ("counting", "bernoulli"): _("present or absent (Bernoulli)"),
        ("objective", "cll"): _("log-loss of the posterior"),
        ("objective", "mse"): _("squared error of the posterior"),
        ("leave_one_out", True): _("leaving each row out"),
        ("leave_one_out", False): _("on the rows as they are"),
        ("direction", "forward"): _("forward, from none"),
        ("direction", "backward"): _("backward, from all"),
        ("criterion", "accuracy"): _("share right"),
        ("criterion", "log_loss"): _("log-loss"),
        ("criterion", "risk"): _("risk under your losses"),
        ("structure", "hill-climb"): _("hill climbing"),
        ("structure", "exact"): _("the exact optimum"),
        ("structure", "naive"): _("naive Bayes"),
        ("structure", "tan"): "TAN",
        ("criterion", "mdl"): "MDL = −BIC",
        ("criterion", "bic"): "BIC",
        ("criterion", "aic"): "AIC",
        ("criterion", "k2"): "K2",
        ("criterion", "bdeu"): "BDeu",
        ("criterion", "log-likelihood"): _("log-likelihood"),
        ("shrinkage", None): _("none"),
        ("shrinkage", "auto"): "Ledoit–Wolf",
        ("shrinkage", "oas"): "OAS",
        ("shrinkage", "by hand"): _("set by hand"),
        ("calibration", "none"): _("none"),
        ("calibration", "temperature"): _("temperature"),
        ("calibration", "platt"): "Platt",
        ("calibration", "isotonic"): _("isotonic"),
    }[name, value]


def setting(name: str, value: Any, table: FittableTable | None = None) -> str:
    """A parameter and where it stands: «Missing cells refuse», «k = 2»."""
    if name == "alpha":
        return prior_choice.text(value)
    if name == "likelihoods":
        return option(name, value, table)
    equals = "= " if name in ("k", "min_frequency", "bins", "max_parents") else ""
    return f"{parameter_name(name)} {equals}{option(name, value, table)}"


def kind(name: str) -> str:
    return {
        "categorical": _("categorical"),
        "binary": _("binary"),
        "continuous": _("continuous"),
        "count": _("count"),
        "text": _("text"),
        "date": _("date"),
        "identifier": _("identifier"),
        "constant": _("constant"),
        "empty": _("empty"),
    }[name]


def role(name: str) -> str:
    return {
        "feature": _("feature"),
        "target": _("target"),
        "ignore": _("ignore"),
        "id": _("id"),
        "group": _("group"),
        "weight": _("weight"),
        "amount": _("amount"),
    }[name]


def status(code: int) -> str:
    """Why a row has no posterior."""
    return {
        Status.OK: _("ok"),
        Status.IMPOSSIBLE: _("impossible under this model: its likelihood is 0 in every class"),
        Status.OUT_OF_RANGE: _("outside the range of the data: every density underflows"),
        Status.REFUSED: _("a cell is infinite"),
        Status.UNREADABLE: _("a cell cannot be used"),
    }[Status(code)]


def with_unit(table: FittableTable, name: str, limit: int = 40) -> str:
    """«credit amount (DM)», as Markdown."""
    unit = table.info.column(name).unit if table.info else ""
    return md(table.column(name), limit) + (f" ({md(unit, 12)})" if unit else "")


def decision_name(table: FittableTable, action: Any, escape: Callable[[str, int], str]) -> str:
    """A decision as a row of the losses: «decide good» for a class, another action by its own name."""
    name = escape(table.action(action), 24)
    return _("decide {name}").format(name=name) if action in table.classes else name


def verdict(table: FittableTable, ledger: Ledger, decision: Decision, terms: Mapping[str, str] | None = None) -> str:
    """One sentence: what is decided and why; of a text column with its loudest `terms`. Where the losses overrule the
    likeliest class, it says so."""
    action, posterior = decision.action[0], ledger.posterior()[0]
    ranked = sorted(range(len(posterior)), key=lambda k: -posterior[k])
    best, other = (ledger.classes[k] for k in ranked[:2])
    likely = f"P({md(table.class_(best), 24)}) = {certain(posterior[ranked[0]])}"
    reasons = because(table, ledger, best, other, terms)
    if decision.tied[0]:
        head = _("Judged **{action}**, a tie settled by name; {likely}.")
    elif action == best:
        head = _("Judged **{action}**, {likely}, because of {reasons}.")
    else:
        head = _(
            "Judged **{action}** although {likely}, for it costs less: risk {risk}, the next decision {gap} more. "
            "The probability comes from {reasons}."
        )
    return head.format(
        action=md(table.action(action), 24),
        likely=likely,
        reasons=reasons,
        risk=_cost(decision.risk[0]),
        gap=_cost(decision.gap[0]),
    )


def _cost(risk: float) -> str:
    """Three digits, or all before the point: «1273», not 1.27e+03."""
    return f"{risk:.0f}" if 1e3 <= abs(risk) < 1e7 else f"{risk:.3g}"


def because(table: FittableTable, ledger: Ledger, best: Any, other: Any, terms: Mapping[str, str] | None = None) -> str:
    """What speaks for the likeliest class and what against it, strongest first, against the next class; of a text
    its `terms` (safe in Markdown), too."""
    merged = ledger.by_variable()
    nats = zip((row.name for row, _term in merged.rows), merged.differences(best, other)[0].tolist(), strict=True)
    names = {row.name: md(row_word(row) or clean(table.column(row.child), 24)) for row, _term in ledger.rows}
    names |= {name: f"{names[name]} {words}" for name, words in (terms or {}).items() if name in names}
    unit = units.evidence_unit()
    strongest = sorted(((n, v) for n, v in nats if v), key=lambda item: -abs(item[1]))[:4]
    speaking = {
        sign: _(", ").join(f"{names[n]} ({signed(units.evidence(v))})" for n, v in strongest if (v > 0) == sign)
        for sign in (True, False)
    }
    if speaking[True] and speaking[False]:
        return _("{pro}, in spite of {contra} ({unit})").format(pro=speaking[True], contra=speaking[False], unit=unit)
    pro = _("{pro} ({unit})").format(pro=speaking[True], unit=unit)
    return pro if speaking[True] else _("no evidence either way")


def share(value: float) -> str:
    """Per cent, with as many digits as tell it from all."""
    text = f"{value:.1%}"
    return f"{value:.3%}" if text == "100.0%" and value < 1 else text


def held_out_scheme(scheme: Message, *, one_by_one: bool) -> str:
    """How several models were judged on the same rows held out."""
    if one_by_one:
        return _("Each row by models learnt anew from all others; the same rows for all.")
    return _("{scheme}; the same rows for all.").format(scheme=scheme.local(md))
