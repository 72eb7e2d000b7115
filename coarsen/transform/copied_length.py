"""How long a coarsened kernel becomes, found before anything is copied."""

from __future__ import annotations

import math
from collections.abc import Iterator

from coarsen.errors import RefusalError
from coarsen.ir.kernel import Instruction, Kernel
from coarsen.limits import MOST_COPIED_INSTRUCTIONS
from coarsen.transform.coarsen import Analysed, analyse
from coarsen.variant.coarsening import Configuration


def check_copied_length(kernel: Kernel, chosen: Configuration) -> None:
    """Raise RefusalError, `too-many-copies`, for a kernel that would be too long when it is coarsened.

    Args:
        kernel: uncoarsened, in normal form.
        chosen: how it is coarsened.
    """
    most = kernel.length * math.prod(coarsening.factor for coarsening in chosen)
    if most <= MOST_COPIED_INSTRUCTIONS:
        return  # even if nothing is the same for all: the usual case, which costs no analysis
    length = copied_length(kernel, chosen)
    if length > MOST_COPIED_INSTRUCTIONS:
        reason = f"the coarsened kernel would have {length:,} instructions, more than {MOST_COPIED_INSTRUCTIONS:,}"
        raise RefusalError("too-many-copies", reason)


def copied_length(kernel: Kernel, chosen: Configuration) -> int:
    """Return the instructions of a coarsened kernel: each as often as replicas differ in it, along all dimensions.

    Tests for agreement and the slow paths after them are not counted.
    """
    copies = {id(instruction): 1 for instruction in kernel.instructions()}
    for coarsening in chosen:
        analysed = analyse(kernel, coarsening.dimension, coarsening.level)
        for instruction in _copied(analysed):
            copies[id(instruction)] *= coarsening.factor
    return sum(copies.values())


def _copied(analysed: Analysed) -> Iterator[Instruction]:
    """The instructions that each replica has for itself."""
    in_regions = frozenset[str]().union(*(region.blocks for region in analysed.regions))
    for block in analysed.kernel.blocks:
        for instruction in block.instructions:
            if block.name in in_regions or analysed.divergence.is_divergent(instruction):
                yield instruction
