"""Chooses what is done to each divergent region: copies, a fast path, or lock-step.

A region of a loop may go in lock-step (`loop_branches`), any other may have a fast path (`guard_branches`); where
neither is legal, allowed or likely to pay, it is copied. Inside of a region whose replicas go together, the
regions nested in it are chosen for in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coarsen.analysis.agreement_tests import difference_of, is_id, side_of_one
from coarsen.analysis.control_flow import ControlFlow, Loop, reached
from coarsen.analysis.divergence import Divergence
from coarsen.analysis.regions import Region, outermost_regions
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.opencl.builtins import is_barrier
from coarsen.transform.regions.plan import Entry, PlannedRegion, Reason, RegionPlan, Treatment
from coarsen.variant.transforms import DeviceKind, Transforms, Use


def plan_regions(divergence: Divergence, regions: tuple[Region, ...], transforms: Transforms) -> RegionPlan:
    """Decide what is done to each divergent region.

    Args:
        divergence: of the kernel along the coarsened dimension.
        regions: its outermost divergent regions.
        transforms: what may be used.
    """
    planned = tuple(_planned(divergence, region, transforms) for region in regions)
    return RegionPlan(divergence, planned, transforms)


def _planned(divergence: Divergence, region: Region, transforms: Transforms) -> PlannedRegion:
    try:
        if loop_of_region(divergence.control_flow, region) is not None:
            treatment, find = Treatment.LOCK_STEP, loop_branches
        else:
            treatment, find = Treatment.FAST_PATH, guard_branches
        entry, branches, parted = find(divergence, region, transforms)
        inner = nested_regions(divergence, region, branches, parted)
    except NotTogether as error:
        return PlannedRegion(region, Treatment.COPIES, Entry(region.head), error.reason)
    nested = tuple(_planned(divergence, smaller, transforms) for smaller in inner)
    planned = PlannedRegion(region, treatment, entry, branches=branches, nested=nested)
    if (
        treatment is Treatment.FAST_PATH
        and transforms.fast_path is Use.AUTO
        and _is_mostly_copied(divergence, planned)
    ):
        reason = Reason("mostly-copied", "most of the region would be copied in the fast path as well")
        return PlannedRegion(region, Treatment.COPIES, Entry(region.head), reason)
    return planned


def _is_mostly_copied(divergence: Divergence, planned: PlannedRegion) -> bool:
    """Return True if the larger part of a region stands in copies although the replicas go through it together."""
    inside = [inner.region for inner in planned.all() if inner.treatment is Treatment.COPIES]
    copied = frozenset().union(*(region.blocks for region in inside))
    return 2 * _length(divergence, copied) > _length(divergence, planned.region.blocks)


def _length(divergence: Divergence, blocks: frozenset[str]) -> int:
    return sum(len(divergence.kernel.block[block].instructions) for block in blocks)


# When a divergent region gets a fast path: the region of an `if` whose sides the replicas mostly take together.
#
# A branch nested in such a region parts the replicas in the region's own slow path, not in a second one, where
# both lead to the same join and nothing that shows has been done in between: `if (x < width) if (y < height) …`.
#
# Not together when: the region does not start with its divergent branch; a value leaves it otherwise than through
# a phi; a nested branch can't be told apart from it; nothing says that the replicas agree; the region is so short
# that the test would cost more than it saves (measured with `reduce` and `dwtHaar1D`, whose guards hold 6 to 15
# instructions: a third slower with fast paths on two CPU runtimes).

_SHORT = 20


def guard_branches(divergence: Divergence, region: Region, transforms: Transforms) -> Agreed:
    """Return the branches of a region that gets a fast path. Raises NotTogether."""
    use = transforms.fast_path
    if use is Use.NEVER:
        raise NotTogether("turned-off", "the fast path is turned off")
    head = region.head
    if head not in divergence.branches:
        raise NotTogether("unstructured", "the region starts before its divergent branch")
    check_results(divergence, region)
    check_barriers(divergence, region, [head])
    if (
        transforms.device_kind is not DeviceKind.GPU
        and (has_loop(divergence, region) or transforms.wide_accesses)
        and is_behind_barrier(divergence, head)
    ):
        raise NotTogether("behind-barrier", "PoCL would send all work-items of a group the way of the first one")
    if use is Use.AUTO and not is_agreement_likely(divergence, head):
        raise NotTogether("agreement-unknown", "the condition depends on data: nothing says that work-items agree")
    if use is Use.AUTO and _is_for_one(divergence, region):
        raise NotTogether("for-one-alone", "at most one of the merged work-items goes into the region")
    if use is Use.AUTO and not has_loop(divergence, region) and _length(divergence, region.blocks) < _SHORT:
        raise NotTogether("too-short", "the region is too short for a test of agreement to pay")
    shared: set[str] = {head}
    nested: dict[str, Region] = {}
    for branch, own in inner_branches(divergence, region).items():
        if own is None:
            raise NotTogether("unstructured", "a branch inside leads out of the region by a way of its own")
        if any(branch in outer.blocks for outer in nested.values()):
            continue
        if _shares_slow_path(divergence, region, branch, own, use):
            shared.add(branch)
        else:
            nested[branch] = own
    return Entry(head), frozenset(shared), frozenset(nested)


def _shares_slow_path(divergence: Divergence, region: Region, branch: str, own: Region, use: Use) -> bool:
    """Return True if a replica that parts at a nested branch may start again from the region's head."""
    flow = divergence.control_flow
    if own.join != region.join or own.head != branch or has_barrier(divergence, region):
        return False
    loop = flow.loop_of[branch]
    if loop is not None and loop.header in region.blocks:
        return False
    if use is Use.AUTO and not is_agreement_likely(divergence, branch):
        return False
    before = blocks_before(flow, region.head, branch, region.blocks | {region.head}) - {region.head}
    return is_repeatable_before(divergence, before)


def _is_for_one(divergence: Divergence, region: Region) -> bool:
    """Return True if the region is what one work-item does alone: `if (item == 0) …`."""
    side = side_of_one(divergence, region.head)
    targets = divergence.kernel.block[region.head].terminator.targets
    return side is not None and all(target in (side, region.join) for target in targets)


# When a divergent loop goes in lock-step: one iteration of each replica, interleaved, while none leaves the loop.
#
# The replicas part at a branch out of the loop. Each then goes on alone
#
# - from the branch, where it is the loop's only one and stands at its end (`do … while`), or
# - from the start of the iteration, where it has done nothing yet that shows (`for`, `while`, an early `break`).
#
# Not together when: the loop does not start the region; a value leaves it otherwise than through a phi; the
# replicas part where neither of the above holds. On CPUs a loop goes in lock-step only if the replicas share half
# of its loads: measured on two CPU runtimes, loops in which each replica loads its own ran at down to a third of
# the speed of copies (spmv, mvCoal), while an H200 ran them up to five times faster. Merged work-groups share the
# barriers of a loop that they leave by position.


def loop_of_region(flow: ControlFlow, region: Region) -> Loop | None:
    """Return the loop by which a region is entered, from the block before it; None where there is none."""
    targets = flow.kernel.block[region.head].terminator.targets
    if len(targets) != 1:
        return None
    loop = flow.loop_at.get(targets[0])
    return loop if loop is not None and loop.blocks <= region.blocks else None


def loop_branches(divergence: Divergence, region: Region, transforms: Transforms) -> Agreed:
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
    return entry, parting, frozenset(inner) - parting


def _entry(divergence: Divergence, loop: Loop, parting: frozenset[str]) -> Entry:
    if len(parting) == 1:
        (branch,) = parting
        if loop.header in divergence.control_flow.successors(branch):
            return Entry(branch)
    flow = divergence.control_flow
    before = (blocks_before(flow, loop.header, branch, loop.blocks) for branch in parting)
    if all(is_repeatable_before(divergence, blocks) for blocks in before):
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


def _check_shared_loads(divergence: Divergence, loop: Loop) -> None:
    """Raise NotTogether where the replicas share fewer than half of a loop's loads, or it has none."""
    blocks = (divergence.kernel.block[name] for name in loop.blocks)
    loads = [i for block in blocks for i in block.instructions if i.opcode == "load"]
    shared = [load for load in loads if not divergence.is_divergent(load)]
    if not loads or 2 * len(shared) < len(loads):
        sentence = f"{len(shared)} of the loop's {len(loads)} loads are shared, too few to gain on a CPU"
        raise NotTogether("too-little-shared", sentence)


# Whether the replicas of a work-item are likely to take the same side of a branch.
#
# They are where the branch compares positions: neighbouring work-items differ at a border, and borders are few.
#
#     likely      x < width,  row >= rows,  x > 0 && x < width - 1,  item == 0,  id / width < height
#     unknown     data[x] > 0,  x % 2 == 0
#
# Where a branch asks for one position (`item == 0`) they agree not to be there, or one of them goes alone.

_KEEPS_ORDER = frozenset({"add", "sub", "mul", "shl", "trunc", "zext", "sext", "sitofp", "uitofp", "freeze"})
_COMBINES = frozenset({"and", "or", "xor", "select", "freeze"})
_FOLDS = frozenset({"udiv", "sdiv", "urem", "srem", "lshr", "ashr", "and"})
# Below this many neighbours between two borders (`x % 8`, `x & 15`) too many replicas stand on both sides of one.
_FAR_APART = 64


def is_agreement_likely(divergence: Divergence, branch: str) -> bool:
    """Return True if the divergent branch of a block depends on positions alone."""
    compared: list[Operand] = []

    def combined(instruction: Instruction) -> Iterable[Operand] | None:
        if instruction.opcode in ("icmp", "fcmp"):
            compared.extend(instruction.operands)
            return ()
        return instruction.operands if instruction.opcode in _COMBINES else None

    condition = divergence.kernel.block[branch].terminator.arguments[0]
    if not _is_all_followed(divergence, [condition], combined):
        return False
    return _is_all_followed(divergence, compared, lambda each: _positions_in(divergence, each))


def _is_all_followed(
    divergence: Divergence, values: Iterable[Operand], follow: Callable[[Instruction], Iterable[Operand] | None]
) -> bool:
    """Return True if `follow` has an answer, operands to go on with, for all that the values are computed from.

    Asked is only for what differs between replicas, and once for each instruction: expressions share parts.
    """
    seen: set[str] = set()
    pending = list(values)
    while pending:
        instruction = difference_of(divergence, pending.pop())
        if instruction is None or instruction.name in seen:
            continue
        seen.add(instruction.name)
        operands = follow(instruction)
        if operands is None:
            return False
        pending.extend(operands)
    return True


def _positions_in(divergence: Divergence, instruction: Instruction) -> Iterable[Operand] | None:
    """The positions that an instruction's result depends on, if it grows evenly with them; else None.

    Even but for places that are far apart, that is. An id has none; a loop's counter, a phi, is one of its own.
    """
    if instruction.opcode == "call":
        return () if is_id(instruction) else None
    if instruction.opcode in _FOLDS:
        return instruction.operands[:1] if _is_far_apart(divergence, instruction) else None
    return instruction.operands if instruction.opcode == "phi" or instruction.opcode in _KEEPS_ORDER else None


def _is_far_apart(divergence: Divergence, instruction: Instruction) -> bool:
    """Return True if a quotient or remainder has its borders far apart.

    A divisor that is known only at run time is taken to be large.
    """
    by = instruction.operands[1]
    if by.kind is not ValueKind.CONSTANT:
        return difference_of(divergence, by) is None
    if not by.text.isdigit():
        return False
    distance = 1 << int(by.text) if instruction.opcode in ("lshr", "ashr") else int(by.text)
    return distance >= _FAR_APART


# The divergent branches of a region at which the replicas may part for good, and the others.
#
# At the first kind a test for agreement stands; whoever parts there goes on alone to the region's join. The second
# kind has a region of its own inside, from which the replicas come out together.


class NotTogether(Exception):  # noqa: N818 (an answer, not an error)
    """The replicas can't or needn't go through a region together."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = Reason(code, sentence)


Agreed = tuple[Entry, frozenset[str], frozenset[str]]
"""Where a replica that goes on alone comes in; the blocks whose branches are tested for agreement; those of all
others, each inside of a smaller region."""


def check_barriers(divergence: Divergence, region: Region, branches: Iterable[str]) -> None:
    """Raise NotTogether where work-items of a group might part at a branch and leave each other at a barrier.

    A branch on which a barrier depends is the same for the whole group; at any other some work-items may take the
    slow path while the rest take the fast one.
    """
    if has_barrier(divergence, region) and not divergence.group_uniform_branches.issuperset(branches):
        raise NotTogether(
            "barrier-inside", "not all work-items of a group would reach the barrier inside together"
        )


def has_barrier(divergence: Divergence, region: Region) -> bool:
    """Return True if a barrier stands in a region, or another call that the whole group must reach."""
    return any(is_barrier(i) for block in region.blocks for i in divergence.kernel.block[block].instructions)


def is_behind_barrier(divergence: Divergence, block: str) -> bool:
    """Return True if a block ends after a barrier, and one condition decides whether both are reached.

    There PoCL (3.1) was seen to let all work-items of a group take the way of the first one, with a loop below two
    conditions, as a slow path with a loop is: `if (group < n) { …; barrier(…); if (!all) if (any) for (…) … }`.
    """
    flow, kernel = divergence.control_flow, divergence.kernel
    deciding = flow.controlling(block)
    for each in kernel.blocks:
        if any(map(is_barrier, each.instructions)) and flow.place[each.name] <= flow.place[block]:
            around = flow.loops_around(each.name)
            shared = deciding & flow.controlling(each.name)
            if any(not any(_leaves(flow, branch, loop) for loop in around) for branch in shared):
                return True
    return False


def _leaves(flow: ControlFlow, branch: str, loop: Loop) -> bool:
    return branch in loop.blocks and not loop.blocks.issuperset(flow.successors(branch))


def has_loop(divergence: Divergence, region: Region) -> bool:
    """Return True if a loop stands in a region."""
    return any(block in divergence.control_flow.loop_at for block in region.blocks)


def blocks_before(flow: ControlFlow, start: str, block: str, inside: frozenset[str]) -> frozenset[str]:
    """Return the blocks from which `block` is reached without passing `start` again, and both of them."""

    def before(each: str) -> Iterable[str]:
        return () if each == start else (source for source in flow.predecessors(each) if source in inside)

    return frozenset(reached([block], before) | {block})


def is_repeatable_before(divergence: Divergence, blocks: Iterable[str]) -> bool:
    """Return True if blocks may be executed once more, by a replica that starts again from before them."""
    return not any(
        divergence.effects.has_effect(instruction)
        for block in blocks
        for instruction in divergence.kernel.block[block].instructions
    )


def inner_branches(divergence: Divergence, region: Region) -> dict[str, Region | None]:
    """Return a region's divergent branches, in reverse post-order, each with its own smaller region, if any."""
    flow = divergence.control_flow
    found: dict[str, Region | None] = {}
    for branch in flow.in_order(region.blocks & divergence.branches):
        (own,) = outermost_regions(flow, [branch])
        found[branch] = own if _is_inside(own, region) else None
    return found


def nested_regions(
    divergence: Divergence, region: Region, branches: frozenset[str], nested: frozenset[str]
) -> tuple[Region, ...]:
    """Return the regions of nested branches. Raises NotTogether where they can't be told apart from it."""
    inner = outermost_regions(divergence.control_flow, nested)
    for each in inner:
        if not _is_inside(each, region) or each.blocks & branches or each.head in branches:
            raise NotTogether("unstructured", "divergent branches inside can't be told apart from this one")
    return inner


def _is_inside(inner: Region, region: Region) -> bool:
    return inner.head in region.blocks and inner.blocks < region.blocks


def check_results(divergence: Divergence, region: Region) -> None:
    """Raise NotTogether where a value leaves the region otherwise than through a phi of its join."""
    kernel = divergence.kernel
    defined = {i.name for block in region.blocks for i in kernel.block[block].instructions if i.name}
    for name in defined:
        for user in kernel.users(name):
            assert user.block is not None
            block = user.block.name
            if block in region.blocks:
                continue
            if block == region.join and user.opcode == "phi" and _is_way_out(user, name, region):
                continue
            raise NotTogether(
                "unstructured", "a value leaves the region by a way that slow and fast path don't share"
            )


def _is_way_out(phi: Instruction, name: str, region: Region) -> bool:
    sources = [source for value, source in zip(phi.operands, phi.incoming, strict=True) if value.text == name]
    return all(source in region.blocks or source == region.head for source in sources)
