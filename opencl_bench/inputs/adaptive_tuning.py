"""Tuning of a kernel that adapts: some of its versions at some of its inputs, as a tuned file with its evidence.

Its launches are its driver's, so that the file has no sizes: it is to be looked at and judged.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from coarsen.devices.discovery import DeviceDescription
from coarsen.dispatch.tuned_file import TunedFile
from coarsen.dispatch.tuned_version import TunedVersion
from coarsen.distribution import __version__
from coarsen.errors import InvalidInputError
from coarsen.frontend.source_hash import hash_with_headers
from coarsen.models.inputs.portfolio import MOST_VERSIONS, margin_of
from coarsen.models.inputs.regret_tree import regret_tree
from coarsen.models.inputs.shipping import Shipped, shipped
from coarsen.opencl_bench.inputs.adaptive_points import adaptive_points, kernel_arguments
from coarsen.opencl_bench.inputs.evidence import Evidence
from coarsen.opencl_bench.inputs.left_open_times import LeftOpenTimes
from coarsen.opencl_bench.inputs.matrix import TimesRequest, measured_times
from coarsen.opencl_bench.inputs.measuring import VersionsPlan, measure_versions
from coarsen.opencl_bench.inputs.one_code import without_repeated
from coarsen.opencl_bench.inputs.over_inputs import TunedOverInputs
from coarsen.opencl_bench.inputs.wrong_results import check_default, with_wrong_results
from coarsen.opencl_bench.records.measurement import Method
from coarsen.opencl_bench.results.store.database import Store
from coarsen.opencl_bench.sweep.observer import SweepObserver
from coarsen.opencl_bench.workloads.adaptive_driver import AdaptiveKernel
from coarsen.variant.transforms import DeviceKind, device_kind_of
from coarsen.variant.variant import Variant


@dataclass(frozen=True, slots=True)
class AdaptiveSample:
    """What is measured of a kernel that adapts.

    Attributes:
        inputs: the first so many that are listed; all if None.
        versions: so many, drawn from all, the default one among them; all if None.
        method: how they are measured.
        seed: of the draw and of the inputs' contents.
        most: how many versions may be shipped, with the default one.
    """

    inputs: int | None = None
    versions: int | None = None
    method: Method = field(default_factory=Method)
    seed: int = 0
    most: int = MOST_VERSIONS


def tune_adaptive(
    kernel: AdaptiveKernel,
    device: DeviceDescription,
    store: Store,
    sample: AdaptiveSample,
    observer: SweepObserver | None = None,
) -> TunedOverInputs:
    """Measure versions of a kernel that adapts, and choose among them.

    Args:
        kernel: has versions and inputs.
        device: where.
        store: where the rows go; what it has is not measured again.
        sample: what is measured.
        observer: sees rows as they come.

    Raises:
        InvalidInputError: a sample of nothing, or a default version that runs nowhere.
        VerificationError: the default version has wrong results at an input.
        DeviceError: the device can't be opened (any more).
    """
    presets = sampled_inputs(kernel, sample.inputs)
    versions = sampled_versions(kernel, sample.versions, sample.seed)
    plan = VersionsPlan(
        kernel.name, device.index, presets, versions, kernel.default, sample.seed, method=sample.method
    )
    measured = measure_versions(plan, store, observer)
    check_default(measured.rows, kernel.default)
    wrong = with_wrong_results(measured.rows)
    right = tuple(
        each for each in without_repeated(versions, measured.rows, kernel.benchmark) if each not in wrong
    )
    points = adaptive_points(kernel, sample.seed, presets)
    asked = TimesRequest(kernel.name, points, right, kernel.default, sample.seed)
    found = measured_times(measured.rows, asked)
    times = found.times
    margin = margin_of(device_kind_of(device.device_types) is DeviceKind.GPU)
    choice = shipped(regret_tree(times, margin, {*kernel.supplied}, sample.most), times)
    baseline = LeftOpenTimes(reason="its driver does not say that its buffers fit any local size")
    evidence = Evidence(kernel.name, margin, times, baseline, sample.method.cold_cache)
    file = adaptive_file(kernel, device, choice, evidence)
    return TunedOverInputs(file, times, {**measured.problems, **found.left_out}, wrong, measured.measured)


def sampled_inputs(kernel: AdaptiveKernel, count: int | None) -> tuple[str, ...]:
    """Return the names of the first so many inputs; all if None, or no more are there."""
    return tuple(kernel.listed)[: _count(count, len(kernel.listed), "inputs")]


def sampled_versions(kernel: AdaptiveKernel, count: int | None, seed: int = 0) -> tuple[Variant, ...]:
    """Return so many versions, the default one and others that are drawn; all if None, or no more are there."""
    default, *others = kernel.versions
    wanted = _count(count, len(kernel.versions), "versions")
    drawn = {*random.Random(seed).sample(others, wanted - 1)}
    return (default, *(version for version in others if version in drawn))


def _count(asked: int | None, known: int, what: str) -> int:
    if asked is not None and asked < 1:
        raise InvalidInputError(f"{asked} {what} can't be measured: ask for 1 to {known}")
    return known if asked is None else min(asked, known)


def adaptive_file(
    kernel: AdaptiveKernel, device: DeviceDescription, choice: Shipped, evidence: Evidence
) -> TunedFile:
    """Return the tuned file of a kernel that adapts.

    Args:
        kernel: whose file it is.
        device: where it was measured.
        choice: its versions, and how one is chosen.
        evidence: the times that it was made by.
    """
    return TunedFile(
        kernel=kernel.kernel,
        arguments=kernel_arguments(kernel),
        source_hash=hash_with_headers(kernel.benchmark.source, kernel.benchmark.build_options),
        device=device.name,
        driver=device.driver_version,
        build_options=kernel.benchmark.build_options,
        coarsen_version=__version__,
        features=kernel.all_features,
        versions=tuple(map(TunedVersion, choice.versions)),
        default=choice.default,
        tree=choice.tree,
        tree_without_supplied=choice.tree_without_supplied,
        evidence=evidence.to_json(),
    )
