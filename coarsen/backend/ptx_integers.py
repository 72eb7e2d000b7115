"""OpenCL's integer functions and conversions for PTX, as instructions and intrinsics that NVPTX lowers exactly.

By hand since each is one or two instructions; LLVM's libclc has them, at half a second to read it for each kernel
(`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from coarsen.backend.builtin_library import Body, Item, same_shape, scalar, suffix, width
from coarsen.ir.types import FloatType, IntegerType


def integer_body(body: Body) -> list[str] | None:
    """Return the body of an integer function; None for any other, and for one on floating-point values."""
    write = _FUNCTIONS.get(body.declaration.builtin)
    if write is None or not body.parameters or isinstance(scalar(body.parameters[0].type), FloatType):
        return None
    return body.returned(write(body))


def _signed(body: Body, name: str) -> str:
    """An intrinsic's name with the sign of the operands in front: `smin` or `umin`."""
    return ("u" if body.declaration.is_unsigned else "s") + name


def _intrinsic(name: str) -> Callable[[Body], Item]:
    return lambda body: body.intrinsic(_signed(body, name), *body.operands)


def _absolute(body: Body) -> Item:
    (value,) = body.operands
    if body.declaration.is_unsigned:
        return value
    return body.intrinsic("abs", value, Item(IntegerType(1), "false"))


def _absolute_difference(body: Body) -> Item:
    larger = body.intrinsic(_signed(body, "max"), *body.operands)
    return body.binary("sub", larger, body.intrinsic(_signed(body, "min"), *body.operands))


def _clamp(body: Body) -> Item:
    value, low, high = body.operands
    return body.intrinsic(_signed(body, "min"), body.intrinsic(_signed(body, "max"), value, low), high)


def _half_sum(rounding_up: bool) -> Callable[[Body], Item]:
    def write(body: Body) -> Item:
        x, y = body.operands
        shift = "lshr" if body.declaration.is_unsigned else "ashr"
        half = body.binary(shift, body.binary("xor", x, y), body.constant(x.type, "1"))
        if rounding_up:
            return body.binary("sub", body.binary("or", x, y), half)
        return body.binary("add", body.binary("and", x, y), half)

    return write


def _wide(body: Body, item: Item) -> Item:
    """The value in twice its bits."""
    opcode = "zext" if body.declaration.is_unsigned else "sext"
    return body.cast(opcode, item, same_shape(item.type, IntegerType(2 * width(item.type))))


def _high_product(body: Body) -> Item:
    x, y = body.operands[:2]
    product = body.binary("mul", _wide(body, x), _wide(body, y))
    high = body.binary("lshr", product, body.constant(product.type, str(width(x.type))))
    return body.cast("trunc", high, x.type)


def _high_product_and_sum(body: Body) -> Item:
    return body.binary("add", _high_product(body), body.operands[2])


def _product(body: Body) -> Item:
    return body.binary("mul", *body.operands[:2])


def _product_and_sum(body: Body) -> Item:
    return body.binary("add", _product(body), body.operands[2])


def _saturated_product_and_sum(body: Body) -> Item:
    x, y, z = (_wide(body, item) for item in body.operands)
    total = body.binary("add", body.binary("mul", x, y), z)
    narrow = body.operands[0].type
    bits = width(narrow)
    low, high = (0, 2**bits - 1) if body.declaration.is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    total = body.intrinsic(_signed(body, "max"), total, body.constant(total.type, str(low)))
    total = body.intrinsic(_signed(body, "min"), total, body.constant(total.type, str(high)))
    return body.cast("trunc", total, narrow)


def _rotate(body: Body) -> Item:
    value, turn = body.operands
    return body.intrinsic("fshl", value, value, turn)


def _count(name: str) -> Callable[[Body], Item]:
    """The number of zeros at an end; of zero, all bits."""
    return lambda body: body.intrinsic(name, body.operands[0], Item(IntegerType(1), "false"))


def _upsample(body: Body) -> Item:
    high, low = body.operands
    result = body.declaration.result
    shifted = body.binary("shl", body.cast("zext", high, result), body.constant(result, str(width(high.type))))
    return body.binary("or", shifted, body.cast("zext", low, result))


_FUNCTIONS: dict[str, Callable[[Body], Item]] = {
    "abs": _absolute,
    "abs_diff": _absolute_difference,
    "add_sat": _intrinsic("add.sat"),
    "sub_sat": _intrinsic("sub.sat"),
    "min": _intrinsic("min"),
    "max": _intrinsic("max"),
    "clamp": _clamp,
    "hadd": _half_sum(rounding_up=False),
    "rhadd": _half_sum(rounding_up=True),
    "mul_hi": _high_product,
    "mad_hi": _high_product_and_sum,
    "mul24": _product,
    "mad24": _product_and_sum,
    "mad_sat": _saturated_product_and_sum,
    "rotate": _rotate,
    "clz": _count("ctlz"),
    "ctz": _count("cttz"),
    "popcount": lambda body: body.intrinsic("ctpop", body.operands[0]),
    "upsample": _upsample,
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

    None for another function and for a rounding that NVPTX has no instruction for.
    """
    match = _NAME.match(body.declaration.builtin)
    if match is None:
        return None
    value, to = body.parameters[0], body.declaration.result
    from_float, to_float = (isinstance(scalar(type_), FloatType) for type_ in (value.type, to))
    if to_float and not _rounds_to_nearest(match, value):
        return None
    if from_float and to_float:
        wider = width(to) > width(value.type)
        return body.returned(body.cast("fpext" if wider else "fptrunc", value, to))
    if to_float:
        return body.returned(body.cast("uitofp" if body.declaration.is_unsigned else "sitofp", value, to))
    convert = _from_float if from_float else _from_integer
    return body.returned(convert(body, value, match))


def _rounds_to_nearest(match: re.Match[str], value: Item) -> bool:
    """Return True if the conversion to floating point rounds to nearest even, or not at all."""
    from_type = scalar(value.type)
    bits = _EXACT_BITS[from_type.kind] if isinstance(from_type, FloatType) else width(from_type)
    is_exact = bits <= _EXACT_BITS[match["type"]]
    return is_exact or match["rounding"] in (None, "e")


def _from_float(body: Body, value: Item, match: re.Match[str]) -> Item:
    to = body.declaration.result
    if match["rounding"] in _ROUNDINGS:
        value = body.intrinsic(_ROUNDINGS[match["rounding"]], value)
    opcode = "fptoui" if match["unsigned"] else "fptosi"
    if not match["saturated"]:
        return body.cast(opcode, value, to)
    return body.call(to, f"llvm.{opcode}.sat.{suffix(to)}.{suffix(value.type)}", value)


def _from_integer(body: Body, value: Item, match: re.Match[str]) -> Item:
    to = body.declaration.result
    if match["saturated"]:
        value = _saturated(body, value, match)
    if width(to) < width(value.type):
        return body.cast("trunc", value, to)
    return body.cast("zext" if body.declaration.is_unsigned else "sext", value, to)


def _saturated(body: Body, value: Item, match: re.Match[str]) -> Item:
    """The value brought into the range of the result's type."""
    bits, own_bits = width(body.declaration.result), width(value.type)
    low, high = (0, 2**bits - 1) if match["unsigned"] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    is_unsigned = body.declaration.is_unsigned
    own_low, own_high = (0, 2**own_bits - 1) if is_unsigned else (-(2 ** (own_bits - 1)), 2 ** (own_bits - 1) - 1)
    sign = "u" if is_unsigned else "s"
    if low > own_low:
        value = body.intrinsic(f"{sign}max", value, body.constant(value.type, str(low)))
    if high < own_high:
        value = body.intrinsic(f"{sign}min", value, body.constant(value.type, str(high)))
    return value
