"""An NVIDIA device as a `Machine`, through the driver's own interface: for code of the form `ptx`.

All launches of a job are one CUDA graph between two events, so that neither Python nor the driver's queue takes
part in the time, which is that of the whole job: from the first launch's start to the last one's end, with a
microsecond or so between launches. OpenCL's profiling events are one interval per launch; NVIDIA's are some
microseconds longer than the kernel, so only jobs of many short launches differ (floydWarshall: 11 µs per launch
here, 15 µs there, on an H200).
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from cuda.bindings import driver

from coarsen.errors import InternalError, InvalidInputError
from coarsen.opencl_bench.measure.cuda_driver import CudaError, DeviceMemory, Module, call, describe_device
from coarsen.opencl_bench.measure.machine import BuildError, Durations, Executor, Job, LaunchError, check_placed
from coarsen.opencl_bench.measure.variant_launch import variant_launches
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.workloads.benchmark import (
    Argument,
    Array,
    BufferArgument,
    Launch,
    LocalArgument,
    LocalSize,
    NullArgument,
    Workload,
)
from coarsen.opencl_bench.workloads.clock import Clock
from coarsen.opencl_bench.workloads.driver_tools import round_up
from coarsen.opencl_bench.workloads.image_format import SamplerArgument
from coarsen.variant.coarsening import DIMENSIONS
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

    def compile(self, code: Code) -> bytes | None:
        """Load a module and drop it: the driver keeps what it has built on the disk. Raises BuildError."""
        try:
            for program in (code, *code.others):
                Module(str(program.content))
        except CudaError as error:
            raise BuildError(" ".join(str(error).split())) from error
        return None

    def place(self, workload: Workload) -> Executor:
        """Put a workload's buffers on the device. Raises LaunchError."""
        try:
            if workload.images:
                raise LaunchError("images are not measured without OpenCL")
            return CudaExecutor(self, workload)
        except (CudaError, MemoryError) as error:
            raise LaunchError(str(error) or "the memory does not suffice") from error

    def flush_caches(self) -> None:
        """Overwrite memory that is larger than the device's second-level cache. Raises LaunchError."""
        try:
            self._rubbish_value = (self._rubbish_value + 1) % 251
            call(driver.cuMemsetD8, self._rubbish.address, self._rubbish_value, self._rubbish.size)
            call(driver.cuCtxSynchronize)
        except CudaError as error:
            raise LaunchError(str(error)) from error

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
        try:
            recorded = RecordedJob(self._machine.stream, functions, calls)
        except CudaError as error:
            raise LaunchError(str(error)) from error
        return recorded.run

    def _address_of(self, buffer: str) -> int:
        return self._buffers[buffer].address

    def restore(self) -> None:
        """See `Executor.restore`."""
        try:
            for name in self._workload.outputs:
                self._buffers[name].restore()
            call(driver.cuCtxSynchronize)
        except CudaError as error:
            raise LaunchError(str(error)) from error

    def reset(self) -> None:
        """See `Executor.reset`."""
        try:
            for buffer in self._buffers.values():
                buffer.reset()
            call(driver.cuCtxSynchronize)
        except CudaError as error:
            raise LaunchError(str(error)) from error

    def outputs(self) -> dict[str, Array]:
        """See `Executor.outputs`."""
        try:
            return {name: self._buffers[name].read() for name in self._workload.outputs}
        except CudaError as error:
            raise LaunchError(str(error)) from error

    def violated(self) -> tuple[str, ...]:
        """See `Executor.violated`."""
        try:
            return tuple(name for name, buffer in self._buffers.items() if not buffer.intact())
        except CudaError as error:
            raise LaunchError(str(error)) from error

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


# Arguments of a launch through NVIDIA's driver, computed from an OpenCL launch; no driver is needed for it.
#
# global_size ─▶ grid of blocks      local_size ─▶ block
# buffer      ─▶ its address         scalar     ─▶ its bytes
# local memory ─▶ its offset, in bytes, from the start of the dynamic shared memory (see `coarsen.backend.ptx`)

# The largest alignment that an OpenCL type asks for, which is also that of the dynamic shared memory.
LOCAL_ALIGNMENT = 128
AddressOf = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class CudaLaunch:
    """One launch: numbers of blocks, work-items of a block, bytes of dynamic shared memory, parameters.

    Each parameter is an array whose bytes are the parameter's.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    parameters: tuple[Array, ...]

    def addresses(self) -> Array:
        """Return where each parameter lies in memory, as the driver wants it; valid as long as `self` exists."""
        return np.array([parameter.ctypes.data for parameter in self.parameters], np.uint64)


def cuda_launch(launch: Launch, address_of: AddressOf) -> CudaLaunch:
    """Return an OpenCL launch as NVIDIA's driver takes it.

    Args:
        launch: with the sizes and the arguments of the kernel that is launched.
        address_of: gives a buffer's address on the device.

    Raises:
        LaunchError: it has a global offset, or leaves its local size open, which CUDA does not know.
    """
    if any(launch.global_offset):
        raise LaunchError("a launch with a global offset can't be made without OpenCL")
    if not launch.local_size:
        raise LaunchError("a launch whose local size is left open can't be made without OpenCL")
    grid = _groups(launch.global_size, launch.local_size)
    parameters, shared_bytes = _parameters(launch.arguments, address_of)
    return CudaLaunch(_three(grid), _three(launch.local_size), shared_bytes, parameters)


def _groups(global_size: tuple[int, ...], local_size: LocalSize) -> tuple[int, ...]:
    if any(extent % group for extent, group in zip(global_size, local_size, strict=True)):
        raise InternalError(f"the global size {global_size} is not made of whole work-groups of {local_size}")
    return tuple(extent // group for extent, group in zip(global_size, local_size, strict=True))


def _parameters(arguments: tuple[Argument, ...], address_of: AddressOf) -> tuple[tuple[Array, ...], int]:
    """The parameters, and how many bytes of dynamic shared memory those of local memory take."""
    parameters = []
    shared_bytes = 0
    for argument in arguments:
        if isinstance(argument, BufferArgument):
            parameters.append(np.array(address_of(argument.name), np.uint64))
        elif isinstance(argument, NullArgument):
            parameters.append(np.array(0, np.uint64))
        elif isinstance(argument, LocalArgument):
            parameters.append(np.array(shared_bytes, np.uint64))
            shared_bytes += round_up(argument.byte_count, LOCAL_ALIGNMENT)
        elif isinstance(argument, SamplerArgument):
            raise InternalError("samplers are not measured without OpenCL")
        else:
            parameters.append(np.array(argument.value))
    return tuple(parameters), shared_bytes


def _three(extents: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*extents, *[1] * (DIMENSIONS - len(extents)))
    return x, y, z


# Launches through NVIDIA's driver as one job: their functions, loaded, and the graph that runs them all.

NANOSECONDS_PER_MILLISECOND = 1_000_000


class LoadedFunctions:
    """The functions of code that is loaded, by the names of the kernels that are launched.

    Args:
        code: what is loaded.
        launched: the names.

    Raises:
        CudaError: the driver can't load it.
        InvalidInputError: it has no kernel of such a name.
    """

    def __init__(self, code: Code, launched: Iterable[str]) -> None:
        found = {name: code.kernel_of(name) for name in launched}
        programs = {code, *(program for program, _ in found.values())}
        # A function is there as long as its module.
        self._modules = {program: Module(str(program.content)) for program in programs}
        functions = {each: self._modules[each[0]].function(each[1]) for each in {*found.values()}}
        self.by_name = {name: functions[each] for name, each in found.items()}


Call = tuple[Any, CudaLaunch]


class RecordedJob:
    """Launches of kernels recorded as a graph, with an event before the first and one after the last.

    Raises:
        CudaError: the device can't take a launch.
    """

    def __init__(self, stream: Any, functions: LoadedFunctions, calls: list[Call]) -> None:  # noqa: ANN401
        self._stream = stream
        self._functions = functions
        self._events = (_event(), _event())
        self._is_single = len(calls) == 1
        for function, _ in calls:
            _allow_shared(function, [launch for called, launch in calls if called is function])
        graph = self._recorded(calls)
        try:
            self._graph = call(driver.cuGraphInstantiate, graph, 0)
        finally:
            driver.cuGraphDestroy(graph)
        weakref.finalize(self, driver.cuGraphExecDestroy, self._graph)
        call(driver.cuGraphUpload, self._graph, stream)

    def run(self, clock: Clock) -> Durations:
        """Run all launches and wait; by any clock, the time from the first one's start to the last one's end."""
        start = time.perf_counter_ns()
        try:
            call(driver.cuGraphLaunch, self._graph, self._stream)
            call(driver.cuStreamSynchronize, self._stream)
            host = time.perf_counter_ns() - start
            milliseconds = call(driver.cuEventElapsedTime, *self._events)
        except CudaError as error:
            raise LaunchError(str(error)) from error
        span = round(float(milliseconds) * NANOSECONDS_PER_MILLISECOND)
        if clock is Clock.SUM:
            return Durations(span)
        return Durations(span, span if self._is_single else None, host)

    def _recorded(self, calls: list[Call]) -> Any:  # noqa: ANN401 (no types)
        begin, end = self._events
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        call(driver.cuStreamBeginCapture, self._stream, mode)
        try:
            self._record(begin)
            for function, launch in calls:
                enqueue(self._stream, function, launch)
            self._record(end)
        except CudaError:
            driver.cuStreamEndCapture(self._stream)
            raise
        return call(driver.cuStreamEndCapture, self._stream)

    def _record(self, event: Any) -> None:  # noqa: ANN401 (the bindings have no types)
        # External: recorded each time that the graph runs.
        external = driver.CUevent_record_flags.CU_EVENT_RECORD_EXTERNAL
        call(driver.cuEventRecordWithFlags, event, self._stream, external)


def enqueue(stream: Any, function: Any, launch: CudaLaunch) -> None:  # noqa: ANN401 (the bindings have no types)
    """Put a launch of a function into a stream. Raises CudaError."""
    addresses = launch.addresses()
    shape = (*launch.grid, *launch.block)
    where = addresses.ctypes.data
    call(driver.cuLaunchKernel, function, *shape, launch.shared_bytes, stream, where, 0)


def _allow_shared(function: Any, launches: list[CudaLaunch]) -> None:  # noqa: ANN401 (no types)
    """Allow a function the most dynamic shared memory that its launches ask for. Raises CudaError."""
    most_shared = max((launch.shared_bytes for launch in launches), default=0)
    if most_shared:
        attribute = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        call(driver.cuFuncSetAttribute, function, attribute, most_shared)


def _event() -> Any:  # noqa: ANN401 (the bindings have no types)
    return call(driver.cuEventCreate, driver.CUevent_flags.CU_EVENT_DEFAULT)
