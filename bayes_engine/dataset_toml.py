"""The TOML beside a data set or a network, checked: its keys, their types, and that its statements fit one another."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache, partial
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from bayes_engine.dataset_format import DatasetCover, DatasetInfo, ExampleCase, Image, NetworkInfo
from bayes_engine.errors import BayesEngineError
from bayes_engine.language import Message

if TYPE_CHECKING:
    from bayes_engine.factors.network import Network

MOST_PIXELS = 1024
"""A picture has at most so many pixels."""
LONGEST_SHOWN = 60
"""Of a value that is not what it must be so many characters are shown."""


def parse_info(text: str, file: str) -> DatasetInfo:
    """The TOML `text` as a `DatasetInfo`; anything wrong in it raises, naming `file` and the key.

    >>> parse_info('titel = "Melons"', "melons.toml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bayes_engine.errors.BayesEngineError: 'melons.toml': key 'titel' is not known here; known keys: title, title_zh, ...
    """
    info: DatasetInfo = record(DatasetInfo, document(text, file), file, "")
    holds = partial(check, file)
    if info.image is not None:
        _check_image(info.image, info.cases, holds)
        info = _with_pixels(info, info.image)
    _check_statements(info, holds)
    return info


def parse_cover(text: str, file: str) -> DatasetCover:
    """The cover of a data set: a tenth of the time of `parse_info`, which checks the whole.

    >>> head = 'title = "M"\\ntitle_zh = "瓜"\\nquestion = "Q?"\\nquestion_zh = "问"\\ngroup = "real"\\nplace = 3\\n'
    >>> parse_cover(head + "[[columns]]\\nname = 0", "melons.toml").text("title", "zh")
    '瓜'
    """
    try:
        keys = document(re.split(r"^\[", text, maxsplit=1, flags=re.MULTILINE)[0], file)
    except BayesEngineError:  # a value of several lines, one of which begins like a table
        keys = document(text, file)
    wanted = {f.name for f in fields(DatasetCover)}
    cover: DatasetCover = record(DatasetCover, {k: v for k, v in keys.items() if k in wanted}, file, "")
    return cover


def parse_network_info(text: str, file: str, network: Network) -> NetworkInfo:
    """The TOML beside a network; anything wrong in it raises, naming `file` and the key."""
    info: NetworkInfo = record(NetworkInfo, document(text, file), file, "")
    holds, names = partial(check, file), network.names
    holds(tuple(node.name for node in info.nodes) == names, "nodes", "must be the nodes of the network, in its order")
    for i, (node, size) in enumerate(zip(info.nodes, network.sizes, strict=True)):
        labels = (node.levels_en, node.levels_zh)
        holds(all(len(own) in (0, size) for own in labels), f"nodes[{i}]", "one label per level")
    holds(info.target in names and info.target not in info.evidence, "target", "must be a node without evidence")
    for name, level in info.evidence.items():
        known = name in names and level in network[name].variable.levels
        holds(known, f"evidence.{name}", "there is no such node or level")
    return info


MOST_DEEP = 64
"""A key has at most so many parts, and tables and lists stand in each other at most so deep."""
_MANY_PARTS = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){{{MOST_DEEP}}}")
_LONG_NUMBER = re.compile(r"\b0x[0-9a-fA-F_]{16,}+|\b0o[0-7_]{21,}+|\b0b[01_]{63,}+|\b\d[\d_]{18,}+")


def document(text: str, file: str) -> dict[str, Any]:
    """The values of a TOML; raises BayesEngineError where it is none, or holds what no file that is meant does: keys
    and lists nested beyond `MOST_DEEP`, or a whole number of more than 64 bits, which TOML does not know."""
    if (parts := _MANY_PARTS.search(text)) is not None:  # such keys take tomllib as long as their number squared
        raise _invalid(file, Message("keys of more than {n} parts", {"n": MOST_DEEP}), text, parts.start())
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits, brackets by the thousand
        raise BayesEngineError("'{file}' is not valid TOML: {reason}", file=file, reason=str(error)) from error
    within: list[Any] = [values]
    for _level in range(MOST_DEEP):
        within = [inner for value in within for inner in _inside(value)]
        if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in within):
            numbers = _LONG_NUMBER.finditer(text)
            place = next((m.start() for m in numbers if int(m[0], 0 if m[0][1:2].isalpha() else 10) >= 2**63), 0)
            raise _invalid(file, Message("a whole number of more than 64 bits"), text, place)
    if within:
        raise _invalid(file, Message("tables and lists nested more than {n} deep", {"n": MOST_DEEP}), text, 0)
    return values


def _inside(value: Any) -> list[Any]:
    """What a table or a list holds."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _invalid(file: str, reason: Message, text: str, place: int) -> BayesEngineError:
    line = text.count("\n", 0, place) + 1
    return BayesEngineError("'{file}' is not valid TOML: {reason}", file=file, reason=reason, line=line)


Check = Callable[[bool, str, str | Message], None]
"""Raises unless a statement of a file holds, naming the key and what is wrong with it."""


def check(file: str, holds: bool, key: str, problem: str | Message) -> None:
    if not holds:
        raise BayesEngineError("'{file}': key '{key}': {problem}", file=file, key=key, problem=problem)


_hints = cache(get_type_hints)


def record(kind: Any, value: Any, file: str, where: str) -> Any:
    """A TOML table as the dataclass `kind`. A field `class_` is the key `class`."""
    if not isinstance(value, dict):
        raise _mismatch(file, where, "a table", value)
    hints = _hints(kind)
    known = {f.name.removesuffix("_"): f for f in fields(kind)}
    prefix = f"{where}." if where else ""
    for key in value:
        if key not in known:
            raise BayesEngineError(
                "'{file}': key '{key}' is not known here; known keys: {known}",
                file=file,
                key=prefix + key,
                known=", ".join(known),
            )
    for key, declared in known.items():
        if key not in value and declared.default is MISSING and declared.default_factory is MISSING:
            raise BayesEngineError("'{file}': key '{key}' is missing", file=file, key=prefix + key)
    return kind(**{known[k].name: _typed(hints[known[k].name], v, file, prefix + k) for k, v in value.items()})


def _typed(kind: Any, value: Any, file: str, where: str) -> Any:
    """`value` checked against the type `kind`; TOML's arrays become tuples."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin is UnionType and type(None) in inner:
        return _typed(inner[0], value, file, where)
    if is_dataclass(kind):
        return record(kind, value, file, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise _mismatch(file, where, "a list", value)
        return tuple(_typed(inner[0], v, file, f"{where}[{i}]") for i, v in enumerate(value))
    if origin is Mapping:
        if not isinstance(value, dict):
            raise _mismatch(file, where, "a table", value)
        return {k: _typed(inner[1], v, file, f"{where}.{k}") for k, v in value.items()}
    if origin is Literal:
        if value not in inner:
            raise _mismatch(file, where, " | ".join(inner), value)
        return value
    if kind is float and type(value) is int:
        return float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and bool not in (kind, *inner)):
        raise _mismatch(file, where, getattr(kind, "__name__", str(kind)), value)
    return value


def _mismatch(file: str, where: str, wanted: str, value: object) -> BayesEngineError:
    shown = f"{value}"
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
    return BayesEngineError(
        "'{file}': key '{key}' must be {wanted}, not '{found}'", file=file, key=where, wanted=wanted, found=shown
    )


def _check_image(image: Image, cases: tuple[ExampleCase, ...], check: Check) -> None:
    """That the picture, and every case drawn as one, can be shown."""
    fits = min(image.rows, image.cols, image.top) >= 1 and image.rows * image.cols <= MOST_PIXELS
    check(fits, "image", f"rows, cols and top are at least 1, and there are at most {MOST_PIXELS} pixels")
    try:
        image.meaning.format(row=1, col=1), image.meaning_zh.format(row=1, col=1)
    except (KeyError, IndexError, ValueError):
        check(False, "image.meaning", "only {row} and {col} stand in braces")
    for i, case in enumerate(cases):
        shape = len(case.pixels) == image.rows and all(len(row) == image.cols for row in case.pixels)
        drawn = shape and all(-1 <= ink <= image.top for row in case.pixels for ink in row)
        check(not case.pixels or drawn, f"cases[{i}].pixels", "rows × cols numbers from 0 to top, −1 for a missing one")


def _with_pixels(info: DatasetInfo, image: Image) -> DatasetInfo:
    """The pixels written out, as columns and as values of the cases."""

    def drawn(case: ExampleCase) -> ExampleCase:
        inks = zip(image.names, (ink for row in case.pixels for ink in row), strict=False)
        return replace(case, values={**{name: ink for name, ink in inks if ink >= 0}, **case.values})

    return replace(info, columns=(*image.columns, *info.columns), cases=tuple(map(drawn, info.cases)))


def _check_statements(info: DatasetInfo, check: Check) -> None:
    """What the types cannot say: that every statement fits the others."""
    columns = {c.name: c for c in info.columns}
    check(len(columns) == len(info.columns), "columns", "a name comes twice")
    targets = [c.name for c in info.columns if c.role == "target"]
    check(targets == [info.target], "target", "exactly this column, and no other, must have the role 'target'")
    for c in info.columns:
        key, n = f"columns.{c.name}", len(c.levels)
        check(n >= 2 if c.discrete else n == 0, key, "levels (two or more) belong to a discrete column, and only there")
        check(c.kind != "binary" or n == 2, key, "a binary column has two levels")
        check(len({str(level) for level in c.levels}) == n, key, "a level comes twice")
        check(all(len(names) in (0, n) for names in (c.levels_en, c.levels_zh)), key, "one label per level")

    classes = columns[info.target].levels
    for i, case in enumerate(info.cases):
        check(info.image is not None or not case.pixels, f"cases[{i}].pixels", "the table has no image")
        for name, value in case.values.items():
            asked, key = columns.get(name), f"cases[{i}].values.{name}"
            check(asked is not None and asked.role == "feature", key, "there is no such feature")
            if asked is not None and asked.discrete:
                check(value in asked.levels, key, "there is no such level")
            elif asked is not None:
                check(isinstance(value, str) == (asked.kind == "text"), key, "the value does not fit the column's kind")

    loss = info.loss
    check(sorted(map(str, loss.classes)) == sorted(map(str, classes)), "loss.classes", "must be the target's levels")
    check(len(loss.table) == len(loss.actions), "loss.table", "one row per action")
    check(all(len(row) == len(loss.classes) for row in loss.table), "loss.table", "one cell per class in every row")
    check(all(math.isfinite(cell) for row in loss.table for cell in row), "loss.table", "every cell is a number")
    others = {str(action) for action in loss.actions if action not in classes}
    for key, named in (("loss.actions_en", loss.actions_en), ("loss.actions_zh", loss.actions_zh)):
        check(named.keys() <= others, key, "names an action that is a class or is not there")

    if info.prior_of_use is not None:
        priors = info.prior_of_use.priors
        check(priors.keys() == {str(c) for c in classes}, "prior_of_use.priors", "one probability per class")
        check(min(priors.values(), default=0.0) >= 0, "prior_of_use.priors", "a probability is negative")
        check(math.isclose(sum(priors.values()), 1.0, abs_tol=1e-9), "prior_of_use.priors", "must sum to 1")

    for i, erratum in enumerate(info.errata):
        misprinted, key = columns.get(erratum.column), f"errata[{i}]"
        levels = misprinted.levels if misprinted else ()
        check(erratum.column == "" or misprinted is not None, f"{key}.column", "there is no such column")
        check(erratum.level == "" or erratum.level in levels, f"{key}.level", "there is no such level")
        check(erratum.class_ == "" or erratum.class_ in classes, f"{key}.class", "there is no such class")
