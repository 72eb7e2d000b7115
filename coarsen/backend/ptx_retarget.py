"""From SPIR's conventions in LLVM IR to NVPTX's, in a module's text.

    spir_kernel, spir_func                     ptx_kernel, the C convention
    address space 1 (global)                   1
    address space 2 (constant)                 1, its loads marked as never changing
    address space 3 (local)                    3 (shared)
    address space 4 (generic), 0 (private)     0
    local float* tile   (an argument)          i64 tile.offset: bytes from the start of dynamic shared memory

Constant memory becomes global memory since a launch passes a plain buffer for a `constant` argument: PTX has no
way to say that a buffer lies in a constant bank. Local arguments become offsets since a launch reserves the
dynamic shared memory of all of them as one piece.
"""

from __future__ import annotations

import re

from coarsen.backend.llvm_module import with_argument
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import AddressSpace, PointerType

DYNAMIC_MEMORY = "dynamic_shared_memory"
_DYNAMIC_MEMORY_ALIGNMENT = 128  # the largest that an OpenCL type asks for
_CONVENTION = re.compile(r"\bspir_(kernel|func) ")
_CONSTANT_LOAD = re.compile(r"^(  %\S+ = load (?!volatile|atomic)[^\n]*ptr addrspace\(2\)[^\n]*)$", re.MULTILINE)
_SPACES = re.compile(r"ptr addrspace\(([24])\)|\baddrspace\(2\)")
_VOID_CAST = re.compile(r"addrspacecast (ptr(?: addrspace\(1\))?) (\S+) to \1(?=[\s,)]|$)", re.MULTILINE)
_VOID_CONSTANT_CAST = re.compile(r"addrspacecast \((ptr(?: addrspace\(1\))?) (@[\w.$]+) to \1\)")
_EVENT = 'target("spirv.Event")'


def local_arguments(kernel: Kernel) -> tuple[Argument, ...]:
    """Return the arguments that point to local memory whose size the launch decides."""
    return tuple(a for a in kernel.arguments if a.type == PointerType(AddressSpace.LOCAL))


def retargeted(text: str, kernel: Kernel) -> str:
    """Return the module's text in NVPTX's conventions; the triple and the data layout are left to the caller."""
    text = _with_local_offsets(text, kernel)
    text = _CONSTANT_LOAD.sub(r"\1, !invariant.load !{}", text)
    text = _CONVENTION.sub(lambda match: "ptx_kernel " if match[1] == "kernel" else "", text)
    text = _SPACES.sub(_space, text)
    text = _VOID_CONSTANT_CAST.sub(r"\2", text)
    return _VOID_CAST.sub(r"bitcast \1 \2 to \1", text).replace(_EVENT, "i64")


def _space(match: re.Match[str]) -> str:
    if match[1] == "4":
        return "ptr"
    return match.group().replace("addrspace(2)", "addrspace(1)")


def _with_local_offsets(text: str, kernel: Kernel) -> str:
    arguments = local_arguments(kernel)
    if not arguments:
        return text
    signature = next(
        line for line in text.splitlines() if line.startswith("define ") and f"@{kernel.name}(" in line
    )
    changed = signature
    addresses = ""
    for argument in arguments:
        changed = with_argument(changed, argument, f"i64 %{argument.name}.offset")
        memory = f"ptr addrspace(3) @{DYNAMIC_MEMORY}, i64 %{argument.name}.offset"
        addresses += f"  %{argument.name} = getelementptr i8, {memory}\n"
    entry = f"{kernel.blocks[0].name}:\n"
    text = text.replace(f"{signature}\n{entry}", f"{changed}\n{entry}{addresses}", 1)
    return _insert_variable(text)


def _insert_variable(text: str) -> str:
    """Declare the dynamic shared memory, before the first function."""
    variable = f"@{DYNAMIC_MEMORY} = external addrspace(3) global [0 x i8], align {_DYNAMIC_MEMORY_ALIGNMENT}\n\n"
    position = re.search(r"^(?:define|declare) ", text, re.MULTILINE)
    assert position is not None
    return text[: position.start()] + variable + text[position.start() :]
