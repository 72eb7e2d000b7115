"""What the rewriting of ids and replication leave over is cleaned up: what is computed twice, what is dead.

Dead code and branches on constants are left to LLVM's passes: the normal form, which follows, runs them. The value
numbering that llvmlite offers is NewGVN, which LLVM does not use by default and of which wrong code is known, and
InstCombine turns the source's address arithmetic into byte offsets: hence `shared_values.py`.
"""

from __future__ import annotations

from coarsen.transform.body_text import cut_body
from coarsen.transform.memory_order import MemoryOrder
from coarsen.transform.shared_values import SharedValues


def clean_up(assembly: str, kernel: str) -> str:
    """The text of a coarsened kernel's module, cleaned up.

    Args:
        assembly: LLVM IR text of a module where every value has a name, as the replicator or LLVM writes it.
        kernel: the kernel's name.

    Returns:
        LLVM IR text to bring into normal form again.
    """
    body = cut_body(assembly, kernel)
    blocks = SharedValues(body, MemoryOrder(assembly)).blocks()
    return body.with_blocks(blocks)
