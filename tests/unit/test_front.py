"""Who is answered, and how much may be sent: the application in front of Streamlit's, with another behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit
import uvicorn
from streamlit import config, runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from bayes_engine.workbench import front, private
from pages.runtime.state import State, encode
from tests.conftest import PATIENCE, finished

MB = 2**20


def asked(app: Any, method: str, path: str, host: str, parts: list[bytes], **headers: str) -> int:
    """The status of an answer. Where `parts` are used up the visitor says nothing more."""
    statuses: list[int] = []
    left = list(parts)

    async def receive() -> Any:
        if not left:
            await asyncio.sleep(2 * PATIENCE)
        return {"type": "http.request", "body": left.pop(0), "more_body": True}

    async def send(event: Any) -> None:
        statuses.extend([event["status"]] if "status" in event else [])

    raw = [(k.replace("_", "-").encode(), v.encode()) for k, v in {"host": host, **headers}.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": raw}
    finished(app(scope, receive, send))
    (status,) = statuses
    return status


async def welcoming(scope: Any, receive: Any, send: Any) -> None:
    await front._answer(send, 200, {})


@pytest.mark.parametrize(
    ("host", "path", "status"),
    [
        ("localhost:8501", "/", 200),
        ("127.0.0.1", "/", 200),
        ("attacker.example", "/", 403),
        ("attacker.example", "/_stcore/host-config", 403),
        ("", "/", 403),
        ("10.0.0.7:8501", "/_stcore/health", 200),
    ],
)
def test_a_plain_request_is_answered_under_the_server_s_names_only(
    host: str, path: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"server.allowedHosts": ["localhost", "127.0.0.1"]}
    monkeypatch.setattr(config, "get_option", options.__getitem__)
    assert asked(front.Front(welcoming), "GET", path, host, [b""]) == status


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MemoryUploadedFileManager:
    files = MemoryUploadedFileManager("/_stcore/upload_file")
    there = SimpleNamespace(uploaded_file_mgr=files, is_active_session=lambda session: session == "mine")
    monkeypatch.setattr(runtime, "get_instance", lambda: there)
    options = {"server.allowedHosts": [], "server.maxUploadSize": 1}
    monkeypatch.setattr(config, "get_option", options.__getitem__)
    return files


def storing(files: MemoryUploadedFileManager) -> Callable[..., Coroutine[Any, Any, None]]:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        session, file = scope["path"].split("/")[-2:]
        length = int(dict(scope["headers"]).get(b"content-length", b"0"))
        files.add_file(session, UploadedFileRec(file, file, "", b"0" * length))
        await front._answer(send, 204, {})

    return application


def test_a_session_holds_so_many_bytes_and_files(manager: MemoryUploadedFileManager) -> None:
    app = front.Front(storing(manager))

    def put(session: str, name: str, size: int | None) -> int:
        length = {} if size is None else {"content-length": str(size)}
        return asked(app, "PUT", f"/_stcore/upload_file/{session}/{name}", "localhost", [b""], **length)

    assert [put("mine", f"large {k}", MB) for k in range(4)] == [204, 204, 204, 413]
    assert put("mine", "of a length unsaid", None) == 413
    for k in range(3):
        manager.remove_file("mine", f"large {k}")
    assert [put("mine", f"{k}", 1) for k in range(13)] == [204] * front.FILES + [413]
    assert app.coming == {}


def test_a_file_whose_session_has_ended_is_let_go(manager: MemoryUploadedFileManager) -> None:
    path = "/_stcore/upload_file/left/file"
    assert asked(front.Front(storing(manager)), "PUT", path, "localhost", [b""], **{"content-length": "5"}) == 204
    assert private.Uploads().held("left") == (0, 0)


def test_a_body_that_stays_away_is_waited_for_so_long_only(
    manager: MemoryUploadedFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reading(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            pass
        await front._answer(send, 200, {})

    monkeypatch.setattr(front, "SILENT", 0.05)
    assert asked(front.Front(reading), "POST", "/", "localhost", [b"a", b"b"]) == 408


HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("sent", [(b"",), (b"GET / HT",), (HEAD, b"GET / HT")])
def test_a_request_that_never_begins_is_not_waited_for(sent: tuple[bytes, ...]) -> None:
    """Half-open connections: nothing said, half a head, and half a head after an answer."""

    async def run() -> int:
        protocol = private.within(AutoHTTPProtocol, 0.05)
        settings = uvicorn.Config(welcoming, http=protocol, log_config=None, lifespan="off")
        settings.load()
        state = SimpleNamespace(connections=set(), tasks=set(), total_requests=0, default_headers=[])
        listening = await asyncio.get_running_loop().create_server(
            lambda: settings.http_protocol_class(config=settings, server_state=state, app_state={}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        *whole, part = sent
        for request in whole:
            writer.write(request)
            assert b"200 OK" in await reader.readuntil(b"0\r\n\r\n")
        writer.write(part)
        rest = await reader.read()  # until the server hangs up
        writer.close()
        listening.close()
        return len(rest)

    assert finished(run()) == 0


@pytest.mark.parametrize(
    ("query", "asks", "words"),
    [
        ("", "en-GB,en;q=0.9", "Opening the page"),
        ("", "zh-CN", "正在打开"),
        (f"s={encode(State(language='zh'))}", "en", "正在打开"),
        (f"s={encode(State(language='en'))}", "zh", "Opening the page"),
        ("s=1.forged", "zh", "正在打开"),
    ],
)
def test_a_page_comes_with_a_skeleton_in_the_reader_s_language(
    query: str, asks: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    body, headers = sent_by(page, "text/html; charset=utf-8", query, asks, monkeypatch)
    assert body.count('id="skeleton"') == 1 and words in body and "<title>Bayes Workbench</title>" in body
    assert int(headers[b"content-length"]) == len(body.encode()) and b"etag" not in headers


def test_what_is_no_page_of_streamlit_s_comes_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("text/html", "application/json"):
        assert sent_by("<p>404", kind, "", "zh", monkeypatch)[0] == "<p>404"


def sent_by(
    page: str, kind: str, query: str, asks: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, dict[bytes, bytes]]:
    """What a browser gets of a page that the application behind sends in two parts, and its headers."""
    monkeypatch.setattr(config, "get_option", {"server.allowedHosts": []}.__getitem__)
    events: list[Any] = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        assert b"accept-encoding" not in dict(scope["headers"])
        raw = [(b"content-type", kind.encode()), (b"content-length", b"%d" % len(page.encode())), (b"etag", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        for part, more in ((page[:9], True), (page[9:], False)):
            await send({"type": "http.response.body", "body": part.encode(), "more_body": more})

    async def send(event: Any) -> None:
        events.append(event)

    raw = {"host": "localhost", "accept": "text/html,*/*", "accept-language": asks, "accept-encoding": "gzip"}
    headers = [(k.encode(), v.encode()) for k, v in raw.items()]
    scope = {"type": "http", "method": "GET", "path": "/case", "query_string": query.encode(), "headers": headers}
    finished(front.Front(behind)(scope, None, send))
    return b"".join(event.get("body", b"") for event in events).decode(), dict(events[0]["headers"])
