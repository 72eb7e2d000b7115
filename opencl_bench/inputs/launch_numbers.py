"""The numbers of a launch that features are computed from, by the names that features have for them."""

from __future__ import annotations

from collections.abc import Mapping

from coarsen.dispatch.choosing import Number
from coarsen.dispatch.features import BYTES
from coarsen.opencl_bench.workloads.benchmark import Argument, Array, BufferArgument, Launch, ScalarArgument

MOST_DIMENSIONS = 3


def launch_numbers(launch: Launch, passed: Mapping[str, Argument]) -> dict[str, Number]:
    """Return the sizes of a launch and the numbers that it passes.

    Args:
        launch: both sizes are 1 along dimensions that it doesn't have; a local size that is left to OpenCL is 0.
        passed: its arguments by name; structures are no numbers.
    """
    numbers: dict[str, Number] = {
        **_sizes("global_size", launch.global_size, 1),
        **_sizes("local_size", launch.local_size, 1 if launch.local_size else 0),
    }
    for name, each in passed.items():
        if isinstance(each, ScalarArgument) and each.value.dtype.fields is None:
            numbers[name] = each.value.item()
    return numbers


def buffer_bytes(passed: Mapping[str, Argument], buffers: Mapping[str, Array]) -> dict[str, int]:
    """Return the sizes of a launch's buffers in bytes."""
    given = ((name, each) for name, each in passed.items() if isinstance(each, BufferArgument))
    return {BYTES + name: buffers[each.name].nbytes for name, each in given}


def _sizes(name: str, extents: tuple[int, ...], missing: int) -> dict[str, int]:
    filled = (*extents, *(missing for _ in range(MOST_DIMENSIONS - len(extents))))
    return {f"{name}_{dimension}": extent for dimension, extent in enumerate(filled)}
