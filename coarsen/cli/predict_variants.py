"""Output of `coarsen predict` where it measures: the measured variants beside what was expected of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from coarsen.cli.output import print_line, print_table
from coarsen.cli.predict_curve import curve_as_data, expected_text
from coarsen.cli.predict_launch import launch_text
from coarsen.cli.predict_words import CHOSEN, ratio_text
from coarsen.devices.targets import Target
from coarsen.models.launch.expected_improvement import Expected
from coarsen.opencl_bench.measure.speedup import Speedup
from coarsen.opencl_bench.results.paste import paste_of_variant
from coarsen.opencl_bench.sweep.model_prior import HALF_OF_80_PERCENT
from coarsen.opencl_bench.tuning.promising_variants import MeasuredVariant, MeasuredVariants
from coarsen.prediction import KernelPrediction
from coarsen.variant.coarsening import Coarsening
from coarsen.variant.transforms import DeviceKind, Transforms
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_to_json


@dataclass(frozen=True, slots=True)
class MeasuredKernel:
    """A kernel's name and file, and what a model lacks of the device."""

    name: str
    device_note: str
    file: str


def print_measured(
    prediction: KernelPrediction, target: Target, measured: MeasuredVariants, file: str, store: str
) -> None:
    """Print what was measured, what is chosen, and in a line what was predicted.

    Args:
        prediction: the curve along one dimension.
        target: the device.
        measured: the variants.
        file: the kernel's source.
        store: where the rows are.
    """
    print_variants(MeasuredKernel(prediction.kernel, prediction.device_note, file), target, measured)
    print_line(f"Predicted before measuring, along dimension {prediction.dimension}: {expected_text(prediction)}")
    print_line(f"The rows are in {store}")


def print_variants(kernel: MeasuredKernel, target: Target, measured: MeasuredVariants) -> None:
    """Print what was measured, and what is chosen."""
    best = measured.best
    why = ", the best measured" if measured.doubtful is None else ""
    print_line(f"kernel {kernel.name} on {target}: {launch_text(best.variant, measured.own)}{why}")
    for sentence in _verdict(kernel, measured):
        print_line(sentence)
    print_line()
    headings = ["variant", "expected", "80 % interval", "measured (95 % interval)", ""]
    print_table(headings, _rows(measured), numbers=["expected"])
    print_line()
    for line in paste_of_variant(best.variant, kernel.name, kernel.file).lines:
        print_line(line)
    print_line()


def measured_as_data(
    prediction: KernelPrediction, target: Target, measured: MeasuredVariants, store: str
) -> dict[str, object]:
    """Return the same for JSON; speed-ups are ratios over the launch as it is. Arguments as above."""
    return {**curve_as_data(prediction, target), **variants_as_data(measured, store)}


def expected_of_curve(prediction: KernelPrediction, kind: DeviceKind) -> dict[Variant, Expected]:
    """Return what the default model expects of the launch as it is and of each factor that divides its local size.

    Args:
        prediction: the curve along one dimension.
        kind: of the device; decides the transforms.
    """
    size, transforms = prediction.local_size, Transforms(device_kind=kind)
    expected = {Variant(size): Expected(0.0, 0.0)}
    for point in prediction.curve:
        if point.possible:
            variant = Variant(size, (Coarsening(point.factor, prediction.dimension),), transforms=transforms)
            deviation = (point.high - point.low) / (2 * HALF_OF_80_PERCENT)
            expected[variant] = Expected(-point.log_speedup, deviation)
    return expected


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


def _verdict(kernel: MeasuredKernel, measured: MeasuredVariants) -> Iterator[str]:
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
    if kernel.device_note:
        yield f"Caution: {kernel.device_note}"


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
    half = HALF_OF_80_PERCENT * expected.deviation
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
