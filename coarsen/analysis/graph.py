"""Directed graphs with names for nodes: orders and dominators.

What every reading of a kernel needs, so that it does without networkx, which takes longer to load than most
kernels take to be read. All orders are networkx's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce


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
