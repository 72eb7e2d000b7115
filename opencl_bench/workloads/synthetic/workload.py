"""The buffers and the launch of a synthetic kernel."""

from __future__ import annotations

import numpy as np

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
from coarsen.opencl_bench.workloads.synthetic.axes import Element
from coarsen.opencl_bench.workloads.synthetic.parameters import Buffer, Contents, Parameter, Scalar
from coarsen.opencl_bench.workloads.synthetic.sizes import Sizes, sizes_of
from coarsen.opencl_bench.workloads.synthetic.specification import Specification

TYPES: dict[str, tuple[type[np.generic], int]] = {
    "float": (np.float32, 1),
    "int": (np.int32, 1),
    "uint": (np.uint32, 1),
    "float4": (np.float32, 4),
    "uint4": (np.uint32, 4),
    "uchar4": (np.uint8, 4),
}
KEYS = 1024
# A near index is at most so many elements from the item's own.
NEARNESS = 24
LARGEST_INT = 1 << 16
LARGEST_INT_WEIGHT = 16
RELATIVE_TOLERANCE = 1e-4
ABSOLUTE_TOLERANCE_PER_TERM = 1e-5


def make_workload(
    specification: Specification,
    taken: list[Parameter],
    size: Size,
    local_size: LocalSize,
    generator: np.random.Generator,
) -> Workload:
    """The workload at these extents. Raises InvalidInputError for a local size that isn't the kernel's own."""
    sizes = sizes_of(specification, size, local_size)
    buffers = {
        parameter.name: _contents(specification, parameter, sizes, generator)
        for parameter in taken
        if isinstance(parameter, Buffer)
    }
    terms = 16 + specification.planes * specification.trips
    return Workload(
        buffers=buffers,
        launches=make_launches(specification, taken, size, local_size),
        outputs=tuple(name for name in ("output", "data") if name in buffers),
        reference=None,
        relative_tolerance=RELATIVE_TOLERANCE,
        absolute_tolerance=ABSOLUTE_TOLERANCE_PER_TERM * terms,
        # Rounding may tip a sum that becomes a byte.
        integer_tolerance=1 if specification.axes.element is Element.UCHAR4 else 0,
    )


def make_launches(
    specification: Specification, taken: list[Parameter], size: Size, local_size: LocalSize
) -> tuple[Launch, ...]:
    """The launch at these extents. Raises as `make_workload` does."""
    sizes = sizes_of(specification, size, local_size)
    arguments = tuple(_argument(parameter, sizes) for parameter in taken)
    return (Launch(specification.kernel, sizes.global_size, local_size, arguments),)


def byte_count(taken: list[Parameter], sizes: Sizes) -> int:
    """The bytes of all buffers."""
    buffers = [parameter for parameter in taken if isinstance(parameter, Buffer)]
    return sum(buffer.elements(sizes) * _item_size(buffer.type) for buffer in buffers)


def _item_size(name: str) -> int:
    scalar, components = TYPES[name]
    return np.dtype(scalar).itemsize * components


def _argument(parameter: Parameter, sizes: Sizes) -> Argument:
    if isinstance(parameter, Buffer):
        return BufferArgument(parameter.name)
    if isinstance(parameter, Scalar):
        return ScalarArgument(np.uint32(parameter.value(sizes)))
    return LocalArgument(parameter.elements * _item_size(parameter.type))


def _contents(specification: Specification, buffer: Buffer, sizes: Sizes, generator: np.random.Generator) -> Array:
    scalar, components = TYPES[buffer.type]
    elements = buffer.elements(sizes)
    shape = (elements,) if components == 1 else (elements, components)
    if buffer.contents is Contents.UNWRITTEN:
        return unwritten(shape, scalar)
    if buffer.contents is Contents.ELEMENTS:
        return _numbers(generator, scalar, shape, LARGEST_INT)
    if buffer.contents is Contents.WEIGHTS:
        if scalar is np.float32:
            return uniform(generator, 0.5, 1.5, shape)
        return generator.integers(1, LARGEST_INT_WEIGHT, shape, dtype=scalar)
    return _indices(specification, buffer.contents, elements, sizes, generator)


def _numbers(
    generator: np.random.Generator, scalar: type[np.generic], shape: tuple[int, ...], largest_int: int
) -> Array:
    if scalar is np.float32:
        return uniform(generator, -1.0, 1.0, shape)
    if scalar is np.int32:
        return generator.integers(0, largest_int, shape, dtype=np.int32)
    largest = np.iinfo(np.dtype(scalar).name).max
    return generator.integers(0, largest, shape, dtype=scalar, endpoint=True)


def _indices(
    specification: Specification,
    contents: Contents,
    elements: int,
    sizes: Sizes,
    generator: np.random.Generator,
) -> Array:
    if contents is Contents.PERMUTATION:
        return generator.permutation(elements).astype(np.uint32)
    if contents is Contents.KEYS:
        return generator.integers(0, KEYS, elements, dtype=np.uint32)
    if contents is Contents.LENGTHS:
        return generator.integers(1, specification.trips, elements, dtype=np.uint32, endpoint=True)
    if contents is Contents.FAR_INDICES:
        return generator.integers(0, sizes.count, elements, dtype=np.uint32)
    own = np.arange(elements, dtype=np.int64) % sizes.count
    near = own + generator.integers(-NEARNESS, NEARNESS + 1, elements, dtype=np.int32)
    inside: Array = np.clip(near, 0, sizes.count - 1)
    return inside.astype(np.uint32)
