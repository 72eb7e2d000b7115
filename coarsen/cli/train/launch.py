"""`coarsen train --model launch`: the launch model, fitted, settled and judged on held-out kernels, stored."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from coarsen.cli.evaluate.launch import judgement_as_data, only_calibration, print_judgement, read_cases
from coarsen.cli.messages import note
from coarsen.cli.output import Format, print_json, print_line
from coarsen.cli.stores import check_packages
from coarsen.errors import InvalidInputError

if TYPE_CHECKING:
    from coarsen.cli.train.options import TrainOptions
    from coarsen.models.launch.case import LaunchCase
    from coarsen.models.launch.evaluation import Judgement
    from coarsen.models.launch.training import FittedLaunch, TreeSettings

# What the numbers of a model depend on, beside its data.
_PACKAGES = ("coarsen", "numpy", "scikit-learn")


def train_launch_model(wanted: TrainOptions) -> None:
    """Fit the launch model, print how good it is on kernels that were held out, and store it.

    Raises:
        InvalidInputError: nothing to learn from or to settle on, a file that can't be read, or a folder that
            can't be written.
    """
    if not wanted.data:
        raise InvalidInputError("the launch model learns from measured launches: give some with --data FILE")
    check_packages(("sklearn",), "training", "train")
    if not all(source.lower().endswith(".csv") for source in wanted.data):
        check_packages(("pyarrow",), "reading measurements")
    # Imported late: they load the suite and scikit-learn.
    from coarsen.models.launch.evaluation import judge_nested
    from coarsen.models.launch.storage import save_launch
    from coarsen.models.launch.training import TreeSettings, split, train_launch

    cases = read_cases(wanted.data, wanted.kernels)
    fitted_on, settled_on = split(cases)
    settings = TreeSettings()
    fitted = train_launch(fitted_on, settled_on, settings, wanted.seed, note)
    judgement = judge_nested(fitted.views[0])
    facts = _facts(wanted, fitted_on, settled_on, settings, fitted, judgement)
    paths = save_launch(fitted.model, facts, wanted.folder)
    if wanted.output_format is Format.JSON:
        print_json({"model": "launch", **judgement_as_data(judgement), "stored": [str(path) for path in paths]})
        return
    print_line("Kernels of the data, by trees and decisions that never saw their families:")
    print_line()
    print_judgement(judgement)
    print_line(f"stored in {' and '.join(map(str, paths))}")


def _facts(
    wanted: TrainOptions,
    fitted_on: Sequence[LaunchCase],
    settled_on: Sequence[LaunchCase],
    settings: TreeSettings,
    fitted: FittedLaunch,
    judgement: Judgement,
) -> dict[str, object]:
    from coarsen.models.launch.storage import cases_by_device

    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "data": {
            "sources": [Path(source).name for source in wanted.data or ()],
            "cases": cases_by_device(fitted_on),
            "settled_on": cases_by_device(settled_on),
            "kernels": len({case.kernel for case in fitted_on}),
            "families": len({case.family for case in fitted_on}),
            "identities": {case.kernel: case.identity for case in fitted_on if case.identity},
        },
        "evaluation": {
            "families_held_out": judgement_as_data(judgement),
            "calibration_set": judgement_as_data(only_calibration(judgement)),
            "settled": {risk.value: list(score) for risk, score in fitted.settled.scores.items()},
        },
        "settings": {**asdict(settings), "seed": wanted.seed},
        "versions": {package: version(package) for package in _PACKAGES},
    }
