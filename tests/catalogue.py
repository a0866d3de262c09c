"""The 中文 catalogue follows the code: `python -m tests.catalogue` brings bayes_engine/locale up to date.

A sentence is the first argument of `_`, of `ngettext` (both forms), and of whatever has a first parameter called
`template`: `Message`, the errors, helpers that pass one on. It stands written out at the call. The .po is the source,
sorted and without line numbers so that merges stay small; the .mo beside it is compiled from it and kept in the
repository too, because the library reads it without Babel.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
PO = ROOT / "bayes_engine" / "locale" / "zh" / "LC_MESSAGES" / "messages.po"
MO = PO.with_suffix(".mo")
UPDATE = "run  python -m tests.catalogue , translate what it lists in messages.po, and run it again"
HEADER = """\
# Bayes Workbench · 贝叶斯工作台. Kept by `python -m tests.catalogue`: sorted by the English source, which is the code.
msgid ""
msgstr ""
"Language: zh\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""


class Call(NamedTuple):
    """A call that says something: where, the literals it may say, and whether these are all it can say."""

    place: str
    said: tuple[str | tuple[str, str], ...]
    whole: bool


@cache
def sources() -> dict[str, ast.Module]:
    """Every file that may hold a sentence, parsed."""
    found = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "bayes_engine").rglob("*.py")]
    return {p.relative_to(ROOT).as_posix(): ast.parse(p.read_text(encoding="utf-8")) for p in sorted(found)}


@cache
def nodes_of_sources() -> dict[str, list[ast.AST]]:
    """The nodes of every such file. They stay: the garbage collector, which would look through them again and again
    while they become more, takes as long as the parser."""
    gc.disable()
    try:
        return {path: [*ast.walk(tree)] for path, tree in sources().items()}
    finally:
        gc.freeze()
        gc.enable()


def speakers(files: dict[str, list[ast.AST]]) -> set[str]:
    """Names of the functions and classes whose first argument is a sentence."""
    nodes = [node for nodes in files.values() for node in nodes]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    found = {"_", "ngettext"} | {n.name for n in nodes if isinstance(n, ast.FunctionDef) and _takes_template(n)}
    for node in classes:
        fields = [item.target for item in node.body if isinstance(item, ast.AnnAssign)]
        starts = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
        if any(map(_takes_template, starts)) or (fields and ast.unparse(fields[0]) == "template"):
            found.add(node.name)
    while heirs := {c.name for c in classes if any(ast.unparse(base) in found for base in c.bases)} - found:
        found |= heirs
    return found - {"__init__"}


def _takes_template(function: ast.FunctionDef) -> bool:
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg != "self"]
    return names[:1] == ["template"]


@cache
def calls() -> tuple[Call, ...]:
    """Every call of a speaker."""
    return tuple(_calls(nodes_of_sources()))


def _calls(files: dict[str, list[ast.AST]]) -> Iterator[Call]:
    names = speakers(files)
    for path, nodes in files.items():
        for node in nodes if path != "bayes_engine/language.py" else ():  # the mechanism itself
            if isinstance(node, ast.Call) and node.args and (name := _name(node.func)) in names:
                place = f"{path}:{node.lineno}: {ast.unparse(node)[:100]}"
                if name == "ngettext":
                    one, many = (_literals(argument) for argument in node.args[:2])
                    yield Call(place, tuple(zip(one, many, strict=True)), bool(one and many))
                else:
                    said = _literals(node.args[0])
                    yield Call(place, said, bool(said) or ast.unparse(node.args[0]) == "template")


def _name(function: ast.expr) -> str:
    """What a call calls, without what it is an attribute of; Python's own `warnings.warn` takes no sentence."""
    if ast.unparse(function) == "warnings.warn":
        return ""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _literals(node: ast.expr) -> tuple[str, ...]:
    match node:
        case ast.Constant(value=str(text)):
            return (text,)
        case ast.IfExp(body=body, orelse=orelse):
            found = (_literals(body), _literals(orelse))
            return found[0] + found[1] if all(found) else ()
    return ()


def extracted() -> Catalog:
    """The sentences of the code, untranslated."""
    catalog = Catalog(locale="zh", fuzzy=False)
    for call in calls():
        for sentence in call.said:
            if sentence:
                catalog.add(sentence)
    return catalog


def stored() -> Catalog:
    """The sentences of the .po, with their translations."""
    if not PO.exists():
        return Catalog(locale="zh", fuzzy=False)
    with PO.open("rb") as file:
        return read_po(file, locale="zh")


def as_po(catalog: Catalog) -> str:
    """The text of a .po: nothing in it changes but sentences."""
    for message in catalog:
        message.flags.clear()
    body = BytesIO()
    write_po(body, catalog, width=0, no_location=True, omit_header=True, sort_output=True, ignore_obsolete=True)
    return HEADER + body.getvalue().decode("utf-8")


def as_mo(catalog: Catalog) -> bytes:
    """The compiled catalogue, the same bytes for the same sentences."""
    catalog.creation_date = catalog.revision_date = datetime(2026, 1, 1, tzinfo=UTC)
    compiled = BytesIO()
    write_mo(compiled, catalog)
    return compiled.getvalue()


def update() -> list[str]:
    """Add what is new, drop what is gone, compile; the sentences that wait for a translation."""
    catalog, known = extracted(), stored()
    for message in catalog:
        if message.id and (old := known.get(message.id)) and old.string:
            message.string = old.string
    PO.parent.mkdir(parents=True, exist_ok=True)
    PO.write_text(as_po(catalog), encoding="utf-8")
    MO.write_bytes(as_mo(catalog))
    return [str(message.id) for message in catalog if message.id and not _translated(message.string)]


def _translated(string: str | tuple[str, ...]) -> bool:
    return all(string) if isinstance(string, tuple) else bool(string)


if __name__ == "__main__":
    waiting = update()
    print(*waiting, f"{len(waiting)} sentences wait for a translation in {PO.relative_to(ROOT)}", sep="\n")  # noqa: T201
