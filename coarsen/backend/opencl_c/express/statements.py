"""Instructions that stand as statements: stores, calls, assignments of values to variables, copies of memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.backend.opencl_c.c.build import (
    coerce,
    comparison,
    converted_pointer,
    decayed,
    dereference,
    is_zero,
    literal_int,
    negation,
    place_of,
    without_conversion,
)
from coarsen.backend.opencl_c.c.tree import (
    Assign,
    Binary,
    Cast,
    Evaluate,
    Expression,
    If,
    Integer,
    Loop,
    Statement,
    Store,
)
from coarsen.backend.opencl_c.c.types import (
    UCHAR,
    ULONG,
    UNSIGNED,
    Array,
    CType,
    Opaque,
    Pointer,
    Record,
    Scalar,
    Vector,
    alignment_of,
    size_of,
)
from coarsen.backend.opencl_c.express.calls import stem
from coarsen.backend.opencl_c.express.memory import (
    atomic_statement,
    element,
    is_under_aligned,
    lvalue_of,
    unaligned_store,
)
from coarsen.backend.opencl_c.express.translator import Translator, unsupported
from coarsen.backend.opencl_c.printing.expressions import same_text
from coarsen.errors import RefusalError
from coarsen.ir.graph.details import TERMINATORS
from coarsen.ir.graph.instruction import Instruction, alignment, argument_alignment


def statements_of(
    translator: Translator, effects: EffectsOfKernel, block: str, skipped: Collection[Instruction] = ()
) -> list[Statement]:
    """Return a block's statements, without phis, terminator and the instructions that are `skipped`."""
    written: list[Statement] = []
    for instruction in translator.kernel.block[block].instructions:
        if instruction.opcode in ("phi", "alloca") or instruction.opcode in TERMINATORS:
            continue
        if (
            (skipped and any(instruction is other for other in skipped))  # another one may say the same
            or effects.is_ignored(instruction)
            or instruction.name in translator.folding.inlined
        ):
            continue
        if instruction.name in translator.folding.variables or effects.has_effect(instruction):
            written += _with_position(translator, instruction)
    return written


def _with_position(translator: Translator, instruction: Instruction) -> list[Statement]:
    try:
        return _statement(translator, instruction)
    except RefusalError as refusal:
        if refusal.position is None and instruction.position is not None:
            raise RefusalError(refusal.code, refusal.reason, instruction.position) from None
        raise


def _statement(translator: Translator, instruction: Instruction) -> list[Statement]:
    if instruction.opcode == "call" and stem(instruction.callee) in MEMORY_STATEMENTS:
        return MEMORY_STATEMENTS[stem(instruction.callee)](translator, instruction)
    if instruction.opcode == "store":
        return _store(translator, instruction)
    if instruction.opcode in ("atomicrmw", "cmpxchg"):
        return atomic_statement(translator, instruction)
    if instruction.opcode == "fence":
        raise unsupported("LLVM's 'fence'")
    if instruction.name in translator.folding.variables:
        variable = translator.variable(instruction.name)
        if instruction.opcode == "select" and isinstance(variable.type, Opaque):
            return _choice(translator, instruction)
        value = translator.instruction(instruction)
        return [Assign(variable.text, coerce(value, variable.type))]
    return [Evaluate(translator.instruction(instruction))]


def _choice(translator: Translator, instruction: Instruction) -> list[Statement]:
    """A choice between events, of which older compilers take no `c ? a : b`."""
    condition, *values = map(translator.value, instruction.operands)
    variable = translator.variable(instruction.name)
    assigned: list[list[Statement]] = [
        [] if same_text(value, variable) else [Assign(variable.text, value)] for value in values
    ]
    then, otherwise = assigned
    if then:
        return [If(condition, then, otherwise)]
    return [If(negation(condition), otherwise, [])] if otherwise else []


def _store(translator: Translator, instruction: Instruction) -> list[Statement]:
    if instruction.is_atomic:
        raise unsupported("an atomic store")
    value, address = instruction.operands
    place = lvalue_of(translator, instruction, address, value.type)
    if isinstance(place.type, (Opaque, Pointer)):
        stored = coerce(translator.value(value), place.type)
    else:
        stored = translator.as_type(value, place.type)
    if is_under_aligned(instruction, place):
        return [Evaluate(unaligned_store(stored, place, translator.value(address), alignment(instruction)))]
    return [Store(place, stored)]


# `llvm.memcpy`, `llvm.memmove` and `llvm.memset`, as assignments or loops.
#
# memcpy(q, p, sizeof(particle))     → *q = *p;
# memset(tile, 0, 64)                → for (uint index = 0; index < 16; ++index) tile[index] = 0.0f;


def _copy(translator: Translator, instruction: Instruction) -> list[Statement]:
    target, source, length = _operands(translator, instruction)
    if is_zero(length):
        return []
    whole = _whole_assignment(target, source, _number(length))
    if whole is not None:
        return whole
    piece = _piece(translator, instruction, length, (target, source))
    return _for_each(translator, length, piece, lambda i: _move(target, source, piece, i))


def _whole_assignment(target: Expression, source: Expression, length: int | None) -> list[Statement] | None:
    """A structure's assignment, where exactly one is copied."""
    left, right = dereference(target), dereference(source)
    if isinstance(left.type, (Record, Vector)) and left.type == right.type and size_of(left.type) == length:
        return [Store(left, right)]
    return None


def _move(target: Expression, source: Expression, piece: CType, index: Expression) -> list[Statement]:
    to, from_ = _pieces(target, piece), _pieces(source, piece)
    return [Store(element(to, index), element(from_, index))]


def _move_overlapping(translator: Translator, instruction: Instruction) -> list[Statement]:
    """A copy that may overlap goes backwards where the target lies after the source."""
    target, source, length = _operands(translator, instruction)
    if is_zero(length):
        return []
    if not isinstance(target.type, Pointer) or not isinstance(source.type, Pointer):
        raise unsupported("a copy whose operand is not in memory")
    if target.type.space != source.type.space:
        return _copy(translator, instruction)
    piece = _piece(translator, instruction, length, (target, source))
    forward = _for_each(translator, length, piece, lambda i: _move(target, source, piece, i))
    backward = _for_each(translator, length, piece, lambda i: _move(target, source, piece, i), backwards=True)
    ahead = comparison(_pieces(target, UCHAR), "<", _pieces(source, UCHAR))
    return [If(ahead, forward, backward)]


def _set(translator: Translator, instruction: Instruction) -> list[Statement]:
    target, byte, length = _operands(translator, instruction)
    if is_zero(length):
        return []
    number = _element_of(target)
    whole = _number(length)
    fits = number is not None and whole is not None and whole % size_of(number) == 0
    if is_zero(byte) and number is not None and fits:
        array = _pieces(target, number)
        return _for_each(translator, length, number, lambda i: [Store(element(array, i), literal_int(0))])
    bytes_ = _pieces(target, UCHAR)
    value = without_conversion(coerce(byte, UCHAR))
    return _for_each(translator, length, UCHAR, lambda i: [Store(element(bytes_, i), value)])


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
    whole = _number(length)
    if whole is None:
        return UCHAR
    allowed = min(argument_alignment(instruction, 0), argument_alignment(instruction, 1))
    if first is not None and first == second and whole % size_of(first) == 0 and allowed >= alignment_of(first):
        return first
    for bits in (64, 32, 16):
        if allowed >= bits // 8 and whole % (bits // 8) == 0:
            return replace(UNSIGNED[bits], may_alias=True)
    return UCHAR


def _pieces(pointer: Expression, piece: CType) -> Expression:
    """The pointer as one to pieces."""
    if not isinstance(pointer.type, Pointer):
        raise unsupported("a copy whose operand is not in memory")
    target = replace(pointer.type, pointee=piece)
    plain = _before_cast(pointer)
    while isinstance(plain.type, Pointer) and isinstance(plain.type.pointee, Array):
        plain = coerce(plain, replace(plain.type, pointee=plain.type.pointee.element))
    return plain if plain.type == target else Cast(plain, target)


def _before_cast(pointer: Expression) -> Expression:
    """A pointer without a cast that another one is to follow, if that leaves it in its address space."""
    bare = converted_pointer(pointer)
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
    whole = _number(length)
    count = literal_int(whole // size_of(piece)) if whole is not None else length
    if _number(count) == 1:
        return body(literal_int(0))
    index = translator.new_variable("index", ULONG)
    condition = comparison(index, "<", count)
    place: Expression = index
    if backwards:
        number = _number(count)
        one = literal_int(1)
        end = literal_int(number - 1) if number is not None else Binary(count, "-", one, ULONG)
        place = Binary(end, "-", index, ULONG)
    step = Assign(index.text, Binary(index, "+", literal_int(1), ULONG))
    return [Loop("for", body(place), condition, [Assign(index.text, literal_int(0))], [step])]


def _number(expression: Expression) -> int | None:
    """The number that an integer literal is, or None."""
    return expression.value if isinstance(expression, Integer) else None


def _operands(translator: Translator, instruction: Instruction) -> tuple[Expression, Expression, Expression]:
    """Target, source or byte, and length; pointers to volatile memory where the instruction is volatile."""
    first, second, length = (translator.value(value) for value in instruction.arguments[:3])
    if not instruction.is_volatile:
        return first, second, length
    return _volatile(first), _volatile(second), length


def _volatile(operand: Expression) -> Expression:
    """A pointer as one to volatile memory; anything else as it is."""
    if not isinstance(operand.type, Pointer) or operand.type.is_volatile:
        return operand
    place = place_of(operand)
    if isinstance(operand.type.pointee, Array) and place is not None:
        return _volatile(decayed(place, operand.type))
    return Cast(operand, replace(operand.type, is_volatile=True))


MEMORY_STATEMENTS: Mapping[str, Callable[[Translator, Instruction], list[Statement]]] = {
    "memcpy": _copy,
    "memcpy.inline": _copy,
    "memmove": _move_overlapping,
    "memset": _set,
    "memset.inline": _set,
}
