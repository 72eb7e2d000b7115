"""`coarsen predict --measure`: the most promising factors, run on a device."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from coarsen.cli.bench_watch import watching
from coarsen.cli.predict_input import DescribedInput
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.opencl_bench.results.store.database import open_store
from coarsen.opencl_bench.sweep.points import limits_of
from coarsen.opencl_bench.sweep.several import planned_rows
from coarsen.opencl_bench.tuning.measured_factors import MeasuredFactors, measure_factors, plan_of_factors
from coarsen.prediction import KernelPrediction


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """The measured factors, and where their rows are."""

    measured: MeasuredFactors
    location: str


def measure_promising(
    prediction: KernelPrediction,
    described: DescribedInput,
    device: DeviceDescription,
    count: int,
    preset: str,
    store_url: str | None,
) -> MeasuredAnswer:
    """Measure factor 1 and the `count` factors that the model expects most of, as `coarsen bench` does.

    Args:
        prediction: of the kernel, for the local size to measure at.
        described: the kernel with its inputs.
        device: where to run it.
        count: how many factors above 1, at most.
        preset: the sizes.
        store_url: of the store, as `--store` takes it.

    Raises:
        InvalidInputError: the benchmark can't be launched so; the store can't be used.
        DeviceError: the device failed.
        VerificationError: the uncoarsened kernel's results are wrong.
    """
    plan = plan_of_factors(
        described.benchmark,
        described.name,
        device.index,
        most_promising(prediction, count),
        prediction.dimension,
        prediction.local_size,
        preset,
    )
    expected = {plan: planned_rows(described.benchmark, plan, limits_of(device))}
    with open_store(store_url) as store, watching(expected) as tally:
        return MeasuredAnswer(measure_factors(plan, store, tally), store.location)


def most_promising(prediction: KernelPrediction, count: int) -> Sequence[int]:
    """The factors above 1 of the largest expected gain that divide the local size, the best first.

    A measured factor that loses costs nothing, so aversion to loss does not count.
    """
    possible = [point for point in prediction.curve if point.possible]
    ranked = sorted(possible, key=lambda point: (-point.expected_gain, point.factor))
    return [point.factor for point in ranked[:count]]


def check_results(measured: MeasuredFactors, kernel: str) -> None:
    """Raise VerificationError where a factor's results were wrong."""
    if measured.wrong:
        wrong = "; ".join(f"factor {each.factor}: {each.reason}" for each in measured.wrong)
        raise VerificationError(f"wrong results of {kernel}: {wrong}")


def check_packages() -> None:
    """Raise InvalidInputError where a package that measuring needs is missing."""
    if any(importlib.util.find_spec(package) is None for package in ("sqlalchemy", "alembic")):
        raise InvalidInputError("measuring needs more packages: pip install 'coarsen[bench]'")
