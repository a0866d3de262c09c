"""The page Dependence: `study` (what it speaks of), and a file for each of its parts."""

from pages.views.dependence.answer import answer, cost
from pages.views.dependence.parents import super_parents
from pages.views.dependence.sections import pairs, sections
from pages.views.dependence.study import Study, study

__all__ = ["Study", "answer", "cost", "pairs", "sections", "study", "super_parents"]
