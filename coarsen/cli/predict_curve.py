"""Output of `coarsen predict` with the default model: the factor, the curve, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from coarsen.cli.interval_bars import IntervalBars
from coarsen.cli.output import print_json, print_line, print_table
from coarsen.cli.predict_words import CHOSEN, known_kernel_remark, ratio_text
from coarsen.devices.targets import Target
from coarsen.models.default import Influence
from coarsen.models.default.prediction import FactorPrediction
from coarsen.prediction import KernelPrediction

# Effects on the log speed-up below this are printed as a factor of 1.00.
_NOTICEABLE = 0.005


def print_curve(prediction: KernelPrediction, target: Target) -> None:
    """Print what is predicted for a kernel on a device."""
    print_line(f"{_what_is_predicted(prediction, target)}: factor {prediction.factor}")
    for sentence in _verdict(prediction):
        print_line(sentence)
    print_line()
    bars = IntervalBars.over([(math.exp(point.low), math.exp(point.high)) for point in prediction.curve])
    headings = ["factor", "speed-up", "80 % interval", bars.heading, "next helps", ""]
    numbers = ["factor", "speed-up", "next helps"]
    print_table(headings, _rows(prediction, bars), numbers=numbers)
    print_line()
    _print_why(prediction)
    _print_neighbours(prediction)
    for sentence in _remarks(prediction):
        print_line(sentence)


def expected_text(prediction: KernelPrediction) -> str:
    """Return the predicted factor, and what is expected of it."""
    chosen = next((point for point in prediction.curve if point.factor == prediction.factor), None)
    expected = "" if chosen is None else f": {ratio_text(chosen.speedup)} expected, {_interval(chosen)}"
    return f"factor {prediction.factor}{expected}"


def print_curve_as_json(prediction: KernelPrediction, target: Target) -> None:
    """Print all of it as JSON."""
    print_json(curve_as_data(prediction, target))


def curve_as_data(prediction: KernelPrediction, target: Target) -> dict[str, object]:
    """Return all of it for JSON; speed-ups and effects are ratios."""
    steps = {str(step): chance for step, chance in prediction.step_probability.items()}
    return {
        "kernel": prediction.kernel,
        "dimension": prediction.dimension,
        "local_size": list(prediction.local_size),
        "local_size_is_assumed": prediction.local_size_is_assumed,
        "device": {"name": prediction.device, "full_name": target.descriptor.full_name},
        "device_note": prediction.device_note,
        "model": prediction.model,
        "factor": prediction.factor,
        "abstained": prediction.abstained,
        "reason": prediction.reason,
        "curve": [_point_as_data(point) for point in prediction.curve],
        "step_probability": steps,
        "explained_factor": prediction.explained_factor,
        "influences": [_influence_as_data(influence) for influence in prediction.influences],
        "nearest": [{"kernel": near.kernel, "distance": near.distance} for near in prediction.nearest],
        "training_kernel": prediction.training_kernel,
        "limit": prediction.limit if math.isfinite(prediction.limit) else None,
        "aversion": prediction.aversion,
    }


def _what_is_predicted(prediction: KernelPrediction, target: Target) -> str:
    """Name the kernel, the device and the launch."""
    size = "×".join(map(str, prediction.local_size))
    launch = f"along dimension {prediction.dimension}, local size {size}"
    assumed = " (assumed)" if prediction.local_size_is_assumed else ""
    return f"kernel {prediction.kernel} on {target}, {launch}{assumed}"


def _verdict(prediction: KernelPrediction) -> Iterator[str]:
    """The answer in words, most important first."""
    chosen = next((point for point in prediction.curve if point.factor == prediction.factor), None)
    if not any(point.possible for point in prediction.curve):
        yield f"{_why_none(prediction)}, so the kernel stays as it is"
    elif prediction.abstained:
        yield f"The model abstains, so the kernel stays as it is: {prediction.reason}"
    elif chosen is None:
        yield f"No factor is worth the risk, so the kernel stays as it is; {_most_promising(prediction)}"
    else:
        yield f"Expected speed-up {ratio_text(chosen.speedup)}; in 8 of 10 such cases {_interval(chosen)}"
    if prediction.training_kernel is not None:
        yield known_kernel_remark(prediction.training_kernel)
    if prediction.device_note:
        yield f"Caution: {prediction.device_note}"


def _why_none(prediction: KernelPrediction) -> str:
    """Say why no factor is possible: an assumed local size is 1 along dimensions that the kernel doesn't use."""
    if prediction.local_size_is_assumed:
        return f"The kernel does not tell its work-items apart along dimension {prediction.dimension}"
    return "No factor divides the local size along this dimension"


def _most_promising(prediction: KernelPrediction) -> str:
    point = next(point for point in prediction.curve if point.factor == prediction.explained_factor)
    expected = f"{ratio_text(point.speedup)} expected, in 8 of 10 such cases {_interval(point)}"
    return f"the most promising is factor {point.factor}: {expected}"


def _rows(prediction: KernelPrediction, bars: IntervalBars) -> Iterator[Sequence[str]]:
    chances = {step: f"{chance:.0%}" for step, chance in prediction.step_probability.items()}
    yield "1", "1.00", "", bars.drawn(1.0, 1.0, 1.0), chances.get(1, ""), _mark(1, prediction.factor)
    for point in prediction.curve:
        bar = bars.drawn(math.exp(point.low), point.speedup, math.exp(point.high))
        chance = chances.get(point.factor, "")
        mark = _mark(point.factor, prediction.factor) if point.possible else "can't divide"
        yield str(point.factor), ratio_text(point.speedup), _interval(point), bar, chance, mark


def _mark(factor: int, chosen: int) -> str:
    return CHOSEN if factor == chosen else ""


def _interval(point: FactorPrediction) -> str:
    return f"{ratio_text(math.exp(point.low))} to {ratio_text(math.exp(point.high))}"


def _print_why(prediction: KernelPrediction) -> None:
    factor, strongest = prediction.explained_factor, prediction.reasons(1)
    if not strongest or abs(strongest[0].effect) < _NOTICEABLE:
        print_line("Why: no feature moved it; on this device the model expects about the same of every kernel")
        print_line()
        return
    print_line(f"Why: what moved the speed-up at factor {factor} most, compared with a median kernel")
    headings = ["feature", "value", f"at factor {factor}", "effect"]
    print_table(headings, map(_reason, prediction.reasons()), numbers=headings[1:])
    print_line()


def _reason(influence: Influence) -> Sequence[str]:
    name = influence.feature.replace("_", " ")
    return (
        name,
        f"{influence.value:.4g}",
        f"{influence.value_at_factor:.4g}",
        f"× {math.exp(influence.effect):.2f}",
    )


def _print_neighbours(prediction: KernelPrediction) -> None:
    near = ", ".join(f"{each.kernel} ({each.distance:.2f})" for each in prediction.nearest)
    bound = f"; it abstains beyond {prediction.limit:.2f}" if math.isfinite(prediction.limit) else ""
    print_line(f"Nearest training kernels, with their distance: {near}{bound}")


def _remarks(prediction: KernelPrediction) -> Iterator[str]:
    if prediction.local_size_is_assumed:
        yield "The launch's local size is not known: give it with --local-size"
    yield f"A loss counts {1 + prediction.aversion:g} times as much as a gain of the same size"


def _point_as_data(point: FactorPrediction) -> dict[str, object]:
    return {
        "factor": point.factor,
        "speedup": point.speedup,
        "low": math.exp(point.low),
        "high": math.exp(point.high),
        "utility": point.utility,
        "possible": point.possible,
    }


def _influence_as_data(influence: Influence) -> dict[str, object]:
    return {
        "feature": influence.feature,
        "value": influence.value,
        "value_at_factor": influence.value_at_factor,
        "effect": math.exp(influence.effect),
    }
