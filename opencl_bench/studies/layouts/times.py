"""The times of a space's variants from stored rows: first ones, and second ones of new processes.

rows of a variant against the launch as it is, in turns in one process ──▶ its time relative to that launch
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from coarsen.errors import InvalidInputError
from coarsen.opencl_bench.inputs.current_source import CurrentSource
from coarsen.opencl_bench.records.measurement import Environment, Invalidity, Measurement, Role
from coarsen.opencl_bench.results.exchange.files import read_results
from coarsen.opencl_bench.results.store.database import open_existing_store
from coarsen.opencl_bench.studies.layouts.sizes import Size, sizes_for
from coarsen.opencl_bench.studies.layouts.spaces import RecordSpace
from coarsen.opencl_bench.sweep.live_evaluator import relative_time
from coarsen.variant.transforms import device_kind_of
from coarsen.variant.variant import Variant


@dataclass(frozen=True)
class SpaceTimes:
    """What was measured of a space on a device.

    Attributes:
        space: which.
        environment: where.
        rows: of this kernel as it is now, over the launch as it is.
        size: of which part of the study.
    """

    space: RecordSpace
    environment: Environment
    rows: tuple[Measurement, ...] = field(repr=False)
    size: Size = Size.SEARCHED

    @property
    def preset(self) -> str:
        """Return the preset of the sizes."""
        return preset_of(self.environment, self.size)

    @property
    def device(self) -> str:
        """Return the platform and the device in a few words."""
        return f"{self.environment.platform}, {self.environment.device}"

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """All variants of the space that may run."""
        return self.space.variants(device_kind_of(self.environment.device_types))

    @cached_property
    def compared(self) -> Mapping[Variant, Measurement]:
        """The newest comparison of each variant of the space that was measured, in the order of the space."""
        ordered = sorted(self._of(Role.COMPARISON), key=lambda row: row.started_at)
        newest = {row.candidate: row for row in ordered}
        return {variant: newest[variant] for variant in self.variants if variant in newest}

    @cached_property
    def first(self) -> Mapping[Variant, float]:
        """The first times of those that did not fail, relative to the launch as it is."""
        times = ((variant, relative_time(row)) for variant, row in self.compared.items())
        return {variant: time for variant, time in times if time is not None}

    @cached_property
    def again(self) -> Mapping[Variant, tuple[float, ...]]:
        """The times in new processes, in their order; none of a variant that failed in one of them."""
        found: dict[Variant, dict[int, float]] = {}
        failed: set[Variant] = set()
        for row in sorted(self._of(Role.CONFIRMATION), key=lambda row: row.started_at):
            time = relative_time(row)
            if time is None:
                failed.add(row.candidate)
            else:
                found.setdefault(row.candidate, {})[row.invocation] = time
        ran = {variant: times for variant, times in found.items() if variant not in failed}
        return {variant: tuple(times[number] for number in sorted(times)) for variant, times in ran.items()}

    @property
    def missing(self) -> tuple[Variant, ...]:
        """The variants that were not measured yet."""
        return tuple(variant for variant in self.variants if variant not in self.compared)

    def time(self, variant: Variant) -> float:
        """Return the best estimate of a variant's time: of new processes where there are any, else the first."""
        second = self.again.get(variant)
        return geometric_mean(second) if second else self.first.get(variant, math.inf)

    def fastest(self, variants: Iterable[Variant], count: int = 1) -> tuple[Variant, ...]:
        """Return the fastest of some variants by their first times, the best first; fewer where few ran."""
        ran = [variant for variant in variants if variant in self.first]
        return tuple(sorted(ran, key=lambda variant: self.first[variant])[:count])

    def best(self, variants: Iterable[Variant]) -> Variant | None:
        """Return the best of some variants by their second times; of those without any by the first."""
        ran = [variant for variant in variants if variant in self.first]
        second = [variant for variant in ran if variant in self.again]
        return min(second or ran, key=self.time, default=None)

    def _of(self, role: Role) -> Iterator[Measurement]:
        return (row for row in self.rows if row.role is role and row.baseline == self.space.default)


def preset_of(environment: Environment, size: Size) -> str:
    """Return the preset of a part of the study on a device."""
    return sizes_for(device_kind_of(environment.device_types)).preset(size)


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return math.exp(sum(map(math.log, values)) / len(values))


def read_rows(places: Sequence[str]) -> list[Measurement]:
    """Return the rows of some stores and files, each once.

    Args:
        places: files of results (`.parquet`, `.csv`, `.json`, `.jsonl`), or paths or URLs of stores.

    Raises:
        InvalidInputError: one can't be read.
    """
    found: dict[str, Measurement] = {}
    for place in places:
        if Path(place).suffix in (".parquet", ".csv", ".json", ".jsonl"):
            rows = read_results(Path(place))
        else:
            with open_existing_store(place) as store:
                rows = list(store.measurements())
        found |= {row.key: row for row in rows}
    return list(found.values())


def times_by_device(
    space: RecordSpace, rows: Sequence[Measurement], size: Size = Size.SEARCHED
) -> tuple[SpaceTimes, ...]:
    """Return what rows tell of a space, for each device; of several environments of one, that with most rows.

    Args:
        space: which.
        rows: any; those of another source or other sizes are left out.
        size: of which part of the study.
    """
    own = [
        row
        for row in rows
        if row.subject.benchmark == space.benchmark_name and row.subject.preset == preset_of(row.environment, size)
    ]
    source = CurrentSource(space.benchmark)
    groups: dict[Environment, list[Measurement]] = {}
    for row in own:
        if source.is_of(row):
            groups.setdefault(row.environment, []).append(row)
    by_device: dict[tuple[str, str], SpaceTimes] = {}
    for environment, of_it in groups.items():
        device = environment.platform, environment.device
        if device not in by_device or len(of_it) > len(by_device[device].rows):
            by_device[device] = SpaceTimes(space, environment, tuple(of_it), size)
    return tuple(by_device.values())


def all_times(
    spaces: Iterable[RecordSpace], rows: Sequence[Measurement], size: Size = Size.SEARCHED
) -> dict[str, list[SpaceTimes]]:
    """Return what rows tell of several spaces, by device. Raises InvalidInputError where that is nothing."""
    found: dict[str, list[SpaceTimes]] = {}
    for space in spaces:
        for times in times_by_device(space, rows, size):
            if any(row.invalidity is Invalidity.CORRECT for row in times.rows):
                found.setdefault(times.device, []).append(times)
    if not found:
        raise InvalidInputError(f"there are no rows of these kernels at the {size} sizes")
    return found
