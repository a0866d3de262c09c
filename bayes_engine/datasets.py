"""The embedded data sets: `<name>.csv`, and beside it `<name>.toml`, which says what the table means; and the embedded
networks, `networks/<name>.bif` with a TOML likewise.

The dataclasses below *are* the format of the TOML: a field is a key, its type is checked, a field without a default
must be there, a key that is no field is an error. Words come twice (`title`, `title_zh`); `text` picks a language.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pandas as pd

from bayes_engine.errors import BayesEngineError, TableError
from bayes_engine.exchange import read_bif
from bayes_engine.factors.network import Network
from bayes_engine.table.schema import Level, Schema, Variable

Preset = Literal["textbook", "laplace", "zero-only", "scikit-learn"]
Group = Literal["worked-example", "real", "text"]
Step = Literal["", "mean", "density", "joint"]
MOST_PIXELS = 1024
"""A picture has at most so many pixels."""


class _Words:
    """Words in two languages: the field itself is English, `<field>_zh` Chinese."""

    def text(self, name: str, language: str) -> str:
        """Field `name` in `language`; English where there is no other."""
        return str(getattr(self, f"{name}_{language}", "") or getattr(self, name))


class _Labels(_Words):
    """A column or a node with names for itself (`label_*`) and its levels (`levels_*`) in place of the file's own."""

    name: str

    def label(self, language: str) -> str:
        return str(getattr(self, f"label_{language}", "") or self.name)

    def level_label(self, level: object, levels: Sequence[object], language: str) -> str:
        names: tuple[str, ...] = getattr(self, f"levels_{language}", ())
        return names[levels.index(level)] if names and level in levels else str(level)


@dataclass(frozen=True)
class ColumnInfo(_Labels):
    """One column of the CSV. `levels` is the closed domain of a discrete column, in display order; `unit` is stripped
    from the end of a number as printed; `label_*` and `levels_*` are shown in place of the file's own words."""

    name: str
    kind: Literal["categorical", "binary", "continuous", "count", "text", "identifier"]
    meaning: str
    meaning_zh: str
    role: Literal["feature", "target", "id", "ignore", "amount"] = "feature"
    unit: str = ""
    levels: tuple[Level, ...] = ()
    label_en: str = ""
    levels_en: tuple[str, ...] = ()
    label_zh: str = ""
    levels_zh: tuple[str, ...] = ()

    @property
    def discrete(self) -> bool:
        """Whether the column has levels."""
        return self.kind in ("categorical", "binary")


@dataclass(frozen=True)
class Image(_Words):
    """The rows of the table are pictures: `rows` × `cols` pixels, row by row from the top left, each a count from 0
    (blank) to `top` (full). Their columns, "p00", "p01", …, are the first of the CSV and are described here once, with
    {row} and {col}, from 0, in `meaning` for their place."""

    rows: int
    cols: int
    top: int
    meaning: str
    meaning_zh: str

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the pixels: row and column, counted from 0.

        >>> Image(2, 3, 16, "", "").names
        ('p00', 'p01', 'p02', 'p10', 'p11', 'p12')
        """
        wide = len(str(max(self.rows, self.cols) - 1))
        return tuple(f"p{row:0{wide}}{col:0{wide}}" for row in range(self.rows) for col in range(self.cols))

    @property
    def columns(self) -> tuple[ColumnInfo, ...]:
        """The pixels as columns like any other."""
        places = ({"row": i // self.cols, "col": i % self.cols} for i in range(self.rows * self.cols))
        return tuple(
            ColumnInfo(name, "count", self.meaning.format(**place), self.meaning_zh.format(**place))
            for name, place in zip(self.names, places, strict=True)
        )


@dataclass(frozen=True)
class ExampleCase(_Words):
    """A query worth asking: `values` by feature; a feature left out is missing. Of a picture `pixels` says them row by
    row, −1 for a missing one. `amount`, where a column multiplies losses, is the case's; −1 where it is not said."""

    name: str
    name_zh: str
    values: Mapping[str, Level] = field(default_factory=dict)
    pixels: tuple[tuple[int, ...], ...] = ()
    amount: float = -1.0
    note: str = ""
    note_zh: str = ""


@dataclass(frozen=True)
class LossStory(_Words):
    """`table[i][j]`: the loss, in `unit`, of decision `actions[i]` when the truth is `classes[j]`. An action named like
    a class decides it; `actions_en` and `actions_zh` name the others."""

    story: str
    story_zh: str
    unit: str
    unit_zh: str
    actions: tuple[Level, ...]
    classes: tuple[Level, ...]
    table: tuple[tuple[float, ...], ...]
    actions_en: Mapping[str, str] = field(default_factory=dict)
    actions_zh: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PriorOfUse(_Words):
    """Class frequencies where the classifier is used, when the table's own are not those. Keys are classes as text."""

    priors: Mapping[str, float]
    note: str
    note_zh: str


@dataclass(frozen=True)
class Erratum(_Words):
    """A misprint of the lecture notes on an example: what is `printed`, what is `right`, and the number it belongs to,
    named by any of `column`, `level`, `class_` and `step` of the working. `rounded`: no slip, but the printed number
    came from rounded ones."""

    where: str
    printed: str
    right: str
    note: str
    note_zh: str
    column: str = ""
    level: Level = ""
    class_: Level = ""
    step: Step = ""
    rounded: bool = False


@dataclass(frozen=True)
class DatasetInfo(_Words):
    """Everything a TOML says. `place` orders the data sets of one `group` (a shelf of the gallery); `missing` lists
    the cells that mean "not known", besides the empty one; `knobs` are parameters of naive Bayes that the table opens
    with besides its preset."""

    title: str
    title_zh: str
    question: str
    question_zh: str
    summary: str
    summary_zh: str
    source: str
    licence: str
    target: str
    preset: Preset
    group: Group
    place: int
    columns: tuple[ColumnInfo, ...]
    cases: tuple[ExampleCase, ...]
    loss: LossStory
    url: str = ""
    missing: tuple[str, ...] = ()
    knobs: Mapping[str, Level] = field(default_factory=dict)
    image: Image | None = None
    prior_of_use: PriorOfUse | None = None
    errata: tuple[Erratum, ...] = ()

    def column(self, name: str) -> ColumnInfo:
        """The column called `name`."""
        return next(c for c in self.columns if c.name == name)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table, its schema and its story."""

    name: str
    frame: pd.DataFrame
    schema: Schema
    info: DatasetInfo

    def label(self, column: str, language: str) -> str:
        """A column's name in `language`; as in the file where there is no other.

        >>> melons = load_dataset("watermelon3")
        >>> melons.label("色泽", "en"), melons.label("色泽", "zh")
        ('colour', '色泽')
        """
        return self.info.column(column).label(language)

    def level_label(self, column: str, level: object, language: str) -> str:
        """A level in `language`; as in the file where there is no other.

        >>> load_dataset("watermelon3").level_label("色泽", "青绿", "en")
        'green'
        """
        described = self.info.column(column)
        return described.level_label(level, described.levels, language)

    def action_label(self, action: object, language: str) -> str:
        """A row of the loss table in `language`: a class by its level's label, another action by its own name.

        >>> load_dataset("breast-cancer").action_label("repeat the biopsy", "zh")
        '再次穿刺'
        """
        own: Mapping[str, str] = getattr(self.info.loss, f"actions_{language}", {})
        return own.get(str(action)) or self.level_label(self.info.target, action, language)


@dataclass(frozen=True)
class NodeInfo(_Labels):
    """A node of an embedded network: its name in the file, and what it and its levels are called on screen."""

    name: str
    label_en: str = ""
    levels_en: tuple[str, ...] = ()
    label_zh: str = ""
    levels_zh: tuple[str, ...] = ()


@dataclass(frozen=True)
class NetworkInfo(_Words):
    """What the TOML beside a network says; `target` given `evidence` is the question it is known for."""

    title: str
    title_zh: str
    story: str
    story_zh: str
    source: str
    licence: str
    place: int
    target: str
    nodes: tuple[NodeInfo, ...]
    evidence: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class StoredNetwork:
    """An embedded network: its tables and its story."""

    name: str
    network: Network
    info: NetworkInfo

    def label(self, node: str, language: str) -> str:
        """A node's name in `language`; as in the file where there is no other."""
        return self._node(node).label(language)

    def level_label(self, node: str, level: object, language: str) -> str:
        """A level in `language`; as in the file where there is no other.

        >>> load_network("asia").level_label("xray", "yes", "en")
        'abnormal'
        """
        return self._node(node).level_label(level, self.network[node].variable.levels, language)

    def _node(self, name: str) -> NodeInfo:
        return next(node for node in self.info.nodes if node.name == name)


@cache
def network_names() -> tuple[str, ...]:
    """The embedded Bayesian networks, in the order in which they are offered.

    >>> network_names()
    ('asia', 'sprinkler', 'burglary', 'watermelon', 'stuck')
    """
    return tuple(sorted((p.stem for p in _networks().glob("*.toml")), key=lambda name: _network(name).info.place))


def load_network(name: str) -> StoredNetwork:
    """Embedded network `name`: its tables, and everything its TOML says.

    >>> asia = load_network("asia")
    >>> asia.info.target, asia.network["lung"].p.tolist()
    ('lung', [[0.1, 0.9], [0.01, 0.99]])
    """
    if name not in network_names():
        raise BayesEngineError(
            "network '{name}' is not known; choose one of: {known}", name=name, known=", ".join(network_names())
        )
    return _network(name)


@cache
def dataset_names() -> tuple[str, ...]:
    """The embedded data sets, in the order of the gallery.

    >>> dataset_names()[:3]
    ('watermelon3a', 'watermelon3', 'watermelon2')
    """
    shelves = get_args(Group)
    infos = {path.stem: _info(path.stem) for path in _folder().glob("*.toml")}
    return tuple(sorted(infos, key=lambda name: (shelves.index(infos[name].group), infos[name].place, name)))


def dataset_info(name: str) -> DatasetInfo:
    """What the TOML of data set `name` says; the table is not read.

    >>> dataset_info("iris").target
    'species'
    """
    if name not in dataset_names():
        raise BayesEngineError(
            "data set '{name}' is not known; choose one of: {known}", name=name, known=", ".join(dataset_names())
        )
    return _info(name)


def load_dataset(name: str) -> Dataset:
    """Data set `name`: a frame of your own to change, its schema, and everything its TOML says.

    >>> melons = load_dataset("watermelon3")
    >>> melons.frame.shape, list(melons.frame["好瓜"].cat.categories)
    ((17, 9), ['是', '否'])
    >>> load_dataset("loan").frame["Income"].tolist()[:2]
    [125.0, 100.0]
    """
    dataset_info(name)
    dataset = _dataset(name)
    return replace(dataset, frame=dataset.frame.copy())


def _folder() -> Path:
    """Inside the package in an installed wheel, beside it in a checkout. The wheel's place is asked first: what lies
    beside an installed package is someone else's."""
    here = Path(__file__).parent
    installed = here / "_app" / "datasets"
    return installed if installed.is_dir() else here.parent / "datasets"


@cache
def _info(name: str) -> DatasetInfo:
    path = _folder() / f"{name}.toml"
    return parse_info(path.read_text(encoding="utf-8"), path.name)


@cache
def _dataset(name: str) -> Dataset:
    info = _info(name)
    frame = _read_frame(_folder() / f"{name}.csv", info)
    variables = (
        Variable(name=c.name, kind=c.kind, levels=c.levels, declared=c.discrete, role=c.role) for c in info.columns
    )
    return Dataset(name, frame, Schema(tuple(variables)), info)


@cache
def _network(name: str) -> StoredNetwork:
    path = _networks() / f"{name}.toml"
    network = read_bif(path.with_suffix(".bif"))
    return StoredNetwork(name, network, parse_network_info(path.read_text(encoding="utf-8"), path.name, network))


def _networks() -> Path:
    return _folder() / "networks"


# --- the table ------------------------------------------------------------------------------------------------------


def _read_frame(path: Path, info: DatasetInfo) -> pd.DataFrame:
    """The CSV as its columns are described; a cell is missing if it is empty or listed in `missing`, never by guess."""
    cells = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=["", *info.missing], encoding="utf-8")
    if list(cells.columns) != [c.name for c in info.columns]:
        raise TableError(
            "the header of '{file}' is {header}, its TOML describes {columns}",
            file=path.name,
            header=", ".join(cells.columns),
            columns=", ".join(c.name for c in info.columns),
        )
    return pd.DataFrame({c.name: _read_column(cells[c.name], c, path.name) for c in info.columns})


def _read_column(cells: pd.Series[str], column: ColumnInfo, file: str) -> pd.Series[Any]:
    if column.discrete:
        levels = {str(level): level for level in column.levels}
        values = cells.map(levels, na_action="ignore")
    elif column.kind in ("continuous", "count"):
        values = pd.to_numeric(cells.str.removesuffix(column.unit).str.strip(), errors="coerce")
    else:
        return cells
    wrong = (values.isna() & cells.notna()).to_numpy()
    if wrong.any():
        row_index = int(wrong.argmax())
        where = {"file": file, "line": row_index + 2, "column": column.name, "cell": cells.iloc[row_index]}
        if column.discrete:
            raise TableError("'{file}', line {line}, column '{column}': '{cell}' is not a declared level", **where)
        raise TableError("'{file}', line {line}, column '{column}': '{cell}' is not a number", **where)
    if column.discrete:
        return pd.Series(pd.Categorical(values, categories=list(column.levels)), name=column.name)
    return values if column.kind == "count" and not values.hasnans else values.astype(float)


# --- the TOML -------------------------------------------------------------------------------------------------------


def parse_info(text: str, file: str) -> DatasetInfo:
    """The TOML `text` as a `DatasetInfo`; anything wrong in it raises, naming `file` and the key.

    >>> parse_info('titel = "Melons"', "melons.toml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bayes_engine.errors.BayesEngineError: 'melons.toml': key 'titel' is not known here; known keys: title, title_zh, ...
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BayesEngineError("'{file}' is not valid TOML: {reason}", file=file, reason=str(error)) from error
    info: DatasetInfo = _record(DatasetInfo, document, file, "")
    if info.image is not None:
        _refuse(_misdrawn(info.image, info.cases), file)
        info = _with_pixels(info, info.image)
    _refuse(_contradictions(info), file)
    return info


def parse_network_info(text: str, file: str, network: Network) -> NetworkInfo:
    """The TOML beside a network; anything wrong in it raises, naming `file` and the key."""
    info: NetworkInfo = _record(NetworkInfo, tomllib.loads(text), file, "")
    _refuse(_disagreements(info, network), file)
    return info


def _refuse(problems: list[tuple[str, str]], file: str) -> None:
    """Raises BayesEngineError with the first of them."""
    for key, problem in problems:
        raise BayesEngineError("'{file}': key '{key}': {problem}", file=file, key=key, problem=problem)


def _disagreements(info: NetworkInfo, network: Network) -> list[tuple[str, str]]:
    """(key, problem) wherever the TOML names what the network does not have."""
    problems = []
    if tuple(node.name for node in info.nodes) != network.names:
        problems.append(("nodes", "must be the nodes of the network, in its order"))
        return problems
    for i, (node, size) in enumerate(zip(info.nodes, network.sizes, strict=True)):
        if any(len(names) not in (0, size) for names in (node.levels_en, node.levels_zh)):
            problems.append((f"nodes[{i}]", "one label per level"))
    if info.target not in network.names or info.target in info.evidence:
        problems.append(("target", "must be a node without evidence"))
    for name, level in info.evidence.items():
        if name not in network.names or level not in network[name].variable.levels:
            problems.append((f"evidence.{name}", "there is no such node or level"))
    return problems


def _record(kind: Any, value: Any, file: str, where: str) -> Any:
    """A TOML table as the dataclass `kind`. A field `class_` is the key `class`."""
    if not isinstance(value, dict):
        raise _mismatch(file, where, "a table", value)
    hints = get_type_hints(kind)
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
    if origin is UnionType and type(None) in inner:
        return _typed(inner[0], value, file, where)
    if is_dataclass(kind):
        return _record(kind, value, file, where)
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
    return BayesEngineError(
        "'{file}': key '{key}' must be {wanted}, not '{found}'", file=file, key=where, wanted=wanted, found=value
    )


def _misdrawn(image: Image, cases: tuple[ExampleCase, ...]) -> list[tuple[str, str]]:
    """(key, problem) wherever the picture, or a case drawn as one, does not fit."""
    problems = []
    if min(image.rows, image.cols, image.top) < 1 or image.rows * image.cols > MOST_PIXELS:
        problems.append(("image", f"rows, cols and top are at least 1, and there are at most {MOST_PIXELS} pixels"))
    try:
        image.meaning.format(row=1, col=1), image.meaning_zh.format(row=1, col=1)
    except (KeyError, IndexError, ValueError):
        problems.append(("image.meaning", "only {row} and {col} stand in braces"))
    for i, case in enumerate(cases):
        shape = len(case.pixels) == image.rows and all(len(row) == image.cols for row in case.pixels)
        if case.pixels and not (shape and all(-1 <= ink <= image.top for row in case.pixels for ink in row)):
            problems.append((f"cases[{i}].pixels", "rows × cols numbers from 0 to top, −1 for a missing one"))
    return problems


def _with_pixels(info: DatasetInfo, image: Image) -> DatasetInfo:
    """The pixels written out, as columns and as values of the cases."""

    def drawn(case: ExampleCase) -> ExampleCase:
        inks = zip(image.names, (ink for row in case.pixels for ink in row), strict=False)
        return replace(case, values={**{name: ink for name, ink in inks if ink >= 0}, **case.values})

    return replace(info, columns=(*image.columns, *info.columns), cases=tuple(map(drawn, info.cases)))


def _contradictions(info: DatasetInfo) -> list[tuple[str, str]]:
    """What the types cannot say: (key, problem) of every statement that does not fit the others."""
    problems: list[tuple[str, str]] = []

    def check(holds: bool, key: str, problem: str) -> None:
        if not holds:
            problems.append((key, problem))

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
    if problems:
        return problems

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
    return problems
