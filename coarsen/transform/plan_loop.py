"""When a divergent loop goes in lock-step: one iteration of each replica, interleaved, while none leaves the loop.

The replicas part at a branch out of the loop. Each then goes on alone

- from the branch, where it is the loop's only one and stands at its end (`do … while`), or
- from the start of the iteration, where it has done nothing yet that shows (`for`, `while`, an early `break`).

Not together when: the loop does not start the region; a value leaves it otherwise than through a phi; the replicas
part where neither of the above holds. On CPUs a loop goes in lock-step only if the replicas share half of its
loads: measured on two CPU runtimes, loops in which each replica loads its own ran at down to a third of the speed
of copies (spmv, mvCoal), while an H200 ran them up to five times faster. Merged work-groups share the barriers of
a loop that they leave by position.
"""

from __future__ import annotations

from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region
from coarsen.transform.agreed_branches import (
    AgreedBranches,
    NotTogether,
    blocks_before,
    check_barriers,
    check_results,
    has_barrier,
    inner_branches,
    is_repeatable_before,
)
from coarsen.transform.alone import Entry
from coarsen.transform.likely_agreement import is_agreement_likely
from coarsen.variant.transforms import DeviceKind, Transforms, Use


def loop_of_region(flow: ControlFlow, region: Region) -> Loop | None:
    """Return the loop by which a region is entered, from the block before it; None where there is none."""
    targets = flow.kernel.block[region.head].terminator.targets
    if len(targets) != 1:
        return None
    loop = flow.loop_at.get(targets[0])
    return loop if loop is not None and loop.blocks <= region.blocks else None


def loop_branches(divergence: Divergence, region: Region, transforms: Transforms) -> AgreedBranches:
    """Return the branches of a region whose loop goes in lock-step. Raises NotTogether."""
    if transforms.lock_step is Use.NEVER:
        raise NotTogether("turned-off", "lock-step is turned off")
    flow = divergence.control_flow
    loop = loop_of_region(flow, region)
    if loop is None:
        raise NotTogether("unstructured", "the region does not start with a loop")
    check_results(divergence, region)
    with_barriers = has_barrier(divergence, region)
    if transforms.lock_step is Use.AUTO and transforms.device_kind is DeviceKind.CPU and not with_barriers:
        _check_shared_loads(divergence, loop)
    inner = inner_branches(divergence, region)
    parting = frozenset(branch for branch, own in inner.items() if own is None)
    if not parting <= loop.blocks:
        raise NotTogether("unstructured", "work-items that have left the loop may part once more after it")
    check_barriers(divergence, region, parting)
    if transforms.lock_step is Use.AUTO and with_barriers:
        _check_agreement(divergence, parting)
    entry = _entry(divergence, loop, parting)
    return AgreedBranches(entry, parting, frozenset(inner) - parting)


def _entry(divergence: Divergence, loop: Loop, parting: frozenset[str]) -> Entry:
    if len(parting) == 1:
        (branch,) = parting
        if loop.header in divergence.control_flow.successors(branch):
            return Entry(branch)
    if all(_may_restart(divergence, loop, branch) for branch in parting):
        return Entry(loop.header, is_restart=True)
    raise NotTogether("effect-before-exit", "an iteration may store, or the like, before it leaves the loop")


def _check_agreement(divergence: Divergence, parting: frozenset[str]) -> None:
    """Raise NotTogether where the merged work-groups may leave a loop with barriers at any time, as data say.

    Intel's compiler (2026.2) crashes on such loops in lock-step when it vectorises them, and takes their copies.
    """
    if not all(is_agreement_likely(divergence, branch) for branch in parting):
        raise NotTogether(
            "agreement-unknown", "the condition depends on data: nothing says that work-groups agree"
        )


def _may_restart(divergence: Divergence, loop: Loop, branch: str) -> bool:
    before = blocks_before(divergence.control_flow, loop.header, branch, loop.blocks)
    return is_repeatable_before(divergence, before)


def _check_shared_loads(divergence: Divergence, loop: Loop) -> None:
    """Raise NotTogether where the replicas share fewer than half of a loop's loads, or it has none."""
    blocks = (divergence.kernel.block[name] for name in loop.blocks)
    loads = [i for block in blocks for i in block.instructions if i.opcode == "load"]
    shared = [load for load in loads if not divergence.is_divergent(load)]
    if not loads or 2 * len(shared) < len(loads):
        sentence = f"{len(shared)} of the loop's {len(loads)} loads are shared, too few to gain on a CPU"
        raise NotTogether("too-little-shared", sentence)
