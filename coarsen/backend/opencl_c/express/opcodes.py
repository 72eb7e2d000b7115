"""The table of all opcodes whose result is a C expression, with overflow tests and members of aggregates."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from coarsen.backend.opencl_c.c.build import call, coerce, comparison, literal_int
from coarsen.backend.opencl_c.c.tree import Binary, Cast, Expression, Index, Initializer, RecordLiteral
from coarsen.backend.opencl_c.c.types import INT, UINT, Array, CType, Record, Scalar, from_llvm, size_of, with_sign
from coarsen.backend.opencl_c.express.arithmetic import ARITHMETIC, BITS
from coarsen.backend.opencl_c.express.calls import exact_operand, write_call
from coarsen.backend.opencl_c.express.comparisons import COMPARISONS, CONVERSIONS
from coarsen.backend.opencl_c.express.memory import element_pointer, field, load
from coarsen.backend.opencl_c.express.translator import Handler, Translator, unsupported
from coarsen.backend.opencl_c.express.vectors import VECTORS
from coarsen.ir.graph.instruction import Instruction, aggregate_indices


def overflow_member(translator: Translator, source: Instruction, *, want_flag: bool) -> Expression:
    """Return the result of an operation that tells overflow, or with `want_flag` whether it overflowed."""
    match = re.match(r"llvm\.([su])(add|sub|mul)\.with\.overflow", source.callee)
    if match is None:
        raise unsupported(f"LLVM's intrinsic '{source.callee}'")
    signed = match[1] == "s"
    type_ = with_sign(from_llvm(source.arguments[0].type), signed=signed)
    left, right = (exact_operand(translator, value, type_) for value in source.arguments)
    operator = {"add": "+", "sub": "-", "mul": "*"}[match[2]]
    wrapped = _wrapped(left, operator, right, type_)
    if not want_flag:
        return wrapped
    return _OVERFLOW_TESTS[match[1] + match[2]](left, right, wrapped, type_)


def _wrapped(left: Expression, operator: str, right: Expression, type_: CType) -> Expression:
    unsigned = with_sign(type_, signed=False)
    wide = UINT if isinstance(type_, Scalar) and type_.size < INT.size else unsigned
    result = Binary(coerce(left, wide), operator, coerce(right, wide), wide)
    return Cast(result, type_) if wide != type_ else result


_Test = Callable[[Expression, Expression, Expression, CType], Expression]


def _saturates(function: str) -> _Test:
    def test(left: Expression, right: Expression, wrapped: Expression, type_: CType) -> Expression:
        return comparison(call(function, [left, right], type_), "!=", wrapped)

    return test


def _signed_high(left: Expression, right: Expression, wrapped: Expression, type_: CType) -> Expression:
    sign = Binary(wrapped, ">>", literal_int(size_of(type_) * 8 - 1), type_)
    return comparison(call("mul_hi", [left, right], type_), "!=", sign)


_OVERFLOW_TESTS: Mapping[str, _Test] = {
    "uadd": _saturates("add_sat"),
    "usub": _saturates("sub_sat"),
    "sadd": _saturates("add_sat"),
    "ssub": _saturates("sub_sat"),
    "umul": lambda left, right, _, type_: comparison(call("mul_hi", [left, right], type_), "!=", literal_int(0)),
    "smul": _signed_high,
}


def _extract(translator: Translator, instruction: Instruction) -> Expression:
    """A member of a pair of result and overflow, of an exchange's result, or of a structure."""
    source = translator.dataflow.definition(instruction.operands[0])
    indices = aggregate_indices(instruction)
    if source is not None and ".with.overflow" in source.callee:
        return overflow_member(translator, source, want_flag=indices == (1,))
    value = translator.value(instruction.operands[0])
    if source is not None and source.opcode == "cmpxchg":
        if indices == (0,):
            return value
        return comparison(value, "==", coerce(translator.value(source.operands[1]), value.type))
    return _member(translator, value, indices)


def _member(translator: Translator, value: Expression, indices: Sequence[int]) -> Expression:
    for index in indices:
        if isinstance(value.type, Record):
            value = field(translator, value, value.type, index)
        elif isinstance(value.type, Array):
            value = Index(value, literal_int(index), value.type.element)
        else:
            raise unsupported(f"a member of {value.type}")
    return value


def _insert(translator: Translator, instruction: Instruction) -> Expression:
    """A structure with one member changed, as `(record){…}`."""
    type_ = from_llvm(instruction.type)
    indices = aggregate_indices(instruction)
    if not isinstance(type_, Record) or len(indices) != 1:
        raise unsupported("a member inserted into an array, or deep into a structure")
    parts: list[Expression] = []
    base = instruction.operands[0]
    known = base.text not in ("undef", "poison")
    source = translator.value(base) if known else None
    for index, element in enumerate(type_.layout.elements):
        if index == indices[0]:
            parts.append(translator.as_type(instruction.operands[1], from_llvm(element)))
        elif source is not None:
            parts.append(field(translator, source, type_, index))
        else:
            parts.append(literal_int(0))
    return RecordLiteral(Initializer(tuple(parts), type_), type_)


HANDLERS: Mapping[str, Handler] = {
    **ARITHMETIC,
    **BITS,
    **COMPARISONS,
    **CONVERSIONS,
    **VECTORS,
    "getelementptr": element_pointer,
    "load": load,
    "call": write_call,
    "extractvalue": _extract,
    "insertvalue": _insert,
}
