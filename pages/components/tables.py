"""Tables on screen: of words, to be read or chosen from; a few lines as text; the rows as they are called on screen.

Those to choose from are drawn by `tables.js`, not by `st.dataframe(on_select=…)`, which was tried on Streamlit 1.67: a
click on a cell chooses nothing, a row is chosen by the box before it or by Shift+Space alone (here by a click anywhere,
Space or Enter), and it loads 268 kB of packed scripts where this takes 6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import pandas as pd
import pyarrow as pa
import streamlit as st

from bayes_engine.language import _, current_language
from bayes_engine.numerals import plain
from bayes_engine.table.roles import put
from pages import active
from pages.components.component import component, last_message, read_message, read_position
from pages.runtime.cache import cached, content_key
from pages.runtime.escape import clean
from pages.runtime.state import current

FEW = 200
"""Of a table up to so many rows, and of so many columns as below, every cell is text; a larger one is a data grid."""
NARROW = 24
MOST = 5000
"""So many rows go to the browser at most."""
LONG = 40
"""In a list of more entries one can look for words."""

_component = component(__file__, "bayes_table", '<div class="listing" data-testid="table"></div>', uses=("stage",))


class Bar(NamedTuple):
    """Words with a bar beneath them, a share of 1."""

    text: str
    share: float


class Tint(NamedTuple):
    """Words on a ground of this CSS colour."""

    text: str
    colour: str


class Head(NamedTuple):
    """The head of a column: its words, what they mean, its width in pixels (None: by its words), on which side its
    cells begin, and whether it can be spared: such columns, the last ones, are left out where room is short."""

    text: str
    help: str = ""
    width: int | None = None
    right: bool = False
    spare: bool = False


class Choice(NamedTuple):
    """Choosing from a table, by rows or by cells: the `chosen` (row, column) is marked, and `on_choice(row, column)` is
    called before the script runs again."""

    by: Literal["row", "cell"]
    on_choice: Callable[[int, int], object]
    chosen: tuple[int, int] | None = None


def word_table(
    heads: Sequence[Head],
    lines: Sequence[Sequence[str | Bar | Tint]],
    *,
    key: str,
    label: str,
    height: int,
    choice: Choice | None = None,
    narrow: bool = False,
) -> None:
    """A table of words, at most `height` pixels high, to be read or, with a `choice`, to choose from. In a `narrow` one
    columns keep the room of their words, and the whole scrolls. A click on a head sorts."""

    def choose() -> None:
        place = read_message(key, "chosen", lambda edit: read_place(edit.get("at"), len(lines), len(heads)))
        if place is not None and choice is not None:
            choice.on_choice(*place)

    _component(
        key=key,
        data={
            "heads": [head._replace(text=clean(head.text))._asdict() for head in heads],
            "rows": [[_line(cell) for cell in line] for line in lines],
            "by": "" if choice is None else choice.by,
            "chosen": None if choice is None or choice.chosen is None else list(choice.chosen),
            "label": clean(label),
            "height": height,
            "find": _("Find") if len(lines) > LONG else "",
            "none": _("Nothing found"),
            "sort": _("A click sorts, up and then down.")
            if choice is None
            else _("A click sorts, up and then down. In the rows, arrow keys move and Enter chooses."),
            "narrow": narrow,
            "seen": last_message(key),
        },
        on_chosen_change=choose,
    )


def read_place(value: object, rows: int, columns: int) -> tuple[int, int] | None:
    """(row, column) that a browser says was chosen, if there is such a cell.

    >>> read_place([1, 0], 2, 1), read_place([2, 0], 2, 1), read_place([True, 0], 2, 1)
    ((1, 0), None, None)
    """
    match value:
        case [i, j]:
            row, column = read_position(i, rows), read_position(j, columns)
            return None if row is None or column is None else (row, column)
    return None


def _line(cell: str | Bar | Tint) -> str | dict[str, Any]:
    match cell:
        case Bar(text, share):
            return {"text": clean(text), "bar": min(max(float(share), 0.0), 1.0)}
        case Tint(text, colour):
            return {"text": clean(text), "tint": colour}
    return clean(cell, 200)


@dataclass(frozen=True)
class RowsBehind:
    """The `n` rows behind a number, or the first `MOST` of them, by their numbers in the table. They go by a `key`."""

    key: tuple[Any, ...]
    frame: pd.DataFrame
    n: int


class _Shown(NamedTuple):
    """Rows on screen: `lines` of text, or a `grid` of `n` rows, an Arrow table where its columns allow one."""

    heads: list[Head]
    lines: list[list[str]]
    grid: Any
    n: int


def rows(
    table: active.FittableTable, behind: RowsBehind, first: Sequence[str], *, of: object, height: int,
    made: Sequence[str] = (),
) -> None:  # fmt: skip
    """The very rows of a table behind a number, some columns `first`; `made` are columns of numbers that were computed
    from them. Many rows are a data grid that can be sorted, a new one where they are rows `of` something else, as it
    keeps its widths."""
    if behind.n > MOST:
        st.caption(_("The first {n} are shown.").format(n=MOST))
    shown = _shown(table, behind, tuple(first), tuple(made), (current_language(), current().labels))
    if shown.grid is not None:
        st.dataframe(
            shown.grid,
            placeholder="·",
            height=table_height(shown.n, height),
            key=f"rows_{content_key(of)}",
            alt=_("the rows counted"),
            column_config={n: st.column_config.NumberColumn(format="%.6g") for n in made},
        )
        return
    label = _("the rows counted")
    word_table(shown.heads, shown.lines, key="rows_counted", label=label, height=height, narrow=True)


@cached(max_entries=32)
def _shown(
    table: active.FittableTable, behind: RowsBehind, first: tuple[str, ...], made: tuple[str, ...],
    language: tuple[str, str],
) -> _Shown:  # fmt: skip
    """In a `language`, with its names or the file's."""
    frame = behind.frame.rename_axis(_("row"))
    ordered = [*first, *(name for name in frame.columns if name not in first)]
    shown = with_screen_names(table, frame[ordered])
    if len(shown) > FEW or shown.shape[1] > NARROW:
        try:
            return _Shown([], [], pa.Table.from_pandas(shown), len(shown))
        except (pa.ArrowException, OverflowError):  # cells of several types, or beyond 64 bits: Streamlit writes texts
            return _Shown([], [], shown, len(shown))
    right = [pd.api.types.is_numeric_dtype(shown[n].dtype) for n in shown]
    heads = [Head(str(shown.index.name or ""), right=True)]
    heads += [Head(str(n), right=r) for n, r in zip(shown, right, strict=True)]
    cells = [[_cell(v, n in made) for v in shown[n]] for n in shown]
    lines = [[str(number), *line] for number, line in zip(shown.index, zip(*cells, strict=True), strict=True)]
    return _Shown(heads, lines, None, len(shown))


def _cell(value: Any, made: bool) -> str:
    if pd.isna(value):
        return "·"
    if isinstance(value, float):
        return plain(value) if made else f"{value:.15g}"
    return str(value)


def column(
    head: str, cells: Sequence[Any], about: str | None = None, *, width: int | None = None, right: bool = False
) -> tuple[Sequence[Any], Any]:
    """A column of a grid: its cells, and its head with what it means, its width in pixels (None: by its words), and
    whether its cells stand at the right."""
    side: Literal["right"] | None = "right" if right else None
    return cells, st.column_config.Column(head, help=about, width=width, alignment=side)


def grid(columns: Mapping[str, tuple[Sequence[Any], Any]], *, key: str, alt: str, whole: bool = False) -> None:
    """A data grid of such columns, by the names that scripts know them by; a `whole` one is as high as all its rows."""
    frame = pd.DataFrame({name: list(cells) for name, (cells, _config) in columns.items()})
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        height=38 + 35 * max(len(frame), 1) if whole else "auto",
        alt=alt,
        column_config={name: config for name, (_cells, config) in columns.items()},
    )


@cached(max_entries=32)
def rows_behind(
    table: active.FittableTable, of: tuple[Any, ...], _chosen: Callable[[pd.DataFrame], pd.DataFrame]
) -> RowsBehind:
    """The rows that are chosen from those that models are fitted to, with their class and weight. `of` stands for the
    choice; a table may be long."""
    parts = table.parts
    besides = {parts.target.name: parts.y}
    if parts.weight is not None:
        besides[str(parts.weight.name)] = parts.weight
    rows = _chosen(put(parts.X, besides).set_axis(parts.rows + 1, axis=0))
    return RowsBehind(of, rows.iloc[:MOST].copy(), len(rows))


@cached(max_entries=64)
def rows_in_class(table: active.FittableTable, label: Any) -> int:
    """How many rows a class has."""
    return int((table.parts.y == label).sum())


def table_height(rows: int, most: int) -> int:
    """As high as its rows, header and borders included."""
    return min(38 + 35 * max(rows, 1), most)


def markdown_table(lines: Sequence[Sequence[str]], *, left: int = 1) -> None:
    """A table of few lines as text, the first of them its heads, and its first columns flush left. Cells are Markdown.
    (`st.dataframe` can be sorted and scrolled, for 0.3 MB of scripts at a first visit.)"""
    heads, *rest = lines
    rule = [":--" if j < left else "--:" for j in range(len(heads))]
    st.markdown("\n".join(f"| {' | '.join(line)} |" for line in (heads, rule, *rest)))


def with_screen_names(table: active.TableInUse, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with the names and levels in the interface's language, where the table has any."""
    if table.dataset is None:  # levels may be of several types (a new one is named); cells are of one
        return frame.astype({n: object for n in frame if isinstance(frame[n].dtype, pd.CategoricalDtype)})
    known = {v.name for v in table.schema}
    shown = {}
    for name in frame.columns:
        if name not in known:
            shown[name] = frame[name]
            continue
        names = {level: table.level(name, level) for level in table.schema[name].levels}
        shown[table.column(name)] = frame[name].astype(object).map(names, na_action="ignore") if names else frame[name]
    return pd.DataFrame(shown)
