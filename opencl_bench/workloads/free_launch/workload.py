"""The buffers and the launch of a kernel of free launch."""

from __future__ import annotations

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.workloads.benchmark import (
    Argument,
    Array,
    BufferArgument,
    Launch,
    LocalArgument,
    LocalSize,
    ScalarArgument,
    Size,
    Workload,
)
from coarsen.opencl_bench.workloads.driver_tools import uniform, unwritten
from coarsen.opencl_bench.workloads.free_launch.kernel import DrawnKernel, Parameter
from coarsen.opencl_bench.workloads.free_launch.parts import Buffer, Contents, Extents, Scalar
from coarsen.opencl_bench.workloads.free_launch.sizes import bytes_of, extents_of, global_size_of
from coarsen.variant.variant import shape

SCALARS: dict[str, type[np.generic]] = {"float": np.float32, "int": np.int32, "uint": np.uint32}
# A near index is at most so many elements from the item's own.
NEARNESS = 24
LARGEST_INT = 1 << 16
LARGEST_WEIGHT = 16
RELATIVE_TOLERANCE = 1e-4
ABSOLUTE_TOLERANCE_PER_TERM = 1e-5


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
