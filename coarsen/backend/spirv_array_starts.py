"""Addresses of variables in a form in which LLVM's SPIR-V back end gives them their type.

    before   call <4 x i32> @_Z6vload4mPU3AS3Kj(i64 %i, ptr addrspace(3) @k.tile)
    after    %start = getelementptr i8, ptr addrspace(3) @k.tile, i64 0
             call <4 x i32> @_Z6vload4mPU3AS3Kj(i64 %i, ptr addrspace(3) %start)

A variable's name, passed to a builtin, it writes as a pointer to the whole array: devices find no such `vload4`.
"""

from __future__ import annotations

from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.opcode import Opcode
from coarsen.ir.graph.operands import Callee, Variable
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType

_BYTE = IntegerType(8)


def with_computed_starts(module: Module, kernel: Kernel) -> Module:
    """Return a module in which a kernel passes no variables to functions, but addresses of their starts.

    Args:
        module: that has the kernel, its own or one that the caller owns; to be read afterwards.
        kernel: whose it is.
    """
    if not any(map(_slots, module.function(kernel.name).instructions())):
        return module
    own = kernel.editable_graph() if module is kernel.graph else module
    function = own.function(kernel.name)
    for call in [each for each in function.instructions() if _slots(each)]:
        build = Builder.replacing(call)
        for slot in _slots(call):
            start = build.element(_BYTE, call.operands[slot], [number(own.size_type, 0)], "start")
            call.set_operand(slot, start)
    make_names_unique(function, own.structures)
    return own


def _slots(instruction: Instruction) -> list[int]:
    """The operands of a call that are variables."""
    if instruction.opcode is not Opcode.CALL or not isinstance(instruction.operands[-1], Callee):
        return []
    return [slot for slot, operand in enumerate(instruction.operands) if isinstance(operand, Variable)]
