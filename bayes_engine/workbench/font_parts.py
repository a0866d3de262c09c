"""The part of a font that is in use, cut out by fontTools: of Streamlit's icons those that the code names, of its
letters those of the scripts that the app is read in.
"""

from __future__ import annotations

import asyncio
import os
import re
import string
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

from bayes_engine.workbench import kept_files
from bayes_engine.workbench.kept_files import version_of

ICONS, _ALL_ICONS = "MaterialSymbols-*.woff2", "material_icon_names.py"
LETTERS = "SourceSansVF-*.woff2"
_SCRIPTS = ((0x20, 0x24F), (0x2B0, 0x3FF), (0x1E00, 0x1EFF), (0x2000, 0x27BF), (0xFB00, 0xFB06))
"""Latin, Greek, punctuation, arrows, mathematics and marks: what is kept of the letters. A browser takes
others from the system, as it takes 中文."""
_FEATURES = ("calt", "ccmp", "kern", "liga", "lnum", "locl", "mark", "mkmk", "tnum")
"""How letters stand together, and figures of equal width; not kept are small capitals, old figures and other forms."""
_WORD, _ICON = re.compile(r"[\"'`/]([a-z0-9_]+)[\"'`:]"), re.compile(r":material/([a-z0-9_]+):")


def _code(folders: Iterable[Path]) -> Iterator[bytes]:
    """The files in which icons are named. Not among them is Streamlit's list of all the names there are."""
    for folder in folders:
        for file in sorted(file for kind in ("*.py", "*.js") for file in folder.rglob(kind)):
            if file.name != _ALL_ICONS:
                yield file.read_bytes()


def has_letters(font: Path) -> bool:
    """Whether it is the font of letters, and not that of icons."""
    return font.match(LETTERS)


def name_of_part(font: Path, folders: Iterable[Path]) -> str:
    """By which the part in use is kept: of the font, of all that names its icons, and of what makes the part."""
    versions = [version_of(package) for package in ("fonttools", "brotli")]
    return kept_files.name_of(chain(versions, [Path(__file__).read_bytes(), font.read_bytes()], _code(folders)))


async def part_apart(font: Path, streamlit: Path, own: Iterable[Path], aside: int) -> bytes:
    """`icons_in_use` or `letters_in_use`, found in a process of its own, which takes no time from the pages. Empty
    where it fails. Where the server ends meanwhile the process does, too."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import cut_out; cut_out(*sys.argv[1:])"
    idle = getattr(subprocess, "IDLE_PRIORITY_CLASS", 0) if aside else 0  # Windows
    command = [sys.executable, "-P", "-c", code, str(aside), str(font), str(streamlit), *map(str, own)]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, creationflags=idle
        )
    except OSError:
        return b""
    try:
        part, _ = await asyncio.to_thread(process.communicate)
    finally:
        process.kill()  # unless it has ended
    return part if process.returncode == 0 else b""


def cut_out(aside: str, font: str, streamlit: str, *own: str) -> None:
    """What the process does: the part of the font, to its output."""
    with suppress(AttributeError, OSError):
        os.nice(int(aside))
    letters = has_letters(Path(font))
    part = letters_in_use(Path(font)) if letters else icons_in_use(Path(font), Path(streamlit), map(Path, own))
    sys.stdout.buffer.write(part)


def letters_in_use(font: Path) -> bytes:
    """Of a font of letters those of the `_SCRIPTS`. Empty where they cannot be had; then the whole font is sent."""
    codes = [code for low, high in _SCRIPTS for code in range(low, high + 1)]
    return _cut(font, lambda whole: {"unicodes": codes}, layout_features=list(_FEATURES))


def icons_in_use(font: Path, streamlit: Path, own: Iterable[Path]) -> bytes:
    """Of a font whose icons are ligatures of their names, the part that is in use: what the code of Streamlit names as
    `:material/name:`, and every word in quotes of our `own`. Empty where it cannot be had; then the whole
    font is sent."""

    def named(whole: Any) -> dict[str, Any]:
        words = set(string.ascii_lowercase)
        for pattern, folders in ((_ICON, [streamlit]), (_WORD, own)):
            for code in _code(folders):
                words.update(pattern.findall(code.decode(errors="replace")))
        names = {glyph: chr(code) for code, glyph in whole.getBestCmap().items()}
        return {"text": string.ascii_lowercase + string.digits + "_", "glyphs": [
            ligature.LigGlyph
            for lookup in whole["GSUB"].table.LookupList.Lookup
            for table in (getattr(one, "ExtSubTable", one) for one in lookup.SubTable)
            for first, ligatures in getattr(table, "ligatures", {}).items()
            for ligature in ligatures
            if "".join(names.get(glyph, "") for glyph in (first, *ligature.Component)) in words
        ]}  # fmt: skip

    return _cut(font, named, layout_features=["*"], layout_closure=False)


def _cut(font: Path, kept: Callable[[Any], dict[str, Any]], **options: Any) -> bytes:
    """What is `kept` of a font, as WOFF2. Empty where it cannot be had."""
    try:
        subset, fonts = import_module("fontTools.subset"), import_module("fontTools.ttLib")
        with fonts.TTFont(font) as whole:
            subsetter = subset.Subsetter(subset.Options(**options))
            subsetter.populate(**kept(whole))
            subsetter.subset(whole)
            whole.flavor = "woff2"
            whole.save(part := BytesIO())
        return part.getvalue()
    except Exception:  # noqa: BLE001 - not installed, or a font made otherwise: nothing is lost but bytes
        return b""
