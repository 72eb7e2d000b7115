"""The presets and spaces that a benchmark is measured at: those of the options, or those of a design."""

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
    from coarsen.opencl_bench.sweep.points import DeviceLimits
    from coarsen.opencl_bench.workloads.benchmark import Benchmark

PRESETS = ("cpu", "gpu")
# Seconds that a compilation of one of many rows may take.
COMPILE_SECONDS = 20.0


class Parts:
    """Presets and spaces of benchmarks.

    Args:
        preset: the one that the options name.
        wanted: the space that they describe.
        design: what says instead what is measured; None for nothing.

    Raises:
        InvalidInputError: options beside a design that leaves them no room.
    """

    def __init__(self, preset: str, wanted: SpaceOptions, design: DesignName | None) -> None:
        # Imported late: the options are known before what measures is loaded.
        from coarsen.opencl_bench.sweep.grid_design import GridDesign

        self._preset = preset
        self._wanted = wanted
        self._design = design
        self._grid = GridDesign()
        if design is None:
            return
        has_space = wanted != SpaceOptions.default()
        if design is DesignName.GRID and has_space:
            raise InvalidInputError("--design grid says what is measured: leave out the options of a space")
        if design is DesignName.SPARSE and (has_space or preset not in PRESETS):
            raise InvalidInputError(
                "--design sparse says what is measured: leave out --preset and the options of a space"
            )

    def of(self, benchmark: Benchmark, kind: DeviceKind, limits: DeviceLimits) -> list[tuple[str, Space]]:
        """Return presets and spaces of a benchmark.

        Args:
            benchmark: what is measured.
            kind: of the device.
            limits: those of the device.

        Raises:
            InvalidInputError: no such preset, a space that isn't one, a kernel or a kind of device that the design
                is not for.
            RefusalError: the design has to read the kernel, and it can't be read.
        """
        if self._design is DesignName.GRID:
            return [(self._preset, self._grid.space(benchmark, self._preset, kind, limits))]
        if self._design is DesignName.SPARSE:
            from coarsen.opencl_bench.sweep.design import sparse_design

            return [(part.preset, part.space) for part in sparse_design(benchmark.name, kind)]
        return [(self._preset, self._wanted.of(benchmark, self._preset))]


def method_for(method: Method, design: DesignName | None) -> Method:
    """Return a method as a design has it: no row is worth minutes of a compiler's time."""
    if design is None:
        return method
    return replace(method, compile_seconds=min(method.compile_seconds, COMPILE_SECONDS))
