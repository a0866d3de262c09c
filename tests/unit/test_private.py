"""The doors of Streamlit and uvicorn that nobody promises: an update that closes one is noticed here, not by a user."""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit
import uvicorn
from streamlit import delta_generator, env_util, runtime, string_util
from streamlit.commands import page_config
from streamlit.emojis import ALL_EMOJIS
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import Runtime, forward_msg_cache
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import ScriptRunContext
from streamlit.runtime.state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState, WStates
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server.starlette import starlette_server
from streamlit.web.server.starlette.starlette_server_config import WEBSOCKET_MAX_SEND_QUEUE_SIZE

from bayes_engine.workbench import private as launcher
from pages.runtime import private
from tests.conftest import PATIENCE

CLOSED = f"tried on Streamlit {private.TRIED}, this is {streamlit.__version__}"


def test_the_sweeper_s_doors_are_open() -> None:
    assert callable(Runtime._get_async_objs) and callable(Runtime.is_active_session) and callable(Runtime.exists), (
        CLOSED
    )
    storage: Any = MemorySessionStorage()
    assert callable(storage._cache.expire), CLOSED
    runtime = SimpleNamespace(_session_mgr=SimpleNamespace(_session_storage=storage))
    assert private.expired_sessions(runtime)() == []


def put_back_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in (
        (string_util, "extract_leading_emoji"),
        (delta_generator, "_use_warning_has_been_displayed"),
        (page_config, "_get_favicon_string"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name))


def test_no_emoji_is_missed_at_the_beginning_of_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not [one for one in ALL_EMOJIS if launcher.begins_with_letter(one)], CLOSED
    put_back_afterwards(monkeypatch)
    texts = ["中文", "English", "", "ℹ️ more", "🚀 los", "1️⃣ eins", ":material/home: 家", "μ"]
    before = [string_util.extract_leading_icon(text) for text in texts]
    launcher.spare_the_first_run()
    assert [string_util.extract_leading_icon(text) for text in texts] == before, CLOSED
    monkeypatch.setattr(env_util, "is_repl", lambda: pytest.fail("the stack is gone through"))
    delta_generator._maybe_print_use_warning()


def test_the_page_s_icon_is_sent_without_decoding_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (icon := tmp_path / "icon.png").write_bytes(b"not even a picture")
    added: list[Any] = []
    files = SimpleNamespace(add=lambda *asked: added.append(asked) or "/media/icon.png")
    put_back_afterwards(monkeypatch)
    launcher.spare_the_first_run()
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: SimpleNamespace(media_file_mgr=files))
    assert page_config._get_favicon_string(icon) == "/media/icon.png", CLOSED
    assert added == [(str(icon), "image/png", "favicon")]
    assert page_config._get_favicon_string(":material/home:") == ":material/home:", CLOSED
    assert list(inspect.signature(MediaFileManager.add).parameters)[:4] == [
        "self", "path_or_data", "mimetype", "coordinates"
    ], CLOSED  # fmt: skip


def test_a_label_of_letters_loads_no_emojis() -> None:
    code = (
        "import sys; from bayes_engine.workbench.private import spare_the_first_run; spare_the_first_run(); "
        "from streamlit.string_util import extract_leading_icon as f; "
        "f('中文'); print('streamlit.emojis' in sys.modules); f('🚀'); print('streamlit.emojis' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.split() == ["False", "True"], CLOSED


def test_two_threads_of_a_session_use_its_state_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a session whose first run began before, too; sessions do not wait for each other."""
    held, other = SessionState(), SafeSessionState(SessionState(), lambda: None)
    first = SafeSessionState(held, lambda: None)
    context = SimpleNamespace(session_state=first)
    monkeypatch.setattr(private, "get_script_run_ctx", lambda **_: context)
    monkeypatch.setattr(SafeSessionState, "__init__", SafeSessionState.__init__)  # put back afterwards
    private.share_session_lock()
    private.share_session_lock()  # as after all caches were cleared
    following, begun, written = SafeSessionState(held, lambda: None), threading.Event(), threading.Event()

    def write() -> None:
        other["later"] = 1
        begun.set()
        following["later"] = 1
        written.set()

    with first._lock:
        threading.Thread(target=write, daemon=True).start()
        assert begun.wait(PATIENCE) and not written.wait(0.1) and "later" not in held
    assert written.wait(PATIENCE) and first["later"] == 1


def test_a_widget_s_value_is_looked_up_and_not_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    held = SessionState()
    held["one"], held["none"] = 1, None
    held._set_key_widget_mapping("$$ID-7-box", "box")
    held._new_widget_state.set_from_value("$$ID-7-box", "chosen")
    held._new_widget_state.set_from_value("$$ID-8-None", "of no key")
    held._new_widget_state.set_widget_metadata(SimpleNamespace(id="$$ID-7-box"))  # type: ignore[arg-type]
    safe = SafeSessionState(held, lambda: None)
    gathered = dict(safe.filtered_state)
    assert gathered == {"one": 1, "none": None, "box": "chosen"}, CLOSED
    monkeypatch.setattr(SafeSessionState, "filtered_state", SafeSessionState.filtered_state)  # put back afterwards
    private.look_values_up()
    private.look_values_up()  # as after all caches were cleared
    assert dict(safe.filtered_state) == gathered and len(safe.filtered_state) == 3
    monkeypatch.setattr(SessionState, "filtered_state", property(lambda _: pytest.fail("all values are gathered")))
    values = safe.filtered_state
    assert values["box"] == "chosen" and values["none"] is None
    assert [key in values for key in ("one", "$$ID-7-box", "$$ID-8-None", "other")] == [True, False, False, False]


def test_the_state_is_found_where_the_session_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    held = SessionState()
    context = SimpleNamespace(session_state=SafeSessionState(held, lambda: None))
    monkeypatch.setattr(private, "get_script_run_ctx", lambda **_: context)
    assert private.kept_value("state") is None
    held["state"] = "new"
    assert private.kept_value("state") == "new", CLOSED
    held._compact_state()
    assert private.kept_value("state") == "new", CLOSED
    monkeypatch.setattr(private, "get_script_run_ctx", lambda **_: None)
    monkeypatch.setattr(private.st, "session_state", {"state": "outside a run"})
    assert private.kept_value("state") == "outside a run"


def test_a_page_is_looked_for_once_and_marked_for_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def page(file: str, *, default: bool) -> Any:
        made.append(SimpleNamespace(file=file, default=default, _can_be_called=False))
        return made[-1]

    context = SimpleNamespace(pages_manager=SimpleNamespace(main_script_path="somewhere else"))
    monkeypatch.setattr(private, "get_script_run_ctx", lambda **_: context)
    monkeypatch.setattr(private, "Page", page)
    monkeypatch.setattr(private, "_pages", {})
    first = private.page("pages/start.py", default=True)
    first._can_be_called = True
    again = private.page("pages/start.py", default=True)
    assert len(made) == 1 and again is not first and (again.default, again._can_be_called) == (True, False)
    context.pages_manager.main_script_path = "here"
    private.page("pages/start.py", default=True)
    assert len(made) == 2
    assert "main_script_path" in inspect.signature(PagesManager).parameters, CLOSED


class Loop:
    """An event loop that waits for nothing, and notes what it is told of errors."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.failed: list[Any] = []

    def call_later(self, seconds: float, call: Any) -> None:
        self.asked.append(seconds)
        call()

    def call_exception_handler(self, said: dict[str, Any]) -> None:
        self.failed.append(said["exception"])


class Line:
    """A browser's line to the server."""


def told_together(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], list[Any]]:
    """What the loop is woken for, and the messages that are sent."""
    woken: list[Any] = []
    sent: list[Any] = []
    monkeypatch.setattr(AppSession, "_call_soon_on_event_loop", lambda _session, call: woken.append(call))
    monkeypatch.setattr(AppSession, "flush_browser_queue", AppSession.flush_browser_queue)  # put back afterwards
    monkeypatch.setattr(Runtime, "_send_message", lambda _runtime, _info, message: sent.append(message))
    private.notify_loop_together()
    private.notify_loop_together()  # as after all caches were cleared
    return woken, sent


def test_the_event_loop_is_woken_once_for_what_was_drawn_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    source = inspect.getsource(AppSession._enqueue_forward_msg)
    assert "if self._message_enqueued_callback:" in source and "_browser_queue.enqueue" in source, CLOSED
    woken, _sent = told_together(monkeypatch)
    said: list[Any] = []
    loop = Loop()
    session: Any = SimpleNamespace(_event_loop=loop, _message_enqueued_callback=lambda: said.append("to be sent"))
    for n in range(2):
        AppSession._call_soon_on_event_loop(session, partial(said.append, n))
    AppSession._call_soon_on_event_loop(session, lambda: said.append(session._message_enqueued_callback))
    AppSession._call_soon_on_event_loop(session, lambda: 1 // 0)
    AppSession._call_soon_on_event_loop(session, partial(said.append, "after an error"))
    assert len(woken) == 1 and not said
    woken.pop()()
    assert said == [0, 1, None, "after an error", "to be sent"] and loop.asked == [private.TOGETHER]
    assert [type(error) for error in loop.failed] == [ZeroDivisionError]
    AppSession._call_soon_on_event_loop(session, partial(said.append, 3))
    woken.pop()()
    assert said[-2:] == [3, "to be sent"]


def test_how_large_a_message_is_kept_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    options = SimpleNamespace(get_option=lambda name: asked.append(name) or 100)
    monkeypatch.setattr(forward_msg_cache, "config", options)
    private.ask_options_once()
    private.ask_options_once()  # as after all caches were cleared
    large = []
    for text in ("short", "long " * 100, "long " * 50):
        message = ForwardMsg()
        message.delta.new_element.markdown.body = text
        forward_msg_cache.populate_hash_if_needed(message)
        large.append(message.metadata.cacheable)
    assert large == [False, True, True] and asked == ["global.minCachedMessageSize"], CLOSED


def test_what_is_drawn_together_is_sent_together(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = inspect.getsource(Runtime._loop_coroutine)
    assert "msg_list = active_session_info.session.flush_browser_queue()" in loop, CLOSED
    assert "self._send_message(active_session_info, msg)" in loop, CLOSED
    assert private.SENT_AT_ONCE < WEBSOCKET_MAX_SEND_QUEUE_SIZE / 4, CLOSED
    _woken, sent = told_together(monkeypatch)
    drawn = [ForwardMsg(hash=str(n)) for n in range(2 * private.SENT_AT_ONCE + 1)]
    session: Any = SimpleNamespace(_browser_queue=SimpleNamespace(flush=lambda: drawn), client=Line())
    runtime: Any = None
    parts = AppSession.flush_browser_queue(session)
    assert len(parts) == 3
    for part in parts:
        Runtime._send_message(runtime, session, part)
    assert [message.hash for message in sent] == [message.hash for message in drawn]
    Runtime._send_message(runtime, session, drawn[0])
    assert sent[-1] is drawn[0]


def test_whoever_asks_for_a_page_is_heard_before_it_begins() -> None:
    assert callable(Runtime.handle_backmsg), CLOSED
    order: list[Any] = []
    runtime: Any = SimpleNamespace(handle_backmsg=lambda *a, **k: order.append((a, k)))
    private.at_each_message(runtime, lambda: order.append("heard"))
    runtime.handle_backmsg("one", "message", client=None)
    assert order == ["heard", (("one", "message"), {"client": None})]


def test_a_step_back_or_forward_is_heard_before_it_begins() -> None:
    assert "is_history_navigation" in ClientState.DESCRIPTOR.fields_by_name, CLOSED
    assert list(inspect.signature(Runtime.handle_backmsg).parameters) == ["self", "session_id", "msg", "client"], CLOSED
    scripts = Path(streamlit.__file__).parent.glob("static/static/js/index.*.js")
    assert any("isHistoryNavigation" in script.read_text(encoding="utf-8") for script in scripts), CLOSED
    order: list[Any] = []
    runtime: Any = SimpleNamespace(handle_backmsg=lambda *a, **k: order.append((a, k)))
    private.at_each_ask(runtime, lambda *asked: order.append(asked))
    states = WidgetStates(
        widgets=[WidgetState(id="slider", double_value=1.0), WidgetState(id="go", trigger_value=True)]
    )
    click = BackMsg(rerun_script=ClientState(query_string="s=1.a", widget_states=states))
    back = BackMsg(rerun_script=ClientState(query_string="s=1.b", is_history_navigation=True))
    runtime.handle_backmsg("one", click, client=None)
    runtime.handle_backmsg("one", back, client=None)
    (session, said, pressed, step), *rest = order
    assert (session, [*said], [*pressed], step) == ("one", ["slider"], ["go"], None)
    assert rest == [(("one", click), {"client": None}), ("one", {}, {}, "s=1.b"), (("one", back), {"client": None})]


def test_a_callback_knows_of_which_widget_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(inspect.signature(WStates.call_callback).parameters) == ["self", "widget_id"], CLOSED
    assert "self._new_widget_state.call_callback" in inspect.getsource(SessionState._call_callbacks), CLOSED
    heard: list[str] = []
    monkeypatch.setattr(WStates, "call_callback", lambda _self, _widget: heard.append(private.caller()))
    private.name_callers()
    WStates().call_callback("one")
    assert heard == ["one"] and private.caller() == ""


def test_a_session_can_be_told_to_run_its_script_again() -> None:
    assert "msg.hash in self.cached_message_hashes" in inspect.getsource(ScriptRunContext.enqueue), CLOSED
    assert "cached_message_hashes=frozenset(client_state." in inspect.getsource(AppSession.request_rerun), CLOSED
    made, rerun = inspect.getsource(AppSession.__init__), inspect.getsource(AppSession._on_source_file_changed)
    assert "self._scriptrunner" in made and "self._client_state" in made, CLOSED
    assert "self.request_rerun(self._client_state)" in rerun, CLOSED  # Streamlit's own way to run again unasked
    manager = WebsocketSessionManager(MemorySessionStorage(), None, None, None)  # type: ignore[arg-type]
    runtime: Any = SimpleNamespace(_session_mgr=manager)
    asked: list[Any] = []
    page, line = ClientState(query_string="s=1.a"), Line()
    session: Any = SimpleNamespace(id="one", _scriptrunner=None, _client_state=page, request_rerun=asked.append)
    assert private.has_left(runtime, "one") and private.idle_session(runtime, "one") is None
    info = SimpleNamespace(session=session, client=line)
    manager._active_session_info_by_id["one"] = info  # type: ignore[assignment]
    assert not private.has_left(runtime, "one") and private.idle_session(runtime, "one") is session
    private.run_again(runtime, session)
    assert asked == [page]

    sent = [ForwardMsg(hash=name) for name in ("old", "large", "small")]
    for message in (sent[0], sent[1]):
        message.metadata.cacheable = True
    for message in (sent[0], ForwardMsg(new_session=NewSession()), *sent[1:], ForwardMsg(ref_hash="kept")):
        private._note_sent(line, message)
    private.run_again(runtime, session)
    assert asked[-1] == ClientState(query_string="s=1.a", cached_message_hashes=["kept", "large"])
    info.client = Line()  # another line: nobody knows what its browser keeps
    private.run_again(runtime, session)
    session._scriptrunner = "at work"
    assert asked[-1] == page and private.idle_session(runtime, "one") is None


def test_an_element_can_be_sent_anew_without_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"_enqueue", "session_id"} <= set(ScriptRunContext.__dataclass_fields__), CLOSED
    assert list(inspect.signature(AppSession._enqueue_forward_msg).parameters) == ["self", "msg"], CLOSED
    drawn: list[ForwardMsg] = []
    context: Any = SimpleNamespace(_enqueue=drawn.append)
    monkeypatch.setattr(private, "get_script_run_ctx", lambda: context)
    bar, block = ForwardMsg(hash="old"), ForwardMsg()
    bar.delta.new_element.progress.value, bar.metadata.delta_path[:] = 30, [0, 2]
    block.delta.add_block.allow_empty = True
    with private.recorded() as elements:
        context._enqueue(bar)
        context._enqueue(block)
    context._enqueue(block)
    assert drawn == [bar, block, block] and elements.messages == [bar]
    sent: list[ForwardMsg] = []
    session: Any = SimpleNamespace(_enqueue_forward_msg=sent.append)
    for _time in range(2):
        elements.send_anew(session, lambda each: setattr(each["progress"].progress, "value", 50))
    (anew,) = sent  # the second time nothing has changed
    assert anew.delta.new_element.progress.value == 50 and bar.delta.new_element.progress.value == 30
    assert anew.hash not in ("", "old") and [*anew.metadata.delta_path] == [0, 2]


def _composed(name: str) -> str:
    """What a name begins with that is put together as it is drawn."""
    return name[: name.index("-") + 1] + "${" if "-" in name else name


def test_streamlit_s_page_has_every_element_that_a_style_names() -> None:
    scripts = Path(streamlit.__file__).parent.glob("static/static/js/*.js")
    code = "".join(script.read_text(encoding="utf-8") for script in scripts)
    missing = [name for name in private.HOOKS if f"`{name}`" not in code and f"`{_composed(name)}" not in code]
    assert not missing, CLOSED


def test_a_style_names_no_other_element() -> None:
    assert private.style("[st=Sidebar] p {}") == '<style>[data-testid="stSidebar"] p {}</style>'
    with pytest.raises(StopIteration):
        private.selectors("[st=NoSuchElement] p {}")


def test_no_other_file_names_streamlit_s_elements() -> None:
    pages = Path(private.__file__).parents[1]
    others = [p for kind in ("*.py", "*.js", "*.css") for p in pages.rglob(kind) if p.name != "private.py"]
    named = [p.name for p in others if 'data-testid="st' in p.read_text(encoding="utf-8").replace("'", '"')]
    assert not named


def test_what_streamlit_serves_can_be_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "uvicorn.Config(" in inspect.getsource(starlette_server), CLOSED
    monkeypatch.setattr(uvicorn, "Config", uvicorn.Config)  # put back afterwards
    launcher.wrap_application(lambda app, where: (app, where))
    config: Any = uvicorn.Config("the application", port=8501)
    application, where = config.app
    assert application == "the application" and where() == ("http", 8501)


def test_a_server_that_ends_as_one_asks_for_it_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runtime, "exists", lambda: True)
    monkeypatch.setattr(Runtime, "_instance", None)
    assert private.running() is None
