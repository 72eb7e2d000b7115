"""Structures as values: their members, and structures put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coarsen.backend.opencl_c.c.build import comparison, literal_int
from coarsen.backend.opencl_c.c.coerce import coerce
from coarsen.backend.opencl_c.c.tree import Expression, Index, Initializer, RecordLiteral
from coarsen.backend.opencl_c.c.types import Array, Record, from_llvm
from coarsen.backend.opencl_c.express.addresses import field
from coarsen.backend.opencl_c.express.overflow import overflow_member
from coarsen.backend.opencl_c.express.translator import Handler, Translator, unsupported
from coarsen.ir.details import aggregate_indices
from coarsen.ir.kernel import Instruction


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


AGGREGATES: Mapping[str, Handler] = {"extractvalue": _extract, "insertvalue": _insert}
