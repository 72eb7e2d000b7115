"""The locations that a loop accesses at an address that never changes, and what else it does to memory.

    for (k = 0; k < n; k++)
        c[i * n + j] += a[i * n + k] * b[k * n + j];        location c[i * n + j], one load and one store

A location is free if nothing else in the loop may touch it: other accesses have other roots, whose memory lies
apart, or lie a known distance away (`_distance`), whatever wraps.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from coarsen.analysis.algebra.walk import address_steps
from coarsen.analysis.control_flow import FlowGraph, Loop
from coarsen.analysis.distinct_arguments import may_meet
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.analysis.pointer_roots import PointerRoots, Roots
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import CallSite, Opcode
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Argument, Named, Operand, Variable
from coarsen.ir.graph.rewriting import without_operands
from coarsen.ir.types import AddressSpace, FloatType, IntegerType, PointerType, Type, scalar, size_of
from coarsen.transform.prologue import INDEX

_BYTE = 8
_SPACES = frozenset({AddressSpace.GLOBAL, AddressSpace.LOCAL})


@dataclass(frozen=True, slots=True)
class PlainAccess:
    """A load or a store, neither atomic nor volatile: of `type`, through `pointer`, which has these roots."""

    instruction: Instruction
    pointer: Operand
    type: Type
    roots: Roots | None

    @property
    def is_store(self) -> bool:
        """Return True for a store."""
        return self.instruction.opcode is Opcode.STORE


@dataclass(slots=True)
class Location:
    """An address that does not change, in the memory of `root`, and the accesses to it in the loop's order."""

    root: Named
    pointer: Operand
    accesses: list[PlainAccess] = field(default_factory=list)

    @property
    def type(self) -> Type:
        """The type of the value that is there; of one kind only if `is_of_one_type`."""
        return self.accesses[0].type

    @property
    def is_of_one_type(self) -> bool:
        """Return True if all accesses are to numbers, or vectors of them, of one type."""
        return len({str(access.type) for access in self.accesses}) == 1 and _is_number(self.type)

    @property
    def is_written(self) -> bool:
        """Return True if the loop stores there."""
        return any(access.is_store for access in self.accesses)

    def blocks(self, *, stores_only: bool = False) -> frozenset[str]:
        """Return the names of the blocks of the accesses, or of the stores alone."""
        chosen = (access.instruction for access in self.accesses if access.is_store or not stores_only)
        return frozenset(each.block.name for each in chosen if each.block is not None)


@dataclass(frozen=True)
class LoopMemory:
    """What a loop does to memory.

    Attributes:
        plain: its plain loads and stores.
        others: the roots of what its calls read and write.
        is_ordered: whether anything in it keeps accesses in order, or may touch any memory.
    """

    plain: tuple[PlainAccess, ...]
    others: tuple[Roots | None, ...]
    is_ordered: bool

    @classmethod
    def of(cls, instructions: Iterable[Instruction], effects: EffectsOfKernel, roots: PointerRoots) -> LoopMemory:
        """Return what the instructions of a loop do."""
        plain: list[PlainAccess] = []
        others: list[Roots | None] = []
        is_ordered = False
        for each in instructions:
            touched = effects.of(each)
            is_ordered |= touched.orders or touched.reads_anything or touched.writes_anything
            if each.opcode is Opcode.LOAD:
                plain.append(PlainAccess(each, each.operands[0], each.type, roots.of(each.operands[0])))
            elif each.opcode is Opcode.STORE:
                value, pointer = each.operands
                plain.append(PlainAccess(each, pointer, value.type, roots.of(pointer)))
            else:
                others += [roots.of(pointer) for pointer in (*touched.reads, *touched.writes)]
        return cls(tuple(plain), tuple(others), is_ordered)

    def locations(self, invariants: Invariants) -> Iterator[Location]:
        """Yield the locations that the loop writes, in the order of their first access."""
        found: dict[Hashable, Location] = {}
        for access in self.plain:
            root = _only_root(access)
            key = None if root is None else invariants.key(access.pointer)
            if root is not None and key is not None:
                found.setdefault(key, Location(root, access.pointer)).accesses.append(access)
        yield from (location for location in found.values() if location.is_written)

    def touches(self, location: Location, invariants: Invariants) -> bool:
        """Return True if something besides a location's own accesses may touch it.

        Args:
            location: of the loop.
            invariants: of the loop.
        """
        own = {id(access.instruction) for access in location.accesses}
        roots = frozenset({location.root})
        if any(may_meet(roots, other) for other in self.others):
            return True
        others = (access for access in self.plain if id(access.instruction) not in own)
        return any(
            may_meet(roots, access.roots) and not _are_apart(location, access, invariants) for access in others
        )


def _only_root(access: PlainAccess) -> Named | None:
    """Return the root of an access to global or local memory, if it is one alone."""
    if access.roots is None or len(access.roots) != 1:
        return None
    (root,) = access.roots
    type_ = access.pointer.type
    is_object = isinstance(root, Argument | Variable) and isinstance(root.type, PointerType)
    return root if is_object and isinstance(type_, PointerType) and type_.address_space in _SPACES else None


def _is_number(type_: Type) -> bool:
    element = scalar(type_)
    if isinstance(element, IntegerType):
        return element.width % _BYTE == 0
    return isinstance(element, FloatType)


def _are_apart(location: Location, access: PlainAccess, invariants: Invariants) -> bool:
    """Return True if an access is surely not to any byte of a location, in whichever iterations both are."""
    distance = _distance(location.pointer, access.pointer, invariants)
    if distance is None:
        return False
    return distance >= size_of(location.type) or -distance >= size_of(access.type)


# How far apart two addresses are that a loop does not change.
#
# c[i].x and c[i].y       the same variable steps from the same pointer: 4 bytes
# c[i] and c[i + 1]       for indices of 64 bits: 4 bytes; for 32 bits not known, i + 1 may wrap
# c[i] and c[j]           not known

# Beyond, addresses of 32 bits might come round.
_FURTHEST = 2**31


_Steps = tuple[Hashable, Counter[tuple[int, Hashable]], int]
"""An address: from what, by which bytes times values, and how many bytes more."""


def _distance(first: Operand, second: Operand, invariants: Invariants) -> int | None:
    """Return how many bytes the second address lies after the first; None where that isn't known."""
    one, other = (_steps(each, invariants) for each in (first, second))
    if one is None or other is None or one[:2] != other[:2]:
        return None
    distance = other[2] - one[2]
    return distance if abs(distance) < _FURTHEST else None


def _steps(pointer: Operand, invariants: Invariants) -> _Steps | None:
    variable: Counter[tuple[int, Hashable]] = Counter()
    constant = 0
    while isinstance(pointer, Instruction) and pointer.opcode is Opcode.GETELEMENTPTR:
        steps = address_steps(pointer)
        if steps is None:
            return None
        for step, operand in zip(steps, pointer.operands[1:], strict=True):
            factor = 1 if step.index is None else step.index.number
            if factor is not None:
                constant += step.bytes * factor
                continue
            index, more = _without_constant(operand)
            constant += step.bytes * more
            key = invariants.key(index)
            if key is None:
                return None
            variable[step.bytes, key] += 1
        pointer = pointer.operands[0]
    base = invariants.key(pointer)
    return None if base is None else (base, variable, constant)


def _without_constant(index: Operand) -> tuple[Operand, int]:
    """Return what an index of 64 bits is the sum of: a value, and a constant if it is one's last operand."""
    total = 0
    while isinstance(index, Instruction) and index.opcode is Opcode.ADD and index.type == INDEX:
        value, last = index.operands
        number = last.number
        if number is None:
            break
        index, total = value, total + number
    return index, total


# Under which condition, known before a loop, each way out of it has passed some of its blocks.
#
#     for (k = 0; k < n; k++)          0 < n
#         c[i] += a[k];
#
#     for (t = 0; t < m; t++)          0 < m && 0 < n
#         if (0 < n)
#             c[i] += a[t];
#
# The condition is a conjunction of tests: the header's first one, on the values with which the loop is entered,
# where the blocks are passed before the header is reached again; and tests of the loop that are the same in each
# iteration (`Invariants`) and one of whose sides leads to none of the blocks. Where it is false, none of the
# blocks is reached.

_SIDES = (True, False)
_BRANCHES = 2


@dataclass(frozen=True, slots=True)
class Test:
    """A branch's condition and what it must be.

    `is_first` for the header's, on the loop's initial values; `key` identifies any other's condition.
    """

    condition: Operand
    value: bool
    is_first: bool = False
    key: Hashable = None


class Certainty:
    """Finds the tests for the blocks of one loop.

    Args:
        loop: with one preheader.
        blocks: the function's, by name.
        flow: the function's.
        invariants: of the loop.
        entering: of the loop with the values with which it is entered.
    """

    def __init__(
        self,
        loop: Loop,
        blocks: Mapping[str, Block],
        flow: FlowGraph,
        invariants: Invariants,
        entering: Invariants,
    ) -> None:
        self._loop = loop
        self._blocks = blocks
        self._entering = entering
        self._latches = [start for start, end in flow.back_edges if end == loop.header]
        branches = {name: blocks[name].terminator for name in loop.blocks}
        # Of conditions on which blocks branch; None for what changes, or is none.
        self._keys = {
            name: invariants.key(branch.operands[0]) if len(branch.blocks) == _BRANCHES else None
            for name, branch in branches.items()
        }
        self._order = flow.in_order(loop.blocks)

    def tests(self, accesses: frozenset[str], certain: frozenset[str]) -> tuple[Test, ...] | None:
        """Return tests: if they hold, each way out passes one of `certain`; if not, `accesses` aren't reached.

        Args:
            accesses: blocks that are not reached where a test fails.
            certain: the ones of them of which one must be passed on each way out of the loop.

        Returns:
            None where there are none; no test at all where it is always so.
        """
        # Where the first test fails, the header itself has been passed.
        first = None if self._loop.header in accesses else self._first_test()
        invariant = tuple(self._invariant_tests(accesses))
        for is_entered, known in itertools.product((False, True), ((), invariant)):
            if is_entered and first is None:
                continue
            if self._is_passed(certain, is_entered, known):
                return (first, *known) if is_entered and first is not None else known
        return None

    def _first_test(self) -> Test | None:
        """Return the header's test that the loop is entered, if that can be computed before it."""
        branch = self._blocks[self._loop.header].terminator
        inside = [target.name in self._loop.blocks for target in branch.blocks]
        if len(inside) != _BRANCHES or inside[0] == inside[1]:
            return None
        condition = branch.operands[0]
        return Test(condition, inside[0], True) if self._entering.key(condition) is not None else None

    def _invariant_tests(self, accesses: frozenset[str]) -> Iterator[Test]:
        """Yield the invariant tests that are passed on each way to the accesses, outer ones first."""
        seen: set[Hashable] = set()
        for name in self._order:
            key = self._keys[name]
            if key is None or key in seen:
                continue
            seen.add(key)
            for value in _SIDES:
                test = Test(self._blocks[name].terminator.operands[0], value, key=key)
                if accesses.isdisjoint(self.one_iteration((replace(test, value=not value),)).reverse_postorder):
                    yield test
                    break

    def _is_passed(self, certain: frozenset[str], is_entered: bool, known: Iterable[Test]) -> bool:
        """Return True if, where tests hold, one of some blocks is on each way out of the loop."""
        flow = self.one_iteration(known)
        reached = frozenset(flow.reverse_postorder)
        leaving = {
            name
            for name in reached
            if any(end.name not in self._loop.blocks for end in self._blocks[name].terminator.blocks)
        }
        if is_entered:
            leaving = (leaving - {self._loop.header}) | (reached & set(self._latches))
        candidates = certain & reached
        return bool(leaving) and any(all(flow.dominates(each, end) for end in leaving) for each in candidates)

    def one_iteration(self, known: Iterable[Test] = ()) -> FlowGraph:
        """Return the flow from the loop's header to its latches, with the sides of tests left out that fail."""
        value_of = {each.key: each.value for each in known}
        inside = self._loop.blocks - {self._loop.header}
        targets = {}
        for name in self._order:
            branch, key = self._blocks[name].terminator, self._keys[name]
            ends = [target.name for target in branch.blocks]
            if key is not None and key in value_of:
                ends = [ends[0] if value_of[key] else ends[1]]
            targets[name] = [end for end in ends if end in inside]
        return FlowGraph(targets)


# What a loop computes anew in each iteration, always the same.
#
# loop: %row = mul i32 %i, %n            %row, %index and %p are the same in each iteration
#       %index = add i32 %row, %j        if %i, %n, %j and %c come from outside
#       %p = getelementptr float, %c, %index

_DIVISIONS = frozenset({Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM})
# By these a division may trap; by what is no number, too.
_TRAPPING = (None, 0, -1)
# Longer expressions are taken for changing ones.
_DEEPEST = 60


class Invariants:
    """Tells the invariant values of one loop.

    Args:
        blocks: the names of the loop's.
        effects: the judge of the function's instructions.
        initial: values of the loop's phis to take as known; without them, phis change.
        loads: those that may be carried out outside of the loop as well.
    """

    def __init__(
        self,
        blocks: frozenset[str],
        effects: EffectsOfKernel,
        initial: Mapping[Operand, Operand] | None = None,
        loads: frozenset[Instruction] = frozenset(),
    ) -> None:
        self._blocks = blocks
        self._effects = effects
        self._initial = initial or {}
        self._loads = loads
        self._keys: dict[Instruction, Hashable | None] = {}

    def key(self, value: Operand, depth: int = 0) -> Hashable | None:
        """Return what is equal for values that are computed alike; None for one that may change.

        Args:
            value: an operand of an instruction of the loop.
            depth: of the expression around it.
        """
        if value in self._initial:
            return self._initial[value]
        if not isinstance(value, Instruction):
            return value
        if value not in self._keys:
            self._keys[value] = self._computed(value, depth)
        return self._keys[value]

    def _computed(self, instruction: Instruction, depth: int) -> Hashable | None:
        changes = self._is_inside(instruction)
        if depth > _DEEPEST or not self._may_be_moved(instruction):
            return None if changes else instruction
        operands = [self.key(operand, depth + 1) for operand in instruction.operands]
        if any(operand is None for operand in operands):
            return None if changes else instruction
        detail = None if isinstance(instruction.detail, CallSite) else instruction.detail
        return (instruction.opcode, detail, instruction.type, *operands)

    def _is_inside(self, instruction: Instruction) -> bool:
        return instruction.block is not None and instruction.block.name in self._blocks

    def _may_be_moved(self, instruction: Instruction) -> bool:
        """Return True if an instruction may be carried out where it is not reached."""
        if instruction.opcode in _DIVISIONS:
            return instruction.operands[1].number not in _TRAPPING
        return instruction in self._loads or self._effects.is_function_of_operands(instruction)

    def copied(self, value: Operand, build: Builder, copies: dict[Operand, Operand]) -> Operand:
        """Return an invariant value, computed once more outside of the loop.

        Args:
            value: of which `key` knows that it does not change.
            build: where it is computed.
            copies: what is there already, added to.
        """
        if value in self._initial:
            return self._initial[value]
        if not isinstance(value, Instruction) or not self._is_inside(value):
            return value
        if value not in copies:
            operands = [self.copied(operand, build, copies) for operand in value.operands]
            copy = without_operands(value)
            copy.set_operands(operands)
            copies[value] = build.insert(copy)
        return copies[value]
