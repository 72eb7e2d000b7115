"""`coarsen evaluate --launch`: how good a launch model is, over the best uncoarsened local size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from coarsen.cli.messages import note
from coarsen.cli.output import Format, counted, print_json, print_line, print_records
from coarsen.errors import InvalidInputError
from coarsen.models.held_out import is_calibration
from coarsen.models.launch.evaluation import LaunchOutcome, LaunchScore, launch_scores

if TYPE_CHECKING:
    from coarsen.cli.evaluate.options import EvaluateOptions
    from coarsen.models.launch.case import LaunchCase
    from coarsen.models.launch.evaluation import Judgement
    from coarsen.models.launch.model import LaunchModel


def evaluate_launches(asked: EvaluateOptions) -> None:
    """Evaluate a launch model on the kernels of the data that it didn't learn from, and print the scores.

    Raises:
        InvalidInputError: data that can't be read, or has no such kernel.
    """
    from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
    from coarsen.models.launch.device import launch_device
    from coarsen.models.launch.evaluation import ask, judge
    from coarsen.prediction import launch_model
    from coarsen.user_models import launch_model_folder

    model = launch_model(launch_model_folder(asked.models))
    cases = _unknown_to(model, read_cases(asked.data, asked.kernels, learned=False))
    if not cases:
        raise InvalidInputError(
            "the data has no launch of a kernel that the model didn't learn from, beside an uncoarsened one"
        )
    judgement = judge([ask(model, case, launch_device(DEVICE_DESCRIPTORS[case.device])) for case in cases])
    if asked.output_format is Format.JSON:
        print_json(judgement_as_data(judgement))
    else:
        print_judgement(judgement)


def _unknown_to(model: LaunchModel, cases: Sequence[LaunchCase]) -> list[LaunchCase]:
    """The cases of kernels that the model didn't learn from; says how many others there are."""
    learned = set(model.neighbourhood.kernels)
    left = [case for case in cases if case.kernel not in learned and not is_calibration(case.kernel)]
    if len(left) < len(cases):
        note(f"left out: {counted(len(cases) - len(left), 'case')} of kernels that the model learned from")
    return left


def read_cases(sources: Sequence[str], kernels: Path | None, *, learned: bool = True) -> tuple[LaunchCase, ...]:
    """Return the cases of files, that something is learned from or not, and say what was left out.

    Raises:
        InvalidInputError: a file can't be read; a kernel is unknown, or one of the second judge.
    """
    from coarsen.base.processes import processors
    from coarsen.opencl_bench.results.launch_cases import read_launch_cases

    note(f"planning the launches of {counted(len(sources), 'file')}")
    found = read_launch_cases(sources, kernels, processors(), learned=learned)
    for text in found.notes:
        note(text)
    return found.cases


def only_calibration(judgement: Judgement) -> Judgement:
    """Return the outcomes of the calibration set."""
    return tuple(outcome for outcome in judgement if is_calibration(outcome.case.kernel))


# Scores: a table of entrants for each device.

_COLUMNS: Mapping[str, Callable[[tuple[str, LaunchScore]], str]] = MappingProxyType(
    {
        "entrant": lambda each: each[0],
        "cases": lambda each: str(each[1].cases),
        "over best uncoarsened": lambda each: f"{each[1].geometric_mean:.3f}",
        "over own": lambda each: f"{each[1].over_own:.3f}",
        "of oracle": lambda each: f"{each[1].share_of_oracle:.1%}",
        "95 %": lambda each: f"{each[1].interval.low:.3f} to {each[1].interval.high:.3f}",
        "<0.95": lambda each: f"{each[1].losses:.0%}",
        "worst": lambda each: f"{each[1].worst:.2f} {each[1].worst_case}",
    }
)


def print_judgement(judgement: Judgement) -> None:
    """Print the scores of all entrants on each device."""
    for device, outcomes in by_device(judgement).items():
        print_line(f"{device}:")
        print_records(launch_scores(outcomes).items(), _COLUMNS, numbers=[*_COLUMNS][1:5])
        print_line()


def judgement_as_data(judgement: Judgement) -> dict[str, object]:
    """Return the scores for JSON, by device and entrant."""
    return {
        "devices": {
            device: {"entrants": {name: asdict(score) for name, score in launch_scores(outcomes).items()}}
            for device, outcomes in by_device(judgement).items()
        }
    }


def by_device(judgement: Judgement) -> Mapping[str, list[LaunchOutcome]]:
    """Return the outcomes on each device, in the order of the data."""
    found: dict[str, list[LaunchOutcome]] = {}
    for outcome in judgement:
        found.setdefault(outcome.case.device, []).append(outcome)
    return found
