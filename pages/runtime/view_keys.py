"""What pages keep in the address beside the state: every key once, with its page, its default and what it may hold.

A stored value of another type, or one that its key's check refuses (a forged link), reads as the default. What depends
on the table, as how many columns it has, is judged where the table is known: `State.seen_among`. The names stand in
links and saved workspaces, so they stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from bayes_engine.inference.gibbs_kernel import Scan, Start
    from bayes_engine.models.mixture_components import Form
    from bayes_engine.structure.scores import ScoreName
    from bayes_engine.structure.search_trace import Method

T = TypeVar("T")
Setting = tuple[str, Any]
"""A key's name and its value, as the state holds them."""
Places = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class ViewKey(Generic[T]):
    """One setting of a page. `read` is the check: what a stored value means, None where it is none of this key's.

    A choice has `options`, a number `limits`; a float is kept to `digits` decimals. `widget` is what the widget is
    called that shows the key.
    """

    name: str
    default: T
    read: Callable[[Any], T | None]
    page: str
    options: tuple[T, ...] = ()
    limits: tuple[T, ...] = ()
    digits: int | None = None
    widget: str = ""

    def of(self, view: Mapping[str, Any]) -> T:
        """Its value in a view; the default where there is none, or one that is refused."""
        value = self.read(view[self.name]) if self.name in view else None
        return self.default if value is None else value

    def to(self, value: T) -> Setting:
        """This key set to a value, as the state keeps it."""
        if isinstance(value, float) and self.digits is not None:
            return self.name, round(value, self.digits)
        return self.name, tuple(value) if isinstance(value, list) else value


KEYS: dict[str, ViewKey[Any]] = {}
"""All keys, by the names that stand in links."""


@dataclass(frozen=True)
class _Page:
    """Declares the keys of a page; a room's name stands for all pages that it serves."""

    name: str

    def key(
        self,
        name: str,
        default: T,
        read: Callable[[Any], T | None],
        widget: str = "",
        options: tuple[T, ...] = (),
        limits: tuple[T, ...] = (),
        digits: int | None = None,
    ) -> ViewKey[T]:
        if name in KEYS:
            raise ValueError(f"the key {name!r} is declared twice")
        made = ViewKey(name, default, read, self.name, options, limits, digits, widget or name)
        KEYS[name] = made
        return made

    def switch(self, name: str, *, widget: str = "") -> ViewKey[bool]:
        return self.key(name, False, _switch, widget)

    def undecided(self, name: str, *, widget: str = "") -> ViewKey[bool | None]:
        """On or off; None until a person chose."""
        return self.key(name, None, _switch, widget)

    def choice(self, name: str, default: T, *options: T, widget: str = "") -> ViewKey[T]:
        """One of some options; a default that is none of them stands for "not chosen"."""

        def read(value: Any) -> T | None:
            return value if type(value) is type(default) and value in options else None

        return self.key(name, default, read, widget, options=options)

    def string(self, name: str, default: str = "") -> ViewKey[str]:
        return self.key(name, default, lambda value: value if isinstance(value, str) else None)

    def whole(self, name: str, default: int, low: int = 0, high: int = 2**53, *, widget: str = "") -> ViewKey[int]:
        """A whole number; one beyond its limits counts as the limit."""

        def read(value: Any) -> int | None:
            return min(max(value, low), high) if type(value) is int else None

        return self.key(name, default, read, widget, limits=(low, high))

    def place(self, name: str, *, widget: str = "") -> ViewKey[int]:
        """A position, of a column, a class or a step; −1 where none is chosen."""
        return self.whole(name, -1, -1, widget=widget)

    def number(
        self, name: str, default: float, low: float, high: float, digits: int | None = None, *, widget: str = ""
    ) -> ViewKey[float]:
        """A number; one beyond its limits counts as the limit."""

        def read(value: Any) -> float | None:
            return min(max(float(value), low), high) if _number(value) else None

        return self.key(name, default, read, widget, limits=(low, high), digits=digits)

    def position(self, name: str, *lengths: int) -> ViewKey[Places]:
        """So many positions that mean something together, as the row and column of a cell; () where none is chosen."""

        def read(value: Any) -> Places | None:
            return value if isinstance(value, tuple) and len(value) in lengths and all(map(_place, value)) else None

        return self.key(name, (), read)

    def places(self, name: str, *, widget: str = "") -> ViewKey[Places]:
        """Any number of positions."""
        return self.entries(name, _place, widget=widget)

    def pairs(self, name: str, *, widget: str = "") -> ViewKey[Pairs]:
        """Any number of pairs of positions, as arcs, or nodes with their levels."""
        return self.entries(name, lambda pair: _pair(pair, _place, _place), widget=widget)

    def entries(
        self, name: str, sound: Callable[[Any], bool], default: tuple[Any, ...] = (), *, widget: str = ""
    ) -> ViewKey[tuple[Any, ...]]:
        """Any number of entries, each judged alone: what is not sound is left out."""

        def read(value: Any) -> tuple[Any, ...] | None:
            return tuple(filter(sound, value)) if isinstance(value, tuple) else None

        return self.key(name, default, read, widget)

    def row(self, name: str) -> ViewKey[tuple[Any, ...]]:
        """Values that only what they are about can judge; () where none are set."""
        return self.key(name, (), lambda value: value if isinstance(value, tuple) else None)


def _switch(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: Any) -> bool:
    return type(value) in (int, float)


def _place(value: Any) -> bool:
    return type(value) is int and value >= 0


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _pair(entry: Any, first: Callable[[Any], bool], second: Callable[[Any], bool] = lambda _value: True) -> bool:
    return isinstance(entry, tuple) and len(entry) == 2 and first(entry[0]) and second(entry[1])


def _coordinate(value: Any) -> bool:
    return _number(value) and abs(value) < 1e15


# several pages --------------------------------------------------------------------------------------------------------

_plane, _files = _Page("components"), _Page("active")
AXIS_X, AXIS_Y = _plane.place("x"), _plane.place("y")
SLICED = _plane.switch("sliced")
FLIP = _plane.switch("flip")
READ = _files.entries("read", lambda entry: _pair(entry, _text))
READ_SECOND = _files.entries("read_second", lambda entry: _pair(entry, _text))
READ_COLUMN = _files.whole("read_column", 0)
SECOND = _files.string("second")

# data -----------------------------------------------------------------------------------------------------------------

_data = _Page("data")
LEVELS_OF = _data.place("levels_of")
LEVEL_AT = _data.whole("level_at", 0)
DOCTOR_COLUMN = _data.place("doctor_column")
DOCTOR_FROM = _data.whole("doctor_from", 0)

# model ----------------------------------------------------------------------------------------------------------------

_model = _Page("model")
MODEL_VIEW = _model.choice("model_view", "conditionals", "conditionals", "compare", "ways")
COLUMN = _model.place("column")
COLUMNS_BY = _model.choice("columns_by", "information", "information", "table")
CELL = _model.position("cell", 2)
HELD = _model.pairs("held")
SUPER_PARENT = _model.place("super_parent")
PRIOR_OF = _model.choice("prior_of", "all", "all", "one")
PICTURED = _model.choice("pictured", "", "inked", "mean", "sd")
KNOBS_OPEN = _model.switch("knobs", widget="knobs_open")
SAVE_OPEN = _model.switch("save", widget="save_open")
WHICH_OPEN = _model.switch("which", widget="which_open")
WHICH_MESSAGE = _model.string("which_message")
LOOK: ViewKey[str | Places] = _model.key(
    "look", "", lambda v: v if isinstance(v, str) or _pair(v, _place, _place) else None
)
LOOK_CLASS = _model.place("look_class")
CALIBRATOR = _model.choice("calibrator", "none", "none", "temperature", "platt", "isotonic")
TRUST_CALIBRATOR = _model.choice("trust_calibrator", "temperature", "temperature", "platt", "isotonic")
COMPARE_BY = _model.choice("compare_by", "risk", "risk", "error", "log_loss", "brier")
COMPARE_CURVE = _model.choice("compare_curve", "calibration", "calibration", "threshold", "roc", "recall", "cost")
COMPARE_CLASS = _model.whole("compare_class", 0)
WAYS_COLUMN = _model.whole("ways_column", -2, -2)
TIMED = _model.whole("timed", 0)
AWAY = _model.places("away")
AWAY_ROW = _model.place("away_row")

# decisions ------------------------------------------------------------------------------------------------------------

_decisions = _Page("decisions")
THREE = _decisions.position("three", 1, 2, 3)
TARGET = _decisions.number("target", 2.0, 0.0, 100.0, widget="target_error")

# case -----------------------------------------------------------------------------------------------------------------

_case = _Page("case")
CASE_VIEW = _case.choice("case_view", "decision", "decision", "ask")
LEFT_OUT = _case.switch("left_out")
EXERCISE = _case.whole("exercise", 0)
FILL = _case.switch("fill")
ANSWERS = _case.entries("answers", lambda entry: _pair(entry, _text, _text))
DIGITS = _case.choice("digits", "", "", "hand", "full")
CLASSES = _case.places("classes", widget="classes_shown")
FACTOR, FACTOR_CLASS = _case.place("factor"), _case.whole("of", 0)
FACTOR_PAGE = _case.whole("from", 0, widget="factor_page")
COPY_OPEN = _case.undecided("copying", widget="copy_open")
COPY_FORM = _case.choice("copy", "", "latex", "markdown", "text", widget="copy_form")
ORDER = _case.choice("order", "size", "size", "table", widget="case_order")
UNIT = _case.choice("unit", "nats", "nats", "bits", widget="case_unit")
FOR, AGAINST = _case.place("for", widget="case_for"), _case.place("against", widget="case_against")
MARGINS = _case.switch("margins", widget="margins_all")
WISH = _case.place("wish", widget="margins_wish")
DRAWS = _case.whole("draws", 0)
PLAUSIBLE_CLASS = _case.place("plausible_class")
TOLD = _case.entries("told", lambda entry: _pair(entry, _place))
ASK_FROM = _case.choice("ask_from", "nothing", "nothing", "case")
ASK_ABOUT = _case.place("ask_about")
ASK_ALL = _case.switch("ask_all")
ASK_COST = _case.number("ask_cost", 0.0, 0.0, math.inf)
ASK_COSTS = _case.entries("ask_costs", lambda entry: _pair(entry, _place, lambda v: _number(v) and 0 <= v <= 1e9))
ASK_ROW = _case.whole("ask_row", 0)

# classify -------------------------------------------------------------------------------------------------------------

_classify = _Page("classify")
SECOND_ALIKE = _classify.switch("second_alike")
RESULTS_AS = _classify.choice("results_as", "csv", "csv", "xlsx", "parquet")

# dependence -----------------------------------------------------------------------------------------------------------

_dependence = _Page("dependence")
DEPENDENCE_TAB = _dependence.choice(
    "dependence_tab", "pairs", "pairs", "super-parents", "dial", "twice", "doubled", "examples"
)
DEPENDENCE_VIEW = _dependence.choice("dependence_view", "map", "map", "tree")
DEPENDENCE_OF = _dependence.choice("dependence_of", "class", "class", "overall")
DEPENDENCE_ORDER = _dependence.choice("dependence_order", "table", "table", "clustered")
DEPENDENCE_CUT = _dependence.choice("dependence_cut", "", "mdlp", "quantile")
PAIR, PAIR_CELL = _dependence.position("pair", 2), _dependence.position("pair_cell", 3)
TREE_ROOT, TREE_STEP = _dependence.place("tree_root"), _dependence.place("tree_step")
TREE_PLAYS = _dependence.switch("tree_plays")
DIAL_ALPHA = _dependence.number("dial_alpha", 1.0, 0.01, 100.0)
DIAL_NUMBERS = _dependence.choice("dial_numbers", "", "mdlp", "quantile", "gaussian")
DIAL_ANEW = _dependence.switch("dial_anew")
COPIED = _dependence.place("copied")
COPIES = _dependence.whole("copies", 3, 0, 10)
COPIES_BESIDE = _dependence.undecided("copies_beside")
LIFTERS, SWITCHES = _dependence.number("lifters", 0.8, 0.0, 1.0), _dependence.number("switches", 0.8, 0.0, 1.0)

# network --------------------------------------------------------------------------------------------------------------

_network = _Page("network")
NET = _network.string("net")
NET_TAB = _network.choice("net_tab", "ask", "ask", "learn", "gibbs")
NET_PART = _network.choice("net_part", "beliefs", "beliefs", "tables", "separation", "elimination", "exchange")
NET_EVIDENCE = _network.pairs("net_evidence")
NET_TARGET, NET_NODE = _network.place("net_target"), _network.place("net_node")
NET_JOINT_A, NET_JOINT_B = _network.place("net_joint_a"), _network.place("net_joint_b")
NET_CPTS = _network.entries("net_cpts", lambda entry: _pair(entry, _place, lambda numbers: isinstance(numbers, tuple)))
NET_DRAWN, NET_ARCS = _network.switch("net_drawn"), _network.pairs("net_arcs")
NET_METHOD: ViewKey[Method] = _network.choice(
    "net_method", "hill-climb", "hill-climb", "k2", "exact", "tree", "naive", "tan", widget="learn_method"
)
NET_SCORE: ViewKey[ScoreName] = _network.choice(
    "net_score", "mdl", "log-likelihood", "aic", "bic", "mdl", "k2", "bdeu", widget="learn_score"
)
NET_PARENTS = _network.whole("net_parents", 3, 0, 8, widget="learn_parents")
NET_BINS = _network.whole("net_bins", 3, 2, 8, widget="learn_bins")
NET_ALPHA = _network.number("net_alpha", 1.0, 0.0, 1000.0)
NET_ORDER = _network.choice("net_order", "smallest", "smallest", "up", "down", "own")
NET_OWN_ORDER, NET_STEP = _network.places("net_own_order"), _network.whole("net_step", 0)
NET_GRAPH_VIEW = _network.choice("net_graph_view", "trails", "trails", "blanket", "moral", "class")
NET_SEP, NET_SEP_GIVEN = _network.switch("net_sep"), _network.places("net_sep_given")
NET_SEP_A, NET_SEP_B = _network.place("net_sep_a"), _network.place("net_sep_b")
NET_TRAIL = _network.whole("net_trail", 0)
NET_G_QUERY = _network.pairs("net_g_query")
NET_G_NOISE = _network.choice("net_g_noise", 0.0, 0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
NET_G_SWEEPS = _network.choice("net_g_sweeps", 0, 50, 100, 200, 500, 1000, 2000, 5000)
NET_G_CHAINS = _network.choice("net_g_chains", 64, 4, 8, 16, 32, 64, 128, 256)
NET_G_BURN = _network.choice("net_g_burn", 100, 0, 10, 50, 100, 200, 500)
NET_G_SCAN: ViewKey[Scan] = _network.choice("net_g_scan", "sequential", "sequential", "textbook", "random")
NET_G_START: ViewKey[Start] = _network.choice("net_g_start", "weighted", "weighted", "forward", "consistent")
NET_G_BLOCKS = _network.choice("net_g_blocks", "tied", "tied", "none", "own")
NET_G_OWN, NET_G_STEP = _network.places("net_g_own"), _network.whole("net_g_step", 0)
NET_G_SEED = _network.whole("net_g_seed", 1)
LEARN_VIEW = _network.choice("learn_view", "search", "search", "hand")
LEARN_STEP, LEARN_PLAYS = _network.place("learn_step"), _network.switch("learn_plays")
LEARN_ORDER = _network.places("learn_order")
LEARN_SAMPLE = _network.number("learn_sample", 1.0, 1e-3, 1e4)
LEARN_SECONDS = _network.number("learn_seconds", 10.0, 0.5, 120.0)
LEARN_RESTARTS = _network.whole("learn_restarts", 1, 0, 50)
LEARN_REQUIRED = _network.pairs("learn_required", widget="learn_required_kept")
LEARN_FORBIDDEN = _network.pairs("learn_forbidden", widget="learn_forbidden_kept")
LEARN_TIERS = _network.entries("learn_tiers", lambda tier: isinstance(tier, tuple))
LEARN_BOUND = _network.position("learn_bound", 2)
LEARN_START, LEARN_ARCS = _network.pairs("learn_start"), _network.pairs("learn_arcs")
LEARN_PAIR = _network.position("learn_pair", 1, 2)
LEARN_HINT, LEARN_OPTIMUM = _network.switch("learn_hint"), _network.switch("learn_optimum")

# projection -----------------------------------------------------------------------------------------------------------

_projection = _Page("projection")
LINE_X, LINE_Y = _projection.place("line_x"), _projection.place("line_y")
LINE = _projection.string("line", "fisher")
ANGLE = _projection.number("angle", 0.0, -math.inf, math.inf, digits=2)
LINE_UNITS = _projection.undecided("line_units")
SECTION = _projection.choice("section", "", "planes", "demo", "dial", "naive")
OBJECTIVE = _projection.choice("objective", "ratio-trace", "ratio-trace", "trace-ratio")
DIAL_COLUMNS = _projection.choice("dial_columns", "two", "two", "all")
POOLING = _projection.number("pooling", 0.5, 0.0, 1.0, digits=3)
GAMMA = _projection.number("gamma", 0.0, 0.0, 1.0, digits=3)
DEMO_UNEQUAL = _projection.switch("demo_unequal")
DEMO = {
    "distance": _projection.number("demo_distance", 2.0, 0.2, 5.0, digits=3),
    "prior": _projection.number("demo_prior", 0.5, 0.02, 0.98, digits=3),
    "stretch": _projection.number("demo_stretch", 1.0, 0.3, 3.0, digits=3),
    "lean": _projection.number("demo_lean", 0.5, -0.9, 0.9, digits=3),
    "stretch_2": _projection.number("demo_stretch_2", 1.0, 0.3, 3.0, digits=3),
    "lean_2": _projection.number("demo_lean_2", 0.5, -0.9, 0.9, digits=3),
}

# hidden ---------------------------------------------------------------------------------------------------------------

_hidden = _Page("hidden")
EM_PART = _hidden.choice("em_part", "", "all", "some", "none", "cell")
EM_X, EM_Y, EM_ALL = _hidden.place("em_x"), _hidden.place("em_y"), _hidden.switch("em_all")
EM_K = _hidden.whole("em_k", 0)
EM_FORM: ViewKey[Form] = _hidden.choice("em_form", "full", "full", "tied", "diagonal", "spherical")
EM_START = _hidden.choice("em_start", "kmeans", "kmeans", "random", "hand", "labels")
EM_SEED = _hidden.whole("em_seed", 0, 0, 10**6)
EM_POINTS = _hidden.entries("em_points", lambda point: _pair(point, _coordinate, _coordinate))
EM_HARD, EM_PRIOR, EM_TIED = _hidden.switch("em_hard"), _hidden.switch("em_prior"), _hidden.switch("em_tied")
EM_STOP = _hidden.choice("em_stop", "objective", "objective", "q", "parameters")
EM_TOL = _hidden.choice("em_tol", 1e-7, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
EM_STEP = _hidden.place("em_step")
EM_TRUTH = _hidden.switch("em_truth")
EM_BENEATH = _hidden.choice("em_beneath", "starts", "starts", "k", "truth", "numbers")
EM_SHARE = _hidden.whole("em_share", 40, 0, 100)
EM_HIDE_SEED = _hidden.whole("em_hide_seed", 0, 0, 10**6)
EM_WEIGHT = _hidden.number("em_weight", 1.0, 0.0, 1.0)
EM_FLIP = _hidden.places("em_flip")
EM_TURN = _hidden.whole("em_turn", 1, 1, widget="em_row_to_turn")
EM_ROW, EM_COLUMN = _hidden.place("em_row"), _hidden.place("em_column")

# laboratory -----------------------------------------------------------------------------------------------------------

_laboratory = _Page("laboratory")
LAB_TAB = _laboratory.choice("lab_tab", "densities", "densities", "rates", "likelihood", "underflow")
LAB_SCENE = _laboratory.choice(
    "lab_scene", "equal", "equal", "stretched", "xor", "overlapping", "three", "table", "drawn"
)
LAB_N = _laboratory.choice("lab_n", 50, 10, 20, 30, 50, 100, 200, 500, 1000, 2000)
LAB_SEED, LAB_PEN = _laboratory.whole("lab_seed", 0, 0, 10**6), _laboratory.whole("lab_pen", 0)
LAB_PRIORS, LAB_LOSSES, LAB_PARTS, LAB_POINTS, LAB_CELLS = map(
    _laboratory.row, ("lab_priors", "lab_losses", "lab_parts", "lab_points", "lab_cells")
)
LAB_WIDTH = _laboratory.number("lab_width", 0.5, 0.2, 1.5)
LAB_MODELS = _laboratory.entries("lab_models", _text, default=("naive-bayes", "lda", "qda", "logistic"))
LAB_BENEATH = _laboratory.choice("lab_beneath", "numbers", "numbers", "curve")
LAB_BASE = _laboratory.number("lab_base", 0.01, 1e-12, 1.0 - 1e-12)
LAB_SENS = _laboratory.number("lab_sens", 0.9, 0.5, 0.999, digits=3)
LAB_SPEC = _laboratory.number("lab_spec", 0.91, 0.5, 0.999, digits=3)
LAB_TIMES = _laboratory.whole("lab_times", 1, 1, 5)
LAB_FAMILY = _laboratory.choice("lab_family", "gaussian", "gaussian", "multinomial")
LAB_ROWS, LAB_ROW_SEED = _laboratory.whole("lab_rows", 8, 2, 60), _laboratory.whole("lab_row_seed", 0, 0, 10**6)
LAB_MEAN = _laboratory.number("lab_mean", 2.0, -5.0, 15.0, digits=2)
LAB_SD = _laboratory.number("lab_sd", 1.2, 0.2, 6.0, digits=2)
LAB_THETA_A = _laboratory.number("lab_theta_a", 0.33, 0.02, 0.96, digits=2)
LAB_THETA_B = _laboratory.number("lab_theta_b", 0.33, 0.02, 0.96, digits=2)
LAB_D = _laboratory.choice("lab_d", 1000, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
LAB_P = _laboratory.number("lab_p", 0.3, 0.01, 0.95, digits=2)
LAB_LEAN = _laboratory.number("lab_lean", 0.001, -0.01, 0.01, digits=4)
