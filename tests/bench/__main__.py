"""All benchmarks in one go, each with its table: `python -m tests.bench [parts of names]`.

Each runs in a process of its own, with one thread of BLAS and with compiled files. One whose peer is not installed is
named and left out; one that misses a bound, or fails otherwise, is named at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent


def main(parts: Sequence[str]) -> int:
    """Run those whose names have one of the parts, or all; how many have failed."""
    failed = []
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for file in sorted(HERE.glob("bench_*.py")):
        if parts and not any(part in file.stem for part in parts):
            continue
        print(f"\n== {file.stem}", flush=True)  # noqa: T201
        ran = subprocess.run(
            [sys.executable, "-m", f"tests.bench.{file.stem}"],
            check=False, cwd=HERE.parents[1], env=environment, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        last = (ran.stderr.strip().splitlines() or [""])[-1]
        if ran.returncode and any(sign in last for sign in ("Skipped", "ModuleNotFoundError", "no peer")):
            print(f"left out: {last}", flush=True)  # noqa: T201
        elif ran.returncode:
            print(ran.stderr, flush=True)  # noqa: T201
            failed.append(file.stem)
    print(f"\nfailed: {', '.join(failed) or 'none'}")  # noqa: T201
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
