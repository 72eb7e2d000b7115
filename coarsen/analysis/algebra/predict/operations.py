"""The predicting rules of arithmetic and of calls, OpenCL's queries of the NDRange among them.

- `x / c` is a piece that does not change along a dimension where x moves by at most half of c; a c that is no
  constant counts as larger than any number. `x % c` is x - c·(x / c), so `(x / w)·w + x % w` is x again.
- `min`, `max` and `clamp` are choices between values (`prediction.py`), and so is `x ^ uniform`: it moves like x,
  since neighbours stay within one aligned group.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from coarsen.analysis.algebra import numbers
from coarsen.analysis.algebra.numbers import width_of
from coarsen.analysis.algebra.polynomial import ZERO, Polynomial
from coarsen.analysis.algebra.predict.prediction import Prediction, choice
from coarsen.analysis.algebra.predict.symbols import Piece, PieceKind, Symbols, global_id, local_id
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.opencl.queries import LINEAR_PARTS, Query, builtin_name, linear_id, queried_dimension, query_of
from coarsen.ir.types import IntegerType, PointerType

_CHOOSING = re.compile(r"(min|max|clamp)$|llvm\.[su](min|max)\b")
_CHOICES = {"min": PieceKind.LEAST, "max": PieceKind.LARGEST, "clamp": PieceKind.CLAMPED}
_LARGEST_SHIFT = 64


def unchanged(prediction: Prediction, instruction: Instruction) -> Polynomial | None:
    """Extensions, truncations and the like: what they are given, but for bits."""
    source = instruction.operands[0]
    is_index = isinstance(source.type, IntegerType | PointerType)
    is_bit = isinstance(instruction.type, IntegerType) and instruction.type.width == 1
    return prediction.form(source) if is_index and not is_bit else None


def multiply(prediction: Prediction, instruction: Instruction) -> Polynomial | None:
    """`mul`."""
    return _product(prediction, instruction, *prediction.both(instruction))


def _product(
    prediction: Prediction, instruction: Instruction, first: Polynomial, second: Polynomial
) -> Polynomial | None:
    may_multiply = prediction.may_multiply(first, second)
    return numbers.multiply(first, second, width_of(instruction.type)) if may_multiply else None


def shift_left(prediction: Prediction, instruction: Instruction) -> Polynomial | None:
    """`shl`: a product with a power of two."""
    shifted, distance = prediction.both(instruction)
    return _product(prediction, instruction, shifted, _power_of_two(prediction, instruction, distance))


def shift_right(prediction: Prediction, instruction: Instruction) -> Polynomial:
    """`lshr`, `ashr`: a quotient by a power of two."""
    shifted, distance = prediction.both(instruction)
    power = _power_of_two(prediction, instruction, distance)
    return quotient(prediction.symbols, shifted, power, instruction.name)


def _power_of_two(prediction: Prediction, instruction: Instruction, exponent: Polynomial) -> Polynomial:
    if exponent.is_constant:
        return Polynomial.constant(1 << max(0, min(exponent.constant_part, _LARGEST_SHIFT)))
    symbols = prediction.symbols

    def difference(dimension: int) -> Polynomial | None:
        return ZERO if symbols.difference(exponent, dimension) == ZERO else None

    piece = Piece(PieceKind.POWER, (exponent,), instruction.name, difference)
    return symbols.add(symbols.shortened(f"2^({exponent})"), piece)


def divide(prediction: Prediction, instruction: Instruction) -> Polynomial:
    """`udiv`, `sdiv`."""
    return quotient(prediction.symbols, *prediction.both(instruction), instruction.name)


def remainder(prediction: Prediction, instruction: Instruction) -> Polynomial:
    """`urem`, `srem`."""
    first, second = prediction.both(instruction)
    return first - second * quotient(prediction.symbols, first, second, instruction.name)


def bitwise_and(prediction: Prediction, instruction: Instruction) -> Polynomial | None:
    """Return the `and` of two values: with 2^k - 1 it is a remainder, with -2^k the rest."""
    first, mask = prediction.both(instruction)
    if first.is_constant:
        first, mask = mask, first
    value = mask.number
    if value is None:
        return None
    power = value + 1 if value >= 0 else -value
    if power & (power - 1) or power == 0:
        return None
    modulus = Polynomial.constant(power)
    whole = modulus * quotient(prediction.symbols, first, modulus, instruction.name)
    return first - whole if value >= 0 else whole


def bitwise_or(prediction: Prediction, instruction: Instruction) -> Polynomial:
    """`or` of numbers without a common bit is their sum; of others a choice."""
    first, second = prediction.both(instruction)
    if "disjoint" in instruction.flags:
        return numbers.add(first, second, width_of(instruction.type))
    return choice(prediction, instruction, PieceKind.BITS, (first, second))


def exclusive_or(prediction: Prediction, instruction: Instruction) -> Polynomial:
    """`xor`: with -1 a ring operation; with another uniform number it keeps neighbours together."""
    first, second = prediction.both(instruction)
    if first == second:
        return ZERO
    found = numbers.complement(first, second, width_of(instruction.type))
    return choice(prediction, instruction, PieceKind.BITS, (first, second)) if found is None else found


def component(prediction: Prediction, instruction: Instruction) -> Polynomial | None:
    """`extractelement` of what `insertelement` put there."""
    vector, index = instruction.operands
    while vector.kind is ValueKind.INSTRUCTION and index.kind is ValueKind.CONSTANT:
        source = prediction.kernel.definition[vector.text]
        if source.opcode != "insertelement" or source.operands[2].kind is not ValueKind.CONSTANT:
            break
        if source.operands[2].text == index.text:
            return prediction.form(source.operands[1])
        vector = source.operands[0]
    return None


def call(prediction: Prediction, instruction: Instruction) -> Polynomial | None:
    """Queries of the NDRange, and builtins on integers that are products, sums or choices."""
    query = query_form(instruction)
    if query is not None:
        return query
    name, arguments = builtin_name(instruction.callee), instruction.arguments
    if name in ("mul24", "mad24"):
        product = multiply(prediction, instruction)
        if product is None or name == "mul24":
            return product
        return product + prediction.form(arguments[2])
    if name.startswith("convert_") and isinstance(arguments[0].type, IntegerType):
        return prediction.form(arguments[0])
    chosen = _CHOOSING.match(name)
    if chosen is None:
        return None
    parts = [prediction.form(argument) for argument in arguments]
    return choice(prediction, instruction, _CHOICES[chosen[1] or chosen[2]], parts)


def quotient(symbols: Symbols, dividend: Polynomial, divisor: Polynomial, instruction: str) -> Polynomial:
    """Return the whole quotient of two values, rounded either way, computed by an instruction of this name.

    Equal quotients have the same symbol wherever they are computed.
    """
    if divisor.is_constant and divisor.constant_part == 0:
        return ZERO
    if dividend.is_constant and divisor.is_constant:
        return Polynomial.constant(dividend.constant_part // divisor.constant_part)
    exact = dividend.divided(divisor)
    if exact is not None:
        return exact

    def difference(dimension: int) -> Polynomial | None:
        gain, change = (symbols.difference(part, dimension) for part in (dividend, divisor))
        if gain is None or change is None or change.terms:
            return None
        return _gain_of_quotient(gain, divisor)

    symbol = symbols.shortened(f"({dividend})/({divisor})")
    return symbols.add(symbol, Piece(PieceKind.QUOTIENT, (dividend, divisor), instruction, difference))


def _gain_of_quotient(gain: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """Return what the quotient gains where the dividend gains `gain`: an exact part of it, or usually nothing."""
    exact = gain.divided(divisor)
    if exact is not None:
        return exact
    if not gain.is_constant:
        return None
    is_small = not divisor.is_constant or 2 * abs(gain.constant_part) <= abs(divisor.constant_part)
    return ZERO if is_small else None


# What OpenCL's queries of the NDRange give, as polynomials over ids and sizes.

_IDS: Mapping[Query, Callable[[int], str]] = {
    Query.GLOBAL_ID: global_id,
    Query.LOCAL_ID: local_id,
    Query.GROUP_ID: "group_id({})".format,
}
_DIMENSIONS = 3


def _symbol(query: Query, dimension: int) -> str:
    return _IDS.get(query, (query.value + "({})").format)(dimension)


_QUERIES: Mapping[str, tuple[Query, int]] = {
    _symbol(query, dimension): (query, dimension)
    for query in Query
    if query.has_dimension
    for dimension in range(_DIMENSIONS)
}


def query_form(call: Instruction) -> Polynomial | None:
    """Return the polynomial of a query; None for another call, and where the dimension is not known."""
    query = query_of(call)
    if query is None:
        return None
    if query.is_linear:
        return _linear(query)
    dimension = queried_dimension(call)
    return answer(query, dimension) if dimension is not None else None


def answer(query: Query, dimension: int) -> Polynomial:
    """Return what a query gives along a dimension (0, 1 or 2): an id, or a size by its function's name."""
    return Polynomial.symbol(_symbol(query, dimension))


def queried(symbol: str) -> tuple[Query, int] | None:
    """Return the query whose answer a symbol is, and its dimension; None for any other symbol."""
    return _QUERIES.get(symbol)


def _linear(query: Query) -> Polynomial:
    """Return a linear id; of global ids the launch's offset does not count."""
    identity, size = LINEAR_PARTS[query]

    def place(dimension: int) -> Polynomial:
        found = answer(identity, dimension)
        return found - answer(Query.GLOBAL_OFFSET, dimension) if identity is Query.GLOBAL_ID else found

    return linear_id(place, lambda dimension: answer(size, dimension), Polynomial.__mul__, Polynomial.__add__)
