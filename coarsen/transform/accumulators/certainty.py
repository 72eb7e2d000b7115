"""Under which condition, known before a loop, each way out of it has passed some of its blocks.

    for (k = 0; k < n; k++)          0 < n
        c[i] += a[k];

    for (t = 0; t < m; t++)          0 < m && 0 < n
        if (0 < n)
            c[i] += a[t];

The condition is a conjunction of tests: the header's first one, on the values with which the loop is entered,
where the blocks are passed before the header is reached again; and tests of the loop that are the same in each
iteration (`Invariants`) and one of whose sides leads to none of the blocks. Where it is false, none of the blocks
is reached.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from coarsen.analysis.control_flow import FlowGraph, Loop
from coarsen.analysis.memory_effects import EffectsOfKernel
from coarsen.ir.graph.builder import Builder
from coarsen.ir.graph.details import CallSite, Opcode
from coarsen.ir.graph.instruction import Block, Instruction
from coarsen.ir.graph.operands import Constant, Operand
from coarsen.ir.graph.rewriting import without_operands

_SIDES = (True, False)
_BRANCHES = 2


@dataclass(frozen=True, slots=True)
class Test:
    """A branch's condition and what it must be; `is_first` for the header's, on the loop's initial values."""

    condition: Operand
    value: bool
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class _Known:
    """A test with what identifies its condition."""

    test: Test
    key: Hashable


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
        self._keys = {name: _condition_key(blocks[name], invariants) for name in loop.blocks}
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
                tests = tuple(each.test for each in known)
                return (first, *tests) if is_entered and first is not None else tests
        return None

    def _first_test(self) -> Test | None:
        """Return the header's test that the loop is entered, if that can be computed before it."""
        branch = self._blocks[self._loop.header].terminator
        inside = [target.name in self._loop.blocks for target in branch.blocks]
        if len(inside) != _BRANCHES or inside[0] == inside[1]:
            return None
        condition = branch.operands[0]
        return Test(condition, inside[0], True) if self._entering.key(condition) is not None else None

    def _invariant_tests(self, accesses: frozenset[str]) -> Iterator[_Known]:
        """Yield the invariant tests that are passed on each way to the accesses, outer ones first."""
        seen: set[Hashable] = set()
        for name in self._order:
            key = self._keys[name]
            if key is None or key in seen:
                continue
            seen.add(key)
            for value in _SIDES:
                test = Test(self._blocks[name].terminator.operands[0], value)
                failing = _Known(Test(test.condition, not value), key)
                if accesses.isdisjoint(self._one_iteration((failing,)).reverse_postorder):
                    yield _Known(test, key)
                    break

    def _is_passed(self, certain: frozenset[str], is_entered: bool, known: Iterable[_Known]) -> bool:
        """Return True if, where tests hold, one of some blocks is on each way out of the loop."""
        flow = self._one_iteration(known)
        reached = frozenset(flow.reverse_postorder)
        leaving = {name for name in reached if self._leaves(name)}
        if is_entered:
            leaving = (leaving - {self._loop.header}) | (reached & set(self._latches))
        candidates = certain & reached
        return bool(leaving) and any(all(flow.dominates(each, end) for end in leaving) for each in candidates)

    def _leaves(self, name: str) -> bool:
        return any(target.name not in self._loop.blocks for target in self._blocks[name].terminator.blocks)

    def _one_iteration(self, known: Iterable[_Known]) -> FlowGraph:
        """Return the flow from the loop's header to its latches, with the sides of tests left out that fail."""
        value_of = {each.key: each.test.value for each in known}
        inside = self._loop.blocks - {self._loop.header}
        targets = {}
        for name in self._order:
            branch, key = self._blocks[name].terminator, self._keys[name]
            ends = [target.name for target in branch.blocks]
            if key is not None and key in value_of:
                ends = [ends[0] if value_of[key] else ends[1]]
            targets[name] = [end for end in ends if end in inside]
        return FlowGraph(targets)


def _condition_key(block: Block, invariants: Invariants) -> Hashable | None:
    """Return the key of an invariant condition on which a block branches; None where it has none."""
    branch = block.terminator
    return invariants.key(branch.operands[0]) if len(branch.blocks) == _BRANCHES else None


# What a loop computes anew in each iteration, always the same.
#
# loop: %row = mul i32 %i, %n            %row, %index and %p are the same in each iteration
#       %index = add i32 %row, %j        if %i, %n, %j and %c come from outside
#       %p = getelementptr float, %c, %index

_DIVISIONS = frozenset({Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM})
# By these a division may trap.
_TRAPPING = ("0", "-1")
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
            divisor = instruction.operands[1]
            is_number = isinstance(divisor, Constant) and divisor.text.removeprefix("-").isdecimal()
            return is_number and divisor.text not in _TRAPPING
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
