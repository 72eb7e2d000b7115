"""Comparisons and choices; conversions between types, of scalars, vectors and pointers.

A scalar comparison is a condition (`bool`); a vector's is a mask of -1 and 0, as in OpenCL C, with elements as
wide as those compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c.build import (
    OPPOSITE,
    call,
    coerce,
    comparison,
    constructed,
    converted,
    is_null,
    is_zero,
    literal_int,
    logical_and,
    logical_or,
    negation,
    promoted,
    repeated_scalar,
)
from coarsen.backend.opencl_c.c.tree import (
    Binary,
    Boolean,
    Cast,
    Conditional,
    Expression,
    Integer,
    Real,
    Reinterpretation,
    Retyped,
    Unary,
)
from coarsen.backend.opencl_c.c.types import (
    BOOL,
    INT,
    LONG,
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
from coarsen.backend.opencl_c.express.arithmetic import integer_pair, repeated
from coarsen.backend.opencl_c.express.translator import Handler, Translator, unsupported
from coarsen.backend.opencl_c.printing.expressions import same_text
from coarsen.ir.graph.instruction import Instruction, predicate
from coarsen.ir.types import PointerType

_OPERATORS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def _compare(left: Expression, operator: str, right: Expression, *, exact: bool = True) -> Binary:
    """A comparison; with `exact`, its opposite is that of the operator (not so where NaNs compare)."""
    type_ = comparison_type(left.type)
    return Binary(left, operator, right, type_, has_opposite=exact and type_ is BOOL)


def comparison_type(type_: CType) -> CType:
    """Return what OpenCL C gives for a comparison of this type."""
    if isinstance(type_, Vector):
        return Vector(integer(type_.element.size * 8, signed=True), type_.count, is_mask=True)
    return BOOL


def _integers(translator: Translator, instruction: Instruction) -> Expression:
    word = predicate(instruction)
    operator = _OPERATORS[word if word in _OPERATORS else word[1:]]
    signed = None if word in _OPERATORS else word[0] == "s"
    first, second = instruction.operands
    left, right = translator.value(first, signed=signed), translator.value(second, signed=signed)
    if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
        return _pointers(left, operator, right)
    if left.type is BOOL or right.type is BOOL:
        return _booleans(left, operator, right, swapped=bool(signed))
    if isinstance(left.type, Vector):
        return _vectors(left, operator, coerce(right, left.type))
    if isinstance(left, Integer) and not isinstance(right, Integer):
        left, right, operator = right, left, {">": "<", "<": ">", ">=": "<=", "<=": ">="}.get(operator, operator)
    return _scalars(left, operator, right)


def _vectors(left: Expression, operator: str, right: Expression) -> Expression:
    """A mask that was made a vector of numbers and is tested again is the mask."""
    if isinstance(left, Retyped) and is_zero(repeated_scalar(right)) and operator in ("<", "!="):
        return left.operand
    return _compare(left, operator, repeated(right, element_of(left.type)))


def _scalars(left: Expression, operator: str, right: Expression) -> Expression:
    """Both operands' signs must agree where C would compare them as another type than LLVM does."""
    right = coerce(right, left.type)
    left, right = integer_pair(left, right)
    return _compare(left, operator, right)


def equality(value: Expression, number: int) -> Expression:
    """Return the condition that an integer is a number."""
    return _scalars(value, "==", literal_int(number, LONG))


def _pointers(left: Expression, operator: str, right: Expression) -> Expression:
    if isinstance(left.type, Pointer) and not is_null(right):
        right = coerce(right, left.type)
    return _compare(left, operator, right)


def _booleans(left: Expression, operator: str, right: Expression, *, swapped: bool) -> Expression:
    """Conditions compare as 0 and 1, as signed i1 as 0 and -1."""
    for one, other in ((left, right), (right, left)):
        if isinstance(other, Boolean) and operator in ("==", "!="):
            return one if other.value == (operator == "==") else negation(one)
    if swapped:
        left, right = right, left
    return _compare(left, operator, right)


def _floats(translator: Translator, instruction: Instruction) -> Expression:
    left, right = (translator.value(operand) for operand in instruction.operands)
    word = predicate(instruction)
    type_ = comparison_type(left.type)
    if word in ("true", "false"):
        return _constant(word == "true", type_)
    if word in ("ord", "uno"):
        return _ordering(left, right, word, type_)
    if repeated_scalar(left) is None and isinstance(left.type, Vector):
        right = repeated(right, left.type.element)
    operator = _OPERATORS[word[1:]]
    if "nnan" in instruction.flags or "fast" in instruction.flags:
        return _compare(left, operator, right)
    if word in ("oeq", "une"):
        return _compare(left, operator, right)
    if word in ("one", "ueq"):
        different = call("islessgreater", [left, right], type_)
        return different if word == "one" else _opposite(different)
    if word[0] == "o":
        return _compare(left, operator, right, exact=False)
    return _opposite(_compare(left, OPPOSITE[operator], right, exact=False))


def _ordering(left: Expression, right: Expression, word: str, type_: CType) -> Expression:
    single = isinstance(right, Real) or same_text(left, right)
    unordered = call("isnan", [left], type_) if single else call("isunordered", [left, right], type_)
    return unordered if word == "uno" else _opposite(unordered)


def _opposite(condition: Expression) -> Expression:
    return Unary("~", condition, condition.type) if isinstance(condition.type, Vector) else negation(condition)


def _constant(value: bool, type_: CType) -> Expression:
    if isinstance(type_, Vector):
        return constructed(type_, [literal_int(-int(value))])
    return Boolean(value)


def _select(translator: Translator, instruction: Instruction) -> Expression:
    condition = translator.value(instruction.operands[0])
    first, second = (translator.value(operand) for operand in instruction.operands[1:])
    if isinstance(condition.type, Vector):
        return _vector_choice(condition, first, second)
    if first.type is BOOL and second.type is BOOL:
        return _boolean_choice(condition, first, second)
    return choose(condition, first, second)


def choose(condition: Expression, first: Expression, second: Expression) -> Expression:
    """`condition ? first : second`, both of one type."""
    type_ = second.type if isinstance(first, Integer) or is_null(first) else first.type
    first, second = coerce(first, type_), coerce(second, type_)
    result = promoted(type_)
    expression = Conditional(condition, first, second, result)
    return expression if result == type_ else Cast(expression, type_)


def _boolean_choice(condition: Expression, first: Expression, second: Expression) -> Expression:
    if isinstance(first, Boolean) == isinstance(second, Boolean):
        return Conditional(condition, first, second, BOOL)
    if isinstance(first, Boolean):
        return logical_or(condition, second) if first.value else logical_and(negation(condition), second)
    if isinstance(second, Boolean) and second.value:
        return logical_or(negation(condition), first)
    return logical_and(condition, first)


def _vector_choice(mask: Expression, first: Expression, second: Expression) -> Expression:
    second = coerce(second, first.type)
    width = element_of(first.type).size * 8
    count = first.type.count if isinstance(first.type, Vector) else 0
    condition = coerce(mask, Vector(integer(width, signed=True), count, is_mask=True))
    return call("select", [second, first, condition], first.type)


COMPARISONS: Mapping[str, Handler] = {"icmp": _integers, "fcmp": _floats, "select": _select}


# Conversions between types, of scalars, vectors and pointers.


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
