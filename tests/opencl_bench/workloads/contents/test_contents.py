"""Generated contents: equal sizes whatever their shape, the shape that was asked for, repeatable."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.contents import (
    MOST_NEIGHBOURS,
    Columns,
    Keys,
    Lengths,
    apportioned,
    capped,
    cube_neighbours,
    make_atoms,
    make_graph,
    make_indices,
    make_keys,
    make_lengths,
    make_sparse,
    partly_sorted,
    starts_of,
)
from tests.opencl_bench.workloads.contents import measured


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("kind", Lengths)
@pytest.mark.parametrize(("count", "total"), [(1, 9), (7, 0), (7, 5), (500, 12_345)])
def test_lengths_add_up(kind: Lengths, count: int, total: int) -> None:
    lengths = make_lengths(kind, count, total, 900, generator())
    assert lengths.shape == (count,)
    assert lengths.min() >= 0
    assert lengths.sum() == total
    assert np.array_equal(lengths, make_lengths(kind, count, total, 900, generator()))


def test_lengths_have_their_shape() -> None:
    variations = {
        kind: measured.variation_of_lengths(starts_of(make_lengths(kind, 1000, 50_000, 800, generator())))
        for kind in Lengths
    }
    assert variations[Lengths.EVEN] < 0.02
    assert 0.5 < variations[Lengths.UNIFORM] < 0.65  # 1/√3
    assert variations[Lengths.ZIPF] > 1
    assert variations[Lengths.ONE_HEAVY] > 10
    heavy = make_lengths(Lengths.ONE_HEAVY, 1000, 50_000, 800, generator())
    assert heavy.max() == 40_000
    assert np.ptp(np.delete(heavy, heavy.argmax())) <= 1


def test_steeper_zipf_varies_more() -> None:
    steep = [make_lengths(Lengths.ZIPF, 300, 30_000, exponent, generator()).std() for exponent in (0, 500, 1500)]
    assert steep == sorted(steep)
    assert steep[0] < 1


def test_apportioned_follows_its_weights() -> None:
    assert apportioned(np.array([1.0, 2.0, 1.0]), 8).tolist() == [2, 4, 2]
    assert apportioned(np.zeros(4), 8).tolist() == [2, 2, 2, 2]


def test_capped_lengths_keep_their_total() -> None:
    assert capped(np.array([10, 0, 1]), 5).tolist() == [5, 3, 3]
    assert capped(np.array([9, 0, 0]), 3).tolist() == [3, 3, 3]
    assert capped(np.array([2, 1]), 3).tolist() == [2, 1]
    with pytest.raises(InvalidInputError, match="can't hold 10"):
        capped(np.array([10, 0]), 4)


@pytest.mark.parametrize("kind", Keys)
@pytest.mark.parametrize(("count", "bins"), [(1, 1), (10, 3), (5000, 64)])
def test_keys_are_in_range_and_as_many(kind: Keys, count: int, bins: int) -> None:
    keys = make_keys(kind, count, bins, 700, generator())
    assert keys.shape == (count,)
    assert keys.dtype == np.int32
    assert 0 <= keys.min() <= keys.max() < bins
    assert np.array_equal(keys, make_keys(kind, count, bins, 700, generator()))


def test_keys_have_their_shape() -> None:
    def keys(kind: Keys, per_mille: int = 0) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return make_keys(kind, 20_000, 256, per_mille, generator())

    share = measured.share_of_most_frequent
    assert share(keys(Keys.UNIFORM)) < 0.01
    assert share(keys(Keys.ZIPF, 1000)) > 0.1
    assert share(keys(Keys.ZIPF, 0)) < 0.01
    assert 0.6 < share(keys(Keys.ONE_HEAVY, 600)) < 0.63
    assert measured.share_in_order(keys(Keys.SORTED)) == 1
    assert measured.share_in_order(keys(Keys.UNIFORM)) < 0.6
    assert measured.share_repeated(keys(Keys.RUNS, 50)) > 0.97
    # Runs and uniform keys have the same frequencies, up to chance.
    assert share(keys(Keys.RUNS, 4)) < 0.02


def test_partly_sorted_values_are_the_same_values() -> None:
    values = generator(1).integers(10_000, size=4000).astype(np.int32)
    shares = []
    for per_mille in (0, 100, 500, 1000):
        found = partly_sorted(values, per_mille, generator())
        assert np.array_equal(np.sort(found), np.sort(values))
        shares.append(measured.share_in_order(found))
    assert shares[0] == 1
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.6


@pytest.mark.parametrize(("count", "table"), [(1, 1), (100, 7), (7, 100), (4096, 4096)])
@pytest.mark.parametrize("reach", [0, 1, 1000])
def test_indices_are_in_the_table(count: int, table: int, reach: int) -> None:
    indices = make_indices(count, table, reach, generator())
    assert indices.shape == (count,)
    assert indices.dtype == np.int32
    assert 0 <= indices.min() <= indices.max() < table


def test_a_longer_reach_makes_longer_jumps() -> None:
    jumps = [measured.mean_jump(make_indices(5000, 50_000, reach, generator())) for reach in (0, 1, 10, 100, 1000)]
    assert jumps[0] == pytest.approx(10)
    assert jumps == sorted(jumps)
    assert jumps[-1] > 10_000


SHAPES = [
    (60, 80, 600, lengths, per_mille, placement, place)
    for (lengths, per_mille), (placement, place) in itertools.product(
        [(Lengths.EVEN, 0), (Lengths.UNIFORM, 0), (Lengths.ZIPF, 1200), (Lengths.ONE_HEAVY, 120)],
        [(Columns.SPREAD, 1000), (Columns.BANDED, 300), (Columns.BLOCK, 250)],
    )
]


def test_matrices_are_consistent_at_equal_sizes() -> None:
    for shape in [*SHAPES, (1, 1, 0), (3, 2, 6), (2, 1000, 7)]:
        rows, columns, entries, *_ = shape
        row_starts, column_indices, values = make_sparse(generator(), *shape)
        assert len(row_starts) == rows + 1
        assert len(column_indices) == len(values) == row_starts[-1] == entries
        assert (np.diff(row_starts) >= 0).all()
        for start, end in itertools.pairwise(row_starts):
            row = column_indices[start:end]
            assert (np.diff(row) > 0).all()
            assert not len(row) or (row[0] >= 0 and row[-1] < columns)


def test_placements_differ_in_their_spread() -> None:
    def spread(placement: Columns, per_mille: int) -> float:
        row_starts, column_indices, _ = make_sparse(
            generator(), 400, 400, 4000, Lengths.EVEN, 0, placement, per_mille
        )
        return measured.column_spread(row_starts, column_indices)

    assert spread(Columns.SPREAD, 0) > 300
    assert 60 < spread(Columns.BANDED, 200) < 80
    assert 60 < spread(Columns.BLOCK, 200) < 80
    row_starts, column_indices, _ = make_sparse(generator(), 400, 400, 4000, Lengths.EVEN, 0, Columns.BLOCK, 250)
    filled = np.zeros((400, 400), bool)
    filled[np.repeat(np.arange(400), np.diff(row_starts)), column_indices] = True
    assert all(filled[i : i + 100, i : i + 100].sum() == 1000 for i in range(0, 400, 100))


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInputError):
        make_lengths(Lengths.EVEN, 0, 1, 0, generator())
    with pytest.raises(InvalidInputError):
        make_lengths(Lengths.ONE_HEAVY, 2, 1, 1001, generator())
    with pytest.raises(InvalidInputError):
        make_keys(Keys.UNIFORM, 1, 0, 0, generator())
    with pytest.raises(InvalidInputError):
        partly_sorted(np.arange(3, dtype=np.int32), 1001, generator())
    with pytest.raises(InvalidInputError):
        make_indices(1, 0, 0, generator())
    with pytest.raises(InvalidInputError, match="can't hold"):
        make_sparse(generator(), 2, 2, 5)
    with pytest.raises(InvalidInputError):
        make_sparse(generator(), 2, 0, 0)


def test_measures_of_almost_nothing() -> None:
    one = np.zeros(1, np.int32)
    assert measured.mean_jump(one) == 0
    assert measured.share_in_order(one) == 1
    assert measured.share_repeated(one) == 0
    empty = np.zeros(3, np.int32)
    assert measured.variation_of_lengths(empty) == 0
    assert measured.longest_over_mean(empty) == 1
    assert measured.column_spread(empty, np.zeros(0, np.int32)) == 0


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
