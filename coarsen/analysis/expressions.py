"""Small expressions over named sizes, and their values: how often a loop goes round, how far apart accesses are.

    ⌈(width - 3) / 4⌉        CEILING of a sum by a number; FLOOR likewise
    height / groups(0)       an exact QUOTIENT: a mean over work-items need not be whole
    ⌊log2(local_size(0))⌋    LOGARITHM to a whole base; -1 of what is below 1. POWER is its opposite: 2^levels
    width                    OTHERWISE: its first part where all names in it have values, else its second

Trees are made by the functions here, which fold numbers, collect equal terms and cancel equal factors; they never
change once they are made. They are printed by the functions further below.

They predict. Nothing here proves anything, so nothing that decides what is legal may use them.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coarsen.errors import InvalidInputError

Quantity = int | float


class Operator(enum.StrEnum):
    """What a node of a tree does with its operands."""

    SUM = "sum"
    PRODUCT = "product"
    QUOTIENT = "quotient"
    CEILING = "ceiling"
    FLOOR = "floor"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    LOGARITHM = "logarithm"
    POWER = "power"
    OTHERWISE = "otherwise"


@dataclass(frozen=True, slots=True)
class Number:
    """A number."""

    value: Quantity

    @property
    def names(self) -> frozenset[str]:
        """No names."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class Name:
    """A size by its name."""

    text: str

    @property
    def names(self) -> frozenset[str]:
        """Its own."""
        return frozenset({self.text})


@dataclass(frozen=True)
class Combined:
    """An operator and what it combines."""

    operator: Operator
    operands: tuple[Expression, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """All names of sizes in it."""
        return frozenset().union(*(operand.names for operand in self.operands))


Expression = Number | Name | Combined

ZERO = Number(0)
ONE = Number(1)


def number(value: Quantity) -> Number:
    """Return a number as an expression, a whole one as an int."""
    return Number(int(value) if math.isfinite(value) and value == int(value) else value)


def total(parts: Iterable[Expression]) -> Expression:
    """Return the sum of expressions, equal terms collected."""
    factors: dict[Expression, Quantity] = {}
    for part in parts:
        for term in operands_of(part, Operator.SUM):
            factor, rest = split(term)
            factors[rest] = factors.get(rest, 0) + factor
    terms = [_scaled(rest, factor) for rest, factor in factors.items() if factor]
    terms.sort(key=lambda term: isinstance(term, Number))
    return _combined(Operator.SUM, terms, ZERO)


def difference(first: Expression, second: Expression) -> Expression:
    """Return the first less the second."""
    return total([first, product([Number(-1), second])])


def product(parts: Iterable[Expression]) -> Expression:
    """Return the product of expressions, divisors cancelled by equal factors."""
    factors: list[Expression] = []
    divisors: list[Expression] = []
    constant: Quantity = 1
    pending = list(parts)
    while pending:
        part = pending.pop(0)
        if isinstance(part, Number):
            constant *= part.value
        elif isinstance(part, Combined) and part.operator is Operator.PRODUCT:
            pending[:0] = part.operands
        elif isinstance(part, Combined) and part.operator is Operator.QUOTIENT:
            pending.insert(0, part.operands[0])
            divisors.extend(operands_of(part.operands[1], Operator.PRODUCT))
        else:
            factors.append(part)
    for divisor in list(divisors):
        if divisor in factors:
            factors.remove(divisor)
            divisors.remove(divisor)
    dividend = _scaled(_combined(Operator.PRODUCT, factors, ONE), constant)
    if not divisors or dividend == ZERO:
        return dividend
    return Combined(Operator.QUOTIENT, (dividend, _combined(Operator.PRODUCT, divisors, ONE)))


def quotient(dividend: Expression, divisor: Expression) -> Expression:
    """Return the exact quotient."""
    if isinstance(divisor, Number):
        return product([dividend, number(1 / divisor.value)])
    return product([dividend, Combined(Operator.QUOTIENT, (ONE, divisor))])


def ceiling(dividend: Expression, divisor: Expression = ONE) -> Expression:
    """Return the quotient rounded up."""
    return _rounded(Operator.CEILING, dividend, divisor)


def floor(dividend: Expression, divisor: Expression = ONE) -> Expression:
    """Return the quotient rounded down."""
    return _rounded(Operator.FLOOR, dividend, divisor)


def minimum(*parts: Expression) -> Expression:
    """Return the smallest of expressions."""
    return _extreme(Operator.MINIMUM, parts, min)


def maximum(*parts: Expression) -> Expression:
    """Return the largest of expressions."""
    return _extreme(Operator.MAXIMUM, parts, max)


def at_least_zero(value: Expression) -> Expression:
    """Return a value, or 0 for a negative one."""
    return value if is_never_negative(value) else maximum(value, ZERO)


def magnitude(value: Expression) -> Expression:
    """Return a value without its sign."""
    opposite = product([Number(-1), value])
    return next((each for each in (value, opposite) if is_never_negative(each)), maximum(value, opposite))


def is_never_negative(expression: Expression) -> bool:
    """Return True for an expression that sizes, which are never negative, can't make negative."""
    if isinstance(expression, Number):
        return expression.value >= 0
    if isinstance(expression, Name):
        return True
    if expression.operator is Operator.LOGARITHM:
        return False
    together = any if expression.operator is Operator.MAXIMUM else all
    return together(map(is_never_negative, expression.operands))


def logarithm(value: Expression, base: int = 2) -> Expression:
    """Return the logarithm to a whole base of at least 2, rounded down; -1 of what is below 1."""
    return _folded(Operator.LOGARITHM, (value, Number(base)))


def power(base: int, exponent: Expression) -> Expression:
    """Return a whole number of at least 2 to the power of an expression."""
    return _folded(Operator.POWER, (Number(base), exponent))


def otherwise(value: Expression, assumed: Expression) -> Expression:
    """Return a value that is replaced by another where a name in it has no value."""
    return value if not value.names or value == assumed else Combined(Operator.OTHERWISE, (value, assumed))


def as_known(expression: Expression) -> Expression:
    """Return an expression as it is where all names have values."""
    if not isinstance(expression, Combined):
        return expression
    if expression.operator is Operator.OTHERWISE:
        return as_known(expression.operands[0])
    return _made(expression.operator, [as_known(operand) for operand in expression.operands])


def replaced(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """Return an expression with names replaced by expressions."""
    if values.keys().isdisjoint(expression.names) or isinstance(expression, Number):
        return expression
    if isinstance(expression, Name):
        return values[expression.text]
    return _made(expression.operator, [replaced(operand, values) for operand in expression.operands])


def operands_of(expression: Expression, operator: Operator) -> tuple[Expression, ...]:
    """Return what an operator combines, or an expression of another kind alone."""
    is_such = isinstance(expression, Combined) and expression.operator is operator
    return expression.operands if isinstance(expression, Combined) and is_such else (expression,)


def split(term: Expression) -> tuple[Quantity, Expression]:
    """Return a term's number and the rest of it."""
    if isinstance(term, Number):
        return term.value, ONE
    if isinstance(term, Combined) and term.operator is Operator.PRODUCT:
        first, *rest = term.operands
        if isinstance(first, Number):
            return first.value, _combined(Operator.PRODUCT, rest, ONE)
    if isinstance(term, Combined) and term.operator is Operator.QUOTIENT:
        value, dividend = split(term.operands[0])
        return value, Combined(Operator.QUOTIENT, (dividend, term.operands[1]))
    return 1, term


def _made(operator: Operator, parts: Sequence[Expression]) -> Expression:
    match operator:
        case Operator.SUM:
            return total(parts)
        case Operator.PRODUCT:
            return product(parts)
        case Operator.QUOTIENT:
            return quotient(*parts)
        case Operator.MINIMUM:
            return minimum(*parts)
        case Operator.MAXIMUM:
            return maximum(*parts)
        case Operator.OTHERWISE:
            return otherwise(*parts)
        case Operator.CEILING | Operator.FLOOR:
            return _rounded(operator, *parts)
        case Operator.LOGARITHM | Operator.POWER:
            return _folded(operator, tuple(parts))


def _scaled(expression: Expression, factor: Quantity) -> Expression:
    """A product with a number, which goes into sums and dividends."""
    factor = number(factor).value
    if factor == 0:
        return ZERO
    if factor == 1:
        return expression
    if isinstance(expression, Number):
        return number(expression.value * factor)
    if isinstance(expression, Combined) and expression.operator is Operator.SUM:
        return Combined(Operator.SUM, tuple(_scaled(term, factor) for term in expression.operands))
    own, rest = split(expression)
    if isinstance(rest, Combined) and rest.operator is Operator.QUOTIENT:
        return Combined(Operator.QUOTIENT, (_scaled(rest.operands[0], own * factor), rest.operands[1]))
    whole = number(own * factor)
    if whole == ONE:
        return rest
    return Combined(Operator.PRODUCT, (whole, *operands_of(rest, Operator.PRODUCT)))


def _combined(operator: Operator, parts: Sequence[Expression], nothing: Number) -> Expression:
    return Combined(operator, tuple(parts)) if len(parts) > 1 else parts[0] if parts else nothing


def _rounded(operator: Operator, dividend: Expression, divisor: Expression) -> Expression:
    if dividend == divisor:
        return ONE
    if divisor == ONE and _is_whole(dividend):
        return dividend
    return _folded(operator, (dividend, divisor))


def _is_whole(expression: Expression) -> bool:
    """Return True if an expression is whole whatever its sizes are, all of them being whole."""
    if isinstance(expression, Number):
        return isinstance(expression.value, int)
    if isinstance(expression, Name) or expression.operator in (
        Operator.CEILING,
        Operator.FLOOR,
        Operator.LOGARITHM,
    ):
        return True
    return expression.operator is not Operator.QUOTIENT and all(map(_is_whole, expression.operands))


def _extreme(
    operator: Operator, parts: Iterable[Expression], chosen: Callable[[Iterable[Quantity]], Quantity]
) -> Expression:
    flat = dict.fromkeys(operand for part in parts for operand in operands_of(part, operator))
    numbers = [part.value for part in flat if isinstance(part, Number)]
    rest = [part for part in flat if not isinstance(part, Number)]
    return _combined(operator, [*rest, *([number(chosen(numbers))] if numbers else [])], ZERO)


def _folded(operator: Operator, operands: tuple[Expression, ...]) -> Expression:
    values = [operand.value for operand in operands if isinstance(operand, Number)]
    if len(values) < len(operands):
        return Combined(operator, operands)
    try:
        return number(_RULES[operator](values))
    except (ZeroDivisionError, OverflowError):
        return Combined(operator, operands)


# Their values.

# No size is larger than 2 to this.
_LARGEST_EXPONENT = 64


def evaluate(expression: Expression, sizes: Mapping[str, Quantity]) -> Quantity:
    """Return the value of an expression.

    Args:
        expression: to evaluate.
        sizes: the values by name; what isn't needed may be there.

    Raises:
        InvalidInputError: a name has no value, or something is divided by 0; the message names it.
    """
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Name):
        if expression.text not in sizes:
            raise InvalidInputError(f"the size '{expression.text}' needs a value")
        return sizes[expression.text]
    if expression.operator is Operator.OTHERWISE:
        value, assumed = expression.operands
        return evaluate(value if value.names <= sizes.keys() else assumed, sizes)
    values = [evaluate(operand, sizes) for operand in expression.operands]
    try:
        return _RULES[expression.operator](values)
    except (ZeroDivisionError, OverflowError):
        names = ", ".join(sorted(expression.names))
        raise InvalidInputError(f"these sizes give no finite number of work: {names}") from None


def _logarithm(values: Sequence[Quantity]) -> Quantity:
    value, base = math.floor(values[0]), int(values[1])
    found = -1
    while value >= 1:
        value, found = value // base, found + 1
    return found


def _power(values: Sequence[Quantity]) -> Quantity:
    if values[1] > _LARGEST_EXPONENT:
        raise OverflowError
    return values[0] ** values[1]


_RULES: Mapping[Operator, Callable[[Sequence[Quantity]], Quantity]] = {
    Operator.SUM: sum,
    Operator.PRODUCT: math.prod,
    Operator.QUOTIENT: lambda values: values[0] / values[1],
    Operator.CEILING: lambda values: -math.floor(-values[0] // values[1]),
    Operator.FLOOR: lambda values: math.floor(values[0] // values[1]),
    Operator.MINIMUM: min,
    Operator.MAXIMUM: max,
    Operator.LOGARITHM: _logarithm,
    Operator.POWER: _power,
}


# Expressions over sizes as people read them, `⌈(width - 3) / 4⌉` or `4·width·height`.

_CALLS = {Operator.MINIMUM: "min", Operator.MAXIMUM: "max"}


def expression_text(expression: Expression) -> str:
    """Return an expression in one line, as it is where all names have values."""
    return _text(as_known(expression))


def _text(expression: Expression) -> str:
    if isinstance(expression, Number):
        return str(expression.value) if isinstance(expression.value, int) else f"{expression.value:.6g}"
    if isinstance(expression, Name):
        return expression.text
    operands = expression.operands
    match expression.operator:
        case Operator.SUM:
            return _sum(expression)
        case Operator.PRODUCT:
            return "·".join(map(_factor, operands))
        case Operator.QUOTIENT:
            return f"{_factor(operands[0])} / {_divisor(operands[1])}"
        case Operator.CEILING:
            return f"⌈{_ratio(*operands)}⌉"
        case Operator.FLOOR:
            return f"⌊{_ratio(*operands)}⌋"
        case Operator.LOGARITHM:
            return f"⌊log{_text(operands[1])}({_text(operands[0])})⌋"
        case Operator.POWER:
            return f"{_text(operands[0])}^{_in_parentheses(operands[1], set(Operator))}"
        case _:
            return f"{_CALLS[expression.operator]}({', '.join(map(_text, operands))})"


def _sum(expression: Combined) -> str:
    text = ""
    for term in expression.operands:
        factor, rest = split(term)
        spelled = _text(product([number(abs(factor)), rest]))
        sign = "-" if factor < 0 else "+"
        text += f" {sign} {spelled}" if text else f"-{spelled}" if factor < 0 else spelled
    return text


def _ratio(dividend: Expression, divisor: Expression) -> str:
    if divisor == Number(1):
        return _text(dividend)
    return f"{_factor(dividend)} / {_divisor(divisor)}"


def _factor(expression: Expression) -> str:
    return _in_parentheses(expression, {Operator.SUM, Operator.QUOTIENT})


def _divisor(expression: Expression) -> str:
    return _in_parentheses(expression, {Operator.SUM, Operator.QUOTIENT, Operator.PRODUCT})


def _in_parentheses(expression: Expression, looser: set[Operator]) -> str:
    text = _text(expression)
    return f"({text})" if isinstance(expression, Combined) and expression.operator in looser else text
