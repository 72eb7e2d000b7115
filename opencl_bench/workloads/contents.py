"""Contents of buffers whose shape decides about a kernel's time: lengths, indices, keys, graphs.

All settings are whole numbers, shares per mille; one seed and the same settings give the same arrays.
"""

from __future__ import annotations

import enum
import itertools
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from coarsen.errors import InvalidInputError

WHOLE = 1000


_Kind = TypeVar("_Kind", bound=enum.IntEnum)


def kind_of(kinds: type[_Kind], number: float) -> _Kind:
    """Return the kind of a number. Raises InvalidInputError where there is none; the message lists them."""
    try:
        return kinds(int(number))
    except ValueError:
        known = ", ".join(f"{kind.value} {kind.name.lower().replace('_', ' ')}" for kind in kinds)
        raise InvalidInputError(f"there is no kind {number}; there are {known}") from None


class Lengths(enum.IntEnum):
    """The shape of some lengths; `per_mille` is what it says of it."""

    EVEN = 0
    """All alike, up to 1."""
    UNIFORM = 1
    """Drawn between 0 and twice the mean."""
    ZIPF = 2
    """The k-th longest is as long as k to the power of -per_mille/1000 tells, in random places."""
    ONE_HEAVY = 3
    """One of them, in a random place, has per_mille of the total; the others share the rest evenly."""


def make_lengths(
    kind: Lengths, count: int, total: int, per_mille: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return lengths that add up to a total.

    Args:
        kind: their shape.
        count: how many, at least 1.
        total: their sum, at least 0.
        per_mille: of the exponent or of the heavy one's share; without a meaning for the other kinds.
        generator: the source of random numbers.

    Raises:
        InvalidInputError: a number is out of its range.
    """
    if count < 1 or total < 0 or per_mille < 0:
        raise InvalidInputError(
            f"{count} lengths of {total} in all, {per_mille} per mille: give numbers from 0 on"
        )
    if kind is Lengths.ONE_HEAVY:
        return _one_heavy(count, total, per_mille, generator)
    return apportioned(_weights(kind, count, per_mille, generator), total)


def apportioned(weights: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Return whole numbers in proportion to some weights, up to 1, that add up to a total."""
    ends = np.cumsum(weights)
    if ends[-1] <= 0:
        ends = np.arange(1.0, len(weights) + 1)
    rounded = np.floor(ends / ends[-1] * total).astype(np.int64)
    rounded[-1] = total
    lengths: NDArray[np.int64] = np.diff(rounded, prepend=0)
    return lengths


def capped(lengths: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return lengths of at most `most` with the same total: the shorter ones take what is cut off, evenly.

    Raises:
        InvalidInputError: the total doesn't fit.
    """
    if lengths.sum() > most * len(lengths):
        raise InvalidInputError(f"{len(lengths)} rows of at most {most} can't hold {lengths.sum()}")
    short = np.minimum(lengths, most)
    while excess := int(lengths.sum() - short.sum()):
        room = most - short
        share = -(-excess // int(np.count_nonzero(room)))
        taken = np.minimum(room, share)
        # The last ones get less where the share was rounded up.
        short += np.diff(np.minimum(np.cumsum(taken), excess), prepend=0)
    return short


def starts_of(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return where each row or segment starts, and at the end the total."""
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)


def _weights(kind: Lengths, count: int, per_mille: int, generator: np.random.Generator) -> NDArray[np.float64]:
    if kind is Lengths.UNIFORM:
        return generator.random(count)
    if kind is Lengths.ZIPF:
        return generator.permutation(zipf_weights(count, per_mille))
    return np.ones(count)


def zipf_weights(count: int, per_mille: int) -> NDArray[np.float64]:
    """Return k to the power of -per_mille/1000 for k from 1 to `count`."""
    return np.arange(1.0, count + 1) ** (-per_mille / WHOLE)


def _one_heavy(count: int, total: int, per_mille: int, generator: np.random.Generator) -> NDArray[np.int64]:
    if per_mille > WHOLE:
        raise InvalidInputError(f"one length can't have {per_mille} per mille of the total")
    heavy = total * per_mille // WHOLE if count > 1 else total
    place = int(generator.integers(count))
    others = apportioned(np.ones(count - 1), total - heavy) if count > 1 else np.zeros(0, np.int64)
    return np.insert(others, place, heavy)


def make_indices(
    count: int, table: int, reach_per_mille: int, generator: np.random.Generator
) -> NDArray[np.int32]:
    """Return indices that go through a table once, each moved at random by up to a share of the table.

    Args:
        count: how many, at least 1.
        table: the number of elements of the table, at least 1.
        reach_per_mille: how far an index may be from its place in the order, as a share of the table: 0 for
            indices in ascending order, 1000 for indices that may be anywhere.
        generator: the source of random numbers.

    Raises:
        InvalidInputError: a number is out of its range.
    """
    if count < 1 or table < 1 or not 0 <= reach_per_mille <= WHOLE:
        raise InvalidInputError(f"{count} indices of {table}, moved by {reach_per_mille} per mille: out of range")
    reach = table * reach_per_mille // WHOLE
    places = np.arange(count, dtype=np.int64) * table // count
    moved = places + generator.integers(-(reach // 2), reach - reach // 2 + 1, size=count)
    return (moved % table).astype(np.int32)


class Keys(enum.IntEnum):
    """The shape of some keys; `per_mille` is what it says of it."""

    UNIFORM = 0
    """Each bin equally often, in random order."""
    ZIPF = 1
    """The k-th most frequent bin as often as k to the power of -per_mille/1000 tells."""
    ONE_HEAVY = 2
    """per_mille of the keys are of one bin, the others uniform."""
    SORTED = 3
    """Uniform ones in ascending order."""
    PARTLY_SORTED = 4
    """Sorted ones of which per_mille changed their places."""
    RUNS = 5
    """Uniform ones, each repeated per_mille times on end."""


def make_keys(
    kind: Keys, count: int, bins: int, per_mille: int, generator: np.random.Generator
) -> NDArray[np.int32]:
    """Return `count` keys from 0 to `bins` - 1.

    Args:
        kind: their shape.
        count: how many, at least 1.
        bins: the number of different keys that there may be, at least 1.
        per_mille: what the kind says; without a meaning for uniform and sorted keys.
        generator: the source of random numbers.

    Raises:
        InvalidInputError: a number is out of its range.
    """
    if count < 1 or bins < 1 or per_mille < 0:
        raise InvalidInputError(f"{count} keys of {bins} bins, {per_mille} per mille: give numbers from 1 on")
    drawn = generator.integers(bins, size=count, dtype=np.int32)
    if kind is Keys.ZIPF:
        return _zipf(count, bins, per_mille, generator)
    if kind is Keys.ONE_HEAVY:
        return np.where(generator.integers(WHOLE, size=count) < per_mille, drawn[0], drawn).astype(np.int32)
    if kind is Keys.SORTED:
        return np.sort(drawn)
    if kind is Keys.PARTLY_SORTED:
        return partly_sorted(drawn, per_mille, generator)
    if kind is Keys.RUNS:
        return np.repeat(drawn, max(per_mille, 1))[:count]
    return drawn


def partly_sorted(values: NDArray[np.int32], per_mille: int, generator: np.random.Generator) -> NDArray[np.int32]:
    """Return the values in ascending order, but for per_mille of the places, which exchange theirs at random.

    Raises:
        InvalidInputError: more than all of them are to change.
    """
    if per_mille > WHOLE:
        raise InvalidInputError(f"{per_mille} per mille of the values can't change their places")
    result = np.sort(values)
    places = generator.permutation(len(values))[: len(values) * per_mille // WHOLE]
    result[places] = result[generator.permutation(places)]
    return result


def _zipf(count: int, bins: int, per_mille: int, generator: np.random.Generator) -> NDArray[np.int32]:
    ends = np.cumsum(zipf_weights(bins, per_mille))
    ranks = np.searchsorted(ends, generator.random(count) * ends[-1], side="right")
    # Without this the frequent bins would stand side by side.
    names = generator.permutation(bins).astype(np.int32)
    keys: NDArray[np.int32] = names[np.minimum(ranks, bins - 1)]
    return keys


class Columns(enum.IntEnum):
    """Where the entries of a row may be; `per_mille` is of the number of columns."""

    SPREAD = 0
    """Anywhere."""
    BANDED = 1
    """In a band of per_mille of the columns about the diagonal."""
    BLOCK = 2
    """In the row's block of the diagonal, of per_mille of the columns."""


def make_sparse(
    generator: np.random.Generator,
    rows: int,
    columns: int,
    entries: int,
    lengths: int = Lengths.EVEN,
    length_per_mille: int = 0,
    placement: int = Columns.SPREAD,
    placement_per_mille: int = WHOLE,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Return a sparse matrix in compressed rows, with values from -1 to 1; no row has a column twice.

    Args:
        generator: the source of random numbers.
        rows: at least 1.
        columns: at least 1.
        entries: how many in all, at most rows × columns.
        lengths: the shape of the rows' lengths.
        length_per_mille: what `make_lengths` takes.
        placement: where a row's entries may be.
        placement_per_mille: as `Columns` says.

    Returns:
        where each row starts, with the total at the end; the columns of the entries; their values.

    Raises:
        InvalidInputError: a number is out of its range, or the entries don't fit.
    """
    if min(rows, columns) < 1 or placement_per_mille < 0:
        raise InvalidInputError(f"a matrix can't have {rows} × {columns} elements")
    drawn = make_lengths(kind_of(Lengths, lengths), rows, entries, length_per_mille, generator)
    in_rows = capped(drawn, columns)
    first, width = _windows(in_rows, columns, kind_of(Columns, placement), placement_per_mille)
    starts = starts_of(in_rows)
    row = np.repeat(np.arange(rows), in_rows)
    place = np.arange(entries) - starts[row]
    # A row's window is cut into as many pieces as the row has entries, and each piece has one.
    left = place * width[row] // in_rows[row]
    right = (place + 1) * width[row] // in_rows[row]
    within = left + np.floor(generator.random(entries) * (right - left)).astype(np.int64)
    values = generator.random(entries, dtype=np.float32) * np.float32(2) - np.float32(1)
    return starts, (first[row] + within).astype(np.int32), values


def _windows(
    lengths: NDArray[np.int64], columns: int, placement: Columns, per_mille: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first column and the number of columns that each row's entries may be in; no fewer than the entries."""
    rows = len(lengths)
    if placement is Columns.SPREAD:
        return np.zeros(rows, np.int64), np.full(rows, columns)
    wanted = max(columns * per_mille // WHOLE, 1)
    width = np.minimum(np.maximum(lengths, wanted), columns)
    middle = np.arange(rows, dtype=np.int64) * columns // rows
    first = middle - width // 2 if placement is Columns.BANDED else middle // wanted * wanted
    return np.clip(first, 0, columns - width), width


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
