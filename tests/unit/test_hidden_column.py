"""A column learned back as a hidden node: its states against the column, whatever their order."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from bayes_engine import BayesianNetwork
from bayes_engine.datasets import load_dataset
from bayes_engine.errors import ParameterError
from bayes_engine.workbench.derivation.hidden_column import hiding_parent, learn_back


def melons() -> pd.DataFrame:
    data = load_dataset("watermelon2")
    return data.frame[[v.name for v in data.schema if v.role in ("feature", "target")]]


@pytest.mark.slow
def test_the_states_are_matched_as_well_as_any_order_of_them() -> None:
    table = melons()
    arcs = hiding_parent("脐部", [name for name in table if name != "脐部"])
    learned = learn_back(BayesianNetwork(arcs, hidden={"脐部": 3}, n_init=5, random_state=0), table, "脐部")
    assert learned.rows == len(table) and learned.crossed.sum(axis=0).tolist() == [
        int((table["脐部"] == level).sum()) for level in learned.levels
    ]
    best = max(sum(learned.crossed[k, s] for s, k in enumerate(order)) for order in permutations(range(3)))
    assert learned.right == best >= learned.commonest
    assert learned.p.sum() == pytest.approx(1.0)


@pytest.mark.slow
def test_clear_groups_are_found_again() -> None:
    rng = np.random.default_rng(5)
    hidden = rng.integers(3, size=600)
    letters = np.array(["a", "b", "c"])
    drawn = [np.where(rng.random(600) < 0.9, hidden, rng.integers(3, size=600)) for _ in range(5)]
    columns = {f"x{j}": letters[codes] for j, codes in enumerate(drawn)}
    table = pd.DataFrame(columns | {"h": letters[hidden]})
    model = BayesianNetwork(hiding_parent("h", columns), hidden={"h": 3}, n_init=10, random_state=0)
    learned = learn_back(model, table, "h")
    assert learned.right > 0.97 * 600
    order = [learned.state_of[s] for s in range(3)]
    assert learned.p[order] == pytest.approx(np.bincount(hidden) / 600, abs=0.03)


def test_a_network_that_hides_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="hides no node"):
        learn_back(BayesianNetwork(), melons(), "脐部")
