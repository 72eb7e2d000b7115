"""From a kernel to its features.

    kernel ─▶ legality, divergence, plan ─▶ blocks at a factor ─▶ Features

Only the first step looks at the kernel as a whole; it is taken once for all factors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from coarsen.cost.block_profile import Counts
from coarsen.cost.instruction_kinds import Kind
from coarsen.cost.plan_walk import PlannedBlocks, planned_blocks
from coarsen.cost.replication import BlockCopies, replicated_blocks
from coarsen.errors import InvalidInputError
from coarsen.features.feature_table import FACTORS, FeatureTable
from coarsen.features.feature_vector import (
    FEATURE_SET_VERSION,
    PUBLISHED_FEATURE_SET_VERSION,
    Features,
    check_feature_set,
)
from coarsen.features.identity import kernel_identity
from coarsen.features.published import PublishedFeatures
from coarsen.ir.kernel import Kernel
from coarsen.transform.coarsen import analyse
from coarsen.variant.transforms import REPLICATION_ALONE, Transforms


def extract(
    kernel: Kernel,
    dimension: int = 0,
    factor: int = 1,
    version: int = FEATURE_SET_VERSION,
    transforms: Transforms = REPLICATION_ALONE,
) -> Features:
    """Return the features of a kernel coarsened by a factor, computed without coarsening it.

    Args:
        kernel: the kernel as it was lowered, uncoarsened.
        dimension: the dimension of the NDRange that is coarsened, 0, 1 or 2.
        factor: how many work-items are merged into one, at least 1.
        version: of the feature set; see `feature_table`.
        transforms: that treat divergent regions; a `FeatureTable`, which the shipped predictors take, is of
            replication alone.

    Returns:
        The 17 features of Magni, Dubach and O'Boyle (PACT 2014), table 3.

    Raises:
        RefusalError: the kernel can't be coarsened.
        InvalidInputError: a factor below 1, or no such version.
    """
    check_feature_set(version)
    checked_factors((factor,))
    blocks = planned_blocks(analyse(kernel, dimension), transforms)
    return _features_of(blocks, version)(factor)


def feature_table(
    kernel: Kernel,
    dimension: int = 0,
    factors: Iterable[int] = FACTORS,
    version: int = FEATURE_SET_VERSION,
) -> FeatureTable:
    """Return the features of a kernel at each factor, analysed once.

    Args:
        kernel: the kernel as it was lowered, uncoarsened.
        dimension: the dimension of the NDRange that is coarsened, 0, 1 or 2.
        factors: how many work-items are merged into one, each at least 1.
        version: of the feature set: 1, or 2 for the features as the paper's authors define them (`published.py`).

    Returns:
        The features by factor, in rising order.

    Raises:
        RefusalError: the kernel can't be coarsened.
        InvalidInputError: a factor below 1, or none; no such version.
    """
    check_feature_set(version)
    wanted = checked_factors(factors)
    blocks = planned_blocks(analyse(kernel, dimension))
    at = _features_of(blocks, version)
    rows = {factor: at(factor) for factor in wanted}
    return FeatureTable(kernel.name, dimension, rows, version, kernel_identity(kernel))


def checked_factors(factors: Iterable[int]) -> tuple[int, ...]:
    """Return the factors in rising order, each once. Raises InvalidInputError for none, and for one below 1."""
    wanted = tuple(sorted(set(factors)))
    if not wanted or wanted[0] < 1:
        named = ", ".join(map(str, wanted)) or "none"
        raise InvalidInputError(f"the factors must be at least 1, not {named}")
    return wanted


def _features_of(blocks: PlannedBlocks, version: int) -> Callable[[int], Features]:
    """Return what gives the features at a factor."""

    def first(factor: int) -> Features:
        return features_at(blocks, factor, tuple(replicated_blocks(blocks, factor)))

    if version != PUBLISHED_FEATURE_SET_VERSION:
        return first
    published = PublishedFeatures(blocks)
    return lambda factor: published.at(first(factor), factor)


def features_at(planned: PlannedBlocks, factor: int, blocks: Sequence[BlockCopies]) -> Features:
    """Return the features at a factor.

    Args:
        planned: the kernel's own blocks under a plan.
        factor: how many work-items are merged into one.
        blocks: of the coarsened kernel (`replicated_blocks`).
    """
    counts = _total(blocks)
    regions = factor * len(planned.copied_regions) + len(planned.interleaved)
    return Features(
        basic_blocks=sum(block.copies for block in blocks),
        branches=counts[Kind.BRANCH],
        divergent_instructions=counts[Kind.DIVERGENT],
        divergent_region_instructions=counts[Kind.IN_DIVERGENT_REGION],
        divergent_region_ratio=counts[Kind.IN_DIVERGENT_REGION] / counts[Kind.INSTRUCTION],
        divergent_regions=regions,
        instructions=counts[Kind.INSTRUCTION],
        floating_point_instructions=counts[Kind.FLOATING_POINT],
        instruction_level_parallelism=_mean([(b.copies, b.instruction_parallelism) for b in blocks]),
        # The paper leaves a kernel without floating point open; it counts as one instruction then.
        integer_floating_point_ratio=counts[Kind.INTEGER] / max(1, counts[Kind.FLOATING_POINT]),
        integer_instructions=counts[Kind.INTEGER],
        math_builtins=counts[Kind.MATH],
        memory_level_parallelism=_mean([(b.copies, b.memory_parallelism) for b in blocks]),
        loads=counts[Kind.LOAD],
        stores=counts[Kind.STORE],
        uniform_loads=counts[Kind.UNIFORM_LOAD],
        barriers=counts[Kind.BARRIER],
    )


def _total(blocks: Iterable[BlockCopies]) -> Counts:
    total: Counts = Counter()
    for block in blocks:
        for kind, count in block.kinds.items():
            total[kind] += block.copies * count
    return total


def _mean(parallelism: Sequence[tuple[int, float]]) -> float:
    """The mean over blocks, each copy with the same weight; blocks without such work are left out."""
    working = [(copies, value) for copies, value in parallelism if value > 0]
    blocks = sum(copies for copies, _ in working)
    return sum(copies * value for copies, value in working) / blocks if blocks else 0.0
