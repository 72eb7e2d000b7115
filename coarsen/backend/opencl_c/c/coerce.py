"""Conversions to the type that is asked for, written only where C's type differs."""

from __future__ import annotations

from dataclasses import replace

from coarsen.backend.opencl_c.c.build import (
    call,
    converted,
    decayed,
    is_null,
    literal_of_bits,
    place_of,
)
from coarsen.backend.opencl_c.c.tree import Cast, Expression, Integer, Null
from coarsen.backend.opencl_c.c.types import (
    INT,
    Array,
    CType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    Vector,
    same_bits,
)


def coerce(operand: Expression, type_: CType) -> Expression:
    """Return the operand with the type that is asked for, of the same bits."""
    have = operand.type
    if have is type_ or have == type_ or isinstance(type_, (Record, Opaque, Array)):
        return operand
    if isinstance(have, Vector) and isinstance(type_, Vector):
        return _coerce_vector(operand, type_)
    if isinstance(have, Scalar) and isinstance(type_, Scalar):
        return _coerce_scalar(operand, type_)
    if isinstance(have, Pointer) and isinstance(type_, Pointer):
        return _coerce_pointer(operand, have, type_)
    return Cast(operand, type_)


def _coerce_scalar(operand: Expression, type_: Scalar) -> Expression:
    if isinstance(operand, Integer) and type_.kind in ("signed", "unsigned"):
        return literal_of_bits(operand.value, type_)
    bare = converted(operand)
    if bare is not None and same_bits(operand.type, type_) and same_bits(bare.type, type_):
        return coerce(bare, type_)
    return Cast(operand, type_)


def _coerce_vector(operand: Expression, type_: Vector) -> Expression:
    have = operand.type
    if not isinstance(have, Vector) or have.element == type_.element:
        return operand
    if have.is_mask:  # widening keeps -1 and 0
        return call(f"convert_{type_.element}{type_.count}", [operand], type_)
    return call(f"as_{type_.element}{type_.count}", [operand], type_)


def _coerce_pointer(operand: Expression, have: Pointer, type_: Pointer) -> Expression:
    if type_.pointee == have.pointee and type_.is_const >= have.is_const and type_.is_volatile >= have.is_volatile:
        return operand
    if is_null(operand):
        return Null(type_)
    place = place_of(operand)
    if isinstance(have.pointee, Array) and place is not None:
        return _coerce_pointer(decayed(place, have), replace(have, pointee=have.pointee.element), type_)
    return Cast(operand, type_)


def promoted(type_: CType) -> CType:
    """Return what C computes with where it is given this type: int for anything narrower."""
    if isinstance(type_, Scalar) and type_.is_integer and type_.size < INT.size:
        return INT
    return type_


def common_integer(left: Scalar, right: Scalar) -> Scalar:
    """Return the type that C computes with for two integers (the usual arithmetic conversions)."""
    first, second = promoted(left), promoted(right)
    if not isinstance(first, Scalar) or not isinstance(second, Scalar):
        raise TypeError("not integers")
    if first.size != second.size:
        return first if first.size > second.size else second
    return first if first.kind == "unsigned" else second
