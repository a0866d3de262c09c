"""What .github/DEPLOY.md says is true: its commands, its nginx configuration, its container file."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit import config
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from bayes_engine.table.read import MAX_BYTES
from bayes_engine.workbench.front import VISITOR
from tests.conftest import PATIENCE
from tests.deployed import (
    CHINESE,
    ENGLISH,
    HOST,
    Proxy,
    block,
    blocks,
    container_command,
    directive,
    host_command,
    proxied,
    proxy,
    served,
    trusting,
)

ADDED = ("Strict-Transport-Security", "X-Content-Type-Options", "Referrer-Policy", "Content-Security-Policy")


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


@pytest.mark.slow
def test_the_container_s_command_is_healthy_and_asks_nobody_for_its_address(tmp_path: Path) -> None:
    """It listens on all addresses, and a websocket names a foreign origin: for both Streamlit asked the internet."""
    asked = tmp_path / "asked"
    code = (
        "import requests\n"
        f"def get(url, **_):\n    open({str(asked)!r}, 'a').write(url)\n    raise OSError\n"
        "requests.get = get\n"
        "from bayes_engine.workbench import front, launch\n"
        "async def part_apart(*_):\n    return b''\n"  # nobody looks at a page
        "front.part_apart = part_apart\n"
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
    secure = trusting() if url.startswith("wss") else None
    named = Origin(origin) if origin else None
    try:
        with connect(url, sock=socket.create_connection(at), ssl=secure, origin=named, proxy=None):
            return True
    except InvalidStatus as error:
        if error.response.status_code != 403:
            raise
        return False


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with proxied(tmp_path_factory.mktemp("nginx")) as running:
        yield running


@proxy
@pytest.mark.slow
def test_every_answer_of_the_proxy_has_the_headers(deployed: Proxy) -> None:
    script = next((Path(config.__file__).parent / "static" / "static" / "js").glob("index.*.js")).name
    whole = deployed.ask("/")
    packed = deployed.ask(f"/static/js/{script}", Accept_Encoding="br")
    health = deployed.ask("/_stcore/health")
    missing = deployed.ask("/data/_stcore/health")
    large = deployed.ask("/_stcore/upload_file/a/b", "PUT", Content_Length="60000000", Expect="100-continue")
    upload = deployed.ask("/_stcore/upload_file/a/b", "PUT", size="2000000")  # no such session, no cookie
    answers = [whole, packed, health, missing, large, upload]
    assert [answer.status for answer in answers[:-1]] == [200, 200, 200, 404, 413]
    assert upload.status in (403, 502)  # refused; nginx says 502 where that comes before the whole file is sent
    for answer in answers:
        assert all(answer.getheader(name) for name in ADDED), (answer.status, answer.getheaders())
    assert packed.getheader("Content-Encoding") == "br"
    assert packed.getheader("Cache-Control") == "public, immutable, max-age=31536000"
    assert whole.getheader("Cache-Control") == "no-cache"
    assert "secure" in str(health.getheader("Set-Cookie")).lower()
    assert not [path for path in (deployed.folder / "client_body").rglob("*") if path.is_file()]
    assert "buffered to a temporary file" not in (deployed.folder / "errors").read_text(encoding="utf-8")


@proxy
@pytest.mark.slow
def test_a_websocket_comes_through_from_our_own_pages_alone(deployed: Proxy) -> None:
    at, stream = ("127.0.0.1", deployed.port), f"wss://{HOST}:{deployed.port}/_stcore/stream"
    assert opens(stream, at, f"https://{HOST}:{deployed.port}")
    assert not opens(stream, at, "https://evil.example")


@proxy
@pytest.mark.slow
def test_another_name_is_not_answered(deployed: Proxy) -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        deployed.ask("/", host="other.example.org")


@proxy
@pytest.mark.slow
def test_every_browser_gets_a_name_of_its_own_and_keeps_it(deployed: Proxy) -> None:
    """By which the proxy knows it again: a class sits behind one address."""
    cookies = [str(deployed.ask("/decisions", Accept="text/html").getheader("Set-Cookie")) for _ in range(2)]
    names = [cookie.partition(";")[0] for cookie in cookies]
    assert len({*names}) == 2 and all(re.fullmatch(f"{VISITOR}=[\\w-]{{16}}", name) for name in names)
    assert all({"httponly", "samesite=lax", "secure"} <= {*cookie.lower().split("; ")} for cookie in cookies)
    assert deployed.ask("/", Accept="text/html", Cookie=names[0]).getheader("Set-Cookie") is None


@proxy
@pytest.mark.slow
def test_a_visitor_keeps_to_one_process_even_while_it_is_down(deployed: Proxy) -> None:
    """The last test of nginx: it ends a process. Where the other answered meanwhile, a session began there whose
    uploads went to the first as soon as it was back."""
    visitors = [f"{VISITOR}=visitor-{n}" for n in range(24)]  # of one address
    assert {deployed.ask("/_stcore/health", Cookie=one).status for one in visitors} == {200}
    deployed.processes[0].terminate()
    deployed.processes[0].wait(PATIENCE)
    answers = [[deployed.ask("/_stcore/health", Cookie=one) for one in visitors] for _ in range(3)]
    statuses = [[answer.status for answer in each] for each in answers]
    assert {*statuses[0]} == {200, 502} and statuses == 3 * [statuses[0]]
    assert 4 <= statuses[0].count(200) <= 20  # a share for each
    assert all(answer.getheader(name) for answer in answers[0] for name in ADDED)
    deployed.restart(0)
    assert {deployed.ask("/_stcore/health", Cookie=one).status for one in visitors} == {200}
