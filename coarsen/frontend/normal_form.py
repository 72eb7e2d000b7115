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
from collections.abc import Iterable, Iterator
from typing import Any

import llvmlite.binding as llvm

from coarsen.errors import InternalError, InvalidInputError, RefusalError
from coarsen.frontend.source_names import name_values
from coarsen.frontend.twins import merge_twins

# Without native integer widths in the data layout LLVM's passes believe that no integer is legal.
_NATIVE_INTEGERS = "-n8:16:32:64"
_KERNEL_DEFINITION = re.compile(r'^define [^\n]*\bspir_kernel\b[^\n]*@"?([^"\s(]+)"?\(', re.MULTILINE)
_BLOCKING_ATTRIBUTES = re.compile(r"\b(?:noinline|optnone) ")


def normal_form(assembly: str, kernel: str | None = None) -> tuple[Any, str]:
    """Bring a module into normal form around one kernel.

    Args:
        assembly: LLVM IR text.
        kernel: the kernel's name; may be left out where there is just one.

    Returns:
        the `llvmlite.binding.ModuleRef` and the kernel's name.

    Raises:
        InvalidInputError: no kernel, several and none chosen, or no such kernel.
        RefusalError: recursion.
    """
    module = parse(merge_twins(_inlinable(assembly)))
    name = choose_kernel(kernel_names(assembly), kernel)
    if "n8:16:32:64" not in module.data_layout:
        module.data_layout += _NATIVE_INTEGERS
    _keep_only(module, name)
    _run(["always_inliner", "global_dead_code_eliminate"], module)
    _refuse_recursion(module, name)
    run_passes(module)
    return name_values(module, name), name


def renormalise(assembly: str) -> Any:  # noqa: ANN401
    """Parse, verify and clean up what a transform wrote; gives a module in normal form."""
    module = parse(assembly, written_by_us=True)
    run_passes(module)
    return module


def run_passes(module: Any) -> None:  # noqa: ANN401
    """The passes of the normal form, in place, and the verifier after them."""
    _run(["sroa", "sccp", "simplify_cfg", "aggressive_dce", "simplify_cfg"], module)
    _run(["lower_switch", "unify_function_exit_nodes", "loop_simplify", "lcssa"], module)
    _run(["instruction_namer", "strip_dead_prototype"], module)
    module.verify()


def parse(assembly: str, *, written_by_us: bool = False) -> Any:  # noqa: ANN401
    """Parse and verify LLVM IR text; a failure is the user's, or ours for what a transform wrote."""
    try:
        module = llvm.parse_assembly(assembly, llvm.create_context())
        module.verify()
    except RuntimeError as error:
        first_line = str(error).strip().splitlines()[0]
        if written_by_us:
            raise InternalError(f"the transformed kernel is not valid LLVM IR: {first_line}") from error
        raise InvalidInputError(f"not LLVM IR that LLVM {llvm.llvm_version_info[0]} reads: {first_line}") from None
    return module


def kernel_names(assembly: str) -> list[str]:
    """The kernels that a module defines, in their order."""
    return _KERNEL_DEFINITION.findall(assembly)


def choose_kernel(names: list[str], wanted: str | None) -> str:
    """The kernel that is meant. Raises InvalidInputError, naming the choices, where that isn't clear."""
    if not names:
        raise InvalidInputError("there is no kernel in the source")
    if wanted is None and len(names) > 1:
        raise InvalidInputError(f"there are several kernels, choose one with -k: {', '.join(names)}")
    if wanted is not None and wanted not in names:
        raise InvalidInputError(f"there is no kernel '{wanted}'; there is: {', '.join(names)}")
    return wanted or names[0]


def _inlinable(assembly: str) -> str:
    """Attributes that forbid inlining or optimising are requests, not meaning."""
    return "\n".join(
        _BLOCKING_ATTRIBUTES.sub("", line) if line.startswith("attributes #") else line
        for line in assembly.splitlines()
    )


def _keep_only(module: Any, kernel: str) -> None:  # noqa: ANN401
    for function in module.functions:
        if function.is_declaration or function.name == kernel:
            continue
        function.linkage = "internal"
        function.add_function_attribute("alwaysinline")


def _refuse_recursion(module: Any, kernel: str) -> None:  # noqa: ANN401
    left = [f.name for f in module.functions if not f.is_declaration and f.name != kernel]
    if left:
        raise RefusalError("recursion", f"the helper function '{left[0]}' calls itself")


def _run(passes: Iterable[str], module: Any) -> None:  # noqa: ANN401
    manager = llvm.create_new_module_pass_manager()
    for name in passes:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, _pass_builder())


def _pass_builder() -> Any:  # noqa: ANN401
    llvm.initialize_all_targets()
    machine = llvm.Target.from_triple("spirv64-unknown-unknown").create_target_machine()
    return llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())


def functions_of(module: Any) -> Iterator[Any]:  # noqa: ANN401
    """The functions that a module defines."""
    return (function for function in module.functions if not function.is_declaration)
