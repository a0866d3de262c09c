"""The app's state: one frozen value. The session holds it; the URL is its other encoding; widgets are views of it.

A token in the URL (`?s=1.…`) is compressed JSON of what differs from the start: ids, numbers and level codes, never a
cell of an uploaded table. The empty token is the start itself, so that Back from the first edit leads somewhere.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NoReturn, TypeVar

import streamlit as st

from bayes_engine.language import LANGUAGES, preferred, set_language
from bayes_engine.workbench.link_token import packed, unpacked
from pages.runtime import private
from pages.runtime import view_keys as keys
from pages.runtime.addresses import Addresses, is_left_behind, take_step
from pages.runtime.state_checks import column_entry, losses_and_prior, repair_entry
from pages.runtime.view_keys import Setting, ViewKey, is_pair, is_text

T = TypeVar("T")
LONGEST = 1500
"""A longer token does not go into a link."""
TYPED = 500
"""So many characters of a typed text go into a link; a longer one stays here."""
NAMED = 40
"""So many characters the name of a model may have."""
REPAIRS = 200
"""How many repairs of cells and rows a state holds at most."""


@dataclass(frozen=True)
class Spec:
    """A model on the shelf: its family, for naive Bayes an estimation preset, and the parameters that differ from it.

    A parameter that is a column is its position among the features, −1 meaning that the model chooses. `name` is what a
    person calls it; two that differ in it alone are one model, and fitted once.
    """

    preset: str = "textbook"
    parameters: tuple[tuple[str, Any], ...] = ()
    family: str = "naive-bayes"
    name: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class State:
    """All that a link reopens. Positions and codes refer to the table's columns and levels in their own order."""

    language: str = ""  # "" = the browser's
    table: str = "watermelon3a"  # an embedded data set, or "upload:<digest>"
    columns: tuple[tuple[Any, ...], ...] = ()  # (position, role, kind, levels) that differ from what was inferred
    repairs: tuple[tuple[Any, ...], ...] = ()  # (what, position or -1 for the table, value), as they were done; perhaps
    # what goes back with them, which was said of the column, or reset as the classes changed
    shelf: tuple[Spec, ...] = ()  # () = one model, the table's own preset
    active: int = 0
    case: tuple[Any, ...] = ()  # a cell a feature: level position, number, typed text, for a text that stands in the
    # table its row's position, or None for missing; () = the first
    row: int = -1  # the row the case was taken from, -1 = typed
    prior: tuple[float, ...] = ()  # prior of use, in the order of the classes; () = the model's
    losses: tuple[tuple[float, ...], ...] = ()  # rows: decisions; () = 0-1
    extra: str = ""  # the name of a further action, the last row of the losses ("" = none)
    fixed: tuple[tuple[int, int], ...] = ()  # (decision, truth) cells that a row's amount does not multiply; () = none
    amount: float = -1.0  # the case's amount; -1 = its row's, or for a typed case the median
    labels: str = ""  # "file" shows labels as they are in the file, "" in the interface's language where there are any
    view: tuple[tuple[str, Any], ...] = ()  # what a page shows: axes, switches

    def seen(self, key: ViewKey[T]) -> T:
        """A page's own setting; what its key refuses (a forged link) counts as not set."""
        return key.of(dict(self.view))

    def seen_among(self, key: ViewKey[T], options: Collection[T], otherwise: T | None = None) -> T:
        """A page's own setting, where it is one of those that the table allows; else `otherwise`, the key's default
        or the first option."""
        for value in (self.seen(key), otherwise, key.default):
            if value is not None and value in options:
                return value
        return next(iter(options))

    def showing(self, *settings: Setting) -> State:
        """With a page's settings changed: `state.showing(keys.COLUMN.to(3))`."""
        return replace(self, view=tuple(sorted({**dict(self.view), **dict(settings)}.items())))

    def settings(self, *of: ViewKey[Any]) -> tuple[Setting, ...]:
        """Those of these settings that are set."""
        names = {key.name for key in of}
        return tuple(setting for setting in self.view if setting[0] in names)

    def on_table(self, table: str) -> State:
        """Another table: all that spoke of the old one is gone; language and the lesson that runs stay. Planes open on
        the columns that tell its classes apart best."""
        lesson = self.settings(keys.LESSON, keys.OWN_LIST, keys.OWN_STEP, keys.PRESENTING)
        fresh = State(language=self.language, table=table, view=lesson)
        return fresh.showing(keys.AXES_AT_FIRST.to("discriminating"))


START = State()


def made_from(state: State) -> tuple[Any, ...]:
    """What all that is computed is made from: the table as it was mended, and the models."""
    return state.table, state.columns, state.repairs, state.shelf


def encode(state: State) -> str:
    changed = changed_fields(state)
    if not changed:
        return ""
    return packed(json.dumps(changed, ensure_ascii=False, separators=(",", ":")))


def changed_fields(state: State) -> dict[str, Any]:
    """What of a state differs from the start, as JSON can write it."""
    changed = {
        f.name: getattr(state, f.name) for f in fields(State) if getattr(state, f.name) != getattr(START, f.name)
    }
    if "shelf" in changed:
        changed["shelf"] = [
            [
                spec.preset,
                spec.parameters,
                *([spec.family] if spec.name or spec.family != Spec.family else []),
                *([spec.name] if spec.name else []),
            ]
            for spec in state.shelf
        ]
    return changed


def decode(token: str) -> State | None:
    """The state of a token; None where it is not one of ours (another version, cut off, forged)."""
    if not token:
        return START
    try:
        return state_from_json(unpacked(token))
    except ValueError:
        return None


def state_from_json(text: str | bytes) -> State | None:
    """The state of JSON text that `changed_fields` made; None where it is none."""
    try:
        values = json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=_finite)
        values["shelf"] = [
            Spec(
                str(p),
                tuple((str(k), _tuples(v)) for k, v in parameters),
                *map(str, rest[:1]),
                *(str(name)[:NAMED] for name in rest[1:2]),
            )
            for p, parameters, *rest in values.get("shelf", [])
        ]
        state = State(**{k: _tuples(v) for k, v in values.items()})
        encode(state)  # what cannot be written again (half a surrogate pair) is none of ours
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    alike = all(type(getattr(state, f.name)) is type(getattr(START, f.name)) for f in fields(State))
    return state if alike and _well_formed(state) else None


def _whole(text: str) -> int:
    """A whole number that a float holds exactly; none of ours is larger."""
    if len(text) > 17 or abs(int(text)) > 2**53:
        raise ValueError
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def state_from_values(values: Mapping[str, Any]) -> State | None:
    """The state whose fields differ from the start by these values, as a lesson writes them: lists, tables and numbers,
    NaN for a missing cell; None where they are none."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(k): plain(v) for k, v in sorted(value.items())}
        if isinstance(value, list | tuple):
            return [plain(v) for v in value]
        return None if isinstance(value, float) and math.isnan(value) else value

    try:
        return state_from_json(json.dumps(plain(dict(values))))
    except (TypeError, ValueError, RecursionError):
        return None


_RENAMED = {"kernel-weka": "kernel-range"}
"""Words of older addresses and files, with what they are called now."""


def _tuples(value: Any) -> Any:
    """Lists as tuples; a JSON object, of which a state has none, as its pairs, which can be hashed."""
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list | tuple):
        return tuple(_tuples(v) for v in value)
    return _RENAMED.get(value, value) if isinstance(value, str) else value


def _well_formed(state: State) -> bool:
    number = (int, float)
    return (
        (state.language in LANGUAGES or not state.language)
        and losses_and_prior(state.losses, state.fixed, state.prior)
        and (state.amount == START.amount or 0 <= state.amount <= 1e15)
        and all(v is None or isinstance(v, number) or (isinstance(v, str) and len(v) <= TYPED) for v in state.case)
        and all(column_entry(c) for c in state.columns)
        and len({c[0] for c in state.columns}) == len(state.columns)
        and len(state.repairs) <= REPAIRS
        and all(repair_entry(r) for r in state.repairs)
        and all(is_pair(pair, is_text) for pair in state.view)
        and len(state.shelf) <= 6
        and 0 <= state.active < max(len(state.shelf), 1)
    )


# the session ----------------------------------------------------------------------------------------------------


def current() -> State:
    state: State = private.kept_value("state") or st.session_state.setdefault("state", START)
    return state


def change(edit: Callable[[State], State]) -> None:
    """Replace the session's state by `edit(state)`; for widget callbacks. An edit that a person left behind by going
    Back or Forward is none."""
    _follow_step()  # it came before the edit
    if not is_left_behind(private.session_id(), private.caller()):
        st.session_state["state"] = edit(current())
    use_session_language()


def on_click(edit: Callable[..., State]) -> dict[str, Any]:
    """Keyword arguments of a button that edits the state: `st.button(_("Undo"), **on_click(lambda s: …))`."""
    return {"on_click": change, "args": (edit,)}


def goes_to(page: str, edit: Callable[..., State]) -> dict[str, Any]:
    """Keyword arguments of a button that edits the state and turns to a page, by its name."""

    def go() -> None:
        change(edit)
        st.session_state["page_wanted"] = page

    return {"on_click": go}


def use_session_language() -> None:
    """Set the language of this run from the session: callbacks and fragments start from the context's default."""
    set_language(current().language or preferred(st.context.locale))


def read_url(page: str) -> None:
    """Start of a run: take over the URL's state where a session begins, or a person went Back or Forward."""
    session = st.session_state
    turned = session.get("page") != page
    session["page"], session["visit"] = page, session.get("visit", 0) + turned
    if (first := _addresses().arrives(st.query_params.get("s", ""))) is not None:
        _take_over(first)
    _follow_step()
    use_session_language()


def _addresses() -> Addresses:
    addresses: Addresses = st.session_state.setdefault("addresses", Addresses())
    return addresses


def _follow_step() -> None:
    """Go where a person went by Back or Forward, unless the session is there."""
    if (address := take_step(private.session_id())) is not None:
        _addresses().goes(address)
        _take_over(address)


def _take_over(token: str) -> None:
    session, state = st.session_state, decode(token)
    session["broken_link"] = state is None
    session["state"] = state or session.get("state", START)
    session.setdefault("opened", session["state"])  # as the session found it: no work of its own


def stands_for(state: State) -> None:
    """The session goes into this state, for which the address stands that it came with: none is written for it."""
    session = st.session_state
    if session.get("opened") is current():
        session["opened"] = state
    session["state"] = state
    session["link_made"] = (state, session.get("from_files"), _addresses().due or "")


def write_url() -> None:
    """End of a run: the one place that writes the URL."""
    addresses, token = _addresses(), link_token()
    if addresses.unwritten(token, st.query_params.get("s", "")):
        st.query_params.from_dict({"s": token} if token else {})  # in a run that is broken off this raises
        addresses.wrote(token)


def link_token() -> str:
    """The token of the present state, as links carry it; without the losses where it would grow too long. It is made
    once for a state, however many links a page has."""
    state, secret = current(), private.kept_value("from_files")
    made: tuple[State, frozenset[str] | None, str] | None = private.kept_value("link_made")
    if made is None or made[0] is not state or made[1] is not secret:
        made = st.session_state["link_made"] = (state, secret, _link_token(state, secret or frozenset()))
    return made[2]


def shareable(state: State) -> State:
    """A state as others may have it: without texts of a case that may be cells of a file."""
    return _without_secrets(state, st.session_state.get("from_files") or frozenset())


def _without_secrets(state: State, secret: frozenset[str]) -> State:
    texts = [v for v in state.case if isinstance(v, str) and v]
    if texts and (state.table.startswith("upload:") or not secret.isdisjoint(texts)):
        return replace(state, case=(), row=-1)
    return state


def _link_token(state: State, secret: frozenset[str]) -> str:
    state = _without_secrets(state, secret)
    token = encode(state)
    too_long = len(token) > LONGEST or any(isinstance(v, str) and len(v) > TYPED for v in state.case)
    st.session_state["too_long"] = too_long
    if too_long:
        view = state.settings(keys.AXES_AT_FIRST)
        bare = replace(state, losses=(), extra="", fixed=(), view=view, case=(), columns=(), repairs=())
        token = encode(bare)
    return token


def keep_out_of_links(texts: Iterable[str]) -> None:
    """Texts of a file that is being classified: none of them goes into an address while it is as it was."""
    session = st.session_state
    session["from_files"] = session.get("from_files", frozenset()) | frozenset(texts)


def dark() -> bool:
    """Whether this person's theme is dark: figures take the colours for it."""
    return bool(st.context.theme.type == "dark")


class PageEnded(Exception):
    """No error: raised by `end_page`, it ends a page but not the run; the router catches it."""


def end_page() -> NoReturn:
    """End the page here. After `st.stop()` no call reaches the browser any more, so the URL would not be written."""
    raise PageEnded


def query_params() -> dict[str, str]:
    token = link_token()
    return {"s": token} if token else {}


def page_link(file: str, label: str, icon: str | None = None) -> None:
    st.page_link(file, label=label, icon=icon, query_params=query_params())
