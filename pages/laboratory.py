from pages.shell.router import boot

boot()


from bayes_engine.language import _
from pages.runtime import view_keys as keys
from pages.runtime.state import choose
from pages.shell.frame import title
from pages.views.laboratory import base_rates, likelihood, sandbox, smoothing, underflow

TABS = {
    "densities": (_("Known densities"), sandbox.show),
    "rates": (_("Base rates"), base_rates.show),
    "likelihood": (_("Likelihood"), likelihood.show),
    "smoothing": (_("Smoothing"), smoothing.show),
    "underflow": (_("Underflow"), underflow.show),
}
title()
tab = choose(_("Experiment"), keys.LAB_TAB, {tab: words for tab, (words, _show) in TABS.items()}, titled=False)
TABS[tab][1]()
