"""The running app. Tests in tests/browser are marked `browser`, those in tests/bench `bench`."""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Coroutine, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest

from tests.ports import free_port

os.environ.setdefault("OMP_NUM_THREADS", "1")
"""There are as many processes as cores already: BLAS with threads of its own would wait, spinning, for a core that is
taken. Read when NumPy is imported, and by the servers that tests start."""
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
"""What one process has compiled the others, and the servers, need not compile again: half of collecting the tests."""
os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parents[1] / ".pytest_cache" / "kept")
"""Nor what one server has packed and cut out of the fonts, in ten seconds of a processor: by default each looks for it
in the home that a test gives it."""

collect_ignore_glob = ["oracles/make_*.py"]
"""What makes the stored oracles: it runs where the libraries are installed that they come from."""


class NeedsExtra:
    """Where only the library is installed (`.ci/lowest.txt`), a test that imports what the extras bring is skipped. The
    last finder that is asked: it meets only modules that are not there."""

    modules = (
        "streamlit", "uvicorn", "starlette", "websockets", "plotly", "python_calamine", "chardet", "brotli", "deflate",
        "fontTools", "segno", "babel", "hatchling", "openpyxl", "playwright", "polars", "pyarrow", "zxingcpp",
    )  # fmt: skip

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> None:
        if name in cls.modules:
            pytest.skip(f"{name} is not installed", allow_module_level=True)


sys.meta_path.append(NeedsExtra)  # type: ignore[arg-type]


def at_least(package: str, *wanted: int) -> bool:
    """Whether the installed version of a package is this one or a newer one."""
    return tuple(map(int, version(package).split(".")[: len(wanted)])) >= wanted


ROOT = Path(__file__).parents[1]
CHROMIUM_FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
]  # fmt: skip

PATIENCE = 90.0
"""Seconds that whatever must come is waited for. A shared machine may be slow; what is wrong stays wrong."""
slowly = partial(pytest.param, marks=pytest.mark.slow)
"""Parameters of one case more of the same, which runs apart (`pytest -m slow`)."""


def crossed(*axes: Iterable[Any]) -> list[Any]:
    """Every combination of the axes' values. By default run as many as the longest axis has values, so that each value
    is met; the others run apart (`slowly`)."""
    values = [tuple(axis) for axis in axes]
    met = {tuple(k % len(axis) for axis in values) for k in range(max(map(len, values)))}
    return [
        (pytest.param if at in met else slowly)(*(axis[i] for axis, i in zip(values, at, strict=True)))
        for at in product(*(range(len(axis)) for axis in values))
    ]


def one_in(n: int, cases: Iterable[Any]) -> list[Any]:
    """Of cases that are much alike the first and every n-th after it by default; the others run apart (`slowly`)."""
    return [
        (slowly if i % n else pytest.param)(*(case if isinstance(case, tuple) else [case]))
        for i, case in enumerate(cases)
    ]


every_other = partial(one_in, 2)


READ_SOURCES = ("tests/test_architecture", "tests/test_locale", "tests/test_surfaces", "tests/unit/test_view_keys")
"""What the tests' names begin with that read all sources of the product."""

WAITING = ("tests/browser/", "tests/unit/test_workers", "tests/unit/test_launch")
"""What the tests' names begin with that start a browser, a server or worker processes, and wait for them."""

THOROUGH = os.environ.get("BAYES_THOROUGH") == "1"
"""Whether laws are tried on all their examples: `BAYES_THOROUGH=1 pytest -m slow`, of which they are then a part."""


def some(n: int) -> int:
    """How many of `n` random examples are tried: in a thorough run all, by default an eighth, but no fewer than ten."""
    return n if THOROUGH else min(n, max(10, n // 8))


def examples(n: int, usually: int | None = None) -> hypothesis.settings:
    """The settings of a law that takes longer, or needs more, than a hundred examples; `usually` how many are tried by
    default where each takes long."""
    return hypothesis.settings(max_examples=some(n) if THOROUGH or usually is None else usually)


@contextmanager
def refusable() -> Iterator[None]:
    """A law of rows that are forgotten: an example in which too few digits would be left is none."""
    from bayes_engine.errors import PrecisionLost  # not before the threads of NumPy are set

    try:
        yield
    except PrecisionLost:
        hypothesis.reject()


def left_out(n: int) -> range:
    """Which of `n` rows are left out in turn, each with a fit to the others: in a thorough run every one, by default
    three or four."""
    return range(0, n, 1 if THOROUGH else max(1, n // 3))


hypothesis.settings.register_profile("any", deadline=None, max_examples=some(100))
hypothesis.settings.register_profile("ci", hypothesis.settings.get_profile("any"), derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "any")


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes give a test no name: packed ones hold the second they were packed in, and every process must find the same
    tests."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process more than there are cores: the one with the browser waits for half its time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file goes to one process as a whole. What waits goes to one together, for the browser tests share a server and
    a browser, and two that wait at once would leave a core idle; so does what reads the sources, which takes two
    seconds to parse."""
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(WAITING):
                return "waiting"
            return "sources" if nodeid.startswith(READ_SOURCES) else str(super()._split_scope(nodeid))

    return Together(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Benchmarks are not even imported where none is asked for."""
    asked = config.option.markexpr.replace("not bench", "")
    return True if collection_path == ROOT / "tests/bench" and asked and "bench" not in asked else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Modules and tests stay until the end: the garbage collector need not look through them again and again, neither
    while they become more nor later."""
    gc.disable()
    try:
        _compile_own_part(session)
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
        gc.enable()


def _compile_own_part(session: pytest.Session) -> None:
    """Each process first imports a part of the tests of its own, so that it rewrites the assertions of that part alone:
    those of the others it then finds compiled."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    own, of = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for file in sorted((ROOT / "tests").rglob("test_*.py"))[own::of]:
        with suppress(Exception, pytest.skip.Exception):  # collecting it says what is wrong
            importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests, those first that wait for processes of their own: the others fill the time beside them."""
    items.sort(key=lambda item: not item.nodeid.startswith(WAITING))
    first: dict[type, object] = {}
    verdicts: dict[int, bool] = {}
    for item in items:
        for room in ("browser", "bench"):
            if item.nodeid.startswith(f"tests/{room}/"):
                item.add_marker(room)
        if getattr(item, "originalname", "") == "test_check_estimator":
            estimator = item.callspec.params["estimator"]  # type: ignore[attr-defined]
            if id(estimator) not in verdicts:
                verdicts[id(estimator)] = repr(first.setdefault(type(estimator), estimator)) == repr(estimator)
            if not verdicts[id(estimator)]:  # scikit-learn's checks of one configuration a class; the others run apart
                item.add_marker("slow")
        if THOROUGH and getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("slow")


STACK = 8
"""So many calls of a thread are told; one that waits for work is in no more than four or five."""


class App(NamedTuple):
    """A running server: its address, what it has written to its console, and its process where it is asked by a signal
    what its threads do."""

    url: str
    log: Path
    process: int = 0

    def threads(self) -> list[str]:
        """What each of its threads does, a line each; of those that wait for work nothing."""
        if not self.process or not hasattr(signal, "SIGUSR1"):
            return []
        written = self.log.stat().st_size
        os.kill(self.process, signal.SIGUSR1)
        time.sleep(0.5)
        stacks = self.log.read_bytes()[written:].decode("utf-8", "replace").split("\n\n")
        calls = [re.findall(r'([^"/]+)", line (\d+) in (\w+)', stack)[:STACK] for stack in stacks]
        return [" < ".join(f"{file}:{line} {name}" for file, line, name in own) for own in calls if len(own) == STACK]


@contextmanager
def running_app(folder: Path, script: Path = ROOT / "app.py", **environment: str) -> Iterator[App]:
    """`streamlit run` on a free port in a process of its own, started in `folder` and stopped at the end. It saves no
    workspace by itself unless the environment says so."""
    port = free_port()
    log = folder / f"server-{port}.log"
    flags = ["--server.headless", "true", "--server.port", str(port)]
    with log.open("wb") as out, subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), *flags],
        cwd=folder, env={**os.environ, "BAYES_WORKBENCH_AUTOSAVE": "0", **environment},
        stdout=out, stderr=subprocess.STDOUT,
    ) as process, ended(process):  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        _wait_for_health(url, process, log)
        yield App(url, log)


@pytest.fixture(scope="session")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app, started for a classroom; it saves no workspace. One for all tests of a process: it takes ten seconds to
    make the parts of the fonts that it sends."""
    from tests.classrooms import classroom  # which imports this file

    with classroom(tmp_path_factory.mktemp("room"), "127.0.0.1") as opened:
        yield opened


def finished(work: Coroutine[Any, Any, Any], within: float | None = PATIENCE) -> Any:
    """What a coroutine comes to, run in a thread of its own: in this one the browser's event loop may still be
    running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asyncio.wait_for(work, within)).result()


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """The process is ended with the block, by force where it does not listen."""
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def _wait_for_health(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the app did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")
