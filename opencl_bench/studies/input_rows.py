"""What stores have of the kernels that adapt, as the evaluation over inputs takes it: first times and second ones.

rows ─▶ of the kernel's source and inputs as they are now ─▶ of one environment and method ─▶ study, second times

These are this project's own kernels, of which the full grid is measured. A user's kernel is judged by what its
tuned file keeps: `coarsen tune evaluate`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coarsen.errors import CoarsenError, InvalidInputError
from coarsen.models.inputs.entrants import Settings
from coarsen.models.inputs.judging import Study
from coarsen.models.inputs.portfolio import margin_of
from coarsen.models.inputs.times import VersionTimes
from coarsen.models.trees.arrays import Array
from coarsen.opencl_bench.inputs.adaptive_points import adaptive_points
from coarsen.opencl_bench.inputs.current_source import CurrentSource
from coarsen.opencl_bench.inputs.matrix import TimesRequest, confirmed_ratios, measured_times
from coarsen.opencl_bench.inputs.second_times import second_times
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings
from coarsen.opencl_bench.inputs.stage_one_replay import ReplayedStageOne
from coarsen.opencl_bench.records.measurement import Environment, Measurement, Method, Role
from coarsen.opencl_bench.results.store.database import Store, open_existing_store
from coarsen.opencl_bench.results.store.filters import Filter
from coarsen.opencl_bench.search.found import Found
from coarsen.opencl_bench.workloads.adaptive_driver import ADAPTIVE_PREFIX, AdaptiveKernel
from coarsen.opencl_bench.workloads.lookup import adaptive
from coarsen.variant.transforms import DeviceKind, device_kind_of

# Those that the method was settled on; all others are judged once.
DEVELOPMENT = tuple(f"{ADAPTIVE_PREFIX}{name}" for name in ("mvMul", "transpose", "spmvCsr", "blackscholes"))
# Those for which the input should decide nothing.
CONTROLS = tuple(f"{ADAPTIVE_PREFIX}{name}" for name in ("blackscholes", "nbody"))


@dataclass(frozen=True)
class StoredKernel:
    """The rows of one kernel in one environment, measured in one way.

    Attributes:
        kernel: with its versions and inputs.
        environment: where.
        method: how.
        rows: of its source and inputs as they are now.
    """

    kernel: AdaptiveKernel
    environment: Environment
    method: Method
    rows: tuple[Measurement, ...]

    @property
    def device(self) -> str:
        """Return the platform and the device in a few words."""
        return f"{self.environment.platform}, {self.environment.device}"

    @property
    def is_gpu(self) -> bool:
        """Return True if the device is a GPU."""
        return device_kind_of(self.environment.device_types) is DeviceKind.GPU

    @cached_property
    def complete(self) -> tuple[str, ...]:
        """Return the names of the inputs at which everything was compared, in their order.

        Where the default version fails, nothing else is.
        """
        versions, default = {*self.kernel.versions}, self.kernel.default
        compared = (row for row in self.rows if row.role is Role.COMPARISON and row.baseline == default)
        cells = {(row.subject.preset, row.candidate) for row in compared if row.candidate in versions}
        counts = Counter(preset for preset, _ in cells)
        return tuple(name for name in self.kernel.listed if counts[name] >= len(self.kernel.versions))

    @cached_property
    def asked(self) -> TimesRequest:
        """Return what the matrices are made of. Raises InvalidInputError where no input is complete."""
        if not self.complete:
            raise InvalidInputError(
                f"{self.kernel.name}: at no input are all versions measured: measure them first"
            )
        points = adaptive_points(self.kernel, presets=self.complete)
        versions, default = self.kernel.versions, self.kernel.default
        return TimesRequest(self.kernel.name, points, versions, default, 0, self.environment, self.method)

    @cached_property
    def times(self) -> VersionTimes:
        """Return the first times. Raises InvalidInputError as `measured_times` does."""
        return measured_times(self.rows, self.asked).times

    def study(
        self, settings: StageOneSettings | None = None, searches: MutableMapping[str, Found] | None = None
    ) -> Study:
        """Return the study of the kernel, with its first stage replayed in each fold.

        Args:
            settings: of the first stage.
            searches: those that were run before, and where others are kept.

        Raises:
            InvalidInputError: as `times`.
        """
        return Study(
            kernel=self.kernel.name,
            times=self.times,
            settings=Settings(margin_of(self.is_gpu), frozenset(self.kernel.supplied)),
            stage_one=ReplayedStageOne(settings or StageOneSettings(), {} if searches is None else searches),
            is_control=self.kernel.name in CONTROLS,
        )

    @cached_property
    def again(self) -> Array:
        """Return the second times, as far as there are any. Raises InvalidInputError as `times`."""
        return second_times(self.times, confirmed_ratios(self.rows, self.asked))


def stored_kernels(stores: Sequence[str], names: Sequence[str] = ()) -> Iterator[StoredKernel]:
    """Yield what some stores have, kernel by kernel, of each device the environment with the most rows.

    Args:
        stores: their paths or URLs; a row may be in several.
        names: of the kernels, `adaptive-<kernel>`; all if empty.

    Raises:
        InvalidInputError: no such store, or no such kernel.
    """
    kernels = adaptive()
    if unknown := [name for name in names if name not in kernels]:
        raise InvalidInputError(f"no kernel '{unknown[0]}'; there are {', '.join(kernels)}")
    opened = [open_existing_store(url) for url in stores]
    try:
        for name in names or kernels:
            yield from of_rows(kernels[name], _rows(opened, name))
    finally:
        for store in opened:
            store.close()


def _rows(stores: Iterable[Store], name: str) -> Iterator[Measurement]:
    found = {row.key: row for store in stores for row in store.measurements(Filter(benchmark=name))}
    yield from found.values()


def exit_code_of(program: Callable[[], int]) -> int:
    """Return the exit code of a program of this folder; what is wrong with its input is told in a line."""
    try:
        return program()
    except CoarsenError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


def of_rows(kernel: AdaptiveKernel, rows: Iterable[Measurement]) -> Iterator[StoredKernel]:
    """Yield the rows of a kernel by device; of several environments or methods of one, the one with the most rows.

    Args:
        kernel: whose rows these are.
        rows: of any source, device and method.
    """
    source = CurrentSource(kernel.benchmark)
    groups: dict[tuple[Environment, Method], list[Measurement]] = {}
    for row in rows:
        if source.is_of(row):
            groups.setdefault((row.environment, row.method), []).append(row)
    by_device: dict[tuple[str, str], StoredKernel] = {}
    for (environment, method), own in groups.items():
        device = environment.platform, environment.device
        if device not in by_device or len(own) > len(by_device[device].rows):
            by_device[device] = StoredKernel(kernel, environment, method, tuple(own))
    yield from by_device.values()
