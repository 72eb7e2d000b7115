"""The processes that the tuning of a launch works with: some compile, others measure, and all end with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from coarsen.devices.discovery import DeviceDescription
from coarsen.opencl_bench.measure.environment import environment_of
from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.sweep.compiler import CompiledSubjects, CompilePool, Compiler
from coarsen.opencl_bench.sweep.engine import machine_to_json
from coarsen.opencl_bench.sweep.measuring_process import MeasuringProcess
from coarsen.opencl_bench.sweep.row_measurer import SweepContext
from coarsen.opencl_bench.sweep.rows import PROCESSES
from coarsen.opencl_bench.tuning.deadline import Deadline
from coarsen.opencl_bench.tuning.memory_rows import MemoryRows
from coarsen.opencl_bench.tuning.methods import first_method
from coarsen.opencl_bench.tuning.tuning_folder import tuning_folder
from coarsen.opencl_bench.workloads.benchmark import Benchmark, LocalSize
from coarsen.variant.transforms import Transforms


@dataclass(frozen=True, slots=True)
class LaunchToTune:
    """A launch that a description stands for.

    Attributes:
        description: a name of the suite, or the path of a TOML file.
        preset: names the sizes.
        device: where it runs.
        transforms: of its coarsened variants, wide accesses and the kind of device apart.
        byte_count: of its buffers; None where that isn't known.
        shared_local_size: its own, where its inputs and results are the same at every local size that it is tried
            at; None where that isn't known.
    """

    description: str
    preset: str
    device: DeviceDescription
    transforms: Transforms
    byte_count: int | None = None
    shared_local_size: LocalSize | None = None


class TuningProcesses:
    """The processes that a tuning works with.

    A process ends with the thread that started it, so these are started in threads that live as long.
    """

    def __init__(
        self, launch: LaunchToTune, pool: CompilePool, variables: Mapping[str, str], deadline: Deadline
    ) -> None:
        self.launch = launch
        self._variables = variables
        self._machine = machine_to_json(launch.device)
        self._deadline = deadline
        self._processes: list[MeasuringProcess] = []
        self._method = first_method(deadline.seconds)
        self.threads = ThreadPoolExecutor(PROCESSES + 2, thread_name_prefix="tune")
        self._pool = pool
        self.compiler = Compiler(
            launch.description, "opencl_c", self._machine, self._method, pool, time_left=lambda: deadline.left
        )

    def context(self, rows: MemoryRows, benchmark: Benchmark) -> SweepContext:
        """Return what the search measures with."""
        launch = self.launch
        return SweepContext(
            device=str(launch.device),
            environment=environment_of(launch.device, "opencl_c"),
            method=self._method,
            subjects=CompiledSubjects(benchmark, launch.preset, 0, self.compiler.ir_hash),
            codes=self.compiler,
            process=self.process(self._method),
            rows=rows,
            lock=nullcontext,
            compile_first="cpu" in launch.device.device_types,
            clock=benchmark.clock,
        )

    def process(self, method: Method) -> MeasuringProcess:
        """Return a process of its own that measures."""
        launch = self.launch
        made = MeasuringProcess(
            launch.description,
            launch.preset,
            0,
            self._machine,
            method,
            time_left=lambda: self._deadline.left,
            variables=self._variables,
            shared_local_size=launch.shared_local_size,
        )
        self._processes.append(made)
        return made

    def stop_compiling(self) -> None:
        """End the processes that compile: they would take the processors from those that measure."""
        self._pool.stop()

    def opened(self, process: MeasuringProcess) -> Future[None]:
        """Begin to open a process; nothing may be asked of it before that is done."""
        return self.threads.submit(process.open)

    def close(self) -> None:
        """End all processes."""
        self.threads.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            process.close()


@contextmanager
def tuning_processes(launch: LaunchToTune, deadline: Deadline) -> Iterator[TuningProcesses]:
    """Work with processes that end afterwards."""
    # PoCL keeps what it compiles for ever: variants that lost are not worth it.
    with tuning_folder() as folder:
        variables = {"POCL_CACHE_DIR": str(folder)}
        with CompilePool(variables=variables) as pool:
            processes = TuningProcesses(launch, pool, variables, deadline)
            try:
                yield processes
            finally:
                processes.close()
