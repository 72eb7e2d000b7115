"""Locks that nobody holds for longer than an iteration of the loop that takes them.

    while (!done)
        if (atomic_cmpxchg(lock, 0, 1) == 0) {
            …
            atomic_xchg(lock, 0);
            done = true;
        }

Whoever takes such a lock gives it back without waiting for anything. So merged work-items never hold one while
another of them tries to take it in vain for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coarsen.analysis.control_flow import FlowGraph, Loop
from coarsen.analysis.shared_memory import SharedMemory
from coarsen.ir.graph.instruction import Instruction, predicate
from coarsen.ir.graph.operands import Operand, ValueKind


def is_given_back(flow: FlowGraph, memory: SharedMemory, loop: Loop, observed: Sequence[Instruction]) -> bool:
    """Return True if all that a loop waits for is a lock that is held only within an iteration.

    Args:
        flow: the kernel's.
        memory: what the kernel does to it.
        loop: that waits.
        observed: by what it sees what others do.
    """
    places = {memory.key(taking.arguments[0]) for taking in observed}
    root = memory.root(observed[0].arguments[0])
    if len(places) > 1 or root is None:
        return False
    taken = [_taken(memory, taking) for taking in observed]
    giving: list[Instruction] = []
    for instruction in memory.kernel.instructions():
        if instruction not in observed and any(memory.leads_into(p, root) for p in memory.writes(instruction)):
            giving.append(instruction)
    inside = {i for name in loop.blocks for i in memory.kernel.block[name].instructions}
    for entered in taken:
        if entered is None:
            return False
        start, free = entered
        if not all(i in inside and _gives(memory, i, places, free) for i in giving):
            return False
        if not _is_always_passed(flow, memory, loop, start, giving):
            return False
    return True


def _taken(memory: SharedMemory, taking: Instruction) -> tuple[str, str] | None:
    """Return the block that is entered once a lock is taken, and the number that says that it is free."""
    if memory.operation(taking) not in ("cmpxchg", "xchg"):
        return None
    kernel = memory.kernel
    branch = kernel.block[kernel.block_of[taking.name]].terminator
    asked = kernel.definition.get(branch.operands[0].text) if len(branch.targets) == 2 else None
    is_negated = False
    while asked is not None and asked.opcode == "xor" and asked.operands[1].text == "true":
        asked, is_negated = kernel.definition.get(asked.operands[0].text), not is_negated
    if asked is None or asked.opcode != "icmp" or predicate(asked) not in ("eq", "ne"):
        return None
    numbers = [each.text for each in asked.operands if each.kind is ValueKind.CONSTANT]
    if len(numbers) != 1 or taking.name not in [each.text for each in asked.operands]:
        return None
    [free] = numbers
    expected = taking.arguments[1].text
    if (expected == free) is not (memory.operation(taking) == "cmpxchg"):
        return None
    return branch.targets[int((predicate(asked) == "eq") is is_negated)], free


def _gives(memory: SharedMemory, instruction: Instruction, places: set[object], free: str) -> bool:
    """Return True if an instruction stores the number that says that the lock is free."""
    if not all(memory.key(pointer) in places for pointer in memory.writes(instruction)):
        return False
    stored: Operand
    if instruction.opcode == "store":
        stored = instruction.operands[0]
    elif memory.operation(instruction) in ("xchg", "store"):
        stored = instruction.arguments[1]
    else:
        return False
    return stored.text == free


def _is_always_passed(
    flow: FlowGraph, memory: SharedMemory, loop: Loop, start: str, passed: Iterable[Instruction]
) -> bool:
    """Return True if each way from a block passes one of some instructions before the iteration ends."""
    there = set(passed)
    pending, seen = [start], set[str]()
    while pending:
        block = pending.pop()
        if block not in loop.blocks or block == loop.header:
            return False
        if block in seen or not there.isdisjoint(memory.kernel.block[block].instructions):
            continue
        seen.add(block)
        pending += flow.successors(block)
    return True
