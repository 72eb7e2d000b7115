"""What the writers that go through LLVM share: a kernel as a parsed module of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from coarsen.errors import InternalError
from coarsen.ir.graph.printer import module_text
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.modules import assembly_module, reason, run_passes

# The normal form adds the integer widths that a CPU or GPU computes with; SPIR's own layout names none.
_NATIVE_INTEGERS = re.compile(r"-n8:16:32:64\b")
_FLAGS = re.compile(r"^!llvm\.module\.flags = !\{(?P<nodes>[^}]*)\}\n", re.MULTILINE)
_DEBUG_FLAG = re.compile(r'^!(\d+) = !\{i32 \d+, !"(?:Dwarf Version|Debug Info Version)"', re.MULTILINE)


@contextmanager
def kernel_module(kernel: Kernel, text: str = "") -> Iterator[Any]:
    """Open a kernel as an `llvmlite.binding.ModuleRef`, in SPIR's data layout, without debug information.

    `text` is the kernel's module where a writer has changed it. The module is closed at the end of the `with`.

    Raises:
        InternalError: the text is not valid LLVM IR.
    """
    with own_module(_without_debug_flags(text or module_text(kernel.graph))) as module:
        module.name = kernel.name
        module.data_layout = _NATIVE_INTEGERS.sub("", module.data_layout)
        run_passes(module, ["global_dead_code_eliminate", "strip_dead_prototype"])
        yield module


@contextmanager
def own_module(text: str) -> Iterator[Any]:
    """Open a verified module of LLVM IR text that this package wrote. Raises InternalError if it is not valid."""
    with ExitStack() as stack:
        try:
            module = stack.enter_context(assembly_module(text))
        except RuntimeError as error:
            raise InternalError(f"a back end was given invalid LLVM IR: {reason(error)}") from error
        yield module


def with_argument(signature: str, argument: Argument, spelling: str) -> str:
    """Return a kernel's signature with one of its arguments spelled differently."""
    # Another argument's name may begin with this one's.
    whole = re.escape(" ".join(filter(None, (str(argument.type), argument.attributes, f"%{argument.name}"))))
    whole += r"(?![-\w$.])"
    return re.sub(whole, lambda _: spelling, signature, count=1)


def _without_debug_flags(text: str) -> str:
    """Without the module flags that say which debug information there would be."""
    debug_nodes = {f"!{number}" for number in _DEBUG_FLAG.findall(text)}

    def keep_others(flags: re.Match[str]) -> str:
        kept = [node for node in flags["nodes"].split(", ") if node not in debug_nodes]
        return f"!llvm.module.flags = !{{{', '.join(kept)}}}\n" if kept else ""

    return _FLAGS.sub(keep_others, text)


# The LLVM IR writer: a kernel's module as clang would have printed it for the SPIR target.
#
# What only the normal form or an earlier stage needed is tidied away: native integer widths in the data layout,
# unused declarations, metadata and attribute groups, the module flags of debug information that is gone.

# Standard input, from which clang read the source, and LLVM's own word for text in memory.
_NO_FILE = re.compile(r'^source_filename = "(?:-|<string>)"\n', re.MULTILINE)


def write_llvm_ir(kernel: Kernel) -> str:
    """Return the module of a kernel as LLVM IR text, verified.

    Raises:
        InternalError: the kernel is not valid LLVM IR.
    """
    with kernel_module(kernel) as module:
        return _NO_FILE.sub("", str(module), count=1)
