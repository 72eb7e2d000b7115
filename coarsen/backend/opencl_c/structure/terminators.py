"""The kernel's branches as C sees them: empty blocks skipped, conditions joined, copies of phis on the edges.

if (a) { if (b) X else Y } else Y   →   if (a && b) X else Y
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from coarsen.analysis.control_flow import ControlFlow, Graph
from coarsen.backend.opencl_c.c.build import logical_and, logical_or, negation
from coarsen.backend.opencl_c.c.statements import Assign
from coarsen.backend.opencl_c.c.tree import Expression, Name, names_in
from coarsen.backend.opencl_c.printing.expressions import same_text, written
from coarsen.backend.opencl_c.structure.cases import Arm, Node, Test, chain_cases
from coarsen.ir.kernel import Kernel

_LONGEST_CONDITION = 160


class SkippedFlow(ControlFlow):
    """The control flow of the nodes that are left."""

    def __init__(self, kernel: Kernel, entry: str, nodes: Mapping[str, Node]) -> None:
        self.kernel = kernel
        self.entry = entry
        self.nodes = nodes
        edges: list[tuple[str, str]] = []
        pending, done = [entry], set[str]()
        while pending:
            name = pending.pop()
            if name in done:
                continue
            done.add(name)
            for arm in nodes[name].arms:
                edges.append((name, arm.target))
                pending.append(arm.target)
        self.graph = Graph((entry,), edges)

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
