"""Kernels of free launch as benchmarks: their sizes, buffers and launches.

Sizes are of three classes, which the trips of loops have no say in. `few`: fewer work-groups than a large GPU has
compute units. `caches`: buffers that fit caches. `memory`: buffers that don't. The latter two are larger for GPUs.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from functools import lru_cache, partial

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.free_launch.elements import Draws
from coarsen.opencl_bench.workloads.free_launch.kernel import SETS, DrawnKernel, Parameter, draw
from coarsen.opencl_bench.workloads.free_launch.parts import (
    EXTENTS,
    GRANULES,
    Buffer,
    Contents,
    Extents,
    Guard,
    Scalar,
)
from coarsen.tuning.workload.benchmark import (
    Argument,
    Array,
    Benchmark,
    BufferArgument,
    Launch,
    LocalArgument,
    LocalSize,
    Preset,
    ScalarArgument,
    Size,
    Workload,
)
from coarsen.tuning.workload.driver_tools import round_up, uniform, unwritten
from coarsen.variant.variant import shape

# What a kernel's inputs are made by; another number where they change.
INPUTS_VERSION = 1
_NAME = re.compile(rf"({'|'.join(SETS)})-(0|[1-9][0-9]{{0,8}})-(0|[1-9][0-9]{{0,8}})")
TEST = "test"
TEST_TRIPS = 5
TEST_GROUPS = {1: (2,), 2: (2, 2), 3: (1, 2, 2)}
MEBIBYTE = 1 << 20
# Of all buffers, in bytes: the least and the most of a class.
BYTES = {
    "few": (0, 96 * MEBIBYTE),
    "caches": (MEBIBYTE // 4, 8 * MEBIBYTE),
    "memory": (48 * MEBIBYTE, 64 * MEBIBYTE),
    "gpu_caches": (4 * MEBIBYTE, 24 * MEBIBYTE),
    "gpu_memory": (96 * MEBIBYTE, 128 * MEBIBYTE),
}
# What the presets that other kernels have, too, stand for.
USUAL = {"cpu": "memory", "gpu": "gpu_memory"}
# In units of a kernel's cost, about 0.1 ns of a CPU's time each: a few milliseconds on two cores, and what a large
# GPU takes less than one for.
MOST_COST = {"few": 40e6, "caches": 40e6, "memory": 40e6, "gpu_caches": 6e9, "gpu_memory": 6e9}
FEW_GRANULES = (2, 4, 8, 16, 32)
MOST_GRANULES = 1 << 16
SCALARS: dict[str, type[np.generic]] = {"float": np.float32, "int": np.int32, "uint": np.uint32}
# A near index is at most so many elements from the item's own.
NEARNESS = 24
LARGEST_INT = 1 << 16
LARGEST_WEIGHT = 16
RELATIVE_TOLERANCE = 1e-4
ABSOLUTE_TOLERANCE_PER_TERM = 1e-5


@lru_cache(maxsize=8)
def free_launch_benchmark(name: str) -> Benchmark:
    """The benchmark of this name; the uncoarsened kernel's results are the measure. Raises InvalidInputError."""
    kernel = free_launch_kernel(name)
    source = kernel.source
    dimensions = tuple(range(kernel.frame.dimensions))
    own = kernel.local_sizes[0]
    return Benchmark(
        name=kernel.name,
        dimensions=dimensions,
        presets=presets(kernel),
        divisible_local_sizes={d: max(kernel.local_sizes, key=lambda size: size[d]) for d in dimensions},
        make_workload=partial(make_workload, kernel),
        make_launches=partial(make_launches, kernel),
        local_sizes=kernel.local_sizes,
        kernel_name=kernel.kernel,
        source_text=source,
        inputs_hash=hashlib.sha256(json.dumps([source, INPUTS_VERSION]).encode()).hexdigest(),
        shared_local_size=None if kernel.sketch.depends_on_group else own,
        family=kernel.family,
        mechanisms=frozenset({kernel.mechanism.value}),
    )


def free_launch_kernel(name: str) -> DrawnKernel:
    """The kernel `launch-<seed>-<index>` or `nest-…`, with its mechanism and family. Raises InvalidInputError."""
    match = _NAME.fullmatch(name)
    if match is None:
        called = " or ".join(f"{each}-SEED-NUMBER" for each in SETS)
        raise InvalidInputError(f"no benchmark {name!r}; a kernel of free launch is called {called}")
    return draw(match[1], int(match[2]), int(match[3]))


def presets(kernel: DrawnKernel) -> dict[str, Preset]:
    """The presets `test`, those of all classes, and the usual ones, at the kernel's own local size."""
    own, test = kernel.local_sizes[0], TEST_GROUPS[kernel.frame.dimensions]
    if kernel.sketch.item_per_group:
        test = (8,)
    sizes = {TEST: _size(kernel, test, TEST), **{name: _size_of_class(kernel, name) for name in BYTES}}
    sizes |= {usual: sizes[name] for usual, name in USUAL.items()}
    return {name: Preset(size, own) for name, size in sizes.items()}


def extents_of(size: Size) -> Extents:
    """The extents of a preset's size."""
    return Extents(size["width"], size.get("height", 1), size.get("depth", 1), size["trips"])


def global_size_of(kernel: DrawnKernel, size: Size, local_size: LocalSize) -> tuple[int, ...]:
    """The NDRange at a size."""
    if kernel.sketch.item_per_group:
        return (size["width"] * local_size[0],)
    named = zip(EXTENTS, local_size, strict=False)
    return tuple(round_up(size[name], extent) for name, extent in named)


def byte_count(kernel: DrawnKernel, extents: Extents) -> int:
    """The bytes of all buffers."""
    return sum(buffer.elements(extents) * bytes_of(buffer.type) for buffer in kernel.sketch.buffers)


def bytes_of(kind: str) -> int:
    """The bytes of an element; all scalars have four."""
    return 4 * int(kind[-1]) if kind[-1].isdigit() else 4


def _size_of_class(kernel: DrawnKernel, name: str) -> Size:
    draws = Draws(kernel.seed, kernel.index, list(BYTES).index(name), 1)
    least, most = BYTES[name]
    one = _size(kernel, (1,) * kernel.frame.dimensions, name)
    items = 1 if kernel.sketch.item_per_group else math.prod(GRANULES[kernel.frame.dimensions])
    by_cost = MOST_COST[name] / (items * kernel.sketch.cost)
    two = _size(kernel, (2,) + (1,) * (kernel.frame.dimensions - 1), name)
    # What the buffers grow by with a granule; those that don't grow are no matter.
    grown = max(byte_count(kernel, extents_of(two)) - byte_count(kernel, extents_of(one)), 1)
    wanted = draws.pick(FEW_GRANULES) if least == 0 else draws.log_uniform(least, most) / grown
    granules = max(1, min(wanted, by_cost, most / grown, MOST_GRANULES))
    return _size(kernel, _arranged(draws, int(granules), kernel.frame.dimensions), name)


def _arranged(draws: Draws, granules: int, dimensions: int) -> tuple[int, ...]:
    """Arrange about so many granules along the dimensions, in numbers that work-groups can be merged by."""
    if dimensions == 1:
        return (_rounded(granules),)
    if dimensions == 2:
        # A granule is four times as wide as high.
        width = max(1, min(granules, round(math.sqrt(granules / 4) * draws.pick((0.5, 1, 1, 2, 4)))))
        columns = _rounded(width)
        return columns, _rounded(max(1, granules // columns))
    width = max(1, min(granules, round((granules / 32) ** (1 / 3) * draws.pick((1, 1, 2)))))
    columns = _rounded(width)
    rows = _rounded(max(1, min(granules // columns, round(math.sqrt(granules / columns / 2)))))
    return columns, rows, _rounded(max(1, granules // (columns * rows)))


def _rounded(number: int) -> int:
    """Round down to a number of few binary digits, so that most factors divide it."""
    step = 1 << max(0, number.bit_length() - 3)
    return max(1, number // step * step)


def _size(kernel: DrawnKernel, granules: tuple[int, ...], name: str) -> Size:
    """The extents of so many granules; with a guard, a few elements less."""
    frame, trips = kernel.frame, kernel.sketch.trips
    count = min(trips.count, TEST_TRIPS) if name == TEST and trips.is_symbolic else trips.count
    if kernel.sketch.item_per_group:
        return {"width": granules[0], "trips": count}
    draws = Draws(kernel.seed, kernel.index, list(BYTES).index(name) if name in BYTES else len(BYTES), 2)
    size = {}
    for dimension, (number, granule) in enumerate(zip(granules, GRANULES[frame.dimensions], strict=True)):
        # Less than any work-group's extent: the NDRange is the same for all of them.
        least = min(local_size[dimension] for local_size in kernel.local_sizes)
        missing = 0 if frame.guard is Guard.NONE else draws.whole(0, least - 1)
        size[EXTENTS[dimension]] = number * granule - missing
    return {**size, "trips": count}


def make_workload(
    kernel: DrawnKernel, size: Size, local_size: LocalSize, generator: np.random.Generator
) -> Workload:
    """The workload at these extents. Raises InvalidInputError for a local size that is none of the kernel's."""
    launches, extents = make_launches(kernel, size, local_size), extents_of(size)
    buffers = {buffer.name: _contents(buffer, extents, generator) for buffer in kernel.sketch.buffers}
    return Workload(
        buffers=buffers,
        launches=launches,
        outputs=tuple(buffer.name for buffer in kernel.sketch.buffers if buffer.is_output),
        reference=None,
        relative_tolerance=RELATIVE_TOLERANCE,
        absolute_tolerance=ABSOLUTE_TOLERANCE_PER_TERM * (16 + extents.trips),
    )


def make_launches(kernel: DrawnKernel, size: Size, local_size: LocalSize) -> tuple[Launch, ...]:
    """The launch at these extents. Raises as `make_workload` does."""
    if local_size not in kernel.local_sizes:
        legal = ", ".join(map(shape, kernel.local_sizes))
        raise InvalidInputError(f"{kernel.name}: its local sizes are {legal}, not {shape(local_size)}")
    arguments = tuple(_argument(each, extents_of(size), local_size) for each in kernel.parameters)
    return (Launch(kernel.kernel, global_size_of(kernel, size, local_size), local_size, arguments),)


def _argument(parameter: Parameter, extents: Extents, local_size: LocalSize) -> Argument:
    if isinstance(parameter, Buffer):
        return BufferArgument(parameter.name)
    if isinstance(parameter, Scalar):
        return ScalarArgument(np.uint32(parameter.value(extents)))
    return LocalArgument(parameter.elements(local_size) * bytes_of(parameter.type))


def _contents(buffer: Buffer, extents: Extents, generator: np.random.Generator) -> Array:
    scalar = SCALARS[buffer.type.rstrip("24")]
    components = bytes_of(buffer.type) // 4
    elements = buffer.elements(extents)
    whole_shape = (elements,) if components == 1 else (elements, components)
    match buffer.contents:
        case Contents.UNWRITTEN:
            return unwritten(whole_shape, scalar)
        case Contents.ZEROS:
            return np.zeros(whole_shape, scalar)
        case Contents.NUMBERS | Contents.WEIGHTS:
            return _numbers(generator, scalar, whole_shape, is_weight=buffer.contents is Contents.WEIGHTS)
        case _:
            return _indices(buffer, elements, extents, generator)


def _numbers(
    generator: np.random.Generator, scalar: type[np.generic], whole_shape: tuple[int, ...], *, is_weight: bool
) -> Array:
    if scalar is np.float32:
        return uniform(generator, *((0.5, 1.5) if is_weight else (-1.0, 1.0)), whole_shape)
    most = LARGEST_WEIGHT if is_weight else LARGEST_INT
    return generator.integers(1, most, whole_shape, dtype=scalar)


def _indices(buffer: Buffer, elements: int, extents: Extents, generator: np.random.Generator) -> Array:
    limit = elements if buffer.limit is None else buffer.limit(extents)
    match buffer.contents:
        case Contents.PERMUTATION:
            return generator.permutation(elements).astype(np.uint32)
        case Contents.LENGTHS:
            return generator.integers(1, extents.trips, elements, dtype=np.uint32, endpoint=True)
        case Contents.STARTS:
            lengths = generator.integers(0, extents.trips, elements - 1, dtype=np.uint32, endpoint=True)
            return np.concatenate([np.zeros(1, np.uint32), np.cumsum(lengths, dtype=np.uint32)])
        case Contents.SORTED:
            return np.sort(generator.integers(0, limit, elements, dtype=np.uint32))
        case Contents.NEAR_INDICES:
            own = np.arange(elements, dtype=np.int64) * limit // elements
            near = own + generator.integers(-NEARNESS, NEARNESS + 1, elements, dtype=np.int32)
            inside: Array = np.clip(near, 0, limit - 1)
            return inside.astype(np.uint32)
        case _:
            return generator.integers(0, limit, elements, dtype=np.uint32)
