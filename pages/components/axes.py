"""The choice of the columns that stand on the two axes of a plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pages.runtime.state import State
from pages.runtime.view_keys import Setting, ViewKey
from pages.runtime.widgets import control


def choose_axes(
    places: Sequence[Any],
    words: Mapping[ViewKey[int], str],
    shown: Sequence[int],
    options: Mapping[int, str],
    *,
    also: Sequence[Setting] = (),
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """The choice of what stands on one axis or both, each drawn in its place: of `options` by their positions, the axes
    by their `words`. Choosing for one what the other shows exchanges them; a choice sets `also` as well."""
    standing = dict(zip(words, shown, strict=True))

    def turned(state: State, axis: ViewKey[int], to: int) -> State:
        then = {key: standing[axis] if position == to else position for key, position in standing.items()} | {axis: to}
        return state.showing(*(key.to(position) for key, position in then.items()), *also)

    def choice(place: Any, axis: ViewKey[int]) -> None:
        place.selectbox(
            words[axis],
            list(options),
            format_func=options.__getitem__,
            width=width,
            **control(axis.widget, standing[axis], lambda s, to: turned(s, axis, to)),
        )

    for place, axis in zip(places, words, strict=False):
        choice(place, axis)
