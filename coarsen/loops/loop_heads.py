"""The heads of `for` loops: by how much a loop counts, and up to which bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree
from coarsen.loops.forms import Piece, polynomial

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def loop_form(what: str, place: SourcePosition) -> RefusalError:
    """Return the refusal of a loop that is not counted as a `for` loop over one iterator is."""
    return RefusalError("loop-form", f"{what} does not count an iterator from a first value to a bound", place)


def step_of(loop: tree.For, variable: tree.Variable) -> int:
    """Return by how much a loop counts. Raises RefusalError (`loop-form`) if that is no number."""
    match loop.step:
        case tree.Assignment(target=tree.Name(variable=counted), operator="+" | "-" as operator, value=value):
            number = _number(value)
        case tree.Assignment(
            target=tree.Name(variable=counted),
            operator="",
            value=tree.Operation(operator="+" | "-" as operator, operands=(tree.Name(variable=again), value)),
        ) if again == counted:
            number = _number(value)
        case _:
            raise loop_form("a loop without a step", loop.place)
    if counted != variable or not number:
        raise loop_form("a loop whose step is no number other than 0", loop.place)
    return number if operator == "+" else -number


def limits(loop: tree.For, variable: tree.Variable, step: int) -> Iterator[tuple[str, tree.Expression]]:
    """Yield the bounds of a loop's iterator, each with how the iterator compares to it.

    Raises:
        RefusalError: `loop-form`, if the condition is no bound in the direction of the step.
    """
    waiting = [loop.condition]
    while waiting:
        match waiting.pop():
            case tree.Operation(operator="&&", operands=(first, second)):
                waiting += [second, first]
            case tree.Operation(operator=operator, operands=(first, second)) if operator in _MIRRORED:
                if isinstance(second, tree.Name) and second.variable == variable:
                    first, second, operator = second, first, _MIRRORED[operator]
                is_iterator = isinstance(first, tree.Name) and first.variable == variable
                if not is_iterator or _names(second, variable) or (operator[0] == "<") != (step > 0):
                    raise loop_form("a loop whose condition is no bound of its iterator", loop.place)
                yield operator, second
            case _:
                raise loop_form("a loop whose condition is no bound of its iterator", loop.place)


def reached(first: Sequence[Piece], iterator: str, step: int) -> str:
    """Return the condition, in isl's notation, that a loop comes to a value of its iterator from the first one."""
    relation = ">=" if step > 0 else "<="
    each = []
    for given, value in first:
        here = f"{iterator} {relation} {value}"
        if abs(step) > 1:
            here += f" and ({iterator} - ({value})) mod {abs(step)} = 0"
        each.append(f"({given} and {here})" if len(first) > 1 else here)
    return " or ".join(each)


def check_kept(body: Sequence[tree.Statement], variable: tree.Variable) -> None:
    """Raise RefusalError (`loop-form`) if a loop's body changes its iterator."""
    for statement in tree.all_of(body):
        for whole in tree.expressions_of(statement):
            for target in tree.targets_in(whole):
                if isinstance(target, tree.Name) and target.variable == variable:
                    raise loop_form(f"a loop that changes its iterator '{variable.name}' itself", target.place)


def _names(expression: tree.Expression, variable: tree.Variable) -> bool:
    return any(isinstance(each, tree.Name) and each.variable == variable for each in tree.inside(expression))


def _number(expression: tree.Expression) -> int | None:
    form = polynomial(expression)
    return None if form is None else form.number
