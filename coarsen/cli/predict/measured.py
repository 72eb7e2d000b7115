"""`coarsen predict`, measured: the launches that the model predicted, its choice first, run on a device."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from coarsen.cli.output import Format, print_json, print_line, print_lines, print_table
from coarsen.cli.predict.options import KernelInput
from coarsen.cli.predict.output import (
    CHOSEN,
    interval_text,
    launch_as_data,
    launch_text,
    predicted_text,
    ratio_text,
)
from coarsen.cli.progress import Tally, watching
from coarsen.cli.results.text import source_file
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import VerificationError
from coarsen.models.launch.expected_improvement import USUAL_TRIALS, Expected
from coarsen.models.launch.prediction import LaunchPrediction
from coarsen.opencl_bench.results.paste import paste_of_variant
from coarsen.opencl_bench.sweep.promising_variants import (
    MeasuredVariant,
    MeasuredVariants,
    measure_promising,
    own_launch,
    planned_rows,
)
from coarsen.targets import Target
from coarsen.tuning.engine.plan import SweepPlan
from coarsen.tuning.measure.speedup import Speedup
from coarsen.tuning.store.database import open_store
from coarsen.tuning.tuned import Decision
from coarsen.variant.variant_json import variant_to_json

if TYPE_CHECKING:
    from coarsen.cli.predict.options import PredictOptions

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
    plan, count = SweepPlan(given.name, device.index, asked.preset), asked.measure or USUAL_TRIALS
    own = own_launch(given.benchmark, asked.preset, asked.local)
    expected = {
        each.variant: Expected(-math.log(each.over_own.value), each.deviation) for each in prediction.launches
    }
    choice = prediction.chosen.variant
    with open_store(asked.store) as store, watching(Tally({plan: planned_rows(count)})) as tally:
        measured = measure_promising(given.benchmark, device, plan, own, count, store, expected, choice, tally)
        location = store.location
    if asked.output_format is Format.JSON:
        predicted = launch_as_data(prediction, target)
        predicted["predicted_choice"] = predicted.pop("choice")
        print_json({**predicted, **variants_as_data(measured, location)})
    else:
        print_variants(prediction.kernel, source_file(given.name), target, measured)
        print_line(predicted_text(prediction))
        print_line(f"The rows are in {location}")
    sys.stdout.flush()
    if measured.wrong:
        wrong = "; ".join(f"{each.variant}: {each.reason}" for each in measured.wrong)
        raise VerificationError(f"wrong results of {prediction.kernel}: {wrong}")


def print_variants(kernel: str, file: str, target: Target, measured: MeasuredVariants) -> None:
    """Print what was measured, and what is chosen."""
    chosen, own = measured.decision.choice, measured.own
    why = ", the best measured" if measured.decision.doubtful is None else ""
    print_line(f"kernel {kernel} on {target}: {launch_text(chosen, own)}{why}")
    print_lines(*_verdict(measured.decision))
    print_line()
    headings = ["variant", "expected", "80 % interval", "measured (95 % interval)", ""]
    first = (launch_text(own, own), "1.00", "", "1.00", CHOSEN if chosen == own else "")
    print_table(headings, [first, *(_row(each, measured) for each in measured.variants)], numbers=["expected"])
    print_line()
    print_lines(*paste_of_variant(chosen, kernel, file).lines)
    print_line()


def variants_as_data(measured: MeasuredVariants, store: str) -> dict[str, object]:
    """Return what was measured for JSON."""
    decision = measured.decision
    return {
        "own_launch": variant_to_json(measured.own),
        "measured": [_variant_as_data(each) for each in measured.variants],
        "choice": variant_to_json(decision.choice),
        "choice_text": launch_text(decision.choice, measured.own),
        "speedup": _speedup_as_data(decision.speedup),
        "speedup_over_uncoarsened": _speedup_as_data(decision.over_uncoarsened),
        "store": store,
    }


def _verdict(decision: Decision) -> Iterator[str]:
    if decision.doubtful is not None:
        yield f"As it is: {decision.doubtful.doubt}"
    elif not decision.processes:
        yield "None of the measured variants is faster than the launch as it is"
    else:
        times = "in one process" if decision.processes == 1 else f"in {decision.processes} new processes"
        yield f"Measured speed-up over the launch as it is: {_interval(decision.speedup)}, {times}"
        if not decision.speedup.is_narrow:
            yield "Its interval is wide, since the machine is busy: how much it gains isn't known better"
    if decision.over_uncoarsened is not None:
        yield f"Over the fastest local size measured uncoarsened: {_interval(decision.over_uncoarsened)}"


def _row(each: MeasuredVariant, measured: MeasuredVariants) -> Sequence[str]:
    mark = CHOSEN if each.variant == measured.decision.choice else ""
    return launch_text(each.variant, measured.own), *_expectation(each.expected), _result(each), mark


def _expectation(expected: Expected) -> tuple[str, str]:
    mean, low, high = (math.exp(value) for value in _bounds(expected))
    return ratio_text(mean), interval_text(low, high)


def _bounds(expected: Expected) -> tuple[float, float, float]:
    """The expected logarithm of the speed-up, and its 80 % interval."""
    half = _HALF_OF_80_PERCENT * expected.deviation
    return -expected.mean, -expected.mean - half, -expected.mean + half


def _result(measured: MeasuredVariant) -> str:
    if measured.speedup is None:
        return f"{measured.invalidity.value}: {measured.reason}"
    return _interval(measured.speedup)


def _interval(gain: Speedup) -> str:
    return f"{ratio_text(gain.ratio)} ({interval_text(gain.low, gain.high)})"


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
