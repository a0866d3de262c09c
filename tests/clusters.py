"""A scheduler and workers of `distributed`, processes that speak TCP on loopback, for the tests of `client=`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

GATE = """
import os, time
from pathlib import Path
from bayes_engine.scale import sources

folder = Path(os.environ["BAYES_GATE"])
read = vars(sources).setdefault("_without_gate", sources._row_group)  # a preload is loaded more than once

def gated(path, metadata, group, *rest):
    wanted = (folder / "at").read_text() if (folder / "at").exists() else ""
    if wanted == f"{Path(path).name} {group}":
        try:
            with open(folder / "reached", "x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            pass
        else:
            while True:
                time.sleep(60)
    return read(path, metadata, group, *rest)

sources._row_group = gated
"""
"""What a worker loads first: the first to come to the row group that the file `at` names writes its process into the
file `reached`, and stays there until it is killed."""


class Cluster:
    """A scheduler, its workers, and a client of it."""

    def __init__(self, folder: Path, **settings: str) -> None:
        pytest.importorskip("distributed", reason="distributed is not installed: pip install -e '.[dask]'")
        self.folder = folder
        folder.mkdir()
        (folder / "gate.py").write_text(GATE)
        self.environment = os.environ | {"BAYES_GATE": str(folder), "OMP_NUM_THREADS": "1"} | settings
        self.processes: list[subprocess.Popen[bytes]] = []
        self.place = folder / "scheduler.json"
        self._run("scheduler", "--scheduler-file", str(self.place), "--port", "0", "--host", "127.0.0.1")

    def _run(self, part: str, *arguments: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.dask_{part}", "--no-dashboard", *arguments]
        with (self.folder / f"{part}{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log)
        self.processes.append(process)

    def worker(self) -> None:
        """A worker more: a process with one thread, which nobody restarts."""
        self._run(
            "worker", "--scheduler-file", str(self.place), "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1",
            "--local-directory", str(self.folder), "--preload", str(self.folder / "gate.py"),
        )  # fmt: skip

    def client(self, workers: int) -> Any:
        """A client, once so many workers are there."""
        from distributed import Client

        for _ in range(2400):
            if self.place.exists() and self.place.stat().st_size:
                break
            time.sleep(0.05)
        client = Client(scheduler_file=str(self.place), timeout=120)
        client.wait_for_workers(workers, timeout=120)
        return client

    def gate(self, file: Path, group: int) -> None:
        """The next worker that comes to this row group stays there."""
        (self.folder / "reached").unlink(missing_ok=True)
        (self.folder / "at").write_text(f"{file.name} {group}")

    def forget_gate(self) -> None:
        """No worker stays anywhere, and none has."""
        (self.folder / "reached").unlink(missing_ok=True)
        (self.folder / "at").unlink(missing_ok=True)

    def kill_at_gate(self) -> bool:
        """Kill the worker that stands there; whether one did."""
        reached = self.folder / "reached"
        if not (reached.exists() and reached.read_text()):
            return False
        os.kill(int(reached.read_text()), signal.SIGKILL)
        return True


@contextmanager
def cluster(folder: Path, workers: int = 2, **settings: str) -> Iterator[tuple[Cluster, Any]]:
    """A cluster of so many workers, and its client; all are gone afterwards."""
    made = Cluster(folder, **settings)
    client = None
    try:
        for _ in range(workers):
            made.worker()
        client = made.client(workers)
        yield made, client
    finally:
        if client is not None:
            client.close()
        for process in reversed(made.processes):
            process.kill()
            process.wait()
