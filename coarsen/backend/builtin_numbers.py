"""OpenCL's functions on numbers in LLVM IR, of those that are as exact as OpenCL demands without a library.

By hand since each is a few instructions, which the inliner folds into the kernel; LLVM's libclc has them, at half
a second to read it for each kernel. The elementary functions in full precision are what a library would be worth
reading for (`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from coarsen.backend.builtin_library import I1, I32, Body, Item, element_count, same_shape, suffix, width
from coarsen.ir.types import FloatType, IntegerType, StructType, scalar

_INFINITY = {16: "0xH7C00", 32: "0x7FF0000000000000", 64: "0x7FF0000000000000"}
_SMALLEST_NORMAL = {16: "0xH0400", 32: "0x3810000000000000", 64: "0x0010000000000000"}
# The largest number below 1, which `fract` must not exceed.
_BELOW_ONE = {16: "0xH3BFF", 32: "0x3FEFFFFFE0000000", 64: "0x3FEFFFFFFFFFFFFF"}
_QUIET_NAN_BITS = {32: 0x7FC00000, 64: 0x7FF8000000000000}


def number_body(body: Body) -> list[str] | None:
    """Return the body of a function on numbers; None for any other, and for one without a form here."""
    if not body.parameters:
        return None
    is_float = isinstance(scalar(body.parameters[0].type), FloatType)
    write = (_FLOATS if is_float else _INTEGERS).get(body.declaration.builtin)
    return body.returned(write(*body.operands)) if write else None


def _named(name: str) -> Callable[..., Item]:
    return lambda x, *others: x.called(name, *others)


# Floating-point numbers.


def _truth(condition: Item) -> Item:
    """Return a comparison's result as OpenCL gives it: 1 for a true scalar, all bits for a true element."""
    result = condition.body.declaration.result
    return condition.cast("zext" if element_count(result) == 1 else "sext", result)


def _relation(predicate: str) -> Callable[[Item, Item], Item]:
    return lambda x, y: _truth(x.compared(predicate, y))


def _special(x: Item, spellings: dict[int, str]) -> Item:
    return x.body.constant(x.type, spellings[width(x.type)])


def _is_finite(x: Item) -> Item:
    return x.called("fabs").compared("olt", _special(x, _INFINITY))


def _of_magnitude(predicate: str, otherwise: str) -> Callable[[Item, Item], Item]:
    """The operand whose magnitude compares so with the other's; by value where they are equal."""

    def write(x: Item, y: Item) -> Item:
        of_x, of_y = x.called("fabs"), y.called("fabs")
        equal = x.called(otherwise, y)
        return equal.unless(of_y.compared(predicate, of_x), y).unless(of_x.compared(predicate, of_y), x)

    return write


def _sign(x: Item) -> Item:
    or_zero = x.like(1).called("copysign", x).unless(x.compared("oeq", 0), x)
    return or_zero.unless(x.compared("uno", x), 0)


def _smooth_step(low: Item, high: Item, x: Item) -> Item:
    t = ((x - low) / (high - low)).called("maxnum", x.like(0)).called("minnum", x.like(1))
    rest = x.like(3) - x.like(2) * t
    return t * t * rest


def _dot(x: Item, y: Item) -> Item:
    """Return the sum of the elements' products, as a scalar."""
    body, products = x.body, x * y
    total = body.element(products, 0)
    for index in range(1, element_count(x.type)):
        total = total + body.element(products, index)
    return total


def _length(x: Item) -> Item:
    return _dot(x, x).called("sqrt")


def _normalize(x: Item) -> Item:
    length = _length(x)
    divisor = length.unless(length.compared("oeq", 0), 1)
    return x / x.body.spread(divisor, element_count(x.type))


def _cross(x: Item, y: Item) -> Item:
    a, b = ([x.body.element(item, index) for index in range(3)] for item in (x, y))
    turned = [a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return x.body.vector([*turned, *[a[0].like(0)] * (element_count(x.type) - 3)], x.type)


def _stored(item: Item, pointer: Item) -> Item:
    item.body.store(item, pointer, width(item.type) // 8)
    return item


def _fraction(x: Item, pointer: Item) -> Item:
    """x − floor(x), the floor stored."""
    floor = _stored(x.called("floor"), pointer)
    return (x - floor).called("minnum", _special(x, _BELOW_ONE))


def _split(x: Item, pointer: Item) -> Item:
    """`modf`: the part behind the point, with the number's sign; the part before it stored."""
    whole = _stored(x.called("trunc"), pointer)
    is_infinite = whole.compared("oeq", x)
    return (x - whole).unless(is_infinite, 0).called("copysign", x)


def _mantissa(x: Item, pointer: Item) -> Item:
    """`frexp`: the number brought into [½, 1), the exponent stored."""
    body, exponent = x.body, same_shape(x.type, I32)
    callee = f"llvm.frexp.{suffix(x.type)}.{suffix(exponent)}"
    pair = body.call(StructType("", (x.type, exponent)), callee, x)
    body.store(body.assign(exponent, f"extractvalue {pair}, 1"), pointer, 4)
    return body.assign(x.type, f"extractvalue {pair}, 0")


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

_FLOATS: dict[str, Callable[..., Item]] = {
    **{
        each: _named(each)
        for each in ("fabs", "floor", "ceil", "trunc", "rint", "round", "sqrt", "copysign", "fma")
    },
    "mad": _named("fmuladd"),
    "fmin": _named("minnum"),
    "fmax": _named("maxnum"),
    **{name: _relation(predicate) for name, predicate in _RELATIONS.items()},
    "isnan": lambda x: _truth(x.compared("uno", x)),
    "isinf": lambda x: _truth(x.called("fabs").compared("oeq", _special(x, _INFINITY))),
    "isfinite": lambda x: _truth(_is_finite(x)),
    "isnormal": lambda x: _truth(x.called("fabs").compared("oge", _special(x, _SMALLEST_NORMAL)) & _is_finite(x)),
    "signbit": lambda x: _truth(x.bits().compared("slt", 0)),
    "min": lambda x, y: x.unless(y.compared("olt", x), y),
    "max": lambda x, y: x.unless(y.compared("ogt", x), y),
    "maxmag": _of_magnitude("ogt", "maxnum"),
    "minmag": _of_magnitude("olt", "minnum"),
    "clamp": lambda x, low, high: x.called("maxnum", low).called("minnum", high),
    "fdim": lambda x, y: (x - y).unless(x.compared("ole", y), 0),
    "sign": _sign,
    "step": lambda edge, x: x.like(1).unless(x.compared("olt", edge), 0),
    "smoothstep": _smooth_step,
    "mix": lambda x, y, share: x + (y - x) * share,
    "degrees": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180),
    "rsqrt": lambda x: x.like(1) / x.called("sqrt"),
    "dot": _dot,
    **dict.fromkeys(("length", "fast_length"), _length),
    **dict.fromkeys(("distance", "fast_distance"), lambda x, y: _length(x - y)),
    **dict.fromkeys(("normalize", "fast_normalize"), _normalize),
    "cross": _cross,
    "fract": _fraction,
    "modf": _split,
    "frexp": _mantissa,
    "ldexp": lambda x, power: x.body.call(x.type, f"llvm.ldexp.{suffix(x.type)}.{suffix(power.type)}", x, power),
}


# Integers.


def _is_unsigned(x: Item) -> bool:
    return x.body.declaration.is_unsigned


def _signed(name: str) -> Callable[..., Item]:
    """An intrinsic with the sign of the operands in front: `smin` or `umin`."""
    return lambda x, *others: x.called(("u" if _is_unsigned(x) else "s") + name, *others)


_LEAST, _LARGEST = _signed("min"), _signed("max")


def _no(x: Item) -> Item:
    return Item(x.body, I1, "false")


def _half_difference(x: Item, y: Item) -> Item:
    return (x ^ y).binary("lshr" if _is_unsigned(x) else "ashr", 1)


def _rounded_up_half(x: Item, y: Item) -> Item:
    half = _half_difference(x, y)
    return (x | y) - half


def _rounded_down_half(x: Item, y: Item) -> Item:
    half = _half_difference(x, y)
    return (x & y) + half


def _wide(x: Item) -> Item:
    """The value in twice its bits."""
    return x.cast("zext" if _is_unsigned(x) else "sext", same_shape(x.type, IntegerType(2 * width(x.type))))


def _high_product(x: Item, y: Item) -> Item:
    return (_wide(x) * _wide(y)).binary("lshr", width(x.type)).cast("trunc", x.type)


def _saturated_product_and_sum(x: Item, y: Item, z: Item) -> Item:
    wide = [_wide(item) for item in (x, y, z)]
    low, high = _range(width(x.type), unsigned=_is_unsigned(x))
    total = wide[0] * wide[1] + wide[2]
    return _LEAST(_LARGEST(total, total.like(low)), total.like(high)).cast("trunc", x.type)


def _upsample(high: Item, low: Item) -> Item:
    result = high.body.declaration.result
    return high.cast("zext", result).binary("shl", width(high.type)) | low.cast("zext", result)


def _range(bits: int, *, unsigned: bool) -> tuple[int, int]:
    return (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


_INTEGERS: dict[str, Callable[..., Item]] = {
    "abs": lambda x: x if _is_unsigned(x) else x.called("abs", _no(x)),
    "abs_diff": lambda x, y: _LARGEST(x, y) - _LEAST(x, y),
    "add_sat": _signed("add.sat"),
    "sub_sat": _signed("sub.sat"),
    "min": _LEAST,
    "max": _LARGEST,
    "clamp": lambda x, low, high: _LEAST(_LARGEST(x, low), high),
    "hadd": _rounded_down_half,
    "rhadd": _rounded_up_half,
    "mul_hi": _high_product,
    "mad_hi": lambda x, y, z: _high_product(x, y) + z,
    "mul24": lambda x, y: x * y,
    "mad24": lambda x, y, z: x * y + z,
    "mad_sat": _saturated_product_and_sum,
    "rotate": lambda x, turn: x.called("fshl", x, turn),
    "clz": lambda x: x.called("ctlz", _no(x)),
    "ctz": lambda x: x.called("cttz", _no(x)),
    "popcount": _named("ctpop"),
    "upsample": _upsample,
    "nan": lambda x: (x | _QUIET_NAN_BITS[width(x.type)]).cast("bitcast", x.body.declaration.result),
}


# `convert_` functions.

_NAME = re.compile(
    r"convert_(?P<unsigned>u)?(?P<type>char|short|int|long|half|float|double)\d*"
    r"(?P<saturated>_sat)?(?:_rt(?P<rounding>[ezpn]))?$"
)
# To an integer: rounding first, then the conversion that cuts off.
_ROUNDINGS = {"e": "rint", "p": "ceil", "n": "floor"}
_EXACT_BITS = {"half": 11, "float": 24, "double": 53}


def conversion_body(body: Body) -> list[str] | None:
    """Return the body of a conversion.

    None for another function, and for a conversion to floating point that has to round in a way of its own.
    """
    match = _NAME.match(body.declaration.builtin)
    if match is None:
        return None
    value, to = body.parameters[0], body.declaration.result
    from_float, to_float = (isinstance(scalar(type_), FloatType) for type_ in (value.type, to))
    if to_float and not _rounds_to_nearest(match, value):
        return None
    if from_float and to_float:
        return body.returned(value.cast("fpext" if width(to) > width(value.type) else "fptrunc", to))
    if to_float:
        return body.returned(value.cast("uitofp" if body.declaration.is_unsigned else "sitofp", to))
    convert = _from_float if from_float else _from_integer
    return body.returned(convert(value, match))


def _rounds_to_nearest(match: re.Match[str], value: Item) -> bool:
    """Return True if the conversion to floating point rounds to nearest even, or not at all."""
    from_type = scalar(value.type)
    bits = _EXACT_BITS[from_type.kind] if isinstance(from_type, FloatType) else width(from_type)
    is_exact = bits <= _EXACT_BITS[match["type"]]
    return is_exact or match["rounding"] in (None, "e")


def _from_float(value: Item, match: re.Match[str]) -> Item:
    to = value.body.declaration.result
    if match["rounding"] in _ROUNDINGS:
        value = value.called(_ROUNDINGS[match["rounding"]])
    opcode = "fptoui" if match["unsigned"] else "fptosi"
    if not match["saturated"]:
        return value.cast(opcode, to)
    return value.body.call(to, f"llvm.{opcode}.sat.{suffix(to)}.{suffix(value.type)}", value)


def _from_integer(value: Item, match: re.Match[str]) -> Item:
    to = value.body.declaration.result
    if match["saturated"]:
        value = _saturated(value, match)
    if width(to) < width(value.type):
        return value.cast("trunc", to)
    return value.cast("zext" if _is_unsigned(value) else "sext", to)


def _saturated(value: Item, match: re.Match[str]) -> Item:
    """The value brought into the range of the result's type."""
    low, high = _range(width(value.body.declaration.result), unsigned=match["unsigned"] is not None)
    own_low, own_high = _range(width(value.type), unsigned=_is_unsigned(value))
    sign = "u" if _is_unsigned(value) else "s"
    if low > own_low:
        value = value.unless(value.compared(f"{sign}lt", low), low)
    return value.unless(value.compared(f"{sign}gt", high), high) if high < own_high else value
