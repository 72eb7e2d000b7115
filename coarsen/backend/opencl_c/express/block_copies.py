"""`llvm.memcpy`, `llvm.memmove` and `llvm.memset`, as assignments or loops.

memcpy(q, p, sizeof(particle))     → *q = *p;
memset(tile, 0, 64)                → for (uint index = 0; index < 16; ++index) tile[index] = 0.0f;
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from coarsen.backend.opencl_c.c.expression import (
    RELATION,
    SUM,
    Expression,
    binary,
    cast,
    coerce,
    decayed,
    dereference,
    literal_int,
)
from coarsen.backend.opencl_c.c.statements import Assign, If, Line, Loop, Statement
from coarsen.backend.opencl_c.c.types import (
    BOOL,
    UCHAR,
    ULONG,
    UNSIGNED,
    Array,
    CType,
    Pointer,
    Record,
    Scalar,
    Vector,
    alignment_of,
    size_of,
)
from coarsen.backend.opencl_c.express.addresses import element
from coarsen.backend.opencl_c.express.translator import Translator, unsupported
from coarsen.ir.details import is_volatile
from coarsen.ir.kernel import Instruction


def _copy(translator: Translator, instruction: Instruction) -> list[Statement]:
    target, source, length = _operands(translator, instruction)
    if length.literal == 0:
        return []
    whole = _whole_assignment(target, source, length.literal)
    if whole is not None:
        return whole
    piece = _piece(translator, instruction, length, (target, source))
    return _for_each(translator, length, piece, lambda i: _move(target, source, piece, i))


def _whole_assignment(target: Expression, source: Expression, length: int | None) -> list[Statement] | None:
    """A structure's assignment, where exactly one is copied."""
    left, right = dereference(target), dereference(source)
    if isinstance(left.type, (Record, Vector)) and left.type == right.type and size_of(left.type) == length:
        return [Line(f"{left.text} = {right.text}")]
    return None


def _move(target: Expression, source: Expression, piece: CType, index: Expression) -> list[Statement]:
    to, from_ = _pieces(target, piece), _pieces(source, piece)
    return [Line(f"{element(to, index).text} = {element(from_, index).text}")]


def _move_overlapping(translator: Translator, instruction: Instruction) -> list[Statement]:
    """A copy that may overlap goes backwards where the target lies behind the source."""
    target, source, length = _operands(translator, instruction)
    if length.literal == 0:
        return []
    if not isinstance(target.type, Pointer) or not isinstance(source.type, Pointer):
        raise unsupported("a copy whose operand is not in memory")
    if target.type.space != source.type.space:
        return _copy(translator, instruction)
    piece = _piece(translator, instruction, length, (target, source))
    forward = _for_each(translator, length, piece, lambda i: _move(target, source, piece, i))
    backward = _for_each(translator, length, piece, lambda i: _move(target, source, piece, i), backwards=True)
    ahead = binary(_pieces(target, UCHAR), "<", _pieces(source, UCHAR), RELATION, BOOL)
    return [If(ahead, forward, backward)]


def _set(translator: Translator, instruction: Instruction) -> list[Statement]:
    target, byte, length = _operands(translator, instruction)
    if length.literal == 0:
        return []
    number = _element_of(target)
    fits = number is not None and length.literal is not None and length.literal % size_of(number) == 0
    if byte.literal == 0 and number is not None and fits:
        zero = literal_int(0)
        array = _pieces(target, number)
        return _for_each(translator, length, number, lambda i: [Line(f"{element(array, i).text} = {zero.text}")])
    bytes_ = _pieces(target, UCHAR)
    value = coerce(byte, UCHAR).without_conversion.text
    return _for_each(translator, length, UCHAR, lambda i: [Line(f"{element(bytes_, i).text} = {value}")])


def _element_of(pointer: Expression) -> CType | None:
    """The number type that a pointer's memory consists of as far as its type tells."""
    type_ = pointer.type.pointee if isinstance(pointer.type, Pointer) else None
    while isinstance(type_, Array):
        type_ = type_.element
    return type_ if isinstance(type_, Scalar) else None


def _piece(
    translator: Translator, instruction: Instruction, length: Expression, pointers: tuple[Expression, Expression]
) -> CType:
    """The type to copy by: the memory's own, or the widest that length and alignments allow."""
    first, second = (_element_of(pointer) for pointer in pointers)
    known = length.literal is not None
    if known and first is not None and first == second and (length.literal or 0) % size_of(first) == 0:
        aligned = min(_alignments(instruction)) >= alignment_of(first)
        if aligned:
            return first
    if not known:
        return UCHAR
    allowed = min(_alignments(instruction))
    for bits in (64, 32, 16):
        if allowed >= bits // 8 and (length.literal or 0) % (bits // 8) == 0:
            translator.requirements.aliases.add(UNSIGNED[bits])
            return replace(UNSIGNED[bits], name=f"aliasing_{UNSIGNED[bits].name}")
    return UCHAR


def _alignments(instruction: Instruction) -> tuple[int, int]:
    """The alignments that a copy states for its target and its source, 1 where it doesn't."""
    arguments = instruction.text.partition(f"{instruction.callee}(")[2].split(", ")
    found = [re.search(r"\balign (\d+)", argument) for argument in arguments[:2]]
    first, second = (int(match[1]) if match else 1 for match in found)
    return first, second


def _pieces(pointer: Expression, piece: CType) -> Expression:
    """The pointer as one to pieces."""
    if not isinstance(pointer.type, Pointer):
        raise unsupported("a copy whose operand is not in memory")
    target = replace(pointer.type, pointee=piece)
    plain = _before_cast(pointer)
    while isinstance(plain.type, Pointer) and isinstance(plain.type.pointee, Array):
        plain = coerce(plain, replace(plain.type, pointee=plain.type.pointee.element))
    return plain if plain.type == target else cast(plain, target)


def _before_cast(pointer: Expression) -> Expression:
    """A pointer without a cast that another one is to follow, if that leaves it in its address space."""
    bare = pointer.bare
    if bare is None or not isinstance(bare.type, Pointer) or not isinstance(pointer.type, Pointer):
        return pointer
    return bare if bare.type.space == pointer.type.space else pointer


def _for_each(
    translator: Translator,
    length: Expression,
    piece: CType,
    body: Callable[[Expression], list[Statement]],
    *,
    backwards: bool = False,
) -> list[Statement]:
    """A loop over the pieces; a single piece needs none."""
    count = literal_int(length.literal // size_of(piece)) if length.literal is not None else length
    if count.literal == 1:
        return body(literal_int(0))
    index = translator.new_variable("index", ULONG)
    last = literal_int((count.literal or 1) - 1) if count.literal is not None else None
    condition = binary(index, "<", count, RELATION, BOOL)
    first = literal_int(0)
    place = index
    if backwards:
        end = last if last is not None else binary(count, "-", literal_int(1), SUM, ULONG)
        place = binary(end, "-", index, SUM, ULONG)
    step = Assign(index.text, binary(index, "+", literal_int(1), SUM, ULONG))
    return [Loop("for", body(place), condition, [Assign(index.text, first)], [step])]


def _operands(translator: Translator, instruction: Instruction) -> tuple[Expression, Expression, Expression]:
    """Target, source or byte, and length; pointers to volatile memory where the instruction is volatile."""
    first, second, length = (translator.value(value) for value in instruction.arguments[:3])
    if not is_volatile(instruction):
        return first, second, length
    return _volatile(first), _volatile(second), length


def _volatile(operand: Expression) -> Expression:
    """A pointer as one to volatile memory; anything else as it is."""
    if not isinstance(operand.type, Pointer) or operand.type.is_volatile:
        return operand
    if isinstance(operand.type.pointee, Array) and operand.place is not None:
        return _volatile(decayed(operand.place, operand.type))
    return replace(cast(operand, replace(operand.type, is_volatile=True)), bare=operand)


MEMORY_STATEMENTS: Mapping[str, Callable[[Translator, Instruction], list[Statement]]] = {
    "memcpy": _copy,
    "memcpy.inline": _copy,
    "memmove": _move_overlapping,
    "memset": _set,
    "memset.inline": _set,
}
