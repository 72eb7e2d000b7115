"""Cleaning up after the rewriting of ids and replication: results that are computed twice, and dead code.

Dead code and branches on constants are left to LLVM's passes: the normal form, which follows, runs them. The value
numbering that llvmlite offers is NewGVN, which LLVM does not use by default and of which wrong code is known, and
InstCombine turns the source's address arithmetic into byte offsets: hence `value_numbering/shared_values.py`.
"""

from __future__ import annotations

from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.module import Module
from coarsen.transform.value_numbering.shared_values import share_values


def clean_up(module: Module, kernel: str, *, is_distinct: bool = False) -> None:
    """Clean up a coarsened kernel in place; LLVM has to bring it into normal form again.

    Args:
        module: owned by the caller, with names that are unique.
        kernel: the kernel's name.
        is_distinct: whether its arguments point to distinct memory (`distinct.py`).
    """
    share_values(module.function(kernel), EffectsOfKernel.of_module(module), is_distinct=is_distinct)
