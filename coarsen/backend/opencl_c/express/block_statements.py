"""Instructions that stand as statements: stores, calls, assignments of values to variables, copies of memory."""

from __future__ import annotations

from collections.abc import Collection

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.backend.opencl_c.c.build import coerce, negation
from coarsen.backend.opencl_c.c.tree import Assign, Evaluate, If, Statement, Store
from coarsen.backend.opencl_c.c.types import Opaque, Pointer
from coarsen.backend.opencl_c.express.block_copies import MEMORY_STATEMENTS
from coarsen.backend.opencl_c.express.calls import stem
from coarsen.backend.opencl_c.express.memory import atomic_statement, is_under_aligned, lvalue_of, unaligned_store
from coarsen.backend.opencl_c.express.translator import Translator, unsupported
from coarsen.backend.opencl_c.printing.expressions import same_text
from coarsen.errors import RefusalError
from coarsen.ir.graph.details import TERMINATORS
from coarsen.ir.graph.instruction import Instruction, alignment


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
