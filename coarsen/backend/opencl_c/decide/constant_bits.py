"""The bits of constants, as another type has them: what a constant `bitcast` is.

bitcast (<1 x i64> <i64 1> to <2 x i32>)   →   <2 x i32> <i32 1, i32 0>
"""

from __future__ import annotations

import struct

from coarsen.backend.opencl_c.decide.constants import (
    Constant,
    Elements,
    Number,
    Real,
    Undefined,
    Zero,
    parse_constant,
)
from coarsen.ir.types import FloatType, IntegerType, Type, VectorType

_FLOAT_WIDTHS = {"half": 16, "float": 32, "double": 64}
_FLOAT_PREFIXES = {"half": "0xH", "double": "0x"}


def reinterpreted(source: Type, constant: Constant, target: Type) -> Constant | None:
    """Return the constant of the target type that has a constant's bits; None for other than numbers."""
    width = _width(source)
    bits = _bits(source, constant)
    if not width or width != _width(target) or bits is None:
        return None
    return _of_bits(target, bits)


def _width(type_: Type) -> int:
    """The width in bits of a number or a vector of numbers, 0 of anything else."""
    if isinstance(type_, VectorType):
        return type_.count * _width(type_.element)
    if isinstance(type_, FloatType):
        return _FLOAT_WIDTHS.get(type_.kind, 0)
    return type_.width if isinstance(type_, IntegerType) and type_.width % 8 == 0 else 0


def _bits(type_: Type, constant: Constant) -> int | None:
    if isinstance(constant, (Zero, Undefined)):
        return 0
    if isinstance(constant, Number):
        return constant.value & ((1 << _width(type_)) - 1)
    if isinstance(constant, Real):
        return _real_bits(type_, constant)
    if not isinstance(constant, Elements) or not isinstance(type_, VectorType):
        return None
    parts = [_bits(type_.element, item) for _, item in constant.items]
    known = [part for part in parts if part is not None]
    width = _width(type_.element)
    return sum(part << (number * width) for number, part in enumerate(known)) if len(known) == len(parts) else None


def _real_bits(type_: Type, real: Real) -> int:
    """The bits of a floating-point number; LLVM prints a float as the double of the same value."""
    if isinstance(type_, FloatType) and type_.kind == "float" and real.value is not None:
        return int.from_bytes(struct.pack("<f", real.value), "little")
    return real.bits


def _of_bits(type_: Type, bits: int) -> Constant | None:
    if isinstance(type_, VectorType):
        width = _width(type_.element)
        parts = [_of_bits(type_.element, bits >> (number * width)) for number in range(type_.count)]
        return Elements(tuple((type_.element, part) for part in parts if part is not None))
    bits &= (1 << _width(type_)) - 1
    if isinstance(type_, IntegerType):
        return Number(bits)
    return _real_of(type_, bits) if isinstance(type_, FloatType) else None


def _real_of(type_: FloatType, bits: int) -> Constant:
    if type_.kind == "float":
        value = struct.unpack("<f", struct.pack("<I", bits))[0]
        return Real(None, bits) if value != value else Real(value, bits)
    digits = 4 if type_.kind == "half" else 16
    return parse_constant(type_, f"{_FLOAT_PREFIXES[type_.kind]}{bits:0{digits}X}")
