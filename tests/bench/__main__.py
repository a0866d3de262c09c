"""All benchmarks in one go, each with its table, and all goals together at the end.

    python -m tests.bench [--minutes 40] [--write | --dry] [parts of names]

What a visitor feels comes first: the start beside a bare Streamlit app and the import beside scikit-learn, a click on
eleven pages, 30 and 100 visitors, a long CSV beside pandas. Each benchmark runs in processes of its own, with one
thread of BLAS and with compiled files. How far it is goes to the error output. One that fails, or takes longer than its
limit, does not end the others; a peer that is not installed is named and left out; what no time is left for is named,
too. A run of all of them, also one that is called off, writes the goals with its date and the machine into
`.github/BENCHMARKS.md`, unless `--dry`; one of parts only with `--write`. It ends with 0 where no goal is missed and
none has failed; a peer that is left out is neither.
"""

from __future__ import annotations

import argparse
import datetime as dt
import mmap
import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from tests.bench.goals import HOLDS, MISSED, Goal, goal_in

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / ".github" / "BENCHMARKS.md"
BEGIN, END = "<!-- measured by python -m tests.bench -->", "<!-- end -->"
MINUTES = 40.0
IDLE = 1.0
"""Seconds in which memory is left alone to see whether the host takes it away."""
GRACE = 10.0
"""Seconds in which a benchmark that is over its limit may end itself."""
FIRST: dict[str, tuple[float, tuple[str, ...]]] = {
    "bench_start": (4.0, ("2",)),
    "bench_rerun": (5.0, ()),
    "bench_load": (9.0, ("20",)),
    "bench_read": (7.0, ()),
}
"""What a visitor feels: minutes at most, and arguments."""
OTHERS: dict[str, tuple[float, tuple[str, ...]]] = {
    "bench_faults": (6.0, ()),
    "bench_naive_bayes": (2.0, ()),
    "bench_counted": (4.0, ()),
    "bench_gaussian": (2.0, ()),
    "bench_mixture": (2.0, ()),
    "bench_text": (2.0, ()),
    "bench_network": (2.0, ()),
    "bench_one_dependence": (4.0, ()),
    "bench_gibbs": (2.0, ("4",)),
    "bench_search": (4.0, ("5",)),
    "bench_scale": (3.0, ("1000000",)),
    "bench_classroom": (2.0, ()),
    "bench_class_question": (2.0, ()),
    "bench_classify": (6.0, ()),
    "bench_live": (2.0, ("2",)),
    "bench_deploy": (3.0, ("5",)),
    "bench_hostile": (3.0, ()),
    "bench_long": (5.0, ("30000",)),
}
LEFT_OUT = "left out"
"""What a line says that names a peer which is not there."""
WITHOUT_PEER = ("Skipped", "ModuleNotFoundError", "no peer", "not measured")


class Ran(NamedTuple):
    """What came of a benchmark: its goals, why it has none ("" where it ended well), whether that is a failure, the
    seconds it took, and the megabytes that the largest of its processes held at most (0 where that is not known)."""

    name: str
    goals: list[Goal]
    why: str
    failed: bool
    seconds: float
    megabytes: float = 0.0


def say(what: str) -> None:
    """How far it is."""
    print(what, file=sys.stderr, flush=True)  # noqa: T201


def run(name: str, arguments: Sequence[str], limit: float) -> Ran:
    """Run one, its lines printed as they come; ended with all it started after so many seconds."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began, goals, notes, over = time.monotonic(), list[Goal](), list[str](), False
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", f"tests.bench.{name}", *arguments], cwd=HERE.parents[1], env=environment,
            stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8", errors="replace",
            start_new_session=True,
        )  # fmt: skip

        def read() -> None:
            assert process.stdout is not None
            with process.stdout as told:
                for line in told:
                    print(line, end="", flush=True)  # noqa: T201
                    if goal := goal_in(line):
                        goals.append(goal)
                    elif LEFT_OUT in line:
                        notes.append(line.strip())

        reader = threading.Thread(target=read, daemon=True)  # what a bench has started may hold the pipe for ever
        reader.start()
        held = None
        try:
            held = _ended(process, limit)
            if held is None:
                over = True
                _end(process, signal.SIGTERM)
                held = _ended(process, GRACE)
        finally:  # also where the run is called off: nothing it started stays
            _end(process, signal.SIGKILL)
            code = process.wait()
            reader.join(GRACE)
        errors.seek(0)
        said = errors.read()
    lines = said.strip().splitlines() or [""]
    seconds = time.monotonic() - began
    if over:
        return Ran(name, goals, f"not done after {limit / 60:.1f} minutes", True, seconds, held or 0.0)
    if code and any(sign in lines[-1] for sign in WITHOUT_PEER):
        why = lines[-1] if LEFT_OUT in lines[-1] else f"{LEFT_OUT}: {lines[-1]}"
        return Ran(name, goals, why, False, seconds, held or 0.0)
    missed = any(not goal.holds for goal in goals)
    said_so = any("failed, " in goal.what or "in the log" in goal.what for goal in goals if not goal.holds)
    if code and (not missed or (not said_so and any(line.startswith("Traceback") for line in lines))):
        say(said[-4000:])
        return Ran(name, goals, f"failed: {lines[-1] or f'exit code {code}'}"[:300], True, seconds, held or 0.0)
    notes += [line.strip() for line in lines if LEFT_OUT in line]
    return Ran(
        name, goals or [Goal(f"{name}: all its own assertions", True)], "; ".join(notes), False, seconds, held or 0.0
    )


def _ended(process: subprocess.Popen[str], seconds: float) -> float | None:
    """Megabytes that it, or one it waited for, held at most, once it has ended; None where so many seconds are over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
        time.sleep(0.05)
    return None


def _end(process: subprocess.Popen[str], how: int) -> None:
    """It and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, how)


def tried_to_run(name: str, arguments: Sequence[str], limit: float) -> Ran:
    """The same; where that itself fails, it is told."""
    began = time.monotonic()
    try:
        return run(name, arguments, limit)
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        return Ran(name, [], f"failed: {type(error).__name__} {error}"[:300], True, time.monotonic() - began)


def machine() -> str:
    """The limits of the machine, and the versions of what is compared."""
    processor, memory = platform.processor() or platform.machine(), ""
    cpuinfo, meminfo = Path("/proc/cpuinfo"), Path("/proc/meminfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        processor = names[0] if names else processor
    if meminfo.exists():
        memory = f", {int(meminfo.read_text().split('MemTotal:')[1].split()[0]) / 2**20:.0f} GiB"
    versions = []
    for package in ("numpy", "scipy", "pandas", "scikit-learn", "pyarrow", "streamlit", "pyagrum"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"{package} not installed")
    cores = os.cpu_count() or 1
    return (
        f"{cores} core{'s' * (cores > 1)} ({processor}){memory}, one thread of BLAS; {platform.system()}; Python "
        f"{platform.python_version()}, {', '.join(versions)}"
    )


def _memory(one: Ran) -> str:
    return f"memory of its largest process, at most: {one.megabytes:.0f} MB"


def summary(ran: Sequence[Ran]) -> list[str]:
    """All goals together."""
    lines = []
    for one in ran:
        lines += [f"{HOLDS if goal.holds else MISSED}  {one.name.removeprefix('bench_'):15} {goal.what}"
                  for goal in one.goals]  # fmt: skip
        if one.megabytes:
            lines.append(f"{'-':8}{one.name.removeprefix('bench_'):15} {_memory(one)}")
        if one.why:
            lines.append(f"{'FAILED' if one.failed else '-':8}{one.name.removeprefix('bench_'):15} {one.why}")
    return lines


class Quiet(NamedTuple):
    """What tells how quiet the machine is: its load, and milliseconds to reach 8 MB that were left alone for `IDLE`
    seconds, which are less than 1 unless the host had taken them."""

    load: float
    idle_memory: float

    @classmethod
    def now(cls) -> Quiet:
        with mmap.mmap(-1, 2**23) as memory:
            memory[:: mmap.PAGESIZE] = bytes(2**23 // mmap.PAGESIZE)
            time.sleep(IDLE)
            began = time.perf_counter()
            memory[:: mmap.PAGESIZE]
            return cls(os.getloadavg()[0], 1000 * (time.perf_counter() - began))


def section(ran: Sequence[Ran], when: str, before: Quiet, after: Quiet) -> str:
    """The goals as a table of Markdown."""

    def row(name: str, what: str, holds: str) -> str:
        return f"| `{name}` | {what.replace('|', chr(92) + '|')} | {holds} |"

    rows = []
    for one in ran:
        rows += [row(one.name, goal.what, "yes" if goal.holds else "**no**") for goal in one.goals]
        if one.megabytes:
            rows.append(row(one.name, _memory(one), "–"))
        if one.why:
            rows.append(row(one.name, one.why, "**failed**" if one.failed else "–"))
    held, of = sum(g.holds for one in ran for g in one.goals), sum(len(one.goals) for one in ran)
    head = (
        f"{when}, on {machine()}. Load of the machine {before.load:.1f} before and {after.load:.1f} after; 8 MB left "
        f"alone for a second took {before.idle_memory:.1f} and {after.idle_memory:.1f} ms to reach (below 1 where the "
        f"host takes no memory away). {sum(one.seconds for one in ran) / 60:.0f} minutes. {held} of {of} goals hold."
    )
    return "\n".join([head, "", "| benchmark | goal: measured | holds |", "| --- | --- | --- |", *rows])


def written(page: str, table: str) -> str:
    """The page with this table in the place of the last one."""
    above, _, rest = page.partition(BEGIN)
    below = rest.partition(END)[2]
    return f"{above}{BEGIN}\n\n{table}\n\n{END}{below}"


def chosen(parts: Sequence[str]) -> dict[str, tuple[float, tuple[str, ...]]]:
    """Those whose names have one of the parts, `first` for what a visitor feels, or all; whatever is new is last."""
    known = FIRST | OTHERS
    new = {file.stem: (5.0, ()) for file in sorted(HERE.glob("bench_*.py")) if file.stem not in known}
    named = {name: how for name, how in (known | new).items() if not parts or any(part in name for part in parts)}
    return (FIRST | named) if "first" in parts else named


def main(arguments: Sequence[str]) -> int:
    """Run them; how many goals are missed and benchmarks have failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("parts", nargs="*", help="parts of names; `first` for what a visitor feels; none for all")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for all together (%(default)s)")
    parser.add_argument("--write", action="store_true", help="write the table of a run of parts, too")
    parser.add_argument("--dry", action="store_true", help="write no table")
    parser.add_argument("--list", action="store_true", help="name them, with the minutes each may take")
    asked = parser.parse_args(arguments)
    some = chosen(asked.parts)
    if asked.list:
        print(*(f"{name:22} {minutes:3.0f} min  {' '.join(own)}" for name, (minutes, own) in some.items()), sep="\n")  # noqa: T201
        return 0
    when, before = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC"), Quiet.now()
    print(f"{when}; {machine()}; load {before.load:.1f}; idle memory {before.idle_memory:.1f} ms", flush=True)  # noqa: T201
    began, ran = time.monotonic(), list[Ran]()
    try:
        for k, (name, (minutes, own)) in enumerate(some.items(), 1):
            left = 60 * asked.minutes - (time.monotonic() - began)
            if left < GRACE:
                ran.append(Ran(name, [], f"not begun: the {asked.minutes:.0f} minutes are over", True, 0.0))
                continue
            say(f"[{k}/{len(some)}] {name}: at most {min(60 * minutes, left) / 60:.1f} min; {left / 60:.1f} min left")
            print(f"\n== {name}", flush=True)  # noqa: T201
            ran.append(tried_to_run(name, own, min(60 * minutes, left)))
            goals, why = ran[-1].goals, f"; {ran[-1].why}" if ran[-1].why else ""
            missed = sum(not goal.holds for goal in goals)
            say(f"[{k}/{len(some)}] {name}: {ran[-1].seconds / 60:.1f} min, {len(goals)} goals, {missed} missed{why}")
    except BaseException:
        ran += [Ran(name, [], "not done: the run was called off", True, 0.0) for name in [*some][len(ran) :]]
        raise
    finally:
        print("\n== all goals", *summary(ran), sep="\n")  # noqa: T201
        failed = [one.name for one in ran if one.failed]
        missed = sum(not goal.holds for one in ran for goal in one.goals)
        minutes = (time.monotonic() - began) / 60
        print(f"\nmissed: {missed}; failed: {', '.join(failed) or 'none'}; {minutes:.1f} minutes", flush=True)  # noqa: T201
        if (asked.write or not asked.parts) and not asked.dry:
            table = section(ran, when, before, Quiet.now())
            PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), table), encoding="utf-8")
            say(f"the table is in {PAGE}")
    return missed + len(failed)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # the table is written then, too
    sys.exit(min(main(sys.argv[1:]), 100))
