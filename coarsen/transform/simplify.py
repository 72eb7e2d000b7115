"""Before a kernel is coarsened: equal conditions become one branch, loads take what was just stored.

    before                          after
    if (i < n) t[i] = k * a[i];     if (i < n) {
    if (i < n) c[i] = t[i] + b[i];      float value = k * a[i];
                                        t[i] = value;
                                        c[i] = value + b[i];
                                    }

One region for what were two, one fast path, one value less for each replica; and no other replica's store stands
between yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from coarsen.analysis.algebra.exact_forms import ExactForms
from coarsen.analysis.control_flow import EXIT, ControlFlow, FlowGraph, flow_graph
from coarsen.analysis.memory_accesses import Aliasing, Place, root_of
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode, is_shown
from coarsen.ir.graph.function import Function
from coarsen.ir.graph.instruction import Block, Instruction, predicate
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Argument, Named, Operand
from coarsen.ir.graph.rewriting import copy_module
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import FloatType, IntegerType, Type, VectorType, content_bytes, size_of
from coarsen.transform.names import like
from coarsen.transform.value_numbering.expressions import Expressions, Key

# Equal conditions, one after the other. Early returns of functions that were inlined come to the same: `if (i >=
# n)`.
#
#     first:  br %c, one, again               first:  br %c, one, again.0
#     one:    …  br again                     one:    …  br again.1
#     again:  %x = phi [%v, one], [0, first]  again.1: br two          (%x is %v)
#             br %d, two, rest                again.0: br rest         (%x is 0)
#
# Why it is legal: `%d` is `%c`, or its opposite, computed of the same values in the same iteration of each loop,
# so that each way to `again` goes on where `%d` would lead. Nothing is repeated or reordered but pure functions
# that stand in `again`, which are computed earlier. Where anything else stands there, the parts stay apart; so
# they do where one has barriers, or orders memory otherwise: device compilers are at their weakest with barriers
# under conditions.

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
    if not _found(kernel.function, EffectsOfKernel.of_module(kernel.graph)):
        return None
    module = kernel.editable_graph()
    function, effects = module.function(kernel.name), EffectsOfKernel.of_module(module)
    while guards := _found(function, effects):
        for guard in guards:
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

    @property
    def blocks(self) -> set[Block]:
        """Return the blocks that merging changes, phis of the targets apart."""
        return {self.first, self.again, *self.sides[0], *self.sides[1]}


def _found(function: Function, effects: EffectsOfKernel) -> list[_Guard]:
    """Return guards that can be merged with the ones before them, each with blocks of its own."""
    branching = [block for block in function.blocks if _branches(block)]
    if len(branching) < _SIDES:
        return []
    flow = flow_graph(function)
    by_name = {block.name: block for block in function.blocks}
    pairs = [
        (by_name[flow.immediate_dominator[block.name]], block)
        for block in branching
        if len(flow.predecessors(block.name)) > 1 and _is_only_pure(block, effects)
    ]
    pairs = [pair for pair in pairs if _branches(pair[0]) and len({flow.loop_of[b.name] for b in pair}) == 1]
    if not pairs:
        return []
    same = same_values((i for name in flow.reverse_postorder for i in by_name[name].instructions), effects)
    found: list[_Guard] = []
    taken: set[Block] = set()
    for first, again in pairs:
        if not taken.isdisjoint((first, again)):
            continue
        is_same = _relation(first.terminator.operands[0], again.terminator.operands[0], same)
        sides = None if is_same is None else _sides(first, again, flow, by_name, is_same)
        if sides is None or _is_ordered(first, again, flow, by_name, effects):
            continue
        guard = _Guard(first, again, sides)
        if taken.isdisjoint(guard.blocks):
            found.append(guard)
            taken |= guard.blocks
    return found


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


# Loads of what the same work-item has just stored take the stored value.
#
#     before                                          after
#     store float %scaled, t[%i]                      store float %scaled, t[%i]
#     %loaded = load float, t[%i]
#     %sum = fadd float %loaded, %b                   %sum = fadd float %scaled, %b
#
# Why it is legal: the store is on every way to the load, in the same iteration of each loop, and its address is
# the same value. Nothing on these ways may write any byte of it: no store to memory that may be the same
# (`Aliasing`), unless `exact_forms.py` says that it is to other bytes; no call that writes; nothing that orders
# memory (barriers, fences, atomics, volatile accesses), after which another work-item's store may be seen. Loads
# that are volatile or atomic stay. A value of another type with as many bits is taken as that type (`as_uint`); a
# part of what was stored is loaded as before.

# Of integers whose bits fill their bytes.
_WIDTHS = (8, 16, 32, 64)
# Stores that are remembered at a time, so that a long kernel takes no longer for each.
_MOST_STORES = 16


def forward_stores(kernel: Kernel, is_distinct: bool = False) -> Module | None:
    """Return the module of a kernel whose loads take what was stored; None where none does.

    Args:
        kernel: in normal form; it stays as it is.
        is_distinct: whether its arguments point to distinct memory.
    """
    flow, effects = ControlFlow(kernel), EffectsOfKernel.of_module(kernel.graph)
    if not _may_be_any(kernel, flow, effects):
        return None
    found = _Forwarding(kernel, flow, effects, is_distinct).found()
    if not found:
        return None
    module, copies = copy_module(kernel.graph)
    taken: dict[Operand, Operand] = {}
    for load, value in found.items():
        copied = copies.find(load)
        assert isinstance(copied, Instruction)
        new = copies.operand(value)
        new = taken.get(new, new)
        if new.type != copied.type:
            new = Builder.replacing(copied).cast(Opcode.BITCAST, new, copied.type, like(copied))
        taken[copied] = new
        copied.replace_all_uses(new)
        copied.erase()
    make_names_unique(module.function(kernel.name), module.structures)
    return module


def _may_be_any(kernel: Kernel, flow: ControlFlow, effects: EffectsOfKernel) -> bool:
    """Return False where no load follows a store to the same argument or variable: the usual case, soon told."""
    stored: set[Operand | None] = set()
    for name in flow.reverse_postorder:
        for each in kernel.block[name].instructions:
            if each.opcode is Opcode.STORE:
                stored.add(root_of(each.operands[1]))
            elif (
                each.opcode is Opcode.LOAD and stored and not stored.isdisjoint({root_of(each.operands[0]), None})
            ):
                return True
            elif each.opcode is Opcode.CALL and effects.of(each).orders:
                stored.clear()
    return False


def same_values(instructions: Iterable[Instruction], effects: EffectsOfKernel) -> dict[Operand, Operand]:
    """Return for each pure function of operands the first one that computes the same, wherever it stands.

    Both are the same where both are computed, in one iteration of the loops around them.

    Args:
        instructions: of a function, each after those that it computes with, phis apart.
        effects: the judge of them.
    """
    expressions = Expressions(effects)
    first: dict[Key, Instruction] = {}
    found: dict[Operand, Operand] = {}
    for each in instructions:
        if each.opcode is Opcode.LOAD or each.opcode is Opcode.PHI:
            continue
        operands = [found.get(o, o) if isinstance(o, Named) else o for o in each.operands]
        if each.opcode is Opcode.GETELEMENTPTR and all(index.number == 0 for index in operands[1:]):
            found[each] = operands[0]
            continue
        key = expressions.key(each, operands, 0)
        if key is not None:
            found[each] = first.setdefault(key, each)
    return found


class _Stored(NamedTuple):
    """What a store has written, where nothing has been since; `address` is the first value that is its pointer."""

    address: Operand
    value: Operand
    store: Instruction
    place: Place


class _Forwarding:
    """One walk over a kernel, each block after those that dominate it."""

    def __init__(self, kernel: Kernel, flow: ControlFlow, effects: EffectsOfKernel, is_distinct: bool) -> None:
        self._kernel, self._flow, self._effects = kernel, flow, effects
        self._is_distinct = is_distinct
        self._aliasing = Aliasing(kernel)
        self._order = flow.reverse_postorder
        self._same = same_values((i for b in self._order for i in kernel.block[b].instructions), self._effects)
        self._at_end: dict[str, tuple[_Stored, ...]] = {}

    @cached_property
    def _forms(self) -> ExactForms:
        return ExactForms(self._kernel)

    def found(self) -> Mapping[Instruction, Operand]:
        """Return the loads, with what they give."""
        loads: dict[Instruction, Operand] = {}
        for name in self._order:
            now = self._on_entry(name)
            for instruction in self._kernel.block[name].instructions:
                if instruction.opcode is Opcode.LOAD and not is_shown(instruction.detail):
                    value = self._value_of(instruction, name, now)
                    if value is not None:
                        loads[instruction] = value
                now = self._after(instruction, now)
                if instruction.opcode is Opcode.STORE and not is_shown(instruction.detail):
                    now = (*now[1 - _MOST_STORES :], self._written(instruction))
            self._at_end[name] = now
        return loads

    def _on_entry(self, block: str) -> tuple[_Stored, ...]:
        """Return what is known where a block begins: at its dominator's end, less what is written in between."""
        sources = self._flow.predecessors(block)
        if len(sources) == 1:
            return self._at_end.get(sources[0], ())
        if not sources:
            return ()
        last = self._flow.immediate_dominator[block]
        now, loop = self._at_end[last], self._flow.loop_at.get(block)
        # What an iteration stores is no matter of the next one's, but may be written over.
        passed = self._flow.between(last, block) if loop is None else loop.blocks | self._flow.between(last, block)
        for between in passed if now else ():
            for instruction in self._kernel.block[between].instructions:
                now = self._after(instruction, now)
        return now

    def _written(self, store: Instruction) -> _Stored:
        value, pointer = store.operands
        return _Stored(self._same.get(pointer, pointer), value, store, self._aliasing.place(pointer))

    def _after(self, instruction: Instruction, now: tuple[_Stored, ...]) -> tuple[_Stored, ...]:
        """Return what is still known after an instruction."""
        touched = self._effects.of(instruction)
        if not now or not touched.changes_memory:
            return now
        if touched.orders or touched.writes_anything:
            return ()
        return tuple(each for each in now if not self._may_write(instruction, touched.writes, each))

    def _may_write(self, instruction: Instruction, written: Iterable[Operand], known: _Stored) -> bool:
        """Return True if an instruction that writes to some pointers may write what a store has written."""
        for place in map(self._aliasing.place, written):
            roots = place.root, known.place.root
            is_apart = (
                self._is_distinct and roots[0] is not roots[1] and all(isinstance(r, Argument) for r in roots)
            )
            if is_apart or not self._aliasing.may_be_same(place, known.place):
                continue
            if instruction.opcode is not Opcode.STORE or not self._are_apart(instruction, known.store):
                return True
        return False

    def _are_apart(self, first: Instruction, second: Instruction) -> bool:
        """Return True if two stores are to different bytes, whatever wraps."""
        one, other = (self._forms.address(each.operands[1]) for each in (first, second))
        if one.form != other.form:
            return False
        distance, sizes = other.offset - one.offset, [size_of(each.operands[0].type) for each in (first, second)]
        wraps = [wrap for wrap in (one.wrap, other.wrap) if wrap is not None]
        if not wraps:
            return distance >= sizes[0] or -distance >= sizes[1]
        # They are so far apart, or by a multiple of this more or less.
        cycle = min(wraps)
        return distance % cycle >= sizes[0] and -distance % cycle >= sizes[1]

    def _value_of(self, load: Instruction, block: str, now: tuple[_Stored, ...]) -> Operand | None:
        """Return what a load gives, if that is known and may be used where it stands."""
        address = self._same.get(load.operands[0], load.operands[0])
        known = next((each for each in reversed(now) if each.address == address), None)
        if known is None or not _is_taken_as(known.value.type, load.type):
            return None
        value, loop = known.value, self._flow.loop_of[block]
        if loop is not None and (known.store.block is None or known.store.block.name not in loop.blocks):
            return None  # what waits in a loop for another work-item keeps looking
        defined = value.block.name if isinstance(value, Instruction) and value.block is not None else None
        return value if defined is None or self._flow.may_use(block, defined) else None


def _is_taken_as(stored: Type, loaded: Type) -> bool:
    """Return True if a value of one type has the bits of one of another, and as many."""
    if stored == loaded:
        return True
    return _is_number(stored) and _is_number(loaded) and content_bytes(stored) == content_bytes(loaded)


def _is_number(type_: Type) -> bool:
    element = type_.element if isinstance(type_, VectorType) else type_
    return isinstance(element, FloatType) or (isinstance(element, IntegerType) and element.width in _WIDTHS)
