"""Whole expressions of a source as polynomials and as isl has them; rows and columns of flat indices.

`a[i*n + j]` is row i, column j of rows of n, if isl proves `0 <= j < n`. The factors of iterators are the strides:
of `(i*ny + j)*nz + k` they are `ny*nz`, `nz` and 1. The index is divided by one after the other. What has no
iterator may go to either side: `(i + 1)*n - 1 - j` is row i, column n - 1 - j.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import islpy as isl

from coarsen.analysis.algebra.polynomial import ONE, ZERO, Polynomial
from coarsen.errors import RefusalError, SourcePosition
from coarsen.loops.nest import Statement, affine_text
from coarsen.loops.tree import Cast, Element, Expression, Name, Number, Operation

_COMPARISONS = {
    "<": isl.PwAff.lt_set,
    "<=": isl.PwAff.le_set,
    ">": isl.PwAff.gt_set,
    ">=": isl.PwAff.ge_set,
    "==": isl.PwAff.eq_set,
    "!=": isl.PwAff.ne_set,
}
_ARITHMETIC = {
    "+": isl.PwAff.add,
    "-": isl.PwAff.sub,
    "*": isl.PwAff.mul,
    "/": isl.PwAff.tdiv_q,
    "%": isl.PwAff.tdiv_r,
}
Form = tuple[Polynomial, ...]


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
        case Operation(operator="+" | "-" | "*" | "/" | "%" as operator, operands=(left, right)):
            factor, divisor = number_of(left), number_of(right)
            is_product = operator == "*" and (factor, divisor) != (None, None)
            is_quotient = operator in "/%" and divisor is not None and divisor > 0
            if operator in "+-" or is_product or is_quotient:
                return _ARITHMETIC[operator](_value(left, what), _value(right, what))
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


def number_of(expression: Expression) -> int | None:
    """Return the number that a whole expression is; None for any other."""
    form = polynomial(expression)
    return None if form is None else form.number


# Flat indices.


@dataclass(frozen=True)
class Located:
    """The accesses of an array: the subscripts of each, the extents, what is assumed of parameters."""

    subscripts: tuple[Form, ...]
    extents: tuple[Polynomial | None, ...]
    is_split: bool = False
    assumed: tuple[str, ...] = ()


def located(
    spelled: str,
    accesses: Sequence[tuple[Statement, Element]],
    extents: Sequence[Polynomial | None],
    parameters: Sequence[str],
) -> Located:
    """Return the subscripts of all accesses of an array, a flat one's indices split into rows and columns.

    Args:
        spelled: the array, as the source calls it.
        accesses: its elements, with as many indices each as it has extents, and the statements that access them.
        extents: of its type, the outermost first; None for one that is not said.
        parameters: the names of whole numbers that stay the same.

    Raises:
        RefusalError: `not-affine`; `index-leaves-row` for a column that may be beside its row.
    """
    what = f"the index of '{spelled}'"
    if not extents:
        return Located(tuple(() for _ in accesses), ())
    outer = [tuple(affine(index, what) for index in element.indices[:-1]) for _, element in accesses]
    if len(extents) > 1 and extents[-1] is not None:
        inner = [affine(element.indices[-1], what) for _, element in accesses]
        return Located(tuple((*row, last) for row, last in zip(outer, inner, strict=True)), tuple(extents))
    flat = [_Flat(*access, parameters, what) for access in accesses]
    failed: Element | None = None
    for strides in _choices(flat):
        found = _split(flat, strides)
        if isinstance(found, Located):
            rows = tuple((*row, *columns) for row, columns in zip(outer, found.subscripts, strict=True))
            return Located(rows, (*extents[:-1], *found.extents), True, found.assumed)
        failed = found
    for each in flat:
        if each.form.degree > 1 and failed is not None:
            raise RefusalError("index-leaves-row", f"a column of '{spelled}' may be beside its row", failed.place)
        if each.form.degree > 1:
            raise not_affine(what, each.element.place)
    return Located(tuple((*row, each.form) for row, each in zip(outer, flat, strict=True)), tuple(extents))


class _Flat:
    """The last index of an access, and the values that iterators have there.

    Raises RefusalError (`not-affine`) for an index that is no polynomial; `what` is how it calls it.
    """

    def __init__(self, statement: Statement, element: Element, parameters: Sequence[str], what: str) -> None:
        self.element, self.parameters = element, parameters
        self.iterators = statement.iterators
        form = polynomial(element.indices[-1])
        if form is None:
            raise not_affine(what, element.indices[-1].place)
        self.form = form
        self._domain = self._where(statement.conditions)

    def _where(self, conditions: Sequence[str]) -> isl.Set:
        given = " and ".join(f"({each})" for each in conditions) or "0 = 0"
        return isl.Set(f"[{', '.join(self.parameters)}] -> {{ [{', '.join(self.iterators)}] : {given} }}")

    def outside(self, subscripts: Form, extents: Sequence[Polynomial]) -> isl.Set:
        """Return the instances of which a column leaves its row."""
        columns = zip(subscripts[1:], extents, strict=True)
        inside = [f"0 <= {affine_text(column)} < {affine_text(extent)}" for column, extent in columns]
        return self._domain - self._where(inside)

    def assumption(self, subscripts: Form, extents: Sequence[Polynomial]) -> str:
        """Return the constraint on parameters under which no column leaves its row; empty if there is none."""
        wrong = self.outside(subscripts, extents).params()
        holds = wrong.complement().gist(self._domain.params()).coalesce()
        is_possible = not (self._domain.params() - wrong).is_empty()
        return constraint_text(holds) if is_possible and self._holds_for_longer_rows(holds, extents) else ""

    def _holds_for_longer_rows(self, holds: isl.Set, extents: Sequence[Polynomial]) -> bool:
        """Return True for `m <= lda`, False for `n = 1`: what a row's length is raised by must not matter."""
        longer = {symbol for extent in extents for symbol in extent.symbols}
        names = ", ".join(self.parameters)
        raised = ", ".join(f"{name} + 1" if name in longer else name for name in self.parameters)
        values = isl.Set(f"[{names}] -> {{ [{names}] }}").intersect_params(holds)
        values = values.project_out(isl.dim_type.param, 0, values.dim(isl.dim_type.param))
        moved = values.apply(isl.Map(f"{{ [{names}] -> [{raised}] }}"))
        return bool(longer) and bool(moved.is_subset(values))


def constraint_text(parameters: isl.Set) -> str:
    """Return the constraints of a set of parameters in isl's notation."""
    _, _, text = str(parameters.coalesce()).partition(":")
    return text.rstrip("} ").strip() or "0 = 0"


def _choices(accesses: Sequence[_Flat]) -> Iterator[tuple[Polynomial, ...]]:
    """The strides to try, the longest first and 1 last: all that there are, then those that aren't numbers."""
    found: list[Polynomial] = []
    for access in accesses:
        for stride in _strides(access.element.indices[-1], ONE, frozenset(access.iterators)):
            found += [stride] * (stride not in found)
    found.sort(key=lambda stride: (stride.degree, max(map(abs, stride.terms.values()))), reverse=True)
    whole = [stride for stride in found if not stride.is_constant]
    # `2*i` alone is no row of two.
    if len(found) > 1 and (whole or ONE in found):
        yield (*(stride for stride in found if stride != ONE), ONE)
    if whole:
        yield (*whole, ONE)


def _strides(index: Expression, outer: Polynomial, iterators: frozenset[str]) -> Iterator[Polynomial]:
    """Factors of the iterators in an index."""
    match index:
        case Name(variable=variable) if outer.terms and variable.name in iterators:
            yield outer.scaled(-1) if outer.terms[_longest(outer)] < 0 else outer
        case Operation(operator="*", operands=(first, second)):
            for factor, rest in ((first, second), (second, first)):
                form = polynomial(factor)
                if form is not None and not form.symbols & iterators:
                    yield from _strides(rest, outer * form, iterators)
                    return
        case Operation(operands=operands, operator="+" | "-"):
            for each in operands:
                yield from _strides(each, outer, iterators)


def _split(accesses: Sequence[_Flat], strides: Sequence[Polynomial]) -> Located | Element | None:
    """The accesses in rows and columns of these strides; else one of which a column leaves its row, or nothing."""
    extents = []
    for longer, shorter in pairwise(strides):
        quotient, rest = _divided(longer, shorter)
        if rest.terms or quotient.degree > 1:
            return None
        extents.append(quotient)
    rows: list[Form] = []
    assumed: dict[str, None] = {}
    for access in accesses:
        every = _columns(access.form, strides, frozenset(access.iterators))
        tries = [each for each in every if all(form.degree <= 1 for form in each)]
        proved = next((each for each in tries if access.outside(each, extents).is_empty()), None)
        if proved is not None:
            rows.append(proved)
            continue
        conditions = ((each, access.assumption(each, extents)) for each in tries)
        subscripts, condition = next((each for each in conditions if each[1]), ((), ""))
        if not condition:
            return access.element
        rows.append(subscripts)
        assumed[condition] = None
    return Located(tuple(rows), (None, *extents), True, tuple(assumed))


def _columns(form: Polynomial, strides: Sequence[Polynomial], iterators: frozenset[str]) -> Iterator[Form]:
    """The ways to write an index as row and columns; only what has no iterator differs."""
    if len(strides) == 1:
        yield (form,)
        return
    quotient, _ = _divided(form, strides[0])
    pure = Polynomial({each: number for each, number in quotient.terms.items() if not iterators & {*each}})
    moved: list[Polynomial] = []
    for shift in (pure, ZERO, pure - ONE, pure + ONE, ONE.scaled(-1), ONE):
        row = quotient - pure + shift
        if row not in moved:
            moved.append(row)
    for row in moved:
        for columns in _columns(form - row * strides[0], strides[1:], iterators):
            yield (row, *columns)


def _divided(form: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder; no term of the remainder has the divisor's longest term as a factor."""
    longest = _longest(divisor)
    lead = Polynomial({longest: 1})
    quotient, rest = ZERO, form
    while True:
        for product in sorted(rest.terms, key=lambda each: (len(each), each), reverse=True):
            left = Polynomial({product: 1}).divided(lead)
            times = int(rest.terms[product] / divisor.terms[longest])
            if left is not None and times:
                quotient, rest = quotient + left.scaled(times), rest - left.scaled(times) * divisor
                break
        else:
            return quotient, rest


def _longest(form: Polynomial) -> tuple[str, ...]:
    return max(form.terms, key=lambda product: (len(product), product))
