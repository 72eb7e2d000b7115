"""All uses of an argument's array that is only read, and what must be apart from it since the kernel may write it.

    %a = getelementptr float, ptr addrspace(1) %w, i64 %k      an address
    %v = load float, ptr addrspace(1) %a                       a read
    vload4, the source of a memcpy                             reads

Anything else is refused: what writes, and what hands an address on, so that not all uses would be known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coarsen.analysis.distinct_arguments import only_synchronises
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots
from coarsen.errors import RefusalError
from coarsen.ir.graph.details import Access, Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Argument, Named, Operand
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


def check_alignment(array: str, uses: ArrayUses, element_bytes: int) -> None:
    """Refuse reads that take a buffer's start to be a multiple of more than a local array's is."""
    for read, _ in uses.reads:
        if isinstance(read.detail, Access) and read.detail.alignment > element_bytes:
            reason = f"a read of {array} needs more alignment than its elements have"
            raise RefusalError("place-pointer-escapes", reason, read.position)


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
        reason = f"{array} is written here; only an array that the kernel only reads can be copied or placed"
        return RefusalError("place-not-read-only", reason, user.position)
    reason = f"an address in {array} is used by {how}: only reads of it can be rewritten"
    return RefusalError("place-pointer-escapes", reason, user.position)


def _name(user: Instruction) -> str:
    return builtin_name(user.callee) if user.opcode is Opcode.CALL else ""


# What a kernel may write: so what must be apart from an array that is to be read as unchanging.
#
#     kernel void f(global float *out, global const float *w)     out[i] = w[k]     w must be apart from out
#
# A kernel that may write through a pointer that is not derived from an argument or a variable (`PointerRoots`) is
# refused.
#
# A pointer that is `restrict` needs no condition: what is written through it, or through another one than it, is
# not accessed otherwise, which the source promises (C11, 6.7.3.1).

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


def _written(module: Module, function: Function, array: str) -> Iterator[Named]:
    """Yield the roots of what a function writes, but for its own, local and constant memory."""
    effects, roots = EffectsOfKernel.of_module(module), PointerRoots()
    for instruction in function.instructions():
        if only_synchronises(instruction, effects):
            continue  # Other work-items write through this kernel's arguments too.
        touched = effects.of(instruction)
        written = roots.of_all(pointer for pointer in touched.writes if not _is_elsewhere(pointer))
        if touched.writes_anything or written is None:
            raise _unknown(instruction, array)
        yield from (root for root in written if not _is_elsewhere(root))


def _is_elsewhere(pointer: Operand) -> bool:
    """Return True for a pointer to memory that no buffer lies in."""
    # Private is what a kernel itself reserves; a pointer of that space may have been cast from another one.
    is_cast = isinstance(pointer, Instruction) and pointer.opcode is Opcode.ADDRSPACECAST
    type_ = pointer.type
    return isinstance(type_, PointerType) and type_.address_space in _ELSEWHERE and not is_cast


def _unknown(instruction: Instruction, array: str) -> RefusalError:
    reason = f"it isn't known what is written here: it may be {array}"
    return RefusalError("place-may-change", reason, instruction.position)
