"""Rows of whole grids of kernels that adapt, with times of a made-up law: nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from coarsen.frontend.lower import lower
from coarsen.opencl_bench.records.measurement import Measurement, Role
from coarsen.opencl_bench.sweep.compile_service import build_options, ir_hash_of
from coarsen.opencl_bench.sweep.subjects import CompiledSubjects
from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel
from coarsen.opencl_bench.workloads.benchmark import Definitions
from coarsen.opencl_bench.workloads.clock import Clock
from tests.opencl_bench.measurements import some_measurement

# Nanoseconds of a version on an input, by the version's number and the input's place in the order of sizes.
Law = Callable[[int, int], float]


def crossing(version: int, row: int) -> float:
    """The second version is the best on the first half of fourteen inputs, the third on the others."""
    base = 1000.0 * (row + 1)
    return base * {1: 1.0 if row < 7 else 3.0, 2: 3.0 if row < 7 else 1.0}.get(version, 4.0)


def rows_of(kernel: AdaptiveKernel, law: Law, role: Role = Role.COMPARISON) -> Iterator[Measurement]:
    """Yield a row for each version at each input, all correct.

    Args:
        kernel: whose versions and inputs.
        law: the times.
        role: of the rows.
    """
    benchmark, default = kernel.benchmark, kernel.default
    hashes: dict[Definitions, str] = {}

    def ir_hash(definitions: Definitions) -> str:
        if definitions not in hashes:
            hashes[definitions] = ir_hash_of(
                lower(benchmark.code, benchmark.kernel, build_options(benchmark, definitions)), benchmark
            )
        return hashes[definitions]

    (size,) = kernel.inputs.ranges
    ordered = sorted(kernel.listed, key=lambda preset: kernel.listed[preset][size])
    for row, preset in enumerate(ordered):
        subjects = CompiledSubjects(benchmark, preset, 0, ir_hash)
        baseline = round(law(0, row))
        for number, version in enumerate(kernel.versions):
            yield some_measurement(
                subject=subjects.of(version.definitions),
                candidate=version,
                baseline=default,
                role=role,
                nanoseconds=(round(law(number, row)),) * 3,
                baseline_nanoseconds=(baseline,) * 3,
                clock=Clock.SPAN,
                compile_seconds=1.0,
                measure_seconds=0.5,
            )
