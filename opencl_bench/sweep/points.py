"""The optimisation space of a benchmark, point by point, and what is wrong with a point before it is compiled.

    local sizes × -D values × (uncoarsened, or factor × dimension × stride)

Rules that need no compiler are checked here: what the coarsened launch must divide, what the device can hold, what
the algorithm asks of its work-groups. A point that breaks one stays in the list, with the reason.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.records.candidate import Candidate, shape
from coarsen.opencl_bench.sweep.plan import Space
from coarsen.opencl_bench.workloads.benchmark import Benchmark, Definitions, Launch, LocalArgument, LocalSize
from coarsen.variant.coarsening import DIMENSIONS, Coarsening, Configuration

if TYPE_CHECKING:
    from coarsen.devices.discovery import DeviceDescription

# A sweep measures a few in a second: more would take days.
MOST_POINTS = 200_000


@dataclass(frozen=True, slots=True)
class DeviceLimits:
    """What a device can hold: work-items per work-group, in all and per dimension, and bytes of local memory."""

    max_work_group_size: int
    max_work_item_sizes: tuple[int, ...]
    local_memory: int


@dataclass(frozen=True, slots=True)
class Point:
    """A candidate, and in one sentence why it can't run; None if nothing speaks against it."""

    candidate: Candidate
    violation: str | None


@dataclass(frozen=True, slots=True)
class _Group:
    """What all points of one local size and one choice of -D values share: the launches, or why there are none."""

    local_size: LocalSize
    definitions: Definitions
    launches: tuple[Launch, ...]
    violation: str | None


def limits_of(device: DeviceDescription) -> DeviceLimits:
    """The limits of a device."""
    return DeviceLimits(device.max_work_group_size, device.max_work_item_sizes, device.local_memory)


def points(benchmark: Benchmark, preset: str, space: Space, limits: DeviceLimits) -> list[Point]:
    """Every point of the optimisation space, each once.

    The uncoarsened ones come first, whether or not 1 is among the space's factors, since every speed-up is over
    the best of them; of these the preset's own local size, where the space has it, is the very first. The others
    follow, those of one local size together.

    Args:
        benchmark: gives dimensions, local sizes and -D values where the space leaves them open.
        preset: decides which local size comes first, and the extents of the problem.
        space: what to combine.
        limits: those of the device.

    Raises:
        InvalidInputError: no such preset, a factor, dimension or stride that is none, an empty local size.
    """
    _check_count(benchmark, preset, space)
    groups = [
        _group(benchmark, preset, local_size, definitions)
        for local_size in _local_sizes(benchmark, preset, space)
        for definitions in _definitions(benchmark, space)
    ]
    configurations = [(), *_configurations(benchmark, space)]
    uncoarsened, coarsened = configurations[:1], configurations[1:]
    return [
        _point(group, chosen, limits)
        for configurations in (uncoarsened, coarsened)
        for group in groups
        for chosen in configurations
    ]


def _check_count(benchmark: Benchmark, preset: str, space: Space) -> None:
    """Raise InvalidInputError for a space that no sweep could get through, before it is written down."""
    numbers = [len({*values}) for values in {**benchmark.tunables, **dict(space.definitions)}.values()]
    dimensions = benchmark.dimensions if space.dimensions is None else space.dimensions
    coarsenings = len(dimensions) * len(space.factors) * len(space.strides)
    count = math.prod((*numbers, len(_local_sizes(benchmark, preset, space)), 1 + coarsenings))
    if count > MOST_POINTS:
        raise InvalidInputError(
            f"{benchmark.name}: the space has up to {count} configurations, and at most {MOST_POINTS} are "
            "measured: give fewer values of macros, local sizes, factors or strides"
        )


def _local_sizes(benchmark: Benchmark, preset: str, space: Space) -> list[LocalSize]:
    own = benchmark.preset(preset).local_size
    wanted = benchmark.local_sizes_of(preset) if space.local_sizes is None else space.local_sizes
    # A stable sort: the preset's own first, the others as they are.
    return sorted(dict.fromkeys(wanted), key=lambda local_size: local_size != own)


def _definitions(benchmark: Benchmark, space: Space) -> Iterator[Definitions]:
    values = {**benchmark.tunables, **dict(space.definitions)}
    names = sorted(values)
    for chosen in itertools.product(*(dict.fromkeys(values[name]) for name in names)):
        yield tuple(zip(names, chosen, strict=True))


def _configurations(benchmark: Benchmark, space: Space) -> list[Configuration]:
    """The coarsenings, ordered by dimension, then factor, then stride as the space lists them."""
    dimensions = benchmark.dimensions if space.dimensions is None else space.dimensions
    combinations = itertools.product(dimensions, space.factors, space.strides)
    coarsenings = [Coarsening(factor, dimension, stride) for dimension, factor, stride in combinations]
    return [(coarsening,) for coarsening in dict.fromkeys(coarsenings) if coarsening.factor > 1]


def _group(benchmark: Benchmark, preset: str, local_size: LocalSize, definitions: Definitions) -> _Group:
    try:
        launches = benchmark.launches(preset, local_size, definitions)
    except InvalidInputError as error:
        return _Group(local_size, definitions, (), str(error))
    return _Group(local_size, definitions, launches, None)


def _point(group: _Group, chosen: Configuration, limits: DeviceLimits) -> Point:
    violations = itertools.chain(
        () if group.violation is None else (group.violation,),
        (text for launch in group.launches for text in _launch_violations(launch, chosen, limits)),
    )
    return Point(Candidate(group.local_size, chosen, group.definitions), next(violations, None))


def _launch_violations(launch: Launch, chosen: Configuration, limits: DeviceLimits) -> Iterator[str]:
    undivided = next(_undivided(launch.local_size, chosen), None)
    if undivided is not None:
        yield undivided
        return
    factor = {coarsening.dimension: coarsening.factor for coarsening in chosen}
    coarsened = tuple(extent // factor.get(d, 1) for d, extent in enumerate(launch.local_size))
    yield from _too_large(coarsened, limits)
    local_bytes = sum(entry.byte_count for entry in launch.arguments if isinstance(entry, LocalArgument))
    if local_bytes > limits.local_memory:
        yield f"it needs {local_bytes} bytes of local memory, the device has {limits.local_memory}"


def _undivided(local_size: LocalSize, chosen: Configuration) -> Iterator[str]:
    for coarsening in chosen:
        factor, dimension, stride = coarsening.factor, coarsening.dimension, coarsening.stride
        if dimension >= len(local_size):
            yield f"the NDRange has no dimension {dimension}"
        elif local_size[dimension] % factor:
            yield f"the factor {factor} does not divide the local size {shape(local_size)} along {dimension}"
        elif local_size[dimension] // factor % stride:
            left = local_size[dimension] // factor
            yield f"the stride {stride} does not divide the coarsened local size {left} along {dimension}"


def _too_large(local_size: LocalSize, limits: DeviceLimits) -> Iterator[str]:
    count = math.prod(local_size)
    if count > limits.max_work_group_size:
        yield f"a work-group would have {count} work-items, the device allows {limits.max_work_group_size}"
    # A device of fewer than three dimensions is none that OpenCL knows; a description made by hand may be short.
    allowed = (*limits.max_work_item_sizes, *[1] * DIMENSIONS)
    for dimension, (extent, most) in enumerate(zip(local_size, allowed, strict=False)):
        if extent > most:
            yield f"a work-group would have {extent} work-items along {dimension}, the device allows {most}"
