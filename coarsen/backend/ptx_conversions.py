"""OpenCL's `convert_` functions for PTX.

By hand since each is one or two instructions; LLVM's libclc has them, at half a second to read it for each kernel
(`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

import re

from coarsen.backend.body import Body, Item, suffix, width
from coarsen.backend.builtin_library import scalar
from coarsen.ir.types import FloatType

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
