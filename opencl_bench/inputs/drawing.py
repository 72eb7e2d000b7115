"""The inputs of a described kernel, drawn from the space in its file, and what they cover.

Corners come first, then points of Sobol's sequence over the logarithms of the sizes:

    tiny           all sizes at their least
    thin, wide     one size as large as the limits allow, the others at their least
    odd            all at the power of two next to the middle of their ranges, at one less and at one more
    the others     Sobol, without scrambling, so that no release of a package changes the points
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from coarsen.dispatch.expressions import parse_condition
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.described.inputs import KEY, InputSpace, list_file, write_inputs
from coarsen.opencl_bench.workloads.described.inputs import read_input_space as space_of
from coarsen.opencl_bench.workloads.described.read import read_table
from coarsen.tuning.workload.benchmark import Size

# Of the points that are drawn, those beyond the limits are left out; a space that hardly has others is refused.
_MOST_DRAWN = 1 << 14
_ADD = """[inputs] with ranges of the sizes, such as: inputs = { ranges = { n = [16, 1048576] }, count = 24 }"""


def draw_inputs(space: InputSpace) -> tuple[dict[str, int], ...]:
    """Return the inputs of a space, all different; the same ones at every call.

    Raises:
        InvalidInputError: a range is none, a limit can't be read, or hardly any sizes are within the limits.
    """
    found: dict[tuple[int, ...], dict[str, int]] = {}
    for size in itertools.chain(_corners(space), _sobol(space)):
        whole = {**_rounded(space, size), **space.fixed}
        if is_within(space, whole):
            found.setdefault(tuple(whole.values()), whole)
        if len(found) == space.count:
            return tuple(found.values())
    limits = " and ".join(space.limits)
    if limits:
        raise InvalidInputError(f"only {len(found)} of {space.count} sizes are within {limits}")
    ranges = ", ".join(f"{name} = [{low}, {high}]" for name, (low, high) in space.ranges.items())
    raise InvalidInputError(
        f"only {len(found)} of {space.count} sizes are in the ranges {ranges}: widen them, or lower count"
    )


def is_within(space: InputSpace, size: Size) -> bool:
    """Return True if some sizes fulfil the limits of a space. Raises InvalidInputError where one can't be read."""
    for limit in map(parse_condition, space.limits):
        try:
            limit.check(size)
        except InvalidInputError:
            return False
    return True


def _corners(space: InputSpace) -> Iterator[dict[str, float]]:
    least: dict[str, float] = {name: low for name, (low, _) in space.ranges.items()}
    yield least
    if len(space.ranges) > 1:
        for name in space.ranges:
            yield _stretched(space, least, name)
    middle = {name: 1 << round(math.log2(low * high) / 2) for name, (low, high) in space.ranges.items()}
    for step in (0, -1, 1):
        yield {name: value + step for name, value in middle.items()}


def _stretched(space: InputSpace, least: dict[str, float], name: str) -> dict[str, float]:
    """The least sizes with one of them as large as the limits allow, up to a factor of 2."""
    low, value = space.ranges[name]
    while value > low and not is_within(space, {**_rounded(space, {**least, name: value}), **space.fixed}):
        value = max(value // 2, low)
    return {**least, name: value}


def _sobol(space: InputSpace) -> Iterator[dict[str, float]]:
    # The first point is the corner of all the least sizes.
    points = qmc.Sobol(len(space.ranges), scramble=False).random(_MOST_DRAWN)[1:]
    for point in points:
        yield {
            name: low * (high / low) ** float(place)
            for (name, (low, high)), place in zip(space.ranges.items(), point, strict=True)
        }


def _rounded(space: InputSpace, size: dict[str, float]) -> dict[str, int]:
    return {name: _whole(space, name, value) for name, value in size.items()}


def _whole(space: InputSpace, name: str, value: float) -> int:
    low, high = space.ranges[name]
    if name in space.powers_of_two:
        return int(1 << round(math.log2(value)))
    multiple = space.multiples.get(name, 1)
    return min(max(round(value / multiple) * multiple, low), high)


def list_inputs(description: Path) -> tuple[Path, bool]:
    """List the inputs of a TOML file beside it, unless they are listed.

    Args:
        description: the TOML file.

    Returns:
        The path of the list, and True where it was written now.

    Raises:
        InvalidInputError: the file declares no inputs, or hardly any sizes are within its limits.
    """
    space = space_of(read_table(description))
    if space is None:
        raise InvalidInputError(f"{description}: {KEY}: it is missing; add {_ADD}")
    path = list_file(description)
    before = path.read_bytes() if path.is_file() else b""
    write_inputs(path, draw_inputs(space))
    return path, path.read_bytes() != before


def numbers_of(places: Sequence[Mapping[str, float]]) -> tuple[tuple[str, float, float, int], ...]:
    """Return what some inputs cover by their numbers.

    Args:
        places: of each input, its numbers by name; the same names in all.

    Returns:
        For each name the least number, the largest, and how many different ones there are.
    """
    values = {name: [each[name] for each in places] for name in places[0]} if places else {}
    return tuple((name, min(found), max(found), len({*found})) for name, found in values.items())


# Of many inputs some that fill their space: each further one is the farthest from those before (Gonzalez 1985).


def places_of(points: Sequence[Mapping[str, float]]) -> NDArray[np.float64]:
    """Return the places of points, (n, numbers): in octaves where these are above 0, each over its range.

    Args:
        points: numbers by name, the same names in all.
    """
    names = sorted(points[0])
    values = np.array([[point[name] for name in names] for point in points], dtype=np.float64)
    columns = values.reshape(len(points), len(names)).T
    return np.column_stack([*map(_scaled, columns), np.zeros(len(points))])


def _scaled(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """A number of all points from 0 to 1; 0 for all where it never differs."""
    if (column > 0).all():
        column = np.log2(column)
    return np.asarray((column - column.min()) / (np.ptp(column) or 1.0))


def farthest(places: NDArray[np.float64], first: int, count: int) -> tuple[int, ...]:
    """Return the numbers of at most so many places that fill the space of all, `first` before the others.

    Args:
        places: from `places_of`.
        first: the number of the first one.
        count: how many at most; of those as far it is the first.
    """
    chosen, gaps = [first], np.full(len(places), np.inf)
    while len(chosen) < min(count, len(places)):
        gaps = np.minimum(gaps, ((places - places[chosen[-1]]) ** 2).sum(axis=1))
        # Rounded, so that what is as far on every machine is as far here.
        apart = {place: round(float(gaps[place]), 9) for place in range(len(places)) if place not in chosen}
        chosen.append(max(apart, key=lambda place: (apart[place], -place)))
    return tuple(chosen)
