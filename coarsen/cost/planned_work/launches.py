"""The launch that a configuration is counted for: before coarsening, and as the coarsened kernel is launched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from coarsen.analysis.expressions import Expression, Quantity, evaluate
from coarsen.cost.work_counts import LaunchSizes, Sizes, WorkCounts, padded
from coarsen.cost.work_functions import CountedKernel, launch_sizes_by_name
from coarsen.variant.coarsening import Configuration, Level
from coarsen.variant.variant import Variant


@dataclass(frozen=True)
class OriginalLaunch:
    """A launch of the uncoarsened kernel.

    Attributes:
        counted: the kernel's work.
        sizes: of the launch.
        arguments: the values of scalar arguments that are known.
    """

    counted: CountedKernel
    sizes: LaunchSizes
    arguments: Mapping[str, int]

    @cached_property
    def names(self) -> Mapping[str, Quantity]:
        """All sizes by name."""
        return launch_sizes_by_name(self.sizes) | dict(self.arguments)

    @cached_property
    def work(self) -> WorkCounts:
        """The work of a work-item. Raises InvalidInputError where the sizes give no number."""
        return self.counted.functions.at(self.sizes, self.arguments)

    @cached_property
    def length(self) -> int:
        """The number of instructions that stand in the kernel."""
        return self.counted.counts.forms.kernel.length

    @cached_property
    def times(self) -> Mapping[str, float]:
        """Return how often each block runs for a work-item, by name."""
        runs = self.counted.runs
        blocks = self.counted.counts.forms.control_flow.reverse_postorder
        return {block: float(evaluate(runs.of(block), self.names)) for block in blocks}

    def share(self, expression: Expression | None) -> float:
        """Return the value of a share, 1 where it isn't known."""
        if expression is None or not expression.names <= self.names.keys():
            return 1.0
        return min(1.0, max(0.0, float(evaluate(expression, self.names))))


def original_sizes(variant: Variant, launch: LaunchSizes) -> LaunchSizes:
    """Return a launch with the local size that the variant has for it."""
    return replace(launch, local_size=padded(variant.local_size)) if variant.local_size else launch


def launched_sizes(variant: Variant, launch: LaunchSizes) -> LaunchSizes:
    """Return the sizes that the coarsened kernel is launched with.

    Sizes that a factor does not divide are rounded up, as a guard allows.

    Args:
        variant: how the kernel is coarsened.
        launch: the sizes before coarsening; the variant's own local size, if it has one, goes before its own.
    """
    original = original_sizes(variant, launch)
    return LaunchSizes(
        _divided(original.global_size, variant.coarsenings, frozenset(Level)),
        _divided(original.local_size, variant.coarsenings, frozenset({Level.ITEM})),
    )


def _divided(sizes: Sizes, chosen: Configuration, levels: frozenset[Level]) -> Sizes:
    result = list(sizes)
    for coarsening in chosen:
        if coarsening.level in levels:
            result[coarsening.dimension] = -(-result[coarsening.dimension] // coarsening.factor)
    return result[0], result[1], result[2]
