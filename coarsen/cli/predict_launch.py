"""Output of `coarsen predict` with the launch model: the launch to use, both speed-ups, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict

from coarsen.cli.interval_bars import IntervalBars
from coarsen.cli.output import print_json, print_line, print_table
from coarsen.cli.predict_words import CHOSEN, known_kernel_remark, ratio_text
from coarsen.models.launch.prediction import ExpectedLaunch, LaunchPrediction, Ratio
from coarsen.targets import Target
from coarsen.variant.variant import Variant, shape
from coarsen.variant.variant_json import variant_to_json

_SHOWN = 8
# Effects on the logarithm below this are no reasons.
_NOTICEABLE = 0.005


def print_launch(prediction: LaunchPrediction, target: Target) -> None:
    """Print what is predicted for a kernel on a device."""
    chosen = prediction.chosen
    print_line(f"kernel {prediction.kernel} on {target}: {launch_text(chosen.variant, prediction.own)}")
    print_line(f"Over the launch as it is: {_ratio(chosen.over_own)}")
    print_line(f"Over the best uncoarsened local size: {_ratio(chosen.over_best)}")
    for sentence in _verdict(prediction):
        print_line(sentence)
    print_line()
    _print_launches(prediction)
    for sentence in _remarks(prediction):
        print_line(sentence)


def predicted_text(prediction: LaunchPrediction) -> str:
    """Return in a sentence what was predicted before anything was measured."""
    chosen = prediction.chosen
    what = launch_text(chosen.variant, prediction.own)
    expected = "" if chosen.variant == prediction.own else f": {_ratio(chosen.over_own)}, over the launch as it is"
    return f"Predicted before measuring, among {len(prediction.launches)} launches: {what}{expected}"


def _print_launches(prediction: LaunchPrediction) -> None:
    """Print the most promising launches, the chosen one and the own one among them."""
    shown = _shown(prediction)
    bars = IntervalBars.over([(each.over_best.low, each.over_best.high) for each in shown])
    headings = ["launch", "over own", "over best uncoarsened", "80 % interval", bars.heading, "is faster", ""]
    rows = [
        [
            launch_text(each.variant, prediction.own),
            ratio_text(each.over_own.value),
            ratio_text(each.over_best.value),
            _interval(each.over_best),
            bars.drawn(each.over_best.low, each.over_best.value, each.over_best.high),
            f"{each.chance:.0%}",
            CHOSEN if each is prediction.chosen else "",
        ]
        for each in shown
    ]
    print_table(headings, rows, numbers=["over own", "over best uncoarsened", "is faster"])
    print_line()


def print_launch_as_json(prediction: LaunchPrediction, target: Target) -> None:
    """Print all of it as JSON."""
    print_json(launch_as_data(prediction, target))


def launch_as_data(prediction: LaunchPrediction, target: Target) -> dict[str, object]:
    """Return all of it for JSON; speed-ups are ratios."""
    return {
        "kernel": prediction.kernel,
        "model": "launch",
        "device": {"name": prediction.device, "full_name": target.descriptor.full_name},
        "device_note": prediction.device_note,
        "own_launch": variant_to_json(prediction.own),
        "risk": prediction.risk.value,
        "choice": _as_data(prediction.chosen),
        "choice_text": launch_text(prediction.chosen.variant, prediction.own),
        "choices": {
            risk.value: variant_to_json(prediction.launches[place].variant)
            for risk, place in prediction.choices.items()
        },
        "abstained": prediction.abstained,
        "reason": _reason(prediction),
        "launches": [_as_data(launch) for launch in prediction.launches],
        "influences": [
            {**asdict(influence), "effect": math.exp(influence.effect)} for influence in prediction.influences
        ],
        "nearest": [asdict(neighbour) for neighbour in prediction.nearest],
        "training_kernel": prediction.training_kernel,
        "sizes_are_assumed": prediction.sizes_are_assumed,
        "unknown": list(prediction.unknown),
    }


def launch_text(variant: Variant, own: Variant) -> str:
    """Return a launch in words: its coarsening, and its local size where that is another than the launch's own."""
    coarsened = " and ".join(map(str, variant.coarsenings)) or "uncoarsened"
    wide = ", wide accesses" if variant.transforms.wide_accesses else ""
    wide += ", distinct arguments" if variant.transforms.distinct else ""
    if variant.local_size == own.local_size:
        return f"{coarsened}{wide}" if variant.coarsenings else "the launch as it is"
    return f"{coarsened}{wide}, local size {shape(variant.local_size)}"


def _shown(prediction: LaunchPrediction) -> list[ExpectedLaunch]:
    """The launches of the largest utility, with the chosen one and the own one, in their order."""
    ordered = sorted(prediction.launches, key=lambda launch: -launch.utility)
    kept = [*ordered[:_SHOWN], prediction.chosen, prediction.launches[0]]
    return [launch for launch in ordered if any(launch is each for each in kept)]


def _verdict(prediction: LaunchPrediction) -> Iterator[str]:
    yield _reason(prediction)
    yield from _changes(prediction)
    if prediction.chosen.multiple_of:
        yield f"The global size must be a multiple of {shape(prediction.chosen.multiple_of)} for this launch"
    if prediction.training_kernel is not None:
        yield known_kernel_remark(prediction.training_kernel)
    if prediction.device_note:
        yield f"Caution: {prediction.device_note}"


def _reason(prediction: LaunchPrediction) -> str:
    """Why, in a sentence."""
    best = prediction.most_promising
    if best is None:
        return "Why: nothing of this launch can be coarsened"
    if prediction.abstained:
        near = prediction.nearest[0]
        return (
            "Why: the kernel is too unlike all training kernels to be coarsened unseen (the nearest, "
            f"{near.kernel}, is at a distance of {near.distance:.2f})"
        )
    causes = [each for each in prediction.influences if abs(each.effect) >= _NOTICEABLE]
    moved = ", ".join(f"{each.name} {each.value:.3g} (× {math.exp(each.effect):.2f})" for each in causes)
    because = f"; what moves it most: {moved}" if moved else ""
    if prediction.chosen.variant.is_coarsened:
        chance = f"{prediction.chosen.chance:.0%}"
        return f"Why: it is faster than every uncoarsened local size in {chance} of such cases{because}"
    what = launch_text(best.variant, prediction.own)
    return (
        f"Why: no coarsening is worth the risk; the most promising is {what}: {_ratio(best.over_best)}, over the "
        f"best uncoarsened local size{because}"
    )


def _changes(prediction: LaunchPrediction) -> Iterator[str]:
    """Say what would change the choice."""
    others = {
        risk: prediction.launches[place].variant
        for risk, place in prediction.choices.items()
        if place != prediction.choice
    }
    for risk, variant in others.items():
        yield f"With --risk {risk}: {launch_text(variant, prediction.own)}"
    if prediction.sizes_are_assumed:
        yield "It may change with the sizes: give --global-size, and whole arguments with --size NAME=NUMBER"


def _remarks(prediction: LaunchPrediction) -> Iterator[str]:
    near = ", ".join(f"{each.kernel} ({each.distance:.2f})" for each in prediction.nearest)
    yield f"Nearest training kernels, with their distance: {near}"
    for text in prediction.unknown:
        yield f"Not known: {text}"
    if prediction.sizes_are_assumed:
        yield "No global size was given: speeds are means over a small, a middle and a large one"
    conditional = [launch for launch in prediction.launches if launch.multiple_of]
    if conditional and not prediction.chosen.multiple_of:
        yield "Other local sizes and merged work-groups need global sizes that they divide"


def _ratio(ratio: Ratio) -> str:
    return f"{ratio_text(ratio.value)} expected, in 8 of 10 such cases {_interval(ratio)}"


def _interval(ratio: Ratio) -> str:
    return f"{ratio_text(ratio.low)} to {ratio_text(ratio.high)}"


def _as_data(launch: ExpectedLaunch) -> dict[str, object]:
    return {
        "variant": variant_to_json(launch.variant),
        "multiple_of": list(launch.multiple_of),
        "over_best_uncoarsened": asdict(launch.over_best),
        "over_own": asdict(launch.over_own),
        "chance": launch.chance,
        "utility": launch.utility,
    }
