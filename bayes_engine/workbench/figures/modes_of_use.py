"""What the three modes of use of naive Bayes cost as questions and rows come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayes_engine.language import _
from bayes_engine.models.costs import MODES_OF_USE, ModeOfUse
from bayes_engine.workbench.figures.figure import Figure
from bayes_engine.workbench.figures.theme import EXTRA_COLOURS, sized

DASHES = ("solid", "dash", "dot")
"""The modes differ without colour too: some of their lines lie on one another."""


def work_lines(
    ratios: Sequence[float],
    work: Mapping[ModeOfUse, Sequence[float]],
    *,
    names: Mapping[ModeOfUse, str],
    measured: bool = False,
    dark: bool = False,
) -> Figure:
    """The work of one row more and r predictions (`work` by mode, as `modes_of_use.work` gives it) against r, both
    axes in powers of ten; `names` are escaped."""
    figure = Figure()
    for k, mode in enumerate(MODES_OF_USE):
        figure.add_scatter(
            x=list(ratios),
            y=list(work[mode]),
            mode="lines",
            name=names[mode],
            line={"color": EXTRA_COLOURS[k][dark], "width": 2.6, "dash": DASHES[k]},
            hovertemplate=f"{names[mode]}<br>%{{x:.3g}} : %{{y:.3s}}{'s' if measured else ''}<extra></extra>",
        )
    figure.update_xaxes(type="log", title=_("predictions for each row that comes"), dtick=1)
    figure.update_yaxes(
        type="log",
        title=_("seconds") if measured else _("cells, entries, additions"),
        dtick=1,
        exponentformat="SI",
        ticksuffix="s" if measured else "",
    )
    figure.update_layout(hovermode="closest")
    return sized(figure, 330, left=4, right=28, top=40, bottom=4)
