"""`coarsen predict`, measured: the launches that a model predicted, its choice first, run on a device."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass

from coarsen.cli.bench_watch import watching
from coarsen.cli.predict_input import DescribedInput, LocalSize
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.models.launch.expected_improvement import Expected
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.tuning.promising_variants import (
    DescribedLaunch,
    MeasuredVariants,
    measure_promising,
    plan_of_launch,
    planned_rows,
)
from coarsen.variant.variant import Variant


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
    return DescribedLaunch(described.benchmark, described.name, preset, device, local_size)


def measure_launch(
    launch: DescribedLaunch,
    count: int,
    expected: Mapping[Variant, Expected],
    choice: Variant,
    store_url: str | None,
) -> MeasuredAnswer:
    """Measure a launch as it is and the `count` most promising of the variants that were predicted.

    Args:
        launch: what is measured.
        count: how many variants, at most.
        expected: what is expected of each of the variants.
        choice: the predicted one, which is measured first.
        store_url: of the store, as `--store` takes it.

    Raises:
        InvalidInputError: the benchmark can't be launched so; the store can't be used.
        DeviceError: the device failed.
        VerificationError: the uncoarsened kernel's results are wrong.
    """
    plan = plan_of_launch(launch)
    with open_store(store_url) as store, watching({plan: planned_rows(count)}) as tally:
        measured = measure_promising(launch, plan, count, store, expected, choice, tally)
        return MeasuredAnswer(measured, store.location)


def check_results(measured: MeasuredVariants, kernel: str) -> None:
    """Raise VerificationError where a variant's results were wrong."""
    if measured.wrong:
        wrong = "; ".join(f"{each.variant}: {each.reason}" for each in measured.wrong)
        raise VerificationError(f"wrong results of {kernel}: {wrong}")


def check_packages() -> None:
    """Raise InvalidInputError where a package that measuring needs is missing."""
    if importlib.util.find_spec("sqlalchemy") is None:
        raise InvalidInputError("measuring needs more packages: pip install 'coarsen[bench]'")
