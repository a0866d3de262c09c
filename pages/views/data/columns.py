"""A person's changes of the columns as edits of the state. A change that cannot stand, as one that makes a table that
no model can be fitted to, raises TableError, and nothing is changed.

The state keeps differences from what was inferred: (position, role, kind, levels), levels by their position or, where
they are new, by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from bayes_engine.errors import TableError
from bayes_engine.language import Word
from bayes_engine.table.schema import MAX_CLASSES, Kind, Variable
from bayes_engine.workbench.doctor.finding import OTHER_KIND, Repair
from pages import active
from pages.active.model_settings import COLUMN_PARAMETERS
from pages.active.tables import OF_LEVELS, read_as
from pages.runtime.cache import content_key
from pages.runtime.state import Spec, State
from pages.runtime.state_checks import KINDS

ROLES = ("feature", "target", "ignore", "id", "group", "weight", "amount")
_ONCE = ("group", "weight", "amount")


def with_role(state: State, position: int, role: str) -> State:
    """A column in another role. The former target becomes a feature; a column of numbers that becomes the target is
    read as categories.

    Raises TableError where that leaves no target, doubles a role, or makes a table that no model can be fitted to.
    """
    before = active.in_use(state)
    variable = before.schema.variables[position]
    if role == variable.role:
        return state
    kind = ""
    if role == "target":
        state = replace(state, columns=tuple(c for c in state.columns if c[1] != "target"))
        if variable.numeric:
            n, kind = before.frame[variable.name].nunique(), "categorical"
            if n > MAX_CLASSES:
                raise TableError(
                    "column '{column}' holds {n} different numbers, too many to be classes (at most {most}); "
                    "choose another target",
                    column=variable.name,
                    n=int(n),
                    most=MAX_CLASSES,
                )
    elif variable.role == "target":
        raise _no_target_left(variable)
    elif role in _ONCE and any(v.role == role for v in before.schema):
        raise TableError(
            "column '{other}' has the role {role} already; give it another role first",
            other=next(v.name for v in before.schema if v.role == role),
            role=Word(role),
        )
    elif role == "feature" and not (variable.discrete or variable.numeric or variable.kind == "text"):
        raise TableError(
            "column '{column}' is of kind {kind}, which no model reads; change its kind first",
            column=variable.name,
            kind=Word(variable.kind),
        )
    return _settled(before, _changed(state, position, role=role, kind=kind))


def with_roles(state: State, roles: Mapping[int, str]) -> State:
    """Several columns in other roles, by position; what forbids one of them forbids them all."""
    if len(roles) < 2 or set(roles.values()) - {"ignore", "id"}:
        for position, role in roles.items():
            state = with_role(state, position, role)
        return state
    before = active.in_use(state)
    target = before.schema.target
    if target is not None and before.schema.position[target.name] in roles:
        raise _no_target_left(target)
    for role in set(roles.values()):
        state = _changed(state, *(position for position, own in roles.items() if own == role), role=role)
    return _settled(before, state)


def _no_target_left(target: Variable) -> TableError:
    return TableError(
        "one column must be the target; make another column the target, and '{column}' becomes a feature",
        column=target.name,
    )


def with_kind(state: State, position: int, kind: str) -> State:
    """A column read as another kind; its levels are found afresh.

    Raises TableError where the column does not hold what the kind asks for.
    """
    before = active.in_use(state)
    variable = before.schema.variables[position]
    if kind == variable.kind:
        return state
    if kind not in KINDS:
        raise TableError(
            "column '{column}' cannot be made {kind}: that is found in the values, not chosen",
            column=variable.name,
            kind=Word(kind),
        )
    read_as(variable, before.frame[variable.name], cast(Kind, kind))
    return _settled(before, _changed(state, position, kind=kind, levels=()))


def with_levels(state: State, position: int, levels: tuple[Any, ...]) -> State:
    """A discrete column with its levels in this order; what is not among them yet is a new level.

    Raises TableError on a new level without a name.
    """
    before = active.in_use(state)
    if any(not str(level).strip() for level in levels):
        raise TableError("a level needs a name")
    unmended = replace(state, repairs=tuple(r for r in state.repairs if r[0] not in OF_LEVELS))
    plain = active.in_use(_changed(unmended, position, levels=())).schema.variables[position]
    codes = tuple(plain.levels.index(v) if v in plain.levels else str(v) for v in levels)
    return _settled(before, _changed(state, position, levels=() if codes == tuple(range(len(codes))) else codes))


def with_repairs(state: State, repairs: Iterable[Repair]) -> State:
    """The state with these repairs done as well."""
    before = active.in_use(state)
    positions = before.schema.position
    for repair in repairs:
        position = positions[repair.column] if repair.column else -1
        entry: tuple[Any, ...] = (repair.what, position, float(repair.value))
        same = entry[:2] if repair.what in OTHER_KIND else entry  # of two ways to read its dates the later one stands
        rest = tuple(r for r in state.repairs if r[: len(same)] != same)
        if repair.what in OTHER_KIND:  # what was said of the column was said of what it held before
            stated = [c[1:] for c in state.columns if c[0] == position]
            stated = [r[3] for r in state.repairs if r not in rest and len(r) > 3] or stated
            entry = (*entry, *stated[:1])
            state = replace(state, columns=tuple(c for c in state.columns if c[0] != position))
        state = replace(state, repairs=(*rest, entry))
        if entry not in [own for own, _repair in active.in_use(state).repairs]:
            raise TableError("column '{column}' as it is read cannot be mended so; give it another kind first",
                             column=repair.column)  # fmt: skip
    return _keeping_what_was_reset(before, state, _settled(before, state))


def without_repair(state: State, entry: tuple[Any, ...]) -> State:
    """The state with one repair undone, and what was said of the column that it made: what was said before holds.
    Losses and priors that it reset are as they were, where the classes are."""
    before, columns = active.in_use(state), state.columns
    if entry[0] in OTHER_KIND:
        stated = [(entry[1], *own) for own in entry[3:]]
        columns = tuple(sorted([c for c in columns if c[0] != entry[1]] + stated))
    undone = _settled(before, replace(state, columns=columns, repairs=tuple(r for r in state.repairs if r != entry)))
    return _restored(undone, entry[3]) if entry[0] in OF_LEVELS and entry[3:] else undone


def _keeping_what_was_reset(before: active.TableInUse, state: State, after: State) -> State:
    """The state `after` a repair. Where that changed the classes its entry keeps what of losses, priors and the models'
    parameters was reset: key of the classes, losses, extra, fixed, prior, and (place, family, parameters) of models."""
    if not isinstance(before, active.FittableTable):
        return after
    parameters = tuple((place, spec.family, own) for place, spec in enumerate(state.shelf)
                  if (own := tuple(parameter for parameter in spec.parameters if _of_classes(*parameter))))  # fmt: skip
    reset = (state.losses, state.extra, state.fixed, state.prior, parameters)
    target = before.schema.position[before.target.name]
    made = [r for r in after.repairs if r[0] in OF_LEVELS and r[1] == target and len(r) == 3][-1:]
    if not (made and any(reset)) or active.fittable(active.in_use(after)).classes == before.classes:
        return after
    kept = (*made[0], (_classes_key(before), *reset))
    return replace(after, repairs=tuple(kept if r == made[0] else r for r in after.repairs))


def _restored(state: State, reset: tuple[Any, ...]) -> State:
    """The state with what a repair had reset, where the classes are those of before; each model that is still at its
    place with its own parameters."""
    mark, losses, extra, fixed, prior, parameters = reset
    table = active.in_use(state)
    if isinstance(table, active.UnfittableTable) or _classes_key(table) != mark:
        return state
    shelf = list(state.shelf)
    for place, family, own in parameters:
        if place < len(shelf) and shelf[place].family == family:
            wanted = {**dict(own), **dict(shelf[place].parameters)}
            shelf[place] = replace(shelf[place], parameters=tuple(sorted(wanted.items(), key=lambda item: item[0])))
    return replace(state, losses=losses, extra=extra, fixed=fixed, prior=prior, shelf=tuple(shelf))


def _classes_key(table: active.FittableTable) -> str:
    return content_key(table.classes)[:8]


def as_inferred(state: State, position: int) -> State:
    """The state with nothing said of a column's role and kind; levels of another kind go with it, those of its own
    stay in the order that a person gave them."""
    before = active.in_use(state)
    own = [(position, "", "", c[3]) for c in state.columns if c[0] == position and c[3] and not c[2]]
    return _settled(before, replace(state, columns=tuple(sorted([c for c in state.columns if c[0] != position] + own))))


def all_as_inferred(state: State) -> State:
    """The state with nothing said of any column's role, kind and levels."""
    return _settled(active.in_use(state), replace(state, columns=()))


def _changed(
    state: State,
    *positions: int,
    role: str = "",
    kind: str = "",
    levels: tuple[Any, ...] | None = None,
) -> State:
    """The state with the entries of these columns changed; what is as it was inferred is not kept."""
    inferred = active.in_use(replace(state, columns=())).schema.variables
    entries = {c[0]: c for c in state.columns}
    for position in positions:
        _place, was_role, was_kind, was_levels = entries.pop(position, (position, "", "", ()))
        new_role, new_kind = role or was_role, kind or was_kind
        entry = (
            position,
            "" if new_role == inferred[position].role else new_role,
            "" if new_kind == inferred[position].kind else new_kind,
            was_levels if levels is None else levels,
        )
        if any(entry[1:]):
            entries[position] = entry
    return replace(state, columns=tuple(entries[k] for k in sorted(entries)))


def _settled(before: active.TableInUse, state: State) -> State:
    """The state with case, losses and priors carried over to the changed columns; raises where a table that could be
    fitted no longer can."""
    if isinstance(before, active.UnfittableTable):
        return replace(state, case=(), row=-1, amount=-1.0, losses=(), extra="", fixed=(), prior=())
    after = active.fittable(active.in_use(state))
    shelf = tuple(_moved(before, after, spec) for spec in state.shelf)
    return _with_classes(before, after, replace(state, case=_case(before, after, state), shelf=shelf))


def _moved(before: active.FittableTable, after: active.FittableTable, spec: Spec) -> Spec:
    """The model with its parameters that are columns at the places these have now; of a column that is gone, none."""
    here = {place: after.features.position.get(name, -1) for place, name in enumerate(before.features.names)}
    parameters = []
    for name, value in spec.parameters:
        if name in ("alphas", "likelihoods") and isinstance(value, tuple):
            value = tuple(sorted((here[place], own) for place, own in _pairs(value) if here.get(place, -1) >= 0))
        elif name in COLUMN_PARAMETERS:
            value = here.get(value, -1)
        parameters += [(name, value)] if value not in ((), -1) else []
    return replace(spec, parameters=tuple(parameters))


def _pairs(value: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    """Its pairs; a link may hold anything."""
    return [p for p in value if isinstance(p, tuple) and len(p) == 2]


def _case(before: active.FittableTable, after: active.FittableTable, state: State) -> tuple[Any, ...]:
    if not state.case:
        return ()
    values = active.case_values(before)
    fits = {
        v.name: values.get(v.name)
        for v in after.features
        if v.discrete or v.kind == "text" or isinstance(values.get(v.name), int | float)
    }
    return active.case_codes(after, fits)


def _of_classes(name: str, value: Any) -> bool:
    """Whether a parameter speaks of the classes one by one, or of the target."""
    return name in ("priors", "structure", "criterion") and isinstance(value, tuple)


def _with_classes(before: active.FittableTable, after: active.FittableTable, state: State) -> State:
    """Losses and priors follow the classes into their new order; other classes start afresh."""
    old, new = before.classes, after.classes
    if old == new:
        return state
    specs = tuple(
        replace(s, parameters=tuple(parameter for parameter in s.parameters if not _of_classes(*parameter)))
        for s in state.shelf
    )
    if set(old) != set(new) or before.target.name != after.target.name:
        return replace(state, losses=(), extra="", fixed=(), prior=(), shelf=specs)
    k, order = len(old), [old.index(c) for c in new]
    rows = [*order, *range(k, len(state.losses))]
    fits = len(rows) == len(state.losses) and all(len(row) == k for row in state.losses)  # a link may hold anything
    return replace(
        state,
        losses=tuple(tuple(state.losses[i][j] for j in order) for i in rows) if fits else (),
        fixed=tuple((rows.index(i), order.index(j)) for i, j in state.fixed if i in rows and j in order),
        prior=tuple(state.prior[i] for i in order) if len(state.prior) == k else (),
        shelf=tuple(_spec(spec, order) for spec in state.shelf),
    )


def _spec(spec: Spec, order: list[int]) -> Spec:
    fits = (
        (k, tuple(v[i] for i in order) if k == "priors" and isinstance(v, tuple) and len(v) == len(order) else v)
        for k, v in spec.parameters
        if k != "criterion" or not isinstance(v, tuple)  # losses of decisions in the old order
    )
    return replace(spec, parameters=tuple(fits))
