"""What LLVM's passes remove from a coarsened kernel: what is dead."""

from __future__ import annotations

from typing import Any

from coarsen.ir.modules import run_passes


def clean_up(module: Any) -> None:  # noqa: ANN401
    """Clean up a coarsened kernel's module in place; it stays in normal form."""
    run_passes(module, ["aggressive_dce"])
    module.verify()
