"""Where text goes on screen, followed through the source of the pages; nothing is run.

A surface that renders Markdown takes words (constants, what `_` returns), numbers, and data only through `md`. What an
argument is made of is followed through local names, loops, f-strings, `format`, `join`, and through the project's own
functions: a helper whose parameter ends on a surface is a surface itself, so that its callers are looked at instead.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from pages.runtime import view_keys

ROOT = Path(__file__).parents[1]

SURFACES: dict[str, tuple[str, ...]] = {  # a Streamlit call: its parameters that render Markdown, in their places
    **dict.fromkeys(("markdown", "caption", "title", "header", "subheader", "latex"), ("body",)),
    **dict.fromkeys(("info", "warning", "error", "success", "toast", "badge", "exception"), ("body",)),
    **dict.fromkeys(("write", "html", "table", "spinner", "dialog", "set_page_config"), ("body",)),
    **dict.fromkeys(("button", "download_button", "link_button", "form_submit_button", "menu_button"), ("label",)),
    **dict.fromkeys(("checkbox", "toggle", "number_input", "text_input", "text_area", "date_input"), ("label",)),
    **dict.fromkeys(("slider", "selectbox", "multiselect", "file_uploader"), ("label",)),
    **dict.fromkeys(("radio", "pills", "segmented_control", "select_slider"), ("label", "options")),
    **dict.fromkeys(("expander", "popover", "status", "tabs"), ("label",)),
    "metric": ("label", "value", "delta"),
    "progress": ("value", "text"),
    "page_link": ("page", "label"),
    "Page": ("page", "title"),
}
COLUMNS = "Column"
"""How the calls end that configure a column of a data frame: their label is drawn as it is, their `help` is not."""
EVERYWHERE = ("help", "icon", "caption", "captions", "description", "delta_description", "page_title", "text", "label")
"""Keywords that render Markdown, or name an icon, in whatever call they stand."""
LITERAL = ("text", "code", "json", "dataframe", "data_editor")
"""Calls that show characters as they are; there the backslashes of `md` would be seen."""
PLAIN_OPTIONS = ("selectbox", "multiselect")
FORBIDDEN = ("table", "echo", "write_stream", "exception", "graphviz_chart", "iframe", "pdf")
"""Calls for which there is no use here that would be safe with data."""

NUMERIC = {"len", "int", "float", "round", "abs", "sum", "ord", "bool", "range", "hash", "type", "chr", "perf_counter"}
COUNTING = {"count", "index", "strftime", "bit_length", "total_seconds"}
FIGURES = "bayes_engine/workbench/figures/"
DRAWN = f"{FIGURES}figure.py"
"""Where a figure is that draws what its methods are given."""
COLLECTIONS = {"tuple", "list", "dict", "Sequence", "Mapping", "Iterable"}
NUMERALS = "bayes_engine.numerals"
"""The module whose functions turn numbers into text."""
KEEPING = {"strip", "lstrip", "rstrip", "lower", "upper", "capitalize", "removeprefix", "removesuffix", "split",
           "partition", "splitlines", "casefold", "translate"}  # fmt: skip
PASSING = {"list", "tuple", "sorted", "reversed", "set", "dict", "iter", "next", "str", "min", "max", "frozenset"}
NUMBERS = {"int", "float", "bool", "None", "Literal", "Role", "Kind", "Status", "Array"}
"""Annotations whose values are numbers or words of ours."""


class Unproven(Exception):
    """What an expression holds cannot be shown to be words, numbers, or escaped."""


class Place(NamedTuple):
    """An expression on a surface that is not proven."""

    file: str
    function: str
    expression: str


Source = str | ast.Module
"""A file's text, or its syntax."""


def parsed(code: Source) -> ast.Module:
    return ast.parse(code) if isinstance(code, str) else code


class Scope:
    """A function (or a module, or a lambda) and the names it binds."""

    def __init__(self, node: ast.AST, module: Module, parent: Scope | None):
        self.node, self.module, self.parent = node, module, parent
        self.bound: dict[str, list[tuple[str, ast.expr]]] = {}  # name → (how, expression)
        self.functions: dict[str, Scope] = {}
        self.parameters: dict[str, ast.arg] = {}
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            args = node.args
            for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, [args.vararg, args.kwarg])]:
                self.parameters[arg.arg] = arg

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "")

    @cached_property
    def defaults(self) -> dict[str, ast.expr]:
        args = self.node.args  # type: ignore[attr-defined]
        placed = [*args.posonlyargs, *args.args]
        found = {a.arg: d for a, d in zip(placed[len(placed) - len(args.defaults) :], args.defaults, strict=True)}
        return found | {a.arg: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None}

    @cached_property
    def returns(self) -> list[ast.expr]:
        if isinstance(self.node, ast.Lambda):
            return [self.node.body]
        return [n.value for n in own(self.node) if isinstance(n, ast.Return | ast.Yield) and n.value is not None]

    def bind(self, target: ast.expr, how: str, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self.bound.setdefault(name, []).append((how, value))
            case ast.Starred(value=inner):
                self.bind(inner, how, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for at, part in enumerate(parts):
                    self.bind(part, f"{how}.{at}" if not isinstance(part, ast.Starred) else how, value)
            case ast.Subscript(value=ast.Name(id=name)):  # d[k] = value
                self.bound.setdefault(name, []).append((how, value))


def own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of the functions and lambdas inside it."""
    waiting = [node] if isinstance(node, ast.expr) else list(getattr(node, "body", []))
    while waiting:
        here = waiting.pop()
        yield here
        if not isinstance(here, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(here))


class Module:
    """A file's syntax, its scopes, and what its names mean."""

    def __init__(self, path: str, code: Source):
        self.path, self.tree = path, parsed(code)
        self.name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self.imports: dict[str, tuple[str, str]] = {}  # alias → (module, name); name "" for a module itself
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = (node.module, alias.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    self.imports[alias.asname or alias.name.split(".")[0]] = (alias.name, "")
        self.scopes: dict[ast.AST, Scope] = {}
        self.around: dict[ast.AST, Scope] = {}
        self.methods: dict[tuple[str, str], Scope] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.top = self._scope(self.tree, None)
        self._options()

    @cached_property
    def calls(self) -> list[tuple[ast.Call, Scope]]:
        """Every call, with the scope around it."""
        return [(node, scope) for node, scope in self.around.items() if isinstance(node, ast.Call)]

    def _scope(self, node: ast.AST, parent: Scope | None) -> Scope:
        scope = self.scopes[node] = Scope(node, self, parent)
        for inner in own(node) if not isinstance(node, ast.Lambda) else own(node.body):
            self.around[inner] = scope
            match inner:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    scope.functions[inner.name] = self._scope(inner, scope)
                    for part in [*inner.decorator_list, *inner.args.defaults, *filter(None, inner.args.kw_defaults)]:
                        self._expression(part, scope)
                case ast.Lambda():
                    self._scope(inner, scope)
                case ast.ClassDef():
                    self.classes[inner.name] = inner
                    for part in inner.body:
                        if isinstance(part, ast.FunctionDef):
                            self.methods[inner.name, part.name] = self._scope(part, scope)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        scope.bind(target, "is", value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    scope.bind(target, "is", value)
                case ast.AugAssign(target=target, value=value):
                    scope.bind(target, "is", value)
                case ast.NamedExpr(target=target, value=value):
                    scope.bind(target, "is", value)
                case ast.For(target=target, iter=iterable):
                    scope.bind(target, "of", iterable)
                case ast.comprehension(target=target, iter=iterable):
                    scope.bind(target, "of", iterable)
                case ast.With(items=items):
                    for item in items:
                        if item.optional_vars is not None:
                            scope.bind(item.optional_vars, "is", item.context_expr)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" | "add" | "insert"),
                              args=[*_before, value]):  # fmt: skip
                    many = isinstance(inner, ast.Call) and ast.unparse(inner.func).endswith(".extend")
                    held = value if many else ast.copy_location(ast.List([value], ast.Load()), value)
                    scope.bound.setdefault(name, []).append(("is", held))
                case ast.ExceptHandler(name=str(name), type=kind) if kind is not None:
                    scope.bound.setdefault(name, []).append(("caught", kind))
        return scope

    def _options(self) -> None:
        """A lambda that names the options of a widget is given those options."""
        for node in list(self.around):
            if not isinstance(node, ast.Call):
                continue
            named = {k.arg: k.value for k in node.keywords}
            shown, options = named.get("format_func"), named.get("options", [*node.args, None, None][1])
            if isinstance(shown, ast.Lambda) and shown.args.args and options is not None:
                scope = self.scopes[shown]
                scope.parameters.pop(shown.args.args[0].arg)
                scope.bound[shown.args.args[0].arg] = [("of", options)]

    def _expression(self, node: ast.expr, scope: Scope) -> None:
        for inner in ast.walk(node):
            self.around.setdefault(inner, scope)


class Project:
    """All the pages: which calls are surfaces, and what stands on them."""

    def __init__(
        self,
        files: Mapping[str, Source],
        facts: Iterable[Source] = (),
        guard: str = "md",
        shown: Callable[[Module, ast.AST], Iterable[ast.expr]] | None = None,
    ):
        self.guards = {guard, "_", "ngettext", "tex"}
        self.shown = shown or (lambda _module, node: surfaces(node))
        self.modules = {m.name: m for path, code in files.items() if (m := Module(path, code))}
        self.facts = facts_of(tuple(dict.fromkeys([*facts, *files.values()])))
        self.methods = {key: scope for m in self.modules.values() for key, scope in m.methods.items()}
        self.sinks: set[tuple[ast.AST, str]] = set()  # (function, parameter) that ends on a surface
        self.busy: set[object] = set()
        self.known: dict[ast.Call, Scope | None] = {}

    # what an expression is --------------------------------------------------------------------------------------

    def needs(self, node: ast.expr | None, scope: Scope) -> frozenset[tuple[ast.AST, str]]:
        """The parameters that must be safe for `node` to be; raises `Unproven`."""
        match node:
            case None | ast.Constant():
                return frozenset()
            case ast.JoinedStr(values=values):
                return self._all(values, scope)
            case ast.FormattedValue(value=value, format_spec=spec):
                return frozenset() if _numeric_format(spec) else self.needs(value, scope)
            case ast.BinOp(left=left, right=right, op=ast.Add() | ast.BitOr()):
                return self._all([left, right], scope)
            case ast.BinOp(left=left, right=right, op=ast.Mult()):
                return self._all([left, right], scope)
            case ast.BinOp() | ast.Compare():
                return frozenset()  # of numbers
            case ast.UnaryOp():
                return frozenset()
            case ast.BoolOp(values=values):
                return self._all(values, scope)
            case ast.IfExp(body=body, orelse=orelse):
                return self._all([body, orelse], scope)
            case ast.NamedExpr(value=value) | ast.Starred(value=value) | ast.Await(value=value):
                return self.needs(value, scope)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return self._all(parts, scope)
            case ast.Dict(values=values):
                return self._all(values, scope)
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) | ast.SetComp(elt=element):
                return self.needs(element, scope)
            case ast.DictComp(value=value):
                return self.needs(value, scope)
            case ast.Subscript(value=value):
                return self.needs(value, scope)
            case ast.Lambda():
                return self._given_as_value(scope.module.scopes[node])
            case ast.Name():
                return self._name(node, scope)
            case ast.Attribute():
                return self._attribute(node, scope)
            case ast.Call():
                return self._call(node, scope)
        raise Unproven(ast.unparse(node))

    def _all(self, nodes: Iterable[ast.expr | None], scope: Scope) -> frozenset[tuple[ast.AST, str]]:
        return frozenset().union(*(self.needs(node, scope) for node in nodes))

    def _name(self, node: ast.Name, scope: Scope | None) -> frozenset[tuple[ast.AST, str]]:
        name, start = node.id, scope
        if name in self.guards:
            return frozenset()
        while scope is not None:
            if name in scope.bound and (values := scope.bound[name]):
                key = (scope.node, name)
                if key in self.busy:  # a name made of itself: what else it is made of decides
                    return frozenset()
                self.busy.add(key)
                try:
                    found = frozenset().union(*(self._bound(how, value, scope) for how, value in values))
                finally:
                    self.busy.discard(key)
                if name in scope.parameters:
                    found |= self._parameter(name, scope)
                return found
            if name in scope.parameters:
                return self._parameter(name, scope)
            if name in scope.functions:
                return self._given_as_value(scope.functions[name])
            scope = scope.parent
        assert start is not None
        if target := self._imported(start.module, name):
            return self._name(ast.Name(id=target[1]), target[0].top)
        if name in self.facts.constants:
            return frozenset()
        raise Unproven(name)

    def _parameter(self, name: str, scope: Scope) -> frozenset[tuple[ast.AST, str]]:
        if _is_number(scope.parameters[name].annotation):
            return frozenset()
        return frozenset([(scope.node, name)])

    def _bound(self, how: str, value: ast.expr, scope: Scope) -> frozenset[tuple[ast.AST, str]]:
        """What a name is when it is bound to `value`, to a member of it, or to a part of either."""
        how, *places = how.split(".")
        if how == "caught":
            raise Unproven("an exception")
        if how == "of":
            match value:
                case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
                    return frozenset() if places[:1] == ["0"] else self._bound(_how("of", places[1:]), inner, scope)
                case ast.Call(func=ast.Name(id="zip"), args=parts) if places and int(places[0]) < len(parts):
                    return self._bound(_how("of", places[1:]), parts[int(places[0])], scope)
                case ast.Call(func=ast.Name(id="reversed" | "sorted" | "list" | "tuple"), args=[inner, *_]):
                    return self._bound(_how("of", places), inner, scope)
                case ast.Call(func=ast.Attribute(value=inner, attr="items"), args=[]):
                    if places[:1] == ["0"]:
                        return self._keys(inner, scope)
                    return self.needs(inner, scope)
                case ast.List(elts=parts) | ast.Tuple(elts=parts) if places:
                    return frozenset().union(*(self._bound(_how("is", places), part, scope) for part in parts))
                case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) if places:
                    return self._bound(_how("is", places), element, scope)
                case ast.Dict():
                    return self._keys(value, scope)
                case ast.Name(id=name) if places and (made := self._all_of(name, scope)):
                    return frozenset().union(*(self._bound(_how("of", places), one, made[1]) for one in made[0]))
        elif places:
            match value:
                case ast.Tuple(elts=parts) | ast.List(elts=parts) if int(places[0]) < len(parts):
                    if not any(isinstance(part, ast.Starred) for part in parts):
                        return self._bound(_how("is", places[1:]), parts[int(places[0])], scope)
                case ast.IfExp(body=body, orelse=orelse):
                    return self._bound(_how(how, places), body, scope) | self._bound(_how(how, places), orelse, scope)
                case ast.Call() if callee := self._callee(value, scope):
                    if callee.returns and all(isinstance(r, ast.Tuple) for r in callee.returns):
                        asked = [self._bound(_how("is", places), r, callee) for r in callee.returns]
                        return self._through(frozenset().union(*asked), callee, value, scope)
        return self.needs(value, scope)

    def _keys(self, value: ast.expr, scope: Scope) -> frozenset[tuple[ast.AST, str]]:
        match value:
            case ast.Dict(keys=keys):
                return self._all(keys, scope)
            case ast.DictComp(key=key):
                return self.needs(key, scope)
            case ast.Name(id=name) if made := self._only(name, scope):
                return self._keys(*made)
        raise Unproven(f"the keys of {ast.unparse(value)}")

    def _only(self, name: str, scope: Scope | None) -> tuple[ast.expr, Scope] | None:
        """The one expression that a name is bound to."""
        made = self._all_of(name, scope)
        return (made[0][0], made[1]) if made and len(made[0]) == 1 else None

    def _all_of(self, name: str, scope: Scope | None) -> tuple[list[ast.expr], Scope] | None:
        """The expressions that a name is bound to, whole, and where; None where it is a parameter or a part as well."""
        start = scope
        while scope is not None:
            if name in scope.bound:
                values = scope.bound[name]
                whole = all(how == "is" for how, _value in values)
                return ([value for _how, value in values], scope) if whole else None
            if name in scope.parameters:
                return None
            scope = scope.parent
        if start is not None and (target := self._imported(start.module, name)):
            return self._all_of(target[1], target[0].top)
        return None

    def _attribute(self, node: ast.Attribute, scope: Scope) -> frozenset[tuple[ast.AST, str]]:
        match node.value:
            case ast.Name(id=name) if target := self._module(scope.module, name):
                return self._name(ast.Name(id=node.attr), target.top)
        if node.attr in self.facts.numbers or _is_number(self._type(node, scope)):
            return frozenset()
        if node.attr == "options" and _own_key(node.value):
            return frozenset()
        if node.attr in ("get", "__getitem__", "format"):
            return self.needs(node.value, scope)
        if (owner := self._type(node.value, scope)) is not None:
            for module in self.modules.values():  # a field of a label's class: whoever makes one is looked at
                if module.path.startswith(FIGURES) and node.attr in fields(module.classes.get(_class(owner))):
                    return frozenset([(module.classes[_class(owner)], node.attr)])
        raise Unproven(ast.unparse(node))

    def _call(self, node: ast.Call, scope: Scope) -> frozenset[tuple[ast.AST, str]]:
        given = [*node.args, *(k.value for k in node.keywords)]
        match node.func:
            case ast.Name(id=name) if name in self.guards | NUMERIC:
                if name in ("_", "ngettext") and not all(isinstance(a, ast.Constant) for a in node.args[:2]):
                    return self._all(node.args[:2], scope)
                return frozenset()
            case ast.Name(id=name) if name in PASSING:
                return self._all(node.args, scope)
            case ast.Name(id="zip" | "enumerate"):
                return self._all(node.args, scope)
            case ast.Name(id="map"):
                passing = isinstance(node.args[0], ast.Name) and node.args[0].id in PASSING | NUMERIC
                return self._all(node.args[1:], scope) if passing else self.needs(node.args[0], scope)
            case ast.Attribute(attr="seen" | "seen_among") if given and _own_key(given[0]):
                return frozenset()
            case ast.Attribute(attr="tex"):
                return frozenset()
            case ast.Attribute(attr="local") if given:  # Message.local(escape)
                return self.needs(given[0], scope)
            case ast.Attribute(value=value, attr="format" | "join" as verb):
                if verb == "format" and self._made_of_data(value, scope):
                    raise Unproven(f"a template that holds data, whose braces would be fields: {ast.unparse(value)}")
                return self.needs(value, scope) | self._all(given, scope)
            case ast.Attribute(value=value, attr="replace") if len(node.args) == 2:
                return self.needs(value, scope) | self._all(node.args, scope)
            case ast.Attribute(value=value, attr="get" | "pop" | "setdefault"):
                return self.needs(value, scope) | self._all(node.args[1:], scope)
            case ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys"):
                return self._all(node.args, scope)
            case ast.Attribute(value=value, attr="values" | "copy"):
                return self.needs(value, scope)
            case ast.Attribute(value=value, attr=attr) if attr in KEEPING:
                return self.needs(value, scope)
            case ast.Attribute(attr=attr) if attr in COUNTING:
                return frozenset()
            case ast.Name(id=name) if (holder := _holder(name, scope)) is not None:
                return self._parameter(name, holder)  # a function that was given: md, or one that is looked at
        if callee := self._callee(node, scope):
            if callee.module.name == NUMERALS:
                return frozenset()
            return self._through(self._returned(callee), callee, node, scope)
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in self.facts.returned:
            return frozenset()
        raise Unproven(ast.unparse(node))

    def _made_of_data(self, template: ast.expr, scope: Scope) -> bool:
        """Whether a template for `format` is itself put together from more than words."""
        match template:
            case ast.JoinedStr(values=values):
                return any(isinstance(v, ast.FormattedValue) and not _wordy(v.value) for v in values)
            case ast.Name(id=name) if (made := self._all_of(name, scope)) and ("template", name) not in self.busy:
                self.busy.add(("template", name))
                try:
                    return any(self._made_of_data(one, made[1]) for one in made[0])
                finally:
                    self.busy.discard(("template", name))
            case ast.IfExp(body=body, orelse=orelse):
                return self._made_of_data(body, scope) or self._made_of_data(orelse, scope)
            case ast.BinOp(left=left, right=right):
                return self._made_of_data(left, scope) or self._made_of_data(right, scope)
        return False

    def _type(self, node: ast.expr, scope: Scope | None, deep: int = 6) -> ast.expr | None:
        """The annotation of what an expression is, where it can be read from the source."""
        if not deep:
            return None
        match node:
            case ast.Name(id=name):
                while scope is not None:
                    if name in scope.bound:
                        how, value = scope.bound[name][0]
                        return self._part(how.split("."), value, scope, deep - 1) if how != "caught" else None
                    if name == "self":
                        owner = next((c for (c, _m), method in scope.module.methods.items() if method is scope), "")
                        return ast.Name(id=owner)
                    if name in scope.parameters:
                        return _read(scope.parameters[name].annotation)
                    scope = scope.parent
            case ast.Attribute(value=value, attr=attr) if (owner := self._type(value, scope, deep - 1)) is not None:
                return self.facts.fields.get((_class(owner), attr))
            case ast.Subscript(value=value, slice=at):
                found = self._type(value, scope, deep - 1)
                return found if isinstance(at, ast.Slice) else _member(found)
            case ast.Call(func=function) if scope is not None:
                direct = isinstance(getattr(function, "value", function), ast.Name)
                if direct and (callee := self._callee(node, scope)):
                    return _read(getattr(callee.node, "returns", None))
                value, attr = getattr(function, "value", None), getattr(function, "attr", "")
                if value is not None and (owner := self._type(value, scope, deep - 1)) is not None:
                    return self.facts.fields.get((_class(owner), attr))
        return None

    def _part(self, how: list[str], value: ast.expr, scope: Scope, deep: int) -> ast.expr | None:
        """The annotation of a part of `value`, as a name is bound to it."""
        kind, *places = how
        match value:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]) if kind == "of" and places[:1] == ["1"]:
                return self._part(["of", *places[1:]], inner, scope, deep)
            case ast.Call(func=ast.Name(id="zip"), args=parts) if kind == "of" and places:
                return self._part(["of", *places[1:]], parts[int(places[0])], scope, deep)
            case ast.Call(func=ast.Name(id="sorted" | "list" | "tuple" | "reversed"), args=[inner, *_]):
                return self._part(how, inner, scope, deep)
        if ("type", value) in self.busy:
            return None
        self.busy.add(("type", value))
        found = self._type(value, scope, deep)
        self.busy.discard(("type", value))
        found = _member(found) if kind == "of" else found
        for place in places:
            match found:
                case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)) if int(place) < len(parts):
                    found = parts[int(place)]
                case _:
                    return None
        return found

    # functions --------------------------------------------------------------------------------------------------

    def _returned(self, callee: Scope) -> frozenset[tuple[ast.AST, str]]:
        """What a function needs for its value to be safe: its own parameters only."""
        if _is_number(getattr(callee.node, "returns", None)) or callee.node in self.busy:
            return frozenset()
        if not callee.returns:
            return frozenset()
        self.busy.add(callee.node)
        try:
            return frozenset().union(*(self.needs(r, callee) for r in callee.returns))
        except Unproven as why:
            raise Unproven(f"{callee.name or 'lambda'}: {why}") from None
        finally:
            self.busy.discard(callee.node)

    def _given_as_value(self, callee: Scope) -> frozenset[tuple[ast.AST, str]]:
        """A function that something else will call: what it gives back must not come from what it is given."""
        needed = self._returned(callee)
        if any(function is callee.node for function, _name in needed):
            raise Unproven(f"{callee.name or 'a lambda'} gives back what it is given")
        return needed

    def _through(self, needed: frozenset[tuple[ast.AST, str]], callee: Scope, node: ast.Call, scope: Scope):
        """Needs of the called function's parameters as needs of the call's arguments."""
        out: frozenset[tuple[ast.AST, str]] = frozenset()
        for function, name in needed:
            if function is not callee.node:
                out |= {(function, name)}
            else:
                for value in arguments(callee, node, name):
                    out |= self.needs(value, scope if value is not callee.defaults.get(name) else callee.module.top)
        return out

    def _callee(self, node: ast.Call, scope: Scope) -> Scope | None:
        """The project's own function that a call calls."""
        if node not in self.known:
            self.known[node] = None  # while it is being found out
            self.known[node] = self._found_callee(node, scope)
        return self.known[node]

    def _found_callee(self, node: ast.Call, scope: Scope) -> Scope | None:
        match node.func:
            case ast.Name(id=name):
                here: Scope | None = scope
                while here is not None:
                    if name in here.functions:
                        return here.functions[name]
                    if name in here.bound:
                        made = self._only(name, here)
                        return made[1].module.scopes.get(made[0]) if made else None
                    if name in here.parameters:
                        return None
                    here = here.parent
                if target := self._imported(scope.module, name):
                    return target[0].top.functions.get(target[1])
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                if (module := self._module(scope.module, name)) is None:
                    return self._method(node.func, scope)
                if attr in module.top.functions:
                    return module.top.functions[attr]
                if target := self._imported(module, attr):
                    return target[0].top.functions.get(target[1])
            case ast.Attribute():
                return self._method(node.func, scope)
        return None

    def _method(self, node: ast.Attribute, scope: Scope) -> Scope | None:
        owner = self._type(node.value, scope)
        return None if owner is None else self.methods.get((_class(owner), node.attr))

    def _imported(self, module: Module, name: str) -> tuple[Module, str] | None:
        """Where a name that was imported with `from … import` stands."""
        origin, original = module.imports.get(name, ("", ""))
        if not original or origin not in self.modules:
            return None
        found = self.modules[origin]
        if original in found.top.functions or original in found.top.bound:
            return found, original
        return self._imported(found, original) if original in found.imports and found is not module else None

    def _module(self, module: Module, name: str) -> Module | None:
        origin, original = module.imports.get(name, ("", ""))
        return self.modules.get(f"{origin}.{original}" if original else origin)

    # what stands on the surfaces --------------------------------------------------------------------------------

    def unproven(self) -> dict[Place, str]:
        """Every expression on a Markdown surface that is not proven, with the reason."""
        found: dict[Place, str] = {}
        done: set[tuple[ast.AST, str]] = set()
        for module in self.modules.values():
            for node, scope in list(module.around.items()):
                helper = self._callee(node, scope) if isinstance(node, ast.Call) else None
                if helper is not None and helper.module.path != DRAWN:
                    continue  # a helper's own parameters are followed
                for value in self.shown(module, node):
                    self._look(value, scope, found)
        while waiting := self.sinks - done:
            done |= waiting
            for function, name in waiting:
                self._callers(function, name, found)
        return found

    def _look(self, value: ast.expr, scope: Scope, found: dict[Place, str]) -> None:
        try:
            self.sinks |= self.needs(value, scope)
        except Unproven as why:
            function: Scope | None = scope
            while function is not None and not function.name and function.parent is not None:
                function = function.parent
            place = Place(scope.module.path, function.name if function else "", ast.unparse(value))
            found[place] = str(why)

    def _makes(self, call: ast.Call, scope: Scope, made: ast.ClassDef, home: Module) -> bool:
        """Whether a call makes an instance of this class of the module `home`."""
        match call.func:
            case ast.Name(id=name):
                return scope.module.imports.get(name, (scope.module.name, name)) == (home.name, made.name)
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                return attr == made.name and self._module(scope.module, name) is home
        return False

    def _callers(self, function: ast.AST, name: str, found: dict[Place, str]) -> None:
        """Look at what every caller gives to a parameter that ends on a surface."""
        if isinstance(function, ast.ClassDef):
            home = next(m for m in self.modules.values() if m.classes.get(function.name) is function)
            for module in self.modules.values():
                for call, scope in module.calls:
                    if self._makes(call, scope, function, home):
                        at = fields(function).index(name)
                        given = [k.value for k in call.keywords if k.arg == name] or call.args[at : at + 1]
                        for value in [a for a in call.args if isinstance(a, ast.Starred)] or given:
                            self._look(value, scope, found)
            return
        met = False
        for module in self.modules.values():
            for call, scope in module.calls:
                callee = self._callee(call, scope)
                if callee is not None and callee.node is function:
                    met = True
                    for value in arguments(callee, call, name):
                        self._look(value, scope if value is not callee.defaults.get(name) else callee.module.top, found)
        if not met:
            home = next(m for m in self.modules.values() if function in m.scopes)
            place = Place(home.path, getattr(function, "name", "lambda"), name)
            found[place] = "a parameter that nobody is seen to give"


def surfaces(call: ast.AST) -> Iterator[ast.expr]:
    """The arguments of a call that render Markdown."""
    if not isinstance(call, ast.Call):
        return
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name.endswith(COLUMNS):
        yield from (k.value for k in call.keywords if k.arg == "help")
    if name == "write" and ast.unparse(call.func) != "st.write":  # to a file
        return
    if name not in SURFACES:
        return
    told = SURFACES[name]
    placed = {told[at]: value for at, value in enumerate(call.args) if at < len(told)}
    named = {k.arg: k.value for k in call.keywords if k.arg}
    shown = named.get("format_func")
    for key, value in placed.items():
        if not (key == "options" and shown is not None) and key != "page":
            yield value
    for key, value in named.items():
        if key in EVERYWHERE or (key in told and key != "page" and not (key == "options" and shown is not None)):
            yield value
    if shown is not None and "options" in told:
        yield shown


def fields(made: ast.ClassDef | None) -> list[str]:
    """The fields of a dataclass or NamedTuple, in their order."""
    body = made.body if made else []
    return [p.target.id for p in body if isinstance(p, ast.AnnAssign) and isinstance(p.target, ast.Name)]


def arguments(callee: Scope, call: ast.Call, name: str) -> list[ast.expr]:
    """What a call gives to a parameter; its default where it gives nothing."""
    args = callee.node.args  # type: ignore[attr-defined]
    if args.vararg is not None and args.vararg.arg == name:
        return call.args[len(args.posonlyargs) + len(args.args) :]
    if args.kwarg is not None and args.kwarg.arg == name:
        known = {a.arg for a in [*args.args, *args.kwonlyargs]}
        return [k.value for k in call.keywords if k.arg not in known]
    for keyword in call.keywords:
        if keyword.arg == name:
            return [keyword.value]
    order = [a.arg for a in [*args.posonlyargs, *args.args]]
    if order[:1] == ["self"] and isinstance(call.func, ast.Attribute):
        order = order[1:]
        if name == "self":
            return [call.func.value]
    if name in order and order.index(name) < len(call.args):
        at = order.index(name)
        starred = [a for a in call.args[: at + 1] if isinstance(a, ast.Starred)]
        return [starred[0]] if starred else [call.args[at]]
    if any(isinstance(a, ast.Starred) for a in call.args):
        return [a for a in call.args if isinstance(a, ast.Starred)]
    return [callee.defaults[name]] if name in callee.defaults else []


def _holder(name: str, scope: Scope | None) -> Scope | None:
    """The function whose parameter `name` is, where no nearer one binds it."""
    while scope is not None:
        if name in scope.bound or name in scope.functions:
            return None
        if name in scope.parameters:
            return scope
        scope = scope.parent
    return None


def _wordy(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_", "ngettext")


def _how(how: str, places: list[str]) -> str:
    return ".".join([how, *places])


def _numeric_format(spec: ast.expr | None) -> bool:
    """Whether only a number can be formatted so: `.3f`, `,`, `+.2g`; a string would raise."""
    if not isinstance(spec, ast.JoinedStr):
        return False
    last = spec.values[-1] if spec.values else None
    return isinstance(last, ast.Constant) and str(last.value)[-1:] in tuple("defgGn%,")


def _is_number(annotation: ast.expr | None) -> bool:
    if annotation is None:
        return False
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return True
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    match annotation:
        case ast.BinOp(left=left, right=right, op=ast.BitOr()):
            return _is_number(left) and _is_number(right)
        case ast.Subscript(value=ast.Name(id=name), slice=inner) if name in COLLECTIONS:
            return all(_is_number(part) for part in (inner.elts if isinstance(inner, ast.Tuple) else [inner]))
        case ast.Subscript(value=ast.Name(id=name)) | ast.Name(id=name):
            return name in NUMBERS
        case ast.Constant(value=value):
            return value is None or value is ...
    return False


def _read(annotation: ast.expr | None) -> ast.expr | None:
    """An annotation without its quotes and without `| None`."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    match annotation:
        case ast.BinOp(left=left, right=ast.Constant(value=None), op=ast.BitOr()):
            return left
    return annotation


def _member(annotation: ast.expr | None) -> ast.expr | None:
    """What a collection of this annotation holds."""
    match annotation:
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[inner, ast.Constant(value=value)])):
            return inner if value is ... else None
        case ast.Subscript(value=ast.Name(id="list" | "Sequence" | "Iterable" | "Iterator" | "tuple"), slice=inner):
            return inner if not isinstance(inner, ast.Tuple) else None
        case ast.Subscript(value=ast.Name(id="dict" | "Mapping"), slice=ast.Tuple(elts=[_key, inner])):
            return inner
    return annotation if _is_number(annotation) else None


def _class(annotation: ast.expr) -> str:
    return annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")


def _own_key(node: ast.expr) -> bool:
    """Whether this is a key of a page's setting that holds a number, or one of some words of ours."""
    match node:
        case ast.Attribute(value=ast.Name(id="keys"), attr=name):
            key = getattr(view_keys, name, None)
            return isinstance(key, view_keys.ViewKey) and (isinstance(key.default, int | float) or bool(key.options))
    return False


class Facts:
    """What the source says of fields, functions and constants: which of them are numbers or words of ours.

    `numbers` and `returned` are the names of fields and functions that are numbers wherever the project has one of the
    name; `fields` the annotation of a class's field, or of what its method returns.
    """

    def __init__(self, codes: Iterable[Source]):
        numbers: dict[str, set[bool]] = {}
        returned: dict[str, set[bool]] = {}
        constants: dict[str, set[bool]] = {}
        self.fields: dict[tuple[str, str], ast.expr | None] = {}
        for tree in map(parsed, codes):
            for node in tree.body:
                match node:
                    case (
                        ast.Assign(targets=[ast.Name(id=name)], value=value)
                        | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                    ) if name.isupper():
                        plain = not any(isinstance(n, ast.Name | ast.Call) for n in ast.walk(value))
                        constants.setdefault(name, set()).add(plain)
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    for part in node.body:
                        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                            numbers.setdefault(part.target.id, set()).add(_is_number(part.annotation))
                            self.fields[node.name, part.target.id] = _read(part.annotation)
                        if isinstance(part, ast.FunctionDef):
                            self.fields[node.name, part.name] = _read(part.returns)
                if isinstance(node, ast.FunctionDef):
                    decorated = {ast.unparse(d) for d in node.decorator_list}
                    kind = numbers if decorated & {"property", "cached_property"} else returned
                    kind.setdefault(node.name, set()).add(_is_number(node.returns))
        self.numbers = frozenset(name for name, said in numbers.items() if said == {True}) | {"shape"}
        self.returned = frozenset(name for name, said in returned.items() if said == {True})
        self.constants = frozenset(name for name, said in constants.items() if said == {True})


@cache
def facts_of(codes: tuple[Source, ...]) -> Facts:
    """The facts of these files, read once."""
    return Facts(codes)


# figures ------------------------------------------------------------------------------------------------------------

TEXTS = {
    "text", "title", "name", "hovertext", "hovertemplate", "texttemplate", "ticktext", "title_text", "categoryarray",
    "legendgrouptitle_text", "labels", "label", "prefix", "suffix", "ticksuffix", "tickprefix", "meta",
}  # fmt: skip
"""Keywords, and keys of dicts, whose strings Plotly reads as its small HTML."""


def figure_texts(module: Module, node: ast.AST) -> Iterator[ast.expr]:
    """The expressions in a figure builder that Plotly draws as text."""
    if not module.path.startswith(FIGURES):
        return
    match node:
        case ast.Call(keywords=keywords):
            yield from (k.value for k in keywords if k.arg in TEXTS)
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and key.value in TEXTS:
                    yield value
