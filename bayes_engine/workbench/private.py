"""What the launcher leans on that nobody promises, in one place: tried on Streamlit 1.67 and uvicorn 0.54."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

HEAD_WITHIN = 30.0
"""Seconds within which the head of a request must be there, from the connection or from the first byte of it."""


def wrap_application(wrap: Callable[[Any, Callable[[], tuple[str, int]]], Any]) -> None:
    """Have Streamlit serve `wrap(application, where)` in place of its own application, which it hands to
    `uvicorn.Config`; it has no setting for that. Once it is open `where()` are its scheme and its port."""
    import uvicorn
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class Config(uvicorn.Config):
        def __init__(self, app: Any, *args: Any, **options: Any) -> None:
            super().__init__(app, *args, **options)
            self.http = within(AutoHTTPProtocol, HEAD_WITHIN)
            self.app = wrap(app, lambda: ("https" if self.is_ssl else "http", self.port))

    uvicorn.Config = Config  # type: ignore[misc]


def spare_the_first_run() -> None:
    """Leave out what Streamlit does in the first run of a process, and what comes to nothing here.

    It looks through all modules for the source of each frame of the stack, to warn whoever draws without `streamlit
    run`; it compiles an expression of 4,000 emojis for the first label that is not ASCII, such as 中文; and it imports
    NumPy and Pillow to decode the page's icon, which it sends as it is.
    """
    runtime: Any = import_module("streamlit.runtime")
    page_config: Any = import_module("streamlit.commands.page_config")
    icon_of = page_config._get_favicon_string

    def _get_favicon_string(icon: Any) -> str:
        if not isinstance(icon, Path) or icon.suffix != ".png" or not runtime.exists():
            return str(icon_of(icon))
        return str(runtime.get_instance().media_file_mgr.add(str(icon), "image/png", "favicon"))

    page_config._get_favicon_string = _get_favicon_string
    delta_generator: Any = import_module("streamlit.delta_generator")
    string_util: Any = import_module("streamlit.string_util")
    delta_generator._use_warning_has_been_displayed = True
    search = string_util.extract_leading_emoji

    def extract_leading_emoji(text: str) -> tuple[str, str]:
        return ("", text) if begins_with_letter(text) else search(text)

    string_util.extract_leading_emoji = extract_leading_emoji


def begins_with_letter(text: str) -> bool:
    """Whether a text begins with a letter, and so with no emoji. Of all emojis one counts as a letter, U+2139.

    >>> [begins_with_letter(text) for text in ("中文", "English", "", "1", "🚀", "\u2139")]
    [True, True, False, False, False, False]
    """
    return text[:1].isalpha() and text[0] != "\u2139"


def within(protocol: Any, seconds: float) -> Any:
    """The HTTP protocol, whose connections end where no request has begun after so many seconds, or one only in part:
    uvicorn waits for ever."""

    class Within(protocol):  # type: ignore[misc]
        waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._is_served():
                self._stop_waiting()
            elif self.waiting is None:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _is_served(self) -> bool:
            """Whether a request is being answered, or the connection has become a websocket."""
            return self.transport.get_protocol() is not self or bool(self.cycle and not self.cycle.response_complete)

        def _wait(self) -> None:
            self.waiting = self.loop.call_later(seconds, self._give_up)

        def _stop_waiting(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

        def _give_up(self) -> None:
            self.waiting = None
            if not self._is_served():
                self.transport.close()

    return Within


def is_host_allowed(host: str) -> bool:
    """Whether Streamlit would take a websocket that names this host (`server.allowedHosts`)."""
    websockets: Any = import_module("streamlit.web.server.starlette.starlette_websocket")
    return bool(websockets.is_host_allowed(host or None))


class Uploads:
    """The files that sessions have sent, as the running server holds them."""

    def __init__(self) -> None:
        self.runtime: Any = import_module("streamlit.runtime").get_instance()
        self.manager = self.runtime.uploaded_file_mgr
        self.largest = int(import_module("streamlit.config").get_option("server.maxUploadSize")) * 2**20

    def held(self, session: str) -> tuple[int, int]:
        """How many files of a session are held, and how many bytes."""
        files = list(self.manager.file_storage.get(session, {}).values())
        return len(files), sum(len(file.data) for file in files)

    def forget_if_left(self, session: str, file: str) -> None:
        """Let go of a file whose session ended while it came in: nobody else would."""
        if not self.runtime.is_active_session(session):
            self.manager.remove_file(session_id=session, file_id=file)
