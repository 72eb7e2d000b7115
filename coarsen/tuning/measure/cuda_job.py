"""Launches through NVIDIA's driver as one job: their functions, loaded, and the graph that runs them all."""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterable
from typing import Any

from cuda.bindings import driver

from coarsen.tuning.measure.cuda_driver import CudaError, Module, call
from coarsen.tuning.measure.cuda_launch import CudaLaunch
from coarsen.tuning.measure.machine import Durations, LaunchError
from coarsen.tuning.records.code import Code
from coarsen.tuning.workload.benchmark import Clock

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
