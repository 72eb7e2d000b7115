"""Checks for LLVM IR that is no OpenCL, which no later stage expects: refused here, in one line.

Clang writes none of this for SPIR; it comes with LLVM IR that was written by hand, or for another target.

It is looked for in LLVM's text. The graph can't hold what is refused, so its parser would stop in words of its
own; llvmlite tells opcodes and types, but neither metadata nor what attributes and initialisers say; clang's dumps
know OpenCL C alone, and this comes as LLVM IR. Text that is no LLVM IR at all is refused here, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import llvmlite.binding as llvm

from coarsen.errors import InternalError, InvalidInputError, RefusalError
from coarsen.ir.modules import assembly_module, reason
from coarsen.ir.opencl.queries import Query

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")
_POINTER = re.compile(r"p(?:\d+)?:(?P<bits>\d+)")
_ALIGNMENT = re.compile(r"(?P<kind>[ivf])(?P<bits>\d+):(?P<alignment>\d+)")

_ADDRESS_SPACE = re.compile(r"\baddrspace\((?P<number>\d+)\)")
_LAST_ADDRESS_SPACE = 4  # generic
_NO_SUCH_TYPE = re.compile(r"<vscale x")
_NO_SUCH_INSTRUCTION = re.compile(
    r"^  (?:%\S+ = )?(?P<opcode>invoke|callbr|indirectbr|resume|landingpad|catch\w+|cleanup\w+) ", re.MULTILINE
)
_ALLOCA_OF_SEVERAL = re.compile(r"^  %\S+ = alloca [^\n]*, i\d+ (?!1\b)(?:%[-\w.$]+|\d+)(?:,|$)", re.MULTILINE)
_LOCAL_VARIABLE = re.compile(
    r"^@(?P<name>\S+) = [^\n]*\baddrspace\(3\) (?:externally_initialized )?(?:global|constant) (?P<rest>[^\n]*)$",
    re.MULTILINE,
)
_WITHOUT_VALUE = re.compile(r" (?:undef|poison)(?:,|$)")
_REQUIRED_SIZE = re.compile(r"!reqd_work_group_size !(?P<node>\d+)")
_THREE_SIZES = re.compile(r"i32 [1-9]\d*, i32 [1-9]\d*, i32 [1-9]\d*\Z")
_QUERY = re.compile(
    r"^declare (?P<before>[^\n]*?)(?P<result>\S+) @_Z\d+"
    rf"(?P<name>{'|'.join(query.value for query in Query)})[jv]\((?P<arguments>[^\n]*?)\)",
    re.MULTILINE,
)


def readable_name(name: str) -> str:
    r"""Return a name that LLVM prints between quotes, `k\C3\A4`, as it was written: `kä`."""
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), name)
    try:
        return plain.encode("latin-1").decode()
    except UnicodeError:
        return name


def check_name(name: str) -> None:
    """Raise InvalidInputError for a kernel's name that OpenCL C can't spell."""
    if not _IDENTIFIER.match(name):
        raise InvalidInputError(
            f"the kernel's name '{name}' can't be written as OpenCL C: "
            "rename it, with letters from a to z, digits and underscores"
        )


def check_layout(layout: str, triple: str) -> None:
    """Raise InvalidInputError for a data layout in which memory is laid out otherwise than OpenCL lays it out.

    Args:
        layout: LLVM's text; an empty one is taken for SPIR's.
        triple: the target's; pointers of `spir` have 32 bits.
    """
    found = next(_differences(layout, 32 if triple.startswith("spir-") else 64), None) if layout else None
    if found is not None:
        raise InvalidInputError(f"the LLVM IR's data layout is not SPIR's: '{found}' in '{layout}'")


def _differences(layout: str, pointer_bits: int) -> Iterator[str]:
    for entry in layout.split("-"):
        pointer, alignment = _POINTER.match(entry), _ALIGNMENT.match(entry)
        if pointer:
            differs = int(pointer["bits"]) != pointer_bits
        elif alignment:
            natural = _natural_alignment(alignment["kind"], int(alignment["bits"]))
            differs = natural not in (None, int(alignment["alignment"]))
        else:
            differs = entry == "E" or (entry[:1] in ("A", "P") and entry[1:] != "0")
        if differs:
            yield entry


def _natural_alignment(kind: str, bits: int) -> int | None:
    """Return the alignment of a type of OpenCL's, in bits; None for other types."""
    if kind == "v":
        return 1 << (bits - 1).bit_length()
    return bits if bits in (8, 16, 32, 64) else None


def check_kernel(text: str, kernel: str) -> None:
    """Check a module in normal form around one kernel.

    Args:
        text: as LLVM prints the module.
        kernel: the kernel's name.

    Raises:
        InvalidInputError: a required work-group size or a declared builtin is not as OpenCL has it.
        RefusalError: something in the kernel has no counterpart in OpenCL.
    """
    code, _, metadata = text.partition("\n!")
    _check_required_size(code, f"\n!{metadata}", kernel)
    _check_queries(code)
    for match in _ADDRESS_SPACE.finditer(code):
        if int(match["number"]) > _LAST_ADDRESS_SPACE:
            raise RefusalError("unsupported-type", f"OpenCL has no address space {match['number']}")
    if _NO_SUCH_TYPE.search(code):
        raise RefusalError("unsupported-type", "OpenCL has no vectors of a length that is not known")
    if unknown := _NO_SUCH_INSTRUCTION.search(code):
        raise RefusalError("unsupported-instruction", f"the instruction '{unknown['opcode']}' is not supported")
    if "blockaddress(" in code:
        raise RefusalError("unsupported-instruction", "addresses of blocks are not supported")
    if _ALLOCA_OF_SEVERAL.search(code):
        reason = "private memory whose size is an operand of 'alloca' is not supported"
        raise RefusalError("unsupported-instruction", reason)
    if re.search(rf"^define [^\n]*@{re.escape(kernel)}\([^\n]*\b(?:inalloca|preallocated)\(", code, re.MULTILINE):
        raise RefusalError("unsupported-type", "OpenCL has no arguments in the caller's memory")
    for match in _LOCAL_VARIABLE.finditer(code):
        if not _WITHOUT_VALUE.search(match["rest"]):
            reason = f"the local variable '{match['name']}' has a value at the start, or is defined elsewhere"
            raise RefusalError("program-scope-variable", reason)


def _check_required_size(code: str, metadata: str, kernel: str) -> None:
    definition = re.search(rf"^define [^\n]*@{re.escape(kernel)}\([^\n]*$", code, re.MULTILINE)
    required = _REQUIRED_SIZE.search(definition[0]) if definition else None
    if required is None:
        return
    node = re.search(rf"^!{required['node']} = (?:distinct )?!\{{([^\n]*)\}}$", metadata, re.MULTILINE)
    if node is None or not _THREE_SIZES.match(node[1]):
        raise InvalidInputError("the kernel's reqd_work_group_size is not three numbers of type i32 from 1")


def _check_queries(code: str) -> None:
    size = "i32" if 'target triple = "spir-' in code else "i64"
    for match in _QUERY.finditer(code):
        name = match["name"]
        query = Query(name)
        argument = "i32" if query.has_dimension else ""
        result = "i32" if query is Query.DIMENSION_COUNT else size
        if match["result"] != result or match["arguments"].partition(" ")[0] != argument:
            raise InvalidInputError(f"{name} is not declared as OpenCL declares it: '{result} ({argument})'")


# LLVM IR text to modules of llvmlite's, with errors that say whose fault it is.

_ARCHITECTURES = frozenset({"spir64", "spir", "spirv64", ""})


@contextmanager
def parsed(assembly: str, *, written_by_us: bool = False) -> Iterator[Any]:
    """Parse and verify LLVM IR text; invalid text is the user's fault, or ours for what a transform wrote."""
    with ExitStack() as stack:
        try:
            module = stack.enter_context(assembly_module(assembly))
        except RuntimeError as error:
            if written_by_us:
                raise InternalError(f"the transformed kernel is not valid LLVM IR: {reason(error)}") from error
            major = llvm.llvm_version_info[0]
            raise InvalidInputError(f"not LLVM IR that LLVM {major} reads: {reason(error)}") from None
        yield module


def check_target(triple: str) -> None:
    """Raise InvalidInputError for the triple of another target than SPIR; none at all is taken for SPIR's."""
    if triple.partition("-")[0] not in _ARCHITECTURES:
        raise InvalidInputError(f"the LLVM IR is for '{triple}'; it must be for spir64 (clang's -target spir64)")
