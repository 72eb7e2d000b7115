"""`coarsen predict --measure`: the variants of the largest expected improvement, run on a device."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from coarsen.analysis.whole_groups import groups_matter
from coarsen.cli.bench_watch import watching
from coarsen.cli.predict_input import DescribedInput, LocalSize
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.models.default import DefaultModel
from coarsen.models.launch.model import LaunchModel
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.tuning.measured_variants import MeasuredVariants
from coarsen.opencl_bench.tuning.promising_variants import (
    DescribedLaunch,
    measure_promising,
    plan_of_launch,
    planned_rows,
)


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """The measured variants, and where their rows are."""

    measured: MeasuredVariants
    location: str


def launch_of(
    described: DescribedInput, device: DeviceDescription, local_size: LocalSize | None, preset: str
) -> DescribedLaunch:
    """Return the launch that is measured.

    Args:
        described: the kernel with its inputs.
        device: where it runs.
        local_size: as it was asked for; the description's if None.
        preset: the sizes.
    """
    matter = groups_matter(described.input.kernel)
    return DescribedLaunch(described.benchmark, described.name, preset, device, matter, local_size)


def measure_launch(
    launch: DescribedLaunch, count: int, model: DefaultModel | LaunchModel, store_url: str | None
) -> MeasuredAnswer:
    """Measure a launch as it is and the `count` variants that the model expects most of.

    Args:
        launch: what is measured.
        count: how many variants, at most.
        model: expects something of them.
        store_url: of the store, as `--store` takes it.

    Raises:
        InvalidInputError: the benchmark can't be launched so; the store can't be used.
        DeviceError: the device failed.
        VerificationError: the uncoarsened kernel's results are wrong.
    """
    plan = plan_of_launch(launch)
    with open_store(store_url) as store, watching({plan: planned_rows(count)}) as tally:
        return MeasuredAnswer(measure_promising(launch, plan, count, store, model, tally), store.location)


def check_results(measured: MeasuredVariants, kernel: str) -> None:
    """Raise VerificationError where a variant's results were wrong."""
    if measured.wrong:
        wrong = "; ".join(f"{each.variant}: {each.reason}" for each in measured.wrong)
        raise VerificationError(f"wrong results of {kernel}: {wrong}")


def check_packages() -> None:
    """Raise InvalidInputError where a package that measuring needs is missing."""
    if importlib.util.find_spec("sqlalchemy") is None:
        raise InvalidInputError("measuring needs more packages: pip install 'coarsen[bench]'")
