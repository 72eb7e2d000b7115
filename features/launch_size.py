"""The local size of the launch that features are computed for, and the dimensions that a kernel uses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coarsen.errors import InvalidInputError
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import IDS_OF_GROUPS, IDS_OF_ITEMS, queried_dimension, query_of
from coarsen.variant.coarsening import DIMENSIONS

# What launches of kernels that use so many dimensions commonly look like.
_USUAL_SIZES = {1: (256, 1, 1), 2: (16, 16, 1), 3: (8, 8, 4)}

LocalSize = tuple[int, int, int]


def used_dimensions(kernel: Kernel) -> int:
    """Return how many dimensions of the NDRange a kernel tells its work-items apart by: 1, 2 or 3."""
    return 1 + max(_queried(kernel), default=0)


def launch_size(kernel: Kernel, local_size: Sequence[int] | None, dimension: int = 0) -> LocalSize:
    """Return the three local sizes of a launch before coarsening.

    Args:
        kernel: the kernel that is launched.
        local_size: one to three sizes, or None where they are not known: then those that the kernel requires,
            else 256, 16×16 or 8×8×4 by the dimensions that it uses.
        dimension: the dimension of the NDRange that is coarsened.

    Raises:
        InvalidInputError: not one to three sizes of at least 1, or none along the dimension.
    """
    if local_size is None:
        return kernel.required_work_group_size or _USUAL_SIZES[used_dimensions(kernel)]
    sizes = tuple(local_size)
    named = "×".join(map(str, sizes)) or "nothing"
    if not 1 <= len(sizes) <= DIMENSIONS or min(sizes) < 1:
        raise InvalidInputError(f"a local size is one to three numbers of at least 1, not {named}")
    if len(sizes) <= dimension:
        raise InvalidInputError(f"a launch with the local size {named} has no dimension {dimension}")
    padded = (*sizes, 1, 1)
    return padded[0], padded[1], padded[2]


def _queried(kernel: Kernel) -> Iterator[int]:
    """The dimensions along which ids are asked for; one that is known only at run time is the last."""
    for instruction in kernel.instructions():
        if query_of(instruction) in IDS_OF_ITEMS | IDS_OF_GROUPS:
            queried = queried_dimension(instruction)
            yield DIMENSIONS - 1 if queried is None or not 0 <= queried < DIMENSIONS else queried
