"""Which address a session takes its state from: that of its first run, and each that a person goes Back or Forward to.

Every run comes with an address, but that is only the one which the browser had when it asked: a click, a look at a job,
a connection that was lost during a long upload may ask before the browser has heard of what the session wrote last. So
the address of a run says nothing. That a person went through the browser's history, the browser says itself
(`private.at_each_step`); such a step is noted when its message comes, since the run that it asks for may be broken off
by the next click, and it is taken before any edit that was sent after it. A link from elsewhere opens a session anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs

MOST = 1000
"""Sessions for which a step is noted at most: one that has ended takes its own no longer."""
_steps: dict[str, str] = {}  # by session, where a person went and it has not been there yet


def note_step(session_id: str, query: str) -> None:
    """A person went to the address with this query, in this session's browser."""
    _steps[session_id] = parse_qs(query).get("s", [""])[0]
    if len(_steps) > MOST:
        _steps.pop(next(iter([*_steps])), None)


def take_step(session_id: str) -> str | None:
    """The address that a person went to since this was asked last."""
    return _steps.pop(session_id, None)


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
