"""The floors: imports go down only, and each foreign tool has its one room. Read from the syntax, nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import bayes_engine
from tests.catalogue import nodes_of_sources, sources

ROOT = Path(__file__).parents[1]

FLOORS = (
    {"errors", "logspace", "language", "numerals", "progress"},
    {"table"},
    {"dataset_format"},
    {"stats"},
    {"priors", "covariance"},
    {"structure"},
    {"factors", "ledger"},
    {"inference", "em", "exchange"},
    {"decision"},
    {"models"},
    {"uncertainty"},
    {"store", "dataset_toml"},
    {"scale"},
    {"datasets"},
    {"__init__"},
    {"workbench/derivation", "workbench/doctor", "workbench/incoming", "workbench/laboratory"},
    {
        "workbench/figures",
        "workbench/exercises",
        "workbench/lessons",
        "workbench/private",
        "workbench/link_token",
        "workbench/qr_drawing",
        "workbench/skeleton",
        "workbench/kept_files",
        "workbench/command_checks",
        "workbench/font_parts",
        "workbench/hosts",
        "workbench/loading",
        "workbench/workers",
    },
    {"workbench/front", "workbench/command_line"},
    {"workbench/launch"},
)
PAGE_FLOORS = ({"runtime"}, {"active"}, {"components"}, {"shell", "views"})
"""Of the packages of the pages; above them all stand the page scripts and app.py."""
PUBLIC = set(bayes_engine.__all__)
MOST_LINES = 60
"""Of a page script: pick, call, show, explain."""
LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}

HOMES = {  # a package: where it may be imported, as the beginnings of paths
    "streamlit": ("app.py", "pages/"),
    "plotly": ("bayes_engine/workbench/figures/",),
    "dask": ("bayes_engine/scale/",),
    "distributed": ("bayes_engine/scale/",),
    "pyspark": ("bayes_engine/scale/",),
    "numpy": ("bayes_engine/",),
    "scipy": ("bayes_engine/",),
    "sklearn": ("bayes_engine/",),
}
BANNED = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}  # loading them runs code
BETWEEN_PROCESSES = "bayes_engine/workbench/workers/"
"""Where our own processes speak to each other by pickle, over the pipes that stand between them."""
EXPONENTIALS = {"exp", "exp2", "expm1", "softmax", "logsumexp", "logaddexp", "logaddexp2"}


def nodes_of(code: str) -> list[ast.AST]:
    return [*ast.walk(ast.parse(code))]


def imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """(module, name) of everything imported, also by `importlib.import_module("…")`; name is "" for a whole module."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, "") for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from ((module, alias.name) for alias in names)
            case ast.ImportFrom():
                yield "relative import", ""
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(module)), *_]):
                yield module, ""


def room_of(parts: list[str]) -> str:
    """The room of the engine that a file or a module stands in: `stats`, or a room of the workbench."""
    return "/".join(parts[:2]) if parts[:1] == ["workbench"] else parts[0]


def page_level(parts: list[str]) -> int:
    """The floor of a module of the pages, by its name's parts after `pages`."""
    return next((level for level, rooms in enumerate(PAGE_FLOORS) if parts[0] in rooms), len(PAGE_FLOORS))


def page_faults(path: str, module: str, name: str) -> Iterator[str]:
    """What a file below `pages/` does against the floors there by importing `name` from `module`."""
    own, other = path.removesuffix(".py").split("/")[1:], [*module.split(".")[1:], name]
    if page_level(other) > page_level(own):
        yield f"imports {module}, a floor above"
    if own[:1] == ["shell"] and other[0] == "views":
        yield f"imports {module}: the shell knows no view"
    if own[:1] == ["views"] and (other[0] == "shell" or (other[0] == "views" and other[:2] != own[:2])):
        yield f"imports {module}: a view knows neither the shell nor another view"


def faults(path: str, nodes: list[ast.AST]) -> list[str]:
    """What the file at `path` does that its place forbids."""
    found = []
    inside = path.startswith("bayes_engine/")
    room = room_of(path.removesuffix(".py").split("/")[1:]) if inside else ""
    if inside and room not in LEVEL:
        found.append(f"the room '{room}' stands on no floor; name it in FLOORS")
    for module, name in imported(nodes):
        top = module.split(".")[0]
        if module == "relative import":
            found.append("a relative import")
        if top in BANNED and not (top == "pickle" and path.startswith(BETWEEN_PROCESSES)):
            found.append(f"imports {module}")
        if top in HOMES and not path.startswith(HOMES[top]):
            found.append(f"imports {module}, which belongs to {' and '.join(HOMES[top])}")
        if (
            module.startswith("sklearn.base")
            and (name == "BaseEstimator" or name.endswith("Mixin"))
            and room != "models"
        ):
            found.append(f"takes {name} from scikit-learn outside models/")
        if name in EXPONENTIALS and module != "bayes_engine.logspace":
            found.append(f"imports {name} from {module}: logspace.py is the only file that exponentiates")
        page = f"{module}.{name}".removeprefix("pages.").split(".")[0]
        if top == "pages" and page and not any(page in rooms for rooms in PAGE_FLOORS):
            found.append(f"imports {module}: a page is run, never imported")
        if top == "pages" and path.startswith("pages/"):
            found += page_faults(path, module, name)
        if inside and top in ("pages", "app"):
            found.append(f"imports {module}: the engine does not know the app")
        if inside and room in LEVEL and top == "bayes_engine":
            below = room_of(f"{module}.{name}".split(".")[1:])
            if LEVEL.get(below, len(FLOORS)) > LEVEL[room]:
                found.append(f"imports {module}, a floor above")
    for node in nodes:
        match node:
            case ast.Attribute(attr=attr, value=value) if attr in EXPONENTIALS and path != "bayes_engine/logspace.py":
                if ast.unparse(value) != "logspace":
                    found.append(f"{ast.unparse(node)}: logspace.py is the only file that exponentiates")
            case ast.Attribute(attr="query_params") if path != "pages/runtime/state.py":
                found.append("query_params: pages/runtime/state.py is the only file that reads and writes the URL")
            case ast.Call(func=ast.Name(id="hash")) if path.startswith("pages/"):
                found.append("hash: unequal values may have one; a key holds the values themselves or `content_key`")
            case ast.keyword(arg="unsafe_allow_html"):
                found.append("unsafe_allow_html")
            case ast.Attribute(attr="v1", value=ast.Attribute(attr="components")):
                found.append("streamlit.components.v1")
            case ast.alias(name=str(name)) if "components.v1" in name:
                found.append("streamlit.components.v1")
    return found


def test_every_file_keeps_to_its_floor() -> None:
    found = {path: faults(path, nodes) for path, nodes in nodes_of_sources().items()}
    assert not {path: wrong for path, wrong in found.items() if wrong}


@cache
def import_graph(package: str) -> dict[str, set[str]]:
    """{module: modules of the package that it imports}, those inside functions and for types alone included."""
    paths = {path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): path
             for path in sources() if path.startswith(f"{package}/")}  # fmt: skip
    graph: dict[str, set[str]] = {}
    for own, path in paths.items():
        pairs = imported(nodes_of_sources()[path])
        graph[own] = {full if (full := f"{module}.{name}") in paths else module for module, name in pairs}
    return {own: (below & paths.keys()) - {own} for own, below in graph.items()}


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Modules each of which imports the one before, the first being the last; none where there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("package", ["bayes_engine", "pages"])
def test_no_circle_of_imports(package: str) -> None:
    assert circle(import_graph(package)) == []


def test_a_circle_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert not circle({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    assert "bayes_engine.decision.margins" in import_graph("bayes_engine")["bayes_engine.decision.loss"]


def test_no_two_public_classes_share_a_name() -> None:
    paths: dict[str, list[str]] = {}
    for path, nodes in nodes_of_sources().items():
        if path.startswith("bayes_engine/"):
            for node in nodes:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    paths.setdefault(node.name, []).append(path)
    assert {name: where for name, where in paths.items() if len(where) > 1} == {}


MOST_PARAMETERS = 8
"""Of a function that is not public; what belongs together is an object with a name."""
GIVEN = {"pages/runtime/logs.py CleanRecord.__init__"}
"""Functions whose parameters are those of a library's method that they override."""


def parameter_counts(path: str, nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    """(place and name, number of parameters without self) of the functions at a path, of estimators' constructors and
    of what `bayes_engine` exports only the inner ones."""
    owner = {inner: cls for cls in nodes if isinstance(cls, ast.ClassDef) for inner in cls.body}
    for node in nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        cls = owner.get(node)
        if (cls is None and node.name in PUBLIC) or (
            cls is not None and cls.name in PUBLIC and node.name == "__init__"
        ):
            continue
        named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        stars = (node.args.vararg is not None) + (node.args.kwarg is not None)
        name = node.name if cls is None else f"{cls.name}.{node.name}"
        yield f"{path} {name}", len([a for a in named if a.arg not in ("self", "cls")]) + stars


def test_no_function_takes_more_than_eight_parameters() -> None:
    counts = [pair for path, nodes in nodes_of_sources().items() for pair in parameter_counts(path, nodes)]
    assert {name: n for name, n in counts if n > MOST_PARAMETERS and name not in GIVEN} == {}
    assert dict(counts).keys() >= GIVEN


def test_parameters_are_counted() -> None:
    code = "class A:\n def f(self, a, /, b, *args, c=1, **more): ...\nclass TAN:\n def __init__(self, a, b): ..."
    assert list(parameter_counts("x.py", nodes_of(code))) == [("x.py A.f", 5)]


HOLLOW = {"found", "said", "told", "at"}
"""Names that do not say what they hold; as fields, which stand beside the name of their class, they may."""


def test_parameters_and_locals_say_what_they_hold() -> None:
    hollow = []
    for path, nodes in nodes_of_sources().items():
        fields = {id(line.target) for cls in nodes if isinstance(cls, ast.ClassDef) for line in cls.body
                  if isinstance(line, ast.AnnAssign)}  # fmt: skip
        for node in nodes:
            match node:
                case ast.arg(arg=name) if name in HOLLOW:
                    hollow.append(f"{path}:{node.lineno} {name}")
                case ast.Name(id=name, ctx=ast.Store()) if name in HOLLOW and id(node) not in fields:
                    hollow.append(f"{path}:{node.lineno} {name}")
    assert hollow == []


def test_a_page_begins_with_boot() -> None:
    pages = {page.name: sources()[f"pages/{page.name}"].body[:2] for page in (ROOT / "pages").glob("*.py")}
    begun = ["from pages.shell.router import boot", "boot()"]
    assert not [name for name, lines in pages.items() if [*map(ast.unparse, lines)] != begun]


def test_a_page_is_short() -> None:
    long = {page.name: len(page.read_text(encoding="utf-8").splitlines()) for page in (ROOT / "pages").glob("*.py")}
    assert {name: n for name, n in long.items() if n > MOST_LINES} == {}


def test_a_model_states_two_verbs() -> None:
    tree = sources()["bayes_engine/models/base.py"]
    marked = [f.name for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.decorator_list
              and ast.unparse(f.decorator_list[0]) == "abstractmethod"]  # fmt: skip
    assert marked == ["_count", "_estimate"]


def classes_of_models() -> dict[str, ast.ClassDef]:
    trees = [tree for path, tree in sources().items() if Path(path).parent == Path("bayes_engine/models")]
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}


def own_names(node: ast.ClassDef) -> set[str]:
    """The methods and class attributes of a class, without its parameters' types."""
    names = {f.name for f in node.body if isinstance(f, ast.FunctionDef)}
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and line.value is not None:
            names.add(ast.unparse(line.target))
        elif isinstance(line, ast.Assign):
            names |= {ast.unparse(target) for target in line.targets}
    return {name for name in names if not name.startswith("__")}


def ancestors(name: str, classes: dict[str, ast.ClassDef]) -> set[str]:
    bases = {ast.unparse(base) for base in classes[name].bases} & classes.keys()
    return bases.union(*(ancestors(base, classes) for base in bases))


@pytest.mark.parametrize(
    "base", ["TableReader", "GenerativeClassifier", "MatrixClassifier", "GaussianDiscriminant", "SemiNaive"]
)
def test_a_base_lists_the_hooks_that_are_overridden(base: str) -> None:
    classes = classes_of_models()
    below = [name for name in classes if base in ancestors(name, classes)]
    overridden = {hook for name in below for hook in own_names(classes[name]) & own_names(classes[base])}
    for above in ancestors(base, classes):
        overridden -= own_names(classes[above])
    told = ast.get_docstring(classes[base]) or ""
    hooks = {hook for hook in overridden if hook.startswith("_") or hook in ("takes_text", "takes_sparse")}
    assert len(below) > 1 and not {hook for hook in hooks if f"`{hook}`" not in told}


def test_models_stand_three_classes_below_the_base_at_most() -> None:
    classes = classes_of_models()

    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in ancestors(name, classes)), default=0)

    generative = [name for name in classes if "GenerativeClassifier" in ancestors(name, classes)]
    assert {name for name in generative if depth(name) - depth("GenerativeClassifier") > 3} == set()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("bayes_engine/table/schema.py", "from bayes_engine.stats import counts"),
        ("bayes_engine/table/schema.py", "from bayes_engine import stats"),
        ("bayes_engine/factors.py", "import bayes_engine.models.naive_bayes"),
        ("bayes_engine/cellar/wine.py", "x = 1"),
        ("bayes_engine/stats/counts.py", "from . import moments"),
        ("bayes_engine/models/base.py", "import plotly.graph_objects as go"),
        ("bayes_engine/workbench/figures/theme.py", "import streamlit as st"),
        ("bayes_engine/table/read.py", "import importlib\nimportlib.import_module('streamlit.runtime')"),
        ("bayes_engine/workbench/launch.py", "from pages.shell import router"),
        ("bayes_engine/store.py", "def load(path):\n    import pickle"),
        ("bayes_engine/workbench/workers/child.py", "import joblib"),
        ("bayes_engine/stats/counts.py", "from sklearn.base import BaseEstimator"),
        ("bayes_engine/decision/loss.py", "import numpy as np\nnp.exp(1)"),
        ("bayes_engine/decision/loss.py", "from scipy.special import logsumexp"),
        ("pages/start.py", "import numpy as np"),
        ("pages/shell/chips.py", "import numpy as np"),
        ("pages/start.py", "st.markdown(x, unsafe_allow_html=True)"),
        ("pages/start.py", "import streamlit.components.v1 as components"),
        ("pages/start.py", "st.components.v1.html(x)"),
        ("bayes_engine/models/base.py", "from bayes_engine.workbench.derivation import derive"),
        ("bayes_engine/__init__.py", "from bayes_engine.workbench.incoming.classified_file import ScoredRows"),
        ("bayes_engine/workbench/derivation/derive.py", "from bayes_engine.workbench.figures import theme"),
        ("pages/runtime/state.py", "from pages import active"),
        ("pages/active/shelf.py", "from pages.components import plane"),
        ("pages/components/plane.py", "from pages.views.case import editor"),
        ("pages/views/case/editor.py", "from pages.views.model import settings"),
        ("pages/views/case/editor.py", "from pages.shell.router import boot"),
        ("pages/shell/chips.py", "from pages.views.case.editor import Study"),
        ("pages/start.py", "from pages.data import gallery"),
        ("pages/shell/chips.py", "from pages import decisions"),
        ("pages/components/regions.py", "st.query_params['s'] = x"),
        ("pages/active/tables.py", "key = f'{name}|{hash(repairs):x}'"),
    ],
)
def test_the_rules_bite(path: str, code: str) -> None:
    assert faults(path, nodes_of(code))


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (
            "bayes_engine/models/base.py",
            "from sklearn.base import BaseEstimator, clone\nfrom bayes_engine.stats import counts",
        ),
        ("bayes_engine/decision/evaluate.py", "from sklearn.base import clone\nimport numpy as np"),
        ("bayes_engine/errors.py", "from bayes_engine.language import Message"),
        ("bayes_engine/logspace.py", "import numpy as np\nnp.exp(1)"),
        ("bayes_engine/workbench/derivation/derive.py", "from bayes_engine.logspace import exp\nexp(1)"),
        ("bayes_engine/__init__.py", "from bayes_engine.models.naive_bayes import NaiveBayes"),
        ("bayes_engine/workbench/figures/ask.py", "from bayes_engine.workbench.derivation import derive"),
        ("pages/start.py", "import streamlit as st\nst.components.v2.component('x', js=y)"),
        ("pages/start.py", "from pages.shell.router import boot\nfrom pages.views.case import editor"),
        ("pages/views/case/editor.py", "from pages.views.case import ask\nfrom pages import active"),
    ],
)
def test_the_rules_let_pass(path: str, code: str) -> None:
    assert not faults(path, nodes_of(code))


FACTORS = ("bayes_engine.factors", "bayes_engine.inference.directed", "bayes_engine.inference.averaged",
           "bayes_engine.models.weighted", "bayes_engine.models.lazy")  # fmt: skip
"""Where factors are defined, and the posteriors of their parameters."""
MOST_QUESTIONS = 40


def factor_classes() -> set[str]:
    """The names of all factors, whatever they derive from on the way, and of their posteriors."""
    bases: dict[str, set[str]] = {"Factor": set()}
    for path, nodes in nodes_of_sources().items():
        if path.removesuffix(".py").replace("/", ".").startswith(FACTORS):
            for node in nodes:
                if isinstance(node, ast.ClassDef):
                    bases[node.name] = {ast.unparse(base) for base in node.bases}
    found = {"Factor", *(name for name in bases if name.endswith("Posterior"))}
    while more := {name for name, of in bases.items() if of & found} - found:
        found |= more
    return found


def questions(path: str, nodes: list[ast.AST], named: set[str]) -> list[int]:
    """The lines that ask which factor one is: isinstance, a class pattern, `type(x) is`, hasattr, a registered function
    of `singledispatch`, `.form ==`. Names count where they are imported from where factors stand, or defined."""
    known = {alias.asname or alias.name for node in nodes if isinstance(node, ast.ImportFrom)
             for alias in node.names if (node.module or "").startswith(FACTORS) and alias.name in named}  # fmt: skip
    if path.removesuffix(".py").replace("/", ".").startswith(FACTORS):
        known |= {node.name for node in nodes if isinstance(node, ast.ClassDef)} & named
    found = []
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                asks = bool(known & {n.id for n in ast.walk(kinds) if isinstance(n, ast.Name)})
            case ast.MatchClass(cls=ast.Name(id=name)):
                asks = name in known
            case ast.Compare(left=ast.Call(func=ast.Name(id="type")), comparators=[ast.Name(id=name)]):
                asks = name in known
            case ast.Compare(left=ast.Attribute(attr="form" | "numbers", value=asked)):
                asks = ast.unparse(asked) not in ("self", "theta", "work")  # of a mixture
            case ast.Call(func=ast.Name(id="hasattr"), args=[asked, _]):
                asks = ast.unparse(asked) in ("factor", "part", "leaf", "family")
            case ast.FunctionDef(decorator_list=decorators):
                asks = any(".register" in ast.unparse(d) for d in decorators)
            case _:
                asks = False
        if asks:
            found.append(getattr(node, "lineno", 0) or node.cls.lineno)
    return found


def test_a_factor_answers_for_itself_so_that_few_ask_which_it_is() -> None:
    named = factor_classes()
    factors = {
        "TableLeaf",
        "KernelLeaf",
        "TextLeaf",
        "LinearFactor",
        "DirectedFactor",
        "AveragedFactor",
        "WeightedFactor",
    }
    assert factors <= named
    engine = {path: nodes for path, nodes in nodes_of_sources().items() if path.startswith("bayes_engine/")}
    asked = {path: lines for path, nodes in engine.items() if (lines := questions(path, nodes, named))}
    assert sum(map(len, asked.values())) <= MOST_QUESTIONS, asked


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(part, ClassPrior | TableLeaf)",
        "match part:\n    case TableLeaf(counts=counts):\n        pass",
        "type(part) is TableLeaf",
        "hasattr(factor, 'parts')",
        "@believed.register\ndef _(factor): ...",
        "leaf.form == 'table'",
    ],
)
def test_a_question_is_counted(code: str) -> None:
    nodes = nodes_of(f"from bayes_engine.factors.table import TableLeaf\n{code}")
    assert questions("bayes_engine/decision/case.py", nodes, {"TableLeaf"})
