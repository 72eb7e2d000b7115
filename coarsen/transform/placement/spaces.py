"""The addresses in an array, and the builtins that read it, in another address space.

getelementptr float, ptr addrspace(1) %w, …     getelementptr float, ptr addrspace(2) %w, …
_Z6vload4mPU3AS1Kf(i64, ptr addrspace(1))       _Z6vload4mPU3AS2Kf(i64, ptr addrspace(2))
llvm.memcpy.p0.p1.i64                           llvm.memcpy.p0.p2.i64
"""

from __future__ import annotations

from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Callee
from coarsen.ir.types import AddressSpace, PointerType
from coarsen.transform.layouts.elements import is_copy
from coarsen.transform.placement.uses import ArrayUses


def move_uses(module: Module, uses: ArrayUses, space: int) -> None:
    """Let the uses of an array in global memory be those of one in another space.

    Args:
        module: that the caller owns; the array itself has its new type, or its uses another operand.
        uses: of the array.
        space: the new one.
    """
    for address in uses.addresses:
        address.type = PointerType(space)
    for read, _ in uses.reads:
        if read.opcode is Opcode.CALL:
            _call_for_space(module, read, space)


def _call_for_space(module: Module, call: Instruction, space: int) -> None:
    callee = call.operands[-1]
    assert isinstance(callee, Callee)
    old = AddressSpace.GLOBAL
    if is_copy(call):
        name = _last(callee.name, f".p{old}.", f".p{space}.")
    else:
        name = _last(callee.name, f"PU3AS{old}", f"PU3AS{space}")
    declaration = callee.declaration.replace(callee.name, name)
    declaration = _last(declaration, f"ptr addrspace({old})", f"ptr addrspace({space})")
    call.set_operand(len(call.operands) - 1, module.callee(name, declaration))


def _last(text: str, old: str, new: str) -> str:
    """A text with the last of its parts that say `old` changed."""
    before, found, after = text.rpartition(old)
    assert found, text
    return f"{before}{new}{after}"
