"""Type can be read: nothing below 13 px, and no text under 4.5:1 on the grounds of either theme (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

import re
import tomllib

import plotly.graph_objects as go
import pytest
from plotly.colors import hex_to_rgb

from bayes_engine.datasets import load_network
from bayes_engine.inference.beliefs import joint_belief
from bayes_engine.workbench.figures.comparison import MeasurePanel, measure_panels
from bayes_engine.workbench.figures.network import joint_table
from bayes_engine.workbench.figures.theme import CLASS_COLOURS, EXTRA_COLOURS, GROUND, INK, SHADE, template
from tests.conftest import ROOT

LEAST, CONTRAST = 13.0, 4.5
SOURCES = [
    (path, path.read_text(encoding="utf-8"))
    for folder in ("pages", "bayes_engine/workbench/figures")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".css", ".js", ".py")
]
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
NO_TEXT = {  # what is pale in a style sheet and is no text to be read: pictures, lines, and what is switched off
    "pixels.css": {".waits .sheet + .sheet canvas, .waits .sheet + .sheet .legend", ".tools button:disabled"},
    "film.css": {".film button:disabled"},
    "fitted.css": {".fitted .empty"},
    "losses.css": {".plain:disabled"},
    "own.css": {".steps button:disabled"},
    "graph.css": {".node.faint .bar"},
    "nomogram.css": {".nomogram .band", ".nomogram.dark .band"},
    "plane.css": {".guide"},
    "heads.css": {".off canvas"},
    "text_message.css": {".waits .read"},
    "consequences.css": {".bar .track span", ".risk", ".guide"},
}


def luminance(rgb: tuple[float, ...]) -> float:
    linear = [v / 3294.6 if v <= 10.31 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in rgb]
    return sum(share * v for share, v in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(text: str, ground: str, opacity: float = 1.0) -> float:
    """Of a colour on a ground; as opaque as it is said."""
    below = hex_to_rgb(ground)
    mixed = tuple(opacity * a + (1 - opacity) * b for a, b in zip(hex_to_rgb(text), below, strict=True))
    dark, light = sorted(map(luminance, (mixed, below)))
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.478, abs=1e-3)  # WebAIM's example of one that just fails


def test_nothing_is_written_smaller_than_13_pixels() -> None:
    sizes = re.compile(
        r"""font(?:-size)?:\s*(?:\d+\s+)?([\d.]+)(px|r?em)"""  # a style sheet
        r"""|["'`](?:\d+ )?([\d.]+)(px) """  # the pen of a canvas
        r"""|font"?\s*[=:]\s*\{[^}]*"size":\s*([\d.]+)()"""  # a figure
    )
    small = []
    for path, text in SOURCES:
        for match in sizes.finditer(text):
            size, unit = next((a, b) for a, b in zip(match.groups()[::2], match.groups()[1::2], strict=True) if a)
            if float(size) * (16 if unit == "rem" else 14 if unit == "em" else 1) < LEAST:
                small.append(f"{path.name}: {match[0]}")
    assert not small


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_quiet_text_stands_out_from_every_ground(mode: str) -> None:
    theme = THEME[mode]
    text, grounds = theme["textColor"], [theme["backgroundColor"], theme["secondaryBackgroundColor"]]
    assert theme["backgroundColor"].upper() == GROUND[mode == "dark"]
    faint = []
    for path, source in SOURCES:
        shares = re.findall(r"--(?:quiet|note): color-mix\(in srgb, var\(--st-text-color\) ([\d.]+)%", source)
        levels = [(f"--quiet {share} %", float(share) / 100) for share in shares]
        if path.suffix == ".css":
            for rule, body in re.findall(r"([^{}]+)\{([^{}]*)\}", re.sub(r"/\*.*?\*/|@keyframes[^\n]*", "", source)):
                opacity = re.search(r"(?<![\w-])opacity:\s*([\d.]+)", body)
                if opacity and rule.strip() not in NO_TEXT.get(path.name, ()):
                    levels.append((rule.strip(), float(opacity[1])))
        if path.suffix == ".js":
            levels += [("soft", float(v)) for v in re.findall(r"soft: now\.faded\(([\d.]+)\)", source)]
        faint += [
            f"{path.name}: {what}"
            for what, level in levels
            if min(contrast(text, g, level) for g in grounds) < CONTRAST
        ]
    assert not faint


@pytest.mark.parametrize("dark", [False, True])
def test_charts_write_in_ink(dark: bool) -> None:
    layout = go.Figure(layout={"template": template(dark)}).layout.template.layout
    fonts = [layout.font, layout.hoverlabel.font, layout.xaxis.title.font, layout.yaxis.title.font]
    assert {font.color for font in fonts} == {INK[dark]} and min(font.size or LEAST for font in fonts) >= LEAST
    for colour in (INK[dark], *(pair[dark] for pair in EXTRA_COLOURS)):
        assert contrast(colour, GROUND[dark]) >= CONTRAST, colour


@pytest.mark.parametrize("dark", [False, True])
def test_the_ink_is_legible_on_the_darkest_cell_of_every_colour(dark: bool) -> None:
    share = SHADE[dark]
    for pair in (*CLASS_COLOURS, *EXTRA_COLOURS):
        both = zip(hex_to_rgb(pair[dark]), hex_to_rgb(GROUND[dark]), strict=True)
        cell = "#" + "".join(f"{round(share * a + (1 - share) * b):02X}" for a, b in both)
        assert contrast(INK[dark], cell) >= CONTRAST, pair
    tables = joint_table(joint_belief(load_network("asia").network, "lung", "smoke", {}), ["yn"] * 2, "ab", dark=dark)
    assert tables.data[0].colorscale[1][1].endswith(f",{share})")


@pytest.mark.parametrize("dark", [False, True])
def test_names_inside_a_chart_are_written_in_ink(dark: bool) -> None:
    """plotly.js takes the ground of a plot for white and writes dark on it, unless a colour is given."""
    figure = measure_panels(
        ["naive Bayes", "TAN"], [MeasurePanel("accuracy", [0.9, 0.8], ["90%", "80%"], more=True)], dark=dark
    )
    assert figure.layout.yaxis.ticklabelposition == "inside"
    assert figure.layout.yaxis.tickfont.color == INK[dark]


@pytest.mark.parametrize("dark", [False, True])
def test_two_and_three_classes_bear_text(dark: bool) -> None:
    """The handles and the cells of the laboratory are written on, which has no more classes than three."""
    for pair in CLASS_COLOURS[:3]:
        assert contrast(pair[dark], GROUND[dark]) >= CONTRAST, pair


def test_no_text_has_a_class_s_colour() -> None:
    """Of many classes some are too pale for it."""
    for path, source in SOURCES:
        if path.suffix == ".css":
            assert not re.search(r"(?<![\w-])color:\s*var\(--(?:ink|colour)\)", source), path.name


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_captions_and_chips_that_are_not_used_can_be_read(mode: str) -> None:
    theme, style = THEME[mode], (ROOT / "pages" / "shell" / "frame.py").read_text(encoding="utf-8")
    shares = [float(share) for share in re.findall(r"(?<![\w-])opacity: ([\d.]+)", style)]
    assert len(shares) == 3
    for ground in (theme["backgroundColor"], theme["secondaryBackgroundColor"]):
        assert min(contrast(theme["textColor"], ground, share) for share in shares) >= CONTRAST
