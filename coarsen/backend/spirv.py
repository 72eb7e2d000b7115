"""The SPIR-V writer, through LLVM's own SPIR-V back end.

    ir.Kernel ─▶ refusals ─▶ starts of arrays are computed ─▶ builtins that the back end lacks are defined
              ─▶ spirv64 module ─▶ words ─▶ checked

What the back end can't take makes it stop, so `spirv_limits.py` refuses it before. A builtin
that neither it nor `spirv_library.py` knows it writes as a function to be linked in: found in the words, refused.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from coarsen.backend.builtin_library import with_definitions
from coarsen.backend.llvm_module import kernel_module
from coarsen.backend.processes import output_of_script
from coarsen.backend.spirv_array_starts import with_computed_starts
from coarsen.backend.spirv_library import spirv_library
from coarsen.backend.spirv_limits import check_limits
from coarsen.backend.spirv_printf import without_variadic_calls
from coarsen.backend.spirv_widening import keep_widenings_apart
from coarsen.errors import InternalError, InvalidInputError, RefusalError
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Kernel
from coarsen.ir.modules import run_passes
from coarsen.ir.opencl.names import builtin_name

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
    return output_of_script(_SCRIPT, [triple], assembly)


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
