"""Measure the spaces of the study on a device, and what is compared in the end once more in new processes.

python -m coarsen.opencl_bench.studies.layouts.measurements STORE --device intel [KERNEL …] [--stage STAGE …]

    spaces   every variant of each space at the searched sizes (`sizes.py`), in turns with the launch as it is
    again    the fastest of each, and what is compared, in two new processes; what is compared in a third
    large    what is compared, at larger sizes, in three new processes

Stages are done in this order, each for all kernels. What the store has already is not measured again, so what was
stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import enum
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device
from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.measuring import (
    MeasuredVersions,
    VersionsPlan,
    confirm_versions,
    measure_versions,
)
from coarsen.opencl_bench.records.measurement import QUICK, Method
from coarsen.opencl_bench.results.store.database import Store, open_store
from coarsen.opencl_bench.results.store.filters import Filter
from coarsen.opencl_bench.studies.input_rows import exit_code_of
from coarsen.opencl_bench.studies.layouts.entrants import best_of_each, finalists, to_time_again
from coarsen.opencl_bench.studies.layouts.sizes import Size, sizes_for
from coarsen.opencl_bench.studies.layouts.spaces import RecordSpace, chosen_spaces
from coarsen.opencl_bench.studies.layouts.times import SpaceTimes, times_by_device
from coarsen.opencl_bench.sweep.compiler import CompilePool
from coarsen.variant.transforms import device_kind_of

AGAIN = Method(repetitions=15, minimum_repetitions=9, interval_width=0.05)
# In so many new processes: what a search may find, and what is compared in the end.
PROCESSES, PROCESSES_COMPARED = 2, 3


class Stage(enum.StrEnum):
    """A part of the measurements."""

    SPACES = "spaces"
    AGAIN = "again"
    LARGE = "large"


Measure = Callable[[RecordSpace, DeviceDescription, Store, CompilePool], MeasuredVersions]


def measure_space(
    space: RecordSpace, device: DeviceDescription, store: Store, pool: CompilePool
) -> MeasuredVersions:
    """Measure every variant of a space that the store doesn't have. Raises as `measure_versions` does."""
    kind = device_kind_of(device.device_types)
    preset, variants = sizes_for(kind).searched, space.variants(kind)
    method = _method(QUICK, device, Size.SEARCHED)
    plan = VersionsPlan(space.benchmark_name, device.index, (preset,), variants, space.default, method=method)
    return measure_versions(plan, store, pool=pool)


def time_again(space: RecordSpace, device: DeviceDescription, store: Store, pool: CompilePool) -> MeasuredVersions:
    """Time the fastest of a space, and what is compared, in new processes.

    Raises:
        InvalidInputError: the space isn't measured as a whole.
        DeviceError: the device can't be opened (any more).
    """
    times = _whole(space, device, store)
    plan = _plan(space, device, Size.SEARCHED)
    confirm_versions(plan, {times.preset: to_time_again(times)}, store, PROCESSES, pool=pool)
    return confirm_versions(plan, {times.preset: finalists(times)}, store, PROCESSES_COMPARED, pool=pool)


def time_large(space: RecordSpace, device: DeviceDescription, store: Store, pool: CompilePool) -> MeasuredVersions:
    """Time what is compared at larger sizes, in new processes. Raises as `time_again` does."""
    chosen = tuple(dict.fromkeys(best_of_each(_whole(space, device, store)).values()))
    preset = sizes_for(device_kind_of(device.device_types)).large
    plan = _plan(space, device, Size.LARGE)
    return confirm_versions(plan, {preset: chosen}, store, PROCESSES_COMPARED, pool=pool)


STAGES: Mapping[Stage, Measure] = MappingProxyType(
    {Stage.SPACES: measure_space, Stage.AGAIN: time_again, Stage.LARGE: time_large}
)


def _plan(space: RecordSpace, device: DeviceDescription, size: Size) -> VersionsPlan:
    method = _method(AGAIN, device, size)
    return VersionsPlan(space.benchmark_name, device.index, (), (), space.default, method=method)


def _method(method: Method, device: DeviceDescription, size: Size) -> Method:
    """Return a method as a part of the study has it on a device."""
    flushes_caches = sizes_for(device_kind_of(device.device_types)).flushes_caches
    return replace(method, cold_cache=flushes_caches and size is Size.SEARCHED)


def _whole(space: RecordSpace, device: DeviceDescription, store: Store) -> SpaceTimes:
    """Return what the store has of a space on a device.

    Raises InvalidInputError where that isn't the whole space.
    """
    rows = list(store.measurements(Filter(benchmark=space.benchmark_name)))
    for times in times_by_device(space, rows):
        if (times.environment.platform, times.environment.device) == (device.platform_name, device.name):
            if not times.missing:
                return times
            raise InvalidInputError(
                f"{space.name}: {len(times.missing)} of {len(times.variants)} variants are not measured on "
                f"{device.name}: do the stage '{Stage.SPACES}' first"
            )
    raise InvalidInputError(f"{space.name} is not measured on {device.name}: do the stage '{Stage.SPACES}' first")


def main(words: Sequence[str] | None = None) -> int:
    """Measure kernels on a device."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("store")
    parser.add_argument("kernels", nargs="*", help="without records-; all if none is named")
    parser.add_argument("--device", required=True, help="an index (0:1) or any part of the name")
    parser.add_argument("--stage", nargs="+", choices=[*Stage], default=[Stage.SPACES, Stage.AGAIN])
    asked = parser.parse_args(words)
    spaces, device = chosen_spaces(asked.kernels), find_device(asked.device)
    began = time.perf_counter()
    # Processes that compile are started once: each loads clang and LLVM first.
    with CompilePool() as pool, open_store(asked.store) as store:
        for stage in (each for each in Stage if each in asked.stage):
            for space in spaces:
                done = STAGES[stage](space, device, store, pool)
                passed = time.perf_counter() - began
                print(
                    f"{stage}, {space.name}: {len(done.rows)} rows, {done.measured} measured now, "
                    f"{done.seconds:.0f} s; {passed:.0f} s in all",
                    flush=True,
                )
                for preset, problem in done.problems.items():
                    print(f"  {preset}: {problem}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
