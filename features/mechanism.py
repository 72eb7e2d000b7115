"""From a kernel to its mechanism features (`mechanism_vector.py`).

    kernel ─▶ legality, divergence, regions ─▶ work, accesses ─▶ MechanismFeatures at each factor

Only the last step depends on the factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.algebra.affine import access_patterns
from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.cost.instruction_kinds import Kind
from coarsen.cost.plan_walk import PlannedBlocks, block_weights, planned_blocks
from coarsen.cost.register_pressure import RegisterPressure, static_local_bytes
from coarsen.cost.replication import BlockCopies, WeightedWork, region_groups, replicated_blocks, weighted_work
from coarsen.features.access_features import AccessFeatures, access_features, counted_accesses
from coarsen.features.extract import checked_factors, features_at
from coarsen.features.feature_table import FACTORS, FeatureTable
from coarsen.features.identity import kernel_identity
from coarsen.features.launch_size import LocalSize, is_assumed, launch_size, used_dimensions
from coarsen.features.mechanism_table import MechanismTable
from coarsen.features.mechanism_vector import MechanismFeatures
from coarsen.ir.kernel import Argument, Kernel
from coarsen.ir.types import AddressSpace, PointerType
from coarsen.transform.coarsen import analyse


def mechanism_table(
    kernel: Kernel,
    dimension: int = 0,
    local_size: Sequence[int] | None = None,
    factors: Iterable[int] = FACTORS,
) -> MechanismTable:
    """Return the mechanism features of a kernel at each factor, analysed once.

    Args:
        kernel: the kernel as it was lowered, uncoarsened.
        dimension: the dimension of the NDRange that is coarsened, 0, 1 or 2.
        local_size: the launch's before coarsening, one to three numbers; None where it is not known: see
            `launch_size`.
        factors: how many work-items are merged into one, each at least 1.

    Returns:
        The features by factor, in rising order, and the local size that they are for.

    Raises:
        RefusalError: the kernel can't be coarsened.
        InvalidInputError: a factor below 1, or a local size that is none or has none along the dimension.
    """
    wanted = checked_factors(factors)
    launch = _launch_of(kernel, local_size, dimension)
    return _mechanism_table(_Facts(planned_blocks(analyse(kernel, dimension))), launch, wanted)


def feature_tables(
    kernel: Kernel,
    dimension: int = 0,
    local_size: Sequence[int] | None = None,
    factors: Iterable[int] = FACTORS,
) -> tuple[FeatureTable, MechanismTable]:
    """Return the 17 features and the mechanism features of a kernel, from one analysis.

    Args:
        kernel: the kernel as it was lowered, uncoarsened.
        dimension: the dimension of the NDRange that is coarsened, 0, 1 or 2.
        local_size: the launch's before coarsening, in work-items, one to three numbers; None where it is not
            known.
        factors: how many work-items are merged into one, each at least 1.

    Returns:
        Both tables, with the same factors.

    Raises:
        RefusalError: the kernel can't be coarsened.
        InvalidInputError: a factor below 1, or a local size that is none or has none along the dimension.
    """
    wanted = checked_factors(factors)
    launch = _launch_of(kernel, local_size, dimension)
    facts = _Facts(planned_blocks(analyse(kernel, dimension)))
    rows = {factor: features_at(facts.planned, factor, facts.blocks(factor)) for factor in wanted}
    table = FeatureTable(kernel.name, dimension, rows, identity=kernel_identity(kernel))
    return table, _mechanism_table(facts, launch, wanted)


@dataclass(frozen=True)
class _Launch:
    """A launch's local size before coarsening, and whether it is made up."""

    local_size: LocalSize
    is_assumed: bool


def _launch_of(kernel: Kernel, local_size: Sequence[int] | None, dimension: int) -> _Launch:
    return _Launch(launch_size(kernel, local_size, dimension), is_assumed(kernel, local_size))


def _mechanism_table(facts: _Facts, launch: _Launch, factors: Iterable[int]) -> MechanismTable:
    rows = {factor: _features(facts, launch.local_size, factor) for factor in factors}
    return MechanismTable(facts.planned.kernel.name, facts.dimension, launch.local_size, rows, launch.is_assumed)


@dataclass(frozen=True)
class _AtFactor:
    """What is counted in the kernel at one factor."""

    factor: int
    work: WeightedWork
    accesses: AccessFeatures


class _Facts:
    """What is known of a kernel whatever the factor, and what was computed for factors."""

    def __init__(self, planned: PlannedBlocks) -> None:
        self.planned = planned
        self.dimension = planned.divergence.dimension
        forms = IndexForms(planned.kernel, planned.divergence.control_flow, {self.dimension: planned.divergence})
        self._weights = block_weights(forms)
        self._groups = region_groups(planned)
        self._accesses = counted_accesses(planned, access_patterns(forms), self._weights)
        self._blocks: dict[int, tuple[BlockCopies, ...]] = {}

    def blocks(self, factor: int) -> tuple[BlockCopies, ...]:
        """Return the blocks of the kernel at a factor."""
        if factor not in self._blocks:
            self._blocks[factor] = tuple(replicated_blocks(self.planned, factor))
        return self._blocks[factor]

    def at(self, factor: int) -> _AtFactor:
        """Work and accesses at a factor."""
        work = weighted_work(self.blocks(factor), self._weights, self._groups)
        return _AtFactor(factor, work, access_features(self._accesses, self.dimension, factor))

    @cached_property
    def uncoarsened(self) -> _AtFactor:
        """Work and accesses at factor 1."""
        return self.at(1)

    @cached_property
    def _rescaled_pressure(self) -> RegisterPressure:
        return RegisterPressure(self.planned, rescaled=True)

    def live_words(self, factor: int) -> int:
        """Return the register pressure at a factor."""
        pressure = self._rescaled_pressure if factor > 1 else RegisterPressure(self.planned, rescaled=False)
        return pressure.maximum(factor)


def _features(facts: _Facts, size: LocalSize, factor: int) -> MechanismFeatures:
    at = facts.at(factor)
    return MechanismFeatures(
        **_divergence(at.work),
        **_patterns(at.accesses),
        **_activity(at.work, at.accesses),
        **_group(facts, at),
        **_growth(at, facts.uncoarsened),
        live_words=facts.live_words(factor),
        **_launch(facts, size, factor),
    )


def _divergence(work: WeightedWork) -> Mapping[str, float]:
    return {
        "divergent_guard_share": _share(work.regions.guard, work.total),
        "divergent_loop_share": _share(work.regions.divergent_loop, work.total),
        "guarded_loop_share": _share(work.regions.guarded_loop, work.total),
        "divergent_work_share": _share(work.repeated, work.total),
        "uniform_load_share": _share(work.counts[Kind.UNIFORM_LOAD], work.counts[Kind.LOAD]),
    }


def _patterns(accesses: AccessFeatures) -> Mapping[str, float]:
    return {
        "coalesced_share": accesses.coalesced_share,
        "broadcast_share": accesses.broadcast_share,
        "strided_share": accesses.strided_share,
        "indirect_share": accesses.indirect_share,
        "stride_magnitude": accesses.stride_magnitude,
        "consecutive_replicas_share": accesses.consecutive_replicas_share,
        "mean_element_bytes": accesses.mean_element_bytes,
        "mean_vector_width": accesses.mean_vector_width,
    }


def _activity(work: WeightedWork, accesses: AccessFeatures) -> Mapping[str, float]:
    return {
        "bytes_per_operation": accesses.global_bytes / max(1, work.operations),
        "log_operations": math.log1p(work.operations),
        "log_loads": math.log1p(work.counts[Kind.LOAD]),
        "log_stores": math.log1p(work.counts[Kind.STORE]),
        "math_share": _share(work.counts[Kind.MATH], work.operations),
        "integer_share": _share(work.counts[Kind.INTEGER], work.operations),
    }


def _group(facts: _Facts, at: _AtFactor) -> Mapping[str, float]:
    kernel = facts.planned.kernel
    return {
        "uses_local_memory": float(static_local_bytes(kernel) > 0 or any(map(_is_local, kernel.arguments))),
        "log_local_bytes": math.log1p(static_local_bytes(kernel)),
        "local_access_share": at.accesses.local_access_share,
        "private_access_share": at.accesses.private_access_share,
        "log_barriers": math.log1p(at.work.counts[Kind.BARRIER]),
        "log_atomics": math.log1p(at.accesses.atomics),
    }


def _growth(at: _AtFactor, before: _AtFactor) -> Mapping[str, float]:
    loads = (at.work.counts[Kind.LOAD], before.work.counts[Kind.LOAD])
    return {
        "work_growth": _grown(at.factor, at.work.total, before.work.total),
        "load_growth": _grown(at.factor, *loads),
        "memory_growth": _grown(at.factor, at.accesses.global_bytes, before.accesses.global_bytes),
        "log_code_size": math.log1p(at.work.code_size),
        "instruction_parallelism": at.work.instruction_parallelism,
        "memory_parallelism": at.work.memory_parallelism,
    }


def _launch(facts: _Facts, size: LocalSize, factor: int) -> Mapping[str, float]:
    group = math.prod(size)
    return {
        "log_local_extent": math.log2(size[facts.dimension] / factor),
        "log_group_size": math.log2(group / factor),
        "log_original_group_size": math.log2(group),
        "along_first_dimension": float(facts.dimension == 0),
        "dimensions_used": float(used_dimensions(facts.planned.kernel)),
    }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _grown(factor: int, after: float, before: float) -> float:
    """Return what is done per original work-item, over what it was; 1 where nothing was done."""
    return after / (factor * before) if before else 1.0


def _is_local(argument: Argument) -> bool:
    return isinstance(argument.type, PointerType) and argument.type.address_space == AddressSpace.LOCAL
