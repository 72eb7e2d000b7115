"""All uses of an argument's array that is only read: the addresses in it, and what reads it.

    %a = getelementptr float, ptr addrspace(1) %w, i64 %k      an address
    %v = load float, ptr addrspace(1) %a                       a read
    vload4, the source of a memcpy                             reads

Anything else is refused: what writes, and what hands an address on, so that not all uses would be known.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.errors import RefusalError
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Argument, Named
from coarsen.ir.opencl.builtins import is_atomic_update
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.types import PointerType
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
