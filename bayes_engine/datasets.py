"""The embedded data sets: `<name>.csv`, and beside it `<name>.toml`, which says what the table means; and the embedded
networks, `networks/<name>.bif` with a TOML likewise. `dataset_format` has what a TOML says, `dataset_toml` reads it;
what reads tables and networks is imported with the first of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from bayes_engine.dataset_format import ColumnInfo, DatasetCover, DatasetInfo, Group, NetworkInfo, NodeInfo
from bayes_engine.dataset_toml import parse_cover, parse_info, parse_network_info
from bayes_engine.errors import BayesEngineError, TableError

if TYPE_CHECKING:
    import pandas as pd

    from bayes_engine.factors.network import Network
    from bayes_engine.table.schema import Schema


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
    covers = {stem: _cover(stem) for stem in _stems()}
    return tuple(sorted(covers, key=lambda name: (shelves.index(covers[name].group), covers[name].place, name)))


def dataset_info(name: str) -> DatasetInfo:
    """What the TOML of data set `name` says; the table is not read.

    >>> dataset_info("iris").target
    'species'
    """
    _known(name)
    return _info(name)


def dataset_cover(name: str) -> DatasetCover:
    """What the gallery shows of data set `name`; of its TOML no more is read.

    >>> dataset_cover("iris").text("question", "zh") == dataset_info("iris").question_zh
    True
    """
    _known(name)
    return _cover(name)


def _known(name: str) -> None:
    if name not in _stems():
        raise BayesEngineError(
            "data set '{name}' is not known; choose one of: {known}", name=name, known=", ".join(dataset_names())
        )


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


def datasets_folder() -> Path:
    """Where the embedded data sets are: inside the package in an installed wheel, beside it in a checkout. The wheel's
    place is asked first: what lies beside an installed package is someone else's."""
    here = Path(__file__).parent
    installed = here / "_app" / "datasets"
    return installed if installed.is_dir() else here.parent / "datasets"


@cache
def _stems() -> frozenset[str]:
    return frozenset(path.stem for path in datasets_folder().glob("*.toml"))


@cache
def _cover(name: str) -> DatasetCover:
    path = datasets_folder() / f"{name}.toml"
    return parse_cover(path.read_text(encoding="utf-8"), path.name)


@cache
def _info(name: str) -> DatasetInfo:
    path = datasets_folder() / f"{name}.toml"
    return parse_info(path.read_text(encoding="utf-8"), path.name)


@cache
def _dataset(name: str) -> Dataset:
    from bayes_engine.table.schema import Schema, Variable

    info = _info(name)
    frame = _read_frame(datasets_folder() / f"{name}.csv", info)
    variables = (
        Variable(name=c.name, kind=c.kind, levels=c.levels, declared=c.discrete, role=c.role) for c in info.columns
    )
    return Dataset(name, frame, Schema(tuple(variables)), info)


@cache
def _network(name: str) -> StoredNetwork:
    from bayes_engine.exchange import read_bif

    path = _networks() / f"{name}.toml"
    network = read_bif(path.with_suffix(".bif"))
    return StoredNetwork(name, network, parse_network_info(path.read_text(encoding="utf-8"), path.name, network))


def _networks() -> Path:
    return datasets_folder() / "networks"


def _read_frame(path: Path, info: DatasetInfo) -> pd.DataFrame:
    """The CSV as its columns are described; a cell is missing if it is empty or listed in `missing`, never by guess."""
    import pandas as pd

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
    import pandas as pd

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
