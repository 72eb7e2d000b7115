"""The ways round a loop, told apart by the numbers that its phis have on them, and what a path tells of values.

while (!done)                       header, done = 0  ──▶ body ──▶ latch ──▶ header, done = 0
    if (…) done = 1;                                   └▶ then ──▶ latch ──▶ header, done = 1 ──▶ exit
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from coarsen.analysis.algebra.numbers import number_of as constant_of
from coarsen.analysis.control_flow import ControlFlow, FlowGraph, Loop, reached
from coarsen.ir.graph.instruction import Instruction, predicate
from coarsen.ir.graph.operands import Operand, ValueKind
from coarsen.ir.kernel import Kernel
from coarsen.ir.types import IntegerType

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

    def number(self, value: Operand) -> int | None:
        """Return the number that a value has in each iteration; None if that isn't known."""
        headers = (state for state in self._following if state.block == self._loop.header)
        found = {number_of(self._kernel, value, dict(state.numbers)) for state in headers}
        return found.pop() if len(found) == 1 else None

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


def _reached(starts: Iterable[_State], following: Mapping[_State, Iterable[_State]]) -> set[_State]:
    return reached(starts, lambda state: following.get(state, ()))


# Facts about integers on a path through a loop: values that follow from those of phis, and from branches taken.
#
# if (seen == 2) break;           where the loop goes on, `seen` isn't 2, and so
# at = seen == 2 ? at : seen;     `at` becomes `seen`

# A value's name, a number or another value's name, and whether the two are the same.
Fact = tuple[str, int | str, bool]


def number_of(kernel: Kernel, value: Operand, numbers: Mapping[str, int], depth: int = 0) -> int | None:
    """Return the number, without a sign, that an integer has for some numbers of phis; None if it isn't known."""
    if not isinstance(value.type, IntegerType) or depth > 20:
        return None
    if value.kind is ValueKind.CONSTANT:
        constant = constant_of(value)
        return None if constant is None else constant % (1 << value.type.width)
    if value.kind is not ValueKind.INSTRUCTION:
        return None
    instruction = kernel.definition[value.text]
    if instruction.opcode == "phi":
        return numbers.get(instruction.name)
    operands = [number_of(kernel, each, numbers, depth + 1) for each in instruction.operands]
    found = _computed(instruction, operands)
    return None if found is None else found % (1 << value.type.width)


def _computed(instruction: Instruction, operands: list[int | None]) -> int | None:
    """Return what an instruction makes of numbers, None of those that aren't known."""
    match instruction.opcode, operands:
        case "select", [condition, first, second]:
            return None if condition is None else first if condition else second
        case "and", [first, second] if 0 in (first, second):
            return 0
        case "trunc" | "zext" | "freeze", [int(number)]:
            return number
        case "and", [int(first), int(second)]:
            return first & second
        case "or", [int(first), int(second)]:
            return first | second
        case "xor", [int(first), int(second)]:
            return first ^ second
        case "icmp", [int(first), int(second)] if predicate(instruction) in ("eq", "ne"):
            return int((first == second) is (predicate(instruction) == "eq"))
    return None


def facts_on(kernel: Kernel, flow: FlowGraph, source: str, target: str) -> frozenset[Fact]:
    """Return what the branches say of values where a block is entered from another one."""
    found: set[Fact] = set()
    while True:
        terminator = kernel.block[source].terminator
        if len(set(terminator.targets)) == 2:
            found |= facts_of(kernel, terminator.operands[0], terminator.targets[0] == target)
        before = flow.predecessors(source)
        if len(before) != 1 or before[0] == source:
            return frozenset(found)
        source, target = before[0], source


def facts_before(
    kernel: Kernel, facts: Collection[Fact], phis: Iterable[Instruction], source: str
) -> frozenset[Fact] | None:
    """Return what facts about phis say where their block is entered from one before; None if wrong."""
    values = {phi.name: phi.operands[phi.incoming.index(source)] for phi in phis}
    found: set[Fact] = set()
    for name, asked, holds in facts:
        other = values.get(asked) if isinstance(asked, str) else None
        if other is not None:
            number = number_of(kernel, other, {})
            asked = other.text if number is None else number
        if name not in values:
            found.add((name, asked, holds))
            continue
        if _is_same(kernel, values[name], asked) is (not holds):
            return None
        found.update(_derived(kernel, values[name], asked, holds))
    return frozenset(found)


def facts_of(kernel: Kernel, condition: Operand, holds: bool) -> frozenset[Fact]:
    """Return what it says of values that a condition holds, or doesn't."""
    return frozenset(_derived(kernel, condition, 1, holds))


def truth(facts: Collection[Fact], condition: Operand) -> bool | None:
    """Return what facts say of a condition; None if they say nothing."""
    said = (
        holds is (number == 1) for name, number, holds in facts if (name, type(number)) == (condition.text, int)
    )
    return next(said, None)


def parts(condition: Instruction, holds: bool) -> list[tuple[Operand, bool]] | None:
    """Return what must be true of other conditions for one to hold, or not to; None if it isn't made of others.

    `a && b`, also as a `select` between one of them and a constant, holds if both do. None of them must be false
    for it not to hold: one is enough.
    """
    if not isinstance(condition.type, IntegerType) or condition.type.width != 1:
        return None
    operands = condition.operands
    if condition.opcode == "xor" and operands[1].text == "true":
        return [(operands[0], not holds)]
    if condition.opcode == ("and" if holds else "or"):
        return [(each, holds) for each in operands]
    if condition.opcode == "select":
        for chosen, other in ((1, 2), (2, 1)):
            if operands[other].text == str(not holds).lower():
                return [(operands[0], chosen == 1), (operands[chosen], holds)]
    return None


def _is_same(kernel: Kernel, value: Operand, other: int | str) -> bool | None:
    """Return True if a value is a number, or the value of a name; None if that isn't known."""
    if isinstance(other, str):
        return True if value.kind is not ValueKind.CONSTANT and value.text == other else None
    number = number_of(kernel, value, {})
    return None if number is None else number == other


def _derived(kernel: Kernel, value: Operand, number: int | str, holds: bool) -> Iterator[Fact]:
    """Yield a fact, and what it says of the values that its own is computed from."""
    pending = [(value, number, holds)]
    while pending:
        value, number, holds = pending.pop()
        if value.kind is not ValueKind.INSTRUCTION or not isinstance(value.type, IntegerType):
            continue
        instruction = kernel.definition[value.text]
        yield instruction.name, number, holds
        if value.type.width == 1:
            is_true = holds is (number == 1)
            pending += [(each, 1, each_holds) for each, each_holds in parts(instruction, is_true) or ()]
            pending += _compared(kernel, instruction, is_true)
        elif instruction.opcode in ("zext", "freeze"):
            pending.append((instruction.operands[0], number, holds))
        if instruction.opcode == "trunc" and "nuw" in instruction.flags:
            pending.append((instruction.operands[0], number, holds))
        if instruction.opcode == "select":
            condition, *values = instruction.operands
            for side, own in enumerate(values):
                if _is_same(kernel, own, number) is (not holds):
                    pending += [(condition, 1, side == 1), (values[1 - side], number, holds)]


def _compared(kernel: Kernel, condition: Instruction, holds: bool) -> Iterator[tuple[Operand, int | str, bool]]:
    """Yield what a comparison says of what is compared."""
    if condition.opcode == "icmp" and predicate(condition) in ("eq", "ne"):
        is_same = (predicate(condition) == "eq") is holds
        first, second = condition.operands
        number = number_of(kernel, second, {})
        if number is not None:
            yield first, number, is_same
        elif second.kind is ValueKind.INSTRUCTION:
            yield from ((first, second.text, is_same), (second, first.text, is_same))
