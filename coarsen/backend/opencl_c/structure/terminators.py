"""The kernel's branches as C sees them: empty blocks skipped, conditions joined, copies of phis on the edges.

if (a) { if (b) X else Y } else Y   →   if (a && b) X else Y
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow, FlowGraph
from coarsen.backend.opencl_c.c.build import logical_and, logical_or, negation
from coarsen.backend.opencl_c.c.tree import Assign, Expression, Name, Statement, names_in
from coarsen.backend.opencl_c.printing.expressions import same_text, written
from coarsen.ir.kernel import Kernel

_LONGEST_CONDITION = 160


class SkippedFlow(ControlFlow):
    """The control flow of the nodes that are left."""

    def __init__(self, kernel: Kernel, entry: str, nodes: Mapping[str, Node]) -> None:
        targets: dict[str, list[str]] = {}
        pending = [entry]
        while pending:
            if (name := pending.pop()) not in targets:
                targets[name] = [arm.target for arm in nodes[name].arms]
                pending += targets[name]
        FlowGraph.__init__(self, targets)
        self.kernel, self.nodes = kernel, nodes

    def successors(self, block: str) -> list[str]:
        """Return where a node may go."""
        return list(dict.fromkeys(arm.target for arm in self.nodes[block].arms))


@dataclass
class _Builder:
    flow: ControlFlow
    nodes: dict[str, Node]
    headers: frozenset[str]

    def skip_forwarders(self) -> None:
        """Lead each edge past blocks that only pass control on."""
        predecessors = {name: len(self.flow.predecessors(name)) for name in self.nodes}
        for node in self.nodes.values():
            node.arms = tuple(self._past(arm, predecessors) for arm in node.arms)

    def _past(self, arm: Arm, predecessors: Mapping[str, int]) -> Arm:
        seen = {arm.target}
        while True:
            node = self.nodes[arm.target]
            if node.statements or len(node.arms) != 1 or arm.target in self.headers:
                return arm
            onward = node.arms[0]
            if onward.target in seen or (onward.copies and (predecessors[arm.target] > 1 or arm.copies)):
                return arm
            seen.add(onward.target)
            arm = Arm(onward.target, (*arm.copies, *onward.copies))

    def entrances(self) -> dict[str, int]:
        """Return how many edges lead to each node that the entry leads to."""
        counts: dict[str, int] = {}
        reached, pending = {self.flow.entry}, [self.flow.entry]
        while pending:
            for arm in self.nodes[pending.pop()].arms:
                counts[arm.target] = counts.get(arm.target, 0) + 1
                if arm.target not in reached:
                    reached.add(arm.target)
                    pending.append(arm.target)
        return counts

    def join_conditions(self) -> None:
        """Merge a block that only tests into the one before, where both share a target."""
        counts = self.entrances()
        for name in reversed(list(self.nodes)):
            while self._join(self.nodes[name], counts):
                pass

    def _join(self, node: Node, counts: dict[str, int]) -> bool:
        if node.condition is None:
            return False
        for place, arm in enumerate(node.arms):
            inner = self.nodes[arm.target]
            if counts.get(arm.target) != 1 or arm.copies or inner.statements or inner.condition is None:
                continue
            if arm.target in self.headers or inner.name == node.name:
                continue
            joined = _joined(node, place, inner)
            if joined is not None:
                node.condition, node.arms = joined
                counts[arm.target] = 0
                shared = node.arms[1 - place].target
                counts[shared] = counts.get(shared, 0) - 1
                return True
        return False


def _joined(outer: Node, place: int, inner: Node) -> tuple[Expression, tuple[Arm, ...]] | None:
    """The condition and the arms of two tests in a row that share a target."""
    if outer.condition is None or inner.condition is None:
        return None
    if len(written(outer.condition)) + len(written(inner.condition)) > _LONGEST_CONDITION:
        return None
    shared = outer.arms[1 - place]
    for inner_place, arm in enumerate(inner.arms):
        other = inner.arms[1 - inner_place]
        if arm.target != shared.target or not _same(arm.copies, shared.copies) or other.target == shared.target:
            continue
        # `outer` goes to the shared target unless its condition has the value that leads to `inner`.
        leads_on = inner.condition if inner_place == 1 else negation(inner.condition)
        if place == 0:
            return logical_and(outer.condition, leads_on), (other, shared)
        return logical_or(outer.condition, negation(leads_on)), (shared, other)
    return None


def _same(first: tuple[Assign, ...], second: tuple[Assign, ...]) -> bool:
    """Return True if two edges assign the same."""
    return len(first) == len(second) and all(
        one.variable == other.variable and same_text(one.value, other.value)
        for one, other in zip(first, second, strict=True)
    )


def branch_graph(
    flow: ControlFlow,
    nodes: dict[str, Node],
    test: Callable[[str], Test | None],
    equals: Callable[[str, int], Expression],
) -> SkippedFlow:
    """Return the graph of C blocks of a kernel.

    Args:
        flow: the kernel's control flow.
        nodes: its blocks in reverse postorder, which change.
        test: the comparison with a constant that a block ends with.
        equals: the condition that the value which a block compares is a number.
    """
    builder = _Builder(flow, nodes, frozenset(loop.header for loop in flow.loops))
    builder.skip_forwarders()
    chain_cases(nodes, builder.entrances(), test, equals)
    builder.join_conditions()
    return SkippedFlow(flow.kernel, flow.entry, nodes)


# Assigns to several variables at once, as the phis of a block mean it, one after the other.
#
#     (a, b) = (b, a)   →   previous = b; b = a; a = previous;
#
# An assignment waits until no other one still reads its variable; where all wait for each other, one value is kept
# in a variable of its own first (the "swap problem" of leaving SSA).


def in_order(copies: Sequence[Assign], keep: Callable[[Assign], Name]) -> list[Assign]:
    """Return the assignments in an order that gives each the old values; `keep` makes a variable like a copy's."""
    pending = {copy.variable: copy for copy in copies}
    readers: dict[str, set[str]] = {}
    for copy in copies:
        for name in names_in(copy.value):
            if name in pending and name != copy.variable:
                readers.setdefault(name, set()).add(copy.variable)
    ready = [copy.variable for copy in reversed(copies) if not readers.get(copy.variable)]
    result: list[Assign] = []
    while pending:
        if ready:
            copy = pending.pop(ready.pop())
            result.append(copy)
        else:
            copy = next(iter(pending.values()))
            kept = keep(copy)
            result.append(Assign(kept.text, copy.value))
            pending[copy.variable] = Assign(copy.variable, kept)
        for name in sorted(names_in(copy.value)):  # a set's own order is another in each process
            waiting = readers.get(name, set())
            waiting.discard(copy.variable)
            if name in pending and name != copy.variable and not waiting and name not in ready:
                ready.append(name)
    return result


# Trees of comparisons, which LLVM makes of a `switch`, become chains of tests for equality again.
#
# if (n < 2) { if (n == 1) A else D } else if (n < 7) { if (n == 2) B else D } else …
# →   if (n == 1) A else if (n == 2) B else … D

_LONGEST_CHAIN = 24
_LESS = frozenset({"slt", "ult"})


@dataclass(frozen=True, slots=True)
class Test:
    """A branch on a comparison with a constant: the value, LLVM's predicate, the constant and the value's bits.

    `largest` bounds a value that is known not to be negative.
    """

    value: str
    predicate: str
    constant: int
    width: int
    largest: int | None = None


@dataclass(frozen=True)
class _Outcome:
    """What a path through the tree leads to, for the numbers from `low` to `high`."""

    low: int
    high: int
    arm: Arm

    @property
    def key(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        return self.arm.target, tuple(
            (copy.variable, written(copy.value) if copy.value is not None else "") for copy in self.arm.copies
        )


def chain_cases(
    nodes: dict[str, Node],
    entrances: Mapping[str, int],
    test_of: Callable[[str], Test | None],
    equals: Callable[[str, int], Expression],
) -> None:
    """Replace trees in `nodes`, in place.

    Args:
        nodes: the blocks of the text, outer ones of a tree before inner ones.
        entrances: how many edges lead to each node.
        test_of: the comparison at the end of a node.
        equals: the condition that a node's compared value is a constant.
    """
    for name in list(nodes):
        test = test_of(name)
        if test is None or test.predicate not in _LESS:
            continue
        outcomes = _outcomes(nodes, entrances, test_of, name, test)
        chain = _chain(outcomes) if outcomes is not None else None
        if chain is not None:
            _install(nodes, name, *chain, equals)


def _outcomes(
    nodes: Mapping[str, Node],
    entrances: Mapping[str, int],
    test_of: Callable[[str], Test | None],
    root: str,
    test: Test,
) -> list[_Outcome] | None:
    """The outcomes of a tree in the order of their numbers; None if it is none that a `switch` could have been."""
    sign = test.predicate[0]
    lowest = -(1 << (test.width - 1)) if sign == "s" else 0
    highest = lowest + (1 << test.width) - 1
    if test.largest is not None and test.largest <= highest:
        lowest, highest = 0, test.largest
    found: list[_Outcome] = []
    pending = [(Arm(root), lowest, highest)]
    while pending:
        arm, low, high = pending.pop()
        inner = _inner_test(nodes, entrances, test_of, arm, root, test)
        if inner is None:
            found.append(_Outcome(low, high, arm))
            continue
        node = nodes[arm.target]
        constant = inner.constant if sign == "s" else inner.constant % (1 << inner.width)
        if inner.predicate == "eq" and low <= constant <= high:
            pending += [(node.arms[1], low, constant - 1), (node.arms[1], constant + 1, high)]
            found.append(_Outcome(constant, constant, node.arms[0]))
        elif inner.predicate in _LESS and inner.predicate[0] == sign and low < constant <= high:
            pending += [(node.arms[1], constant, high), (node.arms[0], low, constant - 1)]
        else:
            return None
        if len(found) + len(pending) > 4 * _LONGEST_CHAIN:
            return None
    return sorted((one for one in found if one.low <= one.high), key=lambda one: one.low)


def _inner_test(
    nodes: Mapping[str, Node],
    entrances: Mapping[str, int],
    test_of: Callable[[str], Test | None],
    arm: Arm,
    root: str,
    test: Test,
) -> Test | None:
    """The test of a node that belongs to the tree."""
    if arm.target == root:
        return test if not arm.copies else None
    node = nodes[arm.target]
    inner = test_of(arm.target)
    alone = entrances.get(arm.target) == 1 and not node.statements and not arm.copies
    return inner if alone and inner is not None and inner.value == test.value else None


def _chain(outcomes: list[_Outcome]) -> tuple[list[tuple[list[int], Arm]], Arm] | None:
    """The numbers that lead to each case, and the default; None where a whole range is a case."""
    ranges = {outcome.key for outcome in outcomes if outcome.low != outcome.high}
    if len(ranges) > 1 or not outcomes:
        return None
    default_key = ranges.pop() if ranges else outcomes[-1].key
    default = next(outcome.arm for outcome in outcomes if outcome.key == default_key)
    cases: dict[object, tuple[list[int], Arm]] = {}
    for outcome in outcomes:
        if outcome.key != default_key:
            cases.setdefault(outcome.key, ([], outcome.arm))[0].append(outcome.low)
    return (list(cases.values()), default) if 0 < len(cases) <= _LONGEST_CHAIN else None


def _install(
    nodes: dict[str, Node],
    root: str,
    cases: list[tuple[list[int], Arm]],
    default: Arm,
    equals: Callable[[str, int], Expression],
) -> None:
    """Let the root test for the first case, and new nodes for the others."""
    names = [root, *(f"{root}.case{number}" for number in range(1, len(cases)))]
    for place, (numbers, arm) in enumerate(cases):
        is_last = place == len(cases) - 1
        otherwise = default if is_last else Arm(names[place + 1])
        statements = nodes[root].statements if place == 0 else []
        node = Node(names[place], statements, (arm, otherwise), _any_of(root, numbers, equals))
        nodes[names[place]] = node


def _any_of(root: str, numbers: list[int], equals: Callable[[str, int], Expression]) -> Expression:
    conditions: Iterator[Expression] = (equals(root, number) for number in numbers)
    condition = next(conditions)
    for other in conditions:
        condition = logical_or(condition, other)
    return condition


# The blocks and edges that the chains are found in, as the terminators of the kernel's blocks become them.


@dataclass(frozen=True, slots=True)
class Arm:
    """An edge: where it leads and what it assigns on the way."""

    target: str
    copies: tuple[Assign, ...] = ()


@dataclass(slots=True)
class Node:
    """A block of the C text: statements, then a return (no arms), a jump (one) or a branch (two).

    `unroll_hint` is the attribute of the loop that it is the header of.
    """

    name: str
    statements: list[Statement]
    arms: tuple[Arm, ...]
    condition: Expression | None = None
    unroll_hint: str = ""

    @property
    def is_empty_return(self) -> bool:
        """Return True if it does nothing but end the kernel."""
        return not self.arms and not self.statements
