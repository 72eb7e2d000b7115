"""The normal form that every later stage relies on.

Before: a module as clang, or a user's `.ll` or `.bc`, has it. After, for the one kernel that was asked for:

- helpers are inlined and other kernels are gone; what is still called is a builtin or an LLVM intrinsic;
- scalars live in values, not in memory; switches are branches; there is one exit;
- loops have a preheader, one latch and exits of their own, and values leave them through phis (LCSSA);
- every value and block has a name without quotes that no structure type has, from the source where it is known.

InstCombine and GVN are left out on purpose: the first replaces the source's address arithmetic by byte offsets,
which neither reads well as OpenCL C nor keeps the features comparable; the second is not needed for either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import llvmlite.binding as llvm

from coarsen.errors import InternalError, InvalidInputError, RefusalError, SourcePosition
from coarsen.frontend.by_value import own_changed_structures
from coarsen.frontend.inlined_length import check_inlined_length
from coarsen.frontend.input_checks import check_kernel, check_layout, check_name, readable_name
from coarsen.frontend.source_names import name_values
from coarsen.frontend.twins import TWIN_PREFIX, merge_twins
from coarsen.ir.graph.locations import located_text
from coarsen.ir.graph.module import Module
from coarsen.ir.metadata import Metadata
from coarsen.ir.modules import assembly_module, reason, run_passes
from coarsen.near_names import did_you_mean

# Without native integer widths in the data layout LLVM's passes believe that no integer is legal.
_NATIVE_INTEGERS = "-n8:16:32:64"
_SPIR_LAYOUT = (
    "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"  # as clang has it
)
_ARCHITECTURES = frozenset({"spir64", "spir", "spirv64", ""})
_KERNEL_DEFINITION = re.compile(
    r'^define [^\n@"]*\bspir_kernel\b[^\n@]*@(?:"(?P<quoted>[^"\n]*)"|(?P<plain>[-\w$.]+))\(', re.MULTILINE
)
_QUOTED_STRUCTURE = re.compile(r'^(%"[^"\n]*") = type ', re.MULTILINE)
_NOT_PLAIN = re.compile(r"[^a-zA-Z0-9_.]+")
_ENQUEUED_BLOCK = re.compile(r"__.*_block_invoke(?:_\d+)?_kernel$")
_OTHER_NAME = re.compile(
    r"^@(?P<name>\S+) = (?:[\w()]+ )*(?:alias|ifunc) [^\n]*@(?P<meant>[-\w$.]+)$", re.MULTILINE
)
# The literals of C that end in ULL, of which usually the lower half alone counts.
_WIDE = " i128"
_BLOCKING_ATTRIBUTES = re.compile(r"\b(?:noinline|optnone) ")


def normal_form(assembly: str, kernel: str | None = None) -> tuple[str, str]:
    """Bring a module into normal form around one kernel.

    Args:
        assembly: LLVM IR text.
        kernel: the kernel's name; may be left out where there is just one.

    Returns:
        the module, printed by LLVM, and the kernel's name.

    Raises:
        InvalidInputError: no kernel, several and none chosen, no such kernel, or not as OpenCL has it.
        RefusalError: recursion, what OpenCL has no counterpart of, `too-long`.
    """
    name = choose_kernel(kernel_names(assembly), kernel)
    check_name(name)
    inlinable = merge_twins(_with_plain_structures(_inlinable(assembly)))
    check_inlined_length(inlinable, name)
    with parsed(own_changed_structures(inlinable)) as module:
        check_layout(module.data_layout, module.triple)
        if _NATIVE_INTEGERS not in module.data_layout:
            module.data_layout = (module.data_layout or _SPIR_LAYOUT) + _NATIVE_INTEGERS
        _keep_only(module, name)
        run_passes(module, ["always_inliner", "global_dead_code_eliminate"])
        _refuse_recursion(module, name)
        normalise(module)
        if _WIDE in assembly:
            _narrow(module)
        name_values(module, name)
        text = str(module)
    check_kernel(text, name)
    return text, name


@contextmanager
def renormalised(assembly: str) -> Iterator[Any]:
    """Parse, verify and clean up what a transform wrote; yields a module in normal form."""
    with parsed(assembly, written_by_us=True) as module:
        normalise(module)
        yield module


def normalised(module: Module) -> Module:
    """Return a module in normal form, verified, that the caller owns; origins go with it.

    Args:
        module: whose names are unique (`ir/graph/names.py`).
    """
    text, origins = located_text(module)
    with renormalised(text) as in_normal_form:
        return origins.parse(str(in_normal_form))


def normalise(module: Any) -> None:  # noqa: ANN401
    """The passes of the normal form, in place, and the verifier after them."""
    run_passes(module, ["sroa", "sccp", "simplify_cfg", "aggressive_dce", "simplify_cfg"])
    run_passes(module, ["lower_switch", "unify_function_exit_nodes", "loop_simplify", "lcssa"])
    run_passes(module, ["instruction_namer", "global_dead_code_eliminate", "strip_dead_prototype"])
    module.verify()


def _narrow(module: Any) -> None:  # noqa: ANN401
    """Compute in 64 bits where the upper half of 128 makes no difference, and clean up after it."""
    run_passes(module, ["aggressive_instcombine"])
    if _WIDE in str(module):
        run_passes(module, ["instruction_combine"])
    normalise(module)


@contextmanager
def parsed(assembly: str, *, written_by_us: bool = False) -> Iterator[Any]:
    """A verified module of LLVM IR text; invalid text is the user's fault, or ours for what a transform wrote."""
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


def kernel_names(assembly: str) -> list[str]:
    """The kernels that a module defines, in their order, without those that clang makes of enqueued blocks."""
    found = (match["plain"] or readable_name(match["quoted"]) for match in _KERNEL_DEFINITION.finditer(assembly))
    return [name for name in found if not _ENQUEUED_BLOCK.match(name)]


def choose_kernel(names: list[str], wanted: str | None) -> str:
    """The kernel that is meant. Raises InvalidInputError, naming the choices, where that isn't clear."""
    if not names:
        raise InvalidInputError("there is no kernel in the source")
    if wanted is None and len(names) > 1:
        listed = ", ".join(names)
        raise InvalidInputError(f"there are several kernels, choose one with -k (kernel= in Python): {listed}")
    if wanted is not None and wanted not in names:
        hint = did_you_mean(wanted, names)
        raise InvalidInputError(f"there is no kernel '{wanted}'{hint}; there is: {', '.join(names)}")
    return wanted or names[0]


def _inlinable(assembly: str) -> str:
    """Attributes that forbid inlining or optimising are requests, not meaning."""
    return "".join(
        f"{_BLOCKING_ATTRIBUTES.sub('', line) if line.startswith('attributes #') else line}\n"
        for line in assembly.splitlines()
    )


def _with_plain_structures(assembly: str) -> str:
    """Structure types under names that need no quotes."""
    for quoted in _QUOTED_STRUCTURE.findall(assembly):
        plain = "%" + _NOT_PLAIN.sub("_", quoted[2:-1])
        while re.search(rf"{plain}(?![-\w$.])", assembly):
            plain += "_"
        assembly = assembly.replace(quoted, plain)
    return assembly


def _keep_only(module: Any, kernel: str) -> None:  # noqa: ANN401
    for function in module.functions:
        if function.is_declaration or function.name == kernel:
            continue
        function.linkage = "internal"
        function.add_function_attribute("alwaysinline")
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"  # so that one that nothing uses goes


def _refuse_recursion(module: Any, kernel: str) -> None:  # noqa: ANN401
    defined = [f.name for f in module.functions if not f.is_declaration and f.name != kernel]
    # What is enqueued on the device stays, since its address is taken; the enqueuing is refused later.
    left = [name for name in defined if "_block_invoke" not in name]
    if not left:
        return
    name = left[0].removeprefix(TWIN_PREFIX)
    if other := next((match for match in _OTHER_NAME.finditer(str(module)) if match["meant"] == left[0]), None):
        reason = (
            f"'@{other['name']}', another name of the function '{name}', is not supported: call '{name}' itself"
        )
        raise RefusalError("unsupported-instruction", reason)
    what = "kernel" if name == kernel else "helper function"
    raise RefusalError("recursion", f"the {what} '{name}' calls itself", _place(module, left[0]))


def _place(module: Any, function: str) -> SourcePosition | None:  # noqa: ANN401
    """Where a function is defined in the source, if the module says."""
    text = str(module)
    definition = re.search(rf'^define [^\n]*@"?{re.escape(function)}"?\([^\n]*!dbg !(\d+)', text, re.MULTILINE)
    return Metadata.of_text(text).position(definition[1]) if definition else None
