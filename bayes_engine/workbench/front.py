"""An ASGI application in front of Streamlit's: who is answered, how much they may send, and in how few bytes scripts,
styles and icons reach them; and what stands on the screen until the app has drawn its first page."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import re
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bayes_engine.language import LANGUAGES, preferred
from bayes_engine.workbench import kept_files, private
from bayes_engine.workbench.font_parts import ICONS, LETTERS, has_letters, name_of_part, part_apart
from bayes_engine.workbench.hosts import is_loopback, is_own
from bayes_engine.workbench.kept_files import version_of
from bayes_engine.workbench.link_token import unpacked
from bayes_engine.workbench.skeleton import with_skeleton

_PACKED = {".js": "application/javascript", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
_EVERYWHERE = ("Html", "PageLink", "ButtonGroup", "Button", "BidiComponent", "Checkbox")
_SCRIPT, _IMPORT = re.compile(r"static/js/([\w.-]+\.js)"), re.compile(r"(?:from|import)\"\./([\w.-]+\.js)\"")
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[[Event, Receive, Send], Awaitable[None]]
SILENT = 30.0
"""Seconds within which each part of a request's body must follow the one before."""
LATER = 10.0
"""Seconds after which the part of a font is cut out that no earlier start has kept: the first page is drawn by then. In
a classroom it is cut out once somebody asks for it, that which the page of HTML names at once, and all wait for it:
sixty telephones fetch it."""
ASIDE = 10
"""How much the process that cuts it out gives way to others ("nice"), where nobody waits for it."""
FILES, SIZES = 12, 3
"""A session holds at most so many files, and bytes of so many files of the largest size."""
HEALTH, UPLOAD = "/_stcore/health", "/_stcore/upload_file/"
"""What machines ask by whatever name they know; and where a session's files are put."""
VISITOR = "bayes_visitor"
"""The cookie by which a proxy sends a visitor to the same process each time: a random name, gone with the browser."""


class Front:
    """An ASGI application before another.

    Hosts of which Streamlit takes no websocket are answered nothing else either, and with an `address` only that and
    this computer's own. What one session may send, and how long a body may pause, is bounded. Streamlit's own scripts
    and styles are packed once and kept (Streamlit sends them as they are, 2.4 MB at first sight), and its font of icons
    is sent with those icons alone that are in use; `pages` are looked through for them too. Of its letters those of the
    scripts that it is read in are sent, without their other forms. All that is kept for later starts (`kept_files`).
    The page of HTML that all this is loaded from is sent with a skeleton of the app (`with_skeleton`).
    """

    def __init__(
        self,
        app: Application,
        address: str | None = None,
        opened: Callable[[], None] | None = None,
        pages: Path | None = None,
    ) -> None:
        self.app, self.address, self.opened, self.pages = app, address, opened, pages
        self.coming: dict[str, list[int]] = {}  # session → the sizes of files that are on their way
        spec = find_spec("streamlit")
        self.streamlit = Path(spec.origin or "").parent if spec else Path()
        static = self.streamlit / "static"
        self.files = {
            file.relative_to(static).as_posix(): file for file in static.rglob("*") if file.suffix in _PACKED
        }  # fmt: skip
        self.soon = _needed(static / "static" / "js")
        self.fonts = {
            file.relative_to(static).as_posix(): file for kind in (ICONS, LETTERS) for file in static.rglob(kind)
        }
        self.codings = ("br", "gzip") if find_spec("brotli") else ("gzip",)
        self.made: dict[tuple[str, str], asyncio.Future[bytes]] = {}
        self.packed: dict[tuple[str, str], bytes] = {}
        self.parts: dict[str, bytes] = {}  # of the fonts
        self.asked: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)  # set: a classroom waits for the part
        self.cutting: dict[str, asyncio.Task[None]] = {}

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, self._noticing(send))
        elif not self._welcome(scope):
            await _refuse(scope["type"], send)
        elif UPLOAD in scope.get("path", "") and scope["method"] == "PUT":
            await self._take_upload(scope, receive, send)
        elif (name := _wanted(scope)) in self.files and (coding := _coding(scope, self.codings)):
            await self._send_packed(name, coding, scope["method"], send)
        elif name in self.fonts and (font := await self._part(name)):
            await _send_part(font, scope, send)
        elif scope["type"] == "http" and scope["method"] == "GET" and "text/html" in _header(scope, b"accept"):
            await self._unless_silent(_whole_and_plain(scope), receive, _with_skeleton(scope, send, self.soon))
        else:
            await self._unless_silent(scope, receive, send)

    def _welcome(self, scope: Event) -> bool:
        """Whether the visitor came in by the classroom's address or from this computer, under a name of the server."""
        server = scope.get("server")
        if self.address is not None and server and server[0] != self.address and is_loopback(server[0]) is False:
            return False
        if scope["type"] != "http" or scope["path"].endswith(HEALTH):
            return True
        return private.is_host_allowed(_header(scope, b"host"))

    async def _take_upload(self, scope: Event, receive: Receive, send: Send) -> None:
        """A file of a session, if the session may hold it beside what it holds and what is on its way."""
        session, _, file = scope["path"].partition(UPLOAD)[2].partition("/")
        uploads, length = private.Uploads(), _header(scope, b"content-length")
        coming = self.coming.setdefault(session, [])
        size = int(length) if length.isdecimal() else uploads.largest
        count, held = uploads.held(session)
        try:
            if count + len(coming) >= FILES or held + sum(coming) + size > SIZES * uploads.largest:
                await _answer(send, 413, {"content-length": "0", "connection": "close"})
                return
            coming.append(size)
            try:
                await self._unless_silent(scope, receive, send)
            finally:
                coming.remove(size)
                uploads.forget_if_left(session, file)
        finally:
            if not coming:
                self.coming.pop(session, None)

    async def _unless_silent(self, scope: Event, receive: Receive, send: Send) -> None:
        """The application's answer, or 408 where a part of the body stays away for `SILENT` seconds."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def noted(event: Event) -> None:
            nonlocal begun
            begun = True
            await send(event)

        try:
            async with asyncio.timeout(None) as limit:
                whole = False

                async def received() -> Event:
                    nonlocal whole
                    if whole:
                        return await receive()
                    limit.reschedule(asyncio.get_running_loop().time() + SILENT)
                    event = await receive()
                    limit.reschedule(None)
                    whole = not event.get("more_body", False)
                    return event

                await self.app(scope, received, noted)
        except TimeoutError:
            if not limit.expired():
                raise
            if not begun:
                await _answer(send, 408, {"content-length": "0", "connection": "close"})

    def _noticing(self, send: Send) -> Send:
        async def noticed(event: Event) -> None:
            await send(event)
            if event["type"] == "lifespan.startup.complete":
                page = _page_of(self.streamlit / "static") if self.address is not None else ""
                for name in filter(page.__contains__, self.fonts):
                    self.asked[name].set()
                self.cutting = {name: asyncio.create_task(self._cut(name)) for name in self.fonts}
                if self.opened is not None:
                    self.opened()

        return noticed

    async def _part(self, name: str) -> bytes:
        """The part of a font that is in use; empty where there is none, or not yet."""
        if self.address is not None and name in self.cutting:
            self.asked[name].set()
            await asyncio.shield(self.cutting[name])
        return self.parts.get(name, b"")

    async def _cut(self, name: str) -> None:
        """The part that an earlier start has kept, or else cut out `LATER`: it takes seconds of a processor, which the
        first page needs. Until then the whole font is sent."""
        font, own = self.fonts[name], [Path(__file__).parents[1], *([self.pages] if self.pages else [])]
        key = await asyncio.to_thread(name_of_part, font, [] if has_letters(font) else [self.streamlit, *own])
        part = await asyncio.to_thread(kept_files.find, key)
        if part is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.asked[name].wait(), LATER)
            part = await part_apart(font, self.streamlit, own, 0 if self.asked[name].is_set() else ASIDE)
            if part:
                await asyncio.to_thread(kept_files.keep, key, part)
        self.parts[name] = part

    async def _send_packed(self, name: str, coding: str, method: str, send: Send) -> None:
        if (body := self.packed.get((name, coding))) is None:
            kept, whole = _name_of_packed(self.files[name], coding)
            if (body := kept_files.find(kept)) is None:
                if (name, coding) not in self.made:  # those who ask meanwhile wait for the same
                    self.made[name, coding] = asyncio.ensure_future(asyncio.to_thread(_pack_once, kept, whole, coding))
                body = await asyncio.shield(self.made[name, coding])
            self.packed[name, coding] = body
        headers = {
            "content-type": _PACKED[self.files[name].suffix],
            "content-encoding": coding,
            "content-length": str(len(body)),
            "vary": "Accept-Encoding",
            "cache-control": "public, immutable, max-age=31536000",  # as Streamlit: the name holds the content's hash
        }
        await _answer(send, 200, headers, b"" if method == "HEAD" else body)


def _header(scope: Event, name: bytes) -> str:
    return bytes(dict(scope.get("headers", ())).get(name, b"")).decode("latin-1")


def _wanted(scope: Event) -> str:
    """The static file that is asked for whole; "" for anything else."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD") or b"range" in dict(scope.get("headers", ())):
        return ""
    return "static/" + str(scope["path"]).rpartition("/static/")[2]


def _page_of(folder: Path) -> str:
    """Streamlit's page of HTML; "" where there is none."""
    page = folder / "index.html"
    return page.read_text(encoding="utf-8") if page.exists() else ""


def _needed(folder: Path) -> list[str]:
    """The scripts of what is on every page, which Streamlit loads when it is to be drawn, and of what these import;
    without those that its page of HTML names."""
    known = set(_SCRIPT.findall(_page_of(folder.parents[1])))
    waiting = [file.name for element in _EVERYWHERE for file in sorted(folder.glob(f"{element}.*.js"))]
    needed: dict[str, None] = {}
    while waiting:
        name = waiting.pop(0)
        if name not in known and name not in needed and (folder / name).is_file():
            needed[name] = None
            waiting += _IMPORT.findall((folder / name).read_text(encoding="utf-8"))
    return [f"static/js/{name}" for name in needed]


def _coding(scope: Event, codings: Sequence[str]) -> str:
    """The first of the codings that the visitor takes, or "". A browser takes "br" over https and from itself."""
    offered = _header(scope, b"accept-encoding").replace(" ", "").lower()
    taken = set(offered.split(","))
    return next((coding for coding in codings if coding in taken), "gzip" if "*" in taken else "")


def _name_of_packed(file: Path, coding: str) -> tuple[str, bytes]:
    """By which a packed file is kept, and the whole file."""
    whole = file.read_bytes()
    packer = "brotli" if coding == "br" else "deflate"
    return kept_files.name_of([version_of(packer), coding.encode(), _own_code(), whole]), whole


def _pack_once(name: str, whole: bytes, coding: str) -> bytes:
    """The packed file, now made and kept; or kept meanwhile."""
    return kept_files.kept(name, lambda: _pack(whole, coding))


@cache
def _own_code() -> bytes:
    return Path(__file__).read_bytes()


def _pack(whole: bytes, coding: str) -> bytes:
    if coding == "br":
        return bytes(import_module("brotli").compress(whole, quality=9, lgwin=24))  # 11: 20 times the time
    if find_spec("deflate"):  # twice the time of zlib's best, and a twentieth less
        return bytes(import_module("deflate").gzip_compress(whole, 12))
    return gzip.compress(whole, 9, mtime=0)


def _whole_and_plain(scope: Event) -> Event:
    """The request, so that its answer comes as it is: not packed, and not by reference to what a browser has kept."""
    out = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name not in out]}


def _with_skeleton(scope: Event, send: Send, soon: Sequence[str]) -> Send:
    """Sends an answer; a page of HTML with a skeleton in the reader's language, and the scripts needed `soon`."""
    held: list[Event] = []
    body = bytearray()

    async def sent(event: Event) -> None:
        if event["type"] == "http.response.start":
            if dict(event["headers"]).get(b"content-type", b"").startswith(b"text/html"):
                held.append(event)
            else:
                await send(event)
        elif not held:
            await send(event)
        else:
            body.extend(event.get("body", b""))
            if not event.get("more_body", False):
                page = with_skeleton(body.decode(), _language(scope), soon).encode()
                own = {b"content-length": str(len(page)).encode(), b"vary": b"Accept-Language"}
                kept = [(k, v) for k, v in held[0]["headers"] if k not in (*own, b"etag", b"last-modified")]
                await send({**held[0], "headers": [*kept, *own.items(), *_visitor_cookie(scope)]})
                await send({"type": "http.response.body", "body": page})

    return sent


def _visitor_cookie(scope: Event) -> list[tuple[bytes, bytes]]:
    """The header that names a visitor who has no name yet; none on one's own computer, where there is no proxy."""
    host = urlsplit("//" + _header(scope, b"host")).hostname or ""
    if is_own(host) or f"{VISITOR}=" in _header(scope, b"cookie"):
        return []
    return [(b"set-cookie", f"{VISITOR}={secrets.token_urlsafe(12)}; Path=/; HttpOnly; SameSite=Lax".encode())]


def _language(scope: Event) -> str:
    """The language that the address asks for, or the browser."""
    token = parse_qs(bytes(scope.get("query_string", b"")).decode("latin-1")).get("s", [""])[0]
    try:
        asked = json.loads(unpacked(token))["language"]
    except (ValueError, TypeError, KeyError, RecursionError):
        asked = ""
    return asked if asked in tuple(LANGUAGES) else preferred(_header(scope, b"accept-language"))


async def _send_part(font: bytes, scope: Event, send: Send) -> None:
    """Kept by the browser, but asked about at each visit: the name in the address is that of the whole font, which
    another app at this address may need."""
    mark = f'"{hashlib.sha256(font).hexdigest()[:32]}"'
    headers = {"etag": mark, "cache-control": "no-cache"}
    if _header(scope, b"if-none-match") == mark:
        await _answer(send, 304, headers)
    else:
        headers |= {"content-type": "font/woff2", "content-length": str(len(font))}
        await _answer(send, 200, headers, b"" if scope["method"] == "HEAD" else font)


async def _answer(send: Send, status: int, headers: dict[str, str], body: bytes = b"") -> None:
    raw = [(k.encode(), v.encode()) for k, v in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


async def _refuse(kind: str, send: Send) -> None:
    if kind == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await _answer(send, 403, {"content-length": "0"})
