"""All that leans on what Streamlit does not promise, in one place: tried on Streamlit 1.67.

Where one of these doors is gone, `tests/unit/test_private.py` says which. What the launcher leans on in the same way is
in `bayes_engine.workbench.private`.
"""

from __future__ import annotations

import copy
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from hashlib import blake2b
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import streamlit as st
from streamlit import Page
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime, forward_msg_cache
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.session_manager import SessionClient
from streamlit.runtime.state import SafeSessionState
from streamlit.runtime.state.common import WidgetMetadata, is_element_id
from streamlit.runtime.state.session_state import WStates

Elements = dict[str, Element]
"""What the browser is sent of elements, by their kinds."""
TRIED = "1.67"
"""The version of Streamlit that all of this was tried on."""

TOGETHER = 0.005
"""Seconds that what is drawn waits for what is drawn next, as long as Streamlit itself waits between two sendings."""
SENT_AT_ONCE = 64
"""As many messages are put into a browser's queue, of 500 places, before it is asked to take them."""

HOOKS = (
    "InputInstructions", "stAlert", "stApp", "stBaseButton-secondary", "stBaseButton-tertiary", "stButton",
    "stButtonGroup", "stCaptionContainer", "stCheckbox", "stColumn", "stConnectionStatus", "stDataFrame",
    "stDialog",
    "stDownloadButton", "stElementContainer", "stExpandSidebarButton", "stExpander", "stFileUploader",
    "stFileUploaderDropzone", "stFileUploaderDropzoneInstructions", "stFullScreenFrame", "stHeader",
    "stHorizontalBlock", "stIconMaterial", "stLayoutWrapper", "stMainBlockContainer", "stMainMenuItem-print",
    "stMainMenuItem-recordScreencast", "stMainMenuItem-theme-Dark", "stMainMenuItem-theme-Light",
    "stMainMenuItem-theme-System", "stMainMenuItemLabel", "stMainMenuPopover", "stMarkdownBadge",
    "stMarkdownContainer", "stMetricDelta", "stMetricValue", "stMultiSelect", "stNumberInput", "stNumberInputContainer",
    "stNumberInputStepDown", "stNumberInputStepUp", "stPageLink", "stPlotlyChart", "stPopover", "stPopoverBody",
    "stRadio", "stSelectbox", "stSidebar", "stSidebarCollapseButton", "stSidebarHeader", "stSkipToContent",
    "stSlider", "stStatusWidget", "stTextInput", "stToolbar", "stVerticalBlock",
)  # fmt: skip
"""The names by which Streamlit's own tests know its elements; `style` takes no other."""
_HOOK = re.compile(r"\[st=([\w-]+)\]")


def selectors(text: str) -> str:
    """`[st=Sidebar]` in a style sheet as the selector of the element that Streamlit calls so.

    >>> selectors("[st=Sidebar] h1 { margin: 0 }")
    '[data-testid="stSidebar"] h1 { margin: 0 }'
    """
    return _HOOK.sub(_selector, text)


def _selector(hook: re.Match[str]) -> str:
    name = next(name for name in (hook[1], f"st{hook[1]}") if name in HOOKS)
    return f'[data-testid="{name}"]'


def style(sheet: str) -> str:
    """A style sheet for `st.html`, its hooks resolved by `selectors`."""
    return f"<style>{' '.join(selectors(sheet).split())}</style>"


def connected(session_id: str) -> bool:
    """Whether a browser tab is connected to the session at this moment; callable from any thread. Where nobody can
    tell (no server, as in tests) it counts as connected."""
    runtime = running()
    return True if runtime is None else runtime.is_active_session(session_id)


def session_id() -> str:
    """The session whose script or callback runs in this thread; "" where there is none."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def visitor() -> str:
    """What tells this browser from others, also after a reload: the token that Streamlit gives it against forged
    uploads; of a visitor without one the session. "" outside of a run."""
    from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string

    cookie = st.context.cookies.get("_streamlit_xsrf", "")
    token, _when = decode_xsrf_token_string(cookie) if cookie else (None, None)
    return token.hex() if token else session_id()


def running() -> Runtime | None:
    """The server this process runs; None in tests and scripts."""
    try:
        runtime = Runtime.instance()
    except RuntimeError:  # not asked before: another thread may end it between
        return None
    return runtime if issubclass(type(runtime), Runtime) else None  # to isinstance a test's mock passes for one


_locks: WeakValueDictionary[int, Any] = WeakValueDictionary()  # of the sessions' states that are in use, by their id


def share_session_lock() -> None:
    """Let the threads that run a session's script use its state in turn.

    Streamlit gives every such thread a lock of its own, and for a moment there are two: the one that is told to stop,
    and the next. A click or a quick drag then ended in «dictionary changed size during iteration».
    """
    begin: Any = SafeSessionState.__init__
    if hasattr(begin, "__wrapped__"):
        return  # a visitor may have all caches cleared, and then the process is begun anew

    @wraps(begin)
    def begun(state: SafeSessionState, *args: Any, **kwargs: Any) -> None:
        begin(state, *args, **kwargs)
        _share_lock(state)

    SafeSessionState.__init__ = begun  # type: ignore[method-assign,assignment]
    if (context := get_script_run_ctx(suppress_warning=True)) is not None:
        _share_lock(context.session_state)


def _share_lock(state: SafeSessionState) -> None:
    """Its lock from now on is that of whoever was first at the same session's state."""
    object.__setattr__(state, "_lock", _locks.setdefault(id(state._state), state._lock))


class _Values(Mapping[str, Any]):
    """The values of a session's state by their keys, each looked up when it is asked for; `all_of` gathers them."""

    def __init__(self, state: Any, all_of: Callable[[Any], Mapping[str, Any]]) -> None:
        self._of, self._all_of = state, all_of

    def __getitem__(self, key: str) -> Any:
        if is_element_id(key):
            raise KeyError(key)
        with self._of._lock:
            return self._of._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all_of(self._of))

    def __len__(self) -> int:
        return len(self._all_of(self._of))


def look_values_up() -> None:
    """Let a widget look for its own value in the session's state. Streamlit gathers the values of all widgets for each
    one that is drawn: of a rerun of Case with 14 fields a fifth."""
    gather = vars(SafeSessionState)["filtered_state"].fget
    if hasattr(gather, "__wrapped__"):
        return  # a visitor may have all caches cleared, and then the process is begun anew

    @wraps(gather)
    def values(state: Any) -> _Values:
        return _Values(state, gather)

    SafeSessionState.filtered_state = property(values)  # type: ignore[method-assign,assignment]


_pages: dict[tuple[str, str, bool], Any] = {}


def page(file: str, *, default: bool = False) -> Any:
    """`st.Page` of a file of ours, a new one for each run. Where it is does Streamlit ask the system, a link at a time:
    of twelve pages 72 calls, which are made in the first run alone."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return Page(file, default=default)
    key = (context.pages_manager.main_script_path, file, default)
    if (known := _pages.get(key)) is None:
        known = _pages[key] = Page(file, default=default)
    return copy.copy(known)  # `st.navigation` marks the one that may be run


class _Together(tuple[ForwardMsg, ...]):
    """Messages that are sent without a look at anything else between them."""

    __slots__ = ()


def notify_loop_together() -> None:
    """Hand the event loop together what a script has drawn within `TOGETHER`, in the same order, and have it sent so
    too. Streamlit wakes the loop for each element, a system call for which the script lets go of the interpreter, wakes
    it once more to say that there is something to send, and goes through the whole loop between any two elements: of a
    rerun of Case with 290 elements a third."""
    notify, flush, send = AppSession._call_soon_on_event_loop, AppSession.flush_browser_queue, Runtime._send_message
    if hasattr(notify, "__wrapped__"):
        return  # as above: twice it would wait for itself
    lock = threading.RLock()  # what is freed meanwhile may call too

    @wraps(notify)
    def _call_soon_on_event_loop(self: Any, callback: Callable[[], None]) -> None:
        with lock:
            waiting: list[Callable[[], None]] = self.__dict__.setdefault("calls_waiting", [])
            waiting.append(callback)
            if len(waiting) > 1:
                return

        def call_all() -> None:
            fresh: list[Callable[[], None]] = []
            with lock:
                calls, self.calls_waiting = self.calls_waiting, fresh
            enqueued, self._message_enqueued_callback = self._message_enqueued_callback, None
            try:
                for call in calls:
                    try:
                        call()
                    except Exception as error:  # noqa: BLE001 - the loop says so, as of any other call
                        self._event_loop.call_exception_handler(
                            {"message": "Exception in callback", "exception": error}
                        )
            finally:
                self._message_enqueued_callback = enqueued
                if enqueued is not None:
                    enqueued()

        notify(self, lambda: self._event_loop.call_later(TOGETHER, call_all))

    @wraps(flush)
    def flush_browser_queue(self: Any) -> list[Any]:
        drawn = flush(self)
        return [_Together(drawn[i : i + SENT_AT_ONCE]) for i in range(0, len(drawn), SENT_AT_ONCE)]

    @wraps(send)
    def _send_message(self: Any, session_info: Any, msg: Any) -> None:
        for one in msg if isinstance(msg, _Together) else (msg,):
            send(self, session_info, one)
            _note_sent(session_info.client, one)

    AppSession._call_soon_on_event_loop = _call_soon_on_event_loop  # type: ignore[method-assign]
    AppSession.flush_browser_queue = flush_browser_queue  # type: ignore[method-assign]
    Runtime._send_message = _send_message  # type: ignore[method-assign]


def ask_options_once() -> None:
    """From how many bytes on a browser keeps a message is asked once. Streamlit asks its options for it at every
    message of every run, under a lock that all sessions share; the server's are read as it starts."""
    asking: Any = forward_msg_cache
    if not hasattr(asking.config.get_option, "cache_info"):
        asking.config = SimpleNamespace(get_option=cache(asking.config.get_option))


def kept_value(name: str) -> Any:
    """The value of the session's state under a name that is no widget's; None where there is none. `st.session_state`
    takes twenty times as long, which is felt where it is asked hundreds of times a run."""
    context = get_script_run_ctx(suppress_warning=True)
    state: Any = None if context is None else getattr(context.session_state, "_state", None)
    if state is None:
        return st.session_state.get(name)
    value = state._new_session_state.get(name)
    return state._old_state.get(name) if value is None else value


def kept_dict(name: str) -> dict[str, Any]:
    """The dictionary that the session's state has under a name, an empty one at first."""
    kept: dict[str, Any] | None = kept_value(name)
    return st.session_state.setdefault(name, {}) if kept is None else kept


def words_of(key: str, value: Any) -> Any:
    """How the browser holds this value of the widget that was drawn last under a key: an option by its words. The value
    itself where there is no such widget."""
    widget = _drawn(key)
    return value if widget is None else widget.serializer(value)


def is_offered(key: str, value: Any) -> bool:
    """Whether a value, or each of a list of them, is among the options of the widget that was drawn last under a key.
    True where it has none.

    None, nothing chosen, is an answer to a list that opens, but none of a row of buttons: there a browser says it while
    it puts one row in the place of another.
    """
    serde = getattr(getattr(_drawn(key), "deserializer", None), "__self__", None)
    options = getattr(serde, "options", None)
    if options is None or value in options:
        return True
    if value is None:
        return "ButtonGroup" not in type(serde).__name__
    return isinstance(value, list | tuple) and all(one in options for one in value)


def _drawn(key: str) -> WidgetMetadata[Any] | None:
    context = get_script_run_ctx()
    state = getattr(getattr(context, "session_state", None), "_state", None)
    if state is None or key not in state._key_id_mapper:
        return None
    widget: WidgetMetadata[Any] | None = state._new_widget_state.widget_metadata.get(
        state._key_id_mapper.get_id_from_key(key)
    )
    return widget


def at_each_message(runtime: Runtime, noted: Callable[[], None]) -> None:
    """Have `noted` called whenever a browser asks for a run of a script, before it begins."""
    answer = runtime.handle_backmsg

    @wraps(answer)
    def asked(*args: Any, **kwargs: Any) -> None:
        noted()
        answer(*args, **kwargs)

    runtime.handle_backmsg = asked  # type: ignore[method-assign]


def at_each_ask(
    runtime: Runtime, noted: Callable[[str, Mapping[str, bytes], Mapping[str, bytes], str | None], None]
) -> None:
    """Have `noted` called whenever a browser asks for a run: with the session, with digests of what the widgets say, by
    their ids, those of the buttons that were pressed apart, and with the query of the address if a person went Back or
    Forward."""
    answer = runtime.handle_backmsg

    @wraps(answer)
    def asked(session_id: str, msg: BackMsg, *, client: SessionClient | None = None) -> None:
        if msg.WhichOneof("type") == "rerun_script":
            run, values, pressed = msg.rerun_script, dict[str, bytes](), dict[str, bytes]()
            for widget in run.widget_states.widgets:
                kind = widget.WhichOneof("value") or ""
                own = pressed if kind.endswith("trigger_value") or kind == "chat_input_value" else values
                own[widget.id] = blake2b(widget.SerializeToString(deterministic=True), digest_size=8).digest()
            noted(session_id, values, pressed, run.query_string if run.is_history_navigation else None)
        answer(session_id, msg, client=client)

    runtime.handle_backmsg = asked  # type: ignore[method-assign]


_CALLER = ContextVar("caller", default="")


def name_callers() -> None:
    """Let a callback know of which widget it is: see `caller`. Streamlit calls it without a word of that."""
    call = WStates.call_callback

    @wraps(call)
    def call_callback(self: WStates, widget_id: str) -> None:
        token = _CALLER.set(widget_id)
        try:
            call(self, widget_id)
        finally:
            _CALLER.reset(token)

    WStates.call_callback = call_callback  # type: ignore[method-assign]


def caller() -> str:
    """The id of the widget whose callback this is; "" outside of one, and in tests."""
    return _CALLER.get()


def on_event_loop(runtime: Any) -> Callable[[Callable[[], None]], object]:
    """What hands a call to the server's event loop, from any thread. Raises AttributeError where it has none."""
    soon: Callable[[Callable[[], None]], object] = runtime._get_async_objs().eventloop.call_soon_threadsafe
    return soon


def expired_sessions(runtime: Any) -> Callable[[], list[Any]]:
    """What takes out the parked sessions whose time is over; to be called on the event loop. Raises AttributeError
    where sessions are parked otherwise."""
    expire = runtime._session_mgr._session_storage._cache.expire
    return lambda: [info.session for _id, info in expire()]


def has_left(runtime: Runtime, session_id: str) -> bool:
    """Whether the session is over: no browser is connected to it, and it is not kept for one that comes back."""
    return runtime._session_mgr.get_session_info(session_id) is None


def idle_session(runtime: Runtime, session_id: str) -> AppSession | None:
    """The session where a browser is connected to it and its script does not run; to be called on the event loop. Only
    then does it hold what the next run of its own accord begins from: the page and the address."""
    info = runtime._session_mgr.get_active_session_info(session_id)
    return None if info is None or info.session._scriptrunner is not None else info.session


_sent: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()  # to a browser's line, in the last run of the script


def _note_sent(client: Any, message: ForwardMsg) -> None:
    """What a browser keeps: the large messages of the last run, told by their digests."""
    kind = message.WhichOneof("type")
    if kind == "new_session":
        _sent[client] = set()
    elif kind == "ref_hash":
        _sent.setdefault(client, set()).add(message.ref_hash)
    elif message.metadata.cacheable and message.hash:
        _sent.setdefault(client, set()).add(message.hash)


def run_again(runtime: Runtime, session: AppSession) -> None:
    """Have the script of an idle session run, as Streamlit does where a source file has changed; on the event loop. A
    browser that asks itself says which messages it keeps; here it has not, and all would be sent anew. It keeps those
    of the last two runs as long as its line stands; on another line nothing is taken for kept."""
    again, info = ClientState(), runtime._session_mgr.get_active_session_info(session.id)
    again.CopyFrom(session._client_state)
    if info is not None:
        again.cached_message_hashes[:] = sorted(_sent.get(info.client, ()))
    session.request_rerun(again)


class Drawn:
    """Elements that a run of the script has drawn. They can be sent anew, in the same places, without another run."""

    def __init__(self) -> None:
        self.messages: list[ForwardMsg] = []

    def take(self, message: ForwardMsg) -> None:
        if message.WhichOneof("type") == "delta" and message.delta.WhichOneof("type") == "new_element":
            self.messages.append(message)

    def send_anew(self, session: AppSession, update: Callable[[Elements], None]) -> None:
        """Send an idle session those elements that `update` changes; on the event loop."""
        before, self.messages = self.messages, [ForwardMsg.FromString(m.SerializeToString()) for m in self.messages]
        elements = [message.delta.new_element for message in self.messages]
        update({str(element.WhichOneof("type")): element for element in elements})
        for old, new in zip(before, self.messages, strict=True):
            if old.delta != new.delta:
                new.ClearField("hash")  # it is of the content
                populate_hash_if_needed(new)
                session._enqueue_forward_msg(new)


@contextmanager
def recorded() -> Iterator[Drawn]:
    """What the script draws inside."""
    drawn = Drawn()
    if (context := get_script_run_ctx()) is None:
        yield drawn
        return
    enqueue = context._enqueue

    def record(message: ForwardMsg) -> None:
        drawn.take(message)
        enqueue(message)

    context._enqueue = record
    try:
        yield drawn
    finally:
        context._enqueue = enqueue
