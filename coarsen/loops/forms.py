"""Whole expressions of a source as polynomials, and as isl has them: by cases, quotients of C among them."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from coarsen.analysis.algebra.polynomial import Polynomial
from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops import tree
from coarsen.loops.nest import affine_text
from coarsen.loops.tree import Cast, Expression, Name, Number, Operation

_COMPARISONS = {
    "<": isl.PwAff.lt_set,
    "<=": isl.PwAff.le_set,
    ">": isl.PwAff.gt_set,
    ">=": isl.PwAff.ge_set,
    "==": isl.PwAff.eq_set,
    "!=": isl.PwAff.ne_set,
}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


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
        case Operation(operator="+" | "-" | "*" | "<<" as operator, operands=(left, right)):
            first, second = polynomial(left), polynomial(right)
            if first is None or second is None:
                return None
            if operator == "<<":
                shift = second.number
                return first.scaled(1 << shift) if shift is not None and 0 <= shift < 64 else None
            return first * second if operator == "*" else first + second.scaled(1 if operator == "+" else -1)
    return None


def affine(expression: Expression, what: str) -> Polynomial:
    """Return a whole expression as an affine form. Raises RefusalError (`not-affine`) for any other."""
    form = polynomial(expression)
    if form is None or form.degree > 1:
        raise not_affine(what, expression.place)
    return form


def _value(expression: Expression, what: str) -> isl.PwAff:
    """A whole expression by cases, its names as parameters. `what` is how a refusal (`not-affine`) calls it."""
    if polynomial(expression) is not None:
        return _of_form(affine(expression, what))
    match expression:
        case Cast(operand=inner, is_narrow=False):
            return _value(inner, what)
        case Operation(operator="-", operands=(only,)):
            return _value(only, what).neg()
        case Operation(operator="+" | "-" as operator, operands=(left, right)):
            first, second = _value(left, what), _value(right, what)
            return first.add(second) if operator == "+" else first.sub(second)
        case Operation(operator="*", operands=(left, right)) if None in (polynomial(left), polynomial(right)):
            factor, other = (left, right) if _number(left) is not None else (right, left)
            if _number(factor) is not None:
                return _value(factor, what).mul(_value(other, what))
        case Operation(operator="/" | "%" as operator, operands=(left, right)):
            divisor = _number(right)
            if divisor is not None and divisor > 0:
                first, second = _value(left, what), _value(right, what)
                return first.tdiv_q(second) if operator == "/" else first.tdiv_r(second)
        case Operation(operator="?:", operands=(test, left, right)):
            holds = condition(test, what)
            first = _value(left, what).intersect_params(holds)
            return first.union_add(_value(right, what).intersect_params(holds.complement()))
    raise not_affine(what, expression.place)


def _of_form(form: Polynomial) -> isl.PwAff:
    return isl.PwAff(f"[{', '.join(sorted(form.symbols))}] -> {{ [({affine_text(form)})] }}")


def condition(expression: Expression, what: str) -> isl.Set:
    """Return the values of its names for which a condition holds; a refusal, `not-affine`, calls it `what`."""
    match expression:
        case Cast(operand=inner, is_narrow=False):
            return condition(inner, what)
        case Operation(operator="&&", operands=(left, right)):
            return condition(left, what).intersect(condition(right, what))
        case Operation(operator="||", operands=(left, right)):
            return condition(left, what).union(condition(right, what))
        case Operation(operator="!", operands=(only,)):
            return condition(only, what).complement()
        case Operation(operator=operator, operands=(left, right)) if operator in _COMPARISONS:
            return _COMPARISONS[operator](_value(left, what), _value(right, what)).params()
    return _value(expression, what).ne_set(_of_form(Polynomial({}))).params()


def _number(expression: Expression) -> int | None:
    form = polynomial(expression)
    return None if form is None else form.number


# The heads of loops: by how much a loop counts, and up to which bound.


def loop_form(what: str, place: SourcePosition) -> RefusalError:
    """Return the refusal of a loop that is not counted as a `for` loop over one iterator is."""
    return RefusalError("loop-form", f"{what} does not count an iterator from a first value to a bound", place)


def step_of(loop: tree.For, variable: tree.Variable) -> int:
    """Return by how much a loop counts. Raises RefusalError (`loop-form`) if that is no number."""
    match loop.step:
        case tree.Assignment(target=Name(variable=counted), operator="+" | "-" as operator, value=value):
            pass
        case tree.Assignment(
            target=Name(variable=counted),
            operator="",
            value=Operation(operator="+" | "-" as operator, operands=(Name(variable=again), value)),
        ) if again == counted:
            pass
        case _:
            raise loop_form("a loop without a step", loop.place)
    number = _number(value)
    if counted != variable or not number:
        raise loop_form("a loop whose step is no number other than 0", loop.place)
    return number if operator == "+" else -number


def limits(loop: tree.For, variable: tree.Variable, step: int) -> Iterator[tuple[str, Expression]]:
    """Yield the bounds of a loop's iterator, each with how the iterator compares to it.

    Raises RefusalError (`loop-form`) if the condition is no bound in the direction of the step.
    """
    waiting = [loop.condition]
    while waiting:
        match waiting.pop():
            case Operation(operator="&&", operands=(first, second)):
                waiting += [second, first]
                continue
            case Operation(operator=operator, operands=(first, second)) if operator in _MIRRORED:
                first, second = tree.without_cast(first), tree.without_cast(second)
                if _is_name(second, variable):
                    first, second, operator = second, first, _MIRRORED[operator]
                is_bound = not any(_is_name(each, variable) for each in tree.inside(second))
                if _is_name(first, variable) and is_bound and (operator[0] == "<") == (step > 0):
                    yield operator, second
                    continue
        raise loop_form("a loop whose condition is no bound of its iterator", loop.place)


def counted_from(iterator: Expression, first: Expression, step: int, what: str) -> isl.Set:
    """Return where a loop comes to a value of its iterator from the first one. Errors as of `condition`."""
    relation = ">=" if step > 0 else "<="
    since = Operation("-", (iterator, first), first.place)
    whole = Operation("%", (since, Number(str(abs(step)), abs(step), first.place)), first.place)
    return condition(Operation(relation, (iterator, first), first.place), what).subtract(condition(whole, what))


def check_kept(body: tuple[tree.Statement, ...], variable: tree.Variable) -> None:
    """Raise RefusalError (`loop-form`) if a loop's body changes its iterator."""
    for target in tree.targets_in(body):
        if _is_name(target, variable):
            raise loop_form(f"a loop that changes its iterator '{variable.name}' itself", target.place)


def _is_name(expression: Expression, variable: tree.Variable) -> bool:
    return isinstance(expression, Name) and expression.variable == variable
