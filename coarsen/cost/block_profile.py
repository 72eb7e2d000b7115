"""How deep a block is, how often it runs, and the plan by which a kernel is counted.

After Sim, Dasgupta, Kim and Vuduc (PPoPP 2012): how much work can be in flight at once follows from how deep
the work depends on itself. With the data dependences between the instructions of one block,

    ILP = operations / longest chain of dependent operations
    MLP = memory accesses / largest number of memory accesses on one chain

Phis and terminators are control, not operations. Dependences through memory are not followed: a load does not
wait for a store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from coarsen.analysis.algebra.index_forms import IndexForms
from coarsen.analysis.executions import ASSUMED_TRIPS
from coarsen.analysis.loop_counts import trip_counts
from coarsen.cost.instruction_kinds import is_memory_access
from coarsen.ir.graph.instruction import Instruction
from coarsen.transform.coarsen import Analysed
from coarsen.transform.regions.plan import RegionPlan
from coarsen.transform.regions.plan_regions import plan_regions
from coarsen.variant.transforms import REPLICATION_ALONE

_CONTROL = frozenset({"phi", "br", "ret", "switch", "unreachable"})


def is_operation(instruction: Instruction) -> bool:
    """Return True if an instruction is work, not control."""
    return instruction.opcode not in _CONTROL


def dependence_depth(
    instructions: Iterable[Instruction],
    standing_for: Mapping[str, str] | None = None,
    prologue: Sequence[Instruction] = (),
    *,
    all_counted: bool = False,
) -> tuple[int, int]:
    """Return the longest chains of data dependences among a block's instructions: operations, memory accesses.

    Args:
        instructions: those of one block, in their order.
        standing_for: values that were replaced by others, by their old name; not in the prologue.
        prologue: instructions before those; all are counted.
        all_counted: whether control is a link of a chain, too.
    """
    replaced: Mapping[str, str] = {}
    operations: dict[str, int] = {}
    accesses: dict[str, int] = {}
    deepest = most = 0
    counted = (each for each in (*prologue, *instructions) if all_counted or is_operation(each))
    for index, instruction in enumerate(counted):
        if index == len(prologue):
            replaced = standing_for or {}
        names = [operand.text for operand in instruction.operands if operand.is_local]
        sources = [replaced.get(name, name) for name in names]
        depth = 1 + max((operations.get(source, 0) for source in sources), default=0)
        access_depth = max((accesses.get(source, 0) for source in sources), default=0)
        access_depth += is_memory_access(instruction)
        if instruction.name:
            operations[instruction.name], accesses[instruction.name] = depth, access_depth
        deepest, most = max(deepest, depth), max(most, access_depth)
    return deepest, most


# The plan by which a kernel is counted, and how often its blocks run.
#
#     outside of regions      the terminator and uniform instructions once, divergent ones once for each replica
#     fast path, lock-step    the same, for as long as the replicas agree; the region stands a second time besides
#     copies                  the whole block once for each replica
#
# Features, the report, register pressure and the costs of launches ask it, so that they all mean the same plan.
#
# A block runs once for every round of every loop around it, as far as the code says: `block_weights`.

MAXIMUM_WEIGHT = 1_000_000


def region_plan(analysed: Analysed) -> RegionPlan:
    """Return what replication alone, with which the predictors were trained, does to divergent regions."""
    return plan_regions(analysed.divergence, analysed.regions, REPLICATION_ALONE)


def block_weights(forms: IndexForms) -> Mapping[str, int]:
    """Return how often each block runs for a work-item, at least 1, by the block's name."""
    counts = trip_counts(forms)
    weights: dict[str, int] = {}
    for block in forms.kernel.blocks:
        weight = 1
        for loop in forms.control_flow.loops_around(block.name):
            weight = min(MAXIMUM_WEIGHT, weight * max(1, counts.get(loop.header, ASSUMED_TRIPS)))
        weights[block.name] = weight
    return weights
