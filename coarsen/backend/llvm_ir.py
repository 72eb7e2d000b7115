"""The LLVM IR writer: a kernel's module as clang would have printed it for the SPIR target.

What only the normal form or an earlier stage needed is tidied away: native integer widths in the data layout,
unused declarations, metadata and attribute groups, the module flags of debug information that is gone.
"""

from __future__ import annotations

import re

from coarsen.backend.llvm_module import kernel_module
from coarsen.ir.kernel import Kernel

# Standard input, from which clang read the source, and LLVM's own word for text in memory.
_NO_FILE = re.compile(r'^source_filename = "(?:-|<string>)"\n', re.MULTILINE)


def write_llvm_ir(kernel: Kernel) -> str:
    """Return the module of a kernel as LLVM IR text, verified.

    Raises:
        InternalError: the kernel is not valid LLVM IR.
    """
    with kernel_module(kernel) as module:
        return _NO_FILE.sub("", str(module), count=1)
