"""What a workload's launches pass for arrays that a variant reads from constant or local memory.

A kernel is given a buffer without its guard zones, as a sub-buffer (`run.py`), so that the buffer's own size is
what constant memory has to hold. A driver that counted the zones would refuse the launch: a row without a time.
"""

from __future__ import annotations

from collections.abc import Iterable

from coarsen.opencl_bench.measure.machine import UndividedError
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.workloads.benchmark import BufferArgument, Launch, NullArgument, Workload
from coarsen.variant.placement import PlacedArgument


def check_placed(
    code: Code, launches: Iterable[Launch], workload: Workload, most_constant_bytes: int | None
) -> None:
    """Check that launches pass what a code's arrays in other memory need.

    Args:
        code: that of a variant.
        launches: of the uncoarsened kernels.
        workload: has the buffers.
        most_constant_bytes: of a buffer in the device's constant memory; None for any.

    Raises:
        UndividedError: a launch passes something else.
    """
    for launch in launches:
        if code.is_sequence and launch.kernel != code.kernel:
            continue
        for placed in code.placed:
            reason = _reason_against(placed, launch, workload, most_constant_bytes)
            if reason is not None:
                raise UndividedError(reason)


def _reason_against(
    placed: PlacedArgument, launch: Launch, workload: Workload, most_constant_bytes: int | None
) -> str | None:
    argument = launch.arguments[placed.index]
    if isinstance(argument, NullArgument) and placed.takes_null:
        return None
    if not isinstance(argument, BufferArgument) or argument.name in workload.images:
        return f"the argument {placed.index} is no buffer, so it is not read from {placed.place} memory"
    name, size = argument.name, workload.buffers[argument.name].nbytes
    others = (launch.arguments[index] for index in placed.apart_from)
    if any(isinstance(other, BufferArgument) and other.name == name for other in others):
        return f"the buffer {name} is written, so it is not read from {placed.place} memory"
    reason = placed.reason_against(size, most_constant_bytes)
    return None if reason is None else f"the buffer {name} has {size} bytes, {reason}"
