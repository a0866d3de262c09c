"""The page Dependence: `dependences` (what it speaks of), and a file for each of its parts."""

from pages.views.dependence.answer import cost, which_pairs_depend
from pages.views.dependence.dependences import Dependences, dependences
from pages.views.dependence.parents import super_parents
from pages.views.dependence.sections import pairs, sections

__all__ = ["Dependences", "cost", "dependences", "pairs", "sections", "super_parents", "which_pairs_depend"]
