"""Which address is due in a session's browser, and whether the one that a run comes with is a person's wish, or late.

A run carries the address that the browser had when it asked for the run. A person who follows a link, or goes Back or
Forward, comes with another address than the one that is due; so does whatever the browser asked for before it heard of
the address that the session wrote last: a click, a look at a job, a connection that was lost during a long upload. The
browser therefore says when it shows an address that was written (`heard`). Until then the addresses that it may still
show are `late`, and none of them undoes what the session did since.
"""

from __future__ import annotations

from dataclasses import dataclass, field

REMEMBERED = 200
"""How many late addresses a session remembers at most."""


@dataclass
class Addresses:
    """The addresses of one session: `due` is the one its browser should show, None before the first run; `serial` its
    number, by which the browser says that it shows it; `late` those that it may show still."""

    due: str | None = None
    serial: int = 0
    late: list[str] = field(default_factory=list)

    def unheard(self, address: str) -> int:
        """The number that the browser is asked to say of this address, which the run is about to write; 0 where it has
        said so."""
        return self.serial + 1 if address != self.due else self.serial if self.late else 0

    def arrives(self, address: str, *, edited: bool = False) -> bool:
        """A run begins with this address; whether a person went there. Where the session was `edited` for this very
        run, the address is the one before the edit."""
        if self.due is None:
            self.due = address
            return True
        if edited or address == self.due or address in self.late:
            return False
        if self.late:  # the one that was due may be on its way to the browser: what is due now is sent after it
            self._turn(address)
        else:
            self.due = address
        return True

    def writes(self, address: str, shown: str) -> bool:
        """A run that came with the address `shown` ends, and this one is due; whether to send it to the browser."""
        changed = address != self.due
        if changed:
            self._turn(address)
        return changed or address != shown or bool(self.late)

    def heard(self, number: int) -> None:
        """The browser says that it shows the address of this number."""
        if number == self.serial:
            self.late.clear()

    def _turn(self, address: str) -> None:
        self.late = [*self.late, str(self.due)][-REMEMBERED:]
        self.due = address
        self.serial += 1
