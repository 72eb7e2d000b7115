"""Output of `coarsen predict --model cascade`: each step's answer, and what moved the last one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from coarsen.cli.output import Format, print_json, print_line, print_table
from coarsen.cli.predict_words import known_kernel_remark
from coarsen.models import Contribution, Prediction, Step

# Effects on the probability below this would be printed as 0.00.
_NOTICEABLE = 0.005


def print_cascade(kernel: str, dimension: int, prediction: Prediction, output_format: Format) -> None:
    """Print the prediction for a kernel along a dimension."""
    if output_format is Format.JSON:
        print_json({"kernel": kernel, "dimension": dimension, **asdict(prediction)})
        return
    print_line(f"kernel {kernel} on {prediction.model}, along dimension {dimension}: factor {prediction.factor}")
    if prediction.training_kernel is not None:
        print_line(known_kernel_remark(prediction.training_kernel))
    print_line()
    headings = ["at factor", "coarsen further?", "probability", "learned from"]
    print_table(headings, map(_row, prediction.steps), numbers=("at factor", "probability"))
    print_line()
    for sentence in _reasons(prediction):
        print_line(sentence)


def _row(step: Step) -> Sequence[str]:
    answer = "yes" if step.coarsen_further else "no"
    return str(step.factor), answer, f"{step.probability:.2f}", f"{step.examples} samples"


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
