"""`coarsen predict`, measured: the launches that the model predicted, its choice first, run on a device."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from coarsen.cli.bench.progress import watching
from coarsen.cli.output import print_line, print_table
from coarsen.cli.predict.input import DescribedInput, LocalSize
from coarsen.cli.predict.output import CHOSEN, launch_text, ratio_text
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.models.launch.expected_improvement import Expected
from coarsen.opencl_bench.results.paste import paste_of_variant
from coarsen.opencl_bench.sweep.promising_variants import (
    DescribedLaunch,
    MeasuredVariant,
    MeasuredVariants,
    measure_promising,
    plan_of_launch,
    planned_rows,
)
from coarsen.targets import Target
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.store.database import open_store
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_to_json

# Half of an 80 % interval of a normal distribution, in standard deviations.
_HALF_OF_80_PERCENT = 1.2816


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


def print_variants(kernel: str, file: str, target: Target, measured: MeasuredVariants) -> None:
    """Print what was measured, and what is chosen."""
    best = measured.best
    why = ", the best measured" if measured.doubtful is None else ""
    print_line(f"kernel {kernel} on {target}: {launch_text(best.variant, measured.own)}{why}")
    for sentence in _verdict(measured):
        print_line(sentence)
    print_line()
    headings = ["variant", "expected", "80 % interval", "measured (95 % interval)", ""]
    print_table(headings, _rows(measured), numbers=["expected"])
    print_line()
    for line in paste_of_variant(best.variant, kernel, file).lines:
        print_line(line)
    print_line()


def variants_as_data(measured: MeasuredVariants, store: str) -> dict[str, object]:
    """Return what was measured for JSON."""
    return {
        "own_launch": variant_to_json(measured.own),
        "measured": [_variant_as_data(each) for each in measured.variants],
        "choice": variant_to_json(measured.best.variant),
        "choice_text": launch_text(measured.best.variant, measured.own),
        "speedup": _speedup_as_data(measured.best.speedup),
        "speedup_over_uncoarsened": _speedup_as_data(measured.over_uncoarsened),
        "store": store,
    }


def _verdict(measured: MeasuredVariants) -> Iterator[str]:
    best = measured.best
    if measured.doubtful is not None:
        yield f"As it is: {measured.doubtful.doubt}"
    elif best.variant == measured.own:
        yield "None of the measured variants is faster than the launch as it is"
    elif best.speedup is not None:
        times = "in one process" if not best.processes else f"in {best.processes} new processes"
        yield f"Measured speed-up over the launch as it is: {_interval(best.speedup)}, {times}"
    over = measured.over_uncoarsened
    if over is not None:
        yield f"Over the fastest local size measured uncoarsened: {_interval(over)}"
    yield from _equals(measured)


def _equals(measured: MeasuredVariants) -> Iterator[str]:
    """Say why a variant with the larger number is not the best one."""
    best = measured.best
    above = [
        each
        for each in measured.eligible
        if each.speedup and best.speedup and each.speedup.ratio > best.speedup.ratio
    ]
    if above:
        listed = ", ".join(launch_text(each.variant, measured.own) for each in above)
        chosen = launch_text(best.variant, measured.own)
        yield f"The clock can't tell {listed} from {chosen}, and what merges less wins"


def _rows(measured: MeasuredVariants) -> Iterator[Sequence[str]]:
    best = measured.best.variant
    for each in measured.all:
        mark = CHOSEN if each.variant == best else ""
        is_own = each.variant == measured.own
        mean, interval = ("1.00", "") if is_own else _expectation(each.expected)
        yield launch_text(each.variant, measured.own), mean, interval, "1.00" if is_own else _result(each), mark


def _expectation(expected: Expected) -> tuple[str, str]:
    mean, low, high = (math.exp(value) for value in _bounds(expected))
    return ratio_text(mean), f"{ratio_text(low)} to {ratio_text(high)}"


def _bounds(expected: Expected) -> tuple[float, float, float]:
    """The expected logarithm of the speed-up, and its 80 % interval."""
    half = _HALF_OF_80_PERCENT * expected.deviation
    return -expected.mean, -expected.mean - half, -expected.mean + half


def _result(measured: MeasuredVariant) -> str:
    if measured.speedup is None:
        return f"{measured.invalidity.value}: {measured.reason}"
    return _interval(measured.speedup)


def _interval(gain: Speedup) -> str:
    return f"{ratio_text(gain.ratio)} ({ratio_text(gain.low)} to {ratio_text(gain.high)})"


def _variant_as_data(measured: MeasuredVariant) -> dict[str, object]:
    mean, low, high = (math.exp(value) for value in _bounds(measured.expected))
    return {
        "variant": variant_to_json(measured.variant),
        "expected": {"ratio": mean, "low": low, "high": high},
        "speedup": _speedup_as_data(measured.speedup),
        "invalidity": measured.invalidity.value,
        "reason": measured.reason,
        "processes": measured.processes,
    }


def _speedup_as_data(gain: Speedup | None) -> dict[str, float] | None:
    return None if gain is None else asdict(gain)
