"""A network on which a chain that draws one node at a time stays for ever where it began."""

from __future__ import annotations

from bayes_engine.factors.network import CPT, Network
from bayes_engine.table.schema import Variable


def stuck_network(noise: float = 0.0) -> Network:
    """Two coins and whether they fell alike: given that they did, turning one of them alone is impossible.

    P(first = heads) = 0.7, the second coin is fair; 'equal' is wrong with probability `noise`. Without noise a chain
    that draws one coin at a time stays for ever in one of two communicating classes; with a little it is slow.
    """
    first, second = (Variable(name, "categorical", ("tails", "heads")) for name in ("first", "second"))
    equal = Variable("equal", "categorical", ("no", "yes"))
    alike, unlike = [noise, 1.0 - noise], [1.0 - noise, noise]
    return Network(
        [
            CPT(first, (), [0.3, 0.7]),
            CPT(second, (), [0.5, 0.5]),
            CPT(equal, (first, second), [[alike, unlike], [unlike, alike]]),
        ]
    )
