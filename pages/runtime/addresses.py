"""Which address a session takes its state from: that of its first run, and each that a person goes Back or Forward to.

Every run comes with an address, but that is only the one which the browser had when it asked: a click, a look at a job,
a connection that was lost during a long upload may ask before the browser has heard of what the session wrote last. So
the address of a run says nothing. That a person went through the browser's history, the browser says itself
(`private.at_each_ask`); such a step is noted when its message comes, since the run that it asks for may be broken off
by the next click, and it is taken before any edit that was sent after it; one that was sent before it, and whose run
was broken off for it, is left behind by it as if it had come through. A link from elsewhere opens a session anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

MOST = 1000
"""Sessions of which is noted at most what was asked: one that has ended asks no longer."""
WIDGETS = 1000
"""Widgets of a session of which is noted at most when they changed."""


@dataclass
class _Asked:
    """What a session's browser has asked for: the number of its last message, the `values` of its widgets then, the
    message in which each `changed` last, the one in which a person `stepped` last, and where `to`, if the session has
    not been there yet."""

    number: int = 0
    values: Mapping[str, bytes] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    stepped: int = 0
    to: str | None = None


_asked: dict[str, _Asked] = {}  # by session


def note(session_id: str, values: Mapping[str, bytes], pressed: Mapping[str, bytes], step: str | None = None) -> None:
    """The next message of this session's browser: what its widgets say, by their ids, which of the buttons among them
    was pressed, and the query of the address that a person went to, if that is why it asks."""
    asked = _asked.setdefault(session_id, _Asked())
    asked.number += 1
    asked.changed.update(dict.fromkeys((w for w in values if asked.values.get(w) != values[w]), asked.number))
    asked.changed.update(dict.fromkeys(pressed, asked.number))
    asked.values = values
    if len(asked.changed) > WIDGETS:
        asked.changed = {w: n for w, n in asked.changed.items() if w in values or w in pressed}
    if step is not None:
        asked.stepped, asked.to = asked.number, parse_qs(step).get("s", [""])[0]
    if len(_asked) > MOST:
        _asked.pop(next(iter([*_asked])), None)


def take_step(session_id: str) -> str | None:
    """The address that a person went to since this was asked last."""
    asked = _asked.get(session_id)
    if asked is None:
        return None
    address, asked.to = asked.to, None
    return address


def is_left_behind(session_id: str, widget: str) -> bool:
    """Whether a person changed this widget before they last went Back or Forward: what it asks for is over."""
    asked = _asked.get(session_id)
    return asked is not None and asked.changed.get(widget, asked.number + 1) <= asked.stepped


@dataclass
class Addresses:
    """The addresses of one session: `due` is the one that its browser should show, None before the first run; `stepped`
    where a person went there, and nothing was written since."""

    due: str | None = None
    stepped: bool = False

    def arrives(self, shown: str) -> str | None:
        """A run begins, which comes with this address; the one to take the state from."""
        if self.due is not None:
            return None
        self.due = shown
        return shown

    def goes(self, address: str) -> None:
        """A person went to this address."""
        self.due, self.stepped = address, True

    def unwritten(self, address: str, shown: str) -> bool:
        """A run that came with the address `shown` ends, and this one is due: whether the browser is to be told.

        Where an edit takes back the one before, or a person went Back, the browser may show what is due, and another
        address be on its way to it. What it shows already it passes over.
        """
        return self.stepped or not shown == self.due == address

    def wrote(self, address: str) -> None:
        """The browser was told this address."""
        self.due, self.stepped = address, False
