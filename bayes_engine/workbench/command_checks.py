"""What is refused of a command of `bayes-workbench` before a row is read, and the words of what it refuses."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from bayes_engine.errors import ParameterError
from bayes_engine.language import Message, _
from bayes_engine.scale.sources import MAGIC, opened

WRONG = 2
"""The exit code where the command is written wrongly."""

OF_LEARNING = ("set", "columns", "levels", "folds", "seed")
"""The options that say how a model is learnt and judged by folds."""


OPTIONS = {"prior_of_use": "--prior"}
"""What the library's arguments are called in the command, where it is not by their names."""
_ARGUMENT = re.compile(
    r"(?<![A-Za-z_])(?:(columns|target|weight|groups|keep|resume|threads|prior_of_use)=(?![A-Za-z0-9'{])|fit_files)"
)


def check(asked: Namespace) -> None:
    """Raises ParameterError where the arguments do not go with each other, or with the files."""
    written_prior(asked.prior if asked.command != "fit" else None)
    if asked.command != "classify":
        _refuse_features(asked)
    _refuse_mixed(asked.files)
    _refuse_overwriting(asked)


def by_options(message: Message) -> str:
    """A sentence of the library in the context's language, with the command's options for the library's arguments.

    >>> by_options(Message("'{name}' is left out by columns=", {"name": "columns="}))
    "'columns=' is left out by --columns"
    """
    template = message.template
    template = _ARGUMENT.sub(lambda m: OPTIONS.get(m[1], f"--{m[1]}") if m[1] else "fit", _(template))
    return Message(template, message.params).local()


def delimiter(text: str) -> str:
    """The character that `--delimiter` names; a tab may be written out.

    >>> delimiter(";"), delimiter("\\t")
    (';', '\\t')
    """
    mark = "\t" if text == "\\t" else text
    if len(mark) != 1 or mark in '"\r\n' or not mark.isascii():
        raise ArgumentTypeError(_("'{text}' is not one character, such as ; or \\t for a tab").format(text=text))
    return mark


def written_prior(settings: Sequence[str] | None) -> dict[str, float] | None:
    """Class frequencies written as CLASS=NUMBER, by the classes' names."""
    if settings is None:
        return None
    prior: dict[str, float] = {}
    for setting in settings:
        name, _equals, text = setting.rpartition("=")
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not name or not 0 <= value <= 1:
            raise ParameterError("--prior {setting} is not CLASS=NUMBER with a number from 0 to 1", setting=setting)
        if name in prior:
            raise ParameterError("--prior names the class '{label}' twice", label=name)
        prior[name] = value
    if abs(sum(prior.values()) - 1.0) > 1e-9:
        raise ParameterError("--prior sums to {total:.12g}, not 1; name all classes", total=sum(prior.values()))
    return prior


def prior_of(settings: Sequence[str] | None, classes: Sequence[Any]) -> dict[Any, float] | None:
    """The frequencies of these classes."""
    prior = written_prior(settings)
    if prior is None:
        return None
    by_name = {str(c): c for c in classes}
    for label in [*prior, *by_name]:
        if label not in by_name or label not in prior:
            raise ParameterError(
                "--prior names the classes {named}, and those of the target are {classes}",
                named=", ".join(prior), classes=", ".join(by_name),
            )  # fmt: skip
    return {by_name[label]: value for label, value in prior.items()}


def _refuse_features(asked: Namespace) -> None:
    for name in ("target", "weight", "groups"):
        column = getattr(asked, name, None)
        if column is not None and column in (asked.columns or ()):
            raise ParameterError(
                "--columns names '{column}' as a feature, and {option} names it, too; leave it out of one of them",
                column=column, option=f"--{name}",
            )  # fmt: skip


def _refuse_mixed(files: Sequence[str]) -> None:
    """Raises ParameterError where some of these files are Parquet and others are not."""
    first: dict[bool, str] = {}
    for name in files:
        if (path := Path(name)).is_file():
            with path.open("rb") as file:
                first.setdefault(path.suffix == ".parquet" or file.read(len(MAGIC)) == MAGIC, name)
    if len(first) > 1:
        raise ParameterError(
            "'{parquet}' is Parquet and '{csv}' is CSV; name files of one format", parquet=first[True], csv=first[False]
        )


def refuse_with_new(asked: Namespace) -> None:
    """Raises ParameterError where `evaluate --new`, which learns nothing, is told how to learn."""
    for name in OF_LEARNING:
        if getattr(asked, name) is not None:
            raise ParameterError(
                "{option} has no meaning with --new, which scores a saved model as it is; leave one of them out",
                option=f"--{name}",
            )


def _refuse_overwriting(asked: Namespace) -> None:
    """Raises ParameterError where what is written (`--out`, `--resume`) would stand in place of what is read, or of one
    another, by whatever link."""
    written = {option: Path(path) for option in ("--out", "--resume") if (path := getattr(asked, option[2:], None))}
    if len(written) == 2 and _same(*written.values()):
        raise ParameterError("--out and --resume are one file, '{path}'; name another for one of them", path=asked.out)
    for option, place in written.items():
        if place.is_file() and any(_same(place, path) for path in _read(asked)):
            raise ParameterError(
                "{option} '{path}' is one of the files that are read; name another", option=option, path=str(place)
            )


def _read(asked: Namespace) -> list[Path]:
    """The files that are read and are no model to be fitted anew."""
    also = [asked.loss] if getattr(asked, "loss", None) else []
    if asked.command != "fit":
        also.append(asked.model)
    return [*map(Path, also), *opened(asked.files, delimiter=asked.delimiter, encoding=asked.encoding).paths]


def _same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


class CommandParser(ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        sentence = _("The command cannot be read: {reason}. {command} --help says how it is written.")
        print(sentence.format(reason=_in_language(message.rstrip(".")), command=self.prog), file=sys.stderr)  # noqa: T201
        sys.exit(WRONG)

    def print_help(self, file: Any = None) -> None:
        """Without argparse's silence where that fails."""
        print(self.format_help(), end="", file=file)

    def format_help(self) -> str:
        return super().format_help().replace("usage: ", _("usage: "), 1)


def _in_language(said_by_argparse: str) -> str:
    """What argparse says, in the context's language."""
    of = r"argument (?P<name>[^:]+): "
    for pattern, sentence in (
        (r"unrecognized arguments: (?P<names>.*)", _("unrecognized arguments: {names}")),
        (r"the following arguments are required: (?P<names>.*)", _("the following arguments are required: {names}")),
        (of + r"expected one argument", _("argument {name}: expected one argument")),
        (of + r"expected at least one argument", _("argument {name}: expected at least one argument")),
        (of + r"invalid int value: (?P<value>.*)", _("argument {name}: invalid int value: {value}")),
        (of + r"ignored explicit argument (?P<value>.*)", _("argument {name}: ignored explicit argument {value}")),
        (of + r"(?P<reason>.*)", _("argument {name}: {reason}")),
    ):
        if match := re.fullmatch(pattern, said_by_argparse, re.DOTALL):
            return sentence.format(**match.groupdict())
    return said_by_argparse
