"""Tuning over inputs: from a described kernel to a tuned file.

    inputs ─▶ which versions are worth measuring ─▶ these on all inputs ─▶ a tree that chooses ─▶ tuned file

Rows go to the store as they come, and what it has is not measured again.
"""

from __future__ import annotations

import logging
import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coarsen.base.version import __version__
from coarsen.devices.discovery import DeviceDescription
from coarsen.devices.selection import find_device, find_working_device
from coarsen.dispatch.tuned_file import TunedFile, check_sized
from coarsen.errors import DeviceError, InvalidInputError
from coarsen.models.inputs.regret_tree import regret_tree, shipped
from coarsen.models.inputs.times import VersionTimes, margin_of
from coarsen.opencl_bench.inputs.described import check_described, described_points, described_versions
from coarsen.opencl_bench.inputs.drawing import list_inputs
from coarsen.opencl_bench.inputs.evidence import Evidence, worth_of_versions
from coarsen.opencl_bench.inputs.measuring import (
    VersionsPlan,
    check_default,
    measure_versions,
    measured_times,
    with_wrong_results,
    without_repeated,
)
from coarsen.opencl_bench.inputs.stage_one import SEARCHED_INPUTS, StageOneSettings, search_versions
from coarsen.opencl_bench.workloads.described.description import Description
from coarsen.opencl_bench.workloads.described.inputs import PREFIX
from coarsen.opencl_bench.workloads.described.read import read_benchmark, read_description
from coarsen.tuning.engine.observer import CollectingObserver, SweepObserver
from coarsen.tuning.engine.plan import Space
from coarsen.tuning.engine.speedups import is_uncertain
from coarsen.tuning.launch_space import lowered_own, with_distinct, with_long_indices
from coarsen.tuning.processes.compiler import CompilePool
from coarsen.tuning.progress import Remeasure
from coarsen.tuning.records.measurement import Measurement, Method
from coarsen.tuning.search.evaluator import Budget
from coarsen.tuning.store.database import Store, open_store
from coarsen.variant.transforms import DeviceKind, device_kind_of
from coarsen.variant.variant import Variant

# Coarsening beside the parameters of a kernel: along any one dimension.
FACTORS = (1, 2, 4, 8)
STRIDES = (1,)
# However little time there is: the default one, and another that is searched for and measured at all inputs.
_LEAST_VERSIONS = 2
# Of all measurements, what may be too uncertain: of a few, the tree is no worse.
_MOST_DOUBTFUL = 0.1

_log = logging.getLogger("coarsen")


@dataclass(frozen=True, slots=True)
class OverInputs:
    """How to tune over inputs.

    Attributes:
        inputs: how many of those that are listed; all if None.
        space: the versions to choose from, beside the kernel's own parameters.
        stage_one: how versions are searched.
        method: how they are measured.
        distinct: whether versions may take arguments as distinct, and have long indices, beside what `space` says,
            where that changes the code.
        first: versions that each search tries before its own.
        seconds: about how long it takes: half of it searches, and as many versions as the rest allows are measured
            at all inputs; what is uncertain then is measured again where nothing could be chosen otherwise. None:
            as long as it takes.
    """

    inputs: int | None = None
    space: Space = field(default_factory=lambda: Space(factors=FACTORS, strides=STRIDES, arrays=()))
    stage_one: StageOneSettings = field(default_factory=StageOneSettings)
    method: Method = field(default_factory=Method)
    distinct: bool = False
    first: tuple[Variant, ...] = ()
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise InvalidInputError(f"tuning takes more than 0 seconds, not {self.seconds}")


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
    points = described_points(description, benchmark, presets)
    default = Variant(benchmark.preset(presets[0]).local_size, definitions=benchmark.own_definitions)
    # What would make no tuned file is refused before anything is measured.
    check_sized(description.features, *described_versions(description, (default,)))
    plan = VersionsPlan(path, device.index, presets, (default, *settings.first), default, settings.method)
    space = settings.space
    kernel = lowered_own(benchmark, device.macros) if settings.distinct else None
    if kernel is not None:
        if not description.launches:
            # Of versions of several launches, nothing would tell which of them have long indices.
            space = with_long_indices(space, kernel, device_kind_of(device.device_types))
        space = with_distinct(space, benchmark, presets[0], kernel)
    collector = CollectingObserver(observer or SweepObserver())
    started, first, seconds = time.monotonic(), settings.stage_one, settings.seconds
    if seconds is not None:
        half = started + seconds / 2
        limit = replace(
            first.limit or Budget(),
            seconds=seconds / 2 / min(len(points), SEARCHED_INPUTS),
            is_over=lambda: collector.measured >= _LEAST_VERSIONS and time.monotonic() > half,
        )
        first = replace(first, limit=limit)
    with CompilePool() as pool:
        versions = search_versions(plan, points, space, store, first, collector, pool)
        check_default(collector.rows, default)
        deadline = math.inf if seconds is None else started + seconds
        rows = _measured(replace(plan, versions=versions), store, collector, pool, deadline)
    wrong = with_wrong_results(rows)
    versions = tuple(dict.fromkeys(row.candidate for row in rows))
    right = tuple(each for each in without_repeated(versions, rows, benchmark) if each not in wrong)
    times, left_out = measured_times(rows, points, right, default)
    file = tuned_file(description, device, times, is_cold=settings.method.cold_cache)
    return TunedOverInputs(file, times, left_out, wrong, collector.measured)


def _measured(
    plan: VersionsPlan, store: Store, observer: CollectingObserver, pool: CompilePool, deadline: float
) -> Sequence[Measurement]:
    """Measure versions at all inputs, as many of the first as there is time for until the deadline.

    Rows whose intervals are too wide are measured once more, after the deadline, of `time.monotonic`, only where
    these are too many.

    Raises:
        VerificationError: the default version has wrong results at an input.
        DeviceError: many intervals are too wide the second time, too.
    """
    count = len(plan.versions) if deadline == math.inf else _LEAST_VERSIONS
    while True:
        begun, before = time.monotonic(), observer.measured
        tried = replace(plan, versions=plan.versions[:count])
        rows = measure_versions(tried, store, observer, pool=pool).rows
        now = time.monotonic()
        spent, fresh = now - begun, observer.measured - before
        if not fresh:
            spent, fresh = sum(row.compile_seconds + row.measure_seconds for row in rows), len(rows)
        # One more takes what a row took, at each input; those of the store took no time now.
        others = (deadline - now) * fresh / max(spent, 1e-9) / len(plan.presets)
        more = int(others) if count < len(plan.versions) else 0
        if more < 1:
            break
        count += more
    doubtful, most, times = sum(map(is_uncertain, rows)), _MOST_DOUBTFUL * len(rows), " once"
    if doubtful and (doubtful > most or time.monotonic() < deadline):
        rows = measure_versions(tried, store, observer, Remeasure.UNCERTAIN, pool).rows
        times = " a second time too"
        doubtful, most = sum(map(is_uncertain, rows)), _MOST_DOUBTFUL * len(rows)
    said = f"the machine is busy: the intervals of {doubtful} of {len(rows)} measurements are too wide"
    if doubtful > most:
        raise DeviceError(f"{said}, so nothing is chosen; the same command measures these again")
    if doubtful:
        _log.warning("%s, measured%s", said, times)
    check_default(rows, plan.default)
    return rows


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
    description: Description, device: DeviceDescription, times: VersionTimes, *, is_cold: bool = False
) -> TunedFile:
    """Return the tuned file of a kernel from the times of its versions.

    Args:
        description: of the kernel.
        device: where they were measured.
        times: of versions on inputs.
        is_cold: whether the caches were flushed before every timed run.

    Raises:
        InvalidInputError: a version takes several launches whose sizes are no arguments.
    """
    margin = margin_of(device_kind_of(device.device_types) is DeviceKind.GPU)
    kept, tree = shipped(regret_tree(times, margin), times)
    file = TunedFile(
        kernel=description.kernel,
        arguments=description.kernel_arguments,
        source_hash=description.source_hash,
        device=device.name,
        driver=device.driver_version,
        build_options=description.build_options,
        coarsen_version=__version__,
        features=description.features,
        versions=described_versions(description, tuple(times.versions[number] for number in kept)),
        default=kept.index(times.default),
        tree=tree,
        evidence=Evidence(description.path.name, margin, times, is_cold).to_json(),
    )
    # How many times as fast as the default each version is where it is chosen.
    gains = [1.0 if each.over_default is None else each.over_default for each in worth_of_versions(file)]
    return replace(file, evidence={**file.evidence, "gains": gains})


def tune_inputs(
    kernel: str | Path,
    device: str | None = None,
    *,
    inputs: int | None = None,
    space: Space | None = None,
    method: Method | None = None,
    store: str | Path | None = None,
    first: tuple[Variant, ...] = (),
    seconds: float | None = None,
) -> TunedFile:
    """Tune a kernel over inputs: measure versions, and find which of them is to run for which input.

    Args:
        kernel: the path of a TOML file that declares inputs (`coarsen describe --inputs` writes one).
        device: its index or a part of its name; the first that works if None.
        inputs: the first so many of those that are listed; all if None.
        space: coarsenings and local sizes beside the kernel's own parameters; those of `coarsen tune` if None.
        method: how to time; as `coarsen tune` does if None.
        store: an SQLite file or URL that keeps the rows: what it has already is not measured again. None: they are
            kept nowhere.
        first: versions that a search tries before its own.
        seconds: about how long it takes; as long as it takes if None.

    Returns:
        The versions and how one is chosen, with the times as evidence. `write` writes it for
        `coarsen.Program(..., tuned=FILE)`.

    Raises:
        DeviceError: no such device, or it can't be opened.
        InvalidInputError: no inputs, a mistake in a description, or a default version that runs nowhere.
        VerificationError: the default version has wrong results at an input.
    """
    place = find_working_device() if device is None else find_device(device)
    path = Path(kernel).resolve()
    list_inputs(path)
    check_described(path)
    usual = OverInputs()
    settings = OverInputs(
        inputs,
        space or usual.space,
        method=method or usual.method,
        distinct=space is None,
        first=first,
        seconds=seconds,
    )
    with tempfile.TemporaryDirectory(prefix="coarsen-") as folder:
        url = str(Path(folder) / "store.sqlite") if store is None else str(store)
        with open_store(url) as opened:
            return tune_over_inputs(path, place, opened, settings).file
