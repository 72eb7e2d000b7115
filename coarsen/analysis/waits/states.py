"""The ways round a loop, told apart by the numbers that its phis have on them.

while (!done)                       header, done = 0  ──▶ body ──▶ latch ──▶ header, done = 0
    if (…) done = 1;                                   └▶ then ──▶ latch ──▶ header, done = 1 ──▶ exit
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.control_flow import ControlFlow, Loop
from coarsen.analysis.waits.known import Fact, facts_on, number_of
from coarsen.ir.kernel import Kernel, Value

# Beyond so many states all numbers are taken to be unknown.
_MOST_STATES = 1000

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _State:
    """A block that is entered, and the numbers that phis are known to have then."""

    block: str
    numbers: frozenset[tuple[str, int]]


class LoopStates:
    """The states in which the blocks of a loop are entered.

    Args:
        kernel: in normal form.
        flow: its control flow.
        loop: one of its loops.
    """

    def __init__(self, kernel: Kernel, flow: ControlFlow, loop: Loop) -> None:
        self._kernel = kernel
        self._flow = flow
        self._loop = loop
        before = next(each for each in flow.predecessors(loop.header) if each not in loop.blocks)
        self._following: dict[_State, tuple[_State, ...]] = {}
        self._facts: dict[Edge, frozenset[Fact]] = {}
        if not self._explore(self._entered(before, loop.header, {})):
            self._following.clear()
            self._explore(_State(loop.header, frozenset()), are_numbers_known=False)

    def exits(self) -> Iterator[tuple[str, str, bool]]:
        """Yield the branches that decide whether the loop goes on: the block, the way on, the condition to leave.

        A branch to where the loop is surely left later on is one, too.
        """
        for block in self._flow.in_order({state.block for state in self._following}):
            targets = self._kernel.block[block].terminator.targets
            onward = [(block, target) in self.going_on for target in targets]
            if len(targets) == 2 and targets[0] != targets[1] and onward.count(True) == 1:
                yield block, targets[onward.index(True)], not onward[0]

    @cached_property
    def going_on(self) -> frozenset[Edge]:
        """The edges from which a way leads back to the loop's header, and on from there."""
        back = _turned(self._following)
        before, going = set(self._following), {s for s in self._following if s.block == self._loop.header}
        while True:
            before = _reached(going, back)
            if before >= going:
                break
            going &= before
        edges = ((state.block, each) for state, following in self._following.items() for each in following)
        return frozenset((block, each.block) for block, each in edges if each in before)

    def facts(self, source: str, target: str) -> frozenset[Fact]:
        """Return what the branches say of values where a block is entered from another one."""
        if (source, target) not in self._facts:
            self._facts[source, target] = facts_on(self._kernel, self._flow, source, target)
        return self._facts[source, target]

    def number(self, value: Value) -> int | None:
        """Return the number that a value has in each iteration; None if that isn't known."""
        found = {number_of(self._kernel, value, dict(s.numbers)) for s in self._headers}
        return found.pop() if len(found) == 1 else None

    @cached_property
    def _headers(self) -> list[_State]:
        """The states in which the loop's header is entered and from which it goes on."""
        return [state for state in self._following if state.block == self._loop.header]

    def stuck(self, cut: Collection[Edge], avoided: Collection[str] = ()) -> frozenset[str]:
        """Return the blocks on ways from the loop's header back to it.

        Args:
            cut: edges that no such way takes.
            avoided: blocks that no such way passes.
        """
        ahead = {
            state: [each for each in following if (state.block, each.block) not in cut]
            for state, following in self._following.items()
            if state.block not in avoided
        }
        back = _turned(ahead)
        first = next(iter(self._following))
        found: set[str] = set()
        for header in _reached([first], ahead) | {first}:
            if header.block == self._loop.header:
                both = _reached([header], ahead) & _reached([header], back)
                found.update(state.block for state in both)
        return frozenset(found)

    def ways_out(self, stuck: Collection[str]) -> list[str]:
        """Return those of some blocks whose branch may lead to others."""
        blocks = (block for block in self._flow.in_order(stuck) if len(self._flow.successors(block)) > 1)
        return [block for block in blocks if any(t not in stuck for t in self._flow.successors(block))]

    def _explore(self, start: _State, *, are_numbers_known: bool = True) -> bool:
        """Find all states from one on; return False if there are too many."""
        pending = [start]
        while pending:
            state = pending.pop()
            if state in self._following:
                continue
            if are_numbers_known and len(self._following) > _MOST_STATES:
                return False
            numbers = dict(state.numbers)
            following = [
                self._entered(state.block, target, numbers) if are_numbers_known else _State(target, frozenset())
                for target in self._targets(state.block, numbers)
            ]
            self._following[state] = tuple(following)
            pending += following
        return True

    def _targets(self, block: str, numbers: Mapping[str, int]) -> Iterator[str]:
        """Yield where a block leads inside of the loop."""
        terminator = self._kernel.block[block].terminator
        targets = terminator.targets
        if len(targets) == 2:
            known = number_of(self._kernel, terminator.operands[0], numbers)
            targets = targets if known is None else targets[1 - known : 2 - known]
        for target in dict.fromkeys(targets):
            if target in self._loop.blocks:
                yield target

    def _entered(self, source: str, target: str, numbers: Mapping[str, int]) -> _State:
        """The state in which a block is entered from another one."""
        found = dict(numbers)
        facts = self.facts(source, target)
        known = {name: number for name, number, holds in facts if holds and isinstance(number, int)}
        for phi in self._kernel.block[target].phis:
            value = phi.operands[phi.incoming.index(source)]
            number = number_of(self._kernel, value, numbers)
            if number is None:
                number = known.get(value.text)
            if number is None:
                found.pop(phi.name, None)
            else:
                found[phi.name] = number
        return _State(target, frozenset(found.items()))


def _turned(following: Mapping[_State, Iterable[_State]]) -> Mapping[_State, list[_State]]:
    """Return the steps from each state back to those before it."""
    found: dict[_State, list[_State]] = {}
    for state, ahead in following.items():
        for each in ahead:
            found.setdefault(each, []).append(state)
    return found


def _reached(start: Iterable[_State], following: Mapping[_State, Iterable[_State]]) -> set[_State]:
    """Return what is reached by at least one step."""
    found: set[_State] = set()
    pending = [*start]
    while pending:
        for each in following.get(pending.pop(), ()):
            if each not in found:
                found.add(each)
                pending.append(each)
    return found
