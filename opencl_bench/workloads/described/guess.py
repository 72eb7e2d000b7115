"""Guess of a benchmark from a kernel's parameters and instructions; a person corrects the rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.opencl.queries import Query, queried_dimension, query_of
from coarsen.opencl_bench.workloads.benchmark import LocalSize
from coarsen.opencl_bench.workloads.described.element_types import ElementType
from coarsen.opencl_bench.workloads.described.image_use import image_kind, is_writable
from coarsen.opencl_bench.workloads.described.index_use import IndexUse, index_uses
from coarsen.opencl_bench.workloads.described.pointer_use import PointerUse
from coarsen.opencl_bench.workloads.driver_tools import round_up

_ASKED = frozenset({Query.GLOBAL_ID, Query.LOCAL_ID, Query.GROUP_ID}) | frozenset(
    {Query.GLOBAL_SIZE, Query.LOCAL_SIZE, Query.GROUP_COUNT}
)

# By number of dimensions; the default first.
_LOCAL_SIZES: tuple[tuple[LocalSize, ...], ...] = (
    ((64,), (32,), (128,), (256,)),
    ((16, 16), (8, 8), (32, 8), (64, 4), (4, 64)),
    ((8, 8, 4), (32, 4, 2), (16, 8, 2), (32, 2, 2)),
)
_EXTENTS = (
    {"test": 1024, "cpu": 1 << 20, "gpu": 1 << 24},
    {"test": 64, "cpu": 512, "gpu": 4096},
    {"test": 32, "cpu": 128, "gpu": 256},
)

# A type with fewer bytes may not hold a size.
_BYTES_OF_A_SIZE = 4


@dataclass(frozen=True, slots=True)
class LaunchGuess:
    """How to launch a kernel.

    Attributes:
        local_sizes: those to try, the default first.
        extents: `n`, the extent of every dimension, at each preset.
        sizes: how many of them the largest buffer's elements are the product of.
    """

    local_sizes: tuple[LocalSize, ...]
    extents: dict[str, int]
    sizes: int

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the NDRange."""
        return len(self.local_sizes[0])


def guess_launch(kernel: Kernel) -> LaunchGuess:
    """As many dimensions as the kernel asks for ids of, and the work-group size that it demands, if any.

    The extents are for buffers of as many sizes as the kernel's addresses have: a matrix is one of two.
    """
    required = kernel.required_work_group_size
    asked = (queried_dimension(each) for each in kernel.instructions() if query_of(each) in _ASKED)
    used = [0, *(dimension for dimension in asked if dimension is not None)]
    used += [dimension for dimension, extent in enumerate(required or ()) if extent > 1]
    dimensions = max(used) + 1
    local_sizes = (required[:dimensions],) if required else _LOCAL_SIZES[dimensions - 1]
    multiple = math.lcm(*(extent for local_size in local_sizes for extent in local_size))
    sizes = max((dimensions, *(use.sizes for use in index_uses(kernel).values())))
    extents = _EXTENTS[min(sizes, len(_EXTENTS)) - 1]
    return LaunchGuess(local_sizes, {name: round_up(n, multiple) for name, n in extents.items()}, sizes)


def guess_outputs(kernel: Kernel, buffers: list[Argument], uses: Mapping[str, PointerUse]) -> list[str]:
    """The buffers and images that the kernel writes; those that it may write, where none shows."""
    open_to_writing = [entry.name for entry in buffers if _is_open_to_writing(entry)]
    return [name for name in open_to_writing if uses[name].is_written] or open_to_writing


def _is_open_to_writing(parameter: Argument) -> bool:
    return is_writable(parameter) if image_kind(parameter) else "const" not in parameter.qualifiers


def guess_values(kind: ElementType, use: PointerUse, indices: IndexUse) -> str:
    """Return a distribution to fill a buffer with."""
    if use.is_written and not use.is_read:
        return "unwritten"
    if not kind.is_integer:
        return "uniform(-1, 1)"
    if kind.byte_count // kind.stored_components < _BYTES_OF_A_SIZE:
        return "integers(0, 100)"
    # Below n, since such numbers are often indices. The ends of ranges must not lie before their begins.
    return "sorted(0, n)" if indices.holds_ranges else "integers(0, n)"


def guess_scalar(kind: ElementType) -> list[str | float]:
    """A scalar's value, or a vector's components."""
    if not kind.is_integer:
        return [0.5] * kind.components
    whole: str | float = "n" if kind.byte_count // kind.stored_components >= _BYTES_OF_A_SIZE else 1
    return [whole] * kind.components
