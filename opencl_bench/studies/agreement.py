"""Measures a kernel with the fast path and lock-step on and off, beside the uncoarsened one, all in one process.

    original, off, on, off, on, original, on, original, off, …     each verified first; the order moves on

A fixed order would always run each variant after the same predecessor, biasing it by that predecessor's cache
state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coarsen.coarsened_kernel import CoarsenedKernel
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.frontend.lower import lower
from coarsen.ir.kernel import Kernel
from coarsen.opencl_bench.measure.comparison import compare
from coarsen.opencl_bench.measure.machine import Executor, Machine
from coarsen.opencl_bench.measure.speedup import Speedup, median, speedup
from coarsen.opencl_bench.measure.timing import TimedRun, in_turns
from coarsen.opencl_bench.records.code import Code
from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.sweep.compile_service import code_of, original_code
from coarsen.opencl_bench.workloads.benchmark import Array, Benchmark, LocalSize, Workload
from coarsen.opencl_bench.workloads.clock import Clock
from coarsen.pipeline import coarsen_kernel
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DeviceKind, Transforms, Use
from coarsen.variant.variant import Variant

WARM_UP = 2

_NANOSECONDS = 1e6  # in a millisecond


@dataclass(frozen=True, slots=True)
class Asked:
    """The request for a benchmark: the sizes, the local size (None: the preset's own), timed runs of each."""

    preset: str = "cpu"
    local_size: LocalSize | None = None
    repetitions: int = 21
    seed: int = 0


def choices(kind: DeviceKind) -> Mapping[str, Transforms]:
    """Return the transforms compared, by name, for a kind of device: the default, and without the two."""
    on = Transforms(device_kind=kind)
    return {"off": replace(on, fast_path=Use.NEVER, lock_step=Use.NEVER), "on": on}


@dataclass(frozen=True, slots=True)
class TransformComparison:
    """A kernel coarsened by one factor, with fast path and lock-step off and on.

    Attributes:
        benchmark: its name.
        dimension: of the NDRange.
        factor: of the coarsening.
        local_size: of the original launch, in work-items.
        milliseconds: medians of the `original`, and with the two `off` and `on`.
        off: the speed-up over the original with them off.
        on: the same with them on.
        gain: how many times as fast it is with them on as with them off.
        same_code: whether both give the same code, so that a `gain` other than 1 is noise.
    """

    benchmark: str
    dimension: int
    factor: int
    local_size: LocalSize
    milliseconds: Mapping[str, float]
    off: Speedup
    on: Speedup
    gain: Speedup
    same_code: bool


def measured_rows(
    machine: Machine,
    benchmark: Benchmark,
    dimension: int,
    factors: Sequence[int],
    asked: Asked,
    kind: DeviceKind = DeviceKind.ANY,
) -> Iterator[TransformComparison]:
    """Measure a benchmark at each factor that divides the local size.

    Args:
        machine: where it runs.
        benchmark: what runs.
        dimension: of the NDRange.
        factors: above 1.
        asked: sizes and repetitions.
        kind: of the device, for which the transforms are chosen.

    Raises:
        InvalidInputError: the benchmark has no such dimension, preset or local size.
        VerificationError: results are not the reference's.
        LaunchError, BuildError: the device fails.
    """
    if dimension not in benchmark.dimensions:
        raise InvalidInputError(f"{benchmark.name}: its NDRange has no dimension {dimension}")
    workload = benchmark.workload(asked.preset, asked.seed, asked.local_size)
    bench = _Bench(benchmark, workload, machine.place(workload), asked.repetitions, choices(kind))
    size = workload.launches[0].local_size
    for factor in factors:
        if size[dimension] % factor == 0:
            yield bench.row(Coarsening(factor, dimension))


class _Bench:
    """One benchmark's workload on a device, with what its outputs should be."""

    def __init__(
        self,
        benchmark: Benchmark,
        workload: Workload,
        executor: Executor,
        repetitions: int,
        compared: Mapping[str, Transforms],
    ) -> None:
        self._benchmark = benchmark
        self._workload = workload
        self._executor = executor
        self._repetitions = repetitions
        self._compared = compared
        self._lowered = lower(benchmark.code, benchmark.kernel, benchmark.build_options)
        self._original = original_code(benchmark, (), benchmark.source)
        self._expected = self._find_expected()

    def row(self, coarsening: Coarsening) -> TransformComparison:
        """Measure one coarsening."""
        codes = {name: self._code(coarsening, chosen) for name, chosen in self._compared.items()}
        runs = {"original": self._verified("original", self._original, ())}
        for name, code in codes.items():
            runs[name] = self._verified(f"{coarsening}, {name}", code, (coarsening,))
        times = in_turns(list(runs.values()), self._repetitions, WARM_UP, rotates=True)
        samples = dict(zip(runs, times, strict=True))
        return TransformComparison(
            self._benchmark.name,
            coarsening.dimension,
            coarsening.factor,
            self._workload.launches[0].local_size,
            {name: median(times) / _NANOSECONDS for name, times in samples.items()},
            speedup(samples["original"], samples["off"]),
            speedup(samples["original"], samples["on"]),
            speedup(samples["off"], samples["on"]),
            codes["off"] == codes["on"],
        )

    def _code(self, coarsening: Coarsening, transforms: Transforms) -> Code:
        coarsened = coarsened_by(self._lowered, coarsening, transforms)
        return code_of(coarsened, "opencl_c", self._benchmark.build_options)

    def _find_expected(self) -> Mapping[str, Array]:
        if self._workload.reference is not None:
            return self._workload.reference()
        run = self._executor.load(self._original, Variant())
        self._executor.reset()
        run(Clock.SUM)
        return self._executor.outputs()

    def _verified(self, name: str, code: Code, coarsenings: tuple[Coarsening, ...]) -> Callable[[], int]:
        """A timed run of some code, which has given the right results once."""
        job = self._executor.load(code, Variant(coarsenings=coarsenings))
        self._executor.reset()
        job(Clock.SUM)
        wrong = compare(self._executor.outputs(), self._expected, self._workload)
        wrong += [f"wrote outside of the buffer {buffer}" for buffer in self._executor.violated()]
        if wrong:
            raise VerificationError(f"{self._benchmark.name}, {name}: {'; '.join(wrong)}")
        return TimedRun(self._executor, job, Method())


def coarsened_by(lowered: Kernel, coarsening: Coarsening, transforms: Transforms) -> CoarsenedKernel:
    """Return a lowered kernel coarsened once. Raises RefusalError."""
    return CoarsenedKernel(coarsen_kernel(lowered, [coarsening], transforms=transforms), (coarsening,), ())
