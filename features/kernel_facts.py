"""Static facts of a kernel that do not depend on its launch, as named numbers: what its code is like.

    features of table 3, version 2     divergence along any dimension, regions, parallelism, size
    mechanism features, dimension 0    patterns of access, vector types, operations by bytes
    mechanism features, each dimension divergent guards and loops, work that is done for each replica
    control flow                       loops and how deeply they are nested

They are of the uncoarsened kernel, and of its text alone: nothing is known of sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from coarsen.analysis.control_flow import ControlFlow
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.features.extract import feature_table
from coarsen.features.feature_vector import PUBLISHED_FEATURE_SET_VERSION
from coarsen.features.mechanism import mechanism_table
from coarsen.ir.kernel import Kernel
from coarsen.variant.coarsening import DIMENSIONS

_COUNTED = (
    *("basic_blocks", "branches", "divergent_instructions", "divergent_region_instructions"),
    *("divergent_region_ratio", "divergent_regions", "instructions", "instruction_level_parallelism"),
    *("memory_level_parallelism", "loads", "stores", "uniform_loads"),
)
_OF_ACCESSES = (
    *("coalesced_share", "broadcast_share", "strided_share", "indirect_share", "stride_magnitude"),
    *("mean_vector_width", "bytes_per_operation", "math_share", "integer_share", "instruction_parallelism"),
    *("memory_parallelism", "private_access_share", "local_access_share", "log_code_size"),
)
_DIVERGENCE = (
    *("divergent_guard_share", "divergent_loop_share", "guarded_loop_share"),
    *("divergent_work_share", "uniform_load_share"),
)

DIVERGENCE_FACTS = tuple(name.replace("_", " ") for name in _DIVERGENCE)
"""The facts of the divergence along each dimension; `along` gives a fact's name."""


def along(fact: str, dimension: int) -> str:
    """Return the name of a fact of the divergence along a dimension."""
    return f"{fact} along {dimension}"


KERNEL_FACTS = (
    *(name.replace("_", " ") for name in (*_COUNTED, *_OF_ACCESSES)),
    *("loops", "depth of loops"),
    *(along(fact, dimension) for dimension in range(DIMENSIONS) for fact in DIVERGENCE_FACTS),
)
"""The names of all facts."""


def kernel_facts(kernel: Kernel) -> Mapping[str, float]:
    """Return the facts of a kernel as it was lowered, by name; 0 where the kernel can't be coarsened so."""
    return MappingProxyType(dict.fromkeys(KERNEL_FACTS, 0.0) | dict(_facts(kernel)))


def _facts(kernel: Kernel) -> Iterator[tuple[str, float]]:
    counted = _counted(kernel)
    yield from ((name.replace("_", " "), _compressed(counted[name])) for name in _COUNTED if name in counted)
    for dimension in range(DIMENSIONS):
        found = _mechanisms(kernel, dimension)
        names = ((name, name.replace("_", " ")) for name in _OF_ACCESSES if dimension == 0)
        of_divergence = zip(_DIVERGENCE, (along(fact, dimension) for fact in DIVERGENCE_FACTS), strict=True)
        yield from ((text, found[name]) for name, text in (*names, *of_divergence) if name in found)
    flow = ControlFlow(kernel)
    yield "loops", float(len(flow.loops))
    yield "depth of loops", float(max((len(flow.loops_around(loop.header)) for loop in flow.loops), default=0))


def _counted(kernel: Kernel) -> Mapping[str, float]:
    try:
        table = feature_table(kernel, 0, (1,), PUBLISHED_FEATURE_SET_VERSION)
    except RefusalError:
        return {}
    return table.at(1).by_name()


def _mechanisms(kernel: Kernel, dimension: int) -> Mapping[str, float]:
    try:
        return mechanism_table(kernel, dimension, None, (1,)).at(1).by_name()
    # The latter where the kernel has no such dimension.
    except (RefusalError, InvalidInputError):
        return {}


def _compressed(value: float) -> float:
    """Ratios up to 1 as they are, counts as logarithms."""
    return math.log2(1.0 + value) if value > 1.0 else value
