"""Loads of what the same work-item has just stored take the stored value.

    before                                          after
    store float %scaled, t[%i]                      store float %scaled, t[%i]
    %loaded = load float, t[%i]
    %sum = fadd float %loaded, %b                   %sum = fadd float %scaled, %b

Before a kernel is coarsened, so that no other replica's store stands between, and one value less is copied for
each. Why it is legal: the store is on every way to the load, in the same iteration of each loop, and its address
is the same value. Nothing on these ways may write any byte of it: no store to memory that may be the same
(`Aliasing`), unless `exact_forms.py` says that it is to other bytes; no call that writes; nothing that orders
memory (barriers, fences, atomics, volatile accesses), after which another work-item's store may be seen. Loads
that are volatile or atomic stay. A value of another type with as many bits is taken as that type (`as_uint`); a
part of what was stored is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from coarsen.analysis.algebra.exact_forms import ExactForms
from coarsen.analysis.control_flow import ControlFlow
from coarsen.analysis.memory_accesses import Aliasing, Place, root_of
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import Opcode, is_shown
from coarsen.ir.graph.instruction import Instruction
from coarsen.ir.graph.module import Module
from coarsen.ir.graph.names import make_names_unique
from coarsen.ir.graph.operands import Argument, Named, Operand
from coarsen.ir.graph.rewriting import copy_module
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import FloatType, IntegerType, Type, VectorType, content_bytes, size_of
from coarsen.transform.names import like
from coarsen.transform.value_numbering.expressions import Expressions, Key

_BYTE = 8
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
        key = expressions.key(each, [found.get(o, o) if isinstance(o, Named) else o for o in each.operands], 0)
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
    return isinstance(element, FloatType) or (isinstance(element, IntegerType) and element.width % _BYTE == 0)
