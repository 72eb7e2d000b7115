"""OpenCL's floating-point functions for PTX that are exact, or as exact as OpenCL demands, without a library.

Among them are those that take a number apart, or put it together. By hand since each is a few instructions, which
the inliner folds into the kernel; the elementary functions in full precision are what a library would be worth
reading for (`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from coarsen.backend.builtin_library import I32, Body, Item, element_count, same_shape, scalar, suffix, width
from coarsen.ir.types import FloatType, IntegerType, StructType

_INTRINSICS = {
    **{name: name for name in ("fabs", "floor", "ceil", "trunc", "rint", "round", "sqrt", "copysign", "fma")},
    "mad": "fmuladd",
    "fmin": "minnum",
    "fmax": "maxnum",
}
_RELATIONS = {
    "isequal": "oeq",
    "isnotequal": "une",
    "isgreater": "ogt",
    "isgreaterequal": "oge",
    "isless": "olt",
    "islessequal": "ole",
    "islessgreater": "one",
    "isordered": "ord",
    "isunordered": "uno",
}
_INFINITY = {16: "0xH7C00", 32: "0x7FF0000000000000", 64: "0x7FF0000000000000"}
_SMALLEST_NORMAL = {16: "0xH0400", 32: "0x3810000000000000", 64: "0x0010000000000000"}


def float_body(body: Body) -> list[str] | None:
    """Return the body of a floating-point function; None for any other, and for one on integers."""
    name = body.declaration.builtin
    if not body.parameters or not isinstance(scalar(body.parameters[0].type), FloatType):
        return None
    if name in _INTRINSICS:
        return body.returned(body.intrinsic(_INTRINSICS[name], *body.operands))
    if name in _RELATIONS:
        x, y = body.operands
        return body.returned(as_truth(body, body.compare(_RELATIONS[name], x, y)))
    if name in _TESTS:
        return body.returned(as_truth(body, _TESTS[name](body, body.operands[0])))
    write = _FUNCTIONS.get(name)
    return body.returned(write(body)) if write else None


def as_truth(body: Body, condition: Item) -> Item:
    """Return a comparison's result as OpenCL gives it: 1 for a true scalar, all bits for a true element."""
    result = body.declaration.result
    return body.cast("zext" if element_count(result) == 1 else "sext", condition, result)


def _infinity(body: Body, item: Item) -> Item:
    return body.constant(item.type, _INFINITY[width(item.type)])


def _is_finite(body: Body, x: Item) -> Item:
    return body.compare("olt", body.intrinsic("fabs", x), _infinity(body, x))


def _is_normal(body: Body, x: Item) -> Item:
    smallest = body.constant(x.type, _SMALLEST_NORMAL[width(x.type)])
    large_enough = body.compare("oge", body.intrinsic("fabs", x), smallest)
    return body.binary("and", large_enough, _is_finite(body, x))


def _sign_bit(body: Body, x: Item) -> Item:
    bits = body.cast("bitcast", x, same_shape(x.type, IntegerType(width(x.type))))
    return body.compare("slt", bits, body.constant(bits.type, "0"))


_TESTS: dict[str, Callable[[Body, Item], Item]] = {
    "isnan": lambda body, x: body.compare("uno", x, x),
    "isinf": lambda body, x: body.compare("oeq", body.intrinsic("fabs", x), _infinity(body, x)),
    "isfinite": _is_finite,
    "isnormal": _is_normal,
    "signbit": _sign_bit,
}


def _extreme(predicate: str) -> Callable[[Body], Item]:
    """`min` and `max`: y where the comparison `y ? x` holds, else x."""

    def write(body: Body) -> Item:
        x, y = body.operands
        return body.select(body.compare(predicate, y, x), y, x)

    return write


def _of_magnitude(predicate: str, otherwise: str) -> Callable[[Body], Item]:
    """The operand whose magnitude compares so with the other's; by value where they are equal."""

    def write(body: Body) -> Item:
        x, y = body.operands
        magnitude_x, magnitude_y = body.intrinsic("fabs", x), body.intrinsic("fabs", y)
        equal = body.intrinsic(otherwise, x, y)
        second = body.select(body.compare(predicate, magnitude_y, magnitude_x), y, equal)
        return body.select(body.compare(predicate, magnitude_x, magnitude_y), x, second)

    return write


def _clamp(body: Body) -> Item:
    value, low, high = body.operands
    return body.intrinsic("minnum", body.intrinsic("maxnum", value, low), high)


def _positive_difference(body: Body) -> Item:
    x, y = body.operands
    difference = body.binary("fsub", x, y)
    return body.select(body.compare("ole", x, y), body.number(x.type, 0), difference)


def _sign(body: Body) -> Item:
    (x,) = body.operands
    zero = body.number(x.type, 0)
    one = body.intrinsic("copysign", body.number(x.type, 1), x)
    or_zero = body.select(body.compare("oeq", x, zero), x, one)
    return body.select(body.compare("uno", x, x), zero, or_zero)


def _step(body: Body) -> Item:
    edge, x = body.operands
    return body.select(body.compare("olt", x, edge), body.number(x.type, 0), body.number(x.type, 1))


def _smooth_step(body: Body) -> Item:
    low, high, x = body.operands
    ratio = body.binary("fdiv", body.binary("fsub", x, low), body.binary("fsub", high, low))
    t = body.intrinsic("minnum", body.intrinsic("maxnum", ratio, body.number(x.type, 0)), body.number(x.type, 1))
    rest = body.binary("fsub", body.number(x.type, 3), body.binary("fmul", body.number(x.type, 2), t))
    return body.binary("fmul", body.binary("fmul", t, t), rest)


def _mix(body: Body) -> Item:
    x, y, share = body.operands
    return body.binary("fadd", x, body.binary("fmul", body.binary("fsub", y, x), share))


def _scaled(factor: float) -> Callable[[Body], Item]:
    def write(body: Body) -> Item:
        (x,) = body.operands
        return body.binary("fmul", x, real(body, x, factor))

    return write


def real(body: Body, like: Item, value: float) -> Item:
    """Return a constant that need not be exact, rounded to the precision of the type."""
    if width(like.type) < 64:
        value = struct.unpack("f", struct.pack("f", value))[0]
    bits = int.from_bytes(struct.pack(">d", value), "big")
    return body.constant(like.type, f"0x{bits:016X}")


def _reciprocal_root(body: Body) -> Item:
    (x,) = body.operands
    return body.binary("fdiv", body.number(x.type, 1), body.intrinsic("sqrt", x))


def dot_product(body: Body, x: Item, y: Item) -> Item:
    """Return the sum of the elements' products, as a scalar."""
    products = body.binary("fmul", x, y)
    total = body.element(products, 0)
    for index in range(1, element_count(x.type)):
        total = body.binary("fadd", total, body.element(products, index))
    return total


def _dot(body: Body) -> Item:
    return dot_product(body, *body.operands)


def _length(body: Body) -> Item:
    (x,) = body.operands
    return body.intrinsic("sqrt", dot_product(body, x, x))


def _distance(body: Body) -> Item:
    difference = body.binary("fsub", *body.operands)
    return body.intrinsic("sqrt", dot_product(body, difference, difference))


def _normalize(body: Body) -> Item:
    (x,) = body.operands
    length = body.intrinsic("sqrt", dot_product(body, x, x))
    is_zero = body.compare("oeq", length, body.number(length.type, 0))
    divisor = body.select(is_zero, body.number(length.type, 1), length)
    return body.binary("fdiv", x, body.spread(divisor, element_count(x.type)))


def _cross(body: Body) -> Item:
    x, y = body.operands
    a, b = ([body.element(item, index) for index in range(3)] for item in (x, y))
    turned = [
        body.binary("fsub", body.binary("fmul", a[i], b[j]), body.binary("fmul", a[j], b[i]))
        for i, j in ((1, 2), (2, 0), (0, 1))
    ]
    padding = [body.number(a[0].type, 0)] * (element_count(x.type) - 3)
    return body.vector([*turned, *padding], x.type)


_FUNCTIONS: dict[str, Callable[[Body], Item]] = {
    "min": _extreme("olt"),
    "max": _extreme("ogt"),
    "maxmag": _of_magnitude("ogt", "maxnum"),
    "minmag": _of_magnitude("olt", "minnum"),
    "clamp": _clamp,
    "fdim": _positive_difference,
    "sign": _sign,
    "step": _step,
    "smoothstep": _smooth_step,
    "mix": _mix,
    "degrees": _scaled(180 / math.pi),
    "radians": _scaled(math.pi / 180),
    "rsqrt": _reciprocal_root,
    "dot": _dot,
    "length": _length,
    "distance": _distance,
    "normalize": _normalize,
    "fast_length": _length,
    "fast_distance": _distance,
    "fast_normalize": _normalize,
    "cross": _cross,
}


# Functions that take a number apart, or put it together.

# The largest number below 1, which `fract` must not exceed.
_BELOW_ONE = {16: "0xH3BFF", 32: "0x3FEFFFFFE0000000", 64: "0x3FEFFFFFFFFFFFFF"}
_QUIET_NAN_BITS = {32: 0x7FC00000, 64: 0x7FF8000000000000}


def parts_body(body: Body) -> list[str] | None:
    """Return the body of such a function; None for another."""
    write = _PART_FUNCTIONS.get(body.declaration.builtin)
    return body.returned(write(body)) if write else None


def _alignment(item: Item) -> int:
    return width(item.type) // 8


def _fraction(body: Body) -> Item:
    """x − floor(x), the floor stored."""
    value, pointer = body.parameters
    floor = body.intrinsic("floor", value)
    body.store(floor, pointer, _alignment(floor))
    limit = body.constant(value.type, _BELOW_ONE[width(value.type)])
    return body.intrinsic("minnum", body.binary("fsub", value, floor), limit)


def _split(body: Body) -> Item:
    """`modf`: the part behind the point, with the number's sign; the part before it stored."""
    value, pointer = body.parameters
    whole = body.intrinsic("trunc", value)
    body.store(whole, pointer, _alignment(whole))
    is_infinite = body.compare("oeq", whole, value)
    rest = body.select(is_infinite, body.number(value.type, 0), body.binary("fsub", value, whole))
    return body.intrinsic("copysign", rest, value)


def _mantissa(body: Body) -> Item:
    """`frexp`: the number brought into [½, 1), the exponent stored."""
    value, pointer = body.parameters
    exponent_type = same_shape(value.type, I32)
    pair_type = StructType("", (value.type, exponent_type))
    pair = body.call(pair_type, f"llvm.frexp.{suffix(value.type)}.{suffix(exponent_type)}", value)
    body.store(body.assign(exponent_type, f"extractvalue {pair}, 1"), pointer, 4)
    return body.assign(value.type, f"extractvalue {pair}, 0")


def _scaled_by_power(body: Body) -> Item:
    """`ldexp`: the number times a power of two."""
    value, exponent = body.operands
    return body.call(value.type, f"llvm.ldexp.{suffix(value.type)}.{suffix(exponent.type)}", value, exponent)


def _not_a_number(body: Body) -> Item:
    (payload,) = body.parameters
    result = body.declaration.result
    quiet = body.constant(payload.type, str(_QUIET_NAN_BITS[width(payload.type)]))
    return body.cast("bitcast", body.binary("or", payload, quiet), result)


_PART_FUNCTIONS: dict[str, Callable[[Body], Item]] = {
    "fract": _fraction,
    "modf": _split,
    "frexp": _mantissa,
    "ldexp": _scaled_by_power,
    "nan": _not_a_number,
}
