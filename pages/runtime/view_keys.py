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
    from bayes_engine.priors import Base
    from bayes_engine.structure.scores import ScoreName
    from bayes_engine.structure.search_trace import Method
    from bayes_engine.workbench.laboratory.rare_class import Counted

T = TypeVar("T")
Setting = tuple[str, Any]
"""A key's name and its value, as the state holds them."""
Places = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


KEYS: dict[str, ViewKey[Any]] = {}
"""All keys, by the names that stand in links."""


@dataclass(frozen=True, eq=False)
class ViewKey(Generic[T]):
    """One setting of a page. `read` is the check: what a stored value means, None where it is none of this key's.

    A choice has `options`, a number `limits`; a float is kept to `digits` decimals. `widget` is what the widget is
    called that shows the key, its own name if not said.
    """

    name: str
    default: T
    read: Callable[[Any], T | None]
    options: tuple[T, ...] = ()
    limits: tuple[T, ...] = ()
    digits: int | None = None
    widget: str = ""

    def __post_init__(self) -> None:
        if self.name in KEYS:
            raise ValueError(f"the key {self.name!r} is declared twice")
        KEYS[self.name] = self
        object.__setattr__(self, "widget", self.widget or self.name)

    def of(self, view: Mapping[str, Any]) -> T:
        """Its value in a view; the default where there is none, or one that is refused."""
        value = self.read(view[self.name]) if self.name in view else None
        return self.default if value is None else value

    def to(self, value: T) -> Setting:
        """This key set to a value, as the state keeps it."""
        if isinstance(value, float) and self.digits is not None:
            return self.name, round(value, self.digits)
        return self.name, tuple(value) if isinstance(value, list) else value


def _switch(name: str, default: bool = False, *, widget: str = "") -> ViewKey[bool]:
    return ViewKey(name, default, _bool, widget=widget)


def _undecided(name: str, *, widget: str = "") -> ViewKey[bool | None]:
    """On or off; None until a person chose."""
    return ViewKey(name, None, _bool, widget=widget)


def _choice(name: str, default: T, *options: T, widget: str = "") -> ViewKey[T]:
    """One of some options; a default that is none of them stands for "not chosen"."""

    def read(value: Any) -> T | None:
        return value if type(value) is type(default) and value in options else None

    return ViewKey(name, default, read, widget=widget, options=options)


def _string(name: str, default: str = "") -> ViewKey[str]:
    return ViewKey(name, default, lambda value: value if isinstance(value, str) else None)


def _whole(name: str, default: int, low: int = 0, high: int = 2**53, *, widget: str = "") -> ViewKey[int]:
    """A whole number; one beyond its limits counts as the limit."""

    def read(value: Any) -> int | None:
        return min(max(value, low), high) if type(value) is int else None

    return ViewKey(name, default, read, widget=widget, limits=(low, high))


def _place(name: str, *, widget: str = "") -> ViewKey[int]:
    """A position, of a column, a class or a step; −1 where none is chosen."""
    return _whole(name, -1, -1, widget=widget)


def _number(
    name: str, default: float, low: float, high: float, digits: int | None = None, *, widget: str = ""
) -> ViewKey[float]:
    """A number; one beyond its limits counts as the limit."""

    def read(value: Any) -> float | None:
        return min(max(float(value), low), high) if is_number(value) else None

    return ViewKey(name, default, read, widget=widget, limits=(low, high), digits=digits)


def _position(name: str, *lengths: int) -> ViewKey[Places]:
    """So many positions that mean something together, as the row and column of a cell; () where none is chosen."""

    def read(value: Any) -> Places | None:
        return value if isinstance(value, tuple) and len(value) in lengths and all(map(is_place, value)) else None

    return ViewKey(name, (), read)


def _places(name: str, *, widget: str = "") -> ViewKey[Places]:
    return _entries(name, is_place, widget=widget)


def _pairs(name: str, *, widget: str = "") -> ViewKey[Pairs]:
    return _entries(name, lambda pair: is_pair(pair, is_place, is_place), widget=widget)


def _entries(
    name: str, sound: Callable[[Any], bool], default: tuple[Any, ...] = (), *, widget: str = ""
) -> ViewKey[tuple[Any, ...]]:
    """Any number of entries, each judged alone: what is not sound is left out."""

    def read(value: Any) -> tuple[Any, ...] | None:
        return tuple(filter(sound, value)) if isinstance(value, tuple) else None

    return ViewKey(name, default, read, widget=widget)


def _row(name: str) -> ViewKey[tuple[Any, ...]]:
    """Values that only what they are about can judge; () where none are set."""
    return ViewKey(name, (), lambda value: value if isinstance(value, tuple) else None)


def _bool(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def is_number(value: Any) -> bool:
    return type(value) in (int, float)


def is_place(value: Any) -> bool:
    return type(value) is int and value >= 0


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_pair(entry: Any, first: Callable[[Any], bool], second: Callable[[Any], bool] = lambda _value: True) -> bool:
    """Whether JSON of an address holds two values here that pass their checks."""
    return isinstance(entry, tuple) and len(entry) == 2 and first(entry[0]) and second(entry[1])


def _is_coordinate(value: Any) -> bool:
    return is_number(value) and abs(value) < 1e15


# several pages --------------------------------------------------------------------------------------------------------

AXIS_X, AXIS_Y = _place("x", widget="axis_x"), _place("y", widget="axis_y")
AXES_AT_FIRST = _choice("axes", "first", "first", "discriminating")
"""What stands on axes that nobody chose: the first columns, as in links of before this was a setting, or, since a table
was opened, those that tell its classes apart best."""
SLICED = _switch("sliced", True)
FLIP = _switch("flip")
READ = _entries("read", lambda entry: is_pair(entry, is_text))
READ_SECOND = _entries("read_second", lambda entry: is_pair(entry, is_text))
READ_COLUMN = _whole("read_column", 0)
SECOND = _string("second")
SECOND_AS = _pairs("second_as")

# derivations ----------------------------------------------------------------------------------------------------------

DERIVED = _string("derived")
DERIVED_LINE = _place("derived_line")
DERIVED_PLAYS = _switch("derived_plays")

# the chapter ----------------------------------------------------------------------------------------------------------

CHAPTER_PART = _choice("chapter_part", "lessons", "lessons", "exercises", "words", "errata", "examples", "own")
CHAPTER_SECTION = _string("chapter_section", "7.1")
SHEET = _choice(
    "sheet", "naive-bayes", "naive-bayes", "spode", "aode", "tree", "losses", "em", "gibbs", "fisher", "rows"
)  # of exercises
SHEET_NUMBER = _whole("sheet_number", 1, 1, 99_999)
SHEET_ANSWERS = _entries("sheet_answers", lambda entry: is_pair(entry, is_text, is_text))
SHEET_KEY = _switch("sheet_key")
SAMPLES_EACH, SAMPLES_COLUMNS = _whole("samples_each", 30, 1, 10**6), _whole("samples_columns", 6, 1, 10**6)
SAMPLES_LEVELS, SAMPLES_CLASSES = _whole("samples_levels", 2, 2, 1000), _whole("samples_classes", 2, 2, 1000)
LESSON = _string("lesson")
LESSON_ANSWER = _string("lesson_answer")
LESSON_SHOWN = _switch("lesson_shown")
LESSON_PREDICTS = _switch("lesson_predicts")
LESSON_COMMITTED = _string("lesson_committed")
OWN_LIST = _string("own_list")
OWN_STEP = _place("own_step")
OWN_GIVEN = _string("own_given")
PRESENTING = _switch("presenting")

# data -----------------------------------------------------------------------------------------------------------------

LEVELS_OF = _place("levels_of")
LEVEL_AT = _whole("level_at", 0)
DOCTOR_COLUMN = _place("doctor_column")
DOCTOR_FROM = _whole("doctor_from", 0)

# model ----------------------------------------------------------------------------------------------------------------

MODEL_VIEW = _choice("model_view", "conditionals", "conditionals", "compare", "ways")
COLUMN = _place("column")
COLUMNS_BY = _choice("columns_by", "information", "information", "table")
CELL = _position("cell", 2)
HELD = _pairs("held")
SUPER_PARENT = _place("super_parent")
PRIOR_OF = _choice("prior_of", "all", "all", "one")
PICTURED = _choice("pictured", "", "inked", "mean", "sd")
PARAMETERS_OPEN = _switch("knobs", widget="parameters_open")
SAVE_OPEN = _switch("save", widget="save_open")
WHICH_OPEN = _switch("which", widget="which_open")
WHICH_MESSAGE = _string("which_message")
LOOK: ViewKey[str | Places] = ViewKey(
    "look", "", lambda v: v if isinstance(v, str) or is_pair(v, is_place, is_place) else None
)
LOOK_CLASS = _place("look_class")
CALIBRATOR = _choice("calibrator", "none", "none", "temperature", "platt", "isotonic")
TRUST_CALIBRATOR = _choice("trust_calibrator", "temperature", "temperature", "platt", "isotonic")
COMPARE_BY = _choice("compare_by", "risk", "risk", "error", "log_loss", "brier")
LOSS_UNIT = _choice("loss_unit", "percent", "percent", "bits", "nats")
COMPARE_CURVE = _choice("compare_curve", "calibration", "calibration", "threshold", "roc", "recall", "cost")
COMPARE_CLASS = _whole("compare_class", 0)
COMPARE_ROWS = _whole("compare_rows", 0)
WAYS_COLUMN = _whole("ways_column", -2, -2)
TIMED = _whole("timed", 0)
AWAY = _places("away")
AWAY_ROW = _place("away_row")

# decisions ------------------------------------------------------------------------------------------------------------

STORY = _choice("story", "", "hospital", "loan", "spam", "watermelon", widget="story_asked")
THREE = _position("three", 1, 2, 3)
TARGET = _number("target", 2.0, 0.0, 100.0, widget="target_error")

# case -----------------------------------------------------------------------------------------------------------------

CASE_VIEW = _choice("case_view", "decision", "decision", "ask", "nomogram")
NOMOGRAM_BESIDE = _choice("nomogram_beside", "", "smoothing", "logistic", widget="nomogram_beside_chosen")
LEFT_OUT = _switch("left_out")
EXERCISE = _whole("exercise", 0)
FILL = _switch("fill")
ANSWERS = _entries("answers", lambda entry: is_pair(entry, is_text, is_text))
DIGITS = _choice("digits", "", "", "hand", "full")
CLASSES = _places("classes", widget="classes_shown")
FACTOR, FACTOR_CLASS = _place("factor"), _whole("of", 0)
FACTOR_PAGE = _whole("from", 0, widget="factor_page")
COPY_OPEN = _undecided("copying", widget="copy_open")
COPY_FORM = _choice("copy", "", "latex", "markdown", "text", widget="copy_form")
ORDER = _choice("order", "size", "size", "table", widget="case_order")
UNIT = _choice("unit", "bits", "bits", "nats", widget="case_unit")
FOR, AGAINST = _place("for", widget="case_for"), _place("against", widget="case_against")
MARGINS = _switch("margins", widget="margins_all")
WISH = _place("wish", widget="margins_wish")
DRAWS = _whole("draws", 0)
PLAUSIBLE_CLASS = _place("plausible_class")
TOLD = _entries("told", lambda entry: is_pair(entry, is_place))
ASK_FROM = _choice("ask_from", "nothing", "nothing", "case")
ASK_ABOUT = _place("ask_about")
ASK_ALL = _switch("ask_all")
ASK_COST = _number("ask_cost", 0.0, 0.0, math.inf)
ASK_COSTS = _entries("ask_costs", lambda entry: is_pair(entry, is_place, lambda v: is_number(v) and 0 <= v <= 1e9))
ASK_ROW = _whole("ask_row", 0)

# classify -------------------------------------------------------------------------------------------------------------

SECOND_ALIKE = _switch("second_alike")
RESULTS_AS = _choice("results_as", "csv", "csv", "xlsx", "parquet")

# dependence -----------------------------------------------------------------------------------------------------------

DEPENDENCE_TAB = _choice("dependence_tab", "pairs", "pairs", "super-parents", "dial", "twice", "doubled", "examples")
DEPENDENCE_VIEW = _choice("dependence_view", "map", "map", "tree")
DEPENDENCE_OF = _choice("dependence_of", "class", "class", "overall")
DEPENDENCE_ORDER = _choice("dependence_order", "table", "table", "clustered")
DEPENDENCE_CUT = _choice("dependence_cut", "", "mdlp", "quantile")
PAIR, PAIR_CELL = _position("pair", 2), _position("pair_cell", 3)
TREE_ROOT, TREE_STEP = _place("tree_root"), _place("tree_step")
TREE_PLAYS = _switch("tree_plays")
DIAL_ALPHA = _number("dial_alpha", 1.0, 0.01, 100.0)
DIAL_NUMBERS = _choice("dial_numbers", "", "mdlp", "quantile", "gaussian")
DIAL_ANEW = _switch("dial_anew", True)
COPIED = _place("copied")
COPIES = _whole("copies", 3, 0, 10)
COPIES_BESIDE = _undecided("copies_beside")
LIFTERS, SWITCHES = _number("lifters", 0.8, 0.0, 1.0), _number("switches", 0.8, 0.0, 1.0)

# network --------------------------------------------------------------------------------------------------------------

NET = _string("net")
NET_TAB = _choice("net_tab", "ask", "ask", "learn", "hidden", "gibbs")
NET_PART = _choice("net_part", "beliefs", "beliefs", "tables", "separation", "elimination", "exchange")
NET_EVIDENCE = _pairs("net_evidence")
NET_TARGET, NET_NODE = _place("net_target"), _place("net_node")
NET_JOINT_A, NET_JOINT_B = _place("net_joint_a"), _place("net_joint_b")
NET_CPTS = _entries("net_cpts", lambda entry: is_pair(entry, is_place, lambda numbers: isinstance(numbers, tuple)))
NET_DRAWN, NET_ARCS = _switch("net_drawn"), _pairs("net_arcs")
NET_METHOD: ViewKey[Method] = _choice(
    "net_method", "hill-climb", "hill-climb", "k2", "exact", "tree", "naive", "tan", widget="learn_method"
)
NET_SCORE: ViewKey[ScoreName] = _choice(
    "net_score", "mdl", "log-likelihood", "aic", "bic", "mdl", "k2", "bdeu", widget="learn_score"
)
NET_PARENTS = _whole("net_parents", 3, 0, 8, widget="learn_parents")
NET_BINS = _whole("net_bins", 3, 2, 8, widget="learn_bins")
NET_ALPHA = _number("net_alpha", 1.0, 0.0, 1000.0)
NET_ORDER = _choice("net_order", "smallest", "smallest", "up", "down", "own")
NET_OWN_ORDER, NET_STEP = _places("net_own_order"), _whole("net_step", 0)
NET_GRAPH_VIEW = _choice("net_graph_view", "trails", "trails", "blanket", "moral", "class")
NET_SEP, NET_SEP_GIVEN = _switch("net_sep"), _places("net_sep_given")
NET_SEP_A, NET_SEP_B = _place("net_sep_a"), _place("net_sep_b")
NET_TRAIL = _whole("net_trail", 0)
NET_G_QUERY = _pairs("net_g_query")
NET_G_NOISE = _choice("net_g_noise", 0.0, 0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
NET_G_SWEEPS = _choice("net_g_sweeps", 0, 50, 100, 200, 500, 1000, 2000, 5000)
NET_G_CHAINS = _choice("net_g_chains", 64, 4, 8, 16, 32, 64, 128, 256)
NET_G_BURN = _choice("net_g_burn", 100, 0, 10, 50, 100, 200, 500)
NET_G_SCAN: ViewKey[Scan] = _choice("net_g_scan", "sequential", "sequential", "textbook", "random")
NET_G_START: ViewKey[Start] = _choice("net_g_start", "weighted", "weighted", "forward", "consistent")
NET_G_BLOCKS = _choice("net_g_blocks", "tied", "tied", "none", "own")
NET_G_OWN, NET_G_STEP = _places("net_g_own"), _whole("net_g_step", 0)
NET_G_SEED = _whole("net_g_seed", 1)
NET_HIDE = _place("net_hide")  # the column that is learned back as a hidden node
NET_HIDE_STATES = _whole("net_hide_states", 0, 0, 8)
NET_HIDE_ARCS = _choice("net_hide_arcs", "parent", "parent", "graph")
NET_HIDE_STARTS = _whole("net_hide_starts", 20, 1, 50)
NET_HIDE_SEED = _whole("net_hide_seed", 0, 0, 9999)
LEARN_VIEW = _choice("learn_view", "search", "search", "hand")
LEARN_STEP, LEARN_PLAYS = _place("learn_step"), _switch("learn_plays")
LEARN_ORDER = _places("learn_order")
LEARN_SAMPLE = _number("learn_sample", 1.0, 1e-3, 1e4)
LEARN_SECONDS = _number("learn_seconds", 10.0, 0.5, 120.0)
LEARN_RESTARTS = _whole("learn_restarts", 1, 0, 50)
LEARN_REQUIRED = _pairs("learn_required", widget="learn_required_kept")
LEARN_FORBIDDEN = _pairs("learn_forbidden", widget="learn_forbidden_kept")
LEARN_TIERS = _entries("learn_tiers", lambda tier: isinstance(tier, tuple))
LEARN_BOUND = _position("learn_bound", 2)
LEARN_START, LEARN_ARCS = _pairs("learn_start"), _pairs("learn_arcs")
LEARN_PAIR = _position("learn_pair", 1, 2)
LEARN_HINT, LEARN_OPTIMUM = _switch("learn_hint"), _switch("learn_optimum")

# projection -----------------------------------------------------------------------------------------------------------

LINE_X, LINE_Y = _place("line_x"), _place("line_y")
LINE = _string("line", "fisher")
ANGLE = _number("angle", 0.0, -math.inf, math.inf, digits=2)
LINE_UNITS = _undecided("line_units")
SECTION = _choice("section", "", "planes", "demo", "dial", "naive")
OBJECTIVE = _choice("objective", "ratio-trace", "ratio-trace", "trace-ratio")
DIAL_COLUMNS = _choice("dial_columns", "two", "two", "all")
POOLING = _number("pooling", 0.5, 0.0, 1.0, digits=3)
GAMMA = _number("gamma", 0.0, 0.0, 1.0, digits=3)
DEMO_UNEQUAL = _switch("demo_unequal")
DEMO = {
    "distance": _number("demo_distance", 2.0, 0.2, 5.0, digits=3),
    "prior": _number("demo_prior", 0.5, 0.02, 0.98, digits=3),
    "stretch": _number("demo_stretch", 1.0, 0.3, 3.0, digits=3),
    "lean": _number("demo_lean", 0.5, -0.9, 0.9, digits=3),
    "stretch_2": _number("demo_stretch_2", 1.0, 0.3, 3.0, digits=3),
    "lean_2": _number("demo_lean_2", 0.5, -0.9, 0.9, digits=3),
}

# hidden ---------------------------------------------------------------------------------------------------------------

EM_PART = _choice("em_part", "", "all", "some", "none", "cell", "classes")
EM_X, EM_Y, EM_ALL = _place("em_x"), _place("em_y"), _switch("em_all")
EM_K = _whole("em_k", 0)
EM_FORM: ViewKey[Form] = _choice("em_form", "full", "full", "tied", "diagonal", "spherical")
EM_START = _choice("em_start", "kmeans", "kmeans", "random", "hand", "labels")
EM_SEED = _whole("em_seed", 0, 0, 10**6)
EM_POINTS = _entries("em_points", lambda point: is_pair(point, _is_coordinate, _is_coordinate))
EM_HARD, EM_PRIOR, EM_TIED = _switch("em_hard"), _switch("em_prior"), _switch("em_tied")
EM_STOP = _choice("em_stop", "objective", "objective", "q", "parameters")
EM_TOL = _choice("em_tol", 1e-7, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
EM_STEP = _place("em_step")
EM_TRUTH = _switch("em_truth")
EM_BENEATH = _choice("em_beneath", "starts", "starts", "k", "truth", "numbers")
EM_SHARE = _whole("em_share", 40, 0, 100)
EM_HIDE_SEED = _whole("em_hide_seed", 0, 0, 10**6)
EM_WEIGHT = _number("em_weight", 1.0, 0.0, 1.0)
EM_CURVE = _switch("em_curve")
EM_FLIP = _places("em_flip")
EM_TURN = _whole("em_turn", 1, 1, widget="em_row_to_turn")
EM_ROW, EM_COLUMN = _place("em_row"), _place("em_column")

# laboratory -----------------------------------------------------------------------------------------------------------

LAB_TAB = _choice(
    "lab_tab", "densities", "densities", "rates", "fitted", "likelihood", "smoothing", "rare", "underflow"
)
LAB_SCENE = _choice("lab_scene", "equal", "equal", "stretched", "xor", "overlapping", "three", "table", "drawn")
LAB_N = _choice("lab_n", 50, 10, 20, 30, 50, 100, 200, 500, 1000, 2000)
LAB_SEED, LAB_PEN = _whole("lab_seed", 0, 0, 10**6), _whole("lab_pen", 0)
LAB_PRIORS, LAB_LOSSES, LAB_PARTS, LAB_POINTS, LAB_CELLS = map(
    _row, ("lab_priors", "lab_losses", "lab_parts", "lab_points", "lab_cells")
)
LAB_WIDTH = _number("lab_width", 0.5, 0.2, 1.5)
LAB_MODELS = _entries("lab_models", is_text, default=("naive-bayes", "lda", "qda", "logistic"))
LAB_BENEATH = _choice("lab_beneath", "numbers", "numbers", "curve")
LAB_BASE = _number("lab_base", 0.01, 1e-12, 1.0 - 1e-12)
LAB_SENS = _number("lab_sens", 0.9, 0.5, 0.999, digits=3)
LAB_SPEC = _number("lab_spec", 0.91, 0.5, 0.999, digits=3)
LAB_TIMES = _whole("lab_times", 1, 1, 5)
LAB_FAMILY = _choice("lab_family", "gaussian", "gaussian", "multinomial")
LAB_ROWS, LAB_ROW_SEED = _whole("lab_rows", 8, 2, 60), _whole("lab_row_seed", 0, 0, 10**6)
LAB_MEAN = _number("lab_mean", 2.0, -5.0, 15.0, digits=2)
LAB_SD = _number("lab_sd", 1.2, 0.2, 6.0, digits=2)
LAB_THETA_A = _number("lab_theta_a", 0.33, 0.02, 0.96, digits=2)
LAB_THETA_B = _number("lab_theta_b", 0.33, 0.02, 0.96, digits=2)
LAB_D = _choice("lab_d", 1000, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
LAB_P = _number("lab_p", 0.3, 0.01, 0.95, digits=2)
LAB_LEAN = _number("lab_lean", 0.001, -0.01, 0.01, digits=4)
LAB_FITTED_COLUMN, LAB_FITTED_CLASS = _place("lab_fitted_column"), _place("lab_fitted_class")
LAB_FITTED_AT, LAB_FITTED_LEVELS = _row("lab_fitted_at"), _position("lab_fitted_levels", 2)
LAB_SMOOTHED_N = _number("lab_smoothed_n", 0.0, 0.0, 1e12)
LAB_SMOOTHED_CLASS, LAB_SMOOTHED_COLUMN = _place("lab_smoothed_class"), _place("lab_smoothed_column")
LAB_M = _number("lab_m", 2.0, 0.0, 1000.0, digits=2)
LAB_RARE_OF: ViewKey[Counted] = _choice("lab_rare_of", "sms-spam", "sms-spam", "sms-spam-zh", "digits")
LAB_RARE_N, LAB_RARE_SEED = _whole("lab_rare_n", 11, 1, 10**6), _whole("lab_rare_seed", 0, 0, 10**6)
LAB_RARE_PRIOR = _switch("lab_rare_prior", True)
LAB_RARE_ALPHA = _number("lab_rare_alpha", 1.0, 0.01, 100.0)
LAB_M_BASE: ViewKey[Base] = _choice("lab_m_base", "marginal", "marginal", "uniform")
