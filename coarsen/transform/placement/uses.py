"""All uses of an argument's array that is only read, and what must be apart from it since the kernel may write it.

    %a = getelementptr float, ptr addrspace(1) %w, i64 %k      an address
    %v = load float, ptr addrspace(1) %a                       a read
    vload4, the source of a memcpy                             reads

Anything else is refused: what writes, and what hands an address on, so that not all uses would be known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.errors import RefusalError
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Named, Operand, Variable
from coarsen.ir.opencl.builtins import is_atomic_update
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.types import AddressSpace, PointerType
from coarsen.transform.layouts.elements import is_copy, is_fill, is_vector_access

_SOURCE = 1
NEVER_CHANGES = "invariant.load"
"""The kind of metadata that says of a load that nothing changes what it reads."""


@dataclass(frozen=True)
class ArrayUses:
    """The uses of an array.

    Attributes:
        addresses: computed from its start, each after those from which it is computed.
        reads: instructions that read, with the slot of the address.
    """

    addresses: tuple[Instruction, ...]
    reads: tuple[tuple[Instruction, int], ...]


def uses_of(argument: Argument) -> ArrayUses:
    """Return the uses of an argument's array.

    Raises:
        RefusalError: `place-not-read-only`, `place-pointer-escapes`.
    """
    addresses: list[Instruction] = []
    reads: list[tuple[Instruction, int]] = []
    waiting: list[Named] = [argument]
    while waiting:
        for use in waiting.pop().uses:
            user = use.user
            assert isinstance(user, Instruction)
            if user.opcode is Opcode.GETELEMENTPTR and use.slot == 0 and isinstance(user.type, PointerType):
                addresses.append(user)
                waiting.append(user)
            elif _reads(user, use.slot):
                reads.append((user, use.slot))
            else:
                raise _refusal(argument.name, user, use.slot)
    return ArrayUses(tuple(addresses), tuple(reads))


def allow_changes(read: Instruction) -> None:
    """Take back that nothing changes what a load reads: it reads a copy then, which is written once."""
    read.attachments = tuple(each for each in read.attachments if each[0] != NEVER_CHANGES)


def _reads(user: Instruction, slot: int) -> bool:
    if user.is_volatile or user.is_atomic:
        return False
    if user.opcode is Opcode.LOAD:
        return True
    return (is_vector_access(user) and _name(user).startswith("vload")) or (is_copy(user) and slot == _SOURCE)


def _refusal(array: str, user: Instruction, slot: int) -> RefusalError:
    how = _name(user) or f"'{user.opcode}'"
    if user.is_volatile:
        return RefusalError("place-not-read-only", f"{array} is volatile: it may change meanwhile", user.position)
    writes = (
        (user.opcode is Opcode.STORE and slot == 1)
        or user.is_atomic
        or is_atomic_update(user.callee)
        or is_vector_access(user)
        or ((is_copy(user) or is_fill(user)) and slot == 0)
    )
    if writes:
        reason = f"{array} is written here; --place needs a read-only array"
        return RefusalError("place-not-read-only", reason, user.position)
    reason = f"an address in {array} is used by {how}: only reads of it can be rewritten"
    return RefusalError("place-pointer-escapes", reason, user.position)


def _name(user: Instruction) -> str:
    return builtin_name(user.callee) if user.opcode is Opcode.CALL else ""


# What a kernel may write: so what must be apart from an array that is to be read as unchanging.
#
#     kernel void f(global float *out, global const float *w)     out[i] = w[k]     w must be apart from out
#
# Pointers that are written through are followed to arguments and variables, through address arithmetic, choices
# and casts. A kernel that may write through any other pointer is refused.
#
# A pointer that is `restrict` needs no condition: what is written through it, or through another one than it, is
# not accessed otherwise, which the source promises (C11, 6.7.3.1).

_MERGING = frozenset({Opcode.PHI, Opcode.SELECT})
_DERIVING = frozenset({Opcode.GETELEMENTPTR, Opcode.BITCAST, Opcode.ADDRSPACECAST, Opcode.FREEZE})
_ELSEWHERE = frozenset({AddressSpace.PRIVATE, AddressSpace.LOCAL, AddressSpace.CONSTANT})


def apart_from(module: Module, function: Function, argument: Argument) -> tuple[str, ...]:
    """Return the arguments that must be passed other memory than an argument's array, in their order.

    Args:
        module: that has the function.
        function: the kernel.
        argument: whose array it only reads.

    Raises:
        RefusalError: `place-may-change`, it isn't known what the kernel writes.
    """
    written = set(_written(module, function, argument.name))
    if is_restrict(argument):
        return ()
    return tuple(each.name for each in function.arguments if each in written and not is_restrict(each))


def is_restrict(argument: Argument) -> bool:
    """Return True for an argument that is `restrict`."""
    return "noalias" in argument.attributes.split()


def _written(module: Module, function: Function, array: str) -> Iterator[Argument]:
    judge = EffectsOfKernel.of_module(module)
    for instruction in function.instructions():
        if instruction.opcode is Opcode.FENCE or (
            instruction.opcode is Opcode.CALL and judge.builtin(instruction).is_fence
        ):
            continue  # Other work-items write through this kernel's arguments too.
        effects = judge.of(instruction)
        if effects.writes_anything and not _waits(judge, instruction):
            raise _unknown(instruction, array)
        for pointer in effects.writes:
            yield from _roots(pointer, instruction, array)


def _waits(judge: EffectsOfKernel, instruction: Instruction) -> bool:
    """Return True for a wait for copies, each of which says by itself what it writes."""
    return instruction.opcode is Opcode.CALL and judge.builtin(instruction).is_copy


def _roots(pointer: Operand, writer: Instruction, array: str) -> Iterator[Argument]:
    """The arguments to whose memory a pointer may lead that is no private, local or constant one."""
    seen: set[int] = set()
    waiting = [pointer]
    while waiting:
        found = waiting.pop()
        if id(found) in seen or _is_elsewhere(found):
            continue
        seen.add(id(found))
        if isinstance(found, Argument):
            yield found
        elif isinstance(found, Instruction) and found.opcode in _DERIVING:
            waiting.append(found.operands[0])
        elif isinstance(found, Instruction) and found.opcode in _MERGING:
            waiting += [each for each in found.operands if isinstance(each.type, PointerType)]
        else:
            raise _unknown(writer, array)


def _is_elsewhere(pointer: Operand) -> bool:
    """Return True for a pointer to memory that no buffer lies in."""
    if isinstance(pointer, Variable) or (isinstance(pointer, Instruction) and pointer.opcode is Opcode.ALLOCA):
        return True
    # Private is what a kernel itself reserves; a pointer of that space may have been cast from another one.
    is_cast = isinstance(pointer, Instruction) and pointer.opcode is Opcode.ADDRSPACECAST
    type_ = pointer.type
    return isinstance(type_, PointerType) and type_.address_space in _ELSEWHERE and not is_cast


def _unknown(instruction: Instruction, array: str) -> RefusalError:
    reason = f"it isn't known what is written here: it may be {array}"
    return RefusalError("place-may-change", reason, instruction.position)
