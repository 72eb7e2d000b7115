"""Barriers that keep the barriers of one copy of a region apart from those of the next one.

    if (inside) {                            if (inside) {
        … barrier(CLK_LOCAL_MEM_FENCE); …        … barrier(CLK_LOCAL_MEM_FENCE); …
    }                                        }
                                             barrier(CLK_LOCAL_MEM_FENCE);
    if (inside_2) {                          if (inside_2) {
        … barrier(CLK_LOCAL_MEM_FENCE); …        … barrier(CLK_LOCAL_MEM_FENCE); …
    }                                        }
                                             barrier(CLK_LOCAL_MEM_FENCE);

OpenCL does not ask for them. PoCL 3.1 does: where one barrier under a condition can be reached from another one
without a barrier between them that is always reached, it leaves out stores, or compiles without an end.

They are put only where whole work-groups are merged and every work-item of a group is sure to get there: each
branch on the way depends on nothing that differs inside of a group. That a barrier depends on a branch does not
prove it: a right program may have a barrier that is never reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from coarsen.analysis.divergence import Divergence
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.names import mangled_name
from coarsen.transform.agreed_branches import has_barrier
from coarsen.transform.region_plan import PlannedRegion

_FUNCTION = mangled_name("barrier", "j")
_BARRIER = f"call spir_func void @{_FUNCTION}(i32 1) convergent nounwind"
_DECLARATION = f"declare spir_func void @{_FUNCTION}(i32) convergent nounwind"


class Meetings:
    """Where one coarsening of a kernel puts barriers besides the kernel's own."""

    def __init__(self, divergence: Divergence) -> None:
        self._divergence = divergence
        self._is_used = False

    def of_region(self, planned: PlannedRegion) -> tuple[str, ...]:
        """The lines to put after each copy of a region, and before the first one where it has a fast path."""
        if not self._divergence.merges_groups or not has_barrier(self._divergence, planned.region):
            return ()
        if not self._is_reached_by_all({planned.region.head, *planned.branches}, planned.branches):
            return ()
        self._is_used = True
        return (_BARRIER,)

    def declarations(self) -> Iterator[str]:
        """The `declare` line of the barrier, if one was put and the kernel has none of its own."""
        if self._is_used and not _declares_barrier(self._divergence.kernel):
            yield _DECLARATION

    def _is_reached_by_all(self, blocks: Iterable[str], branches: frozenset[str]) -> bool:
        """Whether all work-items of a group reach blocks together, and go the same way at branches."""
        flow = self._divergence.control_flow
        deciding = branches.union(*(flow.controlling(block) for block in blocks))
        return deciding.isdisjoint(self._differing)

    @cached_property
    def _differing(self) -> frozenset[str]:
        """The branches that some work-items of a group may take differently than others."""
        kernel, flow = self._divergence.kernel, self._divergence.control_flow
        found: set[str] = set()
        for dimension in range(3):
            along = Divergence(kernel, dimension, flow)
            found |= along.branches | along.assumed_uniform
        return frozenset(found)


def _declares_barrier(kernel: Kernel) -> bool:
    return f"@{_FUNCTION}(" in kernel.before + kernel.after
