"""Conversions between types, of scalars, vectors and pointers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c.build import call, coerce, comparison, constructed, converted, literal_int
from coarsen.backend.opencl_c.c.tree import Binary, Cast, Expression, Reinterpretation, Retyped, Unary
from coarsen.backend.opencl_c.c.types import (
    BOOL,
    INT,
    UINT,
    ULONG,
    Array,
    CType,
    Pointer,
    Scalar,
    Vector,
    element_of,
    from_llvm,
    integer,
    size_of,
    with_sign,
)
from coarsen.backend.opencl_c.express.translator import Handler, Translator, unsupported
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.types import PointerType


def convert(operand: Expression, type_: CType) -> Expression:
    """Return a conversion of values: C's own for scalars, `convert_` for vectors."""
    if isinstance(type_, Vector):
        return call(f"convert_{type_}", [operand], type_)
    return Cast(operand, type_)


def _result_type(translator: Translator, instruction: Instruction) -> CType:
    return from_llvm(instruction.type, signed=translator.signs.is_signed(instruction.name))


def _truncate(translator: Translator, instruction: Instruction) -> Expression:
    type_ = _result_type(translator, instruction)
    operand = translator.value(instruction.operands[0])
    if type_ is BOOL:
        bit = Binary(operand, "&", literal_int(1), operand.type)
        return comparison(bit, "!=", literal_int(0))
    if isinstance(type_, Vector) and type_.is_mask:
        bit = Binary(operand, "&", literal_int(1), operand.type)
        mask = Vector(integer(element_of(operand.type).size * 8, signed=True), type_.count, is_mask=True)
        return comparison(bit, "!=", literal_int(0), mask)
    return convert(operand, type_)


def _extend(signed: bool) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        # What isn't negative may be widened as either.
        sign = None if "nneg" in instruction.flags else signed
        operand = translator.value(instruction.operands[0], signed=sign)
        type_ = _result_type(translator, instruction)
        if operand.type is BOOL:
            return _from_condition(operand, type_, signed=signed)
        if isinstance(operand.type, Vector) and operand.type.is_mask:
            return _from_mask(operand, type_, signed=signed)
        return convert(operand, type_)

    return write


def _from_condition(condition: Expression, type_: CType, *, signed: bool) -> Expression:
    number: Expression = Retyped(condition, INT)
    if signed:
        number = Unary("-", number, INT)
    return number if type_ in (INT, UINT) else Cast(number, type_)


def _from_mask(mask: Expression, type_: CType, *, signed: bool) -> Expression:
    element = element_of(type_)
    count = type_.count if isinstance(type_, Vector) else 0
    wide = coerce(mask, Vector(integer(element.size * 8, signed=True), count, is_mask=True))
    numbers = Vector(integer(element.size * 8, signed=True), count)
    plain: Expression = Retyped(wide, numbers)
    if not signed:
        plain = Binary(plain, "&", constructed(numbers, [literal_int(1)]), numbers)
    return coerce(plain, type_)


def _from_integer(signed: bool) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        sign = None if "nneg" in instruction.flags else signed
        operand = translator.value(instruction.operands[0], signed=sign)
        type_ = from_llvm(instruction.type)
        if operand.type is BOOL:
            operand = _from_condition(operand, INT, signed=signed)
        elif isinstance(operand.type, Vector) and operand.type.is_mask:
            size = element_of(type_).size * 8
            operand = _from_mask(operand, Vector(integer(size, signed=True), operand.type.count), signed=signed)
        return convert(_without_widening(operand), type_)

    return write


def _without_widening(operand: Expression) -> Expression:
    """An integer before it was widened, where that has the same value."""
    bare = converted(operand)
    if bare is None or not isinstance(bare.type, Scalar) or not isinstance(operand.type, Scalar):
        return operand
    keeps_value = operand.type.kind == "signed" or bare.type.kind == "unsigned"
    narrower = bare.type.kind in ("signed", "unsigned") and bare.type.size < operand.type.size
    return bare if narrower and keeps_value else operand


def _to_number(signed: bool) -> Handler:
    def write(translator: Translator, instruction: Instruction) -> Expression:
        operand = translator.value(instruction.operands[0])
        return convert(operand, with_sign(from_llvm(instruction.type), signed=signed))

    return write


def _bitcast(translator: Translator, instruction: Instruction) -> Expression:
    operand = translator.value(instruction.operands[0])
    type_ = _result_type(translator, instruction)
    if isinstance(type_, Pointer):
        return operand
    return reinterpret(operand, type_)


def reinterpret(operand: Expression, type_: CType) -> Expression:
    """Return the same bits as another type, `as_type(operand)`."""
    if _is_condition(operand.type) or _is_condition(type_):
        # A vector of bits packed into an integer has no form in OpenCL C that is worth reading.
        raise unsupported("a bitcast of a vector of conditions")
    if operand.type == type_:
        return operand
    if (
        isinstance(operand.type, Scalar)
        and isinstance(type_, Scalar)
        and operand.type.is_integer
        and type_.is_integer
    ):
        return coerce(operand, type_)
    if size_of(operand.type) != size_of(type_):
        raise unsupported(f"a bitcast from {operand.type} to {type_}")
    if isinstance(operand, Reinterpretation) and operand.operand.type == type_:
        return operand.operand
    return Reinterpretation(operand, type_)


def _is_condition(type_: CType) -> bool:
    return type_ is BOOL or (isinstance(type_, Vector) and type_.is_mask)


def _pointer_to_integer(translator: Translator, instruction: Instruction) -> Expression:
    operand = translator.value(instruction.operands[0])
    type_ = from_llvm(instruction.type, signed=False)
    address = Cast(operand, ULONG)
    return address if type_ == ULONG else convert(address, type_)


def _integer_to_pointer(translator: Translator, instruction: Instruction) -> Expression:
    operand = translator.value(instruction.operands[0], signed=False)
    space = instruction.type.address_space if isinstance(instruction.type, PointerType) else 0
    pointee = translator.pointees(instruction)
    return Cast(operand, Pointer(pointee or INT, space))


def _address_space_cast(translator: Translator, instruction: Instruction) -> Expression:
    operand = translator.value(instruction.operands[0])
    return in_space(operand, instruction.type)


def in_space(operand: Expression, type_: object) -> Expression:
    """Return a pointer converted to another address space, to its first element where it points to an array."""
    if not isinstance(operand.type, Pointer) or not isinstance(type_, PointerType):
        return operand
    pointee = operand.type.pointee
    while isinstance(pointee, Array):
        pointee = pointee.element
    target = replace(operand.type, pointee=pointee, space=type_.address_space)
    return Cast(operand, target)


CONVERSIONS: Mapping[str, Handler] = {
    "trunc": _truncate,
    "sext": _extend(True),
    "zext": _extend(False),
    "sitofp": _from_integer(True),
    "uitofp": _from_integer(False),
    "fptosi": _to_number(True),
    "fptoui": _to_number(False),
    "fpext": _to_number(True),
    "fptrunc": _to_number(True),
    "bitcast": _bitcast,
    "ptrtoint": _pointer_to_integer,
    "inttoptr": _integer_to_pointer,
    "addrspacecast": _address_space_cast,
    "freeze": lambda translator, instruction: translator.value(instruction.operands[0]),
}
