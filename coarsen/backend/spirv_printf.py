"""Calls of `printf` in a form that LLVM's SPIR-V back end takes.

    before   call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @format, i32 %i, double %x)
    after    call i32 @_Z6printfPU3AS2Kcid(ptr addrspace(2) @format, i32 %i, double %x)

Of a variadic function the back end asks for parameters that the declaration hasn't got, and stops the process. So
there is one function for each list of argument types.
"""

from __future__ import annotations

from dataclasses import dataclass

from coarsen.ir.kernel import Instruction, Kernel, Value, ValueKind
from coarsen.ir.opencl.names import builtin_name
from coarsen.ir.printer import assemble
from coarsen.ir.types import FloatType, IntegerType, PointerType, Type, VectorType

_INTEGER_CODES = {8: "c", 16: "s", 32: "i", 64: "l"}
_FLOAT_CODES = {"half": "Dh", "float": "f", "double": "d"}


@dataclass(frozen=True, slots=True)
class _Call:
    """A call in its new form: the function's name, its result's type, and the arguments as type and text."""

    callee: str
    result: Type
    arguments: tuple[tuple[Type, str], ...]

    def text(self, name: str) -> str:
        arguments = ", ".join(f"{type_} {text}" for type_, text in self.arguments)
        assigned = f"%{name} = " if name else ""
        return f"{assigned}call spir_func {self.result} @{self.callee}({arguments})"

    def declaration(self) -> str:
        types = ", ".join(str(type_) for type_, _ in self.arguments)
        return f"declare spir_func {self.result} @{self.callee}({types})"


def text_without_variadic_calls(kernel: Kernel) -> str:
    """The module of a kernel as LLVM IR text, with its calls of `printf` in the form above."""
    blocks = ((block.name, map(_line, block.instructions)) for block in kernel.blocks)
    calls = filter(None, map(_adjusted, kernel.instructions()))
    declarations = {call.declaration() for call in calls if call.callee not in kernel.function_attributes}
    return assemble(kernel, blocks, sorted(declarations))


def _line(instruction: Instruction) -> str:
    call = _adjusted(instruction)
    return instruction.text if call is None else call.text(instruction.name)


def _adjusted(instruction: Instruction) -> _Call | None:
    if builtin_name(instruction.callee) != "printf":
        return None
    arguments = tuple((value.type, _spelled(value)) for value in instruction.arguments)
    callee = "_Z6printfPU3AS2Kc" + "".join(_code(type_) for type_, _ in arguments[1:])
    return _Call(callee, instruction.type, arguments)


def _spelled(value: Value) -> str:
    mark = {ValueKind.CONSTANT: "", ValueKind.GLOBAL: "@", ValueKind.FUNCTION: "@"}.get(value.kind, "%")
    return mark + value.text


def _code(type_: Type) -> str:
    """How the Itanium ABI writes a type in a function's name."""
    if isinstance(type_, IntegerType):
        return _INTEGER_CODES.get(type_.width, "i")
    if isinstance(type_, FloatType):
        return _FLOAT_CODES.get(type_.kind, "f")
    if isinstance(type_, VectorType):
        return f"Dv{type_.count}_{_code(type_.element)}"
    return f"PU3AS{type_.address_space}v" if isinstance(type_, PointerType) else "v"
