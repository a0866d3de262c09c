"""What is refused of a command of `bayes-workbench` before a row is read."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from bayes_engine.errors import ParameterError
from bayes_engine.scale.sources import opened

OF_LEARNING = ("set", "columns", "levels", "folds", "seed")
"""The options that say how a model is learnt and judged by folds."""


def refuse_with_new(asked: Namespace) -> None:
    """Raises ParameterError where `evaluate --new`, which learns nothing, is told how to learn."""
    for name in OF_LEARNING:
        if getattr(asked, name) is not None:
            raise ParameterError(
                "{option} has no meaning with --new, which scores a saved model as it is; leave one of them out",
                option=f"--{name}",
            )


def refuse_overwriting(asked: Namespace) -> None:
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
