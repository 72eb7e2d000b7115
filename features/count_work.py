"""Counts a kernel's work on its IR: `work_counts` of a kernel and the sizes of its launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from coarsen.analysis.affine import SYMBOLIC, Access, access_patterns
from coarsen.analysis.index_forms import IndexForms
from coarsen.analysis.trip_counts import trip_counts
from coarsen.features.instruction_classes import access_class, instruction_classes
from coarsen.features.instruction_kinds import Kind, kinds_of
from coarsen.features.local_memory import static_local_bytes
from coarsen.features.parallelism import DependenceDepth, dependence_depth
from coarsen.features.register_pressure import maximum_live_words
from coarsen.features.sibling_accesses import nearest_siblings
from coarsen.features.work import UNKNOWN_TRIPS, block_weights
from coarsen.features.work_counts import AccessCount, InstructionClass, LaunchSizes, WorkCounts
from coarsen.ir.kernel import Kernel
from coarsen.transform.coarsen import analyse

# Bytes that stand for a stride which only the launch's arguments tell: far enough that lanes share nothing.
ASSUMED_STRIDE = 4096


def work_counts(kernel: Kernel, launch: LaunchSizes, sizes: Mapping[str, int] | None = None) -> WorkCounts:
    """Count the work of a launch.

    Args:
        kernel: that is launched, coarsened or not.
        launch: its sizes.
        sizes: the values of scalar arguments by name. Not used so far: what depends on them counts as unknown.

    Raises:
        RefusalError: the kernel has something that no analysis follows.
    """
    analysed = analyse(kernel, 0)
    control_flow = analysed.divergence.control_flow
    forms = IndexForms(kernel, control_flow, {0: analysed.divergence})
    weights = block_weights(forms)
    reached = [block for block in kernel.blocks if block.name in set(control_flow.reverse_postorder)]
    instructions: Counter[InstructionClass] = Counter()
    barriers = 0
    chains: list[tuple[int, DependenceDepth]] = []
    for block in reached:
        weight = weights[block.name]
        for instruction in block.instructions:
            barriers += weight * (Kind.BARRIER in kinds_of(instruction))
            for kind, count in instruction_classes(instruction):
                instructions[kind] += weight * count
        chains.append((weight, dependence_depth(block.instructions)))
    accesses = access_patterns(forms)
    for access in accesses:
        instructions[access_class(access)] += weights[access.block]
    return WorkCounts(
        instructions=MappingProxyType({kind: float(count) for kind, count in instructions.items()}),
        accesses=tuple(_counted(accesses, weights, launch)),
        barriers=barriers,
        atomics=sum(weights[access.block] for access in accesses if access.is_atomic),
        local_bytes=static_local_bytes(kernel),
        live_words=maximum_live_words(analysed, 1),
        chain_operations=sum(weight * depth.operations for weight, depth in chains),
        chain_accesses=sum(weight * depth.accesses for weight, depth in chains),
        unknown=tuple(_unknown(forms, accesses)),
    )


def _counted(accesses: Sequence[Access], weights: Mapping[str, int], launch: LaunchSizes) -> Iterator[AccessCount]:
    siblings = nearest_siblings(accesses)
    for index, access in enumerate(accesses):
        stride = access.stride_along(0)
        yield AccessCount(
            count=weights[access.block],
            bytes=access.access_bytes,
            address_space=access.address_space,
            lane_stride=ASSUMED_STRIDE if stride is SYMBOLIC else stride if isinstance(stride, int) else None,
            replica_stride=siblings.get(index),
            store=access.is_store,
            footprint=_footprint(access, weights[access.block], launch),
            dependent_on_load=not isinstance(stride, int) and stride is not SYMBOLIC,
        )


def _footprint(access: Access, count: int, launch: LaunchSizes) -> float | None:
    """The bytes from the first to the last that is touched; in a loop as if a work-item's followed each other."""
    if not all(isinstance(stride, int) for stride in access.strides):
        return None
    spans = zip(access.strides, launch.global_size, strict=True)
    return float(access.access_bytes * count + sum(abs(s) * (n - 1) for s, n in spans if isinstance(s, int)))


def _unknown(forms: IndexForms, accesses: Sequence[Access]) -> Iterator[str]:
    counts = trip_counts(forms)
    for loop in forms.control_flow.loops:
        if loop.header not in counts:
            yield f"how often the loop at block {loop.header} goes round, taken for {UNKNOWN_TRIPS} times"
    for base in sorted({a.base.text for a in accesses if a.base is not None and a.stride_along(0) is SYMBOLIC}):
        yield f"how far apart neighbours access {base}, taken for {ASSUMED_STRIDE} bytes"
