"""What the TOML beside a data set or a network says. The dataclasses *are* its format: a field is a key, its type is
checked, a field without a default must be there, a key that is no field is an error. Words come twice (`title`,
`title_zh`); `text` picks a language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bayes_engine.table.kinds import Level

Preset = Literal["textbook", "laplace", "zero-only", "scikit-learn"]
Group = Literal["worked-example", "real", "text"]
Step = Literal["", "mean", "density", "joint"]


class Bilingual:
    """Words in two languages: the field itself is English, `<field>_zh` Chinese."""

    def text(self, name: str, language: str) -> str:
        """Field `name` in `language`; English where there is no other."""
        return str(getattr(self, f"{name}_{language}", "") or getattr(self, name))


class _Labels(Bilingual):
    """A column or a node with names for itself (`label_*`) and its levels (`levels_*`) in place of the file's own."""

    name: str

    def label(self, language: str) -> str:
        return str(getattr(self, f"label_{language}", "") or self.name)

    def level_label(self, level: object, levels: Sequence[object], language: str) -> str:
        names: tuple[str, ...] = getattr(self, f"levels_{language}", ())
        return names[levels.index(level)] if names and level in levels else str(level)


_FORMULA, _TERM = re.compile(r"([Ppμσ]\()([^()]+)\)"), re.compile(r"[^|,]+")
"""A formula of a note, P(…), and the terms in it."""


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
class Image(Bilingual):
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
class ExampleCase(Bilingual):
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
class LossStory(Bilingual):
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
class PriorOfUse(Bilingual):
    """Class frequencies where the classifier is used, when the table's own are not those. Keys are classes as text."""

    priors: Mapping[str, float]
    note: str
    note_zh: str


@dataclass(frozen=True)
class Erratum(Bilingual):
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
class DatasetCover(Bilingual):
    """What the gallery shows of a data set before it is opened: some of the keys of `DatasetInfo`, which stand before
    its tables."""

    title: str
    title_zh: str
    question: str
    question_zh: str
    group: Group
    place: int


@dataclass(frozen=True)
class DatasetInfo(Bilingual):
    """Everything a TOML says. `place` orders the data sets of one `group` (a shelf of the gallery); `missing` lists
    the cells that mean "not known", besides the empty one; `parameters` are those of naive Bayes that the table opens
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
    licence_zh: str = ""
    url: str = ""
    missing: tuple[str, ...] = ()
    parameters: Mapping[str, Level] = field(default_factory=dict)
    image: Image | None = None
    prior_of_use: PriorOfUse | None = None
    errata: tuple[Erratum, ...] = ()

    def column(self, name: str) -> ColumnInfo:
        """The column called `name`."""
        return next(c for c in self.columns if c.name == name)

    def named(self, text: str, language: str) -> str:
        """A text about the data set whose formulas, P(column=level|class), name columns and levels as the file does: by
        their labels in `language`, as the working has them; as it stands for "".

        >>> from bayes_engine.datasets import dataset_info
        >>> melons = dataset_info("watermelon3")
        >>> melons.named("P(敲声=清脆|是) = 0/8, μ(密度|好瓜=是)", "en"), melons.named("P(x_i|是)", "zh")
        ('P(knock=crisp|good) = 0/8, μ(density|good)', 'P(x_i|好瓜)')
        """
        if not language:
            return text

        def inside(formula: re.Match[str]) -> str:
            return formula[1] + _TERM.sub(lambda term: self._labelled(term[0], language), formula[2]) + ")"

        return _FORMULA.sub(inside, text)

    def _labelled(self, term: str, language: str) -> str:
        """A column, a level of the target or of a feature, or column=level, by its labels; a class by its own alone."""
        name, sign, value = term.partition("=")
        known = {c.name: c for c in self.columns}
        if sign and name in known:
            level = _level_label(known[name], value, language)
            return level if name == self.target else f"{known[name].label(language)}={level}"
        if term in known:
            return known[term].label(language)
        ordered = sorted(self.columns, key=lambda c: c.name != self.target)
        column = next((c for c in ordered if term in map(str, c.levels)), None)
        return term if column is None else _level_label(column, term, language)


def _level_label(column: ColumnInfo, written: str, language: str) -> str:
    """The label of a level that is written as it prints."""
    level = next((one for one in column.levels if str(one) == written), written)
    return column.level_label(level, column.levels, language)


@dataclass(frozen=True)
class NodeInfo(_Labels):
    """A node of an embedded network: its name in the file, and what it and its levels are called on screen."""

    name: str
    label_en: str = ""
    levels_en: tuple[str, ...] = ()
    label_zh: str = ""
    levels_zh: tuple[str, ...] = ()


@dataclass(frozen=True)
class NetworkInfo(Bilingual):
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
