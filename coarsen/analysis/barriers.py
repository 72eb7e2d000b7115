"""Barriers that order nothing, and ways through a kernel that differ in their barriers.

After a barrier that orders nothing no work-item does anything that another could notice or disturb:

    out[g] = sum;                          out[g] = sum;
    barrier(CLK_GLOBAL_MEM_FENCE);         barrier(CLK_GLOBAL_MEM_FENCE);
                  idle                     next[g] = out[g + 1];         not idle

A barrier stays if memory that work-items share may be accessed both before and after it and is written on one
side, or if anything is atomic, volatile or not known on one side and any such memory is accessed on the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

from coarsen.analysis.control_flow import EXIT, ControlFlow, Graph, reached
from coarsen.analysis.memory_accesses import Place
from coarsen.analysis.memory_effects import NO_EFFECTS, EffectsOfKernel, MemoryEffects
from coarsen.analysis.shared_memory import SharedMemory
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.opencl.builtins import is_barrier, is_group_copy


def idle_barriers(kernel: Kernel) -> list[Instruction]:
    """Return the barriers of a kernel in normal form that order nothing.

    All of them may be left out. Copies by the whole work-group, and waiting for these, are not among them.
    """
    flow, memory = ControlFlow(kernel), SharedMemory(kernel, EffectsOfKernel.of_kernel(kernel))
    found = []
    for block in kernel.blocks:
        for index, instruction in enumerate(block.instructions):
            if is_barrier(instruction) and not is_group_copy(instruction):
                earlier = _instructions(kernel, reached([block.name], flow.predecessors))
                later = _instructions(kernel, reached([block.name], flow.successors))
                before = _effects(memory, [*block.instructions[:index], *earlier])
                after = _effects(memory, [*block.instructions[index:], *later])
                if not _is_ordering(memory, before, after):
                    found.append(instruction)
    return found


def _instructions(kernel: Kernel, blocks: Iterable[str]) -> Iterator[Instruction]:
    return (instruction for block in blocks for instruction in kernel.block[block].instructions)


def _effects(memory: SharedMemory, instructions: Iterable[Instruction]) -> MemoryEffects:
    """Return what instructions do, barriers apart, to memory that work-items share."""
    others = (i for i in instructions if not is_barrier(i) or is_group_copy(i))
    effects = memory.effects.of_all(others)
    reads, writes = (tuple(filter(memory.is_shared, each)) for each in (effects.reads, effects.writes))
    return replace(effects, reads=reads, writes=writes)


def _place(memory: SharedMemory, pointer: Operand) -> Place:
    """Return where a pointer leads: for an argument anywhere, since `restrict` is about one work-item."""
    place = memory.place(pointer)
    is_argument = place.root is not None and place.root.kind is ValueKind.ARGUMENT
    return Place(place.space, None) if is_argument else place


def _is_ordering(memory: SharedMemory, before: MemoryEffects, after: MemoryEffects) -> bool:
    """Return True if a barrier between some accesses and others may make a difference."""
    sides = before, after
    if NO_EFFECTS in sides:
        return False
    if any(each.orders or each.is_counted or each.writes_anything or each.reads_anything for each in sides):
        return True

    def places(pointers: Iterable[Operand]) -> set[Place]:
        return {_place(memory, pointer) for pointer in pointers}

    pairs = itertools.chain(
        itertools.product(places(before.writes), places(after.reads + after.writes)),
        itertools.product(places(before.reads), places(after.writes)),
    )
    return any(memory.aliasing.may_be_same(*pair) for pair in pairs)


# The number of ways through a kernel that differ in the barriers on them.
#
#     if (a) { barrier(…); }            one way with the first barrier or without it,
#     if (b) { barrier(…); }            and with the second one or without it: 4 ways
#     for (…) { barrier(…); }           a loop is entered or not: 8 ways
#
# A compiler that gives each way code of its own (PoCL's does) takes as long as there are ways.


def ways_by_barriers(kernel: Kernel) -> int:
    """Return the number of ways from the kernel's start to its end, told apart by branches around barriers.

    A loop's iterations after the first are no further ways. A kernel without barriers has one.
    """
    with_barriers = [block.name for block in kernel.blocks if any(map(is_barrier, block.instructions))]
    if not with_barriers:
        return 1
    flow = ControlFlow(kernel)
    graph = Graph((), _steps(flow, flow.controlling(*with_barriers)))
    ways = {EXIT: 1}
    for block in graph.postorder(flow.entry):
        if block not in ways:
            ways[block] = sum(ways[following] for following in graph.successors(block))
    return ways[flow.entry]


def _steps(flow: ControlFlow, conditions: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Return where a way may go on from each block; loops are left after one iteration."""
    for block in flow.reverse_postorder:
        targets = flow.successors(block) if block in conditions else [_join(flow, block)]
        for target in targets:
            yield block, _ahead(flow, block, target)


def _ahead(flow: ControlFlow, block: str, target: str) -> str:
    """Return where a step leads: out of the loop, where it goes back to the loop's start."""
    loop = flow.loop_at.get(target)
    if loop is None or block not in loop.blocks:
        return target
    while target in loop.blocks:
        target = _join(flow, target)
    return _ahead(flow, block, target)


def _join(flow: ControlFlow, block: str) -> str:
    """Return the next block that every way from `block` comes through."""
    return flow.immediate_post_dominator.get(block, EXIT)
