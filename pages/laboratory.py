from pages.shell.router import boot

boot()


from bayes_engine.language import _
from pages.runtime import view_keys as keys
from pages.runtime.state import current
from pages.runtime.widgets import choose
from pages.shell.frame import title
from pages.views.laboratory import base_rates, likelihood, rare_class, sandbox, smoothing, underflow

TABS = {
    "densities": (_("Known densities"), sandbox.show),
    "rates": (_("Base rates"), base_rates.show),
    "fitted": (_("Likelihood"), likelihood.show),
    "smoothing": (_("Smoothing"), smoothing.show),
    "rare": (_("Rare class"), rare_class.show),
    "underflow": (_("Underflow"), underflow.show),
}
title()
words = {tab: word for tab, (word, _show) in TABS.items()}
drawn = "fitted" if current().seen(keys.LAB_TAB) == "likelihood" else None  # the same tab, of a drawn sample
tab = choose(_("Experiment"), keys.LAB_TAB, words, otherwise=drawn, titled=False)
TABS[tab][1]()
