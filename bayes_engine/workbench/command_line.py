"""The commands of `bayes-workbench` for those who have no browser: `fit`, `classify` and `evaluate` on files of any
size. Models are the files that the app saves and opens, losses are read as the app reads them from a spreadsheet.

Answers go to standard output, progress to standard error. The command ends with 0, with 1 where files or losses do not
allow what is asked, with 2 where the command is written wrongly, with 130 where it is called off by Ctrl+C, and with
141 where nobody reads what it says any more (`| head`).
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from unicodedata import east_asian_width

import numpy as np
from sklearn.base import clone

from bayes_engine.decision.loss import LossMatrix
from bayes_engine.errors import BayesEngineError, ParameterError, ReadError, StoreError, listen
from bayes_engine.language import _
from bayes_engine.models.aode import AODE
from bayes_engine.models.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from bayes_engine.models.k_dependence import KDependence
from bayes_engine.models.mixture import GaussianMixture
from bayes_engine.models.naive_bayes import NaiveBayes
from bayes_engine.models.network_classifier import BayesianNetworkClassifier
from bayes_engine.models.semi_supervised import SemiSupervisedNB
from bayes_engine.models.spode import SPODE
from bayes_engine.models.tan import TAN
from bayes_engine.scale import Progress, RiskInFiles, classify_files, evaluate_files, fit_files, held_out_risk
from bayes_engine.scale.held_out import judging
from bayes_engine.scale.sources import opened
from bayes_engine.store import load_model, save_model
from bayes_engine.table.schema import Schema, Variable
from bayes_engine.table.write import free_names
from bayes_engine.workbench.command_checks import (
    CommandParser,
    by_options,
    check,
    delimiter,
    prior_of,
    refuse_with_new,
)
from bayes_engine.workbench.incoming.pasted_losses import read_block

FAMILIES: Mapping[str, Callable[[], Any]] = {
    "naive-bayes": NaiveBayes,
    "tan": TAN,
    "aode": AODE,
    "spode": SPODE,
    "k-db": lambda: KDependence(1),
    "k-dependence": lambda: KDependence(1),
    "network": BayesianNetworkClassifier,
    "lda": LinearDiscriminantAnalysis,
    "qda": QuadraticDiscriminantAnalysis,
    "mixture": lambda: GaussianMixture(2),
    "hidden-labels": lambda: SemiSupervisedNB(NaiveBayes()),
}
"""What `--model` may name; k-dependence is k-db by its older name."""
WITHOUT_TARGET = {"mixture", "hidden-labels"}
"""The models that need no target, and are not judged by folds."""
JUDGED = [name for name in FAMILIES if name not in WITHOUT_TARGET]
"""What `--model` of `evaluate` may name."""
FOLDS = 5
"""Where `--folds` does not say how many."""
SEED = 0
"""Of random starts and of folds, where no other is given."""
REFUSE = "refuse"
"""The further decision of a loss file that does not name it, as the app calls it."""
EACH = 10.0
"""Seconds between two lines of progress where they cannot be written over."""
LARGEST_LOSSES = 2**20
"""Bytes of a loss file."""
DONE, FAILED, CALLED_OFF = 0, 1, 130


def run(arguments: Sequence[str]) -> int:
    """Do what the arguments ask; the command's exit code. Raises BrokenPipeError where nobody reads what it says; what
    was kept for `--resume` stays."""
    parser = _parser()
    asked = parser.parse_args(list(arguments))
    learns = asked.command != "classify" and not getattr(asked, "new", False)
    if learns and asked.target is None and asked.model in FAMILIES.keys() - WITHOUT_TARGET:
        parser.error("the following arguments are required: --target")
    progress = _ProgressLine(asked.quiet)
    try:
        with listen() as notes:
            check(asked)
            output = asked.does(asked, progress)
    except BayesEngineError as error:
        progress.end()
        print(by_options(error.message), file=sys.stderr)  # noqa: T201
        return FAILED
    except BrokenPipeError:
        raise
    except OSError as error:
        progress.end()
        print(_("'{file}': {reason}").format(file=error.filename, reason=error.strerror), file=sys.stderr)  # noqa: T201
        return FAILED
    except KeyboardInterrupt:
        progress.end()
        if asked.resume is None:
            called_off = _("Called off. Nothing half written is left.")
        else:
            called_off = _("Called off. What was done is kept in '{path}': the same command goes on from there.")
        print(called_off.format(path=asked.resume), file=sys.stderr)  # noqa: T201
        return CALLED_OFF
    progress.end()
    for note in dict.fromkeys(map(by_options, notes)):
        print(note, file=sys.stderr)  # noqa: T201
    print(output)  # noqa: T201
    return DONE


class _ProgressLine:
    """Progress on standard error: one line that is written over on a terminal, else a line now and then."""

    def __init__(self, quiet: bool) -> None:
        self.quiet, self.over, self.width = quiet, sys.stderr.isatty(), 0
        self.due = 0.0 if self.over else monotonic() + EACH

    def __call__(self, far: Progress) -> None:
        if self.quiet or monotonic() < self.due:
            return
        self.due = monotonic() + (0.5 if self.over else EACH)
        line = _("pass {step} of {steps}: {rows} rows, {rate} a second").format(
            step=far.step, steps=far.steps, rows=f"{far.rows:,}", rate=f"{far.rate:,.0f}"
        )
        if far.share is not None:
            line += _(", {share} % done").format(share=f"{100 * far.share:.0f}")
        if far.left is not None:
            line += _(", {left} s left").format(left=f"{far.left:.0f}")
        shown, end = ("\r" + line.ljust(self.width), "") if self.over else (line, "\n")
        print(shown, end=end, file=sys.stderr, flush=True)  # noqa: T201
        self.width = max(self.width, len(line))

    def end(self) -> None:
        """What follows stands on a line of its own."""
        if self.width and self.over:
            print(file=sys.stderr)  # noqa: T201
        self.width = 0


# what each does -------------------------------------------------------------------------------------------------------


def _fit(asked: Namespace, progress: _ProgressLine) -> str:
    if not Path(asked.out).parent.is_dir():
        raise StoreError("there is no folder '{path}' to write to", path=str(Path(asked.out).parent))
    model = fit_files(_model(asked), asked.files, resume=asked.resume, progress=progress, **_columns(asked))
    try:
        save_model(model, asked.out)
    except StoreError as error:
        if asked.resume is None:
            raise
        raise StoreError(
            "{why}; what was counted is kept in '{path}': the same command goes on from there, also with another --out",
            why=error.message,
            path=asked.resume,
        ) from error
    if isinstance(model, GaussianMixture):
        return _("{model} is fitted by EM in {n} steps: {d} columns, components with the shares {shares}. It is saved "
                 "as '{path}'.").format(
            model=type(model).__name__, n=model.n_iter_, d=model.n_features_in_,
            shares=", ".join(f"{w:.4g}" for w in model.weights_), path=asked.out,
        )  # fmt: skip
    sentence = _("{model} is fitted to rows of the weight {weight}: {d} columns, and '{target}' with the classes "
             "{classes}. It is saved as '{path}'.").format(
        model=type(model).__name__, weight=f"{model.stats_.class_weight.sum():,.10g}", d=len(model.schema_),
        target=model.target_.name, classes=", ".join(map(str, model.classes_.tolist())), path=asked.out,
    )  # fmt: skip
    return f"{sentence}\n{_graph(model)}" if isinstance(model, BayesianNetworkClassifier) else sentence


def _graph(model: BayesianNetworkClassifier) -> str:
    """The graph of a network, and what its search says of it."""
    arcs = ", ".join(f"{a} → {b}" for a, b in model.graph_.arcs)
    drawn = _("Arcs ({n}): {arcs}.").format(n=len(model.graph_.arcs), arcs=arcs) if arcs else _("It has no arcs.")
    if model.search_ is None:
        return drawn
    by = _("The graph is searched for by {score}, which is {value} nats.")
    return by.format(score=model.criterion, value=f"{model.search_.score:,.10g}") + " " + drawn


def _classify(asked: Namespace, progress: _ProgressLine) -> str:
    model = load_model(asked.model)
    classes = tuple(judging(model).classes_.tolist())
    done = classify_files(
        model, asked.files, asked.out, loss=_losses(asked.loss, classes), prior_of_use=prior_of(asked.prior, classes),
        keep=[] if asked.keep == [""] else asked.keep, delimiter=asked.delimiter, encoding=asked.encoding,
        progress=progress, threads=asked.threads, resume=asked.resume,
    )  # fmt: skip
    counts = [*((str(a), n) for a, n in done.actions.items()), (_("no posterior"), done.undecided)]
    return "\n".join([
        _("{n} rows are classified, in '{path}':").format(n=f"{done.rows:,}", path=str(done.path)),
        *_columns_of([(name, f"{n:,}") for name, n in counts]),
    ])  # fmt: skip


def _evaluate(asked: Namespace, progress: _ProgressLine) -> str:
    shared: dict[str, Any] = {"loss": partial(_losses, asked.loss), "progress": progress, "resume": asked.resume}
    prior = None if asked.prior is None else partial(prior_of, asked.prior)
    if asked.new:
        if asked.model in FAMILIES:
            raise ParameterError("--new scores a saved model: name its file with --model")
        refuse_with_new(asked)
        read = {name: value for name, value in _columns(asked).items() if name not in ("columns", "schema")}
        score = evaluate_files(
            load_model(asked.model), asked.files, prior_of_use=prior, groups=asked.groups, **shared, **read
        )
    else:
        score = held_out_risk(
            _model(asked), asked.files, prior_of_use=prior, folds=FOLDS if asked.folds is None else asked.folds,
            groups=asked.groups, seed=asked.seed or SEED, **shared, **_columns(asked),
        )  # fmt: skip
    return _as_json(score) if asked.json else _as_text(score)


def _as_text(score: RiskInFiles) -> str:
    low, high = score.interval
    measures = [
        (_("risk, 95 % interval"), f"{score.risk:.6g}  [{low:.6g}, {high:.6g}]"),
        (_("accuracy"), f"{score.accuracy:.6g}"),
        (_("log-loss (nats)"), f"{score.log_loss:.6g}"),
        (_("Brier score"), f"{score.brier:.6g}"),
        (_("expected calibration error"), f"{score.ece:.6g}"),
        (_("rows without a posterior"), f"{score.undecided:,}"),
    ]
    confusion = [
        (_("decided \\ truth"), *map(str, score.classes)),
        *(
            (str(a), *(f"{w:,.10g}" for w in row))
            for a, row in zip(score.actions, score.confusion.tolist(), strict=True)
        ),
    ]
    bins = score.calibration()
    calibration = [
        (_("said"), _("right"), _("rows")),
        *((f"{p:.4f}", f"{t:.4f}", f"{n:,}") for p, t, n in zip(bins["said"], bins["true"], bins["rows"], strict=True)),
    ]
    return "\n".join([
        _("{n} rows, {scheme}:").format(n=f"{score.rows:,}", scheme=score.scheme.local()),
        *_columns_of(measures),
        "",
        _("Rows (by weight) by decision and truth:"),
        *_columns_of(confusion),
        "",
        _("Calibration of the likeliest class, in bins of equal width:"),
        *_columns_of(calibration),
    ])  # fmt: skip


def _as_json(score: RiskInFiles) -> str:
    bins = score.calibration()
    return json.dumps({
        "rows": score.rows, "scheme": str(score.scheme), "passes": score.passes, "fold_rows": score.fold_rows,
        "classes": list(map(str, score.classes)), "actions": list(map(str, score.actions)),
        "risk": score.risk, "interval": score.interval, "accuracy": score.accuracy, "log_loss": _finite(score.log_loss),
        "brier": score.brier, "ece": score.ece, "undecided": score.undecided, "confusion": score.confusion.tolist(),
        "cost": score.cost.tolist(), "calibration": bins.to_dict("list"),
    }, ensure_ascii=False, indent=1)  # fmt: skip


def _finite(value: float) -> float | str:
    """JSON has no infinity."""
    return value if np.isfinite(value) else "Infinity"


def _columns_of(table: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, its first column to the left and the others to the right."""
    widths = [max(map(_width, column)) for column in zip(*table, strict=True)]
    return [
        "  " + "  ".join(
            cell + " " * (w - _width(cell)) if j == 0 else " " * (w - _width(cell)) + cell
            for j, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]  # fmt: skip


def _width(text: str) -> int:
    """Places that a text takes in a terminal: those of 中文 are two."""
    return sum(1 + (east_asian_width(c) in "WF") for c in text)


# what the arguments say -----------------------------------------------------------------------------------------------


def _model(asked: Namespace) -> Any:
    """The estimator asked for: by name, or one like a saved model, with the parameters set."""
    if asked.model in FAMILIES:
        model = FAMILIES[asked.model]()
    else:
        if not Path(asked.model).exists():
            names = ", ".join(FAMILIES if asked.command == "fit" else JUDGED)
            raise ParameterError(
                "'{name}' is no model and no file; the models are {known}", name=asked.model, known=names
            )
        model = clone(load_model(asked.model))
    known = model.get_params(deep=True)
    if known.get("random_state", SEED) is None:
        model.set_params(random_state=SEED)
    for setting in asked.set or ():
        name, equals, text = setting.partition("=")
        if not equals or name not in known:
            raise ParameterError(
                "--set {setting} names no parameter of {model}; they are {known}",
                setting=setting,
                model=type(model).__name__,
                known=", ".join(sorted(known)),
            )
        try:
            value = json.loads(text)
        except ValueError:
            value = {"None": None, "True": True, "False": False}.get(text, text)
        model.set_params(**{name: value})
    return model


def _columns(asked: Namespace) -> dict[str, Any]:
    """The arguments of the library for what is read."""
    schema, columns = None, asked.columns
    if asked.levels:
        schema = Schema(tuple(Variable(name, "categorical") for name in dict.fromkeys(asked.levels)))
        if columns is None:
            source = opened(asked.files, delimiter=asked.delimiter, encoding=asked.encoding)
            other = {asked.target, asked.weight, getattr(asked, "groups", None), *source.indices}
            columns = [name for name in dict.fromkeys(n for types in source.found for n in types) if name not in other]
        if missing := [name for name in asked.levels if name not in columns]:
            raise ParameterError("--levels names '{column}', which is no column here", column=missing[0])
    return {
        "target": asked.target, "schema": schema, "columns": columns, "weight": asked.weight,
        "delimiter": asked.delimiter, "encoding": asked.encoding, "threads": asked.threads,
    }  # fmt: skip


def _losses(path: str | None, classes: Sequence[Any]) -> LossMatrix:
    """The losses of a file for these classes, 0-1 where there is none."""
    if path is None:
        return LossMatrix.zero_one(classes)
    data = Path(path).read_bytes()[: LARGEST_LOSSES + 1]
    try:
        if len(data) > LARGEST_LOSSES:
            raise ReadError("'{file}' is too large for a matrix of losses", file=path)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError("'{file}' is no text in UTF-8; save the losses as CSV", file=path) from None
    names = [str(c) for c in classes]
    block = read_block(text, names, names)
    further = [block.extra or free_names([REFUSE], set(names))[0]] if len(block.table) > len(names) else []
    return LossMatrix((*classes, *further), classes, block.table)


def _parser() -> ArgumentParser:
    parser = CommandParser(prog="bayes-workbench", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, does: Callable[[Namespace, _ProgressLine], str], text: str) -> ArgumentParser:
        made: ArgumentParser = commands.add_parser(
            name, description=text, formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False, add_help=False
        )
        made.set_defaults(does=does)
        made._positionals.title, made._optionals.title = _("what it works on"), _("options")
        return made

    texts = {
        "fit": _(
            "Fit a model to Parquet or CSV files of any size, block by block, and save it as the app does.\n"
            "Numbers are numbers and text is levels; --levels names columns of numbers that are levels.\n\n"
            "  k-db           each column has k others as parents: --set k=2 (1)\n"
            "  mixture        a Gaussian mixture of columns of numbers, by EM: --set n_components=3 (2); no --target\n"
            "  hidden-labels  naive Bayes by EM where classes are missing: empty cells of --target or --set hidden=?;\n"
            "                 no --target and --set classes=3 where all are; --set estimator__alpha=0.5\n"
            "  network        a Bayesian network whose graph is searched for: --set criterion=bdeu (mdl, aic, k2),\n"
            "                 max_parents=2 (3), structure=exact (hill-climb), alpha=0.5 (1), priors=uniform "
            "(empirical)\n\n"
            "EM takes one pass over the files for each step, a search one for each round of tables that it asks for.\n"
            "--set random_state=1 draws the random starts of EM anew (0)."
        ),
        "classify": _(
            "Write the decisions of a saved model for every row, in order, beside what the row holds: the decision of\n"
            "least risk, its risk, the gap to the runner-up, the posterior and the status."
        ),
        "evaluate": _(
            "Estimate the risk on rows that the model has not seen: they are divided into folds by where they stand,\n"
            "or by a column, and each fold is decided by a model learnt from the others, which find its structure,\n"
            "cut points, shrinkage and vocabularies too."
        ),
    }
    fit = command("fit", _fit, texts["fit"])
    classify = command("classify", _classify, texts["classify"])
    evaluate = command("evaluate", _evaluate, texts["evaluate"])
    every, learning, deciding = (fit, classify, evaluate), (fit, evaluate), (classify, evaluate)

    def takes(those: Sequence[ArgumentParser], name: str, metavar: str | None, text: str, **how: Any) -> None:
        """An argument of some of the commands."""
        named: dict[str, Any] = {} if metavar is None else {"metavar": metavar}
        for made in those:
            made.add_argument(name, help=text.replace("%", "%%"), **named, **how)

    takes([classify], "model", "MODEL", _("a model that the app or fit has saved; not a mixture, which has no classes"))
    takes(every, "files", "FILE", _("Parquet or CSV files, or folders of them"), nargs="+")
    takes([fit], "--target", "COLUMN", _("the column of the classes; mixture and hidden-labels need none"))
    takes([evaluate], "--target", "COLUMN", _("the column of the classes"))
    models = _("{models}; or a saved model, whose parameters are taken. Without it naive-bayes")
    for made, names in ((fit, FAMILIES), (evaluate, JUDGED)):
        takes([made], "--model", "MODEL", models.format(models=", ".join(names)), default="naive-bayes")
    takes(
        learning, "--set", "NAME=VALUE", action="append",
        text=_("a parameter of the model, such as alpha=0.5 or discretize=mdlp; may be given several times"),
    )  # fmt: skip
    takes(learning, "--columns", "COLUMN", _("the features; without it all other columns"), nargs="+")
    takes(learning, "--levels", "COLUMN", _("columns of numbers that are levels"), nargs="+")
    takes(learning, "--weight", "COLUMN", _("the column that says how often a row counts"))
    takes(
        deciding, "--loss", "LOSS.csv",
        _("the losses, as CSV: a row for each decision, a column for each truth, with their names; one more row may be "
          "a decision besides the classes, such as refuse. Without it 0-1 loss"),
    )  # fmt: skip
    prior = _("the prior of use: class frequencies where the model is used, if they are others")
    takes(deciding, "--prior", "CLASS=NUMBER", prior, nargs="+")
    takes([fit], "--out", "MODEL.bayes", _("where the model is saved"), required=True)
    resume = _("a file that keeps what is counted; the same command goes on from it after it was broken off")
    takes(learning, "--resume", "PART", resume)
    resume = _("a folder that keeps the answers until all are there; the same command goes on after it was broken off")
    takes([classify], "--resume", "FOLDER", resume)
    answer = _("the file to be written, .parquet or .csv; it has its name when it is whole")
    takes([classify], "--out", "ANSWER", answer, required=True)
    kept = _('the columns written beside the answers; without it all, with --keep "" none')
    takes([classify], "--keep", "COLUMN", kept, nargs="+")
    takes([evaluate], "--folds", "K", _("how many folds (5)"), type=int)
    takes([evaluate], "--groups", "COLUMN", _("rows with one value in it stay in one fold"))
    takes([evaluate], "--seed", "N", _("another number divides the rows anew (0)"), type=int)
    new = _("score the saved model as it is: the rows must be others than those it was fitted to")
    takes([evaluate], "--new", None, new, action="store_true")
    takes([evaluate], "--json", None, _("all numbers as JSON"), action="store_true")
    takes(every, "--delimiter", "C", _("what is between the cells of CSV (,)"), default=",", type=delimiter)
    takes(every, "--encoding", "NAME", _("how CSV is encoded (utf-8)"), default="utf-8")
    takes(every, "--threads", "N", _("how many blocks are worked on at a time (one a core)"), type=int)
    takes(every, "--quiet", None, _("no progress"), action="store_true")
    for made in every:
        made.add_argument("-h", "--help", action="help", help=_("say this"))
    return parser
