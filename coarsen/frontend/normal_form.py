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

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from coarsen.base.limits import MOST_INSTRUCTIONS
from coarsen.errors import RefusalError, SourcePosition
from coarsen.frontend.by_value import module_with_own_structures
from coarsen.frontend.input_checks import check_kernel, check_layout, check_name, parsed
from coarsen.frontend.source_names import name_values
from coarsen.frontend.translation_unit import IMPLEMENTATION_PREFIX, WIDE, TranslationUnit
from coarsen.ir.graph.locations import Located
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.module_parser import parse_signature
from coarsen.ir.graph.unread import names_in
from coarsen.ir.metadata import Metadata
from coarsen.ir.modules import run_passes

# Without native integer widths in the data layout LLVM's passes believe that no integer is legal.
_NATIVE_INTEGERS = "-n8:16:32:64"
_SPIR_LAYOUT = (
    "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"  # as clang has it
)

_SIMPLER = ("sroa", "sccp", "simplify_cfg", "aggressive_dce", "simplify_cfg")
_SHAPED = ("lower_switch", "unify_function_exit_nodes", "loop_simplify", "lcssa")
_TIDY = ("instruction_namer", "global_dead_code_eliminate", "strip_dead_prototype")


def normal_form(unit: TranslationUnit, kernel: str) -> str:
    """Bring one kernel of a source into normal form.

    Args:
        unit: the source.
        kernel: one of its kernels' names.

    Returns:
        the module, printed by LLVM.

    Raises:
        InvalidInputError: the kernel is not as OpenCL has it.
        RefusalError: recursion, what OpenCL has no counterpart of, `too-long`.
    """
    check_name(kernel)
    part = unit.part(kernel)
    if inlined_length(part, kernel) > MOST_INSTRUCTIONS:
        reason = f"with its helpers inlined the kernel has more than {MOST_INSTRUCTIONS:,} instructions"
        raise RefusalError("too-long", reason)
    with module_with_own_structures(part, kernel) as module:
        check_layout(module.data_layout, module.triple)
        if _NATIVE_INTEGERS not in module.data_layout:
            module.data_layout = (module.data_layout or _SPIR_LAYOUT) + _NATIVE_INTEGERS
        _keep_only(module, kernel)
        run_passes(module, ["always_inliner", "global_dead_code_eliminate"])
        _refuse_recursion(module, part, kernel)
        normalise(module)
        if unit.has_wide_integers:
            _narrow(module)
        name_values(module, kernel)
        text = str(module)
    check_kernel(text, kernel)
    return text


@contextmanager
def renormalised(assembly: str) -> Iterator[Any]:
    """Parse, verify and clean up what a transform wrote; yields a module in normal form."""
    with parsed(assembly, written_by_us=True) as module:
        normalise(module)
        yield module


def normalised(module: Module) -> Module:
    """Return a module in normal form, verified, that the caller owns; origins go with it.

    Args:
        module: owned, with names that are unique (`ir/graph/names.py`).
    """
    located = Located(module)
    with renormalised(located.text()) as in_normal_form:
        found = str(in_normal_form)
    return located.parse(found)


def normalise(module: Any) -> None:  # noqa: ANN401
    """Run the passes of the normal form over a module, in place, and then the verifier."""
    run_passes(module, (*_SIMPLER, *_SHAPED, *_TIDY))
    module.verify()


def _narrow(module: Any) -> None:  # noqa: ANN401
    """Compute in 64 bits where the upper half of 128 makes no difference, and clean up after it."""
    run_passes(module, ["aggressive_instcombine"])
    if WIDE in str(module):
        run_passes(module, ["instruction_combine"])
    normalise(module)


def _keep_only(module: Any, kernel: str) -> None:  # noqa: ANN401
    for function in module.functions:
        if function.is_declaration or function.name == kernel:
            continue
        function.linkage = "internal"
        function.add_function_attribute("alwaysinline")
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"  # so that one that nothing uses goes


def _refuse_recursion(module: Any, part: Module, kernel: str) -> None:  # noqa: ANN401
    defined = [f.name for f in module.functions if not f.is_declaration and f.name != kernel]
    # What is enqueued on the device stays, since its address is taken; the enqueuing is refused later.
    left = [name for name in defined if "_block_invoke" not in name]
    if not left:
        return
    name = left[0].removeprefix(IMPLEMENTATION_PREFIX)
    if other := _other_name(part, left[0]):
        reason = f"'@{other}', another name of the function '{name}', is not supported: call '{name}' itself"
        raise RefusalError("unsupported-instruction", reason)
    what = "kernel" if name == kernel else "helper function"
    raise RefusalError("recursion", f"the {what} '{name}' calls itself", _place(part, left[0]))


def _other_name(part: Module, function: str) -> str | None:
    """Return the alias of a function; None if it has none."""
    aliases = (variable for variable in part.variables.values() if variable.is_alias)
    return next((alias.name for alias in aliases if function in names_in(alias.definition)), None)


def _place(part: Module, function: str) -> SourcePosition | None:
    """Return the position of a function's definition in the source, if the module says it."""
    if function not in part.unread:
        return None
    scope = parse_signature(part.unread[function]).attachment("dbg")
    return Metadata(part.metadata).position(scope.removeprefix("!")) if scope else None


# The length of a kernel with all that it calls inlined, found before that is done.
#
# Helpers that call the one before twice double the kernel with each: thirty short lines make 10⁹ instructions.


def inlined_length(module: Module, kernel: str) -> int:
    """Return how many instructions a kernel has with helpers inlined; a call back to a caller is one of them."""
    functions = module.unread
    lengths = dict.fromkeys((*functions, kernel), 0)
    entered = {kernel}
    path = [(kernel, iter(functions[kernel].called if kernel in functions else ()))]
    while path:
        name, callees = path[-1]
        callee = next((callee for callee in callees if callee in functions and callee not in entered), None)
        if callee is not None:
            entered.add(callee)
            path.append((callee, iter(functions[callee].called)))
            continue
        path.pop()
        if name in functions:
            inlined = sum(times * lengths.get(called, 0) for called, times in functions[name].called.items())
            lengths[name] = functions[name].length + inlined
    return lengths[kernel]
