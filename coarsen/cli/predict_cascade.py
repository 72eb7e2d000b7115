"""Output of `coarsen predict --model cascade`: each step's answer, and what moved the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.cli.predict_words import known_kernel_remark
from coarsen.models import Contribution, Prediction, Step

# Effects on the probability below this would be printed as 0.00.
_NOTICEABLE = 0.005


def print_cascade(
    kernel: str, dimension: int, prediction: Prediction, card: Mapping[str, object], output_format: Format
) -> None:
    """Print the prediction for a kernel along a dimension; `card` is the model's."""
    believe = held_out_text(card.get("evaluation"))
    if output_format is Format.JSON:
        print_json({"kernel": kernel, "dimension": dimension, **asdict(prediction), "held_out": believe})
        return
    print_line(f"kernel {kernel} on {prediction.model}, along dimension {dimension}: factor {prediction.factor}")
    if prediction.training_kernel is not None:
        print_line(known_kernel_remark(prediction.training_kernel))
    if believe:
        print_line(f"How far to believe it: {believe}")
    print_line()
    headings = ["at factor", "coarsen further?", "probability", "examples"]
    print_table(headings, map(_row, prediction.steps), numbers=("at factor", "probability", "examples"))
    print_line()
    for sentence in _reasons(prediction):
        print_line(sentence)


def held_out_text(evaluation: object) -> str:
    """Say for how many kernels that were left out of training a cascade and simpler rules find the best factor.

    Args:
        evaluation: that of a model card, which may come from elsewhere.

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
    if "cascade" not in found or "never" not in found:
        return ""
    own, never = found["cascade"], found["never"]
    others = [f"never coarsening is right for {never:.3g}"]
    others += [f"what the paper predicted for {found['published']:.3g}"] if "published" in found else []
    than = "no better" if own <= never else "better"
    return (
        f"for kernels left out of its training it finds the best factor of {own:.3g} of {kernels}, "
        f"{' and '.join(others)}; so it is {than} than leaving kernels as they are"
    )


def _row(step: Step) -> Sequence[str]:
    answer = "yes" if step.coarsen_further else "no"
    return str(step.factor), answer, f"{step.probability:.2f}", str(step.examples)


def _reasons(prediction: Prediction) -> list[str]:
    last = prediction.steps[-1]
    reasons = prediction.reasons()
    if not reasons:
        few = "the kernels that it learned from leave no choice, so it is the same for all kernels"
        return [f"Why the answer at factor {last.factor}: {few}."]
    return [f"What moved the answer at factor {last.factor} most:", *map(_reason, reasons)]


def _reason(contribution: Contribution) -> str:
    name = contribution.feature.replace("_", " ")
    direction = "for" if contribution.effect > 0 else "against"
    effect = f"{contribution.effect:+.2f}" if abs(contribution.effect) >= _NOTICEABLE else "less than 0.01"
    return f"  {name} {contribution.value:.4g}: {direction} coarsening further ({effect})"
