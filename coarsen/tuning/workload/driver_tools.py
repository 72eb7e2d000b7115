"""Tools that several host drivers share: whole work-groups, outputs not yet written, short argument lists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coarsen.errors import InvalidInputError
from coarsen.tuning.workload.benchmark import Argument, Array, BufferArgument, LocalSize, ScalarArgument

UNWRITTEN_BYTE = 0xA5


def round_up(extent: int, multiple: int) -> int:
    """Return the smallest multiple of `multiple` that is at least `extent`."""
    return -(-extent // multiple) * multiple


def check_whole_groups(global_size: tuple[int, ...], local_size: LocalSize) -> None:
    """Raise InvalidInputError unless the local size divides the global size; it may be left open."""
    for dimension, (total, group) in enumerate(zip(global_size, local_size, strict=bool(local_size))):
        if total % group:
            raise InvalidInputError(
                f"the local size {group} does not divide the global size {total} along dimension {dimension}"
            )


def unwritten(shape: int | tuple[int, ...], dtype: type[np.generic]) -> Array:
    """Return an output before the launch: NaN or a fixed bit pattern, so that an unwritten element is found."""
    if np.issubdtype(dtype, np.floating):
        return np.full(shape, np.nan, dtype)
    item_size = np.dtype(dtype).itemsize
    pattern = int.from_bytes(bytes([UNWRITTEN_BYTE]) * item_size, "little")
    return np.full(shape, pattern, np.dtype(f"u{item_size}")).view(dtype)


def unwritten_records(kind: np.dtype[Any], shape: int | tuple[int, ...]) -> Array:
    """Return structures before a kernel writes them: a fixed pattern in every byte, also between the fields."""
    extents = (shape,) if isinstance(shape, int) else shape
    content = np.full(math.prod(extents) * kind.itemsize, UNWRITTEN_BYTE, np.uint8)
    return content.view(kind).reshape(extents)


def uniform(generator: np.random.Generator, low: float, high: float, shape: int | tuple[int, ...]) -> Array:
    """float32 numbers drawn from [low, high)."""
    numbers = generator.random(shape, dtype=np.float32)
    return numbers * np.float32(high - low) + np.float32(low)


def buffers(*names: str) -> tuple[Argument, ...]:
    """Buffer arguments of these names, in order."""
    return tuple(BufferArgument(name) for name in names)


def int32(*values: int) -> tuple[Argument, ...]:
    """Scalar arguments of the OpenCL C type int."""
    return tuple(ScalarArgument(np.int32(value)) for value in values)


def uint32(*values: int) -> tuple[Argument, ...]:
    """Scalar arguments of the OpenCL C type uint."""
    return tuple(ScalarArgument(np.uint32(value)) for value in values)


def float32(*values: float) -> tuple[Argument, ...]:
    """Scalar arguments of the OpenCL C type float."""
    return tuple(ScalarArgument(np.float32(value)) for value in values)
