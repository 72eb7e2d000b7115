"""Tuning over inputs: from a described kernel to a tuned file.

    inputs ─▶ which versions are worth measuring ─▶ these on all inputs ─▶ a tree that chooses ─▶ tuned file

Rows go to the store as they come, and what it has is not measured again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tree import answer
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.distribution import __version__
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.models.inputs.portfolio import CPU_MARGIN, GPU_MARGIN, MOST_VERSIONS
from coarsen.models.inputs.regret_tree import regret_tree
from coarsen.models.inputs.shipping import Shipped, shipped
from coarsen.models.inputs.times import VersionTimes
from coarsen.opencl_bench.inputs.cold_check import ColdChecker
from coarsen.opencl_bench.inputs.described_points import described_points
from coarsen.opencl_bench.inputs.described_versions import described_versions
from coarsen.opencl_bench.inputs.evidence import Evidence, with_caches
from coarsen.opencl_bench.inputs.left_open import LeftOpen, left_open, left_open_times
from coarsen.opencl_bench.inputs.left_open_times import LeftOpenTimes
from coarsen.opencl_bench.inputs.live_stage_one import search_versions
from coarsen.opencl_bench.inputs.matrix import MeasuredTimes, TimesRequest, measured_times
from coarsen.opencl_bench.inputs.measuring import VersionsPlan, measure_versions
from coarsen.opencl_bench.inputs.one_code import without_repeated
from coarsen.opencl_bench.inputs.stage_one import StageOneSettings
from coarsen.opencl_bench.inputs.wrong_results import check_default, with_wrong_results
from coarsen.opencl_bench.records.measurement import Measurement, Method
from coarsen.opencl_bench.results.speedups import is_uncertain
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.sweep.compiler import CompilePool
from coarsen.opencl_bench.sweep.distinct_choice import lowered_own, with_distinct
from coarsen.opencl_bench.sweep.observer import CollectingObserver, Remeasure, SweepObserver
from coarsen.opencl_bench.sweep.plan import Space
from coarsen.opencl_bench.workloads.benchmark import Benchmark
from coarsen.opencl_bench.workloads.described.description import Description
from coarsen.opencl_bench.workloads.described.launch_features import kernel_arguments
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.opencl_bench.workloads.input_space import PREFIX
from coarsen.variant.transforms import DeviceKind, device_kind_of
from coarsen.variant.variant import Variant

# Coarsening beside the parameters of a kernel: along any one dimension.
FACTORS = (1, 2, 4, 8)
STRIDES = (1,)
# Of all measurements, what may be too uncertain: of a few, the tree is no worse.
_MOST_DOUBTFUL = 0.1

_log = logging.getLogger("coarsen")


@dataclass(frozen=True, slots=True)
class OverInputs:
    """How to tune over inputs.

    Attributes:
        inputs: how many of those that are listed; all if None.
        most: how many versions may be shipped, with the default one.
        space: the versions to choose from, beside the kernel's own parameters.
        stage_one: how versions are searched.
        method: how they are measured.
        seed: of the inputs' contents.
        distinct: whether versions may take arguments as distinct beside what `space` says, where that changes the
            code.
        cold_check: whether the versions of the file are timed with flushed caches too, at three inputs.

    Raises:
        InvalidInputError: caches are flushed anyway, so that there is nothing to check.
    """

    inputs: int | None = None
    most: int = MOST_VERSIONS
    space: Space = field(default_factory=lambda: Space(factors=FACTORS, strides=STRIDES, arrays=()))
    stage_one: StageOneSettings = field(default_factory=StageOneSettings)
    method: Method = field(default_factory=Method)
    seed: int = 0
    distinct: bool = False
    cold_check: bool = False

    def __post_init__(self) -> None:
        if self.cold_check and self.method.cold_cache:
            raise InvalidInputError("the check with cold caches is for a tuning with warm ones: leave one out")


@dataclass(frozen=True, slots=True)
class TunedOverInputs:
    """What a tuning over inputs found.

    Attributes:
        file: the versions and how one is chosen.
        times: of the versions that were tried on every input.
        left_out: inputs at which the default version does not run, each with why.
        wrong: versions that had wrong results at an input, each with where and why; they are not in the file.
        measured: how many rows were measured now.
    """

    file: TunedFile
    times: VersionTimes
    left_out: Mapping[str, str]
    wrong: Mapping[Variant, str]
    measured: int


def tune_over_inputs(
    path: Path,
    device: DeviceDescription,
    store: Store,
    settings: OverInputs | None = None,
    observer: SweepObserver | None = None,
) -> TunedOverInputs:
    """Tune a described kernel over the inputs that are listed beside its file.

    Args:
        path: of the TOML file.
        device: where.
        store: where the rows go.
        settings: how.
        observer: sees rows as they come.

    Raises:
        InvalidInputError: a mistake in the file, no features or no inputs, or a default version that runs nowhere.
        VerificationError: the default version has wrong results at an input.
        DeviceError: the device can't be opened (any more); the machine is too busy for anything to follow.
    """
    settings = settings or OverInputs()
    description, benchmark = read_description(path), read_benchmark(path)
    presets = listed_presets(description, settings.inputs)
    points = described_points(description, benchmark, presets, settings.seed)
    first = benchmark.preset(presets[0])
    default = Variant(first.local_size, definitions=benchmark.own_definitions)
    plan = VersionsPlan(path, device.index, presets, (default,), default, settings.seed, method=settings.method)
    space = settings.space
    kernel = lowered_own(benchmark, device.macros) if settings.distinct else None
    if kernel is not None:
        space = with_distinct(space, benchmark, presets[0], kernel)
    collector = CollectingObserver(observer or SweepObserver())
    baseline = left_open(benchmark, presets[0], default, device.macros)
    with CompilePool() as pool:
        found = search_versions(plan, points, space, store, settings.stage_one, collector, pool)
        check_default(collector.rows, default)
        versions = tuple(each for each in found.versions if _can_be_shipped(benchmark, presets[0], each))
        plan = replace(plan, versions=versions)
        with_baseline = replace(plan, versions=(*versions, *baseline.variants))
        measured = measure_versions(with_baseline, store, collector, pool=pool)
        if any(map(is_uncertain, measured.rows)):
            measured = measure_versions(with_baseline, store, collector, Remeasure.UNCERTAIN, pool)
            _check_certain(measured.rows)
        check_default(measured.rows, default)
        versions = without_repeated(versions, measured.rows, benchmark)
        asked = TimesRequest(benchmark.name, points, versions, default, settings.seed)
        making = _Making(description, device, settings, asked, measured.rows, baseline)
        checker = ColdChecker(benchmark, plan, store, collector, pool)
        made = making.checked(checker) if settings.cold_check else making.made(making.wrong)
    return TunedOverInputs(
        made.file,
        made.times.times,
        {**measured.problems, **made.times.left_out},
        made.wrong,
        collector.measured,
    )


def _check_certain(rows: Sequence[Measurement]) -> None:
    """Say how many intervals are too wide, measured a second time too; raise DeviceError where they are many."""
    doubtful = sum(map(is_uncertain, rows))
    said = f"the machine is busy: the intervals of {doubtful} of {len(rows)} measurements are wider than a tenth"
    if doubtful > _MOST_DOUBTFUL * len(rows):
        raise DeviceError(f"{said}, so nothing is chosen; the same command measures these again")
    if doubtful:
        _log.warning("%s, measured a second time too", said)


@dataclass(frozen=True, slots=True)
class _Made:
    """A tuned file, the times that it was made from, and the versions that were left out as wrong."""

    file: TunedFile
    times: MeasuredTimes
    wrong: Mapping[Variant, str]


@dataclass(frozen=True, slots=True)
class _Making:
    """Makes a tuned file from rows that are measured.

    Attributes:
        description: of the kernel.
        device: where.
        settings: of the tuning.
        asked: which rows, of all versions that were measured.
        rows: all of them, and those of the baseline.
        baseline: the default version with a local size that the driver chooses.
    """

    description: Description
    device: DeviceDescription
    settings: OverInputs
    asked: TimesRequest
    rows: tuple[Measurement, ...]
    baseline: LeftOpen

    @property
    def wrong(self) -> dict[Variant, str]:
        """The versions that had wrong results, each with where and why."""
        return with_wrong_results(row for row in self.rows if row.candidate not in self.baseline.variants)

    def made(self, wrong: Mapping[Variant, str]) -> _Made:
        """Return the file without some versions."""
        asked = replace(self.asked, versions=tuple(each for each in self.asked.versions if each not in wrong))
        times = measured_times(self.rows, asked)
        baseline = left_open_times(self.rows, self.baseline, asked, times.times)
        file = tuned_file(self.description, self.device, times.times, self.settings.most, baseline)
        is_cold = self.settings.method.cold_cache
        return _Made(with_caches(file, is_cold=is_cold), times, wrong)

    def checked(self, checker: ColdChecker) -> _Made:
        """Return the file with what a check with cold caches found; what had wrong results there is left out."""
        wrong = self.wrong
        while True:
            made = self.made(wrong)
            found = checker.check(made.file, made.times.times)
            if not found.wrong:
                return replace(made, file=with_caches(made.file, cold=found.times))
            wrong = {**wrong, **found.wrong}


def _can_be_shipped(benchmark: Benchmark, preset: str, variant: Variant) -> bool:
    """Return False for several launches one of which is coarsened: at dispatch they run as they are written."""
    if not variant.is_coarsened or not benchmark.other_kernels:
        return True
    try:
        return len(benchmark.launches(preset, variant.local_size, variant.definitions)) == 1
    except InvalidInputError:
        return False  # a condition rules it out


def listed_presets(description: Description, count: int | None) -> tuple[str, ...]:
    """Return the names of the first so many listed inputs, of all if None.

    Raises:
        InvalidInputError: there are fewer.
    """
    listed = tuple(name for name in description.sizes if name.startswith(PREFIX))
    if count is not None and not 1 <= count <= len(listed):
        raise InvalidInputError(
            f"{description.path}: inputs.count: {len(listed)} inputs are listed: write count = {count}"
        )
    return listed[:count]


def tuned_file(
    description: Description,
    device: DeviceDescription,
    times: VersionTimes,
    most: int = MOST_VERSIONS,
    baseline: LeftOpenTimes | None = None,
) -> TunedFile:
    """Return the tuned file of a kernel from the times of its versions.

    Args:
        description: of the kernel.
        device: where they were measured.
        times: of versions on inputs.
        most: how many versions may be shipped.
        baseline: times of the default version with a local size that the driver chooses, at the same inputs.

    Raises:
        InvalidInputError: a version takes several launches whose sizes are no arguments.
    """
    margin = GPU_MARGIN if device_kind_of(device.device_types) is DeviceKind.GPU else CPU_MARGIN
    supplied = {each.feature.name for each in description.features if each.feature.is_supplied}
    choice = shipped(regret_tree(times, margin, supplied, most), times)
    return TunedFile(
        kernel=description.kernel,
        arguments=tuple(kernel_arguments(description.arguments_of(description.kernel))),
        source_hash=description.source_hash,
        device=device.name,
        driver=device.driver_version,
        build_options=description.build_options,
        coarsen_version=__version__,
        features=tuple(each.feature for each in description.features),
        versions=described_versions(description, choice.versions),
        default=choice.default,
        tree=choice.tree,
        tree_without_supplied=choice.tree_without_supplied,
        evidence={
            **Evidence(description.path.name, margin, times, baseline).to_json(),
            "gains": [*_gains(choice, times)],
        },
    )


def _gains(choice: Shipped, times: VersionTimes) -> Iterator[float]:
    """Yield how many times as fast as the default each version is where it is chosen, in the geometric mean."""
    chosen = [answer(choice.tree, point.features) for point in times.inputs]
    for number, version in enumerate(choice.versions):
        seconds = times.played[[row for row, own in enumerate(chosen) if own == number]]
        gain = np.log(seconds[:, times.default] / seconds[:, times.versions.index(version)])
        yield float(np.exp(gain.mean())) if gain.size else 1.0
