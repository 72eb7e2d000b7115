"""Orders and dominators of directed graphs: those of networkx, the order of the answers included."""

from __future__ import annotations

import random

import networkx as nx
import pytest

from coarsen.analysis.control_flow import EXIT, Graph


def drawn_edges(seed: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Nodes and edges like those of control flow: mostly one or two from each node, some nodes not reached."""
    draw = random.Random(seed)
    nodes = [f"block {number}" for number in range(draw.randrange(1, 14))]
    edges = [(node, draw.choice(nodes)) for node in nodes for _ in range(draw.choice((0, 1, 1, 2, 2, 3)))]
    return nodes, edges


def both(nodes: list[str], edges: list[tuple[str, str]]) -> tuple[Graph, nx.DiGraph[str]]:
    known: nx.DiGraph[str] = nx.DiGraph()
    known.add_nodes_from(nodes)
    known.add_edges_from(edges)
    return Graph(nodes, edges), known


@pytest.mark.parametrize("seed", range(60))
def test_it_agrees_with_networkx(seed: int) -> None:
    nodes, edges = drawn_edges(seed)
    graph, known = both(nodes, edges)
    assert list(graph) == list(known)
    assert list(graph.edges) == list(known.edges)
    assert [graph.successors(node) for node in graph] == [tuple(known.successors(node)) for node in known]
    assert [graph.predecessors(node) for node in graph] == [tuple(known.predecessors(node)) for node in known]
    assert list(graph.postorder(nodes[0])) == list(nx.dfs_postorder_nodes(known, nodes[0]))
    found, wanted = graph.immediate_dominators(nodes[0]), nx.immediate_dominators(known, nodes[0])
    wanted.pop(nodes[0], None)
    assert list(found.items()) == list(wanted.items())


@pytest.mark.parametrize("seed", range(60))
def test_post_dominators_agree(seed: int) -> None:
    nodes, edges = drawn_edges(seed)
    leaving = [node for node in nodes if node not in {start for start, _ in edges}]
    if not leaving:
        return
    ends = [(EXIT, node) for node in leaving]
    graph, known = both(nodes, [*((end, start) for start, end in both(nodes, edges)[1].edges), *ends])
    wanted = nx.immediate_dominators(known, EXIT)
    wanted.pop(EXIT, None)
    assert list(graph.immediate_dominators(EXIT).items()) == list(wanted.items())
