"""The presets and spaces that a benchmark is measured at: those of the options, or what a design draws."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coarsen.cli.bench_options import DesignName
from coarsen.cli.space_options import SpaceOptions
from coarsen.errors import InvalidInputError
from coarsen.variant.transforms import DeviceKind

if TYPE_CHECKING:
    from coarsen.opencl_bench.records.measurement import Method
    from coarsen.opencl_bench.sweep.plan import Space
    from coarsen.opencl_bench.workloads.benchmark import Benchmark

PRESETS = ("cpu", "gpu")
# Seconds that a compilation of one of many rows may take.
COMPILE_SECONDS = 20.0


def parts_of(
    benchmark: Benchmark, preset: str, wanted: SpaceOptions, design: DesignName | None, kind: DeviceKind
) -> list[tuple[str, Space]]:
    """Return presets and spaces.

    Args:
        benchmark: what is measured.
        preset: the one that the options name.
        wanted: the space that they describe.
        design: what draws both instead; None for nothing.
        kind: of the device.

    Raises:
        InvalidInputError: no such preset, a space that isn't one, a kernel that the design is not for, options of
            a space beside a design.
    """
    if design is None:
        return [(preset, wanted.of(benchmark, preset))]
    if preset not in PRESETS or wanted != SpaceOptions.default():
        raise InvalidInputError(
            f"--design {design} says what is measured: leave out --preset and the options of a space"
        )
    from coarsen.opencl_bench.sweep.design import sparse_design

    return [(part.preset, part.space) for part in sparse_design(benchmark.name, kind)]


def method_for(method: Method, design: DesignName | None) -> Method:
    """Return a method as a design has it: no row is worth minutes of a compiler's time."""
    if design is None:
        return method
    return replace(method, compile_seconds=min(method.compile_seconds, COMPILE_SECONDS))
