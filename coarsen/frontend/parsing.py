"""LLVM IR text to modules of llvmlite's, with errors that say whose fault it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import llvmlite.binding as llvm

from coarsen.errors import InternalError, InvalidInputError
from coarsen.ir.modules import assembly_module, reason

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
