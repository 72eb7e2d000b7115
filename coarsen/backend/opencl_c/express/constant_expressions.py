"""LLVM's constants as C expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy

from coarsen.backend.opencl_c.c import tree
from coarsen.backend.opencl_c.c.build import call, coerce, constructed, literal_int, literal_of_bits, promoted
from coarsen.backend.opencl_c.c.tree import (
    Binary,
    Boolean,
    Cast,
    Expression,
    Initializer,
    Name,
    Null,
    RecordLiteral,
    Unary,
)
from coarsen.backend.opencl_c.c.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    UINT,
    ULONG,
    USHORT,
    Array,
    CType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    Vector,
    from_llvm,
)
from coarsen.backend.opencl_c.decide.constants import (
    Constant,
    Elements,
    Number,
    Operation,
    Real,
    Symbol,
    Undefined,
    Zero,
    parse_constant,
    reinterpreted,
)
from coarsen.backend.opencl_c.express.comparisons import in_space
from coarsen.backend.opencl_c.express.memory import element_address
from coarsen.backend.opencl_c.express.translator import Translator, unsupported
from coarsen.backend.opencl_c.printing.expressions import same_text
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.types import PointerType, StructType, Type, VectorType


def constant(translator: Translator, value: Operand, signed: bool) -> Expression:
    """Return a constant operand, integers with the sign that is asked for."""
    if value.kind is ValueKind.GLOBAL:
        return _symbol(translator, value.text)
    parsed = _with_literals(parse_constant(value.type, value.text, translator.kernel.structures))
    return expression_of(translator, value.type, parsed, signed=signed)


def _with_literals(parsed: Constant) -> Constant:
    """A constant, without its `bitcast` where that is one of numbers."""
    if not isinstance(parsed, Operation) or parsed.opcode != "bitcast":
        return parsed
    return reinterpreted(*parsed.operands[0], parsed.type) or parsed


def expression_of(translator: Translator, type_: Type, parsed: Constant, *, signed: bool = True) -> Expression:
    """Return a parsed constant of a type."""
    if isinstance(parsed, Symbol):
        return _symbol(translator, parsed.name)
    if isinstance(parsed, Operation):
        return _operation(translator, type_, parsed)
    if isinstance(type_, PointerType):
        return Null(Pointer(CHAR, type_.address_space))
    c_type = from_llvm(type_, signed=signed)
    if isinstance(c_type, Vector):
        return _vector(type_, c_type, parsed)
    if isinstance(c_type, Array):
        raise unsupported("an array as a value")
    if isinstance(c_type, Record):
        return RecordLiteral(initializer(translator, type_, parsed), c_type)
    return _scalar(c_type, parsed)


def _scalar(type_: CType, parsed: Constant) -> Expression:
    if isinstance(type_, Opaque):
        return Null(type_)
    if not isinstance(type_, Scalar):
        raise unsupported(f"a constant of type {type_}")
    if type_ is BOOL:
        return Boolean(isinstance(parsed, Number) and bool(parsed.value))
    if isinstance(parsed, Real):
        return _real_literal(parsed, type_)
    if isinstance(parsed, Number):
        return literal_of_bits(parsed.value, type_)
    return literal_of_bits(0, type_) if type_.is_integer else _real_literal(Real(0.0, 0), type_)


def _vector(type_: Type, c_type: Vector, parsed: Constant) -> Expression:
    elements = _lanes(type_, c_type, parsed)
    if all(same_text(element, elements[0]) for element in elements[1:]):
        elements = elements[:1]
    return constructed(c_type, elements)


def _lanes(type_: Type, c_type: Vector, parsed: Constant) -> list[Expression]:
    items = _items(type_, parsed)
    if c_type.is_mask:
        return [literal_int(-1 if isinstance(item, Number) and item.value else 0, INT) for _, item in items]
    return [_scalar(c_type.element, item) for _, item in items]


def constant_lanes(translator: Translator, value: Operand, signed: bool) -> list[Expression]:
    """Return the elements of a constant vector; of one of conditions, -1 and 0."""
    c_type = from_llvm(value.type, signed=signed)
    if not isinstance(c_type, Vector):
        raise unsupported(f"an element of {value.text}")
    parsed = parse_constant(value.type, value.text, translator.kernel.structures)
    return _lanes(value.type, c_type, _with_literals(parsed))


def _items(type_: Type, parsed: Constant) -> tuple[tuple[Type, Constant], ...]:
    """The elements of an aggregate or vector, zeros and undefined ones spelled out."""
    if isinstance(parsed, Elements):
        return parsed.items
    if isinstance(type_, StructType):
        return tuple((element, parsed) for element in type_.elements)
    element = getattr(type_, "element", None)
    count = getattr(type_, "count", 0)
    return ((element, parsed),) * count if element is not None else ()


def initializer(translator: Translator, type_: Type, parsed: Constant) -> Expression:
    """Return the initialiser: what stands after `=` in the declaration of a variable of the type."""
    if isinstance(type_, PointerType):
        return coerce(expression_of(translator, type_, parsed), from_llvm(type_))
    if isinstance(type_, VectorType) or not isinstance(parsed, (Elements, Zero, Undefined)):
        return expression_of(translator, type_, parsed)
    if not isinstance(type_, StructType) and not hasattr(type_, "element"):
        return expression_of(translator, type_, parsed)
    if isinstance(parsed, (Zero, Undefined)):
        return Initializer((literal_int(0),), from_llvm(type_))
    parts = tuple(initializer(translator, element, item) for element, item in parsed.items)
    return Initializer(parts, from_llvm(type_))


def _symbol(translator: Translator, symbol: str) -> Expression:
    known = translator.names.get(f"@{symbol}")
    if known is None:
        raise unsupported(f"the address of '{symbol}'")
    translator.requirements.tables.add(symbol)
    return known


def _operation(translator: Translator, type_: Type, parsed: Operation) -> Expression:
    writer = _OPERATIONS.get(parsed.opcode)
    if writer is None:
        raise unsupported(f"a constant '{parsed.opcode}' expression")
    return writer(translator, type_, parsed)


def _address(translator: Translator, type_: Type, parsed: Operation) -> Expression:
    (base_type, base), *indices = parsed.operands
    pointer = expression_of(translator, base_type, base)
    numbers = [expression_of(translator, index_type, index) for index_type, index in indices]
    return element_address(translator, pointer, from_llvm(parsed.type), numbers)


def _in_space(translator: Translator, type_: Type, parsed: Operation) -> Expression:
    operand_type, operand = parsed.operands[0]
    if isinstance(operand, Zero) and isinstance(parsed.type, PointerType):
        return Null(Pointer(CHAR, parsed.type.address_space))
    return in_space(expression_of(translator, operand_type, operand), parsed.type)


def _as_integer(translator: Translator, type_: Type, parsed: Operation) -> Expression:
    operand_type, operand = parsed.operands[0]
    address = Cast(expression_of(translator, operand_type, operand), ULONG)
    result = from_llvm(parsed.type, signed=False)
    return address if result == ULONG else Cast(address, result)


def _as_pointer(translator: Translator, type_: Type, parsed: Operation) -> Expression:
    operand_type, operand = parsed.operands[0]
    space = parsed.type.address_space if isinstance(parsed.type, PointerType) else 0
    return Cast(expression_of(translator, operand_type, operand, signed=False), Pointer(CHAR, space))


def _reinterpreted(translator: Translator, type_: Type, parsed: Operation) -> Expression:
    operand_type, operand = parsed.operands[0]
    if isinstance(parsed.type, PointerType):
        return expression_of(translator, operand_type, operand)
    constant = reinterpreted(operand_type, operand, parsed.type)
    if constant is None:
        raise unsupported(f"a constant 'bitcast' expression to '{parsed.type}'")
    return expression_of(translator, parsed.type, constant)


def _truncated(translator: Translator, type_: Type, parsed: Operation) -> Expression:
    operand_type, operand = parsed.operands[0]
    target = from_llvm(parsed.type, signed=False)
    if target is BOOL or not isinstance(target, Scalar):
        raise unsupported(f"a constant 'trunc' expression to '{parsed.type}'")
    return Cast(expression_of(translator, operand_type, operand, signed=False), target)


def _computed(operator: str) -> Callable[[Translator, Type, Operation], Expression]:
    """Integer arithmetic, without a sign since that wraps around as LLVM's does."""

    def write(translator: Translator, type_: Type, parsed: Operation) -> Expression:
        result = from_llvm(parsed.type, signed=False)
        if result is BOOL or not isinstance(result, Scalar):
            raise unsupported(f"a constant '{parsed.opcode}' expression of '{parsed.type}'")
        left, right = (
            coerce(expression_of(translator, operand_type, operand, signed=False), result)
            for operand_type, operand in parsed.operands
        )
        computed = Binary(left, operator, right, promoted(result))
        return computed if computed.type == result else Cast(computed, result)

    return write


_OPERATIONS: Mapping[str, Callable[[Translator, Type, Operation], Expression]] = {
    "getelementptr": _address,
    "addrspacecast": _in_space,
    "ptrtoint": _as_integer,
    "inttoptr": _as_pointer,
    "bitcast": _reinterpreted,
    "trunc": _truncated,
    "add": _computed("+"),
    "sub": _computed("-"),
    "mul": _computed("*"),
    "xor": _computed("^"),
}


# Floating-point numbers as OpenCL C writes them, exactly.

_NAN_BITS = {"half": (USHORT, 0x7E00), "float": (UINT, 0x7FC00000), "double": (ULONG, 0x7FF8000000000000)}


def _real_literal(real: Real, type_: Scalar) -> Expression:
    """A floating-point literal that gives exactly the number, with the shortest digits that do."""
    if real.value is None:
        return _nan(real.bits, type_)
    if real.value in (float("inf"), float("-inf")):
        return _infinity(real.value, type_)
    digits = repr(float(real.value)) if type_ is DOUBLE else str(numpy.float32(real.value))
    if type_ is FLOAT:
        digits += "f"
    # A half's digits are written as a float's, which hold it exactly.
    return Cast(tree.Real(f"{digits}f", FLOAT), HALF) if type_ is HALF else tree.Real(digits, type_)


def _infinity(value: float, type_: Scalar) -> Expression:
    infinity: Expression = Name("INFINITY", FLOAT)
    if value < 0:
        infinity = Unary("-", infinity, FLOAT)
    return infinity if type_ is FLOAT else Cast(infinity, type_)


def _nan(bits: int, type_: Scalar) -> Expression:
    integer, plain = _NAN_BITS[type_.name]
    if bits == plain and type_ is FLOAT:
        return Name("NAN", FLOAT)
    pattern = Cast(literal_int(bits, UINT), USHORT) if integer is USHORT else literal_int(bits, integer)
    return call(f"as_{type_}", [pattern], type_)
