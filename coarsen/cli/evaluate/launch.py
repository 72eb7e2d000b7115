"""`coarsen evaluate --launch`: how good the launch model is, over the best uncoarsened local size."""

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
from coarsen.models.launch.evaluation import (
    LaunchOutcome,
    LaunchScore,
    launch_scores,
)

if TYPE_CHECKING:
    from coarsen.cli.evaluate.options import EvaluateOptions
    from coarsen.models.launch.case import LaunchCase
    from coarsen.models.launch.evaluation import Judgement
    from coarsen.models.launch.model import LaunchModel


FAMILIES = "families held out"
_SEED = 0  # of the trees


def evaluate_launches(asked: EvaluateOptions) -> None:
    """Evaluate the launch model, and print the scores.

    Without `--training` and `--models` the kernels of the data are judged by what was learned from other families
    among them, else all of them by what was learned from the training files, or by the model of the folder.

    Raises:
        InvalidInputError: options that exclude each other; data that can't be read, or is too little.
    """
    judgements = _judgements(asked)
    if asked.output_format is Format.JSON:
        print_json({name: judgement_as_data(judgement) for name, judgement in judgements.items()})
        return
    for name, judgement in judgements.items():
        print_line(f"# {name}")
        print_line()
        print_judgement(judgement)


def _judgements(asked: EvaluateOptions) -> Mapping[str, Judgement]:
    if asked.training or asked.models:
        if asked.training and asked.models:
            raise InvalidInputError("--training and --models FOLDER exclude each other with --launch")
        return {"unseen kernels": _unseen(asked)}
    # Imported late: they load scikit-learn.
    from coarsen.models.launch.evaluation import judge_nested
    from coarsen.models.launch.settling import family_folds
    from coarsen.models.launch.training import TreeSettings, judged, split

    fitted_on, held_out = split(read_cases(asked.data, asked.kernels))
    if not held_out:
        raise InvalidInputError(
            "nothing can be judged: the data has no kernel that ran at several local sizes uncoarsened"
        )
    folds = family_folds(fitted_on, held_out)
    judgement = judge_nested(list(judged(folds, TreeSettings(), _SEED, note)))
    calibration = only_calibration(judgement)
    found = {FAMILIES: judgement, f"{FAMILIES}, the calibration set": calibration}
    return {name: each for name, each in found.items() if each}


def _unseen(asked: EvaluateOptions) -> Judgement:
    from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
    from coarsen.models.launch.device import launch_device
    from coarsen.models.launch.evaluation import ask, judge
    from coarsen.models.launch.training import TreeSettings, split, train_launch
    from coarsen.prediction import launch_model

    if asked.models is not None:
        model = launch_model(asked.models)
    else:
        fitted_on, settled_on = split(read_cases(asked.training or (), asked.kernels))
        model = train_launch(fitted_on, settled_on, TreeSettings(), _SEED, note).model
    cases = _unknown_to(model, read_cases(asked.data, asked.kernels, learned=False))
    if not cases:
        raise InvalidInputError(
            "the data has no launch of a kernel that the model didn't learn from, beside an uncoarsened one"
        )
    return judge([ask(model, case, launch_device(DEVICE_DESCRIPTORS[case.device])) for case in cases])


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
