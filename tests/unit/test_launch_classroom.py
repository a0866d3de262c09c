"""`bayes-workbench --classroom`: the address it finds, what Streamlit is told, whom it answers, what it packs."""

from __future__ import annotations

import gzip
import http.client
import io
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import brotli
import pytest
import zxingcpp
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.ttLib import TTFont
from PIL import Image
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from bayes_engine.workbench import font_parts, front, launch
from pages.runtime.state import LONGEST, State, decode, encode
from pages.shell.classroom import EASY, address_of, qr, short
from tests.conftest import PATIENCE, ROOT, App, finished

# the command ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], (False, "", [])),
        (["--classroom"], (True, "", [])),
        (["--classroom=10.0.0.7", "--server.port", "1"], (True, "10.0.0.7", ["--server.port", "1"])),
        (["--server.port", "1", "--classroom", "fd00::2"], (True, "fd00::2", ["--server.port", "1"])),
        (["--classroom", "--server.headless", "true"], (True, "", ["--server.headless", "true"])),
        (["--", "--classroom"], (False, "", ["--", "--classroom"])),
        (["--classrooms"], (False, "", ["--classrooms"])),
    ],
)
def test_what_is_ours_is_taken_and_the_rest_is_streamlits(arguments: Sequence[str], told: tuple[Any, ...]) -> None:
    assert launch.split(arguments) == told


def test_the_address_is_a_private_one_the_default_routes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = ["203.0.114.9", "192.168.1.20", "10.8.0.2", "192.168.1.20", "127.0.1.1", "169.254.3.4", "fe80::1",
               "fd00::5", "2003::1", "0.0.0.0"]  # fmt: skip
    monkeypatch.setattr(launch, "_sources", lambda: iter(sources))
    assert launch.lan_addresses() == ["192.168.1.20", "10.8.0.2", "fd00::5"]
    assert launch.classroom_address("", []) == "192.168.1.20"


def test_no_packet_is_sent_to_find_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    real = launch.socket.socket

    class Watched(real):  # type: ignore[misc, valid-type]
        def __init__(self, family: int, kind: int) -> None:
            made.append(kind)
            super().__init__(family, kind)

        def send(self, *_: Any) -> int:
            raise AssertionError("sent")

        sendto = sendall = send

    monkeypatch.setattr(launch.socket, "socket", Watched)
    monkeypatch.setattr(launch.socket, "gethostbyname_ex", lambda name: (name, [], []))
    launch.lan_addresses()
    assert made and set(made) == {launch.socket.SOCK_DGRAM}


@pytest.mark.parametrize(
    ("wanted", "others", "said"),
    [
        ("", [], "no address in a local network"),
        ("8.8.8.8", [], "'8.8.8.8' is not an address of this computer"),
        ("0.0.0.0", [], "'0.0.0.0' is not an address of this computer"),
        ("example.org", [], "'example.org' is not an address"),
        ("127.0.0.2", ["--server.address=1.2.3.4"], "leave out --server.address"),
        ("127.0.0.2", ["--server.address", "1.2.3.4"], "leave out --server.address"),
    ],
)
def test_where_no_classroom_can_be_opened_a_sentence_says_so(
    wanted: str, others: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(launch, "_sources", lambda: iter(["127.0.1.1"]))
    with pytest.raises(SystemExit) as ended:
        launch.classroom_address(wanted, others)
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_an_address_of_this_computer_is_taken_as_it_is() -> None:
    assert launch.classroom_address("127.0.0.3", ["--server.port", "1"]) == "127.0.0.3"


def test_streamlit_is_told_the_matching_hosts_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch.socket, "gethostname", lambda: "teacher")
    flags = launch.classroom_flags("192.168.1.20")
    told = [(name, value) for name, value in zip(flags[::2], flags[1::2], strict=True)]
    assert [v for k, v in told if k == "--server.allowedHosts"] == ["192.168.1.20", "teacher", "localhost", "127.0.0.1"]
    rest = {k: v for k, v in told if k != "--server.allowedHosts"}
    assert rest == {"--server.address": "0.0.0.0", "--browser.serverAddress": "192.168.1.20",
                    "--logger.hideWelcomeMessage": "true"}  # fmt: skip
    assert launch.classroom_flags("fd00::2")[:2] == ["--server.address", "fd00::2"]
    assert "[fd00::2]" in launch.classroom_flags("fd00::2")


def test_the_command_opens_a_classroom_and_passes_the_rest_on(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(launch.runpy, "run_module", lambda *_, **__: ran.append(list(sys.argv)))
    monkeypatch.setattr(launch, "put_in_front", lambda address: ran.append([address]))
    monkeypatch.setattr(sys, "argv", ["bayes-workbench", "--classroom", "127.0.0.2", "--server.port", "8600"])
    monkeypatch.setenv(launch.CLASSROOM, "0")
    launch.main()
    assert ran[0] == ["127.0.0.2"] and os.environ[launch.CLASSROOM] == "1"
    assert ran[1][:3] == ["streamlit", "run", str(ROOT / "app.py")] and ran[1][-2:] == ["--server.port", "8600"]


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_says_what_there_is(
    flag: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bayes-workbench", flag])
    monkeypatch.setenv("LC_ALL", "C")
    launch.main()
    said = capsys.readouterr().out
    assert "--classroom ADDRESS" in said and "streamlit run --help" in said and "--server.port" in said


def test_the_terminal_shows_the_address_and_a_code_that_reads() -> None:
    said = launch.announcement("http://192.168.100.200:8501", ["10.0.0.1"])
    assert "http://192.168.100.200:8501" in said and "10.0.0.1" in said
    assert _read_from_terminal(said) == "http://192.168.100.200:8501"


def _read_from_terminal(said: str) -> str:
    rows = [line for line in said.splitlines() if line and not set(line) - set(" ▀▄█")]
    picture = Image.new("L", (len(rows[0]) + 8, 2 * len(rows) + 8), 255)
    for y, row in enumerate(rows):
        for x, block in enumerate(row):
            for down, inked in enumerate((block in "▀█", block in "▄█")):
                picture.putpixel((x + 4, 2 * y + down + 4), 0 if inked else 255)
    return str(zxingcpp.read_barcodes(picture.resize((picture.width * 6, picture.height * 6), 0))[0].text)


# a server that runs ---------------------------------------------------------------------------------------------------


def test_a_classroom_is_open_at_the_address_it_shows(room: App) -> None:
    said = room.log.read_text(encoding="utf-8")
    assert room.url.startswith("http://127.0.0.1:") and _read_from_terminal(said) == room.url
    assert "External URL" not in said and "Traceback" not in said


def test_only_the_hosts_of_the_classroom_are_answered(room: App) -> None:
    told = urlsplit(room.url)

    def visit(host: str, origin: str) -> None:
        line = socket.create_connection((told.hostname, told.port))
        with connect(f"ws://{host}:{told.port}/_stcore/stream", sock=line, origin=Origin(origin), proxy=None):
            pass

    for host in ("127.0.0.1", "localhost", socket.gethostname()):
        visit(host, f"http://{host}:{told.port}")
    for host, origin in (("evil.example", f"http://evil.example:{told.port}"), ("127.0.0.1", "http://evil.example")):
        with pytest.raises(InvalidStatus, match="403"):
            visit(host, origin)


def test_the_rest_of_the_shipped_configuration_stands(tmp_path: Path) -> None:
    code = (
        "import runpy, json, sys; from bayes_engine.workbench import launch\n"
        "launch.runpy.run_module = lambda *a, **k: None\n"
        "launch.put_in_front = lambda address: None\n"
        "sys.argv = ['bayes-workbench', '--classroom', '127.0.0.2', '--server.port', '1']; launch.main()\n"
        "from streamlit import config; from streamlit.web import bootstrap\n"
        f"config._main_script_path = {str(ROOT / 'app.py')!r}\n"
        "flags = dict(zip(sys.argv[3::2], sys.argv[4::2]))\n"
        "hosts = [v for k, v in zip(sys.argv[3::2], sys.argv[4::2]) if k == '--server.allowedHosts']\n"
        "bootstrap.load_config_options({k[2:].replace('.', '_'): v for k, v in flags.items()} | "
        "{'server_allowedHosts': hosts})\n"
        "print(json.dumps({n: config.get_option(n) for n in config.get_config_options()}, default=str))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
                         env={**os.environ, "PYTHONPATH": str(ROOT)})  # fmt: skip
    assert '"server.address": "127.0.0.2"' in ran.stdout and '"server.maxUploadSize": 50' in ran.stdout
    for kept in ('"client.showErrorDetails": "none"', '"server.enableXsrfProtection": true',
                 '"browser.gatherUsageStats": false', '"server.enableStaticServing": false'):  # fmt: skip
        assert kept in ran.stdout, kept


def ask(room: App, path: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    told = urlsplit(room.url)
    line = http.client.HTTPConnection(told.hostname or "", told.port, timeout=PATIENCE)
    line.request(method, path, headers=headers)
    answer = line.getresponse()
    body = answer.read()
    line.close()
    return answer, body


def test_streamlits_scripts_come_packed_and_whole(room: App) -> None:
    _, html = ask(room, "/")
    paths = sorted(set(re.findall(r'"\./(static/(?:js|css)/[^"]+)"', html.decode())))
    assert len(paths) > 5
    paths = paths[:: len(paths) // 4]
    whole = packed = 0
    for path in paths:
        answer, body = ask(room, f"/{path}", **{"Accept-Encoding": "gzip, deflate"})
        plain, raw = ask(room, f"/{path}")
        assert answer.status == plain.status == 200 and gzip.decompress(body) == raw
        assert answer.headers["content-encoding"] == "gzip" and plain.headers["content-encoding"] is None
        assert answer.headers["vary"] == "Accept-Encoding"
        kept = [a.headers["cache-control"] for a in (answer, plain)]
        assert kept[0] == kept[1]
        assert answer.headers["content-type"].partition(";")[0] == plain.headers["content-type"].partition(";")[0]
        whole, packed = whole + len(raw), packed + len(body)
    assert packed < 0.35 * whole
    head, nothing = ask(room, f"/{paths[0]}", "HEAD", **{"Accept-Encoding": "gzip"})
    assert not nothing and int(head.headers["content-length"]) > 0
    part, some = ask(room, f"/{paths[0]}", **{"Accept-Encoding": "gzip", "Range": "bytes=0-9"})
    assert part.status == 206 and len(some) == 10


@pytest.mark.parametrize(
    ("offered", "sent"),
    [("gzip, deflate", "gzip"), ("gzip, deflate, br, zstd", "br"), ("BR", "br"), ("*", "gzip"), ("identity", None),
     ("br;q=0, gzip", "gzip"), ("", None)],
)  # fmt: skip
def test_every_browser_gets_the_tightest_packing_it_takes(room: App, offered: str, sent: str | None) -> None:
    _, html = ask(room, "/")
    path = max(re.findall(r'"\./(static/js/[^"]+)"', html.decode()), key=lambda p: "index" in p)
    plain, raw = ask(room, f"/{path}")
    answer, body = ask(room, f"/{path}", **{"Accept-Encoding": offered})
    assert answer.status == plain.status == 200 and answer.headers["content-encoding"] == sent
    unpack = {"gzip": gzip.decompress, "br": brotli.decompress, None: bytes}[sent]
    assert unpack(body) == raw
    assert answer.headers["cache-control"] == plain.headers["cache-control"]


def test_without_brotli_there_is_gzip(monkeypatch: pytest.MonkeyPatch) -> None:
    real = front.find_spec
    monkeypatch.setattr(front, "find_spec", lambda name: None if name == "brotli" else real(name))
    before = front.Front(None)  # type: ignore[arg-type]
    assert front._coding({"headers": [(b"accept-encoding", b"br, gzip")]}, before.codings) == "gzip"


@pytest.mark.slow
def test_gzip_is_packed_tighter_where_libdeflate_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    script = max(front.Front(None).files.values(), key=lambda file: file.stat().st_size)  # type: ignore[arg-type]
    whole = script.read_bytes()
    tight = front._pack(whole, "gzip")
    monkeypatch.setattr(front, "find_spec", lambda name: None)
    plain = front._pack(whole, "gzip")
    assert gzip.decompress(tight) == gzip.decompress(plain) == whole
    assert len(tight) < 0.97 * len(plain)


# the icons ------------------------------------------------------------------------------------------------------------


def icons_of(font: TTFont) -> dict[str, str]:
    """The name an icon is written by → its glyph."""
    letters = {glyph: chr(code) for code, glyph in font.getBestCmap().items()}
    found = {}
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in (getattr(one, "ExtSubTable", one) for one in lookup.SubTable):
            for first, ligatures in getattr(table, "ligatures", {}).items():
                for one in ligatures:
                    found["".join(letters[g] for g in (first, *one.Component))] = one.LigGlyph
    return found


def drawn(font: TTFont, glyphs: Iterable[str]) -> list[str]:
    """The outlines of glyphs."""
    outlines, found = font.getGlyphSet(), []
    for glyph in glyphs:
        pen = SVGPathPen(outlines)
        outlines[glyph].draw(pen)
        found.append(f"{outlines[glyph].width} {pen.getCommands()}")
    return found


@pytest.fixture(scope="module")
def icons(room: App) -> str:
    """The path of the icons, once they are no longer Streamlit's whole font."""
    path = "/" + next(iter(front.Front(None).fonts))  # type: ignore[arg-type]
    end = time.monotonic() + PATIENCE
    while ask(room, path)[0].headers["cache-control"] != "no-cache":
        assert time.monotonic() < end
        time.sleep(0.5)
    return path


@pytest.mark.slow
def test_the_icons_in_use_are_sent_as_they_are_and_the_others_are_not(room: App, icons: str) -> None:
    before = front.Front(None)  # type: ignore[arg-type]
    file = before.fonts[icons.removeprefix("/")]
    answer, body = ask(room, icons)
    assert answer.status == 200 and answer.headers["content-type"] == "font/woff2"
    assert len(body) < 0.2 * file.stat().st_size
    part, font = TTFont(io.BytesIO(body)), TTFont(file)
    sent, whole = icons_of(part), icons_of(font)
    named = set()
    for folder, kind in ((ROOT / "pages", "*.py"), (before.streamlit / "static", "*.js")):
        for code in folder.rglob(kind):
            named |= set(re.findall(r":material/([a-z0-9_]+):", code.read_text(encoding="utf-8", errors="replace")))
    assert len(named & set(whole)) > 90 and {"home", "tune", "keyboard_double_arrow_left"} <= named
    assert not named & set(whole) - set(sent)
    assert sent.keys() <= whole.keys() and len(sent) < len(whole) / 4
    assert drawn(part, sent.values()) == drawn(font, [whole[name] for name in sent])


def test_the_icons_are_asked_about_at_every_visit(room: App, icons: str) -> None:
    """The address is that of the whole font: another app at this address must not find a part of it in the cache."""
    answer, body = ask(room, icons)
    assert answer.headers["cache-control"] == "no-cache" and body
    again, nothing = ask(room, icons, **{"If-None-Match": answer.headers["etag"]})
    assert again.status == 304 and not nothing
    other, whole = ask(room, icons, **{"If-None-Match": '"another"'})
    assert other.status == 200 and whole == body
    head, nothing = ask(room, icons, "HEAD")
    assert not nothing and int(head.headers["content-length"]) == len(body)


def features_of(font: TTFont) -> set[str]:
    return {one.FeatureTag for name in ("GSUB", "GPOS") for one in font[name].table.FeatureList.FeatureRecord}


@pytest.mark.slow
def test_letters_are_sent_as_they_are_without_their_other_forms(room: App) -> None:
    path, file = next(
        (path, file)
        for path, file in front.Front(None).fonts.items()
        if "Sans" in path and "Upright" in path  # type: ignore[arg-type]
    )
    end = time.monotonic() + PATIENCE
    while ask(room, f"/{path}")[0].headers["cache-control"] != "no-cache":
        assert time.monotonic() < end
        time.sleep(0.5)
    answer, body = ask(room, f"/{path}")
    assert answer.headers["content-type"] == "font/woff2" and len(body) < 0.56 * file.stat().st_size
    part, font = TTFont(io.BytesIO(body)), TTFont(file)
    sent, whole = part.getBestCmap(), font.getBestCmap()
    shown = set("äéßñçåøŁőšžęığĄŻǎǐạễαβλμσΣΠ−×·≤≥∞→←↔√∑∫₀¹²³½‰€“”«»…–—").union(map(chr, range(33, 127)))
    assert {c for c in shown if ord(c) in whole} == {c for c in shown if ord(c) in sent} and len(sent) > 1000
    assert drawn(part, sent.values()) == drawn(font, [whole[code] for code in sent])
    assert [axis.axisTag for axis in part["fvar"].axes] == ["wght"]
    assert features_of(part) == features_of(font) & set(font_parts._FEATURES) >= {"kern", "liga"}


@pytest.mark.slow
def test_where_the_part_cannot_be_made_streamlit_sends_the_whole(tmp_path: Path) -> None:
    broken = tmp_path / "MaterialSymbols-Rounded.0.woff2"
    broken.write_bytes(b"no font")
    assert font_parts.icons_in_use(broken, tmp_path, []) == font_parts.letters_in_use(broken) == b""
    answered, asked = _Answered(), "static/media/MaterialSymbols-Rounded.0.woff2"
    before = front.Front(answered)
    before.fonts = {asked: broken}
    scope = {"type": "http", "method": "GET", "path": f"/{asked}", "headers": [(b"host", b"localhost")]}
    finished(before(scope, None, None))  # type: ignore[arg-type]
    assert answered.paths == [f"/{asked}"]


class _Answered:
    """An application that notes what it was asked for."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.paths.append(scope["path"])


def test_what_a_page_says_is_packed_too(room: App) -> None:
    stream = f"{room.url.replace('http', 'ws', 1)}/_stcore/stream"
    with connect(stream, proxy=None, compression="deflate", subprotocols=[Subprotocol("streamlit")]) as socket:
        assert [extension.name for extension in socket.protocol.extensions] == ["permessage-deflate"]


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/%2e%2e/app.py", "/static//etc/passwd"])
def test_nothing_beside_the_static_files_is_sent(room: App, path: str) -> None:
    answer, body = ask(room, path, **{"Accept-Encoding": "gzip"})
    assert b"run_app" not in body and b"root:" not in body and answer.headers["content-encoding"] is None


@pytest.mark.parametrize(
    ("server", "welcome"),
    [("192.168.1.20", True), ("127.0.0.1", True), ("127.0.0.9", True), ("10.8.0.2", False), ("203.0.113.9", False)],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_visitor_from_another_network_of_this_computer_is_refused(server: str, welcome: bool, kind: str) -> None:
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        sent.append("answered")

    async def send(event: Any) -> None:
        sent.append(event["type"] if kind == "websocket" else event.get("status", ""))

    scope = {"type": kind, "server": (server, 8501), "path": "/", "method": "GET", "headers": [(b"host", b"localhost")]}
    finished(front.Front(app, "192.168.1.20")(scope, None, send))  # type: ignore[arg-type]
    assert sent == (["answered"] if welcome else [403, ""] if kind == "http" else ["websocket.close"])


# the code on screen ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 40, 400, 800, 1200, LONGEST])
def test_the_code_of_every_state_reads(length: int) -> None:
    address = address_of("1." + ("aB3_-9" * 300)[: length - 2] if length else "",
                         "http://localhost:8501/dependence", "192.168.100.200")  # fmt: skip
    code = qr(address)
    picture = Image.open(io.BytesIO(code.png)).convert("L")
    assert min(picture.size) >= 1200 and zxingcpp.read_barcodes(picture)[0].text == address
    small = picture.resize((620, 620))  # as large as the dialog shows it
    assert zxingcpp.read_barcodes(small)[0].text == address
    assert (code.modules > EASY) == (len(address) > 858)  # what version 20 holds at level L (ISO/IEC 18004, table 7)


def test_the_short_link_names_the_table_alone_and_is_easy_to_read() -> None:
    state = State(table="upload:" + "0" * 64, losses=((0.0, 3.5), (1.0, 0.0)), case=(0.1, 0.2), language="zh")
    token = encode(short(state))
    assert decode(token) == State(table=state.table)
    assert qr(address_of(token, "http://192.168.100.200:8501/decisions", None)).modules <= 61


@pytest.mark.parametrize(
    ("here", "server", "address"),
    [
        ("http://127.0.0.1:8501/", "192.168.1.20", "http://192.168.1.20:8501/?s=1.a"),
        ("http://[::1]:8501/case", "[fd00::2]", "http://[fd00::2]:8501/case?s=1.a"),
        ("http://192.168.1.20:8501/", "192.168.1.20", "http://192.168.1.20:8501/?s=1.a"),
        ("https://bayes.example.org/data", "192.168.1.20", "https://bayes.example.org/data?s=1.a"),
        ("http://localhost/", None, "http://localhost/?s=1.a"),
        ("http://teacher:8501/?s=1.old#x", None, "http://teacher:8501/?s=1.a"),
    ],
)
def test_the_address_is_one_that_others_understand(here: str, server: str | None, address: str) -> None:
    assert address_of("1.a", here, server) == address


@pytest.mark.slow
def test_the_command_without_a_network_ends_with_its_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bayes-workbench", "--classroom", "8.8.8.8"])
    monkeypatch.setenv("LC_ALL", "C")
    with pytest.raises(SystemExit) as ended:
        launch.main()
    said = capsys.readouterr()
    assert (
        ended.value.code == 2 and said.err.startswith("'8.8.8.8' is not an address of this computer") and not said.out
    )
