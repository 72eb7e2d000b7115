"""Reads and writes of a kernel's buffers, as far as its instructions show them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from coarsen.ir.kernel import Instruction, Kernel
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.types import PointerType

# What comes out of these still points into the buffer that went in.
_DERIVING = frozenset({"getelementptr", "phi", "select", "addrspacecast", "bitcast", "freeze"})
_READING = frozenset({"load", "call", "atomicrmw", "cmpxchg"})
_WRITING = frozenset({"store", "call", "atomicrmw", "cmpxchg"})
# By the operand that is the address; as any other, a pointer is put somewhere.
_ADDRESS = {"load": 0, "store": 1, "atomicrmw": 0, "cmpxchg": 0}
_COMPARING = frozenset({"icmp"})
# OpenCL's builtin functions, and LLVM's; the first two read, or write, alone.
_LOADING, _STORING = "vload", "vstore"
_BUILTIN = ("_Z", "llvm.")


@dataclass(frozen=True, slots=True)
class PointerUse:
    """The use of what a pointer parameter points to: if it is read, and if it is written.

    `is_certain`: whether all uses of the pointer are understood. If not, the memory may be read and written in
    other ways: through a number made of the address, or through a pointer that was stored.
    """

    is_read: bool
    is_written: bool
    is_certain: bool = True

    @property
    def may_be_read(self) -> bool:
        """Return False only if the kernel certainly does not read it."""
        return self.is_read or not self.is_certain

    @property
    def may_be_written(self) -> bool:
        """Return False only if the kernel certainly does not write it."""
        return self.is_written or not self.is_certain


def pointer_uses(kernel: Kernel) -> Mapping[str, PointerUse]:
    """The use of each parameter, by name. What calls are given counts as read and written."""
    return {argument.name: _use_of(kernel, argument.name) for argument in kernel.arguments}


def _use_of(kernel: Kernel, parameter: str) -> PointerUse:
    pointers = derived_pointers(kernel, parameter)
    is_read = is_written = False
    is_certain = True
    for instruction in kernel.instructions():
        used = [index for index, operand in enumerate(instruction.arguments) if operand.text in pointers]
        if not used or instruction.opcode in _DERIVING:
            continue
        function = builtin_name(instruction.callee)
        is_read |= instruction.opcode in _READING and not function.startswith(_STORING)
        is_written |= instruction.opcode in _WRITING and not function.startswith(_LOADING)
        is_certain &= _is_understood(instruction, used)
    return PointerUse(is_read, is_written, is_certain)


def _is_understood(instruction: Instruction, used: Collection[int]) -> bool:
    """Return True if an instruction that is given a pointer does no more than read or write there.

    Args:
        instruction: any that does not make another pointer of it.
        used: the places of the pointer among the operands.
    """
    if instruction.opcode == "call":
        return instruction.callee.startswith(_BUILTIN) and not isinstance(instruction.type, PointerType)
    if instruction.opcode in _COMPARING:
        return True
    return set(used) == {_ADDRESS.get(instruction.opcode)}


def derived_pointers(kernel: Kernel, parameter: str) -> set[str]:
    """Return the names of the pointers that are computed from a parameter, its own among them."""
    pointers = {parameter}
    while True:
        new = {
            instruction.name
            for instruction in kernel.instructions()
            if instruction.opcode in _DERIVING
            and instruction.name not in pointers
            and any(operand.is_local and operand.text in pointers for operand in instruction.operands)
        }
        if not new:
            return pointers
        pointers |= new
