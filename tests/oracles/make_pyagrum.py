"""Make `pyagrum.json.gz`: `python tests/oracles/make_pyagrum.py` writes it anew, `--check` compares with what stands.

Made with pyAgrum 3.3.1 (LazyPropagation) under NumPy 2.4; any Python that has both will do, this project is not needed.
What is asked of each network, the evidence and the two nodes whose joint is wanted, was drawn at random once and is
read from the file; for a network that is not in it yet, it is drawn.
"""

from __future__ import annotations

import gzip
import json
import math
import random
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyagrum as gum

HERE = Path(__file__).parent
STORED = HERE / "pyagrum.json.gz"
NETWORKS = ("asia", "child", "insurance", "alarm", "hailfinder")
QUESTIONS = 16
"""Of each network."""


def plain(level: str) -> str:
    """A level as pyAgrum's reader takes it: `Asy/Patch`, `<5` and the like are no words to it."""
    return re.sub(r"\W", lambda sign: f"_{ord(sign[0]):x}_", level)


def network(name: str) -> tuple[gum.BayesNet, dict[str, str]]:
    """The published network, every row of its tables divided by its sum, and what its levels are called in the file."""
    text = gzip.decompress((HERE / "networks" / f"{name}.bif.gz").read_bytes()).decode("utf-8")
    levels = {level.strip() for listed in re.findall(r"discrete.*?\{(.*?)\}", text) for level in listed.split(",")}
    for level in levels:
        if plain(level) != level:
            text = re.sub(rf"(?<=[\s(,{{]){re.escape(level)}(?=[\s),}}])", plain(level), text)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{name}.bif")
        file.write_text(text, encoding="utf-8")
        net = gum.loadBN(str(file))
    for node in net.names():
        net.cpt(node).normalizeAsCPT()
    return net, {plain(level): level for level in levels}


def drawn(net: gum.BayesNet, called: dict[str, str], rng: random.Random) -> tuple[dict[str, str], list[str]]:
    """Evidence that is possible, every other time of values drawn evenly (which are rare), else from the network; and
    two of the other nodes."""
    names = sorted(net.names())
    while True:
        seen = rng.sample(names, rng.randint(0, len(names) // 3))
        if rng.random() < 0.5:
            evidence = {n: rng.choice(net.variable(n).labels()) for n in seen}
        else:
            case = gum.BNDatabaseGenerator(net)
            case.drawSamples(1)
            row = case.to_pandas().iloc[0]
            evidence = {n: str(row[n]) for n in seen}
        inference = gum.LazyPropagation(net)
        inference.setEvidence(evidence)
        if inference.evidenceProbability() > 0:
            named = {n: called[v] for n, v in evidence.items()}
            return named, rng.sample([n for n in names if n not in evidence], 2)


def answer(net: gum.BayesNet, evidence: dict[str, str], joint: list[str]) -> dict[str, Any]:
    """log P(e), the posterior of every node that is not evidence, and the joint of two of them. P(e) is asked before a
    joint target is set: after it, it may be another number than pyAgrum's own chain rule gives."""
    inference = gum.LazyPropagation(net)
    inference.setEvidence({n: plain(v) for n, v in evidence.items()})
    log_evidence = math.log(inference.evidenceProbability())
    rest = sorted(set(net.names()) - set(evidence))
    p = {n: [float(f"{v:.12g}") for v in inference.posterior(n).toarray()] for n in rest}
    inference = gum.LazyPropagation(net)
    inference.setEvidence({n: plain(v) for n, v in evidence.items()})
    inference.addJointTarget(set(joint))
    both = inference.jointPosterior(set(joint))
    table = both.toarray() if tuple(reversed(both.names)) == tuple(joint) else both.toarray().T
    return {"evidence": evidence, "log_evidence": log_evidence, "p": p, "joint": joint, "p_joint": table.tolist()}


def main(check: bool) -> None:
    """Write the file, or say by how much it differs from what is computed now."""
    stored = json.loads(gzip.decompress(STORED.read_bytes()))["networks"] if STORED.exists() else {}
    made: dict[str, list[dict[str, Any]]] = {}
    gum.initRandom(1)
    for name in NETWORKS:
        (net, called), rng = network(name), random.Random(name)
        asked = [(c["evidence"], c["joint"]) for c in stored.get(name, ())]
        made[name] = [answer(net, *q) for q in asked or [drawn(net, called, rng) for _ in range(QUESTIONS)]]
    if not check:
        text = json.dumps({"pyAgrum": gum.__version__, "networks": made})
        STORED.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
        return
    for name, cases in made.items():
        apart = 0.0
        for one, other in zip(cases, stored[name], strict=True):
            assert one["p"].keys() == other["p"].keys(), name
            pairs = [(one[k], other[k]) for k in ("log_evidence", "p_joint")]
            pairs += [(p, other["p"][n]) for n, p in one["p"].items()]
            apart = max(apart, *(float(np.abs(np.subtract(a, b)).max()) for a, b in pairs))
        print(f"{name}: {len(cases)} questions, answers differ by {apart:.1e} at most")  # noqa: T201


if __name__ == "__main__":
    main("--check" in sys.argv)
