"""Local memory where work-groups are merged: what each replica has for itself (`transform/local_copies.py`)."""

from __future__ import annotations

from coarsen.cost.planned_work.axes import Axes, Axis
from coarsen.ir.kernel import Kernel
from coarsen.ir.layout import size_of
from coarsen.variant.coarsening import Configuration, Level


def planned_local_bytes(kernel: Kernel, axes: Axes, chosen: Configuration, alone: int) -> int:
    """Return the local memory that a coarsened kernel declares for a group.

    Args:
        kernel: uncoarsened.
        axes: of the kernel.
        chosen: the coarsenings.
        alone: what the kernel declares uncoarsened, in bytes.
    """
    copies: dict[str, int] = {}
    for name, factor in _own_memory(axes, chosen):
        copies[name] = copies.get(name, 1) * factor
    more = (
        (count - 1) * size_of(kernel.globals[name[1:]].value_type)
        for name, count in copies.items()
        if name.startswith("@")
    )
    return alone + sum(more)


def own_local_arguments(axes: Axes, chosen: Configuration) -> int:
    """Return how many arguments in local memory each replica has for itself."""
    return len({name for name, _ in _own_memory(axes, chosen) if not name.startswith("@")})


def _own_memory(axes: Axes, chosen: Configuration) -> list[tuple[str, int]]:
    return [
        (name, coarsening.factor)
        for coarsening in chosen
        if coarsening.level is Level.GROUP
        for name in axes.analysed(Axis.of(coarsening)).divergence.own_local_memory
    ]
