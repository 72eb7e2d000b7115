"""OpenCL's functions that take a floating-point number apart, or put it together, for PTX.

By hand since each is a few operations on bits; LLVM's libclc has them, at half a second to read it for each kernel
(`docs/explanation/own-builtins.md`).
"""

from __future__ import annotations

from collections.abc import Callable

from coarsen.backend.body import I32, Body, Item, same_shape, suffix, width
from coarsen.ir.types import StructType

# The largest number below 1, which `fract` must not exceed.
_BELOW_ONE = {16: "0xH3BFF", 32: "0x3FEFFFFFE0000000", 64: "0x3FEFFFFFFFFFFFFF"}
_QUIET_NAN_BITS = {32: 0x7FC00000, 64: 0x7FF8000000000000}


def parts_body(body: Body) -> list[str] | None:
    """Return the body of such a function; None for another."""
    write = _FUNCTIONS.get(body.declaration.builtin)
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


def _scaled(body: Body) -> Item:
    """`ldexp`: the number times a power of two."""
    value, exponent = body.operands
    return body.call(value.type, f"llvm.ldexp.{suffix(value.type)}.{suffix(exponent.type)}", value, exponent)


def _not_a_number(body: Body) -> Item:
    (payload,) = body.parameters
    result = body.declaration.result
    quiet = body.constant(payload.type, str(_QUIET_NAN_BITS[width(payload.type)]))
    return body.cast("bitcast", body.binary("or", payload, quiet), result)


_FUNCTIONS: dict[str, Callable[[Body], Item]] = {
    "fract": _fraction,
    "modf": _split,
    "frexp": _mantissa,
    "ldexp": _scaled,
    "nan": _not_a_number,
}
