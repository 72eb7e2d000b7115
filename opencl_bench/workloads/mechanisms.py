"""The mechanisms of generated kernels, by name: why coarsening helps or harms them."""

from __future__ import annotations

from coarsen.opencl_bench.workloads.kernel_source import measured_mechanism
from coarsen.opencl_bench.workloads.synthetic.axes import (
    DIVERGENT_LOOPS,
    GATHERS,
    LEVELS,
    Access,
    Axes,
    Guard,
    LocalMemory,
    Reuse,
)
from coarsen.opencl_bench.workloads.synthetic.benchmark import synthetic_axes

_SYNTHETIC = "synthetic-"


def mechanisms_of(kernel: str) -> frozenset[str]:
    """Return the names of a kernel's mechanisms; none for one that no generator made.

    Raises:
        InvalidInputError: the name is like those of a generator, and none of them.
    """
    if kernel.startswith(_SYNTHETIC):
        return frozenset(_of_axes(synthetic_axes(kernel)))
    mechanism = measured_mechanism(kernel)
    return frozenset() if mechanism is None else frozenset({mechanism})


def _of_axes(axes: Axes) -> list[str]:
    found = {
        "broadcast": axes.access is Access.BROADCAST,
        "gather": axes.access in GATHERS,
        "stencil": axes.access is Access.STENCIL,
        "transpose": axes.access is Access.TRANSPOSED,
        "rows": axes.access is Access.ROW_PER_ITEM,
        "tile": axes.local_memory is LocalMemory.TILE,
        "table": axes.local_memory is LocalMemory.TABLE,
        "levels": axes.local_memory in LEVELS,
        "guard": axes.guard is not Guard.NONE,
        "lengths": axes.loop in DIVERGENT_LOOPS,
        "reuse": axes.reuse is not Reuse.NONE,
    }
    return [name for name, is_there in found.items() if is_there]
