"""Visitors without a browser, who speak Streamlit's protocol as its front end does, and the server they visit."""

from __future__ import annotations

import asyncio
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.ports import free_port

ROOT = Path(__file__).parents[2]
SETTERS = {"number_input": "double_value", "text_input": "string_value", "slider": "double_array_value",
           "selectbox": "string_value", "checkbox": "bool_value", "button_group": "int_array_value",
           "radio": "string_value"}  # fmt: skip
"""The field of a widget's state by the kind of widget."""


class Answer(NamedTuple):
    """What came back from one run: seconds and bytes until it was finished, and the words of errors on the page."""

    seconds: float
    size: int
    errors: tuple[str, ...]


@dataclass
class Visitor:
    """One browser tab."""

    url: str
    near: tuple[str, int] | None = None  # where the server listens, if not where its name points
    secure: ssl.SSLContext | None = None
    cookie: str = ""
    socket: ClientConnection | None = None
    session: str = ""
    page: str = ""
    query: str = ""
    hashes: dict[str, str] = field(default_factory=dict)  # page name → hash, as the server lists them
    widgets: dict[str, Any] = field(default_factory=dict)  # widget id → the element it was drawn as
    states: dict[str, WidgetState] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)  # the alerts on the page
    html: list[str] = field(default_factory=list)  # what the page has of HTML
    parts: dict[str, float] = field(default_factory=dict)  # the fragments that are asked for again, and each how soon
    longest: float = 0.0  # seconds of the longest run of the script, in which nobody can cancel anything
    began: float = 0.0  # when the run under way began

    async def open(self, page: str = "", **query: str) -> Answer:
        """Connect and have a page drawn."""
        began = time.perf_counter()
        split = urlsplit(self.url)
        place = dict(zip(("host", "port"), self.near or (), strict=False))
        self.socket = await connect(
            f"{'wss' if self.secure else 'ws'}://{split.netloc}/_stcore/stream", origin=None,
            subprotocols=[Subprotocol("streamlit")], max_size=None, open_timeout=60, compression=None, proxy=None,
            ssl=self.secure, additional_headers={"Cookie": self.cookie} if self.cookie else None, **place,
        )  # fmt: skip
        answer = await self.go(page, **query)
        return answer._replace(seconds=time.perf_counter() - began)

    async def close(self) -> None:
        if self.socket is not None:
            await self.socket.close()

    async def go(self, page: str, **query: str) -> Answer:
        """Have a page drawn, as a click on a link does, or with a query a step Back: a session follows no other one."""
        self.page, self.query = page, urlencode(query)
        self.states.clear()
        return await self.rerun(step=bool(query) and bool(self.session))

    async def set(self, key: str, value: Any) -> Answer:
        """Set a widget by its key."""
        name, kind = self.widget(key)
        state = WidgetState(id=name)
        if kind == "selectbox":
            state.string_value = value
        elif SETTERS[kind].endswith("array_value"):
            getattr(state, SETTERS[kind]).data.extend(value if isinstance(value, list) else [value])
        else:
            setattr(state, SETTERS[kind], value)
        self.states[name] = state
        return await self.rerun()

    async def click(self, key: str) -> Answer:
        """Press a button."""
        name, _ = self.widget(key)
        return await self.rerun(WidgetState(id=name, trigger_value=True))

    async def upload(self, key: str, name: str, content: bytes) -> Answer:
        """Give a file to an uploader: ask where to, put it there, and say so."""
        widget, _ = self.widget(key)
        asked = BackMsg()
        asked.file_urls_request.request_id, asked.file_urls_request.session_id = "1", self.session
        asked.file_urls_request.file_names.append(name)
        assert self.socket is not None
        await self.socket.send(asked.SerializeToString())
        while True:
            said = ForwardMsg.FromString(await asyncio.wait_for(self.socket.recv(), 60))  # type: ignore[arg-type]
            if said.WhichOneof("type") == "file_urls_response":
                break
        urls = said.file_urls_response.file_urls[0]
        status = await asyncio.to_thread(self.put, urls.upload_url, name, content)
        if status != 204:
            return Answer(0.0, 0, (f"the upload was answered {status}",))
        state = WidgetState(id=widget)
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.name, info.size, info.file_id = name, len(content), urls.file_id
        info.file_urls.CopyFrom(urls)
        self.states[widget] = state
        return await self.rerun()

    def put(self, path: str, name: str, content: bytes) -> int:
        """Send a file to the upload endpoint, with the token that guards it; the HTTP status."""
        with requests.Session() as client:
            client.trust_env = False
            client.get(f"{self.url}/_stcore/health", timeout=60)
            token = client.cookies.get("_streamlit_xsrf", "")
            answer = client.put(f"{self.url}{path}", files={"file": (name, content)}, timeout=120,
                                headers={"X-Xsrftoken": token})  # fmt: skip
            return answer.status_code

    def widget(self, key: str) -> tuple[str, str]:
        """(id, kind) of the widget with this key, or whose key begins so."""
        for name, element in self.widgets.items():
            if name.endswith(f"-{key}"):
                return name, element.WhichOneof("type")
        raise LookupError(f"no widget '{key}' on the page '{self.page}'; there are {sorted(self.widgets)}")

    @property
    def is_whole(self) -> bool:
        """Whether the page says of nothing that it is under way."""
        return not self.parts and not any("job_cancel" in name for name in self.widgets)

    async def whole(self, seconds: float) -> tuple[str, ...]:
        """Wait as a browser does until the page is drawn whole, at most so long; the words of errors on the page."""
        end, errors = time.perf_counter() + seconds, []
        while not self.is_whole and (left := end - time.perf_counter()) > 0:
            if self.parts:
                part, every = min(self.parts.items(), key=lambda item: item[1])
                await asyncio.sleep(min(every, left))
                errors += (await self.rerun(part=part)).errors
            else:
                try:
                    async with asyncio.timeout(left):
                        errors += (await self.read(begun=True)).errors
                except TimeoutError:
                    break
        return tuple(errors)

    async def rerun(self, *once: WidgetState, part: str = "", step: bool = False) -> Answer:
        """Ask for a run, of the page or of one fragment, and read until it is finished; `step`: to another address."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_name = self.query, self.page
        asked.page_script_hash = self.hashes.get(self.page, "")
        asked.context_info.timezone, asked.context_info.locale = "Europe/Berlin", "en-GB"
        asked.context_info.url = f"{self.url}/{self.page}"
        asked.fragment_id, asked.is_auto_rerun, asked.is_history_navigation = part, bool(part), step
        asked.widget_states.widgets.extend([*self.states.values(), *once])
        return await self.ask(message, bool(part))

    async def ask(self, message: BackMsg, part: bool = False) -> Answer:
        assert self.socket is not None
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        return (await self.read(part))._replace(seconds=time.perf_counter() - began)

    async def read(self, part: bool = False, begun: bool = False) -> Answer:
        """Read until the run is finished that begins next, or that has `begun`."""
        assert self.socket is not None
        size, errors, began = 0, [], time.perf_counter()
        while True:
            data = await asyncio.wait_for(self.socket.recv(), 120)
            size += len(data)
            said = ForwardMsg.FromString(data)  # type: ignore[arg-type]
            kind = said.WhichOneof("type")
            if kind == "new_session":
                self.session = said.new_session.initialize.session_id
                self.began = time.perf_counter()
                if not part:
                    self.widgets, self.told, self.html, self.parts = {}, [], [], {}
                part, begun = False, True  # what begins after it is the page
            elif kind == "auto_rerun":
                if said.auto_rerun.interval < 10:
                    self.parts[said.auto_rerun.fragment_id] = said.auto_rerun.interval
            elif kind == "navigation":
                self.hashes = {p.url_pathname: p.page_script_hash for p in said.navigation.app_pages}
            elif kind == "page_info_changed":
                self.query = said.page_info_changed.query_string
            elif kind == "delta" and said.delta.WhichOneof("type") == "new_element":
                errors += self._drawn(said.delta.new_element)
            if kind == "script_finished":
                self.longest = max(self.longest, time.perf_counter() - self.began)
            if begun and kind == "script_finished" and said.script_finished in (
                ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR,
                ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
            ):  # fmt: skip
                return Answer(time.perf_counter() - began, size, tuple(errors))

    def _drawn(self, element: Any) -> Iterator[str]:
        kind = element.WhichOneof("type")
        drawn = getattr(element, kind)
        if kind == "html":
            self.html.append(drawn.body)
        if kind == "exception":
            yield f"{drawn.type}: {drawn.message}"
        elif kind == "alert":
            self.told.append(drawn.body)
            if drawn.format == drawn.ERROR:
                yield drawn.body
        if name := getattr(drawn, "id", ""):
            self.widgets[name] = element


class Server:
    """The app as it is shipped, in a process of its own on a free port; `with Server() as server:`. Or another
    Streamlit `script`."""

    def __init__(self, *flags: str, port: int = 0, script: Path | None = None) -> None:
        self.port = port or free_port()
        self.flags, self.script = flags, script
        self.url = f"http://127.0.0.1:{self.port}"
        self.folder = Path(tempfile.mkdtemp(prefix="bench"))
        self.log = self.folder / "server.log"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start it (again) and wait until it is well."""
        launch = ["-c", "from bayes_engine.workbench.launch import main; main()"]
        if self.script is not None:
            launch = ["-m", "streamlit", "run", str(self.script), "--browser.gatherUsageStats", "false"]
        command = [sys.executable, *launch, "--server.headless", "true", "--server.port", str(self.port), *self.flags]
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                command, cwd=self.folder, stdout=out, stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(self.folder)},
            )  # fmt: skip
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is None and self.well():
                return
            time.sleep(0.05)
        raise RuntimeError(f"the app did not start:\n{self.said()}")

    def well(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def kill(self) -> None:
        """kill −9: no chance to say anything."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def memory(self) -> int:
        """Bytes that the process has in memory."""
        assert self.process is not None
        return memory_of(self.process.pid)

    def cpu(self) -> float:
        """Seconds of processor time that the process has used."""
        assert self.process is not None
        return cpu_of(self.process.pid)

    def cpu_of_all(self) -> float:
        """Seconds of processor time that the process and those it has started, which still run, have used."""
        assert self.process is not None
        return sum(cpu_of(pid) for pid in [self.process.pid, *children_of(self.process.pid)])


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for thread in threads for child in thread.read_text(encoding="ascii").split()]
    return [*children, *(further for child in children for further in children_of(child))]


def memory_of(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmRSS:")[1].split()[0])


def cpu_of(pid: int) -> float:
    return time.clock_gettime(~pid << 3 | 2)  # Linux's clock of the processor time of a process
