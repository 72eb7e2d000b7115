"""Whole expressions of a source as polynomials, and as isl writes them, quotients of C among them.

C's quotient goes towards 0, isl's `floor` downwards: an expression with quotients is a list of pieces, each with
the condition under which it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree
from coarsen.loops.nest import affine_text
from coarsen.loops.tree import Cast, Expression, Name, Number, Operation

# A condition in isl's notation, and a value where it holds.
Piece = tuple[str, str]

_TRUE, _FALSE = "0 = 0", "1 = 0"
_COMPARISONS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "==": "=", "!=": "!="}


def not_affine(what: str, place: SourcePosition) -> RefusalError:
    """Return the refusal of an expression that is no sum of multiples of iterators and parameters."""
    return RefusalError("not-affine", f"{what} is no affine expression of loops' iterators and parameters", place)


def polynomial(expression: Expression) -> Polynomial | None:
    """Return a whole expression as a polynomial of its names; None where it has other operators."""
    match expression:
        case Number(value=int(value)):
            return Polynomial.constant(value)
        case Cast(operand=operand, is_narrow=False):
            return polynomial(operand)
        case Name(variable=variable):
            return Polynomial.symbol(variable.name)
        case Operation(operator="-", operands=(only,)):
            inner = polynomial(only)
            return None if inner is None else inner.scaled(-1)
        case Operation(operator="+" | "-" | "*" | "<<", operands=(left, right)):
            first, second = polynomial(left), polynomial(right)
            if first is None or second is None:
                return None
            match expression.operator:
                case "+":
                    return first + second
                case "-":
                    return first - second
                case "*":
                    return first * second
            shift = second.number
            return first.scaled(1 << shift) if shift is not None and 0 <= shift < 64 else None
    return None


def affine(expression: Expression, what: str) -> Polynomial:
    """Return a whole expression as an affine form. Raises RefusalError (`not-affine`) for any other."""
    form = polynomial(expression)
    if form is None or form.degree > 1:
        raise not_affine(what, expression.place)
    return form


def pieces(expression: Expression, what: str) -> list[Piece]:
    """Return a whole expression by cases.

    Args:
        expression: of iterators and parameters.
        what: how a refusal calls it.

    Raises:
        RefusalError: `not-affine`.
    """
    form = polynomial(expression)
    if form is not None:
        return [(_TRUE, affine_text(affine(expression, what)))]
    match expression:
        case Cast(operand=inner, is_narrow=False):
            return pieces(inner, what)
        case Operation(operator="-", operands=(only,)):
            return [(given, f"-({value})") for given, value in pieces(only, what)]
        case Operation(operator="+" | "-" | "*" as operator, operands=(left, right)):
            if operator == "*" and _number(left) is None and _number(right) is None:
                raise not_affine(what, expression.place)
            if operator == "*" and _number(right) is not None:
                left, right = right, left
            return [
                (
                    _both(one, other),
                    f"({first}) {operator} ({second})" if operator != "*" else f"{first}*({second})",
                )
                for one, first in pieces(left, what)
                for other, second in pieces(right, what)
            ]
        case Operation(operator="/" | "%" as operator, operands=(left, right)):
            divisor = _number(right)
            if divisor is None or divisor <= 0:
                raise not_affine(what, expression.place)
            shown = f"floor(({{0}})/{divisor})" if operator == "/" else f"(({{0}}) mod {divisor})"
            return [
                piece
                for given, value in pieces(left, what)
                for piece in (
                    (_both(given, f"{value} >= 0"), shown.format(value)),
                    (_both(given, f"{value} < 0"), f"-({shown.format(f'-({value})')})"),
                )
            ]
        case Operation(operator="?:", operands=(test, left, right)):
            holds = condition(test, what)
            return [
                *((_both(holds, given), value) for given, value in pieces(left, what)),
                *((_both(f"not ({holds})", given), value) for given, value in pieces(right, what)),
            ]
    raise not_affine(what, expression.place)


def condition(expression: Expression, what: str) -> str:
    """Return a condition on iterators and parameters in isl's notation. Arguments and errors as of `pieces`."""
    match expression:
        case Cast(operand=inner, is_narrow=False):
            return condition(inner, what)
        case Operation(operator="&&" | "||" as operator, operands=(left, right)):
            word = "and" if operator == "&&" else "or"
            return f"({condition(left, what)}) {word} ({condition(right, what)})"
        case Operation(operator="!", operands=(only,)):
            return f"not ({condition(only, what)})"
        case Operation(operator=operator, operands=(left, right)) if operator in _COMPARISONS:
            return compared(pieces(left, what), _COMPARISONS[operator], pieces(right, what))
        case Number(value=int(value)):
            return _TRUE if value else _FALSE
    return compared(pieces(expression, what), "!=", [(_TRUE, "0")])


def compared(left: Sequence[Piece], relation: str, right: Sequence[Piece]) -> str:
    """Return the condition that a relation of isl's holds between two expressions."""
    return " or ".join(
        f"({_both(_both(one, other), f'{first} {relation} {second}')})"
        for one, first in left
        for other, second in right
    )


def _both(first: str, second: str) -> str:
    given = [each for each in (first, second) if each != _TRUE]
    return " and ".join(f"({each})" if " or " in each else each for each in given) or _TRUE


def _number(expression: Expression) -> int | None:
    form = polynomial(expression)
    return None if form is None else form.number


# The heads of loops: by how much a loop counts, and up to which bound.


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
                first, second = tree.without_cast(first), tree.without_cast(second)
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
