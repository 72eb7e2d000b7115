"""The control flow of a kernel: graph, dominators, post-dominators, loops, control dependence.

Blocks are named; `EXIT` stands after every block that leaves the kernel, so that
post-dominators exist also where a path ends in `unreachable`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TypeVar

from coarsen.ir.graph.function import Function
from coarsen.ir.kernel import Kernel

Node = TypeVar("Node", bound=Hashable)


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """Return what is reached from some nodes by at least one step."""
    found: set[Node] = set()
    pending = list(starts)
    while pending:
        for node in following(pending.pop()):
            if node not in found:
                found.add(node)
                pending.append(node)
    return found


class Graph:
    """A directed graph; nodes and edges are in the order in which they were given, each once.

    Args:
        nodes: their names.
        edges: from one to another of them, or to further nodes.
    """

    def __init__(self, nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> None:
        self._successors: dict[str, dict[str, None]] = {node: {} for node in nodes}
        self._predecessors: dict[str, dict[str, None]] = {node: {} for node in self._successors}
        for start, end in edges:
            for node in (start, end):
                self._successors.setdefault(node, {})
                self._predecessors.setdefault(node, {})
            self._successors[start][end] = None
            self._predecessors[end][start] = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._successors)

    @property
    def edges(self) -> Iterator[tuple[str, str]]:
        """The edges, those from one node together."""
        return ((start, end) for start, ends in self._successors.items() for end in ends)

    def successors(self, node: str) -> tuple[str, ...]:
        """Return where the edges from a node lead."""
        return tuple(self._successors[node])

    def predecessors(self, node: str) -> tuple[str, ...]:
        """Return where the edges to a node come from."""
        return tuple(self._predecessors[node])

    def postorder(self, start: str) -> tuple[str, ...]:
        """Return the nodes that a node reaches, each after those that were first met from it; it comes last."""
        found: list[str] = []
        met = {start}
        path = [(start, iter(self._successors[start]))]
        while path:
            node, following = path[-1]
            child = next((each for each in following if each not in met), None)
            if child is None:
                found.append(node)
                path.pop()
            else:
                met.add(child)
                path.append((child, iter(self._successors[child])))
        return tuple(found)

    def immediate_dominators(self, start: str) -> Mapping[str, str]:
        """Return the immediate dominator of each node that a node reaches, that node apart.

        Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm (2001).
        """
        order = self.postorder(start)
        place = {node: number for number, node in enumerate(order)}
        found = {start: start}

        def common(first: str, second: str) -> str:
            while first != second:
                while place[first] < place[second]:
                    first = found[first]
                while place[first] > place[second]:
                    second = found[second]
            return first

        is_changed = True
        while is_changed:
            is_changed = False
            for node in reversed(order[:-1]):
                nearest = reduce(common, (each for each in self._predecessors[node] if each in found))
                is_changed |= found.get(node) != nearest
                found[node] = nearest
        del found[start]
        return found


EXIT = "<exit>"


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop: its header, its blocks (header and inner loops included), the enclosing loop's header."""

    header: str
    blocks: frozenset[str]
    parent: str | None


class FlowGraph:
    """What the branches between blocks allow. Every part is computed when first asked for.

    Args:
        targets: where each block may go, by its name, in the order of its branch; the entry first.
    """

    def __init__(self, targets: Mapping[str, Sequence[str]]) -> None:
        self.entry = next(iter(targets))
        self.graph = Graph(targets, ((block, target) for block in targets for target in targets[block]))

    def successors(self, block: str) -> list[str]:
        """Return where a block may go, in the order of its branch."""
        return list(self.graph.successors(block))

    def predecessors(self, block: str) -> list[str]:
        """Return where a block may be reached from."""
        return list(self.graph.predecessors(block))

    @cached_property
    def reverse_postorder(self) -> tuple[str, ...]:
        """The blocks so that each stands after its predecessors, back edges apart."""
        return tuple(reversed(self.graph.postorder(self.entry)))

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Return where each reachable block stands in reverse post-order."""
        return {block: place for place, block in enumerate(self.reverse_postorder)}

    def in_order(self, blocks: Iterable[str]) -> list[str]:
        """Return the reachable ones of some blocks, in reverse post-order."""
        place = self.place
        return sorted((block for block in blocks if block in place), key=place.__getitem__)

    @cached_property
    def immediate_dominator(self) -> Mapping[str, str]:
        """The immediate dominator of each reachable block; the entry's is itself."""
        return {**self.graph.immediate_dominators(self.entry), self.entry: self.entry}

    @cached_property
    def immediate_post_dominator(self) -> Mapping[str, str]:
        """The immediate post-dominator of each block from which the kernel can end, `EXIT` for the last ones."""
        leaving = [block for block in self.graph if not self.graph.successors(block)]
        if not leaving:
            return {}
        backwards = [(end, start) for start, end in self.graph.edges]
        graph = Graph(self.graph, [*backwards, *((EXIT, block) for block in leaving)])
        return graph.immediate_dominators(EXIT)

    @cached_property
    def _dominated(self) -> Mapping[str, range]:
        """The numbers of the blocks that each dominates in the dominator tree, its own first."""
        count = dict.fromkeys(self.reverse_postorder, 1)
        parents = {block: self.immediate_dominator[block] for block in self.reverse_postorder[1:]}
        for block in reversed(parents):
            count[parents[block]] += count[block]
        found, free = {self.entry: range(count[self.entry])}, {self.entry: 1}
        for block, parent in parents.items():
            start = free[parent]
            found[block] = range(start, start + count[block])
            free[parent], free[block] = start + count[block], start + 1
        return found

    def dominates(self, first: str, second: str) -> bool:
        """Return True if every path from the entry to `second` passes `first` (a block dominates itself)."""
        return self._dominated[second].start in self._dominated[first]

    def may_use(self, block: str, defining: str) -> bool:
        """Return True if what `defining` computes is there in `block`, and not taken out of a loop."""
        loop = self.loop_of[defining]
        return self.dominates(defining, block) and (loop is None or block in loop.blocks)

    def common_dominator(self, blocks: Iterable[str]) -> str:
        """Return the nearest block that dominates all of `blocks`."""
        common, *others = blocks
        while not all(self.dominates(common, block) for block in others):
            common = self.immediate_dominator[common]
        return common

    @cached_property
    def back_edges(self) -> tuple[tuple[str, str], ...]:
        """The edges that lead to a block which dominates their start."""
        place = self.place
        retreating = [(a, b) for a, b in self.graph.edges if a in place and place[b] <= place[a]]
        return tuple((a, b) for a, b in retreating if self.dominates(b, a))

    @cached_property
    def is_reducible(self) -> bool:
        """Return True if every cycle is entered at one block only."""
        return not self.irreducible_cycle

    @cached_property
    def irreducible_cycle(self) -> frozenset[str]:
        """The blocks of a cycle that is entered at more than one block; empty where there is none."""
        place, back = self.place, frozenset(self.back_edges)
        forward = [edge for edge in self.graph.edges if edge not in back]
        if all(start in place and place[start] < place[end] for start, end in forward):
            return frozenset()
        # Imported late: such a kernel is refused, and others do without.
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.graph)
        graph.add_edges_from(forward)
        cycles = (part for part in nx.strongly_connected_components(graph) if len(part) > 1)
        return frozenset(next(cycles, ()))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The natural loops, outer before inner."""
        bodies: dict[str, set[str]] = {}
        for latch, header in self.back_edges:
            bodies.setdefault(header, {header}).update(self._reaching(latch, header))
        ordered = sorted(bodies.items(), key=lambda item: -len(item[1]))
        loops: list[Loop] = []
        innermost: dict[str, str] = {}  # natural loops are nested or apart, so that the last one is the smallest
        for header, body in ordered:
            loops.append(Loop(header, frozenset(body), innermost.get(header)))
            innermost.update(dict.fromkeys(body, header))
        return tuple(loops)

    def _reaching(self, latch: str, header: str) -> set[str]:
        """The blocks that reach `latch` without passing `header`."""
        starts = [latch] if latch != header else []
        return {latch} | reached(starts, lambda block: (b for b in self.predecessors(block) if b != header))

    @cached_property
    def loop_at(self) -> Mapping[str, Loop]:
        """The loops by their headers."""
        return {loop.header: loop for loop in self.loops}

    @cached_property
    def loop_of(self) -> Mapping[str, Loop | None]:
        """The innermost loop around each block."""
        innermost: dict[str, Loop | None] = dict.fromkeys(self.graph, None)
        for loop in self.loops:
            innermost.update(dict.fromkeys(loop.blocks, loop))
        return innermost

    def loops_around(self, block: str) -> list[Loop]:
        """Return all loops around a block, innermost first."""
        by_header = self.loop_at
        around: list[Loop] = []
        loop = self.loop_of[block]
        while loop is not None:
            around.append(loop)
            loop = by_header[loop.parent] if loop.parent is not None else None
        return around

    def between(self, branch: str, join: str) -> frozenset[str]:
        """Return the blocks on paths from the end of `branch` to before `join`; `branch` if a path comes back."""
        found = reached([branch], lambda block: (b for b in self.successors(block) if b != join))
        return frozenset(found)

    @cached_property
    def deciding_edges(self) -> Mapping[str, list[tuple[str, str]]]:
        """For each block, the edges out of branching blocks that decide directly whether it is reached.

        Ferrante, Ottenstein and Warren (TOPLAS 1987): walk from each successor of a branch up the post-dominator
        tree until the branch's own immediate post-dominator.
        """
        found: dict[str, list[tuple[str, str]]] = {block: [] for block in self.graph}
        nearest = self.immediate_post_dominator
        for block in self.graph:
            successors = self.successors(block) if block in nearest else []
            for successor in successors if len(successors) > 1 else ():
                reached = successor
                while reached != nearest[block] and reached in nearest:
                    found[reached].append((block, successor))
                    reached = nearest[reached]
        return found

    def controlling(self, *blocks: str) -> frozenset[str]:
        """Return the branching blocks that decide, directly or not, whether any of `blocks` is reached."""
        return frozenset(reached(blocks, lambda block: (branch for branch, _ in self.deciding_edges[block])))


class ControlFlow(FlowGraph):
    """What the branches of a kernel allow."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__({block.name: block.terminator.targets for block in kernel.blocks})
        self.kernel = kernel


def flow_graph(function: Function) -> FlowGraph:
    """Return what the branches of a function allow whose blocks have unique names."""
    return FlowGraph({block.name: block.terminator.targets for block in function.blocks})
