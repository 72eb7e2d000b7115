"""Calls of `printf` in a form that LLVM's SPIR-V back end takes.

    before   call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @format, i32 %i, double %x)
    after    call i32 @_Z6printfPU3AS2Kcid(ptr addrspace(2) @format, i32 %i, double %x)

Of a variadic function the back end asks for parameters that the declaration hasn't got, and stops the process. So
there is one function for each list of argument types.
"""

from __future__ import annotations

from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Callee
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.types import FloatType, IntegerType, PointerType, Type, VectorType

_INTEGER_CODES = {8: "c", 16: "s", 32: "i", 64: "l"}
_FLOAT_CODES = {"half": "Dh", "float": "f", "double": "d"}


def without_variadic_calls(kernel: Kernel) -> Module:
    """Return the module of a kernel, to be read, with its calls of `printf` in the form above."""
    if not any(map(_prints, kernel.graph.function(kernel.name).instructions())):
        return kernel.graph
    module = kernel.editable_graph()
    calls = [i for i in module.function(kernel.name).instructions() if _prints(i)]
    new = {callee.name: callee for callee in map(_callee, calls)}
    module.declare(new[name] for name in sorted(new))
    for call in calls:
        _replace(call, module.callees[_callee(call).name])
    return module


def _prints(instruction: Instruction) -> bool:
    return builtin_name(instruction.callee) == "printf"


def _callee(call: Instruction) -> Callee:
    """The function for the types of a call's arguments."""
    types = [argument.type for argument in call.arguments]
    name = "_Z6printfPU3AS2Kc" + "".join(map(_code, types[1:]))
    return Callee(name, f"declare spir_func {call.type} @{name}({', '.join(map(str, types))})")


def _replace(call: Instruction, callee: Callee) -> None:
    new = Builder.replacing(call).call(callee, call.type, call.arguments, call.name)
    new.has_unique_name = True
    call.replace_all_uses(new)
    call.erase()


def _code(type_: Type) -> str:
    """Return how the Itanium ABI writes a type in a function's name."""
    if isinstance(type_, IntegerType):
        return _INTEGER_CODES.get(type_.width, "i")
    if isinstance(type_, FloatType):
        return _FLOAT_CODES.get(type_.kind, "f")
    if isinstance(type_, VectorType):
        return f"Dv{type_.count}_{_code(type_.element)}"
    return f"PU3AS{type_.address_space}v" if isinstance(type_, PointerType) else "v"
