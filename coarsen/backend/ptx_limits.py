"""What LLVM's NVPTX back end takes; a fatal error in it would end the process, so the rest is refused before."""

from __future__ import annotations

import re

from coarsen.errors import RefusalError
from coarsen.ir.details import is_inline_assembly
from coarsen.ir.kernel import Instruction, Kernel
from coarsen.ir.types import TargetType

# Found by experiment with LLVM 22.1: these need a library that NVPTX hasn't got.
_INTRINSICS_WITHOUT_FORM = re.compile(
    r"llvm\.(?:a?(?:sin|cos|tan)h?|atan2|sincos|sincospi|exp|exp2|exp10|log|log2|log10|pow|powi|modf|l?lrint|l?lround)\."
)
_FORBIDDEN_OPCODES = frozenset({"indirectbr", "invoke", "callbr", "resume", "landingpad", "va_arg"})
_EVENT = 'target("spirv.Event")'
_APPROXIMATE_FLAGS = frozenset({"afn", "fast"})


def check_limits(kernel: Kernel) -> None:
    """Raise RefusalError, with the source position, for the first thing that has no counterpart in PTX."""
    for argument in kernel.arguments:
        if isinstance(argument.type, TargetType):
            _refuse(f"the argument '{argument.name}' of type {argument.type_name or argument.type}", None)
    for instruction in kernel.instructions():
        _check_instruction(instruction)


def relaxed_functions(kernel: Kernel) -> frozenset[str]:
    """Return the functions, by their mangled names, of which every call allows an approximation."""
    calls = [instruction for instruction in kernel.instructions() if instruction.callee]
    precise = {call.callee for call in calls if _APPROXIMATE_FLAGS.isdisjoint(call.flags)}
    return frozenset(call.callee for call in calls) - precise


def _check_instruction(instruction: Instruction) -> None:
    if instruction.opcode in _FORBIDDEN_OPCODES:
        _refuse(f"the instruction {instruction.opcode}", instruction)
    if isinstance(instruction.type, TargetType) and str(instruction.type) != _EVENT:
        _refuse(f"the type {instruction.type}", instruction)
    if instruction.opcode != "call":
        return
    if not instruction.callee:
        what = "inline assembly" if is_inline_assembly(instruction) else "a call through a pointer"
        _refuse(what, instruction)
    if _INTRINSICS_WITHOUT_FORM.match(instruction.callee):
        _refuse(f"the intrinsic {instruction.callee}", instruction)


def _refuse(what: str, instruction: Instruction | None) -> None:
    position = instruction.position if instruction else None
    raise RefusalError("ptx-unsupported", f"{what} has no counterpart in PTX", position)
