"""`coarsen predict`, measured: the launches that the model predicted, its choice first, run on a device."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from coarsen.cli.bench.progress import watching
from coarsen.cli.output import Format, print_json, print_line, print_lines, print_table
from coarsen.cli.predict.input import KernelInput
from coarsen.cli.predict.output import (
    CHOSEN,
    interval_text,
    launch_as_data,
    launch_text,
    predicted_text,
    ratio_text,
)
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import VerificationError
from coarsen.models.launch.expected_improvement import Expected
from coarsen.models.launch.prediction import LaunchPrediction
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
from coarsen.variant.variant_json import variant_to_json

if TYPE_CHECKING:
    from coarsen.cli.predict.options import PredictOptions

# Launches that are measured where nobody says how many.
USUAL_TRIALS = 4
# Half of an 80 % interval of a normal distribution, in standard deviations.
_HALF_OF_80_PERCENT = 1.2816


def measure_and_print(
    asked: PredictOptions,
    given: KernelInput,
    device: DeviceDescription,
    prediction: LaunchPrediction,
    target: Target,
) -> None:
    """Measure a launch as it is and the most promising of the launches that were predicted; print the best.

    Args:
        asked: the options; as many launches as `--measure` says, the model's choice first.
        given: the kernel, with a benchmark that makes its inputs.
        device: where it runs.
        prediction: for the launch.
        target: for which it was predicted.

    Raises:
        InvalidInputError: the benchmark can't be launched so; the store can't be used.
        DeviceError: the device failed.
        VerificationError: results are wrong, of the uncoarsened kernel or of a variant.
    """
    assert given.benchmark is not None
    launch = DescribedLaunch(given.benchmark, given.name, asked.preset, device, asked.local)
    plan, count = plan_of_launch(launch), asked.measure or USUAL_TRIALS
    expected = {
        each.variant: Expected(-math.log(each.over_own.value), each.deviation) for each in prediction.launches
    }
    with open_store(asked.store) as store, watching({plan: planned_rows(count)}) as tally:
        measured = measure_promising(launch, plan, count, store, expected, prediction.chosen.variant, tally)
        location = store.location
    if asked.output_format is Format.JSON:
        predicted = launch_as_data(prediction, target)
        predicted["predicted_choice"] = predicted.pop("choice")
        print_json({**predicted, **variants_as_data(measured, location)})
    else:
        print_variants(prediction.kernel, str(given.path), target, measured)
        print_line(predicted_text(prediction))
        print_line(f"The rows are in {location}")
    sys.stdout.flush()
    if measured.wrong:
        wrong = "; ".join(f"{each.variant}: {each.reason}" for each in measured.wrong)
        raise VerificationError(f"wrong results of {prediction.kernel}: {wrong}")


def print_variants(kernel: str, file: str, target: Target, measured: MeasuredVariants) -> None:
    """Print what was measured, and what is chosen."""
    best = measured.best
    why = ", the best measured" if measured.doubtful is None else ""
    print_line(f"kernel {kernel} on {target}: {launch_text(best.variant, measured.own)}{why}")
    print_lines(*_verdict(measured))
    print_line()
    headings = ["variant", "expected", "80 % interval", "measured (95 % interval)", ""]
    print_table(headings, _rows(measured), numbers=["expected"])
    print_line()
    print_lines(*paste_of_variant(best.variant, kernel, file).lines)
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
    mean, low, high = _bounds(expected)
    return ratio_text(mean), interval_text(low, high)


def _bounds(expected: Expected) -> tuple[float, float, float]:
    """The expected speed-up, and its 80 % interval."""
    half = _HALF_OF_80_PERCENT * expected.deviation
    return math.exp(-expected.mean), math.exp(-expected.mean - half), math.exp(-expected.mean + half)


def _result(measured: MeasuredVariant) -> str:
    if measured.speedup is None:
        return f"{measured.invalidity.value}: {measured.reason}"
    return _interval(measured.speedup)


def _interval(gain: Speedup) -> str:
    return f"{ratio_text(gain.ratio)} ({interval_text(gain.low, gain.high)})"


def _variant_as_data(measured: MeasuredVariant) -> dict[str, object]:
    mean, low, high = _bounds(measured.expected)
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
