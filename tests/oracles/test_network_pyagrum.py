"""pyAgrum 3.3.1's exact posteriors (LazyPropagation) on five published networks with random evidence, half of it rare.

`pyagrum.json.gz` holds what pyAgrum gave. The networks, `networks/*.bif.gz`, are unchanged from the repository of R's
bnlearn (bnlearn.com/bnrepository, CC BY-SA 3.0): asia (Lauritzen & Spiegelhalter 1988), child (Spiegelhalter & Cowell
1992), insurance (Binder et al. 1997), alarm (Beinlich et al. 1989), hailfinder (Abramson et al. 1996). Their printed
rows do not all sum to 1; both sides divide every row by its sum, we in `CPT.normalized`, pyAgrum in `normalizeAsCPT`.
P(e) is asked of pyAgrum before a joint target is set: after it, it may be another number than its own chain rule gives.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from bayes_engine.exchange import read_bif, read_xmlbif, write_bif, write_xmlbif
from bayes_engine.inference.junction_tree import JunctionTree

HERE = Path(__file__).parent
CASES = json.loads(gzip.decompress((HERE / "pyagrum.json.gz").read_bytes()))["networks"]


@pytest.mark.parametrize("name", CASES)
def test_posteriors(name: str) -> None:
    network = read_bif(HERE / "networks" / f"{name}.bif.gz")
    tree = JunctionTree(network)
    places = np.stack([network.places(case["evidence"]) for case in CASES[name]])
    found = tree.marginals(places)
    assert found.log_evidence.min() < np.log(1e-4)  # some of it is rare
    for i, case in enumerate(CASES[name]):
        assert found.log_evidence[i] == pytest.approx(case["log_evidence"], abs=1e-7)
        for node, p in case["p"].items():
            np.testing.assert_allclose(found.p[node][i], p, rtol=0, atol=1e-7, err_msg=node)
        joint = tree.joint(case["joint"], places[i : i + 1])[0]
        np.testing.assert_allclose(joint, case["p_joint"], rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_files_round_trip(name: str) -> None:
    network = read_bif(HERE / "networks" / f"{name}.bif.gz")
    for again in (read_bif(write_bif(network)), read_xmlbif(write_xmlbif(network))):
        assert again.graph == network.graph
        for ours, theirs in zip(network.cpts, again.cpts, strict=True):
            assert (ours.variable, ours.parents) == (theirs.variable, theirs.parents)
            np.testing.assert_array_equal(ours.p, theirs.p)
