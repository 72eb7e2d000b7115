"""What can't be coarsened faithfully, found before anything is written.

Codes are stable: `sub-group`, `collective`, `device-enqueue`, `pipe`, `indirect-call`, `inline-assembly`,
`irreducible`, `endless-loop`, `program-scope-variable`, `unsupported-instruction`, `unsupported-call`. Elsewhere:
`recursion` (front end), `endless-loop` and `barrier-in-divergent-region` (regions), `waits-for-another` (waits).
"""

from __future__ import annotations

from coarsen.analysis.barriers import idle_barriers
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.liveness import names_in
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.errors import RefusalError, SourcePosition
from coarsen.ir.graph.instruction import Instruction, is_inline_assembly
from coarsen.ir.graph.operands import ValueKind
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.opencl.builtins import Builtin, Role, builtin_of, is_barrier
from coarsen.ir.opencl.queries import ABOUT_GROUPS, DIMENSIONS, builtin_name, may_concern, query_of
from coarsen.ir.types import AddressSpace, PointerType

_UNSUPPORTED_OPCODES = frozenset(
    {"indirectbr", "invoke", "callbr", "resume", "landingpad", "va_arg", "switch", "cleanupret", "catchswitch"}
)


def check_legality(kernel: Kernel, control_flow: ControlFlow) -> None:
    """Raise RefusalError, with the source position, for a kernel that can't be coarsened along any dimension."""
    for instruction in kernel.instructions():
        _check_instruction(kernel, instruction)
    if cycle := control_flow.irreducible_cycle:
        position = _first_position(kernel, cycle)
        raise RefusalError("irreducible", "a loop of this kernel is entered at more than one place", position)
    _check_endless(kernel, control_flow)


def _check_endless(kernel: Kernel, flow: ControlFlow) -> None:
    """Refuse a loop that nothing leaves; the position is that of the branch back, which is its statement's."""
    for loop in flow.loops:
        if all(loop.blocks.issuperset(flow.successors(block)) for block in loop.blocks):
            latches = (block for block in flow.predecessors(loop.header) if block in loop.blocks)
            positions = (kernel.block[latch].terminator.position for latch in latches)
            position = next(filter(None, positions), None) or _first_position(kernel, loop.blocks)
            raise RefusalError("endless-loop", "a loop of this kernel never ends", position)


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


# Whether it matters to a kernel how the launch groups its work-items.
#
# Where it does not, a launch may choose any local size, and may hold more work-items than the kernel has work for.
# It matters when the kernel has local memory or a barrier that orders something (`barriers.py`), or asks for
# anything of its work-groups.
#
# A guard asks that of the dimensions along which it lets the launch grow (`needs_whole_groups`). Who gives the
# original kernel another local size needs more (`groups_matter`): that nothing in it can tell work-groups apart,
# in any dimension, and that nothing is promised to the work-items of one group alone, as by fences, and by atomics
# of the scope of a work-group.

# The scopes, as clang numbers them, that hold for all work-items of a launch: of the device, of all devices.
_WIDE_SCOPES = frozenset({"2", "3"})


def is_local_pointer(argument: Argument) -> bool:
    """Return True if the launch gives the argument local memory."""
    return isinstance(argument.type, PointerType) and argument.type.address_space == AddressSpace.LOCAL


def needs_whole_groups(kernel: Kernel, dimension: int) -> bool:
    """Return True if it matters how work-items along a dimension (0, 1 or 2) are grouped."""
    try:
        check_any_groups(kernel, dimension)
    except RefusalError:
        return True
    return False


def groups_matter(kernel: Kernel) -> bool:
    """Return True unless it surely makes no difference to a kernel in which work-groups its work-items are.

    A kernel that demands one local size (`reqd_work_group_size`) cares.
    """
    if kernel.required_work_group_size is not None:
        return True
    if any(needs_whole_groups(kernel, dimension) for dimension in range(DIMENSIONS)):
        return True
    effects = EffectsOfKernel.of_kernel(kernel)
    # Barriers that are left are idle, or they would matter along each dimension.
    calls = (i for i in kernel.instructions() if i.opcode == "call" and not is_barrier(i))
    return any(_may_know_its_group(call, effects.builtin(call)) for call in calls)


def _may_know_its_group(call: Instruction, called: Builtin) -> bool:
    """Return True for a call whose result or effect may depend on the work-item's group."""
    if called.role in (Role.REFUSED, Role.FENCE):
        return True
    if "memory_scope" in call.callee:
        scope = call.arguments[-1]
        return scope.kind is not ValueKind.CONSTANT or scope.text not in _WIDE_SCOPES
    if "group" in builtin_name(call.callee):
        return True
    return called.role is Role.PER_ITEM and not called.is_known


def check_any_groups(kernel: Kernel, dimension: int) -> None:
    """Raise RefusalError (`needs-whole-groups`) where it matters how work-items along a dimension are grouped."""
    for argument in kernel.arguments:
        if is_local_pointer(argument):
            raise _refusal(f"the argument '{argument.name}' is memory of a whole work-group")
    barriers = [instruction for instruction in kernel.instructions() if is_barrier(instruction)]
    for instruction in kernel.instructions():
        if not is_barrier(instruction):
            _check(kernel, instruction, dimension)
    ordering = set(barriers) - set(idle_barriers(kernel) if barriers else ())
    for barrier in barriers:
        if barrier in ordering:
            raise _refusal(f"{builtin_name(barrier.callee)} is about the work-group", barrier)


def _check(kernel: Kernel, instruction: Instruction, dimension: int) -> None:
    for name in (name for operand in instruction.operands for name in names_in(operand)):
        variable = kernel.globals.get(name.removeprefix("@"))
        if name.startswith("@") and variable is not None and variable.address_space == AddressSpace.LOCAL:
            raise _refusal("a variable is memory of a whole work-group", instruction)
    is_about_groups = query_of(instruction) in ABOUT_GROUPS and may_concern(instruction, dimension)
    if instruction.opcode == "call" and is_about_groups:
        raise _refusal(f"{builtin_name(instruction.callee)} is about the work-group", instruction)


def _refusal(what: str, instruction: Instruction | None = None) -> RefusalError:
    reason = f"{what}, so a size that does not divide can't be launched with work-groups of another size"
    return RefusalError("needs-whole-groups", reason, instruction.position if instruction else None)
