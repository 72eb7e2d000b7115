"""C expressions as text, with what is needed to combine them: precedence and C type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    declared,
    same_bits,
)

PRIMARY, POSTFIX, UNARY, PRODUCT, SUM, SHIFT, RELATION, EQUALITY = 16, 15, 14, 13, 12, 11, 10, 9
BIT_AND, BIT_XOR, BIT_OR, LOGICAL_AND, LOGICAL_OR, CONDITIONAL = 8, 7, 6, 5, 4, 3


@dataclass(frozen=True, slots=True)
class Expression:
    """Text with its precedence and the type that C gives it.

    What else is known of it, where it is:
    `bare`: the expression inside of a conversion that C does by itself on assignment, or the scalar that a
    vector repeats; `place`: what a pointer points to, as an lvalue; `negated`: a condition's opposite;
    `literal`: the number that an integer literal stands for; `base` and `index`: the parts of `base[index]`;
    `is_packed`: an lvalue inside of a packed structure; `operation`: the texts of a binary one; `minus`: what a
    minus sign stands before; `mask`: what a vector of -1 and 0 was made from; `original`: what the bits were
    reinterpreted from.
    """

    text: str
    precedence: int
    type: CType
    bare: Expression | None = None
    place: Expression | None = None
    negated: Expression | None = None
    literal: int | None = None
    base: Expression | None = None
    index: Expression | None = None
    is_packed: bool = False
    minus: Expression | None = None
    mask: Expression | None = None
    original: Expression | None = None
    operation: tuple[str, str, str] | None = None

    def at(self, precedence: int) -> str:
        """The text, in parentheses if it binds less tightly than `precedence`."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    @property
    def without_conversion(self) -> Expression:
        """What to assign to a variable of this type."""
        return self.bare if self.bare is not None and isinstance(self.type, Scalar) else self


def name(text: str, type_: CType) -> Expression:
    """A variable, or anything else that needs no parentheses."""
    return Expression(text, PRIMARY, type_)


def call(function: str, arguments: Sequence[Expression], type_: CType) -> Expression:
    """A function's call."""
    return Expression(f"{function}({', '.join(a.text for a in arguments)})", POSTFIX, type_)


# Operands that C would group rightly, but that readers and compilers want in parentheses.
_OPERAND_MINIMUM = {
    **dict.fromkeys((SHIFT, BIT_AND, BIT_XOR, BIT_OR), UNARY),
    **dict.fromkeys((RELATION, EQUALITY), SHIFT),
}


def binary(left: Expression, operator: str, right: Expression, precedence: int, type_: CType) -> Expression:
    """`left operator right`, grouped from the left."""
    minimum = _OPERAND_MINIMUM.get(precedence, precedence)
    first, second = left.at(minimum), right.at(max(minimum, precedence + 1))
    return Expression(f"{first} {operator} {second}", precedence, type_, operation=(first, operator, second))


def unary(operator: str, operand: Expression, type_: CType) -> Expression:
    """`operator operand`; a blank keeps two minus signs apart."""
    text = operand.at(UNARY)
    gap = " " if text.startswith(operator) and operator in "-+&" else ""
    return Expression(f"{operator}{gap}{text}", UNARY, type_, minus=operand if operator == "-" else None)


def cast(operand: Expression, type_: CType) -> Expression:
    """`(type)operand`, a conversion that C would also do on assignment when both are arithmetic scalars."""
    implicit = isinstance(type_, Scalar) and isinstance(operand.type, Scalar) and type_ is not BOOL
    return Expression(
        f"({declared(type_, '')}){operand.at(UNARY)}", UNARY, type_, bare=operand if implicit else None
    )


def dereference(pointer: Expression) -> Expression:
    """What a pointer points to."""
    if pointer.place is not None:
        return pointer.place
    if not isinstance(pointer.type, Pointer):
        raise TypeError(f"{pointer.text} is not a pointer")
    return replace(unary("*", pointer, pointer.type.pointee), base=pointer, index=None)


def address_of(place: Expression, like: Pointer) -> Expression:
    """A pointer to an lvalue, in the address space and with the qualifiers of `like`."""
    type_ = like if like.pointee is place.type else replace(like, pointee=place.type)
    if place.base is not None and place.index is None:
        return replace(place.base, type=type_, place=place)
    return Expression(f"&{place.at(UNARY)}", UNARY, type_, place=place)


def member(record: Expression, field: str, type_: CType) -> Expression:
    """`record.field`, or `pointer->field`."""
    packed = record.is_packed or (isinstance(record.type, Record) and record.type.layout.packed)
    if record.base is not None and record.index is None and record.text.startswith("*"):
        return Expression(f"{record.base.at(POSTFIX)}->{field}", POSTFIX, type_, is_packed=packed)
    return Expression(f"{record.at(POSTFIX)}.{field}", POSTFIX, type_, is_packed=packed)


def subscript(base: Expression, index: Expression, type_: CType) -> Expression:
    """`base[index]`."""
    text = f"{base.at(POSTFIX)}[{index.text}]"
    return Expression(text, POSTFIX, type_, base=base, index=index, is_packed=base.is_packed)


def literal_int(number: int, type_: Scalar = INT) -> Expression:
    """An integer literal of a type; narrow ones are written as int, which is what C would make of them."""
    suffix = {"uint": "u", "long": "L", "ulong": "UL"}.get(type_.name, "")
    lowest = -(1 << (type_.size * 8 - 1))
    if number == lowest and type_.kind == "signed" and type_.size >= 4:
        return Expression(f"({number + 1}{suffix} - 1)", PRIMARY, type_, literal=number)
    return Expression(f"{number}{suffix}", PRIMARY if number >= 0 else UNARY, type_, literal=number)


def coerce(operand: Expression, type_: CType) -> Expression:
    """The operand with the type that is asked for, of the same bits; converted only where C's type differs."""
    have = operand.type
    if have == type_ or isinstance(type_, (Record, Opaque, Array)):
        return operand
    if isinstance(have, Vector) and isinstance(type_, Vector):
        return _coerce_vector(operand, type_)
    if isinstance(have, Scalar) and isinstance(type_, Scalar):
        return _coerce_scalar(operand, type_)
    if isinstance(have, Pointer) and isinstance(type_, Pointer):
        return _coerce_pointer(operand, have, type_)
    return cast(operand, type_)


def _coerce_scalar(operand: Expression, type_: Scalar) -> Expression:
    if operand.literal is not None and type_.kind in ("signed", "unsigned"):
        return literal_of_bits(operand.literal, type_)
    if operand.bare is not None and same_bits(operand.type, type_) and same_bits(operand.bare.type, type_):
        return coerce(operand.bare, type_)
    return cast(operand, type_)


def literal_of_bits(number: int, type_: Scalar) -> Expression:
    """The literal of a type with the low bits of a number."""
    bits = type_.size * 8
    number &= (1 << bits) - 1
    if type_.kind == "signed" and number >> (bits - 1):
        number -= 1 << bits
    return literal_int(number, type_)


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
    if operand.text == "0":
        return Expression("0", PRIMARY, type_)
    if isinstance(have.pointee, Array) and operand.place is not None:
        return _coerce_pointer(decayed(operand.place, have), replace(have, pointee=have.pointee.element), type_)
    return cast(operand, type_)


def decayed(array: Expression, like: Pointer) -> Expression:
    """An array as the pointer to its first element that C makes of it."""
    if not isinstance(array.type, Array):
        raise TypeError(f"{array.text} is not an array")
    first = subscript(array, literal_int(0), array.type.element)
    return Expression(array.text, array.precedence, replace(like, pointee=array.type.element), place=first)


def promoted(type_: CType) -> CType:
    """What C computes with where it is given this type: int for anything narrower."""
    if isinstance(type_, Scalar) and type_.is_integer and type_.size < INT.size:
        return INT
    return type_


def common_integer(left: Scalar, right: Scalar) -> Scalar:
    """The type that C computes with for two integers (the usual arithmetic conversions)."""
    first, second = promoted(left), promoted(right)
    if not isinstance(first, Scalar) or not isinstance(second, Scalar):
        raise TypeError("not integers")
    if first.size != second.size:
        return first if first.size > second.size else second
    return first if first.kind == "unsigned" else second
