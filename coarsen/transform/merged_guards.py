"""Equal conditions, one after the other, become one branch.

    before                          after
    if (i < n) t[i] = k * a[i];     if (i < n) {
    if (i < n) c[i] = t[i] + b[i];      t[i] = k * a[i];
                                        c[i] = t[i] + b[i];
                                    }

    first:  br %c, one, again               first:  br %c, one, again.0
    one:    …  br again                     one:    …  br again.1
    again:  %x = phi [%v, one], [0, first]  again.1: br two          (%x is %v)
            br %d, two, rest                again.0: br rest         (%x is 0)

Before a kernel is coarsened: one region for what were two, one fast path, and what the first part stores the
second need not load (`value_numbering/forwarded_stores.py`). Early returns of functions that were inlined come to
the same: `if (i >= n)`. Why it is legal: `%d` is `%c`, or its opposite, computed of the same values in the same
iteration of each loop, so that each way to `again` goes on where `%d` would lead. No instruction is repeated or
reordered but pure functions that stand in `again`, which are computed earlier. Where anything else stands there,
the parts stay apart; so they do where one has barriers, or orders memory otherwise: device compilers are at their
weakest with barriers under conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from coarsen.analysis.control_flow import EXIT, FlowGraph, flow_graph
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction, predicate
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Operand
from coarsen.ir.kernel import Kernel
from coarsen.transform.names import like
from coarsen.transform.value_numbering.forwarded_stores import same_values

_SIDES = 2
_DIVISIONS = frozenset({Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM})
_OPPOSITE = {"eq": "ne", "slt": "sge", "sgt": "sle", "ult": "uge", "ugt": "ule"}
_OPPOSITE |= {opposite: one for one, opposite in _OPPOSITE.items()}
_SWAPPED = {"eq": "eq", "ne": "ne", "slt": "sgt", "sle": "sge", "ult": "ugt", "ule": "uge"}
_SWAPPED |= {swapped: one for one, swapped in _SWAPPED.items()}


def merge_guards(kernel: Kernel) -> Module | None:
    """Return the module of a kernel whose equal conditions are one branch; None where there are none.

    LLVM has to bring it into normal form; further ones may be found after that.

    Args:
        kernel: in normal form; it stays as it is.
    """
    if _found(kernel.function, EffectsOfKernel.of_module(kernel.graph)) is None:
        return None
    module = kernel.editable_graph()
    function, effects = module.function(kernel.name), EffectsOfKernel.of_module(module)
    while (guard := _found(function, effects)) is not None:
        _merge(function, guard)
        make_names_unique(function, module.structures)
    return module


@dataclass(frozen=True)
class _Guard:
    """A branch on a condition that is known where it is reached.

    Attributes:
        first: the block that branches on it first.
        again: the block that does so again.
        sides: the sources of `again` for which it goes on to its first, and to its second target.
    """

    first: Block
    again: Block
    sides: tuple[tuple[Block, ...], tuple[Block, ...]]


def _found(function: Function, effects: EffectsOfKernel) -> _Guard | None:
    """Return a guard that can be merged with the one before it; None where there is none."""
    branching = [block for block in function.blocks if _branches(block)]
    if len(branching) < _SIDES:
        return None
    flow = flow_graph(function)
    by_name = {block.name: block for block in function.blocks}
    pairs = [
        (by_name[flow.immediate_dominator[block.name]], block)
        for block in branching
        if len(flow.predecessors(block.name)) > 1 and _is_only_pure(block, effects)
    ]
    pairs = [pair for pair in pairs if _branches(pair[0]) and len({flow.loop_of[b.name] for b in pair}) == 1]
    if not pairs:
        return None
    same = same_values((i for name in flow.reverse_postorder for i in by_name[name].instructions), effects)
    for first, again in pairs:
        is_same = _relation(first.terminator.operands[0], again.terminator.operands[0], same)
        sides = None if is_same is None else _sides(first, again, flow, by_name, is_same)
        if sides is not None and not _is_ordered(first, again, flow, by_name, effects):
            return _Guard(first, again, sides)
    return None


def _branches(block: Block) -> bool:
    return len(set(block.terminator.blocks)) == _SIDES and isinstance(block.terminator.operands[0], Instruction)


def _is_only_pure(block: Block, effects: EffectsOfKernel) -> bool:
    """Return True if all but phis and the branch can be computed earlier."""
    phis = set(block.phis)
    return all(
        each in phis
        or (
            effects.is_function_of_operands(each)
            and each.opcode not in _DIVISIONS
            and phis.isdisjoint(each.operands)
        )
        for each in block.instructions[:-1]
    )


def _relation(first: Operand, second: Operand, same: Mapping[Operand, Operand]) -> bool | None:
    """Return True for one condition, False for its opposite; None if neither is known."""
    first, second = same.get(first, first), same.get(second, second)
    if first is second:
        return True
    if not isinstance(first, Instruction) or not isinstance(second, Instruction):
        return None
    if first.opcode is not Opcode.ICMP or second.opcode is not Opcode.ICMP:
        return None
    one, other = ([same.get(each, each) for each in compared.operands] for compared in (first, second))
    wanted = predicate(second)
    if one != other:
        other, wanted = other[::-1], _SWAPPED[wanted]
    if one != other or wanted not in (predicate(first), _OPPOSITE[predicate(first)]):
        return None
    return wanted == predicate(first)


def _sides(
    first: Block, again: Block, flow: FlowGraph, by_name: Mapping[str, Block], is_same: bool
) -> tuple[tuple[Block, ...], tuple[Block, ...]] | None:
    """Tell the sources of a block by the target to which each goes on; None where that isn't known of one."""
    targets = first.terminator.blocks
    sides: tuple[list[Block], list[Block]] = ([], [])
    for name in flow.predecessors(again.name):
        taken = [
            number
            for number, target in enumerate(targets)
            if (name == first.name and target is again)
            or (flow.predecessors(target.name) == [first.name] and flow.dominates(target.name, name))
        ]
        if len(taken) != 1:
            return None
        sides[taken[0] if is_same else 1 - taken[0]].append(by_name[name])
    return (tuple(sides[0]), tuple(sides[1])) if all(sides) else None


def _is_ordered(
    first: Block, again: Block, flow: FlowGraph, by_name: Mapping[str, Block], effects: EffectsOfKernel
) -> bool:
    """Return True if one of the two parts has a barrier, or orders memory otherwise."""
    join = flow.immediate_post_dominator.get(again.name, EXIT)
    parts = flow.between(first.name, again.name) | flow.between(again.name, join)
    return any(effects.of_all(by_name[name].instructions).orders for name in parts if name != EXIT)


# What is written. A phi of `again` is one value on each side; what else uses it reads it from a slot, an alloca of
# which LLVM makes phis.


def _merge(function: Function, guard: _Guard) -> None:
    again = guard.again
    phis = again.phis
    *pure, branch = again.take_from(len(phis))
    for instruction in pure:
        guard.first.insert(len(guard.first.instructions) - 1, instruction)
    entry = Builder(function.entry, branch.origin).at_start(function.entry)
    slots = {phi: entry.allocate(phi.type, like(phi)) for phi in phis if _is_used_beyond(phi, branch)}
    for target, sources in zip(branch.blocks, guard.sides, strict=True):
        side = function.add_after(again, Block(again.name, again.origin))
        build = Builder(side, branch.origin)
        values: dict[Operand, Operand] = {phi: _value_from(phi, sources, build) for phi in phis}
        for phi, slot in slots.items():
            build.store(values[phi], slot)
        build.branch(target)
        for source in sources:
            _replace_target(source, again, side)
        for phi in target.phis:
            for index, (value, source) in enumerate(list(phi.edges())):
                if source is again:
                    phi.set_block(index, side)
                    phi.set_operand(index, values.get(value, value))
    branch.drop_references()
    for phi, slot in slots.items():
        _load_where_used(phi, slot)
    for phi in phis:
        phi.drop_references()
    again.replace_instructions(())
    function.erase(again)


def _is_used_beyond(phi: Instruction, branch: Instruction) -> bool:
    """Return True if more uses a phi than the phis of the blocks that follow, on the way there."""
    for use in phi.uses:
        user = use.user
        assert isinstance(user, Instruction)
        is_next = user.opcode is Opcode.PHI and user.block in branch.blocks
        if not is_next or user.blocks[use.slot] is not phi.block:
            return True
    return False


def _value_from(phi: Instruction, sources: Iterable[Block], build: Builder) -> Operand:
    """Return what a phi is where it is reached from some of its sources."""
    wanted = set(sources)
    edges = [(value, source) for value, source in phi.edges() if source in wanted]
    values = {value for value, _ in edges}
    return edges[0][0] if len(values) == 1 else build.phi(phi.type, edges, like(phi))


def _replace_target(source: Block, old: Block, new: Block) -> None:
    for index, target in enumerate(list(source.terminator.blocks)):
        if target is old:
            source.terminator.set_block(index, new)


def _load_where_used(phi: Instruction, slot: Instruction) -> None:
    for use in list(phi.uses):
        user = use.user
        assert isinstance(user, Instruction)
        assert user.block is not None
        before = user.blocks[use.slot].terminator if user.opcode is Opcode.PHI else user
        loaded = Builder.replacing(before).load(phi.type, slot, like(phi))
        user.set_operand(use.slot, loaded)
