"""A machine as a session uses it: to put a workload on it, to load code, to run it, to look at the results.

OpenCL devices (`opencl_machine.py`) and NVIDIA's driver without OpenCL (`cuda_machine.py`) offer it alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.workloads.benchmark import Array, Launch, Workload
from coarsen.opencl_bench.workloads.clock import Clock
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class Durations:
    """The durations of one run of all launches, in nanoseconds.

    `nanoseconds`: by the clock that was asked for. Beside a span, `sum`: of the launches, added up, None where the
    device tells only how long the whole took; and `host`: on the host's clock, from before the first launch is
    enqueued until all have finished.
    """

    nanoseconds: int
    sum: int | None = None
    host: int | None = None


# Runs all launches of the workload once, in order, and waits. A device that tells the span alone tells it by any
# clock.
Job = Callable[[Clock], Durations]


class BuildError(Exception):
    """The device does not build the code; the message is one line."""


class LaunchError(Exception):
    """A launch or a copy failed; the message is one line. The executor can't be used any further."""


class UndividedError(Exception):
    """A launch can't be made for a variant, whose factors don't divide its sizes; the message is one line."""


class Executor(Protocol):
    """A workload on a device."""

    def load(
        self,
        code: Code,
        variant: Variant,
        binary: bytes | None = None,
        launches: Sequence[Launch] | None = None,
    ) -> Job:
        """Build a variant's code for this workload's launches (see `variant_launch`).

        `binary` is what `Machine.compile` gave for the same code; `launches` take the place of the workload's own,
        on the same buffers. Raises BuildError, UndividedError.
        """
        ...

    def restore(self) -> None:
        """Put the original contents of the outputs back. Raises LaunchError."""
        ...

    def reset(self) -> None:
        """Put the original contents of all buffers back. Raises LaunchError."""
        ...

    def outputs(self) -> dict[str, Array]:
        """Return the output buffers as they are now. Raises LaunchError."""
        ...

    def violated(self) -> tuple[str, ...]:
        """Return the names of the buffers outside of which something was written. Raises LaunchError."""
        ...

    def flush_caches(self) -> None:
        """Touch enough other memory that the device's caches hold nothing of the workload any more.

        Raises LaunchError.
        """
        ...


class Machine(Protocol):
    """A device that workloads can be put on."""

    def place(self, workload: Workload) -> Executor:
        """Put a workload's buffers on the device. Raises LaunchError."""
        ...


class BuildingMachine(Machine, Protocol):
    """A device that also builds code ahead."""

    def compile(self, code: Code) -> bytes | None:
        """Build some code, for nothing to be run: the device's binary, None where it gives none.

        Raises BuildError.
        """
        ...
