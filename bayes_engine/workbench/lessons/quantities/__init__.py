"""The quantities that a lesson may ask for, by subject; each module enters its own into the list (`registry`)."""

from bayes_engine.workbench.lessons.quantities import (  # noqa: F401  (each enters its quantities)
    case,
    dependence,
    estimates,
    hidden_labels,
    laboratory,
    network,
    projection,
)
