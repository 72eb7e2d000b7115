"""The work-group size that a kernel demands, divided along the coarsened dimension.

    before: attributes((reqd_work_group_size(64, 1, 1)))     after (factor 4): reqd_work_group_size(16, 1, 1)

A `work_group_size_hint` is dropped: it is a hint for the uncoarsened kernel.
"""

from __future__ import annotations

import re

from coarsen.errors import InvalidInputError
from coarsen.ir.kernel import Kernel
from coarsen.variant.coarsening import Coarsening

_HINT = re.compile(r" !work_group_size_hint !\d+")
_REQUIRED = re.compile(r"!reqd_work_group_size !\d+")
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)


def divide_required_size(kernel: Kernel, coarsening: Coarsening) -> tuple[str, str]:
    """The `define` line and the metadata node to append (empty if none) of the coarsened kernel.

    Raises:
        InvalidInputError: the demanded size does not divide by the factor, or the stride not into what remains.
    """
    signature = _HINT.sub("", kernel.signature)
    if kernel.required_work_group_size is None:
        return signature, ""
    sizes = list(kernel.required_work_group_size)
    size = sizes[coarsening.dimension]
    if size % coarsening.factor:
        raise InvalidInputError(
            f"the kernel demands a local size of {size} in dimension {coarsening.dimension}, "
            f"which factor {coarsening.factor} does not divide; "
            f"{_way_out(kernel.required_work_group_size, coarsening)}"
        )
    sizes[coarsening.dimension] = size // coarsening.factor
    if sizes[coarsening.dimension] % coarsening.stride:
        raise InvalidInputError(
            f"stride {coarsening.stride} does not divide the coarsened local size {sizes[coarsening.dimension]}"
        )
    number = 1 + max((int(found) for found in _NODE.findall(kernel.after)), default=-1)
    node = f"!{number} = !{{{', '.join(f'i32 {size}' for size in sizes)}}}\n"
    return _REQUIRED.sub(f"!reqd_work_group_size !{number}", signature), node


def _way_out(sizes: tuple[int, int, int], coarsening: Coarsening) -> str:
    """What can be done instead: another dimension, or merging whole work-groups, which keeps the local size."""
    fitting = [dimension for dimension, size in enumerate(sizes) if size % coarsening.factor == 0]
    dimensions = [f"it divides the {sizes[dimension]} of --dim {dimension}" for dimension in fitting]
    return "; ".join([*dimensions, "--level group merges whole work-groups, of any size"])
