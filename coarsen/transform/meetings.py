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

from collections.abc import Callable, Iterable
from functools import cached_property

from coarsen.analysis.divergence import Divergence
from coarsen.ir.graph.builder import Builder, number
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.operands import Callee
from coarsen.ir.opencl.names import mangled_name
from coarsen.ir.types import IntegerType, VoidType
from coarsen.transform.agreed_branches import has_barrier
from coarsen.transform.region_plan import PlannedRegion

Meet = Callable[[Builder], None]
"""Builds what makes the whole work-group meet, or nothing where it need not."""

_FUNCTION = mangled_name("barrier", "j")
_ATTRIBUTES = "convergent nounwind"
_LOCAL = number(IntegerType(32), 1)


class Meetings:
    """Where one coarsening of a kernel puts barriers besides the kernel's own.

    Args:
        divergence: of the kernel.
        module: in which the coarsened kernel will stand.
    """

    def __init__(self, divergence: Divergence, module: Module) -> None:
        self._divergence = divergence
        self._module = module
        self._barrier = module.callees.get(_FUNCTION) or Callee(
            _FUNCTION, f"declare spir_func void @{_FUNCTION}(i32) {_ATTRIBUTES}"
        )

    def of_region(self, planned: PlannedRegion) -> Meet:
        """Return what builds a meeting after each copy of a region, and before the first one of a slow path."""
        if not self._divergence.merges_groups or not has_barrier(self._divergence, planned.region):
            return _meet_nowhere
        if not self._is_reached_by_all({planned.region.head, *planned.branches}, planned.branches):
            return _meet_nowhere
        return self._meet

    def declare(self) -> None:
        """Declare the barrier if one was put and the module has none of its own; to be done at the end."""
        if self._barrier.uses:
            self._module.declare([self._barrier])

    def _meet(self, build: Builder) -> None:
        build.call(self._barrier, VoidType(), [_LOCAL], attributes=_ATTRIBUTES)

    def _is_reached_by_all(self, blocks: Iterable[str], branches: frozenset[str]) -> bool:
        """Return True if all work-items of a group reach blocks together, and go the same way at branches."""
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


def _meet_nowhere(_build: Builder) -> None:
    """Build nothing."""
