"""The order of runs, uploads and addresses: a browser, a session, and messages between them that take their time."""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import NamedTuple

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from pages.runtime import addresses
from pages.runtime.addresses import Addresses, is_left_behind, note, take_step


class Asked(NamedTuple):
    """What a browser asks for: a run, with the address that it shows, for an edit or since a person stepped there."""

    shown: str
    edit: str = ""
    step: bool = False


class Tab:
    """A browser's tab: its history, and the session behind it with what is under way between the two.

    `asked` is on its way to the server, which has `begun` at most one run; `edits` are those of runs that were broken
    off before they began, which Streamlit gives to the next. `sent` is on its way to the browser.
    """

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self.history, self.place = [address], 0
        self.addresses, self.state, self.upload = Addresses(), "", ""
        self.asked: deque[Asked] = deque([Asked(address)])
        self.begun: Asked | None = None
        self.edits: list[tuple[int, str]] = []  # each with the message that it came in
        self.received = self.step_at = 0
        self.stepped = self.settles = False
        self.sent: deque[str] = deque()

    @property
    def shown(self) -> str:
        return self.history[self.place]

    def ask(self, edit: str = "", *, step: bool = False) -> None:
        self.asked.append(Asked(self.shown, edit, step))
        self.stepped = step

    def receive(self) -> None:
        """The next message arrives; a run that has not begun is broken off for it."""
        asked = self.asked.popleft()
        note(self.name, {}, {asked.edit: b""} if asked.edit else {}, f"s={asked.shown}" if asked.step else None)
        self.received += 1
        self.edits += [(self.received, asked.edit)] if asked.edit else []
        self.step_at = self.received if asked.step else self.step_at
        self.settles = self.settles and self.begun is None
        self.begun = asked

    def run(self, *, broken_off: bool = False) -> None:
        """The session's next run, as `state.py` has it: callbacks, the address, what a job came to, the address."""
        assert self.begun is not None
        shown, before, first = self.begun.shown, self.state, self.addresses.due is None
        edits, wished = self.edits, addresses._asked[self.name].to
        self.begun, self.edits = None, []
        for _number, edit in edits:  # as `state.change` does
            self._step()
            if not is_left_behind(self.name, edit):
                self.state = edit
        if (address := self.addresses.arrives(shown)) is not None:
            assert first
            self.state = address
        self._step()
        if not first:
            after = [edit for number, edit in edits if wished is None or number > self.step_at]
            last = after[-1] if after else before if wished is None else wished
            assert self.state == last, "undone by an address, or by an edit of before"
        if self.upload:  # the file is read
            self.state, self.upload = self.upload, ""
        self.settles = not broken_off
        if not broken_off and self.addresses.unwritten(self.state, shown):
            self.sent.append(self.state)
            self.addresses.wrote(self.state)

    def _step(self) -> None:
        if (address := take_step(self.name)) is not None:
            self.addresses.goes(address)
            self.state = address

    def take(self) -> None:
        """The browser takes the next address that was sent: in place of the one that a person stepped to."""
        address = self.sent.popleft()
        if address != self.shown:
            self.place += not self.stepped
            self.history[self.place :] = [address]

    def settle(self) -> None:
        """All comes through; a run that was broken off is followed by another."""
        while self.asked or self.begun or self.sent or not self.settles:
            if self.sent:
                self.take()
            elif self.begun:
                self.run()
            elif self.asked:
                self.receive()
            else:
                self.ask()


class Sessions(RuleBasedStateMachine):
    """Any interleaving of edits, uploads, reruns, Back and Forward, lost connections, and a second tab."""

    def __init__(self) -> None:
        super().__init__()
        addresses._asked.clear()
        self.new = map("a{}".format, count(1))
        self.tabs = [Tab("one", "a0")]
        self.tab = self.tabs[0]

    @rule()
    def edit(self) -> None:
        self.tab.ask(next(self.new))

    @rule()
    def edit_back(self) -> None:
        """An edit that takes back those which the browser has not heard of."""
        self.tab.ask(self.tab.shown)

    @rule()
    def rerun(self) -> None:
        self.tab.ask()

    @rule()
    def upload(self) -> None:
        """A file is read during a run that was asked for at the address of then."""
        self.tab.upload = next(self.new)
        self.tab.ask()

    @precondition(lambda self: self.tab.place > 0)
    @rule()
    def back(self) -> None:
        self.tab.place -= 1
        self.tab.ask(step=True)

    @precondition(lambda self: self.tab.place > 0)
    @rule()
    def edit_and_go_back(self) -> None:
        """Back before the edit's run has begun."""
        self.edit()
        self.back()
        while self.tab.asked:
            self.tab.receive()

    @precondition(lambda self: self.tab.place < len(self.tab.history) - 1)
    @rule()
    def forward(self) -> None:
        self.tab.place += 1
        self.tab.ask(step=True)

    @rule()
    def lose_the_connection(self) -> None:
        self.tab.sent.clear()
        self.tab.ask()

    @precondition(lambda self: self.tab.asked)
    @rule()
    def receive(self) -> None:
        self.tab.receive()

    @precondition(lambda self: self.tab.begun)
    @rule()
    def run(self) -> None:
        self.tab.run()

    @precondition(lambda self: self.tab.begun)
    @rule()
    def break_off(self) -> None:
        self.tab.run(broken_off=True)

    @precondition(lambda self: self.tab.sent)
    @rule()
    def take(self) -> None:
        self.tab.take()

    @rule()
    def other_tab(self) -> None:
        """The address in a second tab, whose session is another one; and back to the first."""
        if len(self.tabs) < 2:
            self.tabs.append(Tab("two", self.tab.shown))
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


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_a_run_that_was_asked_for_before_the_upload_was_ready_is_not_back() -> None:
    tab = Tab("upload", "melons")
    tab.settle()
    tab.upload = "file"
    tab.asked += [Asked("melons"), Asked("melons"), Asked("melons")]  # a click, and looks at how far it is
    tab.receive()
    tab.run()
    tab.sent.clear()  # the browser lost the connection meanwhile
    tab.settle()
    assert tab.state == tab.shown == "file"
    tab.place -= 1
    tab.ask(step=True)
    tab.settle()
    assert tab.state == tab.shown == "melons"


def test_back_whose_run_is_broken_off_by_a_click_is_heeded_and_an_edit_after_it_stands() -> None:
    tab = Tab("quick", "a")
    tab.settle()
    for edit in ("b", "c"):
        tab.ask(edit)
        tab.settle()
    tab.place -= 1
    tab.ask(step=True)
    tab.ask()
    tab.receive()
    tab.receive()  # the first run has not begun
    tab.settle()
    assert tab.state == tab.shown == "b"
    tab.place -= 1
    tab.ask(step=True)
    tab.ask("d")
    tab.receive()
    tab.receive()
    tab.settle()
    assert tab.state == tab.shown == "d"


def test_an_edit_whose_run_was_broken_off_for_back_is_left_behind() -> None:
    tab = Tab("left", "a")
    tab.settle()
    tab.ask("b")
    tab.settle()
    tab.ask("c")
    tab.place -= 1
    tab.ask(step=True)
    tab.receive()
    tab.receive()  # the edit's run has not begun
    tab.settle()
    assert tab.state == tab.shown == "a"
    tab.ask("d")
    tab.place += 1
    tab.ask(step=True)
    tab.ask("e")
    for _ in range(3):
        tab.receive()
    tab.settle()
    assert tab.state == tab.shown == "e"


def test_a_widget_is_left_behind_where_its_last_change_came_before_the_step() -> None:
    addresses._asked.clear()
    note("one", {"slider": b"1", "other": b"1"}, {})
    note("one", {"slider": b"2", "other": b"1"}, {"button": b""})
    assert not any(is_left_behind("one", widget) for widget in ("slider", "other", "button", ""))
    note("one", {"slider": b"2", "other": b"1"}, {}, "s=x")
    assert all(is_left_behind("one", widget) for widget in ("slider", "other", "button"))
    assert not is_left_behind("one", "") and not is_left_behind("two", "slider")
    note("one", {"slider": b"2", "other": b"2"}, {"button": b""})
    assert [is_left_behind("one", widget) for widget in ("slider", "other", "button")] == [True, False, False]
    assert take_step("one") == "x" and take_step("one") is None
    assert is_left_behind("one", "slider")  # also after the session has been there
    for number in range(addresses.WIDGETS + 5):
        note("one", {"slider": b"2"}, {f"button {number}": b""})
    assert len(addresses._asked["one"].changed) <= addresses.WIDGETS and is_left_behind("one", "slider")


def test_sessions_that_are_gone_are_few() -> None:
    for number in range(addresses.MOST + 5):
        note(f"gone {number}", {}, {}, "s=x")
    assert len(addresses._asked) == addresses.MOST
    assert take_step(f"gone {addresses.MOST}") == "x" and take_step("gone 1") is None
    addresses._asked.clear()
