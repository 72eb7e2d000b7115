"""The links of a function's graph, checked: LLVM's verifier sees only what is printed."""

from __future__ import annotations

from collections.abc import Iterator

from coarsen.errors import InternalError
from coarsen.ir.graph.details import BINARY, TERMINATORS, Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.names import named_in
from coarsen.ir.graph.operands import Named, Use


def check_function(function: Function) -> None:
    """Raise InternalError, with the first mistake found, unless all links of a function fit together."""
    mistake = next(_mistakes(function), None)
    if mistake is not None:
        raise InternalError(f"the graph of '{function.name}' is wrong: {mistake}")


def _mistakes(function: Function) -> Iterator[str]:
    known: set[Named] = {*function.arguments, *function.blocks, *function.instructions()}
    for block in function.blocks:
        if block.function is not function:
            yield f"the block '{block.name}' does not know its function"
        yield from _in_block(block)
        for instruction in block.instructions:
            yield from _in_instruction(instruction)
            for operand in (*instruction.operands, *instruction.blocks):
                if (operand.is_local or isinstance(operand, Block)) and operand not in known:
                    yield f"'{_called(instruction)}' uses '{operand.text}', which stands elsewhere"
    for named in named_in(function):
        for use in named.uses:
            if not _is_there(use, known):
                yield f"'{named.name}' keeps a use that is gone"
    names = [named.name for named in named_in(function) if named.has_unique_name]
    if len(names) > len(set(names)):
        yield "two values have one name"


def _is_there(use: Use, known: set[Named]) -> bool:
    user = use.user
    if not isinstance(user, Instruction) or user not in known:
        return False
    return use.slot < len(user.blocks if use.is_edge else user.operands)


def _in_block(block: Block) -> Iterator[str]:
    instructions = block.instructions
    if [i for i in instructions if i.opcode in TERMINATORS] != [*instructions[-1:]]:
        yield f"the block '{block.name}' does not end with its only terminator"
    if any(i.opcode is Opcode.PHI for i in instructions[len(block.phis) :]):
        yield f"a phi of '{block.name}' stands after other instructions"
    for phi in block.phis:
        if set(phi.blocks) != set(block.predecessors):
            yield f"the phi '{phi.name}' does not have the predecessors of '{block.name}' as its sources"
    for instruction in instructions:
        if instruction.block is not block:
            yield f"'{_called(instruction)}' does not know its block"


def _in_instruction(instruction: Instruction) -> Iterator[str]:
    for index, operand in enumerate(instruction.operands):
        for named in operand.referenced():
            if Use(instruction, index) not in named.uses:
                yield f"'{named.name}' does not know of its use by '{_called(instruction)}'"
    for index, block in enumerate(instruction.blocks):
        if Use(instruction, index, True) not in block.uses:
            yield f"the block '{block.name}' does not know of its use by '{_called(instruction)}'"
    if instruction.opcode in BINARY and len({operand.type for operand in instruction.operands}) > 1:
        yield f"the operands of '{_called(instruction)}' have different types"


def _called(instruction: Instruction) -> str:
    return instruction.name or instruction.opcode
