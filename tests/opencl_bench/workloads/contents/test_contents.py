"""Generated contents: graphs, cells and atoms that are consistent, and repeatable."""

from __future__ import annotations

import itertools

import numpy as np

from coarsen.opencl_bench.workloads.contents import (
    MOST_NEIGHBOURS,
    apportioned,
    cube_neighbours,
    make_atoms,
    make_graph,
)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_apportioned_follows_its_weights() -> None:
    assert apportioned(np.array([1.0, 2.0, 1.0]), 8).tolist() == [2, 4, 2]
    assert apportioned(np.zeros(4), 8).tolist() == [2, 2, 2, 2]


def test_graph_has_all_edges_and_popular_nodes() -> None:
    starts, targets, in_degrees = make_graph(generator(), 1000, 8000)
    assert starts[0] == 0 and starts[-1] == len(targets) == 8000
    assert np.diff(starts).min() >= 1 and np.diff(starts).max() > 30
    assert np.array_equal(in_degrees, np.bincount(targets, minlength=1000))
    assert targets.min() >= 0 and targets.max() < 1000
    # Those that are met often aren't the first ones.
    assert in_degrees.max() > 40 and 100 < in_degrees.argmax() < 990


def test_neighbours_in_a_cube_are_the_cells_that_touch() -> None:
    starts, neighbours = cube_neighbours(3)
    lists = [neighbours[low:high].tolist() for low, high in itertools.pairwise(starts)]
    assert lists[13] == [*range(27)] and lists[0] == [0, 1, 3, 4, 9, 10, 12, 13]
    assert all(cell in lists[other] for cell in range(27) for other in lists[cell])


def test_neighbours_of_atoms_are_those_that_are_near() -> None:
    positions, neighbours, counts = make_atoms(generator(), 5)
    distances = np.linalg.norm(positions[:, None, :3] - positions[:, :3], axis=2)
    assert counts.max() <= MOST_NEIGHBOURS == len(neighbours)
    for atom, count in enumerate(counts):
        near = np.flatnonzero((distances[atom] < 2.8) & (np.arange(125) != atom))
        assert sorted(neighbours[:count, atom]) == near.tolist()
    assert not positions[:, 3].any() and distances[0, 1] != distances[1, 2]
