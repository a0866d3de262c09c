"""What is shipped is safe as it stands: the configuration beside app.py holds wherever the app is started."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from bayes_engine.table.read import MAX_BYTES
from bayes_engine.workbench import launch
from tests.conftest import ROOT, running_app

SHIPPED = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
OTHERS = """
[server]
address = "0.0.0.0"
allowedHosts = []
maxUploadSize = 5000
enableXsrfProtection = false
enableStaticServing = true
[browser]
gatherUsageStats = true
[client]
showErrorDetails = "full"
[logger]
enableRich = true
"""
"""The configuration of some other project, in whose folder the app is started."""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "config.toml").write_text(OTHERS, encoding="utf-8")
    return tmp_path


def options(folder: Path) -> dict[str, Any]:
    """The options that hold for the app when it is started in `folder`."""
    code = (
        "import json; from streamlit import config\n"
        f"config._main_script_path = {str(ROOT / 'app.py')!r}\n"
        "print(json.dumps({name: config.get_option(name) for name in config.get_config_options()}, default=str))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_the_shipped_configuration_holds_in_any_folder(elsewhere: Path) -> None:
    found = options(elsewhere)
    for section in ("server", "browser", "client", "runner", "logger"):
        for name, value in SHIPPED[section].items():
            assert found[f"{section}.{name}"] == value, f"{section}.{name}"


def test_the_shipped_configuration_is_safe() -> None:
    server = SHIPPED["server"]
    assert server["address"] == "127.0.0.1"
    assert server["allowedHosts"] == ["localhost", "127.0.0.1"]
    assert server["enableXsrfProtection"] is True and server["enableCORS"] is True
    assert server["enableStaticServing"] is False
    assert SHIPPED["client"]["showErrorDetails"] == "none" and SHIPPED["client"]["showErrorLinks"] is False
    assert SHIPPED["browser"]["gatherUsageStats"] is False
    assert SHIPPED["logger"]["enableRich"] is False  # it prints exceptions past the log, with all that is in them


def test_the_upload_limit_is_one_setting() -> None:
    assert MAX_BYTES == 1_000_000 * SHIPPED["server"]["maxUploadSize"] == 50_000_000


def test_a_session_that_was_left_is_gone_within_150_seconds() -> None:
    from pages.runtime.sessions import EVERY

    server = SHIPPED["server"]
    assert 2 * server["websocketPingInterval"] + server["disconnectedSessionTTL"] + EVERY < 150


@pytest.mark.slow
def test_a_server_started_elsewhere_answers_this_machine_only(elsewhere: Path) -> None:
    with running_app(elsewhere) as app:
        port = app.url.rsplit(":", 1)[1]
        assert app.url in app.log.read_text(encoding="utf-8")
        listening = Path("/proc/net/tcp")
        if listening.exists():
            bound = [line.split()[1] for line in listening.read_text(encoding="ascii").splitlines()[1:]
                     if line.split()[3] == "0A"]  # fmt: skip
            assert [at for at in bound if at.endswith(f":{int(port):04X}")] == [f"0100007F:{int(port):04X}"]
        stream = f"ws://127.0.0.1:{port}/_stcore/stream"
        with connect(stream, proxy=None):
            pass
        for header in ({"Origin": "http://evil.example"}, {"Origin": f"http://evil.example:{port}"}):
            with pytest.raises(InvalidStatus, match="403"):
                connect(stream, additional_headers=header, proxy=None).close()


@pytest.mark.parametrize(("address", "seconds"), [(None, launch.FIRST_PAGE), ("127.0.0.2", launch.FIRST_PAGES)])
def test_workers_are_started_once_the_first_pages_are_there(
    address: str | None, seconds: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrapped: list[Any] = []
    waits: list[float] = []
    engine: Future[None] = Future()
    engine.set_result(None)

    def timer(interval: float, _work: object) -> Any:
        waits.append(interval)
        return SimpleNamespace(start=lambda: None)

    monkeypatch.setattr(launch.private, "wrap_application", wrapped.append)
    monkeypatch.setattr(launch.loading, "imported", lambda *_names: engine)
    monkeypatch.setattr(launch, "Timer", timer)
    monkeypatch.setattr(launch.CLASS, "new_key", lambda: "KEY")
    launch.put_in_front(address)
    wrapped[0](None, lambda: ("http", 8501)).opened()
    assert waits == [seconds] and (address is None) == (capsys.readouterr().out == "")
