"""The order of runs, uploads and addresses: a browser, a session, and messages between them that take their time."""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import NamedTuple

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pages.runtime.addresses import Addresses


class Asked(NamedTuple):
    """What a browser asks for: a run at this address, of an edit; `went` where a person went there; or what it has
    heard."""

    address: str
    edit: str = ""
    went: bool = False
    heard: int = 0


class Tab:
    """A browser's tab: its history, and the session behind it with what is under way between the two."""

    def __init__(self, address: str) -> None:
        self.history, self.place = [address], 0
        self.addresses, self.state, self.upload = Addresses(), "", ""
        self.asked: deque[Asked] = deque([Asked(address, went=True)])
        self.sent: deque[tuple[str, int]] = deque()

    @property
    def shown(self) -> str:
        return self.history[self.place]

    def serve(self) -> None:
        """The session's next run, or what it hears."""
        asked, before = self.asked.popleft(), self.state
        if asked.heard:
            self.addresses.heard(asked.heard)
            return
        self.state = asked.edit or self.state  # callbacks come first
        went = self.addresses.arrives(asked.address, edited=bool(asked.edit))
        if went:
            self.state = asked.address
        assert asked.went or asked.edit or self.state == before, "a late run undid what the session did"
        assert not asked.edit or self.state == asked.edit
        if self.upload:  # the file is read
            self.state, self.upload = self.upload, ""
        number = self.addresses.unheard(self.state)
        if self.addresses.writes(self.state, asked.address):
            self.sent.append((self.state, number))
        assert self.addresses.due == self.state

    def take(self) -> None:
        """The browser takes the next address that was sent, and says so."""
        address, number = self.sent.popleft()
        if address != self.shown:
            self.history[self.place + 1 :] = [address]
            self.place += 1
        if number:
            self.asked.append(Asked(self.shown, heard=number))

    def settle(self) -> None:
        while self.asked or self.sent:
            self.serve() if self.asked else self.take()


class Sessions(RuleBasedStateMachine):
    """Any interleaving of edits, uploads, reruns, Back and Forward, links, lost connections, and a second tab."""

    def __init__(self) -> None:
        super().__init__()
        self.new = map("a{}".format, count(1))
        self.tabs = [Tab("a0")]
        self.tab = self.tabs[0]

    @rule()
    def edit(self) -> None:
        self.tab.asked.append(Asked(self.tab.shown, edit=next(self.new)))

    @rule()
    def edit_back(self) -> None:
        """An edit that takes back the one before."""
        self.tab.asked.append(Asked(self.tab.shown, edit=self.tab.shown))

    @rule()
    def rerun(self) -> None:
        self.tab.asked.append(Asked(self.tab.shown))

    @rule()
    def upload(self) -> None:
        """A file was read during a run that was asked for at the address of then."""
        self.tab.upload = next(self.new)
        self.tab.asked.append(Asked(self.tab.shown))

    @precondition(lambda self: self.tab.place > 0)
    @rule()
    def back(self) -> None:
        self.tab.place -= 1
        self.tab.asked.append(Asked(self.tab.shown, went=True))

    @precondition(lambda self: self.tab.place < len(self.tab.history) - 1)
    @rule()
    def forward(self) -> None:
        self.tab.place += 1
        self.tab.asked.append(Asked(self.tab.shown, went=True))

    @rule()
    def link(self) -> None:
        tab = self.tab
        tab.history[tab.place + 1 :] = [next(self.new)]
        tab.place += 1
        tab.asked.append(Asked(tab.shown, went=True))

    @rule()
    def lose_the_connection(self) -> None:
        self.tab.sent.clear()
        self.tab.asked.append(Asked(self.tab.shown))

    @precondition(lambda self: self.tab.asked)
    @rule()
    def serve(self) -> None:
        self.tab.serve()

    @precondition(lambda self: self.tab.sent)
    @rule()
    def take(self) -> None:
        self.tab.take()

    @rule()
    def other_tab(self) -> None:
        """The address in a second tab, whose session is another one; and back to the first."""
        if len(self.tabs) < 2:
            self.tabs.append(Tab(self.tab.shown))
        self.tab = self.tabs[self.tab is self.tabs[0]]

    @rule()
    def wait_and_go_back(self) -> None:
        """Once all has come through, what is shown is what the session has; and Back is Back."""
        tab = self.tab
        tab.settle()
        assert tab.shown == tab.state
        if tab.place:
            self.back()
            wanted = tab.shown
            tab.settle()
            assert tab.shown == tab.state == wanted

    @invariant()
    def few_are_remembered(self) -> None:
        assert all(len(tab.addresses.late) <= 200 for tab in self.tabs)


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_a_run_that_was_asked_for_before_the_upload_was_ready_is_not_back() -> None:
    tab = Tab("melons")
    tab.settle()
    tab.upload = "upload"
    tab.asked += [Asked("melons"), Asked("melons"), Asked("melons")]  # a click, and looks at how far it is
    tab.serve()
    tab.sent.clear()  # the browser lost the connection meanwhile
    tab.serve()
    tab.settle()
    assert tab.state == tab.shown == "upload"
    tab.place -= 1
    tab.asked.append(Asked(tab.shown, went=True))
    tab.settle()
    assert tab.state == tab.shown == "melons"
