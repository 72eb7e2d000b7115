"""Static facts of a kernel that do not depend on its launch, as named numbers: what its code is like.

    features of table 3            divergence along any dimension, regions, parallelism, size
    accesses, operations           patterns of access along dimension 0, vector types, operations by bytes
    divergence, each dimension     guards and loops whose replicas part, work that is done for each replica
    control flow                   loops and how deeply they are nested

They are of the uncoarsened kernel, and of its text alone: nothing is known of sizes. But for the features, all is
weighted by how often each block runs (`coarsen/cost/block_profile.py`). Work is weighted instructions, operations
are arithmetic: floating-point, integer, mathematical builtins. Global memory includes constant memory. A share of
nothing (of the loads of a kernel that loads nothing) is 0.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from coarsen.analysis.algebra.affine import INDIRECT, Access, access_patterns
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.cost.block_profile import block_weights, region_plan
from coarsen.cost.instruction_kinds import Kind
from coarsen.cost.replication import BlockCopies, replicated_blocks
from coarsen.cost.work_counts import OUTER, padded
from coarsen.errors import InvalidInputError, RefusalError
from coarsen.features.extract import feature_table
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.queries import IDS_OF_GROUPS, IDS_OF_ITEMS, queried_dimension, query_of
from coarsen.ir.types import AddressSpace
from coarsen.transform.coarsen import analyse
from coarsen.transform.regions.plan import RegionPlan
from coarsen.variant.coarsening import DIMENSIONS

_COUNTED = (
    *("basic_blocks", "branches", "divergent_instructions", "divergent_region_instructions"),
    *("divergent_region_ratio", "divergent_regions", "instructions", "instruction_level_parallelism"),
    *("memory_level_parallelism", "loads", "stores", "uniform_loads"),
)
_OF_ACCESSES = (
    *("coalesced share", "broadcast share", "strided share", "indirect share", "stride magnitude"),
    *("mean vector width", "bytes per operation", "math share", "integer share", "instruction parallelism"),
    *("memory parallelism", "private access share", "local access share", "log code size"),
)

DIVERGENCE_FACTS = (
    *("divergent guard share", "divergent loop share", "guarded loop share"),
    *("divergent work share", "uniform load share"),
)
"""The facts of the divergence along each dimension; `along` gives a fact's name."""

_MAXIMUM_MAGNITUDE = 6
_REGIONS = ("guard", "divergent loop", "guarded loop")
_PATTERNS = ("coalesced", "broadcast", "strided", "indirect")

# Accesses, each with how often it runs.
_Weighted = list[tuple[Access, int]]


def along(fact: str, dimension: int) -> str:
    """Return the name of a fact of the divergence along a dimension."""
    return f"{fact} along {dimension}"


KERNEL_FACTS = (
    *(name.replace("_", " ") for name in _COUNTED),
    *_OF_ACCESSES,
    *("loops", "depth of loops"),
    *(along(fact, dimension) for dimension in range(DIMENSIONS) for fact in DIVERGENCE_FACTS),
)
"""The names of all facts."""


def kernel_facts(kernel: Kernel) -> Mapping[str, float]:
    """Return the facts of a kernel as it was lowered, by name; 0 where the kernel can't be coarsened so."""
    return MappingProxyType(dict.fromkeys(KERNEL_FACTS, 0.0) | dict(_facts(kernel)))


def _facts(kernel: Kernel) -> Iterator[tuple[str, float]]:
    with contextlib.suppress(RefusalError):
        counted = feature_table(kernel, 0, (1,)).at(1).by_name()
        # Ratios up to 1 as they are, counts as logarithms.
        for name in _COUNTED:
            value = counted[name]
            yield name.replace("_", " "), math.log2(1.0 + value) if value > 1.0 else value
    for dimension in range(DIMENSIONS):
        with contextlib.suppress(RefusalError):
            yield from _facts_along(kernel, dimension)
    flow = ControlFlow(kernel)
    yield "loops", float(len(flow.loops))
    yield "depth of loops", float(max((len(flow.loops_around(loop.header)) for loop in flow.loops), default=0))


def _facts_along(kernel: Kernel, dimension: int) -> Iterator[tuple[str, float]]:
    """The divergence along a dimension; with the first one, accesses and operations. Raises RefusalError."""
    planned = region_plan(analyse(kernel, dimension))
    forms = IndexForms(kernel, planned.divergence.control_flow, {dimension: planned.divergence})
    weights = block_weights(forms)
    work = _Work(planned, weights)
    if dimension == 0:
        yield from _of_accesses([(access, weights[access.block]) for access in access_patterns(forms)], work)
    shares = _divergence(work)
    yield from ((along(fact, dimension), share) for fact, share in zip(DIVERGENCE_FACTS, shares, strict=True))


class _Work:
    """The work of one work-item of an uncoarsened kernel.

    Attributes:
        counts: weighted, by kind.
        inside: those in divergent regions, by what makes these hard to merge.
        repeated: work that is done for each replica.

    Args:
        planned: the kernel's regions.
        weights: how often its blocks run.
    """

    def __init__(self, planned: RegionPlan, weights: Mapping[str, int]) -> None:
        self.blocks = tuple((weights[each.origin], each) for each in replicated_blocks(planned, 1))
        groups = _region_groups(planned)
        self.counts: Counter[Kind] = Counter()
        self.inside: Counter[str] = Counter()
        self.repeated = 0
        for times, block in self.blocks:
            for kind, count in block.kinds.items():
                self.counts[kind] += times * count
            inside = block.kinds[Kind.IN_DIVERGENT_REGION]
            self.repeated += times * (inside or block.kinds[Kind.DIVERGENT])
            if inside:
                self.inside[groups[block.origin]] += times * inside

    @property
    def total(self) -> int:
        """All instructions."""
        return self.counts[Kind.INSTRUCTION]

    @property
    def operations(self) -> int:
        """Arithmetic: floating-point, integer, mathematical builtins."""
        return self.counts[Kind.FLOATING_POINT] + self.counts[Kind.INTEGER] + self.counts[Kind.MATH]

    def mean(self, parallelism: Callable[[BlockCopies], float]) -> float:
        """Return the mean, weighted by work; blocks without such instructions (0) are left out."""
        found = [(parallelism(block), times * block.kinds[Kind.INSTRUCTION]) for times, block in self.blocks]
        total = sum(work for value, work in found if value > 0)
        return sum(value * work for value, work in found if value > 0) / total if total else 0.0


def _region_groups(planned: RegionPlan) -> Mapping[str, str]:
    """Return what makes the work of each block in a divergent region hard to merge: one of `_REGIONS`."""
    groups: dict[str, str] = {}
    for region in (each.region for each in planned.regions):
        divergence = planned.divergence
        loops = [loop for loop in divergence.control_flow.loops if loop.header in region.blocks]
        inner = "divergent loop" if any(map(divergence.is_left_apart, loops)) else "guarded loop"
        groups.update(dict.fromkeys(region.blocks, inner if loops else "guard"))
    return groups


def _divergence(work: _Work) -> tuple[float, ...]:
    """The shares of work in regions without loops, in loops that replicas leave apart, and together, and so on."""
    inside = (*(work.inside[kind] for kind in _REGIONS), work.repeated)
    uniform = _share(work.counts[Kind.UNIFORM_LOAD], work.counts[Kind.LOAD])
    return (*(_share(part, work.total) for part in inside), uniform)


def _of_accesses(accesses: _Weighted, work: _Work) -> Iterator[tuple[str, float]]:
    """Strides are those along dimension 0: the direction in which hardware coalesces and compilers vectorise."""
    outside = [item for item in accesses if item[0].address_space in OUTER]
    patterns: Counter[str] = Counter()
    for access, times in outside:
        patterns[_pattern(access)] += times
    yield from ((f"{pattern} share", _share(patterns[pattern], patterns.total())) for pattern in _PATTERNS)
    yield "stride magnitude", _mean(outside, _magnitude)
    yield "mean vector width", _mean(accesses, lambda access: access.width)
    moved = sum(times * access.access_bytes * (access.is_load + access.is_store) for access, times in outside)
    yield "bytes per operation", moved / max(1, work.operations)
    yield "math share", _share(work.counts[Kind.MATH], work.operations)
    yield "integer share", _share(work.counts[Kind.INTEGER], work.operations)
    yield "instruction parallelism", work.mean(lambda block: block.instruction_parallelism)
    yield "memory parallelism", work.mean(lambda block: block.memory_parallelism)
    yield "private access share", _mean(accesses, lambda access: access.address_space == AddressSpace.PRIVATE)
    yield "local access share", _mean(accesses, lambda access: access.address_space == AddressSpace.LOCAL)
    yield "log code size", math.log1p(sum(block.kinds[Kind.INSTRUCTION] for _, block in work.blocks))


def _mean(accesses: _Weighted, value: Callable[[Access], float]) -> float:
    """The mean of a value over accesses, each as often as it runs; 0 where there are none."""
    total = sum(times for _, times in accesses)
    return sum(times * value(access) for access, times in accesses) / max(1, total)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _pattern(access: Access) -> str:
    """Tell whether neighbours' accesses touch, are to one address, or lie apart by a stride, or irregularly."""
    stride = access.strides[0]
    if stride is INDIRECT:
        return "indirect"
    if stride == 0:
        return "broadcast"
    return "coalesced" if isinstance(stride, int) and abs(stride) <= access.access_bytes else "strided"


def _magnitude(access: Access) -> float:
    """|log2(stride / access size)|: 0 for a broadcast, 6 at most and where the stride is unknown."""
    stride = access.strides[0]
    if not isinstance(stride, int):
        return _MAXIMUM_MAGNITUDE
    if stride == 0 or access.access_bytes == 0:
        return 0.0
    if abs(stride) >= access.access_bytes << _MAXIMUM_MAGNITUDE:
        return _MAXIMUM_MAGNITUDE
    return min(_MAXIMUM_MAGNITUDE, abs(math.log2(abs(stride) / access.access_bytes)))


# The local size of the launch that features are computed for, and the dimensions that a kernel uses.

# What launches of kernels that use so many dimensions commonly look like.
_USUAL_SIZES = {1: (256, 1, 1), 2: (16, 16, 1), 3: (8, 8, 4)}

LocalSize = tuple[int, int, int]


def used_dimensions(kernel: Kernel) -> int:
    """Return how many dimensions of the NDRange a kernel tells its work-items apart by: 1, 2 or 3."""
    return 1 + max(_queried(kernel), default=0)


def launch_size(kernel: Kernel, local_size: Sequence[int] | None) -> LocalSize:
    """Return the three local sizes of a launch before coarsening.

    Args:
        kernel: the kernel that is launched.
        local_size: one to three sizes, or None where they are not known: then those that the kernel requires,
            else 256, 16×16 or 8×8×4 by the dimensions that it uses.

    Raises:
        InvalidInputError: not one to three sizes of at least 1.
    """
    if local_size is None:
        return kernel.required_work_group_size or _USUAL_SIZES[used_dimensions(kernel)]
    sizes = tuple(local_size)
    named = "×".join(map(str, sizes)) or "nothing"
    if not 1 <= len(sizes) <= DIMENSIONS or min(sizes) < 1:
        raise InvalidInputError(f"a local size is one to three numbers of at least 1, not {named}")
    return padded(sizes)


def _queried(kernel: Kernel) -> Iterator[int]:
    """The dimensions along which ids are asked for; one that is known only at run time is the last."""
    for instruction in kernel.instructions():
        if query_of(instruction) in IDS_OF_ITEMS | IDS_OF_GROUPS:
            queried = queried_dimension(instruction)
            yield DIMENSIONS - 1 if queried is None or not 0 <= queried < DIMENSIONS else queried
