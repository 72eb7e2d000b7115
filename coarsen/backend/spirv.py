"""The SPIR-V writer, through LLVM's own SPIR-V back end.

    ir.Kernel ─▶ refusals ─▶ starts of arrays are computed ─▶ builtins that the back end lacks are defined
              ─▶ spirv64 module ─▶ words ─▶ checked

What the back end can't take makes it stop, so `spirv_limits.py` refuses it before, and what it would get wrong is
written in another form: addresses of variables, calls of `printf`, truncations that are widened again. A builtin
that neither it nor `spirv_limits.py` knows it writes as a function to be linked in: found in the words, refused.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from coarsen.backend.builtin_library import with_definitions
from coarsen.backend.llvm_module import kernel_module
from coarsen.backend.spirv_limits import check_limits, spirv_library
from coarsen.errors import InternalError, InvalidInputError, RefusalError
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Callee, Variable
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Kernel
from coarsen.ir.modules import run_passes
from coarsen.ir.opencl.queries import builtin_name
from coarsen.ir.processes import output_of_script
from coarsen.ir.types import FloatType, IntegerType, PointerType, Type, VectorType

DEFAULT_VERSION = "1.2"
VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6")
_SCRIPT = Path(__file__).with_name("spirv_process.py")

_CLEAN_UP = ("always_inliner", "global_dead_code_eliminate", "strip_dead_prototype")

# From the SPIR-V specification, section 2.3 (physical layout) and chapter 3 (binary form).
_MAGIC = 0x07230203
_HEADER_WORDS = 5
_OP_FUNCTION = 54
_OP_DECORATE = 71
_LINKAGE_ATTRIBUTES = 41
_IMPORT = 1
_TYPE_DECLARATIONS = range(19, 40)
# OpIAdd, OpISub, OpIMul, OpUDiv, OpSDiv, OpUMod, OpSRem, OpSMod; OpBitwiseOr, OpBitwiseXor, OpBitwiseAnd.
_INTEGER_ARITHMETIC = frozenset({128, 130, 132, 134, 135, 137, 138, 139, 197, 198, 199})


def write_spirv(kernel: Kernel, version: str = DEFAULT_VERSION) -> bytes:
    """Write a kernel as a SPIR-V module: physical 64-bit addressing, OpenCL memory model, little-endian words.

    Args:
        kernel: the kernel, in normal form.
        version: the SPIR-V version that its header carries, one of `VERSIONS`.

    Raises:
        RefusalError: the kernel uses what LLVM's SPIR-V back end has no form for.
        InvalidInputError: there is no such version.
    """
    if version not in VERSIONS:
        raise InvalidInputError(f"there is no SPIR-V version '{version}'; there is: {', '.join(VERSIONS)}")
    check_limits(kernel)
    bits = kernel.graph.size_type.width
    triple = f"spirv{bits}v{version}-unknown-unknown"
    prepared = with_computed_starts(without_variadic_calls(kernel), kernel)
    text = with_definitions(module_text(prepared), spirv_library, kernel.structures)
    with kernel_module(kernel, text) as module:
        run_passes(module, _CLEAN_UP)
        assembly = keep_widenings_apart(str(module))
    try:
        code = emit_in_process(assembly, triple)
    except ValueError as error:
        raise RefusalError("spirv-unsupported", f"LLVM's SPIR-V back end gave up: {error}") from None
    _check(kernel, code)
    return code


def emit_in_process(assembly: str, triple: str) -> bytes:
    """Return the SPIR-V words of a module.

    Args:
        assembly: LLVM IR text.
        triple: the target, `spirv64v1.2-unknown-unknown` for one.

    Raises:
        ValueError: with the back end's last words, if it gave up.
    """
    return output_of_script(_SCRIPT, [triple], assembly.encode())


def _check(kernel: Kernel, code: bytes) -> None:
    words = struct.unpack(f"<{len(code) // 4}I", code)
    if words[0] != _MAGIC:
        raise InternalError("LLVM's SPIR-V back end wrote something that is not SPIR-V")
    if not _operands_agree(words):
        raise RefusalError("spirv-unsupported", "LLVM's SPIR-V back end mixed up the types of operands")
    for name in _imported(words):
        position = next((i.position for i in kernel.instructions() if i.callee == name), None)
        reason = f"LLVM's SPIR-V back end has no form for the function {builtin_name(name)}"
        raise RefusalError("spirv-unsupported", reason, position)


def _imported(words: tuple[int, ...]) -> Iterator[str]:
    """The names of functions that the module leaves to a linker."""
    instructions = list(_instructions(words))
    functions = {operands[1] for opcode, operands in instructions if opcode == _OP_FUNCTION}
    for opcode, operands in instructions:
        is_linkage = opcode == _OP_DECORATE and operands[1] == _LINKAGE_ATTRIBUTES
        if is_linkage and operands[0] in functions and operands[-1] == _IMPORT:
            name = operands[2:-1]
            yield struct.pack(f"<{len(name)}I", *name).partition(b"\0")[0].decode()


def _operands_agree(words: tuple[int, ...]) -> bool:
    """Return True if the operands of integer arithmetic have the result's type, as the specification demands.

    An instruction with a result that has a type begins with that type and the result.
    """
    instructions = list(_instructions(words))
    types = {operands[0] for opcode, operands in instructions if opcode in _TYPE_DECLARATIONS}
    type_of = {
        operands[1]: operands[0] for _, operands in instructions if len(operands) > 1 and operands[0] in types
    }
    return all(
        type_of.get(value, operands[0]) == operands[0]
        for opcode, operands in instructions
        if opcode in _INTEGER_ARITHMETIC
        for value in operands[2:]
    )


def _instructions(words: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each instruction's opcode and operands; a first word holds the opcode and the number of words."""
    position = _HEADER_WORDS
    while position < len(words):
        opcode, count = words[position] & 0xFFFF, words[position] >> 16
        yield opcode, words[position + 1 : position + count]
        position += count


# Keeps LLVM's SPIR-V back end from joining a truncation and the widening after it.
#
# It makes one `and` of the two, with the mask in the wide type and the value in the type before the truncation,
# which no device takes: `OpBitwiseAnd %uint %ulong_value %uint_255`. A `freeze` between them, which is no
# operation in SPIR-V, keeps them apart.
#
#     before                               after
#     %b = trunc i64 %a to i8              %b = trunc i64 %a to i8
#     %c = zext i8 %b to i32               %b.frozen = freeze i8 %b
#                                          %c = zext i8 %b.frozen to i32

_TRUNCATION = re.compile(r"^  (%[-a-zA-Z$._0-9]+) = trunc ", re.MULTILINE)
_WIDENING = re.compile(
    r"^  (?P<start>%(?P<name>[-a-zA-Z$._0-9]+) = zext (?:nneg )?)(?P<type>[^%]+?) "
    r"(?P<value>%[-a-zA-Z$._0-9]+)(?P<end> to .*)$"
)


def keep_widenings_apart(assembly: str) -> str:
    """Return a module's text with a `freeze` before each widening of a truncated value."""
    truncated = set(_TRUNCATION.findall(assembly))
    return "\n".join(line for old in assembly.split("\n") for line in _rewritten(old, truncated))


def _rewritten(line: str, truncated: set[str]) -> Iterator[str]:
    match = _WIDENING.match(line)
    if match is None or match["value"] not in truncated:
        yield line
        return
    frozen = f"%{match['name']}.frozen"
    yield f"  {frozen} = freeze {match['type']} {match['value']}"
    yield f"  {match['start']}{match['type']} {frozen}{match['end']}"


# Addresses of variables in a form in which LLVM's SPIR-V back end gives them their type.
#
#     before   call <4 x i32> @_Z6vload4mPU3AS3Kj(i64 %i, ptr addrspace(3) @k.tile)
#     after    %start = getelementptr i8, ptr addrspace(3) @k.tile, i64 0
#              call <4 x i32> @_Z6vload4mPU3AS3Kj(i64 %i, ptr addrspace(3) %start)
#
# A variable's name, passed to a builtin, it writes as a pointer to the whole array: devices find no such `vload4`.

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


# Calls of `printf` in a form that LLVM's SPIR-V back end takes.
#
#     before   call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @format, i32 %i, double %x)
#     after    call i32 @_Z6printfPU3AS2Kcid(ptr addrspace(2) @format, i32 %i, double %x)
#
# Of a variadic function the back end asks for parameters that the declaration hasn't got, and stops the process.
# So there is one function for each list of argument types.

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
