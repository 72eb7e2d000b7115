"""What can't be coarsened faithfully, found before anything is written.

Codes are stable: `sub-group`, `collective`, `device-enqueue`, `pipe`, `indirect-call`, `inline-assembly`,
`irreducible`, `endless-loop`, `program-scope-variable`, `unsupported-instruction`, `unsupported-call`. Elsewhere:
`recursion` (front end), `endless-loop` and `barrier-in-divergent-region` (regions), `waits-for-another` (waits).
"""

from __future__ import annotations

from coarsen.analysis.control_flow import ControlFlow
from coarsen.errors import RefusalError, SourcePosition
from coarsen.ir.graph.instruction import Instruction, is_inline_assembly
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.builtins import builtin_of
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import AddressSpace

_UNSUPPORTED_OPCODES = frozenset(
    {"indirectbr", "invoke", "callbr", "resume", "landingpad", "va_arg", "switch", "cleanupret", "catchswitch"}
)


def check_legality(kernel: Kernel, control_flow: ControlFlow) -> None:
    """Raise RefusalError, with the source position, for a kernel that can't be coarsened along any dimension."""
    for instruction in kernel.instructions():
        _check_instruction(kernel, instruction)
    _check_reducible(kernel, control_flow.irreducible_cycle)
    _check_endless(kernel, control_flow)


def _check_endless(kernel: Kernel, flow: ControlFlow) -> None:
    """Refuse a loop that nothing leaves; the position is that of the branch back, which is its statement's."""
    for loop in flow.loops:
        if all(loop.blocks.issuperset(flow.successors(block)) for block in loop.blocks):
            latches = (block for block in flow.predecessors(loop.header) if block in loop.blocks)
            positions = (kernel.block[latch].terminator.position for latch in latches)
            position = next(filter(None, positions), None) or _first_position(kernel, loop.blocks)
            raise RefusalError("endless-loop", "a loop of this kernel never ends", position)


def _check_reducible(kernel: Kernel, cycle: frozenset[str]) -> None:
    """Refuse a cycle of several entries; the position is that of the first line in it."""
    if cycle:
        position = _first_position(kernel, cycle)
        raise RefusalError("irreducible", "a loop of this kernel is entered at more than one place", position)


def _first_position(kernel: Kernel, blocks: frozenset[str]) -> SourcePosition | None:
    """Return the position of the first line in some blocks."""
    inside = (each.position for block in kernel.blocks if block.name in blocks for each in block.instructions)
    return min(filter(None, inside), key=lambda place: (place.file, place.line, place.column), default=None)


def _check_instruction(kernel: Kernel, instruction: Instruction) -> None:
    if instruction.opcode in _UNSUPPORTED_OPCODES:
        reason = f"the instruction '{instruction.opcode}' is not supported"
        raise RefusalError("unsupported-instruction", reason, instruction.position)
    if instruction.opcode == "call":
        _check_call(instruction)
    for operand in instruction.operands:
        if operand.kind is ValueKind.GLOBAL:
            _check_variable(kernel, operand.text, instruction)


def _check_call(instruction: Instruction) -> None:
    if not instruction.callee:
        if is_inline_assembly(instruction):
            raise RefusalError("inline-assembly", "inline assembly can't be replicated", instruction.position)
        raise RefusalError("indirect-call", "a call through a pointer can't be analysed", instruction.position)
    refused = builtin_of(instruction).refused
    if refused is None:
        return
    what = f"is {refused.description}" if refused.description else "is not known to be safe to replicate"
    raise RefusalError(refused.code, f"{builtin_name(instruction.callee)} {what}", instruction.position)


def _check_variable(kernel: Kernel, name: str, instruction: Instruction) -> None:
    variable = kernel.globals.get(name)
    if variable is None or variable.is_constant:
        return
    if variable.address_space not in (AddressSpace.LOCAL, AddressSpace.CONSTANT):
        reason = f"the program-scope variable '{name}' is shared with the kernels of another program"
        raise RefusalError("program-scope-variable", reason, instruction.position)
