"""What .github/DEPLOY.md says is true: its commands, its nginx configuration, its container file."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from streamlit import config
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from bayes_engine.table.read import MAX_BYTES
from tests.classrooms import COMMAND
from tests.conftest import PATIENCE, ROOT, WITHOUT_LIBRARY, App, ended

HOST = "bayes.example.org"
ENGLISH, CHINESE = ROOT / ".github" / "DEPLOY.md", ROOT / ".github" / "DEPLOY.zh.md"
ADDED = ("Strict-Transport-Security", "X-Content-Type-Options", "Referrer-Policy", "Content-Security-Policy")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
OPENSSL = shutil.which("openssl")
proxy = pytest.mark.skipif(not (NGINX and OPENSSL), reason="nginx or openssl is not installed")


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def block(language: str) -> str:
    [only] = blocks(ENGLISH, language)
    return only


def directive(name: str) -> str:
    """What stands after a directive that the configuration of nginx has once."""
    [only] = re.findall(rf"^ *{name} +(.*?);", block("nginx"), re.MULTILINE)
    return str(only)


def container_command() -> list[str]:
    words: list[str] = json.loads(block("dockerfile").split("\nCMD ")[1].replace("\\\n", ""))
    return words


def host_command() -> list[str]:
    words = shlex.split(blocks(ENGLISH, "sh")[0])
    return words[words.index("bayes-workbench") :]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def served(
    folder: Path, command: list[str], program: list[str] = COMMAND
) -> Iterator[tuple[App, subprocess.Popen[bytes]]]:
    """A command of the page, on a free port; anything but its port stands."""
    port, log = free_port(), folder / f"{time.monotonic_ns()}.log"
    words = command[1:]
    words[words.index("--server.port") + 1] = str(port)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), "BAYES_WORKBENCH_AUTOSAVE": "0"}
    with (
        log.open("wb") as out,
        subprocess.Popen([*program, *words], cwd=folder, env=environment, stdout=out, stderr=out) as process,
        ended(process),
    ):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
                break
            time.sleep(0.1)
        yield App(f"http://127.0.0.1:{port}", log), process


# what is written ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["sh", "nginx", "dockerfile"])
def test_both_languages_say_the_same(language: str) -> None:
    english, chinese = (
        [[line.split(" # ")[0].rstrip() for line in text.splitlines()] for text in blocks(page, language)]
        for page in (ENGLISH, CHINESE)
    )
    assert english and english == chinese


def test_every_option_that_is_named_exists() -> None:
    named = [word for command in (host_command(), container_command()) for word in command if word.startswith("--")]
    assert {"--server.headless", "--server.port", "--server.address", "--server.allowedHosts"} == set(named)
    assert {name.removeprefix("--") for name in named} <= set(config.get_config_options())


def test_proxy_app_and_container_speak_of_one_host_and_port() -> None:
    assert directive("server_name") == HOST
    ports = re.findall(r"^ *server 127\.0\.0\.1:(\d+) ", block("nginx"), re.MULTILINE)
    for command in (host_command(), container_command()):
        assert command[command.index("--server.allowedHosts") + 1] == HOST
        port = command[command.index("--server.port") + 1]
        assert port in ports
    assert f"\nEXPOSE {port}\n" in block("dockerfile") and f":{port}/_stcore/health" in block("dockerfile")
    assert f"--publish 127.0.0.1:{port}:{port} " in blocks(ENGLISH, "sh")[1]


def test_the_proxy_takes_the_largest_upload_and_hardly_more() -> None:
    number, unit = re.fullmatch(r"(\d+)(m)", directive("client_max_body_size")).groups()  # type: ignore[union-attr]
    assert unit == "m"
    assert MAX_BYTES + 2**16 < int(number) * 2**20 < 1.1 * MAX_BYTES


def test_the_container_keeps_nothing_of_the_checkout_and_is_not_run_by_root() -> None:
    words = [line.split()[0] for line in block("dockerfile").splitlines() if line[0].isupper()]
    assert "COPY" not in words and "ADD" not in words  # a layer would hold .git and .venv for good
    assert words.index("USER") < words.index("CMD") and "\nUSER bayes\n" in block("dockerfile")


# what is run ----------------------------------------------------------------------------------------------------------


def test_the_container_s_command_is_healthy_and_asks_nobody_for_its_address(tmp_path: Path) -> None:
    """It listens on all addresses, and a websocket names a foreign origin: for both Streamlit asked the internet."""
    asked = tmp_path / "asked"
    code = WITHOUT_LIBRARY + (
        "import requests\n"
        f"def get(url, **_):\n    open({str(asked)!r}, 'a').write(url)\n    raise OSError\n"
        "requests.get = get\n"
        "from bayes_engine.workbench import front, launch\n"
        "front.icons_in_use = lambda *_: b''\n"  # nobody looks at a page
        "launch.main()\n"
    )
    check = re.search(r"^HEALTHCHECK CMD (.*)$", block("dockerfile"), re.MULTILINE)
    assert check is not None
    with served(tmp_path, container_command(), [sys.executable, "-c", code]) as (app, process):
        port = app.url.rpartition(":")[2]
        words = [word.replace("8501", port) for word in json.loads(check[1])]
        assert words[0] == "python"
        healthy = [sys.executable, *words[1:]]
        assert subprocess.run(healthy, check=False, capture_output=True).returncode == 0
        for host, origin, welcome in (
            (HOST, f"https://{HOST}", True),
            (HOST, "https://evil.example", False),
            ("127.0.0.1", None, False),
        ):
            assert opens(f"ws://{host}/_stcore/stream", ("127.0.0.1", int(port)), origin) is welcome, (host, origin)
        page = socket.create_connection(("127.0.0.1", int(port)))
        with connect(f"ws://{HOST}/_stcore/stream", sock=page, origin=Origin(f"https://{HOST}"), proxy=None):
            process.terminate()  # as a container is stopped: it ends by itself, though a page is open
            assert process.wait(PATIENCE) == 0
        assert subprocess.run(healthy, check=False, capture_output=True).returncode != 0
    assert not asked.exists(), asked.read_text(encoding="utf-8")


def opens(url: str, at: tuple[str, int], origin: str | None) -> bool:
    """Whether a websocket is taken, from a page of this origin."""
    secure = _trusting() if url.startswith("wss") else None
    named = Origin(origin) if origin else None
    try:
        with connect(url, sock=socket.create_connection(at), ssl=secure, origin=named, proxy=None):
            return True
    except InvalidStatus as error:
        if error.response.status_code != 403:
            raise
        return False


def _trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Proxy(NamedTuple):
    """nginx before two processes of the app."""

    port: int
    folder: Path
    processes: list[subprocess.Popen[bytes]]

    def ask(
        self, path: str, method: str = "GET", host: str = HOST, source: str = "", **headers: str
    ) -> http.client.HTTPResponse:
        line = http.client.HTTPSConnection(
            "127.0.0.1",
            self.port,
            timeout=PATIENCE,
            context=_trusting(),
            source_address=(source, 0) if source else None,
        )
        body = b"x" * int(headers.pop("size", "0")) or None
        with closing(line):
            line.request(method, path, body, {"Host": host, **{k.replace("_", "-"): v for k, v in headers.items()}})
            with line.getresponse() as answer:
                answer.read()
                return answer


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """The configuration as it stands, but for its ports and where its certificate lies."""
    folder = tmp_path_factory.mktemp("nginx")
    key, certificate, port = folder / "bayes.key", folder / "bayes.pem", free_port()
    made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
    subprocess.run(
        [str(OPENSSL), *made, "-subj", f"/CN={HOST}", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    with ExitStack() as stack:
        apps = [stack.enter_context(served(folder, host_command())) for _ in range(2)]
        text = block("nginx").replace("/etc/ssl/", f"{folder}/").replace("listen 443 ", f"listen 127.0.0.1:{port} ")
        for written, (app, _) in zip(("127.0.0.1:8501", "127.0.0.1:8502"), apps, strict=True):
            assert written in text
            text = text.replace(written, app.url.removeprefix("http://"))
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        other = f"ssl_certificate {certificate}; ssl_certificate_key {key}; return 444;"
        (folder / "nginx.conf").write_text(
            f"daemon off; pid {folder}/pid; error_log {folder}/errors warn; events {{}} http {{ {temporary}\n"
            f"server {{ listen 127.0.0.1:{port} ssl default_server; {other} }}\n{text}}}\n",
            encoding="utf-8",
        )
        command = [str(NGINX), "-p", str(folder), "-e", f"{folder}/errors", "-c", f"{folder}/nginx.conf"]
        checked = subprocess.run([*command, "-t"], check=False, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
        stack.enter_context(ended(stack.enter_context(subprocess.Popen(command))))
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield Proxy(port, folder, [process for _, process in apps])


@proxy
def test_every_answer_of_the_proxy_has_the_headers(proxied: Proxy) -> None:
    script = next((Path(config.__file__).parent / "static" / "static" / "js").glob("index.*.js")).name
    whole = proxied.ask("/")
    packed = proxied.ask(f"/static/js/{script}", Accept_Encoding="br")
    health = proxied.ask("/_stcore/health")
    missing = proxied.ask("/data/_stcore/health")
    large = proxied.ask("/_stcore/upload_file/a/b", "PUT", Content_Length="60000000", Expect="100-continue")
    upload = proxied.ask("/_stcore/upload_file/a/b", "PUT", size="2000000")  # no such session, no cookie
    answers = [whole, packed, health, missing, large, upload]
    assert [answer.status for answer in answers] == [200, 200, 200, 404, 413, 403]
    for answer in answers:
        assert all(answer.getheader(name) for name in ADDED), (answer.status, answer.getheaders())
    assert packed.getheader("Content-Encoding") == "br"
    assert packed.getheader("Cache-Control") == "public, immutable, max-age=31536000"
    assert whole.getheader("Cache-Control") == "no-cache"
    assert "secure" in str(health.getheader("Set-Cookie")).lower()
    assert not [path for path in (proxied.folder / "client_body").rglob("*") if path.is_file()]
    assert "buffered to a temporary file" not in (proxied.folder / "errors").read_text(encoding="utf-8")


@proxy
def test_a_websocket_comes_through_from_our_own_pages_alone(proxied: Proxy) -> None:
    at, stream = ("127.0.0.1", proxied.port), f"wss://{HOST}:{proxied.port}/_stcore/stream"
    assert opens(stream, at, f"https://{HOST}:{proxied.port}")
    assert not opens(stream, at, "https://evil.example")


@proxy
def test_another_name_is_not_answered(proxied: Proxy) -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        proxied.ask("/", host="other.example.org")


@proxy
@pytest.mark.skipif(sys.platform != "linux", reason="visitors of several addresses of the loopback range")
def test_a_visitor_keeps_to_one_process_even_while_it_is_down(proxied: Proxy) -> None:
    """The last test of nginx: it ends a process. Where the other answered meanwhile, a session began there whose
    uploads went to the first as soon as it was back."""
    visitors = [f"127.0.0.{n}" for n in range(1, 17)]
    assert {proxied.ask("/_stcore/health", source=one).status for one in visitors} == {200}
    proxied.processes[0].terminate()
    proxied.processes[0].wait(PATIENCE)
    told = [[proxied.ask("/_stcore/health", source=one) for one in visitors] for _ in range(3)]
    assert {answer.status for answer in told[0]} == {200, 502}
    assert [[answer.status for answer in again] for again in told] == 3 * [[answer.status for answer in told[0]]]
    assert all(answer.getheader(name) for answer in told[0] for name in ADDED)
