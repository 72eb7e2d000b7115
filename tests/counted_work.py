"""The work of a kernel, coarsened or not, without any plan."""

from __future__ import annotations

from coarsen.cost.work_functions import WorkFunctions, counted_kernel
from coarsen.ir.kernel import Kernel
from coarsen.transform.coarsen import analyse


def work_functions(kernel: Kernel) -> WorkFunctions:
    """A kernel's work as functions of the sizes of its launch."""
    return counted_kernel(analyse(kernel, 0)).functions
