"""Contents of several buffers that go together: graphs, cells of a cube, atoms.

One seed and the same settings give the same arrays.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError


def apportioned(weights: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Return whole numbers in proportion to some weights, up to 1, that add up to a total."""
    ends = np.cumsum(weights)
    if ends[-1] <= 0:
        ends = np.arange(1.0, len(weights) + 1)
    rounded = np.floor(ends / ends[-1] * total).astype(np.int64)
    rounded[-1] = total
    lengths: NDArray[np.int64] = np.diff(rounded, prepend=0)
    return lengths


def starts_of(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return where each row or segment starts, and at the end the total."""
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)


def make_graph(
    generator: np.random.Generator, nodes: int, edges: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Return a directed graph in compressed rows; a few nodes have many edges, and some are met far more often.

    Args:
        generator: the source of random numbers.
        nodes: at least 1.
        edges: at least one for each node.

    Returns:
        where each node's edges start, with the total at the end; the node that each edge leads to; how many lead
        to each node.

    Raises:
        InvalidInputError: there are fewer edges than nodes.
    """
    if not 1 <= nodes <= edges:
        raise InvalidInputError(
            f"a graph of {nodes} nodes can't have {edges} edges: give one for each node at least"
        )
    mean = max(edges // nodes, 1)
    degrees = np.minimum(generator.geometric(1 / mean, nodes), _MOST_OVER_MEAN * mean)
    lengths = 1 + apportioned(degrees - 0.999, edges - nodes)
    places = (generator.random(edges) ** 2 * nodes).astype(np.int32)
    # Without this, nodes of low numbers would be those that are met often.
    targets = generator.permutation(nodes).astype(np.int32)[places]
    return starts_of(lengths), targets, np.bincount(targets, minlength=nodes)


def cube_neighbours(side: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where each cell's list in a cube starts, and the lists: of itself and the cells that touch it."""
    if side < 1:
        raise InvalidInputError(f"a cube can't have {side} cells along each side")
    shifts = np.array([*itertools.product((-1, 0, 1), repeat=3)])
    around = _places_in_cube(side)[:, None] + shifts
    is_inside = ((around >= 0) & (around < side)).all(axis=2)
    found = np.ravel_multi_index(tuple(around[is_inside].T), (side,) * 3)
    return starts_of(is_inside.sum(axis=1)), found.astype(np.int32)


def make_atoms(
    generator: np.random.Generator, side: int
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]]:
    """Return atoms on a shaken cubic lattice of `side`³, in no order, with lists of their neighbours.

    Returns:
        positions, of four numbers, the last 0; the k-th neighbour of each atom in row k of `MOST_NEIGHBOURS`, 0
        where there is none; how many each has.

    Raises:
        InvalidInputError: the side is below 1.
    """
    if side < 1:
        raise InvalidInputError(f"a lattice can't have {side} atoms along each side")
    atoms, places = side**3, _places_in_cube(side)
    names = generator.permutation(atoms)
    positions = np.zeros((atoms, 4), np.float32)
    positions[names, :3] = _SPACING * places + generator.uniform(-_SHAKEN, _SHAKEN, (atoms, 3))
    first, second = _near_pairs(positions[:, :3], places, names, side)
    order = np.argsort(first, kind="stable")
    counts = np.bincount(first, minlength=atoms)
    ranks = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    neighbours = np.zeros((MOST_NEIGHBOURS, atoms), np.int32)
    neighbours[ranks, first[order]] = second[order]
    return positions, neighbours, counts.astype(np.int32)


def _near_pairs(
    positions: NDArray[np.float32], places: NDArray[Any], names: NDArray[Any], side: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first and the second atom of each pair that is near; found among the places of the lattice."""
    own: list[tuple[NDArray[Any], NDArray[Any]]] = []
    for shift in itertools.product(range(-3, 4), repeat=3):
        if not any(shift):
            continue
        other = places + np.array(shift)
        inside = np.flatnonzero(((other >= 0) & (other < side)).all(axis=1))
        first, second = names[inside], names[np.ravel_multi_index(tuple(other[inside].T), (side,) * 3)]
        near = np.square(positions[first] - positions[second]).sum(axis=1) < _NEAR**2
        own.append((first[near], second[near]))
    first, second = (np.concatenate(parts) for parts in zip(*own, strict=True))
    return first, second


def _places_in_cube(side: int) -> NDArray[Any]:
    return np.stack(np.unravel_index(np.arange(side**3), (side,) * 3), axis=1)


# Of a graph's degrees.
_MOST_OVER_MEAN = 64
# Of atoms: how far apart on the lattice, moved by how much, and how near neighbours are.
_SPACING, _SHAKEN, _NEAR = 1.2, 0.1, 2.8
MOST_NEIGHBOURS = 80
"""As many places of the lattice can be near."""
