"""An OpenCL device: workloads are put on it, code is built for them, and run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyopencl as cl

from coarsen.devices.building import PlainProgram, build_uncached
from coarsen.devices.discovery import DeviceDescription, open_device
from coarsen.errors import InvalidInputError
from coarsen.tuning.measure.machine import (
    BuildError,
    Durations,
    Job,
    UndividedError,
    in_one_line,
    raising_launch_errors,
)
from coarsen.tuning.measure.run import DeviceWorkload, Enqueue, LaunchableKernel
from coarsen.tuning.measure.variant_launch import variant_launches
from coarsen.tuning.records.code import Code
from coarsen.tuning.workload.benchmark import BufferArgument, Clock, Launch, NullArgument, Workload
from coarsen.variant.placement import PlacedArgument
from coarsen.variant.variant import Variant

POCL = "pocl"
# More than any kernel that adapts has codes, so that each is built once for all its inputs.
KEPT_PROGRAMS = 64


class OpenClMachine:
    """One OpenCL device with a context and a profiling queue of its own."""

    def __init__(self, device: DeviceDescription) -> None:
        self.device = open_device(device)
        self._is_pocl = device.is_called(POCL)
        self.context = cl.Context([self.device])
        self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self._kept: dict[tuple[Code, bool], cl.Program] = {}

    @raising_launch_errors(cl.Error, MemoryError, InvalidInputError)
    def place(self, workload: Workload) -> OpenClExecutor:
        """Put a workload's buffers on the device. Raises LaunchError."""
        return OpenClExecutor(self, workload)

    def compile(self, code: Code) -> bytes | None:
        """Return the device's binary of some code, None where the device gives none. Raises BuildError.

        PoCL isn't asked: for its binary it compiles the kernel once more, for any local size, and no launch of a
        known local size uses that; what it has built of the source it keeps on the disk anyway.
        """
        program = self.build(code)
        for other in (*code.others, *code.alike):
            self._built(other)
        if self._is_pocl:
            return None
        binaries = cast("list[bytes]", program.get_info(cl.program_info.BINARIES))
        return binaries[0] or None

    def build(self, code: Code, binary: bytes | None = None) -> cl.Program:
        """Return the program of some code, from its binary where there is one. Raises BuildError."""
        try:
            if binary is not None:
                program = PlainProgram(self.context, [self.device], [binary])
                program.build(cache_dir=cast("Any", False))
                return program
            return build_uncached(self.context, code.content, code.options)
        except cl.Error as error:
            raise BuildError(in_one_line(error)) from error

    def kernels(
        self, code: Code, binary: bytes | None, launched: Iterable[tuple[str, bool]]
    ) -> Mapping[tuple[str, bool], LaunchableKernel]:
        """Return the kernel for each name that is launched, coarsened alike or not; `binary` is that of `code`.

        Programs are kept: a version is built once for all inputs and local sizes. Raises BuildError.
        """
        programs = {code: self._built(code, binary)}
        try:
            found = {each: code.kernel_of(*each) for each in launched}
            for program, _ in found.values():
                if program not in programs:
                    programs[program] = self._built(program)
            # PyOpenCL's annotation of a kernel's arguments leaves out local memory.
            return {
                each: cast("LaunchableKernel", cl.Kernel(programs[program], kernel))
                for each, (program, kernel) in found.items()
            }
        except (cl.Error, InvalidInputError) as error:
            raise BuildError(in_one_line(error)) from error

    def _built(self, code: Code, binary: bytes | None = None) -> cl.Program:
        """The program of some code, of those used last as it was built before. Raises BuildError."""
        if may_include_files(code):
            return self.build(code, binary)
        key = code, binary is not None
        program = self._kept.pop(key, None) or self.build(code, binary)
        self._kept[key] = program  # the latest used is the last
        if len(self._kept) > KEPT_PROGRAMS:
            del self._kept[next(iter(self._kept))]
        return program

    @raising_launch_errors(cl.Error)
    def flush_caches(self) -> None:
        """Overwrite a buffer that is larger than the device's caches. Raises LaunchError."""
        self._rubbish_value += 1
        value = np.array([self._rubbish_value % 251], np.uint8)
        cl.enqueue_fill_buffer(self.queue, self._rubbish, value, 0, self._rubbish.size)
        self.queue.finish()

    _rubbish_value = 0

    @cached_property
    def _rubbish(self) -> cl.Buffer:
        is_processor = bool(self.device.type & cl.device_type.CPU)
        host_cache = host_cache_bytes() if is_processor else 0
        size = flushed_bytes(int(self.device.global_mem_cache_size), host_cache)
        return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, size)


class OpenClExecutor(DeviceWorkload):
    """A workload on an OpenCL device, every buffer between guard zones."""

    def __init__(self, machine: OpenClMachine, workload: Workload) -> None:
        super().__init__(machine.queue, workload)
        self._machine = machine

    def load(
        self, code: Code, variant: Variant, binary: bytes | None = None, launches: Sequence[Launch] | None = None
    ) -> Job:
        """Build a variant's code for this workload's launches (see `variant_launch`).

        `binary` is what `OpenClMachine.compile` gave for the same code; `launches` take the place of the
        workload's own, on the same buffers. Raises BuildError, UndividedError.
        """
        originals = self.workload.launches if launches is None else launches
        check_placed(code, originals, self.workload, int(self._machine.device.max_constant_buffer_size))
        divided = variant_launches(originals, variant, code, self.workload.element_shapes)
        kernels = self._machine.kernels(code, binary, {(each.kernel, each.is_coarsened) for each in divided})
        prepared: list[Enqueue] = []

        @raising_launch_errors(cl.Error, MemoryError)
        def job(clock: Clock) -> Durations:
            # Arguments are found once: they are the same in every run.
            prepared[:] = prepared or self.prepared(lambda each: kernels[each.kernel, each.is_coarsened], divided)
            return self.run(prepared, clock)

        return job

    def flush_caches(self) -> None:
        """Touch enough other memory that the caches hold nothing of the workload. Raises LaunchError."""
        self._machine.flush_caches()


def may_include_files(code: Code) -> bool:
    """Return True where files that may change are part of some code: equal text is then no equal code."""
    return any(option.startswith("-I") for option in code.options)


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


# How much other memory must be written until a device's caches hold nothing of a workload any more.

# Devices report one level of cache, not always the last: several times its size clears all levels.
FLUSHED_CACHES = 4
# A processor's last level is known, but what leaves it first isn't always what lay there longest.
FLUSHED_HOST_CACHES = 2
LEAST_FLUSHED_BYTES = 64 << 20

_HOST_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def flushed_bytes(device_cache: int, host_cache: int = 0) -> int:
    """Return how many bytes to write.

    Args:
        device_cache: bytes of the level that the device reports; 0 where it reports none.
        host_cache: bytes of the processor's last level, for a device that is the processor; 0 for others.
    """
    return max(FLUSHED_CACHES * device_cache, FLUSHED_HOST_CACHES * host_cache, LEAST_FLUSHED_BYTES)


def host_cache_bytes(caches: Path = _HOST_CACHES) -> int:
    """Return the bytes of the largest cache of this machine's first processor; 0 where the system doesn't tell.

    Args:
        caches: the folder in which Linux lists them.
    """
    return max((_size(path) for path in caches.glob("index*/size")), default=0)


def _size(path: Path) -> int:
    """Return the bytes that a file means, such as `266240K`; 0 where it can't be read."""
    try:
        text = path.read_text(encoding="ascii").strip()
        unit = _UNITS.get(text[-1:], 1)
        return int(text.rstrip("KMG")) * unit
    except (OSError, ValueError):
        return 0
