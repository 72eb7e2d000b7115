"""The work-group size that a kernel demands, divided along the coarsened dimension.

    before: attributes((reqd_work_group_size(64, 1, 1)))     after (factor 4): reqd_work_group_size(16, 1, 1)

A `work_group_size_hint` is dropped: it is a hint for the uncoarsened kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from coarsen.errors import InvalidInputError
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.module import Module
from coarsen.variant.coarsening import Coarsening

REQUIRED = "reqd_work_group_size"
"""The kind of metadata that has the size which a kernel demands."""
_HINT = "work_group_size_hint"


def divide_required_size(module: Module, function: Function, coarsening: Coarsening) -> None:
    """Let a kernel demand the size of a coarsened work-group, and hint at none.

    Args:
        module: in which the kernel is.
        function: the kernel; owned by the caller.
        coarsening: of work-items.

    Raises:
        InvalidInputError: the demanded size does not divide by the factor, or the stride not into what remains.
    """
    function.detach(_HINT)
    demanded = function.attachment(REQUIRED)
    if demanded is not None:
        sizes = [int(operand.split()[-1]) for operand in module.node_operands(demanded)]
        divided = _divided(sizes, coarsening)
        function.attach(REQUIRED, module.add_node(f"i32 {size}" for size in divided))


def _divided(sizes: Sequence[int], coarsening: Coarsening) -> list[int]:
    size = sizes[coarsening.dimension]
    if size % coarsening.factor:
        raise InvalidInputError(
            f"the kernel demands a local size of {size} in dimension {coarsening.dimension}, "
            f"which factor {coarsening.factor} does not divide; "
            f"{_way_out(sizes, coarsening)}"
        )
    coarsened = size // coarsening.factor
    if coarsened % coarsening.stride:
        raise InvalidInputError(f"stride {coarsening.stride} does not divide the coarsened local size {coarsened}")
    return [coarsened if along == coarsening.dimension else size for along, size in enumerate(sizes)]


def _way_out(sizes: Sequence[int], coarsening: Coarsening) -> str:
    """Say what can be done instead: another dimension, or merging work-groups, which keeps the local size."""
    fitting = [dimension for dimension, size in enumerate(sizes) if size % coarsening.factor == 0]
    dimensions = [f"it divides the {sizes[dimension]} of --dim {dimension}" for dimension in fitting]
    return "; ".join([*dimensions, "--level group merges whole work-groups, of any size"])
