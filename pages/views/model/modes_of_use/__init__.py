"""The page Model's view Ways of use: a look-up table, counting when asked, counts kept as rows come and go."""

from pages.views.model.modes_of_use.sections import modes_of_use

__all__ = ["modes_of_use"]
