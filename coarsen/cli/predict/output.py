"""Output of `coarsen predict`: the launch model's launch and its speed-ups, or the cascade's steps; and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from coarsen.cli.messages import note
from coarsen.cli.output import Format, picked, print_json, print_line, print_lines, print_records
from coarsen.models.launch import Risk
from coarsen.variant.variant import Variant, shape

if TYPE_CHECKING:
    # Each of the two models does without the other.
    from coarsen.models import Contribution, Prediction, Step
    from coarsen.models.launch.prediction import ExpectedLaunch, Fared, LaunchPrediction, Ratio
    from coarsen.targets import Target

CHOSEN = "◀ chosen"
_SHOWN = 8
# Effects on the logarithm of a speed-up, or on a probability, below this are nearly none.
_NOTICEABLE = 0.005


def say_whose(place: Path | None, named: Path | None) -> None:
    """Say that a model is the user's own, where nobody named its folder."""
    if place is not None and named is None:
        note(f"by the model that you trained, in {place}; --shipped takes that of the package")


def known_kernel_remark(name: str) -> str:
    """Say that a kernel is among those that a model learned from."""
    return f"{name} is one of the model's training kernels, so this is not an independent prediction"


def ratio_text(value: float) -> str:
    """Write a speed-up to three digits: measurements are no more precise."""
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def interval_text(low: float, high: float) -> str:
    """Write an interval of speed-ups, to three digits."""
    return f"{ratio_text(low)} to {ratio_text(high)}"


def print_launch(prediction: LaunchPrediction, target: Target) -> None:
    """Print what is predicted for a kernel on a device."""
    chosen = prediction.chosen
    print_line(f"kernel {prediction.kernel} on {target}: {launch_text(chosen.variant, prediction.own)}")
    print_line(f"Over the launch as it is: {_ratio(chosen.over_own)}")
    print_line(f"Over the best uncoarsened local size: {_ratio(chosen.over_best)}")
    print_lines(*_verdict(prediction))
    print_line()
    _print_launches(prediction)
    print_lines(*_remarks(prediction))


def predicted_text(prediction: LaunchPrediction) -> str:
    """Return in a sentence what was predicted before anything was measured."""
    chosen = prediction.chosen
    what = launch_text(chosen.variant, prediction.own)
    expected = "" if chosen.variant == prediction.own else f": {_ratio(chosen.over_own)}, over the launch as it is"
    return f"Predicted before measuring, among {len(prediction.launches)} launches: {what}{expected}"


def _print_launches(prediction: LaunchPrediction) -> None:
    """Print the most promising launches, the chosen one and the own one among them."""
    shown = _shown(prediction)
    columns: Mapping[str, Callable[[ExpectedLaunch], str]] = {
        "launch": lambda each: launch_text(each.variant, prediction.own),
        "over own": lambda each: ratio_text(each.over_own.value),
        "over best uncoarsened": lambda each: ratio_text(each.over_best.value),
        "80 % interval": lambda each: interval_text(each.over_best.low, each.over_best.high),
        "is faster": lambda each: f"{each.chance:.0%}",
        "": lambda each: CHOSEN if each is prediction.chosen else "",
    }
    print_records(shown, columns, numbers=["over own", "over best uncoarsened", "is faster"])
    print_line()


def launch_as_data(prediction: LaunchPrediction, target: Target) -> dict[str, object]:
    """Return all of it for JSON; speed-ups are ratios."""
    # Imported late, here and below: a table does without.
    from coarsen.variant.variant_json import variant_to_json

    return {
        "kernel": prediction.kernel,
        "model": "launch",
        "device": {"name": prediction.device, "full_name": target.descriptor.full_name},
        "own_launch": variant_to_json(prediction.own),
        "risk": prediction.risk.value,
        **picked(prediction, "factor dimension"),
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
        **picked(prediction, "training_kernel sizes_are_assumed unknown has_loops"),
        "fared": asdict(prediction.fared) if prediction.fared else None,
    }


def launch_text(variant: Variant, own: Variant) -> str:
    """Return a launch in words: its coarsening, and its local size where that is another than the launch's own."""
    coarsened = " and ".join(map(str, variant.coarsenings)) or "uncoarsened"
    wide = "".join(f", {word}" for word in variant.transforms.words)
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
    if prediction.fared is not None:
        yield _fared_text(prediction.fared)


def _fared_text(fared: Fared) -> str:
    return (
        f"How such predictions fared, on {fared.cases} cases of families left out of training: "
        f"{ratio_text(fared.gain)} over the best uncoarsened local size, where the best launch gives "
        f"{ratio_text(fared.best)}; {fared.losses:.0%} ran at less than 0.95 of it"
    )


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
    if prediction.has_loops:
        yield "Left out: tiles inside of loops (--tile), whose gain isn't predicted; coarsen tune tries them"
    if prediction.sizes_are_assumed:
        yield "No global size was given: speeds are means over a small, a middle and a large one"
    conditional = [launch for launch in prediction.launches if launch.multiple_of]
    if conditional and not prediction.chosen.multiple_of:
        yield "Other local sizes and merged work-groups need global sizes that they divide"


def _ratio(ratio: Ratio) -> str:
    return f"{ratio_text(ratio.value)} expected, in 8 of 10 such cases {interval_text(ratio.low, ratio.high)}"


def _as_data(launch: ExpectedLaunch) -> dict[str, object]:
    from coarsen.variant.variant_json import variant_to_json

    return {
        "variant": variant_to_json(launch.variant),
        "multiple_of": list(launch.multiple_of),
        "over_best_uncoarsened": asdict(launch.over_best),
        **picked(launch, "over_own chance utility"),
    }


def print_cascade(
    kernel: str,
    dimension: int,
    prediction: Prediction,
    risk: Risk | None,
    card: Mapping[str, object],
    output_format: Format,
) -> None:
    """Print the prediction for a kernel along a dimension; `card` is the model's."""
    is_cautious, doubtful = risk is Risk.CAUTIOUS, prediction.doubtful
    if is_cautious:
        prediction = prediction.cautiously()
    believe = held_out_text(card.get("evaluation"), "cautious" if is_cautious else "cascade")
    if output_format is Format.JSON:
        named = {"kernel": kernel, "dimension": dimension, "risk": (risk or Risk.NEUTRAL).value}
        print_json({**named, **asdict(prediction), "held_out": believe})
        return
    print_line(f"kernel {kernel} on {prediction.model}, along dimension {dimension}: factor {prediction.factor}")
    if prediction.training_kernel is not None:
        print_line(known_kernel_remark(prediction.training_kernel))
    if believe:
        print_line(f"How far to believe it: {believe}")
    if doubtful is not None:
        at = f"the step at factor {doubtful.factor} has the probability {doubtful.probability:.2f}"
        print_line(
            f"It is doubtful: {at}{'' if prediction.factor == 1 else '; with --risk cautious the factor is 1'}"
        )
    print_line()
    print_records(prediction.steps, _STEP_COLUMNS, numbers=("at factor", "probability", "examples"))
    print_line()
    print_lines(*_step_reasons(prediction))


def held_out_text(evaluation: object, method: str = "cascade") -> str:
    """Say for how many kernels that were left out of training a cascade and simpler rules find the best factor.

    Args:
        evaluation: that of a model card, which may come from elsewhere.
        method: of the evaluation, `cascade` or `cautious`.

    Returns:
        A sentence without its full stop; nothing where the card does not say.
    """
    scores = evaluation.get("scores") if isinstance(evaluation, Mapping) else None
    found: dict[str, float] = {}
    kernels = 0
    for name, score in scores.items() if isinstance(scores, Mapping) else ():
        exact, count = (score.get("exact"), score.get("kernels")) if isinstance(score, Mapping) else (None, None)
        if isinstance(exact, int | float) and isinstance(count, int):
            found[name], kernels = exact, count
    if method not in found or "never" not in found:
        return ""
    own, never = found[method], found["never"]
    others = [f"{word} {found[name]:.3g}" for name, word in _SIMPLER.items() if name in found]
    than = "no better" if own <= never else "better"
    return (
        f"for kernels left out of its training it finds the best factor of {own:.3g} of {kernels}; "
        f"{', '.join(others)}; so it is {than} than leaving kernels as they are"
    )


# What a cascade is compared with.
_SIMPLER = MappingProxyType(
    {
        "never": "never coarsening finds",
        "unique": "one factor for all kernels",
        "published": "the paper's own prediction",
    }
)


_STEP_COLUMNS: Mapping[str, Callable[[Step], str]] = MappingProxyType(
    {
        "at factor": lambda step: str(step.factor),
        "coarsen further?": lambda step: "yes" if step.coarsen_further else "no",
        "probability": lambda step: f"{step.probability:.2f}",
        "examples": lambda step: str(step.examples),
    }
)


def _step_reasons(prediction: Prediction) -> list[str]:
    last = prediction.steps[-1]
    reasons = prediction.reasons()
    if not reasons:
        few = "the kernels that it learned from leave no choice, so it is the same for all kernels"
        return [f"Why the answer at factor {last.factor}: {few}."]
    return [f"What moved the answer at factor {last.factor} most:", *map(_contribution_text, reasons)]


def _contribution_text(contribution: Contribution) -> str:
    name = contribution.feature.replace("_", " ")
    direction = "for" if contribution.effect > 0 else "against"
    effect = f"{contribution.effect:+.2f}" if abs(contribution.effect) >= _NOTICEABLE else "less than 0.01"
    return f"  {name} {contribution.value:.4g}: {direction} coarsening further ({effect})"
