"""`coarsen predict`, measured: the launches that the model predicted, its choice first, run on a device."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from coarsen.cli.bench.progress import watching
from coarsen.cli.output import print_line, print_table
from coarsen.cli.predict.input import DescribedInput, LocalSize
from coarsen.cli.predict.output import CHOSEN, launch_text, ratio_text
from coarsen.devices.discovery import DeviceDescription
from coarsen.errors import InvalidInputError, VerificationError
from coarsen.models.launch.expected_improvement import Expected
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
from coarsen.variant.variant import Variant
from coarsen.variant.variant_json import variant_to_json

# Half of an 80 % interval of a normal distribution, in standard deviations.
_HALF_OF_80_PERCENT = 1.2816


def measure_launch(
    described: DescribedInput,
    device: DeviceDescription,
    local_size: LocalSize | None,
    preset: str,
    count: int,
    expected: Mapping[Variant, Expected],
    choice: Variant,
    store_url: str | None,
) -> tuple[MeasuredVariants, str]:
    """Measure a launch as it is and the `count` most promising of the variants that were predicted.

    Args:
        described: the kernel with its inputs.
        device: where it runs.
        local_size: as it was asked for; the description's if None.
        preset: the sizes.
        count: how many variants, at most.
        expected: what is expected of each of the variants.
        choice: the predicted one, which is measured first.
        store_url: of the store, as `--store` takes it.

    Returns:
        What was measured, and where the rows are.

    Raises:
        InvalidInputError: the benchmark can't be launched so; the store can't be used.
        DeviceError: the device failed.
        VerificationError: the uncoarsened kernel's results are wrong.
    """
    benchmark, plan = described.benchmark, SweepPlan(described.name, device.index, preset)
    own = own_launch(benchmark, preset, local_size)
    with open_store(store_url) as store, watching({plan: planned_rows(count)}) as tally:
        measured = measure_promising(benchmark, device, plan, own, count, store, expected, choice, tally)
        return measured, store.location


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
    chosen, own = measured.decision.choice, measured.own
    why = ", the best measured" if measured.decision.doubtful is None else ""
    print_line(f"kernel {kernel} on {target}: {launch_text(chosen, own)}{why}")
    for sentence in _verdict(measured.decision):
        print_line(sentence)
    print_line()
    headings = ["variant", "expected", "80 % interval", "measured (95 % interval)", ""]
    first = (launch_text(own, own), "1.00", "", "1.00", CHOSEN if chosen == own else "")
    print_table(headings, [first, *(_row(each, measured) for each in measured.variants)], numbers=["expected"])
    print_line()
    for line in paste_of_variant(chosen, kernel, file).lines:
        print_line(line)
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
    if decision.over_uncoarsened is not None:
        yield f"Over the fastest local size measured uncoarsened: {_interval(decision.over_uncoarsened)}"


def _row(each: MeasuredVariant, measured: MeasuredVariants) -> Sequence[str]:
    mark = CHOSEN if each.variant == measured.decision.choice else ""
    return launch_text(each.variant, measured.own), *_expectation(each.expected), _result(each), mark


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
