"""The page Dependence: `study` (what it speaks of), and a file for each of its parts."""

from pages.shared.dependence.answer import answer, cost
from pages.shared.dependence.parents import super_parents
from pages.shared.dependence.sections import pairs, sections
from pages.shared.dependence.study import Study, study

__all__ = ["Study", "answer", "cost", "pairs", "sections", "study", "super_parents"]
