"""A machine as a session uses it: to put a workload on it, to load code, to run it, to look at the results.

OpenCL devices (`opencl_machine.py`) and NVIDIA's driver without OpenCL (`cuda_machine.py`) offer it alike.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import ParamSpec, Protocol, TypeVar

from coarsen.devices.discovery import DeviceDescription
from coarsen.tuning.records.code import Code, Form
from coarsen.tuning.records.measurement import Environment
from coarsen.tuning.workload.benchmark import Array, BufferArgument, Clock, Launch, NullArgument, Workload
from coarsen.variant.placement import PlacedArgument
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


# What fits a table of results.
_LONGEST_MESSAGE = 300

P = ParamSpec("P")
T = TypeVar("T")


def raising_launch_errors(*kinds: type[Exception]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator of functions that raise LaunchError in place of errors of these kinds."""

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def called(*arguments: P.args, **options: P.kwargs) -> T:
            try:
                return function(*arguments, **options)
            except kinds as error:
                raise LaunchError(in_one_line(error)) from error

        return called

    return decorated


def in_one_line(error: BaseException) -> str:
    """Return an error's message without line breaks, cut to a length that fits a table of results."""
    text = " ".join(str(error).split())
    if not text:
        return "the memory does not suffice" if isinstance(error, MemoryError) else type(error).__name__
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[: _LONGEST_MESSAGE - 1]}…"


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


# What a workload's launches pass for arrays that a variant reads from constant or local memory.
#
# A kernel is given a buffer without its guard zones, as a sub-buffer (`run.py`), so that the buffer's own size is
# what constant memory has to hold. A driver that counted the zones would refuse the launch: a row without a time.


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


# The environment that is stored with a measurement: the device, its driver, the versions that made the code.

PACKAGES = ("coarsen", "llvmlite", "pyopencl")
Versions = tuple[tuple[str, str], ...]


def environment_of(device: DeviceDescription, form: Form, versions: Versions | None = None) -> Environment:
    """Return the environment of measurements on an OpenCL device of this machine.

    Args:
        device: the device.
        form: of the code that it is given.
        versions: names and versions of what made the code and runs it; those of this installation if None.
    """
    return Environment(
        vendor=device.vendor,
        device=device.name,
        driver_version=device.driver_version,
        platform=device.platform_name,
        platform_version=device.platform_version,
        compute_units=device.compute_units,
        device_types=device.device_types,
        form=form,
        versions=installed_versions(PACKAGES) if versions is None else versions,
    )


def installed_versions(packages: Iterable[str]) -> Versions:
    """Return the installed versions of some packages, by name."""
    return tuple((package, version(package)) for package in packages)
