"""Makes expressions, and asks what they are: places, conversions, repeated scalars, joined conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from coarsen.backend.opencl_c.c.tree import (
    AddressOf,
    Binary,
    Call,
    Cast,
    Decayed,
    Dereference,
    Expression,
    Index,
    Integer,
    Logical,
    Member,
    Null,
    Real,
    Unary,
    VectorLiteral,
)
from coarsen.backend.opencl_c.c.types import (
    BOOL,
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


def call(function: str, arguments: Iterable[Expression], type_: CType) -> Call:
    """Return a function's call."""
    return Call(function, tuple(arguments), type_)


def constructed(type_: Vector, parts: Sequence[Expression]) -> VectorLiteral:
    """Return `(type)(part, …)`; of one part, a vector of it."""
    return VectorLiteral(tuple(parts), type_)


def dereference(pointer: Expression) -> Expression:
    """Return what a pointer points to, as an lvalue."""
    place = place_of(pointer)
    if place is not None:
        return place
    if not isinstance(pointer.type, Pointer):
        raise TypeError(f"{pointer} is not a pointer")
    return Dereference(pointer, pointer.type.pointee)


def place_of(pointer: Expression) -> Expression | None:
    """Return the lvalue that an address is taken of, or None where the pointer is a value."""
    if isinstance(pointer, AddressOf):
        return pointer.place
    if isinstance(pointer, Decayed):
        return Index(pointer.array, literal_int(0), pointer.type.pointee)
    return None


def address_of(place: Expression, like: Pointer) -> AddressOf:
    """Return a pointer to an lvalue, in the address space and with the qualifiers of `like`."""
    return AddressOf(place, like if like.pointee is place.type else replace(like, pointee=place.type))


def decayed(array: Expression, like: Pointer) -> Decayed:
    """Return an array as the pointer to its first element that C makes of it."""
    if not isinstance(array.type, Array):
        raise TypeError(f"{array} is not an array")
    return Decayed(array, replace(like, pointee=array.type.element))


def is_packed(place: Expression) -> bool:
    """Return True if an lvalue lies inside of a packed structure."""
    while True:
        match place:
            case Member(record):
                if isinstance(record.type, Record) and record.type.layout.packed:
                    return True
                place = record
            case Index(base) if isinstance(base.type, Array):
                place = base
            case _:
                return False


def literal_int(number: int, type_: Scalar = INT) -> Integer:
    """Return an integer literal of a type; narrow ones are written as int, which is what C would make of them."""
    return Integer(number, type_)


def literal_of_bits(number: int, type_: Scalar) -> Integer:
    """Return the literal of a type with the low bits of a number."""
    bits = type_.size * 8
    number &= (1 << bits) - 1
    if type_.kind == "signed" and number >> (bits - 1):
        number -= 1 << bits
    return Integer(number, type_)


def is_zero(expression: Expression | None) -> bool:
    """Return True if an expression is the integer literal 0."""
    return isinstance(expression, Integer) and expression.value == 0


def is_null(expression: Expression) -> bool:
    """Return True if a pointer is `0`, however it is written."""
    return isinstance(without_detour(expression), Null)


def negated_number(expression: Expression) -> Expression | None:
    """Return what a minus sign stands before, or None."""
    if isinstance(expression, Unary) and expression.operator == "-":
        return expression.operand
    if isinstance(expression, Real) and expression.digits.startswith("-"):
        return Real(expression.digits[1:], expression.type)
    return None


def without_detour(pointer: Expression) -> Expression:
    """Return `p` for `&*p`."""
    while isinstance(pointer, AddressOf) and isinstance(pointer.place, Dereference):
        pointer = pointer.place.pointer
    return pointer


def converted(expression: Expression) -> Expression | None:
    """Return the operand of a conversion between numbers that C also makes by itself on assignment, or None."""
    if not isinstance(expression, Cast) or expression.type is BOOL:
        return None
    is_scalar = isinstance(expression.type, Scalar) and isinstance(expression.operand.type, Scalar)
    return expression.operand if is_scalar else None


def converted_integer(expression: Expression) -> Expression | None:
    """Return the operand of a conversion of integers, or None."""
    operand = converted(expression)
    if operand is None or not isinstance(operand.type, Scalar) or not isinstance(expression.type, Scalar):
        return None
    return operand if operand.type.is_integer and expression.type.is_integer else None


def converted_pointer(pointer: Expression) -> Expression | None:
    """Return the operand of a cast that changes a pointer's address space, or adds `volatile`, alone; or None."""
    pointer = without_detour(pointer)
    if not isinstance(pointer, Cast):
        return None
    have, type_ = pointer.operand.type, pointer.type
    if not isinstance(have, Pointer) or not isinstance(type_, Pointer):
        return None
    pointee = have.pointee
    while isinstance(pointee, Array) and pointee != type_.pointee:
        pointee = pointee.element
    is_changed = have.space != type_.space or type_.is_volatile > have.is_volatile
    return pointer.operand if is_changed and pointee == type_.pointee else None


def without_conversion(expression: Expression) -> Expression:
    """Return what to assign to a variable of an expression's type."""
    operand = converted(expression)
    return expression if operand is None else operand


def repeated_scalar(vector: Expression) -> Expression | None:
    """Return the scalar that a vector literal repeats, or None."""
    return vector.parts[0] if isinstance(vector, VectorLiteral) and len(vector.parts) == 1 else None


def comparison(left: Expression, operator: str, right: Expression, type_: CType = BOOL) -> Binary:
    """Return a comparison of which no opposite is known."""
    return Binary(left, operator, right, type_)


# Conversions to the type that is asked for, written only where C's type differs.


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


# Conditions, as a reader would write them.

OPPOSITE = {"==": "!=", "!=": "==", ">": "<=", ">=": "<", "<": ">=", "<=": ">"}


def negation(condition: Expression) -> Expression:
    """Return the opposite of a condition."""
    return _opposite(condition) or Unary("!", condition, BOOL)


def _opposite(condition: Expression) -> Expression | None:
    """Return the opposite that needs no `!` before the whole, or None; by De Morgan's law of what is joined."""
    match condition:
        case Unary("!", operand):
            return operand
        case Binary(left, operator, right, type_, True):
            return Binary(left, OPPOSITE[operator], right, type_, True)
        case Logical(left, is_conjunction, right, is_eager):
            first, second = _opposite(left), _opposite(right)
            if first is not None and second is not None:
                return Logical(first, not is_conjunction, second, is_eager)
    return None


def logical_and(left: Expression, right: Expression) -> Expression:
    """Return `left && right`."""
    return Logical(left, True, right)


def logical_or(left: Expression, right: Expression) -> Expression:
    """Return `left || right`."""
    return Logical(left, False, right)


def both(left: Expression, right: Expression) -> Expression:
    """Return `left & right`: both sides are computed, as LLVM's `and` does.

    Intel's runtime (2026.2) crashes while it vectorises loops with barriers whose conditions hold `&&`. An `or`
    stays `||` all the same: with both of them eager, PoCL (3.1) ran a guarded stencil at 0.8 of the speed.
    """
    return Logical(left, True, right, is_eager=True)
