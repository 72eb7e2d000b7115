"""An NVIDIA device as a `Machine`, through the driver's own interface: for code of the form `ptx`.

All launches of a job are one CUDA graph between two events, so that neither Python nor the driver's queue takes
part in the time, which is that of the whole job: from the first launch's start to the last one's end, with a
microsecond or so between launches. OpenCL's profiling events are one interval per launch; NVIDIA's are some
microseconds longer than the kernel, so only jobs of many short launches differ (floydWarshall: 11 µs per launch
here, 15 µs there, on an H200).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from cuda.bindings import driver

from coarsen.errors import InvalidInputError
from coarsen.tuning.measure.cuda_driver import CudaError, DeviceMemory, call, describe_device
from coarsen.tuning.measure.cuda_job import LoadedFunctions, RecordedJob
from coarsen.tuning.measure.cuda_launch import cuda_launch
from coarsen.tuning.measure.machine import (
    BuildError,
    Executor,
    Job,
    LaunchError,
    check_placed,
    raising_launch_errors,
)
from coarsen.tuning.measure.variant_launch import variant_launches
from coarsen.tuning.records.code import Code
from coarsen.tuning.workload.benchmark import Array, Launch, Workload
from coarsen.variant.variant import Variant

GUARD_BYTES = 4096
FLUSHED_CACHES = 4


class CudaMachine:
    """One NVIDIA device, with its primary context and a stream of its own.

    Args:
        index: the driver's number of the device.

    Raises:
        DeviceError: there is no such device.
        LaunchError: the device can't be used.
    """

    def __init__(self, index: int) -> None:
        self.description = describe_device(index)
        try:
            self._context = call(driver.cuDevicePrimaryCtxRetain, call(driver.cuDeviceGet, index))
            call(driver.cuCtxSetCurrent, self._context)
            self.stream = call(driver.cuStreamCreate, driver.CUstream_flags.CU_STREAM_NON_BLOCKING)
        except CudaError as error:
            raise LaunchError(str(error)) from error

    @raising_launch_errors(CudaError, MemoryError)
    def place(self, workload: Workload) -> Executor:
        """Put a workload's buffers on the device. Raises LaunchError."""
        if workload.images:
            raise LaunchError("images are not measured without OpenCL")
        return CudaExecutor(self, workload)

    @raising_launch_errors(CudaError)
    def flush_caches(self) -> None:
        """Overwrite memory that is larger than the device's second-level cache. Raises LaunchError."""
        self._rubbish_value = (self._rubbish_value + 1) % 251
        call(driver.cuMemsetD8, self._rubbish.address, self._rubbish_value, self._rubbish.size)
        call(driver.cuCtxSynchronize)

    _rubbish_value = 0

    @cached_property
    def _rubbish(self) -> DeviceMemory:
        return DeviceMemory(FLUSHED_CACHES * max(self.description.cache_bytes, 1 << 20))


class CudaExecutor:
    """A workload on an NVIDIA device, every buffer between guard zones. Raises CudaError when made."""

    def __init__(self, machine: CudaMachine, workload: Workload) -> None:
        self._machine = machine
        self._workload = workload
        self._buffers = {
            name: GuardedMemory(array, restorable=name in workload.outputs)
            for name, array in workload.buffers.items()
        }
        call(driver.cuCtxSynchronize)

    def load(
        self,
        code: Code,
        variant: Variant,
        binary: bytes | None = None,
        launches: Sequence[Launch] | None = None,
    ) -> Job:
        """See `Executor.load`. Raises BuildError; LaunchError where the device can't take the launches."""
        originals = self._workload.launches if launches is None else launches
        # In PTX, constant memory is global memory that is read otherwise.
        check_placed(code, originals, self._workload, None)
        divided = variant_launches(originals, variant, code, self._workload.element_shapes)
        try:
            functions = LoadedFunctions(code, {launch.kernel for launch in divided})
        except (CudaError, InvalidInputError) as error:
            raise BuildError(" ".join(str(error).split())) from error
        calls = [(functions.by_name[launch.kernel], cuda_launch(launch, self._address_of)) for launch in divided]
        return raising_launch_errors(CudaError)(RecordedJob)(self._machine.stream, functions, calls).run

    def _address_of(self, buffer: str) -> int:
        return self._buffers[buffer].address

    @raising_launch_errors(CudaError)
    def restore(self) -> None:
        """See `Executor.restore`."""
        for name in self._workload.outputs:
            self._buffers[name].restore()
        call(driver.cuCtxSynchronize)

    @raising_launch_errors(CudaError)
    def reset(self) -> None:
        """See `Executor.reset`."""
        for buffer in self._buffers.values():
            buffer.reset()
        call(driver.cuCtxSynchronize)

    @raising_launch_errors(CudaError)
    def outputs(self) -> dict[str, Array]:
        """See `Executor.outputs`."""
        return {name: self._buffers[name].read() for name in self._workload.outputs}

    @raising_launch_errors(CudaError)
    def violated(self) -> tuple[str, ...]:
        """See `Executor.violated`."""
        return tuple(name for name, buffer in self._buffers.items() if not buffer.intact())

    def flush_caches(self) -> None:
        """See `Executor.flush_caches`."""
        self._machine.flush_caches()


class GuardedMemory:
    """One buffer on the device between two guard zones; `address` is that of its contents.

    A restorable one keeps its original contents on the device too, where they are copied from in no time.
    """

    def __init__(self, contents: Array, restorable: bool) -> None:
        self._contents = np.ascontiguousarray(contents)
        size = self._contents.nbytes
        self._end = GUARD_BYTES + size
        self._pattern = np.random.default_rng(size).integers(0, 256, GUARD_BYTES, dtype=np.uint8)
        self._whole = DeviceMemory(self._end + GUARD_BYTES)
        self.address = self._whole.address + GUARD_BYTES
        for offset in (0, self._end):
            self._whole.write(self._pattern, offset)
        self._whole.write(self._contents, GUARD_BYTES)
        self._original: DeviceMemory | None = None
        if restorable and size:
            self._original = DeviceMemory(size)
            self._original.write(self._contents)

    def restore(self) -> None:
        """Put the contents back that the buffer was made with."""
        if self._original is not None:
            self._whole.copy_from(self._original, GUARD_BYTES)

    def reset(self) -> None:
        """Put these contents back from the host."""
        self._whole.write(self._contents, GUARD_BYTES)

    def read(self) -> Array:
        """Return a copy of the contents as they are now."""
        now = np.empty_like(self._contents)
        self._whole.read(now, GUARD_BYTES)
        return now

    def intact(self) -> bool:
        """Return True if both guard zones are as they were made."""
        zone = np.empty_like(self._pattern)
        for offset in (0, self._end):
            self._whole.read(zone, offset)
            if not np.array_equal(zone, self._pattern):
                return False
        return True
