"""What .github/DEPLOY.md says, run: its command, and its nginx before two processes of the app."""

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
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.classrooms import COMMAND
from tests.conftest import PATIENCE, ROOT, App, ended
from tests.ports import free_port

HOST = "bayes.example.org"
ENGLISH, CHINESE = ROOT / ".github" / "DEPLOY.md", ROOT / ".github" / "DEPLOY.zh.md"
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


@contextmanager
def served(
    folder: Path, command: list[str], program: list[str] = COMMAND, port: int = 0
) -> Iterator[tuple[App, subprocess.Popen[bytes]]]:
    """A command of the page; anything but its port stands (0: a free one)."""
    port, log = port or free_port(), folder / f"{time.monotonic_ns()}.log"
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


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Proxy(NamedTuple):
    """nginx before two processes of the app."""

    port: int
    folder: Path
    apps: list[App]
    processes: list[subprocess.Popen[bytes]]
    stack: ExitStack

    def restart(self, which: int) -> None:
        """Start one of the processes again that has ended."""
        port = int(self.apps[which].url.rpartition(":")[2])
        self.apps[which], self.processes[which] = self.stack.enter_context(
            served(self.folder, host_command(), port=port)
        )

    def ask(self, path: str, method: str = "GET", host: str = HOST, **headers: str) -> http.client.HTTPResponse:
        line = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE, context=trusting())
        body = b"x" * int(headers.pop("size", "0")) or None
        with closing(line):
            line.request(method, path, body, {"Host": host, **{k.replace("_", "-"): v for k, v in headers.items()}})
            with line.getresponse() as answer:
                answer.read()
                return answer


@contextmanager
def proxied(folder: Path, processes: int = 2) -> Iterator[Proxy]:
    """The configuration as it stands, but for its ports and where its certificate lies."""
    key, certificate, port = folder / "bayes.key", folder / "bayes.pem", free_port()
    made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
    subprocess.run(
        [str(OPENSSL), *made, "-subj", f"/CN={HOST}", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    with ExitStack() as stack:
        apps = [stack.enter_context(served(folder, host_command())) for _ in range(processes)]
        text = block("nginx").replace("/etc/ssl/", f"{folder}/").replace("listen 443 ", f"listen 127.0.0.1:{port} ")
        for written, (app, _) in zip(("127.0.0.1:8501", "127.0.0.1:8502"), cycle(apps), strict=False):
            assert written in text
            text = text.replace(written, app.url.removeprefix("http://"))
        temporary = "".join(
            f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        other = f"ssl_certificate {certificate}; ssl_certificate_key {key}; return 444;"
        (folder / "nginx.conf").write_text(
            f"daemon off; pid {folder}/pid; error_log {folder}/errors warn; events {{}}\n"
            f"http {{ access_log off; {temporary}\n"
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
        yield Proxy(port, folder, [app for app, _ in apps], [process for _, process in apps], stack)
