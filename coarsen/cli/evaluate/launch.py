"""`coarsen evaluate --launch`: how good the launch model is, over the best uncoarsened local size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coarsen.cli.evaluate.launch_text import judgement_as_data, print_judgement
from coarsen.cli.messages import note
from coarsen.cli.output import Format, print_json, print_line
from coarsen.cli.train.launch import read_cases
from coarsen.errors import InvalidInputError
from coarsen.models.held_out import is_calibration
from coarsen.models.launch.evaluation import Judgement

FAMILIES = "families held out"


@dataclass(frozen=True)
class LaunchEvaluation:
    """The request for an evaluation.

    Attributes:
        data: files or stores. Without `training` their kernels are judged by what was learned from other
            families among them; with it, what is judged, each file a run of its own.
        training: what is learned from, calibration set included.
        models: the folder of the model that is judged on `data`, in place of one that is fitted.
        kernels: where kernels are described that are not the suite's.
        without_sizes: whether the model is not told sizes and arguments of what is judged.
    """

    data: tuple[str, ...]
    training: tuple[str, ...] = ()
    models: Path | None = None
    kernels: Path | None = None
    without_sizes: bool = False


def evaluate_launches(wanted: LaunchEvaluation, output_format: Format) -> None:
    """Evaluate, and print the scores.

    Raises:
        InvalidInputError: options that exclude each other; data that can't be read, or is too little.
    """
    judgements = _judgements(wanted)
    if output_format is Format.JSON:
        print_json({name: judgement_as_data(judgement) for name, judgement in judgements.items()})
        return
    for name, judgement in judgements.items():
        print_line(f"# {name}")
        print_line()
        print_judgement(judgement)


def _judgements(wanted: LaunchEvaluation) -> Mapping[str, Judgement]:
    if wanted.training or wanted.models:
        if wanted.training and wanted.models:
            raise InvalidInputError("--training and --models FOLDER exclude each other with --launch")
        return {"unseen kernels": _unseen(wanted)}
    if wanted.without_sizes:
        raise InvalidInputError(
            "--without-sizes is for kernels that are not learned from: give --models or --training"
        )
    # Imported late: they load scikit-learn.
    from coarsen.models.launch.evaluation import judge_nested
    from coarsen.models.launch.settling import family_folds
    from coarsen.models.launch.training import TreeSettings, judged, split

    fitted_on, held_out = split(read_cases(wanted.data, wanted.kernels))
    if not held_out:
        raise InvalidInputError(
            "nothing can be judged: the data has no kernel that ran at several local sizes uncoarsened"
        )
    folds = family_folds(fitted_on, held_out)
    judgement = judge_nested(list(judged(folds, TreeSettings(), 0, note)))
    calibration = judgement.only(is_calibration)
    found = {FAMILIES: judgement, f"{FAMILIES}, the calibration set": calibration}
    return {name: each for name, each in found.items() if each.outcomes}


def _unseen(wanted: LaunchEvaluation) -> Judgement:
    from coarsen.base.processes import processors
    from coarsen.launch_prediction import launch_model
    from coarsen.models.device_descriptors import DEVICE_DESCRIPTORS
    from coarsen.models.launch.device import launch_device
    from coarsen.models.launch.evaluation import ask, judge
    from coarsen.models.launch.training import TreeSettings, split, train_launch
    from coarsen.opencl_bench.results.launch_cases import read_launch_cases

    if wanted.models is not None:
        model = launch_model(wanted.models)
    else:
        fitted_on, settled_on = split(read_cases(wanted.training, wanted.kernels))
        model = train_launch(fitted_on, settled_on, TreeSettings(), 0, note).model
    unsized = wanted.without_sizes
    found = read_launch_cases(wanted.data, wanted.kernels, processors(), at_usual_sizes=unsized)
    for text in found.notes:
        note(text)
    if not found.cases:
        raise InvalidInputError("the data has no launch that was measured, with an uncoarsened one beside it")
    return judge([ask(model, case, launch_device(DEVICE_DESCRIPTORS[case.device])) for case in found.cases])
