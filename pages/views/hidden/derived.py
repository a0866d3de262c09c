"""The derivation of the page Hidden labels: EM's bound, of the step of the mixture that the player shows."""

from __future__ import annotations

from collections.abc import Mapping

from bayes_engine.errors import TableError
from bayes_engine.language import _
from bayes_engine.workbench.derivation.chains.chain import Chain
from bayes_engine.workbench.derivation.chains.em_bound import em_chain
from pages import active
from pages.active import em_fits as fits
from pages.components.derivations import Offer
from pages.runtime import view_keys as keys
from pages.runtime.state import current


def of_hidden(table: active.FittableTable, part: str) -> Mapping[str, Offer]:
    """EM's bound on the mixture; on another part of the page a way there."""
    names = fits.numeric_features(table)
    nearest = (_("All labels hidden"), lambda s: s.showing(keys.EM_PART.to("all"))) if len(names) > 1 else None

    def make() -> Chain:
        if part != "all":
            raise TableError("the bound is followed on a mixture of Gaussians, where all labels are hidden")
        run = fits.run_in_use(table)
        trace, step = fits.mixture(table, run).trace, current().seen(keys.EM_STEP)
        columns = [table.column(names[j]) for j in run.columns]
        return em_chain(trace, fits.numbers_of(table, run.columns), columns, step if 0 <= step < trace.n_iter else 0)

    return {"em": Offer(make, nearest if part != "all" else None)}
